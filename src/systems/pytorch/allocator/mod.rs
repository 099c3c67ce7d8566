//! The history of a caching allocator (formats/pytorch.md 4): every block with its life, four curves and their peaks,
//! what is lost, and whose blocks they are. All of it is worked out from the columns of a snapshot, a device at a time.

pub(crate) mod annotations;
pub(crate) mod bands;
pub(crate) mod block_index;
pub(crate) mod block_size;
pub(crate) mod categories;
pub(crate) mod claims;
pub mod curves;
pub mod device_facts;
pub(crate) mod expandable;
pub(crate) mod failed_requests;
#[cfg(test)]
mod fixture;
pub(crate) mod free_pieces;
pub mod insights;
pub(crate) mod landmarks;
mod live_blocks;
pub(crate) mod lives;
pub mod peak;
pub(crate) mod phases;
pub(crate) mod pools;
pub(crate) mod replay;
pub(crate) mod replayed;
pub(crate) mod reserved;
pub mod run_end;
pub mod segment_map;
pub(crate) mod segment_ranges;
pub(crate) mod settings;
pub(crate) mod stack_signs;
pub(crate) mod stated_failure;
pub(crate) mod timeline_areas;
pub(crate) mod timeline_facts;
pub mod user_frame;
