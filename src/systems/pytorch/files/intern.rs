//! Tables that find a row by its content: texts, and lists of what is in a list. Contents stand end to end.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::hint::black_box;

use twox_hash::XxHash3_64;
use zerocopy::{Immutable, IntoBytes};

use super::word::Word;

/// No row.
const FREE: u32 = u32::MAX;

/// Contents that are looked up at a time where there are many.
const AT_A_TIME: usize = 16;

/// A place for a row, with the hash of its content, so that few others are compared with it.
#[derive(Clone, Copy)]
struct Slot {
    row: u32,
    hash: u32,
}

impl Slot {
    const FREE: Self = Self { row: FREE, hash: 0 };
}

/// Slices of plain elements end to end, each once.
pub(super) struct Interned<T> {
    items: Vec<T>,
    ends: Vec<usize>,
    /// Rows by their hash, open addressing; at most half of them are taken.
    slots: Vec<Slot>,
    /// Not known to who wrote the file, so that nobody can make all contents meet.
    seed: u64,
}

impl<T: Copy + PartialEq + IntoBytes + Immutable> Interned<T> {
    pub(super) fn new() -> Self {
        let seed = RandomState::new().build_hasher().finish();
        Self { items: Vec::new(), ends: Vec::new(), slots: vec![Slot::FREE; 64], seed }
    }

    /// The row of a content, and whether it is new; `None` where there are too many rows.
    #[inline]
    pub(super) fn row(&mut self, content: &[T]) -> Option<(u32, bool)> {
        self.row_of(self.hash(content), content)
    }

    /// Adds the rows of contents that stand end to end; `None` where there are too many.
    pub(super) fn rows(&mut self, items: &[T], ends: &[usize], rows: &mut Vec<u32>) -> Option<()> {
        let mut contents = (0..ends.len()).map(|at| crate::store::list_at(items, ends, at));
        let mut some: [(u32, &[T]); AT_A_TIME] = [(0, &[]); AT_A_TIME];
        loop {
            let mut count = 0_usize;
            for (place, content) in some.iter_mut().zip(&mut contents) {
                *place = (self.hash(content), content);
                count = count.saturating_add(1);
            }
            let some = some.get(..count).unwrap_or_default();
            if some.is_empty() {
                return Some(());
            }
            self.fetch(some);
            for (hash, content) in some {
                rows.push(self.row_of(*hash, content)?.0);
            }
        }
    }

    /// Reads a little of what some contents will be compared with. Neither waits for the other: memory is slower than
    /// all else here.
    #[inline]
    fn fetch(&self, some: &[(u32, &[T])]) {
        let mut starts = [usize::MAX; AT_A_TIME];
        for ((hash, _), start) in some.iter().zip(&mut starts) {
            let row = self.slots.get(self.slot(*hash)).map_or(FREE, |slot| slot.row);
            if let Some(before) = (row as usize).checked_sub(1) {
                *start = self.ends.get(before).copied().unwrap_or(usize::MAX);
            }
        }
        let of_line = 64_usize.checked_div(size_of::<T>()).unwrap_or(1);
        for start in starts {
            let next = start.saturating_add(of_line);
            black_box((self.items.get(start).copied(), self.items.get(next).copied()));
        }
    }

    #[inline]
    fn row_of(&mut self, hash: u32, content: &[T]) -> Option<(u32, bool)> {
        let mut slot = self.slot(hash);
        loop {
            match self.slots.get(slot).copied() {
                None | Some(Slot { row: FREE, .. }) => break,
                Some(taken) if taken.hash == hash && self.get(taken.row) == content => {
                    return Some((taken.row, false));
                }
                Some(_) => slot = slot.wrapping_add(1) & self.mask(),
            }
        }
        let row =
            u32::try_from(self.ends.len()).ok().filter(|row| *row < super::values::MOST_ROWS)?;
        self.items.extend_from_slice(content);
        self.ends.push(self.items.len());
        if let Some(free) = self.slots.get_mut(slot) {
            *free = Slot { row, hash };
        }
        if self.ends.len() > self.slots.len() / 2 {
            self.grow();
        }
        Some((row, true))
    }

    #[inline]
    pub(super) fn get(&self, row: u32) -> &[T] {
        crate::store::list_at(&self.items, &self.ends, row as usize)
    }

    /// Puts another element in the place of each, where no content is looked for any more.
    pub(super) fn replace(&mut self, by: impl Fn(T) -> T) {
        self.slots = Vec::new();
        for item in &mut self.items {
            *item = by(*item);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        let lists = self.items.capacity().saturating_mul(size_of::<T>());
        let ends = self.ends.capacity().saturating_mul(size_of::<usize>());
        lists
            .saturating_add(ends)
            .saturating_add(self.slots.capacity().saturating_mul(size_of::<Slot>()))
    }

    fn mask(&self) -> usize {
        self.slots.len().saturating_sub(1)
    }

    fn hash(&self, content: &[T]) -> u32 {
        XxHash3_64::oneshot_with_seed(self.seed, content.as_bytes()) as u32
    }

    /// Where a hash is looked for first: there are fewer slots than hashes.
    #[inline]
    fn slot(&self, hash: u32) -> usize {
        hash as usize & self.mask()
    }

    #[cold]
    fn grow(&mut self) {
        let more = self.slots.len().saturating_mul(2);
        let taken = std::mem::replace(&mut self.slots, vec![Slot::FREE; more]);
        for old in taken.into_iter().filter(|slot| slot.row != FREE) {
            let mut slot = self.slot(old.hash);
            while self.slots.get(slot).is_some_and(|taken| taken.row != FREE) {
                slot = slot.wrapping_add(1) & self.mask();
            }
            if let Some(free) = self.slots.get_mut(slot) {
                *free = old;
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
        let (mut items, mut ends, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for number in [3_u32, 999, 5, 3, 1000].into_iter().chain(500..700) {
            items.extend((0..number % 7).chain([number]));
            ends.push(items.len());
        }
        assert_eq!(lists.rows(&items, &ends, &mut rows), Some(()));
        assert!(rows.iter().copied().eq([3_u32, 999, 5, 3, 1000].into_iter().chain(500..700)));
        assert_eq!(lists.row(&[]), Some((1001, true)));
        assert_eq!(lists.len(), 1002);
        let mut texts = Texts::new();
        let row = texts.row(b"alloc").unwrap();
        assert_eq!(texts.row(b"alloc"), Some(row));
        assert_eq!((texts.word(row), texts.get(row)), (Word::Alloc, &b"alloc"[..]));
    }
}
