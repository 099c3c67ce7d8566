//! The answer of the page for all runs, worked out in the background.

use std::collections::HashMap;
use std::sync::Arc;

use crate::analysis::comparison::owners::Owners;
use crate::analysis::liveness::Scope;
use crate::analysis::operations::{
    Module, OperationFigure, OperationRow, OperationTable, RunRow, by_module, layers, side_by_side,
    table,
};
use crate::analysis::program::operation_text::operations_text;
use crate::analysis::program::operations::{Operation, OperationName};
use crate::analysis::program::step_operations::{StepOperations, step_operations_of};
use crate::text::{counted, shortened};
use crate::ui::job::Cancel;
use crate::ui::runs::{Needed, Needs, PerRun, Run, Runs};

pub const NEEDS: Needs = &[
    Needed::Memory,
    Needed::Liveness,
    Needed::Debug,
    Needed::ComputeSets,
    Needed::VertexTypes,
    Needed::Exchanges,
];

/// A layer; `None` of the one that names each operation best.
pub type ChosenLayer = Option<Arc<str>>;

pub struct OperationsOfRuns {
    /// Layers that any of them has.
    pub layers: Vec<Arc<str>>,
    pub runs: PerRun<Option<RunOperations>>,
    /// What belongs together.
    pub rows: Vec<RunRow>,
    /// What each row is called.
    pub names: Vec<OperationName>,
    /// Name, kind, planner values and place in the source of each row, of all runs together.
    pub words: Vec<[String; 5]>,
    places: HashMap<OperationName, usize>,
    /// Modules with their sums in each run, and their operations, positions in [`Self::rows`].
    pub modules: Vec<Module>,
    /// How many there are, and which takes most at the peak of the first run.
    pub summary: String,
    /// The row of the latter.
    pub first: Option<usize>,
}

pub struct RunOperations {
    pub steps: Arc<StepOperations>,
    pub owners: Arc<Owners>,
    pub table: OperationTable,
}

impl OperationsOfRuns {
    /// Works it out; `None` when it was canceled.
    pub fn of(runs: &Runs, layer: &ChosenLayer, cancel: &Cancel) -> Option<Self> {
        let mut of_runs: PerRun<Option<RunOperations>> = Vec::with_capacity(runs.len());
        let mut known: Vec<Arc<str>> = Vec::new();
        for run in runs.iter() {
            for found in self::layers(&run.report) {
                if !known.iter().any(|layer| **layer == *found) {
                    known.push(found.into());
                }
            }
            of_runs.push(of_run(run, layer, cancel));
            if cancel.is_cancelled() {
                return None;
            }
        }
        let lists: Vec<&[OperationRow]> = of_runs
            .iter()
            .map(|found| found.as_ref().map_or(&[][..], |found| &found.table.rows))
            .collect();
        let rows = side_by_side(&lists, |run, name| {
            // Alone a run keeps the names that it has.
            let run = runs.get(run).filter(|_| !runs.is_one())?;
            Some(run.derived.answers().matched_name(name)?.into_owned())
        });
        let name_of = |row: &RunRow| {
            let mut cells = row.iter().zip(&lists);
            let found = cells.find_map(|(place, list)| list.get((*place)?));
            found.map(|found| OperationName::of(&found.operation))
        };
        let names: Vec<OperationName> = rows.iter().filter_map(name_of).collect();
        let modules = by_module(&lists, &rows, names.iter().cloned());
        let mut places: HashMap<OperationName, usize> = HashMap::new();
        for (place, row) in rows.iter().enumerate() {
            let of_runs = row.iter().zip(&lists).filter_map(|(at, list)| list.get((*at)?));
            for of_run in of_runs {
                places.entry(OperationName::of(&of_run.operation)).or_insert(place);
            }
        }
        let summary = summary(&lists, &names);
        let first = most_at_the_peak(&lists).and_then(|name| places.get(&name).copied());
        let (layers, words) = (known, Vec::new());
        let mut found =
            Self { layers, runs: of_runs, rows, names, words, places, modules, summary, first };
        // There may be a hundred thousand: too many for whoever draws.
        found.words = (0..found.rows.len()).map(|row| found.words_of(row)).collect();
        Some(found)
    }

    fn words_of(&self, row: usize) -> [String; 5] {
        let name = self.names.get(row).map(OperationName::name_or_none);
        let of_runs = |words: fn(&OperationRow) -> Option<String>| {
            let rows = (0..self.runs.len()).filter_map(|run| self.operation(row, run));
            let mut words: Vec<String> = rows.filter_map(words).collect();
            words.dedup();
            words.join(" → ")
        };
        [
            name.unwrap_or_default().to_owned(),
            operations_text(&self.operations(row)),
            of_runs(|row| row.operation.available_memory_proportion.map(|value| value.to_string())),
            of_runs(|row| row.partials_type.clone()),
            of_runs(|row| row.operation.location.clone()),
        ]
    }

    pub fn operation(&self, row: usize, run: usize) -> Option<&OperationRow> {
        let place = (*self.rows.get(row)?.get(run)?)?;
        self.runs.get(run)?.as_ref()?.table.rows.get(place)
    }

    /// The operation in each run that has it.
    pub fn operations(&self, row: usize) -> Vec<Operation> {
        let of_run = |run| self.operation(row, run).map(|row| row.operation.clone());
        (0..self.runs.len()).filter_map(of_run).collect()
    }

