//! Tables of a lake that only IPU reports have: tiles, variables before lowering, operations, and what takes most of a
//! report, lowered variables and the gaps between them. Those are written tile by tile while the report is read; a few
//! tiles are in memory at a time.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, sync_channel};

use super::files::OpenReport;
use crate::analysis::comparison::contribution::{Contributor, LiveBytes};
use crate::analysis::comparison::moment::{AliveAt, ScopeStep};
use crate::analysis::consists::consists_of;
use crate::analysis::derived::Derived;
use crate::analysis::figures::difference::Side;
use crate::analysis::liveness::{Scope, live_at, variable_name};
use crate::analysis::memory;
use crate::analysis::placement::gaps::gaps;
use crate::analysis::program::operations::OperationName;
use crate::format::{Error, ErrorKind, Progress};
use crate::run::ColumnKind::{Flag, Integer, Real, Text};
use crate::run::tables::{flag, integer, integer_if, real, text};
use crate::run::{RunTable, TableRows, TableWriter};
use crate::store::ids::CategoryId;
use crate::store::placed::Placed;
use crate::store::{ClassId, Report, TileId};

/// The tables.
pub(super) const TABLES: [RunTable; 5] = [TILES, VARIABLES, OPERATIONS, PLACEMENTS, GAPS];

const TILES: RunTable = RunTable {
    name: "tiles",
    columns: &[
        ("tile", Integer),
        ("ipu", Integer),
        ("bytes", Integer),
        ("including_gaps_bytes", Integer),
        ("gap_bytes", Integer),
        ("always_live_bytes", Integer),
        ("not_always_live_max_bytes", Integer),
        ("over_limit_bytes", Integer),
        ("non_interleaved_bytes", Integer),
        ("interleaved_bytes", Integer),
        ("overflowed_bytes", Integer),
    ],
};

const VARIABLES: RunTable = RunTable {
    name: "variables",
    columns: &[
        ("variable", Integer),
        ("name", Text),
        ("class", Integer),
        ("bytes", Integer),
        ("always_live", Flag),
        ("live_at_peak", Flag),
        ("first_step", Integer),
        ("last_step", Integer),
        ("operation", Integer),
    ],
};

const OPERATIONS: RunTable = RunTable {
    name: "operations",
    columns: &[
        ("operation", Integer),
        ("kind", Text),
        ("layer", Text),
        ("name", Text),
        ("module", Text),
        ("detail", Text),
        ("available_memory_proportion", Real),
        ("location", Text),
        ("steps", Integer),
        ("always_live_bytes", Integer),
        ("not_always_live_bytes", Integer),
        ("peak_bytes", Integer),
    ],
};

const PLACEMENTS: RunTable = RunTable {
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

const GAPS: RunTable = RunTable {
    name: "gaps",
    columns: &[("tile", Integer), ("offset_bytes", Integer), ("bytes", Integer), ("reason", Text)],
};

/// Tiles that wait to be encoded.
const TILES_AHEAD: usize = 4;

/// Writes them all. The report's small tables and debug contexts are read.
///
/// # Errors
/// When the report cannot be read any more, and `cannot-write`.
pub(super) fn write(
    open: &OpenReport,
    derived: &Derived,
    writer: &dyn TableWriter,
    progress: &Progress,
) -> Result<(), Error> {
    open.read_compute(progress);
    let (report, peak) = (&*open.report, LakePeak::of(derived));
    write_placements(open, writer, &peak, progress)?;
    writer.write(&TILES, &mut |rows| tiles(report, rows))?;
    writer.write(&VARIABLES, &mut |rows| variables(report, &peak, rows))?;
    writer.write(&OPERATIONS, &mut |rows| operations(&peak, rows))
}

/// What several tables say of the peak of everything, worked out once.
struct LakePeak<'a> {
    derived: &'a Derived,
    alive: Option<AliveAt>,
    /// For each class, by position: whether it is always live, and whether anything of it is alive at the
    /// peak; the latter is not known where the peak is not.
    classes: Vec<(bool, Option<bool>)>,
}

impl<'a> LakePeak<'a> {
    fn of(derived: &'a Derived) -> Self {
        let timeline = derived.timeline(Scope::Everything, &|| false);
        let alive =
            timeline.and_then(|timeline| ScopeStep::peak(&timeline.curve, Scope::Everything));
        let classes = derived.report().liveness.get().map(|liveness| {
            let classes = &liveness.classes;
            let live = alive.map(|alive| live_at(classes, alive.moment.step));
            let of_class = |(position, always): (usize, &bool)| {
                let live = live.as_ref().and_then(|live| live.get(position).copied());
                (*always, live.map(|live| live || *always))
            };
            classes.always_live.iter().enumerate().map(of_class).collect()
        });
        Self { derived, alive, classes: classes.unwrap_or_default() }
    }

    /// Whether a class is always live, and alive at the peak; not known of one that the report does not have.
    fn life(&self, report: &Report, class: ClassId) -> (Option<bool>, Option<bool>) {
        let position = report.liveness.get().and_then(|it| it.classes.ids.position(class));
        let life = position.and_then(|position| self.classes.get(position));
        life.map_or((None, None), |(always, at_peak)| (Some(*always), *at_peak))
    }

    /// What of the bytes alive at the peak belongs to each operation, and what to none. `None` where the
    /// report does not name operations, or its debug information is cut.
    fn by_operation(&self) -> Option<(HashMap<OperationName, LiveBytes>, LiveBytes)> {
        let explained = consists_of(self.derived, self.alive?);
        let (mut named, mut rest) = (HashMap::new(), LiveBytes::default());
        for row in explained.by_owner?.operations?.into_rows() {
            let bytes = Side::Source.of(row.bytes.0);
            match row.contributor {
                Contributor::Operation(name) => drop(named.insert(name, bytes)),
                _ => rest.add_all(&bytes),
            }
        }
        Some((named, rest))
    }
}

