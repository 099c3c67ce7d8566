//! Figures as rows of a table: the small put together, groups, and rows that unfold into their parts.

use std::collections::HashMap;
use std::sync::Arc;

use crate::text::grouped;
use crate::ui::runs::{Badge, Run, Runs};
use crate::ui::selection::TitledJump;
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// Width of the only column of figures, points.
const ONE_FIGURE: f32 = 110.0;
/// Width of a column of figures beside others, points.
const FIGURE: f32 = 92.0;
/// Width of a column of differences beside others, points.
const CHANGE: f32 = 118.0;
/// Width of the columns of two runs, points.
const OF_PAIR: f32 = 104.0;
/// Width of the column that says how large a change is relative to the source, points.
const PERCENT: f32 = 108.0;
/// Width of the column of padding, points.
const PADDING: f32 = 92.0;
/// Width of a column that says what a thing belongs to, points.
const GROUP: f32 = 150.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryUnit {
    Bytes,
    Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureLayout {
    /// Moments of one run: the first, then each other with its difference to the first.
    Moments,
    /// Source and target, the difference, and the percentage.
    Pair,
    /// The reference, then each other run with its difference to it.
    Runs,
}

impl FigureLayout {
    pub fn of(runs: &Runs) -> Self {
        match runs.len() {
            1 => Self::Moments,
            2 => Self::Pair,
            _ => Self::Runs,
        }
    }
}

/// A moment or a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureColumn {
    /// Its title: `Step 12`, `Source`, the name of a run.
    pub title: String,
    /// What stands in "only in …".
    pub in_text: String,
    /// Of a run beside others.
    pub badge: Option<Badge>,
}

impl FigureColumn {
    pub fn of_runs(runs: &Runs) -> Vec<Self> {
        let column = |run: &Run| Self {
            title: run.title.to_string(),
            in_text: run.title_in_text(),
            badge: (!runs.is_one()).then_some(run.badge),
        };
        runs.iter().map(column).collect()
    }
}

/// A thing with a figure for each column; `None` where it is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FigureEntry {
    pub name: String,
    pub figures: Vec<Option<u64>>,
    /// The group that it belongs to, for each of [`Entries::groupings`].
    pub groups: Vec<Arc<str>>,
    /// What it unfolds into.
    pub parts: Vec<EntryPart>,
    /// Of the only figure what is padding; `None` where that is not known.
    pub padding: Option<u64>,
    /// Path of the operation that makes it, where systems know that of variables.
    pub operation: Option<Arc<str>>,
    /// Where one can go from it, with titles.
    pub places: Vec<TitledJump>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryPart {
    pub name: String,
    pub figures: Vec<Option<u64>>,
}

#[derive(Clone)]
pub struct Entries {
    pub unit: EntryUnit,
    /// What the names are, as a title.
    pub title: &'static str,
    pub layout: FigureLayout,
    pub columns: Vec<FigureColumn>,
    /// What they can be grouped by, as titles.
    pub groupings: Vec<&'static str>,
    /// How figures are counted, where that needs to be said.
    pub rule: &'static str,
    /// Whether anything is known to be padded.
    pub has_padding: bool,
    /// The things; of one run in the order in which they are listed.
    pub list: Vec<FigureEntry>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FigureChoice {
    /// A position in [`Entries::groupings`].
    pub grouping: Option<usize>,
    /// Changes below this are put together.
    pub least: u64,
}

/// A column of the table, after that of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FigureCell {
    /// What a thing of one run could be grouped by.
    Group(usize),
    Figure(usize),
    /// To the first column.
    Change(usize),
    /// Of the first column.
    Percent,
    /// What of the only figure is padding.
    Padding,
}

pub struct FigureRows {
    entries: Arc<Entries>,
    cells: Vec<FigureCell>,
    rows: Vec<FigureRow>,
}

/// An entry, or several under one name.
struct FigureRow {
    /// The entry, a position in the list; `None` for a group.
    entry: Option<usize>,
    name: String,
    figures: Vec<Option<u64>>,
    /// Entries of a group, the largest change first.
    members: Vec<usize>,
}

