//! Drives what needs no open report: the sweep, and errors explained.

use std::path::Path;

use crate::support::{assert_text, copied_text, settle, texts, wait_for, window};
use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers, PointerButton, Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use tilescope::format::Progress;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

fn home(theme: Theme) -> Harness<'static, App> {
    window(theme, |ctx| App::new(ctx, None))
}

fn press(harness: &mut Harness<'_, App>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    settle(harness);
}

/// Types into a field and presses Enter.
fn enter(harness: &mut Harness<'_, App>, field: &str, text: &str) {
    harness.get_by_role_and_label(Role::TextInput, field).focus();
    harness.run_steps(2);
    harness.get_by_role_and_label(Role::TextInput, field).type_text(text);
    harness.run_steps(2);
    press(harness, Modifiers::NONE, Key::Enter);
}

const LOG: &str = "epoch 1\nterminate called after throwing an instance of \
    'poplar::graph_memory_allocation_error'\n  what():  Out of memory on tile 7: 700000 bytes used \
    but tiles only have 638976 bytes of memory\nepoch 2\n";

fn explained(theme: Theme) -> Harness<'static, App> {
    let mut harness = home(theme);
    press(&mut harness, Modifiers::COMMAND, Key::E);
    harness.get_by_label("Error text").focus();
    harness.run_steps(2);
    harness.get_by_label("Error text").type_text(LOG);
    settle(&mut harness);
    harness
}

#[test]
fn a_message_that_is_pasted_is_explained() {
    let mut harness = home(Theme::Light);
    press(&mut harness, Modifiers::COMMAND, Key::E);
    assert_text(&harness, "Nothing to explain yet");
    harness.get_by_label("Error text").focus();
    harness.run_steps(2);
    harness.get_by_label("Error text").type_text("epoch 3, loss 0.5");
    settle(&mut harness);
    assert_text(&harness, "Nothing about memory was found");
    let harness = explained(Theme::Light);
    for text in ["A tile is out of memory", "59.6 KiB (61,024 B)", "What to do", "Tile"] {
        assert_text(&harness, text);
    }
}

#[test]
fn who_wrote_a_message_is_said() {
    let mut harness = home(Theme::Light);
    press(&mut harness, Modifiers::COMMAND, Key::E);
    harness.get_by_label("Error text").focus();
    harness.run_steps(2);
    let log = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total \
        capacity of 79.10 GiB of which 1.20 GiB is free.\n[rank3]: step 7 of 100\n";
    harness.get_by_label("Error text").type_text(log);
    settle(&mut harness);
    for text in ["Written by", "rank 3", "2.00 GiB (2,147,483,648 B)"] {
        assert_text(&harness, text);
    }
}

#[test]
fn code_in_advice_is_drawn_as_code_and_a_click_copies_it() {
    let mut harness = explained(Theme::Light);
    let code = "poputil::mapTensorLinearly";
    assert!(texts(&harness).iter().all(|text| !text.contains('`')), "{:?}", texts(&harness));
    let at = harness.get_by_label(code).rect().center();
    harness.hover_at(at);
    for pressed in [true, false] {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        harness.event(Event::PointerButton { pos: at, button, pressed, modifiers });
    }
    let mut copied = None;
    for _ in 0..4 {
        harness.step();
        copied = copied.or_else(|| copied_text(harness.output()));
    }
    assert_eq!(copied.as_deref(), Some(code));
}

fn write(directory: &Path, batch: u64, proportion: f64) {
    let options = ReportOptions { batch, proportion, execution: true, ..ReportOptions::default() };
    let path = directory.join(format!("batch-{batch}-amp-{proportion}"));
    write_report(&options, &path, &Progress::default()).expect("a report");
}

fn sweep(theme: Theme, directory: &Path) -> Harness<'static, App> {
    for batch in [4, 8, 16] {
        for proportion in [0.01, 0.35, 0.8] {
            write(directory, batch, proportion);
        }
    }
    std::fs::create_dir(directory.join("broken")).expect("a directory");
    std::fs::write(directory.join("broken/profile.pop"), "no profile").expect("a file");
    let mut harness = home(theme);
    press(&mut harness, Modifiers::COMMAND, Key::M);
    enter(&mut harness, "Directory", &directory.display().to_string());
    wait_for(&mut harness, "Best that fits:");
    settle(&mut harness);
    harness
}

#[test]
fn a_sweep_finds_the_best_and_opens_and_compares() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = sweep(Theme::Light, directory.path());
    assert_text(&harness, "of 10 runs fit");
    assert_text(&harness, "Best that fits: batch 16 at ");
    assert_text(&harness, "1 could not be read");
    let best = texts(&harness).into_iter().find(|text| text.contains("fastest that fits"));
    let best = best.expect("a cell");
    assert!(best.contains("batch_size 16"), "{best}");
    harness.get_by_label(&best).click();
    settle(&mut harness);
    let other = texts(&harness)
        .into_iter()
        .find(|text| text.contains("batch_size 4") && text.contains("Samples per second"));
    let other = other.expect("another cell");
    let at = harness.get_by_label(&other).rect().center();
    crate::support::click_at(&mut harness, at, Modifiers::SHIFT);
    assert_text(&harness, " → ");
    harness.get_by_label("Compare the selected runs").click();
    harness.run_steps(2);
    wait_for(&mut harness, "Swap source and target");
}

