//! What is known of the chosen operation: its figures, its planner values, the steps at which it runs, and all that
//! its debug contexts say.

use eframe::egui::{self, CollapsingHeader, RichText};

use super::found::Found;
use crate::analysis::operations::{Figure, OperationRow};
use crate::analysis::program::debug_tree::{DebugTree, Node, debug_tree};
use crate::analysis::program::layers::layer_title;
use crate::analysis::program::operations::PROPORTION;
use crate::text::{clean, grouped, shortened, size_or_less};
use crate::ui::job::Latest;
use crate::ui::report::PageContext;
use crate::ui::report::moment::step_id;
use crate::ui::report::run_part::RunPart;
use crate::ui::report::run_title_ui;
use crate::ui::runs::{Run, RunId};
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::inspector::{fact_ui, long_fact_ui, title_ui, words_ui};

/// Steps that have a link.
const MOST_STEPS: usize = 16;
/// Longest text of a value.
const VALUE: usize = 400;
/// Longest title of a context.
const TITLE: usize = 34;
/// Characters of a key and its value that fit beside each other, and what each indentation takes of them.
const ONE_LINE: usize = 36;
const INDENT: usize = 4;

/// A tree, or why there is none.
type Read = Result<Option<DebugTree>, String>;

#[derive(Default)]
pub struct Inspector {
    tree: Latest<(RunId, u32), Read>,
}

impl Inspector {
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        found: &Found,
        chosen: Option<usize>,
    ) {
        let Some(row) = chosen else {
            title_ui(ui, "Operation", "None chosen", "");
            ui.weak("A click on a row or a point shows what is known of it");
            return;
        };
        let runs = page.runs;
        let of_runs: Vec<(&Run, &OperationRow)> = runs
            .iter()
            .enumerate()
            .filter_map(|(place, run)| Some((run, found.operation(row, place)?)))
            .collect();
        let Some((first_run, first)) = of_runs.first() else { return };
        let operation = &first.operation;
        let name = operation.name.as_deref().unwrap_or("without a name");
        let of = format!("{} of {}", operation.title(), layer_title(&operation.layer));
        title_ui(ui, "Operation", &shortened(name, VALUE), &shortened(&of, VALUE));
        for (run, row) in &of_runs {
            if !runs.is_one() {
                ui.add_space(6.0);
                run_title_ui(ui, run);
            }
            figures_ui(ui, row);
            let (selection, commands) = (&mut *page.selection, &mut *page.commands);
            steps_ui(ui, &mut RunPart { run, selection, commands }, row);
        }
        self.debug_ui(ui, first_run, first);
    }

    /// Contexts of the first run that has the operation.
    fn debug_ui(&mut self, ui: &mut egui::Ui, run: &Run, row: &OperationRow) {
        section_ui(ui, "Debug information");
        let Some(context) = row.context else {
            ui.weak("No program belongs to it: only variables name it");
            return;
        };
        let (key, report) = ((run.id, context), std::sync::Arc::clone(&run.report));
        self.tree.ask("debug information", ui.ctx(), &key, move |cancel| {
            let tree = debug_tree(&report, context as usize, cancel.progress());
            tree.map_err(|error| error.to_string())
        });
        match (self.tree.get(&key), self.tree.failure()) {
            (Some(Ok(Some(tree))), _) => tree_ui(ui, tree),
            (Some(Ok(None)), _) => {
                ui.weak("The file of the debug information cannot be read any more");
            }
            (Some(Err(why)), _) => {
                ui.label(shortened(why, VALUE).into_owned());
            }
            (None, Some(failure)) => {
                ui.weak(failure);
            }
            (None, None) => {
                ui.weak("Being read");
            }
        }
    }
}

fn section_ui(ui: &mut egui::Ui, title: &str) {
    ui.add_space(6.0);
    ui.separator();
    ui.label(fonts::card_title(title));
}

fn figures_ui(ui: &mut egui::Ui, row: &OperationRow) {
    let units = Units::now(ui);
    for figure in Figure::ALL {
        let Some(number) = row.figures.get(figure) else { continue };
        let shown = |number: u64| {
            if figure.is_bytes() { units.bytes(number) } else { grouped(number) }
        };
        fact_ui(ui, figure.title(), &size_or_less(number, shown));
    }
    let operation = &row.operation;
    let proportion = operation.available_memory_proportion.map(|value| value.to_string());
    let detail = operation.detail.clone().filter(|_| operation.detail != operation.kind);
    let facts = [
        (PROPORTION, proportion),
        ("partialsType", row.partials_type.clone()),
        ("Innermost call", detail),
        ("Source", operation.location.clone()),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            long_fact_ui(ui, name, &shortened(&value, VALUE));
        }
    }
}

/// The steps at which it runs; a click selects one in Liveness.
fn steps_ui(ui: &mut egui::Ui, part: &mut RunPart<'_>, row: &OperationRow) {
    let mut shown = None;
    if let Some(worst) = row.worst_step {
        ui.horizontal(|ui| {
            ui.label(RichText::new("Most is alive at step").size(size::TABLE).weak());
            let hover = "A click selects it in Liveness";
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
            if ui.link(id).on_hover_text("A click selects it in Liveness").clicked() {
                shown = Some(*step);
            }
        }
        if row.steps.is_empty() {
            ui.weak("no step");
        }
        if row.steps.len() > MOST_STEPS {
            ui.weak(format!("and {} more", grouped((row.steps.len() - MOST_STEPS) as u64)));
        }
    });
    if let Some(step) = shown {
        part.show_step(step as usize);
    }
}

/// All contexts, the framework's first.
fn tree_ui(ui: &mut egui::Ui, tree: &DebugTree) {
    for (level, node) in tree.contexts.iter().enumerate() {
        // A title is not cut by itself: one that is too long would widen the page.
        let (kind, name) = node.value.split_once(" · ").unwrap_or((&node.value, ""));
        let whole = format!("{}  {}", clean(&node.key), clean(kind));
        let title = RichText::new(shortened(&whole, TITLE)).font(fonts::medium(size::TABLE));
        let header = CollapsingHeader::new(title).id_salt(("context", level));
        // Poplar's own say little.
        let header = header.default_open(node.key != layer_title("poplar"));
        let shown = header.show(ui, |ui| {
            if !name.is_empty() {
                value_ui(ui, "name", name, 1);
            }
            node.children.iter().for_each(|child| node_ui(ui, child, 1));
        });
        shown.header_response.on_hover_text(shortened(&node.value, VALUE));
    }
    if tree.is_cut {
        ui.weak("The file says more than is shown");
    }
}

fn node_ui(ui: &mut egui::Ui, node: &Node, level: usize) {
    if !node.children.is_empty() {
        ui.label(RichText::new(shortened(&node.key, TITLE)).size(size::TABLE).weak());
        ui.indent(&node.key, |ui| {
            node.children.iter().for_each(|child| node_ui(ui, child, level.saturating_add(1)));
        });
        return;
    }
    value_ui(ui, &node.key, &node.value, level);
}

fn value_ui(ui: &mut egui::Ui, key: &str, value: &str, level: usize) {
    let (key, value) = (shortened(key, VALUE), shortened(value, VALUE));
    let room = ONE_LINE.saturating_sub(level.saturating_mul(INDENT));
    if key.chars().count().saturating_add(value.chars().count()) <= room {
        fact_ui(ui, &key, &value);
    } else {
        let name = RichText::new(clean(&key)).size(size::TABLE).weak();
        ui.add(egui::Label::new(name).truncate());
        words_ui(ui, fonts::number(clean(&value)));
    }
}
