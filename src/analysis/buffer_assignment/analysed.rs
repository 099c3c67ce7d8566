//! A module with all that follows from it, worked out once.

use super::held_values::HeldValues;
use super::in_use::{self, Changes, Placed};
use super::live_ranges::{LiveRange, LiveRanges};
use super::schedule::Schedule;
use crate::store::hlo::{Allocation, AllocationKind, HloModule, ValueId};

/// A module with what follows from it.
#[derive(Debug)]
pub struct Analysed {
    /// The module.
    pub module: HloModule,
    /// Its instructions in order.
    pub schedule: Schedule,
    /// What each holds.
    pub held: HeldValues,
    /// When values live.
    pub ranges: LiveRanges,
    /// The values of each allocation that have a life.
    pub placed: Vec<Vec<Placed>>,
    /// The bytes in use of each allocation.
    pub in_use: Vec<Changes>,
}

impl Analysed {
    /// Works out everything.
    pub fn of(module: HloModule) -> Self {
        let schedule = Schedule::of(&module);
        let held = HeldValues::of(&module, &schedule);
        let ranges = LiveRanges::of(&module, &schedule, &held);
        let mut analysed =
            Self { module, schedule, held, ranges, placed: Vec::new(), in_use: Vec::new() };
        analysed.place();
        analysed
    }

    /// Puts other lives in place of some.
    pub fn live_at(&mut self, lives: &[(ValueId, LiveRange)]) {
        for (value, range) in lives {
            self.ranges.set(*value, *range);
        }
        self.place();
    }

    fn place(&mut self) {
        self.placed = in_use::placed_by_allocation(&self.module, &self.ranges);
        self.in_use = self.placed.iter().map(|placed| in_use::bytes_in_use(placed)).collect();
    }

    /// The allocations of a memory space of some kinds, by row.
    pub fn allocations_of(
        &self,
        color: i64,
        is_wanted: impl Fn(AllocationKind) -> bool,
    ) -> impl Iterator<Item = (usize, &Allocation)> {
        let rows = self.module.allocations.iter().enumerate();
        rows.filter(move |(_, one)| one.color == color && is_wanted(one.kind))
    }

    /// The memory spaces, the main one first.
    pub fn colors(&self) -> Vec<i64> {
        let mut colors: Vec<i64> = self.module.allocations.iter().map(|one| one.color).collect();
        colors.sort_unstable();
        colors.dedup();
        colors
    }
}
