//! Writes a snapshot like `torch.cuda.memory._dump_snapshot` (formats/pytorch.md 3): the segments at the end, then the
//! events that led there, settings, and marks of named parts. Stacks are lists that all share frames; what happened at
//! once shares its list.

use std::collections::HashMap;
use std::io::Write;

use super::caching_allocator::{AllocatorOptions, CapturedStack, EndBlock, EndSegment, Event};
use super::frames::{CallStack, SourceFrame};
use super::pickle::{Items, MemoId, PickleWriter};
use super::training::{Mark, TrainingOutcome};
use crate::store::snapshot::{Action, BlockState};

/// A stream that is not the default is a pointer.
const STREAM: u64 = 0x5581_3a2c_0000;

/// A snapshot that is being written.
pub(super) struct SnapshotWriter<W> {
    pickle: PickleWriter<W>,
    words: HashMap<&'static str, MemoId>,
    frames: HashMap<SourceFrame, MemoId>,
    /// The frames of stacks that were written before.
    stacks: HashMap<CallStack, Vec<MemoId>>,
    /// The lists of what is still there at the end.
    kept: HashMap<u64, MemoId>,
    /// That of the last capture.
    last: Option<(u64, MemoId)>,
    devices: Items,
    events: Items,
}

impl<W: Write> SnapshotWriter<W> {
    /// Writes the segments and begins the events.
    pub(super) fn begin(out: W, segments: &[EndSegment]) -> Self {
        let mut writer = Self {
            pickle: PickleWriter::new(out),
            words: HashMap::new(),
            frames: HashMap::new(),
            stacks: HashMap::new(),
            kept: HashMap::new(),
            last: None,
            devices: Items::default(),
            events: Items::default(),
        };
        writer.pickle.dict();
        writer.pickle.begin_pairs();
        writer.word("segments");
        writer.pickle.list();
        let mut items = Items::default();
        for segment in segments {
            writer.pickle.item(&mut items);
            writer.segment(segment);
        }
        writer.pickle.end_items(&mut items);
        writer.word("device_traces");
        writer.pickle.list();
        // One device: a list within the list.
        writer.pickle.item(&mut writer.devices);
        writer.pickle.list();
        writer
    }

    /// Whether something could not be written.
    pub(super) fn has_failed(&self) -> bool {
        self.pickle.has_failed()
    }

    /// Ends the events and writes the rest; returns the bytes of all.
    ///
    /// # Errors
    /// When something could not be written.
    pub(super) fn finish(
        mut self,
        settings: &AllocatorOptions,
        outcome: &TrainingOutcome,
    ) -> Result<u64, std::io::Error> {
        self.pickle.end_items(&mut self.events);
        self.pickle.end_items(&mut self.devices);
        self.settings(settings);
        self.marks(&outcome.marks);
        self.pickle.end_pairs();
        self.pickle.finish()
    }

    fn word(&mut self, word: &'static str) {
        match self.words.get(word) {
            Some(memo) => self.pickle.again(*memo),
            None => {
                let memo = self.pickle.text(word);
                self.words.insert(word, memo);
            }
        }
    }

    fn number(&mut self, key: &'static str, number: u64) {
        self.word(key);
        self.pickle.integer(number);
    }

    fn stream(&mut self, stream: u32) {
        let pointer = if stream == 0 { 0 } else { STREAM + u64::from(stream) * 0x100 };
        self.number("stream", pointer);
    }

