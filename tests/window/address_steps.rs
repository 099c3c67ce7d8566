//! Drives the picture of addresses over steps through its accessibility tree.

use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Pos2, Theme, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use std::sync::Arc;
use tilescope::ui::app::App;

use crate::report;
use crate::support::{
    choose, click, click_at, copied_text, has_text, is_enabled, right_click, settle, texts,
    wait_for_output, window_on, window_sized,
};

const PICTURE: &str = "Addresses over steps";

fn open(harness: &mut Harness<'_, App>) {
    harness.get_by_role_and_label(Role::Button, "View of addresses over steps").click();
    settle(harness);
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
        choose(&mut harness, "Colours", colours);
    }
    harness.get_by_label("Never used");
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
    click(&mut harness, "Map of tile 30");
    assert!(has_text(&harness, "Gaps of the tile"), "{:#?}", texts(&harness));
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
        let harness = window_on(Theme::Dark, report());
        let view = harness.query_by_role_and_label(Role::Button, "View of addresses over steps");
        assert!(view.is_none(), "nothing to look at");
    }
}

#[test]
fn addresses_over_steps_look_as_they_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        let mut harness = window_sized(theme, Vec2::new(1280.0, 800.0), |ctx| {
            App::with_report(ctx, Arc::new(report::small()))
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
