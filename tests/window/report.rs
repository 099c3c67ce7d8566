//! Reports made by hand, so that pictures of them may be stored: nothing in them is anyone's.

use std::path::PathBuf;

use tilescope::store::compute::ComputeSets;
use tilescope::store::debug_info::{Context, DebugInfo, Proportion, TextRef};
use tilescope::store::ids::CategoryId;
use tilescope::store::liveness::{Classes, Deltas, Liveness, TileVariableBytes, VariableBytes};
use tilescope::store::memory::{CategoryMemory, TileMemory};
use tilescope::store::names::{Interner, Names};
use tilescope::store::options::{About, CompilerPhase, EngineOption, GraphInfo, SideFact};
use tilescope::store::program::{ProgramTree, ProgramTrees, Programs, Steps};
use tilescope::store::report::{Categories, FileStatus, ReportFile};
use tilescope::store::target::Target;
use tilescope::store::variable::{LoweredVariables, VariableFlags};
use tilescope::store::{
    ClassId, DeviceId, ProgramId, Report, StepId, TileId, UnloweredId, WarningCode,
};
use tilescope::systems::poplar::WORDS;
use tilescope::systems::poplar::files::absent;

/// Tiles of the small report, on two IPUs.
pub const TILES: u32 = 48;
/// Its steps.
pub const STEPS: u32 = 200;
/// Its tile with many variables.
pub const CROWDED: TileId = TileId(31);
/// Its highest step.
pub const SPIKE: u32 = 120;

/// A report with a spike that a convolution makes.
pub fn small() -> Report {
    let report = report(STEPS, 16 * 1024, &["weights", "activations", "gradients", "scratch"]);
    report.warnings.add(WarningCode::NoExecution, "profile.pop", "the execution tables are empty");
    report
}

/// The same without warnings, with another limit of a tile.
pub fn with_limit(bytes_per_tile: u64) -> Report {
    report(STEPS, bytes_per_tile, &["weights", "activations", "gradients", "scratch"])
}

/// The same of a target that does not say what a tile can hold.
pub fn without_limit() -> Report {
    let report = report(STEPS, 16 * 1024, &["weights", "activations", "gradients", "scratch"]);
    let target = Target { bytes_per_tile: None, ..target(0) };
    let without = Report::of(WORDS, PathBuf::from("/reports/without a limit"));
    without.target.fill(Some(target));
    without.memory.fill(report.memory.get().cloned());
    without.fill_arenas_with_tiles();
    without.steps.fill(report.steps.get().cloned());
    without.programs.fill(report.programs.get().cloned());
    without.liveness.fill(report.liveness.get().cloned());
    without.about.fill(report.about.get().cloned());
    without.graph.fill(report.graph.get().copied());
    without.debug.fill(report.debug.get().cloned());
    settle_rest(&without);
    without
}

/// One whose changes of memory from step to step are absent.
pub fn without_deltas() -> Report {
    let report = report(STEPS, 16 * 1024, &["weights", "activations", "gradients", "scratch"]);
    let without = Report::of(WORDS, PathBuf::from("/reports/without changes"));
    let liveness = report.liveness.get().cloned().unwrap_or_default();
    without.deltas.settle(Err(absent::deltas()));
    without.liveness.fill(Some(liveness));
    without.tile_variable_bytes.fill(report.tile_variable_bytes.get().cloned());
    without.target.fill(report.target.get().cloned());
    without.memory.fill(report.memory.get().cloned());
    without.fill_arenas_with_tiles();
    without.steps.fill(report.steps.get().cloned());
    without.programs.fill(report.programs.get().cloned());
    without.about.fill(report.about.get().cloned());
    without.graph.fill(report.graph.get().copied());
    without.debug.fill(report.debug.get().cloned());
    settle_rest(&without);
    without
}

/// One step, and a limit of zero.
pub fn one_step_no_limit() -> Report {
    report(1, 0, &["only"])
}

/// Names that could break a layout or a terminal.
pub fn hostile_names() -> Report {
    let long = "x".repeat(100_000);
    report(9, 1 << 40, &[&long, "a\u{202e}b\n\u{1b}[2J", "", "תמונה"])
}

/// Every part settled, none there.
pub fn empty() -> Report {
    let report = without_memory();
    report.target.settle(Err(absent::target()));
    report.memory.settle(Err(absent::memory()));
    report.fill_arenas_with_tiles();
    report
}

