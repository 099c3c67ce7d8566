//! Shared by the integration tests: reports to read, and the answers of all commands.

#![allow(dead_code, reason = "every test binary uses its own part of this")]

pub mod compared;
pub mod copies;
pub mod damaged;
pub mod demo;
pub mod lake;
pub mod listed;
pub mod pickle;
pub mod recording;
pub mod schema;
pub mod seeded;
pub mod stored;
pub mod toy;
pub mod wire;
pub mod words;

use std::any::Any;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tilescope::analysis::compute::{compute_sets, exchanges, vertices};
use tilescope::analysis::memory::selection::TileSelection;
use tilescope::cli::Input;
use tilescope::cli::compare::{self, CompareArguments, DeviceArguments, Shown};
use tilescope::cli::liveness::{LivenessArguments, LivenessReport, StepChoice};
use tilescope::cli::map::{Map, MapArguments};
use tilescope::cli::output::arrow::ArrowArgument;
use tilescope::cli::output::{Answer, CsvAnswer, Document};
use tilescope::cli::scope::ScopeArguments;
use tilescope::cli::summary::Summary;
use tilescope::cli::sweep::{SweepArguments, SweepReport};
use tilescope::cli::tiles::{TileBreakdown, Tiles, TilesArguments};
use tilescope::cli::trace::{TraceArguments, TraceReport};
use tilescope::format::{Error, ErrorKind, Progress};
use tilescope::index::Cache;
use tilescope::synth::transformer::Transformer;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::ReportOptions;
use tilescope::systems::poplar::system::{Poplar, ReportRun};
use tilescope::systems::pytorch::synth::SnapshotOptions;
use tilescope::systems::system::{FoundRun, OpenRun, Reading, RunSystem};
use tilescope::systems::{SYSTEMS, find};

/// A directory of this package.
pub fn in_package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The sample that ships with the program and that most tests use.
pub fn sample() -> PathBuf {
    in_package("sample_profiles/tiny")
}

/// The samples that ship with the program, and what each was made from.
pub fn sample_options() -> Vec<(&'static str, ReportOptions)> {
    let base = ReportOptions::default();
    let wide = ReportOptions { tiles_per_ipu: 32, batch: 16, proportion: 0.6, ..base.clone() };
    vec![
        ("tiny", base.clone()),
        ("pair-0.6", ReportOptions { execution: true, ..wide.clone() }),
        ("pair-0.2", ReportOptions { execution: true, proportion: 0.2, ..wide }),
        ("pipeline", ReportOptions { ipus: 2, batch: 4, execution: true, ..base.clone() }),
        ("does-not-fit", ReportOptions { batch: 12, proportion: 0.8, ..base }),
    ]
}

/// The memory snapshots that ship with the program, and what each was made from.
pub fn sample_snapshot_options() -> Vec<(&'static str, SnapshotOptions)> {
    let network = Transformer {
        layers: 4,
        width: 256,
        heads: 4,
        sequence: 128,
        batch: 32,
        ..Transformer::default()
    };
    let plain = SnapshotOptions { network, steps: 2, ..SnapshotOptions::default() };
    vec![
        ("training/segments-0/snapshot.pickle", plain.clone()),
        (
            "training/segments-2/snapshot.pickle",
            SnapshotOptions { checkpoint_segments: 2, ..plain },
        ),
    ]
}

/// What a summary says of whether its run fits; null where nobody knows.
pub fn fits(summary: &Value) -> Value {
    match summary["verdict"]["outcome"].as_str() {
        Some("fits") => true.into(),
        Some("does-not-fit") => false.into(),
        _ => Value::Null,
    }
}

/// Bytes of the peak of a summary that are not there from the first step to the last.
pub fn not_always_live(summary: &Value) -> u64 {
    let peak = &summary["liveness"]["peak"];
    let bytes = |key: &str| peak[key].as_u64().unwrap_or_else(|| panic!("{key} of {peak}"));
    bytes("bytes") - bytes("always_live_bytes")
}

