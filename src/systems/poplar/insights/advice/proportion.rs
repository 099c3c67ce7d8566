//! A lower `availableMemoryProportion` for the operations whose temporaries own the peaks, and when that
//! changes nothing: where the planner is at the minimum of memory, or the value is as low as PopLibs advises.
//!
//! An operation owns a peak where more than the aim ([`crate::systems::poplar::insights::pressure`]) is alive while its
//! temporaries are. Its log does not name the operations that a plan with the minimum of memory was taken for; it
//! is those whose temporaries are more than their proportion allows.

use super::how;
use super::planned::{LEAST_PROPORTION, by_kind, hundredths, is_planned, proportions};
use super::{
    AdviceContext, Candidate, Effect, IpuTechnique, LOWER, LeftOfRow, MOST_EVIDENCE, advice_of,
    operation_title, spare_bytes, spare_text,
};
use crate::analysis::program::operations::{Operation, PROPORTION};
use crate::run::{Advice, Evidence, NotAdvised, Proposal};
use crate::systems::poplar::insights::pressure::OperationPressure;
use crate::systems::poplar::insights::verdict::TilesVerdict;
use crate::text::{grouped, range};

type Pressed<'a> = (&'a OperationPressure, &'a Operation);

/// The advice to lower the proportion, and why it would not help some operations.
pub fn lower<'a>(context: &AdviceContext<'a>) -> (Option<Candidate<'a>>, Vec<NotAdvised>) {
    let operations = context.owners.operations();
    let owners = context.pressure.operations.iter().filter_map(|pressure| {
        let operation = operations.get(pressure.operation as usize)?;
        is_planned(operation).then_some((pressure, operation))
    });
    let (stuck, free): (Vec<Pressed<'a>>, Vec<Pressed<'a>>) =
        owners.partition(|owner| is_at_minimum(context, owner));
    let (lowest, free): (Vec<Pressed<'a>>, Vec<Pressed<'a>>) =
        free.into_iter().partition(|owner| {
            owner.1.available_memory_proportion.is_some_and(|value| value <= LEAST_PROPORTION)
        });
    let not_advised = [not_when_at_minimum(context, &stuck), not_below_least(context, &lowest)];
    (candidate(context, &free), not_advised.into_iter().flatten().collect())
}

/// Whether the log warns, and the operation takes more than its proportion allows.
pub fn is_at_minimum(context: &AdviceContext<'_>, (pressure, operation): &Pressed<'_>) -> bool {
    let Some(proportion) = operation.available_memory_proportion else { return false };
    let allowed = proportion * pressure.at.0.limit_bytes as f64;
    !context.at_minimum.is_empty() && pressure.temporary_bytes as f64 > allowed
}

fn candidate<'a>(context: &AdviceContext<'a>, owners: &[Pressed<'a>]) -> Option<Candidate<'a>> {
    let wanted = |owner| wanted(owner, context.verdict);
    let wanted = owners.iter().map(wanted).min_by(f64::total_cmp)?;
    let (suggested, leaves_spare) = (wanted.max(LEAST_PROPORTION), wanted >= LEAST_PROPORTION);
    let now = proportions(owners.iter().map(|(_, operation)| *operation));
    let from = range(&now).map_or_else(String::new, |now| format!(" from {now}"));
    let next = hundredths(suggested * NEXT).max(LEAST_PROPORTION);
    let next = Some(next).filter(|next| *next < suggested);
    let and_next =
        next.map_or_else(String::new, |next| format!(" (if that is not enough, {next} next)"));
    let advice = Advice {
        text: format!(
            "Lower availableMemoryProportion{from} to {suggested}{and_next} for the operations whose \
             temporaries own the peaks ({})",
            by_kind(owners.iter().map(|(_, operation)| *operation))
        ),
        proposal: Proposal {
            option: Some(PROPORTION),
            direction: Some(LOWER),
            now,
            suggested: Some(suggested),
            next,
        },
        how: how::proportion(&suggested.to_string(), &context.verdict.ipus_concerned()),
        evidence: owners.iter().take(MOST_EVIDENCE).map(|owner| evidence(context, owner)).collect(),
        caution: "Plans get slower and need more exchange and control code, which is always live; \
                  very small values crowd a few tiles",
        ..advice_of(IpuTechnique::LowerAvailableMemoryProportion)
    };
    Some(Candidate {
        advice,
        effect: Effect::Left(
            left_at(context, owners, suggested, false),
            left_at(context, owners, suggested, true),
        ),
        basis: format!(
            "expected: the temporaries of these operations shrunk to {suggested} of a tile's \
             memory where they are at least a tenth above it, everything else unchanged; at \
             least: only those of operations that have to give up {:.0} % or less{}",
            SURE_SHARE * 100.0,
            spare_text(leaves_spare, "code of smaller plans, and gaps")
        ),
    })
}

/// How far the value to try next is below the first.
const NEXT: f64 = 0.85;
/// How small a plan can be no report says. From this proportion on, and where no more than this share of the
/// temporaries has to go, it is taken to be there.
const SURE_PROPORTION: f64 = 0.15;
const SURE_SHARE: f64 = 0.5;
/// How many times more than it may a plan takes at least, for the fullest tile has more than the planner's estimate;
/// and from where on it is not the estimate but operands on few tiles, so that a smaller plan promises nothing.
const LEAST_EXCESS: f64 = 1.1;
const MOST_EXCESS: f64 = 1.25;

/// What is left of each row at a proportion. Where it must be `sure`, operations of which it is not known that
/// they have such a plan keep what they have.
fn left_at<'a>(
    context: &AdviceContext<'a>,
    owners: &[Pressed<'a>],
    proportion: f64,
    must_be_sure: bool,
) -> LeftOfRow<'a> {
    let operations = context.owners;
    let mut of_operation: Vec<Option<f64>> = vec![None; operations.operations().len()];
    for owner in owners {
        if let Some(of_owner) = of_operation.get_mut(owner.0.operation as usize) {
            *of_owner = Some(excess(owner));
        }
    }
    Box::new(move |view, row| {
        let operation = operations.variables.of_life(row.class_row);
        let found = operation.and_then(|operation| {
            Some(((*of_operation.get(operation as usize)?)?, view.temporaries_of(operation)?))
        });
        let Some((excess, most)) = found else { return row.bytes };
        let aim = (proportion * excess * view.place.limit_bytes as f64) as u64;
        let is_sure = proportion >= SURE_PROPORTION
            && excess <= MOST_EXCESS
            && aim as f64 >= (1.0 - SURE_SHARE) * most as f64;
        if most <= aim || (must_be_sure && !is_sure) {
            return row.bytes;
        }
        scaled(row.bytes, aim, most)
    })
}

