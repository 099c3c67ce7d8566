//! Conclusions from the figures of a module.

use super::SpaceInsights;
use crate::run::{Conclusion, Evidence, Outcome, Verdict};
use crate::systems::xla::buffer_assignment::program::AnalysedModule;
use crate::text::{bytes, clean};

/// Bytes of a space that are worth a sentence: a hundredth of it.
pub fn is_much(part: u64, whole: u64) -> bool {
    part > 0 && part >= whole / 100
}

/// The conclusions: whether it fits, and of each memory space who owns its peak and what is lost.
pub(super) fn conclusions(
    program: &AnalysedModule,
    verdict: &Verdict,
    spaces: &[SpaceInsights],
) -> Vec<Conclusion> {
    let mut said = Vec::new();
    let mut say = |id, text: String, evidence: Option<Evidence>| {
        let evidence = evidence.into_iter().collect();
        said.push(Conclusion { evidence, ..Conclusion::new(id, text) });
    };
    if verdict.outcome != Outcome::Unknown {
        say(verdict.outcome.key(), verdict.text.clone(), None);
    }
    for space in spaces.iter().filter(|space| space.is_large()) {
        let Some(peak) = &space.peak else { continue };
        let (at, title) = (&peak.at, &space.in_text);
        let owner = peak.main_operation();
        if let Some(owner) = owner.filter(|owner| is_much(owner.bytes, at.bytes)) {
            let percent = owner.bytes as f64 * 100.0 / at.bytes.max(1) as f64;
            let text = format!(
                "{} of the {} of temporary values in {title} at their peak, {percent:.0} %, come \
                from {}",
                bytes(owner.bytes),
                bytes(at.bytes),
                clean(&owner.name)
            );
            let evidence = Evidence::of(&*owner.name, owner.bytes).at_step(at.position);
            say("owner-of-peak", text, Some(evidence));
        }
        if is_much(peak.lost_bytes(), at.allocated_bytes) {
            let text = format!(
                "{} of the {} of temporary allocations in {title} are never in use at the same \
                time: packing and alignment lose them",
                bytes(peak.lost_bytes()),
                bytes(at.allocated_bytes),
            );
            say("lost-to-packing", text, None);
        }
        if is_much(peak.padding_bytes, at.bytes) {
            let text = format!(
                "Values alive at the peak of {title} have {} of padding of tiled shapes",
                bytes(peak.padding_bytes)
            );
            say("padding", text, None);
        }
    }
    let donatable = program.analysed.donatable_bytes();
    if is_much(donatable, verdict.used_bytes.unwrap_or(0)) {
        let text = format!(
            "{} of results have the shapes of parameters that are kept: donating those would save as much",
            bytes(donatable)
        );
        say("donatable", text, None);
    }
    said
}
