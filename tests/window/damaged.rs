//! Reports that are damaged, files that change while they are open, and what Close leaves behind: the window goes on.

use crate::copies::{copy_into, sample_named};
use crate::seeded::Seeded;
use crate::support::{
    PATIENCE, SIZES, has_text, settle, texts, wait_for, window, window_as_it_opens,
};
use eframe::egui::accesskit::{Role, Toggled};
use eframe::egui::{Key, Modifiers, Theme};
use egui_kittest::Harness;
use egui_kittest::kittest::{AccessKitNode, Queryable as _, by};
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tilescope::format::Progress;
use tilescope::store::Report;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};
use tilescope::ui::app::App;
use tilescope::ui::loading::Load;

const SAMPLES: [&str; 4] = ["tiny", "pair-0.6", "pipeline", "does-not-fit"];
const PAGE_BYTES: usize = 4096;

fn copy_of(report: &Path) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    copy_into(report, directory.path());
    directory
}

fn sample(name: &str) -> TempDir {
    copy_of(&sample_named(name))
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("a file");
    change(&mut bytes);
    fs::write(path, bytes).expect("a damaged file");
}

/// Changes a table or a column of it, whichever the numbers say; what SQLite refuses stays as it was.
fn damage_tables(profile: &Path, seeded: &mut Seeded) {
    let connection = Connection::open(profile).expect("a profile");
    let list = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).expect("a statement");
        let names = statement.query_map([], |row| row.get(0)).expect("names");
        names.map(|name| name.expect("a name")).collect()
    };
    let tables = list("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    let table = &tables[seeded.place(tables.len())];
    let columns = list(&format!("SELECT name FROM pragma_table_info('{table}')"));
    let column = &columns[seeded.place(columns.len())];
    let statement = match seeded.place(9) {
        0 => format!("DROP TABLE \"{table}\""),
        1 => format!("DELETE FROM \"{table}\""),
        2 => format!("DELETE FROM \"{table}\" WHERE rowid % 3 = 1"),
        3 => format!("UPDATE \"{table}\" SET \"{column}\" = NULL"),
        4 => format!("UPDATE \"{table}\" SET \"{column}\" = -1"),
        5 => format!("UPDATE \"{table}\" SET \"{column}\" = 9223372036854775807"),
        6 => format!("UPDATE \"{table}\" SET \"{column}\" = x'ff00fe80'"),
        7 => format!("UPDATE \"{table}\" SET \"{column}\" = CAST(x'ffc0ff' AS TEXT)"),
        _ => format!("UPDATE \"{table}\" SET \"{column}\" = \"{column}\" * 1000003 + rowid"),
    };
    drop(connection.execute_batch(&statement));
}

/// A sample that was damaged in one of the ways.
fn damaged(number: usize) -> TempDir {
    let mut seeded = Seeded(number as u64);
    let directory = sample(SAMPLES[number % SAMPLES.len()]);
    let file = |name: &str| directory.path().join(name);
    let profile = file("profile.pop");
    let flip = |bytes: &mut Vec<u8>, seeded: &mut Seeded| {
        for _ in 0..=seeded.place(20) {
            let at = seeded.place(bytes.len());
            bytes[at] ^= 1 << seeded.place(8);
        }
    };
    let page = |bytes: &[u8], seeded: &mut Seeded| {
        let at = (1 + seeded.place(bytes.len() / PAGE_BYTES - 1)) * PAGE_BYTES;
        at..at + PAGE_BYTES
    };
    match number % 10 {
        0 => change(&profile, |bytes| bytes.truncate(seeded.place(bytes.len()))),
        1 => change(&profile, |bytes| flip(bytes, &mut seeded)),
        2 => change(&profile, |bytes| {
            let page = page(bytes, &mut seeded);
            bytes[page].fill(0);
        }),
        3 => change(&profile, |bytes| {
            let (one, other) = (page(bytes, &mut seeded), page(bytes, &mut seeded));
            let kept = bytes[one.clone()].to_vec();
            bytes.copy_within(other.clone(), one.start);
            bytes[other].copy_from_slice(&kept);
        }),
        4 => change(&file("debug.cbor"), |bytes| bytes.truncate(seeded.place(bytes.len()))),
        5 => change(&file("debug.cbor"), |bytes| flip(bytes, &mut seeded)),
        6 => {
            let deep = "[".repeat(50_000) + &"]".repeat(50_000);
            fs::write(file("app.json"), deep).expect("a file");
            change(&profile, |bytes| flip(bytes, &mut seeded));
        }
        _ => (0..=seeded.place(3)).for_each(|_| damage_tables(&profile, &mut seeded)),
    }
    directory
}

