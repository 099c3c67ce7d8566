//! Rules of categories, each on a made-up program; and that the categories of any program add up to its curve.

use proptest::prelude::*;

use super::BlockCategory as Is;
use crate::run::AreasBy;
use crate::store::snapshot::{
    Action, Block, BlockState, Segment, Snapshot, SnapshotDevice, StackId,
};
use crate::systems::pytorch::allocator::curves::{BlockCurve, Devices, block_curve, stacked_areas};
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Where each thread of the program begins.
const MAIN: &str = "/home/me/train.py <module>";
const CALL: &str = "/v/site-packages/torch/nn/modules/module.py _call_impl";
const LINEAR: &str = "/v/site-packages/torch/nn/modules/linear.py forward";
const ADAM: &str = "/v/site-packages/torch/optim/adam.py step";
const INIT: &str = "/v/site-packages/torch/optim/adam.py _init_group";
const CUDA: &str = "/v/site-packages/torch/nn/modules/module.py _apply";
const ZERO: &str = "/v/site-packages/torch/optim/optimizer.py zero_grad";
const EXIT: &str = "/v/site-packages/torch/amp/autocast_mode.py __exit__";
const MODEL: &str = "/home/me/model.py forward";

/// What a program did, event by event; a stack is its frames, innermost first, each `file function`.
#[derive(Default)]
struct Program {
    snapshot: Snapshot,
    known: Vec<Vec<String>>,
    /// Each block with what it must be.
    blocks: Vec<(u64, u64, StackId, bool)>,
    pool: (u64, u64),
}

impl Program {
    fn stack(&mut self, frames: &[&str]) -> StackId {
        if frames.is_empty() {
            return StackId::NONE;
        }
        let frames: Vec<String> = frames.iter().map(|frame| (*frame).to_owned()).collect();
        if let Some(place) = self.known.iter().position(|known| *known == frames) {
            return StackId(place as u32);
        }
        let parts = frames.iter().map(|frame| frame.split_once(' ').unwrap());
        let stack = self.snapshot.push_stack(parts.map(|(file, name)| (file, name, 1)));
        self.known.push(frames);
        stack
    }

    /// A block from before the first event; those come first.
    fn early(&mut self, bytes: u64) -> usize {
        let address = (self.blocks.len() as u64 + 1) << 32;
        self.blocks.push((address, bytes, StackId::NONE, true));
        self.blocks.len() - 1
    }

    fn alloc(&mut self, bytes: u64, frames: &[&str]) -> usize {
        let (block, stack) = (self.early(bytes), self.stack(frames));
        self.blocks[block].2 = stack;
        self.snapshot.push_event(Action::Alloc, self.blocks[block].0, bytes, stack);
        block
    }

    fn free(&mut self, block: usize, frames: &[&str]) {
        let (address, bytes, ..) = self.blocks[block];
        let stack = self.stack(frames);
        self.blocks[block].3 = false;
        self.snapshot.push_event(Action::FreeRequested, address, bytes, stack);
        self.snapshot.push_event(Action::FreeCompleted, address, bytes, stack);
    }

    fn made(mut self) -> ReplayedSnapshot {
        for &(address, bytes, stack, _) in self.blocks.iter().filter(|block| block.3) {
            let first = self.snapshot.blocks.len();
            let state = BlockState::Allocated;
            self.snapshot.blocks.push(Block {
                address,
                bytes,
                requested_bytes: bytes,
                state,
                stack,
            });
            self.snapshot.segments.push(Segment {
                address,
                bytes,
                allocated_bytes: bytes,
                active_bytes: bytes,
                stream: 0,
                is_small: false,
                pool: self.pool,
                is_expandable: false,
                stack: StackId::NONE,
                blocks: first..first + 1,
            });
        }
        let (segments, events) = (0..self.snapshot.segments.len(), 0..self.snapshot.events.len());
        let device = SnapshotDevice { number: 0, segments, events, ..SnapshotDevice::default() };
        self.snapshot.devices.push(device);
        ReplayedSnapshot::of(self.snapshot)
    }

