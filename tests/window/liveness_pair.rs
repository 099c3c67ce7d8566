//! Drives the Liveness page of two reports: steps were put in and taken out, so that matched steps have
//! different numbers.

use std::ops::Range;
use std::sync::Arc;

use crate::support::{
    assert_text, choose, click, click_at, copied, has_text, hover_share, open_tab, settle, texts,
    window, window_sized,
};
use eframe::egui::accesskit::{Role, Toggled};
use eframe::egui::{Key, Modifiers, Theme, Vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use tilescope::store::compute::ComputeSets;
use tilescope::store::debug_info::{Context, DebugInfo, Proportion, TextRef};
use tilescope::store::liveness::{Classes, Deltas, Liveness, TileVariableBytes, VariableBytes};
use tilescope::store::memory::TileMemory;
use tilescope::store::names::Interner;
use tilescope::store::options::About;
use tilescope::store::program::{Programs, Steps};
use tilescope::store::report::Part;
use tilescope::store::target::Target;
use tilescope::store::{ClassId, DeviceId, ProgramId, Report, StepId, TileId, UnloweredId};
use tilescope::systems::poplar::WORDS;
use tilescope::systems::poplar::files::absent;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

const BOTH: &str = "Liveness curves of both";
const OF_SOURCE: &str = "Liveness curve of the source";
const OF_TARGET: &str = "Liveness curve of the target";
/// Tiles of both reports.
const TILES: u32 = 4;
/// The steps of the convolution that makes the spike.
const SPIKES: [u32; 2] = [30, 38];
/// Slots of the axis: 56 steps of both, 4 only in the source, 8 only in the target.
const SLOTS: u32 = 68;
/// The slot of the spike, which 8 steps of the target come before.
const SPIKE: u32 = 38;

/// A variable: name, bytes, and when it is alive; always where that is never.
type Variable = (&'static str, u64, Range<u32>);

/// 60 steps; the convolution needs much.
pub fn source() -> Report {
    let names: Vec<String> = (0..60).map(step_name).collect();
    let [spike, _] = SPIKES;
    let variables = [
        ("weights", 400_000, 0..0),
        ("activations", 90_000, 3..57),
        ("layer1/conv/scratch", 420_000, spike..spike + 1),
        ("layer1/conv/gone", 60_000, 26..34),
        ("layer2/output", 150_000, 48..52),
    ];
    report("before", &names, &variables, 0.75)
}

/// The same without four steps after the spike and with eight more before it, which need memory of
/// their own; the convolution needs less.
pub fn target() -> Report {
    let mut names: Vec<String> = (0..60).map(step_name).collect();
    names.drain(40..44);
    let more = (0..8).map(|index| format!("layer1/conv/split{index}"));
    names.splice(20..20, more);
    let [_, spike] = SPIKES;
    let variables = [
        ("weights", 410_000, 0..0),
        ("activations", 90_000, 3..61),
        ("layer1/conv/scratch", 180_000, spike..spike + 1),
        ("layer1/conv/split", 120_000, 22..26),
        ("layer2/output", 150_000, 52..56),
    ];
    report("after", &names, &variables, 0.6)
}

fn step_name(step: u32) -> String {
    match step {
        30 => "layer1/conv/Convolve".to_owned(),
        _ => format!("layer{}/step{step}", step / 25),
    }
}

fn report(name: &str, names: &[String], variables: &[Variable], proportion: f64) -> Report {
    let report = Report::of(WORDS, format!("/reports/{name}").into());
    let (mut steps, mut programs) = (Steps::default(), Programs::default());
    let execute = programs.kind_names.push("OnTileExecute");
    for (id, name) in (0..).zip(names) {
        steps.ids.push(StepId(id));
        steps.programs.push(ProgramId(id));
        steps.parents.push(None);
        programs.ids.push(ProgramId(id));
        programs.kinds.push(Some(execute));
        programs.names.push(name);
        programs.debug_ids.push(if name.contains("/conv/") { 1 } else { 2 });
        programs.compute_sets.push(None);
        programs.children_ends.push(0);
    }
    report.steps.fill(Some(steps));
    report.programs.fill(Some(programs));
    report.debug.fill(Some(debug(proportion)));
    report.target.fill(Some(Target {
        tiles: Some(u64::from(TILES)),
        tiles_per_device: Some(u64::from(TILES)),
        devices: Some(1),
        bytes_per_tile: Some(200_000),
        ..Target::default()
    }));
    let mut memory = TileMemory::default();
    for tile in 0..TILES {
        memory.tiles.push(TileId(tile));
        memory.total.push(Some(150_000));
        memory.including_gaps.push(Some(151_000));
        let always_live = variables.first().map_or(0, |weights| weights.1 / u64::from(TILES));
        memory.always_live.push(Some(always_live));
        memory.not_always_live_max.push(Some(50_000));
        memory.by_region.iter_mut().for_each(|region| region.push(Some(0)));
    }
    report.memory.fill(Some(memory));
    report.fill_arenas_with_tiles();
    let (deltas, liveness) = liveness(variables);
    report.deltas.fill(Some(deltas));
    report.tile_variable_bytes.fill(liveness.variable_bytes.as_deref().map(by_tile));
    report.liveness.fill(Some(liveness));
    report.compute_sets.fill(Some(ComputeSets::default()));
    report.about.fill(Some(About::default()));
    report.graph.settle(Err(absent::graph()));
    report.categories.settle(Err(absent::categories()));
    report.execution.settle(Err(absent::execution()));
    report.variables.settle(Err(absent::variables()));
    report.vertex_types.settle(Err(absent::vertex_types()));
    report.compute_set_tiles.settle(Err(absent::compute_set_tiles()));
    report.exchanges.settle(Err(absent::exchanges()));
    report
}

fn debug(proportion: f64) -> DebugInfo {
    let (mut words, mut debug) = (Interner::default(), DebugInfo::default());
    for (id, kind, name, proportion) in [
        (1, "convolution", "layer1/conv", Proportion::Value(proportion)),
        (2, "mapInPlace", "layer1/add", Proportion::Absent),
    ] {
        let name = TextRef(debug.texts.push(name).0);
        debug.push(Context {
            layer: Some(words.intern("poplibs")),
            kind: Some(words.intern(kind)),
            name,
            proportion,
            ..Context::of(id)
        });
    }
    debug.words = words.into_names();
    debug.known_layers = tilescope::systems::poplar::files::layers();
    debug
}

/// Each variable has a class of its own.
fn liveness(variables: &[Variable]) -> (Deltas, Liveness) {
    let (mut classes, mut liveness) = (Classes::default(), Liveness::default());
    let (mut rows, mut deltas) = (Vec::new(), Vec::new());
    for (id, (name, bytes, range)) in (0..).zip(variables) {
        classes.ids.push(ClassId(id));
        classes.always_live.push(range.is_empty());
        liveness.variable_ids.push(UnloweredId(id));
        liveness.variable_names.push(name);
        rows.push(VariableBytes { variable: UnloweredId(id), class: ClassId(id), bytes: *bytes });
        if !range.is_empty() {
            let signed = i64::try_from(*bytes).expect("small");
            deltas.extend([(range.start, signed), (range.end, -signed)]);
            classes.ranges.push(range.clone());
        }
        classes.range_ends.push(classes.ranges.len());
    }
    deltas.sort_by_key(|(step, _)| *step);
    liveness.classes = classes;
    liveness.variable_bytes = Some(rows);
    let by_device = [(DeviceId(0), deltas.clone())].into();
    (Deltas { everything: deltas, by_device, ..Deltas::default() }, liveness)
}

/// Tile 2 has twice as much as each of the others.
fn by_tile(rows: &[VariableBytes]) -> TileVariableBytes {
    let mut table = TileVariableBytes::default();
    for tile in 0..TILES {
        let first = table.len();
        for row in rows {
            let share = row.bytes / 5 * if tile == 2 { 2 } else { 1 };
            table.variables.push(row.variable);
            table.classes.push(row.class);
            table.bytes.push(u32::try_from(share).expect("small"));
        }
        table.tiles.push(TileId(tile));
        table.rows.push(first..table.len());
    }
    table
}

fn page_on(theme: Theme, source: Report, target: Report) -> Harness<'static, App> {
    let (source, target) = (Arc::new(source), Arc::new(target));
    let mut harness = window(theme, |ctx| App::with_runs(ctx, vec![source, target]));
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    harness
}

fn page() -> Harness<'static, App> {
    page_on(Theme::Light, source(), target())
}

