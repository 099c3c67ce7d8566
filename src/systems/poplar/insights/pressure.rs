//! Where memory does not suffice: the tiles that are over, what is alive on each of them at its worst step,
//! and which operations run where too much is alive.
//!
//! A tile is over by its bytes including gaps; what is alive at its worst step is less, by gaps and by what liveness
//! does not explain. To fit, as much as it is over must go from every step at which more is alive than its *aim*: what
//! is alive at the worst step, less what it is over. The saving of a change on a tile is the difference of the bytes
//! alive at the worst step before and after it, at most the tile's excess. That is arithmetic: after a change the
//! compiler places variables anew.
//!
//! If more than [`MOST_PLACES`] tiles are over, only so many are examined: the half that is over by most, and tiles
//! evenly spread over the rest (`sample`). Totals are added up from those, the rest in proportion to the excess of its
//! tiles; the excess of each tile is exact.
//!
//! Where the bytes by tile are absent all tiles together are one place, of a report of one IPU.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use rayon::prelude::*;

use super::timeline::{AliveRow, PlaceMoment, PlaceTimeline};
use crate::analysis::comparison::owners::Owners;
use crate::analysis::liveness::over_limit::devices_apart;
use crate::analysis::liveness::{self, Scope};
use crate::analysis::memory::over_limit_bytes;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::variable_operations::VariableOperations;
use crate::store::liveness::{Liveness, TileVariableBytes};
use crate::store::{ClassId, Report, TileId, UnloweredId};

/// Places that are looked at, at most.
const MOST_PLACES: usize = 64;
/// Places on which it is tried whether something fits.
const MOST_TRIED: usize = 8;

/// A tile that is over, or all tiles together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PressurePlace {
    /// The tile; `None` for all of them.
    pub tile: Option<TileId>,
    /// Bytes over the limit, gaps included.
    pub over_bytes: u64,
    pub limit_bytes: u64,
}

/// A place with what is alive there.
#[derive(Debug)]
pub struct PlaceView {
    pub place: PressurePlace,
    pub timeline: PlaceTimeline,
    /// The moment at which most is alive.
    pub worst: PlaceMoment,
    temporaries: Temporaries,
    /// The operations that run while more than the aim is alive, ascending.
    operations: Vec<OperationPressure>,
}

impl PlaceView {
    /// Whether the place would fit with something to spare, if of each row so many bytes were left.
    pub fn would_fit(&self, left: &LeftOfRow<'_>, spare_bytes: u64) -> bool {
        let after = self.timeline.worst(|row| left(self, row)).bytes;
        after.saturating_add(spare_bytes) <= self.aim_bytes()
    }

    /// The most bytes of temporaries of an operation; `None` where it has none.
    pub fn temporaries_of(&self, operation: u32) -> Option<u64> {
        self.temporaries.of(operation)
    }

    /// Bytes that may be alive at a step if the place shall fit.
    pub fn aim_bytes(&self) -> u64 {
        aim_bytes(self.worst, self.place)
    }
}

fn aim_bytes(worst: PlaceMoment, place: PressurePlace) -> u64 {
    worst.bytes.saturating_sub(place.over_bytes)
}

/// What is left of a row in a place after a change, bytes.
pub type LeftOfRow<'a> = Box<dyn Fn(&PlaceView, &AliveRow) -> u64 + Sync + 'a>;

/// A variable as far as it lives in one class, where it is alive while more than the aim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AliveAbove {
    /// It, with its bytes in those places.
    pub alive: AliveRow,
    /// Bytes in the places where it is alive at the worst step.
    pub at_worst_bytes: u64,
    /// Its largest part in one place, and which place that is.
    pub most: (u64, PressurePlace),
    /// A step there, a position, at which it is alive and too much is: the worst where it is alive then.
    pub step: u32,
}

/// An operation that runs where too much is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationPressure {
    /// The operation, a position in [`Owners::operations`].
    pub operation: u32,
    /// The places in which more than the aim is alive while its temporaries are.
    pub places: u64,
    /// Bytes above the aim at the worst of those steps, summed over the places.
    pub above_bytes: u64,
    /// The largest of its temporaries at such a step.
    pub temporary_bytes: u64,
    /// The place and the step, a position, of those.
    pub at: (PressurePlace, u32),
    /// To how many bytes a place its temporaries would have to shrink, with all else as it is.
    pub aim_bytes: u64,
}

