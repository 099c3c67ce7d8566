//! The pictures of grids, a pixel a tile. Made beside the window.

use eframe::egui::{self, Color32, ColorImage};
use std::sync::Arc;

use super::GridChoice;
use super::scale::{Over, color};
use crate::analysis::memory::cell;
use crate::analysis::memory::tile_grid::{TileGrid, extent, values};
use crate::analysis::memory::united_tiles::UnitedTiles;
use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::store::memory::{TileColumn, TileMemory};
use crate::store::target::Target;
use crate::ui::runs::Runs;
use crate::ui::theme::Tokens;
use crate::ui::widget::diverging::diverging;

/// Tiles of a line at most, as long as a picture of all lines fits into a texture.
const COLUMNS: usize = 46;
/// Lines of a texture.
const MOST_LINES: usize = 2000;

#[derive(Clone)]
pub struct GridPicture {
    pub grid: TileGrid,
    pub image: Arc<ColorImage>,
}

/// Pictures of every run, or one of what has changed.
pub struct TileGrids {
    /// The tiles of all runs.
    pub tiles: IdColumn<TileId>,
    /// For each run the figure of every tile.
    values: Vec<TileColumn>,
    pub pictures: Vec<GridPicture>,
    /// The ends of the colors of all runs.
    pub ends: Option<(u64, u64)>,
    /// What leaves the scale, where the figure has a limit.
    pub over: Option<Over>,
    /// The largest change.
    pub most: u64,
}

/// What pictures show, of each run in the same places.
pub struct GridValues {
    pub tiles: IdColumn<TileId>,
    pub grid: TileGrid,
    /// For each run the figure of every tile.
    pub values: Vec<TileColumn>,
    /// Bytes that a tile can hold, the most of all runs.
    pub limit: Option<u64>,
    /// Above which value a tile is over, in each run: by the limit of its own machine.
    pub overs: Vec<Option<u64>>,
}

impl TileGrids {
    pub fn new(runs: &Runs, choice: &GridChoice, tokens: &Tokens) -> Option<Self> {
        let memories: Option<Vec<&TileMemory>> =
            runs.iter().map(|run| run.report.memory.get()).collect();
        let memories = memories?;
        let united = UnitedTiles::new(&memories);
        let targets = runs.iter().map(|run| run.report.target.get());
        let of_run = |((memory, target), rows): ((&&TileMemory, _), &Vec<u32>)| -> TileColumn {
            let own = values(memory, target, &choice.choices.figure);
            rows.iter().map(|row| cell(&own, *row as usize)).collect()
        };
        let over_of = |limit| choice.choices.over(limit).filter(|_| choice.changed.is_none());
        let of = GridValues {
            grid: grid_of(&united.tiles, runs.machine()),
            values: memories.iter().zip(targets).zip(&united.rows).map(of_run).collect(),
            limit: runs.iter().filter_map(|run| run.report.bytes_per_tile()).max(),
            overs: runs.iter().map(|run| over_of(run.report.bytes_per_tile())).collect(),
            tiles: united.tiles,
        };
        Some(Self::of(of, choice, tokens))
    }

    /// Of what is known of each run.
    pub fn of(of: GridValues, choice: &GridChoice, tokens: &Tokens) -> Self {
        let GridValues { tiles, grid, values, limit, overs } = of;
        let known = values.iter().filter_map(extent);
        let ends = known.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let over = overs.iter().flatten().copied().max();
        let most_over = |(values, over): (&TileColumn, &Option<u64>)| {
            extent(values).map(|(_, most)| most).filter(|most| over.is_some_and(|it| *most > it))
        };
        let above = values.iter().zip(&overs).filter_map(most_over).max();
        let ends = ends.map(|ends| choice.choices.scale.ends(ends, limit, over));
        let change = |row: usize| {
            let of_run = |run: usize| cell(values.get(run)?, row);
            let (first, other) = (of_run(0)?, of_run(choice.changed?)?);
            i64::try_from(i128::from(other) - i128::from(first)).ok()
        };
        let changed = (0..tiles.len()).filter_map(change);
        let most = changed.map(i64::unsigned_abs).max().unwrap_or(0);
        let picture = |color: &dyn Fn(usize) -> egui::Color32| {
            GridPicture::new(grid.clone(), tokens.surface, color)
        };
        let pictures = match choice.changed {
            Some(_) => vec![picture(&|row| match change(row) {
                Some(change) => diverging(choice.changes.share(change, most), tokens),
                None => tokens.surface,
            })],
            None => {
                let of_run = |(values, over): (&TileColumn, &Option<u64>)| {
                    picture(&|row| color(cell(values, row), ends, *over, tokens))
                };
                values.iter().zip(&overs).map(of_run).collect()
            }
        };
        let over = over.map(|limit| Over { limit, most: above });
        Self { tiles, values, pictures, ends, over, most }
    }

    /// The figure of every tile of a run, by its place.
    pub fn values_of_run(&self, run: usize) -> &[Option<u64>] {
        self.values.get(run).map_or(&[], Vec::as_slice)
    }

    pub fn values_of(&self, row: usize) -> impl Iterator<Item = Option<u64>> {
        self.values.iter().map(move |values| cell(values, row))
    }
}

/// The grids of tiles in software order, each about as wide as high.
fn grid_of(tiles: &IdColumn<TileId>, target: Option<&Target>) -> TileGrid {
    let count = tiles.len();
    let per_ipu = target.and_then(|target| usize::try_from(target.tiles_per_device?).ok());
    // Few tiles stand in a square, not in a thin line.
    let square = per_ipu.unwrap_or(count).min(count).isqrt().max(1);
    let columns = COLUMNS.min(square + square / 2).max(count.div_ceil(MOST_LINES));
    TileGrid::new(tiles, target, columns)
}

impl GridPicture {
    /// Gives every tile, by its row, a color.
    fn new(grid: TileGrid, ground: Color32, color: impl Fn(usize) -> Color32) -> Self {
        let (columns, lines) = (grid.columns, grid.devices.iter().map(|ipu| ipu.lines).sum());
        let mut image = ColorImage::filled([columns, usize::max(lines, 1)], ground);
        let mut first = 0;
        for ipu in &grid.devices {
            for (index, row) in ipu.rows.clone().enumerate() {
                if let Some(pixel) = image.pixels.get_mut(first * columns + index) {
                    *pixel = color(row);
                }
            }
            first += ipu.lines;
        }
        Self { grid, image: Arc::new(image) }
    }
}
