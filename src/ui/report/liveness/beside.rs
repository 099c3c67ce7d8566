//! Additions to the curves: lines such as that of reserved memory, bands, moments; and what the page answers of a run
//! that has no limit.

use eframe::egui;

use super::choices::LivenessChoices;
use super::timelines::SlotTimelines;
use crate::run::Outcome;
use crate::text::capitalised;
use crate::ui::report::areas::{DrawnBeside, DrawnLine};
use crate::ui::report::head::SignedAnswer;
use crate::ui::report::moment::step_id;
use crate::ui::runs::{Needed, Needs, PerRun, Run, Runs};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bins::BinCache;
use crate::ui::widget::curve::CurveLayer;
use crate::ui::widget::legend::{Patch, entry_ui};
use crate::ui::widget::sign::Sign;

pub const OF_AREAS: Needs = &[Needed::Liveness, Needed::Debug, Needed::TileVariables, Needed::Axis];

/// Runs that the answer has room for.
const MOST_RUNS: usize = 4;

pub struct BesideCurves {
    pub runs: PerRun<DrawnBeside>,
    /// How the only run came out, where nothing holds its curve against a limit.
    outcome: Option<Outcome>,
}

impl BesideCurves {
    pub fn of(runs: &Runs, timelines: &SlotTimelines) -> Self {
        let beside = |(place, run): (usize, &Run)| {
            let derived = &run.derived;
            let scope = timelines.run(place).map_or(timelines.scope, |curve| curve.scope);
            let mut beside = derived.answers().beside_curve(derived, scope, runs.is_one());
            if runs.is_one() {
                beside.lines.extend(derived.answers().other_curves(derived, scope));
            }
            DrawnBeside::of(beside, &timelines.axis, place)
        };
        let has_limit = timelines.run(0).is_some_and(|curve| curve.timeline.over.is_some());
        let derived = &runs.reference().derived;
        let outcome = || derived.verdict().map(|verdict| verdict.outcome);
        Self {
            outcome: (runs.is_one() && !has_limit).then(outcome).flatten(),
            runs: runs.iter().enumerate().map(beside).collect(),
        }
    }

    /// What is drawn beside the curve of the only run.
    pub fn only(&self) -> Option<&DrawnBeside> {
        self.runs.first().filter(|_| self.runs.len() == 1)
    }

    /// The most at any step, where, and how much more is reserved; or what failed. Of several runs the peaks.
    pub fn answer(
        &self,
        runs: &Runs,
        timelines: &SlotTimelines,
        units: Units,
    ) -> Option<SignedAnswer> {
        if !runs.is_one() {
            let most = |(place, run): (usize, &Run)| {
                Some(format!("{} {}", run.name, units.bytes(timelines.run(place)?.timeline.top)))
            };
            let texts: Vec<String> =
                runs.iter().enumerate().filter_map(most).take(MOST_RUNS).collect();
            return Some((Sign::Plain, format!("Peaks: {}", texts.join(", "))));
        }
        let (run, timeline) = (runs.reference(), &timelines.run(0)?.timeline);
        let beside = self.only()?;
        let most = units.bytes(timeline.top);
        let line = beside.lines.iter().find(|line| line.is_usual);
        let line =
            line.map(|line| format!("{} {}", units.bytes(line.top), line.title.to_lowercase()));
        let at =
            format!("{} {}", run.report.system.step_in_text, step_id(&run.report, timeline.peak?));
        let at_most = line.as_ref().map_or_else(String::new, |line| format!("; {line} at most"));
        let text = format!("{most} at most, at {at}{at_most}");
        Some(match (self.outcome?, beside.last_moment()) {
            (Outcome::OutOfMemory, failed) => {
                let asked = failed.and_then(|failed| failed.bytes);
                let asked = asked.map_or_else(String::new, |(bytes, of)| {
                    format!(", {} {of}", units.bytes(bytes))
                });
                // It has to have room beside what is chosen; the peak has its mark.
                let line = line.map_or_else(String::new, |line| format!(", {line}"));
                (Sign::Over, format!("Out of memory{asked}; {most} at most{line}"))
            }
            (Outcome::Ran | Outcome::Fits, None) => (Sign::Fits, text),
            (_, None) => (Sign::Plain, capitalised(&text)),
            (_, Some(_)) => (Sign::Note, format!("Requests failed, and the run went on; {text}")),
        })
    }
}

impl LivenessChoices {
    pub fn has_line(&self, line: &DrawnLine) -> bool {
        line.is_usual != self.switched_lines.contains(&*line.title)
    }

    /// The entries of lines in a legend.
    pub fn lines_ui(&mut self, ui: &mut egui::Ui, runs: &Runs, beside: &BesideCurves) {
        let tokens = *Tokens::now(ui);
        for line in beside.runs.first().map_or(&[][..], |of| &of.lines) {
            let color = if runs.is_one() { line.color(&tokens) } else { tokens.weak_text };
            let mut is_shown = self.has_line(line);
            let entry = entry_ui(ui, Patch::Line(color), &line.title, &mut is_shown);
            if entry.on_hover_text(line.rule).changed() {
                if !self.switched_lines.remove(&*line.title) {
                    self.switched_lines.insert(line.title.to_string());
                }
                self.version += 1;
            }
        }
    }

    pub fn line_layers<'a>(
        &self,
        ui: &egui::Ui,
        runs: &Runs,
        run: &Run,
        beside: &'a DrawnBeside,
        caches: &'a mut Vec<BinCache>,
    ) -> Vec<CurveLayer<'a>> {
        let tokens = *Tokens::now(ui);
        caches.resize_with(beside.lines.len(), BinCache::default);
        let lines = beside.lines.iter().zip(caches).filter(|(line, _)| self.has_line(line));
        let layer = |(line, cache): (&'a DrawnLine, &'a mut BinCache)| {
            let of_run = run.color(ui).gamma_multiply(0.5);
            let color = if runs.is_one() { line.color(&tokens) } else { of_run };
            beside.layer(line, color, cache)
        };
        lines.map(layer).collect()
    }

    /// The most that a line that is drawn has.
    pub fn top_of_lines(&self, beside: Option<&BesideCurves>) -> u64 {
        let lines = beside.into_iter().flat_map(|beside| &beside.runs).flat_map(|of| &of.lines);
        lines.filter(|line| self.has_line(line)).map(|line| line.top).max().unwrap_or(0)
    }
}
