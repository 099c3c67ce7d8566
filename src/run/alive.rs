//! The bytes alive at a step: variables, each address counted once, and the same bytes by groups. Both add up to the
//! curve.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Serialize;

use super::variable_details::VariableDetails;
use crate::analysis::areas::NOT_ATTRIBUTABLE;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::placement::placed_lifetimes::{PlacedLifetime, placed_lifetimes};
use crate::progress::Progress;
use crate::store::UnloweredId;
use crate::text::words;

/// How many variables get their details at a time.
const DETAILED_AT_ONCE: usize = 1 << 14;

words! {
    /// What bytes that are alive are put together by.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AliveBy by key {
        /// What memory is for.
        Category = "category",
        /// The operation.
        Operation = "operation",
        /// The module of the model.
        Module = "module",
        /// The layer of the model.
        Layer = "layer",
        /// The line of the user's code.
        Line = "line",
        /// The pool of the allocator, and the stream.
        Pool = "pool",
        /// The variable.
        Variable = "variable",
    }
}

/// A step of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepBytes {
    /// The part of the machine.
    pub scope: Scope,
    /// The position of the step among the steps of the report.
    pub step: usize,
    /// Bytes of the curve that are there throughout.
    pub always_live_bytes: u64,
    /// Its other bytes.
    pub not_always_live_bytes: u64,
}

/// A variable that is alive. Variables of one name count together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AliveVariable {
    /// Its name.
    pub name: String,
    /// The bytes that count to it.
    pub bytes: u64,
    /// The key of its category, of several the one that has most.
    pub category: Option<Cow<'static, str>>,
    /// The operation that it belongs to.
    pub operation: Option<String>,
    /// Its shape.
    pub shape: Option<String>,
    /// Bytes of it that count to others, which have the same addresses.
    pub shared_bytes: u64,
    /// Of its bytes those that are padding; absent where it is not known how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding_bytes: Option<u64>,
    /// Its number in the report, where it has one there.
    #[serde(skip)]
    pub variable: Option<UnloweredId>,
}

/// Bytes of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct GroupBytes {
    /// What the group is called: a category by its key.
    pub name: String,
    /// Its bytes. Those of the rest are below 0 where groups share code, which then counts to each of them.
    pub bytes: i64,
    /// Things in it: blocks, values, variables.
    pub count: u64,
}

/// The variables that are alive at a step, largest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AliveVariables {
    /// Those that come and go.
    pub not_always_live: Vec<AliveVariable>,
    /// Those that are there throughout.
    pub always_live: Vec<AliveVariable>,
}

impl StepBytes {
    /// All bytes.
    pub fn bytes(&self) -> u64 {
        self.always_live_bytes.saturating_add(self.not_always_live_bytes)
    }

    /// The variables, so that each list adds up to the curve: bytes that none has are a row of their own.
    pub fn variables(&self, found: Option<AliveVariables>) -> AliveVariables {
        let found = found.unwrap_or_default();
        AliveVariables {
            not_always_live: up_to(found.not_always_live, self.not_always_live_bytes),
            always_live: up_to(found.always_live, self.always_live_bytes),
        }
    }

    /// Rows that add up to the curve, largest first.
    pub fn rows(&self, mut rows: Vec<GroupBytes>) -> Vec<GroupBytes> {
        let sum = rows.iter().fold(0_i64, |sum, row| sum.saturating_add(row.bytes));
        let rest = signed(self.bytes()).saturating_sub(sum);
        if rest != 0 {
            match rows.iter_mut().find(|row| row.name == NOT_ATTRIBUTABLE) {
                Some(row) => row.bytes = row.bytes.saturating_add(rest),
                None => {
                    let name = NOT_ATTRIBUTABLE.to_owned();
                    rows.push(GroupBytes { name, bytes: rest, count: 0 });
                }
            }
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.bytes.unsigned_abs()));
        rows
    }
}

impl AliveVariables {
    /// The same as rows by name.
    pub fn rows(&self) -> Vec<GroupBytes> {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut rows: Vec<GroupBytes> = Vec::new();
        for variable in self.always_live.iter().chain(&self.not_always_live) {
            let place = *places.entry(&variable.name).or_insert_with(|| {
                rows.push(GroupBytes { name: variable.name.clone(), ..GroupBytes::default() });
                rows.len().saturating_sub(1)
            });
            let Some(row) = rows.get_mut(place) else { continue };
            row.bytes = row.bytes.saturating_add(signed(variable.bytes));
            row.count = row.count.saturating_add(1);
        }
        rows
    }
}

/// A variable that is alive, with what else is known of it. Variables of one name count together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct DetailedVariable<'a> {
    /// The variable.
    #[serde(flatten)]
    pub variable: &'a AliveVariable,
    /// What else is known of it.
    #[serde(flatten)]
    pub details: VariableDetails,
}

