//! The answers of a PyTorch run, from its snapshot or from a memory timeline of `torch.profiler`.

mod peak;
mod sections;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::{Map, Value};

use super::alive;
use super::areas;
use super::arena_map::SegmentMap;
use super::blocks::{BlockList, blocks_alive};
use super::budgets::{budgets, need};
use super::cards;
use super::event_said::event_said;
use super::fact_groups;
use super::sweep_facts::sweep_facts;
use super::took::SnapshotTook;
use crate::analysis::comparison::fact_groups::TitledFacts;
use crate::analysis::comparison::landmarks::Landmark;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::sweep::SweepFacts;
use crate::diagnose::Finding;
use crate::files::file_name;
use crate::format::{Error, ErrorKind};
use crate::progress::Progress;
use crate::run::alive::alive_in_arena;
use crate::run::answers::SourceFormat;
use crate::run::compared::names::SharedNames;
use crate::run::compared::{ComparedWords, RunSide};
use crate::run::section::keys_of;
use crate::run::{
    AliveBy, AliveVariables, Allocations, Answers, AreasBy, AreasOf, ArenaMap, ArenasOf,
    BesideCurve, BudgetFacts, Claim, Compared, Conclusion, CurveLine, FirstSight, GroupBytes,
    Insights, MemoryTotals, MessagePlace, Need, OwnFacts, PeakOfRun, Place, Room, Section,
    StackedAreas, StepBytes, StepSaid, Verdict,
};
use crate::store::placed::ReadError;
use crate::store::snapshot::{Action, RankDevice, SnapshotDevice, device_title};
use crate::store::{ArenaId, DeviceId, Report, WarningCode};
use crate::systems::pytorch::allocator::claims::ComparedClaim;
use crate::systems::pytorch::allocator::curves::Devices;
use crate::systems::pytorch::allocator::device_facts::{DeviceFacts, HostFacts};
use crate::systems::pytorch::allocator::insights::SnapshotInsights;
use crate::systems::pytorch::allocator::landmarks::landmarks;
use crate::systems::pytorch::allocator::replayed::{AllocatorRun, ReplayedSnapshot, RunContents};
use crate::systems::pytorch::allocator::timeline_facts::timeline_facts;
use crate::systems::pytorch::compared;
use crate::systems::pytorch::run::stated::stated;
use crate::systems::pytorch::run::{compare_claims, no_such_device};
use crate::text::{exact_bytes, grouped};

/// The answers of a PyTorch run.
#[derive(Debug)]
pub struct PytorchAnswers {
    run: AllocatorRun,
    claims: OnceLock<Vec<ClaimsOfDevice>>,
}

/// What PyTorch states of a device beside what comes out of its snapshot.
#[derive(Clone, Debug, Serialize)]
struct ClaimsOfDevice {
    file: String,
    device: i64,
    #[serde(flatten)]
    rank: Option<RankDevice>,
    figures: Vec<ComparedClaim>,
}

impl ClaimsOfDevice {
    fn title(&self) -> String {
        device_title(self.device, self.rank)
    }
}

impl PytorchAnswers {
    /// The answers of a run; works nothing out yet.
    pub fn of(run: AllocatorRun) -> Self {
        Self { run, claims: OnceLock::new() }
    }

    /// The snapshot that they go by, where it is one.
    pub fn snapshot(&self) -> Option<&Arc<ReplayedSnapshot>> {
        self.run.snapshot()
    }

    /// What PyTorch states beside the snapshot, compared once: contradictions become warnings of the report, and so do
    /// failed requests that are not listed.
    fn claims_of_devices(&self, report: &Report) -> &[ClaimsOfDevice] {
        self.claims.get_or_init(|| {
            let Some(replayed) = self.snapshot() else { return Vec::new() };
            warn_of_unlisted(replayed.device_facts(), report);
            let compared = self.run.claims.iter().filter_map(|claims| {
                let (device, figures) = compare_claims(claims, replayed, report)?;
                let DeviceFacts { device, rank, .. } = *device;
                Some(ClaimsOfDevice { file: claims.file.clone(), device, rank, figures })
            });
            compared.collect()
        })
    }
}

impl Answers for PytorchAnswers {
    fn verdict(&self, _: &Derived) -> Option<Verdict> {
        self.run.verdict().cloned()
    }

    fn insights(&self, _: &Derived, _: &Progress) -> Result<Insights, ReadError> {
        Ok(self.run.insights().map(|insights| insights.found.clone()).unwrap_or_default())
    }

