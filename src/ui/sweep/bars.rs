//! The need of each run as bars, below the line of the device's capacity.

use eframe::egui::{self, Align2, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Vec2, WidgetInfo};

use crate::analysis::sweep::{FigureToSweep, NEEDED, Sweep, SweepRun};
use crate::run::Outcome;
use crate::text::shortened;
use crate::ui::run_chips::elided;
use crate::ui::sweep::RunClick;
use crate::ui::sweep::axis::FigureAxis;
use crate::ui::sweep::marks::cross;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::picture::paint_grounded;

/// Room at the left for the figures of the axis, points.
const LEFT: f32 = 62.0;
/// Room above for the highest figure, points.
const ABOVE: f32 = 20.0;
/// Room below for the names, points.
const BELOW: f32 = 22.0;
/// Widest bar, points.
const BAR: f32 = 72.0;
/// Letters of a name that a point of width has room for, about.
const LETTERS_PER_POINT: f32 = 0.14;

/// Draws the bars; returns the run of one that was clicked.
pub fn bars_ui(ui: &mut egui::Ui, sweep: &Sweep, selected: &[usize]) -> Option<RunClick> {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    let size = ui.available_size().max(Vec2::new(160.0, 80.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let frame =
        Rect::from_min_max(rect.min + Vec2::new(LEFT, ABOVE), rect.max - Vec2::new(8.0, BELOW));
    let other = |run: &SweepRun| other_bytes(sweep, run);
    let needed = sweep.runs.iter().filter_map(|run| run.needed_bytes()?.checked_add(other(run)));
    let limit = sweep.capacity_bytes();
    let axis = FigureAxis::new(true, needed.chain(limit).map(|it| it as f64));
    let y = |bytes: u64| axis.y(frame, bytes as f64);
    axis.grid_ui(ui, frame);
    let slot = frame.width() / sweep.runs.len().max(1) as f32;
    let best = sweep.best.ok().map(|best| best.run);
    let pointer = response.hover_pos();
    let letters = ((slot * LETTERS_PER_POINT) as usize).max(3);
    let names: Vec<&str> = sweep.runs.iter().map(|run| &*run.name).collect();
    let names = elided(&names, letters);
    let (mut hovered, mut labels, mut bars) = (None, Vec::new(), Vec::new());
    for ((place, run), name) in sweep.runs.iter().enumerate().zip(names) {
        let Some(needed) = run.needed_bytes() else { continue };
        let middle = frame.left() + slot * (place as f32 + 0.5);
        let half = (slot * 0.66).min(BAR) / 2.0;
        let bar = |from: u64, to: u64| {
            Rect::from_min_max(Pos2::new(middle - half, y(to)), Pos2::new(middle + half, y(from)))
        };
        let all = needed.saturating_add(other(run));
        let color = if run.fits() == Some(true) { tokens.temporary } else { tokens.over };
        let own = bar(0, needed);
        let fill = if run.facts.is_whole { color } else { color.gamma_multiply(0.35) };
        ui.painter().rect(own, 2, fill, Stroke::new(1.0, color), StrokeKind::Inside);
        ui.painter().rect_filled(bar(needed, all), 0, tokens.gap);
        let (of_all, top) = (bar(0, all), Pos2::new(middle, y(all)));
        bars.push(of_all);
        if selected.contains(&place) {
            let stroke = Stroke::new(2.0, tokens.text);
            ui.painter().rect_stroke(of_all, 2, stroke, StrokeKind::Outside);
        }
        let star = if best == Some(place) { "★ " } else { "" };
        let text = format!("{star}{}", needed_text(run, needed, units));
        let font = fonts::semibold(size::CAPTION);
        let galley = ui.painter().layout_no_wrap(text, font, tokens.text);
        let at = top - Vec2::new(0.0, 2.0);
        let label = Align2::CENTER_BOTTOM.anchor_size(at, galley.size());
        labels.push((label, galley, run.facts.is_whole));
        let below = Pos2::new(middle, frame.bottom() + 5.0);
        let font = fonts::regular(size::CAPTION);
        ui.painter().text(below, Align2::CENTER_TOP, name, font, tokens.weak_text);
        let column =
            Rect::from_x_y_ranges(middle - slot / 2.0..=middle + slot / 2.0, rect.y_range());
        if pointer.is_some_and(|pointer| column.contains(pointer)) {
            hovered = Some((place, run, needed));
        }
    }
    let mut name = "What each run needs".to_owned();
    if let Some(limit) = limit {
        let taken: Vec<Rect> = labels.iter().map(|(label, ..)| *label).chain(bars).collect();
        // Others' memory stands on that of the runs.
        let title = if sweep.limit_bytes() == Some(limit) { "Limit" } else { "Capacity" };
        axis.limit_ui(ui, frame, (title, limit), &taken);
        name += ", with the limit";
    }
    // Above the line of the limit, which would strike them.
    for (label, galley, is_whole) in labels {
        paint_grounded(ui.painter(), label, galley);
        if !is_whole {
            cross(ui.painter(), Pos2::new(label.left() - 8.0, label.center().y), &tokens);
        }
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, name.clone()));
    let (place, run, needed) = hovered?;
    let click = RunClick::of(ui, &response, place);
    response.on_hover_text_at_pointer(hover_text(sweep, run, needed, units));
    click
}

/// What others have of a run's device, as the verdict counts it.
pub fn other_bytes(sweep: &Sweep, run: &SweepRun) -> u64 {
    if run.takes_capacity() { run.facts.need.other_bytes(sweep.room) } else { 0 }
}

fn needed_text(run: &SweepRun, needed: u64, units: Units) -> String {
    let at_least = if FigureToSweep::Known(&NEEDED).is_at_least(run) { "≥ " } else { "" };
    format!("{at_least}{}", units.bytes(needed))
}

fn hover_text(sweep: &Sweep, run: &SweepRun, needed: u64, units: Units) -> String {
    let mut text = format!(
        "{}\nVerdict: {}\nNeeded: {}",
        shortened(&run.name, 200),
        run.verdict.outcome.word(),
        needed_text(run, needed, units)
    );
    if let other @ 1.. = other_bytes(sweep, run) {
        text += &format!("\nOther memory: {}", units.bytes(other));
    }
    let over = run.verdict.over_bytes.filter(|over| *over > 0);
    if let Some(over) = over.filter(|_| run.verdict.outcome == Outcome::DoesNotFit) {
        text += &format!("\nOver: {}", units.bytes(over));
    }
    text
}
