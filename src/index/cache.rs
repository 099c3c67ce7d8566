//! The directory of the index: finding, writing, limiting and clearing its files.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use super::file::{ColumnWriter, IndexError, IndexFile};
use super::identity::Identity;
use super::room::ColumnSpace;
use crate::files;
use crate::half_written::HalfWritten;
use crate::progress::{Progress, Watched};

const EXTENSION: &str = "arrow";
const TEMPORARY: &str = "writing";
/// A temporary file that nobody has written to for so long was left behind.
const STALE: Duration = Duration::from_hours(1);
/// Name of the column with the identity.
const IDENTITY: &str = "identity";

/// How much an index may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of all files together.
    pub most_bytes: u64,
    /// The part of what is free on the disk, and of what the index has already, that it may take: one in so many.
    pub one_in: u64,
    /// Columns of a report whose profile has at least so many bytes grow in files while it is read.
    pub in_files_from_bytes: u64,
    /// What has fewer rows gets no index: it is read in less time than it takes to look for one.
    pub from_rows: usize,
}

impl Default for Limits {
    /// 10 GiB, and a tenth of what is free; files from 64 MiB on, an index from 10,000 rows on.
    fn default() -> Self {
        Self { most_bytes: 10 << 30, one_in: 10, in_files_from_bytes: 64 << 20, from_rows: 10_000 }
    }
}

/// The directory with an index of each report.
#[derive(Clone, Debug)]
pub struct Cache {
    directory: PathBuf,
    limits: Limits,
}

/// A file of the index.
#[derive(Clone, Debug)]
pub struct CacheFile {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was last used.
    pub used: SystemTime,
    /// What it was made from; `None` of a file that is damaged, or of a version that is not known.
    pub identity: Option<Identity>,
}

static OF_PROCESS: OnceLock<Cache> = OnceLock::new();

/// The index that this process uses; none unless [`use_for_process`] said so, as in every test.
pub fn of_process() -> Option<&'static Cache> {
    OF_PROCESS.get()
}

/// Lets this process use an index. Only the first call counts.
pub fn use_for_process(cache: Cache) {
    drop(OF_PROCESS.set(cache));
}

impl Cache {
    /// The index in the user's cache directory; `None` where there is no such directory.
    pub fn of_user() -> Option<Self> {
        let directory = dirs::cache_dir()?.join("tilescope").join("index");
        Some(Self::in_directory(directory, Limits::default()))
    }

    /// An index in a directory, which is made when it is first written to.
    pub fn in_directory(directory: PathBuf, limits: Limits) -> Self {
        Self { directory, limits }
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The index of a report in just this state; `None` where there is none that can be used.
    pub fn open(&self, identity: &Identity) -> Option<IndexFile> {
        let path = self.path_of(identity);
        match open_if_ours(&path).and_then(|(file, found)| {
            if decode_identity(&found)? != *identity {
                return Err(IndexError::Other);
            }
            // The time of change is that of the last use. Where it cannot be set, the index goes earlier.
            drop(file.set_modified(SystemTime::now()));
            Ok(found)
        }) {
            Ok(found) => Some(found),
            Err(IndexError::Io(error)) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::info!("index {} is not used: {error}", path.display());
                None
            }
        }
    }

    /// Where the columns of a report grow that is read to be indexed, and whose profile has so many bytes: an
    /// index of it takes no more, and while it is written its columns are there twice.
    pub fn room(&self, profile_bytes: u64) -> ColumnSpace {
        let is_wanted = profile_bytes >= self.limits.in_files_from_bytes;
        let has_room = || {
            make_private_directory(&self.directory).is_ok()
                && profile_bytes.saturating_mul(2) <= self.most_bytes()
        };
        if is_wanted && has_room() {
            ColumnSpace::in_files(self.directory.clone())
        } else {
            ColumnSpace::default()
        }
    }

    /// Whether what has so many rows is worth an index.
    pub fn is_worth(&self, rows: usize) -> bool {
        rows >= self.limits.from_rows
    }

    /// Removes what was found to be damaged.
    pub fn discard(&self, identity: &Identity) {
        drop(fs::remove_file(self.path_of(identity)));
    }

