//! Liveness: what is in memory at each step of the runs, as pictures, with peaks and variables below.

mod allocations;
mod beside;
mod choices;
mod compute;
mod consists;
mod facts;
mod filter;
mod inspector;
mod legend;
mod lifelines;
mod lifetimes;
mod lifetimes_table;
mod lives_of;
mod marks;
mod peak_names;
mod picture;
mod scope_choice;
mod selected;
mod step_rows;
mod tables;
mod timelines;
mod tooltip;
mod words;

use eframe::egui;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::areas::DrawnAreas;
use super::head::{alignment_ui, arrangement_ui, matched_ui, page_head_ui};
use super::{IS, PageContext, most_of_tables, part_or_reason, reason_of, tables_height, unread_ui};
use crate::analysis::liveness::{
    Scope, needs_bytes_by_tile, replica_note, scope_title, why_no_curve,
};
use crate::run::areas::{AreasBy, AreasOf};
use crate::text::capitalised;
use crate::ui::job::Cancel;
use crate::ui::pages::RunsPage;
use crate::ui::report::variable_details::ShownDetails;
use crate::ui::runs::{Needed, Needs, Run, RunId, Runs, RunsAnswer};
use crate::ui::split;
use crate::ui::theme::{Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::bins::BinValues;
use crate::ui::widget::curve::Y_AXIS_WIDTH;
use crate::ui::widget::exports::exportable;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::heights::Heights;
use crate::ui::widget::inspector::{inspector_ui, is_beside};
use crate::ui::widget::overview::Overview;
use crate::ui::widget::picture::Resting;
use crate::ui::widget::place_menu::PictureMenu;
use crate::ui::widget::toolbar::{Toolbar, around_limit_ui};
use crate::ui::widget::view::VisibleRange;
use beside::{BesideCurves, OF_AREAS};
use choices::LivenessChoices;
use filter::{field_ui, found_ui};
use lifelines::Lifelines;
use lives_of::LivesOf;
use peak_names::PeakNames;
use tables::ListedPicture;
use timelines::SlotTimelines;

/// What curves go by: of a whole, and added up from tiles.
const OF_WHOLE: Needs = &[Needed::Curves, Needed::Axis];
/// What names of peaks and modules go by.
const OF_NAMES: Needs = &[Needed::Liveness, Needed::Debug, Needed::Axis];
/// Height of the line below the curve, points.
const TOOLBAR: f32 = 28.0;
/// Height of the card of lifetimes, its share and least height below a low curve, its height where it is what is wanted,
/// and the least height of the page that has room for it, points.
const LIFELINES: f32 = 180.0;
const LIVES_SHARE: f32 = 0.32;
const WANTED_SHARE: f32 = 0.5;
const LEAST_LIFELINES: f32 = 148.0;
const WANTED_LIFELINES: f32 = 270.0;
const TALL: f32 = 590.0;
/// The picture of both, on one axis.
const LIVES: &str = "lifetimes below the curve";
const OF_ARENAS: Needs = &[Needed::Liveness, Needed::TileVariables, Needed::Axis];

#[derive(Default)]
pub struct LivenessPage {
    choices: LivenessChoices,
    view: VisibleRange,
    toolbar: Toolbar,
    caches: picture::Caches,
    timelines: RunsAnswer<(Scope, bool), Option<Arc<SlotTimelines>>>,
    areas: RunsAnswer<AreasKey, Option<Arc<DrawnAreas>>>,
    beside: RunsAnswer<u64, Arc<BesideCurves>>,
    marks: marks::StepMarks,
    tables: tables::LivenessTables,
    facts: facts::SlotFacts,
    lifelines: Lifelines,
    lives_of: LivesOf,
    details: ShownDetails,
    names: RunsAnswer<u64, PeakNames>,
    heights: Heights,
    /// Where the curve lies along x.
    frame: Option<egui::Rangef>,
    resting: Resting,
    /// The slot under the pointer in one of several pictures.
    pointed: picture::PointedSlot,
    menu: PictureMenu<usize>,
    /// Whether lifetimes are what the page is wanted for: they have more of its height.
    are_lives_wanted: bool,
    /// Whether the picture is high enough for the modules below its axis.
    has_bands: bool,
    /// How many slots the axis has that is shown.
    len: usize,
}

/// The version of the timelines that areas belong to, what they are grouped by, and the titles of those that are hidden.
type AreasKey = (u64, AreasBy, BTreeSet<String>);

impl RunsPage for LivenessPage {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = page.runs;
        if !has_steps_ui(ui, runs) {
            return;
        }
        let scope = self.choices.scope.scope(runs, page.selection.device);
        let is_by_tile = needs_tiles(runs, scope);
        let needs = (runs, if is_by_tile { OF_ARENAS } else { OF_WHOLE });
        let key = (scope, self.choices.is_over_time);
        let (name, ctx) = ("liveness curves", ui.ctx());
        let work = move |runs: &Runs, cancel: &Cancel| {
            SlotTimelines::of(runs, key, &|| cancel.is_cancelled()).map(Arc::new)
        };
        // Of tiles even a small report has many rows.
        if is_by_tile {
            self.timelines.ask(name, ctx, needs, &key, work);
        } else {
            self.timelines.ask_or_tell(name, ctx, needs, &key, work);
        }
        let timelines = self.timelines.last(runs).and_then(|(_, timelines)| timelines.clone());
        if let Some(timelines) = &timelines {
            let for_job = Arc::clone(timelines);
            self.names.ask(
                "names of peaks",
                ui.ctx(),
                (runs, OF_NAMES),
                &timelines.version,
                move |runs, _| PeakNames::of(runs, &for_job),
            );
            self.marks.update(ui.ctx(), runs, timelines, page.selection);
            self.ask_beside(ui.ctx(), runs, timelines);
            if self.len != timelines.len() {
                // What was looked at closely is elsewhere on another axis.
                if self.len > 0 {
                    self.view.reset();
                }
                self.len = timelines.len();
            }
        }
        self.head_ui(ui, page, timelines.as_deref());
        let Some(timelines) = timelines else {
            self.waiting_ui(ui, runs, scope);
            return;
        };
        let is_below = !is_beside(ui);
        inspector_ui(ui, |ui| self.inspect_ui(ui, page, &timelines, is_below));
        let are_several = runs.pictures().len() > 1;
        // Pictures below each other need more of the page.
        let (name, least, share) = if are_several {
            ("tables below two curves", 240.0, 0.30)
        } else if is_below {
            ("liveness tables", 140.0, 0.36)
        } else {
            ("liveness tables", 140.0, 0.29)
        };
        let height = ui.available_height();
        let max = most_of_tables(ui, least);
        let slots = timelines.selected(page.selection, runs);
        split::below(ui, name, tables_height(ui, share), 60.0..=max, |ui| {
            let range = self.view.range(timelines.len());
            let marks = &self.marks;
            let subject = ListedPicture { timelines: &timelines, slots: &slots, range, marks };
            if let Some((slot, is_added)) = self.tables.ui(ui, page, &subject, &mut self.lives_of) {
                timelines.select(page.selection, runs, slot, is_added);
                self.view.reveal(timelines.len(), slot);
            }
        });
        let margin = egui::Margin { top: 6, bottom: 6, ..Default::default() };
        split::rest(ui, margin, |ui| {
            if self.are_lives_wanted {
                exportable(ui, LIVES, ui.max_rect());
            }
            if height >= TALL && !are_several || self.are_lives_wanted {
                // What tables take of a low page both pictures give.
                let usual = (ui.available_height() * LIVES_SHARE).clamp(LEAST_LIFELINES, LIFELINES);
                let wanted = WANTED_LIFELINES.min(ui.available_height() * WANTED_SHARE);
                let lives = if self.are_lives_wanted { wanted } else { usual };
                let panel = egui::Panel::bottom("lifetimes below the curve").exact_size(lives);
                let panel = panel.resizable(false).show_separator_line(false);
                panel.frame(egui::Frame::new()).show(ui, |ui| {
                    ui.add_space(10.0);
                    let range = self.view.range(timelines.len());
                    let marks = &self.marks;
                    let subject =
                        ListedPicture { timelines: &timelines, slots: &slots, range, marks };
                    // It is not known before the first picture.
                    let usual = ui.available_rect_before_wrap().shrink(Y_AXIS_WIDTH).x_range();
                    let frame = self.frame.unwrap_or(usual);
                    self.lifelines.card_ui(ui, page, &subject, &mut self.lives_of, frame);
                });
            }
            let frame = card_frame(Tokens::now(ui)).inner_margin(egui::Margin::symmetric(12, 8));
            frame.show(ui, |ui| {
                let toolbar = ui.available_rect_before_wrap();
                let line = egui::Rect::from_min_max(
                    egui::pos2(toolbar.left(), toolbar.bottom() - TOOLBAR),
                    toolbar.max,
                );
                let above = toolbar.with_max_y(line.top() - 4.0);
                ui.scope_builder(egui::UiBuilder::new().max_rect(above), |ui| {
                    self.pictures_ui(ui, page, &timelines);
                });
                ui.scope_builder(egui::UiBuilder::new().max_rect(line), |ui| {
                    self.toolbar_ui(ui, page, &timelines);
                });
                ui.advance_cursor_after_rect(toolbar);
            });
        });
    }

    fn run_renamed(&mut self, from: RunId, to: RunId) {
        self.choices.rename(from, to);
        self.lives_of.rename(from, to);
        self.tables.forget();
        self.lifelines.forget();
    }

    fn show_view(&mut self, view: crate::views::View, scope: Scope) {
        self.choices.scope.show(scope);
        self.are_lives_wanted = view == crate::views::View::Lifetimes;
    }
}

