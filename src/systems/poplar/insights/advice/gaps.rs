//! Gaps on the tiles that are over: what placement loses there, by reason.

use super::{AdviceContext, Candidate, Effect, IpuTechnique, MOST_EVIDENCE, advice_of};
use crate::analysis::memory::{gap_bytes, over_limit_bytes};
use crate::analysis::placement::gaps::GapReason;
use crate::run::{Advice, Evidence};
use crate::systems::poplar::insights::pressure::Covered;
use crate::text::grouped;

/// The advice; `None` where nothing is lost to gaps.
pub fn candidate<'a>(context: &AdviceContext<'a>) -> Option<Candidate<'a>> {
    let failure = context.verdict.failure.as_ref().filter(|failure| failure.gap_bytes > 0)?;
    let (memory, target) = (context.report.memory.get()?, context.report.target.get()?);
    let mut covered = Covered::default();
    for row in 0..memory.tiles.len() {
        let over = over_limit_bytes(memory, Some(target), row)?;
        if over > 0 {
            let saved = gap_bytes(memory, row)?.min(over);
            covered.bytes = covered.bytes.saturating_add(saved);
            covered.places = covered.places.saturating_add(u64::from(saved == over));
        }
    }
    let reasons = failure.gaps.iter().flatten().take(MOST_EVIDENCE).map(|lost| {
        let (reason, tiles) = (lost.reason.key(), grouped(lost.tiles));
        let what = format!("gaps ({reason}) on {tiles} of the tiles that are over");
        Evidence::of(what, lost.bytes).on_tiles(&failure.tiles)
    });
    let mut evidence: Vec<Evidence> = reasons.collect();
    if evidence.is_empty() {
        let all = Evidence::of("gaps on the tiles that are over", failure.gap_bytes);
        evidence.push(all.on_tiles(&failure.tiles));
    }
    let most = failure.gaps.iter().flatten().next().map(|lost| lost.reason);
    let advice = Advice {
        text: what_to_do(most).to_owned(),
        evidence,
        caution: "Other gaps may open where variables move",
        ..advice_of(IpuTechnique::LoseLessToGaps)
    };
    Some(Candidate {
        advice,
        effect: Effect::Known(covered),
        basis: "no gaps on the tiles that are over: computed, not tried with a placement"
            .to_owned(),
    })
}

/// What helps against gaps of a reason.
fn what_to_do(reason: Option<GapReason>) -> &'static str {
    match reason {
        Some(GapReason::ElementConstraint) => {
            "Lose less to gaps: with less code on these tiles, data can begin a memory element \
             earlier (data may not share an element with code)"
        }
        Some(GapReason::RegionConstraint) => {
            "Lose less to gaps: use fewer variables that must lie in different regions because \
             they are read at the same time"
        }
        Some(GapReason::Interleaving) => {
            "Lose less to gaps: smaller operands in interleaved memory leave less unused space \
             below it"
        }
        _ => "Lose less to gaps: place fewer and smaller variables on these tiles",
    }
}
