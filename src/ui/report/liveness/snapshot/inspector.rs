//! The inspector: the event under the pointer, else the selected one, else that of the peak: what it did, what is in
//! memory after it, and the code that asked.

use eframe::egui;

use super::SnapshotLiveness;
use super::picture::selected_steps;
use crate::store::snapshot::StackId;
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::text::{capitalised, grouped, shortened};
use crate::ui::command::{Command, Page};
use crate::ui::report::PageContext;
use crate::ui::report::snapshot::block_facts::{
    event_facts, event_of_step, event_title, stack_of_event,
};
use crate::ui::report::snapshot::curves::{Curves, RunCurves};
use crate::ui::report::snapshot::stack::stack_ui;
use crate::ui::report::snapshot::{group_color, short_frame, snapshot_of};
use crate::ui::run_chips::badge_ui;
use crate::ui::runs::Runs;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::inspector::{
    exact_fact_ui, fact_ui, long_fact_ui, part_ui, section_ui, title_ui,
};

/// Longest name.
const NAME: usize = 40;

impl SnapshotLiveness {
    /// The step that the inspector and the tables are about.
    pub fn step(page: &PageContext<'_>, curves: &Curves) -> usize {
        let selected = selected_steps(page, page.runs);
        let peak = || curves.runs.first().and_then(|curve| curve.stacked.peak);
        selected.first().copied().or_else(peak).unwrap_or(0)
    }

    pub fn inspect_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        curves: &Curves,
        is_below: bool,
    ) {
        let runs = page.runs;
        let is_selected = !selected_steps(page, runs).is_empty();
        let step = self.pointed.unwrap_or_else(|| Self::step(page, curves));
        let kind = match (self.pointed, is_selected) {
            (Some(_), _) => "Event under the pointer; a click selects it",
            (None, true) => "Selected event",
            (None, false) => "Highest event; click the curve to select one",
        };
        let title = format!("Event {}", grouped(step as u64));
        if !runs.is_one() {
            title_ui(ui, kind, &title, "");
            several_ui(ui, runs, curves, step);
            return;
        }
        let Some((replayed, curve)) = snapshot_of(runs.reference()).zip(curves.runs.first()) else {
            return;
        };
        let of = capitalised(&event_title(replayed, step, Units::now(ui)));
        if is_below {
            // Under the picture there is more width than height.
            ui.columns_const(|[left, right]| {
                let layout = egui::Layout::top_down(egui::Align::Min);
                left.with_layout(layout, |ui| {
                    title_ui(ui, kind, &title, &of);
                    event_ui(ui, replayed, curve, step);
                });
                right.with_layout(layout, |ui| memory_ui(ui, curve, step));
            });
            return;
        }
        title_ui(ui, kind, &title, &of);
        event_ui(ui, replayed, curve, step);
        memory_ui(ui, curve, step);
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            if ui.button("Map at this event").clicked() {
                super::picture::select(page, step, false);
                page.commands.push(Command::Go(Page::Map));
            }
        });
    }
}

/// What the event did, and the code that asked.
fn event_ui(ui: &mut egui::Ui, replayed: &ReplayedSnapshot, curve: &RunCurves, step: usize) {
    let units = Units::now(ui);
    let place = event_of_step(replayed, step).map(|(place, _)| place);
    let index = place.and_then(|place| replayed.known_index(place));
    let first_time = place.and_then(|place| *curve.of_devices.first_times.get(place)?);
    for (name, value) in event_facts(replayed, (step, index), first_time, units) {
        long_fact_ui(ui, name, &value);
    }
    let stack = stack_of_event(replayed, step);
    let own = |stack: StackId| replayed.snapshot.frames_of(stack).next().is_some();
    // A free seldom has a stack of its own.
    let (title, stack) = if own(stack) {
        ("Asked for by", stack)
    } else {
        ("Allocated by", allocation_stack(replayed, step).unwrap_or(StackId::NONE))
    };
    section_ui(ui, title);
    stack_ui(ui, &replayed.snapshot, stack);
}

/// The stack of the allocation of the block that an event is about.
fn allocation_stack(replayed: &ReplayedSnapshot, step: usize) -> Option<StackId> {
    let (place, event) = event_of_step(replayed, step)?;
    let row = replayed.known_index(place)?.row(event)?;
    replayed.replays.get(place)?.lives.stacks.get(row).copied()
}

/// What is in memory after the event.
fn memory_ui(ui: &mut egui::Ui, curve: &RunCurves, step: usize) {
    let units = Units::now(ui);
    let tokens = *Tokens::now(ui);
    section_ui(ui, "Memory after it");
    let at = |values: &[u64]| values.get(step).copied().unwrap_or(0);
    for (kind, values) in &curve.of_devices.by_curve {
        exact_fact_ui(ui, kind.title(), at(values));
    }
    let reserved = at(&curve.stacked.reserved);
    exact_fact_ui(ui, "Reserved", reserved);
    let active = curve.of_devices.by_curve.last().map_or(0, |(_, values)| at(values));
    fact_ui(ui, "Reserved, not in use", &units.bytes(reserved.saturating_sub(active)));
    section_ui(ui, "Consists of");
    let parts: Vec<_> = curve.stacked.at(step).collect();
    let whole = parts.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    for (place, (group, bytes)) in parts.iter().enumerate().rev() {
        if *bytes == 0 {
            continue;
        }
        let place_of_group =
            curve.stacked.groups.iter().position(|other| other.title == group.title);
        let color = group_color(group, place_of_group.unwrap_or(place), &tokens);
        let bar = [(*bytes, color)];
        let percent = *bytes as f64 * 100.0 / whole.max(1) as f64;
        let title = shortened(short_frame(&group.title), NAME);
        let size = format!("{}, {percent:.0} %", units.bytes(*bytes));
        part_ui(ui, &title, &size, &Bar { parts: &bar, whole, limit: None });
    }
}

/// What several runs have after the event of one number, which says nothing of what they have in common.
fn several_ui(ui: &mut egui::Ui, runs: &Runs, curves: &Curves, step: usize) {
    let units = Units::now(ui);
    for (run, curve) in runs.iter().zip(&curves.runs) {
        ui.separator();
        ui.horizontal(|ui| {
            badge_ui(ui, run.badge);
            ui.label(fonts::number(shortened(&run.name, NAME)));
        });
        let at = |values: &[u64]| values.get(step).copied();
        match at(curve.stacked.total()) {
            Some(bytes) => {
                if let Some(replayed) = snapshot_of(run) {
                    ui.weak(event_title(replayed, step, units));
                }
                fact_ui(ui, "After it", &units.bytes(bytes));
                let reserved = at(&curve.stacked.reserved).unwrap_or(0);
                fact_ui(ui, "Reserved", &units.bytes(reserved));
            }
            None => {
                ui.weak("It has no event of this number");
            }
        }
        let peak = curve.stacked.peak.unwrap_or(0);
        let most = at_peak(curve, peak);
        fact_ui(ui, &format!("Peak, event {}", grouped(peak as u64)), &units.bytes(most));
    }
}

fn at_peak(curve: &RunCurves, peak: usize) -> u64 {
    curve.stacked.total().get(peak).copied().unwrap_or(0)
}
