//! Drives the Memory page through its accessibility tree.

use crate::report;
use crate::support::{
    SIZES, choose, click, click_at, copied, has_text, is_on, open_map, open_tab, settle, texts,
    type_into, window_on, window_sized,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers, PointerButton, Pos2, Theme, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use std::sync::Arc;
use tilescope::store::memory::{CategoryMemory, TileMemory};
use tilescope::store::target::Target;
use tilescope::store::{Report, TileId};
use tilescope::systems::poplar::files::absent;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

const PICTURE: &str = "Memory over tiles";

fn page() -> Harness<'static, App> {
    window_on(Theme::Light, report::small())
}

/// Where one of the positions in the picture is, when all of them are visible.
fn place(harness: &Harness<'_, App>, position: usize, of: usize) -> Pos2 {
    let rect = harness.get_by_label(PICTURE).rect();
    let share = (position as f32 + 0.5) / of as f32;
    rect.left_center() + Vec2::new(rect.width() * share, 0.0)
}

/// Where a tile of the small report is.
fn tile(harness: &Harness<'_, App>, tile: usize) -> Pos2 {
    place(harness, tile, report::TILES as usize)
}

fn press(harness: &mut Harness<'_, App>, pos: Pos2, pressed: bool, modifiers: Modifiers) {
    let button = PointerButton::Primary;
    harness.event_modifiers(Event::PointerMoved(pos), modifiers);
    harness.event_modifiers(Event::PointerButton { pos, button, pressed, modifiers }, modifiers);
    harness.step();
}

fn click_tile(harness: &mut Harness<'_, App>, number: usize, modifiers: Modifiers) {
    let at = tile(harness, number);
    click_at(harness, at, modifiers);
}

fn drag(harness: &mut Harness<'_, App>, from: Pos2, to: Pos2, modifiers: Modifiers) {
    press(harness, from, true, modifiers);
    for share in [0.3, 0.6, 1.0] {
        harness.event_modifiers(Event::PointerMoved(from.lerp(to, share)), modifiers);
        harness.step();
    }
}

fn enter_tiles(harness: &mut Harness<'_, App>, text: &str) {
    let field = harness.get_by_role_and_label(Role::TextInput, "Select tiles");
    field.focus();
    harness.run_steps(2);
    let all = Modifiers::COMMAND;
    harness.key_press_modifiers(all, Key::A);
    harness.run_steps(2);
    harness.get_by_role_and_label(Role::TextInput, "Select tiles").type_text(text);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    settle(harness);
}

/// The text in the field for tiles.
fn selected(harness: &Harness<'_, App>) -> String {
    harness.get_by_role_and_label(Role::TextInput, "Select tiles").value().unwrap_or_default()
}

/// What the picture says of itself.
fn picture_value(harness: &Harness<'_, App>) -> String {
    harness.get_by_label(PICTURE).value().unwrap_or_default()
}

/// The names of a table's visible rows.
fn rows(harness: &Harness<'_, App>) -> Vec<String> {
    let nodes = harness.root().children_recursive();
    nodes
        .map(|node| node.accesskit_node())
        .filter(|node| node.role() == Role::Row)
        .filter_map(|node| node.label())
        .collect()
}

#[track_caller]
fn assert_texts(harness: &Harness<'_, App>, expected: &[&str]) {
    let texts = texts(harness);
    for expected in expected {
        assert!(texts.iter().any(|text| text == expected), "{expected:?} in {texts:#?}");
    }
}

#[test]
fn an_inspector_says_what_the_fullest_or_the_selected_tile_has() {
    let mut harness = page();
    assert_texts(&harness, &["1.48 KiB over", "By category", "Map of tile 30"]);
    click_tile(&mut harness, 24, Modifiers::NONE);
    assert_texts(&harness, &["3.40 KiB free", "Map of tile 24"]);
    assert!(!has_text(&harness, "Map of tile 30"));
}

