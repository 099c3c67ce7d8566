//! The pictures of bytes over tiles: of all runs in one, or one of each, which move together.

use eframe::egui::{self, Color32, Rect};
use std::sync::Arc;

use super::arranged::{ArrangedTiles, DividedTiles};
use super::axis::visible_ranges;
use super::choices::MemoryChoices;
use super::legend::{LegendOf, VariableStyle, part_color};
use super::over_tiles::VariableOverTiles;
use super::select::Selecting;
use super::series::RunStyle;
use super::tooltip;
use crate::analysis::memory::cell;
use crate::analysis::memory::tile_order::TileOrder;
use crate::store::TileId;
use crate::text::grouped;
use crate::ui::report::tile_figures::tile_text;
use crate::ui::report::{PageContext, bytes_or_dash, tile_menu_ui};
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, BinValues};
use crate::ui::widget::curve::{CurveLayer, CurvePlot, CurveResponse, curve_ui};
use crate::ui::widget::heights::Heights;
use crate::ui::widget::overview::Overview;
use crate::ui::widget::picture::{at_pointer_ui, link};
use crate::ui::widget::place_menu::PictureMenu;
use crate::ui::widget::toolbar::{Toolbar, around_limit_ui};
use crate::ui::widget::view::VisibleRange;

const NAME: &str = "Memory over tiles";
/// Height of ticks and title of the x axis, points.
const X_AXIS_HEIGHT: f32 = 36.0;
/// Pictures below each other; more of them stand in two columns.
const MOST_BELOW: usize = 3;
/// Selected ranges that are drawn one by one.
const MOST_RANGES: usize = 1000;

#[derive(Default)]
pub struct MemoryPictures {
    /// The visible part of all of them.
    pub view: VisibleRange,
    /// The visible part of the bytes.
    heights: Heights,
    /// A tile that shall be visible.
    pub reveal: Option<TileId>,
    toolbar: Toolbar,
    overview: BinCache,
    /// Of the picture of all, or of that of each run.
    caches: Vec<PictureCaches>,
    variable: VariableOverTiles,
    /// The picture that the pointer is over, and the position there.
    pointed: Option<(usize, usize)>,
    menu: PictureMenu<TileId>,
}

#[derive(Default)]
struct PictureCaches {
    runs: Vec<RunCaches>,
    stack: Vec<BinCache>,
    followed: BinCache,
}

#[derive(Default)]
struct RunCaches {
    area: BinCache,
    with_gaps: BinCache,
    without_gaps: BinCache,
    variables: Vec<BinCache>,
}

#[derive(Clone, Copy)]
pub struct TilesShown<'a> {
    pub runs: &'a Arc<Runs>,
    pub divided: &'a DividedTiles,
    /// The highest limit of a tile, if the pictures shall reach up to it.
    pub scaled: Option<u64>,
}

impl MemoryPictures {
    /// The same part of the tiles of reports that were read again.
    pub fn of_other_figures(self) -> Self {
        Self { view: self.view, heights: self.heights, ..Self::default() }
    }

