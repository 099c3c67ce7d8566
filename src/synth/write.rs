//! Writes `profile.pop`: places the variables, derives Poplar's sums from the placement, and fills
//! the tables of format 3.8.0. What a model does not have yet (exchanges, vertices by tile,
//! execution) stays an empty table.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, Transaction, params};

use super::WriteError;
use super::allocator::place;
use super::model::{CATEGORIES, Life, Model, Program, Wanted};
use super::schema;
use crate::analysis::recompute::{self, CategorySums};
use crate::format::poplar::blob::encode_list;
use crate::store::ClassId;
use crate::store::liveness::Classes;
use crate::store::names::Names;
use crate::store::target::Target;
use crate::store::variable::{LoweredVariable, TileVariables, VariableFlags};

/// Class of variables that have no place; not listed in `eq_classes`, as in real reports.
const NO_CLASS: u32 = 0;
/// Class of everything that is always live.
const ALWAYS_LIVE: u32 = 1;

/// Writes the profile of a model.
///
/// # Errors
/// When the file cannot be written.
pub fn write_profile(model: &Model, file: &Path) -> Result<(), WriteError> {
    let mut connection = Connection::open(file)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(&schema::sql())?;
    let mut writer = Writer::new(&transaction, model);
    writer.write_facts()?;
    writer.write_programs()?;
    for (tile, wanted) in (0_u32..).zip(&model.tiles) {
        writer.write_tile(tile, wanted)?;
    }
    writer.write_sums()?;
    transaction.commit()?;
    Ok(())
}

struct Writer<'a> {
    db: &'a Transaction<'a>,
    model: &'a Model,
    classes: Classes,
    class_ids: BTreeMap<Life, u32>,
    /// Ids of base names and of unlowered names.
    base_names: BTreeMap<String, u32>,
    unlowered: BTreeMap<String, u32>,
    next_variable: u32,
    /// Bytes by (unlowered, class), over all tiles.
    totals: BTreeMap<(u32, u32), u64>,
    /// Not-always-live bytes at each step, by IPU.
    curves: Vec<Vec<u64>>,
    categories: Vec<Vec<CategorySums>>,
}

impl<'a> Writer<'a> {
    fn new(db: &'a Transaction<'a>, model: &'a Model) -> Self {
        let steps = u32::try_from(model.programs.len()).unwrap_or(u32::MAX);
        let lives = model.tiles.iter().flatten().filter(|variable| variable.bytes > 0);
        let mut class_ids: BTreeMap<Life, u32> = BTreeMap::new();
        class_ids.insert(Life::Always, ALWAYS_LIVE);
        let mut classes = Classes::default();
        classes.ids.push(ClassId(ALWAYS_LIVE));
        classes.always_live.push(true);
        classes.ranges.push(0..steps);
        classes.range_ends.push(1);
        for variable in lives {
            let next = u32::try_from(class_ids.len()).unwrap_or(u32::MAX) + 1;
            if let Life::Steps(from, to) = variable.life
                && !class_ids.contains_key(&variable.life)
            {
                class_ids.insert(variable.life.clone(), next);
                classes.ids.push(ClassId(next));
                classes.always_live.push(false);
                classes.ranges.push(from..to);
                classes.range_ends.push(classes.ranges.len());
            }
        }
        let ipus = usize::try_from(model.target.ipus.unwrap_or(1)).unwrap_or(1);
        Self {
            db,
            model,
            classes,
            class_ids,
            base_names: BTreeMap::new(),
            unlowered: BTreeMap::new(),
            next_variable: 0,
            totals: BTreeMap::new(),
            curves: vec![vec![0; model.programs.len()]; ipus],
            categories: vec![Vec::new(); CATEGORIES.len()],
        }
    }