#[test]
fn clicks_select_extend_and_toggle() {
    let mut harness = page();
    assert!(has_text(&harness, "Click a tile in the picture or drag over some"));
    click_tile(&mut harness, 24, Modifiers::NONE);
    assert_eq!(selected(&harness), "24");
    assert_texts(&harness, &["Tile 24 of IPU 1: 12.6 KiB (12,900 B) with gaps"]);
    click_tile(&mut harness, 30, Modifiers::SHIFT);
    assert_eq!(selected(&harness), "24-30");
    click_tile(&mut harness, 20, Modifiers::SHIFT);
    assert_eq!(selected(&harness), "20-24", "from the tile that was selected first");
    click_tile(&mut harness, 40, Modifiers::COMMAND);
    click_tile(&mut harness, 22, Modifiers::COMMAND);
    assert_eq!(selected(&harness), "20-21,23-24,40");
    assert!(picture_value(&harness).ends_with("5 tiles selected"), "{}", picture_value(&harness));
    click_tile(&mut harness, 3, Modifiers::NONE);
    assert_eq!(selected(&harness), "3");
    harness.get_by_label("Deselect tile 3").click();
    settle(&mut harness);
    assert_eq!(selected(&harness), "");
}

#[test]
fn a_drag_selects_a_range_while_it_lasts() {
    let mut harness = page();
    let (from, to) = (tile(&harness, 10), tile(&harness, 5));
    drag(&mut harness, from, to, Modifiers::NONE);
    harness.step();
    assert_eq!(selected(&harness), "5-10", "before the button is released");
    press(&mut harness, to, false, Modifiers::NONE);
    settle(&mut harness);
    assert_eq!(selected(&harness), "5-10");
    // Zoomed, a drag moves the picture, and with Shift it selects.
    harness.get_by_label("Zoom in").click();
    settle(&mut harness);
    let (from, to) = (place(&harness, 3, 8), place(&harness, 4, 8));
    drag(&mut harness, from, to, Modifiers::NONE);
    press(&mut harness, to, false, Modifiers::NONE);
    settle(&mut harness);
    assert_eq!(selected(&harness), "5-10");
    drag(&mut harness, from, to, Modifiers::SHIFT);
    press(&mut harness, to, false, Modifiers::SHIFT);
    settle(&mut harness);
    assert_ne!(selected(&harness), "5-10");
}

#[test]
fn arrows_move_the_selection_and_extend_it() {
    let mut harness = page();
    // The click gives the picture the keyboard.
    click_tile(&mut harness, 23, Modifiers::NONE);
    for _ in 0..3 {
        harness.key_press_modifiers(Modifiers::SHIFT, Key::ArrowRight);
        harness.run_steps(2);
    }
    settle(&mut harness);
    assert_eq!(selected(&harness), "23-26");
    harness.key_press_modifiers(Modifiers::SHIFT, Key::ArrowLeft);
    settle(&mut harness);
    assert_eq!(selected(&harness), "23-25");
    harness.key_press(Key::ArrowRight);
    settle(&mut harness);
    assert_eq!(selected(&harness), "26");
    harness.key_press(Key::End);
    settle(&mut harness);
    assert_eq!(selected(&harness), "47");
}

#[test]
fn a_text_selects_tiles_and_says_what_is_wrong() {
    let mut harness = page();
    enter_tiles(&mut harness, "0-15, 30");
    assert_eq!(selected(&harness), "0-15,30");
    assert!(has_text(&harness, "17 tiles: "));
    enter_tiles(&mut harness, "3,952");
    assert_texts(&harness, &["Tile 952 is not in the report, whose tiles are from 0 to 47"]);
    assert_eq!(selected(&harness), "3,952", "the text stays to be corrected");
    enter_tiles(&mut harness, "9-");
    assert_texts(&harness, &["`` is not a tile number"]);
    click_tile(&mut harness, 7, Modifiers::NONE);
    assert_eq!(selected(&harness), "7");
    assert!(!has_text(&harness, "is not a tile number"));
    enter_tiles(&mut harness, " ");
    assert_eq!(selected(&harness), "");
}

