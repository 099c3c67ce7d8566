//! From contexts as they stand in the file to the store: sorted by id, with their parents.

use std::ops::Deref;

use crate::limits;
use crate::store::column::{Column, Element};
use crate::store::debug_info::{Context, ContextRow, DebugInfo, Layers, cut_cycles};
use crate::store::names::Names;
use crate::store::{WarningCode, Warnings};

/// Contexts in the order of the file.
#[derive(Debug, Default)]
pub struct FoundContexts {
    columns: DebugInfo,
    /// The id of each one's parent, 0 for none.
    parents: Vec<u64>,
}

impl FoundContexts {
    /// Appends a context with the id of its parent; false where there are more than can be numbered.
    pub fn push(&mut self, context: Context, parent: u64) -> bool {
        let is_numbered = self.len() < ContextRow::NONE.0 as usize;
        if is_numbered {
            self.columns.push_without_parent(context);
            self.parents.push(parent);
        }
        is_numbered
    }

    pub fn len(&self) -> usize {
        self.parents.len()
    }
}

/// The software layers that write contexts.
pub fn layers() -> Layers {
    const TITLES: [(&str, &str); 9] = [
        ("poplar", "Poplar"),
        ("poplibs", "PopLibs"),
        ("popart", "PopART"),
        ("popartbuilder", "PopART builder"),
        ("onnx", "ONNX"),
        ("poptorch", "PyTorch"),
        ("xla_op", "TensorFlow"),
        ("hloinstruction", "TensorFlow HLO"),
        ("poplar_driver", "TensorFlow driver"),
    ];
    Layers {
        titles: TITLES.map(|(name, title)| (name.to_owned(), title.to_owned())).to_vec(),
        calls: "poplibs".to_owned(),
        machine: "poplar".to_owned(),
    }
}

/// Sorts the contexts by id, finds parents, and cuts what would be its own ancestor.
pub fn assemble(
    found: FoundContexts,
    [words, arguments, texts]: [Names; 3],
    name: &str,
    warnings: &Warnings,
) -> DebugInfo {
    let FoundContexts { mut columns, parents: parent_ids } = found;
    let id = |row: &u32| columns.ids.get(*row as usize).copied().unwrap_or(0);
    let mut order: Vec<u32> = (0..).take(parent_ids.len()).collect();
    order.sort_by_key(id);
    let before = order.len();
    order.dedup_by_key(|row| id(row));
    let repeated = before.saturating_sub(order.len());
    if repeated > 0 {
        warnings.add(
            WarningCode::Inconsistent,
            name,
            format!("{repeated} contexts have the id of another one; the first of each counts"),
        );
    }
    // One after the other, so that no more than one is there twice.
    columns.ids = in_order(columns.ids, &order);
    let mut parents: Vec<ContextRow> = parent_rows(&columns.ids, &parent_ids, &order);
    drop(parent_ids);
    columns.layers = in_order(columns.layers, &order);
    columns.kinds = in_order(columns.kinds, &order);
    columns.names = in_order(columns.names, &order);
    columns.files = in_order(columns.files, &order);
    columns.lines = in_order(columns.lines, &order);
    columns.offsets = in_order(columns.offsets, &order);
    let places = places_of_rows(before, &order);
    drop(order);
    in_order_of_rows(&mut columns.proportions, &places);
    in_order_of_rows(&mut columns.partials_types, &places);
    in_order_of_rows(&mut columns.sources, &places);
    in_order_of_rows(&mut columns.with_arguments, &places);
    drop(places);
    if let Some(row) = cut_cycles(&mut parents) {
        let id = columns.ids.get(row).copied().unwrap_or(0);
        warnings.add(
            WarningCode::Inconsistent,
            name,
            format!("context {id} is its own ancestor; its parentId is ignored"),
        );
    }
    let cut = cut_deep(&mut parents);
    if cut > 0 {
        let most = limits::CONTEXT_DEPTH;
        let message =
            format!("{cut} contexts are nested deeper than {most}; their parentId is ignored");
        warnings.add(WarningCode::Inconsistent, name, message);
    }
    let known_layers = layers();
    DebugInfo { parents: parents.into(), words, arguments, texts, known_layers, ..columns }
}

/// Removes the link of every row that has more rows above it than the budget; returns how many. There are no cycles.
fn cut_deep(parents: &mut [ContextRow]) -> usize {
    let mut cut = 0_usize;
    // Rows from a row up to its root, 0 for one that was not looked at.
    let mut depths: Vec<u16> = vec![0; parents.len()];
    let mut way = Vec::new();
    for start in 0..parents.len() {
        let mut next = Some(start);
        let mut depth = 0_u16;
        while let Some(row) = next {
            depth = depths.get(row).copied().unwrap_or(0);
            if depth > 0 {
                break;
            }
            way.push(row);
            let parent = parents.get(row).filter(|parent| **parent != ContextRow::NONE);
            next = parent.map(|parent| parent.0 as usize);
        }
        while let Some(row) = way.pop() {
            depth = depth.saturating_add(1);
            if usize::from(depth) > limits::CONTEXT_DEPTH {
                depth = 1;
                cut = cut.saturating_add(1);
                if let Some(link) = parents.get_mut(row) {
                    *link = ContextRow::NONE;
                }
            }
            if let Some(known) = depths.get_mut(row) {
                *known = depth;
            }
        }
    }
    cut
}

