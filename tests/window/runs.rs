//! Drives what is around the pages where several runs are open: how they are opened, shown, closed.

use std::path::PathBuf;
use std::sync::Arc;

use crate::copies::{copy_into, sample_named};
use crate::report;
use crate::support::{
    choose, click, click_at, copied, drop_on, has_text, open_tab, press, settle, texts, tolerances,
    wait_for, window, window_on, window_sized,
};
use eframe::egui::accesskit::{Role, Toggled};
use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use tilescope::format::Progress;
use tilescope::store::Report;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

const SIX: [&str; 6] = ["amp-0.8", "amp-0.75", "amp-0.6", "amp-0.35", "amp-0.01", "amp-0.005"];
const PAGES: [Page; 5] =
    [Page::Summary, Page::Insights, Page::Memory, Page::Liveness, Page::Comparison];

/// A report with a path of its own, and with bytes of its own on its tiles.
fn named((place, name): (usize, &str)) -> Arc<Report> {
    let mut report = report::small();
    report.path = format!("/reports/{name}").into();
    let mut memory = report.memory.get().cloned().expect("memory");
    for bytes in memory.total.iter_mut().chain(&mut memory.including_gaps).flatten() {
        *bytes -= 100 * place as u64;
    }
    report.memory = tilescope::store::Part::default();
    report.memory.fill(Some(memory));
    Arc::new(report)
}

fn reports(names: &[&str]) -> Vec<Arc<Report>> {
    names.iter().copied().enumerate().map(named).collect()
}

fn open(theme: Theme, names: &[&str]) -> Harness<'static, App> {
    window(theme, |ctx| App::with_runs(ctx, reports(names)))
}

/// Clicks an entry of what can be done with a run.
fn click_in_menu(harness: &mut Harness<'_, App>, run: &str, entry: &str) {
    click(harness, &format!("More for {run}"));
    click(harness, entry);
}

fn show(harness: &mut Harness<'_, App>, page: Page) {
    harness.state_mut().go(page);
    settle(harness);
}

/// The names in the bar, the reference first.
fn in_bar(harness: &Harness<'_, App>) -> Vec<String> {
    let is_name = |text: &String| text.starts_with("More for ");
    let names = texts(harness).into_iter().filter(is_name);
    names.map(|name| name["More for ".len()..].to_owned()).collect()
}

fn is_reference(harness: &Harness<'_, App>, name: &str) -> bool {
    harness.query_by_label(&format!("{name} is the reference")).is_some()
}

#[test]
fn runs_are_hidden_and_shown_one_by_one() {
    let mut harness = open(Theme::Light, &["a", "b", "c"]);
    assert_eq!(in_bar(&harness), ["a", "b", "c"]);
    assert!(is_reference(&harness, "a"));
    assert!(harness.query_by_label("Hide a").is_none(), "the reference is always shown");
    click(&mut harness, "Hide b");
    click(&mut harness, "Hide c");
    for name in ["Show b", "Show c"] {
        assert!(harness.query_by_label(name).is_some(), "{name:?} in {:#?}", texts(&harness));
    }
    show(&mut harness, Page::Memory);
    assert!(harness.query_by_label("Memory over tiles").is_some(), "the reference alone");
    click(&mut harness, "Show b");
    harness.get_by_label("Show c").focus();
    press(&mut harness, Key::Space);
    assert!(harness.query_by_label("Hide c").is_some(), "by the keyboard, too");
    // A run that was hidden is shown when it becomes the reference.
    click(&mut harness, "Hide b");
    click(&mut harness, "Make b the reference");
    assert!(is_reference(&harness, "b"));
    assert_eq!(in_bar(&harness), ["a", "b", "c"], "runs keep their places and letters");
    assert!(harness.query_by_label("Show b").is_none());
}

