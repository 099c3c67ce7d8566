//! A file of the index: an Arrow IPC file with one record batch for each column.
//!
//! A batch is one row: the column's name, what its elements are, a checksum (XXH3) over all three, and its
//! bytes. So columns of any lengths stand in one file, any reader of Arrow opens it, one column is in memory
//! at a time while it is written, and each begins at a multiple of 64 bytes.
//!
//! On opening every length and offset of the metadata is looked at; the bytes of a column when it is first asked
//! for, against its checksum. A file that is cut or damaged gives an error, never a wrong number.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::Write;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, LargeBinaryArray, RecordBatch, StringArray, UInt64Array};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::writer::FileWriter;
use arrow_ipc::{Block, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use twox_hash::XxHash3_64;
use zerocopy::IntoBytes as _;

use super::mapping;
use super::room::ColumnSpace;
use crate::store::column::{Column, Element, NoColumn};

/// The end of an Arrow file: the length of its footer, and its magic.
const TRAILER_BYTES: usize = 10;
/// More columns than any index has.
const MOST_COLUMNS: usize = 1000;
/// Buffers and arrays of a batch as [`schema`] has it: three for each text or bytes, two for the checksum.
const BUFFERS: usize = 11;
const ARRAYS: usize = 4;
/// Where among the buffers the offsets of texts and bytes stand, and the checksum, and how long they are.
const FIXED: [(usize, i64); 4] = [(1, 8), (4, 8), (7, 8), (9, 16)];
/// Buffers begin at multiples of this, so that any number may.
const ALIGNMENT: i64 = 64;

/// Why an index cannot be used or written. Nobody but the log hears of it.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The system does not let us.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It is not an Arrow file, or not a whole one.
    #[error("not readable as Arrow: {0}")]
    Arrow(#[from] ArrowError),
    /// It is not as this program writes it.
    #[error("{what} expected, {found} found")]
    Damaged {
        /// What was expected.
        what: &'static str,
        /// What was found.
        found: String,
    },
    /// The bytes of a column are not what was written.
    #[error("column {0}: its bytes do not have its checksum")]
    Checksum(String),
    /// A column is not there, or of other elements.
    #[error("column {name}: {why}")]
    NoColumn {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// What is encoded in a column cannot be decoded.
    #[error("cannot be decoded: {0}")]
    Encoding(#[from] postcard::Error),
    /// It was made of other files, or by another version.
    #[error("made from other files or by another version")]
    Other,
    /// It is not worth the room, or there is none.
    #[error("not written: {0}")]
    NotWritten(String),
}

fn damaged(what: &'static str, found: impl Display) -> IndexError {
    IndexError::Damaged { what, found: found.to_string() }
}

/// An error where something does not hold.
///
/// # Errors
/// In just that case.
pub fn check(is_so: bool, what: &'static str) -> Result<(), IndexError> {
    if is_so { Ok(()) } else { Err(damaged(what, "others")) }
}

fn schema() -> Schema {
    let field = |name: &str, kind| Field::new(name, kind, false);
    Schema::new(vec![
        field("name", DataType::Utf8),
        field("element", DataType::Utf8),
        field("checksum", DataType::UInt64),
        field("values", DataType::LargeBinary),
    ])
}

fn checksum(name: &str, element: &str, bytes: &[u8]) -> u64 {
    let of_names = XxHash3_64::oneshot(format!("{name}\0{element}").as_bytes());
    XxHash3_64::oneshot_with_seed(of_names, bytes)
}

/// What the elements of a column are, by their size: ids are the numbers that they stand for.
fn element_name(bytes: usize) -> &'static str {
    match bytes {
        1 => "u8",
        2 => "u16",
        4 => "u32",
        5 => "five bytes",
        _ => "u64",
    }
}

/// Columns of more bytes than this have a checksum of each block of so many bytes as well, in a column of their own,
/// so that a part of them can be read.
const BLOCK_BYTES: usize = 1 << 16;

fn block_sums_name(name: &str) -> String {
    format!("{name}#blocks")
}

/// Name of the element of columns with encoded contents.
const ENCODED: &str = "postcard";

/// Writes columns one after the other.
pub struct ColumnWriter<W: Write> {
    writer: FileWriter<W>,
    schema: Arc<Schema>,
    room: ColumnSpace,
}

impl<W: Write> ColumnWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written to.
    pub fn new(to: W) -> Result<Self, IndexError> {
        let schema = Arc::new(schema());
        Ok(Self { writer: FileWriter::try_new(to, &schema)?, schema, room: ColumnSpace::default() })
    }

    /// Says where the columns grew, so that those in files need not be in memory to be written.
    pub fn of_columns_in(&mut self, room: &ColumnSpace) {
        self.room = room.clone();
    }

    /// Adds a column of numbers.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn column<T: Element>(&mut self, name: &str, column: &Column<T>) -> Result<(), IndexError> {
        let element = element_name(size_of::<T>());
        let bytes = match column.shared_bytes() {
            Some(bytes) => self.room.once_more(bytes),
            None => Bytes::copy_from_slice((**column).as_bytes()),
        };
        if bytes.len() > BLOCK_BYTES {
            let sums: Vec<u64> = bytes.chunks(BLOCK_BYTES).map(XxHash3_64::oneshot).collect();
            self.encoded(&block_sums_name(name), &Column::from(sums))?;
        }
        self.write(name, element, bytes)
    }

    /// Adds a value, encoded.
    ///
    /// # Errors
    /// When it cannot be encoded or written.
    pub fn encoded(&mut self, name: &str, value: &impl Serialize) -> Result<(), IndexError> {
        let bytes = postcard::to_stdvec(value)?;
        self.write(name, ENCODED, bytes.into())
    }

    fn write(&mut self, name: &str, element: &str, bytes: Bytes) -> Result<(), IndexError> {
        let sum = checksum(name, element, &bytes);
        let ends = ScalarBuffer::from(vec![0_i64, i64::try_from(bytes.len()).unwrap_or(i64::MAX)]);
        let values = LargeBinaryArray::try_new(OffsetBuffer::new(ends), Buffer::from(bytes), None)?;
        let batch = RecordBatch::try_new(
            Arc::clone(&self.schema),
            vec![
                Arc::new(StringArray::from(vec![name])),
                Arc::new(StringArray::from(vec![element])),
                Arc::new(UInt64Array::from(vec![sum])),
                Arc::new(values),
            ],
        )?;
        Ok(self.writer.write(&batch)?)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<W, IndexError> {
        self.writer.finish()?;
        Ok(self.writer.into_inner()?)
    }
}

/// A file of the index, mapped.
#[derive(Debug)]
pub struct IndexFile {
    columns: HashMap<String, Stored>,
}

#[derive(Debug)]
struct Stored {
    element: String,
    checksum: u64,
    bytes: Bytes,
    /// Whether the bytes were seen to have the checksum; behind a lock so that it is worked out once.
    is_verified: Mutex<bool>,
}

impl IndexFile {
    /// Maps a file and looks at its metadata.
    pub(super) fn map(file: &std::fs::File) -> Result<Self, IndexError> {
        Self::of(mapping::map(file)?)
    }

    /// The file that these bytes are.
    ///
    /// # Errors
    /// When they are none.
    pub fn of(bytes: Bytes) -> Result<Self, IndexError> {
        let whole = Buffer::from(bytes);
        let trailer_start = whole.len().checked_sub(TRAILER_BYTES);
        let trailer = trailer_start.and_then(|start| whole.get(start..)?.try_into().ok());
        let (Some(trailer_start), Some(trailer)) = (trailer_start, trailer) else {
            return Err(damaged("a whole Arrow file", format!("{} bytes", whole.len())));
        };
        let footer_start = trailer_start.checked_sub(read_footer_length(trailer)?);
        let footer = footer_start.and_then(|start| whole.get(start..trailer_start));
        let footer = root_as_footer(footer.ok_or_else(|| damaged("a footer", "a shorter file"))?)
            .map_err(|error| damaged("a footer", error))?;
        let expected = Arc::new(schema());
        let found = footer.schema().map(try_fb_to_schema).transpose()?;
        if found.as_ref() != Some(&*expected) {
            return Err(damaged("the schema of an index", "another one"));
        }
        let blocks = footer.recordBatches().map(|blocks| blocks.iter().copied().collect());
        let blocks: Vec<Block> = blocks.unwrap_or_default();
        if blocks.len() > MOST_COLUMNS {
            return Err(damaged("fewer columns", blocks.len()));
        }
        let decoder = FileDecoder::new(expected, footer.version()).with_require_alignment(true);
        let mut columns = HashMap::new();
        for block in &blocks {
            let bytes = checked_block(block, &whole)?;
            let batch = decoder.read_record_batch(block, &bytes)?;
            let batch = batch.ok_or_else(|| damaged("a record batch", "another message"))?;
            let (name, column) = stored(&batch)?;
            if columns.insert(name.clone(), column).is_some() {
                return Err(IndexError::NoColumn { name, why: "is there twice".to_owned() });
            }
        }
        Ok(Self { columns })
    }

    /// A column of numbers, in place.
    ///
    /// # Errors
    /// When it is not there, of other elements, or damaged.
    pub fn column<T: Element>(&self, name: &str) -> Result<Column<T>, IndexError> {
        self.verified(name)?;
        self.unverified_column(name)
    }

    fn unverified_column<T: Element>(&self, name: &str) -> Result<Column<T>, IndexError> {
        let bytes = self.stored(name)?.bytes_of(name, element_name(size_of::<T>()))?;
        let no_column = |error: NoColumn| IndexError::NoColumn {
            name: name.to_owned(),
            why: error.to_string(),
        };
        Column::shared(bytes.clone()).map_err(no_column)
    }

    /// Some rows of a column of numbers, one range after the other, copied; no more of it is verified.
    ///
    /// # Errors
    /// When it is not there, of other elements, or damaged, and when it has no such rows.
    pub fn rows_of_column<T: Element>(
        &self,
        name: &str,
        ranges: &[Range<usize>],
    ) -> Result<Column<T>, IndexError> {
        let sums = block_sums_name(name);
        let (column, blocks) = if self.has(&sums) {
            (self.unverified_column(name)?, self.decoded::<Column<u64>>(&sums)?)
        } else {
            (self.column(name)?, Column::default())
        };
        let mut found = Column::default();
        for range in ranges {
            let rows = column.get(range.clone());
            found.extend_from_slice(rows.ok_or_else(|| damaged("rows of a column", "fewer"))?);
        }
        // What was copied is looked at where it came from.
        let bytes: &[u8] = zerocopy::IntoBytes::as_bytes(&*column);
        let blocks_of = |range: &Range<usize>| {
            let byte = |row: usize| row.saturating_mul(size_of::<T>());
            byte(range.start) / BLOCK_BYTES..byte(range.end).div_ceil(BLOCK_BYTES)
        };
        let mut wanted: Vec<usize> = ranges.iter().flat_map(blocks_of).collect();
        wanted.sort_unstable();
        wanted.dedup();
        for block in wanted.into_iter().filter(|_| !blocks.is_empty()) {
            let start = block.saturating_mul(BLOCK_BYTES);
            let end = start.saturating_add(BLOCK_BYTES).min(bytes.len());
            let sum = bytes.get(start..end).map(XxHash3_64::oneshot);
            if sum.is_none() || sum.as_ref() != blocks.get(block) {
                return Err(IndexError::Checksum(name.to_owned()));
            }
        }
        Ok(found)
    }

    /// A value that was encoded.
    ///
    /// # Errors
    /// When it is not there, damaged, or encoded otherwise.
    pub fn decoded<T: DeserializeOwned>(&self, name: &str) -> Result<T, IndexError> {
        let (value, rest) =
            postcard::take_from_bytes(self.verified(name)?.bytes_of(name, ENCODED)?)?;
        if !rest.is_empty() {
            return Err(damaged("nothing after the value", format!("{} bytes", rest.len())));
        }
        Ok(value)
    }

    /// Whether there is a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.columns.contains_key(name)
    }

    /// Verifies columns that are going to be asked for, in parallel.
    ///
    /// # Errors
    /// When one is not there or damaged.
    pub fn verify(&self, names: &[&str]) -> Result<(), IndexError> {
        use rayon::prelude::*;
        names.par_iter().try_for_each(|name| self.verified(name).map(drop))
    }

    fn stored(&self, name: &str) -> Result<&Stored, IndexError> {
        let none =
            || IndexError::NoColumn { name: name.to_owned(), why: "is not there".to_owned() };
        self.columns.get(name).ok_or_else(none)
    }

    fn verified(&self, name: &str) -> Result<&Stored, IndexError> {
        let column = self.stored(name)?;
        let mut is_verified = column.is_verified.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_verified {
            let found = checksum(name, &column.element, &column.bytes);
            // What comes behind a checksum is fuzzed as well; nobody finds one by changing bytes.
            if found != column.checksum && !cfg!(fuzzing) {
                return Err(IndexError::Checksum(name.to_owned()));
            }
            *is_verified = true;
        }
        Ok(column)
    }
}

