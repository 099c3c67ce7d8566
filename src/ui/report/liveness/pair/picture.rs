//! The curves of two reports: in one picture, or in two below each other that move together.

use eframe::egui;
use eframe::egui::{Color32, Rect};
use std::sync::Arc;

use super::choices::PairChoices;
use super::derived::{OfSide, PairDerived};
use super::places::{Places, step_id};
use super::selected::place_text;
use super::{Both, PairPage, select};
use crate::ui::comparison::Side;
use crate::ui::report::PageContext;
use crate::ui::report::halves::{report_name, side_color, side_title_ui};
use crate::ui::report::liveness::marks::Life;
use crate::ui::report::liveness::scope_choice::scope_title;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::curve::{Answer, Lane, Layer, Picture, Y_AXIS_WIDTH, curve_ui};
use crate::ui::widget::legend::{Patch, entry_ui};

/// Slots that are drawn with a label of their own.
const MOST_LABELS: usize = 12;
/// Height of a lane that marks slots of one report, points.
const ONLY_LANE: f32 = 5.0;
/// Height of ticks and title of the x axis, points.
const X_AXIS_HEIGHT: f32 = 36.0;
/// Height of a lane with a label, points.
const LIFE_LANE: f32 = 15.0;

/// What was computed for the last frame.
#[derive(Debug, Default)]
pub struct Caches {
    /// Always live and all of it, of source and target.
    sides: [[BinCache; 2]; 2],
    /// What the pointer follows, in the picture of both and in those of each.
    followed: [BinCache; 3],
    /// The strip above.
    pub overview: BinCache,
}

/// The colours of a report.
#[derive(Clone, Copy)]
struct Colors {
    line: Color32,
    level: Color32,
    always_live: Option<Color32>,
    not_always_live: Option<Color32>,
}

impl Colors {
    /// Beside another one, the target has no areas, so that the source stays readable.
    fn of(ui: &egui::Ui, side: Side, is_alone: bool) -> Self {
        let tokens = Tokens::now(ui);
        let line = side_color(ui, side);
        let (fill, level) = (
            side.of([tokens.base_fill, tokens.top_fill]),
            if is_alone { line } else { line.gamma_multiply(0.75) },
        );
        let has_areas = is_alone || side == Side::Source;
        Self {
            line,
            level,
            always_live: has_areas.then_some(fill),
            not_always_live: has_areas.then_some(fill.gamma_multiply(0.55)),
        }
    }
}

/// What the pointer follows: the curve that is shown, or the more of both.
pub fn followed<'a>(choices: &PairChoices, derived: &'a PairDerived) -> Values<'a> {
    let shown = |side: &Side| choices.of(*side).not_always_live;
    let of_side = |side: Side| Some((side, derived.side(side)?));
    let mut sides = Side::BOTH.into_iter().filter(shown).filter_map(of_side);
    match (sides.next(), sides.next()) {
        (Some((side, of_side)), None) => Values::Known(of_side.values(choices.is_stacked(side))),
        _ => derived.highest(Side::BOTH.into_iter().all(|side| choices.is_stacked(side))),
    }
}

/// Changes when what is drawn does.
pub fn version(choices: &PairChoices, derived: &PairDerived) -> u64 {
    derived.version * 32 + choices.variant()
}

