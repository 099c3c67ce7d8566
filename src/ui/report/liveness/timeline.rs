//! Liveness of a memory timeline of torch.profiler: bytes by category over its points, and nothing else, for it has no
//! blocks, no addresses and no stacks (formats/pytorch.md 6).

use eframe::egui::{self, Color32, Vec2};
use std::sync::Arc;

use crate::store::memory_timeline::{MemoryTimeline, TimelineForm};
use crate::systems::pytorch::allocator::curves::BlocksBy;
use crate::systems::pytorch::allocator::replayed::RunContents;
use crate::text::{grouped, time_text};
use crate::ui::report::PageContext;
use crate::ui::report::head::page_head_ui;
use crate::ui::report::snapshot::curves::{AreaCaches, Curves, area_layers};
use crate::ui::report::snapshot::group_color;
use crate::ui::runs::{Needs, Run, Runs, RunsAnswer, StepAt};
use crate::ui::theme::{Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::curve::{Layer, Picture, curve_ui};
use crate::ui::widget::heights::Heights;
use crate::ui::widget::inspector::{exact_fact_ui, fact_ui, inspector_ui, part_ui, title_ui};
use crate::ui::widget::legend::{Patch, label_ui};
use crate::ui::widget::overview::Overview;
use crate::ui::widget::toolbar::Toolbar;
use crate::ui::widget::view::View;

/// A timeline is read before any part of its report is there.
const NEEDS: Needs = &[];
/// Height of the line below the curve, points.
const TOOLBAR: f32 = 28.0;

/// The timeline of a run.
pub fn timeline_of(run: &Run) -> Option<&Arc<MemoryTimeline>> {
    match &run.derived.allocator()?.contents {
        RunContents::Timeline(timeline) => Some(timeline),
        RunContents::Snapshot(_) => None,
    }
}

/// Whether the only run is a timeline.
pub fn is_timeline(runs: &Runs) -> bool {
    runs.is_one() && timeline_of(runs.reference()).is_some()
}

#[derive(Default)]
pub struct TimelineLiveness {
    curves: RunsAnswer<(), Arc<Curves>>,
    view: View,
    heights: Heights,
    toolbar: Toolbar,
    areas: AreaCaches,
    followed: BinCache,
    overview: BinCache,
    pointed: Option<usize>,
}

impl TimelineLiveness {
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = Arc::clone(page.runs);
        let Some(timeline) = timeline_of(runs.reference()) else { return };
        let for_job = Arc::clone(timeline);
        self.curves.ask("memory timeline", ui.ctx(), (&runs, NEEDS), &(), move |_, _| {
            Arc::new(Curves::of_timeline(&for_job))
        });
        page_head_ui(ui, "Liveness", None, |_| {});
        let Some(curves) = self.curves.last(&runs).map(|((), curves)| Arc::clone(curves)) else {
            ui.weak(self.curves.failure().unwrap_or("Adding up…"));
            return;
        };
        let peak = curves.runs.first().and_then(|curve| curve.stacked.peak).unwrap_or(0);
        let selected = page.selection.step_of(runs.reference().id);
        let shown = self.pointed.or(selected).unwrap_or(peak);
        inspector_ui(ui, |ui| inspect_ui(ui, (timeline, &curves), shown));
        let frame = card_frame(Tokens::now(ui)).inner_margin(egui::Margin::symmetric(12, 8));
        frame.show(ui, |ui| {
            let all = ui.available_rect_before_wrap();
            let line = all.with_min_y(all.bottom() - TOOLBAR);
            let above = all.with_max_y(line.top() - 4.0);
            ui.scope_builder(egui::UiBuilder::new().max_rect(above), |ui| {
                self.picture_ui(ui, page, (timeline, &curves), selected);
            });
            ui.scope_builder(egui::UiBuilder::new().max_rect(line), |ui| {
                if let Some(curve) = curves.runs.first() {
                    curve.prepare_total(&mut self.overview, curves.version);
                }
                let overview = Overview {
                    values: Values::Known(curves.runs.first().map_or(&[], |curve| curve.total())),
                    len: curves.slots.len(),
                    base: 0,
                    version: curves.version,
                    top: curves.top,
                    limit: None,
                    selected,
                    cache: &mut self.overview,
                };
                let heights = self.heights;
                let others = |_: &mut egui::Ui| heights.is_zoomed();
                let (view, commands) = (&mut self.view, &mut *page.commands);
                if self.toolbar.ui(ui, "memory timeline", view, overview, commands, others) {
                    self.heights.reset();
                }
            });
            ui.advance_cursor_after_rect(all);
        });
    }

    fn picture_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        (timeline, curves): (&MemoryTimeline, &Curves),
        selected: Option<usize>,
    ) {
        let tokens = *Tokens::now(ui);
        let Some(curve) = curves.runs.first() else { return };
        let legend = ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = Vec2::new(14.0, 2.0);
            for (place, group) in curve.stacked.groups.iter().enumerate().rev() {
                let color = group_color(group, place, &tokens);
                label_ui(ui, Patch::Area(color, color), &group.title);
            }
        });
        let by = (BlocksBy::Category, curves.version);
        let mut layers = area_layers(curve, by, &mut self.areas, &tokens);
        let total = Values::Known(curve.total());
        curve.prepare_total(&mut self.followed, curves.version);
        layers.push(Layer::line(total, Color32::TRANSPARENT, &mut self.followed));
        let point = point_of(timeline);
        let picture = Picture {
            value: format!("{} {}s", grouped(curves.slots.len() as u64), point.to_lowercase()),
            x_title: point,
            x_unit: point,
            version: curves.version,
            top: curves.top,
            layers,
            peaks: &curve.peaks,
            selected: selected.map(|at| (at..at + 1, String::new())).into_iter().collect(),
            ..Picture::of("Memory curve", curves.slots.len(), &|slot| slot.to_string())
        };
        let answer = curve_ui(ui, (&mut self.view, &mut self.heights), picture);
        self.toolbar.picture = Some(legend.response.rect.union(answer.rect));
        *page.has_painted_graph = true;
        if let Some(click) = answer.clicked {
            let run = page.runs.reference().id;
            page.selection.steps = vec![StepAt { run, step: click.position }];
        }
        if self.pointed != answer.hovered {
            self.pointed = answer.hovered;
            ui.request_repaint();
        }
    }
}

