//! A training run as the allocator sees it: parameters, then steps of forward pass, loss, backward pass with gradients
//! and what checkpoints compute again, optimizer and the end of the gradients.

use std::collections::BTreeSet;
use std::ops::Range;

use super::SnapshotOptions;
use super::block::SavedTensors;
use super::caching_allocator::{
    AllocatorStatistics, CachingAllocator, CapturedStack, EndSegment, Event, Handle, Refused,
};
use super::frames::{Call, CallPath, CallStack, line};
use crate::synth::mix;
use crate::synth::transformer::{BEFORE_BLOCKS, OF_BLOCK, Parameter, Transformer};

/// When the run begins: 1 January 2026, microseconds since 1970.
const BEGIN: u64 = 1_767_225_600_000_000;
/// What a loss takes: a number.
const NUMBER: u64 = 4;

/// Who is told what happens.
pub trait Tape {
    /// An event, and when it was, microseconds since 1970.
    fn event(&mut self, event: &Event, time: u64);

    /// A step is done; whether another is wanted.
    fn goes_on(&mut self) -> bool;
}

/// The begin or the end of a named part of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Whether it begins.
    pub is_start: bool,
    /// Its name.
    pub name: String,
    /// Microseconds since 1970.
    pub time: u64,
}

/// What came out of a run.
#[derive(Debug)]
pub struct TrainingOutcome {
    /// Events.
    pub events: u64,
    /// The segments at the end.
    pub segments: Vec<EndSegment>,
    /// What the allocator counted.
    pub statistics: AllocatorStatistics,
    /// Marks of named parts.
    pub marks: Vec<Mark>,
    /// The last request that failed.
    pub failure: Option<Refused>,
}

/// Runs the training that the options say.
pub fn run(options: &SnapshotOptions, tape: &mut dyn Tape) -> TrainingOutcome {
    let mut training = Training::new(options, tape);
    let is_ready = training.model_to_device();
    for number in 0..options.steps {
        if !is_ready {
            break;
        }
        let is_done = training.step(number);
        if !training.tape.goes_on() || !(is_done || options.goes_on_after_failure) {
            break;
        }
    }
    TrainingOutcome {
        events: training.events,
        segments: training.allocator.end_state(),
        statistics: training.allocator.statistics().clone(),
        marks: training.marks,
        failure: training.failure,
    }
}

/// A block whose backward pass is to come, or several that are computed again before.
enum Pending {
    Block { input: Handle, saved: Box<SavedTensors>, number: u64 },
    Segment { input: Handle, blocks: Range<u64> },
}

/// A run that goes on.
pub(super) struct Training<'a> {
    options: &'a SnapshotOptions,
    /// The network, with the batch of the step.
    pub(super) net: Transformer,
    allocator: CachingAllocator,
    tape: &'a mut dyn Tape,
    events: u64,
    captures: u64,
    time: u64,
    drawn: u64,
    parameters: Vec<Parameter>,
    gradients: Vec<Option<Handle>>,
    states: Vec<Option<[Handle; 2]>>,
    /// What goes when the step fails.
    of_step: BTreeSet<Handle>,
    marks: Vec<Mark>,
    failure: Option<Refused>,
}

impl<'a> Training<'a> {
    fn new(options: &'a SnapshotOptions, tape: &'a mut dyn Tape) -> Self {
        let parameters = options.network.parameters();
        Self {
            options,
            net: options.network,
            allocator: CachingAllocator::new(options.settings, options.card),
            tape,
            events: 0,
            captures: 0,
            time: BEGIN,
            drawn: mix(options.seed),
            gradients: vec![None; parameters.len()],
            states: vec![None; parameters.len()],
            parameters,
            of_step: BTreeSet::new(),
            marks: Vec::new(),
            failure: None,
        }
    }

    /// A number below a bound that follows from the seed.
    fn draw(&mut self, below: u64) -> u64 {
        self.drawn = mix(self.drawn);
        self.drawn % below.max(1)
    }

    fn capture(&mut self, stack: CallStack) -> CapturedStack {
        self.captures += 1;
        CapturedStack { number: self.captures, stack }
    }

    /// Hands on what the allocator did.
    fn tell(&mut self) {
        for event in std::mem::take(&mut self.allocator.happened) {
            self.time += 1 + self.draw(24);
            self.events += 1;
            self.tape.event(&event, self.time);
        }
    }

    fn mark(&mut self, is_start: bool, name: String) {
        self.time += 1 + self.draw(100);
        self.marks.push(Mark { is_start, name, time: self.time });
        self.time += 1 + self.draw(20);
    }

    fn allocate(&mut self, bytes: u64, stream: u32, stack: CallStack) -> Result<Handle, Refused> {
        let capture = self.capture(stack);
        let handed_out = self.allocator.allocate(bytes, stream, capture);
        self.tell();
        handed_out.inspect_err(|failure| self.failure = Some(*failure))
    }

