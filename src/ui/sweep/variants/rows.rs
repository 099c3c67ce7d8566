//! Variants as the rows of a table.

use std::sync::Arc;

use crate::analysis::variants::{VariantColumn, VariantTable, footnotes, ran, rank_text};
use crate::text::capitalised;
use crate::ui::widget::rows::{Column, Rows, Value};
use crate::ui::widget::sign::Sign;

/// Least width of the column of names, points: the picture has them too.
const NAME: f32 = 116.0;
/// Least width of a column of figures, points.
const FIGURE: f32 = 60.0;
/// Least width of a column of percents, points.
const PERCENT: f32 = 34.0;
/// What decides comes first, where there is no room for all; last what is left at the end.
const FIRST: [VariantColumn; 6] = [
    VariantColumn::Needed,
    VariantColumn::OverCapacity,
    VariantColumn::FailedRequest,
    VariantColumn::MaxAllocated,
    VariantColumn::MaxReserved,
    VariantColumn::RequestedPeak,
];

/// What stands in a column.
#[derive(Clone, Copy)]
enum Shown {
    Name,
    Mark,
    Ran,
    Bytes(VariantColumn),
    Percent(VariantColumn),
    PercentOfPrevious(VariantColumn),
}

pub struct VariantRows {
    table: Arc<VariantTable>,
    shown: Vec<Shown>,
    pub columns: Vec<Column>,
}

impl VariantRows {
    pub fn new(table: Arc<VariantTable>) -> Self {
        let mut shown = vec![Shown::Name, Shown::Mark, Shown::Ran];
        let mut columns = vec![
            Column::text("Variant", NAME),
            Column::text("Mark", 76.0),
            Column::text(capitalised(table.state_title()), 112.0),
        ];
        let mut figures = VariantColumn::of(&table);
        // Nothing is over a capacity that nobody knows, and often no request has failed.
        let is_known = |figure: &VariantColumn| {
            table.rows.iter().any(|variant| figure.bytes(&table, variant).is_some())
        };
        figures.retain(is_known);
        figures.sort_by_key(|figure| {
            FIRST.iter().position(|first| first == figure).unwrap_or(FIRST.len())
        });
        for figure in figures {
            let title = capitalised(figure.title());
            let percent = |short: &str, of: &str| {
                let column = Column::count(short, PERCENT).not_summed();
                column.called(format!("{title}, percent of the {of}"))
            };
            let bytes = Column::bytes(title.as_str(), FIGURE).not_summed();
            let of_reference = figure.has_percent().then(|| percent("%", "reference"));
            let of_previous =
                figure.has_percent_of_previous().then(|| percent("% before", "one before"));
            let its = [
                Some((bytes, Shown::Bytes(figure))),
                of_reference.map(|column| (column, Shown::Percent(figure))),
                of_previous.map(|column| (column, Shown::PercentOfPrevious(figure))),
            ];
            for (column, what) in its.into_iter().flatten() {
                columns.push(column);
                shown.push(what);
            }
        }
        let columns = columns.into_iter().map(Column::dense).collect();
        Self { table, shown, columns }
    }
}

impl Rows for VariantRows {
    fn len(&self) -> usize {
        self.table.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let table = &*self.table;
        let (Some(variant), Some(shown)) = (table.rows.get(row), self.shown.get(column)) else {
            return Value::Nothing;
        };
        match *shown {
            Shown::Name => Value::text(&*variant.name),
            Shown::Mark => {
                match (table.reference == Some(row), table.least_needed() == Some(row)) {
                    (true, true) => Value::text("reference ★"),
                    (true, false) => Value::text("reference"),
                    (false, true) => Value::text("least ★"),
                    (false, false) => Value::Nothing,
                }
            }
            Shown::Ran => Value::Verdict(Sign::of(table.fits(variant)), ran(variant)),
            Shown::Bytes(figure) => match figure.bytes(table, variant) {
                Some(bytes) if figure.is_at_least(variant) => Value::AtLeast(bytes),
                bytes => Value::bytes(bytes),
            },
            Shown::Percent(figure) => {
                table.percent(variant, figure).map_or(Value::Nothing, Value::Tenths)
            }
            Shown::PercentOfPrevious(figure) => {
                table.percent_of_previous(row, figure).map_or(Value::Nothing, Value::Tenths)
            }
        }
    }

    fn hover(&self, row: usize) -> Option<String> {
        let variant = self.table.rows.get(row)?;
        let path = std::iter::once(variant.path.display().to_string());
        let notes = footnotes(variant).into_iter().map(str::to_owned).chain(rank_text(variant));
        Some(path.chain(notes).collect::<Vec<_>>().join("\n"))
    }
}
