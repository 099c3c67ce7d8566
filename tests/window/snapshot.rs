//! A PyTorch snapshot in the window, opened by its file: in the pages that all systems have, in its own words.

use eframe::egui::accesskit::Role;
use eframe::egui::{self, Modifiers, Theme};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use serde_json::{Value, json};
use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tilescope::analysis::derived::Derived;
use tilescope::systems::pytorch::PytorchAnswers;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

use crate::pickle::pickle;
use crate::support::{
    assert_text, assert_texts, choose, click_at, copied, has_text, hover_share, line, open_tab,
    settle, texts, type_into, window, window_sized,
};

const MIB: u64 = 1 << 20;
/// Where the segments begin: one of 20 MiB and one of 2 MiB.
const SEGMENTS: [(u64, u64); 2] = [(0x7F00_0000_0000, 20 * MIB), (0x7F10_0000_0000, 2 * MIB)];

fn frames(line: u64, function: &str) -> Value {
    json!([{ "filename": "/home/me/train.py", "line": line, "name": function }])
}

/// A weight that stays, three activations that are freed in the opposite order, and a request that fails in between.
/// The first activation has so many MiB.
fn snapshot(first: u64) -> Value {
    let (large, small) = (SEGMENTS[0].0, SEGMENTS[1].0);
    let event = |action: &str, address: u64, size: u64, frames: Value| json!({ "action": action, "addr": address, "size": size, "stream": 0, "frames": frames });
    let weight = || frames(10, "__init__");
    let activation = || frames(20, "forward");
    let places = [large, large + first * MIB, large + (first + 3) * MIB];
    let sizes = [first * MIB, 3 * MIB, 2 * MIB];
    let mut events = vec![
        event("segment_alloc", small, 2 * MIB, weight()),
        event("alloc", small, MIB, weight()),
        event("segment_alloc", large, 20 * MIB, activation()),
    ];
    let all = || places.into_iter().zip(sizes);
    events.extend(all().map(|(place, size)| event("alloc", place, size, activation())));
    events.push(json!({ "action": "oom", "size": 40 * MIB, "device_free": MIB, "stream": 0, "frames": activation() }));
    for (place, size) in all().rev() {
        for action in ["free_requested", "free_completed"] {
            events.push(event(action, place, size, json!([])));
        }
    }
    let block = |address: u64, bytes: u64, state: &str| json!({ "address": address, "size": bytes, "requested_size": bytes, "state": state, "frames": weight() });
    let segment = |(address, bytes): (u64, u64), used: u64, blocks: Vec<Value>| {
        json!({
            "device": 0, "address": address, "total_size": bytes, "allocated_size": used, "active_size": used,
            "requested_size": used, "stream": 0, "segment_type": "large", "is_expandable": false,
            "blocks": blocks, "frames": [],
        })
    };
    let of_small = vec![block(small, MIB, "active_allocated"), block(small + MIB, MIB, "inactive")];
    json!({
        "segments": [
            segment(SEGMENTS[0], 0, vec![block(large, 20 * MIB, "inactive")]),
            segment(SEGMENTS[1], MIB, of_small),
        ],
        "device_traces": [events],
    })
}

fn written(directory: &Path, name: &str, first: u64) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, pickle(&snapshot(first))).expect("a file");
    path
}

fn go(harness: &mut Harness<'_, App>, page: Page) {
    harness.state_mut().go(page);
    settle(harness);
    is_in_its_own_words(harness);
}

/// Nothing in the window is in words of the IPU.
#[track_caller]
fn is_in_its_own_words(harness: &Harness<'_, App>) {
    let words = [
        "engine",
        "compilation",
        "tile",
        "tiles",
        "ipu",
        "ipus",
        "poplar",
        "poplibs",
        "availablememoryproportion",
        "step",
        "steps",
        "lowering",
        "exchange",
        "matched",
        "aligned",
        "align",
    ];
    for text in texts(harness) {
        // Advice quotes what to write in PyTorch.
        let lower = text.to_lowercase().replace("optimizer.step()", "");
        let mut found = lower.split(|letter: char| !letter.is_alphanumeric());
        assert!(!found.any(|word| words.contains(&word)), "{text:?}");
        assert!(
            !["always live", "compute set"].iter().any(|word| lower.contains(word)),
            "{text:?}"
        );
    }
}

