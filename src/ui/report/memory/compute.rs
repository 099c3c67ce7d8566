//! Computation and exchange on the selected tiles: compute sets, vertex types, exchanges. For several runs, compute
//! sets and exchanges are matched, and vertex types are joined by name.

use eframe::egui;
use std::collections::HashMap;
use std::sync::Arc;

use super::listed::{ListedTable, TabRows, TableText};
use super::tabs::HeadUi;
use crate::analysis::comparison::matching::{Matching, Pairs};
use crate::analysis::compute::compute_sets::{self, ComputeSetRow, SetVertices};
use crate::analysis::compute::exchanges::{self, ExchangeRow};
use crate::analysis::compute::vertices::{self, VertexRow};
use crate::analysis::figures::joined::side_by_side;
use crate::analysis::memory::selection::TileSelection;
use crate::store::vertex::StatePart;
use crate::store::{Absence, Report};
use crate::ui::report::figures::{EntryPart, EntryUnit, FigureEntry};
use crate::ui::report::{PageContext, step_place_of, unread_ui};
use crate::ui::runs::{Needed, Needs, Run, Runs};
use crate::ui::selection::{Jump, TitledJump};
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// Width of a column of bytes, points.
const BYTES: f32 = 92.0;
/// Width of a column of numbers, points.
const COUNT: f32 = 80.0;

/// A table of things on the tiles.
pub struct TileListing {
    pub title: &'static str,
    /// What its things are called.
    thing: &'static str,
    /// What they are grouped by, with the width of its column.
    kind: Option<(&'static str, f32)>,
    figures: &'static [ListingFigure],
    /// The figure of several runs that is shown at first.
    first: usize,
    needs: Needs,
    absence: fn(&Report) -> Option<&Absence>,
    /// Those that the tiles have; `None` where the report does not say.
    rows: fn(&Report, &TileSelection) -> Option<Vec<ListedThing>>,
    /// Which of the reference belong to those of a run; `None` of those that are known by their names.
    pairs: Option<fn(&Matching) -> &Pairs>,
}

pub static LISTINGS: [TileListing; 3] = [
    TileListing {
        title: "Compute sets",
        thing: "Compute set",
        kind: None,
        figures: &OF_COMPUTE_SETS,
        first: 2,
        needs: &[Needed::ComputeSets, Needed::VertexTypes, Needed::Matching],
        absence: |report| report.compute_sets.absence().or(report.compute_set_tiles.absence()),
        rows: compute_sets,
        pairs: Some(|matching| &matching.compute_sets),
    },
    TileListing {
        title: "Vertices",
        thing: "Vertex type",
        kind: None,
        figures: &OF_VERTICES,
        first: 2,
        needs: &[Needed::VertexTypes],
        absence: vertices::why_no_vertices,
        rows: vertex_types,
        pairs: None,
    },
    TileListing {
        title: "Exchanges",
        thing: "Exchange",
        kind: Some(("Kind", 74.0)),
        figures: &OF_EXCHANGES,
        first: 0,
        needs: &[Needed::Exchanges, Needed::Matching],
        absence: |report| report.exchanges.absence(),
        rows: exchanges,
        pairs: Some(|matching| &matching.exchanges),
    },
];

struct ListingFigure {
    title: &'static str,
    unit: EntryUnit,
    /// The width of its column where one run is listed, if it has one.
    width: Option<f32>,
    /// Whether several runs are compared by it.
    is_compared: bool,
    /// Whether those of several things add up.
    is_summed: bool,
}

impl ListingFigure {
    const fn bytes(title: &'static str, width: f32) -> Self {
        let (unit, width) = (EntryUnit::Bytes, Some(width));
        Self { title, unit, width, is_compared: true, is_summed: true }
    }

    const fn count(title: &'static str, width: f32) -> Self {
        Self { unit: EntryUnit::Count, ..Self::bytes(title, width) }
    }

