//! The tables of memory snapshots: the run, its settings, and of each device figures, events, blocks with their lives,
//! segments; and the frames of stacks. They are of a system that has no tiles, so they are tables of their own.

use std::path::Path;

use super::staging::Staging;
use super::table::Kind::{Flag, Integer, Text};
use super::table::{Table, Written, flag, integer, integer_if, text};
use super::{Exported, ExportedRun, run_id};
use crate::files::file_name;
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::{RunContents, SnapshotRun};
use crate::store::Warnings;
use crate::store::snapshot::{Events, StackId};
use crate::systems::pytorch::allocator::device_facts::DeviceFacts;
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::replayed::{AllocatorRun, ReplayedSnapshot};
use crate::systems::pytorch::allocator::user_frame::{is_python, is_users, user_frame_title};
use crate::systems::pytorch::files::{FileKind, SnapshotFiles, find};

pub(super) const SNAPSHOTS: Table = Table {
    name: "snapshots",
    columns: &[
        ("system", Text),
        ("name", Text),
        ("path", Text),
        ("exported_by", Text),
        ("finished", Flag),
        ("cut", Flag),
        ("devices", Integer),
        ("events", Integer),
        ("max_reserved_bytes", Integer),
        ("requested_peak_bytes", Integer),
        ("warnings", Integer),
    ],
};

pub(super) const SETTINGS: Table =
    Table { name: "settings", columns: &[("name", Text), ("value", Text)] };

pub(super) const DEVICES: Table = Table {
    name: "devices",
    columns: &[
        ("device", Integer),
        ("rank", Integer),
        ("gpu", Integer),
        ("event_count", Integer),
        ("segment_count", Integer),
        ("block_count", Integer),
        ("history_complete", Flag),
        ("allocated_bytes", Integer),
        ("active_bytes", Integer),
        ("reserved_bytes", Integer),
        ("requested_bytes", Integer),
        ("rounding_bytes", Integer),
        ("inactive_bytes", Integer),
        ("largest_inactive_bytes", Integer),
        ("max_allocated_bytes", Integer),
        ("max_allocated_exact", Flag),
        ("max_active_bytes", Integer),
        ("max_reserved_bytes", Integer),
        ("requested_peak_bytes", Integer),
        ("requested_peak_event", Integer),
        ("failed_request_bytes", Integer),
    ],
};

pub(super) const EVENTS: Table = Table {
    name: "events",
    columns: &[
        ("device", Integer),
        ("event", Integer),
        ("step", Integer),
        ("action", Text),
        ("address", Integer),
        ("bytes", Integer),
        ("device_free_bytes", Integer),
        ("stream", Integer),
        ("time_us", Integer),
        ("stack", Integer),
        ("text", Text),
    ],
};

pub(super) const BLOCKS: Table = Table {
    name: "blocks",
    columns: &[
        ("device", Integer),
        ("block", Integer),
        ("address", Integer),
        ("requested_bytes", Integer),
        ("bytes", Integer),
        ("allocated_event", Integer),
        ("free_requested_event", Integer),
        ("freed_event", Integer),
        ("live_at_requested_peak", Flag),
        ("category", Text),
        ("stack", Integer),
        ("frame", Text),
    ],
};

pub(super) const SEGMENTS: Table = Table {
    name: "segments",
    columns: &[
        ("device", Integer),
        ("address", Integer),
        ("bytes", Integer),
        ("expandable", Flag),
        ("first_event", Integer),
        ("end_event", Integer),
    ],
};

pub(super) const FRAMES: Table = Table {
    name: "frames",
    columns: &[
        ("stack", Integer),
        ("position", Integer),
        ("file", Text),
        ("line", Integer),
        ("function", Text),
        ("python", Flag),
        ("users", Flag),
    ],
};

/// Tables of memory snapshots. The first is written last: a run that has a row there has all of its others.
pub const SNAPSHOT_TABLES: [Table; 7] =
    [SNAPSHOTS, SETTINGS, DEVICES, EVENTS, BLOCKS, SEGMENTS, FRAMES];

/// A snapshot, or those of the ranks of one run, and what it is called as seen from the folder that was named.
#[derive(Clone, Debug)]
pub(super) struct FoundSnapshot {
    pub files: SnapshotFiles,
    pub name: String,
}