impl PairPage {
    /// Draws one picture or two.
    pub fn pictures_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        both: &Both<'_>,
        derived: &Arc<PairDerived>,
        is_beside: bool,
    ) {
        let pictures: &[Option<Side>] =
            if is_beside { &[Some(Side::Source), Some(Side::Target)] } else { &[None] };
        let space = ui.available_rect_before_wrap();
        let middle = space.top() + (space.height() - X_AXIS_HEIGHT) / 2.0;
        let (mut drawn, mut hovered) = (Rect::NOTHING, None);
        for side in pictures {
            let mut rect = space;
            match side {
                Some(Side::Source) => rect.max.y = middle,
                Some(Side::Target) => rect.min.y = middle,
                None => {}
            }
            let builder = egui::UiBuilder::new().id_salt(side.map(Side::title)).max_rect(rect);
            let (legend, answer) = ui
                .scope_builder(builder, |ui| {
                    let legend = self.legend_ui(ui, both, derived, *side);
                    (legend, self.picture_ui(ui, page, both, derived, *side))
                })
                .inner;
            drawn = drawn.union(legend).union(answer.rect);
            if let Some(click) = answer.clicked {
                select(page, click.position, click.is_added);
            }
            if let Some(slot) = answer.hovered {
                hovered = Some((side.unwrap_or(Side::Source), slot));
                self.tooltip.prepare(ui.ctx(), both, derived, slot);
                egui::Tooltip::for_widget(&answer.response)
                    .at_pointer()
                    .show(|ui| self.tooltip.ui(ui, both, derived));
            }
        }
        *page.has_painted_graph = true;
        self.toolbar.picture = Some(drawn);
        if self.pointed != hovered {
            self.pointed = hovered;
            // The picture above was drawn before this was known.
            if is_beside {
                ui.request_repaint();
            }
        }
    }

    /// The legend of a picture; its entries switch what they name. Returns where it lies.
    fn legend_ui(
        &mut self,
        ui: &mut egui::Ui,
        both: &Both<'_>,
        derived: &PairDerived,
        alone: Option<Side>,
    ) -> Rect {
        let tokens = Tokens::now(ui);
        let limits = Side::BOTH.map(|side| derived.side(side)?.derived.curve.limit);
        let PairChoices { shown, has_limit, .. } = &mut self.choices;
        let row = ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(14.0, 2.0);
            match alone {
                Some(side) => side_title_ui(ui, side, &report_name(both.report(side))),
                None => {
                    ui.add_space(Y_AXIS_WIDTH);
                }
            }
            let is_drawn = |side: &Side| alone.is_none_or(|alone| alone == *side);
            for side in Side::BOTH.into_iter().filter(is_drawn) {
                let (shown, title) = (side.of(shown.each_mut()), side.title());
                let Some(of_side) = derived.side(side) else {
                    ui.weak(format!(
                        "{title}: no curve of {}",
                        scope_title(&both.report(side).system, derived.scope)
                    ));
                    continue;
                };
                let colors = Colors::of(ui, side, alone.is_some());
                let patch = |fill: Option<Color32>, line| match fill {
                    Some(fill) => Patch::Area(fill, line),
                    None => Patch::Line(line),
                };
                let curve = patch(colors.not_always_live, colors.line);
                let name = format!("{title}: not always live");
                entry_ui(ui, curve, &name, &mut shown.not_always_live);
                if of_side.always_live.is_some() {
                    let level = patch(colors.always_live, colors.level);
                    let name = format!("{title}: always live");
                    entry_ui(ui, level, &name, &mut shown.always_live);
                }
            }
            if limits.iter().any(Option::is_some) {
                entry_ui(ui, Patch::Dashes(tokens.limit), "Limit", has_limit);
            }
            for side in Side::BOTH.into_iter().filter(is_drawn) {
                if !side.of(derived.only.each_ref()).is_empty() {
                    let color = side_color(ui, side);
                    let name = format!("Only in {}", side.title().to_lowercase());
                    let is_on = &mut side.of(shown.each_mut()).only;
                    entry_ui(ui, Patch::Area(color, color), &name, is_on);
                }
            }
        });
        row.response.rect
    }

    /// A picture of both reports, or of one alone.
    fn picture_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        both: &Both<'_>,
        derived: &PairDerived,
        alone: Option<Side>,
    ) -> Answer {
        let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
        let choices = &self.choices;
        let is_drawn = |side: &Side| alone.is_none_or(|alone| alone == *side);
        let mut layers = Vec::with_capacity(5);
        let Caches { sides, followed: [of_both, of_source, of_target], .. } = &mut self.caches;
        for (side, caches) in Side::BOTH.into_iter().zip(sides).filter(|(side, _)| is_drawn(side)) {
            if let Some(of_side) = derived.side(side) {
                let colors = Colors::of(ui, side, alone.is_some());
                layers.extend(layers_of(choices, (side, of_side), colors, caches));
            }
        }
        let (values, cache) = match alone {
            Some(side) => {
                let of_side = derived.side(side);
                let values = of_side.map_or(&[][..], |of| of.values(choices.is_stacked(side)));
                (Values::Known(values), side.of([of_source, of_target]))
            }
            None => (followed(choices, derived), of_both),
        };
        layers.push(Layer {
            values,
            base: 0,
            is_stacked: false,
            fill: None,
            line: Color32::TRANSPARENT,
            cache,
        });
        let lives = self.marks.lives(both, page.selection);
        let lanes = lanes(choices, derived, lives, &tokens);
        let marks = self.marks.marked().map_or(&[][..], |marked| &marked.slots);
        let slots = &page.selection.steps;
        let has_labels = (2..=MOST_LABELS).contains(&slots.len());
        let selected = slots.iter().map(|slot| {
            let title = || Places::at_slot(&derived.axis, *slot).title(both.plain());
            (*slot..*slot + 1, if has_labels { title() } else { String::new() })
        });
        let places = Places::selected(derived, slots);
        let pointed = self.pointed.filter(|(side, _)| alone.is_some_and(|alone| alone != *side));
        curve_ui(
            ui,
            &mut self.view,
            Picture {
                name: match alone {
                    Some(Side::Source) => "Liveness curve of the source",
                    Some(Side::Target) => "Liveness curve of the target",
                    None => "Liveness curves of both",
                },
                value: place_text(&places, both, derived, units),
                x_title: "Step of the source; T: of the target, where the source has none",
                x_text: &|slot| tick(both, slot),
                version: version(choices, derived),
                len: derived.len(),
                top: choices.height(derived),
                ground: None,
                layers,
                limits: limits(choices, derived, alone, units),
                borders: &[],
                marks,
                lanes: &lanes,
                selected: selected.collect(),
                pointed: pointed.map(|(_, slot)| slot),
                has_x_axis: alone != Some(Side::Source),
                is_range_selectable: false,
            },
        )
    }
}

