//! Advice about messages that are not recognized.

use super::{Finding, Sentence, led_by, tool};
use crate::diagnose::finding::Device;
use crate::text::bytes;

pub fn of(finding: &Finding) -> Vec<Sentence> {
    let whose = match finding.device {
        Some(Device::Ipu) => "The log is about an IPU or its software.",
        Some(Device::Tpu) => "The log is about a TPU.",
        Some(Device::Cuda | Device::Rocm) => "The log is about a GPU or its software.",
        Some(Device::Tenstorrent) => "The log is about a Tenstorrent device or its software.",
        Some(Device::Host) => "It names memory of the machine.",
        Some(_) => "The log is about another accelerator.",
        None => "It does not say whose memory: of a device or of the machine.",
    };
    let amount = finding.requested_bytes.map_or_else(String::new, |requested| {
        format!(" The amount in it is {}.", bytes(requested))
    });
    let read = format!(
        "Read the line itself: it seems to say that memory does not suffice, in words that are not known here. \
         {whose}{amount}"
    );
    let before = "Look for the first error before it: what follows a failure often repeats it in other words.";
    let mut advice = led_by(read, [before]);
    advice.push(match finding.device {
        Some(Device::Ipu) => {
            "Look at the report: `tilescope summary DIR` says what fills the memory. \
             `POPLAR_ENGINE_OPTIONS='{\"autoReport.all\":\"true\",\"autoReport.directory\":\"./profile\"}'` \
             writes one."
                .into()
        }
        None => "Look at the memory of the machine (`free -m`) and of the device at that moment, with the tool of its driver."
            .into(),
        Some(_) => format!(
            "Look at the memory at that moment with {}, and compare with a line of the same run that is explained here.",
            tool(finding)
        )
        .into(),
    });
    advice
}
