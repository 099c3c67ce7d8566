//! Shared by the writers of synthetic runs, which are in `systems/*/synth`: how files are written together, stories of
//! several runs, and the transformer that several of them train.

pub mod story;
pub mod transformer;

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::ArgMatches;

use crate::format::Progress;
use crate::half_written::HalfWritten;
use crate::text::{bytes, grouped};
use story::Story;

/// How synthetic runs of a system are written.
#[derive(Debug)]
pub struct Synth {
    /// What is done, for people: "Writing the report".
    pub title: &'static str,
    /// What is written: "A report of Poplar".
    pub what: &'static str,
    /// The options that say what it is made of, each optional, under a heading that says whose they are.
    pub options: clap::Command,
    /// Writes what is wanted with what was given of these options.
    pub write: fn(&ArgMatches, &ToWrite<'_>, &Progress) -> Result<(), WriteError>,
    /// The runs of its demo, made where they are wanted: each start of the program asks for the options above.
    pub story: fn() -> Story,
    /// Whether "Open demo" and `demo` without `--system` show this one: most people know the system, and it is written at once.
    pub is_usual_demo: bool,
}

/// What the writers of all systems are told.
#[derive(Clone, Copy, Debug)]
pub struct ToWrite<'a> {
    /// Samples at a time.
    pub batch: u64,
    /// Bytes of a file, as often as whose size takes something is repeated.
    pub size: Option<u64>,
    /// What is different from run to run follows from it.
    pub seed: u64,
    /// The file or directory to write.
    pub output: &'a Path,
}

/// A number that looks drawn at random and is the same for the same seed (SplitMix64).
pub fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Why something cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The directory holds a profile already, and nothing is overwritten.
    #[error("{0} is there already; choose another directory")]
    Exists(PathBuf),
    /// A file or directory cannot be made.
    #[error("{file}: {error}")]
    Io {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// An array would be larger than what is written.
    #[error(
        "the {option} of {} is too large: {array} would take more than {}; choose less",
        grouped(*.value), bytes(*.most)
    )]
    TooLarge {
        /// The option that is to blame, by its name.
        option: &'static str,
        /// What it is.
        value: u64,
        /// The array, in words.
        array: &'static str,
        /// Bytes that it may take.
        most: u64,
    },
    /// Options contradict each other.
    #[error("{0}")]
    Conflict(&'static str),
    /// An option has no value that it can have.
    #[error("{0}")]
    Option(#[from] clap::Error),
    /// SQLite cannot write the database of a run.
    #[error("the database cannot be written: {0}")]
    Database(#[from] rusqlite::Error),
    /// The system names no directory for caches.
    #[error("there is no cache directory: neither XDG_CACHE_HOME nor HOME is set")]
    NoCacheDirectory,
    /// Nobody wants it any more.
    #[error("cancelled")]
    Cancelled,
}

impl WriteError {
    /// What the operating system said of a file.
    pub(crate) fn io(file: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let file = file.to_owned();
        |error| Self::Io { file, error }
    }
}

/// New files that are written together: unless all of them are there, none is left.
#[derive(Debug, Default)]
pub(crate) struct NewFiles {
    made: Vec<PathBuf>,
    half_written: Vec<HalfWritten>,
}

impl NewFiles {
    /// Writes another one.
    pub(crate) fn write<T>(
        &mut self,
        file: &Path,
        write: impl FnOnce(&mut File) -> std::io::Result<T>,
    ) -> Result<T, WriteError> {
        let made = HalfWritten::made(|| File::create_new(file), |_| file.to_owned());
        let (mut made, half_written) = made.map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => WriteError::Exists(file.to_owned()),
            _ => WriteError::io(file)(error),
        })?;
        self.half_written.push(half_written);
        self.made.push(file.to_owned());
        write(&mut made).map_err(WriteError::io(file))
    }

    /// Writes one that may replace an older one, which then stays.
    pub(crate) fn replace(&mut self, file: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        if file.exists() {
            return std::fs::write(file, bytes).map_err(WriteError::io(file));
        }
        self.write(file, |new| new.write_all(bytes))
    }

    /// Keeps them.
    pub(crate) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        for file in &self.made {
            // If one cannot be removed, that is said by what could not be written.
            let _ = std::fs::remove_file(file);
        }
    }
}
