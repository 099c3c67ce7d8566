//! Signs in the frames of stacks about the blocks that were allocated there: whether it was the optimizer, a forward
//! pass, a checkpoint. Signs are read from names of files and functions of PyTorch.

use std::collections::HashSet;

use super::user_frame::{is_python_file, within_torch};
use crate::store::snapshot::{Frame, Snapshot, StackId};

/// The part of a run that a stack belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StackPhase {
    /// A model is made or moved to the device, outside of calls of modules.
    Making,
    /// All that has a stack of Python and is nothing else.
    Forward,
    /// What autograd calls: on its own threads, where no stack of Python leads to the program.
    #[default]
    Backward,
    /// A step of the optimizer, but for the closure that it calls.
    Optimizer,
}

/// The function that a stack ends in, where advice asks for it: by a frame of PyTorch's, or of C++ where these were
/// recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StackRole {
    Softmax,
    /// A loss over classes, and what it makes of its input.
    Loss,
    /// A normalization.
    Norm,
    Dropout,
    /// None of these, or not known.
    #[default]
    Other,
}

impl StackRole {
    fn of(file: &str, name: &str) -> Self {
        let is_of_python = is_python_file(file);
        let is_functional = || within_torch(file) == Some("nn/functional.py");
        let is_loss = || within_torch(file) == Some("nn/modules/loss.py");
        if is_of_python && !is_functional() {
            return if is_loss() { Self::Loss } else { Self::Other };
        }
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        match () {
            () if has(&["log_softmax", "cross_entropy", "nll_loss"]) => Self::Loss,
            () if has(&["softmax"]) => Self::Softmax,
            () if has(&["layer_norm", "batch_norm", "group_norm", "rms_norm", "instance_norm"]) => {
                Self::Norm
            }
            () if has(&["dropout"]) => Self::Dropout,
            () => Self::Other,
        }
    }
}

/// What the frames of a stack say.
#[allow(clippy::struct_excessive_bools, reason = "signs that do not exclude each other")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackSigns {
    /// A frame of Python.
    pub has_python: bool,
    pub phase: StackPhase,
    /// Below a call of a module.
    pub is_call: bool,
    /// Below `torch/nn/functional.py`.
    pub is_functional: bool,
    /// In a layer that multiplies by a weight.
    pub is_weighted: bool,
    /// In what may multiply by a weight besides: a module that calls no other, by code that is not PyTorch's, or a function
    /// that takes weights.
    pub may_be_weighted: bool,
    /// Below a call of a module or a function `forward`.
    pub is_forward: bool,
    /// Where an optimizer makes its state.
    pub makes_state: bool,
    /// Below `zero_grad`.
    pub is_zero_grad: bool,
    /// Where autocast ends.
    pub is_autocast_exit: bool,
    /// Below a checkpoint.
    pub is_checkpointed: bool,
    /// Below what a checkpoint computes again in the backward pass.
    pub is_recomputed: bool,
    /// Where a file is loaded.
    pub is_loading: bool,
    /// What distributed training asks for itself.
    pub is_distributed: bool,
    /// What a compiler's generated code asks for.
    pub is_compiled: bool,
    /// Below a function that was decorated so that no graph is recorded.
    pub records_no_graph: bool,
    /// The function that asked.
    pub role: StackRole,
    /// Whether code asked that is not PyTorch's, and no layer or function of PyTorch.
    pub is_of_own_code: bool,
}

impl StackSigns {
    pub fn is_optimizer(self) -> bool {
        self.phase == StackPhase::Optimizer
    }

    /// In a module, or in one of the functions that modules are made of.
    pub fn is_of_network(self) -> bool {
        self.is_call || self.is_functional
    }
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    /// Of C++.
    Native,
    /// Of Python, and not of PyTorch.
    Own,
    /// Calls a module.
    Call,
    /// What an optimizer is given to call.
    Closure,
    Optimizer,
    /// Makes what an optimizer keeps for each parameter.
    OptimizerState,
    ZeroGrad,
    /// Asks autograd for gradients.
    Backward,
    Checkpoint,
    Recompute,
    /// Makes the part of a parameter that a process keeps.
    Shards,
    /// Moves or copies a module.
    Moves,
    Functional,
    /// The same, with weights.
    WeightedFunction,
    /// A layer with a weight.
    Weighted,
    /// Autocast's context, or what it decorates.
    Autocast,
    AutocastExit,
    NoGraph,
    Loading,
    Distributed,
    Compiled,
    /// Between a call and what it calls, where a device is chosen for a block of code.
    Between,
    /// Any other of PyTorch.
    Torch,
}

