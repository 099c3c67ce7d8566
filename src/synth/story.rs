//! Stories: runs of one model that tell something together, each in a directory of its own. They are the demos.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::WriteError;
use crate::format::Progress;
use crate::half_written::HalfWrittenDirectory;

/// The runs of a story.
#[derive(Debug)]
pub struct Story {
    /// The name of its directory in the cache, which changes with the runs, so that nobody is shown old ones.
    pub demo: &'static str,
    /// The runs, in their order.
    pub runs: Vec<StoryRun>,
    /// Whether the window shows them in a sweep; else side by side.
    pub is_sweep: bool,
}

type WriteRun = Box<dyn Fn(&Path, &Progress) -> Result<(), WriteError>>;

/// A run of a story.
pub struct StoryRun {
    /// The name of its directory.
    pub directory: String,
    /// What opens it below that; empty where the directory does.
    pub file: &'static str,
    /// By how much writing it advances.
    pub units: u64,
    /// Writes it into a directory.
    pub write: WriteRun,
}

impl fmt::Debug for StoryRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.directory)
    }
}

impl StoryRun {
    /// A run that its directory opens.
    pub fn new(
        directory: impl Into<String>,
        units: u64,
        write: impl Fn(&Path, &Progress) -> Result<(), WriteError> + 'static,
    ) -> Self {
        Self { directory: directory.into(), file: "", units, write: Box::new(write) }
    }
}

impl Story {
    /// Writes the runs into directories of their own.
    ///
    /// # Errors
    /// When one of them is there already, or a file cannot be written.
    pub fn write(&self, directory: &Path, progress: &Progress) -> Result<(), WriteError> {
        progress.expect(self.runs.iter().map(|run| run.units).sum());
        self.runs.iter().try_for_each(|run| (run.write)(&directory.join(&run.directory), progress))
    }

    /// What opens its runs, in their order.
    pub fn runs(&self, directory: &Path) -> Vec<PathBuf> {
        let opened = |run: &StoryRun| match run.file {
            "" => directory.join(&run.directory),
            file => directory.join(&run.directory).join(file),
        };
        self.runs.iter().map(opened).collect()
    }

    /// What the window is opened on.
    pub fn opened(&self, directory: &Path) -> Vec<PathBuf> {
        if self.is_sweep { vec![directory.to_owned()] } else { self.runs(directory) }
    }

    /// Where the demo is, or will be.
    ///
    /// # Errors
    /// When there is no cache directory.
    pub fn demo_directory(&self) -> Result<PathBuf, WriteError> {
        let cache = dirs::cache_dir().ok_or(WriteError::NoCacheDirectory)?;
        Ok(cache.join("tilescope").join(self.demo))
    }

    /// The story in the user's cache directory. Runs that are not there yet are written, each under
    /// another name first: what is there under its own name is whole.
    ///
    /// # Errors
    /// When there is no cache directory, or a file cannot be written.
    pub fn demo(&self, progress: &Progress) -> Result<PathBuf, WriteError> {
        let directory = self.demo_directory()?;
        self.complete(&directory, progress)?;
        Ok(directory)
    }

    /// The runs that are not in the directory yet.
    fn missing(&self, directory: &Path) -> Vec<&StoryRun> {
        let is_missing = |run: &&StoryRun| !directory.join(&run.directory).is_dir();
        self.runs.iter().filter(is_missing).collect()
    }

    /// Whether all runs are in the directory, so that none has to be written.
    pub fn is_written(&self, directory: &Path) -> bool {
        self.missing(directory).is_empty()
    }

    fn complete(&self, directory: &Path, progress: &Progress) -> Result<(), WriteError> {
        let missing = self.missing(directory);
        progress.expect(missing.iter().map(|run| run.units).sum());
        missing.into_iter().try_for_each(|run| {
            write_whole(&directory.join(&run.directory), |unfinished| {
                (run.write)(unfinished, progress)
            })
        })
    }
}

/// What directories that are not whole begin with.
const UNFINISHED: &str = "writing-";
/// When one that somebody has left is taken away: after that none is still written.
const LEFT_BEHIND: Duration = Duration::from_hours(24);

/// Takes away what a process that was killed has left a day ago.
fn take_away_left_behind(beside: &Path) {
    for entry in std::fs::read_dir(beside).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        let made = entry.metadata().ok().filter(std::fs::Metadata::is_dir);
        let made = made.and_then(|of| of.modified().ok()?.elapsed().ok());
        if is_ours && made.is_some_and(|age| age > LEFT_BEHIND) {
            // It may be somebody else's to remove.
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
}

/// Writes the directory of a run of a demo under another name and renames it, so that what is there under its own name
/// is whole.
fn write_whole(
    whole: &Path,
    write: impl FnOnce(&Path) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let io = WriteError::io;
    let demo = whole.parent().unwrap_or(whole);
    std::fs::create_dir_all(demo).map_err(io(demo))?;
    // Beside the demo: another window that looks what is there shall not find half of a report.
    let beside = demo.parent().unwrap_or(demo);
    take_away_left_behind(beside);
    let unfinished = HalfWrittenDirectory::new(UNFINISHED, beside).map_err(io(demo))?;
    write(unfinished.path())?;
    match std::fs::rename(unfinished.path(), whole) {
        // It has another name now, under which it stays.
        Ok(()) => unfinished.keep(),
        // Another window has written the same report meanwhile.
        Err(_) if whole.is_dir() => {}
        Err(error) => return Err(io(whole)(error)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_demo_leaves_nothing_half_written() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("demo");
        std::fs::create_dir(&directory).unwrap();
        let write = |directory: &Path, progress: &Progress| {
            std::fs::write(directory.join("half"), "").map_err(WriteError::io(directory))?;
            if progress.is_cancelled() { Err(WriteError::Cancelled) } else { Ok(()) }
        };
        let runs = ["one", "two"].map(|name| StoryRun::new(name, 1, write)).into();
        let story = Story { demo: "demo", runs, is_sweep: false };
        let progress = Progress::default();
        progress.cancel();
        assert!(!story.is_written(&directory));
        assert!(matches!(story.complete(&directory, &progress), Err(WriteError::Cancelled)));
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 1);
        // What is there is not written again.
        for run in story.runs(&directory) {
            std::fs::create_dir(run).unwrap();
        }
        assert!(story.is_written(&directory) && story.complete(&directory, &progress).is_ok());
    }

    #[test]
    fn what_was_left_behind_goes_when_it_is_old() {
        let cache = tempfile::tempdir().unwrap();
        let [old, new, other] =
            ["writing-old", "writing-new", "other"].map(|name| cache.path().join(name));
        for directory in [&old, &new, &other] {
            std::fs::create_dir(directory).unwrap();
        }
        for directory in [&old, &other] {
            let file = std::fs::File::open(directory).unwrap();
            file.set_modified(std::time::SystemTime::now() - 2 * LEFT_BEHIND).unwrap();
        }
        take_away_left_behind(cache.path());
        assert!(!old.exists() && new.exists() && other.exists());
    }
}
