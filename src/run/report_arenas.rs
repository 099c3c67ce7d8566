//! The arenas of a device side by side, from what a report places in them: tiles, allocations.
//!
//! Where there are more than a picture can show, it has those that are selected, else the fullest.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::allocations::{Allocation, Allocations, CodeFrame};
use super::areas::AreasBy;
use super::arena_layers::{PlacedSize, by_layer};
use super::arena_map::{
    ArenaAxis, ArenaMap, ArenaMoment, ArenaUse, ArenasAt, ArenasOf, BlockSaid, CellKind,
    MOST_ARENAS, MapCells, MapLegend, MapWindow, PlacedArena, PlacedBlock,
};
use super::section::Cell;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::scope_curve::scope_curve;
use crate::analysis::liveness::{Scope, first_arena, peak};
use crate::analysis::memory::category_title;
use crate::analysis::memory::fullest_tiles::fullest_tiles;
use crate::analysis::placement::address_steps::AddressSteps;
use crate::analysis::placement::counted::{COUNTED_ONCE, counted_by_life, life_order};
use crate::analysis::placement::resident_tile::resident_tile;
use crate::progress::Progress;
use crate::store::ids::CategoryId;
use crate::store::placed::{Placed, Placement};
use crate::store::{ArenaId, DeviceId, Report};
use crate::text::{clean, grouped, shortened};

/// What is placed in the arenas of a picture at most.
const MOST_BLOCKS: usize = 1 << 20;
/// Arenas that are read together.
const TOGETHER: usize = 32;

/// The devices of a report; none where it does not say which device an arena is of.
fn devices(report: &Report) -> Vec<Option<DeviceId>> {
    let Some(arenas) = report.arenas.get().filter(|arenas| !arenas.ids.is_empty()) else {
        return Vec::new();
    };
    let devices: Vec<_> = arenas.device_ids().into_iter().map(Some).collect();
    if devices.is_empty() { vec![None] } else { devices }
}

/// What the devices are called.
pub fn device_titles(report: &Report) -> Vec<String> {
    let title = |device: Option<DeviceId>| {
        device.map_or(report.system.all_devices.to_owned(), |device| report.device_title(device))
    };
    devices(report).into_iter().map(title).collect()
}

/// The place of the device of an arena, else of the one that is looked at first.
pub fn first_device(report: &Report, selected: Option<ArenaId>) -> usize {
    let arenas = report.arenas.get();
    let of = |arena: ArenaId| arenas.and_then(|arenas| arenas.device(arena));
    let device = selected.and_then(of).or_else(|| of(first_arena(report)?));
    devices(report).iter().position(|other| *other == device).unwrap_or(0)
}

/// The arenas of a device.
#[derive(Debug)]
pub struct ReportArenas(Arc<KnownArenas>);

#[derive(Debug)]
struct KnownArenas {
    report: Arc<Report>,
    axis: ArenaAxis,
    legend: MapLegend,
    arenas: Vec<OneArena>,
    /// What each block is for, a place in the legend.
    categories: Vec<u16>,
    /// By layer, a place in the legend; empty where none is known.
    layers: Vec<u8>,
    steps: usize,
    first_step: usize,
    /// Of a device with a memory of its own that device.
    scope: Scope,
}

/// An arena with what is placed in it. A block is a placement; those of all arenas have numbers one after the other.
#[derive(Debug)]
struct OneArena {
    id: ArenaId,
    first_block: usize,
    placed: Placed,
    rectangles: AddressSteps,
}

impl OneArena {
    /// The bytes × steps of each placement.
    fn sizes(&self) -> Vec<u128> {
        let mut sizes = vec![0_u128; self.placed.placements.len()];
        for one in &self.rectangles.rectangles {
            let bytes = one.bytes.end.saturating_sub(one.bytes.start);
            let steps = one.steps.end.saturating_sub(one.steps.start);
            if let Some(size) = sizes.get_mut(one.row as usize) {
                *size = size.saturating_add(u128::from(bytes) * u128::from(steps));
            }
        }
        sizes
    }
}

