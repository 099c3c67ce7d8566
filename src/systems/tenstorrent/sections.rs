//! The sections that only a report of TT-NN has in a summary.

use std::cmp::Reverse;

use super::memory::facts::RankView;
use super::memory::scratch_facts::{KnownScratch, closest, largest};
use super::memory::spaces::{alive_at, held_bytes};
use super::memory::{BufferLife, FreedBy, LifeReads, ProgramState};
use super::recorded::BufferSpace;
use crate::run::{Cell, Section};
use crate::text::{bytes, clean, exact_bytes, grouped};

/// Rows of a table; JSON has more.
const MOST_ROWS: usize = 12;
/// Ranks that are shown; JSON has all.
const MOST_RANKS: usize = 4;

/// Spaces, circular buffers, what is alive at the peak of L1, and errors, of each rank.
pub(super) fn sections(views: &[RankView<'_>]) -> Vec<Section> {
    let mut sections = Vec::new();
    for view in views.iter().take(MOST_RANKS) {
        let of_rank = [
            Some(machine(view)),
            Some(spaces(view)),
            Some(scratch(view)),
            alive_in_l1(view),
            errors(view),
        ];
        for mut section in of_rank.into_iter().flatten() {
            if views.len() > 1 {
                section.title = format!("Rank {}: {}", view.rank.rank, section.title);
            }
            sections.push(section);
        }
    }
    if views.len() > MOST_RANKS {
        let more = grouped(views.len().saturating_sub(MOST_RANKS) as u64);
        let said = Cell::Text(format!("{more} more; --json has all of them"));
        sections.push(Section::facts("Ranks", [("Not shown", said)]));
    }
    sections
}

fn machine(view: &RankView<'_>) -> Section {
    let machine = &view.rank.machine;
    let mut facts = vec![("Architecture", Cell::Text(machine.arch.name.clone()))];
    facts.extend(machine.board.clone().map(|board| ("Board", Cell::Text(board))));
    facts.push(("Chips", Cell::Count(machine.chips)));
    if let Some(device) = machine.device {
        let grid = format!("{} × {}", grouped(device.grid_x), grouped(device.grid_y));
        facts.extend([
            ("Worker cores", Cell::Text(grid)),
            ("L1 of a core", Cell::Bytes(device.worker_l1_bytes)),
            ("For L1 buffers", Cell::Bytes(device.l1_bank_bytes)),
            ("L1_SMALL of a core", Cell::Bytes(device.l1_small_bytes())),
        ]);
    }
    facts.push(("DRAM banks", Cell::Count(machine.dram_banks)));
    Section::facts("Chip", facts)
}

/// `31 ttnn.permute`.
fn operation(view: &RankView<'_>, at: u32) -> Cell {
    let operation = view.operation(at);
    Cell::Text(format!("{} {}", operation.operation, operation.name))
}

fn spaces(view: &RankView<'_>) -> Section {
    let row = |space: BufferSpace| {
        let peak = view.memory.peak(space);
        let level = peak.map_or(0, |at| view.memory.level(space, at));
        let banks = view.banks(space);
        let reserved = level.saturating_mul(banks);
        let alive = peak.map(|at| alive_at(view, space, at)).unwrap_or_default();
        let used = held_bytes(&alive);
        let end = view.last_operation().map_or(0, |at| view.memory.level(space, at));
        vec![
            Cell::Text(space.word().to_owned()),
            Cell::Bytes(level),
            peak.map_or(Cell::Empty, |at| operation(view, at)),
            Cell::Count(banks),
            Cell::Bytes(reserved),
            Cell::from(used),
            Cell::from(used.map(|used| reserved.saturating_sub(used))),
            Cell::Bytes(end),
        ]
    };
    let columns = [
        "Space",
        "peak of a bank",
        "at operation",
        "banks",
        "reserved on a chip",
        "holding data",
        "lost",
        "a bank at the end",
    ];
    Section::table("Memory spaces", &columns, BufferSpace::OF_CHIP.map(row).to_vec())
}

fn scratch(view: &RankView<'_>) -> Section {
    let programs = &view.memory.programs;
    let of = |state: ProgramState| {
        programs.iter().filter(|program| program.state == state).count() as u64
    };
    let mut facts = vec![("Programs", Cell::Count(programs.len() as u64))];
    for (title, state) in [
        ("Recorded", ProgramState::Recorded),
        ("Inferred", ProgramState::Inferred),
        ("Not known", ProgramState::Unknown),
    ] {
        facts.push((title, Cell::Count(of(state))));
    }
    let said = |known: &KnownScratch<'_>, what: String| {
        let at = view.operation(known.program.moment.operation);
        Cell::Text(format!(
            "{what}, operation {} {} ({})",
            grouped(at.operation),
            clean(at.name),
            known.program.state.word()
        ))
    };
    let unknown = || Cell::Text("not known".to_owned());
    let most = largest(view).map(|known| said(&known, exact_bytes(known.bytes)));
    facts.push(("Largest of a core", most.unwrap_or_else(unknown)));
    let least = closest(view).map(|known| {
        let headroom = known.headroom_bytes();
        let bytes = exact_bytes(u64::try_from(headroom.unsigned_abs()).unwrap_or(u64::MAX));
        said(&known, if headroom < 0 { format!("{bytes} too little") } else { bytes })
    });
    facts.push(("Least headroom to L1 buffers", least.unwrap_or_else(unknown)));
    Section::facts("Circular buffers", facts)
}

