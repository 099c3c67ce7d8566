//! The inspector of the selected program: where it leads, when it runs, its operation with its debug information, and
//! what it uses.

use eframe::egui::{self, RichText};

use super::usage::usage_ui;
use super::words::{UNKNOWN_KIND, kind_words, name_words, title_words};
use crate::analysis::program::compiled_programs::CompiledPrograms;
use crate::analysis::program::debug_tree::DebugTree;
use crate::analysis::program::operations::{Operation, PROPORTION};
use crate::analysis::program_details::{ProgramDetails, program_details};
use crate::analysis::program_links::ProgramLinks;
use crate::store::Report;
use crate::text::{clean, counted, grouped, shortened};
use crate::ui::job::Cancel;
use crate::ui::report::debug_tree::debug_tree_ui;
use crate::ui::report::moment::step_id;
use crate::ui::report::more_ui;
use crate::ui::report::program_kind_colors::kind_color;
use crate::ui::report::run_part::RunPart;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::inspector::{exact_fact_ui, fact_ui, section_ui, title_ui};

/// Callers and steps that are named; of others there is the number.
const MOST_CALLERS: usize = 8;
const MOST_STEPS: usize = 12;
/// Longest name.
const NAME: usize = 300;

/// Where to go from a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramJump {
    /// To what it calls, or what calls it: there is a way back.
    Follow(usize),
    Select(usize),
    Back,
}

/// What is worked out for the selected program.
pub struct InspectedProgram {
    pub uses: ProgramDetails,
    /// The programs of its operation, in the order of the tree.
    pub of_operation: Vec<u32>,
    /// What calls the function that it is.
    pub callers: Vec<usize>,
}

impl InspectedProgram {
    pub fn of(
        report: &Report,
        compilation_step: usize,
        program: usize,
        links: &ProgramLinks,
        cancel: &Cancel,
    ) -> Self {
        let operation = links.operation(program).map(|(number, _)| number);
        let compiled = CompiledPrograms::at(report, compilation_step);
        let uses = compiled.map(|compiled| {
            program_details(&compiled, program, operation, &links.owners, cancel.progress())
        });
        let function = links.shape.function_at(program);
        let callers = compiled.zip(function).map(|(compiled, function)| compiled.callers(function));
        Self {
            uses: uses.unwrap_or_default(),
            of_operation: operation.map(|number| links.programs_of(number)).unwrap_or_default(),
            callers: callers.unwrap_or_default(),
        }
    }
}

/// Draws what is known, or why nothing is; `before` is where one came from.
pub fn inspector_ui(
    ui: &mut egui::Ui,
    part: &mut RunPart<'_>,
    compiled: &CompiledPrograms<'_>,
    links: &ProgramLinks,
    program: usize,
    details: Result<&InspectedProgram, &str>,
    before: Option<usize>,
) -> Option<ProgramJump> {
    let id = compiled.programs.ids.get(program);
    let id = id.map_or(String::new(), |id| {
        format!("{} {}", compiled.report.system.program, grouped(id.0.into()))
    });
    let kind = kind_words(compiled, &links.shape, program, true);
    let (name, _) = name_words(compiled, links, program, NAME);
    title_ui(ui, &id, &kind, &name);
    let callers = details.map_or(&[][..], |details| &details.callers);
    let mut asked = calls_ui(ui, compiled, links, program, callers, before);
    steps_ui(ui, part, compiled, links, program);
    let all = details.map_or(&[][..], |details| &details.of_operation);
    asked = operation_ui(ui, compiled.report, links, program, all).or(asked);
    debug_ui(ui, compiled, program, details.ok().and_then(|details| details.uses.debug.as_ref()));
    match details {
        Ok(details) => usage_ui(ui, part, &details.uses),
        Err(why_not) => drop(ui.weak(why_not)),
    }
    asked
}

