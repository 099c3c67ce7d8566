//! Bytes of each category that are alive in a scope at a step: the sizes of the lowered variables whose
//! class is always live, or live there. Over all categories they add up to what the curve has, where the
//! two views of a report agree.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::contribution::LiveBytes;
use super::moment::ScopeStep;
use crate::analysis::liveness::{Scope, live_at};
use crate::store::ids::CategoryId;
use crate::store::liveness::Classes;
use crate::store::{Report, TileId};

/// Bytes by category, which is one byte in the columns.
type LiveByCategory = Vec<LiveBytes>;

fn no_sums() -> LiveByCategory {
    vec![LiveBytes::default(); 256]
}

/// Bytes by the category's name in the file; those of a category without a name are left out. `None`
/// where lowered variables or the scope's tiles are not known.
pub fn category_bytes(report: &Report, moment: &ScopeStep) -> Option<BTreeMap<String, LiveBytes>> {
    let variables = report.variables.get()?;
    let categories = report.categories.get()?;
    let classes = &report.liveness.get()?.classes;
    let states = class_states(classes, moment.step);
    let tiles = moment.scope.tiles(report.target.get());
    if tiles.is_none() && moment.scope != Scope::Everything {
        return None;
    }
    let is_wanted = |tile: TileId| tiles.as_ref().is_none_or(|tiles| tiles.contains(&tile.0));
    let of_row = |sums: &mut LiveByCategory, row: usize| {
        let class = classes.ids.position(*variables.classes.get(row)?)?;
        let is_always_live = (*states.get(class)?)?;
        let is_allocated = variables.flags.get(row)?.is_allocated();
        let sum = sums.get_mut(usize::from(*variables.categories.get(row)?))?;
        if is_allocated {
            sum.add(is_always_live, variables.size(row)?);
        }
        Some(())
    };
    let sums: LiveByCategory = variables
        .tiles
        .as_slice()
        .par_iter()
        .zip(&variables.rows)
        .filter(|(tile, _)| is_wanted(**tile))
        .fold(no_sums, |mut sums, (_, rows)| {
            for row in rows.clone() {
                // What has a class that is not alive, or none at all, adds nothing.
                let _: Option<()> = of_row(&mut sums, row as usize);
            }
            sums
        })
        .reduce(no_sums, |mut sums, others| {
            sums.iter_mut().zip(&others).for_each(|(sum, other)| sum.add_all(other));
            sums
        });
    let named = (0..).map(CategoryId).map(|id| categories.name(id)).zip(sums);
    let mut by_name: BTreeMap<String, LiveBytes> = BTreeMap::new();
    for (name, sum) in named {
        if let Some(name) = name.filter(|_| sum != LiveBytes::default()) {
            by_name.entry(name.to_owned()).or_default().add_all(&sum);
        }
    }
    Some(by_name)
}

/// For each class whether it is always live, if it is alive at the step at all.
pub fn class_states(classes: &Classes, step: usize) -> Vec<Option<bool>> {
    let live = live_at(classes, step);
    let state = |(is_always_live, is_live): (&bool, bool)| match (is_always_live, is_live) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    };
    classes.always_live.iter().zip(live).map(state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{ArenaId, DeviceId};
    use proptest::prelude::*;

    use super::super::fixture::{CATEGORIES, contents, report};

    proptest! {
        #[test]
        fn categories_are_those_of_a_search(content in contents(), step in 0..6_usize) {
            let report = report(&content);
            for (scope, tiles) in [
                (Scope::Everything, 0..=3),
                (Scope::Device(DeviceId(1)), 2..=3),
                (Scope::Arena(ArenaId(1)), 1..=1),
            ] {
                let found = category_bytes(&report, &ScopeStep { scope, step }).expect("known");
                let mut expected: BTreeMap<String, LiveBytes> = BTreeMap::new();
                let classes = &report.liveness.get().expect("liveness").classes;
                for (tile, _, class, category, bytes, _) in &content.cells {
                    let class = crate::store::ClassId(*class);
                    let Some(name) = CATEGORIES.get(usize::from(*category)) else { continue };
                    if tiles.contains(tile) && classes.is_live_at(class, step) {
                        let sum = expected.entry((*name).to_owned()).or_default();
                        sum.add(classes.is_always_live(class), u64::from(*bytes));
                    }
                }
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn without_its_tiles_a_scope_has_no_categories() {
        let moment = ScopeStep { scope: Scope::Device(DeviceId(0)), step: 0 };
        assert_eq!(category_bytes(&Report::default(), &moment), None);
    }
}
