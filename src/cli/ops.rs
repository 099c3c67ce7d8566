//! `tilescope ops`: the operations of a software layer, each with what belongs to it.

use super::output::arrow::{ArrowArgument, RowsAnswer, write_stream};
use std::cmp::Reverse;
use std::io::{self, Write};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Input;
use super::output::{Answer, CsvAnswer, aligned, as_text, name_cell, write_aligned};
use super::schemas::by_keys;
use super::summary::text::cell_text;
use crate::analysis::comparison::owners::Owners;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::scope_curve::scope_curve;
use crate::analysis::operations::{
    self, Figures, OperationFigure, OperationRow, OperationTable, RunRow, by_module,
};
use crate::analysis::program::operation_text::operation_text;
use crate::analysis::program::operations::{Operation, OperationName};
use crate::analysis::program::step_operations::step_operations_of;
use crate::csv;
use crate::format::{Error, ErrorKind, Progress};
use crate::run::Cell;
use crate::run::calls::{CallList, CallRow, CallUnit};
use crate::store::StepId;
use crate::systems::system::{LatePart, OpenRun};
use crate::text::{self, size_or_less};

/// Arguments of `tilescope ops`.
#[derive(Debug, Args)]
pub struct OpsArguments {
    /// The report.
    #[command(flatten)]
    pub input: Input,
    /// Operations of this software layer, as debug.cbor names it: poplibs, popart, onnx, poptorch, … By default each
    /// step belongs to its PopLibs call or, without one, to the nearest layer above.
    #[arg(long, value_name = "LAYER")]
    pub layer: Option<String>,
    /// What each line of the text is about.
    #[arg(long, value_enum, default_value_t = Lines::Operation, conflicts_with = "json")]
    pub by: Lines,
    /// Print comma-separated values instead of text: one line of titles with the units, then a line for each operation.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print an Arrow stream instead.
    #[command(flatten)]
    pub arrow: ArrowArgument,
}

/// What a line is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Lines {
    /// An operation.
    #[default]
    Operation,
    /// A module of the network, by the path in the names of its operations.
    Module,
}

/// The columns of the text.
const IN_TEXT: [OperationFigure; 8] = [
    OperationFigure::Code,
    OperationFigure::Variables,
    OperationFigure::AlwaysLive,
    OperationFigure::PeakLive,
    OperationFigure::WorstLive,
    OperationFigure::EstimatedCycles,
    OperationFigure::Cycles,
    OperationFigure::Steps,
];

/// `tilescope.ops/2` (cli.md).
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Ops {
    /// The layers that the debug information names, those that most contexts are of first.
    layers: Vec<String>,
    layer: Option<String>,
    peak_step: Option<u32>,
    /// Most bytes alive at the peak first; last what belongs to none, without an operation.
    operations: Vec<OpsRow>,
    modules: Vec<ModuleRow>,
    totals: ByKey,
    /// Where each step is one call: all calls, by the keys of their system.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<serde_json::Map<String, Value>>>")]
    calls: Option<PrintedCalls>,
    /// Whose operations they are, for people.
    #[serde(skip)]
    of: String,
    #[serde(skip)]
    lines: Lines,
}

/// Calls, each as an object when its turn comes to be printed: there may be hundreds of thousands.
#[derive(Debug)]
struct PrintedCalls(CallList);

impl Serialize for PrintedCalls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(list) = self;
        serializer.collect_seq(list.calls.iter().map(|call| call_object(list, call)))
    }
}

/// Figures by their keys.
#[derive(Debug)]
struct ByKey(Figures);

impl Serialize for ByKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_map(OperationFigure::ALL.map(|figure| (figure.key(), self.0.get(figure))))
    }
}

