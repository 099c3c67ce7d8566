//! A memory snapshot at a glance: the figures that everybody asks for, the curve by what blocks are for, what the peak
//! consists of, whose it is.

use eframe::egui::{self, Align, Label, Layout, Vec2};
use std::collections::BTreeSet;

use super::Detail;
use crate::analysis::comparison::step_axis::StepAxis;
use crate::analysis::liveness::Scope;
use crate::run::areas::{AreasBy, AreasOf};
use crate::systems::pytorch::allocator::device_facts::DeviceFacts;
use crate::systems::pytorch::allocator::replayed::AllocatorRun;
use crate::systems::pytorch::allocator::run_end::{Outcome, Recorded};
use crate::text::{counted, grouped, shortened};
use crate::ui::command::{Command, Page};
use crate::ui::job::Cancel;
use crate::ui::report::allocations::found::{Found, ListKey};
use crate::ui::report::areas::{AreaCaches, DrawnAreas, DrawnBeside, group_color, short_frame};
use crate::ui::report::head::Answer;
use crate::ui::report::run_part::RunPart;
use crate::ui::runs::Run;
use crate::ui::theme::fonts::size;
use crate::ui::theme::{BETWEEN_CARDS, Tokens, card_frame, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::card::{card_ui, picture_card_ui};
use crate::ui::widget::curve::{Layer, Picture, curve_ui};
use crate::ui::widget::heights::Heights;
use crate::ui::widget::inspector::part_ui;
use crate::ui::widget::legend::{Patch, label_ui};
use crate::ui::widget::sign::Sign;
use crate::ui::widget::view::View;

/// Lines of code that are named.
const MOST_CODE: usize = 7;
/// Longest name.
const NAME: usize = 48;
/// Least width of a card of a figure within its frame, and height of the cards below the curve, points.
const LEAST_FIGURE: f32 = 150.0;
const PARTS: f32 = 250.0;
/// Least and most height of the curve, points.
const LEAST: f32 = 220.0;
const MOST: f32 = 460.0;

/// What is worked out of a snapshot.
pub struct SnapshotKnown {
    curves: KnownCurves,
    figures: Vec<Figure>,
    ending: Ending,
}

/// The curve and what it consists of at its peak.
pub struct KnownCurves {
    areas: DrawnAreas,
    beside: DrawnBeside,
    peak: usize,
    /// Whether several devices are added up.
    are_several: bool,
    /// `None` while that is not known.
    by_code: Option<Vec<(String, u64)>>,
}

/// A figure with what it is, and what is said of it.
struct Figure {
    title: &'static str,
    bytes: u64,
    note: String,
}

impl SnapshotKnown {
    /// How the run ended.
    pub fn answer(&self, units: Units) -> Answer {
        self.ending.answer(units)
    }

    /// What is worked out event by event.
    pub fn curves_of(run: &Run, detail: Detail, cancel: &Cancel) -> Option<KnownCurves> {
        let (derived, answers) = (&run.derived, run.derived.answers());
        let is_cancelled = || cancel.is_cancelled();
        let scope = Scope::Everything;
        let by = match detail {
            Detail::First => AreasBy::Whole,
            Detail::All => AreasBy::Category,
        };
        let (stacked, beside) = rayon::join(
            || answers.areas(derived, AreasOf { scope, by }, &is_cancelled),
            || answers.beside_curve(derived, scope, false),
        );
        let areas = DrawnAreas::of(stacked?.into(), BTreeSet::new(), None);
        let axis = StepAxis::by_index(&[areas.total().len()]);
        let beside = DrawnBeside::of(beside, &axis, 0);
        let most = areas.top;
        let peak = areas.total().iter().position(|bytes| *bytes == most).unwrap_or(0);
        let key = || {
            let (by, pattern) = (AreasBy::Line, String::new());
            ListKey { scope, by, step: Some(peak), pattern }
        };
        let by_code = || {
            let found = Found::of(run, &key(), cancel)?.ok()?;
            let rows = found.by_code.rows.iter();
            Some(rows.map(|row| (row.name.clone(), row.bytes)).collect())
        };
        let by_code = if detail == Detail::All { by_code() } else { None };
        let are_several = run.derived.snapshot()?.snapshot.devices.len() > 1;
        Some(KnownCurves { areas, beside, peak, are_several, by_code })
    }

    /// The same with the figures.
    pub fn of(run: &AllocatorRun, curves: KnownCurves) -> Option<Self> {
        let facts = run.snapshot()?.device_facts();
        Some(Self { curves, figures: figures(facts), ending: Ending::of(run, facts)? })
    }
}

/// The figures of the device that has most of each.
fn figures(facts: &[DeviceFacts]) -> Vec<Figure> {
    let most = |bytes: fn(&DeviceFacts) -> u64| facts.iter().rev().max_by_key(|of| bytes(of));
    let of = |facts_of: &DeviceFacts| match facts.len() {
        1 => String::new(),
        _ => format!("{}, ", facts_of.title()),
    };
    let at = |event: i64| match u64::try_from(event) {
        Ok(event) => format!("at event {}", grouped(event)),
        Err(_) => "before the first event".to_owned(),
    };
    let mut figures = Vec::new();
    let mut push = |title, bytes, note| figures.push(Figure { title, bytes, note });
    if let Some(facts) = most(|of| of.requested_peak.bytes) {
        let peak = &facts.requested_peak;
        push("Requested, peak", peak.bytes, format!("{}{}", of(facts), at(peak.event)));
    }
    if let Some(facts) = most(|of| of.allocated_peak.bytes) {
        let is_whole = facts.allocated_peak.exact && facts.recorded != Recorded::Cut;
        let least = if is_whole { "" } else { ", at least" };
        let note = format!("{}max_memory_allocated(){least}", of(facts));
        push("Allocated, peak", facts.allocated_peak.bytes, note);
    }
    if let Some(facts) = most(|of| of.reserved_peak_bytes) {
        let least = if facts.recorded == Recorded::Cut { ", at least" } else { "" };
        let note = format!("{}max_memory_reserved(){least}", of(facts));
        push("Reserved, peak", facts.reserved_peak_bytes, note);
    }
    if let Some(facts) = most(|of| of.end.inactive_bytes) {
        let pieces = counted(facts.end.inactive_blocks, "piece");
        let note = format!("{}in {pieces}", of(facts));
        push("Reserved, not in use, end", facts.end.inactive_bytes, note);
    }
    figures
}

/// How the run ended, as far as it was recorded.
struct Ending {
    outcome: Outcome,
    /// Bytes that were asked for by the request at which it ended.
    asked: Option<u64>,
    /// What was free on the device then.
    device_free: Option<u64>,
    failed: usize,
    events: usize,
    is_complete: bool,
}

impl Ending {
    fn of(run: &AllocatorRun, facts: &[DeviceFacts]) -> Option<Self> {
        let end = run.end()?;
        let failed = end.device.and_then(|place| facts.get(place)?.ended_by);
        let failed = failed.filter(|_| end.said_by.is_none());
        let stated = end.said_by.and_then(|text| text.requested_bytes);
        Some(Self {
            outcome: end.outcome,
            asked: failed.map(|failed| failed.bytes).or(stated),
            device_free: failed.and_then(|failed| failed.device_free),
            failed: facts.iter().map(|facts| facts.oom.len()).sum(),
            events: facts.iter().map(|facts| facts.events).sum(),
            is_complete: facts.iter().all(|facts| facts.recorded == Recorded::Whole),
        })
    }

    fn answer(&self, units: Units) -> Answer {
        let (failed, events) = (self.failed as u64, self.events as u64);
        let ran = |text: String| (Sign::Fits, text);
        match self.outcome {
            Outcome::OutOfMemory => {
                let asked = self
                    .asked
                    .map_or_else(String::new, |bytes| format!(": {} asked", units.bytes(bytes)));
                let free = self.device_free.map_or_else(String::new, |free| {
                    format!(", {} free on the device", units.bytes(free))
                });
                (Sign::Over, format!("Out of memory{asked}{free}"))
            }
            Outcome::Cut => {
                (Sign::Note, "The file is cut: how the run ended is not known".to_owned())
            }
            Outcome::NotRecorded if events > 0 => (
                Sign::Note,
                "Of a rank no history was recorded: how it ended is not known".to_owned(),
            ),
            Outcome::NotRecorded => {
                (Sign::Note, "The state at the end alone: no history was recorded".to_owned())
            }
            Outcome::Ran if failed > 0 => {
                (Sign::Note, format!("{} failed, and the run went on", counted(failed, "request")))
            }
            Outcome::Ran if !self.is_complete => {
                ran(format!("No request failed in the last {}", counted(events, "event")))
            }
            Outcome::Ran => ran("No request failed".to_owned()),
        }
    }
}

#[derive(Default)]
pub struct SnapshotGlance {
    view: View,
    heights: Heights,
    areas: AreaCaches,
    lines: Vec<BinCache>,
    followed: BinCache,
}

impl SnapshotGlance {
    /// Draws it. `failure` is why what is not known yet does not come.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        known: &SnapshotKnown,
        failure: Option<&str>,
        part: &mut RunPart<'_>,
    ) {
        figures_ui(ui, &known.figures);
        let known = &known.curves;
        let mut exports = Vec::new();
        let height = (ui.available_height() - PARTS - 90.0).clamp(LEAST, MOST);
        let at_right = |ui: &mut egui::Ui| {
            if ui.link("Open in Liveness").clicked() {
                part.commands.push(Command::Go(Page::Liveness));
            }
        };
        let mut clicked = None;
        let title = if known.are_several {
            "Memory over events, all devices together"
        } else {
            "Memory over events"
        };
        picture_card_ui(ui, title, &mut exports, at_right, |ui| {
            clicked = self.picture_ui(ui, known, height);
        });
        part.commands.append(&mut exports);
        if let Some(step) = clicked {
            part.show_step(step);
        }
        parts_ui(ui, known, failure, part);
    }

    fn picture_ui(&mut self, ui: &mut egui::Ui, known: &KnownCurves, height: f32) -> Option<usize> {
        let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
        let KnownCurves { areas: of_groups, beside, .. } = known;
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = Vec2::new(14.0, 2.0);
            for (place, group) in of_groups.stacked.groups.iter().enumerate().rev() {
                let color = group_color(group, place, &tokens);
                label_ui(ui, Patch::Area(color, color), &group.title);
            }
            for line in &beside.lines {
                label_ui(ui, Patch::Line(tokens.ink), line.title);
            }
        });
        let Self { view, heights, areas, lines, followed } = self;
        let mut layers = of_groups.layers(areas, None, &tokens);
        lines.resize_with(beside.lines.len(), BinCache::default);
        for (line, cache) in beside.lines.iter().zip(lines) {
            layers.push(beside.layer(line, tokens.ink, cache));
        }
        of_groups.prepare_total(followed);
        let total = Values::Known(of_groups.total());
        layers.push(Layer::line(total, egui::Color32::TRANSPARENT, followed));
        let top = beside.lines.iter().map(|line| line.top).fold(of_groups.top, u64::max);
        let (moments, peaks) = (beside.moments(units), of_groups.peaks());
        let len = of_groups.total().len();
        let size = Vec2::new(ui.available_width(), height);
        let layout = Layout::top_down(Align::Min);
        let answer = ui.allocate_ui_with_layout(size, layout, |ui| {
            let picture = Picture {
                value: format!("{} events", grouped(len as u64)),
                x_title: "Event",
                x_unit: "Event",
                version: of_groups.version,
                top,
                layers,
                moments: &moments,
                bands: &beside.bands,
                peaks: &peaks,
                ..Picture::of("Memory over events", len, &|slot| grouped(slot as u64))
            };
            curve_ui(ui, (view, heights), picture)
        });
        answer.inner.clicked.map(|click| click.position)
    }
}

