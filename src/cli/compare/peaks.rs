//! `tilescope compare` of runs whose steps are not matched, by what is alive at each one's own peak: the document
//! (`tilescope.compare/2` in cli.md), whatever system the runs are of. The text is written from it.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{By, CompareArguments, Shown, peaks_text};
use crate::analysis::derived::Derived;
use crate::analysis::figures::difference::Difference;
use crate::cli::output::{self, Answer, Document};
use crate::format::{Error, ErrorKind, Progress};
use crate::run::compared::amounts::Both;
use crate::run::compared::figures::{ComparedFigure, FigureOfRun};
use crate::run::compared::names::Owner;
use crate::run::compared::rows::{OwnerRow, Peaks, Row};
use crate::run::{Compared, Conclusion, MemoryTotals, Verdict};
use crate::store::{Warning, WarningCode};
use crate::systems::system::FoundRun;
use crate::text::bytes;
use crate::text::run_names::run_names;

/// Runs of one system, compared by what is alive at their peaks.
#[derive(Debug)]
pub struct PeakComparison {
    /// The name of the system, which is that of its section.
    system: &'static str,
    /// What it says of itself alone.
    section: Map<String, Value>,
    /// Of all runs.
    pub(super) paths: Vec<String>,
    /// Whether each fits, or how it ended.
    verdicts: Vec<Option<Verdict>>,
    /// The memory of the first two.
    memory: [MemoryTotals; 2],
    /// The first two.
    pub(super) compared: Compared,
    /// Of the first two.
    pub(super) conclusions: Vec<Conclusion>,
    /// Of more than two, each with what follows against the first.
    pub(super) runs: Vec<RunOfMany>,
    /// Of all runs.
    pub(super) figures: Vec<ComparedFigure>,
    /// Whether somebody says what the device has.
    pub(super) is_room_known: bool,
    /// What the text has.
    pub(super) shown: Shown,
}

/// A run of more than two.
#[derive(Debug)]
pub(super) struct RunOfMany {
    pub name: String,
    /// The device that is compared, and what that is called.
    pub device: i64,
    pub title: String,
    pub conclusions: Vec<Conclusion>,
}

/// Compares runs, and prints what comes out.
pub(super) fn run(runs: &[Box<dyn FoundRun>], arguments: &CompareArguments) -> ExitCode {
    let result = output::with_progress("Reading the runs", |progress| {
        let document = document(runs, arguments, progress)?;
        document.warnings().iter().for_each(output::print_warning);
        Ok(document)
    });
    output::finish_in_parts(&result, arguments.json)
}

/// The document of a comparison by peaks.
///
/// # Errors
/// When a run cannot be read, does not have the device, or is asked for what its system does not have.
pub fn document(
    runs: &[Box<dyn FoundRun>],
    arguments: &CompareArguments,
    progress: &Progress,
) -> Result<Document<PeakComparison>, Error> {
    let (answer, warnings) = compared(runs, arguments, progress)?;
    Ok(Document::new(answer, warnings))
}

/// Reads and compares them, the others with the first. Of more than two no more than two are in memory.
fn compared(
    runs: &[Box<dyn FoundRun>],
    arguments: &CompareArguments,
    progress: &Progress,
) -> Result<(PeakComparison, Vec<Warning>), Error> {
    let CompareArguments { device, shown, .. } = arguments;
    let [first, second, more @ ..] = runs else {
        return Err(Error::new(ErrorKind::Usage, "two runs are compared, or more"));
    };
    let open = |run: &dyn FoundRun| {
        let run = run.open(progress)?;
        let run = run.ok_or_else(|| Error::new(ErrorKind::Unreadable, "reading was cancelled"))?;
        Ok::<_, Error>(Arc::clone(run.derived()))
    };
    let (source, target) = rayon::join(|| open(&**first), || open(&**second));
    let (source, target) = (source?, target?);
    let (answers, room) = (source.answers(), device.room());
    let path = |derived: &Derived| derived.report().path.display().to_string();
    let mut warnings = output::named_warnings(source.report());
    let mut compare =
        |other: &Derived| {
            let compared = Compared::of([&*source, other], device.device)?.ok_or_else(|| {
                let message = format!("{} has nothing that could be compared", path(other));
                Error::new(ErrorKind::Usage, message)
            })?;
            check_by(shown, &compared)?;
            let file = path(other);
            warnings.extend(output::named_warnings(other.report()));
            warnings.extend(answers.change_warnings(&compared).into_iter().map(|message| {
                Warning { code: WarningCode::Inconsistent, file: file.clone(), message }
            }));
            let conclusions = compared.conclusions(&source, room, &bytes);
            Ok::<_, Error>((compared, conclusions))
        };
    let (compared, conclusions) = compare(&target)?;
    let both = [&*source, &*target];
    let memory = both.map(|derived| derived.answers().memory(derived));
    let mut verdicts = both.map(verdict).to_vec();
    let mut paths = both.map(path).to_vec();
    drop(target);
    let of_side = |place: usize| {
        let side = compared.sides.get(place);
        side.map(|side| (side.device, side.title.clone())).unwrap_or_default()
    };
    let mut of_runs = vec![(of_side(0), Vec::new()), (of_side(1), conclusions.clone())];
    let mut figures: Vec<Vec<FigureOfRun>> =
        compared.sides.iter().map(|side| side.figures.clone()).collect();
    for run in more {
        let other = open(&**run)?;
        let (compared, conclusions) = compare(&other)?;
        let [_, side] = compared.sides;
        of_runs.push(((side.device, side.title), conclusions));
        figures.push(side.figures);
        verdicts.push(verdict(&other));
        paths.push(path(&other));
    }
    let names = run_names(paths.iter().map(std::path::Path::new));
    let rows = names.into_iter().zip(of_runs).map(|(name, ((device, title), conclusions))| {
        RunOfMany { name, device, title, conclusions }
    });
    let figures: Vec<&[FigureOfRun]> = figures.iter().map(Vec::as_slice).collect();
    let stated = compared.sides.iter().any(|side| side.stated.capacity_bytes.is_some());
    let answer = PeakComparison {
        system: source.report().system.name,
        section: answers.change_json(&compared, room),
        verdicts,
        memory,
        conclusions,
        runs: if more.is_empty() { Vec::new() } else { rows.collect() },
        figures: ComparedFigure::of_runs(&figures),
        is_room_known: stated || room.capacity_bytes.is_some(),
        paths,
        compared,
        shown: shown.clone(),
    };
    Ok((answer, warnings))
}

