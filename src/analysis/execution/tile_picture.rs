//! A picture of every tile of an IPU over time: its bulk synchronous phases, by pixel.
//!
//! The report says how many cycles each tile takes in a span, not when it begins. A tile is drawn busy from the
//! beginning of the span on for as long as it takes, then waiting until the next span that it takes part in: an
//! estimate. A pixel shows the middle of what it covers, so a picture costs as much as it is large.

use std::collections::{BTreeSet, HashMap};
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
/// Lists that are read together, and what those that are kept for the next picture may take, bytes.
const LISTS_AT_ONCE: usize = 1024;
const KEPT_BYTES: usize = 16 << 20;

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
pub struct TileWindow {
    /// The cycles.
    pub cycles: (f64, f64),
    /// The tiles of the IPU, counted from 0.
    pub tiles: Range<u32>,
    /// Pixels along time and along tiles.
    pub size: [usize; 2],
}

/// The spans of an IPU in a row, without those of hidden kinds, and the number of each.
#[derive(Clone, Debug, Default)]
pub struct SpansOfDevice {
    row: SpanRow,
    spans: Vec<u32>,
}

impl SpansOfDevice {
    /// Of an IPU; `None` when it was canceled.
    pub fn of(
        executed: Executed<'_>,
        device: u32,
        hidden: &[NameId],
        progress: &Progress,
    ) -> Option<Self> {
        let trace = executed.trace;
        let rows = trace
            .devices
            .iter()
            .find(|it| it.device == device)
            .map_or(0..0, |device| device.rows.clone());
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
/// that were read for it, as many as may be kept: the next picture needs many of them again. `None` when it was
/// canceled or the report cannot be read any more.
pub fn tile_picture(
    executed: Executed<'_>,
    spans: &SpansOfDevice,
    wanted: &TileWindow,
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
    let mut lists =
        ColumnLists { known, now: ReadLists::new(), kept: ReadLists::new(), kept_bytes: 0 };
    let mut known_to = 0;
    let activities = executed.activities();
    let mut doing = vec![Doing::Waits; width * height];
    // Of the column before: the same spans run in the next one, mostly.
    let mut by_tile: Vec<(u32, Vec<u64>)> = Vec::new();
    for (x, column) in columns.iter().enumerate() {
        if progress.is_cancelled() {
            return None;
        }
        if x == known_to {
            let next = columns.get(x..).unwrap_or(&[]).iter();
            let ids = next.map(|column| column.iter().filter_map(|span| list_of(*span)));
            known_to += lists.read(executed, ids, progress)?;
        }
        let at = place(x);
        by_tile.retain(|(span, _)| column.contains(span));
        // The earliest first, so that what began last is drawn over it.
        for span in column.iter().rev() {
            let activity = activities.of_span(*span as usize);
            let start = trace.spans.starts.get(*span as usize).copied().unwrap_or(0);
            if by_tile.iter().all(|(of, _)| of != span)
                && let Some(list) = list_of(*span).and_then(|id| lists.now.get(&id)?.as_ref())
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
    Some((doing, lists.kept))
}

/// The lists of some columns after the other.
struct ColumnLists<'a> {
    /// Those of the picture before.
    known: &'a ReadLists,
    /// Those of the columns that are drawn now.
    now: ReadLists,
    /// Those that the next picture gets, and what they take.
    kept: ReadLists,
    kept_bytes: usize,
}

impl ColumnLists<'_> {
    /// Gets the lists of as many columns as are read together, each given by the numbers of its lists; says of how
    /// many. `None` when it was canceled or they cannot be read.
    fn read<I: Iterator<Item = u32>>(
        &mut self,
        executed: Executed<'_>,
        columns: impl Iterator<Item = I>,
        progress: &Progress,
    ) -> Option<usize> {
        let mut ids = BTreeSet::new();
        let mut count = 0;
        for column in columns {
            if count > 0 && ids.len() + MOST_AT_ONCE > LISTS_AT_ONCE {
                break;
            }
            ids.extend(column);
            count += 1;
        }
        let mut now = ReadLists::new();
        let mut unknown = Vec::new();
        for id in ids {
            let mut known = [&self.now, &self.kept, self.known].into_iter();
            match known.find_map(|lists| lists.get(&id)) {
                Some(list) => drop(now.insert(id, list.clone())),
                None => unknown.push(id),
            }
        }
        let reader = executed.report.reader().filter(|_| !unknown.is_empty());
        if let Some(reader) = reader {
            let read = reader.read_tile_cycles(&unknown, progress).ok()?;
            if progress.is_cancelled() {
                return None;
            }
            now.extend(unknown.into_iter().zip(read.into_iter().map(|list| list.map(Arc::new))));
        }
        for (id, list) in &now {
            let bytes = list.as_ref().map_or(0, |list| list.resident_bytes());
            let all = self.kept_bytes.saturating_add(bytes);
            if all <= KEPT_BYTES && !self.kept.contains_key(id) {
                self.kept.insert(*id, list.clone());
                self.kept_bytes = all;
            }
        }
        self.now = now;
        Some(count)
    }
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
    use crate::store::execution::{ExecutionTrace, Span};
    use crate::store::placed::{Placed, ReadArena, ReadError};
    use crate::store::target::Target;
    use crate::store::{ArenaId, Report};
    use std::sync::Mutex;

    const SPANS: u32 = 1500;
    const TILES: u32 = 32 << 10;

    /// How many lists were read each time.
    #[derive(Clone, Debug, Default)]
    struct Read(Arc<Mutex<Vec<usize>>>);

    impl ReadArena for Read {
        fn read(&self, _: ArenaId, _: &Progress) -> Result<Option<Placed>, ReadError> {
            Ok(None)
        }

        /// All tiles are busy to the end of the span; of every tenth the numbers differ, which takes room.
        fn read_tile_cycles(
            &self,
            lists: &[u32],
            _: &Progress,
        ) -> Result<Vec<Option<TileList>>, ReadError> {
            self.0.lock().expect("a lock").push(lists.len());
            let list = |id: &u32| match id % 10 {
                0 => TileList::from_runs((0..TILES).map(|tile| (1, 10 + (u64::from(tile) << 8)))),
                _ => TileList::from_runs([(TILES, 10)]),
            };
            let list = |id| Some(list(id));
            Ok(lists.iter().map(list).collect())
        }
    }

    #[test]
    fn lists_are_read_some_at_a_time_and_as_many_are_kept_as_may_be() {
        let (report, read) = (Report::default(), Read::default());
        let tiles = Some(u64::from(TILES));
        report.target.fill(Some(Target { tiles_per_device: tiles, ..Target::default() }));
        let mut trace = ExecutionTrace::default();
        (0..SPANS).for_each(|step| trace.push_step(step, NameId::NONE, None, None));
        let span = |step: u32| Span {
            device: 0,
            step,
            start: u64::from(step) * 10,
            end: u64::from(step) * 10 + 10,
            cycles: 10,
            active_tiles: TILES,
            balance: None,
            list: Some(step),
        };
        trace.set_spans((0..SPANS).map(span).collect());
        report.trace.fill(Some(trace));
        report.set_reader(Box::new(read.clone()));
        let executed = Executed::of(&report).expect("a trace");
        let progress = Progress::default();
        let spans = SpansOfDevice::of(executed, 0, &[], &progress).expect("spans");
        let picture = |of: u32, known: &ReadLists| {
            let size = [of as usize, 2];
            let wanted = TileWindow { cycles: (0.0, f64::from(of) * 10.0), tiles: 0..TILES, size };
            let found =
                tile_picture(executed, &spans, &wanted, known, &progress).expect("a picture");
            (found, std::mem::take(&mut *read.0.lock().expect("a lock")))
        };
        let ((doing, kept), reads) = picture(SPANS, &ReadLists::new());
        assert!(doing.iter().all(|doing| *doing == Doing::Busy(Activity::Other)), "of all columns");
        assert_eq!(reads.iter().sum::<usize>(), SPANS as usize, "each once");
        assert!(reads.len() == 2 && reads.iter().all(|count| *count <= LISTS_AT_ONCE), "{reads:?}");
        let bytes: usize = kept.values().flatten().map(|list| list.resident_bytes()).sum();
        assert!(bytes <= KEPT_BYTES && bytes > KEPT_BYTES / 2, "{bytes}");
        // Where nothing is unknown, nobody is asked.
        let ((_, kept), _) = picture(100, &ReadLists::new());
        let (_, reads) = picture(50, &kept);
        assert_eq!(reads, [0; 0]);
    }

    #[test]
    fn a_pixel_shows_the_tile_in_its_middle() {
        let list = TileList::from_runs([(2, 5), (1, 7), (5, 0)]);
        assert_eq!(tile_column(&list, &(0..8), 8), [5, 5, 7, 0, 0, 0, 0, 0]);
        assert_eq!(tile_column(&list, &(0..8), 4), [5, 0, 0, 0], "tiles 1, 3, 5, 7");
        assert_eq!(tile_column(&list, &(2..4), 4), [7, 7, 0, 0]);
        assert_eq!(tile_column(&list, &(7..9), 2), [0], "a tile that the list does not have");
    }
}
