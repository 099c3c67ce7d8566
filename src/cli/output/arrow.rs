//! `--arrow -`: the rows of an answer as an Arrow IPC stream, for pandas, polars, DuckDB and what else reads Arrow.

use std::io::{self, IsTerminal as _, Write};

use arrow_ipc::writer::StreamWriter;
use arrow_schema::{FieldRef, Schema};
use clap::Args;
use serde::{Serialize, Serializer};
use serde_arrow::ArrayBuilder;
use serde_arrow::schema::{SchemaLike as _, TracingOptions};

use super::CsvAnswer;

/// Rows of a batch of the stream.
const ROWS_AT_ONCE: usize = 1 << 16;

/// The option of commands whose answer has rows.
#[derive(Clone, Debug, Default, Args)]
pub struct ArrowArgument {
    /// Print the rows of the JSON as an Arrow IPC stream, for pandas, polars and DuckDB; `-` is standard output.
    #[arg(long, value_name = "-", value_parser = standard_output, conflicts_with_all = ["json", "csv"])]
    pub arrow: Option<()>,
}

/// Where the stream goes: only `-` is possible, and no terminal.
fn standard_output(place: &str) -> Result<(), &'static str> {
    match place {
        "-" if io::stdout().is_terminal() => Err(
            "an Arrow stream is not for a terminal; send it into a file or to a program: > rows.arrow",
        ),
        "-" => Ok(()),
        _ => Err("only - is possible, for standard output; send it into a file: > rows.arrow"),
    }
}

/// An answer whose rows can be printed as an Arrow stream.
pub trait RowsAnswer: CsvAnswer {
    /// Writes the rows with their keys of the JSON, see [`write_stream`].
    ///
    /// # Errors
    /// As [`write_stream`].
    fn write_rows(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// How an answer is printed where it is not JSON.
pub enum PrintedAs<A> {
    /// For people.
    Text,
    /// Comma-separated values.
    Csv,
    /// An Arrow stream, by what writes it.
    Arrow(fn(&A, &mut dyn Write) -> io::Result<()>),
}

// Derived, they would ask for an answer that can be copied.
impl<A> Clone for PrintedAs<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for PrintedAs<A> {}

impl<A: CsvAnswer> PrintedAs<A> {
    /// As text, or as comma-separated values.
    pub fn text_or_csv(csv: bool) -> Self {
        if csv { Self::Csv } else { Self::Text }
    }
}

impl<A: RowsAnswer> PrintedAs<A> {
    /// As the options say.
    pub fn of(csv: bool, arrow: &ArrowArgument) -> Self {
        match arrow.arrow {
            Some(()) => Self::Arrow(A::write_rows),
            None => Self::text_or_csv(csv),
        }
    }
}

/// Writes rows as a stream: a column for each key, of the type of its values; one that is in no row is of the type
/// null. The rows, of which there may be millions, are made twice: first for the types.
///
/// # Errors
/// Those of `out`, and where values of a column have nothing in common.
pub fn write_stream<T, I>(rows: impl Fn() -> I, out: &mut dyn Write) -> io::Result<()>
where
    T: Serialize,
    I: Iterator<Item = T>,
{
    let fields = match rows().next() {
        None => Vec::new(),
        Some(first) => fields(&rows, &first)?,
    };
    let mut writer = StreamWriter::try_new(out, &Schema::new(fields.clone())).map_err(other)?;
    let mut left = rows().peekable();
    while left.peek().is_some() {
        let mut batch = ArrayBuilder::from_arrow(&fields).map_err(other)?;
        for row in left.by_ref().take(ROWS_AT_ONCE) {
            batch.push(row).map_err(other)?;
        }
        writer.write(&batch.to_record_batch().map_err(other)?).map_err(other)?;
    }
    writer.finish().map_err(other)
}

/// The columns of rows, of which one is the first. A value that is a number in one row and a word in another is a text.
fn fields<T, I>(rows: &impl Fn() -> I, first: &T) -> io::Result<Vec<FieldRef>>
where
    T: Serialize,
    I: Iterator<Item = T>,
{
    struct SampledRows<'a, F>(&'a F);
    impl<T: Serialize, I: Iterator<Item = T>, F: Fn() -> I> Serialize for SampledRows<'_, F> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq((self.0)())
        }
    }
    let options = TracingOptions::default()
        .allow_null_fields(true)
        .allow_to_string(true)
        .coerce_numbers(true)
        .enums_without_data_as_strings(true)
        .map_as_struct(true);
    let mut fields = Vec::<FieldRef>::from_samples(SampledRows(rows), options).map_err(other)?;
    // In the order of the JSON; what the first row has not is at the end.
    let first = serde_json::to_value(first).map_err(other)?;
    let place = |field: &FieldRef| first.as_object()?.keys().position(|key| key == field.name());
    fields.sort_by_key(|field| place(field).unwrap_or(usize::MAX));
    Ok(fields)
}

/// What is wrong with the output keeps its kind: a reader that has gone is no error.
fn other(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(one) = cause {
        if let Some(io) = one.downcast_ref::<io::Error>() {
            return io.kind().into();
        }
        cause = one.source();
    }
    io::Error::other(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_ipc::reader::StreamReader;
    use serde_json::{Value, json};

    fn stream(rows: &[Value]) -> Vec<u8> {
        let mut out = Vec::new();
        write_stream(|| rows.iter(), &mut out).expect("a stream");
        out
    }

    #[test]
    fn columns_have_the_keys_and_types_of_the_rows() {
        let rows = [
            json!({"step": 1, "name": "a", "a": 1, "by": {"x": 1}, "mixed": 1, "none": null}),
            json!({"step": u64::MAX, "name": null, "by": {"x": 2.5, "y": true}, "mixed": "b", "none": null}),
        ];
        let stream = stream(&rows);
        let mut reader = StreamReader::try_new(&*stream, None).expect("a stream");
        let schema = reader.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| &**field.name()).collect();
        assert_eq!(names, ["step", "name", "a", "by", "mixed", "none"]);
        let types: Vec<String> =
            schema.fields().iter().map(|field| field.data_type().to_string()).collect();
        assert_eq!(types[0], "UInt64");
        assert!(types[3].starts_with("Struct"), "{types:?}");
        assert!(types[4].contains("Utf8"), "{types:?}");
        assert_eq!(types[5], "Null");
        let batch = reader.next().expect("a batch").expect("it is whole");
        assert_eq!(batch.num_rows(), 2);
    }

    #[test]
    fn many_rows_are_several_batches_and_none_are_an_empty_table() {
        let rows: Vec<Value> = (0..=ROWS_AT_ONCE).map(|step| json!({"step": step})).collect();
        let long = stream(&rows);
        let batches = StreamReader::try_new(&*long, None).expect("a stream");
        let rows: Vec<usize> =
            batches.map(|batch| batch.expect("it is whole").num_rows()).collect();
        assert_eq!(rows, [ROWS_AT_ONCE, 1]);
        let empty = stream(&[]);
        assert_eq!(StreamReader::try_new(&*empty, None).expect("a stream").count(), 0);
    }

    #[test]
    fn a_reader_that_has_gone_is_told_by_its_kind() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let rows = [json!({"step": 1})];
        let error = write_stream(|| rows.iter(), &mut Gone).expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
