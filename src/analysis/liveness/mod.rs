//! Liveness: what is in memory at each step.
//!
//! Always live are the variables whose class has `is_always_live`. The curve at a step is the bytes
//! of the not-always-live classes that are live there, of the scope: everything, an IPU, a tile.
//! The peak is the curve's largest value, at the first step of equals (definitions.md). Figures of
//! replicated programs are per replica, as Poplar writes them; that was not verified on a real
//! report.

mod arena_curve;
pub mod lifetimes;
pub mod over_limit;
pub(crate) mod peaks;
pub mod scope_curve;
pub(crate) mod step_changes;
pub(crate) mod timeline;
pub mod variable_kind;
pub mod variable_search;
pub mod variables;
mod worst_tiles;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::store::arena::Arenas;
use crate::store::liveness::{Classes, Deltas, Liveness, VariableBytes};
use crate::store::memory::TileMemory;
use crate::store::target::Target;
use crate::store::{Absence, ArenaId, DeviceId, Report, TileId, UnloweredId};

use crate::analysis::memory;

/// What to say beside the liveness of a program with several replicas; `None` where there is one.
pub fn replica_note(target: Option<&Target>) -> Option<&'static str> {
    let replicas = target?.replicas?;
    (replicas > 1).then_some(
        "Per replica, as the report states it; not verified on a real report with several replicas",
    )
}

/// The part of the machine that a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All arenas.
    Everything,
    /// The arenas of one device: of Poplar the tiles of an IPU.
    Device(DeviceId),
    /// One arena: of Poplar a tile.
    Arena(ArenaId),
    /// At each step the arena with the most bytes alive there (see [`crate::analysis::liveness::scope_curve`]).
    WorstArena,
}

impl Scope {
    /// What bounds an arena: its device where that has a memory of its own, else everything.
    pub fn around(report: &Report, arena: ArenaId) -> Self {
        let arenas = report.arenas.get();
        let device = arenas.and_then(|arenas| arenas.device(arena));
        let apart = device.filter(|device| arenas.is_some_and(|it| it.apart.contains(device)));
        apart.map_or(Self::Everything, Self::Device)
    }

    /// The device that it is, or that it lies in.
    pub fn device(self, report: &Report) -> Option<DeviceId> {
        match self {
            Self::Device(device) => Some(device),
            Self::Arena(arena) => report.arenas.get()?.device(arena),
            Self::Everything | Self::WorstArena => None,
        }
    }

    /// Whether its curve is added up from the bytes by tile.
    pub fn needs_arenas(self) -> bool {
        matches!(self, Self::Arena(_) | Self::WorstArena)
    }

    /// The tiles of the scope as a range of tile numbers, `None` for all, for the worst tile, which
    /// may be any, or when an IPU's tiles cannot be told.
    pub fn tiles(self, target: Option<&Target>) -> Option<RangeInclusive<u32>> {
        match self {
            Self::Everything | Self::WorstArena => None,
            Self::Device(device) => {
                let per_device =
                    u32::try_from(target?.tiles_per_device?).ok().filter(|tiles| *tiles > 0)?;
                let first = device.0.checked_mul(per_device)?;
                Some(first..=first.checked_add(per_device - 1)?)
            }
            Self::Arena(arena) => Some(arena.0..=arena.0),
        }
    }

    /// The rows of `memory_by_tile` that belong to the scope.
    pub fn rows(self, memory: &TileMemory, target: Option<&Target>) -> std::ops::Range<usize> {
        match (self, self.tiles(target)) {
            (Self::Everything | Self::WorstArena, _) => 0..memory.tiles.len(),
            (_, Some(tiles)) => {
                memory.tiles.rows_between(TileId(*tiles.start()), TileId(*tiles.end()))
            }
            (_, None) => 0..0,
        }
    }
}

