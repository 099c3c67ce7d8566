//! Two reports beside each other (formats/tenstorrent.md 11, `compare`).

mod changed;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::memory::ProgramState;
use super::memory::facts::{OperationFacts, RankView};
use super::memory::scratch_facts::{closest, largest};
use super::memory::spaces::{KeptToEnd, alive_at, dead_at};
use super::recorded::BufferSpace;
use super::run::{TtnnContents, main_view};
use crate::analysis::figures::difference::Difference;
use crate::run::section::keys_of;
use crate::run::{Compared, Conclusion};

/// Letters of the value of a setting in a sentence.
const LETTERS_OF_SETTING: usize = 40;

/// One of two reports.
#[derive(Clone, Debug)]
pub struct ComparedReport(pub Arc<TtnnContents>);

/// The section `tenstorrent` of a comparison: of the rank of each report that takes most of L1.
pub fn change_json(compared: &Compared) -> Map<String, Value> {
    let Some([source, target]) = compared.own::<ComparedReport>() else { return Map::new() };
    let [sources, targets] = [source.0.views(), target.0.views()];
    let (Some(source), Some(target)) = (main_view(&sources), main_view(&targets)) else {
        return Map::new();
    };
    keys_of(&ReportChange::of([source, target]))
}

/// What the change did, in words.
pub fn change_conclusions(compared: &Compared, size: &dyn Fn(u64) -> String) -> Vec<Conclusion> {
    let mut said: Vec<Conclusion> =
        compared.settings_conclusion("Settings", LETTERS_OF_SETTING).into_iter().collect();
    let Some([source, target]) = compared.own::<ComparedReport>() else { return said };
    let [sources, targets] = [source.0.views(), target.0.views()];
    if let (Some(source), Some(target)) = (main_view(&sources), main_view(&targets)) {
        said.extend(changed::conclusions(&ReportChange::of([source, target]), size));
    }
    said
}

#[derive(Debug, Serialize)]
struct ReportChange<'a> {
    spaces: ComparedSpaces<'a>,
    l1_transient_peak_bytes_per_core: Difference,
    scratch: ScratchChange,
    l1_read_then_kept_bytes_per_core: Difference,
    l1_dead_at_peak_bytes_per_core: Difference,
    operations: Difference,
}

#[derive(Debug, Serialize)]
struct ComparedSpaces<'a> {
    #[serde(rename = "DRAM")]
    dram: SpaceChange<'a>,
    #[serde(rename = "L1")]
    l1: SpaceChange<'a>,
    #[serde(rename = "L1_SMALL")]
    l1_small: SpaceChange<'a>,
}

/// Two reports, or what each of them has.
type BothReports<T> = [T; 2];

impl<'a> ReportChange<'a> {
    fn of(sides: BothReports<&RankView<'a>>) -> Self {
        let figures =
            |figure: fn(&RankView<'_>) -> u64| Difference::of(sides.map(|side| Some(figure(side))));
        Self {
            spaces: ComparedSpaces {
                dram: SpaceChange::of(sides, BufferSpace::Dram),
                l1: SpaceChange::of(sides, BufferSpace::L1),
                l1_small: SpaceChange::of(sides, BufferSpace::L1Small),
            },
            l1_transient_peak_bytes_per_core: figures(|side| {
                side.memory.transient.map_or(0, |peak| peak.bytes)
            }),
            scratch: ScratchChange::of(sides),
            l1_read_then_kept_bytes_per_core: figures(|side| {
                KeptToEnd::of(side, BufferSpace::L1).read_then_kept.bytes_per_bank
            }),
            l1_dead_at_peak_bytes_per_core: figures(dead_at_peak),
            operations: figures(|side| side.rank.operations.ids.len() as u64),
        }
    }
}

fn dead_at_peak(side: &RankView<'_>) -> u64 {
    let peak = side.memory.peak(BufferSpace::L1);
    let dead = |at| dead_at(&alive_at(side, BufferSpace::L1, at), at).bytes_per_bank;
    peak.map_or(0, dead)
}

#[derive(Debug, Serialize)]
struct SpaceChange<'a> {
    peak_bytes_per_bank: Difference,
    source_at: Option<OperationFacts<'a>>,
    target_at: Option<OperationFacts<'a>>,
    by_allocating_operation: Vec<OperationChange<'a>>,
}

