//! Drives the Memory and Summary pages of two reports.

use std::sync::Arc;

use crate::report;
use crate::support::{
    assert_texts, choose, choose_map_step, click, click_at, copied, has_text, is_on, line,
    open_map, open_tab, press, settle, window,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Pos2, Theme, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use tilescope::store::Report;
use tilescope::store::debug_info::Proportion;
use tilescope::store::memory::{CategoryMemory, TileMemory};
use tilescope::store::options::{EngineOption, SideFact};
use tilescope::systems::poplar::WORDS;
use tilescope::systems::poplar::files::absent;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

const BOTH: &str = "Memory over tiles";
const OF_SOURCE: &str = "Memory over tiles of the source";
const OF_TARGET: &str = "Memory over tiles of the target";
const DIFFERENCES: &str = "Map of differences";
const OF_A_TILE: [&str; 2] = ["Memory map of the source", "Memory map of the target"];
const OF_ALL_TILES: [&str; 2] =
    ["Map of all tiles of the source", "Map of all tiles of the target"];
const OF_GRIDS: [&str; 2] = ["Grid of tiles of the source", "Grid of tiles of the target"];
const TILES: usize = report::TILES as usize;

fn source() -> Report {
    let mut report = report::small();
    report.path = "/reports/before".into();
    report
}

/// The same where less lies on the first IPU and more on the second, so that the tile that was over is not.
fn target() -> Report {
    let small = report::small();
    let report = Report::of(WORDS, "/reports/after".into());
    report.set_files(small.files().into_iter().take(2).collect());
    report.target.fill(small.target.get().cloned());
    report.memory.fill(small.memory.get().map(changed_memory));
    report.fill_arenas_with_tiles();
    report.graph.fill(small.graph.get().copied());
    report.steps.fill(small.steps.get().cloned());
    report.programs.fill(small.programs.get().cloned());
    let mut liveness = small.liveness.get().cloned().expect("liveness");
    for row in liveness.variable_bytes.iter_mut().flatten().filter(|row| row.variable.0 == 1) {
        row.bytes /= 2;
    }
    report.liveness.fill(Some(liveness));
    let mut by_tile = small.tile_variable_bytes.get().cloned().expect("bytes by tile");
    for (bytes, variable) in by_tile.bytes.iter_mut().zip(&by_tile.variables) {
        *bytes /= if variable.0 == 1 { 2 } else { 1 };
    }
    report.tile_variable_bytes.fill(Some(by_tile));
    let mut about = small.about.get().cloned().expect("options");
    about.producer_version = Some("3.4.0".into());
    for option in about.engine_options.iter_mut().take(1) {
        option.value = "false".into();
    }
    about.engine_options.push(EngineOption {
        name: "opt.enableMultiAccessCopies".into(),
        value: "true".into(),
        is_default: Some(false),
    });
    about.app.push(SideFact { path: "batch".into(), value: "8".into() });
    for phase in &mut about.phases {
        phase.duration_microseconds /= 2;
        phase.start_microseconds /= 2;
    }
    report.about.fill(Some(about));
    let mut debug = small.debug.get().cloned().expect("debug information");
    for (_, proportion) in debug.proportions.iter_mut().take(1) {
        *proportion = Proportion::Value(0.35);
    }
    report.debug.fill(Some(debug));
    report.compute_sets.fill(small.compute_sets.get().cloned());
    report.variables.fill(small.variables.get().cloned());
    report.categories.fill(small.categories.get().cloned());
    report.execution.settle(Err(absent::execution()));
    report.vertex_types.settle(Err(absent::vertex_types()));
    report.compute_set_tiles.settle(Err(absent::compute_set_tiles()));
    report.exchanges.settle(Err(absent::exchanges()));
    report
}

fn changed_memory(memory: &TileMemory) -> TileMemory {
    let mut memory = memory.clone();
    for tile in 0..TILES {
        let total = memory.total[tile].expect("known");
        let total = match tile {
            ..24 => total - 2000,
            30 => 12_000,
            _ => total + 300,
        };
        memory.total[tile] = Some(total);
        memory.including_gaps[tile] = Some(total + 700);
    }
    let by_ipu = |first: u64, second: u64| Some([vec![first; 24], vec![second; 24]].concat());
    for category in memory.categories.iter_mut().filter(|category| category.name == "variable") {
        category.not_overlapped = [by_ipu(3000, 5000), by_ipu(750, 1250), by_ipu(0, 0)];
    }
    memory.categories.push(CategoryMemory {
        name: "message".into(),
        not_overlapped: [by_ipu(0, 240), by_ipu(0, 0), by_ipu(0, 0)],
        overlapped: [by_ipu(0, 0), by_ipu(0, 0), by_ipu(0, 0)],
    });
    memory
}

fn page_on(theme: Theme, page: Page, source: Report, target: Report) -> Harness<'static, App> {
    let (source, target) = (Arc::new(source), Arc::new(target));
    let mut harness = window(theme, |ctx| App::with_runs(ctx, vec![source, target]));
    harness.state_mut().go(page);
    settle(&mut harness);
    harness
}