/// The figures, a card each, in one row, or in two where they would be too narrow.
fn figures_ui(ui: &mut egui::Ui, figures: &[Figure]) {
    let units = Units::now(ui);
    let frame = card_frame(Tokens::now(ui));
    let room = ui.available_width();
    let inner = |columns: usize| {
        let gaps = BETWEEN_CARDS * columns.saturating_sub(1) as f32;
        ((room - gaps) / columns.max(1) as f32).floor() - frame.total_margin().sum().x
    };
    let all = figures.len().max(1);
    let columns = if inner(all) < LEAST_FIGURE { all.div_ceil(2) } else { all };
    let width = inner(columns).max(0.0);
    for row in figures.chunks(columns) {
        // Cards beside each other are as high as the one that has most to say.
        let note = |figure: &Figure| {
            let (text, font) = (figure.note.clone(), fonts::regular(size::CAPTION));
            ui.painter().layout(text, font, Tokens::now(ui).weak_text, width).size().y
        };
        let note = row.iter().map(note).fold(0.0, f32::max);
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = BETWEEN_CARDS;
            for figure in row {
                frame.show(ui, |ui| {
                    ui.vertical(|ui| {
                        ui.set_width(width);
                        ui.label(fonts::caption(figure.title).weak());
                        let text = egui::RichText::new(units.bytes(figure.bytes));
                        ui.label(text.font(fonts::semibold(size::KEY_FIGURE)));
                        let said = Label::new(fonts::caption(&*figure.note).weak()).wrap();
                        let height = ui.add(said).rect.height();
                        ui.add_space((note - height).max(0.0));
                    });
                });
            }
        });
        ui.add_space(BETWEEN_CARDS - ui.spacing().item_spacing.y);
    }
}

