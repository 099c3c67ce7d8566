//! Reading many reports beside the window.

use eframe::egui;
use std::path::{Path, PathBuf};

use crate::analysis::sweep::{RunError, Sweep, SweepRun};
use crate::format::poplar::{FolderReport, map_reports, reports_in_folder};
use crate::format::{Error, Progress};
use crate::store::{Report, Warnings};
use crate::ui::job::Job;

/// A directory that is being read. Dropping it stops reading.
pub struct Reading {
    pub folder: PathBuf,
    pub job: Job<Result<Sweep, String>>,
}

impl Reading {
    /// Fails when there is no thread to read with.
    pub fn start(ctx: &egui::Context, folder: PathBuf) -> Result<Self, String> {
        let path = folder.clone();
        let job = Job::start("sweep", ctx, move |cancel| read(&path, cancel.progress()));
        let job = job.map_err(|error| format!("No thread to read with: {error}"))?;
        Ok(Self { folder, job })
    }

    /// The sweep or why there is none, once.
    pub fn poll(&self) -> Option<Result<Sweep, String>> {
        let stopped = |_| Err("Reading stopped: a mistake in Tilescope".to_owned());
        Some(self.job.poll()?.unwrap_or_else(stopped))
    }
}

fn read(folder: &Path, progress: &Progress) -> Result<Sweep, String> {
    // What cannot be looked into is no run; what cannot be read is one, with its error.
    let reports = reports_in_folder(folder, &Warnings::default()).map_err(|error| error.message)?;
    let runs = map_reports(&reports, progress, run).ok_or("Cancelled")?;
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
