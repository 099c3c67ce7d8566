//! What is alive at a step of an IPU report: variables before lowering, and the same bytes by groups.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::analysis::comparison::category_bytes::class_states;
use crate::analysis::comparison::contribution::{Contribution, Contributor, OperationName};
use crate::analysis::comparison::explanation::{Explanation, GroupedBy};
use crate::analysis::comparison::moment::Moment;
use crate::analysis::consists::{consists_of, rows_of_one};
use crate::analysis::derived::Derived;
use crate::analysis::liveness::variables::rows_of_scope;
use crate::analysis::liveness::{Scope, variable_name};
use crate::run::{AliveBy, AliveVariable, AliveVariables, GroupBytes, StepBytes};
use crate::store::ids::CategoryId;
use crate::store::memory::CategoryMemory;
use crate::store::{Report, TileId, UnloweredId};

/// What rows go by: all of it is offered, for what a report does not name is a row of its own.
pub(super) const GROUPINGS: [AliveBy; 4] =
    [AliveBy::Category, AliveBy::Operation, AliveBy::Module, AliveBy::Variable];

/// The variables; `None` where their bytes are not known.
pub(super) fn alive(derived: &Derived, at: &StepBytes) -> Option<AliveVariables> {
    let mut things = Things::default();
    things.count_before_lowering(derived, (at.scope, at.step))?;
    Some(things.variables(derived.report()))
}

/// The rows of a grouping, but for variables.
pub(super) fn rows(derived: &Derived, at: &StepBytes, by: AliveBy) -> Vec<GroupBytes> {
    let by = match by {
        AliveBy::Category => GroupedBy::Category,
        AliveBy::Operation => GroupedBy::Operation,
        AliveBy::Module => GroupedBy::Module,
        AliveBy::Line | AliveBy::Variable => return Vec::new(),
    };
    let alive = derived
        .timeline(at.scope, &|| false)
        .and_then(|timeline| Moment::alive(&timeline.curve, at.scope, at.step));
    let Some(alive) = alive else { return Vec::new() };
    let things = Things::alive_at(derived, (at.scope, at.step));
    rows_of(&consists_of(derived, alive), &things, by)
}

pub(super) fn rows_of(found: &Explanation, things: &Things, by: GroupedBy) -> Vec<GroupBytes> {
    let rest = if by == GroupedBy::Category { 0 } else { things.without_operation };
    let row = |(row, bytes): (&Contribution, i64)| {
        let name = match &row.contributor {
            Contributor::Category(key) => key.clone(),
            other => other.title(),
        };
        let count = match &row.contributor {
            Contributor::NotAttributable => rest,
            other => things.counts.get(other).copied().unwrap_or(0),
        };
        GroupBytes { name, bytes, count }
    };
    let rows = found.grouping(by).map(rows_of_one).unwrap_or_default();
    rows.into_iter().map(row).collect()
}

/// The variables that are alive at a step of a scope.
#[derive(Default)]
pub(super) struct Things {
    /// How many each group has.
    counts: HashMap<Contributor, u64>,
    /// How many belong to no operation.
    without_operation: u64,
    /// Those before lowering, those of one name together.
    named: HashMap<String, Named>,
}

/// Bytes that are not always live, and that are; and the operation that all of them belong to.
struct Named {
    bytes: [u64; 2],
    operation: Option<OperationName>,
}

impl Things {
    pub(super) fn alive_at(derived: &Derived, at: (Scope, usize)) -> Self {
        let mut things = Self::default();
        // What cannot be counted stays without a count.
        let _: Option<()> = things.count_lowered(derived.report(), at);
        let _: Option<()> = things.count_before_lowering(derived, at);
        things
    }

    /// Counts lowered variables by category, where they are read.
    fn count_lowered(&mut self, report: &Report, (scope, step): (Scope, usize)) -> Option<()> {
        let (variables, categories) = (report.variables.get()?, report.categories.get()?);
        let classes = &report.liveness.get()?.classes;
        let states = class_states(classes, step);
        let tiles = scope.tiles(report.target.get());
        let is_wanted = |tile: &TileId| tiles.as_ref().is_none_or(|of| of.contains(&tile.0));
        let is_alive = |row: usize| {
            let class = classes.ids.position(*variables.classes.get(row)?)?;
            (*states.get(class)?)?;
            variables.flags.get(row)?.is_allocated().then_some(())
        };
        let mut counts = [0_u64; 256];
        let of_tiles = variables.tiles.as_slice().iter().zip(&variables.rows);
        for (_, rows) in of_tiles.filter(|(tile, _)| is_wanted(tile)) {
            for row in rows.clone().map(|row| row as usize) {
                let category = variables.categories.get(row).map(|category| usize::from(*category));
                let count = category.and_then(|category| counts.get_mut(category));
                if let (Some(()), Some(count)) = (is_alive(row), count) {
                    *count = count.saturating_add(1);
                }
            }
        }
        for (category, count) in (0..).map(CategoryId).zip(counts) {
            if let Some(name) = categories.name(category) {
                self.counts.insert(Contributor::Category(name.to_owned()), count);
            }
        }
        Some(())
    }