/// The part of a report that has bytes of each arena: `Variables by tile`.
fn items_by_arena(runs: &Runs) -> String {
    let system = runs.system();
    format!("{} by {}", capitalised(system.items), system.arena_in_text)
}

/// Whether the curve of a scope is added up from the bytes by tile in any of the runs.
fn needs_tiles(runs: &Runs, scope: Scope) -> bool {
    runs.iter().any(|run| needs_bytes_by_tile(&run.report, scope))
}

impl LivenessPage {
    fn waiting_ui(&self, ui: &mut egui::Ui, runs: &Runs, scope: Scope) {
        let (curve, is_are) = if runs.is_one() { ("curve", "is") } else { ("curves", "are") };
        match (self.timelines.last(runs), self.timelines.failure()) {
            (_, Some(failure)) => absent_ui(ui, &format!("No {curve}"), failure),
            (None, None) => absent_ui(ui, &format!("The {curve} {is_are} being computed"), ""),
            (Some(_), None) if needs_tiles(runs, scope) && !runs.is_settled(OF_ARENAS) => {
                let what = items_by_arena(runs);
                unread_ui(ui, &what, runs.is_working());
            }
            (Some(_), None) => {
                let report = &runs.reference().report;
                let reason = reason_of(why_no_curve(report, scope));
                absent_ui(ui, &format!("{} has no curve", scope_title(report, scope)), &reason);
            }
        }
    }

