//! Records: the rows of a table as they are stored ("SQLite file format", section 2.1, Record Format).

use rusqlite::types::ValueRef;

use super::Refusal;

/// Bytes of the longest header that SQLite reads.
const MOST_HEADER: usize = 98_307;

/// Reads a number of one to nine bytes ("SQLite file format", section 1.6, varint). Returns it with what follows
/// it, or `None` when the bytes end before it does.
#[inline]
pub fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    match bytes {
        [byte @ 0..=0x7f, rest @ ..] => Some((u64::from(*byte), rest)),
        [high, low @ 0..=0x7f, rest @ ..] => {
            Some(((u64::from(high & 0x7f) << 7) | u64::from(*low), rest))
        }
        _ => long_varint(bytes),
    }
}

fn long_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0_u64;
    let mut rest = bytes;
    for _ in 0..8 {
        let (byte, after) = rest.split_first()?;
        rest = after;
        number = (number << 7) | u64::from(byte & 0x7f);
        if *byte < 0x80 {
            return Some((number, rest));
        }
    }
    // The ninth byte counts with all its bits.
    let (byte, rest) = rest.split_first()?;
    Some(((number << 8) | u64::from(*byte), rest))
}

/// Bytes of a value by its serial type ("SQLite file format", section 2.1).
const fn content_bytes(serial: u32) -> u32 {
    match serial {
        1..=4 => serial,
        5 => 6,
        6 | 7 => 8,
        0 | 8..=11 => 0,
        text_or_blob => text_or_blob.wrapping_sub(12) >> 1,
    }
}

/// The same for serial types of one byte, which nearly all are.
const CONTENT_BYTES: [u8; 128] = {
    let mut table = [0; 128];
    let mut serial = 0_u8;
    while serial < 128 {
        if let Some(bytes) = table.as_mut_slice().split_at_mut(serial as usize).1.first_mut() {
            // At most 57.
            *bytes = content_bytes(serial as u32) as u8;
        }
        serial = serial.wrapping_add(1);
    }
    table
};

/// Where a cell of the result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellSource {
    /// The row id.
    RowId,
    /// The column of the record with this number.
    Stored(usize),
    /// The same of a column of reals: whole numbers are stored as integers.
    Real(usize),
    /// The table has no such column.
    Null,
}

