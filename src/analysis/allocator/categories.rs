//! What a block is for, by stated rules over its stack, its life and its size (formats/pytorch.md 4.7): snapshots do
//! not say. The first rule that applies counts.
//!
//! A step of the optimizer is a run of allocations with a frame below `torch/optim`, or a named part of the run
//! `Optimizer.step…`. A phase lasts from one change among forward (Python stack), backward (no Python stack) and
//! optimizer to the next.

use super::annotations::annotated_spans;
use super::lives::BlockLives;
use super::replay::Replay;
use super::user_frame::{is_python_file, user_frame};
use crate::store::snapshot::{Action, Snapshot, SnapshotDevice, StackId};

crate::text::words! {
    /// What a block is for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum BlockCategory by as_str, title {
        /// Of the model, from its making to the end.
        Parameter = "parameter" | "Parameter",
        /// As large as a parameter, made by the backward pass.
        Gradient = "gradient" | "Gradient",
        /// Made by the optimizer, and kept.
        OptimizerState = "optimizer_state" | "Optimizer state",
        /// Made by the forward pass, freed by the backward pass.
        Activation = "activation" | "Activation",
        /// Freed within the phase in which it was made.
        Temporary = "temporary" | "Temporary",
        /// None of these.
        Unknown = "unknown" | "Unknown",
    }
}

impl BlockCategory {
    /// The rule by which a block gets the category.
    pub fn rule(self) -> &'static str {
        match self {
            Self::OptimizerState => {
                "allocated below torch/optim, and alive at the end or over a later optimizer step"
            }
            Self::Parameter => {
                "allocated by _apply, to or cuda of a module, or made in __init__ of one, and alive to the end"
            }
            Self::Gradient => {
                "allocated without a Python stack or below torch/autograd, as large as a parameter, and freed by \
                 zero_grad or alive at the end"
            }
            Self::Activation => {
                "allocated below a function forward, and freed after the next allocation without a Python stack"
            }
            Self::Temporary => "freed within the same forward, backward or optimizer phase",
            Self::Unknown => "none of the other rules applies",
        }
    }
}

/// What the frames of a stack say.
#[allow(clippy::struct_excessive_bools, reason = "signs that do not exclude each other")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StackSigns {
    has_python: bool,
    is_optimizer: bool,
    is_autograd: bool,
    makes_parameters: bool,
    is_forward: bool,
    is_zero_grad: bool,
}

impl StackSigns {
    fn of(snapshot: &Snapshot, stack: StackId) -> Self {
        let mut signs = Self::default();
        let (mut makes, mut is_init) = (false, false);
        for frame in snapshot.frames_of(stack) {
            let (file, name) = (snapshot.texts.get(frame.file), snapshot.texts.get(frame.name));
            signs.has_python |= is_python_file(file);
            signs.is_optimizer |= file.contains("/torch/optim/");
            signs.is_autograd |= file.contains("torch/autograd/");
            let is_module = file.ends_with("nn/modules/module.py");
            signs.makes_parameters |= is_module && matches!(name, "_apply" | "to" | "cuda");
            makes |= matches!(name, "empty" | "zeros");
            is_init |= name == "__init__" && is_python_file(file);
            signs.is_forward |= file.contains("nn/modules/") && name == "forward";
            signs.is_zero_grad |= name == "zero_grad";
        }
        // A tensor that a module makes of itself has the module's `__init__` innermost: `empty` and `zeros` are of C++.
        let innermost = snapshot.frames_of(stack).next();
        let is_made_in_init =
            innermost.is_some_and(|frame| snapshot.texts.get(frame.name) == "__init__");
        signs.makes_parameters |= is_init && (makes || is_made_in_init);
        let own = user_frame(snapshot, stack);
        signs.is_forward |= own.is_some_and(|frame| snapshot.texts.get(frame.name) == "forward");
        signs
    }
}

/// The part of a training step that an allocation belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Forward,
    Backward,
    Optimizer,
}