fn press(harness: &mut Harness<'_, App>, key: Key, modifiers: Modifiers) {
    harness.key_press_modifiers(modifiers, key);
    settle(harness);
}

fn value(harness: &Harness<'_, App>, picture: &str) -> String {
    harness.get_by_label(picture).value().unwrap_or_default()
}

/// Where a slot lies in the width of a picture, when all of them are visible.
fn share(slot: u32) -> f32 {
    (slot as f32 + 0.5) / SLOTS as f32
}

fn click_slot(harness: &mut Harness<'_, App>, picture: &str, slot: u32, modifiers: Modifiers) {
    let rect = harness.get_by_label(picture).rect();
    let at = rect.left_center() + Vec2::new(rect.width() * share(slot), 0.0);
    click_at(harness, at, modifiers);
}

pub fn sum(table: &[Vec<String>], column: usize) -> i64 {
    let number = |line: &Vec<String>| line[column].parse::<i64>().unwrap_or(0);
    table.iter().skip(1).map(number).sum()
}

#[test]
fn both_curves_stand_in_one_picture_over_matched_steps() {
    let mut harness = page();
    assert_text(&harness, "56 steps matched, 12 in one only");
    let peaks = value(&harness, BOTH);
    assert!(peaks.starts_with("step 30 of the source, step 38 of the target"), "{peaks}");
    assert!(peaks.contains("556.6 KiB → 263.7 KiB not always live"), "{peaks}");
    assert!(peaks.contains("▼ −293.0 KiB (−52.6 %)"), "{peaks}");
    let is_on = |harness: &Harness<'_, App>, name: &str| {
        let node = harness.get_by_role_and_label(Role::CheckBox, name);
        node.accesskit_node().toggled() == Some(Toggled::True)
    };
    for name in [
        "Source: not always live",
        "Source: always live",
        "Target: not always live",
        "Target: always live",
        "Limit",
        "Only in source",
        "Only in target",
        "Stack",
        "Scale to limit",
    ] {
        let before = is_on(&harness, name);
        harness.get_by_role_and_label(Role::CheckBox, name).click();
        settle(&mut harness);
        assert_ne!(is_on(&harness, name), before, "{name}");
        harness.get_by_role_and_label(Role::CheckBox, name).click();
        settle(&mut harness);
        assert_eq!(is_on(&harness, name), before, "{name}");
    }
}

