//! The map of all tiles: a line for each tile, addresses from left to right, as one picture that shows
//! what most bytes of a pixel are. Zoomed in, single variables of single tiles appear.

mod colors;
mod paint;

use eframe::egui;
use std::sync::Arc;

use eframe::egui::{ComboBox, Key as KeyboardKey, Rect, Response, Sense, TextureHandle, Vec2};

use crate::analysis::chip_map::{ChipMap, ColourBy, Window, render};
use crate::store::TileId;
use crate::store::target::Target;
use crate::ui::job::Latest;
use crate::ui::report::{PageContext, is_limit_near, unread_ui};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::view::View;
use colors::{Colors, legend_ui};
use paint::{Frame, tooltip_ui};

/// Widest texture that every renderer takes.
const MOST_PIXELS: u32 = 2048;

/// What a picture was made for.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    window: Window,
    colour_by: ColourBy,
    step: Option<usize>,
    is_dark: bool,
}

/// A picture that a job has made.
#[derive(Clone, Debug)]
struct Made {
    map: Arc<ChipMap>,
    image: Arc<egui::ColorImage>,
}

/// What the map remembers.
#[derive(Default)]
pub struct ChipMapView {
    addresses: View,
    tiles: View,
    colour_by: Option<ColourBy>,
    colors: Option<(bool, Arc<Colors>)>,
    made: Latest<Key, Option<Made>>,
    /// What is on the screen: an earlier picture stays, at its place, until the next one is there.
    texture: Option<(Key, Arc<ChipMap>, TextureHandle)>,
}

impl std::fmt::Debug for ChipMapView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let views = (&self.addresses, &self.tiles, self.colour_by);
        f.debug_tuple("ChipMapView").field(&views).finish()
    }
}

/// How large the chip is: numbers of tiles and bytes of each.
#[derive(Clone, Copy, Debug)]
struct Extent {
    tiles: usize,
    bytes: usize,
}

