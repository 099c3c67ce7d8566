//! One finding for each failure, with its consequences below it, for the device that the log is of.

use std::sync::LazyLock;

use memchr::memrchr2;
use regex::bytes::Regex;

use super::advice;
use super::clues::{Clues, FailureClues};
use super::figures::StatedFigures;
use super::finding::{Consequence, Device, Finding, Kind};
use super::lead::{lead, text_start};
use super::message::pattern;
use super::retelling::{self, Telling};
use super::run_settings::RunSettings;
use super::unknown;

/// Bytes of a log that are searched for the names of software and devices.
const MOST_READ: usize = 1 << 20;
/// Lines behind a failure in which its consequences lie, and in which it is told again.
const NEAR: u64 = 100;
const RETOLD: u64 = 400;
/// Failures that a line may be a consequence of.
const MOST_OPEN: usize = 16;

/// Where a setting of PyTorch's allocator is said, not advised.
static EXPANDABLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "(?:ALLOC_CONF|alloc_conf|allocator_settings)[\"'\\s:=(,]{1,8}[^\r\n]{0,200}?expandable_segments[\"']?\\s*[:=]\\s*[\"']?[Tt]rue",
    )
});

/// What a log says beside its messages.
#[derive(Debug, Default)]
pub struct LogWords {
    read: usize,
    clues: Clues,
    is_expandable: bool,
}

impl LogWords {
    /// Looks at a part of the log.
    pub fn look(&mut self, text: &[u8]) {
        if self.read >= MOST_READ {
            return;
        }
        let text = text.get(..text.len().min(MOST_READ)).unwrap_or_default();
        self.read = self.read.saturating_add(text.len());
        self.clues = self.clues.and(Clues::of(text));
        self.is_expandable |= EXPANDABLE.find_iter(text).any(|found| {
            let before = text.get(..found.start()).unwrap_or_default();
            // The error text advises it, whatever is set.
            let name = before.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
            !is_advised(text, before.len() - name.len())
        });
    }

    /// What the run of a failure is, and on which device.
    fn describe(&self, one: &mut Finding, said: Option<Device>) {
        let clues = one.clues;
        clues.describe(self.clues, &mut one.run);
        let family = clues.device_of_calls().or(said).or_else(|| clues.device_of_lines(self.clues));
        of_family(one, family);
        if one.device == Some(Device::Cuda)
            && !is_of_nvidia(&one.text)
            && clues.is_of_amd(self.clues)
        {
            one.device = Some(Device::Rocm);
        }
    }

    /// The failures of a log, each with its consequences, its device and what to do.
    pub fn failures(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        let said = device_said(&findings);
        let has_failure = findings.iter().any(|one| one.kind != Kind::DeprecatedSetting);
        // A log may have ten thousands of findings: the failures take the places of the first of them.
        let mut count = 0_usize;
        for index in 0..findings.len() {
            let Some(mut one) = findings.get_mut(index).map(std::mem::take) else { break };
            // It is worth a word where nothing else is.
            if one.kind == Kind::DeprecatedSetting && has_failure {
                continue;
            }
            // A line that says how a container ended, and then why, says one thing.
            let is_explained = |next: &Finding| {
                next.kind == Kind::HostOutOfMemory
                    && next.line == one.line
                    && next.text.contains("illed")
            };
            if one.kind == Kind::ProcessKilled && findings.get(index + 1).is_some_and(is_explained)
            {
                continue;
            }
            if findings.get(index + 1).is_some_and(|next| retelling::announces(&one, next)) {
                if let Some(next) = findings.get_mut(index + 1).filter(|next| next.origin.is_none())
                {
                    next.origin = one.origin;
                }
                continue;
            }
            one.is_expandable = self.is_expandable;
            self.describe(&mut one, said);
            let open = findings.get_mut(count.saturating_sub(MOST_OPEN)..count).unwrap_or_default();
            let main = open
                .iter_mut()
                .rev()
                .take_while(|main| one.line.saturating_sub(main.line) <= RETOLD)
                .map(|main| (retelling::tells_again(main, &one), main))
                .find(|(is_again, main)| *is_again || comes_of(main, &one));
            if let Some((is_again, main)) = main {
                // Whichever of the two stays has the sentences of both.
                let sentences = [&*main.tenstorrent, &one.tenstorrent].concat();
                if is_again && retelling::join(main, &mut one) {
                    one.consequences = std::mem::take(&mut main.consequences);
                    one.advice = advice::of(&one);
                    *main = one;
                } else {
                    add(main, one);
                }
                main.tenstorrent = sentences;
            } else if let Some(place) = findings.get_mut(count) {
                one.advice = advice::of(&one);
                *place = one;
                count += 1;
            }
        }
        findings.truncate(count);
        for one in &mut findings {
            (one.telling, one.run) = (Telling::default(), RunSettings::default());
            one.clues = FailureClues::default();
            one.kind = one.device.map_or(one.kind, |device| one.kind.on(device));
        }
        // A message that says more took the place of one before it.
        findings.sort_by_key(|one| one.line);
        findings
    }
}

