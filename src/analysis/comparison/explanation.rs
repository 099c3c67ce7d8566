//! The parts of a change of the peak: the bytes alive at a step of the source and at one of the target, by category, by
//! operation, by module of the network and by variable.
//!
//! The whole is the always-live bytes of `memory_by_tile` and the curve at the step. Every grouping adds
//! up to it exactly, in both reports: what its rows leave is a row that is not attributable
//! (definitions.md, Comparison). The always-live part of a grouping explains the change of always live.
//!
//! - By category: lowered variables ([`super::category_bytes`]).
//! - By variable: variables before lowering, by name, as they are matched.
//! - By operation: what belongs to one ([`super::owners`]): variables before lowering; the code of
//!   internal exchanges; the state of vertices, by compute set; control code, by program. The latter
//!   three take the place of the pseudo variables under which the file counts them, and count only where
//!   those are all always live. Code that exchanges share counts for each of them, so the row that is not
//!   attributable can be below 0.
//! - By module: operations by the path in their names.

use std::collections::BTreeMap;

use super::attribution::Attribution;
use super::category_bytes::category_bytes;
use super::contribution::{BytesOfTwo, Contribution, Contributor, Grouping, LiveBytes};
use super::join::JoinedRow;
use super::moment::{AliveAt, ScopeStep};
use super::tally::Tally;
use crate::analysis::figures::difference::Side;
use crate::analysis::liveness::variable_name;
use crate::store::Report;

/// Bytes alive at a moment of each report, and what they belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The moments of source and target.
    pub moments: [ScopeStep; 2],
    /// What is alive then.
    pub whole: BytesOfTwo,
    /// By category; `None` where lowered variables are absent.
    pub by_category: Option<Grouping>,
    /// What goes by variable before lowering; `None` where the bytes by variable are absent.
    pub by_owner: Option<ByOwner>,
}

/// What bytes are put together by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupedBy {
    /// Categories of memory.
    #[default]
    Category,
    /// What the software layers called.
    Operation,
    /// Operations by the path in their names.
    Module,
    /// Variables before lowering, by name.
    Variable,
}

impl GroupedBy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Category, Self::Operation, Self::Module, Self::Variable];

    /// Its name for programs.
    pub fn key(self) -> &'static str {
        match self {
            Self::Category => "category",
            Self::Operation => "operation",
            Self::Module => "module",
            Self::Variable => "variable",
        }
    }

    /// The grouping of some that goes by it.
    pub fn of<'a>(
        self,
        by_category: Option<&'a Grouping>,
        by_owner: Option<&'a ByOwner>,
    ) -> Option<&'a Grouping> {
        match self {
            Self::Category => by_category,
            Self::Operation => by_owner?.operations.as_ref(),
            Self::Module => by_owner?.modules.as_ref(),
            Self::Variable => Some(&by_owner?.variables),
        }
    }
}