fn memory() -> Harness<'static, App> {
    page_on(Theme::Light, Page::Memory, source(), target())
}

fn differences(theme: Theme) -> Harness<'static, App> {
    let mut harness = page_on(theme, Page::Memory, source(), target());
    click(&mut harness, "View of the map of differences");
    harness
}

/// Where a tile is in a picture, when all are visible.
fn place(harness: &Harness<'_, App>, picture: &str, tile: usize) -> Pos2 {
    let rect = harness.get_by_label(picture).rect();
    let share = (tile as f32 + 0.5) / TILES as f32;
    rect.left_center() + Vec2::new(rect.width() * share, 0.0)
}

fn click_tile(harness: &mut Harness<'_, App>, picture: &str, tile: usize) {
    let at = place(harness, picture, tile);
    click_at(harness, at, Modifiers::NONE);
}

fn hover(harness: &mut Harness<'_, App>, at: Pos2) {
    harness.hover_at(at);
    harness.run_steps(4);
}

fn value(harness: &Harness<'_, App>, picture: &str) -> String {
    harness.get_by_label(picture).value().unwrap_or_default()
}

/// A cell of the map of differences.
fn cell(harness: &Harness<'_, App>, row: usize, tile: usize) -> Pos2 {
    let rect = harness.get_by_label(DIFFERENCES).rect();
    let share = Vec2::new((tile as f32 + 0.5) / TILES as f32, (row as f32 + 0.5) / 6.0);
    rect.min + rect.size() * share
}

#[test]
fn both_are_in_one_picture_with_their_statistics() {
    let mut harness = memory();
    for entry in ["Source with gaps", "Target with gaps"] {
        assert!(is_on(&harness, Role::CheckBox, entry), "{entry}");
    }
    assert!(!is_on(&harness, Role::CheckBox, "Source without gaps"));
    assert_texts(
        &harness,
        &[
            "least 9.67 KiB → 7.52 KiB ▼ −2.15 KiB",
            "most 17.5 KiB → 14.2 KiB ▼ −3.32 KiB",
            "1 → 0 of 48 tiles over",
        ],
    );
    let at = place(&harness, BOTH, 40);
    hover(&mut harness, at);
    assert_texts(&harness, &["Tile 40 of IPU 1", "▲ +100 B (+0.7 %)", "▼ −200 B (−22.2 %)"]);
    assert_texts(&harness, &["Source: 2.43 KiB (2,484 B) under the limit"]);
    click(&mut harness, "Target with gaps");
    assert!(!is_on(&harness, Role::CheckBox, "Target with gaps"));
}

#[test]
fn a_tile_is_selected_in_both_and_the_details_follow() {
    let mut harness = memory();
    click_tile(&mut harness, BOTH, 0);
    assert_texts(
        &harness,
        &["Tile 0 of IPU 0: 9.67 KiB → 7.52 KiB with gaps, ▼ −2.15 KiB (−22.2 %)"],
    );
    let table = copied(&mut harness, "Memory details of both");
    let with_gaps = line(&table, "With gaps");
    assert_eq!(with_gaps[1..4], ["587200", "531500", "-55700"]);
    assert_eq!(with_gaps[5..], ["9900", "7700", "-2200"]);
    let message = line(&table, "\"By category");
    assert_eq!(message.len(), table[1].len() + 1, "a name with a comma");
    click(&mut harness, "Side by side");
    assert!(harness.query_by_label(BOTH).is_none());
    for picture in [OF_SOURCE, OF_TARGET] {
        let value = value(&harness, picture);
        let expected = "Tile 0 of IPU 0, source 9.67 KiB (9,900 B), target 7.52 KiB (7,700 B)";
        assert!(value.starts_with(expected), "{value}");
    }
    click_tile(&mut harness, OF_TARGET, 30);
    assert!(value(&harness, OF_SOURCE).starts_with("Tile 30 of IPU 1"));
    let at = place(&harness, OF_TARGET, 5);
    hover(&mut harness, at);
    assert_texts(&harness, &["Tile 5 of IPU 0"]);
    let (above, below) =
        (harness.get_by_label(OF_SOURCE).rect(), harness.get_by_label(OF_TARGET).rect());
    assert!(above.bottom() <= below.top() && (above.left() - below.left()).abs() < 1.0);
}

