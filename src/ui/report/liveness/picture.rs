//! The curves of the runs: in one picture, or in one each below each other that move together.

use eframe::egui::{self, Color32, Rect};
use std::sync::Arc;

use super::LivenessPage;
use super::beside::BesideCurves;
use super::choices::{LivenessChoices, drawn};
use super::legend::CurveColors;
use super::peak_names::PeakNames;
use super::tables::ListedPicture;
use super::timelines::{RunCurve, SlotTimelines};
use super::tooltip::hint_ui;
use super::words::{moment_text, selected_moment};
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::lifetimes::VariableLife;
use crate::analysis::program::steps;
use crate::store::{ArenaId, TileId};
use crate::text::capitalised;
use crate::ui::report::areas::AreaCaches;
use crate::ui::report::moment::Moment;
use crate::ui::report::slot_axis::{round_slots, slot_text, time_text_of, time_ticks};
use crate::ui::report::{PageContext, step_place, tile_places};
use crate::ui::runs::{PerRun, Run, RunId, Runs};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, BinValues};
use crate::ui::widget::curve::{
    AxisBand, CurveLane, CurveLayer, CurvePeak, CurvePlot, CurveResponse, curve_ui, x_axis_height,
};
use crate::ui::widget::picture::{at_pointer_ui, link};
use crate::ui::widget::place_menu::place_menu_ui;

/// Slots that are drawn with a label of their own.
const MOST_LABELS: usize = 12;
/// Height of a lane that marks slots of one run, points.
const ONLY_LANE: f32 = 5.0;
/// Least height of a picture with lifetimes below it, their share of it, and their most, points.
const LEAST_WITH_LIVES: f32 = 210.0;
const LIVES: f32 = 0.4;
/// Least height of all pictures that has room for the modules below the axis, points.
const LEAST_WITH_BANDS: f32 = 190.0;
const MOST_LIVES: f32 = 150.0;
/// Above and below them, points.
const LIVES_MARGIN: egui::Vec2 = egui::Vec2::new(0.0, 4.0);
/// Height of a lane with a label, points.
const LIFE_LANE: f32 = 15.0;

/// Bins of the last frame.
#[derive(Default)]
pub struct Caches {
    /// Always live, all of it, and that with gaps, of each run.
    runs: Vec<[BinCache; 3]>,
    /// What the pointer follows, in the picture of all and in those of each.
    followed: Vec<BinCache>,
    pub overview: BinCache,
    areas: AreaCaches,
    /// Lines beside the curve, of each run.
    lines: Vec<Vec<BinCache>>,
}

/// What the pointer follows: the curve that is shown, or the most of all.
pub fn followed<'a>(
    choices: &LivenessChoices,
    runs: &'a Runs,
    timelines: &'a SlotTimelines,
) -> (BinValues<'a>, u64) {
    let mut shown = drawn(runs, timelines).filter(|(run, _)| choices.of(run).not_always_live);
    if let (Some((run, curve)), None) = (shown.next(), shown.next()) {
        return curve.values(choices.is_stacked(run));
    }
    timelines.highest(runs.iter().all(|run| choices.is_stacked(run)))
}

/// Changes when what is drawn does.
pub fn version(choices: &LivenessChoices, timelines: &SlotTimelines) -> u64 {
    timelines.version << 32 | choices.version
}

