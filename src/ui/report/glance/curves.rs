//! The curves of all runs in one small picture, with the limit, on the axis that their steps share. The Liveness page
//! has them large.

use eframe::egui::epaint::Mesh;
use eframe::egui::{self, Align2, Color32, Painter, Pos2, Rect, Sense, Shape, Stroke, Vec2};
use std::sync::Arc;

use super::Glance;
use crate::analysis::comparison::slot_curves::in_slots;
use crate::analysis::liveness::timeline::Timeline;
use crate::ui::job::{Made, Same};
use crate::ui::report::moment::step_id;
use crate::ui::report::slot_axis::{round_slots, slot_text};
use crate::ui::report::{PageContext, is_limit_near};
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::card::picture_card_ui;
use crate::ui::widget::column_widths::fitted;
use crate::ui::widget::peak_discs::PeakDiscs;
use crate::ui::widget::picture::{describe, label_galley, limit_line, paint_grounded};
use crate::ui::widget::rows::{difference, signed};
use crate::ui::widget::ticks;

/// Columns that a curve is kept in: more than a picture of it has pixels.
const COLUMNS: usize = 4096;
/// Room for the figures of the axes, and for what the curves end at, points.
const LEFT: f32 = 68.0;
const RIGHT: f32 = 96.0;
const BOTTOM: f32 = 18.0;
/// Height of a line of what is said at the cursor, points.
const ROW: f32 = 15.0;
/// Thickness of a line, points.
const LINE: f32 = 1.4;
/// How far a letter gives way at once, points.
const LETTER: f32 = 6.0;
/// What is so near to the end of the axis ends there, points.
const AT_END: f32 = 12.0;
/// Least distance of ticks, points.
const TICKS: [f32; 2] = [72.0, 52.0];

/// A curve in columns: the least and the most of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnCurve {
    /// `None` before the first step of the run and behind its last.
    columns: Vec<Option<(u64, u64)>>,
    slots: usize,
    /// The slot behind its last step.
    end: usize,
    /// The least and the most of all its steps.
    pub range: (u64, u64),
    last: u64,
}

impl ColumnCurve {
    /// Of a run, all that is alive in each slot of the axis.
    pub fn of(timeline: &Timeline, slots: usize, step_in: impl Fn(usize) -> Option<usize>) -> Self {
        let all: Vec<u64> = (0..timeline.len()).map(|step| timeline.alive_at(step)).collect();
        let range = all
            .iter()
            .fold((u64::MAX, 0), |(low, high), bytes| (low.min(*bytes), high.max(*bytes)));
        let has_step = |slot: &usize| step_in(*slot).is_some_and(|step| step < all.len());
        let first = (0..slots).find(has_step).unwrap_or(slots);
        let end = (0..slots).rev().find(has_step).map_or(0, |slot| slot + 1);
        let of_slots = in_slots(slots, &step_in, &all);
        let wide = slots.div_ceil(COLUMNS).max(1);
        let bounds = |(column, part): (usize, &[u64])| {
            let from = column * wide;
            (from < end && from + part.len() > first).then(|| {
                let low = part.iter().min().copied().unwrap_or(0);
                (low, part.iter().max().copied().unwrap_or(0))
            })
        };
        let columns = of_slots.chunks(wide).enumerate().map(bounds).collect();
        Self { columns, slots, end, range, last: of_slots.last().copied().unwrap_or(0) }
    }

    /// The most in the column of a slot.
    fn at(&self, slot: usize) -> Option<u64> {
        let wide = self.slots.div_ceil(COLUMNS).max(1);
        let (_, high) = (*self.columns.get(slot / wide)?)?;
        Some(high)
    }

