//! Insights of snapshots that are made here, event by event; what real ones say stands in `tests/suite/pytorch.rs`.

use super::SnapshotInsights;
use super::advice::SnapshotTechnique;
use super::context::DeviceContext;
use super::out_of_memory::Shortage;
use super::what_if::BlockChange;
use crate::run::{Advice, Outcome, SavedOf, Verdict};
use crate::store::snapshot::{
    Action, Block, BlockState, Segment, Snapshot, SnapshotDevice, StackId,
};
use crate::systems::pytorch::allocator::replay::EventPeak;
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::stated_failure::StatedFailure;

mod techniques;

const MIB: u64 = 1 << 20;
const TORCH: &str = "/v/site-packages/torch";

/// A snapshot of one device, as it is made.
#[derive(Default)]
struct Maker {
    snapshot: Snapshot,
    segments: Vec<(u64, u64)>,
    live: Vec<(u64, u64, StackId)>,
    next_segment: u64,
    /// Whether something lived before the first event.
    has_older: bool,
}

impl Maker {
    /// A stack with these frames, innermost first: file and function.
    fn stack(&mut self, frames: &[(&str, &str)]) -> StackId {
        let frames = (1..).zip(frames);
        self.snapshot.push_stack(frames.map(|(line, (file, name))| (*file, *name, line)))
    }

    fn segment(&mut self, bytes: u64) -> u64 {
        self.next_segment += 1 << 40;
        self.snapshot.push_event(Action::SegmentAlloc, self.next_segment, bytes, StackId::NONE);
        self.segments.push((self.next_segment, bytes));
        self.next_segment
    }

    /// A block in a segment of its own, both older than the first event.
    fn older(&mut self, bytes: u64) -> u64 {
        self.next_segment += 1 << 40;
        self.segments.push((self.next_segment, bytes));
        self.live.push((self.next_segment, bytes, StackId::NONE));
        self.has_older = true;
        self.next_segment
    }

    /// A block at an address, of a multiple of 512 bytes.
    fn alloc(&mut self, address: u64, bytes: u64, stack: StackId) -> u64 {
        self.snapshot.push_event(Action::Alloc, address, bytes, stack);
        self.live.push((address, bytes, stack));
        address
    }

    /// A block in a segment of its own.
    fn own(&mut self, bytes: u64, stack: StackId) -> u64 {
        let address = self.segment(bytes);
        self.alloc(address, bytes, stack)
    }

    fn free(&mut self, address: u64, stack: StackId) {
        let place = self.live.iter().position(|(other, ..)| *other == address).unwrap();
        let (_, bytes, _) = self.live.remove(place);
        self.snapshot.push_event(Action::FreeRequested, address, bytes, stack);
        self.snapshot.push_event(Action::FreeCompleted, address, bytes, StackId::NONE);
    }

    /// Gives back the segments in which nothing is in use.
    fn give_back(&mut self) {
        let live = self.live.clone();
        let is_used = |start: u64, bytes: u64| {
            live.iter().any(|(address, ..)| (start..start + bytes).contains(address))
        };
        let (used, free): (Vec<_>, Vec<_>) =
            self.segments.iter().partition(|(start, bytes)| is_used(*start, *bytes));
        for (start, bytes) in free {
            self.snapshot.push_event(Action::SegmentFree, start, bytes, StackId::NONE);
        }
        self.segments = used;
    }

    fn fail(&mut self, bytes: u64, device_free: u64, stack: StackId) {
        self.snapshot.push_event(Action::OutOfMemory, device_free, bytes, stack);
    }