    /// Writes the index of a report of about `expected_bytes`: `write` adds the columns. Returns its size.
    ///
    /// # Errors
    /// When it would take too much room, cannot be written or was canceled; then nothing of it is left.
    pub(crate) fn write(
        &self,
        identity: &Identity,
        expected_bytes: u64,
        progress: &Progress,
        write: impl FnOnce(&mut ColumnWriter<BufWriter<Watched<'_, &File>>>) -> Result<(), IndexError>,
    ) -> Result<u64, IndexError> {
        make_private_directory(&self.directory)?;
        self.remove_stale();
        let most = self.most_bytes();
        if expected_bytes > most {
            let why = format!("about {expected_bytes} bytes, and {most} are what it may take");
            return Err(IndexError::NotWritten(why));
        }
        // Made with 0600 and a name that nobody else has; removed unless it is renamed.
        let make = || {
            tempfile::Builder::new()
                .prefix(&format!("{}.", identity.file_name()))
                .suffix(&format!(".{TEMPORARY}"))
                .tempfile_in(&self.directory)
        };
        let (temporary, _half_written) = HalfWritten::temporary(make)?;
        let mut writer =
            ColumnWriter::new(BufWriter::new(Watched { reader: temporary.as_file(), progress }))?;
        writer.encoded(IDENTITY, identity)?;
        write(&mut writer)?;
        writer.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        let bytes = temporary.as_file().metadata()?.len();
        // Whoever has the one before open keeps it.
        temporary.persist(self.path_of(identity)).map_err(|error| error.error)?;
        self.keep_within(most, &self.path_of(identity));
        Ok(bytes)
    }

    /// All files of the index, the one that was used last first.
    pub fn list(&self) -> Vec<CacheFile> {
        let mut entries = self.entries();
        for entry in &mut entries {
            let identity = open_if_ours(&entry.path).and_then(|(_, found)| decode_identity(&found));
            entry.identity = identity.ok();
        }
        entries
    }

    /// Removes all files of the index. Returns how many, and their bytes.
    ///
    /// # Errors
    /// When one of them cannot be removed.
    pub fn clear(&self) -> io::Result<(usize, u64)> {
        let (mut files, mut bytes) = (0_usize, 0_u64);
        for entry in self.files() {
            match fs::remove_file(&entry.path) {
                Ok(()) => {
                    files = files.saturating_add(1);
                    bytes = bytes.saturating_add(entry.bytes);
                }
                // Another process was faster.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok((files, bytes))
    }

    fn path_of(&self, identity: &Identity) -> PathBuf {
        self.directory.join(identity.file_name()).with_extension(EXTENSION)
    }

    /// Indexes and temporary files, and nothing else that lies there.
    fn files(&self) -> Vec<CacheFile> {
        let Ok(entries) = fs::read_dir(&self.directory) else { return Vec::new() };
        let entry = |entry: fs::DirEntry| {
            let path = entry.path();
            let extension = path.extension()?;
            let is_ours = extension == EXTENSION || extension == TEMPORARY;
            let metadata = entry.metadata().ok().filter(|it| is_ours && it.is_file())?;
            let used = metadata.modified().ok()?;
            Some(CacheFile { path, bytes: metadata.len(), used, identity: None })
        };
        let mut files: Vec<CacheFile> = entries.flatten().filter_map(entry).collect();
        files.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.path.cmp(&b.path)));
        files
    }

    fn entries(&self) -> Vec<CacheFile> {
        let mut entries = self.files();
        entries.retain(|entry| entry.path.extension().is_some_and(|it| it == EXTENSION));
        entries
    }

    /// Bytes that all files together may take now.
    fn most_bytes(&self) -> u64 {
        let taken = self.files().iter().fold(0_u64, |sum, entry| sum.saturating_add(entry.bytes));
        let free = free_bytes(&self.directory).unwrap_or(u64::MAX);
        let share = free.saturating_add(taken).checked_div(self.limits.one_in).unwrap_or(0);
        self.limits.most_bytes.min(share)
    }

    /// Removes what was used longest ago until the rest takes no more than `most` bytes; never `newest`.
    fn keep_within(&self, most: u64, newest: &Path) {
        let mut taken = 0_u64;
        for entry in self.entries() {
            taken = taken.saturating_add(entry.bytes);
            if taken > most && entry.path != newest {
                tracing::info!("index {}: removed, there is no room for it", entry.path.display());
                drop(fs::remove_file(&entry.path));
            }
        }
    }

    /// Removes temporary files that a process has left behind.
    fn remove_stale(&self) {
        let is_stale = |entry: &CacheFile| {
            let age = SystemTime::now().duration_since(entry.used).unwrap_or_default();
            entry.path.extension().is_some_and(|it| it == TEMPORARY) && age > STALE
        };
        for entry in self.files().iter().filter(|entry| is_stale(entry)) {
            drop(fs::remove_file(&entry.path));
        }
    }
}

fn decode_identity(found: &IndexFile) -> Result<Identity, IndexError> {
    found.decoded(IDENTITY)
}

/// Maps a file of the index, once it is seen that nobody else can have put it there or can change it.
fn open_if_ours(path: &Path) -> Result<(File, IndexFile), IndexError> {
    if let Some(directory) = path.parent() {
        check_private(&fs::metadata(directory)?)?;
    }
    let file = files::open(path)?;
    check_private(&file.metadata()?)?;
    let found = IndexFile::map(&file)?;
    Ok((file, found))
}

#[cfg(unix)]
fn check_private(metadata: &fs::Metadata) -> Result<(), IndexError> {
    use std::os::unix::fs::MetadataExt as _;
    let (mode, owner) = (metadata.mode() & 0o777, metadata.uid());
    let me = nix::unistd::geteuid().as_raw();
    if mode & 0o077 != 0 || owner != me {
        let found = format!("mode {mode:o} and user {owner}");
        return Err(IndexError::Damaged { what: "what only this user may change", found });
    }
    Ok(())
}

/// Elsewhere a user's directories are private by what they inherit.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "where modes are known, there is an error")]
fn check_private(_: &fs::Metadata) -> Result<(), IndexError> {
    Ok(())
}

#[cfg(unix)]
fn make_private_directory(directory: &Path) -> Result<(), IndexError> {
    use std::os::unix::fs::DirBuilderExt as _;
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
        _ => {}
    }
    check_private(&fs::metadata(directory)?)
}

#[cfg(not(unix))]
fn make_private_directory(directory: &Path) -> Result<(), IndexError> {
    Ok(fs::create_dir_all(directory)?)
}

/// Bytes that are free for this user on the disk of a directory, where the system says.
#[cfg(unix)]
#[allow(clippy::useless_conversion, reason = "on some systems these numbers are narrower")]
fn free_bytes(directory: &Path) -> Option<u64> {
    let disk = nix::sys::statvfs::statvfs(directory).ok()?;
    u64::from(disk.blocks_available()).checked_mul(u64::from(disk.fragment_size()))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}
