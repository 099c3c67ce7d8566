//! The messages of one writer in a region, read in the way in which they say most.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde_json::Value;

use super::clues::{Clues, FailureClues};
use super::figures;
use super::finding::Finding;
use super::message::matches;
use super::origin;
use super::retelling::is_of_traceback;
use super::streams::{LogRegion, Stream, StreamText};
use super::surroundings::Surroundings;
use super::wrapper::those_that_count;

/// Bytes before a message in its line that tell whether it is said.
const OWN: usize = 500;

/// Bytes before and behind a message that tell of its run.
const CLUES_IN: [usize; 2] = [1 << 13, 1 << 10];

/// Bytes that are read in further ways and for clues, of all messages of a log: some thousand have room. Where each of
/// many lines is of a writer of its own, the lines around it are read again for each.
const MOST_READ_AGAIN: usize = 64 << 20;

/// What was read.
#[derive(Default)]
pub struct WriterReading {
    /// In the order of the lines.
    pub findings: Vec<Finding>,
    /// The lines of the region that known messages take, whether these are new or not.
    pub lines: Vec<usize>,
    /// The words of the input that these findings are made of.
    pub words: Vec<usize>,
    /// Messages for which there is no room.
    pub further: u64,
    /// Messages whose surrounding lines were not read again for facts about the run.
    pub less_read: u64,
    /// Where each finding begins and ends in the input, and where those before it and behind it may lie.
    places: Vec<[usize; 4]>,
    worth: ReadingWorth,
}

/// What a reading is worth: facts first, then that nothing of other writers is within messages, then their length.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct ReadingWorth {
    facts: usize,
    names_within: Reverse<usize>,
    bytes: usize,
}

impl WriterReading {
    /// Reads what a writer says near some of its lines; `is_new` tells of the first word of a message whether it is
    /// to be read, `room` how many findings there may be. `read_again` counts the bytes that are read
    /// in further ways and for clues: beyond a bound only the likeliest way is read, and clues are those of the message.
    pub fn best(
        region: &LogRegion,
        near: &[usize],
        is_new: impl Fn(usize) -> bool,
        room: usize,
        read_again: &mut usize,
    ) -> Self {
        let Some(first) = near.first() else { return Self::default() };
        let mut texts: Vec<StreamText> = Vec::new();
        for way in region.ways(*first) {
            if !texts.is_empty() && *read_again > MOST_READ_AGAIN {
                break;
            }
            let text = region.text_of(way, near);
            if texts.iter().all(|other| other.text != text.text) {
                let is_further = !texts.is_empty();
                *read_again += if is_further { text.text.len() } else { 0 };
                texts.push(text);
            }
        }
        let is_only = texts.len() < 2;
        let mut best = Self::default();
        let mut way = None;
        for (index, text) in texts.iter().enumerate() {
            let reading = Self::of(region, text, near, &is_new, is_only, room);
            // The first of equals.
            if index == 0 || reading.worth > best.worth {
                (best, way) = (reading, Some(text.stream));
            }
        }
        if let Some(way) = way {
            for (finding, places) in best.findings.iter_mut().zip(&best.places) {
                let [start, end, before, behind] = *places;
                let is_near = *read_again <= MOST_READ_AGAIN;
                best.less_read += u64::from(!is_near);
                let [most_before, most_behind] = if is_near { CLUES_IN } else { [0, 0] };
                let earliest = before.max(start.saturating_sub(most_before));
                let latest = behind.min(end.saturating_add(most_behind));
                *read_again += start.saturating_sub(earliest) + latest.saturating_sub(end);
                finding.clues = clues_near(region, way, finding, [start, end, earliest, latest]);
            }
        }
        best
    }