#[test]
fn the_pointer_learns_of_both() {
    let mut harness = page();
    hover_share(&mut harness, BOTH, share(SPIKE));
    settle(&mut harness);
    for text in [
        "In both",
        "Source before",
        "Target after",
        "30, OnTileExecute",
        "38, OnTileExecute",
        "convolution (poplibs)",
        "the same",
        "0.75",
        "0.6",
        "556.6 KiB",
        "263.7 KiB",
        "▼ −293.0 KiB (−52.6 %)",
        "layer1/conv/scratch",
        "layer1/conv/gone",
        "only in source",
    ] {
        assert_text(&harness, text);
    }
    // A step that was put in.
    hover_share(&mut harness, BOTH, share(22));
    settle(&mut harness);
    assert_text(&harness, "Only in target");
    assert_text(&harness, "the source is still as after step 19");
    assert_text(&harness, "22, OnTileExecute");
    assert_text(&harness, "layer1/conv/split");
    assert_text(&harness, "only in target");
}

#[test]
fn peaks_are_matched_though_their_steps_have_other_numbers() {
    let mut harness = page();
    let peaks = copied(&mut harness, "peaks of both");
    assert_eq!(peaks[0][..2], ["Source step", "Target step"]);
    assert_eq!(
        peaks[0][4..7].iter().map(|title| title.trim_matches('"')).collect::<Vec<_>>(),
        [
            "Source: not always live (bytes)",
            "Target: not always live (bytes)",
            "Source: over the limit (bytes)"
        ]
    );
    assert_eq!(
        peaks[1],
        [
            "30",
            "38",
            "convolution 0.75 → 0.6",
            "layer1/conv/Convolve",
            "570000",
            "270000",
            "170000",
            "-300000",
            "-52.6",
        ]
    );
    let of_both = peaks.iter().find(|line| line[0] == "48").expect("the second peak");
    assert_eq!(of_both[1], "52");
    assert_eq!(of_both[4..8], ["240000", "240000", "0", "0"]);
    let alone = peaks.iter().find(|line| line[1] == "22").expect("the peak of steps put in");
    assert_eq!(alone[0], "");
    assert_eq!(alone[4..], ["", "210000", "", "", "only in target"]);
    // A click selects the slot.
    let row = harness.get_by_role_and_label(Role::Row, "48").rect();
    click_at(&mut harness, row.left_center() + Vec2::new(12.0, 0.0), Modifiers::NONE);
    assert_text(&harness, "step 48 → 52, layer1/step48");
}

