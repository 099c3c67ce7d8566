//! Lives of buffers, from allocation to free, and who reads the tensors in them.

use std::collections::HashSet;

use crate::store::names::FastMap;
use crate::systems::tenstorrent::recorded::{BufferKey, BufferLayout, TtnnTensors};

/// A buffer from its allocation to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BufferLife {
    /// Where it lies.
    pub key: BufferKey,
    /// Bytes that it takes of a bank.
    pub bytes: u64,
    /// Bytes over the banks of a chip, as the node says that allocated it.
    pub chip_bytes: Option<u64>,
    /// How it is laid out.
    pub layout: Option<BufferLayout>,
    /// The position of the operation that allocated it; `None` where it was there before.
    pub allocated_by: Option<u32>,
    /// The first operation at whose end it may be.
    pub first: u32,
    /// What ended it; `None` where it is there at the end of the report.
    pub freed: Option<FreedBy>,
}

/// What ended a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum FreedBy {
    /// The operation at a position.
    Operation(u32),
    /// Nothing that was recorded, after the operation at a position: Python dropped the tensor.
    NobodyAfter(u32),
}

impl BufferLife {
    /// The last operation at whose end it is; before the first one of what came and went within an operation.
    pub fn last(&self) -> u32 {
        match self.freed {
            None => u32::MAX,
            Some(FreedBy::NobodyAfter(last)) => last,
            // What the first operation freed was never there at an end, which its first operation says.
            Some(FreedBy::Operation(by)) => by.saturating_sub(1),
        }
    }

    /// Whether it is there at the end of an operation.
    pub fn is_at_end_of(&self, operation: u32) -> bool {
        self.first <= operation
            && match self.freed {
                None => true,
                Some(FreedBy::NobodyAfter(last)) => operation <= last,
                Some(FreedBy::Operation(by)) => operation < by,
            }
    }
}

/// Who reads the tensors of a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LifeReads {
    /// The lowest id of its tensors.
    pub tensor: Option<u64>,
    /// The first operation that reads one of them, by position.
    pub first: Option<u32>,
    /// The last one.
    pub last: Option<u32>,
    /// Whether one of them is an input or output of an operation; else the buffer is a helper of an operation.
    pub is_visible: bool,
}

/// Views of buffers that are known only at the end of a report: few have any.
const MOST_LINKS: usize = 1 << 21;

/// Which tensors lie in which buffers.
#[derive(Debug, Default)]
pub struct TensorLinks {
    links: FastMap<u64, LivesOfTensor>,
    views: Vec<(u64, u64)>,
}

/// The lives that a tensor lies in, of which most have one.
#[derive(Clone, Debug)]
struct LivesOfTensor {
    /// The one that it was met in last.
    last: u32,
    /// Those before.
    before: Vec<u32>,
}

impl LivesOfTensor {
    fn all(&self) -> impl Iterator<Item = u32> {
        self.before.iter().copied().chain([self.last])
    }
}

impl TensorLinks {
    /// A tensor lies in the buffer of a life.
    pub fn add(&mut self, life: u32, tensor: u64) {
        let first = || LivesOfTensor { last: life, before: Vec::new() };
        let lives = self.links.entry(tensor).or_insert_with(first);
        if lives.last != life {
            lives.before.push(std::mem::replace(&mut lives.last, life));
        }
    }

    /// A tensor shares the buffer of another one.
    pub fn add_view(&mut self, from: u64, to: u64) {
        // Who made the other one may be found only later.
        match self.last_life(from) {
            Some(life) => self.add(life, to),
            None => self.views.push((from, to)),
        }
    }

    /// The life that a tensor was met in last.
    pub fn last_life(&self, tensor: u64) -> Option<u32> {
        Some(self.links.get(&tensor)?.last)
    }

    /// Who reads the tensors of each of so many lives.
    pub fn reads(mut self, lives: usize, tensors: &TtnnTensors) -> Vec<LifeReads> {
        // A chain of views that share inputs has each tensor by many ways.
        let mut known: HashSet<(u64, u32)> = HashSet::new();
        for (from, to) in std::mem::take(&mut self.views) {
            let lives = self.links.get(&from).cloned();
            for life in lives.iter().flat_map(LivesOfTensor::all) {
                if known.len() < MOST_LINKS && known.insert((to, life)) {
                    self.add(life, to);
                }
            }
        }
        let mut reads = vec![LifeReads::default(); lives];
        for (tensor, lives) in &self.links {
            let facts = tensors.get(*tensor).copied().unwrap_or_default();
            for life in lives.all() {
                let Some(read) = reads.get_mut(life as usize) else { continue };
                read.tensor = Some(read.tensor.map_or(*tensor, |lowest| lowest.min(*tensor)));
                read.first = [read.first, facts.first_read].into_iter().flatten().min();
                read.last = read.last.max(facts.last_read);
                read.is_visible |= facts.is_visible;
            }
        }
        reads
    }
}
