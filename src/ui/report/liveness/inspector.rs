//! The inspector of the page: the step under the pointer, else the selected one, else the highest: whether it is over,
//! what it does, what is alive there, and where to go from there.

use eframe::egui::{self, CursorIcon, Label, Role, Sense, WidgetInfo};
use std::sync::Arc;

use super::LivenessPage;
use super::selected::selection_ui;
use super::timelines::SlotTimelines;
use super::tooltip::did_text;
use super::words::selected_moment;
use crate::analysis::liveness::over_limit::OverLimit;
use crate::analysis::liveness::timeline::Timeline;
use crate::analysis::liveness::variable_kind::pretty_name;
use crate::analysis::liveness::{Scope, first_arena, scope_title};
use crate::analysis::program::operations::PROPORTION;
use crate::analysis::program::steps::{OPERATION, StepFact, StepFacts, fact_names};
use crate::run::beside_curve::StepSaid;
use crate::store::ArenaId;
use crate::text::{CommonPath, capitalised, grouped, in_turn, shortened};
use crate::ui::command::{Command, Page};
use crate::ui::report::areas::{group_color, short_frame};
use crate::ui::report::category_colors::variable_color;
use crate::ui::report::figures::FigureEntry;
use crate::ui::report::moment::step_id;
use crate::ui::report::room::{against_limit, has_failed, room_box_ui};
use crate::ui::report::step_said::step_said_ui;
use crate::ui::report::{PageContext, change_color, change_text};
use crate::ui::runs::{Needed, Run, Runs};
use crate::ui::selection::{Jump, Selection};
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::inspector::{
    exact_fact_ui, fact_ui, part_ui, section_ui, title_ui, wide_part_ui,
};
use crate::ui::widget::rows::CellValue;
use crate::ui::widget::sign::Sign;

/// Longest name of a step, of a kind of program, of a run, and of a variable that has a line of its own.
const NAME: usize = 60;
const KIND: usize = 30;
const RUN: usize = 20;
const VARIABLE: usize = 40;
/// Longest end of an operation's path in the list of what is alive.
const OPERATION_END: usize = 26;

