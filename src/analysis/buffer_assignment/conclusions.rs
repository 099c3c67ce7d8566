//! What follows from the figures of a module, in sentences.

use super::analysed::Analysed;
use super::facts::ModuleFacts;
use super::peaks::{NO_OPERATION, Owner};
use crate::analysis::allocator::insights::conclusions::Conclusion;
use crate::text::{bytes, clean};

/// Bytes of a space that are worth a sentence: a hundredth of it.
fn is_much(part: u64, whole: u64) -> bool {
    part > 0 && part >= whole / 100
}

/// Memory spaces that are spoken of; programs have up to four.
const MOST_COLORS: usize = 16;

/// The conclusions; `main_owners` are the operations that own the peak of the main memory, `title` says what a memory space is called, `capacity` what the main memory of the device has.
pub fn conclusions(
    analysed: &Analysed,
    facts: &ModuleFacts,
    main_owners: &[Owner],
    title: impl Fn(i64) -> String,
    capacity: Option<u64>,
) -> Vec<Conclusion> {
    let mut said = Vec::new();
    let mut say = |id, text: String| said.push(Conclusion { id, text });
    let main = facts.bytes_by_color.get(&0).copied().unwrap_or(0);
    if let Some(capacity) = capacity {
        let (word, by) = match main.checked_sub(capacity) {
            Some(over) if over > 0 => ("more than", format!(", {} too many", bytes(over))),
            _ => ("within", String::new()),
        };
        let text = format!(
            "The program reserves {} of {}, {word} the {} that the device has{by}",
            bytes(main),
            title(0),
            bytes(capacity)
        );
        say(if main > capacity { "does-not-fit" } else { "fits" }, text);
    }
    for color in analysed.colors().take(MOST_COLORS) {
        let Some(peak) = analysed.temporary_peak(color) else { continue };
        let of_others = match color {
            0 => Vec::new(),
            _ => analysed.operations_at(color, peak.position),
        };
        let owners = if color == 0 { main_owners } else { &of_others };
        let owner = owners.iter().find(|owner| owner.bytes > 0 && owner.name != NO_OPERATION);
        if let Some(owner) = owner {
            let percent = owner.bytes as f64 * 100.0 / peak.bytes.max(1) as f64;
            let text = format!(
                "{} of the {} that are temporary in {} at their peak, {percent:.0} %, come from {}",
                bytes(owner.bytes),
                bytes(peak.bytes),
                title(color),
                clean(&owner.name)
            );
            say("owner-of-peak", text);
        }
        let lost = peak.allocated_bytes.saturating_sub(peak.bytes);
        if is_much(lost, peak.allocated_bytes) {
            let text = format!(
                "{} of the {} of temporary allocations in {} are never in use at once: what packing and alignment lose",
                bytes(lost),
                bytes(peak.allocated_bytes),
                title(color)
            );
            say("lost-to-packing", text);
        }
    }
    for temporary in facts.temp.iter().take(MOST_COLORS) {
        let Some(peak) = &temporary.peak else { continue };
        if is_much(peak.padding_bytes, peak.bytes) {
            let text = format!(
                "What lives at the peak of allocation {} has {} of padding of tiled shapes",
                temporary.allocation,
                bytes(peak.padding_bytes)
            );
            say("padding", text);
        }
    }
    if let Some(donatable) = facts.donatable_bytes.filter(|bytes| is_much(*bytes, main)) {
        let text = format!(
            "{} of results have the shapes of parameters that are kept: donating those would save as much",
            bytes(donatable)
        );
        say("donatable", text);
    }
    said
}
