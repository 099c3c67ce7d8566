//! `tilescope summary` of a PyTorch memory snapshot, or of a memory timeline of torch.profiler.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::output::{Answer, CsvAnswer, aligned, name_cell};
use super::summary::summary_csv;
use super::summary::text::{files_text, pairs, sections_text};
use crate::analysis::liveness::NamedBytes;
use crate::files::file_name;
use crate::opened::{ReplayedSnapshot, RunContents, SnapshotRun, compare_claims};
use crate::store::report::ReportFile;
use crate::store::snapshot::{Action, RankDevice, SnapshotDevice, device_title};
use crate::store::{Report, WarningCode};
use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::claims::ComparedClaim;
use crate::systems::pytorch::allocator::device_facts::{DeviceFacts, HostFacts};
use crate::systems::pytorch::allocator::insights::SnapshotInsights;
use crate::systems::pytorch::allocator::peak::{FrameBytes, PeakContents, largest_device};
use crate::systems::pytorch::allocator::run_end::Recorded;
use crate::systems::pytorch::allocator::settings::is_default;
use crate::systems::pytorch::allocator::timeline_facts::timeline_facts;
use crate::text::{bytes, clean, counted, exact_bytes, grouped};

const PEAK_VARIABLES: usize = 10;

/// `tilescope.summary/1` (cli.md, Other systems).
#[derive(Debug, Serialize)]
pub struct SnapshotSummary {
    source: Source,
    memory: Option<MemoryFacts>,
    liveness: LivenessFacts,
    insights: Option<SnapshotInsights>,
    /// The facts of the system: keys of formats/pytorch.md.
    pytorch: Value,
    #[serde(skip)]
    devices: Vec<DeviceFacts>,
    #[serde(skip)]
    hosts: Vec<(String, HostFacts)>,
    #[serde(skip)]
    settings: Vec<(String, String)>,
    #[serde(skip)]
    claims: Vec<Claims>,
}

#[derive(Debug, Serialize)]
struct Source {
    path: String,
    system: &'static str,
    format: &'static str,
    files: Vec<ReportFile>,
}

/// Of all devices at the end; pinned host memory is none.
#[derive(Debug, Default, Serialize)]
pub(super) struct MemoryFacts {
    /// Of blocks that are in use.
    total_bytes: u64,
    /// Of segments.
    including_gaps_bytes: u64,
    /// Of blocks that are free within their segment.
    gap_bytes: u64,
    /// Of blocks that live from before the first event to behind the last, as they were asked for.
    always_live_bytes: u64,
}

#[derive(Debug, Serialize)]
struct LivenessFacts {
    steps: Option<usize>,
    peak: Option<Peak>,
}

/// The peak of the device whose requested bytes are the most.
#[derive(Debug, Serialize)]
struct Peak {
    device: Option<i64>,
    /// On the axis of all devices.
    step: i64,
    /// Within the device.
    #[serde(skip)]
    event: i64,
    kind: Option<&'static str>,
    name: Option<String>,
    operation: Option<()>,
    not_always_live_bytes: u64,
    always_live_bytes: u64,
    by_category: BTreeMap<&'static str, u64>,
    variables: Vec<NamedBytes>,
}

#[derive(Serialize)]
struct Section<'a> {
    devices: &'a [DeviceFacts],
    pinned_host: Option<HostFacts>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pinned_host_of_ranks: Vec<HostFacts>,
    annotations: usize,
    settings: Map<String, Value>,
    claims: Option<&'a Claims>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    claims_of_ranks: &'a [Claims],
}

/// What PyTorch states of a device beside what comes out of its snapshot.
#[derive(Debug, Serialize)]
struct Claims {
    file: String,
    device: i64,
    #[serde(flatten)]
    rank: Option<RankDevice>,
    figures: Vec<ComparedClaim>,
}