    /// Machine, versions, options: the tables that do not depend on the placement.
    fn write_facts(&self) -> Result<(), WriteError> {
        let db = self.db;
        write_target(db, &self.model.target)?;
        db.execute("INSERT INTO version_info VALUES (3, 8, 0, 0, 'graph_profile')", [])?;
        db.execute(
            "INSERT INTO poplar_version VALUES ('3.3.0 (tilescope)', 'synthetic', 3, 3, 0)",
            [],
        )?;
        db.execute("INSERT INTO date_time VALUES ('2026-01-01 00:00:00')", [])?;
        db.execute("INSERT INTO compilation_info VALUES ('synthetic')", [])?;
        db.execute("INSERT INTO instrumentation_settings VALUES (0, NULL, 0, 0)", [])?;
        for (name, value, is_default) in &self.model.options {
            db.execute(
                "INSERT INTO compilation_parameters VALUES (?1, ?2, ?3)",
                params![name, value, is_default],
            )?;
        }
        for (id, (name, description)) in CATEGORIES.iter().enumerate() {
            db.execute(
                "INSERT INTO var_categories VALUES (?1, ?2, ?3)",
                params![id, name, description],
            )?;
        }
        for (start, duration, name) in
            [(0, 900, "compile"), (10, 300, "lowerGraph"), (320, 560, "allocateVarStorage")]
        {
            db.execute(
                "INSERT INTO compilation_trace VALUES (?1, ?2, ?3)",
                params![duration, name, start],
            )?;
        }
        Ok(())
    }

