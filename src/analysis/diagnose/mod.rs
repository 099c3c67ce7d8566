//! Explains messages about memory in error texts and logs: what ran out, by how much, what to do.
//!
//! A finding is one occurrence of a message that this program knows: of Poplar, PopLibs, PopART,
//! PopTorch and TensorFlow about IPUs (poplar.md, section 6), of XLA about TPUs, of PyTorch about GPUs
//! (advice.md, "Error texts"). None are merged; an exception and the message in it are one. Text that
//! only speaks of memory is no finding. Colours, prefixes of launchers and loggers, line ends inside a
//! message, bytes that are no text: all of that is read over.

mod advice;
mod amount;
mod cuda;
mod escape_codes;
mod finding;
mod ipu;
mod lines;
mod message;
mod scan;
#[cfg(test)]
mod tests;
mod tpu;
mod tpu_breakdown;
mod wrapper;

pub use finding::{Allocation, Device, Finding, Kind, Part};
pub use scan::{Diagnosis, diagnose_reader};

/// Finds the messages in a text.
pub fn diagnose(text: &str) -> Vec<Finding> {
    let mut scanner = scan::Scanner::default();
    scanner.push(text.as_bytes());
    scanner.finish().findings
}
