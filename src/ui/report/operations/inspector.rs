//! The inspector of the chosen operation: its figures, its planner values, the steps at which it runs, and all that its
//! debug contexts say.

use eframe::egui::{self, RichText};

use super::found::OperationsOfRuns;
use crate::analysis::operations::{OperationFigure, OperationRow};
use crate::analysis::program::debug_tree::{DebugTree, debug_tree};
use crate::analysis::program::operations::PROPORTION;
use crate::store::System;
use crate::text::{grouped, shortened, size_or_less};
use crate::ui::command::{Command, Page};
use crate::ui::job::Latest;
use crate::ui::report::PageContext;
use crate::ui::report::debug_tree::debug_tree_ui;
use crate::ui::report::moment::step_id;
use crate::ui::report::run_part::RunPart;
use crate::ui::report::{more_ui, run_title_ui};
use crate::ui::runs::{Run, RunId, StepAt};
use crate::ui::theme::fonts::size;
use crate::ui::units::Units;
use crate::ui::widget::inspector::{fact_ui, section_ui, title_ui};

/// Steps that have a link.
const MOST_STEPS: usize = 16;
/// What stands above the operation that is shown before one is chosen.
const MOST_AT_THE_PEAK: &str = "Most at the peak; click a row to choose another";
/// Longest text of a value.
const VALUE: usize = 400;

/// A tree, or why there is none.
type ReadTree = Result<Option<DebugTree>, String>;

#[derive(Default)]
pub struct Inspector {
    tree: Latest<(RunId, u32), ReadTree>,
}

impl Inspector {
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        found: &OperationsOfRuns,
        chosen: Option<usize>,
    ) {
        let kind = if chosen.is_some() { "Operation" } else { MOST_AT_THE_PEAK };
        let Some(row) = chosen.or(found.first) else {
            title_ui(ui, "Operation", "None chosen", "");
            ui.weak("Click a row or a point to see its details");
            return;
        };
        let runs = page.runs;
        let of_run = |(place, run)| Some((run, found.operation(row, place)?));
        let of_runs: Vec<(&Run, &OperationRow)> =
            runs.iter().enumerate().filter_map(of_run).collect();
        let Some((first_run, first)) = of_runs.first() else { return };
        let operation = &first.operation;
        let name = operation.name_or_none();
        let of =
            format!("{} of {}", operation.title(), first_run.report.layer_title(&operation.layer));
        title_ui(ui, kind, &shortened(name, VALUE), &shortened(&of, VALUE));
        for (run, row) in &of_runs {
            if !runs.is_one() {
                ui.add_space(6.0);
                run_title_ui(ui, run);
            }
            figures_ui(ui, row, &run.report.system);
            let (selection, commands) = (&mut *page.selection, &mut *page.commands);
            steps_ui(ui, &mut RunPart { run, selection, commands }, row);
        }
        self.debug_ui(ui, first_run, first);
    }

    /// Contexts of the first run that has the operation.
    fn debug_ui(&mut self, ui: &mut egui::Ui, run: &Run, row: &OperationRow) {
        section_ui(ui, "Debug information");
        let Some(context) = row.context else {
            let items = run.report.system.items;
            ui.weak(format!("No program belongs to it: only {items} name it"));
            return;
        };
        let (key, report) = ((run.id, context), std::sync::Arc::clone(&run.report));
        self.tree.ask("debug information", ui.ctx(), &key, move |cancel| {
            let tree = debug_tree(&report, context as usize, cancel.progress());
            tree.map_err(|error| error.to_string())
        });
        match (self.tree.get(&key), self.tree.failure()) {
            (Some(Ok(Some(tree))), _) => debug_tree_ui(ui, tree),
            (Some(Ok(None)), _) => {
                ui.weak("The file of the debug information can no longer be read");
            }
            (Some(Err(why)), _) => drop(ui.label(shortened(why, VALUE).into_owned())),
            (None, failure) => drop(ui.weak(failure.unwrap_or("Being read"))),
        }
    }
}

fn figures_ui(ui: &mut egui::Ui, row: &OperationRow, system: &System) {
    let units = Units::now(ui);
    for figure in OperationFigure::ALL {
        let Some(number) = row.figures.get(figure) else { continue };
        let shown = |number: u64| {
            if figure.is_bytes() { units.bytes(number) } else { grouped(number) }
        };
        fact_ui(ui, &figure.title_in(system), &size_or_less(number, shown));
    }
    let operation = &row.operation;
    let proportion = operation.available_memory_proportion.map(|value| value.to_string());
    let detail = operation.detail.clone().filter(|_| operation.detail != operation.kind);
    let facts = [
        (PROPORTION, proportion),
        ("partialsType", row.partials_type.clone()),
        ("Innermost call", detail),
        ("Line of code", operation.location.clone()),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            fact_ui(ui, name, &shortened(&value, VALUE));
        }
    }
}

/// The steps at which it runs; a click selects one in Liveness.
fn steps_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, row: &OperationRow) {
    let mut shown = None;
    if let Some(worst) = row.worst_step {
        let most = format!("Most is alive at {}", part.run.report.system.step_in_text);
        ui.horizontal(|ui| {
            ui.label(RichText::new(most).size(size::TABLE).weak());
            let hover = "Click to select it in Liveness";
            let id = step_id(&part.run.report, worst as usize);
            if ui.link(id).on_hover_text(hover).clicked() {
                shown = Some(worst);
            }
        });
    }
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Runs at").size(size::TABLE).weak());
        for step in row.steps.iter().take(MOST_STEPS) {
            let id = step_id(&part.run.report, *step as usize);
            if ui.link(id).on_hover_text("Click to select it in Liveness").clicked() {
                shown = Some(*step);
            }
        }
        if row.steps.is_empty() {
            ui.weak("no step of its own");
        }
        more_ui(ui, row.steps.len(), MOST_STEPS);
    });
    if let Some(first) = row.steps.first().map(|step| *step as usize)
        && ui.link("Its programs in the tree").clicked()
    {
        part.selection.steps = vec![StepAt { run: part.run.id, step: first }];
        part.commands.push(Command::Go(Page::Programs));
    }
    if let Some(step) = shown {
        part.show_step(step as usize);
    }
}