/// What a change would save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// Bytes of what the places are over.
    pub bytes: u64,
    /// Places that are over by no more than it saves there.
    pub places: u64,
}

/// The places and what is alive there.
#[derive(Debug)]
pub struct Pressure<'a> {
    /// The places that are looked at, worst first, then by tile.
    pub views: Vec<PlaceView>,
    /// The tiles that are over; `None` where all tiles together are one place.
    pub tiles: Option<TileSelection>,
    /// Bytes over the limit of all of them.
    pub over_bytes: u64,
    /// What is alive while too much is, most bytes first, then by variable and class.
    pub alive: Vec<AliveAbove>,
    /// Operations that run where too much is alive, most bytes first, then by operation.
    pub operations: Vec<OperationPressure>,
    /// Bytes alive at the worst steps of all places.
    pub alive_bytes: u64,
    weights: Weights,
    liveness: &'a Liveness,
}

impl<'a> Pressure<'a> {
    /// `table` has the bytes by variable and class at least of [`sample`]. `None` where no tile is over, or the
    /// report does not say what is alive.
    pub fn of(
        report: &'a Report,
        owners: &'a Owners,
        table: Option<&'a TileVariableBytes>,
    ) -> Option<Self> {
        let liveness = report.liveness.get()?;
        let all = tiles_over(report)?;
        let over_bytes = sum_over(&all);
        if over_bytes == 0 {
            return None;
        }
        let (places, tiles) = if table.is_some() {
            (sample(&all), Some(all.iter().filter_map(|place| place.tile).collect()))
        } else {
            liveness.variable_bytes.as_ref()?;
            // What several IPUs have together says nothing of any of them.
            let is_one = report.target.get()?.devices.is_none_or(|ipus| ipus <= 1)
                && devices_apart(report, Scope::Everything).is_empty();
            let limit_bytes = liveness::limit_bytes(Scope::Everything, report.arenas.get()?)?;
            is_one.then_some(())?;
            (vec![PressurePlace { tile: None, over_bytes, limit_bytes }], None)
        };
        let mut pressure = Self {
            weights: Weights::of(&places, &all),
            views: places.par_iter().map(|at| view(at, liveness, table, owners)).collect(),
            tiles,
            over_bytes,
            alive: Vec::new(),
            operations: Vec::new(),
            alive_bytes: 0,
            liveness,
        };
        // Sums of many places each, for putting two of them together takes as long as adding a place.
        let at_least = pressure.views.len().div_ceil(2 * rayon::current_num_threads().max(1));
        let sums = pressure
            .views
            .par_iter()
            .with_min_len(at_least)
            .fold(PressureSums::default, |mut sums, view| {
                sums.add(view, liveness);
                sums
            })
            .reduce(PressureSums::default, PressureSums::merged);
        pressure.alive_bytes = sums.alive_bytes;
        pressure.alive = sums.alive.into_values().collect();
        pressure.alive.sort_by_key(|AliveAbove { alive: row, .. }| {
            (std::cmp::Reverse(row.bytes), row.variable, row.class)
        });
        pressure.operations = sums.operations.into_values().collect();
        pressure.operations.sort_by_key(|row| (std::cmp::Reverse(row.above_bytes), row.operation));
        Some(pressure)
    }

