//! The memory map: every variable of a tile at its address, with the gaps between and why they are. Of
//! several runs a picture each, with the same addresses above each other.

mod all_gaps;
mod choices;
mod paint;
mod picture;
mod pictures;
mod read;
mod reasons;
mod search;
mod tables;
mod tile;
mod tooltip;
mod variables;
mod views;
mod words;

use eframe::egui;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::category_colors::{AskedColors, CategoryColors};
use super::step_choice::step_choice_ui;
use super::{PageContext, tables_height};
use crate::store::ArenaId;
use crate::ui::job::Same;
use crate::ui::runs::{Run, RunId, Runs};
use crate::ui::selection::Selection;
use crate::ui::split;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::hatch::Hatching;
use crate::ui::widget::overview::Overview;
use crate::ui::widget::place_menu::PictureMenu;
use crate::ui::widget::toolbar::Toolbar;
use crate::ui::widget::view::View;
use choices::Choices;
use paint::Scene;
pub use picture::Hit;
use read::{AtStep, Marks, Wanted};
pub use read::{TileData, TileReading};
use tables::{Chosen, Tables};
pub use tile::{TileChoice, facts_ui};
pub use tooltip::hit_ui;
pub use views::{MemoryView, arena_places, has_tiles, views_ui};

/// What is shown beside something that fills the picture, as a part of its size.
const MARGIN: f64 = 0.25;

#[derive(Default)]
pub struct MemoryMap {
    tile: TileChoice,
    readings: BTreeMap<RunId, TileReading>,
    choices: Choices,
    search: search::Search,
    view: View,
    /// The tile that the view is of.
    viewed: Option<ArenaId>,
    toolbar: Toolbar,
    overview: BinCache,
    hatching: Hatching,
    tables: Tables,
    /// The rows of the variable that was chosen.
    chosen: BTreeMap<RunId, u32>,
    /// The address under the pointer in the map of a run.
    pointed: Option<(RunId, u64)>,
    /// Of the variable that was clicked; of a gap without a name.
    menu: PictureMenu<Option<String>>,
}

struct RunTile {
    run: RunId,
    data: Arc<TileData>,
    at_step: Option<Arc<AtStep>>,
    marks: Arc<Marks>,
}

struct RunTiles {
    colors: Arc<CategoryColors>,
    /// For each run, where it is there.
    of_runs: Vec<Option<RunTile>>,
    /// Bytes of the axis that all share.
    len: usize,
}

impl RunTiles {
    fn iter(&self) -> impl Iterator<Item = &RunTile> {
        self.of_runs.iter().flatten()
    }

    /// The tile in each run, by which answers about others are told apart.
    fn same(&self) -> Vec<Option<Same<TileData>>> {
        let same = |tile: &Option<RunTile>| Some(Same(Arc::clone(&tile.as_ref()?.data)));
        self.of_runs.iter().map(same).collect()
    }

    fn scene<'a>(&'a self, place: usize, chosen: &BTreeMap<RunId, u32>) -> Option<Scene<'a>> {
        let tile = self.of_runs.get(place)?.as_ref()?;
        Some(Scene {
            place,
            colors: &self.colors,
            data: &tile.data,
            at_step: tile.at_step.as_deref(),
            marks: &tile.marks,
            chosen: chosen.get(&tile.run).copied(),
        })
    }
}

/// Says that what is shown here is being read.
pub fn reading_ui(ui: &mut egui::Ui, runs: &Runs) {
    absent_ui(ui, &format!("The {} is being read", runs.system().arena_in_text), "");
}

impl MemoryMap {
    /// The same part of the same tile of reports that were read again.
    pub fn of_other_figures(self) -> Self {
        let Self { tile, choices, view, viewed, .. } = self;
        Self { tile, choices, view, viewed, ..Self::default() }
    }

