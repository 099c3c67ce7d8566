//! Drives the Summary page.

use crate::report;
use std::sync::Arc;

use crate::support::{SIZES, has_text, hover_share, texts, window_on, window_sized};
use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use tilescope::store::Report;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

const FLAME: &str = "Compiler phases over time";

fn summary(theme: Theme, report: Report) -> Harness<'static, App> {
    let mut harness = window_on(theme, report);
    harness.state_mut().go(Page::Summary);
    harness.run_steps(4);
    harness
}

fn click(harness: &mut Harness<'_, App>, name: &str) {
    harness.get_by_label(name).click();
    harness.run_steps(3);
}

fn flame_value(harness: &Harness<'_, App>) -> String {
    harness.get_by_label(FLAME).accesskit_node().value().unwrap_or_default()
}

#[test]
fn all_facts_are_there_in_the_unit_that_was_chosen() {
    let mut harness = summary(Theme::Light, report::small());
    for text in [
        "Does not fit: 1 of 48 tiles is over, on IPU 1, by 1.48 KiB (1,516 B) at most",
        "ipu2",
        "1330 MHz",
        "768.0 KiB (786,432 B)",
        "2,718",
        "12.34 s",
    ] {
        assert!(has_text(&harness, text), "{text:?} in {:#?}", texts(&harness));
    }
    click(&mut harness, "Bytes");
    assert!(has_text(&harness, "786,432 B") && !has_text(&harness, "768.0 KiB"));
}

#[test]
fn options_are_filtered_and_the_changed_come_first() {
    let mut harness = summary(Theme::Light, report::small());
    assert!(has_text(&harness, "4, of them 2 changed from default"), "{:#?}", texts(&harness));
    harness.get_by_label("Filter: Engine options").focus();
    harness.run_steps(2);
    harness.get_by_label("Filter: Engine options").type_text("INSTRUMENT");
    harness.run_steps(3);
    assert!(has_text(&harness, "1 of 4"));
    harness.get_by_role_and_label(Role::Row, "debug.instrumentCompute").click();
    harness.run_steps(3);
    let shown = texts(&harness);
    let full = shown.iter().filter(|text| *text == "debug.instrumentCompute").count();
    assert!(full >= 2, "in the row, and in full: {shown:#?}");
    harness.get_by_label("Filter: Engine options").focus();
    harness.run_steps(2);
    harness.get_by_label("Filter: Engine options").type_text("x");
    harness.run_steps(3);
    assert!(has_text(&harness, "No row has this text"));
}

#[test]
fn each_tab_has_its_list() {
    let mut harness = summary(Theme::Dark, report::small());
    click(&mut harness, "Target options (1)");
    assert!(has_text(&harness, "ipuLinkTopology"));
    click(&mut harness, "app.json (1)");
    assert!(has_text(&harness, "resnext101"));
    assert!(harness.query_by_label_contains("framework.json (").is_none(), "it is absent");
    click(&mut harness, "availableMemoryProportion");
    assert!(has_text(&harness, "convolution") && has_text(&harness, "0.6"));
    click(&mut harness, "Files (2 of 3)");
    assert!(has_text(&harness, "– absent") && has_text(&harness, "✓ found"));
}

#[test]
fn a_phase_is_zoomed_by_click_and_keys() {
    let mut harness = summary(Theme::Light, report::small());
    assert_eq!(flame_value(&harness), "9 spans");
    let rect = harness.get_by_label(FLAME).rect();
    let at = |share: f32, row: f32| {
        rect.left_top() + Vec2::new(rect.width() * share, (row + 0.5) * 20.0)
    };
    harness.hover_at(at(0.5, 1.0));
    harness.run_steps(3);
    assert!(has_text(&harness, "allocateVarStorage") && has_text(&harness, "42.1 %"));
    harness.drag_at(at(0.5, 1.0));
    harness.drop_at(at(0.5, 1.0));
    harness.run_steps(3);
    assert_eq!(flame_value(&harness), "allocateVarStorage: 5.20 s, 42.1 %, 500 ms itself");
    harness.get_by_label(FLAME).focus();
    harness.run_steps(2);
    for (key, expected) in [
        (Key::ArrowDown, "allocateCode"),
        (Key::ArrowRight, "allocateData"),
        (Key::ArrowUp, "allocateVarStorage"),
        (Key::ArrowUp, "compile"),
        (Key::ArrowDown, "lowerGraph"),
        (Key::Enter, "lowerGraph"),
    ] {
        harness.key_press_modifiers(Modifiers::NONE, key);
        harness.run_steps(2);
        assert!(flame_value(&harness).starts_with(expected), "{key:?}: {}", flame_value(&harness));
    }
    click(&mut harness, "Show all phases");
    assert!(harness.get_by_label("Show all phases").accesskit_node().is_disabled());
}

#[test]
fn a_report_without_phases_says_so() {
    let harness = summary(Theme::Light, report::without_rows());
    assert!(has_text(&harness, "This run has none"));
    let mut harness = summary(Theme::Light, report::empty());
    harness.run_steps(2);
    assert!(has_text(&harness, "Options are not in this run"));
}

#[test]
fn a_splitter_stays_where_it_was_put() {
    let directory = tempfile::tempdir().expect("a directory");
    let open = || {
        let mut harness = window_sized(Theme::Light, SIZES[0], |ctx| {
            let app = App::with_runs(ctx, vec![Arc::new(report::small())]);
            app.with_settings(ctx, directory.path().to_owned())
        });
        harness.state_mut().go(Page::Summary);
        harness.run_steps(4);
        harness
    };
    let mut harness = open();
    let top = |harness: &Harness<'_, App>| harness.get_by_label(FLAME).rect().top();
    let before = top(&harness);
    // The handle is on the line above the part.
    let handle = harness.get_by_label(FLAME).rect().center_top() - Vec2::new(0.0, 33.0);
    harness.drag_at(handle);
    harness.run_steps(2);
    harness.hover_at(handle - Vec2::new(0.0, 100.0));
    harness.run_steps(2);
    harness.drop_at(handle - Vec2::new(0.0, 100.0));
    harness.run_steps(3);
    let moved = top(&harness);
    assert!((before - moved - 100.0).abs() < 8.0, "from {before} to {moved}");
    drop(harness);
    let mut harness = open();
    crate::support::wait_for(&mut harness, "Compiler phases");
    for _ in 0..100 {
        harness.step();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!((top(&harness) - moved).abs() < 1.0, "{} and not {moved}", top(&harness));
}

#[test]
fn an_untouched_summary_asks_for_no_frame() {
    let mut harness = summary(Theme::Light, report::small());
    hover_share(&mut harness, FLAME, 0.5);
    harness.run_steps(6);
    assert!(harness.run() <= 2, "the page repaints without cause");
}

#[test]
fn summary_looks_as_it_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        for size in SIZES {
            let report = Arc::new(report::small());
            let mut harness = window_sized(theme, size, |ctx| App::with_runs(ctx, vec![report]));
            harness.state_mut().go(Page::Summary);
            harness.run_steps(4);
            harness.snapshot(format!("summary-{theme:?}-{}", size.x).to_lowercase());
            results.extend_harness(&mut harness);
        }
    }
}
