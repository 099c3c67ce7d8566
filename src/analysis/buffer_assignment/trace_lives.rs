//! When values live where the trace of XLA's own simulation is all that says it (formats/xla.md 5.5): a bare assignment
//! has neither instructions nor their order, so that an event of the trace is a step.

use super::analysed::Analysed;
use super::heap_trace::traces_by_allocation;
use super::in_use::{Changes, Placed, bytes_in_use};
use super::live_ranges::LiveRange;
use crate::store::hlo::{AllocationKind, HeapEventKind, HeapTrace};

/// The lives of the values of the temporary allocation of the main memory, from its trace.
#[derive(Clone, Debug)]
pub struct TraceLives<'a> {
    /// The trace, whose events are the steps.
    pub trace: &'a HeapTrace,
    /// The allocation, by row.
    pub allocation: usize,
    /// Its values that are in the trace: from the event that takes their memory to the one before it is given back.
    pub placed: Vec<Placed>,
    /// The bytes in use behind each event at which they change.
    pub in_use: Changes,
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
        let mut lives: Vec<Option<LiveRange>> = vec![None; module.values.len()];
        for (position, event) in (0_u32..).zip(&trace.events) {
            let Some(life) = lives.get_mut(event.value.0 as usize) else { continue };
            match (event.kind, life) {
                (HeapEventKind::Alloc | HeapEventKind::ShareWith, life) => {
                    // What is never given back is there to the end.
                    let start = life.map_or(position, |life| life.start);
                    *life = Some(LiveRange { start, end: last });
                }
                (HeapEventKind::Free, Some(life)) => life.end = position.saturating_sub(1),
                (HeapEventKind::Free, None) => {}
            }
        }
        let placed = module.assigned.iter().filter(|one| one.allocation == row);
        let placed: Vec<Placed> = placed
            .filter_map(|one| {
                let range = lives.get(one.value.0 as usize).copied().flatten()?;
                Some(Placed { assigned: *one, range })
            })
            .collect();
        let in_use = bytes_in_use(&placed);
        Some(Self { trace, allocation, placed, in_use })
    }
}