/// The limit of a scope: what its arenas can hold (of Poplar `bytes_per_tile` × its tiles in
/// `memory_by_tile`); of the worst arena that of one, where all are alike.
pub fn limit_bytes(scope: Scope, arenas: &Arenas) -> Option<u64> {
    match scope {
        Scope::WorstArena => {
            arenas.capacities.first().copied().flatten().filter(|_| arenas.are_alike)
        }
        Scope::Everything => arenas.capacity_of_devices(|device| arenas.is_of_everything(device)),
        Scope::Device(wanted) => arenas.capacity_of_devices(|device| device == Some(wanted)),
        Scope::Arena(arena) => arenas.capacity(arena),
    }
}

/// The limit of a scope where the user says what a device has, or, where all arenas are alike, one of them.
pub fn limit_where(scope: Scope, arenas: &Arenas, said_bytes: u64) -> Option<u64> {
    let of_devices = |is_wanted: &dyn Fn(Option<DeviceId>) -> bool| {
        if arenas.are_alike {
            return arenas.sum(&vec![Some(said_bytes); arenas.devices.len()], is_wanted);
        }
        // What is apart, such as memory of the host, is no memory of the device.
        let is_meant = |id: &DeviceId| !arenas.apart.contains(id) && is_wanted(Some(*id));
        let devices = arenas.device_ids().into_iter().filter(is_meant).count() as u64;
        (devices > 0).then(|| said_bytes.saturating_mul(devices))
    };
    match scope {
        Scope::Everything => of_devices(&|device| arenas.is_of_everything(device)),
        Scope::Device(wanted) => of_devices(&|device| device == Some(wanted)),
        Scope::WorstArena | Scope::Arena(_) => arenas.are_alike.then_some(said_bytes),
    }
}

/// Always-live bytes of a scope; `None` for the worst arena, which is another one from step to step.
pub fn always_live_bytes(scope: Scope, arenas: &Arenas) -> Option<u64> {
    sum_over(scope, arenas, &arenas.always_live)
}

/// The sum of a column of arenas over a scope.
fn sum_over(scope: Scope, arenas: &Arenas, column: &[Option<u64>]) -> Option<u64> {
    match scope {
        Scope::Everything => arenas.sum(column, |device| arenas.is_of_everything(device)),
        Scope::Device(wanted) => arenas.sum(column, |device| device == Some(wanted)),
        Scope::Arena(arena) => *column.get(arenas.ids.position(arena)?)?,
        Scope::WorstArena => None,
    }
}

/// What a scope is called in a report.
pub fn scope_title(report: &Report, scope: Scope) -> String {
    match scope {
        Scope::Everything => report.system.all_devices.to_owned(),
        Scope::Device(device) => report.device_title(device),
        Scope::Arena(arena) => report.arena_title(arena),
        Scope::WorstArena => report.system.worst_arena.to_owned(),
    }
}

/// The arena that one looks at first: the fullest tile; of other arenas the largest.
pub fn first_arena(report: &Report) -> Option<ArenaId> {
    if let Some(memory) = report.memory.get() {
        let fullest = memory::totals(memory, report.target.get()).fullest;
        return memory.tiles.get(fullest.unwrap_or(0)).map(ArenaId::from);
    }
    let arenas = report.arenas.get()?;
    let is_main = |row: &usize| {
        arenas.main.is_none_or(|main| arenas.devices.get(*row).copied().flatten() == Some(main))
    };
    // What is full throughout has nothing to show over steps.
    let size = |row: &usize| {
        let of = |column: &[Option<u64>]| column.get(*row).copied().flatten();
        let bytes = of(&arenas.capacities);
        let throughout = of(&arenas.always_live).unwrap_or(0);
        (bytes.map(|bytes| bytes.saturating_sub(throughout)), bytes)
    };
    let rows = || (0..arenas.ids.len()).rev();
    let largest = rows().filter(is_main).max_by_key(size).or_else(|| rows().max_by_key(size));
    arenas.ids.get(largest?)
}