#[test]
fn a_snapshot_opens_by_its_file_and_has_its_curve_its_lives_and_its_segments() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = written(directory.path(), "run.pickle", 4);
    let mut harness = window(Theme::Dark, |ctx| App::open(ctx, path));
    for page in [Page::Overview, Page::Summary, Page::Insights] {
        go(&mut harness, page);
        if page == Page::Summary {
            let facts = [
                "Complete: nothing was there before its first event",
                "Requested, peak",
                "Failed at event 6",
            ];
            assert_texts(&harness, &facts);
        }
        assert!(!has_text(&harness, "Limit"), "what a GPU has is not in the file: {page:?}");
    }
    go(&mut harness, Page::Liveness);
    // The weight, and all activations: after the last of their events, before the first is freed.
    assert_texts(&harness, &["Event 5", "0x7f0000700000#1", "5 to 8, 3 events", "Out of memory"]);
    let alive = copied(&mut harness, "allocations");
    assert_eq!(alive.len(), 5, "the weight and three activations: {alive:?}");
    let asked = (4 * MIB).to_string();
    assert!(line(&alive, "train.py:20 (forward)").contains(&asked), "the largest first: {alive:?}");
    hover_share(&mut harness, "Liveness curve", 0.02);
    settle(&mut harness);
    assert_texts(&harness, &["Event 0", "Segment_alloc of 2.00 MiB", "Event under the pointer"]);
    for (by, title) in
        [("line of code", "train.py:20 (forward)"), ("function", "forward (train.py)")]
    {
        choose(&mut harness, "Areas of", &format!("By {by}"));
        assert_text(&harness, title);
    }
    choose(&mut harness, "Areas of", "By category");
    choose(&mut harness, "Areas of", "By liveness");
    is_in_its_own_words(&harness);
    choose(&mut harness, "Areas of", "By category");
    for line in ["Allocated", "Active", "Reserved"] {
        harness.get_by_role_and_label(Role::CheckBox, line).click();
        settle(&mut harness);
        is_in_its_own_words(&harness);
    }
    open_tab(&mut harness, "By code");
    let by_code = copied(&mut harness, "allocations by code");
    let activations = (9 * MIB).to_string();
    assert!(line(&by_code, "/home/me/train.py:20 (forward)").contains(&activations), "{by_code:?}");
    type_into(&mut harness, "Find in stacks", "^.*__INIT__.$|nothing");
    settle(&mut harness);
    let found = copied(&mut harness, "allocations by code");
    assert_eq!(found.len(), 2, "the weight alone, whatever the case: {found:?}");
    for tab in ["Call paths", "Peaks", "Allocations"] {
        open_tab(&mut harness, tab);
        is_in_its_own_words(&harness);
    }
    go(&mut harness, Page::Map);
    // The request that failed is looked at first: 40 MiB were asked for, 12 of 22 MiB are free.
    assert_texts(
        &harness,
        &[
            "Out of memory: 40.0 MiB asked, 12.0 MiB free in segments, largest piece 11.0 MiB",
            "Event 6",
        ],
    );
    let segments = copied(&mut harness, "segments");
    let of_large = line(&segments, "0x7f0000000000");
    for figure in [20 * MIB, 9 * MIB, 11 * MIB] {
        assert!(of_large.contains(&figure.to_string()), "size, used, free: {of_large:?}");
    }
    // Below the middle of the picture the first activation lies, from event 3 on.
    let picture = harness.get_by_role_and_label(Role::Canvas, "Segments over events").rect();
    let at = picture.min + picture.size() * egui::Vec2::new(0.4, 0.8);
    click_at(&mut harness, at, Modifiers::NONE);
    settle(&mut harness);
    assert_texts(&harness, &["0x7f0000000000#1", "3 to 12, 9 events", "train.py:20 (forward)"]);
    let blocks = copied(&mut harness, "blocks");
    assert!(line(&blocks, "train.py:20 (forward)").contains(&(4 * MIB).to_string()), "{blocks:?}");
    is_in_its_own_words(&harness);
}

