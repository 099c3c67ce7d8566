//! Drives the Memory page through its accessibility tree.

mod window_report;
mod window_support;

use eframe::egui::{Event, Modifiers, PointerButton, Pos2, Theme, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tilescope::ui::app::App;
use window_support::{settle, texts, window_on};

const PICTURE: &str = "Memory over tiles";

fn page() -> Harness<'static, App> {
    window_on(Theme::Light, window_report::small())
}

/// Where a tile of the small report is in the picture, when all of them are visible.
fn place(harness: &Harness<'_, App>, tile: u32) -> Pos2 {
    let rect = harness.get_by_label(PICTURE).rect();
    let share = (tile as f32 + 0.5) / window_report::TILES as f32;
    rect.left_center() + Vec2::new(rect.width() * share, 0.0)
}

fn click(harness: &mut Harness<'_, App>, tile: u32, modifiers: Modifiers) {
    let at = place(harness, tile);
    harness.hover_at(at);
    harness.step();
    for pressed in [true, false] {
        let button = PointerButton::Primary;
        let event = Event::PointerButton { pos: at, button, pressed, modifiers };
        harness.event_modifiers(event, modifiers);
    }
    settle(harness);
}

#[test]
fn zz_look() {
    let mut harness = page();
    harness.snapshot("scratch-none");
    harness.get_by_label("Breakdown").click();
    settle(&mut harness);
    harness.snapshot("scratch-combo");
    harness.get_by_label("Category").click();
    settle(&mut harness);
    click(&mut harness, 24, Modifiers::NONE);
    click(&mut harness, 30, Modifiers::COMMAND);
    harness.snapshot("scratch-category");
    harness.get_by_label("Variables").click();
    settle(&mut harness);
    harness.snapshot("scratch-variables");
    harness.get_by_label("Tiles").click();
    settle(&mut harness);
    harness.snapshot("scratch-tiles");
    println!("{:#?}", texts(&harness));
}