    /// Counts variables before lowering by operation and module, and by name.
    fn count_before_lowering(
        &mut self,
        derived: &Derived,
        (scope, step): (Scope, usize),
    ) -> Option<()> {
        let report = &**derived.report();
        let liveness = report.liveness.get()?;
        let states = class_states(&liveness.classes, step);
        let owners = derived.owners();
        let mut of_groups: HashMap<Contributor, HashSet<UnloweredId>> = HashMap::new();
        let mut alone: HashSet<UnloweredId> = HashSet::new();
        rows_of_scope(report, scope)?.each(|row| {
            let class = liveness.classes.ids.position(row.class);
            let state = class.and_then(|class| states.get(class).copied().flatten());
            let Some(is_always_live) = state else { return };
            let operation = owners.variables.of(liveness, &row);
            let operation = operation.and_then(|(at, _)| owners.operations().get(at as usize));
            let operation = operation.map(OperationName::of);
            match &operation {
                Some(operation) => {
                    let module = Contributor::Module(operation.module().to_owned());
                    for group in [Contributor::Operation(operation.clone()), module] {
                        of_groups.entry(group).or_default().insert(row.variable);
                    }
                }
                None => drop(alone.insert(row.variable)),
            }
            let name = variable_name(liveness, row.variable).into_owned();
            let known = self
                .named
                .entry(name)
                .or_insert_with(|| Named { bytes: [0; 2], operation: operation.clone() });
            if let Some(bytes) = known.bytes.get_mut(usize::from(is_always_live)) {
                *bytes = bytes.saturating_add(row.bytes);
            }
            known.operation =
                known.operation.take().filter(|known| Some(known) == operation.as_ref());
        });
        let counts = of_groups.into_iter().map(|(group, of)| (group, of.len() as u64));
        self.counts.extend(counts);
        self.without_operation = alone.len() as u64;
        Some(())
    }

    /// The variables, those of one name together, always live or not.
    pub(super) fn largest(&self, report: &Report, most: usize) -> Vec<AliveVariable> {
        let mut all: Vec<_> = self.named.iter().collect();
        let sum = |named: &Named| named.bytes.iter().fold(0_u64, |sum, of| sum.saturating_add(*of));
        all.sort_by_key(|(name, named)| (Reverse(sum(named)), *name));
        let largest = all.into_iter().take(most);
        largest.map(|(name, named)| variable(report, name, named, sum(named))).collect()
    }

    fn variables(&self, report: &Report) -> AliveVariables {
        let mut found = AliveVariables::default();
        for (name, named) in &self.named {
            let lists = [&mut found.not_always_live, &mut found.always_live];
            for (list, bytes) in lists.into_iter().zip(named.bytes) {
                if bytes > 0 {
                    list.push(variable(report, name, named, bytes));
                }
            }
        }
        found
    }
}

fn variable(report: &Report, name: &str, named: &Named, bytes: u64) -> AliveVariable {
    let categories = report.memory.get().map(|memory| memory.categories.as_slice());
    // Code and the like are variables that have the name of their category.
    let is_category = |of: &[CategoryMemory]| of.iter().any(|of| of.name == name);
    AliveVariable {
        name: name.to_owned(),
        bytes,
        category: categories.is_some_and(is_category).then(|| name.to_owned()),
        operation: named.operation.as_ref().map(OperationName::in_words),
        shape: None,
        shared_bytes: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::consists::rows_of_moments;
    use crate::progress::Progress;
    use crate::store::{ArenaId, DeviceId};
    use crate::synth::story::{PROPORTIONS, directory_name, write_story};
    use crate::systems::poplar::files::OpenReport;
    use rayon::prelude::*;

    /// What is alive at any step of the story consists of rows that add up to what the curve says.
    #[test]
    fn what_every_step_consists_of_adds_up() {
        let directory = tempfile::tempdir().expect("a directory");
        let progress = Progress::default();
        write_story(directory.path(), &progress).expect("the story");
        let checked: usize = PROPORTIONS
            .into_par_iter()
            .map(|proportion| {
                let path = directory.path().join(directory_name(proportion));
                let open = OpenReport::open(&path, &progress).expect("a report");
                open.read_all(&progress, |_| Vec::new()).expect("all of it");
                let derived = open.derived();
                let scopes = [
                    Scope::Everything,
                    Scope::Device(DeviceId(0)),
                    Scope::Arena(ArenaId(3)),
                    Scope::WorstArena,
                ];
                // On one tile every step; of all tiles some, for the time that it takes.
                let each = |scope: Scope| if scope.needs_arenas() { 1 } else { 320 };
                let check = |scope| check_steps(&derived, scope, each(scope));
                scopes.into_iter().map(check).sum::<usize>()
            })
            .sum();
        assert!(checked > 11_000, "{checked}");
    }

    fn check_steps(derived: &Derived, scope: Scope, each: usize) -> usize {
        let timeline = derived.timeline(scope, &|| false).expect("a curve");
        let curve = &timeline.curve;
        let steps = curve.not_always_live.len();
        for step in (0..steps).step_by(each) {
            let alive = Moment::alive(curve, scope, step).expect("bytes");
            let whole = curve.always_live.at(step).expect("bytes") + curve.not_always_live[step];
            let found = [Some(consists_of(derived, alive))];
            for by in
                [GroupedBy::Category, GroupedBy::Operation, GroupedBy::Module, GroupedBy::Variable]
            {
                let rows = rows_of_moments(&found, by).expect("rows");
                let sum: i64 = rows.iter().filter_map(|(_, bytes)| bytes[0]).sum();
                assert_eq!(u64::try_from(sum).ok(), Some(whole), "{scope:?} {step} {by:?}");
                assert!(rows.len() > 1, "{scope:?} {step} {by:?}");
            }
        }
        steps.div_ceil(each)
    }
}
