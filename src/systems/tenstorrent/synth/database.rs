//! `db.sqlite` with the tables that memory is read from.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, ToSql, Transaction, params_from_iter};

use super::capture::{DraftOperation, DraftTensor};
use super::chip::{
    CORES, FLOOR, GRID, L1_BANK_BYTES, MESH, PAGE_BYTES, TensorPlace, WORKER_L1_BYTES,
};
use super::encoder::{FROM_TORCH, SOURCE, SOURCE_FILE};
use super::{ReportSchema, TtnnReportOptions, WrittenRank};
use crate::format::Progress;
use crate::synth::WriteError;

/// Tables with their columns; of newer schemas each has a column `rank` behind them.
const TABLES: [(&str, &str); 11] = [
    (
        "devices",
        "device_id int, num_y_cores int, num_x_cores int, num_y_compute_cores int, num_x_compute_cores int, \
         worker_l1_size int, l1_num_banks int, l1_bank_size int, address_at_first_l1_bank int, \
         address_at_first_l1_cb_buffer int, num_banks_per_storage_core int, num_compute_cores int, num_storage_cores int, \
         total_l1_memory int, total_l1_for_tensors int, total_l1_for_interleaved_buffers int, \
         total_l1_for_sharded_buffers int, cb_limit int",
    ),
    ("operations", "operation_id int, name text, duration float"),
    ("operation_arguments", "operation_id int, name text, value text"),
    ("stack_traces", "operation_id int, stack_trace text"),
    (
        "tensors",
        "tensor_id int, shape text, dtype text, layout text, memory_config text, device_id int, address int, buffer_type int",
    ),
    ("device_tensors", "tensor_id int, device_id int, address int"),
    ("input_tensors", "operation_id int, input_index int, tensor_id int"),
    ("output_tensors", "operation_id int, output_index int, tensor_id int"),
    (
        "buffers",
        "operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int, buffer_layout int",
    ),
    ("captured_graph", "operation_id int, captured_graph text"),
    (
        "errors",
        "operation_id int, operation_name text, error_type text, error_message text, stack_trace text, timestamp text",
    ),
];
const CHUNKS: (&str, &str) = (
    "buffer_chunks",
    "operation_id int, device_id int, address int, bank_id int, core_x int, core_y int, chunk_address int, \
     chunk_size int, page_size int, num_pages int, buffer_type int",
);
const PAGES: (&str, &str) = (
    "buffer_pages",
    "operation_id int, device_id int, address int, core_y int, core_x int, bank_id int, page_index int, \
     page_address int, page_size int, buffer_type int",
);
/// Bytes of a file for each row of `buffers`, and of its rows for cores, as measured.
const BYTES_PER_BUFFER: u64 = 24;
const BYTES_PER_CHUNK: u64 = 38;
/// Bytes of a file for what else it has of an operation.
const BYTES_PER_OPERATION: u64 = 745;
/// A graph takes this part of its length more: it has pages of its own, of which the last is not full.
const GRAPH_PER_UNUSED: u64 = 6;

/// About how many bytes of a database an operation takes.
pub fn estimated_bytes(operation: &DraftOperation<'_>, schema: ReportSchema) -> u64 {
    let alive = operation.alive.into_iter().flat_map(|alive| alive.values());
    let rows = alive.map(|tensor| {
        let on_cores = if schema == ReportSchema::V2 { tensor.pages() } else { CORES };
        let is_l1 = tensor.place == TensorPlace::L1;
        BYTES_PER_BUFFER + if is_l1 { on_cores.min(tensor.pages()) * BYTES_PER_CHUNK } else { 0 }
    });
    let graph = operation.graph.len() as u64;
    rows.sum::<u64>() + graph + graph / GRAPH_PER_UNUSED + BYTES_PER_OPERATION
}

/// Writes the database of all ranks.
pub fn write(
    options: &TtnnReportOptions,
    path: &Path,
    progress: &Progress,
) -> Result<Vec<WrittenRank>, WriteError> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;",
    )?;
    connection.set_prepared_statement_cache_capacity(32);
    let transaction = connection.transaction()?;
    let database = ReportDatabase { db: &transaction, schema: options.schema };
    database.make_tables(options)?;
    let mut written = Vec::new();
    for rank in 0..options.ranks {
        database.write_devices(rank)?;
        written.push(options.run(rank, &mut |operation| {
            if progress.is_cancelled() {
                return Err(WriteError::Cancelled);
            }
            database.write_operation(operation)
        })?);
        progress.advance(1);
    }
    transaction.commit()?;
    Ok(written)
}

/// A database that is filled.
struct ReportDatabase<'a> {
    db: &'a Transaction<'a>,
    schema: ReportSchema,
}

