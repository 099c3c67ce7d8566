//! A snapshot with the replay of each of its devices, and what follows from both and is asked for by many: worked out
//! when it is first asked for, once.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use super::annotations::{AnnotatedSpan, annotated_spans};
use super::block_index::BlockIndex;
use super::categories::{BlockCategory, categories};
use super::curves::CodeNames;
use super::device_facts::{DeviceFacts, EndState, HostFacts, end_state};
use super::failed_requests::{FailedRequest, failed_by_size, last_failed};
use super::insights::SnapshotInsights;
use super::insights::verdict::SnapshotVerdict;
use super::peak::PeakContents;
use super::phases::PhaseMoments;
use super::pools::BlockPools;
use super::replay::{Replay, ReplayAhead, replay_after};
use super::run_end::{Ended, Recorded, RunEnd};
use super::segment_ranges::{SegmentRange, segment_ranges};
use super::stack_signs::AllSigns;
use super::stated_failure::{StatedFailure, capacity_text};
use crate::run::{AreasBy, Verdict};
use crate::store::memory_timeline::MemoryTimeline;
use crate::store::snapshot::{AllocatorClaims, Snapshot, SnapshotDevice};

/// A snapshot with the replay of each of its devices. A place is the position of a device among them, pinned host memory
/// last.
#[derive(Debug)]
pub struct ReplayedSnapshot {
    /// What the file says.
    pub snapshot: Snapshot,
    /// The replays of [`Snapshot::all_devices`], in their order.
    pub replays: Vec<Replay>,
    /// By user frame, function and file.
    code_names: [OnceLock<CodeNames>; 3],
    pools: OnceLock<BlockPools>,
    signs: OnceLock<AllSigns>,
    facts: OnceLock<Vec<DeviceFacts>>,
    of_devices: Vec<OfDevice>,
    /// The requested curve of the device at a place, where its replay left it.
    requested_curve: Mutex<Option<(usize, Vec<u64>)>>,
}

#[derive(Debug, Default)]
struct OfDevice {
    ended_by: OnceLock<Option<FailedRequest>>,
    failed_by_size: OnceLock<Vec<FailedRequest>>,
    spans: OnceLock<Vec<AnnotatedSpan>>,
    moments: OnceLock<PhaseMoments>,
    peak: OnceLock<PeakContents>,
    categories: OnceLock<Vec<BlockCategory>>,
    segments: OnceLock<Vec<SegmentRange>>,
    live_at_peak: OnceLock<Vec<usize>>,
    end: OnceLock<EndState>,
    index: OnceLock<BlockIndex>,
    recorded: OnceLock<Recorded>,
}

/// What is open of a run of a caching allocator.
#[derive(Clone, Debug)]
pub enum RunContents {
    /// A snapshot.
    Snapshot(Arc<ReplayedSnapshot>),
    /// A timeline by category alone.
    Timeline(Arc<MemoryTimeline>),
}

/// What is known of a run of a caching allocator besides the report that all systems share.
#[derive(Clone, Debug)]
pub struct AllocatorRun {
    /// What is open.
    pub contents: RunContents,
    /// What the system itself states, beside the snapshot; of each rank that has such a file.
    pub claims: Vec<AllocatorClaims>,
    /// What error texts beside the snapshot say.
    pub stated: Vec<StatedFailure>,
    /// Whether its file ends before its contents do, or that of one of its ranks does, or one of those is not there: then
    /// its figures are of what could be read, and of no whole run.
    pub is_cut: bool,
    known: Arc<KnownOfRun>,
}

/// What is worked out once for a run, also for its copies.
#[derive(Debug, Default)]
struct KnownOfRun {
    verdict: OnceLock<Verdict>,
    insights: OnceLock<Arc<SnapshotInsights>>,
    /// The end of the run: its ending, the place of its device, and that of the error text about it.
    end: OnceLock<(Ended, Option<usize>, Option<usize>)>,
}