    /// The snapshot with its state at the end.
    fn made(mut self) -> ReplayedSnapshot {
        let has_older = self.has_older;
        self.live.sort_by_key(|(address, ..)| *address);
        for (start, bytes) in self.segments {
            let first = self.snapshot.blocks.len();
            let (mut at, mut used) = (start, 0);
            let mut add = |address, bytes, state, stack| {
                let requested_bytes = bytes;
                let block = Block { address, bytes, requested_bytes, state, stack };
                self.snapshot.blocks.push(block);
            };
            let within =
                self.live.iter().filter(|(address, ..)| (start..start + bytes).contains(address));
            for (address, bytes, stack) in within {
                if at < *address {
                    add(at, address - at, BlockState::Inactive, StackId::NONE);
                }
                add(*address, *bytes, BlockState::Allocated, *stack);
                at = address + bytes;
                used += bytes;
            }
            if at < start + bytes {
                add(at, start + bytes - at, BlockState::Inactive, StackId::NONE);
            }
            self.snapshot.segments.push(Segment {
                address: start,
                bytes,
                allocated_bytes: used,
                active_bytes: used,
                stream: 0,
                is_small: bytes == 2 * MIB,
                pool: (0, 0),
                is_expandable: false,
                stack: StackId::NONE,
                blocks: first..self.snapshot.blocks.len(),
            });
        }
        let device = SnapshotDevice {
            number: 0,
            segments: 0..self.snapshot.segments.len(),
            events: 0..self.snapshot.events.len(),
            ..SnapshotDevice::default()
        };
        self.snapshot.devices.push(device);
        let replayed = ReplayedSnapshot::of(self.snapshot);
        assert_eq!(replayed.replays[0].mismatches, 0, "the fixture agrees with itself");
        assert_ne!(replayed.replays[0].is_complete, has_older);
        replayed
    }
}

/// Where blocks of a training run come from.
struct Stacks {
    parameter: StackId,
    forward: StackId,
    optimizer: StackId,
    zero_grad: StackId,
    leak: StackId,
}

impl Stacks {
    fn of(maker: &mut Maker) -> Self {
        let module = format!("{TORCH}/nn/modules/module.py");
        let adam = format!("{TORCH}/optim/adam.py");
        let optimizer = format!("{TORCH}/optim/optimizer.py");
        let train = "/home/me/train.py";
        Self {
            parameter: maker.stack(&[(&module, "_apply"), (&module, "cuda"), (train, "main")]),
            forward: maker.stack(&[(train, "forward"), (&module, "_call_impl"), (train, "main")]),
            optimizer: maker.stack(&[(&adam, "step"), (train, "main")]),
            zero_grad: maker.stack(&[(&optimizer, "zero_grad"), (train, "main")]),
            leak: maker.stack(&[(train, "log"), (train, "main")]),
        }
    }
}

fn insights(replayed: &ReplayedSnapshot) -> SnapshotInsights {
    SnapshotInsights::of(replayed, &[], false)
}

fn verdict(found: &SnapshotInsights) -> &Verdict {
    found.found.verdict.as_ref().unwrap()
}

fn advice(found: &SnapshotInsights, id: SnapshotTechnique) -> Option<&Advice> {
    found.found.advice.iter().find(|advice| advice.id == id.key())
}

fn saved(found: &SnapshotInsights, id: SnapshotTechnique) -> Option<u64> {
    advice(found, id)?.saving.as_ref()?.at_most_bytes
}

fn expected(found: &SnapshotInsights, id: SnapshotTechnique) -> Option<u64> {
    advice(found, id)?.saving.as_ref()?.expected_bytes
}

