//! `tilescope summary`: whether the run fits, what its memory is made of, where the peak is, and what to try next.

pub(super) mod text;

use super::output::arrow::PrintedAs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Input;
use super::output::{self, Answer, CsvAnswer};
use super::room::RoomArguments;
use super::schemas;
use crate::analysis::derived::Derived;
use crate::csv;
use crate::format::{Error, Progress};
use crate::run::{Claim, Insights, MemoryTotals, PeakOfRun, Section, Verdict};
use crate::store::report::ReportFile;
use crate::store::{Report, System};
use crate::systems;
use crate::systems::system::OpenRun;

/// Arguments of `tilescope summary`.
#[derive(Debug, Args)]
pub struct SummaryArguments {
    /// The run.
    #[command(flatten)]
    pub input: Input,
    /// Logs of the run or of its compilation. Their messages about memory count like those of logs beside the run
    /// (`*.log`); for IPU reports.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub log: Vec<PathBuf>,
    /// The module to sum up where a run has several: a part of its name or of its file's name.
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// What its device has.
    #[command(flatten)]
    pub room: RoomArguments,
    /// Print comma-separated values instead of text: one line for each figure, named as in the JSON document.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

/// `tilescope.summary/2` (cli.md).
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Summary {
    source: RunSource,
    verdict: Option<Verdict>,
    memory: MemoryTotals,
    liveness: LivenessFacts,
    #[serde(serialize_with = "as_is")]
    #[schemars(with = "Insights")]
    insights: Arc<Insights>,
    claims: Vec<Claim>,
    /// The section that is named after the system.
    #[serde(flatten)]
    own: OwnSection,
    #[serde(skip)]
    words: System,
}

/// What only one system says of a run, worked out in the form that is printed: as a JSON object or as text.
#[derive(Debug)]
struct OwnSection(Arc<Derived>);

impl OwnSection {
    fn sections(&self, insights: &Insights) -> Vec<Section> {
        self.0.answers().sections(&self.0, insights)
    }
}

impl Serialize for OwnSection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let own = self.0.answers().own_json(&self.0);
        serializer.collect_map(own.map(|own| (self.0.report().system.name, own)))
    }
}

impl schemars::JsonSchema for OwnSection {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OwnSection".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemas::sections_of_systems(generator)
    }
}

fn as_is<S: Serializer>(insights: &Insights, serializer: S) -> Result<S::Ok, S::Error> {
    insights.serialize(serializer)
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct RunSource {
    path: String,
    system: &'static str,
    format: Option<String>,
    producer: Option<String>,
    captured_at: Option<String>,
    files: Vec<ReportFile>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct LivenessFacts {
    steps: Option<u64>,
    peak: Option<PeakOfRun>,
}

/// Answers for whatever system the run is of.
pub fn run(arguments: &SummaryArguments) -> ExitCode {
    let SummaryArguments { input, log, module, room, csv } = arguments;
    let summary = |run: &dyn OpenRun, progress: &Progress| {
        run.derived().set_room(room.room());
        Summary::of_run(run, log, progress)
    };
    let partial = |path: &Path| {
        let partial = Arc::new(systems::partial(systems::of_process(), path)?);
        partial.set_room(room.room());
        Some(Summary::of(&partial, &Progress::default()))
    };
    output::answer_of_run(input, module.as_deref(), PrintedAs::text_or_csv(*csv), summary, partial)
}

impl Summary {
    /// Sums up a run that is open. `logs` count as those beside it.
    ///
    /// # Errors
    /// As [`OpenRun::read_for_summary`].
    pub fn of_run(run: &dyn OpenRun, logs: &[PathBuf], progress: &Progress) -> Result<Self, Error> {
        run.read_for_summary(logs, progress)?;
        Ok(Self::of(run.derived(), progress))
    }

    /// Sums up a run of which all is read that its system's answers go by.
    pub fn of(derived: &Arc<Derived>, progress: &Progress) -> Self {
        let (report, answers) = (&**derived.report(), derived.answers());
        let insights = derived.run_insights(progress).unwrap_or_default();
        Self {
            source: source(report, derived),
            verdict: insights.verdict.clone(),
            memory: answers.memory(derived),
            liveness: LivenessFacts { steps: answers.steps(derived), peak: answers.peak(derived) },
            claims: answers.claims(derived),
            own: OwnSection(Arc::clone(derived)),
            words: report.system,
            insights,
        }
    }
}

fn source(report: &Report, derived: &Derived) -> RunSource {
    let format = derived.answers().format(derived);
    RunSource {
        path: report.path.display().to_string(),
        system: report.system.name,
        format: format.format,
        producer: format.producer,
        captured_at: format.captured_at,
        files: report.files(),
    }
}

impl Answer for Summary {
    const SCHEMA: &'static str = "tilescope.summary/2";

    fn text(&self) -> String {
        self.text_for_people()
    }
}

impl CsvAnswer for Summary {
    fn csv(&self) -> String {
        summary_csv(self)
    }
}

/// A summary as comma-separated values.
pub(super) fn summary_csv(summary: &impl Serialize) -> String {
    // A summary has no keys but texts, so this cannot fail.
    let document = serde_json::to_value(summary).unwrap_or_default();
    let mut text = csv::line(["figure", "value"]);
    figures_csv(&mut text, "", &document);
    text
}

/// A line for each value that is no list and no object, which give its name.
fn figures_csv(text: &mut String, name: &str, value: &Value) {
    let within = |key: &str| {
        if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") }
    };
    match value {
        Value::Object(parts) => {
            parts.iter().for_each(|(key, value)| figures_csv(text, &within(key), value));
        }
        Value::Array(rows) => {
            let rows = rows.iter().enumerate();
            rows.for_each(|(row, value)| figures_csv(text, &within(&row.to_string()), value));
        }
        Value::Null => *text += &csv::line([name, ""]),
        Value::String(value) => *text += &csv::line([name, value]),
        Value::Bool(_) | Value::Number(_) => *text += &csv::line([name, &value.to_string()]),
    }
}
