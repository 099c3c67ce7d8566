//! What a device had in use while a profile was recorded, beside what one program reserves.

use crate::run::VerdictFigure;
use crate::store::hlo::AllocatorFigures;
use crate::text::{bytes, clean};

/// What a device had in use while the profile was recorded, where that is more than a program reserves: as a sentence, and as
/// a figure.
pub(super) fn while_it_ran(
    all: &[AllocatorFigures],
    reserved_bytes: u64,
) -> Option<(String, VerdictFigure)> {
    let most = all.iter().map(|one| one.peak_in_use_bytes).max()?;
    let of = all.iter().find(|one| one.peak_in_use_bytes == most && most > reserved_bytes)?;
    let name = clean(&of.allocator);
    let text = format!(
        "The program alone reserves {}; while the profile was recorded, up to {} of {name} were in use, by all programs and \
         arrays together",
        bytes(reserved_bytes),
        bytes(most)
    );
    Some((
        text,
        VerdictFigure::of("In use as it ran, peak", most, format!("{name}, by all programs")),
    ))
}
