//! The conclusion that the peak has moved: what changed at the steps that are matched with the peaks of both.

use super::{ChangeEvidence, ChangeInsight, ChangeKind, largest};
use crate::analysis::comparison::contribution::{LifePart, OperationName};
use crate::analysis::comparison::explanation::Explanation;
use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::{Difference, Side};
use crate::analysis::program::steps;
use crate::store::Report;

/// The number of a step, and what it does, for people.
fn step(report: &Report, position: usize) -> Option<(u32, String)> {
    let facts = steps::facts(report, None, position)?;
    let operation =
        facts.operation.as_ref().map(|operation| OperationName::of(operation).in_words());
    let what = operation.or(facts.name).or(facts.kind);
    Some((facts.step.0, what.unwrap_or_else(|| "a step without a name".to_owned())))
}

pub fn moved(
    reports: [&Report; 2],
    peaks: &Explanation,
    at: &[Option<Explanation>; 2],
) -> ChangeInsight {
    let steps =
        Side::BOTH.map(|side| step(side.of(reports), side.of(peaks.moments.each_ref()).step));
    let [from, to] = steps.each_ref().map(|step| {
        step.as_ref().map_or_else(
            || "a step that is not known".to_owned(),
            |(number, what)| format!("{what}, step {number}"),
        )
    });
    let [source, target] = at;
    let without_partner = match (source, target) {
        (Some(_), Some(_)) => "",
        (None, Some(_)) => ". No step of the target is matched with that of the source",
        (Some(_), None) => ". No step of the source is matched with that of the target",
        (None, None) => ". Neither step is matched with one of the other report",
    };
    let numbers = steps.each_ref().map(|step| Some(u64::from(step.as_ref()?.0)));
    let numbers = Difference::of(numbers);
    let places = [
        ("not_always_live_bytes_at_source_peak", "Not always live at the source's peak", source),
        ("not_always_live_bytes_at_target_peak", "Not always live at the target's peak", target),
    ];
    let changes = places.into_iter().filter_map(|(name, title, found)| {
        let bytes = found.as_ref()?.whole.of(LifePart::NotAlwaysLive);
        Some(ChangeEvidence::bytes(name, bytes).titled(title))
    });
    let what = format!("The peak moved from {from}, to {to}{without_partner}");
    let mut insight = ChangeInsight::new(ChangeKind::PeakMoved, what, None)
        .with([ChangeEvidence::words("operation", steps.map(|step| Some(step?.1)))])
        .with([ChangeEvidence::number("step", Unit::Place, numbers)])
        .with(changes);
    let at_matched = source.as_ref().or(target.as_ref());
    let owner = at_matched.and_then(|found| found.by_owner.as_ref());
    let operations = owner.and_then(|owner| owner.operations.as_ref());
    insight.largest =
        operations.map(|rows| largest(rows, LifePart::NotAlwaysLive)).unwrap_or_default();
    insight
}
