//! The curves of devices over steps (formats/pytorch.md 4.3), and each but the last as areas that lie on one another: by
//! what blocks are for, or by the code that asked for them. The areas add up to the curve, to the byte, at every step.
//!
//! The value of a step is that after its event. A group of code is that of the user frame ([`super::user_frame`]); the
//! largest at the peak have an area each, all others one together.

use std::collections::HashMap;
use std::ops::Range;

use super::categories::BlockCategory;
use super::lives::BlockLives;
use super::pools::BlockPools;
use super::replay::Replay;
use super::replayed::ReplayedSnapshot;
use super::user_frame::{NO_STACK, frame_title, user_frame};
use crate::analysis::areas::{MOST_GROUPS, OTHERS};
use crate::analysis::liveness::step_changes::{StepChanges, summed};
use crate::run::areas::{AreaGroup, AreasBy, StackedAreas};
use crate::store::names::{Interner, Names};
use crate::store::snapshot::{Action, BlockState, Snapshot, SnapshotDevice, StackId};

crate::text::words! {
    /// A curve of blocks.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum BlockCurve by as_str, title {
        /// Bytes that were asked for, of blocks until their free is completed.
        #[default]
        Requested = "requested" | "Requested",
        /// Bytes of blocks until they are given back.
        Allocated = "allocated" | "Allocated",
        /// Bytes of blocks until their free is completed.
        Active = "active" | "Active",
    }
}

impl BlockCurve {
    /// What it counts, for people.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Requested => "Requested bytes of blocks, until their free is completed",
            Self::Allocated => {
                "Bytes of blocks with rounding, until they are freed: max_memory_allocated() is \
                its peak"
            }
            Self::Active => {
                "Bytes of blocks with rounding, until their free is completed: also those that \
                other streams still use"
            }
        }
    }
}

/// Which devices are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Devices {
    /// Those of the snapshot, without pinned host memory.
    All,
    /// The one at a place.
    At(usize),
}

impl Devices {
    /// Whether the device at a place is meant.
    pub fn has(self, snapshot: &Snapshot, place: usize) -> bool {
        match self {
            Self::All => place < snapshot.devices.len(),
            Self::At(wanted) => place == wanted,
        }
    }

    /// Their steps.
    fn steps(self, replayed: &ReplayedSnapshot) -> u32 {
        match self {
            Self::All => replayed.steps(),
            Self::At(place) => replayed.device(place).map_or(1, |(device, _)| device.steps()),
        }
    }
}