impl AllocatorRun {
    /// A run of which nothing but its contents is known.
    pub fn new(contents: RunContents) -> Self {
        let (claims, stated, known) = (Vec::new(), Vec::new(), Arc::default());
        Self { contents, claims, stated, is_cut: false, known }
    }

    /// The same with what lies beside it, and whether its file is cut.
    #[must_use]
    pub fn beside(
        self,
        claims: Vec<AllocatorClaims>,
        stated: Vec<StatedFailure>,
        is_cut: bool,
    ) -> Self {
        Self { claims, stated, is_cut, known: Arc::default(), ..self }
    }

    /// A run of a snapshot of which nothing else is known.
    pub fn of(replayed: ReplayedSnapshot) -> Self {
        Self::new(RunContents::Snapshot(Arc::new(replayed)))
    }

    /// The snapshot, where it is one.
    pub fn snapshot(&self) -> Option<&Arc<ReplayedSnapshot>> {
        match &self.contents {
            RunContents::Snapshot(snapshot) => Some(snapshot),
            RunContents::Timeline(_) => None,
        }
    }

    /// What a snapshot says at first sight, worked out once.
    pub fn insights(&self) -> Option<&Arc<SnapshotInsights>> {
        let replayed = self.snapshot()?;
        let made = || Arc::new(SnapshotInsights::of(replayed, &self.stated, self.is_cut));
        Some(self.known.insights.get_or_init(made))
    }

    /// The verdict of a snapshot, worked out once: that takes less time than all insights.
    pub fn verdict(&self) -> Option<&Verdict> {
        if let Some(insights) = self.known.insights.get() {
            return insights.found.verdict.as_ref();
        }
        let replayed = self.snapshot()?;
        let made = || SnapshotVerdict::of(replayed, &self.stated, self.is_cut).verdict;
        Some(self.known.verdict.get_or_init(made))
    }

    /// Things that a look at all of it goes through: events and blocks, or points of a timeline.
    pub fn things(&self) -> usize {
        match &self.contents {
            RunContents::Snapshot(replayed) => {
                let blocks = replayed.replays.iter().map(|replay| replay.lives.len());
                replayed.snapshot.events.len().saturating_add(blocks.sum())
            }
            RunContents::Timeline(timeline) => timeline.bytes.len(),
        }
    }

    /// What became of the run, where it is a snapshot, worked out once: each device is asked about it.
    pub fn end(&self) -> Option<RunEnd<'_>> {
        let replayed = self.snapshot()?;
        let made = || {
            let RunEnd { ending, device, said_by } =
                RunEnd::of(replayed, &self.stated, self.is_cut);
            let place =
                |text: &StatedFailure| self.stated.iter().position(|of| std::ptr::eq(of, text));
            (ending, device, said_by.and_then(place))
        };
        let (ending, device, said_by) = *self.known.end.get_or_init(made);
        Some(RunEnd { ending, device, said_by: said_by.and_then(|place| self.stated.get(place)) })
    }

    /// The error text beside the snapshot that says what the device at a place has.
    pub fn stated_capacity(&self, place: usize) -> Option<&StatedFailure> {
        let replayed = self.snapshot()?;
        let devices = &replayed.snapshot.devices;
        let number = devices.get(place)?.number;
        capacity_text(&self.stated, number, devices.len(), replayed.ended_by(place).as_ref())
    }
}

impl ReplayedSnapshot {
    /// Replays every device.
    pub fn of(snapshot: Snapshot) -> Self {
        Self::of_read(snapshot, None)
    }

    /// The same where events were replayed while they were read. They are of the only device with events, or of no use.
    pub fn of_read(snapshot: Snapshot, mut ahead: Option<ReplayAhead>) -> Self {
        // It belongs to the first that has events.
        let devices: Vec<_> = snapshot
            .all_devices()
            .map(|device| (device, if device.events.is_empty() { None } else { ahead.take() }))
            .collect();
        let (replays, curves): (Vec<Replay>, Vec<Option<Vec<u64>>>) = devices
            .into_par_iter()
            .map(|(device, ahead)| replay_after(&snapshot, device, ahead))
            .unzip();
        let mut curves = curves.into_iter().enumerate();
        let curve = curves.find_map(|(place, curve)| Some((place, curve?)));
        Self { requested_curve: Mutex::new(curve), ..Self::of_replays(snapshot, replays) }
    }

