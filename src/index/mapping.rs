//! Maps a file of the index into memory: the one module with `unsafe` code.
//!
//! `memmap2` calls it unsafe to map a file because others can change it while slices point into it. It is
//! sound here by what the index does and where it lies:
//!
//! - The file is ours: it lies in a directory that only its owner may enter (0700), is itself readable by
//!   nobody else (0600), and belongs to the user of this process; `cache` looks at all three before it maps.
//! - It is never written again under its name: it is written under another one, renamed when it is whole, and replaced
//!   or removed only as a name. A process that has it mapped keeps the old contents until its last mapping is gone.
//! - The same holds for the files in which columns grow (`room`): they have no name, so nobody else has them.
//! - What is read from it is plain numbers and text that is looked at anew each time
//!   ([`crate::store::column`]), so no value of it can be one that its type does not have, and every position
//!   in it is checked where it is used.
//!
//! One danger remains: a process of the same user that writes into the file or cuts it in place. Writing changes the
//! figures that are shown until the report is opened again, when the checksums find it. Cutting takes away pages: the
//! system ends this process with SIGBUS at its next access. Nothing is lost by that but the window: reports are never
//! written to, the index is made again, and another process that has another file mapped goes on.
//! `tests/suite/index.rs` cuts the file under a process and sees that only that process ends.

#![allow(unsafe_code, reason = "the module above all says why")]

use std::fs::File;
use std::io;

use bytes::Bytes;
use memmap2::MmapOptions;

/// The bytes of a file, mapped until the last slice of them is gone. The caller has seen that the file is ours.
pub(super) fn map(file: &File) -> io::Result<Bytes> {
    // SAFETY: nobody changes the file in place, see above.
    let mapping = unsafe { MmapOptions::new().map(file)? };
    Ok(Bytes::from_owner(mapping))
}

/// Takes the pages of mapped bytes out of this process until somebody looks at them again.
#[cfg(unix)]
pub(super) fn let_go(mapped: &Bytes) {
    use nix::sys::mman::{MmapAdvise, madvise};
    let Some(start) = std::ptr::NonNull::new(mapped.as_ptr().cast_mut()) else { return };
    // SAFETY: these bytes are all of a mapping that `map` made and that lives as long as they do. Nobody writes to it, so
    // who looks at a page again, also at this moment on another thread, finds what the file has.
    let advised = unsafe { madvise(start.cast(), mapped.len(), MmapAdvise::MADV_DONTNEED) };
    if let Err(error) = advised {
        tracing::debug!("pages of a column stay: {error}");
    }
}

/// The same where pages cannot be taken out.
#[cfg(not(unix))]
pub(super) fn let_go(_mapped: &Bytes) {}
