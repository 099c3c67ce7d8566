//! Plans: whether they changed, that all are equal, and that the planner is at the minimum of memory.

use super::{ChangeEvidence, ChangeInsight, ChangeKind, KnownChange};
use crate::analysis::comparison::figures::Unit;
use crate::analysis::comparison::options::OptionDifference;
use crate::analysis::comparison::plans::Plans;
use crate::analysis::figures::difference::Difference;
use crate::analysis::program::operations::PROPORTION;
use crate::analysis::program::report_options::OptionKind;
use crate::store::{Absence, Report};
use crate::systems::poplar::insights::logs::warnings_at_minimum;
use crate::text::{counted, grouped};

/// Kinds of operations that are named.
const KINDS: usize = 4;

/// The values of `availableMemoryProportion` in source and target, where all operations of each have the same
/// one and the two differ.
fn proportions(options: &[OptionDifference]) -> Option<[&str; 2]> {
    let of_kind = |option: &&OptionDifference| option.kind == OptionKind::AvailableMemoryProportion;
    let mut found = options.iter().filter(of_kind).map(|option| {
        let value = |report: usize| option.values.get(report)?.as_deref();
        Some([value(0)?, value(1)?])
    });
    let first = found.next()??;
    found.all(|other| other == Some(first)).then_some(first)
}

/// Numbers of operations, the same in both.
fn operations(count: usize) -> ChangeEvidence {
    let count = Some(count as u64);
    ChangeEvidence::number("operations", Unit::Count, Difference::of([count, count]))
}

fn proportion_evidence(values: Option<[&str; 2]>) -> Option<ChangeEvidence> {
    let words = values?.map(|value| Some(value.to_owned()));
    Some(ChangeEvidence::words("available_memory_proportion", words))
}

/// Whether the memory of both is the same, tile by tile.
fn is_same_memory([source, target]: [&Report; 2]) -> bool {
    let (before, after) = (source.memory.get(), target.memory.get());
    before.zip(after).is_some_and(|(before, after)| {
        before.tiles.as_slice() == after.tiles.as_slice()
            && before.including_gaps == after.including_gaps
            && before.always_live == after.always_live
    })
}

/// That all operations have the same plans.
pub fn equal_plans(reports: [&Report; 2], known: &KnownChange<'_>) -> Option<ChangeInsight> {
    let plans = known.plans.filter(|plans| plans.are_equal)?;
    let of_all = match plans.operations {
        1 => "the plan of the only operation is equal".to_owned(),
        count => format!("the plans of all {} operations are equal", grouped(count as u64)),
    };
    let values = proportions(known.options);
    let what = match values {
        Some([before, after]) if is_same_memory(reports) => {
            format!("An {PROPORTION} of {after} changes nothing compared with {before}: {of_all}")
        }
        Some([before, after]) => {
            format!("With an {PROPORTION} of {after} instead of {before} {of_all}")
        }
        None => {
            let mut letters = of_all.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(letters).collect()
        }
    };
    let evidence = [operations(plans.operations)].into_iter().chain(proportion_evidence(values));
    Some(ChangeInsight::new(ChangeKind::EqualPlans, what, None).with(evidence))
}

