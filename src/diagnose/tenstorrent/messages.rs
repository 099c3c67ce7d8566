//! The sentences as messages of a log.

use regex::bytes::Captures;

use super::{
    BufferWithoutSpace, ErrorAtLine, TenstorrentError, TenstorrentForm, TenstorrentVerdict,
    sentences,
};
use crate::diagnose::finding::{Device, Finding, Kind, UsedPart};
use crate::diagnose::message::{Message, MessageFound};

/// The rows of the table of messages.
pub const MESSAGES: &[Message] = &[
    Message {
        pattern: sentences::NO_SPACE,
        read: |found| finding(found, sentences::no_space),
        example: "TT_FATAL: Out of Memory: Not enough space to allocate 67108864 B L1 buffer across 64 banks, where each bank needs \
                  to store 1048576 B, but bank size is 1395424 B (allocated: 655360 B, free: 740064 B, largest free block: \
                  524288 B).",
        meaning: "A buffer of a Tenstorrent device is spread over banks (the L1 of its cores, or channels of DRAM), and a bank has \
                  no room for its part. What is allocated and free is that of one bank.",
    },
    Message {
        pattern: sentences::CLASH,
        read: |found| finding(found, sentences::clash),
        example: "Statically allocated circular buffers in program 12 clash with L1 buffers on core range [(x=0,y=0) - (x=7,y=7)]. L1 \
                  buffer allocated at 524288 and static circular buffer region ends at 655360",
        meaning: "The circular or dataflow buffers of an operation reach above the lowest L1 tensor. They lie in L1 from the \
                  bottom up, tensors from the top down.",
    },
    Message {
        pattern: sentences::BEYOND_CORE,
        read: |found| finding(found, sentences::beyond_core),
        example: "Statically allocated circular buffers on core range [(x=0,y=0) - (x=7,y=7)] grow to 1695744 B which is beyond max \
                  L1 size of 1499136 B",
        meaning: "The circular or dataflow buffers of an operation are larger than the L1 of a Tenstorrent core.",
    },
    Message {
        pattern: sentences::BELOW_FLOOR,
        read: |found| finding(found, sentences::below_floor),
        example: "TT_FATAL: Out of Memory: Cannot allocate at an address below 114688. Allocation at 98304",
        meaning: "A buffer of a Tenstorrent device would begin below the first address that it may have.",
    },
    Message {
        pattern: sentences::RING,
        read: |found| finding(found, sentences::ring),
        example: "DFB in1_weights: ring size (1507328 bytes) exceeds Tensix unreserved L1 size (1393312 bytes); reduce capacity, \
                  stride, or entry_size",
        meaning: "The ring of a dataflow buffer is larger than what a Tenstorrent core has free for it.",
    },
    Message {
        pattern: sentences::ARENA,
        read: |found| finding(found, sentences::arena),
        example: "Persistent L1 arena is out of memory: cannot place 65536 bytes aligned to 64 on cores [0-0 - 7-7] in [65536, 98304)",
        meaning: "The part of L1 for what stays while programs change has no room left on the cores that are named.",
    },
    Message {
        pattern: sentences::SERVICE_CORE,
        read: |found| finding(found, sentences::service_core),
        example: "Circular buffers on service-core range [0-9 - 3-9] in program 4 clash with ServiceCoreManager-allocated L1 (lowest \
                  service allocation at 786432, CB region ends at 802816)",
        meaning: "The circular buffers of an operation reach into what a service has taken on the same cores.",
    },
];

/// What a sentence says, with its figures under the names that they have for every device.
fn finding(
    found: &MessageFound,
    read: fn(&Captures) -> Option<TenstorrentForm>,
) -> Option<Finding> {
    use TenstorrentForm::{
        Arena, BelowFloor, BeyondCore, Clash, NoSpace, NoSpaceDependencies, Ring, ServiceCore,
    };
    use TenstorrentVerdict::{BlockedByDependencies, Fragmented};
    let error = TenstorrentError::of(read(&found.captures)?);
    let is_in_pieces = matches!(error.verdict, Fragmented | BlockedByDependencies);
    let kind =
        if is_in_pieces { Kind::AcceleratorFragmented } else { Kind::AcceleratorOutOfMemory };
    let l1 = Finding {
        memory_space: Some("L1".to_owned()),
        excess_bytes: error.missing_bytes.filter(|_| !is_in_pieces),
        ..Finding::new(kind).on(Device::Tenstorrent)
    };
    let finding = match &error.form {
        NoSpace(buffer) | NoSpaceDependencies { buffer, .. } => of_buffer(buffer, l1),
        Clash { scratch_end_address: used, lowest_l1_address: limit, .. }
        | BeyondCore { scratch_end_address: used, worker_l1_bytes_per_core: limit, .. }
        | Ring { ring_bytes: used, unreserved_l1_bytes_per_core: limit, .. }
        | ServiceCore { scratch_end_address: used, lowest_service_address: limit, .. } => {
            Finding { used_bytes: Some(*used), limit_bytes: Some(*limit), ..l1 }
        }
        Arena { requested_bytes, .. } => Finding {
            requested_bytes: Some(*requested_bytes),
            limit_bytes: error.form.arena_bytes(),
            ..l1
        },
        BelowFloor { .. } => Finding { memory_space: None, ..l1 },
    };
    Some(Finding { tenstorrent: vec![ErrorAtLine { line: 0, error }], ..finding })
}

/// A buffer is asked for as a whole; what its banks have is that of one.
fn of_buffer(buffer: &BufferWithoutSpace, finding: Finding) -> Finding {
    Finding {
        memory_space: Some(buffer.space.clone()),
        requested_bytes: Some(buffer.buffer_bytes),
        limit_bytes: buffer.bank_bytes,
        used_bytes: buffer.allocated_bytes_per_bank,
        free_bytes: buffer.free_bytes_per_bank,
        contiguous_bytes: buffer.largest_free_bytes_per_bank,
        breakdown: vec![UsedPart { name: "in each bank".to_owned(), bytes: buffer.bytes_per_bank }],
        ..finding
    }
}
