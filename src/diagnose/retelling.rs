//! A failure that is told again: by the traceback behind a logged error, by an exception that came of another, by the
//! framework that ran the program, by the line of the source that a traceback shows.
//!
//! The same message with the same figures is one failure where nothing but a traceback, its like or errors lies between, and
//! where it is told in other words, behind other calls, or behind words that say that it is told again. The same words of
//! one logger, and equal tracebacks, are of two steps or two processes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::finding::{Finding, Kind};
use super::lead::{LeadKind, LeadPart};
use super::message::regex;
use super::streams::LogRegion;

/// Lines before a message that are looked at.
const MOST_LINES: usize = 400;
/// Bytes of a line that are looked at.
const MOST_BYTES: usize = 1024;
/// Labels of a line that are looked at.
const MOST_LABELS: usize = 4;
/// Bytes of a message by which it is found in its line.
const KEY: usize = 16;

/// How a message is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Telling {
    /// The first line from which on there are only tracebacks, errors and messages.
    from: u64,
    /// The last line that says that what follows was told before; 0 where there is none.
    again: u64,
    /// What stands before the message in its line, without digits and signs.
    words: u32,
    /// The calls of the traceback that ends with it; 0 where it has none, or more than are looked at.
    calls: u32,
    /// Whether the message is a string in a line of the source.
    is_source: bool,
    /// Whether a kernel of TensorFlow logged it, before the program that ran it raised it.
    is_of_kernel: bool,
    /// What stands before its text.
    labels: LineLabels,
}

/// Names and groups before the text of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LineLabels {
    /// Of each what it says with those before it, and what it says without digits; 0 where there is none.
    all: [(u32, u32); MOST_LABELS],
}

impl LineLabels {
    fn of<'a>(parts: impl Iterator<Item = (LeadPart, &'a [u8])>) -> Self {
        let named = parts.filter(|(part, _)| matches!(part.kind, LeadKind::Name | LeadKind::Group));
        let mut labels = Self::default();
        for (label, (part, text)) in labels.all.iter_mut().zip(named) {
            let form: Vec<u8> =
                text.iter().copied().filter(|byte| !byte.is_ascii_digit()).collect();
            *label = (hash(part.key), hash(form));
        }
        labels
    }
}

/// Lines of tracebacks, and what Python, pytest and Ray write around them.
static OF_TRACEBACK: LazyLock<Regex> = LazyLock::new(|| {
    let starts = [
        r#"File ""#,
        r"(?:[^\r\n]{0,120}\b)?Traceback \(most recent call last\)",
        r"(?:The above exception|During handling of the above|The stack trace below|The preceding is|For simplicity, JAX)",
        r"(?:Original |Remote )?[Tt]raceback\b",
        r#"[>|^]|E {2,}|"""|'"#,
        r"[-=_~]{3,}(?:\s*\z|.{0,60}(?:FAILURES|ERRORS|short test summary))|_{3,} ",
        r"[\w/.-]{1,200}\.py:[0-9]+: ",
        r"ray::|ray\.exceptions\.",
        // Python's multiprocessing, before the traceback of one of its processes.
        r"Process [\w:.-]{1,80}:\s*\z",
        // TT-NN: what is wrong stands behind the one, calls of C++ behind the other.
        r"info:\s*\z|tt::exception\b|backtrace:\s*\z|--- [\w/]\S*(?:\(| \[0x|\s*\z)",
        r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Failure|Failed|StackTrace)\b",
        r"(?:Error|ERROR|Exception|FATAL|CRITICAL|!!!)\b",
    ];
    regex(&format!(r"\A(?:{})", starts.join("|")))
});

/// What says that the message behind it was told before.
static AGAIN: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"direct cause of the following|During handling of the above exception|RayTaskError|Original Traceback|Remote ?[Tt]raceback|(?:exception|Exception) was never retrieved|short test summary|(?i:root cause)",
    )
});

