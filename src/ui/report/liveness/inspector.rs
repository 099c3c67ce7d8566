//! The inspector of the page: the step under the pointer, else the selected one, else the highest: whether it is over,
//! what it does, what is alive there, and where to go from there.

use eframe::egui::{self, RichText};
use std::sync::Arc;

use super::LivenessPage;
use super::selected::selection_ui;
use super::timelines::SlotTimelines;
use super::words::selected_moment;
use crate::analysis::liveness::variable_kind::{pretty_name, variable_kind};
use crate::analysis::liveness::{Scope, scope_title};
use crate::analysis::program::modules::module_of;
use crate::analysis::program::operations::PROPORTION;
use crate::analysis::program::steps::StepFacts;
use crate::text::{grouped, shortened};
use crate::ui::command::Command;
use crate::ui::report::category_colors::category_color;
use crate::ui::report::figures::Entry;
use crate::ui::report::moment::as_title;
use crate::ui::report::{PageContext, against_limit, change_text};
use crate::ui::run_chips::badge_ui;
use crate::ui::runs::{Run, Runs};
use crate::ui::selection::Place;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::inspector::{fact_ui, part_ui, title_ui};
use crate::ui::widget::sign::Sign;

/// Longest name.
const NAME: usize = 60;

impl LivenessPage {
    pub fn inspect_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        timelines: &Arc<SlotTimelines>,
    ) {
        let runs = page.runs;
        let slots = page.selection.slots(runs);
        let pointed = self.pointed.map(|(_, slot)| slot);
        let moment_slot = pointed.or_else(|| {
            let moment = selected_moment(timelines, &slots);
            moment.slot.or_else(|| timelines.axis.slot(0, moment.step(0)?))
        });
        let Some(slot) = moment_slot else {
            ui.weak("No step to look at");
            return;
        };
        self.facts.prepare(ui.ctx(), runs, timelines, slot);
        let kind = match (pointed, slots.contains(&slot), slots.is_empty()) {
            (_, true, _) => "Selected step",
            (Some(_), ..) => "Step under the pointer; a click selects it",
            (None, _, true) => "Highest step; click the curve to select one",
            _ => "Step",
        };
        let Some(moment) = self.facts.moment() else { return };
        let facts = self.facts.first();
        let name = facts.and_then(|facts| facts.name.as_deref()).unwrap_or_default();
        title_ui(ui, kind, &as_title(&moment.title(runs)), &shortened(name, NAME));
        if let Some(absence) = moment.absence(runs) {
            ui.weak(as_title(&absence));
        }
        self.runs_ui(ui, runs, timelines);
        if let Some(facts) = facts {
            facts_ui(ui, facts);
        }
        ui.separator();
        self.alive_ui(ui, runs, timelines, slot);
        ui.add_space(8.0);
        ui.horizontal_wrapped(|ui| {
            if runs.machine().is_some() {
                let map =
                    ui.button("Map at this step").on_hover_text("Addresses of a tile at this step");
                if map.clicked() {
                    page.selection.select_slot(runs, slot);
                    let tile = page.selection.tiles.first().or_else(|| fullest_tile(runs));
                    page.commands.extend(tile.map(|tile| Command::GoTo(Place::Map(tile))));
                }
            }
        });
        selection_ui(ui, page, timelines, &self.marks);
    }

    /// Whether each run is over there, and what is alive.
    fn runs_ui(&self, ui: &mut egui::Ui, runs: &Runs, timelines: &SlotTimelines) {
        let (units, Some(moment)) = (Units::now(ui), self.facts.moment()) else { return };
        let first = moment.step(0).and_then(|step| timelines.alive_at(0, step));
        for (place, run) in runs.iter().enumerate() {
            let (Some(curve), Some(step)) = (timelines.run(place), moment.step(place)) else {
                continue;
            };
            let timeline = &curve.timeline;
            let alive = timelines.alive_at(place, step).unwrap_or(0);
            verdict_ui(
                ui,
                runs,
                run,
                (alive, timeline.limit),
                timeline.over.as_ref().and_then(|over| over.at(step)),
            );
            if let (false, 1.., Some(first)) = (runs.is_one(), place, first) {
                fact_ui(ui, "Against the reference", &change_text(first, alive, units));
            }
            if runs.len() <= 2 {
                if let Some(bytes) = timeline.always_live_at(step) {
                    fact_ui(ui, "Always live", &units.bytes(bytes));
                }
                fact_ui(ui, "Not always live", &units.bytes(timeline.not_always_live_at(step)));
            }
            if let Some(with_gaps) = timeline.including_gaps {
                fact_ui(ui, "With gaps", &units.bytes(with_gaps));
                if let Some(limit) = timeline.limit {
                    ui.label(fonts::caption(against_limit(with_gaps, limit, units)));
                }
            }
            if let Some(arena) = timeline.worst_arena_at(step) {
                fact_ui(ui, runs.system().worst_arena, &arena.to_string());
            } else if timelines.scope != Scope::Everything && place == 0 {
                fact_ui(ui, "Of", &scope_title(&run.report, timelines.scope));
            }
        }
        ui.separator();
    }

    fn alive_ui(&mut self, ui: &mut egui::Ui, runs: &Runs, timelines: &SlotTimelines, slot: usize) {
        let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
        ui.horizontal(|ui| {
            ui.label(fonts::number("Alive here, not always"));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(fonts::caption("largest first").color(tokens.third_text));
            });
        });
        let found = match self.facts.largest(runs, &(slot, timelines.version)) {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(text) => {
                ui.weak(text);
                return;
            }
        };
        let (variables, others) = found;
        let most = |entry: &Entry| entry.figures.iter().flatten().max().copied().unwrap_or(0);
        let sum: u64 = variables.iter().map(most).fold(0, u64::saturating_add);
        let whole = variables.first().map_or(1, most).max(sum / 2);
        for entry in variables {
            let color = category_color(variable_kind(&entry.name), &tokens);
            let name = pretty_name(&entry.name);
            let sizes: Vec<String> = entry
                .figures
                .iter()
                .map(|bytes| bytes.map_or_else(|| "–".to_owned(), |bytes| units.bytes(bytes)))
                .collect();
            let parts = [(most(entry), color)];
            let bar = Bar { parts: &parts, whole, limit: None };
            part_ui(
                ui,
                &shortened(&name, if runs.is_one() { 27 } else { 14 }),
                &sizes.join(" → "),
                &bar,
            );
        }
        if variables.is_empty() {
            ui.weak("Nothing besides what always is");
        }
        if *others > 0 {
            ui.weak(format!("and {} more", grouped(*others as u64)));
        }
    }
}

