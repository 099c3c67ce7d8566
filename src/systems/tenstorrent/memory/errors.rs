//! Errors of a report: what their sentences say, and what was alive when they came.

use serde::Serialize;

use super::FullestMoment;
use super::facts::{RankView, free_ranges, largest};
use super::spaces::BufferFacts;
use crate::diagnose::tenstorrent::{
    BufferWithoutSpace, TenstorrentError, TenstorrentForm, TenstorrentVerdict, errors_in,
};
use crate::systems::tenstorrent::recorded::{BufferSpace, ErrorRow};

/// An error.
#[derive(Debug, Serialize)]
pub struct ErrorFacts<'a> {
    operation: Option<u64>,
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(flatten)]
    said: SaidError,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_report: Option<AtError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_the_way: Option<Vec<BufferFacts<'a>>>,
}

/// What the text of an error says.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum SaidError {
    /// Memory did not suffice.
    OfMemory(TenstorrentError),
    /// Something else.
    Other { form: Option<&'static str>, verdict: TenstorrentVerdict, missing_bytes: Option<u64> },
}

/// What the report has at the fullest moment of the operation, to hold against the text.
#[derive(Debug, Serialize)]
struct AtError {
    allocated_bytes_per_bank: u64,
    lowest_l1_address: Option<u64>,
    largest_free_bytes_per_bank: u64,
}

/// The sentence about memory in the text of an error, where it has one.
pub fn said(view: &RankView<'_>, error: &ErrorRow) -> Option<TenstorrentError> {
    let found = errors_in(error.message.as_bytes()).into_iter().next()?.error;
    Some(match view.rank.machine.device {
        Some(device) => found.with_floor(device.floor_address),
        None => found,
    })
}

/// The error that decides how a rank ended, with what it says of memory: the first that says something, else the first.
pub fn decisive_error<'a>(view: &RankView<'a>) -> Option<(&'a ErrorRow, Option<TenstorrentError>)> {
    let errors = &view.rank.errors;
    let mut of_memory = errors.iter().filter_map(|error| Some((error, Some(said(view, error)?))));
    of_memory.next().or_else(|| Some((errors.first()?, None)))
}

/// The errors of a rank.
pub fn error_facts<'a>(view: &RankView<'a>) -> Vec<ErrorFacts<'a>> {
    view.rank.errors.iter().map(|error| ErrorFacts::of(view, error)).collect()
}

impl<'a> ErrorFacts<'a> {
    fn of(view: &RankView<'a>, error: &'a ErrorRow) -> Self {
        let said = said(view, error);
        let moment = error.operation.and_then(|at| view.memory.failure(at));
        let in_report = moment.map(|moment| AtError::of(view, moment, space_of(said.as_ref())));
        let end = said.as_ref().and_then(|said| match said.form {
            TenstorrentForm::Clash { scratch_end_address, .. } => Some(scratch_end_address),
            _ => None,
        });
        let in_the_way = moment.zip(end).map(|(moment, end)| below(view, moment, end));
        Self {
            operation: error.operation.map(|at| view.rank.operations.id(at)),
            name: &error.name,
            kind: &error.kind,
            said: said.map_or(
                SaidError::Other {
                    form: None,
                    verdict: TenstorrentVerdict::Unknown,
                    missing_bytes: None,
                },
                SaidError::OfMemory,
            ),
            in_report,
            in_the_way,
        }
    }
}

/// The space that an error is about: L1 where the text names none.
fn space_of(said: Option<&TenstorrentError>) -> BufferSpace {
    let buffer = match said.map(|said| &said.form) {
        Some(
            TenstorrentForm::NoSpace(buffer) | TenstorrentForm::NoSpaceDependencies { buffer, .. },
        ) => Some(buffer),
        _ => None,
    };
    let named = buffer.and_then(|buffer: &BufferWithoutSpace| BufferSpace::of_word(&buffer.space));
    named.unwrap_or(BufferSpace::L1)
}

impl AtError {
    fn of(view: &RankView<'_>, moment: &FullestMoment, space: BufferSpace) -> Self {
        let of_space = |space: BufferSpace| {
            let keys = moment.alive.iter().filter(move |(key, _)| key.space == space);
            keys.filter_map(|(key, life)| {
                Some((key.address, view.memory.lives.get(*life as usize)?.bytes))
            })
        };
        let allocated = of_space(space).map(|(_, bytes)| bytes);
        // Buffers are in the order of their addresses.
        let free = free_ranges(&view.device(), of_space(BufferSpace::L1));
        Self {
            allocated_bytes_per_bank: allocated.fold(0, u64::saturating_add),
            lowest_l1_address: of_space(BufferSpace::L1).next().map(|(address, _)| address),
            largest_free_bytes_per_bank: largest(&free),
        }
    }
}

/// The buffers of L1 below an address, by address.
fn below<'a>(view: &RankView<'a>, moment: &FullestMoment, end: u64) -> Vec<BufferFacts<'a>> {
    let keys = moment.alive.iter();
    let below = keys.filter(|(key, _)| key.space == BufferSpace::L1 && key.address < end);
    let facts = below.filter_map(|(_, life)| {
        let reads = view.memory.reads.get(*life as usize).copied().unwrap_or_default();
        Some(BufferFacts::of(view, view.memory.lives.get(*life as usize)?, reads))
    });
    facts.collect()
}
