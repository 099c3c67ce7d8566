//! When each value lives: from the position that makes it to the last that holds or uses it, both included
//! (formats/xla.md 5.3).

use std::collections::{BTreeMap, HashSet};

use super::held_values::HeldValues;
use super::schedule::Schedule;
use crate::store::hlo::{HloModule, InstructionId, ValueId};

/// Positions at which a value lives, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LiveRange {
    /// The first.
    pub start: u32,
    /// The last.
    pub end: u32,
}

impl LiveRange {
    /// Whether a position is one of them.
    pub fn has(self, position: u32) -> bool {
        (self.start..=self.end).contains(&position)
    }
}

/// When the values of a module live.
#[derive(Clone, Debug, Default)]
pub struct LiveRanges {
    ranges: Vec<Option<LiveRange>>,
    /// The last position at which a parameter is in use that stays as it is to the end, by its value.
    kept_until: BTreeMap<ValueId, u32>,
}

impl LiveRanges {
    /// The ranges of all values whose instruction has a position.
    pub fn of(
        module: &HloModule,
        schedule: &Schedule,
        held: &HeldValues,
        alias_groups: &[u32],
    ) -> Self {
        if let (None, Some(stated)) = (module.entry, &module.stated) {
            let range = |(start, end)| LiveRange { start, end };
            let ranges = stated.ranges.iter().map(|one| one.map(range)).collect();
            return Self { ranges, ..Self::default() };
        }
        let mut ranges: Vec<Option<LiveRange>> = module
            .values
            .iter()
            .map(|value| first_range(module, schedule, value.instruction))
            .collect();
        let mut extend = |value: ValueId, position: u32| {
            let range = ranges.get_mut(value.0 as usize)?.as_mut()?;
            let before = range.end;
            range.end = range.end.max(position);
            Some(before)
        };
        // Until where what an instruction holds is in use, everywhere in its shape and in its table alone: gathered
        // first, because one may be named again and again.
        let mut until = Until::of(module.instructions.len());
        for (position, id) in (0_u32..).zip(&schedule.instructions) {
            let computation = schedule.computation(*id);
            let is_root = computation
                .and_then(|row| module.computations.get(row))
                .is_some_and(|computation| computation.root == *id);
            let span_end = computation.and_then(|row| schedule.span(row)).map(|(_, end)| end);
            until.everywhere(*id, if is_root { span_end.unwrap_or(position) } else { position });
            uses(module, schedule, *id, position, &mut until);
        }
        for (row, (everywhere, table)) in (0..).zip(until.everywhere.iter().zip(&until.table)) {
            let id = InstructionId(row);
            if let Some(position) = *everywhere {
                held.of_instruction(id).for_each(|value| {
                    extend(value, position);
                });
            }
            if let Some(position) = *table {
                extend(held.at(id, 0), position);
            }
        }
        // A parameter whose memory no result takes over stays as it is.
        let donated: HashSet<(i64, u32)> = module.donated.iter().copied().collect();
        let mut kept_until = BTreeMap::new();
        for (number, id) in module.entry_parameters() {
            for (place, value) in (0..).zip(held.of_instruction(id)) {
                let is_made_here = module
                    .value(value)
                    .is_some_and(|value| value.instruction == id && value.place == place);
                if is_made_here && !donated.contains(&(number, place)) {
                    let last_use = extend(value, schedule.end());
                    kept_until.extend(last_use.map(|position| (value, position)));
                }
            }
        }
        let mut ranges = Self { ranges, kept_until };
        ranges.cut_aliases(module, alias_groups);
        ranges
    }

    /// When a value lives.
    pub fn get(&self, value: ValueId) -> Option<LiveRange> {
        self.ranges.get(value.0 as usize).copied().flatten()
    }

    /// The last position at which a value is in use; that of a parameter that is kept comes before its end.
    pub fn last_use(&self, value: ValueId) -> Option<u32> {
        let kept = self.kept_until.get(&value).copied();
        kept.or_else(|| self.get(value).map(|range| range.end))
    }

