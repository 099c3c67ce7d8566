//! What is drawn of two reports, and of which part of the machine.

use eframe::egui;

use super::derived::{OfSide, PairDerived};
use crate::store::{Report, TileId};
use crate::ui::legacy::Side;
use crate::ui::report::is_limit_near;
use crate::ui::report::liveness::scope_choice::ScopeChoice;

/// What is drawn of one report.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// Whether the always-live bytes are shown.
    pub always_live: bool,
    /// Whether the not-always-live bytes are shown.
    pub not_always_live: bool,
    /// Whether slots that only this report has are marked.
    pub only: bool,
}

/// The choices.
#[derive(Debug)]
pub struct PairChoices {
    /// The part of the machine.
    pub scope: ScopeChoice,
    /// What is drawn of source and target.
    pub shown: [Shown; 2],
    /// Whether the limits are shown.
    pub has_limit: bool,
    /// Whether what is not always live stands on what is.
    pub is_stacked: bool,
    /// Whether the picture reaches up to the limit; `None` follows the figures.
    is_limit_in_sight: Option<bool>,
}

impl Default for PairChoices {
    fn default() -> Self {
        let shown = Shown { always_live: true, not_always_live: true, only: true };
        Self {
            scope: ScopeChoice::default(),
            shown: [shown; 2],
            has_limit: true,
            is_stacked: true,
            is_limit_in_sight: None,
        }
    }
}

impl PairChoices {
    /// What is drawn of a report.
    pub fn of(&self, side: Side) -> Shown {
        side.of(self.shown)
    }

    /// Whether the curve of a report stands on what is always live.
    pub fn is_stacked(&self, side: Side) -> bool {
        self.is_stacked && self.of(side).always_live
    }

    /// The limit of a report, where it is shown: it says nothing of a part of what is alive.
    pub fn limit(&self, derived: &PairDerived, side: Side) -> Option<u64> {
        let is_whole = self.is_stacked(side) && self.of(side).not_always_live;
        derived.side(side)?.derived.curve.limit.filter(|_| self.has_limit && is_whole)
    }

    /// The largest figure of what is shown of a report.
    fn top_of(&self, of_side: &OfSide, side: Side) -> u64 {
        let level = of_side.top(true).saturating_sub(of_side.top(false));
        match (self.of(side).always_live, self.of(side).not_always_live) {
            (true, true) if self.is_stacked => of_side.top(true),
            (true, true) => of_side.top(false).max(level),
            (true, false) => level,
            (false, true) => of_side.top(false),
            (false, false) => 0,
        }
    }

    /// The largest figure of what is shown.
    pub fn top(&self, derived: &PairDerived) -> u64 {
        let tops = Side::BOTH
            .map(|side| derived.side(side).map_or(0, |of_side| self.top_of(of_side, side)));
        tops.into_iter().max().unwrap_or(0)
    }

    /// The higher of the limits that are shown.
    fn highest_limit(&self, derived: &PairDerived) -> Option<u64> {
        Side::BOTH.into_iter().filter_map(|side| self.limit(derived, side)).max()
    }

    /// The largest figure that the picture reaches up to.
    pub fn height(&self, derived: &PairDerived) -> u64 {
        let top = self.top(derived);
        let limit = self.highest_limit(derived).filter(|_| self.is_limit_in_sight(derived));
        top.max(limit.unwrap_or(0))
    }

    fn is_limit_in_sight(&self, derived: &PairDerived) -> bool {
        let near = |limit| is_limit_near(self.top(derived), limit);
        let limit = self.highest_limit(derived);
        limit.is_some_and(|limit| self.is_limit_in_sight.unwrap_or_else(|| near(limit)))
    }

    /// Tells apart what is drawn of the same curves.
    pub fn variant(&self) -> u64 {
        let bit = |place: u32, is_on: bool| u64::from(is_on) << place;
        let [source, target] = self.shown;
        bit(0, self.is_stacked)
            | bit(1, source.always_live)
            | bit(2, source.not_always_live)
            | bit(3, target.always_live)
            | bit(4, target.not_always_live)
    }

    /// Draws scope and options, from the right to the left.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        reports: &[&Report],
        derived: Option<&PairDerived>,
        selected: Option<TileId>,
    ) {
        let mut is_in_sight = derived.is_some_and(|derived| self.is_limit_in_sight(derived));
        let has_limit = derived.is_some_and(|derived| self.highest_limit(derived).is_some());
        let button =
            ui.add_enabled(has_limit, egui::Checkbox::new(&mut is_in_sight, "Scale to limit"));
        if button.changed() {
            self.is_limit_in_sight = Some(is_in_sight);
        }
        ui.checkbox(&mut self.is_stacked, "Stack")
            .on_hover_text("What is not always live stands on what is");
        if self.scope.ui(ui, reports, selected) {
            self.is_limit_in_sight = None;
        }
    }
}
