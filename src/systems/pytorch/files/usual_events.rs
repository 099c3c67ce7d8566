//! Events as PyTorch writes them, a dict at a time: keys that were there before, numbers, texts, a list of frames that
//! are known. Nearly all opcodes of a large snapshot are of these; the machine runs the others one by one.

use super::machine::{integer, long_ahead};
use super::objects::{Objects, SHORT_LIST};
use super::values::{OBJECT, Pickled, Reference, TEXT, TUPLE};
use super::word::Word;

/// Keys whose meaning is kept: more than PyTorch writes.
const MOST_KEYS: usize = 32;

/// What keys of an event mean, by the numbers of their words; what the others mean is of no use.
const FIELDS: usize = Word::UserMetadata as usize + 1;

/// What an event has of each of its keys.
#[derive(Clone, Copy)]
pub(super) struct EventFields {
    values: [Pickled; FIELDS],
    /// The words that it has, as [`Word::bit`].
    found: u64,
}

impl EventFields {
    const NONE: Self = Self { values: [Pickled::None; FIELDS], found: 0 };

    /// What it has, if it has one.
    #[inline]
    pub(super) fn get(&self, word: Word) -> Option<Pickled> {
        let value = self.values.get(word as usize).copied();
        value.filter(|_| self.found & word.bit() != 0)
    }
}

/// A dict that is an event; there is one, into which they are read one after the other.
pub(super) struct UsualEvent {
    /// By position the key of the event before, as the number of its entry of the memo, and what it means: mostly those of
    /// the next are the same. They are forgotten when an entry of the memo becomes another.
    pub(super) keys: Vec<(u32, Word)>,
    pub(super) fields: EventFields,
    /// What becomes entries of the memo behind the dict itself, in this order.
    pub(super) named: Vec<Reference>,
    /// How many items its list has, where there is one in it. They are with the lists that are known, not closed yet.
    pub(super) list: Option<usize>,
    /// The short text and the tuple that came last, by their bytes: PyTorch writes the same ones again for each event.
    last_text: Option<(u64, Pickled)>,
    last_tuple: Option<([u8; 2], Pickled)>,
}

impl UsualEvent {
    pub(super) fn new() -> Self {
        Self {
            keys: Vec::new(),
            fields: EventFields::NONE,
            named: Vec::new(),
            list: None,
            last_text: None,
            last_tuple: None,
        }
    }

    /// The text that `rest` begins with behind its length; what follows it.
    #[inline]
    fn text<'a>(
        &mut self,
        length: u8,
        rest: &'a [u8],
        objects: &mut Objects,
    ) -> Option<(Pickled, &'a [u8])> {
        let (text, after) = rest.split_at_checked(usize::from(length))?;
        let bytes = short_text(length, rest);
        match self.last_text.filter(|(last, _)| Some(*last) == bytes) {
            Some((_, known)) => Some((known, after)),
            None => {
                let value = objects.text(text).ok()?;
                self.last_text = bytes.map(|bytes| (bytes, value));
                Some((value, after))
            }
        }
    }

    /// A tuple of two small numbers.
    #[inline]
    fn tuple(&mut self, bytes: [u8; 2], objects: &mut Objects) -> Option<Pickled> {
        if let Some((_, known)) = self.last_tuple.filter(|(last, _)| *last == bytes) {
            return Some(known);
        }
        let tuple = objects.tuple(&bytes.map(|byte| Pickled::Unsigned(u64::from(byte)))).ok()?;
        self.last_tuple = Some((bytes, tuple));
        Some(tuple)
    }
}

