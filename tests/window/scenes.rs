//! Dumps what the window shows in many scenes, to prove what a change of the code has changed: with
//! `TILESCOPE_SCENES=DIR` and `--ignored` it writes a file for each scene into DIR. It drives the window
//! by names that stay, and a name that is not found is a line of the scene's file, so that it works on
//! other versions.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::dump::{Places, copy_tables, describe, place, places};
use crate::support::{PATIENCE, click_at, settle, window};
use crate::{liveness_pair, report};
use eframe::egui::accesskit::Role;
use eframe::egui::{Context, Key, Modifiers, Rect, Theme, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tilescope::format::Progress;
use tilescope::store::Report;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

/// Where the dump goes.
const DIRECTORY: &str = "TILESCOPE_SCENES";
const CURVE: &str = "Liveness curve";
const OVER_TILES: &str = "Memory over tiles";
/// Pictures of addresses and of all tiles.
const MAP: &str = "Memory map of";
const ALL_TILES: &str = "Map of all tiles";
const GRID: &str = "Grid of tiles";

/// Something that a user does.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// Goes to a page.
    Go(Page),
    /// Clicks the first button of this name, or whose name begins so.
    Press(&'static str),
    /// Chooses an entry of a list that folds out.
    Choose(&'static str, &'static str),
    /// Switches a check box.
    Switch(&'static str),
    /// Types into a field, with Enter behind it.
    Type(&'static str, &'static str),
    /// Clicks one of the visible rows of all tables, with Shift or without.
    Row(usize, Modifiers),
    /// Clicks a picture at a share of its width and height, or so many points above its lower edge,
    /// with Shift or without.
    Click(&'static str, [f32; 2], Modifiers),
    /// Puts the pointer there and leaves it.
    Hover(&'static str, [f32; 2]),
    /// Puts the pointer on a button and leaves it.
    Rest(&'static str),
}
use Act::{Choose, Click, Go, Hover, Press, Rest, Row, Switch, Type};

/// The step at a share of the curve, alone.
const fn step(share: f32) -> Act {
    Click(CURVE, [share, 0.5], Modifiers::NONE)
}

/// The same beside those that are selected.
const fn one_more_step(share: f32) -> Act {
    Click(CURVE, [share, 0.5], Modifiers::SHIFT)
}

/// The reports of a window.
pub enum Reports {
    /// To be read from files.
    Read(Vec<PathBuf>),
    /// Made in memory.
    Made(fn() -> Vec<Report>),
}

impl Reports {
    fn open(&self, theme: Theme) -> Harness<'static, App> {
        let app = |ctx: &Context| {
            let loads = match self {
                Self::Read(paths) => {
                    paths.iter().map(|path| Load::start(path.clone(), ctx)).collect()
                }
                Self::Made(reports) => {
                    reports().into_iter().map(Arc::new).map(Load::ready).collect::<Vec<_>>()
                }
            };
            let app = App::with_loads(ctx, loads);
            // Otherwise a scene depends on how much is read by the first frame.
            let started = Instant::now();
            while app.is_busy(ctx) && started.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(2));
            }
            app
        };
        window(theme, app)
    }

    /// A window in which something was done, and a line for each thing that could not be done.
    pub fn after<'a>(
        &self,
        theme: Theme,
        acts: impl IntoIterator<Item = &'a Act>,
    ) -> (Harness<'static, App>, String) {
        let mut harness = self.open(theme);
        let mut text = String::new();
        for act in acts {
            if !act.play(&mut harness) {
                writeln!(text, "not found: {act:?}").expect("a text");
            }
        }
        (harness, text)
    }
}

/// The scenes of some reports in an arrangement.
struct Scenes<'a> {
    directory: &'a Path,
    /// What all names of these scenes begin with.
    prefix: &'static str,
    reports: &'a Reports,
    arrangement: Option<Act>,
    written: usize,
}