/// None there, and all settled but the target and memory by tile.
pub fn without_memory() -> Report {
    let report = Report::of(WORDS, PathBuf::from("empty"));
    report.about.fill(None);
    report.graph.settle(Err(absent::graph()));
    report.steps.settle(Err(absent::steps()));
    report.programs.settle(Err(absent::programs()));
    report.deltas.settle(Err(absent::deltas()));
    report.liveness.settle(Err(absent::liveness()));
    settle_rest(&report);
    report.debug.settle(Err(absent::debug()));
    report
}

/// Every part there, none with rows.
pub fn without_rows() -> Report {
    let report = Report::of(WORDS, PathBuf::from("no rows"));
    report.about.fill(Some(About::default()));
    report.target.fill(Some(Target::default()));
    report.graph.fill(Some(GraphInfo::default()));
    report.memory.fill(Some(TileMemory::default()));
    report.fill_arenas_with_tiles();
    report.steps.fill(Some(Steps::default()));
    report.programs.fill(Some(Programs::default()));
    report.liveness.fill(Some(Liveness::default()));
    settle_rest(&report);
    report.debug.fill(Some(DebugInfo::default()));
    report
}

fn settle_rest(report: &Report) {
    report.program_trees.settle(Err(absent::programs()));
    report.tile_variable_bytes.settle(Err(absent::variable_bytes()));
    report.categories.settle(Err(absent::categories()));
    report.compute_sets.settle(Err(absent::compute_sets()));
    report.execution.settle(Err(absent::execution()));
    report.variables.settle(Err(absent::variables()));
    report.vertex_types.settle(Err(absent::vertex_types()));
    report.compute_set_tiles.settle(Err(absent::compute_set_tiles()));
    report.exchanges.settle(Err(absent::exchanges()));
}

fn report(steps: u32, bytes_per_tile: u64, names: &[&str]) -> Report {
    let report = Report::of(WORDS, PathBuf::from("/reports/synthetic"));
    report.set_files(vec![
        ReportFile { name: "profile.pop".into(), bytes: Some(1_234_567), status: FileStatus::Ok },
        ReportFile { name: "debug.cbor".into(), bytes: Some(45_678), status: FileStatus::Ok },
        ReportFile { name: "framework.json".into(), bytes: None, status: FileStatus::Missing },
    ]);
    report.target.fill(Some(target(bytes_per_tile)));
    report.memory.fill(Some(memory((steps < STEPS).then_some(40))));
    report.fill_arenas_with_tiles();
    report.graph.fill(Some(GraphInfo {
        compute_sets: Some(31),
        edges: Some(4096),
        variables: Some(2718),
        vertices: Some(1618),
    }));
    report.steps.fill(Some(steps_of(steps)));
    report.programs.fill(Some(programs(steps)));
    let (deltas, liveness) = liveness(steps, names);
    report.deltas.fill(Some(deltas));
    report.tile_variable_bytes.fill(liveness.variable_bytes.as_deref().map(by_tile));
    report.liveness.fill(Some(liveness));
    report.about.fill(Some(about()));
    report.debug.fill(Some(debug()));
    report.compute_sets.fill(Some(ComputeSets::default()));
    let tree = ProgramTree { control: vec![ProgramId(0)], ..ProgramTree::default() };
    report.program_trees.fill(Some(ProgramTrees { steps: vec![tree] }));
    report.variables.fill(Some(lowered()));
    report.categories.fill(Some(categories()));
    settle_rest(&report);
    report
}

/// What lies on the fullest tile: the always-live class, that of the spike, and another one.
fn lowered() -> LoweredVariables {
    let mut lowered = LoweredVariables::default();
    for (offset, bytes, class, unlowered) in
        [(0, 6000, 0, 0), (6016, 9000, 20, 1), (6016, 700, 3, 2)]
    {
        lowered.offsets.push(offset);
        lowered.bytes.push(bytes);
        lowered.classes.push(ClassId(class));
        lowered.unlowered.push(UnloweredId(unlowered));
        lowered.categories.push(255);
        lowered.flags.push(VariableFlags(1));
    }
    lowered.tiles.push(TileId(30));
    lowered.rows.push(0..3);
    crowded(&mut lowered);
    lowered
}

