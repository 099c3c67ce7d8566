//! Phases of training steps, by the stacks of allocations: forward (a Python stack), backward (none, or one that autograd
//! leads to), optimizer (a frame below `torch/optim`). A phase lasts from one change to the next. A step of the optimizer
//! is such a phase, or where the run names its parts one `Optimizer.step…`.

use super::annotations::{AnnotatedSpan, open_at};
use super::lives::BlockLives;
use super::replayed::ReplayedSnapshot;
use super::stack_signs::{AllSigns, StackPhase, StackSigns};
use crate::store::snapshot::{Action, Snapshot, SnapshotDevice, StackId};
use crate::text::{clean, words};

words! {
    /// The part of a training step that an allocation belongs to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Phase by title {
        /// What has a Python stack and is nothing else.
        Forward = "Forward",
        /// What autograd's own threads allocate.
        Backward = "Backward",
        /// Below `torch/optim`.
        Optimizer = "Optimizer",
    }
}

impl Phase {
    fn of(signs: StackSigns) -> Self {
        match signs.phase {
            StackPhase::Optimizer => Self::Optimizer,
            StackPhase::Backward => Self::Backward,
            StackPhase::Forward | StackPhase::Making => Self::Forward,
        }
    }
}

/// The phase that an event is in, in words.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PhaseOfEvent {
    /// What its stack says: `forward pass`; `None` where that is nothing of the kind.
    pub name: Option<&'static str>,
    /// Named parts of the run that it is within, outermost first.
    pub annotations: Vec<String>,
    /// How many steps the optimizer had begun before it; `None` where none is recorded at all.
    pub optimizer_steps_before: Option<usize>,
}

impl PhaseOfEvent {
    /// Of an event of a device; `None` before the first, and where nothing is known.
    pub fn of(replayed: &ReplayedSnapshot, place: usize, event: i64) -> Option<Self> {
        let (snapshot, signs) = (&replayed.snapshot, replayed.signs());
        let (device, _) = replayed.device(place)?;
        let moments = replayed.moments(place)?;
        let row = device.events.start.checked_add(usize::try_from(event).ok()?)?;
        let stack = snapshot.events.stacks.get(row).copied().unwrap_or(StackId::NONE);
        let signs_of = signs.of_stack(stack);
        let name = match () {
            () if !signs.has_python() => None,
            () if signs_of.is_optimizer() => Some("optimizer step"),
            () if signs_of.is_recomputed => {
                Some("backward pass, where a checkpoint computes again")
            }
            () if !signs_of.has_python => Some("backward pass (no Python stack)"),
            () if signs_of.phase == StackPhase::Backward => Some("backward pass"),
            () if signs_of.is_forward => Some("forward pass"),
            () => None,
        };
        let time = snapshot.events.time(row);
        let annotations = time.map_or_else(Vec::new, |time| {
            let spans = replayed.annotated_spans(place);
            open_at(snapshot, spans, time).into_iter().map(str::to_owned).collect()
        });
        let steps = &moments.optimizer_steps;
        let is_one = signs_of.is_optimizer();
        let before = (!steps.is_empty())
            .then(|| moments.steps_before(event).saturating_sub(usize::from(is_one)));
        (name.is_some() || !annotations.is_empty()).then_some(Self {
            name,
            annotations,
            optimizer_steps_before: before,
        })
    }

    /// In a sentence: `the forward pass of step 2`.
    pub fn text(&self) -> String {
        let what = match (self.name, self.annotations.last()) {
            (Some(name), _) => format!("the {name}"),
            (None, Some(annotation)) => clean(annotation).into_owned(),
            (None, None) => return String::new(),
        };
        match self.optimizer_steps_before {
            Some(before) => format!("{what} of recorded step {}", before.saturating_add(1)),
            None => what,
        }
    }
}

/// Where phases begin, and where allocations of each kind are: events, ascending.
#[derive(Clone, Debug, Default)]
pub struct PhaseMoments {
    pub phases: Vec<(u32, Phase)>,
    /// Allocations of backward passes.
    pub backward: Vec<u32>,
    pub optimizer_steps: Vec<u32>,
    /// Whether a stack says that gradients are asked for. What has no stack may be of a library as well.
    pub asks_for_gradients: bool,
}

impl PhaseMoments {
    /// Whether it is one training step: it goes backward, and not again behind a forward pass that follows the first step
    /// of the optimizer, or the first backward pass where no step of the optimizer is to be seen.
    pub fn are_of_one_step(&self) -> bool {
        let asked = self.backward.first().filter(|_| self.asks_for_gradients);
        let Some(first) = self.optimizer_steps.first().or(asked) else { return false };
        let is_next = |(event, phase): &&(u32, Phase)| event > first && *phase == Phase::Forward;
        let next = self.phases.iter().find(is_next);
        let again = next.map_or(u32::MAX, |(event, _)| *event);
        !self.backward.is_empty() && self.backward.last().is_some_and(|last| *last < again)
    }

    /// Of a device, by the signs of all stacks and its named parts.
    pub fn of(
        snapshot: &Snapshot,
        device: &SnapshotDevice,
        signs: &AllSigns,
        spans: &[AnnotatedSpan],
    ) -> Self {
        let events = &snapshot.events;
        let actions = events.actions.get(device.events.clone()).unwrap_or_default();
        let stacks = events.stacks.get(device.events.clone()).unwrap_or_default();
        let mut moments = Self::default();
        let mut now = None;
        for ((event, action), stack) in (0_u32..).zip(actions).zip(stacks) {
            if *action != Action::Alloc {
                continue;
            }
            let sign = signs.of_stack(*stack);
            let phase = Phase::of(sign);
            if phase == Phase::Backward {
                moments.backward.push(event);
                moments.asks_for_gradients |= sign.has_python;
            }
            if now != Some(phase) {
                now = Some(phase);
                moments.phases.push((event, phase));
                if phase == Phase::Optimizer {
                    moments.optimizer_steps.push(event);
                }
            }
        }
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

    /// Whether the optimizer made a step after one event and before another.
    pub fn has_optimizer_step_within(&self, from: u32, until: u32) -> bool {
        let is_before = |step: &u32| from != BlockLives::BEFORE && *step <= from;
        let after = self.optimizer_steps.partition_point(is_before);
        self.optimizer_steps.get(after).is_some_and(|step| *step < until)
    }

    /// Whether a forward pass begins after one event and before another.
    pub fn has_forward_within(&self, from: u32, until: u32) -> bool {
        let after = self.phases.partition_point(|(event, _)| *event <= from);
        let later = self.phases.get(after..).unwrap_or_default().iter();
        later.take_while(|(event, _)| *event < until).any(|(_, phase)| *phase == Phase::Forward)
    }

    /// How many forward passes begin.
    pub fn forward_passes(&self) -> usize {
        self.phases.iter().filter(|(_, phase)| *phase == Phase::Forward).count()
    }

    /// How many steps the optimizer has begun up to an event.
    pub fn steps_before(&self, event: i64) -> usize {
        self.optimizer_steps.partition_point(|step| i64::from(*step) <= event)
    }
}
