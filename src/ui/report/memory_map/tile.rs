//! Which tile is shown, and what there is to say of it in one line.

use eframe::egui::{self, Key, Label, RichText, TextEdit};

use super::read::TileData;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::totals;
use crate::store::TileId;
use crate::store::memory::TileMemory;
use crate::text::{grouped, shortened};
use crate::ui::report::{PageContext, change_color, change_text};
use crate::ui::runs::{Run, RunId};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

#[derive(Default)]
pub struct TileChoice {
    tile: Option<TileId>,
    typed: Option<String>,
    /// The fullest tile of the reference.
    fullest: Option<(RunId, Option<TileId>)>,
}

impl TileChoice {
    /// The tile: the one that was shown, as long as it is selected, else the first selected one, else
    /// the fullest of the reference.
    pub fn tile(&mut self, run: &Run, memory: &TileMemory, selection: &TileSelection) -> TileId {
        if self.fullest.is_none_or(|(of, _)| of != run.id) {
            let fullest = totals(memory, run.report.target.get()).fullest;
            self.fullest = Some((run.id, fullest.and_then(|fullest| memory.tiles.get(fullest))));
        }
        let fullest = self.fullest.and_then(|(_, fullest)| fullest);
        let shown = self.tile.filter(|tile| selection.contains(*tile));
        let tile = shown.or(selection.first()).or(fullest).or(memory.tiles.get(0));
        let tile = tile.unwrap_or(TileId(0));
        self.tile = Some(tile);
        tile
    }

    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, memory: &TileMemory) {
        let tile = self.tile(page.runs.reference(), memory, &page.selection.tiles);
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
        let fullest = self.fullest.and_then(|(_, fullest)| fullest);
        let button = ui.add_enabled(fullest.is_some(), egui::Button::new("Fullest"));
        if button.on_hover_text("The tile with most bytes, gaps included").clicked() {
            wanted = fullest;
        }
        if let Some(tile) = wanted {
            // It is selected where it was not.
            if !page.selection.tiles.contains(tile) {
                page.selection.tiles = TileSelection::one(tile);
            }
            self.tile = Some(tile);
            self.typed = None;
        }
    }
}

/// What there is to say of a tile: of several runs one after the other.
pub fn facts_ui(ui: &mut egui::Ui, tiles: &[&TileData]) {
    let units = Units::now(ui);
    let of_all = |text: &dyn Fn(&TileData) -> String| {
        tiles.iter().map(|data| text(data)).collect::<Vec<_>>().join(" → ")
    };
    let mut text = format!(
        "{} with gaps, {} of gaps, {} variables",
        of_all(&|data| units.bytes(data.map.end)),
        of_all(&|data| units.bytes(data.gap_bytes())),
        of_all(&|data| grouped(data.map.blocks.len() as u64)),
    );
    let mut strong = None;
    match tiles {
        [data] => {
            let map = &data.map;
            let target = data.report.target.get();
            let ipu = target.and_then(|target| target.ipu_of(data.tile));
            let ipu = ipu.map_or_else(String::new, |ipu| format!(" of IPU {ipu}"));
            text = format!("Tile {}{ipu}: {text}", data.tile);
            let over = map.limit.filter(|limit| map.end > *limit).map(|limit| map.end - limit);
            strong = over
                .map(|over| (format!("{} over the limit", units.bytes(over)), Tokens::now(ui).bad));
        }
        [source, target] => {
            let (from, to) = (source.map.end, target.map.end);
            strong = Some((change_text(from, to, units), change_color(ui, from, to)));
        }
        _ => {}
    }
    if let Some(problem) = tiles.iter().find_map(|data| data.problem.as_ref()) {
        text = format!("{text}; names are not there: {}", shortened(problem, 80));
    }
    if let Some((text, color)) = strong {
        ui.add(Label::new(RichText::new(text).strong().color(color)).extend());
    }
    ui.add(Label::new(RichText::new(text).weak()).truncate());
}