    fn write_programs(&self) -> Result<(), WriteError> {
        const KINDS: [(&str, Option<&str>); 9] = [
            ("Sequence", None),
            ("OnTileExecute", Some("program_type_on_tile_execute")),
            ("DoExchange", Some("program_type_do_exchange")),
            ("StreamCopyBegin", None),
            ("StreamCopyMid", Some("program_type_stream_copy")),
            ("StreamCopyEnd", None),
            ("WriteUndef", None),
            ("Sans", Some("program_type_sans")),
            ("SyncAns", Some("program_type_sync_ans")),
        ];
        let db = self.db;
        for (id, (name, table)) in KINDS.iter().enumerate() {
            db.execute(
                "INSERT INTO program_types VALUES (?1, ?2, ?3)",
                params![id + 1, name, table],
            )?;
        }
        let all_tiles: Vec<u64> = (0..self.model.tiles.len() as u64).collect();
        let mut next_in_table: BTreeMap<&str, u64> = BTreeMap::new();
        for (id, program) in self.model.programs.iter().enumerate() {
            let variant =
                KINDS.iter().position(|(name, _)| *name == program.kind).map_or(0, |at| at + 1);
            let next = next_in_table.entry(program.kind).or_default();
            let index = *next;
            *next += 1;
            match program.kind {
                "OnTileExecute" => db.execute(
                    "INSERT INTO program_type_on_tile_execute VALUES (?1, ?2)",
                    params![index, program.compute_set],
                )?,
                "Sans" => db.execute(
                    "INSERT INTO program_type_sans VALUES (?1, ?2)",
                    params![index, encode_list(&all_tiles)],
                )?,
                "SyncAns" => db.execute(
                    "INSERT INTO program_type_sync_ans VALUES (?1, ?2)",
                    params![index, encode_list(&all_tiles)],
                )?,
                _ => 0,
            };
            let has_table = matches!(program.kind, "OnTileExecute" | "Sans" | "SyncAns");
            self.write_program(id, variant, has_table.then_some(index), program)?;
        }
        db.execute("INSERT INTO control_programs VALUES (NULL, 0, 0)", [])?;
        for (id, name) in self.model.vertex_types.iter().enumerate() {
            db.execute("INSERT INTO vertex_types VALUES (?1, ?2, 16, 'c++')", params![id, name])?;
        }
        for (id, compute_set) in self.model.compute_sets.iter().enumerate() {
            let (types, counts): (Vec<u64>, Vec<u64>) =
                compute_set.vertices.iter().map(|(kind, count)| (*kind as u64, *count)).unzip();
            db.execute(
                "INSERT INTO compute_sets (compute_set, name, vertex_types, vertex_counts, \
                 edge_count, debug_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    id,
                    compute_set.name,
                    encode_list(&types),
                    encode_list(&counts),
                    compute_set.edges,
                    compute_set.context
                ],
            )?;
        }
        Ok(())
    }

    fn write_program(
        &self,
        id: usize,
        variant: usize,
        index: Option<u64>,
        program: &Program,
    ) -> Result<(), WriteError> {
        let children: Vec<u64> = (0_u64..)
            .zip(&self.model.programs)
            .filter(|(_, child)| child.parent == Some(id))
            .map(|(child, _)| child)
            .collect();
        let name = Some(&program.name).filter(|name| !name.is_empty());
        self.db.execute(
            "INSERT INTO programs VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, NULL)",
            params![id, variant, index, encode_list(&children), name, program.context],
        )?;
        self.db.execute(
            "INSERT INTO depth_first_steps VALUES (?1, ?1, ?2)",
            params![id, program.parent],
        )?;
        Ok(())
    }

    /// Places and writes the variables of one tile.
    fn write_tile(&mut self, tile: u32, wanted: &[Wanted]) -> Result<(), WriteError> {
        let variables = self.place(wanted);
        let first = self.next_variable;
        let mut by_class: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for (variable, wanted) in variables.variables.iter().zip(wanted) {
            let unlowered = next_id(&mut self.unlowered, &wanted.shown_as);
            let key = (unlowered, variable.class.0);
            *by_class.entry(key).or_default() += variable.bytes;
            self.write_variable(tile, wanted, variable, unlowered, (first, &variables))?;
        }
        for ((unlowered, class), bytes) in by_class {
            self.db.execute(
                "INSERT INTO var_bytes_by_eq_class VALUES (?1, ?2, ?3, ?4)",
                params![unlowered, class, bytes, tile],
            )?;
            *self.totals.entry((unlowered, class)).or_default() += bytes;
        }
        let order: Vec<u64> =
            variables.variables.iter().map(|variable| variable.id.into()).collect();
        self.db.execute(
            "INSERT INTO allocation_order_by_tile VALUES (?1, ?2)",
            params![tile, encode_list(&order)],
        )?;
        self.next_variable += u32::try_from(wanted.len()).unwrap_or(u32::MAX);
        self.add_sums(tile, &variables)
    }

    fn place(&self, wanted: &[Wanted]) -> TileVariables {
        let offsets = place(wanted, &self.model.target);
        // Code and data keep out of each other's memory elements: as in real reports the stack
        // stands for the data.
        let stack = wanted.iter().position(|variable| variable.name == "__stack");
        let code: Vec<u32> =
            (0..).zip(wanted).filter(|(_, v)| v.is_code).map(|(row, _)| row).collect();
        let mut names = Names::default();
        let mut variables = Vec::with_capacity(wanted.len());
        let mut constraints = Vec::with_capacity(wanted.len());
        for (row, (wanted, offset)) in wanted.iter().zip(offsets).enumerate() {
            names.push(&wanted.name);
            let is_placed = wanted.bytes > 0;
            let class = if is_placed { self.class_ids.get(&wanted.life).copied() } else { None };
            variables.push(LoweredVariable {
                id: self.next_variable + u32::try_from(row).unwrap_or(u32::MAX),
                offset,
                bytes: wanted.bytes,
                alignment: wanted.alignment,
                category: u32::try_from(wanted.category).ok(),
                class: ClassId(class.unwrap_or(NO_CLASS)),
                unlowered: None,
                flags: flags(wanted),
            });
            constraints.push(if wanted.is_code {
                stack.and_then(|stack| u32::try_from(stack).ok()).into_iter().collect()
            } else if Some(row) == stack {
                code.clone()
            } else {
                Vec::new()
            });
        }
        TileVariables {
            region_constraints: vec![Vec::new(); variables.len()],
            variables,
            names,
            element_constraints: constraints,
        }
    }

    fn write_variable(
        &mut self,
        tile: u32,
        wanted: &Wanted,
        variable: &LoweredVariable,
        unlowered: u32,
        (first, all): (u32, &TileVariables),
    ) -> Result<(), WriteError> {
        let base = next_id(&mut self.base_names, &format!("{}#", wanted.name));
        let row = usize::try_from(variable.id - first).unwrap_or(usize::MAX);
        let constraints: Vec<u64> = all
            .element_constraints
            .get(row)
            .map(|rows| rows.iter().map(|row| u64::from(*row)).collect())
            .unwrap_or_default();
        let constraints = (!constraints.is_empty()).then(|| encode_list(&constraints));
        self.db.prepare_cached(
            "INSERT INTO vars_info VALUES (?1, ?2, ?3, NULL, ?4, ?5, ?6, ?7, ?8, ?9, ?10, NULL, ?11, ?12)",
        )?.execute(params![
            variable.id,
            tile,
            base,
            tile.to_string(),
            variable.bytes,
            variable.alignment,
            variable.offset,
            variable.category,
            variable.class.0,
            constraints,
            wanted.is_lowered_from.then_some(unlowered),
            variable.flags.0
        ])?;
        Ok(())
    }

    /// Adds a tile to `memory_by_tile` and to the sums over tiles.
    fn add_sums(&mut self, tile: u32, variables: &TileVariables) -> Result<(), WriteError> {
        let target = &self.model.target;
        let steps = self.model.programs.len();
        let sums = recompute::tile_sums(variables, target, &self.classes, steps);
        let [non_interleaved, interleaved, overflowed] = sums.by_region;
        // The end of each region's part counts from the region's start.
        let limit = target.bytes_per_tile.unwrap_or(u64::MAX);
        let border = target.interleaved_start.unwrap_or(limit).min(limit);
        let end = sums.including_gaps;
        self.db.execute(
            "INSERT INTO memory_by_tile VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                tile,
                interleaved,
                end.min(limit).saturating_sub(border),
                non_interleaved,
                end.min(border),
                overflowed,
                end.saturating_sub(limit),
                sums.total,
                end,
                sums.always_live,
                sums.not_always_live_max
            ],
        )?;
        let ipu = target.ipu_of(crate::store::TileId(tile)).unwrap_or(0) as usize;
        let curve = recompute::curve(variables.variables.iter(), &self.classes, steps);
        if let Some(sum) = self.curves.get_mut(ipu) {
            sum.iter_mut().zip(curve).for_each(|(sum, bytes)| *sum += bytes);
        }
        let by_category = recompute::category_sums(variables, target);
        for (category, list) in (0_u32..).zip(&mut self.categories) {
            list.push(by_category.get(&category).copied().unwrap_or_default());
        }
        Ok(())
    }

    /// Writes what is summed up over tiles.
    fn write_sums(&self) -> Result<(), WriteError> {
        let db = self.db;
        for (class, id) in self.classes.ids.as_slice().iter().enumerate() {
            let always_live = self.classes.always_live.get(class) == Some(&true);
            db.execute("INSERT INTO eq_classes VALUES (?1, ?2)", params![id.0, always_live])?;
            for range in self.classes.ranges_of(class) {
                db.execute(
                    "INSERT INTO eq_class_step VALUES (?1, ?2, ?3)",
                    params![id.0, range.start, range.end],
                )?;
            }
            self.write_interference(class, *id)?;
        }
        for ((unlowered, class), bytes) in &self.totals {
            db.execute(
                "INSERT INTO var_bytes_by_eq_class VALUES (?1, ?2, ?3, NULL)",
                params![unlowered, class, bytes],
            )?;
        }
        for (table, names) in
            [("unlowered_vars", &self.unlowered), ("vars_string_table", &self.base_names)]
        {
            let mut by_id: Vec<_> = names.iter().map(|(name, id)| (id, name)).collect();
            by_id.sort_unstable();
            for (id, name) in by_id {
                db.execute(&format!("INSERT INTO {table} VALUES (?1, ?2)"), params![id, name])?;
            }
        }
        self.write_deltas()?;
        self.write_categories()?;
        let compute_sets = &self.model.compute_sets;
        let vertices = compute_sets.iter().flat_map(|set| &set.vertices).map(|(_, count)| count);
        db.execute(
            "INSERT INTO graph_info VALUES (?1, ?2, ?3, ?4)",
            params![
                compute_sets.len(),
                compute_sets.iter().map(|set| set.edges).sum::<u64>(),
                self.next_variable,
                vertices.sum::<u64>()
            ],
        )?;
        Ok(())
    }

    fn write_interference(&self, class: usize, id: ClassId) -> Result<(), WriteError> {
        let ranges = self.classes.ranges_of(class);
        let overlaps = |other: usize| {
            self.classes
                .ranges_of(other)
                .iter()
                .any(|a| ranges.iter().any(|b| a.start < b.end && b.start < a.end))
        };
        let ids = self.classes.ids.as_slice();
        let others: Vec<u64> = (0..ids.len())
            .filter(|other| overlaps(*other))
            .filter_map(|other| ids.get(other).map(|id| u64::from(id.0)))
            .collect();
        self.db.execute(
            "INSERT INTO equivalence_class_interference VALUES (?1, ?2)",
            params![id.0, encode_list(&others)],
        )?;
        Ok(())
    }

    /// Steps at which nothing changes have no row.
    fn write_deltas(&self) -> Result<(), WriteError> {
        let steps = self.model.programs.len();
        let everything: Vec<u64> = (0..steps)
            .map(|step| self.curves.iter().filter_map(|curve| curve.get(step)).sum())
            .collect();
        let by_ipu = self.curves.iter().enumerate().map(|(ipu, curve)| (Some(ipu), curve));
        for (ipu, curve) in by_ipu.chain([(None, &everything)]) {
            let mut before = 0_i64;
            for (step, bytes) in curve.iter().enumerate() {
                let bytes = i64::try_from(*bytes).unwrap_or(i64::MAX);
                if bytes != before {
                    self.db.execute(
                        "INSERT INTO memory_not_always_live_by_step_and_ipu VALUES (?1, ?2, ?3)",
                        params![ipu, step, bytes - before],
                    )?;
                }
                before = bytes;
            }
        }
        Ok(())
    }

    fn write_categories(&self) -> Result<(), WriteError> {
        for ((name, _), tiles) in CATEGORIES.iter().zip(&self.categories) {
            let list = |part: &dyn Fn(&CategorySums) -> [u64; 3], region: usize| {
                let bytes = tiles.iter().map(|sums| part(sums).get(region).copied().unwrap_or(0));
                encode_list(&bytes.collect::<Vec<u64>>())
            };
            let alone = |sums: &CategorySums| sums.not_overlapped;
            let shared = |sums: &CategorySums| sums.overlapped;
            self.db.execute(
                "INSERT INTO memory_by_category VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    name,
                    list(&alone, 1),
                    list(&shared, 1),
                    list(&alone, 0),
                    list(&shared, 0),
                    list(&alone, 2),
                    list(&shared, 2)
                ],
            )?;
        }
        Ok(())
    }
}

