//! Answers that follow from the shared report alone: live variables at a step, one by one and in groups, and the owners
//! of the peak.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::alive::{AliveBy, AliveVariable, AliveVariables, GroupBytes, StepBytes, alive_in_arena};
use super::peak::{PeakOfRun, PeakRow, PeakVariable};
use crate::analysis::comparison::category_bytes::class_states;
use crate::analysis::comparison::contribution::{Contribution, Contributor, OperationName};
use crate::analysis::comparison::explanation::{Explanation, GroupedBy};
use crate::analysis::comparison::moment::ScopeStep;
use crate::analysis::consists::{consists_of, rows_of_one};
use crate::analysis::derived::Derived;
use crate::analysis::liveness::variables::rows_of_scope;
use crate::analysis::liveness::{Scope, variable_name};
use crate::analysis::program::steps;
use crate::store::arena::Arenas;
use crate::store::ids::CategoryId;
use crate::store::memory::CategoryMemory;
use crate::store::{Report, TileId, UnloweredId};

/// What rows go by: all of it is offered, for what a report does not name is a row of its own.
pub const GROUPINGS: [AliveBy; 4] =
    [AliveBy::Category, AliveBy::Operation, AliveBy::Module, AliveBy::Variable];

/// The variables; `None` where their bytes are not known.
pub fn alive_in_report(derived: &Derived, at: &StepBytes) -> Option<AliveVariables> {
    let mut things = Things::default();
    if things.count_before_lowering(derived, at.scope, at.step).is_none() {
        return alive_in_arena(derived, at);
    }
    Some(things.variables(derived.report()))
}

/// The rows of a grouping, but for variables.
pub fn alive_rows_of_report(derived: &Derived, at: &StepBytes, by: AliveBy) -> Vec<GroupBytes> {
    let by = match by {
        AliveBy::Category => GroupedBy::Category,
        AliveBy::Operation => GroupedBy::Operation,
        AliveBy::Module => GroupedBy::Module,
        AliveBy::Layer | AliveBy::Line | AliveBy::Pool | AliveBy::Variable => return Vec::new(),
    };
    let alive = derived
        .timeline(at.scope, &|| false)
        .and_then(|timeline| ScopeStep::alive(&timeline.curve, at.scope, at.step));
    let Some(alive) = alive else { return Vec::new() };
    let things = Things::alive_at(derived, at.scope, at.step);
    rows_of(&consists_of(derived, alive), &things, by)
}

/// The rows of an explanation with the number of things in each.
fn rows_of(found: &Explanation, things: &Things, by: GroupedBy) -> Vec<GroupBytes> {
    let rest = if by == GroupedBy::Category { 0 } else { things.without_operation };
    let row = |(row, bytes): (&Contribution, i64)| {
        let name = row.contributor.key();
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
struct Things {
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
    fn alive_at(derived: &Derived, scope: Scope, step: usize) -> Self {
        let mut things = Self::default();
        // What cannot be counted stays without a count.
        let _: Option<()> = things.count_lowered(derived.report(), scope, step);
        let _: Option<()> = things.count_before_lowering(derived, scope, step);
        things
    }

    /// Counts lowered variables by category, where they are read.
    fn count_lowered(&mut self, report: &Report, scope: Scope, step: usize) -> Option<()> {
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
        scope: Scope,
        step: usize,
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
    fn largest(&self, report: &Report, most: usize) -> Vec<AliveVariable> {
        let mut all: Vec<_> = self.named.iter().collect();
        let sum = |named: &Named| named.bytes.iter().fold(0_u64, |sum, of| sum.saturating_add(*of));
        all.sort_by_key(|(name, named)| (Reverse(sum(named)), *name));
        let largest = all.into_iter().take(most);
        largest.map(|(name, named)| variable_named(report, name, named, sum(named))).collect()
    }

    fn variables(&self, report: &Report) -> AliveVariables {
        let mut found = AliveVariables::default();
        for (name, named) in &self.named {
            let lists = [&mut found.not_always_live, &mut found.always_live];
            for (list, bytes) in lists.into_iter().zip(named.bytes) {
                if bytes > 0 {
                    list.push(variable_named(report, name, named, bytes));
                }
            }
        }
        found
    }
}

fn variable_named(report: &Report, name: &str, named: &Named, bytes: u64) -> AliveVariable {
    let categories = report.memory.get().map(|memory| memory.categories.as_slice());
    // Code and the like are variables that have the name of their category.
    let is_category = |of: &[CategoryMemory]| of.iter().any(|of| of.name == name);
    AliveVariable {
        name: name.to_owned(),
        bytes,
        category: categories.is_some_and(is_category).then(|| name.to_owned().into()),
        operation: named.operation.as_ref().map(OperationName::in_words),
        ..AliveVariable::default()
    }
}

/// The largest variables that are named.
const LARGEST: usize = 10;

/// The peak of a report whose small tables are read; by category where its lowered variables are read as well.
pub fn peak_of_report(derived: &Derived) -> Option<PeakOfRun> {
    let report = &**derived.report();
    let timeline = derived.timeline(Scope::Everything, &|| false)?;
    let alive = ScopeStep::peak(&timeline.curve, Scope::Everything)?;
    let step = alive.moment.step;
    let facts = steps::facts(report, None, step)?;
    let found = consists_of(derived, alive);
    let things = Things::alive_at(derived, Scope::Everything, step);
    let by = |by: GroupedBy| rows(rows_of(&found, &things, by));
    let devices = report.arenas.get().map(Arenas::device_ids).unwrap_or_default();
    let only_device = devices.first().filter(|_| devices.len() == 1);
    let operation = facts.operation.as_ref();
    Some(PeakOfRun {
        device: only_device.map(|device| device.0.into()),
        step: Some(facts.step.0.into()),
        kind: facts.kind,
        name: facts.name,
        operation: operation.map(|operation| OperationName::of(operation).in_words()),
        operation_by_operand: false,
        stack: operation.and_then(|operation| operation.location.clone()).into_iter().collect(),
        bytes: u64::try_from(alive.bytes.sum()).ok()?,
        always_live_bytes: u64::try_from(alive.bytes.always_live).ok(),
        by_category: by(GroupedBy::Category),
        by_operation: by(GroupedBy::Operation),
        by_module: by(GroupedBy::Module),
        by_line: Vec::new(),
        largest: things.largest(report, LARGEST).into_iter().map(variable).collect(),
    })
}

fn variable(of: AliveVariable) -> PeakVariable {
    let AliveVariable { name, bytes, category, operation, .. } = of;
    let category = category.map(Cow::into_owned);
    PeakVariable { name, bytes, category, operation }
}

/// The rows of a group, which add up to the peak. None where exchanges share code, which then counts for each of them and
/// leaves less than nothing for the rest.
fn rows(rows: Vec<GroupBytes>) -> Vec<PeakRow> {
    let row = |GroupBytes { name, bytes, count }| {
        Some(PeakRow { name, bytes: u64::try_from(bytes).ok()?, count })
    };
    let rows: Option<Vec<PeakRow>> = rows.into_iter().map(row).collect();
    rows.unwrap_or_default()
}