impl LivenessPage {
    pub fn inspect_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        timelines: &Arc<SlotTimelines>,
        is_below: bool,
    ) {
        let runs = page.runs;
        let slots = timelines.selected(page.selection, runs);
        let pointed = self.pointed.map(|(_, slot)| slot);
        let highest = timelines.highest_run();
        let moment_slot = pointed.or_else(|| {
            let moment = selected_moment(timelines, &slots);
            moment.slot.or_else(|| timelines.axis.slot(highest, moment.step(highest)?))
        });
        let Some(slot) = moment_slot else {
            ui.weak(format!("No {} to look at", runs.system().step_in_text));
            return;
        };
        self.facts.prepare(ui.ctx(), runs, timelines, slot);
        let (step, word) = (runs.system().step, runs.system().step_in_text);
        let kind = match (pointed, slots.contains(&slot), slots.is_empty()) {
            (_, true, _) => format!("Selected {word}"),
            (Some(_), ..) => format!("{step} under the pointer; click to select it"),
            (None, _, true) => {
                let of = match runs.get(highest).filter(|_| highest > 0) {
                    Some(run) => format!(" of {}", run.the()),
                    None => runs.of_number(["", " of the source", " of the reference"]).to_owned(),
                };
                format!("Highest {word}{of}; click the curve to select one")
            }
            _ => step.to_owned(),
        };
        let kind = &kind;
        let Some(moment) = self.facts.moment() else { return };
        let mut details = std::mem::take(&mut self.details);
        let said = self.facts.said(runs, &(slot, timelines.version)).first();
        let said = said.and_then(Option::as_ref).filter(|_| runs.is_one());
        // Without bytes it may be a name, which is shown as it is.
        let did = said.map(|said| {
            let text = did_text(said, Units::now(ui));
            if said.bytes.is_some() { capitalised(&text) } else { text }
        });
        let name = self.facts.first().and_then(|facts| facts.name.as_deref()).unwrap_or_default();
        let name = did.as_deref().unwrap_or(name);
        let title = capitalised(&moment.title(runs));
        if is_below {
            // Under the picture there is more width than height.
            ui.columns_const(|[left, right]| {
                // Columns would stretch the words of a line.
                let layout = egui::Layout::top_down(egui::Align::Min);
                left.with_layout(layout, |ui| {
                    title_ui(ui, kind, &title, &shortened(name, NAME));
                    self.step_ui(ui, runs, said);
                });
                right.with_layout(layout, |ui| {
                    selection_ui(ui, page, timelines, &self.marks, &mut details);
                    self.runs_ui(ui, runs, timelines);
                    self.parts_ui(ui, (runs, page.selection), timelines, slot);
                });
            });
        } else {
            title_ui(ui, kind, &title, &shortened(name, NAME));
            selection_ui(ui, page, timelines, &self.marks, &mut details);
            self.runs_ui(ui, runs, timelines);
            ui.separator();
            self.step_ui(ui, runs, said);
            // The section that follows has a line of its own.
            if self.areas(runs, timelines).is_none() {
                ui.separator();
            }
            self.parts_ui(ui, (runs, page.selection), timelines, slot);
        }
        self.details = details;
        ui.add_space(8.0);
        if runs.machine().is_some() {
            let map =
                ui.button("Map at this step").on_hover_text("Addresses of a tile at this step");
            if map.clicked() {
                timelines.select(page.selection, runs, slot, false);
                let fullest = || first_arena(&runs.reference().report).map(ArenaId::tile);
                let tile = page.selection.tiles.first().or_else(fullest);
                page.commands.extend(tile.map(|tile| Command::GoTo(Jump::Map(tile))));
            }
            return;
        }
        let derived = &runs.reference().derived;
        let answers = derived.answers();
        // Blocks may be listed without a map.
        if answers.has_allocations()
            && !answers.arena_maps(derived).is_empty()
            && ui.button(format!("Map at this {word}")).clicked()
        {
            timelines.select(page.selection, runs, slot, false);
            page.commands.push(Command::Go(Page::Map));
        }
    }

    /// What the steps do: of one run as its system says it, where that says more than the report.
    fn step_ui(&self, ui: &mut egui::Ui, runs: &Runs, said: Option<&StepSaid>) {
        let Some(said) = said else {
            facts_ui(ui, runs, &self.facts.of_runs);
            return;
        };
        step_said_ui(ui, said);
    }

    /// What is alive: the lines, and by group, or the largest variables.
    fn parts_ui(
        &self,
        ui: &mut egui::Ui,
        (runs, selection): (&Runs, &mut Selection),
        timelines: &SlotTimelines,
        slot: usize,
    ) {
        let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
        let step = self.facts.moment().and_then(|moment| moment.step(0));
        if let Some((areas, step)) = self.areas(runs, timelines).zip(step) {
            section_ui(ui, "Consists of");
            let parts: Vec<_> = areas.stacked.at(step).enumerate().collect();
            let parts = parts.into_iter().filter(|(_, (group, _))| areas.is_shown(group));
            let parts: Vec<_> = parts.filter(|(_, (_, bytes))| *bytes > 0).collect();
            let whole = parts.iter().fold(0_u64, |sum, (_, (_, bytes))| sum.saturating_add(*bytes));
            for (place, (group, bytes)) in parts.into_iter().rev() {
                let bar = [(bytes, group_color(group, place, &tokens))];
                let percent = bytes as f64 * 100.0 / whole.max(1) as f64;
                let title = shortened(short_frame(&group.title), VARIABLE);
                let size = format!("{}, {percent:.0} %", units.bytes(bytes));
                part_ui(ui, &title, &size, &Bar { parts: &bar, whole, limit: None });
            }
            ui.separator();
        }
        if !runs.reference().derived.answers().has_allocations() {
            self.alive_ui(ui, (runs, selection), timelines, slot);
        }
    }

    /// Which runs have a step there, whether each is over, and what is alive.
    fn runs_ui(&self, ui: &mut egui::Ui, runs: &Runs, timelines: &SlotTimelines) {
        let (units, Some(moment)) = (Units::now(ui), self.facts.moment()) else { return };
        if !runs.is_one() {
            let presence = moment.presence(runs);
            let text = match moment.absence(runs) {
                Some(absence) => format!("{presence}: {absence}"),
                None => presence,
            };
            ui.add(Label::new(fonts::caption(text)).wrap());
        }
        let first = moment.step(0);
        for (place, run) in runs.iter().enumerate() {
            let (Some(curve), Some(step)) = (timelines.run(place), moment.step(place)) else {
                continue;
            };
            let timeline = &curve.timeline;
            let alive = timelines.alive_at(place, step).unwrap_or(0);
            let is_there = moment.step_there(place).is_some();
            let (title, at) = if runs.is_one() {
                (String::new(), String::new())
            } else {
                let at = if is_there { "at" } else { "after" };
                let (word, id) = (runs.system().step_in_text, step_id(&run.report, step));
                (self.run_text(run, place, is_there), format!(" {at} {word} {id}"))
            };
            verdict_ui(ui, runs, run, (&title, &at), &curve.timeline, (step, alive));
            // Steps that have only their numbers in common say nothing of each other.
            let of_first = first.filter(|_| place > 0 && runs.system().are_steps_matched);
            if let Some(from) = of_first.and_then(|first| timelines.alive_at(0, first)) {
                change_ui(ui, (from, alive), " against the reference");
            }
            let not_always_live = timeline.not_always_live_at(step);
            // Of one run there is room for all digits.
            let bytes_ui = |ui: &mut egui::Ui, name: &str, bytes: u64| {
                if runs.is_one() {
                    exact_fact_ui(ui, name, bytes);
                } else {
                    fact_ui(ui, name, &units.bytes(bytes));
                }
            };
            if runs.len() <= 2
                && let Some(always_live) = timeline.always_live_at(step)
            {
                bytes_ui(ui, runs.system().always_live, always_live);
            }
            bytes_ui(ui, runs.system().not_always_live, not_always_live);
            if let (2, Some((reference, first))) = (runs.len(), timelines.run(0).zip(of_first)) {
                let from = reference.timeline.not_always_live_at(first);
                change_ui(ui, (from, not_always_live), "");
            }
            let beside = self.beside(runs, timelines).and_then(|beside| beside.only());
            for line in beside.map_or(&[][..], |of| &of.lines) {
                if let Some(bytes) = line.at(step) {
                    exact_fact_ui(ui, &line.title, bytes);
                }
            }
            if let Some(with_gaps) = timeline.including_gaps {
                bytes_ui(ui, "With gaps", with_gaps);
                if let Some(limit) = timeline.limit {
                    ui.label(fonts::caption(against_limit(run, with_gaps, limit, units)));
                }
            }
            if let Some(arena) = timeline.worst_arena_at(step) {
                let system = runs.system();
                fact_ui(ui, system.worst_arena, &format!("{} {arena}", system.arena_in_text));
            } else if timelines.scope != Scope::Everything && place == 0 {
                fact_ui(ui, "Of", &scope_title(&run.report, timelines.scope));
            }
        }
    }

    /// A run by name, with its step there and what that is.
    fn run_text(&self, run: &Run, place: usize, is_there: bool) -> String {
        let mut text = run.title.to_string();
        if run.name != run.title {
            text = format!("{text} {}", shortened(&run.name, RUN));
        }
        let facts = self.facts.of_runs.get(place).and_then(Option::as_ref);
        let step = |facts: &StepFacts| grouped(facts.step.0.into());
        // Where all are of one kind the name says more.
        let word = run.report.system.step_in_text;
        let what = |facts: &StepFacts| {
            let kind = facts.kind.clone().filter(|kind| kind != word);
            kind.or_else(|| facts.name.clone())
        };
        match facts.filter(|_| is_there).map(|facts| (facts, what(facts))) {
            Some((facts, Some(what))) => {
                format!("{text}: {}, {}", step(facts), shortened(&what, KIND))
            }
            Some((facts, None)) => format!("{text}: {}", step(facts)),
            None => format!("{text}: no {} here", run.report.system.step_in_text),
        }
    }

    fn alive_ui(
        &self,
        ui: &mut egui::Ui,
        (runs, selection): (&Runs, &mut Selection),
        timelines: &SlotTimelines,
        slot: usize,
    ) {
        let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
        ui.horizontal(|ui| {
            let system = runs.system();
            let title = format!("{} at this {}", system.not_always_live, system.step_in_text);
            ui.label(fonts::number(title));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(fonts::caption("largest first").color(tokens.third_text));
            });
        });
        let found = match self.facts.largest(runs, &(slot, timelines.version)) {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(text) => {
                ui.weak(text);
                return;
            }
        };
        let (variables, others) = found;
        let most = |entry: &FigureEntry| entry.figures.iter().flatten().max().copied().unwrap_or(0);
        let sum: u64 = variables.iter().map(most).fold(0, u64::saturating_add);
        let whole = variables.first().map_or(1, most).max(sum / 2);
        let common =
            CommonPath::of(variables.iter().filter_map(|entry| entry.operation.as_deref()));
        for entry in variables {
            let color = variable_color(&runs.reference().report, &entry.name, &tokens);
            let name = pretty_name(&entry.name);
            // Who makes it says more than the compiler's name.
            let title = entry.operation.as_deref().map_or_else(
                || shortened(&name, VARIABLE),
                |operation| common.shortened(operation, OPERATION_END),
            );
            let parts = [(most(entry), color)];
            let bar = Bar { parts: &parts, whole, limit: None };
            let size = sizes_text(&entry.figures, units);
            let add = if runs.is_one() { part_ui } else { wide_part_ui };
            let part = ui.scope(|ui| add(ui, &title, &size, &bar));
            let part =
                part.response.interact(Sense::click()).on_hover_cursor(CursorIcon::PointingHand);
            part.widget_info(|| {
                let is_selected = selection.variables().any(|one| one == entry.name);
                WidgetInfo::selected(Role::Row, true, is_selected, format!("Select {name}"))
            });
            let part = part.on_hover_ui(|ui| {
                ui.label(&*name);
                if let Some(operation) = &entry.operation {
                    ui.weak(&**operation);
                }
            });
            if part.clicked() {
                let is_added = ui.input(|input| input.modifiers.command);
                selection.toggle_variable(entry.name.clone(), is_added);
            }
        }
        if variables.is_empty() {
            ui.weak("Nothing except what is always live");
        }
        if *others > 0 {
            ui.weak(format!("and {} more", grouped(*others as u64)));
        }
    }
}

