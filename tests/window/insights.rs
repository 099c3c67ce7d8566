//! Drives the Insights page.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::report;
use crate::support::{
    assert_text, assert_texts, click, copied_text, has_text, settle, texts, wait_for_output,
    window, window_on,
};
use eframe::egui::Theme;
use eframe::egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use tilescope::store::Report;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

fn page(theme: Theme) -> Harness<'static, App> {
    page_of(theme, report::small())
}

/// The same of a report that is read whole, so that there is advice.
fn page_with_advice(theme: Theme) -> Harness<'static, App> {
    let report = report::small();
    report.logs.fill(Some(Vec::new()));
    page_of(theme, report)
}

fn page_of(theme: Theme, report: Report) -> Harness<'static, App> {
    let mut harness = window_on(theme, report);
    harness.state_mut().go(Page::Insights);
    settle(&mut harness);
    harness
}

#[test]
fn the_verdict_and_what_is_largest_are_there() {
    let mut harness = page_with_advice(Theme::Light);
    assert_texts(&harness, &["Does not fit", "1 of 48 tiles is over", "Most over"]);
    for title in ["What to try, best first", "Tiles", "Largest", "Histogram of 48 tiles"] {
        assert_text(&harness, title);
    }
    harness.get_by_label("Show tile 30").click();
    settle(&mut harness);
    assert!(harness.query_by_label("Memory over tiles").is_some());
    assert_text(&harness, "Deselect");
}

/// Of how many pieces of advice it is said what they are based on.
fn bases(harness: &Harness<'_, App>) -> usize {
    let all = texts(harness);
    // A text that is wrapped is there as a whole and by its lines.
    let basis = |text: &String| Some(text.split_once("Basis: ")?.1.chars().take(30).collect());
    all.iter().filter_map(basis).collect::<BTreeSet<String>>().len()
}

#[test]
fn evidence_is_folded_but_for_the_first() {
    let mut harness = page_with_advice(Theme::Light);
    assert!(harness.query_by_label("Hide evidence of 1").is_some());
    assert!(harness.query_by_label("Show evidence of 2").is_some());
    assert!(!has_text(&harness, "Copy how to do 2"));
    click(&mut harness, "Show evidence of 2");
    assert!(harness.query_by_label("Hide evidence of 2").is_some());
    assert_eq!(bases(&harness), 2, "{:#?}", texts(&harness));
    click(&mut harness, "Hide evidence of 1");
    assert_eq!(bases(&harness), 1, "{:#?}", texts(&harness));
}

#[test]
fn how_it_is_written_is_copied_for_the_framework_that_is_chosen() {
    let mut harness = page_with_advice(Theme::Dark);
    let copy = |harness: &mut Harness<'static, App>| {
        harness.get_all_by_label_contains("Copy how to do").next().expect("a button").click();
        wait_for_output(harness, copied_text)
    };
    let first = copy(&mut harness);
    settle(&mut harness);
    harness.get_all_by_label("Poplar").next().expect("a tab").click();
    settle(&mut harness);
    let second = copy(&mut harness);
    assert_ne!(first, second);
    assert_text(&harness, &second);
}

#[test]
fn the_largest_things_are_those_of_the_model_or_a_tile() {
    let mut harness = page(Theme::Light);
    harness.get_by_role_and_label(Role::Button, "Tile").click();
    settle(&mut harness);
    assert_text(&harness, "the fullest; a selected one takes its place");
}

#[test]
fn a_report_without_memory_says_so() {
    let mut harness = window_on(Theme::Light, report::without_memory());
    harness.state_mut().go(Page::Insights);
    settle(&mut harness);
    assert_text(&harness, "It is not known whether it fits");
}

#[test]
fn two_reports_say_what_the_change_brought() {
    let [source, target] = [(); 2].map(|()| Arc::new(report::small()));
    let mut harness = window(Theme::Light, |ctx| App::with_runs(ctx, vec![source, target]));
    harness.state_mut().go(Page::Insights);
    settle(&mut harness);
    assert_text(&harness, "It did not fit before and still does not:");
    assert_text(&harness, "as before");
    assert_eq!(harness.get_all_by_label("Memory used").count(), 2, "in both halves");
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