    const fn not_summed(self) -> Self {
        Self { is_summed: false, ..self }
    }

    const fn of_one(self) -> Self {
        Self { is_compared: false, ..self }
    }

    const fn of_several(self) -> Self {
        Self { width: None, ..self }
    }

    fn column(&self) -> Option<TableColumn> {
        let width = self.width?;
        let column = match self.unit {
            EntryUnit::Bytes => TableColumn::bytes(self.title, width),
            EntryUnit::Count => TableColumn::count(self.title, width),
        };
        Some(if self.is_summed { column } else { column.not_summed() })
    }
}

/// A compute set, a vertex type or an exchange.
struct ListedThing {
    name: String,
    kind: &'static str,
    /// Where it stands among those of its report, by which it is matched.
    position: Option<usize>,
    /// Each of the figures of its listing.
    figures: Vec<Option<u64>>,
    /// The position of the first step that runs it.
    first_step: Option<u32>,
    /// What it opens into, with what they have of its first figure.
    parts: Vec<SetVertices>,
}

const OF_COMPUTE_SETS: [ListingFigure; 8] = [
    ListingFigure::count("Vertices", COUNT),
    // The report does not have them by tile.
    ListingFigure::count("Edges, all tiles", 108.0),
    ListingFigure::bytes("Vertex state", BYTES),
    ListingFigure::bytes("Vertex data", BYTES),
    ListingFigure::bytes("Edge pointers", BYTES + 8.0),
    ListingFigure::bytes("Descriptors", BYTES),
    ListingFigure::count("Cycles, at most", 104.0).not_summed(),
    ListingFigure::count("Steps", 60.0),
];

fn compute_sets(report: &Report, tiles: &TileSelection) -> Option<Vec<ListedThing>> {
    let ids = &report.compute_sets.get()?.ids;
    let thing = |row: ComputeSetRow| ListedThing {
        position: ids.position(row.id),
        figures: [row.vertices, row.edges, row.state.total()]
            .into_iter()
            .chain(PARTS.map(|part| row.state.part(part)))
            .chain([row.cycles, row.steps])
            .collect(),
        name: row.name,
        kind: "",
        first_step: row.first_step,
        parts: row.types,
    };
    Some(compute_sets::rows(report, tiles)?.into_iter().map(thing).collect())
}

/// The parts of a vertex's state that have columns.
const PARTS: [StatePart; 3] =
    [StatePart::VertexData, StatePart::EdgePointers, StatePart::Descriptors];

const OF_VERTICES: [ListingFigure; 9] = [
    ListingFigure::count("Vertices", COUNT),
    ListingFigure::bytes("In total", BYTES).of_one(),
    ListingFigure::bytes("Code and state", BYTES).of_several(),
    ListingFigure::bytes("Code", BYTES),
    ListingFigure::bytes("Vertex state", BYTES).of_several(),
    ListingFigure::bytes("Vertex data", BYTES),
    ListingFigure::bytes("Edge pointers", BYTES + 8.0),
    ListingFigure::bytes("Descriptors", BYTES),
    ListingFigure::bytes("Size of one", BYTES).not_summed(),
];

fn vertex_types(report: &Report, tiles: &TileSelection) -> Option<Vec<ListedThing>> {
    let thing = |row: VertexRow| ListedThing {
        position: None,
        figures: [row.instances, row.total(), row.total(), row.code, row.state.total()]
            .into_iter()
            .chain(PARTS.map(|part| row.state.part(part)))
            .chain([row.size])
            .collect(),
        name: row.name,
        kind: "",
        first_step: None,
        parts: Vec::new(),
    };
    Some(vertices::rows(report, tiles)?.into_iter().map(thing).collect())
}

const OF_EXCHANGES: [ListingFigure; 5] = [
    ListingFigure::bytes("Received", BYTES),
    ListingFigure::bytes("Sent", BYTES),
    ListingFigure::bytes("Code", BYTES),
    ListingFigure::count("Cycles, at most", 104.0).not_summed(),
    ListingFigure::count("Steps", 60.0),
];

fn exchanges(report: &Report, tiles: &TileSelection) -> Option<Vec<ListedThing>> {
    let ids = report.exchanges.get()?.ids.iter();
    let positions: HashMap<_, usize> = ids.copied().zip(0..).collect();
    let thing = |row: ExchangeRow| ListedThing {
        position: positions.get(&row.id).copied(),
        name: if row.name.is_empty() { row.routes.join("; ") } else { row.name },
        kind: row.id.kind.title(),
        figures: vec![row.received, row.sent, row.code, row.cycles, row.steps],
        first_step: row.first_step,
        parts: Vec::new(),
    };
    Some(exchanges::rows(report, tiles)?.into_iter().map(thing).collect())
}

/// The way to the first step that runs a thing.
fn place_of(runs: &Runs, run: &Run, thing: &ListedThing) -> Option<TitledJump> {
    Some(step_place_of(runs, run, thing.first_step? as usize))
}

/// The things of one run, each with the way to its first step.
struct ThingRows {
    listing: &'static TileListing,
    things: Vec<(ListedThing, Option<TitledJump>)>,
}

impl ThingRows {
    fn thing(&self, row: usize) -> Option<&ListedThing> {
        self.things.get(row).map(|(thing, _)| thing)
    }
}

impl Rows for ThingRows {
    fn len(&self) -> usize {
        self.things.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some(thing) = self.thing(row) else { return CellValue::Nothing };
        match column.checked_sub(1 + usize::from(self.listing.kind.is_some())) {
            Some(column) => {
                let figures = self.listing.figures.iter().zip(&thing.figures);
                match figures.filter(|(figure, _)| figure.width.is_some()).nth(column) {
                    Some((ListingFigure { unit: EntryUnit::Bytes, .. }, bytes)) => {
                        CellValue::bytes(*bytes)
                    }
                    Some((_, count)) => count.map_or(CellValue::Nothing, CellValue::Count),
                    None => CellValue::Nothing,
                }
            }
            None if column == 0 => CellValue::text(&*thing.name),
            None => CellValue::text(thing.kind),
        }
    }

