//! The bytes of a memory timeline as areas on one another, by its categories.

use super::categories::BlockCategory;
use super::curves::category_group;
use crate::run::areas::{AreaGroup, StackedAreas};
use crate::store::memory_timeline::{CATEGORY_NAMES, MemoryTimeline};

/// The group of a category of a timeline.
fn group_of(name: &str) -> AreaGroup {
    let ours = match name {
        "PARAMETER" => BlockCategory::Parameter,
        "OPTIMIZER_STATE" => BlockCategory::OptimizerState,
        "TEMPORARY" => BlockCategory::Temporary,
        "ACTIVATION" => BlockCategory::Activation,
        "GRADIENT" => BlockCategory::Gradient,
        "unknown" => BlockCategory::Unknown,
        other => {
            let words = other.to_lowercase().replace('_', " ");
            let title = crate::text::capitalised(&words);
            return AreaGroup::category(title.clone(), &title, "");
        }
    };
    category_group(ours)
}

/// The areas of a timeline, a row a step. A category below 0 counts as nothing.
pub fn timeline_areas(timeline: &MemoryTimeline) -> StackedAreas {
    let mut areas = StackedAreas::default();
    for (place, name) in CATEGORY_NAMES.iter().enumerate() {
        let at = |row: &[i64; CATEGORY_NAMES.len()]| {
            row.get(place).and_then(|bytes| u64::try_from(*bytes).ok()).unwrap_or(0)
        };
        let mut bytes: Vec<u64> = timeline.bytes.iter().map(at).collect();
        if bytes.iter().all(|bytes| *bytes == 0) {
            continue;
        }
        if let Some(below) = areas.layers.last() {
            bytes
                .iter_mut()
                .zip(below)
                .for_each(|(bytes, below)| *bytes = bytes.saturating_add(*below));
        }
        areas.groups.push(group_of(name));
        areas.layers.push(bytes);
    }
    areas
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
        assert_eq!(areas.layers.last(), Some(&vec![9, 15, 8]));
        let at_peak: Vec<u64> = areas.at(1).map(|(_, bytes)| bytes).collect();
        assert_eq!(at_peak, [8, 5, 2]);
    }
}
