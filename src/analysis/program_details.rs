//! What a program uses: vertices by type, what an exchange moves by tile, control code, variables.
//!
//! Bytes of vertices are their number times the size of one, without what they point to. Control code has that of
//! the children in it; its own is what they leave. Variables of a compute set are those that the file names for it
//! (`var_ids_diff_rle`): lowered ones, counted under the name before lowering, or under their category without one.
//! Those of an operation are as [`crate::analysis::program::variable_operations`] finds them, of all tiles together.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::comparison::owners::Owners;
use super::compute::exchanges::route;
use super::compute::vertices::{of_compute_set, type_name};
use super::memory::selection::TileSelection;
use super::program::compiled_programs::CompiledPrograms;
use super::program::debug_tree::{DebugTree, debug_tree};
use super::program::tree::children_at;
use crate::progress::Progress;
use crate::store::exchange::ExchangeKind;
use crate::store::ids::CategoryId;
use crate::store::tile_list::TileList;
use crate::store::variable::LoweredVariables;
use crate::store::{ComputeSetId, Report, TileId, UnloweredId};

/// Parts into which the tiles are divided for a small picture.
pub const BINS: usize = 64;

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
    /// Why something could not be read.
    pub failure: Option<String>,
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
            Ok(ids) => details.of_compute_set = ids.flatten().and_then(|ids| lowered(report, &ids)),
            Err(error) => details.failure = Some(error.to_string()),
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
        let children = children_at(compiled.programs, program).filter_map(of);
        let of_children = children.fold(0_u64, |sum, list| sum.saturating_add(list.sum()));
        let all = details.control_code.as_ref().map(|code| code.sum);
        details.own_control_code = all.map(|all| all.saturating_sub(of_children));
    }
    let id = compiled.programs.debug_ids.get(program).copied().filter(|id| *id != 0);
    if let Some(context) = id.and_then(|id| report.debug.get()?.position(id)) {
        match debug_tree(report, context, progress) {
            Ok(debug) => details.debug = debug,
            Err(error) => details.failure = Some(error.to_string()),
        }
    }
    if let Some(operation) = operation {
        details.of_operation = of_operation(report, operation, owners);
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

/// Lowered variables, by their ascending ids, under what they were before lowering.
fn lowered(report: &Report, ids: &[u32]) -> Option<Vec<VariableOfProgram>> {
    let variables = report.variables.get()?;
    let classes = &report.liveness.get()?.classes;
    let mut sums: HashMap<(UnloweredId, Option<u8>), (u64, bool)> = HashMap::new();
    let mut add = |row: usize| {
        let unlowered = *variables.unlowered.get(row)?;
        let category = *variables.categories.get(row)?;
        let key = if unlowered == LoweredVariables::NO_UNLOWERED {
            (unlowered, Some(category))
        } else {
            (unlowered, None)
        };
        let is_always_live = classes.is_always_live(*variables.classes.get(row)?);
        let (bytes, all_live) = sums.entry(key).or_insert((0, true));
        *bytes = bytes.saturating_add(u64::from(*variables.bytes.get(row)?));
        *all_live &= is_always_live;
        Some(())
    };
    match &variables.ids {
        None => {
            for id in ids {
                id.checked_sub(variables.first_id).and_then(|row| add(row as usize));
            }
        }
        Some(known) => {
            let rows = known.iter().enumerate();
            rows.filter(|(_, id)| ids.binary_search(id).is_ok()).for_each(|(row, _)| {
                add(row);
            });
        }
    }
    let name = |(unlowered, category): (UnloweredId, Option<u8>)| {
        let known = match category {
            Some(category) => report.category_name(CategoryId(category.into())),
            None => report.liveness.get().and_then(|it| it.variable_name(unlowered)),
        };
        known.map_or_else(|| format!("<variable {unlowered}>"), str::to_owned)
    };
    let rows = sums.into_iter().map(|(key, (bytes, is_always_live))| VariableOfProgram {
        name: name(key),
        bytes,
        is_always_live,
    });
    Some(sorted(rows))
}

fn of_operation(report: &Report, operation: u32, owners: &Owners) -> Vec<VariableOfProgram> {
    let Some(liveness) = report.liveness.get() else { return Vec::new() };
    let mut sums: HashMap<UnloweredId, (u64, bool)> = HashMap::new();
    for row in liveness.variable_bytes.iter().flatten() {
        if owners.variables.of(liveness, row).is_some_and(|(owner, _)| owner == operation) {
            let (bytes, all_live) = sums.entry(row.variable).or_insert((0, true));
            *bytes = bytes.saturating_add(row.bytes);
            *all_live &= liveness.classes.is_always_live(row.class);
        }
    }
    let name = |id| {
        let known = liveness.variable_name(id);
        known.map_or_else(|| format!("<variable {id}>"), str::to_owned)
    };
    let rows = sums.into_iter().map(|(id, (bytes, is_always_live))| VariableOfProgram {
        name: name(id),
        bytes,
        is_always_live,
    });
    sorted(rows)
}

fn sorted(rows: impl Iterator<Item = VariableOfProgram>) -> Vec<VariableOfProgram> {
    let mut rows: Vec<VariableOfProgram> = rows.collect();
    rows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

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