    pub fn liveness(&self) -> &'a Liveness {
        self.liveness
    }

    /// How many tiles are over, and on how many of them what is alive was looked at; `None` where that is
    /// all of them.
    pub fn sampled(&self) -> Option<(u64, u64)> {
        let (looked_at, all) = (self.views.len() as u64, self.tiles.as_ref()?.count());
        (looked_at < all).then_some((looked_at, all))
    }

    /// The places on which it is tried whether something fits.
    pub fn worst_views(&self) -> &[PlaceView] {
        self.views.get(..MOST_TRIED.min(self.views.len())).unwrap_or(&[])
    }

    /// What each of some changes would save.
    pub fn covered(&self, changes: &[&LeftOfRow<'_>]) -> Vec<Covered> {
        let of_place = |view: &PlaceView| -> Vec<u64> {
            let of_change = |left: &&LeftOfRow<'_>| {
                let after = view.timeline.worst(|row| left(view, row)).bytes;
                view.worst.bytes.saturating_sub(after).min(view.place.over_bytes)
            };
            changes.iter().map(of_change).collect()
        };
        let saved: Vec<Vec<u64>> = self.views.par_iter().map(of_place).collect();
        let of_change = |change: usize| {
            let saved = saved.iter().map(|of_place| of_place.get(change).copied().unwrap_or(0));
            let places = self.views.iter().map(|view| view.place);
            self.weights.covered(places.zip(saved), self.over_bytes)
        };
        (0..changes.len()).map(of_change).collect()
    }
}

/// What is added up from the places that are looked at stands for all: the worst for themselves, the others
/// for the rest.
#[derive(Debug)]
struct Weights {
    /// Places that stand for themselves alone.
    worst: usize,
    /// Bytes over of the rest, and of those of them that are looked at.
    rest_bytes: (u64, u64),
    /// How many the rest are, and how many of them are looked at.
    rest_places: (u64, u64),
}

impl Weights {
    fn of(places: &[PressurePlace], all: &[PressurePlace]) -> Self {
        let worst = if places.len() < all.len() { MOST_PLACES / 2 } else { places.len() };
        let of = |all: &[PressurePlace]| {
            let rest = all.get(worst.min(all.len())..).unwrap_or(&[]);
            (sum_over(rest), rest.len() as u64)
        };
        let (all, looked_at) = (of(all), of(places));
        Self { worst, rest_bytes: (all.0, looked_at.0), rest_places: (all.1, looked_at.1) }
    }

    fn covered(
        &self,
        saved: impl Iterator<Item = (PressurePlace, u64)>,
        over_bytes: u64,
    ) -> Covered {
        let (mut worst, mut rest) = (Covered::default(), Covered::default());
        for (position, (place, saved)) in saved.enumerate() {
            let sum = if position < self.worst { &mut worst } else { &mut rest };
            sum.bytes = sum.bytes.saturating_add(saved);
            sum.places += u64::from(saved == place.over_bytes);
        }
        let scaled = |part: u64, (all, looked_at): (u64, u64)| {
            let part = u128::from(part) * u128::from(all) / u128::from(looked_at.max(1));
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        Covered {
            bytes: worst.bytes.saturating_add(scaled(rest.bytes, self.rest_bytes)).min(over_bytes),
            places: worst.places.saturating_add(scaled(rest.places, self.rest_places)),
        }
    }
}

fn sum_over(places: &[PressurePlace]) -> u64 {
    places.iter().fold(0_u64, |sum, place| sum.saturating_add(place.over_bytes))
}

/// The places to look at, of some that are sorted: all, or the worst half of [`MOST_PLACES`] and as many evenly
/// spread over the others.
fn sample(all: &[PressurePlace]) -> Vec<PressurePlace> {
    if all.len() <= MOST_PLACES {
        return all.to_vec();
    }
    let (worst, rest) = all.split_at(MOST_PLACES / 2);
    let wanted = MOST_PLACES - worst.len();
    // The middle of each of as many equal parts.
    let spread =
        (0..wanted).filter_map(|part| rest.get((2 * part + 1) * rest.len() / (2 * wanted)));
    worst.iter().chain(spread).copied().collect()
}

/// The tiles that [`Pressure`] looks at; empty where no tile is over, or the report does not say.
pub fn sampled_tiles(report: &Report) -> Vec<TileId> {
    let places = tiles_over(report).map(|all| sample(&all)).unwrap_or_default();
    places.iter().filter_map(|place| place.tile).collect()
}

/// A place with what is alive there.
fn view(
    place: &PressurePlace,
    liveness: &Liveness,
    table: Option<&TileVariableBytes>,
    owners: &Owners,
) -> PlaceView {
    let classes = &liveness.classes;
    let timeline = match (place.tile, table) {
        (Some(tile), Some(table)) => PlaceTimeline::new(table.iter(table.rows_of(tile)), classes),
        _ => {
            let rows = liveness.variable_bytes.as_deref().unwrap_or(&[]);
            PlaceTimeline::new(rows.iter().copied(), classes)
        }
    };
    let worst = timeline.worst(|row| row.bytes);
    let aim = aim_bytes(worst, *place);
    let mut temporaries = Temporaries::default();
    let mut operations: BTreeMap<u32, OperationPressure> = BTreeMap::new();
    each_moment_of_operations(&timeline, &owners.variables, |moment, running| {
        temporaries.add(running);
        let above_bytes = moment.bytes.saturating_sub(aim);
        if above_bytes == 0 {
            return;
        }
        for (operation, bytes) in running {
            let found = OperationPressure {
                operation: *operation,
                places: 1,
                above_bytes,
                temporary_bytes: *bytes,
                at: (*place, moment.step),
                aim_bytes: bytes.saturating_sub(above_bytes),
            };
            operations
                .entry(*operation)
                .and_modify(|known| *known = known.worse(&found))
                .or_insert(found);
        }
    });
    PlaceView {
        place: *place,
        timeline,
        worst,
        temporaries,
        operations: operations.into_values().collect(),
    }
}

/// The most bytes that the temporaries of each operation have at any moment; 0 where it has none.
#[derive(Debug, Default)]
pub struct Temporaries(Vec<u64>);

impl Temporaries {
    pub fn largest(timeline: &PlaceTimeline, operations: &VariableOperations) -> Self {
        let mut most = Self::default();
        each_moment_of_operations(timeline, operations, |_, running| most.add(running));
        most
    }

