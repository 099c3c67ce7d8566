//! The kinds of rectangles, their colors, and the legend.

use eframe::egui::{self, Color32, ColorImage};
use std::collections::{BTreeSet, HashMap};

use super::data::RunData;
use crate::analysis::areas::MOST_GROUPS;
use crate::analysis::memory::category_title;
use crate::analysis::placement::address_steps::{AddressCell, AddressPicture};
use crate::store::System;
use crate::store::ids::CategoryId;
use crate::text::shortened;
use crate::ui::report::areas::color_of_place;
use crate::ui::report::category_colors::{CategoryColors, category_color, other_categories_color};
use crate::ui::theme::Tokens;
use crate::ui::widget::choice::named_choice_ui;
use crate::ui::widget::legend::{Patch, by_color, entry_ui, label_ui};

/// Kinds that have a color of their own.
const MOST: usize = 8;
/// All others, and what belongs to no operation.
const OTHERS: u8 = 8;
const NONE: u8 = 9;
/// Added to the kind of what is always live.
const ALWAYS_LIVE: u8 = 16;
/// How strong the colors of what is always live are.
const ALWAYS_LIVE_STRENGTH: f32 = 0.62;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TileColorBy {
    #[default]
    Category,
    Operation,
    Layer,
    Liveness,
}

