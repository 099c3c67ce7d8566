//! Opens an SQLite file read-only, whatever state its writer left it in.
//!
//! The file is read through SQLite with `immutable=1` and without a memory map: no lock is taken, so a program that is
//! still writing is never held up; nothing is created beside the file; and a file that is cut while it is open gives
//! read errors, not a SIGBUS. SQLite makes fewer checks with `immutable`, so they are made here: locks of a writer, hot
//! journals, and whether the file has changed.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::bytes_by_header;
use super::direct::{Direct, DirectReading};
use super::patience::Patience;
use super::table::{Tables, read_table_names};
use crate::files::{self, file_name};
use crate::format::{Error, ErrorKind, Progress};
use crate::half_written::HalfWrittenDirectory;
use crate::limits;
use crate::progress::Watched;
use crate::store::{WarningCode, Warnings};

/// What SQLite files begin with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Up to this size an unfinished report is copied, rolled back, and then read.
const MAX_COPY_BYTES: u64 = 2 << 30;

/// Bytes of a path that SQLite opens: it has 512 for the path and the end of the name of a journal.
const MOST_PATH_BYTES: usize = 500;

/// Offset and length of the bytes that SQLite locks (its file format notes, "PENDING_BYTE").
#[cfg(unix)]
const LOCK_BYTES: (i64, i64) = (0x4000_0000, 512);

/// A file that can be opened as often as there are threads to read it.
#[derive(Debug)]
pub struct Database {
    /// The file as the user knows it.
    pub original: PathBuf,
    /// Its name in messages.
    pub name: String,
    /// What is read: the file, or a copy of it, which is rolled back where that was needed.
    source: PathBuf,
    /// Keeps the copy until the report is closed.
    copy: Option<HalfWrittenDirectory>,
    /// Size of what is read, bytes.
    pub bytes: u64,
    /// Whether the tables may be in the middle of a change, so that no figure is certain.
    pub is_doubtful: bool,
    /// How large tables are read.
    pub reading: DirectReading,
    /// Whether SQLite was stopped once.
    is_at_end: Arc<AtomicBool>,
    stamp: Stamp,
}

/// What tells that a file was changed or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// The first 100 bytes; SQLite counts its changes there.
    header: Vec<u8>,
}

impl Database {
    /// Looks at a file and decides how to read it. `refuse` says what a file is that is not SQLite, by its first bytes.
    ///
    /// # Errors
    /// `not-found`, `unreadable`, and what `refuse` says.
    pub fn open(
        path: &Path,
        refuse: impl FnOnce(&Path, &[u8]) -> Error,
        warnings: &Warnings,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let stamp = Stamp::of(path)?;
        if !stamp.header.starts_with(MAGIC) {
            return Err(refuse(path, &stamp.header));
        }
        let mut database = Self {
            original: path.to_owned(),
            name: file_name(path),
            source: path.to_owned(),
            copy: None,
            bytes: stamp.bytes,
            is_doubtful: false,
            reading: DirectReading::default(),
            is_at_end: Arc::default(),
            stamp,
        };
        if let Some(reason) = unfinished_reason(path) {
            database.read_unfinished(&reason, warnings, progress);
        }
        if database.copy.is_none() && is_too_long(&database.source) {
            database.read_by_short_path(progress)?;
        }
        Ok(database)
    }

    /// A connection of its own for the calling thread.
    ///
    /// # Errors
    /// `unreadable` when the file is gone or was changed since it was opened, `damaged` when SQLite
    /// refuses it.
    fn connect(&self, progress: &Progress) -> Result<(Connection, Arc<Patience>), Error> {
        if self.has_changed_while_read() {
            return Err(Error::new(
                ErrorKind::Unreadable,
                format!("{} was changed or removed after it was opened", self.name),
            )
            .in_file(&self.original)
            .hint("Reload the report."));
        }
        self.connect_to_source(progress)
    }

