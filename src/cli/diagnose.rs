//! `tilescope diagnose`: what error texts and logs say about memory, and what to do.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::diagnose_programs::{Dumps, FoundDump, JoinedProgram, possible_text};
use super::diagnose_snapshots::{FoundSnapshot, Joined, beside, named_snapshot};
use super::output::{WRONG_ARGUMENTS, print_result, print_warning, with_progress, wrapped};
use super::usage;
use crate::analysis::diagnose::{Device, Diagnosis, Finding, Kind, XlaCapture};
use crate::format::{Error, Progress};
use crate::log_file;
use crate::opened::find_module;
use crate::systems::pytorch::files::{FileKind, SnapshotFiles, with_side_files};
use crate::text::{bytes, clean, grouped, shortened};

#[derive(Debug, Args)]
pub struct DiagnoseArguments {
    /// Logs or error texts; standard input without any, or for `-`. Memory snapshots among them, and those beside a log,
    /// are named with the messages that they belong to; `'rank*.pickle'`, or their directory, names those of the ranks
    /// of one run. So are dumps of XLA, and the one that a log names or lies in.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Serialize)]
pub struct DiagnoseReport {
    schema: &'static str,
    findings: Vec<FoundIn>,
    /// Lines of all files together.
    lines: u64,
    /// Lines of which only the first MiB is read.
    cut_lines: u64,
    /// Messages beyond those that are listed.
    further_findings: u64,
    /// Memory snapshots that were named and that no message is of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    snapshots: Vec<FoundSnapshot>,
    /// Dumps of XLA that were named, and that no message is of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dumps: Vec<FoundDump>,
    #[serde(skip)]
    has_several_files: bool,
}

#[derive(Debug, Serialize)]
struct FoundIn {
    /// `None` for standard input.
    file: Option<String>,
    #[serde(flatten)]
    finding: Finding,
    /// The memory snapshot that belongs to it.
    snapshot: Option<Joined>,
    /// The module of XLA that it is about.
    module: Option<JoinedProgram>,
    /// The files of modules of which it cannot be told which it is about.
    possible_modules: Vec<String>,
}

pub fn run(arguments: &DiagnoseArguments) -> ExitCode {
    if arguments.files.is_empty() && std::io::stdin().is_terminal() {
        // What is typed here is hardly a log; who wants that can say `-`.
        anstream::eprintln!("error: name a log, or pipe one into the program\n\n{}", usage());
        return WRONG_ARGUMENTS.into();
    }
    let report = DiagnoseReport::of(&arguments.files);
    print_result(&report, arguments.json, DiagnoseReport::text, |_| ExitCode::SUCCESS)
}

/// A log that was read.
pub(super) struct Log {
    /// `None` for standard input.
    file: Option<PathBuf>,
    pub(super) diagnosis: Diagnosis,
}

impl Log {
    fn read(file: &Path) -> Result<Self, Error> {
        if file.as_os_str() == "-" {
            let diagnosis = log_file::diagnose_stream("standard input", std::io::stdin().lock())?;
            return Ok(Self { file: None, diagnosis });
        }
        // A FIFO that is named here is waited for, as standard input is: a shell gives one for `<(command)`.
        let open = |path: &Path| File::open(path);
        let read = |progress: &Progress| log_file::diagnose_file(file, open, progress);
        Ok(Self { file: Some(file.to_owned()), diagnosis: with_progress("Reading the log", read)? })
    }
}

/// Whether a message may be of PyTorch's allocator: XLA's have modules.
fn wants_snapshot(finding: &Finding) -> bool {
    let is_of_gpu = finding.device == Some(Device::Cuda) && finding.requested_bytes.is_some();
    is_of_gpu && XlaCapture::of(finding).is_none()
}

fn open_snapshot(files: &SnapshotFiles) -> Result<Option<FoundSnapshot>, Error> {
    with_progress("Reading the snapshot", |progress| FoundSnapshot::open(files, progress))
}

impl DiagnoseReport {
    /// What the files say, one after another.
    ///
    /// # Errors
    /// `not-found` or `unreadable` for the first file that cannot be read.
    pub fn of(files: &[PathBuf]) -> Result<Self, Error> {
        let standard_input = [PathBuf::from("-")];
        let files = if files.is_empty() { &standard_input } else { files };
        let mut report = Self {
            schema: "tilescope.diagnose/2",
            findings: Vec::new(),
            lines: 0,
            cut_lines: 0,
            further_findings: 0,
            snapshots: Vec::new(),
            dumps: Vec::new(),
            has_several_files: files.len() > 1,
        };
        let (mut named, mut named_dumps, mut logs) = (Vec::new(), Vec::new(), Vec::new());
        for file in files {
            if let Some(snapshot) = named_snapshot(file, &Progress::default())? {
                named.push(snapshot);
            } else if let Some(dump) =
                with_progress("Looking for modules", |progress| find_module(file, None, progress))?
            {
                named_dumps.push(dump);
            } else {
                logs.push(Log::read(file)?);
            }
        }
        let snapshots = named.iter().map(open_snapshot).filter_map(Result::transpose);
        let snapshots: Vec<FoundSnapshot> = snapshots.collect::<Result<_, Error>>()?;
        snapshots.iter().flat_map(|one| &one.warnings).for_each(print_warning);
        let mut is_joined = vec![false; snapshots.len()];
        // Logs of one directory have the same snapshots beside them.
        let mut opened: BTreeMap<PathBuf, Option<FoundSnapshot>> = BTreeMap::new();
        let mut dumps = Dumps::of(&named_dumps, &logs);
        for Log { file, diagnosis } in logs {
            report.lines += diagnosis.lines;
            report.cut_lines += diagnosis.cut_lines;
            report.further_findings += diagnosis.further;
            let log = file.as_deref();
            let wants_one = || diagnosis.findings.iter().any(wants_snapshot);
            // What lies beside a log and cannot be read is no reason to say nothing of the log.
            let beside: Vec<PathBuf> = match log {
                Some(log) if snapshots.is_empty() && wants_one() => beside(log),
                _ => Vec::new(),
            };
            for path in &beside {
                if !opened.contains_key(path) {
                    let files = with_side_files(path.clone(), FileKind::Snapshot);
                    opened.insert(path.clone(), open_snapshot(&files).ok().flatten());
                }
            }
            let beside: Vec<&FoundSnapshot> =
                beside.iter().filter_map(|path| opened.get(path)?.as_ref()).collect();
            dumps.look_beside(log, &diagnosis.findings);
            for finding in diagnosis.findings {
                let all = snapshots.iter().chain(beside.iter().copied()).enumerate();
                let wanted = all.filter(|_| wants_snapshot(&finding));
                let matching =
                    wanted.filter_map(|(place, one)| Some((place, one.matching(&finding, log)?)));
                // The first of equals.
                let found = matching.min_by_key(|(_, one)| !one.is_by_name());
                if let Some(is_joined) =
                    found.as_ref().and_then(|(place, _)| is_joined.get_mut(*place))
                {
                    *is_joined = true;
                }
                let (module, possible_modules) = dumps.module_of(&finding);
                report.findings.push(FoundIn {
                    file: log.map(|log| log.display().to_string()),
                    snapshot: found.map(|(_, one)| one.joined(&finding)),
                    module,
                    possible_modules,
                    finding,
                });
            }
        }
        let alone = snapshots.into_iter().zip(is_joined).filter(|(_, is_joined)| !is_joined);
        report.snapshots = alone.map(|(snapshot, _)| snapshot).collect();
        report.dumps = dumps.alone();
        Ok(report)
    }

