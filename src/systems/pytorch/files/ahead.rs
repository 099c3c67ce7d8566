//! A file as a window that goes from its beginning to its end. A thread reads the next blocks while the one before is
//! processed; for a large file, reading is a fifth of the time.

use std::fs::File;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::machine::LONGEST_TEXT;
use crate::files;
use crate::work::Work;

/// Bytes that are read at once.
const BLOCK: usize = 1 << 19;

/// Bytes before those of a block in which what is left of the one before finds room: an opcode with the longest text
/// that is kept, and its length.
const LEFT: usize = LONGEST_TEXT + 16;

/// Blocks that there are: one that is worked on, one that is being read, and those that wait. More than one does: where all
/// cores are at work, a thread comes to its turn some milliseconds late.
const BLOCKS: usize = 8;

/// A block behind what is left free before it, and where it ends.
struct FileBlock {
    bytes: Vec<u8>,
    end: usize,
}

/// What of a file is in memory.
pub(super) struct ReadAhead {
    blocks: Receiver<io::Result<FileBlock>>,
    /// Where blocks go that are done.
    done: SyncSender<Vec<u8>>,
    window: Vec<u8>,
    /// What of the window is not passed yet.
    at: usize,
    end: usize,
    /// The place in the file of what comes next.
    pub(super) offset: u64,
    /// Bytes behind the window that are passed over already.
    skipped: u64,
}

/// Fills a buffer with the bytes that come next, which begin at an offset; fewer at the end.
pub(super) trait FillBlock: Send {
    /// # Errors
    /// When they cannot be read.
    fn fill(&mut self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl FillBlock for &File {
    fn fill(&mut self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        files::read_up_to_at(self, buffer, offset)
    }
}

/// What is unpacked while it is read, up to a number of bytes. A file that ends too soon ends there.
pub(super) struct Unpacked<'a> {
    pub(super) reader: Box<dyn Read + Send + 'a>,
    pub(super) most: u64,
}

impl FillBlock for Unpacked<'_> {
    fn fill(&mut self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset >= self.most {
            let message = format!(
                "more than {} MiB come of it, for which it is too small: unpack it first if it is good",
                self.most >> 20
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let mut filled = 0_usize;
        while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
            match self.reader.read(room) {
                Ok(0) => break,
                Ok(read) => filled = filled.saturating_add(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// Works on bytes of which there are about `bytes`, and which are read meanwhile.
pub(super) fn with_input<T>(
    from: impl FillBlock,
    bytes: u64,
    work: impl FnOnce(ReadAhead) -> T,
) -> T {
    let block = usize::try_from(bytes).unwrap_or(BLOCK).clamp(1, BLOCK);
    std::thread::scope(|scope| {
        let (to, blocks) = sync_channel(BLOCKS.saturating_sub(2));
        let (done, free) = sync_channel(BLOCKS);
        scope.spawn(move || read_ahead(from, block, &free, &to));
        let (window, at) = (Vec::new(), 0);
        work(ReadAhead { blocks, done, window, at, end: at, offset: 0, skipped: 0 })
    })
}

/// Reads block after block, until the end of the file, an error, or nobody who waits for more.
fn read_ahead(
    mut from: impl FillBlock,
    block: usize,
    free: &Receiver<Vec<u8>>,
    to: &SyncSender<io::Result<FileBlock>>,
) {
    let mut offset = 0_u64;
    for number in 0_usize.. {
        let mut bytes = Vec::new();
        if number >= BLOCKS {
            let Ok(done) = free.recv() else { return };
            bytes = done;
        }
        bytes.resize(LEFT.saturating_add(block), 0);
        let room = bytes.get_mut(LEFT..).unwrap_or_default();
        let read = from.fill(room, offset);
        let is_last = read.as_ref().map_or(true, |read| *read == 0);
        if let Ok(read) = &read {
            Work::Bytes.add(*read as u64);
            offset = offset.saturating_add(*read as u64);
        }
        let read = read.map(|read| FileBlock { bytes, end: LEFT.saturating_add(read) });
        if to.send(read).is_err() || is_last {
            return;
        }
    }
}

impl ReadAhead {
    /// What is in memory and not passed yet.
    pub(super) fn rest(&self) -> &[u8] {
        self.window.get(self.at..self.end).unwrap_or_default()
    }

    /// Passes over bytes, also some that were not read.
    pub(super) fn pass(&mut self, bytes: u64) {
        self.offset = self.offset.saturating_add(bytes);
        let there = self.end.saturating_sub(self.at);
        let passed = usize::try_from(bytes).unwrap_or(usize::MAX).min(there);
        self.at = self.at.saturating_add(passed);
        self.skipped = self.skipped.saturating_add(bytes.saturating_sub(passed as u64));
    }

    /// Goes on to the next block, with what is left of the one before in front of it; how many bytes came, 0 at the end
    /// of the file.
    ///
    /// # Errors
    /// When the file cannot be read, or more is left than any opcode has.
    pub(super) fn fill(&mut self) -> io::Result<usize> {
        // Whoever reads has come to the end where nothing comes any more.
        let Ok(block) = self.blocks.recv() else { return Ok(0) };
        let FileBlock { mut bytes, end } = block?;
        let came = end.saturating_sub(LEFT);
        let left = self.rest();
        let at = LEFT.checked_sub(left.len()).ok_or(io::ErrorKind::InvalidData)?;
        if let Some(room) = bytes.get_mut(at..LEFT) {
            room.copy_from_slice(left);
        }
        let before = std::mem::replace(&mut self.window, bytes);
        (self.at, self.end) = (at, end);
        // It is taken where more is to be read; there is room for all that there are. Before the first there was none.
        if !before.is_empty() {
            drop(self.done.try_send(before));
        }
        let skipped = usize::try_from(self.skipped).unwrap_or(usize::MAX).min(came);
        self.at = self.at.saturating_add(skipped);
        self.skipped = self.skipped.saturating_sub(skipped as u64);
        Ok(came)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// The bytes of a file as they come, a few at a time, with some passed over unread.
    #[test]
    fn what_is_left_of_a_block_stands_before_the_next() {
        let bytes: Vec<u8> = (0..3 * BLOCK + 77).map(|at| (at % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        for (most_left, skip) in [(0, 0), (9, 0), (LEFT, 0), (9, BLOCK as u64 + 5)] {
            let mut expected = bytes.clone();
            let found = with_input(&file, bytes.len() as u64, |mut input| {
                let (mut found, mut is_skipped) = (Vec::new(), skip == 0);
                loop {
                    let take = input.rest().len().saturating_sub(most_left);
                    found.extend_from_slice(&input.rest()[..take]);
                    input.pass(take as u64);
                    if !is_skipped && !found.is_empty() {
                        is_skipped = true;
                        let from = found.len();
                        expected.drain(from..from + skip as usize);
                        input.pass(skip);
                    }
                    assert!(input.offset <= bytes.len() as u64);
                    if input.fill().unwrap() == 0 {
                        found.extend_from_slice(input.rest());
                        return found;
                    }
                }
            });
            assert!(found == expected, "{most_left}, {skip}");
        }
        // Who stops early waits for nobody.
        assert_eq!(with_input(&file, bytes.len() as u64, |mut input| input.fill().unwrap()), BLOCK);
    }
}