    /// Title, answer, scope and filter in a row; of several runs how they are arranged in another.
    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        timelines: Option<&SlotTimelines>,
    ) {
        let (runs, units) = (page.runs, Units::now(ui));
        let of_limit = timelines.and_then(|_| self.peak_names(runs)?.answer(units));
        let answer = of_limit.or_else(|| {
            let timelines = timelines?;
            self.beside(runs, timelines)?.answer(runs, timelines, units)
        });
        let answer = page_head_ui(ui, "Liveness", answer.as_ref(), |ui| {
            field_ui(ui, runs, &mut self.marks);
            if self.choices.scope_ui(ui, runs, page.selection) {
                self.heights.reset();
            }
            if let Some(timelines) = timelines {
                let of = (timelines.scope, timelines.has_times);
                self.choices.areas_ui(ui, runs, of);
            }
            let note = |run: &Run| replica_note(run.report.target.get());
            if let Some(note) = runs.iter().find_map(note) {
                ui.weak("Per replica").on_hover_text(note);
            }
        });
        if let Some(answer) = answer.filter(egui::Response::hovered)
            && let Some(whole) = self.peak_names(runs).and_then(|names| names.whole_answer(units))
        {
            answer.on_hover_text(whole);
        }
        let Some(timelines) = timelines else { return };
        if !self.marks.text.trim().is_empty() {
            ui.horizontal(|ui| {
                if let Some(slot) = found_ui(ui, runs, timelines, &self.marks) {
                    timelines.select(page.selection, runs, slot, false);
                    self.view.reveal(timelines.len(), slot);
                }
            });
        }
        if !runs.is_one() {
            ui.horizontal(|ui| {
                matched_ui(ui, runs);
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    arrangement_ui(ui, page);
                    alignment_ui(ui, page);
                });
            });
        }
    }

    /// Asks for the areas below the curve and for what is drawn beside it.
    fn ask_beside(
        &mut self,
        ctx: &egui::Context,
        runs: &Arc<Runs>,
        timelines: &Arc<SlotTimelines>,
    ) {
        let (version, for_job) = (timelines.version, Arc::clone(timelines));
        self.beside.ask("beside the curve", ctx, (runs, OF_WHOLE), &version, move |runs, _| {
            Arc::new(BesideCurves::of(runs, &for_job))
        });
        let by = self.choices.areas_by(runs, timelines.scope);
        if by == AreasBy::Liveness {
            return;
        }
        let key: AreasKey = (version, by, self.choices.hidden.clone());
        let before = self.areas.last(runs).filter(|((of, by, _), _)| (*of, *by) == (key.0, key.1));
        let before = before.and_then(|(_, areas)| Some(Arc::clone(&areas.as_ref()?.stacked)));
        let (hidden, for_job) = (key.2.clone(), Arc::clone(timelines));
        self.areas.ask("areas of the curve", ctx, (runs, OF_AREAS), &key, move |runs, cancel| {
            let derived = &runs.reference().derived;
            let of = AreasOf { scope: for_job.scope, by };
            let areas = || derived.answers().areas(derived, of, &|| cancel.is_cancelled());
            let stacked = before.or_else(|| areas().map(Arc::new))?;
            Some(Arc::new(DrawnAreas::of(stacked, hidden, Some(&for_job.axis))))
        });
    }

    /// The areas of the only run, once they are known; those before while others are worked out.
    fn areas(&self, runs: &Runs, timelines: &SlotTimelines) -> Option<&Arc<DrawnAreas>> {
        if self.choices.areas_by(runs, timelines.scope) == AreasBy::Liveness {
            return None;
        }
        let ((version, ..), areas) = self.areas.last(runs)?;
        areas.as_ref().filter(|_| *version == timelines.version)
    }

    fn beside(&self, runs: &Runs, timelines: &SlotTimelines) -> Option<&Arc<BesideCurves>> {
        let (version, beside) = self.beside.last(runs)?;
        (*version == timelines.version).then_some(beside)
    }

    /// What is known of the peaks, as soon as it is.
    fn peak_names(&self, runs: &Runs) -> Option<&PeakNames> {
        self.names.last(runs).map(|(_, names)| names)
    }

    fn toolbar_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        timelines: &SlotTimelines,
    ) {
        let runs = page.runs;
        let areas = self.areas(runs, timelines).cloned();
        let choices = &self.choices;
        let (values, base) = match &areas {
            Some(areas) => {
                areas.prepare_total(&mut self.caches.overview);
                (BinValues::Known(areas.total()), 0)
            }
            None => picture::followed(choices, runs, timelines),
        };
        let overview = Overview {
            values,
            len: timelines.len(),
            base,
            version: match &areas {
                Some(areas) => areas.version,
                None => picture::version(choices, timelines),
            },
            top: choices.top(runs, timelines),
            limit: choices.highest_limit(runs, timelines),
            selected: timelines.selected(page.selection, runs).first().copied(),
            cache: &mut self.caches.overview,
        };
        let name = runs.of_number(["liveness curve", "liveness of both", "liveness of all"]);
        let (limit, top) = (choices.highest_limit(runs, timelines), choices.top(runs, timelines));
        let heights = &mut self.heights;
        let others = |ui: &mut egui::Ui| around_limit_ui(ui, heights, limit, top);
        if self.toolbar.ui(ui, name, &mut self.view, overview, page.commands, others) {
            self.heights.reset();
        }
    }
}

/// Whether any run has steps; says why not where none has.
fn has_steps_ui(ui: &mut egui::Ui, runs: &Runs) -> bool {
    let has_steps = |run: &Run| {
        let steps = run.report.steps.get().is_some_and(|steps| !steps.ids.is_empty());
        steps && (run.report.deltas.get().is_some() || run.report.liveness.get().is_some())
    };
    if runs.iter().any(has_steps) {
        return true;
    }
    let (Run { report, is_working, .. }, liveness) = (runs.reference(), ("Liveness", IS));
    let Some(steps) = part_or_reason(ui, &report.steps, *is_working, liveness) else {
        return false;
    };
    if steps.ids.is_empty() {
        absent_ui(ui, &format!("No {}", report.system.steps), "This run lists none");
    } else {
        part_or_reason(ui, &report.liveness, *is_working, liveness);
    }
    false
}
