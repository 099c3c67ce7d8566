//! Drives what is around the pages: home, menu, palette, keys, settings.

use crate::report;
use std::path::Path;
use std::sync::Arc;

use crate::support::{
    SIZES, drop_on, has_text, is_enabled, settle, texts, wait_for, wait_until_gone, window,
    window_on, window_sized,
};
use eframe::egui::accesskit::Toggled;
use eframe::egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use serde_json::{Value, json};
use tilescope::text::local_time;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

/// A directory of settings with recent reports; the first is there, the second is not.
fn settings(directory: &Path) {
    let there = directory.join("amp-0.75");
    std::fs::create_dir_all(&there).expect("a directory");
    write_settings(
        directory,
        &json!({
            "recent_reports": [
                {"path": there, "title": "resnext101, amp-0.75", "opened": 1_795_269_900},
                {"path": "/reports/gone", "title": "resnext101, gone", "opened": 1_795_183_500},
            ],
            "of_a_later_version": 7,
        }),
    );
}

fn write_settings(directory: &Path, settings: &Value) {
    std::fs::write(directory.join("settings.json"), settings.to_string()).expect("a file");
}

fn read_settings(directory: &Path) -> Value {
    let text = std::fs::read_to_string(directory.join("settings.json")).expect("settings");
    serde_json::from_str(&text).expect("JSON")
}

fn home(theme: Theme, directory: &Path) -> Harness<'static, App> {
    window(theme, |ctx| App::new(ctx, None).with_settings(ctx, directory.to_owned()))
}

fn press(harness: &mut Harness<'_, App>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run_steps(3);
}

fn click(harness: &mut Harness<'_, App>, name: &str) {
    harness.get_by_label(name).click();
    harness.run_steps(3);
}

#[test]
fn recent_reports_are_opened_removed_and_marked_when_gone() {
    let directory = tempfile::tempdir().expect("a directory");
    settings(directory.path());
    let mut harness = home(Theme::Light, directory.path());
    wait_for(&mut harness, "moved or deleted");
    assert!(is_enabled(&harness, "Open resnext101, amp-0.75"));
    assert!(!is_enabled(&harness, "Open resnext101, gone"));
    assert!(has_text(&harness, &local_time(1_795_269_900)));
    click(&mut harness, "Remove resnext101, gone from the list");
    wait_until_gone(&mut harness, "resnext101, gone");
    click(&mut harness, "Open resnext101, amp-0.75");
    wait_for(&mut harness, "The run could not be opened");
    drop(harness);
    let settings = read_settings(directory.path());
    assert_eq!(settings["recent_reports"].as_array().map(Vec::len), Some(1));
    assert_eq!(settings["of_a_later_version"], 7);
}

#[test]
fn a_log_that_is_opened_as_a_run_is_explained_at_a_click() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("train.log");
    let message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total \
                   capacity of 79.15 GiB of which 1.20 GiB is free.";
    std::fs::write(&path, format!("epoch 1\nepoch 2\n{message}\n")).expect("a file");
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, path));
    wait_for(&mut harness, "is a log, not a memory profile");
    assert!(!has_text(&harness, "tilescope diagnose"), "no command in place of a button");
    click(&mut harness, "Explain this file");
    wait_for(&mut harness, "Paste a text instead");
    wait_for(&mut harness, "2.00 GiB");
}

#[test]
fn a_report_that_was_opened_is_remembered() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = window(Theme::Light, |ctx| {
        let report = Arc::new(report::small());
        App::with_runs(ctx, vec![report]).with_settings(ctx, directory.path().to_owned())
    });
    click(&mut harness, "Close");
    assert!(
        has_text(&harness, "Remove resnext101, synthetic from the list"),
        "{:#?}",
        texts(&harness)
    );
    drop(harness);
    let settings = read_settings(directory.path());
    assert_eq!(settings["recent_reports"][0]["path"], "/reports/synthetic");
}

fn is_on(harness: &Harness<'_, App>, choice: &str) -> bool {
    harness.get_by_label(choice).accesskit_node().toggled() == Some(Toggled::True)
}

