//! Drives the Insights page.

use std::sync::Arc;

use crate::report;
use crate::support::{assert_text, settle, window, window_on};
use eframe::egui::Theme;
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

fn page(theme: Theme) -> Harness<'static, App> {
    let mut harness = window_on(theme, report::small());
    harness.state_mut().go(Page::Insights);
    settle(&mut harness);
    harness
}

#[test]
fn the_verdict_and_what_is_largest_are_there() {
    let mut harness = page(Theme::Light);
    assert_text(&harness, "It does not fit");
    for title in ["What to try next", "Tiles", "Largest", "Histogram of 48 tiles"] {
        assert_text(&harness, title);
    }
    harness.get_by_label("Show the tiles that are over").click();
    settle(&mut harness);
    assert!(harness.query_by_label("Memory over tiles").is_some());
    assert_text(&harness, "Deselect");
}

#[test]
fn a_report_without_memory_says_so() {
    let mut harness = window_on(Theme::Light, report::without_memory());
    harness.state_mut().go(Page::Insights);
    settle(&mut harness);
    assert_text(&harness, "Whether it fits is not known");
}

#[test]
fn two_reports_say_what_the_change_brought() {
    let [source, target] = [(); 2].map(|()| Arc::new(report::small()));
    let mut harness = window(Theme::Light, |ctx| App::with_reports(ctx, source, target));
    harness.state_mut().go(Page::Insights);
    settle(&mut harness);
    assert_text(&harness, "It did not fit, and still does not:");
    assert_text(&harness, "as before");
    assert_eq!(harness.get_all_by_label("Insights").count(), 3, "the menu and both halves");
}

#[test]
fn insights_look_as_they_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        let mut harness = page(theme);
        harness.snapshot(format!("insights-{theme:?}").to_lowercase());
        results.extend_harness(&mut harness);
    }
}