/// Which rows of a table are wanted, by one of its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only<'a> {
    /// Those in which it is NULL.
    Null(&'a str),
    /// Those in which it is not.
    NotNull(&'a str),
    /// Those in which it is at least the first number and at most the second.
    Between(&'a str, u32, u32),
}

impl Only<'_> {
    /// The column.
    pub fn column(&self) -> &str {
        let (Self::Null(column) | Self::NotNull(column) | Self::Between(column, ..)) = self;
        column
    }

    /// The same in the words of SQL.
    pub fn condition(&self) -> String {
        match self {
            Self::Null(column) => format!("[{column}] IS NULL"),
            Self::NotNull(column) => format!("[{column}] IS NOT NULL"),
            Self::Between(column, first, last) => format!("[{column}] BETWEEN {first} AND {last}"),
        }
    }

    /// Whether it is a row that is wanted, by the value of the column, whose type is of integers; `None` where
    /// SQLite would not compare numbers.
    fn holds(&self, value: ValueRef<'_>) -> Option<bool> {
        match (self, value) {
            (Self::Null(_), value) => Some(matches!(value, ValueRef::Null)),
            (Self::NotNull(_), value) => Some(!matches!(value, ValueRef::Null)),
            (Self::Between(..), ValueRef::Null) => Some(false),
            (Self::Between(_, first, last), ValueRef::Integer(number)) => {
                Some((i64::from(*first)..=i64::from(*last)).contains(&number))
            }
            (Self::Between(_, first, last), ValueRef::Real(number)) => {
                Some((f64::from(*first)..=f64::from(*last)).contains(&number))
            }
            (Self::Between(..), ValueRef::Text(_) | ValueRef::Blob(_)) => None,
        }
    }
}

/// What is read of the records of a table.
#[derive(Clone, Debug)]
pub struct Layout<'a> {
    pub(super) cells: RecordPart,
    /// Looked at before the others.
    pub(super) only: Option<(RecordPart, Only<'a>)>,
    /// Whether what a record is too short to have is NULL, for each column of the table.
    default_is_null: Vec<bool>,
}

/// Whether a row is wanted.
pub enum RowWanted {
    No,
    Yes,
    /// It is, and all its cells were met on the way to the column that says so.
    TakenApart,
}

/// Some cells of a record.
#[derive(Clone, Debug)]
pub struct RecordPart {
    sources: Vec<CellSource>,
    /// Columns of a record up to the last one of them.
    looked_at: usize,
}

impl RecordPart {
    pub(super) fn new(sources: Vec<CellSource>) -> Self {
        let after = |source: &CellSource| match source {
            CellSource::Stored(column) | CellSource::Real(column) => column.saturating_add(1),
            CellSource::RowId | CellSource::Null => 0,
        };
        let looked_at = sources.iter().map(after).max().unwrap_or(0);
        Self { sources, looked_at }
    }
}

impl<'a> Layout<'a> {
    pub(super) fn new(
        cells: RecordPart,
        only: Option<(RecordPart, Only<'a>)>,
        default_is_null: Vec<bool>,
    ) -> Self {
        Self { cells, only, default_is_null }
    }

    /// Whether a row is wanted. `local` is what of its record lies on the leaf, `bytes` that and what follows.
    pub(super) fn is_wanted(
        &self,
        fields: &mut Fields,
        local: &[u8],
        bytes: &[u8],
        total: usize,
        row: i64,
    ) -> Result<RowWanted, Refusal> {
        let Some((part, only)) = &self.only else { return Ok(RowWanted::Yes) };
        let needed = fields.parse(local, total, row, self, part)?;
        if needed > local.len() {
            return Err(Refusal::row(row, "the column that says whether it is wanted", needed));
        }
        let value = Record::new(row, bytes, fields, part).value(0);
        match only.holds(value) {
            None => Err(Refusal::row(row, "a number to compare", needed)),
            Some(false) => Ok(RowWanted::No),
            Some(true) if fields.known >= self.cells.looked_at => Ok(RowWanted::TakenApart),
            Some(true) => Ok(RowWanted::Yes),
        }
    }
}

/// A column of a record: its serial type and where its bytes begin.
#[derive(Clone, Copy, Debug, Default)]
struct Field {
    serial: u32,
    start: u32,
}

/// The columns of one record, taken apart; used again for the next one.
#[derive(Debug)]
pub struct Fields {
    fields: Vec<Field>,
    /// Of these, as many as the record has.
    known: usize,
    /// The header that they follow from.
    last: LastHeader,
}

/// A short header that was taken apart: the next record mostly has the same.
#[derive(Clone, Copy, Debug, Default)]
struct LastHeader {
    /// Its bytes, with 0 behind them, and which of the bits count; 0 without a header.
    bytes: u128,
    mask: u128,
    /// Columns that were looked at, all of which it has.
    looked_at: usize,
    /// Whether these are all that it has.
    is_whole: bool,
    /// Where the last of them ends.
    end: usize,
}

impl LastHeader {
    /// Of the first bytes of a record, as many as its header has; `None` where it is longer than those that are kept.
    fn of(bytes: &[u8], header_bytes: usize) -> Option<Self> {
        let unused = (16_usize.checked_sub(header_bytes)?).checked_mul(8)?;
        let mask = u128::MAX.checked_shr(u32::try_from(unused).ok()?)?;
        let bytes = u128::from_le_bytes(*bytes.first_chunk()?) & mask;
        Some(Self { bytes, mask, ..Self::default() })
    }

    /// Whether a record begins with it.
    #[inline]
    fn is_of(&self, bytes: &[u8], looked_at: usize) -> bool {
        let first = bytes.first_chunk().map(|first| u128::from_le_bytes(*first) & self.mask);
        self.mask != 0 && self.looked_at == looked_at && first == Some(self.bytes)
    }
}

impl Fields {
    pub(super) fn of(layout: &Layout<'_>) -> Self {
        let of_only = layout.only.as_ref().map_or(0, |(part, _)| part.looked_at);
        let most = layout.cells.looked_at.max(of_only);
        Self { fields: vec![Field::default(); most], known: 0, last: LastHeader::default() }
    }

    /// Takes a record apart up to the last column of a part. `bytes` is what is there of its `total` bytes.
    /// Returns how many bytes are needed: where there are fewer, it is called again with as many.
    pub(super) fn parse(
        &mut self,
        bytes: &[u8],
        total: usize,
        row: i64,
        layout: &Layout<'_>,
        part: &RecordPart,
    ) -> Result<usize, Refusal> {
        let beyond = |needed: usize| Refusal::row(row, "a record within its payload", needed);
        if self.last.is_of(bytes, part.looked_at) {
            let LastHeader { end, is_whole, .. } = self.last;
            self.known = part.looked_at;
            return if end > total || (is_whole && end != total) {
                Err(beyond(end))
            } else {
                Ok(end)
            };
        }
        self.known = 0;
        self.last = LastHeader::default();
        if part.looked_at == 0 {
            return Ok(0);
        }
        let (header_bytes, after) = varint(bytes).ok_or_else(|| beyond(bytes.len()))?;
        let header_bytes = usize::try_from(header_bytes).unwrap_or(usize::MAX);
        if header_bytes > total.min(MOST_HEADER) {
            return Err(beyond(header_bytes));
        }
        if header_bytes > bytes.len() {
            return Ok(header_bytes);
        }
        let size_bytes = bytes.len().saturating_sub(after.len());
        let mut header = header_bytes
            .checked_sub(size_bytes)
            .and_then(|left| after.get(..left))
            .filter(|header| !header.is_empty())
            .ok_or_else(|| Refusal::row(row, "a header with columns", header_bytes))?;
        // As 64 bits: at most `looked_at` lengths below 2³² are added up.
        let mut end = header_bytes as u64;
        let mut known = 0_usize;
        for field in self.fields.get_mut(..part.looked_at).unwrap_or_default() {
            if header.is_empty() {
                break;
            }
            let (serial, bytes, rest) = match header {
                [serial @ 0..=0x7f, rest @ ..] => {
                    let bytes = CONTENT_BYTES.get(usize::from(*serial)).copied().unwrap_or(0);
                    (u32::from(*serial), u32::from(bytes), rest)
                }
                _ => {
                    let (serial, rest) = varint(header).ok_or_else(|| {
                        Refusal::row(row, "a header that ends where it says", header_bytes)
                    })?;
                    let serial = u32::try_from(serial).unwrap_or(u32::MAX);
                    (serial, content_bytes(serial), rest)
                }
            };
            if matches!(serial, 10 | 11) {
                return Err(Refusal::row(row, "a serial type in use", serial as usize));
            }
            header = rest;
            // What does not fit is beyond the payload, which is looked at below.
            *field = Field { serial, start: u32::try_from(end).unwrap_or(u32::MAX) };
            end = end.wrapping_add(bytes.into());
            known = known.wrapping_add(1);
        }
        self.known = known;
        let end = usize::try_from(end).unwrap_or(usize::MAX);
        // SQLite makes both checks: nothing beyond the payload, and nothing left of it after the last column.
        if end > total || (header.is_empty() && end != total) {
            return Err(beyond(end));
        }
        if self.known < part.looked_at {
            self.check_absent(row, layout, part)?;
        } else if let Some(last) = LastHeader::of(bytes, header_bytes) {
            let (looked_at, is_whole) = (part.looked_at, header.is_empty());
            self.last = LastHeader { looked_at, is_whole, end, ..last };
        }
        Ok(end)
    }

    /// Of a record that was written before columns were added, those that are wanted must be NULL.
    fn check_absent(
        &self,
        row: i64,
        layout: &Layout<'_>,
        part: &RecordPart,
    ) -> Result<(), Refusal> {
        let is_null = |source: &CellSource| match source {
            CellSource::Stored(column) | CellSource::Real(column) if *column >= self.known => {
                layout.default_is_null.get(*column) == Some(&true)
            }
            _ => true,
        };
        if part.sources.iter().all(is_null) {
            return Ok(());
        }
        Err(Refusal::row(row, "a column that was added with a default", self.known))
    }
}

/// Cells that are whole numbers or NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeNumbers<const N: usize> {
    /// The numbers; 0 for NULL.
    pub numbers: [i64; N],
    /// A bit for each that is not NULL, from the lowest on.
    pub present: u32,
}

impl<const N: usize> Default for WholeNumbers<N> {
    fn default() -> Self {
        Self { numbers: [0; N], present: 0 }
    }
}

impl<const N: usize> WholeNumbers<N> {
    #[inline]
    pub(super) fn set(&mut self, column: usize, number: i64) {
        if let Some(place) = self.numbers.get_mut(column) {
            *place = number;
            self.present |= 1_u32.wrapping_shl(column as u32);
        }
    }
}

/// A row: its cells by position in what was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Record<'p> {
    row: i64,
    /// The record, and perhaps what lies behind it.
    bytes: &'p [u8],
    fields: &'p [Field],
    sources: &'p [CellSource],
}

