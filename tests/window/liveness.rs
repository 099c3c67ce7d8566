//! Drives the Liveness page through its accessibility tree.

use crate::report;
use crate::report::{SPIKE, STEPS};
use crate::support::{
    SIZES, choose, click, click_at, copied, copied_text, has_text, hover_share, open_tab, press,
    right_click, settle, texts, type_into, wait_for_output, window_on, window_sized,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use std::path::Path;
use std::sync::Arc;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

const PICTURE: &str = "Liveness curve";

fn page() -> Harness<'static, App> {
    page_sized(SIZES[0])
}

fn page_sized(size: Vec2) -> Harness<'static, App> {
    let report = Arc::new(report::small());
    let mut harness = window_sized(Theme::Light, size, |ctx| App::with_runs(ctx, vec![report]));
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    harness
}

/// Clicks the curve at a step, when all of them are visible.
fn click_step(harness: &mut Harness<'_, App>, step: u32, modifiers: Modifiers) {
    let rect = harness.get_by_label(PICTURE).rect();
    let share = (step as f32 + 0.5) / STEPS as f32;
    let at = rect.left_center() + Vec2::new(rect.width() * share, 0.0);
    click_at(harness, at, modifiers);
}

fn click_row(harness: &mut Harness<'_, App>, name: &str, modifiers: Modifiers) {
    // Beside the lines between columns, which are there to be dragged.
    let at = harness.get_by_role_and_label(Role::Row, name).rect().left_center();
    let at = at + Vec2::new(12.0, 0.0);
    click_at(harness, at, modifiers);
}

fn value(harness: &Harness<'_, App>) -> String {
    harness.get_by_label(PICTURE).value().unwrap_or_default()
}

#[test]
fn every_scope_has_a_curve_of_its_own() {
    let mut harness = page();
    let everything = value(&harness);
    assert!(everything.starts_with("step 120, OnTileExecute"), "{everything}");
    choose(&mut harness, "Scope", "IPU 0");
    assert_eq!(value(&harness), everything, "all that changes lies on IPU 0");
    choose(&mut harness, "Scope", "IPU 1");
    assert!(value(&harness).contains("0 B not always live"), "{}", value(&harness));
    choose(&mut harness, "Scope", "Worst tile of each step");
    assert!(value(&harness).contains("not always live on tile"), "{}", value(&harness));
    choose(&mut harness, "Scope", "One tile…");
    let fullest = value(&harness);
    assert!(has_text(&harness, "Tile 30"), "the fullest tile is offered: {:#?}", texts(&harness));
    type_into(&mut harness, "Tile number", "3");
    harness.key_press(Key::Enter);
    settle(&mut harness);
    assert!(has_text(&harness, "Tile 3"));
    assert!(!fullest.is_empty());
    type_into(&mut harness, "Tile number", "4711");
    harness.key_press(Key::Enter);
    settle(&mut harness);
    assert!(has_text(&harness, "Tile 3"), "a tile that is not there is not taken");
}

#[test]
fn ipus_are_offered_where_changes_from_step_to_step_are_absent() {
    let mut harness = window_on(Theme::Light, report::without_deltas());
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    // `… (164,520 B) not always live`: the peak of each, at the same step.
    let mut bytes_of = |scope: &str| -> u64 {
        choose(&mut harness, "Scope", scope);
        let value = value(&harness);
        let bytes = value.split(['(', ')']).nth(1).unwrap_or_default().replace([',', 'B', ' '], "");
        assert!(value.starts_with("step 120,"), "{value}");
        bytes.parse().unwrap_or_else(|_| panic!("{value}"))
    };
    let of_each = ["IPU 0", "IPU 1"].map(&mut bytes_of);
    assert!(of_each.iter().all(|bytes| *bytes > 0), "{of_each:?}");
    assert_eq!(of_each.iter().sum::<u64>(), bytes_of("All IPUs"));
}

