//! The rules of the allocator, each with the sizes at which it changes.

use super::*;
use crate::store::snapshot::Action::{
    Alloc, FreeCompleted, OutOfMemory, SegmentAlloc, SegmentFree,
};
use crate::store::snapshot::BlockState::{self, Allocated, Inactive};

const MIB: u64 = 1 << 20;
const NOWHERE: CapturedStack = CapturedStack { number: 0, stack: CallStack::NONE };

fn allocator(capacity_bytes: Option<u64>, settings: AllocatorOptions) -> CachingAllocator {
    CachingAllocator::new(settings, CardMemory { capacity_bytes, other_bytes: 0 })
}

fn actions(allocator: &mut CachingAllocator) -> Vec<(Action, u64)> {
    std::mem::take(&mut allocator.happened)
        .into_iter()
        .map(|event| {
            (event.action, if event.block_bytes > 0 { event.block_bytes } else { event.bytes })
        })
        .collect()
}

/// Bytes and state of the blocks of each segment.
fn blocks(allocator: &CachingAllocator) -> Vec<Vec<(u64, BlockState)>> {
    let segments = allocator.end_state();
    segments
        .iter()
        .map(|segment| segment.blocks.iter().map(|block| (block.bytes, block.state)).collect())
        .collect()
}

#[test]
fn requests_take_segments_of_their_kind() {
    let mut it = allocator(None, AllocatorOptions::default());
    for bytes in [1, MIB, MIB + 1, 10 * MIB, 11 * MIB] {
        it.allocate(bytes, 0, NOWHERE).unwrap();
    }
    assert_eq!(
        actions(&mut it),
        [
            (SegmentAlloc, 2 * MIB),
            (Alloc, 512),
            (Alloc, MIB),
            (SegmentAlloc, 20 * MIB),
            (Alloc, MIB + 512),
            // What is left of the 20 MiB is enough.
            (Alloc, 10 * MIB),
            (SegmentAlloc, 12 * MIB),
            // A rest of one MiB is not worth it.
            (Alloc, 12 * MIB),
        ]
    );
}

#[test]
fn blocks_are_joined_when_they_are_free_and_the_smallest_that_fits_is_taken() {
    let mut it = allocator(None, AllocatorOptions::default());
    let held: Vec<Handle> = (0..4).map(|_| it.allocate(4 * MIB, 0, NOWHERE).unwrap()).collect();
    it.free(held[0], NOWHERE, 0);
    it.free(held[2], NOWHERE, 0);
    let mib = |count: u64, state| (count * MIB, state);
    // The third is joined with what is left.
    assert_eq!(
        blocks(&it),
        [[
            mib(4, Inactive),
            mib(4, Allocated),
            mib(4, Inactive),
            mib(4, Allocated),
            mib(4, Inactive)
        ]]
    );
    it.free(held[3], NOWHERE, 0);
    assert_eq!(blocks(&it), [[mib(4, Inactive), mib(4, Allocated), mib(12, Inactive)]]);
    assert_eq!(it.statistics().inactive_split_bytes.all.current, 16 * MIB);
    let again = it.allocate(3 * MIB, 0, NOWHERE).unwrap();
    // Not split: the rest would be of one MiB.
    assert_eq!(blocks(&it), [[mib(4, Allocated), mib(4, Allocated), mib(12, Inactive)]]);
    it.free(held[1], NOWHERE, 0);
    it.free(again, NOWHERE, 0);
    assert_eq!(blocks(&it), [[mib(20, Inactive)]]);
    let statistics = it.statistics();
    assert_eq!(statistics.inactive_split.all.current, 0);
    assert_eq!(statistics.inactive_split_bytes.all.current, 0);
    assert_eq!(statistics.allocated_bytes.all.current, 0);
    assert_eq!(statistics.reserved_bytes.all.peak, 20 * MIB);
}

