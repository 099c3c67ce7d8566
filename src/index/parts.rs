//! The columns that make up a part of a report: the large ones as they are, the rest encoded (postcard).
//!
//! Data that is read back is checked before it becomes a part: columns that belong together have the same length, and
//! the rows of a tile lie within them. Ids and positions are looked up where they are used.

use std::io::Write;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::file::{ColumnWriter, IndexError, IndexFile, check};
use crate::store::compute::{ComputeSetTiles, ComputeSets};
use crate::store::debug_info::DebugInfo;
use crate::store::exchange::{CodeOnTiles, ExchangeId, Exchanges};
use crate::store::execution::ExecutionTotals;
use crate::store::liveness::{Deltas, Liveness, TileVariableBytes};
use crate::store::memory::TileMemory;
use crate::store::names::Names;
use crate::store::options::{About, GraphInfo};
use crate::store::program::{ProgramTrees, Programs, Steps};
use crate::store::report::Categories;
use crate::store::target::Target;
use crate::store::tile_list::TileList;
use crate::store::variable::LoweredVariables;
use crate::store::vertex::VertexTypes;
use crate::store::{Absence, IdColumn, Part, Report, TileId, Warning};

/// A part as it is kept: what is there, or why it is not.
type KeptPart<T> = Result<T, Absence>;

/// The small tables.
#[derive(Deserialize)]
struct SmallTables {
    warnings: Vec<Warning>,
    about: KeptPart<About>,
    target: KeptPart<Target>,
    graph: KeptPart<GraphInfo>,
    memory: KeptPart<TileMemory>,
    categories: KeptPart<Categories>,
    compute_sets: KeptPart<ComputeSets>,
    programs: KeptPart<Programs>,
    steps: KeptPart<Steps>,
    deltas: KeptPart<Deltas>,
    liveness: KeptPart<Liveness>,
    execution: KeptPart<ExecutionTotals>,
}

/// The same as they are in a report, in the same order.
#[derive(Serialize)]
struct SmallTablesOf<'a> {
    warnings: &'a [Warning],
    about: Result<&'a About, &'a Absence>,
    target: Result<&'a Target, &'a Absence>,
    graph: Result<&'a GraphInfo, &'a Absence>,
    memory: Result<&'a TileMemory, &'a Absence>,
    categories: Result<&'a Categories, &'a Absence>,
    compute_sets: Result<&'a ComputeSets, &'a Absence>,
    programs: Result<&'a Programs, &'a Absence>,
    steps: Result<&'a Steps, &'a Absence>,
    deltas: Result<&'a Deltas, &'a Absence>,
    liveness: Result<&'a Liveness, &'a Absence>,
    execution: Result<&'a ExecutionTotals, &'a Absence>,
}

const DEBUG: [&str; 10] = [
    "debug.ids",
    "debug.parents",
    "debug.layers",
    "debug.kinds",
    "debug.names",
    "debug.files",
    "debug.lines",
    "debug.offsets",
    "debug.texts",
    "debug.text_ends",
];
const VARIABLES: [&str; 6] = [
    "variables.offsets",
    "variables.bytes",
    "variables.classes",
    "variables.unlowered",
    "variables.categories",
    "variables.flags",
];
const VARIABLE_IDS: &str = "variables.ids";
const TILE_BYTES: [&str; 3] =
    ["bytes_by_tile.variables", "bytes_by_tile.classes", "bytes_by_tile.bytes"];