impl<'a> SpaceChange<'a> {
    fn of(sides: BothReports<&RankView<'a>>, space: BufferSpace) -> Self {
        let peaks = sides.map(|side| side.memory.peak(space));
        let [source, target] = sides;
        let [source_at, target_at] = peaks;
        Self {
            peak_bytes_per_bank: Difference::of(
                sides.map(|side| Some(side.memory.peak_bytes(space))),
            ),
            source_at: source_at.map(|at| source.operation(at)),
            target_at: target_at.map(|at| target.operation(at)),
            by_allocating_operation: by_allocating_operation(sides, peaks, space),
        }
    }
}

/// Buffers of both peaks that operations of one name allocated.
#[derive(Debug, Serialize)]
struct OperationChange<'a> {
    name: Option<&'a str>,
    source_bytes_per_bank: u64,
    target_bytes_per_bank: u64,
    difference: i64,
    source_buffers: u64,
    target_buffers: u64,
}

fn by_allocating_operation<'a>(
    sides: BothReports<&RankView<'a>>,
    peaks: BothReports<Option<u32>>,
    space: BufferSpace,
) -> Vec<OperationChange<'a>> {
    let mut rows: BTreeMap<Option<&'a str>, BothReports<(u64, u64)>> = BTreeMap::new();
    for (place, (side, peak)) in sides.into_iter().zip(peaks).enumerate() {
        let Some(at) = peak else { continue };
        for (_, life) in side.memory.alive_at(space, at) {
            let name = life.allocated_by.map(|by| side.operation(by).name);
            let Some((bytes, buffers)) = rows.entry(name).or_default().get_mut(place) else {
                continue;
            };
            *bytes = bytes.saturating_add(life.bytes);
            *buffers = buffers.saturating_add(1);
        }
    }
    let row =
        |(name, [source, target]): (Option<&'a str>, BothReports<(u64, u64)>)| OperationChange {
            name,
            source_bytes_per_bank: source.0,
            target_bytes_per_bank: target.0,
            difference: Difference::of([Some(source.0), Some(target.0)]).change().unwrap_or(0),
            source_buffers: source.1,
            target_buffers: target.1,
        };
    let mut rows: Vec<_> = rows.into_iter().map(row).collect();
    rows.sort_by_key(|row| Reverse(row.difference.unsigned_abs()));
    rows
}

/// Scratch of both sides, with differences only where the same is unknown of both.
#[derive(Debug, Serialize)]
struct ScratchChange {
    comparable: bool,
    largest_bytes_per_core: SidesOfScratch,
    headroom_bytes_per_core: SidesOfScratch,
    source_unknown_programs: u64,
    target_unknown_programs: u64,
}

#[derive(Debug, Serialize)]
struct SidesOfScratch {
    source: Option<i64>,
    target: Option<i64>,
    difference: Option<i64>,
    percent: Option<f64>,
}

impl SidesOfScratch {
    fn of(both: Difference, comparable: bool) -> Self {
        Self {
            source: both.source,
            target: both.target,
            difference: both.change().filter(|_| comparable),
            percent: both.percent().filter(|_| comparable),
        }
    }
}

impl ScratchChange {
    fn of(sides: BothReports<&RankView<'_>>) -> Self {
        let unknown = sides.map(unknown_programs);
        let [source, target] = &unknown;
        let comparable = source == target;
        let count = |of: &BTreeMap<&str, u64>| {
            of.values().fold(0, |sum: u64, more| sum.saturating_add(*more))
        };
        let largest = sides.map(|side| largest(side).map(|known| known.bytes));
        let [source_headroom, target_headroom] = sides.map(|side| {
            closest(side).map(|known| i64::try_from(known.headroom_bytes()).unwrap_or(i64::MIN))
        });
        let headroom = Difference { source: source_headroom, target: target_headroom };
        Self {
            comparable,
            largest_bytes_per_core: SidesOfScratch::of(Difference::of(largest), comparable),
            headroom_bytes_per_core: SidesOfScratch::of(headroom, comparable),
            source_unknown_programs: count(source),
            target_unknown_programs: count(target),
        }
    }
}

/// The programs whose scratch is not known, by device operation.
fn unknown_programs<'a>(side: &RankView<'a>) -> BTreeMap<&'a str, u64> {
    let mut unknown: BTreeMap<&str, u64> = BTreeMap::new();
    for program in &side.memory.programs {
        if program.state == ProgramState::Unknown {
            let count = unknown.entry(side.name(program.device_operation)).or_default();
            *count = count.saturating_add(1);
        }
    }
    unknown
}
