//! Circular buffers that are too large for what is left of a core.

use super::{CoreContext, CoreDraft, CoreTechnique};
use crate::diagnose::tenstorrent::TenstorrentForm;
use crate::run::Evidence;
use crate::systems::tenstorrent::insights::places::at_operation;
use crate::systems::tenstorrent::memory::scratch_facts::fullest;
use crate::text::{bytes, clean};

/// To compute in smaller blocks.
pub fn smaller_blocks(context: &CoreContext<'_, '_>) -> Option<CoreDraft> {
    let (evidence, scratch, text) = of_error(context).or_else(|| of_fullest(context))?;
    Some(CoreDraft {
        text,
        at_most_bytes: Some(scratch),
        of_bytes: context.in_use_bytes().max(scratch),
        basis: "all circular buffers of the program; some have to stay",
        evidence: vec![evidence],
        code: "program_config=ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(\n    in0_block_w=1, per_core_M=…, per_core_N=…, \
               …)  # smaller than now"
            .to_owned(),
        caution: "Smaller blocks read the operands more often; per_core_M and per_core_N go with the number of cores",
        ..CoreDraft::of(CoreTechnique::SmallerBlocks, context)
    })
}

/// Those that did not fit.
fn of_error(context: &CoreContext<'_, '_>) -> Option<(Evidence, u64, String)> {
    let (view, moment) = (context.view, context.moment);
    let (scratch, is_alone) = match moment.said.as_ref()?.form {
        TenstorrentForm::Clash { scratch_bytes_per_core, .. } => (scratch_bytes_per_core?, false),
        TenstorrentForm::BeyondCore { scratch_bytes_per_core, .. } => {
            (scratch_bytes_per_core?, true)
        }
        _ => return None,
    };
    let name = moment.error.map_or_else(String::new, |error| clean(&error.name).into_owned());
    let text = if is_alone {
        format!(
            "The circular buffers of {name} alone, {}, are more than a core has: only smaller blocks help",
            bytes(scratch)
        )
    } else {
        format!("The circular buffers of {name} take {}: smaller blocks leave more", bytes(scratch))
    };
    let evidence = Evidence::of(format!("circular buffers of {name}, by the error"), scratch);
    let evidence = match moment.error.and_then(|error| error.operation) {
        Some(at) => at_operation(evidence, view, moment.device, at),
        None => evidence.at(|place| place.device = Some(moment.device)),
    };
    Some((evidence, scratch, text))
}

/// Those with which most of a core is taken, where nothing failed and they are the larger part of it.
fn of_fullest(context: &CoreContext<'_, '_>) -> Option<(Evidence, u64, String)> {
    let known = fullest(context.view).filter(|_| context.moment.error.is_none())?;
    let at = known.program.moment.operation;
    let is_larger_part = known.bytes >= known.in_use_bytes().saturating_sub(known.bytes);
    let name = clean(context.view.operation(at).name).into_owned();
    let text = format!(
        "The circular buffers of {name} take {} where a core is fullest: smaller blocks leave more",
        bytes(known.bytes)
    );
    let evidence = Evidence::of(format!("circular buffers of {name}"), known.bytes);
    let evidence = at_operation(evidence, context.view, context.moment.device, at);
    is_larger_part.then_some((evidence, known.bytes, text))
}
