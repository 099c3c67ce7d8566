//! Below the map: its gaps, what gaps take by reason and why tiles are over the limit, its variables.

use eframe::egui;
use std::ops::Range;
use std::sync::Arc;

use super::read::{AtStep, TileData};
use super::reasons::Reasons;
use super::words::{category, life, reason_text, reason_title};
use crate::analysis::placement::gaps::Gap;
use crate::store::Report;
use crate::ui::report::PageContext;
use crate::ui::theme::Tokens;
use crate::ui::widget::data_table::{Data, DataTable, no_paint};
use crate::ui::widget::rows::{Column, Rows, Value};

/// Width of a column of bytes or addresses, points.
const BYTES: f32 = 84.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    #[default]
    Gaps,
    Reasons,
    Variables,
}

/// What a row stands for.
#[derive(Clone, Debug)]
pub enum Chosen {
    /// Bytes that are free.
    Gap(Range<u64>),
    /// The variable of a row.
    Variable(u32),
}

/// The tables.
#[derive(Default)]
pub struct Tables {
    tab: Tab,
    gaps: DataTable,
    gap_rows: Option<GapTable>,
    reasons: Reasons,
    variables: DataTable,
    variable_rows: Option<(u64, Arc<dyn Rows>)>,
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").field("tab", &self.tab).finish_non_exhaustive()
    }
}

impl Tables {
    /// Draws the tabs and one of the tables; returns what was chosen there.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        data: &Arc<TileData>,
        at_step: Option<&Arc<AtStep>>,
        chosen: Option<u32>,
    ) -> Option<Chosen> {
        let mut tab = self.tab;
        let mut tabs = |ui: &mut egui::Ui| tabs_ui(ui, &mut tab);
        let found = match self.tab {
            Tab::Gaps => self.gaps_ui(ui, page, data, at_step, &mut tabs),
            Tab::Reasons => {
                self.reasons.ui(ui, page, data, &mut tabs);
                None
            }
            Tab::Variables => self.variables_ui(ui, page, data, chosen, &mut tabs),
        };
        if tab != self.tab {
            self.tab = tab;
            ui.request_repaint();
        }
        found
    }

    fn gaps_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        data: &Arc<TileData>,
        at_step: Option<&Arc<AtStep>>,
        tabs: &mut dyn FnMut(&mut egui::Ui),
    ) -> Option<Chosen> {
        let place = at_step.map_or(0, |at_step| Arc::as_ptr(at_step).addr());
        let made_for = (data.version, place);
        if self.gap_rows.as_ref().is_none_or(|made| made.made_for != made_for) {
            let rows = GapRows { data: Arc::clone(data), at_step: at_step.cloned() };
            let rows = Arc::new(rows);
            let table: Arc<dyn Rows> = Arc::<GapRows>::clone(&rows);
            self.gap_rows = Some(GapTable { made_for, gaps: rows, rows: table });
        }
        let GapTable { gaps, rows, .. } = self.gap_rows.as_ref()?;
        let columns = [
            Column::text("Address", BYTES),
            Column::bytes("Bytes", BYTES),
            Column::text("Reason", 150.0),
            Column::text("Variable after it", 170.0),
            Column::text("Variable before it", 170.0),
            Column::rest("Why"),
        ];
        let note = if data.is_complete { "" } else { "alignments and constraints are not known" };
        let table = Data {
            name: "Gaps of the tile",
            title: "",
            note,
            columns: &columns,
            rows,
            is_selected: &|_| false,
            paint: &no_paint,
        };
        let click = self.gaps.ui_beside(ui, &table, page.commands, Some(tabs))?;
        gaps.gaps().get(click.row).map(|gap| Chosen::Gap(gap.bytes.clone()))
    }

    fn variables_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        data: &Arc<TileData>,
        chosen: Option<u32>,
        tabs: &mut dyn FnMut(&mut egui::Ui),
    ) -> Option<Chosen> {
        if self.variable_rows.as_ref().is_none_or(|(version, _)| *version != data.version) {
            let (data, report) = (Arc::clone(data), Arc::clone(page.report));
            let version = data.version;
            self.variable_rows = Some((version, Arc::new(VariableRows { data, report })));
        }
        let (_, rows) = self.variable_rows.as_ref()?;
        let mut columns = vec![
            Column::rest("Variable"),
            Column::text("Address", BYTES),
            Column::bytes("Bytes", BYTES),
            Column::text("Category", 150.0),
            Column::text("Live", 190.0),
        ];
        if data.is_complete {
            columns.push(Column::count("Alignment", 76.0).not_summed());
        }
        let row_of = |row: usize| data.map.blocks.get(row).map(|block| block.row);
        let table = Data {
            name: "Variables of the tile",
            title: "",
            note: "over all steps",
            columns: &columns,
            rows,
            is_selected: &|row| chosen.is_some() && row_of(row) == chosen,
            paint: &no_paint,
        };
        let click = self.variables.ui_beside(ui, &table, page.commands, Some(tabs))?;
        row_of(click.row).map(Chosen::Variable)
    }
}

fn tabs_ui(ui: &mut egui::Ui, now: &mut Tab) {
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (tab, title) in
            [(Tab::Gaps, "Gaps"), (Tab::Reasons, "By reason"), (Tab::Variables, "Variables")]
        {
            let entry = ui.selectable_value(now, tab, title);
            if *now == tab {
                let stroke = egui::Stroke::new(2.0, Tokens::now(ui).accent);
                let line = entry.rect.x_range().shrink(4.0);
                ui.painter().hline(line, entry.rect.bottom(), stroke);
            }
        }
    });
    ui.add_space(8.0);
}

/// The gaps of a tile as they were at a step, by the tile's version and the step's place in memory.
struct GapTable {
    made_for: (u64, usize),
    gaps: Arc<GapRows>,
    /// The same.
    rows: Arc<dyn Rows>,
}

/// Gaps as the table sees them.
struct GapRows {
    data: Arc<TileData>,
    at_step: Option<Arc<AtStep>>,
}

impl GapRows {
    fn gaps(&self) -> &[Gap] {
        self.at_step.as_ref().map_or(&self.data.map.gaps, |at_step| &at_step.map.gaps)
    }

    fn name(&self, row: Option<usize>) -> Value<'_> {
        let name = row.and_then(|row| self.data.variables.names.at(row));
        name.map_or(Value::Nothing, Value::text)
    }
}

impl Rows for GapRows {
    fn len(&self) -> usize {
        self.gaps().len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(gap) = self.gaps().get(row) else { return Value::Nothing };
        match column {
            0 => Value::Id(gap.bytes.start),
            1 => Value::Bytes(gap.size()),
            2 => Value::text(reason_title(gap.reason)),
            3 => self.name(gap.after),
            4 => self.name(gap.before),
            _ => Value::text(reason_text(&self.data, gap)),
        }
    }
}

/// The variables that have a place, by address, as the table sees them.
struct VariableRows {
    data: Arc<TileData>,
    report: Arc<Report>,
}

impl Rows for VariableRows {
    fn len(&self) -> usize {
        self.data.map.blocks.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        let Some(block) = self.data.map.blocks.get(row) else { return Value::Nothing };
        let variable = self.data.variables.placements.get(block.row as usize);
        let Some(variable) = variable else { return Value::Nothing };
        match column {
            0 => Value::text(self.data.name(block.row)),
            1 => Value::Id(variable.offset),
            2 => Value::Bytes(variable.bytes),
            3 => Value::text(category(&self.report, variable)),
            4 => Value::text(life(&self.report, variable)),
            _ => Value::Count(variable.alignment),
        }
    }
}