#[test]
fn the_reference_changes_and_the_selection_stays() {
    for names in [&["a", "b", "c"][..], &SIX] {
        let mut harness = open(Theme::Light, names);
        show(&mut harness, Page::Liveness);
        let at = {
            let mut curves = harness.get_all_by_label_contains("Liveness curve");
            let canvas = curves.find(|node| node.accesskit_node().role() == Role::Canvas);
            canvas.expect("a curve").rect().center()
        };
        click_at(&mut harness, at, Modifiers::NONE);
        let selected = harness.state().selected_steps();
        assert_eq!(selected.len(), 1, "{selected:?}");
        for name in [names[2], names[1], names[0]] {
            click(&mut harness, &format!("Make {name} the reference"));
            assert!(is_reference(&harness, name));
            assert_eq!(harness.state().selected_steps(), selected);
        }
        assert_eq!(in_bar(&harness).len(), names.len());
    }
}

#[test]
fn swapped_twice_all_is_as_before() {
    for names in [&["a", "b"][..], &["a", "b", "c"], &SIX] {
        let mut harness = open(Theme::Light, names);
        for page in PAGES {
            show(&mut harness, page);
            let before = texts(&harness);
            press(&mut harness, Key::F6);
            assert_ne!(texts(&harness), before, "{page:?} of {names:?}");
            press(&mut harness, Key::F6);
            assert_eq!(texts(&harness), before, "{page:?} of {names:?}");
        }
    }
}

#[test]
fn a_report_against_itself_has_no_differences() {
    let report = named((0, "itself"));
    let both = vec![Arc::clone(&report), Arc::clone(&report)];
    let mut pair = window(Theme::Light, |ctx| App::with_runs(ctx, both));
    let mut alone = window(Theme::Light, |ctx| App::with_runs(ctx, vec![report]));
    for page in PAGES {
        show(&mut pair, page);
        for sign in ["▲ +", "▼ −"] {
            assert!(!has_text(&pair, sign), "{page:?}: {:#?}", texts(&pair));
        }
    }
    show(&mut pair, Page::Liveness);
    show(&mut alone, Page::Liveness);
    for harness in [&mut pair, &mut alone] {
        open_tab(harness, "Not always live");
    }
    let of_both = copied(&mut pair, "not always live variables of both");
    let of_one = copied(&mut alone, "not always live variables");
    let first = |rows: &[Vec<String>]| -> Vec<Vec<String>> {
        rows.iter().skip(1).map(|row| row[..2].to_vec()).collect()
    };
    assert!(of_one.len() > 3, "{of_one:?}");
    assert_eq!(first(&of_both), first(&of_one));
    assert!(of_both.iter().skip(1).all(|row| row[1] == row[2]), "{of_both:?}");
}

#[test]
fn runs_are_reloaded_and_closed_one_by_one() {
    let paths = ["pair-0.6", "pair-0.2", "tiny"].map(sample_named);
    let mut harness = window(Theme::Light, |ctx| {
        App::with_loads(ctx, paths.map(|path| Load::start(path, ctx)).into())
    });
    wait_for(&mut harness, "pair-0.6 is the reference");
    show(&mut harness, Page::Liveness);
    click_in_menu(&mut harness, "pair-0.2", "Reload pair-0.2");
    assert_eq!(in_bar(&harness), ["pair-0.6", "pair-0.2", "tiny"], "it keeps its place");
    assert!(harness.query_all_by_label_contains("Liveness curve").next().is_some());
    click_in_menu(&mut harness, "pair-0.6", "Close pair-0.6");
    assert_eq!(in_bar(&harness), ["pair-0.2", "tiny"]);
    assert!(harness.query_by_label("Swap source and target").is_some());
    click(&mut harness, "End comparison");
    assert!(has_text(&harness, "pair-0.2") && !has_text(&harness, "tiny"));
}

