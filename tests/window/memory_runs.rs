//! Drives the Memory page of three runs and of six.

use std::sync::Arc;

use crate::report;
use crate::support::{
    assert_texts, choose, click, click_at, copied, is_on, line, open_map, open_tab, settle,
    window_sized,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Pos2, Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use tilescope::store::ids::IdColumn;
use tilescope::store::{Part, Report, TileId};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

const ALL: &str = "Memory over tiles";
const SIZE: Vec2 = Vec2::new(1600.0, 900.0);

/// The small report, with some bytes less on each tile. Later ones have lost their last tiles.
fn run(number: u64) -> Report {
    let mut report = report::small();
    report.path = format!("/reports/run-{number}").into();
    let mut memory = report.memory.get().cloned().expect("memory");
    for bytes in memory.total.iter_mut().chain(&mut memory.including_gaps).flatten() {
        *bytes -= 300 * number;
    }
    let tiles = memory.tiles.as_slice().to_vec();
    if number == 2 {
        memory.tiles = IdColumn::default();
        for tile in tiles.iter().take(tiles.len() - 4) {
            memory.tiles.push(*tile);
        }
        memory.tiles.push(TileId(90));
    }
    report.memory = Part::default();
    report.memory.fill(Some(memory));
    report
}

fn page(theme: Theme, runs: u64) -> Harness<'static, App> {
    let reports = (0..runs).map(|number| Arc::new(run(number))).collect();
    let mut harness = window_sized(theme, SIZE, |ctx| App::with_runs(ctx, reports));
    harness.state_mut().go(Page::Memory);
    settle(&mut harness);
    harness.remove_cursor();
    settle(&mut harness);
    harness
}

fn place(harness: &Harness<'_, App>, picture: &str, share: f32) -> Pos2 {
    let rect = harness.get_by_label(picture).rect();
    rect.left_center() + Vec2::new(rect.width() * share, 0.0)
}

#[test]
fn every_run_has_a_line_and_columns() {
    let mut harness = page(Theme::Light, 3);
    for run in 0..3 {
        assert!(is_on(&harness, Role::CheckBox, &format!("run-{run} with gaps")));
    }
    assert!(harness.query_by_label("run-1 without gaps").is_none(), "only where they are compared");
    assert_texts(
        &harness,
        &["most A 17.5 KiB · B 17.2 KiB · C 16.9 KiB", "1 in A, 1 in B, 1 in C of 49"],
    );
    let at = place(&harness, ALL, 3.5 / 49.0);
    click_at(&mut harness, at, Modifiers::NONE);
    harness.hover_at(at);
    harness.run_steps(4);
    assert_texts(&harness, &["Tile 3 of IPU 0", "run-2: ", "under the limit"]);
    assert_texts(&harness, &[" → ", "Deselect tile 3"]);
    let table = copied(&mut harness, "Memory details of all");
    let cells: Vec<_> =
        line(&table, "With gaps")[1..].iter().map(|cell| cell.parse::<i64>()).collect();
    let [Ok(first), Ok(second), Ok(change), Ok(third), Ok(other)] = cells[..] else {
        panic!("{cells:?}")
    };
    assert_eq!((second, change, third, other), (first - 300, -300, first - 600, -600));
    let at = place(&harness, ALL, 48.5 / 49.0);
    harness.hover_at(at);
    harness.run_steps(4);
    assert_texts(&harness, &["run-0: it does not have this tile"]);
}

#[test]
fn the_parts_of_one_run_stand_beside_the_lines_of_the_others() {
    let mut harness = page(Theme::Light, 3);
    choose(&mut harness, "Breakdown", "Category");
    assert!(is_on(&harness, Role::Button, "Parts of run-0"), "the reference");
    assert!(!is_on(&harness, Role::CheckBox, "run-0 without gaps"));
    assert!(is_on(&harness, Role::CheckBox, "run-2 without gaps"));
    click(&mut harness, "Parts of run-2");
    assert!(is_on(&harness, Role::CheckBox, "run-0 without gaps"));
    harness.key_press_modifiers(Modifiers::NONE, Key::F7);
    settle(&mut harness);
    for run in 0..3 {
        assert!(harness.query_by_label(&format!("{ALL} of run-{run}")).is_some());
    }
}

#[test]
fn tables_have_a_column_for_every_run() {
    let mut harness = page(Theme::Light, 3);
    open_tab(&mut harness, "Tiles");
    let table = copied(&mut harness, "Tiles of all");
    let of_five = line(&table, "5");
    assert_eq!((&*of_five[3], &*of_five[5]), ("-300", "-600"), "{of_five:?}");
    click(&mut harness, "Outliers only");
    let table = copied(&mut harness, "Tiles of all");
    assert_eq!(table[1][0], "30");
    harness.get_by_role_and_label(Role::Row, "30").click();
    settle(&mut harness);
    assert_texts(&harness, &["Deselect tile 30"]);
    open_tab(&mut harness, "Variables");
    let table = copied(&mut harness, "Variables of all");
    assert_eq!(line(&table, "weights")[3], "0");
    harness.get_by_role_and_label(Role::Row, "weights").click();
    settle(&mut harness);
    assert!(is_on(&harness, Role::CheckBox, "Variable weights"));
    open_tab(&mut harness, "Compute sets");
    assert_texts(&harness, &["Compute sets are not in run-0"]);
}

#[test]
fn the_reference_is_compared_with_a_run_that_is_chosen() {
    let mut harness = page(Theme::Light, 3);
    click(&mut harness, "View of the map of differences");
    assert_texts(&harness, &["run-1 − run-0; largest change first"]);
    choose(&mut harness, "Compared run", "run-2");
    assert_texts(&harness, &["run-2 − run-0; largest change first"]);
    open_map(&mut harness, "Floor plan");
    for run in 0..3 {
        assert!(harness.query_by_label(&format!("Grid of tiles of run-{run}")).is_some());
    }
    open_map(&mut harness, "Differences");
    choose(&mut harness, "Compared run", "run-2");
    let at = harness.get_by_label("Grid of differences").rect().min + Vec2::new(8.0, 26.0);
    harness.hover_at(at);
    harness.run_steps(4);
    assert_texts(&harness, &["Tile 0 of IPU 0: With gaps", "▼ −300 B", "▼ −600 B"]);
    click_at(&mut harness, at, Modifiers::NONE);
    assert_texts(&harness, &["Map of tile 0"]);
}

#[test]
fn the_page_of_six_runs_looks_as_it_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        let name = |what: &str| format!("memory-six-{what}-{theme:?}").to_lowercase();
        let mut harness = page(theme, 6);
        harness.snapshot(name("overlaid"));
        harness.key_press_modifiers(Modifiers::NONE, Key::F7);
        harness.remove_cursor();
        settle(&mut harness);
        harness.snapshot(name("beside"));
        results.extend_harness(&mut harness);
    }
}