impl JsonSchema for ByKey {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FiguresOfOperation".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        by_keys::<Option<i64>>(&OperationFigure::ALL.map(OperationFigure::key), generator)
    }
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct OpsRow {
    name: Option<String>,
    operation: Option<Operation>,
    layer: Option<String>,
    #[serde(flatten)]
    figures: ByKey,
    worst_step: Option<u32>,
    first_step: Option<u32>,
    available_memory_proportion: Option<f64>,
    partials_type: Option<String>,
    location: Option<String>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
struct ModuleRow {
    name: String,
    operations: usize,
    #[serde(flatten)]
    figures: ByKey,
}

impl OpsArguments {
    /// Calls are listed as they are.
    fn check_of_calls(&self) -> Result<(), Error> {
        let (what, option) = match &self.layer {
            Some(layer) => (format!("no layer `{layer}`"), "--layer"),
            None if self.by == Lines::Module => ("no modules".to_owned(), "--by module"),
            None => return Ok(()),
        };
        let message = format!("the report has {what}: its operations are calls, one for each step");
        Err(Error::new(ErrorKind::Usage, message)
            .hint(format!("Leave {option} out: all calls are listed.")))
    }
}

impl Ops {
    /// The operations of the layer that the arguments name.
    ///
    /// # Errors
    /// `usage` for a layer that the report does not have.
    pub fn of(
        run: &dyn OpenRun,
        arguments: &OpsArguments,
        progress: &Progress,
    ) -> Result<Self, Error> {
        run.read_parts(&[LatePart::Operations, LatePart::Compute], progress);
        let report = &**run.derived().report();
        let layers = operations::layers(report);
        let calls = run.derived().answers().calls(run.derived());
        if calls.is_some() {
            arguments.check_of_calls()?;
        }
        if let Some(wanted) = &arguments.layer
            && report.debug.get().is_some()
            && !layers.contains(wanted)
        {
            let message = format!("the report has no layer `{wanted}`");
            let known = format!("It has: {}.", layers.join(", "));
            return Err(Error::new(ErrorKind::Usage, message).hint(known));
        }
        if report.debug.get().is_some() {
            // Where nothing was recorded, measured cycles are not known.
            let _ = run.derived().executed(progress);
        }
        let layer: Option<Arc<str>> = arguments.layer.as_deref().map(Arc::from);
        let steps = step_operations_of(report, layer.as_ref()).unwrap_or_default();
        let owners = Owners::of(report, &steps);
        let is_cancelled = || progress.is_cancelled();
        let curve = scope_curve(report, Scope::Everything, &is_cancelled);
        let table = operations::table(report, &steps, &owners, curve.as_ref(), &is_cancelled);
        let table = table.unwrap_or_default();
        let step = |position: u32| {
            let id: Option<StepId> = report.steps.get()?.ids.get(position as usize);
            Some(id?.0)
        };
        let rows: Vec<RunRow> = (0..table.rows.len()).map(|row| vec![Some(row)]).collect();
        let names = table.rows.iter().map(|row| OperationName::of(&row.operation));
        let modules = by_module(&[&table.rows], &rows, names).into_iter().map(|module| ModuleRow {
            name: module.name,
            operations: module.rows.len(),
            figures: ByKey(module.figures.into_iter().flatten().next().unwrap_or_default()),
        });
        let mut modules: Vec<ModuleRow> = modules.collect();
        modules.sort_by_key(|row| Reverse(row.figures.0.get(OperationFigure::PeakLive)));
        let OperationTable { rows, rest, whole, peak } = table;
        let row = |row: OperationRow| OpsRow {
            name: row.operation.name.clone(),
            layer: Some(row.operation.layer.clone()),
            worst_step: row.worst_step.and_then(step),
            first_step: row.steps.first().copied().and_then(step),
            available_memory_proportion: row.operation.available_memory_proportion,
            partials_type: row.partials_type,
            location: row.operation.location.clone(),
            figures: ByKey(row.figures),
            operation: Some(row.operation),
        };
        let mut operations: Vec<OpsRow> = rows.into_iter().map(row).collect();
        operations.sort_by_key(|row| Reverse(row.figures.0.get(OperationFigure::PeakLive)));
        if report.debug.get().is_some() {
            operations.push(OpsRow {
                name: None,
                operation: None,
                layer: None,
                figures: ByKey(rest),
                worst_step: None,
                first_step: None,
                available_memory_proportion: None,
                partials_type: None,
                location: None,
            });
        }
        let of = match &arguments.layer {
            Some(layer) => name_cell(report.layer_title(layer)),
            None => match report.title_of_calls() {
                Some(calls) => {
                    format!("{calls} or, where a step has no such call, of the layer above")
                }
                None => "the layer nearest to each step".to_owned(),
            },
        };
        Ok(Self {
            of,
            layers,
            layer: arguments.layer.clone(),
            peak_step: peak.and_then(step),
            operations,
            modules,
            totals: ByKey(whole),
            calls: calls.map(PrintedCalls),
            lines: arguments.by,
        })
    }
}

/// A call with its cells by their keys; what is not known is null.
fn call_object(list: &CallList, call: &CallRow) -> serde_json::Map<String, Value> {
    let device = ("device".to_owned(), Value::from(call.device.to_number()));
    let cells = list.columns.iter().zip(&call.cells);
    let cells = cells.map(|(column, cell)| (column.key.to_owned(), cell.to_json()));
    std::iter::once(device).chain(cells).collect()
}

fn calls_csv(list: &CallList) -> String {
    let keys = std::iter::once("device").chain(list.columns.iter().map(|column| column.key));
    let mut text = csv::line(keys);
    for call in &list.calls {
        let cell = |cell: &Cell| match cell {
            Cell::Text(text) => text.clone(),
            Cell::Bytes(number) | Cell::Count(number) => number.to_string(),
            Cell::Empty => String::new(),
        };
        let device = call.device.to_number().to_string();
        text += &csv::line(std::iter::once(device).chain(call.cells.iter().map(cell)));
    }
    text
}

/// Without long words, which would not fit beside the figures.
fn write_calls(list: &CallList, out: &mut dyn Write) -> io::Result<()> {
    let is_shown = |place: usize| {
        let column = list.columns.get(place);
        column.is_some_and(|column| place == 0 || column.unit != CallUnit::Words)
    };
    let shown: Vec<usize> = (0..list.columns.len()).filter(|place| is_shown(*place)).collect();
    let title = |place: &usize| {
        let column = list.columns.get(*place)?;
        let left = if column.unit == CallUnit::Words { "<" } else { "" };
        Some(format!("{left}{}", column.title))
    };
    let header: Vec<String> = shown.iter().filter_map(title).collect();
    let lines = list.calls.iter().map(|call| {
        let cell = |place: &usize| match call.cells.get(*place) {
            Some(Cell::Empty) | None => "–".to_owned(),
            Some(cell) => cell_text(cell),
        };
        shown.iter().map(cell).collect()
    });
    let count = text::counted(list.calls.len() as u64, "operation");
    let note = list.note;
    write!(out, "{count}; {note}. --csv and --json have arguments, outputs and lines of code\n\n")?;
    write_aligned(out, &header, lines)
}

fn cell(figures: &Figures, figure: OperationFigure) -> String {
    match figures.get(figure) {
        Some(bytes) if figure.is_bytes() => size_or_less(bytes, text::bytes),
        Some(number) => size_or_less(number, text::grouped),
        None => "–".to_owned(),
    }
}

impl Answer for Ops {
    const SCHEMA: &'static str = "tilescope.ops/2";

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.calls {
            Some(PrintedCalls(list)) => write_calls(list, out),
            None => out.write_all(self.text().as_bytes()),
        }
    }

    fn text(&self) -> String {
        if let Some(PrintedCalls(list)) = &self.calls {
            return as_text(|out| write_calls(list, out));
        }
        let layers: Vec<&str> = self.layers.iter().map(String::as_str).collect();
        if self.operations.is_empty() {
            return "No operation is known: the report has no debug information that can be read.\n"
                .to_owned();
        }
        let mut text =
            format!("Operations of {}; layers: {}\n\n", self.of, name_cell(&layers.join(", ")));
        let figures = IN_TEXT.map(|figure| figure.title().to_owned());
        let cells = |figures: &Figures| IN_TEXT.map(|figure| cell(figures, figure));
        let all = ("All".to_owned(), String::new(), &self.totals.0);
        let mut of_rows = self.operations.iter().map(|row| {
            let (name, kind) = match &row.operation {
                Some(operation) => (operation.name_or_none(), operation_text(operation)),
                None => ("Without an operation", String::new()),
            };
            (name.to_owned(), kind, &row.figures.0)
        });
        let of_modules = self.modules.iter().map(|module| {
            let count = text::counted(module.operations as u64, "operation");
            (module.name.clone(), count, &module.figures.0)
        });
        let (title, rows): (_, Vec<_>) = match self.lines {
            Lines::Operation => (["<Name", "<Operation"], of_rows.collect()),
            Lines::Module => {
                let rest = of_rows.next_back();
                (["<Module", "<"], of_modules.chain(rest).collect())
            }
        };
        let header: Vec<String> = title.map(str::to_owned).into_iter().chain(figures).collect();
        let lines = std::iter::once(all).chain(rows).map(|(name, kind, figures)| {
            let words = [name_cell(&name), name_cell(&kind)];
            words.into_iter().chain(cells(figures)).collect()
        });
        text += &aligned(&header, lines);
        text += "\nEstimated cycles come from the compiler and count each step once; measured cycles cover all runs. – means not known or not recorded.\n";
        text
    }
}

