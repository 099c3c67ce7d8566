//! The objects of a pickle while they are made: dicts that are events, frames, blocks … become rows of columns when
//! they are filled, so that no tree of all of them ever exists.
//!
//! An object is what a memo can name and what can change after that; its number stays, what it holds is looked up
//! when all has been read, so that a change is seen by all that refer to it. Lists that are filled at once are shared
//! by their contents: stacks of frames come thousands of times.

use super::events::EventRows;
use super::intern::{Interned, Texts};
use super::known_lists::KnownLists;
use super::rows::{BlockRow, MarkRow, SegmentRow, fill_block, fill_mark, fill_segment, words};
use super::usual_events::EventFields;
use super::values::{
    Fault, MOST_ROWS, NONE, OBJECT, Pickled, PyObject, Reference, SCALAR, SMALL, TEXT, TUPLE,
};
use super::word::Word;

/// No entry of the memo.
pub(super) const UNSET: u32 = u32::MAX;

/// Items of a list that is shared by its contents.
pub(super) const SHORT_LIST: usize = 256;

/// Keys each of which makes something of a dict that has no better one.
const ALONE: u64 = Word::Action.bit()
    | Word::Filename.bit()
    | Word::Stage.bit()
    | Word::State.bit()
    | Word::TotalSize.bit()
    | Word::Blocks.bit();

/// What a dict with a set of keys is, by what fits best; else by the first key of [`ALONE`].
#[inline]
fn word_of_keys(keys: u64, first: Word) -> Word {
    let has = |word: Word| keys & word.bit() != 0;
    if has(Word::Segments) || has(Word::DeviceTraces) {
        Word::Other
    } else if has(Word::TotalSize) || has(Word::Blocks) {
        Word::TotalSize
    } else if has(Word::Action) && (has(Word::Addr) || has(Word::DeviceFree)) {
        Word::Action
    } else if has(Word::State) && has(Word::Size) {
        Word::State
    } else if has(Word::Action) && has(Word::Size) {
        Word::Action
    } else if has(Word::Filename) {
        Word::Filename
    } else if has(Word::Stage) && has(Word::Name) {
        Word::Stage
    } else {
        first
    }
}

/// Pairs in which a key is looked for: no dict of a snapshot has more that mean something.
const PAIRS_LOOKED_AT: usize = 1 << 10;

/// A dict without columns.
#[derive(Default)]
struct LooseDict {
    pairs: Vec<(Reference, Reference)>,
    /// The known words among its keys.
    keys: u64,
}

/// All that a pickle has made so far.
pub(super) struct Objects {
    pub(super) texts: Texts,
    /// References by the numbers of the memo; [`UNSET`] where there is none.
    pub(super) memo: Vec<u32>,
    kinds: Vec<u32>,
    /// Contents of short lists and of tuples.
    lists: Interned<u32>,
    pub(super) known_lists: KnownLists,
    long_lists: Vec<Vec<u32>>,
    dicts: Vec<LooseDict>,
    scalars: Vec<Pickled>,
    /// File, function and line of each frame.
    frames: Interned<u32>,
    pub(super) events: EventRows,
    pub(super) segments: Vec<SegmentRow>,
    pub(super) blocks: Vec<BlockRow>,
    pub(super) marks: Vec<MarkRow>,
    /// Bytes of long lists and of dicts without columns.
    loose_bytes: usize,
    scratch: Vec<u32>,
}

impl Objects {
    pub(super) fn new() -> Self {
        Self {
            texts: Texts::new(),
            memo: Vec::new(),
            kinds: Vec::new(),
            lists: Interned::new(),
            known_lists: KnownLists::new(),
            long_lists: Vec::new(),
            dicts: Vec::new(),
            scalars: Vec::new(),
            frames: Interned::new(),
            events: EventRows::default(),
            segments: Vec::new(),
            blocks: Vec::new(),
            marks: Vec::new(),
            loose_bytes: 0,
            scratch: Vec::new(),
        }
    }

