//! Drives the page that says what changed between two reports.

use std::sync::Arc;

use crate::liveness_pair::{source, sum, target};
use crate::report;
use crate::support::{
    SIZES, assert_text, click, copied, has_text, settle, texts, wait_for, wait_until_gone, window,
    window_at_work,
};
use eframe::egui::Theme;
use eframe::egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use tilescope::store::Report;
use tilescope::store::report::Part;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

fn page(theme: Theme) -> Harness<'static, App> {
    let (source, target) = (Arc::new(source()), Arc::new(target()));
    // Two reports open on this page.
    window(theme, |ctx| App::with_runs(ctx, vec![source, target]))
}

#[test]
fn the_head_says_what_differs_and_what_changed() {
    let harness = page(Theme::Light);
    assert_text(&harness, "availableMemoryProportion of convolution");
    assert_text(&harness, "0.75 → 0.6");
    assert_text(&harness, "Temporaries are smaller at the peak");
    assert_text(&harness, "More is always live");
    assert_text(&harness, "+9.77 KiB");
    for title in ["Source", "Target", "Difference", "Always live"] {
        assert!(harness.query_all_by_label(title).count() > 0, "{title}");
    }
}

#[test]
fn the_first_sentence_says_whether_it_fits_before_and_after() {
    let harness = page(Theme::Light);
    let all = texts(&harness);
    let place = |text: &str| all.iter().position(|found| found.contains(text));
    let first = place("It fit before").or_else(|| place("It did not fit")).expect("the verdicts");
    assert!(Some(first) < place("Temporaries are smaller at the peak"), "{all:#?}");
}

#[test]
fn the_change_of_the_peak_is_said_in_steps() {
    let mut harness = page(Theme::Light);
    assert_text(&harness, "Why the peak fell, A → B");
    assert_text(&harness, "Memory of all runs over steps");
    assert_text(&harness, "highest peaks of A numbered at steps ");
    harness.get_by_role_and_label(Role::Button, "Variable").click();
    settle(&mut harness);
    // From the reference to the run; what is between adds up (analysis).
    let has_total = |letter: &str| texts(&harness).iter().any(|text| text.starts_with(letter));
    assert!(has_total("A ") && has_total("B "), "{:#?}", texts(&harness));
    assert_text(&harness, "layer1/conv/scratch: ▼ −");
}

#[test]
fn tiles_of_different_machines_are_on_no_common_ipu() {
    let other = || {
        let mut report = report::small();
        let mut target = report.target.get().cloned().expect("a target");
        target.tiles_per_device = Some(2);
        report.target = Part::default();
        report.target.fill(Some(target));
        Arc::new(report)
    };
    let small = Arc::new(report::small());
    let mut harness = window(Theme::Light, |ctx| App::with_runs(ctx, vec![other(), small]));
    assert_text(&harness, "The reports are for different machines");
    harness.state_mut().go(Page::Memory);
    settle(&mut harness);
    // By the source's two tiles of an IPU there would be 24.
    assert!(!has_text(&harness, "IPU 23"), "{:#?}", texts(&harness));
}

#[test]
fn plans_are_not_known_where_debug_information_is_cut() {
    let mut target = target();
    let mut debug = target.debug.get().cloned().expect("debug information");
    debug.is_cut = true;
    target.debug = Part::default();
    target.debug.fill(Some(debug));
    let (source, target) = (Arc::new(source()), Arc::new(target));
    let mut harness = window(Theme::Light, |ctx| App::with_runs(ctx, vec![source, target]));
    assert_text(&harness, "that of the target is cut");
    click(&mut harness, "Changed plans (not known)");
    assert_text(&harness, "It is not known whether plans have changed");
}

#[test]
fn what_more_reading_may_change_is_provisional() {
    let growing = |report: fn() -> Report| {
        let (mut report, mut whole) = (report(), report());
        report.debug = Part::default();
        (Arc::new(report), std::mem::take(&mut whole.debug))
    };
    let reports = [growing(source), growing(target)];
    let loads = reports.each_ref().map(|(report, _)| Load::growing(Arc::clone(report)));
    let mut harness =
        window_at_work(Theme::Light, SIZES[0], |ctx| App::with_loads(ctx, loads.into()));
    wait_for(&mut harness, "Provisional: more of the reports is being read");
    // What stands below it is there.
    wait_for(&mut harness, "Temporaries are smaller at the peak");
    // So it is on Insights, where advice waits.
    harness.state_mut().go(Page::Insights);
    wait_for(&mut harness, "From source to target, provisional: more is being read");
    wait_for(&mut harness, "Advice appears when the operations are read");
    harness.state_mut().go(Page::Comparison);
    wait_for(&mut harness, "Provisional: more");
    for (report, debug) in &reports {
        report.debug.fill(debug.get().cloned());
        report.logs.fill(Some(Vec::new()));
    }
    wait_until_gone(&mut harness, "Provisional: more");
    wait_for(&mut harness, "Temporaries are smaller at the peak");
    harness.state_mut().go(Page::Insights);
    wait_for(&mut harness, "From source to target");
    wait_until_gone(&mut harness, "so far");
    wait_until_gone(&mut harness, "Advice appears when");
}

