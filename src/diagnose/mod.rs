//! Explains messages about memory in error texts and logs: what ran out, by how much, what to do.
//!
//! A finding is one failure: a message that this program knows (`message::FAMILIES`: of PyTorch, XLA, TensorFlow,
//! inference servers, libraries, Poplar, Linux and others), with the later lines that come of it. An exception and
//! the message in it are one. A line that says in other words that memory does not suffice is a finding, of a kind that
//! says that it is not known where the line does not say whose memory. Text that only
//! speaks of memory is none. Colors, line ends inside a message, bytes that are no text are read over;
//! what launchers, loggers and collectors put before lines says who wrote them.

mod accelerators;
mod advice;
mod amount;
mod clock;
mod clues;
mod container;
mod cuda;
mod cut_lines;
mod decode;
mod device_names;
mod documents;
mod entries;
mod escape_codes;
mod export;
mod failures;
mod fields;
mod figures;
mod finding;
mod gpu;
mod host;
mod ipu;
mod kernels;
mod killed;
mod lead;
mod libraries;
mod line_numbers;
mod log_lines;
mod markup;
mod message;
mod newest_first;
mod origin;
mod page;
mod pods;
mod reading;
mod retelling;
mod run_settings;
mod runtime_parts;
mod scan;
mod servers;
mod settings_reader;
mod streams;
mod surroundings;
mod tables;
pub mod tenstorrent;
#[cfg(test)]
mod tests;
mod tpu;
mod unknown;
mod wrapper;
mod xla_capture;
mod xla_listing;

pub use finding::{
    Consequence, Device, Finding, Kind, ListedAllocation, Packing, Percent, UsedPart,
};
pub use origin::WriterOfLine;
pub use page::page;
pub use scan::{CutLog, Diagnosis, diagnose_reader};
pub use xla_capture::XlaCapture;

/// A log that comes in pieces.
#[cfg(any(test, fuzzing))]
pub(crate) fn diagnose_pieces(pieces: &[&[u8]]) -> Diagnosis {
    let mut scanner = scan::Scanner::default();
    for piece in pieces {
        scanner.push(piece);
    }
    scanner.finish()
}

/// Finds the messages in a text.
pub fn diagnose(text: &str) -> Vec<Finding> {
    let mut scanner = scan::Scanner::default();
    scanner.push(text.as_bytes());
    scanner.finish().findings
}
