//! The tree of a run: which of it is open, which program is selected, what was found, where one came from.

use eframe::egui::{self, Button, Margin, Rect, ScrollArea};
use std::sync::Arc;

use super::inspector::{InspectedProgram, ProgramJump, inspector_ui, kinds_ui};
use super::list::{Done, ShownPrograms, list_ui, titles_ui};
use super::search::{FoundPrograms, MatchJump, found_ui};
use super::sheet::sheet_of;
use crate::analysis::program::compiled_programs::CompiledPrograms;
use crate::analysis::program::operations::OperationName;
use crate::analysis::program::tree_rows::TreeRows;
use crate::analysis::program::tree_search::matching_programs;
use crate::analysis::program_links::ProgramLinks;
use crate::store::{ProgramId, Report};
use crate::text::{counted, grouped, shortened};
use crate::ui::command::ExportSource;
use crate::ui::job::{Cancel, Job, Latest, MadeFor};
use crate::ui::report::run_part::RunPart;
use crate::ui::report::side_by_side::part_ui;
use crate::ui::report::{ARE, part_or_reason};
use crate::ui::runs::{Run, StepAt};
use crate::ui::theme::{BETWEEN_CARDS, Tokens, card_frame};
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::exports::{
    exports_ui, is_taken_out, picture_exports_ui, scrolled_of_exports,
};
use crate::ui::widget::long_list::LongList;

/// Width from which details stand beside the tree, points, and their share of it.
const BESIDE: f32 = 760.0;
const DETAILS: f32 = 0.36;
const LEAST_DETAILS: f32 = 300.0;
const MOST_DETAILS: f32 = 460.0;
/// Width of the tree from which what was found stands beside the buttons, points, and what the choice of a compilation
/// step takes of it.
const ONE_LINE: f32 = 860.0;
const CHOICE: f32 = 160.0;
/// The share of the height that they have below it.
const BELOW: f32 = 0.45;
/// What the picture of the tree is called.
const TREE: &str = "Program tree";
/// Programs that one came from.
const MOST_REMEMBERED: usize = 100;
/// Longest name of a compilation step.
const NAME: usize = 40;

/// The rows that are open, with the compilation step whose they are, and what is known again of both when the report is
/// read again: it is not kept itself, for it may be gigabytes.
struct Opened {
    compilation_step: usize,
    rows: TreeRows,
    tree_hash: u64,
    selected: Option<ProgramId>,
    /// Whether the report was read again since.
    is_of_earlier: bool,
}

#[derive(Default)]
pub struct ProgramsOfRun {
    /// Whose programs are shown, a position in [`crate::store::program::ProgramTrees::steps`].
    compilation_step: usize,
    /// By compilation step; of a report everything else is read before its trees.
    links: Latest<usize, Option<Arc<ProgramLinks>>>,
    opened: Option<Opened>,
    opening: Option<Job<Option<TreeRows>>>,
    list: LongList,
    /// Where the tree lay in the last frame.
    picture: Option<Rect>,
    selected: Option<usize>,
    selected_row: Option<usize>,
    /// Programs from which a call or a function was followed.
    before: Vec<usize>,
    found: Latest<(String, usize), Option<Arc<FoundPrograms>>>,
    /// A way that was asked for before anything was found.
    waiting: Option<MatchJump>,
    details: Latest<(usize, usize), Arc<InspectedProgram>>,
    /// The step that was last followed.
    followed: Option<usize>,
    counts: MadeFor<ProgramLinks, String>,
}

impl ProgramsOfRun {
    /// The same for the run read again: what was read and worked out goes, what was chosen and is visible stays.
    pub fn read_again(self) -> Self {
        Self {
            opened: self.opened.map(|opened| Opened { is_of_earlier: true, ..opened }),
            links: Latest::default(),
            opening: None,
            picture: None,
            found: Latest::default(),
            waiting: None,
            details: Latest::default(),
            counts: MadeFor::default(),
            ..self
        }
    }

    /// How many programs there are.
    pub fn counts_ui(&mut self, ui: &mut egui::Ui, run: &Run) {
        let Some((_, Some(links))) = self.links.last() else { return };
        let Some(compiled) = CompiledPrograms::at(&run.report, self.compilation_step) else {
            return;
        };
        let text = self.counts.get(links, || {
            let kinds = counted(links.kinds.len() as u64, "kind");
            let count = grouped(compiled.programs.ids.len() as u64);
            format!("{count} {}, {kinds}", run.report.system.programs)
        });
        ui.weak(text);
    }

