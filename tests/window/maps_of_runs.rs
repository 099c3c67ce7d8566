//! Drives the maps of Memory over three and six runs.

use std::path::Path;
use std::sync::Arc;

use crate::report;
use crate::support::{
    assert_texts, choose, choose_map_step, click, click_at, copied, has_text, open_map, settle,
    window,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Rect, Theme, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tilescope::store::Report;
use tilescope::systems::poplar::WORDS;
use tilescope::systems::poplar::files::absent;
use tilescope::ui::app::App;
use tilescope::ui::loading::Load;

/// A run whose variables on the tiles are the larger the later it is.
fn run(number: u32) -> Arc<Report> {
    let small = report::small();
    let report = Report::of(WORDS, format!("/reports/run-{number}").into());
    report.target.fill(small.target.get().cloned());
    report.memory.fill(small.memory.get().cloned());
    report.fill_arenas_with_tiles();
    report.graph.fill(small.graph.get().copied());
    report.steps.fill(small.steps.get().cloned());
    report.programs.fill(small.programs.get().cloned());
    report.liveness.fill(small.liveness.get().cloned());
    report.tile_variable_bytes.fill(small.tile_variable_bytes.get().cloned());
    report.about.fill(small.about.get().cloned());
    report.debug.fill(small.debug.get().cloned());
    report.compute_sets.fill(small.compute_sets.get().cloned());
    let mut variables = small.variables.get().cloned().expect("variables");
    variables.bytes.iter_mut().for_each(|bytes| *bytes += number);
    report.variables.fill(Some(variables));
    report.categories.fill(small.categories.get().cloned());
    report.execution.settle(Err(absent::execution()));
    report.vertex_types.settle(Err(absent::vertex_types()));
    report.compute_set_tiles.settle(Err(absent::compute_set_tiles()));
    report.exchanges.settle(Err(absent::exchanges()));
    Arc::new(report)
}

fn maps_of(runs: u32, view: &str) -> Harness<'static, App> {
    let mut harness = window(Theme::Light, |ctx| App::with_runs(ctx, (0..runs).map(run).collect()));
    open_map(&mut harness, view);
    harness
}

fn rects(harness: &Harness<'_, App>, runs: u32, name: &str) -> Vec<Rect> {
    (0..runs).map(|run| harness.get_by_label(&format!("{name} run-{run}")).rect()).collect()
}

#[track_caller]
fn assert_apart(rects: &[Rect]) {
    for (place, rect) in rects.iter().enumerate() {
        assert!(rect.height() > 40.0 && rect.width() > 200.0, "{rect:?}");
        for other in rects.iter().skip(place + 1) {
            assert!(!rect.shrink(1.0).intersects(*other), "{rect:?} and {other:?}");
        }
    }
}

#[test]
fn three_maps_of_a_tile_lie_below_each_other_with_one_legend() {
    let mut harness = maps_of(3, "One tile");
    let rects = rects(&harness, 3, "Addresses over steps,");
    assert_apart(&rects);
    assert!(rects.iter().all(|rect| (rect.left() - rects[0].left()).abs() < 1.0));
    assert_eq!(harness.get_all_by_role_and_label(Role::Label, "Gap or free").count(), 1);
    assert_texts(&harness, &["3 · 3 · 3 variables", "200 steps"]);
    let table = copied(&mut harness, "Variables of the tile in all runs");
    let titles = ["run-0 (bytes)", "run-1 (bytes)", "run-2 (bytes)"];
    assert_eq!(table[0][2..5], titles);
    let weights = table.iter().find(|line| line[0] == "weights").expect("weights");
    assert_eq!(weights[2..5], ["6000", "6001", "6002"]);
    harness.get_by_role_and_label(Role::Row, "weights").click();
    settle(&mut harness);
    for run in 0..3 {
        let map = format!("Memory map of run-{run}");
        let value = harness.get_by_label(&map).value().unwrap_or_default();
        assert!(value.starts_with("weights, "), "{value}");
    }
    choose_map_step(&mut harness, "Step of the map of run-2", "Peak, step 120");
    assert_texts(&harness, &["Around the limit, step 120"]);
    choose_map_step(&mut harness, "Step of the map of run-1", "All steps");
    assert!(!has_text(&harness, "Around the limit"), "one choice for all");
}

#[test]
fn the_same_bank_of_two_chips_lies_beside_the_other() {
    let loads = |ctx: &eframe::egui::Context| {
        let path = |name| Path::new("sample_profiles/tenstorrent").join(name);
        ["l1", "dram"].map(|name| Load::start(path(name), ctx)).into()
    };
    let mut harness = window(Theme::Light, |ctx| App::with_loads(ctx, loads(ctx)));
    open_map(&mut harness, "One bank");
    let beside = |harness: &Harness<'_, App>| {
        let maps = ["Source", "Target"].map(|run| format!("Addresses over steps, {run}"));
        maps.map(|map| harness.get_by_label(&map).rect())
    };
    assert_apart(&beside(&harness));
    assert_texts(&harness, &["free at its fullest"]);
    // DRAM is another bank than L1, and the same of both; what it can hold is not in the reports.
    click(&mut harness, "Bank after");
    assert_apart(&beside(&harness));
    assert!(!has_text(&harness, "This run has nothing in"));
    assert!(!has_text(&harness, "free at its fullest"), "the limit of L1 is none of DRAM");
}

