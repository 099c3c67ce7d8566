//! What is selected, on all pages alike.

use crate::store::TileId;

/// The selected things of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// A tile.
    pub tile: Option<TileId>,
    /// The position of a step.
    pub step: Option<usize>,
}
