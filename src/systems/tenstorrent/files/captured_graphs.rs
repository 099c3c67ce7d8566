//! The table `captured_graph`: the graphs of operations, by ascending operation.
//!
//! Their rows mostly stand in this order, so graphs are handed on as they come, while the next parts of the table are read.
//! Where one stands behind that of a later operation, the table is read again, and all graphs are kept and sorted.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::graph::parse;
use super::{known, rank_number};
use crate::format::sqlite::{Cells, Database, NumberedRows, ROW_ID, Tables};
use crate::format::{Error, Progress};
use crate::store::names::{FastMap, Interner, NameId};
use crate::store::{WarningCode, Warnings};
use crate::systems::tenstorrent::recorded::{OperationGraph, TtnnReport};

const TABLE: &str = "captured_graph";

/// Hands the graph of each operation to `each`, with the place of its rank and its position there; those of a rank by
/// ascending position. Returns what comes of them, which begins with `start`, and whether graphs are missing because they
/// cannot be read.
///
/// # Errors
/// When the database cannot be opened again.
pub fn read<T: Send>(
    database: &Database,
    report: &mut TtnnReport,
    warnings: &Warnings,
    progress: &Progress,
    start: impl Fn(&TtnnReport) -> T,
    each: impl FnMut(&mut T, &TtnnReport, usize, u32, OperationGraph) + Send,
) -> Result<(T, bool), Error> {
    let tables = database.tables(warnings, progress)?;
    if !tables.has_table(TABLE) {
        return Ok((start(report), false));
    }
    let mut names = std::mem::take(&mut report.names);
    let table = GraphTable {
        database,
        columns: known(&tables, TABLE, &["operation_id", TABLE, "rank"], 2),
        places: report.ranks.iter().map(|rank| rank.rank).zip(0..).collect(),
        report,
        progress,
    };
    let found = table.read_in_order(&tables, warnings, &mut names, start, each);
    report.names = names;
    found
}

/// The table, and the report that it belongs to.
struct GraphTable<'a> {
    database: &'a Database,
    columns: &'a [&'a str],
    /// The places of ranks by their numbers.
    places: FastMap<u64, usize>,
    report: &'a TtnnReport,
    progress: &'a Progress,
}

/// A graph, with the place of its rank and the position of its operation there.
struct PlacedGraph {
    place: usize,
    at: u32,
    graph: OperationGraph,
}

impl GraphTable<'_> {
    fn read_in_order<T: Send>(
        &self,
        tables: &Tables<'_>,
        warnings: &Warnings,
        names: &mut Interner,
        start: impl Fn(&TtnnReport) -> T,
        mut each: impl FnMut(&mut T, &TtnnReport, usize, u32, OperationGraph) + Send,
    ) -> Result<(T, bool), Error> {
        let (mut value, mut order) = (start(self.report), GraphOrder::default());
        // What is said counts only where the table is not read again.
        let said = Warnings::default();
        let mut is_broken = self.read(&said, names, |PlacedGraph { place, at, graph }| {
            if order.is_next(place, at) {
                each(&mut value, self.report, place, at, graph);
            }
            if order.has_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if order.has_late {
            let mut graphs = Vec::new();
            is_broken = self.read(warnings, names, |found| {
                graphs.push(found);
                ControlFlow::Continue(())
            })?;
            // Of two of one operation the first stays the first.
            graphs.sort_by_key(|found| (found.place, found.at));
            (value, order) = (start(self.report), GraphOrder::default());
            for PlacedGraph { place, at, graph } in graphs {
                if order.is_next(place, at) {
                    each(&mut value, self.report, place, at, graph);
                }
            }
        } else {
            warnings.add_all(&said.list());
        }
        order.warn(self.report, tables);
        Ok((value, is_broken))
    }

    /// Hands on graphs as their rows stand, until `each` breaks. Returns whether rows are missing because they cannot be
    /// read.
    fn read(
        &self,
        warnings: &Warnings,
        names: &mut Interner,
        mut each: impl FnMut(PlacedGraph) -> ControlFlow<()> + Send,
    ) -> Result<bool, Error> {
        let is_over = AtomicBool::new(false);
        let read_part = |tables: &Tables<'_>, ids| {
            let mut part = GraphsOfPart::default();
            if !is_over.load(Ordering::Relaxed) {
                let rows = NumberedRows { ids, ..NumberedRows::all(TABLE, self.columns, ROW_ID) };
                tables.rows(&rows, |cells| part.add(cells, self.report, &self.places));
            }
            part
        };
        let join = |part: GraphsOfPart| {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let ids: Vec<NameId> =
                part.names.into_names().iter().map(|name| names.intern(name)).collect();
            for mut found in part.graphs {
                let new = |name: NameId| ids.get(name.0 as usize).copied();
                found.graph.rename(|name| new(name).unwrap_or(NameId::NONE));
                if each(found).is_break() {
                    is_over.store(true, Ordering::Relaxed);
                    return;
                }
            }
        };
        self.database.read_in_parts(TABLE, warnings, self.progress, read_part, join)
    }
}

/// The order in which graphs come.
#[derive(Default)]
struct GraphOrder {
    /// The position of the last one of each rank, by its place.
    last: FastMap<usize, u32>,
    /// Whether one came behind that of a later operation.
    has_late: bool,
    /// The rank and the position of the first one whose operation had a graph before, and how many there are.
    repeated: Option<(usize, u32)>,
    repeats: u64,
}

impl GraphOrder {
    /// Whether a graph comes behind those of operations before its own.
    fn is_next(&mut self, place: usize, at: u32) -> bool {
        let before = self.last.get(&place).copied();
        self.has_late |= before > Some(at);
        if before == Some(at) {
            self.repeated = self.repeated.or(Some((place, at)));
            self.repeats = self.repeats.saturating_add(1);
        }
        let is_next = before < Some(at);
        if is_next {
            self.last.insert(place, at);
        }
        is_next
    }

    fn warn(&self, report: &TtnnReport, tables: &Tables<'_>) {
        let Some((place, at)) = self.repeated else { return };
        let id = report.ranks.get(place).map_or(0, |rank| rank.operations.id(at));
        let count = self.repeats;
        let message = format!(
            "table {TABLE}, row operation_id {id}: the operation has a graph before, and this one is left out ({count} such in \
             this table)"
        );
        tables.warn(WarningCode::Inconsistent, message);
    }
}

/// The graphs of a part of the table.
#[derive(Default)]
struct GraphsOfPart {
    graphs: Vec<PlacedGraph>,
    /// Their names.
    names: Interner,
}

impl GraphsOfPart {
    fn add(
        &mut self,
        cells: &mut Cells<'_, '_>,
        report: &TtnnReport,
        places: &FastMap<u64, usize>,
    ) {
        let number = rank_number(cells, 2);
        let place = number.and_then(|number| places.get(&number).copied());
        let (Some(id), Some(place)) = (cells.required(0), place) else { return };
        let Some(at) = report.ranks.get(place).and_then(|rank| rank.operations.position(id)) else {
            cells.damage(0, "an operation that has no row");
            return;
        };
        let Some(text) = cells.long_text(1) else { return };
        match parse(&text, &mut self.names) {
            Ok((graph, left_out)) => {
                if left_out > 0 {
                    let what =
                        "buffers without a space, an address or a size that a machine can have";
                    cells.damage(1, &format!("{left_out} {what}; they are left out"));
                }
                self.graphs.push(PlacedGraph { place, at, graph });
            }
            Err(error) => cells.damage(1, &format!("{error}; the graph is left out")),
        }
    }
}