#[test]
fn reading_again_keeps_what_is_selected_and_visible() {
    let directory = tempfile::tempdir().expect("a directory");
    let put = |report: &str| copy_into(&sample_named(report), directory.path());
    put("pair-0.6");
    let path = directory.path().to_owned();
    let mut harness = window(Theme::Light, |ctx| App::open(ctx, path));
    show(&mut harness, Page::Liveness);
    choose(&mut harness, "Scope", "Worst tile of each step");
    let picture = harness.get_by_label("Liveness curve").rect();
    click_at(&mut harness, picture.right_center() - Vec2::new(3.0, 0.0), Modifiers::NONE);
    click(&mut harness, "Zoom in");
    assert!(!has_text(&harness, "100 %"), "{:#?}", texts(&harness));
    let selected = |harness: &Harness<'_, App>| -> Vec<usize> {
        harness.state().selected_steps().into_iter().map(|(_, step)| step).collect()
    };
    let steps = selected(&harness);
    assert_eq!(steps.len(), 1);
    show(&mut harness, Page::Memory);
    let picture = harness.get_by_label("Memory over tiles").rect();
    click_at(&mut harness, picture.right_center() - Vec2::new(3.0, 0.0), Modifiers::NONE);
    click(&mut harness, "Zoom in");
    let tiles = |harness: &Harness<'_, App>| {
        let field = harness.get_by_role_and_label(Role::TextInput, "Select tiles");
        field.value().unwrap_or_default()
    };
    let tile = tiles(&harness);
    assert!(tile.parse::<u32>().expect("a tile") > 16, "{tile}");
    click(&mut harness, "Reload");
    assert_eq!((tiles(&harness), selected(&harness)), (tile, steps.clone()));
    assert!(!has_text(&harness, "100 %"), "{:#?}", texts(&harness));
    show(&mut harness, Page::Liveness);
    assert!(has_text(&harness, "Worst tile of each step"), "{:#?}", texts(&harness));
    assert!(has_text(&harness, "Alive on the tile") && !has_text(&harness, "100 %"));
    // A report with fewer tiles in its place: the selected one is gone.
    put("tiny");
    click(&mut harness, "Reload");
    assert!(has_text(&harness, "Worst tile of each step"));
    assert_eq!(selected(&harness), steps, "it has as many steps");
    show(&mut harness, Page::Memory);
    assert_eq!(tiles(&harness), "");
}

#[test]
fn what_is_chosen_and_visible_stays_when_two_are_read_again() {
    let paths = ["pipeline", "pair-0.6"].map(sample_named);
    // The whole page is visible.
    let mut harness = window_sized(Theme::Light, Vec2::new(1920.0, 2400.0), |ctx| {
        App::with_loads(ctx, paths.map(|path| Load::start(path, ctx)).into())
    });
    show(&mut harness, Page::Insights);
    let is_on = |harness: &Harness<'_, App>| -> Vec<bool> {
        let all = harness.get_all_by_role_and_label(Role::Button, "Module");
        all.map(|node| node.accesskit_node().toggled() == Some(Toggled::True)).collect()
    };
    assert_eq!(is_on(&harness), [false, false]);
    harness.get_all_by_role_and_label(Role::Button, "Module").next().expect("of one").click();
    settle(&mut harness);
    harness.get_all_by_role_and_label(Role::Button, "Tile").next().expect("of one").click();
    settle(&mut harness);
    let chosen = |harness: &Harness<'_, App>| -> Vec<bool> {
        let all = harness.get_all_by_role_and_label(Role::Button, "Tile");
        all.map(|node| node.accesskit_node().toggled() == Some(Toggled::True)).collect()
    };
    let before = (is_on(&harness), chosen(&harness));
    assert_eq!(before.0, [true, false]);
    assert_eq!(before.1, [true, false]);
    click(&mut harness, "Reload");
    assert_eq!((is_on(&harness), chosen(&harness)), before);
    // So does what is visible on another page.
    show(&mut harness, Page::Memory);
    click(&mut harness, "Zoom in");
    assert!(!has_text(&harness, "100 %"), "{:#?}", texts(&harness));
    click(&mut harness, "Reload");
    assert!(!has_text(&harness, "100 %"), "{:#?}", texts(&harness));
}

#[test]
fn a_run_that_cannot_be_opened_keeps_the_others() {
    let directory = tempfile::tempdir().expect("a directory");
    let absent = directory.path().join("absent");
    let mut harness = open(Theme::Light, &["a", "b", "c"]);
    show(&mut harness, Page::Memory);
    drop_on(&mut harness, std::slice::from_ref(&absent));
    settle(&mut harness);
    wait_for(&mut harness, "The run could not be opened");
    assert_eq!(in_bar(&harness), ["a", "b", "c", "absent"]);
    assert!(harness.query_by_label("Choose another instead of absent").is_some());
    click(&mut harness, "Make absent the reference");
    assert!(is_reference(&harness, "absent"));
    assert!(has_text(&harness, "The run could not be opened"), "{:#?}", texts(&harness));
    click(&mut harness, "Close absent");
    assert_eq!(in_bar(&harness), ["a", "b", "c"]);
    assert!(!has_text(&harness, "could not be opened"));
}