#[test]
fn choices_are_kept_for_the_next_window() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = home(Theme::Light, directory.path());
    click(&mut harness, "Colors: Light");
    click(&mut harness, "Bytes");
    click(&mut harness, "Collapse menu");
    assert!(harness.ctx.theme() == Theme::Dark);
    assert!(is_on(&harness, "Bytes"));
    drop(harness);
    let mut harness = home(Theme::Light, directory.path());
    wait_for(&mut harness, "Expand menu");
    assert!(harness.ctx.theme() == Theme::Dark && is_on(&harness, "Bytes"));
    click(&mut harness, "KiB");
    click(&mut harness, "Colors: Dark");
    click(&mut harness, "Expand menu");
    assert!(is_on(&harness, "KiB") && harness.query_by_label("Collapse menu").is_some());
    drop(harness);
    let settings = read_settings(directory.path());
    assert_eq!(
        settings,
        json!({"theme": "system", "units": "binary", "menu_collapsed": false}),
        "nothing that was not chosen is written"
    );
}

#[test]
fn damaged_settings_are_set_aside_and_named() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("settings.json"), "{").expect("a file");
    let mut harness = home(Theme::Light, directory.path());
    wait_for(&mut harness, "settings.damaged.json");
    assert!(directory.path().join("settings.damaged.json").exists());
}

#[test]
fn the_palette_finds_and_carries_out() {
    let mut harness = window_on(Theme::Light, report::small());
    press(&mut harness, Modifiers::COMMAND, Key::P);
    assert!(has_text(&harness, "Go to Liveness"));
    harness.get_by_label("Command").type_text("live go");
    harness.run_steps(3);
    assert!(!has_text(&harness, "Reload run"));
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert!(harness.query_by_label("Command").is_none(), "it closes");
    wait_for(&mut harness, "Liveness curve");
    press(&mut harness, Modifiers::COMMAND, Key::P);
    harness.get_by_label("Command").type_text("go to");
    harness.run_steps(3);
    for key in [Key::ArrowDown, Key::ArrowDown, Key::ArrowUp, Key::Enter] {
        press(&mut harness, Modifiers::NONE, key);
    }
    wait_for(&mut harness, "Engine options");
    press(&mut harness, Modifiers::COMMAND, Key::P);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.query_by_label("Command").is_none(), "Escape closes it");
    press(&mut harness, Modifiers::COMMAND, Key::P);
    harness.get_by_label("Command").type_text("colors");
    harness.run_steps(3);
    click(&mut harness, "Colors: dark");
    assert!(harness.ctx.theme() == Theme::Dark);
}

/// What stands on each page of one report, in the order of their keys.
const PAGES_BY_KEY: [&str; 6] = [
    "Memory used: ",
    "Engine options",
    "What to try",
    "Memory over tiles",
    "Address",
    "Liveness curve",
];

#[test]
fn every_page_and_the_report_have_keys() {
    let mut harness = window_on(Theme::Light, report::small());
    for (place, found) in (1..).zip(PAGES_BY_KEY) {
        let key = Key::from_name(&place.to_string()).expect("a digit");
        press(&mut harness, Modifiers::COMMAND, key);
        wait_for(&mut harness, found);
    }
    press(&mut harness, Modifiers::COMMAND, Key::B);
    assert!(harness.query_by_label("Expand menu").is_some());
    press(&mut harness, Modifiers::NONE, Key::F1);
    for text in ["Ctrl+P", "Ctrl+R or F5", "Zoom at the pointer"] {
        assert!(has_text(&harness, text), "{text:?} in {:#?}", texts(&harness));
    }
    click(&mut harness, "Close the list of keys");
    assert!(!has_text(&harness, "Zoom at the pointer"));
    press(&mut harness, Modifiers::COMMAND, Key::W);
    assert!(has_text(&harness, "Open a run"));
    press(&mut harness, Modifiers::COMMAND, Key::W);
    assert!(has_text(&harness, "No run is open"), "says why nothing happens");
}

#[test]
fn a_page_that_is_absent_says_what_would_bring_it() {
    let mut harness = window_on(Theme::Light, report::empty());
    for (page, expected) in
        [("Memory", "autoReport.outputGraphProfile"), ("Liveness", "autoReport.outputGraphProfile")]
    {
        assert!(!is_enabled(&harness, page), "{page}");
        harness.get_by_label(page).hover();
        harness.run_steps(8);
        assert!(has_text(&harness, expected), "{expected:?} in {:#?}", texts(&harness));
    }
}

#[test]
fn back_and_forward_walk_through_selections() {
    let mut harness = window_on(Theme::Light, report::small());
    assert!(!is_enabled(&harness, "Back") && !is_enabled(&harness, "Forward"));
    click(&mut harness, "Memory over tiles");
    assert!(has_text(&harness, "Deselect tile 24"));
    press(&mut harness, Modifiers::ALT, Key::ArrowLeft);
    assert!(!has_text(&harness, "Deselect tile 24"));
    assert!(!is_enabled(&harness, "Back") && is_enabled(&harness, "Forward"));
    click(&mut harness, "Forward");
    assert!(has_text(&harness, "Deselect tile 24"));
    click(&mut harness, "Back");
    assert!(!has_text(&harness, "Deselect tile 24"));
}

