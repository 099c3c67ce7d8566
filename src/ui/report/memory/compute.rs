//! What computes and exchanges on the selected tiles: compute sets, vertex types, exchanges. Of several
//! runs compute sets and exchanges are those that are matched, vertex types those of one name.

use eframe::egui;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use super::listed::{Listed, ListedTable, TableText};
use super::tabs::Beside;
use crate::analysis::comparison::matching::{Matching, Pairs};
use crate::analysis::compute::compute_sets::{self, ComputeSetRow, SetVertices};
use crate::analysis::compute::exchanges::{self, ExchangeRow};
use crate::analysis::compute::vertices::{self, VertexRow};
use crate::analysis::figures::joined::side_by_side;
use crate::analysis::memory::selection::TileSelection;
use crate::store::exchange::ExchangeId;
use crate::store::vertex::StatePart;
use crate::store::{Absence, ComputeSetId, Report};
use crate::ui::report::figures::{Entry, Part, Unit};
use crate::ui::report::{PageContext, step_place_of, unread_ui};
use crate::ui::runs::{Needed, Needs, Run, Runs};
use crate::ui::selection::{Place, TitledPlace};
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::rows::{Column, Rows, Value};

/// Width of a column of bytes, points.
const BYTES: f32 = 92.0;
/// Width of a column of numbers, points.
const COUNT: f32 = 80.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    ComputeSets,
    Vertices,
    Exchanges,
}

impl Listing {
    pub const ALL: [Self; 3] = [Self::ComputeSets, Self::Vertices, Self::Exchanges];

