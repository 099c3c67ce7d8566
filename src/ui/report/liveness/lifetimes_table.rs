//! The lifetimes of everything alive at a moment: a table for each run, over the common axis.

use eframe::egui;
use std::sync::Arc;

use super::lifetimes::{LifeAxis, LifetimeRows};
use super::lives_of::LivesOf;
use super::tables::ListedPicture;
use super::words::selected_moment;
use crate::analysis::liveness::Scope;
use crate::ui::report::moment::step_id;
use crate::ui::report::{PageContext, run_title_ui};
use crate::ui::runs::{Needed, Needs, Run, RunsAnswer};
use crate::ui::theme::Tokens;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::facts::absent_ui;

/// Between the tables, points.
const GAP: f32 = 20.0;
/// Runs whose tables stand side by side; of more, one is chosen.
const MOST_BESIDE: usize = 2;
pub const OF_LIVES: Needs =
    &[Needed::Liveness, Needed::TileVariables, Needed::Variables, Needed::Axis];

#[derive(Default)]
pub struct LifetimeTables {
    runs: Vec<LifetimeTable>,
}

#[derive(Default)]
struct LifetimeTable {
    table: DataTable,
    rows: RunsAnswer<(usize, Scope, usize), Option<Arc<LifetimeRows>>>,
}

impl LifetimeTables {
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &ListedPicture<'_>,
        lives_of: &mut LivesOf,
    ) {
        let runs = page.runs;
        self.runs.resize_with(runs.len(), LifetimeTable::default);
        if runs.len() > MOST_BESIDE {
            let place = lives_of.place(
                runs,
                subject.timelines,
                &selected_moment(subject.timelines, subject.slots),
            );
            ui.horizontal(|ui| lives_of.ui(ui, "Lifetimes of", runs, place));
            if let Some((run, table)) = runs.get(place).zip(self.runs.get_mut(place)) {
                table.ui(ui, page, subject, run, place);
            }
            return;
        }
        ui.spacing_mut().item_spacing.x = GAP;
        ui.columns(runs.len(), |columns| {
            for (place, (ui, table)) in columns.iter_mut().zip(&mut self.runs).enumerate() {
                ui.spacing_mut().item_spacing.x = 8.0;
                let Some(run) = runs.get(place) else { continue };
                if !runs.is_one() {
                    run_title_ui(ui, run);
                }
                table.ui(ui, page, subject, run, place);
            }
        });
    }
}

impl LifetimeTable {
    fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &ListedPicture<'_>,
        run: &Run,
        place: usize,
    ) {
        let (runs, timelines) = (page.runs, subject.timelines);
        let moment = selected_moment(timelines, subject.slots);
        let (Some(step), Some(curve)) = (moment.step(place), timelines.run(place)) else {
            let word = runs.system().step_in_text;
            ui.weak(format!("Nothing is alive before the first {word} and after the last"));
            return;
        };
        // On the worst tile of a step its variables have places.
        let scope = curve.timeline.worst_arena_at(step).map_or(curve.scope, Scope::Arena);
        let key = (place, scope, step);
        self.rows.ask("lifetimes", ui.ctx(), (runs, OF_LIVES), &key, move |runs, cancel| {
            LifetimeRows::new(&runs.get(place)?.report, scope, step, cancel).map(Arc::new)
        });
        let Some(((_, _, at), rows)) = self.rows.last(runs) else {
            ui.weak(self.rows.failure().unwrap_or("Looking…"));
            return;
        };
        let Some(lives) = rows else {
            let items = runs.system().items;
            let reason = format!("They need the {items} of the run, which cannot be read");
            absent_ui(ui, "Lifetimes are absent", &reason);
            return;
        };
        let axis = &timelines.axis;
        let slot = |step: u32| axis.slot_or_end(place, step as usize) as f64;
        let at_slot = moment.slot.or_else(|| axis.slot(place, *at)).unwrap_or(0);
        let life_axis = LifeAxis { range: subject.range, at: at_slot, place: &slot };
        let (selected, tokens) = (page.selection.variable().cloned(), *Tokens::now(ui));
        let name = match runs.len() {
            1 => "lifetimes".to_owned(),
            _ => format!("lifetimes in {}", run.the()),
        };
        let columns = lives.columns();
        let data = Data {
            note: &format!("alive at {} {}", runs.system().step_in_text, step_id(&run.report, *at)),
            is_selected: &|row| selected.is_some() && lives.name(row) == selected.as_deref(),
            paint: &|painter, rect, row| lives.paint(painter, rect, row, &life_axis, &tokens),
            ..Data::of(&name, &columns, lives.clone())
        };
        let click = self.table.ui(ui, &data, page.commands);
        if let Some(name) = click.and_then(|click| lives.name(click.row)) {
            page.selection.toggle_variable(name.to_owned(), false);
        }
    }
}