/// The kinds of all programs with their colors; returns the one that is to be searched for.
pub fn kinds_ui(
    ui: &mut egui::Ui,
    compiled: &CompiledPrograms<'_>,
    links: &ProgramLinks,
) -> Option<String> {
    let tokens = *Tokens::now(ui);
    let programs = compiled.report.system.programs;
    if compiled.programs.ids.len() > 1 {
        ui.weak(format!(
            "Select one of the {programs} to see what it uses, which operation it belongs to, and when it runs"
        ));
    }
    section_ui(ui, &format!("Kinds of {programs}"));
    let mut wanted = None;
    for (kind, count) in &links.kinds {
        let known = kind.map(|kind| compiled.programs.kind_names.get(kind));
        ui.horizontal(|ui| {
            let (rect, _) = ui.allocate_exact_size(egui::vec2(4.0, 14.0), egui::Sense::hover());
            ui.painter().rect_filled(rect, 2, kind_color(known.unwrap_or_default(), &tokens));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(fonts::number(grouped(*count as u64)));
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    let title = clean(known.unwrap_or(UNKNOWN_KIND));
                    let label = egui::Label::new(RichText::new(&*title).size(size::TABLE));
                    let label = ui.add(label.truncate().sense(egui::Sense::click()));
                    let label = label.on_hover_cursor(egui::CursorIcon::PointingHand);
                    if label.on_hover_text("Search programs of this kind").clicked() {
                        wanted = known.map(str::to_owned);
                    }
                });
            });
        });
    }
    wanted
}

/// The function that it calls, what calls the function that it is, and the way back.
fn calls_ui(
    ui: &mut egui::Ui,
    compiled: &CompiledPrograms<'_>,
    links: &ProgramLinks,
    program: usize,
    callers: &[usize],
    before: Option<usize>,
) -> Option<ProgramJump> {
    let (mut asked, called) = (None, compiled.callee(program));
    if before.is_some() || called.is_some() {
        ui.horizontal_wrapped(|ui| {
            if let Some(before) = before {
                let title = title_words(compiled, links, before);
                let back = ui.button("← Back").on_hover_text(format!("Back to {title}"));
                if back.clicked() {
                    asked = Some(ProgramJump::Back);
                }
            }
            if let Some((function, callee)) = called
                && ui.button(format!("Go to function {function}")).clicked()
            {
                asked = Some(ProgramJump::Follow(callee));
            }
        });
    }
    if callers.is_empty() {
        return asked;
    }
    let times = counted(callers.len() as u64, "program");
    ui.label(RichText::new(format!("Called by {times}")).weak());
    ui.horizontal_wrapped(|ui| {
        for caller in callers.iter().take(MOST_CALLERS) {
            let id = compiled.programs.ids.get(*caller).map_or(0, |id| id.0);
            let hover = title_words(compiled, links, *caller);
            if ui.link(format!("Call {}", grouped(id.into()))).on_hover_text(hover).clicked() {
                asked = Some(ProgramJump::Follow(*caller));
            }
        }
        more_ui(ui, callers.len(), MOST_CALLERS);
    });
    asked
}

/// The steps that visit it; a click selects one in Liveness.
fn steps_ui(
    ui: &mut egui::Ui,
    part: &mut RunPart<'_>,
    compiled: &CompiledPrograms<'_>,
    links: &ProgramLinks,
    program: usize,
) {
    if !compiled.is_final() {
        ui.weak("Steps are those of the final programs");
        return;
    }
    let (units, steps) = (Units::now(ui), links.steps_of(program));
    if steps.is_empty() {
        ui.weak("No step of liveness visits it");
        return;
    }
    let title = if steps.len() == 1 { "Runs at" } else { "Runs at the steps" };
    let mut shown = None;
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(title).weak());
        let live = part.run.report.system.not_always_live_in_text;
        for step in steps.iter().take(MOST_STEPS) {
            let step = *step as usize;
            let id = step_id(&part.run.report, step);
            let text = if steps.len() == 1 { format!("Step {id}") } else { id };
            let alive = links.alive_at(step).map(|bytes| units.exact(bytes));
            let alive = alive.map(|bytes| format!("{bytes} {live} there. "));
            let hover = format!("{}Click to select it in Liveness", alive.unwrap_or_default());
            if ui.link(text).on_hover_text(hover).clicked() {
                shown = Some(step);
            }
        }
        more_ui(ui, steps.len(), MOST_STEPS);
    });
    if let Some((_, Some(bytes))) = links.highest_visit(program) {
        let live = part.run.report.system.not_always_live;
        let at_most = format!("{live}, at most");
        let name = if steps.len() == 1 { live } else { &at_most };
        exact_fact_ui(ui, name, bytes);
    }
    if let Some(step) = shown {
        part.show_step(step);
    }
}