#[test]
fn legend_and_options_switch_what_is_drawn() {
    let mut harness = page();
    choose(&mut harness, "Scope", "IPU 0");
    let is_on = |harness: &Harness<'_, App>, name: &str| {
        let node = harness.get_by_role_and_label(Role::CheckBox, name);
        node.accesskit_node().toggled() == Some(eframe::egui::accesskit::Toggled::True)
    };
    for name in ["Not always live", "Always live", "Limit", "Stack", "Scale to limit"] {
        let before = is_on(&harness, name);
        harness.get_by_role_and_label(Role::CheckBox, name).click();
        settle(&mut harness);
        assert_ne!(is_on(&harness, name), before, "{name}");
        harness.get_by_role_and_label(Role::CheckBox, name).click();
        settle(&mut harness);
        assert_eq!(is_on(&harness, name), before, "{name}");
    }
    harness.get_by_role_and_label(Role::CheckBox, "Always live").click();
    settle(&mut harness);
    let scale = harness.get_by_role_and_label(Role::CheckBox, "Scale to limit");
    assert!(scale.accesskit_node().is_disabled(), "a limit says nothing of a part");
}

#[test]
fn the_filter_says_whether_the_peaks_are_what_was_looked_for() {
    let mut harness = page();
    type_into(&mut harness, "Filter steps", "conv");
    assert!(has_text(&harness, "20 of 200 steps match"), "{:#?}", texts(&harness));
    assert!(has_text(&harness, "peaks"));
    type_into(&mut harness, "Filter steps", "no such thing");
    assert!(has_text(&harness, "No step matches"));
}

/// The column of a table as it is copied.
fn column(table: &[Vec<String>], title: &str) -> Vec<String> {
    let place = table[0].iter().position(|other| other == title);
    let place = place.unwrap_or_else(|| panic!("{title:?} in {:?}", table[0]));
    table.iter().skip(1).map(|line| line[place].clone()).collect()
}

#[test]
fn the_bytes_of_peaks_say_what_they_are_in_each_scope() {
    let mut harness = page();
    let all = column(&copied(&mut harness, "peaks"), "Not always live (bytes)");
    assert_eq!(all[0], "329000");
    choose(&mut harness, "Scope", "Worst tile of each step");
    let peaks = copied(&mut harness, "peaks");
    assert!(!peaks[0].contains(&"Not always live (bytes)".to_owned()), "{:?}", peaks[0]);
    assert!(!column(&peaks, "Alive on the tile (bytes)").is_empty());
}

#[test]
fn peaks_are_held_against_the_limit_of_their_scope() {
    // IPU 0 has 24 tiles; at the spike 329,000 bytes more than what always lives there are alive.
    let mut harness = window_on(Theme::Light, report::with_limit(16 * 1024));
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    choose(&mut harness, "Scope", "IPU 0");
    let peaks = copied(&mut harness, "peaks");
    let (bytes, over) =
        (column(&peaks, "Not always live (bytes)"), column(&peaks, "Over the limit (bytes)"));
    let share = texts(&harness).into_iter().find(|text| text.ends_with(" % of the limit"));
    let percent: f64 = share.expect("a share").split(' ').next().unwrap().parse().unwrap();
    let limit = 24.0 * 16.0 * 1024.0;
    for (bytes, over) in bytes.iter().zip(&over) {
        let alive = bytes.parse::<f64>().unwrap() + limit * percent / 100.0;
        let expected = (alive - limit).max(0.0);
        let over: f64 = over.parse().unwrap();
        assert!((over - expected).abs() < limit / 1000.0, "{bytes} {over} {expected}");
    }
    let count = over.iter().filter(|over| *over != "0").count();
    assert!(count > 0 && count < over.len(), "{over:?}");
    click(&mut harness, &format!("Above the limit ({count})"));
    let above = column(&copied(&mut harness, "peaks"), "Over the limit (bytes)");
    assert_eq!(above.len(), count);
    assert!(above.iter().all(|over| over != "0"));
}