impl FrameKind {
    fn of(file: &str, name: &str) -> Self {
        if !is_python_file(file) {
            return Self::Native;
        }
        let Some(file) = within_torch(file) else {
            return match () {
                () if file.contains("torchinductor_") => Self::Compiled,
                () if file.contains("-packages/safetensors/") => Self::Loading,
                () if name.ends_with("closure") => Self::Closure,
                () => Self::Own,
            };
        };
        match (file, name) {
            ("nn/modules/module.py", "_call_impl" | "_wrapped_call_impl") => Self::Call,
            ("nn/modules/module.py", "_apply" | "to" | "cuda" | "to_empty")
            | ("nn/parameter.py" | "_tensor.py", "__deepcopy__") => Self::Moves,
            (
                "utils/checkpoint.py",
                "recompute_fn" | "unpack_hook" | "inner_unpack" | "backward",
            ) => Self::Recompute,
            ("utils/checkpoint.py", _) => Self::Checkpoint,
            ("autograd/__init__.py", "backward" | "grad" | "_make_grads")
            | ("autograd/graph.py", "_engine_run_backward")
            | ("_tensor.py", "backward") => Self::Backward,
            ("distributed/fsdp/_fully_shard/_fsdp_param.py", "_init_sharded_param") => Self::Shards,
            ("nn/functional.py", "multi_head_attention_forward" | "_in_projection_packed") => {
                Self::WeightedFunction
            }
            ("nn/functional.py", _) => Self::Functional,
            ("nn/modules/linear.py" | "nn/modules/conv.py" | "nn/modules/rnn.py", name)
                if name != "__init__" =>
            {
                Self::Weighted
            }
            ("utils/_contextlib.py", "decorate_context") => Self::NoGraph,
            ("utils/_device.py", _) => Self::Between,
            ("serialization.py", _) => Self::Loading,
            (_, "zero_grad") => Self::ZeroGrad,
            (file, "__exit__") if file.ends_with("amp/autocast_mode.py") => Self::AutocastExit,
            (file, _) if file.ends_with("amp/autocast_mode.py") => Self::Autocast,
            (file, _) if file.starts_with("distributed/") || file.starts_with("nn/parallel/") => {
                Self::Distributed
            }
            (file, _) if ["_inductor/", "_functorch/"].iter().any(|at| file.starts_with(at)) => {
                Self::Compiled
            }
            (file, "_init_group") if file.starts_with("optim/") => Self::OptimizerState,
            (file, _) if file.starts_with("optim/") && !file.ends_with("swa_utils.py") => {
                Self::Optimizer
            }
            _ => Self::Torch,
        }
    }
}

/// A frame with what of its names counts whatever it is.
#[derive(Clone, Copy)]
struct FrameSigns {
    kind: FrameKind,
    role: StackRole,
    is_init: bool,
    is_forward: bool,
    /// Whether a thread of the program begins here.
    is_root: bool,
}

impl FrameSigns {
    fn of(file: &str, name: &str) -> Self {
        let kind = FrameKind::of(file, name);
        let roots = ["<module>", "_bootstrap", "_run_code", "_run_module_as_main"];
        Self {
            kind,
            role: StackRole::of(file, name),
            is_init: name == "__init__",
            is_forward: name == "forward",
            is_root: roots.contains(&name),
        }
    }
}

