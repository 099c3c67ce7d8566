//! Drives the page Trace through its accessibility tree.

use crate::copies::{copy_into, sample_named};
use crate::support::{
    SIZES, assert_texts, click, click_at, copied, has_text, is_enabled, open_tab, press, settle,
    texts, type_into, window_on, window_sized,
};
use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers, PointerButton, Pos2, Theme, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use std::sync::Arc;
use tilescope::analysis::execution::Executed;
use tilescope::analysis::execution::statistics::{StatisticsQuery, statistics};
use tilescope::analysis::execution::sums::SpanSums;
use tilescope::format::Progress;
use tilescope::store::Report;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::text::grouped;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

const PICTURE: &str = "Execution trace";

fn read(name: &str) -> Arc<Report> {
    let progress = Progress::default();
    let open = OpenReport::find(&sample_named(name)).expect("a report");
    open.read_all(&progress, |_| Vec::new()).expect("its tables");
    Arc::clone(&open.report)
}

fn page(name: &str) -> Harness<'static, App> {
    let report = read(name);
    let mut harness = window_sized(Theme::Light, SIZES[1], |ctx| App::with_runs(ctx, vec![report]));
    harness.state_mut().go(Page::Trace);
    settle(&mut harness);
    harness
}

fn value(harness: &Harness<'_, App>, name: &str) -> String {
    harness.get_by_label(name).value().unwrap_or_default()
}

fn click_kind(harness: &mut Harness<'_, App>, kind: &str) {
    harness.get_by_role_and_label(Role::CheckBox, kind).click();
    settle(harness);
}

/// Drags from one place to another.
fn drag(harness: &mut Harness<'_, App>, [from, to]: [Pos2; 2]) {
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    harness.event(Event::PointerMoved(from));
    harness.event(button(from, true));
    harness.step();
    for share in [0.3, 0.7, 1.0] {
        harness.event(Event::PointerMoved(from + (to - from) * share));
        harness.step();
    }
    harness.event(button(to, false));
    settle(harness);
}

/// What stands beside the name of a fact.
fn fact(harness: &Harness<'_, App>, name: &str) -> String {
    let all = texts(harness);
    let at = all.iter().position(|text| text == name);
    let at = at.unwrap_or_else(|| panic!("{name:?} in {all:#?}"));
    all.iter().skip(at + 1).find(|text| *text != name).cloned().unwrap_or_default()
}

#[test]
fn a_match_is_gone_to_and_marked_in_trace_and_liveness() {
    let mut harness = page("pair-0.6");
    assert_eq!(value(&harness, PICTURE), "172 steps");
    type_into(&mut harness, "Find steps", "no such thing");
    settle(&mut harness);
    assert!(has_text(&harness, "No step matches"), "{:#?}", texts(&harness));
    type_into(&mut harness, "Find steps", "Convolve");
    settle(&mut harness);
    assert!(has_text(&harness, "steps match"), "{:#?}", texts(&harness));
    click(&mut harness, "Next match");
    assert!(has_text(&harness, "1 of "), "{:#?}", texts(&harness));
    let first = value(&harness, PICTURE);
    assert!(first.contains("/Convolve"), "{first}");
    click(&mut harness, "Next match");
    let second = value(&harness, PICTURE);
    assert!(second != first && second.contains("Convolve"), "{second}");
    click(&mut harness, "Previous match");
    assert_eq!(value(&harness, PICTURE), first);
    // It ran in both runs, or oftener.
    let marked = first.rsplit_once("; ").expect("marks").1.trim_end_matches(" spans marked");
    assert!(marked.parse::<usize>().expect("a number") >= 2, "{first}");
    let step = fact(&harness, "Step in Liveness");
    click(&mut harness, "Show in Liveness");
    let curve = value(&harness, "Liveness curve");
    assert!(curve.starts_with(&format!("step {step}, ")), "{curve}");
    assert!(has_text(&harness, "Selected step"));
    // The other way round: what is selected there is marked here.
    let rect = harness.get_by_label("Liveness curve").rect();
    let at = rect.left_center() + Vec2::new(rect.width() * 0.5, 0.0);
    crate::support::click_at(&mut harness, at, Modifiers::NONE);
    harness.state_mut().go(Page::Trace);
    settle(&mut harness);
    assert!(value(&harness, PICTURE).contains("marked"), "{}", value(&harness, PICTURE));
}

