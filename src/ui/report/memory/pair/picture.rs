//! The pictures of bytes over the tiles of two reports: one upon the other in one picture, or below each
//! other in two that move together.

use std::sync::Arc;

use eframe::egui;
use eframe::egui::{Color32, Rect};

use super::super::axis::visible_ranges;
use super::super::choices::Choices;
use super::super::over_tiles::VariableOverTiles;
use super::super::picture::{MOST_RANGES, part_color};
use super::super::select::{Selecting, tile_text};
use super::super::shown::version_of;
use super::made::{PairMade, machine};
use super::series::{Series, base_line, target_fill};
use super::tooltip;
use crate::analysis::memory::tile_order::TileOrder;
use crate::store::memory::TileMemory;
use crate::store::{Report, TileId};
use crate::text::grouped;
use crate::ui::legacy::{Arrangement, Pair, Side};
use crate::ui::report::PageContext;
use crate::ui::report::halves::{report_name, side_color};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::curve::{Answer, Layer, Picture, curve_ui};
use crate::ui::widget::overview::Overview;
use crate::ui::widget::toolbar::Toolbar;
use crate::ui::widget::view::View;

/// Name of the picture of both.
const NAME: &str = "Memory over tiles";
/// Height of ticks and title of the x axis, points.
const X_AXIS_HEIGHT: f32 = 36.0;

/// What the pictures remember.
#[derive(Debug, Default)]
pub struct PairPicture {
    /// The visible part of all of them.
    pub view: View,
    /// A tile that shall be visible.
    pub reveal: Option<TileId>,
    toolbar: Toolbar,
    overview: BinCache,
    /// The picture of both or of the source, and that of the target.
    caches: [Caches; 2],
    variables: [VariableOverTiles; 2],
    /// The position under the pointer in one of two pictures.
    pointed: Option<(Side, usize)>,
}

/// What was computed for the layers of a picture; of either side.
#[derive(Debug, Default)]
struct Caches {
    areas: [BinCache; 2],
    with_gaps: [BinCache; 2],
    without_gaps: [BinCache; 2],
    variables: [BinCache; 2],
    stack: Vec<BinCache>,
    followed: BinCache,
}

/// What they show.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// Memory by tile of the source and of the target.
    pub memories: [&'a TileMemory; 2],
    /// The tiles in their order, and their parts.
    pub made: &'a PairMade,
    /// The limits of a tile.
    pub limits: [Option<u64>; 2],
    /// The higher one, if the pictures shall reach up to it.
    pub scaled: Option<u64>,
}

