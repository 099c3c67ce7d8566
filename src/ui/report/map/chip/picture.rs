//! The map of the tiles of one run: a picture of what is visible, and what the pointer does to it.

use eframe::egui::{self, Key, Sense};
use std::sync::Arc;

use super::super::tile_keys::{TileKeys, tile_keys};
use super::colors::ChipColors;
use super::paint::{ChipFrame, tooltip_ui};
use super::shared::{SharedChips, colour_title, extent_of, tiles_of};
use crate::analysis::placement::chip_map::{ChipMap, ChipWindow, ColourBy, render};
use crate::store::TileId;
use crate::text::grouped;
use crate::ui::job::Same;
use crate::ui::report::tile_figures::tile_text;
use crate::ui::report::{PageContext, tile_menu_ui};
use crate::ui::runs::Run;
use crate::ui::units::Units;
use crate::ui::widget::picture::{ShownImage, at_pointer_ui, describe, message, moved, to_end};
use crate::ui::widget::plane::{Extent, PlacedPlane};

/// Widest texture that every renderer takes.
const MOST_PIXELS: u32 = 2048;

#[derive(Clone, PartialEq)]
struct RenderedFor {
    window: ChipWindow,
    colour_by: ColourBy,
    step: Option<usize>,
    colors: Same<ChipColors>,
}

#[derive(Default)]
pub struct ChipPicture(ShownImage<RenderedFor, ChipMap>);

pub struct ChipPictureOf<'a> {
    pub name: &'a str,
    pub run: &'a Run,
    pub colors: &'a Arc<ChipColors>,
    /// The step that is shown, `None` for all steps.
    pub step: Option<usize>,
    pub extent: Extent,
    /// Whether it follows the keys that zoom. Of maps that move together, one does.
    pub has_keys: bool,
    /// The place that the pointer is over in another map.
    pub pointed: Option<(TileId, u64)>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ChipResponse {
    pub clicked: Option<TileId>,
    pub pointed: Option<(TileId, u64)>,
    pub by_key: TileKeys,
}

impl ChipPicture {
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        shared: &mut SharedChips,
        of: &ChipPictureOf<'_>,
    ) -> ChipResponse {
        let (report, extent, step) = (&of.run.report, of.extent, of.step);
        let frame = ChipFrame::new(ui.available_rect_before_wrap());
        ui.allocate_rect(frame.outer, Sense::hover());
        let id = ui.scope_id().with("map of all tiles");
        let response = ui.interact(frame.inner, id, Sense::click_and_drag());
        shared.plane.navigate(ui, &response, frame.inner, extent);
        if of.has_keys {
            shared.plane.navigate_by_key(ui, extent);
        }
        let placed = shared.plane.placed(frame.inner, extent);
        let window = window(ui, &placed);
        let colors = Same(Arc::clone(of.colors));
        let key = RenderedFor { window, colour_by: shared.colour_by, step, colors };
        self.ask(ui, of.run, &key);

        let painter = frame.painter(ui, placed);
        painter.background();
        match self.0.shown() {
            Some((_, map, texture)) => painter.picture(map, *texture),
            None => {
                let text = self.0.failure().unwrap_or("Drawing the map…");
                message(&painter.inside(), frame.inner, text);
            }
        }
        painter.borders(report.target.get());
        painter.selected(&page.selection.tiles);
        painter.axes(Units::now(ui));
        if let Some((tile, address)) = of.pointed {
            painter.cursor(tile, address);
        }
        *page.has_painted_graph = true;
        let chosen = page.selection.tiles.first();
        let by_key = tile_keys(ui, &response, frame.inner, chosen, |pressed| {
            let tiles = tiles_of(report)?;
            let now = chosen.and_then(|tile| tiles.position(tile));
            let row = moved(pressed, [Key::ArrowDown, Key::ArrowUp], now, tiles.len());
            tiles.get(row.or_else(|| to_end(pressed, tiles.len()))?)
        });
        if let Some(tile) = by_key.reached {
            shared.plane.y.reveal(extent.y, tile.0 as usize);
        }
        describe(&response, of.name, || {
            let tiles = grouped(extent_of(report).y as u64);
            let chosen = chosen.map(|tile| format!("; {}", tile_text(page.runs.machine(), tile)));
            let colour = colour_title(shared.colour_by);
            format!("{tiles} tiles, {colour}{}", chosen.unwrap_or_default())
        });
        let at = response.hover_pos().and_then(|pointer| painter.place(pointer));
        if let Some((tile, address)) = at.filter(|_| !response.dragged()) {
            painter.cursor(tile, address);
            let cell = self.0.shown().and_then(|(_, map, _)| map.at(tile.0, address));
            at_pointer_ui(&response, |ui| tooltip_ui(ui, report, tile, address, step, cell));
        }
        let tile = at.map(|(tile, _)| tile);
        tile_menu_ui(&mut shared.menu, &response, tile, page);
        let clicked = tile.filter(|_| response.clicked());
        ChipResponse { clicked, pointed: at, by_key }
    }

    fn ask(&mut self, ui: &egui::Ui, run: &Run, key: &RenderedFor) {
        let (report, wanted) = (Arc::clone(&run.report), key.clone());
        self.0.ask(ui, "map of all tiles", key, move |cancel| {
            let RenderedFor { window, colour_by, step, colors: Same(colors) } = &wanted;
            let map = render(&report, window, *colour_by, *step, &|| cancel.is_cancelled())?;
            let image = colors.image(&map);
            Some((map, image))
        });
    }
}

/// The part of the chip that is visible, in pixels.
fn window(ui: &egui::Ui, placed: &PlacedPlane) -> ChipWindow {
    let ((left, right), (top, bottom), inner) = (placed.x, placed.y, placed.rect);
    let most = MOST_PIXELS.min(ui.input(|input| input.max_texture_side) as u32);
    // One cell more may come where the window begins within one.
    let pixels = |points: f32| {
        ((points * ui.pixels_per_point()) as u32).clamp(1, most.saturating_sub(2).max(1))
    };
    let tile = |at: f64| u32::try_from(at.max(0.0) as u64).unwrap_or(u32::MAX);
    ChipWindow {
        tiles: tile((top + 0.5).floor())..tile((bottom + 0.5).ceil()),
        addresses: (left + 0.5).floor().max(0.0) as u64..(right + 0.5).ceil().max(0.0) as u64,
        columns: pixels(inner.width()),
        rows: pixels(inner.height()),
    }
}
