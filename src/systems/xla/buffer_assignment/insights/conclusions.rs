//! What follows from the figures of a module, in sentences.

use super::{ProgramFit, ProgramVerdict, SpaceInsights};
use crate::systems::pytorch::allocator::insights::conclusions::Conclusion;
use crate::systems::xla::buffer_assignment::program::Program;
use crate::text::{bytes, clean};

/// Bytes of a space that are worth a sentence: a hundredth of it.
pub fn is_much(part: u64, whole: u64) -> bool {
    part > 0 && part >= whole / 100
}

/// The conclusions: whether it fits, and of each memory space who owns its peak and what is lost.
pub(super) fn conclusions(
    program: &Program,
    verdict: &ProgramVerdict,
    spaces: &[SpaceInsights],
) -> Vec<Conclusion> {
    let mut said = Vec::new();
    let mut say = |id, text: String| said.push(Conclusion { id, text });
    if verdict.outcome != ProgramFit::NotKnown {
        say(verdict.outcome.key(), verdict.reason.clone());
    }
    for space in spaces.iter().filter(|space| space.is_large()) {
        let Some(peak) = &space.peak else { continue };
        let (at, title) = (&peak.at, &space.in_text);
        let owner = peak.main_operation();
        if let Some(owner) = owner.filter(|owner| is_much(owner.bytes, at.bytes)) {
            let percent = owner.bytes as f64 * 100.0 / at.bytes.max(1) as f64;
            let text = format!(
                "{} of the {} that are temporary in {title} at their peak, {percent:.0} %, come from {}",
                bytes(owner.bytes),
                bytes(at.bytes),
                clean(&owner.name)
            );
            say("owner-of-peak", text);
        }
        if is_much(peak.lost_bytes(), at.allocated_bytes) {
            let text = format!(
                "{} of the {} of temporary allocations in {title} are never in use at once: what packing and alignment lose",
                bytes(peak.lost_bytes()),
                bytes(at.allocated_bytes),
            );
            say("lost-to-packing", text);
        }
        if is_much(peak.padding_bytes, at.bytes) {
            let text = format!(
                "What lives at the peak of {title} has {} of padding of tiled shapes",
                bytes(peak.padding_bytes)
            );
            say("padding", text);
        }
    }
    let donatable = program.analysed.donatable_bytes();
    if is_much(donatable, verdict.total_bytes) {
        let text = format!(
            "{} of results have the shapes of parameters that are kept: donating those would save as much",
            bytes(donatable)
        );
        say("donatable", text);
    }
    said
}