/// That logs say that the planner cannot do with less memory. Each warning is of one operation.
pub fn planner_at_minimum(reports: [&Report; 2], known: &KnownChange<'_>) -> Option<ChangeInsight> {
    // What is not read yet says nothing.
    if !reports.iter().all(|report| report.logs.is_settled()) {
        return None;
    }
    let found = reports.map(warnings_at_minimum);
    let warnings = found.map(|count| count.unwrap_or(0));
    let values = proportions(known.options);
    let are_equal = known.plans.is_some_and(|plans| plans.are_equal);
    let said = |count: u64| counted(count, "warning");
    let what = match (warnings, values) {
        ([0, 0], _) => return None,
        ([0, after], _) => format!(
            "In the target the planner is at its minimum memory, according to {} in its logs: a \
             lower {PROPORTION} changes nothing for these operations",
            said(after)
        ),
        ([before, 0], _) if found[1].is_some() => format!(
            "In the source the planner is at its minimum memory, according to {} in its logs; the \
             target's logs do not say so",
            said(before)
        ),
        // Without a log of the target nothing is known of it.
        ([before, 0], _) => format!(
            "In the source the planner is at its minimum memory, according to {} in its logs; the \
            target has no log",
            said(before)
        ),
        ([before, after], Some([from, to])) if are_equal => format!(
            "In both the planner is at its minimum memory, according to {} and {} in their logs: \
            {to} is {from}",
            said(before),
            said(after)
        ),
        ([before, after], _) => format!(
            "In both the planner is at its minimum memory for some operations, according to {} \
             and {} in their logs: a lower {PROPORTION} changes nothing for these",
            said(before),
            said(after)
        ),
    };
    let figure = Difference::of(found);
    let evidence = ChangeEvidence::number("warnings_of_planner_at_minimum", Unit::Count, figure);
    let insight = ChangeInsight::new(ChangeKind::PlannerAtMinimum, what, None);
    Some(insight.with([evidence]).with(proportion_evidence(values)))
}

/// How many plans have changed, or that it is not known.
pub fn changed_plans(reports: [&Report; 2], known: &KnownChange<'_>) -> Option<ChangeInsight> {
    let Some(plans) = known.plans else { return not_known(reports) };
    let changed = plans.changed.len();
    if changed == 0 {
        return None;
    }
    let have = if changed == 1 { "has changed its plan" } else { "have changed their plans" };
    let what = format!(
        "Of {} that both reports have, {} {have}: {}",
        counted(plans.operations as u64, "operation"),
        grouped(changed as u64),
        kinds(plans)
    );
    let figure = Difference::of([None, Some(changed as u64)]);
    let evidence = [
        operations(plans.operations),
        ChangeEvidence::number("changed_plans", Unit::Count, figure),
    ];
    Some(ChangeInsight::new(ChangeKind::ChangedPlans, what, None).with(evidence))
}

/// Which kinds of operations have changed their plans: `47 convolution, 1 matMul`.
fn kinds(plans: &Plans) -> String {
    let mut kinds: Vec<(&str, u64)> = Vec::new();
    for plan in &plans.changed {
        let kind = plan.name.title();
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => kinds.push((kind, 1)),
        }
    }
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let texts = kinds.iter().take(KINDS).map(|(kind, count)| format!("{} {kind}", grouped(*count)));
    texts.collect::<Vec<_>>().join(", ")
}

/// What is known of the debug information of a report: whole, a part, or a reason why there is none.
fn debug_info(report: &Report) -> Option<&'static str> {
    match report.debug.get() {
        Some(debug) if debug.is_cut => Some("cut"),
        Some(_) => Some("whole"),
        // A system that has none at all lacks nothing; what is still read says nothing yet.
        None => report
            .debug
            .absence()
            .filter(|why| why.is_explained() && !Absence::is_cancelled(why))
            .map(|_| "absent"),
    }
}

fn not_known(reports: [&Report; 2]) -> Option<ChangeInsight> {
    let states = [debug_info(reports[0])?, debug_info(reports[1])?];
    let of = |state: &str, whose: &str| match state {
        "whole" => None,
        "cut" => Some(format!("that of {whose} is cut")),
        _ => Some(format!("that of {whose} is absent")),
    };
    let lacking = [of(states[0], "the source"), of(states[1], "the target")];
    let lacking: Vec<String> = lacking.into_iter().flatten().collect();
    if lacking.is_empty() {
        return None;
    }
    let what = format!(
        "It is not known whether plans changed, and bytes are not compared by operation or \
         module: this needs the whole debug information of both, and {}",
        lacking.join(" and ")
    );
    let words = states.map(|state| Some(state.to_owned()));
    let evidence = [ChangeEvidence::words("debug_information", words)];
    Some(ChangeInsight::new(ChangeKind::PlansNotKnown, what, None).with(evidence))
}
