//! All runs, a line each: whether it fits, its curve, its peak and fullest tile against their limits. A click
//! chooses the run that the reference is compared with.

pub mod curves;
mod verdicts;

use eframe::egui::{
    self, Align2, Color32, Pos2, Rect, Role, Sense, Shape, Stroke, Vec2, WidgetInfo,
};
use std::sync::Arc;

use crate::analysis::comparison::at_a_glance::{RunFacts, run_facts, which_fits};
use crate::analysis::liveness::timeline::WithTimeline;
use crate::store::System;
use crate::text::{self, rate, shortened};
use crate::ui::command::{ExportSource, Sheet};
use crate::ui::job::{Cancel, Made, Same};
use crate::ui::report::PageContext;
use crate::ui::report::head::SignedAnswer;
use crate::ui::report::slot_axis::MOST_PEAKS;
use crate::ui::run_chips::{elided, paint_badge};
use crate::ui::runs::{Needed, Needs, Run, RunId, Runs, RunsAnswer};
use crate::ui::theme::fonts::{self, size};
use crate::ui::theme::{BETWEEN_CARDS, Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::exports::exports_ui;
use crate::ui::widget::picture::text_within;
use crate::ui::widget::rows::{CellValue, TableColumn, difference, signed};
use crate::ui::widget::sign::Sign;
use curves::{ColumnCurve, Meshes, mesh_key};
use verdicts::{have_ended, how_they_ended, sign, verdict_text};

const NEEDS: Needs = &[Needed::Memory, Needed::Liveness, Needed::About, Needed::Axis];
/// Height of a line, points.
const ROW: f32 = 30.0;
const HEAD: f32 = 22.0;
/// Room for a character of a title, points.
const CAPTION_CHARACTER: f32 = 6.5;
/// Room for a character of a name, points.
const NAME_CHARACTER: f32 = 7.0;
/// Between columns, points.
const GAP: f32 = 10.0;

/// What is known of all runs.
#[derive(Debug, PartialEq)]
pub struct Glance {
    system: System,
    pub facts: Vec<RunFacts>,
    pub curves: Vec<Option<ColumnCurve>>,
    pub slots: usize,
    /// The highest peaks of the reference: slot and bytes.
    pub peaks: Vec<(usize, u64)>,
    /// What all curves are held against; `None` where runs have different limits.
    pub limit: Option<u64>,
}

impl Glance {
    fn of(runs: &Runs, cancel: &Cancel) -> Self {
        let is_cancelled = || cancel.is_cancelled();
        let timeline = |run: &Run| {
            let scope = run.derived.first_scope();
            run.derived.with_timeline(scope, &is_cancelled)
        };
        let known: Vec<_> = runs.iter().map(timeline).collect();
        let facts = run_facts(&known, &runs.each(|run| run.derived.verdict()));
        let steps = |run: &WithTimeline| {
            run.timeline.as_ref().map_or(0, |timeline| timeline.curve.not_always_live.len())
        };
        let slots = match runs.axis() {
            Some(axis) => axis.len(),
            None => known.iter().map(steps).max().unwrap_or(0),
        };
        let curve = |(place, run): (usize, &WithTimeline)| {
            let step_in = |slot: usize| match runs.axis() {
                Some(axis) => axis.step(place, slot),
                None => Some(slot),
            };
            Some(ColumnCurve::of(run.timeline.as_ref()?, slots, step_in))
        };
        let curves = known.iter().enumerate().map(curve).collect();
        let slot = |step: usize| match runs.axis() {
            Some(axis) => axis.slot(0, step),
            None => Some(step),
        };
        let reference = known.first().and_then(|run| run.timeline.as_ref());
        let peaks = reference.into_iter().flat_map(|timeline| {
            let peaks = timeline.highest_peaks(MOST_PEAKS).into_iter();
            peaks.filter_map(move |step| Some((slot(step)?, timeline.alive_at(step))))
        });
        let peaks = peaks.collect();
        let mut limits = facts.iter().filter_map(|facts| facts.limit_bytes);
        let limit = limits.next().filter(|limit| limits.all(|other| other == *limit));
        Self { system: *runs.system(), facts, curves, slots, peaks, limit }
    }

    /// Bytes of a curve, in the unit of the limit.
    pub fn bytes(&self, bytes: u64, units: Units) -> String {
        self.limit.map_or_else(|| units.bytes(bytes), |limit| units.beside(bytes, limit))
    }
}

/// A column that is left out where there is no room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GlanceColumn {
    Badge,
    Name,
    Verdict,
    Curve,
    Peak,
    AgainstLimit,
    /// Of the peak, against the reference.
    Change,
    Fullest,
    AgainstTile,
    AlwaysLive,
    Code,
    Samples,
    Note,
}

