//! Pairs that follow from those of steps: programs, what these run, and what no step visits.

use std::cmp::Reverse;

use crate::store::Report;
use crate::store::exchange::{ExchangeKind, Exchanges, Transfer};

use super::names::{combine, hash};
use super::occurrence::{of_unnamed, pair_by_name, pair_equal};
use super::pairs::{Pairs, Sureness};
use super::program_keys::ProgramKeys;
use super::step_keys::StepKeys;

/// Pairs what paired rows refer to. Where a row could have several partners, it gets the surest one, and
/// of those that which it has most pairs of rows in common with.
fn follow(
    pairs: &mut Pairs,
    leaders: &Pairs,
    source: impl Fn(usize) -> Option<usize>,
    target: impl Fn(usize) -> Option<usize>,
) {
    let referred = |(from, to)| Some(((source(from)?, target(to)?), leaders.sureness(from)?));
    let mut all: Vec<((usize, usize), Sureness)> = leaders.iter().filter_map(referred).collect();
    all.sort_unstable();
    let mut choices: Vec<_> = all
        .chunk_by(|one, other| one.0 == other.0)
        .filter_map(|equal| {
            let ((from, to), surest) = *equal.first()?;
            // The sum does not tell the source from the target.
            Some((surest, Reverse(equal.len()), from + to, from, to))
        })
        .collect();
    choices.sort_unstable();
    for (sureness, _, _, from, to) in choices {
        pairs.pair(from, to, sureness);
    }
}

/// Programs: as their steps are paired; those that no step visits by kind, name and debug contexts, in
/// order.
pub fn match_programs(steps: &Pairs, source: &StepKeys<'_>, target: &StepKeys<'_>) -> Pairs {
    let mut pairs = Pairs::new(source.programs().len(), target.programs().len());
    follow(&mut pairs, steps, |step| source.program_row(step), |step| target.program_row(step));
    let (from, to) = (unvisited(source), unvisited(target));
    let mut pair = |key: fn(&ProgramKeys) -> u64, sureness: Sureness| {
        let rest = |rows: &[usize], keys: &[ProgramKeys], is_free: &dyn Fn(usize) -> bool| {
            let free = rows.iter().filter(|row| is_free(**row));
            free.filter_map(|row| Some((key(keys.get(*row)?), *row))).collect::<Vec<_>>()
        };
        let from = rest(&from, source.programs(), &|row| pairs.target_of(row).is_none());
        let to = rest(&to, target.programs(), &|row| pairs.source_of(row).is_none());
        pair_equal(&mut pairs, from, to, |first, source_count, target_count| {
            let is_named = source.programs().get(first).is_some_and(|keys| keys.name.exact != 0);
            let of_name = if is_named { sureness } else { of_unnamed(source_count, target_count) };
            Some(of_name.max(sureness))
        });
    };
    pair(|keys| combine(combine(keys.kind, keys.name.exact), keys.contexts), Sureness::Exact);
    pair(|keys| combine(combine(keys.kind, keys.name.model), keys.contexts), Sureness::Likely);
    pairs
}

fn unvisited(steps: &StepKeys<'_>) -> Vec<usize> {
    let visited = (0..steps.len()).filter_map(|step| steps.program_row(step));
    others(visited, steps.programs().len())
}

/// Compute sets: as the programs that run them are paired, the rest by name.
pub fn match_compute_sets(programs: &Pairs, source: &Report, target: &Report) -> Pairs {
    let (Some(from), Some(to)) = (source.compute_sets.get(), target.compute_sets.get()) else {
        return Pairs::default();
    };
    let mut pairs = Pairs::new(from.ids.len(), to.ids.len());
    let run = |report: &Report, program: usize| {
        let id = report.programs.get()?.compute_sets.get(program).copied().flatten()?;
        report.compute_sets.get()?.ids.position(id)
    };
    follow(&mut pairs, programs, |program| run(source, program), |program| run(target, program));
    pair_by_name(&mut pairs, &from.names, &to.names);
    pairs
}

/// Exchanges: as the programs that run them are paired; those that no program runs by what they move.
pub fn match_exchanges(programs: &Pairs, source: &Report, target: &Report) -> Pairs {
    let (Some(from), Some(to)) = (source.exchanges.get(), target.exchanges.get()) else {
        return Pairs::default();
    };
    let mut pairs = Pairs::new(from.ids.len(), to.ids.len());
    let run = |report: &Report, program: usize| {
        let id = report.programs.get()?.exchanges.get(program).copied().flatten()?;
        report.exchanges.get()?.position(id)
    };
    follow(&mut pairs, programs, |program| run(source, program), |program| run(target, program));
    pair_equal(&mut pairs, not_run(source, from), not_run(target, to), |first, source, target| {
        let is_named = !from.transfers_of(first).is_empty();
        Some(if is_named { Sureness::Exact } else { of_unnamed(source, target) })
    });
    pairs
}

/// The exchanges that no program runs, as (kind and transfers, row).
fn not_run(report: &Report, exchanges: &Exchanges) -> Vec<(u64, usize)> {
    let of_programs = report.programs.get().map_or(&[][..], |programs| &programs.exchanges);
    let run = of_programs.iter().flatten().filter_map(|id| exchanges.position(*id));
    let key = |row: usize| {
        let kind = match exchanges.ids.get(row)?.kind {
            ExchangeKind::Internal => 1,
            ExchangeKind::Global => 2,
            ExchangeKind::Host => 3,
        };
        let ends = |key, transfer: &Transfer| {
            combine(combine(key, hash(&transfer.source)), hash(&transfer.destination))
        };
        Some((exchanges.transfers_of(row).iter().fold(kind, ends), row))
    };
    others(run, exchanges.ids.len()).into_iter().filter_map(key).collect()
}

/// The rows, of so many, that are not among these.
fn others(rows: impl Iterator<Item = usize>, len: usize) -> Vec<usize> {
    let mut is_among = vec![false; len];
    for row in rows {
        if let Some(is_among) = is_among.get_mut(row) {
            *is_among = true;
        }
    }
    (0..).zip(is_among).filter(|(_, is_among)| !is_among).map(|(row, _)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_pairs_in_common_decide() {
        let mut steps = Pairs::new(5, 5);
        for step in 0..5 {
            assert!(steps.pair(step, step, Sureness::Likely));
        }
        // The first step of the source visits the program that the third and fourth visit, too.
        let (source, target) = ([0, 1, 0, 0, 2], [1, 2, 0, 0, 2]);
        let mut programs = Pairs::new(3, 3);
        follow(
            &mut programs,
            &steps,
            |step| source.get(step).copied(),
            |step| target.get(step).copied(),
        );
        assert_eq!(programs.iter().collect::<Vec<_>>(), [(0, 0), (1, 2)]);
    }

    #[test]
    fn what_is_not_among_them() {
        assert_eq!(others([3, 0, 9].into_iter(), 5), [1, 2, 4]);
    }
}
