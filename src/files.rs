//! Opens what is a file and nothing else. Opening a FIFO waits for a writer, a device may act when it is opened, so
//! what a path names is told apart before.

pub(crate) mod looks_like;
pub(crate) mod packed;
mod texts;

use std::borrow::BorrowMut;
use std::fs::{self, DirEntry, File, FileType, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::work::Work;

pub(crate) use texts::{MOST_OF_TEXT, entries, small_texts};

/// Opens a file to read.
///
/// # Errors
/// What the operating system says, and `InvalidInput` for what is no file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let check = |kind| match special(kind) {
        Some(what) => Err(io::Error::new(io::ErrorKind::InvalidInput, not_a_file(what))),
        None => Ok(()),
    };
    check(fs::metadata(path)?.file_type())?;
    let mut options = OpenOptions::new();
    options.read(true);
    // Something else may have come in its place meanwhile; then this does not wait. On files it means nothing.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nix::libc::O_NONBLOCK);
    let file = options.open(path)?;
    check(file.metadata()?.file_type())?;
    Ok(file)
}

/// What a path names in place of a file; `None` for a file and where there is nothing.
pub(crate) fn in_place_of_file(path: &Path) -> Option<&'static str> {
    special(fs::metadata(path).ok()?.file_type())
}

/// `it is a directory, not a file`.
pub(crate) fn not_a_file(what: &str) -> String {
    format!("it is {what}, not a file")
}

/// Lists a directory, as far as its entries can be read. The time of a sweep that lists one again for
/// each run in it grows with the square of the runs, so names are counted.
///
/// # Errors
/// What the operating system says of the directory.
pub(crate) fn listed(directory: &Path) -> io::Result<impl Iterator<Item = DirEntry> + use<>> {
    Ok(fs::read_dir(directory)?.flatten().inspect(|_| Work::Names.add(1)))
}

/// The directory of a file; the current one of a file that is named without.
pub(crate) fn directory_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The name of a file in messages.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Reads what a file has at a position, as much as there is room for; where it is read otherwise does not change.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, buffer, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, buffer, offset);
    #[cfg(not(any(unix, windows)))]
    return Err(io::ErrorKind::Unsupported.into());
}

/// The same until there is no more room, or nothing more in the file; how much was read.
pub(crate) fn read_up_to_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0_usize;
    while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
        match read_at(file, room, offset.saturating_add(filled as u64)) {
            Ok(0) => break,
            Ok(read) => filled = filled.saturating_add(read),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The same, all of it.
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    let filled = read_up_to_at(file, buffer, offset)?;
    if filled < buffer.len() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// A file as far as it has bytes: a hole is left out, which would be read as zeros. So a file of some bytes that says
/// to be longer than any disk is read at once. Only Linux says where holes are; what does not say so is read as it is.
pub(crate) struct WithoutHoles<F>(pub(crate) F);

impl<F: BorrowMut<File>> Read for WithoutHoles<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let file = self.0.borrow_mut();
        #[cfg(target_os = "linux")]
        if let Ok(position) = io::Seek::stream_position(file) {
            use nix::errno::Errno;
            use nix::unistd;
            let from = i64::try_from(position).unwrap_or(i64::MAX);
            let next = unistd::lseek(&*file, from, unistd::Whence::SeekData);
            // Files that the system makes up say to have no bytes.
            if next == Err(Errno::ENXIO) && file.metadata()?.len() > position {
                return Ok(0);
            }
            // Up to the next hole.
            if let Ok(data) = next {
                let end = unistd::lseek(&*file, data, unistd::Whence::SeekHole).unwrap_or(i64::MAX);
                unistd::lseek(&*file, data, unistd::Whence::SeekSet)?;
                let most = usize::try_from(end.saturating_sub(data)).unwrap_or(usize::MAX);
                let room = buffer.len().min(most);
                return file.read(buffer.get_mut(..room).unwrap_or_default());
            }
        }
        file.read(buffer)
    }
}

fn special(kind: FileType) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return Some("a FIFO");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
        if kind.is_block_device() || kind.is_char_device() {
            return Some("a device");
        }
    }
    match () {
        () if kind.is_file() => None,
        () if kind.is_dir() => Some("a directory"),
        () => Some("something else"),
    }
}

/// A temporary file, which everybody may read who may read new files of the user.
pub(crate) fn new_file(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tilescope-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory)
}

/// Whether a file would lie in the directory of a report or below it, through whatever links; the report may be named by a
/// file of it.
pub(crate) fn is_below(path: &Path, report: &Path) -> bool {
    let directory = if report.is_dir() { Some(report) } else { report.parent() };
    let real = |path: &Path| path.canonicalize().ok();
    match (real(&directory_of(path)), directory.and_then(real)) {
        (Some(parent), Some(directory)) => parent.starts_with(directory),
        _ => false,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_not_opened() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink(at("fifo"), at("link")).unwrap();
        fs::write(at("file"), "text").unwrap();
        let said = |path: &Path| open(path).map(drop).map_err(|error| error.to_string());
        assert_eq!(said(&at("fifo")).unwrap_err(), "it is a FIFO, not a file");
        assert_eq!(said(&at("link")).unwrap_err(), "it is a FIFO, not a file");
        assert_eq!(said(&at("socket")).unwrap_err(), "it is a socket, not a file");
        assert_eq!(said(Path::new("/dev/zero")).unwrap_err(), "it is a device, not a file");
        assert_eq!(said(directory.path()).unwrap_err(), "it is a directory, not a file");
        assert_eq!(said(&at("file")), Ok(()));
        assert_eq!(in_place_of_file(&at("absent")), None);
    }
}
