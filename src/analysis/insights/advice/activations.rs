//! Activations: fewer samples at once, and activations that are computed again in place of kept.
//!
//! Kept are variables with a name of their own that are not always live, live through a quarter of all steps or more
//! around the worst step, and not only while one operation runs. Three of them that began to live one after
//! another, as in a forward pass, are evidence; fewer may be anything.

use std::collections::{BTreeSet, HashSet};

use super::how;
use super::{
    Advice, Candidate, Context, Direction, Effect, Evidence, Left, MOST_EVIDENCE, Technique,
};
use crate::analysis::insights::pressure::AliveAbove;
use crate::analysis::liveness::variable_name;
use crate::store::options::SideFact;
use crate::store::{ClassId, Report, UnloweredId};

/// Names of the batch in side files, in lower case and without `-`, `_` and spaces.
const BATCH: [&str; 4] = ["batchsize", "batch", "microbatchsize", "microbatch"];

/// How many variables must begin to live one after another.
const LEAST_KEPT: usize = 3;

/// The advice to compute fewer samples at once; `None` where the batch is 1, or most of what is alive is
/// always live.
pub fn smaller_batch<'a>(context: &Context<'a>) -> Option<Candidate<'a>> {
    let batch = batch(context.report);
    if batch.as_ref().is_some_and(|(_, batch)| *batch <= 1) {
        return None;
    }
    let alive = context.pressure.alive.iter().filter(|row| !row.alive.is_always_live);
    let bytes = alive.fold(0_u64, |sum, row| sum.saturating_add(row.at_worst_bytes));
    if bytes < context.pressure.alive_bytes / 4 {
        return None;
    }
    let tiles = context.pressure.tiles().unwrap_or_default();
    let temporary = Evidence::new("not always live at the worst step of the tiles that are over")
        .bytes(bytes)
        .on(&tiles);
    let (what, from_file) = match batch {
        Some((file, batch)) => (
            format!("Compute fewer samples at once: {} in place of {batch}", batch / 2),
            Some(Evidence::new(format!("batch {batch} in {file}")).file(file)),
        ),
        None => ("Compute fewer samples at once, half as many for example".to_owned(), None),
    };
    let left: Left<'a> =
        Box::new(|_, row| if row.is_always_live { row.bytes } else { row.bytes.div_ceil(2) });
    let advice = Advice {
        what,
        option: Some("batch"),
        now: batch.iter().map(|(_, batch)| *batch as f64).collect(),
        suggested: batch.map(|(_, batch)| (batch / 2) as f64),
        direction: Direction::Lower,
        how: how::smaller_batch(),
        evidence: std::iter::once(temporary).chain(from_file).collect(),
        caution: "Throughput; batch and availableMemoryProportion trade against each other",
        ..Advice::of(Technique::SmallerBatch)
    };
    Some(Candidate {
        advice,
        effect: Effect::Left(left),
        is_at_most: false,
        basis: "half of everything that is not always live, as if it all grew with the batch"
            .to_owned(),
    })
}

/// The batch and the file that says it: `app.json` before `framework.json`.
fn batch(report: &Report) -> Option<(&'static str, u64)> {
    let about = report.about.get()?;
    let find = |facts: &[SideFact]| {
        facts.iter().find_map(|fact| {
            let name = fact.path.rsplit(" / ").next()?.to_lowercase();
            let name: String = name.chars().filter(|c| !"-_ ".contains(*c)).collect();
            BATCH.contains(&&*name).then(|| fact.value.trim().parse().ok())?
        })
    };
    let app = find(&about.app).map(|batch| ("app.json", batch));
    app.or_else(|| find(&about.framework).map(|batch| ("framework.json", batch)))
}

/// The advice to compute activations again; `None` without evidence.
pub fn recompute<'a>(context: &Context<'a>) -> Option<Candidate<'a>> {
    let steps = context.report.steps.get()?.ids.len() as u64;
    let liveness = context.pressure.liveness();
    let mut kept: Vec<(&AliveAbove, u32)> = Vec::new();
    for row in &context.pressure.alive {
        let is_anonymous = variable_name(liveness, row.alive.variable).starts_with('<');
        if row.alive.is_always_live
            || is_anonymous
            || context.owners.variables.of_life(row.alive.class_row).is_some()
        {
            continue;
        }
        let mut lives = liveness.classes.ranges_of(row.alive.class_row).iter();
        let life = lives.find(|life| life.contains(&row.step));
        if let Some(life) = life.filter(|life| life.len() as u64 * 4 >= steps) {
            kept.push((row, life.start));
        }
    }
    let starts: BTreeSet<u32> = kept.iter().map(|(_, start)| *start).collect();
    let names: HashSet<_> =
        kept.iter().map(|(row, _)| variable_name(liveness, row.alive.variable)).collect();
    if starts.len() < LEAST_KEPT || names.len() < LEAST_KEPT {
        return None;
    }
    let evidence = kept.iter().take(MOST_EVIDENCE).map(|(row, start)| {
        let name = variable_name(liveness, row.alive.variable);
        let since = context.report.steps.get().and_then(|steps| steps.ids.get(*start as usize));
        let since = since.map_or_else(String::new, |step| format!(", kept since step {step}"));
        Evidence::new(format!("{name}{since}"))
            .bytes(row.most.0)
            .at(context.report, &row.most.1, row.step)
            .variable(&name)
    });
    let advice = Advice {
        what: format!(
            "Compute activations again in place of keeping them ({} variables are kept through a quarter of \
             the program or more)",
            names.len()
        ),
        how: how::recomputation(),
        evidence: evidence.collect(),
        caution: "Only in training; it costs the cycles of a second forward pass, and needs checkpoints",
        ..Advice::of(Technique::RecomputeActivations)
    };
    let wanted: HashSet<(UnloweredId, ClassId)> =
        kept.iter().map(|(row, _)| (row.alive.variable, row.alive.class)).collect();
    let left: Left<'a> =
        Box::new(
            move |_, row| {
                if wanted.contains(&(row.variable, row.class)) { 0 } else { row.bytes }
            },
        );
    Some(Candidate {
        advice,
        effect: Effect::Left(left),
        is_at_most: true,
        basis: "all of these variables gone; checkpoints stay, and what is computed again lives for a while"
            .to_owned(),
    })
}
