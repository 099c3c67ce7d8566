//! JSON files of any size, read piece by piece: what is in a list or an object is handed out value by value, a value is
//! skipped by its brackets, and nothing is kept but the part of the file that was read last.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;

use crate::files::read_up_to_at;
use crate::progress::Progress;
use crate::work::Work;

/// Bytes that are read at once.
const BLOCK_BYTES: usize = 1 << 20;
/// Bytes of the key of an object.
const KEY_BYTES: u64 = 1 << 16;

/// Where the text of a value lies in a file, bytes.
pub type PieceRange = Range<u64>;

/// Why a file is read no further.
#[derive(Debug)]
pub enum PieceError {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// Nobody waits for the rest.
    Cancelled,
    /// The file ends within a value.
    Cut {
        /// The byte at which it ends.
        at: u64,
    },
    /// Something else stands there.
    Unexpected {
        /// The byte.
        at: u64,
        /// What should stand there.
        expected: &'static str,
    },
    /// A value is longer than it can be.
    TooLong {
        /// The byte at which it begins.
        at: u64,
        /// The most bytes that it can have.
        most: u64,
    },
}

impl fmt::Display for PieceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => error.fmt(formatter),
            Self::Cancelled => formatter.write_str("cancelled"),
            Self::Cut { at } => write!(formatter, "the file ends within a value, at byte {at}"),
            Self::Unexpected { at, expected } => {
                write!(formatter, "byte {at}: {expected} expected, something else found")
            }
            Self::TooLong { at, most } => {
                write!(
                    formatter,
                    "byte {at}: a value of at most {most} bytes expected, a longer one found"
                )
            }
        }
    }
}

impl std::error::Error for PieceError {}

/// A file that is read from a position on.
#[derive(Debug)]
pub struct JsonPieces<'a> {
    file: &'a File,
    progress: &'a Progress,
    block: Vec<u8>,
    /// Where the block lies in the file.
    start: u64,
    /// The next byte in the block.
    at: usize,
}

impl<'a> JsonPieces<'a> {
    /// From a byte of a file on.
    pub fn at(file: &'a File, position: u64, progress: &'a Progress) -> Self {
        Self { file, progress, block: Vec::new(), start: position, at: 0 }
    }

    /// The position of the next byte.
    pub fn position(&self) -> u64 {
        self.start.saturating_add(self.at as u64)
    }

    /// The rest of the block, which is read where nothing is left; empty at the end of the file.
    fn rest(&mut self) -> Result<&[u8], PieceError> {
        if self.at >= self.block.len() {
            if self.progress.is_cancelled() {
                return Err(PieceError::Cancelled);
            }
            self.start = self.position();
            self.at = 0;
            self.block.resize(BLOCK_BYTES, 0);
            let read = read_up_to_at(self.file, &mut self.block, self.start);
            let read = read.map_err(PieceError::Unreadable)?;
            self.block.truncate(read);
            Work::Bytes.add(read as u64);
            self.progress.advance(read as u64);
        }
        Ok(self.block.get(self.at..).unwrap_or_default())
    }

    fn pass(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    /// The next byte that is no space; it stays.
    fn peek(&mut self) -> Result<u8, PieceError> {
        loop {
            let rest = self.rest()?;
            if rest.is_empty() {
                return Err(PieceError::Cut { at: self.position() });
            }
            let spaces = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if let Some(found) = rest.get(spaces).copied() {
                self.pass(spaces);
                return Ok(found);
            }
            self.pass(spaces);
        }
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), PieceError> {
        if self.peek()? != byte {
            return Err(PieceError::Unexpected { at: self.position(), expected });
        }
        self.pass(1);
        Ok(())
    }

    /// Whether the next value is a list.
    ///
    /// # Errors
    /// Where no value is left.
    pub fn is_list(&mut self) -> Result<bool, PieceError> {
        Ok(self.peek()? == b'[')
    }

    /// Hands over each value of a list; each has to be passed.
    ///
    /// # Errors
    /// Where no list stands, and those of `each`.
    pub fn list(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), PieceError>,
    ) -> Result<(), PieceError> {
        self.expect(b'[', "a list")?;
        self.until(b']', "a comma or the end of a list", &mut each)
    }