/// What is over or left, in a box of its color with its sign.
fn verdict_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    run: &Run,
    (title, at): (&str, &str),
    timeline: &Timeline,
    (step, alive): (usize, u64),
) {
    let (units, limit) = (Units::now(ui), timeline.limit);
    let over = timeline.over.as_ref().and_then(|over| over.at(step));
    let is_over_elsewhere =
        over == Some(0) && timeline.over.as_ref().is_some_and(OverLimit::is_anywhere);
    let sign = match Sign::of(over.map(|over| over == 0)) {
        // Where it is known how the run failed, that is said below.
        Sign::Fits if is_over_elsewhere && !has_failed(run.derived.known_verdict().as_deref()) => {
            Sign::Plain
        }
        sign => sign,
    };
    let text = match (over, limit) {
        (Some(over @ 1..), _) => format!("+{} over{at}", units.bytes(over)),
        (_, Some(limit)) => {
            format!("{} below the limit{at}", units.bytes(limit.saturating_sub(alive)))
        }
        // Each was held against a limit of its own.
        (Some(_), None) => format!("No {} over its own limit{at}", run.report.system.device),
        _ => format!("{}{at}", units.bytes(alive)),
    };
    let of = limit.map_or_else(
        || format!("{} alive", units.bytes(alive)),
        |limit| format!("{} alive, of {}", units.beside(alive, limit), units.bytes(limit)),
    );
    room_box_ui(ui, run, !runs.is_one(), (sign, text), |ui| {
        if !title.is_empty() {
            ui.add(Label::new(fonts::caption(title)).wrap());
        }
        ui.label(fonts::caption(of).color(Tokens::now(ui).weak_text));
    });
}

