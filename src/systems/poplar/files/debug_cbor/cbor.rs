//! CBOR (RFC 8949) as a stream of items, from a block of bytes that is filled again and again: files have tens of
//! millions of items, so none of them costs a call to the system or an allocation.

use std::io::{ErrorKind, Read};

/// Bytes that are read at once. No longer piece of a text is looked at in place.
const BLOCK: usize = 1 << 18;

/// Why reading ended.
#[derive(Debug)]
pub enum Stop {
    /// The file ends too soon.
    Truncated,
    /// The file is not what it should be.
    Fault(String),
}

/// An item, or the head of one; the length of an open one is not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item {
    Unsigned(u64),
    Negative(u64),
    Bytes(Option<u64>),
    Text(Option<u64>),
    Array(Option<u64>),
    Map(Option<u64>),
    Tag(u64),
    Simple(u8),
    Float(f64),
    /// The end of an open one.
    Break,
}

pub struct Cbor<R> {
    source: R,
    block: Box<[u8]>,
    /// What of the block is not passed yet.
    at: usize,
    end: usize,
    /// Bytes of the file before the block.
    before: u64,
}

impl<R: Read> Cbor<R> {
    pub fn new(source: R) -> Self {
        Self::in_blocks_of(BLOCK, source)
    }

    /// The same for who wants little of it: so many bytes are read at once.
    pub fn in_blocks_of(bytes: usize, source: R) -> Self {
        Self { source, block: vec![0; bytes].into(), at: 0, end: 0, before: 0 }
    }

    /// Bytes of the file that are passed.
    pub fn offset(&self) -> u64 {
        self.before.saturating_add(self.at as u64)
    }

    pub fn item(&mut self) -> Result<Item, Stop> {
        let head = *self.next(1)?.first().ok_or(Stop::Truncated)?;
        let (major, short) = (head >> 5, head & 31);
        let argument = match short {
            0..24 => Some(u64::from(short)),
            24 => Some(u64::from(u8::from_be_bytes(self.array()?))),
            25 => Some(u64::from(u16::from_be_bytes(self.array()?))),
            26 => Some(u64::from(u32::from_be_bytes(self.array()?))),
            27 => Some(u64::from_be_bytes(self.array()?)),
            31 => None,
            _ => return Err(self.no_item()),
        };
        Ok(match (major, argument) {
            (0, Some(number)) => Item::Unsigned(number),
            (1, Some(number)) => Item::Negative(number),
            (2, length) => Item::Bytes(length),
            (3, length) => Item::Text(length),
            (4, length) => Item::Array(length),
            (5, length) => Item::Map(length),
            (6, Some(tag)) => Item::Tag(tag),
            (7, None) => Item::Break,
            (7, Some(bits)) => match short {
                25 => Item::Float(half(bits as u16)),
                26 => Item::Float(f64::from(f32::from_bits(bits as u32))),
                27 => Item::Float(f64::from_bits(bits)),
                _ => Item::Simple(bits as u8),
            },
            _ => return Err(self.no_item()),
        })
    }

    /// Whether another item of an array or map follows, of which so many are `left`; passes the end mark of an open
    /// one.
    pub fn has_next(&mut self, left: &mut Option<u64>) -> Result<bool, Stop> {
        if let Some(count) = left {
            let more = *count > 0;
            *count = count.saturating_sub(1);
            return Ok(more);
        }
        self.fill(1)?;
        let is_end = self.block.get(self.at) == Some(&0xFF);
        self.at = self.at.saturating_add(usize::from(is_end));
        Ok(!is_end)
    }

    /// Passes so many bytes and shows them, at most a block.
    pub fn next(&mut self, length: usize) -> Result<&[u8], Stop> {
        self.fill(length)?;
        let start = self.at;
        let end = start.saturating_add(length);
        self.at = end;
        self.block.get(start..end).ok_or(Stop::Truncated)
    }

    /// Calls `each` with the bytes of a text or byte string piece by piece, so that a length costs nothing before its
    /// bytes have come.
    pub fn each_piece(
        &mut self,
        length: Option<u64>,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), Stop> {
        let Some(length) = length else {
            let mut open = None;
            while self.has_next(&mut open)? {
                match self.item()? {
                    Item::Text(Some(length)) | Item::Bytes(Some(length)) => {
                        self.pieces(length, &mut each)?;
                    }
                    _ => return Err(Stop::Fault("a piece of a text expected".to_owned())),
                }
            }
            return Ok(());
        };
        self.pieces(length, &mut each)
    }

    fn pieces(&mut self, length: u64, each: &mut impl FnMut(&[u8])) -> Result<(), Stop> {
        let mut left = length;
        while left > 0 {
            if self.at == self.end {
                self.fill(1)?;
            }
            let there = self.block.get(self.at..self.end).unwrap_or(&[]);
            let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(there.len());
            each(there.get(..wanted).unwrap_or(&[]));
            self.at = self.at.saturating_add(wanted);
            left = left.saturating_sub(wanted as u64);
        }
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        self.next(N)?.try_into().map_err(|_| Stop::Truncated)
    }