#[test]
fn an_ipu_and_an_order_are_chosen() {
    let mut harness = page();
    assert_texts(&harness, &["1 of 48 tiles over, by up to 1.48 KiB", "(tile 30)"]);
    choose(&mut harness, "Tiles shown", "IPU 0");
    assert_texts(
        &harness,
        &["1 tile over; all 24 tiles fit, 3.40 KiB free on the fullest", "12.6 KiB"],
    );
    assert_eq!(picture_value(&harness), "24 tiles");
    let at = place(&harness, 5, 24);
    click_at(&mut harness, at, Modifiers::NONE);
    assert_eq!(selected(&harness), "5");
    choose(&mut harness, "Tiles shown", "All IPUs");
    choose(&mut harness, "Order", "By bytes, largest first");
    let at = tile(&harness, 0);
    click_at(&mut harness, at, Modifiers::NONE);
    assert_eq!(selected(&harness), "30", "the fullest tile comes first");
    let at = tile(&harness, 1);
    click_at(&mut harness, at, Modifiers::SHIFT);
    assert_eq!(selected(&harness), "27,30", "the next fullest beside it");
    harness.get_by_role_and_label(Role::ComboBox, "Order").click();
    settle(&mut harness);
    let physical = harness.get_by_role_and_label(Role::Button, "Physical");
    assert!(physical.accesskit_node().is_disabled());
}

#[test]
fn options_and_legend_switch_the_same_things() {
    let mut harness = page();
    let is_on = |harness: &Harness<'_, App>, name: &str| is_on(harness, Role::CheckBox, name);
    harness.get_by_role_and_label(Role::ComboBox, "Options").click();
    settle(&mut harness);
    assert!(is_on(&harness, "Scale to limit"), "the limit is near");
    for (option, entry) in [("Include gaps", "With gaps"), ("Show limit", "Limit")] {
        assert!(is_on(&harness, option) && is_on(&harness, entry));
        harness.get_by_label(option).click();
        settle(&mut harness);
        assert!(!is_on(&harness, option) && !is_on(&harness, entry));
    }
    assert!(!is_on(&harness, "Scale to limit"));
    harness.get_by_label("Scale to limit").click();
    settle(&mut harness);
    assert!(is_on(&harness, "Show limit"), "there is no scaling to what is not shown");
    harness.key_press(Key::Escape);
    settle(&mut harness);
    harness.get_by_role_and_label(Role::CheckBox, "Without gaps").click();
    settle(&mut harness);
    assert!(!is_on(&harness, "Without gaps"));
}

#[test]
fn parts_of_a_breakdown_are_switched_and_explained() {
    let mut harness = page();
    choose(&mut harness, "Breakdown", "Category");
    let at = tile(&harness, 30);
    harness.hover_at(at);
    harness.run_steps(3);
    assert_texts(&harness, &["Tile 30 of IPU 1", "8.18 KiB", "6.10 KiB", "875 B"]);
    assert_texts(&harness, &["1.48 KiB (1,516 B) over the limit"]);
    harness.get_by_role_and_label(Role::CheckBox, "Variable").click();
    settle(&mut harness);
    choose(&mut harness, "Breakdown", "Liveness");
    assert_texts(&harness, &["Always live", "Not always live", "Not explained by liveness"]);
    choose(&mut harness, "Breakdown", "Region");
    assert_texts(&harness, &["Non-interleaved", "Interleaved", "Overflowed"]);
}

#[test]
fn a_breakdown_that_the_report_lacks_is_named() {
    let memory = TileMemory {
        categories: Vec::new(),
        why_no_categories: Some(absent::memory_by_category()),
        ..odd_memory(5)
    };
    let mut harness = window_on(Theme::Light, report_of(memory, None));
    choose(&mut harness, "Breakdown", "Category");
    let text = "The profile has no readable table memory_by_category";
    let found = texts(&harness);
    assert!(found.iter().any(|found| found == text), "in the legend: {found:#?}");
    let in_note = |found: &String| found.contains(" rows") && found.contains(text);
    assert!(found.iter().any(in_note), "in the table: {found:#?}");
    assert!(has_text(&harness, "The limit of a tile is not known"));
}

