//! The moment of a report by which advice goes: where memory did not suffice, else where most of L1 is taken.

use crate::diagnose::tenstorrent::{BufferWithoutSpace, TenstorrentError, TenstorrentForm};
use crate::systems::tenstorrent::memory::errors::decisive_error;
use crate::systems::tenstorrent::memory::facts::{RankView, free_ranges, largest};
use crate::systems::tenstorrent::memory::{BufferLife, LifeReads, occupied};
use crate::systems::tenstorrent::recorded::{BufferSpace, ErrorRow};

/// A buffer that is alive then, with who reads it.
pub type BufferWithReads<'a> = (&'a BufferLife, LifeReads);

/// The moment.
#[derive(Debug)]
pub struct DecisiveMoment<'a> {
    /// The number of the device.
    pub device: i64,
    /// The operation at whose end it is, or in which memory did not suffice; `None` without operations.
    pub operation: Option<u32>,
    /// What was alive, in all spaces, by space and address.
    pub alive: Vec<BufferWithReads<'a>>,
    /// The operation that did not come to its end.
    pub error: Option<&'a ErrorRow>,
    /// What its text says of memory.
    pub said: Option<TenstorrentError>,
    /// Whether the buffers are those at the error itself, not only those before it.
    is_at_error: bool,
}

impl<'a> DecisiveMoment<'a> {
    /// Of a rank, which is the device of its place.
    pub fn of(view: &RankView<'a>, place: usize) -> Self {
        let decisive = decisive_error(view);
        let error = decisive.as_ref().map(|(error, _)| *error);
        let mut found = Self {
            device: i64::try_from(place).unwrap_or(i64::MAX),
            operation: None,
            alive: Vec::new(),
            error,
            said: decisive.and_then(|(_, said)| said),
            is_at_error: false,
        };
        let at_error = error.and_then(|error| {
            let operation = error.operation?;
            Some((operation, view.memory.failure(operation)?))
        });
        found.is_at_error = at_error.is_some();
        match at_error {
            Some((operation, moment)) => {
                found.operation = Some(operation);
                let lives = moment.alive.iter().map(|(_, life)| *life as usize);
                found.alive = lives.filter_map(|place| alive(view, place)).collect();
            }
            None => {
                let peak = view.memory.peak(BufferSpace::L1).filter(|_| error.is_none());
                found.operation = peak.or_else(|| view.last_operation());
                found.alive = found.operation.map(|at| at_end(view, at)).unwrap_or_default();
            }
        }
        found.alive.sort_by_key(|(life, _)| life.key);
        found
    }

    /// Whether it is the last one that the report has before an error that has none: then it is not known what the
    /// operation that failed reads.
    pub fn is_before_error(&self) -> bool {
        self.error.is_some() && !self.is_at_error
    }

    /// The buffers in a space that users see as tensors.
    pub fn tensors(&self, space: BufferSpace) -> impl Iterator<Item = BufferWithReads<'a>> {
        self.in_space(space).filter(|(_, reads)| reads.is_visible)
    }

    /// Those that no later operation of the report reads, and that were read before. After an error nobody knows who
    /// would have read them.
    pub fn dead(&self) -> impl Iterator<Item = BufferWithReads<'a>> {
        let operation = self.operation.unwrap_or(0);
        let before = if self.is_before_error() { operation.saturating_add(1) } else { operation };
        let is_dead =
            move |(_, reads): &BufferWithReads<'a>| reads.last.is_some_and(|at| at < before);
        self.tensors(BufferSpace::L1).filter(is_dead)
    }

    /// Those in L1 that the operation neither makes nor is the first or last to read: they wait for others. All of them where
    /// it is not known what it reads.
    pub fn waiting(&self) -> impl Iterator<Item = BufferWithReads<'a>> {
        let at = self.operation;
        let is_used = move |(life, reads): &BufferWithReads<'a>| {
            [life.allocated_by, reads.first, reads.last].contains(&at)
        };
        let is_before = self.is_before_error();
        self.tensors(BufferSpace::L1).filter(move |one| is_before || !is_used(one))
    }

    /// The buffer that had no place, where that is the error.
    pub fn without_space(&self) -> Option<&BufferWithoutSpace> {
        match &self.said.as_ref()?.form {
            TenstorrentForm::NoSpace(buffer)
            | TenstorrentForm::NoSpaceDependencies { buffer, .. } => Some(buffer),
            _ => None,
        }
    }

    /// The buffers in a space.
    pub fn in_space(&self, space: BufferSpace) -> impl Iterator<Item = BufferWithReads<'a>> {
        self.alive.iter().filter(move |(life, _)| life.key.space == space).copied()
    }

    /// Whether what failed would have had its place in L1 without some of these buffers: for sure if the others stayed where
    /// they are, and for sure not if they took more than is left. In between it depends on where they would lie, for a run
    /// without those buffers places others elsewhere. `None` then, and where the report does not say.
    pub fn fits_without(
        &self,
        view: &RankView<'_>,
        is_gone: impl Fn(&BufferLife) -> bool,
    ) -> Option<bool> {
        if !self.is_at_error {
            return None;
        }
        let device = view.device();
        let left = self.in_space(BufferSpace::L1).map(|(life, _)| life);
        let left: Vec<(u64, u64)> =
            left.filter(|life| !is_gone(life)).map(|life| (life.key.address, life.bytes)).collect();
        let taken = left.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        let (fits_as_it_is, may_fit) = match &self.said.as_ref()?.form {
            TenstorrentForm::NoSpace(buffer) if buffer.space == BufferSpace::L1.word() => {
                let wanted =
                    occupied(buffer.bytes_per_bank, view.rank.machine.arch.rounding_bytes());
                let free = device.l1_bank_bytes.saturating_sub(taken);
                (largest(&free_ranges(&device, left)) >= wanted, free >= wanted)
            }
            TenstorrentForm::Clash { scratch_end_address, .. } => {
                let lowest = device.l1_end().saturating_sub(taken);
                let is_below = |(address, _): &(u64, u64)| address < scratch_end_address;
                (!left.first().is_some_and(is_below), lowest >= *scratch_end_address)
            }
            TenstorrentForm::BeyondCore { .. } => (false, false),
            _ => return None,
        };
        match (fits_as_it_is, may_fit) {
            (true, _) => Some(true),
            (false, false) => Some(false),
            (false, true) => None,
        }
    }
}

fn alive<'a>(view: &RankView<'a>, place: usize) -> Option<BufferWithReads<'a>> {
    let memory = view.memory;
    Some((memory.lives.get(place)?, memory.reads_of(place)))
}

fn at_end<'a>(view: &RankView<'a>, operation: u32) -> Vec<BufferWithReads<'a>> {
    let lives = view.memory.lives.iter().enumerate();
    let there = lives.filter(|(_, life)| life.is_at_end_of(operation));
    there.filter_map(|(place, _)| alive(view, place)).collect()
}
