//! Reports for different machines: what is summed over all tiles of one says nothing of the other.

use super::{ChangeInsight, ChangeKind, Evidence};
use crate::analysis::comparison::figures::Unit;
use crate::analysis::figures::difference::Difference;
use crate::store::Report;
use crate::store::target::Target;

type Fact = (&'static str, Unit, fn(&Target) -> Option<u64>);

/// What bytes of all tiles depend on.
const FACTS: [Fact; 3] = [
    ("ipus", Unit::Count, |target| target.ipus),
    ("tiles_per_ipu", Unit::Count, |target| target.tiles_per_ipu),
    ("bytes_per_tile", Unit::Bytes, |target| target.bytes_per_tile),
];

fn architecture(report: &Report) -> Option<String> {
    report.target.get()?.architecture.clone()
}

fn facts(reports: [&Report; 2]) -> impl Iterator<Item = (&'static str, Unit, Difference)> {
    FACTS.into_iter().map(move |(name, unit, of)| {
        (name, unit, Difference::of(reports.map(|report| of(report.target.get()?))))
    })
}

/// Whether all that both say of their machines is the same.
pub fn are_same_machine(reports: [&Report; 2]) -> bool {
    let [source, target] = reports.map(architecture);
    let differs = |(_, _, figure): (_, _, Difference)| figure.change().is_some_and(|by| by != 0);
    let is_other_chip = source.zip(target).is_some_and(|(source, target)| source != target);
    !is_other_chip && !facts(reports).any(differs)
}

/// That the machines differ, and in what.
pub fn different_targets(reports: [&Report; 2]) -> Option<ChangeInsight> {
    if are_same_machine(reports) {
        return None;
    }
    let chips = reports.map(architecture);
    let title = |name: &str| match name {
        "ipus" => "IPUs",
        "tiles_per_ipu" => "Tiles of an IPU",
        _ => "Memory of a tile",
    };
    let evidence = facts(reports).map(|(name, unit, figure)| {
        let evidence = Evidence::number(name, unit, figure);
        if figure.is_equal() { evidence } else { evidence.titled(title(name)) }
    });
    let architecture = Evidence::words("architecture", chips.clone());
    let architecture =
        if chips[0] == chips[1] { architecture } else { architecture.titled("Architecture") };
    let what = "The reports are for different machines: each is held against its own limits, and bytes of all \
                tiles are neither better nor worse than those of the other";
    let insight = ChangeInsight::new(ChangeKind::DifferentTargets, what, None);
    Some(insight.with(std::iter::once(architecture).chain(evidence)))
}
