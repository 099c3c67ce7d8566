//! 2,000,000 steps on four IPUs, and what zooming and panning through them costs; every tile of one of them.

use std::sync::Arc;
use std::time::Instant;

use eframe::egui::Vec2;
use tilescope::format::Progress;
use tilescope::store::execution::{ExecutionRun, ExecutionTotals, ExecutionTrace, Span};
use tilescope::store::names::{Interner, Names};
use tilescope::store::placed::{Placed, ReadArena, ReadError};
use tilescope::store::program::Programs;
use tilescope::store::report::Part;
use tilescope::store::tile_list::TileList;
use tilescope::store::{ArenaId, ProgramId, Report};
use tilescope::ui::command::Page;

use super::{Window, measure, report};

const STEPS: u32 = 2_000_000;
const IPUS: u32 = 4;
const TILES: u32 = 1472;

/// Gives each list of cycles by tile.
#[derive(Debug)]
struct Lists;

impl ReadArena for Lists {
    fn read(&self, _: ArenaId, _: &Progress) -> Result<Option<Placed>, ReadError> {
        Ok(None)
    }

    fn read_tile_cycles(
        &self,
        lists: &[u32],
        _: &Progress,
    ) -> Result<Vec<Option<TileList>>, ReadError> {
        let list = |id: &u32| {
            TileList::from_runs(
                (0..TILES)
                    .map(|tile| (1, u64::from((tile.wrapping_mul(2_654_435_761) ^ id) % 900))),
            )
        };
        Ok(lists.iter().map(|id| Some(list(id))).collect())
    }
}

/// Names of programs as networks have them.
fn programs(count: u32) -> Programs {
    let mut programs = Programs::default();
    let mut kinds = Interner::default();
    let kinds_of = ["OnTileExecute", "DoExchange", "OnTileExecute", "SyncAns"];
    let ids = kinds_of.map(|kind| kinds.intern(kind));
    let mut names = Names::default();
    for program in 0..count {
        programs.ids.push(ProgramId(program));
        programs.kinds.push(Some(ids[program as usize % 4]));
        let (layer, part) = (program / 40, program % 40 / 8);
        names.push(&format!("model/layer{layer}/part{part}/op{}/step{program}", program / 4));
        programs.debug_ids.push(0);
        programs.compute_sets.push(None);
        programs.exchanges.push(None);
        programs.children_ends.push(0);
    }
    programs.kind_names = kinds.into_names();
    programs.names = names;
    programs
}

/// The report that other scenes show, with an execution: each step on every IPU.
fn with_trace() -> Report {
    let mut report = report::report();
    report.programs = Part::default();
    report.programs.fill(Some(programs(report::STEPS)));
    report.execution = Part::default();
    let totals =
        ExecutionTotals { runs: 10, steps: u64::from(STEPS), ..ExecutionTotals::default() };
    report.execution.fill(Some(totals));
    let mut trace = ExecutionTrace::default();
    let mut kinds = Interner::default();
    let kinds_of = ["OnTileExecute", "DoExchange", "OnTileExecute", "SyncAns", "StreamCopyBegin"];
    let ids = kinds_of.map(|kind| kinds.intern(kind));
    for step in 0..STEPS {
        let kind = if step.is_multiple_of(977) { 4 } else { step as usize % 4 };
        trace.push_step(step, ids[kind], Some(ProgramId(step % report::STEPS)), None);
    }
    trace.kind_names = kinds.into_names();
    let mut spans = Vec::with_capacity((STEPS * IPUS) as usize);
    for ipu in 0..IPUS {
        let mut now = u64::from(ipu) * 5000;
        for step in 0..STEPS {
            let length = u64::from(step.wrapping_mul(2_654_435_761) >> 22) + 20;
            spans.push(Span {
                device: ipu,
                step,
                start: now,
                end: now + length,
                cycles: length,
                active_tiles: TILES,
                balance: Some(0.9),
                list: Some(step % 5000),
            });
            now += length + u64::from(step % 7);
        }
    }
    trace.set_spans(spans);
    trace.lists = (0..5000).map(|id| (id, 600_000)).collect();
    let steps = u64::from(STEPS) / 10;
    trace.runs = (0..10)
        .map(|id| ExecutionRun {
            id,
            name: "main".into(),
            steps: Some(steps),
            ..Default::default()
        })
        .collect();
    report.trace.fill(Some(trace));
    report.set_reader(Box::new(Lists));
    report
}

pub fn measure_trace() {
    let report = Arc::new(with_trace());
    for size in super::SIZES {
        let mut window = Window::new(&report, size);
        let started = Instant::now();
        window.show(Page::Trace);
        let first = started.elapsed().as_secs_f64() * 1000.0;
        let scene = |title: &str, size: Vec2| format!("{title}, {}×{}", size.x, size.y);
        println!("{:<44} first picture after {first:.0} ms", scene("Trace", size));
        measure(&mut window, &scene("Trace with tiles", size), "Execution trace");
        window.click("Tiles");
        measure(&mut window, &scene("Trace", size), "Execution trace");
        window.click("Flat");
        measure(&mut window, &scene("Trace, flat", size), "Execution trace");
    }
}
