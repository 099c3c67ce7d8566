//! The tables of allocations: alive at the selected step or all, one by one with their stacks, by the code that asked for
//! them, and by call path.

use eframe::egui::{self, ScrollArea, TextEdit};
use std::slice;
use std::sync::Arc;

use super::tables::ListedPicture;
use super::words::selected_moment;
use crate::run::areas::AreasBy;
use crate::text::{grouped, shortened};
use crate::ui::job::{Made, Same};
use crate::ui::report::PageContext;
use crate::ui::report::allocations::found::{FoundAllocations, ListKey};
use crate::ui::report::allocations::stack::stack_ui;
use crate::ui::report::moment::step_id;
use crate::ui::runs::{Needed, Needs, RunId, RunsAnswer, StepAt};
use crate::ui::selection::toggle;
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::choice::segments_ui;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::flame::{FLAME_ROW, Flame, show_all_ui};
use crate::ui::widget::picture::at_pointer_ui;
use crate::ui::widget::rows::{BarOf, Rows, TableColumn};

/// What allocations are found by.
const NEEDS: Needs = &[Needed::Liveness, Needed::Axis];
/// Most width of a stack beside the table, points.
const STACK: f32 = 300.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListedBy {
    #[default]
    Allocation,
    /// Added up by the code that asked for them.
    Code,
    /// Added up by call path.
    CallPath,
}

/// An allocation among those that were found.
type InFound = (Same<FoundAllocations>, (u32, u32));

#[derive(Default)]
pub struct AllocationTables {
    /// Whether all allocations are listed, not only those that are alive.
    are_all: bool,
    by: Option<AreasBy>,
    pattern: String,
    found: RunsAnswer<ListKey, Option<Result<Arc<FoundAllocations>, String>>>,
    rows: DataTable,
    by_code: DataTable,
    flame: Flame,
    flame_of: Option<Arc<FoundAllocations>>,
    /// The allocation whose stack is shown: its run, and what tells it apart there.
    selected: Option<(RunId, (u32, u32))>,
    selected_row: Made<InFound, Option<usize>>,
    /// The code that was selected in the frame before.
    code: Option<String>,
}

impl AllocationTables {
    /// Forgets what was found; what was chosen stays.
    pub fn forget(&mut self) {
        let pattern = std::mem::take(&mut self.pattern);
        let (are_all, by, code) = (self.are_all, self.by, self.code.take());
        *self = Self { are_all, by, pattern, code, ..Self::default() };
    }

    /// Whether code has been selected elsewhere, of which what was allocated by it is to be shown.
    pub fn follow(&mut self, page: &PageContext<'_>) -> bool {
        let selected = page.selection.variable();
        let has_list =
            page.runs.is_one() && page.runs.reference().derived.answers().has_allocations();
        if !has_list || self.code.as_ref() == selected {
            return false;
        }
        self.code = selected.cloned();
        if self.code.is_some() {
            self.by = Some(AreasBy::Line);
            self.pattern.clear();
        }
        self.code.is_some()
    }

