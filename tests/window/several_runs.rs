//! Drives Summary, Insights and Comparison with more than two runs, and counts what is worked out.

use std::sync::Arc;

use crate::liveness_pair::{source, target};
use crate::report;
use crate::support::{
    assert_text, choose, click, click_at, copied, has_text, press, settle, texts, wait_for, window,
    window_sized,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tilescope::store::Report;
use tilescope::store::report::{FileStatus, ReportFile};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

fn named(mut report: Report, name: &str) -> Arc<Report> {
    report.path = format!("/reports/{name}").into();
    let name = "profile.pop".to_owned();
    report.set_files(vec![ReportFile { name, bytes: Some(9), status: FileStatus::Ok }]);
    Arc::new(report)
}

/// The runs `base`, `changed` and more that are as the first.
fn reports(count: usize) -> Vec<Arc<Report>> {
    let mut reports = vec![named(source(), "base"), named(target(), "changed")];
    for place in reports.len()..count {
        reports.push(named(source(), &format!("more-{place}")));
    }
    reports
}

fn runs(count: usize) -> Harness<'static, App> {
    let reports = reports(count);
    window(Theme::Light, |ctx| App::with_runs(ctx, reports))
}

fn tall_window(count: usize) -> Harness<'static, App> {
    let reports = reports(count);
    window_sized(Theme::Light, Vec2::new(1280.0, 1300.0), |ctx| App::with_runs(ctx, reports))
}

fn go(harness: &mut Harness<'_, App>, page: Page) {
    harness.state_mut().go(page);
    settle(harness);
}

#[test]
fn the_summary_has_a_column_for_each_run() {
    for count in [3, 6] {
        let mut harness = runs(count);
        go(&mut harness, Page::Summary);
        // Once in the head, and in each of the four cards.
        for name in ["base", "changed", "more-2"] {
            assert!(harness.query_all_by_label(name).count() >= 5, "{name} of {count} runs");
        }
        assert_text(&harness, "availableMemoryProportion of convolution 0.75 · 0.6 · 0.75");
        click(&mut harness, "availableMemoryProportion");
        let rows = copied(&mut harness, "availableMemoryProportion");
        assert_eq!(rows[1].len(), 2 + count, "{:?}", rows[1]);
        let titles = rows[0].join(",");
        assert!(
            titles.contains("\"base, times\",\"changed, times\",\"more-2, times\""),
            "{titles}"
        );
        click(&mut harness, "Files");
        let rows = copied(&mut harness, "Files");
        assert_eq!(rows[1].len(), 1 + 2 * count, "{:?}", rows[1]);
    }
}

#[test]
fn a_phase_that_is_chosen_in_one_run_is_chosen_in_all() {
    let reports = ["base", "second", "third"].map(|name| named(report::small(), name)).into();
    let mut harness = window(Theme::Dark, |ctx| App::with_runs(ctx, reports));
    go(&mut harness, Page::Summary);
    let flame = |name: &str| format!("Compiler phases of {name} over time");
    let at = harness.get_by_label(&flame("base")).rect().left_top() + Vec2::new(60.0, 30.0);
    click_at(&mut harness, at, Modifiers::NONE);
    let value = |name: &str| {
        let name = flame(name);
        let node = harness.get_by_label(&name);
        node.accesskit_node().value().unwrap_or_default()
    };
    assert!(!value("base").contains("spans"), "{}", value("base"));
    assert_eq!((value("second"), value("third")), (value("base"), value("base")));
}

#[test]
fn a_pair_and_each_of_its_curves_is_worked_out_once() {
    let mut harness = runs(3);
    for page in [Page::Summary, Page::Insights, Page::Liveness, Page::Comparison, Page::Summary] {
        go(&mut harness, page);
    }
    go(&mut harness, Page::Comparison);
    choose(&mut harness, "Compare with", "more-2");
    let derived = harness.state().derived();
    let timelines: Vec<usize> = derived.iter().map(|run| run.timelines_made()).collect();
    // That of everything, and that of the fullest tile.
    assert_eq!(timelines, [2, 2, 2]);
    assert_eq!(harness.state().attributions_made(), [1, 1]);
}

#[test]
fn a_change_is_said_of_each_run_but_the_reference() {
    for count in [3, 6] {
        let mut harness = runs(count);
        go(&mut harness, Page::Insights);
        assert_text(&harness, "From base to changed");
        assert_text(&harness, "From base to more-2");
        assert_eq!(harness.get_all_by_label("Memory used").count(), count, "in each run");
    }
}

