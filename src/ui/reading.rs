//! Reading many reports beside the window: a sweep, and a glance at reports that may be opened.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::analysis::insights::logs::log_messages;
use crate::analysis::sweep::{RunError, Sweep, SweepRun};
use crate::format::poplar::{
    FolderReport, OpenReport, map_reports, reports_beside, runs_in_folder,
};
use crate::format::{Error, Progress};
use crate::store::{Report, Warnings};
use crate::text::counted;

/// Reads all reports below a folder. Fails with a text for people.
pub fn read_sweep(folder: &Path, progress: &Progress) -> Result<Sweep, String> {
    // What cannot be looked into is no run; what cannot be read is one, with its error.
    let found = runs_in_folder(folder, &Warnings::default()).map_err(|error| error.message)?;
    let runs = map_reports(
        &found.reports,
        progress,
        |open, progress| {
            open.read_debug_info(progress);
            open.read_logs(&[], log_messages);
        },
        run,
    );
    let mut runs = runs.ok_or("Cancelled")?;
    let without = found.without_report.iter().map(|run| {
        let side_files = OpenReport::without_profile(&run.path, log_messages);
        SweepRun::without_report(run.path.display().to_string(), run.name.clone(), &side_files)
    });
    runs.extend(without);
    Ok(Sweep::new(runs))
}

fn run(place: &FolderReport, report: Result<&Report, &Error>) -> SweepRun {
    let (path, name) = (place.path.display().to_string(), place.name.clone());
    match report {
        Ok(report) => SweepRun::of(path, name, report),
        Err(error) => {
            let reason = RunError {
                kind: error.kind.as_str().to_owned(),
                at: error.at.clone(),
                message: error.message.clone(),
            };
            SweepRun::unreadable(path, name, reason)
        }
    }
}

/// What is known of a report after a glance at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Glance {
    /// What it is opened by.
    pub path: PathBuf,
    /// The same as seen from the directory in which it was found.
    pub name: String,
    /// Whether it fits, for people: `does not fit, 46 tiles over`; empty while it is not read.
    pub verdict: String,
    /// The same as a sign; `None` while it is not read, or where it is not known.
    pub fits: Option<bool>,
    /// Bytes of its profile.
    pub bytes: Option<u64>,
    /// When its profile was written, seconds since 1970.
    pub written: Option<u64>,
}

/// Looks at the reports beside one. What was known of a file that has not changed is not read again.
pub fn glance_beside(path: &Path, known: &[Glance], progress: &Progress) -> Vec<Glance> {
    glance(&reports_beside(path), known, progress)
}

/// Looks at reports below a directory, by their profiles.
pub fn glance_below(directory: &Path, profiles: &[PathBuf], progress: &Progress) -> Vec<Glance> {
    glance(&reports_of(directory, profiles), &[], progress)
}

/// The same without reading them: their verdicts are empty.
pub fn first_glance(directory: &Path, profiles: &[PathBuf]) -> Vec<Glance> {
    reports_of(directory, profiles).iter().map(unread).collect()
}

fn reports_of(directory: &Path, profiles: &[PathBuf]) -> Vec<FolderReport> {
    profiles.iter().map(|profile| FolderReport::new(directory, profile.clone())).collect()
}

fn glance(reports: &[FolderReport], known: &[Glance], progress: &Progress) -> Vec<Glance> {
    let mut glances: Vec<Glance> = reports.iter().map(unread).collect();
    let mut to_read = Vec::new();
    for (glance, report) in glances.iter_mut().zip(reports) {
        // A glance that was cancelled has left some verdicts open.
        let is_same = |other: &&Glance| {
            !other.verdict.is_empty()
                && (&other.path, other.bytes, other.written)
                    == (&glance.path, glance.bytes, glance.written)
        };
        match known.iter().find(is_same) {
            Some(known) => {
                glance.verdict.clone_from(&known.verdict);
                glance.fits = known.fits;
            }
            None => to_read.push(report.clone()),
        }
    }
    let read = map_reports(
        &to_read,
        progress,
        |_, _| {},
        |place, report| {
            let run = run(place, report);
            (place.path.clone(), verdict_text(&run), run.fits)
        },
    );
    for (path, verdict, fits) in read.unwrap_or_default() {
        glances.iter_mut().filter(|glance| glance.path == path).for_each(|glance| {
            glance.verdict.clone_from(&verdict);
            glance.fits = fits;
        });
    }
    glances
}

/// What the file of a report says without being read.
fn unread(report: &FolderReport) -> Glance {
    let file = std::fs::metadata(&report.profile).ok();
    let written = file.as_ref().and_then(|file| file.modified().ok());
    let since = written.and_then(|written| written.duration_since(UNIX_EPOCH).ok());
    Glance {
        path: report.path.clone(),
        name: report.name.clone(),
        verdict: String::new(),
        fits: None,
        bytes: file.map(|file| file.len()),
        written: since.map(|since| since.as_secs()),
    }
}

/// Whether a run fits, for people.
fn verdict_text(run: &SweepRun) -> String {
    match (run.fits, run.tiles_over_limit) {
        _ if run.error.is_some() => "cannot be read".to_owned(),
        (Some(true), _) => "fits".to_owned(),
        (Some(false), Some(over)) => {
            format!("does not fit, {} over", counted(over, "tile"))
        }
        (Some(false), None) => "does not fit".to_owned(),
        (None, _) => "not known whether it fits".to_owned(),
    }
}