/// Its operation, and the way through the programs of it.
fn operation_ui(
    ui: &mut egui::Ui,
    report: &Report,
    links: &ProgramLinks,
    program: usize,
    all: &[u32],
) -> Option<ProgramJump> {
    let (_, operation) = links.operation(program)?;
    section_ui(ui, "Operation");
    facts_ui(ui, report, operation);
    let at = links.shape.place_among(program, all)?;
    let mut asked = None;
    ui.horizontal_wrapped(|ui| {
        for (sign, name, place) in [
            ("▴", "Previous program of the operation", at.checked_sub(1)),
            ("▾", "Next program of the operation", at.checked_add(1)),
        ] {
            let to = place.and_then(|place| all.get(place));
            let button = ui.add_enabled(to.is_some(), egui::Button::new(sign));
            if button.accessible_name(name).on_hover_text(name).clicked() {
                asked = to.map(|to| ProgramJump::Select(*to as usize));
            }
        }
        let count = grouped(all.len() as u64);
        ui.label(format!("{} of its {count} programs", grouped(at.saturating_add(1) as u64)))
            .on_hover_text("They have a ring in the tree, and their steps are marked in Liveness");
    });
    asked
}

fn facts_ui(ui: &mut egui::Ui, report: &Report, operation: &Operation) {
    let proportion = operation.available_memory_proportion.map(|value| value.to_string());
    let facts = [
        ("Kind", operation.kind.clone()),
        ("Name", operation.name.clone()),
        ("Layer", Some(report.layer_title(&operation.layer).to_owned())),
        ("Innermost call", operation.detail.clone().filter(|_| operation.detail != operation.kind)),
        (PROPORTION, proportion),
        ("Line of code", operation.location.clone()),
    ];
    for (name, value) in facts {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            fact_ui(ui, name, &shortened(&value, NAME));
        }
    }
}

/// The debug contexts that it was made in, the outermost first, with all that they say as soon as it is read.
fn debug_ui(
    ui: &mut egui::Ui,
    compiled: &CompiledPrograms<'_>,
    program: usize,
    tree: Option<&DebugTree>,
) {
    let id = compiled.programs.debug_ids.get(program).copied().unwrap_or(0);
    let debug = compiled.report.debug.get();
    let Some((debug, context)) = debug.and_then(|debug| Some((debug, debug.position(id)?))) else {
        let text = match (id, compiled.report.debug.is_settled()) {
            (0, _) => "It has no debug context",
            (_, false) => "Debug information is being read",
            (_, true) => "Its debug context is not in the report",
        };
        ui.weak(text);
        return;
    };
    section_ui(ui, "Debug information");
    if let Some(tree) = tree {
        debug_tree_ui(ui, tree);
        return;
    }
    let mut rows: Vec<usize> = debug.ancestry(context).collect();
    rows.reverse();
    for (level, row) in rows.into_iter().enumerate() {
        ui.horizontal(|ui| {
            ui.add_space(level.min(12) as f32 * 8.0);
            let kind = debug.kind(row).unwrap_or("");
            let layer = shortened(debug.known_layers.title(debug.layer(row)), NAME);
            ui.label(RichText::new(layer).color(Tokens::now(ui).third_text));
            ui.add(egui::Label::new(fonts::number(shortened(kind, NAME))).truncate());
            if let Some(name) = debug.name(row) {
                ui.add(egui::Label::new(shortened(name, NAME).into_owned()).truncate());
            }
        });
    }
}