/// Whether a name stands behind `setting`, which may be on a line before that of the name.
fn is_advised(text: &[u8], at: usize) -> bool {
    /// Lines of several writers, of which one may go on in the line of the name.
    const LINES_BEFORE: usize = 32;
    let is_end = |line: &[u8]| line.trim_ascii_end().ends_with(b"setting");
    let start = memrchr2(b'\n', b'\r', text.get(..at).unwrap_or_default()).map_or(0, |end| end + 1);
    let own = text.get(start..at).unwrap_or_default();
    let mut parts = Vec::new();
    lead(text.get(start..).unwrap_or_default(), &mut parts);
    let is_first = own.trim_ascii_end().len() <= text_start(&parts);
    let before = text.get(..start).unwrap_or_default().rsplit(|byte| matches!(byte, b'\n' | b'\r'));
    is_end(own) || (is_first && before.take(LINES_BEFORE).any(is_end))
}

/// The device that all messages are about which say whose memory it is.
fn device_said(findings: &[Finding]) -> Option<Device> {
    let mut said = findings
        .iter()
        .filter(|one| !one.is_of_log && !one.is_vague())
        .filter_map(|one| one.device)
        .filter(|device| !matches!(device, Device::Host | Device::Accelerator));
    let first = said.next()?;
    said.all(|other| other == first).then_some(first)
}

/// Whether a message has words that only programs for GPUs of NVIDIA have; the same source made for AMD speaks of CUDA, too.
fn is_of_nvidia(text: &str) -> bool {
    const WORDS: [&str; 4] = ["CUDA out of memory", "CUDA_ERROR_", "_STATUS_", "cuMem"];
    WORDS.iter().any(|word| text.contains(word))
}

/// A message that leaves its device open is about that of the log.
fn of_family(one: &mut Finding, family: Option<Device>) {
    let Some(family) = family else { return };
    if one.kind == Kind::UnknownMemoryMessage {
        one.device = one.device.or(Some(family));
    } else if one.is_general {
        if one.is_of_log && !matches!(family, Device::Host | Device::Ipu) {
            (one.kind, one.device) = (unknown::kind_of(Some(family)), Some(family));
            one.is_of_log = false;
        }
    } else if !one.is_of_log {
    } else if one.kind == Kind::TileOutOfMemory {
        // Images have tiles, too.
        if family != Device::Ipu {
            (one.kind, one.device) = (Kind::UnknownMemoryMessage, Some(family));
            (one.tile, one.tiles_out) = (None, None);
        }
    } else if !matches!(family, Device::Host | Device::Ipu) {
        one.device = Some(family);
        if one.kind == Kind::AcceleratorOutOfMemory && family.is_gpu() {
            one.kind = Kind::GpuOutOfMemory;
        }
    }
}

