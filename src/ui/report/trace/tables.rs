//! The tables below the pictures: what the range was spent on by kind, on each IPU, and the slow steps of all of the trace.

use eframe::egui;
use std::ops::Range;
use std::sync::Arc;

use super::data::ReadRun;
use super::search::SpanOfRun;
use super::{Hidden, OfRuns};
use crate::analysis::execution::statistics::{CycleStatistics, KindCycles};
use crate::analysis::execution::sums::SpanSums;
use crate::ui::job::{Made, Same};
use crate::ui::report::PageContext;
use crate::ui::runs::{PerRun, Runs};
use crate::ui::widget::card::table_card_ui;
use crate::ui::widget::choice::segments_ui;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::rows::{BarOf, CellValue, Listed, Rows, TableColumn};

/// Width of a column of numbers, and of words, points.
const NUMBER: f32 = 96.0;
const WORD: f32 = 110.0;

/// What a range was spent on.
pub struct Spent {
    /// On all IPUs of each run.
    pub of_runs: PerRun<Option<CycleStatistics>>,
    rows: Arc<Listed<KindRow>>,
}

/// What an IPU spent on a kind; without one, on nothing.
struct KindRow {
    run: Arc<str>,
    ipu: u32,
    kind: Option<KindCycles>,
    cycles: u64,
    /// What its cycles are of those of the range that all IPUs of its run have, 0 to 1.
    share: f64,
}

impl Spent {
    /// Of the runs, in a range of cycles from the first of each.
    pub fn of(
        runs: &Runs,
        read: &OfRuns,
        sums: &PerRun<Option<Arc<SpanSums>>>,
        range: &Range<u64>,
        hidden: &Hidden,
    ) -> Self {
        let (mut of_runs, mut rows) = (Vec::with_capacity(read.len()), Vec::new());
        for ((run, of_run), sums) in runs.iter().zip(read).zip(sums) {
            let (Some(of_run), Some(sums)) = (of_run, sums) else {
                of_runs.push(None);
                continue;
            };
            let to = of_run.cycles.start.saturating_add(range.end).min(of_run.cycles.end);
            let from = of_run.cycles.start.saturating_add(range.start).min(to);
            let of_all = of_run.statistics(sums, from..to, None, hidden);
            let devices = of_run.executed().map_or(&[][..], |executed| &executed.trace.devices);
            for ipu in devices.iter().map(|of| of.device) {
                let found = of_run.statistics(sums, from..to, Some(ipu), hidden);
                let Some(found) = found else { continue };
                let row = |cycles: u64, kind: Option<&KindCycles>| KindRow {
                    run: Arc::clone(&run.title),
                    ipu,
                    kind: kind.cloned(),
                    cycles,
                    share: of_all.as_ref().map_or(0.0, |all| all.share(cycles)),
                };
                rows.push(row(found.idle_cycles, None));
                rows.extend(found.kinds.iter().map(|kind| row(kind.cycles, Some(kind))));
            }
            of_runs.push(of_all);
        }
        Self { of_runs, rows: Arc::new(Listed { rows, cell: KindRow::cell }) }
    }
}

impl KindRow {
    fn cell(&self, column: usize) -> CellValue<'_> {
        let of_kind = |cell: fn(&KindCycles) -> Option<u64>| {
            self.kind.as_ref().and_then(cell).map_or(CellValue::Nothing, CellValue::Count)
        };
        match column {
            0 => CellValue::text(self.kind.as_ref().map_or("No step", |kind| &kind.kind)),
            1 => CellValue::text(self.kind.as_ref().map_or("", |kind| kind.activity.title())),
            2 => CellValue::Id(self.ipu.into()),
            3 => of_kind(|kind| Some(kind.spans)),
            4 => CellValue::Count(self.cycles),
            5 => of_kind(|kind| kind.tile_cycles),
            6 => CellValue::text(&*self.run),
            7 => CellValue::Number((self.share * 1000.0).round() / 10.0),
            _ => CellValue::Nothing,
        }
    }
}

/// The slow steps of all runs, one after the other.
struct SlowRows {
    runs: PerRun<(Option<Arc<ReadRun>>, Arc<str>)>,
    /// One past the last row of each.
    ends: Vec<usize>,
}

