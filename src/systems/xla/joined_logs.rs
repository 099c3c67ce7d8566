//! XLA modules that belong to messages of logs: of a dump that was named, that a log names, or that lies beside one,
//! the module whose figures the message states. The message has what the device has; the module who owns the memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use crate::diagnose::Finding;
use crate::format::Progress;
use crate::run::AliveBy;
use crate::run::joined_logs::{JoinedLogs, JoinedRun, LogToJoin, RunOfMessage};
use crate::store::{Warning, WarningCode, Warnings};
use crate::systems::xla::files::FoundModule;
use crate::systems::xla::run::{
    AgreedFigure, Agreement, AnalysedModule, ModuleTotals, XlaFiles, XlaRun, dump_of_text,
    find as find_module, stated_bytes,
};
use crate::text::{bytes, clean, counted, shortened};

/// Modules of a dump that are looked into: those that take the most.
const MOST_MODULES: usize = 16;
/// So large is no module: nothing is asked of them.
const NO_MESSAGE: u64 = u64::MAX;
/// Operations that are named of a peak.
const MOST_OPERATIONS: usize = 3;

/// A dump that was looked into.
#[derive(Clone, Debug, Serialize)]
struct FoundDump {
    path: String,
    #[serde(rename = "modules")]
    programs: Vec<LoggedModule>,
    /// Bytes that modules take of the main memory which were not looked into.
    #[serde(skip)]
    further: Vec<u64>,
    /// Whether there are messages that could be about one.
    #[serde(skip)]
    was_asked: bool,
    /// What is to be said of how it was found and read.
    #[serde(skip)]
    warnings: Vec<Warning>,
}

/// A module of it.
#[derive(Clone, Debug, Serialize)]
struct LoggedModule {
    file: String,
    /// What it is called among the others.
    #[serde(rename = "module")]
    title: String,
    capacity_bytes: Option<u64>,
    #[serde(flatten)]
    takes: Takes,
    /// The operations that own most of the peak of what is temporary.
    peak_operations: Vec<OperationBytes>,
    /// What tells it from others: its file, of which a profile has several, and where it is there.
    #[serde(skip)]
    key: (PathBuf, usize),
    #[serde(skip)]
    sizes: ModuleTotals,
}

/// What a module takes of the main memory.
#[derive(Clone, Debug, Serialize)]
struct Takes {
    /// Whether its file is cut: then it takes so much at least.
    is_cut: bool,
    total_bytes: u64,
    argument_bytes: u64,
    temporary_bytes: u64,
    temporary_peak_bytes: Option<u64>,
    /// The main memory within a sentence.
    #[serde(skip)]
    memory: String,
}

/// What an operation owns of a peak.
#[derive(Clone, Debug, Serialize)]
struct OperationBytes {
    operation: String,
    bytes: u64,
}

/// The dumps in which modules are looked for.
struct Dumps {
    /// Those that were named, and whether a message is of one of their modules.
    named: Vec<(FoundDump, bool)>,
    /// Those beside logs; none where it cannot be read.
    by_directory: BTreeMap<PathBuf, Option<FoundDump>>,
    /// The one beside the log that is gone through.
    beside: Option<PathBuf>,
    /// How large a module must be at least.
    least: u64,
}

/// What a module says of a message: the figures of both.
#[derive(Clone, Debug, Serialize)]
struct JoinedModule {
    file: String,
    module: String,
    /// The figure by which it was found.
    by: AgreedFigure,
    /// What the message states of it, and what the module has.
    stated_bytes: u64,
    agreed_bytes: u64,
    /// Allocations that the message lists with their shapes, and those that are values of the module.
    listed: usize,
    listed_found: usize,
    /// Of the message, else of what lies beside the module.
    capacity_bytes: Option<u64>,
    /// Modules of the dump that are as large and were not looked into.
    further_modules: usize,
    #[serde(flatten)]
    takes: Takes,
    peak_step: Option<u32>,
    peak_operations: Vec<OperationBytes>,
}

