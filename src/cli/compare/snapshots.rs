//! `tilescope compare` of memory snapshots: the document (`tilescope.compare/1` in cli.md). The text is written from it.

use std::process::ExitCode;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::conclusions::Conclusion;
use super::{By, CompareArguments, Shown};
use crate::analysis::allocator::peak::OwnedBytes;
use crate::analysis::allocator::user_frame::NO_STACK;
use crate::analysis::compared_snapshots::{
    Both, ComparedFigure, ComparedSide, ComparedSnapshots, DifferentSetting, Function, FunctionRow,
    MatchedBy, NoSuchDevice, PeakMoment, Room, compared_figures, conclusions,
};
use crate::analysis::figures::difference::Difference;
use crate::cli::output::{self, Answer, Document, open_snapshot};
use crate::cli::summary_of_snapshot::memory;
use crate::format::pytorch::SnapshotFiles;
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::{ReplayedSnapshot, SnapshotRun};
use crate::store::Warning;
use crate::text::bytes;
use crate::text::run_names::run_names;

/// `tilescope.compare/1` of memory snapshots.
#[derive(Debug)]
pub(super) struct SnapshotComparison {
    pub(super) paths: Vec<String>,
    /// The first two.
    pub(super) compared: ComparedSnapshots,
    /// Bytes of all devices at the end, of the first two.
    memory: Map<String, Value>,
    pub(super) conclusions: Vec<Conclusion>,
    /// Of more than two, each with what follows against the first.
    pub(super) runs: Vec<RunOfMany>,
    /// Of all runs.
    pub(super) figures: Vec<ComparedFigure>,
    pub(super) room: Room,
    pub(super) shown: Shown,
}

/// A run of more than two.
#[derive(Debug)]
pub(super) struct RunOfMany {
    pub(super) name: String,
    pub(super) side: ComparedSide,
    pub(super) conclusions: Vec<Conclusion>,
}

/// What was said of a run, with its file.
fn warnings_of(run: &SnapshotRun) -> impl Iterator<Item = Warning> {
    let path = run.report.path.display().to_string();
    let named =
        move |warning: Warning| Warning { file: format!("{path}: {}", warning.file), ..warning };
    run.report.warnings.list().into_iter().map(named)
}

/// Compares snapshots.
pub(super) fn run(files: &[SnapshotFiles], arguments: &CompareArguments) -> ExitCode {
    let result = output::with_progress("Reading the snapshots", |progress| {
        let (answer, warnings) = SnapshotComparison::of(files, arguments, progress)?;
        warnings.iter().for_each(output::print_warning);
        Ok(Document::new(answer, warnings))
    });
    output::finish(&result, arguments.json, Answer::text)
}

impl SnapshotComparison {
    /// Reads and compares them, the others with the first. Of more than two no more than two are in memory.
    fn of(
        files: &[SnapshotFiles],
        arguments: &CompareArguments,
        progress: &Progress,
    ) -> Result<(Self, Vec<Warning>), Error> {
        let CompareArguments { device, shown, .. } = arguments;
        if let Some(by) = shown.by.iter().find(|by| matches!(by, By::Operation | By::Fullest)) {
            let name = if *by == By::Operation { "operation" } else { "fullest" };
            let message = format!("--by {name} is of reports of Poplar");
            return Err(Error::new(ErrorKind::Usage, message).hint(
                "Snapshots are compared by category, by module (functions), and by variable (user frames and sizes).",
            ));
        }
        let [first, second, more @ ..] = files else {
            return Err(Error::new(ErrorKind::Usage, "two snapshots are compared, or more"));
        };
        let (source, target) =
            rayon::join(|| open_snapshot(first, progress), || open_snapshot(second, progress));
        let (source, target) = (source?, target?);
        let mut warnings: Vec<Warning> = warnings_of(&source).chain(warnings_of(&target)).collect();
        let room = device.room();
        let compare = |target: &SnapshotRun| {
            let compared =
                ComparedSnapshots::of([&source.allocator, &target.allocator], device.device);
            compared.map_err(|NoSuchDevice(side)| {
                if side == 0 { &source } else { target }.no_such_device(device.device)
            })
        };
        let conclude = |compared: &ComparedSnapshots| -> Vec<Conclusion> {
            conclusions(compared, room, &bytes).iter().map(Conclusion::of_snapshots).collect()
        };
        let compared = compare(&target)?;
        let memory = memory_of_both([&source, &target]);
        drop(target);
        let said = conclude(&compared);
        let mut runs = Vec::new();
        if !more.is_empty() {
            let names = run_names(files.iter().map(|files| files.path.as_path()));
            let mut names = names.into_iter();
            let mut push = |side: &ComparedSide, conclusions| {
                let (name, side) = (names.next().unwrap_or_default(), side.clone());
                runs.push(RunOfMany { name, side, conclusions });
            };
            push(&compared.sides[0], Vec::new());
            push(&compared.sides[1], said.clone());
            for files in more {
                let other = open_snapshot(files, progress)?;
                warnings.extend(warnings_of(&other));
                let compared = compare(&other)?;
                push(&compared.sides[1], conclude(&compared));
            }
        }
        let sides: Vec<&ComparedSide> = match runs.as_slice() {
            [] => compared.sides.iter().collect(),
            runs => runs.iter().map(|run| &run.side).collect(),
        };
        let figures = compared_figures(&sides);
        let paths = files.iter().map(|files| files.path.display().to_string()).collect();
        let (conclusions, shown) = (said, shown.clone());
        Ok((Self { paths, compared, memory, conclusions, runs, figures, room, shown }, warnings))
    }
}

