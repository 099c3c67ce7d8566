//! Entries that a collector gave with the newest first, as `gcloud logging read` does: they are put in the order in which
//! they were written, because a message goes on in the entries behind it.

use std::cmp::Ordering;

use memchr::memmem;

use super::clock::time_length;
use super::entries::{LABELS, LABELS_END};

/// Bytes of entries that are put in order together. A message that lies in two such parts is torn.
const MOST_HELD: usize = 4 << 20;
/// Steps back in time that show that the newest entry is the first, and how many there are for each step forward. Writers
/// that do not wait for each other give some of both.
const LEAST_STEPS_BACK: u64 = 3;
const STEPS_BACK_FOR_EACH: u64 = 3;
/// Entries whose own lines are kept.
const MOST_MOVED: usize = 1 << 20;

/// An entry of a log.
#[derive(Debug)]
pub struct WrittenEntry {
    /// Its text as lines, each behind its labels.
    pub lines: Vec<u8>,
    /// The line of the log on which it begins, and the one behind it.
    pub line: u64,
    pub next: u64,
    /// Whether its lines are lines of the log as well.
    pub has_rows: bool,
}

/// Holds entries as long as they may be in the wrong order.
#[derive(Debug, Default)]
pub struct NewestFirst {
    held: Vec<WrittenEntry>,
    bytes: usize,
    /// Steps in time from entry to entry of the whole log.
    steps_back: u64,
    steps_forward: u64,
    /// The line of the log behind what is held, and whether all that follows is of it.
    pub next_line: Option<(u64, bool)>,
    /// Lines that entries got so that lines ascend, and their own.
    moved: Vec<(u64, u64)>,
}

impl NewestFirst {
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether what is held has to be written before an entry.
    pub fn is_done_before(&mut self, entry: &WrittenEntry) -> bool {
        let Some(last) = self.held.last() else { return false };
        let times = time_of(&entry.lines).zip(time_of(&last.lines));
        let step = times.map(|(own, last)| own.cmp(last));
        // In such a log a step forward is one of writers that do not wait for each other.
        let may_be_held = match step {
            Some(Ordering::Greater) => self.is_newest_first(),
            Some(_) => true,
            None => false,
        };
        match step {
            Some(Ordering::Less) => self.steps_back += 1,
            Some(Ordering::Greater) => self.steps_forward += 1,
            _ => {}
        }
        !may_be_held || self.bytes.saturating_add(entry.lines.len()) > MOST_HELD
    }

    /// Holds an entry.
    pub fn hold(&mut self, entry: WrittenEntry) {
        self.bytes = self.bytes.saturating_add(entry.lines.len());
        self.held.push(entry);
    }

    fn is_newest_first(&self) -> bool {
        let forward = self.steps_forward.saturating_mul(STEPS_BACK_FOR_EACH);
        self.steps_back >= LEAST_STEPS_BACK && self.steps_back > forward
    }

    /// What is held, in the order in which it was written, with lines that ascend. One that is moved has the line on which
    /// it begins.
    pub fn take(&mut self) -> Vec<WrittenEntry> {
        self.bytes = 0;
        let mut held = std::mem::take(&mut self.held);
        let has_room = self.moved.len().saturating_add(held.len()) <= MOST_MOVED;
        if held.len() > 1 && self.is_newest_first() && has_room {
            let places: Vec<(u64, u64)> = held.iter().map(|one| (one.line, one.next)).collect();
            held.reverse();
            for (entry, (line, next)) in held.iter_mut().zip(places) {
                if entry.line != line {
                    self.moved.push((line, entry.line));
                }
                (entry.line, entry.next, entry.has_rows) = (line, next, false);
            }
        }
        held
    }

    /// Own lines of entries by those that they got.
    pub fn into_moved(mut self) -> MovedLines {
        self.moved.sort_unstable();
        MovedLines(self.moved)
    }
}