impl FigureRows {
    /// Makes the rows: of several runs the largest change first, what is too small at the end.
    pub fn new(entries: &Arc<Entries>, choice: FigureChoice) -> Self {
        let list = &entries.list;
        let mut order: Vec<usize> = (0..list.len()).collect();
        if entries.is_compared() {
            let size = |entry: &usize| list.get(*entry).map_or(0, |entry| change(&entry.figures));
            order.sort_by_cached_key(|entry| std::cmp::Reverse(size(entry)));
        }
        let rows = match choice.grouping {
            Some(grouping) => groups(entries, &order, grouping),
            None => order.iter().filter_map(|entry| single(entries, *entry)).collect(),
        };
        let rows = put_together(rows, choice.least);
        Self { entries: Arc::clone(entries), cells: entries.cells(), rows }
    }

    /// The entry of a row; `None` for a group.
    pub fn entry(&self, row: usize) -> Option<&FigureEntry> {
        self.entries.list.get(self.rows.get(row)?.entry?)
    }

    fn cell(&self, figures: &[Option<u64>], column: usize) -> CellValue<'_> {
        let is_bytes = self.entries.unit == EntryUnit::Bytes;
        let at = |place: usize| figures.get(place).copied().flatten();
        let cell = column.checked_sub(1).and_then(|column| self.cells.get(column));
        match cell {
            Some(FigureCell::Figure(place)) => match at(*place) {
                Some(figure) if is_bytes => CellValue::Bytes(figure),
                Some(figure) => CellValue::Count(figure),
                None => CellValue::Nothing,
            },
            Some(FigureCell::Change(place)) => match (at(0), at(*place)) {
                (None, None) => CellValue::Nothing,
                (from, to) => {
                    let (from, to) = (from.unwrap_or(0), to.unwrap_or(0));
                    if is_bytes {
                        CellValue::change(from, to)
                    } else {
                        CellValue::count_change(from, to)
                    }
                }
            },
            Some(FigureCell::Group(_) | FigureCell::Padding) | None => CellValue::Nothing,
            Some(FigureCell::Percent) => match (at(0), at(1)) {
                (Some(_), None) => self.only_in(0),
                (None, Some(_)) => self.only_in(1),
                (Some(from), Some(to)) => CellValue::percent(from, to),
                (None, None) => CellValue::Nothing,
            },
        }
    }

    fn only_in(&self, column: usize) -> CellValue<'_> {
        let column = self.entries.columns.get(column);
        CellValue::text(
            column.map_or(String::new(), |column| format!("only in {}", column.in_text)),
        )
    }
}

impl Entries {
    /// Whether things of several runs are compared: then changes have a threshold and come first.
    pub fn is_compared(&self) -> bool {
        self.layout != FigureLayout::Moments
    }

    fn cells(&self) -> Vec<FigureCell> {
        match self.layout {
            FigureLayout::Pair => vec![
                FigureCell::Figure(0),
                FigureCell::Figure(1),
                FigureCell::Change(1),
                FigureCell::Percent,
            ],
            _ => {
                let groups = if self.is_compared() { 0 } else { self.groupings.len() };
                let others = (1..self.columns.len())
                    .flat_map(|at| [FigureCell::Figure(at), FigureCell::Change(at)]);
                let groups = (0..groups).map(FigureCell::Group);
                // Of several moments each would have its own.
                let has_padding = self.has_padding && self.columns.len() == 1;
                let padding = has_padding.then_some(FigureCell::Padding);
                groups.chain([FigureCell::Figure(0)]).chain(padding).chain(others).collect()
            }
        }
    }

    pub fn table_columns(&self) -> Vec<TableColumn> {
        let figure = |title: String, width: f32| match self.unit {
            EntryUnit::Bytes => TableColumn::bytes(title, width).counted_by(self.rule),
            EntryUnit::Count => TableColumn::count(title, width),
        };
        let title = |at: usize| self.columns.get(at).map_or("", |column| &*column.title);
        let width = match (self.layout, self.columns.len()) {
            (FigureLayout::Pair, _) => OF_PAIR,
            (_, 0 | 1) => ONE_FIGURE,
            _ => FIGURE,
        };
        // "Step 226 − 36", but all of the name of a run.
        let first = match self.layout {
            FigureLayout::Moments => title(0).rsplit(' ').next().unwrap_or_default(),
            _ => title(0),
        };
        let badge = |at: usize| self.columns.get(at).and_then(|column| column.badge);
        let change = match badge(0) {
            Some(badge) => format!("− {}", badge.letter),
            None => String::new(),
        };
        let column = |cell: &FigureCell| match (cell, self.layout) {
            (FigureCell::Group(at), _) => {
                TableColumn::text(self.groupings.get(*at).copied().unwrap_or_default(), GROUP)
            }
            (FigureCell::Figure(at), _) => {
                figure(title(*at).to_owned(), width).of_run(badge(*at), title(*at))
            }
            (FigureCell::Change(_), FigureLayout::Pair) => figure("Difference".to_owned(), width),
            (FigureCell::Change(at), _) => {
                figure(format!("{} − {first}", title(*at)), CHANGE).of_run(badge(*at), &*change)
            }
            (FigureCell::Percent, _) => {
                let percent =
                    TableColumn::count(format!("Of the {}", title(0).to_lowercase()), PERCENT);
                TableColumn { unit: "percent", is_summed: false, ..percent }
            }
            (FigureCell::Padding, _) => figure("Padding".to_owned(), PADDING),
        };
        let cells = self.cells();
        std::iter::once(TableColumn::rest(self.title)).chain(cells.iter().map(column)).collect()
    }
}

