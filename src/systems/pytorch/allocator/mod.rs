//! What a caching allocator did (formats/pytorch.md 4): every block with its life, four curves and their peaks, what
//! is lost, and whose blocks they are. All of it is worked out from the columns of a snapshot, a device at a time.

pub mod annotations;
pub mod bands;
pub mod block_index;
pub mod block_size;
pub mod categories;
pub mod claims;
pub mod curves;
pub mod device_facts;
pub mod event_axis;
pub mod failed_requests;
pub mod free_pieces;
pub mod insights;
mod live_blocks;
pub mod lives;
pub mod peak;
pub mod phases;
pub mod replay;
pub mod replayed;
pub mod reserved;
pub mod run_end;
pub mod segment_map;
pub mod segment_ranges;
pub mod settings;
pub mod stack_signs;
pub mod stated_failure;
pub mod timeline_areas;
pub mod timeline_facts;
pub mod user_frame;
