//! The figures of a report that sweeps and comparisons put side by side, and the settings that can be read from it.

use std::collections::BTreeMap;

use super::memory::facts::RankView;
use super::memory::scratch_facts::{closest, largest};
use super::memory::spaces::KeptToEnd;
use super::memory::{BufferLife, LifeReads};
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
    let made = made_of_others(view);
    let most = |name: &str, value: &dyn Fn(&MadeTensor<'_>) -> Option<String>| {
        Some((name.to_owned(), value_of_most(&made, value)?))
    };
    found.extend(most("memory of most results", &|made| {
        Some(made.life.key.space.word().to_owned())
    }));
    found.extend(most("data type of most results", &|made| made.data_type.map(str::to_owned)));
    let layout = |made: &MadeTensor<'_>| Some(made.life.layout?.word().to_lowercase());
    found.extend(most("layout of most results", &layout));
    let largest = made.iter().max_by_key(|made| (made.used_bytes, made.tensor));
    let shape = largest.and_then(|made| view.tensor(made.tensor).0);
    found.extend(shape.map(|shape| ("largest result".to_owned(), format!("{shape:?}"))));
    found
}

/// A tensor that an operation made of others.
struct MadeTensor<'a> {
    life: &'a BufferLife,
    tensor: Option<u64>,
    data_type: Option<&'a str>,
    /// Bytes that it takes of a chip, and those of its data.
    bytes: u64,
    used_bytes: u64,
}

fn made_of_others<'a>(view: &RankView<'a>) -> Vec<MadeTensor<'a>> {
    let lives = view.memory.lives.iter().zip(&view.memory.reads);
    let made = lives.filter(|(life, reads)| {
        reads.is_visible && life.allocated_by.is_some_and(|by| view.rank.operations.reads(by))
    });
    let tensor = |(life, reads): (&'a BufferLife, &LifeReads)| {
        let bytes = life.bytes.saturating_mul(view.banks(life.key.space));
        MadeTensor {
            life,
            tensor: reads.tensor,
            data_type: view.tensor(reads.tensor).1.filter(|name| !name.is_empty()),
            bytes,
            used_bytes: life.chip_bytes.unwrap_or(bytes),
        }
    };
    made.map(tensor).collect()
}

/// The value that most bytes have; nothing where it is not known of most.
fn value_of_most(
    made: &[MadeTensor<'_>],
    value: &dyn Fn(&MadeTensor<'_>) -> Option<String>,
) -> Option<String> {
    let mut bytes: BTreeMap<Option<String>, u64> = BTreeMap::new();
    for made in made {
        let sum = bytes.entry(value(made)).or_default();
        *sum = sum.saturating_add(made.bytes);
    }
    let (most, bytes) = bytes.into_iter().max_by_key(|(_, bytes)| *bytes)?;
    most.filter(|_| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::tenstorrent::recorded::BufferKey;

    #[test]
    fn the_value_of_most_bytes_is_named_where_it_is_known() {
        let life = BufferLife {
            key: BufferKey { space: BufferSpace::L1, address: 0 },
            bytes: 0,
            chip_bytes: None,
            layout: None,
            allocated_by: None,
            first: 0,
            freed: None,
        };
        let made = [("a", 3), ("b", 2), ("", 9)].map(|(name, bytes)| MadeTensor {
            life: &life,
            tensor: None,
            data_type: Some(name).filter(|name| !name.is_empty()),
            bytes,
            used_bytes: bytes,
        });
        let of =
            |made: &[MadeTensor<'_>]| value_of_most(made, &|one| one.data_type.map(str::to_owned));
        assert_eq!(of(&made[..2]).as_deref(), Some("a"));
        assert_eq!((of(&made), of(&[])), (None, None));
    }
}