#[test]
fn parts_are_those_of_one_report_beside_the_line_of_the_other() {
    let mut harness = memory();
    choose(&mut harness, "Breakdown", "Category");
    assert!(is_on(&harness, Role::Button, "Parts of the target"));
    assert!(is_on(&harness, Role::CheckBox, "Source without gaps"));
    assert!(!is_on(&harness, Role::CheckBox, "Target without gaps"));
    for part in ["Variable", "Message", "Overlapped"] {
        assert!(is_on(&harness, Role::CheckBox, part), "{part}");
    }
    click(&mut harness, "Parts of the source");
    assert!(is_on(&harness, Role::CheckBox, "Target without gaps"));
    let at = place(&harness, BOTH, 0);
    hover(&mut harness, at);
    assert_texts(&harness, &["▼ −2.44 KiB (−40.0 %)", "▲ +500 B (+133 %)"]);
    press(&mut harness, Key::F7);
    assert!(harness.query_by_label("Parts of the source").is_none(), "each has its own");
    choose(&mut harness, "Breakdown", "None");
    let all = harness.get_all_by_label("Source without gaps").count();
    assert_eq!(all, 1);
    click(&mut harness, "Overlaid");
    assert!(harness.query_by_label(BOTH).is_some());
}

#[test]
fn tiles_are_ordered_by_change() {
    let mut harness = memory();
    choose(&mut harness, "Order", "By change, largest first");
    click_tile(&mut harness, BOTH, 0);
    assert!(value(&harness, BOTH).starts_with("Tile 30 of IPU 1"), "{}", value(&harness, BOTH));
    choose(&mut harness, "Order", "By bytes of the source");
    click_tile(&mut harness, BOTH, 1);
    assert!(value(&harness, BOTH).starts_with("Tile 27 of IPU 1"), "{}", value(&harness, BOTH));
}

#[test]
fn variables_and_tiles_are_tables_of_differences() {
    let mut harness = memory();
    open_tab(&mut harness, "Variables");
    let table = copied(&mut harness, "Variables of both");
    let activations = line(&table, "activations");
    let [source, target] = [1, 2].map(|column| activations[column].parse::<u64>().expect("bytes"));
    assert!(source > target && target >= source / 2, "{activations:?}");
    assert_eq!(line(&table, "weights")[3], "0");
    harness.get_by_role_and_label(Role::Row, "activations").click();
    settle(&mut harness);
    assert!(is_on(&harness, Role::CheckBox, "Variable activations"));

    open_tab(&mut harness, "Tiles");
    let table = copied(&mut harness, "Tiles of both");
    assert_eq!(table[1][..4], ["30", "17900", "12700", "-5200"], "the largest change first");
    choose(&mut harness, "Figure", "Over the limit");
    let table = copied(&mut harness, "Tiles of both");
    assert_eq!(table[1][..4], ["30", "1516", "0", "-1516"]);
    harness.get_by_role_and_label(Role::Row, "30").click();
    settle(&mut harness);
    assert!(value(&harness, BOTH).starts_with("Tile 30 of IPU 1"));
    open_tab(&mut harness, "Compute sets");
    assert_texts(&harness, &["Compute sets are not in the source"]);
}

