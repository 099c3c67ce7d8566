//! `tilescope diagnose`: what error texts and logs say about memory, and what to do.

mod run_advice;

use std::fs::File;
use std::io::{BufReader, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value};

use super::output::{WRONG_ARGUMENTS, print_result, print_warning, with_progress, wrapped};
use super::{standard_error, usage};
use crate::diagnose::{CutLog, Diagnosis, Finding, Kind, WriterOfLine};
use crate::format::{Error, Progress};
use crate::log_file;
use crate::run::Advice;
use crate::run::joined_logs::{JoinedRun, LogToJoin};
use crate::systems::of_process;
use crate::systems::system::FoundRun;
use crate::text::{bytes, clean, grouped, shortened};
use run_advice::AdviceOfRuns;

/// Arguments of `tilescope diagnose`.
#[derive(Debug, Args)]
pub struct DiagnoseArguments {
    /// Logs or error messages; `-`, or no file at all, is standard input. PyTorch snapshots and XLA dumps can be named
    /// too: each message is joined with the run that it is about. `'rank*.pickle'`, or their directory, names the ranks
    /// of one run. A run beside a log, or that a log names, is found without being named.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,
}

/// What logs say about memory.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct DiagnoseReport {
    schema: &'static str,
    findings: Vec<FoundIn>,
    /// Lines of all files together.
    lines: u64,
    /// Lines of which only the first MiB is read.
    cut_lines: u64,
    /// Packed files that grow so much that they were not read to their end.
    cut_files: u64,
    /// Packed files that are cut or damaged: what could be unpacked was read.
    damaged_files: u64,
    /// Messages beyond those that are listed.
    further_findings: u64,
    /// Messages that were read without the lines around them, because there are too many messages.
    less_read_findings: u64,
    /// Runs that were named and that no message is about.
    #[serde(flatten)]
    alone: Map<String, Value>,
    #[serde(skip)]
    alone_text: String,
    #[serde(skip)]
    has_several_files: bool,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct FoundIn {
    /// `None` for standard input.
    file: Option<String>,
    #[serde(flatten)]
    finding: Finding,
    /// The runs that it is about.
    #[serde(flatten)]
    runs: Map<String, Value>,
    /// What the run that it is about advises, where one was found, best first: techniques with what each saves there.
    run_advice: Vec<Advice>,
    #[serde(skip)]
    runs_text: String,
}

/// Says what the logs say.
pub fn run(arguments: &DiagnoseArguments) -> ExitCode {
    if arguments.files.is_empty() && std::io::stdin().is_terminal() {
        // What is typed here is hardly a log; who wants that can say `-`.
        standard_error::say(format_args!(
            "error: name a log, or pipe one into tilescope\n\n{}",
            usage()
        ));
        return WRONG_ARGUMENTS.into();
    }
    let report = DiagnoseReport::of(&arguments.files);
    print_result(&report, arguments.json, DiagnoseReport::text, |_| ExitCode::SUCCESS)
}

/// A log that was read.
struct ReadLog {
    /// `None` for standard input.
    file: Option<PathBuf>,
    diagnosis: Diagnosis,
}

impl ReadLog {
    fn to_join(&self) -> LogToJoin<'_> {
        LogToJoin { file: self.file.as_deref(), findings: &self.diagnosis.findings }
    }

    fn read(file: &Path) -> Result<Self, Error> {
        if file.as_os_str() == "-" {
            let diagnosis =
                log_file::diagnose_stream("standard input", BufReader::new(std::io::stdin()))?;
            return Ok(Self { file: None, diagnosis });
        }
        // A FIFO that is named here is waited for, as standard input is: a shell gives one for `<(command)`.
        let open = |path: &Path| File::open(path);
        let read = |progress: &Progress| log_file::diagnose_file(file, open, progress);
        Ok(Self { file: Some(file.to_owned()), diagnosis: with_progress("Reading the log", read)? })
    }
}

impl DiagnoseReport {
    /// The schema of its JSON (cli.md).
    pub const SCHEMA: &'static str = "tilescope.diagnose/2";

