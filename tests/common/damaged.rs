//! An index that is cut or changed, and what is read instead of it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// What came of opening a run that has an index.
pub struct OpenedByIndex {
    /// Whether it used the index when it was opened.
    pub at_first: bool,
    /// All that is known of the run.
    pub parts: String,
    /// Whether nothing was wrong with the index either when all of it was read.
    pub at_last: bool,
}

/// An index that was just written, and a way to open its run.
pub struct DamagedIndex<'a> {
    file: &'a Path,
    pub whole: Vec<u8>,
    /// What is known of the run without an index.
    expected: String,
    open: &'a dyn Fn() -> OpenedByIndex,
}

impl<'a> DamagedIndex<'a> {
    /// The index as it was written is used.
    pub fn of(file: &'a Path, expected: String, open: &'a dyn Fn() -> OpenedByIndex) -> Self {
        let index = Self { file, whole: fs::read(file).unwrap(), expected, open };
        index.place(&index.whole);
        assert!((index.open)().at_first);
        index
    }

    /// Puts other bytes in its place.
    pub fn place(&self, bytes: &[u8]) {
        fs::remove_file(self.file).ok();
        let mut options = fs::File::options();
        let mut to = options.write(true).create_new(true).mode(0o600).open(self.file).unwrap();
        to.write_all(bytes).unwrap();
    }

    /// What comes of an index of such bytes; in any case the run is what it is.
    pub fn opened(&self, bytes: &[u8], what: &str) -> OpenedByIndex {
        self.place(bytes);
        let opened = (self.open)();
        assert!(opened.parts == self.expected, "{what}");
        opened
    }

    /// Cut to any of these lengths it is not used.
    pub fn is_cut_to(&self, lengths: impl IntoIterator<Item = usize>) {
        for length in lengths {
            let what = format!("{length} of {} bytes", self.whole.len());
            assert!(!self.opened(&self.whole[..length], &what).at_first, "{what}");
        }
    }

    /// With a bit changed in any of these bytes it is not used, or says the same; it is not used more often than `least`.
    pub fn is_changed_at(&self, places: impl IntoIterator<Item = usize>, least: usize) {
        let is_not_used = |at: &usize| {
            let mut bytes = self.whole.clone();
            bytes[*at] ^= 1 << (at % 8);
            !self.opened(&bytes, &format!("byte {at}")).at_last
        };
        let not_used = places.into_iter().filter(is_not_used).count();
        assert!(not_used > least, "{not_used} times it was not used");
    }
}
