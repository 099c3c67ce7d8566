//! The execution trace: what ran when on each IPU, what the time was spent on, and the memory below it.

mod axis;
mod data;
mod inspector;
mod lanes;
mod marks;
mod memory;
mod search;
mod tables;
mod tiles;

use eframe::egui::{self, Margin, RichText, ScrollArea, containers::scroll_area::ScrollSource};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::head::page_head_ui;
use super::program_kind_colors::kind_color;
use super::{PageContext, run_title_ui};
use crate::analysis::execution::lanes::{LaneNode, Lanes, Nesting};
use crate::analysis::execution::sums::SpanSums;
use crate::analysis::liveness::Scope;
use crate::store::Absence;
use crate::text::{counted, grouped, shortened};
use crate::ui::pages::RunsPage;
use crate::ui::report::tables_height;
use crate::ui::runs::{Needed, Needs, PerRun, Run, RunId, Runs, RunsAnswer, StepAt};
use crate::ui::split;
use crate::ui::theme::{Tokens, card_frame};
use crate::ui::widget::bins::{BinCache, BinValues};
use crate::ui::widget::choice::segments_ui;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::inspector::inspector_ui;
use crate::ui::widget::legend::{by_color, entry_ui};
use crate::ui::widget::overview::Overview;
use crate::ui::widget::sign::Sign;
use crate::ui::widget::toolbar::Toolbar;
use crate::ui::widget::view::VisibleRange;
use axis::{AxisUnit, length_text};
use data::ReadRun;
use search::{SpanOfRun, SpanSearch, nth};
use tables::{Spent, TraceTables};
use tiles::TraceTilePictures;

/// What steps are read with: a run whose steps are read is another one when this comes.
const NEEDS: Needs = &[Needed::Liveness];
/// What they are nested and searched by.
const NEEDS_OF_NAMES: Needs = &[Needed::Liveness, Needed::Debug];
/// What they are added up with.
const NEEDS_OF_SUMS: Needs = &[Needed::Liveness, Needed::Exchanges];
/// Stands where it is not known yet what a range was spent on.
const ADDING_UP: &str = "Adding up…";
/// Kinds that the key names.
const MOST_KINDS: usize = 14;
/// Least height of the tables, points, and the part of the page that they have at first.
const LEAST_TABLE: f32 = 90.0;
const TABLES: f32 = 0.24;
/// Height of the line below the picture, and of that of a run without an execution, points.
const TOOLBAR: f32 = 28.0;
const NOT_RECORDED: f32 = 24.0;

/// What is known of each run; `None` of one without steps.
type OfRuns = PerRun<Option<Arc<ReadRun>>>;
type LanesOfRuns = PerRun<Option<Arc<Lanes>>>;
/// A range of cycles from the first, which it is, and the kinds that are left out.
type RangeAsked = ((u64, u64), RangeIs, Hidden);
/// Kinds that are hidden, by name.
type Hidden = BTreeSet<String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RangeIs {
    Whole,
    Visible,
    Selected,
}

impl RangeIs {
    fn title(self) -> &'static str {
        match self {
            Self::Whole => "Whole trace",
            Self::Visible => "Visible range",
            Self::Selected => "Selected range",
        }
    }
}

/// A span or block of a run that was clicked, or gone to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ChosenNode {
    run: RunId,
    node: LaneNode,
}

#[derive(Default)]
pub struct TracePage {
    nesting: Nesting,
    unit: AxisUnit,
    hidden: Hidden,
    view: VisibleRange,
    toolbar: Toolbar,
    overview: BinCache,
    read: RunsAnswer<(), PerRun<Result<Arc<ReadRun>, Absence>>>,
    lanes: RunsAnswer<(Nesting, Hidden), LanesOfRuns>,
    sums: RunsAnswer<(), PerRun<Option<Arc<SpanSums>>>>,
    statistics: RunsAnswer<RangeAsked, Spent>,
    search: SpanSearch,
    tiles: TraceTilePictures,
    tables: TraceTables,
    chosen: Option<ChosenNode>,
    /// The part that is selected, in cycles from the first.
    range: Option<(u64, u64)>,
    /// Where the selection of a part began.
    range_from: Option<u64>,
    /// What the pointer is over: the run's place and its range.
    hovered: Option<ChosenNode>,
    /// The slow step at the peak that was gone to.
    slow_at: Option<usize>,
}