impl<'p> Record<'p> {
    pub(super) fn new(row: i64, bytes: &'p [u8], fields: &'p Fields, part: &'p RecordPart) -> Self {
        let fields = fields.fields.get(..fields.known).unwrap_or_default();
        Self { row, bytes, fields, sources: &part.sources }
    }

    /// The cell of a column; NULL where there is none.
    #[inline]
    pub fn value(&self, column: usize) -> ValueRef<'p> {
        match self.sources.get(column) {
            Some(CellSource::Stored(column)) => {
                self.fields.get(*column).map_or(ValueRef::Null, |field| self.stored(*field))
            }
            Some(CellSource::Real(column)) => match self.fields.get(*column) {
                Some(field) => as_real(self.stored(*field)),
                None => ValueRef::Null,
            },
            Some(CellSource::RowId) => ValueRef::Integer(self.row),
            Some(CellSource::Null) | None => ValueRef::Null,
        }
    }

    /// The first cells, where each is a whole number or NULL.
    #[inline]
    pub fn whole_numbers<const N: usize>(&self) -> Option<WholeNumbers<N>> {
        let mut row = WholeNumbers::default();
        for (column, source) in self.sources.iter().take(N).enumerate() {
            let field = match source {
                CellSource::Stored(column) => self.fields.get(*column),
                CellSource::RowId => {
                    row.set(column, self.row);
                    continue;
                }
                CellSource::Real(_) => return None,
                CellSource::Null => None,
            };
            let Some(Field { serial, start }) = field.copied() else { continue };
            let number = match serial {
                0 => continue,
                8 => 0,
                9 => 1,
                1..=6 => {
                    let bytes = self.bytes.get(start as usize..).unwrap_or_default();
                    integer(bytes, content_bytes(serial))
                }
                _ => return None,
            };
            row.set(column, number);
        }
        Some(row)
    }

    #[inline]
    fn stored(&self, field: Field) -> ValueRef<'p> {
        let bytes = self.bytes.get(field.start as usize..).unwrap_or_default();
        match field.serial {
            0 => ValueRef::Null,
            serial @ 1..=6 => ValueRef::Integer(integer(bytes, content_bytes(serial))),
            8 => ValueRef::Integer(0),
            9 => ValueRef::Integer(1),
            serial => long_value(serial, bytes),
        }
    }
}