fn verdict(derived: &Derived) -> Option<Verdict> {
    derived.answers().verdict(derived)
}

/// Refuses tables that a system does not have.
///
/// # Errors
/// `usage` for the first that is asked for.
fn check_by(shown: &Shown, compared: &Compared) -> Result<(), Error> {
    let by_owner = by_owner(compared);
    let has = [By::Category, by_owner, By::Variable];
    let Some(by) = shown.by.iter().find(|by| !has.contains(by)) else { return Ok(()) };
    let words = compared.words;
    let message = format!("these runs cannot be compared --by {}", by.key());
    let lower = |text: &str| text.to_lowercase();
    Err(Error::new(ErrorKind::Usage, message).hint(format!(
        "They are compared by category, by {} ({}), and by variable ({}).",
        by_owner.key(),
        lower(words.owner),
        lower(words.by_row.trim_start_matches("By "))
    )))
}

/// What the sums by owner are called.
fn by_owner(compared: &Compared) -> By {
    if compared.words.are_owners_operations { By::Operation } else { By::Module }
}

/// A row with the keys of all rows.
fn row(name: &str, both: &Both) -> Map<String, Value> {
    let bytes = both.bytes();
    let keys = [
        ("name", json!(name)),
        ("source_bytes", json!(bytes.source)),
        ("target_bytes", json!(bytes.target)),
        ("difference_bytes", json!(bytes.change())),
        ("only", json!(both.only())),
        ("source_count", json!(both.source.count)),
        ("target_count", json!(both.target.count)),
    ];
    keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

impl PeakComparison {
    /// What an owner is called.
    pub(super) fn owner_title(&self, owner: Option<&Owner>) -> String {
        owner.map_or_else(|| self.compared.words.nobody.to_owned(), Owner::title)
    }

    /// By what owners are.
    pub(super) fn by_owner(&self) -> By {
        by_owner(&self.compared)
    }

    fn side(&self, place: usize) -> Value {
        json!({
            "path": self.paths.get(place),
            "system": self.system,
            "device": self.compared.sides.get(place).map(|side| side.device),
        })
    }

    fn memory(&self) -> Value {
        let both =
            |of: fn(&MemoryTotals) -> Option<u64>| Difference::of(self.memory.each_ref().map(of));
        json!({
            "total_bytes": both(|memory| memory.total_bytes),
            "including_gaps_bytes": both(|memory| memory.including_gaps_bytes),
            "gap_bytes": both(|memory| memory.gap_bytes),
            "always_live_bytes": both(|memory| memory.always_live_bytes),
        })
    }

    fn figures(&self, place: usize) -> Value {
        self.figures.iter().map(|figure| figure.json(place)).collect()
    }

    fn owner_row(&self, row_of: &OwnerRow) -> Value {
        row(&self.owner_title(row_of.owner.as_ref()), &row_of.both).into()
    }

    fn variable_row(&self, peaks: &Peaks, one: &Row) -> Value {
        let mut keys = row(&self.owner_title(peaks.owner(one)), &one.both);
        let calls: Value = peaks.names.owners(one.path).map(Owner::title).collect();
        let of_source = peaks.owner_of_source(one).map(|owner| self.owner_title(owner));
        let [of_source_detail, of_target_detail] = peaks.details(one);
        let more = [
            ("name_of_source", json!(of_source)),
            ("calls", if self.compared.words.are_owners_operations { Value::Null } else { calls }),
            ("shape", json!({ "source": of_source_detail, "target": of_target_detail })),
            ("category", json!(one.category.key)),
            ("each_bytes", json!(one.size)),
            ("change", json!(one.both.row_change().as_str())),
            ("matched_by", json!(one.matched_by)),
        ];
        keys.extend(more.map(|(key, value)| (key.to_owned(), value)));
        keys.into()
    }

    fn run_rows(&self) -> Value {
        let row = |(place, run): (usize, &RunOfMany)| {
            json!({
                "path": self.paths.get(place),
                "name": run.name,
                "device": run.device,
                "verdict": self.verdicts.get(place),
                "figures": self.figures(place),
                "conclusions": run.conclusions,
            })
        };
        self.runs.iter().enumerate().map(row).collect()
    }
}

impl Serialize for PeakComparison {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut document = serializer.serialize_map(None)?;
        document.serialize_entry("source", &self.side(0))?;
        document.serialize_entry("target", &self.side(1))?;
        document.serialize_entry("verdicts", &self.verdicts)?;
        document.serialize_entry("settings", &self.compared.settings)?;
        document.serialize_entry("memory", &self.memory())?;
        document.serialize_entry("figures", &self.figures(1))?;
        document.serialize_entry("peak", &PeakOfBoth(self))?;
        // Steps are not matched.
        document.serialize_entry("steps", &Value::Null)?;
        document.serialize_entry("conclusions", &self.conclusions)?;
        document.serialize_entry(self.system, &self.section)?;
        if !self.runs.is_empty() {
            document.serialize_entry("runs", &self.run_rows())?;
        }
        document.end()
    }
}

