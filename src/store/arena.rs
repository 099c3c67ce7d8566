//! Arenas: the ranges of addresses in which things are placed.
//!
//! A tile of an IPU, an allocation of XLA, a segment of PyTorch. Several of them make up a device: an
//! IPU, a memory space of XLA, a GPU. For Poplar the arena `n` is the tile `n` and the device `n` the
//! IPU `n`; what only tiles have goes by [`TileId`].

use std::collections::{BTreeMap, BTreeSet};

use super::absence::Absence;
use super::ids::{ArenaId, DeviceId, IdColumn, TileId};
use super::memory::TileMemory;
use super::names::Names;
use super::report::Report;
use super::target::Target;
use crate::text::clean;

impl From<TileId> for ArenaId {
    fn from(tile: TileId) -> Self {
        Self(tile.0)
    }
}

impl ArenaId {
    /// The tile that this arena is, in a report whose arenas are tiles.
    pub fn tile(self) -> TileId {
        TileId(self.0)
    }
}

/// The arenas of a report, a row each, and the devices that they make up.
#[derive(Clone, Debug, Default)]
pub struct Arenas {
    /// The arenas.
    pub ids: IdColumn<ArenaId>,
    /// Their names; none where they go by their numbers, as tiles do.
    pub names: Names,
    /// What stands for the contents of each, by which those of two runs are matched; empty where nothing does.
    pub contents: Vec<u64>,
    /// The device of each, where that is known.
    pub devices: Vec<Option<DeviceId>>,
    /// Bytes that each can hold, where that is known.
    pub capacities: Vec<Option<u64>>,
    /// Bytes that each has at every step, each address once, where that is known.
    pub always_live: Vec<Option<u64>>,
    /// Names of devices that do not go by their numbers.
    pub device_names: BTreeMap<DeviceId, String>,
    /// Whether they come and go, so that what a device can hold is not their sum.
    pub come_and_go: bool,
    /// Bytes that devices whose arenas come and go can hold, where that is known.
    pub device_capacities: BTreeMap<DeviceId, u64>,
    /// Devices whose memory is no part of the machine's, such as that of the host: they count to themselves alone.
    pub apart: BTreeSet<DeviceId>,
    /// The device that is meant where none is named, where devices are memories of different kinds.
    pub main: Option<DeviceId>,
    /// Whether each is filled from both ends towards its middle, so that what is free of it lies between, and the end of what
    /// is placed says nothing of how full it is.
    pub are_filled_from_both_ends: bool,
    /// Whether all are of one kind and capacity, as tiles are, so that they can be compared with one
    /// another.
    pub are_alike: bool,
}

impl Arenas {
    /// The devices that they make up, as far as is known.
    pub fn device_ids(&self) -> BTreeSet<DeviceId> {
        self.devices.iter().flatten().copied().collect()
    }

    /// Bytes that an arena can hold.
    pub fn capacity(&self, arena: ArenaId) -> Option<u64> {
        *self.capacities.get(self.ids.position(arena)?)?
    }

    /// The device of an arena.
    pub fn device(&self, arena: ArenaId) -> Option<DeviceId> {
        *self.devices.get(self.ids.position(arena)?)?
    }

    /// Whether what a device has counts to everything.
    pub fn is_of_everything(&self, device: Option<DeviceId>) -> bool {
        device.is_none_or(|device| !self.apart.contains(&device))
    }

    /// The arena of another run that an arena is matched with: tiles by their numbers, which mean the same in all runs;
    /// others that are there throughout are places of the machine, and go by their names; those that come and go by their
    /// contents. One arena of each run alone has the name or the contents.
    pub fn matched(&self, arena: ArenaId, other: &Self) -> Option<ArenaId> {
        if self.are_alike && other.are_alike {
            return Some(arena);
        }
        if !self.come_and_go && !other.come_and_go {
            return self.same_place(arena, other);
        }
        let contents = self.contents.get(self.ids.position(arena)?)?;
        let place = |all: &Self| {
            only((0..all.contents.len()).filter(|at| all.contents.get(*at) == Some(contents)))
        };
        place(self)?;
        other.ids.get(place(other)?)
    }