#[test]
fn another_report_takes_the_place_of_one_that_cannot_be_opened() {
    // A directory with two reports below it is a question.
    let directory = tempfile::tempdir().expect("a directory");
    let several = directory.path().join("several");
    for name in ["first", "second"] {
        let below = several.join(name);
        std::fs::create_dir_all(&below).expect("a directory");
        for file in ["profile.pop", "debug.cbor"] {
            std::fs::copy(sample_named("tiny").join(file), below.join(file)).expect("a copy");
        }
    }
    let [before, after] = ["before", "after"].map(|name| Load::ready(named((1, name))));
    let mut harness = window(Theme::Light, |ctx| {
        App::with_loads(ctx, vec![before, Load::start(several, ctx), after])
    });
    wait_for(&mut harness, "Which run?");
    let question = harness.root().children_recursive();
    let choice = question.map(|node| node.accesskit_node()).find_map(|node| {
        node.label().filter(|label| node.role() == Role::Button && label.contains("second"))
    });
    click(&mut harness, &choice.expect("a button"));
    wait_for(&mut harness, "Hide second");
    assert_eq!(in_bar(&harness), ["before", "second", "after"]);
    assert!(!has_text(&harness, "Which run?"));
}

#[test]
fn a_reference_that_cannot_be_opened_leaves_the_others() {
    let directory = tempfile::tempdir().expect("a directory");
    let absent = directory.path().join("absent");
    for names in [&["a"][..], &["a", "b"]] {
        let others = reports(names);
        let mut harness = window(Theme::Light, |ctx| {
            let others = others.into_iter().map(Load::ready);
            let reference = Load::start(absent.clone(), ctx);
            App::with_loads(ctx, std::iter::once(reference).chain(others).collect())
        });
        wait_for(&mut harness, "The run could not be opened");
        click(&mut harness, "Close absent");
        assert!(!has_text(&harness, "could not be opened"));
        show(&mut harness, Page::Memory);
        assert!(harness.query_all_by_label_contains("Memory over tiles").next().is_some());
    }
}

#[test]
fn a_ninth_run_is_refused() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut harness = open(Theme::Light, &names);
    drop_on(&mut harness, &["/reports/ninth".into()]);
    settle(&mut harness);
    assert!(has_text(&harness, "ninth was not opened: 8 runs are open"), "{:#?}", texts(&harness));
    assert_eq!(in_bar(&harness), names);
    let nine: Vec<PathBuf> = (0..9).map(|run| format!("/reports/{run}").into()).collect();
    drop_on(&mut harness, &nine);
    settle(&mut harness);
    assert!(has_text(&harness, "Of 9 dropped, the first 8 are open"), "{:#?}", texts(&harness));
}

#[test]
fn what_concerns_one_run_is_in_the_palette() {
    let mut harness = open(Theme::Light, &SIX);
    for (words, expected) in
        [("make 0.35", "amp-0.35 is the reference"), ("hide 0.6", "Show amp-0.6")]
    {
        harness.key_press_modifiers(Modifiers::COMMAND, Key::P);
        harness.run_steps(3);
        harness.get_by_label("Command").type_text(words);
        harness.run_steps(3);
        press(&mut harness, Key::Enter);
        assert!(harness.query_by_label(expected).is_some(), "{words}: {:#?}", texts(&harness));
    }
    harness.key_press_modifiers(Modifiers::COMMAND, Key::P);
    harness.run_steps(3);
    harness.get_by_label("Command").type_text("close amp-0.01");
    harness.run_steps(3);
    press(&mut harness, Key::Enter);
    assert_eq!(in_bar(&harness), ["amp-0.8", "amp-0.75", "amp-0.6", "amp-0.35", "amp-0.005"]);
}

