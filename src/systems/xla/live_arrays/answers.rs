//! The answers of a profile.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;

use super::list::{LiveArrayList, counted_kind};
use super::report::{FORMAT, device_at};
use super::{BUFFER, EXECUTABLE, OpenProfile};
use crate::analysis::comparison::fact_groups::{Statements, TitledFacts, count, push, sized};
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::format::{Error, ErrorKind};
use crate::progress::Progress;
use crate::run::answers::SourceFormat;
use crate::run::card::{BarList, BarRow, Card, PEAK};
use crate::run::section::keys_of;
use crate::run::{
    AliveBy, Allocations, Answers, AtLeast, Cell, Conclusion, DeviceVerdict, Evidence, FirstSight,
    GroupBytes, Insights, MemoryTotals, Need, OwnFacts, PeakOfRun, PeakRow, PeakVariable, Room,
    Section, StepBytes, Verdict, VerdictFigure,
};
use crate::store::placed::ReadError;
use crate::systems::xla::files::LiveSample;
use crate::text::{bytes, clean, counted, grouped};

/// Rows of a table; JSON has more.
const MOST_ROWS: usize = 20;
/// Stacks that JSON has, and calls of each.
const MOST_STACKS: usize = 1000;
const MOST_CALLS: usize = 100;

/// Why more may have been in use.
const ONE_MOMENT: AtLeast = AtLeast::of(
    "one-moment",
    "the profile is of one moment, so at its peak the program may have more",
);

/// The answers of an open profile.
#[derive(Debug)]
pub(super) struct ProfileAnswers {
    open: Arc<OpenProfile>,
}

/// The section `xla` of JSON documents.
#[derive(Serialize)]
struct ProfileSection<'a> {
    module: Option<()>,
    device_profile: ProfileFigures<'a>,
}

#[derive(Serialize)]
struct ProfileFigures<'a> {
    /// The sum of all samples.
    bytes: u64,
    /// Number of arrays and programs.
    count: u64,
    array_bytes: u64,
    arrays: u64,
    program_bytes: u64,
    programs: u64,
    devices: Vec<DeviceFigures<'a>>,
    stacks: Vec<StackFigures<'a>>,
    /// Stacks that are left out.
    more_stacks: u64,
}

#[derive(Serialize)]
struct DeviceFigures<'a> {
    name: &'a str,
    bytes: u64,
    arrays: u64,
}

#[derive(Serialize)]
struct StackFigures<'a> {
    bytes: u64,
    count: u64,
    kind: &'a str,
    device: Option<&'a str>,
    /// The code that it counts to.
    code: &'a str,
    /// The calls, the innermost first.
    calls: Vec<String>,
}

impl ProfileAnswers {
    pub(super) fn of(open: OpenProfile) -> Self {
        Self { open: Arc::new(open) }
    }

    /// The samples that have bytes, with what they count to, the largest first.
    fn largest(&self) -> Vec<(&LiveSample, &str, Option<&str>)> {
        let open = &*self.open;
        let owners = open.owners.iter().map(|(owner, place)| {
            let device = place.and_then(|place| open.devices.get(place));
            (owner.as_str(), device.map(String::as_str))
        });
        let mut all: Vec<_> = (open.profile.samples.iter().zip(owners))
            .map(|(sample, (owner, device))| (sample, owner, device))
            .collect();
        all.retain(|(sample, ..)| sample.bytes > 0);
        all.sort_by_key(|(sample, ..)| Reverse((sample.bytes, sample.count)));
        all
    }