/// A tile with much on it: what lives always at the beginning, what shares addresses behind it.
fn crowded(lowered: &mut LoweredVariables) {
    let mut random = 7_u32;
    let mut next = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % below
    };
    let first = u32::try_from(lowered.len()).expect("few");
    for index in 0..60_u32 {
        let is_early = index < 14;
        let bytes = 60 + next(if is_early { 400 } else { 1500 });
        let offset = if is_early { index * 500 } else { 7400 + next(5500) / 4 * 4 };
        lowered.offsets.push(offset);
        lowered.bytes.push(bytes);
        lowered.classes.push(ClassId(if is_early { 0 } else { 1 + index % 20 }));
        let has_name = index % 3 > 0;
        let unlowered = UnloweredId(index % 4);
        lowered.unlowered.push(if has_name { unlowered } else { LoweredVariables::NO_UNLOWERED });
        lowered.categories.push(u8::try_from(index % 3).expect("few"));
        lowered.flags.push(VariableFlags(1));
    }
    lowered.tiles.push(CROWDED);
    lowered.rows.push(first..first + 60);
}

fn categories() -> Categories {
    let mut categories = Categories::default();
    for (id, name) in (0..).zip(["vertexCode", "variable", "controlCode"]) {
        categories.ids.push(CategoryId(id));
        categories.names.push(name);
    }
    categories
}

fn target(bytes_per_tile: u64) -> Target {
    let tiles = u64::from(TILES);
    Target {
        kind: Some("IPU".into()),
        architecture: Some("ipu2".into()),
        devices: Some(2),
        replicas: Some(1),
        devices_per_replica: Some(2),
        tiles: Some(tiles),
        tiles_per_device: Some(tiles / 2),
        tiles_per_replica: Some(tiles),
        bytes_per_tile: Some(bytes_per_tile),
        bytes_per_device: Some(bytes_per_tile * tiles / 2),
        total_bytes: Some(bytes_per_tile * tiles),
        clock_hz: Some(1_330_000_000),
        ..Target::default()
    }
}

fn memory(hole: Option<u32>) -> TileMemory {
    let mut memory = TileMemory::default();
    for tile in 0..TILES {
        memory.tiles.push(TileId(tile));
        let total = 9000 + u64::from(tile % 7) * 500 + u64::from(tile / 24) * 1500;
        // One tile is over.
        let total = if tile == 30 { 17_000 } else { total };
        let known = (hole != Some(tile)).then_some(total);
        memory.total.push(known);
        memory.including_gaps.push(known.map(|bytes| bytes + 900));
        memory.by_region[0].push(Some(total * 3 / 4));
        memory.by_region[1].push(Some(total / 4));
        memory.by_region[2].push(Some(0));
        memory.always_live.push(Some(6000));
        memory.not_always_live_max.push(Some(total - 6000));
    }
    let list = |bytes: u64| Some(vec![bytes; TILES as usize]);
    for (name, bytes) in [("vertexCode", 1200), ("variable", 5000), ("controlCode", 700)] {
        memory.categories.push(CategoryMemory {
            name: name.into(),
            not_overlapped: [list(bytes), list(bytes / 4), list(0)],
            overlapped: [list(bytes / 8), list(0), list(0)],
        });
    }
    memory
}

fn steps_of(count: u32) -> Steps {
    let mut steps = Steps::default();
    for step in 0..count {
        steps.ids.push(StepId(step));
        steps.programs.push(ProgramId(step));
        steps.parents.push(None);
    }
    steps
}

/// Every tenth program and that of the spike belong to the convolution.
fn is_convolution(step: u32) -> bool {
    step.is_multiple_of(10)
}

fn programs(count: u32) -> Programs {
    let mut programs = Programs::default();
    let execute = programs.kind_names.push("OnTileExecute");
    let exchange = programs.kind_names.push("DoExchange");
    for id in 0..count {
        programs.ids.push(ProgramId(id));
        programs.kinds.push(Some(if id.is_multiple_of(2) { execute } else { exchange }));
        programs.names.push(&format!("layer{}/step{id}", id / 50));
        programs.debug_ids.push(if is_convolution(id) { 2 } else { 0 });
        programs.compute_sets.push(None);
        programs.children_ends.push(0);
    }
    programs
}

fn debug() -> DebugInfo {
    let mut words = Interner::default();
    let mut debug = DebugInfo::default();
    for (id, layer, kind, name) in
        [(1, "poplibs", Some("convolution"), "layer1/conv"), (2, "poplar", None, "")]
    {
        let name = TextRef(debug.texts.push(name).0);
        debug.push(Context {
            parent: (id == 2).then_some(0),
            layer: Some(words.intern(layer)),
            kind: kind.map(|kind| words.intern(kind)),
            name,
            proportion: if id == 1 { Proportion::Value(0.6) } else { Proportion::Absent },
            ..Context::of(id)
        });
    }
    debug.words = words.into_names();
    debug.known_layers = tilescope::systems::poplar::files::layers();
    debug
}

