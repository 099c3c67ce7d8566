//! The parts of changes as tables, for the text and the comma-separated values.

use std::borrow::Cow;

use super::By;
use super::document::Comparison;
use super::explained::{ExplainedPart, ExplainedRow, Groupings};
use super::steps::StepsMatched;
use super::text::{amount, change, operation_text};
use crate::analysis::comparison::contribution::Contributor;
use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::{Difference, Side};
use crate::analysis::memory::category_title;
use crate::cli::output::{aligned, name_cell, or_unknown};
use crate::run::compared::amounts::Both;
use crate::run::compared::names::Owner;
use crate::run::compared::rows::{ComparedRow, Peaks};
use crate::text::{bytes, grouped};

/// Rows of a table.
const MOST_ROWS: usize = 20;

/// How many rows of a table are shown: where only one more would be left out, that one as well.
pub(super) fn shown(rows: usize) -> usize {
    if rows > MOST_ROWS + 1 { MOST_ROWS } else { rows }
}

/// A whole of which both runs have something, and what its change consists of.
pub(super) struct Whole<'a> {
    /// Its name among comma-separated values.
    pub key: &'static str,
    /// The line above its tables; of what only those values have none.
    pub title: Option<String>,
    pub tables: Vec<PartsTable<'a>>,
}

/// A table whose rows add up to a whole.
pub(super) struct PartsTable<'a> {
    pub by: By,
    /// Titles of the cells before the bytes; the first says by what the rows are.
    words: Vec<Cow<'static, str>>,
    pub rows: Vec<PartRow<'a>>,
}

impl PartsTable<'_> {
    /// Whether people learn anything from it: where nothing has an owner, the only row is the whole again.
    pub(super) fn says_anything(&self) -> bool {
        !matches!(self.rows[..], [] | [PartRow::Owner(None, _)])
    }
}

/// A row of a table; names are made when they are written, for all rows have far more of them than the files.
#[derive(Clone, Copy)]
pub(super) enum PartRow<'a> {
    Named(&'a str, &'static str, &'a Both),
    Owner(Option<&'a Owner>, &'a Both),
    Of(&'a Peaks, &'a ComparedRow),
    Explained(&'a ExplainedRow),
}

impl<'a> PartRow<'a> {
    fn both(&self) -> Option<&'a Both> {
        match self {
            Self::Named(_, _, both) | Self::Owner(_, both) => Some(both),
            Self::Of(_, row) => Some(&row.both),
            Self::Explained(_) => None,
        }
    }

    pub fn bytes(&self) -> Difference {
        match self {
            Self::Explained(row) => row.bytes,
            _ => self.both().map(Both::bytes).unwrap_or_default(),
        }
    }

    /// How many things both have.
    pub fn counts(&self) -> [Option<u64>; 2] {
        let both = self.both();
        [both.map(|both| both.source.count), both.map(|both| both.target.count)]
    }

    /// The side that alone has it.
    pub fn only(&self) -> Option<&'static str> {
        match self {
            Self::Explained(row) => row.only.map(Side::key),
            _ => self.both().and_then(Both::only),
        }
    }

    /// Bytes of each thing, where all are of one size.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Of(_, row) => row.size,
            _ => None,
        }
    }

    /// What it is, its name and its kind among comma-separated values: of a row of things all calls, and what else
    /// describes it.
    pub fn key_and_name(&self, of: &Comparison, by: By) -> [Cow<'a, str>; 3] {
        let none = Cow::Borrowed("");
        let name = match self {
            Self::Explained(row) => {
                let (key, name) = row.key_and_name();
                let kind = row.operation_kind().unwrap_or_default();
                return [key.into(), name.unwrap_or_default().into(), kind.into()];
            }
            Self::Named(key, ..) => Cow::Borrowed(*key),
            Self::Owner(owner, _) => of.owner_title(*owner).into(),
            Self::Of(peaks, row) => {
                let calls: Vec<String> = peaks.names.owners(row.path).map(Owner::title).collect();
                let name = if calls.is_empty() { of.owner_title(None) } else { calls.join(" < ") };
                match peaks.detail(row) {
                    Some(detail) => format!("{name} {detail}").into(),
                    None => name.into(),
                }
            }
        };
        [by.key().into(), name, none]
    }

    fn cells(&self, of: &Comparison) -> Vec<String> {
        match self {
            Self::Named(_, title, _) => vec![(*title).to_owned()],
            Self::Owner(owner, _) => vec![name_cell(&of.owner_title(*owner))],
            Self::Of(peaks, row) => {
                let other = peaks.owner_of_source(row).map(|owner| of.owner_title(owner));
                let callers = || peaks.callers(row).collect::<Vec<_>>().join(" < ");
                let mut cells = vec![
                    name_cell(&of.owner_title(peaks.owner(row))),
                    name_cell(&other.unwrap_or_default()),
                    name_cell(&peaks.detail(row).unwrap_or_else(callers)),
                    row.category.title.to_owned(),
                ];
                if of.compared.words.each.is_some() {
                    cells.push(row.size.map_or_else(|| "several".to_owned(), bytes));
                }
                cells.extend([counts_cell(&row.both), row.both.row_change().title().to_owned()]);
                cells
            }
            Self::Explained(row) => {
                let only = row.only.map(|side| format!(" (only in the {})", side.key()));
                vec![format!("{}{}", contributor(&row.contributor), only.unwrap_or_default())]
            }
        }
    }
}

