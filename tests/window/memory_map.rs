//! Drives the memory map of a tile through its accessibility tree.

use crate::report;
use crate::support::{
    SIZES, choose, choose_map_step, click, click_at, copied_text, has_text, is_enabled, open_map,
    right_click, settle, texts, wait_for_output, window_on, window_sized,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use std::sync::Arc;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

const MAP: &str = "Memory map of a tile";
const STEP: &str = "Step of the map";
/// Bytes of the axis: those of a tile, and some headroom.
const AXIS: f32 = 16_384.0 + 16_384.0 / 28.0;

fn page() -> Harness<'static, App> {
    let mut harness = window_on(Theme::Light, report::small());
    open_map(&mut harness, "One tile");
    harness
}

fn picture(harness: &Harness<'_, App>) -> Rect {
    harness.get_by_label(MAP).rect()
}

/// Where an address is on the strip, when all addresses are visible.
fn place(harness: &Harness<'_, App>, address: f32) -> Pos2 {
    let rect = picture(harness);
    Pos2::new(rect.left() + 12.0, rect.bottom() - rect.height() * address / AXIS)
}

fn hover(harness: &mut Harness<'_, App>, at: Pos2) {
    harness.hover_at(at);
    harness.run_steps(3);
}

fn enter(harness: &mut Harness<'_, App>, field: &str, text: &str) {
    harness.get_by_role_and_label(Role::TextInput, field).focus();
    harness.run_steps(2);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.run_steps(2);
    harness.get_by_role_and_label(Role::TextInput, field).type_text(text);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    settle(harness);
}

fn magnification(harness: &Harness<'_, App>) -> String {
    harness.get_by_label("Magnification").value().unwrap_or_default()
}

fn value(harness: &Harness<'_, App>) -> String {
    harness.get_by_label(MAP).value().unwrap_or_default()
}

#[track_caller]
fn assert_texts(harness: &Harness<'_, App>, expected: &[&str]) {
    let texts = texts(harness);
    for expected in expected {
        assert!(texts.iter().any(|text| text.contains(expected)), "{expected:?} in {texts:#?}");
    }
}

#[test]
fn a_tile_is_chosen_by_its_number_or_its_bytes() {
    let mut harness = page();
    assert_texts(&harness, &["Tile 30 of IPU 1: 14.7 KiB with gaps, 16 B of gaps, 3 variables"]);
    enter(&mut harness, "Tile", "31");
    assert_texts(&harness, &["Tile 31 of IPU 1: ", ", 60 variables"]);
    harness.get_by_label("Tile before").click();
    settle(&mut harness);
    assert_texts(&harness, &["Tile 30 of IPU 1: "]);
    enter(&mut harness, "Tile", "999");
    assert_texts(&harness, &["Tile 30 of IPU 1: "]);
    enter(&mut harness, "Tile", "24");
    assert_texts(&harness, &["Tile 24 of IPU 1: 0 B with gaps, 0 B of gaps, 0 variables"]);
    choose_map_step(&mut harness, "Worst tiles ▾", "Tile 30 of IPU 1 · ");
    assert_texts(&harness, &["Tile 30 of IPU 1: "]);
    harness.state_mut().go(Page::Memory);
    settle(&mut harness);
    assert_texts(&harness, &["Tile 30 of IPU 1: 17.5 KiB (17,900 B) with gaps"]);
}

#[test]
fn the_pointer_learns_of_variables_and_gaps() {
    let mut harness = page();
    let at = place(&harness, 9000.0);
    hover(&mut harness, at);
    assert_texts(&harness, &["8.79 KiB (9,000 B)", "6,016 to 15,015", "Step 120"]);
    // Sixteen bytes are seen where they fill the strip.
    harness.get_by_role_and_label(Role::Row, "6,000").click();
    settle(&mut harness);
    let at = picture(&harness).left_center() + Vec2::new(12.0, 0.0);
    hover(&mut harness, at);
    assert_texts(&harness, &["Gap of 16 B", "6,000 to 6,015"]);
}