/// Reads what follows an opcode that makes a dict, as far as the dict goes; what follows that. `list` is the object that
/// its list will be. `None` where anything unusual stands in it, or it does not lie in the window as a whole.
#[inline]
pub(super) fn usual_event<'a>(
    rest: &'a [u8],
    objects: &mut Objects,
    event: &mut UsualEvent,
    list: u32,
) -> Option<&'a [u8]> {
    let [0x94, b'(', rest @ ..] = rest else { return None };
    let mut rest = rest;
    event.named.clear();
    event.list = None;
    let (mut position, mut found) = (0_usize, 0_u64);
    loop {
        if let [b'u', after @ ..] = rest {
            event.fields.found = found;
            // An address of both kinds is for who knows the order of keys.
            let has_both = found & Word::Addr.bit() != 0 && found & Word::DeviceFree.bit() != 0;
            return (found & Word::Action.bit() != 0 && !has_both).then_some(after);
        }
        let (key, after) = next_index(rest)?;
        let word = match event.keys.get(position) {
            Some((known, word)) if *known == key => *word,
            _ => key_word(event, position, key, objects)?,
        };
        position = position.saturating_add(1);
        let (value, after) = match after {
            [b'h' | b'j', ..] => {
                let (entry, after) = known(after, &objects.memo)?;
                (objects.value(Reference(entry)), after)
            }
            [0x8A, length @ 0..=9, after @ ..] => {
                let (number, after) = long_ahead(*length, after)?;
                (number.ok()?, after)
            }
            [b'K', a, b'K', b, 0x86, 0x94, after @ ..] => {
                let tuple = event.tuple([*a, *b], objects)?;
                event.named.push(name_of(tuple)?);
                (tuple, after)
            }
            [b'K', number, after @ ..] => (Pickled::Unsigned(u64::from(*number)), after),
            [b'M', a, b, after @ ..] => {
                (Pickled::Unsigned(u64::from(u16::from_le_bytes([*a, *b]))), after)
            }
            [b'J', a, b, c, d, after @ ..] => {
                (integer(i64::from(i32::from_le_bytes([*a, *b, *c, *d]))), after)
            }
            [0x8C, length, after @ ..] => {
                let (text, after) = event.text(*length, after, objects)?;
                let [0x94, after @ ..] = after else { return None };
                event.named.push(name_of(text)?);
                (text, after)
            }
            [b']', 0x94, after @ ..] if event.list.is_none() => {
                let (items, after) = match after {
                    [b'(', after @ ..] => {
                        known_items(after, objects.memo.len(), objects.known_lists.open())?
                    }
                    _ => (0, after),
                };
                event.list = Some(items);
                event.named.push(Reference::new(OBJECT, list));
                (Pickled::Object(list), after)
            }
            _ => return None,
        };
        rest = after;
        match word {
            Word::Other => continue,
            // What would make something else of it.
            Word::Filename
            | Word::Stage
            | Word::State
            | Word::TotalSize
            | Word::Blocks
            | Word::Segments
            | Word::DeviceTraces => return None,
            _ => {}
        }
        if let Some(place) = event.fields.values.get_mut(word as usize) {
            if found & word.bit() != 0 {
                return None;
            }
            found |= word.bit();
            *place = value;
        }
    }
}

/// The bytes of a text of up to seven and its length; `None` of a longer one, or where the window ends soon.
#[inline]
fn short_text(length: u8, rest: &[u8]) -> Option<u64> {
    let unused =
        64_u32.checked_sub(u32::from(length).saturating_mul(8)).filter(|bits| *bits > 7)?;
    let bytes = u64::from_le_bytes(*rest.first_chunk::<8>()?);
    let text = bytes.checked_shl(unused).map_or(0, |text| text >> 8);
    Some(text | (u64::from(length) << 56))
}

/// The entry of the memo of a text or a tuple.
#[inline]
fn name_of(value: Pickled) -> Option<Reference> {
    match value {
        Pickled::Text(row) => Some(Reference::new(TEXT, row)),
        Pickled::Tuple(row) => Some(Reference::new(TUPLE, row)),
        _ => None,
    }
}

/// What a key means that is not the one that the event before has at its position.
#[cold]
fn key_word(event: &mut UsualEvent, position: usize, key: u32, objects: &Objects) -> Option<Word> {
    let entry = *objects.memo.get(key as usize)?;
    let Pickled::Text(text) = objects.value(Reference(entry)) else { return None };
    let word = objects.texts.word(text);
    if position < MOST_KEYS {
        if event.keys.len() <= position {
            event.keys.resize(position.saturating_add(1), (u32::MAX, Word::Other));
        }
        if let Some(place) = event.keys.get_mut(position) {
            *place = (key, word);
        }
    }
    Some(word)
}

/// The entry of the memo that is fetched next, and what follows.
#[inline]
fn known<'a>(rest: &'a [u8], memo: &[u32]) -> Option<(u32, &'a [u8])> {
    let (index, after) = next_index(rest)?;
    Some((*memo.get(index as usize)?, after))
}

