//! What follows from the figures of a snapshot, in sentences.

use serde::Serialize;

use super::DeviceInsights;
use super::fragmentation::{FreeAt, Moment};
use crate::systems::pytorch::allocator::peak::FrameBytes;
use crate::systems::pytorch::allocator::phases::PhaseOfEvent;
use crate::systems::pytorch::allocator::user_frame::NO_STACK;
use crate::text::{bytes, clean, counted, grouped};

/// A sentence without its full stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conclusion {
    /// What it is about.
    pub id: &'static str,
    /// What it says.
    pub text: String,
}

/// What follows from the figures of all devices: whose the largest peak is, and of each what is free in pieces, what
/// failed, what grows.
pub fn conclusions(devices: &[DeviceInsights]) -> Vec<Conclusion> {
    let mut conclusions = Vec::new();
    let mut say = |id, text| conclusions.push(Conclusion { id, text });
    // The first of equals.
    if let Some(device) = devices.iter().rev().max_by_key(|device| device.peak.bytes) {
        if let Some(text) = owner_of_peak(device) {
            say("owner-of-peak", text);
        }
        if let Some(note) = &device.peak.note {
            say("categories-cannot-say", note.clone());
        }
    }
    for device in devices {
        let title = device.title();
        if let Some(failure) = &device.out_of_memory {
            say("out-of-memory", format!("{title}: {}", failure.what()));
            say("why-it-failed", format!("{title}: {}", failure.why()));
        }
        if let Some(last) = device.caught.last() {
            let text = format!(
                "{title}: {} failed, the last of {} at event {}, and as much was handed out later, so the run went on",
                counted(device.caught.len() as u64, "request"),
                bytes(last.bytes),
                grouped(last.event.into())
            );
            say("went-on", text);
        }
        if let Some(end) = at_end(device) {
            let text = format!(
                "{title}: {} of the {} reserved at the end are free within segments, in {}, the largest of {}",
                bytes(end.free_bytes),
                bytes(end.reserved_bytes),
                counted(end.pieces as u64, "piece"),
                bytes(end.largest_piece_bytes)
            );
            say("free-within-segments", text);
        }
        for growing in &device.growth {
            let text = format!(
                "{title}: {} has {} more at each step of the optimizer, {} in {} steps",
                clean(&growing.name),
                bytes(growing.bytes_by_step()),
                bytes(growing.grown_bytes()),
                growing.steps
            );
            say("grows", text);
        }
    }
    conclusions
}

fn owner_of_peak(device: &DeviceInsights) -> Option<String> {
    let peak = &device.peak;
    let is_named = |owner: &&FrameBytes| owner.all.bytes > 0 && owner.name != NO_STACK;
    let owner = peak.by_frame.first().filter(is_named)?;
    let which = match (device.events, device.history_complete) {
        (0, _) => "the end",
        (_, true) => "the peak",
        (_, false) => "the peak of the recorded window",
    };
    let phase = peak.phase.as_ref().map(PhaseOfEvent::text).filter(|text| !text.is_empty());
    let phase = phase.map_or_else(String::new, |phase| format!("; it lies in {phase}"));
    let percent = owner.all.bytes as f64 * 100.0 / peak.bytes.max(1) as f64;
    Some(format!(
        "{} of the {} at {which}, {percent:.0} %, were allocated at {}{phase}",
        bytes(owner.all.bytes),
        bytes(peak.bytes),
        clean(&owner.name)
    ))
}

/// The end, where anything is free.
fn at_end(device: &DeviceInsights) -> Option<&FreeAt> {
    device.fragmentation.at(Moment::End).filter(|end| end.free_bytes > 0)
}
