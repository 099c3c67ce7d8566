//! Free memory in pieces that are too small.

use super::{CoreContext, CoreDraft, CoreTechnique};
use crate::diagnose::tenstorrent::TenstorrentVerdict;
use crate::systems::tenstorrent::recorded::BufferSpace;
use crate::text::bytes;

/// To move tensors so that what is free is one piece.
pub fn reallocate(context: &CoreContext<'_, '_>) -> Option<CoreDraft> {
    let moment = context.moment;
    let said = moment.said.as_ref()?;
    let buffer = moment.without_space()?;
    let is_one = said.verdict == TenstorrentVerdict::Fragmented && buffer.is_of_cores();
    let (free, largest) = buffer.free_bytes_per_bank.zip(buffer.largest_free_bytes_per_bank)?;
    // Only what the user has a tensor of can be moved.
    let mut of_l1 = moment.in_space(BufferSpace::L1);
    let all_move = of_l1.all(|(_, reads)| reads.is_visible);
    is_one.then(|| CoreDraft {
        text: format!(
            "{} of a core were free, the largest piece only {}: move tensors before the operation that fails, so that what is \
             free is in one piece",
            bytes(free),
            bytes(largest)
        ),
        expected_bytes: Some(free.saturating_sub(largest)),
        of_bytes: free,
        basis: "what was free outside of the largest piece",
        makes_it_fit: all_move.then_some(true),
        evidence: context.evidence(moment.tensors(BufferSpace::L1)),
        code: "t = ttnn.reallocate(t)  # each tensor below a gap, the highest address first".to_owned(),
        caution: "Each call copies the tensor; every other name for it must be gone before",
        ..CoreDraft::of(CoreTechnique::Reallocate, context)
    })
}
