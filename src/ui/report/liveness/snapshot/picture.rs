//! The picture: areas on one another, the line of what is reserved above them, what parts of the run the events belong
//! to, failed requests, peaks.

use eframe::egui::{self, Color32};
use std::sync::Arc;

use super::SnapshotLiveness;
use crate::store::snapshot::StackId;
use crate::systems::pytorch::allocator::event_slots::EventSlots;
use crate::text::{grouped, shortened, time_text};
use crate::ui::report::PageContext;
use crate::ui::report::snapshot::block_facts::{event_title, stack_of_event};
use crate::ui::report::snapshot::curves::{
    AreaCaches, Curves, RunCurves, area_layers, reserved_layer,
};
use crate::ui::report::snapshot::stack::stack_lines;
use crate::ui::report::snapshot::{group_color, short_frame, snapshot_of};
use crate::ui::run_chips::badge_ui;
use crate::ui::runs::{Run, Runs, StepAt};
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::curve::{Answer, Layer, Picture, Y_AXIS_WIDTH, curve_ui};
use crate::ui::widget::legend::{Patch, entry_ui};
use crate::ui::widget::overview::Overview;
use crate::ui::widget::picture::{at_pointer_ui, link};
use crate::ui::widget::ticks;

/// Longest name in the legend.
const NAME: usize = 34;
/// Frames in a hint.
const HINT_FRAMES: usize = 4;
/// The name of the line of reserved bytes.
const RESERVED: &str = "Reserved";

/// Bins of the last frame.
#[derive(Default)]
pub struct Caches {
    areas: AreaCaches,
    /// Of several runs.
    lines: Vec<BinCache>,
    reserved: Vec<BinCache>,
    followed: BinCache,
    overview: BinCache,
}

