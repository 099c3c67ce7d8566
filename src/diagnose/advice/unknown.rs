//! Advice about messages that are not recognized.

use super::{Finding, Sentence, led_by};
use crate::diagnose::finding::Device;
use crate::text::bytes;

pub fn of(finding: &Finding) -> Vec<Sentence> {
    let whose = match finding.device {
        Some(Device::Ipu) => "It names an IPU or its software.",
        Some(Device::Tpu) => "It names a TPU or one of its memories.",
        Some(Device::Cuda) => "It names a GPU or its software.",
        Some(Device::Host) => "It names memory of the machine.",
        None => "It does not say whose memory: of a device or of the machine.",
    };
    let amount = finding.requested_bytes.map_or_else(String::new, |requested| {
        format!(" The amount in it is {}.", bytes(requested))
    });
    let read = format!(
        "Read the line itself: it says that memory does not suffice, in words that are not known here, so \
         there are no further figures. {whose}{amount}"
    );
    let before = "Look for the first error before it: what follows a failure often repeats it in other words.";
    let further = if matches!(finding.device, Some(Device::Ipu) | None) {
        "Look at the report if the program is for IPUs: `tilescope summary DIR` says what fills the memory. \
         `POPLAR_ENGINE_OPTIONS='{\"autoReport.all\":\"true\",\"autoReport.directory\":\"./profile\"}'` \
         writes one."
    } else {
        "Compare with a line of the same run that is explained here, or with what the device itself says of \
         its memory (`nvidia-smi`, `tpu-info`, `free -m`)."
    };
    led_by(read, [before, further])
}
