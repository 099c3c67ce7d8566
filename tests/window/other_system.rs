//! A report that is not Poplar's, made in memory: three allocations in two memory spaces, forty steps,
//! placements with lives, and no tile. The window shows it alone and compared, in its own words.

use eframe::egui::accesskit::Role;
use eframe::egui::{Modifiers, Theme, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tilescope::store::arena::Arenas;
use tilescope::store::ids::CategoryId;
use tilescope::store::liveness::{Deltas, Liveness, VariableBytes};
use tilescope::store::names::Names;
use tilescope::store::options::About;
use tilescope::store::placed::{Placed, Placement, ReadArena, ReadError};
use tilescope::store::program::{Programs, Steps};
use tilescope::store::report::{Categories, FileStatus, ReportFile};
use tilescope::store::variable::VariableFlags;
use tilescope::store::{
    Absence, ArenaId, ClassId, DeviceId, ProgramId, Report, StepId, System, UnloweredId,
};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

use crate::support::{
    assert_text, assert_texts, choose, click, click_at, copied, has_text, hover_share, is_enabled,
    line, open_map, open_tab, settle, texts, window,
};

/// The view of allocations side by side.
const OVER_STEPS: &str = "Allocations over steps";
const STEPS: u32 = 40;
/// The spaces, and what can be placed in them, bytes.
const SPACES: [(&str, u64); 2] = [("HBM", 6144), ("VMEM", 512)];
/// The allocations with their spaces and sizes.
const ALLOCATIONS: [(&str, u32, u64); 3] =
    [("parameters", 0, 2048), ("temporaries", 0, 4096), ("scratch", 1, 512)];

/// Its name, allocation, address, bytes, category and steps; always live without.
type Row = (&'static str, u32, u64, u64, u32, Option<[u32; 2]>);

/// What is placed.
const PLACED: [Row; 8] = [
    ("%weights", 0, 0, 1536, 0, None),
    ("%bias", 0, 1600, 64, 0, None),
    ("%input", 1, 0, 1024, 1, Some([0, 18])),
    ("%convolution.1", 1, 1024, 2048, 1, Some([4, 14])),
    ("%fusion.2", 1, 1024, 512, 1, Some([14, 30])),
    ("%alias of fusion.2", 1, 1024, 512, 1, Some([20, 30])),
    ("%output", 1, 3328, 256, 1, Some([28, 40])),
    ("%window", 2, 128, 256, 2, Some([6, 12])),
];

#[derive(Debug)]
struct Allocations(Vec<Placed>);

impl ReadArena for Allocations {
    fn read(
        &self,
        arena: ArenaId,
        _: &tilescope::progress::Progress,
    ) -> Result<Option<Placed>, ReadError> {
        Ok(self.0.get(arena.0 as usize).cloned())
    }
}

/// The report, in which the convolution takes so many bytes.
fn report(name: &str, convolution: u64) -> Report {
    let system = System {
        device: "Space",
        all_devices: "All spaces",
        arena: "Allocation",
        arena_in_text: "allocation",
        an_arena: "an allocation",
        arenas: "allocations",
        ..System::GENERAL
    };
    let report = Report::of(system, PathBuf::from(name));
    let size = |row: usize| if row == 3 { convolution } else { PLACED[row].3 };
    report.set_files(vec![ReportFile {
        name: "module.hlo.pb".into(),
        bytes: Some(1000),
        status: FileStatus::Ok,
    }]);
    report.about.fill(Some(About {
        format: Some("buffer assignment".into()),
        why_no_phases: Some(Absence::unexplained()),
        ..About::default()
    }));

    let mut arenas = Arenas::default();
    for (id, (name, space, bytes)) in (0..).zip(ALLOCATIONS) {
        assert!(arenas.ids.push(ArenaId(id)));
        arenas.names.push(name);
        // Each holds the same in every run.
        arenas.contents.push(u64::from(id));
        arenas.devices.push(Some(DeviceId(space)));
        arenas.capacities.push(Some(bytes));
        let rows = PLACED.iter().filter(|row| row.1 == id && row.5.is_none());
        arenas.always_live.push(Some(rows.map(|row| row.3).sum()));
    }
    let names = (0..).zip(SPACES).map(|(id, (name, _))| (DeviceId(id), name.to_owned()));
    arenas.device_names = names.collect();
    report.arenas.fill(Some(arenas));

    let (mut steps, mut programs) = (Steps::default(), Programs::default());
    let kinds = ["fusion", "convolution", "copy"].map(|kind| programs.kind_names.push(kind));
    for id in 0..STEPS {
        assert!(steps.ids.push(StepId(id)) && programs.ids.push(ProgramId(id)));
        steps.programs.push(ProgramId(id));
        steps.parents.push(None);
        programs.kinds.push(Some(kinds[id as usize % 3]));
        programs.names.push(&format!("%instruction.{id}"));
        programs.debug_ids.push(0);
        programs.compute_sets.push(None);
        programs.exchanges.push(None);
        programs.children_ends.push(0);
    }
    report.steps.fill(Some(steps));
    report.programs.fill(Some(programs));

    let mut liveness = Liveness::default();
    let mut bytes = Vec::new();
    let mut deltas: [BTreeMap<u32, i64>; 2] = Default::default();
    for (id, row) in (0..).zip(&PLACED) {
        let [start, end] = row.5.unwrap_or([0, STEPS]);
        assert!(liveness.classes.push(ClassId(id), row.5.is_none(), [start..end]));
        assert!(liveness.variable_ids.push(UnloweredId(id)));
        liveness.variable_names.push(row.0);
        liveness.debug_id_ends.push(0);
        let size = size(id as usize);
        bytes.push(VariableBytes { variable: UnloweredId(id), class: ClassId(id), bytes: size });
        // What lies over another counts once.
        if row.5.is_some() && !row.0.contains("alias") {
            let space = &mut deltas[ALLOCATIONS[row.1 as usize].1 as usize];
            *space.entry(start).or_default() += i64::try_from(size).expect("small");
            *space.entry(end).or_default() -= i64::try_from(size).expect("small");
        }
    }
    liveness.variable_bytes = Some(bytes);
    let mut everything: BTreeMap<u32, i64> = BTreeMap::new();
    deltas.iter().flatten().for_each(|(at, delta)| *everything.entry(*at).or_default() += delta);
    let by_device = (0..).zip(deltas).map(|(id, of)| (DeviceId(id), of.into_iter().collect()));
    report.deltas.fill(Some(Deltas {
        everything: everything.into_iter().collect(),
        by_device: by_device.collect(),
        ..Deltas::default()
    }));
    report.liveness.fill(Some(liveness));

    let mut categories = Categories::default();
    for (id, name) in (0..).zip(["parameter", "temporary", "scratch"]) {
        assert!(categories.ids.push(CategoryId(id)));
        categories.names.push(name);
    }
    report.categories.fill(Some(categories));
    let placed = (0..3).map(|arena| {
        let rows = PLACED.iter().enumerate().filter(|(_, row)| row.1 == arena);
        let mut names = Names::default();
        let placement = |(id, row): (usize, &Row)| {
            names.push(row.0);
            Placement {
                id: id as u32,
                offset: row.2,
                bytes: size(id),
                alignment: 0,
                category: Some(row.4),
                class: ClassId(id as u32),
                unlowered: Some(UnloweredId(id as u32)),
                flags: VariableFlags(1),
            }
        };
        let placements: Vec<Placement> = rows.map(placement).collect();
        let none = vec![Vec::new(); placements.len()];
        Placed::new(placements, names, none.clone(), none)
    });
    report.set_reader(Box::new(Allocations(placed.collect())));
    report.settle_rest(&Absence::unexplained());
    report
}

fn alone() -> Harness<'static, App> {
    window(Theme::Light, |ctx| App::with_runs(ctx, vec![Arc::new(report("module.1", 2048))]))
}

fn compared() -> Harness<'static, App> {
    window(Theme::Dark, |ctx| {
        App::with_runs(
            ctx,
            vec![Arc::new(report("module.1", 2048)), Arc::new(report("module.2", 1280))],
        )
    })
}

