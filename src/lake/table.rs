//! A file of a table: a writer that takes rows and keeps no more than a row group.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::format::{Error, ErrorKind};
use crate::progress::{Progress, Watched};
use crate::run::{ColumnKind, TableCell, TableRows};

/// Rows of a row group, which are in memory while they are encoded.
const ROWS_OF_GROUP: usize = 1 << 18;
/// Rows that are handed to the encoder at a time, and bytes of texts: names may be long, and rows repeat them.
const ROWS_AT_A_TIME: usize = 1 << 13;
const TEXT_AT_A_TIME: usize = 8 << 20;
/// Bytes of a row group that are kept in memory while it is encoded.
const GROUP_BYTES: usize = 64 << 20;
/// Names of lowered variables come again on every tile: a row group has as many as fit in here, once.
const DICTIONARY_BYTES: usize = 8 << 20;

#[derive(Debug)]
enum ColumnBuilder {
    Integer(Int64Builder),
    Real(Float64Builder),
    Flag(BooleanBuilder),
    Text(StringBuilder),
}

impl ColumnBuilder {
    fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Integer => Self::Integer(Int64Builder::new()),
            ColumnKind::Real => Self::Real(Float64Builder::new()),
            ColumnKind::Flag => Self::Flag(BooleanBuilder::new()),
            ColumnKind::Text => Self::Text(StringBuilder::new()),
        }
    }

    fn push(&mut self, cell: TableCell<'_>) {
        match (self, cell) {
            (Self::Integer(column), TableCell::Integer(cell)) => column.append_option(cell),
            (Self::Real(column), TableCell::Real(cell)) => column.append_option(cell),
            (Self::Flag(column), TableCell::Flag(cell)) => column.append_option(cell),
            (Self::Text(column), TableCell::Text(cell)) => column.append_option(cell),
            // A row that is not as its table says has columns of several lengths, which is refused.
            _ => debug_assert!(false, "the cell is of another kind than its column"),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Integer(column) => Arc::new(column.finish()),
            Self::Real(column) => Arc::new(column.finish()),
            Self::Flag(column) => Arc::new(column.finish()),
            Self::Text(column) => Arc::new(column.finish()),
        }
    }
}

fn data_type(kind: ColumnKind) -> DataType {
    match kind {
        ColumnKind::Integer => DataType::Int64,
        ColumnKind::Real => DataType::Float64,
        ColumnKind::Flag => DataType::Boolean,
        ColumnKind::Text => DataType::Utf8,
    }
}

/// Writes the rows of a table into a file, a row group after the other.
#[derive(Debug)]
pub(super) struct ParquetWriter<'a> {
    file: PathBuf,
    writer: ArrowWriter<Watched<'a, File>>,
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    pending: usize,
    pending_text: usize,
    rows: u64,
    progress: &'a Progress,
}

impl<'a> ParquetWriter<'a> {
    /// # Errors
    /// `cannot-write` when the file cannot be made.
    pub fn create(
        columns: &[(&str, ColumnKind)],
        file: PathBuf,
        progress: &'a Progress,
    ) -> Result<Self, Error> {
        let field = |(name, kind): &(&str, ColumnKind)| Field::new(*name, data_type(*kind), true);
        let fields: Vec<Field> = columns.iter().map(field).collect();
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(super::program())
            .set_dictionary_page_size_limit(DICTIONARY_BYTES)
            .set_max_row_group_row_count(Some(ROWS_OF_GROUP))
            .build();
        let options =
            ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let output = File::create_new(&file).map_err(|error| cannot_write(&file, &error))?;
        let output = Watched { reader: output, progress };
        let writer = ArrowWriter::try_new_with_options(output, Arc::clone(&schema), options)
            .map_err(|error| cannot_write(&file, &error))?;
        let columns = columns.iter().map(|(_, kind)| ColumnBuilder::new(*kind)).collect();
        let (pending, pending_text, rows) = (0, 0, 0);
        Ok(Self { file, writer, schema, columns, pending, pending_text, rows, progress })
    }

    fn encode(&mut self) -> Result<(), Error> {
        // A row group is encoded in memory, and nothing of it is written before it is full.
        if self.progress.is_cancelled() {
            return Err(Error::cancelled());
        }
        let columns = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error| cannot_write(&self.file, &error))?;
        self.rows = self.rows.saturating_add(self.pending as u64);
        (self.pending, self.pending_text) = (0, 0);
        let failed = |error| cannot_write(&self.file, &error);
        self.writer.write(&batch).map_err(failed)?;
        if self.writer.in_progress_size() > GROUP_BYTES {
            self.writer.flush().map_err(failed)?;
        }
        Ok(())
    }

    /// Writes what is left; says how many rows there are, and bytes.
    ///
    /// # Errors
    /// `cannot-write` when there is no room.
    pub fn finish(mut self) -> Result<Written, Error> {
        if self.pending > 0 {
            self.encode()?;
        }
        self.writer.finish().map_err(|error| cannot_write(&self.file, &error))?;
        Ok(Written { rows: self.rows, bytes: self.writer.bytes_written() as u64 })
    }
}