/// Everything that is in the window goes on, whatever it shows.
#[track_caller]
fn check(harness: &Harness<'_, App>, what: &str) {
    let mistakes: Vec<String> =
        texts(harness).into_iter().filter(|text| text.contains("bug in Tilescope")).collect();
    assert!(mistakes.is_empty(), "{what}: {mistakes:?}");
}

/// Whether something is chosen on the page by a click, and is not now; the menu is left of it.
fn is_tab_of_page(node: &AccessKitNode<'_>) -> bool {
    let is_choice = node.toggled() == Some(Toggled::False) && node.role() == Role::Button;
    is_choice && node.bounding_box().is_some_and(|rect| rect.x0 > 200.0)
}

/// Goes to every page and a tab of it, moves the pointer over it and presses the keys that move in it.
fn walk(harness: &mut Harness<'_, App>, what: &str, seed: usize) {
    const PAGE_KEYS: [Key; 9] = [
        Key::Num1,
        Key::Num2,
        Key::Num3,
        Key::Num4,
        Key::Num5,
        Key::Num6,
        Key::Num7,
        Key::Num8,
        Key::Num9,
    ];
    let mut seeded = Seeded(seed as u64);
    for page in PAGE_KEYS {
        harness.key_press_modifiers(Modifiers::COMMAND, page);
        settle(harness);
        for is_tab in [false, true] {
            if is_tab {
                // One of its tabs; another one with another report.
                let tabs: Vec<_> = harness.query_all(by().predicate(is_tab_of_page)).collect();
                let Some(tab) = tabs.get(seeded.place(tabs.len())) else { continue };
                tab.click();
            }
            harness.hover_at((SIZES[0] * 0.5).to_pos2());
            harness.run_steps(1);
            for key in [Key::ArrowRight, Key::End, Key::ArrowDown] {
                harness.key_press_modifiers(Modifiers::NONE, key);
            }
            settle(harness);
            check(harness, &format!("{what}, {page:?}"));
        }
    }
}

fn walk_damaged(numbers: std::ops::Range<usize>) {
    for number in numbers {
        let directory = damaged(number);
        let mut harness = window(Theme::Light, |ctx| App::open(ctx, directory.path().to_owned()));
        walk(&mut harness, &format!("damaged report {number}"), number);
    }
}

// In several tests, so that they run beside each other.

#[test]
fn the_window_goes_on_with_damaged_reports() {
    walk_damaged(0..15);
}

#[test]
fn the_window_goes_on_with_more_damaged_reports() {
    walk_damaged(15..30);
}

#[test]
fn the_window_goes_on_with_damaged_reports_of_other_numbers() {
    walk_damaged(30..45);
}

#[test]
fn the_window_goes_on_with_the_last_damaged_reports() {
    walk_damaged(45..60);
}

/// What can happen to a file while it is open.
type Happens = fn(&Path);