    pub fn title(self) -> &'static str {
        match self {
            Self::ComputeSets => "Compute sets",
            Self::Vertices => "Vertices",
            Self::Exchanges => "Exchanges",
        }
    }

    fn absence(self, report: &Report) -> Option<&Absence> {
        match self {
            Self::ComputeSets => {
                report.compute_sets.absence().or(report.compute_set_tiles.absence())
            }
            Self::Vertices => vertices::why_no_vertices(report),
            Self::Exchanges => report.exchanges.absence(),
        }
    }

    fn needs(self) -> Needs {
        match self {
            Self::ComputeSets => &[Needed::ComputeSets, Needed::VertexTypes, Needed::Matching],
            Self::Vertices => &[Needed::VertexTypes],
            Self::Exchanges => &[Needed::Exchanges, Needed::Matching],
        }
    }

    fn listed(self, runs: &Runs, tiles: &TileSelection, figure: usize) -> Listed {
        match self {
            Self::ComputeSets => listed::<ComputeSetRow>(self, runs, tiles, figure),
            Self::Vertices => listed::<VertexRow>(self, runs, tiles, figure),
            Self::Exchanges => listed::<ExchangeRow>(self, runs, tiles, figure),
        }
    }

    /// The figures to choose from where several runs are listed, and the one that is shown at first.
    fn figures(self) -> (Vec<(usize, &'static str)>, usize) {
        fn of<R: Thing>() -> (Vec<(usize, &'static str)>, usize) {
            let figures = R::FIGURES.iter().enumerate().filter(|(_, figure)| figure.is_compared);
            (figures.map(|(place, figure)| (place, figure.title)).collect(), R::FIRST)
        }
        match self {
            Self::ComputeSets => of::<ComputeSetRow>(),
            Self::Vertices => of::<VertexRow>(),
            Self::Exchanges => of::<ExchangeRow>(),
        }
    }
}

struct Figure<R> {
    title: &'static str,
    unit: Unit,
    /// The width of its column where one run is listed, if it has one.
    width: Option<f32>,
    /// Whether several runs are compared by it.
    is_compared: bool,
    /// Whether those of several things add up.
    is_summed: bool,
    of: fn(&R) -> Option<u64>,
}

impl<R> Figure<R> {
    const fn bytes(title: &'static str, of: fn(&R) -> Option<u64>) -> Self {
        let (unit, width) = (Unit::Bytes, Some(BYTES));
        Self { title, unit, width, is_compared: true, is_summed: true, of }
    }

    const fn count(title: &'static str, of: fn(&R) -> Option<u64>) -> Self {
        Self { unit: Unit::Count, width: Some(COUNT), ..Self::bytes(title, of) }
    }

    const fn wide(self, width: f32) -> Self {
        Self { width: Some(width), ..self }
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

    fn column(&self) -> Option<Column> {
        let width = self.width?;
        let column = match self.unit {
            Unit::Bytes => Column::bytes(self.title, width),
            Unit::Count => Column::count(self.title, width),
        };
        Some(if self.is_summed { column } else { column.not_summed() })
    }
}

trait Thing: Send + Sync + Sized + 'static {
    type Id: Clone + Eq + Hash;
    const TITLE: &'static str;
    const FIGURES: &'static [Figure<Self>];
    /// The figure of several runs that is shown at first.
    const FIRST: usize;

    /// Those that the tiles have; `None` where the report does not say.
    const ROWS: fn(&Report, &TileSelection) -> Option<Vec<Self>>;

    fn name(&self) -> Cow<'_, str>;
    fn id(&self) -> Self::Id;
    /// The ids of a report, in the order in which they are matched.
    fn ids(_: &Report) -> Vec<Self::Id> {
        Vec::new()
    }
    /// Which of the reference belong to those of a run; nothing of those that are known by their ids.
    fn pairs(_: &Matching) -> Option<&Pairs> {
        None
    }
    /// What they are grouped by, with its width.
    const KIND: Option<(&'static str, f32)> = None;
    fn kind(&self) -> &'static str {
        ""
    }
    /// The position of the first step that runs it.
    fn first_step(&self) -> Option<u32> {
        None
    }
    /// What it opens into, with what they have of its first figure.
    fn parts(&self) -> &[SetVertices] {
        &[]
    }
}

impl Thing for ComputeSetRow {
    type Id = ComputeSetId;
    const TITLE: &'static str = "Compute set";
    const FIGURES: &'static [Figure<Self>] = &[
        Figure::count("Vertices", |row: &Self| row.vertices),
        // The report does not have them by tile.
        Figure::count("Edges, all tiles", |row: &Self| row.edges).wide(108.0),
        Figure::bytes("Vertex state", |row: &Self| row.state.total()),
        Figure::bytes("Vertex data", |row: &Self| row.state.part(StatePart::VertexData)),
        Figure::bytes("Edge pointers", |row: &Self| row.state.part(StatePart::EdgePointers))
            .wide(BYTES + 8.0),
        Figure::bytes("Descriptors", |row: &Self| row.state.part(StatePart::Descriptors)),
        Figure::count("Cycles, at most", |row: &Self| row.cycles).wide(104.0).not_summed(),
        Figure::count("Steps", |row: &Self| row.steps).wide(60.0),
    ];
    const FIRST: usize = 2;
    const ROWS: fn(&Report, &TileSelection) -> Option<Vec<Self>> = compute_sets::rows;

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }

    fn id(&self) -> ComputeSetId {
        self.id
    }

    fn ids(report: &Report) -> Vec<ComputeSetId> {
        report.compute_sets.get().map_or(Vec::new(), |sets| sets.ids.as_slice().to_vec())
    }

    fn pairs(matching: &Matching) -> Option<&Pairs> {
        Some(&matching.compute_sets)
    }

    fn first_step(&self) -> Option<u32> {
        self.first_step
    }

    fn parts(&self) -> &[SetVertices] {
        &self.types
    }
}

impl Thing for VertexRow {
    type Id = String;
    const TITLE: &'static str = "Vertex type";
    const FIGURES: &'static [Figure<Self>] = &[
        Figure::count("Vertices", |row: &Self| row.instances),
        Figure::bytes("In total", Self::total).of_one(),
        Figure::bytes("Code and state", Self::total).of_several(),
        Figure::bytes("Code", |row: &Self| row.code),
        Figure::bytes("Vertex state", |row: &Self| row.state.total()).of_several(),
        Figure::bytes("Vertex data", |row: &Self| row.state.part(StatePart::VertexData)),
        Figure::bytes("Edge pointers", |row: &Self| row.state.part(StatePart::EdgePointers))
            .wide(BYTES + 8.0),
        Figure::bytes("Descriptors", |row: &Self| row.state.part(StatePart::Descriptors)),
        Figure::bytes("Size of one", |row: &Self| row.size).not_summed(),
    ];
    const FIRST: usize = 2;
    const ROWS: fn(&Report, &TileSelection) -> Option<Vec<Self>> = vertices::rows;

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }

    fn id(&self) -> String {
        self.name.clone()
    }
}