static ERROR: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\A[\[(<]?(?i:error|critical|fatal|exception)\b"));

fn hash(words: impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    // Its upper half says as much as the whole.
    u32::try_from(hasher.finish() >> 32).unwrap_or_default().max(1)
}

impl Telling {
    /// How a message of a region is told; `known` are the lines that messages take, `before` is the last message before it.
    pub fn of(
        region: &LogRegion,
        known: &[usize],
        finding: &Finding,
        before: Option<&Finding>,
    ) -> Self {
        let Some(own) = region.line_of(finding.line) else { return Self::default() };
        let text = beginning(region.plain(own));
        let key = finding.text.as_bytes();
        let key = key.get(..key.len().min(KEY)).unwrap_or_default();
        // Of a message that is wrapped, the line may have the first word alone.
        let word = key.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        let place = memchr::memmem::find(text, key).or_else(|| memchr::memmem::find(text, word));
        let place = place.unwrap_or_default();
        let intro = text.get(..place).unwrap_or_default();
        let letters: Vec<u8> = intro.iter().copied().filter(u8::is_ascii_alphabetic).collect();
        let mut telling = Self {
            from: finding.line,
            words: hash(&letters),
            is_source: is_indented(intro)
                && letters.len() < 2
                && matches!(intro.trim_ascii().last(), Some(b'"' | b'\'')),
            is_of_kernel: memchr::memmem::find(intro, b"OP_REQUIRES").is_some(),
            labels: LineLabels::of(region.names(own)),
            ..Self::default()
        };
        let mut calls = Vec::new();
        if AGAIN.is_match(intro) || intro.trim_ascii_start().starts_with(b"FAILED ") {
            telling.again = finding.line;
        }
        for line in (own.saturating_sub(MOST_LINES)..own).rev() {
            let text = beginning(region.plain(line));
            let is_again = AGAIN.is_match(text);
            let is_clean = is_again
                || known.binary_search(&line).is_ok()
                || is_of_traceback(text)
                || region.names(line).any(|(_, name)| ERROR.is_match(name));
            if !is_clean {
                break;
            }
            let number = region.number(line);
            telling.from = number;
            if is_again && telling.again == 0 {
                telling.again = number;
            }
            if telling.calls == 0 {
                if memchr::memmem::find(text, b"Traceback (most recent").is_some() {
                    telling.calls = hash(&calls);
                } else {
                    calls.push(hash(text.trim_ascii()));
                }
            }
            // What lies before it is known.
            if let Some(before) = before.filter(|before| before.line >= number) {
                telling.from = before.telling.from.min(number);
                telling.again = telling.again.max(before.telling.again);
                break;
            }
        }
        telling
    }

    /// Whether both lines have the labels of one launcher, which numbers its processes: the first label that is not the
    /// same has another number.
    pub fn is_of_another_number(&self, other: &Self) -> bool {
        let mut both = self.labels.all.iter().zip(&other.labels.all);
        let differing = both.find(|((one, _), (other, _))| one != other);
        differing.is_some_and(|((_, one), (_, other))| one == other)
    }
}

/// What is looked at of a line.
fn beginning(text: &[u8]) -> &[u8] {
    text.get(..text.len().min(MOST_BYTES)).unwrap_or_default()
}

fn is_indented(text: &[u8]) -> bool {
    text.starts_with(b"  ") || text.starts_with(b"\t")
}

/// Whether a line is one of a traceback, or of what is written around one.
pub fn is_of_traceback(text: &[u8]) -> bool {
    is_indented(text)
        || text.trim_ascii().is_empty()
        || OF_TRACEBACK.is_match(text.trim_ascii_start())
}

/// Whether the log names another rank, host or pod for each, or numbers their writers.
fn is_elsewhere(main: &Finding, one: &Finding) -> bool {
    let writers = main.origin.as_deref().zip(one.origin.as_deref());
    writers.is_some_and(|(main, one)| main.is_elsewhere(one))
        || main.telling.is_of_another_number(&one.telling)
}

/// Whether both may be about one device.
fn may_be_one_device(main: &Finding, one: &Finding) -> bool {
    main.device.is_none() || one.device.is_none() || main.device == one.device
}

/// Whether a message tells a failure again that another was about before it.
pub fn tells_again(main: &Finding, one: &Finding) -> bool {
    if is_elsewhere(main, one) {
        return false;
    }
    if (main.kind, one.kind) == (Kind::HostOutOfMemory, Kind::HostOutOfMemory)
        && is_end_of_process(&main.text, &one.text)
    {
        return true;
    }
    let (first, again) = (main.telling, one.telling);
    if first.is_of_kernel && !again.is_of_kernel && is_of_same_tensor(main, one) {
        return true;
    }
    // What stands on one line is told once.
    if again.from > main.line || main.line == one.line {
        return false;
    }
    if main.is_vague() {
        // What a framework says of an exception that it shows behind.
        let is_shown = again.calls != 0 || again.again >= main.line;
        return is_shown && may_be_one_device(main, one) && main.requested_bytes.is_none();
    }
    // XLA's clients say this of whatever memory it was.
    if one.text.starts_with("Out of memory allocating")
        && one.kind == Kind::HostOutOfMemory
        && one.requested_bytes.is_some()
        && one.requested_bytes == main.requested_bytes
    {
        return true;
    }
    main.kind == one.kind
        && says_the_same(main, one)
        && (again.words != first.words
            || again.again > main.line
            || (first.calls != 0 && again.calls != 0 && first.calls != again.calls)
            || (again.calls != 0 && is_one_process(main, one)))
}

/// Whether two messages of TensorFlow are about one tensor.
fn is_of_same_tensor(main: &Finding, one: &Finding) -> bool {
    fn tensor(text: &str) -> Option<&str> {
        text.find("OOM when allocating").and_then(|at| text.get(at..))
    }
    main.kind == one.kind && tensor(&main.text).is_some_and(|main| tensor(&one.text) == Some(main))
}

/// Whether a line only announces the failure that the next message tells: it names the exception, or the same amount.
pub fn announces(line: &Finding, next: &Finding) -> bool {
    /// Lines that a program writes between the two.
    const NEAR: u64 = 5;
    static EXCEPTION: LazyLock<Regex> =
        LazyLock::new(|| regex(r"\b[A-Za-z_]*(?:Error|Exception)\b\W*\z"));
    let is_known = !matches!(
        next.kind,
        Kind::UnknownMemoryMessage | Kind::GpuMemoryTight | Kind::DeprecatedSetting
    );
    let may_be_one = line.kind == Kind::UnknownMemoryMessage
        && is_known
        && line.line < next.line
        && !is_elsewhere(line, next)
        && may_be_one_device(line, next);
    if !may_be_one {
        return false;
    }
    let is_next = next.line.saturating_sub(line.line) <= NEAR;
    let says_amount =
        || next.requested_bytes.is_some_and(|amount| line.text.contains(&amount.to_string()));
    let is_named = EXCEPTION.is_match(line.text.as_bytes());
    (is_named && (next.telling.from <= line.line || next.line == line.line.saturating_add(1)))
        || (is_next && says_amount())
}

/// Whether it is known that one process wrote both, at once: it fails once.
fn is_one_process(main: &Finding, one: &Finding) -> bool {
    let (Some(main), Some(one)) = (main.origin.as_deref(), one.origin.as_deref()) else {
        return false;
    };
    let is_named = main.rank.is_some() || main.process.is_some();
    is_named && main.rank == one.rank && main.process == one.process && main.time == one.time
}

fn says_the_same(main: &Finding, one: &Finding) -> bool {
    let figures = |finding: &Finding| {
        [
            finding.requested_bytes,
            finding.limit_bytes,
            finding.free_bytes,
            finding.used_bytes,
            finding.unallocated_bytes,
            finding.device_index,
        ]
    };
    let of_main = figures(main);
    let is_said = of_main.iter().flatten().count() > 1;
    main.text == one.text || (is_said && of_main == figures(one))
}

/// Whether two lines say of one process or job that the system ended it: the kernel, systemd and Slurm each say it, and
/// Slurm of the step and of the task.
fn is_end_of_process(main: &str, one: &str) -> bool {
    let is_of_systemd = |text: &str| text.contains("OOM killer") || text.contains("'oom-kill'");
    let is_of_kernel = |text: &str| text.contains("illed process") || text.contains("Kill process");
    let is_of_step = |text: &str| text.starts_with("Detected ");
    let is_of_task = |text: &str| text.starts_with("task") && text.contains(": Out Of Memory");
    (is_of_systemd(one) && (is_of_kernel(main) || (is_of_systemd(main) && main != one)))
        || (is_of_step(main) && is_of_task(one))
        || (is_of_task(main) && is_of_step(one))
}

/// Takes over what a failure that is told again says more, and says whether it is the better of the two.
pub fn join(main: &mut Finding, one: &mut Finding) -> bool {
    match (main.origin.as_deref_mut(), one.origin.as_deref()) {
        (None, _) => main.origin.clone_from(&one.origin),
        (Some(main), Some(one)) => {
            main.rank = main.rank.or(one.rank);
            main.host = main.host.take().or_else(|| one.host.clone());
        }
        _ => {}
    }
    let is_known = main.is_vague() && !one.is_vague();
    is_known || (main.telling.is_source && !one.telling.is_source)
}

#[cfg(test)]
mod tests {
    use crate::diagnose::diagnose;

    const SAID: &str = "CUDA out of memory. Tried to allocate 3.50 GiB. GPU 2 has a total capacity of 15.77 GiB of which 2.25 GiB \
        is free. Including non-PyTorch memory, this process has 13.52 GiB memory in use. Of the allocated memory 12.75 GiB is \
        allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated.";
    const CALLS: &str =
        "Traceback (most recent call last):\n  File \"a.py\", line 7, in <module>\n    run()\n";

    /// The lines of findings and of their consequences.
    fn told(log: &str) -> Vec<Vec<u64>> {
        let lines = |one: super::Finding| {
            std::iter::once(one.line).chain(one.consequences.iter().map(|told| told.line)).collect()
        };
        diagnose(&log.replace("SAID", SAID).replace("CALLS\n", CALLS))
            .into_iter()
            .map(lines)
            .collect()
    }

    #[test]
    fn a_failure_that_is_told_again_is_one() {
        for log in [
            "ERROR step 4 failed: SAID\nCALLS\ntorch.OutOfMemoryError: SAID\n",
            "CALLS\ntorch.OutOfMemoryError: SAID\n\nDuring handling of the above exception, another exception occurred:\n\n\
             CALLS\ntorch.OutOfMemoryError: SAID\n",
            "torch.OutOfMemoryError: SAID\n\nThe above exception was the direct cause of the following exception:\n\nCALLS\n\
             RuntimeError: no fit: SAID\n",
            "[rank3]: torch.OutOfMemoryError: SAID\nERROR launcher: worker ended\nERROR launcher: RuntimeError: a worker said \
             'SAID'\n",
            "E       torch.OutOfMemoryError: SAID\n\ntests/a.py:3: OutOfMemoryError\n=== short test summary info ===\nFAILED \
             tests/a.py::b - torch.OutOfMemoryError: SAID\n",
            "(Worker_TP1 pid=9) CALLS\n(Worker_TP1 pid=9) RuntimeError: SAID\n(Worker_TP1 pid=9) CALLS\n(Worker_TP1 pid=9) \
             RuntimeError: SAID\n",
            "CALLS\nRuntimeError: CUDA error: out of memory\nCALLS\n  File \"b.py\", line 1, in run\nRuntimeError: CUDA error: out \
             of memory\n",
        ] {
            assert_eq!(told(log).len(), 1, "{log}: {:?}", told(log));
            assert!(told(log)[0].len() > 1, "{log}: {:?}", told(log));
        }
    }

    #[test]
    fn steps_and_ranks_that_fail_alike_are_several() {
        for log in [
            "trainer-1  | ERROR:root:RuntimeError: SAID\ntrainer-2  | RuntimeError: SAID\n",
            "Epoch 1: 50%\rtrainer-1  | RuntimeError: SAID\ntrainer-2  | ERROR:root:RuntimeError: SAID\n",
            "WARNING skip batch 4: SAID\nWARNING skip batch 5: SAID\n",
            "WARNING skip batch 4: SAID\nepoch 2 begins\nERROR training failed: SAID\n",
            "[rank0]: torch.OutOfMemoryError: SAID\n[rank1]: RuntimeError: SAID\n",
            "n1: RuntimeError: SAID\n",
            "CALLS\ntorch.OutOfMemoryError: SAID\nCALLS\ntorch.OutOfMemoryError: SAID\n",
        ] {
            let expected = log.matches("SAID").count();
            assert_eq!(told(log).len(), expected, "{log}: {:?}", told(log));
        }
        let other = format!("ERROR a: {SAID}\nERROR b: {}\n", SAID.replace("2.25", "2.50"));
        assert_eq!(diagnose(&other).len(), 2);
    }

    #[test]
    fn what_shows_an_exception_is_no_failure_of_its_own() {
        for log in [
            "CALLS\ntorch.OutOfMemoryError: Caught OutOfMemoryError in replica 1 on device 2.\nOriginal Traceback (most recent call \
             last):\n  File \"b.py\", line 3, in f\ntorch.OutOfMemoryError: SAID\n",
            "ray.exceptions.RayTaskError(OutOfMemoryError): ray::fit() (pid=7, ip=10.0.0.7)\n  File \"b.py\", line 3, in \
             f\ntorch.OutOfMemoryError: SAID\n",
        ] {
            assert_eq!(told(log).len(), 1, "{log}: {:?}", told(log));
        }
    }

    #[test]
    fn a_line_of_the_source_gives_way_to_the_message() {
        let log = "Traceback (most recent call last):\n  File \"pool.py\", line 9, in start\n    raise RuntimeError(\n        \"Not enough \
            memory. Please try to increase --mem-fraction-static.\"\nRuntimeError: Not enough memory. Please try to increase \
            --mem-fraction-static.\n";
        assert_eq!(told(log), [vec![5]]);
    }

    #[test]
    fn what_a_kernel_of_tensorflow_logs_and_the_program_raises_is_one() {
        let tensor = "OOM when allocating tensor with shape[8,640,96] and type float on /job:localhost/replica:0/task:0/device:GPU:0 \
            by allocator GPU_0_bfc";
        let attempt = format!(
            "2026-01-02 03:04:05.678: W op_kernel.cc:1857] OP_REQUIRES failed at matmul.cc:7 : RESOURCE_EXHAUSTED: {tensor}\nEpoch \
             3/9\nTraceback (most recent call last):\n  File \"fit.py\", line 3, in <module>\nResourceExhaustedError: Graph execution \
             error:\n\nDetected at node dense/MatMul defined at (most recent call last):\n{tensor}\n"
        );
        assert_eq!(told(&attempt), [vec![1, 8]]);
        assert_eq!(told(&attempt.repeat(2)), [vec![1, 8], vec![9, 16]]);
    }

    #[test]
    fn an_announcement_is_a_part_of_the_failure_behind_it() {
        let attempt = "[2026-01-02 03:04:05: ERROR/Worker-1] Task fit[7] raised unexpected: OutOfMemoryError\n\
            torch.OutOfMemoryError: SAID\n[2026-01-02 03:04:06: INFO/Main] Task fit[7] retries\n";
        assert_eq!(told(&attempt.repeat(2)), [[2], [5]]);
        let log = "the pool can't allocate 3221225472 Bytes of memory\nfailed to allocate CUDA0 buffer of size 3221225472\n";
        assert_eq!(told(log), [[2]]);
    }

    #[test]
    fn the_system_says_in_several_lines_that_it_ended_a_process() {
        for log in [
            "May 02 11:02:03 n7 systemd[1]: a.service: A process of this unit has been killed by the OOM killer.\nMay 02 11:02:04 n7 \
             systemd[1]: a.service: Failed with result 'oom-kill'.\n",
            "slurmstepd: error: Detected 1 oom_kill event in StepId=9.0. Some of the step tasks have been OOM Killed.\nsrun: error: n7: \
             task 6: Out Of Memory\n",
        ] {
            assert_eq!(told(log).len(), 1, "{log}");
        }
    }
}
