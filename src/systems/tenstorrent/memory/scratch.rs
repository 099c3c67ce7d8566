//! Programs with their scratch: circular buffers, dataflow buffers and scratchpads, which take the same addresses of a core
//! one program after another.
//!
//! Scratch is recorded only where a program is built. What a program from the cache has is inferred from earlier ones of the
//! same key, where these all have the same.

use crate::store::names::{FastMap, NameId};
use crate::systems::tenstorrent::recorded::{OperationGraph, ScratchBuffer, SeenProgram};
use crate::text::words;

words! {
    /// How the scratch of a program is known.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ProgramState by word {
        /// Its nodes are there.
        Recorded = "recorded",
        /// It is that of earlier programs of the same key.
        Inferred = "inferred",
        /// The report does not say.
        Unknown = "unknown",
    }
}

/// A program that ran.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct ProgramUse {
    /// When, and beside which buffers.
    pub moment: ProgramMoment,
    /// The device operation that it is of.
    pub device_operation: NameId,
    /// How its scratch is known.
    pub state: ProgramState,
    /// Its own scratch, as a place in the lists; `None` where it is not known.
    pub scratch: Option<u32>,
    /// Whether earlier programs of the same key have different scratch.
    pub is_ambiguous: bool,
    /// Whether it came from the cache, where the report says so.
    pub is_cache_hit: Option<bool>,
}

/// What is alive where a program begins.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct ProgramMoment {
    /// The position of the operation.
    pub operation: u32,
    /// The lowest address of a buffer in L1.
    pub lowest_l1_address: Option<u64>,
    /// Bytes of buffers in L1 of a core.
    pub l1_bytes: u64,
    /// The same of L1_SMALL.
    pub l1_small_bytes: u64,
}

/// Nodes of scratch.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ScratchCounts {
    /// Of circular buffers, on all chips.
    pub circular_buffers: u64,
    /// Of circular and dataflow buffers on tensors.
    pub on_tensors: u64,
    /// Of dataflow buffers.
    pub dataflow_buffers: u64,
    /// Of scratchpads.
    pub scratchpads: u64,
}

/// Finds the scratch of programs in the order in which they ran.
#[derive(Debug, Default)]
pub struct ScratchFinder {
    programs: Vec<ProgramUse>,
    lists: Vec<Vec<ScratchBuffer>>,
    by_list: FastMap<Vec<ScratchBuffer>, u32>,
    /// What recorded programs of each key have, and whether that is not always the same.
    by_key: FastMap<u128, (u32, bool)>,
    counts: ScratchCounts,
}

impl ScratchFinder {
    /// Counts the nodes of an operation.
    pub fn count(&mut self, graph: &OperationGraph) {
        let counts = &mut self.counts;
        for (sum, more) in [
            (&mut counts.circular_buffers, graph.circular_buffer_nodes),
            (&mut counts.on_tensors, graph.on_tensor_nodes),
            (&mut counts.dataflow_buffers, graph.dataflow_buffer_nodes),
            (&mut counts.scratchpads, graph.scratchpad_nodes),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// Adds a program.
    pub fn add(&mut self, program: &SeenProgram, moment: ProgramMoment) {
        let earlier = self.by_key.get(&program.key).copied();
        let may_be_earlier = program.is_cache_hit != Some(false);
        let (state, scratch, is_ambiguous) = if program.is_recorded {
            let list = self.list(&program.scratch);
            let (first, differ) = self.by_key.entry(program.key).or_insert((list, false));
            *differ |= *first != list;
            (ProgramState::Recorded, Some(list), false)
        } else {
            match earlier.filter(|_| may_be_earlier) {
                Some((list, false)) => (ProgramState::Inferred, Some(list), false),
                Some((_, true)) => (ProgramState::Unknown, None, true),
                None => (ProgramState::Unknown, None, false),
            }
        };
        self.programs.push(ProgramUse {
            moment,
            device_operation: program.device_operation,
            state,
            scratch,
            is_ambiguous,
            is_cache_hit: program.is_cache_hit,
        });
    }

    /// The place of a list, new when it was not met before.
    fn list(&mut self, scratch: &[ScratchBuffer]) -> u32 {
        let mut list = scratch.to_vec();
        list.sort_by(|one, other| {
            (one.address, one.bytes, &one.cores).cmp(&(other.address, other.bytes, &other.cores))
        });
        let next = u32::try_from(self.lists.len()).unwrap_or(u32::MAX);
        *self.by_list.entry(list).or_insert_with_key(|list| {
            self.lists.push(list.clone());
            next
        })
    }

    /// The programs, the lists of their scratch, and the counts.
    pub fn finish(self) -> (Vec<ProgramUse>, Vec<Vec<ScratchBuffer>>, ScratchCounts) {
        (self.programs, self.lists, self.counts)
    }
}
