//! The map of segments against blocks one by one.

use super::*;
use crate::store::snapshot::{Events, Snapshot, StackId};

const MIB: u64 = 1 << 20;
const FIRST: u64 = 0x7000_0000;
const SECOND: u64 = 0x9000_0000;

/// Two segments of 8 MiB; in the first blocks of 2 and 4 MiB, of which the first is given back, in the second one that
/// asks for less than it takes.
fn replayed() -> ReplayedSnapshot {
    use Action::{Alloc, FreeCompleted, FreeRequested, SegmentAlloc};
    let rows = [
        (SegmentAlloc, FIRST, 8 * MIB),
        (Alloc, FIRST, 2 * MIB),
        (Alloc, FIRST + 2 * MIB, 4 * MIB),
        (SegmentAlloc, SECOND, 8 * MIB),
        (Alloc, SECOND, 7 * MIB + MIB / 2),
        (FreeRequested, FIRST, 2 * MIB),
        (Alloc, FIRST + 6 * MIB, 2 * MIB),
        (FreeCompleted, FIRST, 2 * MIB),
    ];
    let count = rows.len();
    let events = Events {
        actions: rows.iter().map(|row| row.0).collect(),
        addresses: rows.iter().map(|row| row.1).collect(),
        sizes: rows.iter().map(|row| row.2).collect(),
        streams: vec![0; count].into(),
        times: vec![Events::NO_TIME; count].into(),
        stacks: vec![StackId::NONE; count].into(),
        texts: Vec::new(),
    };
    let mut snapshot = Snapshot { events, ..Snapshot::default() };
    snapshot.devices.push(SnapshotDevice { events: 0..count, ..Default::default() });
    ReplayedSnapshot::of(snapshot)
}

#[test]
fn what_is_free_lies_between_blocks() {
    let replayed = replayed();
    let axis = segment_axis(&replayed, 0);
    let at = |step| segments_at(&replayed, 0, &axis, step);
    let end = at(7);
    assert_eq!((end.count, end.whole.reserved), (2, 16 * MIB));
    let [first, second] = end.arenas[..] else { panic!("two: {end:?}") };
    assert_eq!((first.free(), first.pieces, first.largest), (2 * MIB, 1, (FIRST, 2 * MIB)));
    // The rest is not split off, as no large request could use it.
    assert_eq!((second.free(), second.pieces, second.blocks), (0, 0, 1));
    let before = at(2);
    assert_eq!((before.count, before.whole.free()), (1, 2 * MIB));
    assert_eq!(before.whole.largest, (FIRST + 6 * MIB, 2 * MIB));
}

#[test]
fn a_cell_says_how_much_of_it_is_in_use() {
    let replayed = replayed();
    let axis = segment_axis(&replayed, 0);
    let first = &axis.arenas[0];
    let y = (first.start as f64, (first.start + first.length) as f64);
    // All of the first segment in one cell for each event: 6 of 8 MiB from event 2 on, then all but what waits no more.
    let window = MapWindow { x: (0.0, 8.0), y, columns: 8, rows: 1 };
    let cells = map_cells(&replayed, 0, &axis, window, &|| false).expect("not cancelled");
    let covered: Vec<u8> = cells.covered.iter().map(|covered| covered / 32).collect();
    assert_eq!(covered, [0, 2, 6, 6, 6, 6, 7, 6], "eighths of a cell");
}

#[test]
fn cells_show_blocks_where_and_when_they_are() {
    let replayed = replayed();
    let axis = segment_axis(&replayed, 0);
    let first = &axis.arenas[0];
    assert_eq!(axis.address(first.start as f64), Some((0, FIRST)));
    let y = (first.start as f64, (first.start + first.length) as f64);
    // A row for each MiB of the first segment, a column for each event.
    let window = MapWindow { x: (0.0, 8.0), y, columns: 8, rows: 8 };
    let cells = map_cells(&replayed, 0, &axis, window, &|| false).expect("not cancelled");
    let seen = |row: usize| -> String {
        let kind = |column| match cells.get(column, row).expect("a cell") {
            (CellKind::None, _) => ' ',
            (CellKind::Free, _) => '.',
            (CellKind::Pending, Some(_)) => 'p',
            (_, Some(block)) => char::from_digit(block as u32, 10).unwrap_or('?'),
            other => panic!("{other:?}"),
        };
        (0..8).map(kind).collect()
    };
    let rows: Vec<String> = (0..8).map(seen).collect();
    // The blocks in the order of their allocation; the highest address on top.
    let expected = [
        "......33", "......33", "..111111", "..111111", "..111111", "..111111", ".0000pp.",
        ".0000pp.",
    ];
    assert_eq!(rows, expected);
}