/// Joins messages with the modules of dumps that were named, else of those that the logs name or lie in.
pub fn join_logs(named: &[&XlaFiles], logs: &[LogToJoin<'_>], progress: &Progress) -> JoinedLogs {
    let mut dumps = Dumps::of(named, logs, progress);
    let warnings = dumps.named.iter().flat_map(|(dump, _)| dump.warnings.clone()).collect();
    let mut messages = Vec::new();
    for log in logs {
        dumps.look_beside(log, progress);
        let join = |finding: &Finding| {
            let (module, possible) = dumps.module_of(finding);
            let text = module.as_ref().map(JoinedModule::text).unwrap_or_default();
            JoinedRun {
                of: module.as_ref().map(|module| RunOfMessage {
                    path: PathBuf::from(&module.file),
                    module: Some(module.module.clone()),
                    device: None,
                }),
                text: text + &possible_text(&possible),
                keys: [("module", json!(module)), ("possible_modules", json!(possible))]
                    .map(|(key, value)| (key.to_owned(), value))
                    .into_iter()
                    .collect(),
            }
        };
        messages.push(log.findings.iter().map(join).collect());
    }
    let alone = dumps.alone();
    let keys = (!alone.is_empty()).then(|| ("dumps".to_owned(), json!(alone)));
    let text = alone.iter().map(FoundDump::text).collect();
    JoinedLogs {
        messages,
        alone: JoinedRun { keys: keys.into_iter().collect(), text, of: None },
        warnings,
    }
}

/// How large the module of a message must be at least; `None` of a message that is about none.
fn least_bytes(finding: &Finding) -> Option<u64> {
    // Amounts are rounded.
    stated_bytes(finding).map(|stated| stated.saturating_sub(stated / 50))
}

impl Dumps {
    /// Those that were named, for the messages of some logs.
    fn of(named: &[&XlaFiles], logs: &[LogToJoin<'_>], progress: &Progress) -> Self {
        let findings = logs.iter().flat_map(|log| log.findings);
        let least = findings.filter_map(least_bytes).min().unwrap_or(NO_MESSAGE);
        let named = named.iter().filter_map(|files| FoundDump::read(files, least, progress));
        let named: Vec<(FoundDump, bool)> = named.map(|dump| (dump, false)).collect();
        Self { named, by_directory: BTreeMap::new(), beside: None, least }
    }

    /// Looks for the dump that a log names or lies in, where none was named. What cannot be read there is no reason to say
    /// nothing of the log.
    fn look_beside(&mut self, log: &LogToJoin<'_>, progress: &Progress) {
        self.beside = None;
        let wants_one = log.findings.iter().any(|one| least_bytes(one).is_some());
        if !wants_one || !self.named.is_empty() {
            return;
        }
        let Some(directory) = log.file.and_then(dump_of_text) else { return };
        if !self.by_directory.contains_key(&directory) {
            let files = find_module(&directory, None, progress).ok().flatten();
            let is_large = |files: &XlaFiles| {
                let programs = files.modules.iter().filter(|one| one.is_program());
                programs.take(1).any(|one| one.listed.main_bytes >= self.least)
            };
            let found = files.filter(is_large);
            let found = found.and_then(|files| FoundDump::read(&files, self.least, progress));
            self.by_directory.insert(directory.clone(), found);
        }
        self.beside = Some(directory);
    }

    /// The module that a message is about, or the files of those of which it cannot be told.
    fn module_of(&mut self, finding: &Finding) -> (Option<JoinedModule>, Vec<String>) {
        let beside = self.beside.as_ref().and_then(|path| self.by_directory.get(path)?.as_ref());
        let dumps = self.named.iter().map(|(dump, _)| dump).chain(beside).enumerate();
        let least = least_bytes(finding).unwrap_or(NO_MESSAGE);
        let programs = dumps.flat_map(|(place, dump)| {
            let further = dump.further.iter().filter(|bytes| **bytes >= least).count();
            dump.programs.iter().map(move |program| (place, further, program))
        });
        let agreed =
            programs.filter_map(|of @ (.., one)| Some((of, one.sizes.agreement(finding)?)));
        let mut agreed: Vec<_> = agreed.collect();
        // Of several it is the one that has most of the listed allocations.
        let best = agreed.iter().map(|(_, agreement)| agreement.found).max();
        agreed.retain(|(_, agreement)| Some(agreement.found) == best);
        // One dump may be named twice.
        agreed.sort_by(|one, other| one.0.2.key.cmp(&other.0.2.key));
        agreed.dedup_by(|one, other| one.0.2.key == other.0.2.key);
        let places: Vec<usize> = agreed.iter().map(|((place, ..), _)| *place).collect();
        let answer = match &agreed[..] {
            [((_, further, program), agreement)] => {
                (Some(program.joined(agreement, *further, finding)), Vec::new())
            }
            several => {
                let file = |((.., program), _): &((_, _, &LoggedModule), _)| program.file.clone();
                (None, several.iter().map(file).collect())
            }
        };
        for place in places {
            if let Some((_, is_joined)) = self.named.get_mut(place) {
                *is_joined = true;
            }
        }
        answer
    }

    /// Those that were named and that no message is of.
    fn alone(self) -> Vec<FoundDump> {
        let alone = self.named.into_iter().filter(|(_, is_joined)| !is_joined);
        alone.map(|(dump, _)| dump).collect()
    }
}

impl FoundDump {
    /// Looks into the largest module of a dump, and into others that have so many bytes at least; `None` when that was
    /// canceled.
    fn read(files: &XlaFiles, least: u64, progress: &Progress) -> Option<Self> {
        let warnings = Warnings::default();
        warnings.add_all(&files.warnings);
        // The largest is the first.
        let large = files.modules.iter().filter(|one| one.is_program()).enumerate();
        let large = large.filter(|(place, one)| *place == 0 || one.listed.main_bytes >= least);
        let further = large.clone().skip(MOST_MODULES);
        let further = further.map(|(_, one)| one.listed.main_bytes).collect();
        let mut programs = Vec::new();
        for (_, found) in large.take(MOST_MODULES) {
            let one = XlaFiles {
                path: files.path.clone(),
                modules: vec![found.clone()],
                warnings: Vec::new(),
                texts: Some(Arc::default()),
                beside: None,
            };
            // What is beside says what the device has, which the message does as well.
            match XlaRun::open(&one, progress) {
                Ok(Some(run)) => {
                    warnings.add_all(&run.report.warnings.list());
                    programs.push(LoggedModule::of(&run.program, found));
                }
                Ok(None) => return None,
                Err(error) => {
                    let file = found.at.path().display().to_string();
                    let message = format!("cannot be read: {}", error.message);
                    warnings.add(WarningCode::Inconsistent, &file, message);
                }
            }
        }
        let was_asked = least != NO_MESSAGE;
        let (path, warnings) = (files.path.display().to_string(), warnings.list());
        Some(Self { path, programs, further, was_asked, warnings })
    }

    /// That it is here, and what its largest module takes, where no message is about one of them.
    fn text(&self) -> String {
        let mut text = format!("{}, a dump of XLA\n", clean(&self.path));
        for program in self.programs.iter().take(1) {
            text += &format!("  {}: {}\n", shortened(&program.title, 100), program.takes.text());
            text += &operations_text(&program.peak_operations);
        }
        if self.was_asked {
            text += "    no message states figures of this dump\n";
        }
        text
    }
}

impl LoggedModule {
    fn of(program: &AnalysedModule, found: &FoundModule) -> Self {
        let analysed = &program.analysed;
        let peak = analysed.temporary_peak(0);
        let shares = peak.map(|peak| analysed.shares_at(0, peak.position)).unwrap_or_default();
        let owned = analysed.owners(&shares, AliveBy::Operation);
        let owned = owned.into_iter().filter(|owner| owner.bytes > 0).take(MOST_OPERATIONS);
        let owned = owned.map(|owner| OperationBytes { operation: owner.name, bytes: owner.bytes });
        let path = found.at.path();
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let sizes = ModuleTotals::of(program);
        let figures = &sizes.figures;
        Self {
            file: path.display().to_string(),
            title: found.listed.title.clone(),
            capacity_bytes: program.beside.capacity_bytes,
            takes: Takes {
                is_cut: program.is_cut,
                total_bytes: figures.total_bytes,
                argument_bytes: figures.parameter_bytes,
                temporary_bytes: figures.temporary_bytes,
                temporary_peak_bytes: figures.lives.map(|lives| lives.temporary_peak_bytes),
                memory: program.color_words(0),
            },
            peak_operations: owned.collect(),
            key: (absolute, found.at.place()),
            sizes,
        }
    }

    fn joined(&self, agreement: &Agreement, further: usize, finding: &Finding) -> JoinedModule {
        let lives = self.sizes.figures.lives.filter(|lives| lives.temporary_peak_bytes > 0);
        JoinedModule {
            file: self.file.clone(),
            module: self.title.clone(),
            by: agreement.by,
            stated_bytes: agreement.stated_bytes,
            agreed_bytes: agreement.bytes,
            listed: agreement.listed,
            listed_found: agreement.found,
            capacity_bytes: finding.limit_bytes.or(self.capacity_bytes),
            further_modules: further,
            takes: self.takes.clone(),
            peak_step: lives.map(|lives| lives.position),
            peak_operations: self.peak_operations.clone(),
        }
    }
}

impl Takes {
    /// `it reserves 19.7 GiB of HBM, 19.5 GiB of it for temporaries, of which 18.9 GiB are in use at most`.
    fn text(&self) -> String {
        let cut = "its file is cut: it reserves at least";
        let reserves = if self.is_cut { cut } else { "it reserves" };
        let peak = self.temporary_peak_bytes.map(bytes);
        let peak = peak.map(|peak| format!(", of which {peak} are in use at most"));
        format!(
            "{reserves} {} of {}, {} of it for temporaries{}",
            bytes(self.total_bytes),
            self.memory,
            bytes(self.temporary_bytes),
            peak.unwrap_or_default()
        )
    }
}

impl JoinedModule {
    /// For people, below the message.
    fn text(&self) -> String {
        let agreed = bytes(self.agreed_bytes);
        let why = match self.by {
            AgreedFigure::Temporaries => {
                format!("its temporaries, {agreed}, are as the message states")
            }
            AgreedFigure::Total => {
                format!("all that it reserves, {agreed}, is as the message states")
            }
            AgreedFigure::Request => {
                format!("the request is one for its temporary allocation of {agreed}")
            }
        };
        let listed = match (self.listed, self.listed_found) {
            (0, _) => String::new(),
            (listed, found) => {
                format!(", and {found} of {} it has", counted(listed as u64, "listed allocation"))
            }
        };
        let takes = self.takes.text();
        let of = self
            .capacity_bytes
            .map_or_else(String::new, |capacity| format!("; the device has {}", bytes(capacity)));
        let further = match self.further_modules {
            0 => String::new(),
            further => format!(
                "; {} of the dump that may be as large are not examined",
                counted(further as u64, "further module")
            ),
        };
        let head = format!(
            "    module {} ({}): {why}{listed}; {takes}{of}{further}\n",
            shortened(&self.module, 100),
            shortened(&self.file, 200),
        );
        head + &operations_text(&self.peak_operations)
    }
}

/// That it cannot be told which of several modules a message is about.
fn possible_text(possible: &[String]) -> String {
    /// Those that are named.
    const SHOWN: usize = 3;
    if possible.is_empty() {
        return String::new();
    }
    let names: Vec<String> =
        possible.iter().take(SHOWN).map(|file| shortened(file, 200).into_owned()).collect();
    let more = if possible.len() > SHOWN { " and others" } else { "" };
    format!(
        "    {} have the figures of the message, so it cannot be told which one it is about: {}{more}\n",
        counted(possible.len() as u64, "module"),
        names.join(", ")
    )
}

fn operations_text(operations: &[OperationBytes]) -> String {
    let line = |row: &OperationBytes| {
        format!("      {}  {}\n", bytes(row.bytes), shortened(&row.operation, 100))
    };
    let lines: String = operations.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("    of that peak belongs to\n{lines}") }
}
