//! `tilescope index`: what is kept of reports to open them faster, listed, removed, or written beforehand.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use serde::Serialize;

use super::output::{self, Answer, Document, aligned, print_warning};
use crate::format::{Error, ErrorKind, Progress};
use crate::index::{Cache, CacheFile};
use crate::store::Warning;
use crate::systems;
use crate::systems::system::{FoundRun, Reading};
use crate::text::{bytes, clean, counted};

/// What `tilescope index` takes: one of the three.
#[derive(Debug, Args)]
pub struct IndexArguments {
    /// Runs to write an index for. A run that has one, or is too small to profit, is skipped.
    #[arg(value_name = "RUN", required_unless_present_any = ["list", "clear"], conflicts_with_all = ["list", "clear"])]
    pub paths: Vec<PathBuf>,
    /// The module to write an index for where a run has several: a part of its name or of its file's name.
    #[arg(long, requires = "paths")]
    pub module: Option<String>,
    /// List what there is, the one that was used last first.
    #[arg(long, conflicts_with = "clear")]
    pub list: bool,
    /// Remove everything.
    #[arg(long)]
    pub clear: bool,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The index as it is.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct IndexListing {
    directory: String,
    total_bytes: u64,
    indexes: Vec<IndexRow>,
    #[serde(skip)]
    now: u64,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct IndexRow {
    /// The report's directory, or the file of the snapshot or the module; null if the index cannot be read.
    report: Option<String>,
    bytes: u64,
    used_seconds_since_1970: u64,
    /// Version of the program that wrote it; null if the index cannot be read.
    version: Option<String>,
    /// Whether it would be used: this version wrote it, and the report is as it was.
    is_current: bool,
    file: String,
}

/// What was removed, or written.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct IndexChange {
    directory: String,
    files: usize,
    bytes: u64,
    /// Runs that were skipped: they have an index, or are too small to profit.
    not_written: usize,
    #[serde(skip)]
    verb: &'static str,
}

/// Runs the command.
pub fn run(arguments: &IndexArguments) -> ExitCode {
    let no_cache =
        || Error::new(ErrorKind::CannotWrite, "there is no cache directory for an index");
    let json = arguments.json;
    let Some(cache) = Cache::of_user() else { return output::fail(&no_cache(), json) };
    if arguments.list {
        return output::finish(
            &Ok(Document::new(IndexListing::of(&cache), Vec::new())),
            json,
            Answer::text,
        );
    }
    let change = |verb, files, bytes| IndexChange {
        directory: cache.directory().display().to_string(),
        files,
        bytes,
        not_written: 0,
        verb,
    };
    if arguments.clear {
        let cleared = cache.clear().map_err(|error| {
            let message = format!("not all of it could be removed: {error}");
            Error::new(ErrorKind::CannotWrite, message).in_file(cache.directory())
        });
        let cleared = cleared.map(|(files, bytes)| change("removed", files, bytes));
        return output::finish(
            &cleared.map(|it| Document::new(it, Vec::new())),
            json,
            Answer::text,
        );
    }
    let written = output::with_progress("Reading the runs", |progress| {
        let mut done = change("written", 0, 0);
        let mut warnings = Vec::new();
        let module = arguments.module.as_deref();
        let found = arguments.paths.iter().map(|path| indexable(path, module, progress));
        // What cannot have one is said before anything is read.
        for found in found.collect::<Result<Vec<_>, Error>>()? {
            let (written, of_run) = write(&cache, &*found, progress)?;
            of_run.iter().for_each(print_warning);
            warnings.extend(of_run);
            match written {
                Some(bytes) => {
                    done.files = done.files.saturating_add(1);
                    done.bytes = done.bytes.saturating_add(bytes);
                }
                None => done.not_written = done.not_written.saturating_add(1),
            }
        }
        Ok(Document::new(done, warnings))
    });
    output::finish(&written, json, Answer::text)
}

/// What a path names, if it can have an index.
fn indexable(
    path: &Path,
    module: Option<&str>,
    progress: &Progress,
) -> Result<Box<dyn FoundRun>, Error> {
    let found = systems::find(systems::of_process(), path, module, progress)?;
    let Some([what, hint]) = found.why_no_index() else {
        output::say_choice(&*found);
        return Ok(found);
    };
    let message = format!("{} is {what}, which has no index", path.display());
    Err(Error::new(ErrorKind::Usage, message).in_file(path).hint(hint))
}

/// Reads a run to its end and writes its index; `None` where it gets none.
fn write(
    cache: &Cache,
    found: &dyn FoundRun,
    progress: &Progress,
) -> Result<(Option<u64>, Vec<Warning>), Error> {
    let cancelled = || Error::new(ErrorKind::Unreadable, "reading was canceled");
    let reading = Reading::unseen(progress);
    let run = found.begin(Some(cache), &reading)?.ok_or_else(cancelled)?;
    if run.has_index() {
        return Ok((None, Vec::new()));
    }
    run.read_all(&[], &reading)?;
    match run.write_index(progress) {
        Ok(written) => Ok((written, run.warnings(progress))),
        Err(error) => {
            let path = found.path();
            let message = format!("no index of {}: {error}", path.display());
            Err(Error::new(ErrorKind::CannotWrite, message).in_file(path))
        }
    }
}

impl IndexListing {
    fn of(cache: &Cache) -> Self {
        let seconds =
            |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
        let indexes: Vec<IndexRow> =
            cache.list().iter().map(|entry| IndexRow::of(entry, seconds(entry.used))).collect();
        Self {
            directory: cache.directory().display().to_string(),
            total_bytes: indexes.iter().fold(0, |sum, row| sum.saturating_add(row.bytes)),
            indexes,
            now: seconds(SystemTime::now()),
        }
    }
}

impl IndexRow {
    fn of(entry: &CacheFile, used_seconds_since_1970: u64) -> Self {
        let identity = entry.identity.as_ref();
        // A profile is one of several files of a report, a snapshot is all of it.
        let report = |profile: PathBuf| {
            let is_profile = profile.extension().is_some_and(|extension| extension == "pop");
            let named = profile.parent().filter(|_| is_profile).unwrap_or(&profile);
            named.display().to_string()
        };
        Self {
            report: identity.map(|identity| report(identity.profile())),
            bytes: entry.bytes,
            used_seconds_since_1970,
            version: identity.map(|identity| {
                identity.program().split(' ').next().unwrap_or_default().to_owned()
            }),
            is_current: identity.is_some_and(|it| it.is_current() && it.is_as_it_was()),
            file: entry.path.display().to_string(),
        }
    }
}

impl Answer for IndexListing {
    const SCHEMA: &'static str = "tilescope.index/1";

