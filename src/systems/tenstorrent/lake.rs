//! Tables of a lake that only reports of TT-NN have: operations, buffers with their lives, and tensors.

use super::memory::facts::RankView;
use super::memory::purposes::BufferPurpose;
use super::memory::scratch_facts::ProgramsOfOperation;
use super::memory::{BufferLife, FreedBy};
use super::recorded::{BufferLayout, BufferSpace};
use super::run::TtnnContents;
use crate::format::{Error, Progress};
use crate::run::ColumnKind::{Flag, Integer, Text};
use crate::run::tables::{flag, integer, integer_if, text};
use crate::run::{RunTable, TableRows, TableWriter};

/// The tables.
pub(super) const TABLES: [RunTable; 3] = [CALLS, BUFFERS, TENSORS];

const CALLS: RunTable = RunTable {
    name: "calls",
    columns: &[
        ("rank", Integer),
        ("operation", Integer),
        ("step", Integer),
        ("name", Text),
        ("line", Text),
        ("host_time_us", Integer),
        ("l1_bytes_per_core", Integer),
        ("l1_small_bytes_per_core", Integer),
        ("dram_bytes_per_bank", Integer),
        ("programs", Integer),
        ("unknown_programs", Integer),
        ("scratch_bytes_per_core", Integer),
        ("headroom_bytes_per_core", Integer),
        ("failed", Flag),
    ],
};

const BUFFERS: RunTable = RunTable {
    name: "buffers",
    columns: &[
        ("rank", Integer),
        ("buffer", Integer),
        ("space", Text),
        ("address", Integer),
        ("bytes_per_bank", Integer),
        ("used_bytes_per_chip", Integer),
        ("layout", Text),
        ("category", Text),
        ("tensor", Integer),
        ("shape", Text),
        ("data_type", Text),
        ("line", Text),
        ("allocated_operation", Integer),
        ("freed_operation", Integer),
        ("freed_by_python", Flag),
        ("last_read_operation", Integer),
        ("live_at_peak", Flag),
    ],
};

const TENSORS: RunTable = RunTable {
    name: "tensors",
    columns: &[
        ("rank", Integer),
        ("tensor", Integer),
        ("shape", Text),
        ("data_type", Text),
        ("space", Text),
        ("address", Integer),
        ("first_read_operation", Integer),
        ("last_read_operation", Integer),
        ("visible", Flag),
    ],
};

/// Writes them all.
///
/// # Errors
/// `cannot-write`, and when it was canceled.
pub(super) fn write(
    contents: &TtnnContents,
    writer: &dyn TableWriter,
    progress: &Progress,
) -> Result<(), Error> {
    let views = contents.views();
    let each = |rows: &mut dyn TableRows, of: WriteRows| {
        views.iter().try_for_each(|view| {
            if progress.is_cancelled() { Err(Error::cancelled()) } else { of(view, rows) }
        })
    };
    writer.write(&CALLS, &mut |rows| each(rows, calls))?;
    writer.write(&BUFFERS, &mut |rows| each(rows, buffers))?;
    writer.write(&TENSORS, &mut |rows| each(rows, tensors))
}

type WriteRows = fn(&RankView<'_>, &mut dyn TableRows) -> Result<(), Error>;

fn calls(view: &RankView<'_>, rows: &mut dyn TableRows) -> Result<(), Error> {
    let programs = ProgramsOfOperation::by_operation(view);
    let operations = &view.rank.operations;
    for at in 0..operations.count() {
        let facts = view.operation(at);
        let of = programs.get(&at).copied().unwrap_or_default();
        let nanoseconds = operations.host_nanoseconds.get(at as usize).copied().flatten();
        let level = |space| integer(view.memory.level(space, at));
        rows.row(&[
            integer(view.rank.rank),
            integer(facts.operation),
            integer(at),
            text(facts.name),
            text(view.line(at).as_deref()),
            integer_if(nanoseconds.map(|nanoseconds| nanoseconds / 1000)),
            level(BufferSpace::L1),
            level(BufferSpace::L1Small),
            level(BufferSpace::Dram),
            integer(of.count),
            integer(of.unknown),
            integer_if(of.scratch_bytes),
            integer_if(of.headroom_bytes),
            flag(operations.has_error.get(at as usize).copied()),
        ])?;
    }
    Ok(())
}

fn buffers(view: &RankView<'_>, rows: &mut dyn TableRows) -> Result<(), Error> {
    let operation = |at: u32| view.operation(at).operation;
    let peaks = BufferSpace::ALL.map(|space| view.memory.peak(space));
    let lives = view.memory.lives.iter().zip(&view.memory.reads).enumerate();
    for (number, (life, reads)) in lives {
        let (shape, data_type) = view.tensor(reads.tensor);
        let peak = peaks.get(life.key.space as usize).copied().flatten();
        rows.row(&[
            integer(view.rank.rank),
            integer(number),
            text(life.key.space.word()),
            integer(life.key.address),
            integer(life.bytes),
            integer_if(life.chip_bytes),
            text(life.layout.map(BufferLayout::word)),
            text(BufferPurpose::of(view, life, *reads).key()),
            integer_if(reads.tensor),
            text(shape.map(|shape| format!("{shape:?}")).as_deref()),
            text(data_type),
            text(life.allocated_by.and_then(|by| view.line(by)).as_deref()),
            integer_if(life.allocated_by.map(operation)),
            integer_if(life.freed.map(|freed| operation(freed_at(freed)))),
            flag(life.freed.map(|freed| matches!(freed, FreedBy::NobodyAfter(_)))),
            integer_if(reads.last.map(operation)),
            flag(peak.map(|peak| BufferLife::is_at_end_of(life, peak))),
        ])?;
    }
    Ok(())
}

/// The operation that freed a buffer, or after which Python did.
fn freed_at(freed: FreedBy) -> u32 {
    match freed {
        FreedBy::Operation(at) | FreedBy::NobodyAfter(at) => at,
    }
}

fn tensors(view: &RankView<'_>, rows: &mut dyn TableRows) -> Result<(), Error> {
    let operation = |at: u32| view.operation(at).operation;
    for (tensor, facts) in view.rank.tensors.with_rows() {
        let key = facts.row.and_then(|row| row.key);
        let (shape, data_type) = view.tensor(Some(tensor));
        rows.row(&[
            integer(view.rank.rank),
            integer(tensor),
            text(shape.map(|shape| format!("{shape:?}")).as_deref()),
            text(data_type),
            text(key.map(|key| key.space.word())),
            integer_if(key.map(|key| key.address)),
            integer_if(facts.first_read.map(operation)),
            integer_if(facts.last_read.map(operation)),
            flag(facts.is_visible),
        ])?;
    }
    Ok(())
}