    fn segment(&mut self, segment: &EndSegment) {
        let of = |states: &'static [BlockState], figure: fn(&EndBlock) -> u64| {
            segment.sum(|block| if states.contains(&block.state) { figure(block) } else { 0 })
        };
        let active = &[BlockState::Allocated, BlockState::Pending];
        self.pickle.dict();
        self.pickle.begin_pairs();
        self.number("device", 0);
        self.number("address", segment.address);
        self.number("total_size", segment.bytes);
        self.number("allocated_size", of(&[BlockState::Allocated], |block| block.bytes));
        self.number("active_size", of(active, |block| block.bytes));
        self.number("requested_size", of(active, |block| block.requested_bytes));
        self.stream(segment.stream);
        self.word("segment_type");
        self.word(if segment.is_small { "small" } else { "large" });
        self.word("segment_pool_id");
        self.pickle.integer(0);
        self.pickle.integer(0);
        self.pickle.pair();
        self.word("is_expandable");
        self.pickle.boolean(false);
        self.word("frames");
        self.kept_stack(segment.capture);
        self.word("blocks");
        self.pickle.list();
        let mut items = Items::default();
        for block in &segment.blocks {
            self.pickle.item(&mut items);
            self.block(block);
        }
        self.pickle.end_items(&mut items);
        self.pickle.end_pairs();
    }

    fn block(&mut self, block: &EndBlock) {
        self.pickle.dict();
        self.pickle.begin_pairs();
        self.number("address", block.address);
        self.number("size", block.bytes);
        self.number("requested_size", block.requested_bytes);
        self.word("state");
        self.word(block.state.as_str());
        self.word("frames");
        if block.state == BlockState::Inactive {
            self.pickle.list();
        } else {
            self.kept_stack(block.capture);
        }
        self.pickle.end_pairs();
    }

    pub(super) fn event(&mut self, event: &Event, time: u64) {
        self.pickle.item(&mut self.events);
        self.pickle.dict();
        self.pickle.begin_pairs();
        self.word("action");
        self.word(event.action.as_str());
        let is_failure = event.action == Action::OutOfMemory;
        self.number(if is_failure { "device_free" } else { "addr" }, event.address);
        self.number("size", event.bytes);
        self.stream(event.stream);
        self.number("time_us", time);
        self.word("compile_context");
        self.word("N/A");
        self.word("frames");
        self.stack(event.capture);
        self.pickle.end_pairs();
    }

    /// A stack of the end, whose list the event that it is of will name.
    fn kept_stack(&mut self, capture: CapturedStack) {
        match self.kept.get(&capture.number) {
            Some(memo) => self.pickle.again(*memo),
            None => {
                let memo = self.new_stack(capture.stack);
                self.kept.insert(capture.number, memo);
            }
        }
    }

    fn stack(&mut self, capture: CapturedStack) {
        let last = self.last.filter(|(number, _)| *number == capture.number);
        let known = last.map(|(_, memo)| memo);
        if let Some(memo) = known.or_else(|| self.kept.get(&capture.number).copied()) {
            return self.pickle.again(memo);
        }
        let memo = self.new_stack(capture.stack);
        self.last = Some((capture.number, memo));
    }

    fn new_stack(&mut self, stack: CallStack) -> MemoId {
        let memo = self.pickle.list();
        let mut items = Items::default();
        if let Some(frames) = self.stacks.get(&stack) {
            for frame in frames {
                self.pickle.item(&mut items);
                self.pickle.again(*frame);
            }
        } else {
            let mut frames = Vec::new();
            for frame in stack.frames() {
                self.pickle.item(&mut items);
                frames.push(self.frame(frame));
            }
            self.stacks.insert(stack, frames);
        }
        self.pickle.end_items(&mut items);
        memo
    }

    fn frame(&mut self, frame: SourceFrame) -> MemoId {
        if let Some(memo) = self.frames.get(&frame) {
            self.pickle.again(*memo);
            return *memo;
        }
        let SourceFrame(file, line, name) = frame;
        let memo = self.pickle.dict();
        self.pickle.begin_pairs();
        // PyTorch makes these texts anew for each frame.
        self.word("name");
        self.pickle.text(name);
        self.word("filename");
        self.pickle.text(file);
        self.number("line", u64::from(line));
        self.pickle.end_pairs();
        self.frames.insert(frame, memo);
        memo
    }

    fn settings(&mut self, settings: &AllocatorOptions) {
        self.word("allocator_settings");
        self.pickle.dict();
        self.pickle.begin_pairs();
        self.word("PYTORCH_CUDA_ALLOC_CONF");
        self.pickle.text(&settings.as_text());
        self.word("max_split_size");
        match settings.most_split_bytes {
            Some(bytes) => self.pickle.integer(bytes),
            None => self.pickle.negative(-1),
        }
        self.word("garbage_collection_threshold");
        self.pickle.float(0.0);
        self.word("expandable_segments");
        self.pickle.boolean(false);
        self.word("roundup_power2_divisions");
        self.pickle.dict();
        self.pickle.begin_pairs();
        for power in 0..16 {
            self.pickle.text(&(1_u32 << power).to_string());
            self.pickle.integer(settings.roundup_divisions);
        }
        self.pickle.end_pairs();
        self.pickle.end_pairs();
    }

    fn marks(&mut self, marks: &[Mark]) {
        self.word("external_annotations");
        self.pickle.list();
        let mut items = Items::default();
        for mark in marks {
            self.pickle.item(&mut items);
            self.pickle.dict();
            self.pickle.begin_pairs();
            self.word("stage");
            self.word(if mark.is_start { "START" } else { "END" });
            self.word("name");
            self.pickle.text(&mark.name);
            self.number("device", 0);
            self.number("time_us", mark.time);
            self.pickle.end_pairs();
        }
        self.pickle.end_items(&mut items);
    }
}