impl TableRows for ParquetWriter<'_> {
    fn row(&mut self, cells: &[TableCell<'_>]) -> Result<(), Error> {
        debug_assert_eq!(cells.len(), self.columns.len(), "{}", self.file.display());
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            if let TableCell::Text(Some(text)) = cell {
                self.pending_text = self.pending_text.saturating_add(text.len());
            }
            column.push(*cell);
        }
        self.pending = self.pending.saturating_add(1);
        let is_full = self.pending >= ROWS_AT_A_TIME || self.pending_text >= TEXT_AT_A_TIME;
        if is_full { self.encode() } else { Ok(()) }
    }
}

/// What was written of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Written {
    /// Rows.
    pub rows: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// What cannot be written, and why.
pub(super) fn cannot_write(file: &Path, error: &dyn std::fmt::Display) -> Error {
    let message = format!("{} cannot be written: {error}", file.display());
    Error::new(ErrorKind::CannotWrite, message).in_file(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array as _;
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::{Float64Type, Int64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use proptest::prelude::*;

    const COLUMNS: [(&str, ColumnKind); 4] = [
        ("integer", ColumnKind::Integer),
        ("real", ColumnKind::Real),
        ("flag", ColumnKind::Flag),
        ("text", ColumnKind::Text),
    ];

    type Row = (Option<i64>, Option<f64>, Option<bool>, Option<String>);

    fn written(rows: &[Row]) -> (tempfile::TempDir, Written) {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, progress) = (directory.path().join("table"), Progress::default());
        let mut writer = ParquetWriter::create(&COLUMNS, file, &progress).expect("a file");
        for (integer, real, flag, text) in rows {
            let cells = [
                TableCell::Integer(*integer),
                TableCell::Real(*real),
                TableCell::Flag(*flag),
                TableCell::Text(text.as_deref()),
            ];
            writer.row(&cells).expect("a row");
        }
        let written = writer.finish().expect("written");
        (directory, written)
    }

    /// The rows of a file, and how many groups it has.
    fn read(directory: &Path) -> (Vec<Row>, usize) {
        let file = File::open(directory.join("table")).expect("a file");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file");
        let groups = reader.metadata().num_row_groups();
        let mut rows = Vec::new();
        for batch in reader.build().expect("a reader") {
            let batch = batch.expect("a batch");
            let integers = batch.column(0).as_primitive::<Int64Type>();
            let reals = batch.column(1).as_primitive::<Float64Type>();
            let (flags, texts) = (batch.column(2).as_boolean(), batch.column(3).as_string::<i32>());
            rows.extend((0..batch.num_rows()).map(|row| {
                (
                    integers.is_valid(row).then(|| integers.value(row)),
                    reals.is_valid(row).then(|| reals.value(row)),
                    flags.is_valid(row).then(|| flags.value(row)),
                    texts.is_valid(row).then(|| texts.value(row).to_owned()),
                )
            }));
        }
        (rows, groups)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn rows_come_back_as_they_were(
            rows in proptest::collection::vec(
                (
                    proptest::option::of(any::<i64>()),
                    proptest::option::of(any::<f64>().prop_filter("a number", |it| !it.is_nan())),
                    proptest::option::of(any::<bool>()),
                    proptest::option::of(".{0,9}"),
                ),
                0..40,
            ),
        ) {
            let (directory, written) = written(&rows);
            let bytes = std::fs::metadata(directory.path().join("table")).expect("a file").len();
            prop_assert_eq!(written, Written { rows: rows.len() as u64, bytes });
            prop_assert_eq!(read(directory.path()).0, rows);
        }
    }

    #[test]
    fn a_large_table_is_written_in_groups() {
        let count = ROWS_OF_GROUP + ROWS_AT_A_TIME / 2;
        let row = |number: usize| {
            let integer = i64::try_from(number).ok().filter(|number| number % 3 > 0);
            (integer, None, Some(number.is_multiple_of(2)), Some((number % 7).to_string()))
        };
        let rows: Vec<Row> = (0..count).map(row).collect();
        let (directory, written) = written(&rows);
        assert_eq!(written.rows, count as u64);
        let (found, groups) = read(directory.path());
        assert_eq!(groups, 2);
        assert!(found == rows, "rows differ");
    }

    #[test]
    fn long_texts_are_handed_on_before_there_are_many_rows() {
        // Texts that cannot be made smaller, for a group has what it takes in the file.
        let mut state = 1_u64;
        let mut long = || -> String {
            let mut letter = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(b'!' + (state >> 57) as u8 % 90)
            };
            (0..1 << 20).map(|_| letter()).collect()
        };
        let count = 2 + GROUP_BYTES / (1 << 20) + TEXT_AT_A_TIME / (1 << 20);
        let rows: Vec<Row> = (0..count).map(|_| (None, None, None, Some(long()))).collect();
        let (directory, _) = written(&rows);
        let (found, groups) = read(directory.path());
        assert_eq!(groups, 2);
        assert!(found == rows, "rows differ");
    }
}
