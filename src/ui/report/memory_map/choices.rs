//! How the map is drawn: its colours, and what is left out.

use std::collections::BTreeSet;

use eframe::egui;
use eframe::egui::{Color32, ComboBox};

use super::read::TileData;
use crate::analysis::memory::category_title;
use crate::analysis::placement::tile_map::Block;
use crate::store::Report;
use crate::store::ids::CategoryId;
use crate::ui::theme::Tokens;
use crate::ui::widget::legend::{Patch, entry_ui};

/// Categories that have a colour of their own; what is left over is grey.
pub const MOST_CATEGORIES: usize = 8;

/// What colours tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colours {
    /// What bytes are for.
    #[default]
    Category,
    /// How long they live.
    Liveness,
}

/// What a legend has an entry for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A category with a colour of its own: its place among all.
    Category(usize),
    /// All others.
    OtherCategories,
    /// What lives as long as the program.
    AlwaysLive,
    /// What lives at some steps, or at the step.
    Live,
    /// What does not live at the step.
    NotLive,
    /// Bytes that no variable ever uses.
    Gaps,
    /// Bytes that only variables of other steps use.
    Free,
}

/// The choices.
#[derive(Debug, Default)]
pub struct Choices {
    /// What colours tell.
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
        let title = |colours: Colours| match colours {
            Colours::Category => "Category",
            Colours::Liveness => "Liveness",
        };
        let combo = ComboBox::from_id_salt("map colours")
            .selected_text(format!("Colours: {}", title(self.colours).to_lowercase()))
            .width(140.0)
            .show_ui(ui, |ui| {
                for colours in [Colours::Category, Colours::Liveness] {
                    ui.selectable_value(&mut self.colours, colours, title(colours));
                }
            });
        combo.response.accessible_name("Colours").on_hover_text("What the colours tell");
    }

    /// Whether something is drawn.
    pub fn has(&self, kind: Kind) -> bool {
        !self.hidden.contains(&kind)
    }

    /// What a block is in the legend; `is_live` tells of a step.
    pub fn kind(&self, data: &TileData, block: &Block, is_live: Option<bool>) -> Kind {
        match (self.colours, is_live) {
            (Colours::Category, _) => category_kind(data, block.category),
            (Colours::Liveness, _) if block.is_always_live => Kind::AlwaysLive,
            (Colours::Liveness, Some(false)) => Kind::NotLive,
            (Colours::Liveness, _) => Kind::Live,
        }
    }

    /// Draws the legend, whose entries switch what they name.
    pub fn legend_ui(
        &mut self,
        ui: &mut egui::Ui,
        report: &Report,
        data: &TileData,
        step: Option<usize>,
    ) -> egui::Rect {
        let tokens = Tokens::now(ui);
        let row = ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(14.0, 2.0);
            for kind in kinds(self.colours, data, step) {
                let color = color(tokens, kind);
                let patch = match kind {
                    Kind::Gaps => Patch::Hatch(color, false),
                    Kind::Free => Patch::Hatch(color, true),
                    _ => Patch::Area(color, color),
                };
                let mut is_on = self.has(kind);
                if entry_ui(ui, patch, &title(report, data, kind, step), &mut is_on).changed() {
                    if is_on {
                        self.hidden.remove(&kind);
                    } else {
                        self.hidden.insert(kind);
                    }
                }
            }
        });
        row.response.rect
    }
}

fn category_kind(data: &TileData, category: Option<CategoryId>) -> Kind {
    let place = category.and_then(|_| data.categories.iter().position(|other| *other == category));
    match place {
        Some(place @ ..MOST_CATEGORIES) => Kind::Category(place),
        _ => Kind::OtherCategories,
    }
}

/// What the legend of a tile names.
fn kinds(colours: Colours, data: &TileData, step: Option<usize>) -> Vec<Kind> {
    let mut kinds = match (colours, step) {
        (Colours::Liveness, None) => vec![Kind::AlwaysLive, Kind::Live],
        (Colours::Liveness, Some(_)) => vec![Kind::AlwaysLive, Kind::Live, Kind::NotLive],
        (Colours::Category, _) => {
            let coloured = data.categories.iter().take(MOST_CATEGORIES).enumerate();
            let coloured = coloured.filter(|(_, id)| id.is_some());
            let has_others = data.has_other_categories.then_some(Kind::OtherCategories);
            coloured.map(|(place, _)| Kind::Category(place)).chain(has_others).collect()
        }
    };
    kinds.push(Kind::Gaps);
    if step.is_some() {
        kinds.push(Kind::Free);
    }
    kinds
}

/// The colour of what the legend names.
pub fn color(tokens: &Tokens, kind: Kind) -> Color32 {
    let [.., others, rest] = tokens.series;
    match kind {
        Kind::Category(place) => tokens.series.get(place).copied().unwrap_or(others),
        Kind::OtherCategories => others,
        Kind::AlwaysLive => tokens.base,
        Kind::Live => tokens.top,
        Kind::NotLive => rest,
        Kind::Gaps => tokens.gap,
        Kind::Free => tokens.free,
    }
}

fn title(report: &Report, data: &TileData, kind: Kind, step: Option<usize>) -> String {
    match kind {
        Kind::Category(place) => {
            let id = data.categories.get(place).copied().flatten();
            let name = id.and_then(|id| report.categories.get()?.name(id));
            crate::text::shortened(&category_title(name.unwrap_or("unknownCategory")), 40)
                .into_owned()
        }
        Kind::OtherCategories => "Other categories".to_owned(),
        Kind::AlwaysLive => "Always live".to_owned(),
        Kind::Live if step.is_some() => "Live at the step".to_owned(),
        Kind::Live => "Not always live".to_owned(),
        Kind::NotLive => "Not live at the step".to_owned(),
        Kind::Gaps => "Gaps".to_owned(),
        Kind::Free => "Free at the step".to_owned(),
    }
}
