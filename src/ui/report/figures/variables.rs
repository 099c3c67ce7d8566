//! Variables as figures: operations and modules are their groups, liveness classes their parts.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Entries, EntryPart, EntryUnit, FigureColumn, FigureEntry, FigureLayout};
use crate::analysis::comparison::contribution::OperationName;
use crate::analysis::comparison::variable_figures::{
    RunVariables, VariableFigures, VariableOwner, variable_figures,
};
use crate::analysis::liveness::variables::{VariablePart, VariableRow};
use crate::analysis::placement::counted::COUNTED_ONCE;
use crate::run::VariableBrief;
use crate::store::{Report, UnloweredId};
use crate::text::grouped;
use crate::ui::runs::{Run, Runs};

/// The group of what no operation makes.
const WITHOUT_OPERATION: &str = "Without an operation";
/// Ranges of steps that are written out.
pub const MOST_RANGES: usize = 4;

/// The variables of a run, and the columns that their figures stand in.
pub type RowsAndColumns = (Vec<VariableRow>, Vec<usize>);

/// The figures of the variables of each run, in the order of the runs.
pub fn variable_entries(
    runs: &Runs,
    found: Vec<RowsAndColumns>,
    columns: Vec<FigureColumn>,
) -> Entries {
    let attributions = runs.each(|run| run.pair.as_ref().map(|pair| pair.attribution()));
    let are_attributed = attributions.iter().skip(1).any(Option::is_some);
    let columns_of: Vec<Vec<usize>> = found.iter().map(|(_, columns)| columns.clone()).collect();
    let of_runs = runs.iter().zip(found).zip(&attributions);
    let of_runs = of_runs.map(|((run, (rows, columns)), attribution)| RunVariables {
        report: &run.report,
        attribution: attribution.as_deref(),
        rows,
        columns,
    });
    let count = columns.len();
    let mut groups = GroupNames::default();
    let rows = variable_figures(of_runs.collect(), count);
    let briefs = briefs_of(runs, &rows);
    let has_operations = briefs.iter().any(|brief| brief.operation.is_some());
    let has_operation_column = has_operations && !are_attributed;
    let has_shapes = briefs.iter().any(|brief| !brief.shape.is_empty());
    let has_padding = briefs.iter().any(|brief| brief.padding_bytes.unwrap_or(0) > 0);
    let rows = rows.into_iter().zip(briefs).map(|(row, brief)| {
        let VariableBrief { shape, operation, padding_bytes: padding } = brief;
        let operation = operation.map(|operation| groups.shared(operation));
        let VariableFigures { name, bytes, owner, parts } = row;
        let part = |(run, part): (usize, VariablePart)| {
            let of = runs.get(run);
            let life = of.map_or(String::new(), |run| life_text(&run.report, &part));
            let name = match of {
                Some(run) if !runs.is_one() => format!("{}: {life}", run.title),
                _ => life,
            };
            let mut figures = vec![None; count];
            for (at, column) in columns_of.get(run).into_iter().flatten().enumerate() {
                let is_live = part.is_always_live || part.is_live.get(at) == Some(&true);
                if let Some(figure) = figures.get_mut(*column) {
                    *figure = Some(if is_live { part.bytes } else { 0 });
                }
            }
            EntryPart { name, figures }
        };
        let mut of_row = if are_attributed { groups.of(owner) } else { Vec::new() };
        if has_operation_column {
            let none = || groups.shared(WITHOUT_OPERATION.to_owned());
            of_row.push(operation.clone().unwrap_or_else(none));
        }
        of_row.extend(has_shapes.then(|| groups.shared(shape)));
        let parts = parts.into_iter().map(part).collect();
        let (figures, places) = (bytes, Vec::new());
        FigureEntry { name, figures, groups: of_row, parts, padding, operation, places }
    });
    let list = rows.collect();
    let mut groupings =
        if are_attributed { vec!["Operation", "Module", "Kind of operation"] } else { Vec::new() };
    groupings.extend(has_operation_column.then_some("Operation"));
    groupings.extend(has_shapes.then_some("Shape"));
    let has_shared = |run: &Run| {
        run.report.liveness.get().is_some_and(|liveness| liveness.counted_bytes.is_some())
    };
    Entries {
        rule: if runs.iter().any(has_shared) { COUNTED_ONCE } else { "" },
        has_padding,
        unit: EntryUnit::Bytes,
        title: runs.system().variable,
        layout: FigureLayout::of(runs),
        columns,
        groupings,
        list,
    }
}