    /// Says when a value lives.
    pub fn set(&mut self, value: ValueId, range: LiveRange) {
        if let Some(slot) = self.ranges.get_mut(value.0 as usize) {
            *slot = Some(range);
        }
    }

    /// Number of values of which it is known.
    pub fn len(&self) -> usize {
        self.ranges.iter().flatten().count()
    }

    /// Whether it is known of none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Of values that share their memory each ends where the next begins.
    fn cut_aliases(&mut self, module: &HloModule, groups: &[u32]) {
        let mut members: Vec<(u32, LiveRange, i64, u32)> = Vec::new();
        for (row, (value, range)) in (0_u32..).zip(module.values.iter().zip(&self.ranges)) {
            if let Some(range) = range {
                members.push((groups[row as usize], *range, value.id, row));
            }
        }
        members.sort_unstable();
        for at in 1..members.len() {
            let [(group, a, _, _), (other, b, _, _)] = &mut members[at - 1..=at] else { continue };
            if group == other {
                b.end = b.end.max(a.end);
                a.end = a.end.min(b.start);
            }
        }
        for (_, range, _, row) in members {
            self.ranges[row as usize] = Some(range);
        }
    }
}

/// The values that share their memory: of each the one that stands for its group.
pub fn alias_groups(module: &HloModule) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..module.values.len() as u32).collect();
    for (one, other) in &module.aliases {
        let (one, other) = (root_of(&mut parents, one.0), root_of(&mut parents, other.0));
        if let Some(parent) = parents.get_mut(other as usize) {
            *parent = one;
        }
    }
    (0..module.values.len() as u32).map(|row| root_of(&mut parents, row)).collect()
}

/// The value that stands for a group, with the way to it made shorter.
fn root_of(parents: &mut [u32], row: u32) -> u32 {
    let mut at = row;
    while let Some(parent) = parents.get(at as usize).copied() {
        if parent == at {
            break;
        }
        let above = parents[parent as usize];
        parents[at as usize] = above;
        at = above;
    }
    at
}

fn first_range(module: &HloModule, schedule: &Schedule, id: InstructionId) -> Option<LiveRange> {
    let position = schedule.position(id)?;
    let start = match module.opcode(id) {
        "parameter" => schedule.span(schedule.computation(id)?)?.0,
        _ => position,
    };
    Some(LiveRange { start, end: start })
}

/// The last position at which what an instruction holds is in use.
struct Until {
    everywhere: Vec<Option<u32>>,
    table: Vec<Option<u32>>,
}

impl Until {
    fn of(count: usize) -> Self {
        Self { everywhere: vec![None; count], table: vec![None; count] }
    }

    /// In use at every place of its shape.
    fn everywhere(&mut self, id: InstructionId, position: u32) {
        if let Some(until) = self.everywhere.get_mut(id.0 as usize) {
            *until = (*until).max(Some(position));
        }
    }

    /// In use is the whole, and of a tuple no element.
    fn table(&mut self, id: InstructionId, position: u32) {
        if let Some(until) = self.table.get_mut(id.0 as usize) {
            *until = (*until).max(Some(position));
        }
    }
}

/// What an instruction uses of others, and at which position.
fn uses(
    module: &HloModule,
    schedule: &Schedule,
    id: InstructionId,
    position: u32,
    until: &mut Until,
) {
    let operands = module.instructions.operands.of(id.0).iter().map(|row| InstructionId(*row));
    let called = module.instructions.called.of(id.0).first().map(|row| *row as usize);
    match module.opcode(id) {
        "tuple" | "domain" => {}
        // Of a tuple only the table of its elements is used.
        "get-tuple-element" | "copy" => operands.for_each(|id| until.table(id, position)),
        // Its uses count where they are within it.
        "call" if called.is_some_and(|row| schedule.span(row).is_some()) => {}
        "while" => {
            let at = called.and_then(|body| schedule.parameter(body)).unwrap_or(position);
            operands.for_each(|id| until.everywhere(id, at));
        }
        _ => operands.for_each(|id| until.everywhere(id, position)),
    }
}
