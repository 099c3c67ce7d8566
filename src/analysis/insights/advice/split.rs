//! Another split of the model: one IPU is full and another is not, or one IPU needs more than twice its memory.

use super::how;
use super::{Advice, Candidate, Context, Effect, Evidence, Technique};
use crate::analysis::insights::pressure::Covered;
use crate::analysis::liveness::{Scope, limit_bytes};
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::{over_limit_bytes, sum_of_rows};
use crate::store::DeviceId;

struct Ipu {
    number: u32,
    used_bytes: u64,
    capacity_bytes: u64,
    over_bytes: u64,
    tiles: TileSelection,
}

/// The advice; `None` where no split is worth a thought.
pub fn candidate<'a>(context: &Context<'a>) -> Option<Candidate<'a>> {
    let ipus = ipus(context)?;
    let (full, others): (Vec<&Ipu>, Vec<&Ipu>) = ipus.iter().partition(|ipu| ipu.over_bytes > 0);
    let room = others.iter().fold(0_u64, |sum, ipu| {
        sum.saturating_add(ipu.capacity_bytes.saturating_sub(ipu.used_bytes))
    });
    let over = full.iter().fold(0_u64, |sum, ipu| sum.saturating_add(ipu.over_bytes));
    let (what, effect, basis) = if room > 0 {
        let what =
            format!("Move a part of the model from {} to {}", titles(&full), titles(&others));
        let covered = Covered { bytes: over.min(room), places: 0 };
        (what, Effect::Known(covered), "room on the other IPUs, up to what tiles are over")
    } else if full.iter().any(|ipu| ipu.used_bytes / 2 > ipu.capacity_bytes) {
        let what = "Split the model over more IPUs".to_owned();
        (what, Effect::Unknown, "")
    } else {
        return None;
    };
    let evidence = full.iter().chain(&others).map(|ipu| {
        let percent = ipu.used_bytes as f64 * 100.0 / ipu.capacity_bytes.max(1) as f64;
        Evidence::new(format!("IPU {}, {percent:.0} % of its memory", ipu.number))
            .bytes(ipu.used_bytes)
            .on(&ipu.tiles)
    });
    let advice = Advice {
        what,
        how: how::split_points(),
        evidence: evidence.collect(),
        caution: "Stages of a pipeline should take about as long as each other",
        ..Advice::of(Technique::PipelineAndMoveSplitPoints)
    };
    Some(Candidate { advice, effect, is_at_most: true, basis: basis.to_owned() })
}

fn titles(ipus: &[&Ipu]) -> String {
    let numbers: Vec<String> = ipus.iter().map(|ipu| format!("IPU {}", ipu.number)).collect();
    numbers.join(", ")
}

fn ipus(context: &Context<'_>) -> Option<Vec<Ipu>> {
    let (memory, target) = (context.report.memory.get()?, context.report.target.get()?);
    let of_ipu = |number: u32| {
        let scope = Scope::Device(DeviceId(number));
        let rows = scope.rows(memory, Some(target));
        let over = rows.clone().try_fold(0_u64, |sum, row| {
            Some(sum.saturating_add(over_limit_bytes(memory, Some(target), row)?))
        });
        Some(Ipu {
            number,
            used_bytes: sum_of_rows(&memory.including_gaps, rows)?,
            capacity_bytes: limit_bytes(scope, context.report.arenas.get()?)?,
            over_bytes: over?,
            tiles: TileSelection::of_scope(scope.tiles(Some(target))),
        })
    };
    let last = target.ipu_of(*memory.tiles.as_slice().last()?)?;
    (0..=last).map(of_ipu).collect()
}