impl Scenes<'_> {
    /// Plays a scene and writes it down.
    fn scene(&mut self, name: &str, acts: &[&[Act]]) {
        let acts = self.arrangement.iter().chain(acts.iter().copied().flatten());
        let (mut harness, mut text) = self.reports.after(Theme::Light, acts);
        describe(&harness.root(), 0, Places::Shown, &mut text);
        copy_tables(&mut harness, &mut text);
        let file = self.directory.join(format!("{}-{name}.txt", self.prefix));
        assert!(std::fs::write(&file, without_paths(&text)).is_ok(), "{}", file.display());
        self.written += 1;
    }

    /// Scenes of a page that differ in one thing.
    fn variants<const LEN: usize>(
        &mut self,
        page: &str,
        first: &[Act],
        scenes: [(&str, Act); LEN],
    ) {
        for (name, act) in scenes {
            self.scene(&format!("{page}-{name}"), &[first, &[act]]);
        }
    }
}

impl Act {
    /// Does it, if there is what it is done to.
    fn play(self, harness: &mut Harness<'_, App>) -> bool {
        let found = match self {
            Go(page) => {
                harness.state_mut().go(page);
                settle(harness);
                return true;
            }
            Press(name) | Rest(name) => place(harness, &[Role::Button], name),
            Choose(list, entry) => {
                // It may lie outside of the visible part of the page.
                let Some(list) = harness
                    .query_all_by_role(Role::ComboBox)
                    .find(|node| node.accesskit_node().label().as_deref() == Some(list))
                else {
                    return false;
                };
                list.click_accesskit();
                settle(harness);
                // The list is drawn after all else that may have the same name.
                let entry = places(harness, &[Role::Button], |label| label == entry).pop();
                if entry.is_none() {
                    harness.key_press(Key::Escape);
                    settle(harness);
                }
                entry
            }
            Switch(name) => place(harness, &[Role::CheckBox], name),
            Type(field, text) => {
                let roles = [Role::TextInput, Role::MultilineTextInput];
                let Some(field) = place(harness, &roles, field) else { return false };
                click(harness, field, Modifiers::NONE);
                harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
                harness.run_steps(2);
                harness.event(eframe::egui::Event::Text(text.to_owned()));
                harness.run_steps(2);
                harness.key_press(Key::Enter);
                settle(harness);
                return true;
            }
            Row(row, _) => {
                let all = harness.root().children_recursive();
                let mut rows = all.filter(|node| node.accesskit_node().role() == Role::Row);
                // Behind what opens a row, before the line that is dragged to make a column wider.
                rows.nth(row).map(|row| {
                    let at = row.rect().left_center() + Vec2::new(40.0, 0.0);
                    Rect::from_center_size(at, Vec2::ZERO)
                })
            }
            Click(picture, share, _) | Hover(picture, share) => {
                place(harness, &[Role::Canvas, Role::Image, Role::Unknown], picture).map(|rect| {
                    let mut at = rect.min + rect.size() * Vec2::from(share);
                    if share[1] > 1.0 {
                        at.y = rect.bottom() - share[1];
                    }
                    Rect::from_center_size(at, Vec2::ZERO)
                })
            }
        };
        let Some(rect) = found else { return false };
        match self {
            Hover(..) | Rest(_) => {
                harness.hover_at(rect.center());
                settle(harness);
            }
            Row(_, modifiers) | Click(_, _, modifiers) => click(harness, rect, modifiers),
            _ => click(harness, rect, Modifiers::NONE),
        }
        true
    }
}

/// Clicks the middle of a rectangle and takes the pointer away.
fn click(harness: &mut Harness<'_, App>, rect: Rect, modifiers: Modifiers) {
    click_at(harness, rect.center(), modifiers);
    harness.remove_cursor();
    settle(harness);
}

pub fn without_paths(text: &str) -> String {
    text.replace(&directory_of_reports().display().to_string(), "<tmp>")
}

/// Where reports are written to be read: where possible a path that is the same in all checkouts, as
/// the width of texts would tell it.
pub fn directory_of_reports() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scenes");
    let within = directory.strip_prefix(env!("CARGO_MANIFEST_DIR")).map(Path::to_owned);
    within.unwrap_or(directory)
}