    /// The tables of what is read, for the calling thread.
    ///
    /// # Errors
    /// `unreadable` when the file is gone or was changed since it was opened, `damaged` when SQLite
    /// refuses it.
    pub fn tables<'a>(
        &'a self,
        warnings: &'a Warnings,
        progress: &'a Progress,
    ) -> Result<Tables<'a>, Error> {
        let (connection, patience) = self.connect(progress)?;
        let (direct, file, bytes) = (self.direct(), &*self.name, self.bytes);
        let mut tables = Tables::new(connection, patience, direct, file, bytes, warnings, progress);
        tables.is_cut = self.missing_bytes() > 0;
        Ok(tables)
    }

    /// The pages of what is read, for the calling thread. What may change meanwhile is left to SQLite.
    fn direct(&self) -> Option<Direct<'_>> {
        if self.is_doubtful { None } else { self.reading.open(&self.source) }
    }

    /// Whether what is read is no longer what was opened; a copy never changes, and of a file that
    /// was doubtful from the start nothing else was promised.
    pub fn has_changed_while_read(&self) -> bool {
        self.copy.is_none() && !self.is_doubtful && self.has_changed()
    }

    /// That columns of what is read find no room.
    pub fn no_room(&self, error: &std::io::Error) -> Error {
        let message = format!("no room for the columns of {}: {error}", self.name);
        Error::new(ErrorKind::Unreadable, message).in_file(&self.original)
    }

    /// Whether the file itself is read, and is finished and whole.
    pub fn is_read_where_it_lies(&self) -> bool {
        self.copy.is_none() && !self.is_doubtful && self.missing_bytes() == 0
    }

    fn has_changed(&self) -> bool {
        Stamp::of(&self.original).ok().as_ref() != Some(&self.stamp)
    }

    /// Bytes that the header promises but the file does not have.
    pub fn missing_bytes(&self) -> u64 {
        bytes_by_header(&self.stamp.header).unwrap_or(0).saturating_sub(self.stamp.bytes)
    }

    fn connect_to_source(&self, progress: &Progress) -> Result<(Connection, Arc<Patience>), Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let mut connection = Connection::open_with_flags(immutable_uri(&self.source), flags)
            .map_err(|error| self.damaged(&error))?;
        // No text or blob can be longer than the file. A file that is shorter than its header says
        // is refused by SQLite unless the schema may be changed, which a read-only one cannot be.
        let longest = self.bytes.clamp(1 << 20, limits::RECORD_BYTES);
        let longest = i32::try_from(longest).unwrap_or(i32::MAX);
        let for_cut_files =
            if self.missing_bytes() > 0 { "PRAGMA writable_schema = ON;" } else { "" };
        // What is sorted stays in memory, of which there is a limit, and so never fills a disk.
        let most = limits::SQLITE_BYTES;
        let settings = format!(
            "PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; \
             PRAGMA hard_heap_limit = {most}; {for_cut_files}"
        );
        let mut settle = || {
            let patience = Patience::of(&mut connection, self.bytes, &self.is_at_end, progress)?;
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest)?;
            connection.execute_batch(&settings)?;
            Ok(patience)
        };
        let patience = settle().map_err(|error| self.damaged(&error))?;
        Ok((connection, patience))
    }

    fn damaged(&self, error: &rusqlite::Error) -> Error {
        Error::new(ErrorKind::Damaged, format!("{}: {error}", self.name))
            .in_file(&self.original)
            .hint("The file may be cut or overwritten; copy it again, or capture the report again.")
    }

    /// Reads the last complete state from a private copy, or else what is there.
    fn read_unfinished(&mut self, reason: &str, warnings: &Warnings, progress: &Progress) {
        match self.roll_back_copy(progress) {
            Ok((directory, copy)) => {
                self.bytes = size_of_file(&copy).unwrap_or(self.bytes);
                self.source = copy;
                self.copy = Some(directory);
                warnings.add(
                    WarningCode::Unfinished,
                    &self.name,
                    format!("{reason}; figures are those of the last completed change"),
                );
            }
            Err(why_not) => {
                self.is_doubtful = true;
                warnings.add(
                    WarningCode::Unfinished,
                    &self.name,
                    format!("{reason}; read as it stands ({why_not}): every figure is doubtful"),
                );
            }
        }
    }

    /// SQLite opens no path of 512 bytes or more, follows links first, and knows no other way to a file: it
    /// is read from a private copy.
    fn read_by_short_path(&mut self, progress: &Progress) -> Result<(), Error> {
        let copied = self.copied(&[], progress);
        let (directory, copy, _) = copied.map_err(|why_not| {
            let message = format!(
                "the path of {} is longer than SQLite opens ({MOST_PATH_BYTES} bytes), and there is no copy at a shorter \
                 one: {why_not}",
                self.name
            );
            Error::new(ErrorKind::Unreadable, message)
                .in_file(&self.original)
                .hint("Move or mount the report where its path is shorter.")
        })?;
        self.source = copy;
        self.copy = Some(directory);
        Ok(())
    }

    /// Copies the file, and the files beside it with these suffixes, into a private directory.
    fn copied(
        &self,
        suffixes: &[&str],
        progress: &Progress,
    ) -> Result<(HalfWrittenDirectory, PathBuf, u64), String> {
        let side = |suffix: &str| with_suffix(&self.original, suffix);
        let size = |suffix: &&str| size_of_file(&side(suffix)).unwrap_or(0);
        let total = suffixes.iter().map(size).fold(self.bytes, u64::saturating_add);
        if total > MAX_COPY_BYTES {
            return Err("larger than 2 GiB".to_owned());
        }
        let directory = HalfWrittenDirectory::new("tilescope-", &tempfile::env::temp_dir())
            .map_err(|error| format!("no temporary directory: {error}"))?;
        let copy = directory.path().join("copy");
        let copy_one = |suffix: &str| {
            copy_file(&side(suffix), &with_suffix(&copy, suffix), progress)
                .map_err(|error| format!("not copied: {error}"))
        };
        // The file first: whatever a writer has changed in it by then, the journal copied after
        // it can take back, unless the change was completed in between.
        copy_one("")?;
        suffixes
            .iter()
            .filter(|suffix| side(suffix).is_file())
            .try_for_each(|one| copy_one(one))?;
        if self.has_changed() {
            return Err("it changed while it was copied".to_owned());
        }
        Ok((directory, copy, total))
    }

    fn roll_back_copy(
        &self,
        progress: &Progress,
    ) -> Result<(HalfWrittenDirectory, PathBuf), String> {
        let (directory, copy, total) = self.copied(&["-journal", "-wal"], progress)?;
        let tables = Connection::open(&copy)
            .and_then(|mut connection| {
                Patience::of(&mut connection, total, &self.is_at_end, progress)?;
                connection.query_row(
                    "SELECT count(*) FROM sqlite_master WHERE type = 'table'",
                    [],
                    |row| row.get::<_, i64>(0),
                )
            })
            .map_err(|error| format!("not rolled back: {error}"))?;
        if tables == 0 {
            return Err("its last completed state holds no table".to_owned());
        }
        Ok((directory, copy))
    }
}

