//! The machine that a pickle is a program for (formats/pytorch.md 2): a stack, marks, a memo. It makes dicts, lists,
//! tuples, texts and numbers. Opcodes that import or call something are refused by name, and nothing is run.

use super::objects::{Objects, UNSET};
use super::usual_events::{UsualEvent, known_items, usual_event};
use super::values::{Fault, OBJECT, Pickled, PyObject, Reference};
use crate::limits;

/// Marks that can be open at once: real snapshots have about six.
const MOST_MARKS: usize = 10_000;

/// Bytes of a text that must lie in the window as a whole; of longer ones the beginning is kept.
pub(super) const LONGEST_TEXT: usize = limits::NAME_BYTES;

/// Why the machine stopped in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    /// The next opcode does not lie in the window as a whole.
    NeedsMore,
    /// So many bytes of a long text are to be passed over.
    Skip(u64),
    /// The end of the pickle.
    Stop,
}

pub(super) struct Machine {
    pub(super) objects: Objects,
    pub(super) stack: Vec<Pickled>,
    pub(super) marks: Vec<usize>,
    /// Whether the memo has an entry for each number.
    has_whole_memo: bool,
    /// An event on its way.
    event: UsualEvent,
    /// What lies below the last mark is out of reach.
    floor: usize,
    /// Bytes of the file, which no length may go beyond.
    file_bytes: u64,
}

impl Machine {
    pub(super) fn new(file_bytes: u64) -> Self {
        Self {
            objects: Objects::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            has_whole_memo: true,
            event: UsualEvent::new(),
            floor: 0,
            file_bytes,
        }
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        let stack = self.stack.capacity().saturating_mul(size_of::<Pickled>());
        self.objects.bytes().saturating_add(stack)
    }

    /// Lets go of the memo, when nothing more is read.
    pub(super) fn into_objects(mut self) -> Objects {
        self.objects.memo = Vec::new();
        self.objects
    }

    /// Runs the opcodes in a window of the file, which begins at `offset`. Says how many bytes are done, and why it
    /// stopped; an error is about the opcode behind these bytes.
    pub(super) fn run(&mut self, window: &[u8], offset: u64) -> (usize, Result<Pause, Fault>) {
        let mut rest = window;
        let result = self.steps(&mut rest, window.len(), offset);
        (window.len().saturating_sub(rest.len()), result)
    }