#[test]
fn a_dropped_directory_is_opened_and_a_second_one_compared() {
    let directory = tempfile::tempdir().expect("a directory");
    let [first, second] = ["first", "second"].map(|name| directory.path().join(name));
    let mut harness = window(Theme::Light, |ctx| App::new(ctx, None));
    drop_on(&mut harness, std::slice::from_ref(&first));
    wait_for(&mut harness, "The run could not be opened");
    // Where nothing could be opened there is nothing to compare with.
    drop_on(&mut harness, std::slice::from_ref(&second));
    wait_for(&mut harness, &second.display().to_string());
    assert!(!has_text(&harness, "Target"), "{:#?}", texts(&harness));
    let mut harness = window_on(Theme::Light, report::small());
    drop_on(&mut harness, std::slice::from_ref(&second));
    wait_for(&mut harness, "The target of the comparison");
    click(&mut harness, "Liveness");
    assert!(has_text(&harness, "The run could not be opened"), "the source stays open meanwhile");
    harness.get_all_by_label("End comparison").last().expect("a button").click();
    harness.run_steps(3);
    wait_for(&mut harness, "Liveness curve");
    drop_on(&mut harness, &[first, second]);
    wait_for(&mut harness, "The run could not be opened");
}

/// The window says what the commands say of a file that nothing opens.
#[test]
fn a_dropped_file_that_is_no_run_is_called_what_it_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("model.gguf");
    std::fs::write(&path, b"GGUF\x03\0\0\0\x01").expect("a file");
    let mut harness = window(Theme::Light, |ctx| App::new(ctx, None));
    drop_on(&mut harness, std::slice::from_ref(&path));
    wait_for(&mut harness, "is a GGUF file with model weights (llama.cpp), not a memory profile");
    assert!(has_text(&harness, "Tilescope opens PyTorch memory snapshots"));
}

#[test]
fn an_untouched_home_page_asks_for_no_frame() {
    let directory = tempfile::tempdir().expect("a directory");
    settings(directory.path());
    let mut harness = home(Theme::Light, directory.path());
    wait_for(&mut harness, "moved or deleted");
    // The job that looks whether reports are there wakes the window once more when it ends.
    settle(&mut harness);
    assert!(harness.run() <= 2, "the home page repaints without cause");
}

/// Settings whose reports are all gone, so that no path of this machine is in a picture.
fn settings_for_pictures(directory: &Path) {
    let report = |name: &str, opened: u64| {
        json!({"path": format!("/reports/{name}"), "title": format!("resnext101, {name}"),
               "opened": opened})
    };
    let recent = [("amp-0.75", 1_795_269_900), ("amp-0.6", 1_795_183_500)];
    let recent: Vec<Value> = recent.map(|(name, opened)| report(name, opened)).into();
    write_settings(directory, &json!({ "recent_reports": recent }));
}

#[test]
fn home_looks_as_it_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        for size in SIZES {
            let name = |what: &str| format!("{what}-{theme:?}-{}", size.x).to_lowercase();
            let mut harness = window_sized(theme, size, |ctx| App::new(ctx, None));
            harness.snapshot(name("home-empty"));
            results.extend_harness(&mut harness);
            let directory = tempfile::tempdir().expect("a directory");
            settings_for_pictures(directory.path());
            let mut harness = window_sized(theme, size, |ctx| {
                App::new(ctx, None).with_settings(ctx, directory.path().to_owned())
            });
            wait_for(&mut harness, "moved or deleted");
            harness.run_steps(2);
            harness.snapshot(name("home-recents"));
            results.extend_harness(&mut harness);
        }
    }
}

#[test]
fn palette_and_keys_look_as_they_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        let mut harness = window_on(theme, report::small());
        harness.state_mut().go(Page::Summary);
        press(&mut harness, Modifiers::COMMAND, Key::B);
        press(&mut harness, Modifiers::COMMAND, Key::P);
        harness.snapshot(format!("palette-{theme:?}").to_lowercase());
        press(&mut harness, Modifiers::NONE, Key::Escape);
        press(&mut harness, Modifiers::NONE, Key::F1);
        harness.snapshot(format!("keys-{theme:?}").to_lowercase());
        results.extend_harness(&mut harness);
    }
}
