//! Lowered variables: what lies where on which tile.
//!
//! Reports have up to ten million of them, so what stays resident is [`LoweredVariables`], 19 bytes
//! a variable (23 where `var_id` is not consecutive). Names, alignments and constraints are read for
//! one tile when they are needed ([`crate::store::placed::Placed`]).

use std::ops::{Range, RangeInclusive};

use super::column::{Column, number};
use super::ids::{ClassId, IdColumn, TileId, UnloweredId};

number! {
    /// The bits of `vars_info.bitset` (formats/poplar.md 2.4).
    pub struct VariableFlags(pub u16);
}

impl VariableFlags {
    /// Whether the variable has a place on its tile; if not, it takes no memory.
    pub fn is_allocated(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether it must lie in interleaved memory.
    pub fn must_be_interleaved(self) -> bool {
        self.0 & 0x80 != 0
    }
}

/// A variable of which the offset or the size has more than 32 bits. No tile has such memory; it is shown where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WideVariable {
    /// Its row.
    pub row: u32,
    /// Offset within the tile's memory, bytes.
    pub offset: u64,
    /// Size, bytes.
    pub bytes: u64,
}

/// Columns of `vars_info`, one row a lowered variable, grouped by tile.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct LoweredVariables {
    /// Offset within the tile's memory, bytes, or 2³² - 1; [`LoweredVariables::offset`] knows more of such.
    #[serde(skip)]
    pub offsets: Column<u32>,
    /// Size, bytes, or 2³² - 1; [`LoweredVariables::size`] knows more of such.
    #[serde(skip)]
    pub bytes: Column<u32>,
    /// Liveness class.
    #[serde(skip)]
    pub classes: Column<ClassId>,
    /// The variable that it was lowered from; [`LoweredVariables::NO_UNLOWERED`] for none.
    #[serde(skip)]
    pub unlowered: Column<UnloweredId>,
    /// Category, a row of `var_categories`; 255 for one that no row describes.
    #[serde(skip)]
    pub categories: Column<u8>,
    /// The bitset.
    #[serde(skip)]
    pub flags: Column<VariableFlags>,
    /// The tiles that have variables.
    pub tiles: IdColumn<TileId>,
    /// The rows of each tile.
    pub rows: Vec<Range<u32>>,
    /// `var_id` of the first row.
    pub first_id: u32,
    /// Those that need more than 32 bits, by row.
    pub wide: Vec<WideVariable>,
    /// `var_id` of every row, only where they are not consecutive from `first_id`.
    #[serde(skip)]
    pub ids: Option<Column<u32>>,
}

impl LoweredVariables {
    /// Stands in `unlowered` where there is no unlowered variable.
    pub const NO_UNLOWERED: UnloweredId = UnloweredId(u32::MAX);

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The offset of a row within its tile's memory, bytes.
    #[inline]
    pub fn offset(&self, row: usize) -> Option<u64> {
        let offset = *self.offsets.get(row)?;
        Some(self.wide_at(row, offset).map_or(u64::from(offset), |wide| wide.offset))
    }

    /// The size of a row, bytes.
    #[inline]
    pub fn size(&self, row: usize) -> Option<u64> {
        let bytes = *self.bytes.get(row)?;
        Some(self.wide_at(row, bytes).map_or(u64::from(bytes), |wide| wide.bytes))
    }

    #[inline]
    fn wide_at(&self, row: usize, number: u32) -> Option<&WideVariable> {
        if number < u32::MAX {
            return None;
        }
        let found = self.wide.binary_search_by_key(&row, |wide| wide.row as usize).ok()?;
        self.wide.get(found)
    }

    /// Resident bytes of all rows.
    pub fn resident_bytes(&self) -> usize {
        let of_ids = self.ids.as_ref().map_or(0, Column::resident_bytes);
        self.offsets.resident_bytes()
            + self.bytes.resident_bytes()
            + self.classes.resident_bytes()
            + self.unlowered.resident_bytes()
            + self.categories.resident_bytes()
            + self.flags.resident_bytes()
            + of_ids
    }

    /// The smallest range of `var_id` that holds all of a tile's rows.
    pub fn id_range(&self, tile: TileId) -> Option<RangeInclusive<u32>> {
        let rows = self.rows_of(tile);
        let last = rows.end.checked_sub(1).filter(|last| *last >= rows.start)?;
        match &self.ids {
            Some(ids) => Some(*ids.get(rows.start)?..=*ids.get(last)?),
            None => {
                let id = |row: usize| Some(self.first_id + u32::try_from(row).ok()?);
                Some(id(rows.start)?..=id(last)?)
            }
        }
    }

    /// The rows of a tile.
    pub fn rows_of(&self, tile: TileId) -> Range<usize> {
        match self.tiles.position(tile).and_then(|position| self.rows.get(position)) {
            Some(range) => range.start as usize..range.end as usize,
            None => 0..0,
        }
    }
}