impl RunsPage for TracePage {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = page.runs;
        self.read.ask("steps that ran", ui.ctx(), (runs, NEEDS), &(), |runs, cancel| {
            let read = |run| {
                let found = ReadRun::of(run, cancel.progress());
                found.unwrap_or_else(|| Err(Absence::cancelled())).map(Arc::new)
            };
            runs.each(read)
        });
        let Some(answers) = self.read.last(runs).map(|((), read)| read) else {
            let failure = self.read.failure();
            absent_ui(ui, "The steps that ran are being read", failure.unwrap_or_default());
            return;
        };
        let read: OfRuns = answers.iter().map(|read| read.as_ref().ok().cloned()).collect();
        let absence = answers.iter().find_map(|read| read.as_ref().err().cloned());
        if read.iter().all(Option::is_none) {
            let reason = absence.map(|absence| absence.to_string()).unwrap_or_default();
            absent_ui(ui, "No execution recorded", &reason);
            return;
        }
        self.ask(ui.ctx(), runs, &read);
        self.search.update(ui.ctx(), runs, &read);
        self.head_ui(ui, runs, &read);
        self.key_ui(ui, page, &read);
        let hovered = self.hovered;
        inspector_ui(ui, |ui| self.inspect_ui(ui, page, &read, hovered));
        if self.tables.are_shown {
            let height = ui.available_height();
            let range = LEAST_TABLE.min(height * 0.5)..=height * 0.7;
            split::below(ui, "tables of the trace", tables_height(ui, TABLES), range, |ui| {
                let spent = self.statistics.last(page.runs).map(|(_, spent)| spent);
                let failure = || self.sums.failure().or(self.statistics.failure());
                let spent = spent.ok_or_else(|| failure().unwrap_or(ADDING_UP));
                let chosen = self.chosen.and_then(|chosen| {
                    let LaneNode::Span(span) = chosen.node else { return None };
                    Some((page.runs.position(chosen.run)?, u32::try_from(span).ok()?))
                });
                let found = self.tables.ui(ui, page, &read, spent, chosen);
                if let Some(found) = found {
                    self.go_to(page, &read, found);
                }
            });
        }
        split::rest(ui, Margin { top: 6, bottom: 6, ..Default::default() }, |ui| {
            let frame = card_frame(Tokens::now(ui)).inner_margin(Margin::symmetric(12, 8));
            frame.show(ui, |ui| self.pictures_ui(ui, page, &read));
        });
    }

    fn show_view(&mut self, view: crate::views::View, _scope: Scope) {
        if view == crate::views::View::TraceTiles {
            self.tiles.is_shown = true;
        }
    }

    /// Rows of the steps that were read are no rows of those that are read now, and what was worked out of them would
    /// keep the report that was: all of it goes, and what was set stays.
    fn run_renamed(&mut self, from: RunId, _: RunId) {
        self.chosen = self.chosen.filter(|chosen| chosen.run != from);
        (self.hovered, self.slow_at, self.range_from) = (None, None, None);
        self.read = RunsAnswer::default();
        self.lanes = RunsAnswer::default();
        self.sums = RunsAnswer::default();
        self.statistics = RunsAnswer::default();
        self.search.forget();
        self.tiles.forget();
        self.tables.forget();
    }
}

/// The longest of the runs, in cycles: what the axis is as long as.
fn len_of(read: &OfRuns) -> usize {
    read.iter().flatten().map(|run| run.len()).max().unwrap_or(1).max(1)
}

impl TracePage {
    fn ask(&mut self, ctx: &egui::Context, runs: &Arc<Runs>, read: &OfRuns) {
        let (nesting, hidden) = (self.nesting, self.hidden.clone());
        let for_job = read.clone();
        let key = (nesting, hidden.clone());
        self.lanes.ask("lanes of steps", ctx, (runs, NEEDS_OF_NAMES), &key, move |_, cancel| {
            let lanes = |run: &Option<Arc<ReadRun>>| {
                let run = run.as_ref()?;
                let hidden = run.hidden(&hidden);
                Lanes::of(run.executed()?, nesting, &hidden, cancel.progress()).map(Arc::new)
            };
            for_job.iter().map(lanes).collect()
        });
        self.tiles.ask(ctx, runs, read, &self.hidden);
        let for_job = read.clone();
        let needs = (runs, NEEDS_OF_SUMS);
        self.sums.ask("sums of steps", ctx, needs, &(), move |_, cancel| {
            let sums = |run: &Option<Arc<ReadRun>>| {
                SpanSums::of(run.as_ref()?.executed()?, cancel.progress()).map(Arc::new)
            };
            for_job.iter().map(sums).collect()
        });
        let Some(sums) = self.sums.get((runs, NEEDS_OF_SUMS), &()).cloned() else { return };
        let (range, which) = self.asked_range(read);
        let (for_job, hidden) = (read.clone(), self.hidden.clone());
        let key = ((range.start, range.end), which, hidden.clone());
        self.statistics.ask("what a range is spent on", ctx, needs, &key, move |runs, _| {
            Spent::of(runs, &for_job, &sums, &range, &hidden)
        });
    }