/// How many of each side a row has: `1 → 2`.
fn counts_cell(both: &Both) -> String {
    format!("{} → {}", grouped(both.source.count), grouped(both.target.count))
}

fn contributor(contributor: &Contributor) -> String {
    match contributor {
        Contributor::Category(name) => name_cell(&category_title(name)),
        Contributor::Operation(operation) => operation_text(operation),
        Contributor::Module(name) | Contributor::Variable(name) => name_cell(name),
        Contributor::Overlapped => "overlapped".to_owned(),
        Contributor::NotExplained => "not explained by liveness".to_owned(),
        Contributor::Gaps(None) => "gaps".to_owned(),
        Contributor::Gaps(Some(reason)) => format!("gaps: {}", reason.key()),
        Contributor::NotAttributable => "not attributable".to_owned(),
    }
}

fn bytes_cells(bytes: &Difference) -> Vec<String> {
    let [source, target] = [bytes.source, bytes.target].map(|of| amount(of, Unit::Bytes));
    vec![source, target, change(bytes, Unit::Bytes)]
}

impl PartsTable<'_> {
    /// As many rows as are shown, and what the others add up to: the columns add up to the whole.
    pub fn text(&self, of: &Comparison) -> String {
        let (first, others) = self.rows.split_at(shown(self.rows.len()));
        let cells = first.iter().map(|row| [row.cells(of), bytes_cells(&row.bytes())].concat());
        let mut cells: Vec<Vec<String>> = cells.collect();
        if !others.is_empty() {
            let sum = |side: fn(&Difference) -> Option<i64>| {
                let sizes = others.iter().filter_map(|row| side(&row.bytes()));
                sizes.fold(0_i64, i64::saturating_add)
            };
            let rest = Difference::between(sum(|of| of.source), sum(|of| of.target));
            let mut row = vec![format!("{} others", grouped(others.len() as u64))];
            row.resize(self.words.len(), String::new());
            row.extend(bytes_cells(&rest));
            cells.push(row);
        }
        let words = self.words.iter().map(|word| &**word);
        let header: Vec<&str> = words.chain(["source", "target", "<change"]).collect();
        aligned(&header, cells)
    }
}

/// What is explained, as far as it is shown.
pub(super) fn wholes(of: &Comparison) -> Vec<Whole<'_>> {
    match &of.steps {
        Some(steps) => of_steps(of, steps),
        None => vec![of_things(of)],
    }
}