#[test]
fn by_index_other_steps_belong_together() {
    let mut harness = page();
    press(&mut harness, Key::F8, Modifiers::NONE);
    let peaks = copied(&mut harness, "peaks of both");
    let steps: Vec<_> = peaks.iter().skip(1).map(|line| (&*line[0], &*line[1])).collect();
    assert!(steps.contains(&("30", "30")) && steps.contains(&("38", "38")), "{steps:?}");
    assert!(!steps.contains(&("30", "38")), "{steps:?}");
    // A row that is of two other steps names both, and nothing is said to be matched.
    let of_other_steps = peaks.iter().find(|line| line[0] == "38").expect("a peak");
    assert_eq!(of_other_steps[3], "layer1/step38 → layer1/conv/Convolve");
    assert_text(&harness, "Steps aligned by number");
    assert!(!has_text(&harness, "56 steps matched"));
    // The selection stays on its step of the source.
    press(&mut harness, Key::F8, Modifiers::NONE);
    click_slot(&mut harness, BOTH, SPIKE, Modifiers::NONE);
    assert_text(&harness, "step 30 → 38, layer1/conv/Convolve");
    press(&mut harness, Key::F8, Modifiers::NONE);
    assert_text(&harness, "step 30 of both, layer1/conv/Convolve → ");
}

#[test]
fn differences_add_up_to_the_curves() {
    let mut harness = page();
    open_tab(&mut harness, "Not always live");
    assert_text(&harness, "each at its own peak: step 30 of the source, step 38 of the target");
    let name = "not always live variables of both";
    let rows = copied(&mut harness, name);
    assert_eq!(rows[0][0], "Variable before lowering");
    assert_eq!(rows[1][..4], ["layer1/conv/scratch", "420000", "180000", "-240000"]);
    assert_eq!((sum(&rows, 1), sum(&rows, 2), sum(&rows, 3)), (570_000, 270_000, -300_000));
    let gone = rows.iter().find(|row| row[0] == "layer1/conv/gone").expect("a row");
    assert_eq!(gone[1..], ["60000", "", "-60000", "only in source"]);
    click_slot(&mut harness, BOTH, 22, Modifiers::NONE);
    assert_text(&harness, "at step 22, only in target (the source is still as after step 19)");
    let rows = copied(&mut harness, name);
    assert_eq!((sum(&rows, 1), sum(&rows, 2)), (90_000, 210_000));
    for (grouping, group) in [("By operation", "layer1/conv, convolution"), ("By module", "layer1")]
    {
        choose(&mut harness, "Grouping", grouping);
        let rows = copied(&mut harness, name);
        assert!(rows.iter().any(|row| row.join(",").contains(group)), "{rows:?}");
    }
    harness.get_all_by_role_and_label(Role::Button, "Always live").last().expect("a tab").click();
    settle(&mut harness);
    let rows = copied(&mut harness, "always live variables of both");
    assert_eq!(rows[1][..4], ["weights", "400000", "410000", "10000"]);
}