#[test]
fn a_range_is_selected_and_its_statistics_are_read() {
    let mut harness = page("pair-0.6");
    let report = read("pair-0.6");
    report.read_trace(&Progress::default());
    let executed = Executed::of(&report).unwrap();
    let cycles = executed.cycles().unwrap();
    assert!(has_text(&harness, "Whole trace"));
    let asked = StatisticsQuery { cycles: cycles.clone(), device: None, hidden: Vec::new() };
    let sums = SpanSums::of(executed, &Progress::default()).unwrap();
    for kind in statistics(executed, &sums, &asked).kinds {
        let shown = fact(&harness, &kind.kind);
        let is_it = |text: &String| text.starts_with(&format!("{} · ", grouped(kind.cycles)));
        assert!(texts(&harness).iter().any(is_it), "{} of {}: {shown}", kind.cycles, kind.kind);
    }
    // Along the axis, which is on top.
    let rect = harness.get_by_label(PICTURE).rect();
    let at = |share: f32| {
        Pos2::new(rect.left() + 84.0 + (rect.width() - 84.0) * share, rect.top() + 8.0)
    };
    drag(&mut harness, [at(0.25), at(0.75)]);
    assert!(has_text(&harness, "Selected range"), "{:#?}", texts(&harness));
    let length = fact(&harness, "Length").replace([',', ' '], "").replace("cycles", "");
    let length: f64 = length.parse().unwrap();
    let whole = (cycles.end - cycles.start) as f64;
    assert!((length / whole - 0.5).abs() < 0.02, "{length} of {whole}");
    click(&mut harness, "Clear the selected range");
    assert!(has_text(&harness, "Whole trace"));
}

#[test]
fn a_hidden_kind_is_named_where_the_statistics_leave_it_out() {
    let mut harness = page("pair-0.6");
    assert!(!has_text(&harness, "Hidden, and left out here"));
    click_kind(&mut harness, "StreamCopyBegin");
    assert!(has_text(&harness, "Hidden, and left out here"), "{:#?}", texts(&harness));
    click_kind(&mut harness, "SyncAns");
    assert!(has_text(&harness, "StreamCopyBegin, SyncAns"), "{:#?}", texts(&harness));
    click_kind(&mut harness, "StreamCopyBegin");
    click_kind(&mut harness, "SyncAns");
    assert!(!has_text(&harness, "Hidden, and left out here"));
}

#[test]
fn the_axis_is_in_time_and_steps_are_nested_as_is_wanted() {
    let mut harness = page("pair-0.6");
    assert!(fact(&harness, "Length").ends_with(" cycles"));
    click(&mut harness, "Time");
    assert!(fact(&harness, "Length").ends_with("ms"), "{}", fact(&harness, "Length"));
    for nesting in ["Layers", "Flat", "Names"] {
        click(&mut harness, nesting);
        assert!(has_text(&harness, PICTURE));
    }
    click(&mut harness, "Tiles");
    click(&mut harness, "Tiles");
    click(&mut harness, "Next slow step");
    assert!(has_text(&harness, "Slow, and memory is near its peak here"), "{:#?}", texts(&harness));
}