fn in_order<T: Element>(column: impl Deref<Target = [T]>, order: &[u32]) -> Column<T> {
    order.iter().filter_map(|row| column.get(*row as usize).copied()).collect()
}

/// Where each of so many rows is in the order; `u32::MAX` for those that were left out.
fn places_of_rows(rows: usize, order: &[u32]) -> Vec<u32> {
    let mut places = vec![u32::MAX; rows];
    for (place, row) in (0..).zip(order) {
        if let Some(of_row) = places.get_mut(*row as usize) {
            *of_row = place;
        }
    }
    places
}

/// Brings into order what only some rows have; those of rows that are left out go.
fn in_order_of_rows<T>(of_rows: &mut Vec<(u32, T)>, places: &[u32]) {
    of_rows.retain_mut(|(row, _)| {
        *row = places.get(*row as usize).copied().unwrap_or(u32::MAX);
        *row != u32::MAX
    });
    of_rows.sort_unstable_by_key(|(row, _)| *row);
}

/// The row of each parent by its id, in order; ids ascend.
fn parent_rows(ids: &[u64], parents: &[u64], order: &[u32]) -> Vec<ContextRow> {
    let row_of = |parent: &u64| {
        let row = ids.binary_search(parent).ok().filter(|_| *parent != 0)?;
        u32::try_from(row).ok().map(ContextRow)
    };
    let of_row = |row: &u32| row_of(parents.get(*row as usize)?);
    order.iter().map(|row| of_row(row).unwrap_or(ContextRow::NONE)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::debug_info::Proportion;
    use proptest::prelude::*;

    #[test]
    fn no_context_has_more_above_it_than_the_budget() {
        let rows = 10_000_u32;
        for is_reversed in [false, true] {
            let later = |row: u32| row.checked_add(1).filter(|parent| *parent < rows);
            let parent = |row: u32| if is_reversed { later(row) } else { row.checked_sub(1) };
            let parents = (0..rows).map(|row| parent(row).map_or(ContextRow::NONE, ContextRow));
            let mut parents: Vec<ContextRow> = parents.collect();
            assert_eq!(cut_deep(&mut parents), (rows as usize - 1) / limits::CONTEXT_DEPTH);
            for start in 0..parents.len() {
                let parent = |row: &usize| Some(parents.get(*row)?.0 as usize);
                let walk = std::iter::successors(Some(start), parent).take(1000);
                assert!(walk.filter(|row| *row < parents.len()).count() <= limits::CONTEXT_DEPTH);
            }
        }
    }

    proptest! {
        /// Whatever the order in the file is, of each id the first context counts.
        #[test]
        fn contexts_are_found_by_their_ids(
            rows in proptest::collection::vec((1..30_u64, 0..30_u64, any::<bool>()), 0..40),
        ) {
            let mut found = FoundContexts::default();
            for (line, (id, parent, has_option)) in (0..).zip(&rows) {
                let proportion = Proportion::Value(f64::from(line));
                let proportion = if *has_option { proportion } else { Proportion::Absent };
                let context = Context { line, proportion, ..Context::of(*id) };
                prop_assert!(found.push(context, *parent));
            }
            let debug = assemble(found, Default::default(), "", &Warnings::default());
            prop_assert!(debug.has_sound_parents());
            let first = |id: u64| rows.iter().position(|(other, ..)| *other == id);
            for id in 0..31 {
                let Some(line) = first(id) else {
                    prop_assert_eq!(debug.position(id), None);
                    continue;
                };
                let row = debug.position(id).expect("a context");
                prop_assert_eq!(debug.lines[row] as usize, line);
                let (_, parent, has_option) = rows[line];
                let value = Proportion::Value(line as f64);
                prop_assert_eq!(debug.proportion(row), if has_option { value } else { Proportion::Absent });
                if let Some(found) = debug.parent(row) {
                    prop_assert_eq!(debug.ids[found], parent);
                } else {
                    // Absent, or a link of a cycle.
                    let above = |id: &u64| Some(rows[first(*id)?].1);
                    let mut ancestors = std::iter::successors(Some(parent), above).take(40);
                    prop_assert!(first(parent).is_none() || ancestors.any(|it| it == id));
                }
            }
        }
    }
}
