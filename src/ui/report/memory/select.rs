//! Choosing tiles: clicks, ranges, keys and a text such as `0-15,952`.

use eframe::egui;
use eframe::egui::{Key, RichText, TextEdit};
use std::ops::Range;

use super::shown::Shown;
use crate::analysis::memory::sum_of_rows;
use crate::analysis::selection::TileSelection;
use crate::analysis::tile_order::selected_rows;
use crate::store::memory::TileMemory;
use crate::store::target::Target;
use crate::store::{Report, TileId};
use crate::text::{grouped, shortened};
use crate::ui::report::bytes_or_dash;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::curve::Click;

/// A selection of more ranges than this is not written out in the field.
const MOST_WRITTEN: usize = 200;

/// What is remembered of how tiles were selected.
#[derive(Debug, Default)]
pub struct Selecting {
    /// Where a range begins that Shift extends.
    anchor: Option<TileId>,
    /// The tile that was reached last.
    cursor: Option<TileId>,
    dragged: Option<(usize, usize)>,
    /// The text as it is being typed.
    typed: Option<String>,
    error: Option<String>,
    /// What follows from the selection.
    facts: Option<Facts>,
}

/// What follows from a selection; made again when it changes.
#[derive(Debug)]
struct Facts {
    selection: TileSelection,
    /// The version of what is shown.
    version: u64,
    text: String,
    positions: Vec<Range<usize>>,
    tiles: u64,
    bytes: Option<u64>,
}

impl Facts {
    fn new(selection: &TileSelection, memory: &TileMemory, shown: &Shown) -> Self {
        let rows = selected_rows(memory, selection);
        let is_long = selection.ranges().len() > MOST_WRITTEN;
        Self {
            selection: selection.clone(),
            version: shown.version,
            text: if is_long { String::new() } else { selection.to_string() },
            positions: shown.selected(memory, selection),
            tiles: rows.iter().map(|range| range.len() as u64).sum(),
            bytes: sum_of_rows(&memory.including_gaps, rows.into_iter().flatten()),
        }
    }
}

impl Selecting {
    /// Follows a selection that may have been changed anywhere.
    pub fn follow(&mut self, selection: &TileSelection, memory: &TileMemory, shown: &Shown) {
        let is_current =
            |facts: &Facts| facts.selection == *selection && facts.version == shown.version;
        if self.facts.as_ref().is_some_and(is_current) {
            return;
        }
        if self.facts.as_ref().is_none_or(|facts| facts.selection != *selection) {
            self.typed = None;
            self.error = None;
        }
        let is_selected = |tile: &TileId| selection.contains(*tile);
        self.anchor = self.anchor.filter(is_selected).or(selection.first());
        self.cursor = self.cursor.filter(is_selected);
        self.facts = Some(Facts::new(selection, memory, shown));
    }

    /// Where selected tiles are shown, ranges that ascend.
    pub fn positions(&self) -> &[Range<usize>] {
        self.facts.as_ref().map_or(&[], |facts| &facts.positions)
    }

    /// The tile that was reached last, else the first one.
    pub fn cursor(&self) -> Option<TileId> {
        self.cursor.or(self.anchor)
    }

    /// Carries out a click, or a step with the keyboard.
    pub fn click(
        &mut self,
        click: Click,
        selection: &mut TileSelection,
        (memory, shown): (&TileMemory, &Shown),
    ) {
        let Some(tile) = shown.tile(memory, click.position) else { return };
        let anchor = self.anchor.and_then(|anchor| shown.position(memory, anchor));
        match anchor {
            Some(anchor) if click.is_range => {
                let (from, to) = (anchor.min(click.position), anchor.max(click.position));
                *selection = shown.tiles(memory, from..to + 1);
            }
            _ => {
                if click.is_added {
                    selection.toggle(tile);
                } else {
                    *selection = TileSelection::one(tile);
                }
                self.anchor = Some(tile);
            }
        }
        self.cursor = Some(tile);
    }

    /// Follows a range that is being dragged over; without one the drag is over.
    pub fn drag(
        &mut self,
        dragged: Option<(usize, usize)>,
        selection: &mut TileSelection,
        (memory, shown): (&TileMemory, &Shown),
    ) {
        if dragged == self.dragged {
            return;
        }
        if let Some((from, to)) = dragged {
            *selection = shown.tiles(memory, from..to + 1);
            self.anchor = shown.tile(memory, from);
            self.cursor = None;
        }
        self.dragged = dragged;
    }

    /// Selects a tile that was chosen in a table.
    pub fn choose(&mut self, tile: TileId, is_added: bool, selection: &mut TileSelection) {
        if is_added {
            selection.toggle(tile);
        } else if *selection == TileSelection::one(tile) {
            *selection = TileSelection::default();
        } else {
            *selection = TileSelection::one(tile);
        }
        self.anchor = Some(tile);
        self.cursor = Some(tile);
    }

