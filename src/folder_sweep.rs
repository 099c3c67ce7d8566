//! The sweep of a folder: all its reports read, and the facts of each. The command and the window share it.

use std::path::Path;

use crate::analysis::cross_checks::contradictions;
use crate::analysis::sweep::{RunError, Sweep, SweepRun};
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::no_runs;
use crate::store::{Report, Warning, WarningCode, Warnings};
use crate::systems::poplar::files::{
    FolderReport, FolderRun, OpenReport, map_reports, runs_in_folder,
};
use crate::systems::poplar::insights::logs::log_messages;

/// All reports below a folder side by side, and the warnings of the folder itself. What cannot be read is a run
/// with its error.
///
/// # Errors
/// When the folder cannot be read or has no report in it, and when it was cancelled.
pub(crate) fn read_sweep(
    folder: &Path,
    progress: &Progress,
) -> Result<(Sweep, Vec<Warning>), Error> {
    let warnings = Warnings::default();
    if folder.is_file() {
        return Err(no_runs(folder, None, progress));
    }
    let found = runs_in_folder(folder, &warnings, progress)?;
    if found.reports.is_empty() {
        return Err(no_runs(folder, None, progress));
    }
    let of_report = |place: &FolderReport, open: Result<&OpenReport, &Error>| {
        open.map_or_else(|error| facts(place, Err(error)), |open| read_facts(place, open, progress))
    };
    let Some(mut runs) = map_reports(&found.reports, progress, of_report) else {
        return Err(Error::new(ErrorKind::Unreadable, "cancelled"));
    };
    runs.extend(found.without_report.iter().map(|run| without_report(run, progress)));
    Ok((Sweep::new(runs), warnings.list()))
}

fn without_report(run: &FolderRun, progress: &Progress) -> SweepRun {
    let side_files = OpenReport::without_profile(&run.path, progress, log_messages);
    SweepRun::without_report(run.path.display().to_string(), run.name.clone(), &side_files)
}

/// The facts of a report, for which its debug contexts and logs are read.
pub(crate) fn read_facts(place: &FolderReport, open: &OpenReport, progress: &Progress) -> SweepRun {
    open.read_debug_info(progress);
    open.read_logs(&[], progress, log_messages);
    open.compare_parts(|report| contradictions(report, progress));
    facts(place, Ok(&open.report))
}

/// The facts of a report, or why it cannot be read.
pub(crate) fn facts(place: &FolderReport, report: Result<&Report, &Error>) -> SweepRun {
    let (path, name) = (place.path.display().to_string(), place.name.clone());
    let error = match report {
        Ok(report) => return SweepRun::of(path, name, report),
        Err(error) => error,
    };
    let code = match error.kind {
        ErrorKind::UnsupportedVersion => WarningCode::UnsupportedVersion,
        _ => WarningCode::Inconsistent,
    };
    let warnings = Warnings::default();
    let file = place.profile.file_name().map(|name| name.to_string_lossy().into_owned());
    let message = format!("cannot be read: {}", error.message);
    warnings.add(code, &file.unwrap_or_default(), message);
    let reason = RunError {
        kind: error.kind.as_str().to_owned(),
        at: error.at.clone(),
        message: error.message.clone(),
    };
    SweepRun { warnings: warnings.list(), ..SweepRun::unreadable(path, name, reason) }
}

/// Warnings of a folder, then of each of its runs, whose files are named as seen from the folder.
pub(crate) fn all_warnings<'a>(
    folder: &[Warning],
    runs: impl Iterator<Item = (&'a str, &'a [Warning])>,
) -> Vec<Warning> {
    let of_run = |(run, warnings): (&'a str, &'a [Warning])| {
        let named = |warning: &Warning| Warning { file: file_of(run, warning), ..warning.clone() };
        warnings.iter().map(named).collect::<Vec<_>>()
    };
    folder.iter().cloned().chain(runs.flat_map(of_run)).collect()
}

/// The same for people: what is said of the same file of several runs is one.
pub(crate) fn shared_warnings<'a>(
    folder: &[Warning],
    runs: impl Iterator<Item = (&'a str, &'a [Warning])>,
) -> Vec<Warning> {
    let mut shared = folder.to_vec();
    let mut seen: Vec<(&Warning, Vec<&str>)> = Vec::new();
    for (run, warnings) in runs {
        for warning in warnings {
            match seen.iter_mut().find(|(known, _)| *known == warning) {
                Some((_, names)) => names.push(run),
                None => seen.push((warning, vec![run])),
            }
        }
    }
    shared.extend(seen.into_iter().map(|(warning, names)| {
        let file = match names.as_slice() {
            [name] => file_of(name, warning),
            names => format!("{} of {} reports", warning.file, names.len()),
        };
        Warning { file, ..warning.clone() }
    }));
    shared
}

/// The file of a warning as seen from the folder.
fn file_of(run: &str, warning: &Warning) -> String {
    let run = Path::new(run);
    // A run may be called by its profile.
    let is_profile = run.extension().is_some_and(|extension| extension == "pop");
    let directory = run.parent().filter(|_| is_profile).unwrap_or(run);
    directory.join(&warning.file).display().to_string()
}