/// The devices that have a curve of their own, or may yet: from Poplar's own changes, or where there are none
/// added up from the bytes by tile.
pub fn devices_with_curve(report: &Report) -> Vec<DeviceId> {
    if let Some(deltas) = report.deltas.get().filter(|_| report.has_deltas_of_devices()) {
        return deltas.devices().into_iter().collect();
    }
    let has_tiles = report.target.get().is_some_and(|target| target.tiles_per_device.is_some());
    let (true, Some(arenas), None) =
        (has_tiles, report.arenas.get(), report.tile_variable_bytes.absence())
    else {
        return Vec::new();
    };
    arenas.device_ids().into_iter().collect()
}

/// Whether the curve of a scope is added up from the bytes by tile.
pub fn needs_bytes_by_tile(report: &Report, scope: Scope) -> bool {
    scope.needs_arenas() || matches!(scope, Scope::Device(_)) && !report.has_deltas_of_devices()
}

/// Why a scope has no curve; `None` where what it needs is there or may still come.
pub fn why_no_curve(report: &Report, scope: Scope) -> Option<&Absence> {
    let first = report.steps.absence().or(report.liveness.absence());
    match scope {
        Scope::Device(_) if needs_bytes_by_tile(report, scope) => {
            let of_tiles = report.tile_variable_bytes.absence();
            first.or(report.deltas.absence()).or(of_tiles)
        }
        Scope::Everything | Scope::Device(_) => first.or(report.deltas.absence()),
        // Of an arena that is no tile the reason is said where the arena itself is shown.
        Scope::Arena(_) if report.arenas.get().is_some_and(|arenas| !arenas.are_alike) => first,
        Scope::Arena(_) => first.or(report.tile_variable_bytes.absence()),
        Scope::WorstArena => {
            first.or(report.memory.absence()).or(report.tile_variable_bytes.absence())
        }
    }
}

/// Why there are no bytes of variables of all tiles together, or of single tiles.
pub fn why_no_variables(report: &Report, is_by_tile: bool) -> Option<&Absence> {
    let first = report.liveness.absence();
    if is_by_tile {
        return first.or(report.tile_variable_bytes.absence());
    }
    first.or_else(|| report.liveness.get()?.why_no_variable_bytes.as_ref())
}

/// Whether the curve of a scope follows from the changes of a report alone, and those are there.
pub fn has_curve_of_deltas(report: &Report, scope: Scope) -> bool {
    match scope {
        Scope::Everything => report.deltas.get().is_some(),
        Scope::Device(_) => report.has_deltas_of_devices(),
        Scope::Arena(_) | Scope::WorstArena => false,
    }
}

/// Not-always-live bytes at each step position, from the changes that the run itself states; where there are none, of
/// everything from its variables. `None` for arenas (see [`crate::analysis::liveness::scope_curve`]).
pub fn curve(report: &Report, scope: Scope) -> Option<Vec<u64>> {
    let steps = report.steps.get()?.count_of(scope.device(report));
    let Some(deltas) = report.deltas.get() else {
        let liveness = report.liveness.get()?;
        let rows = liveness.variable_bytes.as_ref().filter(|_| scope == Scope::Everything)?;
        return Some(curve_of_variables(rows, &liveness.classes, steps));
    };
    match scope {
        // A file without changes of the whole system has, at best, those of its devices.
        Scope::Everything if deltas.everything.is_empty() => {
            // Memory that is apart is no part of everything, unless there is no other.
            let apart = report.arenas.get().map(|arenas| &arenas.apart);
            let is_apart = |id: &DeviceId| apart.is_some_and(|apart| apart.contains(id));
            let is_all_apart = deltas.devices().iter().all(is_apart);
            Some(sum_of_devices(deltas, |id| is_all_apart || !is_apart(id), steps))
        }
        Scope::Everything => Some(accumulate(&deltas.everything, steps)),
        Scope::Device(device) => Some(sum_of_devices(deltas, |id| *id == device, steps)),
        Scope::Arena(_) | Scope::WorstArena => None,
    }
}

