//! Fragmented free memory: expandable segments join it, limits on splitting keep large blocks whole, and emptying the
//! cache does not help.

use super::{Ranked, SnapshotTechnique};
use crate::run::{Advice, NotAdvised, SavedOf, Saving};
use crate::systems::pytorch::allocator::expandable::GrownSegments;
use crate::systems::pytorch::allocator::free_pieces::MIDDLE_SEGMENT;
use crate::systems::pytorch::allocator::insights::DeviceInsights;
use crate::systems::pytorch::allocator::insights::context::DeviceContext;
use crate::systems::pytorch::allocator::insights::fragmentation::SnapshotMoment;
use crate::systems::pytorch::allocator::insights::out_of_memory::{OutOfMemory, Shortage};
use crate::systems::pytorch::allocator::replay::EventPeak;
use crate::text::{bytes, counted};

/// Share of what was reserved that must have been too much where nothing failed, in percent.
const LEAST_FREE_PERCENT: u64 = 4;
/// Least blocks that are not split, bytes: the allocator takes no less.
const LEAST_UNSPLIT: u64 = 20 << 20;

/// What joins pieces, where they matter.
pub(super) fn candidates(context: &DeviceContext<'_>, device: &DeviceInsights) -> Vec<Ranked> {
    // Where they are on already, or nothing is known, nothing is said; pools of CUDA graphs have rules of their own.
    let segments = context.snapshot.segments_of(context.device);
    let has_private = segments.iter().any(|segment| segment.pool != (0, 0));
    if device.fragmentation.expandable_segments != Some(false) || has_private {
        return Vec::new();
    }
    match &device.out_of_memory {
        Some(failure) => {
            let expandable = of_failure(context, device, failure);
            let unsplit = limit_splitting(context, failure, expandable.is_some());
            expandable.into_iter().chain(unsplit).collect()
        }
        None => of_reserved(context, device).into_iter().collect(),
    }
}

/// Why emptying the cache does not help, where the run ended for want of memory.
pub(super) fn not_advised(
    context: &DeviceContext<'_>,
    device: &DeviceInsights,
) -> Option<NotAdvised> {
    let failure = device.out_of_memory.as_ref()?;
    let state = context.at_failure.as_ref()?;
    // Segments in which nothing is in use are what could be given back.
    if failure.free_bytes == 0 || state.pieces.iter().any(|piece| piece.is_whole_segment) {
        return None;
    }
    let event = i64::from(failure.event);
    let free = "Free within segments that have blocks in use";
    let mut evidence = vec![context.evidence(free, failure.free_bytes, event)];
    if failure.given_back_bytes > 0 {
        let given_back = "Given back before it failed";
        evidence.push(context.evidence(given_back, failure.given_back_bytes, event));
    }
    Some(NotAdvised {
        id: SnapshotTechnique::EmptyCache.key(),
        why: "torch.cuda.empty_cache() does not help: PyTorch gives empty segments back by itself before it gives up, \
              and every segment that was left has blocks in use"
            .to_owned(),
        evidence,
    })
}

/// What the same requests take in segments that grow.
fn grown(context: &DeviceContext<'_>) -> GrownSegments {
    GrownSegments::of(context.snapshot, context.device, context.lives(), context.ended_by)
}

fn of_failure(
    context: &DeviceContext<'_>,
    device: &DeviceInsights,
    failure: &OutOfMemory,
) -> Option<Ranked> {
    // It helps where the pages in use, with those for the request, are no more than the process may have.
    let left = failure.left_bytes.filter(|_| failure.cause != Shortage::Refused)?;
    let may_have = failure.reserved_bytes.saturating_add(left);
    let needed = grown(context).needed_at_failure.filter(|needed| *needed <= may_have)?;
    let wanted = failure.reserved_bytes.saturating_add(failure.segment_bytes);
    let saved = wanted.saturating_sub(needed);
    let event = i64::from(failure.event);
    let pieces = counted(failure.pieces as u64, "piece");
    let state = device.fragmentation.at(SnapshotMoment::OutOfMemory);
    let address = state.and_then(|state| state.largest_piece_address.clone());
    let evidence = vec![
        context.evidence(format!("Free within segments, in {pieces}"), failure.free_bytes, event),
        context
            .evidence("The largest of them", failure.largest_piece_bytes, event)
            .at(|place| place.address = address),
        context.evidence("The request that failed", failure.requested_bytes, event),
        context.evidence(failure.left_title(), left, event),
    ];
    let text = format!(
        "{} lay free in {pieces} when {} failed. In segments that grow, pages in use and those for the request need {} of \
         the {} that the process may have",
        bytes(failure.free_bytes),
        bytes(failure.requested_bytes),
        bytes(needed),
        bytes(may_have)
    );
    let basis = "expected: pages of 20 MiB (2 MiB for small requests) in which anything was in use, with those for the \
        request; at most: all that was free within segments";
    let technique = SnapshotTechnique::ExpandableSegments;
    let advice = Advice {
        saving: Some(Saving {
            expected_bytes: Some(saved.min(failure.free_bytes)),
            at_most_bytes: Some(failure.free_bytes),
            ..Saving::of(SavedOf::ReservedAtFailure, failure.reserved_bytes, basis)
        }),
        evidence,
        caution: "This request may pass then; what would have come after it is not recorded and may need more",
        ..technique.advice(context, text)
    };
    Some((technique, advice))
}

