//! Instrumentation that measures the execution: results, buffers and code that Poplar adds where a program is
//! instrumented.
//!
//! Lowered variables have names by which they are told (seen in a real report of SDK 3.3). Liveness counts them under
//! the pseudo variables of their categories, and buffers as anonymous, so they are found again there by pseudo variable and class.

use std::collections::BTreeMap;

use super::timeline::AliveRow;
use crate::analysis::liveness::variable_kind::ANONYMOUS;
use crate::analysis::liveness::variable_name;
use crate::store::liveness::Liveness;
use crate::store::placed::Placed;
use crate::store::target::Target;
use crate::store::{ClassId, Report};

/// Parts of names that only variables for measuring have.
const NAME_PARTS: [&str; 5] = [
    "instrumentationStreamBuffer",
    ".text.supervisor.instrumentation_",
    "InstrumentationDumpStep",
    "_instrumentCounter",
    "profileInfo",
];
/// The category of what was measured.
pub(crate) const RESULTS: &str = "instrumentationResults";
/// The category of buffers, which liveness counts as anonymous.
const VARIABLE: &str = "variable";

/// Bytes for measuring on a tile, by pseudo variable of liveness and class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Instrumentation {
    pub bytes: BTreeMap<(String, ClassId), u64>,
}

/// Whether a report says that its program measures something.
pub(crate) fn is_instrumented(target: &Target) -> bool {
    let level = target.compute_instrumentation.as_deref();
    level.is_some_and(|level| !["", "Off"].contains(&level))
        || target.external_exchange_instrumentation == Some(true)
}

impl Instrumentation {
    /// What of a tile's variables is for measuring.
    pub fn of(report: &Report, placed: &Placed) -> Self {
        let mut bytes: BTreeMap<(String, ClassId), u64> = BTreeMap::new();
        for (row, placement) in placed.placements.iter().enumerate() {
            let category = placement
                .category
                .and_then(|category| report.categories.get()?.names.at(category as usize));
            let name = placed.names.at(row).unwrap_or("");
            let Some(category) = category else { continue };
            let is_meant = category == RESULTS || NAME_PARTS.iter().any(|part| name.contains(part));
            if is_meant && placement.takes_memory() {
                let shown = if category == VARIABLE { ANONYMOUS } else { category };
                let of = bytes.entry((shown.to_owned(), placement.class)).or_default();
                *of = of.saturating_add(placement.bytes);
            }
        }
        Self { bytes }
    }

    /// The results alone, of what is alive on a tile.
    pub fn of_results(rows: &[AliveRow], liveness: &Liveness) -> Self {
        let mut bytes: BTreeMap<(String, ClassId), u64> = BTreeMap::new();
        for row in rows.iter().filter(|row| variable_name(liveness, row.variable) == RESULTS) {
            let of = bytes.entry((RESULTS.to_owned(), row.class)).or_default();
            *of = of.saturating_add(row.bytes);
        }
        Self { bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::analysis::fixture::{categories, placement};
    use crate::store::names::Names;
    use crate::store::placed::Placement;

    #[test]
    fn variables_for_measuring_are_told_by_name_or_category() {
        let report = Report::default();
        let names = ["variable", "controlCode", "instrumentationResults"];
        report.categories.fill(Some(categories(0, &names)));
        let rows = [
            ("instrumentationStreamBuffer7", 0, 512, 45),
            ("instrument/embedding", 0, 64, 45),
            (".text.supervisor.instrumentation_cycleCount", 1, 160, 46),
            (".text.supervisor.control_1", 1, 300, 46),
            ("profileInfo1", 2, 188, 46),
            ("any other", 2, 8, 46),
        ];
        let mut of_names = Names::default();
        let placements = rows.map(|(name, category, bytes, class)| {
            of_names.push(name);
            Placement { category: Some(category), ..placement(0, bytes, class) }
        });
        let placed = Placed::new(placements.into(), of_names, Vec::new(), Vec::new());
        let found = Instrumentation::of(&report, &placed);
        let of = |name: &str, class| found.bytes.get(&(name.to_owned(), ClassId(class))).copied();
        assert_eq!(of(ANONYMOUS, 45), Some(512), "as liveness counts it");
        assert_eq!((of("controlCode", 46), of(RESULTS, 46)), (Some(160), Some(196)));
        assert_eq!(found.bytes.len(), 3);
    }
}