/// Not-always-live bytes of devices together at each step position.
fn sum_of_devices(
    deltas: &Deltas,
    is_wanted: impl Fn(&DeviceId) -> bool,
    steps: usize,
) -> Vec<u64> {
    let changes = deltas.by_device.iter().filter(|(id, _)| is_wanted(id));
    let mut changes = changes.flat_map(|(_, changes)| changes).peekable();
    let levels = deltas.levels.iter().filter(|(id, _)| is_wanted(id));
    let mut levels = levels.map(|(_, levels)| levels);
    let mut sum = match changes.peek() {
        None => levels.next().cloned().unwrap_or_default(),
        Some(_) => accumulate(changes, steps),
    };
    sum.resize(steps, 0);
    for levels in levels {
        for (sum, bytes) in sum.iter_mut().zip(levels) {
            *sum = sum.saturating_add(*bytes);
        }
    }
    sum
}

/// Not-always-live bytes at each step position, from bytes by variable and class.
pub fn curve_of_variables(rows: &[VariableBytes], classes: &Classes, steps: usize) -> Vec<u64> {
    // Of a class together: many rows may name one that lives often.
    let mut bytes_of_classes: HashMap<usize, i64> = HashMap::new();
    for row in rows {
        let Some(class) = classes.ids.position(row.class) else { continue };
        if classes.always_live.get(class) == Some(&true) {
            continue;
        }
        let bytes = i64::try_from(row.bytes).unwrap_or(i64::MAX);
        let of_class = bytes_of_classes.entry(class).or_default();
        *of_class = of_class.saturating_add(bytes);
    }
    let mut deltas = Vec::new();
    for (class, bytes) in bytes_of_classes {
        for range in classes.ranges_of(class) {
            deltas.push((range.start, bytes));
            deltas.push((range.end, -bytes));
        }
    }
    accumulate(&deltas, steps)
}

/// Sums up changes, in any order; a sum below 0, which the reader has warned of, counts as 0.
fn accumulate<'a>(deltas: impl IntoIterator<Item = &'a (u32, i64)>, steps: usize) -> Vec<u64> {
    let mut changes = vec![0_i64; steps];
    for (at, delta) in deltas {
        if let Some(change) = changes.get_mut(*at as usize) {
            *change = change.saturating_add(*delta);
        }
    }
    let mut level = 0_i64;
    let alive = |change: i64| {
        level = level.saturating_add(change);
        u64::try_from(level).unwrap_or(0)
    };
    changes.into_iter().map(alive).collect()
}

/// The step position of the peak.
pub fn peak(curve: &[u64]) -> Option<usize> {
    let highest = curve.iter().max()?;
    curve.iter().position(|bytes| bytes == highest)
}

/// A variable before lowering and its bytes. Variables of one name count together.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct NamedBytes {
    /// The name.
    pub name: String,
    /// Its bytes in the scope.
    pub bytes: u64,
}

/// The not-always-live variables at a step, largest first, then by name.
pub fn variables_at(rows: &[VariableBytes], liveness: &Liveness, step: usize) -> Vec<NamedBytes> {
    let live = live_at(&liveness.classes, step);
    let is_live = |class: usize| live.get(class) == Some(&true);
    let mut by_variable: HashMap<u32, u64> = HashMap::new();
    for row in rows {
        if liveness.classes.ids.position(row.class).is_some_and(is_live) {
            let bytes = by_variable.entry(row.variable.0).or_default();
            *bytes = bytes.saturating_add(row.bytes);
        }
    }
    let mut by_name: HashMap<Cow<'_, str>, u64> = HashMap::new();
    for (variable, bytes) in by_variable {
        let name = variable_name(liveness, UnloweredId(variable));
        let sum = by_name.entry(name).or_default();
        *sum = sum.saturating_add(bytes);
    }
    let mut list: Vec<NamedBytes> = by_name
        .into_iter()
        .map(|(name, bytes)| NamedBytes { name: name.into_owned(), bytes })
        .collect();
    list.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    list
}

