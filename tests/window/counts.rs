//! Counts how often shared results are worked out.

use std::sync::Arc;

use crate::report;
use crate::support::{settle, window};
use eframe::egui::Theme;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

#[test]
fn all_pages_of_a_pair_share_one_attribution_and_one_curve_of_each() {
    let [source, target] = ["before", "after"].map(|name| {
        let mut report = report::small();
        report.path = format!("/reports/{name}").into();
        Arc::new(report)
    });
    let mut harness = window(Theme::Light, |ctx| App::with_runs(ctx, vec![source, target]));
    for _ in 0..2 {
        for page in [Page::Summary, Page::Insights, Page::Memory, Page::Liveness, Page::Comparison]
        {
            harness.state_mut().go(page);
            settle(&mut harness);
        }
    }
    let derived = harness.state().derived();
    let timelines: Vec<usize> = derived.iter().map(|run| run.timelines_made()).collect();
    // Of everything, and of the fullest tile.
    assert_eq!(timelines, [2, 2]);
    assert_eq!(harness.state().attributions_made(), [1]);
}