/// A signed number of some bytes, most significant first. They are there: `Fields::parse` has added them up.
#[inline]
fn integer(bytes: &[u8], length: u32) -> i64 {
    let eight = match bytes.first_chunk() {
        Some(eight) => *eight,
        None => {
            let mut eight = [0; 8];
            eight.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            eight
        }
    };
    i64::from_be_bytes(eight) >> 64_u32.wrapping_sub(length.wrapping_mul(8))
}

/// A value of a column of reals, as SQLite gives it.
fn as_real(value: ValueRef<'_>) -> ValueRef<'_> {
    match value {
        ValueRef::Integer(number) => ValueRef::Real(number as f64),
        other => other,
    }
}

/// A text, a blob or a real number.
fn long_value(serial: u32, bytes: &[u8]) -> ValueRef<'_> {
    if serial == 7 {
        return match bytes.first_chunk().map(|bytes| f64::from_be_bytes(*bytes)) {
            // SQLite gives NULL for what is no number.
            Some(number) if !number.is_nan() => ValueRef::Real(number),
            _ => ValueRef::Null,
        };
    }
    let bytes = bytes.get(..content_bytes(serial) as usize).unwrap_or_default();
    if serial & 1 == 0 { ValueRef::Blob(bytes) } else { ValueRef::Text(bytes) }
}
