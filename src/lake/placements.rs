//! The tables of lowered variables, which take most of a report: where each lies, and the gaps between them.
//! They are written tile by tile while the report is read; a few tiles are in memory at a time.

use std::sync::mpsc::{Receiver, sync_channel};

use super::small_tables::PeakOfRun;
use super::staging::Staging;
use super::table::Kind::{Flag, Integer, Text};
use super::table::{Table, Writer, Written, cannot_write, flag, integer, integer_if, text};
use crate::analysis::placement::gaps::gaps;
use crate::format::{Error, Progress};
use crate::store::ids::CategoryId;
use crate::store::placed::Placed;
use crate::store::{Report, TileId};
use crate::systems::poplar::files::OpenReport;

pub(super) const PLACEMENTS: Table = Table {
    name: "placements",
    columns: &[
        ("tile", Integer),
        ("offset_bytes", Integer),
        ("bytes", Integer),
        ("category", Text),
        ("name", Text),
        ("variable", Integer),
        ("class", Integer),
        ("always_live", Flag),
        ("live_at_peak", Flag),
    ],
};

pub(super) const GAPS: Table = Table {
    name: "gaps",
    columns: &[("tile", Integer), ("offset_bytes", Integer), ("bytes", Integer), ("reason", Text)],
};

/// Tiles that wait to be encoded.
const TILES_AHEAD: usize = 4;

/// Writes both, one thread reading and another encoding.
///
/// # Errors
/// When the report cannot be read any more, and `cannot-write`.
pub(super) fn write(
    staging: &Staging<'_>,
    open: &OpenReport,
    peak: &PeakOfRun,
    progress: &Progress,
) -> Result<Vec<(&'static str, Written)>, Error> {
    let mut tables = Tables::create(staging)?;
    let report = &*open.report;
    std::thread::scope(|scope| {
        let (sender, tiles) = sync_channel(TILES_AHEAD);
        let encoder = std::thread::Builder::new().name("encoder".to_owned());
        let encoder = encoder.spawn_scoped(scope, move || {
            encode(&mut tables, report, peak, &tiles).and_then(|()| tables.finish())
        });
        let encoder = encoder.map_err(|error| cannot_write(staging.lake(), &error))?;
        let read = open.read_each_tile(progress, |tile, placed| {
            // An encoder that has ended says why itself. Where there is no room for one run there is none for the next.
            if sender.send((tile, placed)).is_err() {
                progress.cancel();
            }
        });
        drop(sender);
        let ended = |_| cannot_write(staging.lake(), &"the thread that encodes ended");
        let written = encoder.join().map_err(ended)?;
        read?;
        written
    })
}

/// Writes both without a row.
///
/// # Errors
/// `cannot-write`.
pub(super) fn write_none(staging: &Staging<'_>) -> Result<Vec<(&'static str, Written)>, Error> {
    Tables::create(staging)?.finish()
}

struct Tables<'a> {
    placements: Writer<'a>,
    gaps: Writer<'a>,
}

impl<'a> Tables<'a> {
    fn create(staging: &Staging<'a>) -> Result<Self, Error> {
        Ok(Self { placements: staging.create(&PLACEMENTS)?, gaps: staging.create(&GAPS)? })
    }

    fn finish(self) -> Result<Vec<(&'static str, Written)>, Error> {
        let (placements, gaps) = (self.placements.finish()?, self.gaps.finish()?);
        Ok(vec![(PLACEMENTS.name, placements), (GAPS.name, gaps)])
    }
}

fn encode(
    tables: &mut Tables<'_>,
    report: &Report,
    peak: &PeakOfRun,
    tiles: &Receiver<(TileId, Placed)>,
) -> Result<(), Error> {
    for (tile, placed) in tiles {
        for (row, placement) in placed.placements.iter().enumerate() {
            // What has no place takes no memory.
            if !placement.flags.is_allocated() {
                continue;
            }
            let category = placement.category.and_then(|id| report.category_name(CategoryId(id)));
            let (always_live, live_at_peak) = peak.life(report, placement.class);
            let class = always_live.map(|_| placement.class.0);
            tables.placements.row([
                integer(tile.0),
                integer(placement.offset),
                integer(placement.bytes),
                text(category),
                text(placed.names.at(row).unwrap_or("")),
                integer_if(placement.unlowered.map(|variable| variable.0)),
                integer_if(class),
                flag(always_live),
                flag(live_at_peak),
            ])?;
        }
        for gap in gaps(&placed, report.target.get()) {
            tables.gaps.row([
                integer(tile.0),
                integer(gap.bytes.start),
                integer(gap.size()),
                text(gap.reason.key()),
            ])?;
        }
    }
    Ok(())
}