    /// The arena of the same name; without names that of the same number.
    fn same_place(&self, arena: ArenaId, other: &Self) -> Option<ArenaId> {
        let row = self.ids.position(arena)?;
        let Some(name) = self.names.at(row) else {
            let place = other.ids.position(arena)?;
            return other.names.at(place).is_none().then_some(arena);
        };
        let place =
            |all: &Self| only((0..all.ids.len()).filter(|row| all.names.at(*row) == Some(name)));
        place(self)?;
        other.ids.get(place(other)?)
    }

    /// The device of another run that a device is matched with: memories that are there throughout go by their names where
    /// they have them, others by their numbers. Of one that goes by its number the other run may have none.
    pub fn matched_device(&self, device: DeviceId, other: &Self) -> Option<DeviceId> {
        let name =
            self.device_names.get(&device).filter(|_| !self.come_and_go && !other.come_and_go);
        let Some(name) = name else { return Some(device) };
        let named = other.device_names.iter().filter(|(_, other)| *other == name);
        only(named.map(|(device, _)| *device))
    }

    /// The sum of a column over the arenas whose device is wanted; `None` where there is no such arena,
    /// or that of one is not known, or the sum is too large.
    pub fn sum(
        &self,
        column: &[Option<u64>],
        is_wanted: impl Fn(Option<DeviceId>) -> bool,
    ) -> Option<u64> {
        let rows = self.devices.iter().zip(column);
        let mut wanted = rows.filter(|(device, _)| is_wanted(**device)).peekable();
        wanted.peek()?;
        wanted.try_fold(0_u64, |sum, (_, bytes)| sum.checked_add((*bytes)?))
    }

    /// Bytes that the devices that are wanted can hold together.
    pub fn capacity_of_devices(&self, is_wanted: impl Fn(Option<DeviceId>) -> bool) -> Option<u64> {
        if !self.come_and_go {
            return self.sum(&self.capacities, is_wanted);
        }
        let mut wanted = self.device_ids().into_iter().filter(|id| is_wanted(Some(*id))).peekable();
        wanted.peek()?;
        wanted.try_fold(0_u64, |sum, id| sum.checked_add(*self.device_capacities.get(&id)?))
    }

    /// The tiles of a machine, each an arena.
    pub fn of_tiles(memory: &TileMemory, target: Option<&Target>) -> Self {
        let mut arenas = Self { are_alike: true, ..Self::default() };
        for (row, tile) in memory.tiles.as_slice().iter().enumerate() {
            let device = target.and_then(|target| target.device_of(*tile)).map(DeviceId);
            arenas.ids.push((*tile).into());
            arenas.devices.push(device);
            arenas.capacities.push(target.and_then(|target| target.bytes_per_tile));
            arenas.always_live.push(memory.always_live.get(row).copied().flatten());
        }
        arenas
    }
}

impl Report {
    /// Fills the arenas with the tiles, once target and memory are there.
    pub fn fill_arenas_with_tiles(&self) {
        let arenas = self.memory.get().map(|memory| Arenas::of_tiles(memory, self.target.get()));
        self.arenas.settle(arenas.ok_or_else(|| self.memory.absence_or(Absence::unexplained)));
    }

    /// What an arena is called: its name, or `Tile 5`.
    pub fn arena_title(&self, arena: ArenaId) -> String {
        let name =
            self.arenas.get().and_then(|arenas| arenas.names.at(arenas.ids.position(arena)?));
        title(self.system.arena, arena, name)
    }

    /// What a device is called: its name, or `IPU 0`.
    pub fn device_title(&self, device: DeviceId) -> String {
        let name = self.arenas.get().and_then(|arenas| arenas.device_names.get(&device));
        title(self.system.device, device, name.map(String::as_str))
    }
}

fn title(word: &str, id: impl std::fmt::Display, name: Option<&str>) -> String {
    name.map_or_else(|| format!("{word} {id}"), |name| clean(name).into_owned())
}