impl SnapshotLiveness {
    /// Draws legend, picture and toolbar in the space that is left.
    pub fn pictures_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        curves: &Arc<Curves>,
    ) {
        let runs = page.runs;
        let legend = self.legend_ui(ui, runs, curves);
        let answer = self.picture_ui(ui, page, curves);
        self.toolbar.picture = Some(legend.union(answer.rect));
        if let Some(click) = answer.clicked {
            let step = curves.slots.step(click.position);
            select(page, step, click.is_added);
        }
        let hovered = answer.hovered.map(|slot| curves.slots.step(slot));
        if let Some(step) = hovered
            && self.resting.is_over(ui, answer.response.hover_pos())
        {
            at_pointer_ui(&answer.response, |ui| hint_ui(ui, runs, curves, step));
        }
        link(ui, &mut self.pointed, hovered, true);
        *page.has_painted_graph = true;
    }

    fn legend_ui(&mut self, ui: &mut egui::Ui, runs: &Runs, curves: &Curves) -> egui::Rect {
        let tokens = *Tokens::now(ui);
        let entries = |ui: &mut egui::Ui| {
            ui.spacing_mut().item_spacing = egui::vec2(14.0, 2.0);
            if let (true, Some(curve)) = (runs.is_one(), curves.runs.first()) {
                // From the top down, as the areas lie.
                for (place, group) in curve.stacked.groups.iter().enumerate().rev() {
                    let color = group_color(group, place, &tokens);
                    let title = shortened(short_frame(&group.title), NAME);
                    let mut is_shown = group.is_shown;
                    let entry = entry_ui(ui, Patch::Area(color, color), &title, &mut is_shown);
                    let rule = match group.category {
                        Some(category) => category.rule().to_owned(),
                        None => group.title.clone(),
                    };
                    if entry.on_hover_text(rule).changed() {
                        if is_shown {
                            self.choices.hidden.remove(&group.title);
                        } else {
                            self.choices.hidden.insert(group.title.clone());
                        }
                    }
                }
            } else {
                for run in runs.iter() {
                    badge_ui(ui, run.badge);
                    ui.label(shortened(&run.name, NAME));
                }
            }
            let has_reserved = &mut self.choices.has_reserved;
            let line = if runs.is_one() { tokens.ink } else { tokens.weak_text };
            entry_ui(ui, Patch::Line(line), RESERVED, has_reserved).on_hover_text(
                "Bytes of segments, taken from the device; what lies between the areas and this line is reserved and \
                 not in use",
            );
        };
        // All of its lines begin where the picture does.
        let row = ui.horizontal(|ui| {
            ui.add_space(Y_AXIS_WIDTH);
            ui.horizontal_wrapped(entries);
        });
        row.response.rect
    }

    fn picture_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        curves: &Arc<Curves>,
    ) -> Answer {
        let (runs, units, tokens) = (page.runs, Units::now(ui), *Tokens::now(ui));
        let choices = &self.choices;
        let Caches { areas, lines, reserved, followed, .. } = &mut self.caches;
        let mut layers: Vec<Layer<'_>> = Vec::new();
        if let (true, Some(curve)) = (runs.is_one(), curves.runs.first()) {
            layers = area_layers(curve, (choices.by, curves.version), areas, &tokens);
        } else {
            lines.resize_with(runs.len(), BinCache::default);
            for ((run, curve), cache) in runs.iter().zip(&curves.runs).zip(lines) {
                let is_reference = run.id == runs.reference().id;
                let fill = is_reference.then(|| run.fill(ui).gamma_multiply(0.55));
                if let Some(blocks) = curve.blocks.first() {
                    cache.take(curves.version, curve.total().len(), blocks);
                }
                let values = Values::Known(curve.total());
                layers.push(Layer { fill, ..Layer::line(values, run.color(ui), cache) });
            }
        }
        if choices.has_reserved {
            reserved.resize_with(runs.len(), BinCache::default);
            for ((run, curve), cache) in runs.iter().zip(&curves.runs).zip(reserved) {
                let line =
                    if runs.is_one() { tokens.ink } else { run.color(ui).gamma_multiply(0.5) };
                layers.push(reserved_layer(curve, (line, curves.version), cache));
            }
        }
        let follows = curves.runs.first();
        let total = follows.map_or(&[][..], RunCurves::total);
        if let Some(curve) = follows {
            curve.prepare_total(followed, curves.version);
        }
        layers.push(Layer::line(Values::Known(total), Color32::TRANSPARENT, followed));
        let failed: Vec<(usize, String)> = match (runs.is_one(), follows) {
            (true, Some(curve)) => {
                let text = |bytes: u64| format!("Out of memory, {} asked", units.bytes(bytes));
                curve.failed.iter().map(|(slot, bytes)| (*slot, text(*bytes))).collect()
            }
            _ => Vec::new(),
        };
        let selected: Vec<(std::ops::Range<usize>, String)> = selected_steps(page, runs)
            .into_iter()
            .map(|step| {
                let slot = curves.slots.slot(step);
                (slot..slot + 1, String::new())
            })
            .collect();
        let slots = &curves.slots;
        let text = |slot: usize| slot_text(slots, slot);
        let by_time = |range: (f64, f64), least: f64| time_ticks(slots, range, least);
        let is_by_time = slots.is_by_time();
        let value = value_text(curves, selected.first().map(|(range, _)| range.start), units);
        let peaks = follows.filter(|_| runs.is_one()).map_or(&[][..], |curve| &curve.peaks);
        let name =
            runs.of_number(["Memory curve", "Memory curves of both", "Memory curves of all"]);
        curve_ui(
            ui,
            (&mut self.view, &mut self.heights),
            Picture {
                value,
                x_title: if is_by_time { "Time" } else { "Event" },
                x_unit: if is_by_time { "" } else { "Event" },
                x_ticks: is_by_time.then_some(&by_time),
                version: curves.version,
                top: curves.top,
                layers,
                moments: &failed,
                bands: follows.filter(|_| runs.is_one()).map_or(&[][..], |curve| &curve.bands),
                peaks,
                selected,
                ..Picture::of(name, slots.len(), &text)
            },
        )
    }

    /// The row below the picture.
    pub fn toolbar_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, curves: &Curves) {
        let runs = page.runs;
        let total = curves.runs.first().map_or(&[][..], RunCurves::total);
        let selected = selected_steps(page, runs).first().map(|step| curves.slots.slot(*step));
        if let Some(curve) = curves.runs.first() {
            curve.prepare_total(&mut self.caches.overview, curves.version);
        }
        let overview = Overview {
            values: Values::Known(total),
            len: curves.slots.len(),
            base: 0,
            version: curves.version,
            top: curves.top,
            limit: None,
            selected,
            cache: &mut self.caches.overview,
        };
        let is_zoomed = self.heights.is_zoomed();
        let name = runs.of_number(["memory curve", "memory of both", "memory of all"]);
        let others = |_: &mut egui::Ui| is_zoomed;
        if self.toolbar.ui(ui, name, &mut self.view, overview, page.commands, others) {
            self.heights.reset();
        }
    }
}

