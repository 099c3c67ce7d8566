//! Blocks alive at a step of a PyTorch run, by category and by the code that allocated them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::allocator::peak::{BlockSums, FrameBytes, OwnedBytes};
use super::allocator::pools::has_pools;
use super::allocator::replayed::{ReplayedSnapshot, RunContents};
use super::areas::devices_of;
use super::blocks::blocks_alive;
use crate::analysis::liveness::Scope;
use crate::run::{AliveBy, AliveVariable, AliveVariables, GroupBytes, StepBytes};
use crate::store::memory_timeline::{CATEGORY_NAMES, MemoryTimeline};

/// What rows go by in a scope.
pub(super) fn groupings(contents: &RunContents, scope: Scope) -> Vec<AliveBy> {
    match contents {
        RunContents::Snapshot(replayed) if devices_of(replayed, scope).is_some() => {
            let mut all = vec![AliveBy::Category, AliveBy::Module, AliveBy::Line];
            all.extend(has_pools(&replayed.snapshot).then_some(AliveBy::Pool));
            all.push(AliveBy::Variable);
            all
        }
        RunContents::Snapshot(_) => vec![AliveBy::Variable],
        RunContents::Timeline(_) => vec![AliveBy::Category],
    }
}

/// The user frames that have blocks; `None` of a segment, and of a timeline, which has no blocks.
pub(super) fn alive(contents: &RunContents, at: &StepBytes) -> Option<AliveVariables> {
    let RunContents::Snapshot(replayed) = contents else { return None };
    let [not_always_live, always_live] = sums(replayed, at)?;
    let variables = |sums: &BlockSums| {
        let rows = sums.by_frame(&replayed.snapshot).into_iter();
        let variable = |row: FrameBytes| AliveVariable {
            name: row.name,
            bytes: row.all.bytes,
            category: Some(row.category.as_str().into()),
            ..AliveVariable::default()
        };
        rows.map(variable).collect()
    };
    Some(AliveVariables {
        not_always_live: variables(&not_always_live),
        always_live: variables(&always_live),
    })
}

/// The rows of a grouping, but for variables.
pub(super) fn rows(contents: &RunContents, at: &StepBytes, by: AliveBy) -> Vec<GroupBytes> {
    let replayed = match contents {
        RunContents::Snapshot(replayed) => replayed,
        RunContents::Timeline(timeline) if by == AliveBy::Category => {
            return categories(timeline, at.step);
        }
        RunContents::Timeline(_) => return Vec::new(),
    };
    if by == AliveBy::Pool {
        return pools(replayed, at);
    }
    let Some([mut sums, always_live]) = sums(replayed, at) else { return Vec::new() };
    sums.join(always_live);
    let snapshot = &replayed.snapshot;
    let frames = match by {
        AliveBy::Category => {
            let all = sums.by_category().into_iter();
            return all.map(|row| group(row.category.as_str(), row.all)).collect();
        }
        AliveBy::Module => sums.by_module(snapshot),
        AliveBy::Line => sums.by_frame(snapshot),
        AliveBy::Operation | AliveBy::Layer | AliveBy::Variable | AliveBy::Pool => {
            return Vec::new();
        }
    };
    frames.iter().map(|row| group(&row.name, row.all)).collect()
}

/// What is alive by pool and stream, the most first.
fn pools(replayed: &ReplayedSnapshot, at: &StepBytes) -> Vec<GroupBytes> {
    let alive = blocks_alive(replayed, at.scope, Some(at.step), &|| false);
    let mut sums: BTreeMap<&str, OwnedBytes> = BTreeMap::new();
    for (place, row) in alive.into_iter().flatten() {
        let (place, row) = (place as usize, row as usize);
        let lives = replayed.device(place).map(|(_, replay)| &replay.lives);
        let bytes = lives.and_then(|lives| lives.requested.get(row)).copied().unwrap_or(0);
        sums.entry(replayed.pools().title(place, row)).or_default().add(bytes);
    }
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by_key(|(_, all)| Reverse(all.bytes));
    rows.into_iter().map(|(name, all)| group(name, all)).collect()
}

fn group(name: &str, all: OwnedBytes) -> GroupBytes {
    let bytes = i64::try_from(all.bytes).unwrap_or(i64::MAX);
    GroupBytes { name: name.to_owned(), bytes, count: all.blocks }
}

/// The categories of a timeline at a point of it that have any bytes.
fn categories(timeline: &MemoryTimeline, step: usize) -> Vec<GroupBytes> {
    let bytes = timeline.bytes.get(step).into_iter().flatten();
    let named = CATEGORY_NAMES.iter().zip(bytes).filter(|(_, bytes)| **bytes != 0);
    let row = |(name, bytes): (&&str, &i64)| GroupBytes {
        name: name.to_lowercase(),
        bytes: *bytes,
        count: 0,
    };
    named.map(row).collect()
}

/// What is alive and not there throughout, and what is; `None` of a segment.
fn sums(replayed: &ReplayedSnapshot, at: &StepBytes) -> Option<[BlockSums; 2]> {
    let alive = blocks_alive(replayed, at.scope, Some(at.step), &|| false)?;
    let mut sums = [BlockSums::default(), BlockSums::default()];
    for (place, row) in alive {
        let (place, row) = (place as usize, row as usize);
        let Some((_, replay)) = replayed.device(place) else { continue };
        let is_always_live = replay.lives.is_always_live(row);
        if let Some(sums) = sums.get_mut(usize::from(is_always_live)) {
            sums.add(&replay.lives, replayed.categories(place), row);
        }
    }
    Some(sums)
}
