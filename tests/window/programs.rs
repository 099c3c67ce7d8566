//! Drives the page of programs through its accessibility tree.

use std::path::Path;
use std::sync::Arc;

use crate::support::{
    SIZES, assert_text, assert_texts, choose, click, copied, has_text, is_enabled, press, settle,
    texts, type_into, window_sized,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use tilescope::format::Progress;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

/// A report whose layers are functions.
fn report() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let options = ReportOptions { functions: true, execution: true, ..ReportOptions::default() };
    write_report(&options, directory.path(), &Progress::default()).expect("a report");
    directory
}

fn page_of(theme: Theme, size: Vec2, paths: &[&Path]) -> Harness<'static, App> {
    let mut harness = window_sized(theme, size, |ctx| {
        let load = |path: &&Path| Load::start(path.to_path_buf(), ctx);
        App::with_loads(ctx, paths.iter().map(load).collect())
    });
    harness.state_mut().go(Page::Programs);
    settle(&mut harness);
    harness
}

fn page(directory: &Path) -> Harness<'static, App> {
    page_of(Theme::Light, Vec2::new(1440.0, 900.0), &[directory])
}

/// The rows of the tree in sight.
fn rows(harness: &Harness<'_, App>) -> Vec<String> {
    let rows = harness.query_all_by_role(Role::Row);
    rows.filter_map(|row| row.accesskit_node().label()).collect()
}

/// The row that is selected.
fn selected(harness: &Harness<'_, App>) -> String {
    let rows = harness.query_all_by_role(Role::Row);
    let selected = rows.map(|row| row.accesskit_node()).find(|node| {
        node.is_selected() == Some(true)
            || node.toggled() == Some(eframe::egui::accesskit::Toggled::True)
    });
    selected.and_then(|node| node.label()).unwrap_or_default()
}

fn search(harness: &mut Harness<'_, App>, text: &str) {
    type_into(harness, "Search programs", text);
}

#[test]
fn search_counts_and_steps_through_what_it_finds() {
    let directory = report();
    let mut harness = page(directory.path());
    assert_texts(&harness, &["Control programs (1)", "Functions ("]);
    search(&mut harness, "convolution");
    let count = texts(&harness).into_iter().find(|text| text.ends_with(" programs match"));
    let count = count.expect("a count");
    let of: usize = count.split(' ').next().unwrap_or_default().parse().expect("a number");
    assert!(of > 3, "{count}");
    press(&mut harness, Key::Enter);
    assert_text(&harness, &format!("1 of {of} matches"));
    let first = selected(&harness);
    assert!(!first.is_empty(), "{:#?}", rows(&harness));
    press(&mut harness, Key::Enter);
    assert_text(&harness, &format!("2 of {of} matches"));
    assert_ne!(selected(&harness), first);
    harness.key_press_modifiers(Modifiers::SHIFT, Key::Enter);
    settle(&mut harness);
    assert_eq!(selected(&harness), first);
    click(&mut harness, "Previous match");
    assert_text(&harness, &format!("{of} of {of} matches"));
    click(&mut harness, "Next match");
    assert_eq!(selected(&harness), first, "around the end");
    search(&mut harness, "availableMemoryProportion=0.6");
    assert!(has_text(&harness, "matches") || has_text(&harness, "programs match"));
    search(&mut harness, "availableMemoryProportion=0.8");
    assert_text(&harness, "No program matches");
    assert!(!is_enabled(&harness, "Next match"));
}

#[test]
fn the_highest_match_has_its_options_and_its_step_in_liveness() {
    let directory = report();
    let mut harness = page(directory.path());
    search(&mut harness, "convolution");
    let highest = texts(&harness).into_iter().find(|text| text.starts_with("Highest: step "));
    click(&mut harness, &highest.clone().expect("a highest step"));
    let step = highest.as_deref().and_then(|text| text.split([' ', ',']).nth(2)).expect("a step");
    assert_texts(&harness, &["Operation", "convolution", "availableMemoryProportion", "0.6"]);
    assert_texts(&harness, &["Debug information", "Variables of its operation"]);
    let link = format!("Step {step}");
    click(&mut harness, &link);
    assert_eq!(harness.state().page(), Page::Liveness);
    assert_text(&harness, "Deselect step");
    let value = harness.get_by_label("Liveness curve").value().unwrap_or_default();
    assert!(value.starts_with(&format!("step {step},")), "{value}");
    assert_text(&harness, "Deselect operation");
    // What is selected in Liveness is selected here.
    harness.get_by_label("Liveness curve").focus();
    harness.run_steps(2);
    press(&mut harness, Key::Home);
    harness.state_mut().go(Page::Programs);
    settle(&mut harness);
    assert!(selected(&harness).starts_with("Sequence"), "{}", selected(&harness));
}