    fn of(&self, operation: u32) -> Option<u64> {
        self.0.get(operation as usize).copied().filter(|bytes| *bytes > 0)
    }

    /// The operations that have some, ascending, with their bytes.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        (0..).zip(self.0.iter().copied()).filter(|(_, bytes)| *bytes > 0)
    }

    fn add(&mut self, running: &BTreeMap<u32, u64>) {
        for (operation, bytes) in running {
            let at = *operation as usize;
            if at >= self.0.len() {
                self.0.resize(at + 1, 0);
            }
            if let Some(known) = self.0.get_mut(at) {
                *known = (*known).max(*bytes);
            }
        }
    }
}

/// Goes through the moments with the bytes of the temporaries of each operation that has any there.
fn each_moment_of_operations(
    timeline: &PlaceTimeline,
    operations: &VariableOperations,
    mut each: impl FnMut(PlaceMoment, &BTreeMap<u32, u64>),
) {
    let mut running: BTreeMap<u32, u64> = BTreeMap::new();
    timeline.each_moment(|moment, changes| {
        for (row, begins) in changes {
            let Some(operation) = operations.of_life(row.class_row) else { continue };
            let bytes = running.entry(operation).or_default();
            *bytes = if begins {
                bytes.saturating_add(row.bytes)
            } else {
                bytes.saturating_sub(row.bytes)
            };
        }
        running.retain(|_, bytes| *bytes > 0);
        each(moment, &running);
    });
}

/// The tiles that are over, worst first, then by number.
fn tiles_over(report: &Report) -> Option<Vec<PressurePlace>> {
    let (memory, target) = (report.memory.get()?, report.target.get()?);
    let limit_bytes = target.bytes_per_tile?;
    let tiles = memory.tiles.as_slice().iter().enumerate();
    let places = tiles.filter_map(|(row, tile)| {
        let over_bytes = over_limit_bytes(memory, Some(target), row)?;
        Some(PressurePlace { tile: Some(*tile), over_bytes, limit_bytes })
    });
    let mut places: Vec<PressurePlace> = places.filter(|place| place.over_bytes > 0).collect();
    places.sort_by_key(|place| (std::cmp::Reverse(place.over_bytes), place.tile));
    Some(places)
}

