//! Drives Summary, Insights and Comparison with more than two runs, and counts what is worked out.

use std::sync::Arc;

use crate::liveness_pair::{copied, source, target};
use crate::report;
use crate::support::{choose, has_text, settle, texts, window};
use eframe::egui::Theme;
use eframe::egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tilescope::store::Report;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

fn named(mut report: Report, name: &str) -> Arc<Report> {
    report.path = format!("/reports/{name}").into();
    Arc::new(report)
}

/// The runs `base`, `changed` and more that are as the first.
fn runs(count: usize) -> Harness<'static, App> {
    let mut reports = vec![named(source(), "base"), named(target(), "changed")];
    for place in reports.len()..count {
        reports.push(named(source(), &format!("more-{place}")));
    }
    window(Theme::Light, |ctx| App::with_runs(ctx, reports))
}

fn go(harness: &mut Harness<'_, App>, page: Page) {
    harness.state_mut().go(page);
    settle(harness);
}

fn click(harness: &mut Harness<'_, App>, name: &str) {
    harness.get_by_label(name).click();
    settle(harness);
}

fn assert_text(harness: &Harness<'_, App>, text: &str) {
    assert!(has_text(harness, text), "{text:?} in {:#?}", texts(harness));
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
        assert!(harness.query_by_label("Compiler phases of more-2 over time").is_some());
    }
}

#[test]
fn a_change_is_said_of_each_run_but_the_reference() {
    for count in [3, 6] {
        let mut harness = runs(count);
        go(&mut harness, Page::Insights);
        assert_text(&harness, "From base to changed");
        assert_text(&harness, "From base to more-2");
        assert_eq!(
            harness.get_all_by_label("Insights").count(),
            1 + count,
            "the menu and each run"
        );
    }
}

#[test]
fn all_runs_stand_in_one_table_from_which_one_is_chosen() {
    for count in [3, 6] {
        let mut harness = runs(count);
        go(&mut harness, Page::Comparison);
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
        let rows = copied(&mut harness, "explanation");
        assert_eq!(rows[0][1..3], ["base (bytes)", "changed (bytes)"]);
        choose(&mut harness, "Compare with", "more-2");
        let rows = copied(&mut harness, "explanation");
        assert_eq!(rows[0][1..3], ["base (bytes)", "more-2 (bytes)"]);
        assert_text(&harness, "Temporary memory at the peak stayed the same");
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
    assert_eq!(copied(&mut harness, "all runs").len(), 4);
    click(&mut harness, "Explanation");
    assert_text(&harness, "The reports cannot be compared by steps");
    choose(&mut harness, "Compare with", "again");
    assert_text(&harness, "stayed the same");
    go(&mut harness, Page::Summary);
    assert_text(&harness, "Options are not in all reports");
}

#[test]
#[ignore]
fn temporary_pictures() {
    use tilescope::format::{Progress, poplar::OpenReport};
    let names = ["amp-0.75", "amp-0.8", "amp-0.6", "amp-0.35", "amp-0.01", "amp-0.005"];
    let reports: Vec<Arc<Report>> = names
        .iter()
        .map(|name| {
            let path = std::path::PathBuf::from("/work/baseline/story").join(name);
            let progress = Progress::default();
            let open = OpenReport::open(&path, &progress).unwrap();
            open.read_debug_info(&progress);
            open.read_variables(&progress);
            open.read_tile_variable_bytes(&progress);
            open.read_compute(&progress);
            open.read_logs(tilescope::analysis::insights::logs::log_messages);
            Arc::clone(&open.report)
        })
        .collect();
    for (count, size) in [(6, 0), (6, 1), (3, 0), (2, 0), (1, 0)] {
        let reports = reports[..count].to_vec();
        let mut harness =
            crate::support::window_sized(Theme::Light, crate::support::SIZES[size], |ctx| {
                App::with_runs(ctx, reports)
            });
        for (name, page) in [
            ("summary", Page::Summary),
            ("insights", Page::Insights),
            ("comparison", Page::Comparison),
        ] {
            go(&mut harness, page);
            harness.render().unwrap().save(format!("/tmp/pic-{name}-{count}-{size}.png")).unwrap();
        }
        if count == 6 {
            click(&mut harness, "Explanation");
            harness
                .render()
                .unwrap()
                .save(format!("/tmp/pic-explanation-{count}-{size}.png"))
                .unwrap();
        }
    }
}
