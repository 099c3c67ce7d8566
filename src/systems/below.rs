//! The files below a directory, among which a system looks for its runs, and the only run there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::system::FoundRun;
use crate::files;
use crate::format::{Error, ErrorKind, Progress};
use crate::store::{WarningCode, Warnings};

/// How deep files are looked for below a directory.
const MAX_DEPTH: usize = 4;
/// Files that are looked into.
pub const MOST_FILES: usize = 20_000;

/// Hands over each file in a directory and a few levels below it, in no order; links to directories are not followed.
/// `warnings` says what was not looked into.
pub fn each_file_below(
    root: &Path,
    warnings: &Warnings,
    progress: &Progress,
    mut each: impl FnMut(PathBuf),
) {
    let warn = |path: &Path, message: String| {
        warnings.add(WarningCode::Inconsistent, &path.display().to_string(), message);
    };
    let mut directories = vec![(root.to_owned(), 0_usize)];
    let mut looked_at = 0_usize;
    while let Some((directory, depth)) = directories.pop() {
        let entries = match files::listed(&directory) {
            Ok(entries) => entries,
            Err(error) => {
                warn(&directory, format!("not searched: {error}"));
                continue;
            }
        };
        for entry in entries {
            looked_at = looked_at.saturating_add(1);
            if looked_at > MOST_FILES {
                warn(
                    root,
                    format!("only the first {MOST_FILES} files were searched; there are more"),
                );
            }
            if looked_at > MOST_FILES || progress.is_cancelled() {
                return;
            }
            match entry.file_type() {
                Ok(kind) if !kind.is_dir() => each(entry.path()),
                Ok(_) if depth < MAX_DEPTH => {
                    directories.push((entry.path(), depth.saturating_add(1)));
                }
                _ => {}
            }
        }
    }
}

/// Leaves out what only says how a run was made, where a run is there, of whatever system: settings beside a recording
/// are no run that left no report.
pub fn leave_out_settings_of_others(runs: &mut Vec<Box<dyn FoundRun>>) {
    let whole = runs.iter().filter(|run| run.has_report());
    let there: BTreeSet<PathBuf> = whole.map(|run| run.opened_by()).collect();
    let has_run = |path: &Path| {
        let first = there.range(path.to_owned()..).next();
        first.is_some_and(|other| other.starts_with(path))
    };
    runs.retain(|run| run.has_report() || !has_run(run.path()));
}

/// The run of a directory that has no other; `None` where it has none.
///
/// # Errors
/// `several-reports` with their list.
pub fn only_run(
    directory: &Path,
    mut runs: Vec<Box<dyn FoundRun>>,
) -> Result<Option<Box<dyn FoundRun>>, Error> {
    if runs.len() < 2 {
        return Ok(runs.pop());
    }
    let mut list: Vec<_> = runs.iter().map(|run| format!("  {}", run.path().display())).collect();
    list.sort();
    let message = format!("{} holds several runs:\n{}", directory.display(), list.join("\n"));
    Err(Error::new(ErrorKind::SeveralReports, message).of_several(directory))
}
