//! What computes and exchanges on the selected tiles of two reports: compute sets and exchanges by the
//! matching, vertex types by name.

use std::collections::HashMap;
use std::sync::Arc;

use eframe::egui;
use eframe::egui::ComboBox;

use super::super::compute::Listing;
use super::super::tabs::Beside;
use super::listed::{Found, Known, Listed, Things};
use crate::analysis::comparison::matching::{Matching, Pairs};
use crate::analysis::compute::compute_sets::{self, ComputeSetRow};
use crate::analysis::compute::exchanges::{self, ExchangeRow};
use crate::analysis::compute::vertices::{self, VertexRow};
use crate::analysis::figures::joined::{joined, joined_by};
use crate::analysis::memory::selection::TileSelection;
use crate::store::Report;
use crate::store::exchange::ExchangeId;
use crate::ui::job::Same;
use crate::ui::legacy::{Pair, Side};
use crate::ui::report::differences::Unit;
use crate::ui::report::{PageContext, reason_of, unread_ui};

/// A figure of the rows of a table.
struct Figure<R> {
    title: &'static str,
    unit: Unit,
    of: fn(&R) -> Known,
}

impl<R> Figure<R> {
    const fn bytes(title: &'static str, of: fn(&R) -> Known) -> Self {
        Self { title, unit: Unit::Bytes, of }
    }

    const fn count(title: &'static str, of: fn(&R) -> Known) -> Self {
        Self { title, unit: Unit::Count, of }
    }
}

const OF_COMPUTE_SETS: [Figure<ComputeSetRow>; 4] = [
    Figure::bytes("Vertex state", |row| row.state.total()),
    Figure::count("Vertices", |row| row.vertices),
    Figure::count("Edges", |row| row.edges),
    Figure::count("Cycles, at most", |row| row.cycles),
];
const OF_VERTICES: [Figure<VertexRow>; 4] = [
    Figure::bytes("Code and state", VertexRow::total),
    Figure::bytes("Code", |row| row.code),
    Figure::bytes("Vertex state", |row| row.state.total()),
    Figure::count("Vertices", |row| row.instances),
];
const OF_EXCHANGES: [Figure<ExchangeRow>; 4] = [
    Figure::bytes("Received", |row| row.received),
    Figure::bytes("Sent", |row| row.sent),
    Figure::bytes("Code", |row| row.code),
    Figure::count("Cycles, at most", |row| row.cycles),
];

/// The names of a table's figures.
fn titles(listing: Listing) -> [&'static str; 4] {
    match listing {
        Listing::ComputeSets => OF_COMPUTE_SETS.map(|figure| figure.title),
        Listing::Vertices => OF_VERTICES.map(|figure| figure.title),
        Listing::Exchanges => OF_EXCHANGES.map(|figure| figure.title),
    }
}

/// A question: the tiles, the figure, and the matching.
type Question = (TileSelection, usize, Option<Same<Matching>>);

/// One of the tables.
#[derive(Debug, Default)]
struct OneListing {
    listed: Listed<Question>,
    /// A position in its figures.
    figure: usize,
}

/// The tables, made beside the window when other tiles are selected.
#[derive(Debug, Default)]
pub struct PairListings([OneListing; 3]);

impl PairListings {
    /// Draws the table of a listing.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        (page, pair): (&mut PageContext<'_>, &Pair<'_>),
        listing: Listing,
        beside: Beside<'_>,
    ) {
        let place = Listing::ALL.iter().position(|other| *other == listing);
        let Some(OneListing { listed, figure }) = place.and_then(|place| self.0.get_mut(place))
        else {
            return;
        };
        let reports = [page.report, pair.target];
        if !reports.into_iter().all(|report| listing.is_settled(report)) {
            ui.horizontal(beside);
            unread_ui(ui, listing.title(), page.is_working || pair.is_target_working);
            return;
        }
        // Vertex types are known by name alone.
        if listing != Listing::Vertices && pair.matching.is_none() {
            ui.horizontal(beside);
            ui.weak(pair.why_not.unwrap_or("Steps are being matched"));
            return;
        }
        let tiles = &page.selection.tiles;
        let matching = pair.matching.filter(|_| listing != Listing::Vertices).map(Arc::clone);
        let key = (tiles.clone(), *figure, matching.clone().map(Same));
        let (for_job, wanted, at) = (reports.map(Arc::clone), tiles.clone(), *figure);
        listed.ask(ui.ctx(), "rows on tiles of both", &key, move |_| {
            let reports = for_job.each_ref().map(|report| &**report);
            found(reports, listing, &wanted, at, matching.as_deref())
        });
        let titles = titles(listing);
        let mut chosen = *figure;
        let mut beside = |ui: &mut egui::Ui| {
            beside(ui);
            let title = titles.get(chosen).copied().unwrap_or_default();
            let combo = ComboBox::from_id_salt(listing.title()).width(128.0).selected_text(title);
            let combo = combo.show_ui(ui, |ui| {
                for (choice, title) in titles.into_iter().enumerate() {
                    ui.selectable_value(&mut chosen, choice, title);
                }
            });
            combo.response.accessible_name("Figure");
        };
        let note = if tiles.is_empty() { "on all tiles" } else { "on the selected tiles" };
        let name = match listing {
            Listing::ComputeSets => "Compute sets of both",
            Listing::Vertices => "Vertices of both",
            Listing::Exchanges => "Exchanges of both",
        };
        listed.ui(ui, (name, note), &|_| false, page.commands, &mut beside);
        *figure = chosen;
    }
}

