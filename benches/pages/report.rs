//! Large reports in memory.

use std::path::PathBuf;

use tilescope::store::debug_info::{Context, DebugInfo, Proportion, TextRef};
use tilescope::store::ids::CategoryId;
use tilescope::store::liveness::{Classes, Deltas, Liveness, TileVariableBytes, VariableBytes};
use tilescope::store::memory::{CategoryMemory, TileMemory};
use tilescope::store::names::{Interner, Names};
use tilescope::store::options::{About, GraphInfo};
use tilescope::store::program::{Programs, Steps};
use tilescope::store::report::Categories;
use tilescope::store::target::Target;
use tilescope::store::variable::{LoweredVariables, VariableFlags};
use tilescope::store::{ClassId, DeviceId, ProgramId, Report, StepId, TileId, UnloweredId};
use tilescope::systems::poplar::WORDS;
use tilescope::systems::poplar::files::absent;

/// Tiles of an IPU.
const TILES_PER_IPU: u32 = 1472;
/// Steps of the report that most scenes show.
pub const STEPS: u32 = 200_000;
/// Its tiles.
pub const TILES: u32 = 4 * TILES_PER_IPU;

/// How large a report is.
#[derive(Clone, Copy)]
pub struct Size {
    pub ipus: u32,
    pub steps: u32,
}

impl Size {
    fn tiles(self) -> u32 {
        self.ipus * TILES_PER_IPU
    }
}

/// Classes of variables that are alive at the same steps.
const CLASSES: u32 = 20_000;
/// Variables before lowering.
const VARIABLES: u32 = 30_000;
/// Rows of the bytes of variables on a tile.
const ROWS_PER_TILE: u32 = 60;

/// Lowered variables on a tile.
const VARIABLES_PER_TILE: u32 = 300;

/// Numbers that are the same at every run.
struct Noise(u64);

impl Noise {
    fn below(&mut self, end: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(end.max(1))).unwrap_or(0)
    }
}

/// Makes the report that most scenes show.
pub fn report() -> Report {
    report_of(Size { ipus: 4, steps: STEPS }, "large", 7)
}

/// Makes a report; those of different seeds have the same steps and other bytes.
pub fn report_of(size: Size, name: &str, seed: u64) -> Report {
    let mut noise = Noise(seed);
    let report = Report::of(WORDS, PathBuf::from("/reports").join(name));
    let tiles = u64::from(size.tiles());
    report.target.fill(Some(Target {
        kind: Some("IPU".into()),
        architecture: Some("ipu2".into()),
        devices: Some(u64::from(size.ipus)),
        replicas: Some(1),
        tiles: Some(tiles),
        tiles_per_device: Some(u64::from(TILES_PER_IPU)),
        bytes_per_tile: Some(638_976),
        total_bytes: Some(638_976 * tiles),
        clock_hz: Some(1_850_000_000),
        ..Target::default()
    }));
    report.memory.fill(Some(memory(size, &mut noise)));
    report.fill_arenas_with_tiles();
    report.graph.fill(Some(GraphInfo::default()));
    let mut steps = Steps::default();
    for step in 0..size.steps {
        steps.ids.push(StepId(step));
        steps.programs.push(ProgramId(step));
        steps.parents.push(None);
    }
    report.steps.fill(Some(steps));
    report.programs.fill(Some(programs(size)));
    let (deltas, liveness, by_tile) = liveness(size, &mut noise);
    report.deltas.fill(Some(deltas));
    report.liveness.fill(Some(liveness));
    report.tile_variable_bytes.fill(Some(by_tile));
    report.about.fill(Some(About::default()));
    report.debug.fill(Some(debug(size)));
    report.categories.fill(Some(categories()));
    report.compute_sets.fill(None);
    report.execution.settle(Err(absent::execution()));
    report.variables.fill(Some(lowered(size, &mut noise)));
    report.vertex_types.settle(Err(absent::vertex_types()));
    report.compute_set_tiles.settle(Err(absent::compute_set_tiles()));
    report.exchanges.settle(Err(absent::exchanges()));
    report
}

/// What lies where: code and data that always live first, then others that share addresses.
fn lowered(size: Size, noise: &mut Noise) -> LoweredVariables {
    let mut lowered = LoweredVariables::default();
    for tile in 0..size.tiles() {
        let first = lowered.offsets.len() as u32;
        let mut end = 0_u32;
        for variable in 0..VARIABLES_PER_TILE {
            let bytes = 8 * (1 + noise.below(400));
            let is_always_live = variable < VARIABLES_PER_TILE / 2;
            let class = if is_always_live { 0 } else { 1 + noise.below(CLASSES - 1) };
            // One in ten leaves a gap; of the others some lie where another one lies at other steps.
            let offset = match noise.below(10) {
                0 => end + 64,
                1..=3 if !is_always_live => end.saturating_sub(bytes),
                _ => end,
            };
            lowered.offsets.push(offset);
            lowered.bytes.push(bytes);
            lowered.classes.push(ClassId(class));
            lowered.unlowered.push(UnloweredId(noise.below(VARIABLES)));
            lowered.categories.push((variable * 14 / VARIABLES_PER_TILE) as u8);
            lowered.flags.push(VariableFlags(1));
            end = end.max(offset + bytes);
        }
        lowered.tiles.push(TileId(tile));
        lowered.rows.push(first..lowered.offsets.len() as u32);
    }
    lowered
}

