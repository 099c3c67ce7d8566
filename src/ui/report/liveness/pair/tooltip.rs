//! What the pointer learns of a slot: the steps of both reports, what they do and what is alive, with
//! the differences.

use eframe::egui;
use eframe::egui::RichText;
use std::sync::Arc;

use super::Both;
use super::derived::PairDerived;
use super::places::Places;
use super::variables::{Wanted, rows_of_both};
use crate::analysis::comparison::attribution::Attribution;
use crate::analysis::comparison::variable_rows::{VariablePair, variable_pairs};
use crate::analysis::liveness::Scope;
use crate::analysis::program::steps::{Fact, StepFacts, fact_names, facts};
use crate::store::Report;
use crate::text::{grouped, shortened};
use crate::ui::comparison::Side;
use crate::ui::job::Latest;
use crate::ui::report::halves::{report_name, side_color};
use crate::ui::report::liveness::scope_choice::scope_title;
use crate::ui::report::{change_color, change_text};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// Widest tooltip, points: it has two columns of words.
const WIDTH: f32 = 640.0;
/// Variables in the tooltip.
const MOST_VARIABLES: usize = 5;
/// Longest name of a step or operation.
const NAME: usize = 30;
/// Longest name of a variable, which has a line of its own.
const VARIABLE: usize = 44;

/// The largest variables alive in a slot, with their bytes in both, and how many there are besides.
#[derive(Debug, Default)]
struct Largest {
    variables: Vec<VariablePair>,
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
        let Some(attribution) = both.attribution else { return };
        let (reports, attribution) = (both.shared(), Arc::clone(attribution));
        let (key, derived) = ((slot, derived.version), Arc::clone(derived));
        self.largest.ask("variables of both", ctx, &key, move |_| {
            largest(reports.each_ref().map(|report| &**report), &attribution, &derived, slot)
        });
    }

    /// Draws them.
    pub fn ui(&self, ui: &mut egui::Ui, both: &Both<'_>, derived: &PairDerived) {
        let (Some((slot, ..)), Some(places)) = (self.made_for, &self.places) else { return };
        ui.set_max_width(WIDTH);
        let title = match places.only_in() {
            Some(side) => format!("Only in {}", side.title().to_lowercase()),
            None => "In both".to_owned(),
        };
        let title = match derived.scope {
            Scope::Everything => title,
            scope => format!(
                "{title}, {}",
                scope_title(&both.report(Side::Source).system, scope).to_lowercase()
            ),
        };
        ui.label(RichText::new(title).strong());
        if let Some(absence) = places.absence(both.plain()) {
            ui.weak(absence);
        }
        egui::Grid::new("slot facts").num_columns(4).spacing([12.0, 2.0]).show(ui, |ui| {
            ui.label("");
            for side in Side::BOTH {
                let name = report_name(both.report(side));
                let text = format!("{} {}", side.title(), shortened(&name, 20));
                ui.label(RichText::new(text).strong().color(side_color(ui, side)));
            }
            ui.end_row();
            self.words_ui(ui);
            figures_ui(ui, derived, places, slot);
        });
        self.largest_ui(ui, &(slot, derived.version));
    }

    /// What the steps are and do. What both say is said once.
    fn words_ui(&self, ui: &mut egui::Ui) {
        let step = |facts: &StepFacts| {
            format!("{}, {}", facts.step, facts.kind.as_deref().unwrap_or("unknown kind"))
        };
        row_ui(ui, "Step", &self.facts.each_ref().map(|facts| facts.as_ref().map(step)));
        let lists = self
            .facts
            .each_ref()
            .map(|facts| facts.as_ref().map(StepFacts::list).unwrap_or_default());
        for name in fact_names(&lists) {
            let value = |list: &Vec<Fact>| {
                let fact = list.iter().find(|fact| fact.name == name)?;
                Some(match &fact.detail {
                    Some(detail) => format!("{} ({detail})", fact.value),
                    None => fact.value.clone(),
                })
            };
            row_ui(ui, name, &lists.each_ref().map(value));
        }
    }

    fn largest_ui(&self, ui: &mut egui::Ui, key: &(usize, u64)) {
        let largest = match self.largest.get(key) {
            Some(Some(largest)) if largest.variables.is_empty() => return,
            Some(Some(largest)) => largest,
            Some(None) => return,
            None => {
                ui.add_space(6.0);
                ui.weak(self.largest.failure().unwrap_or("Looking for the largest variables…"));
                return;
            }
        };
        let units = Units::now(ui);
        ui.add_space(6.0);
        ui.weak("Largest variables alive, not always live");
        egui::Grid::new("largest of both").num_columns(4).spacing([12.0, 2.0]).show(ui, |ui| {
            for VariablePair { name, source, target, .. } in &largest.variables {
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

/// A row of words; one that neither has is left out.
fn row_ui(ui: &mut egui::Ui, title: &str, words: &[Option<String>; 2]) {
    let [source, target] = match words.each_ref().map(Option::as_deref) {
        [None, None] => return,
        [Some(source), Some(target)] if source == target => [Some(source), None],
        words => words,
    };
    ui.weak(title);
    match source {
        Some(word) => ui.label(shortened(word, NAME)),
        None => ui.weak("–"),
    };
    match (target, words) {
        (Some(word), _) => ui.label(shortened(word, NAME)),
        (None, [Some(_), Some(_)]) => ui.weak("the same"),
        (None, _) => ui.weak("–"),
    };
    ui.end_row();
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
        let is_over = alive > limit;
        let text = format!(
            "{} {}",
            units.bytes(alive.abs_diff(limit)),
            if is_over { "over" } else { "under" }
        );
        Some((text, is_over))
    });
    if limits.iter().any(Option::is_some) {
        ui.weak("Limit");
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
fn largest(
    reports: [&Report; 2],
    attribution: &Attribution,
    derived: &PairDerived,
    slot: usize,
) -> Option<Largest> {
    let wanted = Wanted::NotAlwaysLive(Places::at_slot(&derived.axis, slot));
    let rows = rows_of_both(reports, derived, wanted).ok()?;
    let mut variables = variable_pairs(reports, attribution, rows);
    variables.sort_by_key(|pair| std::cmp::Reverse(pair.source.max(pair.target)));
    let others = variables.len().saturating_sub(MOST_VARIABLES);
    variables.truncate(MOST_VARIABLES);
    Some(Largest { variables, others })
}
