//! What the pointer learns of a step: what it does, for which operation, and what is alive.

use eframe::egui;
use eframe::egui::RichText;

use super::derived::Derived;
use crate::analysis::liveness::{NamedBytes, variables_at};
use crate::analysis::steps::{StepFacts, facts};
use crate::store::Report;
use crate::text;
use crate::ui::report::{against_limit, tooltip_facts_ui};
use crate::ui::theme::Tokens;

/// Variables in the tooltip.
const MOST_VARIABLES: usize = 5;
/// Longest name in the tooltip.
const NAME: usize = 64;

/// The facts of the step under the pointer, kept while it stays there.
#[derive(Debug, Default)]
pub struct StepTooltip {
    made_for: Option<(usize, bool)>,
    step: usize,
    facts: Option<StepFacts>,
    is_debug_known: bool,
    largest: Vec<NamedBytes>,
    others: usize,
}

impl StepTooltip {
    /// Gathers the facts of a step, unless they are there.
    pub fn prepare(&mut self, report: &Report, derived: &Derived, step: usize) {
        let key = (step, report.debug.is_settled());
        if self.made_for == Some(key) || step >= derived.curve.len() {
            return;
        }
        let liveness = report.liveness.get();
        let mut variables = liveness.map_or(Vec::new(), |liveness| {
            let rows = liveness.variable_bytes.as_deref().unwrap_or(&[]);
            variables_at(rows, liveness, step)
        });
        self.others = variables.len().saturating_sub(MOST_VARIABLES);
        variables.truncate(MOST_VARIABLES);
        self.largest = variables;
        self.facts = facts(report, step);
        self.is_debug_known = report.debug.is_settled();
        self.step = step;
        self.made_for = Some(key);
    }

    /// Draws them.
    pub fn ui(&self, ui: &mut egui::Ui, derived: &Derived) {
        let Some(facts) = &self.facts else { return };
        let kind = facts.kind.as_deref().unwrap_or("unknown kind");
        let title = format!("Step {}, {}", facts.step, text::shortened(kind, NAME));
        ui.label(RichText::new(title).strong());
        let mut lines: Vec<(&str, String)> = Vec::new();
        if let Some(name) = &facts.name {
            lines.push(("Name", text::shortened(name, NAME).into_owned()));
        }
        self.operation_lines(facts, &mut lines);
        let bytes = derived.curve.get(self.step).copied().unwrap_or(0);
        lines.push(("Not always live", text::exact_bytes(bytes)));
        if let Some(always_live) = derived.always_live {
            lines.push(("Always live", text::exact_bytes(always_live)));
        }
        tooltip_facts_ui(ui, "step facts", &lines);
        if let (Some(always_live), Some(limit)) = (derived.always_live, derived.limit) {
            let alive = always_live.saturating_add(bytes);
            let text = format!(
                "Together {}",
                against_limit(alive, limit, crate::ui::units::Units::now(ui))
            );
            if alive > limit {
                ui.colored_label(Tokens::now(ui).bad, RichText::new(text).strong());
            } else {
                ui.label(text);
            }
        }
        if self.largest.is_empty() {
            return;
        }
        ui.separator();
        ui.weak("Largest variables alive, not always live");
        egui::Grid::new("largest variables").num_columns(2).spacing([14.0, 2.0]).show(ui, |ui| {
            for variable in &self.largest {
                ui.label(text::shortened(&variable.name, NAME));
                ui.label(text::bytes(variable.bytes));
                ui.end_row();
            }
        });
        if self.others > 0 {
            ui.weak(format!("and {} more", text::grouped(self.others as u64)));
        }
    }

    fn operation_lines(&self, facts: &StepFacts, lines: &mut Vec<(&str, String)>) {
        let Some(operation) = &facts.operation else {
            let none =
                if self.is_debug_known { "None known" } else { "Debug information is being read" };
            lines.push(("Operation", none.to_owned()));
            return;
        };
        let kind = operation.kind.as_deref().unwrap_or(&operation.layer);
        lines.push(("Operation", text::shortened(kind, NAME).into_owned()));
        if let Some(name) = &operation.name {
            lines.push(("Operation name", text::shortened(name, NAME).into_owned()));
        }
        if let Some(value) = operation.available_memory_proportion {
            lines.push(("availableMemoryProportion", value.to_string()));
        }
        if let Some(location) = &operation.location {
            lines.push(("Source", text::shortened(location, NAME).into_owned()));
        }
    }
}