fn next_id(ids: &mut BTreeMap<String, u32>, name: &str) -> u32 {
    if let Some(id) = ids.get(name) {
        return *id;
    }
    let id = u32::try_from(ids.len()).unwrap_or(u32::MAX);
    ids.insert(name.to_owned(), id);
    id
}

/// The bitset of `vars_info` (formats/poplar.md 2.4).
fn flags(wanted: &Wanted) -> VariableFlags {
    let bits = [
        (wanted.bytes > 0, 0),
        (wanted.is_constant, 1),
        (wanted.life == Life::Always, 2),
        (wanted.is_code, 3),
        (wanted.is_code && wanted.name.starts_with(".text.__runCodelet"), 4),
        (wanted.name == ".text.poplar_start", 6),
        (wanted.is_interleaved, 7),
        (!wanted.is_code && wanted.is_lowered_from, 8),
    ];
    VariableFlags(bits.iter().map(|(is_set, bit)| u16::from(*is_set) << bit).sum())
}

fn write_target(db: &Transaction<'_>, target: &Target) -> Result<(), WriteError> {
    db.execute(
        "INSERT INTO target_info VALUES (?1, ?2, ?3, 10, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, \
         64, ?14, ?15, ?16, ?17, 2, 6, 4, 8, 4, 1, 600, 256, 5, 5, 10, 64, 4, 4, 4, 8, 4, 2, 16, 8, \
         16, 0, 16, 64, 262144, 65535, 4)",
        params![
            target.bytes_per_ipu,
            target.bytes_per_tile,
            target.clock_hz,
            target.ipus,
            target.tiles,
            target.tiles_per_ipu,
            target.total_bytes,
            target.replicas,
            target.ipus_per_replica,
            target.tiles_per_replica,
            target.bytes_per_replica,
            target.architecture,
            target.kind,
            encode_list(&target.element_offsets),
            target.interleaved_start,
            encode_list(&target.region_offsets),
            target.tile_base_address
        ],
    )?;
    for tile in 0..target.tiles_per_ipu.unwrap_or(0) {
        db.execute("INSERT INTO relative_sync_delay VALUES (?1, 0)", [tile])?;
    }
    Ok(())
}
