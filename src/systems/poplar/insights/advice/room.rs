//! Much room above the peaks: a higher `availableMemoryProportion` buys cycles, where plans are limited by the one
//! that they have.
//!
//! Much is a quarter of a tile's memory on the fullest tile. A plan is limited where an operation's temporaries take
//! half or more of what its proportion allows.

use super::how;
use super::planned::{by_kind, hundredths, is_planned, proportions};
use super::{IpuTechnique, MOST_EVIDENCE, RAISE, advice_of, operation_title};
use crate::analysis::comparison::owners::Owners;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::operations::{Operation, PROPORTION};
use crate::analysis::program::step_operations::StepOperations;
use crate::run::{Advice, Evidence, Proposal};
use crate::store::{Report, TileId};
use crate::systems::poplar::insights::pressure::Temporaries;
use crate::systems::poplar::insights::timeline::PlaceTimeline;
use crate::systems::poplar::insights::verdict::TilesVerdict;
use crate::text::range;

/// How much of the room a higher proportion may take.
const ROOM_USED: f64 = 0.5;

/// The advice; `None` without much room, or without plans that would use it.
pub fn advice(
    report: &Report,
    verdict: &TilesVerdict,
    steps: &StepOperations,
    owners: &Owners,
) -> Option<Advice> {
    let room = verdict.room.filter(|room| room.least_bytes >= verdict.limit_bytes / 4)?;
    let liveness = report.liveness.get()?;
    let rows = liveness.variable_bytes.as_ref()?.iter().copied();
    let timeline = PlaceTimeline::new(rows, &liveness.classes);
    let temporaries = Temporaries::largest(&timeline, &owners.variables);
    // An operation has the tiles of one IPU.
    let ipu_bytes = verdict.ipus.iter().map(|ipu| ipu.limit_bytes).max()?;
    let mut limited: Vec<(u64, u32, &Operation)> = temporaries
        .iter()
        .filter_map(|(at, bytes)| {
            let operation =
                owners.operations().get(at as usize).filter(|found| is_planned(found))?;
            let allowed = operation.available_memory_proportion? * ipu_bytes as f64;
            (bytes as f64 * 2.0 >= allowed).then_some((bytes, at, operation))
        })
        .collect();
    limited.sort_by_key(|(bytes, at, _)| (std::cmp::Reverse(*bytes), *at));
    let now = proportions(limited.iter().map(|(_, _, operation)| *operation));
    let (from, highest) = (range(&now)?, now.last().copied()?);
    // Plans may take more than the planner means them to, and may all be alive where the fullest tile is at its peak.
    let share = room.least_bytes as f64 * ROOM_USED / verdict.limit_bytes.max(1) as f64;
    let suggested = Some(hundredths((highest + share).min(1.0))).filter(|to| *to > highest)?;
    let fullest = Evidence::new("room on the fullest tile")
        .bytes(room.least_bytes)
        .on_tiles(&TileSelection::one(TileId(room.tile)));
    let of_operations = limited.iter().take(MOST_EVIDENCE).map(|(bytes, at, operation)| {
        let what = format!("temporaries of {}, on all tiles", operation_title(operation));
        let evidence = Evidence::of(what, *bytes).of_operation(Some(operation));
        match steps.steps_of(*at).first() {
            Some(step) => evidence.at_position(report, *step),
            None => evidence,
        }
    });
    Some(Advice {
        text: format!(
            "Raise availableMemoryProportion from {from} to {suggested} for speed: that is half of the room, and \
             plans use what it allows ({})",
            by_kind(limited.iter().map(|(_, _, operation)| *operation))
        ),
        proposal: Proposal {
            option: Some(PROPORTION),
            direction: Some(RAISE),
            now,
            suggested: Some(suggested),
            next: None,
        },
        how: how::proportion(&suggested.to_string(), &verdict.ipus_concerned()),
        evidence: std::iter::once(fullest).chain(of_operations).collect(),
        caution: "Temporaries grow with it: raise it step by step, and check the peaks each time",
        ..advice_of(IpuTechnique::RaiseAvailableMemoryProportion)
    })
}