fn categories() -> Categories {
    let mut categories = Categories::default();
    for id in 0..14 {
        categories.ids.push(CategoryId(id));
        categories.names.push(&format!("category{id}"));
    }
    categories
}

fn memory(size: Size, noise: &mut Noise) -> TileMemory {
    let mut memory = TileMemory::default();
    let mut categories = vec![Vec::new(); 14];
    for tile in 0..size.tiles() {
        memory.tiles.push(TileId(tile));
        let mut total = 0;
        for (index, category) in (1..).zip(&mut categories) {
            let bytes = u64::from(noise.below(60_000)) / index + 2000;
            category.push(bytes);
            total += bytes;
        }
        let overlapped = u64::from(noise.below(90_000));
        let total = total + overlapped;
        memory.total.push(Some(total));
        memory.including_gaps.push(Some(total + u64::from(noise.below(60_000))));
        memory.by_region[0].push(Some(total * 2 / 3));
        memory.by_region[1].push(Some(total - total * 2 / 3));
        memory.by_region[2].push(Some(0));
        memory.always_live.push(Some(total / 2));
        memory.not_always_live_max.push(Some(total / 3));
    }
    let none = || Some(vec![0; size.tiles() as usize]);
    for (index, bytes) in categories.into_iter().enumerate() {
        memory.categories.push(CategoryMemory {
            name: format!("category{index}"),
            not_overlapped: [Some(bytes), none(), none()],
            overlapped: [none(), none(), none()],
        });
    }
    memory
}

fn programs(size: Size) -> Programs {
    let mut programs = Programs::default();
    let execute = programs.kind_names.push("OnTileExecute");
    let exchange = programs.kind_names.push("DoExchange");
    for id in 0..size.steps {
        programs.ids.push(ProgramId(id));
        programs.kinds.push(Some(if id.is_multiple_of(2) { execute } else { exchange }));
        programs.names.push(&format!("layer{}/step{id}", id / 500));
        programs.debug_ids.push(u64::from(id / 100 + 1));
        programs.compute_sets.push(None);
        programs.children_ends.push(0);
    }
    programs
}

/// A context for every hundred steps, one in three a convolution.
fn debug(size: Size) -> DebugInfo {
    let mut words = Interner::default();
    let mut debug = DebugInfo::default();
    for id in 1..=u64::from(size.steps / 100) + 1 {
        let kind = if id.is_multiple_of(3) { "convolution" } else { "addInPlace" };
        let name = debug.texts.push(&format!("layer{id}/operation"));
        debug.push(Context {
            layer: Some(words.intern("poplibs")),
            kind: Some(words.intern(kind)),
            name: TextRef(name.0),
            proportion: Proportion::Value(0.6),
            ..Context::of(id)
        });
    }
    debug.words = words.into_names();
    debug.known_layers = tilescope::systems::poplar::files::layers();
    debug
}

fn liveness(size: Size, noise: &mut Noise) -> (Deltas, Liveness, TileVariableBytes) {
    let mut classes = Classes::default();
    for class in 0..CLASSES {
        classes.ids.push(ClassId(class));
        let is_always_live = class == 0;
        classes.always_live.push(is_always_live);
        let start = noise.below(size.steps - 1);
        // Most live for a few steps, some for long.
        let most = if class.is_multiple_of(50) { size.steps / 4 } else { 400 };
        let end = (start + 1 + noise.below(most)).min(size.steps);
        classes.ranges.push(if is_always_live { 0..size.steps } else { start..end });
        classes.range_ends.push(classes.ranges.len());
    }
    let mut variable_names = Names::default();
    let mut liveness = Liveness::default();
    let mut totals = vec![0_u64; VARIABLES as usize];
    let mut by_tile = TileVariableBytes::default();
    for variable in 0..VARIABLES {
        liveness.variable_ids.push(UnloweredId(variable));
        variable_names.push(&format!("layer{}/variable{variable}", variable / 40));
    }
    for tile in 0..size.tiles() {
        let first = by_tile.bytes.len() as u32;
        by_tile.tiles.push(TileId(tile));
        for _ in 0..ROWS_PER_TILE {
            let (variable, bytes) = (noise.below(VARIABLES), noise.below(9000) + 8);
            by_tile.variables.push(UnloweredId(variable));
            by_tile.classes.push(ClassId(variable % CLASSES));
            by_tile.bytes.push(bytes);
            totals[variable as usize] += u64::from(bytes);
        }
        by_tile.rows.push(first as usize..by_tile.bytes.len());
    }
    let mut deltas = Vec::new();
    let mut rows = Vec::new();
    for (variable, bytes) in (0..VARIABLES).zip(totals) {
        let class = variable % CLASSES;
        rows.push(VariableBytes { variable: UnloweredId(variable), class: ClassId(class), bytes });
        if class != 0 {
            let range = classes.ranges[class as usize].clone();
            let bytes = i64::try_from(bytes).unwrap_or(0);
            deltas.push((range.start, bytes));
            deltas.push((range.end, -bytes));
        }
    }
    deltas.sort_by_key(|(step, _)| *step);
    liveness.classes = classes;
    liveness.variable_names = variable_names;
    liveness.variable_bytes = Some(rows);
    let by_device = (0..size.ipus).map(|ipu| (DeviceId(ipu), deltas.clone())).collect();
    (Deltas { everything: deltas, by_device, ..Deltas::default() }, liveness, by_tile)
}
