//! Drives the palette: what a text names, what lies beside the open report, and the field for a path.

use std::path::Path;

use crate::copies::sample_named;
use crate::report;
use crate::support::{
    assert_text, click, has_text, press, settle, texts, wait_for, wait_until_gone, window,
    window_on,
};
use eframe::egui::{Key, Modifiers, Theme};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tilescope::ui::app::App;

/// Copies of samples side by side.
fn beside(directory: &Path, names: &[(&str, &str)]) {
    for (name, from) in names {
        let to = directory.join(name);
        std::fs::create_dir_all(&to).expect("a directory");
        for file in ["profile.pop", "debug.cbor", "app.json"] {
            if sample_named(from).join(file).is_file() {
                std::fs::copy(sample_named(from).join(file), to.join(file)).expect("a copy");
            }
        }
    }
}

fn keys(harness: &mut Harness<'_, App>, key: Key) {
    harness.key_press_modifiers(Modifiers::COMMAND, key);
    harness.run_steps(3);
}

/// Types into the palette, or into the field for a path.
fn type_into(harness: &mut Harness<'_, App>, field: &str, text: &str) {
    harness.get_by_label(field).type_text(text);
    harness.run_steps(3);
}

#[test]
fn the_palette_takes_tiles_and_a_step_and_goes_where_they_are() {
    let mut harness = window_on(Theme::Light, report::small());
    keys(&mut harness, Key::P);
    type_into(&mut harness, "Command", "step 82");
    assert_text(&harness, "Select step 82 on Liveness");
    press(&mut harness, Key::Enter);
    assert_text(&harness, "Selected: step 82");
    assert!(has_text(&harness, "Liveness curve"), "{:#?}", texts(&harness));
    for (text, expected) in
        [("tile 39", "Deselect tile 39"), ("tiles 0-15,42", "Deselect 17 tiles")]
    {
        keys(&mut harness, Key::P);
        type_into(&mut harness, "Command", text);
        press(&mut harness, Key::Enter);
        assert_text(&harness, expected);
        assert_text(&harness, "Memory over tiles");
    }
    keys(&mut harness, Key::P);
    type_into(&mut harness, "Command", "tile 999999");
    assert_text(&harness, "is not in the report");
    press(&mut harness, Key::Enter);
    assert!(harness.query_by_label("Command").is_some(), "what cannot be done is not done");
}

#[test]
fn the_palette_finds_a_variable_by_its_name_and_selects_it() {
    let mut harness = window_on(Theme::Light, report::small());
    keys(&mut harness, Key::P);
    type_into(&mut harness, "Command", "WEIGHTS");
    wait_for(&mut harness, "Select variable ");
    let entry = texts(&harness).into_iter().find(|text| text.starts_with("Select variable "));
    let entry = entry.expect("an entry");
    let name = entry["Select variable ".len()..].to_owned();
    assert!(name.to_lowercase().contains("weights"), "{name}");
    click(&mut harness, &entry);
    assert!(harness.query_by_label("Command").is_none());
    assert!(has_text(&harness, "Liveness curve"), "{:#?}", texts(&harness));
    assert_text(&harness, "Deselect variable");
}

#[test]
fn the_palette_takes_a_path_and_opens_or_adds_the_report_there() {
    let mut harness = window_on(Theme::Light, report::small());
    keys(&mut harness, Key::P);
    let path = sample_named("tiny").display().to_string();
    type_into(&mut harness, "Command", &path);
    assert_text(&harness, &format!("Compare with {path}"));
    press(&mut harness, Key::Enter);
    wait_for(&mut harness, "tiny");
    assert!(!has_text(&harness, "Swap source and target"), "it was opened instead of the other");
    keys(&mut harness, Key::P);
    type_into(&mut harness, "Command", &sample_named("pair-0.6").display().to_string());
    press(&mut harness, Key::ArrowDown);
    press(&mut harness, Key::Enter);
    wait_for(&mut harness, "Swap source and target");
}

#[test]
fn reports_beside_the_open_one_are_listed_with_their_verdict_to_open_or_to_add() {
    let directory = tempfile::tempdir().expect("a directory");
    let names = [("first", "tiny"), ("over", "does-not-fit"), ("second", "tiny")];
    beside(directory.path(), &names);
    std::fs::create_dir(directory.path().join("broken")).expect("a directory");
    std::fs::write(directory.path().join("broken/profile.pop"), "no profile").expect("a file");
    let path = directory.path().join("first");
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, path));
    keys(&mut harness, Key::P);
    wait_for(&mut harness, "Open second: fits");
    for text in ["Open over: does not fit, ", "Compare with second: fits", "Open broken: cannot be"]
    {
        assert_text(&harness, text);
    }
    assert!(!has_text(&harness, "Open first"), "{:#?}", texts(&harness));
    type_into(&mut harness, "Command", "compare with second");
    press(&mut harness, Key::Enter);
    wait_for(&mut harness, "Swap source and target");
    settle(&mut harness);
    keys(&mut harness, Key::O);
    wait_for(&mut harness, "Open over: does not fit, ");
    assert!(!has_text(&harness, "Open second: fits"), "it is open by now");
}