/// How many times more than its proportion allows an operation takes, [`LEAST_EXCESS`] at least.
fn excess((pressure, operation): &Pressed<'_>) -> f64 {
    let limit = pressure.at.0.limit_bytes as f64;
    let allowed = operation.available_memory_proportion.map(|proportion| proportion * limit);
    let allowed = allowed.filter(|allowed| *allowed > 0.0);
    let excess = allowed.map_or(0.0, |allowed| pressure.temporary_bytes as f64 / allowed);
    excess.max(LEAST_EXCESS)
}

/// The largest proportion, in hundredths, with which an operation's temporaries would leave enough, and something
/// to spare; lower than that of now.
fn wanted(owner: &Pressed<'_>, verdict: &TilesVerdict) -> f64 {
    let (pressure, operation) = owner;
    let limit = pressure.at.0.limit_bytes;
    let aim = pressure.aim_bytes.saturating_sub(spare_bytes(verdict, limit));
    let needed = aim as f64 / (limit.max(1) as f64 * excess(owner));
    let below_now = operation.available_memory_proportion.map_or(1.0, |now| now * 0.9);
    hundredths(needed.min(below_now))
}

/// `bytes` × `aim` ÷ `most`.
pub fn scaled(bytes: u64, aim: u64, most: u64) -> u64 {
    let scaled = u128::from(bytes) * u128::from(aim) / u128::from(most.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

fn evidence(context: &AdviceContext<'_>, (pressure, operation): &Pressed<'_>) -> Evidence {
    let value = operation
        .available_memory_proportion
        .map_or_else(String::new, |value| format!(" (availableMemoryProportion {value})"));
    Evidence::new(format!("temporaries of {}{value}", operation_title(operation)))
        .bytes(pressure.temporary_bytes)
        .alive_at(context.report, &pressure.at.0, pressure.at.1)
        .of_operation(Some(operation))
}

fn not_when_at_minimum(context: &AdviceContext<'_>, stuck: &[Pressed<'_>]) -> Option<NotAdvised> {
    if stuck.is_empty() {
        return None;
    }
    let values = proportions(stuck.iter().map(|(_, operation)| *operation));
    let values = range(&values).unwrap_or_default();
    let logs = context.at_minimum.iter().map(|warned| {
        let times = if warned.count == 1 { "once" } else { "times" };
        let count = if warned.count == 1 { String::new() } else { grouped(warned.count) + " " };
        Evidence::new(format!(
            "\"unable to meet memory target\" {count}{times} in {}, first in line {}",
            warned.file, warned.line
        ))
        .in_file(&warned.file)
    });
    Some(NotAdvised {
        id: IpuTechnique::LowerAvailableMemoryProportion.key(),
        why: format!(
            "An availableMemoryProportion below {values} changes nothing for the operations that \
             own the peaks ({}): the planner is already at its minimum memory",
            by_kind(stuck.iter().map(|(_, operation)| *operation))
        ),
        evidence: logs
            .chain(stuck.iter().take(MOST_EVIDENCE).map(|owner| evidence(context, owner)))
            .collect(),
    })
}

fn not_below_least(context: &AdviceContext<'_>, lowest: &[Pressed<'_>]) -> Option<NotAdvised> {
    if lowest.is_empty() {
        return None;
    }
    Some(NotAdvised {
        id: IpuTechnique::LowerAvailableMemoryProportion.key(),
        why: format!(
            "PopLibs advises against an availableMemoryProportion below {LEAST_PROPORTION}, and the \
             operations that own the peaks are there already ({})",
            by_kind(lowest.iter().map(|(_, operation)| *operation))
        ),
        evidence: lowest.iter().take(MOST_EVIDENCE).map(|owner| evidence(context, owner)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scaling_stays_within_the_aim(
            most in 1..u64::MAX,
            aim in any::<u64>(),
            part in 0..=1000_u64,
        ) {
            let aim = aim % most;
            let bytes = u64::try_from(u128::from(most) * u128::from(part) / 1000).unwrap_or(most);
            let found = scaled(bytes, aim, most);
            prop_assert!(found <= bytes && found <= aim);
            prop_assert_eq!(scaled(most, aim, most), aim);
        }
    }
}