impl Thing for ExchangeRow {
    type Id = ExchangeId;
    const TITLE: &'static str = "Exchange";
    const FIGURES: &'static [Figure<Self>] = &[
        Figure::bytes("Received", |row: &Self| row.received),
        Figure::bytes("Sent", |row: &Self| row.sent),
        Figure::bytes("Code", |row: &Self| row.code),
        Figure::count("Cycles, at most", |row: &Self| row.cycles).wide(104.0).not_summed(),
        Figure::count("Steps", |row: &Self| row.steps).wide(60.0),
    ];
    const FIRST: usize = 0;
    const KIND: Option<(&'static str, f32)> = Some(("Kind", 74.0));
    const ROWS: fn(&Report, &TileSelection) -> Option<Vec<Self>> = exchanges::rows;

    fn name(&self) -> Cow<'_, str> {
        match &*self.name {
            "" => Cow::Owned(self.routes.join("; ")),
            name => Cow::Borrowed(name),
        }
    }

    fn id(&self) -> ExchangeId {
        self.id
    }

    fn ids(report: &Report) -> Vec<ExchangeId> {
        report.exchanges.get().map_or(Vec::new(), |exchanges| exchanges.ids.clone())
    }

    fn pairs(matching: &Matching) -> Option<&Pairs> {
        Some(&matching.exchanges)
    }

    fn kind(&self) -> &'static str {
        self.id.kind.title()
    }

    fn first_step(&self) -> Option<u32> {
        self.first_step
    }
}

/// The way to the first step that runs a thing.
fn place_of<R: Thing>(runs: &Runs, run: &Run, row: &R) -> Option<TitledPlace> {
    Some(step_place_of(runs, run, row.first_step()? as usize))
}

/// The things of one run, each with the way to its first step.
struct ThingRows<R>(Vec<(R, Option<TitledPlace>)>);

impl<R: Thing> Rows for ThingRows<R> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.0.get(row).map_or(Value::Nothing, |(row, _)| thing_cell(row, column))
    }

    fn parts(&self, row: usize) -> usize {
        self.0.get(row).map_or(0, |(row, _)| row.parts().len())
    }

    fn part(&self, row: usize, part: usize, column: usize) -> Value<'_> {
        let part = self.0.get(row).and_then(|(row, _)| row.parts().get(part));
        match (part, column) {
            (Some(part), 0) => Value::text(&*part.name),
            (Some(part), 1) => part.count.map_or(Value::Nothing, Value::Count),
            // Of a type in a compute set nothing else is known.
            _ => Value::text(""),
        }
    }

    fn are_parts_found(&self) -> bool {
        true
    }

    fn places(&self, row: usize) -> Vec<TitledPlace> {
        self.0.get(row).and_then(|(_, place)| place.clone()).into_iter().collect()
    }
}

fn thing_cell<R: Thing>(row: &R, column: usize) -> Value<'_> {
    match column.checked_sub(1 + usize::from(R::KIND.is_some())) {
        Some(column) => {
            let mut figures = R::FIGURES.iter().filter(|figure| figure.width.is_some());
            let Some(figure) = figures.nth(column) else { return Value::Nothing };
            match ((figure.of)(row), figure.unit) {
                (None, _) => Value::Nothing,
                (Some(bytes), Unit::Bytes) => Value::Bytes(bytes),
                (Some(count), Unit::Count) => Value::Count(count),
            }
        }
        None if column == 0 => Value::text(row.name()),
        None => Value::text(row.kind()),
    }
}

