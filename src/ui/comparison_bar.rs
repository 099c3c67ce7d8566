//! The bar above the pages while two reports are open: which they are, and how they are shown.

use eframe::egui;
use std::sync::Arc;

use eframe::egui::{Align, Button, Layout, RichText};

use super::command::Command;
use super::comparison::{Arrangement, Comparison, Side, StepsBy};
use super::home::failure::failure_ui;
use super::icon::Icon;
use super::keys;
use super::loading::{Failure, Load};
use super::report::halves::{report_name, side_color};
use crate::store::Report;
use crate::text::{grouped, shortened};

/// Longest name of a report.
const NAME: usize = 40;

/// What the bar needs to know.
#[derive(Debug)]
pub struct ComparisonBar<'a> {
    /// The source.
    pub source: &'a Arc<Report>,
    /// The target, as soon as its files are found.
    pub target: Option<&'a Arc<Report>>,
    /// How the target is loaded.
    pub target_load: &'a Load,
    /// How they belong together.
    pub comparison: &'a Comparison,
}

/// Draws the bar.
pub fn bar_ui(ui: &mut egui::Ui, bar: &ComparisonBar<'_>, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        let name = |report: Option<&Arc<Report>>| report.map(|report| report_name(report));
        let target = name(bar.target).unwrap_or_else(|| "not read yet".to_owned());
        let source = name(Some(bar.source)).unwrap_or_default();
        for (side, name, report) in
            [(Side::Source, source, Some(bar.source)), (Side::Target, target, bar.target)]
        {
            ui.label(RichText::new(side.title()).strong().color(side_color(ui, side)));
            let path = report.map_or(&bar.target_load.path, |report| &report.path);
            let label = ui.label(shortened(&name, NAME));
            label.on_hover_text(shortened(&path.display().to_string(), 300));
            if side == Side::Source {
                let swap = ui.button("⇄").accessible_name("Swap source and target");
                let hover = with_keys(ui, "Swap source and target", keys::SWAP);
                if swap.on_hover_text(hover).clicked() {
                    commands.push(Command::Swap);
                }
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let end = Button::new(Icon::Close.atom()).frame_when_inactive(false);
            let end = ui.add(end).accessible_name("End comparison");
            if end.on_hover_text("End the comparison; the source stays open").clicked() {
                commands.push(Command::CloseTarget);
            }
            choices_ui(ui, bar, commands);
        });
    });
}

/// What something does, with its keys: `Swap source and target (F6)`.
fn with_keys(ui: &egui::Ui, does: &str, keys: &[egui::KeyboardShortcut]) -> String {
    format!("{does} ({})", keys::keys_text(ui.ctx(), keys))
}

/// Arrangement and alignment, from the right to the left.
fn choices_ui(ui: &mut egui::Ui, bar: &ComparisonBar<'_>, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.x = 4.0;
    let comparison = bar.comparison;
    for (arrangement, title) in
        [(Arrangement::SideBySide, "Side by side"), (Arrangement::Overlaid, "Overlaid")]
    {
        let entry = ui.selectable_label(comparison.arrangement == arrangement, title);
        let hover = with_keys(ui, "How pictures of two reports are shown", keys::ARRANGE);
        if entry.on_hover_text(hover).clicked() {
            commands.push(Command::Arrange(arrangement));
        }
    }
    ui.separator();
    for (steps_by, title, hover) in [
        (StepsBy::Index, "By index", "Step 7 of one report is step 7 of the other"),
        (StepsBy::Matching, "By name", "Steps belong together by name and order"),
    ] {
        let entry = ui.selectable_label(comparison.steps_by == steps_by, title);
        let entry = entry.accessible_name(format!("Align steps {}", title.to_lowercase()));
        if entry.on_hover_text(with_keys(ui, hover, keys::ALIGN)).clicked() {
            commands.push(Command::AlignSteps(steps_by));
        }
    }
    match comparison.matched() {
        Some(matched) => {
            let counts = matched.matching.steps.counts();
            let number = |count: usize| grouped(count as u64);
            let total = counts.matched.saturating_add(counts.only_source);
            let text = format!("{} of {} steps matched", number(counts.matched), number(total));
            let hover = format!(
                "{} by name and operation, {} where numbers in names differ, {} by their place; {} \
                 only in the source, {} only in the target",
                number(counts.exact),
                number(counts.likely),
                number(counts.weak),
                number(counts.only_source),
                number(counts.only_target)
            );
            ui.weak(text).on_hover_text(hover);
        }
        None => {
            ui.weak(comparison.why_not().unwrap_or("Steps are being matched"));
        }
    }
}

/// Draws why the target could not be opened, in place of the page.
pub fn target_failure_ui(
    ui: &mut egui::Ui,
    failure: Option<&Failure>,
    commands: &mut Vec<Command>,
) {
    let Some(failure) = failure else { return };
    ui.heading("The target of the comparison");
    ui.add_space(6.0);
    failure_ui(ui, failure, Command::OpenTarget, commands);
    ui.add_space(8.0);
    if ui.button("End comparison").clicked() {
        commands.push(Command::CloseTarget);
    }
}