    /// The requested curve of a device at each of its steps, if its replay left it, and nobody had it yet: it is large, and
    /// whoever comes later adds it up.
    pub fn take_requested_curve(&self, place: usize) -> Option<Vec<u64>> {
        let len = self.device(place)?.0.steps() as usize;
        let mut left = self.requested_curve.lock().unwrap_or_else(PoisonError::into_inner);
        left.take_if(|(of, curve)| *of == place && curve.len() == len).map(|(_, curve)| curve)
    }

    fn of_replays(snapshot: Snapshot, replays: Vec<Replay>) -> Self {
        let of_devices = replays.iter().map(|_| OfDevice::default()).collect();
        Self {
            snapshot,
            replays,
            code_names: Default::default(),
            pools: OnceLock::new(),
            signs: OnceLock::new(),
            facts: OnceLock::new(),
            of_devices,
            requested_curve: Mutex::default(),
        }
    }

    /// Of what was worked out before: the replays, and what each block is for, by place.
    pub fn of_known(
        snapshot: Snapshot,
        replays: Vec<Replay>,
        categories: Vec<Vec<BlockCategory>>,
    ) -> Self {
        let known = Self::of_replays(snapshot, replays);
        // Nobody has asked yet, so this cannot fail.
        for (of, categories) in known.of_devices.iter().zip(categories) {
            drop(of.categories.set(categories));
        }
        known
    }

    /// The devices and pinned host memory with their replays.
    pub fn devices(&self) -> impl Iterator<Item = (&SnapshotDevice, &Replay)> {
        self.snapshot.all_devices().zip(&self.replays)
    }

    /// The device at a place with its replay; looked up, so that a loop over all places takes no square of their number.
    pub fn device(&self, place: usize) -> Option<(&SnapshotDevice, &Replay)> {
        let Snapshot { devices, pinned_hosts, .. } = &self.snapshot;
        let host = || pinned_hosts.get(place.checked_sub(devices.len())?);
        devices.get(place).or_else(host).zip(self.replays.get(place))
    }

    /// The steps of all devices, each counted from its own first event.
    pub fn steps(&self) -> u32 {
        self.snapshot.all_devices().map(SnapshotDevice::steps).max().unwrap_or(1)
    }

    /// What stacks are called by the code that they are added up by.
    pub fn code_names(&self, by: AreasBy) -> &CodeNames {
        let [by_frame, by_function, by_file] = &self.code_names;
        let names = match by {
            AreasBy::Function => by_function,
            AreasBy::File => by_file,
            _ => by_frame,
        };
        names.get_or_init(|| CodeNames::of(&self.snapshot, by))
    }

    /// The pool and the stream of each block.
    pub fn pools(&self) -> &BlockPools {
        self.pools.get_or_init(|| BlockPools::of(self))
    }

    /// What the frames of all stacks say.
    pub fn signs(&self) -> &AllSigns {
        self.signs.get_or_init(|| AllSigns::of(&self.snapshot))
    }

    /// What is worked out once of the device at a place, and the device with its replay.
    fn known(&self, place: usize) -> Option<(&OfDevice, &SnapshotDevice, &Replay)> {
        let (device, replay) = self.device(place)?;
        Some((self.of_devices.get(place)?, device, replay))
    }

    /// How much of the run the events of a device are.
    pub fn recorded(&self, place: usize) -> Recorded {
        let Some((of, device, replay)) = self.known(place) else { return Recorded::Nothing };
        *of.recorded.get_or_init(|| Recorded::of(&self.snapshot, device, replay))
    }