impl SnapshotSummary {
    /// Sums up a run.
    pub fn of(run: &SnapshotRun) -> Self {
        let report = &*run.report;
        let source = |format| Source {
            path: report.path.display().to_string(),
            system: report.system.name,
            format,
            files: report.files(),
        };
        match &run.allocator.contents {
            RunContents::Timeline(timeline) => {
                let peak = timeline.peak();
                Self {
                    source: source("memory timeline of torch.profiler"),
                    memory: None,
                    liveness: LivenessFacts {
                        steps: Some(timeline.bytes.len()),
                        peak: peak.map(|(row, bytes)| Peak {
                            device: None,
                            step: i64::try_from(row).unwrap_or(i64::MAX),
                            event: i64::try_from(row).unwrap_or(i64::MAX),
                            kind: None,
                            name: None,
                            operation: None,
                            not_always_live_bytes: u64::try_from(bytes).unwrap_or(0),
                            always_live_bytes: 0,
                            by_category: BTreeMap::new(),
                            variables: Vec::new(),
                        }),
                    },
                    insights: None,
                    pytorch: Value::Object(timeline_facts(timeline)),
                    devices: Vec::new(),
                    hosts: Vec::new(),
                    settings: Vec::new(),
                    claims: Vec::new(),
                }
            }
            RunContents::Snapshot(replayed) => {
                Self::of_snapshot(run, replayed, source("memory snapshot"))
            }
        }
    }

    fn of_snapshot(run: &SnapshotRun, replayed: &ReplayedSnapshot, source: Source) -> Self {
        let snapshot = &replayed.snapshot;
        let (devices, hosts) = (replayed.device_facts(), replayed.host_facts());
        let claims: Vec<Claims> = (run.allocator.claims.iter())
            .filter_map(|claims| {
                let (device, figures) = compare_claims(claims, replayed, &run.report)?;
                let DeviceFacts { device, rank, .. } = *device;
                Some(Claims { file: claims.file.clone(), device, rank, figures })
            })
            .collect();
        warn_of_unlisted(devices, &run.report);
        // A run of several ranks has a list where a single process has one.
        let is_of_ranks = snapshot.all_devices().any(|device| device.rank.is_some());
        let section = Section {
            devices,
            pinned_host: hosts.first().copied().filter(|_| !is_of_ranks),
            pinned_host_of_ranks: if is_of_ranks { hosts.clone() } else { Vec::new() },
            annotations: snapshot.annotations.len(),
            settings: (snapshot.settings.all.iter())
                .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
                .collect(),
            claims: claims.first().filter(|_| !is_of_ranks),
            claims_of_ranks: if is_of_ranks { &claims } else { &[] },
        };
        // A section has no keys but texts, so this cannot fail.
        let pytorch = serde_json::to_value(section).unwrap_or_default();
        let titles = snapshot.pinned_hosts.iter().map(SnapshotDevice::title);
        let peak = peak(replayed);
        Self {
            source,
            memory: Some(memory(replayed, devices)),
            insights: run.allocator.insights(),
            liveness: LivenessFacts {
                steps: Some(snapshot.events.len()),
                peak: peak.as_ref().map(|(step, found)| Peak::of(*step, found)),
            },
            pytorch,
            devices: devices.to_vec(),
            hosts: titles.zip(hosts).collect(),
            settings: snapshot.settings.all.clone(),
            claims,
        }
    }
}

/// Says of each device how many requests failed that are not listed.
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

/// Of all devices.
pub(super) fn memory(replayed: &ReplayedSnapshot, devices: &[DeviceFacts]) -> MemoryFacts {
    let mut memory = MemoryFacts::default();
    for (facts, (_, replay)) in devices.iter().zip(replayed.devices()) {
        let add = |sum: &mut u64, bytes: u64| *sum = sum.saturating_add(bytes);
        add(&mut memory.total_bytes, facts.end.active_bytes);
        add(&mut memory.including_gaps_bytes, facts.end.reserved_bytes);
        add(&mut memory.gap_bytes, facts.end.inactive_bytes);
        add(&mut memory.always_live_bytes, replay.lives.always_live_bytes());
    }
    memory
}

/// The peak of the device that has most, and its step on the axis of all devices.
fn peak(replayed: &ReplayedSnapshot) -> Option<(i64, &PeakContents)> {
    let snapshot = &replayed.snapshot;
    let place = largest_device(replayed.replays.get(..snapshot.devices.len())?)?;
    let (device, found) = (snapshot.devices.get(place)?, replayed.peak(place)?);
    Some((replayed.step_of(device, found.event), found))
}

