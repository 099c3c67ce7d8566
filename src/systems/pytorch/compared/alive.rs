//! The blocks alive at the requested peak of a snapshot, for a comparison (formats/pytorch.md 8.3).
//!
//! Blocks of one side belong together where their user frames are the same, without the numbers of lines, and so is
//! their size. They are matched first by user frames and size; what is left by the innermost user frame, whatever the
//! callers and sizes; what is left then by size. Blocks without a frame of Python are a row by themselves.

use std::collections::{BTreeMap, HashMap};

use super::ComparedDevice;
use crate::run::compared::amounts::Amount;
use crate::run::compared::names::{Owner, PathId, SharedNames};
use crate::run::compared::rows::{Category, MatchLevel, MatchRules, Thing, ThingKind};
use crate::store::snapshot::{Frame, Snapshot, StackId};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::user_frame::{is_users, user_frame};

/// How blocks of two snapshots are matched.
pub(super) const MATCHING: MatchRules = MatchRules {
    levels: &[
        // All without a stack are one row.
        MatchLevel {
            by: None,
            key: |names, thing| Some([0; 3]).filter(|_| owner(names, thing).is_none()),
            is_of_owner_alone: false,
        },
        MatchLevel {
            by: Some("frames"),
            key: |names, thing| {
                owner(names, thing).map(|_| [thing.kind.path.number(), thing.size, 0])
            },
            is_of_owner_alone: false,
        },
        MatchLevel {
            by: Some("frame"),
            key: |names, thing| Some([owner(names, thing)?, 0, 0]),
            is_of_owner_alone: true,
        },
        MatchLevel {
            by: Some("size"),
            key: |names, thing| owner(names, thing).map(|_| [thing.size, 0, 0]),
            is_of_owner_alone: false,
        },
    ],
    is_one_to_one: false,
};

fn owner(names: &SharedNames, thing: &Thing) -> Option<u64> {
    names.owner_number(thing.kind.path).map(u64::from)
}

fn category_of(category: BlockCategory) -> Category {
    Category { place: category as u8, key: category.as_str(), title: category.title() }
}

/// The blocks that are alive at the peak of a device, those of one path, size and category together.
pub(super) fn alive(of: &ComparedDevice<'_>, names: &mut SharedNames) -> Vec<Thing> {
    let lives = &of.replay.lives;
    let mut paths: HashMap<StackId, PathId> = HashMap::new();
    let mut sums: BTreeMap<(PathId, u64, BlockCategory), Amount> = BTreeMap::new();
    for &row in of.live {
        let (size, stack) = (lives.requested[row], lives.stacks[row]);
        let path = *paths.entry(stack).or_insert_with(|| path(of.snapshot, stack, names));
        let category = of.categories.get(row).copied().unwrap_or(BlockCategory::Unknown);
        let amount = Amount { bytes: size, count: 1 };
        sums.entry((path, size, category)).or_default().add(amount);
    }
    let things = sums.into_iter().map(|((path, size, category), amount)| Thing {
        kind: ThingKind {
            path,
            detail: None,
            category: None,
            size: names.owner(path).map(|_| size),
        },
        category: category_of(category),
        made_by: None,
        size,
        amount,
    });
    things.collect()
}

/// The functions of the user frames of a stack; where there is none the innermost of Python.
fn path(snapshot: &Snapshot, stack: StackId, names: &mut SharedNames) -> PathId {
    let Some(first) = user_frame(snapshot, stack) else { return names.path([]) };
    let of_user = snapshot.frames_of(stack).filter(|frame| is_users(snapshot, frame));
    let mut frames: Vec<&Frame> = of_user.collect();
    if frames.is_empty() {
        frames.push(first);
    }
    names.path(frames.into_iter().map(|frame| function(snapshot, frame)))
}

pub(super) fn function(snapshot: &Snapshot, frame: &Frame) -> Owner {
    Owner::function(snapshot.texts.get(frame.file), snapshot.texts.get(frame.name))
}