    fn text(&self) -> String {
        let rows = self.indexes.iter().map(|row| {
            let report = row.report.as_deref().unwrap_or("not readable");
            let state = if row.is_current { "current" } else { "out of date" };
            vec![
                clean(report).into_owned(),
                bytes(row.bytes),
                age(self.now.saturating_sub(row.used_seconds_since_1970)),
                row.version
                    .as_deref()
                    .map_or_else(|| "not known".to_owned(), |it| clean(it).into_owned()),
                state.to_owned(),
            ]
        });
        let head = format!("{}: {}\n", clean(&self.directory), bytes(self.total_bytes));
        if self.indexes.is_empty() {
            return head + "  No run has an index\n";
        }
        head + &aligned(&["<Run", "size", "last used", "version", "<"], rows)
    }
}

impl Answer for IndexChange {
    const SCHEMA: &'static str = "tilescope.index-change/1";

    fn text(&self) -> String {
        let Self { directory, files, bytes: size, not_written, verb } = self;
        let what = counted(*files as u64, "file");
        let none = match not_written {
            0 => String::new(),
            1 => "; skipped 1 run, which has one or is too small to profit".to_owned(),
            count => {
                format!("; skipped {count} runs, which have one or are too small to profit")
            }
        };
        format!("{}: {what} {verb}, {}{none}\n", clean(directory), bytes(*size))
    }
}

/// How long ago something was.
fn age(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..60 => return "now".to_owned(),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_in_one_unit() {
        let found = [0, 60, 7199, 7200, 86_400 * 3].map(age);
        assert_eq!(found, ["now", "1 minute ago", "1 hour ago", "2 hours ago", "3 days ago"]);
    }
}
