//! The facts of report, machine and program in the inspector.

use eframe::egui;

use crate::analysis::comparison::facts::FactGroup;
use crate::analysis::derived::fact_groups;
use crate::analysis::program::operations::{PROPORTION, ProportionCount, proportions};
use crate::text::{grouped, shortened};
use crate::ui::command::{Command, Page};
use crate::ui::report::module_choice::module_choice_ui;
use crate::ui::report::run_part::RunPart;
use crate::ui::report::summary::words::sized_text;
use crate::ui::runs::Run;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::warnings::incompleteness_beside_execution;
use crate::ui::widget::inspector::fact_ui;
use crate::ui::widget::sign::Sign;

/// Facts that a glance does not need; Summary has them all.
const LEFT_OUT: [&str; 9] = [
    "Architecture",
    "Replicas",
    "IPUs per replica",
    "Tiles per IPU",
    "Memory per replica",
    "Memory in total",
    "Compute instrumentation",
    "External exchange instrumented",
    "Compilation id",
];
/// Longest name of a report.
const NAME: usize = 28;

/// The facts of a run, and the proportions of its operations.
#[derive(Default)]
pub struct GroupsOfRun {
    name: String,
    groups: Vec<FactGroup>,
    proportions: Vec<ProportionCount>,
}

impl GroupsOfRun {
    pub fn of(run: &Run) -> Self {
        let report = &run.report;
        let mut groups = fact_groups(&[&run.derived]);
        if run.derived.answers().are_beside_report() {
            return Self { name: run.name.to_string(), groups, proportions: Vec::new() };
        }
        // Memory has a card of its own.
        groups.retain(|group| group.title != "Memory");
        groups.sort_by_key(|group| group.title != "Compilation and execution");
        let proportions = match (report.debug.get(), report.programs.get()) {
            (Some(debug), Some(programs)) => proportions(debug, programs),
            _ => Vec::new(),
        };
        Self { name: run.name.to_string(), groups, proportions }
    }
}

pub fn facts_ui(ui: &mut egui::Ui, facts: &GroupsOfRun, part: &mut RunPart<'_>) {
    let units = Units::now(ui);
    ui.label(fonts::card_title("Run"));
    fact_ui(ui, "Name", &shortened(&facts.name, NAME));
    if let Some(lacks) = incompleteness_beside_execution(&part.run.report) {
        ui.horizontal(|ui| {
            Sign::Note.ui(ui, 14.0);
            let link = ui.link(fonts::caption(lacks).color(Tokens::now(ui).note));
            if link.on_hover_text("Shows the warnings").clicked() {
                part.commands.push(Command::ToggleWarnings);
            }
        });
    }
    module_choice_ui(ui, part.run, part.commands);
    for group in &facts.groups {
        match &*group.title {
            "Compilation and execution" => {}
            title => {
                ui.separator();
                ui.label(fonts::card_title(title));
            }
        }
        let shown = group.facts.iter().filter(|fact| !LEFT_OUT.contains(&&*fact.name));
        for fact in shown {
            let said = fact.said.first().and_then(Option::as_ref);
            let text =
                said.map_or("–".into(), |said| sized_text(said, &|bytes| units.bytes(bytes)));
            fact_ui(ui, &fact.name, &text);
        }
    }
    if !facts.proportions.is_empty() {
        ui.separator();
        ui.label(fonts::card_title(PROPORTION));
        for row in &facts.proportions {
            let name = format!(
                "{}, {}",
                shortened(row.operation.as_deref().unwrap_or("operation"), NAME),
                grouped(row.count)
            );
            fact_ui(ui, &name, &row.value.map_or("none".into(), |value| value.to_string()));
        }
    }
    ui.add_space(8.0);
    let options = part.run.report.system.options_in_text;
    if ui.button(format!("All {options} and files")).clicked() {
        part.commands.push(Command::Go(Page::Summary));
    }
}
