//! What a program of PyTorch can do that computes without gradients.

use super::{Finding, Sentence, with_amount, with_statistics};
use crate::diagnose::run_settings::RunPhase;

/// Computes less, and keeps less; `statistics` is the call that tells what the device has.
pub fn of(finding: &Finding, statistics: Option<&str>) -> Vec<Sentence> {
    let run = finding.run;
    let makes_images = run.phase == Some(RunPhase::Images);
    let less = if makes_images {
        "make fewer images at once, or smaller ones (resolution, frames)."
    } else {
        "compute fewer or shorter inputs at once, and let fewer tokens be generated: keys and values grow with both."
    };
    let mut advice = vec![with_amount(finding, less)];
    if makes_images {
        let pieces = "Let images be decoded in pieces, and let only the part that computes be on the device: \
            diffusers `pipe.vae.enable_tiling()`, `pipe.enable_model_cpu_offload()`; ComfyUI `VAE Decode (Tiled)`, `--lowvram`.";
        advice.push(pieces.into());
    }
    if !run.is_half() {
        let half = "Load the weights in half precision (`torch_dtype=torch.bfloat16`), or quantized to 8 or 4 bits.";
        advice.push(half.into());
    }
    let drop = "Drop what is no longer needed: move outputs off the device (`.cpu()`), `del` models that are done, and call \
        them in `torch.inference_mode()`";
    advice.push(with_statistics(drop, statistics));
    let spread = "Spread the weights over several devices, or keep a part in the memory of the machine \
        (`device_map=\"auto\"`).";
    advice.push(spread.into());
    advice
}