/// The columns with their widths and how early they are left out: 0 never.
const CELLS: [(GlanceColumn, f32, u8); 13] = [
    (GlanceColumn::Badge, 24.0, 0),
    (GlanceColumn::Name, 110.0, 0),
    (GlanceColumn::Verdict, 112.0, 0),
    (GlanceColumn::Curve, 120.0, 2),
    (GlanceColumn::Peak, 76.0, 0),
    (GlanceColumn::AgainstLimit, 104.0, 1),
    (GlanceColumn::Change, 92.0, 3),
    (GlanceColumn::Fullest, 76.0, 0),
    (GlanceColumn::AgainstTile, 104.0, 1),
    (GlanceColumn::AlwaysLive, 76.0, 4),
    (GlanceColumn::Code, 76.0, 5),
    (GlanceColumn::Samples, 66.0, 3),
    (GlanceColumn::Note, 110.0, 6),
];

/// What there is to say of runs, which decides on the columns.
#[derive(Clone, Copy)]
struct GlanceParts {
    tiles: bool,
    limits: bool,
    /// What its title takes, points; `None` where it is not shown.
    always_live: Option<f32>,
}

impl GlanceParts {
    /// Of a memory snapshot nothing is called always live, though there are blocks that are.
    fn of(runs: &Runs, glance: &Glance) -> Self {
        let is_known =
            |of: fn(&RunFacts) -> Option<u64>| glance.facts.iter().any(|facts| of(facts).is_some());
        Self {
            tiles: !runs.are_foreign_to(&[Needed::Memory]),
            limits: is_known(RunFacts::peak_limit),
            always_live: (!have_ended(glance)
                && is_known(|facts| facts.always_live_bytes.filter(|of| *of > 0)))
            .then(|| CAPTION_CHARACTER * glance.system.always_live.chars().count() as f32),
        }
    }
}

/// The columns that there is room for, from left to right, with where they begin and how wide they are.
fn columns(width: f32, has: GlanceParts, does: ClickEffect) -> Vec<(GlanceColumn, f32, f32)> {
    let of_tiles = [
        GlanceColumn::Fullest,
        GlanceColumn::AgainstTile,
        GlanceColumn::Code,
        GlanceColumn::Samples,
    ];
    // Where runs are compared, the change of the peak has a picture of its own.
    let left_out = match does {
        ClickEffect::Compares => GlanceColumn::Change,
        ClickEffect::Shows => GlanceColumn::Note,
    };
    let is_known = |cell: &GlanceColumn| {
        *cell != left_out
            && (has.tiles || !of_tiles.contains(cell))
            && (has.limits || *cell != GlanceColumn::AgainstLimit)
            && (has.always_live.is_some() || *cell != GlanceColumn::AlwaysLive)
    };
    let with_room = |(cell, width, early): (GlanceColumn, f32, u8)| match (cell, has.always_live) {
        (GlanceColumn::AlwaysLive, Some(title)) => (cell, width.max(title), early),
        _ => (cell, width, early),
    };
    let known = || CELLS.into_iter().filter(|(cell, ..)| is_known(cell)).map(with_room);
    let sum = |least: u8| -> f32 {
        known().filter(|(.., early)| *early <= least).map(|(_, width, _)| width + GAP).sum()
    };
    let least = (0..=6).rev().find(|least| sum(*least) <= width).unwrap_or(0);
    let spare = (width - sum(least)).max(0.0);
    let mut left = 0.0;
    let kept = known().filter(|(.., early)| *early <= least);
    kept.map(|(cell, width, _)| {
        let from = left;
        let width = width + spare * spare_share(cell);
        left += width + GAP;
        (cell, from, width)
    })
    .collect()
}

/// Of the room that is left over, the share of a column that is better wide.
fn spare_share(cell: GlanceColumn) -> f32 {
    match cell {
        GlanceColumn::Name => 0.15,
        GlanceColumn::Curve => 0.45,
        GlanceColumn::AgainstLimit | GlanceColumn::AgainstTile => 0.2,
        _ => 0.0,
    }
}

