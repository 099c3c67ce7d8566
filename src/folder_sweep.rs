//! The sweep of a folder: all its reports read, and the facts of each. The command and the window share it.

use std::path::Path;

use crate::analysis::insights::logs::log_messages;
use crate::analysis::sweep::{RunError, Sweep, SweepRun};
use crate::format::poplar::{FolderReport, FolderRun, OpenReport, map_reports, runs_in_folder};
use crate::format::{Error, ErrorKind, Progress};
use crate::store::{Report, Warning, WarningCode, Warnings};

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
    let found = runs_in_folder(folder, &warnings)?;
    let read_more = |open: &OpenReport, progress: &Progress| {
        open.read_debug_info(progress);
        open.read_logs(&[], log_messages);
    };
    let Some(mut runs) = map_reports(&found.reports, progress, read_more, facts) else {
        return Err(Error::new(ErrorKind::Unreadable, "cancelled"));
    };
    runs.extend(found.without_report.iter().map(without_report));
    Ok((Sweep::new(runs), warnings.list()))
}

fn without_report(run: &FolderRun) -> SweepRun {
    let side_files = OpenReport::without_profile(&run.path, log_messages);
    SweepRun::without_report(run.path.display().to_string(), run.name.clone(), &side_files)
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