impl TileColorBy {
    fn title(self) -> &'static str {
        match self {
            Self::Category => "Category",
            Self::Operation => "Operation",
            Self::Layer => "Layer",
            Self::Liveness => "Liveness",
        }
    }

    pub fn ui(&mut self, ui: &mut egui::Ui, has_layers: bool) {
        let choices = [Self::Category, Self::Operation, Self::Layer, Self::Liveness];
        let choices = choices.into_iter().filter(|by| has_layers || *by != Self::Layer);
        named_choice_ui(ui, "Colors", 150.0, self, choices, |choice| choice.title())
            .on_hover_text("What the colors tell");
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariableKinds {
    /// What they tell.
    pub by: TileColorBy,
    /// Whose words titles have.
    system: System,
    /// Names of categories or operations with a color of their own, the same in all runs.
    named: Vec<String>,
    /// Number and title of each kind.
    titles: Vec<(u8, String)>,
    /// Numbers of those that are left out.
    hidden: Vec<u8>,
}

impl VariableKinds {
    pub fn of(
        by: TileColorBy,
        colors: &CategoryColors,
        runs: &[&RunData],
        hidden: Vec<u8>,
    ) -> Self {
        let named = match by {
            TileColorBy::Category => {
                let named = colors.coloured().iter();
                named.map(|category| category.name.clone().unwrap_or_default()).collect()
            }
            TileColorBy::Operation => largest(runs),
            TileColorBy::Layer => layers(runs),
            TileColorBy::Liveness => Vec::new(),
        };
        let system = runs.first().map(|data| data.tile.report.system).unwrap_or_default();
        let mut kinds = Self { by, system, named, titles: Vec::new(), hidden };
        let used = runs.iter().flat_map(|data| kinds.of_all(data));
        let used: BTreeSet<u8> = used.flatten().map(|kind| kind % ALWAYS_LIVE).collect();
        kinds.titles = used.into_iter().map(|kind| (kind, kinds.title(kind))).collect();
        kinds
    }

    /// The kind of each variable of a run by row, nothing for what is left out.
    pub fn of_rows(&self, data: &RunData) -> Vec<Option<u8>> {
        let mut kinds = self.of_all(data);
        for kind in &mut kinds {
            *kind = kind.filter(|kind| !self.hidden.contains(&(kind % ALWAYS_LIVE)));
        }
        kinds
    }

    fn of_all(&self, data: &RunData) -> Vec<Option<u8>> {
        let mut kinds = vec![None; data.tile.placed.placements.len()];
        let place = |name: Option<&str>| {
            let place = self.named.iter().position(|other| Some(other.as_str()) == name);
            place.and_then(|place| u8::try_from(place).ok()).unwrap_or(OTHERS)
        };
        // Many variables, few categories and operations: each is looked up once.
        let of_operation = data.operations.iter().map(|operation| match self.by {
            TileColorBy::Layer => operation.layer.as_deref().map_or(NONE, |name| place(Some(name))),
            _ => place(Some(&operation.name)),
        });
        let of_operation: Vec<u8> = of_operation.collect();
        let mut of_category: HashMap<CategoryId, u8> = HashMap::new();
        for block in &data.tile.map.blocks {
            let row = block.row as usize;
            let kind = match self.by {
                TileColorBy::Category => block.category.map_or(OTHERS, |id| {
                    *of_category.entry(id).or_insert_with(|| {
                        place(data.tile.report.categories.get().and_then(|names| names.name(id)))
                    })
                }),
                TileColorBy::Operation | TileColorBy::Layer => {
                    let operation = data.place_of_operation(block.row);
                    operation.map_or(NONE, |place| of_operation.get(place).copied().unwrap_or(NONE))
                }
                TileColorBy::Liveness => u8::from(!block.is_always_live),
            };
            if let Some(place) = kinds.get_mut(row) {
                *place = Some(kind + if block.is_always_live { ALWAYS_LIVE } else { 0 });
            }
        }
        kinds
    }

    fn title(&self, kind: u8) -> String {
        let named = self.named.get(usize::from(kind)).map_or("", String::as_str);
        match (self.by, kind) {
            (TileColorBy::Category, OTHERS) => "Other categories".to_owned(),
            (TileColorBy::Category, _) => category_title(&shortened(named, 40)),
            (TileColorBy::Operation, OTHERS) => "Other operations".to_owned(),
            (TileColorBy::Operation, NONE) => "No operation".to_owned(),
            (TileColorBy::Layer, OTHERS) => "Other layers".to_owned(),
            (TileColorBy::Layer, NONE) => "No layer".to_owned(),
            (TileColorBy::Operation | TileColorBy::Layer, _) => shortened(named, 40).into_owned(),
            (TileColorBy::Liveness, 0) => self.system.always_live.to_owned(),
            (TileColorBy::Liveness, _) => self.system.not_always_live.to_owned(),
        }
    }

    fn color(&self, tokens: &Tokens, kind: u8) -> Color32 {
        match (self.by, kind) {
            (TileColorBy::Liveness, 0) => tokens.always_live,
            (TileColorBy::Liveness, _) => tokens.temporary,
            (_, OTHERS) => other_categories_color(tokens),
            (TileColorBy::Category, _) => {
                category_color(self.named.get(usize::from(kind)).map_or("", String::as_str), tokens)
            }
            (TileColorBy::Layer, ..OTHERS) => color_of_place(usize::from(kind), tokens),
            _ => tokens.ordered(usize::from(kind)),
        }
    }

    /// The color of a kind of [`Self::of_rows`]; what is always live is paler.
    pub fn fill(&self, tokens: &Tokens, kind: u8) -> Color32 {
        let color = self.color(tokens, kind % ALWAYS_LIVE);
        if kind < ALWAYS_LIVE || self.by == TileColorBy::Liveness {
            return color;
        }
        tokens.surface.lerp_to_gamma(color, ALWAYS_LIVE_STRENGTH)
    }

    /// Draws the legend, whose entries switch what they name; returns what is left out then.
    pub fn legend_ui(&self, ui: &mut egui::Ui) -> Option<Vec<u8>> {
        let tokens = Tokens::now(ui);
        let mut switched = None;
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(14.0, 2.0);
            let colored = self.titles.iter().map(|entry| (entry, self.color(tokens, entry.0)));
            for ((kind, title), patch) in by_color(colored) {
                let mut is_on = !self.hidden.contains(kind);
                if entry_ui(ui, patch, title, &mut is_on).changed() {
                    switched = Some(*kind);
                }
            }
            label_ui(ui, Patch::Hatch(tokens.gap), "Gap or free");
        });
        let (kind, mut hidden) = (switched?, self.hidden.clone());
        match hidden.iter().position(|other| *other == kind) {
            Some(place) => drop(hidden.remove(place)),
            None => hidden.push(kind),
        }
        Some(hidden)
    }

    /// A picture of cells, the highest addresses at the top. What nothing has is not covered: there is the
    /// ground.
    pub fn image(&self, picture: &AddressPicture, tokens: &Tokens) -> ColorImage {
        let palette: Vec<Color32> =
            (0..=NONE + ALWAYS_LIVE).map(|kind| self.fill(tokens, kind)).collect();
        let palette = &palette;
        let rows = picture.cells.chunks(picture.columns.max(1)).rev();
        let pixels = rows.flatten().map(|cell| match cell {
            AddressCell::Kind(kind) => {
                palette.get(usize::from(*kind)).copied().unwrap_or(tokens.gap)
            }
            AddressCell::Gap | AddressCell::Free | AddressCell::Beyond => Color32::TRANSPARENT,
        });
        ColorImage::new([picture.columns, picture.rows], pixels.collect())
    }
}

/// The operations that have most bytes × steps in all runs together.
fn largest(runs: &[&RunData]) -> Vec<String> {
    let mut sizes: HashMap<&str, u128> = HashMap::new();
    for operation in runs.iter().flat_map(|data| &data.operations) {
        let sum = sizes.entry(&operation.name).or_default();
        *sum = sum.saturating_add(operation.size);
    }
    let mut list: Vec<(&str, u128)> = sizes.into_iter().collect();
    list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    list.into_iter().take(MOST).map(|(name, _)| name.to_owned()).collect()
}

/// The largest layers, those of the reference first.
fn layers(runs: &[&RunData]) -> Vec<String> {
    let mut layers: Vec<String> = Vec::new();
    for layer in runs.iter().flat_map(|data| &data.layers) {
        if layers.len() < MOST_GROUPS && !layers.contains(layer) {
            layers.push(layer.clone());
        }
    }
    layers
}