#[test]
fn cached_segments_are_given_back_before_a_request_fails() {
    let mut it = allocator(Some(64 * MIB), AllocatorOptions::default());
    let first = it.allocate(30 * MIB, 0, NOWHERE).unwrap();
    it.allocate(20 * MIB, 0, NOWHERE).unwrap();
    it.free(first, NOWHERE, 0);
    it.happened.clear();
    it.allocate(40 * MIB, 0, NOWHERE).unwrap();
    assert_eq!(
        actions(&mut it),
        [(SegmentFree, 30 * MIB), (SegmentAlloc, 40 * MIB), (Alloc, 40 * MIB)]
    );
    let failure = it.allocate(5 * MIB, 0, NOWHERE).unwrap_err();
    assert_eq!((failure.asked_bytes, failure.free_bytes), (20 * MIB, 4 * MIB));
    assert_eq!(actions(&mut it), [(OutOfMemory, 5 * MIB)]);
    assert_eq!((it.statistics().retries, it.statistics().failed_requests), (2, 1));
}

#[test]
fn a_block_that_another_stream_uses_is_free_some_requests_later() {
    let mut it = allocator(None, AllocatorOptions::default());
    let shared = it.allocate(600, 1, NOWHERE).unwrap();
    it.share(shared);
    it.free(shared, NOWHERE, 2);
    assert_eq!(blocks(&it)[0][0], (1024, BlockState::Pending));
    let counted = it.statistics();
    assert_eq!((counted.allocated_bytes.all.current, counted.active_bytes.all.current), (0, 1024));
    it.happened.clear();
    it.allocate(1, 0, NOWHERE).unwrap();
    it.allocate(1, 0, NOWHERE).unwrap();
    // Blocks of one stream are not handed out to another.
    assert_eq!(
        actions(&mut it),
        [(SegmentAlloc, 2 * MIB), (Alloc, 512), (FreeCompleted, 600), (Alloc, 512)]
    );
    assert_eq!(it.statistics().active_bytes.all.current, 1024);
}

#[test]
fn blocks_beyond_a_size_are_kept_whole() {
    let settings =
        AllocatorOptions { most_split_bytes: Some(32 * MIB), ..AllocatorOptions::default() };
    let mut it = allocator(Some(200 * MIB), settings);
    let large = it.allocate(100 * MIB, 0, NOWHERE).unwrap();
    it.free(large, NOWHERE, 0);
    it.happened.clear();
    // Too large for a request that is split, and too large by more than 20 MiB for others.
    it.allocate(4 * MIB, 0, NOWHERE).unwrap();
    it.allocate(70 * MIB, 0, NOWHERE).unwrap();
    let near = it.allocate(90 * MIB, 0, NOWHERE).unwrap();
    assert_eq!(
        actions(&mut it),
        [
            (SegmentAlloc, 20 * MIB),
            (Alloc, 4 * MIB),
            (SegmentAlloc, 70 * MIB),
            (Alloc, 70 * MIB),
            (Alloc, 100 * MIB),
        ]
    );
    it.free(near, NOWHERE, 0);
    it.happened.clear();
    it.allocate(74 * MIB, 0, NOWHERE).unwrap();
    assert_eq!(
        actions(&mut it),
        [(SegmentFree, 100 * MIB), (SegmentAlloc, 74 * MIB), (Alloc, 74 * MIB)]
    );
    assert_eq!(it.statistics().retries, 0, "what is not split goes first");
}

#[test]
fn sizes_are_rounded_to_divisions_of_powers_of_two() {
    let settings = AllocatorOptions { roundup_divisions: 4, ..AllocatorOptions::default() };
    let it = allocator(None, settings);
    for (bytes, rounded) in
        [(1, 512), (1200, 1536), (2049, 2560), (MIB + 1, MIB + MIB / 4), (4 * MIB, 4 * MIB)]
    {
        assert_eq!(it.rounded(bytes), rounded, "{bytes}");
    }
}
