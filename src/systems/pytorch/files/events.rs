//! Columns of the dicts that are events, in the order in which they come.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::intern::Texts;
use super::usual_events::EventFields;
use super::values::{MOST_ROWS, NONE, Pickled};
use super::word::Word;
use crate::store::snapshot::{Action, EventPart, Events, ToldEvents};

/// What a field of an event turned out to be.
const HAS_ADDRESS: u8 = 1;
const HAS_SIZE: u8 = 2;
const HAS_FREE: u8 = 4;
/// A number below 0, or no number where one must be.
const IS_BAD: u8 = 8;

/// Names of unknown actions that are told apart.
const MOST_NAMES: usize = 16;

/// One event.
#[derive(Clone, Copy)]
struct EventRow {
    action: Action,
    address: u64,
    size: u64,
    stream: u32,
    time: i64,
    frames: u32,
    found: u8,
}

#[derive(Default)]
pub(super) struct EventRows {
    pub(super) actions: Vec<Action>,
    pub(super) addresses: Vec<u64>,
    pub(super) sizes: Vec<u64>,
    pub(super) streams: Vec<u32>,
    pub(super) times: Vec<i64>,
    /// The objects that are their lists of frames.
    pub(super) frames: Vec<u32>,
    found: Vec<u8>,
    /// Events with a text of the user, in the order in which they came.
    pub(super) metadata: Vec<(u32, u32)>,
    /// Streams by their numbers here.
    pub(super) stream_numbers: Vec<u64>,
    stream_rows: HashMap<u64, u32>,
    last_stream: (u64, u32),
    /// How many were told while they were read, and whether one of these has changed since.
    told: usize,
    has_changed: bool,
    /// Texts of actions that are not known, and how many events have them; `None` is for no text, and for further ones.
    pub(super) unknown_actions: BTreeMap<Option<u32>, u64>,
}

impl EventRows {
    /// Bytes of memory that they take.
    pub(super) fn bytes(&self) -> usize {
        let of_rows = self.addresses.capacity().saturating_mul(8 + 8 + 8 + 4 + 4 + 1 + 1);
        let others = self.metadata.capacity().saturating_add(self.stream_numbers.capacity());
        // A stream has a row in a table of its own.
        of_rows
            .saturating_add(others.saturating_mul(8))
            .saturating_add(self.stream_rows.capacity().saturating_mul(20))
    }

    pub(super) fn len(&self) -> usize {
        self.actions.len()
    }

    /// Adds the event that a dict is; `None` where there are too many.
    #[inline]
    pub(super) fn push(
        &mut self,
        pairs: impl Iterator<Item = (Word, Pickled)>,
        texts: &Texts,
    ) -> Option<u32> {
        let (at, mut row) = self.new_row()?;
        for (word, value) in pairs {
            self.fill(&mut row, at, word, value, texts);
        }
        self.push_row(row);
        Some(at)
    }

    /// The same of one that has each key once at most.
    #[inline]
    pub(super) fn push_fields(&mut self, fields: &EventFields, texts: &Texts) -> Option<u32> {
        let (at, mut row) = self.new_row()?;
        if let Some(action) = fields.get(Word::Action) {
            row.action = self.action(action, texts);
        }
        if let Some(address) = fields.get(Word::Addr) {
            take(&mut row.address, &mut row.found, HAS_ADDRESS, address);
        }
        if let Some(size) = fields.get(Word::Size) {
            take(&mut row.size, &mut row.found, HAS_SIZE, size);
        }
        if let Some(free) = fields.get(Word::DeviceFree) {
            take(&mut row.address, &mut row.found, HAS_FREE, free);
        }
        if let Some(stream) = fields.get(Word::Stream) {
            row.stream = self.stream_of(stream);
        }
        row.time = fields.get(Word::TimeUs).map_or(row.time, time_of);
        row.frames = fields.get(Word::Frames).map_or(row.frames, frames_of);
        if let Some(text) = fields.get(Word::UserMetadata) {
            self.note_metadata(at, text, texts);
        }
        self.push_row(row);
        Some(at)
    }

    /// What an event is of which nothing is known yet, and its number; `None` where there are too many.
    #[inline]
    fn new_row(&self) -> Option<(u32, EventRow)> {
        let at = u32::try_from(self.actions.len()).ok().filter(|row| *row < MOST_ROWS)?;
        let row = EventRow {
            action: Action::Unknown,
            address: 0,
            size: 0,
            stream: NONE,
            time: Events::NO_TIME,
            frames: NONE,
            found: 0,
        };
        Some((at, row))
    }

    #[inline]
    fn push_row(&mut self, row: EventRow) {
        let stream = if row.stream == NONE { self.stream(0) } else { row.stream };
        self.actions.push(row.action);
        self.addresses.push(row.address);
        self.sizes.push(row.size);
        self.streams.push(stream);
        self.times.push(row.time);
        self.frames.push(row.frames);
        self.found.push(row.found);
    }

    /// Sets more of an event that is there.
    pub(super) fn update(
        &mut self,
        at: u32,
        pairs: impl Iterator<Item = (Word, Pickled)>,
        texts: &Texts,
    ) {
        let row = at as usize;
        let read = || {
            Some(EventRow {
                action: *self.actions.get(row)?,
                address: *self.addresses.get(row)?,
                size: *self.sizes.get(row)?,
                stream: *self.streams.get(row)?,
                time: *self.times.get(row)?,
                frames: *self.frames.get(row)?,
                found: *self.found.get(row)?,
            })
        };
        let Some(mut event) = read() else { return };
        self.has_changed |= row < self.told;
        for (word, value) in pairs {
            self.fill(&mut event, at, word, value, texts);
        }
        set(&mut self.actions, row, event.action);
        set(&mut self.addresses, row, event.address);
        set(&mut self.sizes, row, event.size);
        set(&mut self.streams, row, event.stream);
        set(&mut self.times, row, event.time);
        set(&mut self.frames, row, event.frames);
        set(&mut self.found, row, event.found);
    }

