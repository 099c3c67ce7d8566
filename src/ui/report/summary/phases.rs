//! The compiler's phases of all runs as flame graphs on one scale; one that is chosen is chosen in all.

use eframe::egui::{self, Label, Margin, Rect, RichText, ScrollArea};

use crate::analysis::program::phases::{PhaseBar, Phases, joined_frames, phases};
use crate::analysis::spans::{SpanRow, SpanRows};
use crate::text::{grouped, in_turn, microseconds_text, shortened};
use crate::ui::command::Command;
use crate::ui::report::{PageContext, change_of};
use crate::ui::run_chips::badge_ui;
use crate::ui::runs::{Run, Runs};
use crate::ui::split;
use crate::ui::theme::fonts;
use crate::ui::widget::exports::{is_taken_out, picture_exports_ui, scrolled_of_exports};
use crate::ui::widget::flame::{FLAME_ROW, Flame, linked_ui, show_all_ui};
use crate::ui::widget::picture::at_pointer_ui;

/// Longest name.
const NAME: usize = 120;
/// Rows of a run that are shown at first.
const ROWS: usize = 9;
/// Least height of the lists above, points.
const LISTS: f32 = 430.0;
/// Height of the head with the space around, points.
const HEAD: f32 = 42.0;
/// Height of the title of a run, points.
const TITLE: f32 = 18.0;

struct PhasesOfRun {
    /// The phases with their positions, row by row, as the picture numbers them; names are clean.
    frames: Vec<(usize, PhaseBar)>,
    spans: SpanRows,
    /// Microseconds.
    total: u64,
}

pub struct NestedPhases {
    runs: Vec<PhasesOfRun>,
    /// What is the same phase: for each run its position.
    rows: Vec<Vec<Option<usize>>>,
}

impl NestedPhases {
    /// Nests the phases of runs; `None` where those of one are not there, or the system of all has
    /// nothing of the kind.
    pub fn of(runs: &Runs) -> Option<Self> {
        let is_foreign = |run: &Run| {
            let why_not = run.report.about.get().and_then(|about| about.why_no_phases.as_ref());
            why_not.is_some_and(|why| !why.is_explained())
        };
        if runs.iter().all(is_foreign) {
            return None;
        }
        let nested = |run: &Run| Some(phases(&run.report.about.get()?.phases));
        let compilations: Vec<_> = runs.iter().map(nested).collect::<Option<_>>()?;
        let rows = joined_frames(&compilations);
        Some(Self { runs: compilations.into_iter().map(PhasesOfRun::of).collect(), rows })
    }

    /// What a phase of a run is in another one.
    fn partner(&self, run: usize, frame: Option<u32>, other: usize) -> Option<u32> {
        let (position, _) = self.runs.get(run)?.frames.get(frame? as usize)?;
        let row = self.rows.iter().find(|row| row.get(run) == Some(&Some(*position)))?;
        let position = (*row.get(other)?)?;
        let mut frames = self.runs.get(other)?.frames.iter();
        u32::try_from(frames.position(|(known, _)| *known == position)?).ok()
    }

    fn of_run(&self, run: usize, frame: Option<u32>) -> Option<&PhaseBar> {
        self.runs.get(run)?.frame(frame?)
    }
}

impl PhasesOfRun {
    fn of(phases: Phases) -> Self {
        let mut frames: Vec<(usize, PhaseBar)> = phases.frames.into_iter().enumerate().collect();
        frames.sort_by_key(|(_, frame)| frame.depth);
        for (_, frame) in &mut frames {
            frame.name = shortened(&frame.name, NAME).into_owned();
        }
        let rows = frames.chunk_by(|(_, a), (_, b)| a.depth == b.depth).map(|row| {
            let starts = row.iter().map(|(_, frame)| frame.start_microseconds).collect();
            let ends = row.iter().map(|(_, frame)| frame.end_microseconds()).collect();
            SpanRow::of(starts, ends, Vec::new())
        });
        let spans = SpanRows::of(rows.collect());
        Self { frames, spans, total: phases.span_microseconds }
    }

    fn depth(&self) -> usize {
        self.spans.rows().len().max(1)
    }

    fn frame(&self, number: u32) -> Option<&PhaseBar> {
        self.frames.get(number as usize).map(|(_, frame)| frame)
    }

