//! The placements of one arena: each variable at its addresses with its facts, and the way to read them on demand.
//!
//! A placement lives at the steps of its class ([`crate::store::liveness::Classes`]). What only tiles of
//! an IPU have (alignment, flags, constraints) is empty elsewhere.

use std::fmt;
use std::sync::OnceLock;

use super::exchange::CodeOnTiles;
use super::execution::ExecutionTrace;
use super::ids::{ArenaId, ClassId, ComputeSetId, UnloweredId};
use super::liveness::TileVariableBytes;
use super::names::Names;
use super::tile_list::TileList;
use super::variable::VariableFlags;
use crate::progress::Progress;

/// A variable at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The number that the file gives it (`vars_info.var_id`).
    pub id: u32,
    /// Offset within the arena, bytes.
    pub offset: u64,
    /// Size, bytes.
    pub bytes: u64,
    /// Alignment, bytes; 0 where it is not known.
    pub alignment: u64,
    /// Category, a row of `var_categories`; `None` where the file does not name it.
    pub category: Option<u32>,
    /// Liveness class: the steps at which it lives.
    pub class: ClassId,
    /// The variable before lowering.
    pub unlowered: Option<UnloweredId>,
    /// The bitset.
    pub flags: VariableFlags,
}

impl Placement {
    /// The first byte after it.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// Whether it takes memory: it has a place and a size.
    pub fn takes_memory(&self) -> bool {
        self.flags.is_allocated() && self.bytes > 0
    }
}

/// All that is placed in one arena, in the order of the file, with names and constraints.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// The placements.
    pub placements: Vec<Placement>,
    /// Their names, in the same order.
    pub names: Names,
    /// For each, the rows in `placements` that it may not share a memory element with; empty where none has any.
    pub element_constraints: Vec<Vec<u32>>,
    /// For each, the rows in `placements` that it may not share a memory region with; empty where none has any.
    pub region_constraints: Vec<Vec<u32>>,
    /// The row of what had no room: others lie where it was to be, or it is more than there is.
    pub without_room: Option<u32>,
    /// Sorted when it is first asked for.
    by_address: OnceLock<Vec<u32>>,
}

impl Placed {
    /// Placements with their names and constraints, each list in the same order; lists of constraints may be empty.
    pub fn new(
        placements: Vec<Placement>,
        names: Names,
        element_constraints: Vec<Vec<u32>>,
        region_constraints: Vec<Vec<u32>>,
    ) -> Self {
        Self { placements, names, element_constraints, region_constraints, ..Self::default() }
    }

    /// The rows of what takes memory, by offset, then by end, then by row. Once they have been asked
    /// for, placements must not change any more.
    pub fn by_address(&self) -> &[u32] {
        self.by_address.get_or_init(|| {
            let rows = (0_u32..).zip(&self.placements);
            let mut rows: Vec<u32> = rows
                .filter(|(_, placement)| placement.takes_memory())
                .map(|(row, _)| row)
                .collect();
            rows.sort_by_key(|row| {
                self.get(*row).map(|placement| (placement.offset, placement.end()))
            });
            rows
        })
    }

    pub(crate) fn get(&self, row: u32) -> Option<&Placement> {
        self.placements.get(row as usize)
    }
}

/// Why an arena could not be read.
pub type ReadError = Box<dyn std::error::Error + Send + Sync>;

/// Reads arenas of one report from its files.
pub trait ReadArena: fmt::Debug + Send + Sync {
    /// What is placed in an arena; `None` when there is nothing to read it from. A reading that was canceled is
    /// not complete.
    ///
    /// # Errors
    /// When the files cannot be read any more.
    fn read(&self, arena: ArenaId, progress: &Progress) -> Result<Option<Placed>, ReadError>;

    /// Hands what is placed in each of some arenas to `each`, in any order, from several threads where
    /// that helps, and perhaps without names. Of an arena that comes twice, the last is right. Returns
    /// whether there is something to read from; a reading that was canceled is not complete.
    ///
    /// # Errors
    /// When the files cannot be read any more.
    fn read_some(
        &self,
        arenas: &[ArenaId],
        progress: &Progress,
        each: &(dyn Fn(ArenaId, Placed) + Sync),
    ) -> Result<bool, ReadError> {
        for arena in arenas.iter().take_while(|_| !progress.is_cancelled()) {
            match self.read(*arena, progress)? {
                Some(placed) => each(*arena, placed),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The bytes by variable and class of some arenas, of which the files have totals; `None` where they
    /// do not.
    ///
    /// # Errors
    /// When the files cannot be read any more.
    fn read_variable_bytes(
        &self,
        arenas: &[ArenaId],
        progress: &Progress,
    ) -> Result<Option<TileVariableBytes>, ReadError> {
        let (_, _) = (arenas, progress);
        Ok(None)
    }

    /// The lowered variables (`vars_info.var_id`) that the files name for a compute set, ascending; `None` where
    /// they do not.
    ///
    /// # Errors
    /// When the files cannot be read any more.
    fn read_compute_set_variables(
        &self,
        set: ComputeSetId,
        progress: &Progress,
    ) -> Result<Option<Vec<u32>>, ReadError> {
        let (_, _) = (set, progress);
        Ok(None)
    }

    /// The steps that ran; `None` where none were recorded, or when the reading was canceled.
    ///
    /// # Errors
    /// When the files cannot be read any more.
    fn read_trace(&self, progress: &Progress) -> Result<Option<ExecutionTrace>, ReadError> {
        let _ = progress;
        Ok(None)
    }

    /// Lists of cycles by tile of an IPU, by the numbers that spans of the trace have; `None` for each that is not
    /// there. A reading that was canceled is not complete.
    ///
    /// # Errors
    /// When the files cannot be read any more.
    fn read_tile_cycles(
        &self,
        lists: &[u32],
        progress: &Progress,
    ) -> Result<Vec<Option<TileList>>, ReadError> {
        let _ = progress;
        Ok(vec![None; lists.len()])
    }

    /// The code of exchanges on some arenas; `None` where the files do not say.
    ///
    /// # Errors
    /// When the files cannot be read any more.
    fn read_exchange_code(
        &self,
        arenas: &[ArenaId],
        progress: &Progress,
    ) -> Result<Option<CodeOnTiles>, ReadError> {
        let (_, _) = (arenas, progress);
        Ok(None)
    }
}
