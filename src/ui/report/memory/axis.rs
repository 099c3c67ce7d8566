//! The x axis of pictures over tiles: which tile stands at which position, and where tiles are.

use std::ops::Range;

use super::arranged::TilesChoice;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::tile_order::{TileOrder, devices, selected_rows};
use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::store::target::Target;
use crate::ui::widget::bins::new_version;

/// Stands for a row that is not shown.
const NOWHERE: u32 = u32::MAX;

pub struct TileAxis {
    /// All tiles, also those that are not shown.
    pub tiles: IdColumn<TileId>,
    /// The row of the tile at each position.
    pub rows: Vec<u32>,
    /// The position of each row.
    positions: Vec<u32>,
    pub ipus: Vec<u32>,
    /// Where each IPU begins.
    pub borders: Vec<(usize, String)>,
    /// Tells the tiles of different choices and runs apart.
    pub version: u64,
}

impl TileAxis {
    /// Puts the tiles of `rows` in this order, which is that of the choice.
    pub fn new(
        tiles: &IdColumn<TileId>,
        rows: Vec<u32>,
        target: Option<&Target>,
        choice: &TilesChoice,
    ) -> Self {
        let mut positions = vec![NOWHERE; tiles.len()];
        for (position, row) in (0..).zip(&rows) {
            if let Some(place) = positions.get_mut(*row as usize) {
                *place = position;
            }
        }
        let has_borders = choice.ipu.is_none() && choice.order == TileOrder::Number;
        let ipus = devices(tiles, target);
        let borders = ipus.iter().filter(|_| has_borders && ipus.len() > 1);
        Self {
            borders: borders.map(|(ipu, row)| (*row, format!("IPU {ipu}"))).collect(),
            ipus: ipus.iter().map(|(ipu, _)| *ipu).collect(),
            version: new_version(),
            tiles: tiles.clone(),
            rows,
            positions,
        }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn row(&self, position: usize) -> Option<usize> {
        self.rows.get(position).map(|row| *row as usize)
    }

    pub fn tile(&self, position: usize) -> Option<TileId> {
        self.tiles.get(self.row(position)?)
    }

    pub fn position(&self, tile: TileId) -> Option<usize> {
        let position = *self.positions.get(self.tiles.position(tile)?)?;
        (position != NOWHERE).then_some(position as usize)
    }

    pub fn in_order(&self) -> Vec<TileId> {
        let tile = |position| self.tile(position).unwrap_or(TileId(u32::MAX));
        (0..self.len()).map(tile).collect()
    }

    pub fn tiles_at(&self, positions: Range<usize>) -> TileSelection {
        let rows = self.rows.get(positions).unwrap_or(&[]);
        rows.iter().filter_map(|row| self.tiles.get(*row as usize)).collect()
    }

    /// The positions of the selected tiles, as ranges that ascend.
    pub fn selected(&self, selection: &TileSelection) -> Vec<Range<usize>> {
        let rows = selected_rows(&self.tiles, selection).into_iter().flatten();
        let mut positions: Vec<u32> = rows
            .filter_map(|row| self.positions.get(row).copied())
            .filter(|position| *position != NOWHERE)
            .collect();
        if !positions.is_sorted() {
            positions.sort_unstable();
        }
        let runs = positions.chunk_by(|a, b| a + 1 == *b);
        let ends = runs.filter_map(|run| Some((*run.first()?, *run.last()?)));
        ends.map(|(first, last)| first as usize..last as usize + 1).collect()
    }
}

/// Ranges to draw where `most` can be told apart in the visible part: neighbors that are closer than
/// that are drawn as one, and what lies outside is left out.
pub fn visible_ranges(
    ranges: &[Range<usize>],
    (start, end): (f64, f64),
    most: usize,
) -> Vec<Range<usize>> {
    if ranges.len() <= most {
        return ranges.to_vec();
    }
    let closest = ((end - start) / most as f64) as usize;
    let mut visible: Vec<Range<usize>> = Vec::new();
    let first = ranges.partition_point(|range| (range.end as f64) < start);
    for range in ranges.iter().skip(first).take_while(|range| range.start as f64 <= end) {
        match visible.last_mut() {
            Some(last) if range.start <= last.end + closest => last.end = range.end,
            _ => visible.push(range.clone()),
        }
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_ranges_become_few() {
        let ranges: Vec<Range<usize>> = (0..1000).map(|n| n * 3..n * 3 + 1).collect();
        assert_eq!(visible_ranges(&ranges, (-0.5, 2999.5), 1000).len(), 1000);
        let few = visible_ranges(&ranges, (-0.5, 2999.5), 100);
        assert_eq!(few, [0..2998], "no gap is wide enough to be seen");
        let near = visible_ranges(&ranges, (299.5, 329.5), 100);
        assert_eq!((near.len(), near[0].clone()), (10, 300..301));
    }
}
