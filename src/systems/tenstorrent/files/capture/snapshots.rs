//! What is alive at the ends of calls: as the allocator said it after each of them, else as the nodes allocate and free.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

use serde::Deserialize;

use super::calls::CapturedCall;
use crate::format::Progress;
use crate::format::json_pieces::{PieceError, PieceRange, bytes_at};
use crate::limits;
use crate::store::names::FastMap;
use crate::systems::tenstorrent::files::buffers::{StaysOfRank, add_mesh};
use crate::systems::tenstorrent::files::node::NodeValue;
use crate::systems::tenstorrent::recorded::{
    BufferKey, BufferLayout, BufferSpace, NodeBuffer, Stay, TtnnRank,
};

/// Where the list of buffers lies of each call, by the node that begins it.
pub type Snapshots = FastMap<u64, PieceRange>;

/// A buffer of such a list.
#[derive(Debug, Deserialize)]
struct SnapshotBuffer<'a> {
    #[serde(borrow, default)]
    address: NodeValue<'a>,
    #[serde(borrow, default)]
    max_size_per_bank: NodeValue<'a>,
    #[serde(borrow, default)]
    buffer_type: NodeValue<'a>,
    #[serde(borrow, default)]
    buffer_layout: NodeValue<'a>,
    #[serde(borrow, default)]
    device_id: NodeValue<'a>,
}

impl SnapshotBuffer<'_> {
    fn stay(&self, at: u32) -> Option<Stay> {
        let space = BufferSpace::of_code(self.buffer_type.number()?)?;
        let key = BufferKey { space, address: self.address.size()? };
        let bytes_per_bank = self.max_size_per_bank.size()?;
        let layout = self.buffer_layout.number();
        let layout = layout.and_then(|code| BufferLayout::of_code(code, true));
        Some(Stay { key, bytes_per_bank, layout, first: at, last: at })
    }
}

/// What is wrong with snapshots, and the devices that they name.
#[derive(Debug, Default)]
pub struct ReadSnapshots {
    /// Buffers without a space, an address or a size that a machine can have.
    left_out: u64,
    /// Calls that came to their end and have no snapshot.
    calls_without: u64,
    /// Snapshots that cannot be read, and what is wrong with the first of them.
    damaged: u64,
    first_damage: Option<PieceError>,
    /// The ids of meshes.
    pub meshes: BTreeSet<u64>,
}

/// Reads the snapshots of all calls into a rank, until nobody waits for it.
pub fn read(
    file: &File,
    snapshots: &Snapshots,
    calls: &[CapturedCall],
    rank: &mut TtnnRank,
    progress: &Progress,
) -> ReadSnapshots {
    let mut stays = StaysOfRank::default();
    let mut read = ReadSnapshots::default();
    for (at, call) in (0_u32..).zip(calls) {
        if progress.is_cancelled() {
            break;
        }
        let Some(range) = snapshots.get(&call.counters[0]) else {
            let is_missing = call.has_ended && !call.is_aborted;
            read.calls_without = read.calls_without.saturating_add(u64::from(is_missing));
            continue;
        };
        if let Err(error) = read.add(file, range, at, &mut stays, rank) {
            read.damaged = read.damaged.saturating_add(1);
            read.first_damage.get_or_insert(error);
        }
    }
    rank.rows_of_spaces = stays.rows_of_spaces;
    rank.stays = stays.stays;
    rank.stays.sort_by_key(|stay| stay.first);
    read
}

impl ReadSnapshots {
    /// Whether it is not known of some calls what was alive at their ends.
    pub fn lacks_calls(&self) -> bool {
        self.calls_without > 0 || self.damaged > 0
    }

    /// What is wrong, as texts.
    pub fn said(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.left_out > 0 {
            said.push(format!(
                "{} buffers without a space, an address or a size that a machine can have are left out",
                self.left_out
            ));
        }
        if self.calls_without > 0 {
            said.push(format!(
                "{} calls have no buffers there; nothing counts as alive at their ends",
                self.calls_without
            ));
        }
        if let Some(error) = &self.first_damage {
            said.push(format!(
                "the buffers of {} calls cannot be read, of the first because of {error}; nothing counts as alive at their ends",
                self.damaged
            ));
        }
        said
    }

