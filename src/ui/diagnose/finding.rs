//! What is said of one finding: the message, its facts, what to do.

use eframe::egui::{self, Label, RichText};
use std::path::Path;

use super::rows::title;
use super::sentence::sentence_ui;
use crate::analysis::diagnose::Finding;
use crate::text::{clean, grouped, shortened};
use crate::ui::command::Command;
use crate::ui::units::Units;
use crate::ui::widget::facts::{Fact, facts_ui};

/// Longest message.
const MESSAGE: usize = 2000;
/// Allocations that are listed.
const MOST_ALLOCATIONS: usize = 10;

/// Draws it. `near` is the directory of the log, which a relative path in the message may start from.
pub fn finding_ui(
    ui: &mut egui::Ui,
    finding: &Finding,
    near: Option<&Path>,
    commands: &mut Vec<Command>,
) {
    let units = Units::now(ui);
    ui.label(RichText::new(title(finding.kind)).strong().size(16.0));
    ui.add_space(2.0);
    let text = RichText::new(shortened(&finding.text, MESSAGE)).monospace();
    ui.add(Label::new(text).wrap());
    ui.add_space(6.0);
    facts_ui(ui, "What it says", &facts(finding, units));
    if let Some(profile) = &finding.profile {
        let path = Path::new(profile);
        let path =
            near.filter(|_| path.is_relative()).map_or(path.to_owned(), |near| near.join(path));
        let button = ui.button("Open the report that the message names");
        if button.on_hover_text(shortened(&path.display().to_string(), 300)).clicked() {
            commands.push(Command::Open(path));
        }
        ui.add_space(6.0);
    }
    ui.label(RichText::new("What to do").strong().size(15.0));
    for (number, sentence) in (1..).zip(&finding.advice) {
        ui.horizontal_top(|ui| {
            ui.weak(format!("{number}."));
            sentence_ui(ui, sentence);
        });
    }
}

fn facts(finding: &Finding, units: Units) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        facts.extend(value.map(|value| (name.to_owned(), clean(&value).into_owned())));
    };
    let exact = |bytes: Option<u64>| bytes.map(|bytes| units.exact(bytes));
    add("Line", Some(grouped(finding.line)));
    add("Device", finding.instance.clone());
    add("Memory space", finding.memory_space.clone());
    add("Tile", finding.tile.map(|tile| tile.to_string()));
    add("Tiles out of memory", finding.tiles_out.map(grouped));
    add("Exchange", finding.exchange.clone());
    add("Used", exact(finding.used_bytes));
    add("Limit", exact(finding.limit_bytes));
    add("Too much", exact(finding.excess_bytes));
    add("Asked for", exact(finding.requested_bytes));
    add("Free", exact(finding.free_bytes));
    add("Free in one piece", exact(finding.contiguous_bytes));
    add("Held without use", exact(finding.unallocated_bytes));
    add("Other processes", exact(finding.other_processes_bytes));
    add("Report", finding.profile.clone());
    for part in &finding.breakdown {
        add(&format!("Used: {}", clean(&part.name)), exact(Some(part.bytes)));
    }
    for allocation in finding.allocations.iter().take(MOST_ALLOCATIONS) {
        let what = allocation.operator.as_ref().or(allocation.label.as_ref());
        let what = what.map_or(String::new(), |what| format!(", {}", shortened(what, 120)));
        add("Allocation", Some(format!("{}{what}", units.exact(allocation.bytes))));
    }
    facts
}
