//! Variables that lie on few tiles and fill them: operands of a plan with very little memory, which a higher
//! `availableMemoryProportion` spreads again, or a tensor that was mapped to few tiles.
//!
//! A variable lies on few tiles when a quarter of an IPU's tiles could hold all of it, had each as much as the tile
//! that has most of what is over. That counts where fewer than half of the tiles of the IPU that is over by most are
//! over: else it is not the balance.

use std::collections::HashMap;

use super::how;
use super::planned::{LEAST_PROPORTION, by_kind, hundredths, is_planned, proportions};
use super::{
    AdviceContext, Candidate, Effect, IpuTechnique, LeftOfRow, MOST_EVIDENCE, RAISE, advice_of,
    operation_title,
};
use crate::analysis::liveness::variable_name;
use crate::analysis::program::operations::{Operation, PROPORTION};
use crate::run::{Advice, Evidence, Proposal};
use crate::store::{ClassId, UnloweredId};
use crate::systems::poplar::insights::must_go::operation_of;
use crate::systems::poplar::insights::pressure::AliveAbove;
use crate::text::{grouped, range};

type VariableKey = (UnloweredId, ClassId);

/// A variable on few tiles, as far as it lives in one class.
struct OnFewTiles<'a> {
    row: &'a AliveAbove,
    /// As many tiles as could hold all of it, had each as much as that with most.
    tiles: u64,
    /// What each tile would have if it were spread over all of an IPU.
    share_bytes: u64,
    operation: Option<&'a Operation>,
}

/// The advice to raise the proportion of the operations whose operands lie on few tiles, and to spread other
/// variables.
pub fn candidates<'a>(context: &AdviceContext<'a>) -> Vec<Candidate<'a>> {
    let found = on_few_tiles(context).unwrap_or_default();
    let is_planned = |few: &OnFewTiles<'_>| few.operation.is_some_and(is_planned);
    let (planned, other): (Vec<_>, Vec<_>) = found.into_iter().partition(is_planned);
    [raise(context, &planned), balance(context, &other)].into_iter().flatten().collect()
}

fn on_few_tiles<'a>(context: &AdviceContext<'a>) -> Option<Vec<OnFewTiles<'a>>> {
    let (report, pressure) = (context.report, context.pressure);
    pressure.tiles.as_ref()?;
    let tiles_per_ipu = report.target.get()?.tiles_per_device.filter(|tiles| *tiles > 0)?;
    let worst = context.verdict.failure.as_ref()?.worst_ipu;
    let worst = context.verdict.ipus.iter().find(|ipu| Some(ipu.ipu) == worst)?;
    if worst.tiles_over.saturating_mul(2) >= worst.tiles {
        return None;
    }
    let mut totals: HashMap<VariableKey, u64> = HashMap::new();
    for row in report.liveness.get()?.variable_bytes.as_ref()? {
        let total = totals.entry((row.variable, row.class)).or_default();
        *total = total.saturating_add(row.bytes);
    }
    let few = pressure.alive.iter().filter_map(|row| {
        let bytes = *totals.get(&(row.alive.variable, row.alive.class))?;
        let tiles = bytes.div_ceil(row.most.0.max(1));
        (tiles.saturating_mul(4) <= tiles_per_ipu).then(|| {
            let owners = context.owners;
            let operation = operation_of(pressure, owners, &row.alive);
            OnFewTiles {
                row,
                tiles,
                share_bytes: bytes.div_ceil(tiles_per_ipu),
                operation: operation.and_then(|at| owners.operations().get(at as usize)),
            }
        })
    });
    Some(few.collect())
}

fn spread<'a>(few: &[OnFewTiles<'a>]) -> LeftOfRow<'a> {
    let shares: HashMap<VariableKey, u64> = few
        .iter()
        .map(|few| ((few.row.alive.variable, few.row.alive.class), few.share_bytes))
        .collect();
    Box::new(move |_, row| {
        let share = shares.get(&(row.variable, row.class));
        share.map_or(row.bytes, |share| row.bytes.min(*share))
    })
}

