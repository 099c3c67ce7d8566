//! The inspector: the block under the pointer or the chosen one, with its life and its stack; else the chosen step, with
//! what is free after it.

use eframe::egui;

use super::super::limit_around_ui;
use super::picture::PointedBlock;
use super::{ArenasMap, CATEGORY, ShownMap, free_word};
use crate::analysis::liveness::Scope;
use crate::analysis::memory::category_title;
use crate::run::Cell;
use crate::run::arena_map::{ArenaMap, ArenaMoment, CellKind, MapLegend};
use crate::store::Report;
use crate::text::{capitalised, grouped, shortened};
use crate::ui::command::{Command, Page};
use crate::ui::report::PageContext;
use crate::ui::report::allocations::stack::stack_ui;
use crate::ui::report::category_colors::category_color;
use crate::ui::report::moment::step_id;
use crate::ui::report::variable_details::{ShownDetails, WantedVariable};
use crate::ui::runs::{Run, StepAt};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::inspector::{exact_fact_ui, fact_ui, part_ui, section_ui, title_ui};

impl ArenasMap {
    pub(super) fn inspect_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        run: &Run,
        shown: &ShownMap,
    ) {
        let (map, step, moment) = (&*shown.map, shown.step, shown.moment());
        let system = &run.report.system;
        // The pointer may be in the map of another run.
        let (pointed, chosen) =
            self.runs.get(&run.id).map_or((None, None), |of| (of.pointed, of.block));
        let under = pointed.and_then(|pointed| pointed.block);
        match (under, pointed, chosen) {
            (Some(block), ..) => {
                let kind = format!("{} under the pointer", system.item);
                block_ui(ui, (run, map), block, &kind, &mut self.details);
            }
            (None, Some(pointed), _) if pointed.kind == CellKind::Free => {
                free_ui(ui, &run.report, map, &pointed);
            }
            (None, _, Some(block)) => {
                let kind = format!("Chosen {}", system.item_in_text);
                block_ui(ui, (run, map), block, &kind, &mut self.details);
            }
            _ => {
                let title = format!("{} {}", system.step, step_id(&run.report, step));
                let said = run.derived.answers().step_said(&run.derived, map.scope(), step);
                let units = Units::now(ui);
                // Without bytes it may be a name, which is shown as it is.
                let did = said.map_or_else(String::new, |said| match said.bytes {
                    Some(bytes) => {
                        capitalised(&format!("{} of {}", said.title, units.bytes(bytes)))
                    }
                    None => said.title,
                });
                let is_chosen = page.selection.step_of(run.id).is_some();
                let failed = moment.is_some_and(|moment| moment.failed.is_some());
                let word = system.step_in_text;
                let kind = match (is_chosen, failed) {
                    (true, _) => format!("Selected {word}"),
                    (false, true) => {
                        format!("Request that failed; click the map to select another {word}")
                    }
                    (false, false) => format!("Highest {word}; click the map to select one"),
                };
                title_ui(ui, &kind, &title, &did);
            }
        }
        let Some(moment) = moment else { return };
        moment_ui(ui, run, (map.scope(), map.legend()), moment);
        ui.add_space(8.0);
        if ui.button(format!("Liveness at this {}", system.step_in_text)).clicked() {
            page.selection.steps = vec![StepAt { run: run.id, step }];
            page.commands.push(Command::Go(Page::Liveness));
        }
    }
}

/// A block with its life and its stack.
fn block_ui(
    ui: &mut egui::Ui,
    (run, map): (&Run, &dyn ArenaMap),
    block: usize,
    kind: &str,
    details: &mut ShownDetails,
) {
    let Some(said) = map.said(block) else { return };
    title_ui(ui, kind, &Units::now(ui).bytes(said.bytes), &said.title);
    for (name, cell) in &said.facts {
        match cell {
            Cell::Bytes(bytes) => exact_fact_ui(ui, name, *bytes),
            Cell::Count(count) => fact_ui(ui, name, &grouped(*count)),
            Cell::Text(text) => fact_ui(ui, name, text),
            Cell::Empty => {}
        }
    }
    if let Some(variable) = said.variable {
        details.ui(ui, run, WantedVariable::Numbered(variable));
    }
    if !said.rule.is_empty() {
        ui.weak(said.rule);
    }
    if said.is_from_code {
        section_ui(ui, "Allocated by");
        stack_ui(ui, &said.stack);
    }
}

/// What is reserved and not in use under the pointer.
fn free_ui(ui: &mut egui::Ui, report: &Report, map: &dyn ArenaMap, pointed: &PointedBlock) {
    let system = &report.system;
    let title = format!("{} {}", system.step, step_id(report, pointed.step));
    title_ui(ui, "Under the pointer", &title, free_word(map.legend()));
    let arena = pointed.arena.and_then(|at| map.axis().arenas.get(at));
    if let Some(arena) = arena {
        fact_ui(ui, system.arena, &arena.number.to_string());
        exact_fact_ui(ui, "Size", arena.bytes);
    }
    if let Some(address) = pointed.address {
        fact_ui(ui, "Address", &format!("{address:#x}"));
    }
}

/// What is reserved, used and free after the chosen step.
fn moment_ui(
    ui: &mut egui::Ui,
    run: &Run,
    (around, legend): (Scope, &MapLegend),
    moment: &ArenaMoment,
) {
    let (units, tokens, system) = (Units::now(ui), *Tokens::now(ui), &run.report.system);
    let whole = &moment.at.whole;
    let step = step_id(&run.report, moment.step);
    section_ui(ui, &format!("After {} {step}", system.step_in_text));
    if let Some(asked) = moment.failed {
        exact_fact_ui(ui, "Asked, and not given", asked);
    }
    exact_fact_ui(ui, if legend.is_reserved { "Reserved" } else { "Memory" }, whole.reserved);
    exact_fact_ui(ui, "In use", whole.active);
    exact_fact_ui(ui, &format!("Free in {}", system.arenas), whole.free());
    fact_ui(ui, "Largest free piece", &units.bytes(whole.largest.1));
    fact_ui(ui, "Free pieces", &grouped(whole.pieces));
    fact_ui(ui, &capitalised(system.arenas), &grouped(moment.at.count));
    limit_around_ui(ui, run, around, units);
    section_ui(ui, "In use by kind");
    for (category, bytes) in &moment.by_category {
        let bar = [(*bytes, category_color(category, &tokens))];
        let bar = Bar { parts: &bar, whole: whole.active, limit: None };
        part_ui(ui, &shortened(&category_title(category), CATEGORY), &units.bytes(*bytes), &bar);
    }
}
