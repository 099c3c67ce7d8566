//! Classes, unlowered variables, and the changes of memory from step to step.

use std::ops::Range;

use crate::format::sqlite::{NumberedRows, Only, ROW_ID, Tables};
use crate::limits::{self, Lives};
use crate::store::WarningCode;
use crate::store::ids::{ClassId, DeviceId, StepId, UnloweredId};
use crate::store::liveness::{Classes, Deltas, Liveness, VariableBytes};
use crate::store::program::Steps;
use crate::systems::poplar::files::{absent, blob};

/// What is wrong with rows whose classes live and die more often than those of a report do together.
pub const TOO_MANY_LIVES: &str = "its class lives too often to be named by so many rows";

/// Reads what the liveness page needs at first beside the curves: classes, names, bytes over all tiles.
pub fn read_liveness(tables: &Tables<'_>, steps: &Steps) -> Option<Liveness> {
    let mut liveness = Liveness { classes: read_classes(tables, steps)?, ..Liveness::default() };
    tables.rows(&NumberedRows::all("unlowered_vars", &["id", "name"], "id"), |cells| {
        if cells.next_id(&mut liveness.variable_ids, "a variable comes twice, or out of order") {
            liveness.variable_names.push(&cells.text(1).unwrap_or_default());
        }
    });
    read_debug_ids(tables, &mut liveness);
    liveness.variable_bytes = read_variable_bytes(tables, &liveness.classes, Only::Null("tile"));
    liveness.why_no_variable_bytes = liveness.variable_bytes.is_none().then(absent::variable_bytes);
    Some(liveness)
}

/// Reads the debug contexts of variables, which are there.
fn read_debug_ids(tables: &Tables<'_>, liveness: &mut Liveness) {
    let mut pairs: Vec<(usize, u64)> = Vec::new();
    tables.rows(&NumberedRows::all("debug_ids", &["variable_id", "ids"], ROW_ID), |cells| {
        let Some(variable) = cells.required32(0) else { return };
        let Some(position) = liveness.variable_ids.position(UnloweredId(variable)) else {
            cells.damage(0, "table unlowered_vars has no such variable");
            return;
        };
        if pairs.len() > limits::ALL_LIST_NUMBERS {
            cells.damage(1, "more debug contexts than all variables of a report have");
            return;
        }
        let ids = cells.decode(1, blob::list).unwrap_or_default();
        pairs.extend(ids.into_iter().filter(|id| *id != 0).map(|id| (position, id)));
    });
    pairs.sort_unstable();
    pairs.dedup();
    let mut sorted = pairs.into_iter().peekable();
    for position in 0..liveness.variable_ids.len() {
        while let Some((_, id)) = sorted.next_if(|(owner, _)| *owner == position) {
            liveness.debug_ids.push(id);
        }
        liveness.debug_id_ends.push(liveness.debug_ids.len());
    }
}

/// Reads the bytes by variable and class on tiles `first` to `last`; rows of the same variable and
/// class on several tiles stay apart. Scans the table: it has no index on tiles.
pub fn read_variable_bytes_on_tiles(
    tables: &Tables<'_>,
    classes: &Classes,
    first: u32,
    last: u32,
) -> Option<Vec<VariableBytes>> {
    read_variable_bytes(tables, classes, Only::Between("tile", first, last))
}

fn read_variable_bytes(
    tables: &Tables<'_>,
    classes: &Classes,
    only: Only<'_>,
) -> Option<Vec<VariableBytes>> {
    // Without the column `tile` totals and parts cannot be told apart.
    const TABLE: &str = "var_bytes_by_eq_class";
    let columns = ["unlowered_var_id", "eq_class_id", "bytes", "tile"];
    if !tables.has_columns(TABLE, &columns) {
        return None;
    }
    let mut lives = Lives::of_part(1);
    let mut rows = Vec::new();
    let wanted = NumberedRows { only: Some(only), ..NumberedRows::all(TABLE, &columns, ROW_ID) };
    let found = tables.rows(&wanted, |cells| {
        let row = (cells.required32(0), cells.required32(1), cells.required(2));
        let (Some(variable), Some(class), Some(bytes)) = row else { return };
        // Variables without a place have class 0, which eq_classes does not list, and 0 bytes.
        match classes.ids.position(ClassId(class)) {
            None if bytes > 0 => cells.damage(1, &format!("table eq_classes has no class {class}")),
            Some(position) if !lives.take(classes.ranges_of(position).len()) => {
                cells.damage(1, TOO_MANY_LIVES);
                return;
            }
            _ => {}
        }
        rows.push(VariableBytes { variable: UnloweredId(variable), class: ClassId(class), bytes });
    });
    found.then_some(rows)
}

