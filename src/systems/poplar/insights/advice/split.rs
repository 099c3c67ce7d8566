//! Another split of the model: one IPU is full and another is not, or one IPU needs more than twice its memory.

use super::how;
use super::{AdviceContext, Candidate, Effect, IpuTechnique, RAISE, advice_of};
use crate::analysis::liveness::Scope;
use crate::analysis::memory::selection::TileSelection;
use crate::run::{Advice, Evidence, Proposal};
use crate::store::DeviceId;
use crate::systems::poplar::insights::pressure::Covered;
use crate::systems::poplar::insights::sentences::ipu_list;
use crate::systems::poplar::insights::verdict::IpuVerdict;

/// The advice; `None` where no split is worth a thought.
pub fn candidate<'a>(context: &AdviceContext<'a>) -> Option<Candidate<'a>> {
    let failure = context.verdict.failure.as_ref()?;
    let ipus = &context.verdict.ipus;
    let (full, others): (Vec<_>, Vec<_>) = ipus.iter().partition(|ipu| !ipu.fits);
    let of_split = advice_of(IpuTechnique::PipelineAndMoveSplitPoints);
    let (advice, effect, basis) = match &failure.between_ipus {
        Some(between) if between.has_room() => {
            let text = format!(
                "Move a part of the model, about {:.1} % of what they use, from {} to {}",
                between.percent(),
                ipu_list(&between.full),
                ipu_list(&between.others)
            );
            let covered = Covered { bytes: failure.over_bytes, places: 0 };
            let basis = "the part taken evenly from all tiles that the others have room for";
            (Advice { text, ..of_split }, Effect::Known(covered), basis)
        }
        _ => {
            let (now, wanted) = (ipus.len(), ipus_wanted(ipus)?);
            let advice = Advice {
                text: format!("Split the model over more IPUs: {wanted} instead of {now}"),
                proposal: Proposal {
                    option: Some("ipus"),
                    direction: Some(RAISE),
                    now: vec![now as f64],
                    suggested: Some(wanted as f64),
                    next: None,
                },
                ..of_split
            };
            (advice, Effect::Unknown, "")
        }
    };
    let target = context.report.target.get();
    let evidence = full.iter().chain(&others).map(|ipu| {
        let used = ipu.used_bytes.unwrap_or(0);
        let percent = used as f64 * 100.0 / ipu.limit_bytes.max(1) as f64;
        let tiles = TileSelection::of_scope(Scope::Device(DeviceId(ipu.ipu)).tiles(target));
        Evidence::new(format!("IPU {}, {percent:.0} % of its memory", ipu.ipu))
            .bytes(used)
            .on_tiles(&tiles)
    });
    let advice = Advice {
        how: how::split_points(),
        evidence: evidence.collect(),
        caution: "Pipeline stages should take about the same time",
        ..advice
    };
    Some(Candidate { advice, effect, basis: basis.to_owned() })
}

/// On how many IPUs the model would fit if it could be cut anywhere and all grew as it does; `None` where one
/// IPU does not need more than twice its memory (docs/user/advice.md, Limits).
fn ipus_wanted(ipus: &[IpuVerdict]) -> Option<u64> {
    ipus.iter().any(IpuVerdict::needs_split).then_some(())?;
    let used = ipus.iter().filter_map(|ipu| ipu.used_bytes);
    let all = used.fold(0_u64, u64::saturating_add);
    let of_one = ipus.iter().map(|ipu| ipu.limit_bytes).max()?.max(1);
    Some(all.div_ceil(of_one).max(ipus.len() as u64 + 1))
}
