//! State of the optimizer: off the chip, shared by replicas, or less of it.
//!
//! State is told by its name: PopART writes `Accl1___` and `Accl2___` before the name of the weight (`Accl___` for
//! momentum), TensorFlow `/Momentum`, `/Adam` and `/Adam_1` behind it. The second state is what Adam has and
//! momentum has not.

use super::how;
use super::{AdviceContext, Candidate, IpuTechnique, MOST_EVIDENCE, advice_of};
use crate::analysis::liveness::variable_name;
use crate::run::{Advice, Evidence};
use crate::systems::poplar::insights::pressure::AliveAbove;
use crate::systems::poplar::insights::timeline::AliveRow;

/// Which state of a weight a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WeightState {
    First,
    Second,
}

fn state(name: &str) -> Option<WeightState> {
    if name.contains("Accl2___") || name.contains("Accl3___") || name.ends_with("/Adam_1") {
        Some(WeightState::Second)
    } else if name.contains("Accl1___")
        || name.contains("Accl___")
        || name.ends_with("/Momentum")
        || name.ends_with("/Adam")
    {
        Some(WeightState::First)
    } else {
        None
    }
}

/// The advice about the optimizer's state, as far as there is any on the tiles that are over.
pub fn candidates<'a>(context: &AdviceContext<'a>) -> Vec<Candidate<'a>> {
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
        .filter(|row| state_of(row.alive.variable) == Some(WeightState::Second))
        .collect();
    let replicas =
        context.report.target.get().and_then(|target| target.replicas).filter(|count| *count > 1);
    let evidence = |rows: &[&AliveAbove]| {
        let evidence = rows.iter().take(MOST_EVIDENCE).map(|row| {
            let name = variable_name(liveness, row.alive.variable);
            Evidence::new(format!("{name}, always live"))
                .bytes(row.most.0)
                .on_place(&row.most.1)
                .of_variable(&name)
        });
        evidence.collect()
    };
    let is_state = move |row: &AliveRow| row.is_always_live && state_of(row.variable).is_some();
    let is_second = move |row: &AliveRow| {
        row.is_always_live && state_of(row.variable) == Some(WeightState::Second)
    };
    let offload = Advice {
        text: "Keep the state of the optimizer off the chip".to_owned(),
        how: how::offloading(),
        evidence: evidence(&rows),
        caution: "Every update causes traffic to streaming memory",
        ..advice_of(IpuTechnique::OffloadVariables)
    };
    let basis = "all of this state moved off the chip";
    let offload = Candidate::at_best(offload, basis, is_state, |_| 0);
    let shard = replicas.map(|replicas| {
        let advice = Advice {
            text: format!("Share the state of the optimizer between the {replicas} replicas"),
            how: how::sharding(),
            evidence: evidence(&rows),
            caution: "Every update needs an exchange between replicas",
            ..advice_of(IpuTechnique::ShardOverReplicas)
        };
        let basis = "the state divided by the replicas";
        Candidate::at_best(advice, basis, is_state, move |bytes| bytes.div_ceil(replicas))
    });
    let less = Advice {
        text: "Use an optimizer with one state variable for each weight, for example momentum"
            .to_owned(),
        how: how::less_state(),
        evidence: evidence(&second),
        caution: "Convergence may change: tune the learning rate again",
        ..advice_of(IpuTechnique::OptimiserWithLessState)
    };
    let less = Candidate::at_best(
        less,
        "the second state variable of every weight freed",
        is_second,
        |_| 0,
    );
    let all = [Some(offload), shard, Some(less)].into_iter().flatten();
    all.filter(|candidate| !candidate.advice.evidence.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_told_by_its_name() {
        assert_eq!(state("Accl1___fc.weight"), Some(WeightState::First));
        assert_eq!(state("Accl2___fc.weight"), Some(WeightState::Second));
        assert_eq!(state("dense/kernel/Adam_1"), Some(WeightState::Second));
        assert_eq!(state("dense/kernel/Momentum"), Some(WeightState::First));
        assert_eq!(state("fc.weight"), None);
        assert_eq!(state("Accum___fc.weight"), None, "gradients are no state of the optimizer");
    }
}
