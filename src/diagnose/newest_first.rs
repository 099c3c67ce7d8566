//! Entries that a collector gave with the newest first, as `gcloud logging read` does: they are put in the order in which
//! they were written, because a message goes on in the entries behind it.

use memchr::memmem;

use super::entries::{LABELS, LABELS_END};

/// Bytes of entries that are put in order together.
const MOST_HELD: usize = 4 << 20;
/// Steps back in time that show that the newest entry is the first: a few are those of writers that do not wait for each
/// other.
const LEAST_STEPS_BACK: usize = 3;
/// Entries whose true lines are known.
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

/// Holds entries as long as each is older than the one before it.
#[derive(Debug, Default)]
pub struct NewestFirst {
    held: Vec<WrittenEntry>,
    bytes: usize,
    steps_back: usize,
    steps_of_no_time: usize,
    /// The line behind what is held, and whether all that follows is of it.
    pub behind: Option<(u64, bool)>,
    /// Lines that entries got so that lines ascend, and their own, in ascending order.
    moved: Vec<(u64, u64)>,
}

impl NewestFirst {
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether an entry has to wait for what is held to be taken first.
    pub fn is_behind(&self, entry: &WrittenEntry) -> bool {
        let Some(last) = self.held.last() else { return false };
        let is_older =
            time_of(&entry.lines).zip(time_of(&last.lines)).is_some_and(|(own, last)| own <= last);
        !is_older || self.bytes.saturating_add(entry.lines.len()) > MOST_HELD
    }

    /// Holds an entry that is not behind what is held.
    pub fn hold(&mut self, entry: WrittenEntry) {
        if let Some(last) = self.held.last() {
            let is_older = time_of(&entry.lines) < time_of(&last.lines);
            *(if is_older { &mut self.steps_back } else { &mut self.steps_of_no_time }) += 1;
        }
        self.bytes = self.bytes.saturating_add(entry.lines.len());
        self.held.push(entry);
    }

    /// What is held, in the order in which it was written, with lines that ascend.
    pub fn take(&mut self) -> Vec<WrittenEntry> {
        let steps_back = std::mem::take(&mut self.steps_back);
        let steps_of_no_time = std::mem::take(&mut self.steps_of_no_time);
        self.bytes = 0;
        let mut held = std::mem::take(&mut self.held);
        let is_newest_first = steps_back >= LEAST_STEPS_BACK.max(steps_of_no_time);
        if is_newest_first && self.moved.len().saturating_add(held.len()) <= MOST_MOVED {
            let places: Vec<(u64, u64)> = held.iter().map(|one| (one.line, one.next)).collect();
            held.reverse();
            for (entry, (line, next)) in held.iter_mut().zip(places) {
                self.moved.push((line, entry.line));
                (entry.line, entry.next, entry.has_rows) = (line, next, false);
            }
        }
        held
    }

    /// The line of the log for one that lines got so that they ascend.
    pub fn own_line(&self, line: u64) -> u64 {
        let place = self.moved.partition_point(|(given, _)| *given < line);
        self.moved.get(place).filter(|(given, _)| *given == line).map_or(line, |(_, own)| *own)
    }
}

/// The time of an entry, without a zone.
fn time_of(lines: &[u8]) -> Option<&[u8]> {
    let labels = lines.get(memchr::memchr(LABELS, lines)?..memchr::memchr(LABELS_END, lines)?)?;
    let time = labels.get(memmem::find(labels, b" time=")?.saturating_add(6)..)?;
    let time = time.split(|byte| *byte == b' ').next()?;
    let end = time.iter().rposition(u8::is_ascii_digit)?;
    time.get(..=end)
}

#[cfg(test)]
mod tests {
    use super::super::diagnose;

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
        // Of one time nobody knows which is the first.
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
    fn writers_that_do_not_wait_for_each_other_stay_in_their_order() {
        let seconds = [2, 1, 4, 3, 6, 5];
        let found = diagnose(&entries(false, |index| seconds[index]).concat());
        assert!(
            matches!(&found[..], [one] if one.free_bytes.is_some() && one.line == 1),
            "{found:?}"
        );
    }
}