impl Stored {
    fn bytes_of(&self, name: &str, element: &str) -> Result<&Bytes, IndexError> {
        if self.element != element {
            let why = format!("elements {element} expected, {} found", self.element);
            return Err(IndexError::NoColumn { name: name.to_owned(), why });
        }
        Ok(&self.bytes)
    }
}

/// The bytes of a block, once all that its message says of offsets and lengths lies within them: the decoder
/// takes that for granted.
fn checked_block(block: &Block, whole: &Buffer) -> Result<Buffer, IndexError> {
    let wrong = || damaged("a block within the file", format!("{block:?}"));
    let number = |value: i64| usize::try_from(value).ok();
    let metadata = usize::try_from(block.metaDataLength()).map_err(|_| wrong())?;
    let (start, body) = number(block.offset()).zip(number(block.bodyLength())).ok_or_else(wrong)?;
    let length = metadata.checked_add(body).ok_or_else(wrong)?;
    let end = start.checked_add(length).filter(|end| *end <= whole.len()).ok_or_else(wrong)?;
    let bytes = whole.slice_with_length(start, end.saturating_sub(start));
    // A message begins with a marker and its length, 4 bytes each.
    let head: [u8; 8] = bytes.get(..8).and_then(|head| head.try_into().ok()).ok_or_else(wrong)?;
    let [255, 255, 255, 255, length @ ..] = head else {
        return Err(damaged("a message of Arrow", "something else"));
    };
    let message_end =
        usize::try_from(u32::from_le_bytes(length)).ok().and_then(|it| it.checked_add(8));
    let message_end = message_end.filter(|end| *end <= metadata).ok_or_else(wrong)?;
    let message = root_as_message(bytes.get(8..message_end).ok_or_else(wrong)?)
        .map_err(|error| damaged("a message of Arrow", error))?;
    let batch = message.header_as_record_batch();
    let batch = batch.ok_or_else(|| damaged("a record batch", "another message"))?;
    let nodes = batch.nodes().ok_or_else(wrong)?;
    let buffers = batch.buffers().ok_or_else(wrong)?;
    let is_one_row = batch.length() == 1
        && nodes.len() == ARRAYS
        && nodes.iter().all(|node| node.length() == 1 && node.null_count() == 0);
    let is_within = buffers.len() == BUFFERS
        && buffers.iter().all(|buffer| {
            let end = buffer.offset().checked_add(buffer.length());
            buffer.offset() >= 0
                && buffer.offset() % ALIGNMENT == 0
                && buffer.length() >= 0
                && end.is_some_and(|end| end <= block.bodyLength())
        });
    let is_fixed = |(at, length): &(usize, i64)| buffers.get(*at).length() == *length;
    if !is_one_row || !is_within || !FIXED.iter().all(is_fixed) || batch.compression().is_some() {
        return Err(damaged("one row within its block", "another"));
    }
    Ok(bytes)
}

