//! Reading a tile, and what is made of it beside the window: its map, and the map at a step.

use eframe::egui;
use std::sync::Arc;

use crate::analysis::liveness::scope_curve::scope_curve;
use crate::analysis::liveness::{Scope, peak, variable_name};
use crate::analysis::placement::gaps::Gap;
use crate::analysis::placement::read::read_arena;
use crate::analysis::placement::resident_tile::resident_tile;
use crate::analysis::placement::step_use::StepUse;
use crate::analysis::placement::tile_map::{TileMap, rows_named};
use crate::store::placed::{Placed, Placement};
use crate::store::{ArenaId, Report};
use crate::ui::job::{Cancel, Latest, Same};
use crate::ui::report::head::SignedAnswer;
use crate::ui::report::room::room_of;
use crate::ui::report::{is_limit_near, reason_of};
use crate::ui::runs::{Needed, Run};
use crate::ui::units::Units;

/// What is above the limit or the last byte, as a part of the addresses below.
const HEADROOM: usize = 28;
/// What a tile is made of, besides its files.
const PARTS: [Needed; 3] = [Needed::Liveness, Needed::Variables, Needed::TileVariables];

/// A tile, which parts of the report were there when it was read, and the limit of the device.
type TileKey = (ArenaId, [bool; 4], Option<u64>);

pub struct TileData {
    pub report: Arc<Report>,
    /// The tile, or another arena.
    pub arena: ArenaId,
    pub placed: Placed,
    /// Its map over all steps, and the row of what ends highest there.
    pub map: TileMap,
    pub highest: Option<u32>,
    /// Whether its limit is that of its device: all its steps together are above that.
    pub is_device_limited: bool,
    /// Whether names, alignments and constraints are those of the file.
    pub is_complete: bool,
    /// Why they are not, where something went wrong.
    pub problem: Option<String>,
    /// The step at which most is alive, the first of equals.
    pub peak: Option<usize>,
    /// What is alive there, bytes.
    peak_bytes: u64,
}

pub struct AtStep {
    /// The map of what is alive, and the row of what ends highest there.
    pub map: TileMap,
    pub highest: Option<u32>,
    pub step: usize,
    /// What memory is taken up by there.
    pub used: StepUse,
}

#[derive(Default)]
pub struct TileMarks {
    /// What was looked for.
    pub of: WantedVariables,
    /// The blocks of those that the search found, by address.
    pub found_blocks: Vec<u32>,
    /// Those of the selected variable before lowering, by row.
    pub selected: Vec<bool>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WantedVariables {
    pub search: String,
    pub selected: Option<String>,
}

#[derive(Default)]
pub struct TileReading {
    data: Latest<TileKey, Option<Arc<TileData>>>,
    at_step: Latest<(Same<TileData>, usize), Arc<AtStep>>,
    marks: Latest<(Same<TileData>, WantedVariables), Arc<TileMarks>>,
}

impl TileData {
    /// What it has below its limit, or is over; where the limit is the device's, that this is the end of the arena.
    /// Of an arena that is filled from both ends, what is free where most is alive.
    pub fn room(&self, limit: u64, units: Units) -> SignedAnswer {
        if self.map.is_filled_from_both_ends {
            let (sign, text) = room_of(self.peak_bytes, limit, units);
            return (sign, format!("{text} at its fullest"));
        }
        let (sign, text) = room_of(self.map.end, limit, units);
        (sign, if self.is_device_limited { format!("ends {text}") } else { text })
    }

    /// What it takes up: the end of its memory, or of an arena that is filled from both ends what is alive at its fullest.
    pub fn taken_bytes(&self) -> u64 {
        if self.map.is_filled_from_both_ends { self.peak_bytes } else { self.map.end }
    }

    /// Bytes of the address axis: up to the limit where that is near, and some headroom.
    pub fn len(&self) -> usize {
        let end = self.map.end;
        let limit = self.map.limit.filter(|limit| end == 0 || is_limit_near(end, *limit));
        let len = usize::try_from(end.max(limit.unwrap_or(0)).max(1)).unwrap_or(usize::MAX);
        len.saturating_add(len / HEADROOM)
    }

    pub fn name(&self, row: u32) -> &str {
        self.placed.names.at(row as usize).unwrap_or("")
    }

    pub fn unlowered_name(&self, row: u32) -> Option<String> {
        let id = self.placed.placements.get(row as usize)?.unlowered?;
        Some(variable_name(self.report.liveness.get()?, id).into_owned())
    }

    pub fn bytes_of(&self, row: u32) -> Option<std::ops::Range<u64>> {
        let variable = self.placed.placements.get(row as usize)?;
        Some(variable.offset..variable.end())
    }

    pub fn gap_bytes(&self) -> u64 {
        self.map.gaps.iter().map(Gap::size).sum()
    }

