//! Code that is there several times: equal operations that could share it, and operations of one kind that differ
//! in their proportion and so cannot.
//!
//! Compute sets are equal when their names differ in digits only and they have as many vertices of each type and as
//! many edges. Operations are equal when they have equal compute sets. They could share the code of their internal
//! exchanges, which a report has for each exchange; control code comes on top.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::how;
use super::planned::{by_kind, is_planned, proportions};
use super::{
    AdviceContext, CHANGE, Candidate, Effect, IpuTechnique, LeftOfRow, MOST_EVIDENCE, advice_of,
    operation_title,
};
use crate::analysis::liveness::variable_name;
use crate::analysis::program::operations::{Operation, PROPORTION};
use crate::run::{Advice, Evidence, Proposal};
use crate::store::compute::{ComputeSets, TypeCount};
use crate::store::exchange::CodeOnTiles;
use crate::store::{TileId, UnloweredId};
use crate::text::{grouped, range};

/// The name under which a report counts the code of internal exchanges.
const EXCHANGE_CODE: &str = "internalExchangeCode";

pub fn candidates<'a>(context: &AdviceContext<'a>) -> Vec<Candidate<'a>> {
    [outline(context), one_proportion(context)].into_iter().flatten().collect()
}

/// What two equal compute sets have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct ComputeSetShape<'a> {
    name: String,
    vertices: Vec<(u32, u64)>,
    edges: u64,
    kind: Option<&'a str>,
}

fn shape<'a>(sets: &ComputeSets, row: usize, kind: Option<&'a str>) -> Option<ComputeSetShape<'a>> {
    let counts = sets.vertices_by_type.get(row)?.as_ref()?;
    let vertices = counts.iter().map(|TypeCount { vertex_type, count }| (vertex_type.0, *count));
    let mut vertices: Vec<(u32, u64)> = vertices.collect();
    vertices.sort_unstable();
    let name = sets.names.at(row)?.chars().filter(|c| !c.is_ascii_digit()).collect();
    Some(ComputeSetShape { name, vertices, edges: (*sets.edges.get(row)?)?, kind })
}

/// Groups of equal operations, at least two in each, by position.
fn equal_operations(context: &AdviceContext<'_>) -> Option<Vec<Vec<u32>>> {
    let sets = context.report.compute_sets.get()?;
    let mut shapes: BTreeMap<u32, Option<Vec<ComputeSetShape<'_>>>> = BTreeMap::new();
    for (row, operation) in context.owners.compute_sets.iter().enumerate() {
        let Some(operation) = *operation else { continue };
        let kind = context.owners.operations().get(operation as usize)?.kind.as_deref();
        let known = shapes.entry(operation).or_insert_with(|| Some(Vec::new()));
        // Of an operation with a compute set that cannot be read nothing is known.
        match shape(sets, row, kind) {
            Some(shape) => known.iter_mut().for_each(|known| known.push(shape.clone())),
            None => *known = None,
        }
    }
    let mut groups: HashMap<Vec<ComputeSetShape<'_>>, Vec<u32>> = HashMap::new();
    for (operation, shapes) in shapes {
        if let Some(mut shapes) = shapes {
            shapes.sort();
            groups.entry(shapes).or_default().push(operation);
        }
    }
    let mut groups: Vec<Vec<u32>> = groups.into_values().filter(|group| group.len() > 1).collect();
    groups.sort();
    Some(groups)
}

/// Exchange code of one operation on each of some tiles, in their order.
type CodeByTile = BTreeMap<u32, Vec<u64>>;

fn code_by_operation(context: &AdviceContext<'_>, code: &CodeOnTiles) -> CodeByTile {
    let mut by_operation: CodeByTile = BTreeMap::new();
    for (id, bytes) in &code.exchanges {
        let Some(operation) = context.owners.of_exchange(*id) else { continue };
        let sums = by_operation.entry(operation).or_insert_with(|| vec![0; code.tiles.len()]);
        for (sum, bytes) in sums.iter_mut().zip(bytes) {
            *sum = sum.saturating_add(*bytes);
        }
    }
    by_operation
}

/// What would be saved on each tile if each group had the code of one of its operations, the largest.
fn saved_by_tile(groups: &[Vec<u32>], code: &CodeByTile) -> Vec<u64> {
    let mut saved: Vec<u64> = Vec::new();
    for group in groups {
        let lists: Vec<&Vec<u64>> = group.iter().filter_map(|at| code.get(at)).collect();
        let tiles = lists.iter().map(|list| list.len()).max().unwrap_or(0);
        saved.resize(saved.len().max(tiles), 0);
        for (tile, sum) in saved.iter_mut().enumerate() {
            let of_tile = || lists.iter().filter_map(|list| list.get(tile)).copied();
            let all = of_tile().fold(0_u64, u64::saturating_add);
            *sum = sum.saturating_add(all - of_tile().max().unwrap_or(0).min(all));
        }
    }
    saved
}

