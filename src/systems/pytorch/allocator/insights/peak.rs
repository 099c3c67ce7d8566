//! The owners of the peak of the requested curve: user frames, functions, modules, categories with their rules, and the
//! phase that it lies in. Where no backward pass follows, categories cannot tell activations from what is temporary,
//! and it is said how many bytes that is about.

use serde::Serialize;

use super::context::DeviceContext;
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::peak::{CategoryAtPeak, FrameBytes};
use crate::systems::pytorch::allocator::phases::PhaseOfEvent;
use crate::text::bytes;

/// Frames, functions and modules that are listed.
const MOST_LISTED: usize = 50;

/// Who owns the peak.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeakInsights {
    /// Bytes that were asked for.
    pub bytes: u64,
    /// The event; −1 is before the first.
    pub event: i64,
    /// Blocks that are alive.
    pub blocks: u64,
    /// The phase that it lies in.
    pub phase: Option<PhaseOfEvent>,
    pub by_category: Vec<CategoryAtPeak>,
    /// By user frame, most bytes first.
    pub by_frame: Vec<FrameBytes>,
    pub by_function: Vec<FrameBytes>,
    /// By module of `torch.nn`.
    pub by_module: Vec<FrameBytes>,
    /// Frames that are not listed.
    pub more_frames: usize,
    /// Of what is temporary or unknown by the rules, what may be activations: nothing tells.
    pub undecided_bytes: u64,
    /// What the categories cannot say, in a sentence.
    pub note: Option<String>,
}

impl PeakInsights {
    pub fn of(context: &DeviceContext<'_>) -> Self {
        let contents = &context.peak;
        let listed = |rows: &[FrameBytes]| rows.iter().take(MOST_LISTED).cloned().collect();
        let undecided = context.at_peak(|row| is_undecided(context, row));
        let undecided_bytes = context.bytes_of(&undecided);
        Self {
            bytes: contents.bytes,
            event: contents.event,
            blocks: contents.blocks,
            phase: context.phase(contents.event),
            by_category: contents.by_category.clone(),
            by_frame: listed(&contents.by_frame),
            by_function: listed(&contents.by_function),
            by_module: listed(&contents.by_module),
            more_frames: contents.by_frame.len().saturating_sub(MOST_LISTED),
            undecided_bytes,
            note: note(context, undecided_bytes),
        }
    }
}

/// Whether a block was made by a forward pass that no backward pass follows, so that nothing tells whether it is an
/// activation: it is gone, if at all, because the run ended or because it was temporary.
pub fn is_undecided(context: &DeviceContext<'_>, row: usize) -> bool {
    let signs = context.signs_of(row);
    let allocated_at = context.lives().allocation(row);
    signs.is_forward
        && !signs.is_recomputed
        && matches!(context.category(row), BlockCategory::Temporary | BlockCategory::Unknown)
        && allocated_at.is_some_and(|event| {
            context.moments.backward.last().is_none_or(|backward| *backward < event)
        })
}

fn note(context: &DeviceContext<'_>, undecided_bytes: u64) -> Option<String> {
    if !context.signs.has_python() && context.peak.blocks > 0 {
        return Some(
            "No stack has a Python frame, so the purpose of blocks is not known: \
             _record_memory_history(stacks=\"python\") records them"
                .to_owned(),
        );
    }
    (undecided_bytes > 0).then(|| {
        format!(
            "No backward pass is recorded after the last allocations of the forward pass, so the \
             rules count {} of them as temporary or unknown; they cannot tell how much of that is \
             activations",
            bytes(undecided_bytes)
        )
    })
}
