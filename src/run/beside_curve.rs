//! Additions to the curve of a run: further lines, bands of steps, moments, and what single steps did.

use std::borrow::Cow;
use std::ops::Range;

use super::allocations::CodeFrame;
use super::section::Cell;

/// What is drawn beside a curve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BesideCurve {
    /// Further lines.
    pub lines: Vec<CurveLine>,
    /// The parts of the run that steps belong to, outermost first.
    pub bands: Vec<StepBand>,
    /// Steps at which something happened, ascending.
    pub moments: Vec<StepMoment>,
}

/// A further line over the steps: memory that is reserved, or counted in another way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CurveLine {
    /// What it is called.
    pub title: Cow<'static, str>,
    /// What it counts.
    pub rule: &'static str,
    /// Whether it is drawn before anybody asks for it.
    pub is_usual: bool,
    /// The rank of a line of another device among those, the most important first.
    pub other: Option<usize>,
    /// Bytes at each step.
    pub bytes: Vec<u64>,
}

/// Parts of a run that share a band.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepBand {
    /// What they are: `Annotations`.
    pub title: &'static str,
    /// The steps of each part, ascending, and its name.
    pub parts: Vec<(Range<u32>, String)>,
}

/// A step at which something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepMoment {
    /// The step, a position.
    pub step: usize,
    /// What happened: `Out of memory`.
    pub title: &'static str,
    /// The bytes that it was about, and what those are: `asked`.
    pub bytes: Option<(u64, &'static str)>,
}

/// What a step did, as far as only its system knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepSaid {
    /// What it did, in a few words: `alloc`.
    pub title: String,
    /// The bytes that it was about.
    pub bytes: Option<u64>,
    /// Names with what they say.
    pub facts: Vec<(&'static str, Cell)>,
    /// What the stack is: `Allocated by`.
    pub stack_title: &'static str,
    /// The calls that led there, the innermost first.
    pub stack: Vec<CodeFrame>,
    /// Whether steps have stacks, even where this one has none.
    pub has_stacks: bool,
}
