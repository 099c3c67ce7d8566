//! Lowered variables (`vars_info`): all of them as columns, or one tile with names and constraints.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::{Deref, RangeInclusive};

use rayon::prelude::*;

use crate::format::Error;
use crate::format::Progress;
use crate::format::sqlite::Database;
use crate::format::sqlite::{Cells, NumberedRows, Only, Query, ROW_ID, Tables, split_for_threads};
use crate::index::{ColumnSpace, Growing};
use crate::limits::{self, RepeatedNames};
use crate::store::column::Column;
use crate::store::ids::{ClassId, TileId, UnloweredId};
use crate::store::names::Names;
use crate::store::placed::{Placed, Placement};
use crate::store::variable::{LoweredVariables, VariableFlags, WideVariable};
use crate::store::{WarningCode, Warnings};
use crate::systems::poplar::files::blob;
use crate::work::Work;

const TABLE: &str = "vars_info";
const KEY: &str = "var_id";

/// Reads the resident columns of all lowered variables, in parallel over ranges of `var_id`; `None`
/// when the table cannot be read, or the reading was canceled.
///
/// # Errors
/// When the profile cannot be opened again, or there is no room for the columns.
pub fn read_variables(
    database: &Database,
    room: &ColumnSpace,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<LoweredVariables>, Error> {
    let tables = database.tables(warnings, progress)?;
    if !tables.has_columns(TABLE, &["var_id", "tile", "offset", "size_bytes"]) {
        return Ok(None);
    }
    let ranges = id_ranges(&tables);
    let bytes_per_range = database.bytes.checked_div(ranges.len() as u64).unwrap_or(0);
    let no_room = |error: std::io::Error| database.no_room(&error);
    let mut all =
        JoinedChunks::new(room, expected_rows(&ranges, database.bytes)).map_err(no_room)?;
    // As many at a time as there are threads, so that no more than those are in memory twice.
    for ranges in ranges.chunks(rayon::current_num_threads().max(1)) {
        let chunks: Vec<Chunk> = ranges
            .par_iter()
            .map(|range| {
                let tables = database.tables(warnings, progress)?;
                let chunk = read_chunk(&tables, range);
                progress.advance(bytes_per_range);
                Ok(chunk)
            })
            .collect::<Result<_, Error>>()?;
        chunks.iter().try_for_each(|chunk| all.add(chunk)).map_err(no_room)?;
        // A part of the rows would give wrong figures, so canceled is as good as absent.
        if progress.is_cancelled() {
            return Ok(None);
        }
    }
    all.finish().map(Some).map_err(no_room)
}

/// How many rows there may be, for which room is kept: no more than the file has bytes for.
fn expected_rows(ranges: &[RangeInclusive<i64>], bytes: u64) -> usize {
    const LEAST_BYTES: u64 = 16;
    let ids = ranges
        .first()
        .zip(ranges.last())
        .map_or(0, |(first, last)| last.end().saturating_sub(*first.start()).saturating_add(1));
    let most = bytes.checked_div(LEAST_BYTES).unwrap_or(0);
    usize::try_from(u64::try_from(ids).unwrap_or(0).min(most)).unwrap_or(0)
}

/// Splits the ids into ranges of about equal width, several for each thread.
pub fn id_ranges(tables: &Tables<'_>) -> Vec<RangeInclusive<i64>> {
    let (mut first, mut last) = (0, -1);
    for (tail, id) in
        [("ORDER BY var_id LIMIT 1", &mut first), ("ORDER BY var_id DESC LIMIT 1", &mut last)]
    {
        let query = Query { table: TABLE, columns: &["var_id"], tail, needs: &["var_id"] };
        tables.query(&query, [], |cells| {
            if let Some(found) = cells.signed(0) {
                *id = found;
            }
        });
    }
    split_for_threads(first, last)
}

/// The rows of a range of ids.
#[derive(Default)]
struct Chunk {
    ids: Ids,
    tiles: TileRuns,
    variables: LoweredVariables,
}

/// Ids in ascending order: a list only where they are not consecutive.
#[derive(Default)]
struct Ids {
    first: Option<u32>,
    count: u32,
    list: Option<Vec<u32>>,
}

impl Ids {
    fn push(&mut self, id: u32) {
        let first = *self.first.get_or_insert(id);
        let expected = first.checked_add(self.count);
        if self.list.is_none() && expected != Some(id) {
            self.list = Some(self.iter().collect());
        }
        if let Some(list) = &mut self.list {
            list.push(id);
        }
        self.count = self.count.saturating_add(1);
    }

    fn append(&mut self, other: &Self) {
        let next = self.first.map_or(other.first, |first| first.checked_add(self.count));
        if self.list.is_none() && other.list.is_none() && (next == other.first || other.count == 0)
        {
            self.first = self.first.or(other.first);
            self.count = self.count.saturating_add(other.count);
        } else {
            other.iter().for_each(|id| self.push(id));
        }
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        let first = self.first.unwrap_or(0);
        let consecutive = if self.list.is_none() { self.count } else { 0 };
        let list = self.list.as_deref().unwrap_or(&[]).iter().copied();
        (first..first.saturating_add(consecutive)).chain(list)
    }
}

/// The tile of every row, in runs: a tile, and how many rows.
#[derive(Default)]
struct TileRuns(Vec<(u32, u32)>);

impl TileRuns {
    fn push(&mut self, tile: u32, rows: u32) {
        match self.0.last_mut() {
            Some((last, count)) if *last == tile => *count = count.saturating_add(rows),
            _ => self.0.push((tile, rows)),
        }
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|(tile, rows)| std::iter::repeat_n(*tile, *rows as usize))
    }
}

