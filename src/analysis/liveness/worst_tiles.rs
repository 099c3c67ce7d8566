//! The search for the worst tile of each step: the one with the most bytes alive there, always live
//! and not, the first of equals ([`crate::analysis::liveness::scope_curve`]).
//!
//! Thousands of tiles times hundreds of thousands of steps: every thread takes a run of tiles, and
//! passes over blocks of steps in which nothing changes on a tile that cannot be the worst there.

use rayon::prelude::*;

use crate::store::TileId;
use crate::store::liveness::{Classes, TileVariableBytes};

/// Threads at most: each holds 20 bytes a step.
const MOST_THREADS: usize = 8;

/// Steps in a block.
const BLOCK: usize = 64;

/// At each step the most bytes alive of any tile so far, and which tile that is.
pub struct Worst {
    /// Always-live and other bytes together.
    pub bytes: Vec<u64>,
    /// Row in the list of tiles.
    pub tiles: Vec<u32>,
    /// The least of `bytes` in each block.
    least: Vec<u64>,
}

/// The worst of `tiles`, each with its always-live bytes, at each step; `None` when there is no tile,
/// or it was canceled.
pub fn worst_tiles(
    table: &TileVariableBytes,
    classes: &Classes,
    tiles: &[(TileId, u64)],
    steps: usize,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Worst> {
    if tiles.is_empty() {
        return None;
    }
    let threads = rayon::current_num_threads().clamp(1, MOST_THREADS);
    let width = tiles.len().div_ceil(threads);
    let found: Option<Vec<Worst>> = tiles
        .par_chunks(width)
        .enumerate()
        .map(|(chunk, part)| {
            let first = u32::try_from(chunk * width).ok()?;
            let mut worst = Worst::new(first, steps);
            let mut changes = TileChanges::new(steps);
            for (row, (tile, always_live)) in (first..).zip(part) {
                if is_cancelled() {
                    return None;
                }
                changes.add_tile(table, classes, *tile);
                worst.raise(&mut changes, row, *always_live);
            }
            Some(worst)
        })
        .collect();
    let mut found = found?.into_iter();
    let mut worst = found.next()?;
    for later in found {
        worst.merge(&later);
    }
    Some(worst)
}

impl Worst {
    /// The tile in row `first` with nothing alive.
    fn new(first: u32, steps: usize) -> Self {
        let least = vec![0; steps.div_ceil(BLOCK)];
        Self { bytes: vec![0; steps], tiles: vec![first; steps], least }
    }

    /// Compares with a tile later in the list, whose changes are taken out of `changes`.
    fn raise(&mut self, changes: &mut TileChanges, tile: u32, always_live: u64) {
        let mut level = 0_i64;
        let worst = self.bytes.chunks_mut(BLOCK).zip(self.tiles.chunks_mut(BLOCK));
        let changes = changes.at.chunks_mut(BLOCK).zip(&mut changes.is_changed);
        for (((worst, tiles), least), (changes, is_changed)) in
            worst.zip(&mut self.least).zip(changes)
        {
            let alive = |level: i64| always_live.saturating_add(u64::try_from(level).unwrap_or(0));
            if !std::mem::take(is_changed) && alive(level) <= *least {
                continue;
            }
            let mut least_now = u64::MAX;
            for ((worst, worst_tile), change) in worst.iter_mut().zip(tiles).zip(changes) {
                level = level.saturating_add(std::mem::take(change));
                let bytes = alive(level);
                if bytes > *worst {
                    *worst = bytes;
                    *worst_tile = tile;
                }
                least_now = least_now.min(*worst);
            }
            *least = least_now;
        }
    }

    /// Takes over what is worse in `other`, whose tiles all come later.
    fn merge(&mut self, other: &Self) {
        let mine = self.bytes.iter_mut().zip(&mut self.tiles);
        for ((worst, tile), (bytes, other)) in mine.zip(other.bytes.iter().zip(&other.tiles)) {
            if *bytes > *worst {
                *worst = *bytes;
                *tile = *other;
            }
        }
    }
}

/// The changes of a tile's not-always-live bytes from step to step.
struct TileChanges {
    /// Bytes more or less than at the step before.
    at: Vec<i64>,
    /// Whether there is a change in a block.
    is_changed: Vec<bool>,
}

impl TileChanges {
    fn new(steps: usize) -> Self {
        Self { at: vec![0; steps], is_changed: vec![false; steps.div_ceil(BLOCK)] }
    }

    fn add_tile(&mut self, table: &TileVariableBytes, classes: &Classes, tile: TileId) {
        for row in table.iter(table.rows_of(tile)).filter(|row| row.bytes > 0) {
            let Some(class) = classes.ids.position(row.class) else { continue };
            if classes.always_live.get(class) != Some(&false) {
                continue;
            }
            let bytes = i64::try_from(row.bytes).unwrap_or(i64::MAX);
            for range in classes.ranges_of(class) {
                self.add(range.start, bytes);
                self.add(range.end, -bytes);
            }
        }
    }

    fn add(&mut self, step: u32, bytes: i64) {
        let step = step as usize;
        if let Some(change) = self.at.get_mut(step)
            && let Some(is_changed) = self.is_changed.get_mut(step / BLOCK)
        {
            *change = change.saturating_add(bytes);
            *is_changed = true;
        }
    }
}