    /// Draws tree and details; `step` is the one that is selected, `asked` a way that a key asks for.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        part: &mut RunPart<'_>,
        text: &mut String,
        step: Option<usize>,
        asked: Option<MatchJump>,
    ) {
        let report = Arc::clone(&part.run.report);
        let what = ("Programs", ARE);
        if part_or_reason(ui, &report.program_trees, part.run.is_working, what).is_none() {
            return;
        }
        if report.program_trees.get().is_some_and(|it| it.steps.len() <= self.compilation_step) {
            self.compilation_step = 0;
        }
        let compilation_step = self.compilation_step;
        let derived = Arc::clone(&part.run.derived);
        self.links.ask("programs", ui.ctx(), &compilation_step, move |cancel| {
            ProgramLinks::of(&derived, compilation_step, &|| cancel.is_cancelled()).map(Arc::new)
        });
        let links = self.links.get(&compilation_step).cloned().flatten();
        let compiled = CompiledPrograms::at(&report, compilation_step);
        let (Some(links), Some(compiled)) = (links, compiled) else {
            ui.weak(self.links.failure().unwrap_or("The tree is being laid out"));
            return;
        };
        self.keep_rows(&compiled, &links);
        self.search(ui.ctx(), part.run, text, &links);
        self.follow(step, &compiled, &links);
        let waiting = self.waiting.take();
        if let Some(way) = asked.or(waiting) {
            self.go(way, part, &compiled, &links, text);
        }
        if let Some(program) = self.selected {
            let (derived_report, links) = (Arc::clone(&report), Arc::clone(&links));
            let key = (program, compilation_step);
            self.details.ask("details of a program", ui.ctx(), &key, move |cancel| {
                Arc::new(InspectedProgram::of(
                    &derived_report,
                    compilation_step,
                    program,
                    &links,
                    cancel,
                ))
            });
        }
        let space = ui.available_rect_before_wrap();
        let [tree, details] = parts(space);
        part_ui(ui, "tree", tree, |ui| {
            card_ui(ui, |ui| self.tree_ui(ui, part, &compiled, &links, text));
        });
        part_ui(ui, "details", details, |ui| {
            card_ui(ui, |ui| self.details_ui(ui, part, &compiled, &links, text));
        });
        ui.advance_cursor_after_rect(space);
        if let Some(opened) = &mut self.opened {
            opened.selected =
                self.selected.and_then(|selected| compiled.programs.ids.get(selected));
        }
    }

    /// What is open stays where the report was read again and has the same programs; else what is selected does.
    fn keep_rows(&mut self, compiled: &CompiledPrograms<'_>, links: &ProgramLinks) {
        let compilation_step = self.compilation_step;
        let of_step = self.opened.take().filter(|it| it.compilation_step == compilation_step);
        let (rows, is_same) = match of_step {
            Some(opened) if !opened.is_of_earlier => (Some(opened.rows), true),
            Some(opened) => {
                self.opening = None;
                let is_same = opened.tree_hash == links.tree_hash;
                if !is_same {
                    let now = |program| compiled.programs.ids.position(program);
                    (self.selected, self.selected_row) = (opened.selected.and_then(now), None);
                    self.before.clear();
                }
                (Some(opened.rows).filter(|_| is_same), is_same)
            }
            None => {
                (self.opening, self.selected, self.selected_row) = (None, None, None);
                self.before.clear();
                self.followed = None;
                (None, true)
            }
        };
        let rows = rows.unwrap_or_else(|| TreeRows::new(compiled.programs, &links.shape));
        let mut opened = Opened {
            compilation_step,
            rows,
            tree_hash: links.tree_hash,
            selected: None,
            is_of_earlier: false,
        };
        let all_open = Job::take(&mut self.opening).and_then(|rows| rows.ok().flatten());
        let is_revealed = all_open.is_some() || !is_same;
        if let Some(rows) = all_open {
            opened.rows = rows;
        }
        self.opened = Some(opened);
        if is_revealed {
            self.reveal(compiled, links);
        }
    }

    fn search(&mut self, ctx: &egui::Context, run: &Run, text: &str, links: &Arc<ProgramLinks>) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let (report, links, wanted) = (Arc::clone(&run.report), Arc::clone(links), text.to_owned());
        let compilation_step = self.compilation_step;
        let key = (text.to_owned(), compilation_step);
        self.found.ask("search programs", ctx, &key, move |cancel| {
            let compiled = CompiledPrograms::at(&report, compilation_step)?;
            let is_cancelled = || cancel.is_cancelled();
            let matches = matching_programs(&compiled, &links.shape, &wanted, &is_cancelled)?;
            let highest = links.highest_of(&matches.in_order);
            let highest = highest.map(|(program, step)| (program, step, links.alive_at(step)));
            Some(Arc::new(FoundPrograms { matches, highest }))
        });
    }

    /// What was found of a text, and whether it is that which is looked for: what was found before stays while it is
    /// not there yet. Nothing without a text.
    fn found(&self, text: &str) -> Option<(&Arc<FoundPrograms>, bool)> {
        let ((of_text, compilation_step), found) = self.found.last()?;
        let is_wanted = !text.trim().is_empty() && *compilation_step == self.compilation_step;
        Some((found.as_ref().filter(|_| is_wanted)?, of_text == text.trim()))
    }

    /// Goes to the program of a step that was selected elsewhere.
    fn follow(
        &mut self,
        step: Option<usize>,
        compiled: &CompiledPrograms<'_>,
        links: &ProgramLinks,
    ) {
        if step == self.followed {
            return;
        }
        self.followed = step;
        let visited = step.and_then(|step| {
            let steps = compiled.report.steps.get().filter(|_| compiled.is_final())?;
            compiled.programs.ids.position(*steps.programs.get(step)?)
        });
        if let Some(program) = visited.filter(|program| self.selected != Some(*program)) {
            self.selected = Some(program);
            self.selected_row = None;
            self.reveal(compiled, links);
        }
    }

    fn go(
        &mut self,
        way: MatchJump,
        part: &mut RunPart<'_>,
        compiled: &CompiledPrograms<'_>,
        links: &ProgramLinks,
        text: &str,
    ) {
        let found = self.found(text).filter(|(_, is_of_text)| *is_of_text);
        let Some(found) = found.map(|(found, _)| Arc::clone(found)) else {
            self.waiting = Some(way).filter(|_| !text.trim().is_empty());
            return;
        };
        let all = &found.matches.in_order;
        let at = self.place_of_selected(links, all);
        let next = match way {
            MatchJump::Highest => found.highest.map(|(program, ..)| program),
            MatchJump::Next => {
                let place = at.map_or(0, |at| at.saturating_add(1));
                all.get(place).or(all.first()).map(|program| *program as usize)
            }
            MatchJump::Before => {
                let before = at.and_then(|at| all.get(at.checked_sub(1)?));
                before.or(all.last()).map(|program| *program as usize)
            }
        };
        if let Some(program) = next {
            self.select(program, None, part, compiled, links);
        }
    }

    fn place_of_selected(&self, links: &ProgramLinks, all: &[u32]) -> Option<usize> {
        links.shape.place_among(self.selected?, all)
    }

    /// Selects a program, in one of its rows or at its first place, with its step and operation on all pages.
    fn select(
        &mut self,
        program: usize,
        row: Option<usize>,
        part: &mut RunPart<'_>,
        compiled: &CompiledPrograms<'_>,
        links: &ProgramLinks,
    ) {
        self.selected = Some(program);
        self.selected_row = row;
        if let Some((step, _)) = links.highest_visit(program) {
            let is_visited = |step: usize| {
                let step = u32::try_from(step);
                step.is_ok_and(|step| links.steps_of(program).binary_search(&step).is_ok())
            };
            let now = part.selection.step_of(part.run.id);
            let step = now.filter(|step| is_visited(*step)).unwrap_or(step);
            part.selection.steps = vec![StepAt { run: part.run.id, step }];
            self.followed = Some(step);
        }
        if let Some((_, operation)) = links.operation(program) {
            part.selection.select_operation(Some(OperationName::of(operation)));
        }
        match row {
            Some(row) => self.list.show(row),
            None => self.reveal(compiled, links),
        }
    }

    /// Opens the way to what is selected.
    fn reveal(&mut self, compiled: &CompiledPrograms<'_>, links: &ProgramLinks) {
        let (Some(program), Some(opened)) = (self.selected, &mut self.opened) else { return };
        self.selected_row = opened.rows.reveal(program, compiled.programs, &links.shape);
        if let Some(row) = self.selected_row {
            self.list.show(row);
        }
    }

    fn tree_ui(
        &mut self,
        ui: &mut egui::Ui,
        part: &mut RunPart<'_>,
        compiled: &CompiledPrograms<'_>,
        links: &Arc<ProgramLinks>,
        text: &str,
    ) {
        let found = self.found(text).map(|(found, is_of_text)| (Arc::clone(found), is_of_text));
        let of_text = found.as_ref().map(|(found, is_of_text)| (&**found, *is_of_text));
        if let Some(way) = self.head_ui(ui, part, compiled, links, text, of_text) {
            self.go(way, part, compiled, links, text);
        }
        titles_ui(ui, &compiled.report.system);
        let Some(Opened { rows, .. }) = &self.opened else { return };
        let operation = self.selected.and_then(|program| links.operation(program));
        let shown = ShownPrograms {
            compiled: *compiled,
            links,
            rows,
            matches: found.as_ref().map(|(found, _)| &found.matches),
            operation: operation.map(|(number, _)| number),
            selected: self.selected,
            selected_row: self.selected_row,
            name: TREE,
        };
        self.picture = Some(ui.available_rect_before_wrap());
        let done = list_ui(ui, &mut self.list, &shown);
        let program = |row: usize| rows.program(row);
        match done {
            Some(Done::Select(row)) => {
                if let Some(program) = program(row) {
                    self.select(program, Some(row), part, compiled, links);
                }
            }
            Some(Done::Toggle(row)) => self.open_or_close(row, None, compiled),
            Some(Done::Open(row, is_open)) => self.open_or_close(row, Some(is_open), compiled),
            None => {}
        }
        if done.is_some() {
            ui.request_repaint();
        }
    }

    /// Opens or closes a row; without a wish the other of both.
    fn open_or_close(&mut self, row: usize, wish: Option<bool>, compiled: &CompiledPrograms<'_>) {
        let Some(Opened { rows, .. }) = &mut self.opened else { return };
        let before = rows.len();
        match wish {
            Some(true) => rows.open(row, compiled.programs),
            Some(false) => rows.close(row),
            None => rows.toggle(row, compiled.programs),
        }
        // What is selected below has moved, or is closed away.
        let Some(selected) = self.selected_row.filter(|selected| *selected > row) else { return };
        self.selected_row = if rows.len() >= before {
            Some(selected.saturating_add(rows.len().saturating_sub(before)))
        } else {
            let closed = before.saturating_sub(rows.len());
            let moved = selected.checked_sub(closed).filter(|moved| *moved > row);
            moved.or(Some(row)).filter(|row| rows.program(*row) == self.selected)
        };
    }

    /// What was found and what is open, above the tree.
    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        part: &mut RunPart<'_>,
        compiled: &CompiledPrograms<'_>,
        links: &Arc<ProgramLinks>,
        text: &str,
        found: Option<(&FoundPrograms, bool)>,
    ) -> Option<MatchJump> {
        let (report, commands) = (&part.run.report, &mut *part.commands);
        let mut way = None;
        if is_taken_out(ui.ctx()) {
            // It says where the picture lies, too.
            picture_exports_ui(ui, TREE, true, self.picture, commands);
            return None;
        }
        let mut found_row = |ui: &mut egui::Ui, of_run: &Self| match found {
            _ if text.trim().is_empty() => {}
            Some((found, is_of_text)) if is_of_text || of_run.found.failure().is_none() => {
                let at = of_run.place_of_selected(links, &found.matches.in_order);
                way = found_ui(ui, is_of_text.then_some(found), at, compiled);
            }
            _ => {
                ui.weak(of_run.found.failure().unwrap_or("Looking…"));
            }
        };
        let has_choice = compiled.report.program_trees.get().is_some_and(|it| it.steps.len() > 1);
        let of_choice = if has_choice { CHOICE } else { 0.0 };
        let is_wide = ui.available_width() >= ONE_LINE + of_choice;
        ui.horizontal(|ui| {
            ui.set_min_height(26.0);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let sheet = || {
                    let Opened { rows, .. } = self.opened.as_ref()?;
                    let sheet = sheet_of(report, self.compilation_step, links, rows);
                    Some(ExportSource::Table(sheet))
                };
                picture_exports_ui(ui, TREE, true, self.picture, commands);
                exports_ui(ui, "as CSV", "program tree", true, commands, sheet);
                self.opening_ui(ui, report, compiled, links);
                self.compilation_ui(ui, compiled);
                if is_wide {
                    let layout = egui::Layout::left_to_right(egui::Align::Center);
                    ui.with_layout(layout, |ui| found_row(ui, self));
                }
            });
        });
        if !is_wide {
            ui.horizontal(|ui| found_row(ui, self));
        }
        way
    }

    fn opening_ui(
        &mut self,
        ui: &mut egui::Ui,
        report: &Arc<Report>,
        compiled: &CompiledPrograms<'_>,
        links: &Arc<ProgramLinks>,
    ) {
        if ui.button("Close all").clicked() {
            if let Some(opened) = &mut self.opened {
                opened.rows = TreeRows::new(compiled.programs, &links.shape);
            }
            self.selected_row = None;
        }
        let all = ui.add_enabled(self.opening.is_none(), Button::new("Open all"));
        if all.clicked() {
            // The job has its own hold on the report.
            let (links, owner) = (Arc::clone(links), Arc::clone(report));
            let compilation_step = self.compilation_step;
            self.opening =
                Some(Job::start("open all programs", ui.ctx(), move |cancel: &Cancel| {
                    let compiled = CompiledPrograms::at(&owner, compilation_step)?;
                    let is_cancelled = || cancel.is_cancelled();
                    TreeRows::all_open(compiled.programs, &links.shape, &is_cancelled)
                }));
        }
        if self.opened.as_ref().is_some_and(|opened| opened.rows.is_full) {
            let text = ui.colored_label(Tokens::now(ui).note, "Not all is open");
            text.on_hover_text(
                "Shared programs have more places than can be shown together: open only what matters",
            );
        }
    }

    /// Which compilation step is shown, where the report has several.
    fn compilation_ui(&mut self, ui: &mut egui::Ui, compiled: &CompiledPrograms<'_>) {
        let Some(trees) = compiled.report.program_trees.get() else { return };
        if trees.steps.len() < 2 {
            return;
        }
        let title = |step: &usize| {
            let name = trees.steps.get(*step).and_then(|tree| tree.name.as_deref());
            name.map_or("Final programs".to_owned(), |name| shortened(name, NAME).into_owned())
        };
        let all = 0..trees.steps.len();
        choice_ui(ui, "Compilation step", 130.0, &mut self.compilation_step, all, title);
    }

    fn details_ui(
        &mut self,
        ui: &mut egui::Ui,
        part: &mut RunPart<'_>,
        compiled: &CompiledPrograms<'_>,
        links: &Arc<ProgramLinks>,
        text: &mut String,
    ) {
        let Some(program) = self.selected else {
            let area = ScrollArea::vertical().id_salt("kinds of programs").auto_shrink(false);
            let shown = area.show(ui, |ui| kinds_ui(ui, compiled, links));
            scrolled_of_exports(ui, &shown);
            if let Some(kind) = shown.inner {
                *text = kind;
            }
            return;
        };
        let details = self.details.get(&(program, self.compilation_step)).cloned();
        let why_not = self.details.failure().unwrap_or("Reading what it uses").to_owned();
        let is_back = self.before.last().copied();
        let area = ScrollArea::vertical().id_salt("details of a program").auto_shrink(false);
        let shown = area.show(ui, |ui| {
            // Beside the bar, which lies upon what it scrolls.
            ui.set_max_width(ui.available_width() - 6.0);
            ui.push_id(program, |ui| {
                let known = details.as_deref().ok_or(&*why_not);
                inspector_ui(ui, part, compiled, links, program, known, is_back)
            })
            .inner
        });
        scrolled_of_exports(ui, &shown);
        match shown.inner {
            Some(ProgramJump::Follow(to)) => {
                self.before.push(program);
                if self.before.len() > MOST_REMEMBERED {
                    self.before.remove(0);
                }
                self.select(to, None, part, compiled, links);
            }
            Some(ProgramJump::Select(to)) => self.select(to, None, part, compiled, links),
            Some(ProgramJump::Back) => {
                if let Some(to) = self.before.pop() {
                    self.select(to, None, part, compiled, links);
                }
            }
            None => {}
        }
    }
}

/// Where the tree and the details lie.
fn parts(space: Rect) -> [Rect; 2] {
    if space.width() >= BESIDE {
        let width = (space.width() * DETAILS).clamp(LEAST_DETAILS, MOST_DETAILS);
        let (tree, details) = space.split_left_right_at_x(space.right() - width);
        [tree.with_max_x(tree.right() - BETWEEN_CARDS), details]
    } else {
        let height = space.height() * BELOW;
        let (tree, details) = space.split_top_bottom_at_y(space.bottom() - height);
        [tree.with_max_y(tree.bottom() - BETWEEN_CARDS), details]
    }
}

fn card_ui(ui: &mut egui::Ui, add: impl FnOnce(&mut egui::Ui)) {
    let frame = card_frame(Tokens::now(ui)).inner_margin(Margin::symmetric(10, 8));
    frame.show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        ui.set_max_size(ui.available_size());
        add(ui);
    });
}
