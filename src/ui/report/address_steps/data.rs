//! A tile as it was read, its rectangles over steps, and the operation of each of its variables.

use eframe::egui;
use std::collections::HashMap;
use std::sync::Arc;

use crate::analysis::derived::Derived;
use crate::analysis::placement::address_steps::AddressSteps;
use crate::store::liveness::VariableBytes;
use crate::store::placed::Placement;
use crate::store::{ArenaId, Report};
use crate::ui::job::{Latest, Same};
use crate::ui::report::memory_map::{TileData, TileReading};
use crate::ui::runs::Run;

pub struct RunData {
    pub tile: Arc<TileData>,
    pub rectangles: AddressSteps,
    /// Bytes alive at each step.
    pub alive: Vec<u64>,
    /// The operations that own something, with their bytes × steps, most first, then by name.
    pub operations: Vec<(String, u128)>,
    /// The operation of each variable by row, a position in `operations`.
    pub operation_of: Vec<Option<usize>>,
}

#[derive(Default)]
pub struct RunReading {
    reading: TileReading,
    found: Latest<(Same<TileData>, bool), Option<Arc<RunData>>>,
}

impl RunReading {
    /// Asks for a tile; returns what was last found, which may be another tile meanwhile.
    pub fn tile(&mut self, ctx: &egui::Context, run: &Run, arena: ArenaId) -> Option<Arc<RunData>> {
        let data = self.reading.tile(ctx, run, arena)?;
        let key = (Same(Arc::clone(&data)), run.report.debug.is_settled());
        let derived = Arc::clone(&run.derived);
        self.found.ask("addresses over steps", ctx, &key, move |_| {
            RunData::new(data, &derived).map(Arc::new)
        });
        self.found.last().and_then(|(_, found)| found.clone())
    }

    /// Why there is nothing; `None` while it is being found.
    pub fn why_not(&self, report: &Report) -> Option<String> {
        if let Some((_, None)) = self.found.last() {
            return Some("The report has no steps, or does not say when variables live".to_owned());
        }
        self.found.failure().map(str::to_owned).or_else(|| self.reading.why_not(report))
    }
}

impl RunData {
    fn new(tile: Arc<TileData>, derived: &Derived) -> Option<Self> {
        let report = &*tile.report;
        let rectangles = AddressSteps::new(&tile.placed, report)?;
        let mut alive = vec![0_i64; rectangles.steps as usize + 1];
        let mut sizes = vec![0_u128; tile.placed.placements.len()];
        for rectangle in &rectangles.rectangles {
            let bytes = rectangle.bytes.end.saturating_sub(rectangle.bytes.start);
            let steps = rectangle.steps.end.saturating_sub(rectangle.steps.start);
            for (step, sign) in [(rectangle.steps.start, 1), (rectangle.steps.end, -1)] {
                if let Some(change) = alive.get_mut(step as usize) {
                    *change += sign * i64::try_from(bytes).unwrap_or(i64::MAX);
                }
            }
            if let Some(size) = sizes.get_mut(rectangle.row as usize) {
                *size += u128::from(bytes) * u128::from(steps);
            }
        }
        alive.pop();
        let mut level = 0_i64;
        let alive = alive.into_iter().map(|change| {
            level = level.saturating_add(change);
            u64::try_from(level).unwrap_or(0)
        });
        let alive = alive.collect();
        let (operations, operation_of) = operations(&tile, derived, &sizes);
        Some(Self { tile, rectangles, alive, operations, operation_of })
    }
}

/// The operations by bytes × steps, and which of them each variable belongs to.
fn operations(
    tile: &TileData,
    derived: &Derived,
    sizes: &[u128],
) -> (Vec<(String, u128)>, Vec<Option<usize>>) {
    let nothing = || (Vec::new(), vec![None; tile.placed.placements.len()]);
    let (Some(liveness), Some(_)) = (tile.report.liveness.get(), derived.operations()) else {
        return nothing();
    };
    let owners = derived.owners();
    let of_row = |placement: &Placement| -> Option<&str> {
        let operation = match placement.unlowered {
            Some(variable) => {
                let row = VariableBytes { variable, class: placement.class, bytes: 0 };
                owners.variables.of(liveness, &row)?.0
            }
            None => owners.variables.of_life(liveness.classes.ids.position(placement.class)?)?,
        };
        owners.operations().get(operation as usize)?.name.as_deref()
    };
    let names: Vec<Option<&str>> = tile.placed.placements.iter().map(of_row).collect();
    let mut by_name: HashMap<&str, u128> = HashMap::new();
    for (name, size) in names.iter().zip(sizes) {
        if let Some(name) = name {
            *by_name.entry(name).or_default() += size;
        }
    }
    let mut list: Vec<(&str, u128)> = by_name.into_iter().filter(|(_, size)| *size > 0).collect();
    list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let places: HashMap<&str, usize> =
        list.iter().enumerate().map(|(place, (name, _))| (*name, place)).collect();
    let of = names.iter().map(|name| places.get((*name)?).copied()).collect();
    (list.into_iter().map(|(name, size)| (name.to_owned(), size)).collect(), of)
}