/// Writes placements and gaps, one thread reading and another encoding.
fn write_placements(
    open: &OpenReport,
    writer: &dyn TableWriter,
    peak: &LakePeak<'_>,
    progress: &Progress,
) -> Result<(), Error> {
    let report = &*open.report;
    let cannot_write = |why: &str| {
        Error::new(ErrorKind::CannotWrite, format!("{} cannot be written: {why}", PLACEMENTS.name))
    };
    std::thread::scope(|scope| {
        let (sender, tiles) = sync_channel(TILES_AHEAD);
        let encoder = std::thread::Builder::new().name("encoder".to_owned());
        let encoder = encoder.spawn_scoped(scope, move || {
            writer.write(&PLACEMENTS, &mut |placements| {
                writer.write(&GAPS, &mut |gaps| encode(report, peak, &tiles, placements, gaps))
            })
        });
        let encoder = encoder.map_err(|error| cannot_write(&error.to_string()))?;
        let read = open.read_each_tile(progress, |tile, placed| {
            // An encoder that has ended says why itself. Where there is no room for one run there is none for the next.
            if sender.send((tile, placed)).is_err() {
                progress.cancel();
            }
        });
        drop(sender);
        let ended = |_| cannot_write("the thread that encodes ended");
        let written = encoder.join().map_err(ended)?;
        read?;
        written
    })
}

fn encode(
    report: &Report,
    peak: &LakePeak<'_>,
    tiles: &Receiver<(TileId, Placed)>,
    placements: &mut dyn TableRows,
    of_gaps: &mut dyn TableRows,
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
            placements.row(&[
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
            of_gaps.row(&[
                integer(tile.0),
                integer(gap.bytes.start),
                integer(gap.size()),
                text(gap.reason.key()),
            ])?;
        }
    }
    Ok(())
}

fn tiles(report: &Report, rows: &mut dyn TableRows) -> Result<(), Error> {
    let Some(tiles) = report.memory.get() else { return Ok(()) };
    let target = report.target.get();
    for (row, tile) in tiles.tiles.as_slice().iter().enumerate() {
        let tile: TileId = *tile;
        let [plain, interleaved, overflowed] = &tiles.by_region;
        let cell = |column| integer_if(memory::cell(column, row));
        rows.row(&[
            integer(tile.0),
            integer_if(target.and_then(|target| target.device_of(tile))),
            cell(&tiles.total),
            cell(&tiles.including_gaps),
            integer_if(memory::gap_bytes(tiles, row)),
            cell(&tiles.always_live),
            cell(&tiles.not_always_live_max),
            integer_if(memory::over_limit_bytes(tiles, target, row)),
            cell(plain),
            cell(interleaved),
            cell(overflowed),
        ])?;
    }
    Ok(())
}

fn variables(report: &Report, peak: &LakePeak<'_>, rows: &mut dyn TableRows) -> Result<(), Error> {
    let Some(liveness) = report.liveness.get() else { return Ok(()) };
    let owners = peak.derived.owners();
    let step = |position: u32| report.steps.get()?.ids.get(position as usize).map(|step| step.0);
    for row in liveness.variable_bytes.iter().flatten() {
        let class = liveness.classes.ids.position(row.class);
        let ranges = class.map_or(&[][..], |class| liveness.classes.ranges_of(class));
        let first = ranges.iter().map(|range| range.start).min();
        let last = ranges.iter().map(|range| range.end.saturating_sub(1)).max();
        let (always_live, live_at_peak) = peak.life(report, row.class);
        let operation = owners.variables.of(liveness, row);
        rows.row(&[
            integer(row.variable.0),
            text(&*variable_name(liveness, row.variable)),
            integer(row.class.0),
            integer(row.bytes),
            flag(always_live),
            flag(live_at_peak),
            integer_if(first.and_then(step)),
            integer_if(last.and_then(step)),
            integer_if(operation.map(|(operation, _)| operation)),
        ])?;
    }
    Ok(())
}

fn operations(peak: &LakePeak<'_>, rows: &mut dyn TableRows) -> Result<(), Error> {
    let Some((mut bytes_of, rest)) = peak.by_operation() else { return Ok(()) };
    let (owners, steps) = (peak.derived.owners(), peak.derived.operations());
    for (number, operation) in (0_u32..).zip(owners.operations()) {
        let name = OperationName::of(operation);
        let bytes = bytes_of.remove(&name).unwrap_or_default();
        let steps = steps.as_ref().map(|steps| steps.steps_of(number).len());
        rows.row(&[
            integer(number),
            text(operation.kind.as_deref()),
            text(operation.layer.as_str()),
            text(operation.name.as_deref()),
            text(name.module()),
            text(operation.detail.as_deref()),
            real(operation.available_memory_proportion),
            text(operation.location.as_deref()),
            integer_if(steps),
            integer(bytes.always_live),
            integer(bytes.not_always_live),
            integer(bytes.sum()),
        ])?;
    }
    let no_number = integer_if(None::<u32>);
    rows.row(&[
        no_number,
        text(None),
        text(None),
        text(None),
        text(None),
        text(None),
        real(None),
        text(None),
        no_number,
        integer(rest.always_live),
        integer(rest.not_always_live),
        integer(rest.sum()),
    ])
}
