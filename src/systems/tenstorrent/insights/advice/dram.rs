//! Tensors that wait in L1 while an operation runs that does not need them.

use super::{CoreContext, CoreDraft, CoreTechnique};
use crate::systems::tenstorrent::memory::BufferLife;
use crate::text::{clean, counted};

/// To leave them in DRAM until they are read.
pub fn dram_tensors(context: &CoreContext<'_, '_>) -> Option<CoreDraft> {
    let (view, moment) = (context.view, context.moment);
    let (mut count, mut bytes) = (0_u64, 0_u64);
    for (life, _) in moment.waiting() {
        count = count.saturating_add(1);
        bytes = bytes.saturating_add(life.bytes);
    }
    let is_gone = |life: &BufferLife| moment.waiting().any(|(one, _)| std::ptr::eq(one, life));
    let (verb, them) = if count == 1 { ("is", "it") } else { ("are", "them") };
    let tensors = counted(count, "tensor");
    let text = if moment.is_before_error() {
        let name = moment.error.map_or("the operation", |error| &error.name);
        format!(
            "{tensors} {verb} in L1 when {} fails: what it does not read can be made in DRAM, or moved there before",
            clean(name)
        )
    } else {
        let name = moment.operation.map_or("the operation", |at| view.operation(at).name);
        format!(
            "{tensors} {verb} in L1 while {} runs, which does not need {them}: make {them} in DRAM, or move {them} there in \
             between",
            clean(name)
        )
    };
    (count > 0).then(|| CoreDraft {
        text,
        at_most_bytes: Some(bytes),
        basis: "the buffers in L1 that the operation does not use, as far as the report says",
        makes_it_fit: moment.fits_without(view, is_gone),
        evidence: context.evidence(moment.waiting()),
        code:
            "ttnn.relu(x, memory_config=ttnn.DRAM_MEMORY_CONFIG)  # the operation that makes it\n\
               t = ttnn.to_memory_config(t, ttnn.DRAM_MEMORY_CONFIG)  # or later"
                .to_owned(),
        caution: "Operations that read a tensor from DRAM take longer",
        ..CoreDraft::of(CoreTechnique::DramTensors, context)
    })
}