#[test]
fn a_search_finds_counts_and_goes_on() {
    let mut harness = page();
    enter(&mut harness, "Tile", "31");
    harness.get_by_role_and_label(Role::TextInput, "Find").focus();
    harness.run_steps(2);
    harness.get_by_role_and_label(Role::TextInput, "Find").type_text("GRAD");
    settle(&mut harness);
    assert_texts(&harness, &["10 found"]);
    harness.get_by_label("Find next").click();
    settle(&mut harness);
    assert_texts(&harness, &["1 of 10"]);
    assert!(is_enabled(&harness, "Show all"), "its addresses fill the picture");
    assert!(value(&harness).starts_with("gradients, "), "{}", value(&harness));
    let first = value(&harness);
    harness.get_by_label("Find previous").click();
    settle(&mut harness);
    assert_texts(&harness, &["10 of 10"]);
    assert_ne!(value(&harness), first);
    harness.key_press(Key::Num0);
    settle(&mut harness);
    assert!(!is_enabled(&harness, "Show all"));
}

#[test]
fn enter_goes_to_what_the_whole_text_finds() {
    let mut harness = page();
    enter(&mut harness, "Tile", "31");
    harness.get_by_role_and_label(Role::TextInput, "Find").focus();
    harness.run_steps(2);
    harness.get_by_role_and_label(Role::TextInput, "Find").type_text("G");
    settle(&mut harness);
    // What "G" finds is known when the rest is typed.
    harness.get_by_role_and_label(Role::TextInput, "Find").type_text("RAD");
    harness.key_press(Key::Enter);
    settle(&mut harness);
    assert_texts(&harness, &["1 of 10"]);
    assert!(value(&harness).starts_with("gradients, "), "{}", value(&harness));
}

#[test]
fn keys_go_to_the_peak_and_from_step_to_step() {
    let mut harness = page();
    choose_map_step(&mut harness, STEP, "Peak, step 120");
    assert_texts(&harness, &["Around the limit, step 120", "layer2/step120"]);
    harness.get_by_role_and_label(Role::Canvas, "Addresses over steps").focus();
    harness.run_steps(2);
    harness.key_press(Key::ArrowRight);
    settle(&mut harness);
    assert_texts(&harness, &["Around the limit, step 121", "layer2/step121"]);
    harness.key_press(Key::ArrowLeft);
    settle(&mut harness);
    harness.get_by_label("Liveness").click();
    settle(&mut harness);
    assert_texts(&harness, &["Selected: step 120"]);
    harness.get_by_label("Map").click();
    settle(&mut harness);
    choose_map_step(&mut harness, STEP, "All steps");
    assert!(!has_text(&harness, "Around the limit"), "of no step");
}

#[test]
fn free_bytes_at_a_step_are_no_gaps_of_all_steps() {
    let mut harness = page();
    choose_map_step(&mut harness, STEP, "Peak, step 120");
    harness.get_by_role_and_label(Role::Canvas, "Addresses over steps").focus();
    harness.run_steps(2);
    harness.key_press(Key::ArrowRight);
    settle(&mut harness);
    let at = place(&harness, 10_000.0);
    hover(&mut harness, at);
    assert_texts(&harness, &["Gap of ", "Free at this step, taken at others"]);
    // Over all steps it is taken.
    harness.remove_cursor();
    choose_map_step(&mut harness, STEP, "All steps");
    // What lives there at another step has the second lane.
    let at = place(&harness, 10_000.0) + Vec2::new(40.0, 0.0);
    hover(&mut harness, at);
    assert_texts(&harness, &["8.79 KiB (9,000 B)"]);
}

#[test]
fn gaps_are_copied_as_csv() {
    let mut harness = page();
    harness.get_by_label("Copy as CSV: Gaps of the tile").click();
    let text = wait_for_output(&mut harness, copied_text);
    assert!(text.starts_with("Address,Bytes (bytes),Reason,"), "{text}");
    assert!(text.lines().count() > 1, "{text}");
}

#[test]
fn a_row_of_the_gaps_is_shown() {
    let mut harness = page();
    assert!(!is_enabled(&harness, "Show all"));
    harness.get_by_role_and_label(Role::Row, "6,000").click();
    settle(&mut harness);
    assert!(is_enabled(&harness, "Show all"), "its addresses fill the picture");
    harness.get_by_label("Variables").click();
    settle(&mut harness);
    // Beside the lines between columns, which are there to be dragged.
    let row = harness.get_by_role_and_label(Role::Row, "weights").rect().left_center();
    click_at(&mut harness, row + Vec2::new(12.0, 0.0), Modifiers::NONE);
    assert_eq!(value(&harness), "weights, 5.86 KiB (6,000 B) at address 0");
    harness.get_by_label("By reason").click();
    settle(&mut harness);
    assert_texts(&harness, &["Gaps by reason", "All tiles", "1 tile is over the limit"]);
}

