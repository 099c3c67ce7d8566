//! Buffers and operations as evidence: what they are called, and where they are.

use std::cmp::Reverse;

use super::decisive::BufferWithReads;
use crate::run::Evidence;
use crate::systems::tenstorrent::memory::facts::RankView;
use crate::text::{clean, grouped};

/// Rows of evidence.
const MOST_EVIDENCE: usize = 6;

/// `operation 20, ttnn.relu`.
pub fn operation_text(view: &RankView<'_>, at: u32) -> String {
    let operation = view.operation(at);
    format!("operation {}, {}", grouped(operation.operation), clean(operation.name))
}

/// The same with the line of the user's code, where the report has it.
pub fn operation_with_line(view: &RankView<'_>, at: u32) -> String {
    let operation = operation_text(view, at);
    match view.line(at) {
        Some(line) => format!("{operation} at {}", clean(&line)),
        None => operation,
    }
}

/// Evidence at an operation.
pub fn at_operation(evidence: Evidence, view: &RankView<'_>, device: i64, at: u32) -> Evidence {
    evidence.at(|place| {
        place.device = Some(device);
        place.step = i64::try_from(view.operation(at).operation).ok();
        place.operation = Some(view.operation(at).name.to_owned());
        place.frame = view.line(at);
    })
}

/// A buffer, with the operation that made it and the one that reads it last, at the operation that is looked at.
pub fn of_buffer(
    view: &RankView<'_>,
    (device, moment): (i64, Option<u32>),
    (life, reads): BufferWithReads<'_>,
) -> Evidence {
    let name = view.buffer_name(life, reads);
    let made = match life.allocated_by {
        Some(by) => format!(", allocated by {}", operation_with_line(view, by)),
        None => ", there before the report".to_owned(),
    };
    let read = match reads.last {
        Some(last) => format!(", read last by {}", operation_text(view, last)),
        None => ", read by no operation of the report".to_owned(),
    };
    Evidence::of(format!("{name}{made}{read}"), life.bytes).at(|place| {
        place.device = Some(device);
        place.step = moment.and_then(|at| i64::try_from(view.operation(at).operation).ok());
        place.arena = Some(device.to_string());
        place.address = Some(life.key.address.to_string());
        place.operation = life.allocated_by.map(|by| view.operation(by).name.to_owned());
        place.frame = life.allocated_by.and_then(|by| view.line(by));
        place.variable = Some(name);
    })
}

/// The largest of some buffers as evidence.
pub fn of_largest<'a>(
    view: &RankView<'_>,
    at: (i64, Option<u32>),
    buffers: impl Iterator<Item = BufferWithReads<'a>>,
) -> Vec<Evidence> {
    let mut buffers: Vec<BufferWithReads<'_>> = buffers.collect();
    buffers.sort_by_key(|(life, _)| (Reverse(life.bytes), life.key));
    buffers.truncate(MOST_EVIDENCE);
    buffers.into_iter().map(|one| of_buffer(view, at, one)).collect()
}
