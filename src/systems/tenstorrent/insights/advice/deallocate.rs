//! Tensors that are in L1 after the last operation that reads them.

use super::{CoreContext, CoreDraft, CoreTechnique};
use crate::systems::tenstorrent::insights::places::operation_with_line;
use crate::systems::tenstorrent::memory::facts::RankView;
use crate::systems::tenstorrent::recorded::BufferSpace;
use crate::text::counted;

/// To free them there. In a run that broke off nobody knows who would have read them later.
pub fn deallocate(context: &CoreContext<'_, '_>) -> Option<CoreDraft> {
    let (view, moment) = (context.view, context.moment);
    let (mut count, mut bytes, mut most) = (0_u64, 0_u64, None);
    for (life, reads) in moment.dead() {
        count = count.saturating_add(1);
        bytes = bytes.saturating_add(life.bytes);
        most = most.max(Some((life.bytes, reads.tensor, reads.last)));
    }
    let (_, tensor, last) = most?;
    let after = last.map(|last| operation_with_line(view, last))?;
    let tensor = tensor.map_or_else(|| "the tensor".to_owned(), |id| format!("tensor {id}"));
    let draft = CoreDraft {
        basis: "the buffers that were read before and are not read again",
        evidence: context.evidence(moment.dead()),
        code: format!("ttnn.deallocate(t)  # t is {tensor}; after {after}"),
        caution: "What the next call of the model reads has to stay: weights, caches, results",
        ..CoreDraft::of(CoreTechnique::Deallocate, context)
    };
    let subject = format!(
        "{} of L1 {} after the last operation that reads {}",
        counted(count, "buffer"),
        if count == 1 { "stays" } else { "stay" },
        if count == 1 { "it" } else { "them" },
    );
    Some(if moment.error.is_some() {
        let is_gone = |life: &_| moment.dead().any(|(dead, _)| std::ptr::eq(dead, life));
        CoreDraft {
            text: format!(
                "{subject} in the report, as far as it goes: free what is not read later. The run broke off, so later readers \
                 are not known"
            ),
            at_most_bytes: Some(bytes),
            makes_it_fit: moment.fits_without(view, is_gone).filter(|fits| !fits),
            ..draft
        }
    } else {
        CoreDraft {
            text: format!("{subject}: free {} there", if count == 1 { "it" } else { "them" }),
            expected_bytes: Some(context.l1_bytes().saturating_sub(peak_without_dead(view))),
            ..draft
        }
    })
}

/// The peak of L1 if every tensor were freed after its last reader, bytes of a core.
fn peak_without_dead(view: &RankView<'_>) -> u64 {
    let count = view.memory.levels.len();
    // What changes from operation to operation: bytes that are dead begin to be so, and end.
    let mut changes = vec![0_i128; count.saturating_add(1)];
    let mut add = |at: u32, bytes: i128| {
        if let Some(change) = changes.get_mut((at as usize).min(count)) {
            *change = change.saturating_add(bytes);
        }
    };
    for (life, reads) in view.memory.lives.iter().zip(&view.memory.reads) {
        let is_one = life.key.space == BufferSpace::L1 && reads.is_visible;
        let Some(last) = reads.last.filter(|_| is_one) else { continue };
        let from = last.saturating_add(1).max(life.first);
        let to = life.last().saturating_add(1);
        if from < to {
            add(from, i128::from(life.bytes));
            add(to, i128::from(life.bytes).saturating_neg());
        }
    }
    let mut dead = 0_i128;
    let levels = (0_u32..).zip(changes.iter().take(count)).map(|(at, change)| {
        dead = dead.saturating_add(*change);
        let level = i128::from(view.memory.level(BufferSpace::L1, at));
        u64::try_from(level.saturating_sub(dead)).unwrap_or(0)
    });
    levels.max().unwrap_or(0)
}
