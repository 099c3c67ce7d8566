//! The owners of the peak of the requested curve: user frames, functions, modules, categories with their rules, and the
//! phase that it lies in. Where no backward pass follows, categories cannot tell activations from what is temporary,
//! and it is said how many bytes that is about.

use serde::Serialize;

use super::context::DeviceContext;
use crate::systems::pytorch::allocator::peak::{CategoryAtPeak, FrameBytes};
use crate::systems::pytorch::allocator::phases::PhaseOfEvent;

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
    /// What the categories cannot say, in a sentence.
    pub note: Option<String>,
}

impl PeakInsights {
    pub fn of(context: &DeviceContext<'_>) -> Self {
        let contents = &context.peak;
        let listed = |rows: &[FrameBytes]| rows.iter().take(MOST_LISTED).cloned().collect();
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
            note: note(context),
        }
    }
}

fn note(context: &DeviceContext<'_>) -> Option<String> {
    (!context.signs.has_python() && context.peak.blocks > 0).then(|| {
        "No stack has a Python frame, so the purpose of blocks is not known: \
         _record_memory_history(stacks=\"python\") records them"
            .to_owned()
    })
}
