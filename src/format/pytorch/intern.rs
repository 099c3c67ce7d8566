//! Tables that find a row by its content: texts, and lists of what is in a list. Contents stand end to end.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use twox_hash::XxHash3_64;
use zerocopy::{Immutable, IntoBytes};

use super::word::Word;

/// No row.
const FREE: u32 = u32::MAX;

/// Slices of plain elements end to end, each once.
pub(super) struct Interned<T> {
    items: Vec<T>,
    ends: Vec<usize>,
    /// Rows by their hash, open addressing; at most half of them are taken.
    slots: Vec<u32>,
    /// Not known to who wrote the file, so that nobody can make all contents meet.
    seed: u64,
}

impl<T: Copy + PartialEq + IntoBytes + Immutable> Interned<T> {
    pub(super) fn new() -> Self {
        let seed = RandomState::new().build_hasher().finish();
        Self { items: Vec::new(), ends: Vec::new(), slots: vec![FREE; 64], seed }
    }

    /// The row of a content, and whether it is new; `None` where there are too many rows.
    #[inline]
    pub(super) fn row(&mut self, content: &[T]) -> Option<(u32, bool)> {
        let mut slot = self.slot(content);
        loop {
            match self.slots.get(slot).copied() {
                Some(FREE) | None => break,
                Some(row) if self.get(row) == content => return Some((row, false)),
                Some(_) => slot = slot.wrapping_add(1) & self.mask(),
            }
        }
        let row =
            u32::try_from(self.ends.len()).ok().filter(|row| *row < super::values::MOST_ROWS)?;
        self.items.extend_from_slice(content);
        self.ends.push(self.items.len());
        if let Some(free) = self.slots.get_mut(slot) {
            *free = row;
        }
        if self.ends.len() > self.slots.len() / 2 {
            self.grow();
        }
        Some((row, true))
    }

    /// The content of a row.
    #[inline]
    pub(super) fn get(&self, row: u32) -> &[T] {
        crate::store::list_at(&self.items, &self.ends, row as usize)
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        let lists = self.items.capacity().saturating_mul(size_of::<T>());
        let ends = self.ends.capacity().saturating_mul(size_of::<usize>());
        lists.saturating_add(ends).saturating_add(self.slots.capacity().saturating_mul(4))
    }

    fn mask(&self) -> usize {
        self.slots.len().saturating_sub(1)
    }

    fn slot(&self, content: &[T]) -> usize {
        XxHash3_64::oneshot_with_seed(self.seed, content.as_bytes()) as usize & self.mask()
    }

    #[cold]
    fn grow(&mut self) {
        self.slots = vec![FREE; self.slots.len().saturating_mul(2)];
        for row in (0..).take(self.ends.len()) {
            let mut slot = self.slot(self.get(row));
            while self.slots.get(slot).is_some_and(|taken| *taken != FREE) {
                slot = slot.wrapping_add(1) & self.mask();
            }
            if let Some(free) = self.slots.get_mut(slot) {
                *free = row;
            }
        }
    }
}

/// Texts, each once, with the words that they are.
pub(super) struct Texts {
    texts: Interned<u8>,
    words: Vec<Word>,
}

impl Texts {
    pub(super) fn new() -> Self {
        Self { texts: Interned::new(), words: Vec::new() }
    }

    /// The row of a text; `None` where there are too many.
    #[inline]
    pub(super) fn row(&mut self, text: &[u8]) -> Option<u32> {
        let (row, is_new) = self.texts.row(text)?;
        if is_new {
            self.words.push(Word::of(text));
        }
        Some(row)
    }

    /// The word that a text is.
    #[inline]
    pub(super) fn word(&self, row: u32) -> Word {
        self.words.get(row as usize).copied().unwrap_or(Word::Other)
    }

    /// The bytes of a text, which may be no UTF-8.
    pub(super) fn get(&self, row: u32) -> &[u8] {
        self.texts.get(row)
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Bytes of memory that they take.
    pub(super) fn bytes(&self) -> usize {
        self.texts.bytes().saturating_add(self.words.capacity())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_contents_share_a_row_also_after_the_table_has_grown() {
        let mut lists = Interned::<u32>::new();
        for round in 0..2 {
            for number in 0..1000_u32 {
                let content: Vec<u32> = (0..number % 7).chain([number]).collect();
                assert_eq!(lists.row(&content), Some((number, round == 0)));
                assert_eq!(lists.get(number), content);
            }
        }
        assert_eq!(lists.row(&[]), Some((1000, true)));
        assert_eq!(lists.len(), 1001);
        let mut texts = Texts::new();
        let row = texts.row(b"alloc").unwrap();
        assert_eq!(texts.row(b"alloc"), Some(row));
        assert_eq!((texts.word(row), texts.get(row)), (Word::Alloc, &b"alloc"[..]));
    }
}