#[test]
fn the_table_of_kinds_is_of_the_range_and_the_slow_steps_are_gone_to() {
    let mut harness = page("pair-0.6");
    let report = read("pair-0.6");
    report.read_trace(&Progress::default());
    let executed = Executed::of(&report).unwrap();
    let cycles = executed.cycles().unwrap();
    let table = copied(&mut harness, "Cycles by kind");
    // Titles of kinds may have a comma in them, so columns are counted from the end.
    let cell = |line: &Vec<String>| line[line.len() - 2].parse::<u64>().unwrap();
    // On one IPU one step comes after the other, so kinds and what is idle fill the whole.
    let sum: u64 = table[1..].iter().map(cell).sum();
    assert_eq!(sum, cycles.end - cycles.start, "{table:?}");
    assert!(table[1..].iter().any(|line| line[0] == "No step"));
    click_kind(&mut harness, "SyncAns");
    let without = copied(&mut harness, "Cycles by kind");
    assert_eq!(without.len(), table.len() - 1, "a hidden kind is left out");
    click_kind(&mut harness, "SyncAns");

    open_tab(&mut harness, "Slow steps");
    let slow = copied(&mut harness, "Slow steps");
    let column = |title: &str| slow[0].iter().position(|it| it.starts_with(title)).unwrap();
    let of_slow: u64 =
        slow[1..].iter().map(|line| line[column("Cycles")].parse::<u64>().unwrap()).sum();
    assert!(slow.len() > 1 && of_slow > 0);
    assert!(slow[1..].iter().any(|line| line[column("Near the peak")] == "yes"), "{slow:?}");
    let longest = &slow[1];
    let row = harness.get_all_by_role_and_label(Role::Row, &longest[0]);
    let rect = row.into_iter().next().expect("a row").rect();
    click_at(&mut harness, rect.left_center() + Vec2::new(30.0, 0.0), Modifiers::NONE);
    settle(&mut harness);
    let chosen = value(&harness, PICTURE);
    let expected = format!("Step {} ", grouped(longest[column("Step")].parse().unwrap()));
    assert!(chosen.starts_with(&expected), "{chosen}, not {expected}");
    click(&mut harness, "Tables");
    assert!(harness.query_by_label("Slow steps").is_none());
}

#[test]
fn tiles_are_zoomed_by_buttons() {
    let mut harness = page("pair-0.6");
    assert!(!is_enabled(&harness, "More tiles") && !is_enabled(&harness, "Show all"));
    click(&mut harness, "Fewer tiles");
    assert!(is_enabled(&harness, "More tiles") && is_enabled(&harness, "Show all"));
    click(&mut harness, "More tiles");
    assert!(!is_enabled(&harness, "More tiles"));
    click(&mut harness, "Fewer tiles");
    click(&mut harness, "Show all");
    assert!(!is_enabled(&harness, "More tiles"));
    click(&mut harness, "Tiles");
    assert!(harness.query_by_label("Fewer tiles").is_none());
}

#[test]
fn arrows_pass_over_no_step() {
    let mut harness = page("pair-0.6");
    let report = read("pair-0.6");
    report.read_trace(&Progress::default());
    let executed = Executed::of(&report).unwrap();
    // The headers of runs are no steps, so a click there only gives the focus.
    let rect = harness.get_by_label(PICTURE).rect();
    click_at(&mut harness, rect.left_top() + Vec2::new(400.0, 30.0), Modifiers::NONE);
    settle(&mut harness);
    let mut seen = Vec::new();
    for _ in 0..12 {
        press(&mut harness, Key::ArrowRight);
        settle(&mut harness);
        let text = value(&harness, PICTURE);
        let step = text.strip_prefix("Step ").and_then(|rest| rest.split_once(' '));
        let (step, _) = step.unwrap_or_else(|| panic!("{text}"));
        seen.push(step.replace(',', "").parse::<u32>().unwrap());
    }
    let first = executed.trace.devices[0].rows.clone().take(12);
    let expected: Vec<u32> = first.map(|span| executed.trace.ids[executed.step_of(span)]).collect();
    assert_eq!(seen, expected);
    press(&mut harness, Key::ArrowLeft);
    settle(&mut harness);
    let before = format!("Step {} ", grouped(expected[10].into()));
    assert!(value(&harness, PICTURE).starts_with(&before), "{}", value(&harness, PICTURE));
}

