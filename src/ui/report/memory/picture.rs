//! The picture of bytes over tiles, with the row above it and its legend.

use eframe::egui;
use eframe::egui::{Color32, Rect};
use std::sync::Arc;

use super::axis::visible_ranges;
use super::choices::Choices;
use super::over_tiles::VariableOverTiles;
use super::select::{Selecting, tile_text};
use super::shown::{Key, Made, Shown};
use super::stack::Stack;
use super::tooltip;
use crate::analysis::memory::breakdown::Breakdown;
use crate::analysis::memory::cell;
use crate::analysis::memory::tile_order::TileOrder;
use crate::store::memory::TileMemory;
use crate::store::{Report, TileId};
use crate::text::{grouped, shortened};
use crate::ui::report::{PageContext, bytes_or_dash};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::curve::{Answer, Layer, Picture, Y_AXIS_WIDTH, curve_ui};
use crate::ui::widget::legend::{Patch, entry_ui};
use crate::ui::widget::overview::Overview;
use crate::ui::widget::toolbar::Toolbar;
use crate::ui::widget::view::View;

/// Name of the picture.
const NAME: &str = "Memory over tiles";
/// Selected ranges that are drawn one by one.
pub const MOST_RANGES: usize = 1000;
/// Longest name of a part in the legend.
pub const LONGEST_TITLE: usize = 40;

/// What the picture remembers.
#[derive(Debug, Default)]
pub struct TilePicture {
    /// The visible part.
    pub view: View,
    /// A tile that shall be visible.
    pub reveal: Option<TileId>,
    toolbar: Toolbar,
    overview: BinCache,
    caches: [BinCache; 2],
    stack_caches: Vec<BinCache>,
    /// Bytes of the selected variable on the tiles that are shown.
    variable: VariableOverTiles,
    variable_cache: BinCache,
}

/// What it shows.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// Memory by tile.
    pub memory: &'a TileMemory,
    /// The tiles in their order, and their parts.
    pub made: &'a Made,
    /// The limit of a tile.
    pub limit: Option<u64>,
    /// The limit, if the picture shall reach up to it.
    pub scaled: Option<u64>,
}

impl TilePicture {
    /// Draws it in the space that is left, and does what the user does to it.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        parts: &Parts<'_>,
        choices: &mut Choices,
        selecting: &mut Selecting,
    ) {
        let Parts { memory, made, .. } = *parts;
        let Shown { axis, figures } = &*made.shown;
        if let Some(tile) = self.reveal.take()
            && let Some(position) = axis.position(tile)
        {
            self.view.reveal(axis.len(), position);
        }
        let overview = Overview {
            values: Values::Cells(&figures.including_gaps),
            len: axis.len(),
            base: 0,
            version: axis.version,
            top: figures.tops.1,
            cache: &mut self.overview,
        };
        self.toolbar.ui(ui, NAME, &mut self.view, overview, page.commands);
        let name = page.selection.variable.as_deref();
        if let Some(name) = name {
            let shown = Arc::clone(&made.shown);
            let tiles = move || shown.axis.in_order();
            self.variable.ask(ui, page.report, name, axis.version, tiles);
        }
        let name = name.filter(|name| self.variable.has(name));
        let legend = legend_ui(ui, parts, choices, name);
        let answer = self.curve_ui(ui, page, parts, choices, selecting);
        *page.has_painted_graph = true;
        self.toolbar.picture = Some(legend.union(answer.rect));

        let tiles = &mut page.selection.tiles;
        if let Some(click) = answer.clicked {
            selecting.click(click, tiles, axis);
        }
        selecting.drag(answer.dragged, tiles, axis);
        if let Some(row) = answer.hovered.and_then(|position| axis.row(position)) {
            egui::Tooltip::for_widget(&answer.response)
                .at_pointer()
                .show(|ui| tooltip::tile_ui(ui, page.report, memory, made.stack.as_deref(), row));
        }
    }

    fn curve_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &PageContext<'_>,
        parts: &Parts<'_>,
        choices: &Choices,
        selecting: &Selecting,
    ) -> Answer {
        let Parts { made, limit, scaled, .. } = *parts;
        let Shown { axis, figures } = &*made.shown;
        let (tokens, units) = (Tokens::now(ui), Units::now(ui));
        let x_text =
            |position: usize| axis.tile(position).map_or(String::new(), |tile| tile.to_string());
        let [base_cache, gaps_cache] = &mut self.caches;
        let mut layers = Vec::new();
        let mut top = 0;
        if let Some(stack) = &made.stack {
            self.stack_caches.resize_with(stack.edges.len(), BinCache::default);
            for ((part, edge), cache) in stack.edges.iter().zip(&mut self.stack_caches) {
                layers.push(Layer {
                    values: Values::Cells(edge),
                    base: 0,
                    is_stacked: !layers.is_empty(),
                    fill: Some(part_color(tokens, stack, *part)),
                    line: Color32::TRANSPARENT,
                    cache,
                });
            }
            top = stack.top;
        } else if choices.has_base {
            layers.push(Layer {
                values: Values::Cells(&figures.total),
                base: 0,
                is_stacked: false,
                fill: Some(tokens.base_fill),
                line: tokens.base,
                cache: base_cache,
            });
            top = figures.tops.0;
        }
        let name = page.selection.variable.as_deref();
        let variable = name.and_then(|name| self.variable.get(name, axis));
        if let Some(found) = variable.filter(|_| choices.has_variable) {
            layers.push(Layer {
                values: Values::Known(&found.bytes),
                base: 0,
                is_stacked: false,
                fill: Some(tokens.mark),
                line: tokens.mark,
                cache: &mut self.variable_cache,
            });
        }
        if choices.has_gaps {
            layers.push(Layer {
                values: Values::Cells(&figures.including_gaps),
                base: 0,
                is_stacked: false,
                fill: None,
                line: tokens.top,
                cache: gaps_cache,
            });
            top = top.max(figures.tops.1);
        }
        // Numbers are told apart by one version for all layers.
        let version = made.stack.as_ref().map_or(axis.version, |stack| stack.version);
        let version = version ^ variable.map_or(0, |found| found.version.rotate_left(32));
        let range = self.view.range(axis.len());
        let ranges = visible_ranges(selecting.positions(), range, MOST_RANGES);
        // The last one is where the keyboard goes on from.
        let cursor = selecting.cursor().and_then(|tile| axis.position(tile));
        let cursor = cursor.map(|position| position..position + 1);
        let selected = ranges.into_iter().chain(cursor).map(|range| (range, String::new()));
        curve_ui(
            ui,
            &mut self.view,
            Picture {
                name: NAME,
                value: value_text(page.report, parts, selecting, units),
                x_title: match made.key.order {
                    TileOrder::Number | TileOrder::Change => "Tile",
                    TileOrder::Bytes => "Tiles, largest first",
                },
                x_text: &x_text,
                version,
                len: axis.len(),
                top: top.max(scaled.unwrap_or(0)),
                ground: None,
                layers,
                limits: limit
                    .filter(|_| choices.has_limit)
                    .map(|limit| (limit, format!("Limit {}", units.bytes(limit))))
                    .into_iter()
                    .collect(),
                borders: &axis.borders,
                marks: &[],
                lanes: &[],
                selected: selected.collect(),
                pointed: None,
                has_x_axis: true,
                is_range_selectable: true,
            },
        )
    }
}

