//! What the pointer learns of a slot: the steps of both reports, what they do and what is alive, with
//! the differences.

use eframe::egui;
use eframe::egui::RichText;
use std::sync::Arc;

use super::Both;
use super::derived::PairDerived;
use super::places::Places;
use crate::analysis::joined::joined;
use crate::analysis::liveness::Scope;
use crate::analysis::operations::Operation;
use crate::analysis::steps::{StepFacts, facts};
use crate::analysis::variables::{self, VariableRow};
use crate::store::Report;
use crate::text::{grouped, shortened};
use crate::ui::comparison::Side;
use crate::ui::job::Latest;
use crate::ui::report::halves::{report_name, side_color};
use crate::ui::report::liveness::scope_choice::scope_title;
use crate::ui::report::{against_limit, change_color, change_text};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// Variables in the tooltip.
const MOST_VARIABLES: usize = 5;
/// Longest name of a step or operation.
const NAME: usize = 34;
/// Longest name of a variable, which has a line of its own.
const VARIABLE: usize = 44;

/// The largest variables alive in a slot, with their bytes in both, and how many there are besides.
#[derive(Debug, Default)]
struct Largest {
    variables: Vec<(String, [Option<u64>; 2])>,
    others: usize,
}

/// The facts of the slot under the pointer, kept while it stays there.
#[derive(Debug, Default)]
pub struct PairTooltip {
    made_for: Option<(usize, u64, [bool; 2])>,
    places: Option<Places>,
    facts: [Option<StepFacts>; 2],
    largest: Latest<(usize, u64), Option<Largest>>,
}

impl PairTooltip {
    /// Gathers the facts of a slot, unless they are there; what is alive comes from beside the
    /// window.
    pub fn prepare(
        &mut self,
        ctx: &egui::Context,
        both: &Both<'_>,
        derived: &Arc<PairDerived>,
        slot: usize,
    ) {
        let key = (slot, derived.version, both.reports.map(|report| report.debug.is_settled()));
        if self.made_for != Some(key) {
            let places = Places::at_slot(&derived.axis, slot);
            self.facts = Side::BOTH.map(|side| facts(both.report(side), places.step_there(side)?));
            self.places = Some(places);
            self.made_for = Some(key);
        }
        let (reports, for_job) = (both.shared(), Arc::clone(derived));
        self.largest.ask("variables of both", ctx, &(slot, derived.version), move |_| {
            largest(reports.each_ref().map(|report| &**report), &for_job, slot)
        });
    }

    /// Draws them.
    pub fn ui(&self, ui: &mut egui::Ui, both: &Both<'_>, derived: &PairDerived) {
        let (Some((slot, ..)), Some(places)) = (self.made_for, &self.places) else { return };
        ui.set_max_width(660.0);
        let title = match places.only_in() {
            Some(side) => format!("Only in {}", side.title().to_lowercase()),
            None => "In both".to_owned(),
        };
        let title = match derived.scope {
            Scope::Everything => title,
            scope => format!("{title}, {}", scope_title(scope).to_lowercase()),
        };
        ui.label(RichText::new(title).strong());
        if let Some(absence) = places.absence(both.plain()) {
            ui.weak(absence);
        }
        egui::Grid::new("slot facts").num_columns(4).spacing([14.0, 2.0]).show(ui, |ui| {
            ui.label("");
            for side in Side::BOTH {
                let name = report_name(both.report(side));
                let text = format!("{} {}", side.title(), shortened(&name, 20));
                ui.label(RichText::new(text).strong().color(side_color(ui, side)));
            }
            ui.end_row();
            self.words_ui(ui, both);
            figures_ui(ui, derived, places, slot);
        });
        self.largest_ui(ui, &(slot, derived.version));
    }

    /// What the steps are and do. What both say is said once.
    fn words_ui(&self, ui: &mut egui::Ui, both: &Both<'_>) {
        let step = |facts: &StepFacts| Some(facts.step.to_string());
        let operation = |of: fn(&Operation) -> Option<String>| {
            move |facts: &StepFacts| of(facts.operation.as_ref()?)
        };
        let none = Side::BOTH.map(|side| {
            let is_known = both.report(side).debug.is_settled();
            if is_known { "none known" } else { "debug information is being read" }
        });
        let kind = |operation: &Operation| operation.kind.clone().or(Some(operation.layer.clone()));
        let value = |operation: &Operation| {
            operation.available_memory_proportion.map(|value| value.to_string())
        };
        self.row_ui(ui, "Step", ["–"; 2], true, step);
        self.row_ui(ui, "Kind", ["–"; 2], true, |facts| facts.kind.clone());
        self.row_ui(ui, "Name", ["–"; 2], false, |facts| facts.name.clone());
        self.row_ui(ui, "Operation", none, true, operation(kind));
        let name = |operation: &Operation| operation.name.clone();
        self.row_ui(ui, "Operation name", ["–"; 2], false, operation(name));
        self.row_ui(ui, "availableMemoryProportion", ["–"; 2], false, operation(value));
        let layer = |operation: &Operation| Some(operation.layer.clone());
        self.row_ui(ui, "Layer", ["–"; 2], false, operation(layer));
        let location = |operation: &Operation| operation.location.clone();
        self.row_ui(ui, "Source line", ["–"; 2], false, operation(location));
    }

