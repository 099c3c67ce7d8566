//! The document of `tilescope compare` (`tilescope.compare/2` in cli.md), whatever system the runs are of. The text is
//! written from it.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::steps::StepsMatched;
use super::{By, CompareArguments, Shown, csv, text};
use crate::analysis::comparison::contribution::{Contribution, Grouping, LifePart};
use crate::analysis::comparison::explanation::{Explanation, GroupedBy};
use crate::analysis::comparison::figures::Figure;
use crate::analysis::comparison::options::{OptionDifference, OptionText};
use crate::analysis::derived::Derived;
use crate::analysis::figures::difference::{Difference, Side};
use crate::analysis::liveness;
use crate::cli::output::{self, Answer, Document};
use crate::format::{Error, ErrorKind, Progress};
use crate::run::answers::SourceFormat;
use crate::run::compared::amounts::Both;
use crate::run::compared::names::Owner;
use crate::run::compared::rows::{ComparedRow, OwnerRow, Peaks};
use crate::run::{Compared, Conclusion, MemoryTotals, Verdict};
use crate::store::{Warning, WarningCode};
use crate::systems::system::{FoundRun, LatePart, OpenRun};
use crate::text::bytes;
use crate::text::run_names::run_names;

/// Runs of one system, compared with the first of them.
#[derive(Debug)]
pub struct Comparison {
    /// The name of the system, which is that of its section.
    system: &'static str,
    /// What it says of itself alone.
    section: Map<String, Value>,
    /// All runs.
    pub(super) runs: Vec<ComparedRun>,
    /// The memory of the first two.
    memory: [MemoryTotals; 2],
    /// The first two.
    pub(super) compared: Compared,
    /// What follows from their matched steps.
    pub(super) steps: Option<StepsMatched>,
    /// What their peaks consist of, where steps are matched.
    peak: Option<Explanation>,
    /// What differs between all runs.
    pub(super) settings: Vec<OptionDifference>,
    /// Of all runs.
    pub(super) figures: Vec<Figure>,
    /// Whether the text says that nobody says what the device has.
    pub(super) lacks_room: bool,
    /// What figures do not count.
    pub(super) note: Option<&'static str>,
    /// What the text has.
    pub(super) shown: Shown,
}

/// A run of a comparison.
#[derive(Debug)]
pub(super) struct ComparedRun {
    pub path: String,
    pub name: String,
    /// The device that is compared, and what that is called.
    pub device: Option<i64>,
    pub title: String,
    format: SourceFormat,
    pub verdict: Option<Verdict>,
    /// What follows against the first.
    pub conclusions: Vec<Conclusion>,
}

impl ComparedRun {
    fn of(derived: &Derived, side: &crate::run::compared::RunSide) -> Self {
        Self {
            path: path_of(derived),
            name: String::new(),
            device: side.device,
            title: side.title.clone(),
            format: derived.answers().format(derived),
            verdict: derived.verdict().map(|verdict| (*verdict).clone()),
            conclusions: Vec::new(),
        }
    }

    /// Its path, with the device where one is compared.
    pub fn text(&self) -> String {
        match &*self.title {
            "" => self.path.clone(),
            title => format!("{}, {title}", self.path),
        }
    }
}