impl RowsAnswer for Ops {
    fn write_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.calls {
            Some(PrintedCalls(list)) => {
                write_stream(|| list.calls.iter().map(|call| call_object(list, call)), out)
            }
            None if self.lines == Lines::Module => write_stream(|| self.modules.iter(), out),
            None => write_stream(|| self.operations.iter(), out),
        }
    }
}

impl CsvAnswer for Ops {
    fn csv(&self) -> String {
        if let Some(PrintedCalls(list)) = &self.calls {
            return calls_csv(list);
        }
        let words = ["name", "operation", "layer"];
        let planner = ["available_memory_proportion", "partials_type", "location"];
        let figures = OperationFigure::ALL.map(OperationFigure::key);
        let mut text = csv::line(words.into_iter().chain(figures).chain(planner));
        for row in &self.operations {
            let operation = row.operation.as_ref();
            let kind = operation.map_or("", |operation| operation.title()).to_owned();
            let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
            let mut cells = vec![or_empty(&row.name), kind, or_empty(&row.layer)];
            let number = |number: i64| number.to_string();
            cells.extend(
                OperationFigure::ALL
                    .map(|it| row.figures.0.get(it).map(number).unwrap_or_default()),
            );
            let proportion = row.available_memory_proportion;
            cells.push(proportion.map(|value| value.to_string()).unwrap_or_default());
            cells.extend([or_empty(&row.partials_type), or_empty(&row.location)]);
            text += &csv::line(cells);
        }
        text
    }
}