    /// Draws a list; returns the slot of the step that is asked for.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        subject: &ListedPicture<'_>,
        listed_by: ListedBy,
    ) -> Option<usize> {
        let runs = Arc::clone(page.runs);
        let step = selected_moment(subject.timelines, subject.slots).step(0)?;
        ui.horizontal(|ui| self.choices_ui(ui, page, step, listed_by));
        ui.add_space(2.0);
        let key = ListKey {
            scope: subject.timelines.scope,
            by: self.by.unwrap_or(AreasBy::Line),
            step: (!self.are_all).then_some(step),
            pattern: self.pattern.trim().to_owned(),
        };
        let for_job = key.clone();
        self.found.ask("allocations", ui.ctx(), (&runs, NEEDS), &key, move |runs, cancel| {
            FoundAllocations::of(runs.reference(), &for_job, cancel)
                .map(|found| found.map(Arc::new))
        });
        let found = self.found.last(&runs).and_then(|(_, found)| found.clone());
        let found = match found {
            None => {
                ui.weak(self.found.failure().unwrap_or("Looking…"));
                return None;
            }
            Some(Err(error)) => {
                ui.weak(error);
                return None;
            }
            Some(Ok(found)) => found,
        };
        match listed_by {
            ListedBy::Allocation => return self.rows_ui(ui, page, &found, subject),
            ListedBy::Code => self.by_code_ui(ui, &found, page),
            ListedBy::CallPath => self.paths_ui(ui, &found),
        }
        None
    }

    fn choices_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &PageContext<'_>,
        step: usize,
        listed_by: ListedBy,
    ) {
        let report = &page.runs.reference().report;
        let id = step_id(report, step);
        let at = format!("Alive after {} {id}", report.system.step_in_text);
        let which = [(false, at), (true, "All".to_owned())];
        segments_ui(ui, "Which allocations are listed", &mut self.are_all, which);
        if listed_by == ListedBy::Code {
            let mut by = self.by.unwrap_or(AreasBy::Line);
            let choices = [AreasBy::Line, AreasBy::Function, AreasBy::File];
            let choices = choices.map(|by| (by, by.title()));
            segments_ui(ui, "How allocations are grouped", &mut by, choices);
            self.by = Some(by);
        }
        let field = TextEdit::singleline(&mut self.pattern)
            .hint_text("Find, such as attention|mlp")
            .desired_width(190.0);
        ui.add(field)
            .accessible_name("Find in stacks")
            .on_hover_text("A regular expression, looked for in every frame of the stacks");
    }

    fn rows_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        found: &Arc<FoundAllocations>,
        subject: &ListedPicture<'_>,
    ) -> Option<usize> {
        let run = page.runs.reference().id;
        let list = Arc::clone(found.rows.list());
        let mut shown = None;
        let selected = self.selected.filter(|(of, _)| *of == run).map(|(_, key)| key);
        let at = selected.and_then(|key| {
            let of = (Same(Arc::clone(found)), key);
            *self.selected_row.of(of, |_| (0..list.len()).find(|row| list.key(*row) == key))
        });
        if let Some(row) = at {
            let width = STACK.min(ui.available_width() * 0.4);
            let panel = egui::Panel::right("stack of the allocation").exact_size(width);
            let panel = panel.resizable(false).show_separator_line(true);
            let margin = egui::Margin { left: 10, ..Default::default() };
            panel.frame(egui::Frame::new().inner_margin(margin)).show(ui, |ui| {
                ScrollArea::vertical().id_salt("stack").auto_shrink(false).show(ui, |ui| {
                    if let Some(step) = list.step(row) {
                        let word = page.runs.system().step_in_text;
                        let text = format!("Go to its allocation, {word} {}", grouped(step as u64));
                        if ui.link(text).clicked() {
                            page.selection.steps = vec![StepAt { run, step }];
                            shown = subject.timelines.axis.slot(0, step);
                        }
                    }
                    ui.label(fonts::card_title("Allocated by"));
                    let frames = list.frames_of(list.stack(row)).iter();
                    let stack: Vec<_> = frames.map(|frame| list.frame(*frame)).collect();
                    stack_ui(ui, &stack);
                });
            });
        }
        let columns = found.rows.columns(page.runs.system(), found.bytes, ui.available_width());
        let is_selected = |row: usize| at.is_some() && found.rows.at(row) == at;
        let note = "click one to see its stack";
        let rows: Arc<dyn Rows> = Arc::clone(&found.rows) as Arc<dyn Rows>;
        let data =
            Data { is_selected: &is_selected, note, ..Data::of("allocations", &columns, rows) };
        let click = self.rows.ui(ui, &data, page.commands);
        if let Some(row) = click.and_then(|click| found.rows.at(click.row)) {
            toggle(&mut self.selected, (run, list.key(row)));
        }
        shown
    }

    fn by_code_ui(
        &mut self,
        ui: &mut egui::Ui,
        found: &Arc<FoundAllocations>,
        page: &mut PageContext<'_>,
    ) {
        let whole = found.bytes as f64;
        let bar = BarOf { track: whole, limit: None, whole, of: "of all that is listed" };
        let columns = [
            TableColumn::rest("Code"),
            TableColumn::bytes("Asked", 110.0).with_bars(bar),
            TableColumn::bytes("Blocks", 90.0),
            TableColumn::count("Allocations", 90.0),
            TableColumn::bytes("Largest", 90.0).not_summed(),
        ];
        let rows: Arc<dyn Rows> = Arc::clone(&found.by_code) as Arc<dyn Rows>;
        let code = |row: usize| found.by_code.rows.get(row).map(|row| &row.name);
        let is_selected = |row: usize| self.code.is_some() && code(row) == self.code.as_ref();
        let data =
            Data { is_selected: &is_selected, ..Data::of("allocations by code", &columns, rows) };
        let clicked = self.by_code.ui(ui, &data, page.commands);
        if let Some(code) = clicked.and_then(|click| code(click.row)) {
            page.selection.toggle_variable(code.clone(), false);
            // It is in sight already, added up by whatever was chosen.
            self.code = page.selection.variable().cloned();
        }
    }

    fn paths_ui(&mut self, ui: &mut egui::Ui, found: &Arc<FoundAllocations>) {
        let units = Units::now(ui);
        if !self.flame_of.as_ref().is_some_and(|of| Arc::ptr_eq(of, found)) {
            self.flame_of = Some(Arc::clone(found));
            self.flame = Flame::default();
        }
        let tree = &found.tree;
        let whole = tree.bytes(0).max(1);
        let text = |number: u32| {
            let bytes = tree.bytes(number);
            let percent = bytes as f64 * 100.0 / whole as f64;
            let name = match tree.name(number) {
                "" => "All that is listed",
                name => name,
            };
            format!("{}: {}, {percent:.1} %", shortened(name, 160), units.exact(bytes))
        };
        let name = |number: u32| match tree.short_name(number) {
            "" => units.bytes(tree.bytes(number)),
            name => name.to_owned(),
        };
        ui.horizontal(|ui| {
            ui.weak("Outermost function on top; click a function to give it the whole width");
            show_all_ui(ui, slice::from_mut(&mut self.flame), "Show all");
            if let Some(chosen) = self.flame.chosen {
                ui.label(fonts::caption(text(chosen)));
            }
        });
        ScrollArea::vertical().id_salt("call paths").auto_shrink(false).show(ui, |ui| {
            ui.set_min_height(FLAME_ROW);
            let label = "Allocations by call path";
            let (response, hovered) = self.flame.ui(ui, label, &tree.spans, &name, &text);
            if let Some(hovered) = hovered {
                at_pointer_ui(&response, |ui| {
                    ui.label(text(hovered));
                });
            }
        });
    }
}
