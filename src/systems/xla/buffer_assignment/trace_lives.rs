//! When values live where the trace of XLA's own simulation is all that says it (formats/xla.md 5.5): a bare assignment
//! has neither instructions nor their order, so that an event of the trace is a step.

use super::analysed::Analysed;
use super::heap_trace::{EventEffect, Simulation, traces_by_allocation};
use super::in_use::{CurveChanges, PlacedValue, bytes_in_use, peak};
use super::live_ranges::LiveRange;
use crate::store::hlo::{AllocationKind, HeapTrace, HloModule};
use crate::store::names::NameId;

/// The lives of the values of the temporary allocation of the main memory, from its trace.
#[derive(Clone, Debug)]
pub struct TraceLives<'a> {
    /// The trace, whose events are the steps.
    pub trace: &'a HeapTrace,
    pub allocation: usize,
    /// Its values that are in the trace: from the event that takes their memory to the one before it is given back. One
    /// that comes again is there once for each of its lives, one behind the other.
    pub placed: Vec<PlacedValue>,
    /// The bytes in use behind each event at which they change.
    pub in_use: CurveChanges,
}

impl<'a> TraceLives<'a> {
    /// Of a module whose instructions are not known. `None` of others, and where what is temporary in the main memory is
    /// not one allocation with a trace of the whole module: then a curve would be of a part.
    pub fn of(analysed: &'a Analysed) -> Option<Self> {
        let module = &analysed.module;
        if module.entry.is_some() || module.has_schedule() {
            return None;
        }
        let mut temporary = analysed.allocations_of(0, |kind| kind == AllocationKind::Temporary);
        let ((allocation, _), None) = (temporary.next()?, temporary.next()) else { return None };
        let row = u32::try_from(allocation).ok()?;
        let trace = traces_by_allocation(module).get(&row).copied()?;
        let last = u32::try_from(trace.events.len()).ok()?.checked_sub(1)?;
        if !trace.is_of_whole_module {
            return None;
        }
        let mut lives: Vec<Vec<LiveRange>> = vec![Vec::new(); module.values.len()];
        let mut simulation = Simulation::of(module);
        for (position, event) in (0_u32..).zip(&trace.events) {
            let change = simulation.follow(event);
            let Some(lives) = lives.get_mut(event.value.0 as usize) else { continue };
            match (change, lives.last_mut()) {
                // What is never given back is there to the end.
                (EventEffect::Begins, _) => lives.push(LiveRange { start: position, end: last }),
                (EventEffect::Ends, Some(life)) => life.end = position.saturating_sub(1),
                (EventEffect::Ends, None) | (EventEffect::Nothing, _) => {}
            }
        }
        let mut placed = Vec::new();
        for one in module.assigned.iter().filter(|one| one.allocation == row) {
            let lives = lives.get(one.value.0 as usize).into_iter().flatten();
            placed.extend(lives.map(|range| PlacedValue { assigned: *one, range: *range }));
        }
        let in_use = bytes_in_use(&placed);
        Some(Self { trace, allocation, placed, in_use })
    }

    /// Its values, each with its lives.
    pub fn by_value(&self) -> impl Iterator<Item = &[PlacedValue]> {
        self.placed.chunk_by(|one, other| one.assigned == other.assigned)
    }