impl SlowRows {
    /// The run of a row, and the row of its span.
    fn place(&self, row: usize) -> Option<(usize, u32)> {
        let run = self.ends.partition_point(|end| *end <= row);
        let first = run.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let (of_run, _) = self.runs.get(run)?;
        Some((run, *of_run.as_ref()?.slowest.get(row.checked_sub(first.unwrap_or(0))?)?))
    }

    fn cell(&self, row: usize, column: usize) -> Option<CellValue<'_>> {
        let (run, span) = self.place(row)?;
        let (of_run, title) = self.runs.get(run)?;
        let of_run = of_run.as_ref()?;
        let executed = of_run.executed()?;
        let (trace, span) = (executed.trace, span as usize);
        let step = executed.step_of(span);
        Some(match column {
            0 => CellValue::text(executed.title(step)),
            1 => CellValue::text(trace.kind(step)),
            2 => CellValue::Id((*trace.ids.get(step)?).into()),
            3 => CellValue::Id(trace.device_of(span)?.into()),
            4 => {
                CellValue::Count(trace.spans.starts.get(span)?.saturating_sub(of_run.cycles.start))
            }
            5 => CellValue::Count(*trace.spans.cycles.get(span)?),
            6 => CellValue::Count((*trace.spans.active_tiles.get(span)?).into()),
            7 => CellValue::Count((trace.spans.balance(span)? * 100.0).round() as u64),
            8 => CellValue::text(if of_run.slow.contains(span) { "yes" } else { "" }),
            9 => CellValue::text(&**title),
            _ => CellValue::Nothing,
        })
    }
}