    /// For people: every finding, though not endless rows of one kind, then what to do by kind.
    fn text(&self) -> String {
        /// Findings of one kind that are shown.
        const SHOWN: usize = 20;
        let of_snapshots = self.snapshots.iter().map(FoundSnapshot::text);
        let alone: String = of_snapshots.chain(self.dumps.iter().map(FoundDump::text)).collect();
        if self.findings.is_empty() && !alone.is_empty() && self.lines == 0 {
            return alone;
        }
        if self.findings.is_empty() {
            let lines = if self.lines == 1 { "line" } else { "lines" };
            let nothing = format!("Nothing about memory in {} {lines}.\n", grouped(self.lines));
            return nothing + &self.cut_text() + &alone;
        }
        let mut text = String::new();
        let kinds = self.kinds();
        for (kind, of_kind) in &kinds {
            text += &format!("{}, {}\n", kind.key(), times(of_kind.len()));
            for found in of_kind.iter().take(SHOWN) {
                text += &self.finding_text(found);
            }
            if let Some(more @ 1..) = of_kind.len().checked_sub(SHOWN) {
                text +=
                    &format!("  … and {} more, all of which --json lists\n", grouped(more as u64));
            }
            text += "\n";
        }
        for (kind, of_kind) in &kinds {
            let Some(worst) = worst(of_kind) else { continue };
            let place = if of_kind.len() > 1 {
                format!(" ({}, the largest)", self.place(worst))
            } else {
                String::new()
            };
            text += &format!("What to do: {}{place}\n", kind.key());
            for (number, sentence) in (1..).zip(&worst.finding.advice) {
                text += &wrapped(&format!("  {number}. "), &clean(sentence));
            }
            text += "\n";
        }
        text.truncate(text.trim_end().len() + 1);
        text + &self.cut_text() + &alone
    }