/// What is alive at the peaks, whose steps have nothing in common.
fn of_things(of: &Comparison) -> Whole<'_> {
    let words = of.compared.words;
    let [source, target] = of.compared.sides.each_ref().map(|side| &side.peak_text);
    let title = format!(
        "{}: {source} of the source, {target} of the target; {} are not aligned",
        words.peaks, words.steps
    );
    let mut of_rows: Vec<Cow<'static, str>> = vec![
        format!("<{}", words.by_row).into(),
        "<in place of".into(),
        format!("<{}", words.detail.to_lowercase()).into(),
        "<".into(),
    ];
    of_rows.extend(words.each.map(|_| "each".into()));
    of_rows.extend([words.counted.into(), "<".into()]);
    let tables = of.compared.peaks.as_ref().map(|peaks| {
        let categories = peaks.by_category.iter();
        let categories =
            categories.map(|(category, both)| PartRow::Named(category.key, category.title, both));
        let owners = peaks.by_owner.iter();
        let owners = owners.map(|row| PartRow::Owner(row.owner.as_ref(), &row.both));
        let rows = peaks.rows.iter().map(|row| PartRow::Of(peaks, row));
        let by_owner = vec![format!("<{}", words.by_owner).into()];
        [
            PartsTable {
                by: By::Category,
                words: vec!["<By category".into()],
                rows: categories.collect(),
            },
            PartsTable { by: of.by_owner(), words: by_owner, rows: owners.collect() },
            PartsTable { by: By::Variable, words: of_rows, rows: rows.collect() },
        ]
    });
    let tables = tables.into_iter().flatten().filter(|table| of.shown.has(table.by));
    Whole { key: "peak", title: Some(title), tables: tables.collect() }
}

/// What follows from matched steps: where a peak has moved, the steps that are matched with it come first.
fn of_steps<'a>(of: &'a Comparison, steps: &'a StepsMatched) -> Vec<Whole<'a>> {
    let (explanation, shown) = (&steps.explanation, &of.shown);
    let matched = steps.explanation_at_matched_steps.as_ref();
    let tables = |groupings: &'a Groupings| {
        let all = groupings.all().into_iter().filter(|(by, ..)| shown.has(*by));
        let table = |(by, title, rows): (By, &str, Option<&'a Vec<ExplainedRow>>)| PartsTable {
            by,
            words: vec![format!("<By {title}").into()],
            rows: rows.into_iter().flatten().map(PartRow::Explained).collect(),
        };
        all.filter(|(.., rows)| rows.is_some()).map(table).collect()
    };
    let line = |title: &str, whole: &Difference, places: &str| {
        let [source, target, change] = [
            amount(whole.source, Unit::Bytes),
            amount(whole.target, Unit::Bytes),
            change(whole, Unit::Bytes),
        ];
        format!("{title}: {source} to {target}, {change}{places}")
    };
    let of_part = |part: &ExplainedPart, title: &str| {
        let [source, target] = [part.source_step, part.target_step]
            .map(|step| or_unknown(step, |step| step.to_string()));
        line(title, &part.whole, &format!(", step {source} to step {target}"))
    };
    let mut wholes = Vec::new();
    let mut add = |key, part: &'a ExplainedPart, title: Option<String>| {
        wholes.push(Whole { key, title, tables: tables(&part.groupings) });
    };
    if !shown.is_fullest_alone() {
        for (key, title, found) in [
            ("source_peak", "Where the source had its peak", matched.map(|of| &of.source_peak)),
            ("target_peak", "Where the target has its peak", matched.map(|of| &of.target_peak)),
        ] {
            let Some(found) = found.and_then(Option::as_ref) else { continue };
            let (all, part) = (&found.peak, &found.not_always_live);
            add(key, all, None);
            let title = format!("{title}, not always live");
            add("", part, Some(of_part(part, &title)));
        }
        if let Some(peak) = &explanation.peak {
            let title =
                if matched.is_some() { "The two peaks, at different steps" } else { "The peak" };
            add("peak", peak, Some(of_part(peak, title)));
        }
        if let Some(part) = &explanation.always_live {
            add("always_live", part, Some(line("Always live", &part.whole, "")));
        }
        if let Some(part) = &explanation.not_always_live {
            add("not_always_live", part, None);
        }
    }
    if let Some(tile) = explanation.fullest_tile.as_ref().filter(|_| shown.has(By::Fullest)) {
        let places = format!(", tile {} to tile {}", tile.source_tile, tile.target_tile);
        let title = line("The fullest tile", &tile.whole, &places);
        let tables = tables(&tile.groupings);
        wholes.push(Whole { key: "fullest_tile", title: Some(title), tables });
    }
    wholes
}