    /// Sums of what is on a device, or of all, by a key; the most bytes first.
    fn sums<'a>(
        &'a self,
        device: Option<usize>,
        key: impl Fn(&'a LiveSample, &'a str) -> Cow<'a, str>,
    ) -> Vec<(Cow<'a, str>, u64, u64)> {
        let mut sums: HashMap<Cow<'a, str>, (u64, u64)> = HashMap::new();
        for (sample, (owner, place)) in self.open.profile.samples.iter().zip(&self.open.owners) {
            let is_of = device.is_none() || *place == device;
            if !is_of || sample.bytes == 0 {
                continue;
            }
            let sum = sums.entry(key(sample, owner)).or_default();
            *sum = (sum.0.saturating_add(sample.bytes), sum.1.saturating_add(sample.count));
        }
        let sums = sums.into_iter().map(|(name, (bytes, count))| (name, bytes, count));
        let mut sums: Vec<_> = sums.collect();
        sums.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        sums
    }

    fn by_owner(&self, device: Option<usize>) -> Vec<(Cow<'_, str>, u64, u64)> {
        self.sums(device, |_, owner| Cow::Borrowed(owner))
    }

    fn by_kind(&self, device: Option<usize>) -> Vec<(Cow<'_, str>, u64, u64)> {
        self.sums(device, |sample, _| Cow::Borrowed(self.open.kind(sample)))
    }

    /// Arrays by the bytes that each of a stack has on average.
    fn by_size(&self) -> Vec<(u64, u64, u64)> {
        let mut sums: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        let samples = self.open.profile.samples.iter();
        for sample in samples.filter(|sample| self.open.kind(sample) != EXECUTABLE) {
            let each = sample.bytes.checked_div(sample.count).unwrap_or(sample.bytes);
            let sum = sums.entry(each).or_default();
            *sum = (sum.0.saturating_add(sample.bytes), sum.1.saturating_add(sample.count));
        }
        let mut sums: Vec<_> =
            sums.into_iter().map(|(each, (bytes, count))| (each, bytes, count)).collect();
        sums.sort_by_key(|(each, bytes, _)| Reverse((*bytes, *each)));
        sums
    }

    /// The place of the device that a scope is of; `None` of all.
    fn place_of(&self, scope: Scope) -> Option<usize> {
        match scope {
            Scope::Device(id) => (0..self.open.devices.len()).find(|place| device_at(*place) == id),
            _ => None,
        }
    }

    /// What there must be for all of it, or for a device.
    fn need_of(&self, place: Option<usize>) -> Need {
        let (bytes, device) = match place {
            Some(place) => (self.open.sum_of_device(place).0, i64::try_from(place).ok()),
            None => (self.open.sum(None).0, None),
        };
        let title = place.and_then(|place| self.open.devices.get(place)).cloned();
        Need {
            device,
            title: title.unwrap_or_default(),
            verb: "keeps",
            bytes: Some(bytes),
            at_least: Some(if self.open.is_cut { AtLeast::CUT } else { ONE_MOMENT }),
            ..Need::default()
        }
    }

    /// The device with most, where there are several.
    fn fullest(&self) -> Option<usize> {
        let devices = 0..self.open.devices.len();
        devices.max_by_key(|place| (self.open.sum_of_device(*place).0, Reverse(*place)))
    }

    fn conclusions(&self, verdict: &Verdict) -> Vec<Conclusion> {
        let mut conclusions = vec![Conclusion::new(verdict.outcome.key(), verdict.text.clone())];
        let (total, _) = self.open.sum(None);
        if let Some((owner, of, number)) = self.by_owner(None).first() {
            let text = format!(
                "{} of the {} alive, {} %, were made at {owner}",
                bytes(*of),
                bytes(total),
                (u128::from(*of) * 100).checked_div(total.into()).unwrap_or(0),
            );
            let evidence = vec![Evidence::of(&**owner, *of).at_step(0)];
            let text = if *number > 1 {
                format!("{text} ({} allocations)", grouped(*number))
            } else {
                text
            };
            conclusions.push(Conclusion { evidence, ..Conclusion::new("peak-owner", text) });
        }
        conclusions
    }

    fn stacks_table(&self) -> Section {
        let all = self.largest();
        let mut rows: Vec<Vec<Cell>> = (all.iter().take(MOST_ROWS))
            .map(|(sample, owner, device)| {
                vec![
                    Cell::Text((*owner).to_owned()),
                    Cell::Text(device.unwrap_or("").to_owned()),
                    Cell::Text(counted_kind(self.open.kind(sample), sample.count)),
                    Cell::Bytes(sample.bytes),
                ]
            })
            .collect();
        let rest = all.get(MOST_ROWS..).unwrap_or_default();
        if !rest.is_empty() {
            let sum = rest.iter().fold(0_u64, |sum, one| sum.saturating_add(one.0.bytes));
            rows.push(vec![
                Cell::Text(counted(rest.len() as u64, "more stack")),
                Cell::Empty,
                Cell::Empty,
                Cell::Bytes(sum),
            ]);
        }
        Section::table("Alive by stack", &["Made at", "Device", "Number", "bytes"], rows)
    }

    fn sizes_table(&self) -> Section {
        let all = self.by_size();
        let row = |(each, bytes, count): &(u64, u64, u64)| {
            vec![Cell::Bytes(*each), Cell::Count(*count), Cell::Bytes(*bytes)]
        };
        let mut rows: Vec<Vec<Cell>> = all.iter().take(MOST_ROWS).map(row).collect();
        let rest = all.get(MOST_ROWS..).unwrap_or_default();
        if !rest.is_empty() {
            let (bytes, count) = rest.iter().fold((0_u64, 0_u64), |sum, one| {
                (sum.0.saturating_add(one.1), sum.1.saturating_add(one.2))
            });
            rows.push(vec![Cell::Empty, Cell::Count(count), Cell::Bytes(bytes)]);
        }
        // Of a stack only the sum is stated.
        Section::table("Arrays by size, the mean of each stack", &["each", "arrays", "bytes"], rows)
    }
}

