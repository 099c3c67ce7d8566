//! Overview: whether the run fits and why not, what its memory is used for, its curve, its tiles, who owns its peak, what
//! to try first, and the facts of report and machine; everything leads on by a click.

mod advice;
mod capacity;
mod curve;
mod facts;
mod tiles;

use eframe::egui::{self, Align, Layout, ScrollArea, Vec2};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::PageContext;
use super::cards::{CardChoices, run_card_ui};
use super::found_insights::{ADVICE_COMES, FoundInsights, KnownInsights};
use super::glance::{ClickEffect, GlanceTable};
use super::head::page_head_ui;
use super::room::{has_failed, of_part, room_of};
use super::run_part::RunPart;
use super::run_title_ui;
use super::tile_histogram::histogram_ui;
use super::verdict_banner::{Proof, verdict_banner_ui};
use crate::analysis::memory::capacity::Capacity;
use crate::analysis::memory::fullest_tiles::{Bin, DRAWN_BINS, fullest_of, histogram};
use crate::run::FirstSight;
use crate::ui::card_fields::takes_capacity;
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
use curve::{CurvePicture, KnownCurve, areas_of_run};
use facts::GroupsOfRun;

const OF_CURVES: Needs = &[Needed::Curves];
const NEEDS: Needs = &[Needed::Memory, Needed::Liveness, Needed::About, Needed::Debug];
/// Pieces of advice that are shown.
const MOST_ADVICE: usize = 3;
/// Bars of a card.
const MOST_BARS: usize = 7;
/// Width from which cards stand beside one another, points.
const BESIDE: f32 = 640.0;
/// Heights of the cards of curve and tiles, points: what advice leaves of the page, between these.
const LEAST_PICTURES: f32 = 250.0;
const MOST_PICTURES: f32 = 560.0;
/// Height of a piece of advice, points.
const ADVICE: f32 = 200.0;

#[derive(Default)]
pub struct OverviewPage {
    glance: GlanceTable,
    /// The run of several that is shown below their table; the reference if none was chosen.
    chosen: Option<RunId>,
    known: RunsAnswer<OverviewDetail, Vec<KnownRun>>,
    /// Whether something of it was drawn.
    has_drawn: bool,
    of_runs: BTreeMap<RunId, OverviewOfRun>,
}

#[derive(Default)]
struct OverviewOfRun {
    insights: FoundInsights,
    curve: CurvePicture,
    strip: tiles::TilesOverview,
    cards: CardChoices,
}

/// How much is worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OverviewDetail {
    /// Of large runs that need little of their reports what takes no time: the curve as one area, and the figures.
    First,
    All,
}

/// What is worked out of a run, beside its insights.
#[derive(Default)]
struct KnownRun {
    capacity: Option<Capacity>,
    curve: Option<KnownCurve>,
    tiles: Vec<Bin>,
    facts: GroupsOfRun,
}

impl KnownRun {
    /// `fullest` are the bytes of the fullest tile of all runs.
    fn of(run: &Run, detail: OverviewDetail, fullest: u64, cancel: &Cancel) -> Self {
        let of_limit = |limit| histogram(&run.report, DRAWN_BINS, fullest.max(limit));
        let tiles = run.report.bytes_per_tile().map_or(Vec::new(), of_limit);
        let capacity = || Capacity::of(&run.report);
        let (curve, facts) =
            rayon::join(|| KnownCurve::of(run, detail, cancel), || GroupsOfRun::of(run));
        Self { capacity: (!tiles.is_empty()).then(capacity).flatten(), curve, tiles, facts }
    }
}

