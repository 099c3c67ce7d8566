//! Figures of two reports as the rows of a table: what is small is put together, and what belongs
//! together stands in groups.

use std::collections::HashMap;
use std::sync::Arc;

use crate::text::grouped;
use crate::ui::legacy::Side;
use crate::ui::widget::rows::{Column, Rows, Value};

/// Width of a column of figures, points.
const FIGURE: f32 = 104.0;
/// Width of the column that says how large a change is relative to the source, points.
const PERCENT: f32 = 108.0;

/// What figures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Numbers of things.
    Count,
}

/// A thing that one report has, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its figure in the source; `None` where the source does not have it.
    pub source: Option<u64>,
    /// Its figure in the target; `None` where the target does not have it.
    pub target: Option<u64>,
    /// The group that it belongs to, for each of [`Entries::groupings`].
    pub groups: Vec<Arc<str>>,
}

impl Entry {
    /// How much larger it is in the target.
    pub fn change(&self) -> i128 {
        i128::from(self.target.unwrap_or(0)) - i128::from(self.source.unwrap_or(0))
    }
}

/// Things of two reports.
#[derive(Clone, Debug)]
pub struct Entries {
    /// What their figures are.
    pub unit: Unit,
    /// What the names are, as a title.
    pub title: &'static str,
    /// What they can be grouped by, as titles.
    pub groupings: Vec<&'static str>,
    /// The things.
    pub list: Vec<Entry>,
}

/// How the rows are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// A position in [`Entries::groupings`].
    pub grouping: Option<usize>,
    /// Changes below this are put together.
    pub least: u64,
}

/// The rows of a table.
pub struct DifferenceRows {
    entries: Arc<Entries>,
    rows: Vec<Row>,
}

/// A row: an entry, or several under one name.
struct Row {
    /// The entry, a position in the list; `None` for a group.
    entry: Option<usize>,
    name: String,
    figures: [Option<u64>; 2],
    /// Entries of a group, the largest change first.
    parts: Vec<usize>,
}

impl DifferenceRows {
    /// Makes the rows: the largest change first, what is too small at the end.
    pub fn new(entries: &Arc<Entries>, choice: Choice) -> Self {
        let list = &entries.list;
        let mut order: Vec<usize> = (0..list.len()).collect();
        let size = |entry: &usize| list.get(*entry).map_or(0, |entry| entry.change().abs());
        order.sort_by_key(|entry| std::cmp::Reverse(size(entry)));
        let rows = match choice.grouping {
            Some(grouping) => groups(entries, &order, grouping),
            None => order.iter().filter_map(|entry| single(entries, *entry)).collect(),
        };
        let rows = put_together(entries, rows, choice.least);
        Self { entries: Arc::clone(entries), rows }
    }

    /// The columns.
    pub fn columns(entries: &Entries) -> Vec<Column> {
        let figure = |title: &str| match entries.unit {
            Unit::Bytes => Column::bytes(title, FIGURE),
            Unit::Count => Column::count(title, FIGURE),
        };
        vec![
            Column::rest(entries.title),
            figure(Side::Source.title()),
            figure(Side::Target.title()),
            figure("Difference"),
            Column { unit: "percent", is_summed: false, ..Column::count("Of the source", PERCENT) },
        ]
    }

    /// The entry of a row; `None` for a group.
    pub fn entry(&self, row: usize) -> Option<&Entry> {
        self.entries.list.get(self.rows.get(row)?.entry?)
    }

    fn cell(&self, [source, target]: [Option<u64>; 2], column: usize) -> Value<'_> {
        let is_bytes = self.entries.unit == Unit::Bytes;
        let figure = |figure: Option<u64>| match figure {
            Some(figure) if is_bytes => Value::Bytes(figure),
            Some(figure) => Value::Count(figure),
            None => Value::Nothing,
        };
        match (column, source, target) {
            (1, source, _) => figure(source),
            (2, _, target) => figure(target),
            (3, None, None) => Value::Nothing,
            (3, source, target) => {
                let (from, to) = (source.unwrap_or(0), target.unwrap_or(0));
                if is_bytes { Value::change(from, to) } else { Value::count_change(from, to) }
            }
            (_, Some(_), None) => Value::text("only in source"),
            (_, None, Some(_)) => Value::text("only in target"),
            (_, Some(from @ 1..), Some(to)) => {
                let change = i128::from(to) - i128::from(from);
                Value::Percent(change as f64 * 100.0 / from as f64)
            }
            _ => Value::Nothing,
        }
    }
}

impl Rows for DifferenceRows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        match self.rows.get(row) {
            Some(row) if column == 0 => Value::text(&*row.name),
            Some(row) => self.cell(row.figures, column),
            None => Value::Nothing,
        }
    }

    fn parts(&self, row: usize) -> usize {
        self.rows.get(row).map_or(0, |row| row.parts.len())
    }

    fn part(&self, row: usize, part: usize, column: usize) -> Value<'_> {
        let entry = self.rows.get(row).and_then(|row| row.parts.get(part));
        match entry.and_then(|entry| self.entries.list.get(*entry)) {
            Some(entry) if column == 0 => Value::text(&*entry.name),
            Some(entry) => self.cell([entry.source, entry.target], column),
            None => Value::Nothing,
        }
    }
}

