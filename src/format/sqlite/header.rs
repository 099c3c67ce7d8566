//! The first 100 bytes of the file ("SQLite file format", section 1.3, The Database Header).

use super::Refusal;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 100;

/// The bytes of an SQLite file by its header: pages and their size; `None` where it does not say.
pub fn bytes_by_header(header: &[u8]) -> Option<u64> {
    pages_by_header(header)?.checked_mul(page_bytes(header).into())
}

/// How many pages there are by the header. Old versions of SQLite did not keep the number up to date; where it was not,
/// SQLite goes by what there is ("In-header database size").
fn pages_by_header(header: &[u8]) -> Option<u64> {
    let is_kept = number(header, 24, 4) == number(header, 92, 4);
    Some(number(header, 28, 4)).filter(|pages| is_kept && *pages > 0)
}

/// Bytes of a page; 65,536 does not fit.
fn page_bytes(header: &[u8]) -> u32 {
    match number(header, 16, 2) {
        1 => 65_536,
        other => u32::try_from(other).unwrap_or(0),
    }
}

fn number(header: &[u8], at: usize, length: usize) -> u64 {
    let bytes = header.iter().skip(at).take(length);
    bytes.fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// The byte that SQLite locks; the page that holds it is never used ("SQLite file format", section 1.4).
const LOCK_BYTE: u64 = 0x4000_0000;

/// What the header says of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of a page: a power of two, 512 to 65,536.
    pub page_bytes: usize,
    /// Bytes of a page without those that an extension has reserved at its end; 480 at least.
    pub usable_bytes: usize,
    /// Pages that are wholly in the file and that SQLite would read.
    pub pages: u32,
    /// The page that is never used.
    pub lock_page: u32,
}

impl Header {
    /// Reads the header of a file of `file_bytes` bytes.
    ///
    /// # Errors
    /// When it is none, or the file is of a form that is not read here: of another encoding than UTF-8.
    pub fn parse(header: &[u8; HEADER_BYTES], file_bytes: u64) -> Result<Self, Refusal> {
        let refuse = |expected, found: u64| Err(Refusal::Header { expected, found });
        let number = |at, length| number(header, at, length);
        if !header.starts_with(b"SQLite format 3\0") {
            return refuse("the name of the format", number(0, 8));
        }
        let page_bytes = page_bytes(header);
        if !page_bytes.is_power_of_two() || page_bytes < 512 {
            return refuse("a page size of 512 to 65,536", page_bytes.into());
        }
        let usable_bytes = u64::from(page_bytes).saturating_sub(number(20, 1));
        if usable_bytes < 480 {
            return refuse("480 usable bytes of a page", usable_bytes);
        }
        if number(18, 1) > 2 || number(19, 1) > 2 {
            return refuse("format version 1 or 2", number(18, 2));
        }
        if number(21, 3) != 0x40_20_20 {
            return refuse("payload fractions 64, 32, 32", number(21, 3));
        }
        if number(56, 4) != 1 {
            return refuse("encoding 1 (UTF-8)", number(56, 4));
        }
        let in_file = file_bytes.checked_div(page_bytes.into()).unwrap_or(0);
        let pages = pages_by_header(header).map_or(in_file, |pages| pages.min(in_file));
        let lock_page = LOCK_BYTE.checked_div(page_bytes.into()).unwrap_or(0).saturating_add(1);
        Ok(Self {
            page_bytes: usize::try_from(page_bytes).unwrap_or(usize::MAX),
            usable_bytes: usize::try_from(usable_bytes).unwrap_or(usize::MAX),
            pages: u32::try_from(pages).unwrap_or(u32::MAX),
            lock_page: u32::try_from(lock_page).unwrap_or(u32::MAX),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_pages_counts_only_where_it_was_kept_up_to_date() {
        let mut header = [0_u8; HEADER_BYTES];
        header[16..18].copy_from_slice(&1_u16.to_be_bytes());
        header[28..32].copy_from_slice(&3_u32.to_be_bytes());
        for at in [24, 92] {
            header[at..at + 4].copy_from_slice(&7_u32.to_be_bytes());
        }
        assert_eq!(bytes_by_header(&header), Some(3 << 16));
        header[95] = 8;
        assert_eq!(bytes_by_header(&header), None, "another change counter");
        header[95] = 7;
        header[31] = 0;
        assert_eq!(bytes_by_header(&header), None, "no pages");
        assert_eq!(bytes_by_header(&[]), None);
    }
}
