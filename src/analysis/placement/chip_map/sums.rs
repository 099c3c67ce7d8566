//! The bytes of a row of cells, by what they are.

use std::ops::Range;

use crate::store::ids::CategoryId;
use crate::store::liveness::Classes;
use crate::store::variable::LoweredVariables;
use crate::store::{Report, TileId};

use super::{AreaBytes, ChipCell, ColourBy};

/// The category of variables whose category the file does not name.
const UNNAMED: u8 = u8::MAX;

/// How long a class lives, as far as a picture is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellLife {
    Always,
    /// Not always; at a step: it lives there.
    NotAlways,
    /// Not at the step.
    NotNow,
}

/// What pictures are made of.
pub struct ChipSource<'a> {
    variables: &'a LoweredVariables,
    classes: Option<&'a Classes>,
    lives: Vec<CellLife>,
    /// The life of what is in no class.
    other_life: CellLife,
    /// The categories that are told apart, and [`UNNAMED`].
    categories: Vec<u8>,
    /// Where each category stands in `categories`.
    slots: [u8; 256],
    has_step: bool,
}

/// Cells along the addresses.
pub struct CellColumns {
    pub start: u64,
    pub bytes_per_cell: u64,
    pub count: usize,
}

#[derive(Clone, Copy)]
struct PlacedRange {
    offset: u64,
    end: u64,
    slot: u8,
    life: CellLife,
}

impl<'a> ChipSource<'a> {
    /// `None` without lowered variables, and at a step without liveness.
    pub fn new(report: &'a Report, step: Option<usize>) -> Option<Self> {
        let variables = report.variables.get()?;
        let classes = report.liveness.get().map(|liveness| &liveness.classes);
        if step.is_some() && classes.is_none() {
            return None;
        }
        let life = |id| match (classes, step) {
            (Some(classes), _) if classes.is_always_live(id) => CellLife::Always,
            (Some(classes), Some(step)) if !classes.is_live_at(id, step) => CellLife::NotNow,
            _ => CellLife::NotAlways,
        };
        let ids = classes.map_or(&[][..], |classes| classes.ids.as_slice());
        let named = report.categories.get().map_or(&[][..], |all| all.ids.as_slice());
        let named = named.iter().filter_map(|id| u8::try_from(id.0).ok());
        let mut categories: Vec<u8> = named.filter(|id| *id != UNNAMED).collect();
        categories.push(UNNAMED);
        let mut slots = [u8::try_from(categories.len() - 1).unwrap_or(UNNAMED); 256];
        for (slot, category) in (0..=u8::MAX).zip(&categories) {
            if let Some(of_category) = slots.get_mut(usize::from(*category)) {
                *of_category = slot;
            }
        }
        Some(Self {
            variables,
            classes,
            lives: ids.iter().map(|id| life(*id)).collect(),
            other_life: if step.is_some() { CellLife::NotNow } else { CellLife::NotAlways },
            categories,
            slots,
            has_step: step.is_some(),
        })
    }

    /// The rows that use an address of a tile.
    pub fn rows_at(&self, tile: TileId, address: u64) -> Vec<u32> {
        let is_there = |row: &usize| {
            let placed = self.placed(*row);
            placed.is_some_and(|placed| {
                (placed.offset..placed.end).contains(&address) && placed.life != CellLife::NotNow
            })
        };
        let rows = self.variables.rows_of(tile).filter(is_there);
        rows.filter_map(|row| u32::try_from(row).ok()).collect()
    }

    /// A variable that takes memory.
    fn placed(&self, row: usize) -> Option<PlacedRange> {
        let variables = self.variables;
        let bytes = variables.size(row)?;
        if bytes == 0 || !variables.flags.get(row)?.is_allocated() {
            return None;
        }
        let offset = variables.offset(row)?;
        let category = usize::from(*variables.categories.get(row)?);
        let class = self.classes.and_then(|all| all.ids.position(*variables.classes.get(row)?));
        Some(PlacedRange {
            offset,
            end: offset.saturating_add(bytes),
            slot: self.slots.get(category).copied().unwrap_or(0),
            life: class.and_then(|class| self.lives.get(class).copied()).unwrap_or(self.other_life),
        })
    }
}