    fn of(
        region: &LogRegion,
        text: &StreamText,
        near: &[usize],
        is_new: impl Fn(usize) -> bool,
        is_only: bool,
        room: usize,
    ) -> Self {
        let mut reading = Self::default();
        let matches: Vec<_> = matches(&text.text).collect();
        let mut same: HashMap<&str, Vec<usize>> = HashMap::new();
        for one in &matches {
            same.entry(one.message.pattern).or_default().push(one.start());
            reading.lines.extend(text.lines_in(one.start(), one.end()).map(|(_, _, line)| line));
        }
        for one in those_that_count(matches, &text.text) {
            let (start, end) = (one.start(), one.end());
            let first = region.word_in(text, (start, end));
            let is_own =
                first.is_some_and(|(word, line)| is_new(word) && near.binary_search(&line).is_ok());
            if !is_own {
                continue;
            }
            reading.words.extend(region.words_in(text, (start, end)));
            if reading.findings.len() >= room {
                reading.further += 1;
                reading.worth.bytes += 1;
                continue;
            }
            let line = text.line(start);
            // What is said of a message lies between the same before it and behind.
            let same = same.get(one.message.pattern).map_or(&[][..], Vec::as_slice);
            let before = same.get(..same.partition_point(|other| *other < start));
            let before = before.and_then(<[_]>::last).map_or(0, |other| text.place(*other));
            let behind = same.get(same.partition_point(|other| *other < end));
            let behind = behind.map_or(region.log.text.len(), |other| text.place(*other));
            let place = (text.place(start), text.end_place(start, end));
            let places = [place.0, place.1, before, behind];
            let before = Surroundings::before(region.log, text.stream, place.0, before);
            let after = Surroundings::behind(region.log, text.stream, place.1, behind);
            // A line may be long, and have many messages.
            let own = text.text.get(start.saturating_sub(OWN)..start).unwrap_or_default();
            let own = own.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            let Some(finding) = one.finding(own, &before, &after) else { continue };
            let mut finding = finding.at_line(region.number(line));
            finding.origin = origin::of(region, line);
            figures::number_device(&mut finding, || origin::device_index(region, line));
            if region.is_doubtful(text, start, end) {
                reading.worth.bytes += 1;
            } else if !is_only {
                let facts = serde_json::to_value(&finding).map_or(0, |facts| known(&facts));
                reading.worth.facts += facts;
                reading.worth.names_within.0 += region.names_within(text, start, end);
                reading.worth.bytes += finding.text.len();
            }
            reading.findings.push(finding);
            reading.places.push(places);
        }
        reading
    }
}

/// The clues in what a writer wrote next to a message, between two places.
fn clues_near(
    region: &LogRegion,
    way: Stream,
    finding: &Finding,
    [start, end, earliest, latest]: [usize; 4],
) -> FailureClues {
    let before = Surroundings::before(region.log, way, start, earliest);
    let behind = Surroundings::behind(region.log, way, end, latest);
    let line_start = memchr::memrchr(b'\n', &before).map_or(0, |end| end.saturating_add(1));
    let (lines, _) = before.split_at_checked(line_start).unwrap_or_default();
    let own_line = region.line_of(finding.line).map_or(start, |line| region.place(line));
    let own_line = region.log.text.get(own_line.max(start.saturating_sub(OWN))..start);
    let is_of_calls = |line: &&[u8]| is_of_traceback(line);
    let calls: usize = lines
        .split_inclusive(|byte| *byte == b'\n')
        .rev()
        .take_while(is_of_calls)
        .map(<[u8]>::len)
        .sum();
    let (lines, calls) =
        lines.split_at_checked(lines.len().saturating_sub(calls)).unwrap_or_default();
    FailureClues {
        own: Clues::of(finding.text.as_bytes()).and(Clues::of(own_line.unwrap_or_default())),
        calls: Clues::of(calls),
        before: Clues::of(lines),
        behind: Clues::of(&behind),
    }
}

fn known(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Array(values) => values.iter().map(known).sum(),
        Value::Object(values) => values.values().map(known).sum(),
        _ => 1,
    }
}