/// A curve as areas; `None` when it was canceled.
pub fn stacked_areas(
    replayed: &ReplayedSnapshot,
    devices: Devices,
    curve: BlockCurve,
    by: AreasBy,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<StackedAreas> {
    let parts = CurveParts::of(replayed, devices, curve);
    let len = parts.steps as usize;
    let peak = parts.peak(replayed, len);
    if is_cancelled() {
        return None;
    }
    let grouping = BlockGrouping::of(replayed, &parts, by, peak.unwrap_or(0));
    let group_of =
        |place: usize, row: usize| u8::try_from(grouping.group(replayed, place, row)).ok();
    let changes = parts.changes(len, group_of);
    if is_cancelled() {
        return None;
    }
    let layers = changes.layers(&vec![true; grouping.groups.len()]);
    (!is_cancelled()).then_some(StackedAreas { groups: grouping.groups, layers })
}

/// The first step of the most.
fn highest(curve: &[u64]) -> Option<usize> {
    let most = *curve.iter().max()?;
    curve.iter().position(|bytes| *bytes == most)
}

/// A curve alone; what lines of several runs are.
pub fn block_curve(replayed: &ReplayedSnapshot, devices: Devices, curve: BlockCurve) -> Vec<u64> {
    let parts = CurveParts::of(replayed, devices, curve);
    parts.curve(parts.steps as usize)
}

/// Bytes of segments after each step.
pub fn reserved_curve(replayed: &ReplayedSnapshot, devices: Devices) -> Vec<u64> {
    let snapshot = &replayed.snapshot;
    // What is taken away wraps around, so a damaged file may go below 0: that is nothing.
    let (mut now, mut changes) = (0_u64, Vec::new());
    let of_devices = replayed.devices().enumerate();
    for (_, (device, replay)) in of_devices.filter(|(place, _)| devices.has(snapshot, *place)) {
        now = now.wrapping_add(replay.start.reserved_bytes);
        let actions = snapshot.events.actions.get(device.events.clone()).unwrap_or_default();
        let sizes = snapshot.events.sizes.get(device.events.clone()).unwrap_or_default();
        for ((event, action), bytes) in (0_u32..).zip(actions).zip(sizes) {
            let change = match action {
                Action::SegmentAlloc | Action::SegmentMap => *bytes,
                Action::SegmentFree | Action::SegmentUnmap => bytes.wrapping_neg(),
                _ => continue,
            };
            changes.push((event as usize, change));
        }
    }
    changes.sort_unstable_by_key(|(step, _)| *step);
    let level = |now: u64| if i64::try_from(now).is_ok() { now } else { 0 };
    let len = devices.steps(replayed) as usize;
    let mut curve = Vec::with_capacity(len);
    for (step, change) in changes {
        curve.resize(step, level(now));
        now = now.wrapping_add(change);
    }
    curve.resize(len, level(now));
    curve
}

/// The devices of a curve, and how long a block counts to it.
struct CurveParts<'a> {
    steps: u32,
    devices: Vec<DevicePart<'a>>,
    curve: BlockCurve,
}

struct DevicePart<'a> {
    place: usize,
    lives: &'a BlockLives,
    /// Whether blocks are given back before their free is completed.
    has_requests: bool,
    /// Addresses of blocks that wait for another stream at the end, ascending.
    pending: Vec<u64>,
}

impl<'a> CurveParts<'a> {
    fn of(replayed: &'a ReplayedSnapshot, devices: Devices, curve: BlockCurve) -> Self {
        let snapshot = &replayed.snapshot;
        let all = replayed.devices().enumerate();
        let wanted = all.filter(|(place, _)| devices.has(snapshot, *place));
        let part = |(place, (device, replay)): (usize, (&'a SnapshotDevice, &'a Replay))| {
            let blocks = snapshot.blocks_of(device);
            let pending = blocks.filter(|block| block.state == BlockState::Pending);
            let mut pending: Vec<u64> = pending.map(|block| block.address).collect();
            pending.sort_unstable();
            let actions = snapshot.events.actions.get(device.events.clone()).unwrap_or_default();
            let has_requests = actions.contains(&Action::FreeRequested);
            DevicePart { place, lives: &replay.lives, has_requests, pending }
        };
        Self { steps: devices.steps(replayed), devices: wanted.map(part).collect(), curve }
    }

    /// The steps at which a block counts, and its bytes.
    fn counted(&self, part: &DevicePart<'_>, row: usize) -> (Range<u32>, u64) {
        let lives = part.lives;
        let (from, freed) = (lives.allocated_at[row], lives.freed_at[row]);
        let given_back = lives.requested_free_at[row];
        let (until, bytes) = match self.curve {
            BlockCurve::Requested => (Some(freed), lives.requested[row]),
            BlockCurve::Active => (Some(freed), lives.bytes[row]),
            BlockCurve::Allocated => {
                // One from before the first event that nobody gives back had been given back by then.
                let was_pending = from == BlockLives::BEFORE
                    && given_back == BlockLives::OPEN
                    && match freed {
                        BlockLives::OPEN => {
                            part.pending.binary_search(&lives.addresses[row]).is_ok()
                        }
                        _ => part.has_requests,
                    };
                ((!was_pending).then_some(given_back.min(freed)), lives.bytes[row])
            }
        };
        let start = if from == BlockLives::BEFORE { 0 } else { from };
        let end = match until {
            None => start,
            Some(BlockLives::OPEN) => self.steps,
            Some(event) => event,
        };
        (start..end.max(start), bytes)
    }