impl ChipMapView {
    /// Draws the map in the space that is left; returns a tile that was clicked. `step` is the one
    /// that is shown, `None` for all steps.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        step: Option<usize>,
    ) -> Option<TileId> {
        let report = page.report;
        let Some(variables) = report.variables.get() else {
            if report.variables.is_settled() {
                let reason = "The profile has no readable table vars_info";
                absent_ui(ui, "Variables are not in this report", reason);
            } else {
                unread_ui(ui, "Variables", page.is_working);
            }
            return None;
        };
        let is_dark = ui.visuals().dark_mode;
        if self.colors.as_ref().is_none_or(|(made_for, _)| *made_for != is_dark) {
            let colors = Colors::new(report, variables, Tokens::now(ui));
            self.colors = Some((is_dark, Arc::new(colors)));
        }
        let colors = self.colors.as_ref().map(|(_, colors)| Arc::clone(colors))?;
        let target = report.target.get();
        let extent = extent(page, target);
        let colour_by = self.head_ui(ui, &colors, extent, step);
        let frame = Frame::new(ui.available_rect_before_wrap());
        ui.allocate_rect(frame.outer, Sense::hover());
        let response = ui.interact(
            frame.inner,
            ui.scope_id().with("map of all tiles"),
            Sense::click_and_drag(),
        );
        self.navigate(ui, &response, frame.inner, extent);
        let window = self.window(ui, frame.inner, extent);
        let key = Key { window, colour_by, step, is_dark };
        self.ask(ui, page, &key, &colors);
        self.take_picture(ui, &key);

        let views = [self.addresses.range(extent.bytes), self.tiles.range(extent.tiles)];
        let painter = frame.painter(ui, views);
        painter.background();
        if let Some((_, map, texture)) = &self.texture {
            painter.picture(map, texture);
        } else {
            let text = self.made.failure().unwrap_or("Drawing the map…");
            painter.message(text);
        }
        painter.borders(target);
        painter.selected(&page.selection.tiles);
        painter.axes(Units::now(ui));
        *page.has_painted_graph = true;
        let tiles = crate::text::grouped(extent.tiles as u64);
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::labeled(egui::Role::Canvas, true, "Map of all tiles");
            info.current_text_value = Some(format!("{tiles} tiles, {}", colour_title(colour_by)));
            info
        });
        let at = response.hover_pos().and_then(|pointer| painter.place(pointer));
        if let Some((tile, address)) = at.filter(|_| !response.dragged()) {
            painter.cursor(tile, address);
            let cell = self.texture.as_ref().and_then(|(_, map, _)| map.at(tile.0, address));
            egui::Tooltip::for_widget(&response)
                .at_pointer()
                .show(|ui| tooltip_ui(ui, report, (tile, address), step, cell));
        }
        at.map(|(tile, _)| tile).filter(|_| response.clicked())
    }

    /// What is coloured how; returns the choice.
    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        colors: &Colors,
        extent: Extent,
        step: Option<usize>,
    ) -> ColourBy {
        let mut colour_by = self.colour_by.unwrap_or(ColourBy::Category);
        ui.horizontal_wrapped(|ui| {
            let combo = ComboBox::from_id_salt("colour of the map").width(150.0);
            let combo = combo.selected_text(colour_title(colour_by)).show_ui(ui, |ui| {
                for choice in [ColourBy::Category, ColourBy::Liveness, ColourBy::Gaps] {
                    ui.selectable_value(&mut colour_by, choice, colour_title(choice));
                }
            });
            combo.response.accessible_name("Colour");
            let is_zoomed = self.addresses.is_zoomed() || self.tiles.is_zoomed();
            let all = ui.add_enabled(is_zoomed, egui::Button::new("Show all"));
            if all.on_hover_text("Key 0, or double-click in the map").clicked() {
                self.reset();
            }
            for (sign, name, factor) in [("−", "Zoom out", 1.0 / 1.5), ("+", "Zoom in", 1.5)] {
                let button = egui::Button::new(sign).min_size(Vec2::new(24.0, 22.0));
                if ui.add(button).accessible_name(name).clicked() {
                    self.zoom_middle(extent, factor);
                }
            }
            legend_ui(ui, colors, colour_by, step.is_some());
        });
        self.colour_by = Some(colour_by);
        colour_by
    }

    fn reset(&mut self) {
        self.addresses.reset();
        self.tiles.reset();
    }

    fn zoom_middle(&mut self, extent: Extent, factor: f64) {
        for (view, len) in [(&mut self.addresses, extent.bytes), (&mut self.tiles, extent.tiles)] {
            let (start, end) = view.range(len);
            view.zoom(len, factor, f64::midpoint(start, end));
        }
    }

    /// Wheel and keys zoom both axes, drag pans, double-click and 0 reset.
    fn navigate(&mut self, ui: &egui::Ui, response: &Response, inner: Rect, extent: Extent) {
        let before = (self.addresses, self.tiles);
        let axes = [
            (&mut self.addresses, extent.bytes, inner.x_range()),
            (&mut self.tiles, extent.tiles, inner.y_range()),
        ];
        let (wheel, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let drag = response.drag_delta();
        for ((view, len, range), moved) in axes.into_iter().zip([drag.x, drag.y]) {
            let (start, end) = view.range(len);
            let per_point = (end - start) / f64::from(range.span().max(1.0));
            if response.dragged() && moved != 0.0 {
                view.pan(len, -f64::from(moved) * per_point);
            }
            if let Some(pointer) = response.hover_pos() {
                let along = if range == inner.x_range() { pointer.x } else { pointer.y };
                let center = start + f64::from(along - range.min) * per_point;
                let factor = f64::from(wheel / 200.0).exp() * f64::from(pinch);
                if (factor - 1.0).abs() > 1e-6 {
                    view.zoom(len, factor, center);
                }
            }
        }
        let is_typing = ui.text_edit_focused();
        let pressed = |key| ui.input(|input| input.key_pressed(key) && !input.modifiers.any());
        if response.double_clicked() || (!is_typing && pressed(KeyboardKey::Num0)) {
            self.reset();
        }
        if !is_typing && (pressed(KeyboardKey::Plus) || pressed(KeyboardKey::Equals)) {
            self.zoom_middle(extent, 1.5);
        }
        if !is_typing && pressed(KeyboardKey::Minus) {
            self.zoom_middle(extent, 1.0 / 1.5);
        }
        if before != (self.addresses, self.tiles) {
            ui.request_repaint();
        }
    }

    /// The part of the chip that is visible, in pixels.
    fn window(&self, ui: &egui::Ui, inner: Rect, extent: Extent) -> Window {
        let (left, right) = self.addresses.range(extent.bytes);
        let (top, bottom) = self.tiles.range(extent.tiles);
        let most = MOST_PIXELS.min(ui.input(|input| input.max_texture_side) as u32);
        // One cell more may come where the window begins within one.
        let pixels = |points: f32| {
            ((points * ui.pixels_per_point()) as u32).clamp(1, most.saturating_sub(2).max(1))
        };
        let tile = |at: f64| u32::try_from(at.max(0.0) as u64).unwrap_or(u32::MAX);
        Window {
            tiles: tile((top + 0.5).floor())..tile((bottom + 0.5).ceil()),
            addresses: (left + 0.5).floor().max(0.0) as u64..(right + 0.5).ceil().max(0.0) as u64,
            columns: pixels(inner.width()),
            rows: pixels(inner.height()),
        }
    }

    fn ask(&mut self, ui: &egui::Ui, page: &PageContext<'_>, key: &Key, colors: &Arc<Colors>) {
        let (report, colors, wanted) = (Arc::clone(page.report), Arc::clone(colors), key.clone());
        self.made.ask("map of all tiles", ui.ctx(), key, move |cancel| {
            let Key { window, colour_by, step, .. } = &wanted;
            let map = render(&report, window, *colour_by, *step, &|| cancel.is_cancelled())?;
            let image = Arc::new(colors.image(&map));
            Some(Made { map: Arc::new(map), image })
        });
    }

    /// Takes a new picture to the screen.
    fn take_picture(&mut self, ui: &egui::Ui, wanted: &Key) {
        let Some((key, Some(made))) = self.made.last() else { return };
        if self.texture.as_ref().is_some_and(|(shown, ..)| shown == key) {
            return;
        }
        let map = Arc::clone(&made.map);
        let (image, options) = (Arc::clone(&made.image), egui::TextureOptions::NEAREST);
        match &mut self.texture {
            Some((shown, old, texture)) => {
                texture.set(image, options);
                (*shown, *old) = (key.clone(), map);
            }
            None => {
                let texture = ui.load_texture("map of all tiles", image, options);
                self.texture = Some((key.clone(), map, texture));
            }
        }
        if key != wanted {
            // The one that is wanted has been asked for, and wakes the window.
            ui.request_repaint();
        }
    }
}

fn colour_title(colour_by: ColourBy) -> &'static str {
    match colour_by {
        ColourBy::Category => "By category",
        ColourBy::Liveness => "By liveness",
        ColourBy::Gaps => "By gaps",
    }
}

/// All tiles, and the addresses up to the limit, where it is near, or to the fullest tile.
fn extent(page: &PageContext<'_>, target: Option<&Target>) -> Extent {
    let memory = page.report.memory.get();
    let variables = page.report.variables.get();
    let last = memory.and_then(|memory| memory.tiles.as_slice().last().copied());
    let last = last.or_else(|| variables?.tiles.as_slice().last().copied());
    let most = memory.and_then(|memory| memory.including_gaps.iter().flatten().max().copied());
    let limit = target.and_then(|target| target.bytes_per_tile);
    // A limit far above what is used would press everything to the left.
    let limit = limit.filter(|limit| most.is_none_or(|most| is_limit_near(most, *limit)));
    let bytes = most.into_iter().chain(limit).max().unwrap_or(1);
    Extent {
        tiles: last.map_or(1, |tile| tile.0 as usize + 1),
        bytes: usize::try_from(bytes).unwrap_or(usize::MAX).max(1),
    }
}