fn read_chunk(tables: &Tables<'_>, range: &RangeInclusive<i64>) -> Chunk {
    const COLUMNS: [&str; 8] = [
        "var_id",
        "tile",
        "offset",
        "size_bytes",
        "equivalence_class",
        "unlowered_var_id",
        "category",
        "bitset",
    ];
    let mut chunk = Chunk::default();
    let ids = Some(range.clone());
    let rows = NumberedRows { ids, ..NumberedRows::all(TABLE, &COLUMNS, KEY) };
    tables.rows(&rows, |cells| {
        let (id, tile) = (cells.required32(0), cells.required32(1));
        // Numbers of more than 32 bits stand in a list of their own, which has an end.
        let has_room = chunk.variables.wide.len() < limits::WIDE_VARIABLES;
        let most = if has_room { limits::ADDRESS } else { u64::from(u32::MAX) };
        let place = (cells.required_up_to(2, most), cells.required_up_to(3, most));
        let (Some(id), Some(tile), (Some(offset), Some(bytes))) = (id, tile, place) else { return };
        chunk.ids.push(id);
        chunk.tiles.push(tile, 1);
        let variables = &mut chunk.variables;
        let in_32_bits = |number| u32::try_from(number).unwrap_or(u32::MAX);
        if offset.max(bytes) > u64::from(u32::MAX) {
            let row = in_32_bits(variables.offsets.len() as u64);
            variables.wide.push(WideVariable { row, offset, bytes });
        }
        let (offset, bytes) = (in_32_bits(offset), in_32_bits(bytes));
        variables.offsets.push(offset);
        variables.bytes.push(bytes);
        variables.classes.push(ClassId(cells.required32(4).unwrap_or(u32::MAX)));
        let unlowered = cells.number32(5).map_or(LoweredVariables::NO_UNLOWERED, UnloweredId);
        variables.unlowered.push(unlowered);
        let category = cells.required(6).and_then(|category| u8::try_from(category).ok());
        variables.categories.push(category.unwrap_or(u8::MAX));
        variables.flags.push(flags(cells, 7));
    });
    chunk
}

/// The bitset. Without the column every variable counts as allocated: that is what most are.
fn flags(cells: &mut Cells<'_, '_>, column: usize) -> VariableFlags {
    let bits = if cells.has(column) { cells.required(column).unwrap_or(0) } else { 1 };
    VariableFlags(u16::try_from(bits & 0xffff).unwrap_or(0))
}

