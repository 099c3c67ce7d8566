//! Every tile as a cell of a grid, colored by one figure.
//!
//! Tiles stand in the order of their numbers, line by line, each IPU in a grid of its own: where a
//! tile lies on the chip is not in the report. Figures are those of `memory_by_tile`; of a category
//! the bytes of its variables, each counted once, so where variables share addresses more than the
//! addresses that they take (definitions.md, Categories). A figure that is not known is `None`.

use std::ops::Range;

use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::store::memory::{TileColumn, TileMemory};
use crate::store::target::Target;

use crate::analysis::memory::tile_order::devices;
use crate::analysis::memory::{category_on_tile, cell, gap_bytes, over_limit_bytes};

/// What tiles are colored by. Bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum TileFigure {
    /// The last used byte + 1.
    #[default]
    IncludingGaps,
    /// Distinct bytes in use.
    Total,
    /// The difference of the two.
    Gaps,
    /// By how much the tile is over the limit; 0 where it is not.
    OverLimit,
    /// Variables that live as long as the program.
    AlwaysLive,
    /// The most that others take at any step.
    NotAlwaysLiveMax,
    /// Variables of a category, by its name in the file.
    Category(String),
}

/// A figure of every tile, in the rows of [`TileMemory::tiles`].
pub fn values(memory: &TileMemory, target: Option<&Target>, figure: &TileFigure) -> TileColumn {
    let of_rows = |value: &dyn Fn(usize) -> Option<u64>| -> TileColumn {
        (0..memory.tiles.len()).map(value).collect()
    };
    match figure {
        TileFigure::IncludingGaps => of_rows(&|row| cell(&memory.including_gaps, row)),
        TileFigure::Total => of_rows(&|row| cell(&memory.total, row)),
        TileFigure::Gaps => of_rows(&|row| gap_bytes(memory, row)),
        TileFigure::OverLimit => of_rows(&|row| over_limit_bytes(memory, target, row)),
        TileFigure::AlwaysLive => of_rows(&|row| cell(&memory.always_live, row)),
        TileFigure::NotAlwaysLiveMax => of_rows(&|row| cell(&memory.not_always_live_max, row)),
        TileFigure::Category(name) => {
            let category = memory.categories.iter().find(|category| category.name == *name);
            of_rows(&|row| {
                let bytes = category_on_tile(category?, memory.tiles.get(row)?);
                Some(bytes.not_overlapped?.saturating_add(bytes.overlapped?))
            })
        }
    }
}

/// The least and the most of a figure; `None` where no tile's is known.
pub fn extent(values: &TileColumn) -> Option<(u64, u64)> {
    let known = || values.iter().flatten().copied();
    Some((known().min()?, known().max()?))
}

/// Where every tile stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileGrid {
    /// Tiles of a line, at least 1.
    pub columns: usize,
    /// The grids of the IPUs, ascending.
    pub devices: Vec<DeviceGrid>,
}

/// The grid of an IPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceGrid {
    /// The IPU; `None` where the target does not say which tiles are whose, and all are in one grid.
    pub device: Option<u32>,
    /// Its tiles, as rows of [`TileMemory::tiles`].
    pub rows: Range<usize>,
    /// Number of lines; the last one may not be full.
    pub lines: usize,
}

/// A place in a [`TileGrid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilePlace {
    /// Which of the grids.
    pub grid: usize,
    /// The column in it.
    pub column: usize,
    /// The line in it.
    pub line: usize,
}

impl TileGrid {
    /// Puts the tiles in lines of `columns`.
    pub fn new(tiles: &IdColumn<TileId>, target: Option<&Target>, columns: usize) -> Self {
        let columns = columns.max(1);
        let grid = |device, rows: Range<usize>| DeviceGrid {
            device,
            lines: rows.len().div_ceil(columns),
            rows,
        };
        let all = tiles.len();
        let starts = devices(tiles, target);
        let ends = starts.iter().skip(1).map(|(_, first)| *first).chain([all]);
        let mut devices: Vec<DeviceGrid> = starts
            .iter()
            .zip(ends)
            .map(|((device, first), end)| grid(Some(*device), *first..end))
            .collect();
        if devices.is_empty() && all > 0 {
            devices.push(grid(None, 0..all));
        }
        Self { columns, devices }
    }

