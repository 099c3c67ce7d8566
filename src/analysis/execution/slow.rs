//! Steps that are both slow and at the peak: what costs time where memory is short.
//!
//! - *Slow* are the longest spans of an IPU that together take half of the cycles of all its spans, those that wait
//!   for others (syncs, beginnings of stream copies) left out.
//! - *At the peak* are those at whose step of liveness at least nine tenths of the most not-always-live bytes of the
//!   IPU (where these are not recorded by IPU, of everything) are alive.

use std::ops::Range;

use super::{Activities, Executed};

/// The slow spans of all IPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlowSpans {
    /// All of them, ascending.
    pub all: Vec<u32>,
    /// Those at the peak, ascending; none where the report has no liveness.
    pub at_peak: Vec<u32>,
}

/// The slow spans of all IPUs.
pub fn slow_spans(executed: Executed<'_>, liveness_steps: &[Option<u32>]) -> SlowSpans {
    let mut found = SlowSpans::default();
    let activities = executed.activities();
    for device in &executed.trace.devices {
        let curve = executed.curve_of_device(device.device).unwrap_or_default();
        let peak = curve.iter().copied().max().unwrap_or(0);
        let is_at_peak = |span: &u32| {
            let step = liveness_steps.get(executed.step_of(*span as usize)).copied().flatten();
            let bytes = step.and_then(|step| curve.get(step as usize));
            bytes.is_some_and(|bytes| peak > 0 && u128::from(*bytes) * 10 >= u128::from(peak) * 9)
        };
        let slow = slow_of_device(executed, &activities, device.rows.clone());
        found.at_peak.extend(slow.iter().copied().filter(is_at_peak));
        found.all.extend(slow);
    }
    found.all.sort_unstable();
    found.at_peak.sort_unstable();
    found
}

/// The slow spans among those of an IPU.
fn slow_of_device(
    executed: Executed<'_>,
    activities: &Activities<'_>,
    rows: Range<usize>,
) -> Vec<u32> {
    let cycles = |span: usize| executed.trace.spans.cycles.get(span).copied().unwrap_or(0);
    let mut spans: Vec<(u64, u32)> = rows
        .filter(|span| !activities.of_span(*span).is_waiting())
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