/// A run of some steps with a parameter of 64 MiB and 24 activations of 16 MiB; gradients are kept over the step of
/// the optimizer or not, and so many bytes are kept of each step.
fn training(steps: usize, keeps_gradients: bool, leak: u64) -> ReplayedSnapshot {
    let mut maker = Maker::default();
    let stacks = Stacks::of(&mut maker);
    maker.own(64 * MIB, stacks.parameter);
    let (mut gradient, mut state) = (None, None);
    let temporary = maker.segment(64 * MIB);
    for step in 0..steps {
        let activations: Vec<u64> = (0..24).map(|_| maker.own(16 * MIB, stacks.forward)).collect();
        if leak > 0 {
            maker.own(leak, stacks.leak);
        }
        // The first allocation of the backward pass.
        let passing = maker.own(2 * MIB, StackId::NONE);
        for activation in activations {
            maker.free(activation, StackId::NONE);
        }
        let kept: u64 = gradient.take().unwrap_or_else(|| maker.own(64 * MIB, StackId::NONE));
        maker.free(passing, StackId::NONE);
        if step == 0 {
            state = Some(maker.own(64 * MIB, stacks.optimizer));
        }
        maker.alloc(temporary, 64 * MIB, stacks.optimizer);
        maker.free(temporary, stacks.optimizer);
        if keeps_gradients {
            gradient = Some(kept);
        } else {
            maker.free(kept, stacks.zero_grad);
        }
    }
    assert!(state.is_some());
    maker.made()
}

#[test]
fn a_peak_with_nothing_taken_away_is_the_peak() {
    // Few steps, and steps of which most are the same, or none.
    for (steps, leak) in [(3, 0), (9, 0), (9, 4 * MIB)] {
        peaks_are_those_of_adding_up(&training(steps, false, leak), steps > 3 && leak == 0);
    }
}

fn peaks_are_those_of_adding_up(replayed: &ReplayedSnapshot, repeats: bool) {
    let context = DeviceContext::of(replayed, 0, &[]).unwrap();
    let peak = replayed.replays[0].requested_peak;
    let half = EventPeak { bytes: peak.bytes / 2, ..peak };
    let most = |changes: &[&BlockChange<'_>]| {
        let after = context.after_changes(changes).into_iter();
        after.map(|after| after.most).collect::<Vec<_>>()
    };
    // As it is found by adding up what is alive after each event.
    let lives = context.lives();
    let naive = |change: &BlockChange<'_>| {
        let left = |row: usize| change.left_of(row, lives.requested[row]);
        let events = i64::try_from(context.device.events.len()).unwrap();
        let sum = |event: i64| lives.live_after(event).map(left).sum::<u64>();
        let all = (-1..events).map(|event| EventPeak { bytes: sum(event), event });
        all.rev().max_by_key(|peak| peak.bytes)
    };
    for parts in [0, 2, 4] {
        let some = BlockChange::part_of(parts, |row| row % 3 == 0);
        assert_eq!(most(&[&some]).first().copied(), naive(&some), "{parts}");
    }
    let changes = [
        BlockChange::without(|_| false),
        BlockChange::without(|_| true),
        BlockChange::part_of(2, |_| true),
        BlockChange::without(|_| true).needing(7),
    ];
    let all: Vec<&BlockChange<'_>> = changes.iter().collect();
    let none = |bytes| EventPeak { bytes, event: -1 };
    assert_eq!(most(&all), [peak, none(0), half, none(7)]);
    // Of equal steps one is looked at.
    let steps = context.moments.optimizer_steps.len();
    assert_eq!(context.parts.get().unwrap().parts.len() < steps, repeats);
}

#[test]
fn what_grows_from_step_to_step_is_named_and_what_does_not_is_not() {
    let found = insights(&training(5, false, 4 * MIB));
    let growing = &found.devices[0].growth;
    assert_eq!(growing.len(), 1, "{growing:?}");
    assert_eq!(growing[0].name, "/home/me/train.py:1 (log)");
    assert_eq!((growing[0].bytes_by_step(), growing[0].steps), (4 * MIB, 4));
    assert_eq!(found.found.advice[0].id, SnapshotTechnique::DropReferences.key());
    for keeps_gradients in [false, true] {
        let found = insights(&training(5, keeps_gradients, 0));
        assert_eq!(found.devices[0].growth, []);
        assert_eq!(advice(&found, SnapshotTechnique::DropReferences), None);
    }
    assert_eq!(insights(&training(2, false, 4 * MIB)).devices[0].growth, [], "two are no row");
}