    /// The first step of the most; of what was requested on a single device the replay says it.
    fn peak(&self, replayed: &ReplayedSnapshot, len: usize) -> Option<usize> {
        if let ([part], BlockCurve::Requested) = (&self.devices[..], self.curve)
            && let Some(replay) = replayed.replays.get(part.place)
            && replay.is_consistent()
            && let Ok(event) = u32::try_from(replay.requested_peak.event)
        {
            return Some(event as usize);
        }
        highest(&self.curve(len))
    }

    /// The bytes of all blocks at each step.
    fn curve(&self, len: usize) -> Vec<u64> {
        let blocks = self
            .devices
            .iter()
            .flat_map(|part| (0..part.lives.len()).map(move |row| self.counted(part, row)));
        summed(len, blocks)
    }

    /// How the bytes of groups change. A group of `None` does not count.
    fn changes(&self, len: usize, group_of: impl Fn(usize, usize) -> Option<u8>) -> StepChanges {
        let blocks = self.devices.iter().flat_map(|part| {
            let group_of = &group_of;
            (0..part.lives.len()).filter_map(move |row| {
                let group = group_of(part.place, row)?;
                let (steps, bytes) = self.counted(part, row);
                Some((steps, bytes, group))
            })
        });
        StepChanges::of(len, blocks)
    }
}

/// Which group each block is in.
struct BlockGrouping<'a> {
    groups: Vec<AreaGroup>,
    of_categories: [usize; BlockCategory::ALL.len()],
    /// What blocks are called, with the group of each name; `None` of categories.
    names: Option<(BlockNames<'a>, Vec<usize>)>,
}

/// What each block is called.
enum BlockNames<'a> {
    Code(&'a CodeNames),
    Pools(&'a BlockPools),
}

impl<'a> BlockNames<'a> {
    fn of(replayed: &'a ReplayedSnapshot, by: AreasBy) -> Self {
        match by {
            AreasBy::Pool => Self::Pools(replayed.pools()),
            _ => Self::Code(replayed.code_names(by)),
        }
    }

    fn names(&self) -> &'a Names {
        match self {
            Self::Code(code) => &code.names,
            Self::Pools(pools) => &pools.names,
        }
    }

    /// The number of the name of a block.
    fn of_block(&self, place: usize, row: usize, lives: &BlockLives) -> Option<u32> {
        match self {
            Self::Code(code) => Some(code.of_stack(*lives.stacks.get(row)?)),
            Self::Pools(pools) => pools.of_blocks.get(place)?.get(row).copied(),
        }
    }
}

/// From the ground up: what stays longest lies lowest.
const CATEGORIES: [BlockCategory; BlockCategory::ALL.len()] = [
    BlockCategory::Parameter,
    BlockCategory::OptimizerState,
    BlockCategory::Workspace,
    BlockCategory::Gradient,
    BlockCategory::AutocastCache,
    BlockCategory::Input,
    BlockCategory::Activation,
    BlockCategory::Temporary,
    BlockCategory::Unknown,
];

pub(super) fn category_group(category: BlockCategory) -> AreaGroup {
    AreaGroup::category(category.title(), category.title(), category.rule())
}