#[test]
fn figures_at_a_glance_fit_beside_the_facts() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = written(directory.path(), "run.pickle", 4);
    for (width, height) in [(1440.0, 900.0), (1280.0, 800.0), (1024.0, 700.0)] {
        let size = egui::Vec2::new(width, height);
        let mut harness = window_sized(Theme::Light, size, |ctx| App::open(ctx, path.clone()));
        go(&mut harness, Page::Overview);
        let curve = harness.get_by_role_and_label(Role::Canvas, "Memory over events").rect();
        let facts = harness.get_by_label("Run").rect();
        let is_beside = facts.top() < curve.bottom();
        let end = if is_beside { facts.left() } else { width };
        // A note stands below its figure, or in one line with it and its name.
        for note in ["at event 5", "max_memory_allocated()", "max_memory_reserved()"] {
            let in_line = format!("  {note}");
            let mut rights: Vec<f32> =
                harness.query_all_by_label(note).map(|node| node.rect().right()).collect();
            let in_lines = harness.query_all_by_label_contains(&in_line);
            rights.extend(in_lines.map(|node| node.rect().right()));
            assert!(!rights.is_empty(), "{note} at {width}");
            assert!(
                rights.iter().all(|right| *right < end),
                "{note} at {width}: {rights:?}, {end}"
            );
        }
        assert!(curve.right() < end, "{curve} at {width}, of {end}");
    }
}

#[test]
fn two_snapshots_are_compared() {
    let directory = tempfile::tempdir().expect("a directory");
    let paths = [("before.pickle", 4), ("after.pickle", 2)]
        .map(|(name, first)| written(directory.path(), name, first));
    let mut harness = window(Theme::Light, |ctx| {
        App::with_loads(ctx, paths.into_iter().map(|path| Load::start(path, ctx)).collect())
    });
    for page in [Page::Overview, Page::Summary, Page::Comparison, Page::Liveness, Page::Insights] {
        go(&mut harness, page);
        assert!(!has_text(&harness, "matched"), "{page:?}: {:#?}", texts(&harness));
    }
    // Insights say what changed, from what the peaks consist of.
    let change = "The requested peak of GPU 0 is 2.00 MiB less: 8.00 MiB instead of 10.0 MiB";
    assert_texts(&harness, &["From source to target", change]);
    go(&mut harness, Page::Liveness);
    // Events of different runs have their numbers in common and nothing else.
    assert_texts(&harness, &["Events by their numbers", "Liveness curves of both"]);
    assert_texts(&harness, &["before.pickle", "after.pickle"]);
}

/// Steps of the optimizer and passes that both have begin at the same place.
#[test]
fn curves_of_two_trainings_meet_at_their_parts_or_lie_by_number() {
    let samples = ["segments-0", "segments-2"]
        .map(|name| Path::new("sample_profiles/training").join(name).join("snapshot.pickle"));
    let app = |ctx: &egui::Context| {
        App::with_loads(ctx, samples.iter().map(|path| Load::start(path.clone(), ctx)).collect())
    };
    let mut harness = window(Theme::Light, app);
    go(&mut harness, Page::Liveness);
    assert_texts(&harness, &["Events by parts of the program", "By part", "By number"]);
    go(&mut harness, Page::Comparison);
    assert_text(&harness, "events of A, others by part");
    harness.key_press(egui::Key::F8);
    go(&mut harness, Page::Liveness);
    assert_texts(&harness, &["Events by their numbers", "By part"]);
    harness.key_press(egui::Key::F8);
    settle(&mut harness);
    assert_text(&harness, "Events by parts of the program");
}

