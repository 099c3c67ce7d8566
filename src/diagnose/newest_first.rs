//! Restores the order of entries that a collector lists newest first, as `gcloud logging read` does: a message continues
//! in the entries that were written after it.

use std::cmp::Ordering;

use memchr::memmem;

use super::clock::time_length;
use super::entries::{LABELS, LABELS_END};

/// Bytes of entries that are sorted together. A message across two such batches stays torn.
const MOST_HELD: usize = 4 << 20;
/// A log is newest first with at least this many steps back in time, and more than three for each step forward: writers
/// with different clocks produce some of both.
const LEAST_STEPS_BACK: u64 = 3;
const STEPS_BACK_FOR_EACH: u64 = 3;
/// Entries that may be moved in one log, because the line of each is kept.
const MOST_MOVED: usize = 1 << 20;

/// An entry of a log.
#[derive(Debug)]
pub struct WrittenEntry {
    /// Lines of text, each after the labels of the entry.
    pub lines: Vec<u8>,
    /// The log line where the entry begins, and the first one after it.
    pub line: u64,
    pub next: u64,
    /// Whether each line of text is also a line of the log.
    pub has_rows: bool,
}

/// Buffers entries while their order is in doubt.
#[derive(Debug, Default)]
pub struct NewestFirst {
    held: Vec<WrittenEntry>,
    bytes: usize,
    /// Steps in time from entry to entry, over the whole log.
    steps_back: u64,
    steps_forward: u64,
    /// The log line that follows the buffered entries, and whether all following text belongs to it.
    pub next_line: Option<(u64, bool)>,
    /// Ascending lines assigned to moved entries, each with the entry's true line.
    moved: Vec<(u64, u64)>,
}

impl NewestFirst {
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Counts the step in time to the next entry; whether the buffer must be written before that entry.
    pub fn step_to(&mut self, entry: &WrittenEntry) -> bool {
        let Some(last) = self.held.last() else { return false };
        let times = time_of(&entry.lines).zip(time_of(&last.lines));
        let is_in_order = match times.map(|(own, last)| own.cmp(last)) {
            Some(Ordering::Less) => {
                self.steps_back += 1;
                false
            }
            Some(Ordering::Equal) => false,
            // In a log that is newest first it is only a difference between clocks.
            Some(Ordering::Greater) => {
                let is_in_order = !self.is_newest_first();
                self.steps_forward += 1;
                is_in_order
            }
            None => true,
        };
        is_in_order || self.bytes.saturating_add(entry.lines.len()) > MOST_HELD
    }

    /// Buffers an entry.
    pub fn hold(&mut self, entry: WrittenEntry) {
        self.bytes = self.bytes.saturating_add(entry.lines.len());
        self.held.push(entry);
    }

    fn is_newest_first(&self) -> bool {
        let forward = self.steps_forward.saturating_mul(STEPS_BACK_FOR_EACH);
        self.steps_back >= LEAST_STEPS_BACK && self.steps_back > forward
    }

    /// Empties the buffer: the entries in the order in which they were written, with ascending lines. A moved entry keeps
    /// only the line where it begins.
    pub fn take(&mut self) -> Vec<WrittenEntry> {
        self.bytes = 0;
        let mut held = std::mem::take(&mut self.held);
        let has_room = self.moved.len().saturating_add(held.len()) <= MOST_MOVED;
        if held.len() > 1 && self.is_newest_first() && has_room {
            let mut places: Vec<(u64, u64)> = held.iter().map(|one| (one.line, one.next)).collect();
            places.dedup_by_key(|(line, _)| *line);
            held.reverse();
            // Entries of one line move together, so that each assigned line has one true line.
            let of_lines = held.chunk_by_mut(|one, other| one.line == other.line);
            for (entries, (line, next)) in of_lines.zip(places) {
                let own_line = entries.first().map_or(line, |entry| entry.line);
                if own_line != line {
                    self.moved.push((line, own_line));
                    for entry in entries {
                        (entry.line, entry.next, entry.has_rows) = (line, next, false);
                    }
                }
            }
        }
        held
    }

    /// The true lines of moved entries.
    pub fn into_moved(mut self) -> MovedLines {
        self.moved.sort_unstable();
        MovedLines(self.moved)
    }
}

/// True lines by assigned lines.
pub struct MovedLines(Vec<(u64, u64)>);

impl MovedLines {
    /// The true line for an assigned one.
    pub fn own_line(&self, line: u64) -> u64 {
        let Self(moved) = self;
        let place = moved.partition_point(|(given, _)| *given < line);
        moved.get(place).filter(|(given, _)| *given == line).map_or(line, |(_, own)| *own)
    }
}

/// Splits lines that hold several entries where the time changes; `None` for a single entry.
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

/// The time label of an entry, if its value has the form of a time.
fn time_of(lines: &[u8]) -> Option<&[u8]> {
    let labels = lines.get(memchr::memchr(LABELS, lines)?..memchr::memchr(LABELS_END, lines)?)?;
    let time = labels.get(memmem::find(labels, b" time=")?.saturating_add(6)..)?;
    let time = time.split(|byte| *byte == b' ').next()?;
    let is_time = time_length(time) == Some(time.len());
    // Without `Z`, times with fewer decimals compare correctly.
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
    fn entries_of_several_lines_are_found_on_their_lines() {
        let steps: Vec<String> = steps_and_entries(|index| index)[..30].to_vec();
        // Pages of an answer: the message is in the middle of the first line.
        let page = |of: &[String]| {
            let newest_first: Vec<&str> = of.iter().rev().map(|one| one.trim_end()).collect();
            format!("[{}]\n", newest_first.join(","))
        };
        let entry = |second: usize, text: &str| {
            format!(
                "{{\"timestamp\": \"2026-03-04T08:09:{second:02}Z\", \"textPayload\": \"{text}\"}}"
            )
        };
        let late: Vec<String> = (0..20)
            .map(|second| {
                entry(second, if second == 9 { "CUDA error: out of memory" } else { "step" })
            })
            .collect();
        let log = [page(&late), page(&steps[3..6]), page(&steps[..3])].concat();
        let found = diagnose(&log);
        assert!(matches!(&found[..], [one] if one.line == 1), "{found:?}");
    }

    #[test]
    fn a_row_that_is_not_moved_keeps_its_lines() {
        let row = |second: usize| {
            let text = if second == 2 { "first\nCUDA error: out of memory" } else { "step" };
            format!("2026-03-04T08:09:{second:02}Z,\"{text}\"\n")
        };
        let rows: String = (0..5).rev().map(row).collect();
        let found = diagnose(&format!("time,message\n{rows}"));
        assert!(matches!(&found[..], [one] if one.line == 5), "{found:?}");
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
