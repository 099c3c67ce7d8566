//! The bytes of a memory timeline as areas on one another, by its categories.

use super::categories::BlockCategory;
use super::curves::{CurveGroup, StackedCurve};
use crate::store::memory_timeline::{CATEGORY_NAMES, MemoryTimeline};

/// What a category of a timeline is called, and which of ours it is.
fn category_of(name: &str) -> (String, Option<BlockCategory>) {
    let ours = match name {
        "PARAMETER" => BlockCategory::Parameter,
        "OPTIMIZER_STATE" => BlockCategory::OptimizerState,
        "TEMPORARY" => BlockCategory::Temporary,
        "ACTIVATION" => BlockCategory::Activation,
        "GRADIENT" => BlockCategory::Gradient,
        "unknown" => BlockCategory::Unknown,
        other => {
            let words = other.to_lowercase().replace('_', " ");
            return (crate::text::capitalised(&words), None);
        }
    };
    (ours.title().to_owned(), Some(ours))
}

/// The areas of a timeline, a row a step. A category below 0 counts as nothing.
pub fn timeline_areas(timeline: &MemoryTimeline) -> StackedCurve {
    let (mut groups, mut layers) = (Vec::new(), Vec::new());
    for (place, name) in CATEGORY_NAMES.iter().enumerate() {
        let at = |row: &[i64; CATEGORY_NAMES.len()]| {
            row.get(place).and_then(|bytes| u64::try_from(*bytes).ok()).unwrap_or(0)
        };
        let bytes: Vec<u64> = timeline.bytes.iter().map(at).collect();
        if bytes.iter().all(|bytes| *bytes == 0) {
            continue;
        }
        let (title, category) = category_of(name);
        groups.push(CurveGroup { title, category, at_peak: 0, is_shown: true });
        layers.push(bytes);
    }
    StackedCurve::of_layers(groups, layers, timeline.bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_add_up_to_the_totals() {
        let timeline = MemoryTimeline {
            times: vec![0, 1, 2],
            bytes: vec![
                [8, 0, 0, 1, 0, 0, 0, 0],
                [8, 0, 0, 5, 0, 0, 2, 0],
                [8, 0, 0, 0, 0, 0, 0, 0],
            ],
            ..MemoryTimeline::default()
        };
        let areas = timeline_areas(&timeline);
        let titles: Vec<&str> = areas.groups.iter().map(|group| &*group.title).collect();
        assert_eq!(titles, ["Parameter", "Temporary", "Autograd detail"]);
        assert_eq!((areas.total(), areas.peak), (&[9, 15, 8][..], Some(1)));
        let at_peak: Vec<u64> = areas.groups.iter().map(|group| group.at_peak).collect();
        assert_eq!(at_peak, [8, 5, 2]);
    }
}