/// What a click on a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClickEffect {
    /// The reference is compared with it.
    Compares,
    /// More of it is shown below.
    Shows,
}

#[derive(Default)]
pub struct GlanceTable {
    found: RunsAnswer<(), Arc<Glance>>,
    meshes: Meshes,
    answer: Made<(Same<Glance>, Units), SignedAnswer>,
}

impl GlanceTable {
    pub fn ask(&mut self, ui: &egui::Ui, runs: &Arc<Runs>) -> Option<Arc<Glance>> {
        self.found.ask("runs at a glance", ui.ctx(), (runs, NEEDS), &(), |runs, cancel| {
            Arc::new(Glance::of(runs, cancel))
        });
        self.found.last(runs).map(|((), glance)| Arc::clone(glance))
    }

    /// Which of the runs fit, with its sign.
    pub fn answer(&mut self, ui: &egui::Ui, runs: &Runs, glance: &Arc<Glance>) -> &SignedAnswer {
        let units = Units::now(ui);
        self.answer.of((Same(Arc::clone(glance)), units), |_| {
            let name = |place: usize| {
                runs.get(place).map_or_else(String::new, |run| {
                    format!("{}, {}", run.badge.letter, shortened(&run.name, 40))
                })
            };
            let size = |bytes| units.bytes(bytes);
            if have_ended(glance) {
                return how_they_ended(&glance.facts, &name);
            }
            let (fits, text) = which_fits(&glance.facts, &name, &size);
            (Sign::of(fits), text)
        })
    }

    /// The buttons that take the table out, in the head of its page.
    pub fn exports_ui(ui: &mut egui::Ui, page: &mut PageContext<'_>, glance: Option<&Arc<Glance>>) {
        let runs = page.runs;
        let sheet = || Some(ExportSource::Table(sheet(runs, glance?)));
        exports_ui(ui, "as CSV", "runs", true, page.commands, sheet);
    }

    /// Draws the table, with one run marked; returns the run that was clicked.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &PageContext<'_>,
        glance: &Arc<Glance>,
        does: ClickEffect,
        chosen: Option<RunId>,
    ) -> Option<RunId> {
        let (runs, tokens) = (page.runs, *Tokens::now(ui));
        let mut clicked = None;
        card_frame(&tokens).inner_margin(egui::Margin::symmetric(8, 6)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 0.0;
            let size = Vec2::new(ui.available_width(), HEAD + ROW * runs.len() as f32);
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            let has = GlanceParts::of(runs, glance);
            let columns = columns(rect.width(), has, does);
            head(ui, rect, &columns, glance);
            let lines = Rect::from_min_max(rect.min + Vec2::new(0.0, HEAD), rect.max);
            let row = |place: usize| {
                let top = lines.top() + ROW * place as f32;
                Rect::from_x_y_ranges(lines.x_range(), top..=top + ROW)
            };
            for (place, run) in runs.iter().enumerate() {
                let rect = row(place);
                if chosen == Some(run.id) {
                    ui.painter().rect_filled(rect, 4, tokens.selected);
                }
                if row_ui(ui, runs, does, glance, place, rect) {
                    clicked = Some(run.id);
                }
                line(ui, rect, &columns, runs, glance, place);
            }
            self.curves(ui, runs, glance, &columns, lines, &tokens);
        });
        ui.add_space(BETWEEN_CARDS - ui.spacing().item_spacing.y);
        clicked
    }

    /// The small curves, with the limit as a dashed line.
    fn curves(
        &mut self,
        ui: &egui::Ui,
        runs: &Runs,
        glance: &Arc<Glance>,
        columns: &[(GlanceColumn, f32, f32)],
        lines: Rect,
        tokens: &Tokens,
    ) {
        let Some((_, left, width)) = columns.iter().find(|(cell, ..)| *cell == GlanceColumn::Curve)
        else {
            return;
        };
        let left = lines.left() + left;
        let most = glance.curves.iter().flatten().map(|curve| curve.range.1).max().unwrap_or(0);
        // A limit of one device lies where it is, also beside that of another one.
        let limits = glance.facts.iter().filter_map(|facts| facts.limit_bytes);
        let high = limits.fold(most, u64::max).max(1);
        let frame = |place: usize| {
            let top = lines.top() + ROW * place as f32 + 5.0;
            Rect::from_x_y_ranges(left..=left + width, top..=top + ROW - 10.0)
        };
        let key = mesh_key(ui, glance, frame(0), (0, high), runs);
        let meshes = self.meshes.of(key, |(.., colors)| {
            let curves = glance.curves.iter().zip(colors).enumerate();
            let mesh = |(place, (curve, color)): (usize, (&Option<ColumnCurve>, &Color32))| {
                let area = tokens.area(*color);
                Some(curve.as_ref()?.mesh(frame(place), (0, high), *color, Some(area)))
            };
            curves.map(mesh).collect()
        });
        for mesh in meshes.iter().flatten() {
            ui.painter().add(Shape::Mesh(Arc::clone(mesh)));
        }
        for place in 0..runs.len() {
            let Some(limit) = glance.facts.get(place).and_then(|facts| facts.limit_bytes) else {
                continue;
            };
            let frame = frame(place);
            let y = frame.bottom() - frame.height() * (limit as f32 / high as f32).min(1.0);
            let ends = [Pos2::new(frame.left(), y), Pos2::new(frame.right(), y)];
            ui.painter().extend(Shape::dashed_line(&ends, Stroke::new(1.0, tokens.ink), 3.0, 2.0));
        }
    }
}