/// One model at two proportions, on two IPUs.
fn written_reports() -> Vec<PathBuf> {
    let directory = directory_of_reports();
    let write = |(name, proportion)| {
        let path = directory.join(name);
        drop(std::fs::remove_dir_all(&path));
        let options =
            ReportOptions { ipus: 2, proportion, execution: true, ..ReportOptions::default() };
        write_report(&options, &path, &Progress::default()).expect("a report");
        path
    };
    [("before", 0.6), ("after", 0.1)].map(write).into()
}

#[test]
#[ignore = "asserts nothing but that it can be done: for a comparison of two versions"]
fn every_scene_is_dumped() {
    let directory = std::env::var_os(DIRECTORY).map(PathBuf::from).expect("TILESCOPE_SCENES=DIR");
    std::fs::create_dir_all(&directory).expect("a directory");
    let both = written_reports();
    let one = both.iter().take(1).cloned().collect();
    let (one, both) = (Reports::Read(one), Reports::Read(both));
    let [overlaid, beside] = [Press("Overlaid"), Press("Side by side")].map(Some);
    let mut written = 0;
    let windows =
        [("one", &one, None), ("two-overlaid", &both, overlaid), ("two-beside", &both, beside)];
    for (prefix, reports, arrangement) in windows {
        let mut scenes = Scenes { directory: &directory, prefix, reports, arrangement, written: 0 };
        summary(&mut scenes);
        memory_of_tiles(&mut scenes);
        memory_maps(&mut scenes);
        liveness(&mut scenes);
        steps(&mut scenes);
        if arrangement.is_some() {
            comparison(&mut scenes);
        }
        written += scenes.written;
    }
    let made: [(_, Reports, _); 6] = [
        ("small", Reports::Made(|| vec![report::small()]), None),
        ("empty", Reports::Made(|| vec![report::empty()]), None),
        ("no-rows", Reports::Made(|| vec![report::without_rows()]), None),
        ("two-empty", Reports::Made(|| vec![report::small(), report::empty()]), overlaid),
        ("two-steps-overlaid", Reports::Made(steps_that_differ), overlaid),
        ("two-steps-beside", Reports::Made(steps_that_differ), beside),
    ];
    for (prefix, reports, arrangement) in made {
        let reports = &reports;
        let mut scenes = Scenes { directory: &directory, prefix, reports, arrangement, written: 0 };
        for page in ["Summary", "Insights", "Memory", "Liveness", "Comparison"] {
            scenes.scene(&page.to_lowercase(), &[&[Press(page)]]);
        }
        scenes.scene("liveness-step", &[&[Press("Liveness"), step(0.56)]]);
        scenes.scene("liveness-by-index", &[&[Press("Show steps by number"), Press("Liveness")]]);
        written += scenes.written;
    }
    eprintln!("{written} scenes in {}", directory.display());
}

fn steps_that_differ() -> Vec<Report> {
    vec![liveness_pair::source(), liveness_pair::target()]
}

fn summary(scenes: &mut Scenes<'_>) {
    scenes.scene("insights", &[&[Press("Insights")]]);
    scenes.scene("insights-ipu", &[&[Press("Insights"), Choose("Largest of", "IPU 1")]]);
    scenes.variants(
        "summary",
        &[Press("Summary")],
        [
            ("engine-options", Press("Engine options")),
            ("target-options", Press("Target options")),
            ("framework", Press("framework.json")),
            ("app", Press("app.json")),
            ("proportions", Press("availableMemoryProportion")),
            ("files", Press("Files")),
            ("row", Row(1, Modifiers::NONE)),
        ],
    );
}

/// The tables of the Memory page, by the names of their scenes.
const TABLES: [(&str, Act); 6] = [
    ("details", Press("Details")),
    ("variables", Press("Variables")),
    ("tiles", Press("Tiles")),
    ("compute-sets", Press("Compute sets")),
    ("vertices", Press("Vertices")),
    ("exchanges", Press("Exchanges")),
];