    fn steps(
        &mut self,
        window: &mut &[u8],
        window_bytes: usize,
        offset: u64,
    ) -> Result<Pause, Fault> {
        loop {
            let Some((opcode, after)) = window.split_first() else { return Ok(Pause::NeedsMore) };
            /// The next so many bytes as an array, and what follows them.
            macro_rules! array {
                ($n:literal) => {
                    match after.split_first_chunk::<$n>() {
                        Some(found) => found,
                        None => return Ok(Pause::NeedsMore),
                    }
                };
            }
            *window = match opcode {
                b'j' => {
                    let (index, after) = array!(4);
                    self.fetch(u32::from_le_bytes(*index))?;
                    after
                }
                b'h' => {
                    let ([index], after) = array!(1);
                    self.fetch(u32::from(*index))?;
                    after
                }
                0x94 => {
                    self.memoize(self.objects.memo.len())?;
                    after
                }
                0x8A => {
                    let ([length], after) = array!(1);
                    if *length > 9 {
                        return Err(Fault::new(format!("an integer of {length} bytes")));
                    }
                    let Some((number, after)) = long_ahead(*length, after) else {
                        return Ok(Pause::NeedsMore);
                    };
                    self.stack.push(number?);
                    after
                }
                b'(' => {
                    if let Some(after) = self.list_of_known(after)? {
                        *window = after;
                        continue;
                    }
                    if self.marks.len() >= MOST_MARKS {
                        return Err(Fault::new(format!("more than {MOST_MARKS} marks")));
                    }
                    self.floor = self.stack.len();
                    self.marks.push(self.floor);
                    after
                }
                b'K' => {
                    let ([number], after) = array!(1);
                    self.stack.push(Pickled::Unsigned(u64::from(*number)));
                    after
                }
                b'M' => {
                    let (number, after) = array!(2);
                    self.stack.push(Pickled::Unsigned(u64::from(u16::from_le_bytes(*number))));
                    after
                }
                b'J' => {
                    let (number, after) = array!(4);
                    self.stack.push(integer(i64::from(i32::from_le_bytes(*number))));
                    after
                }
                b'}' => {
                    if let Some(after) = self.usual_event(after)? {
                        *window = after;
                        continue;
                    }
                    let dict = self.objects.new_object(PyObject::EmptyDict)?;
                    self.stack.push(Pickled::Object(dict));
                    after
                }
                b']' => {
                    let list = self.objects.new_object(PyObject::EmptyList)?;
                    self.stack.push(Pickled::Object(list));
                    after
                }
                b'u' => {
                    let (dict, mark) = self.below_mark()?;
                    self.objects.set(dict, self.stack.get(mark..).unwrap_or_default())?;
                    self.end_mark(mark);
                    after
                }
                b'e' => {
                    let (list, mark) = self.below_mark()?;
                    self.objects.append(list, self.stack.get(mark..).unwrap_or_default())?;
                    self.end_mark(mark);
                    after
                }
                0x8C => {
                    let ([length], after) = array!(1);
                    let Some((text, after)) = after.split_at_checked(usize::from(*length)) else {
                        return Ok(Pause::NeedsMore);
                    };
                    let text = self.objects.text(text)?;
                    self.stack.push(text);
                    after
                }
                b'X' | 0x8D => {
                    let (length, after) = if *opcode == b'X' {
                        let (length, after) = array!(4);
                        (u64::from(u32::from_le_bytes(*length)), after)
                    } else {
                        let (length, after) = array!(8);
                        (u64::from_le_bytes(*length), after)
                    };
                    let here =
                        offset.saturating_add((window_bytes.saturating_sub(after.len())) as u64);
                    if length > self.file_bytes.saturating_sub(here) {
                        return Err(Fault::new(format!(
                            "a text of {length} bytes, more than are left"
                        )));
                    }
                    let kept = usize::try_from(length).unwrap_or(usize::MAX).min(LONGEST_TEXT);
                    let Some((text, after)) = after.split_at_checked(kept) else {
                        return Ok(Pause::NeedsMore);
                    };
                    let text = self.objects.text(text)?;
                    self.stack.push(text);
                    let more = length.saturating_sub(kept as u64);
                    if more > 0 {
                        *window = after;
                        return Ok(Pause::Skip(more));
                    }
                    after
                }
                b'a' => {
                    let item = self.pop()?;
                    let list = self.top_object()?;
                    self.objects.append(list, &[item])?;
                    after
                }
                b's' => {
                    let (value, key) = (self.pop()?, self.pop()?);
                    let dict = self.top_object()?;
                    self.objects.set(dict, &[key, value])?;
                    after
                }
                b'N' => {
                    self.stack.push(Pickled::None);
                    after
                }
                0x88 | 0x89 => {
                    self.stack.push(Pickled::Bool(*opcode == 0x88));
                    after
                }
                b'G' => {
                    let (number, after) = array!(8);
                    self.stack.push(Pickled::Float(f64::from_be_bytes(*number)));
                    after
                }
                b')' => {
                    let tuple = self.objects.tuple(&[])?;
                    self.stack.push(tuple);
                    after
                }
                0x85..=0x87 => {
                    self.tuple_of_top(usize::from(opcode & 3))?;
                    after
                }
                b't' | b'l' | b'd' => {
                    self.make_of_marked(*opcode)?;
                    after
                }
                b'q' => {
                    let ([index], after) = array!(1);
                    self.memoize(usize::from(*index))?;
                    after
                }
                b'r' => {
                    let (index, after) = array!(4);
                    let index = u32::from_le_bytes(*index) as usize;
                    let passed = offset.saturating_add(window_bytes as u64);
                    if index as u64 > passed {
                        return Err(Fault::new(format!(
                            "memo entry {index}, more than bytes before it"
                        )));
                    }
                    self.memoize(index)?;
                    after
                }
                0x95 => array!(8).1,
                0x80 => {
                    let ([version], after) = array!(1);
                    if !(2..=5).contains(version) {
                        return Err(Fault::new(format!(
                            "pickle protocol 2 to 5 expected, {version} found"
                        )));
                    }
                    after
                }
                b'.' => {
                    *window = after;
                    return Ok(Pause::Stop);
                }
                other => return Err(refused(*other)),
            };
        }
    }

    /// What the pickle gives: the one value that is left.
    pub(super) fn result(&self) -> Option<Pickled> {
        self.stack.last().copied()
    }

    #[inline]
    fn fetch(&mut self, index: u32) -> Result<(), Fault> {
        match self.objects.memo.get(index as usize) {
            Some(entry) if *entry != UNSET => {
                let value = self.objects.value(Reference(*entry));
                self.stack.push(value);
                Ok(())
            }
            _ => Err(Fault::new(format!("memo entry {index} was never set"))),
        }
    }