#[test]
fn every_explanation_adds_up() {
    let mut harness = page(Theme::Light);
    click(&mut harness, "Explanation");
    let mut changes = Vec::new();
    for by in ["operation", "module", "variable"] {
        click(&mut harness, by);
        let rows = copied(&mut harness, "explanation");
        assert_eq!(rows[0][..2], ["Contribution", "Source (bytes)"]);
        assert_eq!(sum(&rows, 2) - sum(&rows, 1), sum(&rows, 3), "by {by}");
        changes.push(sum(&rows, 3));
    }
    assert!(changes[0] < 0 && changes.iter().all(|change| *change == changes[0]), "{changes:?}");
    let rows = copied(&mut harness, "explanation");
    assert_eq!(rows[1][0], "layer1/conv/scratch", "the largest change first");
    click(&mut harness, "always live");
    let rows = copied(&mut harness, "explanation");
    assert_eq!((sum(&rows, 3), sum(&rows, 2) - sum(&rows, 1)), (10_000, 10_000));
}

#[test]
fn a_variable_that_is_clicked_is_selected_everywhere() {
    let mut harness = page(Theme::Light);
    click(&mut harness, "Explanation");
    click(&mut harness, "variable");
    harness.get_by_role_and_label(Role::Row, "layer1/conv/scratch").click();
    settle(&mut harness);
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    assert_text(&harness, "Deselect variable");
}

#[test]
fn a_spike_leads_to_its_place_in_the_curve() {
    let mut harness = page(Theme::Light);
    click(&mut harness, "Spikes");
    let rows = copied(&mut harness, "spikes of both reports");
    assert_eq!(rows[1][1..3], ["30", "38"], "matched though the numbers differ: {rows:?}");
    let row = harness.get_all_by_role(Role::Row).next().expect("a spike");
    row.click();
    settle(&mut harness);
    assert_text(&harness, "step 30 → 38");
}

#[test]
fn what_has_no_partner_is_listed() {
    let mut harness = page(Theme::Light);
    click(&mut harness, "Matched and unmatched");
    let rows = copied(&mut harness, "in one report only");
    let only = |side: &str| rows.iter().filter(|row| row[1] == side).count();
    assert_eq!((only("source"), only("target")), (4, 8), "{rows:#?}");
    click(&mut harness, "Variables");
    let rows = copied(&mut harness, "in one report only");
    assert!(rows.iter().any(|row| row[0] == "layer1/conv/gone"), "{rows:#?}");
}

#[test]
fn figures_options_and_plans_are_there() {
    let mut harness = page(Theme::Light);
    click(&mut harness, "All figures");
    let rows = copied(&mut harness, "figures of both reports");
    assert!(rows.iter().any(|row| row[0] == "Always live"), "{rows:#?}");
    click(&mut harness, "Options that differ (1)");
    assert_text(&harness, "Debug information");
    click(&mut harness, "Changed plans (2)");
    assert_text(&harness, "0.75 → 0.6");
}

#[test]
fn a_report_against_itself_has_not_changed() {
    let reports = [(); 2].map(|()| Arc::new(report::small()));
    let [source, target] = reports;
    let harness = window(Theme::Light, |ctx| App::with_runs(ctx, vec![source, target]));
    assert_text(&harness, "No option, version or machine differs");
    assert_text(&harness, "Unchanged");
    assert_text(&harness, "Changed plans (0)");
}

#[test]
fn reports_without_steps_say_so() {
    let reports = [(); 2].map(|()| Arc::new(report::without_memory()));
    let [source, target] = reports;
    let harness = window(Theme::Light, |ctx| App::with_runs(ctx, vec![source, target]));
    assert_text(&harness, "The reports cannot be compared by steps");
}

#[test]
fn the_comparison_looks_as_it_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        let mut harness = page(theme);
        harness.snapshot(format!("comparison-{theme:?}").to_lowercase());
        results.extend_harness(&mut harness);
    }
}