#[test]
fn every_ipu_has_its_own_memory() {
    // The spike is on IPU 0 alone; all IPUs together would have room for it.
    let mut harness = page();
    assert!(has_text(&harness, "Each IPU has its own limit"), "{:#?}", texts(&harness));
    let all = column(&copied(&mut harness, "peaks"), "Over the limit (bytes)");
    choose(&mut harness, "Scope", "IPU 0");
    assert!(!has_text(&harness, "Each IPU has its own limit"));
    let first = column(&copied(&mut harness, "peaks"), "Over the limit (bytes)");
    assert_eq!(all, first);
    assert_ne!(all[0], "0");
    // Without a limit nothing can be said.
    let mut harness = window_on(Theme::Light, report::without_limit());
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    let peaks = copied(&mut harness, "peaks");
    let is_of_limit = |column: &String| column.to_lowercase().contains("limit");
    assert!(!peaks[0].iter().any(is_of_limit), "{:?}", peaks[0]);
    assert!(peaks[0].contains(&"Of the highest".to_owned()), "{:?}", peaks[0]);
    assert!(!has_text(&harness, "Above the limit"));
}

#[test]
fn the_steps_that_match_a_filter_are_listed() {
    let mut harness = page();
    open_tab(&mut harness, "Steps");
    assert_eq!(copied(&mut harness, "steps").len(), 1 + STEPS as usize, "all without a filter");
    type_into(&mut harness, "Filter steps", "conv");
    let found = copied(&mut harness, "steps");
    assert_eq!(found.len(), 21, "20 of 200 steps match");
    assert_eq!(
        found[0],
        [
            "Step",
            "Name",
            "Operation",
            "Always live and not (bytes)",
            "Of the highest",
            "Over the limit (bytes)",
            "Not always live (bytes)",
            "Program",
        ]
    );
    assert!(column(&found, "Operation").iter().all(|operation| operation.contains("convolution")));
    let step = found[2][0].clone();
    click_row(&mut harness, &step, Modifiers::NONE);
    assert!(has_text(&harness, &format!("Selected: step {step},")), "{:#?}", texts(&harness));
    type_into(&mut harness, "Filter steps", "no such thing");
    assert_eq!(copied(&mut harness, "steps").len(), 1);
}

#[test]
fn a_tile_has_a_line_with_gaps_that_shows_that_it_is_over() {
    let mut harness = page();
    assert!(
        harness.query_by_role_and_label(Role::CheckBox, "With gaps").is_none(),
        "of all tiles no one end is known"
    );
    choose(&mut harness, "Scope", "One tile…");
    assert!(has_text(&harness, "Tile 30"));
    assert!(harness.query_by_role_and_label(Role::CheckBox, "With gaps").is_some());
    hover_share(&mut harness, PICTURE, 0.5);
    settle(&mut harness);
    assert!(has_text(&harness, "With gaps"));
    let text = texts(&harness).into_iter().find(|text| text.contains("over the limit"));
    assert!(text.is_some(), "its gaps make it so: {:#?}", texts(&harness));
}

#[test]
fn a_right_click_copies_a_name_and_leads_to_what_was_clicked() {
    let mut harness = page();
    // On a row of a table.
    let row = harness.get_by_role_and_label(Role::Row, "120").rect().left_center();
    right_click(&mut harness, row + Vec2::new(12.0, 0.0));
    harness.get_by_label("Copy name").click();
    assert_eq!(wait_for_output(&mut harness, copied_text), "layer2/step120");
    settle(&mut harness);
    right_click(&mut harness, row + Vec2::new(12.0, 0.0));
    click(&mut harness, "Go to step 120");
    assert!(has_text(&harness, "Selected: step 120,"), "{:#?}", texts(&harness));
    // On the curve of the worst tile, which leads to the map of that tile.
    choose(&mut harness, "Scope", "Worst tile of each step");
    let picture = harness.get_by_label(PICTURE).rect();
    let at = picture.left_center() + Vec2::new(picture.width() * 0.152, 0.0);
    harness.hover_at(at);
    settle(&mut harness);
    assert!(has_text(&harness, "Step 30, OnTileExecute"), "{:#?}", texts(&harness));
    right_click(&mut harness, at);
    assert!(has_text(&harness, "Go to step 30"), "{:#?}", texts(&harness));
    assert!(!has_text(&harness, "Step 30, OnTileExecute"), "nothing covers the menu");
    let to_map = texts(&harness).into_iter().find(|text| text.starts_with("Map of tile "));
    let to_map = to_map.expect("a way to the map");
    let tile = to_map.trim_start_matches("Map of tile ").to_owned();
    click(&mut harness, &to_map);
    assert!(has_text(&harness, "Gaps of the tile"), "{:#?}", texts(&harness));
    // Among the other tiles it is selected.
    click(&mut harness, "Memory");
    assert_eq!(
        harness.get_by_role_and_label(Role::TextInput, "Select tiles").value().unwrap_or_default(),
        tile
    );
    // From the table of tiles to the map of one.
    open_tab(&mut harness, "Tiles");
    click(&mut harness, "Sort by With gaps");
    let row = harness.get_by_role_and_label(Role::Row, "30").rect().left_center();
    right_click(&mut harness, row + Vec2::new(12.0, 0.0));
    click(&mut harness, "Map of tile 30");
    assert!(has_text(&harness, "Gaps of the tile"), "{:#?}", texts(&harness));
}

