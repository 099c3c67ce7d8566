//! Conclusions from the figures of a module.

use super::SpaceInsights;
use super::advice::scan::{bytes_of_several, recomputed_at_once};
use super::as_it_ran::while_it_ran;
use crate::run::{Conclusion, Evidence, Outcome, Verdict};
use crate::store::hlo::InstructionId;
use crate::systems::xla::buffer_assignment::program::AnalysedModule;
use crate::systems::xla::layers::is_rematerialised;
use crate::text::{bytes, clean, counted};

/// Names of instructions in evidence.
const MOST_NAMES: usize = 6;

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
    let reserved = verdict.used_bytes.unwrap_or(0);
    if let Some((text, _)) = while_it_ran(program.beside.allocators(), reserved) {
        say("in-use-as-it-ran", text, None);
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
            "{} of results have the types and dimensions of parameters that are kept, and could take their memory",
            bytes(donatable)
        );
        say("donatable", text, None);
    }
    said.extend(checkpoint_without_effect(program, spaces));
    said.extend(rematerialised(program));
    said
}

/// That values which are computed again are alive for several layers at once: as if they had been kept.
fn checkpoint_without_effect(
    program: &AnalysedModule,
    spaces: &[SpaceInsights],
) -> Option<Conclusion> {
    let main = spaces.iter().find(|space| space.color == 0)?;
    let peak = &main.peak.as_ref()?.at;
    let layers = recomputed_at_once(&program.analysed, 0, peak.position);
    let sum = bytes_of_several(&layers, peak.bytes)?;
    let text = format!(
        "The checkpoint of the layers has no effect: {} that are computed again for {} layers are \
        alive at once at the peak",
        bytes(sum),
        layers.len()
    );
    let evidence =
        layers.iter().map(|(layer, bytes)| Evidence::of(layer, *bytes).at_step(peak.position));
    let conclusion = Conclusion::new("checkpoint-without-effect", text);
    Some(Conclusion { evidence: evidence.collect(), ..conclusion })
}

/// That XLA itself computes values again to take less memory: it names them so.
fn rematerialised(program: &AnalysedModule) -> Option<Conclusion> {
    let analysed = &program.analysed;
    let module = &analysed.module;
    let is_again =
        |(_, id): &(u32, &InstructionId)| is_rematerialised(module.instruction_name(**id));
    let all = (0_u32..).zip(&analysed.schedule.instructions);
    let again: Vec<(u32, &InstructionId)> = all.filter(is_again).collect();
    let evidence = again.iter().take(MOST_NAMES);
    let evidence =
        evidence.map(|(step, id)| Evidence::new(module.instruction_name(**id)).at_step(*step));
    let text = format!(
        "XLA itself computes {} again so that the program takes less memory: kept, they would take more",
        counted(again.len() as u64, "value")
    );
    let conclusion = Conclusion::new("xla-rematerialisation", text);
    (!again.is_empty()).then(|| Conclusion { evidence: evidence.collect(), ..conclusion })
}
