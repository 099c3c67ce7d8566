//! The machines that reports are for: bytes summed over all tiles of one say nothing of another.

use super::figures::Unit;
use crate::analysis::figures::difference::Difference;
use crate::store::Report;
use crate::store::target::Target;

type TargetFact = (&'static str, Unit, fn(&Target) -> Option<u64>);

/// What bytes of all tiles depend on.
const FACTS: [TargetFact; 3] = [
    ("ipus", Unit::Count, |target| target.devices),
    ("tiles_per_ipu", Unit::Count, |target| target.tiles_per_device),
    ("bytes_per_tile", Unit::Bytes, |target| target.bytes_per_tile),
];

/// The chip.
pub fn architecture(report: &Report) -> Option<String> {
    report.target.get()?.architecture.clone()
}

/// What bytes of all tiles depend on, of both.
pub fn machine_facts(
    reports: [&Report; 2],
) -> impl Iterator<Item = (&'static str, Unit, Difference)> {
    FACTS.into_iter().map(move |(name, unit, of)| {
        (name, unit, Difference::of(reports.map(|report| of(report.target.get()?))))
    })
}

/// Whether all that both say of their machines is the same.
pub fn are_same_machine(reports: [&Report; 2]) -> bool {
    let [source, target] = reports.map(architecture);
    let differs = |(_, _, figure): (_, _, Difference)| figure.change().is_some_and(|by| by != 0);
    let is_other_chip = source.zip(target).is_some_and(|(source, target)| source != target);
    !is_other_chip && !machine_facts(reports).any(differs)
}
