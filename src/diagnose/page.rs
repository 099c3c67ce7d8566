//! The page of error messages in the book, written from the table of messages.

use std::fmt::Write as _;

use super::diagnose;
use super::finding::{Device, Finding};
use super::message::{FAMILIES, Message};

const HEAD: &str = "# Error messages\n\nWhat the error messages about memory say, and what helps: of PyTorch, JAX and XLA, TensorFlow, \
    inference servers, libraries, drivers, compilers and the system, on GPUs, TPUs, IPUs and other accelerators. Search this page \
    for the words of your message. Figures in the examples are of our own.\n\n`tilescope diagnose LOG` finds these messages in a \
    log of any size and reads their figures, and what to do is said for them ([Commands](commands.md#diagnose)). What each piece of \
    advice costs is in [Advice](advice.md).\n\nThis page is written from the table that the program searches with \
    (`TILESCOPE_RECORD=1 cargo test --test suite -- error_messages` writes it).\n";

/// The page in Markdown.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for (family, messages) in FAMILIES {
        let _ = write!(page, "\n## {family}\n");
        for message in messages {
            page += &section(message);
        }
    }
    page
}

fn section(message: &Message) -> String {
    let found = diagnose(message.example);
    let example = message.example.replace('\n', "\n    ");
    let mut section =
        format!("\n### {}\n\n    {example}\n\n{}\n", heading(message.example), message.meaning);
    let Some(finding) = found.first() else { return section };
    let _ = write!(section, "\nKind `{}`, {}.", finding.kind.key(), whose(finding));
    section += " What to do:\n\n";
    for sentence in &finding.advice {
        let _ = writeln!(section, "- {sentence}");
    }
    section
}

/// The words that people search for: the beginning of the message, up to the end of a word.
fn heading(example: &str) -> String {
    const MOST: usize = 90;
    let line = example.lines().next().unwrap_or_default();
    let words =
        line.split_whitespace().map(|word| word.replace(['`', '<', '>', '*', '[', ']'], ""));
    let mut heading = String::new();
    for word in words.filter(|word| !word.is_empty()) {
        if heading.len() + word.len() > MOST {
            break;
        }
        heading += if heading.is_empty() { "" } else { " " };
        heading += &word;
    }
    heading
}

fn whose(finding: &Finding) -> &'static str {
    match finding.device {
        Some(Device::Ipu) => "memory of an IPU",
        Some(Device::Tpu) => "memory of a TPU",
        Some(Device::Cuda) => "memory of a GPU",
        Some(Device::Rocm) => "memory of a GPU of AMD",
        Some(Device::Xpu) => "memory of a GPU of Intel",
        Some(Device::Npu) => "memory of an Ascend NPU",
        Some(Device::Mps) => "memory of an Apple GPU",
        Some(Device::Hpu) => "memory of a Gaudi",
        Some(Device::Neuron) => "memory of a Neuron core",
        Some(Device::Tenstorrent) => "memory of a Tenstorrent device",
        Some(Device::Accelerator) => "memory of the accelerator",
        Some(Device::Host) => "memory of the machine",
        None => "the device is that of the log",
    }
}