    /// The category of each block, in the order of its making.
    fn categories(self) -> Vec<Is> {
        let addresses: Vec<u64> = self.blocks.iter().map(|block| block.0).collect();
        let replayed = self.made();
        let lives = &replayed.replays[0].lives;
        let row = |address: &u64| lives.addresses.iter().position(|of| of == address).unwrap();
        addresses.iter().map(|address| replayed.categories(0)[row(address)]).collect()
    }

    /// A forward pass: the batch, so many blocks of a model, and one that is gone at once.
    fn forward(&mut self, blocks: usize) -> Vec<usize> {
        let mut all = vec![self.alloc(3 * MIB, &["/home/me/train.py batch", MAIN])];
        for place in 0..blocks {
            let own = format!("/home/me/model.py layer{place}");
            all.push(self.alloc(4 * MIB, &[&own, CALL, MODEL, CALL, MAIN]));
            let gone = self.alloc(MIB / 2, &[&own, CALL, MODEL, CALL, MAIN]);
            self.free(gone, &[MODEL, CALL, MAIN]);
        }
        all
    }

    /// The backward pass of the same, with a gradient of 2 MiB.
    fn backward(&mut self, forward: &[usize]) -> usize {
        let gradient = self.alloc(2 * MIB, &[]);
        for block in forward.iter().skip(1).rev() {
            let passing = self.alloc(4 * MIB, &[]);
            self.free(*block, &[]);
            self.free(passing, &[]);
        }
        gradient
    }
}

fn count(categories: &[Is], category: Is) -> usize {
    categories.iter().filter(|one| **one == category).count()
}

#[test]
fn each_part_of_a_step_has_its_category() {
    let mut program = Program::default();
    let mut expected = vec![Is::Parameter];
    program.alloc(2 * MIB, &[CUDA, MAIN]);
    for step in 0..3 {
        let forward = program.forward(2);
        expected.extend([Is::Input, Is::Activation, Is::Temporary, Is::Activation, Is::Temporary]);
        let gradient = program.backward(&forward);
        expected.extend([Is::Gradient, Is::Temporary, Is::Temporary]);
        if step == 0 {
            program.alloc(2 * MIB, &[ADAM, MAIN]);
            expected.push(Is::OptimizerState);
        }
        let passing = program.alloc(2 * MIB, &[ADAM, MAIN]);
        program.free(passing, &[ADAM, MAIN]);
        expected.push(Is::Temporary);
        program.free(gradient, &[ZERO, MAIN]);
        program.free(forward[0], &[MAIN]);
    }
    assert_eq!(program.categories(), expected);
}

#[test]
fn what_a_failed_forward_pass_keeps_are_activations() {
    // As an earlier pass shows, and as much as is alive together shows.
    for steps in [0, 1] {
        let mut program = Program::default();
        program.alloc(2 * MIB, &[CUDA, MAIN]);
        for _ in 0..steps {
            let forward = program.forward(12);
            let gradient = program.backward(&forward);
            let passing = program.alloc(2 * MIB, &[ADAM, MAIN]);
            program.free(passing, &[ADAM, MAIN]);
            program.free(gradient, &[ZERO, MAIN]);
            program.free(forward[0], &[MAIN]);
        }
        let first = program.blocks.len();
        let forward = program.forward(10);
        program.snapshot.push_event(Action::OutOfMemory, 0, 4 * MIB, StackId::NONE);
        for block in forward {
            program.free(block, &[MAIN]);
        }
        let found = program.categories();
        let found = &found[first..];
        assert_eq!((found[0], count(found, Is::Activation)), (Is::Input, 10), "{steps} steps");
        assert_eq!(count(found, Is::Temporary), 10);
    }
}

