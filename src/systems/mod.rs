//! The systems whose runs can be opened: a folder each, with readers, answers, and what only that system needs.

#![cfg_attr(
    not(feature = "window"),
    allow(dead_code, reason = "the window asks for more than commands")
)]

pub mod poplar;
pub mod pytorch;
pub mod xla;