/// What the picture says to those who do not see it.
fn value_text(curves: &Curves, slot: Option<usize>, units: Units) -> String {
    let Some(curve) = curves.runs.first() else { return String::new() };
    let events = curve.stacked.reserved.len() as u64;
    let peak = curve.stacked.peak.unwrap_or(0);
    let most = curve.stacked.total().get(peak).copied().unwrap_or(0);
    let at = slot.map_or_else(String::new, |slot| {
        let bytes = curve.total().get(slot).copied().unwrap_or(0);
        format!("; at {} {}", slot_text(&curves.slots, slot), units.exact(bytes))
    });
    format!(
        "{} events, most {} at event {}{at}",
        grouped(events),
        units.exact(most),
        grouped(peak as u64)
    )
}

/// What a slot is called below the picture.
fn slot_text(slots: &EventSlots, slot: usize) -> String {
    match slots.microseconds(slot) {
        Some(0) => "0 s".to_owned(),
        Some(microseconds) => time_text(microseconds as f64 * 1e-6),
        None => grouped(slot as u64),
    }
}

/// Slots at round times.
fn time_ticks(slots: &EventSlots, (start, end): (f64, f64), least: f64) -> Vec<usize> {
    let microseconds = |slot: f64| {
        let slot = (slot.max(0.0) as usize).min(slots.len());
        slots.microseconds(slot).unwrap_or(0) as f64
    };
    let (from, to) = (microseconds(start), microseconds(end));
    let per_slot = (to - from) / (end - start).max(1.0);
    let step = ticks::whole_step(least * per_slot);
    let at = ticks::multiples(step, (from, to));
    at.filter_map(|at| slots.slot_at(at.max(0.0) as u64)).collect()
}

/// The selected steps, of one run its own, of several their numbers.
pub fn selected_steps(page: &PageContext<'_>, runs: &Runs) -> Vec<usize> {
    let is_here = |at: &&StepAt| runs.position(at.run).is_some();
    let mut steps: Vec<usize> = Vec::new();
    for at in page.selection.steps.iter().filter(is_here) {
        if !steps.contains(&at.step) {
            steps.push(at.step);
        }
    }
    steps
}

/// Selects a step, of several runs that of the first that has one there.
pub fn select(page: &mut PageContext<'_>, step: usize, is_added: bool) {
    let has = |run: &&Run| run.report.steps.get().is_some_and(|steps| step < steps.ids.len());
    let Some(run) = page.runs.iter().find(has) else { return };
    let at = StepAt { run: run.id, step };
    let steps = &mut page.selection.steps;
    if !is_added {
        *steps = vec![at];
    } else if let Some(known) = steps.iter().position(|other| *other == at) {
        steps.remove(known);
    } else {
        steps.push(at);
    }
}

/// What the pointer is told: the event, what is alive, and the code that asked.
fn hint_ui(ui: &mut egui::Ui, runs: &Runs, curves: &Curves, step: usize) {
    let units = Units::now(ui);
    if let (true, Some(replayed)) = (runs.is_one(), snapshot_of(runs.reference())) {
        let title = event_title(replayed, step, units);
        ui.label(fonts::number(format!("Event {}, {title}", grouped(step as u64))));
        let stack = stack_of_event(replayed, step);
        if stack != StackId::NONE {
            for line in stack_lines(&replayed.snapshot, stack, HINT_FRAMES) {
                ui.label(line);
            }
        }
        let Some(curve) = curves.runs.first() else { return };
        let total = curve.stacked.total().get(step).copied().unwrap_or(0);
        let reserved = curve.stacked.reserved.get(step).copied().unwrap_or(0);
        ui.weak(format!("{} of {} reserved", units.bytes(total), units.bytes(reserved)));
        return;
    }
    ui.label(fonts::number(format!("Event {}", grouped(step as u64))));
    for (run, curve) in runs.iter().zip(&curves.runs) {
        let bytes = curve.stacked.total().get(step);
        let text = bytes.map_or_else(|| "ended".to_owned(), |bytes| units.bytes(*bytes));
        ui.weak(format!("{} {text}", run.name));
    }
}