#[test]
fn the_map_of_differences_says_what_changed_where() {
    let mut harness = differences(Theme::Light);
    assert_eq!(value(&harness, DIFFERENCES), "6 categories of 48 tiles");
    assert_texts(&harness, &["▼ −5.12 KiB", "▲ +5.12 KiB"]);
    let at = cell(&harness, 0, 3);
    hover(&mut harness, at);
    assert_texts(
        &harness,
        &["Tile 3 of IPU 0: Variable", "6.10 KiB (6,250 B)", "▼ −2.44 KiB (−40.0 %)"],
    );
    let at = cell(&harness, 1, 30);
    hover(&mut harness, at);
    assert_texts(&harness, &["Tile 30 of IPU 1: Overlapped", "▼ −5.12 KiB (−62.6 %)"]);
    click_at(&mut harness, at, Modifiers::NONE);
    assert_texts(&harness, &["Deselect tile 30"]);
    press(&mut harness, Key::ArrowRight);
    assert_texts(&harness, &["Deselect tile 31"]);
    click(&mut harness, "Zoom in");
    assert!(!has_text(&harness, "100 %"), "zoomed");
    click(&mut harness, "Show all");
    choose(&mut harness, "Color scale", "Linear scale");
    click(&mut harness, "Each row by itself");
    assert!(!has_text(&harness, "▲ +5.12 KiB"));
    press(&mut harness, Key::F6);
    assert!(harness.query_by_label(DIFFERENCES).is_some(), "the view stays");
    let at = cell(&harness, 0, 3);
    hover(&mut harness, at);
    assert_texts(&harness, &["▲ +2.44 KiB (+66.7 %)"]);
}

#[test]
fn the_maps_of_a_tile_move_together() {
    let mut harness = memory();
    click_tile(&mut harness, BOTH, 31);
    open_map(&mut harness, "One tile");
    let [above, below] = OF_A_TILE.map(|map| harness.get_by_label(map).rect());
    assert!(above.bottom() <= below.top() && (above.left() - below.left()).abs() < 1.0);
    assert_texts(&harness, &["60 → 60 variables"]);
    let table = copied(&mut harness, "Variables of the tile in both");
    assert_eq!(table.len(), 61);
    assert!(table[1..].iter().all(|line| line[2] == line[3] && line[6] == "0"), "{table:#?}");
    click(&mut harness, "Zoom in");
    assert!(!has_text(&harness, "100 %"));
    press(&mut harness, Key::Num0);
    choose_map_step(&mut harness, "Step of the map of the target", "Peak, step 120");
    assert_texts(&harness, &["Around the limit, step 120"]);
}

#[test]
fn the_maps_of_all_tiles_share_what_is_visible() {
    let mut harness = memory();
    open_map(&mut harness, "All tiles");
    let [left, right] = OF_ALL_TILES.map(|map| harness.get_by_label(map).rect());
    assert!(left.right() <= right.left() && (left.height() - right.height()).abs() < 1.0);
    let at = left.min + left.size() * Vec2::new(0.1, 30.5 / TILES as f32);
    hover(&mut harness, at);
    assert_texts(&harness, &["Tile 30 of IPU 1, address"]);
    click_at(&mut harness, at, Modifiers::NONE);
    assert_texts(&harness, &["Map of tile 30"]);
    choose(&mut harness, "Color", "By liveness");
    click(&mut harness, "Zoom in");
    for map in OF_ALL_TILES {
        assert_eq!(value(&harness, map), "48 tiles, By liveness; Tile 30 of IPU 1");
    }
    click(&mut harness, "Map of tile 30");
    assert!(harness.query_by_label(OF_A_TILE[0]).is_some());
}

#[test]
fn grids_show_both_or_what_changed() {
    let mut harness = memory();
    open_map(&mut harness, "Floor plan");
    choose(&mut harness, "Figure", "Gaps");
    for grid in OF_GRIDS {
        assert_eq!(value(&harness, grid), "Gaps");
    }
    let rect = harness.get_by_label(OF_GRIDS[1]).rect();
    let at = rect.min + Vec2::new(8.0, 26.0);
    hover(&mut harness, at);
    assert_texts(&harness, &["Tile 0 of IPU 0: Gaps", "900 B", "700 B", "▼ −200 B (−22.2 %)"]);
    choose(&mut harness, "Figure", "With gaps");
    open_map(&mut harness, "Differences");
    assert_eq!(value(&harness, "Grid of differences"), "With gaps");
    assert_texts(&harness, &["▼ −5.08 KiB", "▲ +5.08 KiB"]);
    let at = harness.get_by_label("Grid of differences").rect().min + Vec2::new(8.0, 26.0);
    click_at(&mut harness, at, Modifiers::NONE);
    assert_texts(&harness, &["Map of tile 0"]);
}