#[test]
fn gradients_that_outlive_the_step_are_advised_against() {
    let kept = insights(&training(3, true, 0));
    assert_eq!(
        saved(&kept, SnapshotTechnique::SetGradientsToNone),
        Some(64 * MIB),
        "{:#?}",
        kept.found.advice
    );
    let freed = insights(&training(3, false, 0));
    assert_eq!(advice(&freed, SnapshotTechnique::SetGradientsToNone), None);
    // What is promised comes out.
    let peaks = [kept, freed].map(|found| found.devices[0].peak.bytes);
    assert!(peaks[0] - peaks[1] <= 64 * MIB && peaks[0] > peaks[1], "{peaks:?}");
}

#[test]
fn checkpoints_smaller_batches_and_less_state_are_advised_of_a_training_run() {
    let found = insights(&training(3, false, 0));
    // Parameter, state, activations and a bit of the backward pass.
    assert_eq!(found.devices[0].peak.bytes, (64 + 64 + 384 + 2) * MIB);
    let phase = found.devices[0].peak.phase.as_ref().unwrap();
    assert_eq!(phase.text(), "the backward pass (no Python stack) of recorded step 2");
    let checkpoints = advice(&found, SnapshotTechnique::CheckpointActivations).unwrap();
    let saving = checkpoints.saving.as_ref().unwrap();
    // Without activations the peak is in the step of the optimizer: parameter, gradient, state, temporary.
    assert_eq!(saving.at_most_bytes, Some((514 - 256) * MIB));
    // Of four segments the inputs of three, and the six activations of one are left.
    assert_eq!(saving.expected_bytes, Some((384 - (3 + 6) * 16) * MIB));
    assert_eq!(saved(&found, SnapshotTechnique::FewerSamples), Some(193 * MIB));
    assert_eq!(
        expected(&found, SnapshotTechnique::FewerSamples),
        Some((193 - 64) * MIB),
        "gradients stay while they are accumulated"
    );
    assert_eq!(saved(&found, SnapshotTechnique::Autocast), Some(193 * MIB));
    assert_eq!(expected(&found, SnapshotTechnique::SmallerOptimizerState), Some(48 * MIB));
    // Of those that lower what is asked for; each block has a segment here, so much is reserved.
    let is_of_peak = |advice: &&Advice| {
        advice.saving.as_ref().is_some_and(|saving| saving.of == SavedOf::RequestedPeak)
    };
    let first = found.found.advice.iter().find(is_of_peak);
    assert_eq!(first.map(|advice| advice.id), Some(SnapshotTechnique::CheckpointActivations.key()));
}

#[test]
fn an_optimizer_that_works_on_lists_is_seen_where_it_owns_the_peak() {
    let mut maker = Maker::default();
    let stacks = Stacks::of(&mut maker);
    maker.own(64 * MIB, stacks.parameter);
    for _ in 0..2 {
        let activation = maker.own(2 * MIB, stacks.forward);
        let gradient = maker.own(64 * MIB, StackId::NONE);
        maker.free(activation, StackId::NONE);
        let temporary = maker.own(64 * MIB, stacks.optimizer);
        maker.free(temporary, stacks.optimizer);
        maker.free(gradient, stacks.zero_grad);
    }
    let found = insights(&maker.made());
    assert_eq!(found.devices[0].peak.bytes, 192 * MIB);
    assert_eq!(
        saved(&found, SnapshotTechnique::FusedOptimizer),
        Some(62 * MIB),
        "{:#?}",
        found.found.advice
    );
    assert_eq!(
        advice(&found, SnapshotTechnique::StepInBackward),
        None,
        "of one gradient one is left"
    );
    assert_eq!(advice(&found, SnapshotTechnique::SmallerOptimizerState), None, "nothing is kept");
    assert_eq!(advice(&found, SnapshotTechnique::NoGradientsNeeded), None);
}