    /// Where the tile in a row of [`TileMemory::tiles`] stands.
    pub fn place_of(&self, row: usize) -> Option<TilePlace> {
        let grid = self.devices.partition_point(|device| device.rows.end <= row);
        let within = row.checked_sub(self.devices.get(grid)?.rows.start)?;
        Some(TilePlace {
            grid,
            column: within.checked_rem(self.columns)?,
            line: within.checked_div(self.columns)?,
        })
    }

    /// The row of the tile that stands at a place.
    pub fn row_at(&self, place: TilePlace) -> Option<usize> {
        let rows = &self.devices.get(place.grid)?.rows;
        let within = place.line.checked_mul(self.columns)?.checked_add(place.column)?;
        let row = rows.start.checked_add(within)?;
        (place.column < self.columns && rows.contains(&row)).then_some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture;
    use proptest::prelude::*;

    fn memory(tiles: &[u32]) -> TileMemory {
        let bytes = |tile: &u32| (*tile, Some(u64::from(*tile) * 2));
        let total = tiles.iter().map(|tile| Some(u64::from(*tile))).collect();
        TileMemory { total, ..fixture::memory(tiles.iter().map(bytes)) }
    }

    #[test]
    fn figures_are_those_of_the_table() {
        let mut memory = memory(&[0, 1, 4]);
        memory.always_live = vec![Some(7), None, Some(3)];
        memory.categories.push(fixture::category("stack", &[1, 2, 0, 0, 3], &[0, 0, 0, 0, 8]));
        let target = Target { bytes_per_tile: Some(5), ..Target::default() };
        let of = |figure| values(&memory, Some(&target), &figure);
        assert_eq!(of(TileFigure::IncludingGaps), [Some(0), Some(2), Some(8)]);
        assert_eq!(of(TileFigure::Total), of(TileFigure::Gaps));
        assert_eq!(of(TileFigure::OverLimit), [Some(0), Some(0), Some(3)]);
        assert_eq!(extent(&of(TileFigure::AlwaysLive)), Some((3, 7)));
        assert_eq!(extent(&of(TileFigure::NotAlwaysLiveMax)), None);
        assert_eq!(of(TileFigure::Category("stack".to_owned())), [Some(1), Some(2), Some(11)]);
        assert_eq!(of(TileFigure::Category("none".to_owned())), [None; 3]);
        assert_eq!(values(&memory, None, &TileFigure::OverLimit), [None; 3]);
    }

    #[test]
    fn every_ipu_has_its_lines() {
        let memory = memory(&[0, 1, 2, 3, 4, 5, 6]);
        let target = Target { tiles_per_device: Some(4), ..Target::default() };
        let grid = TileGrid::new(&memory.tiles, Some(&target), 3);
        let shapes: Vec<_> =
            grid.devices.iter().map(|device| (device.device, device.lines)).collect();
        assert_eq!(shapes, [(Some(0), 2), (Some(1), 1)]);
        let place = |grid, column, line| TilePlace { grid, column, line };
        assert_eq!(grid.place_of(3), Some(place(0, 0, 1)));
        assert_eq!(grid.place_of(6), Some(place(1, 2, 0)));
        assert_eq!(grid.row_at(place(0, 1, 1)), None, "behind the last tile");
        assert_eq!(grid.row_at(place(0, 3, 0)), None);
        assert_eq!(TileGrid::new(&memory.tiles, None, 0).devices[0].lines, 7);
        assert!(TileGrid::new(&IdColumn::default(), None, 32).devices.is_empty());
    }

    proptest! {
        #[test]
        fn every_tile_has_its_own_place(
            tiles in proptest::collection::btree_set(0..60_u32, 0..40),
            tiles_per_device in proptest::option::of(0..20_u64),
            columns in 0..9_usize,
        ) {
            let memory = memory(&tiles.into_iter().collect::<Vec<_>>());
            let target = Target { tiles_per_device, ..Target::default() };
            let grid = TileGrid::new(&memory.tiles, Some(&target), columns);
            for row in 0..memory.tiles.len() {
                let place = grid.place_of(row).expect("a place");
                prop_assert_eq!(grid.row_at(place), Some(row));
                prop_assert!(place.line < grid.devices[place.grid].lines);
            }
            prop_assert_eq!(grid.place_of(memory.tiles.len()), None);
        }
    }
}
