//! The changes from step to step with each other and with the lives of variables; classes with their steps.

use super::differences::{Checked, Differences};
use super::{is_of_all_tiles, nowhere};
use crate::analysis::memory::sum;
use crate::store::Report;
use crate::store::liveness::{Classes, Liveness, VariableBytes};
use crate::store::program::Steps;

/// Changes of a curve at step positions.
pub type SignedChanges = Vec<(u32, i64)>;

const DELTAS: &str = "table memory_not_always_live_by_step_and_ipu";

pub fn compare(report: &Report, differences: &mut Differences) {
    let (Some(liveness), Some(steps)) = (report.liveness.get(), report.steps.get()) else { return };
    compare_deltas(report, steps, differences);
    let Some(rows) = &liveness.variable_bytes else { return };
    let classes = &liveness.classes;
    let by_class = bytes_by_class(classes, rows);
    compare_classes(classes, &by_class, steps, differences);
    compare_variables(liveness, rows, differences);
    if let Some(deltas) = report.deltas.get().filter(|deltas| !deltas.everything.is_empty()) {
        let kind = (DELTAS, "var_bytes_by_eq_class and eq_class_step");
        let expected = changes(classes, &by_class, steps);
        let place = |step| format!(", all IPUs, step {step}");
        compare_curves(kind, &deltas.everything, expected, steps, place, differences);
    }
    if let Some(memory) = report.memory.get().filter(|_| is_of_all_tiles(report)) {
        let kind = ("table memory_by_tile, column always_live_bytes", "var_bytes_by_eq_class");
        let always_live = classes.always_live.iter().zip(&by_class).filter(|(is, _)| **is);
        let expected = always_live.fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        let place = || ", sum of all tiles".to_owned();
        differences.compare(kind, place, sum(&memory.always_live), expected);
    }
}

/// The changes of all IPUs together are those of everything.
fn compare_deltas(report: &Report, steps: &Steps, differences: &mut Differences) {
    let Some(deltas) = report.deltas.get() else { return };
    if deltas.everything.is_empty() || deltas.by_device.is_empty() {
        return;
    }
    let of_devices: SignedChanges = deltas.by_device.values().flatten().copied().collect();
    let kind = (DELTAS, "the sum of its IPUs");
    let place = |step| format!(", all IPUs, step {step}");
    compare_curves(kind, &deltas.everything, of_devices, steps, place, differences);
}

/// A class that is always live is so at all steps; any other that has bytes at some.
fn compare_classes(
    classes: &Classes,
    by_class: &[u64],
    steps: &Steps,
    differences: &mut Differences,
) {
    for (row, (id, is_always_live)) in
        classes.ids.as_slice().iter().zip(&classes.always_live).enumerate()
    {
        let ranges = classes.ranges_of(row).iter();
        let of_class: u64 =
            ranges.map(|range| u64::from(range.end.saturating_sub(range.start))).sum();
        let place = || format!(", class {id}");
        if *is_always_live {
            let kind = ("table eq_class_step, steps", "eq_classes.is_always_live");
            differences.compare(kind, place, of_class, steps.ids.len() as u64);
        } else if by_class.get(row).is_some_and(|bytes| *bytes > 0) && of_class == 0 {
            let kind = ("table eq_class_step, rows", "the bytes in var_bytes_by_eq_class");
            differences.add(kind, place, "none", "some");
        }
    }
}

/// Bytes are of variables that there are.
fn compare_variables(liveness: &Liveness, rows: &[VariableBytes], differences: &mut Differences) {
    let is_absent = |row: &&VariableBytes| liveness.variable_ids.position(row.variable).is_none();
    if let Some(row) = rows.iter().find(is_absent) {
        let kind = ("table var_bytes_by_eq_class, column unlowered_var_id", "unlowered_vars");
        let expected = format!("one of {} variables", liveness.variable_ids.len());
        differences.add(kind, nowhere, row.variable, expected);
    }
}

/// Bytes of each class, by its position.
pub fn bytes_by_class(classes: &Classes, rows: &[VariableBytes]) -> Vec<u64> {
    let mut bytes = vec![0_u64; classes.ids.len()];
    for row in rows {
        let position = classes.ids.position(row.class);
        if let Some(sum) = position.and_then(|position| bytes.get_mut(position)) {
            *sum = sum.saturating_add(row.bytes);
        }
    }
    bytes
}

/// The changes of what is not always live, from the bytes of each class.
pub fn changes(classes: &Classes, by_class: &[u64], steps: &Steps) -> SignedChanges {
    let mut changes = SignedChanges::new();
    for (class, bytes) in by_class.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
        add_changes(classes, class, *bytes, steps.ids.len(), &mut changes);
    }
    changes
}

/// Adds the changes of a class unless it is always live.
pub fn add_changes(
    classes: &Classes,
    class: usize,
    bytes: u64,
    steps: usize,
    changes: &mut SignedChanges,
) {
    if classes.always_live.get(class) == Some(&true) {
        return;
    }
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    for range in classes.ranges_of(class) {
        changes.push((range.start, bytes));
        if (range.end as usize) < steps {
            changes.push((range.end, bytes.saturating_neg()));
        }
    }
}

/// Compares the levels of two curves wherever one of them changes.
pub fn compare_curves(
    kind: Checked,
    found: &SignedChanges,
    mut expected: SignedChanges,
    steps: &Steps,
    place: impl Fn(String) -> String,
    differences: &mut Differences,
) {
    let mut found: Vec<(u32, i64)> = found.clone();
    found.sort_unstable();
    expected.sort_unstable();
    let (mut found, mut expected) = (found.into_iter().peekable(), expected.into_iter().peekable());
    let (mut level, mut expected_level) = (0_i64, 0_i64);
    loop {
        let next = [found.peek(), expected.peek()].into_iter().flatten().map(|(step, _)| *step);
        let Some(step) = next.min() else { return };
        while let Some((_, bytes)) = found.next_if(|(at, _)| *at == step) {
            level = level.saturating_add(bytes);
        }
        while let Some((_, bytes)) = expected.next_if(|(at, _)| *at == step) {
            expected_level = expected_level.saturating_add(bytes);
        }
        let id = || steps.ids.get(step as usize).map_or("?".to_owned(), |step| step.to_string());
        let bytes = |level: i64| u64::try_from(level).unwrap_or(0);
        differences.compare(kind, || place(id()), bytes(level), bytes(expected_level));
    }
}
