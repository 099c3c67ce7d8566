//! Stacks of a training program as Python has them: functions of the user's file between those of PyTorch, innermost
//! first, as CPython 3.11 and PyTorch 2.9 name them.

/// A frame: file, line, function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceFrame(pub &'static str, pub u32, pub &'static str);

macro_rules! torch {
    ($file:literal) => {
        concat!("/opt/venv/lib/python3.11/site-packages/torch/", $file)
    };
}

const TRAIN: &str = "/workspace/train.py";
const MODULE: &str = torch!("nn/modules/module.py");
const CHECKPOINT: &str = torch!("utils/checkpoint.py");
const FUNCTIONAL: &str = torch!("nn/functional.py");
const OPTIMIZER: &str = torch!("optim/optimizer.py");
const ADAM: &str = torch!("optim/adam.py");
const AUTOGRAD: &str = torch!("autograd/__init__.py");

/// Lines of the user's program.
pub mod line {
    /// Of `Block.forward`: both sums with the input, and what is between.
    pub const NORM_1: u32 = 21;
    /// Queries, keys and values.
    pub const QKV: u32 = 22;
    /// Scores and their softmax.
    pub const SCORES: u32 = 23;
    /// Values by scores, and their projection.
    pub const ATTENDED: u32 = 24;
    /// The second half.
    pub const FEED_FORWARD: u32 = 25;
    /// Of `Net.forward`.
    pub const EMBEDDING: u32 = 37;
    /// Where it calls its blocks.
    pub const BLOCKS: u32 = 41;
    /// Where it calls them through checkpoints.
    pub const CHECKPOINTED: u32 = 39;
    /// The last layer.
    pub const HEAD: u32 = 42;
    /// Of `main`: the model goes to the device.
    pub const TO_DEVICE: u32 = 50;
    /// A batch is read.
    pub const BATCH: u32 = 55;
    /// The loss.
    pub const LOSS: u32 = 57;
    /// The backward pass.
    pub const BACKWARD: u32 = 58;
    /// The step of the optimizer.
    pub const STEP: u32 = 59;
    /// Gradients go.
    pub const ZERO_GRAD: u32 = 60;
    /// The error is caught.
    pub const CAUGHT: u32 = 62;
    /// Of the module: `main` is called.
    pub const CALLED: u32 = 66;
}

/// What of PyTorch was called by the user's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// An operator: the user's own line is innermost.
    Operator,
    /// `nn.LayerNorm`.
    LayerNorm,
    /// `nn.Linear`.
    Linear,
    /// `Tensor.softmax`, `F.gelu` and others that are no modules.
    Gelu,
    /// `nn.Embedding`.
    Embedding,
    /// `F.cross_entropy`.
    CrossEntropy,
    /// `Module.cuda` of a module so many levels down.
    ToDevice(u8),
    /// `Tensor.backward`, before autograd's own thread works.
    Backward,
    /// What returns from it.
    AfterBackward,
    /// States of Adam, at the first step.
    AdamStates,
    /// What a step of Adam takes for a while.
    AdamStep,
    /// What it gives back.
    AdamDone,
    /// `Optimizer.zero_grad`.
    ZeroGrad,
}

/// Through what the line was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallPath {
    /// `main` itself.
    Main,
    /// `Net.forward`.
    Net,
    /// A block, called by the net.
    Block,
    /// A block, called through a checkpoint.
    Checkpointed,
    /// A block of the last segment, which has no checkpoint.
    LastSegment,
    /// A block that is computed again in the backward pass.
    Recomputed,
    /// The end of computing again.
    AfterRecomputed,
    /// Autograd's own thread: no Python.
    Nowhere,
}

/// Where in the program: a list of frames, by what it is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallStack {
    /// What of PyTorch is innermost.
    pub call: Call,
    /// The user's line.
    pub line: u32,
    /// Through what it was reached.
    pub path: CallPath,
}

/// The two frames through which every module is called.
const CALLED: [SourceFrame; 2] =
    [SourceFrame(MODULE, 1786, "_call_impl"), SourceFrame(MODULE, 1775, "_wrapped_call_impl")];
/// The two frames of a function that `torch.compile` shall not look into.
const PLAIN: [SourceFrame; 2] = [
    SourceFrame(torch!("_dynamo/eval_frame.py"), 1044, "_fn"),
    SourceFrame(torch!("_compile.py"), 53, "inner"),
];
const STEPPED: [SourceFrame; 3] = [
    SourceFrame(ADAM, 247, "step"),
    SourceFrame(OPTIMIZER, 82, "_use_grad"),
    SourceFrame(OPTIMIZER, 517, "wrapper"),
];

impl CallStack {
    /// No stack.
    pub const NONE: Self = Self { call: Call::Operator, line: 0, path: CallPath::Nowhere };

    /// A line of `main`.
    pub fn of_main(call: Call, line: u32) -> Self {
        Self { call, line, path: CallPath::Main }
    }