/// What happens, and what is said when the report is read again after it.
const HAPPENS: [(&str, &str, Happens); 5] = [
    ("cut", "A file is cut off", |path| change(path, |bytes| bytes.truncate(bytes.len() / 2))),
    ("emptied", "profile.pop is empty", |path| change(path, Vec::clear)),
    ("replaced by another", "8,066,292 B", |path| {
        let other = sample("pair-0.2");
        let name = path.file_name().expect("a name");
        let new = path.with_extension("new");
        fs::copy(other.path().join(name), &new).expect("a copy");
        fs::rename(new, path).expect("the other takes its place");
    }),
    ("deleted", "holds no profile.pop", |path| fs::remove_file(path).expect("a file")),
    ("replaced by a directory", "it is a directory, not a file", |path| {
        fs::remove_file(path).expect("a file");
        fs::create_dir(path).expect("a directory");
    }),
];

#[test]
fn files_that_change_while_they_are_open_are_said_to_have() {
    for (what, is_said, happens) in HAPPENS {
        let directory = sample("tiny");
        let mut harness = window(Theme::Dark, |ctx| App::open(ctx, directory.path().to_owned()));
        for file in ["profile.pop", "debug.cbor"] {
            happens(&directory.path().join(file));
        }
        // What is not in memory is read from the file: the map of a tile.
        harness.key_press_modifiers(Modifiers::COMMAND, Key::Num5);
        settle(&mut harness);
        wait_for(&mut harness, "was changed or removed after it was opened");
        walk(&mut harness, what, 1);
        harness.key_press_modifiers(Modifiers::COMMAND, Key::R);
        harness.run_steps(2);
        walk(&mut harness, &format!("{what}, then read again"), 2);
        harness.key_press_modifiers(Modifiers::COMMAND, Key::Num6);
        settle(&mut harness);
        assert!(has_text(&harness, is_said), "{what}: {:#?}", texts(&harness));
        // A file that is cut off is lacking for another reason than an option.
        assert!(!has_text(&harness, "autoReport.outputLoweredVars writes"), "{what}");
    }
}

#[test]
fn files_that_change_while_they_are_read_do_no_harm() {
    let report = long_report();
    for (number, (what, _, happens)) in HAPPENS.into_iter().enumerate() {
        let directory = copy_of(report.path());
        let load = |ctx: &_| App::open(ctx, directory.path().to_owned());
        let mut harness = window_as_it_opens(Theme::Dark, SIZES[0], load);
        harness.run_steps(1 + 5 * number);
        happens(&directory.path().join("profile.pop"));
        settle(&mut harness);
        walk(&mut harness, &format!("{what} while it was read"), number);
    }
}

/// A report that takes some time to read.
fn long_report() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let options = ReportOptions { copies: 8, tiles_per_ipu: 128, ..ReportOptions::default() };
    write_report(&options, directory.path(), &Progress::default()).expect("a report");
    directory
}

/// Waits until no thread works for the window any more.
fn wait_for_rest(harness: &Harness<'_, App>) {
    let started = Instant::now();
    while harness.state().is_busy(&harness.ctx) {
        assert!(started.elapsed() < PATIENCE, "what works for the window does not end");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn close_stops_what_is_being_read() {
    let directory = long_report();
    // The first of what is read, and what is read after the small tables.
    let begun: [fn(&Report) -> bool; 2] =
        [|_| true, |report| report.about.is_settled() && report.liveness.is_settled()];
    for (number, has_begun) in begun.into_iter().enumerate() {
        let mut harness = window(Theme::Dark, |ctx| App::new(ctx, None));
        let load = Load::start(directory.path().to_owned(), &harness.ctx);
        let report = loop {
            match load.report() {
                Some(report) if has_begun(report) => break Arc::clone(report),
                _ => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        *harness.state_mut() = App::new(&harness.ctx, Some(load));
        harness.key_press_modifiers(Modifiers::COMMAND, Key::W);
        harness.run_steps(2);
        assert!(!harness.state().is_loading(), "nothing is open");
        wait_for_rest(&harness);
        let is_read = report.exchanges.get().is_some();
        assert!(!is_read, "{number}: it was read to its end all the same");
    }
}