impl CellColumns {
    fn end(&self) -> u64 {
        let bytes = self.bytes_per_cell.saturating_mul(self.count as u64);
        self.start.saturating_add(bytes)
    }

    /// Calls `add` with each cell that has bytes of a range, and how many.
    fn each(&self, bytes: Range<u64>, mut add: impl FnMut(usize, u64)) {
        let start = bytes.start.max(self.start) - self.start;
        let end = bytes.end.min(self.end()).saturating_sub(self.start);
        if start >= end {
            return;
        }
        let mut column = start / self.bytes_per_cell;
        let mut at = start;
        while at < end {
            let next = end.min((column + 1) * self.bytes_per_cell);
            add(column as usize, next - at);
            at = next;
            column += 1;
        }
    }
}

/// Bytes of the cells of one row. Each list has a number a column.
pub struct CellSums {
    area: u64,
    /// Below the tiles' last used byte + 1.
    within: Vec<u64>,
    /// Used at any step.
    used: Vec<u64>,
    /// Used at the step; without a step all that is used.
    alive: Vec<u64>,
    /// Used by variables that live as long as the program.
    always_live: Vec<u64>,
    /// Used by them or, of what is alive, by several variables.
    always_or_several: Vec<u64>,
    /// By column, then by slot of the category: bytes of what is alive, once a variable.
    by_category: Vec<u64>,
    slots: usize,
    /// The variables of the tile at hand.
    placed: Vec<PlacedRange>,
}

impl CellSums {
    pub fn new(source: &ChipSource<'_>, columns: &CellColumns) -> Self {
        let zeros = || vec![0; columns.count];
        let slots = source.categories.len();
        Self {
            area: 0,
            within: zeros(),
            used: zeros(),
            alive: zeros(),
            always_live: zeros(),
            always_or_several: zeros(),
            by_category: vec![0; columns.count.saturating_mul(slots)],
            slots,
            placed: Vec::new(),
        }
    }

    /// Sums up the tiles of a row, from nothing.
    pub fn fill(&mut self, source: &ChipSource<'_>, columns: &CellColumns, tiles: Range<u32>) {
        let count = u64::from(tiles.end.saturating_sub(tiles.start));
        self.area = count.saturating_mul(columns.bytes_per_cell);
        for list in [
            &mut self.within,
            &mut self.used,
            &mut self.alive,
            &mut self.always_live,
            &mut self.always_or_several,
            &mut self.by_category,
        ] {
            list.fill(0);
        }
        let all = &source.variables.tiles;
        let positions = all.lower_bound(TileId(tiles.start))..all.lower_bound(TileId(tiles.end));
        for rows in source.variables.rows.get(positions).unwrap_or(&[]) {
            self.add_tile(source, columns, rows.start as usize..rows.end as usize);
        }
    }

    fn add_tile(&mut self, source: &ChipSource<'_>, columns: &CellColumns, rows: Range<usize>) {
        self.placed.clear();
        let (mut end, window_end) = (0, columns.end());
        for placed in rows.filter_map(|row| source.placed(row)) {
            end = end.max(placed.end);
            if placed.offset < window_end && placed.end > columns.start {
                self.placed.push(placed);
            }
        }
        self.placed.sort_unstable_by_key(|placed| placed.offset);
        columns.each(0..end, |column, bytes| add(&mut self.within, column, bytes));
        let placed = &self.placed;
        let is_alive = |placed: &PlacedRange| placed.life != CellLife::NotNow;
        add_union(columns, &mut self.used, placed.iter().map(|placed| (placed.offset, placed.end)));
        if source.has_step {
            let alive = placed.iter().filter(|placed| is_alive(placed));
            add_union(columns, &mut self.alive, alive.map(|placed| (placed.offset, placed.end)));
        }
        let always = placed.iter().filter(|placed| placed.life == CellLife::Always);
        add_union(columns, &mut self.always_live, always.map(|placed| (placed.offset, placed.end)));
        // What a variable shares with those before it, which are known by where they end.
        let mut last_end = 0;
        let shared = placed.iter().filter(|placed| is_alive(placed)).map(|placed| {
            let shared_end = placed.end.min(last_end);
            last_end = last_end.max(placed.end);
            let end = if placed.life == CellLife::Always { placed.end } else { shared_end };
            (placed.offset, end)
        });
        add_union(columns, &mut self.always_or_several, shared);
        for placed in placed.iter().filter(|placed| is_alive(placed)) {
            columns.each(placed.offset..placed.end, |column, bytes| {
                add(&mut self.by_category, column * self.slots + usize::from(placed.slot), bytes);
            });
        }
    }