    /// That something was not read, if so.
    fn cut_text(&self) -> String {
        let further = match self.further_findings {
            0 => String::new(),
            further => format!("Of {} further messages nothing is said.\n", grouped(further)),
        };
        further + &self.cut_lines_text()
    }

    fn cut_lines_text(&self) -> String {
        match self.cut_lines {
            0 => String::new(),
            1 => "Of 1 line, which is longer than 1 MiB, only the first MiB was read.\n".to_owned(),
            lines => format!(
                "Of {} lines, which are longer than 1 MiB, only the first MiB was read.\n",
                grouped(lines)
            ),
        }
    }

    /// The findings by kind, in the order in which the kinds appear.
    fn kinds(&self) -> Vec<(Kind, Vec<&FoundIn>)> {
        let mut kinds: Vec<(Kind, Vec<&FoundIn>)> = Vec::new();
        for found in &self.findings {
            match kinds.iter_mut().find(|(kind, _)| *kind == found.finding.kind) {
                Some((_, of_kind)) => of_kind.push(found),
                None => kinds.push((found.finding.kind, vec![found])),
            }
        }
        kinds
    }

    fn place(&self, found: &FoundIn) -> String {
        let line = grouped(found.finding.line);
        if self.has_several_files {
            let file = found.file.as_deref().unwrap_or("standard input");
            format!("{}, line {line}", shortened(file, 80))
        } else {
            format!("line {line}")
        }
    }

    fn finding_text(&self, found: &FoundIn) -> String {
        let finding = &found.finding;
        let facts = facts(finding);
        let mut text = format!("  {}: {}\n", self.place(found), shortened(&finding.text, 300));
        if !facts.is_empty() {
            text += &format!("    {}\n", facts.join(", "));
        }
        if let Some(snapshot) = &found.snapshot {
            text += &snapshot.text();
        }
        if let Some(module) = &found.module {
            text += &module.text();
        }
        text += &possible_text(&found.possible_modules);
        for allocation in finding.allocations.iter().take(3) {
            let what = [&allocation.shape, &allocation.operator, &allocation.label];
            let what = what.into_iter().flatten().next().map_or("", |what| what);
            text += &format!("    {}  {}\n", bytes(allocation.bytes), shortened(what, 100));
        }
        text
    }
}

/// The finding with the largest excess; the first of equals.
fn worst<'a>(findings: &[&'a FoundIn]) -> Option<&'a FoundIn> {
    // `max_by_key` takes the last of equals.
    findings.iter().rev().max_by_key(|found| found.finding.excess_bytes).copied()
}

fn facts(finding: &Finding) -> Vec<String> {
    let used = match (finding.used_bytes, finding.limit_bytes) {
        (Some(used), Some(limit)) => Some(format!("used {} of {}", bytes(used), bytes(limit))),
        (Some(used), None) => Some(format!("used {}", bytes(used))),
        (None, limit) => limit.map(|limit| format!("limit {}", bytes(limit))),
    };
    let amounts = [
        ("too much", finding.excess_bytes),
        ("requested", finding.requested_bytes),
        ("free", finding.free_bytes),
        ("in the largest free block", finding.contiguous_bytes),
        ("held unallocated", finding.unallocated_bytes),
        ("of other processes", finding.other_processes_bytes),
    ];
    let amounts =
        amounts.into_iter().filter_map(|(name, amount)| Some(format!("{} {name}", bytes(amount?))));
    let names = [
        finding.tiles_out.map(|count| format!("tiles out of memory: {}", grouped(count))),
        finding.tile.map(|tile| format!("tile {tile}")),
        finding.instance.as_deref().map(|instance| clean(instance).into_owned()),
        finding.exchange.as_deref().map(|name| format!("exchange {}", shortened(name, 120))),
    ];
    let parts = finding.breakdown.iter();
    let parts = parts.map(|part| format!("{} {}", shortened(&part.name, 40), bytes(part.bytes)));
    let report = finding.profile.as_deref().map(|path| format!("report {}", shortened(path, 200)));
    names.into_iter().flatten().chain(used).chain(amounts).chain(parts).chain(report).collect()
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{} times", grouped(count as u64)) }
}