    /// Bytes of memory that all of it takes.
    pub(super) fn bytes(&self) -> usize {
        [
            self.texts.bytes(),
            self.memo.capacity().saturating_mul(4),
            self.kinds.capacity().saturating_mul(4),
            self.lists.bytes(),
            self.known_lists.bytes(),
            self.frames.bytes(),
            self.scalars.capacity().saturating_mul(size_of::<Pickled>()),
            self.events.bytes(),
            self.segments.capacity().saturating_mul(size_of::<SegmentRow>()),
            self.blocks.capacity().saturating_mul(size_of::<BlockRow>()),
            self.marks.capacity().saturating_mul(size_of::<MarkRow>()),
            self.loose_bytes,
        ]
        .into_iter()
        .fold(0, usize::saturating_add)
    }

    #[inline]
    pub(super) fn text(&mut self, text: &[u8]) -> Result<Pickled, Fault> {
        self.texts.row(text).map(Pickled::Text).ok_or_else(Fault::too_many)
    }

    /// A new dict or list with nothing in it.
    #[inline]
    pub(super) fn new_object(&mut self, kind: PyObject) -> Result<u32, Fault> {
        let object = self.kinds.len() as u32;
        if object >= MOST_ROWS {
            return Err(Fault::too_many());
        }
        self.kinds.push(kind.packed());
        Ok(object)
    }

    #[inline]
    pub(super) fn kind(&self, object: u32) -> PyObject {
        self.kinds
            .get(object as usize)
            .map_or(PyObject::EmptyDict, |packed| PyObject::of_packed(*packed))
    }

    pub(super) fn len(&self) -> u32 {
        self.kinds.len() as u32
    }

    #[inline]
    fn set_kind(&mut self, object: u32, kind: PyObject) {
        if let Some(old) = self.kinds.get_mut(object as usize) {
            *old = kind.packed();
        }
    }

    /// A value in four bytes.
    #[inline]
    pub(super) fn reference(&mut self, value: Pickled) -> Result<Reference, Fault> {
        Ok(match value {
            Pickled::Object(row) => Reference::new(OBJECT, row),
            Pickled::Text(row) => Reference::new(TEXT, row),
            Pickled::Tuple(row) => Reference::new(TUPLE, row),
            Pickled::Unsigned(number) if number <= u64::from(MOST_ROWS) => {
                Reference::new(SMALL, number as u32)
            }
            other => {
                let row = self.scalars.len();
                if row >= MOST_ROWS as usize {
                    return Err(Fault::too_many());
                }
                self.scalars.push(other);
                Reference::new(SCALAR, row as u32)
            }
        })
    }

    /// The value that a reference stands for.
    #[inline]
    pub(super) fn value(&self, reference: Reference) -> Pickled {
        let row = reference.0 & MOST_ROWS;
        match reference.0 >> 28 {
            TEXT => Pickled::Text(row),
            OBJECT => Pickled::Object(row),
            TUPLE => Pickled::Tuple(row),
            SMALL => Pickled::Unsigned(u64::from(row)),
            _ => self.scalars.get(row as usize).copied().unwrap_or(Pickled::None),
        }
    }

    pub(super) fn tuple(&mut self, items: &[Pickled]) -> Result<Pickled, Fault> {
        self.shared(items).map(Pickled::Tuple)
    }

    #[inline]
    fn shared(&mut self, items: &[Pickled]) -> Result<u32, Fault> {
        let mut content = std::mem::take(&mut self.scratch);
        content.clear();
        for item in items {
            content.push(self.reference(*item)?.0);
        }
        let row = self.lists.row(&content);
        self.scratch = content;
        row.map(|(row, _)| row).ok_or_else(Fault::too_many)
    }

    pub(super) fn tuple_items(&self, row: u32) -> impl Iterator<Item = Pickled> {
        self.lists.get(row).iter().map(|item| self.value(Reference(*item)))
    }