/// Writes all parts of a report that is read to its end. `warnings` are those that reading the small tables, and
/// reading the debug contexts, gave.
///
/// # Errors
/// When a part is not there yet or was canceled, and when the file cannot be written.
pub fn write_report<W: Write>(
    report: &Report,
    of_small_tables: &[Warning],
    of_debug_info: &[Warning],
    to: &mut ColumnWriter<W>,
) -> Result<(), IndexError> {
    let small = SmallTablesOf {
        warnings: of_small_tables,
        about: kept(&report.about)?,
        target: kept(&report.target)?,
        graph: kept(&report.graph)?,
        memory: kept(&report.memory)?,
        categories: kept(&report.categories)?,
        compute_sets: kept(&report.compute_sets)?,
        programs: kept(&report.programs)?,
        steps: kept(&report.steps)?,
        deltas: kept(&report.deltas)?,
        liveness: kept(&report.liveness)?,
        execution: kept(&report.execution)?,
    };
    to.encoded("small_tables", &small)?;
    let debug = kept(&report.debug)?;
    to.encoded("debug", &(of_debug_info, debug))?;
    if let Ok(debug) = debug {
        let [ids, parents, layers, kinds, names, files, lines, offsets, texts, text_ends] = DEBUG;
        to.column(ids, &debug.ids)?;
        to.column(parents, &debug.parents)?;
        to.column(layers, &debug.layers)?;
        to.column(kinds, &debug.kinds)?;
        to.column(names, &debug.names)?;
        to.column(files, &debug.files)?;
        to.column(lines, &debug.lines)?;
        to.column(offsets, &debug.offsets)?;
        to.column(texts, &debug.texts.text)?;
        to.column(text_ends, &debug.texts.ends)?;
    }
    let variables = kept(&report.variables)?;
    to.encoded("variables", &variables)?;
    if let Ok(variables) = variables {
        let [offsets, bytes, classes, unlowered, categories, flags] = VARIABLES;
        to.column(offsets, &variables.offsets)?;
        to.column(bytes, &variables.bytes)?;
        to.column(classes, &variables.classes)?;
        to.column(unlowered, &variables.unlowered)?;
        to.column(categories, &variables.categories)?;
        to.column(flags, &variables.flags)?;
        if let Some(ids) = &variables.ids {
            to.column(VARIABLE_IDS, ids)?;
        }
    }
    let by_tile = kept(&report.tile_variable_bytes)?;
    to.encoded("bytes_by_tile", &by_tile)?;
    if let Ok(by_tile) = by_tile {
        let [variables, classes, bytes] = TILE_BYTES;
        to.column(variables, &by_tile.variables)?;
        to.column(classes, &by_tile.classes)?;
        to.column(bytes, &by_tile.bytes)?;
    }
    to.encoded("vertex_types", &kept(&report.vertex_types)?)?;
    to.encoded("compute_set_tiles", &kept(&report.compute_set_tiles)?)?;
    let exchanges = kept(&report.exchanges)?;
    to.encoded("exchanges", &exchanges)?;
    // Advice asks for the code alone.
    let code = exchanges.map(|exchanges| (&exchanges.ids, &exchanges.code));
    to.encoded("exchange_code", &code)?;
    to.encoded("control_code", &kept(&report.control_code)?)?;
    to.encoded("program_trees", &kept(&report.program_trees)?)
}

/// Bytes that the index of a report will take, about.
pub fn expected_bytes(report: &Report) -> u64 {
    let variables =
        report.variables.get().map_or(0, |variables| variables.len().saturating_mul(23));
    let by_tile = report.tile_variable_bytes.get().map_or(0, |rows| rows.len().saturating_mul(12));
    let debug = report.debug.get().map_or(0, |debug| {
        let texts = debug.texts.text.len();
        let arguments = debug.with_arguments.len().saturating_mul(8);
        let arguments = debug.arguments.text.len().saturating_add(arguments);
        debug.ids.len().saturating_mul(68).saturating_add(texts).saturating_add(arguments)
    });
    let lists = report.exchanges.get().map_or(0, Exchanges::resident_bytes);
    let trees = report.program_trees.get().map_or(&[][..], |trees| &trees.steps);
    let earlier = trees.iter().filter_map(|tree| tree.programs.as_ref());
    let all_programs = report.programs.get().into_iter().chain(earlier);
    let programs = all_programs.map(bytes_of_programs).fold(0, usize::saturating_add);
    [variables, by_tile, debug, lists, programs]
        .iter()
        .fold(1 << 15, |sum, bytes| sum.saturating_add(*bytes as u64))
}

/// Ids, kinds, contexts, compute sets and exchanges are encoded in a few bytes each; names have their ends beside them.
fn bytes_of_programs(programs: &Programs) -> usize {
    let numbers = programs.ids.len().saturating_mul(24);
    let children = programs.children.len().saturating_mul(4);
    numbers.saturating_add(children).saturating_add(programs.names.text.len())
}

/// Fills the parts of the small tables; returns the warnings that reading them gave.
///
/// # Errors
/// When the index is damaged; then no part is filled.
pub fn fill_small_tables(report: &Report, from: &IndexFile) -> Result<Vec<Warning>, IndexError> {
    let small: SmallTables = from.decoded("small_tables")?;
    report.target.settle(small.target);
    report.memory.settle(small.memory);
    report.fill_arenas_with_tiles();
    report.graph.settle(small.graph);
    report.compute_sets.settle(small.compute_sets);
    report.steps.settle(small.steps);
    report.programs.settle(small.programs);
    report.deltas.settle(small.deltas);
    report.liveness.settle(small.liveness);
    report.categories.settle(small.categories);
    report.execution.settle(small.execution);
    report.about.settle(small.about);
    Ok(small.warnings)
}