#[test]
fn what_is_alive_at_the_peaks_of_two_snapshots_stands_side_by_side() {
    let directory = tempfile::tempdir().expect("a directory");
    let paths = [("before.pickle", 4), ("after.pickle", 2)]
        .map(|(name, first)| written(directory.path(), name, first));
    let mut harness = window(Theme::Light, |ctx| {
        App::with_loads(ctx, paths.into_iter().map(|path| Load::start(path, ctx)).collect())
    });
    go(&mut harness, Page::Comparison);
    let says = |harness: &Harness<'_, App>, part: &str| {
        let all = texts(harness);
        assert!(all.iter().any(|text| text.contains(part)), "{part}: {all:#?}");
    };
    says(&harness, "The requested peak of GPU 0 is 2.00 MiB less: 8.00 MiB instead of 10.0 MiB");
    says(&harness, "In words");
    says(&harness, "Requested peak");
    // A share of the source is no change.
    says(&harness, "In percent of the source");
    assert!(texts(&harness).iter().any(|text| text == "80.0 %"), "{:#?}", texts(&harness));
    // Nothing claims that steps of one are steps of the other.
    assert!(!has_text(&harness, "matched") && !has_text(&harness, "Matched and unmatched"));
    for (tab, table) in [
        ("At the peaks by frames", "blocks at both peaks"),
        ("By function", "functions at both peaks"),
    ] {
        harness.get_by_label(tab).click();
        settle(&mut harness);
        is_in_its_own_words(&harness);
        let rows = copied(&mut harness, table);
        let sums: Vec<i64> = ["Source", "Target", "Difference"]
            .iter()
            .map(|title| {
                let column =
                    rows[0].iter().position(|cell| cell.starts_with(&format!("{title} (")));
                let column = column.unwrap_or_else(|| panic!("{title} of {:?}", rows[0]));
                let number = |row: &Vec<String>| row[column].replace('−', "-").parse::<i64>();
                rows[1..].iter().map(|row| number(row).expect("a number")).sum()
            })
            .collect();
        assert_eq!(sums, [10 << 20, 8 << 20, -(2 << 20)], "{table}: {rows:?}");
    }
}

#[test]
fn a_device_and_what_it_has_are_chosen_where_snapshots_are_compared() {
    let directory = tempfile::tempdir().expect("a directory");
    let paths = [("before.pickle", 4), ("after.pickle", 2)].map(|(name, first)| {
        let mut of_two = snapshot(first);
        let events = of_two["device_traces"][0].clone();
        // The second device never fills its second half.
        let few: Vec<Value> = events.as_array().expect("events")[..4].to_vec();
        of_two["device_traces"] = json!([events, few]);
        let path = directory.path().join(name);
        std::fs::write(&path, pickle(&of_two)).expect("a file");
        path
    });
    let mut harness = window(Theme::Light, |ctx| {
        App::with_loads(ctx, paths.into_iter().map(|path| Load::start(path, ctx)).collect())
    });
    go(&mut harness, Page::Comparison);
    assert_text(&harness, "The requested peak of GPU 0 is 2.00 MiB less");
    assert!(!has_text(&harness, "Of the 64.0 MiB"), "nobody has said what the device has");
    type_into(&mut harness, "Capacity", "64MiB");
    assert_text(&harness, "Of the 64.0 MiB");
    choose(&mut harness, "Device", "GPU 1");
    assert_text(&harness, "The requested peak of GPU 1 is 2.00 MiB less");
    is_in_its_own_words(&harness);
}