    /// Waits until what is in each list can be said: at the end, where one must be known before, and before an entry of
    /// the memo becomes another.
    ///
    /// # Errors
    /// When there are too many lists.
    pub(super) fn settle(&mut self) -> Result<(), Fault> {
        let rows = self.known_lists.settle(&self.memo)?;
        if rows.is_empty() {
            return Ok(());
        }
        for packed in &mut self.kinds {
            if let PyObject::KnownList(number) = PyObject::of_packed(*packed) {
                let row = rows.get(number as usize).copied().unwrap_or(NONE & MOST_ROWS);
                *packed = PyObject::KnownList(row).packed();
            }
        }
        Ok(())
    }

    /// What is in a list, as references; `None` of what is no list.
    pub(super) fn items(&self, object: u32) -> Option<&[u32]> {
        match self.kind(object) {
            PyObject::EmptyList => Some(&[]),
            PyObject::ShortList(row) => Some(self.lists.get(row)),
            PyObject::KnownList(row) => Some(self.known_lists.get(row)),
            PyObject::LongList(row) => Some(self.long_lists.get(row as usize)?),
            _ => None,
        }
    }

    /// The row of a short list, by which most equal ones are told.
    #[inline]
    pub(super) fn list_row(&self, object: u32) -> Option<u32> {
        match self.kind(object) {
            PyObject::ShortList(row) => Some(row),
            PyObject::KnownList(row) => Some(row.saturating_add(self.lists.len() as u32)),
            _ => None,
        }
    }

    /// What is in a short list or tuple, as references.
    pub(super) fn short_items(&self, row: u32) -> &[u32] {
        match row.checked_sub(self.lists.len() as u32) {
            None => self.lists.get(row),
            Some(row) => self.known_lists.get(row),
        }
    }

    /// Number of rows of short lists and tuples.
    pub(super) fn short_lists(&self) -> usize {
        self.lists.len().saturating_add(self.known_lists.len())
    }

    /// The pairs of a dict that is none of those with columns.
    pub(super) fn pairs(&self, object: u32) -> &[(Reference, Reference)] {
        match self.kind(object) {
            PyObject::Dict(row) => self.dicts.get(row as usize).map_or(&[], |dict| &dict.pairs),
            _ => &[],
        }
    }

    /// The value of a key in such a dict: the last one, as in Python.
    pub(super) fn get(&self, object: u32, key: Word) -> Option<Pickled> {
        let is_key = |(name, _): &&(Reference, Reference)| match self.value(*name) {
            Pickled::Text(row) => self.texts.word(row) == key,
            _ => false,
        };
        self.pairs(object)
            .iter()
            .rev()
            .take(PAIRS_LOOKED_AT)
            .find(is_key)
            .map(|(_, value)| self.value(*value))
    }

    /// File, function and line of a frame, as texts; [`NONE`] for what it does not have.
    pub(super) fn frame(&self, row: u32) -> [u32; 3] {
        self.frames.get(row).try_into().unwrap_or([NONE, NONE, 0])
    }

    /// Adds items to a list.
    #[inline]
    pub(super) fn append(&mut self, object: u32, items: &[Pickled]) -> Result<(), Fault> {
        if items.is_empty() {
            return Ok(());
        }
        match self.kind(object) {
            PyObject::EmptyList if items.len() <= SHORT_LIST => {
                let row = self.shared(items)?;
                self.set_kind(object, PyObject::ShortList(row));
                Ok(())
            }
            PyObject::EmptyList => {
                let list = self.new_long_list(object)?;
                self.extend_long(list, items)
            }
            PyObject::KnownList(_) if !self.known_lists.is_settled() => {
                self.settle()?;
                self.append(object, items)
            }
            PyObject::ShortList(_) | PyObject::KnownList(_) => {
                let before = self.items(object).unwrap_or_default().iter();
                let before: Vec<Pickled> =
                    before.map(|item| self.value(Reference(*item))).collect();
                let list = self.new_long_list(object)?;
                self.extend_long(list, &before)?;
                self.extend_long(list, items)
            }
            PyObject::LongList(row) => self.extend_long(row, items),
            _ => Err(Fault::new("a list to add to expected, a dict found")),
        }
    }