#[test]
fn gaps_of_several_runs_are_tables_too() {
    let mut harness = maps_of(3, "One tile");
    click(&mut harness, "By reason");
    let table = copied(&mut harness, "Gaps by reason");
    assert_eq!(table[0][0], "Reason");
    assert!(table[0].iter().any(|title| title.starts_with("run-2")), "{table:#?}");
    assert!(table.len() > 1, "{table:#?}");
    assert_texts(&harness, &["run-0: 1 tile is over the limit"]);
    harness.get_by_role_and_label(Role::Button, "Gaps").click();
    settle(&mut harness);
    let table = copied(&mut harness, "Gaps of the tile");
    assert_eq!(table[0][..2], ["Run", "Address"]);
    for run in ["run-0", "run-1", "run-2"] {
        assert!(table.iter().any(|line| line[0] == run), "{table:#?}");
    }
}

#[test]
fn six_maps_of_a_tile_stand_in_two_columns() {
    let mut harness = maps_of(6, "One tile");
    let rects = rects(&harness, 6, "Addresses over steps,");
    assert_apart(&rects);
    assert!(rects[0].right() < rects[1].left() && rects[0].bottom() < rects[2].top());
    click(&mut harness, "Zoom in");
    assert!(!has_text(&harness, "100 %"));
    harness.key_press_modifiers(Modifiers::NONE, Key::Num0);
    settle(&mut harness);
    assert_texts(&harness, &["100 %"]);
    assert_texts(&harness, &["3 · 3 · 3 · 3 · 3 · 3 variables"]);
    click(&mut harness, "Tile before");
    assert!(!has_text(&harness, "3 · 3 · 3 · 3 · 3 · 3 variables"));
    let value = harness.get_by_label("Memory map of run-5").value().unwrap_or_default();
    assert_eq!(value, "Tile 29", "the one before the fullest");
}

#[test]
fn addresses_over_steps_of_three_runs_move_together() {
    let mut harness = maps_of(3, "One tile");
    let rects = rects(&harness, 3, "Addresses over steps,");
    assert_apart(&rects);
    let at = rects[1].left_bottom() + rects[1].size() * Vec2::new(0.4, -0.2);
    click_at(&mut harness, at, Modifiers::NONE);
    for run in 0..3 {
        let picture = format!("Addresses over steps, run-{run}");
        let value = harness.get_by_label(&picture).value().unwrap_or_default();
        assert_eq!(value.starts_with("weights"), run == 1, "{value}");
    }
    // Zoomed in on the middle, none of them shows the first steps.
    click(&mut harness, "Zoom in");
    assert!(!has_text(&harness, "100 %"));
    for rect in &rects {
        harness.hover_at(rect.left_center() + Vec2::new(4.0, 0.0));
        settle(&mut harness);
        assert_texts(&harness, &["Step 3"]);
        assert!(!has_text(&harness, "Step 0,"), "the first step is left of the picture");
    }
    click(&mut harness, "Show all");
    assert_texts(&harness, &[" → "]);
}

#[test]
fn six_maps_of_all_tiles_share_what_is_visible() {
    let mut harness = maps_of(6, "All tiles");
    let rects = rects(&harness, 6, "Map of all tiles of");
    assert_apart(&rects);
    assert!(rects[2].right() > rects[1].right() && rects[3].top() > rects[0].bottom());
    assert_eq!(harness.get_all_by_role_and_label(Role::Label, "Gap").count(), 1);
    let at = rects[4].min + rects[4].size() * Vec2::new(0.1, 30.5 / report::TILES as f32);
    harness.hover_at(at);
    settle(&mut harness);
    assert_texts(&harness, &["Tile 30 of IPU 1, address"]);
    click_at(&mut harness, at, Modifiers::NONE);
    assert_texts(&harness, &["Map of tile 30"]);
    choose(&mut harness, "Color", "By liveness");
    click(&mut harness, "At a step");
    for run in 0..6 {
        let map = format!("Map of all tiles of run-{run}");
        let value = harness.get_by_label(&map).value().unwrap_or_default();
        assert_eq!(value, "48 tiles, By liveness; Tile 30 of IPU 1");
    }
}

#[test]
fn titles_follow_when_a_run_goes() {
    let mut harness = maps_of(3, "One tile");
    click(&mut harness, "Variables");
    let table = copied(&mut harness, "Variables of the tile in all runs");
    assert_eq!(table[0][2..4], ["run-0 (bytes)", "run-1 (bytes)"]);
    click(&mut harness, "More for run-2");
    click(&mut harness, "Close run-2");
    click(&mut harness, "Variables");
    let table = copied(&mut harness, "Variables of the tile in both");
    let titles = table[0].join(",");
    assert!(titles.contains("Source (bytes),Target (bytes)"), "{titles}");
}

#[test]
fn a_tile_of_the_floor_plan_is_over_by_the_limit_of_its_own_run() {
    for (limits, is_over) in [([40_000, 10_000], true), ([40_000, 30_000], false)] {
        let reports = limits.map(report::with_limit).map(Arc::new).to_vec();
        let mut harness = window(Theme::Light, |ctx| App::with_runs(ctx, reports));
        open_map(&mut harness, "Floor plan");
        assert_texts(&harness, &["Grid of tiles of the target", "17.5 KiB"]);
        assert_eq!(has_text(&harness, "over, up to "), is_over, "{limits:?}");
    }
}
