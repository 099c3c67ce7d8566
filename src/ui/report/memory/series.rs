//! The series of each run in the pictures: bytes with gaps, without gaps, in parts, and how they look.

use eframe::egui::{self, Color32};
use std::collections::HashMap;

use super::arranged::{DividedTiles, TileFigures};
use crate::store::memory::TileColumn;
use crate::ui::runs::{Run, RunId, Runs};
use crate::ui::theme::Tokens;

/// What is drawn. What the user has not switched follows from the rest: bytes with gaps, and without
/// them those that the parts of a run in the same picture are compared with.
#[derive(Default)]
pub struct Series {
    leaves_gaps_out: bool,
    with_gaps: HashMap<RunId, bool>,
    without_gaps: HashMap<RunId, bool>,
    /// The run whose bytes are divided where all are in one picture, if the user has chosen one.
    stack_of: Option<RunId>,
}

impl Series {
    /// Includes gaps in the lines of all runs, or leaves them out.
    pub fn include_gaps(&mut self, are_included: bool) {
        self.leaves_gaps_out = !are_included;
        self.follow_default();
    }

    /// Forgets which lines were switched.
    pub fn follow_default(&mut self) {
        self.with_gaps.clear();
        self.without_gaps.clear();
    }

    /// Goes on with a run under another name.
    pub fn rename(&mut self, from: RunId, to: RunId) {
        for switched in [&mut self.with_gaps, &mut self.without_gaps] {
            if let Some(is_on) = switched.remove(&from) {
                switched.insert(to, is_on);
            }
        }
        self.stack_of = self.stack_of.map(|run| if run == from { to } else { run });
    }

    pub fn has_gaps(&self, runs: &Runs) -> bool {
        runs.iter().any(|run| self.has_line_with_gaps(run))
    }

    /// The position of the run whose bytes are divided where all are in one picture: of two the target,
    /// to be compared with the source, of more the reference, with which all are compared.
    pub fn stack_of(&self, runs: &Runs) -> usize {
        let chosen = self.stack_of.and_then(|id| runs.position(id));
        chosen.unwrap_or(usize::from(runs.len() == 2))
    }

    pub fn divide(&mut self, run: RunId) {
        self.stack_of = Some(run);
        self.follow_default();
    }

    pub fn has_line_with_gaps(&self, run: &Run) -> bool {
        self.with_gaps.get(&run.id).copied().unwrap_or(!self.leaves_gaps_out)
    }

    pub fn has_line_without_gaps(&self, runs: &Runs, place: usize, is_divided: bool) -> bool {
        let switched = runs.get(place).and_then(|run| self.without_gaps.get(&run.id));
        switched.copied().unwrap_or_else(|| match (runs.len(), is_divided) {
            (1, _) => !is_divided,
            (_, true) => place != self.stack_of(runs),
            (_, false) => self.leaves_gaps_out,
        })
    }

    pub fn switch_with_gaps(&mut self, run: &Run, is_on: bool) {
        self.with_gaps.insert(run.id, is_on);
    }

    pub fn switch_without_gaps(&mut self, run: &Run, is_on: bool) {
        self.without_gaps.insert(run.id, is_on);
    }

    /// What the picture is filled below: of one run bytes without gaps, of several the highest line.
    pub fn area<'a>(
        &self,
        runs: &Runs,
        place: usize,
        figures: &'a TileFigures,
    ) -> Option<&'a TileColumn> {
        let has_gaps =
            !runs.is_one() && runs.get(place).is_some_and(|run| self.has_line_with_gaps(run));
        match (has_gaps, self.has_line_without_gaps(runs, place, false)) {
            (true, _) => Some(&figures.including_gaps),
            (false, true) => Some(&figures.total),
            (false, false) => None,
        }
    }

    pub fn top(&self, runs: &Runs, divided: &DividedTiles) -> u64 {
        let is_divided = divided.stacks.is_some();
        let of_run = |(place, run): (usize, &Run)| {
            let (without, with) = divided.tiles.figures.get(place)?.tops;
            let with = self.has_line_with_gaps(run).then_some(with);
            let has_without = self.has_line_without_gaps(runs, place, is_divided);
            let without = has_without.then_some(without);
            with.max(without).max(divided.stack(place).map(|stack| stack.top))
        };
        runs.iter().enumerate().filter_map(of_run).max().unwrap_or(0)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct RunStyle {
    /// Of the area below its line; of many runs in one picture only the reference has one.
    pub area: Option<Color32>,
    pub with_gaps: Color32,
    pub without_gaps: Color32,
}

impl RunStyle {
    /// Of one run the area is without gaps, the line above it with them; of several each has a color.
    pub fn of(ui: &egui::Ui, runs: &Runs, place: usize, is_alone: bool) -> Self {
        let tokens = Tokens::now(ui);
        let Some(run) = runs.get(place).filter(|_| !runs.is_one()) else {
            let (area, without_gaps) = (Some(tokens.area(tokens.temporary)), tokens.temporary);
            return Self { area, with_gaps: tokens.weak_text, without_gaps };
        };
        let color = run.color(ui);
        let area = match (place, runs.len()) {
            (0, _) => Some(run.fill(ui)),
            // The reference shines through the other.
            (_, 2) => Some(color.gamma_multiply(0.24)),
            _ => is_alone.then(|| run.fill(ui)),
        };
        Self { area, with_gaps: color, without_gaps: color.lerp_to_gamma(tokens.text, 0.45) }
    }
}
