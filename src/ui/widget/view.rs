//! The visible part of an axis of positions: zoom, pan, reset. Position `i` covers `i - 0.5` to
//! `i + 0.5`.

/// Fewest positions that can be visible.
pub const CLOSEST: f64 = 4.0;

/// The visible range; everything unless the user has zoomed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VisibleRange {
    zoomed: Option<(f64, f64)>,
}

impl VisibleRange {
    pub fn everything(len: usize) -> (f64, f64) {
        (-0.5, len.max(1) as f64 - 0.5)
    }

    /// The visible range of `len` positions.
    pub fn range(self, len: usize) -> (f64, f64) {
        let everything = Self::everything(len);
        match self.zoomed {
            Some(range) if range.1 <= everything.1 + 1e-9 => range,
            _ => everything,
        }
    }

    pub fn is_zoomed(self) -> bool {
        self.zoomed.is_some()
    }

    pub fn reset(&mut self) {
        self.zoomed = None;
    }

    /// How much closer than everything, in percent.
    pub fn magnification(self, len: usize) -> f64 {
        let ((low, high), (start, end)) = (Self::everything(len), self.range(len));
        100.0 * (high - low) / (end - start)
    }

    /// Zooms to a magnification in percent around the middle.
    pub fn magnify(&mut self, len: usize, percent: f64) {
        let (start, end) = self.range(len);
        self.zoom(len, percent / self.magnification(len), f64::midpoint(start, end));
    }

    /// Shows the part between two places, as far as that can be shown.
    pub fn show(&mut self, len: usize, start: f64, end: f64) {
        let (low, high) = Self::everything(len);
        let span = (end - start).clamp(CLOSEST.min(high - low), high - low);
        self.set(len, start, span);
    }

    /// Zooms by `factor` (more than 1: closer) and keeps `center` where it is.
    pub fn zoom(&mut self, len: usize, factor: f64, center: f64) {
        let (low, high) = Self::everything(len);
        let (start, end) = self.range(len);
        if !factor.is_finite() || factor <= 0.0 {
            return;
        }
        let span = ((end - start) / factor).clamp(CLOSEST.min(high - low), high - low);
        let share = ((center - start) / (end - start)).clamp(0.0, 1.0);
        self.set(len, center - share * span, span);
    }

    pub fn pan(&mut self, len: usize, by: f64) {
        let (start, end) = self.range(len);
        self.set(len, start + by, end - start);
    }

    /// Moves just so far that a position is visible.
    pub fn reveal(&mut self, len: usize, position: usize) {
        let (start, end) = self.range(len);
        let at = position as f64;
        if at < start || at > end {
            self.set(len, at - (end - start) / 2.0, end - start);
        }
    }

    fn set(&mut self, len: usize, start: f64, span: f64) {
        let (low, high) = Self::everything(len);
        if span >= (high - low) * 0.999_999 {
            self.zoomed = None;
            return;
        }
        let start = start.clamp(low, high - span);
        self.zoomed = Some((start, start + span));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zoom_keeps_the_pointer_and_stays_inside() {
        let mut view = VisibleRange::default();
        view.zoom(100, 2.0, 25.0);
        let (start, end) = view.range(100);
        assert!((end - start - 50.0).abs() < 1e-9);
        assert!(((25.0 - start) / (end - start) - 0.255).abs() < 1e-9, "the pointer's share stays");
        view.pan(100, 1e9);
        assert!((view.range(100).1 - 99.5).abs() < 1e-9);
        view.zoom(100, 1e-9, 50.0);
        assert!(!view.is_zoomed());
        view.zoom(100, 1e9, 50.0);
        let (start, end) = view.range(100);
        assert!((end - start - CLOSEST).abs() < 1e-9);
        assert!((view.magnification(100) - 2500.0).abs() < 1e-6);
        view.magnify(100, 200.0);
        assert!((view.magnification(100) - 200.0).abs() < 1e-6);
        view.show(100, 10.0, 20.0);
        assert_eq!(view.range(100), (10.0, 20.0));
        view.reveal(100, 3);
        assert!(view.range(100).0 <= 3.0);
    }

    #[test]
    fn one_position_and_none_have_a_range() {
        let mut view = VisibleRange::default();
        assert_eq!(view.range(0), (-0.5, 0.5));
        view.zoom(1, 8.0, 0.0);
        view.pan(1, 5.0);
        assert_eq!(view.range(1), (-0.5, 0.5));
        assert_eq!(
            VisibleRange { zoomed: Some((2.0, 9.0)) }.range(4),
            (-0.5, 3.5),
            "of another report"
        );
    }
}
