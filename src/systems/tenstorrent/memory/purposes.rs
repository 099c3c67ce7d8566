//! What buffers are for, as far as lives and readers tell.

use super::facts::RankView;
use super::{BufferLife, LifeReads};
use crate::text::words;

words! {
    /// What a buffer is for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum BufferPurpose by key, rule {
        /// A weight.
        Weight = "weight" | "Tensors that were there before the first operation that reads any, are read and are never freed",
        /// An input.
        Input = "input" | "Other tensors that are read, and were there before the report or made by an operation that reads none",
        /// An activation.
        Activation = "activation" | "Tensors that operations make of others",
        /// A result.
        Result = "result" | "Tensors that no operation reads, in a run that came to its end, and that are there at the end",
        /// Something of an operation's own.
        Helper = "helper" | "Buffers of operations that no operation has as an input or output",
    }
}

impl BufferPurpose {
    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Weight => "Weight",
            Self::Input => "Input",
            Self::Activation => "Activation",
            Self::Result => "Result",
            Self::Helper => "Helper",
        }
    }

    /// What a buffer is for.
    pub fn of(view: &RankView<'_>, life: &BufferLife, reads: LifeReads) -> Self {
        let operations = &view.rank.operations;
        if !reads.is_visible {
            return Self::Helper;
        }
        let is_made_of_none = life.allocated_by.is_none_or(|by| !operations.reads(by));
        let is_early = life.allocated_by.is_none_or(|by| by < operations.first_reader());
        match (reads.last, life.freed) {
            (Some(_), None) if is_early => Self::Weight,
            (Some(_), _) if is_made_of_none => Self::Input,
            (None, None) if view.rank.errors.is_empty() => Self::Result,
            _ => Self::Activation,
        }
    }
}