/// Chunks put one after the other.
struct JoinedChunks {
    ids: Ids,
    tiles: TileRuns,
    wide: Vec<WideVariable>,
    offsets: Growing<u32>,
    bytes: Growing<u32>,
    classes: Growing<ClassId>,
    unlowered: Growing<UnloweredId>,
    categories: Growing<u8>,
    flags: Growing<VariableFlags>,
}

impl JoinedChunks {
    fn new(room: &ColumnSpace, rows: usize) -> io::Result<Self> {
        Ok(Self {
            ids: Ids::default(),
            tiles: TileRuns::default(),
            wide: Vec::new(),
            offsets: room.column(rows)?,
            bytes: room.column(rows)?,
            classes: room.column(rows)?,
            unlowered: room.column(rows)?,
            categories: room.column(rows)?,
            flags: room.column(rows)?,
        })
    }

    fn add(&mut self, chunk: &Chunk) -> io::Result<()> {
        let first = self.ids.count;
        let wide = chunk.variables.wide.iter();
        self.wide
            .extend(wide.map(|wide| WideVariable { row: wide.row.saturating_add(first), ..*wide }));
        self.ids.append(&chunk.ids);
        chunk.tiles.0.iter().for_each(|(tile, rows)| self.tiles.push(*tile, *rows));
        self.offsets.extend_from_slice(&chunk.variables.offsets)?;
        self.bytes.extend_from_slice(&chunk.variables.bytes)?;
        self.classes.extend_from_slice(&chunk.variables.classes)?;
        self.unlowered.extend_from_slice(&chunk.variables.unlowered)?;
        self.categories.extend_from_slice(&chunk.variables.categories)?;
        self.flags.extend_from_slice(&chunk.variables.flags)
    }

    /// The rows grouped by tile.
    fn finish(self) -> io::Result<LoweredVariables> {
        let (mut ids, mut tiles) = (self.ids, self.tiles);
        let mut all = LoweredVariables {
            offsets: self.offsets.finish()?,
            bytes: self.bytes.finish()?,
            classes: self.classes.finish()?,
            unlowered: self.unlowered.finish()?,
            categories: self.categories.finish()?,
            flags: self.flags.finish()?,
            wide: self.wide,
            ..LoweredVariables::default()
        };
        if !tiles.0.is_sorted() {
            group_by_tile(&mut all, &mut ids, &mut tiles);
        }
        let mut start = 0_u32;
        for (tile, rows) in &tiles.0 {
            let end = start.saturating_add(*rows);
            all.tiles.push(TileId(*tile));
            all.rows.push(start..end);
            start = end;
        }
        all.first_id = ids.first.unwrap_or(0);
        all.ids = ids.list.map(Column::from);
        Ok(all)
    }
}

/// Sorts all columns by tile, keeping the order of ids within each. Real reports need no sorting.
fn group_by_tile(all: &mut LoweredVariables, ids: &mut Ids, tiles: &mut TileRuns) {
    fn permute<T: Copy, C>(column: &mut C, order: &[u32])
    where
        C: Deref<Target = [T]> + FromIterator<T>,
    {
        *column = order.iter().filter_map(|row| column.get(*row as usize).copied()).collect();
    }
    let of_rows: Vec<u32> = tiles.iter().collect();
    let mut order: Vec<u32> = (0..u32::try_from(of_rows.len()).unwrap_or(u32::MAX)).collect();
    order.sort_by_key(|row| of_rows.get(*row as usize).copied());
    permute(&mut all.offsets, &order);
    permute(&mut all.bytes, &order);
    permute(&mut all.classes, &order);
    permute(&mut all.unlowered, &order);
    permute(&mut all.categories, &order);
    permute(&mut all.flags, &order);
    if !all.wide.is_empty() {
        let wide: HashMap<u32, WideVariable> =
            all.wide.drain(..).map(|wide| (wide.row, wide)).collect();
        let found = (0..).zip(&order).filter_map(|(row, old)| Some((row, *wide.get(old)?)));
        all.wide = found.map(|(row, wide)| WideVariable { row, ..wide }).collect();
    }
    let in_order = |list: Vec<u32>| -> Vec<u32> {
        order.iter().filter_map(|row| list.get(*row as usize).copied()).collect()
    };
    let (by_row, mut sorted) = (in_order(ids.iter().collect()), Ids::default());
    for id in by_row {
        sorted.push(id);
    }
    let mut runs = TileRuns::default();
    for tile in in_order(of_rows) {
        runs.push(tile, 1);
    }
    (*ids, *tiles) = (sorted, runs);
}

