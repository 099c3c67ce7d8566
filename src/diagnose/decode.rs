//! The encoding of a log: UTF-16, with or without a mark, becomes UTF-8; all else is left as it is.

/// Bytes by which the encoding is recognized.
const HEAD: usize = 512;

/// Decodes a stream.
#[derive(Debug, Default)]
pub struct Decoder {
    encoding: Option<Encoding>,
    /// The first bytes, until there are enough; of UTF-16 half a character.
    held: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Bytes,
    Utf16 { is_big: bool },
}

impl Decoder {
    /// Appends the text of the next bytes; with `is_last`, nothing follows.
    pub fn push<'a>(&mut self, bytes: &'a [u8], is_last: bool, room: &'a mut Vec<u8>) -> &'a [u8] {
        if self.encoding == Some(Encoding::Bytes) {
            return bytes;
        }
        self.held.extend_from_slice(bytes);
        if self.encoding.is_none() && self.held.len() < HEAD && !is_last {
            return &[];
        }
        room.clear();
        let held = std::mem::take(&mut self.held);
        let head = held.get(..held.len().min(HEAD)).unwrap_or_default();
        let is_first = self.encoding.is_none();
        match *self.encoding.get_or_insert_with(|| Encoding::of(head)) {
            Encoding::Bytes => {
                room.extend_from_slice(held.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&held));
            }
            Encoding::Utf16 { is_big } => {
                let unit = |pair: [u8; 2]| {
                    if is_big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
                };
                let (pairs, odd) = held.as_chunks::<2>();
                let mut units: Vec<u16> = pairs.iter().copied().map(unit).collect();
                self.held.extend_from_slice(odd);
                // The first half of a character whose second half is still to come.
                if !is_last && units.last().is_some_and(|unit| (0xD800..0xDC00).contains(unit)) {
                    units.pop();
                    let half = held.len().saturating_sub(2 + odd.len());
                    self.held = held.get(half..).unwrap_or_default().to_vec();
                }
                let mark = is_first && units.first() == Some(&0xFEFF);
                for character in char::decode_utf16(units.into_iter().skip(usize::from(mark))) {
                    let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
                    room.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
        }
        room
    }
}

impl Encoding {
    fn of(head: &[u8]) -> Self {
        let zeros =
            |first: usize| head.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
        // Most characters of a log are of ASCII.
        let pairs = head.len() / 2;
        let is = |zero: usize, other: usize| {
            pairs > 8 && zeros(zero) > pairs / 2 && zeros(other) <= pairs / 50
        };
        match head {
            [0xFF, 0xFE, ..] => Self::Utf16 { is_big: false },
            [0xFE, 0xFF, ..] => Self::Utf16 { is_big: true },
            _ if is(1, 0) => Self::Utf16 { is_big: false },
            _ if is(0, 1) => Self::Utf16 { is_big: true },
            _ => Self::Bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], piece: usize) -> String {
        let mut decoder = Decoder::default();
        let (mut text, mut room) = (Vec::new(), Vec::new());
        for piece in bytes.chunks(piece) {
            text.extend_from_slice(decoder.push(piece, false, &mut room));
        }
        text.extend_from_slice(decoder.push(&[], true, &mut room));
        String::from_utf8(text).expect("UTF-8")
    }

    #[test]
    fn texts_are_the_same_in_each_encoding() {
        let text = "CUDA out of memory: 3 MiB \u{1F4A5} é\r\nnext".repeat(30);
        let units: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        let with = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
        for bytes in [
            text.clone().into_bytes(),
            with(b"\xEF\xBB\xBF", text.as_bytes()),
            little.clone(),
            big.clone(),
            with(b"\xFF\xFE", &little),
            with(b"\xFE\xFF", &big),
        ] {
            for piece in [1, 3, 512, 100_000] {
                assert_eq!(decoded(&bytes, piece), text);
            }
        }
        assert_eq!(decoded(b"", 1), "");
        assert_eq!(decoded(b"\0\0\0\0text of a log, cut", 5), "\0\0\0\0text of a log, cut");
    }
}
