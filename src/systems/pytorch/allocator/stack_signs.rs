//! Signs in the frames of stacks about the blocks that were allocated there: whether it was the optimizer, a forward
//! pass, a checkpoint. Signs are read from names of files and functions of PyTorch.

use super::user_frame::is_python_file;
use crate::store::snapshot::{Snapshot, StackId};

/// What the frames of a stack say.
#[allow(clippy::struct_excessive_bools, reason = "signs that do not exclude each other")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackSigns {
    /// A frame of Python.
    pub has_python: bool,
    /// Below `torch/optim`.
    pub is_optimizer: bool,
    /// In a file of `torch/autograd`.
    pub is_autograd: bool,
    /// Where a module gets its parameters.
    pub makes_parameters: bool,
    /// Below a function `forward`.
    pub is_forward: bool,
    /// Below `zero_grad`.
    pub is_zero_grad: bool,
    /// Below a checkpoint.
    pub is_checkpointed: bool,
    /// Below what a checkpoint computes again in the backward pass.
    pub is_recomputed: bool,
}

impl StackSigns {
    fn of_frame(file: &str, name: &str) -> Self {
        let is_python = is_python_file(file);
        let is_checkpointed = file.ends_with("torch/utils/checkpoint.py");
        let again = ["recompute_fn", "unpack_hook", "inner_unpack", "backward"];
        Self {
            has_python: is_python,
            is_optimizer: file.contains("/torch/optim/"),
            is_autograd: file.contains("torch/autograd/"),
            makes_parameters: file.ends_with("nn/modules/module.py")
                && matches!(name, "_apply" | "to" | "cuda"),
            is_forward: is_python && name == "forward",
            is_zero_grad: name == "zero_grad",
            is_checkpointed,
            is_recomputed: is_checkpointed && again.contains(&name),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            has_python: self.has_python | other.has_python,
            is_optimizer: self.is_optimizer | other.is_optimizer,
            is_autograd: self.is_autograd | other.is_autograd,
            makes_parameters: self.makes_parameters | other.makes_parameters,
            is_forward: self.is_forward | other.is_forward,
            is_zero_grad: self.is_zero_grad | other.is_zero_grad,
            is_checkpointed: self.is_checkpointed | other.is_checkpointed,
            is_recomputed: self.is_recomputed | other.is_recomputed,
        }
    }
}

/// The signs of all stacks of a snapshot.
#[derive(Clone, Debug, Default)]
pub struct AllSigns(Vec<StackSigns>);

impl AllSigns {
    pub fn of(snapshot: &Snapshot) -> Self {
        let texts = &snapshot.texts;
        let frames = snapshot.frames.iter();
        let names = frames.map(|frame| (texts.get(frame.file), texts.get(frame.name)));
        let of_frames: Vec<_> = names
            .map(|(file, name)| {
                let is_init = name == "__init__" && is_python_file(file);
                (StackSigns::of_frame(file, name), is_init, matches!(name, "empty" | "zeros"))
            })
            .collect();
        let of_stack = |stack: u32| {
            let frames = snapshot.stacks.frames_of(StackId(stack)).iter();
            let (mut signs, mut is_in_init, mut makes) = (StackSigns::default(), false, false);
            let mut innermost_is_init = None;
            for (of_frame, is_init, is_made) in
                frames.filter_map(|frame| of_frames.get(*frame as usize))
            {
                signs = signs.and(*of_frame);
                is_in_init |= is_init;
                makes |= is_made;
                // `empty` and `zeros` are of C++, so what a module makes of itself has its `__init__` innermost.
                innermost_is_init.get_or_insert(*is_init);
            }
            signs.makes_parameters |= is_in_init && (makes || innermost_is_init == Some(true));
            signs
        };
        Self((0..snapshot.stacks.len() as u32).map(of_stack).collect())
    }

    /// What the frames of a stack say; nothing of [`StackId::NONE`].
    #[inline]
    pub fn of_stack(&self, stack: StackId) -> StackSigns {
        self.0.get(stack.0 as usize).copied().unwrap_or_default()
    }

    /// Whether any stack has a frame of Python: else stacks say nothing.
    pub fn has_python(&self) -> bool {
        self.0.iter().any(|signs| signs.has_python)
    }

    /// Whether anything is checkpointed already.
    pub fn has_checkpoints(&self) -> bool {
        self.0.iter().any(|signs| signs.is_checkpointed)
    }
}
