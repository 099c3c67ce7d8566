//! Writes pickles of protocol 4 as CPython does: opcodes in frames of 64 KiB, objects numbered as they come so that they
//! can be named again, lists and dicts filled in parts of a thousand.

use std::io::{Error, Write};

/// A frame is written once it has this many bytes.
const FRAME: usize = 64 << 10;
/// Shorter ones have no head.
const LEAST_FRAME: usize = 4;
/// Items that are put into a list or dict at once.
const AT_ONCE: u64 = 1000;

const MARK: u8 = b'(';
const MEMOIZE: u8 = 0x94;
const APPENDS: u8 = b'e';
const SETITEMS: u8 = b'u';

/// The number of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoId(u32);

/// Items of a list or dict that is being written.
#[derive(Debug, Default)]
pub struct Items {
    open: u64,
}

/// A pickle that is being written. The first error is kept, and nothing is written after it.
pub struct PickleWriter<W> {
    out: W,
    frame: Vec<u8>,
    objects: u32,
    written: u64,
    error: Option<Error>,
}

impl<W: Write> PickleWriter<W> {
    pub fn new(out: W) -> Self {
        let mut pickle =
            Self { out, frame: Vec::with_capacity(FRAME * 2), objects: 0, written: 0, error: None };
        pickle.put(&[0x80, 4]);
        pickle
    }

    /// Ends it; returns the bytes that were written.
    ///
    /// # Errors
    /// What the first thing that could not be written gave.
    pub fn finish(mut self) -> Result<u64, Error> {
        self.frame.push(b'.');
        self.end_frame();
        match self.error {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.written),
        }
    }

    /// Whether something could not be written.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.out.write_all(bytes).err();
            self.written += bytes.len() as u64;
        }
    }

    fn end_frame(&mut self) {
        let frame = std::mem::take(&mut self.frame);
        if frame.len() >= LEAST_FRAME {
            self.put(&[0x95]);
            self.put(&(frame.len() as u64).to_le_bytes());
        }
        self.put(&frame);
        self.frame = frame;
        self.frame.clear();
    }

    /// An opcode and what belongs to it.
    #[inline]
    fn operation(&mut self, code: u8, with: &[u8]) {
        if self.frame.len() >= FRAME {
            self.end_frame();
        }
        self.frame.push(code);
        self.frame.extend_from_slice(with);
    }

    fn numbered(&mut self) -> MemoId {
        self.operation(MEMOIZE, &[]);
        self.objects += 1;
        MemoId(self.objects - 1)
    }

    /// A dict, to be filled.
    pub fn dict(&mut self) -> MemoId {
        self.operation(b'}', &[]);
        self.numbered()
    }

    /// A list, to be filled.
    pub fn list(&mut self) -> MemoId {
        self.operation(b']', &[]);
        self.numbered()
    }

    /// What fills a dict that has few keys: pairs, between these two.
    pub fn begin_pairs(&mut self) {
        self.operation(MARK, &[]);
    }

    pub fn end_pairs(&mut self) {
        self.operation(SETITEMS, &[]);
    }

    /// To be called before each item of a list.
    pub fn item(&mut self, items: &mut Items) {
        if items.open == AT_ONCE {
            self.end_items(items);
        }
        if items.open == 0 {
            self.operation(MARK, &[]);
        }
        items.open += 1;
    }

    /// To be called after the last item of a list.
    pub fn end_items(&mut self, items: &mut Items) {
        if std::mem::take(&mut items.open) > 0 {
            self.operation(APPENDS, &[]);
        }
    }

    /// An object that was written before.
    #[inline]
    pub fn again(&mut self, MemoId(number): MemoId) {
        match u8::try_from(number) {
            Ok(number) => self.operation(b'h', &[number]),
            Err(_) => self.operation(b'j', &number.to_le_bytes()),
        }
    }

    pub fn text(&mut self, text: &str) -> MemoId {
        match u8::try_from(text.len()) {
            Ok(length) => self.operation(0x8c, &[length]),
            Err(_) => {
                let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
                self.operation(b'X', &length.to_le_bytes());
            }
        }
        self.frame.extend_from_slice(text.as_bytes());
        self.numbered()
    }

    /// An integer that is not negative.
    #[inline]
    pub fn integer(&mut self, number: u64) {
        let bytes = number.to_le_bytes();
        if number <= 0xff {
            self.operation(b'K', &bytes[..1]);
        } else if number <= 0xffff {
            self.operation(b'M', &bytes[..2]);
        } else if i32::try_from(number).is_ok() {
            self.operation(b'J', &bytes[..4]);
        } else {
            // The highest bit is the sign, so a byte more may be needed.
            let length = 8 - number.leading_zeros() as usize / 8;
            let mut with = [0; 10];
            with[0] = (length + usize::from(number.leading_zeros().is_multiple_of(8))) as u8;
            with[1..9].copy_from_slice(&bytes);
            let end = usize::from(with[0]) + 1;
            self.operation(0x8a, &with[..end]);
        }
    }

    /// An integer below zero.
    pub fn negative(&mut self, number: i32) {
        self.operation(b'J', &number.to_le_bytes());
    }

    /// A number with a point.
    pub fn float(&mut self, number: f64) {
        self.operation(b'G', &number.to_be_bytes());
    }

    /// True or false.
    pub fn boolean(&mut self, is_true: bool) {
        self.operation(if is_true { 0x88 } else { 0x89 }, &[]);
    }

    /// A pair of the two values that were written last.
    pub fn pair(&mut self) -> MemoId {
        self.operation(0x86, &[]);
        self.numbered()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_as_short_as_those_of_python() {
        let written = |number| {
            let mut bytes = Vec::new();
            let mut pickle = PickleWriter::new(&mut bytes);
            pickle.integer(number);
            pickle.finish().unwrap();
            // Protocol and head of the frame before, the end behind.
            bytes[11..bytes.len() - 1].to_vec()
        };
        assert_eq!(written(0x1234), [b'M', 0x34, 0x12]);
        assert_eq!(written(0x7fff_ffff), [b'J', 0xff, 0xff, 0xff, 0x7f]);
        assert_eq!(written(0x8000_0000), [0x8a, 5, 0, 0, 0, 0x80, 0]);
        assert_eq!(written(0x7f00_0000_0000), [0x8a, 6, 0, 0, 0, 0, 0, 0x7f]);
        assert_eq!(written(1 << 47), [0x8a, 7, 0, 0, 0, 0, 0, 0x80, 0]);
        assert_eq!(written(u64::MAX), [&[0x8a, 9][..], &[0xff; 8], &[0]].concat());
    }

    #[test]
    fn short_frames_have_no_head() {
        let mut bytes = Vec::new();
        let mut pickle = PickleWriter::new(&mut bytes);
        pickle.integer(1);
        assert_eq!(pickle.finish().unwrap(), 5);
        assert_eq!(bytes, [0x80, 4, b'K', 1, b'.']);
    }

    #[test]
    fn what_cannot_be_written_is_said_at_the_end() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> Result<usize, Error> {
                Err(Error::other("full"))
            }
            fn flush(&mut self) -> Result<(), Error> {
                Ok(())
            }
        }
        let mut pickle = PickleWriter::new(Full);
        assert!(pickle.has_failed());
        pickle.integer(1);
        assert!(pickle.finish().is_err());
    }
}