/// Class 0 is always live; each other class lives around a step of its own, the last at the spike.
fn liveness(steps: u32, names: &[&str]) -> (Deltas, Liveness) {
    let mut classes = Classes::default();
    let mut variable_names = Names::default();
    let mut liveness = Liveness::default();
    let mut rows = Vec::new();
    let mut deltas = Vec::new();
    classes.ids.push(ClassId(0));
    classes.always_live.push(true);
    classes.range_ends.push(0);
    for (index, name) in (0_u32..).zip(names) {
        liveness.variable_ids.push(UnloweredId(index));
        variable_names.push(name);
        rows.push(VariableBytes {
            variable: UnloweredId(index),
            class: ClassId(0),
            bytes: 42_000 + 20_000 * u64::from(index),
        });
    }
    let last = steps.saturating_sub(1);
    for class in 1..=20_u32 {
        let is_spike = class == 20;
        let center = if is_spike { SPIKE } else { class * 10 }.min(last);
        let reach = if is_spike { 0 } else { 14 };
        let range = center.saturating_sub(reach)..(center + reach + 1).min(steps);
        let bytes = if is_spike { 260_000 } else { 9000 + u64::from(class % 5) * 7000 };
        let signed = i64::try_from(bytes).expect("small");
        deltas.push((range.start, signed));
        deltas.push((range.end, -signed));
        assert!(classes.push(ClassId(class), false, [range]));
        let variable = UnloweredId(class % u32::try_from(names.len()).expect("few"));
        rows.push(VariableBytes { variable, class: ClassId(class), bytes });
    }
    deltas.sort_by_key(|(step, _)| *step);
    liveness.classes = classes;
    liveness.variable_names = variable_names;
    liveness.variable_bytes = Some(rows);
    let by_device = [(DeviceId(0), deltas.clone()), (DeviceId(1), Vec::new())].into();
    (Deltas { everything: deltas, by_device, ..Deltas::default() }, liveness)
}

/// The bytes of every variable, divided among all tiles; the lowest tiles have what is left over.
fn by_tile(rows: &[VariableBytes]) -> TileVariableBytes {
    let mut table = TileVariableBytes::default();
    for tile in 0..TILES {
        let first = table.len();
        for row in rows {
            let tiles = u64::from(TILES);
            let share = row.bytes / tiles + u64::from(u64::from(tile) < row.bytes % tiles);
            table.variables.push(row.variable);
            table.classes.push(row.class);
            table.bytes.push(u32::try_from(share).expect("small"));
        }
        table.tiles.push(TileId(tile));
        table.rows.push(first..table.len());
    }
    table
}

fn about() -> About {
    let option = |name: &str, value: &str, is_default: bool| EngineOption {
        name: name.into(),
        value: value.into(),
        is_default: Some(is_default),
    };
    About {
        compiled_at: Some("2026-01-02 03:04:05".into()),
        producer_version: Some("3.3.0".into()),
        format: Some("profile.pop 3.8.0".into()),
        engine_options: vec![
            option("autoReport.all", "true", false),
            option("debug.allowOutOfMemory", "true", false),
            option("debug.instrumentCompute", "false", true),
            option("opt.maxCompileThreads", "0", true),
        ],
        target_options: vec![option("ipuLinkTopology", "mesh", true)],
        phases: [
            ("compile", 0, 12_340_000),
            ("lowerGraph", 20_000, 3_900_000),
            ("lowerEdges", 40_000, 2_100_000),
            ("livenessAnalysis", 2_200_000, 1_500_000),
            ("allocateVarStorage", 3_950_000, 5_200_000),
            ("allocateCode", 4_000_000, 800_000),
            ("allocateData", 4_900_000, 3_900_000),
            ("placeConstrained", 4_950_000, 30_000),
            ("linkObjects", 9_300_000, 2_900_000),
        ]
        .map(|(name, start, duration)| CompilerPhase {
            name: name.into(),
            start_microseconds: start,
            duration_microseconds: duration,
        })
        .into(),
        app: vec![SideFact { path: "network".into(), value: "resnext101".into() }],
        ..About::default()
    }
}