#[test]
fn all_runs_stand_in_one_table_from_which_one_is_chosen() {
    for count in [3, 6] {
        let mut harness = runs(count);
        go(&mut harness, Page::Comparison);
        click(&mut harness, "All runs");
        let rows = copied(&mut harness, "all runs");
        assert_eq!(rows.len(), 1 + count, "{rows:#?}");
        let column = |title: &str| {
            let place = rows[0].iter().position(|other| other == title);
            place.unwrap_or_else(|| panic!("{title} in {:?}", rows[0]))
        };
        let change = column("Always live change (bytes)");
        let changes: Vec<&str> = rows.iter().skip(1).map(|row| &*row[change]).collect();
        assert_eq!(changes[..3], ["0", "10000", "0"]);
        let option = column("availableMemoryProportion of convolution");
        assert_eq!(rows[2][option], "0.6");
        click(&mut harness, "Explanation");
        click(&mut harness, "variable");
        let rows = copied(&mut harness, "explanation");
        assert_eq!(rows[0][1..3], ["base (bytes)", "changed (bytes)"]);
        choose(&mut harness, "Compare with", "more-2");
        let rows = copied(&mut harness, "explanation");
        assert_eq!(rows[0][1..3], ["base (bytes)", "more-2 (bytes)"]);
        click(&mut harness, "Curves and peak");
        assert_text(&harness, "Unchanged");
        click(&mut harness, "All runs");
        harness.get_by_role_and_label(Role::Row, "changed").click();
        settle(&mut harness);
        click(&mut harness, "Spikes");
        let rows = copied(&mut harness, "spikes of both reports");
        assert_eq!(rows[0][1..3], ["base step", "changed step"]);
        assert_eq!(rows[1][1..3], ["30", "38"]);
    }
}

#[test]
fn each_run_has_a_line_and_a_click_compares_it_with_the_reference() {
    for count in [3, 6] {
        let mut harness = runs(count);
        go(&mut harness, Page::Comparison);
        let value = |harness: &Harness<'_, App>, name: &str| {
            let node = harness.get_by_label(name);
            node.accesskit_node().value().unwrap_or_default()
        };
        assert!(value(&harness, "Reference base").ends_with("reference"));
        assert!(value(&harness, "Compare with more-2").ends_with("same curve as A"));
        assert_text(&harness, "Why the peak fell, A → B");
        assert_text(&harness, "Options that differ, A → B (");
        click(&mut harness, "Compare with more-2");
        assert_text(&harness, "The peak, A → C");
        assert_text(&harness, "Options that differ, A → C (");
        click(&mut harness, "Compare with changed");
        assert_text(&harness, "Why the peak fell, A → B");
        choose(&mut harness, "Reference", "B changed");
        assert_text(&harness, "Why the peak rose, B → A");
        go(&mut harness, Page::Liveness);
        assert_text(&harness, " of B; ");
    }
}

#[test]
fn a_spike_of_a_later_run_is_selected_at_its_step() {
    let mut harness = runs(3);
    choose(&mut harness, "Compare with", "more-2");
    click(&mut harness, "Spikes");
    harness.get_all_by_role(Role::Row).next().expect("a spike").click();
    settle(&mut harness);
    assert!(harness.query_by_label_contains("Deselect step").is_some(), "{:#?}", texts(&harness));
}

#[test]
fn a_run_that_cannot_be_matched_leaves_the_table_of_all() {
    let reports = vec![
        named(report::small(), "base"),
        named(report::without_memory(), "damaged"),
        named(report::small(), "again"),
    ];
    let mut harness = window(Theme::Dark, |ctx| App::with_runs(ctx, reports));
    go(&mut harness, Page::Comparison);
    click(&mut harness, "All runs");
    assert_eq!(copied(&mut harness, "all runs").len(), 4);
    click(&mut harness, "Explanation");
    assert_text(&harness, "The reports cannot be compared by steps");
    choose(&mut harness, "Compare with", "again");
    click(&mut harness, "Curves and peak");
    assert_text(&harness, "Unchanged");
    go(&mut harness, Page::Summary);
    assert_text(&harness, "Options are not in all runs");
}

#[test]
fn lifetimes_are_those_of_the_run_that_is_chosen_for_bars_and_table_alike() {
    let mut harness = tall_window(3);
    go(&mut harness, Page::Liveness);
    assert_text(&harness, "Lifetimes at step 30");
    choose(&mut harness, "Bars of", "changed");
    assert_text(&harness, "Lifetimes at step 38");
    click(&mut harness, "Lifetimes");
    assert_text(&harness, "alive at step 38");
    choose(&mut harness, "Lifetimes of", "base");
    assert_text(&harness, "Lifetimes at step 30");
}

#[test]
fn side_by_side_each_curve_has_its_own_lifetimes() {
    let mut harness = tall_window(2);
    go(&mut harness, Page::Liveness);
    press(&mut harness, Key::F7);
    assert_text(&harness, "Lifetimes at step 30");
    assert_text(&harness, "Lifetimes at step 38");
    assert!(harness.run() <= 2, "the page repaints without cause");
    // Where there is no room for them, curves keep theirs.
    let mut harness = runs(6);
    go(&mut harness, Page::Liveness);
    press(&mut harness, Key::F7);
    assert!(!has_text(&harness, "Lifetimes at step"), "{:#?}", texts(&harness));
}

#[test]
fn liveness_of_many_runs_answers_with_the_worst_and_tells_the_rest_on_hover() {
    let mut harness = runs(6);
    go(&mut harness, Page::Liveness);
    let answer = texts(&harness).into_iter().find(|text| text.contains("; and 4 more, "));
    let answer = answer.expect("the answer");
    assert!(answer.starts_with("base: ") && !answer.contains("more-5"), "{answer}");
    harness.get_by_label(&answer).hover();
    wait_for(&mut harness, "more-5: ");
}
