//! The part of the machine that the page shows, and what is drawn for each run.

use eframe::egui;
use std::collections::{BTreeMap, BTreeSet};

use super::scope_choice::ScopeChoice;
use super::timelines::{RunCurve, SlotTimelines};
use crate::analysis::liveness::Scope;
use crate::run::areas::AreasBy;
use crate::text::capitalised;
use crate::ui::report::is_limit_near;
use crate::ui::runs::{Run, RunId, Runs};
use crate::ui::selection::Selection;
use crate::ui::widget::choice::{choice_ui, segments_ui};
use crate::ui::widget::exports::is_taken_out;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownLines {
    pub always_live: bool,
    pub not_always_live: bool,
    /// Whether slots that only this run has are marked.
    pub only: bool,
}

impl Default for ShownLines {
    fn default() -> Self {
        Self { always_live: true, not_always_live: true, only: true }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "they are independent switches of a picture")]
pub struct LivenessChoices {
    pub scope: ScopeChoice,
    /// Where another than the usual is drawn.
    shown: BTreeMap<RunId, ShownLines>,
    pub has_limit: bool,
    /// Whether the bytes with gaps of a tile are drawn.
    pub has_gaps: bool,
    /// Whether what is not always live stands on what is.
    is_stacked: bool,
    /// What areas are grouped by; `None` until that is chosen.
    by: Option<AreasBy>,
    /// Titles of areas that are switched off.
    pub hidden: BTreeSet<String>,
    /// Titles of lines that are drawn though they usually are not, or the other way round.
    pub switched_lines: BTreeSet<String>,
    /// Whether slots are of equal time.
    pub is_over_time: bool,
    /// Whether the picture reaches up to the limit; `None` follows the figures.
    is_limit_in_sight: Option<bool>,
    /// Changes with every switch: then other things are drawn of the same curves.
    pub version: u64,
}

impl Default for LivenessChoices {
    fn default() -> Self {
        Self {
            scope: ScopeChoice::default(),
            shown: BTreeMap::new(),
            has_limit: true,
            has_gaps: true,
            is_stacked: true,
            by: None,
            hidden: BTreeSet::new(),
            switched_lines: BTreeSet::new(),
            is_over_time: false,
            is_limit_in_sight: None,
            version: 0,
        }
    }
}

impl LivenessChoices {
    pub fn of(&self, run: &Run) -> ShownLines {
        self.shown.get(&run.id).copied().unwrap_or_default()
    }

    pub fn show(&mut self, run: &Run, shown: ShownLines) {
        if self.of(run) != shown {
            self.shown.insert(run.id, shown);
            self.version += 1;
        }
    }

    /// Goes on with a run under another name.
    pub fn rename(&mut self, from: RunId, to: RunId) {
        if let Some(shown) = self.shown.remove(&from) {
            self.shown.insert(to, shown);
        }
    }

    /// Whether the curve of a run stands on what is always live.
    pub fn is_stacked(&self, run: &Run) -> bool {
        self.is_stacked && self.of(run).always_live
    }

    /// Whether all that is alive is drawn of a run: limit and gaps say nothing of a part of it.
    fn is_whole(&self, run: &Run) -> bool {
        self.is_stacked(run) && self.of(run).not_always_live
    }

    pub fn limit(&self, curve: &RunCurve, run: &Run) -> Option<u64> {
        curve.timeline.limit.filter(|_| self.has_limit && self.is_whole(run))
    }

    /// The bytes with gaps of a run's tile, where they are shown.
    pub fn with_gaps(&self, curve: &RunCurve, run: &Run) -> Option<u64> {
        curve.timeline.including_gaps.filter(|_| self.has_gaps && self.is_whole(run))
    }

    /// The largest figure of what is shown of a run.
    fn top_of(&self, curve: &RunCurve, run: &Run) -> u64 {
        let level = curve.top(true).saturating_sub(curve.top(false));
        let shown = self.of(run);
        let with_gaps = self.with_gaps(curve, run).unwrap_or(0);
        let alive = match (shown.always_live, shown.not_always_live) {
            (true, true) if self.is_stacked => curve.top(true),
            (true, true) => curve.top(false).max(level),
            (true, false) => level,
            (false, true) => curve.top(false),
            (false, false) => 0,
        };
        alive.max(with_gaps)
    }

