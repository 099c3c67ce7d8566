//! A directory of runs that is being read beside the window.

use eframe::egui;
use std::path::PathBuf;

use crate::analysis::sweep::SweepRun;
use crate::store::Warning;
use crate::sweep::read_runs;
use crate::ui::job::Job;

pub struct SweepRead {
    pub runs: Vec<SweepRun>,
    pub warnings: Vec<Warning>,
    /// The device that was asked for.
    pub device: Option<i64>,
}

/// A directory that is being read. Dropping it stops reading.
pub struct SweepReading {
    pub folder: PathBuf,
    pub job: Job<Result<SweepRead, String>>,
}

impl SweepReading {
    pub fn start(ctx: &egui::Context, folder: PathBuf, device: Option<i64>) -> Self {
        let path = folder.clone();
        // What cannot be looked into is no run; what cannot be read is one, with its error.
        let job = Job::start("Reading", ctx, move |cancel| {
            let read = read_runs(&[path], None, device, cancel.progress());
            let read = read.map(|(runs, warnings)| SweepRead { runs, warnings, device });
            read.map_err(|error| error.message)
        });
        Self { folder, job }
    }

    /// What was read or why there is nothing, once.
    pub fn poll(&self) -> Option<Result<SweepRead, String>> {
        self.job.poll().map(Result::flatten)
    }
}
