//! Of which system a run is, by what is in its files, and the run opened: the one place where that is decided.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::format::{Error, ErrorKind, Progress};
use crate::store::{WarningCode, Warnings};
use crate::systems::poplar::files as poplar;
use crate::systems::poplar::system::FoundReport;
use crate::systems::pytorch::files::{self as pytorch, FileKind, SnapshotFiles};
pub use crate::systems::pytorch::run::{
    ReplayedSnapshot, RunContents, SnapshotRun, compare_claims,
};
use crate::systems::system::FoundRun;
use crate::systems::xla::run as xla_run;
pub use crate::systems::xla::run::{
    AgreedFigure, Agreement, ErrorText, Program, ProgramSizes, XlaFiles, XlaRun, dump_of_text,
    find as find_module, programs_below, stated_bytes, texts_in,
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

/// Why there is nothing at a path that could be put beside other runs.
pub fn no_runs(path: &Path, module: Option<&str>, progress: &Progress) -> Error {
    match files_of_module(path, module, progress) {
        Err(error) => error,
        Ok(_) => {
            let message = format!("{} has no runs to put side by side", path.display());
            Error::new(ErrorKind::NotAReport, message)
                .in_file(path)
                .hint("Name a directory with several reports, memory snapshots or dumps.")
        }
    }
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

/// What several paths name that are to be compared.
#[derive(Debug)]
pub enum RunsOfPaths {
    /// Reports of Poplar, or nothing that another reader knows.
    Poplar,
    /// Snapshots, by path. Timelines have no bytes that a table could compare.
    Pytorch(Vec<SnapshotFiles>),
    /// Programs of XLA, each by itself.
    Xla(Vec<XlaFiles>),
}

/// Finds out what paths name; `warnings` says what was not looked into, and what is there and does not count. Where one
/// of them has a report of Poplar, all are of that. Of dumps of XLA it is the module of each that is meant, or the one of a
/// name, in all its compilations.
pub fn runs_of_paths(
    paths: &[PathBuf],
    module: Option<&str>,
    warnings: &Warnings,
    progress: &Progress,
) -> RunsOfPaths {
    let mut found: BTreeMap<PathBuf, SnapshotFiles> = BTreeMap::new();
    let mut is_poplar = false;
    for path in paths {
        let runs = if path.is_dir() {
            is_poplar |= poplar::has_report(path, warnings, progress).unwrap_or(false);
            pytorch::runs_below(path, warnings, progress)
        } else {
            // What is named by itself is one, also if it is a rank of a run.
            pytorch::find(path, warnings, progress).ok().flatten().into_iter().collect()
        };
        let snapshots = runs.into_iter().filter(|files| files.kind == FileKind::Snapshot);
        found.extend(snapshots.map(|files| (files.path.clone(), files)));
    }
    if found.is_empty() && !is_poplar {
        let programs = xla_run::programs_below(paths, module, warnings, progress);
        if !programs.is_empty() {
            return RunsOfPaths::Xla(programs);
        }
    }
    if found.is_empty() || is_poplar {
        if let Some(first) = found.keys().next() {
            let message = format!(
                "{} memory snapshots are left out, for there are reports of Poplar as well; name them to compare them",
                found.len()
            );
            warnings.add(WarningCode::Inconsistent, &first.display().to_string(), message);
        }
        return RunsOfPaths::Poplar;
    }
    RunsOfPaths::Pytorch(found.into_values().collect())
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

    const SNAPSHOT: &[u8] = b"\x80\x04}X\x08\0\0\0segments]s.";

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

    #[test]
    fn snapshots_beside_reports_are_named_and_what_cannot_be_listed_too() {
        let both = directory(&[("a/profile.pop", b""), ("b/one.pickle", SNAPSHOT)]);
        let found = |path: &Path| {
            let warnings = Warnings::default();
            let runs = runs_of_paths(&[path.to_owned()], None, &warnings, &Progress::default());
            let messages = warnings.list().into_iter().map(|warning| warning.message);
            let count = match runs {
                RunsOfPaths::Poplar => 0,
                RunsOfPaths::Pytorch(files) => files.len(),
                RunsOfPaths::Xla(programs) => programs.len(),
            };
            (count, messages.collect::<Vec<_>>().join("\n"))
        };
        let (count, said) = found(both.path());
        assert!(count == 0 && said.starts_with("1 memory snapshots are left out"), "{said}");
        assert_eq!(found(&both.path().join("b")), (1, String::new()));
        let snapshot = both.path().join("b/one.pickle");
        assert_eq!(found(&snapshot), (1, String::new()));
    }
}
