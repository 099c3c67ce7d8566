//! Requested bytes alive at the peak of the requested curve, by category and by user frame. Both add up to the peak.

use std::collections::HashMap;
use std::hash::Hash;

use super::categories::BlockCategory;
use super::lives::BlockLives;
use super::replay::Replay;
use super::user_frame::{NO_STACK, caller, frame_title, function_title, user_frame};
use crate::store::snapshot::{Action, Snapshot, SnapshotDevice, StackId};

/// What belongs to no module of `torch.nn`.
pub const NO_MODULE: &str = "(no module of torch.nn)";

/// What is alive at the peak of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct PeakContents {
    /// The number of the device.
    pub device: i64,
    /// The event within the device; −1 is before the first.
    pub event: i64,
    /// What the event did; `None` before the first.
    pub action: Option<Action>,
    /// The user frame of the event.
    pub frame: Option<String>,
    /// Bytes that were asked for.
    pub bytes: u64,
    /// Of these, of blocks that live from before the first event to behind the last.
    pub always_live_bytes: u64,
    /// Blocks that are alive.
    pub blocks: u64,
    /// By category, in the order of `BlockCategory::ALL`; only those that have any.
    pub by_category: Vec<CategoryAtPeak>,
    /// By user frame, those with most bytes first, then by name.
    pub by_frame: Vec<FrameBytes>,
    /// The same by the function of the user frame, without its line.
    pub by_function: Vec<FrameBytes>,
    /// The same by the innermost module of `torch.nn`, which is a file of PyTorch's.
    pub by_module: Vec<FrameBytes>,
}

/// Bytes and blocks of one owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct OwnedBytes {
    /// Bytes that were asked for.
    pub bytes: u64,
    /// Number of blocks.
    pub blocks: u64,
}

impl OwnedBytes {
    /// Counts a block.
    pub fn add(&mut self, bytes: u64) {
        self.join(Self { bytes, blocks: 1 });
    }

    /// Counts what another has.
    pub fn join(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.blocks = self.blocks.saturating_add(other.blocks);
    }
}

/// What a category has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CategoryAtPeak {
    /// The category.
    pub category: BlockCategory,
    /// All of it.
    #[serde(flatten)]
    pub all: OwnedBytes,
    /// By which rule a block is of it.
    pub rule: &'static str,
}

/// What a user frame, a function or a module has at the peak.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FrameBytes {
    /// The frame, `file:line (function)`, or [`NO_STACK`]; of a function `file (function)`.
    pub name: String,
    /// All of it.
    #[serde(flatten)]
    pub all: OwnedBytes,
    /// The category that has most of it.
    pub category: BlockCategory,
    /// The frame from which most of it was called, of a frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called_by: Option<String>,
}

/// The device whose requested peak is the largest, the first of equals; a place among the devices.
pub fn largest_device(replays: &[Replay]) -> Option<usize> {
    let all = replays.iter().enumerate();
    all.rev().max_by_key(|(_, replay)| replay.requested_peak.bytes).map(|(place, _)| place)
}

impl PeakContents {
    /// Of a device that was replayed, with the blocks that are alive there; without the categories of its blocks they are
    /// of none that is known.
    pub fn of(
        snapshot: &Snapshot,
        device: &SnapshotDevice,
        replay: &Replay,
        live: &[usize],
        categories: &[BlockCategory],
    ) -> Self {
        let (lives, event) = (&replay.lives, replay.requested_peak.event);
        let mut sums = BlockSums::default();
        for &row in live {
            sums.add(lives, categories, row);
        }
        let row = usize::try_from(event).ok().map(|event| device.events.start + event);
        let stack = row.and_then(|row| snapshot.events.stacks.get(row));
        let frame = stack.and_then(|stack| user_frame(snapshot, *stack));
        Self {
            device: device.number,
            event,
            action: row.and_then(|row| snapshot.events.actions.get(row)).copied(),
            frame: frame.map(|frame| frame_title(snapshot, frame)),
            bytes: sums.all.bytes,
            always_live_bytes: lives.always_live_bytes(),
            blocks: sums.all.blocks,
            by_category: sums.by_category(),
            by_frame: sums.by_frame(snapshot),
            by_function: grouped_by(&sums.by_stack, NO_STACK, |stack| {
                let frame = user_frame(snapshot, stack)?;
                Some(((frame.file, frame.name), function_title(snapshot, frame)))
            }),
            by_module: sums.by_module(snapshot),
        }
    }
}

/// Bytes and blocks, by what they are for and by the stack that asked for them.
#[derive(Clone, Debug, Default)]
pub struct BlockSums {
    all: OwnedBytes,
    of_categories: [OwnedBytes; BlockCategory::ALL.len()],
    by_stack: HashMap<(StackId, BlockCategory), OwnedBytes>,
}

impl BlockSums {
    /// Counts a block; without the categories of blocks it is of none that is known.
    pub fn add(&mut self, lives: &BlockLives, categories: &[BlockCategory], row: usize) {
        let bytes = lives.requested[row];
        let category = categories.get(row).copied().unwrap_or(BlockCategory::Unknown);
        self.all.add(bytes);
        self.of_categories[category as usize].add(bytes);
        self.by_stack.entry((lives.stacks[row], category)).or_default().add(bytes);
    }

    /// Counts what another has.
    pub fn join(&mut self, other: Self) {
        self.all.join(other.all);
        for (sum, other) in self.of_categories.iter_mut().zip(other.of_categories) {
            sum.join(other);
        }
        for (key, owned) in other.by_stack {
            self.by_stack.entry(key).or_default().join(owned);
        }
    }