fn single(entries: &Entries, place: usize) -> Option<Row> {
    let entry = entries.list.get(place)?;
    let figures = [entry.source, entry.target];
    Some(Row { entry: Some(place), name: entry.name.clone(), figures, parts: Vec::new() })
}

/// A row for each group, the largest change first.
fn groups(entries: &Entries, order: &[usize], grouping: usize) -> Vec<Row> {
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    let mut rows: Vec<Row> = Vec::new();
    for place in order {
        let Some(entry) = entries.list.get(*place) else { continue };
        let name = entry.groups.get(grouping).map_or("", |name| &**name);
        let at = *by_name.entry(name).or_insert_with(|| {
            let (figures, parts) = ([None, None], Vec::new());
            rows.push(Row { entry: None, name: name.to_owned(), figures, parts });
            rows.len() - 1
        });
        if let Some(row) = rows.get_mut(at) {
            row.parts.push(*place);
            row.figures = sum(row.figures, [entry.source, entry.target]);
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(change(row.figures).abs()));
    rows
}

/// Puts rows whose change is too small into one at the end, so that all add up.
fn put_together(entries: &Entries, rows: Vec<Row>, least: u64) -> Vec<Row> {
    let is_small = |row: &Row| change(row.figures).unsigned_abs() < u128::from(least);
    let (small, mut large): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(is_small);
    if small.is_empty() {
        return large;
    }
    let figures = small.iter().fold([None, None], |all, row| sum(all, row.figures));
    let name = match entries.unit {
        _ if small.len() == 1 => "1 smaller change".to_owned(),
        _ => format!("{} smaller changes", grouped(small.len() as u64)),
    };
    let parts = small.into_iter().flat_map(|row| match row.entry {
        Some(entry) => vec![entry],
        None => row.parts,
    });
    large.push(Row { entry: None, name, figures, parts: parts.collect() });
    large
}

fn change([source, target]: [Option<u64>; 2]) -> i128 {
    i128::from(target.unwrap_or(0)) - i128::from(source.unwrap_or(0))
}

fn sum(all: [Option<u64>; 2], more: [Option<u64>; 2]) -> [Option<u64>; 2] {
    let add = |all: Option<u64>, more: Option<u64>| match (all, more) {
        (Some(all), Some(more)) => Some(all.saturating_add(more)),
        (all, more) => all.or(more),
    };
    let ([all_source, all_target], [source, target]) = (all, more);
    [add(all_source, source), add(all_target, target)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Arc<Entries> {
        let entry = |name: &str, source, target, group: &str| Entry {
            name: name.to_owned(),
            source,
            target,
            groups: vec![Arc::from(group)],
        };
        Arc::new(Entries {
            unit: Unit::Bytes,
            title: "Variable",
            groupings: vec!["Operation"],
            list: vec![
                entry("same", Some(5), Some(5), "a"),
                entry("gone", Some(9), None, "b"),
                entry("grown", Some(10), Some(28), "b"),
                entry("new", None, Some(1), "a"),
            ],
        })
    }

    fn names(rows: &DifferenceRows) -> Vec<&str> {
        rows.rows.iter().map(|row| &*row.name).collect()
    }

    #[test]
    fn the_largest_change_comes_first_and_says_where_it_is() {
        let rows = DifferenceRows::new(&entries(), Choice::default());
        assert_eq!(names(&rows), ["grown", "gone", "new", "same"]);
        assert_eq!(rows.value(0, 3), Value::Change(18));
        assert_eq!(rows.value(0, 4), Value::Percent(180.0));
        assert_eq!((rows.value(1, 2), rows.value(1, 3)), (Value::Nothing, Value::Change(-9)));
        assert_eq!(rows.value(1, 4), Value::text("only in source"));
        assert_eq!(rows.value(2, 4), Value::text("only in target"));
    }

    #[test]
    fn groups_and_small_changes_add_up_to_the_same() {
        let total = |rows: &DifferenceRows| -> i128 {
            rows.rows.iter().map(|row| change(row.figures)).sum()
        };
        let by_group = DifferenceRows::new(&entries(), Choice { grouping: Some(0), least: 0 });
        assert_eq!(names(&by_group), ["b", "a"]);
        assert_eq!(by_group.parts(0), 2);
        assert_eq!(by_group.part(0, 0, 0), Value::text("grown"));
        let large = DifferenceRows::new(&entries(), Choice { grouping: None, least: 9 });
        assert_eq!(names(&large), ["grown", "gone", "2 smaller changes"]);
        assert_eq!((total(&by_group), total(&large)), (10, 10));
        assert!(large.entry(2).is_none() && large.parts(2) == 2);
    }
}