/// Whether a message is about a failure that another was about before it.
fn comes_of(main: &Finding, one: &Finding) -> bool {
    use Kind::{
        CudaFragmented, CudaOutOfMemory, CudaProcessLimit, GpuLibraryOutOfMemory, GpuMemoryTight,
        GpuOutOfMemory, HostOutOfMemory, HostSharedMemory, KvCacheTooSmall, ProcessKilled,
        ServerStartMemory,
    };
    // A launcher ends all processes when one failed; else a failure of one is none of another.
    let is_far = one.line.saturating_sub(main.line) > NEAR;
    if is_far || (one.kind != ProcessKilled && is_of_other(main, one)) {
        return false;
    }
    let is_same_device = main.device == one.device || one.device.is_none();
    if one.is_vague() && completes(main, one) {
        return true;
    }
    if main.is_vague() {
        return one.kind == ProcessKilled && main.kind == HostOutOfMemory;
    }
    match (main.kind, one.kind) {
        (GpuMemoryTight | Kind::DeprecatedSetting, _) => false,
        (main_kind, _) if one.is_vague() => {
            // Each message of Poplar has its own meaning.
            main_kind.device() != Some(Device::Ipu)
                && is_same_device
                && one.requested_bytes.is_none()
        }
        // A launcher may say first that a process ended, and the system then why.
        (ProcessKilled, HostOutOfMemory) => one.text.contains("illed"),
        // A server that could not start ends its processes, too.
        (
            HostOutOfMemory | HostSharedMemory | ProcessKilled | KvCacheTooSmall
            | ServerStartMemory,
            ProcessKilled,
        )
        | (HostSharedMemory, HostSharedMemory) => true,
        (GpuLibraryOutOfMemory, GpuLibraryOutOfMemory) => {
            is_same_device && main.text.contains("ailure") && one.text.contains("ailure")
        }
        // The server says in its own words what PyTorch said before.
        (CudaOutOfMemory | CudaFragmented | CudaProcessLimit, ServerStartMemory) => {
            one.requested_bytes.is_none()
        }
        (CudaOutOfMemory | CudaFragmented | GpuOutOfMemory, KvCacheTooSmall) => {
            one.requested_bytes.is_none() && one.text.contains("ut of memory")
        }
        (GpuOutOfMemory, GpuOutOfMemory) => {
            let is_tensor = one.text.contains("OOM when allocating tensor");
            let is_of_pool = main.text.contains("ran out of memory trying to allocate");
            // A pool that gets no memory when it starts tries again with less.
            let of_driver = |finding: &Finding| finding.text.contains("from device: ");
            one.is_part
                || (is_tensor && is_of_pool)
                || (of_driver(main) && of_driver(one))
                || (main.text.contains("Error Code") || main.text.contains("Cuda Runtime"))
                    && one.text.contains("Error Code")
                || (is_of_pool
                    && one.requested_bytes.is_some()
                    && one.requested_bytes == main.requested_bytes)
        }
        // A worker that ends comes of whatever failed before.
        (_, ProcessKilled) => one.is_part,
        _ => one.is_part && is_same_device,
    }
}

/// Whether a line close behind a message says of the same failure what the message leaves open.
fn completes(main: &Finding, one: &Finding) -> bool {
    /// Lines between.
    const CLOSE: u64 = 3;
    let is_open = |finding: &Finding| finding.device.is_none();
    let is_same_device =
        main.device == one.device || is_open(one) || (main.is_vague() && is_open(main));
    one.line.saturating_sub(main.line) <= CLOSE
        && is_same_device
        && main.device != Some(Device::Ipu)
        && main.kind != Kind::GpuMemoryTight
        && (main.requested_bytes.is_none() || main.requested_bytes == one.requested_bytes)
}

/// Takes over what a line behind says of the same failure.
fn complete(main: &mut Finding, one: &Finding) {
    if main.is_vague() && main.device.is_none() {
        (main.kind, main.device) = (one.kind, one.device);
    }
    StatedFigures::of(one).complete(main);
    main.advice = advice::of(main);
}