    /// A tensor that goes with the step.
    pub(super) fn tensor(&mut self, bytes: u64, stack: CallStack) -> Result<Handle, Refused> {
        let handle = self.allocate(bytes, 0, stack)?;
        self.of_step.insert(handle);
        Ok(handle)
    }

    /// A tensor that autograd's own thread makes.
    pub(super) fn backward_tensor(&mut self, bytes: u64) -> Result<Handle, Refused> {
        self.tensor(bytes, CallStack::NONE)
    }

    pub(super) fn free(&mut self, handle: Handle, stack: CallStack) {
        self.of_step.remove(&handle);
        let capture = self.capture(stack);
        let requests_later = 1 + self.draw(8);
        self.allocator.free(handle, capture, requests_later);
        self.tell();
    }

    /// What a block's parameters get, by their places in it.
    pub(super) fn gradients_of_block(
        &mut self,
        block: u64,
        places: Range<usize>,
    ) -> Result<(), Refused> {
        let first = BEFORE_BLOCKS + block as usize * OF_BLOCK;
        places.into_iter().try_for_each(|place| self.gradient(first + place))
    }

    fn gradient(&mut self, place: usize) -> Result<(), Refused> {
        let handle = self.allocate(self.parameters[place].bytes, 0, CallStack::NONE)?;
        self.gradients[place] = Some(handle);
        Ok(())
    }

    /// Whether there was room for the parameters.
    fn model_to_device(&mut self) -> bool {
        let parameters = self.parameters.clone();
        parameters.iter().all(|parameter| {
            let stack = CallStack::of_main(Call::ToDevice(parameter.levels), line::TO_DEVICE);
            self.allocate(parameter.bytes, 0, stack).is_ok()
        })
    }

    /// Whether a step was done. One that fails loses all that was made for it, and the next has half the samples.
    fn step(&mut self, number: u64) -> bool {
        let name = format!("ProfilerStep#{number}");
        self.mark(true, name.clone());
        if self.options.has_varied_lengths {
            let sequence = self.options.network.sequence;
            self.net.sequence = sequence - self.draw(sequence / 4 + 1);
        }
        let is_done = self.train(number).is_ok();
        if !is_done {
            let stack = CallStack::of_main(Call::Operator, line::CAUGHT);
            for handle in self.of_step.clone() {
                self.free(handle, stack);
            }
            if self.options.goes_on_after_failure {
                self.zero_grad();
                self.net.batch = (self.net.batch / 2).max(1);
            }
        }
        self.mark(false, name);
        is_done
    }

    fn train(&mut self, number: u64) -> Result<(), Refused> {
        let of_main = CallStack::of_main(Call::Operator, line::BATCH);
        let batch_bytes = self.net.batch_bytes();
        // Batches are copied by the other streams in turn; the first one uses what they have copied.
        let others = u64::from(self.options.streams.saturating_sub(1));
        let stream = number.checked_rem(others).map_or(0, |other| other as u32 + 1);
        let batch = self.allocate(batch_bytes, stream, of_main)?;
        self.of_step.insert(batch);
        if stream > 0 {
            self.allocator.share(batch);
        }
        let of_net = |call, line| CallStack { call, line, path: CallPath::Net };
        let embedded =
            self.tensor(self.net.hidden_bytes(), of_net(Call::Embedding, line::EMBEDDING))?;
        let (output, kept) = self.forward(embedded)?;
        let logits_bytes = self.net.logits_bytes();
        let logits = self.tensor(logits_bytes, of_net(Call::Linear, line::HEAD))?;
        let of_loss = CallStack::of_main(Call::CrossEntropy, line::LOSS);
        let likely = self.tensor(logits_bytes, of_loss)?;
        let loss = self.tensor(NUMBER, of_loss)?;
        let weight = self.tensor(NUMBER, of_loss)?;
        self.free(logits, CallStack::of_main(Call::Operator, line::LOSS));

        let one = self.tensor(NUMBER, CallStack::of_main(Call::Backward, line::BACKWARD))?;
        let of_likely = self.backward_tensor(logits_bytes)?;
        self.free(weight, CallStack::NONE);
        let of_logits = self.backward_tensor(logits_bytes)?;
        self.free(of_likely, CallStack::NONE);
        self.free(likely, CallStack::NONE);
        let gradient = self.backward_tensor(self.net.hidden_bytes())?;
        self.gradient(self.parameters.len() - 1)?;
        self.free(of_logits, CallStack::NONE);
        self.free(output, CallStack::NONE);
        let gradient = self.backward(kept, gradient)?;
        self.gradient(0)?;
        self.free(gradient, CallStack::NONE);
        self.free(one, CallStack::of_main(Call::AfterBackward, line::BACKWARD));
        self.free(loss, of_main);

        self.optimizer()?;
        self.zero_grad();
        self.free(batch, of_main);
        Ok(())
    }