impl LivenessPage {
    pub fn pictures_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        timelines: &Arc<SlotTimelines>,
    ) {
        let runs = page.runs;
        let pictures = runs.pictures();
        let space = ui.available_rect_before_wrap();
        let beside = self.beside(runs, timelines).map(|beside| &**beside);
        let count = bands(self.peak_names(runs), beside).len();
        self.has_bands = space.height() >= LEAST_WITH_BANDS;
        let count = if self.has_bands { count } else { 0 };
        let below = x_axis_height(runs.system().step, count);
        let height = (space.height() - below) / pictures.len() as f32;
        // One picture of all has them in a card of its own.
        let has_lives = pictures.len() > 1 && height >= LEAST_WITH_LIVES;
        let lives = if has_lives { (height * LIVES).min(MOST_LIVES) } else { 0.0 };
        let (mut all, mut hovered) = (Rect::NOTHING, None);
        let peaks =
            self.peak_names(runs).map_or_else(Vec::new, |names| names.peaks(Units::now(ui)));
        self.caches.runs.resize_with(runs.len(), Default::default);
        self.caches.followed.resize_with(runs.len() + 1, BinCache::default);
        for (number, alone) in pictures.iter().enumerate() {
            let mut rect = space;
            rect.min.y += height * number as f32;
            if number + 1 < pictures.len() {
                rect.max.y = rect.min.y + height;
            }
            let mut beneath = rect;
            rect.max.y -= lives;
            beneath.min.y = rect.max.y;
            let run = alone.and_then(|place| runs.get(place));
            let builder = egui::UiBuilder::new().id_salt(run.map(|run| run.id)).max_rect(rect);
            let (legend, answer) = ui
                .scope_builder(builder, |ui| {
                    let legend = self.legend_ui(ui, runs, timelines, *alone);
                    let is_last = number + 1 == pictures.len();
                    (legend, self.picture_ui(ui, page, timelines, *alone, is_last, &peaks))
                })
                .inner;
            all = all.union(legend).union(answer.rect);
            self.frame = Some(answer.frame.x_range());
            if let Some(place) = alone.filter(|_| has_lives) {
                let slots = timelines.selected(page.selection, runs);
                let (range, marks) = (self.view.range(timelines.len()), &self.marks);
                let subject = ListedPicture { timelines, slots: &slots, range, marks };
                let builder = egui::UiBuilder::new().id_salt(("lives", place));
                ui.scope_builder(builder.max_rect(beneath.shrink2(LIVES_MARGIN)), |ui| {
                    let frame = answer.frame.x_range();
                    self.lifelines.below_ui(ui, page, &subject, place, frame);
                });
            }
            if let Some(click) = answer.clicked {
                timelines.select(page.selection, runs, click.position, click.is_added);
            }
            self.menu.ui(&answer.response, answer.hovered, |ui, slot| {
                let moment = Moment::at_slot(&timelines.axis, *slot);
                let name = |(place, run): (usize, &Run)| {
                    steps::name(&run.report, timelines.device(run), moment.step_there(place)?)
                        .map(str::to_owned)
                };
                let name = runs.iter().enumerate().find_map(name);
                let tile = worst_tile(timelines, &moment);
                let tiles = tile.map_or_else(Vec::new, |tile| tile_places(runs.system(), tile));
                let places = step_place(runs, timelines.common_slot(*slot))
                    .into_iter()
                    .chain(tiles)
                    .collect::<Vec<_>>();
                place_menu_ui(ui, name.as_deref(), &places, page.commands);
            });
            if let Some(slot) = answer.hovered {
                hovered = Some((run.map(|run| run.id), slot));
                if self.resting.is_over(ui, answer.response.hover_pos()) {
                    at_pointer_ui(&answer.response, |ui| {
                        let said = self.facts.said(runs, &(slot, timelines.version));
                        let said = said.first().and_then(Option::as_ref);
                        let beside = self.beside(runs, timelines).map(|beside| &**beside);
                        let bands = bands(self.peak_names(runs), beside);
                        let facts = self.facts.first_in(slot);
                        hint_ui(ui, runs, timelines, slot, facts, said, bands);
                    });
                }
            }
        }
        *page.has_painted_graph = true;
        self.toolbar.picture = Some(all);
        // The inspector has been drawn before this was known.
        link(ui, &mut self.pointed, hovered, true);
    }

    fn picture_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        timelines: &SlotTimelines,
        alone: Option<usize>,
        is_last: bool,
        peaks: &[CurvePeak],
    ) -> CurveResponse {
        let (units, runs) = (Units::now(ui), page.runs);
        let areas = self.areas(runs, timelines).cloned();
        let beside = self.beside(runs, timelines).cloned();
        let tokens = *Tokens::now(ui);
        let choices = &self.choices;
        let is_drawn = |place: usize| alone.is_none_or(|alone| alone == place);
        let mut layers = Vec::with_capacity(2 * runs.len() + 1);
        let mut ground = None;
        let Caches { runs: caches, followed: followed_caches, areas: area_caches, lines, .. } =
            &mut self.caches;
        lines.resize_with(runs.len(), Vec::new);
        for ((place, run), caches) in runs.iter().enumerate().zip(caches) {
            let Some(curve) = timelines.run(place).filter(|_| is_drawn(place)) else { continue };
            if let Some(areas) = &areas {
                layers.extend(areas.layers(area_caches, choices.limit(curve, run), &tokens));
                break;
            }
            let colors = CurveColors::of(ui, runs, run, alone.is_some());
            let (level, of_run) = layers_of(choices, run, curve, colors, caches);
            ground = ground.or(level);
            layers.extend(of_run);
        }
        if let Some(beside) = &beside {
            for (((place, run), of), caches) in runs.iter().enumerate().zip(&beside.runs).zip(lines)
            {
                if is_drawn(place) {
                    layers.extend(choices.line_layers(ui, runs, run, of, caches));
                }
            }
        }
        let (values, base) = match alone.and_then(|place| Some((place, runs.get(place)?))) {
            Some((place, run)) => timelines
                .run(place)
                .map_or((BinValues::Known(&[]), 0), |curve| curve.values(choices.is_stacked(run))),
            None => match &areas {
                Some(areas) => (BinValues::Known(areas.total()), 0),
                None => followed(choices, runs, timelines),
            },
        };
        if let Some(cache) = followed_caches.get_mut(alone.map_or(0, |place| place + 1)) {
            if let Some(areas) = areas.as_ref().filter(|_| alone.is_none()) {
                areas.prepare_total(cache);
            }
            let line = Color32::TRANSPARENT;
            layers.push(CurveLayer { base, ..CurveLayer::line(values, line, cache) });
        }
        let lives = self.marks.lives(runs, page.selection);
        let lanes = lanes(ui, choices, runs, timelines, lives);
        let marks = self.marks.marked(runs).map_or(&[][..], |marked| &marked.slots);
        let slots = timelines.selected(page.selection, runs);
        let has_labels = (2..=MOST_LABELS).contains(&slots.len());
        let selected = slots.iter().map(|slot| {
            let title = || {
                let title = Moment::at_slot(&timelines.axis, *slot).title(runs);
                if runs.is_one() { capitalised(&title) } else { title }
            };
            (*slot..*slot + 1, if has_labels { title() } else { String::new() })
        });
        let names = self.names.last(runs).map(|(_, names)| names);
        let bands = bands(names, beside.as_deref());
        let of_run = beside.as_ref().and_then(|beside| beside.only());
        let moments = of_run.map_or_else(Vec::new, |of| of.moments(units));
        let has_hidden = !choices.hidden.is_empty();
        let of_shown = areas.as_ref().filter(|_| has_hidden).map(|areas| areas.peaks());
        let peaks = of_shown.as_deref().unwrap_or(peaks);
        let time = timelines.time.as_ref();
        let ticks = |range: (f64, f64), least: f64| match time {
            Some(time) => time_ticks(time, range, least),
            None => round_slots(&timelines.axis, range, least),
        };
        let ground_label = match ground {
            Some((bytes, ..)) if runs.is_one() => {
                format!("{} {}", runs.system().always_live, units.bytes(bytes))
            }
            _ => String::new(),
        };
        let run = alone.and_then(|place| runs.get(place)).map(|run| run.id);
        let pointed = self.pointed.filter(|(other, _)| run.is_some() && *other != run);
        let name = match alone.and_then(|place| runs.get(place)) {
            Some(run) => format!("Liveness curve of {}", run.the()),
            None => format!(
                "Liveness {}",
                runs.of_number(["curve", "curves of both", "curves of all runs"])
            ),
        };
        curve_ui(
            ui,
            &mut self.view,
            &mut self.heights,
            CurvePlot {
                value: moment_text(&selected_moment(timelines, &slots), runs, timelines, units),
                x_title: if time.is_some() { "Time" } else { runs.system().step },
                x_unit: if time.is_some() { "" } else { runs.system().step },
                x_ticks: (!runs.is_one() || time.is_some()).then_some(&ticks),
                version: match &areas {
                    Some(areas) => areas.version,
                    None => version(choices, timelines),
                },
                top: (choices.height(runs, timelines)).max(choices.top_of_lines(beside.as_deref())),
                moments: &moments,
                ground,
                ground_label,
                layers,
                limits: limits(choices, runs, timelines, alone, units),
                bands: if is_last && self.has_bands { bands } else { &[] },
                // They are those of the reference.
                peaks: if alone.unwrap_or(0) == 0 { peaks } else { &[] },
                peaks_color: (!runs.is_one()).then(|| runs.reference().color(ui)),
                marks,
                lanes: &lanes,
                selected: selected.collect(),
                pointed: pointed.map(|(_, slot)| slot),
                has_x_axis: is_last,
                ..CurvePlot::of(&name, timelines.len(), &|slot| match time {
                    Some(time) => time_text_of(time, slot),
                    None => slot_text(runs, &timelines.axis, slot),
                })
            },
        )
    }
}