#[test]
fn insights_say_what_failed_who_owns_the_peak_and_lead_there() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = written(directory.path(), "run.pickle", 4);
    let text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 40.00 MiB. GPU 0 has a total capacity of \
                64.00 MiB of which 1024.00 KiB is free. Of the allocated memory 10.00 MiB is allocated by PyTorch, and \
                12.00 MiB is reserved by PyTorch but unallocated.";
    std::fs::write(directory.path().join("run.pickle.oom.txt"), text).expect("a file");
    let mut harness = window(Theme::Dark, |ctx| App::open(ctx, path));
    go(&mut harness, Page::Insights);
    assert_texts(&harness, &["Out of memory", "Fragmentation"]);
    assert_texts(&harness, &["Capacity", "64.0 MiB", "Used by others", "41.0 MiB"]);
    assert_text(&harness, "10.0 MiB requested of GPU 0 in 4 blocks");
    harness.get_by_label("Line").click();
    settle(&mut harness);
    is_in_its_own_words(&harness);
    let owners = copied(&mut harness, "Parts of the peak");
    let of = |frame: &str| line(&owners, frame)[2].clone();
    assert_eq!(of("/home/me/train.py:20 (forward)"), (9 * MIB).to_string(), "{owners:?}");
    assert_eq!(of("/home/me/train.py:10 (__init__)"), MIB.to_string(), "{owners:?}");
    harness.get_by_label("Show the request").click();
    settle(&mut harness);
    is_in_its_own_words(&harness);
    assert!(!has_text(&harness, "Parts of the peak"), "it is Liveness that is shown");
    go(&mut harness, Page::Insights);
    // The code that the peak consists of leads to all that it has then, and one click leaves it again.
    harness.get_by_label("train.py:20 (forward)").click();
    settle(&mut harness);
    is_in_its_own_words(&harness);
    assert_eq!(harness.state().page(), Page::Liveness);
    assert_eq!(harness.state().selected_steps(), [("run.pickle".to_owned(), 5)]);
    let code = "/home/me/train.py:20 (forward)";
    assert!(
        is_selected(&harness, code) && !is_selected(&harness, "/home/me/train.py:10 (__init__)")
    );
    let by_code = copied(&mut harness, "allocations by code");
    assert!(line(&by_code, code).contains(&(9 * MIB).to_string()), "{by_code:?}");
    harness.get_by_role_and_label(Role::Row, code).click();
    settle(&mut harness);
    assert!(!is_selected(&harness, code));
    go(&mut harness, Page::Insights);
    harness.get_by_label("Segments").click();
    settle(&mut harness);
    is_in_its_own_words(&harness);
    assert!(!has_text(&harness, "Parts of the peak"), "it is the map that is shown");
}

/// Whether the row of a table is selected.
fn is_selected(harness: &Harness<'_, App>, row: &str) -> bool {
    let row = harness.get_by_role_and_label(Role::Row, row);
    let row = row.accesskit_node();
    row.is_selected() == Some(true) || row.toggled() == Some(egui::accesskit::Toggled::True)
}

#[test]
fn pages_out_of_sight_do_not_keep_a_snapshot_that_was_read_before() {
    let directory = tempfile::tempdir().expect("a directory");
    let paths = [("before.pickle", 4), ("after.pickle", 2)]
        .map(|(name, first)| written(directory.path(), name, first));
    let [path, _] = paths.clone();
    let of_one = window(Theme::Light, |ctx| App::open(ctx, path));
    let of_two = window(Theme::Light, |ctx| {
        App::with_loads(ctx, paths.into_iter().map(|path| Load::start(path, ctx)).collect())
    });
    for (mut harness, is_one) in [(Box::new(of_one), true), (Box::new(of_two), false)] {
        let mut pages = vec![Page::Overview, Page::Insights, Page::Liveness, Page::Map];
        pages.extend((!is_one).then_some(Page::Comparison));
        for page in pages.into_iter().chain([Page::Summary]) {
            go(&mut harness, page);
            let tabs: &[&str] = match page {
                Page::Liveness if is_one => &["By code", "Call paths", "Allocations"],
                Page::Map => &["Blocks"],
                Page::Comparison => &["At the peaks by frames", "By function"],
                _ => &[],
            };
            for tab in tabs {
                open_tab(&mut harness, tab);
            }
        }
        let replayed = |run: &Arc<Derived>| {
            let answers: &dyn Any = run.answers();
            let answers = answers.downcast_ref::<PytorchAnswers>().expect("answers of PyTorch");
            Arc::downgrade(answers.snapshot().expect("a snapshot"))
        };
        let before: Vec<_> = harness.state().derived().iter().map(replayed).collect();
        assert_eq!(before.len(), if is_one { 1 } else { 2 });
        assert!(before.iter().all(|before| before.upgrade().is_some()));
        harness.get_by_label("Reload").click();
        settle(&mut harness);
        let kept: Vec<usize> = before.iter().map(std::sync::Weak::strong_count).collect();
        assert!(kept.iter().all(|kept| *kept == 0), "{kept:?} are kept");
    }
}