#[test]
fn arrows_go_on_from_a_step_that_is_hidden() {
    let mut harness = page("pair-0.6");
    let report = read("pair-0.6");
    report.read_trace(&Progress::default());
    let executed = Executed::of(&report).unwrap();
    let spans = executed.trace.devices[0].rows.clone();
    let is_of = |span: &usize| executed.trace.kind(executed.step_of(*span)) == "OnTileExecute";
    let step = |span: usize| executed.trace.ids[executed.step_of(span)];
    let shown = |harness: &Harness<'_, App>| value(harness, PICTURE);
    let starts_with =
        |text: &str, span| text.starts_with(&format!("Step {} ", grouped(step(span).into())));
    let focus = |harness: &mut Harness<'_, App>| {
        let rect = harness.get_by_label(PICTURE).rect();
        click_at(harness, rect.left_top() + Vec2::new(400.0, 30.0), Modifiers::NONE);
    };
    // Not the first, so that an end of the lane would be told apart.
    let chosen = spans.clone().filter(is_of).nth(2).unwrap();
    focus(&mut harness);
    for _ in spans.start..=chosen {
        press(&mut harness, Key::ArrowRight);
    }
    assert!(starts_with(&shown(&harness), chosen), "{}", shown(&harness));
    click_kind(&mut harness, "OnTileExecute");
    focus(&mut harness);
    press(&mut harness, Key::ArrowRight);
    let after = spans.clone().find(|span| *span > chosen && !is_of(span)).unwrap();
    assert!(starts_with(&shown(&harness), after), "{}", shown(&harness));
    press(&mut harness, Key::ArrowLeft);
    let before = spans.clone().rev().find(|span| *span < chosen && !is_of(span)).unwrap();
    assert!(starts_with(&shown(&harness), before), "{}", shown(&harness));
}

#[test]
fn of_several_runs_each_has_its_own_share_of_the_range() {
    let [first, second] = ["pair-0.6", "pair-0.2"].map(read);
    let mut harness =
        window_sized(Theme::Light, SIZES[1], |ctx| App::with_runs(ctx, vec![first, second]));
    harness.state_mut().go(Page::Trace);
    settle(&mut harness);
    let table = copied(&mut harness, "Cycles by kind");
    let (share, run) = (table[0].len() - 1, table[0].len() - 2);
    assert_eq!((&*table[0][share], &*table[0][run]), ("Of the range (%)", "Run"));
    let sums = ["Source", "Target"].map(|title| -> (f64, u64) {
        let of_run: Vec<_> =
            table[1..].iter().filter(|line| line[line.len() - 2] == title).collect();
        let share = |line: &&Vec<String>| line[line.len() - 1].parse::<f64>().unwrap();
        let cycles = |line: &&Vec<String>| line[line.len() - 4].parse::<u64>().unwrap();
        (of_run.iter().map(share).sum(), of_run.iter().map(cycles).sum())
    });
    assert_ne!(sums[0].1, sums[1].1, "they took a different time");
    // On one IPU one step comes after the other, so kinds and what is idle fill the whole of each.
    assert!(sums.iter().all(|(share, _)| (share - 100.0).abs() < 1.0), "{sums:?}");
}

#[test]
fn what_was_chosen_of_the_steps_that_were_is_not_chosen_of_those_that_are() {
    let directory = tempfile::tempdir().unwrap();
    copy_into(&sample_named("pair-0.6"), directory.path());
    let path = directory.path().to_owned();
    let mut harness = window_sized(Theme::Light, SIZES[1], |ctx| App::open(ctx, path));
    harness.state_mut().go(Page::Trace);
    settle(&mut harness);
    click(&mut harness, "Next slow step");
    assert!(value(&harness, PICTURE).starts_with("Step "), "{}", value(&harness, PICTURE));
    // In its place lies another one.
    copy_into(&sample_named("pair-0.2"), directory.path());
    click(&mut harness, "Reload");
    let steps = value(&harness, PICTURE);
    let (count, rest) = steps.split_once(" steps").unwrap_or_else(|| panic!("{steps}"));
    assert!(count.parse::<u32>().is_ok() && !rest.contains("Step "), "{steps}");
    assert!(has_text(&harness, "Click a step to select it"), "{:#?}", texts(&harness));
}