impl OverviewPage {
    /// Asks for what is worked out of runs: of large ones for the curve first, where that needs little of their reports; it
    /// is seen while the rest comes. Returns whether there is time for the rest.
    fn ask(&mut self, ctx: &egui::Context, runs: &Arc<Runs>) -> bool {
        // Then the curves of all need no part of their reports but the changes of memory, which are there first.
        let are_beside = runs.iter().all(|run| areas_of_run(run).is_some());
        let needs = (runs, if are_beside { OF_CURVES } else { NEEDS });
        if are_beside && !runs.is_settled(OF_CURVES) {
            return false;
        }
        let known = &mut self.known;
        let ask = |known: &mut RunsAnswer<OverviewDetail, Vec<KnownRun>>, detail| {
            known.ask_or_tell("overview", ctx, needs, &detail, move |runs, cancel| {
                let fullest = fullest_of(runs.iter().map(|run| &*run.report));
                runs.iter().map(|run| KnownRun::of(run, detail, fullest, cancel)).collect()
            });
        };
        let has_time = !are_beside || runs.are_small() || self.has_drawn;
        if known.last(runs).is_none() && are_beside && !runs.are_small() {
            self.has_drawn = false;
            ask(known, OverviewDetail::First);
            return false;
        }
        if has_time {
            ask(known, OverviewDetail::All);
        }
        // What comes after the curve begins when it is painted: both at once would take as long again.
        if !self.has_drawn && known.last(runs).is_some() {
            self.has_drawn = true;
            ctx.request_repaint();
        }
        has_time
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
        let has_time = self.ask(ui.ctx(), runs);
        let Some((_, known)) = self.known.last(runs) else {
            ui.weak(self.known.failure().unwrap_or("Reading…"));
            return;
        };
        *page.has_painted_graph |= known.iter().any(|known| known.curve.is_some());
        let place = self.chosen.and_then(|run| runs.position(run)).unwrap_or(0);
        if !runs.is_one()
            && let Some(glance) = self.glance.ask(ui, runs)
        {
            let answer = self.glance.answer(ui, runs, &glance).clone();
            page_head_ui(ui, "Overview", Some(&answer), |ui| {
                GlanceTable::exports_ui(ui, page, Some(&glance));
            });
            let chosen = runs.get(place).map(|run| run.id);
            self.chosen =
                self.glance.ui(ui, page, &glance, ClickEffect::Shows, chosen).or(self.chosen);
        }
        let Some((run, known)) = runs.get(place).zip(known.get(place)) else { return };
        if takes_capacity(&run.report) {
            page.room.row_ui(ui);
        }
        let state = self.of_runs.entry(run.id).or_default();
        let insights = state.insights.ask(ui.ctx(), run, has_time);
        let (selection, commands) = (&mut *page.selection, &mut *page.commands);
        let mut part = RunPart { run, selection, commands };
        let is_beside = is_beside(ui);
        if is_beside {
            inspector_ui(ui, |ui| facts::facts_ui(ui, &known.facts, &mut part));
        }
        let area = ScrollArea::vertical().id_salt("overview").auto_shrink(false);
        let area = area.show(ui, |ui| {
            if !runs.is_one() {
                run_title_ui(ui, run);
            }
            state.ui(ui, known, insights.as_ref(), &mut part);
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

impl OverviewOfRun {
    fn ui(
        &mut self,
        ui: &mut egui::Ui,
        known: &KnownRun,
        insights: Option<&KnownInsights>,
        part: &mut RunPart<'_>,
    ) {
        if let Some(KnownInsights { sight, is_final }) = insights {
            let is_open = !is_final && !part.run.derived.answers().are_beside_report();
            let so_far = is_open.then_some("operations are still being read");
            verdict_banner_ui(ui, part, sight, Proof::Figures, so_far);
        }
        if let Some(capacity) = &known.capacity {
            let title = part.run.report.target.get().and_then(|target| target.devices);
            let title = match title {
                Some(ipus @ 2..) => format!("Memory of {ipus} IPUs, with gaps"),
                _ => format!("Memory of all {}, with gaps", part.run.report.system.arenas),
            };
            let run = part.run;
            // Where some tiles are over, others may have so much free that all together have room.
            let failed_ui = |ui: &mut egui::Ui| {
                let units = Units::now(ui);
                let (used, all) = (capacity.used_bytes, capacity.capacity_bytes);
                if has_failed(run.derived.known_verdict().as_deref()) {
                    let (sign, text) = of_part(run, room_of(used, all, units), units);
                    let layout = Layout::left_to_right(Align::Center);
                    ui.with_layout(layout, |ui| answer_ui(ui, sign, &text));
                }
            };
            let capacity_ui = |ui: &mut egui::Ui| capacity::capacity_ui(ui, capacity);
            picture_card_ui(ui, &title, part.commands, failed_ui, capacity_ui);
        }
        self.pictures_ui(ui, known, part);
        if let Some(insights) = insights {
            self.glance_ui(ui, &insights.sight, part);
            advice_ui(ui, insights, part);
        }
    }

    fn pictures_ui(&mut self, ui: &mut egui::Ui, known: &KnownRun, part: &mut RunPart<'_>) {
        let width = ui.available_width();
        let limit = part.run.report.bytes_per_tile();
        let tiles = limit.filter(|_| !known.tiles.is_empty());
        let below = ADVICE + 60.0;
        let height = (ui.available_height() - below).clamp(LEAST_PICTURES, MOST_PICTURES);
        let is_beside = width >= BESIDE && tiles.is_some() && known.curve.is_some();
        let left = if is_beside { (width - BETWEEN_CARDS) * 0.62 } else { width };
        let right = if is_beside { width - BETWEEN_CARDS - left } else { width };
        let mut curve_ui = |ui: &mut egui::Ui, part: &mut RunPart<'_>| {
            if let Some(curve) = &known.curve {
                self.curve.ui(ui, curve, height, part);
            }
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
                    let name = "Histogram of tiles";
                    histogram_ui(ui, name, &known.tiles, Some(limit), height * 0.5, part);
                    strip.ui(ui, height * 0.27, part);
                },
            );
            part.commands.append(&mut exports);
        };
        if !is_beside {
            curve_ui(ui, part);
            tiles_ui(ui, part);
            return;
        }
        let column = Layout::top_down(Align::Min);
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = BETWEEN_CARDS;
            let size = Vec2::new(left, height);
            ui.allocate_ui_with_layout(size, column, |ui| curve_ui(ui, part));
            let size = Vec2::new(right, height);
            ui.allocate_ui_with_layout(size, column, |ui| tiles_ui(ui, part));
        });
    }

    /// What memory is for and whose it is, beside each other.
    fn glance_ui(&mut self, ui: &mut egui::Ui, sight: &FirstSight, part: &mut RunPart<'_>) {
        if sight.glance.iter().all(Vec::is_empty) {
            return;
        }
        ui.columns_const(|columns: &mut [egui::Ui; 2]| {
            for (ui, cards) in columns.iter_mut().zip(&sight.glance) {
                for card in cards {
                    run_card_ui(ui, part, &mut self.cards, card, MOST_BARS);
                }
            }
        });
    }
}

fn advice_ui(ui: &mut egui::Ui, insights: &KnownInsights, part: &mut RunPart<'_>) {
    if !insights.is_final {
        let is_beside = part.run.derived.answers().are_beside_report();
        ui.weak(if is_beside { "Advice is being worked out" } else { ADVICE_COMES });
        return;
    }
    let found = &insights.sight.found;
    let (advice, verdict) = (&found.advice, found.verdict.as_ref());
    let shown: Vec<_> = advice.iter().take(MOST_ADVICE).collect();
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
            let piece = |ui: &mut egui::Ui| advice::piece_ui(ui, number, advice, verdict);
            ui.allocate_ui_with_layout(size, column, piece);
        }
    };
    if columns > 1 {
        ui.horizontal_top(all)
    } else {
        ui.vertical(all)
    };
    ui.add_space(4.0);
    let more = advice.len().saturating_sub(shown.len());
    let title = match more {
        0 => "Evidence in Insights".to_owned(),
        more => format!("{more} more, and the evidence, in Insights"),
    };
    if ui.link(title).clicked() {
        part.commands.push(Command::Go(Page::Insights));
    }
}
