//! Bytes alive at a moment by the path in the names of operations, as nested ranges: a module is as wide as everything
//! in it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::consists::rows_of_one;
use crate::analysis::comparison::contribution::Contributor;
use crate::analysis::comparison::explanation::{Explanation, GroupedBy};
use crate::analysis::spans::{SpanRow, SpanRows};

/// Parts of a path that are told apart; what is deeper stays with the last of them.
const MOST_PARTS: usize = 24;

/// The tree: a row for each depth, of which the first is all that is alive.
#[derive(Clone, Debug, Default)]
pub struct ModuleTree {
    /// Bytes as places of an axis.
    pub spans: SpanRows,
    /// What each range is called beside those around it, by its number: a part of a path; empty for all together.
    names: Vec<String>,
    /// The range around each, by its number; of all together itself.
    parents: Vec<u32>,
    /// What is taken off because several share it, bytes.
    pub shared_bytes: u64,
}

#[derive(Default)]
struct ModuleNode {
    bytes: u64,
    below: BTreeMap<String, ModuleNode>,
}

impl ModuleTree {
    /// Of what a moment consists of; `None` where it does not name operations.
    pub fn of(found: &Explanation) -> Option<Self> {
        let rows = rows_of_one(found.grouping(GroupedBy::Operation)?);
        let mut root = ModuleNode::default();
        let mut shared_bytes = 0_u64;
        for (row, bytes) in rows {
            let Ok(bytes) = u64::try_from(bytes) else {
                shared_bytes = shared_bytes.saturating_add(bytes.unsigned_abs());
                continue;
            };
            match &row.contributor {
                Contributor::Operation(name) => match &name.name {
                    Some(path) => root.add(parts_of(path), bytes),
                    None => root.add(std::iter::once(name.title()), bytes),
                },
                other => root.add(std::iter::once(&*other.title()), bytes),
            }
        }
        let mut rows: Vec<NameRow> = Vec::new();
        root.lay_out(0, 0, 0, "", &mut rows);
        Some(Self::of_rows(rows, shared_bytes))
    }

    fn of_rows(rows: Vec<NameRow>, shared_bytes: u64) -> Self {
        let mut tree = Self { shared_bytes, ..Self::default() };
        let (mut spans, mut above) = (Vec::new(), 0_usize);
        for row in rows {
            let first = tree.names.len();
            let number = |place: usize| u32::try_from(above.saturating_add(place)).unwrap_or(0);
            tree.parents.extend(row.parents.into_iter().map(number));
            tree.names.extend(row.names);
            spans.push(SpanRow::of(row.starts, row.ends, Vec::new()));
            above = first;
        }
        tree.spans = SpanRows::of(spans);
        tree
    }

    /// The bytes of a range.
    pub fn bytes(&self, number: u32) -> u64 {
        self.spans.get(number).map_or(0, |(start, end)| end.saturating_sub(start))
    }

    /// What a range is called beside those around it.
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    /// The names from the outermost module to a range.
    fn parts(&self, number: u32) -> Vec<&str> {
        let around = |number: &u32| self.parents.get(*number as usize).copied();
        let mut parts: Vec<&str> = std::iter::successors(Some(number), around)
            .take_while(|number| *number > 0)
            .map(|number| self.name(number))
            .collect();
        parts.reverse();
        parts
    }

    /// The path of a range, its parts joined by dots; empty for all together.
    pub fn path(&self, number: u32) -> String {
        self.parts(number).join(".")
    }

    /// The range of the same path in another tree.
    pub fn same_in(&self, other: &Self, number: u32) -> Option<u32> {
        let wanted = self.parts(number);
        (0..).take(other.names.len()).find(|number| other.parts(*number) == wanted)
    }
}

/// The parts of a path: `layer1.0.conv2/Conv` has four.
fn parts_of(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '.']).filter(|part| !part.is_empty()).take(MOST_PARTS)
}

#[derive(Default)]
struct NameRow {
    starts: Vec<u64>,
    ends: Vec<u64>,
    names: Vec<String>,
    /// The places in the row above.
    parents: Vec<usize>,
}

impl ModuleNode {
    fn add<'a>(&mut self, path: impl Iterator<Item = &'a str>, bytes: u64) {
        let mut node = self;
        node.bytes = node.bytes.saturating_add(bytes);
        for part in path {
            node = node.below.entry(part.to_owned()).or_default();
            node.bytes = node.bytes.saturating_add(bytes);
        }
    }

    /// Lays out a node with all below it; `parent` is the place of the one around it in its row.
    fn lay_out(
        &self,
        depth: usize,
        start: u64,
        parent: usize,
        name: &str,
        rows: &mut Vec<NameRow>,
    ) {
        if rows.len() <= depth {
            rows.resize_with(depth.saturating_add(1), NameRow::default);
        }
        let mut place = 0;
        if let Some(row) = rows.get_mut(depth) {
            place = row.starts.len();
            row.starts.push(start);
            row.ends.push(start.saturating_add(self.bytes));
            row.names.push(name.to_owned());
            row.parents.push(parent);
        }
        let mut below: Vec<(&String, &Self)> = self.below.iter().collect();
        below.sort_by_key(|(_, node)| Reverse(node.bytes));
        let mut next = start;
        for (part, node) in below {
            node.lay_out(depth.saturating_add(1), next, place, part, rows);
            next = next.saturating_add(node.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_as_wide_as_what_is_in_it() {
        let mut root = ModuleNode::default();
        for (path, bytes) in
            [("layer1.0.conv1/Conv", 10), ("layer1.0.conv2", 30), ("fc", 5), ("layer1.1", 2)]
        {
            root.add(parts_of(path), bytes);
        }
        let mut rows = Vec::new();
        root.lay_out(0, 0, 0, "", &mut rows);
        let tree = ModuleTree::of_rows(rows, 0);
        let row = |depth: usize| {
            let all = (0..).take(tree.names.len());
            let of_row = all.filter(|number| tree.spans.place(*number).unwrap().0 == depth);
            of_row
                .map(|number| (tree.path(number), tree.spans.get(number).unwrap()))
                .collect::<Vec<_>>()
        };
        let named = |path: &str, range| (path.to_owned(), range);
        assert_eq!(row(0), [named("", (0, 47))]);
        assert_eq!(row(1), [named("layer1", (0, 42)), named("fc", (42, 47))]);
        assert_eq!(row(2), [named("layer1.0", (0, 40)), named("layer1.1", (40, 42))]);
        assert_eq!(row(3), [named("layer1.0.conv2", (0, 30)), named("layer1.0.conv1", (30, 40))]);
        assert_eq!(row(4), [named("layer1.0.conv1.Conv", (30, 40))]);
        // In another tree the same path has another number.
        let mut other = ModuleNode::default();
        other.add(parts_of("fc"), 90);
        other.add(parts_of("layer1.0"), 1);
        let mut rows = Vec::new();
        other.lay_out(0, 0, 0, "", &mut rows);
        let other = ModuleTree::of_rows(rows, 0);
        let same = |number| tree.same_in(&other, number).map(|found| other.path(found));
        let found: Vec<_> = (0..5).map(same).collect();
        let path = |path: &str| Some(path.to_owned());
        assert_eq!(found, [path(""), path("layer1"), path("fc"), path("layer1.0"), None]);
    }

    #[test]
    fn a_path_without_end_has_an_end() {
        let mut root = ModuleNode::default();
        root.add(parts_of(&"a.".repeat(100_000)), 1);
        let mut rows = Vec::new();
        root.lay_out(0, 0, 0, "", &mut rows);
        assert_eq!(rows.len(), MOST_PARTS + 1);
    }
}