/// Variables with what else is known of each. It is worked out for a part of the list at a time, because it takes more
/// memory than the list.
pub fn with_details<'a>(
    derived: &'a Derived,
    variables: &'a [AliveVariable],
) -> impl Iterator<Item = DetailedVariable<'a>> + Clone {
    variables.chunks(DETAILED_AT_ONCE).flat_map(|part| {
        let known: Vec<UnloweredId> = part.iter().filter_map(|one| one.variable).collect();
        let mut details = derived.answers().variable_details(derived, &known).into_iter();
        part.iter().map(move |variable| DetailedVariable {
            variable,
            details: variable.variable.and_then(|_| details.next()).unwrap_or_default(),
        })
    })
}

/// The variables of an arena, from what is placed in it; `None` of other scopes, and where that cannot be read.
pub fn alive_in_arena(derived: &Derived, at: &StepBytes) -> Option<AliveVariables> {
    let Scope::Arena(arena) = at.scope else { return None };
    let lives = placed_lifetimes(derived.report(), arena, at.step, &Progress::default())?;
    let mut named: HashMap<(String, bool), AliveVariable> = HashMap::new();
    for PlacedLifetime { name, is_always_live, bytes, counted_bytes, .. } in lives {
        let variable = named.entry((name, is_always_live)).or_default();
        variable.bytes = variable.bytes.saturating_add(counted_bytes);
        let shared = bytes.saturating_sub(counted_bytes);
        variable.shared_bytes = variable.shared_bytes.saturating_add(shared);
    }
    let mut found = AliveVariables::default();
    for ((name, is_always_live), variable) in named {
        let list = if is_always_live { &mut found.always_live } else { &mut found.not_always_live };
        list.push(AliveVariable { name, ..variable });
    }
    Some(found)
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Variables, largest first, that add up to these bytes.
fn up_to(mut variables: Vec<AliveVariable>, whole: u64) -> Vec<AliveVariable> {
    variables
        .sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.name.cmp(&other.name)));
    let mut left = whole;
    for variable in &mut variables {
        // What is more than the curve is at addresses that a larger one has.
        let bytes = variable.bytes.min(left);
        let shared = variable.bytes.saturating_sub(bytes);
        variable.shared_bytes = variable.shared_bytes.saturating_add(shared);
        variable.bytes = bytes;
        variable.padding_bytes = variable.padding_bytes.map(|padding| padding.min(bytes));
        left = left.saturating_sub(bytes);
    }
    if left > 0 {
        let name = NOT_ATTRIBUTABLE.to_owned();
        variables.push(AliveVariable { name, bytes: left, ..AliveVariable::default() });
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn variable(name: &str, bytes: u64) -> AliveVariable {
        AliveVariable { name: name.to_owned(), bytes, ..AliveVariable::default() }
    }

    fn at(always_live_bytes: u64, not_always_live_bytes: u64) -> StepBytes {
        StepBytes { scope: Scope::Everything, step: 0, always_live_bytes, not_always_live_bytes }
    }

    #[test]
    fn what_is_more_than_the_curve_is_shared_and_what_is_less_a_row() {
        let found = AliveVariables {
            not_always_live: vec![variable("b", 4), variable("a", 9)],
            always_live: vec![variable("w", 5)],
        };
        let found = at(7, 10).variables(Some(found));
        let of = |list: &[AliveVariable]| -> Vec<(String, u64, u64)> {
            list.iter().map(|one| (one.name.clone(), one.bytes, one.shared_bytes)).collect()
        };
        assert_eq!(of(&found.not_always_live), [("a".into(), 9, 0), ("b".into(), 1, 3)]);
        let rest = (NOT_ATTRIBUTABLE.into(), 2, 0);
        assert_eq!(of(&found.always_live), [("w".into(), 5, 0), rest]);
        assert_eq!(found.rows().iter().map(|row| row.bytes).sum::<i64>(), 17);
    }

    proptest! {
        #[test]
        fn lists_and_rows_add_up_to_the_curve(
            sizes in prop::collection::vec(0..50_u64, 0..8),
            (always, not_always) in (0..120_u64, 0..120_u64),
        ) {
            let at = at(always, not_always);
            let named: Vec<_> =
                sizes.iter().enumerate().map(|(at, size)| variable(&format!("v{}", at % 3), *size)).collect();
            let found = AliveVariables { not_always_live: named.clone(), always_live: named };
            let rows = at.rows(found.rows());
            prop_assert_eq!(rows.iter().map(|row| row.bytes).sum::<i64>(), signed(at.bytes()));
            let found = at.variables(Some(found));
            let sum = |list: &[AliveVariable]| list.iter().map(|one| one.bytes).sum::<u64>();
            prop_assert_eq!(sum(&found.always_live), always);
            prop_assert_eq!(sum(&found.not_always_live), not_always);
            let shared: u64 = found.always_live.iter().map(|one| one.bytes + one.shared_bytes).sum();
            prop_assert!(shared >= sizes.iter().sum());
        }
    }
}