#[test]
fn inference_keeps_no_activations() {
    let run = |is_cached: bool| {
        let mut program = Program::default();
        program.alloc(2 * MIB, &[CUDA, MAIN]);
        for _ in 0..2 {
            let mut before = program.alloc(3 * MIB, &["/home/me/train.py batch", MAIN]);
            let mut cached = Vec::new();
            for place in 0..12 {
                let own = format!("/home/me/model.py layer{place}");
                let next = program.alloc(4 * MIB, &[&own, CALL, MAIN]);
                // Keys and values of all layers are alive together, and are few of what is asked for.
                if is_cached {
                    cached.push(program.alloc(MIB / 4, &[&own, CALL, MAIN]));
                }
                program.free(before, &[MODEL, CALL, MAIN]);
                before = next;
            }
            program.free(before, &[MAIN]);
            for block in cached {
                program.free(block, &[MAIN]);
            }
        }
        program.categories()
    };
    for is_cached in [false, true] {
        let found = run(is_cached);
        assert_eq!(count(&found, Is::Activation), 0, "{found:?}");
        assert_eq!(count(&found, Is::Parameter), 1);
    }
}

#[test]
fn what_a_decorated_function_keeps_is_no_graph() {
    const NO_GRAD: &str = "/v/site-packages/torch/utils/_contextlib.py decorate_context";
    let mut program = Program::default();
    for _ in 0..12 {
        program.alloc(MIB, &[MODEL, CALL, "/v/site-packages/gen.py generate", NO_GRAD, MAIN]);
    }
    assert_eq!(count(&program.categories(), Is::Activation), 0);
}

/// A pass over two layers, of which the first has a bias, under autocast; copies are freed at its end or by autograd.
fn autocast_pass(program: &mut Program, exit: &[&str]) {
    let input = program.alloc(MIB, &["/home/me/train.py batch", MAIN]);
    let layers: [(&[u64], &str); 2] = [
        (&[4 * KIB, 2 * MIB, MIB / 2, 3 * MIB], "/home/me/model.py first"),
        (&[8 * MIB, 5 * MIB], "/home/me/model.py second"),
    ];
    let mut all = Vec::new();
    for (blocks, own) in layers {
        for bytes in blocks {
            all.push(program.alloc(*bytes, &[LINEAR, CALL, own, CALL, MAIN]));
        }
    }
    let gradient = exit.is_empty().then(|| program.alloc(4 * MIB, &[]));
    for block in all {
        program.free(block, exit);
    }
    let Some(gradient) = gradient else { return program.free(input, &[MAIN]) };
    program.free(gradient, &[ZERO, MAIN]);
    program.free(input, &[MAIN]);
}

#[test]
fn copies_of_weights_under_autocast_are_no_activations() {
    let mut program = Program::default();
    for bytes in [4 * MIB, 8 * KIB, 16 * MIB] {
        program.alloc(bytes, &[CUDA, MAIN]);
    }
    autocast_pass(&mut program, &[]);
    let found = program.categories();
    let expected = [
        Is::Input,
        Is::AutocastCache,
        Is::AutocastCache,
        Is::Activation,
        Is::Activation,
        Is::AutocastCache,
        Is::Activation,
        Is::Gradient,
    ];
    assert_eq!(found[3..], expected);
    // What autocast frees at its end is its own, whatever its size.
    let mut program = Program::default();
    let weight = program.alloc(MIB, &[LINEAR, CALL, MODEL, CALL, MAIN]);
    program.free(weight, &[EXIT, MAIN]);
    assert_eq!(program.categories(), [Is::AutocastCache]);
}

#[test]
fn a_result_that_is_half_as_large_as_a_weight_is_no_copy() {
    let mut program = Program::default();
    for bytes in [4 * MIB, 6 * MIB, 16 * MIB] {
        program.alloc(bytes, &[CUDA, MAIN]);
    }
    // Two calls on one line, one after the other.
    let rows =
        [2 * MIB, 5 * MIB].map(|bytes| program.alloc(bytes, &[LINEAR, CALL, MODEL, CALL, MAIN]));
    program.alloc(4 * MIB, &[]);
    for row in rows {
        program.free(row, &[]);
    }
    assert_eq!(count(&program.categories(), Is::AutocastCache), 0);
}

