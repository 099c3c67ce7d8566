//! The curve of a run, thinned to what a page shows: of many steps in a row the one at which most is alive.

use super::palette::GroupColors;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::program::steps;
use crate::progress::Progress;
use crate::run::areas::{AreaGroup, AreasOf, StackedAreas};
use crate::store::StepId;
use crate::text::{clean, shortened};

/// Longest name of a step.
const NAME: usize = 100;

/// The steps of a page, each with what is alive there by group.
#[derive(Debug)]
pub(super) struct CurveSamples {
    /// The groups from the ground up.
    pub groups: Vec<AreaGroup>,
    /// The steps, by the numbers that the system gives them.
    pub steps: Vec<u32>,
    /// What each of them does, a place among the names.
    pub name_of: Vec<u32>,
    /// What steps do.
    pub names: Vec<String>,
    /// For each group the bytes of it and of all below it, at each step.
    pub layers: Vec<Vec<u64>>,
    /// How many steps the run has.
    pub count: usize,
    /// What it is held against.
    pub limit: Option<u64>,
    /// The part of the machine whose memory it is.
    pub scope: Scope,
}

impl CurveSamples {
    /// The curve that is looked at first, at `most` steps at most; `None` of a run without one.
    pub fn of(derived: &Derived, most: usize, progress: &Progress) -> Option<Self> {
        let scope = derived.first_scope();
        let answers = derived.answers();
        let by = answers.groupings(derived, scope).first().copied();
        let areas = by.and_then(|by| {
            answers.areas(derived, AreasOf { scope, by }, &|| progress.is_cancelled())
        });
        let areas = areas.filter(|areas| areas.layers.last().is_some_and(|top| !top.is_empty()));
        let areas = match areas {
            Some(areas) => areas,
            None => whole(derived, scope, progress)?,
        };
        let top = areas.layers.last()?;
        let kept = highest_of_each(top, most);
        let layer = |layer: &Vec<u64>| -> Vec<u64> {
            kept.iter().map(|&step| layer.get(step).copied().unwrap_or(0)).collect()
        };
        let mut samples = Self {
            layers: areas.layers.iter().map(layer).collect(),
            groups: areas.groups,
            steps: Vec::with_capacity(kept.len()),
            name_of: Vec::with_capacity(kept.len()),
            names: Vec::new(),
            count: top.len(),
            limit: derived.limit_bytes(scope),
            scope,
        };
        samples.name_steps(derived, &kept);
        Some(samples)
    }

    fn name_steps(&mut self, derived: &Derived, kept: &[usize]) {
        let report = derived.report();
        let (operations, device) = (derived.operations(), self.scope.device(report));
        let ids = report.steps.get().map(|steps| &steps.ids);
        let mut places = std::collections::HashMap::new();
        for &step in kept {
            let id = ids.and_then(|ids| ids.get(step)).unwrap_or(StepId(step as u32));
            self.steps.push(id.0);
            let title = steps::title(report, operations.as_deref(), device, step);
            let title = shortened(&clean(&title), NAME).into_owned();
            let next = self.names.len() as u32;
            let place = *places.entry(title.clone()).or_insert_with(|| {
                self.names.push(title);
                next
            });
            self.name_of.push(place);
        }
    }

    /// The bytes alive at each step that is kept.
    pub fn total(&self) -> &[u64] {
        self.layers.last().map_or(&[], Vec::as_slice)
    }

    /// The highest of all.
    pub fn top(&self) -> u64 {
        self.total().iter().copied().max().unwrap_or(0)
    }

    /// What the script draws.
    pub fn json(&self, palette: &GroupColors) -> serde_json::Value {
        let groups = self.groups.iter().enumerate();
        let groups = groups.map(|(place, group)| {
            serde_json::json!({ "title": clean(&group.title), "color": palette.group(place, group) })
        });
        serde_json::json!({
            "groups": groups.collect::<Vec<_>>(),
            "steps": self.steps,
            "nameOf": self.name_of,
            "names": self.names,
            "layers": self.layers,
            "limit": self.limit,
        })
    }
}

/// The curve of a run that does not say what it consists of.
fn whole(derived: &Derived, scope: Scope, progress: &Progress) -> Option<StackedAreas> {
    let timeline = derived.timeline(scope, &|| progress.is_cancelled())?;
    let curve: Vec<u64> = (0..timeline.len()).map(|step| timeline.alive_at(step)).collect();
    let groups = vec![AreaGroup::placed("Alive")];
    (!curve.is_empty()).then(|| StackedAreas { groups, layers: vec![curve] })
}

/// The places of the highest values: of as many parts of about the same length as are wanted at most, one of each.
pub(super) fn highest_of_each(values: &[u64], most: usize) -> Vec<usize> {
    let length = values.len().div_ceil(most.max(1)).max(1);
    let parts = values.chunks(length).enumerate();
    let highest = parts.filter_map(|(part, values)| {
        // Of several that are as high the first.
        let (at, _) = values
            .iter()
            .enumerate()
            .max_by_key(|(at, value)| (**value, std::cmp::Reverse(*at)))?;
        Some(part.saturating_mul(length).saturating_add(at))
    });
    highest.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn of_steps_in_a_row_the_highest_is_kept() {
        assert_eq!(highest_of_each(&[1, 5, 5, 2, 9], 3), [1, 2, 4]);
        assert_eq!(highest_of_each(&[1, 5], 3), [0, 1]);
        assert!(highest_of_each(&[], 3).is_empty());
    }

    proptest! {
        #[test]
        fn the_peak_is_always_kept(values in prop::collection::vec(0..1000_u64, 1..200), most in 1..50_usize) {
            let kept = highest_of_each(&values, most);
            prop_assert!(kept.len() <= most && kept.is_sorted());
            let highest = kept.iter().map(|&at| values[at]).max();
            prop_assert_eq!(highest, values.iter().copied().max());
        }
    }
}