#[test]
fn steps_are_compared_side_by_side() {
    let mut harness = page();
    open_tab(&mut harness, "Not always live");
    assert!(has_text(&harness, "at the peak"));
    click_step(&mut harness, SPIKE, Modifiers::NONE);
    assert!(has_text(&harness, "Selected: step 120"), "{:#?}", texts(&harness));
    click_step(&mut harness, 30, Modifiers::SHIFT);
    assert!(has_text(&harness, "Selected: 2 steps, compared with step 120"));
    for title in ["Step 120", "Step 30", "Step 30 − 120"] {
        assert!(has_text(&harness, title), "{title:?} in {:#?}", texts(&harness));
    }
    assert!(has_text(&harness, "▼ −"), "what is smaller has a sign: {:#?}", texts(&harness));
    // A row opens into the classes of the variable.
    harness.get_all_by_label("Open row").next().expect("a row that opens").click();
    settle(&mut harness);
    assert!(has_text(&harness, "Class "), "{:#?}", texts(&harness));
    click(&mut harness, "Deselect steps");
    assert!(has_text(&harness, "at the peak"));
}

#[test]
fn back_and_forward_walk_through_what_was_selected() {
    let mut harness = page();
    click_step(&mut harness, 30, Modifiers::NONE);
    click_step(&mut harness, 60, Modifiers::NONE);
    harness.key_press_modifiers(Modifiers::ALT, Key::ArrowLeft);
    settle(&mut harness);
    assert!(has_text(&harness, "Selected: step 30"), "{:#?}", texts(&harness));
    harness.key_press_modifiers(Modifiers::ALT, Key::ArrowRight);
    settle(&mut harness);
    assert!(has_text(&harness, "Selected: step 60"));
    click(&mut harness, "Back");
    assert!(has_text(&harness, "Selected: step 30"));
}

#[test]
fn peaks_are_listed_and_lead_to_their_steps() {
    let mut harness = page();
    click_row(&mut harness, "120", Modifiers::NONE);
    assert!(has_text(&harness, "Selected: step 120, OnTileExecute"), "{:#?}", texts(&harness));
    click(&mut harness, "Mark its operation");
    assert!(has_text(&harness, "convolution layer1/conv: 20 steps"), "{:#?}", texts(&harness));
    click(&mut harness, "Deselect operation");
    assert!(!has_text(&harness, "layer1/conv: 20 steps"));
    type_into(&mut harness, "Filter: peaks", "convolution");
    let rows = harness.get_all_by_role(Role::Row);
    assert!(rows.count() > 0);
}

#[test]
fn a_variable_is_followed_on_the_curve() {
    let mut harness = page();
    click(&mut harness, "Lifetimes");
    assert!(has_text(&harness, "alive at step 120"), "{:#?}", texts(&harness));
    // So that its row is in sight: the second of that name lives at every step.
    type_into(&mut harness, "Filter: lifetimes", "weights");
    let at = {
        let mut all = harness.get_all_by_role_and_label(Role::Row, "weights");
        all.nth(1).expect("a life").rect().center()
    };
    click_at(&mut harness, at, Modifiers::NONE);
    assert!(has_text(&harness, "at most, alive at 200 of 200 steps"), "{:#?}", texts(&harness));
    click(&mut harness, "Deselect variable");
    assert!(!has_text(&harness, "at most, alive at"));
    click(&mut harness, "Sort by Steps alive");
    let tab = harness.get_by_role_and_label(Role::Button, "Always live");
    tab.click();
    settle(&mut harness);
    assert!(has_text(&harness, "Filter: always live variables"), "{:#?}", texts(&harness));
}

