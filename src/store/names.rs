//! Names in one block of text: no allocation per name.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::column::{Column, number};
use crate::limits;

number! {
    /// A row of a [`Names`] column.
    pub struct NameId(pub u32);
}

impl NameId {
    /// No name.
    pub const NONE: Self = Self(u32::MAX);
}

/// A column of texts, stored end to end.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Names {
    pub(crate) text: Column<u8>,
    pub(crate) ends: Column<u64>,
}

impl Names {
    /// Appends a text and returns its row. Rows beyond 2³² − 1 share the last one.
    pub fn push(&mut self, name: &str) -> NameId {
        self.text.extend_from_slice(name.as_bytes());
        self.ends.push(self.text.len() as u64);
        NameId(u32::try_from(self.ends.len() - 1).unwrap_or(u32::MAX))
    }

    /// The text of a row, empty when there is no such row.
    pub fn get(&self, id: NameId) -> &str {
        self.at(id.0 as usize).unwrap_or("")
    }

    /// The text at a position.
    pub fn at(&self, position: usize) -> Option<&str> {
        // Looked at each time, because the bytes may be those of a file.
        std::str::from_utf8(self.bytes_at(position)?).ok()
    }

    fn bytes_at(&self, position: usize) -> Option<&[u8]> {
        let ends: &[u64] = &self.ends;
        let end = usize::try_from(*ends.get(position)?).ok()?;
        let start = match position.checked_sub(1) {
            Some(before) => usize::try_from(*ends.get(before)?).ok()?,
            None => 0,
        };
        self.text.get(start..end)
    }

    /// Cuts texts that are longer.
    pub(crate) fn cut(&mut self, most: usize) {
        let texts = std::mem::take(self);
        texts.iter().for_each(|text| {
            self.push(&limits::cut(text, most));
        });
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All texts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|position| self.at(position))
    }
}

/// A map whose hash is fast, and seeded at random: nobody writes a file all of whose keys collide.
pub(crate) type FastMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// Builds a [`Names`] column in which equal texts share a row.
#[derive(Debug, Default)]
pub struct Interner {
    names: Names,
    /// The rows, each with the hash of its text.
    rows: HashTable<(u64, NameId)>,
    hasher: RandomState,
}

impl Interner {
    /// The row of `name`, new when it was not seen before.
    pub fn intern(&mut self, name: &str) -> NameId {
        let hash = self.hasher.hash_one(name);
        if let Some(id) = self.row_of(name, hash) {
            return id;
        }
        let id = self.names.push(name);
        self.rows.insert_unique(hash, (hash, id), |(hash, _)| *hash);
        id
    }

    fn row_of(&self, name: &str, hash: u64) -> Option<NameId> {
        let text = |id: NameId| self.names.bytes_at(id.0 as usize);
        let is_it = |row: &(u64, NameId)| row.0 == hash && text(row.1) == Some(name.as_bytes());
        self.rows.find(hash, is_it).map(|(_, id)| *id)
    }

    /// The row of `name`; [`NameId::NONE`] when it was not seen before.
    pub(crate) fn find(&self, name: &str) -> NameId {
        self.row_of(name, self.hasher.hash_one(name)).unwrap_or(NameId::NONE)
    }

    /// The text of a row, empty when there is no such row.
    pub(crate) fn get(&self, id: NameId) -> &str {
        self.names.get(id)
    }

    /// Number of texts.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The finished column.
    pub fn into_names(self) -> Names {
        self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_share_a_row_and_keep_their_text() {
        let mut interner = Interner::default();
        let a = interner.intern("conv");
        let empty = interner.intern("");
        let b = interner.intern("conv");
        let names = interner.into_names();
        assert_eq!(a, b);
        assert_eq!(names.get(a), "conv");
        assert_eq!(names.get(empty), "");
        assert_eq!(names.get(NameId(9)), "");
        assert_eq!(names.iter().collect::<Vec<_>>(), ["conv", ""]);
    }
}