    fn new(run: &Run, (arena, _, of_device): TileKey, cancel: &Cancel) -> Option<Self> {
        let report = &*run.report;
        let (placed, problem) = match read_arena(report, arena, cancel.progress()) {
            Ok(placed) => (placed, None),
            Err(problem) => (None, Some(problem.to_string())),
        };
        let is_complete = placed.is_some();
        let placed = placed.or_else(|| resident_tile(report, arena.tile()))?;
        let map = TileMap::new(&placed, report, arena, None);
        let of_device = of_device.filter(|bytes| map.limit.is_none() && map.end > *bytes);
        let map = TileMap { limit: map.limit.or(of_device), ..map };
        let curve = scope_curve(report, Scope::Arena(arena), &|| cancel.is_cancelled());
        let always_live =
            curve.as_ref().and_then(|curve| curve.always_live.at(0)).unwrap_or_default();
        let peak = curve.and_then(|curve| {
            let step = peak(&curve.not_always_live)?;
            let bytes = *curve.not_always_live.get(step)?;
            (bytes > 0).then_some((step, bytes.saturating_add(always_live)))
        });
        Some(Self {
            report: Arc::clone(&run.report),
            arena,
            placed,
            highest: highest(&map),
            map,
            is_device_limited: of_device.is_some(),
            is_complete,
            problem,
            peak: peak.map(|(step, _)| step),
            peak_bytes: peak.map_or(always_live, |(_, bytes)| bytes),
        })
    }
}

impl TileReading {
    /// Asks for a tile; returns the last one that was read, which may be another one meanwhile.
    pub fn tile(
        &mut self,
        ctx: &egui::Context,
        run: &Run,
        arena: ArenaId,
    ) -> Option<Arc<TileData>> {
        let [liveness, variables, by_tile] = PARTS.map(|part| part.is_settled(&run.report));
        let parts = [liveness, variables, by_tile, run.report.categories.is_settled()];
        let around = Scope::around(&run.report, arena);
        let key = (arena, parts, run.derived.limit_bytes(around));
        let for_job = run.clone();
        self.data.ask("read a tile", ctx, &key, move |cancel| {
            TileData::new(&for_job, key, cancel).map(Arc::new)
        });
        self.data.last().and_then(|(_, data)| data.clone())
    }

    /// Why there is no tile: a failure, or nothing to read; `None` while it is being read.
    pub fn why_not(&self, report: &Report) -> Option<String> {
        let absent = || reason_of(report.variables.absence());
        let is_nothing_there = matches!(self.data.last(), Some((_, None)));
        self.data.failure().map(str::to_owned).or_else(|| is_nothing_there.then(absent))
    }

    /// Asks what is alive at a step; returns what is known of this tile at any step meanwhile.
    pub fn at_step(
        &mut self,
        ctx: &egui::Context,
        data: &Arc<TileData>,
        step: usize,
    ) -> Option<Arc<AtStep>> {
        let from = Arc::clone(data);
        self.at_step.ask("map at a step", ctx, &(Same(Arc::clone(data)), step), move |_| {
            let map = TileMap::new(&from.placed, &from.report, from.arena, Some(step));
            let map = TileMap { limit: from.map.limit, ..map };
            let classes = from.report.liveness.get().map(|liveness| &liveness.classes);
            let is_live = |variable: &Placement| {
                classes.is_some_and(|classes| classes.is_live_at(variable.class, step))
            };
            let (highest, used) = (highest(&map), StepUse::new(&from.placed, is_live));
            Arc::new(AtStep { map, highest, step, used })
        });
        let last = self.at_step.last().filter(|((Same(of), _), _)| Arc::ptr_eq(of, data));
        last.map(|(_, at_step)| Arc::clone(at_step))
    }

    /// Asks what a search finds and where the selected variable is; returns what is known meanwhile.
    pub fn marks(
        &mut self,
        ctx: &egui::Context,
        data: &Arc<TileData>,
        wanted: &WantedVariables,
    ) -> Arc<TileMarks> {
        if wanted.search.is_empty() && wanted.selected.is_none() {
            return Arc::default();
        }
        let key = (Same(Arc::clone(data)), wanted.clone());
        let (from, wanted) = (Arc::clone(data), wanted.clone());
        self.marks.ask("search a tile", ctx, &key, move |_| Arc::new(find_marks(&from, &wanted)));
        let last = self.marks.last().filter(|((Same(of), _), _)| Arc::ptr_eq(of, data));
        last.map(|(_, marks)| Arc::clone(marks)).unwrap_or_default()
    }
}

/// The row of what ends highest.
fn highest(map: &TileMap) -> Option<u32> {
    map.blocks.iter().max_by_key(|block| block.end).map(|block| block.row)
}

fn find_marks(data: &TileData, wanted: &WantedVariables) -> TileMarks {
    let WantedVariables { search, selected } = wanted;
    let mut marks = TileMarks { of: wanted.clone(), ..TileMarks::default() };
    if !search.is_empty() {
        let mut found = vec![false; data.placed.placements.len()];
        for row in rows_named(&data.placed, search) {
            if let Some(is_found) = found.get_mut(row as usize) {
                *is_found = true;
            }
        }
        // Liveness knows it by its name before lowering.
        let text = search.to_lowercase();
        for (row, is_found) in (0_u32..).zip(&mut found) {
            let name = data.unlowered_name(row);
            *is_found |= name.is_some_and(|name| name.to_lowercase().contains(&text));
        }
        let blocks = (0_u32..).zip(&data.map.blocks);
        let is_found = |row: u32| found.get(row as usize) == Some(&true);
        marks.found_blocks =
            blocks.filter(|(_, block)| is_found(block.row)).map(|(place, _)| place).collect();
    }
    if let (Some(selected), Some(liveness)) = (selected, data.report.liveness.get()) {
        let is_selected = |variable: &Placement| {
            variable.unlowered.is_some_and(|id| variable_name(liveness, id) == *selected)
        };
        marks.selected = data.placed.placements.iter().map(is_selected).collect();
    }
    marks
}