fn memory_of_tiles(scenes: &mut Scenes<'_>) {
    let page = [Press("Memory")];
    scenes.variants("memory", &page, TABLES);
    scenes.variants("memory-tile", &[page[0], Type("Select tiles", "5")], TABLES);
    scenes.variants("memory-some-tiles", &[page[0], Type("Select tiles", "0,3-5,20")], TABLES);
    scenes.variants(
        "memory",
        &page,
        [
            ("by-region", Choose("Breakdown", "Region")),
            ("by-category", Choose("Breakdown", "Category")),
            ("by-liveness", Choose("Breakdown", "Liveness")),
            ("ipu-1", Choose("Tiles shown", "IPU 1")),
            ("by-bytes", Choose("Order", "By bytes, largest first")),
            ("by-change", Choose("Order", "By change, largest first")),
            ("hovered", Hover(OVER_TILES, [0.3, 0.5])),
            ("clicked", Click(OVER_TILES, [0.3, 0.5], Modifiers::NONE)),
            ("without-limit", Switch("Limit")),
        ],
    );
    let hover = Hover(OVER_TILES, [0.3, 0.5]);
    let by_category = [Choose("Breakdown", "Category"), hover];
    scenes.scene("memory-by-category-hovered", &[&page, &by_category]);
    let variable = [Press("Variables"), Row(0, Modifiers::NONE), hover];
    scenes.scene("memory-variable", &[&page, &variable]);
    let narrowed = [Press("Variables"), Choose("Least change", "From 1.00 KiB")];
    scenes.scene("memory-variables-least-change", &[&page, &narrowed]);
}

fn memory_maps(scenes: &mut Scenes<'_>) {
    let differences = [Press("Memory"), Press("View of the map of differences")];
    scenes.scene("memory-differences", &[&differences]);
    scenes.scene(
        "memory-differences-hovered",
        &[&differences, &[Hover("Map of differences", [0.5; 2])]],
    );
    let tile = [Press("Map"), Press("One tile")];
    scenes.scene("memory-map", &[&tile]);
    scenes.variants(
        "memory-map",
        &tile,
        [
            ("tile-5", Type("Tile", "5")),
            ("by-liveness", Choose("Colors", "Liveness")),
            ("by-reason", Press("By reason")),
            ("variables", Press("Variables")),
            ("hovered", Hover(MAP, [0.1, 0.5])),
            ("clicked", Click(MAP, [0.1, 0.5], Modifiers::NONE)),
        ],
    );
    let all = [Press("Map"), Press("All tiles")];
    scenes.scene("memory-all-tiles", &[&all]);
    scenes.variants(
        "memory-all-tiles",
        &all,
        [
            ("by-liveness", Choose("Color", "By liveness")),
            ("by-gaps", Choose("Color", "By gaps")),
            ("at-a-step", Press("At a step")),
            ("hovered", Hover(ALL_TILES, [0.2, 0.3])),
            ("clicked", Click(ALL_TILES, [0.2, 0.3], Modifiers::NONE)),
        ],
    );
    let grid = [Press("Map"), Press("Floor plan")];
    scenes.scene("memory-grid", &[&grid]);
    scenes.variants(
        "memory-grid",
        &grid,
        [
            ("gaps", Choose("Figure", "Gaps")),
            ("difference", Press("Differences")),
            ("hovered", Hover(GRID, [0.01, 0.1])),
            ("clicked", Click(GRID, [0.01, 0.1], Modifiers::NONE)),
        ],
    );
}

/// The tables of the Liveness page, by the names of their scenes.
const AT_STEPS: [(&str, Act); 6] = [
    ("not-always-live", Press("Not always live")),
    ("always-live", Press("Always live")),
    ("lifetimes", Press("Lifetimes")),
    ("vertices", Press("Vertices")),
    ("cycles", Press("Cycle estimates")),
    ("flops", Press("FLOP estimates")),
];

