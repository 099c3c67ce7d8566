//! Every page of eight runs, each of one IPU and 50,000 steps, of which each lacks others.

use std::sync::Arc;

use eframe::egui::{Context, Pos2, Rect, Vec2};
use tilescope::store::program::Steps;
use tilescope::store::report::Part;
use tilescope::store::{ProgramId, Report, StepId};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

use super::report::{Size, report_of};
use super::{Doing, Window, measure_doing};

const SIZE: Size = Size { ipus: 1, steps: 50_000 };
/// Width of the menu, and height of the bar with the head of a page; then where pictures lie.
pub const AROUND: Vec2 = Vec2::new(168.0, 120.0);

/// The reports.
pub fn reports() -> Vec<Arc<Report>> {
    (0..8).map(|run| Arc::new(report(run))).collect()
}

fn report(run: u32) -> Report {
    let mut report = report_of(SIZE, &format!("amp-0.{run}"), u64::from(run) + 7);
    let mut steps = Steps::default();
    let kept = (0..SIZE.steps).filter(|step| step % 37 != run && step / 500 % 40 != run);
    for (id, step) in (0..).zip(kept) {
        steps.ids.push(StepId(id));
        steps.programs.push(ProgramId(step));
        steps.parents.push(None);
    }
    report.steps = Part::default();
    report.steps.fill(Some(steps));
    report
}

/// Every page: the pointer moves across all of it, and the wheel turns.
pub fn measure_runs(reports: &[Arc<Report>], size: Vec2) {
    let ctx = Context::default();
    let app = App::with_runs(&ctx, reports.to_vec());
    let mut window = Window { ctx, app, size, time: 0.0 };
    window.rest();
    let page_rect = Rect::from_min_max(Pos2::ZERO + AROUND, Pos2::ZERO + size);
    let (upper, lower) = page_rect.split_top_bottom_at_fraction(0.5);
    for (page, title) in [
        (Page::Overview, "Overview"),
        (Page::Summary, "Summary"),
        (Page::Insights, "Insights"),
        (Page::Memory, "Memory"),
        (Page::Map, "Map"),
        (Page::Liveness, "Liveness"),
        (Page::Comparison, "Comparison"),
    ] {
        window.show(page);
        for (part, rect) in [("above", upper), ("below", lower)] {
            let scene = format!("{title} of eight, {part}, {}×{}", size.x, size.y);
            measure_doing(&mut window, &scene, (Doing::Hovering, "hovering"), rect);
            measure_doing(&mut window, &scene, (Doing::Zooming, "wheel"), rect);
        }
    }
}
