//! What the bytes alive at the selected moment consist of: by category, operation, module or variable, a column for
//! each moment or run. Each column adds up to what the curve says.

use eframe::egui;
use std::sync::Arc;

use super::tables::{Moments, StepOfRun};
use crate::analysis::comparison::contribution::Contributor;
use crate::analysis::comparison::explanation::{Explanation, GroupedBy};
use crate::analysis::comparison::moment::Moment;
use crate::analysis::insights::consists::{consists_of, rows_of_moments};
use crate::ui::report::grouped_by::grouped_by_segments_ui;
use crate::ui::report::{PageContext, unread_ui};
use crate::ui::runs::{Needed, Needs, Runs, RunsAnswer};
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::rows::{Column, Rows, Value};

/// What is put together, and what it belongs to.
const NEEDS: Needs = &[
    Needed::Liveness,
    Needed::Variables,
    Needed::TileVariables,
    Needed::Debug,
    Needed::ComputeSets,
    Needed::Exchanges,
    Needed::Axis,
];

#[derive(Default)]
pub struct Consists {
    by: GroupedBy,
    table: DataTable,
    found: RunsAnswer<(GroupedBy, Moments), Option<Arc<Parts>>>,
}

/// The table: a row for what bytes belong to.
struct Parts {
    moments: usize,
    rows: Vec<(Contributor, String, Vec<Option<i64>>)>,
}

impl Consists {
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, moments: Moments) {
        let runs = page.runs;
        if !runs.is_settled(NEEDS) {
            unread_ui(ui, "What bytes belong to", runs.is_working());
            return;
        }
        let key = (self.by, moments);
        let (_, for_job) = key.clone();
        let by = self.by;
        let mut wanted = by;
        self.found.ask("what is alive at steps", ui.ctx(), (runs, NEEDS), &key, move |runs, _| {
            Parts::of(runs, &for_job, by).map(Arc::new)
        });
        let mut choice = |ui: &mut egui::Ui| grouped_by_segments_ui(ui, &mut wanted);
        match self.found.last(runs) {
            None => {
                choice(ui);
                ui.weak(self.found.failure().unwrap_or("Looking…"));
            }
            Some((_, None)) => {
                choice(ui);
                let reason = "The report does not name them, or not whole";
                absent_ui(ui, "What the bytes belong to cannot be told", reason);
            }
            Some(((_, moments), Some(parts))) => {
                let columns = columns(moments);
                let selected: Vec<&str> = page.selection.variables().collect();
                let is_selected = |row: usize| match parts.rows.get(row) {
                    Some((Contributor::Variable(name), ..)) => selected.contains(&&**name),
                    _ => false,
                };
                let data = Data {
                    note: &moments
                        .with_note("always live and not; they add up to what the curve says"),
                    is_selected: &is_selected,
                    ..Data::of("what is alive", &columns, Arc::clone(parts) as Arc<dyn Rows>)
                };
                let click = self.table.ui_with(ui, &data, page.commands, Some(&mut choice), None);
                let clicked = click.and_then(|click| Some((parts.rows.get(click.row)?, click)));
                match clicked {
                    Some(((Contributor::Variable(name), ..), click)) => {
                        page.selection.toggle_variable(name.clone(), click.is_added);
                    }
                    Some(((Contributor::Operation(name), ..), _)) => {
                        page.selection.operation = Some(name.clone());
                    }
                    _ => {}
                }
            }
        }
        self.by = wanted;
    }
}

/// A column for each moment, and beside each but the first what is more or less there.
fn columns(moments: &Moments) -> Vec<Column> {
    let mut columns = vec![Column::rest("Part")];
    for (place, column) in moments.columns().iter().enumerate() {
        let bytes = Column::bytes(column.title.clone(), 110.0);
        columns.push(bytes.of_run(column.badge, ""));
        if place > 0 {
            let change = Column::bytes(format!("{}, change", column.title), 118.0);
            columns.push(change.of_run(column.badge, "Δ"));
        }
    }
    columns
}

impl Parts {
    fn of(runs: &Runs, moments: &Moments, by: GroupedBy) -> Option<Self> {
        let explained = |at: &StepOfRun| -> Option<Option<Explanation>> {
            // Before its first step nothing is alive.
            let Some(step) = at.step else { return Some(None) };
            let curve = &moments.timelines.run(at.run)?.timeline.curve;
            let alive = Moment::alive(curve, moments.timelines.scope, step)?;
            Some(Some(consists_of(&runs.get(at.run)?.derived, alive)))
        };
        let found = moments.list.iter().map(explained).collect::<Option<Vec<_>>>()?;
        let rows = rows_of_moments(&found, by)?;
        let titled = |(part, bytes): (Contributor, _)| {
            let title = part.title();
            (part, title, bytes)
        };
        Some(Self { moments: found.len(), rows: rows.into_iter().map(titled).collect() })
    }
}

impl Rows for Parts {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some((_, title, bytes)) = self.rows.get(row) else { return Value::Nothing };
        let Some(column) = column.checked_sub(1) else { return Value::text(&**title) };
        let at = |moment: usize| bytes.get(moment).copied().flatten();
        // Beside the first, bytes and change take turns.
        match column.div_ceil(2) {
            moment if moment >= self.moments => Value::Nothing,
            moment if column == 0 || column % 2 == 1 => at(moment).map_or(Value::Nothing, signed),
            moment => Value::Change(at(moment).unwrap_or(0).saturating_sub(at(0).unwrap_or(0))),
        }
    }

    fn name(&self, row: usize) -> Option<String> {
        self.rows.get(row).map(|(_, title, _)| title.clone())
    }
}

/// What several share is taken off, so some is below 0.
fn signed(bytes: i64) -> Value<'static> {
    u64::try_from(bytes).map_or(Value::Change(bytes), Value::Bytes)
}