    fn first_sight(
        &self,
        derived: &Derived,
        is_final: bool,
        progress: &Progress,
        size: &dyn Fn(u64) -> String,
    ) -> FirstSight {
        let mut sight = FirstSight::of_answers(derived, is_final, progress);
        if let Some(replayed) = self.snapshot() {
            let of = self.run.end().and_then(|end| end.device);
            sight.figures = cards::figures(replayed.device_facts(), of);
        }
        if let Some(found) = is_final.then(|| self.run.insights()).flatten() {
            cards::add_cards(&mut sight, found, size);
        }
        sight
    }

    fn are_beside_report(&self) -> bool {
        true
    }

    /// Bytes of all devices at the end; pinned host memory is no device.
    fn memory(&self, _: &Derived) -> MemoryTotals {
        self.snapshot().map_or_else(MemoryTotals::default, |replayed| memory_totals(replayed))
    }

    fn steps(&self, _: &Derived) -> Option<u64> {
        Some(match &self.run.contents {
            RunContents::Snapshot(replayed) => replayed.snapshot.events.len() as u64,
            RunContents::Timeline(timeline) => timeline.bytes.len() as u64,
        })
    }

    fn peak(&self, _: &Derived) -> Option<PeakOfRun> {
        match &self.run.contents {
            RunContents::Snapshot(replayed) => peak::of_snapshot(replayed, self.run.end()?.device?),
            RunContents::Timeline(timeline) => peak::of_timeline(timeline),
        }
    }

    /// The one that failed, else the one that had most.
    fn first_device(&self, _: &Derived) -> Option<DeviceId> {
        let devices = &self.snapshot()?.snapshot.devices;
        let first = devices.get(self.run.end()?.device?).filter(|_| devices.len() > 1);
        first.map(|device| DeviceId::of_number(device.number))
    }

    fn landmarks(&self, _: &Derived) -> Vec<Landmark> {
        let place = self.run.end().and_then(|end| end.device).unwrap_or(0);
        self.snapshot().map_or_else(Vec::new, |replayed| landmarks(replayed, place))
    }

    fn groupings(&self, _: &Derived, scope: Scope) -> Vec<AreasBy> {
        areas::groupings(&self.run.contents, scope)
    }