    fn parts(&self, row: usize) -> usize {
        self.thing(row).map_or(0, |thing| thing.parts.len())
    }

    fn part(&self, row: usize, part: usize, column: usize) -> CellValue<'_> {
        let part = self.thing(row).and_then(|thing| thing.parts.get(part));
        match (part, column) {
            (Some(part), 0) => CellValue::text(&*part.name),
            (Some(part), 1) => part.count.map_or(CellValue::Nothing, CellValue::Count),
            // Of a type in a compute set nothing else is known.
            _ => CellValue::text(""),
        }
    }

    fn are_parts_found(&self) -> bool {
        true
    }

    fn places(&self, row: usize) -> Vec<TitledJump> {
        self.things.get(row).and_then(|(_, place)| place.clone()).into_iter().collect()
    }
}

impl TileListing {
    fn listed(&'static self, runs: &Runs, tiles: &TileSelection, figure: usize) -> TabRows {
        let mut found = Vec::with_capacity(runs.len());
        for run in runs.iter() {
            match (self.rows)(&run.report, tiles) {
                Some(things) => found.push(things),
                None => {
                    return TabRows::absent(runs, run, self.title, (self.absence)(&run.report));
                }
            }
        }
        if runs.is_one() {
            let kind = self.kind.map(|(title, width)| TableColumn::text(title, width));
            let figures = self.figures.iter().filter_map(ListingFigure::column);
            let columns =
                std::iter::once(TableColumn::rest(self.thing)).chain(kind).chain(figures).collect();
            let placed = |thing| {
                let place = place_of(runs, runs.reference(), &thing);
                (thing, place)
            };
            let things = found.pop().unwrap_or_default().into_iter().map(placed).collect();
            let rows = Arc::new(ThingRows { listing: self, things });
            return TabRows::One { columns, rows, note: None };
        }
        let keyed = |(place, (run, things)): (usize, (&Run, Vec<ListedThing>))| {
            let pairs = run.pair.as_ref().zip(self.pairs).map(|(pair, of)| of(&pair.matching));
            let key = |thing: &ListedThing| match self.pairs {
                None => ThingKey::Named(thing.name.clone()),
                Some(_) => key_of(place, thing.position, pairs),
            };
            things.into_iter().map(|thing| (key(&thing), thing)).collect()
        };
        let rows = side_by_side(runs.iter().zip(found).enumerate().map(keyed).collect());
        self.of_several(runs, &rows, figure)
    }