#[test]
fn a_forward_pass_that_keeps_all_without_a_backward_pass_needs_no_graph() {
    let run = |keeps: bool| {
        let mut maker = Maker::default();
        let stacks = Stacks::of(&mut maker);
        maker.own(64 * MIB, stacks.parameter);
        let mut alive: Vec<u64> = Vec::new();
        for _ in 0..12 {
            alive.push(maker.own(16 * MIB, stacks.forward));
            if !keeps && alive.len() > 2 {
                let first = alive.remove(0);
                maker.free(first, stacks.forward);
            }
        }
        for block in alive {
            maker.free(block, stacks.leak);
        }
        insights(&maker.made())
    };
    let found = run(true);
    assert_eq!(
        saved(&found, SnapshotTechnique::NoGradientsNeeded),
        Some(176 * MIB),
        "all but the result"
    );
    assert_eq!(expected(&found, SnapshotTechnique::NoGradientsNeeded), Some((176 - 32) * MIB));
    assert_eq!(advice(&run(false), SnapshotTechnique::NoGradientsNeeded), None);
}

/// A segment of 60 MiB with pieces of 10 MiB free between blocks, and a request that fails.
fn failing(request: u64, device_free: u64, is_granted_later: bool) -> ReplayedSnapshot {
    failing_between(10 * MIB, request, device_free, is_granted_later)
}

/// The same with six blocks of so many bytes, of which every other one is free.
fn failing_between(
    block: u64,
    request: u64,
    device_free: u64,
    is_granted_later: bool,
) -> ReplayedSnapshot {
    let mut maker = Maker::default();
    let stacks = Stacks::of(&mut maker);
    let start = maker.segment(6 * block);
    let places: Vec<u64> = (0..6).map(|place| start + place * block).collect();
    for place in &places {
        maker.alloc(*place, block, stacks.forward);
    }
    for place in [0, 2, 4] {
        maker.free(places[place], stacks.forward);
    }
    // A request above 10 MiB takes a segment of its size, rounded up to 2 MiB.
    maker.fail(request, device_free, stacks.forward);
    if is_granted_later {
        maker.own(request, stacks.forward);
    }
    maker.made()
}

#[test]
fn a_request_that_fails_says_whether_enough_was_free() {
    let cause = |request: u64, device_free: u64| {
        let found = insights(&failing_between(40 * MIB, request * MIB, device_free * MIB, false));
        assert_eq!(verdict(&found).outcome, Outcome::OutOfMemory);
        assert_eq!(verdict(&found).cause, Some("request-failed"));
        let failure = found.devices[0].out_of_memory.clone().unwrap();
        assert_eq!((failure.free_bytes, failure.pieces), (120 * MIB, 3));
        assert_eq!(failure.largest_piece_bytes, 40 * MIB);
        assert_eq!(failure.frame.as_deref(), Some("/home/me/train.py:1 (forward)"));
        let expandable = advice(&found, SnapshotTechnique::ExpandableSegments).is_some();
        // Pages of 20 MiB in use, with those for the request, are no more than what the process may have.
        let pages = request.next_multiple_of(if request > 1 { 20 } else { 2 });
        let helps = 120 + pages <= 240 + device_free && failure.cause != Shortage::Refused;
        assert_eq!(expandable, helps, "{request} {device_free}");
        let is_said =
            found.found.not_advised.iter().any(|one| one.id == SnapshotTechnique::EmptyCache.key());
        assert!(is_said, "no segment is empty");
        assert_eq!(verdict(&found).over_bytes, failure.short_bytes);
        (failure.cause, failure.short_bytes)
    };
    assert_eq!(cause(96, 16), (Shortage::NoPieceLargeEnough, Some(80 * MIB)));
    assert_eq!(cause(128, 32), (Shortage::Scattered, Some(96 * MIB)));
    assert_eq!(cause(128, 16), (Shortage::Scattered, Some(112 * MIB)));
    assert_eq!(cause(160, 16), (Shortage::TooLittle, Some(144 * MIB)));
    assert_eq!(cause(160, 176), (Shortage::Refused, Some(0)));
    assert_eq!(cause(1, 0), (Shortage::OfOtherPools, Some(2 * MIB)), "of small requests");
    let small = insights(&failing(24 * MIB, 4 * MIB, false));
    assert_eq!(
        advice(&small, SnapshotTechnique::ExpandableSegments),
        None,
        "pieces of half a page cannot be given back"
    );
}