    /// The curve as strips of a pixel each: a line, or the area below it.
    pub fn mesh(
        &self,
        rect: Rect,
        (low, high): (u64, u64),
        line: Color32,
        area: Option<Color32>,
    ) -> Arc<Mesh> {
        let mut mesh = Mesh::default();
        let height = |bytes: u64| {
            let share = (bytes as f64 - low as f64) / (high.saturating_sub(low)).max(1) as f64;
            rect.bottom() - rect.height() * share.clamp(0.0, 1.0) as f32
        };
        let pixels = (rect.width().floor() as usize).max(1);
        let mut before: Option<(u64, u64)> = None;
        for pixel in 0..pixels {
            let from = pixel * self.columns.len() / pixels;
            let to = ((pixel + 1) * self.columns.len()).div_ceil(pixels);
            let Some(part) = self.columns.get(from..to.max(from + 1).min(self.columns.len()))
            else {
                continue;
            };
            let of_pixel = part.iter().flatten().copied();
            let of_pixel = of_pixel.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
            let Some((least, most)) = of_pixel else {
                before = None;
                continue;
            };
            // It is joined to the pixel before it.
            let (shown_least, shown_most) = match before {
                Some((_, above)) if least > above => (above, most),
                Some((below, _)) if most < below => (least, below),
                _ => (least, most),
            };
            before = Some((least, most));
            let x = rect.left() + pixel as f32;
            let x = x..=x + 1.0;
            if let Some(area) = area {
                let y = height(most)..=rect.bottom();
                mesh.add_colored_rect(Rect::from_x_y_ranges(x.clone(), y), area);
            }
            let y = height(shown_most) - LINE / 2.0..=height(shown_least) + LINE / 2.0;
            mesh.add_colored_rect(Rect::from_x_y_ranges(x, y), line);
        }
        Arc::new(mesh)
    }
}

/// What meshes were made of: the curves, where they lie, in which theme.
pub type MeshKey = (Same<Glance>, [i32; 4], (u64, u64), bool, Vec<Color32>);
pub type Meshes = Made<MeshKey, Vec<Option<Arc<Mesh>>>>;

pub fn mesh_key(
    ui: &egui::Ui,
    glance: &Arc<Glance>,
    rect: Rect,
    bounds: (u64, u64),
    runs: &Runs,
) -> MeshKey {
    let place = [rect.left(), rect.top(), rect.width(), rect.height()].map(|at| at.round() as i32);
    let colors = runs.iter().map(|run| run.color(ui)).collect();
    (Same(Arc::clone(glance)), place, bounds, ui.visuals().dark_mode, colors)
}

/// Where bytes and slots lie.
struct GlanceScale {
    frame: Rect,
    low: u64,
    high: u64,
    slots: usize,
}

impl GlanceScale {
    fn y(&self, bytes: u64) -> f32 {
        let share =
            (bytes as f64 - self.low as f64) / self.high.saturating_sub(self.low).max(1) as f64;
        self.frame.bottom() - self.frame.height() * share.clamp(0.0, 1.0) as f32
    }

    fn x(&self, slot: usize) -> f32 {
        let share = (slot as f32 + 0.5) / self.slots.max(1) as f32;
        self.frame.left() + self.frame.width() * share
    }

    fn slot(&self, x: f32) -> usize {
        let share = ((x - self.frame.left()) / self.frame.width().max(1.0)).clamp(0.0, 1.0);
        ((share * self.slots as f32) as usize).min(self.slots.saturating_sub(1))
    }

    /// Of all curves, with room for the limit; it begins at 0 unless that would press them together.
    fn of(frame: Rect, glance: &Glance, units: Units) -> Self {
        let curves = || glance.curves.iter().flatten();
        let most = curves().map(|curve| curve.range.1).max().unwrap_or(0);
        let least = curves().map(|curve| curve.range.0).min().unwrap_or(0);
        let limit = glance.limit.filter(|limit| is_limit_near(most, *limit));
        let top = most.max(limit.unwrap_or(0));
        let high = top.saturating_add(top / 16).max(1);
        let from = if least > high / 4 { least.saturating_sub(high / 32) } else { 0 };
        let span = high.saturating_sub(from) as f64;
        let step = ticks::bytes_step(span * f64::from(TICKS[1] / frame.height().max(1.0)), units);
        let low = ((from as f64 / step).floor() * step).max(0.0) as u64;
        Self { frame, low, high, slots: glance.slots }
    }
}

#[derive(Default)]
pub struct Curves {
    meshes: Meshes,
}