impl Peak {
    fn of(step: i64, found: &PeakContents) -> Self {
        let variable =
            |row: &FrameBytes| NamedBytes { name: row.name.clone(), bytes: row.all.bytes };
        let by_category = found.by_category.iter();
        Self {
            device: Some(found.device),
            step,
            event: found.event,
            kind: found.action.map(Action::as_str),
            name: found.frame.clone(),
            operation: None,
            not_always_live_bytes: found.bytes.saturating_sub(found.always_live_bytes),
            always_live_bytes: found.always_live_bytes,
            by_category: by_category.map(|(one, owned)| (one.as_str(), owned.bytes)).collect(),
            variables: found.by_frame.iter().take(PEAK_VARIABLES).map(variable).collect(),
        }
    }
}

impl Answer for SnapshotSummary {
    const SCHEMA: &'static str = "tilescope.summary/1";

    fn text(&self) -> String {
        let mut sections = vec![("Run".to_owned(), self.run_text())];
        for device in &self.devices {
            sections.push((device.title(), device_text(device)));
        }
        for (title, host) in &self.hosts {
            let rows = [
                ("Reserved", bytes(host.reserved_bytes)),
                ("Allocated", bytes(host.allocated_bytes)),
                ("Allocated peak", bytes(host.allocated_peak_bytes)),
                ("Segments", grouped(host.segments as u64)),
                ("Events", grouped(host.events as u64)),
            ];
            sections.push((title.clone(), pairs(rows)));
        }
        if let Some(insights) = &self.insights {
            sections.push(("Insights".to_owned(), super::insights_of_snapshot::text(insights)));
        }
        if let Some(peak) = &self.liveness.peak {
            sections.push(("Peak".to_owned(), self.peak_text(peak)));
        }
        for Claims { device, rank, figures, .. } in &self.claims {
            let rows = figures.iter().map(|claim| {
                let agrees = if claim.agrees { "" } else { "differs" };
                let [claimed, ours] = [claim.claimed_bytes, claim.bytes].map(bytes);
                vec![claim.name.to_owned(), claimed, ours, agrees.to_owned()]
            });
            let header = ["<Statistics of PyTorch", "stated", "replayed", "<"];
            let title = match rank {
                Some(_) => format!("Stated beside {}", device_title(*device, *rank)),
                None => "Stated beside it".to_owned(),
            };
            sections.push((title, aligned(&header, rows)));
        }
        sections_text(&sections)
    }
}

impl CsvAnswer for SnapshotSummary {
    fn csv(&self) -> String {
        summary_csv(self)
    }
}

impl SnapshotSummary {
    fn run_text(&self) -> String {
        let mut rows = vec![
            ("Path", clean(&self.source.path).into_owned()),
            ("Files", files_text(&self.source.files)),
            ("Format", self.source.format.to_owned()),
        ];
        let set: Vec<_> = (self.settings.iter())
            .filter(|(name, value)| is_default(name, value) != Some(true))
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        if !set.is_empty() {
            rows.push(("Settings", clean(&set.join(", ")).into_owned()));
        }
        pairs(rows)
    }

    fn peak_text(&self, peak: &Peak) -> String {
        let whole = peak.not_always_live_bytes.saturating_add(peak.always_live_bytes);
        let mut rows = Vec::new();
        let of = peak.device.and_then(|of| self.devices.iter().find(|device| device.device == of));
        rows.extend(of.map(|device| ("Of", device.title())));
        rows.push(("Requested", exact_bytes(whole)));
        let what = match (peak.kind, &peak.name) {
            (Some(kind), Some(name)) => format!(", {kind} at {}", name_cell(name)),
            (Some(kind), None) => format!(", {kind}"),
            _ => String::new(),
        };
        let is_recorded = of.is_none_or(|device| device.recorded != Recorded::Nothing);
        let place = if !is_recorded {
            "when the snapshot was taken; no events were recorded".to_owned()
        } else if peak.event < 0 {
            "before the first event".to_owned()
        } else {
            format!("event {}{what}", grouped(peak.event.unsigned_abs()))
        };
        rows.push(("Where", place));
        let mut text = pairs(rows);
        let categories = self.categories(peak);
        if !categories.is_empty() {
            text.push('\n');
            text += &aligned(&["<Category", "bytes"], categories);
        }
        if !peak.variables.is_empty() {
            text.push('\n');
            let rows = (peak.variables.iter())
                .map(|variable| vec![name_cell(&variable.name), exact_bytes(variable.bytes)]);
            text += &aligned(&["<Allocated at", "bytes"], rows);
        }
        text
    }

