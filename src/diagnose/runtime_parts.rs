//! Long lines that the runtime of a container writes in parts: `… stderr P …` in the form of the CRI, and Docker's entries whose
//! text has no line end. The parts are one line again before it is read.

use std::ops::Range;

use memchr::memmem;

use super::cut_lines::without_end;

/// Bytes of each part that Docker writes, but for the last.
const PART_OF_DOCKER: usize = 16 << 10;
/// Bytes of a line that are put together.
const MOST_BYTES: usize = 1 << 20;
/// Bytes of a line before its text.
const MOST_BEFORE: usize = 256;
/// Lines that are written at once.
const MOST_OPEN: usize = 16;

const DOCKER: &[u8] = b"{\"log\":\"";
const BEHIND_DOCKER: &[u8] = b"\",\"stream\":\"";

/// Whether some text may have parts of lines in the form of the CRI; those of Docker are entries of JSON.
pub fn may_have_parts(text: &[u8]) -> bool {
    memmem::find_iter(text, b" P ").any(|at| {
        let before = text.get(..at).unwrap_or_default();
        before.ends_with(b" stderr") || before.ends_with(b" stdout")
    })
}

/// Puts lines together as they come.
#[derive(Debug, Default)]
pub struct RuntimeParts {
    open: Vec<OpenLine>,
    /// Whose part goes on behind a carriage return.
    goes_on: Option<usize>,
    /// Whether entries in Docker's form have their line ends: some collectors take them away.
    has_line_ends: Option<bool>,
}

/// A line whose last part is still to come.
#[derive(Debug)]
struct OpenLine {
    writer: Vec<u8>,
    head: Vec<u8>,
    text: Vec<u8>,
    tail: Vec<u8>,
    /// The lines of the log of its first part and of its last one so far.
    lines: (u64, u64),
}

/// A line, or a part of one.
struct RuntimePart<'a> {
    line: &'a [u8],
    text: Range<usize>,
    /// Who wrote it, as far as the form tells.
    writer: [&'a [u8]; 2],
    is_last: bool,
    is_of_docker: bool,
}

impl RuntimeParts {
    /// Whether something is still to come.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes a line of the log; `whole` gets each line that is whole by then, with its number. Says whether the line
    /// itself is not passed on.
    pub fn take(&mut self, line: &[u8], number: u64, mut whole: impl FnMut(&[u8], u64)) -> bool {
        if let Some(open) = self.goes_on.and_then(|index| self.open.get_mut(index)) {
            open.add(line, number);
            if line.ends_with(b"\n") {
                self.goes_on = None;
            }
            return true;
        }
        let Some(part) = RuntimePart::of(line) else {
            whole(line, number);
            return false;
        };
        if part.is_of_docker && part.is_last {
            self.has_line_ends = Some(true);
        }
        let before = self.open.iter().position(|open| part.is_of(&open.writer));
        let before = before.map(|index| self.open.swap_remove(index));
        let before = before.and_then(|mut open| {
            let is_next = part.is_last || !part.is_of_docker || open.text.len() >= PART_OF_DOCKER;
            if is_next && open.text.len() < MOST_BYTES {
                return Some(open);
            }
            if part.is_of_docker && open.text.len() < PART_OF_DOCKER {
                self.has_line_ends = Some(false);
            }
            open.end(&mut whole);
            None
        });
        if part.is_last {
            let Some(open) = before else {
                whole(line, number);
                return false;
            };
            open.end_with(&part, number, &mut whole);
            return true;
        }
        let is_short = part.text.len() < PART_OF_DOCKER;
        let is_alike = part.is_of_docker && is_short && self.has_line_ends == Some(false);
        if is_alike || (before.is_none() && self.open.len() >= MOST_OPEN) {
            whole(line, number);
            return false;
        }
        let mut open = before.unwrap_or_else(|| part.opened(number));
        open.add(part.text(), number);
        self.open.push(open);
        if !line.ends_with(b"\n") {
            self.goes_on = self.open.len().checked_sub(1);
        }
        true
    }

