//! What every tile of an IPU does over time: bulk synchronous phases, by pixel.
//!
//! The report says how many cycles each tile takes in a span, not when it begins. A tile is drawn busy from the
//! beginning of the span on for as long as it takes, then waiting until the next span that it takes part in: an
//! estimate. A pixel shows the middle of what it covers, so a picture costs as much as it is large.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::Executed;
use crate::analysis::program::kinds::Activity;
use crate::analysis::spans::SpanRow;
use crate::progress::Progress;
use crate::store::names::NameId;
use crate::store::tile_list::TileList;

/// Spans at a place of time that are looked at, the latest first.
const MOST_AT_ONCE: usize = 8;

/// What a tile does at a place of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It waits, or nothing runs.
    Waits,
    /// It is busy.
    Busy(Activity),
    /// A span runs, of which no cycles by tile were recorded.
    NotRecorded(Activity),
}

/// What is to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The cycles.
    pub cycles: (f64, f64),
    /// The tiles of the IPU, counted from 0.
    pub tiles: Range<u32>,
    /// Pixels along time and along tiles.
    pub size: [usize; 2],
}

/// The spans of an IPU in a row, without those of hidden kinds, and the number of each.
#[derive(Clone, Debug, Default)]
pub struct SpansOfIpu {
    row: SpanRow,
    spans: Vec<u32>,
}

impl SpansOfIpu {
    /// Of an IPU; `None` when it was cancelled.
    pub fn of(
        executed: Executed<'_>,
        ipu: u32,
        hidden: &[NameId],
        progress: &Progress,
    ) -> Option<Self> {
        let trace = executed.trace;
        let rows = trace.ipus.iter().find(|it| it.ipu == ipu).map_or(0..0, |ipu| ipu.rows.clone());
        let shown = rows.filter(|span| !hidden.contains(&executed.kind_of(*span)));
        let spans: Vec<u32> = shown.filter_map(|span| u32::try_from(span).ok()).collect();
        let of = |column: &[u64]| -> Vec<u64> {
            spans.iter().map(|span| column.get(*span as usize).copied().unwrap_or(0)).collect()
        };
        if progress.is_cancelled() {
            return None;
        }
        let row = SpanRow::of(of(&trace.spans.starts), of(&trace.spans.ends), Vec::new());
        Some(Self { row, spans })
    }

    /// The spans at a place of time, the latest first.
    fn at(&self, place: u64) -> Vec<u32> {
        let covering = self.row.covering(place, MOST_AT_ONCE);
        covering.into_iter().filter_map(|at| self.spans.get(at).copied()).collect()
    }
}

/// Lists of cycles by tile that were read for a picture, by number; `None` of one that is not there.
pub type ReadLists = HashMap<u32, Option<Arc<TileList>>>;

/// What the tiles do, pixel by pixel: rows of tiles from the first down, each from left to right. With it the lists
/// that were read for it: the next picture needs many of them again. `None` when it was cancelled or the report cannot
/// be read any more.
pub fn tile_picture(
    executed: Executed<'_>,
    spans: &SpansOfIpu,
    wanted: &Wanted,
    known: &ReadLists,
    progress: &Progress,
) -> Option<(Vec<Doing>, ReadLists)> {
    let [width, height] = wanted.size;
    let (from, to) = wanted.cycles;
    let per_pixel = (to - from) / width.max(1) as f64;
    let place = |x: usize| (from + (x as f64 + 0.5) * per_pixel).max(0.0) as u64;
    let columns: Vec<Vec<u32>> = (0..width).map(|x| spans.at(place(x))).collect();
    let trace = executed.trace;
    let list_of = |span: u32| trace.spans.list(span as usize);
    let of_columns = columns.iter().flatten().filter_map(|span| list_of(*span));
    let lists = read_lists(executed, of_columns, known, progress)?;
    let activities = executed.activities();
    let mut doing = vec![Doing::Waits; width * height];
    // Of the column before: the same spans run in the next one, mostly.
    let mut by_tile: Vec<(u32, Vec<u64>)> = Vec::new();
    for (x, column) in columns.iter().enumerate() {
        if progress.is_cancelled() {
            return None;
        }
        let at = place(x);
        by_tile.retain(|(span, _)| column.contains(span));
        // The earliest first, so that what began last is drawn over it.
        for span in column.iter().rev() {
            let activity = activities.of_span(*span as usize);
            let start = trace.spans.starts.get(*span as usize).copied().unwrap_or(0);
            if by_tile.iter().all(|(of, _)| of != span)
                && let Some(list) = list_of(*span).and_then(|id| lists.get(&id)?.as_ref())
            {
                by_tile.push((*span, tile_column(list, &wanted.tiles, height)));
            }
            let cycles = by_tile.iter().find(|(of, _)| of == span).map(|(_, cycles)| cycles);
            for y in 0..height {
                let found = match cycles {
                    None => Doing::NotRecorded(activity),
                    Some(cycles) => match cycles.get(y) {
                        Some(cycles) if start.saturating_add(*cycles) > at => Doing::Busy(activity),
                        _ => continue,
                    },
                };
                if let Some(pixel) = doing.get_mut(y * width + x) {
                    *pixel = found;
                }
            }
        }
    }
    Some((doing, lists))
}

/// The lists with these numbers: those that are known, and the others, read now.
fn read_lists(
    executed: Executed<'_>,
    ids: impl Iterator<Item = u32>,
    known: &ReadLists,
    progress: &Progress,
) -> Option<ReadLists> {
    let mut lists = ReadLists::new();
    let mut unknown = Vec::new();
    for id in ids {
        match known.get(&id) {
            Some(list) => drop(lists.insert(id, list.clone())),
            None => unknown.push(id),
        }
    }
    unknown.sort_unstable();
    unknown.dedup();
    let Some(reader) = executed.report.reader() else { return Some(lists) };
    let read = reader.read_tile_cycles(&unknown, progress).ok()?;
    if progress.is_cancelled() {
        return None;
    }
    lists.extend(unknown.into_iter().zip(read.into_iter().map(|list| list.map(Arc::new))));
    Some(lists)
}

/// The number of the tile in the middle of each pixel.
fn tile_column(list: &TileList, tiles: &Range<u32>, height: usize) -> Vec<u64> {
    let count = tiles.end.saturating_sub(tiles.start) as usize;
    let mut numbers = Vec::with_capacity(height);
    let mut end = 0_usize;
    list.runs_in(tiles.clone(), |run, value| {
        end += run as usize;
        // The pixels whose middle lies before the end of the run.
        while numbers.len() < height && (2 * numbers.len() + 1) * count < 2 * end * height {
            numbers.push(value);
        }
    });
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_shows_the_tile_in_its_middle() {
        let list = TileList::from_runs([(2, 5), (1, 7), (5, 0)]);
        assert_eq!(tile_column(&list, &(0..8), 8), [5, 5, 7, 0, 0, 0, 0, 0]);
        assert_eq!(tile_column(&list, &(0..8), 4), [5, 0, 0, 0], "tiles 1, 3, 5, 7");
        assert_eq!(tile_column(&list, &(2..4), 4), [7, 7, 0, 0]);
        assert_eq!(tile_column(&list, &(7..9), 2), [0], "a tile that the list does not have");
    }
}
