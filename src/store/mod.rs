//! The store: columns of a report, shared and immutable once a part is filled.
//!
//! It knows nothing of files. Readers in [`crate::format`] fill it part by part; a view asks a
//! [`Part`] whether it is there yet. Rows are positions (`usize`) in columns; the numbers that the
//! file gives its rows are typed ids ([`ids`]), found again through an [`IdColumn`].

pub(crate) mod absence;
pub mod arena;
pub mod compute;
pub mod debug_info;
pub mod exchange;
pub(crate) mod execution;
pub mod ids;
pub mod liveness;
pub(crate) mod log;
pub mod memory;
pub mod names;
pub mod options;
pub mod placed;
pub mod program;
pub mod report;
pub(crate) mod system;
pub mod target;
pub mod tile_list;
pub mod variable;
pub(crate) mod vertex;
pub(crate) mod warning;

pub use absence::Absence;
pub use ids::{
    ArenaId, ClassId, ComputeSetId, DeviceId, IdColumn, ProgramId, StepId, TileId, UnloweredId,
    VertexTypeId,
};
pub use report::{Part, Report};
pub use system::System;
pub use warning::{Warning, WarningCode, Warnings};
