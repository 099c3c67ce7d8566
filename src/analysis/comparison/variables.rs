//! The variables before lowering of two reports, by name: what each has over all tiles.
//!
//! The bytes of a variable are those over all its classes, which need not be alive at the same time;
//! beside them stand what is always live and what is alive at the report's own peak of everything. Those
//! of the peak are the rows that `explanation` has by variable.

use std::cmp::Reverse;

use super::attribution::Attribution;
use super::category_bytes::class_states;
use crate::analysis::figures::difference::{Difference, Side};
use crate::analysis::liveness::variables::rows_of_scope;
use crate::analysis::liveness::{Scope, variable_name};
use crate::store::Report;

/// The variables of a name.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct VariableDifference {
    /// The name, that of the source where it is there.
    pub name: String,
    /// The only report that has it.
    pub only: Option<Side>,
    /// Bytes over all classes; 0 in a report that does not have it.
    #[serde(flatten)]
    pub bytes: Difference,
    /// Bytes that are always live.
    pub always_live: Difference,
    /// Bytes at the peak, always live or not; not known where the peak is not.
    pub at_peak: Difference,
}

/// All variables of either report, largest change first, then by name. `peaks` are the steps of the
/// peaks of everything. `None` where the bytes by variable are absent.
pub fn variables(
    source: &Report,
    target: &Report,
    attribution: &Attribution,
    peaks: [Option<usize>; 2],
) -> Option<Vec<VariableDifference>> {
    let rows = attribution.variables.rows();
    let source_sums = VariableSums::of(source, peaks[0], attribution, Side::Source)?;
    let target_sums = VariableSums::of(target, peaks[1], attribution, Side::Target)?;
    let difference = |row: usize, of: fn(&VariableSums) -> Option<&[u64]>| {
        let cell = |sums| of(sums).and_then(|cells| cells.get(row).copied());
        Difference::of([cell(&source_sums), cell(&target_sums)])
    };
    let mut list: Vec<VariableDifference> = rows
        .iter()
        .enumerate()
        .filter_map(|(number, row)| {
            let liveness = row.side.of([source, target]).liveness.get()?;
            let id = liveness.variable_ids.get(row.item)?;
            Some(VariableDifference {
                name: variable_name(liveness, id).into_owned(),
                only: row.only,
                bytes: difference(number, |sums| Some(&sums.all)),
                always_live: difference(number, |sums| Some(&sums.always_live)),
                at_peak: difference(number, |sums| sums.at_peak.as_deref()),
            })
        })
        .collect();
    list.sort_by(|a, b| {
        let magnitude = |row: &VariableDifference| Reverse(row.bytes.magnitude());
        magnitude(a).cmp(&magnitude(b)).then_with(|| a.name.cmp(&b.name))
    });
    Some(list)
}

/// Bytes of one report, a cell for each row of the attribution's variables.
struct VariableSums {
    all: Vec<u64>,
    always_live: Vec<u64>,
    at_peak: Option<Vec<u64>>,
}

impl VariableSums {
    fn of(
        report: &Report,
        peak: Option<usize>,
        attribution: &Attribution,
        side: Side,
    ) -> Option<Self> {
        let liveness = report.liveness.get()?;
        let states = peak.map(|step| class_states(&liveness.classes, step));
        let none = vec![0; attribution.variables.rows().len()];
        let mut sums = Self {
            all: none.clone(),
            always_live: none.clone(),
            at_peak: states.as_ref().map(|_| none),
        };
        rows_of_scope(report, Scope::Everything)?.each(|row| {
            let variable = liveness.variable_ids.position(row.variable);
            let place = variable.and_then(|item| attribution.variables.row_of(side, item));
            let Some(place) = place else { return };
            let add = |cells: &mut [u64]| {
                if let Some(cell) = cells.get_mut(place) {
                    *cell = cell.saturating_add(row.bytes);
                }
            };
            add(&mut sums.all);
            let class = liveness.classes.ids.position(row.class);
            if class.is_some_and(|class| liveness.classes.always_live.get(class) == Some(&true)) {
                add(&mut sums.always_live);
            }
            let state =
                class.zip(states.as_ref()).and_then(|(class, states)| *states.get(class)?);
            if let Some(cells) = sums.at_peak.as_mut().filter(|_| state.is_some()) {
                add(cells);
            }
        });
        Some(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use super::super::fixture::{contents, matching, report};
    use super::super::moment::ScopeStep;
    use crate::analysis::liveness::scope_curve::scope_curve;

    proptest! {
        #[test]
        fn variables_add_up_to_what_the_reports_have(
            (source, target) in (contents(), contents()),
            wanted in proptest::collection::vec((0..4_usize, 0..4_usize), 0..4),
        ) {
            let reports = [report(&source), report(&target)];
            let [source, target] = &reports;
            let attribution = Attribution::of([source, target], &matching(source, target, &wanted));
            let peak = |report: &Report| {
                let curve = scope_curve(report, Scope::Everything, &|| false).expect("a curve");
                ScopeStep::peak(&curve, Scope::Everything).expect("a peak").moment
            };
            let peaks = [source, target].map(|report| Some(peak(report).step));
            let found = variables(source, target, &attribution, peaks).expect("bytes by variable");
            prop_assert!(found.is_sorted_by_key(|row| Reverse(row.bytes.magnitude())));
            let sides: [fn(&Difference) -> Option<i64>; 2] = [|value| value.source, |value| value.target];
            for ((report, of_side), side) in reports.iter().zip(sides).zip([Side::Source, Side::Target]) {
                let sum = |of: fn(&VariableDifference) -> &Difference| -> i64 {
                    found.iter().filter_map(|row| of_side(of(row))).sum()
                };
                let liveness = report.liveness.get().expect("liveness");
                let of_known = liveness.variable_bytes.iter().flatten().filter(|row| {
                    liveness.variable_ids.position(row.variable).is_some()
                });
                let bytes = |is_wanted: &dyn Fn(crate::store::ClassId) -> bool| -> i64 {
                    let rows = of_known.clone().filter(|row| is_wanted(row.class));
                    rows.map(|row| row.bytes.cast_signed()).sum()
                };
                let classes = &liveness.classes;
                let peak = peak(report);
                prop_assert_eq!(sum(|row| &row.bytes), bytes(&|_| true));
                prop_assert_eq!(sum(|row| &row.always_live), bytes(&|id| classes.is_always_live(id)));
                prop_assert_eq!(sum(|row| &row.at_peak), bytes(&|id| classes.is_live_at(id, peak.step)));
                for row in found.iter().filter(|row| row.only.is_some_and(|only| only != side)) {
                    prop_assert_eq!(of_side(&row.bytes), Some(0));
                }
            }
        }
    }
}