    /// The blocks with what is kept of them for the backward pass, as `checkpoint_sequential` divides them: the last
    /// part has what is left over, and is kept.
    fn forward(&mut self, embedded: Handle) -> Result<(Handle, Vec<Pending>), Refused> {
        let mut kept = Vec::new();
        let mut hidden = embedded;
        let (segments, rest) =
            checkpointed(self.options.network.layers, self.options.checkpoint_segments);
        let is_any = !segments.is_empty();
        for blocks in segments {
            let input = hidden;
            for block in blocks.clone() {
                let (output, _) = self.forward_block(CallPath::Checkpointed, false)?;
                if block > blocks.start {
                    self.free(hidden, SavedTensors::between(CallPath::Checkpointed));
                }
                hidden = output;
            }
            kept.push(Pending::Segment { input, blocks });
        }
        let path = if is_any { CallPath::LastSegment } else { CallPath::Block };
        for number in rest {
            let (output, saved) = self.forward_block(path, true)?;
            if let Some(saved) = saved {
                kept.push(Pending::Block { input: hidden, saved, number });
            }
            hidden = output;
        }
        Ok((hidden, kept))
    }

    fn backward(&mut self, kept: Vec<Pending>, gradient: Handle) -> Result<Handle, Refused> {
        let mut gradient = gradient;
        for part in kept.into_iter().rev() {
            match part {
                Pending::Block { input, saved, number } => {
                    gradient = self.backward_block(number, &saved, gradient)?;
                    self.free(input, CallStack::NONE);
                }
                Pending::Segment { input, blocks } => {
                    let mut again = Vec::new();
                    let mut hidden = input;
                    for number in blocks {
                        let (output, saved) = self.forward_block(CallPath::Recomputed, true)?;
                        again.extend(saved.map(|saved| (hidden, saved, number)));
                        hidden = output;
                    }
                    // Nobody asks for what the segment gave.
                    let after = CallStack { path: CallPath::AfterRecomputed, ..CallStack::NONE };
                    self.free(hidden, after);
                    for (input, saved, number) in again.into_iter().rev() {
                        gradient = self.backward_block(number, &saved, gradient)?;
                        self.free(input, CallStack::NONE);
                    }
                }
            }
        }
        Ok(gradient)
    }

    fn optimizer(&mut self) -> Result<(), Refused> {
        let name = "Optimizer.step#AdamW.step";
        self.mark(true, name.to_owned());
        let is_done = self.adam();
        self.mark(false, name.to_owned());
        is_done
    }

    /// States at the first step, and for a while as much again as the parameters have.
    fn adam(&mut self) -> Result<(), Refused> {
        let stack = |call| CallStack::of_main(call, line::STEP);
        for place in 0..self.parameters.len() {
            if self.states[place].is_none() {
                let bytes = self.parameters[place].bytes;
                let mean = self.tensor(bytes, stack(Call::AdamStates))?;
                let square = self.tensor(bytes, stack(Call::AdamStates))?;
                self.of_step.remove(&mean);
                self.of_step.remove(&square);
                self.states[place] = Some([mean, square]);
            }
        }
        let bytes: Vec<u64> = self.parameters.iter().map(|parameter| parameter.bytes).collect();
        let roots = bytes.into_iter().map(|bytes| self.tensor(bytes, stack(Call::AdamStep)));
        let roots = roots.collect::<Result<Vec<_>, _>>()?;
        for root in roots {
            self.free(root, stack(Call::AdamDone));
        }
        Ok(())
    }

    fn zero_grad(&mut self) {
        let name = "Optimizer.zero_grad#AdamW.zero_grad";
        self.mark(true, name.to_owned());
        for place in 0..self.gradients.len() {
            if let Some(handle) = self.gradients[place].take() {
                self.free(handle, CallStack::of_main(Call::ZeroGrad, line::ZERO_GRAD));
            }
        }
        self.mark(false, name.to_owned());
    }
}

/// The parts of a network that are computed again, and what is left.
fn checkpointed(layers: u64, segments: u64) -> (Vec<Range<u64>>, Range<u64>) {
    let segments = segments.clamp(1, layers.max(1));
    let layers_each = layers / segments;
    let again = (0..segments - 1).map(|part| part * layers_each..(part + 1) * layers_each);
    (again.collect(), (segments - 1) * layers_each..layers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_segment_has_what_is_left_over_and_is_not_computed_again() {
        assert_eq!(checkpointed(24, 0), (Vec::new(), 0..24));
        assert_eq!(checkpointed(24, 1), (Vec::new(), 0..24));
        assert_eq!(checkpointed(24, 2), (vec![0..12], 12..24));
        let (again, rest) = checkpointed(24, 10);
        assert_eq!((again.len(), again[8].clone(), rest), (9, 16..18, 18..24));
        assert_eq!(checkpointed(2, 9), (vec![0..1], 1..2));
    }
}
