//! Where values are: allocations, and in that of temporary values an offset for each group, the largest first, by best
//! fit among those that live at the same time, as XLA does it. The expected figures are counted here as well, so that
//! tests can compare the analysis with them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::program::{DraftModule, Home};

#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub home: Home,
    pub bytes: u64,
    /// Whether results are in it.
    pub is_live_out: bool,
    /// Its values and the first byte of each.
    pub values: Vec<(usize, u64)>,
}

/// What happens to a value in XLA's simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryEvent {
    Allocate(usize),
    /// A value takes over the memory of another one.
    Share(usize, usize),
    Free(usize),
}

#[derive(Debug)]
pub(super) struct HeapPlan {
    pub allocations: Vec<Planned>,
    /// First and last position at which each value lives: those of a group each end where the next begins.
    pub lives: Vec<Option<(u32, u32)>>,
    /// XLA's simulation of the allocation of temporary values, which is the last one.
    pub events: Vec<MemoryEvent>,
    /// The most that the simulation has at once, and the position at which it has that first.
    pub peak: (u64, u32),
}

impl HeapPlan {
    /// Places all values of a program.
    pub fn of(program: &DraftModule) -> Self {
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); program.groups.len()];
        for (row, value) in program.values.iter().enumerate() {
            groups[value.group].push(row);
        }
        let lives = lives(program, &groups);
        let (events, peak) = simulate(program, &groups, &lives);
        let mut allocations = reserved(program, &groups);
        allocations.push(temporary(program, &groups, &lives));
        Self { allocations, lives, events, peak }
    }
}

/// Of the values of a group each ends where the next one begins.
fn lives(program: &DraftModule, groups: &[Vec<usize>]) -> Vec<Option<(u32, u32)>> {
    let mut lives: Vec<Option<(u32, u32)>> =
        program.values.iter().map(|value| value.life).collect();
    for group in groups {
        let mut chain: Vec<(u32, u32, usize)> = group
            .iter()
            .filter_map(|row| lives[*row].map(|(first, last)| (first, last, *row)))
            .collect();
        chain.sort_unstable();
        for at in 1..chain.len() {
            let (before, next) = (chain[at - 1], chain[at]);
            chain[at].1 = next.1.max(before.1);
            chain[at - 1].1 = before.1.min(next.0);
        }
        for (first, last, row) in chain {
            lives[row] = Some((first, last));
        }
    }
    lives
}

/// Allocations that are there for as long as the program runs: one for each group that is not temporary.
fn reserved(program: &DraftModule, groups: &[Vec<usize>]) -> Vec<Planned> {
    let mut found: Vec<Planned> = (program.groups.iter().zip(groups))
        .filter(|(home, values)| **home != Home::Temporary && !values.is_empty())
        .map(|(home, values)| Planned {
            home: *home,
            bytes: values.iter().map(|row| program.values[*row].bytes).max().unwrap_or(0),
            is_live_out: match home {
                // A result has taken over the memory of a parameter.
                Home::Parameter(_) => values.len() > 1,
                _ => *home == Home::Output,
            },
            values: values.iter().map(|row| (*row, 0)).collect(),
        })
        .collect();
    found.sort_by_key(|one| match one.home {
        Home::Parameter(number) => (0, number),
        Home::Output => (1, 0),
        Home::Constant => (2, 0),
        Home::ThreadLocal | Home::Temporary => (3, 0),
    });
    found
}

/// The allocation of temporary values.
fn temporary(
    program: &DraftModule,
    groups: &[Vec<usize>],
    lives: &[Option<(u32, u32)>],
) -> Planned {
    let alignment = program.platform.alignment();
    let mut wanted: Vec<(u64, (u32, u32), &[usize])> = (program.groups.iter().zip(groups))
        .filter(|(home, _)| **home == Home::Temporary)
        .filter_map(|(_, values)| {
            let lives = values.iter().filter_map(|row| lives[*row]);
            let life = lives.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
            let bytes = values.iter().map(|row| program.values[*row].bytes).max()?;
            Some((bytes.max(1).next_multiple_of(alignment), life, &**values))
        })
        .collect();
    wanted.sort_by_key(|(bytes, life, _)| (Reverse(*bytes), Reverse(life.1 - life.0), life.0));
    let mut arena = Arena::default();
    let mut placed = Vec::new();
    for (bytes, life, values) in wanted {
        let offset = arena.place(bytes, life);
        placed.extend(values.iter().map(|row| (*row, offset)));
    }
    placed.sort_unstable();
    Planned { home: Home::Temporary, bytes: arena.end, is_live_out: false, values: placed }
}