#[test]
fn of_other_runs_no_match_has_a_number_beyond_theirs() {
    let [first, second] = ["pair-0.6", "pair-0.2"].map(read);
    let mut harness =
        window_sized(Theme::Light, SIZES[1], |ctx| App::with_runs(ctx, vec![first, second]));
    harness.state_mut().go(Page::Trace);
    settle(&mut harness);
    type_into(&mut harness, "Find steps", "Convolve");
    settle(&mut harness);
    click(&mut harness, "Previous match");
    let last = texts(&harness).into_iter().find(|text| text.ends_with(" matches")).unwrap();
    let (number, count) = last.trim_end_matches(" matches").split_once(" of ").unwrap();
    assert_eq!(number, count, "the last of both runs");
    click(&mut harness, "End comparison");
    settle(&mut harness);
    assert_texts(&harness, &["steps match"]);
}

#[test]
fn of_several_runs_each_has_its_lanes_and_one_without_says_why() {
    let [with, without] = ["pair-0.6", "does-not-fit"].map(read);
    let mut harness =
        window_sized(Theme::Dark, SIZES[0], |ctx| App::with_runs(ctx, vec![with, without]));
    harness.state_mut().go(Page::Trace);
    settle(&mut harness);
    assert!(has_text(&harness, "Execution trace of the source"), "{:#?}", texts(&harness));
    assert!(has_text(&harness, "autoReport.outputExecutionProfile"), "{:#?}", texts(&harness));
    let [first, second] = ["pair-0.6", "pair-0.2"].map(read);
    let mut harness =
        window_sized(Theme::Dark, SIZES[0], |ctx| App::with_runs(ctx, vec![first, second]));
    harness.state_mut().go(Page::Trace);
    settle(&mut harness);
    for name in ["Execution trace of the source", "Execution trace of the target"] {
        assert!(value(&harness, name).ends_with("steps"), "{name}");
    }
}

#[test]
fn without_execution_the_page_says_what_records_it() {
    let report = OpenReport::open(&sample_named("tiny"), &Progress::default()).unwrap();
    let report = Arc::into_inner(report.report).map_or_else(|| read("tiny"), Arc::new);
    let absence = report.execution.absence().expect("a reason").to_string();
    assert!(absence.contains("autoReport.outputExecutionProfile"), "{absence}");
    let mut harness = window_sized(Theme::Light, SIZES[0], |ctx| App::with_runs(ctx, vec![report]));
    harness.state_mut().go(Page::Trace);
    settle(&mut harness);
    assert!(has_text(&harness, "autoReport.outputExecutionProfile"), "{:#?}", texts(&harness));
    // One without any files behind it says so, too, and does not wait for ever.
    let mut harness = window_on(Theme::Light, Report::new("r".into()));
    harness.state_mut().go(Page::Trace);
    settle(&mut harness);
}

#[test]
fn the_page_is_there_where_only_the_reference_did_not_run() {
    let runs = ["does-not-fit", "pair-0.6"].map(read).into();
    let mut harness = window_sized(Theme::Light, SIZES[1], |ctx| App::with_runs(ctx, runs));
    assert!(is_enabled(&harness, "Trace"));
    harness.state_mut().go(Page::Trace);
    settle(&mut harness);
    let said = texts(&harness).into_iter().find(|text| text.contains(" steps in "));
    assert!(said.as_ref().is_some_and(|said| said.starts_with("Target: ")), "{said:?}");
    assert!(has_text(&harness, "near the peak, in all runs"), "{:#?}", texts(&harness));
    let did_not_run = vec![read("does-not-fit")];
    let harness = window_sized(Theme::Light, SIZES[1], |ctx| App::with_runs(ctx, did_not_run));
    assert!(!is_enabled(&harness, "Trace"));
}
