//! The details of a program: vertices by type, what an exchange moves by tile, control code, variables.
//!
//! Bytes of vertices are their number times the size of one, without what they point to. Control code has that of
//! the children in it; its own is what they leave. Variables of a compute set are those that the file names for it
//! (`var_ids_diff_rle`): lowered ones, counted under the name before lowering, or under their category without one.
//! Those of an operation are as [`crate::analysis::program::variable_operations`] finds them, of all tiles together.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use super::comparison::owners::Owners;
use super::compute::exchanges::route;
use super::compute::vertices::{of_compute_set, type_name};
use super::liveness::variable_name;
use super::memory::selection::TileSelection;
use super::program::compiled_programs::CompiledPrograms;
use super::program::control_code::own_of;
use super::program::debug_tree::{DebugTree, debug_tree};
use crate::progress::Progress;
use crate::store::exchange::ExchangeKind;
use crate::store::ids::CategoryId;
use crate::store::tile_list::TileList;
use crate::store::variable::LoweredVariables;
use crate::store::{ComputeSetId, Report, TileId};

/// Parts into which the tiles are divided for a small picture.
pub const BINS: usize = 64;
/// Rows that are looked at before it is asked whether to stop.
const ROWS_PER_LOOK: usize = 1 << 16;

/// A number by tile, as a small picture and in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByTile {
    /// Over all tiles.
    pub sum: u64,
    /// The largest, and the first tile that has it.
    pub most: (u64, TileId),
    /// Tiles that have any.
    pub tiles: u64,
    /// The largest number in each part of the tiles, in their order: at most [`BINS`].
    pub bins: Vec<u64>,
}

impl ByTile {
    /// Of a list; `None` of one without tiles.
    pub fn of(list: &TileList) -> Option<Self> {
        let all = u64::from(list.len());
        let count = list.len().min(u32::try_from(BINS).unwrap_or(u32::MAX));
        let bins_len = u64::from(count);
        let mut found =
            Self { sum: list.sum(), most: (0, TileId(0)), tiles: 0, bins: vec![0; count as usize] };
        let mut first = 0_u32;
        list.runs_in(0..list.len(), |tiles, value| {
            if value > found.most.0 {
                found.most = (value, TileId(first));
            }
            let end = first.saturating_add(tiles);
            if value > 0 {
                found.tiles = found.tiles.saturating_add(u64::from(tiles));
                let bin = |tile: u32| u64::from(tile).saturating_mul(bins_len).checked_div(all);
                let (from, to) = (bin(first), bin(end.saturating_sub(1)));
                let bins = from.zip(to).and_then(|(from, to)| {
                    found.bins.get_mut(usize::try_from(from).ok()?..=usize::try_from(to).ok()?)
                });
                bins.into_iter().flatten().for_each(|most| *most = value.max(*most));
            }
            first = end;
        });
        (all > 0).then_some(found)
    }
}

/// Vertices of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeOfVertices {
    /// The name of the type.
    pub name: String,
    /// Their number; `None` where it cannot be read.
    pub count: Option<u64>,
    /// Bytes of them all.
    pub bytes: Option<u64>,
}

/// What an exchange moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moves {
    /// Between what.
    pub kind: ExchangeKind,
    /// Bytes that tiles receive.
    pub received: Option<ByTile>,
    /// Bytes that tiles send.
    pub sent: Option<ByTile>,
    /// Its code, bytes.
    pub code: Option<ByTile>,
    /// What goes where: "source → destination".
    pub routes: Vec<String>,
}

/// A variable with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableOfProgram {
    /// Its name before lowering, or its category.
    pub name: String,
    /// Bytes on all tiles.
    pub bytes: u64,
    /// Whether all of it is always live.
    pub is_always_live: bool,
}