/// Lines of the log by lines of the text, where these are others.
pub struct MovedLines(Vec<(u64, u64)>);

impl MovedLines {
    /// The line of the log.
    pub fn own_line(&self, line: u64) -> u64 {
        let Self(moved) = self;
        let place = moved.partition_point(|(given, _)| *given < line);
        moved.get(place).filter(|(given, _)| *given == line).map_or(line, |(_, own)| *own)
    }
}

/// Lines of an entry that have several entries in them, each by itself: those of another time are of another.
pub fn apart(lines: &[u8]) -> Option<Vec<&[u8]>> {
    let head = lines.get(..=memchr::memchr(LABELS_END, lines)?)?;
    let is_one = |line: &[u8]| line.starts_with(head);
    let all = || lines.split_inclusive(|byte| *byte == b'\n');
    if all().all(is_one) {
        return None;
    }
    let mut entries: Vec<&[u8]> = Vec::new();
    let (mut start, mut end, mut time) = (0, 0, None);
    for line in all() {
        let own = time_of(line);
        if end > start && own != time {
            entries.extend(lines.get(start..end));
            start = end;
        }
        time = own;
        end += line.len();
    }
    entries.extend(lines.get(start..end));
    (entries.len() > 1).then_some(entries)
}

/// The time of an entry: what has the form of one.
fn time_of(lines: &[u8]) -> Option<&[u8]> {
    let labels = lines.get(memchr::memchr(LABELS, lines)?..memchr::memchr(LABELS_END, lines)?)?;
    let time = labels.get(memmem::find(labels, b" time=")?.saturating_add(6)..)?;
    let time = time.split(|byte| *byte == b' ').next()?;
    let is_time = time_length(time) == Some(time.len());
    // Without `Z` fewer decimals are less.
    is_time.then(|| time.strip_suffix(b"Z").unwrap_or(time))
}

#[cfg(test)]
mod tests {
    use super::super::diagnose;
    use super::super::scan::Scanner;

    const LISTING: [&str; 6] = [
        "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        "GPU 0 has a total capacity of 24.00 GiB of which 1.25 GiB is free.",
        "Of the allocated memory 21.50 GiB is allocated by PyTorch,",
        "and 640.00 MiB is reserved by PyTorch but unallocated.",
        "saved nothing",
        "the end",
    ];

    fn entries(is_newest_first: bool, second: impl Fn(usize) -> usize) -> Vec<String> {
        let entry = |(index, text): (usize, &&str)| {
            let time = format!("2026-03-04T08:09:{:02}Z", second(index));
            format!("{{\"timestamp\": \"{time}\", \"textPayload\": \"{text}\"}}\n")
        };
        let mut entries: Vec<String> = LISTING.iter().enumerate().map(entry).collect();
        if is_newest_first {
            entries.reverse();
        }
        entries
    }

    /// Thirty steps of a run, and its end.
    fn steps_and_entries(second: impl Fn(usize) -> usize) -> Vec<String> {
        let step = |second| {
            format!(
                "{{\"timestamp\": \"2026-03-04T08:08:{second:02}Z\", \"textPayload\": \"step\"}}\n"
            )
        };
        (10..40).map(step).chain(entries(false, second)).collect()
    }

    #[test]
    fn entries_with_the_newest_first_are_read_as_they_were_written() {
        let rest = |finding: super::super::Finding| (finding.clone().at_line(0), finding.line);
        let read = |log: &str| diagnose(log).into_iter().map(rest).collect::<Vec<_>>();
        let in_order = read(&entries(false, |index| index).concat());
        assert!(matches!(&in_order[..], [(finding, 1)] if finding.free_bytes.is_some()));
        let newest_first = read(&entries(true, |index| index).concat());
        assert_eq!(newest_first, [(in_order[0].0.clone(), 6)]);
        // A list of them, each on several lines.
        let list = entries(true, |index| index)
            .concat()
            .replace("}\n{", "},\n{")
            .replace("Z\", ", "Z\",\n");
        assert_eq!(read(&format!("[\n{list}]\n")), [(in_order[0].0.clone(), 13)]);
        // Entries of one time stay as they are.
        let alike = read(&entries(false, |_| 7).concat());
        assert_eq!(alike[0].0.free_bytes, in_order[0].0.free_bytes);
    }