const TILE_COLUMNS: [&str; 11] = [
    "var_id",
    "tile",
    "offset",
    "size_bytes",
    "alignment",
    "equivalence_class",
    "unlowered_var_id",
    "category",
    "bitset",
    "element_constraints",
    "region_constraints",
];
const NAME_COLUMNS: [&str; 3] = ["name_base_id", "name_prefix__vertex_field_", "name_suffix"];

/// Rows of tiles that do not lie together that are held in memory at once.
const ROWS_AT_ONCE: usize = 1 << 20;

/// Reads constraints, and names where they are wanted, tile by tile.
pub struct TileReader<'a> {
    tables: Tables<'a>,
    /// `None` to leave names out.
    base_names: Option<HashMap<u32, String>>,
    /// The tiles that are read; the rows of others are passed over.
    is_wanted: &'a dyn Fn(TileId) -> bool,
}

impl<'a> TileReader<'a> {
    /// Reads the table of base names (`vars_string_table`).
    pub fn new(tables: Tables<'a>) -> Self {
        let mut base_names = HashMap::new();
        tables.rows(&NumberedRows::all("vars_string_table", &["id", "string"], ROW_ID), |cells| {
            if let (Some(id), Some(text)) = (cells.required32(0), cells.owned_text(1)) {
                base_names.insert(id, text);
            }
        });
        Self { tables, base_names: Some(base_names), is_wanted: &|_| true }
    }

    /// Leaves names out, and all tiles but some.
    pub fn without_names(tables: Tables<'a>, is_wanted: &'a dyn Fn(TileId) -> bool) -> Self {
        Self { tables, base_names: None, is_wanted }
    }