    /// Draws the field with what is selected; says whether a text was applied.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        report: &Report,
        memory: &TileMemory,
        selection: &mut TileSelection,
    ) -> bool {
        let mut is_applied = false;
        ui.horizontal(|ui| {
            let label = ui.label("Select tiles");
            let facts = self.facts.as_ref();
            let now = facts.map_or("", |facts| facts.text.as_str());
            let mut text = self.typed.clone().unwrap_or_else(|| now.to_owned());
            let hint = match facts {
                Some(facts) if facts.tiles > 0 => format!("{} tiles", grouped(facts.tiles)),
                _ => "Such as 0-15,952".to_owned(),
            };
            let field = TextEdit::singleline(&mut text).hint_text(hint).desired_width(190.0);
            let field = ui.add(field).labelled_by(label.id);
            if field.changed() {
                self.typed = Some(text);
                self.error = None;
            }
            if field.lost_focus() {
                if !ui.input(|input| input.key_pressed(Key::Enter)) {
                    self.typed = self.typed.take().filter(|_| self.error.is_some());
                } else if let Some(typed) = &self.typed {
                    match read(typed, memory) {
                        Ok(wanted) => {
                            *selection = wanted;
                            self.typed = None;
                            is_applied = true;
                        }
                        Err(error) => self.error = Some(error),
                    }
                }
            }
            field.on_hover_text("Tile numbers and ranges; press Enter to select them");
            let deselect = ui.add_enabled(!selection.is_empty(), egui::Button::new("Deselect"));
            let what = match facts.map_or(0, |facts| facts.tiles) {
                0 => "Deselect".to_owned(),
                1 => format!("Deselect tile {}", selection.first().map_or(0, |tile| tile.0)),
                count => format!("Deselect {} tiles", grouped(count)),
            };
            if deselect.accessible_name(what).clicked() {
                *selection = TileSelection::default();
            }
            self.facts_ui(ui, report);
        });
        is_applied
    }

    /// What is selected, what is wrong with the text, or how tiles are selected.
    fn facts_ui(&self, ui: &mut egui::Ui, report: &Report) {
        let Some(facts) = &self.facts else { return };
        let text = if let Some(error) = &self.error {
            RichText::new(error).color(Tokens::now(ui).bad).strong()
        } else if facts.tiles > 0 {
            let bytes = bytes_or_dash(facts.bytes, Units::now(ui));
            let tiles = match facts.selection.first() {
                Some(tile) if facts.tiles == 1 => tile_text(report.target.get(), tile),
                _ => format!("{} tiles", grouped(facts.tiles)),
            };
            RichText::new(format!("{tiles}: {bytes} with gaps"))
        } else {
            let text = "Click a tile in the picture or drag over some; Shift extends, Ctrl adds";
            RichText::new(text).weak()
        };
        ui.add(egui::Label::new(text).truncate());
    }
}

/// The name of a tile, with its IPU where that is known.
pub fn tile_text(target: Option<&Target>, tile: TileId) -> String {
    match target.and_then(|target| target.ipu_of(tile)) {
        Some(ipu) => format!("Tile {tile} of IPU {ipu}"),
        None => format!("Tile {tile}"),
    }
}

/// The tiles that a text names, or what is wrong with it.
fn read(text: &str, memory: &TileMemory) -> Result<TileSelection, String> {
    if text.trim().is_empty() {
        return Ok(TileSelection::default());
    }
    let selection: TileSelection =
        text.parse().map_err(|error: String| shortened(&error, 80).into_owned())?;
    let tiles = memory.tiles.as_slice();
    match selection.first_unknown(|tile| memory.tiles.position(tile).is_some()) {
        Some(tile) => {
            let range = match (tiles.first(), tiles.last()) {
                (Some(first), Some(last)) => format!(", whose tiles are from {first} to {last}"),
                _ => String::new(),
            };
            Err(format!("Tile {tile} is not in the report{range}"))
        }
        None => Ok(selection),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_names_no_tiles_is_explained() {
        let mut memory = TileMemory::default();
        for tile in [4, 5, 9] {
            memory.tiles.push(TileId(tile));
        }
        assert_eq!(read("5, 9", &memory).unwrap().to_string(), "5,9");
        assert!(read("  ", &memory).unwrap().is_empty());
        let error = read("4-9,12", &memory).unwrap_err();
        assert_eq!(error, "Tile 12 is not in the report, whose tiles are from 4 to 9");
        assert_eq!(read("4-x", &memory).unwrap_err(), "`x` is not a tile number");
        assert!(read(&"\u{202e}".repeat(9999), &memory).unwrap_err().len() < 1000);
    }
}