    #[test]
    fn a_table_with_the_newest_first_is_read_as_it_was_written() {
        let row =
            |(index, text): (usize, &&str)| format!("2026-03-04T08:09:{index:02}Z,\"{text}\"\n");
        let rows: Vec<String> = LISTING.iter().enumerate().map(row).rev().collect();
        let found = diagnose(&format!("time,message\n{}", rows.concat()));
        assert!(
            matches!(&found[..], [one] if one.free_bytes.is_some() && one.line == 7),
            "{found:?}"
        );
    }

    #[test]
    fn lines_are_counted_however_the_log_comes() {
        for is_newest_first in [false, true] {
            let mut log = steps_and_entries(|index| index);
            if is_newest_first {
                log.reverse();
            }
            let log = log.concat();
            let line = if is_newest_first { 6 } else { 31 };
            for log in [&*log, log.trim_end()] {
                for piece in [1, 2, 3, 7, 50, 97, 100, 1000, log.len()] {
                    let mut scanner = Scanner::default();
                    log.as_bytes().chunks(piece).for_each(|piece| scanner.push(piece));
                    let whole = scanner.finish();
                    let found: Vec<u64> = whole.findings.iter().map(|one| one.line).collect();
                    assert_eq!((&found[..], whole.lines), (&[line][..], 36), "{piece}");
                }
            }
        }
    }

    #[test]
    fn several_entries_with_one_time_do_not_hide_the_order() {
        for at_once in [2, 3] {
            let mut log = steps_and_entries(|index| index / at_once);
            log.reverse();
            let found = diagnose(&log.concat());
            assert!(
                matches!(&found[..], [one] if one.unallocated_bytes.is_some()),
                "{at_once}: {found:?}"
            );
        }
    }

    #[test]
    fn entries_on_one_line_are_put_in_order() {
        let list = entries(true, |index| index).concat().trim_end().replace('\n', ",");
        let found = diagnose(&format!("[{list}]\n"));
        assert!(
            matches!(&found[..], [one] if one.unallocated_bytes.is_some() && one.line == 1),
            "{found:?}"
        );
        let value =
            |(index, text): (usize, &&str)| format!("[\"17569731{index:02}000000000\",\"{text}\"]");
        let values: Vec<String> = LISTING.iter().enumerate().map(value).rev().collect();
        let found = diagnose(&format!(
            "{{\"data\":{{\"result\":[{{\"values\":[{}]}}]}}}}\n",
            values.join(",")
        ));
        assert!(
            matches!(&found[..], [one] if one.unallocated_bytes.is_some() && one.line == 1),
            "{found:?}"
        );
    }

    #[test]
    fn what_is_no_time_orders_nothing() {
        let entry = |(index, text): (usize, &&str)| {
            format!("{{\"time\": \"{}ms\", \"msg\": \"{text}\"}}\n", 900 - index)
        };
        let log: String = LISTING.iter().enumerate().map(entry).collect();
        let found = diagnose(&log);
        assert!(matches!(&found[..], [one] if one.unallocated_bytes.is_some()), "{found:?}");
    }

    #[test]
    fn writers_that_do_not_wait_for_each_other_stay_in_their_order() {
        let seconds = [2, 1, 4, 3, 6, 5];
        let found = diagnose(&entries(false, |index| seconds[index]).concat());
        assert!(
            matches!(&found[..], [one] if one.free_bytes.is_some() && one.line == 1),
            "{found:?}"
        );
    }
}
