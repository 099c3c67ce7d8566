//! Liveness of two large reports, of which the target lacks steps all over.

use std::sync::Arc;

use eframe::egui::{Context, Vec2};
use tilescope::store::program::Steps;
use tilescope::store::report::Part;
use tilescope::store::{ProgramId, Report, StepId};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

use super::{Window, measure, report};

/// The same report without some of its steps.
fn target() -> Report {
    let mut target = report::report();
    target.path = "/reports/large target".into();
    let mut steps = Steps::default();
    let kept = (0..report::STEPS).filter(|step| step % 37 != 5 && step / 500 % 40 != 3);
    for (id, step) in (0..).zip(kept) {
        steps.ids.push(StepId(id));
        steps.programs.push(ProgramId(step));
        steps.parents.push(None);
    }
    target.steps = Part::default();
    target.steps.fill(Some(steps));
    target
}

/// Both arrangements: hovering, zooming, panning.
pub fn measure_pair(source: &Arc<Report>, size: Vec2) {
    let ctx = Context::default();
    let app = App::with_runs(&ctx, vec![Arc::clone(source), Arc::new(target())]);
    let mut window = Window { ctx, app, size, time: 0.0 };
    window.rest();
    window.show(Page::Liveness);
    let scene = |title: &str| format!("Liveness of two{title}, {}×{}", size.x, size.y);
    measure(&mut window, &scene(""), "Liveness curves of both");
    window.click("Not always live");
    measure(&mut window, &scene(", with differences"), "Liveness curves of both");
    window.click("Side by side");
    measure(&mut window, &scene(" side by side"), "Liveness curve of the target");
}
