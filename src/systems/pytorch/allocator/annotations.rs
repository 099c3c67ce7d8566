//! Named parts of a run (formats/pytorch.md 3.5): from the begin of one to the end of the innermost of that name that
//! is open, on one device. An event belongs to those that its time is within.

use std::collections::HashMap;

use crate::store::names::NameId;
use crate::store::snapshot::{Snapshot, SnapshotDevice};

/// A named part of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnnotatedSpan {
    /// Its name, a row of the texts.
    pub name: NameId,
    /// Microseconds since 1970.
    pub start: i64,
    /// The same; `i64::MAX` of one that did not end.
    pub end: i64,
}

/// The named parts on a device, by the time at which they begin, outer ones first.
pub fn annotated_spans(snapshot: &Snapshot, device: &SnapshotDevice) -> Vec<AnnotatedSpan> {
    let of_device = snapshot.annotations.iter().filter(|mark| mark.device == device.number);
    let mut marks: Vec<_> = of_device.collect();
    marks.sort_by_key(|mark| mark.time);
    let mut spans: Vec<AnnotatedSpan> = Vec::new();
    let mut open: HashMap<NameId, Vec<usize>> = HashMap::new();
    for mark in marks {
        if mark.is_start {
            open.entry(mark.name).or_default().push(spans.len());
            spans.push(AnnotatedSpan { name: mark.name, start: mark.time, end: i64::MAX });
            continue;
        }
        let innermost = open.get_mut(&mark.name).and_then(Vec::pop);
        if let Some(span) = innermost.and_then(|row| spans.get_mut(row)) {
            span.end = mark.time;
        }
    }
    spans
}

/// The names of the parts that a time is within, outermost first.
pub fn open_at<'a>(snapshot: &'a Snapshot, spans: &[AnnotatedSpan], time: i64) -> Vec<&'a str> {
    let open = spans.iter().filter(|span| span.start <= time && time <= span.end);
    open.map(|span| snapshot.texts.get(span.name)).collect()
}
