//! Drives the map of all tiles through its accessibility tree.

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers, PointerButton, Theme, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use std::sync::Arc;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

use crate::report;
use crate::support::{
    choose, click, click_at, copied, copied_text, has_text, open_map, press, right_click, settle,
    texts, wait_for_output, window_on, window_sized,
};

const MAP: &str = "Map of all tiles";
const GRID: &str = "Grid of tiles";
const OVER_STEPS: &str = "Tiles over steps";

fn open(harness: &mut Harness<'_, App>) {
    open_map(harness, "All tiles");
}

/// Where a tile of the small report is on the map, at a share of the addresses.
fn place(harness: &Harness<'_, App>, tile: u32, share: f32) -> eframe::egui::Pos2 {
    let rect = harness.get_by_role_and_label(Role::Canvas, MAP).rect();
    let line = (tile as f32 + 0.5) / report::TILES as f32;
    rect.min + Vec2::new(rect.width() * share, rect.height() * line)
}

#[test]
fn a_variable_is_found_on_the_map_of_all_tiles() {
    let mut harness = window_on(Theme::Light, report::small());
    open(&mut harness);
    harness.hover_at(place(&harness, 30, 0.1));
    settle(&mut harness);
    assert!(has_text(&harness, "Tile 30 of IPU 1, address"), "{:#?}", texts(&harness));
    assert!(has_text(&harness, "weights"), "{:#?}", texts(&harness));
    harness.hover_at(place(&harness, 12, 0.1));
    settle(&mut harness);
    assert!(has_text(&harness, "Behind the last used byte, or no tile"));
    for choice in ["By liveness", "By gaps", "By category"] {
        choose(&mut harness, "Color", choice);
    }
    harness.get_by_label("Zoom in").click();
    settle(&mut harness);
    harness.get_by_label("Show all").click();
    settle(&mut harness);
    let at = place(&harness, 30, 0.1);
    click_at(&mut harness, at, Modifiers::NONE);
    harness.get_by_label("Map of tile 30").click();
    settle(&mut harness);
    assert!(
        !has_text(&harness, "Map of tile 30"),
        "the map of the tile has the place of that of all"
    );
}

#[test]
fn tiles_stand_in_a_grid_by_any_figure() {
    let mut harness = window_on(Theme::Light, report::small());
    open_map(&mut harness, "Floor plan");
    let rect = harness.get_by_role_and_label(Role::Canvas, "Grid of tiles").rect();
    // The first tile of IPU 0 lies below its name.
    let at = rect.min + Vec2::new(5.0, 24.0);
    harness.hover_at(at);
    settle(&mut harness);
    assert!(has_text(&harness, "With gaps: 9.67 KiB (9,900 B)"), "{:#?}", texts(&harness));
    choose(&mut harness, "Figure", "Vertex code");
    choose(&mut harness, "Color scale", "From 0 to limit");
    harness.hover_at(at);
    settle(&mut harness);
    assert!(has_text(&harness, "Vertex code: "), "{:#?}", texts(&harness));
    click_at(&mut harness, at, Modifiers::NONE);
    assert!(has_text(&harness, "Map of tile 0"), "{:#?}", texts(&harness));
}

/// What a picture says to those who cannot see it.
fn value(harness: &Harness<'_, App>, picture: &str) -> String {
    let picture = harness.get_by_role_and_label(Role::Canvas, picture);
    picture.accesskit_node().value().expect("a value")
}

#[test]
fn arrows_go_from_tile_to_tile_and_enter_opens_one() {
    let mut harness = window_on(Theme::Light, report::small());
    open_map(&mut harness, "Floor plan");
    harness.get_by_role_and_label(Role::Canvas, GRID).focus();
    settle(&mut harness);
    press(&mut harness, Key::ArrowRight);
    assert!(value(&harness, GRID).contains("Tile 0 of IPU 0: "), "{}", value(&harness, GRID));
    press(&mut harness, Key::ArrowRight);
    assert!(value(&harness, GRID).contains("Tile 1 of IPU 0: "), "{}", value(&harness, GRID));
    assert!(has_text(&harness, "Map of tile 1"), "the inspector follows");
    press(&mut harness, Key::ArrowDown);
    let below = value(&harness, GRID);
    press(&mut harness, Key::ArrowUp);
    assert!(!below.contains("Tile 1 ") && value(&harness, GRID).contains("Tile 1 "), "{below}");
    press(&mut harness, Key::End);
    assert!(value(&harness, GRID).contains("of IPU 1: "), "{}", value(&harness, GRID));
    press(&mut harness, Key::Home);
    press(&mut harness, Key::Enter);
    assert!(harness.query_by_label("Memory map of a tile").is_some(), "{:#?}", texts(&harness));
    open_map(&mut harness, "All tiles");
    harness.get_by_role_and_label(Role::Canvas, MAP).focus();
    settle(&mut harness);
    assert!(value(&harness, MAP).ends_with("Tile 0 of IPU 0"), "{}", value(&harness, MAP));
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::ArrowUp);
    assert!(value(&harness, MAP).ends_with("Tile 1 of IPU 0"), "{}", value(&harness, MAP));
    press(&mut harness, Key::Enter);
    assert!(harness.query_by_label("Memory map of a tile").is_some(), "{:#?}", texts(&harness));
    assert!(has_text(&harness, "Tile 1 of IPU 0: "), "{:#?}", texts(&harness));
}