/// Whether a row by operation is of what is reserved throughout, which belongs to no operation and has its category in
/// brackets.
pub fn is_reserved(operation: &str) -> bool {
    operation.starts_with('(') && operation != "(no operation)"
}

/// A real report, which is not part of this package; says so where it is absent.
pub fn real_report(name: &str) -> Option<PathBuf> {
    let path = in_package("../shared/profiles").join(name);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: ../shared/profiles/{name} is absent");
    None
}

/// A copy of the sample that a test may damage.
pub fn damaged_sample(damage: impl FnOnce(&Path)) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for file in ["profile.pop", "debug.cbor", "app.json", "framework.json", "compile.log"] {
        std::fs::copy(sample().join(file), directory.path().join(file)).expect("a copy");
    }
    damage(directory.path());
    directory
}

/// Runs the program as a user does, where there is no display.
pub fn tilescope(arguments: &[&str]) -> Output {
    tilescope_in(Path::new("."), arguments)
}

/// Runs the program like [`tilescope`], in a directory of its own.
pub fn tilescope_in(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(arguments)
        .current_dir(directory)
        .env("XDG_CACHE_HOME", no_cache())
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .expect("the program")
}

/// Where no test writes anything, so that none finds an index of the user.
pub fn no_cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-cache")
}

thread_local! {
    static CACHE: RefCell<Option<Cache>> = const { RefCell::new(None) };
}

/// Does something with reports opened on this thread through an index.
pub fn with_cache<T>(cache: &Cache, ask: impl FnOnce() -> T) -> T {
    CACHE.set(Some(cache.clone()));
    let answer = ask();
    CACHE.set(None);
    answer
}

/// Opens a report, through the index where one was named.
pub fn open(path: &Path, progress: &Progress) -> Result<OpenReport, Error> {
    CACHE.with_borrow(|cache| OpenReport::open_with(path, cache.as_ref(), progress))
}

/// The run at a path, as its system found it.
///
/// # Errors
/// When it cannot be found, or is of another system.
pub fn found<T: FoundRun>(path: &Path) -> Result<Box<T>, Error> {
    let found: Box<dyn Any> = find(SYSTEMS, path, None, &Progress::default())?;
    found.downcast().map_err(|_| Error::new(ErrorKind::Usage, "a run of another system"))
}

/// What a command printed, as JSON.
pub fn json(output: &Output) -> Value {
    let document = serde_json::from_slice(&output.stdout);
    valid(document.expect("one JSON document and nothing else"))
}

/// A document, which is as its schema says.
#[track_caller]
fn valid(document: Value) -> Value {
    if document["schema"].as_str().is_some_and(|name| name.starts_with("tilescope.")) {
        schema::assert_valid(&document, "a document");
    }
    document
}

fn input(path: &Path) -> Input {
    Input { path: path.to_owned(), json: true }
}

/// One command's answer as JSON, with its warnings.
pub fn answer<A: Answer>(
    path: &Path,
    answer: impl FnOnce(&ReportRun, &Progress) -> Result<A, Error>,
) -> Result<Value, Error> {
    let progress = Progress::default();
    let run = ReportRun::of(open(path, &progress)?);
    let answer = answer(&run, &progress)?;
    // The text must come out as well, whatever the report is like.
    assert!(!answer.text().contains('\u{1b}'), "text must not command a terminal");
    let document = Document::new(answer, run.warnings(&progress));
    Ok(valid(serde_json::to_value(&document).expect("JSON")))
}

/// `summary`.
pub fn summary(path: &Path) -> Result<Value, Error> {
    answer(path, |run, progress| Summary::of_run(run, &[], progress))
}

/// `tiles --by …`.
pub fn tiles(path: &Path, by: TileBreakdown) -> Result<Value, Error> {
    let arguments = tiles_arguments(path, by);
    answer(path, |open, progress| Tiles::of(open, &arguments, progress))
}