/// What is drawn of a report: what always lives, then all of it.
fn layers_of<'a>(
    choices: &PairChoices,
    (side, of_side): (Side, &'a OfSide),
    colors: Colors,
    [below, above]: &'a mut [BinCache; 2],
) -> impl Iterator<Item = Layer<'a>> {
    let (shown, is_stacked) = (choices.of(side), choices.is_stacked(side));
    let level = of_side.always_live.as_ref().filter(|_| shown.always_live);
    // Where nothing lies below, or all of it is to be seen, areas would hide each other.
    let has_area = is_stacked || !shown.always_live;
    let level = level.map(|values| Layer {
        values: Values::Known(values),
        base: 0,
        is_stacked: false,
        fill: colors.always_live,
        line: colors.level,
        cache: below,
    });
    let curve = shown.not_always_live.then_some(Layer {
        values: Values::Known(of_side.values(is_stacked)),
        base: 0,
        is_stacked: level.is_some(),
        fill: colors.not_always_live.filter(|_| has_area),
        line: colors.line,
        cache: above,
    });
    level.into_iter().chain(curve)
}

/// The limits, one where they are equal.
fn limits(
    choices: &PairChoices,
    derived: &PairDerived,
    alone: Option<Side>,
    units: Units,
) -> Vec<(u64, String)> {
    let is_drawn = |side: Side| alone.is_none_or(|alone| alone == side);
    let [source, target] =
        Side::BOTH.map(|side| choices.limit(derived, side).filter(|_| is_drawn(side)));
    let text = |title: &str, limit: u64| (limit, format!("{title} {}", units.bytes(limit)));
    if source == target || alone.is_some() {
        return source.or(target).map(|limit| text("Limit", limit)).into_iter().collect();
    }
    let source = source.map(|limit| text("Source: limit", limit));
    let target = target.map(|limit| text("Target: limit", limit));
    source.into_iter().chain(target).collect()
}

/// What lies below the curves: the slots that only one report has, and where the selected variable is
/// alive in each.
fn lanes<'a>(
    choices: &PairChoices,
    derived: &'a PairDerived,
    lives: Option<&'a [Option<Life>; 2]>,
    tokens: &Tokens,
) -> Vec<Lane<'a>> {
    let color = |side: Side| side.of([tokens.base, tokens.top]);
    let only = Side::BOTH.into_iter().rev().filter_map(|side| {
        let ranges = side.of(derived.only.each_ref());
        let is_shown = choices.of(side).only && !ranges.is_empty();
        let lane = Lane { label: "", ranges, color: color(side), height: ONLY_LANE };
        is_shown.then_some(lane)
    });
    let life = |side: Side| {
        let life = side.of(lives?.each_ref()).as_ref()?;
        let label = side.of(["Source", "Target"]);
        Some(Lane { label, ranges: &life.ranges, color: color(side), height: LIFE_LANE })
    };
    only.chain(Side::BOTH.into_iter().rev().filter_map(life)).collect()
}

/// What stands below a tick.
fn tick(both: &Both<'_>, slot: usize) -> String {
    let [source, target] = both.plain();
    match (both.axis.source_at(slot), both.axis.target_at(slot)) {
        (Some(step), _) => step_id(source, step),
        (None, Some(step)) => format!("T{}", step_id(target, step)),
        (None, None) => String::new(),
    }
}