/// Fills the debug contexts; returns the warnings that reading them gave.
///
/// # Errors
/// When the index is damaged; then they are not filled.
pub fn fill_debug_info(report: &Report, from: &IndexFile) -> Result<Vec<Warning>, IndexError> {
    let (warnings, kept): (Vec<Warning>, KeptPart<DebugInfo>) = from.decoded("debug")?;
    let read = |mut debug: DebugInfo| {
        from.verify(&DEBUG)?;
        let [ids, parents, layers, kinds, names, files, lines, offsets, texts, text_ends] = DEBUG;
        debug.ids = from.column(ids)?;
        debug.parents = from.column(parents)?;
        debug.layers = from.column(layers)?;
        debug.kinds = from.column(kinds)?;
        debug.names = from.column(names)?;
        debug.files = from.column(files)?;
        debug.lines = from.column(lines)?;
        debug.offsets = from.column(offsets)?;
        debug.texts = Names { text: from.column(texts)?, ends: from.column(text_ends)? };
        let rows = debug.ids.len();
        let lengths = [
            debug.layers.len(),
            debug.names.len(),
            debug.files.len(),
            debug.lines.len(),
            debug.offsets.len(),
            debug.parents.len(),
            debug.kinds.len(),
        ];
        check(lengths.iter().all(|length| *length == rows), "columns of one length")?;
        check(debug.has_sound_parents(), "parents that are rows, and no context its own ancestor")?;
        Ok(debug)
    };
    report.debug.settle(there(kept, read)?);
    Ok(warnings)
}

/// Fills the lowered variables.
///
/// # Errors
/// When the index is damaged; then they are not filled.
pub fn fill_variables(report: &Report, from: &IndexFile) -> Result<(), IndexError> {
    let kept: KeptPart<LoweredVariables> = from.decoded("variables")?;
    let read = |variables: LoweredVariables| {
        from.verify(&VARIABLES)?;
        let [offsets, bytes, classes, unlowered, categories, flags] = VARIABLES;
        let variables = LoweredVariables {
            offsets: from.column(offsets)?,
            bytes: from.column(bytes)?,
            classes: from.column(classes)?,
            unlowered: from.column(unlowered)?,
            categories: from.column(categories)?,
            flags: from.column(flags)?,
            ..with_ids(variables, from)?
        };
        let rows = variables.len();
        let lengths = [
            variables.bytes.len(),
            variables.classes.len(),
            variables.unlowered.len(),
            variables.categories.len(),
            variables.flags.len(),
            variables.ids.as_ref().map_or(rows, |ids| ids.len()),
        ];
        check(lengths.iter().all(|length| *length == rows), "columns of one length")?;
        let ranges = variables.rows.iter().map(|rows| rows.start as usize..rows.end as usize);
        check_rows(ranges, variables.tiles.len(), rows)?;
        Ok(variables)
    };
    report.variables.settle(there(kept, read)?);
    Ok(())
}

/// The rows of each tile and their ids, without the other columns; `None` where the report has no variables.
///
/// # Errors
/// When the index is damaged.
pub fn read_rows_of_variables(from: &IndexFile) -> Result<Option<LoweredVariables>, IndexError> {
    let kept: KeptPart<LoweredVariables> = from.decoded("variables")?;
    kept.ok().map(|variables| with_ids(variables, from)).transpose()
}

fn with_ids(
    mut variables: LoweredVariables,
    from: &IndexFile,
) -> Result<LoweredVariables, IndexError> {
    let ids = from.has(VARIABLE_IDS).then(|| from.column(VARIABLE_IDS));
    variables.ids = ids.transpose()?;
    Ok(variables)
}

/// Fills the bytes by tile, variable and class.
///
/// # Errors
/// When the index is damaged; then they are not filled.
pub fn fill_tile_variable_bytes(report: &Report, from: &IndexFile) -> Result<(), IndexError> {
    report.tile_variable_bytes.settle(kept_tile_variable_bytes(from)?);
    Ok(())
}

