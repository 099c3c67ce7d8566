//! The peak of an IPU report: the step at which most is alive on all tiles together, and who owns it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::analysis::comparison::category_bytes::class_states;
use crate::analysis::comparison::contribution::{Contributor, Grouping, OperationName};
use crate::analysis::comparison::explanation::GroupedBy;
use crate::analysis::comparison::moment::Moment;
use crate::analysis::consists::{consists_of, rows_of_one};
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::liveness::variable_name;
use crate::analysis::liveness::variables::rows_of_scope;
use crate::analysis::program::steps;
use crate::run::{PeakOfRun, PeakRow, PeakVariable};
use crate::store::ids::CategoryId;
use crate::store::memory::CategoryMemory;
use crate::store::{Report, UnloweredId};

/// The largest variables that are named.
const LARGEST: usize = 10;

/// The peak of a report whose small tables are read; by category where its lowered variables are read as well.
pub(super) fn peak_of_report(derived: &Derived) -> Option<PeakOfRun> {
    let report = &**derived.report();
    let timeline = derived.timeline(Scope::Everything, &|| false)?;
    let alive = Moment::peak(&timeline.curve, Scope::Everything)?;
    let step = alive.moment.step;
    let facts = steps::facts(report, step)?;
    let found = consists_of(derived, alive);
    let things = Things::alive_at(derived, step);
    let by = |by: GroupedBy, rest: u64| rows(found.grouping(by), &things, rest);
    let is_one_ipu = report.target.get().is_some_and(|target| target.ipus == Some(1));
    let operation = facts.operation.as_ref();
    Some(PeakOfRun {
        device: is_one_ipu.then_some(0),
        step: Some(facts.step.0.into()),
        kind: facts.kind,
        name: facts.name,
        operation: operation.map(|operation| OperationName::of(operation).in_words()),
        operation_by_operand: false,
        stack: operation.and_then(|operation| operation.location.clone()).into_iter().collect(),
        bytes: u64::try_from(alive.bytes.sum()).ok()?,
        always_live_bytes: u64::try_from(alive.bytes.always_live).ok(),
        by_category: by(GroupedBy::Category, 0),
        by_operation: by(GroupedBy::Operation, things.without_operation),
        by_module: by(GroupedBy::Module, things.without_operation),
        by_line: Vec::new(),
        largest: things.largest,
    })
}

/// The rows of a group, which add up to the peak; `rest` is how many things no row has. None where exchanges share
/// code, which then counts for each of them and leaves less than nothing for the rest.
fn rows(grouping: Option<&Grouping>, things: &Things, rest: u64) -> Vec<PeakRow> {
    let rows = grouping.map(rows_of_one).unwrap_or_default().into_iter();
    let rows: Option<Vec<PeakRow>> = rows
        .map(|(row, bytes)| {
            let name = match &row.contributor {
                Contributor::Category(key) => key.clone(),
                other => other.title(),
            };
            let count = match &row.contributor {
                Contributor::NotAttributable => rest,
                other => things.counts.get(other).copied().unwrap_or(0),
            };
            Some(PeakRow { name, bytes: u64::try_from(bytes).ok()?, count })
        })
        .collect();
    rows.unwrap_or_default()
}

/// The variables that are alive at a step.
#[derive(Default)]
struct Things {
    /// How many each group has.
    counts: HashMap<Contributor, u64>,
    /// How many belong to no operation.
    without_operation: u64,
    /// The largest before lowering, those of one name together.
    largest: Vec<PeakVariable>,
}

impl Things {
    fn alive_at(derived: &Derived, step: usize) -> Self {
        let report = &**derived.report();
        let mut things = Self::default();
        things.count_lowered(report, step);
        // What cannot be counted stays without a count.
        let _: Option<()> = things.count_before_lowering(derived, step);
        things
    }

    /// Counts lowered variables by category, where they are read.
    fn count_lowered(&mut self, report: &Report, step: usize) -> Option<()> {
        let (variables, categories) = (report.variables.get()?, report.categories.get()?);
        let classes = &report.liveness.get()?.classes;
        let states = class_states(classes, step);
        let is_alive = |row: usize| {
            let class = classes.ids.position(*variables.classes.get(row)?)?;
            (*states.get(class)?)?;
            variables.flags.get(row)?.is_allocated().then_some(())
        };
        let mut counts = [0_u64; 256];
        for (row, category) in variables.categories.iter().enumerate() {
            if let (Some(()), Some(count)) = (is_alive(row), counts.get_mut(usize::from(*category)))
            {
                *count = count.saturating_add(1);
            }
        }
        for (category, count) in (0..).map(CategoryId).zip(counts) {
            if let Some(name) = categories.name(category) {
                self.counts.insert(Contributor::Category(name.to_owned()), count);
            }
        }
        Some(())
    }

    /// Counts variables before lowering by operation and module, and finds the largest.
    fn count_before_lowering(&mut self, derived: &Derived, step: usize) -> Option<()> {
        let report = &**derived.report();
        let liveness = report.liveness.get()?;
        let states = class_states(&liveness.classes, step);
        let owners = derived.owners();
        let mut of_groups: HashMap<Contributor, HashSet<UnloweredId>> = HashMap::new();
        let mut alone: HashSet<UnloweredId> = HashSet::new();
        let mut named: HashMap<String, (u64, Option<OperationName>)> = HashMap::new();
        rows_of_scope(report, Scope::Everything)?.each(|row| {
            let class = liveness.classes.ids.position(row.class);
            if class.is_none_or(|class| states.get(class).copied().flatten().is_none()) {
                return;
            }
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
            let known = named.entry(name).or_insert_with(|| (0, operation.clone()));
            known.0 = known.0.saturating_add(row.bytes);
            known.1 = known.1.take().filter(|known| Some(known) == operation.as_ref());
        });
        let counts = of_groups.into_iter().map(|(group, of)| (group, of.len() as u64));
        self.counts.extend(counts);
        self.without_operation = alone.len() as u64;
        let mut named: Vec<_> = named.into_iter().collect();
        named.sort_by(|(name, of), (other, than)| {
            (Reverse(of.0), name).cmp(&(Reverse(than.0), other))
        });
        let categories = report.memory.get().map(|memory| memory.categories.as_slice());
        let largest = named.into_iter().take(LARGEST).map(|(name, (bytes, operation))| {
            // Code and the like are variables that have the name of their category.
            let is_category = |of: &[CategoryMemory]| of.iter().any(|of| of.name == name);
            let category = categories.is_some_and(is_category).then(|| name.clone());
            let operation = operation.map(|operation| operation.in_words());
            PeakVariable { name, bytes, category, operation }
        });
        self.largest = largest.collect();
        Some(())
    }
}
