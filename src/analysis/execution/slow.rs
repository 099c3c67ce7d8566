//! Steps that are both slow and at the peak: what costs time where memory is short.
//!
//! - *Slow* are the longest spans of an IPU that together take half of the cycles of all its spans, those that wait
//!   for others (syncs, beginnings of stream copies) left out.
//! - *At the peak* are those at whose step of liveness at least nine tenths of the most not-always-live bytes of the
//!   IPU (where these are not recorded by IPU, of everything) are alive.

use super::Executed;

/// Spans of all IPUs that are both, ascending; `None` where the report has no liveness.
pub fn slow_at_peak(executed: Executed<'_>, liveness_steps: &[Option<u32>]) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    for ipu in &executed.trace.ipus {
        let curve = executed.curve_of_ipu(ipu.ipu)?;
        let peak = curve.iter().copied().max().unwrap_or(0);
        let is_at_peak = |span: u32| {
            let step = liveness_steps.get(executed.step_of(span as usize)).copied().flatten();
            let bytes = step.and_then(|step| curve.get(step as usize));
            bytes.is_some_and(|bytes| peak > 0 && u128::from(*bytes) * 10 >= u128::from(peak) * 9)
        };
        found.extend(
            slow_spans(executed, ipu.rows.clone()).into_iter().filter(|it| is_at_peak(*it)),
        );
    }
    found.sort_unstable();
    Some(found)
}

/// The slow spans among those of an IPU.
fn slow_spans(executed: Executed<'_>, rows: std::ops::Range<usize>) -> Vec<u32> {
    let trace = executed.trace;
    let activities = executed.activities();
    let is_waiting = |span: usize| {
        let kind = trace.kinds.get(executed.step_of(span)).map(|kind| kind.0 as usize);
        kind.and_then(|kind| activities.get(kind)).is_some_and(|activity| activity.is_waiting())
    };
    let cycles = |span: usize| trace.spans.cycles.get(span).copied().unwrap_or(0);
    let mut spans: Vec<(u64, u32)> = rows
        .filter(|span| !is_waiting(*span))
        .filter_map(|span| Some((cycles(span), u32::try_from(span).ok()?)))
        .collect();
    let all = spans.iter().fold(0_u128, |sum, (cycles, _)| sum + u128::from(*cycles));
    spans.sort_unstable_by_key(|(cycles, span)| (std::cmp::Reverse(*cycles), *span));
    let mut taken = 0_u128;
    let is_wanted = |(cycles, _): &&(u64, u32)| {
        let is_wanted = *cycles > 0 && taken * 2 < all;
        taken += u128::from(*cycles);
        is_wanted
    };
    spans.iter().take_while(is_wanted).map(|(_, span)| *span).collect()
}