fn go(harness: &mut Harness<'_, App>, page: Page) {
    harness.state_mut().go(page);
    settle(harness);
    is_in_its_own_words(harness);
}

/// Nothing in the window is in words of Poplar.
#[track_caller]
fn is_in_its_own_words(harness: &Harness<'_, App>) {
    let words = ["tile", "tiles", "ipu", "ipus", "poplar", "poplibs", "availablememoryproportion"];
    let all = texts(harness);
    assert!(all.len() > 40, "a page is there: {all:#?}");
    for text in all {
        let lower = text.to_lowercase();
        let mut found = lower.split(|letter: char| !letter.is_alphanumeric());
        assert!(!found.any(|word| words.contains(&word)), "{text:?}");
    }
}

/// Opens every tab of the page, which have these names.
fn every_tab(harness: &mut Harness<'_, App>, tabs: &[&str]) {
    for tab in tabs {
        open_tab(harness, tab);
        is_in_its_own_words(harness);
    }
}

#[test]
fn the_summary_says_what_spaces_hold() {
    let mut harness = alone();
    go(&mut harness, Page::Summary);
    assert_texts(&harness, &["HBM", "VMEM", "Always live", "buffer assignment", "module.hlo.pb"]);
    assert_text(&harness, "(3,328 B) not always live at step 6, fusion");
    for absent in ["Machine", "Graph", "Engine options", "Nothing was recorded", "Compiler phases"]
    {
        assert!(!has_text(&harness, absent), "{absent}");
    }
    let mut harness = compared();
    go(&mut harness, Page::Summary);
    assert_texts(&harness, &["HBM", "Liveness peak", "Difference"]);
}