/// The snapshot that a path is, or the run of several ranks that it names; `None` of what is none.
///
/// # Errors
/// `usage` of a memory timeline, which has no rows.
pub(super) fn snapshot_at(
    path: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Option<FoundSnapshot>, Error> {
    let Some(files) = find(path, warnings, progress)? else { return Ok(None) };
    match files.kind {
        FileKind::Snapshot => Ok(Some(FoundSnapshot { files, name: file_name(path) })),
        FileKind::Timeline | FileKind::CompressedTimeline => {
            let message = format!(
                "{} is a memory timeline: bytes by category, without the events and blocks that tables are of",
                path.display()
            );
            Err(Error::new(ErrorKind::Usage, message)
                .in_file(path)
                .hint("torch.cuda.memory._dump_snapshot writes a snapshot that has them."))
        }
    }
}

/// Writes a snapshot into a lake.
///
/// # Errors
/// When it cannot be read, and `cannot-write`.
pub(super) fn export_snapshot(
    found: &FoundSnapshot,
    lake: &Path,
    exported: &mut Exported,
    progress: &Progress,
) -> Result<(), Error> {
    let FoundSnapshot { files, name } = found;
    let cancelled = || Error::new(ErrorKind::Unreadable, "cancelled");
    let run = SnapshotRun::open(files, progress)?.ok_or_else(cancelled)?;
    let RunContents::Snapshot(replayed) = &run.allocator.contents else { return Ok(()) };
    let id = run_id::of_snapshot(files, progress)?;
    let staging = Staging::new(lake, progress)?;
    let warnings = run.report.warnings.list();
    let rows = Rows { staging: &staging, replayed };
    let tables = vec![
        rows.snapshot(found, &run.allocator, warnings.len())?,
        rows.settings()?,
        rows.devices()?,
        rows.events()?,
        rows.blocks()?,
        rows.segments()?,
        rows.frames()?,
    ];
    if progress.is_cancelled() {
        return Err(cancelled());
    }
    staging.publish(&SNAPSHOT_TABLES, &id)?;
    let path = files.path.display().to_string();
    exported.runs.push(ExportedRun { run: id, path, name: name.clone(), tables });
    exported.of_runs.push((name.clone(), warnings));
    Ok(())
}

struct Rows<'a> {
    staging: &'a Staging<'a>,
    replayed: &'a ReplayedSnapshot,
}

