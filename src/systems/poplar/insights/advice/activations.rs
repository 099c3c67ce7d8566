//! Activations: fewer samples at once, and activations that are computed again in place of kept.
//!
//! Kept are variables with a name of their own that are not always live, live through a quarter of all steps or more
//! around the worst step, and not only while one operation runs. Three of them that began to live one after
//! another, as in a forward pass, are evidence; fewer may be anything.

use std::collections::{BTreeSet, HashSet};

use super::how;
use super::proportion::scaled;
use super::{
    AdviceContext, Candidate, Effect, IpuTechnique, LOWER, LeftOfRow, MOST_EVIDENCE, advice_of,
    spare_bytes, spare_text,
};
use crate::analysis::liveness::variable_name;
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::sum_of_rows;
use crate::run::{Advice, Evidence, Proposal};
use crate::store::options::SideFact;
use crate::store::{ClassId, Report, UnloweredId};
use crate::systems::poplar::insights::pressure::{AliveAbove, PlaceView};
use crate::systems::poplar::insights::timeline::AliveRow;

/// Names of the batch in side files, in lower case and without `-`, `_` and spaces.
const BATCH: [&str; 4] = ["batchsize", "batch", "microbatchsize", "microbatch"];

/// How many variables must begin to live one after another.
const LEAST_KEPT: usize = 3;

/// The advice to compute fewer samples at once; `None` where the batch is 1, or most of what is alive is
/// always live.
pub fn smaller_batch<'a>(context: &AdviceContext<'a>) -> Option<Candidate<'a>> {
    let batch = batch(context.report);
    if batch.as_ref().is_some_and(|(_, batch)| *batch <= 1) {
        return None;
    }
    let alive = context.pressure.alive.iter().filter(|row| !row.alive.is_always_live);
    let bytes = alive.fold(0_u64, |sum, row| sum.saturating_add(row.at_worst_bytes));
    if bytes < context.pressure.alive_bytes / 4 {
        return None;
    }
    let tiles = context.pressure.tiles.clone().unwrap_or_default();
    let temporary = Evidence::new("not always live at the worst step of the tiles that are over")
        .bytes(not_always_live_bytes(context.report, &tiles).unwrap_or(bytes));
    let from_file =
        batch.map(|(file, batch)| Evidence::new(format!("batch {batch} in {file}")).in_file(file));
    let enough = batch.and_then(|(_, batch)| enough(context, batch));
    let wanted = batch.map(|(_, batch)| (enough.unwrap_or(batch / 2), batch));
    let what = match wanted {
        Some((wanted, batch)) => {
            format!("Compute fewer samples at once: {wanted} instead of {batch}")
        }
        None => "Compute fewer samples at once, half as many for example".to_owned(),
    };
    let part = wanted.unwrap_or((1, 2));
    let next = wanted.map(|(wanted, _)| wanted - wanted.div_ceil(4)).filter(|next| *next > 0);
    let advice = Advice {
        text: what,
        proposal: Proposal {
            option: Some("batch"),
            direction: Some(LOWER),
            now: wanted.iter().map(|(_, batch)| *batch as f64).collect(),
            suggested: wanted.map(|(wanted, _)| wanted as f64),
            next: next.map(|next| next as f64),
        },
        how: how::smaller_batch(),
        evidence: std::iter::once(temporary.on_tiles(&tiles)).chain(from_file).collect(),
        caution: "Throughput; batch and availableMemoryProportion trade against each other",
        ..advice_of(IpuTechnique::SmallerBatch)
    };
    let (parts, of) = part;
    Some(Candidate {
        advice,
        effect: Effect::Left(
            Box::new(
                move |_, row| {
                    if row.is_always_live { row.bytes } else { scaled(row.bytes, parts, of) }
                },
            ),
            left_of_batch(context, part),
        ),
        basis: format!(
            "expected: {parts}/{of} of everything that is not always live, as if all of it grew \
             with the batch; at least: what is left of that if operations that use half or more \
             of their availableMemoryProportion come to use all of it, because a faster plan fits \
             with fewer samples{}",
            spare_text(enough.is_some(), "code and gaps")
        ),
    })
}

/// What is not always live on some tiles, each at its own worst step; `None` without tiles, or where the report
/// does not say.
fn not_always_live_bytes(report: &Report, tiles: &TileSelection) -> Option<u64> {
    let memory = report.memory.get()?;
    let rows = tiles.iter().map(|tile| memory.tiles.position(tile));
    let rows: Vec<usize> = rows.collect::<Option<_>>()?;
    sum_of_rows(&memory.not_always_live_max, rows.into_iter())
}

/// The largest batch with which the worst tiles would fit.
fn enough(context: &AdviceContext<'_>, batch: u64) -> Option<u64> {
    let views = context.pressure.worst_views();
    let spare = |view: &PlaceView| spare_bytes(context.verdict, view.place.limit_bytes);
    let fits = |wanted: u64| {
        let left = left_of_batch(context, (wanted, batch));
        views.iter().all(|view| view.would_fit(&left, spare(view)))
    };
    // What fits with some samples fits with fewer: between 0, which always may, and the batch of now.
    let (mut least, mut too_many) = (0, batch);
    while too_many - least > 1 {
        let middle = least.midpoint(too_many);
        if fits(middle) {
            least = middle;
        } else {
            too_many = middle;
        }
    }
    (least > 0).then_some(least)
}

/// What is left of each row at most with a part of the batch, as (part, of).
fn left_of_batch<'a>(context: &AdviceContext<'a>, (part, of): (u64, u64)) -> LeftOfRow<'a> {
    let owners = context.owners;
    Box::new(move |view, row| {
        if row.is_always_live {
            return row.bytes;
        }
        let most = owners.variables.of_life(row.class_row).and_then(|at| {
            let proportion = owners.operations().get(at as usize)?.available_memory_proportion?;
            let allowed = (proportion * view.place.limit_bytes as f64) as u64;
            let most = view.temporaries_of(at)?;
            (most.saturating_mul(2) >= allowed).then_some((allowed.max(most), most))
        });
        match most {
            Some((allowed, most)) => scaled(row.bytes, allowed, most),
            None => scaled(row.bytes, part, of).saturating_add(1),
        }
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
pub fn recompute<'a>(context: &AdviceContext<'a>) -> Option<Candidate<'a>> {
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
            .alive_at(context.report, &row.most.1, row.step)
            .of_variable(&name)
    });
    let advice = Advice {
        text: format!(
            "Compute activations again instead of keeping them ({} variables are kept for a \
             quarter of the program or longer)",
            names.len()
        ),
        how: how::recomputation(),
        evidence: evidence.collect(),
        caution: "Only in training; it costs the cycles of a second forward pass, and needs checkpoints",
        ..advice_of(IpuTechnique::RecomputeActivations)
    };
    let wanted: HashSet<(UnloweredId, ClassId)> =
        kept.iter().map(|(row, _)| (row.alive.variable, row.alive.class)).collect();
    let basis = "all of these variables freed; checkpoints stay, and recomputed values live for a \
        short time";
    let is_kept = move |row: &AliveRow| wanted.contains(&(row.variable, row.class));
    Some(Candidate::at_best(advice, basis, is_kept, |_| 0))
}
