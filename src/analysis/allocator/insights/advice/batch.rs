//! What grows with the samples that are computed at once, and with their precision.

use super::{Advice, Technique, about_peak, of_peak};
use crate::analysis::allocator::categories::BlockCategory;
use crate::analysis::allocator::insights::context::Context;
use crate::analysis::allocator::insights::peak::is_undecided;

/// What the forward and backward passes have at the peak.
pub fn candidates(context: &Context<'_>) -> Vec<Advice> {
    [fewer_samples(context), autocast(context)].into_iter().flatten().collect()
}

/// Whether a block is an activation, as far as that can be told.
pub fn may_be_activation(context: &Context<'_>, row: usize) -> bool {
    context.category(row) == BlockCategory::Activation || is_undecided(context, row)
}

/// What activations are called: where nothing tells them from the rest of the forward pass, it is said.
pub fn activations_text(context: &Context<'_>, rows: &[usize]) -> &'static str {
    if rows.iter().any(|row| is_undecided(context, *row)) {
        "what the forward pass had made until then, activations above all"
    } else {
        "activations"
    }
}

fn fewer_samples(context: &Context<'_>) -> Option<Advice> {
    let grows = |row: usize| {
        let signs = context.signs_of(row);
        let is_of_passes = signs.is_forward || (!signs.has_python && !signs.is_optimizer);
        may_be_activation(context, row)
            || (is_of_passes && context.category(row) == BlockCategory::Temporary)
    };
    let rows = context.at_peak(grows);
    let left = |row: usize, bytes: u64| if grows(row) { bytes / 2 } else { bytes };
    let found = about_peak(
        context,
        Technique::FewerSamples,
        (&rows, "Activations and temporaries of forward and backward pass"),
        left,
        "half of what forward and backward pass allocate is left with half of the samples",
    );
    Some(Advice {
        what: format!(
            "{} are activations and temporaries, which grow with the samples that are computed at once: take fewer, and \
             accumulate gradients so that the optimizer sees as many",
            of_peak(context, &rows)
        ),
        caution: "More passes for the same number of samples; batch normalisation sees fewer at once",
        ..found?
    })
}

fn autocast(context: &Context<'_>) -> Option<Advice> {
    let is_activation = |row: usize| may_be_activation(context, row);
    let rows = context.at_peak(is_activation);
    let left = |row: usize, bytes: u64| if is_activation(row) { bytes / 2 } else { bytes };
    let found = about_peak(
        context,
        Technique::Autocast,
        (&rows, "Activations"),
        left,
        "half of the activations is left if all of them are in single precision now, which a snapshot does not say",
    );
    Some(Advice {
        what: format!(
            "{} are {}. If they are in single precision, half of that goes in bfloat16 or half precision",
            of_peak(context, &rows),
            activations_text(context, &rows)
        ),
        caution: "A snapshot does not say of what type a block is; half precision wants a gradient scaler, bfloat16 none",
        ..found?
    })
}