#[test]
fn six_runs_are_remembered_and_opened_together() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut harness = window(Theme::Light, |ctx| {
        App::with_runs(ctx, reports(&SIX)).with_settings(ctx, directory.path().to_owned())
    });
    // The same runs with another reference are the same comparison.
    click(&mut harness, "Make amp-0.6 the reference");
    click(&mut harness, "Close");
    wait_for(&mut harness, "Recent comparisons");
    drop(harness);
    let text = std::fs::read_to_string(directory.path().join("settings.json")).expect("settings");
    let settings: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let comparisons = settings["recent_pairs"].as_array().expect("comparisons");
    assert_eq!(comparisons.len(), 1);
    assert_eq!(comparisons[0]["source"], "/reports/amp-0.6");
    assert_eq!(comparisons[0]["target"], "/reports/amp-0.8");
    assert_eq!(comparisons[0]["more"].as_array().map(Vec::len), Some(4));
    let paths = ["pair-0.6", "pair-0.2", "tiny"].map(sample_named);
    let recent = serde_json::json!({"recent_pairs": [{
        "source": paths[0], "target": paths[1], "more": [paths[2]], "title": "a → b → c", "opened": 7
    }]});
    std::fs::write(directory.path().join("settings.json"), recent.to_string()).expect("a file");
    let mut harness =
        window(Theme::Light, |ctx| App::new(ctx, None).with_settings(ctx, directory.path().into()));
    wait_for(&mut harness, "Open a → b → c");
    click(&mut harness, "Open a → b → c");
    wait_for(&mut harness, "pair-0.6 is the reference");
    assert_eq!(in_bar(&harness), ["pair-0.6", "pair-0.2", "tiny"]);
    click(&mut harness, "Close");
    let of_comparison = |text: &String| text.starts_with("Remove") && text.contains(" → ");
    let remove = texts(&harness).into_iter().find(of_comparison).expect("a button");
    assert!(remove.contains("pair-0.2") && remove.contains("tiny"), "{remove}");
    click(&mut harness, &remove);
    assert!(!has_text(&harness, "Recent comparisons"), "{:#?}", texts(&harness));
}

#[test]
fn ticked_runs_of_a_sweep_are_opened_together() {
    let directory = tempfile::tempdir().expect("a directory");
    for proportion in [0.01, 0.35, 0.8] {
        let options = ReportOptions { batch: 4, proportion, ..ReportOptions::default() };
        let path = directory.path().join(format!("amp-{proportion}"));
        write_report(&options, &path, &Progress::default()).expect("a report");
    }
    let mut harness = window_on(Theme::Light, report::small());
    harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    settle(&mut harness);
    harness.get_by_role_and_label(Role::TextInput, "Directory").focus();
    harness.run_steps(2);
    let field = harness.get_by_role_and_label(Role::TextInput, "Directory");
    field.type_text(&directory.path().display().to_string());
    harness.run_steps(2);
    press(&mut harness, Key::Enter);
    wait_for(&mut harness, "Tick amp-0.35");
    for (run, expected) in [
        ("amp-0.35", "Open the ticked run"),
        ("amp-0.8", "Open the 2 ticked runs"),
        ("amp-0.01", "Open the 3 ticked runs"),
    ] {
        click(&mut harness, &format!("Tick {run}"));
        assert!(harness.query_by_label(expected).is_some(), "{:#?}", texts(&harness));
    }
    click(&mut harness, "Open the 3 ticked runs");
    wait_for(&mut harness, "amp-0.35 is the reference");
    assert_eq!(in_bar(&harness), ["amp-0.35", "amp-0.8", "amp-0.01"]);
}

#[test]
fn the_bar_looks_as_it_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        let mut harness = open(theme, &SIX);
        click(&mut harness, "Hide amp-0.6");
        harness.hover_at(eframe::egui::pos2(600.0, 700.0));
        settle(&mut harness);
        let image = harness.render().expect("a picture");
        let bar = image::imageops::crop_imm(&image, 168, 0, image.width() - 168, 40).to_image();
        let name = format!("runs-bar-{theme:?}").to_lowercase();
        let options = tolerances();
        results.add(egui_kittest::try_image_snapshot_options(&bar, name, &options));
    }
}
