//! A module with all that follows from it, worked out once.

use std::collections::{BTreeMap, HashMap};

use super::categories::outputs;
use super::donations::{Donatable, donatable};
use super::held_values::HeldValues;
use super::in_use::{self, CurveChanges, PlacedValue};
use super::live_ranges::{LiveRange, LiveRanges, alias_groups};
use super::schedule::Schedule;
use crate::store::hlo::{AllocationKind, BufferAllocation, HloModule, HloValue, ValueId};
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
    /// The path of the operation that each value comes from; [`NameId::NONE`] where that is not known.
    operations: Vec<NameId>,
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
            operations: operations(&module, &alias_groups),
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
        self.operations.get(value.0 as usize).copied().filter(|name| *name != NameId::NONE)
    }
}

/// The operation of each value: where its instruction has none, as what loops carry, that of the first one that has
/// among the values that share its memory, else of the nearest producer.
fn operations(module: &HloModule, alias_groups: &[u32]) -> Vec<NameId> {
    let own = |value: &HloValue| {
        let name = module.instructions.op_names.get(value.instruction.0 as usize);
        name.copied().filter(|name| *name != NameId::NONE)
    };
    let mut of_groups: HashMap<u32, NameId> = HashMap::new();
    for (value, group) in module.values.iter().zip(alias_groups) {
        if let Some(name) = own(value) {
            of_groups.entry(*group).or_insert(name);
        }
    }
    let operation = |(value, group): (&HloValue, &u32)| {
        let shared = || of_groups.get(group).copied();
        own(value)
            .or_else(shared)
            .or_else(|| module.nearest_operation(value.instruction))
            .unwrap_or(NameId::NONE)
    };
    module.values.iter().zip(alias_groups).map(operation).collect()
}