    /// Fills an empty list with the items that were put where the lists are that are known.
    #[inline]
    pub(super) fn fill(&mut self, list: u32, items: usize) -> Result<(), Fault> {
        let number = self.known_lists.close(items)?;
        self.set_kind(list, PyObject::KnownList(number));
        Ok(())
    }

    /// A new dict that is an event.
    #[inline]
    pub(super) fn new_event(&mut self, fields: &EventFields) -> Result<u32, Fault> {
        let row = self.events.push_fields(fields, &self.texts).ok_or_else(Fault::too_many)?;
        self.new_object(PyObject::Event(row))
    }

    fn new_long_list(&mut self, object: u32) -> Result<u32, Fault> {
        let row = self.long_lists.len() as u32;
        if row >= MOST_ROWS {
            return Err(Fault::too_many());
        }
        self.long_lists.push(Vec::new());
        self.loose_bytes = self.loose_bytes.saturating_add(size_of::<Vec<u32>>());
        self.set_kind(object, PyObject::LongList(row));
        Ok(row)
    }

    fn extend_long(&mut self, row: u32, items: &[Pickled]) -> Result<(), Fault> {
        let mut content = std::mem::take(&mut self.scratch);
        content.clear();
        for item in items {
            content.push(self.reference(*item)?.0);
        }
        if let Some(list) = self.long_lists.get_mut(row as usize) {
            let before = list.capacity();
            list.extend_from_slice(&content);
            let more = list.capacity().saturating_sub(before).saturating_mul(4);
            self.loose_bytes = self.loose_bytes.saturating_add(more);
        }
        self.scratch = content;
        Ok(())
    }

    /// Sets pairs of a dict: keys and values in turn.
    #[inline]
    pub(super) fn set(&mut self, object: u32, pairs: &[Pickled]) -> Result<(), Fault> {
        if !pairs.len().is_multiple_of(2) {
            return Err(Fault::new("a key without a value"));
        }
        match self.kind(object) {
            PyObject::Event(row) => {
                self.events.update(row, words(pairs, &self.texts), &self.texts);
            }
            PyObject::Segment(row) => {
                if let Some(segment) = self.segments.get_mut(row as usize) {
                    fill_segment(segment, pairs, &self.texts);
                }
            }
            PyObject::Block(row) => {
                if let Some(block) = self.blocks.get_mut(row as usize) {
                    fill_block(block, pairs, &self.texts);
                }
            }
            PyObject::Mark(row) => {
                if let Some(mark) = self.marks.get_mut(row as usize) {
                    fill_mark(mark, pairs, &self.texts);
                }
            }
            PyObject::Frame(row) => {
                let frame = self.frame(row);
                let row = self.frame_row(frame, pairs)?;
                self.set_kind(object, PyObject::Frame(row));
            }
            PyObject::EmptyDict => self.set_first(object, pairs)?,
            PyObject::Dict(row) => self.set_more(object, row, pairs)?,
            PyObject::EmptyList
            | PyObject::ShortList(_)
            | PyObject::KnownList(_)
            | PyObject::LongList(_) => {
                return Err(Fault::new("a dict to set items of expected, a list found"));
            }
        }
        Ok(())
    }

    /// What the keys make of a dict: all of them count, for a dict may have others that mean something elsewhere.
    #[inline]
    fn word_of_dict(&self, pairs: &[Pickled]) -> Word {
        let (mut keys, mut first) = (0_u64, Word::Other);
        for key in pairs.iter().step_by(2) {
            let Pickled::Text(key) = key else { continue };
            let word = self.texts.word(*key);
            keys |= word.bit();
            if first == Word::Other && word.bit() & ALONE != 0 {
                first = word;
            }
        }
        // Most dicts are none of them.
        if first == Word::Other { first } else { word_of_keys(keys, first) }
    }

