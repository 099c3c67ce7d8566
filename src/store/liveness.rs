//! Liveness: classes of variables that live at the same steps, and the changes from step to step.

use std::collections::BTreeMap;
use std::ops::Range;

use super::ids::{ClassId, IdColumn, UnloweredId};
use super::names::Names;

/// Columns of `eq_classes` and `eq_class_step`.
#[derive(Clone, Debug, Default)]
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
    /// The step positions at which a class is live, as half-open ranges.
    pub fn ranges_of(&self, position: usize) -> &[Range<u32>] {
        let end = self.range_ends.get(position).copied().unwrap_or(0);
        let start = match position.checked_sub(1) {
            Some(before) => self.range_ends.get(before).copied().unwrap_or(0),
            None => 0,
        };
        self.ranges.get(start..end).unwrap_or(&[])
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableBytes {
    /// The variable before lowering.
    pub variable: UnloweredId,
    /// The class.
    pub class: ClassId,
    /// Bytes over the scope that was asked for.
    pub bytes: u64,
}

/// Changes of the not-always-live bytes from step to step, as (step position, bytes), ascending.
#[derive(Clone, Debug, Default)]
pub struct Deltas {
    /// Of the whole system.
    pub everything: Vec<(u32, i64)>,
    /// Of each IPU that has any.
    pub by_ipu: BTreeMap<u32, Vec<(u32, i64)>>,
}

/// Liveness of the whole program.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    /// The classes.
    pub classes: Classes,
    /// Variables before lowering, and pseudo variables such as `<anon>` or `vertexCode`.
    pub variable_ids: IdColumn<UnloweredId>,
    /// Their names, not unique.
    pub variable_names: Names,
    /// Bytes by variable and class, over all tiles; `None` where the table cannot be read.
    pub variable_bytes: Option<Vec<VariableBytes>>,
    /// Changes of memory from step to step; `None` where the table cannot be read.
    pub deltas: Option<Deltas>,
}

impl Liveness {
    /// The name of a variable before lowering, `None` when it is not in the file.
    pub fn variable_name(&self, id: UnloweredId) -> Option<&str> {
        self.variable_names.at(self.variable_ids.position(id)?)
    }
}