/// What freed a buffer: `37 ttnn.deallocate`, `Python after 35 ttnn.permute`.
fn freed(view: &RankView<'_>, life: &BufferLife) -> Cell {
    let (word, at) = match life.freed {
        None => return Cell::Text("kept to the end".to_owned()),
        Some(FreedBy::Operation(at)) => ("", at),
        Some(FreedBy::NobodyAfter(at)) => ("Python after ", at),
    };
    let operation = view.operation(at);
    Cell::Text(format!("{word}{} {}", operation.operation, operation.name))
}

fn alive_in_l1(view: &RankView<'_>) -> Option<Section> {
    let at = view.memory.peak(BufferSpace::L1)?;
    let mut alive = alive_at(view, BufferSpace::L1, at);
    alive.sort_by_key(|(life, _)| (Reverse(life.bytes), life.key));
    let more = alive.len().saturating_sub(MOST_ROWS);
    let row = |(life, reads): &(&BufferLife, LifeReads)| {
        vec![
            Cell::Text(view.buffer_name(life, *reads)),
            Cell::Bytes(life.bytes),
            Cell::Text(life.layout.map_or("", |layout| layout.word()).to_owned()),
            life.allocated_by.map_or(Cell::Empty, |by| operation(view, by)),
            life.allocated_by.and_then(|by| view.line(by)).map_or(Cell::Empty, Cell::Text),
            freed(view, life),
        ]
    };
    let mut rows: Vec<Vec<Cell>> = alive.iter().take(MOST_ROWS).map(row).collect();
    if more > 0 {
        let mut last = vec![Cell::Text(format!("{} more", grouped(more as u64)))];
        last.resize(6, Cell::Empty);
        rows.push(last);
    }
    let peak = view.operation(at);
    let title = format!(
        "L1 of a core at operation {}, {}: {}",
        grouped(peak.operation),
        clean(peak.name),
        bytes(view.memory.level(BufferSpace::L1, at))
    );
    let columns = ["Buffer", "bytes", "Layout", "Allocated by", "Line", "Freed by"];
    Some(Section::table(title, &columns, rows))
}

fn errors(view: &RankView<'_>) -> Option<Section> {
    let row = |error: &super::recorded::ErrorRow| {
        let said = super::memory::errors::said(view, error);
        let words = said.map(|said| crate::diagnose::tenstorrent::in_plain_words(&said));
        let text = words.unwrap_or_else(|| "says nothing of memory".to_owned());
        let line = error.operation.and_then(|at| view.line(at));
        vec![
            Cell::Text(error.name.clone()),
            Cell::Text(error.kind.clone()),
            Cell::Text(text),
            line.map_or(Cell::Empty, Cell::Text),
        ]
    };
    let rows: Vec<Vec<Cell>> = view.rank.errors.iter().take(MOST_ROWS).map(row).collect();
    let columns = ["Operation", "Kind", "What it says", "Line"];
    (!rows.is_empty()).then(|| Section::table("Errors", &columns, rows))
}