/// Which classes, by position, are not always live and alive at a step.
pub fn live_at(classes: &Classes, step: usize) -> Vec<bool> {
    let is_live = |class: usize| {
        let ranges = classes.ranges_of(class);
        classes.always_live.get(class) == Some(&false)
            && ranges.iter().any(|range| (range.start as usize..range.end as usize).contains(&step))
    };
    (0..classes.ids.len()).map(is_live).collect()
}

/// The name of a variable before lowering; one that the file does not name is `<variable N>`.
pub fn variable_name(liveness: &Liveness, id: UnloweredId) -> Cow<'_, str> {
    match liveness.variable_name(id) {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(format!("<variable {id}>")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture;
    use crate::store::ClassId;

    #[test]
    fn an_arena_of_a_device_apart_is_bounded_by_that_alone() {
        let report = Report::default();
        let mut arenas = Arenas { apart: [DeviceId(1)].into(), ..Arenas::default() };
        for id in 0..2 {
            arenas.ids.push(ArenaId(id));
            arenas.devices.push(Some(DeviceId(id)));
        }
        report.arenas.fill(Some(arenas));
        let around = |arena| Scope::around(&report, ArenaId(arena));
        let of_device = Scope::Device(DeviceId(1));
        assert_eq!([0, 1, 2].map(around), [Scope::Everything, of_device, Scope::Everything]);
    }

    #[test]
    fn a_curve_is_the_sum_of_its_classes_and_the_first_peak_counts() {
        let classes = fixture::classes(0, [vec![0..4_u32], vec![0..1, 2..4], vec![1..3]]);
        let rows = [(0, 0, 100), (0, 1, 8), (0, 2, 4), (0, 9, 1)].map(fixture::variable_bytes);
        assert_eq!(curve_of_variables(&rows, &classes, 4), [8, 4, 12, 8]);
        assert_eq!(peak(&[8, 12, 4, 12]), Some(1));
        assert_eq!(peak(&[]), None);
        assert!(classes.is_live_at(ClassId(1), 3) && !classes.is_live_at(ClassId(1), 1));
    }

    #[test]
    fn changes_count_at_their_steps_in_any_order_and_memory_that_is_apart_is_no_part_of_everything()
    {
        let [own, apart] = [DeviceId(0), DeviceId(1)];
        let everything = |devices: &[(DeviceId, Vec<(u32, i64)>)]| {
            let report = Report::default();
            report.steps.fill(Some(fixture::steps(4)));
            report.arenas.fill(Some(Arenas { apart: [apart].into(), ..Arenas::default() }));
            let by_device = devices.iter().cloned().collect();
            report.deltas.fill(Some(Deltas { by_device, ..Deltas::default() }));
            curve(&report, Scope::Everything).expect("a curve")
        };
        let changes = vec![(2, -3), (1, 5), (2, -4), (3, 6), (9, 1)];
        assert_eq!(everything(&[(own, changes.clone())]), [0, 5, 0, 4]);
        assert_eq!(everything(&[(own, Vec::new()), (apart, changes.clone())]), [0; 4]);
        assert_eq!(everything(&[(own, vec![(0, 2)]), (apart, changes.clone())]), [2; 4]);
        assert_eq!(everything(&[(apart, changes)]), [0, 5, 0, 4], "there is no other");
    }

    #[test]
    fn an_ipu_has_its_own_tiles() {
        let target = Target { tiles_per_device: Some(4), ..Target::default() };
        assert_eq!(Scope::Device(DeviceId(2)).tiles(Some(&target)), Some(8..=11));
        let none = Target { tiles_per_device: Some(0), ..Target::default() };
        assert_eq!(Scope::Device(DeviceId(0)).tiles(Some(&none)), None);
    }
}
