//! The window with a system that only the tests have: its pages are those of all systems, in its words.

use std::path::Path;

use eframe::egui::Theme;
use eframe::egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tilescope::systems::{SYSTEMS, use_for_process};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

use crate::support::{
    assert_text, assert_texts, copied, hover_share, line, open_tab, settle, texts, wait_for, window,
};
use crate::toy_system::{Toy, file};

/// A window on some of these runs, which lie in a directory.
fn open(directory: &Path, names: &[&str]) -> Harness<'static, App> {
    // The tests share their process, and no other has files of this system.
    use_for_process(SYSTEMS.iter().copied().chain([&Toy as _]).collect());
    for (name, batch, hidden) in [("small.toy", 8, 2000), ("large.toy", 16, 4000)] {
        std::fs::write(directory.join(name), file(batch, hidden)).expect("a file");
    }
    let paths: Vec<_> = names.iter().map(|name| directory.join(name)).collect();
    window(Theme::Light, |ctx| {
        App::with_loads(ctx, paths.into_iter().map(|path| Load::start(path, ctx)).collect())
    })
}

fn go(harness: &mut Harness<'_, App>, page: Page) {
    harness.state_mut().go(page);
    settle(harness);
    let words = ["tile", "tiles", "ipu", "ipus", "poplar", "poplibs", "gpu"];
    for text in texts(harness) {
        let lower = text.to_lowercase();
        let mut found = lower.split(|letter: char| !letter.is_alphanumeric());
        assert!(!found.any(|word| words.contains(&word)), "{text:?}");
    }
}

#[test]
fn the_pages_of_a_run_say_its_figures_in_its_words() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = open(directory.path(), &["small.toy"]);
    wait_for(&mut harness, "fits");
    go(&mut harness, Page::Overview);
    assert_texts(&harness, &["Fits", "alive up to 3.42 KiB, 596 B below", "small.toy"]);
    go(&mut harness, Page::Insights);
    assert_text(&harness, "The peak is 3500 B, and the chip has 4096 B");
    go(&mut harness, Page::Summary);
    assert_texts(&harness, &["Chip 0", "batch", "(3,500 B)"]);
    go(&mut harness, Page::Liveness);
    hover_share(&mut harness, "Liveness curve", 0.4);
    settle(&mut harness);
    assert_texts(&harness, &["hidden", "All chips"]);
    go(&mut harness, Page::Map);
    assert_text(&harness, "bank of Chip 0");
    open_tab(&mut harness, "One bank");
    open_tab(&mut harness, "Variables");
    let variables = copied(&mut harness, "Variables of the bank");
    assert_eq!(variables.len(), 1 + 4, "{variables:?}");
    assert!(line(&variables, "hidden").contains(&"2000".to_owned()), "{variables:?}");
    harness.get_by_role_and_label(Role::Canvas, "Memory map of a bank");
    for page in [Page::Memory, Page::Operations, Page::Programs, Page::Trace] {
        go(&mut harness, page);
    }
}

#[test]
fn two_runs_are_compared_on_their_page_and_beside_each_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = open(directory.path(), &["small.toy", "large.toy"]);
    wait_for(&mut harness, "large");
    go(&mut harness, Page::Comparison);
    open_tab(&mut harness, "By operation and variable");
    assert_texts(&harness, &["hidden", "weights"]);
    for page in [Page::Overview, Page::Summary, Page::Insights, Page::Liveness, Page::Map] {
        go(&mut harness, page);
    }
}

#[test]
fn a_run_is_compared_with_itself() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = open(directory.path(), &["small.toy", "small.toy"]);
    settle(&mut harness);
    go(&mut harness, Page::Comparison);
    open_tab(&mut harness, "By operation and variable");
    assert_text(&harness, "hidden");
}

#[test]
fn a_directory_of_runs_is_a_sweep() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = open(directory.path(), &["."]);
    wait_for(&mut harness, "large.toy");
    assert_texts(&harness, &["small.toy", "batch", "does not fit"]);
}