type TableOfRun = (&'static str, Written);

impl Rows<'_> {
    fn snapshot(
        &self,
        found: &FoundSnapshot,
        run: &AllocatorRun,
        warnings: usize,
    ) -> Result<TableOfRun, Error> {
        let mut table = self.staging.create(&SNAPSHOTS)?;
        let snapshot = &self.replayed.snapshot;
        let facts = self.replayed.device_facts();
        let most = |of: fn(&DeviceFacts) -> u64| facts.iter().map(of).max();
        let path = found.files.path.display().to_string();
        let program = super::program();
        table.row([
            text("pytorch"),
            text(&*found.name),
            text(&*path),
            text(&*program),
            flag(run.end().and_then(|end| end.ending.finished())),
            flag(run.is_cut),
            integer(snapshot.devices.len()),
            integer(snapshot.events.len()),
            integer_if(most(|facts| facts.reserved_peak_bytes)),
            integer_if(most(|facts| facts.requested_peak.bytes)),
            integer(warnings),
        ])?;
        Ok((SNAPSHOTS.name, table.finish()?))
    }

    fn settings(&self) -> Result<TableOfRun, Error> {
        let mut table = self.staging.create(&SETTINGS)?;
        for (name, value) in &self.replayed.snapshot.settings.all {
            table.row([text(&**name), text(&**value)])?;
        }
        Ok((SETTINGS.name, table.finish()?))
    }

    fn devices(&self) -> Result<TableOfRun, Error> {
        let mut table = self.staging.create(&DEVICES)?;
        let first_host = self.replayed.snapshot.devices.len();
        let hosts = (first_host..self.replayed.replays.len())
            .filter_map(|place| DeviceFacts::of(self.replayed, place));
        let hosts: Vec<DeviceFacts> = hosts.collect();
        for facts in self.replayed.device_facts().iter().chain(&hosts) {
            let end = &facts.end;
            table.row([
                integer(facts.device),
                integer_if(facts.rank.map(|of| of.rank)),
                integer_if(facts.rank.map(|of| of.gpu)),
                integer(facts.events),
                integer(facts.segments),
                integer(facts.blocks),
                flag(facts.history_complete),
                integer(end.allocated_bytes),
                integer(end.active_bytes),
                integer(end.reserved_bytes),
                integer(end.requested_bytes),
                integer(end.rounding_bytes),
                integer(end.inactive_bytes),
                integer(end.largest_inactive_bytes),
                integer(facts.allocated_peak.bytes),
                flag(facts.allocated_peak.exact),
                integer(facts.active_peak_bytes),
                integer(facts.reserved_peak_bytes),
                integer(facts.requested_peak.bytes),
                integer(facts.requested_peak.event),
                integer_if(facts.ended_by.map(|failed| failed.bytes)),
            ])?;
        }
        Ok((DEVICES.name, table.finish()?))
    }

    fn events(&self) -> Result<TableOfRun, Error> {
        use crate::store::snapshot::Action;
        let mut table = self.staging.create(&EVENTS)?;
        let snapshot = &self.replayed.snapshot;
        let events: &Events = &snapshot.events;
        let axis = self.replayed.axis();
        for (device, _) in self.replayed.devices() {
            for (event, row) in (0_u32..).zip(device.events.clone()) {
                let Some(action) = events.actions.get(row).copied() else { break };
                let at = events.addresses.get(row).copied();
                // A request that failed has no address.
                let is_failed = action == Action::OutOfMemory;
                let stream = events.streams.get(row);
                let stream = stream.and_then(|stream| snapshot.streams.get(*stream as usize));
                let stack = events.stacks.get(row).copied().filter(|stack| *stack != StackId::NONE);
                let said = events.text(row).map(|said| snapshot.texts.get(said));
                table.row([
                    integer(device.number),
                    integer(event),
                    integer(axis.step(device, event)),
                    text(action.as_str()),
                    integer_if(at.filter(|_| !is_failed)),
                    integer_if(events.sizes.get(row).copied()),
                    integer_if(at.filter(|_| is_failed)),
                    integer_if(stream.copied()),
                    integer_if(events.time(row)),
                    integer_if(stack.map(|stack| stack.0)),
                    text(said),
                ])?;
            }
        }
        Ok((EVENTS.name, table.finish()?))
    }

    fn blocks(&self) -> Result<TableOfRun, Error> {
        let mut table = self.staging.create(&BLOCKS)?;
        let snapshot = &self.replayed.snapshot;
        let stacks = (0..snapshot.stacks.len() as u32).map(StackId);
        let titles: Vec<Option<String>> =
            stacks.map(|stack| user_frame_title(snapshot, stack)).collect();
        let event = |event: u32| (event != BlockLives::OPEN).then_some(event);
        for (place, (device, replay)) in self.replayed.devices().enumerate() {
            let lives = &replay.lives;
            let categories = self.replayed.categories(place);
            for row in 0..lives.len() {
                let stack = lives.stacks[row];
                let title = titles.get(stack.0 as usize).and_then(Option::as_deref);
                table.row([
                    integer(device.number),
                    integer(row),
                    integer(lives.addresses[row]),
                    integer(lives.requested[row]),
                    integer(lives.bytes[row]),
                    integer_if(lives.allocation(row)),
                    integer_if(event(lives.requested_free_at[row])),
                    integer_if(event(lives.freed_at[row])),
                    flag(lives.is_live_after(row, replay.requested_peak.event)),
                    text(categories.get(row).map(|category| category.as_str())),
                    integer_if((stack != StackId::NONE).then_some(stack.0)),
                    text(title),
                ])?;
            }
        }
        Ok((BLOCKS.name, table.finish()?))
    }

    fn segments(&self) -> Result<TableOfRun, Error> {
        let mut table = self.staging.create(&SEGMENTS)?;
        for (place, (device, _)) in self.replayed.devices().enumerate() {
            for range in self.replayed.segments(place) {
                for times in &range.times {
                    table.row([
                        integer(device.number),
                        integer(range.address),
                        integer(range.bytes),
                        flag(range.is_expandable),
                        integer_if((times.start >= 0).then_some(times.start)),
                        integer_if((times.end != i64::MAX).then_some(times.end)),
                    ])?;
                }
            }
        }
        Ok((SEGMENTS.name, table.finish()?))
    }

    fn frames(&self) -> Result<TableOfRun, Error> {
        let mut table = self.staging.create(&FRAMES)?;
        let snapshot = &self.replayed.snapshot;
        for stack in 0..snapshot.stacks.len() as u32 {
            for (position, frame) in snapshot.frames_of(StackId(stack)).enumerate() {
                table.row([
                    integer(stack),
                    integer(position),
                    text(snapshot.texts.get(frame.file)),
                    integer(frame.line),
                    text(snapshot.texts.get(frame.name)),
                    flag(is_python(snapshot, frame)),
                    flag(is_users(snapshot, frame)),
                ])?;
            }
        }
        Ok((FRAMES.name, table.finish()?))
    }
}
