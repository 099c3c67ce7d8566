//! Drives the picture of addresses over steps through its accessibility tree.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, Theme,
    TouchPhase, Vec2,
};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use std::sync::Arc;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

use crate::report;
use crate::support::{
    choose, click, click_at, copied_text, has_text, is_enabled, open_map, right_click, settle,
    texts, wait_for_output, window_on, window_sized,
};

const PICTURE: &str = "Addresses over steps";

fn open(harness: &mut Harness<'_, App>) {
    open_map(harness, "One tile");
}

/// A place in the picture, by shares of the steps and of the addresses.
fn place(harness: &Harness<'_, App>, step: f32, address: f32) -> Pos2 {
    let rect = harness.get_by_role_and_label(Role::Canvas, PICTURE).rect();
    rect.left_bottom() + Vec2::new(rect.width() * step, -rect.height() * address)
}

fn value(harness: &Harness<'_, App>) -> String {
    let picture = harness.get_by_role_and_label(Role::Canvas, PICTURE);
    picture.accesskit_node().value().unwrap_or_default()
}

#[test]
fn a_variable_is_found_chosen_and_shown() {
    let mut harness = window_on(Theme::Light, report::small());
    open(&mut harness);
    assert!(value(&harness).starts_with("Tile "), "{}", value(&harness));
    harness.hover_at(place(&harness, 0.4, 0.05));
    settle(&mut harness);
    assert!(has_text(&harness, "Step "), "{:#?}", texts(&harness));
    assert!(has_text(&harness, "weights"), "{:#?}", texts(&harness));
    let at = place(&harness, 0.4, 0.05);
    click_at(&mut harness, at, Modifiers::NONE);
    settle(&mut harness);
    assert!(!value(&harness).starts_with("Tile "), "{}", value(&harness));
    let before = value(&harness);
    harness.key_press(Key::ArrowUp);
    settle(&mut harness);
    assert_ne!(value(&harness), before, "the next variable by address");
    assert!(!is_enabled(&harness, "Show all"));
    harness.key_press(Key::Enter);
    settle(&mut harness);
    assert!(is_enabled(&harness, "Show all"), "the chosen one fills the picture");
    harness.get_by_label("Show all").click();
    settle(&mut harness);
    for colours in ["Operation", "Liveness", "Category"] {
        choose(&mut harness, "Colors", colours);
    }
    harness.get_by_label("Gap or free");
    harness.hover_at(place(&harness, 0.4, 0.99));
    settle(&mut harness);
    assert!(has_text(&harness, "Behind the last used byte"), "{:#?}", texts(&harness));
}

#[test]
fn a_right_click_copies_a_name_and_leads_to_the_step_and_the_tile() {
    let mut harness = window_on(Theme::Light, report::small());
    open(&mut harness);
    let at = place(&harness, 0.4, 0.05);
    right_click(&mut harness, at);
    harness.get_by_label("Copy name").click();
    assert_eq!(wait_for_output(&mut harness, copied_text), "weights");
    settle(&mut harness);
    right_click(&mut harness, at);
    assert!(!has_text(&harness, "Map of tile 30"), "that is what is shown");
    click(&mut harness, "Go to tile 30");
    assert!(harness.query_by_label("Memory over tiles").is_some());
    open(&mut harness);
    right_click(&mut harness, at);
    let step = texts(&harness).into_iter().find(|text| text.starts_with("Go to step "));
    let step = step.expect("a way to the step");
    click(&mut harness, &step);
    let selected = format!("Selected: {},", &step["Go to ".len()..]);
    assert!(has_text(&harness, &selected), "{selected:?} in {:#?}", texts(&harness));
}

#[test]
fn nothing_breaks_the_picture() {
    for report in [report::hostile_names, report::one_step_no_limit] {
        let mut harness = window_on(Theme::Dark, report());
        open(&mut harness);
        for key in [Key::Plus, Key::Plus, Key::PageDown, Key::Minus, Key::Num0] {
            harness.key_press(key);
            settle(&mut harness);
        }
        assert!(has_text(&harness, "100 %"));
    }
    for report in [report::empty, report::without_rows] {
        let mut harness = window_on(Theme::Dark, report());
        harness.state_mut().go(Page::Map);
        settle(&mut harness);
        let picture = harness.query_by_role_and_label(Role::Canvas, PICTURE);
        assert!(picture.is_none(), "nothing to look at");
    }
}

