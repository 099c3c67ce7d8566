//! How the map is drawn: its colours, and what is left out.

use eframe::egui::{self, Color32};
use std::collections::BTreeSet;

use super::paint::Scene;
use crate::ui::report::category_colors::{CategoryColors, other_categories_color};
use crate::ui::theme::Tokens;
use crate::ui::widget::choice::named_choice_ui;
use crate::ui::widget::legend::{Patch, entry_ui};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colours {
    #[default]
    Category,
    Liveness,
}

/// What a legend has an entry for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A category with a colour of its own: its place among all.
    Category(usize),
    OtherCategories,
    AlwaysLive,
    /// What lives at some steps, or at the step.
    Live,
    NotLive,
    /// Bytes that no variable ever uses.
    Gaps,
    /// Bytes that only variables of other steps use.
    Free,
}

#[derive(Default)]
pub struct Choices {
    pub colours: Colours,
    /// Whether what is not alive at the step is left out.
    pub is_packed: bool,
    hidden: BTreeSet<Kind>,
}

impl Choices {
    /// Draws the choice of colours and what is left out, from the right to the left.
    pub fn ui(&mut self, ui: &mut egui::Ui, is_at_step: bool) {
        ui.add_enabled(is_at_step, egui::Checkbox::new(&mut self.is_packed, "Live only"))
            .on_hover_text("Leaves out what is not alive at the step")
            .on_disabled_hover_text("Choose a step first");
        let title = |colours: &Colours| match colours {
            Colours::Category => "Category",
            Colours::Liveness => "Liveness",
        };
        let choices = [Colours::Category, Colours::Liveness];
        named_choice_ui(ui, ("Colours", 140.0), &mut self.colours, choices, title)
            .on_hover_text("What the colours tell");
    }

    pub fn has(&self, kind: Kind) -> bool {
        !self.hidden.contains(&kind)
    }

    /// Draws the legend of pictures, whose entries switch what they name.
    pub fn legend_ui(&mut self, ui: &mut egui::Ui, colors: &CategoryColors, scenes: &[Scene<'_>]) {
        let tokens = Tokens::now(ui);
        let is_at_step = scenes.iter().any(|scene| scene.at_step.is_some());
        for kind in kinds(self.colours, colors, scenes, is_at_step) {
            let color = color(tokens, colors, kind);
            let patch = match kind {
                Kind::Gaps => Patch::Hatch(color, false),
                Kind::Free => Patch::Hatch(color, true),
                _ => Patch::Area(color, color),
            };
            let mut is_on = self.has(kind);
            let entry = entry_ui(ui, patch, &title(colors, kind, is_at_step), &mut is_on);
            if entry.changed() && !self.hidden.remove(&kind) {
                self.hidden.insert(kind);
            }
        }
    }
}

fn kinds(
    colours: Colours,
    colors: &CategoryColors,
    scenes: &[Scene<'_>],
    is_at_step: bool,
) -> Vec<Kind> {
    let mut kinds = Vec::new();
    match colours {
        Colours::Liveness => {
            kinds.extend([Kind::AlwaysLive, Kind::Live]);
            kinds.extend(is_at_step.then_some(Kind::NotLive));
        }
        Colours::Category => {
            let is_there = |ids: &[Option<_>]| {
                scenes.iter().any(|scene| ids.get(scene.place).is_some_and(Option::is_some))
            };
            let coloured = colors.coloured().iter().enumerate();
            let coloured = coloured.filter(|(_, category)| is_there(&category.ids));
            kinds.extend(coloured.map(|(place, _)| Kind::Category(place)));
            let is_other = |scene: &Scene<'_>| {
                let mut categories = scene.data.categories.iter();
                categories.any(|id| scene.category_kind(*id) == Kind::OtherCategories)
            };
            kinds.extend(scenes.iter().any(is_other).then_some(Kind::OtherCategories));
        }
    }
    kinds.push(Kind::Gaps);
    kinds.extend(is_at_step.then_some(Kind::Free));
    kinds
}

pub fn color(tokens: &Tokens, colors: &CategoryColors, kind: Kind) -> Color32 {
    match kind {
        Kind::Category(place) => colors.color(place, tokens),
        Kind::OtherCategories => other_categories_color(tokens),
        Kind::AlwaysLive => tokens.always_live,
        Kind::Live => tokens.temporary,
        Kind::NotLive => tokens.raised,
        Kind::Gaps => tokens.gap,
        Kind::Free => tokens.gap,
    }
}

fn title(colors: &CategoryColors, kind: Kind, is_at_step: bool) -> String {
    let title = match kind {
        Kind::Category(place) => return colors.title(place),
        Kind::OtherCategories => "Other categories",
        Kind::AlwaysLive => "Always live",
        Kind::Live if is_at_step => "Live at the step",
        Kind::Live => "Not always live",
        Kind::NotLive => "Not live at the step",
        Kind::Gaps => "Gaps",
        Kind::Free => "Free at the step",
    };
    title.to_owned()
}
