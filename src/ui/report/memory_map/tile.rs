//! Which tile is shown, and what there is to say of it in one line.

use eframe::egui;
use std::cell::OnceCell;

use eframe::egui::{Key, Label, RichText, TextEdit};

use super::read::TileData;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::totals;
use crate::store::memory::TileMemory;
use crate::store::{Report, TileId};
use crate::text::{grouped, shortened};
use crate::ui::report::PageContext;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

/// What is remembered of the choice.
#[derive(Debug, Default)]
pub struct TileChoice {
    tile: Option<TileId>,
    typed: Option<String>,
    fullest: OnceCell<Option<TileId>>,
}

impl TileChoice {
    /// The tile: the one that was shown, as long as it is selected, else the first selected one, else
    /// the fullest.
    pub fn tile(
        &mut self,
        report: &Report,
        selection: &TileSelection,
        memory: &TileMemory,
    ) -> TileId {
        let fullest = *self
            .fullest
            .get_or_init(|| memory.tiles.get(totals(memory, report.target.get()).fullest?));
        let shown = self.tile.filter(|tile| selection.contains(*tile));
        let tile = shown.or(selection.first()).or(fullest).or(memory.tiles.get(0));
        let tile = tile.unwrap_or(TileId(0));
        self.tile = Some(tile);
        tile
    }

    /// Shows a tile; it is selected where it was not.
    pub fn show(&mut self, tile: TileId, selection: &mut TileSelection) {
        if !selection.contains(tile) {
            *selection = TileSelection::one(tile);
        }
        self.tile = Some(tile);
        self.typed = None;
    }

    /// Draws the field and the buttons.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, memory: &TileMemory) {
        let tile = self.tile(page.report, &page.selection.tiles, memory);
        let tiles = memory.tiles.as_slice();
        let place = memory.tiles.position(tile);
        let label = ui.label("Tile");
        let mut text = self.typed.clone().unwrap_or_else(|| tile.to_string());
        let typed = |text: &str| {
            let wanted = text.trim().parse().ok().map(TileId);
            wanted.filter(|tile| memory.tiles.position(*tile).is_some())
        };
        let mut field = TextEdit::singleline(&mut text).desired_width(56.0);
        if self.typed.as_deref().is_some_and(|text| typed(text).is_none()) {
            field = field.text_color(Tokens::now(ui).bad);
        }
        let field = ui.add(field).labelled_by(label.id);
        if field.changed() {
            self.typed = Some(text.clone());
        }
        let mut wanted = None;
        if field.lost_focus() {
            if ui.input(|input| input.key_pressed(Key::Enter)) {
                wanted = typed(&text);
            }
            self.typed = None;
        }
        field.on_hover_text("Type the number of a tile and press Enter");
        ui.spacing_mut().item_spacing.x = 4.0;
        for (sign, name, to) in [
            ("‹", "Tile before", place.and_then(|place| place.checked_sub(1))),
            ("›", "Tile after", place.map(|place| place + 1)),
        ] {
            let to = to.and_then(|place| tiles.get(place)).copied();
            let button = ui.add_enabled(to.is_some(), egui::Button::new(sign));
            if button.accessible_name(name).on_hover_text(name).clicked() {
                wanted = to;
            }
        }
        let fullest = self.fullest.get().copied().flatten();
        let button = ui.add_enabled(fullest.is_some(), egui::Button::new("Fullest"));
        if button.on_hover_text("The tile with most bytes, gaps included").clicked() {
            wanted = fullest;
        }
        if let Some(tile) = wanted {
            self.show(tile, &mut page.selection.tiles);
        }
    }
}

/// What there is to say of a tile.
pub fn facts_ui(ui: &mut egui::Ui, report: &Report, data: &TileData) {
    let units = Units::now(ui);
    let map = &data.map;
    let ipu = report.target.get().and_then(|target| target.ipu_of(data.tile));
    let ipu = ipu.map_or_else(String::new, |ipu| format!(" of IPU {ipu}"));
    let gaps: u64 = map.gaps_by_reason().values().map(|total| total.bytes).sum();
    let mut text = format!(
        "Tile {}{ipu}: {} with gaps, {} of gaps, {} variables",
        data.tile,
        units.bytes(map.end),
        units.bytes(gaps),
        grouped(map.blocks.len() as u64),
    );
    if let Some(problem) = &data.problem {
        text = format!("{text}; names are not there: {}", shortened(problem, 80));
    }
    let over = map.limit.filter(|limit| map.end > *limit).map(|limit| map.end - limit);
    if let Some(over) = over {
        let over = format!("{} over the limit", units.bytes(over));
        let over = RichText::new(over).strong().color(Tokens::now(ui).bad);
        ui.add(Label::new(over).extend());
    }
    ui.add(Label::new(RichText::new(text).weak()).truncate());
}
