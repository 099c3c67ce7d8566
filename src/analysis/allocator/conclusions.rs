//! What follows from the figures of a snapshot, in sentences. Of a history whose beginning is cut off nothing is said
//! that was not recorded: its peak is that of the recorded window.

use super::device_facts::DeviceFacts;
use super::peak::PeakContents;
use crate::text::{clean, grouped};

/// A sentence without its full stop.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Conclusion {
    /// What it is about.
    pub id: &'static str,
    /// What it says.
    pub text: String,
}

/// What follows from the figures of all devices and the peak of the one that has most; `size` writes bytes.
pub fn conclusions(
    devices: &[DeviceFacts],
    peak: Option<&PeakContents>,
    size: &dyn Fn(u64) -> String,
) -> Vec<Conclusion> {
    let mut conclusions = Vec::new();
    let mut say = |id, text| conclusions.push(Conclusion { id, text });
    let owner = peak.and_then(|peak| peak.by_frame.first().filter(|owner| owner.all.bytes > 0));
    if let (Some(peak), Some(owner)) = (peak, owner) {
        let is_whole = devices.iter().any(|of| of.device == peak.device && of.history_complete);
        let which = if is_whole { "the peak" } else { "the peak of the recorded window" };
        let percent = owner.all.bytes as f64 * 100.0 / peak.bytes.max(1) as f64;
        let (bytes, whole) = (size(owner.all.bytes), size(peak.bytes));
        let name = clean(&owner.name);
        say(
            "owner-of-peak",
            format!("{bytes} of the {whole} at {which}, {percent:.0} %, were allocated at {name}"),
        );
    }
    for device in devices {
        let end = &device.end;
        if end.inactive_bytes > 0 {
            let text = format!(
                "GPU {}: {} of the {} reserved at the end are free within segments, in {} pieces, the largest of {}",
                device.device,
                size(end.inactive_bytes),
                size(end.reserved_bytes),
                grouped(end.inactive_blocks),
                size(end.largest_inactive_bytes)
            );
            say("free-within-segments", text);
        }
        if let Some(failed) = device.oom.last() {
            let went_on = match device.ended_by {
                Some(_) => "",
                None => "; as much was handed out after it, so the run went on",
            };
            let free = failed.device_free.map_or_else(String::new, |free| {
                format!(", when {} were free on the device", size(free))
            });
            let text = format!(
                "GPU {}: a request of {} failed at event {}{free}{went_on}",
                device.device,
                size(failed.bytes),
                grouped(u64::from(failed.event))
            );
            say("out-of-memory", text);
        }
    }
    conclusions
}
