//! What the peak consists of, by category, operation, module or variable.

use eframe::egui;
use std::sync::Arc;

use super::{RunPart, card_ui, settled};
use crate::analysis::comparison::contribution::Contributor;
use crate::analysis::comparison::explanation::Explanation;
use crate::analysis::figures::difference::Side;
use crate::analysis::insights::Insights;
use crate::analysis::insights::consists::{consists_of_peak, rows_of_one};
use crate::analysis::liveness::scope_title;
use crate::text::{shortened, signed};
use crate::ui::job::Latest;
use crate::ui::runs::{Needed, Needs};
use crate::ui::units::Units;

/// What it is divided by.
const NEEDS: Needs =
    &[Needed::Liveness, Needed::Debug, Needed::TileVariables, Needed::Exchanges, Needed::Variables];
/// Rows that are shown.
const MOST_ROWS: usize = 12;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum By {
    #[default]
    Category,
    Operation,
    Module,
    Variable,
}

#[derive(Default)]
pub struct Consists {
    by: By,
    found: Latest<Vec<bool>, Option<Explanation>>,
}

impl Consists {
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut RunPart<'_>, insights: &Insights) {
        let key = settled(page.report(), NEEDS);
        let is_final = key.iter().all(|settled| *settled);
        let (derived, verdict) = (Arc::clone(&page.run.derived), insights.verdict.clone());
        self.found.ask("what the peak consists of", ui.ctx(), &key, move |cancel| {
            let is_wanted = is_final.then_some(());
            is_wanted.and_then(|()| {
                consists_of_peak(&derived, verdict.as_ref(), &|| cancel.is_cancelled())
            })
        });
        let Some((of, found)) = self.found.last() else { return };
        let is_known = of.iter().all(|settled| *settled);
        card_ui(ui, "What the peak consists of", |ui| match found {
            Some(found) => parts_ui(ui, page, found, &mut self.by),
            None if is_known => {
                ui.weak("The report does not have the tables that say so");
            }
            None => {
                ui.weak("It comes when variables, operations and exchanges are read");
            }
        });
    }
}

fn parts_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, found: &Explanation, by: &mut By) {
    let units = Units::now(ui);
    let moment = Side::Source.of(found.moments);
    let step = page.report().steps.get().and_then(|steps| steps.ids.get(moment.step));
    let whole = Side::Source.of(found.whole.0).sum();
    let size = |bytes: i64| match u64::try_from(bytes) {
        Ok(bytes) => units.bytes(bytes),
        Err(_) => signed(bytes, crate::text::bytes),
    };
    ui.horizontal_wrapped(|ui| {
        let of = scope_title(page.report(), moment.scope);
        let step = step.map_or_else(String::new, |step| format!(" at step {step}"));
        ui.weak(format!("{} of {of}{step}, by", size(whole)));
        for (value, title) in [
            (By::Category, "category"),
            (By::Operation, "operation"),
            (By::Module, "module"),
            (By::Variable, "variable"),
        ] {
            ui.selectable_value(by, value, title);
        }
    });
    let owners = found.by_owner.as_ref();
    let grouping = match by {
        By::Category => found.by_category.as_ref(),
        By::Operation => owners.and_then(|owners| owners.operations.as_ref()),
        By::Module => owners.and_then(|owners| owners.modules.as_ref()),
        By::Variable => owners.map(|owners| &owners.variables),
    };
    let Some(grouping) = grouping else {
        ui.weak("The report does not name them, or not whole");
        return;
    };
    let rows = rows_of_one(grouping);
    egui::Grid::new("what the peak consists of").num_columns(3).spacing([12.0, 2.0]).show(
        ui,
        |ui| {
            for (row, bytes) in rows.iter().take(MOST_ROWS) {
                ui.label(size(*bytes));
                ui.weak(format!("{:.1} %", *bytes as f64 * 100.0 / whole.max(1) as f64));
                let title = row.contributor.title();
                match &row.contributor {
                    Contributor::Variable(name) => {
                        if ui.link(shortened(&title, 56)).clicked() {
                            page.show_variable(name);
                        }
                    }
                    Contributor::Operation(name) => {
                        if ui.link(shortened(&title, 56)).clicked() {
                            page.selection.operation = Some(name.clone());
                            page.show_step(moment.step);
                        }
                    }
                    _ => {
                        ui.label(shortened(&title, 56));
                    }
                }
                ui.end_row();
            }
        },
    );
    if let Some(more @ 1..) = rows.len().checked_sub(MOST_ROWS) {
        let rest: i64 = rows.iter().skip(MOST_ROWS).map(|(_, bytes)| *bytes).sum();
        ui.weak(format!("and {more} more, {} together", size(rest)));
    }
}