#[test]
fn selected_tiles_lie_side_by_side_on_one_axis_of_steps() {
    let mut harness = window_on(Theme::Light, report::small());
    open_map(&mut harness, "Floor plan");
    harness.get_by_role_and_label(Role::Canvas, GRID).focus();
    settle(&mut harness);
    press(&mut harness, Key::Home);
    let rect = harness.get_by_role_and_label(Role::Canvas, GRID).rect();
    let beside = rect.min + Vec2::new(5.0 + rect.height() / 6.0, 24.0);
    click_at(&mut harness, beside, Modifiers::SHIFT);
    open_map(&mut harness, OVER_STEPS);
    let tiles = copied(&mut harness, "tiles");
    let numbers: Vec<&str> = tiles[1..].iter().map(|row| row[1].as_str()).collect();
    assert!(numbers.len() > 1 && numbers.len() < 24, "{tiles:?}");
    assert!((0..numbers.len()).all(|tile| numbers.contains(&&*tile.to_string())), "{tiles:?}");
    assert!(has_text(&harness, "more tiles are not shown"), "{:#?}", texts(&harness));
    assert!(harness.run() <= 2, "the picture repaints without cause");
    // A click chooses what lies there, and all stay where they are.
    let rect = harness.get_by_role_and_label(Role::Canvas, OVER_STEPS).rect();
    let places = (1..20).flat_map(|x| [0.2, 0.3, 0.7, 0.8].map(|y| Vec2::new(x as f32 * 0.05, y)));
    for place in places {
        click_at(&mut harness, rect.min + rect.size() * place, Modifiers::NONE);
        settle(&mut harness);
        if has_text(&harness, "Under the pointer") {
            break;
        }
    }
    assert_eq!(harness.get_by_role_and_label(Role::Canvas, OVER_STEPS).rect(), rect);
    assert!(has_text(&harness, "Under the pointer"), "{:#?}", texts(&harness));
    // One that is selected alone leaves them all.
    click(&mut harness, "Floor plan");
    harness.get_by_role_and_label(Role::Canvas, GRID).focus();
    settle(&mut harness);
    press(&mut harness, Key::Home);
    open_map(&mut harness, OVER_STEPS);
    assert!(!has_text(&harness, "more tiles are not shown"), "{:#?}", texts(&harness));
}

#[test]
fn a_right_click_leads_from_every_picture_of_tiles_to_a_tile_and_its_map() {
    let mut harness = window_on(Theme::Light, report::small());
    for (view, picture) in
        [("Memory", "Memory over tiles"), ("All tiles", MAP), ("Floor plan", "Grid of tiles")]
    {
        for (way, shown) in
            [("Go to tile 0", "Memory over tiles"), ("Map of tile 0", "Memory map of a tile")]
        {
            match view {
                "Memory" => harness.state_mut().go(Page::Memory),
                view => open_map(&mut harness, view),
            }
            settle(&mut harness);
            let rect = harness.get_by_role_and_label(Role::Canvas, picture).rect();
            // The first tile of IPU 0 lies below its name in the grid.
            let first =
                if picture == "Grid of tiles" { Vec2::new(5.0, 24.0) } else { Vec2::splat(3.0) };
            right_click(&mut harness, rect.min + first);
            harness.get_by_label("Copy name").click();
            assert_eq!(wait_for_output(&mut harness, copied_text), "Tile 0", "{picture}");
            settle(&mut harness);
            right_click(&mut harness, rect.min + first);
            // Beside the button of the selected tile, which has the same name.
            harness.get_all_by_label(way).last().expect("a way").click();
            settle(&mut harness);
            assert!(
                harness.query_by_role_and_label(Role::Canvas, shown).is_some(),
                "{picture}: {way}"
            );
        }
    }
}

#[test]
fn tiles_are_selected_by_click_by_drag_and_one_more() {
    let mut harness = window_on(Theme::Light, report::small());
    open_map(&mut harness, "Floor plan");
    let rect = harness.get_by_role_and_label(Role::Canvas, "Grid of tiles").rect();
    let first = rect.min + Vec2::new(5.0, 24.0);
    click_at(&mut harness, first, Modifiers::NONE);
    assert!(has_text(&harness, "Selected tile"), "{:#?}", texts(&harness));
    let beside = first + Vec2::new(rect.height() / 6.0, 0.0);
    click_at(&mut harness, beside, Modifiers::SHIFT);
    assert!(has_text(&harness, "First of "), "{:#?}", texts(&harness));
    click_at(&mut harness, first, Modifiers::NONE);
    assert!(has_text(&harness, "Selected tile"), "{:#?}", texts(&harness));
    for (pos, pressed) in [(first, true), (beside, false)] {
        harness.event(Event::PointerMoved(pos));
        harness.run_steps(2);
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        harness.event(Event::PointerButton { pos, button, pressed, modifiers });
        harness.run_steps(2);
    }
    settle(&mut harness);
    assert!(has_text(&harness, "First of "), "{:#?}", texts(&harness));
    // One tile is over: it leaves the scale.
    assert!(has_text(&harness, "1 of 48 tiles over, tile 30 by most"), "{:#?}", texts(&harness));
    assert!(has_text(&harness, "limit 16.0 KiB"), "{:#?}", texts(&harness));
    assert!(has_text(&harness, "over, up to 17.5 KiB"), "{:#?}", texts(&harness));
}

#[test]
fn the_map_of_all_tiles_looks_as_it_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        let mut harness = window_sized(theme, Vec2::new(1280.0, 800.0), |ctx| {
            App::with_runs(ctx, vec![Arc::new(report::small())])
        });
        open(&mut harness);
        harness.remove_cursor();
        settle(&mut harness);
        harness.snapshot(format!("chip-map-{theme:?}").to_lowercase());
        if theme == Theme::Light {
            let at = place(&harness, 31, 0.1);
            click_at(&mut harness, at, Modifiers::NONE);
            open_map(&mut harness, OVER_STEPS);
            harness.remove_cursor();
            settle(&mut harness);
            harness.snapshot("tiles-over-steps");
        }
        results.extend_harness(&mut harness);
    }
}
