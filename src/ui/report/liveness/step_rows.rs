//! Lists of steps, of the peaks or of what a filter found: which steps, how much is alive there in each
//! run and by how much that is over the limit, and which operation they belong to.

use eframe::egui;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::timelines::SlotTimelines;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::over_limit::OverLimit;
use crate::analysis::liveness::peaks::peaks;
use crate::analysis::program::operation_text::operations_text;
use crate::analysis::program::operations::Operation;
use crate::analysis::program::steps;
use crate::ui::job::Same;
use crate::ui::report::slot_axis::MOST_PEAKS;
use crate::ui::report::step_place;
use crate::ui::runs::{Needed, Run, Runs};
use crate::ui::selection::TitledJump;
use crate::ui::theme::Tokens;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// Width and height of a bar, points.
const BAR: f32 = 200.0;
const BAR_HEIGHT: f32 = 11.0;

pub struct StepRows {
    runs: Arc<Runs>,
    timelines: Arc<SlotTimelines>,
    rows: Vec<SlotRow>,
    cells: Vec<(StepCell, TableColumn)>,
    /// The slots of the peaks that the picture numbers.
    numbered: Vec<usize>,
    /// How many are over the limit in at least one run; `None` where no limit is known.
    pub over: Option<usize>,
}

/// What a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SlotRow {
    slot: usize,
    /// The run whose step it is, by its place, where steps of the same number have nothing in common; else all runs.
    only: Option<usize>,
}