#[test]
fn blocks_from_before_the_recording_go_by_what_is_known_of_them() {
    let mut program = Program::default();
    let early = [4 * MIB; 3].map(|bytes| program.early(bytes));
    let other = program.early(5 * MIB);
    let [by_autograd, by_zero, by_code] = [MIB, 4 * MIB, 7 * MIB].map(|of| program.early(of));
    program.free(by_autograd, &[]);
    program.free(by_zero, &[ZERO, MAIN]);
    program.free(by_code, &[MAIN]);
    let forward = program.alloc(MIB, &[MODEL, CALL, MAIN]);
    let gradient = program.alloc(4 * MIB, &[]);
    program.free(forward, &[]);
    program.free(gradient, &[ZERO, MAIN]);
    let found = program.categories();
    assert_eq!(
        early.map(|block| found[block]),
        [Is::Parameter, Is::OptimizerState, Is::OptimizerState]
    );
    let of = [other, by_autograd, by_zero, by_code].map(|block| found[block]);
    assert_eq!(of, [Is::Unknown, Is::Activation, Is::Gradient, Is::Unknown]);
}

#[test]
fn what_a_closure_of_the_optimizer_calls_is_no_state() {
    let mut program = Program::default();
    program.alloc(2 * MIB, &[CUDA, MAIN]);
    let closure = "/v/site-packages/lightning/precision.py _wrap_closure";
    for _ in 0..2 {
        let activation = program.alloc(MIB, &[MODEL, CALL, closure, ADAM, MAIN]);
        let gradient = program.alloc(2 * MIB, &[]);
        program.free(activation, &[]);
        program.alloc(2 * MIB, &[ADAM, MAIN]);
        program.free(gradient, &[ZERO, closure, ADAM, MAIN]);
    }
    let found = program.categories();
    assert_eq!(found[1..4], [Is::Activation, Is::Gradient, Is::OptimizerState]);
}

#[test]
fn a_stack_that_no_thread_of_the_program_leads_to_is_of_the_backward_pass() {
    let mut program = Program::default();
    program.alloc(2 * MIB, &[CUDA, MAIN]);
    let activation = program.alloc(MIB, &[MODEL, CALL, MAIN]);
    let function = "/v/site-packages/torch/autograd/function.py apply";
    let backward = ["/home/me/op.py backward", function];
    let gradient = program.alloc(2 * MIB, &backward);
    program.free(activation, &backward);
    let step = program.alloc(MIB, &[ADAM, MAIN]);
    program.free(step, &[ADAM, MAIN]);
    program.free(gradient, &[MAIN]);
    let found = program.categories();
    assert_eq!(found, [Is::Parameter, Is::Activation, Is::Gradient, Is::Temporary]);
}

#[test]
fn where_frees_have_no_stacks_lives_decide() {
    let mut program = Program::default();
    program.alloc(2 * MIB, &[CUDA, MAIN]);
    let gone = program.alloc(MIB, &[MODEL, CALL, MAIN]);
    program.free(gone, &[]);
    let activation = program.alloc(MIB, &[MODEL, CALL, MAIN]);
    let gradient = program.alloc(2 * MIB, &[]);
    program.free(activation, &[]);
    let step = program.alloc(MIB, &[ADAM, MAIN]);
    program.free(step, &[]);
    program.free(gradient, &[]);
    let expected = [Is::Parameter, Is::Temporary, Is::Activation, Is::Gradient, Is::Temporary];
    assert_eq!(program.categories(), expected);
}