/// What is said of each row, by the first run that has it, and what of its first figure is padding.
fn briefs_of(runs: &Runs, rows: &[VariableFigures]) -> Vec<VariableBrief> {
    let mut briefs = vec![VariableBrief::default(); rows.len()];
    for (place, run) in runs.iter().enumerate() {
        let first = |row: &VariableFigures| row.parts.first().is_some_and(|(of, _)| *of == place);
        let of_run = rows.iter().enumerate().filter(|(_, row)| first(row));
        let (places, variables): (Vec<usize>, Vec<UnloweredId>) =
            of_run.filter_map(|(at, row)| Some((at, row.parts.first()?.1.variable))).unzip();
        let found = run.derived.answers().variable_briefs(&run.derived, &variables);
        for (at, brief) in places.into_iter().zip(found) {
            let Some((slot, row)) = briefs.get_mut(at).zip(rows.get(at)) else { continue };
            // No more of it than the bytes that count to the variable.
            let counted = row.bytes.first().copied().flatten().unwrap_or(0);
            let padding_bytes = brief.padding_bytes.map(|padding| padding.min(counted));
            *slot = VariableBrief { padding_bytes, ..brief };
        }
    }
    briefs
}

/// The names of groups, each kept once.
#[derive(Default)]
struct GroupNames(HashMap<String, Arc<str>>);

impl GroupNames {
    fn of(&mut self, owner: VariableOwner) -> Vec<Arc<str>> {
        let titles = match owner {
            VariableOwner::One(name) => titles_of(&name),
            VariableOwner::Several => ["Several operations"; 3].map(str::to_owned),
            VariableOwner::Unknown => ["Not attributable"; 3].map(str::to_owned),
        };
        titles.map(|title| self.shared(title)).into()
    }

    fn shared(&mut self, title: String) -> Arc<str> {
        let shared = self.0.entry(title).or_insert_with_key(|title| Arc::from(&**title));
        Arc::clone(shared)
    }
}

/// Operation, module and kind.
fn titles_of(name: &OperationName) -> [String; 3] {
    let kind = name.title().to_owned();
    let operation = match &name.name {
        Some(name) => format!("{name}, {kind}"),
        None => kind.clone(),
    };
    [operation, name.module().to_owned(), kind]
}

fn life_text(report: &Report, part: &VariablePart) -> String {
    if part.is_always_live {
        return format!("Class {}, {}", part.class, report.system.always_live_in_text);
    }
    let liveness = report.liveness.get();
    let class = liveness.map_or(part.class, |liveness| liveness.whole_life(part.class));
    let classes = liveness.map(|liveness| &liveness.classes);
    let ranges = classes.and_then(|classes| Some(classes.ranges_of(classes.ids.position(class)?)));
    format!("Class {class}, {}", ranges_text(report, ranges.unwrap_or(&[])))
}

/// Ranges of steps that are written out, each with its steps: `3–7`, `12`.
pub fn range_texts(report: &Report, ranges: &[Range<u32>]) -> Vec<String> {
    let id = |position: u32| {
        let id = report.steps.get().and_then(|steps| steps.ids.get(position as usize));
        id.map_or(position, |id| id.0)
    };
    let shown = ranges.iter().filter(|range| range.start < range.end).take(MOST_RANGES);
    let text = |range: &Range<u32>| match (id(range.start), id(range.end - 1)) {
        (first, last) if first == last => grouped(first.into()),
        (first, last) => format!("{}–{}", grouped(first.into()), grouped(last.into())),
    };
    shown.map(text).collect()
}

/// Ranges of steps for people: `steps 3–7, 12 and 4 more`.
pub fn ranges_text(report: &Report, ranges: &[Range<u32>]) -> String {
    let texts = range_texts(report, ranges);
    let more = ranges.len().saturating_sub(MOST_RANGES);
    let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
    if texts.is_empty() {
        "never live".to_owned()
    } else {
        format!("{} {}{more}", report.system.steps, texts.join(", "))
    }
}