/// What a program uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramDetails {
    /// Vertices of its compute set, most bytes first.
    pub vertices: Vec<TypeOfVertices>,
    /// Estimated cycles of the compute set, exact or estimated ones of the exchange.
    pub cycles: Option<ByTile>,
    /// What its exchange moves.
    pub moves: Option<Moves>,
    /// Control code with that of its children, bytes.
    pub control_code: Option<ByTile>,
    /// Without that of its children.
    pub own_control_code: Option<u64>,
    /// The variables that the file names for its compute set, most bytes first; `None` where it names none.
    pub of_compute_set: Option<Vec<VariableOfProgram>>,
    /// The variables of its operation, most bytes first.
    pub of_operation: Vec<VariableOfProgram>,
    /// All that its debug contexts say; `None` where the report cannot say more than its columns do.
    pub debug: Option<DebugTree>,
    /// Why what could not be read.
    pub failures: Vec<String>,
}

/// What a program uses; what is not there, or not yet, is left out.
pub fn program_details(
    compiled: &CompiledPrograms<'_>,
    program: usize,
    operation: Option<u32>,
    owners: &Owners,
    progress: &Progress,
) -> ProgramDetails {
    let report = compiled.report;
    let mut details = ProgramDetails::default();
    if let Some(set) = compiled.programs.compute_sets.get(program).copied().flatten() {
        details.vertices = vertices(report, set);
        let row = report.compute_sets.get().and_then(|sets| sets.ids.position(set));
        let cycles = row.and_then(|row| report.compute_set_tiles.get()?.cycles.get(row)?.as_ref());
        details.cycles = cycles.and_then(ByTile::of);
        let read = report.reader().map(|reader| reader.read_compute_set_variables(set, progress));
        match read.transpose() {
            Ok(ids) => {
                details.of_compute_set =
                    ids.flatten().and_then(|ids| lowered(report, &ids, progress));
            }
            Err(error) => details.failures.push(error.to_string()),
        }
    }
    if let Some(id) = compiled.programs.exchanges.get(program).copied().flatten()
        && let Some(exchanges) = report.exchanges.get()
        && let Some(row) = exchanges.position(id)
    {
        let of = |lists: &[Option<TileList>]| ByTile::of(lists.get(row)?.as_ref()?);
        details.cycles = of(&exchanges.cycles);
        details.moves = Some(Moves {
            kind: id.kind,
            received: of(&exchanges.received),
            sent: of(&exchanges.sent),
            code: of(&exchanges.code),
            routes: exchanges.transfers_of(row).iter().map(route).collect(),
        });
    }
    if compiled.is_final()
        && let Some(lists) = report.control_code.get()
    {
        let of = |row: usize| lists.get(row).and_then(Option::as_ref);
        details.control_code = of(program).and_then(ByTile::of);
        let bytes_of = |row: usize| of(row).map_or(0, TileList::sum);
        let own = || own_of(compiled.programs, program, bytes_of);
        details.own_control_code = details.control_code.as_ref().map(|_| own());
    }
    let id = compiled.programs.debug_ids.get(program).copied().filter(|id| *id != 0);
    if let Some(context) = id.and_then(|id| report.debug.get()?.position(id)) {
        match debug_tree(report, context, progress) {
            Ok(debug) => details.debug = debug,
            Err(error) => details.failures.push(error.to_string()),
        }
    }
    if let Some(operation) = operation {
        details.of_operation = of_operation(report, operation, owners, progress);
    }
    details
}

fn vertices(report: &Report, set: ComputeSetId) -> Vec<TypeOfVertices> {
    let types = report.vertex_types.get();
    let found = of_compute_set(report, set, &TileSelection::default()).unwrap_or_default();
    let mut rows: Vec<TypeOfVertices> = found
        .into_iter()
        .map(|(id, count)| {
            let size = types.and_then(|types| *types.sizes.get(types.ids.position(id)?)?);
            let bytes = size.zip(count).map(|(size, count)| size.saturating_mul(count));
            TypeOfVertices { name: type_name(types, id), count, bytes }
        })
        .collect();
    rows.sort_by_key(|row| Reverse((row.bytes, row.count)));
    rows
}

/// What variables are called, with their bytes and whether all of it is always live.
#[derive(Default)]
struct ByName<'a>(HashMap<Cow<'a, str>, (u64, bool)>);

impl<'a> ByName<'a> {
    fn add(&mut self, name: Cow<'a, str>, bytes: u64, is_always_live: bool) {
        let (sum, all_live) = self.0.entry(name).or_insert((0, true));
        *sum = sum.saturating_add(bytes);
        *all_live &= is_always_live;
    }