/// The only one there is; `None` of several.
fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_arenas() {
        let mut memory = TileMemory::default();
        for tile in [0, 1, 2, 3, 9] {
            assert!(memory.tiles.push(TileId(tile)));
        }
        let target =
            Target { tiles_per_device: Some(2), bytes_per_tile: Some(100), ..Target::default() };
        let arenas = Arenas::of_tiles(&memory, Some(&target));
        assert_eq!(arenas.ids.as_slice(), [0, 1, 2, 3, 9].map(ArenaId));
        assert_eq!(arenas.devices, [0, 0, 1, 1, 4].map(|device| Some(DeviceId(device))));
        assert_eq!(arenas.capacity(ArenaId(4)), None);
        assert_eq!(arenas.capacity(ArenaId(3)), Some(100));
        assert_eq!(arenas.sum(&arenas.capacities, |device| device == Some(DeviceId(1))), Some(200));
        assert_eq!(arenas.sum(&arenas.capacities, |device| device == Some(DeviceId(2))), None);
        assert_eq!(arenas.sum(&arenas.capacities, |_| true), Some(500));
        assert_eq!(arenas.capacity_of_devices(|_| true), Some(500));
        let unknown = Arenas::of_tiles(&memory, None);
        assert_eq!(unknown.sum(&unknown.capacities, |_| true), None);
        assert_eq!(unknown.devices, [None; 5]);
    }

    #[test]
    fn arenas_of_two_runs_are_matched_by_contents_and_tiles_by_numbers() {
        let of = |contents: &[u64]| {
            let mut arenas = Arenas { come_and_go: true, ..Arenas::default() };
            arenas.contents = contents.to_vec();
            for id in 0..contents.len() as u32 {
                arenas.ids.push(ArenaId(id));
            }
            arenas
        };
        let (one, other) = (of(&[7, 8, 9, 9, 5]), of(&[9, 7, 8, 8]));
        let matched = |arena| one.matched(ArenaId(arena), &other);
        assert_eq!(matched(0), Some(ArenaId(1)));
        assert_eq!([1, 2, 3, 4, 5].map(matched), [None; 5], "several have them, or none");
        let tiles = |arenas: Arenas| Arenas { are_alike: true, ..arenas };
        assert_eq!(tiles(one.clone()).matched(ArenaId(3), &tiles(other)), Some(ArenaId(3)));
        assert_eq!(one.matched(ArenaId(0), &Arenas::default()), None);
    }

    #[test]
    fn banks_and_memories_of_two_runs_are_matched_by_their_names() {
        let of = |names: &[&str]| {
            let mut arenas = Arenas::default();
            for (id, name) in (0..).zip(names) {
                arenas.ids.push(ArenaId(id));
                arenas.names.push(name);
                arenas.device_names.insert(DeviceId(id), (*name).to_owned());
            }
            arenas
        };
        // The second run has another space, so the numbers of those behind it are others.
        let one = of(&["rank 0, L1", "rank 0, DRAM", "twice", "twice"]);
        let other = of(&["rank 0, L1", "rank 0, L1_SMALL", "rank 0, DRAM", "twice"]);
        let matched = |arena| one.matched(ArenaId(arena), &other);
        assert_eq!([0, 1].map(matched), [Some(ArenaId(0)), Some(ArenaId(2))]);
        assert_eq!([2, 3, 4].map(matched), [None; 3]);
        assert_eq!(other.matched(ArenaId(1), &one), None, "no such bank");
        assert_eq!(one.matched(ArenaId(0), &Arenas { come_and_go: true, ..other.clone() }), None);
        let device = |of: &Arenas, device, other| of.matched_device(DeviceId(device), other);
        assert_eq!(device(&one, 1, &other), Some(DeviceId(2)));
        assert_eq!(device(&other, 1, &one), None);
        assert_eq!(device(&Arenas::default(), 1, &one), Some(DeviceId(1)), "it has no name");
        let mut numbered = Arenas::default();
        numbered.ids.push(ArenaId(7));
        assert_eq!(numbered.matched(ArenaId(7), &numbered), Some(ArenaId(7)));
        assert_eq!(numbered.matched(ArenaId(7), &one), None);
    }

    #[test]
    fn what_a_device_of_arenas_that_come_and_go_can_hold_is_known_or_not() {
        let devices = [0, 0, 1].map(|device| Some(DeviceId(device))).to_vec();
        let capacities = vec![Some(10); 3];
        let mut arenas = Arenas { come_and_go: true, devices, capacities, ..Arenas::default() };
        let of = |arenas: &Arenas, wanted| {
            arenas.capacity_of_devices(|device| device == Some(DeviceId(wanted)))
        };
        assert_eq!(of(&arenas, 0), None, "not the sum of what is there");
        arenas.device_capacities.insert(DeviceId(0), 500);
        assert_eq!([0, 1, 2].map(|device| of(&arenas, device)), [Some(500), None, None]);
        assert_eq!(arenas.capacity_of_devices(|_| true), None);
    }
}
