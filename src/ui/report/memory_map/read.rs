//! Reading a tile, and what is made of it beside the window: its map, and the map at a step.

use eframe::egui;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::choices::MOST_CATEGORIES;
use crate::analysis::liveness::scope_curve::scope_curve;
use crate::analysis::liveness::{Scope, peak, variable_name};
use crate::analysis::memory::category_order::{categories_by_bytes, categories_of_two};
use crate::analysis::placement::resident_tile::resident_tile;
use crate::analysis::placement::tile_map::{TileMap, rows_named};
use crate::format::Progress;
use crate::format::poplar::OpenReport;
use crate::store::ids::CategoryId;
use crate::store::variable::TileVariables;
use crate::store::{Report, TileId};
use crate::ui::job::Latest;
use crate::ui::legacy::Side;
use crate::ui::report::{is_limit_near, reason_of};

/// Cells of the overview strip.
const CELLS: u64 = 1024;

/// A tile, and which parts of the reports were there when it was read.
type TileKey = (TileId, [bool; 5]);
/// What a search and a selected variable were looked for in: the tile as it was read.
type MarksKey = (u64, String, Option<String>);

/// A tile as it was read.
#[derive(Debug)]
pub struct TileData {
    /// Tells what was read at different times apart.
    pub version: u64,
    /// The tile.
    pub tile: TileId,
    /// Its variables.
    pub variables: TileVariables,
    /// Its map over all steps.
    pub map: TileMap,
    /// Whether names, alignments and constraints are those of the file.
    pub is_complete: bool,
    /// Why they are not, where something went wrong.
    pub problem: Option<String>,
    /// The step at which most is alive, the first of equals.
    pub peak: Option<usize>,
    /// How many bytes of variables lie on equal parts of the address axis.
    pub crowd: Vec<u64>,
    /// All categories, most bytes on the chip first; nothing in the places of those that only the report
    /// has that this one is compared with.
    pub categories: Vec<Option<CategoryId>>,
    /// Whether variables of the tile belong to a category without a colour of its own.
    pub has_other_categories: bool,
}

/// What is alive at a step.
#[derive(Debug)]
pub struct AtStep {
    /// The map of what is alive.
    pub map: TileMap,
    /// Whether each variable of the tile is alive, by row.
    pub live: Vec<bool>,
}

/// Variables that are marked.
#[derive(Debug, Default)]
pub struct Marks {
    /// Those that the search found, by row.
    pub found: Vec<bool>,
    /// The blocks of those that the search found, by address.
    pub found_blocks: Vec<u32>,
    /// Those of the selected variable before lowering, by row.
    pub selected: Vec<bool>,
}

/// What is read and made, and the jobs that do it.
#[derive(Debug, Default)]
pub struct Reading {
    data: Latest<TileKey, Option<Arc<TileData>>>,
    at_step: Latest<(u64, usize), Arc<AtStep>>,
    marks: Latest<MarksKey, Arc<Marks>>,
}

impl TileData {
    /// Bytes of the address axis: up to the limit where that is near.
    pub fn len(&self) -> usize {
        let end = self.map.end;
        let limit = self.map.limit.filter(|limit| end == 0 || is_limit_near(end, *limit));
        usize::try_from(end.max(limit.unwrap_or(0)).max(1)).unwrap_or(usize::MAX)
    }

    /// The name of a variable.
    pub fn name(&self, row: u32) -> &str {
        self.variables.names.at(row as usize).unwrap_or("")
    }

    /// The name that a variable had before lowering.
    pub fn unlowered_name(&self, report: &Report, row: u32) -> Option<String> {
        let id = self.variables.variables.get(row as usize)?.unlowered?;
        Some(variable_name(report.liveness.get()?, id).into_owned())
    }

    fn new(origin: &Origin, tile: TileId) -> Option<Self> {
        static VERSIONS: AtomicU64 = AtomicU64::new(1);
        let report = &*origin.report;
        let (variables, problem) = match origin.read(tile) {
            Ok(variables) => (variables, None),
            Err(problem) => (None, Some(problem)),
        };
        let is_complete = variables.is_some();
        let variables = variables.or_else(|| resident_tile(report, tile))?;
        let map = TileMap::new(&variables, report, None);
        let curve = scope_curve(report, Scope::Arena(tile.into()), &|| false);
        let peak = curve.and_then(|curve| {
            let step = peak(&curve.not_always_live)?;
            curve.not_always_live.get(step).is_some_and(|bytes| *bytes > 0).then_some(step)
        });
        let categories = origin.categories();
        let coloured = categories.get(..MOST_CATEGORIES).unwrap_or(&categories);
        let is_other = |id: Option<CategoryId>| id.is_none() || !coloured.contains(&id);
        let has_other_categories = map.blocks.iter().any(|block| is_other(block.category));
        let mut data = Self {
            has_other_categories,
            version: VERSIONS.fetch_add(1, Ordering::Relaxed),
            tile,
            variables,
            map,
            is_complete,
            problem,
            peak,
            crowd: Vec::new(),
            categories,
        };
        data.crowd = crowd(&data.map, data.len() as u64);
        Some(data)
    }
}

/// Where a tile is read from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The report.
    pub report: Arc<Report>,
    /// Its files.
    pub files: Option<Arc<OpenReport>>,
    /// Which report it is of two, and the other one.
    pub other: Option<(Side, Arc<Report>)>,
}