    pub fn tables(&self) -> &Tables<'a> {
        &self.tables
    }

    /// The variables of one tile, `None` when the table cannot be read. Without an index on tiles
    /// this scans the table, unless `ids` says where the tile's rows are.
    pub fn read_tile(&self, tile: TileId, ids: Option<RangeInclusive<u32>>) -> Option<Placed> {
        let mut found = None;
        let ids = ids.map(|ids| i64::from(*ids.start())..=i64::from(*ids.end()));
        let is_there =
            self.read(ids, Some((tile.0, tile.0)), |_, variables| found = Some(variables));
        is_there.then(|| found.unwrap_or_default())
    }

    /// Whether the table can be read; if not, a warning says why.
    pub fn has_table(&self) -> bool {
        self.tables.has_columns(TABLE, &["var_id", "tile", "offset", "size_bytes"])
    }

    /// All tiles, one after the other. Where the rows do not lie so already, as in every real report, they are gone
    /// through several times, each time for so many tiles as are held in memory together.
    pub fn each_tile(&self, mut each: impl FnMut(TileId, Placed)) -> bool {
        if self.tables.are_in_order_of(&NumberedRows::all(TABLE, &self.columns(), KEY), 1) {
            return self.read(None, None, &mut each);
        }
        if !self.has_table() {
            return false;
        }
        let mut rows_of_tiles: BTreeMap<u32, usize> = BTreeMap::new();
        let is_there =
            self.tables.rows(&NumberedRows::all(TABLE, &["var_id", "tile"], KEY), |cells| {
                if let Some(tile) =
                    cells.required32(1).filter(|tile| (self.is_wanted)(TileId(*tile)))
                {
                    let rows = rows_of_tiles.entry(tile).or_default();
                    *rows = rows.saturating_add(1);
                }
            });
        let mut tiles = rows_of_tiles.into_iter().peekable();
        while let Some((first, mut rows)) = tiles.next() {
            let mut last = first;
            let fits = |more: usize, rows: usize| rows.saturating_add(more) <= ROWS_AT_ONCE;
            while let Some((tile, more)) = tiles.next_if(|(_, more)| fits(*more, rows)) {
                (last, rows) = (tile, rows.saturating_add(more));
            }
            if self.tables.progress.is_cancelled() {
                break;
            }
            self.read(None, Some((first, last)), &mut each);
        }
        is_there
    }

    /// The tiles of a range of `var_id`, in the order in which they come; a tile whose rows do not
    /// lie together comes several times.
    pub fn each_tile_between(
        &self,
        ids: &RangeInclusive<u32>,
        mut each: impl FnMut(TileId, Placed),
    ) -> bool {
        let ids = i64::from(*ids.start())..=i64::from(*ids.end());
        self.read(Some(ids), None, &mut each)
    }

    fn columns(&self) -> Vec<&'static str> {
        let names = if self.base_names.is_some() { &NAME_COLUMNS[..] } else { &[] };
        [&TILE_COLUMNS[..], names].concat()
    }

    fn read(
        &self,
        ids: Option<RangeInclusive<i64>>,
        only: Option<(u32, u32)>,
        mut each: impl FnMut(TileId, Placed),
    ) -> bool {
        if !self.has_table() {
            return false;
        }
        let columns = self.columns();
        let mut current: Option<(TileId, TileRows)> = None;
        let are_apart = ids.is_none() && only.is_some();
        let mut apart: BTreeMap<TileId, TileRows> = BTreeMap::new();
        // The first tile with something that is wrong with it, and how many there are.
        let mut all_beyond: Option<(TileId, usize, u64)> = None;
        let mut all_cut: Option<(TileId, u64)> = None;
        let mut finish = |tile: TileId, rows: TileRows| {
            let names_cut = rows.repeated.cut;
            let (variables, beyond) = rows.finish();
            if beyond > 0 {
                let (_, _, tiles) = all_beyond.get_or_insert((tile, beyond, 0));
                *tiles = tiles.saturating_add(1);
            }
            if names_cut > 0 {
                let (_, names) = all_cut.get_or_insert((tile, 0));
                *names = names.saturating_add(names_cut);
            }
            each(tile, variables);
        };
        let each_row = |cells: &mut Cells<'_, '_>| {
            let tile = cells.required32(1).map(TileId);
            let Some(tile) = tile.filter(|tile| (self.is_wanted)(*tile)) else { return };
            // Of several tiles that are wanted at once the rows lie anywhere.
            if are_apart {
                apart.entry(tile).or_default().push(cells, self.base_names.as_ref());
                return;
            }
            if current.as_ref().is_some_and(|(last, _)| *last != tile)
                && let Some((last, rows)) = current.take()
            {
                finish(last, rows);
            }
            let (_, rows) = current.get_or_insert_with(|| (tile, TileRows::default()));
            rows.push(cells, self.base_names.as_ref());
        };
        let only = only.map(|(first, last)| Only::Between("tile", first, last));
        let rows = NumberedRows { table: TABLE, columns: &columns, key: KEY, ids, only };
        let is_there = self.tables.rows(&rows, each_row);
        for (tile, rows) in apart {
            finish(tile, rows);
        }
        if let Some((last, rows)) = current {
            finish(last, rows);
        }
        if let Some((tile, beyond, tiles)) = all_beyond {
            let others = if tiles > 1 { format!(" ({tiles} such tiles)") } else { String::new() };
            let what =
                format!("{beyond} constraints name a variable that it does not have{others}");
            let message = format!("table {TABLE}, tile {tile}: {what}");
            self.tables.warn(WarningCode::Inconsistent, message);
        }
        if let Some((tile, names)) = all_cut {
            let most = limits::REPEATED_NAME_BYTES;
            let what = format!("its names take more than {most} bytes; {names} are cut");
            let message = format!("table {TABLE}, tile {tile}: {what}");
            self.tables.warn(WarningCode::Inconsistent, message);
        }
        is_there
    }
}

