//! The largest things of the model, of an IPU or of a tile.
//!
//! Vertex state and code are those of a vertex type, the variable is one of the user's (no pseudo variable
//! such as `<anon>` or `vertexCode`) with its bytes over all classes. The category has most bytes at addresses that
//! it alone uses. The program step is the peak of the scope, with its not-always-live bytes.

use serde::Serialize;

use crate::analysis::compute::exchanges;
use crate::analysis::compute::vertices;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::timeline::WithTimeline;
use crate::analysis::liveness::variables;
use crate::analysis::liveness::{self, Scope};
use crate::analysis::memory;
use crate::analysis::memory::over_tiles;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::operations::Operation;
use crate::analysis::program::steps;
use crate::store::{Report, VertexTypeId};

/// Compute sets that are named at most.
const COMPUTE_SETS: usize = 5;

/// The largest things of a scope. What the report does not have, or what is not read, is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Largest {
    /// Bytes including gaps.
    pub used_bytes: Option<u64>,
    /// Bytes that the scope has.
    pub capacity_bytes: Option<u64>,
    /// The vertex type with most state.
    pub vertex_state: Option<LargestVertex>,
    /// The vertex type with most code.
    pub vertex_code: Option<LargestVertex>,
    pub variable: Option<liveness::NamedBytes>,
    /// The exchange with most code.
    pub exchange_code: Option<LargestExchange>,
    /// The exchange that brings most bytes to the tiles.
    pub exchange_received: Option<LargestExchange>,
    /// The program step at which most is alive.
    pub step: Option<LargestStep>,
    pub category: Option<LargestCategory>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LargestVertex {
    pub name: String,
    /// Bytes of state or code.
    pub bytes: u64,
    /// Compute sets that have such vertices there.
    pub compute_set_count: u64,
    /// The names of the first of them.
    pub compute_sets: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LargestExchange {
    pub name: String,
    /// Between what it moves data.
    pub kind: &'static str,
    /// Bytes of code, or bytes received.
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LargestStep {
    /// Its number.
    pub step: u32,
    pub kind: Option<String>,
    pub name: Option<String>,
    pub operation: Option<Operation>,
    /// Not-always-live bytes there.
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LargestCategory {
    /// Its name as in the file.
    pub name: String,
    /// Bytes at addresses that it alone uses.
    pub not_overlapped_bytes: u64,
}

/// The largest things of everything, an IPU or a tile; of [`Scope::WorstArena`], which is no one tile,
/// those of everything.
pub fn largest(
    derived: &Derived,
    scope: Scope,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Largest {
    let scope = if scope == Scope::WorstArena { Scope::Everything } else { scope };
    let report = &**derived.report();
    let target = report.target.get();
    let tiles = TileSelection::of_scope(scope.tiles(target));
    let rows = report.memory.get().map(|memory| (memory, scope.rows(memory, target)));
    Largest {
        used_bytes: rows
            .as_ref()
            .and_then(|(memory, rows)| memory::sum_of_rows(&memory.including_gaps, rows.clone())),
        capacity_bytes: report.arenas.get().and_then(|arenas| liveness::limit_bytes(scope, arenas)),
        vertex_state: vertex(report, &tiles, |row| row.state.total()),
        vertex_code: vertex(report, &tiles, |row| row.code),
        // Elsewhere a name may be that of many things that live one after the other; their sum says nothing.
        variable: rows.as_ref().and_then(|_| variable(report, &tiles)),
        exchange_code: exchange(report, &tiles, |row| row.code),
        exchange_received: exchange(report, &tiles, |row| row.received),
        step: step(&derived.with_timeline(scope, is_cancelled)),
        category: rows.and_then(|(memory, rows)| {
            let tiles = memory.tiles.as_slice().get(rows)?;
            let categories = memory.categories.iter().filter_map(|category| {
                let bytes = memory::category_on_tiles(category, tiles.iter().copied());
                Some((bytes.not_overlapped?, category.name.clone()))
            });
            let (not_overlapped_bytes, name) = first_largest(categories)?;
            Some(LargestCategory { name, not_overlapped_bytes })
        }),
    }
}

/// The largest, the first of equals; what has no bytes is none.
fn first_largest<T>(all: impl Iterator<Item = (u64, T)>) -> Option<(u64, T)> {
    let larger = |known: (u64, T), next: (u64, T)| if next.0 > known.0 { next } else { known };
    all.filter(|(bytes, _)| *bytes > 0).reduce(larger)
}

fn vertex(
    report: &Report,
    tiles: &TileSelection,
    bytes: impl Fn(&vertices::VertexRow) -> Option<u64>,
) -> Option<LargestVertex> {
    let rows = vertices::rows(report, tiles)?.into_iter();
    let (bytes, row) = first_largest(rows.filter_map(|row| Some((bytes(&row)?, row))))?;
    let names = compute_sets_with(report, tiles, row.id);
    Some(LargestVertex {
        name: row.name,
        bytes,
        compute_set_count: names.len() as u64,
        compute_sets: names.into_iter().take(COMPUTE_SETS).map(str::to_owned).collect(),
    })
}

fn compute_sets_with<'a>(
    report: &'a Report,
    tiles: &TileSelection,
    vertex_type: VertexTypeId,
) -> Vec<&'a str> {
    let (Some(sets), Some(of_tiles)) = (report.compute_sets.get(), report.compute_set_tiles.get())
    else {
        return Vec::new();
    };
    let rows = of_tiles.instances.iter().filter(|row| row.vertex_type == vertex_type);
    let rows = rows.filter(|row| over_tiles::sum(row.by_tile.as_ref(), tiles) != Some(0));
    rows.filter_map(|row| sets.names.at(sets.ids.position(row.compute_set)?)).collect()
}

fn variable(report: &Report, tiles: &TileSelection) -> Option<liveness::NamedBytes> {
    let rows = variables::on_tiles(report, tiles, 0)?.rows.into_iter();
    let categories = report.categories.get();
    let is_category =
        |name: &str| categories.is_some_and(|known| known.names.iter().any(|other| other == name));
    let rows = rows.filter(|row| !row.name.starts_with('<') && !is_category(&row.name));
    let (bytes, name) =
        first_largest(rows.filter_map(|row| Some((*row.bytes.first()?, row.name))))?;
    Some(liveness::NamedBytes { name, bytes })
}

fn exchange(
    report: &Report,
    tiles: &TileSelection,
    bytes: impl Fn(&exchanges::ExchangeRow) -> Option<u64>,
) -> Option<LargestExchange> {
    let rows = exchanges::rows(report, tiles)?.into_iter();
    let (bytes, row) = first_largest(rows.filter_map(|row| Some((bytes(&row)?, row))))?;
    Some(LargestExchange { name: row.name, kind: row.id.kind.title(), bytes })
}

fn step(of: &WithTimeline) -> Option<LargestStep> {
    let (position, bytes) = of.peak()?;
    let facts = steps::facts(&of.report, None, position)?;
    Some(LargestStep {
        step: facts.step.0,
        kind: facts.kind,
        name: facts.name,
        operation: facts.operation,
        bytes,
    })
}
