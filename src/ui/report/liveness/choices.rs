//! What part of the machine the page is about, and how the curve is drawn.

use eframe::egui;

use super::derived::Derived;
use super::scope_choice::ScopeChoice;
use crate::store::{Report, TileId};
use crate::ui::report::is_limit_near;

/// The choices.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the page")]
pub struct Choices {
    /// The part of the machine.
    pub scope: ScopeChoice,
    /// Whether the always-live bytes are shown.
    pub has_always_live: bool,
    /// Whether the not-always-live bytes are shown.
    pub has_not_always_live: bool,
    /// Whether the limit is shown.
    pub has_limit: bool,
    /// Whether what is not always live stands on what is.
    pub is_stacked: bool,
    /// Whether the picture reaches up to the limit; `None` follows the figures.
    is_limit_in_sight: Option<bool>,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            scope: ScopeChoice::default(),
            has_always_live: true,
            has_not_always_live: true,
            has_limit: true,
            is_stacked: true,
            is_limit_in_sight: None,
        }
    }
}

impl Choices {
    /// The limit, where it is shown: it says nothing of a part of what is alive.
    pub fn limit(&self, derived: &Derived) -> Option<u64> {
        derived.curve.limit.filter(|_| self.has_limit && self.is_whole())
    }

    /// Whether the curve shows all that is alive.
    pub fn is_whole(&self) -> bool {
        self.has_always_live && self.has_not_always_live && self.is_stacked
    }

    /// Whether the picture reaches up to the limit.
    pub fn is_limit_in_sight(&self, derived: &Derived) -> bool {
        let limit = self.limit(derived);
        limit.is_some_and(|limit| {
            self.is_limit_in_sight.unwrap_or_else(|| is_limit_near(derived.top, limit))
        })
    }

    /// Draws scope and options, from the right to the left.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        report: &Report,
        derived: Option<&Derived>,
        selected: Option<TileId>,
    ) {
        let mut is_in_sight = derived.is_some_and(|derived| self.is_limit_in_sight(derived));
        let has_limit = derived.is_some_and(|derived| self.limit(derived).is_some());
        let button =
            ui.add_enabled(has_limit, egui::Checkbox::new(&mut is_in_sight, "Scale to limit"));
        if button.changed() {
            self.is_limit_in_sight = Some(is_in_sight);
        }
        ui.checkbox(&mut self.is_stacked, "Stack")
            .on_hover_text("What is not always live stands on what is");
        if self.scope.ui(ui, &[report], selected) {
            self.is_limit_in_sight = None;
        }
    }
}