impl<'a> BlockGrouping<'a> {
    fn of(
        replayed: &'a ReplayedSnapshot,
        parts: &CurveParts<'_>,
        by: AreasBy,
        peak: usize,
    ) -> Self {
        let peak = u32::try_from(peak).unwrap_or(u32::MAX);
        let alive = || {
            parts.devices.iter().flat_map(move |part| {
                (0..part.lives.len()).filter_map(move |row| {
                    let (steps, bytes) = parts.counted(part, row);
                    steps.contains(&peak).then_some((part, row, bytes))
                })
            })
        };
        let mut grouping = Self {
            groups: Vec::new(),
            of_categories: [usize::MAX; BlockCategory::ALL.len()],
            names: None,
        };
        if by == AreasBy::Category {
            let mut is_used = [false; BlockCategory::ALL.len()];
            for category in parts.devices.iter().flat_map(|part| replayed.categories(part.place)) {
                is_used[*category as usize] = true;
            }
            for category in CATEGORIES.into_iter().filter(|category| is_used[*category as usize]) {
                grouping.of_categories[category as usize] = grouping.groups.len();
                grouping.groups.push(category_group(category));
            }
            return grouping;
        }
        let names = BlockNames::of(replayed, by);
        let mut at_peak: HashMap<u32, u64> = HashMap::new();
        for (part, row, bytes) in alive() {
            let Some(name) = names.of_block(part.place, row, part.lives) else { continue };
            let sum = at_peak.entry(name).or_default();
            *sum = sum.saturating_add(bytes);
        }
        let mut largest: Vec<(u32, u64)> = at_peak.into_iter().collect();
        largest.sort_by_key(|(name, bytes)| (std::cmp::Reverse(*bytes), *name));
        largest.truncate(MOST_GROUPS);
        let all = names.names();
        let has_others = all.len() > largest.len();
        let title = |name: u32| all.at(name as usize).unwrap_or(NO_STACK);
        let group = |(name, _): &(u32, u64)| AreaGroup::placed(title(*name));
        grouping.groups = largest.iter().map(group).collect();
        grouping.groups.extend(has_others.then(|| AreaGroup::rest(OTHERS)));
        let place = |name: u32| {
            let own = largest.iter().position(|(other, _)| *other == name);
            own.unwrap_or(largest.len())
        };
        let of_names = (0_u32..).take(all.len()).map(place).collect();
        grouping.names = Some((names, of_names));
        grouping
    }

    fn group(&self, replayed: &ReplayedSnapshot, place: usize, row: usize) -> usize {
        let Some((names, of_names)) = &self.names else {
            let category = replayed.categories(place).get(row);
            return category.map_or(usize::MAX, |category| self.of_categories[*category as usize]);
        };
        let lives = replayed.replays.get(place).map(|replay| &replay.lives);
        let name = lives.and_then(|lives| names.of_block(place, row, lives));
        name.and_then(|name| of_names.get(name as usize)).copied().unwrap_or(usize::MAX)
    }
}

/// What each stack is called by the code of its user frame.
#[derive(Clone, Debug)]
pub struct CodeNames {
    /// By stack a name; the last is that of no stack.
    of_stacks: Vec<u32>,
    names: Names,
}

impl CodeNames {
    /// By frame, function or file.
    pub fn of(snapshot: &Snapshot, by: AreasBy) -> Self {
        let mut names = Interner::default();
        let stacks = (0..snapshot.stacks.len() as u32).map(StackId).chain([StackId::NONE]);
        let of_stacks = stacks.map(|stack| {
            let Some(frame) = user_frame(snapshot, stack) else { return names.intern(NO_STACK).0 };
            let (file, name) = (snapshot.texts.get(frame.file), snapshot.texts.get(frame.name));
            match by {
                AreasBy::File => names.intern(file).0,
                AreasBy::Function => {
                    let file = file.rsplit('/').next().unwrap_or(file);
                    names.intern(&format!("{name} ({file})")).0
                }
                _ => names.intern(&frame_title(snapshot, frame)).0,
            }
        });
        Self { of_stacks: of_stacks.collect(), names: names.into_names() }
    }

    /// The number of the name of a stack.
    pub fn of_stack(&self, stack: StackId) -> u32 {
        let last = self.of_stacks.len().saturating_sub(1);
        self.of_stacks.get((stack.0 as usize).min(last)).copied().unwrap_or(0)
    }

    /// A name.
    pub fn title(&self, name: u32) -> &str {
        self.names.at(name as usize).unwrap_or(NO_STACK)
    }

    /// The name of a stack.
    pub fn title_of(&self, stack: StackId) -> &str {
        self.title(self.of_stack(stack))
    }
}