#[test]
fn side_by_side_the_pictures_move_together() {
    let mut harness = page();
    assert!(harness.query_by_label(OF_SOURCE).is_none());
    press(&mut harness, Key::F7, Modifiers::NONE);
    assert!(harness.query_by_label(BOTH).is_none());
    let [upper, lower] = [OF_SOURCE, OF_TARGET].map(|name| harness.get_by_label(name).rect());
    assert!(
        (upper.left() - lower.left()).abs() < 0.5 && (upper.right() - lower.right()).abs() < 0.5
    );
    assert!(upper.bottom() <= lower.top());
    click_slot(&mut harness, OF_TARGET, SPIKE, Modifiers::NONE);
    for picture in [OF_SOURCE, OF_TARGET] {
        let value = value(&harness, picture);
        assert!(value.starts_with("step 30 → 38"), "{picture}: {value}");
    }
    // One key press zooms once, and in both.
    press(&mut harness, Key::Plus, Modifiers::NONE);
    let field = harness.get_by_role_and_label(Role::TextInput, "Magnification");
    assert_eq!(field.value().as_deref(), Some("150 %"));
    hover_share(&mut harness, OF_SOURCE, 0.5);
    settle(&mut harness);
    assert_text(&harness, "In both");
    press(&mut harness, Key::Num0, Modifiers::NONE);
    press(&mut harness, Key::F7, Modifiers::NONE);
    assert!(value(&harness, BOTH).starts_with("step 30 → 38"));
}

#[test]
fn the_keyboard_goes_from_slot_to_slot() {
    let mut harness = page();
    click_slot(&mut harness, BOTH, 19, Modifiers::NONE);
    assert_text(&harness, "step 19 of both");
    press(&mut harness, Key::ArrowRight, Modifiers::NONE);
    assert_text(&harness, "step 20, only in target");
    press(&mut harness, Key::End, Modifiers::NONE);
    assert_text(&harness, "step 59 → 63");
    press(&mut harness, Key::Home, Modifiers::SHIFT);
    assert_text(&harness, "2 steps are selected, the first is compared: step 59 → 63");
    click(&mut harness, "Deselect steps");
    assert_text(&harness, "Peaks: step 30 of the source, step 38 of the target");
    click_slot(&mut harness, BOTH, SPIKE, Modifiers::NONE);
    press(&mut harness, Key::F6, Modifiers::NONE);
    assert_text(&harness, "step 38 → 30");
}

#[test]
fn the_filter_looks_in_both() {
    let mut harness = page();
    harness.get_by_role_and_label(Role::TextInput, "Filter steps").focus();
    harness.run_steps(2);
    harness.get_by_role_and_label(Role::TextInput, "Filter steps").type_text("convolution");
    settle(&mut harness);
    assert_text(&harness, "Source 1, target 9 steps match, and 2 of 3 peaks");
    click(&mut harness, "Largest: step 30 → 38, 556.6 KiB");
    assert_text(&harness, "step 30 → 38, layer1/conv/Convolve");
    click(&mut harness, "Mark its operation");
    assert_text(&harness, "convolution layer1/conv: 1 steps of the source, 9 of the target");
    click(&mut harness, "Deselect operation");
    assert!(!has_text(&harness, "steps of the source, 9 of the target"));
}

#[test]
fn a_variable_is_followed_in_both() {
    let mut harness = page();
    open_tab(&mut harness, "Not always live");
    let row = harness.get_by_role_and_label(Role::Row, "layer1/conv/scratch").rect();
    // Beside the triangle that unfolds the row.
    click_at(&mut harness, row.left_center() + Vec2::new(60.0, 0.0), Modifiers::NONE);
    let text = "layer1/conv/scratch: source 410.2 KiB at most, alive at 1 steps; target 175.8 KiB at \
                most, alive at 1 steps";
    assert_text(&harness, text);
    click(&mut harness, "Lifetimes");
    assert_text(&harness, "alive at step 30");
    assert_text(&harness, "alive at step 38");
    let lives = copied(&mut harness, "lifetimes in the target");
    assert!(lives.iter().any(|row| row[0] == "weights"), "{lives:?}");
    click(&mut harness, "Deselect variable");
    assert!(!has_text(&harness, "alive at 1 steps"));
}

#[test]
fn every_scope_is_compared() {
    let mut harness = page();
    choose(&mut harness, "Scope", "IPU 0");
    assert!(value(&harness, BOTH).starts_with("step 30 of the source"));
    choose(&mut harness, "Scope", "Worst tile of each step");
    hover_share(&mut harness, BOTH, share(SPIKE));
    settle(&mut harness);
    assert_text(&harness, "tile 2");
    choose(&mut harness, "Scope", "One tile…");
    assert_text(&harness, "Tile 0");
    assert!(value(&harness, BOTH).contains("111.3 KiB → 52.7 KiB"), "{}", value(&harness, BOTH));
}

