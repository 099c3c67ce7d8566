//! Overview: whether the program fits and why not, what its memory is used for, its curve, its tiles, what to try
//! first, and the facts of report and machine; everything leads on by a click.

mod advice;
mod capacity;
mod facts;
mod program;
mod snapshot;
mod steps;
mod tiles;

use eframe::egui::{self, Align, Layout, ScrollArea, Vec2};
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::Arc;

use super::PageContext;
use super::found_insights::{ADVICE_COMES, FoundInsights, KnownInsights};
use super::glance::{Click, GlanceTable};
use super::head::page_head_ui;
use super::program_verdict::verdict_ui;
use super::run_part::RunPart;
use super::run_title_ui;
use super::snapshot::are_snapshots;
use super::tile_histogram::histogram_ui;
use super::verdict_banner::{Proof, verdict_banner_ui};
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::timeline::Timeline;
use crate::analysis::memory::capacity::Capacity;
use crate::systems::poplar::insights::fullest_tiles::{Bin, histogram_around_limit};
use crate::systems::xla::buffer_assignment::insights::ProgramInsights;
use crate::ui::command::{Command, Page};
use crate::ui::job::Cancel;
use crate::ui::pages::RunsPage;
use crate::ui::runs::{Needed, Needs, Run, RunId, Runs, RunsAnswer};
use crate::ui::theme::{BETWEEN_CARDS, Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::card::picture_card_ui;
use crate::ui::widget::exports::scrolled_of_exports;
use crate::ui::widget::inspector::{inspector_ui, is_beside};
use crate::ui::widget::sign::answer_ui;
use facts::GroupsOfRun;
use snapshot::{SnapshotGlance, SnapshotKnown};
use steps::{NamedPeaks, StepsPicture, answer_of_curve_ui, over_steps};

const NEEDS: Needs = &[Needed::Memory, Needed::Liveness, Needed::About, Needed::Debug];
/// Pieces of advice that are shown.
const MOST_ADVICE: usize = 3;
/// Width from which cards stand beside one another, points.
const BESIDE: f32 = 640.0;
/// Heights of the cards of curve and tiles, points: what advice leaves of the page, between these.
const LEAST_PICTURES: f32 = 250.0;
const MOST_PICTURES: f32 = 560.0;
/// Height of a piece of advice, points.
const ADVICE: f32 = 168.0;

#[derive(Default)]
pub struct OverviewPage {
    glance: GlanceTable,
    /// The run of several that is shown below their table; the reference if none was chosen.
    chosen: Option<RunId>,
    known: RunsAnswer<Detail, Vec<Known>>,
    /// Whether something of it was drawn.
    has_drawn: bool,
    of_runs: BTreeMap<RunId, OfRun>,
}

#[derive(Default)]
struct OfRun {
    insights: FoundInsights,
    steps: StepsPicture,
    strip: tiles::Strip,
    snapshot: SnapshotGlance,
}

/// How much is worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// Of a large memory snapshot what takes no time: the curve and the figures.
    First,
    All,
}

/// What is worked out of a run, beside its insights.
#[derive(Default)]
struct Known {
    capacity: Option<Capacity>,
    timeline: Option<Arc<Timeline>>,
    peaks: NamedPeaks,
    tiles: Vec<Bin>,
    facts: GroupsOfRun,
    /// Of a program of XLA, in place of the insights.
    program: Option<Arc<ProgramInsights>>,
    /// Of a memory snapshot, in place of all that.
    snapshot: Option<SnapshotKnown>,
}

impl Known {
    fn of(run: &Run, detail: Detail, cancel: &Cancel) -> Self {
        if let Some(allocator) = run.derived.allocator().filter(|run| run.snapshot().is_some()) {
            let curves_of = || SnapshotKnown::curves_of(run, detail, cancel);
            let (curves, facts) = std::thread::scope(|scope| {
                let named = std::thread::Builder::new().name("curves of a snapshot".to_owned());
                let curves = named.spawn_scoped(scope, curves_of);
                let facts = GroupsOfRun::of(run);
                let curves = curves.map_or_else(
                    |_| curves_of(),
                    |curves| curves.join().unwrap_or_else(|panic| resume_unwind(panic)),
                );
                (curves, facts)
            });
            let snapshot = curves.and_then(|curves| SnapshotKnown::of(allocator, curves));
            return Self { facts, snapshot, ..Self::default() };
        }
        let report = &run.report;
        let timeline = run.derived.timeline(Scope::Everything, &|| cancel.is_cancelled());
        let operations = run.derived.operations();
        let peaks = timeline.as_ref().map(|it| NamedPeaks::of(report, it, operations.as_deref()));
        Self {
            capacity: Capacity::of(report),
            peaks: peaks.unwrap_or_default(),
            timeline,
            tiles: histogram_around_limit(report),
            facts: GroupsOfRun::of(run),
            program: run.derived.program_insights(),
            snapshot: None,
        }
    }
}