/// Whether the log says that others wrote two messages.
fn is_of_other(main: &Finding, one: &Finding) -> bool {
    let writers = main.origin.as_deref().zip(one.origin.as_deref());
    writers.is_some_and(|(main, one)| main.is_other(one))
        || main.telling.is_of_another_number(&one.telling)
}

fn add(main: &mut Finding, mut one: Finding) {
    if main.kind == Kind::ProcessKilled && one.kind == Kind::HostOutOfMemory {
        one.consequences = std::mem::take(&mut main.consequences);
        one.advice = advice::of(&one);
        std::mem::swap(main, &mut one);
    }
    if one.is_vague() && completes(main, &one) {
        complete(main, &one);
    }
    if one.kind == Kind::ServerStartMemory {
        // What the server can be told comes before what a program can do.
        let of_server = advice::of(&one);
        let rest = std::mem::take(&mut main.advice);
        main.advice = of_server.into_iter().take(2).chain(rest).take(advice::MOST).collect();
    }
    let figures =
        |finding: &Finding| (finding.requested_bytes, finding.used_bytes, finding.limit_bytes);
    let is_said = one.is_part && figures(&one) == figures(main);
    if is_said {
        // It may name the device.
        StatedFigures::of(&one).complete(main);
    }
    if one.line != main.line && !is_said {
        main.consequences.push(Consequence { line: one.line, text: one.text });
    }
}

#[cfg(test)]
mod tests {
    use super::super::diagnose;

    /// Of each finding its line, whether it failed first, and the lines of its consequences.
    fn failures(log: &str) -> Vec<(u64, Option<bool>, Vec<u64>)> {
        let lines =
            |finding: &super::Finding| finding.consequences.iter().map(|one| one.line).collect();
        let first = |finding: &super::Finding| finding.origin.as_ref()?.failed_first;
        diagnose(log).iter().map(|one| (one.line, first(one), lines(one))).collect()
    }

    const FAILED: &str = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB of which 1.00 GiB is free.";
    const FOLLOWS: &str = "the engine ran into not enough memory";
    const KILLED: &str = "RuntimeError: DataLoader worker (pid(s) 18123) exited unexpectedly";

    #[test]
    fn a_message_of_another_writer_is_no_consequence() {
        for (one, other) in [
            ("[rank0]: ", "[rank1]: "),
            ("(Worker_TP0 pid=7) ", "(Worker_TP1 pid=8) "),
            ("10.0.0.5: ", "10.0.0.6: "),
            ("[pod/train-0/main] ", "[pod/train-1/main] "),
            ("trainer-1  | ", "trainer-2  | "),
        ] {
            let log = format!("{one}{FAILED}\n{other}{FOLLOWS}\n{one}{FOLLOWS}\n");
            let found = failures(&log);
            let lines: Vec<_> =
                found.iter().map(|(line, _, follow)| (*line, &follow[..])).collect();
            assert_eq!(lines, [(1, &[3][..]), (2, &[])], "{log}");
            // A process that ends comes of whatever failed.
            let log = format!("{one}{FAILED}\n{other}{KILLED}\n");
            assert_eq!(failures(&log), [(1, None, vec![2])], "{log}");
        }
    }

    #[test]
    fn a_message_without_a_name_may_be_of_any_writer() {
        for (one, other) in [
            ("[rank0]: ", ""),
            ("", "[rank1]: "),
            ("[rank0]: ", "10.0.0.6: "),
            ("[rank0]: ", "[rank0]: "),
        ] {
            let log = format!("{one}{FAILED}\n{other}{FOLLOWS}\n");
            assert_eq!(failures(&log), [(1, None, vec![2])], "{log}");
        }
    }

    #[test]
    fn of_two_that_failed_each_has_its_own_consequences() {
        let log = format!(
            "[rank1]: {FAILED}\n[rank0]: {FAILED}\n[rank1]: {FOLLOWS}\n[rank0]: {FOLLOWS}\n[rank0]: {KILLED}\n"
        );
        let expected = [(1, Some(true), vec![3]), (2, Some(false), vec![4, 5])];
        assert_eq!(failures(&log), expected);
    }
}
