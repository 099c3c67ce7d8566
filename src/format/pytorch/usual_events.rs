//! Events as PyTorch writes them, a dict at a time: keys and texts that were there before, numbers, a list of frames that
//! are known. Of a large snapshot nearly all opcodes are of these; the machine runs what is otherwise one by one.

use super::machine::{integer, long};
use super::objects::{Objects, SHORT_LIST};
use super::values::{Reference, Value};
use super::word::Word;

/// Keys whose meaning is kept: more than PyTorch writes.
const MOST_KEYS: usize = 32;

/// A dict that is an event; there is one, into which they are read one after the other.
#[derive(Default)]
pub(super) struct UsualEvent {
    /// By position the key of the event before, as the number of its entry of the memo, and what it means: mostly those of
    /// the next are the same. They are forgotten when an entry of the memo becomes another.
    pub(super) keys: Vec<(u32, Word)>,
    /// What has a key that means something.
    pub(super) pairs: Vec<(Word, Value)>,
    /// Whether there is a list in it, and one with items, which are with the lists that are known, not closed yet.
    pub(super) list: Option<bool>,
}

/// Reads what follows an opcode that makes a dict, as far as the dict goes; what follows that. `list` is the object that
/// its list will be. `None` where anything unusual stands in it, or it does not lie in the window as a whole.
#[inline]
pub(super) fn usual_event<'a>(
    rest: &'a [u8],
    objects: &mut Objects,
    (event, list): (&mut UsualEvent, u32),
) -> Option<&'a [u8]> {
    let [0x94, b'(', rest @ ..] = rest else { return None };
    let mut rest = rest;
    event.pairs.clear();
    event.list = None;
    let mut has_action = false;
    let mut position = 0_usize;
    loop {
        if let [b'u', after @ ..] = rest {
            return has_action.then_some(after);
        }
        let (key, after) = next_index(rest)?;
        let word = match event.keys.get(position) {
            Some((known, word)) if *known == key => *word,
            _ => key_word(event, (position, key), objects)?,
        };
        position = position.saturating_add(1);
        let (value, after) = match after {
            [b'h' | b'j', ..] => {
                let (entry, after) = known(after, &objects.memo)?;
                (objects.value(Reference(entry)), after)
            }
            [b'K', number, after @ ..] => (Value::Unsigned(u64::from(*number)), after),
            [b'M', a, b, after @ ..] => {
                (Value::Unsigned(u64::from(u16::from_le_bytes([*a, *b]))), after)
            }
            [b'J', a, b, c, d, after @ ..] => {
                (integer(i64::from(i32::from_le_bytes([*a, *b, *c, *d]))), after)
            }
            [0x8A, length @ 0..=9, after @ ..] => {
                let (bytes, after) = after.split_at_checked(usize::from(*length))?;
                (long(bytes).ok()?, after)
            }
            [b']', 0x94, after @ ..] if event.list.is_none() => {
                let items = after.split_first().filter(|(opcode, _)| **opcode == b'(');
                event.list = Some(items.is_some());
                let after = match items {
                    Some((_, items)) => {
                        known_items(items, objects.memo.len(), objects.known_lists.open())?
                    }
                    None => after,
                };
                (Value::Object(list), after)
            }
            _ => return None,
        };
        rest = after;
        match word {
            Word::Other => continue,
            // What would make something else of it.
            Word::Filename | Word::Stage | Word::State | Word::TotalSize | Word::Blocks => {
                return None;
            }
            Word::Action => has_action = true,
            _ => {}
        }
        event.pairs.push((word, value));
    }
}

/// What a key means that is not the one that the event before has at its position.
#[cold]
fn key_word(
    event: &mut UsualEvent,
    (position, key): (usize, u32),
    objects: &Objects,
) -> Option<Word> {
    let entry = *objects.memo.get(key as usize)?;
    let Value::Text(text) = objects.value(Reference(entry)) else { return None };
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
        [b'j', a, b, c, d, after @ ..] => Some((u32::from_le_bytes([*a, *b, *c, *d]), after)),
        [b'h', index, after @ ..] => Some((u32::from(*index), after)),
        _ => None,
    }
}

/// Adds the numbers of entries of the memo that are fetched up to the end of a list, no more than a short list has; what
/// follows it. `None` where anything else comes before, or an entry that the memo does not have.
#[inline]
pub(super) fn known_items<'a>(
    mut rest: &'a [u8],
    memo_len: usize,
    items: &mut Vec<u32>,
) -> Option<&'a [u8]> {
    let most = items.len().saturating_add(SHORT_LIST);
    loop {
        // Mostly all have numbers of four bytes, which are taken without a look at each.
        let (fetches, _) = rest.as_chunks::<5>();
        let room = most.saturating_sub(items.len());
        let run = fetches.iter().take(room).take_while(|[opcode, ..]| *opcode == b'j').count();
        let indices = fetches.iter().take(run).map(|[_, a, b, c, d]| [*a, *b, *c, *d]);
        let indices = indices.map(u32::from_le_bytes);
        let largest = indices.clone().max().unwrap_or(0);
        items.extend(indices);
        rest = rest.get(run.saturating_mul(5)..)?;
        match rest {
            _ if largest as usize >= memo_len => return None,
            [b'e', after @ ..] => return Some(after),
            [b'h', index, after @ ..] if items.len() < most => {
                if usize::from(*index) >= memo_len {
                    return None;
                }
                items.push(u32::from(*index));
                rest = after;
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use crate::format::Progress;
    use crate::format::pytorch::read_snapshot;
    use crate::store::Warnings;

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
        ];
        // Keys and values have to be somewhere before they are known.
        pickle.text("known");
        pickle.raw(b"](");
        let [action, address, size, stream, frames, metadata, state, other, alloc] =
            names.map(|name| pickle.text(name));
        let known = ["f", "g", "h"].map(|name| pickle.frame(name));
        pickle.raw(b"e");
        pickle.text("device_traces");
        pickle.raw(b"](](");
        for time in 0..times {
            let items: Vec<u32> = (0..time % 40).map(|at| known[(at ^ time) % 3]).collect();
            for what in 0..8 {
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