    /// The log is complete.
    pub fn end(&mut self, mut whole: impl FnMut(&[u8], u64)) {
        for mut open in self.open.drain(..) {
            open.end(&mut whole);
        }
    }
}

impl OpenLine {
    fn add(&mut self, text: &[u8], number: u64) {
        let text = text.strip_suffix(b"\n").map_or(text, without_end);
        let room = MOST_BYTES.saturating_sub(self.text.len());
        self.text.extend_from_slice(text.get(..room).unwrap_or(text));
        self.lines.1 = number;
    }

    /// It has no other part.
    fn end(&mut self, whole: &mut impl FnMut(&[u8], u64)) {
        whole(&[&*self.head, &*self.text, &*self.tail].concat(), self.lines.0);
    }

    fn end_with(self, last: &RuntimePart, number: u64, whole: &mut impl FnMut(&[u8], u64)) {
        let head = last.line.get(..last.text.start).unwrap_or_default();
        let rest = last.line.get(last.text.start..).unwrap_or_default();
        // Lines of others that stand between have been read before.
        let is_behind = self.lines.1.saturating_add(1) == number;
        whole(&[head, &*self.text, rest].concat(), if is_behind { self.lines.0 } else { number });
    }
}

impl<'a> RuntimePart<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        Self::of_docker(line).or_else(|| Self::of_cri(line))
    }

    /// `{"log":"…","stream":"stderr","time":"…"}`
    fn of_docker(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_prefix(DOCKER)?;
        let length = memmem::rfind(rest, BEHIND_DOCKER)?;
        let (text, behind) = rest.split_at_checked(length)?;
        let stream = behind.strip_prefix(BEHIND_DOCKER)?.split(|byte| *byte == b'"').next()?;
        // A backslash and an `n` are a line end, but not behind another backslash.
        let is_last = text.strip_suffix(b"\\n").is_some_and(|text| {
            text.iter().rev().take_while(|byte| **byte == b'\\').count().is_multiple_of(2)
        });
        let text = DOCKER.len()..DOCKER.len().saturating_add(length);
        Some(Self { line, text, writer: [b"docker", stream], is_last, is_of_docker: true })
    }

    /// `2025-07-07T15:19:48.123Z stderr P …`, perhaps behind the name of a pod.
    fn of_cri(line: &'a [u8]) -> Option<Self> {
        let head = line.get(..line.len().min(MOST_BEFORE))?;
        let place = memmem::find(head, b" std")?;
        let (before, rest) = line.split_at_checked(place)?;
        let is_time = before.last().is_some_and(|last| *last == b'Z' || last.is_ascii_digit());
        let (stream, tag) = (rest.get(1..7)?, rest.get(7..10)?);
        let is_last = match tag {
            b" P " => false,
            b" F " => true,
            _ => return None,
        };
        let is_known = is_time && matches!(stream, b"stderr" | b"stdout");
        let writer = before.iter().rposition(|byte| *byte == b' ').unwrap_or(0);
        let writer = [before.get(..writer)?, stream];
        let text = place.saturating_add(10)..line.len();
        is_known.then_some(Self { line, text, writer, is_last, is_of_docker: false })
    }

    fn text(&self) -> &'a [u8] {
        self.line.get(self.text.clone()).unwrap_or_default()
    }

    fn is_of(&self, writer: &[u8]) -> bool {
        writer == self.writer.concat()
    }

    fn opened(&self, number: u64) -> OpenLine {
        let tail = self.line.get(self.text.end..).filter(|tail| !tail.is_empty());
        OpenLine {
            writer: self.writer.concat(),
            head: self.line.get(..self.text.start).unwrap_or_default().to_vec(),
            text: Vec::new(),
            tail: tail.unwrap_or(b"\n").to_vec(),
            lines: (number, number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::diagnose;

    const MESSAGE: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB. GPU 2 has a total \
                           capacity of 39.50 GiB of which 800.50 MiB is free. Including non-PyTorch memory, this process has \
                           38.50 GiB memory in use. Of the allocated memory 36.75 GiB is allocated by PyTorch, and 1.25 GiB is \
                           reserved by PyTorch but unallocated.";

    /// The line and some figures of the only finding.
    fn read(log: &str) -> (u64, [Option<u64>; 3]) {
        let findings = diagnose(log);
        let [one] = findings.as_slice() else { panic!("one finding: {findings:?}\n{log}") };
        (one.line, [one.requested_bytes, one.limit_bytes, one.unallocated_bytes])
    }

    const FIGURES: [Option<u64>; 3] = [Some(5 << 28), Some(79 << 29), Some(5 << 28)];

    /// What stands before a message in its line.
    fn bars() -> [String; 4] {
        let bar = "\r  3%|3         | 21/700 [00:02<01:09,  9.8it/s]";
        [String::new(), bar.to_owned(), bar.repeat(400), "x".repeat(16_000)]
    }

    #[test]
    fn the_parts_of_a_runtime_are_one_line() {
        for before in bars() {
            for length in [40, 93, 150, 16 << 10] {
                let text = format!("{before} {MESSAGE}");
                let parts: Vec<_> = text.as_bytes().chunks(length).collect();
                let mut log = "2026-05-02T11:02:03.120456789Z stdout F step 3\n".to_owned();
                for (index, part) in parts.iter().enumerate() {
                    let tag = if index + 1 == parts.len() { 'F' } else { 'P' };
                    let part = String::from_utf8_lossy(part);
                    log += &format!("2026-05-02T11:02:03.12{index:07}Z stderr {tag} {part}\n");
                }
                let (line, figures) = read(&log);
                assert_eq!(figures, FIGURES, "{} {length}", before.len());
                // Behind a carriage return in the last part it is on the line of that part.
                let last = 1 + parts.len() as u64;
                assert!(line == 2 || line == last, "{line}: {} {length}", before.len());
            }
        }
    }

    #[test]
    fn a_part_at_the_end_of_a_log_is_read() {
        let steps = "2026-05-02T11:02:03.120456789Z stdout F step 3\n".repeat(20);
        let log = format!("{steps}2026-05-02T11:02:04.120456789Z stderr P {MESSAGE}\n");
        assert_eq!(read(&log), (21, FIGURES));
    }

    #[test]
    fn lines_behind_one_that_is_too_long_keep_their_numbers() {
        let time = "2026-05-02T11:02:03.120456789Z";
        let part = format!("{time} stderr P {}\n", "x".repeat(16_000)).repeat(66);
        let log = format!("{part}{time} stderr F end\n{time} stderr F {MESSAGE}\n");
        assert_eq!(read(&log), (68, FIGURES));
    }

    #[test]
    fn the_parts_of_docker_are_one_line() {
        let entry = |text: &str, stream: &str| {
            let log = serde_json::json!(text);
            format!(
                "{{\"log\":{log},\"stream\":\"{stream}\",\"time\":\"2026-05-02T11:02:03.1Z\"}}\n"
            )
        };
        for before in bars() {
            let text = format!("{before} {MESSAGE}\n");
            let (one, other) = text.split_at(before.len() + 118);
            let between = entry("step 3\n", "stdout");
            for log in [
                entry(one, "stderr") + &entry(other, "stderr"),
                entry(one, "stderr") + &between + &entry(other, "stderr"),
            ] {
                assert_eq!(read(&log).1, FIGURES, "{}", before.len());
            }
        }
        // A collector took the line ends away.
        let lines = ["step 1", "step 2", MESSAGE, "step 3"];
        let log: String = lines.iter().map(|text| entry(text, "stderr")).collect();
        assert_eq!(read(&log), (3, FIGURES));
    }
}
