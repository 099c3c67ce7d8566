//! One tile, or another arena: addresses over steps, in which every variable is a rectangle, and at its right the
//! tile at a step with names; below the tables, beside it the inspector. It shows fragmentation and reuse at once.
//!
//! A picture is an image of what is visible, a pixel a cell, that a job computes; a frame only goes through
//! the rectangles for edges and outlines. Pictures of several runs lie beside or below each other and move
//! together.

mod all_gaps;
mod answer;
mod choice;
mod data;
mod holder;
mod inspector;
mod kinds;
mod labels;
mod over_table;
mod paint;
mod picture;
mod pictures;
mod place_tooltip;
mod read;
mod reasons;
mod search;
mod step_menu;
mod strip;
mod tables;
mod tooltip;
mod variables;
mod words;

use eframe::egui::{self, Align, Layout, Margin};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::super::category_colors::{AskedColors, CategoryColors};
use super::super::machines::has_tiles;
use super::super::{PageContext, most_of_tables, tables_height};
use super::MapView;
use super::summary::AskedTiles;
use crate::analysis::liveness::{Scope, scope_title};
use crate::store::{ArenaId, Report};
use crate::ui::job::{Latest, Same};
use crate::ui::report::variable_details::ShownDetails;
use crate::ui::runs::{Run, RunId, Runs};
use crate::ui::split;
use crate::ui::theme::{CONTROL_HEIGHT, Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::exports::{answer_of_exports, scope_of_exports};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::inspector::inspector_ui;
use crate::ui::widget::place_menu::PictureMenu;
use crate::ui::widget::plane::{Extent, Plane};
use crate::ui::widget::sign::answer_ui;
use crate::ui::widget::toolbar::Toolbar;
use answer::answer;
use choice::{TileChoice, facts_ui};
use data::{RunData, RunReading};
use holder::HolderOfVariable;
use inspector::Inspected;
use kinds::{TileColorBy, VariableKinds};
use picture::{MapPoint, RunPicture};
use read::{AtStep, TileData, TileMarks, WantedVariables};
use strip::Strip;
use tables::{ChosenInTile, TileTables};

/// What is shown beside something that fills the picture, as a part of its size.
const MARGIN: f64 = 0.25;
/// Narrowest head in one row, points.
const ONE_ROW: f32 = 1130.0;
/// What follows from so many blocks takes less than a frame; of more a job finds it.
const AT_ONCE: usize = 4000;
/// Room for what zooms and exports, beside the legend, points.
const TOOLS: f32 = 300.0;

/// The kind of each variable of a tile, nothing for what is left out.
type KindsByRow = Vec<Option<u8>>;

#[derive(Default)]
struct TileOfRun {
    reading: RunReading,
    picture: RunPicture,
    strip: Strip,
    menu: PictureMenu<MapPoint>,
    /// The row of the variable that was chosen.
    chosen: Option<u32>,
    /// Why no arena of the run is matched with that of the reference, where none is.
    has_none: Option<String>,
}

impl TileOfRun {
    /// Why there is nothing; `None` while it is being found.
    fn why_not(&self, report: &Report) -> Option<String> {
        self.has_none.clone().or_else(|| self.reading.why_not(report))
    }
}

/// Of what kinds are told.
#[derive(Clone, PartialEq)]
struct KindsOf {
    /// For each run, where it is there.
    tiles: Vec<Option<Same<RunData>>>,
    by: TileColorBy,
    categories: Same<CategoryColors>,
    /// Numbers of those that are left out.
    hidden: Vec<u8>,
}

/// What was read of each run, as far as it was.
type FoundData = Vec<Option<Arc<RunData>>>;

struct KnownKinds {
    kinds: Arc<VariableKinds>,
    /// For each run the kind of each variable.
    of_rows: Vec<Option<Arc<KindsByRow>>>,
}

impl KnownKinds {
    fn of(KindsOf { tiles, by, categories, hidden }: KindsOf) -> Self {
        let known: Vec<&RunData> = tiles.iter().flatten().map(|Same(data)| &**data).collect();
        let kinds = VariableKinds::of(by, &categories.0, &known, hidden);
        let of_rows = tiles.iter().map(|tile| Some(Arc::new(kinds.of_rows(&tile.as_ref()?.0))));
        Self { of_rows: of_rows.collect(), kinds: Arc::new(kinds) }
    }
}

/// A tile of a run with what is shown of it.
pub struct RunTile {
    pub run: RunId,
    pub data: Arc<TileData>,
    pub of: Arc<RunData>,
    /// What is alive at the step of the strip; without a step it shows all steps.
    pub at_step: Option<Arc<AtStep>>,
    /// Whether it has a step of which nothing is known yet.
    pub awaits_step: bool,
    pub marks: Arc<TileMarks>,
    /// The kind of each variable, by row.
    pub kinds: Arc<KindsByRow>,
}

impl RunTile {
    /// The row of what had no room, where the strip shows its step.
    fn without_room_at_step(&self) -> Option<u32> {
        let (row, at_step) = (self.data.placed.without_room?, self.at_step.as_ref()?);
        let is_there = at_step.map.blocks.iter().any(|block| block.row == row);
        is_there.then_some(row)
    }
}

pub struct RunTiles {
    /// For each run, where it is there.
    pub of_runs: Vec<Option<RunTile>>,
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
}

#[derive(Default)]
pub struct OneTileView {
    /// What is known of the variable in the inspector.
    details: ShownDetails,
    tile: TileChoice,
    holder: HolderOfVariable,
    /// The tile that is visible.
    viewed: Option<ArenaId>,
    plane: Plane,
    /// What colors tell; else the run says it.
    colour_by: Option<TileColorBy>,
    kinds: Latest<KindsOf, Arc<KnownKinds>>,
    /// Kinds that are left out, of what colors tell.
    hidden: Option<(TileColorBy, Vec<u8>)>,
    toolbar: Toolbar,
    search: search::VariableSearch,
    tables: TileTables,
    /// Whether strips show all steps where no step is selected, not that of the highest end.
    is_of_all_steps: bool,
    runs: BTreeMap<RunId, TileOfRun>,
    /// The run whose variable was chosen last.
    chosen_in: Option<RunId>,
    /// The run, the step and the address under the pointer.
    pointed: Option<(RunId, (usize, u64))>,
}

impl OneTileView {
    /// The same part of the same tile of reports that were read again.
    pub fn of_other_figures(self) -> Self {
        let Self { tile, viewed, plane, colour_by, is_of_all_steps, .. } = self;
        Self { tile, viewed, plane, colour_by, is_of_all_steps, ..Self::default() }
    }

    /// Draws the pictures of the selected tile; `views` draws the choice of what is shown. A variable
    /// or step that was chosen is selected. Returns the map that the inspector leads to.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        categories: &mut AskedColors,
        asked: &mut AskedTiles,
        views: impl FnOnce(&mut egui::Ui),
    ) -> Option<MapView> {
        let runs = page.runs;
        let arenas = runs.reference().report.arenas.get()?;
        asked.ask(ui, page);
        self.runs.retain(|id, _| runs.position(*id).is_some());
        if !has_tiles(runs)
            && let Some(holder) = self.holder.ask(ui.ctx(), runs.reference(), page.selection)
        {
            self.tile.follow(holder, &page.selection.tiles);
        }
        let arena = self.tile.arena(runs.reference(), arenas, &page.selection.tiles);
        scope_of_exports(ui, &scope_title(&runs.reference().report, Scope::Arena(arena)));
        let before = self.viewed.replace(arena).filter(|before| *before != arena);
        if before.is_some() {
            self.plane.reset();
            self.runs.values_mut().for_each(|run| run.chosen = None);
        }
        let mut read = |(place, run): (usize, &Run)| {
            let of_run = self.runs.entry(run.id).or_default();
            let matched = runs.matched_arena(place, arena);
            of_run.has_none = matched.is_none().then(|| why_none(runs.reference(), arena));
            of_run.reading.tile(ui.ctx(), run, matched?)
        };
        let found: FoundData = runs.iter().enumerate().map(&mut read).collect();
        let known = categories.ask(ui, runs);
        let known = known.and_then(|categories| self.kinds(ui, runs, &found, categories));
        // What is shown is that whose kinds are known: for a moment that may be another arena.
        let (found, known) = known.map_or((found, None), |(found, known)| (found, Some(known)));
        self.follow(page, &found);
        let tiles = known
            .map(|known| (self.tiles(ui, page, &found, &known.of_rows), Arc::clone(&known.kinds)));
        // In several runs a click chooses in one of them.
        if let Some((tiles, _)) = tiles.as_ref().filter(|_| runs.is_one()) {
            self.choose_selected(page, tiles);
        }
        let shown = tiles.as_ref().map(|(tiles, _)| tiles);
        self.head_ui(ui, page, asked, &found, shown, views);
        let Some((tiles, kinds)) = tiles else {
            let why_not = |run: &Run| self.runs.get(&run.id)?.why_not(&run.report);
            match runs.iter().find_map(why_not) {
                Some(why_not) => absent_ui(ui, "The map is not in this run", &why_not),
                None if found.iter().any(Option::is_some) => {
                    ui.weak(self.kinds.failure().unwrap_or(categories.waiting()));
                }
                None => reading_ui(ui, runs),
            }
            return None;
        };
        ui.add_space(4.0);
        let way = self.inspector_ui(ui, page, &tiles, &kinds);
        let max = most_of_tables(ui, 220.0);
        let share = if runs.is_one() { 0.25 } else { 0.21 };
        let chosen =
            split::below(ui, "memory map tables", tables_height(ui, share), 60.0..=max, |ui| {
                let chosen = self.runs.iter().filter_map(|(id, run)| Some((*id, run.chosen?)));
                let chosen: BTreeMap<RunId, u32> = chosen.collect();
                let card = card_frame(Tokens::now(ui)).inner_margin(8);
                card.show(ui, |ui| self.tables.ui(ui, page, &tiles, &chosen)).inner
            });
        let extent = extent(&tiles);
        match chosen {
            Some(ChosenInTile::Bytes(bytes)) => self.show_bytes(extent, &bytes, 1.0),
            Some(ChosenInTile::Variable(rows)) => {
                let first = rows.first().copied();
                self.choose(page, &tiles, rows);
                let tile = first
                    .and_then(|(id, row)| Some((tiles.iter().find(|tile| tile.run == id)?, row)));
                if let Some((tile, row)) = tile {
                    show(&mut self.plane, extent, &tile.of, row);
                }
            }
            None => {}
        }
        let margin = Margin { bottom: 8, ..Margin::ZERO };
        split::rest(ui, margin, |ui| {
            card_frame(Tokens::now(ui)).inner_margin(10).show(ui, |ui| {
                self.pictures_ui(ui, page, &tiles, &kinds, extent);
            });
        });
        way
    }

    /// The row with title, tile, answer, search, colors.
    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        asked: &AskedTiles,
        found: &[Option<Arc<RunData>>],
        tiles: Option<&RunTiles>,
        views: impl FnOnce(&mut egui::Ui),
    ) {
        let answer = answer(page.runs, found, Units::now(ui));
        answer_of_exports(ui, answer.as_ref());
        let is_wide = ui.available_width() >= ONE_ROW;
        let answer_ui = |ui: &mut egui::Ui| {
            if let Some((sign, text)) = &answer {
                answer_ui(ui, *sign, text);
            }
        };
        ui.horizontal(|ui| {
            ui.set_min_height(30.0);
            views(ui);
            self.tile.ui(ui, page);
            if let Some(tile) = asked.worst_ui(ui, page) {
                self.tile.show(tile.into());
            }
            if !is_wide {
                return;
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                self.colors_ui(ui, page.runs, found);
                ui.allocate_ui_with_layout(
                    egui::vec2(search::WIDTH, 26.0),
                    Layout::left_to_right(Align::Center),
                    |ui| self.search_ui(ui, page, tiles),
                );
                ui.with_layout(Layout::left_to_right(Align::Center), answer_ui);
            });
        });
        if !is_wide {
            ui.horizontal(|ui| {
                ui.set_min_height(CONTROL_HEIGHT);
                self.search_ui(ui, page, tiles);
                self.colors_ui(ui, page.runs, found);
                answer_ui(ui);
            });
        }
    }

    /// What is shown of the tile in each run.
    fn tiles(
        &mut self,
        ui: &egui::Ui,
        page: &PageContext<'_>,
        found: &[Option<Arc<RunData>>],
        kinds: &[Option<Arc<KindsByRow>>],
    ) -> RunTiles {
        let runs = page.runs;
        let wanted = WantedVariables {
            search: self.search.text.trim().to_owned(),
            selected: page.selection.variable().cloned(),
        };
        let slot = page.selection.slot(runs);
        let is_of_all_steps = self.is_of_all_steps;
        let tile = |(place, run): (usize, &Run), of: &Arc<RunData>, of_run: &mut TileOfRun| {
            let data = Arc::clone(&of.tile);
            let step = match slot {
                Some(slot) => runs.axis()?.step_at_or_before(place, slot),
                None => of.highest_step.filter(|_| !is_of_all_steps),
            };
            let step = step.filter(|_| of.has_steps);
            let at_step =
                step.and_then(|step| of_run.reading.of_tile.at_step(ui.ctx(), &data, step));
            let awaits_step = step.is_some() && at_step.is_none();
            let marks = of_run.reading.of_tile.marks(ui.ctx(), &data, &wanted);
            let (kinds, of) = (Arc::clone(kinds.get(place)?.as_ref()?), Arc::clone(of));
            Some(RunTile { run: run.id, data, of, at_step, awaits_step, marks, kinds })
        };
        let of_run = |((place, run), of): ((usize, &Run), &Option<Arc<RunData>>)| {
            tile((place, run), of.as_ref()?, self.runs.get_mut(&run.id)?)
        };
        let of_runs = runs.iter().enumerate().zip(found).map(of_run).collect();
        RunTiles { of_runs }
    }

    /// Goes through the first run in which the search finds something.
    fn search_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: Option<&RunTiles>,
    ) {
        let Some(tiles) = tiles else { return };
        let found = tiles.iter().find(|tile| !tile.marks.found_blocks.is_empty());
        let Some(tile) = found.or(tiles.iter().next()) else { return };
        if let Some(place) = self.search.ui(ui, page.runs.system().item, &tile.marks)
            && let Some(block) = tile.data.map.blocks.get(place as usize)
        {
            self.choose(page, tiles, [(tile.run, block.row)]);
            show(&mut self.plane, extent(tiles), &tile.of, block.row);
        }
    }

    /// Forgets a chosen variable when another one is selected.
    fn follow(&mut self, page: &PageContext<'_>, found: &[Option<Arc<RunData>>]) {
        for (run, data) in page.runs.iter().zip(found) {
            let (Some(data), Some(of_run)) = (data, self.runs.get_mut(&run.id)) else { continue };
            let name = of_run.chosen.and_then(|row| data.tile.unlowered_name(row));
            let selected = page.selection.variable();
            if (name.is_some() || selected.is_some()) && name.as_ref() != selected {
                of_run.chosen = None;
            }
        }
    }

    /// Chooses what was lowered from the selected variable, the largest part of it, where that was selected elsewhere.
    fn choose_selected(&mut self, page: &PageContext<'_>, tiles: &RunTiles) {
        for tile in tiles.iter() {
            let Some(of_run) = self.runs.get_mut(&tile.run) else { continue };
            let selected = tile.marks.of.selected.as_ref();
            if of_run.chosen.is_some()
                || selected.is_none()
                || selected != page.selection.variable()
            {
                continue;
            }
            let rows = (0_u32..).zip(&tile.marks.selected).filter(|(_, is_selected)| **is_selected);
            let placed = rows.filter_map(|(row, _)| {
                let placement = tile.data.placed.placements.get(row as usize)?;
                Some((std::cmp::Reverse(placement.bytes), row))
            });
            of_run.chosen = placed.min().map(|(_, row)| row);
        }
    }

    /// Chooses a variable, which selects the one that it was lowered from, in all runs.
    fn choose(
        &mut self,
        page: &mut PageContext<'_>,
        tiles: &RunTiles,
        rows: impl IntoIterator<Item = (RunId, u32)>,
    ) {
        let rows: BTreeMap<RunId, u32> = rows.into_iter().collect();
        self.chosen_in = page.runs.iter().map(|run| run.id).find(|id| rows.contains_key(id));
        for (id, of_run) in &mut self.runs {
            of_run.chosen = rows.get(id).copied();
        }
        let name = |tile: &RunTile| tile.data.unlowered_name(*rows.get(&tile.run)?);
        page.selection.select_variable(tiles.iter().find_map(name));
    }

    /// What colors tell: as chosen; else layers, where the run is told by them.
    fn colour_by(&self, runs: &Runs, found: &[Option<Arc<RunData>>]) -> TileColorBy {
        let is_by_layer = || runs.reference().derived.answers().are_maps_by_layer();
        let has_layers = has_layers(found);
        let usual =
            if has_layers && is_by_layer() { TileColorBy::Layer } else { TileColorBy::Category };
        let is_there = |by: &TileColorBy| has_layers || *by != TileColorBy::Layer;
        self.colour_by.filter(is_there).unwrap_or(usual)
    }

    fn colors_ui(&mut self, ui: &mut egui::Ui, runs: &Runs, found: &[Option<Arc<RunData>>]) {
        let before = self.colour_by(runs, found);
        let mut by = before;
        by.ui(ui, has_layers(found));
        if by != before {
            self.colour_by = Some(by);
        }
    }

    /// The kinds that were told last, with what they are of.
    fn kinds(
        &mut self,
        ui: &egui::Ui,
        runs: &Runs,
        found: &[Option<Arc<RunData>>],
        categories: Arc<CategoryColors>,
    ) -> Option<(FoundData, Arc<KnownKinds>)> {
        if found.iter().all(Option::is_none) {
            return None;
        }
        let by = self.colour_by(runs, found);
        let hidden = self.hidden.as_ref().filter(|(of, _)| *of == by);
        let hidden = hidden.map_or_else(Vec::new, |(_, hidden)| hidden.clone());
        let tiles = found.iter().map(|data| data.clone().map(Same)).collect();
        let key = KindsOf { tiles, by, categories: Same(categories), hidden };
        let blocks: usize = found.iter().flatten().map(|data| data.tile.map.blocks.len()).sum();
        let (name, for_job) = ("kinds of what lies there", key.clone());
        self.kinds.ask_or_tell(name, ui.ctx(), &key, blocks <= AT_ONCE, |_| {
            Arc::new(KnownKinds::of(for_job))
        });
        let (of, known) = self.kinds.last()?;
        let data = |tile: &Option<Same<RunData>>| Some(Arc::clone(&tile.as_ref()?.0));
        Some((of.tiles.iter().map(data).collect(), Arc::clone(known)))
    }

    fn inspector_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &RunTiles,
        kinds: &VariableKinds,
    ) -> Option<MapView> {
        let runs = page.runs;
        let has_chosen = |tile: &&RunTile| Some(tile.run) == self.chosen_in;
        let tile = tiles.iter().find(has_chosen).or(tiles.iter().next())?;
        let run = runs.iter().find(|run| run.id == tile.run)?;
        let chosen = self.runs.get(&tile.run).and_then(|run| run.chosen);
        let highest = tile.at_step.as_ref().map_or(tile.data.highest, |at_step| at_step.highest);
        let inspected = Inspected {
            run,
            tile,
            kinds,
            row: chosen.or(tile.without_room_at_step()).or(highest),
            is_chosen: chosen.is_some(),
            has_tiles: has_tiles(runs),
        };
        let mut way = None;
        inspector_ui(ui, |ui| {
            if !runs.is_one() {
                super::super::run_title_ui(ui, run);
            }
            way = inspected.ui(ui, page, &mut self.details);
            ui.add_space(6.0);
            let of_runs: Vec<&TileData> = tiles.iter().map(|tile| &*tile.data).collect();
            facts_ui(ui, &of_runs);
        });
        way
    }

    /// Lets addresses fill the pictures, with a margin as a part of their number.
    fn show_bytes(&mut self, extent: Extent, bytes: &Range<u64>, margin: f64) {
        let size = (bytes.end.saturating_sub(bytes.start) as f64).max(1.0);
        let (start, end) = (bytes.start as f64 - 0.5, bytes.end as f64 - 0.5);
        self.plane.y.show(extent.y, start - size * margin, end + size * margin);
    }
}