#[test]
fn a_chosen_variable_is_selected_everywhere() {
    let mut harness = page();
    let at = place(&harness, 3000.0);
    click_at(&mut harness, at, Modifiers::NONE);
    assert_eq!(value(&harness), "weights, 5.86 KiB (6,000 B) at address 0");
    // The click gave the picture the keyboard.
    harness.key_press(Key::ArrowUp);
    settle(&mut harness);
    assert!(value(&harness).starts_with("gradients, 700 B"), "{}", value(&harness));
    harness.key_press(Key::Enter);
    settle(&mut harness);
    assert_ne!(magnification(&harness), "100 %");
    harness.get_by_label("Liveness").click();
    settle(&mut harness);
    assert_texts(&harness, &["gradients: ", "alive at"]);
}

#[test]
fn a_right_click_copies_a_name_and_leads_to_the_tile_and_to_the_step() {
    let mut harness = page();
    let at = place(&harness, 3000.0);
    right_click(&mut harness, at);
    assert!(!has_text(&harness, "Map of tile 30"), "that is what is shown");
    harness.get_by_label("Copy name").click();
    assert_eq!(wait_for_output(&mut harness, copied_text), "weights");
    settle(&mut harness);
    choose_map_step(&mut harness, STEP, "Peak, step 120");
    let at = place(&harness, 3000.0);
    right_click(&mut harness, at);
    click(&mut harness, "Go to step 120");
    assert_texts(&harness, &["Selected: step 120"]);
    click(&mut harness, "Map");
    // A gap has no name.
    choose_map_step(&mut harness, STEP, "All steps");
    harness.get_by_role_and_label(Role::Row, "6,000").click();
    settle(&mut harness);
    let at = picture(&harness).left_center() + Vec2::new(12.0, 0.0);
    right_click(&mut harness, at);
    assert!(!has_text(&harness, "Copy name"));
    click(&mut harness, "Go to tile 30");
    assert!(harness.query_by_label("Memory over tiles").is_some());
}

#[test]
fn keys_and_drags_zoom_and_move() {
    let mut harness = page();
    let at = place(&harness, 6000.0);
    hover(&mut harness, at);
    let modifiers = Modifiers::NONE;
    harness.key_press(Key::Plus);
    settle(&mut harness);
    assert_ne!(magnification(&harness), "100 %");
    let button = PointerButton::Primary;
    for (pos, pressed) in [(at, true), (at + Vec2::new(80.0, 0.0), false)] {
        harness.event(Event::PointerMoved(pos));
        harness.event(Event::PointerButton { pos, button, pressed, modifiers });
        harness.step();
    }
    settle(&mut harness);
    harness.get_by_label("Show all").click();
    settle(&mut harness);
    assert_eq!(magnification(&harness), "100 %");
}

#[test]
fn nothing_breaks_the_map() {
    let reports: [fn() -> tilescope::store::Report; 5] = [
        report::hostile_names,
        report::one_step_no_limit,
        report::empty,
        report::without_memory,
        report::without_rows,
    ];
    for report in reports {
        let mut harness = window_on(Theme::Light, report());
        harness.state_mut().go(Page::Map);
        settle(&mut harness);
        if harness.query_by_label(STEP).is_some() {
            choose_map_step(&mut harness, STEP, "All steps");
        }
    }
}

#[test]
fn pictures_of_the_map() {
    let mut results = SnapshotResults::new();
    for (theme, suffix) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let mut harness = window_sized(theme, SIZES[0], |ctx| {
            App::with_runs(ctx, vec![Arc::new(report::small())])
        });
        open_map(&mut harness, "One tile");
        enter(&mut harness, "Tile", "31");
        harness.remove_cursor();
        settle(&mut harness);
        harness.snapshot(format!("memory-map-category-{suffix}"));
        choose(&mut harness, "Colors", "Liveness");
        choose_map_step(&mut harness, STEP, "Peak, step ");
        harness.remove_cursor();
        settle(&mut harness);
        harness.snapshot(format!("memory-map-step-{suffix}"));
        results.extend_harness(&mut harness);
    }
}