    /// The position under the pointer.
    pub fn hovered(&self) -> Option<usize> {
        self.pointed.map(|(_, position)| position)
    }

    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        shown: &TilesShown<'_>,
        choices: &mut MemoryChoices,
        selecting: &mut Selecting,
    ) {
        let TilesShown { runs, divided, .. } = *shown;
        let tiles = &divided.tiles;
        let axis = &tiles.axis;
        if let Some(position) = self.reveal.take().and_then(|tile| axis.position(tile)) {
            self.view.reveal(axis.len(), position);
        }
        let overview = Overview {
            values: BinValues::Cells(&tiles.most),
            len: axis.len(),
            base: 0,
            version: axis.version,
            top: tiles.top(),
            limit: shown.scaled,
            selected: None,
            cache: &mut self.overview,
        };
        let mut names: Vec<String> = page.selection.variables().map(str::to_owned).collect();
        if !names.is_empty() {
            self.variable.ask(ui, runs, &names, tiles);
        }
        if !self.variable.has(runs, &names) {
            names.clear();
        }
        let limits = || runs.iter().filter_map(|run| run.report.bytes_per_tile());
        let limit = |limit: Option<u64>| limit.filter(|_| choices.has_limit);
        let top = choices.series.top(runs, divided);
        // What is stacked, and variables, are seen from the ground.
        let is_of_parts = divided.stacks.is_some() || !names.is_empty();
        let to_scale = top.max(shown.scaled.unwrap_or(0));
        let bottom =
            if is_of_parts { 0 } else { readable_bottom(tiles, to_scale, limit(limits().min())) };
        let heights = &mut self.heights;
        let is_all = self.toolbar.ui(ui, NAME, &mut self.view, overview, page.commands, |ui| {
            around_limit_ui(ui, heights, limit(limits().max()), top);
            heights.hides_some(bottom as f64)
        });
        if is_all {
            self.heights.reset();
        }
        let pictures = runs.pictures();
        self.caches.resize_with(pictures.len(), PictureCaches::default);
        let space = ui.available_rect_before_wrap();
        let mut drawn = Rect::NOTHING;
        let mut answers = Vec::with_capacity(pictures.len());
        for (place, alone) in pictures.iter().enumerate() {
            let part = PicturePart::of(space, *alone, place, pictures.len());
            let part = PicturePart { bottom, ..part };
            let builder = egui::UiBuilder::new().id_salt(alone).max_rect(part.rect);
            let scope = ui.scope_builder(builder, |ui| {
                let legend = LegendOf {
                    runs,
                    divided,
                    has_limit: runs.iter().any(|run| run.report.bytes_per_tile().is_some()),
                    variables: &names,
                    alone: *alone,
                };
                let legend = legend.ui(ui, choices);
                (legend, self.curve_ui(ui, shown, choices, selecting, &part, &names))
            });
            let (legend, answer) = scope.inner;
            drawn = drawn.union(legend).union(answer.rect);
            answers.push(answer);
        }
        *page.has_painted_graph = true;
        self.toolbar.picture = Some(drawn);
        let selected = &mut page.selection.tiles;
        if let Some(click) = answers.iter().find_map(|answer| answer.clicked) {
            selecting.click(click, selected, axis);
        }
        selecting.drag(answers.iter().find_map(|answer| answer.dragged), selected, axis);
        for answer in &answers {
            let tile = answer.hovered.and_then(|position| axis.tile(position));
            tile_menu_ui(&mut self.menu, &answer.response, tile, page);
        }
        let mut hovered = None;
        for (place, answer) in answers.iter().enumerate() {
            let Some(position) = answer.hovered.filter(|_| hovered.is_none()) else { continue };
            hovered = Some((place, position));
            at_pointer_ui(&answer.response, |ui| tooltip::tile_ui(ui, runs, divided, position));
        }
        // What is drawn before the picture follows it too.
        link(ui, &mut self.pointed, hovered, true);
    }

    /// A picture of one of the runs, or of all.
    fn curve_ui(
        &mut self,
        ui: &mut egui::Ui,
        shown: &TilesShown<'_>,
        choices: &MemoryChoices,
        selecting: &Selecting,
        part: &PicturePart,
        names: &[String],
    ) -> CurveResponse {
        let (TilesShown { runs, divided, scaled }, alone) = (*shown, part.alone);
        let (tiles, axis, series) = (&divided.tiles, &divided.tiles.axis, &choices.series);
        let (tokens, units) = (Tokens::now(ui), Units::now(ui));
        let stack_of = alone.unwrap_or_else(|| series.stack_of(runs));
        let is_divided = divided.stacks.is_some();
        let variable = self.variable.get(runs, names, tiles).filter(|_| !names.is_empty());
        let Some(caches) = self.caches.get_mut(alone.unwrap_or(0)) else {
            unreachable!("each picture has caches")
        };
        caches.runs.resize_with(runs.len(), RunCaches::default);

        let (mut areas, mut variables) = (Vec::new(), Vec::new());
        let (mut without_gaps, mut with_gaps) = (Vec::new(), Vec::new());
        for (place, (run, cache)) in runs.iter().zip(&mut caches.runs).enumerate() {
            let Some(figures) = tiles.figures.get(place) else { continue };
            if alone.is_some_and(|alone| alone != place) {
                continue;
            }
            let style = RunStyle::of(ui, runs, place, alone.is_some());
            if let Some(values) = series.area(runs, place, figures).filter(|_| !is_divided)
                && style.area.is_some()
            {
                let area = CurveLayer::line(
                    BinValues::Cells(values),
                    Color32::TRANSPARENT,
                    &mut cache.area,
                );
                let limit = run.report.bytes_per_tile().filter(|_| choices.has_limit);
                areas.push(CurveLayer { fill: style.area, limit, ..area });
            }
            cache.variables.resize_with(names.len(), BinCache::default);
            for ((number, name), cache) in names.iter().enumerate().zip(&mut cache.variables) {
                let bytes =
                    variable.and_then(|found| found.of_variables.get(number)?.get(place)?.as_ref());
                if let Some(bytes) = bytes.filter(|_| !choices.hidden_variables.contains(name)) {
                    let VariableStyle { area, line } =
                        VariableStyle::of(ui, runs, place, number, names.len());
                    let color = line.unwrap_or(Color32::TRANSPARENT);
                    let layer = CurveLayer::line(BinValues::Known(bytes), color, cache);
                    variables.push(CurveLayer { fill: area, ..layer });
                }
            }
            if series.has_line_without_gaps(runs, place, is_divided) {
                let values = BinValues::Cells(&figures.total);
                without_gaps.push(CurveLayer::line(
                    values,
                    style.without_gaps,
                    &mut cache.without_gaps,
                ));
            }
            if series.has_line_with_gaps(run) {
                let values = BinValues::Cells(&figures.including_gaps);
                // Of several, lines of runs would be covered.
                let limit = run.report.bytes_per_tile();
                let limit = limit.filter(|_| choices.has_limit && runs.is_one());
                let line = CurveLayer::line(values, style.with_gaps, &mut cache.with_gaps);
                with_gaps.push(CurveLayer { limit, ..line });
            }
        }
        let mut layers = Vec::new();
        let stack = divided.stack(stack_of);
        if let Some(stack) = stack {
            caches.stack.resize_with(stack.edges.len(), BinCache::default);
            for ((part, edge), cache) in stack.edges.iter().zip(&mut caches.stack) {
                layers.push(CurveLayer {
                    is_stacked: !layers.is_empty(),
                    fill: Some(part_color(tokens, stack, *part)),
                    ..CurveLayer::line(BinValues::Cells(edge), Color32::TRANSPARENT, cache)
                });
            }
        }
        layers.extend(areas.into_iter().chain(variables).chain(without_gaps).chain(with_gaps));
        // What the pointer follows: the most of all.
        let followed = alone.and_then(|place| tiles.figures.get(place));
        let followed = followed.map_or(&tiles.most, |figures| &figures.including_gaps);
        if !runs.is_one() {
            let values = BinValues::Cells(followed);
            layers.push(CurveLayer::line(values, Color32::TRANSPARENT, &mut caches.followed));
        }

        // Numbers are told apart by one version for all layers.
        let mut version = stack.map_or(axis.version, |stack| stack.version);
        version ^= (stack_of as u64).rotate_left(56);
        for (place, run) in runs.iter().enumerate() {
            version ^= u64::from(series.has_line_with_gaps(run)) << (48 + place % 8);
        }
        version ^= variable.map_or(0, |found| found.version.rotate_left(32));
        let ranges =
            visible_ranges(selecting.positions(), self.view.range(axis.len()), MOST_RANGES);
        // The last one is where the keyboard goes on from.
        let cursor = selecting.cursor().and_then(|tile| axis.position(tile));
        let cursor = cursor.map(|position| position..position + 1);
        let selected = ranges.into_iter().chain(cursor).map(|range| (range, String::new()));
        let pointed = self.pointed.filter(|(place, _)| alone.is_some_and(|alone| alone != *place));
        let name = alone.and_then(|place| runs.get(place));
        let name = name.map_or_else(|| NAME.to_owned(), |run| format!("{NAME} of {}", run.the()));
        let top = series.top(runs, divided).max(scaled.unwrap_or(0));
        curve_ui(
            ui,
            &mut self.view,
            &mut self.heights,
            CurvePlot {
                value: value_text(shown, selecting, units),
                x_title: &x_title(runs, divided.choice.order),
                x_unit: "Tile",
                version,
                top,
                bottom: part.bottom,
                layers,
                limits: if choices.has_limit { limit_lines(runs, alone, units) } else { vec![] },
                borders: &axis.borders,
                selected: selected.collect(),
                pointed: pointed.map(|(_, position)| position),
                has_x_axis: part.is_last,
                is_range_selectable: true,
                ..CurvePlot::of(&name, axis.len(), &|position| {
                    axis.tile(position).map_or(String::new(), |tile| tile.to_string())
                })
            },
        )
    }
}