#[test]
fn a_chosen_allocation_is_that_of_its_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = written(directory.path(), "run.pickle", 4);
    let mut harness = window(Theme::Dark, |ctx| App::open(ctx, path.clone()));
    go(&mut harness, Page::Liveness);
    harness
        .get_all_by_role_and_label(Role::Row, "train.py:20 (forward)")
        .next()
        .expect("a row")
        .click();
    settle(&mut harness);
    assert_text(&harness, "Go to its allocation, event 3");
    std::fs::write(&path, pickle(&snapshot(2))).expect("a file");
    harness.get_by_label("Reload").click();
    settle(&mut harness);
    assert!(!has_text(&harness, "Go to its allocation"), "{:#?}", texts(&harness));
}

#[test]
fn runs_at_a_glance_say_how_they_ended() {
    let directory = tempfile::tempdir().expect("a directory");
    let paths = [("before.pickle", 4), ("after.pickle", 2)]
        .map(|(name, first)| written(directory.path(), name, first));
    let mut harness = window(Theme::Light, |ctx| {
        App::with_loads(ctx, paths.into_iter().map(|path| Load::start(path, ctx)).collect())
    });
    go(&mut harness, Page::Comparison);
    assert_text(&harness, "Both ran out of memory");
    let runs = copied(&mut harness, "runs");
    assert_eq!(runs[0].len(), 4, "run, verdict, peak, memory: {runs:?}");
    assert_eq!(line(&runs, "before.pickle")[1], "Out of memory", "{runs:?}");
    // The palette offers nothing of steps that are matched.
    harness.key_press_modifiers(Modifiers::COMMAND, egui::Key::P);
    settle(&mut harness);
    is_in_its_own_words(&harness);
    type_into(&mut harness, "Command", "align");
    assert!(!has_text(&harness, "by index"), "{:#?}", texts(&harness));
}

#[test]
fn of_several_snapshots_peaks_have_rows_of_their_own_and_none_is_compared_with_itself() {
    let samples = ["segments-0", "segments-2", "segments-0"]
        .map(|name| Path::new("sample_profiles/training").join(name).join("snapshot.pickle"));
    let app = |ctx: &egui::Context| {
        App::with_loads(ctx, samples.iter().map(|path| Load::start(path.clone(), ctx)).collect())
    };
    let mut harness = window(Theme::Light, app);
    harness.state_mut().go(Page::Insights);
    settle(&mut harness);
    let changes: Vec<String> =
        texts(&harness).into_iter().filter(|text| text.starts_with("From segments")).collect();
    assert!(!changes.is_empty(), "{:#?}", texts(&harness));
    for change in changes {
        let both = change.trim_start_matches("From ").split_once(" to ").expect("two runs");
        assert_ne!(both.0, both.1, "a run is compared with itself");
    }
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    open_tab(&mut harness, "Peaks");
    let peaks = copied(&mut harness, "peaks of all runs");
    assert!(peaks.len() > 3, "{peaks:?}");
    for row in &peaks[1..] {
        let events = row[..3].iter().filter(|cell| !cell.is_empty()).count();
        assert_eq!(events, 1, "events of one number have nothing in common: {row:?}");
    }
}
