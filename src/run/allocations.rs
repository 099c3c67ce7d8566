//! Allocations: everything that a run had in memory, one by one, with the code that asked for it.

use std::borrow::Cow;
use std::fmt::Debug;

use super::areas::AreasBy;

/// An allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// Bytes that were asked for.
    pub bytes: u64,
    /// Bytes that it takes, where that is more.
    pub taken: Option<u64>,
    /// What it is for.
    pub category: Option<String>,
    /// The number of the step at which it begins; `None` before the first.
    pub from: Option<u64>,
    /// The number of steps at which it is alive.
    pub steps: u64,
    /// Where it lies.
    pub address: String,
    /// What it lies in: a device, a memory space; empty where there is one.
    pub device: String,
    /// When it lives, in words.
    pub life: String,
}

/// A list of allocations, the largest first. Rows are made when they are looked at.
#[allow(clippy::len_without_is_empty, reason = "nobody asks for it")]
pub trait Allocations: Debug + Send + Sync {
    /// What the code of a row is called, and whether blocks may take more than was asked for.
    fn titles(&self) -> (&'static str, bool) {
        ("Code", true)
    }
    /// How bytes are counted, where rows have addresses in common.
    fn rule(&self) -> &'static str {
        ""
    }
    /// Number of rows.
    fn len(&self) -> usize;
    /// A row.
    fn get(&self, row: usize) -> Option<Allocation>;
    /// Bytes that a row asked for, and that it takes.
    fn bytes(&self, row: usize) -> [u64; 2];
    /// The position at which a row begins among the steps of the report; `None` before the first.
    fn step(&self, row: usize) -> Option<usize>;
    /// What tells a row apart in other lists of the same run.
    fn key(&self, row: usize) -> (u32, u32);
    /// The stack of a row: below [`Self::stacks`], or that for no stack.
    fn stack(&self, row: usize) -> usize;
    /// Number of stacks.
    fn stacks(&self) -> usize;
    /// The calls of a stack, the innermost first.
    fn frames_of(&self, stack: usize) -> &[u32];
    /// Number of calls.
    fn frames(&self) -> usize;
    /// A call.
    fn frame(&self, frame: u32) -> CodeFrame;
    /// The code that a stack counts to: its line, function or file.
    fn code(&self, stack: usize, by: AreasBy) -> Cow<'_, str>;
    /// Whether rows lie in different devices.
    fn has_devices(&self) -> bool;
}

/// A call in a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeFrame {
    /// Where it is, as it is written: `path:line (function)`.
    pub title: String,
    /// Whether it is in the user's own code.
    pub is_own: bool,
    /// Whether call paths show it: what lies below the language of the user is not.
    pub is_in_paths: bool,
}
