//! Variants as the rows of a table.

use std::sync::Arc;

use crate::analysis::variants::{VariantColumn, VariantTable, footnotes, ran, rank_text};
use crate::text::capitalised;
use crate::ui::widget::rows::{Column, Rows, Value};
use crate::ui::widget::sign::Sign;

/// Least width of a column of figures, points.
const FIGURE: f32 = 60.0;
/// Least width of a column of percents, points.
const PERCENT: f32 = 34.0;
/// What decides comes first, where there is no room for all; last what is left at the end.
const FIRST: [VariantColumn; 7] = [
    VariantColumn::Needed,
    VariantColumn::OverCapacity,
    VariantColumn::FailedRequest,
    VariantColumn::MaxAllocated,
    VariantColumn::MaxReserved,
    VariantColumn::RequestedPeak,
    VariantColumn::Smi,
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
            Column::rest("Variant"),
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
            let percent = format!("{title}, percent of the reference");
            columns.push(Column::bytes(title, FIGURE).not_summed());
            shown.push(Shown::Bytes(figure));
            if figure.has_percent() {
                columns.push(Column::count("%", PERCENT).not_summed().called(percent));
                shown.push(Shown::Percent(figure));
            }
            if figure.has_percent_of_previous() {
                columns.push(
                    Column::count("% before", PERCENT).not_summed().called(format!(
                        "{}, percent of the one before",
                        capitalised(figure.title())
                    )),
                );
                shown.push(Shown::PercentOfPrevious(figure));
            }
        }
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
                table.percent(variant, figure).map_or(Value::Nothing, Value::Number)
            }
            Shown::PercentOfPrevious(figure) => {
                table.percent_of_previous(row, figure).map_or(Value::Nothing, Value::Number)
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