impl Rows for SlowRows {
    fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        self.cell(row, column).unwrap_or_default()
    }

    fn name(&self, row: usize) -> Option<String> {
        let (run, span) = self.place(row)?;
        let executed = self.runs.get(run)?.0.as_ref()?.executed()?;
        Some(executed.title(executed.step_of(span as usize)).to_owned())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShownTable {
    Kinds,
    Slow,
}

/// What the table of slow steps was made of.
type SlowRowsKey = Vec<(Option<Same<ReadRun>>, Arc<str>)>;

pub struct TraceTables {
    pub are_shown: bool,
    shown: ShownTable,
    kinds: DataTable,
    slow: DataTable,
    slow_rows: Made<SlowRowsKey, Arc<SlowRows>>,
}

impl Default for TraceTables {
    fn default() -> Self {
        Self {
            are_shown: true,
            shown: ShownTable::Kinds,
            kinds: DataTable::sorted_by(4),
            slow: DataTable::sorted_by(5),
            slow_rows: Made::default(),
        }
    }
}

impl TraceTables {
    /// Lets go of what was listed, not of what is to be seen.
    pub fn forget(&mut self) {
        self.slow_rows = Made::default();
    }

    /// Draws the table that is chosen, where `chosen` is selected, or why there is none; returns the step that was
    /// clicked.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        read: &OfRuns,
        spent: Result<&Spent, &str>,
        chosen: Option<SpanOfRun>,
    ) -> Option<SpanOfRun> {
        let slow = self.slow_rows(page.runs, read);
        let (now, runs, shown) = (self.shown, page.runs, &mut self.shown);
        let mut choice = |ui: &mut egui::Ui| {
            let choices = [(ShownTable::Kinds, "By kind"), (ShownTable::Slow, "Slow steps")];
            segments_ui(ui, "What is listed", shown, choices);
        };
        let run = (!runs.is_one()).then(|| TableColumn::text("Run", WORD));
        let device = runs.system().device;
        match (now, spent) {
            (ShownTable::Kinds, Err(why)) => table_card_ui(ui, |ui| {
                ui.horizontal(choice);
                ui.weak(why);
                None
            }),
            (ShownTable::Kinds, Ok(spent)) => {
                let of_all = spent.of_runs.first().and_then(Option::as_ref);
                let whole = of_all.map_or(0.0, |all| all.range_cycles as f64);
                let bar = BarOf { track: whole, limit: None, whole, of: "of the range" };
                let cycles = TableColumn::count("Cycles", NUMBER);
                let mut columns = vec![
                    TableColumn::rest("Kind"),
                    TableColumn::text("Does", WORD),
                    TableColumn::count(device, NUMBER).not_summed(),
                    TableColumn::count("Steps", NUMBER),
                    // A bar would be of the longest run: of several each has as much of the range as it is long.
                    if runs.is_one() { cycles.with_bars(bar) } else { cycles },
                    TableColumn::count("Cycles of all tiles", NUMBER),
                ];
                if let Some(run) = run {
                    let share = TableColumn::count("Of the range (%)", NUMBER).not_summed();
                    columns.extend([run, share]);
                }
                let data = Data {
                    note: "of the range of the inspector",
                    ..Data::of("Cycles by kind", &columns, Arc::clone(&spent.rows) as _)
                };
                table_card_ui(ui, |ui| {
                    self.kinds.ui_with(ui, &data, page.commands, Some(&mut choice), None);
                    None
                })
            }
            (ShownTable::Slow, _) => {
                let mut columns = vec![
                    TableColumn::rest("Name"),
                    TableColumn::text("Kind", WORD),
                    TableColumn::count("Step", NUMBER).not_summed(),
                    TableColumn::count(device, NUMBER).not_summed(),
                    TableColumn::count("From cycle", NUMBER).not_summed(),
                    TableColumn::count("Cycles", NUMBER),
                    TableColumn::count("Active tiles", NUMBER).not_summed(),
                    TableColumn::count("Balance (%)", NUMBER).not_summed(),
                    TableColumn::text("Near the peak", NUMBER),
                ];
                columns.extend(run);
                let rows = Arc::clone(&slow);
                let is_selected = |row: usize| chosen.is_some() && rows.place(row) == chosen;
                let data = Data {
                    note: "of the whole trace: the longest, which take half of the cycles",
                    is_selected: &is_selected,
                    ..Data::of("Slow steps", &columns, Arc::clone(&slow) as _)
                };
                let clicked = table_card_ui(ui, |ui| {
                    self.slow.ui_with(ui, &data, page.commands, Some(&mut choice), None)
                });
                slow.place(clicked?.row)
            }
        }
    }

    /// The rows of the slow steps, made again when the runs are others.
    fn slow_rows(&mut self, runs: &Runs, read: &OfRuns) -> Arc<SlowRows> {
        let with_titles = runs.iter().zip(read);
        let source: SlowRowsKey = with_titles
            .map(|(run, of_run)| (of_run.clone().map(Same), Arc::clone(&run.title)))
            .collect();
        Arc::clone(self.slow_rows.of(source, |source| {
            let mut rows = SlowRows { runs: Vec::new(), ends: Vec::new() };
            for (of_run, title) in source {
                let steps = of_run.as_ref().map_or(0, |Same(run)| run.slowest.len());
                rows.ends.push(rows.len().saturating_add(steps));
                rows.runs.push((of_run.clone().map(|Same(run)| run), Arc::clone(title)));
            }
            Arc::new(rows)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::derived::Derived;
    use crate::store::Report;
    use crate::ui::card_fields::RoomFields;
    use crate::ui::runs::{Arrangement, Badge, Run, RunId};
    use crate::ui::selection::Selection;
    use crate::ui::theme;
    use egui::Shape;

    #[test]
    fn what_cannot_be_added_up_says_why() {
        let report = Arc::new(Report::default());
        let derived = Arc::new(Derived::new(Arc::clone(&report)));
        let run = Run::new(RunId(1), derived, Badge::of(0, 0));
        let runs = Runs::new(vec![run], None, Arrangement::Overlaid, None).map(Arc::new);
        let runs = runs.expect("a run");
        let (mut tables, ctx) = (TraceTables::default(), egui::Context::default());
        theme::apply(&ctx);
        let mut texts = |why: &str| {
            let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
                let mut page = PageContext {
                    runs: &runs,
                    selection: &mut Selection::default(),
                    room: &mut RoomFields::default(),
                    has_painted_graph: &mut false,
                    commands: &mut Vec::new(),
                };
                tables.ui(ui, &mut page, &vec![None], Err(why), None);
            });
            let shapes = std::mem::take(&mut output.shapes);
            output.drop_without_applying_deltas();
            let text = |shape: &Shape| match shape {
                Shape::Text(text) => text.galley.text().to_owned(),
                _ => String::new(),
            };
            shapes.iter().map(|clipped| text(&clipped.shape)).collect::<Vec<_>>()
        };
        // The first frame of a page only finds out how large it is.
        texts("");
        assert!(texts("It stopped: a mistake").contains(&"It stopped: a mistake".to_owned()));
    }
}