    fn text(&self, frame: &PhaseBar) -> String {
        let time = microseconds_text(frame.duration_microseconds);
        let own = microseconds_text(frame.self_microseconds);
        let share = share_text(frame.duration_microseconds, self.total);
        format!("{}: {time}, {share}, {own} itself", frame.name)
    }
}

#[derive(Default)]
pub struct PhaseFlames {
    flames: Vec<Flame>,
    /// Where the pictures were in the last frame.
    picture: Option<Rect>,
}

impl PhaseFlames {
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, phases: &NestedPhases) {
        let runs = page.runs;
        if phases.runs.iter().all(|run| run.frames.is_empty()) {
            if runs.is_one() {
                none_ui(ui, runs.reference());
            }
            return;
        }
        self.flames.resize_with(runs.len(), Flame::default);
        let rows: usize = phases.runs.iter().map(|run| run.depth().min(ROWS)).sum();
        let titles = if runs.is_one() { 0.0 } else { 16.0 + runs.len() as f32 * FLAME_ROW };
        let height = HEAD + titles + rows as f32 * FLAME_ROW;
        let left = (ui.available_height() - LISTS).max(64.0);
        let default = height.min(ui.available_height() * 0.4).min(left);
        let most = (ui.available_height() - 200.0).max(80.0);
        let several = "compiler phases of several";
        let name = runs.of_number(["compiler phases", several, several]);
        self.picture = split::below(ui, name, default, 64.0..=most, |ui| {
            let head = self.head_ui(ui, runs, phases, page.commands);
            let area = ScrollArea::vertical().auto_shrink(false);
            let shown = area.show(ui, |ui| self.flames_ui(ui, runs, phases));
            scrolled_of_exports(ui, &shown);
            Some(head.union(shown.inner.intersect(shown.inner_rect)))
        });
    }

    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        runs: &Runs,
        phases: &NestedPhases,
        commands: &mut Vec<Command>,
    ) -> Rect {
        let head = ui.horizontal(|ui| {
            ui.label(fonts::card_title("Compiler phases"));
            ui.weak(totals_text(&phases.runs));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                picture_exports_ui(ui, "compiler phases", true, self.picture, commands);
                if !is_taken_out(ui.ctx()) {
                    show_all_ui(ui, &mut self.flames, "Show all phases");
                }
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    let chosen = self.flames.iter().enumerate();
                    let chosen: Vec<Option<&PhaseBar>> =
                        chosen.map(|(run, flame)| phases.of_run(run, flame.chosen)).collect();
                    if let Some(text) = chosen_text(runs, phases, &chosen) {
                        ui.separator();
                        ui.add(Label::new(RichText::new(text).strong()).truncate());
                    }
                });
            });
        });
        head.response.rect
    }

    /// Draws the pictures; returns where they lie.
    fn flames_ui(&mut self, ui: &mut egui::Ui, runs: &Runs, phases: &NestedPhases) -> Rect {
        let span = phases.runs.iter().map(|run| run.total).max().unwrap_or(0);
        for flame in &mut self.flames {
            flame.span = span;
        }
        let mut drawn = Rect::NOTHING;
        for (place, (run, of_run)) in runs.iter().zip(&phases.runs).enumerate() {
            let mut name = "Compiler phases over time".to_owned();
            if !runs.is_one() {
                let title = ui.horizontal(|ui| {
                    ui.set_height(TITLE);
                    badge_ui(ui, run.badge);
                    ui.label(fonts::number(&*run.title));
                });
                drawn = drawn.union(title.response.rect);
                name = format!("Compiler phases of {} over time", run.the());
            }
            if of_run.frames.is_empty() {
                ui.weak(none_text(run));
                continue;
            }
            let title =
                |number| of_run.frame(number).map_or_else(String::new, |it| it.name.clone());
            let text = |number| of_run.frame(number).map_or_else(String::new, |it| of_run.text(it));
            let (flames, spans) = (&mut *self.flames, &of_run.spans);
            let partner = |other, frame| phases.partner(place, Some(frame), other);
            let shown = linked_ui(ui, flames, place, &name, spans, (&title, &text), partner);
            let Some((response, hovered)) = shown else { continue };
            drawn = drawn.union(response.rect);
            if hovered.is_some() {
                let partner = |other| {
                    let frame = phases.partner(place, hovered, other);
                    phases.of_run(other, frame)
                };
                let frames: Vec<Option<&PhaseBar>> = (0..runs.len()).map(partner).collect();
                at_pointer_ui(&response, |ui| tooltip_ui(ui, runs, phases, &frames));
            }
        }
        drawn
    }
}

