//! The store: columns of a report, shared and immutable once a part is filled.
//!
//! It knows nothing of files. Readers in [`crate::systems`] fill it part by part; a view asks a
//! [`Part`] whether it is there yet. Rows are positions (`usize`) in columns; the numbers that the
//! file gives its rows are typed ids ([`ids`]), found again through an [`IdColumn`].

pub(crate) mod absence;
pub mod arena;
pub mod column;
pub mod compute;
pub mod context_details;
pub mod debug_info;
pub mod exchange;
pub mod execution;
pub mod hlo;
pub mod ids;
pub mod joined_ranks;
pub mod liveness;
pub(crate) mod log;
pub mod memory;
pub mod memory_timeline;
pub mod names;
pub mod options;
pub mod placed;
pub mod program;
pub mod report;
pub mod snapshot;
pub(crate) mod system;
pub mod target;
pub mod tile_list;
pub mod variable;
pub(crate) mod vertex;
pub(crate) mod warning;

/// The list at a position, of lists that stand end to end in `values`; `ends` says where each ends.
pub(crate) fn list_at<'a, T>(values: &'a [T], ends: &[usize], position: usize) -> &'a [T] {
    let end = ends.get(position).copied().unwrap_or(0);
    let start = position.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    values.get(start..end).unwrap_or(&[])
}

pub use absence::Absence;
pub use ids::{
    ArenaId, ClassId, ComputeSetId, DeviceId, FunctionId, IdColumn, ProgramId, StepId, TileId,
    UnloweredId, VertexTypeId,
};
pub use report::{Part, Report};
pub use system::System;
pub use warning::{Warning, WarningCode, Warnings};
