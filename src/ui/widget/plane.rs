//! The visible part of a picture with two axes: zoom, pan, reset. Wheel and keys zoom both.

use eframe::egui::{self, Pos2, Rect, Response};

use super::navigate::{navigate_by_key, zoom_by_key};
use super::view::VisibleRange;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub x: usize,
    pub y: usize,
}

/// The visible part; y goes up, or down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plane {
    pub x: VisibleRange,
    pub y: VisibleRange,
    is_down: bool,
}

impl Plane {
    /// Everything, where y goes down.
    pub fn downward() -> Self {
        Self { is_down: true, ..Self::default() }
    }

    pub fn reset(&mut self) {
        *self = Self { is_down: self.is_down, ..Self::default() };
    }

    pub fn is_zoomed(self) -> bool {
        self.x.is_zoomed() || self.y.is_zoomed()
    }

    pub fn zoom_middle(&mut self, extent: Extent, factor: f64) {
        for (view, len) in [(&mut self.x, extent.x), (&mut self.y, extent.y)] {
            let (start, end) = view.range(len);
            view.zoom(len, factor, f64::midpoint(start, end));
        }
    }

    /// Where positions lie in a rectangle.
    pub fn placed(self, rect: Rect, extent: Extent) -> PlacedPlane {
        let (x, y) = (self.x.range(extent.x), self.y.range(extent.y));
        PlacedPlane { rect, x, y, is_down: self.is_down }
    }

    /// The wheel zooms, drag pans, a double-click resets.
    pub fn navigate(&mut self, ui: &egui::Ui, response: &Response, rect: Rect, extent: Extent) {
        let before = *self;
        let placed = self.placed(rect, extent);
        let [x_per_point, y_per_point] = placed.per_point();
        if response.dragged() {
            let drag = response.drag_delta();
            self.x.pan(extent.x, -f64::from(drag.x) * x_per_point);
            let up = if self.is_down { -drag.y } else { drag.y };
            self.y.pan(extent.y, f64::from(up) * y_per_point);
        }
        if let Some(pointer) = response.hover_pos() {
            let (wheel, pinch) =
                ui.input(|input| (input.smooth_scroll_delta(), input.zoom_delta()));
            let factor = f64::from(wheel.y / 200.0).exp() * f64::from(pinch);
            let (x, y) = placed.position(pointer);
            if (factor - 1.0).abs() > 1e-6 {
                self.x.zoom(extent.x, factor, x);
                self.y.zoom(extent.y, factor, y);
            }
            if wheel.x != 0.0 {
                self.x.pan(extent.x, -f64::from(wheel.x) * x_per_point);
            }
        }
        if response.double_clicked() {
            self.reset();
        }
        if *self != before {
            ui.request_repaint();
        }
    }

    /// Keys zoom and go to the part before or after along x, 0 resets.
    pub fn navigate_by_key(&mut self, ui: &egui::Ui, extent: Extent) {
        let before = *self;
        navigate_by_key(ui, &mut self.x, extent.x);
        zoom_by_key(ui, &mut self.y, extent.y);
        if *self != before {
            ui.request_repaint();
        }
    }
}

/// Where positions lie in a rectangle. Position `i` covers `i - 0.5` to `i + 0.5`, as in [`VisibleRange`].
#[derive(Clone, Copy, Debug)]
pub struct PlacedPlane {
    pub rect: Rect,
    /// The visible positions along x.
    pub x: (f64, f64),
    /// The visible positions along y.
    pub y: (f64, f64),
    is_down: bool,
}

impl PlacedPlane {
    /// Positions of a point, along x and y.
    pub fn per_point(&self) -> [f64; 2] {
        let along =
            |(start, end): (f64, f64), points: f32| (end - start) / f64::from(points.max(1.0));
        [along(self.x, self.rect.width()), along(self.y, self.rect.height())]
    }

    /// Where the position of a number begins along x.
    pub fn x_of(&self, at: f64) -> f32 {
        self.rect.left() + ((at - 0.5 - self.x.0) / self.per_point()[0]) as f32
    }

    /// Where the position of a number begins along y.
    pub fn y_of(&self, at: f64) -> f32 {
        let along = ((at - 0.5 - self.y.0) / self.per_point()[1]) as f32;
        if self.is_down { self.rect.top() + along } else { self.rect.bottom() - along }
    }

    /// The rectangle between two positions along x, and two along y.
    pub fn rect_of(&self, x: [f64; 2], y: [f64; 2]) -> Rect {
        let [from, to] = [0, 1].map(|end: usize| Pos2::new(self.x_of(x[end]), self.y_of(y[end])));
        Rect::from_two_pos(from, to)
    }

    pub fn position(&self, at: Pos2) -> (f64, f64) {
        let [x, y] = self.per_point();
        let along = if self.is_down { at.y - self.rect.top() } else { self.rect.bottom() - at.y };
        (self.x.0 + f64::from(at.x - self.rect.left()) * x, self.y.0 + f64::from(along) * y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_positions_agree() {
        let rect = Rect::from_min_max(Pos2::new(10.0, 20.0), Pos2::new(110.0, 70.0));
        let extent = Extent { x: 50, y: 1000 };
        let mut plane = Plane::default();
        let placed = plane.placed(rect, extent);
        assert!((placed.x_of(0.0) - 10.0).abs() < 1e-3);
        assert!((placed.y_of(0.0) - 70.0).abs() < 1e-3);
        assert!((placed.y_of(1000.0) - 20.0).abs() < 1e-3);
        let (x, y) = placed.position(Pos2::new(placed.x_of(7.0), placed.y_of(300.0)));
        assert!((x - 6.5).abs() < 1e-3 && (y - 299.5).abs() < 1e-2);
        plane.zoom_middle(extent, 2.0);
        assert!(plane.x.is_zoomed() && plane.y.is_zoomed());
        plane.reset();
        assert_eq!(plane, Plane::default());
    }
}