/// A range of addresses in which things are placed that live from one position to another, both included.
#[derive(Debug, Default)]
struct Arena {
    /// What lives in each part of the positions: its life, and its first address and the one behind it.
    parts: Vec<Vec<PlacedLife>>,
    end: u64,
}

/// A life, and addresses.
type PlacedLife = ((u32, u32), (u64, u64));

impl Arena {
    /// Positions of a part.
    const PART: u32 = 32;

    /// Places something in the smallest gap that is large enough, or else behind all that lives at the same time.
    fn place(&mut self, bytes: u64, life: (u32, u32)) -> u64 {
        let parts = (life.0 / Self::PART) as usize..(life.1 / Self::PART) as usize + 1;
        if self.parts.len() < parts.end {
            self.parts.resize_with(parts.end, Vec::new);
        }
        let mut taken: Vec<(u64, u64)> = self.parts[parts.clone()]
            .iter()
            .flatten()
            .filter(|(other, _)| other.0 <= life.1 && life.0 <= other.1)
            .map(|(_, addresses)| *addresses)
            .collect();
        taken.sort_unstable();
        let mut at = 0;
        let mut best: Option<(u64, u64)> = None;
        for (start, end) in taken {
            let gap = start.saturating_sub(at);
            if gap >= bytes && best.is_none_or(|(least, _)| gap < least) {
                best = Some((gap, at));
            }
            at = at.max(end);
        }
        let offset = best.map_or(at, |(_, offset)| offset);
        self.end = self.end.max(offset + bytes);
        for part in &mut self.parts[parts] {
            part.push((life, (offset, offset + bytes)));
        }
        offset
    }
}

/// XLA's simulation: temporary values as they come and go, but for tables of tuples; and the most of it at once.
fn simulate(
    program: &DraftModule,
    groups: &[Vec<usize>],
    lives: &[Option<(u32, u32)>],
) -> (Vec<MemoryEvent>, (u64, u32)) {
    let mut changes: Vec<(u32, bool, usize, usize)> = Vec::new();
    for (home, group) in program.groups.iter().zip(groups) {
        if *home != Home::Temporary || group.iter().any(|row| program.is_table(*row)) {
            continue;
        }
        let first = group.iter().filter_map(|row| Some((lives[*row]?.0, *row))).min();
        let Some((_, root)) = first else { continue };
        for row in group {
            if let Some((first, last)) = lives[*row] {
                changes.push((first, false, *row, root));
                changes.push((last, true, *row, root));
            }
        }
    }
    changes.sort_unstable();
    let mut in_use: BTreeMap<usize, u32> = BTreeMap::new();
    let (mut now, mut peak) = (0, (0, 0));
    let mut events = Vec::with_capacity(changes.len());
    for (position, is_end, row, root) in changes {
        let bytes = program.values[root].bytes;
        let count = in_use.entry(root).or_default();
        if is_end {
            *count -= 1;
            now -= if *count == 0 { bytes } else { 0 };
            events.push(MemoryEvent::Free(row));
        } else {
            now += if *count == 0 { bytes } else { 0 };
            *count += 1;
            events.push(if row == root {
                MemoryEvent::Allocate(row)
            } else {
                MemoryEvent::Share(row, root)
            });
        }
        if now > peak.0 {
            peak = (now, position);
        }
    }
    (events, peak)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arena_takes_the_smallest_gap_among_what_lives_at_the_same_time() {
        let mut arena = Arena::default();
        assert_eq!(arena.place(30, (0, 100)), 0);
        assert_eq!(arena.place(20, (0, 9)), 30);
        assert_eq!(arena.place(20, (10, 100)), 30, "the other one has gone");
        assert_eq!(arena.place(20, (9, 9)), 50, "both ends count");
        assert_eq!(arena.place(10, (5, 100)), 70);
        assert_eq!(arena.place(20, (90, 95)), 50, "what lies between");
        assert_eq!(arena.place(5, (50, 60)), 50);
        assert_eq!(arena.end, 80);
    }
}
