//! The colors of the map of all tiles, and what they mean.

use eframe::egui::{self, Color32, ColorImage};

use crate::analysis::placement::chip_map::{ChipCell, ChipMap, ColourBy};
use crate::ui::report::category_colors::{CategoryColors, other_categories_color};
use crate::ui::theme::Tokens;
use crate::ui::widget::legend::{Patch, by_color, label_ui};

/// Colors by meaning. Gaps and free bytes let the hatch of the ground through, which stands still on the screen.
pub struct ChipColors {
    tokens: Tokens,
    /// By row of `var_categories`.
    categories: Vec<Color32>,
    /// Titles of the categories with a color of their own, the largest first.
    titles: Vec<(String, Color32)>,
    has_others: bool,
}

impl ChipColors {
    /// Gives the categories of a run, by its place, their colors.
    pub fn new(order: &CategoryColors, run: usize, tokens: &Tokens) -> Self {
        let mut categories = vec![other_categories_color(tokens); 256];
        let mut titles = Vec::new();
        for (place, category) in order.coloured().iter().enumerate() {
            let color = order.color(place, tokens);
            titles.push((order.title(place), color));
            let id = category.ids.get(run).copied().flatten();
            if let Some(entry) = id.and_then(|id| categories.get_mut(id.0 as usize)) {
                *entry = color;
            }
        }
        Self { tokens: *tokens, categories, titles, has_others: order.has_others() }
    }

    /// The color of a cell; of gaps none.
    fn of(&self, cell: ChipCell) -> Color32 {
        let tokens = &self.tokens;
        match cell {
            ChipCell::Beyond => tokens.surface,
            ChipCell::Gap => Color32::TRANSPARENT,
            ChipCell::Free => tokens.surface.gamma_multiply(0.6),
            ChipCell::Category(id) => {
                let color = self.categories.get(usize::from(id)).copied();
                color.unwrap_or(other_categories_color(tokens))
            }
            ChipCell::AlwaysLive => tokens.always_live,
            ChipCell::NotAlwaysLive => tokens.temporary,
            ChipCell::Several => tokens.accent,
            ChipCell::GapShare(share) => tokens.heat(f32::from(share) / 255.0),
        }
    }

    /// A map as a picture, a pixel a cell.
    pub fn image(&self, map: &ChipMap) -> ColorImage {
        let pixels = map.cells.iter().map(|cell| self.of(*cell)).collect();
        ColorImage::new([map.columns, map.rows], pixels)
    }
}

pub fn legend_ui(ui: &mut egui::Ui, colors: &ChipColors, colour_by: ColourBy, is_at_step: bool) {
    let mut entries: Vec<(&str, Color32)> = Vec::new();
    match colour_by {
        ColourBy::Category => {
            entries.extend(colors.titles.iter().map(|(title, color)| (&**title, *color)));
            if colors.has_others {
                entries.push(("Others", other_categories_color(&colors.tokens)));
            }
        }
        ColourBy::Liveness => {
            let live = if is_at_step { "Live at the step" } else { "Not always live" };
            entries.push(("Always live", colors.of(ChipCell::AlwaysLive)));
            entries.push((live, colors.of(ChipCell::NotAlwaysLive)));
            let several = ("Several variables", colors.of(ChipCell::Several));
            entries.extend((!is_at_step).then_some(several));
        }
        ColourBy::Gaps => {
            let shares = [("No gap", 0), ("Half gaps", 128), ("Gaps only", 255)];
            entries
                .extend(shares.map(|(title, share)| (title, colors.of(ChipCell::GapShare(share)))));
        }
    }
    for (title, patch) in by_color(entries) {
        label_ui(ui, patch, title);
    }
    if colour_by != ColourBy::Gaps {
        let gap = colors.tokens.gap;
        label_ui(ui, Patch::Hatch(gap), "Gap");
        if is_at_step {
            label_ui(ui, Patch::Hatch(gap.gamma_multiply(0.5)), "Free at the step");
        }
    }
}