/// `is_second` where expandable segments are advised.
fn limit_splitting(
    context: &DeviceContext<'_>,
    failure: &OutOfMemory,
    is_second: bool,
) -> Option<Ranked> {
    let is_set = context.snapshot.settings.most_split_bytes.is_some();
    if is_set
        || failure.requested_bytes <= LEAST_UNSPLIT
        || failure.cause != Shortage::NoPieceLargeEnough
    {
        return None;
    }
    let state = context.at_failure.as_ref()?;
    // Of segments that were large enough, what is left of their blocks.
    let large = state.pieces.iter().filter(|piece| !piece.is_small && !piece.is_whole_segment);
    let (count, free) = large
        .fold((0_u64, 0_u64), |(count, sum), piece| (count + 1, sum.saturating_add(piece.bytes)));
    if count == 0 {
        return None;
    }
    let mebibytes = failure.requested_bytes >> 20;
    let unless = if is_second { "If expandable segments cannot be used: blocks" } else { "Blocks" };
    let text = format!(
        "{unless} of {mebibytes} MiB and more are then kept whole for requests of their size"
    );
    let left =
        format!("Free parts of large segments that were split, in {}", counted(count, "piece"));
    let technique = SnapshotTechnique::LimitSplitting;
    let mut advice = Advice {
        evidence: vec![context.evidence(left, free, failure.event.into())],
        caution: "Large blocks are then reused for large requests alone, which can take more from the device",
        ..technique.advice(context, text)
    };
    for how in &mut advice.how {
        how.code = how.code.replace("128", &mebibytes.to_string());
    }
    Some((technique, advice))
}

/// Where nothing failed: what was taken from the device although as much lay free.
fn of_reserved(context: &DeviceContext<'_>, device: &DeviceInsights) -> Option<Ranked> {
    let (reserved, saved) = (device.reserved_peak.bytes, device.fragmentation.most_saved_bytes?);
    let least = MIDDLE_SEGMENT.max(reserved / 100 * LEAST_FREE_PERCENT);
    if context.device.events.is_empty() || saved < least {
        return None;
    }
    let expected = reserved.saturating_sub(grown(context).most.bytes).min(saved);
    if expected < least {
        return None;
    }
    let at = device.fragmentation.at(SnapshotMoment::ReservedPeak);
    let EventPeak { bytes: in_use, event } = context.replay.active_peak;
    let mut evidence = vec![
        context.evidence("Reserved at most", reserved, device.reserved_peak.event),
        context.evidence("In use at most", in_use, event),
    ];
    if let Some(at) = at {
        let pieces = counted(at.pieces as u64, "piece");
        let free = format!("Free where most was reserved, in {pieces}");
        evidence.push(context.evidence(free, at.free_bytes, at.event));
    }
    let text = format!(
        "{} were reserved beyond the most that was ever in use: more was taken from the device \
         while {} lay free in pieces. Expandable segments join them",
        bytes(saved),
        at.map_or_else(|| "much".to_owned(), |at| bytes(at.free_bytes))
    );
    let basis = "expected: the same requests in segments that grow; at most: no setting of the allocator reserves less \
        than the most that is in use";
    let technique = SnapshotTechnique::ExpandableSegments;
    let advice = Advice {
        saving: Some(Saving {
            expected_bytes: Some(expected),
            at_most_bytes: Some(saved),
            ..Saving::of(SavedOf::ReservedPeak, reserved, basis)
        }),
        evidence,
        caution: "It lowers what is reserved, not what is allocated; other streams and private pools keep their own segments",
        ..technique.advice(context, text)
    };
    Some((technique, advice))
}