impl Answers for ProfileAnswers {
    fn verdict(&self, _: &Derived) -> Option<Verdict> {
        let open = &self.open;
        let device = |(place, name): (usize, &String)| {
            let need = self.need_of(Some(place));
            let judged = need.judge(Room::default());
            DeviceVerdict {
                device: i64::try_from(place).unwrap_or(i64::MAX),
                name: name.clone(),
                outcome: judged.outcome,
                cause: judged.cause,
                used_bytes: need.bytes,
                peak_bytes: need.bytes,
                peak_step: Some(0),
                ..DeviceVerdict::default()
            }
        };
        let need = self.need_of(None);
        let judged = need.judge(Room::default());
        let ((total, _), (arrays, number)) = (open.sum(None), open.sum(Some(BUFFER)));
        let (code, programs) = open.sum(Some(EXECUTABLE));
        let text = format!(
            "{} of {} and {} of {} are alive; {}",
            bytes(arrays),
            counted(number, "array"),
            bytes(code),
            counted(programs, "program"),
            if open.is_cut {
                "the file is cut"
            } else {
                "the profile says nothing of the peak, nor what the device has"
            },
        );
        let figures = vec![
            VerdictFigure::of("Alive", total, "at the moment of the profile"),
            VerdictFigure::of("Arrays", arrays, counted(number, "array")),
            VerdictFigure::of("Programs", code, counted(programs, "program")),
        ];
        Some(Verdict {
            outcome: judged.outcome,
            cause: judged.cause,
            short: judged.outcome.word().to_owned(),
            text,
            figures,
            used_bytes: need.bytes,
            at_least: need.at_least,
            devices: open.devices.iter().enumerate().map(device).collect(),
            ..Verdict::default()
        })
    }

    fn insights(&self, derived: &Derived, _: &Progress) -> Result<Insights, ReadError> {
        let verdict = self.verdict(derived);
        let conclusions = verdict.as_ref().map(|verdict| self.conclusions(verdict));
        let conclusions = conclusions.unwrap_or_default();
        Ok(Insights { verdict, conclusions, ..Insights::default() })
    }

    fn first_sight(
        &self,
        derived: &Derived,
        is_final: bool,
        progress: &Progress,
        size: &dyn Fn(u64) -> String,
    ) -> FirstSight {
        let mut sight = FirstSight::of_answers(derived, is_final, progress);
        let row = |(name, bytes, count): (Cow<'_, str>, u64, u64)| {
            let name = clean(&name).into_owned();
            let hover = format!("{name}: {}", grouped(count));
            BarRow { cells: vec![Cell::Count(count)], ..BarRow::of(name, hover, bytes) }
        };
        let rows = self.by_owner(None).into_iter().map(row).collect();
        let (total, _) = self.open.sum(None);
        let list = BarList::of(&["Made at", "Bytes", "Number"], Some(total), rows);
        let card = || Card {
            about: format!("{} alive at the moment of the profile", size(total)),
            ..Card::of_bars(PEAK, "What is alive", vec![list.clone()])
        };
        sight.cards.push(card());
        sight.glance = [vec![card()], Vec::new()];
        sight
    }

    fn memory(&self, _: &Derived) -> MemoryTotals {
        MemoryTotals {
            moment: "the moment of the profile",
            total_bytes: Some(self.open.sum(None).0),
            ..MemoryTotals::default()
        }
    }

