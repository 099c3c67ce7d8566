//! Pages of a file, read by position.
//!
//! Never through a memory map: a file that is cut while it is open gives an error, not a SIGBUS.

use std::fs::File;
use std::io;
use std::path::Path;

use super::Refusal;
use super::header::{HEADER_BYTES, Header};
use crate::files;
use crate::work::Work;

/// An SQLite file whose header is sound.
#[derive(Debug)]
pub struct DatabaseFile {
    file: File,
    /// What its header says.
    header: Header,
    bytes: u64,
}

impl DatabaseFile {
    /// Opens a file and reads its header. Nothing is locked.
    ///
    /// # Errors
    /// When the file cannot be read, or its header says that it is not read here.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        let unreadable = |error: io::Error| Refusal::Unreadable {
            place: path.display().to_string(),
            what: error.to_string(),
        };
        let file = files::open(path).map_err(unreadable)?;
        let bytes = file.metadata().map_err(unreadable)?.len();
        let mut header = [0; HEADER_BYTES];
        files::read_exact_at(&file, &mut header, 0).map_err(unreadable)?;
        Ok(Self { file, header: Header::parse(&header, bytes)?, bytes })
    }

    pub(super) fn header(&self) -> Header {
        self.header
    }

    /// The size of the file when it was opened.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads `count` pages from `first` on into a buffer that is used again; the caller has checked that they are
    /// in the file, and `count` does not come from it.
    pub(super) fn read_pages(
        &self,
        first: u32,
        count: usize,
        into: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let page_bytes = self.header.page_bytes;
        Work::Pages.add(count as u64);
        Work::Bytes.add(count.saturating_mul(page_bytes) as u64);
        into.resize(count.saturating_mul(page_bytes), 0);
        let start = u64::from(first).saturating_sub(1).saturating_mul(page_bytes as u64);
        files::read_exact_at(&self.file, into, start).map_err(|error| Refusal::Unreadable {
            place: format!("page {first} and the next, {count} in all"),
            what: error.to_string(),
        })
    }

    /// Whether rows can be on a page: it is in the file, is not that of the header, which belongs to the schema,
    /// and not the one that SQLite never uses.
    pub(super) fn check_page(&self, page: u32, named_by: u32) -> Result<(), Refusal> {
        let Header { pages, lock_page, .. } = self.header;
        if page < 2 || page > pages || page == lock_page {
            return Err(Refusal::page(named_by, "the number of a page of the file", page));
        }
        Ok(())
    }
}
