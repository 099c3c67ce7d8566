//! Tables that sort and filter: the script goes by the numbers that cells carry; without it they are plain tables, largest
//! row first.

use maud::{Markup, html};

use crate::text::{bytes as short_bytes, clean, exact_bytes, grouped, signed_bytes};

/// Rows of a table at most; what is left out is summed up below it.
const MOST_ROWS: usize = 400;

/// A cell.
#[derive(Debug)]
pub(super) enum HtmlCell {
    Text(String),
    /// Bytes, and what they are beside the largest of the column.
    Bytes(u64),
    /// Bytes more or less than before.
    Change(Option<i64>),
    Count(u64),
    Empty,
}

impl HtmlCell {
    fn markup(&self, largest: u64) -> Markup {
        match self {
            Self::Text(text) => html! { td { (clean(text)) } },
            Self::Bytes(bytes) => html! {
                td.number data-value=(bytes) title=(format!("{} B", grouped(*bytes))) {
                    (short_bytes(*bytes))
                    svg.bar viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true" {
                        rect.used width=(format!("{:.1}", *bytes as f64 * 100.0 / largest.max(1) as f64)) height="1" {}
                    }
                }
            },
            Self::Change(None) => html! { td.number { "not known" } },
            Self::Change(Some(change)) => {
                let class = match change {
                    1.. => "number more",
                    0 => "number",
                    _ => "number less",
                };
                html! { td class=(class) data-value=(change) title=(format!("{change} B")) { (signed_bytes(*change)) } }
            }
            Self::Count(count) => html! { td.number data-value=(count) { (grouped(*count)) } },
            Self::Empty => html! { td {} },
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => *bytes,
            _ => 0,
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Bytes(_) | Self::Change(_) | Self::Count(_))
    }
}

/// A table by the titles of its columns, of which every row has a cell; nothing where it has no rows.
pub(super) fn table_markup(title: &str, columns: &[&str], rows: &[Vec<HtmlCell>]) -> Markup {
    if rows.is_empty() {
        return html! {};
    }
    let width = columns.len();
    let at = |row: &[HtmlCell], place: usize| row.get(place).map_or(0, HtmlCell::bytes);
    let largest: Vec<u64> =
        (0..width).map(|place| rows.iter().map(|row| at(row, place)).max().unwrap_or(0)).collect();
    let is_number =
        |place: usize| rows.iter().any(|row| row.get(place).is_some_and(HtmlCell::is_number));
    let left = rows.get(MOST_ROWS..).unwrap_or_default();
    html! {
        figure.table {
            figcaption { (clean(title)) }
            table {
                thead {
                    tr {
                        @for (place, column) in columns.iter().enumerate() {
                            th scope="col" class=[is_number(place).then_some("number")] { (column) }
                        }
                    }
                }
                tbody {
                    @for row in rows.iter().take(MOST_ROWS) {
                        tr {
                            @for (cell, largest) in row.iter().zip(&largest) {
                                (cell.markup(*largest))
                            }
                        }
                    }
                }
            }
            @if !left.is_empty() {
                @let bytes = left.iter().filter_map(|row| row.iter().find(|cell| matches!(cell, HtmlCell::Bytes(_))));
                @let bytes = bytes.map(HtmlCell::bytes).fold(0_u64, u64::saturating_add);
                p.note { (grouped(left.len() as u64)) " more rows are not in this file; they have " (exact_bytes(bytes)) }
            }
        }
    }
}