/// The category of every block of a replayed device.
pub fn categories(
    snapshot: &Snapshot,
    device: &SnapshotDevice,
    replay: &Replay,
) -> Vec<BlockCategory> {
    let signs: Vec<StackSigns> = (0..snapshot.stacks.len() as u32)
        .map(|stack| StackSigns::of(snapshot, StackId(stack)))
        .collect();
    let signs_of = |stack: StackId| signs.get(stack.0 as usize).copied().unwrap_or_default();
    let moments = Moments::of(snapshot, device, &signs_of);
    let lives = &replay.lives;
    let mut parameter_sizes: Vec<u64> = (0..lives.len())
        .filter(|row| is_parameter(lives, *row, signs_of(lives.stacks[*row])))
        .map(|row| lives.requested[row])
        .collect();
    parameter_sizes.sort_unstable();
    parameter_sizes.dedup();
    let one = |row: usize| {
        let sign = signs_of(lives.stacks[row]);
        let is_kept = lives.freed_at[row] == BlockLives::OPEN;
        let (from, until) = (lives.allocated_at[row], lives.freed_at[row]);
        let is_before = from == BlockLives::BEFORE;
        if sign.is_optimizer && (is_kept || moments.has_optimizer_step_within(from, until)) {
            return BlockCategory::OptimizerState;
        }
        if is_parameter(lives, row, sign) {
            return BlockCategory::Parameter;
        }
        // Of a block from before the first event that is gone nothing is known.
        if is_before && !is_kept {
            return BlockCategory::Unknown;
        }
        let is_backward = !sign.has_python || sign.is_autograd;
        let has_size_of_parameter = || parameter_sizes.binary_search(&lives.requested[row]).is_ok();
        let free_stack = || {
            let event = lives.requested_free_at[row].min(lives.freed_at[row]);
            snapshot.events.stacks.get(device.events.start.saturating_add(event as usize)).copied()
        };
        if is_backward
            && (is_kept || free_stack().is_some_and(|stack| signs_of(stack).is_zero_grad))
            && has_size_of_parameter()
        {
            return BlockCategory::Gradient;
        }
        if sign.is_forward && !is_kept && moments.has_backward_within(from, until) {
            return BlockCategory::Activation;
        }
        if !is_kept && moments.phase_ends_after(from, until) {
            return BlockCategory::Temporary;
        }
        BlockCategory::Unknown
    };
    (0..lives.len()).map(one).collect()
}

fn is_parameter(lives: &BlockLives, row: usize, signs: StackSigns) -> bool {
    signs.makes_parameters && lives.freed_at[row] == BlockLives::OPEN
}

/// Where phases begin, and where allocations of each kind are: events, ascending.
struct Moments {
    phases: Vec<u32>,
    backward: Vec<u32>,
    optimizer_steps: Vec<u32>,
}

impl Moments {
    fn of(
        snapshot: &Snapshot,
        device: &SnapshotDevice,
        signs_of: &dyn Fn(StackId) -> StackSigns,
    ) -> Self {
        let events = &snapshot.events;
        let actions = events.actions.get(device.events.clone()).unwrap_or_default();
        let stacks = events.stacks.get(device.events.clone()).unwrap_or_default();
        let mut moments =
            Self { phases: Vec::new(), backward: Vec::new(), optimizer_steps: Vec::new() };
        let mut now = None;
        for ((event, action), stack) in (0_u32..).zip(actions).zip(stacks) {
            if *action != Action::Alloc {
                continue;
            }
            let sign = signs_of(*stack);
            let phase = match () {
                () if sign.is_optimizer => Phase::Optimizer,
                () if !sign.has_python => Phase::Backward,
                () => Phase::Forward,
            };
            if phase == Phase::Backward {
                moments.backward.push(event);
            }
            if now != Some(phase) {
                now = Some(phase);
                moments.phases.push(event);
                if phase == Phase::Optimizer {
                    moments.optimizer_steps.push(event);
                }
            }
        }
        let spans = annotated_spans(snapshot, device);
        let mut named: Vec<i64> = spans
            .iter()
            .filter(|span| snapshot.texts.get(span.name).starts_with("Optimizer.step"))
            .map(|span| span.start)
            .collect();
        if !named.is_empty() {
            // Steps that allocate nothing count as well: each is where the first event after its begin is.
            named.sort_unstable();
            let times = events.times.get(device.events.clone()).unwrap_or_default();
            let mut next = named.into_iter().peekable();
            moments.optimizer_steps.clear();
            for (event, time) in (0_u32..).zip(times) {
                while next.next_if(|start| start <= time).is_some() {
                    moments.optimizer_steps.push(event);
                }
            }
        }
        moments
    }

    /// Whether one of some events is after `from` and before `until`.
    fn is_within(events: &[u32], from: u32, until: u32) -> bool {
        let after = events.partition_point(|event| from != BlockLives::BEFORE && *event <= from);
        events.get(after).is_some_and(|event| *event < until)
    }

    fn has_optimizer_step_within(&self, from: u32, until: u32) -> bool {
        Self::is_within(&self.optimizer_steps, from, until)
    }

    fn has_backward_within(&self, from: u32, until: u32) -> bool {
        Self::is_within(&self.backward, from, until)
    }

    fn phase_ends_after(&self, from: u32, until: u32) -> bool {
        !Self::is_within(&self.phases, from, until)
    }
}
