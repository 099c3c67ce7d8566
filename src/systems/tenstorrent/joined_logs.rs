//! Reports that belong to messages of logs. A report before schema 3.5 does not have the operation that failed, so it says
//! what held the memory at the last operation that it has; the message says what was too little.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::files::{DATABASE, ReportSource, is_report};
use super::memory::facts::RankView;
use super::memory::spaces::alive_at;
use super::recorded::BufferSpace;
use super::run::{TtnnContents, TtnnRun, main_memory};
use crate::diagnose::tenstorrent::{BufferWithoutSpace, TenstorrentForm};
use crate::diagnose::{Device, Finding};
use crate::files::directory_of;
use crate::format::{Error, Progress};
use crate::index;
use crate::run::joined_logs::{JoinedLogs, JoinedRun, LogToJoin, RunOfMessage};
use crate::run::{MessagePlace, Place};
use crate::store::Warning;
use crate::text::{bytes, capitalised, clean, exact_bytes, grouped};

/// Buffers that are named.
const MOST_BUFFERS: usize = 3;

/// A report that was looked into.
struct LoggedReport {
    path: PathBuf,
    contents: Arc<TtnnContents>,
    warnings: Vec<Warning>,
}

impl LoggedReport {
    fn open(
        path: &Path,
        source: &ReportSource,
        progress: &Progress,
    ) -> Result<Option<Self>, Error> {
        let Some(run) = TtnnRun::open(path, source, index::of_process(), progress)? else {
            return Ok(None);
        };
        let warnings = run.report.warnings.list();
        Ok(Some(Self { path: path.to_owned(), contents: run.contents, warnings }))
    }

    /// What it says of a message, with its path.
    fn joined(&self, finding: &Finding) -> Option<JoinedRun> {
        let views = self.contents.views();
        let held = HeldAtEnd::of(&views, finding)?;
        let mut text = format!("    {}: {}\n", clean(&self.path.display().to_string()), held.said);
        for (name, bytes_per_bank, line) in &held.largest {
            let at = line.as_ref().map(|line| format!("  {}", clean(line))).unwrap_or_default();
            text += &format!("      {}  {}{at}\n", bytes(*bytes_per_bank), clean(name));
        }
        let largest = held.largest.iter().map(|(name, bytes_per_bank, line)| {
            json!({ "name": name, "bytes_per_bank": bytes_per_bank, "line": line })
        });
        let report = json!({
            "path": self.path.display().to_string(),
            "operation": held.operation,
            "name": held.name,
            "space": held.space.word(),
            "alive_bytes_per_bank": held.bytes_per_bank,
            "broke_off": held.broke_off,
            "largest": largest.collect::<Vec<_>>(),
        });
        Some(JoinedRun {
            keys: [("ttnn_report".to_owned(), report)].into_iter().collect(),
            text,
            of: Some(RunOfMessage { path: self.path.clone(), module: None, device: None }),
        })
    }
}

/// What held a space at the end of the last operation of a report.
struct HeldAtEnd {
    operation: u64,
    name: String,
    space: BufferSpace,
    bytes_per_bank: u64,
    device: i64,
    /// Whether the report says that its run broke off.
    broke_off: bool,
    said: String,
    /// The largest buffers: names, bytes of a bank, and lines.
    largest: Vec<(String, u64, Option<String>)>,
}

