//! The calls of a run, where each step is one call of the user's code: a table with a row for each, in columns that the system
//! names.

use super::section::Cell;
use crate::store::DeviceId;

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallUnit {
    /// Words.
    Words,
    /// Bytes.
    Bytes,
    /// A number; its column says of what.
    Number,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallColumn {
    /// Its key in answers for programs; figures have their unit in it.
    pub key: &'static str,
    /// Its title; units that are no bytes stand in it.
    pub title: &'static str,
    /// What its cells are.
    pub unit: CallUnit,
    /// How it is counted.
    pub rule: &'static str,
}

/// All calls of a run. The first column is the name of what was called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallList {
    /// The columns.
    pub columns: Vec<CallColumn>,
    /// The calls, device by device, in the order in which they were made.
    pub calls: Vec<CallRow>,
    /// What is not a figure of the device, and what is not known.
    pub note: &'static str,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// The device whose step it is.
    pub device: DeviceId,
    /// The step, a position.
    pub step: usize,
    /// Its cells, one for each column.
    pub cells: Vec<Cell>,
}