/// All figures that the system of the runs has.
fn sheet(runs: &Runs, glance: &Glance) -> Sheet {
    type OfBytes = (&'static str, bool, fn(&RunFacts) -> Option<u64>);
    let has = GlanceParts::of(runs, glance);
    let of_bytes: [OfBytes; 6] = [
        ("Peak", true, |facts| facts.peak_bytes),
        ("Memory", true, |facts| facts.limit_bytes),
        ("Fullest tile", has.tiles, |facts| facts.fullest_bytes),
        ("Memory of a tile", has.tiles, |facts| facts.bytes_per_tile),
        (glance.system.always_live, has.always_live.is_some(), |facts| facts.always_live_bytes),
        ("Code", has.tiles, |facts| facts.code_bytes),
    ];
    let of_bytes = || of_bytes.iter().filter(|(_, is_known, _)| *is_known);
    let mut columns = vec![TableColumn::rest("Run"), TableColumn::rest("Verdict")];
    columns.extend(of_bytes().map(|(title, ..)| TableColumn::bytes(*title, 0.0)));
    if has.tiles {
        columns.push(TableColumn::rest("Samples per second"));
    }
    let row = |(run, facts): (&Run, &RunFacts)| {
        let mut row = vec![CellValue::text(run.name.to_string())];
        row.push(CellValue::text(verdict_text(facts)));
        row.extend(of_bytes().map(|(.., of)| CellValue::bytes(of(facts))));
        if has.tiles {
            row.push(facts.samples_per_second.map_or(CellValue::Nothing, CellValue::Rate));
        }
        row
    };
    Sheet::of(columns, runs.iter().zip(&glance.facts).map(row).collect())
}

/// The line as something that can be clicked, and said.
fn row_ui(
    ui: &egui::Ui,
    runs: &Runs,
    does: ClickEffect,
    glance: &Glance,
    place: usize,
    rect: Rect,
) -> bool {
    let units = Units::now(ui);
    let Some((run, facts)) = runs.get(place).zip(glance.facts.get(place)) else { return false };
    let is_still = place == 0 && does == ClickEffect::Compares;
    let sense = if is_still { Sense::hover() } else { Sense::click() };
    let response = ui.interact(rect, ui.scope_id().with(("run", run.id)), sense);
    let does = match does {
        _ if is_still => "Reference",
        ClickEffect::Compares => "Compare with",
        ClickEffect::Shows => "Show what is known of",
    };
    let name = format!("{does} {}", run.name);
    let role = if is_still { Role::Canvas } else { Role::Button };
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(role, true, &name);
        let (verdict, note) = (verdict_text(facts), note_text(runs, facts, place));
        let fullest = if GlanceParts::of(runs, glance).tiles {
            format!(", fullest tile {}", beside(facts.fullest_bytes, facts.bytes_per_tile, units))
        } else {
            String::new()
        };
        let note = if note.is_empty() { note } else { format!(", {note}") };
        let peak = beside(facts.peak_bytes, facts.limit_bytes, units);
        info.current_text_value = Some(format!("{verdict}, peak {peak}{fullest}{note}"));
        info
    });
    if (response.hovered() || response.has_focus()) && !is_still {
        let stroke = Stroke::new(1.0, Tokens::now(ui).accent);
        ui.painter().rect_stroke(rect, 4, stroke, egui::StrokeKind::Inside);
    }
    response.clicked()
}