impl Origin {
    fn read(&self, tile: TileId) -> Result<Option<TileVariables>, String> {
        let Some(source) = &self.files else { return Ok(None) };
        source.read_tile(tile, &Progress::default()).map_err(|error| error.to_string())
    }

    /// The categories in the order of their colours, the same in both of two reports.
    fn categories(&self) -> Vec<Option<CategoryId>> {
        match &self.other {
            None => {
                let variables = self.report.variables.get();
                variables
                    .map(categories_by_bytes)
                    .unwrap_or_default()
                    .into_iter()
                    .map(Some)
                    .collect()
            }
            Some((side, other)) => {
                let both = side.of([[&*self.report, &**other], [&**other, &*self.report]]);
                side.of(categories_of_two(both))
            }
        }
    }
}

/// The bytes of variables on equal parts of the axis.
fn crowd(map: &TileMap, len: u64) -> Vec<u64> {
    let per_cell = len.div_ceil(CELLS).max(1);
    let mut cells = vec![0_u64; usize::try_from(len.div_ceil(per_cell)).unwrap_or(0)];
    for block in &map.blocks {
        let mut at = block.offset;
        while at < block.end {
            let cell = at / per_cell;
            let end = block.end.min((cell + 1) * per_cell);
            if let Some(sum) = usize::try_from(cell).ok().and_then(|cell| cells.get_mut(cell)) {
                *sum += end - at;
            }
            at = end;
        }
    }
    cells
}

impl Reading {
    /// Asks for a tile; returns the last one that was read, which may be another one meanwhile.
    pub fn tile(
        &mut self,
        ctx: &egui::Context,
        origin: &Origin,
        tile: TileId,
    ) -> Option<Arc<TileData>> {
        let report = &origin.report;
        let parts = [
            report.liveness.is_settled(),
            report.variables.is_settled(),
            report.tile_variable_bytes.is_settled(),
            report.categories.is_settled(),
            origin.other.as_ref().is_none_or(|(_, other)| other.variables.is_settled()),
        ];
        let origin = origin.clone();
        self.data.ask("read a tile", ctx, &(tile, parts), move |_| {
            TileData::new(&origin, tile).map(Arc::new)
        });
        self.data.last().and_then(|(_, data)| data.clone())
    }

    /// Why there is no tile: a failure, or nothing to read; `None` while it is being read.
    pub fn why_not(&self, report: &Report) -> Option<String> {
        let absent = || reason_of(report.variables.absence());
        self.data.failure().map(str::to_owned).or_else(|| self.data.last().map(|_| absent()))
    }

    /// Asks what is alive at a step; returns what is known of this tile at any step meanwhile.
    pub fn at_step(
        &mut self,
        ctx: &egui::Context,
        report: &Arc<Report>,
        data: &Arc<TileData>,
        step: usize,
    ) -> Option<Arc<AtStep>> {
        let (of, from) = (Arc::clone(report), Arc::clone(data));
        self.at_step.ask("map at a step", ctx, &(data.version, step), move |_| {
            let map = TileMap::new(&from.variables, &of, Some(step));
            let classes = of.liveness.get().map(|liveness| &liveness.classes);
            let live = from.variables.variables.iter().map(|variable| {
                classes.is_some_and(|classes| classes.is_live_at(variable.class, step))
            });
            Arc::new(AtStep { live: live.collect(), map })
        });
        let last = self.at_step.last().filter(|((version, _), _)| *version == data.version);
        last.map(|(_, at_step)| Arc::clone(at_step))
    }

    /// Asks what a search finds and where the selected variable is; returns what is known meanwhile.
    pub fn marks(
        &mut self,
        ctx: &egui::Context,
        report: &Arc<Report>,
        data: &Arc<TileData>,
        wanted: (&str, Option<&str>),
    ) -> Arc<Marks> {
        let (search, selected) = (wanted.0.trim().to_owned(), wanted.1.map(str::to_owned));
        if search.is_empty() && selected.is_none() {
            return Arc::default();
        }
        let key = (data.version, search.clone(), selected.clone());
        let (of, from) = (Arc::clone(report), Arc::clone(data));
        self.marks.ask("search a tile", ctx, &key, move |_| {
            Arc::new(find_marks(&of, &from, &search, selected.as_deref()))
        });
        let last = self.marks.last().filter(|((version, ..), _)| *version == data.version);
        last.map(|(_, marks)| Arc::clone(marks)).unwrap_or_default()
    }
}

fn find_marks(report: &Report, data: &TileData, search: &str, selected: Option<&str>) -> Marks {
    let count = data.variables.variables.len();
    let mut marks = Marks::default();
    if !search.is_empty() {
        marks.found = vec![false; count];
        for row in rows_named(&data.variables, search) {
            if let Some(is_found) = marks.found.get_mut(row as usize) {
                *is_found = true;
            }
        }
        let blocks = (0_u32..).zip(&data.map.blocks);
        let is_found = |row: u32| marks.found.get(row as usize) == Some(&true);
        marks.found_blocks =
            blocks.filter(|(_, block)| is_found(block.row)).map(|(place, _)| place).collect();
    }
    if let (Some(selected), Some(liveness)) = (selected, report.liveness.get()) {
        let is_selected = |variable: &crate::store::variable::LoweredVariable| {
            variable.unlowered.is_some_and(|id| variable_name(liveness, id) == selected)
        };
        marks.selected = data.variables.variables.iter().map(is_selected).collect();
    }
    marks
}
