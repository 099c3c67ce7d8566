//! Typed ids, as the report numbers its rows, and the column that finds a row by its id.

use std::fmt;
use std::ops::Range;

use super::column::number;

/// A number that a report gives to the rows of one table.
pub trait Id: Copy + Ord + fmt::Debug {
    /// The id that the file writes as `number`.
    fn new(number: u32) -> Self;
    /// The number as the file writes it.
    fn number(self) -> u32;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        number! {
            $(#[$doc])*
            pub struct $name(pub u32);
        }

        impl Id for $name {
            fn new(number: u32) -> Self {
                Self(number)
            }
            fn number(self) -> u32 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// A tile, numbered over all IPUs: its IPU is tile ÷ tiles per IPU.
    TileId;
    /// A range of addresses in which things are placed ([`crate::store::arena`]).
    ArenaId;
    /// What several arenas make up: an IPU, a memory space of XLA, a GPU.
    DeviceId;
    /// A step of the depth-first walk over the programs (`depth_first_steps.id`).
    StepId;
    /// A lowered program (`programs.id`).
    ProgramId;
    /// A function that programs call (`function_programs.id`).
    FunctionId;
    /// A compute set (`compute_sets.compute_set`).
    ComputeSetId;
    /// A type of vertices (`vertex_types.id`).
    VertexTypeId;
    /// A liveness equivalence class (`eq_classes.id`).
    ClassId;
    /// A variable before lowering (`unlowered_vars.id`).
    UnloweredId;
    /// A category of stored data (`var_categories.id`).
    CategoryId;
}

impl DeviceId {
    /// The id of a device that a system numbers so. Negative numbers, such as that of pinned host memory of PyTorch, get
    /// ids from the last one downwards, which no device has.
    pub fn of_number(number: i64) -> Self {
        let of_host = |number: i64| u32::try_from(-1 - number.min(-1)).unwrap_or(u32::MAX);
        Self(u32::try_from(number).unwrap_or_else(|_| u32::MAX.saturating_sub(of_host(number))))
    }

    /// The number that a system gives it: the inverse of [`Self::of_number`].
    pub fn to_number(self) -> i64 {
        let number = i64::from(self.0);
        let is_host = number > i64::from(i32::MAX);
        if is_host { number.saturating_sub(1 << 32) } else { number }
    }
}

/// The ids of a table's rows, ascending and unique, so that a row is found by its id.
///
/// Real reports number most tables 0, 1, 2 … or 1, 2, 3 …; then a look-up costs one comparison.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Vec<T>", into = "Vec<T>")]
#[serde(bound(
    serialize = "T: Id + serde::Serialize",
    deserialize = "T: Id + serde::Deserialize<'de>"
))]
pub struct IdColumn<T> {
    ids: Vec<T>,
}

impl<T: Id> TryFrom<Vec<T>> for IdColumn<T> {
    type Error = NotAscending;

    fn try_from(ids: Vec<T>) -> Result<Self, NotAscending> {
        if ids.is_sorted_by(|a, b| a < b) { Ok(Self { ids }) } else { Err(NotAscending) }
    }
}

impl<T> From<IdColumn<T>> for Vec<T> {
    fn from(column: IdColumn<T>) -> Self {
        column.ids
    }
}

/// Ids that are to become a column come twice, or not in order.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("ids ascending and unique expected, others found")]
pub struct NotAscending;

impl<T> Default for IdColumn<T> {
    fn default() -> Self {
        Self { ids: Vec::new() }
    }
}

impl<T: Id> IdColumn<T> {
    /// Appends `id`; returns false, and appends nothing, when it is not above the last one.
    pub fn push(&mut self, id: T) -> bool {
        let ascending = self.ids.last().is_none_or(|last| *last < id);
        if ascending {
            self.ids.push(id);
        }
        ascending
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The row that has `id`.
    pub fn position(&self, id: T) -> Option<usize> {
        let first = self.ids.first()?.number();
        let guess = id.number().checked_sub(first)? as usize;
        if self.ids.get(guess) == Some(&id) {
            return Some(guess);
        }
        self.ids.binary_search(&id).ok()
    }

    /// The number of rows whose id is below `id`.
    pub fn lower_bound(&self, id: T) -> usize {
        self.ids.partition_point(|other| *other < id)
    }

    /// The rows whose ids are from one to another.
    pub fn rows_between(&self, first: T, last: T) -> Range<usize> {
        let end = self.ids.partition_point(|other| *other <= last);
        self.lower_bound(first).min(end)..end
    }

    /// The id of a row.
    pub fn get(&self, position: usize) -> Option<T> {
        self.ids.get(position).copied()
    }

    /// All ids, in the order of the rows.
    pub fn as_slice(&self) -> &[T] {
        &self.ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_in_dense_and_in_sparse_columns() {
        let mut dense = IdColumn::default();
        let mut sparse = IdColumn::default();
        for number in 0..5 {
            assert!(dense.push(TileId(number)));
            assert!(sparse.push(TileId(number * 10 + 3)));
        }
        assert!(!sparse.push(TileId(43)), "an id may not come twice");
        assert_eq!(dense.position(TileId(4)), Some(4));
        assert_eq!(dense.position(TileId(5)), None);
        assert_eq!(sparse.position(TileId(23)), Some(2));
        assert_eq!(sparse.position(TileId(2)), None);
        assert_eq!(sparse.lower_bound(TileId(24)), 3);
        assert_eq!(IdColumn::default().position(TileId(0)), None);
    }
}