/// What all of this is worked out from: of memory snapshots no part of their reports, of which none is there at first.
fn needs_of(runs: &Runs) -> Needs {
    if are_snapshots(runs) { &[] } else { NEEDS }
}

impl OverviewPage {
    /// Asks for what is worked out of runs: of large snapshots for the curve first, which is seen while the rest comes.
    fn ask(&mut self, ctx: &egui::Context, runs: &Arc<Runs>) {
        let needs = (runs, needs_of(runs));
        let known = &mut self.known;
        let ask = |known: &mut RunsAnswer<Detail, Vec<Known>>, detail| {
            known.ask_or_tell("overview", ctx, needs, &detail, move |runs, cancel| {
                runs.iter().map(|run| Known::of(run, detail, cancel)).collect()
            });
        };
        if !are_snapshots(runs) || runs.are_small() {
            ask(known, Detail::All);
        } else if known.last(runs).is_none() {
            self.has_drawn = false;
            ask(known, Detail::First);
        } else if self.has_drawn {
            ask(known, Detail::All);
        }
        // What comes after the curve begins when it is painted: both at once would take as long again.
        if !self.has_drawn && known.last(runs).is_some() {
            self.has_drawn = true;
            ctx.request_repaint();
        }
    }
}

impl RunsPage for OverviewPage {
    fn run_renamed(&mut self, from: RunId, to: RunId) {
        if self.chosen == Some(from) {
            self.chosen = Some(to);
        }
        self.of_runs.remove(&from);
        self.known = RunsAnswer::default();
    }

    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = page.runs;
        self.of_runs.retain(|id, _| runs.position(*id).is_some());
        self.ask(ui.ctx(), runs);
        let Some((_, known)) = self.known.last(runs) else {
            ui.weak(self.known.failure().unwrap_or("Reading…"));
            return;
        };
        let has_curve = |known: &Known| known.timeline.is_some() || known.snapshot.is_some();
        *page.has_painted_graph |= known.iter().any(has_curve);
        let place = self.chosen.and_then(|run| runs.position(run)).unwrap_or(0);
        if !runs.is_one()
            && let Some(glance) = self.glance.ask(ui, runs)
        {
            let answer = self.glance.answer(ui, runs, &glance).clone();
            page_head_ui(ui, "Overview", Some(&answer), |ui| {
                GlanceTable::exports_ui(ui, page, Some(&glance));
            });
            let chosen = runs.get(place).map(|run| run.id);
            self.chosen = self.glance.ui(ui, page, &glance, (Click::Shows, chosen)).or(self.chosen);
        }
        let Some((run, known)) = runs.get(place).zip(known.get(place)) else { return };
        let state = self.of_runs.entry(run.id).or_default();
        let has_verdict = known.snapshot.is_none() && known.program.is_none();
        let insights = has_verdict.then(|| state.insights.ask(ui.ctx(), run)).flatten();
        let (selection, commands) = (&mut *page.selection, &mut *page.commands);
        let mut part = RunPart { run, selection, commands };
        let is_beside = is_beside(ui);
        if is_beside {
            inspector_ui(ui, |ui| facts::facts_ui(ui, &known.facts, &mut part));
        }
        let answer = known.snapshot.as_ref().map(|snapshot| snapshot.answer(Units::now(ui)));
        if runs.is_one() && answer.is_some() {
            page_head_ui(ui, "Overview", answer.as_ref(), |_| {});
        }
        let area = ScrollArea::vertical().id_salt("overview").auto_shrink(false);
        let area = area.show(ui, |ui| {
            if !runs.is_one() {
                run_title_ui(ui, run);
                if let Some((sign, text)) = &answer {
                    ui.horizontal(|ui| answer_ui(ui, *sign, text));
                }
            }
            state.ui(ui, known, (insights.as_ref(), self.known.failure()), &mut part);
            if !is_beside {
                ui.add_space(BETWEEN_CARDS);
                card_frame(Tokens::now(ui)).show(ui, |ui| {
                    ui.set_width(ui.available_width());
                    facts::facts_ui(ui, &known.facts, &mut part);
                });
            }
        });
        scrolled_of_exports(ui, &area);
    }
}