    /// By category, in the order of `BlockCategory::ALL`; only those that have any.
    pub fn by_category(&self) -> Vec<CategoryAtPeak> {
        let named = BlockCategory::ALL.into_iter().zip(self.of_categories);
        let named = named.filter(|(_, all)| all.blocks > 0);
        named
            .map(|(category, all)| CategoryAtPeak { category, all, rule: category.rule() })
            .collect()
    }

    /// By user frame, those with most bytes first, then by name.
    pub fn by_frame(&self, snapshot: &Snapshot) -> Vec<FrameBytes> {
        let mut rows = grouped_by(&self.by_stack, NO_STACK, |stack| {
            let frame = user_frame(snapshot, stack)?;
            Some((*frame, frame_title(snapshot, frame)))
        });
        let mut callers: HashMap<String, HashMap<String, u64>> = HashMap::new();
        for ((stack, _), owned) in &self.by_stack {
            let frame = user_frame(snapshot, *stack).zip(caller(snapshot, *stack));
            let Some((frame, caller)) = frame else { continue };
            let of_frame = callers.entry(frame_title(snapshot, frame)).or_default();
            let bytes = of_frame.entry(frame_title(snapshot, caller)).or_default();
            *bytes = bytes.saturating_add(owned.bytes);
        }
        for row in &mut rows {
            let of_row = callers.remove(&row.name).unwrap_or_default().into_iter();
            // Of equals the first by name.
            let most = of_row.max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
            row.called_by = most.map(|(caller, _)| caller);
        }
        rows
    }

    /// The same by the innermost module of `torch.nn`, which is a file of PyTorch's.
    pub fn by_module(&self, snapshot: &Snapshot) -> Vec<FrameBytes> {
        grouped_by(&self.by_stack, NO_MODULE, |stack| {
            let file = module_file(snapshot, stack)?;
            Some((file, format!("torch/nn/modules/{file}")))
        })
    }
}

/// The file of the innermost module of `torch.nn` in a stack, but for those that only call and hold others.
fn module_file(snapshot: &Snapshot, stack: StackId) -> Option<&str> {
    let files = snapshot.frames_of(stack).map(|frame| snapshot.texts.get(frame.file));
    let mut of_modules = files.filter_map(|file| Some(file.rsplit_once("torch/nn/modules/")?.1));
    of_modules.find(|file| !matches!(*file, "module.py" | "container.py"))
}

/// Sums by what a stack belongs to, with its name; `nobody` is what belongs to nothing.
fn grouped_by<K: Eq + Hash>(
    by_stack: &HashMap<(StackId, BlockCategory), OwnedBytes>,
    nobody: &str,
    owner: impl Fn(StackId) -> Option<(K, String)>,
) -> Vec<FrameBytes> {
    type Sums = [OwnedBytes; BlockCategory::ALL.len()];
    let mut owners: HashMap<Option<K>, (String, Sums)> = HashMap::new();
    for ((stack, category), owned) in by_stack {
        let (key, name) =
            owner(*stack).map_or((None, nobody.to_owned()), |(key, name)| (Some(key), name));
        let (_, sums) = owners.entry(key).or_insert_with(|| (name, Sums::default()));
        sums[*category as usize].join(*owned);
    }
    let rows = owners.into_values().map(|(name, sums)| {
        let mut all = OwnedBytes::default();
        for sum in sums {
            all.join(sum);
        }
        // The first of equals.
        let of_most =
            BlockCategory::ALL.into_iter().zip(sums).rev().max_by_key(|(_, sum)| sum.bytes);
        let category = of_most.map_or(BlockCategory::Unknown, |(category, _)| category);
        FrameBytes { name, all, category, called_by: None }
    });
    let mut rows: Vec<FrameBytes> = rows.collect();
    rows.sort_by(|a, b| b.all.bytes.cmp(&a.all.bytes).then_with(|| a.name.cmp(&b.name)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;

    #[test]
    fn what_is_alive_at_the_peak_adds_up_to_it() {
        let mut snapshot = Snapshot::default();
        for line in [3, 9] {
            snapshot.push_stack([("/home/me/train.py", "f", line)]);
        }
        let stacks = [StackId(0), StackId(1), StackId::NONE, StackId(1)];
        for (number, stack) in (1_u64..).zip(stacks) {
            snapshot.push_event(Action::Alloc, number << 20, 1000 * number, stack);
        }
        snapshot.devices.push(SnapshotDevice { number: 2, events: 0..4, ..Default::default() });
        let replayed = ReplayedSnapshot::of(snapshot);
        let peak = replayed.peak(0).unwrap();
        assert_eq!((peak.device, peak.event, peak.bytes, peak.blocks), (2, 3, 10_000, 4));
        assert_eq!(peak.frame.as_deref(), Some("/home/me/train.py:9 (f)"));
        let found: Vec<_> =
            peak.by_frame.iter().map(|row| (&*row.name, row.all.bytes, row.all.blocks)).collect();
        let expected = [
            ("/home/me/train.py:9 (f)", 6000, 2),
            (NO_STACK, 3000, 1),
            ("/home/me/train.py:3 (f)", 1000, 1),
        ];
        assert_eq!(found, expected);
        let sum: u64 = peak.by_category.iter().map(|row| row.all.bytes).sum();
        assert_eq!(sum, peak.bytes);
    }
}