#[derive(Clone, PartialEq)]
pub enum ListedSteps {
    Peaks,
    /// Those that the filter found; all of them without one.
    Steps(Option<Same<Vec<u32>>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepCell {
    /// The number that the picture has at a peak.
    Number,
    Step(usize),
    /// All that is alive, and as a bar.
    Alive,
    Bar,
    /// All that is alive, in percent of the limit.
    OfLimit,
    Operation,
    Kind,
    Name,
    Bytes(usize),
    /// By how much a run is over its limit.
    Over(usize),
    /// The difference to the reference.
    Change(usize),
    /// The difference in percent of the source.
    Percent,
}

/// What the bytes of a step are: of the worst tile, whose always-live bytes differ, all of them.
pub fn bytes_title(runs: &Runs, scope: Scope) -> String {
    match scope {
        Scope::WorstArena => format!("Alive on the {}", runs.system().arena_in_text),
        _ => runs.system().not_always_live.to_owned(),
    }
}

impl StepRows {
    /// What is listed; of it those above the limit alone where only they are wanted.
    pub fn of(
        runs: &Arc<Runs>,
        timelines: &Arc<SlotTimelines>,
        listed: &ListedSteps,
        is_over_alone: bool,
    ) -> Self {
        let mut slots: Vec<usize> = match listed {
            ListedSteps::Peaks => timelines.peaks.clone(),
            ListedSteps::Steps(Some(Same(found))) => {
                found.iter().map(|slot| *slot as usize).collect()
            }
            ListedSteps::Steps(None) => (0..timelines.len()).collect(),
        };
        let mut cells = cells(runs, timelines);
        // Peaks have numbers; of all steps the kinds of programs say more.
        let other = if *listed == ListedSteps::Peaks { StepCell::Kind } else { StepCell::Number };
        // Columns that no row of these systems fills are left out too.
        let has_some = |run: &Run| run.report.debug.get().is_none_or(|debug| !debug.ids.is_empty());
        let has_operations = !runs.are_foreign_to(&[Needed::Debug]) && runs.iter().any(has_some);
        cells.retain(|(cell, _)| match cell {
            StepCell::Operation => has_operations,
            cell => *cell != other,
        });
        let mut curves = (0..runs.len()).filter_map(|run| timelines.run(run));
        let is_known = curves.any(|curve| curve.timeline.over.is_some());
        let over = is_known.then(|| slots.iter().filter(|slot| is_over(timelines, **slot)).count());
        slots.retain(|slot| !is_over_alone || is_over(timelines, *slot));
        let mut rows = rows(runs, timelines, listed, slots);
        if *listed == ListedSteps::Peaks && !runs.is_one() {
            let bytes = |row: &SlotRow| {
                (0..runs.len()).filter_map(|run| bytes_of(timelines, run, *row)).max()
            };
            rows.sort_by_cached_key(|row| std::cmp::Reverse(bytes(row)));
        }
        let (runs, timelines) = (Arc::clone(runs), Arc::clone(timelines));
        let peaks = timelines.run(0).map(|curve| curve.timeline.highest_peaks(MOST_PEAKS));
        let slot = |step| timelines.axis.slot(0, step);
        let numbered = peaks.into_iter().flatten().filter_map(slot).collect();
        Self { runs, timelines, rows, cells, numbered, over }
    }

    pub fn columns(&self) -> Vec<TableColumn> {
        self.cells.iter().map(|(_, column)| column.clone()).collect()
    }

    pub fn slot(&self, row: usize) -> Option<usize> {
        self.rows.get(row).map(|row| row.slot)
    }

    /// The runs that a row is of, each with its step.
    fn steps(&self, row: SlotRow) -> impl Iterator<Item = (&Run, usize)> {
        let step = move |(place, run)| Some((run, self.step(place, row)?));
        self.runs.iter().enumerate().filter_map(step)
    }

    fn step(&self, run: usize, row: SlotRow) -> Option<usize> {
        step_of(&self.timelines, run, row)
    }

    fn operation(&self, row: SlotRow) -> String {
        let operation = |(run, step): (&Run, usize)| {
            steps::facts(&run.report, self.timelines.device(run), step)?.operation
        };
        let operations: Vec<Operation> = self.steps(row).filter_map(operation).collect();
        operations_text(&operations)
    }

    /// All that is alive in the first run, in a slot.
    fn alive(&self, slot: usize) -> Option<u64> {
        self.timelines.alive_at(0, self.timelines.axis.step(0, slot)?)
    }

    /// The bar of a row: what always lives, what does not, and what is over.
    pub fn paint_bar(
        &self,
        painter: &egui::Painter,
        rect: egui::Rect,
        row: usize,
        tokens: &Tokens,
    ) {
        let bar = || {
            let step = self.timelines.axis.step(0, self.slot(row)?)?;
            let timeline = &self.timelines.run(0)?.timeline;
            let always_live = timeline.always_live_at(step).unwrap_or(0);
            let parts = [
                (always_live, tokens.always_live),
                (timeline.not_always_live_at(step), tokens.temporary),
            ];
            let limit = limit_of(&self.timelines);
            let whole = timeline.top.max(limit.unwrap_or(0));
            let bar = Bar { parts: &parts, whole, limit };
            let y = rect.center().y - BAR_HEIGHT / 2.0..=rect.center().y + BAR_HEIGHT / 2.0;
            bar.paint(painter, egui::Rect::from_x_y_ranges(rect.x_range(), y), tokens);
            Some(())
        };
        // A row without a step of the reference has none.
        let _ = bar();
    }

    fn kind(&self, row: SlotRow) -> Option<String> {
        self.steps(row).find_map(|(run, step)| {
            steps::facts(&run.report, self.timelines.device(run), step)?.kind
        })
    }

    fn name(&self, row: SlotRow) -> Option<String> {
        let name = |(run, step): (&Run, usize)| {
            let facts = steps::facts(&run.report, self.timelines.device(run), step)?;
            facts.name.or(facts.kind)
        };
        // Steps that share a slot by number or by their place may do different things.
        let mut names: Vec<String> = self.steps(row).filter_map(name).collect();
        names.dedup();
        (!names.is_empty()).then(|| names.join(" → "))
    }
}

/// The step of a run in a row that is of it.
fn step_of(timelines: &SlotTimelines, run: usize, row: SlotRow) -> Option<usize> {
    let is_of = row.only.is_none_or(|only| only == run);
    timelines.axis.step(run, row.slot).filter(|_| is_of)
}

/// Bytes of a run at its step in a row.
fn bytes_of(timelines: &SlotTimelines, run: usize, row: SlotRow) -> Option<u64> {
    let step = step_of(timelines, run, row)?;
    timelines.run(run)?.timeline.peak_curve().get(step).copied()
}

/// The rows of slots: where steps of the same number have nothing in common, one for each run that has a step there, of
/// peaks for each that has a peak there.
fn rows(
    runs: &Runs,
    timelines: &SlotTimelines,
    listed: &ListedSteps,
    slots: Vec<usize>,
) -> Vec<SlotRow> {
    if runs.is_one() || runs.system().are_steps_matched {
        return slots.into_iter().map(|slot| SlotRow { slot, only: None }).collect();
    }
    let peaks_of = |run: usize| -> BTreeSet<usize> {
        let curve = timelines.run(run).map(|run| run.timeline.peak_curve());
        curve.map_or_else(BTreeSet::new, |curve| peaks(curve).iter().map(|it| it.step).collect())
    };
    let peaks: Vec<BTreeSet<usize>> = match listed {
        ListedSteps::Peaks => (0..runs.len()).map(peaks_of).collect(),
        ListedSteps::Steps(_) => Vec::new(),
    };
    let is_listed = |run: usize, slot: usize| {
        let step = timelines.axis.step(run, slot);
        // Of a step with several slots the first is listed.
        let step = step.filter(|step| timelines.axis.slot(run, *step) == Some(slot));
        step.is_some_and(|step| peaks.get(run).is_none_or(|peaks| peaks.contains(&step)))
    };
    let of_slot = |slot: usize| {
        let of_runs = (0..runs.len()).filter(move |run| is_listed(*run, slot));
        of_runs.map(move |run| SlotRow { slot, only: Some(run) })
    };
    slots.into_iter().flat_map(of_slot).collect()
}

/// What there is for the reference, where that is known.
fn limit_of(timelines: &SlotTimelines) -> Option<u64> {
    timelines.run(0)?.timeline.limit.filter(|limit| *limit > 0)
}

/// By how much a run is over the limit at its step in a slot.
fn over_of(timelines: &SlotTimelines, run: usize, slot: usize) -> Option<u64> {
    limit_passed(timelines, run)?.at(timelines.axis.step(run, slot)?)
}

/// Where a run is over the limit, where that is known.
fn limit_passed(timelines: &SlotTimelines, run: usize) -> Option<&OverLimit> {
    timelines.run(run)?.timeline.over.as_ref()
}

fn is_over(timelines: &SlotTimelines, slot: usize) -> bool {
    (0..timelines.axis.runs()).any(|run| over_of(timelines, run, slot).is_some_and(|over| over > 0))
}

fn cells(runs: &Runs, timelines: &SlotTimelines) -> Vec<(StepCell, TableColumn)> {
    let of = bytes_title(runs, timelines.scope);
    let bytes = |title: String, width| TableColumn::bytes(title, width).not_summed();
    if runs.is_one() {
        // Of several devices there may be what is over, and no limit of all.
        let has_common = limit_of(timelines).is_some();
        let has_limit = limit_passed(timelines, 0).is_some() || has_common;
        let against = if has_common { "Against the limit" } else { "Of the highest" };
        let mut cells = vec![
            (StepCell::Step(0), TableColumn::text(runs.system().step, 44.0)),
            (StepCell::Number, TableColumn::count("Peak", 40.0).not_summed()),
            (StepCell::Name, TableColumn::text("Name", 150.0)),
            (StepCell::Operation, TableColumn::text("Operation", 92.0)),
            (StepCell::Alive, bytes("Memory".to_owned(), 84.0).called("Always live and not")),
            (StepCell::Bar, TableColumn { width: Some(BAR), ..TableColumn::painted(against) }),
            (StepCell::Over(0), bytes("Over limit".to_owned(), 72.0).called("Over the limit")),
            (StepCell::OfLimit, TableColumn::text("Of limit", 72.0)),
            (StepCell::Bytes(0), bytes(of, 96.0)),
            (StepCell::Kind, TableColumn::text("Program", 110.0)),
        ];
        cells.retain(|(cell, _)| match cell {
            StepCell::Over(_) => has_limit,
            StepCell::OfLimit => has_common,
            _ => true,
        });
        return cells;
    }
    let runs_and = |cell: fn(usize) -> StepCell, column: &dyn Fn(&Run) -> TableColumn| {
        let cell = |(place, run): (usize, &Run)| (cell(place), column(run));
        runs.iter().enumerate().map(cell).collect::<Vec<_>>()
    };
    // Of many runs the badge alone says whose step it is.
    let word = runs.system().step_in_text;
    let (title, width) = if runs.len() > 2 { ("", 56.0) } else { (word, 66.0) };
    let mut cells = runs_and(StepCell::Step, &|run| {
        TableColumn::text(format!("{} {word}", run.title), width).of_run(Some(run.badge), title)
    });
    cells.push((StepCell::Operation, TableColumn::text("Operation", 138.0)));
    cells.push((StepCell::Kind, TableColumn::text("Program", 110.0)));
    cells.push((StepCell::Name, TableColumn::rest("Name")));
    let in_text = of.to_lowercase();
    cells.extend(runs_and(StepCell::Bytes, &|run| {
        let column = bytes(run.title.to_string(), 76.0);
        column.called(format!("{}: {in_text}", run.title)).of_run(Some(run.badge), &*run.title)
    }));
    let mut over = runs_and(StepCell::Over, &|run| {
        let title = format!("{} over", run.title);
        let column = bytes(title, 76.0).called(format!("{}: over the limit", run.title));
        column.of_run(Some(run.badge), "over")
    });
    // A run that keeps its limit at every step needs no column for it.
    over.retain(|(cell, _)| {
        let StepCell::Over(run) = cell else { return false };
        limit_passed(timelines, *run).is_some_and(OverLimit::is_anywhere)
    });
    cells.extend(over);
    // Of steps that have only their numbers in common none is said to have more or less.
    if !runs.system().are_steps_matched {
        return cells;
    }
    if runs.len() == 2 {
        let percent = TableColumn::count("Of the source", 96.0).not_summed();
        cells.push((StepCell::Change(1), bytes("Difference".to_owned(), 98.0)));
        cells.push((StepCell::Percent, TableColumn { unit: "percent", ..percent }));
    } else {
        let reference = runs.reference();
        let changes = runs_and(StepCell::Change, &|run| {
            let column = bytes(format!("{} − {}", run.title, reference.title), 98.0);
            column.of_run(Some(run.badge), format!("− {}", reference.badge.letter))
        });
        cells.extend(changes.into_iter().skip(1));
    }
    cells
}

impl Rows for StepRows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some(row) = self.rows.get(row).copied() else { return CellValue::Nothing };
        let slot = row.slot;
        let Some((cell, _)) = self.cells.get(column) else { return CellValue::Nothing };
        let bytes = |run: usize| bytes_of(&self.timelines, run, row);
        match *cell {
            StepCell::Step(run) => {
                let step = self.step(run, row);
                let id = step.and_then(|step| {
                    Some(self.runs.get(run)?.report.steps.get()?.ids.get(step)?.0)
                });
                id.map_or(CellValue::Nothing, |id| CellValue::Id(u64::from(id)))
            }
            StepCell::Number => {
                let place = self.numbered.iter().position(|numbered| *numbered == slot);
                place.map_or(CellValue::Nothing, |place| CellValue::Count(place as u64 + 1))
            }
            StepCell::Alive => CellValue::bytes(self.alive(slot)),
            StepCell::Bar => CellValue::Nothing,
            StepCell::OfLimit => match self.alive(slot).zip(limit_of(&self.timelines)) {
                Some((alive, limit)) => {
                    CellValue::text(format!("{:.1} %", alive as f64 * 100.0 / limit as f64))
                }
                None => CellValue::Nothing,
            },
            StepCell::Operation => CellValue::text(self.operation(row)),
            StepCell::Kind => CellValue::text(self.kind(row).unwrap_or_default()),
            StepCell::Name => CellValue::text(self.name(row).unwrap_or_default()),
            StepCell::Bytes(run) => CellValue::bytes(bytes(run)),
            StepCell::Over(run) => {
                let step = self.step(run, row);
                CellValue::bytes(step.and_then(|_| over_of(&self.timelines, run, slot)))
            }
            StepCell::Change(run) => CellValue::change_if_known(bytes(0), bytes(run)),
            StepCell::Percent => match (bytes(0), bytes(1)) {
                (Some(_), None) => CellValue::text("only in source"),
                (None, Some(_)) => CellValue::text("only in target"),
                (Some(from @ 1..), Some(to)) => {
                    let percent = (to as f64 - from as f64) * 1000.0 / from as f64;
                    CellValue::Percent(percent.round() / 10.0)
                }
                _ => CellValue::Nothing,
            },
        }
    }

    fn name(&self, row: usize) -> Option<String> {
        StepRows::name(self, self.rows.get(row).copied()?)
    }

    fn places(&self, row: usize) -> Vec<TitledJump> {
        self.slot(row).and_then(|slot| step_place(&self.runs, slot)).into_iter().collect()
    }

    fn hover(&self, row: usize) -> Option<String> {
        let row = self.rows.get(row).copied()?;
        let worst = |(place, run): (usize, &Run)| {
            let over = limit_passed(&self.timelines, place)?;
            let device = over.worst_device_at(self.step(place, row)?)?;
            let device = run.report.device_title(device);
            let of = if self.runs.is_one() { String::new() } else { format!("{}: ", run.title) };
            Some(format!("{of}{device} is over its own limit by most"))
        };
        let worst: Vec<String> = self.runs.iter().enumerate().filter_map(worst).collect();
        (!worst.is_empty()).then(|| worst.join("\n"))
    }
}
