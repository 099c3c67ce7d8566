//! `tilescope compare` of runs whose steps have nothing in common, so that what is alive at each one's own peak is
//! compared: the document (`tilescope.compare/1` in cli.md) and the text, whatever system wrote the runs.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::conclusions::Conclusion;
use super::{By, Shown, peaks_text};
use crate::analysis::compared_snapshots::{Both, DifferentSetting, Function, UserFrames};
use crate::analysis::figures::difference::Difference;
use crate::analysis::variants::percent;
use crate::cli::output::Answer;
use crate::format::{Error, ErrorKind};

/// Runs of one system, compared by what is alive at their peaks; `S` is what the system says of itself alone.
#[derive(Debug)]
pub(super) struct PeakComparison<S> {
    /// The name of the system, which is that of its section.
    pub system: &'static str,
    /// What it says of itself alone.
    pub section: S,
    /// Of all runs.
    pub paths: Vec<String>,
    /// The first two.
    pub sides: [Side; 2],
    /// Settings that differ, and what they are called in JSON.
    pub settings: (&'static str, Vec<DifferentSetting>),
    /// The section `memory` of `summary`, with both values of every figure.
    pub memory: Map<String, Value>,
    /// Of the first two.
    pub conclusions: Vec<Conclusion>,
    /// Of more than two, each with what follows against the first.
    pub runs: Vec<RunOfMany>,
    /// Of all runs.
    pub figures: Vec<FigureRow>,
    /// What is said below the figures.
    pub notes: Vec<String>,
    /// What is alive at the peaks; each column adds up to them.
    pub tables: Vec<PeakTable>,
    /// What the tables are of: where the peaks are.
    pub peaks: String,
    /// What is counted in a row beside bytes: `blocks`.
    pub counted: &'static str,
    /// What the text has.
    pub shown: Shown,
}

/// One of two runs.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// The number of the device.
    pub device: i64,
    /// What that is called.
    pub device_title: String,
    /// Bytes at the peak; `None` where it is not known.
    pub peak_bytes: Option<u64>,
    /// What of them is not there throughout.
    pub not_always_live_bytes: Option<u64>,
    /// What is there throughout, within the peak or beside it.
    pub always_live_bytes: u64,
    /// The step of the peak.
    pub step: Option<i64>,
}

/// A run of more than two.
#[derive(Debug)]
pub(super) struct RunOfMany {
    pub name: String,
    pub device_title: String,
    /// What JSON says of it.
    pub keys: Value,
    pub conclusions: Vec<Conclusion>,
}

/// A figure of all runs.
#[derive(Debug)]
pub(super) struct FigureRow {
    pub key: &'static str,
    pub title: &'static str,
    pub is_bytes: bool,
    pub values: Vec<Option<u64>>,
    /// Which of them are lower bounds; empty where none is.
    pub are_at_least: Vec<bool>,
}

impl FigureRow {
    /// That of a run beside that of the first.
    pub fn difference(&self, place: usize) -> Difference {
        Difference::of([self.value(0), self.value(place)])
    }

    /// That of a run in percent of the first's, one decimal, half up.
    pub fn percent_of_source(&self, place: usize) -> Option<f64> {
        percent(self.value(place)?, self.value(0)?)
    }

    pub fn value(&self, place: usize) -> Option<u64> {
        self.values.get(place).copied().flatten()
    }
}

/// What is alive at the peaks by something.
#[derive(Debug)]
pub(super) struct PeakTable {
    pub by: By,
    pub title: &'static str,
    /// Titles of the cells before the bytes.
    pub words: Vec<&'static str>,
    pub rows: Vec<PeakRow>,
}

#[derive(Debug)]
pub(super) struct PeakRow {
    /// Its name in JSON.
    pub name: String,
    /// Its name among comma-separated values.
    pub long_name: LongName,
    /// Bytes of each that is counted, where all are of one size.
    pub size: Option<u64>,
    pub cells: Vec<String>,
    pub both: Both,
}

impl PeakRow {
    /// A row with one cell.
    pub fn named(name: &str, cell: String, both: Both) -> Self {
        let (name, cells) = (name.to_owned(), vec![cell]);
        Self { name, long_name: LongName::Same, size: None, cells, both }
    }

    /// Its name among comma-separated values.
    pub fn csv_name(&self) -> Cow<'_, str> {
        match &self.long_name {
            LongName::Same => Cow::Borrowed(&self.name),
            LongName::Text(name) => Cow::Borrowed(name),
            LongName::Frames(frames) if frames.first().is_none() => Cow::Borrowed(&self.name),
            LongName::Frames(frames) => {
                Cow::Owned(frames.iter().map(Function::title).collect::<Vec<_>>().join(" < "))
            }
        }
    }
}

/// The name of a row in full.
#[derive(Debug)]
pub(super) enum LongName {
    /// That of JSON.
    Same,
    /// Another one.
    Text(String),
    /// User frames, innermost first; as one text they are made when it is written, for all rows have far more of them
    /// than the files.
    Frames(UserFrames),
}

/// What only one side has: `"source"`, `"target"` or null.
fn only(both: &Both) -> Value {
    match (both.source.blocks, both.target.blocks) {
        (0, 1..) => "target".into(),
        (1.., 0) => "source".into(),
        _ => Value::Null,
    }
}

/// A row with the four keys of a figure.
pub(super) fn row(keys: Value, both: &Both) -> Value {
    let mut row = keys;
    if let (Value::Object(row), Value::Object(figure)) = (&mut row, json!(both.bytes())) {
        row.insert("only".to_owned(), only(both));
        row.extend(figure);
    }
    row
}

/// How many of each side a row has.
pub(super) fn counts(both: &Both) -> Value {
    json!({ "source": both.source.blocks, "target": both.target.blocks })
}