#[test]
fn details_have_groups_and_a_column_for_each_tile() {
    let mut harness = page();
    assert_texts(&harness, &["573.4 KiB", "531.2 KiB", "By region: Non-interleaved", "398.4 KiB"]);
    harness.get_by_role_and_label(Role::Row, "By region").click();
    settle(&mut harness);
    assert!(!rows(&harness).contains(&"By region: Non-interleaved".to_owned()));
    let filter = harness.get_by_label("Filter: Memory details");
    filter.focus();
    harness.run_steps(2);
    harness.get_by_label("Filter: Memory details").type_text("vertex code");
    settle(&mut harness);
    let expected =
        ["By category, not overlapped: Vertex code", "By category, overlapped: Vertex code"];
    assert_eq!(rows(&harness), expected);
    enter_tiles(&mut harness, "0,30-39");
    assert_texts(&harness, &["11 tiles", "Tile 0", "Tile 30", "Tile 36"]);
    assert!(!has_text(&harness, "Tile 37"));
    assert!(has_text(&harness, "8 of 11 tiles shown"));
}

#[test]
fn variables_are_those_of_the_selected_tiles() {
    let mut harness = page();
    open_tab(&mut harness, "Variables");
    assert_eq!(rows(&harness), ["weights", "scratch", "gradients", "activations"]);
    enter_tiles(&mut harness, "3,5");
    assert_texts(&harness, &["Sort by 2 tiles", "Sort by Tile 3", "Sort by Tile 5"]);
    harness.get_by_role_and_label(Role::Row, "weights").click();
    settle(&mut harness);
    assert!(is_on(&harness, Role::Row, "weights"));
    assert!(is_on(&harness, Role::CheckBox, "Variable weights"), "drawn over the tiles");
    harness.get_by_role_and_label(Role::Row, "weights").click();
    settle(&mut harness);
    assert!(!is_on(&harness, Role::Row, "weights"), "a second click takes it back");
}

#[test]
fn tiles_are_listed_sorted_and_chosen() {
    let mut harness = page();
    open_tab(&mut harness, "Tiles");
    assert_texts(&harness, &["Total", "573.4 KiB", "42.2 KiB"]);
    harness.get_by_label("Sort by With gaps").click();
    settle(&mut harness);
    assert_eq!(rows(&harness)[0], "30");
    harness.get_by_role_and_label(Role::Row, "30").click();
    settle(&mut harness);
    assert_eq!(selected(&harness), "30");
    harness.get_by_label("Outliers only").click();
    settle(&mut harness);
    assert_eq!(rows(&harness), ["30"]);
    assert!(has_text(&harness, "row, below "));
    choose(&mut harness, "Tiles shown", "IPU 0");
    assert_eq!(rows(&harness), [""; 0]);
    assert!(has_text(&harness, "No tile is so far from the others"));
}

#[test]
fn several_variables_are_drawn_over_tiles() {
    let mut harness = page();
    open_tab(&mut harness, "Variables");
    let mut choose_row = |name: &str, modifiers: Modifiers| {
        let row = harness.get_by_role_and_label(Role::Row, name).rect();
        click_at(&mut harness, row.left_center() + Vec2::new(60.0, 0.0), modifiers);
        let legend = texts(&harness).into_iter();
        legend
            .filter(|text| text.starts_with("Variable ") && text != "Variable before lowering")
            .count()
    };
    assert_eq!(choose_row("weights", Modifiers::NONE), 1);
    assert_eq!(choose_row("activations", Modifiers::COMMAND), 2);
    assert_eq!(choose_row("scratch", Modifiers::COMMAND), 3);
    assert_eq!(choose_row("activations", Modifiers::COMMAND), 2);
    assert_texts(&harness, &["Variable weights", "Variable scratch"]);
    click(&mut harness, "Variable scratch");
    assert!(!is_on(&harness, Role::CheckBox, "Variable scratch"));
    assert!(is_on(&harness, Role::CheckBox, "Variable weights"));
}