/// The legend, whose entries switch what they name; returns where it lies.
fn legend_ui(
    ui: &mut egui::Ui,
    parts: &Parts<'_>,
    choices: &mut Choices,
    variable: Option<&str>,
) -> Rect {
    let tokens = Tokens::now(ui);
    let row = ui.horizontal(|ui| {
        ui.add_space(Y_AXIS_WIDTH);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(14.0, 2.0);
            if let Some(stack) = &parts.made.stack {
                stack_legend_ui(ui, stack, &mut choices.key);
            } else {
                let area = Patch::Area(tokens.base_fill, tokens.base);
                entry_ui(ui, area, "Without gaps", &mut choices.has_base);
            }
            if let Some(name) = variable {
                let patch = Patch::Area(tokens.mark, tokens.mark);
                let title = format!("Variable {}", shortened(name, LONGEST_TITLE));
                entry_ui(ui, patch, &title, &mut choices.has_variable);
            }
            entry_ui(ui, Patch::Line(tokens.top), "With gaps", &mut choices.has_gaps);
            if parts.limit.is_some() {
                entry_ui(ui, Patch::Dashes(tokens.limit), "Limit", &mut choices.has_limit);
            }
            if let (Some(which), None) = (parts.made.key.breakdown, &parts.made.stack) {
                ui.colored_label(tokens.warning, missing_text(parts.memory, which));
            }
        });
    });
    row.response.rect
}

/// The entries of the parts of a stack.
pub fn stack_legend_ui(ui: &mut egui::Ui, stack: &Stack, key: &mut Key) {
    for (index, part) in stack.parts.iter().enumerate() {
        let color = part_color(Tokens::now(ui), stack, index);
        let mut is_on = !key.is_hidden(index);
        let title = shortened(&part.title, LONGEST_TITLE);
        if entry_ui(ui, Patch::Area(color, color), &title, &mut is_on).changed() {
            key.switch(index, is_on);
        }
    }
}

/// The colour of a part; what is left over is grey.
pub fn part_color(tokens: &Tokens, stack: &Stack, index: usize) -> Color32 {
    let key = stack.parts.get(index).map_or("", |part| part.key.as_str());
    let [.., others, rest] = tokens.series;
    match key {
        "overlapped" | "not_explained" | "not_in_region" => rest,
        "other_categories" => others,
        _ => tokens.series.get(index).copied().unwrap_or(rest),
    }
}

/// Why a breakdown is not shown.
pub fn missing_text(memory: &TileMemory, which: Breakdown) -> String {
    match (which, &memory.why_no_categories) {
        (Breakdown::Region, _) => "The profile has no readable bytes by region".to_owned(),
        (Breakdown::Liveness, _) => "The profile has no readable bytes by liveness".to_owned(),
        (Breakdown::Category, Some(absence)) => absence.what.clone(),
        (Breakdown::Category, None) => "The profile has no readable bytes by category".to_owned(),
    }
}

/// What is selected, for those who cannot see the picture.
fn value_text(report: &Report, parts: &Parts<'_>, selecting: &Selecting, units: Units) -> String {
    let tiles = format!("{} tiles", grouped(parts.made.shown.axis.len() as u64));
    let count: usize = selecting.positions().iter().map(std::ops::Range::len).sum();
    let Some(tile) = selecting.cursor().filter(|_| count > 0) else { return tiles };
    let row = parts.memory.tiles.position(tile);
    let bytes = row.and_then(|row| cell(&parts.memory.including_gaps, row));
    let named = tile_text(report.target.get(), tile);
    let also = if count > 1 { format!("; {count} tiles selected") } else { String::new() };
    format!("{named}, {} with gaps{also}", bytes_or_dash(bytes, units))
}