#[test]
fn a_drag_zooms_both_axes_and_the_strip_addresses_alone() {
    let mut harness = window_on(Theme::Light, report::small());
    open(&mut harness);
    let magnification = |harness: &Harness<'_, App>| {
        harness.get_by_label("Magnification").value().unwrap_or_default()
    };
    let (from, to) = (place(&harness, 0.4, 0.6), place(&harness, 0.6, 0.3));
    for (pos, pressed) in [(from, true), (to, false)] {
        harness.event(Event::PointerMoved(pos));
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        harness.event(Event::PointerButton { pos, button, pressed, modifiers });
        harness.run_steps(2);
    }
    settle(&mut harness);
    let percent = magnification(&harness);
    let percent: f64 = percent.trim_end_matches(" %").parse().expect("a number");
    assert!((450.0..550.0).contains(&percent), "a fifth of the steps: {percent}");
    click(&mut harness, "Show all");
    assert_eq!(magnification(&harness), "100 %");
    let strip = harness.get_by_label("Memory map of a tile").rect();
    harness.hover_at(strip.left_center() + Vec2::new(8.0, 0.0));
    let (unit, delta) = (MouseWheelUnit::Point, Vec2::new(0.0, 120.0));
    let (phase, modifiers) = (TouchPhase::Move, Modifiers::NONE);
    let source = MouseWheelSource::Wheel;
    harness.event(Event::MouseWheel { unit, delta, phase, source, modifiers });
    settle(&mut harness);
    assert!(is_enabled(&harness, "Show all"), "addresses are zoomed");
    assert_eq!(magnification(&harness), "100 %", "steps are not");
}

#[test]
fn the_inspector_says_by_how_much_and_why_it_is_over() {
    let mut harness = window_on(Theme::Light, report::small());
    open(&mut harness);
    // The fullest tile ends below the limit where its placements are known.
    for text in ["free at its highest", "Highest variable", "Ends ", "below the limit"] {
        assert!(has_text(&harness, text), "{text}: {:#?}", texts(&harness));
    }
    for text in ["Around the limit, step 120", "Alive at step 120", "Free here, taken at others"] {
        assert!(has_text(&harness, text), "{text}: {:#?}", texts(&harness));
    }
    let at = place(&harness, 0.4, 0.05);
    click_at(&mut harness, at, Modifiers::NONE);
    assert!(has_text(&harness, "Selected variable"), "{:#?}", texts(&harness));
    harness.get_by_label("Copy facts").click();
    let facts = wait_for_output(&mut harness, copied_text);
    assert!(facts.starts_with("Address: 0 B\nSize: 5.86 KiB\n"), "{facts}");
    assert!(facts.contains("Recorded name: weights"), "{facts}");
    settle(&mut harness);
    click(&mut harness, "Lifetime in Liveness");
    assert!(has_text(&harness, "weights"), "{:#?}", texts(&harness));
    assert!(has_text(&harness, "Selected: step "), "{:#?}", texts(&harness));
}

#[test]
fn what_the_legend_switches_off_leaves_the_strip_too() {
    // Of the strip beside its labels.
    fn strip(harness: &mut Harness<'_, App>) -> Vec<u8> {
        harness.remove_cursor();
        settle(harness);
        let rect = harness.get_by_label("Memory map of a tile").rect();
        let image = harness.render().expect("a picture");
        let (left, top) = (rect.left() as u32 + 2, rect.top() as u32 + 2);
        let part = image::imageops::crop_imm(&image, left, top, 16, rect.height() as u32 - 4);
        part.to_image().into_raw()
    }
    let mut harness = window_on(Theme::Light, report::small());
    open(&mut harness);
    // The tile behind the fullest has three categories.
    click(&mut harness, "Tile after");
    let kinds = harness.get_all_by_role(Role::CheckBox).filter_map(|kind| {
        let node = kind.accesskit_node();
        node.label()
    });
    let kinds: Vec<String> = kinds.collect();
    assert_eq!(kinds.len(), 3, "{kinds:?}");
    let whole = strip(&mut harness);
    let mut without = Vec::new();
    for kind in &kinds {
        harness.get_by_role_and_label(Role::CheckBox, kind).click();
        settle(&mut harness);
        without.push(strip(&mut harness));
        harness.get_by_role_and_label(Role::CheckBox, kind).click();
        settle(&mut harness);
        assert!(strip(&mut harness) == whole, "{kind} is there again");
    }
    let has_changed: Vec<bool> = without.iter().map(|without| *without != whole).collect();
    assert_eq!(has_changed, [true; 3], "{kinds:?}");
}

#[test]
fn addresses_over_steps_look_as_they_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        let mut harness = window_sized(theme, Vec2::new(1280.0, 800.0), |ctx| {
            App::with_runs(ctx, vec![Arc::new(report::small())])
        });
        open(&mut harness);
        // The tile behind the fullest has three categories.
        harness.get_by_label("Tile after").click();
        settle(&mut harness);
        harness.remove_cursor();
        settle(&mut harness);
        harness.snapshot(format!("address-steps-{theme:?}").to_lowercase());
        results.extend_harness(&mut harness);
    }
}