struct PicturePart {
    rect: Rect,
    /// The place of its run; without, it shows all.
    alone: Option<usize>,
    /// Whether no picture stands below it, so that it has the x axis.
    is_last: bool,
    /// Where its axis begins, bytes.
    bottom: u64,
}

impl PicturePart {
    fn of(space: Rect, alone: Option<usize>, place: usize, count: usize) -> Self {
        let columns = if count <= MOST_BELOW { 1 } else { 2 };
        let rows = count.div_ceil(columns);
        let (column, row) = (place % columns, place / columns);
        let width = space.width() / columns as f32;
        let height = (space.height() - X_AXIS_HEIGHT) / rows as f32;
        let is_last = place + columns >= count;
        let left = space.left() + width * column as f32;
        let top = space.top() + height * row as f32;
        let bottom = top + height + if is_last { X_AXIS_HEIGHT } else { 0.0 };
        Self {
            rect: Rect::from_x_y_ranges(left..=left + width, top..=bottom),
            alone,
            is_last,
            bottom: 0,
        }
    }
}

/// Where the axis begins so that tiles can be told apart: below the emptiest and the limit that is shown, where all
/// are nearly as full as the fullest; else at 0.
fn readable_bottom(tiles: &ArrangedTiles, top: u64, limit: Option<u64>) -> u64 {
    let least = tiles.least.min(limit.unwrap_or(u64::MAX));
    let spread = top.saturating_sub(least);
    let bottom = least.saturating_sub(spread / 2);
    if bottom > top / 2 { bottom } else { 0 }
}

