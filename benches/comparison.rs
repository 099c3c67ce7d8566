//! Measures the comparison of two large reports without their matching: `cargo bench --no-default-features --bench
//! comparison`.
//!
//! Prints the seconds of each part. The reports are in memory and the same at every run: 500,000 steps,
//! 5,000 operations, 100,000 variables before lowering, 5,000,000 lowered ones.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

#[allow(dead_code, reason = "others use the rest of it")]
#[path = "../tests/common/listed.rs"]
mod listed;

use std::sync::Arc;
use std::time::Instant;

use listed::{Step, report_with, step};
use tilescope::analysis::comparison::matching::match_reports;
use tilescope::analysis::comparison::variables::variables;
use tilescope::analysis::derived::{Derived, DerivedPair};
use tilescope::analysis::liveness::{Scope, curve_of_variables};
use tilescope::analysis::matched_reports::MatchedReports;
use tilescope::store::ids::CategoryId;
use tilescope::store::liveness::{Deltas, Liveness, TileVariableBytes, VariableBytes};
use tilescope::store::memory::TileMemory;
use tilescope::store::report::Categories;
use tilescope::store::target::Target;
use tilescope::store::variable::{LoweredVariables, VariableFlags};
use tilescope::store::{ArenaId, ClassId, Report, TileId, UnloweredId};

const STEPS: u32 = 500_000;
const STEPS_OF_OPERATION: u32 = 100;
const VARIABLES: u32 = 100_000;
const CLASSES: u32 = 50_000;
const TILES: u32 = 1472;
const LOWERED_ON_TILE: u32 = 3400;
const NEVER: &(dyn Fn() -> bool + Sync) = &|| false;

/// A number that looks drawn at random and is the same for the same seed.
fn noise(seed: u32) -> u32 {
    let mixed = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) as u32
}

fn steps() -> Vec<Step> {
    (0..STEPS)
        .map(|place| {
            let layer = format!("layer{}.conv", place / STEPS_OF_OPERATION);
            let kind = if place % 5 == 0 { "DoExchange" } else { "OnTileExecute" };
            step(kind, &format!("{layer}/Part{}", place % 7), &layer)
        })
        .collect()
}

/// Variables with a class each; class 1 is always live, the others live for a while.
fn fill(liveness: &mut Liveness, seed: u32) {
    let classes = &mut liveness.classes;
    for id in 1..=CLASSES {
        classes.ids.push(ClassId(id));
        classes.always_live.push(id == 1);
        let start = noise(id) % STEPS;
        let range = if id == 1 { 0..STEPS } else { start..STEPS.min(start + noise(id + 7) % 300) };
        classes.ranges.push(range);
        classes.range_ends.push(classes.ranges.len());
    }
    let rows = (0..VARIABLES * 2).map(|row| VariableBytes {
        variable: UnloweredId(row % VARIABLES),
        class: ClassId(1 + noise(row + seed) % CLASSES),
        bytes: u64::from(noise(row) % 5000),
    });
    let rows: Vec<_> = rows.collect();
    for variable in 0..VARIABLES {
        // A third has no context.
        liveness.debug_ids.extend((variable % 3 > 0).then_some(u64::from(variable / 20) + 1));
        liveness.debug_id_ends.push(liveness.debug_ids.len());
    }
    liveness.variable_bytes = Some(rows);
}

/// What the curve of variables changes at each step.
fn deltas(liveness: &Liveness) -> Deltas {
    let rows = liveness.variable_bytes.as_deref().unwrap_or_default();
    let curve = curve_of_variables(rows, &liveness.classes, STEPS as usize);
    let mut before = 0;
    let change = |(step, bytes): (u32, &u64)| {
        let bytes = bytes.cast_signed();
        (step, bytes - std::mem::replace(&mut before, bytes))
    };
    let everything = (0..).zip(&curve).map(change).collect();
    Deltas { everything, ..Deltas::default() }
}

fn report(seed: u32) -> Report {
    let names: Vec<String> = (0..VARIABLES).map(|id| format!("model.{}.v{id}", id / 50)).collect();
    let report = report_with(&steps(), &names, true, |liveness| fill(liveness, seed));
    report.deltas.fill(report.liveness.get().map(deltas));
    let (mut memory, mut table) = (TileMemory::default(), TileVariableBytes::default());
    let mut lowered = LoweredVariables::default();
    for tile in 0..TILES {
        let (first, row) = (lowered.len() as u32, table.len());
        let mut end = 0;
        for number in 0..LOWERED_ON_TILE {
            let at = noise(tile * LOWERED_ON_TILE + number + seed);
            lowered.offsets.push(end);
            lowered.bytes.push(at % 200);
            lowered.classes.push(ClassId(1 + at % CLASSES));
            lowered.unlowered.push(LoweredVariables::NO_UNLOWERED);
            lowered.categories.push((at % 27) as u8);
            lowered.flags.push(VariableFlags(1));
            end += at % 200;
            if number % 2 == 0 {
                table.variables.push(UnloweredId(at % VARIABLES));
                table.classes.push(ClassId(1 + at % CLASSES));
                table.bytes.push(at % 200);
            }
        }
        lowered.tiles.push(TileId(tile));
        lowered.rows.push(first..lowered.len() as u32);
        table.tiles.push(TileId(tile));
        table.rows.push(row..table.len());
        memory.tiles.push(TileId(tile));
        memory.total.push(Some(u64::from(end)));
        memory.including_gaps.push(Some(u64::from(end)));
        memory.always_live.push(Some(u64::from(end / 3)));
    }
    let mut categories = Categories::default();
    for id in 0..27 {
        categories.ids.push(CategoryId(id));
        categories.names.push(&format!("category{id}"));
    }
    report.memory.fill(Some(memory));
    report.tile_variable_bytes.fill(Some(table));
    report.variables.fill(Some(lowered));
    report.categories.fill(Some(categories));
    report.target.fill(Some(Target { bytes_per_tile: Some(638_976), ..Target::default() }));
    report.fill_arenas_with_tiles();
    report
}

fn timed<T>(title: &str, of: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = of();
    println!("{title:<24} {:7.3} s", started.elapsed().as_secs_f64());
    result
}

fn main() {
    let reports = [report(0), report(1)].map(Arc::new);
    let [source, target] = reports.each_ref().map(|report| &**report);
    let matching = timed("matching", || match_reports(source, target, NEVER).unwrap());
    let derived = reports.each_ref().map(|report| Derived::new(Arc::clone(report)));
    let [of_source, of_target] = &derived;
    let pair = Arc::new(DerivedPair::new(reports.clone(), matching));
    let attribution = timed("attribution", || pair.attribution());
    timed("timelines of both", || {
        derived.each_ref().map(|of| of.timeline(Scope::Everything, NEVER).unwrap())
    });
    let both = [of_source, of_target];
    let (all, fullest, spikes) = timed("everything compared", || {
        let all = MatchedReports::of(both, &pair, NEVER);
        let (fullest, spikes) = (all.fullest(both, &[None, None], NEVER), all.spikes(20));
        (all, fullest, spikes)
    });
    assert!(all.peak.is_some_and(|peak| peak.by_category.is_some()));
    assert!(fullest.unwrap().by_owner.is_some() && !spikes.is_empty());
    let found = timed("variables", || variables(source, target, &attribution, all.peak_steps));
    assert!(found.is_some());
    for (title, scope) in [
        ("curve of a tile", Scope::Arena(ArenaId(3))),
        ("curve of the worst tile", Scope::WorstArena),
    ] {
        timed(title, || of_source.timeline(scope, NEVER).unwrap());
    }
}