#[test]
fn compute_sets_open_into_their_vertices_and_lead_to_a_step() {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/sample_profiles/tiny");
    let mut harness = crate::support::window(Theme::Light, |ctx| App::open(ctx, sample.into()));
    harness.state_mut().go(Page::Memory);
    settle(&mut harness);
    open_tab(&mut harness, "Compute sets");
    let all = copied(&mut harness, "Compute sets");
    assert!(all[0].iter().any(|title| title.contains("Edges")), "{:?}", all[0]);
    harness.get_all_by_label("Open row").next().expect("a compute set that opens").click();
    settle(&mut harness);
    let vertex = texts(&harness).into_iter().find(|text| text.contains("::"));
    let vertex = vertex.expect("a vertex type");
    type_into(&mut harness, "Filter: Compute sets", &vertex);
    let found = copied(&mut harness, "Compute sets");
    assert!(found.len() > 1 && found.len() <= all.len(), "{found:?}");
    let row = harness.get_by_role_and_label(Role::Row, &found[1][0]).rect();
    click_at(&mut harness, row.left_center() + Vec2::new(60.0, 0.0), Modifiers::NONE);
    assert_eq!(harness.state().selected_steps().len(), 1);
    type_into(&mut harness, "Filter: Compute sets", "no such vertex");
    assert_eq!(copied(&mut harness, "Compute sets").len(), 1);
}

#[test]
fn names_say_whether_they_are_before_lowering_or_after() {
    let mut harness = page();
    open_tab(&mut harness, "Variables");
    assert_eq!(copied(&mut harness, "Variables")[0][0], "Variable before lowering");
    enter_tiles(&mut harness, "31");
    open_map(&mut harness, "One tile");
    open_tab(&mut harness, "Variables");
    let placed = copied(&mut harness, "Variables of the tile");
    assert_eq!(placed[0][0], "Variable as it was lowered");
    let before =
        placed[0].iter().position(|title| title == "Variable before lowering").expect("a column");
    assert!(placed.iter().any(|line| line[before] == "activations"), "{placed:?}");
    // The map is searched for either name.
    type_into(&mut harness, "Find", "activations");
    assert!(!has_text(&harness, "Not found"), "{:#?}", texts(&harness));
    assert!(texts(&harness).iter().any(|text| text.ends_with(" found")));
}

#[test]
fn what_computes_is_listed_or_said_to_be_absent() {
    let mut harness = page();
    for tab in ["Compute sets", "Vertices", "Exchanges"] {
        open_tab(&mut harness, tab);
        assert!(has_text(&harness, &format!("{tab} are not in this run")), "{tab}");
    }
}

/// Tiles whose numbers are not their positions; the bytes of one are not known.
fn odd_memory(tiles: u32) -> TileMemory {
    let mut memory = TileMemory::default();
    for tile in 0..tiles {
        memory.tiles.push(TileId(tile * 7 + 100));
        let bytes = (tile != 2).then(|| u64::from(tile % 1000) * 100 + 5000);
        memory.total.push(bytes);
        memory.including_gaps.push(bytes.map(|bytes| bytes + 64));
    }
    memory
}

fn report_of(memory: TileMemory, target: Option<Target>) -> Report {
    let report = report::without_memory();
    report.memory.fill(Some(memory));
    report.target.fill(target);
    report.fill_arenas_with_tiles();
    report
}