    /// The part that is selected, else the visible one, in cycles from the first.
    fn asked_range(&self, read: &OfRuns) -> (Range<u64>, RangeIs) {
        let len = len_of(read);
        // One of another report may lie beyond this one.
        if let Some((from, to)) = self.range.filter(|(from, _)| *from < len as u64) {
            return (from..to.min(len as u64), RangeIs::Selected);
        }
        let (from, to) = self.view.range(len);
        let which = if self.view.is_zoomed() { RangeIs::Visible } else { RangeIs::Whole };
        ((from + 0.5).max(0.0).round() as u64..(to + 0.5).max(0.0).round() as u64, which)
    }

    fn head_ui(&mut self, ui: &mut egui::Ui, runs: &Runs, read: &OfRuns) {
        let answer = answer(runs, read, self.unit);
        page_head_ui(ui, "Trace", answer.as_ref(), |ui| {
            self.search.field_ui(ui);
            let nestings =
                [(Nesting::Names, "Names"), (Nesting::Layers, "Layers"), (Nesting::Flat, "Flat")];
            segments_ui(ui, "How steps are nested", &mut self.nesting, nestings);
            if read.iter().flatten().any(|run| run.clock_hz.is_some()) {
                let units = [(AxisUnit::Cycles, "Cycles"), (AxisUnit::Time, "Time")];
                segments_ui(ui, "The unit of the axis", &mut self.unit, units);
            }
            self.tiles.choice_ui(ui, read);
            ui.toggle_value(&mut self.tables.are_shown, "Tables")
                .on_hover_text("What a range was spent on by kind, and the slow steps");
        });
    }