/// `tiles --by …`.
pub fn tiles_arguments(path: &Path, by: TileBreakdown) -> TilesArguments {
    TilesArguments {
        input: input(path),
        tile: None,
        ipu: None,
        by: Some(by),
        csv: false,
        arrow: ArrowArgument::default(),
    }
}

/// `map --tile N [--step N]`.
pub fn map(path: &Path, tile: u32, step: Option<u32>) -> Result<Value, Error> {
    let arguments = MapArguments { input: input(path), arena: tile, step, csv: false };
    answer(path, |run, progress| Map::of(run, &arguments, progress))
}

/// `liveness --step peak [--tile N]`.
pub fn liveness(path: &Path, tile: Option<u32>) -> Result<Value, Error> {
    let arguments = liveness_arguments(path, tile);
    answer(path, |open, progress| LivenessReport::of(open, &arguments, progress))
}

/// `liveness --step peak [--tile N]`.
pub fn liveness_arguments(path: &Path, tile: Option<u32>) -> LivenessArguments {
    LivenessArguments {
        input: input(path),
        step: Some(StepChoice::Peak),
        scope: ScopeArguments { arena: tile, device: None },
        module: None,
        filter: None,
        by: None,
        peaks: Some(5),
        csv: false,
        arrow: ArrowArgument::default(),
    }
}

/// `trace`.
pub fn trace(path: &Path) -> Result<Value, Error> {
    let arguments = TraceArguments {
        input: input(path),
        ipu: None,
        from: None,
        to: None,
        csv: false,
        arrow: ArrowArgument::default(),
    };
    answer(path, |open, progress| TraceReport::of(open, &arguments, progress))
}

/// `sweep` of a directory with this report only, without its paths.
pub fn sweep(path: &Path) -> Result<Value, Error> {
    let arguments = SweepArguments::of_path(path.to_owned());
    let answer = SweepReport::of(&arguments, &Progress::default())?;
    assert!(
        !(answer.text() + &answer.csv()).contains('\u{1b}'),
        "text must not command a terminal"
    );
    let warnings = answer.all_warnings();
    let mut answer = serde_json::to_value(Document::new(answer, warnings)).expect("JSON");
    answer["paths"].take();
    answer["runs"][0]["path"].take();
    for named in ["best", "reference"] {
        if answer[named].is_object() {
            answer[named]["path"].take();
        }
    }
    Ok(answer)
}

/// The rows of compute sets, vertices and exchanges, which no command has yet.
pub fn compute(path: &Path) -> Result<Value, Error> {
    let progress = Progress::default();
    let open = open(path, &progress)?;
    open.read_compute(&progress);
    let report = &*open.report;
    let mut rows = Vec::new();
    for tiles in [TileSelection::default(), "1-3,7".parse().expect("tiles")] {
        rows.push(format!("{:#?}", compute_sets::rows(report, &tiles)));
        rows.push(format!("{:#?}", vertices::rows(report, &tiles)));
        rows.push(format!("{:#?}", exchanges::rows(report, &tiles)));
    }
    rows.push(format!("{:#?}", vertices::at_steps(report, None, &[0, 5, 7])));
    rows.push(format!("{:#?}", vertices::at_steps(report, Some(0..=3), &[0, 5, 7])));
    Ok(serde_json::json!({ "rows": rows, "warnings": report.warnings.list() }))
}

/// A report at a path, which is opened through an index where one was named.
#[derive(Debug)]
struct ReportAt(PathBuf, Option<Cache>);

impl FoundRun for ReportAt {
    fn system(&self) -> &'static dyn RunSystem {
        &Poplar
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn open(&self, progress: &Progress) -> Result<Option<Box<dyn OpenRun>>, Error> {
        let open = OpenReport::open_with(&self.0, self.1.as_ref(), progress)?;
        Ok(Some(Box::new(ReportRun::of(open))))
    }

    fn begin(
        &self,
        _: Option<&Cache>,
        reading: &Reading<'_>,
    ) -> Result<Option<Box<dyn OpenRun>>, Error> {
        self.open(reading.progress)
    }
}