#[test]
fn a_report_without_a_curve_leaves_the_other() {
    let harness = page_on(Theme::Light, without_curve(source()), target());
    assert_text(&harness, "Source: no curve of All IPUs");
    assert!(harness.query_by_label("Target: not always live").is_some());
}

#[test]
fn one_report_fits_into_a_narrow_window() {
    // The page is 540 points wide, as a half of a window of 1,280 is.
    let size = Vec2::new(736.0, 700.0);
    let mut harness =
        window_sized(Theme::Light, size, |ctx| App::with_runs(ctx, vec![Arc::new(source())]));
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    let fits = |harness: &Harness<'_, App>| {
        let right = harness.get_by_label("Save picture…").rect().right();
        assert!(right <= size.x, "{right} of {}", size.x);
    };
    fits(&harness);
    let rect = harness.get_by_label("Liveness curve").rect();
    click_at(&mut harness, rect.center(), Modifiers::NONE);
    assert_text(&harness, "Deselect step");
    fits(&harness);
    click(&mut harness, "Mark its operation");
    fits(&harness);
    let right = harness.get_by_label("Deselect operation").rect().right();
    assert!(right <= size.x, "{right}");
}

#[test]
fn the_page_of_two_fits_into_a_small_window() {
    let size = Vec2::new(1024.0, 700.0);
    let (source, target) = (Arc::new(source()), Arc::new(target()));
    let mut harness =
        window_sized(Theme::Light, size, |ctx| App::with_runs(ctx, vec![source, target]));
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    click_slot(&mut harness, BOTH, SPIKE, Modifiers::NONE);
    click(&mut harness, "Mark its operation");
    for _ in 0..2 {
        for name in ["Save picture…", "Scale to limit", "Deselect operation"] {
            let right = harness.get_by_label(name).rect().right();
            assert!(right <= size.x, "{name}: {right}");
        }
        press(&mut harness, Key::F7, Modifiers::NONE);
    }
}

/// The same report without what its curve goes by.
fn without_curve(report: Report) -> Report {
    let mut report = report;
    (report.deltas, report.liveness) = (Part::default(), Part::default());
    report.deltas.settle(Err(absent::deltas()));
    report.liveness.fill(Some(Liveness::default()));
    report
}

#[test]
fn the_page_of_two_looks_as_it_did() {
    let mut results = SnapshotResults::new();
    for theme in [Theme::Light, Theme::Dark] {
        let name = |what: &str| format!("liveness-pair-{what}-{theme:?}").to_lowercase();
        let mut harness = page_on(theme, source(), target());
        harness.remove_cursor();
        settle(&mut harness);
        harness.snapshot(name("overlaid"));
        open_tab(&mut harness, "Not always live");
        click_slot(&mut harness, BOTH, SPIKE, Modifiers::NONE);
        hover_share(&mut harness, BOTH, share(SPIKE));
        settle(&mut harness);
        harness.snapshot(name("hovered"));
        press(&mut harness, Key::F7, Modifiers::NONE);
        harness.remove_cursor();
        settle(&mut harness);
        harness.snapshot(name("beside"));
        results.extend_harness(&mut harness);
    }
}

#[test]
fn curves_are_there_at_once_by_number_and_aligned_when_steps_are_matched() {
    let mut harness = page_on(Theme::Light, source(), target());
    assert_text(&harness, "56 steps matched, 12 in one only");
    // Of swapped reports nothing is matched yet.
    harness.key_press(Key::F6);
    let by_number = (0..4).any(|_| {
        harness.step();
        has_text(&harness, "aligned by number until then")
            && harness.query_by_role_and_label(Role::Canvas, BOTH).is_some()
    });
    assert!(by_number, "{:#?}", texts(&harness));
    settle(&mut harness);
    assert!(!has_text(&harness, "by number"));
    assert_text(&harness, "56 steps matched, 12 in one only");
    assert_text(&harness, "step 38 of the source, step 30 of the target");
}
