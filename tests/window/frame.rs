//! Drives the real window through its accessibility tree.

use crate::report;
use std::path::PathBuf;

use crate::support::{has_text, hover_share, settle, texts, wait_for, window, window_on};
use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Theme};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

#[test]
fn the_tooltip_of_the_highest_step_says_what_it_is() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/profiles/poplar-3.3");
    if !path.exists() {
        println!("skipped: ../shared/profiles is absent");
        return;
    }
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, path));
    assert!(has_text(&harness, "All 1,472 tiles fit"), "lands on Memory");
    harness.get_by_label("Liveness").click();
    settle(&mut harness);
    hover_share(&mut harness, "Liveness curve", 107.5 / 111.0);
    settle(&mut harness);
    let texts = texts(&harness);
    // The first is at the pointer, the inspector says the rest.
    for expected in ["Step 107, StreamCopyMid", "742.0 KiB (759,828 B)", "2.58 MiB (2,705,487 B)"] {
        assert!(texts.iter().any(|text| text == expected), "{expected:?} in {texts:#?}");
    }
}

#[test]
fn a_missing_path_is_an_error_with_the_path_in_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("absent");
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, path.clone()));
    wait_for(&mut harness, "The run could not be opened");
    assert!(has_text(&harness, &path.display().to_string()));
    assert!(has_text(&harness, "Check the path"));
    harness.get_by_label("Close").click();
    harness.run_steps(3);
    assert!(!has_text(&harness, "could not be opened"));
    assert!(has_text(&harness, "Open a run"));
}

#[test]
fn several_reports_are_offered() {
    let directory = tempfile::tempdir().expect("a directory");
    for name in ["first", "second"] {
        std::fs::create_dir(directory.path().join(name)).expect("a directory");
        std::fs::write(directory.path().join(name).join("profile.pop"), "no profile")
            .expect("a file");
    }
    let path = directory.path().to_owned();
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, path));
    wait_for(&mut harness, "Which run?");
    harness.get_by_role_and_label(Role::Button, &second_button(&harness)).click();
    harness.run_steps(2);
    settle(&mut harness);
    assert!(!has_text(&harness, "Which run?"), "another error, of the one that was chosen");
    wait_for(&mut harness, "The run could not be opened");
}

/// The name of the button that opens the second report.
fn second_button(harness: &Harness<'_, App>) -> String {
    let nodes = harness.root().children_recursive();
    nodes
        .map(|node| node.accesskit_node())
        .filter(|node| node.role() == Role::Button)
        .filter_map(|node| node.label())
        .find(|label| label.contains("second"))
        .expect("a button for the second report")
}

#[test]
fn a_path_is_entered_and_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = window(Theme::Dark, |ctx| App::new(ctx, None));
    harness.get_by_label("Path").focus();
    harness.run_steps(2);
    harness.get_by_label("Path").type_text(&directory.path().display().to_string());
    harness.run_steps(2);
    harness.get_by_label("Open").click();
    harness.run_steps(2);
    wait_for(&mut harness, "The run could not be opened");
}

#[test]
fn a_spike_names_its_convolution_and_its_proportion() {
    let mut harness = window_on(Theme::Light, report::small());
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    let share = (report::SPIKE as f32 + 0.5) / report::STEPS as f32;
    hover_share(&mut harness, "Liveness curve", share);
    settle(&mut harness);
    let texts = texts(&harness);
    for expected in ["convolution", "0.6", "layer1/conv", "Step 120, OnTileExecute"] {
        assert!(texts.iter().any(|text| text == expected), "{expected:?} in {texts:#?}");
    }
}

#[test]
fn the_filter_counts_and_finds_the_largest_step() {
    let mut harness = window_on(Theme::Light, report::small());
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    harness.get_by_label("Filter steps").focus();
    harness.run_steps(2);
    harness.get_by_label("Filter steps").type_text("CONV");
    harness.run_steps(2);
    wait_for(&mut harness, "of 200 steps match");
    harness.get_by_label_contains("Largest: step 120").click();
    harness.run_steps(3);
    assert!(has_text(&harness, "Selected: step 120, OnTileExecute"));
}

#[test]
fn a_click_selects_a_tile_and_arrows_move_on() {
    let mut harness = window_on(Theme::Light, report::small());
    harness.get_by_label("Memory over tiles").click();
    harness.run_steps(3);
    assert!(has_text(&harness, "Deselect tile 24"));
    harness.get_by_label("Memory over tiles").focus();
    harness.run_steps(2);
    harness.key_press_modifiers(Modifiers::NONE, Key::ArrowRight);
    harness.run_steps(3);
    assert!(has_text(&harness, "Deselect tile 25"));
}

#[test]
fn pages_say_what_a_report_lacks() {
    for (report, expected) in [
        (report::empty(), ["Memory is not in this run", "Liveness is not in this run"]),
        (report::without_rows(), ["No tiles", "No steps"]),
    ] {
        let mut harness = window_on(Theme::Light, report);
        assert!(has_text(&harness, expected[0]), "{:#?}", texts(&harness));
        harness.state_mut().go(Page::Liveness);
        settle(&mut harness);
        assert!(has_text(&harness, expected[1]), "{:#?}", texts(&harness));
        harness.state_mut().go(Page::Summary);
        settle(&mut harness);
    }
}

#[test]
fn odd_reports_are_drawn() {
    for (theme, report) in
        [(Theme::Light, report::one_step_no_limit()), (Theme::Dark, report::hostile_names())]
    {
        let mut harness = window_on(theme, report);
        for page in [Page::Memory, Page::Liveness, Page::Summary] {
            harness.state_mut().go(page);
            settle(&mut harness);
        }
        harness.state_mut().go(Page::Liveness);
        settle(&mut harness);
        hover_share(&mut harness, "Liveness curve", 0.5);
        settle(&mut harness);
        assert!(has_text(&harness, "Not always live at this step"), "{:#?}", texts(&harness));
    }
}

#[test]
fn an_untouched_window_asks_for_no_frame() {
    let mut harness = window_on(Theme::Light, report::small());
    for page in [Page::Memory, Page::Liveness, Page::Summary] {
        harness.state_mut().go(page);
        settle(&mut harness);
        // `run` stops when no repaint is asked for, and fails when that does not come to pass.
        assert!(harness.run() <= 2, "{page:?} repaints without cause");
    }
}
