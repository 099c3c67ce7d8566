//! A tree of 1,000,000 programs, all of it open, and what a frame of its page costs while it is scrolled through,
//! searched and gone through match by match.

use std::sync::Arc;
use std::time::Instant;

use eframe::egui::{Event, Key, Pos2, Vec2};
use tilescope::store::debug_info::{Context, DebugInfo, Proportion, TextRef};
use tilescope::store::liveness::{Deltas, Liveness};
use tilescope::store::names::Interner;
use tilescope::store::program::{ProgramTree, ProgramTrees, Programs, Steps};
use tilescope::store::{FunctionId, ProgramId, Report, StepId};
use tilescope::systems::poplar::files::absent;
use tilescope::ui::command::Page;

use super::{Window, button, dragging, key, measure_frames, wheel};

/// Programs in all.
const PROGRAMS: u32 = 1_000_000;
/// Programs within each sequence.
const WITHIN: u32 = 999;

fn report() -> Report {
    let (mut kinds, mut words) = (Interner::default(), Interner::default());
    let mut programs = Programs::default();
    let (sequence, execute) = (kinds.intern("Sequence"), kinds.intern("OnTileExecute"));
    let per_sequence = WITHIN + 1;
    for id in 0..PROGRAMS {
        let is_sequence = id % per_sequence == 0;
        programs.ids.push(ProgramId(id));
        programs.kinds.push(Some(if is_sequence { sequence } else { execute }));
        programs.names.push(&format!("layer{}/part{}", id / per_sequence, id % per_sequence));
        programs.debug_ids.push(u64::from(id / per_sequence % 1000) + 1);
        programs.compute_sets.push(None);
        programs.exchanges.push(None);
        if is_sequence {
            programs.children.extend((id + 1..id + per_sequence).map(ProgramId));
        }
        if id == 0 {
            let others = (1..PROGRAMS / per_sequence).map(|other| ProgramId(other * per_sequence));
            programs.children.extend(others);
        }
        programs.children_ends.push(programs.children.len());
    }
    programs.kind_names = kinds.into_names();
    let mut debug = DebugInfo::default();
    let layer = words.intern("poplibs");
    for id in 1..=1000_u64 {
        let kind = words.intern(if id % 3 == 0 { "matMul" } else { "convolution" });
        let name = debug.texts.push(&format!("model.layer{id}"));
        debug.push(Context {
            layer: Some(layer),
            kind: Some(kind),
            name: TextRef(name.0),
            proportion: Proportion::Value(0.8),
            ..Context::of(id)
        });
    }
    debug.words = words.into_names();
    debug.known_layers = tilescope::systems::poplar::files::layers();
    let mut steps = Steps::default();
    for step in 0..PROGRAMS {
        steps.ids.push(StepId(step));
        steps.programs.push(ProgramId(step));
        steps.parents.push(None);
    }
    let everything =
        (0..PROGRAMS / 2).map(|step| (step * 2, if step % 2 == 0 { 4096 } else { -4095 }));
    let deltas = Deltas { everything: everything.collect(), ..Deltas::default() };
    let report = Report::default();
    report.programs.fill(Some(programs));
    report.steps.fill(Some(steps));
    report.deltas.fill(Some(deltas));
    report.liveness.fill(Some(Liveness::default()));
    report.debug.fill(Some(debug));
    let mut tree = ProgramTree { control: vec![ProgramId(0)], ..ProgramTree::default() };
    assert!(tree.function_ids.push(FunctionId(0)));
    tree.functions.push(ProgramId(WITHIN + 1));
    report.program_trees.fill(Some(ProgramTrees { steps: vec![tree] }));
    report.settle_rest(&absent::memory());
    report
}

/// The scenes of the tree.
pub fn measure_programs(size: Vec2) {
    let scene = format!("Programs, {}×{}", size.x, size.y);
    let mut window = Window::new(&Arc::new(report()), size);
    let started = Instant::now();
    window.show(Page::Programs);
    let first = started.elapsed().as_secs_f64() * 1000.0;
    let started = Instant::now();
    window.click("Open all");
    let opened = started.elapsed().as_secs_f64() * 1000.0;
    println!("{scene:<44} there after {first:.0} ms, all open after {opened:.0} ms");
    let rect = window.place("Program tree");
    measure_frames(&mut window, &scene, "wheel", |frame| {
        wheel(rect.center(), if (frame / 100).is_multiple_of(2) { -3.0 } else { 3.0 })
    });
    let bar = Pos2::new(rect.right() + 6.0, rect.top());
    measure_frames(&mut window, &scene, "panning", |frame| {
        let share = (frame % 97) as f32 / 97.0;
        dragging(frame, bar + Vec2::new(0.0, rect.height() * share))
    });
    window.click("Search programs");
    window.frame(vec![Event::Text("convolution".to_owned())]);
    let started = Instant::now();
    window.rest();
    let found = started.elapsed().as_secs_f64() * 1000.0;
    println!("{scene:<44} found after {found:.0} ms");
    measure_frames(&mut window, &scene, "stepping", |_| vec![key(Key::Enter)]);
    let row = rect.left_top() + Vec2::new(60.0, 35.0);
    measure_frames(&mut window, &scene, "opening", |frame| match frame % 8 {
        0 => button(row, true),
        1 => button(row, false),
        4 => vec![key(Key::ArrowLeft)],
        6 => vec![key(Key::ArrowRight)],
        _ => Vec::new(),
    });
}