impl PairPicture {
    /// Draws them in the space that is left, and does what the user does to them.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        (page, pair): (&mut PageContext<'_>, &Pair<'_>),
        parts: &Parts<'_>,
        (choices, series): (&mut Choices, &mut Series),
        selecting: &mut Selecting,
    ) {
        let shown = &parts.made.shown;
        let axis = &shown.axis;
        if let Some(position) = self.reveal.take().and_then(|tile| axis.position(tile)) {
            self.view.reveal(axis.len(), position);
        }
        let overview = Overview {
            values: Values::Cells(&shown.most),
            len: axis.len(),
            base: 0,
            version: axis.version,
            top: shown.top(),
            cache: &mut self.overview,
        };
        self.toolbar.ui(ui, NAME, &mut self.view, overview, page.commands);
        let reports = [page.report, pair.target];
        let name = page.selection.variable.as_deref();
        if let Some(name) = name {
            for (variable, report) in self.variables.iter_mut().zip(reports) {
                let shown = Arc::clone(shown);
                let tiles = move || shown.axis.in_order();
                variable.ask(ui, report, name, axis.version, tiles);
            }
        }
        let name = name.filter(|name| self.variables.iter().any(|variable| variable.has(name)));
        let name = name.map(ToOwned::to_owned);
        let pictures: &[Option<Side>] = match pair.arrangement {
            Arrangement::Overlaid => &[None],
            Arrangement::SideBySide => &[Some(Side::Source), Some(Side::Target)],
        };
        let space = ui.available_rect_before_wrap();
        let middle = space.top() + (space.height() - X_AXIS_HEIGHT) / 2.0;
        let (mut drawn, mut answers) = (Rect::NOTHING, Vec::new());
        for alone in pictures {
            let mut rect = space;
            match alone {
                Some(Side::Source) => rect.max.y = middle,
                Some(Side::Target) => rect.min.y = middle,
                None => {}
            }
            let builder = egui::UiBuilder::new().id_salt(alone.map(Side::title)).max_rect(rect);
            let (legend, answer) = ui
                .scope_builder(builder, |ui| {
                    let title = alone.map(|side| {
                        let report: &Arc<Report> = side.of(reports);
                        (side, report_name(report))
                    });
                    let legend =
                        series.legend_ui(ui, parts, choices, name.as_deref(), title.as_ref());
                    (legend, self.curve_ui(ui, page, parts, (choices, series), selecting, *alone))
                })
                .inner;
            drawn = drawn.union(legend).union(answer.rect);
            answers.push((alone.unwrap_or(Side::Source), answer));
        }
        *page.has_painted_graph = true;
        self.toolbar.picture = Some(drawn);
        let tiles = &mut page.selection.tiles;
        if let Some(click) = answers.iter().find_map(|(_, answer)| answer.clicked) {
            selecting.click(click, tiles, axis);
        }
        selecting.drag(answers.iter().find_map(|(_, answer)| answer.dragged), tiles, axis);
        let hovered = answers.iter().find_map(|(side, answer)| Some((*side, answer.hovered?)));
        if let Some(((_, position), (_, answer))) =
            hovered.zip(answers.iter().find(|(_, answer)| answer.hovered.is_some()))
        {
            let targets = reports.map(|report| report.target.get());
            egui::Tooltip::for_widget(&answer.response)
                .at_pointer()
                .show(|ui| tooltip::tile_ui(ui, parts, targets, position));
        }
        if self.pointed != hovered {
            self.pointed = hovered;
            // The picture above was drawn before this was known.
            if pictures.len() > 1 {
                ui.request_repaint();
            }
        }
    }

    /// A picture of one of the reports, or of both.
    fn curve_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &PageContext<'_>,
        parts: &Parts<'_>,
        (choices, series): (&Choices, &Series),
        selecting: &Selecting,
        alone: Option<Side>,
    ) -> Answer {
        let Parts { made, limits, scaled, .. } = *parts;
        let (shown, axis) = (&made.shown, &made.shown.axis);
        let (tokens, units) = (Tokens::now(ui), Units::now(ui));
        let stack_of = alone.unwrap_or(series.stack_of);
        let caches = alone.unwrap_or(Side::Source).of(self.caches.each_mut());
        let is_drawn = |side: &Side| alone.is_none_or(|alone| alone == *side);

        let mut layers: Vec<Layer<'_>> = Vec::new();
        let line = |values, color, cache| Layer {
            values,
            base: 0,
            is_stacked: false,
            fill: None,
            line: color,
            cache,
        };
        if let Some(stack) = made.stack(stack_of) {
            caches.stack.resize_with(stack.edges.len(), BinCache::default);
            for ((part, edge), cache) in stack.edges.iter().zip(&mut caches.stack) {
                layers.push(Layer {
                    is_stacked: !layers.is_empty(),
                    fill: Some(part_color(tokens, stack, *part)),
                    ..line(Values::Cells(edge), Color32::TRANSPARENT, cache)
                });
            }
        } else {
            for (side, cache) in Side::BOTH.into_iter().zip(&mut caches.areas) {
                let Some(values) = series.area(side, shown).filter(|_| is_drawn(&side)) else {
                    continue;
                };
                // The source shines through the target.
                let fill = side.of([tokens.base_fill, target_fill(tokens)]);
                let area = line(Values::Cells(values), Color32::TRANSPARENT, cache);
                layers.push(Layer { fill: Some(fill), ..area });
            }
        }
        let name = page.selection.variable.as_deref();
        let variables = self.variables.each_ref();
        let variables = variables.map(|variable| variable.get(name?, axis));
        if choices.has_variable {
            let both = variables.iter().zip(&mut caches.variables);
            for (side, (found, cache)) in Side::BOTH.into_iter().zip(both) {
                let Some(found) = found.filter(|_| is_drawn(&side)) else { continue };
                let values = Values::Known(&found.bytes);
                layers.push(match side {
                    Side::Source => {
                        let fill = Some(tokens.mark.gamma_multiply(0.5));
                        Layer { fill, ..line(values, Color32::TRANSPARENT, cache) }
                    }
                    Side::Target => line(values, tokens.mark, cache),
                });
            }
        }
        for (side, cache) in Side::BOTH.into_iter().zip(&mut caches.without_gaps) {
            if is_drawn(&side) && side.of(series.without_gaps) {
                let values = Values::Cells(&shown.figures(side).total);
                layers.push(line(values, base_line(ui, side), cache));
            }
        }
        for (side, cache) in Side::BOTH.into_iter().zip(&mut caches.with_gaps) {
            if is_drawn(&side) && side.of(series.with_gaps) {
                let values = Values::Cells(&shown.figures(side).including_gaps);
                layers.push(line(values, side_color(ui, side), cache));
            }
        }

        // What the pointer follows: the more of both.
        let followed = alone.map_or(&shown.most, |side| &shown.figures(side).including_gaps);
        let followed = Values::Cells(followed);
        layers.push(line(followed, Color32::TRANSPARENT, &mut caches.followed));

        // Numbers are told apart by one version for all layers.
        let mut version = match made.stack(stack_of) {
            Some(_) => version_of(&made.key) ^ side_version(stack_of),
            None => axis.version,
        };
        for (side, found) in Side::BOTH.into_iter().zip(variables) {
            version ^= found.map_or(0, |found| found.version.rotate_left(side.of([32, 16])));
        }
        let ranges =
            visible_ranges(selecting.positions(), self.view.range(axis.len()), MOST_RANGES);
        // The last one is where the keyboard goes on from.
        let cursor = selecting.cursor().and_then(|tile| axis.position(tile));
        let cursor = cursor.map(|position| position..position + 1);
        let selected = ranges.into_iter().chain(cursor).map(|range| (range, String::new()));
        let limits = limits.map(|limit| limit.filter(|_| choices.has_limit));
        let pointed = self.pointed.filter(|(side, _)| alone.is_some_and(|alone| alone != *side));
        curve_ui(
            ui,
            &mut self.view,
            Picture {
                name: match alone {
                    Some(Side::Source) => "Memory over tiles of the source",
                    Some(Side::Target) => "Memory over tiles of the target",
                    None => NAME,
                },
                value: value_text(page, parts, selecting, units),
                x_title: x_title(made.key.order),
                x_text: &|position| {
                    axis.tile(position).map_or(String::new(), |tile| tile.to_string())
                },
                version,
                len: axis.len(),
                top: series.top(made).max(scaled.unwrap_or(0)),
                ground: None,
                layers,
                limits: limit_lines(limits, alone, units),
                borders: &axis.borders,
                marks: &[],
                lanes: &[],
                selected: selected.collect(),
                pointed: pointed.map(|(_, position)| position),
                has_x_axis: alone != Some(Side::Source),
                is_range_selectable: true,
            },
        )
    }
}