impl Curves {
    /// Draws the picture as a card of a height; a click selects the step.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        glance: &Arc<Glance>,
        height: f32,
    ) {
        let units = Units::now(ui);
        let tokens = *Tokens::now(ui);
        let runs = Arc::clone(page.runs);
        let lies_on = runs.lies_on(|place| glance.facts.get(place)?.same_curve_as);
        let mut from = 0;
        let at_right = |ui: &mut egui::Ui| {
            let steps = runs.system().steps;
            let steps = match runs.axis() {
                Some(_) if runs.meet_at_landmarks() => {
                    format!("{steps} of {}, others by part", runs.reference().badge.letter)
                }
                Some(_) if runs.system().are_steps_matched => {
                    format!("{steps} of {}, the others aligned", runs.reference().badge.letter)
                }
                _ => format!("{steps} by their numbers"),
            };
            ui.add(egui::Label::new(fonts::caption(steps).color(tokens.third_text)).truncate());
        };
        let mut exports = Vec::new();
        let title = format!("Memory over {}", runs.system().steps);
        picture_card_ui(ui, &title, &mut exports, at_right, |ui| {
            if glance.curves.iter().flatten().next().is_none() {
                ui.weak(format!("No run has a curve over {}", runs.system().steps));
                return;
            }
            let size = Vec2::new(ui.available_width(), height);
            let (rect, response) = ui.allocate_exact_size(size, Sense::click());
            let frame = Rect::from_min_max(
                rect.min + Vec2::new(LEFT, 4.0),
                rect.max - Vec2::new(RIGHT, BOTTOM + 16.0),
            );
            let scale = GlanceScale::of(frame, glance, units);
            from = scale.low;
            let painter = ui.painter().with_clip_rect(rect);
            axes(&painter, &scale, &runs, glance, units, &tokens);
            let bounds = (scale.low, scale.high);
            let key = mesh_key(ui, glance, frame, bounds, &runs);
            let meshes = self.meshes.of(key, |(.., colors)| {
                // What lies on another would only hide it.
                let of = |place: usize| {
                    glance.facts.get(place)?.same_curve_as.is_none().then_some(())?;
                    let (curve, color) = (glance.curves.get(place)?.as_ref()?, colors.get(place)?);
                    Some(curve.mesh(frame, bounds, *color, None))
                };
                (0..colors.len()).map(of).collect()
            });
            for mesh in meshes.iter().flatten() {
                painter.add(Shape::Mesh(Arc::clone(mesh)));
            }
            let selected = page.selection.slot(&runs);
            let places = glance.peaks.iter().map(|(slot, bytes)| {
                (Pos2::new(scale.x(*slot), scale.y(*bytes)), selected == Some(*slot))
            });
            let shown_limit = glance.limit.filter(|limit| *limit <= scale.high);
            let at_limit = shown_limit.map(|limit| scale.y(limit));
            let discs = PeakDiscs::of(frame, places, at_limit.as_slice());
            ends(&painter, &scale, &runs, glance, &discs, units, &tokens);
            let mut note = lies_on.clone();
            note.extend(numbered(&runs, glance));
            if from > 0 {
                note.push(format!("axis from {}", units.bytes(from)));
            }
            let at = Pos2::new(frame.left(), rect.bottom());
            let font = fonts::regular(size::CAPTION);
            let (note, color, step) = (note.join(" · "), tokens.third_text, runs.system().step);
            let step = painter.text(rect.max, Align2::RIGHT_BOTTOM, step, font.clone(), color);
            let (note, _) = fitted(ui, &note, &font, step.left() - 12.0 - at.x);
            painter.text(at, Align2::LEFT_BOTTOM, note, font, color);
            if let Some((limit, at)) = shown_limit.zip(at_limit) {
                let text = format!("Limit {}", units.bytes(limit));
                let is_free = |at: Rect| !discs.is_over(at.expand(2.0));
                limit_line(&painter, frame, at, &text, is_free);
            }
            let ring = if runs.is_one() { tokens.ink } else { runs.reference().color(ui) };
            discs.paint(&painter, &tokens, ring);
            let on_disc = |at| Some(glance.peaks.get(discs.at(at)?)?.0);
            let on_curve = |at: Pos2| frame.x_range().contains(at.x).then(|| scale.slot(at.x));
            let pointed = response.hover_pos().and_then(|at| on_disc(at).or_else(|| on_curve(at)));
            if let Some(slot) = pointed.or(selected) {
                cursor(&painter, &scale, &runs, glance, (slot, &discs), units, &tokens);
            }
            if let (true, Some(slot)) = (response.clicked(), pointed) {
                page.selection.select_slot(&runs, slot);
            }
            let name = format!("Memory of all runs over {}", runs.system().steps);
            describe(&response, &name, || {
                let of = |(run, curve): (&Run, &Option<ColumnCurve>)| {
                    let (_, most) = curve.as_ref()?.range;
                    Some(format!("{} up to {}", run.name, units.bytes(most)))
                };
                let runs: Vec<String> = runs.iter().zip(&glance.curves).filter_map(of).collect();
                runs.into_iter().chain(peaks_text(page.runs, glance)).collect::<Vec<_>>().join(", ")
            });
            *page.has_painted_graph = true;
        });
        page.commands.append(&mut exports);
    }
}

