//! State of the optimiser: off the chip, shared by replicas, or less of it.
//!
//! State is told by its name: PopART writes `Accl1___` and `Accl2___` before the name of the weight (`Accl___` for
//! momentum), TensorFlow `/Momentum`, `/Adam` and `/Adam_1` behind it. The second state is what Adam has and
//! momentum has not.

use std::borrow::Cow;

use super::how::{self, How};
use super::{Advice, Candidate, Context, Effect, Evidence, Left, MOST_EVIDENCE, Technique};
use crate::analysis::insights::pressure::AliveAbove;
use crate::analysis::liveness::variable_name;

/// Which state of a weight a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    First,
    Second,
}

fn state(name: &str) -> Option<State> {
    if name.contains("Accl2___") || name.contains("Accl3___") || name.ends_with("/Adam_1") {
        Some(State::Second)
    } else if name.contains("Accl1___")
        || name.contains("Accl___")
        || name.ends_with("/Momentum")
        || name.ends_with("/Adam")
    {
        Some(State::First)
    } else {
        None
    }
}

/// The advice about the optimiser's state, as far as there is any on the tiles that are over.
pub fn candidates<'a>(context: &Context<'a>) -> Vec<Candidate<'a>> {
    let liveness = context.pressure.liveness();
    let state_of = move |variable| state(&variable_name(liveness, variable));
    let rows: Vec<&AliveAbove> = context
        .pressure
        .alive
        .iter()
        .filter(|row| row.alive.is_always_live && state_of(row.alive.variable).is_some())
        .collect();
    let second: Vec<&AliveAbove> = rows
        .iter()
        .copied()
        .filter(|row| state_of(row.alive.variable) == Some(State::Second))
        .collect();
    let replicas =
        context.report.target.get().and_then(|target| target.replicas).filter(|count| *count > 1);
    let offload = candidate(
        context,
        &rows,
        Technique::OffloadVariables,
        "Keep the state of the optimiser off the chip".to_owned(),
        how::offloading(),
        "Traffic to streaming memory in every update",
        "all of this state gone from the chip",
        Box::new(move |_, row| {
            let is_state = row.is_always_live && state_of(row.variable).is_some();
            if is_state { 0 } else { row.bytes }
        }),
    );
    let shard = replicas.and_then(|replicas| {
        candidate(
            context,
            &rows,
            Technique::ShardOverReplicas,
            format!("Share the state of the optimiser between the {replicas} replicas"),
            how::sharding(),
            "Exchange between replicas in every update",
            "the state divided by the replicas",
            Box::new(move |_, row| {
                let is_state = row.is_always_live && state_of(row.variable).is_some();
                if is_state { row.bytes.div_ceil(replicas) } else { row.bytes }
            }),
        )
    });
    let less = candidate(
        context,
        &second,
        Technique::OptimiserWithLessState,
        "Use an optimiser with one state variable for each weight, momentum for example".to_owned(),
        how::less_state(),
        "Convergence; learning rates have to be found again",
        "the second state of all weights gone",
        Box::new(move |_, row| {
            let is_second = row.is_always_live && state_of(row.variable) == Some(State::Second);
            if is_second { 0 } else { row.bytes }
        }),
    );
    [offload, shard, less].into_iter().flatten().collect()
}

#[expect(clippy::too_many_arguments, reason = "the texts of three pieces of advice of one form")]
fn candidate<'a>(
    context: &Context<'a>,
    rows: &[&AliveAbove],
    id: Technique,
    what: String,
    how: Vec<How>,
    caution: &'static str,
    basis: &str,
    left: Left<'a>,
) -> Option<Candidate<'a>> {
    if rows.is_empty() {
        return None;
    }
    let evidence = rows.iter().take(MOST_EVIDENCE).map(|row| {
        let name: Cow<'_, str> = variable_name(context.pressure.liveness(), row.alive.variable);
        Evidence::new(format!("{name}, always live"))
            .bytes(row.most.0)
            .on_place(&row.most.1)
            .variable(&name)
    });
    let advice = Advice { what, how, evidence: evidence.collect(), caution, ..Advice::of(id) };
    let basis = basis.to_owned();
    Some(Candidate { advice, effect: Effect::AtBest(left), basis })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_told_by_its_name() {
        assert_eq!(state("Accl1___fc.weight"), Some(State::First));
        assert_eq!(state("Accl2___fc.weight"), Some(State::Second));
        assert_eq!(state("dense/kernel/Adam_1"), Some(State::Second));
        assert_eq!(state("dense/kernel/Momentum"), Some(State::First));
        assert_eq!(state("fc.weight"), None);
        assert_eq!(state("Accum___fc.weight"), None, "gradients are no state of the optimiser");
    }
}
