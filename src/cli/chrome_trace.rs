//! `tilescope export --chrome-trace`: the steps that ran, as a file for Perfetto and Chrome's tracing.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use super::output::{self, Answer, Document};
use super::trace::read_trace;
use crate::analysis::execution::chrome::write_chrome_trace;
use crate::files::{directory_of, is_below, new_file};
use crate::format::{Error, ErrorKind, Progress};
use crate::half_written::HalfWritten;
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
    if is_below(file, &run.directory()) {
        let message = format!(
            "{} lies in the directory of the run, where nothing is written",
            file.display()
        );
        return Err(Error::new(ErrorKind::Usage, message)
            .in_file(file)
            .hint("Choose another file."));
    }
    let executed = read_trace(run.derived(), progress)?;
    let failed = |error: &std::io::Error| {
        Error::new(ErrorKind::CannotWrite, format!("the trace cannot be written: {error}"))
            .in_file(file)
    };
    // A link stays, and what it leads to is replaced.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let made = HalfWritten::temporary(|| new_file(&directory_of(&target)));
    let (mut to, _half_written) = made.map_err(|error| failed(&error))?;
    let mut buffered = BufWriter::new(&mut to);
    let events = write_chrome_trace(executed, &mut buffered, progress);
    let events = events.and_then(|events| buffered.flush().map(|()| events));
    let events = events.map_err(|error| failed(&error))?;
    drop(buffered);
    let bytes = to.as_file().metadata().map_or(0, |metadata| metadata.len());
    to.persist(&target).map_err(|error| failed(&error.error))?;
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