fn found(
    reports: [&Report; 2],
    listing: Listing,
    tiles: &TileSelection,
    figure: usize,
    matching: Option<&Matching>,
) -> Found {
    let none = Pairs::default();
    match listing {
        Listing::ComputeSets => {
            let rows = both(reports, listing, |report| compute_sets::rows(report, tiles))?;
            let pairs = matching.map_or(&none, |matching| &matching.compute_sets);
            let [source, target] = reports.map(|report| report.compute_sets.get());
            let rows = paired(
                rows,
                pairs,
                |row| source?.ids.position(row.id),
                |row| target?.ids.position(row.id),
            );
            let figure = OF_COMPUTE_SETS.get(figure);
            Ok(things("Compute set", vec![], &rows, figure, |row| row.name.clone(), |_| vec![]))
        }
        Listing::Vertices => {
            let [source, target] = both(reports, listing, |report| vertices::rows(report, tiles))?;
            let rows = joined_by(source, target, |row: &VertexRow| row.name.clone());
            let figure = OF_VERTICES.get(figure);
            Ok(things("Vertex type", vec![], &rows, figure, |row| row.name.clone(), |_| vec![]))
        }
        Listing::Exchanges => {
            let rows = both(reports, listing, |report| exchanges::rows(report, tiles))?;
            let pairs = matching.map_or(&none, |matching| &matching.exchanges);
            let [source, target] = reports.map(exchange_positions);
            let rows = paired(
                rows,
                pairs,
                |row| source.get(&row.id).copied(),
                |row| target.get(&row.id).copied(),
            );
            let figure = OF_EXCHANGES.get(figure);
            let name = |row: &ExchangeRow| match &*row.name {
                "" => row.routes.join("; "),
                name => name.to_owned(),
            };
            let kind = |row: &ExchangeRow| vec![Arc::from(row.id.kind.title())];
            Ok(things("Exchange", vec!["Kind"], &rows, figure, name, kind))
        }
    }
}

/// Where the exchanges of a report stand.
fn exchange_positions(report: &Report) -> HashMap<ExchangeId, usize> {
    let ids = report.exchanges.get().map_or(&[][..], |exchanges| &exchanges.ids);
    ids.iter().enumerate().map(|(position, id)| (*id, position)).collect()
}

/// The rows of both, or why a report has none.
fn both<R>(
    reports: [&Report; 2],
    listing: Listing,
    rows: impl Fn(&Report) -> Option<Vec<R>>,
) -> Result<[Vec<R>; 2], (String, String)> {
    let [source, target] = Side::BOTH.map(|side| {
        rows(side.of(reports)).ok_or_else(|| {
            let title =
                format!("{} are not in the {}", listing.title(), side.title().to_lowercase());
            (title, reason_of(listing.absence(side.of(reports))))
        })
    });
    Ok([source?, target?])
}

/// What tells rows apart: those of a pair have one key, that of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Both(usize),
    Alone(Side, Option<usize>),
}

/// Joins rows by the pairs of the positions that they come from.
fn paired<R>(
    [source, target]: [Vec<R>; 2],
    pairs: &Pairs,
    source_position: impl Fn(&R) -> Option<usize>,
    target_position: impl Fn(&R) -> Option<usize>,
) -> Vec<[Option<R>; 2]> {
    let of_source = |row: R| {
        let position = source_position(&row);
        let pair = position.filter(|position| pairs.target_of(*position).is_some());
        (pair.map_or(Key::Alone(Side::Source, position), Key::Both), row)
    };
    let of_target = |row: R| {
        let position = target_position(&row);
        let pair = position.and_then(|position| pairs.source_of(position));
        (pair.map_or(Key::Alone(Side::Target, position), Key::Both), row)
    };
    let source = source.into_iter().map(of_source).collect();
    joined(source, target.into_iter().map(of_target).collect())
}

fn things<R>(
    title: &'static str,
    groupings: Vec<&'static str>,
    rows: &[[Option<R>; 2]],
    figure: Option<&Figure<R>>,
    name: impl Fn(&R) -> String,
    groups: impl Fn(&R) -> Vec<Arc<str>>,
) -> Things {
    let unit = figure.map_or(Unit::Bytes, |figure| figure.unit);
    let of = |row: &R| figure.and_then(|figure| (figure.of)(row));
    let things = rows.iter().filter_map(|rows| {
        let [source, target] = rows.each_ref().map(Option::as_ref);
        let first = source.or(target)?;
        let names = [source, target].map(|row| row.map(&name));
        let name = match names {
            // A pair by place or by numbers that differ.
            [Some(source), Some(target)] if source != target => format!("{source} → {target}"),
            [source, target] => source.or(target)?,
        };
        Some((name, [source, target].map(|row| row.map(of)), groups(first)))
    });
    Things::new(unit, title, groupings, things)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::comparison::matching::Sureness;

    #[test]
    fn pairs_join_rows_whatever_their_names() {
        let mut pairs = Pairs::new(3, 3);
        assert!(pairs.pair(0, 2, Sureness::Likely) && pairs.pair(2, 1, Sureness::Exact));
        let position = |row: &usize| (*row < 9).then_some(*row);
        let rows = paired([vec![2, 1, 0, 9], vec![0, 1, 2, 9]], &pairs, position, position);
        let expected = [
            [Some(2), Some(1)],
            [Some(1), None],
            [Some(0), Some(2)],
            [Some(9), None],
            [None, Some(0)],
            [None, Some(9)],
        ];
        assert_eq!(rows, expected);
    }
}
