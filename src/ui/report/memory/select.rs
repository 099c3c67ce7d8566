//! Choosing tiles: clicks, ranges, keys and a text such as `0-15,952`.

use eframe::egui::{self, Key, RichText, TextEdit};
use std::ops::Range;

use super::axis::TileAxis;
use crate::analysis::memory::selection::{TileSelection, tiles_of_text};
use crate::analysis::memory::sum_of_rows;
use crate::analysis::memory::tile_order::selected_rows;
use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::store::memory::TileMemory;
use crate::store::target::Target;
use crate::text::{grouped, in_turn};
use crate::ui::report::tile_figures::tile_text;
use crate::ui::report::{bytes_or_dash, change_text};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::curve::CurveClick;

/// A selection of more ranges than this is not written out in the field.
const MOST_WRITTEN: usize = 200;

#[derive(Default)]
pub struct Selecting {
    /// Where a range begins that Shift extends.
    anchor: Option<TileId>,
    /// The tile that was reached last.
    cursor: Option<TileId>,
    dragged: Option<(usize, usize)>,
    /// The text as it is being typed.
    typed: Option<String>,
    error: Option<String>,
    facts: Option<SelectionFacts>,
}

/// What follows from a selection; made again when it changes.
struct SelectionFacts {
    selection: TileSelection,
    /// The version of what is shown.
    version: u64,
    text: String,
    positions: Vec<Range<usize>>,
    tiles: u64,
    /// Bytes with gaps in each run.
    bytes: Vec<Option<u64>>,
}

impl SelectionFacts {
    fn new(selection: &TileSelection, axis: &TileAxis, memories: &[&TileMemory]) -> Self {
        let rows = selected_rows(&axis.tiles, selection);
        let bytes = |memory: &&TileMemory| {
            let rows = selected_rows(&memory.tiles, selection).into_iter().flatten();
            sum_of_rows(&memory.including_gaps, rows)
        };
        let is_long = selection.ranges().len() > MOST_WRITTEN;
        Self {
            selection: selection.clone(),
            version: axis.version,
            text: if is_long { String::new() } else { selection.to_string() },
            positions: axis.selected(selection),
            tiles: rows.iter().map(|range| range.len() as u64).sum(),
            bytes: memories.iter().map(bytes).collect(),
        }
    }
}

impl Selecting {
    /// Follows a selection that may have been changed anywhere; `memories` are those of the runs.
    pub fn follow(&mut self, selection: &TileSelection, axis: &TileAxis, memories: &[&TileMemory]) {
        let is_current =
            |facts: &SelectionFacts| facts.selection == *selection && facts.version == axis.version;
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
        self.facts = Some(SelectionFacts::new(selection, axis, memories));
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
    pub fn click(&mut self, click: CurveClick, selection: &mut TileSelection, axis: &TileAxis) {
        let Some(tile) = axis.tile(click.position) else { return };
        let anchor = self.anchor.and_then(|anchor| axis.position(anchor));
        match anchor {
            Some(anchor) if click.is_range => {
                let (from, to) = (anchor.min(click.position), anchor.max(click.position));
                *selection = axis.tiles_at(from..to + 1);
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
        axis: &TileAxis,
    ) {
        if dragged == self.dragged {
            return;
        }
        if let Some((from, to)) = dragged {
            *selection = axis.tiles_at(from..to + 1);
            self.anchor = axis.tile(from);
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

    /// Draws the field with what is selected, and what comes after it; says whether a text was applied.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        target: Option<&Target>,
        tiles: &IdColumn<TileId>,
        selection: &mut TileSelection,
        after: impl FnOnce(&mut egui::Ui),
    ) -> bool {
        let mut is_applied = false;
        ui.horizontal_wrapped(|ui| {
            let facts = self.facts.as_ref();
            let now = facts.map_or("", |facts| facts.text.as_str());
            let mut text = self.typed.clone().unwrap_or_else(|| now.to_owned());
            let hint = match facts {
                Some(facts) if facts.tiles > 0 => format!("{} tiles", grouped(facts.tiles)),
                _ => "Tiles, e.g. 0-15, 952".to_owned(),
            };
            let field = TextEdit::singleline(&mut text).hint_text(hint).desired_width(150.0);
            let field = ui.add(field).accessible_name("Select tiles");
            if field.changed() {
                self.typed = Some(text);
                self.error = None;
            }
            if field.lost_focus() {
                if !ui.input(|input| input.key_pressed(Key::Enter)) {
                    self.typed = self.typed.take().filter(|_| self.error.is_some());
                } else if let Some(typed) = &self.typed {
                    match tiles_of_text(typed, tiles) {
                        Ok(wanted) => {
                            *selection = wanted;
                            self.typed = None;
                            is_applied = true;
                        }
                        Err(error) => self.error = Some(error),
                    }
                }
            }
            field.on_hover_text(
                "Tile numbers and ranges; press Enter to select them. Or click a tile in the picture, or drag over \
                 some; Shift extends, Ctrl adds",
            );
            let deselect = ui.add_enabled(!selection.is_empty(), egui::Button::new("Deselect"));
            let what = match facts.map_or(0, |facts| facts.tiles) {
                0 => "Deselect".to_owned(),
                1 => format!("Deselect tile {}", selection.first().map_or(0, |tile| tile.0)),
                count => format!("Deselect {} tiles", grouped(count)),
            };
            if deselect.accessible_name(what).clicked() {
                *selection = TileSelection::default();
            }
            self.facts_ui(ui, target);
            after(ui);
        });
        is_applied
    }

    /// What is selected, or what is wrong with the text.
    fn facts_ui(&self, ui: &mut egui::Ui, target: Option<&Target>) {
        let Some(facts) = &self.facts else { return };
        let text = if let Some(error) = &self.error {
            RichText::new(error).color(Tokens::now(ui).over).strong()
        } else if facts.tiles > 0 {
            let bytes = bytes_text(&facts.bytes, Units::now(ui));
            let tiles = match facts.selection.first() {
                Some(tile) if facts.tiles == 1 => tile_text(target, tile),
                _ => format!("{} tiles", grouped(facts.tiles)),
            };
            RichText::new(format!("{tiles}: {bytes}"))
        } else {
            return;
        };
        ui.add(egui::Label::new(text));
        ui.add_space(8.0);
    }
}

/// Bytes with gaps of every run, of two with the difference.
fn bytes_text(bytes: &[Option<u64>], units: Units) -> String {
    match bytes {
        [Some(source), Some(target)] => {
            let change = change_text(*source, *target, units);
            let (source, target) = (units.bytes(*source), units.bytes(*target));
            format!("{source} → {target} with gaps, {change}")
        }
        bytes => {
            let bytes: Vec<_> = bytes.iter().map(|bytes| bytes_or_dash(*bytes, units)).collect();
            format!("{} with gaps", in_turn(&bytes))
        }
    }
}