    /// What the files say, one after another.
    ///
    /// # Errors
    /// `not-found` or `unreadable` for the first file that cannot be read.
    pub fn of(files: &[PathBuf]) -> Result<Self, Error> {
        let standard_input = [PathBuf::from("-")];
        let files = if files.is_empty() { &standard_input } else { files };
        let mut report = Self {
            schema: Self::SCHEMA,
            findings: Vec::new(),
            lines: 0,
            cut_lines: 0,
            cut_files: 0,
            damaged_files: 0,
            further_findings: 0,
            less_read_findings: 0,
            alone: Map::new(),
            alone_text: String::new(),
            has_several_files: files.len() > 1,
        };
        let systems = of_process();
        let mut named: Vec<Vec<Box<dyn FoundRun>>> = systems.iter().map(|_| Vec::new()).collect();
        let mut logs = Vec::new();
        for file in files {
            if !take_run(file, &mut named)? {
                logs.push(ReadLog::read(file)?);
            }
        }
        let to_join = logs.iter().map(ReadLog::to_join).collect::<Vec<_>>();
        let mut joined = Vec::new();
        for (system, named) in systems.iter().zip(named) {
            let of_system = with_progress("Reading the runs", |progress| {
                system.join_logs(&named, &to_join, progress)
            })?;
            of_system.warnings.iter().for_each(print_warning);
            report.alone.extend(of_system.alone.keys);
            report.alone_text += &of_system.alone.text;
            joined.push(of_system.messages.into_iter());
        }
        let mut asked = AdviceOfRuns::default();
        for ReadLog { file, diagnosis } in logs {
            report.lines += diagnosis.lines;
            report.cut_lines += diagnosis.cut_lines;
            report.cut_files += u64::from(diagnosis.cut == Some(CutLog::Grows));
            report.damaged_files += u64::from(diagnosis.cut == Some(CutLog::Damaged));
            report.further_findings += diagnosis.further;
            report.less_read_findings += diagnosis.less_read;
            let of_log = joined.iter_mut().map(|logs| logs.next().unwrap_or_default().into_iter());
            let mut of_log: Vec<_> = of_log.collect();
            for finding in diagnosis.findings {
                let mut found = FoundIn {
                    file: file.as_deref().map(|log| log.display().to_string()),
                    runs: Map::new(),
                    runs_text: String::new(),
                    run_advice: Vec::new(),
                    finding,
                };
                for JoinedRun { keys, text, of } in of_log.iter_mut().filter_map(Iterator::next) {
                    found.runs.extend(keys);
                    found.runs_text += &text;
                    let advice = of.map(|run| asked.of(&run, &found.finding));
                    found.run_advice.extend(advice.into_iter().flatten());
                }
                report.findings.push(found);
            }
        }
        Ok(report)
    }

    /// For people: every finding, though not endless rows of one kind, then what to do by kind.
    fn text(&self) -> String {
        /// Findings of one kind that are shown.
        const SHOWN: usize = 20;
        let alone = &self.alone_text;
        if self.findings.is_empty() && !alone.is_empty() && self.lines == 0 {
            return alone.clone();
        }
        if self.findings.is_empty() {
            let lines = if self.lines == 1 { "line" } else { "lines" };
            let nothing = format!("Nothing about memory in {} {lines}.\n", grouped(self.lines));
            return nothing + &self.cut_text() + alone;
        }
        let mut text = String::new();
        let kinds = self.kinds();
        for (kind, of_kind) in &kinds {
            text += &format!("{}, {}\n", kind.title(), times(of_kind.len()));
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
            if !worst.run_advice.is_empty() {
                text += &format!("What helps in the run that was found: {}{place}\n", kind.title());
                text += &run_advice::text(&worst.run_advice);
                text += "\n";
            }
            text += &format!("What to do: {}{place}\n", kind.title());
            for (number, sentence) in (1..).zip(&worst.finding.advice) {
                text += &wrapped(&format!("  {number}. "), &clean(sentence));
            }
            text += "\n";
        }
        text.truncate(text.trim_end().len() + 1);
        text + &self.cut_text() + alone
    }

    /// That something was not read, if so.
    fn cut_text(&self) -> String {
        let further = match self.further_findings {
            0 => String::new(),
            further => format!("{} further messages are not listed.\n", grouped(further)),
        };
        let less_read = match self.less_read_findings {
            0 => String::new(),
            less_read => format!(
                "There are very many messages: {} of them were read without the lines around them, and their advice is \
                 general.\n",
                grouped(less_read)
            ),
        };
        let packed = self.cut_files_text() + &self.damaged_files_text();
        further + &less_read + &self.cut_lines_text() + &packed
    }