    fn of_several(&self, runs: &Runs, rows: &[Vec<Option<ListedThing>>], chosen: usize) -> TabRows {
        let entry = |things: &Vec<Option<ListedThing>>| {
            let known =
                |thing: &ListedThing| thing.figures.get(chosen).copied().flatten().ok_or(());
            let figures = things.iter().map(|thing| thing.as_ref().map(known).transpose());
            let figures = figures.collect::<Result<_, ()>>().ok()?;
            // Those that belong together by place, or by numbers that differ, may have several names.
            let mut names: Vec<&str> = Vec::new();
            for thing in things.iter().flatten() {
                if !names.contains(&&*thing.name) {
                    names.push(&thing.name);
                }
            }
            let first = things.iter().flatten().next().filter(|_| self.kind.is_some());
            let groups = first.map(|thing| Arc::from(thing.kind)).into_iter().collect();
            let places = runs.iter().zip(things);
            let places = places.filter_map(|(run, thing)| place_of(runs, run, thing.as_ref()?));
            let places = places.collect();
            // What parts have is known of the first figure alone.
            let parts = if chosen == 0 { parts_of_several(things) } else { Vec::new() };
            let (name, padding) = (names.join(" → "), None);
            Some(FigureEntry {
                name,
                figures,
                groups,
                parts,
                padding,
                places,
                ..FigureEntry::default()
            })
        };
        let unit = self.figures.get(chosen).map_or(EntryUnit::Bytes, |figure| figure.unit);
        let groupings = self.kind.map(|(title, _)| title).into_iter().collect();
        TabRows::of_several(runs, self.thing, unit, groupings, rows.iter().map(entry))
    }
}

/// What tells things apart: those that belong together have one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ThingKey {
    Named(String),
    /// A run, and the position there; of what is matched the reference and its position.
    At(usize, Option<usize>),
}

/// The key of a thing by its position in a run; the reference has no pairs.
fn key_of(place: usize, position: Option<usize>, pairs: Option<&Pairs>) -> ThingKey {
    match position.and_then(|position| pairs?.source_of(position)) {
        Some(of_reference) => ThingKey::At(0, Some(of_reference)),
        None => ThingKey::At(place, position),
    }
}

/// What the same thing opens into in several runs, by name.
fn parts_of_several(things: &[Option<ListedThing>]) -> Vec<EntryPart> {
    let named = |thing: &Option<ListedThing>| {
        let parts = thing.iter().flat_map(|thing| &thing.parts);
        parts.map(|part| (part.name.clone(), part.clone())).collect()
    };
    let part = |parts: Vec<Option<SetVertices>>| {
        let name = parts.iter().flatten().next()?.name.clone();
        let figures = parts.iter().map(|part| part.as_ref()?.count).collect();
        Some(EntryPart { name, figures })
    };
    side_by_side(things.iter().map(named).collect()).into_iter().filter_map(part).collect()
}

struct ListingTable {
    table: ListedTable<(TileSelection, usize)>,
    figure: usize,
}

/// The tables, made beside the window when other tiles are selected.
pub struct Listings([ListingTable; 3]);