impl Explanation {
    /// What goes by something; `None` where the reports do not say.
    pub fn grouping(&self, by: GroupedBy) -> Option<&Grouping> {
        by.of(self.by_category.as_ref(), self.by_owner.as_ref())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByOwner {
    /// By operation; `None` unless both reports name operations.
    pub operations: Option<Grouping>,
    /// By module of the network; `None` as above.
    pub modules: Option<Grouping>,
    /// By variable before lowering.
    pub variables: Grouping,
}

/// Explains what differs between a moment of the source and one of the target.
pub fn explain(
    reports: [&Report; 2],
    attribution: &Attribution,
    alive: [AliveAt; 2],
) -> Explanation {
    let moments = alive.map(|alive| alive.moment);
    let whole = BytesOfTwo(alive.map(|alive| alive.bytes));
    let by_category = by_category(reports, &moments, &whole);
    let by_owner = by_owner(reports, attribution, &moments, &whole);
    Explanation { moments, whole, by_category, by_owner }
}

fn by_category(
    [source, target]: [&Report; 2],
    [in_source, in_target]: &[ScopeStep; 2],
    whole: &BytesOfTwo,
) -> Option<Grouping> {
    let categories = [category_bytes(source, in_source)?, category_bytes(target, in_target)?];
    Some(Grouping::closed(categories_of_two(categories), whole))
}

/// A row for each category of either report.
pub fn categories_of_two(reports: [BTreeMap<String, LiveBytes>; 2]) -> Vec<Contribution> {
    let mut both: BTreeMap<String, BytesOfTwo> = BTreeMap::new();
    for (side, categories) in Side::BOTH.into_iter().zip(reports) {
        for (name, bytes) in categories {
            *both.entry(name).or_default().side_mut(side) = bytes;
        }
    }
    let row = |(name, bytes)| Contribution {
        contributor: Contributor::Category(name),
        only: None,
        bytes,
    };
    both.into_iter().map(row).collect()
}

fn by_owner(
    reports: [&Report; 2],
    attribution: &Attribution,
    moments: &[ScopeStep; 2],
    whole: &BytesOfTwo,
) -> Option<ByOwner> {
    let mut tally = Tally::new(attribution);
    for (side, (report, moment)) in Side::BOTH.into_iter().zip(reports.into_iter().zip(moments)) {
        tally.add(attribution, side, report, moment)?;
    }
    let contribution = |row: &JoinedRow, contributor: Contributor, bytes: &BytesOfTwo| {
        Contribution { contributor, only: row.only, bytes: *bytes }
    };
    let operations = attribution.operations.rows().iter().zip(&tally.operations);
    let operations = operations.filter_map(|(row, bytes)| {
        let name = attribution.operation_name(row)?;
        Some(contribution(row, Contributor::Operation(name), bytes))
    });
    let variables = attribution.variables.rows().iter().zip(&tally.variables);
    let variables = variables.filter(|(_, bytes)| **bytes != BytesOfTwo::default());
    let variables = variables.filter_map(|(row, bytes)| {
        let liveness = row.side.of(reports).liveness.get()?;
        let name = variable_name(liveness, liveness.variable_ids.get(row.item)?).into_owned();
        Some(contribution(row, Contributor::Variable(name), bytes))
    });
    let if_named = |grouping: Grouping| attribution.has_operations.then_some(grouping);
    Some(ByOwner {
        operations: if_named(Grouping::closed(operations, whole)),
        modules: if_named(Grouping::closed(by_module(attribution, &tally), whole)),
        variables: Grouping::closed(variables, whole),
    })
}

fn by_module(attribution: &Attribution, tally: &Tally) -> Vec<Contribution> {
    let mut modules: Vec<Contribution> = attribution
        .modules
        .iter()
        .map(|name| Contribution {
            contributor: Contributor::Module(name.clone()),
            only: None,
            bytes: BytesOfTwo::default(),
        })
        .collect();
    for (module, bytes) in attribution.module_of.iter().zip(&tally.operations) {
        if let Some(row) = modules.get_mut(*module) {
            row.bytes.add_all(bytes);
        }
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use super::super::contribution::LifePart;
    use super::super::fixture::{contents, matching, report};
    use crate::analysis::liveness::Scope;
    use crate::analysis::liveness::scope_curve::scope_curve;
    use crate::analysis::program::step_operations::StepOperations;
    use crate::store::{ArenaId, DeviceId};

    const NEVER: &(dyn Fn() -> bool + Sync) = &|| false;

    const SCOPES: [Scope; 4] = [
        Scope::Everything,
        Scope::Device(DeviceId(1)),
        Scope::Arena(ArenaId(2)),
        Scope::WorstArena,
    ];

    fn of_peaks(reports: [&Report; 2], attribution: &Attribution, scope: Scope) -> Explanation {
        let peaks = reports.map(|report| {
            ScopeStep::peak(&scope_curve(report, scope, NEVER).expect("a curve"), scope)
                .expect("a peak")
        });
        explain(reports, attribution, peaks)
    }

    fn sum(grouping: &Grouping) -> BytesOfTwo {
        let mut sum = BytesOfTwo::default();
        grouping.rows().iter().for_each(|row| sum.add_all(&row.bytes));
        sum
    }

    fn groupings(found: &Explanation) -> impl Iterator<Item = &Grouping> {
        let owners = found.by_owner.as_ref().expect("bytes by variable");
        let categories = found.by_category.as_ref().expect("lowered variables");
        let of_operations = owners.operations.iter().chain(&owners.modules);
        [categories, &owners.variables].into_iter().chain(of_operations)
    }

    proptest! {
        #[test]
        fn every_grouping_adds_up_in_every_scope(
            (source, target) in (contents(), contents()),
            wanted in proptest::collection::vec((0..4_usize, 0..4_usize), 0..4),
        ) {
            let (source, target) = (report(&source), report(&target));
            let matching = matching(&source, &target, &wanted);
            let reports = [&source, &target];
            let attribution = Attribution::of(reports, &matching);
            for scope in SCOPES {
                let found = of_peaks(reports, &attribution, scope);
                let alive = found.moments.iter().zip(found.whole.0);
                for (report, (moment, bytes)) in reports.into_iter().zip(alive) {
                    let curve = scope_curve(report, scope, NEVER).expect("a curve");
                    let alive = |step: usize| {
                        curve.not_always_live[step] + curve.always_live.at(step).expect("known")
                    };
                    let most = (0..curve.not_always_live.len()).map(alive).max();
                    prop_assert_eq!(u64::try_from(bytes.sum()).ok(), most);
                    prop_assert_eq!(Some(alive(moment.step)), most);
                }
                for grouping in groupings(&found) {
                    prop_assert_eq!(sum(grouping), found.whole);
                }
                let names_any = |operations: &StepOperations| !operations.operations.is_empty();
                let both = matching.step_operations.iter().all(|found| names_any(found));
                prop_assert_eq!(groupings(&found).count(), if both { 4 } else { 2 });
            }
        }

        #[test]
        fn nothing_has_changed_against_itself(content in contents()) {
            let report = report(&content);
            let all: Vec<_> = (0..9).map(|place| (place, place)).collect();
            let attribution = Attribution::of([&report; 2], &matching(&report, &report, &all));
            for scope in SCOPES {
                let found = of_peaks([&report; 2], &attribution, scope);
                for grouping in groupings(&found) {
                    prop_assert!(grouping.ranked(LifePart::All).is_empty());
                    prop_assert!(grouping.rows().iter().all(|row| row.only.is_none()));
                }
            }
        }
    }
}
