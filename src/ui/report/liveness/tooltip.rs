//! What the pointer learns of a step: what it does, for which operation, and what is alive.

use eframe::egui;
use eframe::egui::RichText;
use std::sync::Arc;

use super::derived::Derived;
use super::scope_choice::scope_title;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::variables;
use crate::analysis::program::steps::{Fact, StepFacts, facts};
use crate::store::Report;
use crate::text;
use crate::ui::job::Latest;
use crate::ui::report::{against_limit, tooltip_facts_ui};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// Variables in the tooltip.
const MOST_VARIABLES: usize = 5;
/// Longest name in the tooltip.
const NAME: usize = 64;

/// The largest variables alive at a step, and how many there are besides.
#[derive(Debug, Default)]
struct Largest {
    variables: Vec<(String, u64)>,
    others: usize,
}

/// The facts of the step under the pointer, kept while it stays there.
#[derive(Debug, Default)]
pub struct StepTooltip {
    made_for: Option<(usize, bool)>,
    facts: Option<StepFacts>,
    largest: Latest<(Scope, usize), Option<Largest>>,
}

impl StepTooltip {
    /// Gathers the facts of a step, unless they are there; what is alive comes from beside the
    /// window.
    pub fn prepare(
        &mut self,
        ctx: &egui::Context,
        report: &Arc<Report>,
        derived: &Arc<Derived>,
        step: usize,
    ) {
        let key = (step, report.debug.is_settled());
        if self.made_for != Some(key) {
            self.facts = facts(report, step);
            self.made_for = Some(key);
        }
        let key = (derived.scope, step);
        let (report, derived) = (Arc::clone(report), Arc::clone(derived));
        self.largest.ask("variables at step", ctx, &key, move |_| {
            let worst = derived.curve.worst_tiles.as_deref();
            let mut rows = variables::not_always_live(&report, derived.scope, &[step], worst)?;
            let others = rows.len().saturating_sub(MOST_VARIABLES);
            rows.truncate(MOST_VARIABLES);
            let bytes = |row: &variables::VariableRow| row.bytes.first().copied().unwrap_or(0);
            let variables = rows.iter().map(|row| (row.name.clone(), bytes(row))).collect();
            Some(Largest { variables, others })
        });
    }

    /// Draws them.
    pub fn ui(&self, ui: &mut egui::Ui, report: &Report, derived: &Derived) {
        let (Some(facts), Some((step, _))) = (&self.facts, self.made_for) else { return };
        let units = Units::now(ui);
        let kind = facts.kind.as_deref().unwrap_or("unknown kind");
        let title = format!("Step {}, {}", facts.step, text::shortened(kind, NAME));
        ui.label(RichText::new(title).strong());
        let line = |fact: Fact| (fact.name, text::shortened(&fact.value, NAME).into_owned());
        let mut lines: Vec<(&str, String)> = facts.list().into_iter().map(line).collect();
        match (derived.worst_tile_at(step), derived.scope) {
            (Some(tile), _) => lines.push(("Worst tile", tile.to_string())),
            (None, Scope::Everything) => {}
            (None, scope) => lines.push(("Of", scope_title(&report.system, scope))),
        }
        let bytes = derived.not_always_live_at(step);
        lines.push((report.system.not_always_live, units.exact(bytes)));
        if let Some(always_live) = derived.always_live_at(step) {
            lines.push((report.system.always_live, units.exact(always_live)));
        }
        tooltip_facts_ui(ui, "step facts", &lines);
        if let (Some(always_live), Some(limit)) =
            (derived.always_live_at(step), derived.curve.limit)
        {
            let alive = always_live.saturating_add(bytes);
            let text = format!("Together {}", against_limit(alive, limit, units));
            if alive > limit {
                ui.colored_label(Tokens::now(ui).bad, RichText::new(text).strong());
            } else {
                ui.label(text);
            }
        }
        self.largest_ui(ui, &(derived.scope, step));
    }

    fn largest_ui(&self, ui: &mut egui::Ui, key: &(Scope, usize)) {
        let largest = match self.largest.get(key) {
            Some(Some(largest)) if largest.variables.is_empty() => return,
            Some(Some(largest)) => largest,
            Some(None) => return,
            None => {
                ui.separator();
                ui.weak(self.largest.failure().unwrap_or("Looking for the largest variables…"));
                return;
            }
        };
        let units = Units::now(ui);
        ui.separator();
        ui.weak("Largest variables alive, not always live");
        egui::Grid::new("largest variables").num_columns(2).spacing([14.0, 2.0]).show(ui, |ui| {
            for (name, bytes) in &largest.variables {
                ui.label(text::shortened(name, NAME));
                ui.label(units.bytes(*bytes));
                ui.end_row();
            }
        });
        if largest.others > 0 {
            ui.weak(format!("and {} more", text::grouped(largest.others as u64)));
        }
    }
}