/// What a call of the function that all layers call is called.
const CALL: &str = "Call of function 0";

#[test]
fn a_call_leads_to_its_function_and_back() {
    let directory = report();
    let mut harness = page(directory.path());
    let call = rows(&harness).into_iter().find(|row| row.starts_with(CALL)).expect("a call");
    harness.get_all_by_role_and_label(Role::Row, &call).next().expect("a row").click();
    settle(&mut harness);
    click(&mut harness, "Go to function 0");
    assert!(selected(&harness).starts_with("Function 0: Sequence"), "{}", selected(&harness));
    assert_texts(&harness, &["Called by", "Runs at the steps"]);
    click(&mut harness, "← Back");
    assert_eq!(selected(&harness), call);
    assert!(harness.query_by_label("← Back").is_none());
    click(&mut harness, "Go to function 0");
    // From the function to another of its callers.
    let is_caller =
        |text: &String| text.strip_prefix("Call ").is_some_and(|id| id.parse::<u32>().is_ok());
    let callers: Vec<String> = texts(&harness).into_iter().filter(is_caller).collect();
    assert!(callers.len() > 2, "{callers:?}");
    click(&mut harness, callers.last().expect("a caller"));
    let other = selected(&harness);
    assert!(other.starts_with(CALL) && other != call, "{other}");
    assert!(harness.query_by_label("← Back").is_some());
}

#[test]
fn rows_open_close_and_are_gone_through_with_the_keyboard() {
    let directory = report();
    let mut harness = page(directory.path());
    let before = rows(&harness);
    click(&mut harness, "Open all");
    assert!(rows(&harness).len() >= before.len());
    assert!(
        rows(&harness).iter().any(|row| row.starts_with("WriteUndef")) || rows(&harness) != before
    );
    let table = copied(&mut harness, "program tree");
    click(&mut harness, "Close all");
    assert_eq!(rows(&harness), before);
    let closed = copied(&mut harness, "program tree");
    assert!(table.len() > closed.len() && closed.len() > before.len(), "headings, too");
    assert_eq!(table[0][..4], ["Level", "Program", "Kind", "Name"]);
    assert!(table.iter().any(|line| line[2] == "Call" && line[6] == "0"), "{table:#?}");
    harness.get_all_by_role(Role::Row).next().expect("a row").click();
    settle(&mut harness);
    let root = selected(&harness);
    assert_eq!(root, "Sequence");
    press(&mut harness, Key::ArrowDown);
    assert_eq!(selected(&harness), before[1]);
    press(&mut harness, Key::ArrowLeft);
    assert_eq!(selected(&harness), root, "what it lies in");
    press(&mut harness, Key::ArrowLeft);
    assert!(rows(&harness).len() < before.len(), "closed");
    press(&mut harness, Key::ArrowRight);
    assert_eq!(rows(&harness), before);
    press(&mut harness, Key::End);
    assert!(selected(&harness).starts_with("Function"), "{}", selected(&harness));
}

#[test]
fn earlier_compilation_steps_are_chosen_by_name() {
    let directory = report();
    let mut harness = page(directory.path());
    assert!(rows(&harness).iter().any(|row| row.starts_with("Call of function")));
    choose(&mut harness, "Compilation step", "before functions");
    let now = rows(&harness);
    assert!(!now.is_empty() && !now.iter().any(|row| row.starts_with("Call")), "{now:?}");
    harness.get_all_by_role(Role::Row).nth(2).expect("a row").click();
    settle(&mut harness);
    assert_text(&harness, "Steps are those of the final programs");
}

#[test]
fn of_two_runs_the_other_follows() {
    let (first, second) = (report(), report());
    let paths = [first.path(), second.path()];
    let mut harness = page_of(Theme::Light, Vec2::new(1440.0, 900.0), &paths);
    search(&mut harness, "convolution");
    press(&mut harness, Key::Enter);
    let rows = harness.query_all_by_role(Role::Row);
    let selected = rows.filter(|row| {
        let node = row.accesskit_node();
        node.is_selected() == Some(true)
            || node.toggled() == Some(eframe::egui::accesskit::Toggled::True)
    });
    let labels: Vec<String> = selected.filter_map(|row| row.accesskit_node().label()).collect();
    assert_eq!(labels.len(), 2, "{labels:?}");
    assert_eq!(labels[0], labels[1]);
}