pub fn x_title(runs: &Runs, order: TileOrder) -> String {
    match order {
        TileOrder::Bytes if runs.is_one() => "Tiles, largest first".to_owned(),
        TileOrder::Bytes => format!("Tiles, largest in {} first", runs.reference().the()),
        TileOrder::Change if !runs.is_one() => "Tiles, largest change first".to_owned(),
        _ => "Tile".to_owned(),
    }
}

/// The limits that a picture shows, one where they are equal.
fn limit_lines(runs: &Runs, alone: Option<usize>, units: Units) -> Vec<(u64, String)> {
    let line = |title: &str, limit: u64| (limit, format!("{title} {}", units.bytes(limit)));
    let limit_of = |run: &Run| run.report.bytes_per_tile();
    let first = runs.get(alone.unwrap_or(0)).and_then(limit_of);
    if alone.is_some() || runs.iter().all(|run| limit_of(run) == first) {
        return first.map(|limit| line("Limit", limit)).into_iter().collect();
    }
    let of_run =
        |run: &Run| Some(line(&format!("{}: limit", runs.short_title(run)), limit_of(run)?));
    runs.iter().filter_map(of_run).collect()
}

/// What is selected, for those who cannot see the picture.
fn value_text(shown: &TilesShown<'_>, selecting: &Selecting, units: Units) -> String {
    let (runs, tiles) = (shown.runs, &shown.divided.tiles);
    let all = format!("{} tiles", grouped(tiles.axis.len() as u64));
    let count: usize = selecting.positions().iter().map(std::ops::Range::len).sum();
    let Some(tile) = selecting.cursor().filter(|_| count > 0) else { return all };
    let also = if count > 1 { format!("; {count} tiles selected") } else { String::new() };
    format!(
        "{}, {}{also}",
        tile_text(runs.machine(), tile),
        with_gaps_text(runs, tiles, tile, units)
    )
}

/// The bytes of a tile with gaps in all runs, in words.
fn with_gaps_text(runs: &Runs, tiles: &ArrangedTiles, tile: TileId, units: Units) -> String {
    let row = tiles.axis.tiles.position(tile);
    let of_run = |(run, rows): (&Run, &Vec<u32>)| {
        let memory = run.report.memory.get();
        let own = row.and_then(|row| rows.get(row)).map(|row| *row as usize);
        let bytes = own.and_then(|row| cell(&memory?.including_gaps, row));
        let bytes = bytes_or_dash(bytes, units);
        if runs.is_one() { bytes } else { format!("{} {bytes}", run.title_in_text()) }
    };
    let texts: Vec<String> = runs.iter().zip(&tiles.own_rows).map(of_run).collect();
    format!("{} with gaps", texts.join(", "))
}
