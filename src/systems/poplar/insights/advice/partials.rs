//! Partial sums in half precision, for the operations that own the peaks and have the option `partialsType`
//! with the value `float`.
//!
//! The report does not say which temporaries of an operation are partial sums. They are among its anonymous variables
//! (`<anon>`), so half of those is a bound.

use std::collections::HashSet;

use super::how;
use super::planned::by_kind;
use super::{
    AdviceContext, CHANGE, Candidate, IpuTechnique, MOST_EVIDENCE, advice_of, operation_title,
};
use crate::analysis::liveness::variable_kind::ANONYMOUS;
use crate::analysis::liveness::variable_name;
use crate::analysis::program::operations::{Operation, partials_type};
use crate::run::{Advice, Evidence, Proposal};
use crate::systems::poplar::insights::timeline::AliveRow;

/// The advice; `None` where no operation that owns a peak has float partials.
pub fn candidate<'a>(context: &AdviceContext<'a>) -> Option<Candidate<'a>> {
    let operations = context.owners.operations();
    let owners: Vec<(u32, &Operation)> = context
        .pressure
        .operations
        .iter()
        .map(|pressure| pressure.operation)
        .filter(|operation| partials(context, *operation) == Some("float"))
        .filter_map(|operation| Some((operation, operations.get(operation as usize)?)))
        .collect();
    let wanted: HashSet<u32> = owners.iter().map(|(operation, _)| *operation).collect();
    let (liveness, owner) = (context.pressure.liveness(), context.owners);
    let is_partial = move |row: &AliveRow| {
        let operation = owner.variables.of_life(row.class_row);
        operation.is_some_and(|operation| wanted.contains(&operation))
            && variable_name(liveness, row.variable) == ANONYMOUS
    };
    let alive = context.pressure.alive.iter().filter(|row| is_partial(&row.alive));
    let evidence = alive.take(MOST_EVIDENCE).map(|row| {
        let operation = owner.variables.of_life(row.alive.class_row);
        let operation = operation.and_then(|at| operations.get(at as usize));
        let of = operation.map_or_else(String::new, operation_title);
        Evidence::new(format!("anonymous variables of {of}, which has partialsType float"))
            .bytes(row.most.0)
            .alive_at(context.report, &row.most.1, row.step)
            .of_operation(operation)
            .of_variable(ANONYMOUS)
    });
    let evidence: Vec<Evidence> = evidence.collect();
    if evidence.is_empty() {
        return None;
    }
    let advice = Advice {
        text: format!(
            "Keep the partial sums of the operations that own the peaks in half precision ({})",
            by_kind(owners.iter().map(|(_, operation)| *operation))
        ),
        proposal: Proposal {
            option: Some("partialsType"),
            direction: Some(CHANGE),
            ..Proposal::default()
        },
        how: how::half_partials(),
        evidence,
        caution: "Long sums lose accuracy; compare the loss",
        ..advice_of(IpuTechnique::HalfPrecisionPartials)
    };
    let basis = "half of the anonymous variables of these operations; those that are not partial \
                 sums stay";
    Some(Candidate::at_best(advice, basis, is_partial, |bytes| bytes.div_ceil(2)))
}

/// The option of an operation, from its first step.
fn partials<'a>(context: &AdviceContext<'a>, operation: u32) -> Option<&'a str> {
    let report = context.report;
    let (steps, programs, debug) =
        (report.steps.get()?, report.programs.get()?, report.debug.get()?);
    let step = *context.steps.steps_of(operation).first()?;
    let program = programs.ids.position(*steps.programs.get(step as usize)?)?;
    partials_type(debug, debug.position(*programs.debug_ids.get(program)?)?)
}