/// Whether the layer of an operation is known in any run.
fn has_layers(found: &[Option<Arc<RunData>>]) -> bool {
    found.iter().flatten().any(|data| data.has_layers)
}

/// The steps and addresses that all pictures share.
fn extent(tiles: &RunTiles) -> Extent {
    let steps = tiles.iter().map(|tile| tile.of.rectangles.steps as usize).max();
    let bytes = tiles.iter().map(|tile| tile.data.len()).max();
    Extent { x: steps.unwrap_or(1).max(1), y: bytes.unwrap_or(1).max(1) }
}

/// Why a run has nothing beside an arena of the reference.
fn why_none(reference: &Run, arena: ArenaId) -> String {
    let report = &reference.report;
    if report.arenas.get().is_some_and(|arenas| arenas.come_and_go) {
        return format!("No {} of this run is known to hold the same", report.system.arena_in_text);
    }
    format!("This run has nothing in {}", report.arena_title(arena))
}

/// Says that what is shown here is being read.
fn reading_ui(ui: &mut egui::Ui, runs: &Runs) {
    absent_ui(ui, &format!("The {} is being read", runs.system().arena_in_text), "");
}

/// Lets a variable fill the picture, with a margin.
fn show(plane: &mut Plane, extent: Extent, data: &RunData, row: u32) {
    let all = || data.rectangles_of(row).iter();
    let steps = all().map(|one| one.steps.start).min().zip(all().map(|one| one.steps.end).max());
    let bytes = all().map(|one| one.bytes.start).min().zip(all().map(|one| one.bytes.end).max());
    let (Some((left, right)), Some((bottom, top))) = (steps, bytes) else { return };
    for (view, len, start, end) in [
        (&mut plane.x, extent.x, f64::from(left), f64::from(right)),
        (&mut plane.y, extent.y, bottom as f64, top as f64),
    ] {
        let margin = (end - start) * MARGIN;
        view.show(len, start - 0.5 - margin, end - 0.5 + margin);
    }
}
