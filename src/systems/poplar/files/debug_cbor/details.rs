//! One context as a whole, read at its place in the file.
//!
//! The file stays open, so one that is deleted or replaced while its report is open can still be read. One that is
//! written over is told by its size, its time, and the id of the context.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::cbor::{Cbor, Item, Stop};
use super::deeper;
use crate::files;
use crate::limits;
use crate::progress::{Progress, Watched};
use crate::store::context_details::{ContextDetails, DetailValue, ReadContext};
use crate::store::placed::ReadError;

/// Bytes that are read at once: most contexts have fewer.
const BLOCK: usize = 1 << 12;

/// The file of a report's debug contexts.
#[derive(Debug)]
pub struct DebugFile {
    file: File,
    path: PathBuf,
    /// Its size and time when it was opened.
    state: (u64, Option<SystemTime>),
}

/// A context that is not where it was.
#[derive(Debug, thiserror::Error)]
enum Gone {
    #[error("{0}: it has changed since its report was opened; reload the report")]
    Changed(String),
    #[error("{file}: byte {at}: {what}")]
    Unreadable { file: String, at: u64, what: String },
}

impl DebugFile {
    /// Opens it.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = files::open(path)?;
        let state = state(&file.metadata()?);
        Ok(Self { file, path: path.to_owned(), state })
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

fn state(metadata: &Metadata) -> (u64, Option<SystemTime>) {
    (metadata.len(), metadata.modified().ok())
}

impl ReadContext for DebugFile {
    fn read(&self, id: u64, offset: u64, progress: &Progress) -> Result<ContextDetails, ReadError> {
        let changed = || Box::new(Gone::Changed(self.name()));
        if state(&self.file.metadata()?) != self.state {
            return Err(changed());
        }
        let source = Watched { reader: At { file: &self.file, offset }, progress };
        let mut one = One {
            cbor: Cbor::in_blocks_of(BLOCK, source),
            values: limits::CONTEXT_VALUES,
            bytes: limits::CONTEXT_BYTES,
            is_cut: false,
        };
        let unreadable =
            |what: String| Box::new(Gone::Unreadable { file: self.name(), at: offset, what });
        let entries = match one.value(0) {
            Ok(DetailValue::Map(entries)) => entries,
            Ok(_) => return Err(changed()),
            Err(Stop::Truncated) => return Err(unreadable("the file ends".to_owned())),
            Err(Stop::Fault(what)) => return Err(unreadable(what)),
        };
        let found = ContextDetails { entries, is_cut: one.is_cut };
        let is_id = |(key, value): &(String, DetailValue)| {
            key == "id" && *value == DetailValue::Integer(id.into())
        };
        // Of one that is cut perhaps it came after what is kept.
        if found.is_cut || found.entries.iter().any(is_id) { Ok(found) } else { Err(changed()) }
    }
}

/// A file from a place on.
struct At<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = files::read_at(self.file, buffer, self.offset)?;
        self.offset = self.offset.saturating_add(read as u64);
        Ok(read)
    }
}

/// A context that is being read.
struct One<R> {
    cbor: Cbor<R>,
    /// Values and bytes of texts that may still come.
    values: usize,
    bytes: usize,
    /// Whether more came: then nothing is read any more.
    is_cut: bool,
}

impl<R: Read> One<R> {
    fn value(&mut self, depth: u32) -> Result<DetailValue, Stop> {
        Ok(match self.cbor.item()? {
            Item::Unsigned(number) => DetailValue::Integer(number.into()),
            Item::Negative(number) => DetailValue::Integer((-1_i128).saturating_sub(number.into())),
            Item::Float(number) => DetailValue::Number(number),
            Item::Simple(20) => DetailValue::Flag(false),
            Item::Simple(21) => DetailValue::Flag(true),
            Item::Simple(_) => DetailValue::Null,
            Item::Text(length) => DetailValue::Text(self.text(length)?),
            Item::Bytes(length) => {
                let mut bytes = 0_usize;
                self.cbor.each_piece(length, |piece| bytes = bytes.saturating_add(piece.len()))?;
                DetailValue::Text(format!("{bytes} bytes"))
            }
            Item::Tag(_) => self.value(deeper(depth)?)?,
            Item::Array(items) => {
                let (depth, mut list) = (deeper(depth)?, Vec::new());
                let mut left = items;
                while self.has_next(&mut left)? {
                    list.push(self.value(depth)?);
                }
                DetailValue::List(list)
            }
            Item::Map(pairs) => {
                let (depth, mut entries) = (deeper(depth)?, Vec::new());
                let mut left = pairs;
                while self.has_next(&mut left)? {
                    let Item::Text(length) = self.cbor.item()? else {
                        return Err(Stop::Fault("a key (a text) expected".to_owned()));
                    };
                    let key = self.text(length)?;
                    entries.push((key, self.value(depth)?));
                }
                DetailValue::Map(entries)
            }
            Item::Break => {
                return Err(Stop::Fault("an end mark where a value must be".to_owned()));
            }
        })
    }

    /// Whether another value follows that is kept.
    fn has_next(&mut self, left: &mut Option<u64>) -> Result<bool, Stop> {
        if self.is_cut || !self.cbor.has_next(left)? {
            return Ok(false);
        }
        self.is_cut = self.values == 0 || self.bytes == 0;
        self.values = self.values.saturating_sub(1);
        Ok(!self.is_cut)
    }

    fn text(&mut self, length: Option<u64>) -> Result<String, Stop> {
        let mut text = Vec::new();
        let (most, mut is_longer) = (self.bytes, false);
        self.cbor.each_piece(length, |piece| {
            let room = most.saturating_sub(text.len()).min(piece.len());
            text.extend_from_slice(piece.get(..room).unwrap_or(piece));
            is_longer |= room < piece.len();
        })?;
        self.bytes = most.saturating_sub(text.len());
        self.is_cut |= is_longer;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