/// What the frames of a stack say, the innermost first, and the outermost of Python.
fn of_stack(
    frames: impl Iterator<Item = (u32, FrameSigns)>,
) -> (StackSigns, Option<(u32, FrameSigns)>) {
    let mut signs = StackSigns::default();
    let (mut innermost, mut phase, mut outermost) = (None, None, None);
    let (mut is_innermost_part, mut moves, mut shards) = (true, false, false);
    for (number, frame) in frames {
        let is_within_loss = (signs.role, frame.role) == (StackRole::Softmax, StackRole::Loss);
        if signs.role == StackRole::Other || is_within_loss {
            signs.role = frame.role;
        }
        if frame.kind == FrameKind::Native {
            continue;
        }
        signs.has_python = true;
        outermost = Some((number, frame));
        signs.is_forward |= frame.is_forward;
        if frame.kind != FrameKind::Between {
            innermost.get_or_insert(frame);
        }
        let mut is_phase = |of: StackPhase| {
            phase.get_or_insert(of);
        };
        match frame.kind {
            FrameKind::Call => {
                is_phase(StackPhase::Forward);
                signs.is_call = true;
                is_innermost_part = false;
            }
            FrameKind::Closure | FrameKind::ZeroGrad => {
                is_phase(StackPhase::Forward);
                signs.is_zero_grad |= frame.kind == FrameKind::ZeroGrad;
                is_innermost_part = false;
            }
            FrameKind::Optimizer => is_phase(StackPhase::Optimizer),
            FrameKind::OptimizerState => {
                is_phase(StackPhase::Optimizer);
                signs.makes_state = true;
            }
            FrameKind::Backward => is_phase(StackPhase::Backward),
            FrameKind::Checkpoint => signs.is_checkpointed = true,
            FrameKind::Recompute => {
                signs.is_checkpointed = true;
                signs.is_recomputed = true;
            }
            FrameKind::Moves => moves = true,
            FrameKind::Shards => (moves, shards) = (true, true),
            FrameKind::Functional | FrameKind::WeightedFunction => signs.is_functional = true,
            FrameKind::NoGraph => signs.records_no_graph = true,
            FrameKind::Loading => signs.is_loading = true,
            FrameKind::Distributed => signs.is_distributed |= is_innermost_part,
            FrameKind::Compiled => signs.is_compiled |= is_innermost_part,
            FrameKind::Own => is_innermost_part = false,
            FrameKind::Native
            | FrameKind::Weighted
            | FrameKind::Autocast
            | FrameKind::AutocastExit
            | FrameKind::Between
            | FrameKind::Torch => {}
        }
    }
    let innermost = |is: fn(FrameSigns) -> bool| innermost.is_some_and(is);
    signs.is_distributed &= !shards;
    signs.may_be_weighted =
        innermost(|frame| matches!(frame.kind, FrameKind::Own | FrameKind::WeightedFunction));
    signs.is_of_own_code = innermost(|frame| frame.kind == FrameKind::Own);
    signs.is_weighted = innermost(|frame| frame.kind == FrameKind::Weighted);
    signs.is_autocast_exit = innermost(|frame| frame.kind == FrameKind::AutocastExit);
    signs.is_forward |= signs.is_call;
    signs.phase = match phase {
        Some(StackPhase::Optimizer) => StackPhase::Optimizer,
        _ if signs.is_recomputed || !signs.has_python => StackPhase::Backward,
        Some(phase) => phase,
        None if moves || innermost(|frame| frame.is_init) => StackPhase::Making,
        None => StackPhase::Forward,
    };
    (signs, outermost)
}

/// Of each stack, whether its innermost call of a module is of one that calls no other.
fn leaves(snapshot: &Snapshot, of_frames: &[FrameSigns]) -> Vec<bool> {
    let mut calling = HashSet::new();
    let innermost = |stack: u32| {
        let (mut hash, mut call, mut was_call) = (0_u64, None, false);
        for frame in snapshot.stacks.frames_of(StackId(stack)).iter().rev() {
            let Some(signs) = of_frames.get(*frame as usize) else { continue };
            if signs.kind == FrameKind::Native {
                continue;
            }
            hash = hash.rotate_left(5) ^ u64::from(*frame);
            hash = hash.wrapping_mul(0x517c_c1b7_2722_0a95);
            let is_call = signs.kind == FrameKind::Call;
            if is_call && !was_call {
                calling.extend(call);
            }
            if is_call {
                call = Some(hash);
            }
            was_call = is_call;
        }
        call
    };
    let all: Vec<_> = (0..snapshot.stacks.len() as u32).map(innermost).collect();
    all.into_iter().map(|call| call.is_some_and(|call| !calling.contains(&call))).collect()
}

