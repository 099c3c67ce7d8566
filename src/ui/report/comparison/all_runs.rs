//! All runs in one table: options that differ, and key figures with their change to the reference.

use eframe::egui::{self, ScrollArea};
use std::sync::Arc;

use crate::analysis::comparison::facts::Fit;
use crate::analysis::comparison::figures::{Figure, KEY_FIGURES, Unit, figures};
use crate::analysis::comparison::options::{OptionDifference, options_that_differ};
use crate::text::shortened;
use crate::ui::job::Cancel;
use crate::ui::report::PageContext;
use crate::ui::runs::{Needed, Needs, Run, RunId, Runs, RunsAnswer};
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

const NEEDS: Needs = &[Needed::Memory, Needed::Liveness, Needed::About, Needed::Debug];
/// Options that have a column.
const MOST_OPTIONS: usize = 3;
/// Width of a column of figures, points.
const FIGURE: f32 = 96.0;

#[derive(Default)]
pub struct AllRuns {
    table: DataTable,
    rows: RunsAnswer<(), AllRunsTable>,
}

struct AllRunsTable {
    columns: Vec<TableColumn>,
    rows: Arc<dyn Rows>,
}

struct AllRunsRows {
    names: Vec<Arc<str>>,
    fits: Vec<Option<Fit>>,
    options: Vec<OptionDifference>,
    figures: Vec<Figure>,
}

impl AllRunsTable {
    fn of(runs: &Runs, cancel: &Cancel) -> Self {
        let is_cancelled = || cancel.is_cancelled();
        let timeline = |run: &Run| {
            let scope = run.derived.first_scope();
            run.derived.with_timeline(scope, &is_cancelled)
        };
        let known: Vec<_> = runs.iter().map(timeline).collect();
        let all = figures(&known);
        let is_known = |figure: &&Figure| figure.values.iter().any(Option::is_some);
        let keys = KEY_FIGURES.iter().filter_map(|key| Some((key, key.of(&all).filter(is_known)?)));
        let mut options = options_that_differ(&runs.reports());
        options.truncate(MOST_OPTIONS);
        let mut columns = vec![TableColumn::rest("Run"), TableColumn::text("Fits", 60.0)];
        columns.extend(
            options.iter().map(|option| {
                TableColumn::text(shortened(&option.title(), 40).into_owned(), 110.0)
            }),
        );
        for (key, figure) in keys.clone() {
            for title in [key.short_title.to_owned(), format!("{} change", key.short_title)] {
                columns.push(match figure.unit {
                    Unit::Bytes => TableColumn::bytes(title, FIGURE).not_summed(),
                    _ => TableColumn::count(title, FIGURE).not_summed(),
                });
            }
        }
        let rows = AllRunsRows {
            names: runs.iter().map(|run| Arc::clone(&run.title)).collect(),
            fits: runs.iter().map(|run| run.derived.fit()).collect(),
            options,
            figures: keys.map(|(_, figure)| figure.clone()).collect(),
        };
        Self { columns, rows: Arc::new(rows) }
    }
}

impl Rows for AllRunsRows {
    fn len(&self) -> usize {
        self.names.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let figures = 2 + self.options.len();
        match column {
            0 => self.names.get(row).map_or(CellValue::Nothing, |name| CellValue::text(&**name)),
            1 => match self.fits.get(row).copied().flatten() {
                Some(fit) => CellValue::text(if fit.fits { "yes" } else { "no" }),
                None => CellValue::Nothing,
            },
            _ if column < figures => {
                let value = self.options.get(column - 2).and_then(|option| option.values.get(row));
                value.and_then(Option::as_deref).map_or(CellValue::Nothing, CellValue::text)
            }
            _ => {
                let Some(figure) = self.figures.get((column - figures) / 2) else {
                    return CellValue::Nothing;
                };
                super::figures::cell(figure, row, 2 + (column - figures) % 2)
            }
        }
    }
}

impl AllRuns {
    /// Draws the table; returns the run that was clicked.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        compared: Option<RunId>,
    ) -> Option<RunId> {
        let runs = page.runs;
        self.rows.ask("all runs", ui.ctx(), (runs, NEEDS), &(), AllRunsTable::of);
        let Some(((), AllRunsTable { columns, rows })) = self.rows.last(runs) else {
            ui.weak(self.rows.failure().unwrap_or("Comparing…"));
            return None;
        };
        let note = format!("changes are against {}", runs.reference().title);
        let run = |row: usize| runs.get(row).map(|run| run.id);
        let data = Data {
            note: &note,
            is_selected: &|row| run(row) == compared,
            ..Data::of("all runs", columns, Arc::clone(rows))
        };
        let area = ScrollArea::horizontal().auto_shrink(false);
        let click = area.show(ui, |ui| self.table.ui(ui, &data, page.commands)).inner;
        run(click?.row).filter(|run| *run != runs.reference().id)
    }
}