/// A forward pass that fails at a request, with so many activations of 16 MiB alive and so much free on the device.
fn failing_forward(activations: usize, request: u64, device_free: u64) -> SnapshotInsights {
    let mut maker = Maker::default();
    let stacks = Stacks::of(&mut maker);
    maker.own(64 * MIB, stacks.parameter);
    for _ in 0..activations {
        maker.own(16 * MIB, stacks.forward);
    }
    maker.fail(request, device_free, stacks.forward);
    insights(&maker.made())
}

#[test]
fn every_device_has_its_verdict() {
    let found = failing_forward(24, 100 * MIB, 10 * MIB);
    let [device] = &verdict(&found).devices[..] else { panic!("{:?}", verdict(&found)) };
    assert_eq!((device.device, device.outcome), (0, Outcome::OutOfMemory));
    assert_eq!((device.over_bytes, device.used_bytes), (Some(90 * MIB), Some(448 * MIB)));
    assert_eq!((device.peak_bytes, device.peak_step), (Some(448 * MIB), Some(49)));
    let failed = insights(&failing(24 * MIB, 4 * MIB, true));
    assert_eq!(verdict(&failed).devices[0].outcome, Outcome::Ran);
    // The verdict alone is the same as that of all insights.
    let replayed = failing(24 * MIB, 4 * MIB, false);
    let alone = super::verdict::SnapshotVerdict::of(&replayed, &[], false);
    let all = insights(&replayed);
    assert_eq!((&alone.verdict, &alone.facts), (verdict(&all), &all.verdict));
}

#[test]
fn evidence_leads_to_its_event_and_its_line() {
    let found = insights(&training(5, false, 4 * MIB));
    let mut count = 0;
    for evidence in found.found.conclusions.iter().flat_map(|one| &one.evidence) {
        let place = evidence.place.as_ref().unwrap();
        assert_eq!(place.device, Some(0), "{evidence:?}");
        count += 1;
    }
    assert!(count >= 3, "{:#?}", found.found.conclusions);
    let growth = &found.found.advice[0].evidence[0];
    let place = growth.place.as_ref().unwrap();
    assert_eq!(place.frame.as_deref(), Some("/home/me/train.py:1 (log)"));
    assert_eq!(place.step, Some(found.devices[0].growth[0].events.1.into()));
    assert_eq!(growth.bytes, Some(16 * MIB));
}

#[test]
fn what_a_request_could_have_used_is_of_its_own_stream() {
    let cause = |failed_on: u32, request| {
        let mut replayed = failing(request, 4 * MIB, false);
        let events = replayed.snapshot.events.len();
        replayed.snapshot.streams = vec![0, 7];
        replayed.snapshot.events.streams = vec![0; events].into();
        replayed.snapshot.events.streams[events - 1] = failed_on;
        let found = insights(&replayed);
        let failure = found.devices[0].out_of_memory.clone().unwrap();
        (failure.cause, failure.usable_bytes, failure.why())
    };
    assert_eq!(cause(0, 24 * MIB).0, Shortage::NoPieceLargeEnough);
    let (found, usable, _) = cause(1, 24 * MIB);
    assert_eq!((found, usable), (Shortage::OfOtherPools, 0), "all is of another stream");
    // A piece that would do is no reason why it failed.
    let (found, _, why) = cause(0, 9 * MIB);
    assert_eq!(found, Shortage::OfOtherPools);
    assert!(why.contains("in another pool"), "{why}");
}

