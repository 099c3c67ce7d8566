//! How long everything lives that is alive at a place: a table for each report, side by side, over the
//! axis that both share.

use eframe::egui;
use std::sync::Arc;

use super::Both;
use super::derived::PairDerived;
use super::places::{Places, step_id};
use crate::analysis::liveness::Scope;
use crate::ui::comparison::{Side, slot_of};
use crate::ui::job::Latest;
use crate::ui::report::halves::{report_name, side_title_ui};
use crate::ui::report::liveness::lifetimes::{LifeAxis, LifetimeRows};
use crate::ui::report::liveness::tables::{toggle, waiting_ui};
use crate::ui::report::{PageContext, missing_ui};
use crate::ui::theme::Tokens;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::rows::Rows;

/// Between the tables, points.
const GAP: f32 = 20.0;

/// The tables of source and target.
#[derive(Debug, Default)]
pub struct PairLifetimes([OfSide; 2]);

/// The table of a report.
#[derive(Default)]
struct OfSide {
    table: DataTable,
    made: Latest<(Places, u64), Option<Arc<LifetimeRows>>>,
}

impl std::fmt::Debug for OfSide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OfSide").field("table", &self.table).finish_non_exhaustive()
    }
}

impl PairLifetimes {
    /// Draws both tables; `range` is what the picture shows of the axis.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        both: &Both<'_>,
        derived: &PairDerived,
        places: Places,
        range: (f64, f64),
    ) {
        ui.spacing_mut().item_spacing.x = GAP;
        ui.columns(2, |columns| {
            for ((ui, side), tables) in columns.iter_mut().zip(Side::BOTH).zip(&mut self.0) {
                ui.spacing_mut().item_spacing.x = 8.0;
                side_title_ui(ui, side, &report_name(both.report(side)));
                tables.ui(ui, page, (both, derived), (side, places), range);
            }
        });
    }
}

impl OfSide {
    fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        (both, derived): (&Both<'_>, &PairDerived),
        (side, places): (Side, Places),
        range: (f64, f64),
    ) {
        let report = both.report(side);
        let (Some(step), Some(of_side)) = (places.step(side), derived.side(side)) else {
            ui.weak("Nothing is alive before the first step");
            return;
        };
        // On the worst tile of a step its variables have places.
        let scope = of_side.derived.worst_tile_at(step).map_or(derived.scope, Scope::Tile);
        let for_job = Arc::clone(report);
        self.made.ask("lifetimes", ui.ctx(), &(places, derived.version), move |_| {
            LifetimeRows::new(&for_job, scope, step).map(Arc::new)
        });
        let Some(((places, _), rows)) = self.made.last() else {
            waiting_ui(ui, &self.made);
            return;
        };
        let Some(lives) = rows else {
            missing_ui(ui, "Lifetimes", report.variables.absence());
            return;
        };
        let Some(step) = places.step(side) else { return };
        let slot = |step: usize| slot_of(&derived.axis, side, step);
        let place = |step: u32| slot(step as usize).unwrap_or(derived.axis.len()) as f64;
        let at = places.slot.or_else(|| slot(step)).unwrap_or(0);
        let axis = LifeAxis { range, at, place: &place };
        let rows: Arc<dyn Rows> = Arc::clone(lives) as Arc<dyn Rows>;
        let (selected, tokens) = (page.selection.variable.clone(), *Tokens::now(ui));
        let data = Data {
            name: match side {
                Side::Source => "lifetimes in the source",
                Side::Target => "lifetimes in the target",
            },
            title: "",
            note: &format!("alive at step {}", step_id(report, step)),
            columns: &lives.columns(),
            rows: &rows,
            is_selected: &|row| selected.is_some() && lives.name(row) == selected.as_deref(),
            paint: &|painter, rect, row| lives.paint(painter, rect, row, &axis, &tokens),
        };
        if let Some(click) = self.table.ui(ui, &data, page.commands) {
            toggle(&mut page.selection.variable, lives.name(click.row));
        }
    }
}