    fn fill(&mut self, row: &mut EventRow, at: u32, word: Word, value: Pickled, texts: &Texts) {
        match word {
            Word::Action => row.action = self.action(value, texts),
            Word::Addr => take(&mut row.address, &mut row.found, HAS_ADDRESS, value),
            Word::Size => take(&mut row.size, &mut row.found, HAS_SIZE, value),
            // Only a request that failed has one, and that has no address.
            Word::DeviceFree if row.found & HAS_ADDRESS == 0 => {
                take(&mut row.address, &mut row.found, HAS_FREE, value);
            }
            Word::Stream => row.stream = self.stream_of(value),
            Word::TimeUs => row.time = time_of(value),
            Word::Frames => row.frames = frames_of(value),
            Word::UserMetadata => self.note_metadata(at, value, texts),
            _ => {}
        }
    }

    #[inline]
    fn stream_of(&mut self, value: Pickled) -> u32 {
        match value {
            Pickled::Unsigned(number) => self.stream(number),
            Pickled::Negative(number) => self.stream(number.cast_unsigned()),
            _ => self.stream(0),
        }
    }

    #[inline]
    fn note_metadata(&mut self, at: u32, value: Pickled, texts: &Texts) {
        if let Pickled::Text(text) = value
            && texts.word(text) != Word::NotApplicable
        {
            self.metadata.push((at, text));
        }
    }

    #[inline]
    fn action(&mut self, value: Pickled, texts: &Texts) -> Action {
        let Pickled::Text(text) = value else {
            return self.unknown(None);
        };
        match texts.word(text) {
            Word::Alloc => Action::Alloc,
            Word::FreeCompleted => Action::FreeCompleted,
            Word::FreeRequested => Action::FreeRequested,
            Word::OutOfMemory => Action::OutOfMemory,
            Word::Annotate => Action::Annotate,
            Word::SegmentAlloc => Action::SegmentAlloc,
            Word::SegmentFree => Action::SegmentFree,
            Word::SegmentMap => Action::SegmentMap,
            Word::SegmentUnmap => Action::SegmentUnmap,
            Word::Snapshot => Action::Snapshot,
            _ => self.unknown(Some(text)),
        }
    }

    #[cold]
    fn unknown(&mut self, text: Option<u32>) -> Action {
        let is_kept =
            self.unknown_actions.len() < MOST_NAMES || self.unknown_actions.contains_key(&text);
        let count = self.unknown_actions.entry(if is_kept { text } else { None }).or_default();
        *count = count.saturating_add(1);
        Action::Unknown
    }

    #[inline]
    fn stream(&mut self, number: u64) -> u32 {
        if self.last_stream.0 == number && !self.stream_numbers.is_empty() {
            return self.last_stream.1;
        }
        self.other_stream(number)
    }

    fn other_stream(&mut self, number: u64) -> u32 {
        let next = self.stream_numbers.len() as u32;
        let row = *self.stream_rows.entry(number).or_insert(next);
        if row == next {
            self.stream_numbers.push(number);
        }
        self.last_stream = (number, row);
        row
    }

    /// Tells of the events that came since the last time.
    pub(super) fn tell(&mut self, tell: &mut impl FnMut(ToldEvents)) {
        fn part<T: Copy>(column: &[T], rows: &Range<usize>) -> Vec<T> {
            column.get(rows.clone()).unwrap_or_default().to_vec()
        }
        let new = self.told..self.len();
        if new.is_empty() {
            return;
        }
        self.told = new.end;
        tell(ToldEvents::Part(EventPart {
            actions: part(&self.actions, &new),
            addresses: part(&self.addresses, &new),
            sizes: part(&self.sizes, &new),
        }));
    }

    /// Whether an event changed after it was told.
    pub(super) fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Lets events that lack what their action needs do nothing; how many those are.
    pub(super) fn leave_out_bad(&mut self) -> u64 {
        let mut left_out = 0_u64;
        let rows = self.actions.iter_mut().zip(&self.found).zip(&mut self.addresses);
        for ((action, found), address) in rows {
            if *action == Action::OutOfMemory && found & HAS_FREE == 0 {
                *address = Events::NO_FREE;
            }
            let needed = match action {
                Action::Unknown | Action::Snapshot => continue,
                Action::OutOfMemory => HAS_SIZE,
                Action::Annotate => HAS_ADDRESS,
                _ => HAS_ADDRESS | HAS_SIZE,
            };
            if found & needed != needed || found & IS_BAD != 0 {
                *action = Action::Unknown;
                left_out = left_out.saturating_add(1);
            }
        }
        left_out
    }
}

#[inline]
fn time_of(value: Pickled) -> i64 {
    match value {
        Pickled::Unsigned(time) => i64::try_from(time).unwrap_or(i64::MAX),
        Pickled::Negative(time) => time,
        _ => Events::NO_TIME,
    }
}

#[inline]
fn frames_of(value: Pickled) -> u32 {
    match value {
        Pickled::Object(list) => list,
        _ => NONE,
    }
}

fn set<T>(column: &mut [T], row: usize, value: T) {
    if let Some(place) = column.get_mut(row) {
        *place = value;
    }
}

#[inline]
fn take(place: &mut u64, found: &mut u8, flag: u8, value: Pickled) {
    match value {
        Pickled::Unsigned(number) => {
            *place = number;
            *found |= flag;
        }
        _ => *found |= IS_BAD,
    }
}
