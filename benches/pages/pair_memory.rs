//! Memory and Summary of two large reports, of which the target has less on every other tile.

use std::sync::Arc;

use eframe::egui::{Context, Vec2};
use tilescope::store::Report;
use tilescope::store::report::Part;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

use super::{Window, measure, report};

/// The same report with other bytes by tile and category.
fn target() -> Report {
    let mut target = report::report();
    target.path = "/reports/large target".into();
    let mut memory = target.memory.get().cloned().expect("memory");
    for tile in (0..memory.total.len()).step_by(2) {
        let mut less = 0;
        for category in &mut memory.categories {
            if let Some(bytes) = category.not_overlapped[0].as_mut() {
                less += bytes[tile] / 3;
                bytes[tile] -= bytes[tile] / 3;
            }
        }
        for column in [&mut memory.total, &mut memory.including_gaps] {
            column[tile] = column[tile].map(|bytes| bytes.saturating_sub(less));
        }
    }
    target.memory = Part::default();
    target.memory.fill(Some(memory));
    target.fill_arenas_with_tiles();
    target
}

/// Both arrangements and the maps: hovering, zooming, panning.
pub fn measure_pair(source: &Arc<Report>, size: Vec2) {
    let ctx = Context::default();
    let app = App::with_runs(&ctx, vec![Arc::clone(source), Arc::new(target())]);
    let mut window = Window { ctx, app, size, time: 0.0 };
    window.rest();
    let scene = |title: &str| format!("{title}, {}×{}", size.x, size.y);
    window.show(Page::Memory);
    measure(&mut window, &scene("Memory of two"), "Memory over tiles");
    window.click("Breakdown");
    window.click("Category");
    measure(&mut window, &scene("Memory of two by category"), "Memory over tiles");
    window.click("Side by side");
    measure(&mut window, &scene("Memory of two side by side"), "Memory over tiles of the target");
    window.click("View of the map of differences");
    measure(&mut window, &scene("Map of differences"), "Map of differences");
    window.show(Page::Map);
    window.click("All tiles");
    measure(&mut window, &scene("Maps of all tiles"), "Map of all tiles of the target");
    window.click("One tile");
    measure(&mut window, &scene("Maps of a tile"), "Addresses over steps, Target");
    window.click("Floor plan");
    measure(&mut window, &scene("Grids of tiles"), "Grid of tiles of the target");
    window.show(Page::Summary);
    measure(&mut window, &scene("Summary of two"), "availableMemoryProportion");
}