/// `compare SAMPLE PATH`, without the paths.
pub fn comparison(path: &Path) -> Result<Value, Error> {
    let mut answer = compared(&sample(), path)?;
    for side in ["source", "target"] {
        answer[side]["path"].take();
    }
    Ok(answer)
}

/// `compare SOURCE TARGET`.
pub fn compared(source: &Path, target: &Path) -> Result<Value, Error> {
    let progress = Progress::default();
    let arguments = CompareArguments {
        source: source.to_owned(),
        target: target.to_owned(),
        more: Vec::new(),
        json: true,
        module: None,
        device: DeviceArguments::default(),
        shown: Shown::default(),
    };
    let cache = CACHE.with_borrow(Option::clone);
    let both: [Box<dyn FoundRun>; 2] = [source, target]
        .map(|path| -> Box<dyn FoundRun> { Box::new(ReportAt(path.to_owned(), cache.clone())) });
    let document = compare::document(&both, &arguments, &progress)?;
    // The text must come out as well, whatever the report is like.
    let mut text = Vec::new();
    document.write_text(&mut text).expect("a text");
    assert!(!text.contains(&0x1b), "text must not command a terminal");
    Ok(valid(serde_json::to_value(&document).expect("JSON")))
}

/// What all commands say of a report, each an answer or an error; `trace` only where it has one.
pub fn all_answers(path: &Path) -> Vec<Result<Value, Error>> {
    let mut answers = vec![
        summary(path),
        tiles(path, TileBreakdown::Category),
        tiles(path, TileBreakdown::Region),
        tiles(path, TileBreakdown::Liveness),
        tiles(path, TileBreakdown::Gaps),
        liveness(path, None),
        liveness(path, Some(2)),
        map(path, 3, Some(12)),
        compute(path),
        sweep(path),
        comparison(path),
    ];
    answers.extend(Some(trace(path)).filter(Result::is_ok));
    answers
}

/// The codes of an answer's warnings.
pub fn warning_codes(answer: &Value) -> Vec<&str> {
    answer["warnings"]
        .as_array()
        .expect("warnings")
        .iter()
        .filter_map(|warning| warning["code"].as_str())
        .collect()
}

/// The runs of `tilescope.sweep/2` as rows: figures and what was said of each beside each other.
pub fn swept(answer: &Value) -> Value {
    let row = |run: &Value| {
        let mut row = run["figures"].as_object().expect("figures").clone();
        let verdict = &run["verdict"];
        let has_failed = verdict["outcome"] == "out-of-memory";
        let is_known = verdict["outcome"] != "unknown";
        // What a request lacked is no figure of the whole run.
        let is_over = !(has_failed && answer["capacity_bytes"].is_null());
        let over = if is_over { verdict["over_bytes"].clone() } else { Value::Null };
        let fits = match verdict["outcome"].as_str() {
            Some("fits") => Value::Bool(true),
            Some("does-not-fit") => Value::Bool(false),
            _ => Value::Null,
        };
        for (key, value) in [
            ("variant", run["name"].clone()),
            ("finished", if is_known { (!has_failed).into() } else { Value::Null }),
            ("fits", fits),
            ("oversubscription_bytes", over),
            ("percent", run["percent_of_reference"].clone()),
            ("percent_of_previous", run["percent_of_previous"].clone()),
            ("max_allocated_from", run["from"]["max_allocated_bytes"].clone()),
            ("max_reserved_from", run["from"]["max_reserved_bytes"].clone()),
        ] {
            row.insert(key.to_owned(), value);
        }
        for key in ["settings", "verdict", "recorded", "of"] {
            row.insert(key.to_owned(), run[key].clone());
        }
        Value::Object(row)
    };
    let rows = answer["runs"].as_array().expect("runs").iter().map(row);
    serde_json::json!({
        "rows": rows.collect::<Vec<_>>(),
        "reference": answer["reference"]["name"],
        "least_needed": answer["best"]["name"],
        "capacity_bytes": answer["capacity_bytes"],
        "other_bytes": answer["other_bytes"],
        "warnings": answer["warnings"],
    })
}