    /// Fills an empty list on top of the stack with entries of the memo, where nothing else follows a mark up to the
    /// end of the list: most of a large snapshot are stacks of frames that are known. Returns what follows; `None`
    /// where something else does, or it does not lie in the window as a whole.
    #[inline]
    fn list_of_known<'a>(&mut self, rest: &'a [u8]) -> Result<Option<&'a [u8]>, Fault> {
        if !matches!(rest, [b'j' | b'h', ..]) {
            return Ok(None);
        }
        if !self.has_whole_memo || self.objects.known_lists.is_settled() {
            return Ok(None);
        }
        let Ok(list) = self.top_object() else { return Ok(None) };
        if self.objects.kind(list) != PyObject::EmptyList {
            return Ok(None);
        }
        let room = self.objects.known_lists.open();
        let Some((items, after)) = known_items(rest, self.objects.memo.len(), room) else {
            return Ok(None);
        };
        self.objects.fill(list, items)?;
        Ok(Some(after))
    }

    /// Makes an event of the dict that an opcode just made, where it is one as PyTorch writes them; what follows it.
    #[inline]
    fn usual_event<'a>(&mut self, rest: &'a [u8]) -> Result<Option<&'a [u8]>, Fault> {
        let can_be = self.has_whole_memo
            && !self.objects.known_lists.is_settled()
            && self.marks.len() < MOST_MARKS;
        if !can_be {
            return Ok(None);
        }
        let list = self.objects.len().saturating_add(1);
        let after = usual_event(rest, &mut self.objects, &mut self.event, list);
        let Some(after) = after else { return Ok(None) };
        let dict = self.objects.new_event(&self.event.fields)?;
        self.objects.memo.push(Reference::new(OBJECT, dict).0);
        self.objects.memo.extend(self.event.named.iter().map(|named| named.0));
        if let Some(items) = self.event.list {
            let list = self.objects.new_object(PyObject::EmptyList)?;
            if items > 0 {
                self.objects.fill(list, items)?;
            }
        }
        self.stack.push(Pickled::Object(dict));
        Ok(Some(after))
    }

    #[inline]
    fn memoize(&mut self, index: usize) -> Result<(), Fault> {
        let top = *self.stack.get(self.floor..).and_then(<[Pickled]>::last).ok_or_else(nothing)?;
        let entry = self.objects.reference(top)?.0;
        if index == self.objects.memo.len() {
            self.objects.memo.push(entry);
            return Ok(());
        }
        self.memoize_elsewhere(index, entry)
    }

    #[cold]
    fn memoize_elsewhere(&mut self, index: usize, entry: u32) -> Result<(), Fault> {
        if index >= self.objects.memo.len() {
            // Numbers are given in turn; a few may be left out.
            let most = self.objects.memo.len().saturating_mul(2).saturating_add(1 << 16);
            if index > most {
                return Err(Fault::new(format!(
                    "memo entry {index}, where there are {}",
                    self.objects.memo.len()
                )));
            }
            self.has_whole_memo = false;
            self.objects.memo.resize(index.saturating_add(1), UNSET);
        }
        if self.objects.memo.get(index).is_some_and(|old| *old != UNSET && *old != entry) {
            // Lists that were filled with the one before have that one.
            self.objects.settle()?;
        }
        self.event.keys.clear();
        if let Some(place) = self.objects.memo.get_mut(index) {
            *place = entry;
        }
        Ok(())
    }

    #[inline]
    fn pop(&mut self) -> Result<Pickled, Fault> {
        if self.stack.len() <= self.floor {
            return Err(nothing());
        }
        self.stack.pop().ok_or_else(nothing)
    }

    /// The object on top, which stays there.
    #[inline]
    fn top_object(&self) -> Result<u32, Fault> {
        match self.stack.get(self.floor..).and_then(<[Pickled]>::last) {
            Some(Pickled::Object(object)) => Ok(*object),
            Some(_) => Err(Fault::new("a dict or list expected, something else found")),
            None => Err(nothing()),
        }
    }

    /// The object below the last mark, and where the mark is.
    #[inline]
    fn below_mark(&self) -> Result<(u32, usize), Fault> {
        let mark = *self.marks.last().ok_or_else(no_mark)?;
        let floor = self.floor_below();
        match self.stack.get(floor..mark).and_then(<[Pickled]>::last) {
            Some(Pickled::Object(object)) => Ok((*object, mark)),
            Some(_) => Err(Fault::new("a dict or list expected, something else found")),
            None => Err(nothing()),
        }
    }

    fn floor_below(&self) -> usize {
        let below = self.marks.len().checked_sub(2).and_then(|mark| self.marks.get(mark));
        below.copied().unwrap_or(0)
    }

    /// Takes the last mark away with what lies above it.
    #[inline]
    fn end_mark(&mut self, mark: usize) {
        self.stack.truncate(mark);
        self.marks.pop();
        self.floor = self.marks.last().copied().unwrap_or(0);
    }

    fn tuple_of_top(&mut self, items: usize) -> Result<(), Fault> {
        let start = self.stack.len().checked_sub(items).filter(|start| *start >= self.floor);
        let start = start.ok_or_else(nothing)?;
        let tuple = self.objects.tuple(self.stack.get(start..).unwrap_or_default())?;
        self.stack.truncate(start);
        self.stack.push(tuple);
        Ok(())
    }

    fn make_of_marked(&mut self, opcode: u8) -> Result<(), Fault> {
        let mark = *self.marks.last().ok_or_else(no_mark)?;
        let items = self.stack.get(mark..).unwrap_or_default();
        let made = match opcode {
            b't' => self.objects.tuple(items)?,
            b'l' => {
                let list = self.objects.new_object(PyObject::EmptyList)?;
                self.objects.append(list, items)?;
                Pickled::Object(list)
            }
            _ => {
                let dict = self.objects.new_object(PyObject::EmptyDict)?;
                self.objects.set(dict, items)?;
                Pickled::Object(dict)
            }
        };
        self.end_mark(mark);
        self.stack.push(made);
        Ok(())
    }
}