#[test]
fn a_report_without_memory_is_named() {
    let harness = page_on(Theme::Light, Page::Memory, source(), report::empty());
    assert_texts(&harness, &["Memory of the target is not in this run"]);
    let harness = page_on(Theme::Light, Page::Memory, report::without_rows(), target());
    assert_texts(&harness, &["No tiles"]);
}

#[test]
fn the_summary_says_what_differs() {
    let mut harness = page_on(Theme::Light, Page::Summary, source(), target());
    assert_texts(
        &harness,
        &[
            "Does not fit: 1 of 48 tiles is over, on IPU 1, by 1.48 KiB (1,516 B) at most",
            "Fits: 1.84 KiB (1,884 B) are free on the fullest tile",
            "availableMemoryProportion of convolution 0.6 → 0.35",
            "3.3.0 → 3.4.0",
            "▼ −54.4 KiB (−9.5 %)",
            "Engine options (2 differ)",
            "app.json (1 differs)",
        ],
    );
    let table = copied(&mut harness, "Engine options");
    assert_eq!(table[1], ["autoReport.all", "true", "false", "≠ differs"]);
    assert_eq!(table[2], ["opt.enableMultiAccessCopies", "", "true", "only in target"]);
    assert_eq!(table[3][3], "the same");
    click(&mut harness, "availableMemoryProportion");
    let table = copied(&mut harness, "availableMemoryProportion");
    let counts: Vec<_> = table[1..].iter().map(|line| line[1..].join(" ")).collect();
    assert_eq!(counts, ["0.35 0 1 1", "0.6 1 0 -1"]);
    click(&mut harness, "Files");
    let table = copied(&mut harness, "Files");
    assert_eq!(line(&table, "framework.json")[1..3], ["– absent", ""]);
}

#[test]
fn phases_of_both_are_zoomed_together() {
    let mut harness = page_on(Theme::Light, Page::Summary, source(), target());
    assert_texts(&harness, &["12.3 s → 6.17 s, ▼ −6.17 s (−50.0 %)"]);
    let flames =
        ["Compiler phases of the source over time", "Compiler phases of the target over time"];
    let rect = harness.get_by_label(flames[0]).rect();
    let at = rect.left_top() + Vec2::new(rect.width() * 0.2, 30.0);
    click_at(&mut harness, at, Modifiers::NONE);
    for (flame, time) in flames.into_iter().zip(["3.90 s", "1.95 s"]) {
        let value = value(&harness, flame);
        assert!(value.starts_with(&format!("lowerGraph: {time}")), "{value}");
    }
    click(&mut harness, "Show all phases");
    assert!(harness.get_by_label("Show all phases").accesskit_node().is_disabled());
}

#[test]
fn the_pages_look_as_they_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        let name = |what: &str| format!("pair-{what}-{theme:?}").to_lowercase();
        let mut harness = page_on(theme, Page::Memory, source(), target());
        harness.remove_cursor();
        settle(&mut harness);
        harness.snapshot(name("memory-overlaid"));
        choose(&mut harness, "Breakdown", "Category");
        let at = place(&harness, BOTH, 12);
        hover(&mut harness, at);
        settle(&mut harness);
        harness.snapshot(name("memory-category"));
        harness.remove_cursor();
        press(&mut harness, Key::F7);
        click_tile(&mut harness, OF_TARGET, 30);
        harness.remove_cursor();
        settle(&mut harness);
        harness.snapshot(name("memory-beside"));
        click(&mut harness, "View of the map of differences");
        let at = cell(&harness, 1, 40);
        hover(&mut harness, at);
        settle(&mut harness);
        harness.snapshot(name("memory-differences"));
        let at = cell(&harness, 1, 31);
        click_at(&mut harness, at, Modifiers::NONE);
        harness.remove_cursor();
        open_map(&mut harness, "Floor plan");
        open_map(&mut harness, "Differences");
        harness.snapshot(name("memory-grid"));
        open_map(&mut harness, "One tile");
        harness.snapshot(name("memory-map"));
        harness.state_mut().go(Page::Summary);
        settle(&mut harness);
        harness.snapshot(name("summary"));
        results.extend_harness(&mut harness);
    }
}