    fn damaged_files_text(&self) -> String {
        match self.damaged_files {
            0 => String::new(),
            1 => {
                "1 packed log is cut or damaged: only what could be unpacked was read.\n".to_owned()
            }
            files => format!(
                "{} packed logs are cut or damaged: only what could be unpacked was read.\n",
                grouped(files)
            ),
        }
    }

    fn cut_files_text(&self) -> String {
        match self.cut_files {
            0 => String::new(),
            1 => "1 packed log was not read to its end: it unpacks to more than 64 times its bytes. Unpack it to read the \
                  rest.\n"
                .to_owned(),
            files => format!(
                "{} packed logs were not read to their ends: each unpacks to more than 64 times its bytes. Unpack them to \
                 read the rest.\n",
                grouped(files)
            ),
        }
    }

    fn cut_lines_text(&self) -> String {
        match self.cut_lines {
            0 => String::new(),
            1 => "1 line is longer than 1 MiB: only its first MiB was read.\n".to_owned(),
            lines => format!(
                "{} lines are longer than 1 MiB: only the first MiB of each was read.\n",
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
        /// Consequences that are shown.
        const CONSEQUENCES: usize = 5;
        let finding = &found.finding;
        let facts = facts(finding);
        let mut text = format!("  {}: {}\n", self.place(found), shortened(&finding.text, 300));
        if !facts.is_empty() {
            text += &format!("    {}\n", facts.join(", "));
        }
        if let Some(words) = finding.in_plain_words() {
            text += &wrapped("    ", &words);
        }
        text += &found.runs_text;
        for allocation in finding.allocations.iter().take(3) {
            let what = [&allocation.shape, &allocation.operator, &allocation.label];
            let what = what.into_iter().flatten().next().map_or("", |what| what);
            text += &format!("    {}  {}\n", bytes(allocation.bytes), shortened(what, 100));
        }
        for then in finding.consequences.iter().take(CONSEQUENCES) {
            let line = grouped(then.line);
            text += &format!("    then line {line}: {}\n", shortened(&then.text, 200));
        }
        if let Some(more @ 1..) = finding.consequences.len().checked_sub(CONSEQUENCES) {
            text += &format!("    then {} more lines\n", grouped(more as u64));
        }
        text
    }
}

/// Adds the run that a path names to those of its system; `false` where it is read as a log.
fn take_run(path: &Path, named: &mut [Vec<Box<dyn FoundRun>>]) -> Result<bool, Error> {
    for (system, named) in of_process().iter().zip(named) {
        let find = |progress: &Progress| system.find_beside_logs(path, progress);
        if let Some(run) = with_progress("Looking for runs", find)? {
            named.push(run);
            return Ok(true);
        }
    }
    Ok(false)
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
        ("in private pools", finding.private_pools_bytes),
        ("of other processes", finding.other_processes_bytes),
    ];
    let amounts =
        amounts.into_iter().filter_map(|(name, amount)| Some(format!("{} {name}", bytes(amount?))));
    let names = [
        finding.tiles_out.map(|count| format!("tiles out of memory: {}", grouped(count))),
        finding.tile.map(|tile| format!("tile {tile}")),
        finding.instance.as_deref().map(|instance| clean(instance).into_owned()),
        finding.program_name().map(|name| format!("program {}", shortened(name, 120))),
        finding.part_of_program(),
        finding.kernel().map(|name| format!("kernel {}", shortened(name, 120))),
        finding.exchange.as_deref().map(|name| format!("exchange {}", shortened(name, 120))),
    ];
    let parts = finding.breakdown.iter();
    let parts = parts.map(|part| format!("{} {}", shortened(&part.name, 40), bytes(part.bytes)));
    let report = finding.profile.as_deref().map(|path| format!("report {}", shortened(path, 200)));
    let origin = finding.origin.as_deref().map(WriterOfLine::names).unwrap_or_default();
    let origin = origin.iter().map(|name| shortened(name, 120).into_owned());
    // `in_plain_words` has the same figures, so they are not listed twice.
    if finding.in_plain_words().is_some() {
        return origin.collect();
    }
    origin
        .chain(names.into_iter().flatten())
        .chain(used)
        .chain(amounts)
        .chain(parts)
        .chain(report)
        .collect()
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{} times", grouped(count as u64)) }
}