/// What a row of a timeline is.
fn point_of(timeline: &MemoryTimeline) -> &'static str {
    match timeline.form {
        TimelineForm::Curve => "Point",
        TimelineForm::Raw => "Change",
    }
}

fn inspect_ui(ui: &mut egui::Ui, (timeline, curves): (&MemoryTimeline, &Curves), row: usize) {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    let Some(curve) = curves.runs.first() else { return };
    let is_peak = curve.stacked.peak == Some(row);
    let title = format!("{} {}", point_of(timeline), grouped(row as u64));
    title_ui(ui, if is_peak { "Highest" } else { "Of the timeline" }, &title, "");
    let whole = curve.total().get(row).copied().unwrap_or(0);
    exact_fact_ui(ui, "Memory", whole);
    let per_second = match timeline.form {
        TimelineForm::Curve => 1e-6,
        TimelineForm::Raw => 1e-9,
    };
    let first = timeline.times.iter().find(|time| **time >= 0);
    let since = timeline.times.get(row).zip(first).map(|(time, first)| time - first);
    if let Some(since) = since.filter(|since| *since >= 0) {
        fact_ui(ui, "Time from the first", &time_text(since as f64 * per_second));
    }
    ui.separator();
    let parts: Vec<_> = curve.stacked.at(row).enumerate().collect();
    for (place, (group, bytes)) in parts.into_iter().rev() {
        if bytes > 0 {
            let bar = [(bytes, group_color(group, place, &tokens))];
            part_ui(
                ui,
                &group.title,
                &units.bytes(bytes),
                &Bar { parts: &bar, whole, limit: None },
            );
        }
    }
}