fn stored(batch: &RecordBatch) -> Result<(String, Stored), IndexError> {
    let text = |column: usize| {
        let array = batch.columns().get(column)?.as_any().downcast_ref::<StringArray>()?;
        (array.len() == 1).then(|| array.value(0).to_owned())
    };
    let sums = batch.columns().get(2).and_then(|it| it.as_any().downcast_ref::<UInt64Array>());
    let values =
        batch.columns().get(3).and_then(|it| it.as_any().downcast_ref::<LargeBinaryArray>());
    let (Some(name), Some(element)) = (text(0), text(1)) else {
        return Err(damaged("a name", "none"));
    };
    let sum = sums.and_then(|sums| sums.values().first().copied());
    let whole = values.map(|values| (values.value_offsets(), values.values()));
    let (Some(checksum), Some(([start, end], bytes))) = (sum, whole) else {
        return Err(damaged("one column", "another number"));
    };
    let bytes = Bytes::from(bytes.clone());
    let range = usize::try_from(*start).ok().zip(usize::try_from(*end).ok());
    let range = range.filter(|(start, end)| start <= end && *end <= bytes.len());
    let (start, end) = range.ok_or_else(|| damaged("the bytes of a column", "fewer"))?;
    let bytes = bytes.slice(start..end);
    Ok((name, Stored { element, checksum, bytes, is_verified: Mutex::new(false) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back_whole_and_in_part() {
        let numbers: Column<u32> = (0..100_000).collect();
        let mut writer = ColumnWriter::new(Vec::new()).expect("a writer");
        writer.column("numbers", &numbers).expect("a column");
        writer.column("none", &Column::<u8>::default()).expect("a column");
        writer.encoded("words", &["a", "bc"]).expect("a column");
        let bytes = writer.finish().expect("a file");
        let found = IndexFile::of(Bytes::from(bytes.clone())).expect("an index");
        assert_eq!(found.decoded::<[String; 2]>("words").expect("words"), ["a", "bc"]);
        assert_eq!(found.column::<u8>("none").expect("a column").len(), 0);
        found.verify(&["numbers", "none", "words"]).expect("columns");
        assert!(found.verify(&["numbers", "absent"]).is_err());
        assert!(found.column::<u64>("numbers").is_err(), "of other elements");
        assert!(found.decoded::<u64>("numbers").is_err(), "not encoded");
        assert!(found.decoded::<()>("words").is_err(), "more than one value");

        // Where they begin in memory depends on the allocator here; a mapping begins at a page.
        if let Ok(column) = found.column::<u32>("numbers") {
            assert_eq!(column, numbers);
            let ranges = [5..7, 40_000..40_002, 99_999..100_000];
            let rows = found.rows_of_column::<u32>("numbers", &ranges).expect("rows");
            assert_eq!(&*rows, [5, 6, 40_000, 40_001, 99_999]);
            assert!(found.rows_of_column::<u32>("numbers", &[99_999..100_001]).is_err());
        }
        let at = bytes.windows(8).position(|it| it == [40_000_u32, 40_001].as_bytes());
        let mut damaged = bytes;
        damaged[at.expect("the numbers")] ^= 1;
        let found = IndexFile::of(Bytes::from(damaged)).expect("its metadata is whole");
        assert!(found.verify(&["numbers"]).is_err());
        let rows = |range| found.rows_of_column::<u32>("numbers", &[range]);
        assert!(rows(40_000..40_001).is_err());
        assert!(rows(40_100..40_101).is_err(), "the same block");
        if found.unverified_column::<u32>("numbers").is_ok() {
            assert!(rows(5..7).is_ok(), "another block");
        }
    }
}