fn listed<R: Thing>(listing: Listing, runs: &Runs, tiles: &TileSelection, figure: usize) -> Listed {
    let mut found = Vec::with_capacity(runs.len());
    for run in runs.iter() {
        match R::ROWS(&run.report, tiles) {
            Some(rows) => found.push(rows),
            None => {
                return Listed::absent(runs, run, listing.title(), listing.absence(&run.report));
            }
        }
    }
    if runs.is_one() {
        let kind = R::KIND.map(|(title, width)| Column::text(title, width));
        let figures = R::FIGURES.iter().filter_map(Figure::column);
        let columns = std::iter::once(Column::rest(R::TITLE)).chain(kind).chain(figures).collect();
        let rows = found.pop().unwrap_or_default();
        let run = runs.reference();
        let placed = |row| {
            let place = place_of(runs, run, &row);
            (row, place)
        };
        let rows = Arc::new(ThingRows(rows.into_iter().map(placed).collect()));
        return Listed::One { columns, rows, note: None };
    }
    let keyed = |(place, (run, rows)): (usize, (&_, Vec<R>))| keyed(place, run, rows);
    let rows = side_by_side(runs.iter().zip(found).enumerate().map(keyed).collect());
    of_several(runs, &rows, figure)
}

/// What tells things apart: those that belong together have one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ThingKey<I> {
    Named(I),
    /// A run, and the position there; of what is matched the reference and its position.
    At(usize, Option<usize>),
}

fn keyed<R: Thing>(place: usize, run: &Run, rows: Vec<R>) -> Vec<(ThingKey<R::Id>, R)> {
    let ids = R::ids(&run.report);
    let positions: HashMap<R::Id, usize> = ids.into_iter().zip(0..).collect();
    let pairs = run.pair.as_ref().map(|pair| R::pairs(&pair.matching));
    let key = |row: &R| {
        let position = positions.get(&row.id()).copied();
        match pairs {
            _ if positions.is_empty() => ThingKey::Named(row.id()),
            Some(Some(pairs)) => key_of(place, position, pairs),
            _ => ThingKey::At(place, position),
        }
    };
    rows.into_iter().map(|row| (key(&row), row)).collect()
}

/// The key of a thing by its position in a run that is not the reference.
fn key_of<I>(place: usize, position: Option<usize>, pairs: &Pairs) -> ThingKey<I> {
    match position.and_then(|position| pairs.source_of(position)) {
        Some(of_reference) => ThingKey::At(0, Some(of_reference)),
        None => ThingKey::At(place, position),
    }
}