/// Whether a file is SQLite and has all of these tables, as far as its schema can be read.
pub fn has_tables(path: &Path, names: &[&str]) -> bool {
    let begins_so = Stamp::of(path).is_ok_and(|stamp| stamp.header.starts_with(MAGIC));
    let open = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(immutable_uri(path), flags)?;
        // A file that ends before its header says is refused otherwise.
        connection.execute_batch("PRAGMA mmap_size = 0; PRAGMA writable_schema = ON;")?;
        let mut found = HashSet::new();
        let read = read_table_names(&connection, &mut found);
        Ok::<_, rusqlite::Error>((found, read))
    };
    begins_so && open().is_ok_and(|(found, _)| names.iter().all(|name| found.contains(*name)))
}

impl Stamp {
    fn of(path: &Path) -> Result<Self, Error> {
        let unreadable = |error: std::io::Error| Error::io(path, &error);
        let file = files::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        let mut header = Vec::new();
        file.take(100).read_to_end(&mut header).map_err(unreadable)?;
        Ok(Self { bytes: metadata.len(), modified: metadata.modified().ok(), header })
    }
}

/// Why a file is not in a finished state, or `None` when it is.
fn unfinished_reason(path: &Path) -> Option<String> {
    if is_write_locked(path) {
        return Some("a program that writes it holds a lock on it".to_owned());
    }
    // A journal whose first byte is 0 was finished and kept (SQLite's journal mode PERSIST).
    let mut first = [0_u8; 1];
    let journal = files::open(&with_suffix(path, "-journal"))
        .and_then(|mut file| file.read_exact(&mut first));
    if journal.is_ok() && first != [0] {
        return Some(
            "its writer was interrupted in the middle of a change (hot journal)".to_owned(),
        );
    }
    let log = size_of_file(&with_suffix(path, "-wal")).filter(|bytes| *bytes > 0);
    log.map(|_| "its writer left a write-ahead log".to_owned())
}

/// Whether SQLite refuses a path for its length; what a link leads to counts.
fn is_too_long(path: &Path) -> bool {
    let is_longer = |path: &Path| path.as_os_str().len() > MOST_PATH_BYTES;
    std::path::absolute(path).is_ok_and(|path| is_longer(&path))
        || path.canonicalize().is_ok_and(|path| is_longer(&path))
}

/// Copies a file as long as somebody waits for it.
fn copy_file(from: &Path, to: &Path, progress: &Progress) -> std::io::Result<()> {
    let file = files::open(from)?;
    progress.expect(file.metadata()?.len());
    let mut reader = Watched { reader: file, progress };
    std::io::copy(&mut reader, &mut fs::File::create(to)?).map(drop)
}

/// The size of a file that is there, and is one, bytes.
pub fn size_of_file(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
}

pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether another process holds one of SQLite's write locks on the file.
#[cfg(unix)]
fn is_write_locked(path: &Path) -> bool {
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;

    let Ok(file) = files::open(path) else { return false };
    let (start, length) = LOCK_BYTES;
    let kind = |kind: i32| libc::c_short::try_from(kind).unwrap_or_default();
    // A read lock conflicts with write locks only, so other readers do not count.
    let mut probe = libc::flock {
        l_type: kind(libc::F_RDLCK),
        l_whence: kind(libc::SEEK_SET),
        l_start: start,
        l_len: length,
        l_pid: 0,
    };
    fcntl(&file, FcntlArg::F_GETLK(&mut probe)).is_ok() && probe.l_type != kind(libc::F_UNLCK)
}

/// Elsewhere SQLite's locks cannot be seen from outside; journals still can.
#[cfg(not(unix))]
fn is_write_locked(_path: &Path) -> bool {
    false
}

/// The URI by which SQLite opens a file without locks, journals or side files.
fn immutable_uri(path: &Path) -> String {
    #[cfg(unix)]
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
    #[cfg(not(unix))]
    let text = path.to_string_lossy().replace('\\', "/");
    #[cfg(not(unix))]
    let bytes = text.as_bytes();
    let mut uri = String::from(if path.is_absolute() { "file://" } else { "file:" });
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            other => uri.extend(format!("%{other:02X}").chars()),
        }
    }
    uri.push_str("?mode=ro&immutable=1");
    uri
}