/// Rows of which each is made when it is written: all at once would take many times what the files do.
struct OneByOne<F>(F);

impl<F: Fn() -> I, I: Iterator<Item = Value>> Serialize for OneByOne<F> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// What is alive at both peaks.
struct PeakOfBoth<'a>(&'a PeakComparison);

impl Serialize for PeakOfBoth<'_> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let Self(of) = *self;
        let [source, target] = of.compared.sides.each_ref();
        let peaks = [source, target].map(|side| side.peak.as_ref());
        let all = Difference::of(peaks.map(|peak| peak.map(|peak| peak.bytes)));
        let not_always = peaks.map(|peak| peak.map(|peak| peak.not_always_live_bytes));
        let always = [source, target].map(|side| Some(side.always_live_bytes));
        let [source_step, target_step] = peaks.map(|peak| peak.and_then(|peak| peak.step));
        let mut peak = serializer.serialize_map(None)?;
        peak.serialize_entry("source_bytes", &all.source)?;
        peak.serialize_entry("target_bytes", &all.target)?;
        peak.serialize_entry("difference_bytes", &all.change())?;
        peak.serialize_entry("percent", &all.percent())?;
        peak.serialize_entry("source_step", &source_step)?;
        peak.serialize_entry("target_step", &target_step)?;
        peak.serialize_entry("always_live_bytes", &Difference::of(always))?;
        peak.serialize_entry("not_always_live_bytes", &Difference::of(not_always))?;
        let found = || of.compared.peaks.iter();
        let categories = || found().flat_map(|peaks| &peaks.by_category);
        let owners = || found().flat_map(|peaks| &peaks.by_owner).map(|one| of.owner_row(one));
        let variables =
            || found().flat_map(|peaks| peaks.rows.iter().map(|one| of.variable_row(peaks, one)));
        let by_category =
            || categories().map(|(category, both)| Value::from(row(category.key, both)));
        peak.serialize_entry("by_category", &OneByOne(by_category))?;
        for by in [By::Operation, By::Module] {
            let key = format!("by_{}", by.key());
            if by == of.by_owner() {
                peak.serialize_entry(&key, &OneByOne(owners))?;
            } else {
                peak.serialize_entry(&key, &[(); 0])?;
            }
        }
        peak.serialize_entry("by_line", &[(); 0])?;
        peak.serialize_entry("by_variable", &OneByOne(variables))?;
        peak.end()
    }
}

impl Answer for PeakComparison {
    const SCHEMA: &'static str = "tilescope.compare/2";

    fn text(&self) -> String {
        if self.shown.csv { peaks_text::csv(self).collect() } else { peaks_text::text(self) }
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.shown.csv {
            return out.write_all(self.text().as_bytes());
        }
        peaks_text::csv(self).try_for_each(|line| out.write_all(line.as_bytes()))
    }
}