    #[inline]
    fn set_first(&mut self, object: u32, pairs: &[Pickled]) -> Result<(), Fault> {
        fn row<T>(rows: &[T]) -> Result<u32, Fault> {
            u32::try_from(rows.len())
                .ok()
                .filter(|row| *row < MOST_ROWS)
                .ok_or_else(Fault::too_many)
        }
        let kind = match self.word_of_dict(pairs) {
            Word::Action => {
                let row = self.events.push(words(pairs, &self.texts), &self.texts);
                PyObject::Event(row.ok_or_else(Fault::too_many)?)
            }
            Word::Filename => PyObject::Frame(self.frame_row([NONE, NONE, 0], pairs)?),
            Word::State => {
                let at = row(&self.blocks)?;
                let mut block = BlockRow::default();
                fill_block(&mut block, pairs, &self.texts);
                self.blocks.push(block);
                PyObject::Block(at)
            }
            Word::TotalSize => {
                let at = row(&self.segments)?;
                let mut segment = SegmentRow::default();
                fill_segment(&mut segment, pairs, &self.texts);
                self.segments.push(segment);
                PyObject::Segment(at)
            }
            Word::Stage => {
                let at = row(&self.marks)?;
                let mut mark = MarkRow::default();
                fill_mark(&mut mark, pairs, &self.texts);
                self.marks.push(mark);
                PyObject::Mark(at)
            }
            _ if pairs.is_empty() => return Ok(()),
            _ => {
                let at = row(&self.dicts)?;
                self.dicts.push(LooseDict::default());
                self.loose_bytes = self.loose_bytes.saturating_add(size_of::<LooseDict>());
                self.set_kind(object, PyObject::Dict(at));
                return self.add_pairs(at, pairs);
            }
        };
        self.set_kind(object, kind);
        Ok(())
    }

    /// Adds to a dict without columns; it may turn out to be one that has some, unless it is a snapshot.
    fn set_more(&mut self, object: u32, row: u32, pairs: &[Pickled]) -> Result<(), Fault> {
        self.add_pairs(row, pairs)?;
        let keys = self.dicts.get(row as usize).map_or(0, |dict| dict.keys);
        if keys & ALONE != 0 && word_of_keys(keys, Word::Action) != Word::Other {
            let all = self.dicts.get_mut(row as usize).map(std::mem::take).unwrap_or_default();
            let bytes = all.pairs.capacity().saturating_mul(size_of::<(Reference, Reference)>());
            self.loose_bytes = self.loose_bytes.saturating_sub(bytes);
            let all: Vec<Pickled> = all
                .pairs
                .iter()
                .flat_map(|(key, value)| [self.value(*key), self.value(*value)])
                .collect();
            self.set_first(object, &all)?;
        }
        Ok(())
    }

    fn add_pairs(&mut self, row: u32, pairs: &[Pickled]) -> Result<(), Fault> {
        for pair in pairs.chunks_exact(2) {
            let [key, value] = pair else { continue };
            let word = match key {
                Pickled::Text(text) => self.texts.word(*text).bit(),
                _ => 0,
            };
            let pair = (self.reference(*key)?, self.reference(*value)?);
            if let Some(dict) = self.dicts.get_mut(row as usize) {
                dict.keys |= word;
                let before = dict.pairs.capacity();
                dict.pairs.push(pair);
                let more = dict.pairs.capacity().saturating_sub(before).saturating_mul(8);
                self.loose_bytes = self.loose_bytes.saturating_add(more);
            }
        }
        Ok(())
    }

    fn frame_row(&mut self, mut frame: [u32; 3], pairs: &[Pickled]) -> Result<u32, Fault> {
        for (word, value) in words(pairs, &self.texts) {
            match (word, value) {
                (Word::Filename, Pickled::Text(text)) => frame[0] = text,
                (Word::Name, Pickled::Text(text)) => frame[1] = text,
                (Word::Line, Pickled::Unsigned(line)) => {
                    frame[2] = u32::try_from(line).unwrap_or(0);
                }
                _ => {}
            }
        }
        self.frames.row(&frame).map(|(row, _)| row).ok_or_else(Fault::too_many)
    }
}