impl OfRun {
    fn ui(
        &mut self,
        ui: &mut egui::Ui,
        known: &Known,
        (insights, failure): (Option<&KnownInsights>, Option<&str>),
        part: &mut RunPart<'_>,
    ) {
        if let Some(snapshot) = &known.snapshot {
            self.snapshot.ui(ui, snapshot, failure, part);
            return;
        }
        if let Some(found) = &known.program {
            if let Some(verdict) = &found.found.verdict {
                verdict_ui(ui, verdict, Proof::Figures);
            }
            self.pictures_ui(ui, known, part);
            program::parts_ui(ui, found, part);
            return;
        }
        if let Some((insights, verdict)) =
            insights.and_then(|insights| Some((insights, insights.found.verdict.as_ref()?)))
        {
            let so_far = (!insights.is_final).then_some("operations are still being read");
            verdict_banner_ui(ui, verdict, Proof::Figures, so_far);
        }
        if let Some(capacity) = &known.capacity {
            let title = part.run.report.target.get().and_then(|target| target.ipus);
            let title = match title {
                Some(ipus @ 2..) => format!("Memory of {ipus} IPUs, with gaps"),
                _ => format!("Memory of all {}, with gaps", part.run.report.system.arenas),
            };
            let capacity_ui = |ui: &mut egui::Ui| capacity::capacity_ui(ui, capacity);
            picture_card_ui(ui, &title, part.commands, |_| {}, capacity_ui);
        }
        self.pictures_ui(ui, known, part);
        if let Some(insights) = insights {
            advice_ui(ui, insights, part);
        }
    }

    fn pictures_ui(&mut self, ui: &mut egui::Ui, known: &Known, part: &mut RunPart<'_>) {
        let width = ui.available_width();
        let limit = part.run.report.bytes_per_tile();
        let tiles = limit.filter(|_| !known.tiles.is_empty());
        let below = ADVICE + 60.0;
        let height = (ui.available_height() - below).clamp(LEAST_PICTURES, MOST_PICTURES);
        let is_beside = width >= BESIDE && tiles.is_some() && known.timeline.is_some();
        let left = if is_beside { (width - BETWEEN_CARDS) * 0.62 } else { width };
        let right = if is_beside { width - BETWEEN_CARDS - left } else { width };
        let mut steps_ui = |ui: &mut egui::Ui, part: &mut RunPart<'_>| {
            let Some(timeline) = &known.timeline else { return };
            let mut exports = Vec::new();
            picture_card_ui(
                ui,
                &over_steps(&part.run.report.system),
                &mut exports,
                |ui| answer_of_curve_ui(ui, timeline),
                |ui| {
                    let height = height - 64.0;
                    self.steps.ui(ui, (timeline, &known.peaks), height, part);
                },
            );
            part.commands.append(&mut exports);
        };
        let strip = &mut self.strip;
        let mut tiles_ui = |ui: &mut egui::Ui, part: &mut RunPart<'_>| {
            let Some(limit) = tiles else { return };
            let mut exports = Vec::new();
            picture_card_ui(
                ui,
                "Tiles",
                &mut exports,
                |_| {},
                |ui| {
                    let bins = (&*known.tiles, Some(limit));
                    histogram_ui(ui, "Histogram of tiles", bins, height * 0.5, part);
                    strip.ui(ui, height * 0.27, part);
                },
            );
            part.commands.append(&mut exports);
        };
        if !is_beside {
            steps_ui(ui, part);
            tiles_ui(ui, part);
            return;
        }
        let column = Layout::top_down(Align::Min);
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = BETWEEN_CARDS;
            let size = Vec2::new(left, height);
            ui.allocate_ui_with_layout(size, column, |ui| steps_ui(ui, part));
            let size = Vec2::new(right, height);
            ui.allocate_ui_with_layout(size, column, |ui| tiles_ui(ui, part));
        });
    }
}

fn advice_ui(ui: &mut egui::Ui, insights: &KnownInsights, part: &mut RunPart<'_>) {
    if !insights.is_final {
        ui.weak(ADVICE_COMES);
        return;
    }
    let shown: Vec<_> = insights.found.advice.iter().take(MOST_ADVICE).collect();
    if shown.is_empty() {
        return;
    }
    let columns = if ui.available_width() >= BESIDE { shown.len() } else { 1 };
    let gaps = BETWEEN_CARDS * (columns as f32 - 1.0);
    let width = ((ui.available_width() - gaps) / columns as f32).floor();
    let size = Vec2::new(width, ADVICE);
    let all = |ui: &mut egui::Ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(BETWEEN_CARDS);
        for (number, advice) in (1..).zip(&shown) {
            let column = Layout::top_down(Align::Min);
            let piece = |ui: &mut egui::Ui| advice::piece_ui(ui, number, advice);
            ui.allocate_ui_with_layout(size, column, piece);
        }
    };
    if columns > 1 {
        ui.horizontal_top(all)
    } else {
        ui.vertical(all)
    };
    ui.add_space(4.0);
    let more = insights.found.advice.len().saturating_sub(shown.len());
    let title = match more {
        0 => "Evidence in Insights".to_owned(),
        more => format!("{more} more, and the evidence, in Insights"),
    };
    if ui.link(title).clicked() {
        part.commands.push(Command::Go(Page::Insights));
    }
}