impl Rows for FigureRows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        match self.rows.get(row) {
            Some(row) if column == 0 => CellValue::text(&*row.name),
            Some(found) => match self.cells.get(column - 1) {
                Some(FigureCell::Group(at)) => {
                    let group = self.entry(row).and_then(|entry| entry.groups.get(*at));
                    group.map_or(CellValue::Nothing, |group| CellValue::text(&**group))
                }
                Some(FigureCell::Padding) => match self.entry(row).map(|entry| entry.padding) {
                    Some(Some(padding)) => CellValue::Bytes(padding),
                    Some(None) => CellValue::text("not known"),
                    None => CellValue::Nothing,
                },
                _ => self.cell(&found.figures, column),
            },
            None => CellValue::Nothing,
        }
    }

    fn parts(&self, row: usize) -> usize {
        let members = self.rows.get(row).map_or(0, |row| row.members.len());
        self.entry(row).map_or(members, |entry| entry.parts.len())
    }

    fn places(&self, row: usize) -> Vec<TitledJump> {
        self.entry(row).map_or_else(Vec::new, |entry| entry.places.clone())
    }

    fn part(&self, row: usize, part: usize, column: usize) -> CellValue<'_> {
        let member = || self.entries.list.get(*self.rows.get(row)?.members.get(part)?);
        let found = match self.entry(row) {
            Some(entry) => entry.parts.get(part).map(|part| (&part.name, &part.figures)),
            None => member().map(|entry| (&entry.name, &entry.figures)),
        };
        let Some((name, figures)) = found else { return CellValue::Nothing };
        if column == 0 { CellValue::text(&**name) } else { self.cell(figures, column) }
    }
}

fn single(entries: &Entries, place: usize) -> Option<FigureRow> {
    let entry = entries.list.get(place)?;
    let (name, figures) = (entry.name.clone(), entry.figures.clone());
    Some(FigureRow { entry: Some(place), name, figures, members: Vec::new() })
}

/// A row for each group, the largest change first.
fn groups(entries: &Entries, order: &[usize], grouping: usize) -> Vec<FigureRow> {
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    let mut rows: Vec<FigureRow> = Vec::new();
    for place in order {
        let Some(entry) = entries.list.get(*place) else { continue };
        let name = entry.groups.get(grouping).map_or("", |name| &**name);
        let at = *by_name.entry(name).or_insert_with(|| {
            let figures = vec![None; entry.figures.len()];
            rows.push(FigureRow {
                entry: None,
                name: name.to_owned(),
                figures,
                members: Vec::new(),
            });
            rows.len() - 1
        });
        if let Some(row) = rows.get_mut(at) {
            row.members.push(*place);
            add(&mut row.figures, &entry.figures);
        }
    }
    rows.sort_by_cached_key(|row| std::cmp::Reverse(change(&row.figures)));
    rows
}

/// Puts rows whose change is too small into one at the end, so that all add up.
fn put_together(rows: Vec<FigureRow>, least: u64) -> Vec<FigureRow> {
    let is_small = |row: &FigureRow| change(&row.figures) < u128::from(least);
    let (small, mut large): (Vec<FigureRow>, Vec<FigureRow>) = rows.into_iter().partition(is_small);
    let Some(first) = small.first() else { return large };
    let mut figures = vec![None; first.figures.len()];
    for row in &small {
        add(&mut figures, &row.figures);
    }
    let name = match small.len() {
        1 => "1 smaller change".to_owned(),
        count => format!("{} smaller changes", grouped(count as u64)),
    };
    let members = small.into_iter().flat_map(|row| match row.entry {
        Some(entry) => vec![entry],
        None => row.members,
    });
    large.push(FigureRow { entry: None, name, figures, members: members.collect() });
    large
}