    pub fn top(&self, runs: &Runs, timelines: &SlotTimelines) -> u64 {
        let tops = drawn(runs, timelines).map(|(run, curve)| self.top_of(curve, run));
        tops.max().unwrap_or(0)
    }

    pub fn highest_limit(&self, runs: &Runs, timelines: &SlotTimelines) -> Option<u64> {
        drawn(runs, timelines).filter_map(|(run, curve)| self.limit(curve, run)).max()
    }

    /// The largest figure that the picture reaches up to.
    pub fn height(&self, runs: &Runs, timelines: &SlotTimelines) -> u64 {
        let is_in_sight = self.is_limit_in_sight(runs, timelines);
        let limit = self.highest_limit(runs, timelines).filter(|_| is_in_sight);
        self.top(runs, timelines).max(limit.unwrap_or(0))
    }

    fn is_limit_in_sight(&self, runs: &Runs, timelines: &SlotTimelines) -> bool {
        let near = |limit| is_limit_near(self.top(runs, timelines), limit);
        let limit = self.highest_limit(runs, timelines);
        limit.is_some_and(|limit| self.is_limit_in_sight.unwrap_or_else(|| near(limit)))
    }

    /// Draws what the picture shows.
    pub fn options_ui(
        &mut self,
        ui: &mut egui::Ui,
        runs: &Runs,
        timelines: &SlotTimelines,
        is_stack_free: bool,
    ) {
        if is_taken_out(ui.ctx()) {
            return;
        }
        let mut is_in_sight = self.is_limit_in_sight(runs, timelines);
        let has_limit = self.highest_limit(runs, timelines).is_some();
        let button =
            ui.add_enabled(has_limit, egui::Checkbox::new(&mut is_in_sight, "Scale to limit"));
        if button.changed() {
            self.is_limit_in_sight = Some(is_in_sight);
        }
        if !is_stack_free {
            return;
        }
        let (stack, system) = (ui.checkbox(&mut self.is_stacked, "Stack"), runs.system());
        let hover = format!("{} on what is {}", system.not_always_live, system.always_live_in_text);
        if stack.on_hover_text(hover).changed() {
            self.version += 1;
        }
    }

    /// What areas are grouped by. Of several runs each is one line.
    pub fn areas_by(&self, runs: &Runs, scope: Scope) -> AreasBy {
        let groupings = groupings(runs, scope);
        let chosen = self.by.filter(|by| groupings.contains(by));
        chosen.or_else(|| groupings.first().copied()).unwrap_or(AreasBy::Liveness)
    }

    /// Draws what areas are grouped by, and what the axis goes by, from the right to the left; of one run.
    pub fn areas_ui(&mut self, ui: &mut egui::Ui, runs: &Runs, of: (Scope, bool)) {
        let (scope, has_times) = of;
        let groupings = groupings(runs, scope);
        if groupings.len() > 1 {
            let mut by = self.areas_by(runs, scope);
            let title = |by: &AreasBy| format!("By {}", by.title().to_lowercase());
            choice_ui(ui, "Areas of", 128.0, &mut by, groupings, title)
                .on_hover_text("What the areas below the curve show");
            if by != self.areas_by(runs, scope) {
                self.by = Some(by);
                self.hidden.clear();
                self.version += 1;
            }
        }
        if has_times {
            let steps = capitalised(runs.system().steps);
            let axes = [(false, steps), (true, "Time".to_owned())];
            segments_ui(ui, "What the axis counts", &mut self.is_over_time, axes);
        }
    }

    /// Draws the scope, from the right to the left; returns whether another one was chosen.
    pub fn scope_ui(&mut self, ui: &mut egui::Ui, runs: &Runs, selection: &mut Selection) -> bool {
        let is_another = self.scope.ui(ui, runs, selection);
        if is_another {
            self.is_limit_in_sight = None;
        }
        is_another
    }
}

/// What the curve of the only run can be split by.
fn groupings(runs: &Runs, scope: Scope) -> Vec<AreasBy> {
    if !runs.is_one() {
        return Vec::new();
    }
    let derived = &runs.reference().derived;
    derived.answers().groupings(derived, scope)
}

pub fn drawn<'a>(
    runs: &'a Runs,
    timelines: &'a SlotTimelines,
) -> impl Iterator<Item = (&'a Run, &'a RunCurve)> {
    let curve = |(place, run)| Some((run, timelines.run(place)?));
    runs.iter().enumerate().filter_map(curve)
}