    fn areas(
        &self,
        derived: &Derived,
        of: AreasOf,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<StackedAreas> {
        areas::areas(derived, &self.run.contents, of, is_cancelled)
    }

    fn beside_curve(&self, _: &Derived, scope: Scope, has_all_lines: bool) -> BesideCurve {
        areas::beside_curve(&self.run.contents, scope, has_all_lines)
    }

    fn other_curves(&self, _: &Derived, scope: Scope) -> Vec<CurveLine> {
        areas::other_curves(&self.run.contents, scope)
    }

    fn step_times(&self, _: &Derived, scope: Scope) -> Option<Vec<u64>> {
        areas::step_times(&self.run.contents, scope)
    }

    fn step_said(&self, _: &Derived, scope: Scope, step: usize) -> Option<StepSaid> {
        let replayed = self.snapshot()?;
        let place = match areas::devices_of(replayed, scope) {
            Some(Devices::At(place)) => place,
            _ => self.run.end()?.device?,
        };
        event_said(replayed, place, step)
    }

    fn alive_groupings(&self, _: &Derived, scope: Scope) -> Vec<AliveBy> {
        alive::groupings(&self.run.contents, scope)
    }

    fn alive(&self, derived: &Derived, at: &StepBytes) -> Option<AliveVariables> {
        alive::alive(&self.run.contents, at).or_else(|| alive_in_arena(derived, at))
    }

    fn alive_rows(&self, _: &Derived, at: &StepBytes, by: AliveBy) -> Vec<GroupBytes> {
        alive::rows(&self.run.contents, at, by)
    }

    fn has_allocations(&self) -> bool {
        self.snapshot().is_some()
    }

    fn allocations(
        &self,
        _: &Derived,
        scope: Scope,
        step: Option<usize>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Arc<dyn Allocations>> {
        let replayed = self.snapshot()?;
        Some(Arc::new(BlockList::of(replayed, blocks_alive(replayed, scope, step, is_cancelled)?)))
    }

    fn arena_maps(&self, _: &Derived) -> Vec<String> {
        let devices = self.snapshot().into_iter().flat_map(|it| it.snapshot.all_devices());
        devices.map(SnapshotDevice::title).collect()
    }

    /// The device on which the run ended, else the one that had most.
    fn first_arena_map(&self, _: &Derived, _: Option<ArenaId>) -> usize {
        self.run.end().and_then(|end| end.device).unwrap_or(0)
    }

    fn are_arena_maps_beside_report(&self) -> bool {
        true
    }

    fn arena_map(&self, _: &Derived, of: &ArenasOf, _: &Progress) -> Option<Arc<dyn ArenaMap>> {
        Some(Arc::new(SegmentMap::of(self.snapshot()?, of.device)?))
    }

    fn claims(&self, derived: &Derived) -> Vec<Claim> {
        let all = self.claims_of_devices(derived.report());
        let claims = all.iter().flat_map(|of| of.figures.iter().map(move |claim| (of, claim)));
        let claim = |(of, claim): (&ClaimsOfDevice, &ComparedClaim)| Claim {
            file: of.file.clone(),
            name: match all.len() {
                0 | 1 => claim.name.to_owned(),
                _ => format!("{}: {}", of.title(), claim.name),
            },
            stated: claim.claimed_bytes,
            ours: claim.bytes,
            agrees: claim.agrees,
        };
        claims.map(claim).collect()
    }

    fn fact_groups(&self, _: &Derived) -> Vec<TitledFacts> {
        fact_groups::groups(&self.run)
    }

    fn format(&self, _: &Derived) -> SourceFormat {
        let format = match &self.run.contents {
            RunContents::Snapshot(_) => "memory snapshot",
            RunContents::Timeline(_) => "memory timeline of torch.profiler",
        };
        SourceFormat { format: Some(format.to_owned()), ..SourceFormat::default() }
    }

    fn sections(&self, derived: &Derived, _: &Insights) -> Vec<Section> {
        // Its warnings belong to the summary.
        self.claims_of_devices(derived.report());
        self.run
            .insights()
            .zip(self.snapshot())
            .map_or_else(Vec::new, |(insights, replayed)| sections::of_snapshot(replayed, insights))
    }

    /// Keys of formats/pytorch.md.
    fn own_json<'a>(&'a self, derived: &'a Derived) -> Option<OwnFacts<'a>> {
        let replayed = match &self.run.contents {
            RunContents::Snapshot(replayed) => replayed,
            RunContents::Timeline(timeline) => return Some(Box::new(timeline_facts(timeline))),
        };
        Some(Box::new(keys_of(&SnapshotSection::of(
            replayed,
            self.claims_of_devices(derived.report()),
            self.run.insights().map(|insights| &**insights),
        ))))
    }

    /// The request that failed, by its size as far as the message gives it.
    fn message_place(&self, _: &Derived, finding: &Finding) -> Option<MessagePlace> {
        let replayed = self.snapshot()?;
        let stated = stated("", finding);
        let devices = replayed.snapshot.devices.iter().enumerate();
        let (device, failed) = devices
            .filter(|(_, device)| {
                stated.may_be_of(device.rank.map_or(device.number, |rank| rank.gpu))
            })
            .find_map(|(place, device)| {
                Some((device, stated.request_among(replayed.failed_by_size(place))?))
            })?;
        let said = format!(
            "A request of {} failed at event {}, as the message says",
            exact_bytes(failed.bytes),
            grouped(failed.event.into())
        );
        let (device, step) = (Some(device.number), Some(failed.event.into()));
        let place = Place { device, step, ..Place::default() };
        let title = "the request that failed in Liveness".to_owned();
        Some(MessagePlace { said, title, place })
    }

    /// The step of a place is the number of an event within its device.
    fn step_position(&self, _: &Derived, place: &Place) -> Option<usize> {
        let (replayed, event) = (self.snapshot()?, place.step.filter(|event| *event >= 0)?);
        let mut devices = replayed.snapshot.devices.iter();
        let device = devices.find(|device| Some(device.number) == place.device)?;
        usize::try_from(event).ok().filter(|event| *event < device.events.len())
    }

    fn devices(&self, _: &Derived) -> BTreeMap<i64, String> {
        let devices = self.snapshot().into_iter().flat_map(|replayed| &replayed.snapshot.devices);
        devices.map(|device| (device.number, device.title())).collect()
    }

    fn compared_words(&self) -> &'static ComparedWords {
        &compared::WORDS
    }

    fn compared_side(
        &self,
        derived: &Derived,
        device: Option<i64>,
        names: &mut SharedNames,
    ) -> Result<Option<RunSide>, Error> {
        let path = &derived.report().path;
        if let RunContents::Timeline(_) = &self.run.contents {
            let message = format!(
                "{} is a memory timeline: bytes by category, without blocks to compare",
                path.display()
            );
            return Err(Error::new(ErrorKind::Usage, message)
                .in_file(path)
                .hint("torch.cuda.memory._dump_snapshot writes a snapshot that has them."));
        }
        let side = compared::side(&self.run, device, names);
        side.map(Some).ok_or_else(|| no_such_device(path, &self.run, device))
    }

    fn change_conclusions(
        &self,
        compared: &Compared,
        size: &dyn Fn(u64) -> String,
    ) -> Vec<Conclusion> {
        compared::change_conclusions(compared, size)
    }

    fn change_json(&self, compared: &Compared, room: Room) -> Map<String, Value> {
        compared::change_json(compared, room)
    }

    fn sweep_facts(&self, derived: &Derived, device: Option<i64>) -> Result<SweepFacts, Error> {
        let found = SnapshotTook::of_run(&self.run, device).zip(self.snapshot());
        let Some(((_, took), replayed)) = found else {
            return Err(no_such_device(&derived.report().path, &self.run, device));
        };
        let title = took.rank.map(|of| device_title(0, Some(of)));
        Ok(SweepFacts {
            devices: self.devices(derived),
            of: title,
            ..sweep_facts(&took, &replayed.snapshot.settings.all)
        })
    }

    fn need(&self, derived: &Derived, device: Option<i64>) -> Result<Need, Error> {
        let found = need(&self.run, device);
        found.ok_or_else(|| no_such_device(&derived.report().path, &self.run, device))
    }

    fn devices_to_check(&self, _: &Derived) -> Vec<Option<i64>> {
        let devices = self.snapshot().map_or(&[][..], |replayed| &*replayed.snapshot.devices);
        match devices {
            [] | [_] => vec![None],
            several => several.iter().map(|device| Some(device.number)).collect(),
        }
    }

    fn budgets(&self, derived: &Derived, device: Option<i64>) -> Result<BudgetFacts, Error> {
        let found = budgets(&self.run, device);
        found.ok_or_else(|| no_such_device(&derived.report().path, &self.run, device))
    }

    fn things_beside_report(&self) -> usize {
        self.run.things()
    }
}

/// What a snapshot alone says, for programs.
#[derive(Serialize)]
struct SnapshotSection<'a> {
    devices: &'a [DeviceFacts],
    pinned_host: Option<HostFacts>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pinned_host_of_ranks: Vec<HostFacts>,
    annotations: usize,
    settings: Map<String, Value>,
    claims: Option<&'a ClaimsOfDevice>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    claims_of_ranks: &'a [ClaimsOfDevice],
    insights: Option<&'a SnapshotInsights>,
}