/// The section `memory` of `summary`, with both values of every figure.
fn memory_of_both(both: [&SnapshotRun; 2]) -> Map<String, Value> {
    let of = |run: &SnapshotRun| {
        // It has no keys but texts, so this cannot fail.
        let memory = |replayed: &Arc<ReplayedSnapshot>| {
            serde_json::to_value(memory(replayed, replayed.device_facts())).unwrap_or_default()
        };
        run.allocator.snapshot().map_or(Value::Null, memory)
    };
    let [source, target] = both.map(of);
    let keys = source.as_object().into_iter().flat_map(Map::keys);
    let figure = |key: &String| {
        let value = |of: &Value| of.get(key).and_then(Value::as_u64);
        (key.clone(), json!(Difference::of([value(&source), value(&target)])))
    };
    keys.map(figure).collect()
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
fn row(keys: Value, both: &Both) -> Value {
    let mut row = keys;
    if let (Value::Object(row), Value::Object(figure)) = (&mut row, json!(both.bytes())) {
        row.insert("only".to_owned(), only(both));
        row.extend(figure);
    }
    row
}

fn blocks(both: &Both) -> Value {
    let count = |owned: OwnedBytes| owned.blocks;
    json!({ "source": count(both.source), "target": count(both.target) })
}

pub(super) fn name_of(row: &FunctionRow) -> String {
    row.function.as_ref().map_or_else(|| NO_STACK.to_owned(), Function::title)
}

fn options(settings: &[DifferentSetting]) -> Value {
    let option = |setting: &DifferentSetting| {
        let [source, target] = &setting.values;
        json!({ "kind": "setting", "name": setting.name, "source": source, "target": target })
    };
    settings.iter().map(option).collect()
}

fn peak_moment(side: &ComparedSide) -> Value {
    let PeakMoment { event, step, action, annotations, function, .. } = &side.peak;
    json!({
        "bytes": side.variant.requested_peak_bytes,
        "event": event,
        "step": step,
        "action": action,
        "annotations": annotations,
        "function": function.as_ref().map(Function::title),
    })
}

impl SnapshotComparison {
    fn side(&self, place: usize) -> Value {
        let side = self.compared.sides.get(place);
        json!({
            "path": self.paths.get(place),
            "system": "pytorch",
            "device": side.map(|side| side.facts.device),
        })
    }

    fn figure_rows(figures: &[ComparedFigure], place: usize) -> Value {
        let row = |figure: &ComparedFigure| {
            let mut row = json!({ "name": figure.figure.key() });
            if let (Value::Object(row), Value::Object(values)) =
                (&mut row, json!(figure.difference(place)))
            {
                row.extend(values);
                row.insert("percent_of_source".to_owned(), json!(figure.percent_of_source(place)));
            }
            row
        };
        figures.iter().map(row).collect()
    }

    fn variables(&self) -> Value {
        let rows = self.compared.peaks.rows.iter();
        rows.map(|compared| row(json!({ "name": compared.title() }), &compared.both)).collect()
    }

    fn by_category(&self) -> Value {
        let rows = self.compared.peaks.by_category.iter();
        let named = rows.map(|(category, both)| {
            row(json!({ "contributor": "category", "name": category.as_str() }), both)
        });
        named.collect()
    }

    fn by_function(&self) -> Value {
        let rows = self.compared.peaks.by_function.iter();
        let named = rows.map(|function| {
            row(json!({ "contributor": "module", "name": name_of(function) }), &function.both)
        });
        named.collect()
    }

    fn explanation(&self) -> Value {
        let [source, target] = self.compared.sides.each_ref();
        let peak =
            Difference::of([source, target].map(|side| Some(side.variant.requested_peak_bytes)));
        let mut whole = json!(peak);
        if let Value::Object(whole) = &mut whole {
            let rows = self.compared.peaks.rows.iter();
            let by_variable = rows.map(|compared| {
                row(json!({ "contributor": "variable", "name": compared.title() }), &compared.both)
            });
            whole.insert("source_step".to_owned(), source.peak.step.into());
            whole.insert("target_step".to_owned(), target.peak.step.into());
            whole.insert("by_category".to_owned(), self.by_category());
            whole.insert("by_module".to_owned(), self.by_function());
            whole.insert("by_variable".to_owned(), by_variable.collect());
        }
        json!({ "peak": whole })
    }

    /// The facts of the system.
    fn pytorch(&self) -> Value {
        let compared = &self.compared;
        let [source, target] = compared.sides.each_ref();
        let both = |value: &dyn Fn(&ComparedSide) -> Value| json!({ "source": value(source), "target": value(target) });
        let rows = compared.peaks.rows.iter().map(|compared| {
            let frames: Value = compared.frames.iter().map(Function::title).collect();
            row(
                json!({
                    "frames": frames,
                    "frame_of_source": compared.of_source.as_ref().map(Function::title),
                    "block_bytes": compared.size,
                    "category": compared.category.as_str(),
                    "change": compared.change().as_str(),
                    "matched_by": compared.matched.map(MatchedBy::as_str),
                    "blocks": blocks(&compared.both),
                }),
                &compared.both,
            )
        });
        let percent = self.figures.iter().filter(|figure| figure.figure.is_bytes());
        let percent = percent
            .map(|figure| (figure.figure.key().to_owned(), json!(figure.percent_of_source(1))));
        json!({
            "device": both(&|side| side.facts.device.into()),
            "finished": both(&|side| side.variant.outcome.finished().into()),
            "cut": both(&|side| side.variant.is_cut.into()),
            "recorded": both(&|side| side.variant.recorded.key().into()),
            "history_complete": both(&|side| side.facts.history_complete.into()),
            "max_allocated_from": both(&|side| side.variant.max_allocated_from.as_str().into()),
            "oom_request_bytes": both(&|side| json!(side.variant.failed_request_bytes)),
            "recomputed_allocations": both(&|side| side.recomputed.into()),
            "stated_capacity_bytes": both(&|side| json!(side.variant.stated_capacity_bytes)),
            "capacity_bytes": self.room.capacity_bytes,
            "other_bytes": self.room.other_bytes,
            "peak": both(&peak_moment),
            "percent": percent.collect::<Map<String, Value>>(),
            "rows": rows.collect::<Value>(),
        })
    }

    fn run_rows(&self) -> Value {
        let row = |(place, run): (usize, &RunOfMany)| {
            json!({
                "path": self.paths.get(place),
                "name": run.name,
                "device": run.side.facts.device,
                "finished": run.side.variant.outcome.finished(),
                "figures": Self::figure_rows(&self.figures, place),
                "conclusions": run.conclusions,
            })
        };
        self.runs.iter().enumerate().map(row).collect()
    }
}

impl Serialize for SnapshotComparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [source, target] = self.compared.sides.each_ref();
        let always = |side: &ComparedSide| side.always_live_bytes;
        let always_live = [source, target].map(always);
        let peak = [source, target]
            .map(|side| side.variant.requested_peak_bytes.saturating_sub(always(side)));
        let mut document = json!({
            "source": self.side(0),
            "target": self.side(1),
            "options": options(&self.compared.settings),
            "memory": self.memory,
            "liveness": { "peak": {
                "step": { "source": source.peak.step, "target": target.peak.step },
                "not_always_live_bytes": Difference::of(peak.map(Some)),
                "always_live_bytes": Difference::of(always_live.map(Some)),
            } },
            // Events of two runs are not aligned.
            "steps": null,
            "figures": Self::figure_rows(&self.figures, 1),
            "variables": self.variables(),
            "conclusions": self.conclusions,
            "explanation": self.explanation(),
            "pytorch": self.pytorch(),
        });
        if let Value::Object(document) = &mut document
            && !self.runs.is_empty()
        {
            document.insert("runs".to_owned(), self.run_rows());
        }
        document.serialize(serializer)
    }
}

impl Answer for SnapshotComparison {
    const SCHEMA: &'static str = "tilescope.compare/1";

    fn text(&self) -> String {
        if self.shown.csv {
            super::snapshots_text::csv(self)
        } else {
            super::snapshots_text::text(self)
        }
    }
}