fn liveness(scenes: &mut Scenes<'_>) {
    for (scope, entry) in [
        ("everything", "All IPUs"),
        ("ipu-1", "IPU 1"),
        ("one-tile", "One tile…"),
        ("worst-tile", "Worst tile of each step"),
    ] {
        let page = [Press("Liveness"), Choose("Scope", entry)];
        scenes.variants(&format!("liveness-{scope}"), &page, AT_STEPS);
        let stepped = [page[0], page[1], step(0.4)];
        scenes.scene(&format!("liveness-{scope}-step"), &[&stepped]);
        let hovered = [page[0], page[1], Hover(CURVE, [0.4, 0.5])];
        scenes.scene(&format!("liveness-{scope}-hovered"), &[&hovered]);
    }
    let tile = [Press("Memory"), Type("Select tiles", "5"), Press("Liveness")];
    scenes.scene("liveness-selected-tile", &[&tile, &[Choose("Scope", "One tile…")]]);
    let variable =
        [Press("Memory"), Press("Variables"), Row(1, Modifiers::NONE), Press("Liveness")];
    scenes.variants("liveness-variable", &variable, AT_STEPS);
}

fn steps(scenes: &mut Scenes<'_>) {
    let page = [Press("Liveness")];
    let one = [page[0], step(0.4)];
    let two = [page[0], step(0.4), one_more_step(0.7)];
    scenes.variants("liveness-step", &one, AT_STEPS);
    scenes.variants("liveness-two-steps", &two, AT_STEPS);
    scenes.variants(
        "liveness-two-steps",
        &two,
        [
            ("and-one", one_more_step(0.2)),
            ("opened", Press("Open row")),
            ("back", Press("Back")),
            ("deselected", Press("Deselect step")),
            ("map", Press("Memory")),
        ],
    );
    scenes.variants(
        "liveness",
        &page,
        [
            ("filtered", Type("Filter steps", "conv")),
            ("peak", Row(0, Modifiers::NONE)),
            ("without-stack", Switch("Stack")),
            ("without-always-live", Switch("Always live")),
            ("without-limit", Switch("Limit")),
            ("scaled-to-limit", Switch("Scale to limit")),
            ("zoomed", Type("Magnification", "400")),
            ("by-index", Press("Show steps by number")),
            ("without-always-live-of-source", Switch("Source: always live")),
        ],
    );
    let grouped = [Press("Not always live"), Choose("Grouping", "By operation")];
    scenes.scene("liveness-grouped", &[&page, &grouped]);
    let operation = [Row(0, Modifiers::NONE), Press("Mark its operation")];
    scenes.scene("liveness-operation", &[&page, &operation]);
    let peaks = [Row(0, Modifiers::NONE), Row(2, Modifiers::SHIFT)];
    scenes.scene("liveness-two-peaks", &[&page, &peaks]);
    let life = [Press("Lifetimes"), Type("Filter: lifetimes", "a"), step(0.4)];
    scenes.scene("liveness-lifetimes-filtered", &[&page, &life]);
    scenes.scene("liveness-bytes", &[&page, &[Press("Bytes")]]);
}

fn comparison(scenes: &mut Scenes<'_>) {
    scenes.scene(
        "swapped-liveness-step",
        &[&[Press("Liveness"), step(0.4), Press("Swap source and target")]],
    );
    scenes.scene("swapped-memory", &[&[Press("Swap source and target"), Press("Memory")]]);
    let ended = [Press("Liveness"), step(0.4), Press("End comparison")];
    scenes.scene("ended-liveness-step", &[&ended]);
    let page = [Press("Comparison")];
    scenes.variants(
        "comparison",
        &page,
        [
            ("operation", Press("operation")),
            ("module", Press("module")),
            ("variable", Press("variable")),
            ("always-live", Press("always live")),
            ("spikes", Press("Spikes")),
            ("plans", Press("Changed plans")),
            ("figures", Press("All figures")),
            ("options", Press("Options that differ")),
        ],
    );
    scenes.variants(
        "comparison-matching",
        &[page[0], Press("Matched and unmatched")],
        [
            ("steps", Press("Program steps")),
            ("programs", Press("Programs")),
            ("compute-sets", Press("Compute sets")),
            ("exchanges", Press("Exchanges")),
            ("variables", Press("Variables")),
            ("operations", Press("Operations")),
        ],
    );
}
