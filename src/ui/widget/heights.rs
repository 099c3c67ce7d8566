//! The visible part of an axis of bytes: from the ground to the top of the picture, unless someone looks closer.

/// Closest part, of all.
const CLOSEST: f64 = 1e-4;
/// What lies around a limit that is looked at, of it, at least.
const AROUND: f64 = 0.04;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Heights {
    zoomed: Option<Zoomed>,
    /// Whether all was asked for, from the ground: then that is what is usual.
    is_whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Zoomed {
    low: f64,
    high: f64,
    /// A limit may lie above all that is drawn.
    is_around_limit: bool,
}

impl Heights {
    /// The visible part of a picture that shows `usual` as long as nobody looks closer. What was looked at is
    /// above all of another picture when that is much lower.
    pub fn range(self, usual: (f64, f64)) -> (f64, f64) {
        match self.zoomed {
            Some(zoomed) if zoomed.is_around_limit || zoomed.low < usual.1 => {
                (zoomed.low, zoomed.high)
            }
            _ => self.unzoomed(usual),
        }
    }

    fn unzoomed(self, (low, high): (f64, f64)) -> (f64, f64) {
        (if self.is_whole { 0.0 } else { low }, high)
    }

    pub fn is_zoomed(self) -> bool {
        self.zoomed.is_some()
    }

    /// Whether a picture that usually begins so high shows less than all.
    pub fn hides_some(self, usual_low: f64) -> bool {
        self.is_zoomed() || self.unzoomed((usual_low, usual_low)).0 > 0.0
    }

    /// Shows all from the ground, also what usually begins above it.
    pub fn reset(&mut self) {
        *self = Self { zoomed: None, is_whole: true };
    }

    /// Zooms by `factor` (more than 1: closer) and keeps `center` where it is. What is visible stays between 0
    /// and the top.
    pub fn zoom(&mut self, usual: (f64, f64), factor: f64, center: f64) {
        if !factor.is_finite() || factor <= 0.0 {
            return;
        }
        let (low, high) = self.range(usual);
        let span = ((high - low) / factor).clamp(usual.1 * CLOSEST, usual.1);
        let share = ((center - low) / (high - low)).clamp(0.0, 1.0);
        self.set(usual, center - share * span, span);
    }

    pub fn pan(&mut self, usual: (f64, f64), by: f64) {
        if self.is_zoomed() {
            let (low, high) = self.range(usual);
            self.set(usual, low + by, high - low);
        }
    }

    /// Shows what lies around a limit, up to the largest figure where that is over it.
    pub fn around(&mut self, limit: u64, top: u64) {
        let (limit, top) = (limit as f64, top as f64);
        let half = ((top - limit).max(limit * AROUND) * 1.25).max(1.0);
        let (low, high) = ((limit - half).max(0.0), limit + half);
        self.zoomed = Some(Zoomed { low, high, is_around_limit: true });
    }

    fn set(&mut self, usual: (f64, f64), low: f64, span: f64) {
        let low = low.clamp(0.0, (usual.1 - span).max(0.0));
        let usual = self.unzoomed(usual);
        let is_usual = (low - usual.0).abs() < 1.0 && (low + span - usual.1).abs() < 1.0;
        let zoomed = Zoomed { low, high: low + span, is_around_limit: false };
        self.zoomed = (!is_usual).then_some(zoomed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zoom_keeps_the_pointer_and_stays_between_ground_and_top() {
        let (mut heights, usual) = (Heights::default(), (0.0, 1000.0));
        heights.zoom(usual, 2.0, 800.0);
        assert_eq!(heights.range(usual), (400.0, 900.0));
        heights.pan(usual, 1e9);
        assert_eq!(heights.range(usual), (500.0, 1000.0));
        heights.zoom(usual, 1e-9, 700.0);
        assert!(!heights.is_zoomed());
        heights.pan(usual, 3.0);
        assert_eq!(heights.range(usual), usual, "all of it is not moved");
        heights.zoom(usual, 1e9, 500.0);
        let (low, high) = heights.range(usual);
        assert!(high - low > 0.09);
        heights.around(900, 980);
        let (low, high) = heights.range(usual);
        assert!(low > 700.0 && high > 980.0);
        heights.reset();
        assert_eq!((heights.is_zoomed(), heights.range(usual)), (false, usual));
    }

    #[test]
    fn what_is_above_the_ground_at_first_can_be_seen_from_it() {
        let (mut heights, usual) = (Heights::default(), (600.0, 1000.0));
        heights.zoom(usual, 0.1, 700.0);
        assert_eq!(heights.range(usual), (0.0, 1000.0));
        let mut heights = Heights::default();
        assert!(heights.hides_some(usual.0) && !heights.hides_some(0.0));
        heights.reset();
        assert_eq!((heights.range(usual), heights.hides_some(usual.0)), ((0.0, 1000.0), false));
        heights.zoom(usual, 2.0, 1000.0);
        heights.zoom(usual, 0.1, 700.0);
        assert!(!heights.is_zoomed(), "that is all");
    }

    #[test]
    fn what_was_zoomed_in_a_higher_picture_is_not_shown_above_a_lower_one() {
        let (mut heights, high, low) = (Heights::default(), (0.0, 1e9), (0.0, 6e5));
        heights.zoom(high, 4.0, 9e8);
        assert!(heights.range(high).0 > low.1);
        assert_eq!(heights.range(low), low);
        heights.pan(low, 10.0);
        assert_eq!(heights.range(low), low);
        // A limit is looked at wherever it is.
        heights.around(900_000, 500_000);
        assert!(heights.range(low).0 > low.1);
    }

    #[test]
    fn around_a_limit_of_nothing_is_something_to_see() {
        let (mut heights, usual) = (Heights::default(), (0.0, 1.08));
        heights.around(0, 0);
        let (low, high) = heights.range(usual);
        assert!(high > low, "{low} to {high}");
        heights.zoom(usual, 2.0, 0.5);
        let (low, high) = heights.range(usual);
        assert!(low.is_finite() && high > low, "{low} to {high}");
    }
}