    /// The most that is in use, and the first event at which it is.
    pub fn peak(&self) -> (u64, u32) {
        let last = u32::try_from(self.trace.events.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let (bytes, positions) = peak(&self.in_use, last);
        (bytes, positions.first().map_or(0, |(first, _)| *first))
    }
}

/// The name of the instruction that makes a value, by the value's row, of a module whose instructions are not known:
/// the events of traces have them. [`NameId::NONE`] of a value that is in none.
pub(super) fn names_of_traces(module: &HloModule) -> Vec<NameId> {
    if !module.instructions.is_empty() || module.traces.is_empty() {
        return Vec::new();
    }
    let mut names = vec![NameId::NONE; module.values.len()];
    for event in module.traces.iter().flat_map(|trace| &trace.events) {
        if let Some(name) = names.get_mut(event.value.0 as usize)
            && *name == NameId::NONE
        {
            *name = event.instruction;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::heap_trace::replay;
    use super::*;
    use crate::store::hlo::{
        Assigned, BufferAllocation, HeapEvent, HeapEventKind, HloValue, InstructionId, ValueId,
    };

    /// Values; those with equal remainders by it are at one place.
    const VALUES: u32 = 12;
    const PLACES: u32 = 4;

    /// A bare assignment with a trace: the kind of an event, its value, and the one with which it shares.
    fn traced(events: &[(HeapEventKind, u32, u32)]) -> HloModule {
        let mut module = HloModule::default();
        module.allocations.push(BufferAllocation {
            number: 0,
            bytes: 1 << PLACES,
            kind: AllocationKind::Temporary,
            is_live_out: false,
            color: 0,
            parameter: None,
        });
        for row in 0..VALUES {
            // Places of different sizes, one behind the other.
            let bytes = 1 << (row % PLACES);
            let (id, instruction) = (i64::from(row), InstructionId::NONE);
            module.values.push(HloValue { id, bytes, instruction, place: 0 });
            let (value, offset) = (ValueId(row), bytes - 1);
            module.assigned.push(Assigned { allocation: 0, value, offset, bytes });
        }
        let event = |(kind, value, shared_with): &(HeapEventKind, u32, u32)| HeapEvent {
            kind: *kind,
            value: ValueId(*value),
            shared_with: ValueId(*shared_with),
            instruction: NameId::NONE,
        };
        let events = events.iter().map(event).collect();
        module.traces.push(HeapTrace { events, is_of_whole_module: true });
        module
    }

    fn lives_of(module: HloModule, value: u32) -> Vec<(u32, u32)> {
        let analysed = Analysed::of(module);
        let traced = TraceLives::of(&analysed).unwrap();
        let of_value = traced.placed.iter().filter(|one| one.assigned.value == ValueId(value));
        of_value.map(|one| (one.range.start, one.range.end)).collect()
    }

    #[test]
    fn a_life_ends_once_and_another_begins_anew() {
        use HeapEventKind::{Alloc, Free, ShareWith};
        let (take, free, other) = ((Alloc, 0, 0), (Free, 0, 0), (Alloc, 1, 1));
        assert_eq!(lives_of(traced(&[take, free, other, free]), 0), [(0, 0)]);
        assert_eq!(lives_of(traced(&[take, free, other, take, free]), 0), [(0, 0), (3, 3)]);
        assert_eq!(lives_of(traced(&[take, other, take, free, other]), 0), [(0, 2)]);
        let share = (ShareWith, 4, 0);
        assert_eq!(lives_of(traced(&[take, free, share, other]), 4), [(2, 3)]);
        assert_eq!(lives_of(traced(&[free, other]), 0), []);
    }

    proptest! {
        /// Where values that share are at one place, and others are not.
        #[test]
        fn the_curve_of_lives_is_that_of_the_replay(
            events in prop::collection::vec((0..3_u8, 0..VALUES), 1..80),
        ) {
            let event = |(kind, value): &(u8, u32)| {
                let place = value % PLACES;
                match kind {
                    0 if *value == place => (HeapEventKind::Alloc, *value, *value),
                    1 => (HeapEventKind::Free, *value, *value),
                    _ => (HeapEventKind::ShareWith, *value, place),
                }
            };
            let events: Vec<_> = events.iter().map(event).collect();
            let module = traced(&events);
            let mut expected = Vec::new();
            for count in 1..=events.len() {
                let of = &events[..count];
                expected.push(replay(&module, &traced(of).traces[0]).left_at_end_bytes);
            }
            let analysed = Analysed::of(module);
            let lives = TraceLives::of(&analysed).unwrap();
            let (mut curve, mut now, mut changes) = (Vec::new(), 0, lives.in_use.iter().peekable());
            for position in 0..events.len() as u32 {
                if let Some((_, bytes)) = changes.next_if(|(at, _)| *at == position) {
                    now = *bytes;
                }
                curve.push(now);
            }
            prop_assert_eq!(&curve, &expected);
            let replayed = replay(&analysed.module, lives.trace);
            prop_assert_eq!(lives.peak().0, replayed.peak_bytes);
            if replayed.peak_bytes > 0 {
                prop_assert_eq!(lives.peak().1 as usize, replayed.peak_event);
            }
        }
    }
}