    /// Adds the snapshot of the call at a position.
    fn add(
        &mut self,
        file: &File,
        range: &PieceRange,
        at: u32,
        stays: &mut StaysOfRank,
        rank: &mut TtnnRank,
    ) -> Result<(), PieceError> {
        let text = bytes_at(file, range, limits::RECORD_BYTES)?;
        let buffers: Vec<SnapshotBuffer<'_>> = serde_json::from_slice(&text).map_err(|_| {
            PieceError::Unexpected { at: range.start, expected: "a list of buffers" }
        })?;
        if let Some(has_rows) = rank.operations.has_rows.get_mut(at as usize) {
            *has_rows = !buffers.is_empty();
        }
        for buffer in &buffers {
            rank.buffer_rows = rank.buffer_rows.saturating_add(1);
            match buffer.stay(at) {
                Some(stay) => drop(stays.add(stay)),
                None => self.left_out = self.left_out.saturating_add(1),
            }
            if let Some(mesh) = buffer.device_id.number() {
                add_mesh(&mut self.meshes, mesh);
            }
        }
        Ok(())
    }
}

/// Follows allocations and frees from call to call.
#[derive(Debug, Default)]
pub struct FollowedBuffers {
    alive: BTreeMap<BufferKey, Stay>,
    ended: Vec<Stay>,
    /// The ids of meshes.
    pub meshes: BTreeSet<u64>,
}

impl FollowedBuffers {
    /// A buffer is of a mesh.
    pub fn add_mesh(&mut self, mesh: Option<u64>) {
        if let Some(mesh) = mesh {
            add_mesh(&mut self.meshes, mesh);
        }
    }

    /// A buffer is allocated, during a call or before it.
    pub fn allocate(&mut self, node: &NodeBuffer, bytes_per_bank: u64, call: u32) {
        self.free(node.key, call);
        let NodeBuffer { key, layout, .. } = *node;
        self.alive.insert(key, Stay { key, bytes_per_bank, layout, first: call, last: u32::MAX });
    }

    /// A buffer is freed, during a call or before it.
    pub fn free(&mut self, key: BufferKey, call: u32) {
        let Some(stay) = self.alive.remove(&key) else { return };
        // What a call allocates and frees is at no end.
        if let Some(last) = call.checked_sub(1).filter(|last| *last >= stay.first) {
            self.ended.push(Stay { last, ..stay });
        }
    }

    /// Fills a rank with so many calls.
    pub fn finish(self, calls: &[CapturedCall], rank: &mut TtnnRank) {
        let Some(last) = rank.operations.count().checked_sub(1) else { return };
        let alive = self.alive.into_values().filter(|stay| stay.first <= last);
        rank.stays = self.ended;
        rank.stays.extend(alive.map(|stay| Stay { last, ..stay }));
        rank.stays.sort_by_key(|stay| (stay.first, stay.key));
        // A call that did not come to its end has no rows.
        let has_ended = |call: &CapturedCall| call.has_ended && !call.is_aborted;
        let mut ended_before = vec![0_u64];
        for call in calls {
            let before = ended_before.last().copied().unwrap_or(0);
            ended_before.push(before.saturating_add(u64::from(has_ended(call))));
        }
        let ended = |at: u32| ended_before.get(at as usize).copied().unwrap_or(0);
        for stay in &rank.stays {
            let rows = ended(stay.last.saturating_add(1)).saturating_sub(ended(stay.first));
            rank.buffer_rows = rank.buffer_rows.saturating_add(rows);
            if let Some(of_space) = rank.rows_of_spaces.get_mut(stay.key.space as usize) {
                *of_space = of_space.saturating_add(rows);
            }
        }
        for (has_rows, call) in rank.operations.has_rows.iter_mut().zip(calls) {
            *has_rows = has_ended(call);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_stays_from_its_allocation_to_its_end() {
        let mut followed = FollowedBuffers::default();
        let node = |address| NodeBuffer {
            key: BufferKey { space: BufferSpace::L1, address },
            bytes_per_bank: Some(32),
            bytes: 64,
            page_bytes: 32,
            cores: 0,
            layout: None,
        };
        followed.allocate(&node(64), 32, 0);
        followed.allocate(&node(96), 32, 1);
        followed.free(node(96).key, 1);
        followed.allocate(&node(128), 32, 1);
        followed.free(node(64).key, 2);
        followed.free(node(7).key, 2);
        let mut rank = TtnnRank::default();
        rank.operations.ids = vec![1, 2, 3];
        let call = |has_ended| CapturedCall {
            name: crate::store::names::NameId(0),
            before: 0,
            counters: [0, 0],
            nodes: 0..0,
            nanoseconds: None,
            arguments: Vec::new(),
            own: [Vec::new(), Vec::new()],
            within: Vec::new(),
            has_ended,
            is_aborted: false,
        };
        followed.finish(&[call(true), call(true), call(false)], &mut rank);
        let stays = rank.stays.iter().map(|stay| (stay.key.address, stay.first, stay.last));
        assert_eq!(stays.collect::<Vec<_>>(), [(64, 0, 1), (128, 1, 2)]);
        // The last call failed.
        assert_eq!(rank.buffer_rows, 3);
    }
}