    /// Hands over each key of an object with its value, which has to be passed.
    ///
    /// # Errors
    /// Where no object stands, and those of `each`.
    pub fn object(
        &mut self,
        mut each: impl FnMut(&str, &mut Self) -> Result<(), PieceError>,
    ) -> Result<(), PieceError> {
        self.expect(b'{', "an object")?;
        self.until(b'}', "a comma or the end of an object", &mut |pieces| {
            let at = pieces.position();
            let key = pieces.skip()?;
            let text = pieces.bytes(&key, KEY_BYTES)?;
            let Ok(key) = serde_json::from_slice::<String>(&text) else {
                return Err(PieceError::Unexpected { at, expected: "a key" });
            };
            pieces.expect(b':', "a colon")?;
            each(&key, pieces)
        })
    }

    fn until(
        &mut self,
        end: u8,
        expected: &'static str,
        each: &mut dyn FnMut(&mut Self) -> Result<(), PieceError>,
    ) -> Result<(), PieceError> {
        if self.peek()? == end {
            self.pass(1);
            return Ok(());
        }
        loop {
            each(self)?;
            match self.peek()? {
                b',' => self.pass(1),
                byte if byte == end => {
                    self.pass(1);
                    return Ok(());
                }
                _ => return Err(PieceError::Unexpected { at: self.position(), expected }),
            }
        }
    }

    /// Passes a value, and says where it lies.
    ///
    /// # Errors
    /// Where none stands.
    pub fn skip(&mut self) -> Result<PieceRange, PieceError> {
        let first = self.peek()?;
        let start = self.position();
        match first {
            b'"' => self.skip_text()?,
            b'{' | b'[' => self.skip_brackets()?,
            b'-' | b'0'..=b'9' | b'a'..=b'z' => self.skip_word()?,
            _ => return Err(PieceError::Unexpected { at: start, expected: "a value" }),
        }
        Ok(start..self.position())
    }

    fn skip_word(&mut self) -> Result<(), PieceError> {
        loop {
            let rest = self.rest()?;
            let is_of_word =
                |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
            let (all, of_word) = (rest.len(), rest.iter().take_while(is_of_word).count());
            self.pass(of_word);
            if of_word < all || all == 0 {
                return Ok(());
            }
        }
    }

    /// Passes a text, from its first quotation mark on.
    fn skip_text(&mut self) -> Result<(), PieceError> {
        self.pass(1);
        loop {
            let rest = self.rest()?;
            if rest.is_empty() {
                return Err(PieceError::Cut { at: self.position() });
            }
            let Some(place) = memchr::memchr2(b'"', b'\\', rest) else {
                let all = rest.len();
                self.pass(all);
                continue;
            };
            let is_end = rest.get(place) == Some(&b'"');
            self.pass(place.saturating_add(1));
            if is_end {
                return Ok(());
            }
            // What stands behind a backslash is no end.
            if self.rest()?.is_empty() {
                return Err(PieceError::Cut { at: self.position() });
            }
            self.pass(1);
        }
    }