    /// A row of words; one that neither has is left out unless it `is_always` there.
    fn row_ui(
        &self,
        ui: &mut egui::Ui,
        title: &str,
        none: [&str; 2],
        is_always: bool,
        word: impl Fn(&StepFacts) -> Option<String>,
    ) {
        let words = self.facts.each_ref().map(|facts| facts.as_ref().and_then(&word));
        if !is_always && words.iter().all(Option::is_none) {
            return;
        }
        ui.weak(title);
        for side in Side::BOTH {
            match (side.of(words.each_ref()), side.of(self.facts.each_ref())) {
                (Some(word), _) => ui.label(shortened(word, NAME)),
                (None, Some(_)) => ui.weak(side.of(none)),
                (None, None) => ui.weak("–"),
            };
        }
        ui.end_row();
    }

    fn largest_ui(&self, ui: &mut egui::Ui, key: &(usize, u64)) {
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
        egui::Grid::new("largest of both").num_columns(4).spacing([14.0, 2.0]).show(ui, |ui| {
            for (name, [source, target]) in &largest.variables {
                ui.label(shortened(name, VARIABLE));
                for bytes in [source, target] {
                    ui.label(bytes.map_or_else(|| "–".to_owned(), |bytes| units.bytes(bytes)));
                }
                match (source, target) {
                    (Some(_), None) => ui.weak("only in source"),
                    (None, Some(_)) => ui.weak("only in target"),
                    (source, target) => {
                        change_ui(ui, source.unwrap_or(0), target.unwrap_or(0), units)
                    }
                };
                ui.end_row();
            }
        });
        if largest.others > 0 {
            ui.weak(format!("and {} more", grouped(largest.others as u64)));
        }
    }
}

/// The bytes of both in a slot, with the differences.
fn figures_ui(ui: &mut egui::Ui, derived: &PairDerived, places: &Places, slot: usize) {
    let units = Units::now(ui);
    let sides = Side::BOTH.map(|side| derived.side(side));
    let worst = Side::BOTH.map(|side| {
        let tile = side.of(sides)?.derived.worst_tile_at(places.step(side)?)?;
        Some(format!("tile {tile}"))
    });
    if worst.iter().any(Option::is_some) {
        ui.weak("Worst tile");
        for tile in worst {
            ui.label(tile.unwrap_or_else(|| "–".to_owned()));
        }
        ui.end_row();
    }
    let not_always_live = sides.map(|side| Some(side?.not_always_live_at(slot)));
    let always_live = sides.map(|side| side?.always_live_at(slot));
    bytes_ui(ui, "Not always live", not_always_live, units);
    bytes_ui(ui, "Always live", always_live, units);
    let add = |side: Side| Some(side.of(not_always_live)?.saturating_add(side.of(always_live)?));
    let together = Side::BOTH.map(add);
    bytes_ui(ui, "Together", together, units);
    let limits = Side::BOTH.map(|side| {
        let (alive, limit) = (side.of(together)?, side.of(sides)?.derived.curve.limit?);
        Some((against_limit(alive, limit, units), alive > limit))
    });
    if limits.iter().any(Option::is_some) {
        ui.label("");
        for limit in limits {
            match limit {
                Some((text, true)) => {
                    ui.colored_label(Tokens::now(ui).bad, RichText::new(text).strong())
                }
                Some((text, false)) => ui.label(text),
                None => ui.label(""),
            };
        }
        ui.end_row();
    }
}

fn bytes_ui(ui: &mut egui::Ui, title: &str, bytes: [Option<u64>; 2], units: Units) {
    if bytes == [None; 2] {
        return;
    }
    ui.weak(title);
    for bytes in bytes {
        ui.label(bytes.map_or_else(|| "–".to_owned(), |bytes| units.bytes(bytes)));
    }
    if let [Some(source), Some(target)] = bytes {
        change_ui(ui, source, target, units);
    }
    ui.end_row();
}

/// A difference in the colour that it has in tables.
fn change_ui(ui: &mut egui::Ui, from: u64, to: u64, units: Units) -> egui::Response {
    ui.colored_label(change_color(ui, from, to), change_text(from, to, units))
}

/// The largest variables alive in a slot, by the larger of both figures.
fn largest(reports: [&Report; 2], derived: &PairDerived, slot: usize) -> Option<Largest> {
    let places = Places::at_slot(&derived.axis, slot);
    let [source, target] = Side::BOTH.map(|side| {
        let of_side = &derived.side(side)?.derived;
        let worst = of_side.curve.worst_tiles.as_deref();
        let steps: Vec<usize> = places.step(side).into_iter().collect();
        variables::not_always_live(side.of(reports), derived.scope, &steps, worst)
    });
    let bytes = |row: &VariableRow| row.bytes.first().copied().unwrap_or(0);
    let rows = joined(source?, target?, |row| &row.name);
    let mut variables: Vec<(String, [Option<u64>; 2])> = rows
        .into_iter()
        .filter_map(|row| {
            let figures = row.each_ref().map(|row| row.as_ref().map(bytes));
            Some((row.into_iter().flatten().next()?.name, figures))
        })
        .collect();
    variables
        .sort_by_key(|(_, figures)| std::cmp::Reverse(figures.iter().flatten().max().copied()));
    let others = variables.len().saturating_sub(MOST_VARIABLES);
    variables.truncate(MOST_VARIABLES);
    Some(Largest { variables, others })
}
