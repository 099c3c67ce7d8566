//! Of which system a run is, by what is in its files, and the run opened: the one place where that is decided.

use std::path::{Path, PathBuf};

use crate::format::{Error, ErrorKind, Progress};
use crate::store::hlo::ListedModule;
use crate::systems::poplar::system::FoundReport;
use crate::systems::pytorch::files::SnapshotFiles;
pub use crate::systems::pytorch::run::{
    ReplayedSnapshot, RunContents, SnapshotRun, compare_claims, device_id,
};
use crate::systems::system::FoundRun;
use crate::systems::xla::compared::common_module;
use crate::systems::xla::files::FoundModule;
pub use crate::systems::xla::run::{
    AgreedFigure, Agreement, ErrorText, Program, ProgramSizes, XlaFiles, XlaRun, dump_of_text,
    find as find_module, programs_below, stated_bytes,
};
use crate::systems::{SYSTEMS, find};

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
    Ok(find(SYSTEMS, path, module, progress)?.into_files())
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

    /// The modules of a dump, the one that is meant first; none of other systems.
    fn modules(&self) -> &[FoundModule] {
        match self {
            Self::Xla(files) => &files.modules,
            Self::Poplar(_) | Self::Pytorch(_) => &[],
        }
    }
}

/// The runs that paths name, which are to be compared with the first. Of dumps it is the first module of the first path
/// that all others have, if none is named.
///
/// # Errors
/// When they are of several systems, and as [`files_of_module`].
pub fn runs_to_compare(
    paths: &[&Path],
    module: Option<&str>,
    progress: &Progress,
) -> Result<Vec<(PathBuf, RunFiles)>, Error> {
    let find = |path: &&Path| Ok((path.to_path_buf(), files_of_module(path, module, progress)?));
    let mut runs: Vec<(PathBuf, RunFiles)> =
        paths.iter().map(find).collect::<Result<_, Error>>()?;
    if let Some((first, others)) = runs.split_first() {
        let other = others.iter().find(|(_, other)| title_of(other) != title_of(&first.1));
        if let Some(other) = other {
            return Err(of_several_systems(first, other));
        }
    }
    if module.is_none() {
        prefer_common_module(&mut runs);
    }
    Ok(runs)
}

fn title_of(files: &RunFiles) -> &'static str {
    files.found().system().title()
}

fn of_several_systems(
    (first, files): &(PathBuf, RunFiles),
    (other, of_other): &(PathBuf, RunFiles),
) -> Error {
    let message = format!(
        "{} is of {}, and {} is of {}: runs of different systems have neither steps nor variables in common",
        first.display(),
        title_of(files),
        other.display(),
        title_of(of_other)
    );
    Error::new(ErrorKind::Usage, message).hint("Compare runs of one system.")
}

/// Puts the module that is compared first. Where dumps have none in common each keeps its own.
fn prefer_common_module(runs: &mut [(PathBuf, RunFiles)]) {
    let list = |(_, files): &(PathBuf, RunFiles)| {
        files.modules().iter().map(|one| one.listed.clone()).collect()
    };
    let lists: Vec<Vec<ListedModule>> = runs.iter().map(list).collect();
    let lists = lists.iter().map(|list| list.iter().collect());
    let places = common_module(&lists.collect::<Vec<_>>()).unwrap_or_default();
    for ((_, files), place) in runs.iter_mut().zip(places) {
        if let RunFiles::Xla(files) = files
            && let Some(modules) = files.modules.get_mut(..=place)
        {
            modules.rotate_right(1);
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