    /// Most bytes first.
    fn rows(self) -> Vec<VariableOfProgram> {
        let of = |(name, (bytes, is_always_live)): (Cow<'a, str>, _)| VariableOfProgram {
            name: name.into_owned(),
            bytes,
            is_always_live,
        };
        let mut rows: Vec<VariableOfProgram> = self.0.into_iter().map(of).collect();
        rows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
        rows
    }
}

/// Lowered variables, by their ascending ids, under what they were before lowering.
fn lowered(report: &Report, ids: &[u32], progress: &Progress) -> Option<Vec<VariableOfProgram>> {
    let variables = report.variables.get()?;
    let liveness = report.liveness.get()?;
    let mut found = ByName::default();
    let mut add = |row: usize| {
        let unlowered = *variables.unlowered.get(row)?;
        let category = CategoryId((*variables.categories.get(row)?).into());
        let name = match report.category_name(category) {
            Some(category) if unlowered == LoweredVariables::NO_UNLOWERED => category.into(),
            _ => variable_name(liveness, unlowered),
        };
        let is_always_live = liveness.classes.is_always_live(*variables.classes.get(row)?);
        found.add(name, u64::from(*variables.bytes.get(row)?), is_always_live);
        Some(())
    };
    match &variables.ids {
        None => {
            for ids in ids.chunks(ROWS_PER_LOOK).take_while(|_| !progress.is_cancelled()) {
                for id in ids {
                    id.checked_sub(variables.first_id).and_then(|row| add(row as usize));
                }
            }
        }
        Some(known) => {
            let parts = known.chunks(ROWS_PER_LOOK).zip((0..).step_by(ROWS_PER_LOOK));
            for (part, first) in parts.take_while(|_| !progress.is_cancelled()) {
                for (id, row) in part.iter().zip(first..) {
                    ids.binary_search(id).ok().and_then(|_| add(row));
                }
            }
        }
    }
    Some(found.rows())
}

fn of_operation(
    report: &Report,
    operation: u32,
    owners: &Owners,
    progress: &Progress,
) -> Vec<VariableOfProgram> {
    let Some(liveness) = report.liveness.get() else { return Vec::new() };
    let mut found = ByName::default();
    let rows = liveness.variable_bytes.as_deref().unwrap_or_default().chunks(ROWS_PER_LOOK);
    for row in rows.take_while(|_| !progress.is_cancelled()).flatten() {
        if owners.variables.of(liveness, row).is_some_and(|(owner, _)| owner == operation) {
            let is_always_live = liveness.classes.is_always_live(row.class);
            found.add(variable_name(liveness, row.variable), row.bytes, is_always_live);
        }
    }
    found.rows()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_one_name_are_one_row() {
        let mut found = ByName::default();
        found.add("in".into(), 4, true);
        found.add("out".into(), 5, true);
        found.add("in".to_owned().into(), 4, false);
        let row = |name: &str, bytes, is_always_live| VariableOfProgram {
            name: name.to_owned(),
            bytes,
            is_always_live,
        };
        assert_eq!(found.rows(), [row("in", 8, false), row("out", 5, true)]);
    }

    #[test]
    fn a_list_by_tile_is_a_picture_of_at_most_64_parts() {
        let of = |runs: &[(u32, u64)]| {
            ByTile::of(&TileList::from_runs(runs.iter().copied())).expect("tiles")
        };
        let small = of(&[(1, 0), (2, 7), (1, 9), (1, 9)]);
        assert_eq!((small.sum, small.most, small.tiles), (32, (9, TileId(3)), 4));
        assert_eq!(small.bins, [0, 7, 7, 9, 9]);
        let large = of(&[(1471, 4), (1, 5)]);
        assert_eq!(large.bins.len(), BINS);
        assert_eq!((large.bins[0], large.bins[BINS - 1], large.most.1), (4, 5, TileId(1471)));
        let one = of(&[(1000, 0), (1, 3), (471, 0)]);
        assert_eq!(one.bins.iter().filter(|most| **most > 0).count(), 1);
        assert_eq!(one.bins[1000 * 64 / 1472], 3);
        assert_eq!(ByTile::of(&TileList::from_runs([])), None);
    }
}