    /// The frames, innermost first.
    pub fn frames(self) -> Vec<SourceFrame> {
        let mut frames = Vec::with_capacity(20);
        match self.path {
            CallPath::Nowhere => return frames,
            CallPath::AfterRecomputed => return vec![SourceFrame(CHECKPOINT, 1156, "unpack_hook")],
            _ => self.call.frames_into(&mut frames),
        }
        let own = if self.path == CallPath::Main { "main" } else { "forward" };
        frames.push(SourceFrame(TRAIN, self.line, own));
        match self.path {
            CallPath::Net => frames.extend(CALLED),
            CallPath::Block => through_sequential(&mut frames, line::BLOCKS),
            CallPath::Checkpointed | CallPath::LastSegment => {
                frames.extend(CALLED);
                frames.push(SourceFrame(CHECKPOINT, 561, "forward"));
                if self.path == CallPath::Checkpointed {
                    frames.push(SourceFrame(CHECKPOINT, 503, "checkpoint"));
                    frames.extend(PLAIN);
                }
                frames.push(SourceFrame(CHECKPOINT, 575, "checkpoint_sequential"));
                frames.push(SourceFrame(TRAIN, line::CHECKPOINTED, "forward"));
                frames.extend(CALLED);
            }
            CallPath::Recomputed => {
                frames.extend(CALLED);
                frames.push(SourceFrame(CHECKPOINT, 561, "forward"));
                frames.push(SourceFrame(CHECKPOINT, 1555, "recompute_fn"));
                frames.push(SourceFrame(CHECKPOINT, 1124, "_run_fn_with_dynamo_disabled"));
                frames.extend(PLAIN);
                frames.push(SourceFrame(CHECKPOINT, 1154, "unpack_hook"));
                return frames;
            }
            _ => {}
        }
        if self.path != CallPath::Main {
            frames.push(SourceFrame(TRAIN, line::LOSS, "main"));
        }
        frames.push(SourceFrame(TRAIN, line::CALLED, "<module>"));
        frames
    }
}

/// A module that `nn.Sequential` calls.
fn through_sequential(frames: &mut Vec<SourceFrame>, user_line: u32) {
    frames.extend(CALLED);
    frames.push(SourceFrame(torch!("nn/modules/container.py"), 253, "forward"));
    frames.extend(CALLED);
    frames.push(SourceFrame(TRAIN, user_line, "forward"));
    frames.extend(CALLED);
}

impl Call {
    fn frames_into(self, frames: &mut Vec<SourceFrame>) {
        match self {
            Self::Operator => {}
            Self::LayerNorm => {
                frames.push(SourceFrame(FUNCTIONAL, 2901, "layer_norm"));
                frames.push(SourceFrame(torch!("nn/modules/normalization.py"), 229, "forward"));
                frames.extend(CALLED);
            }
            Self::Linear => {
                frames.push(SourceFrame(torch!("nn/modules/linear.py"), 134, "forward"));
                frames.extend(CALLED);
            }
            Self::Gelu => {
                frames.push(SourceFrame(torch!("nn/modules/activation.py"), 816, "forward"));
                frames.extend(CALLED);
            }
            Self::Embedding => {
                frames.push(SourceFrame(FUNCTIONAL, 2542, "embedding"));
                frames.push(SourceFrame(torch!("nn/modules/sparse.py"), 192, "forward"));
                frames.extend(CALLED);
            }
            Self::CrossEntropy => frames.push(SourceFrame(FUNCTIONAL, 3458, "cross_entropy")),
            Self::ToDevice(levels) => {
                frames.push(SourceFrame(MODULE, 1084, "<lambda>"));
                frames.push(SourceFrame(MODULE, 957, "_apply"));
                frames.extend((0..levels).map(|_| SourceFrame(MODULE, 930, "_apply")));
                frames.push(SourceFrame(MODULE, 1084, "cuda"));
            }
            Self::Backward => {
                frames.push(SourceFrame(AUTOGRAD, 221, "_make_grads"));
                frames.push(SourceFrame(AUTOGRAD, 347, "backward"));
                frames.push(SourceFrame(torch!("_tensor.py"), 625, "backward"));
            }
            Self::AfterBackward => frames.push(SourceFrame(torch!("_tensor.py"), 625, "backward")),
            Self::AdamStates => {
                frames.push(SourceFrame(ADAM, 177, "_init_group"));
                frames.push(SourceFrame(ADAM, 237, "step"));
                frames.extend(STEPPED[1..].iter().copied());
            }
            Self::AdamStep => {
                frames.push(SourceFrame(ADAM, 777, "_multi_tensor_adam"));
                frames.push(SourceFrame(ADAM, 953, "adam"));
                frames.push(SourceFrame(OPTIMIZER, 150, "maybe_fallback"));
                frames.extend(STEPPED);
            }
            Self::AdamDone => {
                frames.push(SourceFrame(ADAM, 953, "adam"));
                frames.push(SourceFrame(OPTIMIZER, 150, "maybe_fallback"));
                frames.extend(STEPPED);
            }
            Self::ZeroGrad => {
                frames.push(SourceFrame(OPTIMIZER, 1035, "zero_grad"));
                frames.extend(PLAIN);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_begin_innermost_and_end_at_the_module_that_was_started() {
        let norm =
            CallStack { call: Call::LayerNorm, line: line::NORM_1, path: CallPath::Checkpointed };
        let frames = norm.frames();
        assert_eq!(frames[0].2, "layer_norm");
        assert_eq!(frames[4], SourceFrame(TRAIN, line::NORM_1, "forward"));
        assert_eq!(frames.last(), Some(&SourceFrame(TRAIN, line::CALLED, "<module>")));
        assert!(frames.iter().any(|frame| frame.2 == "checkpoint_sequential"));
        // Autograd's own thread ends where it calls Python.
        let again = CallStack { path: CallPath::Recomputed, ..norm }.frames();
        assert_eq!(again[..5], frames[..5]);
        assert_eq!(again.last().map(|frame| frame.2), Some("unpack_hook"));
        assert!(CallStack::NONE.frames().is_empty());
        let main = CallStack::of_main(Call::Operator, line::BATCH).frames();
        assert_eq!(main[0], SourceFrame(TRAIN, line::BATCH, "main"));
        assert_eq!(main.len(), 2);
    }
}