    pub fn position(&self, wanted: &OperationName) -> Option<usize> {
        self.places.get(wanted).copied()
    }

    /// Whether any run says a figure.
    pub fn has(&self, figure: OperationFigure) -> bool {
        let wholes = self.runs.iter().flatten().map(|found| &found.table.whole);
        wholes.into_iter().any(|whole| whole.get(figure).is_some())
    }

    /// Whether a run says a figure of its operations.
    pub fn knows(&self, run: usize, figure: OperationFigure) -> bool {
        let table = self.runs.get(run).and_then(Option::as_ref).map(|found| &found.table);
        table.is_some_and(|table| {
            let of_whole = std::iter::once(&table.whole);
            let mut all = of_whole.chain(table.rows.iter().map(|row| &row.figures));
            all.any(|figures| figures.get(figure).is_some())
        })
    }

    /// The cycles that are known: measured where any were recorded, else estimated ones.
    pub fn cycles(&self) -> Option<OperationFigure> {
        let is_known = |figure: &OperationFigure| {
            let rows = self.runs.iter().flatten().flat_map(|found| &found.table.rows);
            rows.into_iter().any(|row| row.figures.get(*figure).is_some_and(|cycles| cycles > 0))
        };
        [OperationFigure::Cycles, OperationFigure::EstimatedCycles].into_iter().find(is_known)
    }
}

fn of_run(run: &Run, layer: &ChosenLayer, cancel: &Cancel) -> Option<RunOperations> {
    let report = &run.report;
    let (steps, owners) = match layer {
        None => (run.derived.operations()?, run.derived.owners()),
        Some(_) => {
            let steps = step_operations_of(report, layer.as_ref())?;
            let owners = Owners::of(report, &steps);
            (Arc::new(steps), Arc::new(owners))
        }
    };
    if !owners.operations().is_empty() {
        // Where nothing was recorded, measured cycles are not known.
        let _ = run.derived.executed(cancel.progress());
    }
    let is_cancelled = || cancel.is_cancelled();
    let timeline = run.derived.timeline(Scope::Everything, &is_cancelled);
    let curve = timeline.as_ref().map(|timeline| &timeline.curve);
    let table = table(report, &steps, &owners, curve, &is_cancelled)?;
    Some(RunOperations { steps, owners, table })
}

fn summary(lists: &[&[OperationRow]], names: &[OperationName]) -> String {
    let count = counted(names.len() as u64, "operation");
    match most_at_the_peak(lists) {
        Some(name) => format!("{count}; most at the peak: {}", shortened(&name.in_words(), 60)),
        None => count,
    }
}

/// The operation that takes most at the peak of the first run; none where nothing is known of the peak.
fn most_at_the_peak(lists: &[&[OperationRow]]) -> Option<OperationName> {
    let rows = lists.first().into_iter().copied().flatten();
    let at_peak = |row: &&OperationRow| row.figures.get(OperationFigure::PeakLive);
    let largest = rows.filter(|row| at_peak(row).is_some()).max_by_key(at_peak)?;
    Some(OperationName::of(&largest.operation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::derived::Derived;
    use crate::analysis::fixture;
    use crate::progress::Progress;
    use crate::store::debug_info::DebugInfo;
    use crate::store::execution::ExecutionTrace;
    use crate::store::placed::{Placed, ReadArena, ReadError};
    use crate::store::program::Programs;
    use crate::store::{Absence, ArenaId, ProgramId, Report};
    use crate::ui::runs::{Arrangement, Badge, RunId};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts how often the steps that ran are asked for.
    #[derive(Debug, Default)]
    struct Asked(Arc<AtomicUsize>);

    impl ReadArena for Asked {
        fn read(&self, _: ArenaId, _: &Progress) -> Result<Option<Placed>, ReadError> {
            Ok(None)
        }

        fn read_trace(&self, _: &Progress) -> Result<Option<ExecutionTrace>, ReadError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(None)
        }
    }

    /// How often they are asked for by a report with such debug contexts.
    fn asked_for(debug: Option<DebugInfo>) -> usize {
        let (report, asked) = (Report::default(), Asked::default());
        let count = Arc::clone(&asked.0);
        report.set_reader(Box::new(asked));
        let (mut steps, mut programs) = (fixture::steps(1), Programs::default());
        assert!(programs.ids.push(ProgramId(0)));
        programs.debug_ids.push(1);
        programs.children_ends.push(0);
        steps.programs.push(ProgramId(0));
        steps.parents.push(None);
        report.steps.fill(Some(steps));
        report.programs.fill(Some(programs));
        report.debug.fill(debug);
        report.settle_rest(&Absence::unexplained());
        let report = Arc::new(report);
        let derived = Arc::new(Derived::new(Arc::clone(&report)));
        let run = Run::new(RunId(1), derived, Badge::of(0, 0));
        let runs = Runs::new(vec![run], None, Arrangement::Overlaid, None).expect("a run");
        assert!(OperationsOfRuns::of(&runs, &None, &Cancel::default()).is_some());
        count.load(Ordering::Relaxed)
    }

    #[test]
    fn steps_that_ran_are_read_where_there_is_an_operation_to_have_them() {
        assert_eq!(asked_for(None), 0);
        assert_eq!(asked_for(Some(DebugInfo::default())), 0);
        assert_eq!(asked_for(Some(fixture::contexts([("convolution", "a")]))), 1);
    }
}
