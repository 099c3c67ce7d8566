//! The story of one model: the same network at six values of `availableMemoryProportion`.

use std::path::{Path, PathBuf};

use super::machine::Architecture;
use super::network::Network;
use super::{Options, WriteError, write_report};
use crate::format::Progress;

/// The proportions of the story.
pub const PROPORTIONS: [f64; 6] = [0.8, 0.75, 0.6, 0.35, 0.01, 0.005];

/// The name of a run's directory.
pub fn directory_name(proportion: f64) -> String {
    format!("amp-{proportion}")
}

/// One run of the story: a ResNeXt-101, batch 8, on one Mk2 IPU.
pub fn options(proportion: f64) -> Options {
    Options {
        network: Network::Resnext101,
        proportion,
        tiles_per_ipu: Architecture::Mk2.tiles_per_ipu(),
        cycle_estimates: true,
        execution: true,
        ..Options::default()
    }
}

/// Writes the six runs into directories of their own.
///
/// # Errors
/// When one of them is there already, or a file cannot be written.
pub fn write_story(directory: &Path, progress: &Progress) -> Result<(), WriteError> {
    progress.expect(PROPORTIONS.iter().map(|proportion| options(*proportion).tiles()).sum());
    for proportion in PROPORTIONS {
        write_report(&options(proportion), &directory.join(directory_name(proportion)), progress)?;
    }
    Ok(())
}

/// Changes with the reports that the story is made of, so that nobody is shown old ones.
const DEMO: &str = "demo-2";

/// The directories of its runs, in the order of the story.
pub fn runs(directory: &Path) -> Vec<PathBuf> {
    PROPORTIONS.iter().map(|proportion| directory.join(directory_name(*proportion))).collect()
}

/// The story in the user's cache directory. Runs that are not there yet are written, each under
/// another name first: what is there under its own name is whole.
///
/// # Errors
/// When there is no cache directory, or a file cannot be written.
pub fn demo(progress: &Progress) -> Result<PathBuf, WriteError> {
    let directory = demo_directory()?;
    complete_story(&directory, progress)?;
    Ok(directory)
}

/// Where the demo is, or will be.
///
/// # Errors
/// When there is no cache directory.
pub fn demo_directory() -> Result<PathBuf, WriteError> {
    let cache = dirs::cache_dir().ok_or(WriteError::NoCacheDirectory)?;
    Ok(cache.join("tilescope").join(DEMO))
}

fn complete_story(directory: &Path, progress: &Progress) -> Result<(), WriteError> {
    let missing = |proportion: &f64| !directory.join(directory_name(*proportion)).is_dir();
    let missing: Vec<f64> = PROPORTIONS.into_iter().filter(missing).collect();
    progress.expect(missing.iter().map(|proportion| options(*proportion).tiles()).sum());
    missing.into_iter().try_for_each(|proportion| {
        write_whole(&directory.join(directory_name(proportion)), |unfinished| {
            write_report(&options(proportion), unfinished, progress)
        })
    })
}

/// Writes the directory of a run of a demo under another name and renames it, so that what is there under its own name
/// is whole.
pub(crate) fn write_whole(
    whole: &Path,
    write: impl FnOnce(&Path) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let io = WriteError::io;
    let demo = whole.parent().unwrap_or(whole);
    std::fs::create_dir_all(demo).map_err(io(demo))?;
    // Beside the demo: another window that looks what is there shall not find half of a report.
    let beside = demo.parent().unwrap_or(demo);
    let unfinished = tempfile::Builder::new().prefix("writing-").tempdir_in(beside);
    let unfinished = unfinished.map_err(io(demo))?;
    write(unfinished.path())?;
    match std::fs::rename(unfinished.path(), whole) {
        // It has another name now, under which it stays.
        Ok(()) => drop(unfinished.keep()),
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
        let progress = Progress::default();
        progress.cancel();
        assert!(matches!(complete_story(&directory, &progress), Err(WriteError::Cancelled)));
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 1);
        // What is there is not written again.
        for proportion in PROPORTIONS {
            std::fs::create_dir(directory.join(directory_name(proportion))).unwrap();
        }
        assert!(complete_story(&directory, &progress).is_ok());
    }
}