fn known(bytes: Option<u64>, units: Units) -> String {
    CellValue::bytes(bytes).shown(units).into_owned()
}

/// Bytes in the unit of what they are held against.
fn beside(bytes: Option<u64>, limit: Option<u64>, units: Units) -> String {
    match (bytes, limit) {
        (Some(bytes), Some(limit)) => units.beside(bytes, limit),
        _ => known(bytes, units),
    }
}

/// That it is the reference, or has the curve of another run.
fn note_text(runs: &Runs, facts: &RunFacts, place: usize) -> String {
    let same = facts.same_curve_as.and_then(|other| runs.get(other));
    match same {
        _ if place == 0 => "reference".to_owned(),
        Some(other) => format!("same curve as {}", other.badge.letter),
        None => String::new(),
    }
}

fn head(ui: &egui::Ui, rect: Rect, columns: &[(GlanceColumn, f32, f32)], glance: &Glance) {
    let (painter, tokens, units) = (ui.painter(), Tokens::now(ui), Units::now(ui));
    let font = fonts::regular(size::CAPTION);
    let against = |of: fn(&RunFacts) -> Option<u64>| {
        let mut limits = glance.facts.iter().filter_map(of);
        match limits.next() {
            None => String::new(),
            Some(limit) if limits.all(|other| other == limit) => {
                format!("against {}", units.bytes(limit))
            }
            Some(_) => "against its limit".to_owned(),
        }
    };
    for (cell, left, width) in columns {
        let (text, is_number) = match cell {
            GlanceColumn::Badge => continue,
            GlanceColumn::Name => ("Run".to_owned(), false),
            GlanceColumn::Verdict => ("Verdict".to_owned(), false),
            GlanceColumn::Curve => (format!("Memory over {}", glance.system.steps), false),
            GlanceColumn::Peak => ("Peak".to_owned(), true),
            GlanceColumn::AgainstLimit => (against(RunFacts::peak_limit), false),
            GlanceColumn::Change => ("change".to_owned(), true),
            GlanceColumn::Fullest => ("Fullest tile".to_owned(), true),
            GlanceColumn::AgainstTile => (against(|facts| facts.bytes_per_tile), false),
            GlanceColumn::AlwaysLive => (glance.system.always_live.to_owned(), true),
            GlanceColumn::Code => ("Code".to_owned(), true),
            GlanceColumn::Samples => ("Samples/s".to_owned(), true),
            GlanceColumn::Note => (String::new(), false),
        };
        let y = rect.top() + HEAD / 2.0;
        let (x, align) = if is_number {
            (rect.left() + left + width, Align2::RIGHT_CENTER)
        } else {
            (rect.left() + left, Align2::LEFT_CENTER)
        };
        painter.text(Pos2::new(x, y), align, text, font.clone(), tokens.third_text);
    }
}