fn path_of(derived: &Derived) -> String {
    derived.report().path.display().to_string()
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

/// The document of a comparison.
///
/// # Errors
/// When a run cannot be read, does not have the device, or is asked for what its system does not have.
pub fn document(
    runs: &[Box<dyn FoundRun>],
    arguments: &CompareArguments,
    progress: &Progress,
) -> Result<Document<Comparison>, Error> {
    let (answer, warnings) = compared(runs, arguments, progress)?;
    Ok(Document::new(answer, warnings))
}

/// Reads and compares them, the others with the first. Of more than two no more than two are in memory.
fn compared(
    runs: &[Box<dyn FoundRun>],
    arguments: &CompareArguments,
    progress: &Progress,
) -> Result<(Comparison, Vec<Warning>), Error> {
    let CompareArguments { device, shown, .. } = arguments;
    let [first, second, more @ ..] = runs else {
        return Err(Error::new(ErrorKind::Usage, "two runs are compared, or more"));
    };
    let open = |run: &dyn FoundRun| {
        let run = output::opened(run, progress)?;
        run.read_parts(&LatePart::ALL, progress);
        run.derived().set_room(device.room());
        Ok::<_, Error>(run)
    };
    let (source_run, target_run) = rayon::join(|| open(&**first), || open(&**second));
    let (source_run, target_run) = (source_run?, target_run?);
    let source = &**source_run.derived();
    let (answers, room) = (source.answers(), device.room());
    let compare = |other: &Derived| {
        let compared = Compared::of([source, other], None, device.device, &|| false)?;
        let compared = compared.ok_or_else(|| {
            let message = format!("{} has nothing to compare", path_of(other));
            Error::new(ErrorKind::Usage, message)
        })?;
        check_by(shown, &compared)?;
        let [_, side] = &compared.sides;
        let conclusions = compared.conclusions(source, room, &bytes);
        let run = ComparedRun { conclusions, ..ComparedRun::of(other, side) };
        Ok::<_, Error>((compared, run))
    };
    let said =
        |run: &dyn OpenRun| output::named(&run.derived().report().path, run.warnings(progress));
    let said_of_change = |run: &dyn OpenRun, compared: &Compared| {
        let file = path_of(run.derived());
        let warning =
            |message| Warning { code: WarningCode::Inconsistent, file: file.clone(), message };
        let of_change = answers.change_warnings(compared).into_iter().map(warning);
        said(run).into_iter().chain(of_change).collect::<Vec<_>>()
    };
    let (mut compared, run) = compare(target_run.derived())?;
    let both = [source, &**target_run.derived()];
    // What only JSON has is not worked out for the text.
    let is_json = arguments.json;
    let section = if is_json { answers.change_json(&compared, room) } else { Map::new() };
    let matched = compared.matched.take();
    let steps = matched.as_ref().map(|found| StepsMatched::of(both, found, is_json)).transpose()?;
    let peak = matched.and_then(|found| found.peak.clone());
    let memory = both.map(|derived| derived.answers().memory(derived));
    let mut note = both.iter().find_map(|run| liveness::replica_note(run.report().target.get()));
    let mut warnings = said(&*source_run);
    warnings.extend(said_of_change(&*target_run, &compared));
    drop(target_run);
    let [of_source, _] = &compared.sides;
    let mut all = vec![ComparedRun::of(source, of_source), run];
    let mut sides = compared.sides.to_vec();
    for found in more {
        let other = open(&**found)?;
        let (compared, run) = compare(other.derived())?;
        warnings.extend(said_of_change(&*other, &compared));
        note = note.or_else(|| liveness::replica_note(other.derived().report().target.get()));
        let [_, side] = compared.sides;
        sides.push(side);
        all.push(run);
    }
    let names = run_names(all.iter().map(|run| std::path::Path::new(&run.path)));
    all.iter_mut().zip(names).for_each(|(run, name)| run.name = name);
    let stated = compared.sides.iter().any(|side| side.need.stated.capacity_bytes.is_some());
    let figures: Vec<&[Figure]> = sides.iter().map(|side| &*side.figures).collect();
    let answer = Comparison {
        system: source.report().system.name,
        peak,
        figures: Figure::side_by_side(&figures),
        settings: OptionText::that_differ(sides.into_iter().map(|side| side.settings).collect()),
        lacks_room: !stated && room.capacity_bytes.is_none() && steps.is_none(),
        runs: all,
        section,
        memory,
        steps,
        note,
        compared,
        shown: shown.clone(),
    };
    Ok((answer, warnings))
}

/// All rows of a grouping, the largest change first; they add up to both peaks.
fn peak_rows(grouping: &Grouping) -> impl Iterator<Item = Value> {
    let bytes = |row: &Contribution| row.bytes.of(LifePart::All);
    let mut rows: Vec<&Contribution> = grouping.rows().iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse((bytes(row).magnitude(), bytes(row).source)));
    rows.into_iter().map(move |of| {
        row(&of.contributor.key(), &bytes(of), of.only.map(Side::key), [None; 2]).into()
    })
}

