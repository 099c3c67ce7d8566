//! Liveness: classes of variables that live at the same steps, and the changes from step to step.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};

use super::absence::Absence;
use super::column::Column;
use super::ids::{ClassId, DeviceId, IdColumn, TileId, UnloweredId};
use super::list_at;
use super::names::Names;

/// Columns of `eq_classes` and `eq_class_step`.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Classes {
    /// The classes.
    pub ids: IdColumn<ClassId>,
    /// Whether a class lives as long as the program.
    pub always_live: Vec<bool>,
    /// Ranges of step positions in which classes are live, half-open, grouped by class.
    pub ranges: Vec<Range<u32>>,
    /// Where each class's ranges end in `ranges`.
    pub range_ends: Vec<usize>,
}

impl Classes {
    /// Adds a class; returns whether it is new, and so was added.
    pub fn push(
        &mut self,
        id: ClassId,
        is_always_live: bool,
        ranges: impl IntoIterator<Item = Range<u32>>,
    ) -> bool {
        let is_new = self.ids.push(id);
        if is_new {
            self.always_live.push(is_always_live);
            self.ranges.extend(ranges);
            self.range_ends.push(self.ranges.len());
        }
        is_new
    }

    /// The step positions at which a class is live, as half-open ranges.
    pub fn ranges_of(&self, position: usize) -> &[Range<u32>] {
        list_at(&self.ranges, &self.range_ends, position)
    }

    /// Whether a class lives as long as the program.
    pub fn is_always_live(&self, id: ClassId) -> bool {
        self.ids.position(id).and_then(|position| self.always_live.get(position)) == Some(&true)
    }

    /// Whether a class is live at the step at `step`; an always-live class always is.
    pub fn is_live_at(&self, id: ClassId, step: usize) -> bool {
        let Some(position) = self.ids.position(id) else { return false };
        self.always_live.get(position) == Some(&true)
            || self
                .ranges_of(position)
                .iter()
                .any(|range| range.start as usize <= step && step < range.end as usize)
    }
}

/// Bytes of one unlowered variable in one class (a row of `var_bytes_by_eq_class`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct VariableBytes {
    /// The variable before lowering.
    pub variable: UnloweredId,
    /// The class.
    pub class: ClassId,
    /// Bytes over the scope that was asked for.
    pub bytes: u64,
}

/// Columns of the rows of `var_bytes_by_eq_class` that name a tile: bytes by tile, variable and class,
/// grouped by ascending tile. 12 bytes a row.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct TileVariableBytes {
    /// The variable before lowering of each row.
    #[serde(skip)]
    pub variables: Column<UnloweredId>,
    /// The class of each row.
    #[serde(skip)]
    pub classes: Column<ClassId>,
    /// Bytes of each row.
    #[serde(skip)]
    pub bytes: Column<u32>,
    /// The tiles that have rows.
    pub tiles: IdColumn<TileId>,
    /// The rows of each tile.
    pub rows: Vec<Range<usize>>,
}

impl TileVariableBytes {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The rows of a tile; empty for a tile that has none.
    pub fn rows_of(&self, tile: TileId) -> Range<usize> {
        let position = self.tiles.position(tile);
        position.and_then(|position| self.rows.get(position)).cloned().unwrap_or(0..0)
    }

    /// The rows of the tiles from one number to another, which lie together.
    pub fn rows_between(&self, tiles: &RangeInclusive<u32>) -> Range<usize> {
        let tiles = self.tiles.rows_between(TileId(*tiles.start()), TileId(*tiles.end()));
        let start = |tile: usize| self.rows.get(tile).map_or(self.len(), |rows| rows.start);
        start(tiles.start)..start(tiles.end)
    }

    /// The contents of rows; those that are not there are left out.
    pub fn iter(&self, rows: Range<usize>) -> impl Iterator<Item = VariableBytes> {
        let variables = self.variables.get(rows.clone()).unwrap_or(&[]);
        let classes = self.classes.get(rows.clone()).unwrap_or(&[]);
        let bytes = self.bytes.get(rows).unwrap_or(&[]);
        variables.iter().zip(classes).zip(bytes).map(|((variable, class), bytes)| VariableBytes {
            variable: *variable,
            class: *class,
            bytes: u64::from(*bytes),
        })
    }

    /// Resident bytes of all rows.
    pub fn resident_bytes(&self) -> usize {
        self.variables.resident_bytes()
            + self.classes.resident_bytes()
            + self.bytes.resident_bytes()
    }
}

