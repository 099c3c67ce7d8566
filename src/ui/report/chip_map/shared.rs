//! What maps of all tiles that move together share: the visible part, and what colours tell.

use eframe::egui;
use eframe::egui::{ComboBox, Key, Rect, Response, Vec2};

use super::colors::{Colors, legend_ui};
use crate::analysis::placement::chip_map::ColourBy;
use crate::store::Report;
use crate::ui::report::is_limit_near;
use crate::ui::widget::view::View;

/// The visible part, and what is coloured how.
#[derive(Debug)]
pub struct Shared {
    addresses: View,
    tiles: View,
    /// What colours tell.
    pub colour_by: ColourBy,
}

impl Default for Shared {
    fn default() -> Self {
        let (addresses, tiles) = (View::default(), View::default());
        Self { addresses, tiles, colour_by: ColourBy::Category }
    }
}

/// How large the chip is: numbers of tiles and bytes of each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// Numbers of tiles.
    pub tiles: usize,
    /// Bytes of each.
    pub bytes: usize,
}

impl Extent {
    /// All tiles, and the addresses up to the limit, where it is near, or to the fullest tile.
    pub fn of(report: &Report) -> Self {
        let memory = report.memory.get();
        let variables = report.variables.get();
        let last = memory.and_then(|memory| memory.tiles.as_slice().last().copied());
        let last = last.or_else(|| variables?.tiles.as_slice().last().copied());
        let most = memory.and_then(|memory| memory.including_gaps.iter().flatten().max().copied());
        let limit = report.target.get().and_then(|target| target.bytes_per_tile);
        // A limit far above what is used would press everything to the left.
        let limit = limit.filter(|limit| most.is_none_or(|most| is_limit_near(most, *limit)));
        let bytes = most.into_iter().chain(limit).max().unwrap_or(1);
        Self {
            tiles: last.map_or(1, |tile| tile.0 as usize + 1),
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX).max(1),
        }
    }

    /// What has room for both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { tiles: self.tiles.max(other.tiles), bytes: self.bytes.max(other.bytes) }
    }
}

impl Shared {
    /// The visible addresses and tiles.
    pub fn ranges(&self, extent: Extent) -> [(f64, f64); 2] {
        [self.addresses.range(extent.bytes), self.tiles.range(extent.tiles)]
    }

    /// Draws what is coloured how, and the buttons that zoom.
    pub fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        colors: &Colors,
        extent: Extent,
        is_at_step: bool,
    ) {
        let mut colour_by = self.colour_by;
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
            legend_ui(ui, colors, colour_by, is_at_step);
        });
        self.colour_by = colour_by;
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
    pub fn navigate(
        &mut self,
        ui: &egui::Ui,
        response: &Response,
        inner: Rect,
        extent: Extent,
        has_keys: bool,
    ) {
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
        let is_typing = !has_keys || ui.text_edit_focused();
        let pressed = |key| ui.input(|input| input.key_pressed(key) && !input.modifiers.any());
        if response.double_clicked() || (!is_typing && pressed(Key::Num0)) {
            self.reset();
        }
        if !is_typing && (pressed(Key::Plus) || pressed(Key::Equals)) {
            self.zoom_middle(extent, 1.5);
        }
        if !is_typing && pressed(Key::Minus) {
            self.zoom_middle(extent, 1.0 / 1.5);
        }
        if before != (self.addresses, self.tiles) {
            ui.request_repaint();
        }
    }
}

/// The name of what colours tell.
pub fn colour_title(colour_by: ColourBy) -> &'static str {
    match colour_by {
        ColourBy::Category => "By category",
        ColourBy::Liveness => "By liveness",
        ColourBy::Gaps => "By gaps",
    }
}
