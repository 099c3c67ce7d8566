//! What is alive at a moment by the path in the names of operations, as ranges within ranges: a module is as wide as
//! all that is in it.

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
    /// The path of each range, by its number; empty for all together.
    pub paths: Vec<String>,
    /// What is taken off because several share it, bytes.
    pub shared_bytes: u64,
}

#[derive(Default)]
struct Node {
    bytes: u64,
    below: BTreeMap<String, Node>,
}

impl ModuleTree {
    /// Of what a moment consists of; `None` where it does not name operations.
    pub fn of(found: &Explanation) -> Option<Self> {
        let rows = rows_of_one(found.grouping(GroupedBy::Operation)?);
        let mut root = Node::default();
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
        let mut rows: Vec<Row> = Vec::new();
        root.lay_out(0, 0, "", &mut rows);
        let (mut spans, mut paths) = (Vec::new(), Vec::new());
        for row in rows {
            spans.push(SpanRow::of(row.starts, row.ends, Vec::new()));
            paths.extend(row.paths);
        }
        Some(Self { spans: SpanRows::of(spans), paths, shared_bytes })
    }

    /// The bytes of a range.
    pub fn bytes(&self, number: u32) -> u64 {
        self.spans.get(number).map_or(0, |(start, end)| end.saturating_sub(start))
    }

    /// What a range is called beside those around it: the last part of its path.
    pub fn name(&self, number: u32) -> &str {
        let path = self.paths.get(number as usize).map_or("", String::as_str);
        path.rsplit_once('\n').map_or(path, |(_, last)| last)
    }

    /// The path of a range, as the names of operations have it.
    pub fn path(&self, number: u32) -> String {
        self.paths.get(number as usize).map_or_else(String::new, |path| path.replace('\n', "."))
    }
}

/// The parts of a path: `layer1.0.conv2/Conv` has four.
fn parts_of(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '.']).filter(|part| !part.is_empty()).take(MOST_PARTS)
}

#[derive(Default)]
struct Row {
    starts: Vec<u64>,
    ends: Vec<u64>,
    paths: Vec<String>,
}

impl Node {
    fn add<'a>(&mut self, path: impl Iterator<Item = &'a str>, bytes: u64) {
        let mut node = self;
        node.bytes = node.bytes.saturating_add(bytes);
        for part in path {
            node = node.below.entry(part.to_owned()).or_default();
            node.bytes = node.bytes.saturating_add(bytes);
        }
    }

    fn lay_out(&self, depth: usize, start: u64, path: &str, rows: &mut Vec<Row>) {
        if rows.len() <= depth {
            rows.resize_with(depth.saturating_add(1), Row::default);
        }
        if let Some(row) = rows.get_mut(depth) {
            row.starts.push(start);
            row.ends.push(start.saturating_add(self.bytes));
            row.paths.push(path.to_owned());
        }
        let mut below: Vec<(&String, &Self)> = self.below.iter().collect();
        below.sort_by_key(|(_, node)| Reverse(node.bytes));
        let mut next = start;
        for (part, node) in below {
            let path = if path.is_empty() { part.clone() } else { format!("{path}\n{part}") };
            node.lay_out(depth.saturating_add(1), next, &path, rows);
            next = next.saturating_add(node.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_as_wide_as_what_is_in_it() {
        let mut root = Node::default();
        for (path, bytes) in
            [("layer1.0.conv1/Conv", 10), ("layer1.0.conv2", 30), ("fc", 5), ("layer1.1", 2)]
        {
            root.add(parts_of(path), bytes);
        }
        let mut rows = Vec::new();
        root.lay_out(0, 0, "", &mut rows);
        let row = |depth: usize| {
            let row: &Row = &rows[depth];
            let ranges = row.starts.iter().zip(&row.ends).map(|(start, end)| (*start, *end));
            row.paths.iter().map(|path| path.replace('\n', ".")).zip(ranges).collect::<Vec<_>>()
        };
        let named = |path: &str, range| (path.to_owned(), range);
        assert_eq!(row(0), [named("", (0, 47))]);
        assert_eq!(row(1), [named("layer1", (0, 42)), named("fc", (42, 47))]);
        assert_eq!(row(2), [named("layer1.0", (0, 40)), named("layer1.1", (40, 42))]);
        assert_eq!(row(3), [named("layer1.0.conv2", (0, 30)), named("layer1.0.conv1", (30, 40))]);
        assert_eq!(row(4), [named("layer1.0.conv1.Conv", (30, 40))]);
    }

    #[test]
    fn a_path_without_end_has_an_end() {
        let mut root = Node::default();
        root.add(parts_of(&"a.".repeat(100_000)), 1);
        let mut rows = Vec::new();
        root.lay_out(0, 0, "", &mut rows);
        assert_eq!(rows.len(), MOST_PARTS + 1);
    }
}