    fn categories(&self, peak: &Peak) -> Vec<Vec<String>> {
        let row = |name: &str, bytes: u64| vec![name.to_owned(), exact_bytes(bytes)];
        let of_timeline = self.pytorch.get("by_category").and_then(Value::as_object);
        if let Some(by_category) = of_timeline {
            let rows =
                by_category.iter().filter_map(|(name, bytes)| Some(row(name, bytes.as_u64()?)));
            return rows.collect();
        }
        let named = BlockCategory::ALL.iter().filter_map(|category| {
            Some(row(category.title(), *peak.by_category.get(category.as_str())?))
        });
        named.collect()
    }
}

fn device_text(device: &DeviceFacts) -> String {
    let end = &device.end;
    let at = |event: i64| match u64::try_from(event) {
        Ok(event) => format!("event {}", grouped(event)),
        Err(_) => "before the first event".to_owned(),
    };
    let least = if device.recorded == Recorded::Cut { " at least" } else { "" };
    let exact = if device.allocated_peak.exact { least } else { " at least" };
    let history = match device.recorded {
        Recorded::Nothing => "none recorded: what was there when the snapshot was taken".to_owned(),
        Recorded::Whole => format!("{}, history complete", grouped(device.events as u64)),
        Recorded::Cut => {
            format!("{}, until where the file is cut", grouped(device.events as u64))
        }
        Recorded::Window => format!(
            "{}, history begins with {} of {} that were there already",
            grouped(device.events as u64),
            counted(device.start.live_blocks, "block"),
            bytes(device.start.requested_bytes)
        ),
    };
    let peak = &device.requested_peak;
    let peaks = [
        (
            "Allocated peak",
            format!(
                "{}{exact}, {}",
                bytes(device.allocated_peak.bytes),
                at(device.allocated_peak.event)
            ),
        ),
        ("Reserved peak", format!("{}{least}", bytes(device.reserved_peak_bytes))),
        (
            "Requested peak",
            format!(
                "{}{least}, {}, {}",
                bytes(peak.bytes),
                at(peak.event),
                counted(peak.live_blocks as u64, "block")
            ),
        ),
    ];
    // Without events nobody knows of a peak.
    let mut rows: Vec<_> =
        peaks.into_iter().filter(|_| device.recorded != Recorded::Nothing).collect();
    rows.extend([
        ("Allocated", bytes(end.allocated_bytes)),
        ("Reserved", bytes(end.reserved_bytes)),
        (
            "Inactive",
            format!(
                "{} in {}, the largest {}",
                bytes(end.inactive_bytes),
                counted(end.inactive_blocks, "block"),
                bytes(end.largest_inactive_bytes)
            ),
        ),
        ("Rounding", bytes(end.rounding_bytes)),
        (
            "Segments",
            format!(
                "{}, {}",
                grouped(device.segments as u64),
                counted(device.blocks as u64, "block")
            ),
        ),
        ("Events", history),
    ]);
    if let Some(names) = peak.annotations.as_ref().filter(|names| !names.is_empty()) {
        rows.push(("Within", clean(&names.join(", ")).into_owned()));
    }
    for failed in device.oom.iter().rev().take(3) {
        rows.push((
            "Out of memory",
            format!(
                "event {}: {} asked for, {} free on the device",
                grouped(u64::from(failed.event)),
                bytes(failed.bytes),
                failed.device_free.map_or_else(|| "unknown".to_owned(), bytes)
            ),
        ));
    }
    pairs(rows)
}