impl ReportArenas {
    /// Reads a device; `None` where nothing can be read, or when it was canceled.
    pub fn of(derived: &Derived, of: &ArenasOf, progress: &Progress) -> Option<Self> {
        let report = derived.report();
        let arenas = report.arenas.get()?;
        let device = devices(report).get(of.device).copied()?;
        let mut wanted: Vec<ArenaId> = (arenas.ids.as_slice().iter().zip(&arenas.devices))
            .filter(|(_, of)| **of == device)
            .map(|(arena, _)| *arena)
            .collect();
        let count = wanted.len();
        if wanted.iter().filter(|arena| of.selected.contains(arena)).count() > 1 {
            wanted.retain(|arena| of.selected.contains(arena));
        }
        let fullest = fullest_tiles(report, usize::MAX);
        let used: HashMap<ArenaId, u64> =
            fullest.iter().map(|tile| (ArenaId(tile.tile), tile.bytes)).collect();
        let bytes = |arena: &ArenaId| used.get(arena).copied().or_else(|| arenas.capacity(*arena));
        wanted.sort_by_key(|arena| (Reverse(bytes(arena)), *arena));
        wanted.truncate(MOST_ARENAS);
        let mut placed = read(report, &wanted, progress)?;
        placed.sort_by_key(|(arena, _)| *arena);
        let steps = report.steps.get().map_or(1, |steps| steps.ids.len().max(1));
        let scope = device.map_or(Scope::Everything, Scope::Device);
        let curve = scope_curve(report, scope, &|| progress.is_cancelled());
        let of_all =
            wanted.first().map_or(Scope::Everything, |arena| Scope::around(report, *arena));
        let mut known = KnownArenas {
            report: Arc::clone(report),
            scope: of_all,
            axis: ArenaAxis::default(),
            legend: MapLegend {
                more: (count.saturating_sub(placed.len())) as u64,
                ..MapLegend::default()
            },
            arenas: Vec::with_capacity(placed.len()),
            categories: Vec::new(),
            layers: Vec::new(),
            steps,
            first_step: curve.and_then(|curve| peak(&curve.not_always_live)).unwrap_or(0),
        };
        known.add(placed);
        known.add_layers(derived);
        (!progress.is_cancelled()).then(|| Self(Arc::new(known)))
    }
}