#[test]
fn where_frees_repeat_the_stacks_of_allocations_lives_decide() {
    let call = [MODEL, CALL, MAIN];
    let mut program = Program::default();
    program.alloc(2 * MIB, &[CUDA, MAIN]);
    let gone = program.alloc(MIB, &call);
    program.free(gone, &call);
    let activation = program.alloc(MIB, &call);
    let gradient = program.alloc(2 * MIB, &[]);
    program.free(activation, &call);
    let step = program.alloc(MIB, &[ADAM, MAIN]);
    program.free(step, &[ADAM, MAIN]);
    program.free(gradient, &[]);
    let expected = [Is::Parameter, Is::Temporary, Is::Activation, Is::Gradient, Is::Temporary];
    assert_eq!(program.categories(), expected);
}

#[test]
fn a_failed_step_of_the_optimizer_has_its_state() {
    for makes_state in [true, false] {
        let mut program = Program::default();
        program.alloc(2 * MIB, &[CUDA, MAIN]);
        let forward = program.forward(1);
        program.backward(&forward);
        let init = if makes_state { INIT } else { ADAM };
        let made = [init, ADAM].map(|frame| program.alloc(2 * MIB, &[frame, ADAM, MAIN]));
        program.snapshot.push_event(Action::OutOfMemory, 0, 2 * MIB, StackId::NONE);
        for block in made {
            program.free(block, &[MAIN]);
        }
        let found = program.categories();
        let expected =
            if makes_state { [Is::OptimizerState, Is::Temporary] } else { [Is::Unknown; 2] };
        assert_eq!(made.map(|block| found[block]), expected);
    }
}

#[test]
fn a_program_that_lets_go_of_all_at_its_end_kept_it() {
    let mut program = Program::default();
    let early = [4 * MIB; 3].map(|bytes| program.early(bytes));
    let forward = program.alloc(MIB, &[MODEL, CALL, MAIN]);
    let gradient = program.alloc(4 * MIB, &[]);
    program.free(forward, &[]);
    program.free(gradient, &[ZERO, MAIN]);
    for block in early {
        program.free(block, &[MAIN]);
    }
    let found = program.categories();
    let expected = [Is::Parameter, Is::OptimizerState, Is::OptimizerState];
    assert_eq!(early.map(|block| found[block]), expected);
}

#[test]
fn a_workspace_is_no_gradient_of_a_parameter_that_is_as_large() {
    let mut program = Program::default();
    program.alloc(32 * MIB, &[CUDA, MAIN]);
    for pass in 0..2 {
        let forward = program.forward(1);
        let workspace = (pass == 0).then(|| program.alloc(32 * MIB, &[]));
        let gradient = program.alloc(32 * MIB, &[]);
        for block in forward {
            program.free(block, &[]);
        }
        let step = program.alloc(MIB, &[ADAM, MAIN]);
        program.free(step, &[ADAM, MAIN]);
        program.free(gradient, &[ZERO, MAIN]);
        assert_eq!(workspace.is_some(), pass == 0);
    }
    let found = program.categories();
    assert_eq!((count(&found, Is::Workspace), count(&found, Is::Gradient)), (1, 2), "{found:?}");
}

#[test]
fn a_layer_of_its_own_copies_its_weight_under_autocast() {
    let own = "/v/site-packages/models/layers.py forward";
    let mut program = Program::default();
    for bytes in [4 * MIB, 16 * MIB] {
        program.alloc(bytes, &[CUDA, MAIN]);
    }
    // The input is as large as the copy; what calls layers is none.
    let leaf = [2 * MIB, 2 * MIB, MIB].map(|of| program.alloc(of, &[own, CALL, MODEL, CALL, MAIN]));
    let linear = [8 * MIB, MIB].map(|of| program.alloc(of, &[LINEAR, CALL, MODEL, CALL, MAIN]));
    let caller = [2 * MIB, MIB].map(|of| program.alloc(of, &[MODEL, CALL, MAIN]));
    let gradients = [4 * MIB, 16 * MIB].map(|of| program.alloc(of, &[]));
    for block in [leaf.as_slice(), &linear, &caller].concat() {
        program.free(block, &[]);
    }
    for gradient in gradients {
        program.free(gradient, &[ZERO, MAIN]);
    }
    let found = program.categories();
    let of = |rows: &[usize]| rows.iter().map(|row| found[*row]).collect::<Vec<_>>();
    assert_eq!(of(&leaf), [Is::AutocastCache, Is::Activation, Is::Activation]);
    assert_eq!(of(&linear), [Is::AutocastCache, Is::Activation]);
    assert_eq!(of(&caller), [Is::Activation; 2]);
}

