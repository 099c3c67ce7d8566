//! A module with all that follows from it, worked out once.

use std::collections::BTreeMap;

use super::categories::outputs;
use super::donations::{Donatable, donatable};
use super::held_values::HeldValues;
use super::in_use::{self, CurveChanges, PlacedValue};
use super::live_ranges::{LiveRange, LiveRanges, alias_groups};
use super::makers::Makers;
use super::schedule::Schedule;
use crate::store::hlo::{AllocationKind, BufferAllocation, HloModule, InstructionId, ValueId};
use crate::store::names::NameId;

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
    /// The values that share their memory: of each the row of the one that stands for its group.
    pub alias_groups: Vec<u32>,
    /// Results that could take over the memory of a parameter.
    pub donatable: Vec<Donatable>,
    /// The values of each allocation that have a life.
    pub placed: Vec<Vec<PlacedValue>>,
    /// The bytes in use of each allocation.
    pub in_use: Vec<CurveChanges>,
    /// The allocations of each memory space, by row.
    by_color: BTreeMap<i64, Vec<usize>>,
    /// Who makes each value.
    pub makers: Makers,
    /// Whether the result of the program holds a value, by row.
    pub(super) outputs: Vec<bool>,
}

impl Analysed {
    /// Works out everything.
    pub fn of(module: HloModule) -> Self {
        let schedule = Schedule::of(&module);
        let held = HeldValues::of(&module, &schedule);
        let alias_groups = alias_groups(&module);
        let ranges = LiveRanges::of(&module, &schedule, &held, &alias_groups);
        let mut by_color: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        for (row, allocation) in module.allocations.iter().enumerate() {
            by_color.entry(allocation.color).or_default().push(row);
        }
        let mut analysed = Self {
            makers: Makers::of(&module, &schedule, &held, &alias_groups),
            donatable: donatable(&module, &held),
            outputs: outputs(&module, &held),
            placed: Vec::new(),
            in_use: Vec::new(),
            module,
            schedule,
            held,
            ranges,
            alias_groups,
            by_color,
        };
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
    ) -> impl Iterator<Item = (usize, &BufferAllocation)> {
        let rows = self.by_color.get(&color).into_iter().flatten();
        let allocation = |row: &usize| Some((*row, self.module.allocations.get(*row)?));
        rows.filter_map(allocation).filter(move |(_, one)| is_wanted(one.kind))
    }

    /// The memory spaces, by number: the main one has 0.
    pub fn colors(&self) -> impl Iterator<Item = i64> {
        self.by_color.keys().copied()
    }

    /// The largest value of each allocation, by row; of equals the first.
    pub fn largest_values(&self) -> Vec<ValueId> {
        let mut largest = vec![(0, ValueId::NONE); self.module.allocations.len()];
        for assigned in &self.module.assigned {
            if let Some(slot) = largest.get_mut(assigned.allocation as usize)
                && (slot.1 == ValueId::NONE || assigned.bytes > slot.0)
            {
                *slot = (assigned.bytes, assigned.value);
            }
        }
        largest.into_iter().map(|(_, value)| value).collect()
    }

    /// The path of the operation that a value comes from.
    pub fn operation(&self, value: ValueId) -> Option<&str> {
        self.operation_id(value).map(|name| self.module.texts.get(name))
    }

    /// The same as a row of the module's texts.
    pub fn operation_id(&self, value: ValueId) -> Option<NameId> {
        self.module.nearest_operation(self.makers.maker(value)?)
    }

    /// The values that share the memory of one: the row of the one that stands for them.
    pub fn group(&self, value: ValueId) -> Option<u32> {
        self.alias_groups.get(value.0 as usize).copied()
    }

    /// The place in the source that a value comes from: `file:line`.
    pub fn source(&self, value: ValueId) -> Option<String> {
        self.module.source(self.makers.maker(value)?)
    }

    /// Whether an instruction runs in a loop, or is one.
    pub fn is_in_loop(&self, id: InstructionId) -> bool {
        self.makers.is_in_loop(&self.module, &self.schedule, id)
    }
}