/// The fullest tile of the reference.
fn fullest_tile(runs: &Runs) -> Option<crate::store::TileId> {
    crate::analysis::liveness::first_arena(&runs.reference().report)
        .map(crate::store::ArenaId::tile)
}

/// What is over or left, in a box of its colour with its sign.
fn verdict_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    run: &Run,
    (alive, limit): (u64, Option<u64>),
    over: Option<u64>,
) {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    let is_over = over.map(|over| over > 0);
    let (fill, edge) = match is_over {
        Some(true) => (tokens.over_fill, tokens.over),
        Some(false) => (tokens.fits_fill, tokens.fits),
        None => (tokens.raised, tokens.border),
    };
    let text = match (over, limit) {
        (Some(over @ 1..), _) => format!("+{} over", units.bytes(over)),
        (_, Some(limit)) => format!("{} below the limit", units.bytes(limit.saturating_sub(alive))),
        _ => units.bytes(alive),
    };
    let of = limit.map_or_else(
        || units.bytes(alive),
        |limit| format!("{} of {}", units.beside(alive, limit), units.bytes(limit)),
    );
    let frame = egui::Frame::new().fill(fill).stroke(egui::Stroke::new(1.0, edge)).corner_radius(6);
    frame.inner_margin(egui::Margin::symmetric(10, 6)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal(|ui| {
            if !runs.is_one() {
                badge_ui(ui, run.badge);
            }
            if is_over.is_some() {
                Sign::of(is_over.map(|over| !over)).ui(ui, 15.0);
            }
            let color = if is_over.is_some() { edge } else { tokens.text };
            ui.label(RichText::new(text).font(fonts::semibold(13.0)).color(color));
        });
        ui.label(fonts::caption(of).color(tokens.weak_text));
    });
    ui.add_space(2.0);
}

/// What the step does.
fn facts_ui(ui: &mut egui::Ui, facts: &StepFacts) {
    for fact in facts.list() {
        let name = match fact.name {
            "Name" => continue,
            PROPORTION => "Proportion",
            name => name,
        };
        fact_ui(ui, name, &shortened(&fact.value, 28));
    }
    if let Some(kind) = &facts.kind {
        fact_ui(ui, "Program", kind);
    }
    let operation = facts.operation.as_ref().and_then(|operation| operation.name.as_deref());
    if let (Some(layer), block) = operation.map_or((None, None), module_of) {
        let block = block.map_or(String::new(), |block| format!(", block .{block}"));
        fact_ui(ui, "Layer", &format!("{layer}{block}"));
    }
}
