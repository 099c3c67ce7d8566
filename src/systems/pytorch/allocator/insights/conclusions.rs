//! Conclusions from the figures of a snapshot: sentences with their evidence.

use super::DeviceInsights;
use super::context::DeviceContext;
use super::fragmentation::{FreeAt, SnapshotMoment};
use super::growth::GrowingFrame;
use super::out_of_memory::OutOfMemory;
use crate::run::{Conclusion, Evidence};
use crate::systems::pytorch::allocator::peak::FrameBytes;
use crate::systems::pytorch::allocator::phases::PhaseOfEvent;
use crate::systems::pytorch::allocator::user_frame::NO_STACK;
use crate::text::{bytes, clean, counted, grouped};

/// The conclusions about all devices: who owns the peak of the one that the run is about, and for each device what is free
/// in pieces, what failed and what grows.
pub fn conclusions(
    contexts: &[DeviceContext<'_>],
    devices: &[DeviceInsights],
    first: Option<i64>,
) -> Vec<Conclusion> {
    let both = || contexts.iter().zip(devices);
    let first = both().find(|(_, device)| Some(device.device) == first);
    let about_peak = first.into_iter().flat_map(|(context, device)| {
        owner_of_peak(context, device).into_iter().chain(note_of_peak(context, device))
    });
    let about_each = both().flat_map(|(context, device)| {
        let failure = device.out_of_memory.iter().flat_map(|one| failed(context, device, one));
        let growth = device.growth.iter().map(|one| grows(context, device, one));
        let caught = went_on(context, device);
        failure.chain(caught).chain(free_at_end(context, device)).chain(growth)
    });
    about_peak.chain(about_each).collect()
}

fn conclusion(id: &'static str, text: String, evidence: Vec<Evidence>) -> Conclusion {
    Conclusion { evidence, ..Conclusion::new(id, text) }
}

fn owner_of_peak(context: &DeviceContext<'_>, device: &DeviceInsights) -> Option<Conclusion> {
    let peak = &device.peak;
    let is_named = |owner: &&FrameBytes| owner.all.bytes > 0 && owner.name != NO_STACK;
    let owner = peak.by_frame.first().filter(is_named)?;
    let which = match (device.events, device.history_complete) {
        (0, _) => "the end",
        (_, true) => "the peak",
        (_, false) => "the peak of the recorded window",
    };
    let phase = peak.phase.as_ref().map(PhaseOfEvent::text).filter(|text| !text.is_empty());
    let phase = phase.map_or_else(String::new, |phase| format!("; the peak is in {phase}"));
    let caller =
        owner.called_by.as_deref().map(|caller| format!(", called from {}", clean(caller)));
    let caller = caller.unwrap_or_default();
    let percent = owner.all.bytes as f64 * 100.0 / peak.bytes.max(1) as f64;
    let text = format!(
        "{}{} of the {} at {which}, {percent:.0} %, were allocated at {}{caller}{phase}",
        before(context),
        bytes(owner.all.bytes),
        bytes(peak.bytes),
        clean(&owner.name)
    );
    let what = format!("{}, {}", owner.name, counted(owner.all.blocks, "block"));
    let frame = Some(owner.name.clone());
    let evidence = context.evidence_of_frame(what, owner.all.bytes, frame).at_step(peak.event);
    Some(conclusion("owner-of-peak", text, vec![evidence]))
}

fn note_of_peak(context: &DeviceContext<'_>, device: &DeviceInsights) -> Option<Conclusion> {
    let note = device.peak.note.as_ref()?;
    Some(conclusion("categories-cannot-say", format!("{}{note}", before(context)), Vec::new()))
}

/// The device that a sentence is about, where there are several.
fn before(context: &DeviceContext<'_>) -> String {
    context.device_name().map_or_else(String::new, |name| format!("{name}: "))
}

fn failed(
    context: &DeviceContext<'_>,
    device: &DeviceInsights,
    failure: &OutOfMemory,
) -> Vec<Conclusion> {
    let (title, event) = (device.title(), i64::from(failure.event));
    let request = context
        .evidence("The request that failed", failure.requested_bytes, event)
        .at(|place| place.frame = failure.frame.clone());
    let left = failure.left_title();
    let free = failure.left_bytes.map(|bytes| context.evidence(left, bytes, event));
    let pieces = counted(failure.pieces as u64, "piece");
    let within = format!("Free within segments, in {pieces}");
    let within = context.evidence(within, failure.free_bytes, event);
    let usable = "The largest piece that the request could use";
    let usable = context.evidence(usable, failure.largest_usable_bytes, event);
    let what = format!("{title}: {}", failure.what());
    let why = format!("{title}: {}", failure.why());
    let mut found = vec![
        conclusion("out-of-memory", what, std::iter::once(request).chain(free).collect()),
        conclusion("why-it-failed", why, vec![within, usable]),
    ];
    // The share of the process was used up, not the device.
    let of_device = failure.device_free_bytes.filter(|_| failure.capacity_is_share);
    let short = failure.short_bytes.unwrap_or(0);
    if let Some(free) = of_device.filter(|free| short > 0 && *free >= failure.segment_bytes) {
        let text = format!(
            "{title}: The limit is that of the process, not of the device, where {} were still free: if nobody else needs \
             them, give the process more (torch.cuda.set_per_process_memory_fraction)",
            bytes(free)
        );
        let evidence = context.evidence("Free on the device", free, event);
        found.push(conclusion("limit-of-process", text, vec![evidence]));
    }
    found
}

fn went_on(context: &DeviceContext<'_>, device: &DeviceInsights) -> Option<Conclusion> {
    let last = device.caught.last()?;
    let text = format!(
        "{}: {} failed, the last of {} at event {}, but as much was handed out later, so the run \
        went on",
        device.title(),
        counted(device.caught.len() as u64, "request"),
        bytes(last.bytes),
        grouped(last.event.into())
    );
    let evidence = context.evidence("The last request that failed", last.bytes, last.event.into());
    Some(conclusion("went-on", text, vec![evidence]))
}

/// What lies free at the end; nothing of a run that a failed request ended: the exception lets go of everything, and what
/// counts is what lay free at that request.
fn free_at_end(context: &DeviceContext<'_>, device: &DeviceInsights) -> Option<Conclusion> {
    if device.fragmentation.at(SnapshotMoment::OutOfMemory).is_some() {
        return None;
    }
    let end = device.fragmentation.at(SnapshotMoment::End).filter(|end| end.free_bytes > 0)?;
    let FreeAt { free_bytes, largest_piece_bytes, event, in_empty_segments_bytes: empty, .. } =
        *end;
    let beside = free_bytes.saturating_sub(empty);
    let parts = [
        (empty, "in segments without a block, which PyTorch keeps for later"),
        (beside, "beside blocks in use"),
    ];
    let parts = parts.into_iter().filter(|(part, _)| *part > 0);
    let parts: Vec<String> = parts.map(|(part, what)| format!("{} {what}", bytes(part))).collect();
    let text = format!(
        "{}: {} of the {} reserved at the end are free: {}",
        device.title(),
        bytes(free_bytes),
        bytes(end.reserved_bytes),
        parts.join(", ")
    );
    let evidence = vec![
        context.evidence("Free within segments", free_bytes, event),
        context
            .evidence("The largest piece", largest_piece_bytes, event)
            .at(|place| place.address = end.largest_piece_address.clone()),
    ];
    Some(conclusion("free-within-segments", text, evidence))
}

fn grows(
    context: &DeviceContext<'_>,
    device: &DeviceInsights,
    growing: &GrowingFrame,
) -> Conclusion {
    let text = format!(
        "{}: {} has {} more at each optimizer step, {} in {} steps",
        device.title(),
        clean(&growing.name),
        bytes(growing.bytes_by_step()),
        bytes(growing.grown_bytes()),
        growing.steps
    );
    let evidence = growing.evidence(context, format!("{}, by how much it grew", growing.name));
    conclusion("grows", text, vec![evidence])
}
