//! A glance at reports that may be opened, beside the window.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::format::Progress;
use crate::run::{Outcome, Verdict};
use crate::systems::poplar::files::{FolderReport, map_reports, reports_beside};

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
    let read = map_reports(&to_read, progress, |place, open| {
        let verdict = open.ok().map(|open| open.derived().verdict());
        let fits = verdict.as_ref().and_then(|known| known.as_ref()?.outcome.fits());
        let text = match &verdict {
            None => "cannot be read".to_owned(),
            Some(known) => verdict_text(known.as_deref()),
        };
        (place.path.clone(), text, fits)
    });
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
fn verdict_text(verdict: Option<&Verdict>) -> String {
    match verdict {
        Some(verdict) if verdict.outcome == Outcome::DoesNotFit => {
            let word = verdict.outcome.word();
            if verdict.short == word {
                word.to_owned()
            } else {
                format!("{word}, {}", verdict.short)
            }
        }
        Some(verdict) if verdict.outcome.fits().is_some() => verdict.short.clone(),
        _ => "not known whether it fits".to_owned(),
    }
}
