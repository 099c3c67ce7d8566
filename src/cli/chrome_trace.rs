//! `tilescope export --chrome-trace`: the steps that ran, as a file for Perfetto and Chrome's tracing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use super::output::{self, Answer, Document};
use super::trace::read_trace;
use super::written_file::write_file;
use crate::analysis::execution::chrome::write_chrome_trace;
use crate::format::{Error, ErrorKind, Progress};
use crate::systems::system::OpenRun;
use crate::text::{bytes, clean, counted};

/// `tilescope.export-trace/1`: what was written.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct WrittenTrace {
    chrome_trace: PathBuf,
    spans: u64,
    counters: u64,
    bytes: u64,
}

/// Writes the trace of the only path into a file.
pub fn run(paths: &[PathBuf], file: &Path, json: bool) -> ExitCode {
    let result = output::with_progress("Exporting the trace", |progress| {
        let [path] = paths else {
            let message = format!("--chrome-trace takes one run, but {} are named", paths.len());
            return Err(Error::new(ErrorKind::Usage, message).hint("Export them one by one."));
        };
        let run = output::open_for(path, "export --chrome-trace", progress)?;
        let written = write(&*run, file, progress)?;
        Ok(Document::new(written, run.warnings(progress)))
    });
    output::finish(&result, json, Answer::text)
}

fn write(run: &dyn OpenRun, file: &Path, progress: &Progress) -> Result<WrittenTrace, Error> {
    let executed = read_trace(run.derived(), progress)?;
    let (events, bytes) = write_file(file, "the trace", &[run.directory()], |mut out| {
        write_chrome_trace(executed, &mut out, progress)
    })?;
    Ok(WrittenTrace {
        chrome_trace: file.to_owned(),
        spans: events.spans,
        counters: events.counters,
        bytes,
    })
}

impl Answer for WrittenTrace {
    const SCHEMA: &'static str = "tilescope.export-trace/1";

    fn text(&self) -> String {
        format!(
            "{} in {}, {}; open it at ui.perfetto.dev or chrome://tracing\n",
            counted(self.spans, "span"),
            clean(&self.chrome_trace.display().to_string()),
            bytes(self.bytes),
        )
    }
}
