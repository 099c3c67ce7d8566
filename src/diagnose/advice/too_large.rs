//! Advice about one request that is larger than the whole device.

use super::{Finding, Sentence, led_by};
use crate::text::bytes;

/// What helps where no room can be made, however much is freed.
pub fn of(finding: &Finding) -> Option<Vec<Sentence>> {
    let (requested, limit) = (finding.requested_bytes?, finding.limit_bytes?);
    if finding.limit_is_share || requested <= limit {
        return None;
    }
    let blocks = format!(
        "Compute it in blocks: one request of {} is larger than the whole device, which has {}. Nothing that is freed makes \
         room for it.",
        bytes(requested),
        bytes(limit)
    );
    let advice = led_by(
        blocks,
        [
            "Look at the call that asks for it, the last in the traceback: a tensor with a wrong shape, or one that grows with the \
             square of a length (distances of all pairs, scores of attention, one-hot codes, a broadcast).",
            "Use an operation that does not make the whole tensor: attention in blocks (flash attention), the loss in chunks, \
             sparse or lazy forms.",
        ],
    );
    Some(advice)
}