    /// Draws the map; `views` draws the choice of what the page shows.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        colors: &mut AskedColors,
        views: impl FnOnce(&mut egui::Ui),
    ) {
        let runs = page.runs;
        let reference = runs.reference();
        let Some(arenas) = reference.report.arenas.get() else { return };
        let arena = self.tile.arena(reference, arenas, &page.selection.tiles);
        if self.viewed.replace(arena) != Some(arena) {
            self.view.reset();
            self.chosen.clear();
        }
        ui.horizontal(|ui| {
            views(ui);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                self.choices.ui(ui, page.selection.slot(runs).is_some());
            });
        });
        let Some(found_colors) = colors.ask(ui, runs) else {
            ui.weak(colors.waiting());
            return;
        };
        let Some(tiles) = self.read(ui, page, arena, found_colors) else {
            ui.horizontal(|ui| self.tile.ui(ui, page, arenas));
            match self.readings.get(&reference.id).and_then(|read| read.why_not(&reference.report))
            {
                Some(why_not) => absent_ui(ui, "The map is not in this report", &why_not),
                None => reading_ui(ui, runs),
            }
            return;
        };
        self.follow(page.selection, &tiles);
        ui.horizontal(|ui| {
            self.tile.ui(ui, page, arenas);
            ui.separator();
            self.search_ui(ui, page.selection, &tiles);
            ui.separator();
            let of_runs: Vec<&TileData> = tiles.iter().map(|tile| &*tile.data).collect();
            facts_ui(ui, &of_runs);
        });
        let peak = |tile: &Option<RunTile>| tile.as_ref()?.data.peak;
        let peaks: Vec<Option<usize>> = tiles.of_runs.iter().map(peak).collect();
        step_choice_ui(ui, page, &peaks, &format!("this {}", runs.system().arena_in_text));
        let longest = tiles.iter().map(|tile| &tile.data).max_by_key(|data| data.len());
        let overview = Overview {
            values: Values::Known(longest.map_or(&[], |data| &data.crowd)),
            len: tiles.len,
            base: 0,
            version: longest.map_or(0, |data| data.version),
            top: longest.and_then(|data| data.crowd.iter().max().copied()).unwrap_or(0),
            cache: &mut self.overview,
        };
        let picture = ["memory map", "memory maps of both", "memory maps of all runs"];
        let picture = runs.of_number(picture);
        self.toolbar.ui(ui, picture, &mut self.view, overview, page.commands);
        // Pictures of several runs need more of the page.
        let (splitter, least, share) = if runs.is_one() {
            ("memory map tables", 200.0, 1.0)
        } else {
            ("memory map table of two", 260.0, 0.55)
        };
        let max = (ui.available_height() - least).max(80.0);
        let chosen = split::below(ui, splitter, tables_height(ui) * share, 60.0..=max, |ui| {
            self.tables.ui(ui, page, &tiles, &self.chosen)
        });
        match chosen {
            Some(Chosen::Bytes(bytes)) => self.show(&tiles, &bytes, 1.0),
            Some(Chosen::Variable(rows)) => {
                self.choose(page.selection, &tiles, rows);
                let bytes = |tile: &RunTile| tile.data.bytes_of(*self.chosen.get(&tile.run)?);
                if let Some(bytes) = tiles.iter().find_map(bytes) {
                    self.show(&tiles, &bytes, 1.0);
                }
            }
            None => {}
        }
        let margin = egui::Margin { bottom: 6, ..Default::default() };
        split::rest(ui, margin, |ui| self.pictures_ui(ui, page, &tiles));
    }

    /// Asks for the tile in all runs, for the step and for what is marked; `None` where nothing is there.
    fn read(
        &mut self,
        ui: &egui::Ui,
        page: &PageContext<'_>,
        arena: ArenaId,
        colors: Arc<CategoryColors>,
    ) -> Option<RunTiles> {
        let runs = page.runs;
        self.readings.retain(|id, _| runs.position(*id).is_some());
        let wanted = Wanted {
            search: self.search.text.trim().to_owned(),
            selected: page.selection.variable().cloned(),
        };
        let slot = page.selection.slot(runs);
        let of_run = |(place, run): (usize, &Run)| {
            let reading = self.readings.entry(run.id).or_default();
            let data = reading.tile(ui.ctx(), run, arena)?;
            let step = slot.and_then(|slot| runs.axis()?.step_at_or_before(place, slot));
            let at_step = step.and_then(|step| reading.at_step(ui.ctx(), &data, step));
            let marks = reading.marks(ui.ctx(), &data, &wanted);
            Some(RunTile { run: run.id, data, at_step, marks })
        };
        let of_runs: Vec<_> = runs.iter().enumerate().map(of_run).collect();
        let len = of_runs.iter().flatten().map(|tile| tile.data.len()).max()?;
        Some(RunTiles { colors, of_runs, len })
    }

    /// Goes through the first run in which the search finds something.
    fn search_ui(&mut self, ui: &mut egui::Ui, selection: &mut Selection, tiles: &RunTiles) {
        let found = tiles.iter().find(|tile| !tile.marks.found_blocks.is_empty());
        let Some(tile) = found.or(tiles.iter().next()) else { return };
        if let Some(place) = self.search.ui(ui, &tile.marks)
            && let Some(block) = tile.data.map.blocks.get(place as usize)
        {
            self.choose(selection, tiles, [(tile.run, block.row)]);
            self.show(tiles, &(block.offset..block.end), 3.0);
        }
    }

    /// Forgets what was chosen when something else is selected.
    fn follow(&mut self, selection: &Selection, tiles: &RunTiles) {
        let mut names =
            tiles.iter().filter_map(|tile| tile.data.unlowered_name(*self.chosen.get(&tile.run)?));
        if names.next().is_some_and(|name| selection.variable() != Some(&name)) {
            drop(names);
            self.chosen.clear();
        }
    }

    /// Chooses a variable, which selects the one that it was lowered from, in all runs.
    fn choose(
        &mut self,
        selection: &mut Selection,
        tiles: &RunTiles,
        rows: impl IntoIterator<Item = (RunId, u32)>,
    ) {
        self.chosen = rows.into_iter().collect();
        let name = |tile: &RunTile| tile.data.unlowered_name(*self.chosen.get(&tile.run)?);
        selection.select_variable(tiles.iter().find_map(name));
    }

    /// Lets bytes fill the pictures, with a margin as a part of their number.
    fn show(&mut self, tiles: &RunTiles, bytes: &Range<u64>, margin: f64) {
        let size = (bytes.end.saturating_sub(bytes.start) as f64).max(1.0);
        let (start, end) = (bytes.start as f64 - 0.5, bytes.end as f64 - 0.5);
        self.view.show(tiles.len, start - size * margin, end + size * margin);
    }
}
