//! The figures of a report that sweeps and comparisons put side by side, and the settings that can be read from it.

use super::memory::facts::RankView;
use super::memory::scratch_facts::{closest, largest};
use super::memory::spaces::KeptToEnd;
use super::recorded::BufferSpace;
use crate::analysis::sweep::{FigureKind, SweepFigure};

static L1_PEAK: FigureKind = FigureKind::bytes(
    ["l1_peak_bytes_per_core", "l1-peak"],
    ["L1 buffers, peak", "L1 peak"],
    Some(10),
);
static WITHIN: FigureKind = FigureKind::bytes(
    ["l1_transient_peak_bytes_per_core", "l1-within"],
    ["L1 within operations, peak", "within operations"],
    Some(11),
);
static SCRATCH: FigureKind = FigureKind::bytes(
    ["largest_scratch_bytes_per_core", "circular-buffers"],
    ["Largest circular buffers", "circular buffers"],
    Some(12),
);
static HEADROOM: FigureKind = FigureKind::bytes(
    ["headroom_bytes_per_core", "headroom"],
    ["Least headroom of circular buffers", "headroom"],
    Some(13),
);
static KEPT: FigureKind = FigureKind::bytes(
    ["l1_read_then_kept_bytes_per_core", "kept"],
    ["Read and kept in L1", "kept"],
    Some(14),
);
static DRAM_PEAK: FigureKind = FigureKind::bytes(
    ["dram_peak_bytes_per_bank", "dram-peak"],
    ["DRAM of a bank, peak", "DRAM peak"],
    Some(15),
);

/// The figures of a rank. Those of circular buffers are bounds where programs are not known.
pub(super) fn figures(view: &RankView<'_>) -> Vec<SweepFigure> {
    let is_unknown = view.memory.unknown_programs() > 0;
    let headroom = closest(view).and_then(|known| u64::try_from(known.headroom_bytes()).ok());
    let kept = KeptToEnd::of(view, BufferSpace::L1).read_then_kept.bytes_per_bank;
    vec![
        SweepFigure::count(&L1_PEAK, Some(view.memory.peak_bytes(BufferSpace::L1))),
        SweepFigure::count(&WITHIN, view.memory.transient.map(|peak| peak.bytes)),
        SweepFigure::count(&SCRATCH, largest(view).map(|known| known.bytes)).at_least(is_unknown),
        SweepFigure::count(&HEADROOM, headroom.filter(|_| !is_unknown)),
        SweepFigure::count(&KEPT, Some(kept)),
        SweepFigure::count(&DRAM_PEAK, Some(view.memory.peak_bytes(BufferSpace::Dram))),
    ]
}

/// What a run was made with, as far as its operations tell: names with values.
pub(super) fn settings(view: &RankView<'_>) -> Vec<(String, String)> {
    let mut found = vec![("chip".to_owned(), view.rank.machine.arch.name.clone())];
    found.extend(view.rank.machine.board.clone().map(|board| ("board".to_owned(), board)));
    // What operations make of other tensors.
    let lives = view.memory.lives.iter().zip(&view.memory.reads);
    let made = lives.filter(|(life, reads)| {
        reads.is_visible && life.allocated_by.is_some_and(|by| view.rank.operations.reads(by))
    });
    let mut bytes_of_spaces = [0_u64; BufferSpace::COUNT];
    let mut most = None;
    for (life, reads) in made {
        let bytes = life.bytes.saturating_mul(view.banks(life.key.space));
        if let Some(sum) = bytes_of_spaces.get_mut(life.key.space as usize) {
            *sum = sum.saturating_add(bytes);
        }
        most = most.max(Some((life.chip_bytes.unwrap_or(bytes), reads.tensor)));
    }
    let (bytes, space) = bytes_of_spaces
        .into_iter()
        .zip(BufferSpace::ALL)
        .max_by_key(|(bytes, _)| *bytes)
        .unwrap_or((0, BufferSpace::L1));
    if bytes > 0 {
        found.push(("most results in".to_owned(), space.word().to_owned()));
    }
    let shape = most.and_then(|(_, tensor)| view.tensor(tensor).0);
    found.extend(shape.map(|shape| ("largest result".to_owned(), format!("{shape:?}"))));
    found
}