/// Both values of every figure of two sections of one shape.
pub(super) fn both_of_sections([source, target]: [Value; 2]) -> Map<String, Value> {
    let keys = source.as_object().into_iter().flat_map(Map::keys);
    let figure = |key: &String| {
        let value = |of: &Value| of.get(key).and_then(Value::as_u64);
        (key.clone(), json!(Difference::of([value(&source), value(&target)])))
    };
    keys.map(figure).collect()
}

/// Refuses tables that a system does not have.
///
/// # Errors
/// `usage` for the first that is asked for.
pub(super) fn check_by(shown: &Shown, has: &[By], hint: &'static str) -> Result<(), Error> {
    let Some(by) = shown.by.iter().find(|by| !has.contains(by)) else { return Ok(()) };
    let name = by.key();
    let message = match by {
        By::Module => format!("--by {name} is of reports of Poplar and of memory snapshots"),
        By::Operation => format!("--by {name} is of reports of Poplar and of programs of XLA"),
        _ => format!("--by {name} is of reports of Poplar"),
    };
    Err(Error::new(ErrorKind::Usage, message).hint(hint))
}

impl<S> PeakComparison<S> {
    fn side(&self, place: usize) -> Value {
        json!({
            "path": self.paths.get(place),
            "system": self.system,
            "device": self.sides.get(place).map(|side| side.device),
        })
    }

    fn options(&self) -> Value {
        let (kind, settings) = &self.settings;
        let option = |setting: &DifferentSetting| {
            let [source, target] = &setting.values;
            json!({ "kind": kind, "name": setting.name, "source": source, "target": target })
        };
        settings.iter().map(option).collect()
    }

    fn figure_rows(&self, place: usize) -> Value {
        let row = |figure: &FigureRow| {
            let mut row = json!({ "name": figure.key });
            if let (Value::Object(row), Value::Object(values)) =
                (&mut row, json!(figure.difference(place)))
            {
                row.extend(values);
                row.insert("percent_of_source".to_owned(), json!(figure.percent_of_source(place)));
            }
            row
        };
        self.figures.iter().map(row).collect()
    }

    fn variables(&self) -> impl Iterator<Item = Value> {
        let tables = self.tables.iter().filter(|table| table.by == By::Variable);
        let rows = tables.flat_map(|table| &table.rows);
        rows.map(|one| row(json!({ "name": one.name }), &one.both))
    }

    fn liveness(&self) -> Value {
        let [source, target] = self.sides.each_ref();
        let always = [source, target].map(|side| Some(side.always_live_bytes));
        let not_always = [source, target].map(|side| side.not_always_live_bytes);
        json!({ "peak": {
            "step": { "source": source.step, "target": target.step },
            "not_always_live_bytes": Difference::of(not_always),
            "always_live_bytes": Difference::of(always),
        } })
    }

    fn run_rows(&self) -> Value {
        let row = |(place, run): (usize, &RunOfMany)| {
            let mut row = json!({
                "path": self.paths.get(place),
                "name": run.name,
                "figures": self.figure_rows(place),
                "conclusions": run.conclusions,
            });
            if let (Value::Object(row), Value::Object(keys)) = (&mut row, &run.keys) {
                row.extend(keys.clone());
            }
            row
        };
        self.runs.iter().enumerate().map(row).collect()
    }
}

impl<S: Serialize> Serialize for PeakComparison<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut document = serializer.serialize_map(None)?;
        document.serialize_entry("source", &self.side(0))?;
        document.serialize_entry("target", &self.side(1))?;
        document.serialize_entry("options", &self.options())?;
        document.serialize_entry("memory", &self.memory)?;
        document.serialize_entry("liveness", &self.liveness())?;
        // Steps of two runs are not aligned.
        document.serialize_entry("steps", &Value::Null)?;
        document.serialize_entry("figures", &self.figure_rows(1))?;
        document.serialize_entry("variables", &OneByOne(|| self.variables()))?;
        document.serialize_entry("conclusions", &self.conclusions)?;
        document.serialize_entry("explanation", &Explanation { peak: ExplainedPeak(self) })?;
        document.serialize_entry(self.system, &self.section)?;
        if !self.runs.is_empty() {
            document.serialize_entry("runs", &self.run_rows())?;
        }
        document.end()
    }
}

/// Rows of which each is made when it is written: all at once would take many times what the files do.
pub(super) struct OneByOne<F>(pub F);

impl<F: Fn() -> I, I: Iterator<Item = Value>> Serialize for OneByOne<F> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        serializer.collect_seq((self.0)())
    }
}

#[derive(Serialize)]
struct Explanation<'a, S> {
    peak: ExplainedPeak<'a, S>,
}

/// What the change of the peak consists of.
struct ExplainedPeak<'a, S>(&'a PeakComparison<S>);

impl<S> Serialize for ExplainedPeak<'_, S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let [source, target] = self.0.sides.each_ref();
        let mut peak = serializer.serialize_map(None)?;
        let whole = json!(Difference::of([source, target].map(|side| side.peak_bytes)));
        for (key, value) in whole.as_object().into_iter().flatten() {
            peak.serialize_entry(key, value)?;
        }
        peak.serialize_entry("source_step", &source.step)?;
        peak.serialize_entry("target_step", &target.step)?;
        for table in &self.0.tables {
            let by = table.by.key();
            let rows = || {
                let rows = table.rows.iter();
                rows.map(|one| row(json!({ "contributor": by, "name": one.name }), &one.both))
            };
            peak.serialize_entry(&format!("by_{by}"), &OneByOne(rows))?;
        }
        peak.end()
    }
}

impl<S: Serialize> Answer for PeakComparison<S> {
    const SCHEMA: &'static str = "tilescope.compare/1";

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
