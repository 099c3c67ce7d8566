//! A run that is piped in, where `-` stands in place of its path: commands read it from a file, so it becomes one.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use crate::format::{Error, ErrorKind, Progress};
use crate::half_written::HalfWrittenDirectory;
use crate::progress::Watched;

/// What its file is called, and so the run.
const NAME: &str = "standard input";

/// Where a run is read: at its path, or in a file that is removed when this is dropped.
pub struct RunPlace<'a> {
    pub path: Cow<'a, Path>,
    _kept: Option<HalfWrittenDirectory>,
}

impl<'a> RunPlace<'a> {
    /// The place of a run; standard input is read to its end for `-`.
    ///
    /// # Errors
    /// `usage` where nothing is piped in, and `unreadable` when it cannot be read or kept.
    pub fn of(path: &'a Path, progress: &Progress) -> Result<Self, Error> {
        if path.as_os_str() != "-" {
            return Ok(Self { path: Cow::Borrowed(path), _kept: None });
        }
        let input = io::stdin();
        if input.is_terminal() {
            let error = Error::new(ErrorKind::Usage, "nothing is piped in");
            return Err(error.hint("Name the run, or pipe it into the command."));
        }
        let keep = || {
            let kept = HalfWrittenDirectory::new("tilescope-", &tempfile::env::temp_dir())?;
            let path = kept.path().join(NAME);
            io::copy(&mut Watched { reader: input.lock(), progress }, &mut File::create(&path)?)?;
            Ok(Self { path: path.into(), _kept: Some(kept) })
        };
        keep().map_err(|error: io::Error| {
            Error::new(ErrorKind::Unreadable, format!("{NAME}: {error}"))
                .hint("It is kept in a file while it is read: is there room for temporary files?")
        })
    }
}