fn line(
    ui: &egui::Ui,
    rect: Rect,
    columns: &[(GlanceColumn, f32, f32)],
    runs: &Runs,
    glance: &Glance,
    place: usize,
) {
    let Some((run, facts)) = runs.get(place).zip(glance.facts.get(place)) else { return };
    let (painter, tokens, units) = (ui.painter(), Tokens::now(ui), Units::now(ui));
    painter.hline(rect.x_range(), rect.top(), Stroke::new(1.0, tokens.grid));
    let number = |x: f32, text: String, color: Color32| {
        let at = Pos2::new(x, rect.center().y);
        painter.text(at, Align2::RIGHT_CENTER, text, fonts::semibold(size::TABLE), color);
    };
    // All lines have one scale, with room beyond the highest limit.
    let bar = |cell: Rect, of: fn(&RunFacts) -> (Option<u64>, Option<u64>)| {
        let (Some(bytes), limit) = of(facts) else { return };
        let reach = |(bytes, limit): (Option<u64>, Option<u64>)| {
            let limit = limit.unwrap_or(0);
            bytes.unwrap_or(0).max(limit.saturating_add(limit / 8))
        };
        let whole = glance.facts.iter().map(|facts| reach(of(facts))).max().unwrap_or(0);
        // What was left when a request for more failed.
        let left = limit.filter(|_| facts.has_run_out()).map_or(0, |it| it.saturating_sub(bytes));
        let parts = [(bytes, tokens.temporary), (left, tokens.over.gamma_multiply(0.45))];
        let bar = Bar { parts: &parts, whole, limit };
        bar.paint(painter, cell.shrink2(Vec2::new(0.0, (ROW - 12.0) / 2.0)), tokens);
    };
    for (cell, left, width) in columns {
        let from = rect.left() + left;
        let part = Rect::from_x_y_ranges(from..=from + width, rect.y_range());
        let right = part.right();
        match cell {
            GlanceColumn::Badge => {
                let at = Pos2::new(part.left() + 9.0 + 2.0, part.center().y);
                let place = Rect::from_center_size(at, Vec2::splat(18.0));
                paint_badge(painter, place, run.badge, tokens);
            }
            GlanceColumn::Name => {
                let names: Vec<&str> = runs.iter().map(|run| &*run.name).collect();
                let most = (part.width() / NAME_CHARACTER) as usize;
                let text = elided(&names, most).into_iter().nth(place).unwrap_or_default();
                text_within(painter, part, text, size::TABLE, tokens.text);
            }
            GlanceColumn::Verdict => {
                let sign = sign(facts);
                let at = Pos2::new(part.left() + 7.0, part.center().y);
                sign.paint(painter, at, 6.0, tokens);
                let at = Pos2::new(part.left() + 19.0, part.center().y);
                let font = fonts::semibold(size::TABLE);
                let text = verdict_text(facts);
                painter.text(at, Align2::LEFT_CENTER, text, font, sign.color(tokens));
            }
            GlanceColumn::Curve => {}
            GlanceColumn::Peak => {
                number(right, beside(facts.peak_bytes, facts.limit_bytes, units), tokens.text);
            }
            GlanceColumn::AgainstLimit => bar(part, |facts| (facts.peak_bytes, facts.peak_limit())),
            GlanceColumn::Change => {
                let Some(reference) = glance.facts.first().filter(|_| place > 0) else { continue };
                let change = reference.peak_bytes.zip(facts.peak_bytes);
                let Some((before, after)) = change.filter(|(a, b)| a != b) else { continue };
                let (change, size) = (difference(before, after), |bytes| units.bytes(bytes));
                if !facts.is_change_known(reference) {
                    number(right, text::signed(change, size), tokens.third_text);
                    continue;
                }
                let color = if after > before { tokens.more } else { tokens.less };
                number(right, signed(change, size), color);
            }
            GlanceColumn::Fullest => {
                let text = beside(facts.fullest_bytes, facts.bytes_per_tile, units);
                number(right, text, tokens.text);
            }
            GlanceColumn::AgainstTile => {
                bar(part, |facts| (facts.fullest_bytes, facts.bytes_per_tile));
            }
            GlanceColumn::AlwaysLive => {
                number(right, known(facts.always_live_bytes, units), tokens.weak_text);
            }
            GlanceColumn::Code => number(right, known(facts.code_bytes, units), tokens.weak_text),
            GlanceColumn::Samples => match facts.samples_per_second {
                Some(samples) => number(right, rate(samples), tokens.text),
                None if facts.is_recorded => number(right, "–".to_owned(), tokens.third_text),
                None => number(right, "not run".to_owned(), tokens.third_text),
            },
            GlanceColumn::Note => {
                let text = note_text(runs, facts, place);
                text_within(painter, part, text, size::TABLE, tokens.third_text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fit_and_what_says_most_stays() {
        for width in [360.0, 560.0, 824.0, 1204.0, 2300.0] {
            let has = GlanceParts { tiles: true, limits: true, always_live: Some(72.0) };
            let columns = columns(width, has, ClickEffect::Compares);
            let names: Vec<GlanceColumn> = columns.iter().map(|(cell, ..)| *cell).collect();
            assert!(names.contains(&GlanceColumn::Verdict) && names.contains(&GlanceColumn::Peak));
            let end = columns.iter().map(|(_, left, width)| left + width).fold(0.0, f32::max);
            assert!(end <= width.max(500.0), "{end} of {width}");
        }
        for does in [ClickEffect::Compares, ClickEffect::Shows] {
            let has = GlanceParts { tiles: true, limits: true, always_live: Some(72.0) };
            assert_eq!(columns(1204.0, has, does).len(), CELLS.len() - 1);
        }
    }
}
