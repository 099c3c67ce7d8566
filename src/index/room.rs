//! Room in which the columns of a report grow while it is read: memory, or, of a large report that is going to
//! be indexed, files of their own, so that the pages are the file's and not the process's.
//!
//! Such a file lies in the directory of the index and has no name there: nobody else can find it, and it is
//! gone with the column. It is mapped once it is whole and never written again.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use zerocopy::IntoBytes as _;

use super::mapping;
use crate::store::column::{Column, Element};
use crate::work::Work;

/// How long pages that were looked at may stay.
const LET_GO_EVERY: Duration = Duration::from_millis(20);

/// Where columns grow. Clones share what they made.
#[derive(Clone, Debug, Default)]
pub struct ColumnSpace {
    directory: Option<PathBuf>,
    /// The bytes of finished columns and the files behind them.
    made: Arc<Mutex<Vec<(Bytes, File)>>>,
}

impl ColumnSpace {
    /// Files without a name in a directory.
    pub(super) fn in_files(directory: PathBuf) -> Self {
        Self { directory: Some(directory), ..Self::default() }
    }

    /// Whether columns grow in files.
    pub fn is_in_files(&self) -> bool {
        self.directory.is_some()
    }

    /// A column to add to, of about `expected` elements: so many find room in memory at once.
    ///
    /// # Errors
    /// When there can be no file for it.
    pub fn column<T: Element>(&self, expected: usize) -> io::Result<Growing<T>> {
        let elements = PhantomData;
        let to = match &self.directory {
            Some(directory) => {
                Grows::File(BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(directory)?))
            }
            None => Grows::Memory(Vec::with_capacity(expected)),
        };
        Ok(Growing { to, room: self.clone(), elements })
    }

    /// Does what goes through all columns that were made here; where they are in files, their pages are let go again and
    /// again meanwhile, so that only those stay resident that are being looked at.
    pub fn going_through<T>(&self, look: impl FnOnce() -> T) -> T {
        if !self.is_in_files() {
            return look();
        }
        let (end, ended) = mpsc::sync_channel::<()>(0);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while ended.recv_timeout(LET_GO_EVERY) == Err(RecvTimeoutError::Timeout) {
                    self.let_go();
                }
                self.let_go();
            });
            let answer = look();
            drop(end);
            answer
        })
    }

    fn let_go(&self) {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter()
            .filter(|(bytes, _)| !bytes.is_empty())
            .for_each(|(bytes, _)| mapping::let_go(bytes));
    }

    /// The bytes of a column that was made here mapped anew, so that who goes through them once need not keep
    /// all of them in memory; the same bytes where that is not so.
    pub(super) fn once_more(&self, bytes: Bytes) -> Bytes {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(other, _): &&(Bytes, File)| {
            (other.as_ptr(), other.len()) == (bytes.as_ptr(), bytes.len()) && !bytes.is_empty()
        };
        let anew = made.iter().find(is_it).and_then(|(_, file)| mapping::map(file).ok());
        anew.unwrap_or(bytes)
    }
}

/// A column that is being added to.
#[derive(Debug)]
pub struct Growing<T> {
    to: Grows<T>,
    room: ColumnSpace,
    elements: PhantomData<T>,
}

#[derive(Debug)]
enum Grows<T> {
    Memory(Vec<T>),
    File(BufWriter<File>),
}

impl<T: Element> Growing<T> {
    /// Appends elements.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn extend_from_slice(&mut self, elements: &[T]) -> io::Result<()> {
        match &mut self.to {
            Grows::Memory(list) => list.extend_from_slice(elements),
            Grows::File(file) => file.write_all(elements.as_bytes())?,
        }
        Ok(())
    }

    /// The column.
    ///
    /// # Errors
    /// When the file cannot be written or mapped.
    pub fn finish(self) -> io::Result<Column<T>> {
        let file = match self.to {
            Grows::Memory(mut list) => {
                list.shrink_to_fit();
                Work::Columns.add(size_of_val(list.as_slice()) as u64);
                return Ok(list.into());
            }
            Grows::File(file) => file.into_inner().map_err(io::IntoInnerError::into_error)?,
        };
        let bytes = mapping::map(&file)?;
        Work::Columns.add(bytes.len() as u64);
        let mut made = self.room.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.push((bytes.clone(), file));
        Column::shared(bytes).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_the_same_wherever_it_grows() {
        let directory = tempfile::tempdir().expect("a directory");
        for room in [ColumnSpace::default(), ColumnSpace::in_files(directory.path().to_owned())] {
            let mut growing = room.column::<u32>(5).expect("room");
            for part in [&[1, 2][..], &[], &[3]] {
                growing.extend_from_slice(part).expect("room");
            }
            let column = growing.finish().expect("a column");
            assert_eq!(&*column, [1, 2, 3]);
            assert_eq!(column.is_shared(), room.is_in_files());
            if let Some(bytes) = column.shared_bytes() {
                let again = room.once_more(bytes.clone());
                assert_eq!(again, bytes);
                assert_ne!(again.as_ptr(), bytes.as_ptr());
                let looked_at = room.going_through(|| {
                    room.let_go();
                    column.to_vec()
                });
                assert_eq!(looked_at, [1, 2, 3], "a page that was let go comes back");
            }
            let empty = room.column::<u32>(0).and_then(Growing::finish).expect("a column");
            assert!(empty.is_empty());
        }
        assert_eq!(std::fs::read_dir(directory.path()).expect("entries").count(), 0, "no name");
        let nowhere = ColumnSpace::in_files(directory.path().join("absent"));
        assert!(nowhere.column::<u32>(0).is_err());
    }
}