fn read_classes(tables: &Tables<'_>, steps: &Steps) -> Option<Classes> {
    let mut classes = Classes::default();
    let found =
        tables.rows(&NumberedRows::all("eq_classes", &["id", "is_always_live"], "id"), |cells| {
            if cells.next_id(&mut classes.ids, "a class comes twice, or out of order") {
                classes.always_live.push(cells.required(1).is_some_and(|flag| flag != 0));
            }
        });
    if !found {
        return None;
    }
    let columns = ["eq_class_id", "step_id_from", "step_id_to"];
    let mut ranges: Vec<(usize, Range<u32>)> = Vec::new();
    tables.rows(&NumberedRows::all("eq_class_step", &columns, ROW_ID), |cells| {
        let row = (cells.required32(0), cells.required32(1), cells.required32(2));
        let (Some(class), Some(from), Some(to)) = row else { return };
        let Some(class) = classes.ids.position(ClassId(class)) else {
            cells.damage(0, "table eq_classes has no such class");
            return;
        };
        if from > to {
            cells.damage(2, &format!("at least step_id_from, {from}, expected, {to} found"));
            return;
        }
        let position =
            |step| u32::try_from(steps.ids.lower_bound(StepId(step))).unwrap_or(u32::MAX);
        ranges.push((class, position(from)..position(to)));
    });
    ranges.sort_by_key(|(class, range)| (*class, range.start));
    let mut sorted = ranges.into_iter().peekable();
    for class in 0..classes.ids.len() {
        while let Some((_, range)) = sorted.next_if(|(owner, _)| *owner == class) {
            classes.ranges.push(range);
        }
        classes.range_ends.push(classes.ranges.len());
    }
    Some(classes)
}

/// Reads `memory_not_always_live_by_step_and_ipu`: rows without an IPU are the whole system.
pub fn read_deltas(tables: &Tables<'_>, steps: &Steps) -> Option<Deltas> {
    const TABLE: &str = "memory_not_always_live_by_step_and_ipu";
    let columns = ["step_id", "ipu", "delta_bytes"];
    if !tables.has_columns(TABLE, &columns) {
        return None;
    }
    let mut deltas = Deltas::default();
    tables.rows(&NumberedRows::all(TABLE, &columns, ROW_ID), |cells| {
        let (Some(step), Some(delta)) = (cells.required32(0), cells.signed(2)) else { return };
        let Some(step) = steps.ids.position(StepId(step)) else {
            cells.damage(0, "table depth_first_steps has no such step");
            return;
        };
        let row = (u32::try_from(step).unwrap_or(u32::MAX), delta);
        if cells.is_null(1) {
            deltas.everything.push(row);
        } else if let Some(ipu) = cells.number32(1) {
            deltas.by_device.entry(DeviceId(ipu)).or_default().push(row);
        }
    });
    let mut is_negative = false;
    for rows in deltas.by_device.values_mut().chain([&mut deltas.everything]) {
        rows.sort_by_key(|(step, _)| *step);
        let mut level = 0_i64;
        for (_, delta) in rows {
            level = level.saturating_add(*delta);
            is_negative |= level < 0;
        }
    }
    if is_negative {
        tables.warn(
            WarningCode::Inconsistent,
            format!("table {TABLE}: the deltas add up to less than 0 bytes; shown as 0"),
        );
    }
    Some(deltas)
}