/// The bands below the axis: those of the run, else the modules of its operations. Several runs have those of the
/// reference where they go by operations, which means the same in all of them.
fn bands<'a>(names: Option<&'a PeakNames>, beside: Option<&'a BesideCurves>) -> &'a [AxisBand] {
    let has_modules = names.is_some_and(|names| !names.bands.is_empty());
    let of_run = beside.filter(|beside| beside.runs.len() == 1 || has_modules);
    let of_run = of_run.and_then(|beside| beside.runs.first()).map(|of| &*of.bands);
    let of_run = of_run.filter(|bands| !bands.is_empty());
    of_run.unwrap_or_else(|| names.map_or(&[], |names| &names.bands))
}

/// The tile that the figures of a moment are of: that of the scope, or the worst one of the first run.
fn worst_tile(timelines: &SlotTimelines, moment: &Moment) -> Option<TileId> {
    match timelines.scope {
        Scope::Arena(arena) => Some(arena.tile()),
        Scope::WorstArena => {
            let arena = timelines.run(0)?.timeline.worst_arena_at(moment.step(0)?);
            arena.map(ArenaId::tile)
        }
        Scope::Everything | Scope::Device(_) => None,
    }
}

type Ground = Option<(u64, Color32, Color32)>;

/// What is drawn of a run: what always lives, as ground where it is level, then all of it.
fn layers_of<'a>(
    choices: &LivenessChoices,
    run: &Run,
    curve: &'a RunCurve,
    colors: CurveColors,
    [below, above, gaps]: &'a mut [BinCache; 3],
) -> (Ground, impl Iterator<Item = CurveLayer<'a>>) {
    let (shown, is_stacked) = (choices.of(run), choices.is_stacked(run));
    // Where nothing lies below, or all of it is to be seen, areas would hide each other.
    let has_area = is_stacked || !shown.always_live;
    let (ground, level) = match curve.always_live().filter(|_| shown.always_live) {
        None => (None, None),
        Some(Ok(level)) => {
            (Some((level, colors.level_fill.unwrap_or(Color32::TRANSPARENT), colors.level)), None)
        }
        Some(Err(values)) => {
            let line = CurveLayer::line(values, colors.level, below);
            (None, Some(CurveLayer { fill: colors.level_fill, ..line }))
        }
    };
    let (values, base) = curve.values(is_stacked);
    // Without an area only the curve would be red, which is what tells it from others.
    let limit = choices.limit(curve, run).filter(|_| colors.fill.is_some());
    let layer = shown.not_always_live.then_some(CurveLayer {
        base,
        limit,
        is_stacked: level.is_some(),
        fill: colors.fill.filter(|_| has_area),
        ..CurveLayer::line(values, colors.line, above)
    });
    let with_gaps = curve.with_gaps.as_ref().filter(|_| choices.with_gaps(curve, run).is_some());
    let with_gaps =
        with_gaps.map(|bytes| CurveLayer::line(BinValues::Known(bytes), colors.with_gaps, gaps));
    (ground, level.into_iter().chain(layer).chain(with_gaps))
}