#[test]
fn names_of_categories_may_be_anything() {
    let mut memory = odd_memory(3);
    let names = ["x".repeat(100_000), "a\u{202e}b\n\u{1b}[2J".to_owned(), String::new()];
    for name in names {
        let bytes = || Some(vec![7; 200]);
        memory.categories.push(CategoryMemory {
            name,
            not_overlapped: [bytes(), bytes(), bytes()],
            overlapped: [bytes(), None, bytes()],
        });
    }
    let mut harness = window_on(Theme::Light, report_of(memory, None));
    choose(&mut harness, "Breakdown", "Category");
    let at = place(&harness, 0, 3);
    click_at(&mut harness, at, Modifiers::NONE);
    assert!(has_text(&harness, "A\\u{202e}b\\u{a}\\u{1b}[2 j"), "in the tooltip");
    assert_eq!(selected(&harness), "100");
}

#[test]
fn tile_numbers_are_not_positions() {
    let mut harness = window_on(Theme::Dark, report_of(odd_memory(5), None));
    let at = place(&harness, 1, 5);
    click_at(&mut harness, at, Modifiers::NONE);
    assert_eq!(selected(&harness), "107");
    let at = place(&harness, 4, 5);
    click_at(&mut harness, at, Modifiers::SHIFT);
    assert_eq!(selected(&harness), "107,114,121,128");
    enter_tiles(&mut harness, "108");
    assert_texts(&harness, &["Tile 108 is not in the report, whose tiles are from 100 to 128"]);
    open_tab(&mut harness, "Variables");
    open_tab(&mut harness, "Tiles");
    assert!(has_text(&harness, "the bytes of one are not known"));
}

#[test]
fn one_tile_and_many_are_drawn() {
    let mut harness = window_on(Theme::Light, report_of(odd_memory(1), None));
    let at = place(&harness, 0, 1);
    click_at(&mut harness, at, Modifiers::NONE);
    assert_eq!(selected(&harness), "100");
    let target =
        Target { tiles_per_device: Some(1472), bytes_per_tile: Some(60_000), ..Target::default() };
    let report = report_of(odd_memory(300_000), Some(target));
    let mut harness = window_on(Theme::Light, report);
    choose(&mut harness, "Order", "By bytes, largest first");
    let (from, to) = (place(&harness, 10, 100), place(&harness, 60, 100));
    drag(&mut harness, from, to, Modifiers::NONE);
    press(&mut harness, to, false, Modifiers::NONE);
    settle(&mut harness);
    assert_eq!(selected(&harness), "", "too many to write");
    choose(&mut harness, "Order", "By tile number");
    for tab in ["Variables", "Tiles", "Details"] {
        open_tab(&mut harness, tab);
    }
    let started = std::time::Instant::now();
    harness.run_steps(10);
    println!("a frame of 300,000 tiles: {:?}", started.elapsed() / 10);
}

#[test]
fn an_untouched_page_asks_for_no_frame() {
    let mut harness = page();
    enter_tiles(&mut harness, "3-9");
    for tab in ["Details", "Variables", "Tiles"] {
        open_tab(&mut harness, tab);
        harness.run_steps(6);
        assert!(harness.run() <= 2, "{tab} repaints without cause");
    }
}

#[test]
fn the_page_looks_as_it_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        for size in SIZES {
            let report = Arc::new(report::small());
            let mut harness = window_sized(theme, size, |ctx| App::with_runs(ctx, vec![report]));
            let name = |what: &str| format!("memory-{what}-{theme:?}-{}", size.x).to_lowercase();
            harness.snapshot(name("none"));
            choose(&mut harness, "Breakdown", "Category");
            click_tile(&mut harness, 24, Modifiers::NONE);
            click_tile(&mut harness, 30, Modifiers::COMMAND);
            harness.remove_cursor();
            settle(&mut harness);
            harness.snapshot(name("category"));
            open_tab(&mut harness, "Variables");
            harness.remove_cursor();
            settle(&mut harness);
            harness.snapshot(name("variables"));
            choose(&mut harness, "Order", "By bytes, largest first");
            open_tab(&mut harness, "Tiles");
            harness.remove_cursor();
            settle(&mut harness);
            harness.snapshot(name("tiles"));
            results.extend_harness(&mut harness);
        }
    }
}
