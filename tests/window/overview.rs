//! Drives Overview, the page that comes first.

use std::sync::Arc;

use crate::report;
use crate::support::{
    SIZES, assert_text, click, click_at, has_text, settle, texts, tolerances, window_as_it_opens,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Modifiers, Theme, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use tilescope::store::{Report, WarningCode};
use tilescope::ui::app::App;

fn open_sized(theme: Theme, size: Vec2, reports: Vec<Arc<Report>>) -> Harness<'static, App> {
    let mut harness = window_as_it_opens(theme, size, |ctx| App::with_runs(ctx, reports));
    settle(&mut harness);
    harness
}

fn open(theme: Theme) -> Harness<'static, App> {
    open_sized(theme, SIZES[0], vec![Arc::new(report::small())])
}

#[test]
fn a_report_opens_with_its_verdict_and_what_speaks_for_it() {
    let harness = open(Theme::Light);
    for text in [
        "Does not fit",
        "Memory of 2 IPUs, with gaps",
        "Memory used: ",
        "Memory over steps",
        "Histogram of tiles",
        "All tiles by number",
        "Memory per tile",
    ] {
        assert_text(&harness, text);
    }
}

#[test]
fn what_a_report_lacks_is_said_with_its_facts() {
    let report = report::small();
    report.warnings.add(WarningCode::Truncated, "debug.cbor", "it ends early");
    let mut harness = open_sized(Theme::Light, SIZES[0], vec![Arc::new(report)]);
    click(&mut harness, "A file is cut off");
    assert_text(&harness, "it ends early");
    assert!(!has_text(&open(Theme::Light), "A file is cut off"));
}

#[test]
fn everything_leads_on_by_a_click() {
    let mut harness = open(Theme::Light);
    let middle = harness.get_by_label("All tiles by number").rect().center();
    click_at(&mut harness, middle, Modifiers::NONE);
    settle(&mut harness);
    assert!(harness.query_by_label("Memory over tiles").is_some(), "{:#?}", texts(&harness));
    let mut harness = open(Theme::Light);
    let curve = harness.get_by_role_and_label(Role::Canvas, "Memory over steps").rect().center();
    click_at(&mut harness, curve, Modifiers::NONE);
    settle(&mut harness);
    assert!(harness.query_by_label("Liveness curve").is_some(), "{:#?}", texts(&harness));
    assert_eq!(harness.state().selected_steps().len(), 1);
    let mut harness = open(Theme::Light);
    click(&mut harness, "All options and files");
    assert!(harness.query_by_label("Memory over tiles").is_none() && has_text(&harness, "Files"));
}

#[test]
fn the_curve_numbers_its_peaks_and_a_disc_leads_to_its_step() {
    let mut harness = open(Theme::Light);
    let curve = harness.get_by_role_and_label(Role::Canvas, "Memory over steps");
    let value = curve.accesskit_node().value().expect("what it shows");
    let (_, peaks) = value.split_once("peaks at ").expect("the peaks");
    let peaks: Vec<usize> = peaks.split(", ").map(|step| step.parse().expect("a step")).collect();
    let (frame, highest) = (curve.rect(), peaks[0]);
    // The key names the peak of the first disc, and shows the same step.
    let key = texts(&harness).into_iter().find(|text| text.starts_with("1  ")).expect("a key");
    click(&mut harness, &key);
    let by_key = harness.state().selected_steps();
    let mut harness = open(Theme::Light);
    // Where the disc of the highest one stands: above its step, at the top.
    let steps = report::STEPS as f32;
    let at = Vec2::new((highest as f32 + 0.5) / steps * frame.width(), 12.0);
    click_at(&mut harness, frame.min + at, Modifiers::NONE);
    settle(&mut harness);
    assert!(harness.query_by_label("Liveness curve").is_some(), "{:#?}", texts(&harness));
    assert_eq!(harness.state().selected_steps(), by_key);
}

#[test]
fn a_report_without_memory_has_no_empty_cards() {
    let reports = vec![Arc::new(report::without_memory())];
    let harness = open_sized(Theme::Light, SIZES[0], reports);
    assert!(!has_text(&harness, "Memory used"), "{:#?}", texts(&harness));
    assert!(harness.query_by_label("Histogram of tiles").is_none());
    assert_text(&harness, "All options and files");
}

#[test]
fn overview_looks_as_it_did() {
    let mut results = SnapshotResults::new();
    for (theme, name) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let mut harness = open(theme);
        results.add(harness.try_snapshot_options(format!("overview-{name}"), &tolerances()));
    }
    let small = Vec2::new(1024.0, 700.0);
    let mut harness = open_sized(Theme::Dark, small, vec![Arc::new(report::small())]);
    results.add(harness.try_snapshot_options("overview-small", &tolerances()));
}