    /// What a cell shows.
    pub fn cell(&self, source: &ChipSource<'_>, column: usize, colour_by: ColourBy) -> ChipCell {
        let at = self.parts(source, column);
        if colour_by == ColourBy::Gaps {
            let within = self.area - at.beyond;
            return if at.beyond > within {
                ChipCell::Beyond
            } else {
                share(at.gap + at.free, within)
            };
        }
        let parts =
            [(at.free, ChipCell::Free), (at.gap, ChipCell::Gap), (at.beyond, ChipCell::Beyond)];
        let mut most = (at.alive, None);
        for (bytes, cell) in parts {
            if bytes > most.0 {
                most = (bytes, Some(cell));
            }
        }
        match (most.1, colour_by) {
            (Some(cell), _) => cell,
            (None, ColourBy::Liveness) => {
                let single = at.alive - at.always_live - at.several;
                if at.always_live >= at.several.max(single) {
                    ChipCell::AlwaysLive
                } else if at.several >= single {
                    ChipCell::Several
                } else {
                    ChipCell::NotAlwaysLive
                }
            }
            (None, _) => ChipCell::Category(self.category(source, column)),
        }
    }

    /// All that is known of a cell.
    pub fn bytes(&self, source: &ChipSource<'_>, column: usize) -> AreaBytes {
        let by_category = self.categories_of(column).iter().zip(&source.categories);
        AreaBytes {
            by_category: by_category
                .filter(|(bytes, _)| **bytes > 0)
                .map(|(bytes, category)| {
                    let id = Some(CategoryId(u32::from(*category)));
                    (id.filter(|_| *category != UNNAMED), *bytes)
                })
                .collect(),
            ..self.parts(source, column)
        }
    }

    /// Where the bytes of a cell belong, each once.
    fn parts(&self, source: &ChipSource<'_>, column: usize) -> AreaBytes {
        let of = |list: &[u64]| list.get(column).copied().unwrap_or(0);
        let used = of(&self.used);
        let alive = if source.has_step { of(&self.alive) } else { used };
        let (always_live, within) = (of(&self.always_live), of(&self.within));
        AreaBytes {
            alive,
            free: used.saturating_sub(alive),
            gap: within.saturating_sub(used),
            beyond: self.area.saturating_sub(within),
            always_live,
            several: of(&self.always_or_several).saturating_sub(always_live),
            by_category: Vec::new(),
        }
    }

    fn categories_of(&self, column: usize) -> &[u64] {
        let first = column.saturating_mul(self.slots);
        self.by_category.get(first..first.saturating_add(self.slots)).unwrap_or(&[])
    }

    /// The category with the most bytes, the first of equals.
    fn category(&self, source: &ChipSource<'_>, column: usize) -> u8 {
        let mut most = (0, UNNAMED);
        for (bytes, category) in self.categories_of(column).iter().zip(&source.categories) {
            if *bytes > most.0 {
                most = (*bytes, *category);
            }
        }
        most.1
    }
}

/// A share as a number to 255, which only nothing and everything make 0 and 255.
fn share(part: u64, whole: u64) -> ChipCell {
    let share = match (part, whole) {
        (0, _) => 0,
        (part, whole) if part >= whole => u8::MAX,
        (part, whole) => (part as f64 / whole as f64 * 255.0).round().clamp(1.0, 254.0) as u8,
    };
    ChipCell::GapShare(share)
}

fn add(list: &mut [u64], position: usize, bytes: u64) {
    if let Some(sum) = list.get_mut(position) {
        *sum += bytes;
    }
}

/// Adds the bytes that any of the ranges has, each once; ranges come by where they begin.
fn add_union(columns: &CellColumns, list: &mut [u64], ranges: impl Iterator<Item = (u64, u64)>) {
    let mut run = 0..0;
    for (start, end) in ranges {
        if start <= run.end {
            run.end = run.end.max(end);
        } else {
            columns.each(run, |column, bytes| add(list, column, bytes));
            run = start..end.max(start);
        }
    }
    columns.each(run, |column, bytes| add(list, column, bytes));
}