impl Default for Listings {
    fn default() -> Self {
        Self(
            LISTINGS.each_ref().map(|listing| ListingTable {
                table: ListedTable::default(),
                figure: listing.first,
            }),
        )
    }
}

impl Listings {
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        listing: usize,
        beside: HeadUi<'_>,
    ) {
        let listing = LISTINGS.get(listing).zip(self.0.get_mut(listing));
        let Some((listing, ListingTable { table, figure })) = listing else { return };
        let (runs, needs) = (page.runs, listing.needs);
        if !runs.are_read(needs) {
            ui.horizontal(beside);
            unread_ui(ui, listing.title, runs.is_working());
            return;
        }
        if !runs.is_settled(needs) {
            ui.horizontal(beside);
            ui.weak(runs.why_not.as_deref().unwrap_or("Steps are being matched"));
            return;
        }
        let question = (page.selection.tiles.clone(), *figure);
        let (tiles, mut chosen) = question.clone();
        table.ask(ui.ctx(), (runs, needs), &question, move |runs| {
            listing.listed(runs, &tiles, chosen)
        });
        let mut beside = |ui: &mut egui::Ui| {
            beside(ui);
            if !runs.is_one() {
                figure_ui(ui, listing, &mut chosen);
            }
        };
        let steps = page.selection.steps.clone();
        let is_selected = |place| matches!(place, Jump::Step(step) if steps.contains(&step));
        let text = TableText {
            name: listing.title,
            note: if page.selection.tiles.is_empty() {
                "on all tiles"
            } else {
                "on the selected tiles"
            },
            waiting: "Adding up…",
            is_selected: &|_, places| places().iter().any(|(_, place)| is_selected(*place)),
        };
        let clicked = table.ui(ui, page, &text, &mut beside);
        if let Some((_, place)) = clicked.and_then(|clicked| clicked.places.into_iter().next()) {
            page.selection.select(place);
        }
        *figure = chosen;
    }
}

fn figure_ui(ui: &mut egui::Ui, listing: &TileListing, chosen: &mut usize) {
    let figure = |place: &usize| listing.figures.get(*place);
    let compared = |place: &usize| figure(place).is_some_and(|figure| figure.is_compared);
    let title = |place: &usize| figure(place).map_or("", |figure| figure.title);
    let figures = (0..listing.figures.len()).filter(compared);
    choice_ui(ui, "Figure", 128.0, chosen, figures, title);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::comparison::matching::Sureness;

    #[test]
    fn edges_are_said_to_be_those_of_all_tiles() {
        // Beside vertices of the selected tiles, in the window and in copies.
        let titles: Vec<&str> = OF_COMPUTE_SETS.iter().map(|figure| figure.title).collect();
        assert_eq!(titles[..2], ["Vertices", "Edges, all tiles"]);
        let columns: Vec<TableColumn> =
            OF_COMPUTE_SETS.iter().filter_map(ListingFigure::column).collect();
        assert_eq!(columns[1].whole_title(), "Edges, all tiles");
    }

    #[test]
    fn pairs_join_things_whatever_their_names() {
        let mut pairs = Pairs::new(3, 3);
        assert!(pairs.pair(0, 2, Sureness::Likely) && pairs.pair(2, 1, Sureness::Exact));
        let position = |row: usize| (row < 9).then_some(row);
        let key = |place, row, pairs| (key_of(place, position(row), pairs), row);
        let of_reference = [2, 1, 0, 9].map(|row| key(0, row, None)).to_vec();
        let of_other = [0, 1, 2, 9].map(|row| key(1, row, Some(&pairs))).to_vec();
        let expected = [
            [Some(2), Some(1)],
            [Some(1), None],
            [Some(0), Some(2)],
            [Some(9), None],
            [None, Some(0)],
            [None, Some(9)],
        ];
        assert_eq!(side_by_side(vec![of_reference, of_other]), expected);
    }
}
