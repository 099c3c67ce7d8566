//! A tile with 20,000 variables that live at parts of 2,000 steps, and what its picture of addresses over
//! steps costs.

use std::sync::Arc;
use std::time::Instant;

use eframe::egui::Vec2;
use tilescope::store::ids::CategoryId;
use tilescope::store::liveness::Liveness;
use tilescope::store::memory::TileMemory;
use tilescope::store::names::Names;
use tilescope::store::program::Steps;
use tilescope::store::report::Categories;
use tilescope::store::target::Target;
use tilescope::store::variable::{LoweredVariables, VariableFlags};
use tilescope::store::{ClassId, Report, StepId, TileId, UnloweredId};
use tilescope::systems::poplar::files::absent;
use tilescope::ui::command::Page;

use super::{Window, measure};

const STEPS: u32 = 2_000;
const VARIABLES: u32 = 20_000;
const TILE_BYTES: u32 = 638_976;

/// Numbers that look random and are the same each time.
fn noise(seed: u32) -> u32 {
    let mixed = u64::from(seed).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) as u32
}

fn report() -> Report {
    let report = Report::default();
    report.target.fill(Some(Target {
        tiles_per_device: Some(1),
        bytes_per_tile: Some(TILE_BYTES.into()),
        ..Target::default()
    }));
    let mut memory = TileMemory::default();
    assert!(memory.tiles.push(TileId(0)));
    memory.total.push(Some(600_000));
    memory.including_gaps.push(Some(620_000));
    memory.always_live.push(Some(10_000));
    memory.not_always_live_max.push(Some(500_000));
    report.memory.fill(Some(memory));
    report.fill_arenas_with_tiles();
    let mut steps = Steps::default();
    (0..STEPS).for_each(|step| assert!(steps.ids.push(StepId(step))));
    report.steps.fill(Some(steps));
    let mut categories = Categories::default();
    for id in 0..8 {
        assert!(categories.ids.push(CategoryId(id)));
        categories.names.push(&format!("category{id}"));
    }
    report.categories.fill(Some(categories));
    let (mut liveness, mut lowered) = (Liveness::default(), LoweredVariables::default());
    let mut names = Names::default();
    for variable in 0..VARIABLES {
        assert!(liveness.classes.ids.push(ClassId(variable)));
        liveness.classes.always_live.push(variable % 100 == 0);
        let start = noise(variable) % (STEPS - 60);
        liveness.classes.ranges.push(start..start + 1 + noise(variable + 7) % 20);
        // Every third lives twice.
        if variable % 3 == 0 {
            liveness.classes.ranges.push(start + 30..start + 40);
        }
        liveness.classes.range_ends.push(liveness.classes.ranges.len());
        assert!(liveness.variable_ids.push(UnloweredId(variable)));
        names.push(&format!("Net/Layer{}/out/{variable}", variable % 90));
        let bytes = 64 + noise(variable + 3) % 8_000;
        lowered.offsets.push(noise(variable + 11) % (620_000 - bytes));
        lowered.bytes.push(bytes);
        lowered.classes.push(ClassId(variable));
        lowered.unlowered.push(UnloweredId(variable));
        lowered.categories.push((variable % 8) as u8);
        lowered.flags.push(VariableFlags(1));
    }
    liveness.variable_names = names;
    report.liveness.fill(Some(liveness));
    assert!(lowered.tiles.push(TileId(0)));
    lowered.rows.push(0..VARIABLES);
    report.variables.fill(Some(lowered));
    report.debug.settle(Err(absent::debug()));
    report.tile_variable_bytes.settle(Err(absent::variable_bytes()));
    report
}

/// Hovering, zooming, panning.
pub fn measure_address_steps(size: Vec2) {
    let mut window = Window::new(&Arc::new(report()), size);
    let started = Instant::now();
    window.show(Page::Map);
    let first = started.elapsed().as_secs_f64() * 1000.0;
    let scene = format!("Addresses over steps, {}×{}", size.x, size.y);
    println!("{scene:<44} first picture after {first:.0} ms");
    measure(&mut window, &scene, "Addresses over steps");
}