/// The number of the entry that is fetched next.
#[inline]
fn next_index(rest: &[u8]) -> Option<(u32, &[u8])> {
    match rest {
        [b'h', index, after @ ..] => Some((u32::from(*index), after)),
        [b'j', a, b, c, d, after @ ..] => Some((u32::from_le_bytes([*a, *b, *c, *d]), after)),
        _ => None,
    }
}

/// Takes the numbers of entries of the memo that are fetched up to the end of a list, no more than a short list has; how
/// many, and what follows it. `None` where anything else comes before, or an entry that the memo does not have.
#[inline]
pub(super) fn known_items<'a>(
    mut rest: &'a [u8],
    memo_len: usize,
    room: &mut [u32],
) -> Option<(usize, &'a [u8])> {
    let (mut count, mut largest) = (0_usize, 0_u32);
    let most = room.len().min(SHORT_LIST);
    loop {
        let mut free = room.get_mut(count..most)?.iter_mut();
        let mut taken = 0_usize;
        match rest {
            [b'e', after @ ..] if count == 0 || (largest as usize) < memo_len => {
                return Some((count, after));
            }
            [b'j', ..] => {
                for ([_, a, b, c, d], place) in
                    rest.as_chunks::<5>().0.iter().take_while(|fetch| fetch[0] == b'j').zip(free)
                {
                    *place = u32::from_le_bytes([*a, *b, *c, *d]);
                    largest = largest.max(*place);
                    taken = taken.saturating_add(1);
                }
                rest = rest.get(taken.saturating_mul(5)..)?;
            }
            [b'h', index, after @ ..] => {
                *free.next()? = u32::from(*index);
                largest = largest.max(u32::from(*index));
                (taken, rest) = (1, after);
            }
            _ => return None,
        }
        if taken == 0 {
            return None;
        }
        count = count.saturating_add(taken);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::short_text;
    use crate::format::Progress;
    use crate::store::Warnings;
    use crate::systems::pytorch::files::read_snapshot;

    #[test]
    fn short_texts_are_told_apart_by_length_and_bytes() {
        let texts = ["", "a", "a\0", "b", "N/A", "1234567"];
        let key = |text: &str, behind: &str| {
            short_text(text.len() as u8, format!("{text}{behind}").as_bytes())
        };
        for (place, text) in texts.iter().enumerate() {
            assert!(key(text, "behind it").is_some());
            assert_eq!(key(text, "behind it"), key(text, "something else"));
            let same =
                texts.iter().position(|other| key(other, "12345678") == key(text, "behind it"));
            assert_eq!(same, Some(place), "{text:?}");
        }
        assert_eq!((key("12345678", "behind it"), key("a", "123456")), (None, None));
    }

    /// A pickle whose memo is written in one of two ways: as PyTorch does, or so that its opcodes are run one by one.
    struct Writer {
        bytes: Vec<u8>,
        memo: u32,
        is_usual: bool,
    }

    impl Writer {
        fn raw(&mut self, bytes: &[u8]) -> &mut Self {
            self.bytes.extend_from_slice(bytes);
            self
        }

        /// Names what is on top; by which number.
        fn name(&mut self) -> u32 {
            if self.is_usual {
                self.raw(&[0x94]);
            } else {
                let number = self.memo.to_le_bytes();
                self.raw(b"r").raw(&number);
            }
            let number = self.memo;
            self.memo = number.saturating_add(1);
            number
        }

        fn text(&mut self, text: &str) -> u32 {
            self.raw(&[0x8C, text.len() as u8]).raw(text.as_bytes());
            self.name()
        }

        fn get(&mut self, number: u32) -> &mut Self {
            self.raw(b"j").raw(&number.to_le_bytes())
        }

        fn frame(&mut self, name: &str) -> u32 {
            self.raw(b"}");
            let frame = self.name();
            self.raw(b"(");
            for key in ["filename", "name"] {
                self.text(key);
                self.text(name);
            }
            self.raw(b"u");
            frame
        }

        /// A list of what is known.
        fn list(&mut self, items: &[u32]) -> &mut Self {
            self.raw(b"]");
            self.name();
            if !items.is_empty() {
                self.raw(b"(");
                for item in items {
                    self.get(*item);
                }
                self.raw(b"e");
            }
            self
        }
    }

    /// Events of every kind, `times` times.
    fn pickle(is_usual: bool, times: usize) -> Vec<u8> {
        // Where numbers are left out, nothing is taken for usual.
        let memo = if is_usual { 0 } else { 5 };
        let mut pickle = Writer { bytes: vec![0x80, 4, b'}', b'('], memo, is_usual };
        let names = [
            "action",
            "addr",
            "size",
            "stream",
            "frames",
            "user_metadata",
            "state",
            "other",
            "alloc",
            "device_free",
            "segments",
        ];
        // Keys and values have to be somewhere before they are known.
        pickle.text("known");
        pickle.raw(b"](");
        let [
            action,
            address,
            size,
            stream,
            frames,
            metadata,
            state,
            other,
            alloc,
            device_free,
            segments,
        ] = names.map(|name| pickle.text(name));
        let known = ["f", "g", "h"].map(|name| pickle.frame(name));
        pickle.raw(b"e");
        pickle.text("device_traces");
        pickle.raw(b"](](");
        for time in 0..times {
            let items: Vec<u32> = (0..time % 40).map(|at| known[(at ^ time) % 3]).collect();
            for what in 0..14 {
                pickle.raw(b"}");
                let event = pickle.name();
                pickle.raw(b"(").get(address).raw(&[0x8A, 6, 0, 0, 1, 2, 3, 4]);
                pickle.get(size).raw(&[b'M', time as u8, 2]).get(stream).raw(&[b'K', what]);
                match what {
                    0 => pickle.get(frames).list(&items),
                    1 => pickle.get(other).list(&items),
                    2 => pickle.get(size).raw(b"J").raw(&(-1_i32).to_le_bytes()),
                    3 => pickle.get(metadata).get(other),
                    4 => pickle.get(state).get(alloc),
                    // By a number that is not there yet.
                    5 => pickle.get(other).list(&[event]).get(frames).list(&items),
                    6 => pickle.get(frames).list(&items).get(other).list(&known),
                    7 => {
                        pickle.get(other).raw(&[b'K', 1, b'K', what, 0x86]);
                        pickle.name();
                        pickle.get(metadata);
                        pickle.text("N/A");
                        // By the number of a text that is not there before the event is.
                        pickle.get(frames).list(&items)
                    }
                    // A key that comes again, and the free bytes of a device before and after an address.
                    8 => pickle.get(address).raw(&[0x8A, 1, 0x80]),
                    9 => pickle.get(device_free).raw(&[b'M', 0, 1]),
                    10 => pickle.get(device_free).raw(&[0x8A, 0]).get(address).raw(&[b'K', 3]),
                    12 => pickle.get(segments).get(alloc),
                    11 => pickle.get(stream).raw(&[0x8A, 9, 1, 2, 3, 4, 5, 6, 7, 0xFF, 0]),
                    _ => {
                        pickle.get(metadata);
                        pickle.text(&format!("text {}", time % 3));
                        &mut pickle
                    }
                };
                if what != 2 {
                    pickle.get(action).get(alloc);
                }
                pickle.raw(b"u");
            }
        }
        pickle.raw(b"ee");
        // The number of a frame becomes that of another, after lists had it.
        pickle.text("later");
        pickle.get(known[1]).raw(b"r").raw(&known[0].to_le_bytes());
        pickle.text("host_traces");
        pickle
            .raw(b"](}(")
            .get(action)
            .get(alloc)
            .get(address)
            .raw(b"K\x01")
            .get(size)
            .raw(b"K\x01");
        pickle.get(frames).list(&known).raw(b"ueu.");
        pickle.bytes
    }

    fn read(bytes: &[u8]) -> String {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let warnings = Warnings::default();
        let read = read_snapshot(file.path(), &warnings, &Progress::default());
        let name = crate::files::file_name(file.path());
        format!("{read:?} {:?}", warnings.list()).replace(&name, "")
    }

    #[test]
    fn events_a_dict_at_a_time_are_those_of_their_opcodes() {
        // Few lists are looked up at once, many by a thread.
        for times in [3, 2000] {
            let (usual, one_by_one) = (read(&pickle(true, times)), read(&pickle(false, times)));
            assert!(usual.starts_with("Ok(Some((Snapshot"), "{}", &usual[..200]);
            assert!(usual == one_by_one, "{times}");
        }
    }
}