    /// Kinds in their colors, what was found, and the way to slow steps at the peak.
    fn key_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, read: &OfRuns) {
        let tokens = *Tokens::now(ui);
        let mut kinds: Vec<&str> = Vec::new();
        for (kind, _) in read.iter().flatten().flat_map(|run| &run.kinds) {
            if !kinds.contains(&&**kind) {
                kinds.push(kind);
            }
        }
        ui.horizontal_wrapped(|ui| {
            let shown = kinds.iter().take(MOST_KINDS);
            for (kind, patch) in by_color(shown.map(|kind| (*kind, kind_color(kind, &tokens)))) {
                let mut is_on = !self.hidden.contains(kind);
                if entry_ui(ui, patch, &shortened(kind, 30), &mut is_on).changed() {
                    if is_on {
                        self.hidden.remove(kind);
                    } else {
                        self.hidden.insert(kind.to_owned());
                    }
                }
            }
            if let Some(more) = kinds.len().checked_sub(MOST_KINDS).filter(|more| *more > 0) {
                ui.weak(format!("and {more} more kinds"));
            }
        });
        let slow: usize = read.iter().flatten().map(|run| run.slow.len()).sum();
        ui.horizontal(|ui| {
            let mut gone_to = self.search.found_ui(ui, page.runs);
            if slow > 0 {
                let hover = "Slow: among the longest steps that take half of the cycles of their \
                             IPU. Near the peak: at least nine tenths of the most memory is alive";
                let count = counted(slow as u64, "step");
                let of = if page.runs.is_one() { "" } else { ", in all runs" };
                ui.label(format!("{count} slow and near the peak{of}")).on_hover_text(hover);
                let next = ui.button("Next slow step").on_hover_text("Marked by a triangle");
                if next.clicked() {
                    let at = self.slow_at.map_or(0, |at| (at + 1) % slow);
                    self.slow_at = Some(at);
                    let slow = read.iter().map(|run| run.as_ref().map(|run| &run.slow));
                    gone_to = nth(slow, at);
                }
            }
            if self.range.is_some() && ui.button("Clear the selected range").clicked() {
                self.range = None;
            }
            if let Some(found) = gone_to {
                self.go_to(page, read, found);
            }
        });
    }

    /// Selects a span, shows it, and selects its step of liveness.
    fn go_to(&mut self, page: &mut PageContext<'_>, read: &OfRuns, (place, span): SpanOfRun) {
        let Some(of_run) = read.get(place).and_then(Option::as_ref) else { return };
        self.choose_span(page, of_run, span as usize);
        let bounds = of_run.executed().and_then(|executed| executed.bounds(span as usize));
        if let Some((start, end)) = bounds {
            let from = start.saturating_sub(of_run.cycles.start) as f64;
            let length = (end - start) as f64;
            let len = len_of(read);
            let (low, high) = self.view.range(len);
            // It is to be seen as more than a line.
            if length < (high - low) / 200.0 || from < low || from + length > high {
                let room = (length * 20.0).max(100.0);
                let middle = from + length / 2.0;
                self.view.show(len, middle - room / 2.0, middle + room / 2.0);
            }
        }
    }

    fn choose_span(&mut self, page: &mut PageContext<'_>, read: &ReadRun, span: usize) {
        let Some(executed) = read.executed() else { return };
        let run = read.run;
        self.chosen = Some(ChosenNode { run, node: LaneNode::Span(span) });
        let step = read.liveness_steps.get(executed.step_of(span)).copied().flatten();
        if let Some(step) = step {
            page.selection.steps = vec![StepAt { run, step: step as usize }];
        }
    }

    fn pictures_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, read: &OfRuns) {
        let space = ui.available_rect_before_wrap();
        let line = space.with_min_y(space.bottom() - TOOLBAR);
        let above = space.with_max_y(line.top() - 4.0);
        let Some(lanes) = self.lanes.last(page.runs).map(|(_, lanes)| lanes.clone()) else {
            let failure = self.lanes.failure();
            absent_ui(ui, failure.unwrap_or("The lanes are being laid out"), "");
            return;
        };
        self.hovered = None;
        ui.scope_builder(egui::UiBuilder::new().max_rect(above), |ui| {
            // The wheel zooms.
            let source = ScrollSource { mouse_wheel: false, ..ScrollSource::default() };
            let area =
                ScrollArea::vertical().id_salt("lanes").auto_shrink(false).scroll_source(source);
            area.show(ui, |ui| {
                let runs = Arc::clone(page.runs);
                // What one of several runs has of the height, without its title.
                let title = if runs.is_one() { 8.0 } else { 40.0 };
                let both = read.iter().zip(&lanes);
                let drawn = both.filter(|(run, lanes)| run.is_some() && lanes.is_some()).count();
                let others = (runs.len() - drawn) as f32 * NOT_RECORDED;
                let room = (above.height() - others) / drawn.max(1) as f32 - title;
                for ((run, of_run), lanes) in runs.iter().zip(read).zip(&lanes) {
                    let (Some(of_run), Some(lanes)) = (of_run, lanes) else {
                        ui.horizontal(|ui| not_recorded_ui(ui, run));
                        continue;
                    };
                    if !runs.is_one() {
                        run_title_ui(ui, run);
                    }
                    self.run_ui(ui, page, of_run, lanes, len_of(read), room);
                    ui.add_space(8.0);
                }
            });
        });
        self.toolbar.picture = Some(above);
        ui.scope_builder(egui::UiBuilder::new().max_rect(line), |ui| {
            let of_longest = read.iter().flatten().max_by_key(|run| run.len());
            let values = of_longest.map_or(&[][..], |run| &run.overview);
            let overview = Overview {
                values: BinValues::Known(values),
                len: len_of(read),
                base: 0,
                version: of_longest.map_or(0, |run| Arc::as_ptr(run).addr() as u64),
                top: values.iter().copied().max().unwrap_or(1),
                limit: None,
                selected: None,
                cache: &mut self.overview,
            };
            let (view, commands) = (&mut self.view, &mut *page.commands);
            let (tiles, selection) = (&mut self.tiles, &*page.selection);
            let others = |ui: &mut egui::Ui| tiles.zoom_ui(ui, read, selection);
            if self.toolbar.ui(ui, "execution trace", view, overview, commands, others) {
                self.tiles.reset();
            }
        });
        ui.advance_cursor_after_rect(space);
        *page.has_painted_graph = true;
    }
}

/// Says in a line that a run among others has no execution, and why.
fn not_recorded_ui(ui: &mut egui::Ui, run: &Run) {
    run_title_ui(ui, run);
    let absence = run.report.trace.absence();
    let why = absence.map(ToString::to_string).unwrap_or_default();
    let text = format!("No execution recorded. {why}");
    let label = egui::Label::new(RichText::new(&text).weak()).truncate();
    ui.add(label).on_hover_text(text);
}

/// What the runs were spent on, in a sentence.
fn answer(runs: &Runs, read: &OfRuns, unit: AxisUnit) -> Option<(Sign, String)> {
    let found = |(run, read)| Some((run, Option::as_ref(read)?));
    let (run, of_run) = runs.iter().zip(read).find_map(found)?;
    let executed = of_run.executed()?;
    let recorded = executed.trace.runs.len();
    let steps = executed.trace.ids.len();
    let length = length_text(of_run.cycles.end - of_run.cycles.start, unit, of_run.clock_hz);
    let slow = of_run.slow.len() as u64;
    let mut text =
        format!("{}, {} steps in {length}", counted(recorded as u64, "run"), grouped(steps as u64));
    if slow > 0 {
        text += &format!("; {} slow and near the peak of memory", grouped(slow));
    }
    if !runs.is_one() {
        text = format!("{}: {text}", run.title);
    }
    Some((Sign::Plain, text))
}
