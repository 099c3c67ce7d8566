//! Sharded tensors on few cores, which take their addresses on all cores.

use super::{CoreContext, CoreDraft, CoreTechnique};
use crate::systems::tenstorrent::insights::decisive::BufferWithReads;
use crate::systems::tenstorrent::recorded::{BufferLayout, BufferSpace};
use crate::text::counted;

/// To give each core a smaller part.
pub fn more_cores(context: &CoreContext<'_, '_>) -> Option<CoreDraft> {
    let banks = context.view.banks(BufferSpace::L1);
    // What it would not take of each core if all had an equal part.
    let lost = |(life, _): &BufferWithReads<'_>| {
        let is_sharded = life.layout.is_some_and(|layout| layout != BufferLayout::Interleaved);
        let equal = life.chip_bytes.filter(|_| is_sharded)?.checked_div(banks)?;
        Some(life.bytes.saturating_sub(equal)).filter(|lost| *lost > 0)
    };
    let few = || context.moment.tensors(BufferSpace::L1).filter(|one| lost(one).is_some());
    let bytes = few().filter_map(|one| lost(&one)).fold(0, u64::saturating_add);
    let (count, cores) = (few().count() as u64, counted(banks, "core"));
    (count > 0).then(|| CoreDraft {
        text: format!(
            "{} the same addresses on the others: smaller shards on more cores need less",
            if count == 1 {
                format!("One sharded tensor lies on only a part of the {cores}, and takes")
            } else {
                let tensors = counted(count, "sharded tensor");
                format!("{tensors} lie on only a part of the {cores}, and take")
            }
        ),
        at_most_bytes: Some(bytes),
        basis: "sharded buffers, less an equal part on every core",
        evidence: context.evidence(few()),
        code: "ttnn.create_sharded_memory_config(shape, core_grid=device.core_grid, strategy=ttnn.ShardStrategy.BLOCK)"
            .to_owned(),
        caution: "The number of tiles has to divide among the cores, and operations may need another program configuration",
        ..CoreDraft::of(CoreTechnique::MoreCores, context)
    })
}