fn nothing() -> Fault {
    Fault::new("a value on the stack expected, nothing found")
}

fn no_mark() -> Fault {
    Fault::new("a mark expected, none found")
}

#[inline]
pub(super) fn integer(number: i64) -> Pickled {
    u64::try_from(number).map_or(Pickled::Negative(number), Pickled::Unsigned)
}

/// A number of so many bytes in two's complement, the lowest byte first, and what follows it; `None` where not all of it
/// is there.
#[inline]
pub(super) fn long_ahead(length: u8, rest: &[u8]) -> Option<(Result<Pickled, Fault>, &[u8])> {
    let bytes = usize::from(length);
    // Of no more than eight bytes it is taken with what stands behind it, without a loop over them.
    if let (1..=8, Some(eight)) = (bytes, rest.first_chunk::<8>()) {
        let unused = 64_u32.saturating_sub(u32::from(length).saturating_mul(8));
        let number = i64::from_le_bytes(*eight).wrapping_shl(unused).wrapping_shr(unused);
        return Some((Ok(integer(number)), rest.get(bytes..)?));
    }
    let (bytes, after) = rest.split_at_checked(bytes)?;
    Some((long(bytes), after))
}

/// A number in two's complement, the lowest byte first.
fn long(bytes: &[u8]) -> Result<Pickled, Fault> {
    let Some(last) = bytes.last() else { return Ok(Pickled::Unsigned(0)) };
    let is_negative = last & 0x80 != 0;
    let mut all = [if is_negative { 0xFF } else { 0 }; 16];
    for (place, byte) in all.iter_mut().zip(bytes) {
        *place = *byte;
    }
    let number = i128::from_le_bytes(all);
    match (u64::try_from(number), i64::try_from(number)) {
        (Ok(number), _) => Ok(Pickled::Unsigned(number)),
        (_, Ok(number)) => Ok(Pickled::Negative(number)),
        _ => Err(Fault::new("an integer beyond 64 bits")),
    }
}

/// The refusal of an opcode that plain data does not need.
fn refused(opcode: u8) -> Fault {
    let name = match opcode {
        b'c' => "GLOBAL",
        0x93 => "STACK_GLOBAL",
        b'R' => "REDUCE",
        b'b' => "BUILD",
        b'i' => "INST",
        b'o' => "OBJ",
        0x81 => "NEWOBJ",
        0x92 => "NEWOBJ_EX",
        b'P' => "PERSID",
        b'Q' => "BINPERSID",
        0x82 => "EXT1",
        0x83 => "EXT2",
        0x84 => "EXT4",
        _ => {
            return Fault::new(format!(
                "opcode 0x{opcode:02x}, which plain data does not need; nothing was run"
            ));
        }
    };
    Fault::new(format!("{name} would run code; nothing was run"))
}
