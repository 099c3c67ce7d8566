//! The colours of the map of all tiles, and what they mean.

use eframe::egui::{self, Color32, ColorImage};

use crate::analysis::placement::chip_map::{Cell, ChipMap, ColourBy};
use crate::ui::report::category_colors::{CategoryColors, other_categories_color};
use crate::ui::theme::Tokens;
use crate::ui::widget::legend::{Patch, label_ui};

/// Colours by meaning. Gaps and free bytes are chequered, so that colour is not their only sign.
pub struct Colors {
    tokens: Tokens,
    /// By row of `var_categories`.
    categories: Vec<Color32>,
    /// Titles of the categories with a colour of their own, the largest first.
    titles: Vec<(String, Color32)>,
    has_others: bool,
}

impl Colors {
    /// Gives the categories of a run, by its place, their colours.
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

    /// The two colours of a cell, which alternate; most cells have one.
    fn of(&self, cell: Cell) -> [Color32; 2] {
        let tokens = &self.tokens;
        match cell {
            Cell::Beyond => [tokens.surface; 2],
            Cell::Gap => [tokens.gap, tokens.surface],
            Cell::Free => [tokens.weak_text, tokens.surface],
            Cell::Category(id) => {
                let color = self.categories.get(usize::from(id)).copied();
                [color.unwrap_or(other_categories_color(tokens)); 2]
            }
            Cell::AlwaysLive => [tokens.always_live; 2],
            Cell::NotAlwaysLive => [tokens.temporary; 2],
            Cell::Several => [tokens.accent; 2],
            Cell::GapShare(share) => {
                let share = f32::from(share) / 255.0;
                [tokens.heat(share); 2]
            }
        }
    }

    /// A map as a picture, a pixel a cell.
    pub fn image(&self, map: &ChipMap) -> ColorImage {
        let color = |(index, cell): (usize, &Cell)| {
            let (row, column) = (index / map.columns.max(1), index % map.columns.max(1));
            // Squares of two pixels: single ones would look grey.
            let [even, odd] = self.of(*cell);
            if (row / 2 + column / 2).is_multiple_of(2) { even } else { odd }
        };
        let pixels = map.cells.iter().enumerate().map(color).collect();
        ColorImage::new([map.columns, map.rows], pixels)
    }
}

pub fn legend_ui(ui: &mut egui::Ui, colors: &Colors, colour_by: ColourBy, is_at_step: bool) {
    let mut entries: Vec<(&str, [Color32; 2])> = Vec::new();
    match colour_by {
        ColourBy::Category => {
            entries.extend(colors.titles.iter().map(|(title, color)| (&**title, [*color; 2])));
            if colors.has_others {
                entries.push(("Others", [other_categories_color(&colors.tokens); 2]));
            }
        }
        ColourBy::Liveness => {
            let live = if is_at_step { "Live at the step" } else { "Not always live" };
            entries.push(("Always live", colors.of(Cell::AlwaysLive)));
            entries.push((live, colors.of(Cell::NotAlwaysLive)));
            let several = ("Several variables", colors.of(Cell::Several));
            entries.extend((!is_at_step).then_some(several));
        }
        ColourBy::Gaps => {
            let shares = [("No gap", 0), ("Half gaps", 128), ("Gaps only", 255)];
            entries.extend(shares.map(|(title, share)| (title, colors.of(Cell::GapShare(share)))));
        }
    }
    if colour_by != ColourBy::Gaps {
        entries.push(("Gap", colors.of(Cell::Gap)));
        if is_at_step {
            entries.push(("Free at the step", colors.of(Cell::Free)));
        }
    }
    for (title, [even, odd]) in entries {
        label_ui(ui, Patch::Chequered(even, odd), title);
    }
}