impl ReportDatabase<'_> {
    fn has_ranks(&self) -> bool {
        self.schema != ReportSchema::V2
    }

    fn make_tables(&self, options: &TtnnReportOptions) -> Result<(), WriteError> {
        let of_cores = if self.has_ranks() { CHUNKS } else { PAGES };
        for (table, columns) in TABLES.into_iter().chain([of_cores]) {
            let storage = match (table, self.schema) {
                ("tensors", ReportSchema::V3_5) => ", storage_type text",
                _ => "",
            };
            let rank = if self.has_ranks() { ", rank int NOT NULL DEFAULT 0" } else { "" };
            self.db.execute_batch(&format!("CREATE TABLE {table} ({columns}{storage}{rank})"))?;
        }
        self.db.execute_batch(
            "CREATE TABLE report_metadata (key text UNIQUE, value text);
             CREATE TABLE source_files (id INTEGER PRIMARY KEY, path text UNIQUE NOT NULL, contents text);",
        )?;
        self.db.execute("INSERT INTO source_files VALUES (1, ?1, ?2)", [SOURCE_FILE, SOURCE])?;
        let (schema, version) = match self.schema {
            ReportSchema::V2 => ("2", None),
            ReportSchema::V3_3 => ("3.3", None),
            ReportSchema::V3_5 => ("3.5", Some("0.81.1")),
        };
        let ranks = options.ranks.to_string();
        let metadata = [("schema_version", Some(schema)), ("version", version)];
        let of_ranks = self.has_ranks().then_some(("world_size", Some(ranks.as_str())));
        for (key, value) in metadata.into_iter().chain(of_ranks) {
            if let Some(value) = value {
                self.db.execute("INSERT INTO report_metadata VALUES (?1, ?2)", [key, value])?;
            }
        }
        Ok(())
    }

    /// What puts rows into a table, of so many columns and that of the rank where the schema has ranks.
    fn inserting(&self, table: &str, columns: usize) -> Result<CachedStatement<'_>, WriteError> {
        let cells = vec!["?"; columns + usize::from(self.has_ranks())].join(", ");
        Ok(self.db.prepare_cached(&format!("INSERT INTO {table} VALUES ({cells})"))?)
    }

    /// Puts a row into a table, with its rank behind it where the schema has ranks.
    fn insert(&self, table: &str, rank: u64, row: &[&dyn ToSql]) -> Result<(), WriteError> {
        let mut statement = self.inserting(table, row.len())?;
        let rank = rank.cast_signed();
        let mut row = row.to_vec();
        if self.has_ranks() {
            row.push(&rank);
        }
        statement.execute(row.as_slice())?;
        Ok(())
    }

    /// Puts rows of numbers into a table.
    fn insert_numbers<const N: usize>(
        &self,
        table: &str,
        rank: u64,
        rows: impl Iterator<Item = [u64; N]>,
    ) -> Result<(), WriteError> {
        let mut statement = self.inserting(table, N)?;
        let rank = self.has_ranks().then_some(rank);
        for row in rows {
            let cells = row.into_iter().chain(rank);
            statement
                .execute(params_from_iter(cells.map(|cell| Value::Integer(cell.cast_signed()))))?;
        }
        Ok(())
    }

    /// The chip and the mesh, which has no other.
    fn write_devices(&self, rank: u64) -> Result<(), WriteError> {
        let [x, y] = GRID;
        let (l1, cb_limit) = (CORES * L1_BANK_BYTES, WORKER_L1_BYTES - FLOOR);
        let device = |id| {
            [
                id,
                y + 1,
                x,
                y,
                x,
                WORKER_L1_BYTES,
                CORES,
                L1_BANK_BYTES,
                0,
                FLOOR,
                1,
                CORES,
                0,
                CORES * WORKER_L1_BYTES,
                0,
                l1,
                l1,
                cb_limit,
            ]
        };
        self.insert_numbers("devices", rank, [0, 1].map(device).into_iter())
    }

    fn write_operation(&self, operation: &DraftOperation<'_>) -> Result<(), WriteError> {
        let DraftOperation { rank, id, .. } = *operation;
        if let Some(message) = &operation.error {
            self.write_error(operation, message)?;
            if !self.schema.records_failures() {
                return Ok(());
            }
        }
        self.insert("operations", rank, &[&id.cast_signed(), &operation.name, &operation.seconds])?;
        self.insert("captured_graph", rank, &[&id.cast_signed(), &operation.graph])?;
        self.write_call(operation)?;
        let inputs = (0..).zip(operation.inputs).map(|(at, input)| [id, at, input.id]);
        self.insert_numbers("input_tensors", rank, inputs)?;
        let outputs = (0..).zip(operation.outputs).map(|(at, output)| [id, at, output.id]);
        self.insert_numbers("output_tensors", rank, outputs)?;
        // What is there at the end of the first operation was there before it, or is made by it.
        let first =
            operation.alive.filter(|_| id == 1).into_iter().flat_map(|alive| alive.values());
        let made = operation.outputs.iter().filter(|_| id > 1);
        first.chain(made).try_for_each(|tensor| self.write_tensor(rank, tensor))?;
        let Some(alive) = operation.alive else { return Ok(()) };
        let rows = alive.values().map(|tensor| {
            let bytes = tensor.bytes_per_bank();
            [id, MESH, tensor.address, bytes, tensor.place.code(), 0]
        });
        self.insert_numbers("buffers", rank, rows)?;
        let mut of_l1 = alive.values().filter(|tensor| tensor.place == TensorPlace::L1);
        of_l1.try_for_each(|tensor| self.write_cores(rank, id, tensor))
    }

    fn write_error(&self, operation: &DraftOperation<'_>, message: &str) -> Result<(), WriteError> {
        let (rank, name) = (operation.rank, operation.name);
        if self.schema.records_failures() {
            let row: [&dyn ToSql; 6] =
                [&operation.id.cast_signed(), &name, &"RuntimeError", &message, &"", &""];
            return self.insert("errors", rank, &row);
        }
        let message = format!("Operation '{name}' started but never completed (likely crashed)");
        self.insert("errors", rank, &[&0, &name, &"incomplete_operation", &message, &"", &""])
    }

    /// The arguments, and where Python was.
    fn write_call(&self, operation: &DraftOperation<'_>) -> Result<(), WriteError> {
        let (rank, id) = (operation.rank, operation.id.cast_signed());
        for (at, input) in operation.inputs.iter().enumerate() {
            let value = format!(
                "ttnn.Tensor(shape={}, dtype=DataType.BFLOAT16, memory_config={}, tensor_id={})",
                input.shape_text(),
                input.memory_config(),
                input.id
            );
            self.insert("operation_arguments", rank, &[&id, &at.to_string(), &value])?;
        }
        let line_of =
            |text: &str| SOURCE.lines().position(|of| of.trim() == text).map_or(0, |at| at + 1);
        let frame = |function: &str, text: &str| {
            let line = line_of(text);
            format!("  File \"{SOURCE_FILE}\", line {line}, in {function}\n    {text}\n")
        };
        let line = operation.line;
        let trace = if line == FROM_TORCH.line {
            frame("encoder", line)
        } else {
            let caller = frame("encoder", "x = layer(x, w, heads, place, kept)");
            format!("{}\n{caller}", frame("layer", line))
        };
        self.insert("stack_traces", rank, &[&id, &trace])
    }

    fn write_tensor(&self, rank: u64, tensor: &DraftTensor) -> Result<(), WriteError> {
        let (id, place) = (tensor.id.cast_signed(), tensor.place.code().cast_signed());
        let (address, shape) = (tensor.address.cast_signed(), tensor.shape_text());
        let (config, mesh) = (tensor.memory_config(), MESH.cast_signed());
        let mut row: Vec<&dyn ToSql> = vec![
            &id,
            &shape,
            &"DataType.BFLOAT16",
            &"Layout.TILE",
            &config,
            &mesh,
            &address,
            &place,
        ];
        if self.schema == ReportSchema::V3_5 {
            row.push(&"DEVICE");
        }
        self.insert("tensors", rank, &row)?;
        self.insert("device_tensors", rank, &[&id, &mesh, &address])
    }

    /// The pages that each core has of a buffer in L1.
    fn write_cores(&self, rank: u64, id: u64, tensor: &DraftTensor) -> Result<(), WriteError> {
        let (pages, address, code) = (tensor.pages(), tensor.address, tensor.place.code());
        let core = |bank: u64| [bank % GRID[0], bank / GRID[0]];
        if self.has_ranks() {
            let rows = (0..CORES.min(pages)).map(|bank| {
                let [x, y] = core(bank);
                let count = (pages - bank).div_ceil(CORES);
                let bytes = count * PAGE_BYTES;
                [id, MESH, address, bank, x, y, address, bytes, PAGE_BYTES, count, code]
            });
            return self.insert_numbers(CHUNKS.0, rank, rows);
        }
        let rows = (0..pages).map(|page| {
            let (bank, row) = (page % CORES, page / CORES);
            let [x, y] = core(bank);
            let at = address + row * PAGE_BYTES;
            [id, MESH, address, y, x, bank, page, at, PAGE_BYTES, code]
        });
        self.insert_numbers(PAGES.0, rank, rows)
    }
}