fn none_text(run: &Run) -> String {
    let why = run.report.about.get().and_then(|about| about.why_no_phases.as_ref());
    why.map_or("This run has none".to_owned(), |why| format!("This run has none: {why}"))
}

fn none_ui(ui: &mut egui::Ui, run: &Run) {
    let frame = egui::Frame::new().inner_margin(Margin::symmetric(0, 8));
    egui::Panel::bottom("no phases").frame(frame).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.label(fonts::card_title("Compiler phases"));
            ui.weak(none_text(run));
        });
    });
}

/// How long all took: `3.06 s in 9 phases`, `3.06 s → 4.10 s, ▲ +1.04 s (+34.0 %)`.
fn totals_text(runs: &[PhasesOfRun]) -> String {
    match runs {
        [run] => {
            let count = grouped(run.frames.len() as u64);
            format!("{} in {count} phases", microseconds_text(run.total))
        }
        runs => durations_text(&runs.iter().map(|run| Some(run.total)).collect::<Vec<_>>()),
    }
}

/// Durations of all runs: of two with their difference.
fn durations_text(durations: &[Option<u64>]) -> String {
    let text = |time: &Option<u64>| time.map_or_else(|| "–".to_owned(), microseconds_text);
    let texts: Vec<String> = durations.iter().map(text).collect();
    match durations {
        [Some(source), Some(target)] => {
            format!("{}, {}", texts.join(" → "), change_of(*source, *target, microseconds_text))
        }
        _ => in_turn(&texts),
    }
}

fn chosen_text(runs: &Runs, phases: &NestedPhases, chosen: &[Option<&PhaseBar>]) -> Option<String> {
    let first = chosen.iter().flatten().next()?;
    if runs.is_one() {
        return Some(phases.runs.first()?.text(first));
    }
    let durations = chosen.iter().map(|frame| frame.map(|frame| frame.duration_microseconds));
    Some(format!("{}: {}", first.name, durations_text(&durations.collect::<Vec<_>>())))
}

fn tooltip_ui(ui: &mut egui::Ui, runs: &Runs, phases: &NestedPhases, frames: &[Option<&PhaseBar>]) {
    let Some(first) = frames.iter().flatten().next() else { return };
    ui.label(RichText::new(&first.name).strong());
    let grid = egui::Grid::new("phase facts").num_columns(runs.len() + 1).spacing([14.0, 2.0]);
    grid.show(ui, |ui| {
        if !runs.is_one() {
            ui.label("");
            for run in runs.iter() {
                ui.label(RichText::new(&*run.title).color(run.color(ui)));
            }
            ui.end_row();
        }
        let mut row = |title: &str, of: &dyn Fn(&PhasesOfRun, &PhaseBar) -> String| {
            ui.weak(title);
            for (frame, of_run) in frames.iter().zip(&phases.runs) {
                let text = frame.map_or_else(|| "not there".to_owned(), |frame| of(of_run, frame));
                ui.label(text);
            }
            ui.end_row();
        };
        row("Duration", &|_, frame| microseconds_text(frame.duration_microseconds));
        row("Share", &|run, frame| share_text(frame.duration_microseconds, run.total));
        row("Itself", &|_, frame| microseconds_text(frame.self_microseconds));
    });
    if let [Some(source), Some(target)] = frames {
        let change = change_of(
            source.duration_microseconds,
            target.duration_microseconds,
            microseconds_text,
        );
        ui.label(format!("Difference: {change}"));
    }
}

fn share_text(part: u64, total: u64) -> String {
    if total == 0 {
        return "all of it".to_owned();
    }
    format!("{:.1} %", part as f64 / total as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_durations_of_runs_are_written_out() {
        assert_eq!(share_text(1, 0), "all of it");
        assert_eq!(durations_text(&[Some(55), None]), "55 µs → –");
        assert_eq!(durations_text(&[Some(55), None, Some(7)]), "55 µs · – · 7 µs");
    }
}