    fn peak(&self, _: &Derived) -> Option<PeakOfRun> {
        let row = |(name, bytes, count): (Cow<'_, str>, u64, u64)| PeakRow {
            name: name.into_owned(),
            bytes,
            count,
        };
        let rows = |sums: Vec<(Cow<'_, str>, u64, u64)>| sums.into_iter().map(row).collect();
        let largest = self.largest();
        let largest = largest.iter().take(MOST_ROWS);
        Some(PeakOfRun {
            step: Some(0),
            kind: Some("moment".to_owned()),
            bytes: self.open.sum(None).0,
            always_live_bytes: Some(0),
            by_category: rows(self.by_kind(None)),
            by_line: rows(self.by_owner(None)),
            largest: largest
                .map(|(sample, owner, _)| PeakVariable {
                    name: (*owner).to_owned(),
                    bytes: sample.bytes,
                    category: Some(self.open.kind(sample).to_owned()),
                    operation: None,
                })
                .collect(),
            ..PeakOfRun::default()
        })
    }

    /// What all devices have is in no device: it counts for a capacity where there is one device.
    fn need(&self, _: &Derived, device: Option<i64>) -> Result<Need, Error> {
        let devices = self.open.devices.len();
        let place = device.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        match place {
            None if devices > 1 => Ok(self.need_of(self.fullest())),
            None => Ok(self.need_of(None)),
            Some(place) if place < devices => Ok(self.need_of(Some(place))),
            Some(place) => {
                let message = format!("the profile has no device {place}");
                Err(Error::new(ErrorKind::Usage, message))
            }
        }
    }

    fn alive_groupings(&self, _: &Derived, _: Scope) -> Vec<AliveBy> {
        vec![AliveBy::Line, AliveBy::Category, AliveBy::Variable]
    }

    fn alive_rows(&self, _: &Derived, at: &StepBytes, by: AliveBy) -> Vec<GroupBytes> {
        let place = self.place_of(at.scope);
        let sums = match by {
            AliveBy::Line => self.by_owner(place),
            AliveBy::Category => self.by_kind(place),
            _ => return Vec::new(),
        };
        let row = |(name, bytes, count): (Cow<'_, str>, u64, u64)| GroupBytes {
            name: name.into_owned(),
            bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
            count,
        };
        sums.into_iter().map(row).collect()
    }

    fn has_allocations(&self) -> bool {
        true
    }

    fn allocations(
        &self,
        _: &Derived,
        scope: Scope,
        _: Option<usize>,
        _: &(dyn Fn() -> bool + Sync),
    ) -> Option<Arc<dyn Allocations>> {
        Some(Arc::new(LiveArrayList::of(&self.open, self.place_of(scope))))
    }

    /// The profile has no addresses.
    fn arena_maps(&self, _: &Derived) -> Vec<String> {
        Vec::new()
    }

    fn fact_groups(&self, _: &Derived) -> Vec<TitledFacts> {
        let open = &self.open;
        let mut said: Statements = Vec::new();
        let ((total, _), (arrays, number)) = (open.sum(None), open.sum(Some(BUFFER)));
        let (code, programs) = open.sum(Some(EXECUTABLE));
        push(&mut said, "Alive", sized(total));
        push(&mut said, "In arrays", sized(arrays));
        push(&mut said, "Arrays", count(usize::try_from(number).unwrap_or(usize::MAX)));
        push(&mut said, "In code of programs", sized(code));
        push(&mut said, "Programs", count(usize::try_from(programs).unwrap_or(usize::MAX)));
        push(&mut said, "Stacks", count(open.profile.samples.len()));
        vec![(Cow::Borrowed("Device memory profile"), said)]
    }

    fn format(&self, _: &Derived) -> SourceFormat {
        SourceFormat { format: Some(FORMAT.to_owned()), ..SourceFormat::default() }
    }

    fn sections(&self, _: &Derived, _: &Insights) -> Vec<Section> {
        let open = &self.open;
        let mut sections = vec![self.stacks_table(), self.sizes_table()];
        if open.devices.len() > 1 {
            let row = |(place, name): (usize, &String)| {
                let (bytes, count) = open.sum_of_device(place);
                vec![Cell::Text(name.clone()), Cell::Count(count), Cell::Bytes(bytes)]
            };
            let rows = open.devices.iter().enumerate().take(MOST_ROWS).map(row).collect();
            sections.push(Section::table("Devices", &["Device", "arrays", "bytes"], rows));
        }
        sections
    }

    fn own_json<'a>(&'a self, _: &'a Derived) -> Option<OwnFacts<'a>> {
        let open = &*self.open;
        let all = self.largest();
        let stacks: Vec<_> = (all.iter().take(MOST_STACKS))
            .map(|(sample, owner, device)| StackFigures {
                bytes: sample.bytes,
                count: sample.count,
                kind: open.kind(sample),
                device: *device,
                code: owner,
                calls: open
                    .frames(sample)
                    .take(MOST_CALLS)
                    .map(|frame| open.title(frame))
                    .collect(),
            })
            .collect();
        let devices = open.devices.iter().enumerate().map(|(place, name)| {
            let (bytes, arrays) = open.sum_of_device(place);
            DeviceFigures { name, bytes, arrays }
        });
        let (bytes, count) = open.sum(None);
        let (array_bytes, arrays) = open.sum(Some(BUFFER));
        let (program_bytes, programs) = open.sum(Some(EXECUTABLE));
        Some(Box::new(keys_of(&ProfileSection {
            module: None,
            device_profile: ProfileFigures {
                bytes,
                count,
                array_bytes,
                arrays,
                program_bytes,
                programs,
                devices: devices.collect(),
                more_stacks: all.len().saturating_sub(stacks.len()) as u64,
                stacks,
            },
        })))
    }

    fn devices(&self, _: &Derived) -> BTreeMap<i64, String> {
        (0..).zip(self.open.devices.iter().cloned()).collect()
    }
}