fn outline<'a>(context: &AdviceContext<'a>) -> Option<Candidate<'a>> {
    let on_tiles = context.of_tiles.exchange_code?;
    let groups = equal_operations(context)?;
    let code = code_by_operation(context, on_tiles);
    let saved = saved_by_tile(&groups, &code);
    let by_tile: HashMap<TileId, u64> = on_tiles.tiles.iter().copied().zip(saved).collect();
    let worst = &context.pressure.views.first()?.place;
    let at = on_tiles.tiles.iter().position(|tile| Some(*tile) == worst.tile)?;
    let bytes_of = |group: &Vec<u32>| {
        let on_worst = group.iter().filter_map(|operation| code.get(operation)?.get(at));
        on_worst.fold(0_u64, |sum, bytes| sum.saturating_add(*bytes))
    };
    let mut ranked: Vec<(u64, &Vec<u32>)> = groups
        .iter()
        .map(|group| (bytes_of(group), group))
        .filter(|(bytes, _)| *bytes > 0)
        .collect();
    ranked.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let evidence = ranked.iter().take(MOST_EVIDENCE).filter_map(|(bytes, group)| {
        let operations = context.owners.operations();
        let first = operations.get(*group.first()? as usize)?;
        let what = format!(
            "exchange code of {} equal operations, {} and others",
            grouped(group.len() as u64),
            operation_title(first)
        );
        Some(Evidence::new(what).bytes(*bytes).of_operation(Some(first)).on_place(worst))
    });
    let evidence: Vec<Evidence> = evidence.collect();
    if evidence.is_empty() {
        return None;
    }
    let liveness = context.pressure.liveness();
    let variables = liveness.variable_ids.as_slice().iter().copied();
    let exchange_code: HashSet<UnloweredId> =
        variables.filter(|variable| variable_name(liveness, *variable) == EXCHANGE_CODE).collect();
    let left: LeftOfRow<'a> = Box::new(move |view, row| {
        if !exchange_code.contains(&row.variable) {
            return row.bytes;
        }
        let saved = view.place.tile.and_then(|tile| by_tile.get(&tile)).copied();
        row.bytes.saturating_sub(saved.unwrap_or(0))
    });
    let advice = Advice {
        text: "Let equal operations share their code".to_owned(),
        how: how::outlining(),
        evidence,
        caution: "Copies into and out of the shared part cost some cycles",
        ..advice_of(IpuTechnique::OutlineEqualParts)
    };
    Some(Candidate {
        advice,
        effect: Effect::AtBest(left),
        basis: "each group of equal operations keeps the exchange code of one of them; exchanges \
                that already share code are counted as if they did not"
            .to_owned(),
    })
}

/// Operations of one kind whose proportions differ, where code is a quarter or more of what is alive.
fn one_proportion<'a>(context: &AdviceContext<'a>) -> Option<Candidate<'a>> {
    let liveness = context.pressure.liveness();
    let code = context.pressure.alive.iter().filter(|row| {
        let name = variable_name(liveness, row.alive.variable);
        matches!(&*name, "controlCode" | EXCHANGE_CODE | "vertexCode")
    });
    let code = code.fold(0_u64, |sum, row| sum.saturating_add(row.at_worst_bytes));
    if code < context.pressure.alive_bytes / 4 {
        return None;
    }
    let mut kinds: BTreeMap<&str, Vec<&Operation>> = BTreeMap::new();
    for operation in context.owners.operations().iter().filter(|found| is_planned(found)) {
        kinds.entry(operation.kind.as_deref().unwrap_or("")).or_default().push(operation);
    }
    kinds.retain(|_, operations| proportions(operations.iter().copied()).len() > 1);
    let of_kinds = kinds.values().filter_map(|operations| {
        let values = range(&proportions(operations.iter().copied()))?;
        Some(Evidence::new(format!("{} with {values}", by_kind(operations.iter().copied()))))
    });
    let mut evidence: Vec<Evidence> = of_kinds.collect();
    if evidence.is_empty() {
        return None;
    }
    let percent = u128::from(code) * 100 / u128::from(context.pressure.alive_bytes.max(1));
    let tiles = context.pressure.tiles.clone().unwrap_or_default();
    let what = format!("code is {percent} % of what is alive on the tiles that are over");
    evidence.push(Evidence::new(what).on_tiles(&tiles));
    let advice = Advice {
        text: "Keep one availableMemoryProportion for operations that are otherwise equal"
            .to_owned(),
        proposal: Proposal {
            option: Some(PROPORTION),
            direction: Some(CHANGE),
            now: proportions(kinds.values().flatten().copied()),
            ..Proposal::default()
        },
        how: how::proportion("p", &context.verdict.ipus_concerned()),
        evidence,
        caution: "One operation that owns the peak may still need a value of its own",
        ..advice_of(IpuTechnique::OneProportionForEqualOperations)
    };
    let basis = String::new();
    Some(Candidate { advice, effect: Effect::Unknown, basis })
}