#[derive(Default)]
struct PressureSums {
    alive_bytes: u64,
    alive: HashMap<(UnloweredId, ClassId), AliveAbove>,
    operations: HashMap<u32, OperationPressure>,
}

impl PressureSums {
    fn add(&mut self, view: &PlaceView, liveness: &Liveness) {
        let place = view.place;
        self.alive_bytes = self.alive_bytes.saturating_add(view.worst.bytes);
        let classes = &liveness.classes;
        let above = steps_above(&view.timeline, view.aim_bytes());
        for row in view.timeline.rows() {
            let is_at_worst =
                row.is_always_live || classes.is_live_at(row.class, view.worst.step as usize);
            let step = if is_at_worst {
                Some(view.worst.step)
            } else {
                classes.ranges_of(row.class_row).iter().find_map(|life| first_common(&above, life))
            };
            let Some(step) = step else { continue };
            let at_worst_bytes = if is_at_worst { row.bytes } else { 0 };
            let most = (row.bytes, place);
            self.add_alive(AliveAbove { alive: *row, at_worst_bytes, most, step });
        }
        for found in &view.operations {
            self.add_operation(*found);
        }
    }

    fn add_alive(&mut self, found: AliveAbove) {
        let row = found.alive;
        let none = AliveAbove { alive: AliveRow { bytes: 0, ..row }, at_worst_bytes: 0, ..found };
        let known = self.alive.entry((row.variable, row.class)).or_insert(none);
        known.alive.bytes = known.alive.bytes.saturating_add(row.bytes);
        known.at_worst_bytes = known.at_worst_bytes.saturating_add(found.at_worst_bytes);
        if is_larger(found.most, known.most) {
            (known.most, known.step) = (found.most, found.step);
        }
    }

    fn add_operation(&mut self, found: OperationPressure) {
        let known = self.operations.entry(found.operation).or_insert(OperationPressure {
            places: 0,
            above_bytes: 0,
            ..found
        });
        let (places, above_bytes) = (known.places, known.above_bytes);
        *known = known.worse(&found);
        known.places = places.saturating_add(found.places);
        known.above_bytes = above_bytes.saturating_add(found.above_bytes);
    }

    fn merged(mut self, other: Self) -> Self {
        self.alive_bytes = self.alive_bytes.saturating_add(other.alive_bytes);
        for found in other.alive.into_values() {
            self.add_alive(found);
        }
        for found in other.operations.into_values() {
            self.add_operation(found);
        }
        self
    }
}

impl OperationPressure {
    /// Of two findings of an operation the larger temporaries, the more that is above, the smaller aim.
    fn worse(&self, other: &Self) -> Self {
        let is_other =
            is_larger((other.temporary_bytes, other.at.0), (self.temporary_bytes, self.at.0));
        Self {
            above_bytes: self.above_bytes.max(other.above_bytes),
            aim_bytes: self.aim_bytes.min(other.aim_bytes),
            ..if is_other { *other } else { *self }
        }
    }
}

/// The steps at which more than the aim is alive, as ranges that ascend.
fn steps_above(timeline: &PlaceTimeline, aim: u64) -> Vec<Range<u32>> {
    let mut above = Vec::new();
    let mut since = None;
    timeline.each_moment(|moment, _| match since {
        None if moment.bytes > aim => since = Some(moment.step),
        Some(start) if moment.bytes <= aim => {
            above.push(start..moment.step);
            since = None;
        }
        _ => {}
    });
    above.extend(since.map(|start| start..u32::MAX));
    above
}

/// The first step of a range that lies in one of some that ascend.
fn first_common(ranges: &[Range<u32>], range: &Range<u32>) -> Option<u32> {
    let after = ranges.partition_point(|other| other.end <= range.start);
    let step = ranges.get(after)?.start.max(range.start);
    (step < range.end).then_some(step)
}

/// Whether a part is larger than another, or as large on a tile with a lower number: so that the answer
/// does not depend on the order in which places are gone through.
fn is_larger(part: (u64, PressurePlace), other: (u64, PressurePlace)) -> bool {
    (part.0, std::cmp::Reverse(part.1.tile)) > (other.0, std::cmp::Reverse(other.1.tile))
}