    /// Sees to it that so many bytes are there, at most a block.
    #[inline]
    fn fill(&mut self, wanted: usize) -> Result<(), Stop> {
        if self.end.saturating_sub(self.at) < wanted { self.fill_block(wanted) } else { Ok(()) }
    }

    #[cold]
    fn fill_block(&mut self, wanted: usize) -> Result<(), Stop> {
        self.block.copy_within(self.at..self.end, 0);
        self.before = self.before.saturating_add(self.at as u64);
        self.end = self.end.saturating_sub(self.at);
        self.at = 0;
        while self.end < wanted {
            let room = self.block.get_mut(self.end..).unwrap_or(&mut []);
            match self.source.read(room) {
                Ok(0) => return Err(Stop::Truncated),
                Ok(read) => self.end = self.end.saturating_add(read).min(self.block.len()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Stop::Fault(error.to_string())),
            }
        }
        Ok(())
    }

    fn no_item(&self) -> Stop {
        Stop::Fault(format!("no CBOR item begins at {}", self.offset().saturating_sub(1)))
    }
}

/// A number of half precision (RFC 8949, appendix D).
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (bits >> 10 & 31, f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2.0_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (fraction + 1024.0) * 2.0_f64.powi(i32::from(exponent)) * 2.0_f64.powi(-25),
    };
    if bits >> 15 == 0 { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ciborium_ll::{Decoder, Header};
    use proptest::prelude::*;

    /// A source that hands out few bytes at once.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let (now, later) = self.0.split_at(self.1.min(self.0.len()).min(buffer.len()));
            buffer[..now.len()].copy_from_slice(now);
            self.0 = later;
            Ok(now.len())
        }
    }

    fn same(ours: Item, theirs: Header) -> bool {
        let length = |length: Option<usize>| length.map(|length| length as u64);
        match (ours, theirs) {
            (Item::Unsigned(a), Header::Positive(b)) | (Item::Negative(a), Header::Negative(b)) => {
                a == b
            }
            (Item::Bytes(a), Header::Bytes(b))
            | (Item::Text(a), Header::Text(b))
            | (Item::Array(a), Header::Array(b))
            | (Item::Map(a), Header::Map(b)) => a == length(b),
            (Item::Tag(a), Header::Tag(b)) => a == b,
            (Item::Simple(a), Header::Simple(b)) => a == b,
            (Item::Float(a), Header::Float(b)) => {
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
            }
            (Item::Break, Header::Break) => true,
            _ => false,
        }
    }

    proptest! {
        /// Heads as another implementation reads them, from whatever bytes.
        #[test]
        fn items_are_those_of_another_reader(
            bytes in proptest::collection::vec(any::<u8>(), 0..60),
            at_once in 1..9_usize,
        ) {
            let mut ours = Cbor::new(Trickle(&bytes, at_once));
            let mut theirs = Decoder::from(&*bytes);
            loop {
                match (ours.item(), theirs.pull()) {
                    (Ok(ours), Ok(theirs)) => prop_assert!(same(ours, theirs), "{ours:?}, {theirs:?}"),
                    // What follows a value of one byte must be above 31; nothing depends on it here.
                    (Ok(Item::Simple(value)), Err(_)) => prop_assert!(value < 32),
                    (Err(_), Err(_)) => break,
                    (ours, theirs) => prop_assert!(false, "{ours:?}, {theirs:?}"),
                }
                prop_assert_eq!(ours.offset(), theirs.offset() as u64);
            }
        }
    }

    #[test]
    fn texts_come_in_pieces_and_a_length_costs_nothing() {
        let mut long = vec![0x7A, 0, 8, 0, 0];
        long.resize(5 + (1 << 19), b'x');
        let mut cbor = Cbor::new(&*long);
        assert_eq!(cbor.item().expect("a head"), Item::Text(Some(1 << 19)));
        let mut seen = 0;
        cbor.each_piece(Some(1 << 19), |piece| seen += piece.len()).expect("a text");
        assert_eq!((seen, cbor.offset()), (1 << 19, long.len() as u64));

        let open = [0x7F, 0x62, b'a', b'b', 0x61, b'c', 0xFF, 0x00];
        let mut cbor = Cbor::new(Trickle(&open, 1));
        assert_eq!(cbor.item().expect("a head"), Item::Text(None));
        let mut text = Vec::new();
        cbor.each_piece(None, |piece| text.extend_from_slice(piece)).expect("a text");
        assert_eq!(text, b"abc");
        assert_eq!(cbor.item().expect("a number"), Item::Unsigned(0));

        let mut cbor = Cbor::new(&[0x7B, 255, 255, 255, 255, 255, 255, 255, 255, b'a'][..]);
        assert_eq!(cbor.item().expect("a head"), Item::Text(Some(u64::MAX)));
        assert!(matches!(cbor.each_piece(Some(u64::MAX), |_| ()), Err(Stop::Truncated)));
    }
}