fn replace_by_one_without_functions(directory: &Path) {
    let other = tempfile::tempdir().expect("a directory");
    write_report(&ReportOptions::default(), other.path(), &Progress::default()).expect("a report");
    for entry in std::fs::read_dir(other.path()).expect("files") {
        let file = entry.expect("a file");
        std::fs::rename(file.path(), directory.join(file.file_name())).expect("it is replaced");
    }
}

#[test]
fn what_is_open_and_selected_stays_when_a_run_is_read_again() {
    let directory = report();
    let mut harness = page(directory.path());
    let closed = rows(&harness);
    click(&mut harness, "Open all");
    let open = rows(&harness);
    assert_ne!(open, closed);
    harness.get_all_by_role(Role::Row).nth(3).expect("a row").click();
    settle(&mut harness);
    let (chosen, open) = (selected(&harness), rows(&harness));
    assert!(!chosen.is_empty());
    click(&mut harness, "Reload");
    assert_eq!((selected(&harness), rows(&harness)), (chosen, open));
    // Another report in its place: what has the same id stays selected, and the way to it is open.
    replace_by_one_without_functions(directory.path());
    click(&mut harness, "Reload");
    assert!(!selected(&harness).is_empty() && !has_text(&harness, "Functions ("));
    // Of an earlier compilation step that is gone, the final one.
    let directory = report();
    let mut harness = page(directory.path());
    choose(&mut harness, "Compilation step", "before functions");
    replace_by_one_without_functions(directory.path());
    click(&mut harness, "Reload");
    assert!(!rows(&harness).is_empty(), "{:#?}", texts(&harness));
}

#[test]
fn pages_that_are_not_in_sight_do_not_keep_the_report_that_was_read_before() {
    let directory = report();
    let open = OpenReport::find(directory.path()).expect("a report");
    open.read_all(&Progress::default(), |_| Vec::new()).expect("its tables");
    let report = Arc::clone(&open.report);
    drop(open);
    let before = Arc::downgrade(&report);
    let mut harness = window_sized(Theme::Light, Vec2::new(1440.0, 900.0), |ctx| {
        App::with_runs(ctx, vec![report])
    });
    for page in [Page::Programs, Page::Operations, Page::Trace, Page::Summary] {
        harness.state_mut().go(page);
        settle(&mut harness);
    }
    assert!(before.upgrade().is_some());
    click(&mut harness, "Reload");
    assert!(before.upgrade().is_none(), "{} of it are kept", before.strong_count());
}

/// Programs, operations and the steps that ran, each with something chosen.
#[test]
fn pages_of_what_runs_look_as_they_did() {
    let mut results = SnapshotResults::new();
    // The bar at the bottom has the path: as it was opened, so the same on all machines.
    let open = OpenReport::find(Path::new("sample_profiles/pair-0.6")).expect("a report");
    open.read_all(&Progress::default(), |_| Vec::new()).expect("its tables");
    for theme in [Theme::Light, Theme::Dark] {
        let report = Arc::clone(&open.report);
        let mut harness = window_sized(theme, SIZES[0], |ctx| App::with_runs(ctx, vec![report]));
        harness.state_mut().go(Page::Programs);
        settle(&mut harness);
        search(&mut harness, "convolution");
        press(&mut harness, Key::Enter);
        for (page, name) in
            [(Page::Programs, "programs"), (Page::Operations, "operations"), (Page::Trace, "trace")]
        {
            harness.state_mut().go(page);
            settle(&mut harness);
            if page == Page::Trace {
                click(&mut harness, "Next slow step");
            }
            harness.remove_cursor();
            settle(&mut harness);
            harness.snapshot(format!("{name}-{theme:?}").to_lowercase());
            results.extend_harness(&mut harness);
        }
    }
}

#[test]
fn options_and_arguments_of_calls_are_found() {
    let directory = report();
    let mut harness = page(directory.path());
    search(&mut harness, "op=ADD");
    press(&mut harness, Key::Enter);
    assert_text(&harness, "1 of ");
    assert_texts(&harness, &["op", "ADD"]);
    search(&mut harness, "op=MUL");
    assert_text(&harness, "No program matches");
}

#[test]
fn the_page_rests_when_nothing_happens() {
    let directory = report();
    let mut harness = page(directory.path());
    search(&mut harness, "convolution");
    press(&mut harness, Key::Enter);
    harness.remove_cursor();
    settle(&mut harness);
    assert!(harness.run() <= 2, "it repaints without cause");
}