    /// Passes a list or an object. It is only counted how many are open, so deep ones take no more than flat ones.
    fn skip_brackets(&mut self) -> Result<(), PieceError> {
        let mut open = 0_u64;
        loop {
            let rest = self.rest()?;
            if rest.is_empty() {
                return Err(PieceError::Cut { at: self.position() });
            }
            let is_mark = |byte: &u8| matches!(byte, b'"' | b'[' | b']' | b'{' | b'}');
            let Some(place) = rest.iter().position(is_mark) else {
                let all = rest.len();
                self.pass(all);
                continue;
            };
            let mark = rest.get(place).copied();
            self.pass(place);
            if mark == Some(b'"') {
                self.skip_text()?;
                continue;
            }
            self.pass(1);
            let is_opening = matches!(mark, Some(b'[' | b'{'));
            open = if is_opening { open.saturating_add(1) } else { open.saturating_sub(1) };
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// The text of a value of at most so many bytes.
    ///
    /// # Errors
    /// Where it is longer, or cannot be read.
    pub fn bytes(&self, range: &PieceRange, most: u64) -> Result<Vec<u8>, PieceError> {
        let length = range.end.saturating_sub(range.start);
        if length > most {
            return Err(PieceError::TooLong { at: range.start, most });
        }
        let place = |position: u64| usize::try_from(position.checked_sub(self.start)?).ok();
        let in_block = place(range.start).zip(place(range.end));
        if let Some(bytes) = in_block.and_then(|(from, to)| self.block.get(from..to)) {
            return Ok(bytes.to_vec());
        }
        bytes_at(self.file, range, most)
    }

    /// Like [`Self::bytes`], but empty if the value is longer than `most`.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn bytes_up_to(&self, range: &PieceRange, most: u64) -> Result<Vec<u8>, PieceError> {
        match self.bytes(range, most) {
            Err(PieceError::TooLong { .. }) => Ok(Vec::new()),
            found => found,
        }
    }
}

/// The text of a value of at most so many bytes, from its file.
///
/// # Errors
/// Where it is longer, or cannot be read.
pub fn bytes_at(file: &File, range: &PieceRange, most: u64) -> Result<Vec<u8>, PieceError> {
    let length = range.end.saturating_sub(range.start);
    let room = usize::try_from(length).ok().filter(|_| length <= most);
    let Some(room) = room else { return Err(PieceError::TooLong { at: range.start, most }) };
    let mut bytes = vec![0; room];
    let read = read_up_to_at(file, &mut bytes, range.start).map_err(PieceError::Unreadable)?;
    if read < room {
        return Err(PieceError::Cut { at: range.start.saturating_add(read as u64) });
    }
    Work::Bytes.add(length);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn file_of(text: &str) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    #[test]
    fn values_are_handed_out_and_skipped() {
        let text = r#" {"a" : [1, -2.5e3, "x]\"\\", {"b": [true]}], "c\n": null, "d": []} "#;
        let (file, progress) = (file_of(text), Progress::default());
        let mut pieces = JsonPieces::at(&file, 0, &progress);
        let mut found = Vec::new();
        pieces
            .object(|key, pieces| {
                if !pieces.is_list()? {
                    found.push((key.to_owned(), String::new()));
                    return pieces.skip().map(drop);
                }
                pieces.list(|pieces| {
                    let range = pieces.skip()?;
                    let bytes = pieces.bytes(&range, 100)?;
                    assert_eq!(bytes, bytes_at(&file, &range, 100)?);
                    assert!(pieces.bytes_up_to(&range, 0)?.is_empty());
                    found.push((key.to_owned(), String::from_utf8(bytes).unwrap()));
                    Ok(())
                })
            })
            .unwrap();
        let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (&**a, &**b)).collect();
        let list = ["1", "-2.5e3", r#""x]\"\\""#, r#"{"b": [true]}"#].map(|value| ("a", value));
        assert_eq!(found, [&list[..], &[("c\n", "")]].concat());
    }

    #[test]
    fn damaged_and_hostile_texts_are_errors() {
        let progress = Progress::default();
        let said = |text: &str| {
            let file = file_of(text);
            let mut pieces = JsonPieces::at(&file, 0, &progress);
            let read = pieces.object(|_, pieces| pieces.list(|pieces| pieces.skip().map(drop)));
            read.unwrap_err().to_string()
        };
        let deep = format!("{{\"a\": [{}", "[".repeat(3 << 20));
        for cut in ["", "{", "{\"a\": [1", "{\"a\": [\"x", "{\"a\": [\"\\", &deep] {
            assert!(said(cut).starts_with("the file ends within a value"), "{cut:.20}");
        }
        assert_eq!(said("[1]"), "byte 0: an object expected, something else found");
        assert_eq!(said("{1: []}"), "byte 1: a key expected, something else found");
        assert_eq!(
            said("{\"a\": [1 2]}"),
            "byte 9: a comma or the end of a list expected, something else found"
        );
        assert_eq!(said("{\"a\": [,]}"), "byte 7: a value expected, something else found");
        let long = format!("{{\"{}\": 1}}", "k".repeat(KEY_BYTES as usize));
        assert!(said(&long).ends_with("a longer one found"));
        progress.cancel();
        assert_eq!(said("{}"), "cancelled");
    }
}
