//! The full content of a debug context, read from the file on demand: reports have millions of contexts, of which a few
//! are looked at.

use std::fmt;

use super::placed::ReadError;
use crate::progress::Progress;

/// A value as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub enum DetailValue {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i128),
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// No value.
    Null,
    /// Values one after the other.
    List(Vec<DetailValue>),
    /// Values by key, in the order of the file.
    Map(Vec<(String, DetailValue)>),
}

/// What a context says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextDetails {
    /// Its keys with their values, in the order of the file. Names and files are rows of the string table.
    pub entries: Vec<(String, DetailValue)>,
    /// Whether it says more than is kept (`budget::CONTEXT_VALUES`).
    pub is_cut: bool,
}

impl ContextDetails {
    /// The value of a key.
    pub fn get(&self, wanted: &str) -> Option<&DetailValue> {
        get(&self.entries, wanted)
    }
}

/// The value of a key of a map.
pub fn get<'a>(entries: &'a [(String, DetailValue)], wanted: &str) -> Option<&'a DetailValue> {
    entries.iter().find(|(key, _)| key == wanted).map(|(_, value)| value)
}

/// Reads single contexts of one report from its files.
pub trait ReadContext: fmt::Debug + Send + Sync {
    /// The context with this id, whose map begins at a byte of the file.
    ///
    /// # Errors
    /// When the file cannot be read any more, or has changed.
    fn read(&self, id: u64, offset: u64, progress: &Progress) -> Result<ContextDetails, ReadError>;
}