/// The bytes by tile, variable and class of some tiles; `None` where the report has none. Only what is wanted is
/// verified and copied.
///
/// # Errors
/// When the index is damaged.
pub fn read_bytes_of_tiles(
    from: &IndexFile,
    is_wanted: impl Fn(TileId) -> bool,
) -> Result<Option<TileVariableBytes>, IndexError> {
    let kept: KeptPart<TileVariableBytes> = from.decoded("bytes_by_tile")?;
    let Ok(all) = kept else { return Ok(None) };
    let of_tiles = || {
        let rows = all.tiles.as_slice().iter().zip(&all.rows);
        rows.filter(|(tile, _)| is_wanted(**tile)).map(|(tile, rows)| (*tile, rows.clone()))
    };
    let ranges: Vec<Range<usize>> = of_tiles().map(|(_, rows)| rows).collect();
    let [variables, classes, bytes] = TILE_BYTES;
    let mut found = TileVariableBytes {
        variables: from.rows_of_column(variables, &ranges)?,
        classes: from.rows_of_column(classes, &ranges)?,
        bytes: from.rows_of_column(bytes, &ranges)?,
        tiles: IdColumn::default(),
        rows: Vec::new(),
    };
    let mut start = 0_usize;
    for (tile, rows) in of_tiles() {
        let end = start.saturating_add(rows.len());
        found.tiles.push(tile);
        found.rows.push(start..end);
        start = end;
    }
    Ok(Some(found))
}

fn kept_tile_variable_bytes(from: &IndexFile) -> Result<KeptPart<TileVariableBytes>, IndexError> {
    there(from.decoded("bytes_by_tile")?, |mut by_tile: TileVariableBytes| {
        from.verify(&TILE_BYTES)?;
        let [variables, classes, bytes] = TILE_BYTES;
        by_tile.variables = from.column(variables)?;
        by_tile.classes = from.column(classes)?;
        by_tile.bytes = from.column(bytes)?;
        let rows = by_tile.len();
        let lengths = [by_tile.variables.len(), by_tile.classes.len()];
        check(lengths.iter().all(|length| *length == rows), "columns of one length")?;
        check_rows(by_tile.rows.iter().cloned(), by_tile.tiles.len(), rows)?;
        Ok(by_tile)
    })
}

/// Fills what goes by tile of vertex types, compute sets, exchanges and programs.
///
/// # Errors
/// When the index is damaged; then nothing is filled.
pub fn fill_compute(report: &Report, from: &IndexFile) -> Result<(), IndexError> {
    let ((types, tiles), (exchanges, code)) = rayon::join(
        || (from.decoded("vertex_types"), from.decoded("compute_set_tiles")),
        || (from.decoded("exchanges"), from.decoded("control_code")),
    );
    let types: KeptPart<VertexTypes> = types?;
    let tiles: KeptPart<ComputeSetTiles> = tiles?;
    let (exchanges, code): (KeptPart<Exchanges>, KeptPart<Vec<Option<TileList>>>) =
        (exchanges?, code?);
    report.vertex_types.settle(types);
    report.compute_set_tiles.settle(tiles);
    report.exchanges.settle(exchanges);
    report.control_code.settle(code);
    Ok(())
}

/// Fills what programs start from and call.
///
/// # Errors
/// When the index is damaged; then it is not filled.
pub fn fill_program_trees(report: &Report, from: &IndexFile) -> Result<(), IndexError> {
    let trees: KeptPart<ProgramTrees> = from.decoded("program_trees")?;
    report.program_trees.settle(trees);
    Ok(())
}

/// The code of exchanges on some tiles; `None` where the report has none.
///
/// # Errors
/// When the index is damaged.
pub fn read_exchange_code(
    from: &IndexFile,
    tiles: &[TileId],
) -> Result<Option<CodeOnTiles>, IndexError> {
    let kept: KeptPart<(Vec<ExchangeId>, Vec<Option<TileList>>)> = from.decoded("exchange_code")?;
    let of = |(ids, code)| Exchanges { ids, code, ..Exchanges::default() }.code_on(tiles);
    Ok(kept.ok().map(of))
}

fn kept<T>(part: &Part<T>) -> Result<Result<&T, &Absence>, IndexError> {
    match (part.get(), part.absence()) {
        (Some(value), _) => Ok(Ok(value)),
        (None, Some(absence)) if !absence.is_cancelled() => Ok(Err(absence)),
        _ => Err(IndexError::NotWritten("the report is not read to its end".to_owned())),
    }
}

/// What is there, read on; or why it is not.
fn there<T>(
    kept: KeptPart<T>,
    read: impl FnOnce(T) -> Result<T, IndexError>,
) -> Result<KeptPart<T>, IndexError> {
    match kept {
        Ok(value) => read(value).map(Ok),
        Err(absence) => Ok(Err(absence)),
    }
}

/// A range of rows for each tile, within all rows.
fn check_rows(
    ranges: impl ExactSizeIterator<Item = Range<usize>>,
    tiles: usize,
    rows: usize,
) -> Result<(), IndexError> {
    check(ranges.len() == tiles, "rows of each tile")?;
    let mut ranges = ranges;
    check(ranges.all(|range| range.start <= range.end && range.end <= rows), "rows that there are")
}