#[test]
fn bytes_in_the_inspector_keep_all_their_digits() {
    for size in [Vec2::new(1440.0, 900.0), Vec2::new(1024.0, 700.0)] {
        let mut harness = page_sized(size);
        click_step(&mut harness, SPIKE, Modifiers::NONE);
        let digits = |text: &&String| text.ends_with(" B)") && !text.contains('…');
        let all = texts(&harness);
        let found: Vec<&String> = all.iter().filter(digits).collect();
        assert!(found.len() >= 2, "{size}: {all:#?}");
        for text in found {
            let node = harness.get_all_by_label(text).next().expect("a figure");
            assert!(node.rect().right() <= size.x - 12.0, "{text} at {size}");
        }
    }
}

#[test]
fn on_one_tile_lives_have_addresses() {
    let mut harness = page();
    choose(&mut harness, "Scope", "One tile…");
    click_step(&mut harness, SPIKE, Modifiers::NONE);
    click(&mut harness, "Lifetimes");
    assert!(has_text(&harness, "Sort by Address"), "{:#?}", texts(&harness));
    assert!(has_text(&harness, "6,016"), "{:#?}", texts(&harness));
}

#[test]
fn the_visible_part_is_chosen_in_many_ways() {
    let mut harness = page();
    let magnification = |harness: &Harness<'_, App>| {
        let field = harness.get_by_role_and_label(Role::TextInput, "Magnification");
        field.value().unwrap_or_default()
    };
    assert_eq!(magnification(&harness), "100 %");
    type_into(&mut harness, "Magnification", "400");
    harness.key_press(Key::Enter);
    settle(&mut harness);
    assert_eq!(magnification(&harness), "400 %");
    click(&mut harness, "Zoom out");
    assert_eq!(magnification(&harness), "267 %");
    click(&mut harness, "Zoom in");
    assert_eq!(magnification(&harness), "400 %");
    let start = |harness: &Harness<'_, App>| {
        let handle = harness.get_by_label("Start of the visible part");
        handle.accesskit_node().numeric_value().unwrap_or_default()
    };
    let before = start(&harness);
    click(&mut harness, "Next part");
    assert!(start(&harness) > before + 49.0);
    click(&mut harness, "Previous part");
    assert!((start(&harness) - before).abs() < 1e-3);
    harness.get_by_label("Start of the visible part").focus();
    harness.run_steps(2);
    harness.key_press(Key::ArrowLeft);
    settle(&mut harness);
    assert!(start(&harness) < before);
    click(&mut harness, "Show all");
    assert_eq!(magnification(&harness), "100 %");
    type_into(&mut harness, "Magnification", "nonsense");
    harness.key_press(Key::Enter);
    settle(&mut harness);
    assert_eq!(magnification(&harness), "100 %");
}

#[test]
fn tables_are_copied_and_saved() {
    let mut harness = page();
    open_tab(&mut harness, "Not always live");
    harness.get_by_label("Copy as CSV: not always live variables").click();
    let text = wait_for_output(&mut harness, copied_text);
    assert!(text.starts_with("Variable before lowering,Step 120 (bytes)\n"), "{text}");
    assert!(text.lines().count() > 1);
    settle(&mut harness);
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("peaks.csv");
    open_tab(&mut harness, "Peaks");
    click(&mut harness, "Save as CSV…: peaks");
    assert!(has_text(&harness, "Save peaks"));
    type_into(&mut harness, "File", &path.display().to_string());
    click(&mut harness, "Save");
    assert!(has_text(&harness, "Saved "), "{:#?}", texts(&harness));
    let saved = std::fs::read_to_string(&path).expect("a file");
    assert!(
        saved.starts_with(
            "Step,Peak,Name,Operation,Always live and not (bytes),Of the highest,Over the limit (bytes),\
             Not always live (bytes)\n120,1,"
        ),
        "{saved}"
    );
    click(&mut harness, "Save as CSV…: peaks");
    type_into(&mut harness, "File", &path.display().to_string());
    click(&mut harness, "Save");
    assert!(has_text(&harness, "is there already"), "{:#?}", texts(&harness));
    click(&mut harness, "Cancel");
    assert!(!has_text(&harness, "is there already"));
}