#[test]
fn one_very_large_block_hides_no_graph() {
    let mut program = Program::default();
    program.alloc(2 * MIB, &[CUDA, MAIN]);
    let forward = program.forward(12);
    program.alloc(100 * MIB, &[LINEAR, CALL, MODEL, CALL, MAIN]);
    program.snapshot.push_event(Action::OutOfMemory, 0, 100 * MIB, StackId::NONE);
    let found = program.categories();
    assert_eq!((count(&found, Is::Activation), found[forward[0]]), (12, Is::Input));
}

#[test]
fn a_model_that_is_loaded_has_parameters() {
    let mut program = Program::default();
    for bytes in 1..=9 {
        program.alloc(bytes * MIB, &["/v/site-packages/models/loading.py set_tensor", MAIN]);
    }
    let input = program.alloc(MIB, &["/home/me/train.py batch", MAIN]);
    let gone = program.alloc(MIB, &[MODEL, CALL, MAIN]);
    program.free(gone, &[MODEL, CALL, MAIN]);
    let found = program.categories();
    assert_eq!((count(&found, Is::Parameter), found[input]), (9, Is::Input));
}

#[test]
fn what_no_rule_is_about_is_unknown() {
    let distributed = "/v/site-packages/torch/distributed/fsdp/_unshard.py unshard";
    let mut program = Program::default();
    let gathered = program.alloc(MIB, &[distributed, CALL, MAIN]);
    program.free(gathered, &[distributed, CALL, MAIN]);
    // A model that it calls is not its own.
    let own = program.alloc(MIB, &[LINEAR, CALL, MODEL, CALL, distributed, CALL, MAIN]);
    program.free(own, &[MAIN]);
    assert_eq!(program.categories(), [Is::Unknown, Is::Temporary]);
    let mut program = Program { pool: (0, 1), ..Program::default() };
    program.alloc(MIB, &[CUDA, MAIN]);
    assert_eq!(program.categories(), [Is::Unknown], "a CUDA graph");
    let mut program = Program::default();
    program.alloc(MIB, &[]);
    assert_eq!(program.categories(), [Is::Unknown], "no stacks");
}

/// Stacks of all kinds.
const STACKS: [&[&str]; 9] = [
    &[],
    &[CUDA, MAIN],
    &["/home/me/train.py batch", MAIN],
    &[LINEAR, CALL, MAIN],
    &[MODEL, CALL, MAIN],
    &[ADAM, MAIN],
    &[ZERO, MAIN],
    &[EXIT, MAIN],
    &["??.cpp at"],
];

proptest! {
    #[test]
    fn categories_add_up_to_the_curve(
        early in prop::collection::vec(1..5_u64, 0..6),
        events in prop::collection::vec((any::<bool>(), 0..60_usize, 1..5_u64, 0..STACKS.len()), 1..80),
    ) {
        let mut program = Program::default();
        for bytes in early {
            program.early(bytes * KIB);
        }
        for (frees, block, bytes, stack) in events {
            let is_live = program.blocks.get(block).is_some_and(|block| block.3);
            if frees && is_live {
                program.free(block, STACKS[stack]);
            } else {
                program.alloc(bytes * KIB, STACKS[stack]);
            }
        }
        let replayed = program.made();
        prop_assert_eq!(replayed.categories(0).len(), replayed.replays[0].lives.len());
        let devices = Devices::At(0);
        let requested = BlockCurve::Requested;
        let curve = block_curve(&replayed, devices, requested);
        let areas = stacked_areas(&replayed, devices, requested, AreasBy::Category, &|| false).unwrap();
        prop_assert_eq!(areas.layers.last(), Some(&curve));
    }
}