#[test]
fn open_compare_and_log_have_the_same_field_for_a_path() {
    let directory = tempfile::tempdir().expect("a directory");
    beside(directory.path(), &[("a", "tiny"), ("b", "tiny")]);
    let path = |name: &str| directory.path().join(name).display().to_string();
    let mut harness = window(Theme::Light, |ctx| App::new(ctx, None));
    keys(&mut harness, Key::O);
    type_into(&mut harness, "Path of the run", &path("a"));
    press(&mut harness, Key::Enter);
    wait_for(&mut harness, "Memory used: ");
    wait_until_gone(&mut harness, "Path of the run");
    keys(&mut harness, Key::D);
    assert_text(&harness, "Compare with another run");
    assert!(has_text(&harness, "Browse…"), "the system's dialog is a click away");
    type_into(&mut harness, "Path of the run", &path("b"));
    press(&mut harness, Key::Enter);
    wait_for(&mut harness, "Swap source and target");
    let log = directory.path().join("any name");
    std::fs::write(
        &log,
        "Out of memory on tile 7: 700000 bytes used but tiles only have 638976 bytes of memory\n",
    )
    .expect("a file");
    keys(&mut harness, Key::E);
    settle(&mut harness);
    click(&mut harness, "Open log…");
    type_into(&mut harness, "Path of the log", &log.display().to_string());
    press(&mut harness, Key::Enter);
    wait_for(&mut harness, "A tile is out of memory");
}

#[test]
fn a_choice_of_several_reports_says_verdict_size_and_date_and_opens_all_in_a_sweep() {
    let directory = tempfile::tempdir().expect("a directory");
    beside(directory.path(), &[("first", "tiny"), ("over", "does-not-fit")]);
    let path = directory.path().to_owned();
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, path));
    wait_for(&mut harness, "Which run?");
    wait_for(&mut harness, "does not fit, ");
    let all = texts(&harness);
    assert!(all.iter().any(|text| text == "fits"), "{all:#?}");
    assert!(all.iter().any(|text| text.ends_with("KiB")), "sizes: {all:#?}");
    let is_date = |text: &&String| text.starts_with("20") && text.contains(':');
    assert!(all.iter().filter(is_date).count() >= 2, "dates: {all:#?}");
    click(&mut harness, "Open all in a sweep");
    wait_for(&mut harness, "of 2 runs fit");
}

#[test]
fn all_reports_of_a_choice_are_compared_with_one_click() {
    let directory = tempfile::tempdir().expect("a directory");
    beside(directory.path(), &[("first", "tiny"), ("over", "does-not-fit")]);
    let path = directory.path().to_owned();
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, path));
    wait_for(&mut harness, "Compare all 2");
    click(&mut harness, "Compare all 2");
    settle(&mut harness);
    wait_for(&mut harness, "Only A, first, fits");
}

#[test]
fn a_log_from_anywhere_is_added_to_the_open_report_and_counts_for_advice() {
    let (directory, elsewhere) =
        (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    beside(directory.path(), &[("over", "does-not-fit")]);
    let log = elsewhere.path().join("job 17.txt");
    let line = "2031-05-04T01:02:03.000002Z PL:POPLIN    7.7 W: Warning: convolution planner unable \
                to meet memory target. Optimizing for minimum memory...\n";
    std::fs::write(&log, line.repeat(3)).expect("a file");
    let path = directory.path().join("over");
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, path));
    settle(&mut harness);
    keys(&mut harness, Key::Num3);
    settle(&mut harness);
    assert!(!has_text(&harness, "minimum memory"), "{:#?}", texts(&harness));
    keys(&mut harness, Key::P);
    type_into(&mut harness, "Command", "add a log");
    press(&mut harness, Key::Enter);
    type_into(&mut harness, "Path of the log", &log.display().to_string());
    press(&mut harness, Key::Enter);
    settle(&mut harness);
    wait_for(&mut harness, "minimum memory");
    // Reading it again keeps the log.
    keys(&mut harness, Key::R);
    settle(&mut harness);
    wait_for(&mut harness, "minimum memory");
}

#[test]
fn the_palette_finds_an_operation_and_the_way_back_leads_to_the_page_before() {
    let mut harness = window_on(Theme::Light, report::small());
    keys(&mut harness, Key::P);
    type_into(&mut harness, "Command", "step 82");
    press(&mut harness, Key::Enter);
    assert_text(&harness, "Selected: step 82");
    keys(&mut harness, Key::P);
    type_into(&mut harness, "Command", "LAYER1/CONV");
    wait_for(&mut harness, "Select operation layer1/conv");
    click(&mut harness, "Select operation layer1/conv");
    assert_text(&harness, "Cycles against memory");
    harness.key_press_modifiers(Modifiers::ALT, Key::ArrowLeft);
    settle(&mut harness);
    assert_text(&harness, "Liveness curve");
    assert_text(&harness, "Selected: step 82");
    harness.key_press_modifiers(Modifiers::ALT, Key::ArrowRight);
    settle(&mut harness);
    assert_text(&harness, "Cycles against memory");
}