/// A difference in the color that it has in tables, below what it is of.
fn change_ui(ui: &mut egui::Ui, (from, to): (u64, u64), what: &str) {
    let text = format!("{}{what}", change_text(from, to, Units::now(ui)));
    let color = change_color(ui, from, to);
    ui.with_layout(egui::Layout::top_down(egui::Align::Max), |ui| {
        ui.label(fonts::caption(text).color(color));
    });
}

/// Sizes of a variable in the runs; of two it is said which one has it.
fn sizes_text(figures: &[Option<u64>], units: Units) -> String {
    match figures {
        [Some(bytes), None] => format!("{}, only in source", units.bytes(*bytes)),
        [None, Some(bytes)] => format!("{}, only in target", units.bytes(*bytes)),
        figures => {
            let sizes = figures.iter().map(|bytes| CellValue::bytes(*bytes).shown(units));
            in_turn(&sizes.map(String::from).collect::<Vec<_>>())
        }
    }
}

/// What the steps do. What all of them say is said once.
fn facts_ui(ui: &mut egui::Ui, runs: &Runs, of_runs: &[Option<StepFacts>]) {
    let there: Vec<&StepFacts> = of_runs.iter().flatten().collect();
    let lists: Vec<Vec<StepFact>> = there.iter().map(|facts| facts.list()).collect();
    for name in fact_names(&lists) {
        let value = |list: &Vec<StepFact>| {
            let fact = list.iter().find(|fact| fact.name == name)?;
            Some(match &fact.detail {
                Some(detail) if !runs.is_one() => format!("{} ({detail})", fact.value),
                _ => fact.value.clone(),
            })
        };
        let values = lists.iter().map(|list| value(list).unwrap_or_else(|| "–".to_owned()));
        let mut values: Vec<String> = values.collect();
        values.dedup();
        let is_same = values.len() == 1;
        // The title has the name already, and some systems have no operations.
        let is_foreign = name == OPERATION && runs.are_foreign_to(&[Needed::Debug]);
        if name == "Name" && is_same || is_foreign {
            continue;
        }
        let same = if is_same && lists.len() > 1 { ", the same" } else { "" };
        let title = if name == PROPORTION { "Proportion" } else { name };
        fact_ui(ui, title, &format!("{}{same}", values.join(" → ")));
    }
    let Some(first) = there.first() else { return };
    if let Some(kind) = first.kind.as_ref().filter(|_| runs.is_one()) {
        fact_ui(ui, "Program", kind);
    }
    let operation = first.operation.as_ref().and_then(|operation| operation.name.as_deref());
    let answers = runs.reference().derived.answers();
    let Some(place) = operation.map(|name| answers.model_place(name)) else { return };
    if let Some(pass) = place.pass {
        fact_ui(ui, "Pass", pass);
    }
    if !place.modules.is_empty() {
        fact_ui(ui, "Layer", &place.modules.join(" / "));
    }
}