#[test]
fn what_is_alive_adds_up_by_whatever_it_is_put_together() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_profiles/pair-0.6");
    let mut harness =
        window_sized(Theme::Light, Vec2::new(1440.0, 900.0), |ctx| App::open(ctx, path));
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    open_tab(&mut harness, "Parts");
    let mut sums = Vec::new();
    for by in ["Category", "Operation", "Variable", "Module"] {
        open_tab(&mut harness, by);
        let table = copied(&mut harness, "what is alive");
        let bytes = table[1..].iter().map(|line| line.last().unwrap().parse::<i64>().unwrap());
        sums.push(bytes.sum::<i64>());
        assert!(table.len() > 3, "{table:?}");
    }
    assert!(sums[0] > 0 && sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    // Modules are ranges within ranges, too, and the table below them has more than its head.
    let rows = harness.get_all_by_role(Role::Row).count();
    assert!(rows >= 3, "{rows} rows of the table are in sight");
    let texts = texts(&harness).into_iter();
    let picture = { texts }.find(|text| text.starts_with("What is alive by module")).unwrap();
    let modules =
        |harness: &Harness<'_, App>| harness.get_by_label(&picture).value().unwrap_or_default();
    assert!(modules(&harness).ends_with(" spans"), "{}", modules(&harness));
    harness.get_by_label(&picture).focus();
    for _ in 0..2 {
        press(&mut harness, Key::ArrowDown);
    }
    let chosen = modules(&harness);
    assert!(chosen.contains(" B), ") && chosen.ends_with(" %"), "{chosen}");
    press(&mut harness, Key::Enter);
    assert!(is_enabled(&harness, "Show all modules"));
    click(&mut harness, "Show all modules");
    assert!(!is_enabled(&harness, "Show all modules"));
}

#[test]
fn the_page_looks_as_it_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        for size in SIZES {
            let name = |what: &str| format!("liveness-{what}-{theme:?}-{}", size.x).to_lowercase();
            let mut harness = window_sized(theme, size, |ctx| {
                App::with_runs(ctx, vec![Arc::new(report::small())])
            });
            harness.state_mut().go(Page::Liveness);
            settle(&mut harness);
            harness.remove_cursor();
            settle(&mut harness);
            harness.snapshot(name("peak"));
            type_into(&mut harness, "Filter steps", "conv");
            click_step(&mut harness, SPIKE, Modifiers::NONE);
            click_step(&mut harness, 30, Modifiers::SHIFT);
            hover_share(&mut harness, PICTURE, (SPIKE as f32 + 0.5) / STEPS as f32);
            settle(&mut harness);
            harness.snapshot(name("compared"));
            results.extend_harness(&mut harness);
        }
    }
}

#[test]
fn the_answer_stands_in_the_head_and_bytes_are_looked_at_around_the_limit() {
    let mut harness = window_on(Theme::Light, report::with_limit(16 * 1024));
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    assert!(has_text(&harness, "over, up to +"), "{:#?}", texts(&harness));
    choose(&mut harness, "Scope", "IPU 0");
    assert!(!is_enabled(&harness, "Show all"), "all of it is shown at first");
    click(&mut harness, "Around the limit");
    assert!(is_enabled(&harness, "Show all"));
    click(&mut harness, "Show all");
    assert!(!is_enabled(&harness, "Show all"));
    click(&mut harness, "Around the limit");
    choose(&mut harness, "Scope", "IPU 1");
    assert!(!is_enabled(&harness, "Show all"), "bytes of another scope are others");
    assert!(has_text(&harness, "Lifetimes at step"), "{:#?}", texts(&harness));
}

fn is_enabled(harness: &Harness<'_, App>, button: &str) -> bool {
    !harness.get_by_role_and_label(Role::Button, button).accesskit_node().is_disabled()
}