#[test]
fn columns_are_as_wide_as_their_content_until_they_are_dragged() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = sweep(Theme::Light, directory.path());
    let left = |harness: &Harness<'_, App>| harness.get_by_label("Sort by Verdict").rect().left();
    let before = left(&harness);
    let row = harness.get_by_role_and_label(Role::Row, "batch-16-amp-0.35").rect();
    assert!(before - row.left() < 220.0, "numbers stand beside their names: {before}");
    let handle = harness.get_by_label("Width of Run").rect().center();
    harness.drag_at(handle);
    harness.run_steps(2);
    harness.hover_at(handle + Vec2::new(40.0, 0.0));
    harness.run_steps(2);
    harness.drop_at(handle + Vec2::new(40.0, 0.0));
    harness.run_steps(3);
    assert!((left(&harness) - before - 40.0).abs() < 8.0, "{before} and {}", left(&harness));
    assert_text(&harness, "of the limit");
    assert_text(&harness, "best ★");
}

#[test]
fn curves_of_a_sweep_show_the_figure_that_their_axis_names() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = sweep(Theme::Light, directory.path());
    let curves = "a curve each for batch_size 4, batch_size 8, batch_size 16";
    let shown = |harness: &Harness<'_, App>, figure: &str| {
        texts(harness).into_iter().find(|text| text.starts_with(figure) && text.contains(curves))
    };
    let name = shown(&harness, "Samples per second (by cycles) by ").expect("curves of throughput");
    assert!(!name.contains("limit"), "{name}");
    crate::support::choose(&mut harness, "Figure", "Fullest tile, including gaps");
    let name = shown(&harness, "Fullest tile, including gaps by ").expect("curves of tiles");
    assert!(name.ends_with("with the limit"), "{name}");
    crate::support::choose(&mut harness, "Figure", "batch_size");
    assert!(shown(&harness, "Samples per second").is_none(), "a number of app.json");
    assert_text(&harness, "batch_size by ");
    let name = texts(&harness).into_iter().find(|text| text.contains("no other is better"));
    assert!(name.expect("a picture").contains("batch_size 16"));
}

#[test]
fn a_sweep_says_by_how_much_a_cell_is_over_and_is_remembered_on_the_home_page() {
    let (directory, settings) =
        (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let folder = directory.path().join("batches");
    for batch in [4, 24] {
        for proportion in [0.35, 0.8] {
            write(&folder, batch, proportion);
        }
    }
    let lost = folder.join("lost");
    std::fs::create_dir(&lost).expect("a directory");
    std::fs::write(
        lost.join("app.json"),
        r#"{"batch_size": 8, "available_memory_proportion": 0.8}"#,
    )
    .expect("a file");
    let mut harness = window(Theme::Light, |ctx| {
        App::new(ctx, None).with_settings(ctx, settings.path().to_owned())
    });
    press(&mut harness, Modifiers::COMMAND, Key::M);
    enter(&mut harness, "Directory", &folder.display().to_string());
    wait_for(&mut harness, "Best that fits:");
    settle(&mut harness);
    assert_text(&harness, "1 left no report");
    assert_text(&harness, "over the limit");
    assert!(
        texts(&harness).iter().any(|text| text.ends_with(", no report")),
        "{:#?}",
        texts(&harness)
    );
    drop(harness);
    let mut harness = window(Theme::Light, |ctx| {
        App::new(ctx, None).with_settings(ctx, settings.path().to_owned())
    });
    wait_for(&mut harness, "Recent sweeps");
    crate::support::click(&mut harness, "Open sweep batches");
    wait_for(&mut harness, "Best that fits:");
}

#[test]
fn a_directory_without_reports_says_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = home(Theme::Light);
    press(&mut harness, Modifiers::COMMAND, Key::M);
    assert_text(&harness, "Open a directory of runs");
    enter(&mut harness, "Directory", &directory.path().display().to_string());
    wait_for(&mut harness, "The directory could not be read");
}

#[test]
fn explained_errors_look_as_they_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        let mut harness = explained(theme);
        harness.snapshot(format!("diagnose-{theme:?}").to_lowercase());
        results.extend_harness(&mut harness);
    }
}

#[test]
fn an_open_report_says_what_it_has_of_a_message() {
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_profiles/tiny");
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, tiny));
    settle(&mut harness);
    press(&mut harness, Modifiers::COMMAND, Key::E);
    harness.get_by_label("Error text").focus();
    harness.run_steps(2);
    let text =
        "Out of memory on tile 3: 559952 bytes used but tiles only have 524288 bytes of memory";
    harness.get_by_label("Error text").type_text(text);
    settle(&mut harness);
    assert_text(&harness, "Tile 3 takes 546.8 KiB (559,952 B), as the message says");
    harness.get_by_label("Show tile 3 in Map").click();
    settle(&mut harness);
    assert_eq!(harness.state().page(), Page::Map);
    assert_text(&harness, "Tile 3");
}
