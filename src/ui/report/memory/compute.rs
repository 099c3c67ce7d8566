//! What computes and exchanges on the selected tiles: compute sets, vertex types, exchanges.

use eframe::egui;
use std::sync::Arc;

use super::tabs::Beside;
use crate::analysis::compute::compute_sets::{self, ComputeSetRow};
use crate::analysis::compute::exchanges::{self, ExchangeRow};
use crate::analysis::compute::vertices::{self, VertexRow};
use crate::analysis::memory::selection::TileSelection;
use crate::store::vertex::StatePart;
use crate::store::{Absence, Report};
use crate::ui::job::Latest;
use crate::ui::report::{PageContext, missing_ui, unread_ui};
use crate::ui::widget::data_table::{Data, DataTable, no_paint};
use crate::ui::widget::rows::{Column, Listed, Rows, Value};

/// Width of a column of bytes, points.
const BYTES: f32 = 92.0;
/// Width of a column of numbers, points.
const COUNT: f32 = 80.0;

/// What a table lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Compute sets.
    ComputeSets,
    /// Vertex types.
    Vertices,
    /// Exchanges.
    Exchanges,
}

impl Listing {
    /// All of them, in the order of their tabs.
    pub const ALL: [Self; 3] = [Self::ComputeSets, Self::Vertices, Self::Exchanges];

    /// The title of its tab.
    pub fn title(self) -> &'static str {
        match self {
            Self::ComputeSets => "Compute sets",
            Self::Vertices => "Vertices",
            Self::Exchanges => "Exchanges",
        }
    }

    /// Why the report does not have them.
    pub fn absence(self, report: &Report) -> Option<&Absence> {
        match self {
            Self::ComputeSets => {
                report.compute_sets.absence().or(report.compute_set_tiles.absence())
            }
            Self::Vertices => vertices::why_no_vertices(report),
            Self::Exchanges => report.exchanges.absence(),
        }
    }

    /// Whether nothing more of it will come.
    pub fn is_settled(self, report: &Report) -> bool {
        match self {
            Self::ComputeSets => report.compute_set_tiles.is_settled(),
            Self::Vertices => report.vertex_types.is_settled(),
            Self::Exchanges => report.exchanges.is_settled(),
        }
    }

    fn columns(self) -> Vec<Column> {
        match self {
            Self::ComputeSets => vec![
                Column::rest("Compute set"),
                Column::count("Vertices", COUNT),
                Column::count("Edges", COUNT),
                Column::bytes("Vertex state", BYTES),
                Column::bytes("Vertex data", BYTES),
                Column::bytes("Edge pointers", BYTES + 8.0),
                Column::bytes("Descriptors", BYTES),
                Column::count("Cycles, at most", 104.0).not_summed(),
                Column::count("Steps", 60.0),
            ],
            Self::Vertices => vec![
                Column::rest("Vertex type"),
                Column::count("Vertices", COUNT),
                Column::bytes("In total", BYTES),
                Column::bytes("Code", BYTES),
                Column::bytes("Vertex data", BYTES),
                Column::bytes("Edge pointers", BYTES + 8.0),
                Column::bytes("Descriptors", BYTES),
                Column::bytes("Size of one", BYTES).not_summed(),
            ],
            Self::Exchanges => vec![
                Column::rest("Exchange"),
                Column::text("Kind", 74.0),
                Column::bytes("Received", BYTES),
                Column::bytes("Sent", BYTES),
                Column::bytes("Code", BYTES),
                Column::count("Cycles, at most", 104.0).not_summed(),
                Column::count("Steps", 60.0),
            ],
        }
    }

    fn rows(self, report: &Report, tiles: &TileSelection) -> Option<Arc<dyn Rows>> {
        Some(match self {
            Self::ComputeSets => {
                Arc::new(Listed { rows: compute_sets::rows(report, tiles)?, cell: of_compute_set })
            }
            Self::Vertices => {
                Arc::new(Listed { rows: vertices::rows(report, tiles)?, cell: of_vertex })
            }
            Self::Exchanges => {
                Arc::new(Listed { rows: exchanges::rows(report, tiles)?, cell: of_exchange })
            }
        })
    }
}