/// The largest change to the first figure; what is not there counts as 0.
fn change(figures: &[Option<u64>]) -> u128 {
    let known = |figure: &Option<u64>| u128::from(figure.unwrap_or(0));
    let first = figures.first().map_or(0, known);
    figures.iter().map(|figure| known(figure).abs_diff(first)).max().unwrap_or(0)
}

fn add(all: &mut [Option<u64>], more: &[Option<u64>]) {
    for (all, more) in all.iter_mut().zip(more) {
        *all = match (*all, *more) {
            (Some(all), Some(more)) => Some(all.saturating_add(more)),
            (all, more) => all.or(more),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(layout: FigureLayout) -> Arc<Entries> {
        let entry = |name: &str, source, target, group: &str| FigureEntry {
            name: name.to_owned(),
            figures: vec![source, target],
            groups: vec![Arc::from(group)],
            parts: vec![EntryPart { name: "class 1".to_owned(), figures: vec![source, None] }],
            padding: None,
            operation: None,
            places: Vec::new(),
        };
        let column = |title: &str| FigureColumn {
            title: title.to_owned(),
            in_text: title.to_lowercase(),
            badge: None,
        };
        Arc::new(Entries {
            unit: EntryUnit::Bytes,
            title: "Variable",
            layout,
            columns: vec![column("Source"), column("Target")],
            groupings: vec!["Operation"],
            rule: "",
            has_padding: false,
            list: vec![
                entry("same", Some(5), Some(5), "a"),
                entry("gone", Some(9), None, "b"),
                entry("grown", Some(10), Some(28), "b"),
                entry("new", None, Some(1), "a"),
            ],
        })
    }

    fn names(rows: &FigureRows) -> Vec<&str> {
        rows.rows.iter().map(|row| &*row.name).collect()
    }

    #[test]
    fn the_largest_change_comes_first_and_says_where_it_is() {
        let rows = FigureRows::new(&entries(FigureLayout::Pair), FigureChoice::default());
        assert_eq!(names(&rows), ["grown", "gone", "new", "same"]);
        assert_eq!(rows.value(0, 3), CellValue::Change(18));
        assert_eq!(rows.value(0, 4), CellValue::Percent(180.0));
        assert_eq!(
            (rows.value(1, 2), rows.value(1, 3)),
            (CellValue::Nothing, CellValue::Change(-9))
        );
        assert_eq!(rows.value(1, 4), CellValue::text("only in source"));
        assert_eq!(rows.value(2, 4), CellValue::text("only in target"));
    }

    #[test]
    fn groups_and_small_changes_add_up_to_the_same() {
        let total = |rows: &FigureRows| -> i128 {
            let signed = |figure: Option<u64>| i128::from(figure.unwrap_or(0));
            rows.rows.iter().map(|row| signed(row.figures[1]) - signed(row.figures[0])).sum()
        };
        let entries = entries(FigureLayout::Pair);
        let by_group = FigureRows::new(&entries, FigureChoice { grouping: Some(0), least: 0 });
        assert_eq!(names(&by_group), ["b", "a"]);
        assert_eq!(by_group.parts(0), 2);
        assert_eq!(by_group.part(0, 0, 0), CellValue::text("grown"));
        let large = FigureRows::new(&entries, FigureChoice { grouping: None, least: 9 });
        assert_eq!(names(&large), ["grown", "gone", "2 smaller changes"]);
        assert_eq!((total(&by_group), total(&large)), (10, 10));
        assert!(large.entry(2).is_none() && large.parts(2) == 2);
    }

    #[test]
    fn moments_keep_their_order_and_unfold() {
        let entries = entries(FigureLayout::Moments);
        let rows = FigureRows::new(&entries, FigureChoice::default());
        assert_eq!(names(&rows), ["same", "gone", "grown", "new"]);
        let titles: Vec<String> =
            entries.table_columns().iter().map(|column| column.title.clone()).collect();
        // What things could be grouped by is said of each.
        assert_eq!(titles, ["Variable", "Operation", "Source", "Target", "Target − Source"]);
        assert_eq!(rows.value(0, 1), CellValue::text(&*entries.list[0].groups[0]));
        assert_eq!((rows.parts(2), rows.part(2, 0, 2)), (1, CellValue::Bytes(10)));
        assert_eq!(rows.part(2, 0, 4), CellValue::Change(-10));
    }
}