/// What the peak consists of, and whose it is, beside each other.
fn parts_ui(ui: &mut egui::Ui, known: &KnownCurves, failure: Option<&str>, part: &mut RunPart<'_>) {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    let Some(by_code) = &known.by_code else {
        let why = failure.unwrap_or("being added up…");
        ui.weak(format!("What the peak consists of, and whose it is: {why}"));
        return;
    };
    let (areas, peak) = (&known.areas, known.peak);
    let whole = areas.top;
    let at = format!("event {}", grouped(peak as u64));
    let share = |bytes: u64| {
        let percent = bytes as f64 * 100.0 / whole.max(1) as f64;
        format!("{}, {percent:.0} %", units.bytes(bytes))
    };
    ui.columns_const(|[left, right]| {
        card_ui(left, &format!("What the peak consists of, {at}"), |ui| {
            let groups: Vec<_> = areas.stacked.at(peak).enumerate().collect();
            for (place, (group, bytes)) in groups.into_iter().rev() {
                if bytes > 0 {
                    let bar = [(bytes, group_color(group, place, &tokens))];
                    let bar = Bar { parts: &bar, whole, limit: None };
                    part_ui(ui, &group.title, &share(bytes), &bar);
                }
            }
        });
        card_ui(right, &format!("Whose it is, {at}"), |ui| {
            for (name, bytes) in by_code.iter().take(MOST_CODE) {
                let bar = [(*bytes, tokens.temporary)];
                let title = shortened(short_frame(name), NAME);
                let bar = Bar { parts: &bar, whole, limit: None };
                part_ui(ui, &title, &share(*bytes), &bar);
            }
            if let Some(more @ 1..) = by_code.len().checked_sub(MOST_CODE) {
                let text = format!("{} more in Liveness", counted(more as u64, "line"));
                if ui.link(text).clicked() {
                    part.show_step(peak);
                }
            }
        });
    });
}