fn count(number: Option<u64>) -> Value<'static> {
    number.map_or(Value::Nothing, Value::Count)
}

fn of_compute_set(row: &ComputeSetRow, column: usize) -> Value<'_> {
    match column {
        0 => Value::text(&*row.name),
        1 => count(row.vertices),
        2 => count(row.edges),
        3 => Value::bytes(row.state.total()),
        4 => Value::bytes(row.state.part(StatePart::VertexData)),
        5 => Value::bytes(row.state.part(StatePart::EdgePointers)),
        6 => Value::bytes(row.state.part(StatePart::Descriptors)),
        7 => count(row.cycles),
        _ => count(row.steps),
    }
}

fn of_vertex(row: &VertexRow, column: usize) -> Value<'_> {
    match column {
        0 => Value::text(&*row.name),
        1 => count(row.instances),
        2 => Value::bytes(row.total()),
        3 => Value::bytes(row.code),
        4 => Value::bytes(row.state.part(StatePart::VertexData)),
        5 => Value::bytes(row.state.part(StatePart::EdgePointers)),
        6 => Value::bytes(row.state.part(StatePart::Descriptors)),
        _ => Value::bytes(row.size),
    }
}

fn of_exchange(row: &ExchangeRow, column: usize) -> Value<'_> {
    match column {
        0 if row.name.is_empty() => Value::text(row.routes.join("; ")),
        0 => Value::text(&*row.name),
        1 => Value::text(row.id.kind.title()),
        2 => Value::bytes(row.received),
        3 => Value::bytes(row.sent),
        4 => Value::bytes(row.code),
        5 => count(row.cycles),
        _ => count(row.steps),
    }
}

/// One of the tables.
#[derive(Debug, Default)]
struct OneListing {
    table: DataTable,
    found: Latest<(TileSelection, bool), Option<Found>>,
}

/// Rows that a job has found.
struct Found(Arc<dyn Rows>);

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} rows", self.0.len())
    }
}

/// The tables, made beside the window when other tiles are selected.
#[derive(Debug, Default)]
pub struct Listings([OneListing; 3]);

impl Listings {
    /// Draws the table of a listing.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        listing: Listing,
        beside: Beside<'_>,
    ) {
        let place = Listing::ALL.iter().position(|other| *other == listing);
        let Some(OneListing { table, found }) = place.and_then(|place| self.0.get_mut(place))
        else {
            return;
        };
        let (report, tiles) = (page.report, &page.selection.tiles);
        let is_settled = listing.is_settled(report);
        if !is_settled {
            ui.horizontal(beside);
            unread_ui(ui, listing.title(), page.is_working);
            return;
        }
        let key = (tiles.clone(), is_settled);
        let (for_job, wanted) = (Arc::clone(report), tiles.clone());
        found.ask("rows on tiles", ui.ctx(), &key, move |_| {
            listing.rows(&for_job, &wanted).map(Found)
        });
        let rows = match found.last() {
            Some((_, Some(Found(rows)))) => rows,
            Some((_, None)) => {
                ui.horizontal(beside);
                missing_ui(ui, listing.title(), listing.absence(report));
                return;
            }
            None => {
                ui.horizontal(beside);
                ui.weak(found.failure().unwrap_or("Adding up…"));
                return;
            }
        };
        let note = if tiles.is_empty() { "on all tiles" } else { "on the selected tiles" };
        let columns = listing.columns();
        let data = Data {
            name: listing.title(),
            title: "",
            note,
            columns: &columns,
            rows,
            is_selected: &|_| false,
            paint: &no_paint,
        };
        table.ui_beside(ui, &data, page.commands, Some(beside));
    }
}
