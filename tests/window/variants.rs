//! Drives the sweep of memory snapshots: what the card has, the reference, what is opened and compared.

use std::path::Path;

use crate::support::{
    assert_text, click, click_at, has_text, settle, texts, type_into, wait_for, window,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use tilescope::format::Progress;
use tilescope::systems::pytorch::synth::story::story;
use tilescope::ui::app::App;
use tilescope::ui::loading::Load;

/// The six variants of the story, in a directory that is opened as a run.
fn variants(theme: Theme, directory: &Path) -> Harness<'static, App> {
    story().write(directory, &Progress::default()).expect("the story");
    let path = directory.to_owned();
    let mut harness = window(theme, |ctx| App::new(ctx, Some(Load::start(path, ctx))));
    wait_for(&mut harness, "Least needed: checkpoint_segments 8, 3.20 GiB");
    settle(&mut harness);
    harness
}

#[test]
fn variants_are_a_table_against_what_the_card_has() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = variants(Theme::Light, directory.path());
    assert_text(&harness, "Reference, 100 %: segments-2/snapshot");
    assert_text(&harness, "A run that ran out of memory needs at least what it had");
    assert_text(&harness, "out of memory");
    assert_text(&harness, "best ★");
    type_into(&mut harness, "Capacity", "8GiB");
    assert_text(&harness, "Capacity 8.00 GiB: 5 of 6 fit");
    // Others leave too little for two segments, and the reference is another one.
    type_into(&mut harness, "Other memory", "1GiB");
    assert_text(&harness, "Capacity 8.00 GiB, of which others have 1.00 GiB: 4 of 6 fit");
    assert_text(&harness, "Reference, 100 %: segments-4/snapshot");
    assert_text(&harness, "What each run needs, with the limit");
}

#[test]
fn what_is_no_size_is_said_beside_the_field() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = variants(Theme::Light, directory.path());
    type_into(&mut harness, "Capacity", "8 apples");
    assert_text(&harness, "a number and a unit expected");
    assert!(!has_text(&harness, "of 6 fit"), "{:#?}", texts(&harness));
}

#[test]
fn a_click_makes_a_variant_the_reference() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = variants(Theme::Light, directory.path());
    // The one that needs least is selected at first.
    assert_text(&harness, "Selected: segments-8/snapshot");
    click(&mut harness, "Make reference");
    assert_text(&harness, "Reference, 100 %: segments-8/snapshot");
    assert_text(&harness, "reference");
}

#[test]
fn variants_are_opened_and_compared() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = variants(Theme::Light, directory.path());
    let other = harness.get_by_role_and_label(Role::Row, "segments-4/snapshot").rect().center();
    click_at(&mut harness, other, Modifiers::SHIFT);
    assert_text(&harness, "Selected: segments-8/snapshot → segments-4/snapshot");
    harness.get_by_label("Compare the selected runs").click();
    harness.run_steps(2);
    wait_for(&mut harness, "Swap source and target");
    settle(&mut harness);
    // The sweep is still there.
    harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    settle(&mut harness);
    assert_text(&harness, "Least needed: checkpoint_segments 8");
    let two = harness.get_by_role_and_label(Role::Row, "segments-2/snapshot").rect().center();
    click_at(&mut harness, two, Modifiers::NONE);
    click(&mut harness, "Open");
    settle(&mut harness);
    assert!(!has_text(&harness, "Swap source and target"), "one run is open");
}

#[test]
fn variants_look_as_they_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut harness = variants(theme, &directory.path().join("training"));
        type_into(&mut harness, "Capacity", "8GiB");
        type_into(&mut harness, "Other memory", "600MiB");
        harness.snapshot(format!("sweep-variants-{theme:?}").to_lowercase());
        results.extend_harness(&mut harness);
    }
}