/// Whose peaks are numbered.
fn numbered(runs: &Runs, glance: &Glance) -> Option<String> {
    let letter = runs.reference().badge.letter;
    let of = if runs.is_one() { String::new() } else { format!(" of {letter}") };
    (!glance.peaks.is_empty()).then(|| format!("highest peaks{of} numbered"))
}

fn peaks_text(runs: &Runs, glance: &Glance) -> Option<String> {
    let steps: Vec<String> = glance.peaks.iter().map(|(slot, _)| step_of(runs, *slot)).collect();
    let at = runs.system().steps;
    Some(format!("{} at {at} {}", numbered(runs, glance)?, steps.join(", ")))
}

/// Grid, figures, what does not fit, and the limit.
fn axes(
    painter: &Painter,
    scale: &GlanceScale,
    runs: &Runs,
    glance: &Glance,
    units: Units,
    tokens: &Tokens,
) {
    let (frame, font) = (scale.frame, fonts::regular(size::CAPTION));
    let span = scale.high.saturating_sub(scale.low) as f64;
    let step = ticks::bytes_step(span * f64::from(TICKS[1] / frame.height().max(1.0)), units);
    let limit = glance.limit.filter(|limit| *limit <= scale.high);
    if let Some(limit) = limit {
        let above = Rect::from_min_max(frame.min, Pos2::new(frame.right(), scale.y(limit)));
        painter.rect_filled(above, 0, tokens.surface.lerp_to_gamma(tokens.over, 0.07));
    }
    for bytes in ticks::multiples(step, (scale.low as f64, scale.high as f64)) {
        let y = scale.y(bytes as u64);
        painter.hline(frame.x_range(), y, Stroke::new(1.0, tokens.grid));
        let text = ticks::bytes_text(bytes, step, scale.high as f64, units);
        let at = Pos2::new(frame.left() - 8.0, y);
        painter.text(at, Align2::RIGHT_CENTER, text, font.clone(), tokens.third_text);
    }
    let wanted = scale.slots as f64 * f64::from(TICKS[0] / frame.width().max(1.0));
    let (step, visible) = (ticks::whole_step(wanted), (0.0, scale.slots as f64 - 1.0));
    let slots = match runs.axis() {
        Some(axis) => round_slots(axis, visible, step),
        None => ticks::multiples(step, visible).map(|slot| slot as usize).collect(),
    };
    for slot in slots {
        let at = Pos2::new(scale.x(slot), frame.bottom() + 3.0);
        let text = step_of(runs, slot);
        painter.text(at, Align2::CENTER_TOP, text, font.clone(), tokens.third_text);
    }
}

/// The step in a slot. Without a common axis slots are numbers of steps.
fn step_of(runs: &Runs, slot: usize) -> String {
    match runs.axis() {
        Some(axis) if !runs.are_by_number() => slot_text(runs, axis, slot),
        _ => runs.iter().next().map_or_else(String::new, |run| step_id(&run.report, slot)),
    }
}

/// Runs whose curves are the same, with the place of the first.
fn together(runs: &Runs, glance: &Glance) -> Vec<(usize, String)> {
    let mut all: Vec<(usize, String)> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        if !matches!(glance.curves.get(place), Some(Some(_))) {
            continue;
        }
        let first = glance.facts.get(place).and_then(|facts| facts.same_curve_as).unwrap_or(place);
        match all.iter_mut().find(|(other, _)| *other == first) {
            Some((_, letters)) => letters.push(run.badge.letter),
            None => all.push((place, run.badge.letter.to_string())),
        }
    }
    all
}