/// The signs of all stacks of a snapshot.
#[derive(Clone, Debug, Default)]
pub struct AllSigns {
    of_stacks: Vec<StackSigns>,
    has_autocast: bool,
    shares_parameters: bool,
}

impl AllSigns {
    pub fn of(snapshot: &Snapshot) -> Self {
        let texts = &snapshot.texts;
        let frames = snapshot.frames.iter();
        let names = frames.map(|frame| (texts.get(frame.file), texts.get(frame.name)));
        let of_frames: Vec<_> = names.map(|(file, name)| FrameSigns::of(file, name)).collect();
        let signs = |stack: u32| {
            let frames = snapshot.stacks.frames_of(StackId(stack)).iter().copied();
            of_stack(frames.filter_map(|at| Some((at, *of_frames.get(at as usize)?))))
        };
        let all: Vec<_> = (0..snapshot.stacks.len() as u32).map(signs).collect();
        let is_of_shards = |frame: &Frame| {
            within_torch(texts.get(frame.file))
                .is_some_and(|file| file.starts_with("distributed/fsdp/"))
        };
        let leaves = leaves(snapshot, &of_frames);
        // The functions in which threads of the program begin: they lead to modules, and are not PyTorch's.
        let function = |frame: u32| {
            let frame = snapshot.frames.get(frame as usize)?;
            Some((texts.get(frame.file), texts.get(frame.name)))
        };
        let leads_to_modules = |(signs, outermost): &(StackSigns, Option<(u32, FrameSigns)>)| {
            let (frame, root) = (*outermost)?;
            let is_root = root.is_root
                || (root.kind == FrameKind::Own && signs.is_call && !signs.is_recomputed);
            is_root.then(|| function(frame)).flatten()
        };
        let roots: HashSet<_> = all.iter().filter_map(leads_to_modules).collect();
        // A stack that begins elsewhere is of a thread that is not Python's: of autograd.
        let of_program =
            |((mut signs, outermost), is_leaf): ((StackSigns, Option<(u32, FrameSigns)>), bool)| {
                signs.may_be_weighted &= is_leaf;
                let root = outermost.and_then(|(frame, _)| function(frame));
                let is_outside =
                    !roots.is_empty() && root.is_some_and(|root| !roots.contains(&root));
                if is_outside && signs.phase != StackPhase::Optimizer {
                    signs.phase = StackPhase::Backward;
                }
                signs
            };
        let is_of_autocast = |frame: &FrameSigns| {
            matches!(frame.kind, FrameKind::Autocast | FrameKind::AutocastExit)
        };
        Self {
            of_stacks: all.into_iter().zip(leaves).map(of_program).collect(),
            has_autocast: of_frames.iter().any(is_of_autocast),
            shares_parameters: snapshot.frames.iter().any(is_of_shards),
        }
    }

    /// What the frames of a stack say; nothing of [`StackId::NONE`].
    #[inline]
    pub fn of_stack(&self, stack: StackId) -> StackSigns {
        self.of_stacks.get(stack.0 as usize).copied().unwrap_or_default()
    }

    /// Whether any stack has a frame of Python: else stacks say nothing.
    pub fn has_python(&self) -> bool {
        self.of_stacks.iter().any(|signs| signs.has_python)
    }

    /// Whether anything is checkpointed already.
    pub fn has_checkpoints(&self) -> bool {
        self.of_stacks.iter().any(|signs| signs.is_checkpointed)
    }

    /// Whether processes share parameters already.
    pub fn shares_parameters(&self) -> bool {
        self.shares_parameters
    }

    /// Whether any frame is of autocast.
    pub fn has_autocast(&self) -> bool {
        self.has_autocast
    }
}