/// The not-always-live bytes of a run over its steps: as changes from step to step, (step position, bytes), ascending, or
/// as what is there at each step.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Deltas {
    /// Of the whole system.
    pub everything: Vec<(u32, i64)>,
    /// Of each device that has any.
    pub by_device: BTreeMap<DeviceId, Vec<(u32, i64)>>,
    /// The bytes at each step of devices that change at nearly every one, and so have no changes.
    pub levels: BTreeMap<DeviceId, Vec<u64>>,
}

impl Deltas {
    /// The devices that have a curve of their own.
    pub fn devices(&self) -> BTreeSet<DeviceId> {
        self.by_device.keys().chain(self.levels.keys()).copied().collect()
    }
}

/// Liveness of the whole program.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Liveness {
    /// The classes.
    pub classes: Classes,
    /// Variables before lowering, and pseudo variables such as `<anon>` or `vertexCode`.
    pub variable_ids: IdColumn<UnloweredId>,
    /// Their names, not unique.
    pub variable_names: Names,
    /// Debug contexts of all variables (`debug_ids`), end to end, ascending within each; without 0,
    /// which is none.
    pub debug_ids: Vec<u64>,
    /// Where each variable's contexts end in `debug_ids`; empty where the file has none.
    pub debug_id_ends: Vec<usize>,
    /// Bytes by variable and class, over all tiles; `None` where the table cannot be read.
    pub variable_bytes: Option<Vec<VariableBytes>>,
    /// Why there are none.
    pub why_no_variable_bytes: Option<Absence>,
    /// The same where variables have addresses in common: each address counted once, so that what is live adds up to the
    /// curve. A variable to which more counts at some steps than at others has a class for each number of bytes. `None`
    /// where that is no other than [`Self::variable_bytes`].
    #[serde(skip)]
    pub counted_bytes: Option<Vec<VariableBytes>>,
    /// The counted bytes of single devices, where they do not follow from the bytes by tile.
    #[serde(skip)]
    pub counted_bytes_of_devices: BTreeMap<DeviceId, Vec<VariableBytes>>,
    /// Of a class that counted bytes have and that is a part of a life, the class of the whole life.
    #[serde(skip)]
    pub whole_lives: BTreeMap<ClassId, ClassId>,
}

impl Liveness {
    /// The name of a variable before lowering, `None` when it is not in the file.
    pub fn variable_name(&self, id: UnloweredId) -> Option<&str> {
        self.variable_names.at(self.variable_ids.position(id)?)
    }

    /// The first variable before lowering that has a name.
    pub fn variable_named(&self, name: &str) -> Option<UnloweredId> {
        let place = self.variable_names.iter().position(|other| other == name)?;
        self.variable_ids.as_slice().get(place).copied()
    }

    /// Bytes by variable and class over all arenas, each address counted once.
    pub fn counted_bytes(&self) -> Option<&[VariableBytes]> {
        self.counted_bytes.as_deref().or(self.variable_bytes.as_deref())
    }

    /// The class of the whole life that a class is a part of.
    pub fn whole_life(&self, class: ClassId) -> ClassId {
        self.whole_lives.get(&class).copied().unwrap_or(class)
    }

    /// The debug contexts of the variable at a position, several for those that count together.
    pub fn debug_ids_of(&self, position: usize) -> &[u64] {
        list_at(&self.debug_ids, &self.debug_id_ends, position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_tile_and_by_range_of_tiles() {
        let mut table = TileVariableBytes::default();
        for (tile, rows) in [(2, 0..2), (3, 2..3), (9, 3..5)] {
            table.tiles.push(TileId(tile));
            for row in rows.clone() {
                table.variables.push(UnloweredId(tile));
                table.classes.push(ClassId(0));
                table.bytes.push(u32::try_from(row).unwrap_or(0));
            }
            table.rows.push(rows);
        }
        assert_eq!(table.rows_of(TileId(3)), 2..3);
        assert_eq!(table.rows_of(TileId(4)), 0..0);
        assert_eq!(table.rows_between(&(0..=3)), 0..3);
        assert_eq!(table.rows_between(&(4..=8)), 3..3);
        assert_eq!(table.rows_between(&(3..=u32::MAX)), 2..5);
        assert!(table.rows_between(&(10..=11)).is_empty());
        assert_eq!(table.iter(3..5).map(|row| row.bytes).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(table.iter(4..9).count(), 0);
    }
}