/// The limits, one where all are equal.
fn limits(
    choices: &LivenessChoices,
    runs: &Runs,
    timelines: &SlotTimelines,
    alone: Option<usize>,
    units: Units,
) -> Vec<(u64, String)> {
    let limit = |(place, run): (usize, &Run)| {
        let is_drawn = alone.is_none_or(|alone| alone == place);
        let limit = choices.limit(timelines.run(place)?, run).filter(|_| is_drawn)?;
        let of = runs.short_title(run);
        Some((limit, format!("{of}: limit {}", units.bytes(limit))))
    };
    let found: Vec<(u64, String)> = runs.iter().enumerate().filter_map(limit).collect();
    match &*found {
        [(first, _), others @ ..] if others.iter().all(|(limit, _)| limit == first) => {
            vec![(*first, format!("Limit {}", units.bytes(*first)))]
        }
        _ => found,
    }
}

/// Below the curves: slots that only one run has, and where the selected variable is alive.
fn lanes<'a>(
    ui: &egui::Ui,
    choices: &LivenessChoices,
    runs: &'a Runs,
    timelines: &'a SlotTimelines,
    lives: Option<&'a PerRun<Option<VariableLife>>>,
) -> Vec<CurveLane<'a>> {
    let only = runs.iter().enumerate().rev().filter_map(|(place, run)| {
        let ranges = timelines.only(place);
        let is_shown = choices.of(run).only && !ranges.is_empty();
        let lane = CurveLane { label: "", ranges, color: run.color(ui), height: ONLY_LANE };
        is_shown.then_some(lane)
    });
    let life = |(place, run): (usize, &'a Run)| {
        let life = lives?.get(place)?.as_ref()?;
        if runs.is_one() {
            let lane = CurveLane::new(&life.ranges, Tokens::now(ui).accent);
            return (!life.ranges.is_empty()).then_some(lane);
        }
        let (label, color) = (&*run.title, run.color(ui));
        Some(CurveLane { label, ranges: &life.ranges, color, height: LIFE_LANE })
    };
    only.chain(runs.iter().enumerate().rev().filter_map(life)).collect()
}

/// Which picture the pointer is over, and the slot there.
pub type PointedSlot = Option<(Option<RunId>, usize)>;