#[test]
fn of_a_window_nobody_knows_what_was_reserved_too_much() {
    let run = |is_window: bool| {
        let mut maker = Maker::default();
        let stacks = Stacks::of(&mut maker);
        let big = maker.own(512 * MIB, stacks.forward);
        maker.free(big, stacks.forward);
        for _ in 0..8 {
            maker.own(64 * MIB, stacks.forward);
        }
        let mut snapshot = maker.made().snapshot;
        if is_window {
            // The first block came and went before the first event.
            let events = &mut snapshot.events;
            events.actions.drain(..4);
            events.addresses = events.addresses[4..].to_vec().into();
            events.sizes = events.sizes[4..].to_vec().into();
            events.stacks = events.stacks[4..].to_vec().into();
            snapshot.devices[0].events = 0..events.len();
        }
        insights(&ReplayedSnapshot::of(snapshot))
    };
    let whole = run(false);
    assert_eq!(whole.devices[0].fragmentation.most_saved_bytes, Some(512 * MIB));
    assert!(advice(&whole, SnapshotTechnique::ExpandableSegments).is_some());
    let window = run(true);
    assert_eq!(window.devices[0].fragmentation.most_saved_bytes, None);
    assert_eq!(advice(&window, SnapshotTechnique::ExpandableSegments), None);
}

#[test]
fn a_request_that_is_granted_later_was_caught() {
    let found = insights(&failing(24 * MIB, 0, true));
    assert_eq!((verdict(&found).outcome, found.verdict.caught), (Outcome::Ran, 1));
    assert_eq!(found.devices[0].out_of_memory, None);
    assert_eq!(verdict(&found).text, "A request failed, and the run went on");
    assert!(found.found.conclusions.iter().any(|one| one.id == "went-on"));
}

#[test]
fn what_the_device_has_is_said_by_the_text_that_fits_or_by_nobody() {
    let replayed = failing(24 * MIB, 4 * MIB, false);
    let text = |requested| StatedFailure {
        file: "oom.txt".to_owned(),
        device: Some(0),
        requested_bytes: Some(requested),
        capacity_bytes: Some(100 * MIB),
        free_bytes: Some(4 * MIB),
        ..StatedFailure::default()
    };
    let failures = [text(24 * MIB)];
    let found = SnapshotInsights::of(&replayed, &failures, false);
    assert_eq!(verdict(&found).capacity_bytes, Some(100 * MIB));
    assert_eq!(found.verdict.other_bytes, Some(36 * MIB), "100, less 4 free and 60 reserved");
    assert_eq!(verdict(&found).capacity_from.as_deref(), Some("oom.txt"));
    let found = insights(&replayed);
    assert_eq!((verdict(&found).capacity_bytes, found.verdict.other_bytes), (None, None));
}

#[test]
fn of_nothing_nothing_is_said() {
    let found = insights(&ReplayedSnapshot::of(Snapshot::default()));
    assert_eq!(verdict(&found).outcome, Outcome::Unknown);
    assert_eq!(verdict(&found).cause, Some("not-recorded"));
    assert!(found.found.advice.is_empty() && found.found.conclusions.is_empty());
    assert!(found.devices.is_empty() && verdict(&found).devices.is_empty());
    // Without stacks nobody knows what blocks are for.
    let mut maker = Maker::default();
    for _ in 0..20 {
        let block = maker.own(16 * MIB, StackId::NONE);
        maker.own(16 * MIB, StackId::NONE);
        maker.free(block, StackId::NONE);
    }
    let found = insights(&maker.made());
    let ids: Vec<&str> = found.found.advice.iter().map(|one| one.id).collect();
    assert_eq!(ids, [SnapshotTechnique::ExpandableSegments.key()]);
    assert!(found.devices[0].peak.note.is_some());
}