/// The rows of a tile while they are read: constraints still count from the tile's first `var_id`.
#[derive(Default)]
struct TileRows {
    variables: Vec<Placement>,
    names: Names,
    element_constraints: Vec<Vec<u64>>,
    region_constraints: Vec<Vec<u64>>,
    /// Numbers in these.
    constraints: usize,
    repeated: RepeatedNames,
}

impl TileRows {
    fn push(&mut self, cells: &mut Cells<'_, '_>, base_names: Option<&HashMap<u32, String>>) {
        // Of 64 bits: a size that no tile has is shown where it lies.
        let most = limits::ADDRESS;
        let row =
            (cells.required32(0), cells.required_up_to(2, most), cells.required_up_to(3, most));
        let (Some(id), Some(offset), Some(bytes)) = row else { return };
        self.variables.push(Placement {
            id,
            offset,
            bytes,
            alignment: cells.required(4).unwrap_or(1).max(1),
            class: ClassId(cells.required32(5).unwrap_or(u32::MAX)),
            unlowered: cells.number32(6).map(UnloweredId),
            category: cells.required32(7),
            flags: flags(cells, 8),
        });
        let (element, region) = (self.constraints(cells, 9), self.constraints(cells, 10));
        self.element_constraints.push(element);
        self.region_constraints.push(region);
        if let Some(base_names) = base_names {
            self.push_name(cells, base_names);
        }
    }

    fn constraints(&mut self, cells: &mut Cells<'_, '_>, column: usize) -> Vec<u64> {
        if self.constraints > limits::ALL_LIST_NUMBERS {
            if !cells.is_null(column) {
                cells.damage(column, "more constraints than all variables of a tile have");
            }
            return Vec::new();
        }
        let list = cells.decode(column, blob::list).unwrap_or_default();
        self.constraints = self.constraints.saturating_add(list.len());
        list
    }

    fn push_name(&mut self, cells: &mut Cells<'_, '_>, base_names: &HashMap<u32, String>) {
        let base = cells.required32(11).and_then(|id| {
            let base = base_names.get(&id);
            if base.is_none() && !base_names.is_empty() {
                cells.damage(11, &format!("vars_string_table has no string {id}"));
            }
            base
        });
        let base = base.map_or("", String::as_str);
        let suffix = cells.text(13).unwrap_or_default();
        let name = match cells.number(12) {
            Some(prefix) => format!("__vertexField_{prefix}{base}{suffix}"),
            None => format!("{base}{suffix}"),
        };
        self.names.push(&self.repeated.take(&name));
    }

    /// Turns tile-local indexes (var_id minus the tile's smallest var_id) into rows; also says how
    /// many of them are beyond the tile.
    fn finish(self) -> (Placed, usize) {
        Work::Placements.add(self.variables.len() as u64);
        let first = self.variables.first().map_or(0, |variable| u64::from(variable.id));
        let mut beyond = 0_usize;
        let mut row_of = |index: u64| {
            let id = first.checked_add(index).and_then(|id| u32::try_from(id).ok());
            let row = id.and_then(|id| {
                self.variables.binary_search_by_key(&id, |variable| variable.id).ok()
            });
            if row.is_none() {
                beyond = beyond.saturating_add(1);
            }
            row.and_then(|row| u32::try_from(row).ok())
        };
        let mut rows_of = |constraints: Vec<Vec<u64>>| -> Vec<Vec<u32>> {
            let lists = constraints.into_iter();
            lists.map(|indexes| indexes.into_iter().filter_map(&mut row_of).collect()).collect()
        };
        let element_constraints = rows_of(self.element_constraints);
        let region_constraints = rows_of(self.region_constraints);
        let (variables, names) = (self.variables, self.names);
        (Placed::new(variables, names, element_constraints, region_constraints), beyond)
    }
}