#[test]
fn liveness_has_a_curve_of_everything_of_a_space_and_of_an_allocation() {
    let mut harness = alone();
    go(&mut harness, Page::Liveness);
    hover_share(&mut harness, "Liveness curve", 0.3);
    settle(&mut harness);
    is_in_its_own_words(&harness);
    assert_texts(&harness, &["%convolution.1", "Not always live"]);
    every_tab(&mut harness, &["Always live", "Lifetimes"]);
    assert!(!has_text(&harness, "Cycle estimates"));
    for scope in ["HBM", "VMEM", "All spaces", "One allocation…"] {
        choose(&mut harness, "Scope", scope);
        is_in_its_own_words(&harness);
        assert!(!has_text(&harness, "no curve"), "{scope}");
    }
    // It begins with the largest.
    open_tab(&mut harness, "Peaks");
    assert_text(&harness, "largest first");
    let peaks = copied(&mut harness, "peaks");
    let column = peaks[0].iter().position(|title| title == "Not always live (bytes)");
    assert_eq!(line(&peaks, "4")[column.expect("a column")], "3072", "{peaks:?}");
    open_tab(&mut harness, "Lifetimes");
    let lives = copied(&mut harness, "lifetimes");
    assert_eq!(line(&lives, "%convolution.1")[1..4], ["2048", "1024", "10"], "{lives:?}");
    let mut harness = compared();
    go(&mut harness, Page::Liveness);
    hover_share(&mut harness, "Liveness curves of both", 0.3);
    settle(&mut harness);
    is_in_its_own_words(&harness);
    assert_texts(&harness, &["%convolution.1", "−768 B"]);
}

#[test]
fn the_map_of_an_allocation_has_gaps_and_variables() {
    let mut harness = alone();
    go(&mut harness, Page::Map);
    assert_texts(&harness, &["One allocation", "temporaries of HBM", "3.50 KiB with gaps"]);
    assert!(!has_text(&harness, "Floor plan") && is_enabled(&harness, "Allocation before"));
    every_tab(&mut harness, &["Gaps", "By reason", "Over the limit", "Variables"]);
    let variables = copied(&mut harness, "Variables of the allocation");
    assert_eq!(variables.len(), 1 + 5, "{variables:?}");
    let picture = harness.get_by_role_and_label(Role::Canvas, "Memory map of an allocation");
    let at = picture.rect().center();
    harness.hover_at(at);
    settle(&mut harness);
    is_in_its_own_words(&harness);
    assert_text(&harness, "Temporary");
    harness.get_by_label("Allocation before").click();
    settle(&mut harness);
    assert_text(&harness, "parameters of HBM");
    is_in_its_own_words(&harness);
    let picture = harness.get_by_role_and_label(Role::Canvas, "Addresses over steps");
    assert_eq!(picture.accesskit_node().value().expect("a value"), "parameters, 40 steps");
    let at = picture.rect().left_bottom() + Vec2::new(120.0, -80.0);
    harness.hover_at(at);
    settle(&mut harness);
    is_in_its_own_words(&harness);
    assert_text(&harness, "%weights");
}

