//! Drives what is around the pages where two reports are compared: how they are opened, swapped, ended.

use std::sync::Arc;

use crate::report;
use crate::support::{click, has_text, press, settle, texts, wait_for, window};
use eframe::egui::accesskit::Toggled;
use eframe::egui::{Key, Theme};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tilescope::store::Report;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

/// A report with a path of its own.
fn named(mut report: Report, name: &str) -> Arc<Report> {
    report.path = format!("/reports/{name}").into();
    Arc::new(report)
}

fn two(theme: Theme) -> Harness<'static, App> {
    let (source, target) = (named(report::small(), "before"), named(report::small(), "after"));
    window(theme, |ctx| App::with_runs(ctx, vec![source, target]))
}

fn is_reference(harness: &Harness<'_, App>, name: &str) -> bool {
    harness.query_by_label(&format!("{name} is the reference")).is_some()
}

#[test]
fn the_bar_names_both_and_swaps_them() {
    let mut harness = two(Theme::Light);
    assert!(is_reference(&harness, "before"), "{:#?}", texts(&harness));
    assert!(has_text(&harness, "200 steps matched"), "{:#?}", texts(&harness));
    press(&mut harness, Key::F6);
    assert!(is_reference(&harness, "after"));
    click(&mut harness, "Swap source and target");
    assert!(is_reference(&harness, "before"));
    click(&mut harness, "End comparison");
    assert!(harness.query_by_label("Swap source and target").is_none());
    assert!(has_text(&harness, "Memory used: "), "the source is shown alone");
    harness.get_by_label("Compare").hover();
    harness.run_steps(8);
    assert!(has_text(&harness, "Open a second run to compare"));
}

#[test]
fn arrangement_and_alignment_have_keys_and_buttons() {
    let mut harness = two(Theme::Light);
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    let is_on = |harness: &Harness<'_, App>, name: &str| {
        harness.get_by_label(name).accesskit_node().toggled() == Some(Toggled::True)
    };
    assert!(is_on(&harness, "Overlaid") && is_on(&harness, "By name"));
    press(&mut harness, Key::F7);
    press(&mut harness, Key::F8);
    assert!(is_on(&harness, "Side by side") && is_on(&harness, "By number"));
    click(&mut harness, "Overlaid");
    click(&mut harness, "By name");
    assert!(is_on(&harness, "Overlaid") && is_on(&harness, "By name"));
}

#[test]
fn the_selection_survives_the_end_of_the_comparison() {
    let mut harness = two(Theme::Light);
    harness.state_mut().go(Page::Memory);
    settle(&mut harness);
    press(&mut harness, Key::F7);
    let fields = harness.get_all_by_label("Select tiles").count();
    assert!(fields > 0);
    harness.get_all_by_label("Select tiles").last().expect("a field").focus();
    harness.run_steps(2);
    harness.get_all_by_label("Select tiles").last().expect("a field").type_text("31");
    harness.run_steps(2);
    press(&mut harness, Key::Enter);
    assert!(has_text(&harness, "Deselect tile 31"), "{:#?}", texts(&harness));
    click(&mut harness, "End comparison");
    assert!(has_text(&harness, "Deselect tile 31"));
}

#[test]
fn two_reports_are_named_on_the_home_page() {
    let mut harness = window(Theme::Light, |ctx| App::new(ctx, None));
    harness.get_all_by_label("Compare two runs…").next().expect("a card").click();
    harness.run_steps(3);
    for (field, path) in [("Source", "/nowhere/before"), ("Target", "/nowhere/after")] {
        harness.get_by_role_and_label(eframe::egui::accesskit::Role::TextInput, field).focus();
        harness.run_steps(2);
        harness
            .get_by_role_and_label(eframe::egui::accesskit::Role::TextInput, field)
            .type_text(path);
        harness.run_steps(2);
    }
    harness.get_all_by_label("Compare").last().expect("a button").click();
    harness.run_steps(2);
    wait_for(&mut harness, "The run could not be opened");
    wait_for(&mut harness, "/nowhere/before");
}

#[test]
fn a_pair_is_remembered_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let (source, target) = (named(report::small(), "before"), named(report::small(), "after"));
    let mut harness = window(Theme::Light, |ctx| {
        App::with_runs(ctx, vec![source, target]).with_settings(ctx, directory.path().to_owned())
    });
    harness.run_steps(3);
    click(&mut harness, "Close");
    wait_for(&mut harness, "Recent comparisons");
    assert!(has_text(&harness, "resnext101, before → resnext101, after"), "{:#?}", texts(&harness));
    drop(harness);
    let text = std::fs::read_to_string(directory.path().join("settings.json")).expect("settings");
    let settings: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let pairs = settings["recent_pairs"].as_array().expect("pairs");
    assert_eq!(pairs.len(), 1);
    assert_eq!(pairs[0]["target"], "/reports/after");
}
