//! Of which system a run is, by what is in its files, and the run opened: the one place where that is decided.

use std::path::Path;

use crate::format::{Error, Progress};
use crate::systems::poplar::system::FoundReport;
use crate::systems::pytorch::files::SnapshotFiles;
pub use crate::systems::pytorch::run::{
    ReplayedSnapshot, RunContents, SnapshotRun, compare_claims,
};
use crate::systems::system::FoundRun;
pub use crate::systems::xla::run::{
    AgreedFigure, Agreement, ErrorText, Program, ProgramSizes, XlaFiles, XlaRun, dump_of_text,
    find as find_module, programs_below, stated_bytes,
};
use crate::systems::{find, of_process};

/// What a path names.
#[derive(Debug)]
pub enum RunFiles {
    /// A report of Poplar.
    Poplar(FoundReport),
    /// A file of PyTorch's.
    Pytorch(Box<SnapshotFiles>),
    /// Modules of XLA.
    Xla(Box<XlaFiles>),
}

/// Finds out what a path names. Where a directory has a report of Poplar, it is that.
///
/// # Errors
/// When there are several snapshots, and as [`systems::refusal`](crate::systems::refusal) for something that no reader takes.
pub fn files_of_run(path: &Path, progress: &Progress) -> Result<RunFiles, Error> {
    files_of_module(path, None, progress)
}

/// The same, with the module of XLA that is meant by a part of its name.
///
/// # Errors
/// As [`files_of_run`], and where a module is named that is not there, or that the system does not have.
pub fn files_of_module(
    path: &Path,
    module: Option<&str>,
    progress: &Progress,
) -> Result<RunFiles, Error> {
    Ok(find(of_process(), path, module, progress)?.into_files())
}

impl RunFiles {
    /// The run, whatever system it is of.
    pub fn found(&self) -> &dyn FoundRun {
        match self {
            Self::Poplar(found) => found,
            Self::Pytorch(files) => &**files,
            Self::Xla(files) => &**files,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A directory with these files below it.
    fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        directory
    }

    #[test]
    fn a_report_in_a_directory_is_found_without_a_look_below() {
        let files: Vec<String> = (0..300).map(|name| format!("below/{name}")).collect();
        let files = files.iter().map(|name| (name.as_str(), &b""[..]));
        let directory = directory(&files.chain([("profile.pop", &b""[..])]).collect::<Vec<_>>());
        // Whoever looks below asks at each directory whether to go on.
        let progress = Progress::asking(|| panic!("nothing is walked through"));
        let files = files_of_run(directory.path(), &progress);
        assert!(matches!(files, Ok(RunFiles::Poplar(found)) if found.warnings.is_empty()));
        fs::remove_file(directory.path().join("profile.pop")).unwrap();
        let progress = Progress::default();
        progress.cancel();
        let files = files_of_run(directory.path(), &progress);
        assert!(
            files.is_err_and(|error| error.message == "cancelled"),
            "it ends when nobody waits"
        );
    }
}