#[test]
fn all_allocations_lie_side_by_side_on_one_axis_of_steps() {
    let mut harness = alone();
    go(&mut harness, Page::Map);
    open_map(&mut harness, OVER_STEPS);
    is_in_its_own_words(&harness);
    // At step 4 the convolution and the input are there, and what is there throughout.
    let picture = |harness: &Harness<'_, App>| {
        harness.get_by_role_and_label(Role::Canvas, OVER_STEPS).accesskit_node().value()
    };
    let value = picture(&harness).expect("a value");
    assert!(value.starts_with("2 allocations, step 4: "), "{value}");
    assert_texts(&harness, &["of 6.00 KiB are free, in 3 pieces", "Parameter", "Temporary"]);
    let allocations = copied(&mut harness, "allocations");
    let parameters = line(&allocations, "parameters");
    assert_eq!(parameters[2..8], ["2048", "1600", "448", "384", "2", "2"], "{allocations:?}");
    // Where the convolution lies.
    let rect = harness.get_by_role_and_label(Role::Canvas, OVER_STEPS).rect();
    let at = Vec2::new(96.0 + 0.22 * (rect.width() - 312.0), 0.3 * rect.height());
    click_at(&mut harness, rect.min + at, Modifiers::NONE);
    assert_texts(&harness, &["%convolution.1", "step 4 to 13", "0x400"]);
    let blocks = copied(&mut harness, "blocks");
    assert_eq!(blocks[0][..2], ["Name", "Size (bytes)"]);
    assert_eq!(line(&blocks, "%convolution.1")[1..3], ["2048", "Temporary"], "{blocks:?}");
    choose(&mut harness, "Device", "VMEM");
    is_in_its_own_words(&harness);
    let value = picture(&harness).expect("a value");
    assert!(value.starts_with("1 allocation, "), "{value}");
}

#[test]
fn allocations_of_two_runs_share_their_steps() {
    let mut harness = compared();
    go(&mut harness, Page::Map);
    open_map(&mut harness, OVER_STEPS);
    let rects = ["Source", "Target"].map(|run| {
        let name = format!("{OVER_STEPS}, {run}");
        harness.get_by_role_and_label(Role::Canvas, &name).rect()
    });
    assert_eq!(rects[0].x_range(), rects[1].x_range());
    assert!(rects[0].bottom() <= rects[1].top(), "{rects:?}");
    let convolution = |harness: &mut Harness<'_, App>| {
        let blocks = copied(harness, "blocks");
        line(&blocks, "%convolution.1")[1].clone()
    };
    click(&mut harness, "Variables");
    assert_eq!(convolution(&mut harness), "2048");
    // Tables are of the run that is clicked, and of the allocation there.
    let of_target = [0.5, 0.3, 0.7, 0.1, 0.9].into_iter().find_map(|share| {
        let at = rects[1].min + Vec2::new(200.0, rects[1].height() * share);
        click_at(&mut harness, at, Modifiers::NONE);
        let blocks = copied(&mut harness, "blocks");
        Some(blocks.iter().find(|row| row[0] == "%convolution.1")?[1].clone())
    });
    assert_eq!(of_target.as_deref(), Some("1280"));
    is_in_its_own_words(&harness);
}

#[test]
fn maps_of_two_lie_above_each_other() {
    let mut harness = compared();
    go(&mut harness, Page::Map);
    assert_texts(&harness, &["Memory map of the source", "Memory map of the target"]);
    let variables = copied(&mut harness, "Variables of the allocation in both");
    assert!(line(&variables, "%convolution.1").contains(&"-768".to_owned()), "{variables:?}");
    is_in_its_own_words(&harness);
    for run in ["Source", "Target"] {
        harness.get_by_label(&format!("Addresses over steps, {run}"));
    }
}

#[test]
fn what_is_not_known_of_it_is_said_in_its_words() {
    for mut harness in [Box::new(alone()), Box::new(compared())] {
        go(&mut harness, Page::Insights);
        assert_text(&harness, "It is not known whether it fits");
    }
    let mut harness = compared();
    go(&mut harness, Page::Comparison);
    assert_texts(
        &harness,
        &["Temporary memory at the peak fell by 768 B", "Not always live at the peak"],
    );
}

#[test]
fn pages_of_another_system_look_as_they_did() {
    let mut results = SnapshotResults::new();
    let mut picture = |harness: &mut Harness<'static, App>, page: Page, name: &str| {
        go(harness, page);
        harness.remove_cursor();
        settle(harness);
        harness.snapshot(format!("other-system-{name}"));
        results.extend_harness(harness);
    };
    let (mut one, mut two) = (alone(), compared());
    picture(&mut one, Page::Summary, "summary");
    picture(&mut one, Page::Map, "map");
    picture(&mut one, Page::Liveness, "liveness");
    picture(&mut two, Page::Map, "map-of-two");
    picture(&mut two, Page::Liveness, "liveness-of-two");
}
