//! Two memory snapshots: what each took, and what is asked for at the requested peak of each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Compared, FigureRow, PeakRow, PeakTable, PeakWords, PeaksCompared, Said};
use crate::analysis::compared_snapshots::{
    ComparedFigure, ComparedRow, ComparedSnapshots, Function, FunctionRow, Room, conclusions,
};
use crate::systems::pytorch::allocator::replayed::AllocatorRun;
use crate::systems::pytorch::allocator::user_frame::NO_STACK;
use crate::text::clean;
use crate::ui::card_fields::device_titles;
use crate::ui::runs::Run;

/// Callers that a row names.
const MOST_CALLERS: usize = 16;

pub const WORDS: PeakWords = PeakWords {
    tabs: ["At the peaks by frames", "By function"],
    at_peaks: "At the requested peaks",
    adds_up: "what is asked for, at the peak of each; adds up to both peaks",
    no_setting: "No setting of the allocator differs",
    no_peaks: "",
    device: ["Device", "Fullest device"],
    capacity: "16GiB",
};

impl PeaksCompared {
    /// Compares the devices of a number, or those that failed or had most.
    pub(super) fn of_snapshots(
        both: [&AllocatorRun; 2],
        device: Option<i64>,
    ) -> Result<Self, &'static str> {
        let found = ComparedSnapshots::of(both, device).map_err(|_| match device {
            Some(_) => "One of the snapshots does not have this device",
            None => "A snapshot has no device",
        })?;
        let peaks = &found.peaks;
        let by_frames = PeakTable {
            name: "blocks at both peaks",
            words: vec!["Allocated in", "Called by", "Purpose"],
            counted: Some("blocks"),
            each: Some("Each block"),
            rows: peaks.rows.iter().map(of_frames).collect(),
        };
        let by_function = PeakTable {
            name: "functions at both peaks",
            words: vec!["Function", "Purpose"],
            counted: None,
            each: None,
            rows: peaks.by_function_and_category.iter().map(of_function).collect(),
        };
        let by_category = peaks.by_category.iter();
        Ok(Self {
            words: &WORDS,
            settings: found.settings.clone(),
            figures: found.figures.iter().map(figure).collect(),
            by_category: by_category.map(|(category, both)| (category.title(), *both)).collect(),
            tables: [by_frames, by_function].map(Arc::new).into(),
            compared: Compared::Snapshots(Box::new(found)),
        })
    }
}

/// The devices of both, by their numbers.
pub fn devices(both: [&Run; 2]) -> BTreeMap<i64, String> {
    let devices = both.into_iter().filter_map(|run| run.derived.snapshot());
    let devices = devices.flat_map(|replayed| &replayed.snapshot.devices);
    device_titles(devices.map(|device| (device.number, device.rank)))
}

pub fn said(found: &ComparedSnapshots, room: Room, size: &dyn Fn(u64) -> String) -> Vec<Said> {
    let said = conclusions(found, room, size);
    said.into_iter().map(|one| (one.text, one.is_better)).collect()
}

fn figure(figure: &ComparedFigure) -> FigureRow {
    let value = |place: usize| figure.values.get(place).copied();
    FigureRow {
        title: figure.figure.title(),
        is_bytes: figure.figure.is_bytes(),
        values: [value(0), value(1)],
        percent: figure.percent_of_source(1),
    }
}

fn of_frames(row: &ComparedRow) -> PeakRow {
    let names = row.frames.iter().skip(1).map(|frame| clean(&frame.name));
    let was = row.of_source.as_ref().map(|frame| format!("was in {}", clean(&frame.name)));
    let callers = was.unwrap_or_else(|| {
        let names: Vec<_> = names.take(MOST_CALLERS).collect();
        let more = if row.frames.iter().nth(MOST_CALLERS + 1).is_some() { " < …" } else { "" };
        names.join(" < ") + more
    });
    PeakRow {
        words: vec![
            Cow::Owned(clean(&row.title()).into_owned()),
            Cow::Owned(callers),
            Cow::Borrowed(row.category.title()),
        ],
        size: row.size,
        both: row.both,
    }
}

fn of_function(row: &FunctionRow) -> PeakRow {
    let title = row.function.as_ref().map_or_else(|| NO_STACK.to_owned(), Function::title);
    let category = row.category.map_or("", |category| category.title());
    PeakRow {
        words: vec![Cow::Owned(clean(&title).into_owned()), Cow::Borrowed(category)],
        size: None,
        both: row.both,
    }
}
