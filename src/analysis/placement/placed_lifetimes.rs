//! The placements alive in an arena at a step, each with its addresses and its life.

use std::ops::Range;
use std::sync::Arc;

use crate::analysis::liveness::Scope;
use crate::analysis::liveness::lifetimes::{LivesOfClasses, steps_of};
use crate::analysis::placement::counted::{counted_by_life, life_order};
use crate::analysis::placement::read::read_arena;
use crate::analysis::placement::resident_tile::resident_tile;
use crate::progress::Progress;
use crate::store::ids::CategoryId;
use crate::store::{ArenaId, Report};

/// The life of a placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedLifetime {
    /// Offset within the arena, bytes.
    pub offset: u64,
    /// Size, bytes.
    pub bytes: u64,
    /// The bytes of it that count to it, where others have the same addresses.
    pub counted_bytes: u64,
    /// The name of the variable that it was lowered from, else the title of its category.
    pub name: String,
    /// Its category; `None` where the file does not name it.
    pub category: Option<CategoryId>,
    /// Whether it lives as long as the program.
    pub is_always_live: bool,
    /// The step positions at which it lives, shared by all of its class: a class may live often.
    pub ranges: Arc<[Range<u32>]>,
}

/// What is alive in an arena at a step position, by offset; only what has a place and a size. `None`
/// where the part that it needs is absent, or when it was canceled.
pub fn placed_lifetimes(
    report: &Report,
    arena: ArenaId,
    step: usize,
    progress: &Progress,
) -> Option<Vec<PlacedLifetime>> {
    let classes = &report.liveness.get()?.classes;
    let steps = steps_of(report, Scope::Arena(arena))?;
    let placed = match resident_tile(report, arena.tile()) {
        Some(resident) => resident,
        // What cannot be read is said where the arena itself is shown.
        None => read_arena(report, arena, progress).ok()??,
    };
    let mut lives = LivesOfClasses::new(classes, steps);
    let is_named = |id: &CategoryId| report.category_name(*id).is_some();
    let mut life = |row: &u32| {
        let placement = placed.get(*row)?;
        let name = placed.names.at(*row as usize).unwrap_or("");
        if progress.is_cancelled() || !classes.is_live_at(placement.class, step) {
            return None;
        }
        Some(PlacedLifetime {
            offset: placement.offset,
            bytes: placement.bytes,
            counted_bytes: 0,
            name: name.to_owned(),
            category: placement.category.map(CategoryId).filter(is_named),
            is_always_live: classes.is_always_live(placement.class),
            ranges: lives.of(placement.class),
        })
    };
    let mut found: Vec<PlacedLifetime> = placed.by_address().iter().filter_map(&mut life).collect();
    let alive = found.iter().map(|one| {
        (
            life_order(one.ranges.iter().cloned(), one.offset),
            one.offset..one.offset.saturating_add(one.bytes),
        )
    });
    let counted = counted_by_life(&alive.collect::<Vec<_>>());
    for (one, bytes) in found.iter_mut().zip(counted) {
        one.counted_bytes = bytes;
    }
    (!progress.is_cancelled()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::{self, Lowered};
    use crate::store::UnloweredId;
    use crate::store::liveness::Liveness;
    use crate::store::variable::LoweredVariables;

    /// Of eight steps class 1 lives always, 2 at steps 1–4 and 6, 3 at 2–6.
    #[test]
    fn what_is_placed_is_sorted_by_address() {
        let report = Report::default();
        report.steps.fill(Some(fixture::steps(8)));
        let classes = fixture::classes(1, [vec![], vec![1..3, 3..5, 6..7], vec![2..7]]);
        let mut liveness = Liveness { classes, ..Liveness::default() };
        fixture::name_variables(&mut liveness, &["weights", "sum", "sum"]);
        report.liveness.fill(Some(liveness));
        report.categories.fill(Some(fixture::categories(4, &["controlCode"])));
        let none = LoweredVariables::NO_UNLOWERED;
        // Offset, bytes, class, unlowered variable, category, flags.
        let variables = [
            (64, 8, 2, UnloweredId(1), 4, 1),
            (0, 32, 1, none, 4, 1),
            (32, 4, 1, none, 255, 1),
            (64, 8, 3, UnloweredId(7), 4, 1),
            (80, 8, 1, none, 4, 0),
            (88, 0, 1, none, 4, 1),
        ];
        let variables = variables.map(|(offset, bytes, class, unlowered, category, flags)| {
            Lowered { offset, bytes, class, unlowered, category, flags }
        });
        report.variables.fill(Some(fixture::lowered([(5, variables)])));
        let at = |step| -> Vec<(u64, String)> {
            let placed = placed_lifetimes(&report, ArenaId(5), step, &Progress::default())
                .expect("lifetimes");
            placed.into_iter().map(|row| (row.offset, row.name)).collect()
        };
        let always = [(0, "Control code".to_owned()), (32, "Unknown category".to_owned())];
        assert_eq!(at(0), always);
        assert_eq!(at(1)[2..], [(64, "sum".to_owned())]);
        assert_eq!(at(5)[2..], [(64, "<variable 7>".to_owned())]);
        assert_eq!(placed_lifetimes(&report, ArenaId(6), 1, &Progress::default()), Some(vec![]));
        let placed =
            placed_lifetimes(&report, ArenaId(5), 1, &Progress::default()).expect("lifetimes");
        assert_eq!((placed[1].category, placed[2].category), (None, Some(CategoryId(4))));
        assert_eq!(*placed[2].ranges, [1..5, 6..7]);
    }
}