/// What the curves end at, beside their ends, pushed apart. One that ends before the axis does has its letter there.
fn ends(
    painter: &Painter,
    scale: &GlanceScale,
    runs: &Runs,
    glance: &Glance,
    discs: &PeakDiscs,
    units: Units,
    tokens: &Tokens,
) {
    let curve = |place: usize| glance.curves.get(place)?.as_ref();
    let mut labels: Vec<(f32, usize, String, u64)> = together(runs, glance)
        .into_iter()
        .filter_map(|(place, letters)| {
            let last = curve(place)?.last;
            Some((scale.y(last), place, letters, last))
        })
        .collect();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let x = scale.frame.right();
    let end = |place: usize| curve(place).map_or(x, |curve| scale.x(curve.end));
    let (at_end, before): (Vec<_>, Vec<_>) =
        labels.into_iter().partition(|(_, place, ..)| x - end(*place) < AT_END);
    let (mut labeled, mut dots): (Vec<(Rect, String)>, Vec<Shape>) = Default::default();
    for (y, place, letters, _) in before {
        let galley = label_galley(painter, &letters, tokens.text);
        let at = Pos2::new(end(place), y);
        let mut rect = Align2::LEFT_BOTTOM.anchor_size(at + Vec2::new(6.0, 0.0), galley.size());
        rect = rect.translate(Vec2::new(0.0, 8.0_f32.min(scale.frame.bottom() - y)));
        while discs.is_over(rect) {
            rect = rect.translate(Vec2::new(0.0, -LETTER));
        }
        // Curves that end at about one place share a label: one pushed away would lie beside another curve.
        match labeled.iter_mut().find(|(other, _)| other.intersects(rect)) {
            Some((other, all)) => {
                all.push_str(&letters);
                *other = other.union(rect.translate(Vec2::new(other.width(), 0.0)));
            }
            None => labeled.push((rect, letters)),
        }
        let color = runs.get(place).map_or(tokens.ink, |run| run.badge.color(tokens));
        dots.push(Shape::circle_filled(at, 2.5, color));
    }
    for (rect, letters) in labeled {
        let mut letters: Vec<char> = letters.chars().collect();
        letters.sort_unstable();
        let galley = label_galley(painter, &String::from_iter(letters), tokens.text);
        let rect = Align2::LEFT_BOTTOM.anchor_size(rect.left_bottom(), galley.size());
        paint_grounded(painter, rect, galley);
    }
    painter.extend(dots);
    // From below upwards, so that none is pushed out of the picture.
    let mut lowest = scale.frame.bottom() + 8.0;
    for (y, place, letters, last) in at_end.iter().rev() {
        let at = y.min(lowest - 7.0);
        lowest = at - 7.0;
        let color = runs.get(*place).map_or(tokens.ink, |run| run.badge.color(tokens));
        let bend = [Pos2::new(x + 1.0, *y), Pos2::new(x + 12.0, at)];
        painter.line_segment(bend, Stroke::new(1.0, color));
        let text = format!("{letters} ");
        let font = fonts::semibold(size::CAPTION);
        let from = Pos2::new(x + 15.0, at);
        let drawn = painter.text(from, Align2::LEFT_CENTER, text, font, tokens.text);
        let from = Pos2::new(drawn.right() + 1.0, at);
        let font = fonts::regular(size::CAPTION);
        let text = glance.bytes(*last, units);
        painter.text(from, Align2::LEFT_CENTER, text, font, tokens.third_text);
    }
}