    /// The request at which the run ended on a device.
    pub fn ended_by(&self, place: usize) -> Option<FailedRequest> {
        let (of, device, _) = self.known(place)?;
        *of.ended_by.get_or_init(|| last_failed(&self.snapshot, device))
    }

    /// The requests that failed on a device by their bytes; of those that were alike the last.
    pub fn failed_by_size(&self, place: usize) -> &[FailedRequest] {
        self.known(place).map_or(&[], |(of, device, _)| {
            of.failed_by_size.get_or_init(|| failed_by_size(&self.snapshot, device))
        })
    }

    /// The named parts of the run on a device, by the time at which they begin.
    pub fn annotated_spans(&self, place: usize) -> &[AnnotatedSpan] {
        self.known(place).map_or(&[], |(of, device, _)| {
            of.spans.get_or_init(|| annotated_spans(&self.snapshot, device))
        })
    }

    /// Where phases and steps of a device begin.
    pub fn moments(&self, place: usize) -> Option<&PhaseMoments> {
        let (of, device, _) = self.known(place)?;
        let spans = self.annotated_spans(place);
        Some(
            of.moments
                .get_or_init(|| PhaseMoments::of(&self.snapshot, device, self.signs(), spans)),
        )
    }

    /// What is alive at the peak of a device.
    pub fn peak(&self, place: usize) -> Option<&PeakContents> {
        let (of, device, replay) = self.known(place)?;
        let (live, categories) = (self.live_at_peak(place), self.categories(place));
        let contents = || PeakContents::of(&self.snapshot, device, replay, live, categories);
        Some(of.peak.get_or_init(contents))
    }

    /// The blocks that are alive at the peak of a device, in the order of their rows.
    pub fn live_at_peak(&self, place: usize) -> &[usize] {
        self.known(place).map_or(&[], |(of, _, replay)| {
            let live = || replay.lives.live_after(replay.requested_peak.event).collect();
            of.live_at_peak.get_or_init(live)
        })
    }

    /// The state of a device at the end.
    pub fn end_state(&self, place: usize) -> EndState {
        self.known(place).map_or_else(EndState::default, |(of, device, _)| {
            *of.end.get_or_init(|| end_state(&self.snapshot, device))
        })
    }

    /// What each block of a device is for, by the rows of its lives.
    pub fn categories(&self, place: usize) -> &[BlockCategory] {
        self.known(place).zip(self.moments(place)).map_or(&[], |((of, device, replay), moments)| {
            let signs = self.signs();
            of.categories.get_or_init(|| categories(&self.snapshot, device, replay, signs, moments))
        })
    }

    /// The ranges of addresses that ever were segments of a device, by address.
    pub fn segments(&self, place: usize) -> &[SegmentRange] {
        self.known(place).map_or(&[], |(of, device, replay)| {
            of.segments.get_or_init(|| segment_ranges(&self.snapshot, device, replay))
        })
    }

    /// Which block each event of a device is about.
    pub fn index(&self, place: usize) -> Option<&BlockIndex> {
        let (of, device, replay) = self.known(place)?;
        Some(of.index.get_or_init(|| BlockIndex::of(device, replay)))
    }

    /// The same if somebody has asked for it before: who draws does not wait for it.
    pub fn known_index(&self, place: usize) -> Option<&BlockIndex> {
        self.of_devices.get(place)?.index.get()
    }

    /// The figures of each device.
    pub fn device_facts(&self) -> &[DeviceFacts] {
        let devices = 0..self.snapshot.devices.len();
        let facts = || devices.filter_map(|place| DeviceFacts::of(self, place)).collect();
        self.facts.get_or_init(facts)
    }

    /// The figures of pinned host memory, of each rank that has some.
    pub fn host_facts(&self) -> Vec<HostFacts> {
        let replays = self.replays.iter().skip(self.snapshot.devices.len());
        let hosts = self.snapshot.pinned_hosts.iter().zip(replays);
        hosts.map(|(host, replay)| HostFacts::of(&self.snapshot, host, replay)).collect()
    }
}
