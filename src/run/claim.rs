//! A claim: what a producer states beside what comes out here.

use serde::Serialize;

/// A figure that the producer of a run states, beside ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Claim {
    /// The file that states it.
    pub file: String,
    /// What it is called there, with the device where there are several.
    pub name: String,
    /// Bytes as stated.
    pub stated: u64,
    /// Bytes as worked out here.
    pub ours: u64,
    /// Whether they agree, within what rounding allows.
    pub agrees: bool,
}
