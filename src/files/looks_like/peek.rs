//! The part of a file by which it is recognized: its name and its first bytes, of an archive also the names in it.

use std::io;
use std::path::Path;

use memchr::memmem;

use super::pickle::Pickle;
use crate::files;
use crate::files::packed::{FilePacking, unpacked_name};

/// Bytes of a file that are read, and to which it is decompressed at most.
pub(crate) const HEAD: usize = 64 << 10;

/// What is looked at of a file.
#[derive(Debug, Default)]
pub(super) struct Peek {
    /// Its name in small letters.
    pub name: String,
    /// Its first bytes.
    pub head: Vec<u8>,
    /// Names in it, where it is a zip archive.
    pub zipped: Vec<String>,
}

impl Peek {
    /// Reads the beginning of a file, of a zip archive also the end.
    pub fn of(path: &Path) -> io::Result<Self> {
        let file = files::open(path)?;
        let mut buffer = vec![0; HEAD];
        let read = files::read_up_to_at(&file, &mut buffer, 0)?;
        let mut peek = Self::of_bytes(
            &files::file_name(path).to_lowercase(),
            buffer.get(..read).unwrap_or_default(),
        );
        if peek.begins(b"PK") {
            let end = file.metadata()?.len().saturating_sub(HEAD as u64);
            let read = files::read_up_to_at(&file, &mut buffer, end)?;
            peek.zipped.extend(zipped(buffer.get(..read).unwrap_or_default(), &IN_DIRECTORY));
        }
        Ok(peek)
    }

    /// The same of bytes that are there.
    pub fn of_bytes(name: &str, head: &[u8]) -> Self {
        let head = head.get(..head.len().min(HEAD)).unwrap_or_default();
        let mut peek = Self { name: name.to_owned(), head: head.to_vec(), zipped: Vec::new() };
        if peek.begins(b"PK\x03\x04") {
            peek.zipped = zipped(head, &BEFORE_FILE);
        }
        peek
    }

    pub fn begins(&self, with: &[u8]) -> bool {
        self.head.starts_with(with)
    }

    /// Whether bytes stand at an offset.
    pub fn has_at(&self, offset: usize, bytes: &[u8]) -> bool {
        self.head.get(offset..).is_some_and(|rest| rest.starts_with(bytes))
    }

    pub fn has(&self, word: &str) -> bool {
        memmem::find(&self.head, word.as_bytes()).is_some()
    }

    pub fn has_all(&self, words: &[&str]) -> bool {
        words.iter().all(|word| self.has(word))
    }

    pub fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.has(word))
    }

    /// Whether the name ends so.
    pub fn ends(&self, endings: &[&str]) -> bool {
        endings.iter().any(|ending| self.name.ends_with(ending))
    }

    /// Whether an archive has a file whose path ends so.
    pub fn zips(&self, ending: &str) -> bool {
        self.zipped.iter().any(|name| name.ends_with(ending))
    }

    /// The text without what may stand before it: a mark of its encoding, and white space.
    pub fn text(&self) -> &[u8] {
        self.head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.head).trim_ascii_start()
    }

    pub fn pickle(&self) -> Pickle<'_> {
        Pickle::of(&self.head)
    }

    /// The beginning of what is compressed, and by what; `None` of what is not.
    pub fn decompressed(&self) -> Option<(FilePacking, Self)> {
        let packing = FilePacking::of(&self.head)?;
        let plain = packing.beginning(&self.head, HEAD);
        Some((packing, Self::of_bytes(unpacked_name(&self.name), &plain)))
    }

    /// Whether it is text, in UTF-8, UTF-16 or an encoding of one byte a letter: none has control characters. Zeros
    /// before the text are a log whose beginning was taken away while it was written.
    pub fn is_text(&self) -> bool {
        if self.begins(b"\xFF\xFE") || self.begins(b"\xFE\xFF") || is_utf_16(&self.head) {
            return true;
        }
        let zeros = self.head.iter().take_while(|byte| **byte == 0).count();
        let text = self.head.get(zeros..).unwrap_or_default();
        let controls = text.iter().filter(|byte| is_control(**byte)).count();
        !text.is_empty() && controls.saturating_mul(100) <= text.len()
    }

    /// The first bytes, to name what nobody knows.
    pub fn first_bytes(&self) -> String {
        let shown = self.head.iter().take(8).map(|byte| format!("{byte:02x}"));
        shown.collect::<Vec<_>>().join(" ")
    }

    /// The fields of a protobuf message, as far as they are whole: number, and bytes or nothing.
    pub fn fields(&self) -> impl Iterator<Item = (u64, Option<&[u8]>)> {
        let mut rest = &*self.head;
        std::iter::from_fn(move || next_field(&mut rest))
    }
}

/// Whether a byte occurs in no text. An escape begins a color.
pub fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=0x06 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)
}

/// Whether it is UTF-16 without a mark: every other byte is zero, and the others are letters.
fn is_utf_16(head: &[u8]) -> bool {
    let start = head.get(..head.len().min(512)).unwrap_or_default();
    let half = start.len() / 2;
    [0, 1].into_iter().any(|zeros_at| {
        let zeros = start.iter().skip(zeros_at).step_by(2).filter(|byte| **byte == 0).count();
        let letters = start.iter().skip(1_usize.saturating_sub(zeros_at)).step_by(2);
        let letters = letters.filter(|byte| **byte != 0 && !is_control(**byte)).count();
        half >= 4
            && zeros.saturating_mul(10) >= half.saturating_mul(9)
            && letters.saturating_mul(10) >= half.saturating_mul(9)
    })
}

/// Where a name stands after a signature of a zip archive.
struct ZipHeader {
    signature: &'static [u8],
    length_at: usize,
    name_at: usize,
}

const BEFORE_FILE: ZipHeader = ZipHeader { signature: b"PK\x03\x04", length_at: 26, name_at: 30 };
const IN_DIRECTORY: ZipHeader = ZipHeader { signature: b"PK\x01\x02", length_at: 28, name_at: 46 };

/// The names of files in a part of a zip archive.
fn zipped(part: &[u8], header: &ZipHeader) -> Vec<String> {
    let name = |at: usize| {
        let entry = part.get(at..)?;
        let length = entry.get(header.length_at..)?.first_chunk::<2>()?;
        let name = entry.get(header.name_at..)?.get(..usize::from(u16::from_le_bytes(*length)))?;
        Some(String::from_utf8_lossy(name).to_lowercase())
    };
    memmem::find_iter(part, header.signature).filter_map(name).collect()
}

/// The next field of a protobuf message; `None` at its end and where it is none.
fn next_field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Option<&'a [u8]>)> {
    let key = varint(rest)?;
    let skipped = match key & 7 {
        0 => {
            varint(rest)?;
            return Some((key >> 3, None));
        }
        1 => 8,
        2 => varint(rest)?,
        5 => 4,
        _ => return None,
    };
    let (value, after) = rest.split_at_checked(usize::try_from(skipped).ok()?)?;
    *rest = after;
    Some((key >> 3, Some(value)))
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for place in 0..10 {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7F).checked_shl(place * 7)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