/// What is placed in arenas, of as many of the first of them as there is room for.
fn read(
    report: &Report,
    wanted: &[ArenaId],
    progress: &Progress,
) -> Option<Vec<(ArenaId, Placed)>> {
    let mut all: Vec<(ArenaId, Placed)> = Vec::new();
    let mut blocks = 0_usize;
    for arenas in wanted.chunks(TOGETHER) {
        let found: Mutex<BTreeMap<ArenaId, Placed>> = Mutex::default();
        let of_files = report.reader().and_then(|reader| {
            let each = |arena, placed| {
                found.lock().unwrap_or_else(PoisonError::into_inner).insert(arena, placed);
            };
            reader.read_some(arenas, progress, &each).ok().filter(|is_there| *is_there)
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        for arena in arenas {
            let resident = || resident_tile(report, arena.tile()).filter(|_| of_files.is_none());
            let Some(placed) = found.remove(arena).or_else(resident) else { continue };
            blocks = blocks.saturating_add(placed.placements.len());
            if blocks > MOST_BLOCKS && !all.is_empty() {
                return Some(all);
            }
            all.push((*arena, placed));
        }
        if progress.is_cancelled() {
            return None;
        }
    }
    (!all.is_empty()).then_some(all)
}

impl KnownArenas {
    fn add(&mut self, placed: Vec<(ArenaId, Placed)>) {
        let report = Arc::clone(&self.report);
        let arenas = report.arenas.get();
        let (mut on_axis, mut places) = (Vec::new(), HashMap::new());
        for (id, placed) in placed {
            let rectangles = AddressSteps::new(&placed, &report)
                .unwrap_or_else(|| AddressSteps::without_steps(&placed));
            let capacity = arenas.and_then(|arenas| arenas.capacity(id)).unwrap_or(rectangles.end);
            on_axis.push(PlacedArena {
                name: report.arena_title(id),
                number: u64::from(id.0),
                bytes: capacity.max(rectangles.end),
                over: rectangles.end.saturating_sub(capacity),
                from_step: -1,
                ..PlacedArena::default()
            });
            let first_block = self.categories.len();
            for placement in &placed.placements {
                let next = places.len();
                let place = *places.entry(placement.category).or_insert(next);
                self.categories.push(u16::try_from(place).unwrap_or(u16::MAX));
            }
            self.arenas.push(OneArena { id, first_block, placed, rectangles });
        }
        let mut named: Vec<(usize, Option<u32>)> =
            places.into_iter().map(|(category, place)| (place, category)).collect();
        named.sort_unstable();
        let name = |category: Option<u32>| {
            let names = report.categories.get();
            category.and_then(|id| names?.name(CategoryId(id)).map(str::to_owned))
        };
        self.legend.categories = (named.into_iter())
            .map(|(_, category)| name(category).unwrap_or_else(|| "Unknown".to_owned()))
            .collect();
        self.axis = ArenaAxis::of(on_axis);
    }

    /// Tells blocks apart by layer; what belongs to none has its category.
    fn add_layers(&mut self, derived: &Derived) {
        let category = |block: usize| self.category_name(block).unwrap_or("Unknown");
        let blocks = self.arenas.iter().flat_map(|arena| {
            let sizes = arena.sizes();
            arena.placed.placements.iter().zip(sizes).enumerate().map(|(row, (placement, size))| {
                let block = arena.first_block.saturating_add(row);
                PlacedSize { placement, size, category: category(block) }
            })
        });
        let (groups, places) = by_layer(derived, blocks);
        self.legend.is_by_layer = derived.answers().are_maps_by_layer();
        (self.legend.by_layer, self.layers) = (groups, places);
    }

    /// The arena of a block, by its place, and the row of the block there.
    fn row_of(&self, block: usize) -> Option<(usize, u32)> {
        let place = self.arenas.partition_point(|arena| arena.first_block <= block);
        let place = place.checked_sub(1)?;
        let row = block.checked_sub(self.arenas.get(place)?.first_block)?;
        Some((place, u32::try_from(row).ok()?))
    }

    fn placement(&self, block: usize) -> Option<(usize, u32, &Placement)> {
        let (place, row) = self.row_of(block)?;
        Some((place, row, self.arenas.get(place)?.placed.placements.get(row as usize)?))
    }

    fn category(&self, block: usize) -> Option<usize> {
        let place = usize::from(*self.categories.get(block)?);
        (place < self.legend.categories.len()).then_some(place)
    }

    fn category_name(&self, block: usize) -> Option<&str> {
        self.legend.categories.get(self.category(block)?).map(String::as_str)
    }

    fn category_title(&self, block: usize) -> String {
        self.category_name(block).map_or_else(
            || "Unknown".to_owned(),
            |name| shortened(&category_title(name), 40).into_owned(),
        )
    }

    /// The steps from the first to the last of a block.
    fn steps_of(&self, block: usize) -> Option<Range<u32>> {
        let (place, row, placement) = self.placement(block)?;
        let bytes = placement.offset..placement.end();
        let lives = self.arenas.get(place)?.rectangles.of_row(row, &bytes);
        Some(lives.first()?.steps.start..lives.last()?.steps.end)
    }

    fn life(&self, block: usize) -> String {
        let Some(steps) = self.steps_of(block) else { return String::new() };
        let ids = self.report.steps.get().map(|steps| &steps.ids);
        let id = |step: u32| {
            grouped(ids.and_then(|ids| ids.get(step as usize)).map_or(step, |id| id.0).into())
        };
        let (from, last) = (id(steps.start), id(steps.end.saturating_sub(1)));
        format!("{} {from} to {last}", self.report.system.step_in_text)
    }

    /// Bytes of a block that begin at an address.
    fn address(&self, block: usize) -> String {
        self.placement(block).map_or_else(String::new, |(.., it)| format!("{:#x}", it.offset))
    }
}

impl ArenaMap for ReportArenas {
    fn axis(&self) -> &ArenaAxis {
        &self.0.axis
    }

    fn legend(&self) -> &MapLegend {
        &self.0.legend
    }

    fn steps(&self) -> usize {
        self.0.steps
    }

    fn scope(&self) -> Scope {
        self.0.scope
    }

    fn first_step(&self) -> usize {
        self.0.first_step
    }

    fn category(&self, block: u32) -> Option<usize> {
        self.0.category(block as usize)
    }

    fn layer(&self, block: u32) -> Option<usize> {
        let place = usize::from(*self.0.layers.get(block as usize)?);
        (place < self.0.legend.by_layer.len()).then_some(place)
    }

    fn cells(&self, window: MapWindow, is_cancelled: &dyn Fn() -> bool) -> Option<MapCells> {
        let (mut cells, axis) = (MapCells::none(&window)?, &self.0.axis);
        let steps = (0.0, self.0.steps as f64);
        for (place, (arena, placed)) in self.0.arenas.iter().zip(&axis.arenas).enumerate() {
            let along = |address: u64| axis.along(place, address);
            let whole = (along(0), along(placed.bytes));
            if whole.1 < window.y.0 || whole.0 > window.y.1 {
                continue;
            }
            cells.fill(&window, steps, whole, CellKind::Free, MapCells::NO_BLOCK);
            // What is longer lies below what begins at the same address.
            for (number, one) in arena.rectangles.rectangles.iter().rev().enumerate() {
                if number.is_multiple_of(8192) && is_cancelled() {
                    return None;
                }
                let x = (f64::from(one.steps.start), f64::from(one.steps.end));
                let y = (along(one.bytes.start), along(one.bytes.end));
                let is_outside =
                    x.1 < window.x.0 || x.0 > window.x.1 || y.1 < window.y.0 || y.0 > window.y.1;
                if !is_outside {
                    let block = arena.first_block.saturating_add(one.row as usize);
                    cells.block(&window, block, (x.0, x.1, x.1), (y, y.1));
                }
            }
        }
        Some(cells)
    }

    fn moment(
        &self,
        step: usize,
        wanted: Option<usize>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<ArenaMoment> {
        let known = &self.0;
        let at_step = u32::try_from(step).unwrap_or(u32::MAX);
        let mut by_category: BTreeMap<Option<usize>, u64> = BTreeMap::new();
        let (mut arenas, mut listed, mut is_shared) = (Vec::new(), Vec::new(), false);
        for (place, (arena, placed)) in known.arenas.iter().zip(&known.axis.arenas).enumerate() {
            if is_cancelled() {
                return None;
            }
            let all = arena.rectangles.rectangles.iter();
            let alive: Vec<_> = all.filter(|one| one.steps.contains(&at_step)).collect();
            let mut of = ArenaUse::default();
            of.add(0..placed.bytes, alive.iter().map(|one| one.bytes.clone()));
            arenas.push(of);
            let lives = alive.iter().map(|one| {
                let all = arena.rectangles.of_row(one.row, &one.bytes).iter();
                let order = life_order(all.map(|one| one.steps.clone()), one.bytes.start);
                (order, one.bytes.clone())
            });
            let counted = counted_by_life(&lives.collect::<Vec<_>>());
            for (one, bytes) in alive.into_iter().zip(counted) {
                let block = arena.first_block.saturating_add(one.row as usize);
                let sum = by_category.entry(known.category(block)).or_default();
                *sum = sum.saturating_add(bytes);
                if wanted.is_none_or(|wanted| wanted == place) {
                    listed.push((bytes, block));
                    is_shared |= bytes < one.bytes.end.saturating_sub(one.bytes.start);
                }
            }
        }
        listed.sort_unstable_by_key(|(bytes, block)| (Reverse(*bytes), *block));
        let name = |place: Option<usize>| known.legend.categories.get(place?).cloned();
        let mut by_category: Vec<(String, u64)> = (by_category.into_iter())
            .filter_map(|(place, bytes)| Some((name(place)?, bytes)))
            .collect();
        by_category.sort_by_key(|(_, bytes)| Reverse(*bytes));
        let listed_bytes = listed.iter().fold(0, |sum: u64, (bytes, _)| sum.saturating_add(*bytes));
        Some(ArenaMoment {
            step,
            at: ArenasAt::of(arenas),
            by_category,
            allocations: Arc::new(ListedBlocks {
                known: Arc::clone(known),
                blocks: listed,
                rule: if is_shared { COUNTED_ONCE } else { "" },
            }),
            listed_bytes,
            failed: None,
        })
    }

    fn place(&self, block: usize) -> Option<PlacedBlock> {
        let (arena, _, placement) = self.0.placement(block)?;
        let steps = self.0.steps_of(block)?;
        Some(PlacedBlock { arena, addresses: placement.offset..placement.end(), steps })
    }

    fn said(&self, block: usize) -> Option<BlockSaid> {
        let known = &self.0;
        let (place, row, placement) = known.placement(block)?;
        let arena = known.arenas.get(place)?;
        let name = arena.placed.names.at(row as usize).unwrap_or_default();
        let facts = vec![
            ("Name", Cell::Text(clean(name).into_owned())),
            ("Address", Cell::Text(known.address(block))),
            (known.report.system.arena, Cell::Text(known.report.arena_title(arena.id))),
            ("Lives", Cell::Text(known.life(block))),
        ];
        let title = known.category_title(block);
        let (bytes, variable) = (placement.bytes, placement.unlowered);
        Some(BlockSaid { title, bytes, facts, variable, ..BlockSaid::default() })
    }
}

/// Some blocks as a list, each with the bytes that count to it; the code of each is its name.
#[derive(Debug)]
struct ListedBlocks {
    known: Arc<KnownArenas>,
    blocks: Vec<(u64, usize)>,
    /// How bytes are counted, where some have addresses in common.
    rule: &'static str,
}

impl ListedBlocks {
    fn block(&self, row: usize) -> usize {
        self.blocks.get(row).map_or(usize::MAX, |(_, block)| *block)
    }
}

impl Allocations for ListedBlocks {
    fn titles(&self) -> (&'static str, bool) {
        ("Name", false)
    }

    fn rule(&self) -> &'static str {
        self.rule
    }

    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn get(&self, row: usize) -> Option<Allocation> {
        let (bytes, block) = *self.blocks.get(row)?;
        let steps = self.known.steps_of(block)?;
        Some(Allocation {
            bytes,
            category: Some(self.known.category_title(block)),
            from: Some(steps.start.into()),
            steps: u64::from(steps.end.saturating_sub(steps.start)),
            address: self.known.address(block),
            life: self.known.life(block),
            ..Allocation::default()
        })
    }

    fn bytes(&self, row: usize) -> [u64; 2] {
        self.blocks.get(row).map_or([0; 2], |(bytes, _)| [*bytes; 2])
    }

    fn step(&self, row: usize) -> Option<usize> {
        self.known.steps_of(self.block(row)).map(|steps| steps.start as usize)
    }

    fn key(&self, row: usize) -> (u32, u32) {
        (0, u32::try_from(self.block(row)).unwrap_or(u32::MAX))
    }

    fn stack(&self, row: usize) -> usize {
        row
    }

    fn stacks(&self) -> usize {
        self.blocks.len()
    }

    fn frames_of(&self, _: usize) -> &[u32] {
        &[]
    }

    fn frames(&self) -> usize {
        0
    }

    fn frame(&self, _: u32) -> CodeFrame {
        CodeFrame::default()
    }

    fn code(&self, stack: usize, _: AreasBy) -> Cow<'_, str> {
        let name = self
            .known
            .row_of(self.block(stack))
            .and_then(|(place, row)| self.known.arenas.get(place)?.placed.names.at(row as usize));
        Cow::Borrowed(name.unwrap_or_default())
    }

    fn has_devices(&self) -> bool {
        false
    }
}
