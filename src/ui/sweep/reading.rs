//! A directory of reports that is being read beside the window.

use eframe::egui;
use std::path::PathBuf;

use crate::analysis::sweep::Sweep;
use crate::folder_sweep::read_sweep;
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
        // What cannot be looked into is no run; what cannot be read is one, with its error.
        let job = Job::start("sweep", ctx, move |cancel| {
            let read = read_sweep(&path, cancel.progress());
            read.map(|(sweep, _)| sweep).map_err(|error| error.message)
        });
        let job = job.map_err(|error| format!("No thread to read with: {error}"))?;
        Ok(Self { folder, job })
    }

    /// The sweep or why there is none, once.
    pub fn poll(&self) -> Option<Result<Sweep, String>> {
        let stopped = |_| Err("Reading stopped: a mistake in Tilescope".to_owned());
        Some(self.job.poll()?.unwrap_or_else(stopped))
    }
}