fn of_several<R: Thing>(runs: &Runs, rows: &[Vec<Option<R>>], chosen: usize) -> Listed {
    let figure = R::FIGURES.get(chosen);
    let entry = |rows: &Vec<Option<R>>| {
        let known = |row: &R| figure.and_then(|figure| (figure.of)(row)).ok_or(());
        let figures = rows.iter().map(|row| row.as_ref().map(known).transpose());
        let figures = figures.collect::<Result<_, ()>>().ok()?;
        // Those that belong together by place, or by numbers that differ, may have several names.
        let mut names: Vec<Cow<'_, str>> = Vec::new();
        for name in rows.iter().flatten().map(R::name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let kind = rows.iter().flatten().next().filter(|_| R::KIND.is_some());
        let groups = kind.map(|row| Arc::from(row.kind())).into_iter().collect();
        let places = runs.iter().zip(rows);
        let places = places.filter_map(|(run, row)| place_of(runs, run, row.as_ref()?)).collect();
        // What parts have is known of the first figure alone.
        let parts = if chosen == 0 { parts_of_several(rows) } else { Vec::new() };
        Some(Entry { name: names.join(" → "), figures, groups, parts, places })
    };
    let unit = figure.map_or(Unit::Bytes, |figure| figure.unit);
    let groupings = R::KIND.map(|(title, _)| title).into_iter().collect();
    Listed::of_several(runs, (R::TITLE, unit), groupings, rows.iter().map(entry))
}

/// What the same thing opens into in several runs, by name.
fn parts_of_several<R: Thing>(rows: &[Option<R>]) -> Vec<Part> {
    let named = |row: &Option<R>| {
        let parts = row.as_ref().map_or(&[][..], Thing::parts).iter();
        parts.map(|part| (part.name.clone(), part.clone())).collect()
    };
    let part = |parts: Vec<Option<SetVertices>>| {
        let name = parts.iter().flatten().next()?.name.clone();
        let figures = parts.iter().map(|part| part.as_ref()?.count).collect();
        Some(Part { name, figures })
    };
    side_by_side(rows.iter().map(named).collect()).into_iter().filter_map(part).collect()
}

struct ListingTable {
    table: ListedTable<(TileSelection, usize)>,
    figure: usize,
}

/// The tables, made beside the window when other tiles are selected.
pub struct Listings([ListingTable; 3]);

impl Default for Listings {
    fn default() -> Self {
        let table = |listing: Listing| {
            let (_, figure) = listing.figures();
            ListingTable { table: ListedTable::default(), figure }
        };
        Self(Listing::ALL.map(table))
    }
}

impl Listings {
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        listing: Listing,
        beside: Beside<'_>,
    ) {
        let place = Listing::ALL.iter().position(|other| *other == listing);
        let Some(ListingTable { table, figure }) = place.and_then(|place| self.0.get_mut(place))
        else {
            return;
        };
        let (runs, needs) = (page.runs, listing.needs());
        if !runs.are_read(needs) {
            ui.horizontal(beside);
            unread_ui(ui, listing.title(), runs.is_working());
            return;
        }
        if !runs.is_settled(needs) {
            ui.horizontal(beside);
            ui.weak(runs.why_not.as_deref().unwrap_or("Steps are being matched"));
            return;
        }
        let tiles = page.selection.tiles.clone();
        let question = (tiles.clone(), *figure);
        let (_, at) = question;
        let wanted = tiles.clone();
        table
            .ask(ui.ctx(), (runs, needs), &question, move |runs| listing.listed(runs, &wanted, at));
        let mut chosen = *figure;
        let mut beside = |ui: &mut egui::Ui| {
            beside(ui);
            if !runs.is_one() {
                figure_ui(ui, listing, &mut chosen);
            }
        };
        let steps = page.selection.steps.clone();
        let is_selected = |place| matches!(place, Place::Step(step) if steps.contains(&step));
        let text = TableText {
            name: listing.title(),
            note: if tiles.is_empty() { "on all tiles" } else { "on the selected tiles" },
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

fn figure_ui(ui: &mut egui::Ui, listing: Listing, chosen: &mut usize) {
    let (figures, _) = listing.figures();
    let title = |place: &usize| {
        figures.iter().find(|(other, _)| other == place).map_or("", |(_, title)| title)
    };
    choice_ui(ui, ("Figure", 128.0), chosen, figures.iter().map(|(place, _)| *place), title);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::comparison::matching::Sureness;

    #[test]
    fn edges_are_said_to_be_those_of_all_tiles() {
        // Beside vertices of the selected tiles, in the window and in copies.
        let titles: Vec<&str> = ComputeSetRow::FIGURES.iter().map(|figure| figure.title).collect();
        assert_eq!(titles[..2], ["Vertices", "Edges, all tiles"]);
        let columns: Vec<Column> =
            ComputeSetRow::FIGURES.iter().filter_map(Figure::column).collect();
        assert_eq!(columns[1].whole_title(), "Edges, all tiles");
    }

    #[test]
    fn pairs_join_things_whatever_their_names() {
        let mut pairs = Pairs::new(3, 3);
        assert!(pairs.pair(0, 2, Sureness::Likely) && pairs.pair(2, 1, Sureness::Exact));
        let position = |row: usize| (row < 9).then_some(row);
        let of_reference =
            [2, 1, 0, 9].map(|row| (ThingKey::<()>::At(0, position(row)), row)).to_vec();
        let of_other = [0, 1, 2, 9].map(|row| (key_of(1, position(row), &pairs), row)).to_vec();
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
