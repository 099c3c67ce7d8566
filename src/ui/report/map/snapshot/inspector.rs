//! The inspector: the block under the pointer or the chosen one, with its life and its stack; else the chosen event,
//! with what is free after it.

use eframe::egui;

use super::data::MapMoment;
use super::picture::Pointed;
use super::{Of, SnapshotMap, liveness_link_ui};
use crate::store::snapshot::StackId;
use crate::systems::pytorch::allocator::segment_map::CellKind;
use crate::systems::pytorch::event_said::{address_text, event_title, life_text, stack_of};
use crate::text::{capitalised, grouped};
use crate::ui::report::PageContext;
use crate::ui::report::allocations::stack::stack_ui;
use crate::ui::report::category_colors::category_color;
use crate::ui::runs::{Run, StepAt};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::inspector::{
    exact_fact_ui, fact_ui, long_fact_ui, part_ui, section_ui, title_ui,
};

impl SnapshotMap {
    pub fn inspect_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        (run, step): (&Run, usize),
        of: Of<'_>,
        moment: Option<&MapMoment>,
    ) {
        let (replayed, ..) = of;
        let pointed = self.pointed;
        let under = pointed.and_then(|pointed| pointed.block);
        match (under, pointed, self.block) {
            (Some(block), ..) => block_ui(ui, of, (block, "Block under the pointer")),
            (None, Some(pointed), _) if pointed.kind == CellKind::Free => {
                free_ui(ui, of, &pointed);
            }
            (None, _, Some(block)) => block_ui(ui, of, (block, "Chosen block")),
            _ => {
                let title = format!("Event {}", grouped(step as u64));
                let units = Units::now(ui);
                let did = match event_title(replayed, step) {
                    (did, Some(bytes)) => format!("{did} of {}", units.bytes(bytes)),
                    (did, None) => did.to_owned(),
                };
                let did = capitalised(&did);
                let is_chosen = page.selection.step_of(run.id).is_some();
                let failed = moment.is_some_and(|moment| moment.failed.is_some());
                let kind = match (is_chosen, failed) {
                    (true, _) => "Selected event",
                    (false, true) => "Request that failed; click the map to select another event",
                    (false, false) => "Highest event; click the map to select one",
                };
                title_ui(ui, kind, &title, &did);
            }
        }
        let Some(moment) = moment else { return };
        moment_ui(ui, moment);
        ui.add_space(8.0);
        liveness_link_ui(ui, page, StepAt { run: run.id, step });
    }
}

/// A block with its life and its stack.
fn block_ui(ui: &mut egui::Ui, (replayed, place, axis): Of<'_>, (row, kind): (usize, &str)) {
    let Some((device, replay)) = replayed.device(place) else { return };
    let (lives, units) = (&replay.lives, Units::now(ui));
    let of = |column: &[u64]| column.get(row).copied().unwrap_or(0);
    let category = replayed.categories(place).get(row);
    let title = category.map_or("Block", |category| category.title());
    title_ui(ui, kind, &units.bytes(of(&lives.bytes)), title);
    exact_fact_ui(ui, "Asked", of(&lives.requested));
    exact_fact_ui(ui, "Block", of(&lives.bytes));
    let rounding = of(&lives.bytes).saturating_sub(of(&lives.requested));
    if rounding > 0 {
        exact_fact_ui(ui, "Rounding", rounding);
    }
    let number = replayed.known_index(place).map_or(0, |index| index.number(row));
    long_fact_ui(ui, "Address", &address_text(of(&lives.addresses), number));
    if let Some(segment) = axis.segment_of(replayed, (place, row)) {
        fact_ui(ui, "Segment", &segment.to_string());
    }
    long_fact_ui(ui, "Lives", &life_text(lives, row, device.events.len()));
    let given_back = lives.requested_free_at.get(row).zip(lives.freed_at.get(row));
    if let Some((given_back, freed)) = given_back
        && given_back.saturating_add(1) < *freed
    {
        let text = format!("waits for other streams from event {given_back}");
        long_fact_ui(ui, "Given back", &text);
    }
    if let Some(category) = category {
        ui.weak(category.rule());
    }
    section_ui(ui, "Allocated by");
    let stack = lives.stacks.get(row).copied().unwrap_or(StackId::NONE);
    stack_ui(ui, &stack_of(&replayed.snapshot, stack));
}

/// What is reserved and not in use under the pointer.
fn free_ui(ui: &mut egui::Ui, (_, _, axis): Of<'_>, pointed: &Pointed) {
    let title = format!("Event {}", grouped(pointed.step as u64));
    title_ui(ui, "Under the pointer", &title, "Reserved, not in use");
    if let Some(segment) = pointed.segment.and_then(|at| Some((at, axis.segments.get(at)?))) {
        let (number, segment) = segment;
        fact_ui(ui, "Segment", &number.to_string());
        exact_fact_ui(ui, "Size", segment.bytes);
    }
    if let Some(address) = pointed.address {
        fact_ui(ui, "Address", &format!("{address:#x}"));
    }
}

/// What is reserved, used and free after the chosen event.
fn moment_ui(ui: &mut egui::Ui, moment: &MapMoment) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let whole = &moment.at.whole;
    section_ui(ui, &format!("After event {}", grouped(moment.step as u64)));
    if let Some(asked) = moment.failed {
        exact_fact_ui(ui, "Asked, and not given", asked);
    }
    exact_fact_ui(ui, "Reserved", whole.reserved);
    exact_fact_ui(ui, "In use", whole.active);
    exact_fact_ui(ui, "Free in segments", whole.free());
    fact_ui(ui, "Largest free piece", &units.bytes(whole.largest.1));
    fact_ui(ui, "Free pieces", &grouped(whole.pieces));
    fact_ui(ui, "Segments", &grouped(moment.at.count));
    section_ui(ui, "In use by kind");
    for (category, bytes) in &moment.by_category {
        let bar = [(*bytes, category_color(category.title(), &tokens))];
        let bar = Bar { parts: &bar, whole: whole.active, limit: None };
        part_ui(ui, category.title(), &units.bytes(*bytes), &bar);
    }
}