impl HeldAtEnd {
    /// Of the rank that a report is about, unless that has an error of its own, which says more.
    fn of(views: &[RankView<'_>], finding: &Finding) -> Option<Self> {
        let form = &finding.tenstorrent.first()?.error.form;
        let main = main_memory(views)?;
        let view = views.get(main.rank)?;
        let has_own = view.rank.errors.iter().any(|error| error.operation.is_some());
        let at = view.last_operation().filter(|_| !has_own)?;
        let (space, stated) = stated(form);
        let facts = view.operation(at);
        let level = view.memory.level(space, at);
        let mut alive = alive_at(view, space, at);
        if let TenstorrentForm::Clash { scratch_end_address, .. } = form {
            alive.retain(|(life, _)| life.key.address < *scratch_end_address);
        }
        alive.sort_by_key(|(life, _)| (Reverse(life.bytes), life.key));
        let largest = alive.iter().take(MOST_BUFFERS).map(|(life, reads)| {
            let line = life.allocated_by.and_then(|by| view.line(by));
            (view.buffer_name(life, *reads), life.bytes, line)
        });
        let agreed = match stated {
            Some(stated) if stated == level => ", as the message says of the failure".to_owned(),
            Some(stated) => format!("; the message says {}", exact_bytes(stated)),
            None => String::new(),
        };
        let in_the_way = match form {
            TenstorrentForm::Clash { .. } => {
                let below = "below the end of the circular buffers";
                match alive.len() {
                    1 => format!("; 1 of them lies {below}"),
                    count => format!("; {} of them lie {below}", grouped(count as u64)),
                }
            }
            _ => String::new(),
        };
        // A report of a run that broke off says so, if not why.
        let broke_off = !view.rank.errors.is_empty();
        let lead = if broke_off {
            "the operation that failed is not in the report"
        } else {
            "the report has no error, so it may be of another run"
        };
        let said = format!(
            "{lead}. At the end of its last operation, {} {}, buffers in {} took {} of {}{agreed}{in_the_way}",
            grouped(facts.operation),
            clean(facts.name),
            space.word(),
            exact_bytes(level),
            if space.is_of_core() { "a core" } else { "a bank" },
        );
        Some(Self {
            operation: facts.operation,
            name: facts.name.to_owned(),
            space,
            bytes_per_bank: level,
            device: main.device().to_number(),
            broke_off,
            said,
            largest: largest.collect(),
        })
    }
}

/// The space that a sentence is about, and what it says is taken of a bank.
fn stated(form: &TenstorrentForm) -> (BufferSpace, Option<u64>) {
    let of_buffer = |buffer: &BufferWithoutSpace| {
        let space = BufferSpace::of_word(&buffer.space).unwrap_or(BufferSpace::L1);
        (space, buffer.allocated_bytes_per_bank)
    };
    match form {
        TenstorrentForm::NoSpace(buffer) | TenstorrentForm::NoSpaceDependencies { buffer, .. } => {
            of_buffer(buffer)
        }
        _ => (BufferSpace::L1, None),
    }
}

/// Where an open report has what a message is about.
pub(super) fn message_place(views: &[RankView<'_>], finding: &Finding) -> Option<MessagePlace> {
    let held = HeldAtEnd::of(views, finding)?;
    let place = Place {
        device: Some(held.device),
        step: i64::try_from(held.operation).ok(),
        ..Place::default()
    };
    let title = format!("operation {} in Liveness", grouped(held.operation));
    Some(MessagePlace { said: capitalised(&held.said), title, place })
}

/// Joins messages with reports that were named, else with the one in the directory of a log.
///
/// # Errors
/// When a report that was named cannot be read.
pub(super) fn join_logs(
    named: &[(&Path, &ReportSource)],
    logs: &[LogToJoin<'_>],
    progress: &Progress,
) -> Result<JoinedLogs, Error> {
    let mut opened = Vec::new();
    for (path, source) in named {
        opened.extend(LoggedReport::open(path, source, progress)?);
    }
    let is_ours = |finding: &Finding| finding.device == Some(Device::Tenstorrent);
    // Logs in one directory share the report beside them. Only one such report is open at a time.
    let mut by_folder: BTreeMap<Option<PathBuf>, Vec<_>> = BTreeMap::new();
    let mut messages = vec![Vec::new(); logs.len()];
    for (log, joined) in logs.iter().zip(&mut messages) {
        let is_asked = named.is_empty() && log.findings.iter().any(is_ours);
        let folder = log.file.filter(|_| is_asked).map(directory_of);
        by_folder.entry(folder).or_default().push((log, joined));
    }
    let mut warnings: Vec<Warning> =
        opened.iter().flat_map(|report| report.warnings.clone()).collect();
    for (folder, logs) in by_folder {
        let beside = folder.and_then(|folder| report_in(&folder, progress));
        let of = |finding: &Finding| {
            let mut found = opened.iter().chain(&beside).filter(|_| is_ours(finding));
            found.find_map(|report| report.joined(finding)).unwrap_or_default()
        };
        for (log, joined) in logs {
            *joined = log.findings.iter().map(of).collect();
        }
        warnings.extend(beside.into_iter().flat_map(|report| report.warnings));
    }
    Ok(JoinedLogs { messages, warnings, ..JoinedLogs::default() })
}

/// The report in a directory; `None` where there is none, or it cannot be read.
fn report_in(folder: &Path, progress: &Progress) -> Option<LoggedReport> {
    let database = folder.join(DATABASE);
    if !is_report(&database) {
        return None;
    }
    LoggedReport::open(folder, &ReportSource::Database(database), progress).ok()?
}