fn evidence(context: &AdviceContext<'_>, few: &OnFewTiles<'_>) -> Evidence {
    let name = variable_name(context.pressure.liveness(), few.row.alive.variable);
    let of = few.operation.map_or_else(String::new, |operation| {
        let value = operation
            .available_memory_proportion
            .map_or_else(String::new, |value| format!(" (availableMemoryProportion {value})"));
        format!(", alive for {}{value}", operation_title(operation))
    });
    let what = format!("{name}, held entirely by {} such tiles{of}", grouped(few.tiles));
    let (bytes, place) = few.row.most;
    Evidence::new(what)
        .bytes(bytes)
        .alive_at(context.report, &place, few.row.step)
        .of_operation(few.operation)
        .of_variable(&name)
}

const BASIS: &str =
    "variables on few tiles spread evenly over the tiles of an IPU, everything else unchanged";

fn raise<'a>(context: &AdviceContext<'a>, few: &[OnFewTiles<'a>]) -> Option<Candidate<'a>> {
    if few.is_empty() {
        return None;
    }
    let mut operations: Vec<&Operation> = Vec::new();
    for operation in few.iter().filter_map(|few| few.operation) {
        if !operations.iter().any(|known| std::ptr::eq(*known, operation)) {
            operations.push(operation);
        }
    }
    let now = proportions(operations.iter().copied());
    let from = range(&now).map_or_else(String::new, |now| format!(" from {now}"));
    // Which value spreads the operands only a new report says: the least that PopLibs advises, else twice that of now.
    let twice = |value: f64| hundredths((value * 2.0).clamp(LEAST_PROPORTION, 1.0));
    let highest = now.last().copied();
    let suggested = highest.map(twice).filter(|to| Some(*to) > highest);
    let next = suggested.map(twice).filter(|next| Some(*next) > suggested);
    let to = suggested.map_or_else(String::new, |to| format!(" to {to}"));
    let and_next =
        next.map_or_else(String::new, |next| format!(" (if that is not enough, {next} next)"));
    let warned = context.at_minimum.iter().map(|warned| {
        let what = format!("the planner is at its minimum memory, according to {}", warned.file);
        Evidence::new(what).in_file(&warned.file)
    });
    let advice = Advice {
        text: format!(
            "Raise availableMemoryProportion{from}{to}{and_next} for the operations whose operands lie on few tiles ({})",
            by_kind(operations.iter().copied())
        ),
        proposal: Proposal {
            option: Some(PROPORTION),
            direction: Some(RAISE),
            now,
            suggested,
            next,
        },
        how: how::proportion(
            &suggested.map_or_else(|| "p".to_owned(), |to| to.to_string()),
            &context.verdict.ipus_concerned(),
        ),
        evidence: few
            .iter()
            .take(MOST_EVIDENCE)
            .map(|few| evidence(context, few))
            .chain(warned)
            .collect(),
        caution: "Temporaries grow with it: raise it step by step, and check the peaks each time",
        ..advice_of(IpuTechnique::RaiseAvailableMemoryProportion)
    };
    let basis = BASIS.to_owned();
    Some(Candidate { advice, effect: Effect::AtBest(spread(few)), basis })
}

fn balance<'a>(context: &AdviceContext<'a>, few: &[OnFewTiles<'a>]) -> Option<Candidate<'a>> {
    if few.is_empty() {
        return None;
    }
    let advice = Advice {
        text: "Spread the variables that lie on few tiles over all of them".to_owned(),
        how: how::spread_over_tiles(),
        evidence: few.iter().take(MOST_EVIDENCE).map(|few| evidence(context, few)).collect(),
        caution: "Spread variables must be exchanged where they are used",
        ..advice_of(IpuTechnique::BalanceTheTiles)
    };
    let basis = BASIS.to_owned();
    Some(Candidate { advice, effect: Effect::AtBest(spread(few)), basis })
}