/// Refuses tables that a system does not have.
///
/// # Errors
/// `usage` for the first that is asked for.
fn check_by(shown: &Shown, compared: &Compared) -> Result<(), Error> {
    let by_owner = by_owner(compared);
    let has = [By::Category, by_owner, By::Variable];
    if compared.matched.is_some() {
        return Ok(());
    }
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
fn row(
    name: &str,
    bytes: &Difference,
    only: Option<&str>,
    [source_count, target_count]: [Option<u64>; 2],
) -> Map<String, Value> {
    let keys = [
        ("name", json!(name)),
        ("source_bytes", json!(bytes.source)),
        ("target_bytes", json!(bytes.target)),
        ("difference_bytes", json!(bytes.change())),
        ("only", json!(only)),
        ("source_count", json!(source_count)),
        ("target_count", json!(target_count)),
    ];
    keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn row_of(name: &str, both: &Both) -> Map<String, Value> {
    let counts = [both.source.count, both.target.count].map(Some);
    row(name, &both.bytes(), both.only(), counts)
}

impl Comparison {
    /// What an owner is called.
    pub(super) fn owner_title(&self, owner: Option<&Owner>) -> String {
        owner.map_or_else(|| self.compared.words.nobody.to_owned(), Owner::title)
    }

    /// By what owners are.
    pub(super) fn by_owner(&self) -> By {
        by_owner(&self.compared)
    }

    fn side(&self, run: &ComparedRun) -> Value {
        json!({
            "path": run.path,
            "system": self.system,
            "device": run.device,
            "producer": run.format.producer,
            "captured_at": run.format.captured_at,
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

    fn owner_row(&self, of: &OwnerRow) -> Value {
        row_of(&self.owner_title(of.owner.as_ref()), &of.both).into()
    }

    fn variable_row(&self, peaks: &Peaks, one: &ComparedRow) -> Value {
        let mut keys = row_of(&self.owner_title(peaks.owner(one)), &one.both);
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

    /// The rows of the peaks where steps are matched; those of variables have the keys of all.
    fn serialize_matched<M: SerializeMap>(&self, mut peak: M) -> Result<M::Ok, M::Error> {
        for by in GroupedBy::ALL {
            let grouping = self.peak.as_ref().and_then(|peak| peak.grouping(by));
            let rows = OneByOne(|| grouping.into_iter().flat_map(peak_rows));
            peak.serialize_entry(&format!("by_{}", by.key()), &rows)?;
        }
        peak.serialize_entry("by_line", &[(); 0])?;
        peak.end()
    }

    fn run_rows(&self) -> Value {
        let row = |(place, run): (usize, &ComparedRun)| {
            let setting = |of: &OptionDifference| json!({ "kind": of.kind, "name": of.name, "value": of.value(place) });
            json!({
                "path": run.path,
                "name": run.name,
                "device": run.device,
                "producer": run.format.producer,
                "captured_at": run.format.captured_at,
                "verdict": run.verdict,
                "settings": self.settings.iter().map(setting).collect::<Value>(),
                "figures": self.figures(place),
                "conclusions": run.conclusions,
            })
        };
        self.runs.iter().enumerate().map(row).collect()
    }
}

impl Serialize for Comparison {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut document = serializer.serialize_map(None)?;
        for (key, run) in ["source", "target"].into_iter().zip(&self.runs) {
            document.serialize_entry(key, &self.side(run))?;
        }
        let verdicts: Vec<_> = self.runs.iter().map(|run| &run.verdict).collect();
        document.serialize_entry("verdicts", &verdicts)?;
        document.serialize_entry("settings", &self.compared.settings)?;
        document.serialize_entry("memory", &self.memory())?;
        document.serialize_entry("figures", &self.figures(1))?;
        document.serialize_entry("peak", &PeakOfBoth(self))?;
        match self.steps.as_ref().map(serde_json::to_value) {
            Some(Ok(Value::Object(found))) => {
                for (key, value) in &found {
                    document.serialize_entry(key, value)?;
                }
            }
            // Steps are not matched.
            _ => document.serialize_entry("steps", &Value::Null)?,
        }
        let conclusions = self.runs.get(1).map(|run| &run.conclusions);
        document.serialize_entry("conclusions", &conclusions)?;
        if !self.section.is_empty() {
            document.serialize_entry(self.system, &self.section)?;
        }
        if self.runs.len() > 2 {
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
struct PeakOfBoth<'a>(&'a Comparison);

impl Serialize for PeakOfBoth<'_> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let Self(of) = *self;
        let [source, target] = of.compared.sides.each_ref();
        let peaks = [source, target].map(|side| side.peak.as_ref());
        let all = Difference::of(peaks.map(|peak| peak.map(|peak| peak.bytes)));
        let not_always = peaks.map(|peak| peak.map(|peak| peak.not_always_live_bytes));
        let always = [source, target].map(|side| side.always_live_bytes);
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
            || categories().map(|(category, both)| Value::from(row_of(category.key, both)));
        if of.steps.is_some() {
            return of.serialize_matched(peak);
        }
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

impl Answer for Comparison {
    const SCHEMA: &'static str = "tilescope.compare/2";

    fn text(&self) -> String {
        if self.shown.csv { csv::csv(self).collect() } else { text::text(self) }
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.shown.csv {
            return out.write_all(self.text().as_bytes());
        }
        csv::csv(self).try_for_each(|line| out.write_all(line.as_bytes()))
    }
}