/// A line at a slot, with what each run has there.
fn cursor(
    painter: &Painter,
    scale: &GlanceScale,
    runs: &Runs,
    glance: &Glance,
    (slot, discs): (usize, &PeakDiscs),
    units: Units,
    tokens: &Tokens,
) {
    let x = scale.x(slot);
    painter.vline(x, scale.frame.y_range(), Stroke::new(1.0, tokens.ink));
    let at = |place: usize| glance.curves.get(place)?.as_ref()?.at(slot);
    // What is at one place without being the same has no difference.
    let reference = at(0).filter(|_| runs.system().are_steps_matched);
    let rows: Vec<(usize, String, u64)> = together(runs, glance)
        .into_iter()
        .filter_map(|(place, letters)| Some((place, letters, at(place)?)))
        .collect();
    let size = Vec2::new(250.0, 24.0 + ROW * rows.len() as f32);
    let left = if x + 10.0 + size.x <= scale.frame.right() {
        x + 10.0
    } else {
        (x - 10.0 - size.x).max(scale.frame.left())
    };
    let at_top = Rect::from_min_size(Pos2::new(left, scale.frame.top() + 2.0), size);
    let below = at_top.translate(Vec2::new(0.0, scale.frame.bottom() - 2.0 - at_top.bottom()));
    let rect = if discs.is_over(at_top) && !discs.is_over(below) { below } else { at_top };
    painter.rect(rect, 6, tokens.raised, Stroke::new(1.0, tokens.border), egui::StrokeKind::Inside);
    let font = fonts::semibold(size::CAPTION);
    let head = format!("{} {}", runs.system().step, step_of(runs, slot));
    painter.text(rect.min + Vec2::new(8.0, 4.0), Align2::LEFT_TOP, head, font.clone(), tokens.text);
    for (number, (place, letters, bytes)) in rows.iter().enumerate() {
        let y = rect.top() + 20.0 + ROW * (number as f32 + 0.5);
        let color = runs.get(*place).map_or(tokens.ink, |run| run.badge.color(tokens));
        let swatch = Rect::from_center_size(Pos2::new(rect.left() + 14.0, y), Vec2::new(12.0, 3.0));
        painter.rect_filled(swatch, 1, color);
        let text = |x: f32, align: Align2, text: String, color: Color32| {
            painter.text(Pos2::new(x, y), align, text, font.clone(), color);
        };
        text(rect.left() + 26.0, Align2::LEFT_CENTER, letters.clone(), tokens.text);
        text(rect.left() + 144.0, Align2::RIGHT_CENTER, glance.bytes(*bytes, units), tokens.text);
        let (change, color) = match reference {
            _ if *place == 0 => ("reference".to_owned(), tokens.third_text),
            None => continue,
            Some(before) if before == *bytes => ("the same".to_owned(), tokens.third_text),
            Some(before) => {
                let color = if *bytes > before { tokens.more } else { tokens.less };
                (signed(difference(before, *bytes), |size| units.bytes(size)), color)
            }
        };
        text(rect.right() - 8.0, Align2::RIGHT_CENTER, change, color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::liveness::scope_curve::{AlwaysLive, ScopeCurve};

    fn timeline(bytes: &[u64]) -> Timeline {
        let curve = ScopeCurve {
            always_live: AlwaysLive::Level(5),
            not_always_live: bytes.to_vec(),
            limit: None,
            worst_arenas: None,
        };
        Timeline {
            curve,
            limit: None,
            including_gaps: None,
            over: None,
            is_by_device: false,
            together: None,
            peak: None,
            highest: 0,
            top: 0,
        }
    }

    #[test]
    fn a_curve_begins_and_ends_with_the_steps_of_its_run() {
        let steps = [None, Some(0), None, Some(1), None];
        let curve = ColumnCurve::of(&timeline(&[3, 1]), steps.len(), |slot| steps[slot]);
        let at: Vec<_> = (0..5).map(|slot| curve.at(slot)).collect();
        assert_eq!(at, [None, Some(8), Some(8), Some(6), None]);
        assert_eq!((curve.range, curve.last, curve.end), ((6, 8), 6, 4));
    }

    #[test]
    fn long_curves_are_kept_in_columns_and_lose_no_peak() {
        let mut bytes = vec![1; 3 * COLUMNS];
        bytes[7] = 900;
        let curve = ColumnCurve::of(&timeline(&bytes), bytes.len(), Some);
        assert!(curve.columns.len() <= COLUMNS);
        assert_eq!((curve.at(6), curve.at(7), curve.at(9)), (Some(905), Some(905), Some(6)));
        let rect = Rect::from_min_size(Pos2::ZERO, Vec2::new(50.0, 20.0));
        let mesh = curve.mesh(rect, (0, 1000), Color32::WHITE, None);
        assert!(mesh.vertices.len() <= 4 * 50 && !mesh.vertices.is_empty());
    }
}