/// What stands below the tiles.
pub fn x_title(order: TileOrder) -> &'static str {
    match order {
        TileOrder::Number => "Tile",
        TileOrder::Bytes => "Tiles, largest in the source first",
        TileOrder::Change => "Tiles, largest change first",
    }
}

/// A number that tells the sides apart.
fn side_version(side: Side) -> u64 {
    side.of([0, 1 << 63])
}

/// The limits that a picture shows, one where they are equal.
fn limit_lines(
    [source, target]: [Option<u64>; 2],
    alone: Option<Side>,
    units: Units,
) -> Vec<(u64, String)> {
    let text = |title: &str, limit: u64| (limit, format!("{title} {}", units.bytes(limit)));
    match alone {
        None if source != target => {
            let source = source.map(|limit| text("Source: limit", limit));
            let target = target.map(|limit| text("Target: limit", limit));
            source.into_iter().chain(target).collect()
        }
        _ => {
            let limit = alone.unwrap_or(Side::Source).of([source, target]);
            limit.map(|limit| text("Limit", limit)).into_iter().collect()
        }
    }
}

/// What is selected, for those who cannot see the picture.
fn value_text(
    page: &PageContext<'_>,
    parts: &Parts<'_>,
    selecting: &Selecting,
    units: Units,
) -> String {
    let tiles = format!("{} tiles", grouped(parts.made.shown.axis.len() as u64));
    let count: usize = selecting.positions().iter().map(std::ops::Range::len).sum();
    let Some(tile) = selecting.cursor().filter(|_| count > 0) else { return tiles };
    let named = tile_text(machine([page.report.target.get(), None]), tile);
    let also = if count > 1 { format!("; {count} tiles selected") } else { String::new() };
    let bytes = tooltip::with_gaps_text(parts, tile, units);
    format!("{named}, {bytes}{also}")
}