impl<'a> SnapshotSection<'a> {
    /// A run of several ranks has a list where a single process has one thing.
    fn of(
        replayed: &'a ReplayedSnapshot,
        claims: &'a [ClaimsOfDevice],
        insights: Option<&'a SnapshotInsights>,
    ) -> Self {
        let (snapshot, hosts) = (&replayed.snapshot, replayed.host_facts());
        let is_of_ranks = snapshot.all_devices().any(|device| device.rank.is_some());
        Self {
            devices: replayed.device_facts(),
            pinned_host: hosts.first().copied().filter(|_| !is_of_ranks),
            pinned_host_of_ranks: if is_of_ranks { hosts } else { Vec::new() },
            annotations: snapshot.annotations.len(),
            settings: (snapshot.settings.all.iter())
                .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
                .collect(),
            claims: claims.first().filter(|_| !is_of_ranks),
            claims_of_ranks: if is_of_ranks { claims } else { &[] },
            insights,
        }
    }
}

/// Bytes of all devices of a snapshot: of blocks in use at the end, of segments, of what is free within segments, and of
/// blocks that live from before the first event to behind the last, as they were requested.
pub fn memory_totals(replayed: &ReplayedSnapshot) -> MemoryTotals {
    let [mut in_use, mut reserved, mut free, mut always_live] = [0_u64; 4];
    let add = |sum: &mut u64, bytes: u64| *sum = sum.saturating_add(bytes);
    for (place, (_, replay)) in replayed.devices().enumerate().take(replayed.snapshot.devices.len())
    {
        let end = replayed.end_state(place);
        add(&mut in_use, end.active_bytes);
        add(&mut reserved, end.reserved_bytes);
        add(&mut free, end.inactive_bytes);
        add(&mut always_live, replay.lives.always_live_bytes());
    }
    MemoryTotals {
        moment: match replayed.snapshot.devices.len() {
            0 | 1 => "the end of the recording",
            _ => "the end of the recording, all devices together",
        },
        total_bytes: Some(in_use),
        including_gaps_bytes: Some(reserved),
        gap_bytes: Some(free),
        always_live_bytes: Some(always_live),
    }
}

/// Warns of failed requests that are too many to be listed.
fn warn_of_unlisted(devices: &[DeviceFacts], report: &Report) {
    for device in devices {
        let all = device.actions.get(Action::OutOfMemory.as_str()).copied().unwrap_or(0);
        let listed = device.oom.len() as u64;
        if all > listed {
            let message = format!(
                "{}: {} requests failed, and only the last {} are listed",
                device.title(),
                grouped(all),
                grouped(listed)
            );
            let file = file_name(&report.path);
            report.warnings.add(WarningCode::Inconsistent, &file, message);
        }
    }
}
