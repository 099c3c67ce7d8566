//! Reports for different machines: what is summed over all tiles of one says nothing of the other.

use super::{ChangeEvidence, ChangeInsight, ChangeKind};
use crate::analysis::comparison::machine::{architecture, are_same_machine, machine_facts};
use crate::store::Report;

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
    let evidence = machine_facts(reports).map(|(name, unit, figure)| {
        let evidence = ChangeEvidence::number(name, unit, figure);
        if figure.is_equal() { evidence } else { evidence.titled(title(name)) }
    });
    let architecture = ChangeEvidence::words("architecture", chips.clone());
    let architecture =
        if chips[0] == chips[1] { architecture } else { architecture.titled("Architecture") };
    let what = "The reports are for different machines: each is checked against its own limits, \
                and totals over all tiles are not called better or worse";
    let insight = ChangeInsight::new(ChangeKind::DifferentTargets, what, None);
    Some(insight.with(std::iter::once(architecture).chain(evidence)))
}
