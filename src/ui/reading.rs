//! A glance at runs that may be opened, beside the window.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::files::directory_of;
use crate::format::Progress;
use crate::run::{Outcome, Verdict};
use crate::sweep::{map_runs, name_from};
use crate::systems::of_process;
use crate::systems::system::FoundRun;

/// What is known of a run after a glance at it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunGlance {
    /// What it is opened by.
    pub path: PathBuf,
    /// The same as seen from the directory in which it was found.
    pub name: String,
    /// Whether it fits, for people: `does not fit, 46 tiles over`; empty while it is not read.
    pub verdict: String,
    /// The same as a sign; `None` while it is not read, or where it is not known.
    pub fits: Option<bool>,
    /// Bytes of its file.
    pub bytes: Option<u64>,
    /// When that was written, seconds since 1970.
    pub written: Option<u64>,
}

/// Looks at the runs beside one. What was known of a file that has not changed is not read again.
pub fn glance_beside(path: &Path, known: &[RunGlance], progress: &Progress) -> Vec<RunGlance> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let own = if path.is_dir() { path.clone() } else { directory_of(&path) };
    let beside = of_process().iter().flat_map(|system| system.beside(&path)).collect();
    glance(own.parent().unwrap_or(&own), beside, known, progress)
}

/// What their files say of runs at or below a directory without being read: the verdicts are empty.
pub fn first_glance(directory: &Path, runs: &[Box<dyn FoundRun>]) -> Vec<RunGlance> {
    runs.iter().map(|run| unread(directory, &**run)).collect()
}

/// Looks at runs at or below a directory.
pub fn glance(
    directory: &Path,
    mut runs: Vec<Box<dyn FoundRun>>,
    known: &[RunGlance],
    progress: &Progress,
) -> Vec<RunGlance> {
    let mut glances = first_glance(directory, &runs);
    for glance in &mut glances {
        // A glance that was canceled has left some verdicts open.
        let is_same = |other: &&RunGlance| {
            !other.verdict.is_empty()
                && (&other.path, other.bytes, other.written)
                    == (&glance.path, glance.bytes, glance.written)
        };
        if let Some(known) = known.iter().find(is_same) {
            glance.verdict.clone_from(&known.verdict);
            glance.fits = known.fits;
            runs.retain(|run| run.opened_by() != known.path);
        }
    }
    let read = map_runs(&runs, progress, |run| {
        let open = run.open(progress).ok().flatten();
        let verdict = open.map(|open| open.derived().verdict());
        let fits = verdict.as_ref().and_then(|known| known.as_ref()?.outcome.fits());
        let text = match &verdict {
            None => "cannot be read".to_owned(),
            Some(known) => verdict_text(known.as_deref()),
        };
        (run.opened_by(), text, fits)
    });
    for (path, verdict, fits) in read.unwrap_or_default() {
        glances.iter_mut().filter(|glance| glance.path == path).for_each(|glance| {
            glance.verdict.clone_from(&verdict);
            glance.fits = fits;
        });
    }
    glances
}

fn unread(directory: &Path, run: &dyn FoundRun) -> RunGlance {
    let file = std::fs::metadata(run.main_file()).ok();
    let written = file.as_ref().and_then(|file| file.modified().ok());
    let since = written.and_then(|written| written.duration_since(UNIX_EPOCH).ok());
    let path = run.opened_by();
    RunGlance {
        name: name_from(directory, &path),
        path,
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
