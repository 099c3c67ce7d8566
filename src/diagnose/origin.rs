//! Who wrote a line: rank, host, pod, container and process, as far as what stands before its text says so.

use std::sync::LazyLock;

use regex::bytes::Regex;
use serde::Serialize;

use super::entries::LABELS;
use super::finding::{Finding, Kind, if_any};
use super::lead::{LeadKind, LeadPart, lead, text_start};
use super::message::regex;
use super::pods::pod_and_container;
use super::streams::LogRegion;

/// Who wrote a message, as the log names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct WriterOfLine {
    /// The rank of the process in its program.
    pub rank: Option<u64>,
    /// The machine: its name or address.
    pub host: Option<String>,
    /// The pod of Kubernetes.
    pub pod: Option<String>,
    /// The container, or the service of docker compose.
    pub container: Option<String>,
    /// The process: its name, its number, or both.
    pub process: Option<String>,
    /// The time as the log writes it.
    pub time: Option<String>,
    /// Whether its writer was the first that ran out of memory; known where several did.
    pub failed_first: Option<bool>,
}

/// Whether two names are known and not the same.
fn differ<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

impl WriterOfLine {
    /// Its names, as text has them.
    pub fn names(&self) -> Vec<String> {
        let named =
            |kind: &str, name: &Option<String>| name.as_ref().map(|name| format!("{kind} {name}"));
        let names = [
            self.rank.map(|rank| format!("rank {rank}")),
            named("host", &self.host),
            named("pod", &self.pod),
            named("container", &self.container),
            named("process", &self.process),
            self.failed_first.filter(|first| *first).map(|_| "failed first".to_owned()),
        ];
        names.into_iter().flatten().collect()
    }

    /// Whether what both lines say of their writers cannot be of one.
    pub fn is_other(&self, other: &Self) -> bool {
        self.is_elsewhere(other) || differ(self.container.as_ref(), other.container.as_ref())
    }

    /// Whether both lines name another rank, host or pod. A process, and its container, may be named differently where its
    /// launcher speaks of it.
    pub fn is_elsewhere(&self, other: &Self) -> bool {
        differ(self.rank, other.rank)
            || differ(self.host.as_ref(), other.host.as_ref())
            || differ(self.pod.as_ref(), other.pod.as_ref())
    }

    /// What tells it from others.
    fn writer(&self) -> Option<(Option<u64>, [Option<&str>; 4])> {
        let names = [&self.host, &self.pod, &self.container, &self.process].map(Option::as_deref);
        let is_known = self.rank.is_some() || names.iter().any(Option::is_some);
        // A process has other names where its launcher speaks of it.
        is_known.then(|| if self.rank.is_some() { (self.rank, [None; 4]) } else { (None, names) })
    }
}

/// Says of the findings of several writers which of these failed first: by time where all say it, else in the order of
/// the log.
pub fn find_first(findings: &mut [Finding]) {
    let of_failure = |finding: &Finding| {
        !matches!(
            finding.kind,
            Kind::GpuMemoryTight
                | Kind::PlannerAtMinimum
                | Kind::PlannerOverTarget
                | Kind::PlannerNoPlan
                | Kind::UnknownMemoryMessage
        )
    };
    let writers: Vec<_> = findings
        .iter()
        .enumerate()
        .filter(|(_, finding)| of_failure(finding))
        .filter_map(|(index, finding)| {
            let origin = finding.origin.as_deref()?;
            Some((index, origin.writer()?, origin.time.as_deref()))
        })
        .collect();
    let Some((_, one, time)) = writers.first() else { return };
    if writers.iter().all(|(_, writer, _)| writer == one) {
        return;
    }
    // Times of one form are in the order of their texts.
    let length = time.map(str::len);
    let has_times = writers.iter().all(|(.., time)| time.is_some() && time.map(str::len) == length);
    let first = if has_times {
        writers.iter().min_by_key(|(index, _, time)| (*time, *index))
    } else {
        writers.first()
    };
    let first = first.map(|(index, ..)| *index);
    let indexes: Vec<usize> = writers.iter().map(|(index, ..)| *index).collect();
    for index in indexes {
        let origin = findings.get_mut(index).and_then(|finding| finding.origin.as_deref_mut());
        if let Some(origin) = origin {
            origin.failed_first = Some(Some(index) == first);
        }
    }
}

static RANK: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i:\b(?:global_|mpi)?(?:rank|proc|task)[ _=:-]{0,2}([0-9]{1,7})\b|\bprocess(?:[ _]index)?[ =:]([0-9]{1,3})\b)",
    )
});
/// `TP2` of servers, and the roles of torchrun: `default3`, `trainer3`.
static RANK_OF_WORKER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:\b|_)TP-?([0-9]{1,7})\b|\b(?:default|trainer)([0-9]{1,7})\b"));
/// `[1,3]`, and `[prterun-node01-4242@1,3]`, where the launcher is named, too.
static MPI: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\A\[(?:(?:[a-z]+-)?(?<host>[A-Za-z0-9._-]{1,80})-[0-9]+@)?[0-9]+,(?<rank>[0-9]{1,7})\]\z",
    )
});
/// `RuntimeError: [Rank:3] `, where a program names itself in its text.
static RANK_IN_TEXT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i:\[(?:global[ _])?rank[ _=:-]{0,2}([0-9]{1,7})\])"));
static ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\b"));
static HOST: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"\b(?:host|hostname|node|ip|instance)="?([^\s,)\]}"]{1,80})"#));
/// `[1,mpirank:9,algo-2]`
static MPI_HOST: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\A\[[0-9]+,mpirank:[0-9]+,([^\s,\]]{1,80})\]\z"));
/// `node01:392:494 [2] `, as NCCL begins its lines: host, process, thread, device.
static NCCL: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:\A|[\s\]])(?<host>[A-Za-z0-9][A-Za-z0-9._-]{0,100}):[0-9]{1,8}:[0-9]{1,8} \[(?:-1|(?<device>[0-9]{1,3}))\] ",
    )
});
/// A line of syslog whose program has a word of messages in its name, as those have that end processes.
static SYSLOG: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\A(?:[A-Z][a-z]{2} {1,2}[0-9]{1,2} [0-9:]{8}|[0-9]{4}-[0-9T:.,+Z-]{10,40}) ([A-Za-z0-9][A-Za-z0-9._-]{0,100}) [A-Za-z0-9_.-]{1,60}\[[0-9]{1,10}\]: ",
    )
});
static CONTAINER: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"\bcontainer(?:_name)?="?([^\s,\]}"]{1,80})"#));
static POD: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"\bpod(?:_name)?[/=]"?([^\s/,\]}"]{1,80})(?:/([^\s/,\]]{1,80}))?"#));
static PROCESS: LazyLock<Regex> = LazyLock::new(|| regex(r"\bpid[= ]([0-9]{1,10})\b"));
/// `worker-3`, `node07`, `t1v-n-12-w-0`, of machines; a process of Python has a capital letter.
static MACHINE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\A[a-z][a-z0-9.]*(?:[-_][a-z0-9.]+)*\z"));

/// Lines before and behind one in which other ranks write.
const LINES_OF_RANKS: usize = 16;
/// Bytes before a message in which its traceback begins.
const LONGEST_TRACEBACK: usize = 1 << 16;
/// Bytes of a text in which NCCL and syslog name the host.
const MOST_OF_HEAD: usize = 160;

fn string(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Who wrote a line of a region, if that is said: before its text, else before the traceback that ends with it.
pub fn of(region: &LogRegion, line: usize) -> Option<Box<WriterOfLine>> {
    let parts: Vec<_> = region.names(line).collect();
    let (before, text) = region.bare(line, |_| true).unwrap_or_default();
    let own = of_line(&parts, before, text);
    let of_traceback = || of_traceback(region, line);
    let own = if own == WriterOfLine::default() { of_traceback().unwrap_or(own) } else { own };
    let rank = own.rank.or_else(|| numbered_rank(region, line, &parts));
    let mut own = WriterOfLine { rank, ..own };
    if let Some((pod, container)) = region.pod(line).filter(|_| parts.is_empty()) {
        own.pod = own.pod.or_else(|| Some(string(pod)));
        own.container = own.container.or_else(|| Some(string(container)));
    }
    if_any(own)
}

/// The number of the device that NCCL writes before its text.
pub fn device_index(region: &LogRegion, line: usize) -> Option<u64> {
    let head = region.bytes(line);
    let head = head.get(..head.len().min(2 * MOST_OF_HEAD)).unwrap_or_default();
    number(NCCL.captures(head)?.name("device")?.as_bytes())
}

/// The number in brackets with which a line begins, where lines near it begin with others: `[2] `, as Intel MPI labels the
/// lines of its ranks.
fn numbered_rank(region: &LogRegion, line: usize, parts: &[(LeadPart, &[u8])]) -> Option<u64> {
    let in_brackets = |part: Option<&(LeadPart, &[u8])>| {
        let (_, bytes) = part.filter(|(part, _)| part.start == 0)?;
        number(bytes.strip_prefix(b"[")?.strip_suffix(b"]")?)
    };
    let own = in_brackets(parts.first())?;
    let near = line.saturating_sub(LINES_OF_RANKS)..line + LINES_OF_RANKS;
    let is_other = |line| {
        let first = region.names(line).next();
        in_brackets(first.as_ref()).is_some_and(|other| other != own)
    };
    near.into_iter().any(is_other).then_some(own)
}

/// Who wrote the head of the traceback that ends with a line, as some loggers name the writer only there.
fn of_traceback(region: &LogRegion, line: usize) -> Option<WriterOfLine> {
    let before = region.log.text.get(..region.place(line))?;
    let before = before.get(before.len().saturating_sub(LONGEST_TRACEBACK)..)?;
    let mut end = before.strip_suffix(b"\n")?;
    loop {
        let start = memchr::memrchr(b'\n', end).map_or(0, |before| before + 1);
        let line = end.get(start..)?;
        if memchr::memmem::find(line, b"Traceback (most recent").is_some() {
            let mut parts = Vec::new();
            lead(line, &mut parts);
            let (before, text) = line.split_at_checked(text_start(&parts))?;
            let bytes = |part: &LeadPart| line.get(part.start..part.end).unwrap_or_default();
            let parts: Vec<_> = parts.iter().map(|part| (*part, bytes(part))).collect();
            return Some(of_line(&parts, before, text));
        }
        if !line.starts_with(b" ") || start == 0 {
            return None;
        }
        end = end.get(..start - 1)?;
    }
}

/// Who wrote a line, by the parts before its text, and by its beginning.
fn of_line(parts: &[(LeadPart, &[u8])], before: &[u8], text: &[u8]) -> WriterOfLine {
    let mut origin = WriterOfLine::default();
    let behind = text.get(..text.len().min(MOST_OF_HEAD)).unwrap_or_default();
    let line = [before, behind].concat();
    for (index, (part, bytes)) in parts.iter().enumerate() {
        match part.kind {
            LeadKind::Time => origin.time = origin.time.or_else(|| Some(string(bytes))),
            LeadKind::Level | LeadKind::Place => {}
            LeadKind::Group => origin.add_group(bytes),
            LeadKind::Name => {
                let before = index.checked_sub(1).and_then(|at| parts.get(at));
                // Between a time and the name of a program. A logger may stand there too, with signs around it.
                let is_before_program = parts.get(index + 1).is_some_and(|(next, _)| {
                    next.kind == LeadKind::Name && next.start == part.end + 1
                }) || bytes.contains(&b' ');
                let is_behind_time = before.is_some_and(|(part, _)| part.kind == LeadKind::Time)
                    && is_before_program;
                // Between bars stands what a logger says of itself.
                let gap = before.map_or(0, |(before, _)| before.end)..part.start;
                let is_between_bars = before.is_some_and(|(_, bytes)| bytes.ends_with(b"|"))
                    || line.get(gap).is_some_and(|gap| gap.contains(&b'|'));
                if !(is_between_bars && bytes.ends_with(b"|")) {
                    origin.add_name(bytes, index == 0, is_behind_time);
                }
            }
        }
    }
    let nccl = NCCL.captures(&line).and_then(|nccl| nccl.name("host"));
    origin.host = nccl.map(|host| string(host.as_bytes())).or(origin.host);
    let syslog = || SYSLOG.captures(&line).and_then(|syslog| syslog.get(1));
    origin.host = origin.host.or_else(|| syslog().map(|host| string(host.as_bytes())));
    let rank_in_text = || number(RANK_IN_TEXT.captures(behind)?.get(1)?.as_bytes());
    origin.rank = origin.rank.or_else(rank_in_text);
    origin
}

impl WriterOfLine {
    /// Labels of an entry: `time=… pod_name=train-0 rank=3`.
    fn add_labels(&mut self, bytes: &[u8]) {
        let labels = String::from_utf8_lossy(bytes);
        let labels = labels.split([' ', '\u{1e}', '\u{1f}']);
        let mut labels: Vec<_> = labels.filter_map(|label| label.split_once('=')).collect();
        // A name says more than a number that only computers read.
        labels.sort_by_key(|(name, _)| name.ends_with("_id"));
        for (name, value) in labels {
            let is = |of: &str| name.to_ascii_lowercase().contains(of);
            let value = || Some(value.trim_matches('"').to_owned());
            if is("time") {
                self.time = self.time.take().or_else(value);
            } else if is("rank") && !is("local") {
                self.rank = value().and_then(|rank| rank.parse().ok()).or(self.rank);
            } else if is("pod") {
                self.pod = self.pod.take().or_else(value);
            } else if is("container") || is("service") {
                self.container = self.container.take().or_else(value);
            } else if is("host") || is("node") || is("instance") {
                self.host = self.host.take().or_else(value);
            } else if is("pid") || is("process") || is("syslog_identifier") {
                self.process = Some(match (self.process.take(), value().unwrap_or_default()) {
                    (Some(process), value) => format!("{process} {value}"),
                    (None, value) => value,
                });
            }
        }
    }

    fn add_group(&mut self, bytes: &[u8]) {
        if bytes.first() == Some(&LABELS) {
            return self.add_labels(bytes);
        }
        let first = |regex: &Regex| {
            let captures = regex.captures(bytes)?;
            number(captures.iter().skip(1).flatten().next()?.as_bytes())
        };
        let mpi = MPI.captures(bytes);
        let of_mpi = |name: &str| Some(mpi.as_ref()?.name(name)?.as_bytes());
        let word = |regex: &Regex, group: usize| {
            Some(string(regex.captures(bytes)?.get(group)?.as_bytes()))
        };
        let rank = first(&RANK).or_else(|| number(of_mpi("rank")?));
        self.rank = rank.or(self.rank).or_else(|| first(&RANK_OF_WORKER));
        self.host = self.host.take().or_else(|| of_mpi("host").map(string));
        self.host = self.host.take().or_else(|| word(&MPI_HOST, 1)).or_else(|| word(&HOST, 1));
        self.host = self.host.take().or_else(|| word(&ADDRESS, 0));
        self.pod = self.pod.take().or_else(|| word(&POD, 1));
        let container = word(&POD, 2).or_else(|| word(&CONTAINER, 1));
        self.container = self.container.take().or(container);
        let content = bytes.get(1..bytes.len().saturating_sub(1)).unwrap_or_default();
        let is_bracket = bytes.first() == Some(&b'[');
        // `[gpu187:1]`, as Accelerate names the process of a host.
        let mut names = content.splitn(2, |byte| *byte == b':');
        let machine = names.next().filter(|name| {
            names.next().is_none_or(|own| number(own).is_some() && !is_progress(name))
        });
        if PROCESS.is_match(bytes) {
            self.process = Some(string(content));
        } else if let Some((pod, container)) = pod_and_container(content) {
            self.pod = self.pod.take().or_else(|| Some(string(pod)));
            self.container = self.container.take().or_else(|| Some(string(container)));
        } else if let Some(machine) = machine
            && is_bracket
            && rank.is_none()
            && machine.iter().any(u8::is_ascii_digit)
            && MACHINE.is_match(machine)
            && machine.iter().any(u8::is_ascii_alphabetic)
            && !RANK_OF_WORKER.is_match(machine)
        {
            self.host = self.host.take().or_else(|| Some(string(machine)));
        }
    }

    fn add_name(&mut self, bytes: &[u8], is_first: bool, is_behind_time: bool) {
        let is_bar = bytes.ends_with(b"|");
        let end = bytes
            .iter()
            .rposition(|byte| !matches!(byte, b':' | b'|' | b' ' | b'\t'))
            .map_or(0, |end| end + 1);
        let name = bytes.get(..end).unwrap_or_default();
        let has_letter = name.iter().any(u8::is_ascii_alphabetic);
        let rank = RANK.captures(name);
        if let Some(rank) = rank.and_then(|rank| rank.get(1).or_else(|| rank.get(2))) {
            self.rank = number(rank.as_bytes()).or(self.rank);
        } else if let Some((pod, container)) = pod_and_container(name) {
            self.pod = self.pod.take().or_else(|| Some(string(pod)));
            self.container = self.container.take().or_else(|| Some(string(container)));
        } else if is_bar && is_behind_time && is_numbered(name) {
            // foreman and its like.
            self.process = self.process.take().or_else(|| Some(string(name)));
        } else if is_bar {
            // `train.4@node07 | `, as Swarm names the task of a service and its host.
            let name = string(name);
            let (container, host) =
                name.split_once('@').map_or((&*name, None), |(task, host)| (task, Some(host)));
            self.container = self.container.take().or_else(|| Some(container.to_owned()));
            self.host = self.host.take().or_else(|| host.map(str::to_owned));
        } else if is_first && !has_letter && number(name).is_some() {
            // srun labels its tasks.
            self.rank = self.rank.or_else(|| number(name));
        } else if ADDRESS.is_match(name)
            || (is_behind_time && bytes.last() != Some(&b':') && has_letter)
        {
            let host = name.split(u8::is_ascii_whitespace).next().unwrap_or(name);
            let is_name = host.iter().any(|byte| byte.is_ascii_alphabetic() || *byte == b'.');
            self.host = self.host.take().or_else(|| is_name.then(|| string(host)));
        } else if name.ends_with(b"]") {
            self.process = self.process.take().or_else(|| Some(string(name)));
        } else if has_letter && name.iter().any(u8::is_ascii_digit) && MACHINE.is_match(name) {
            self.host = self.host.take().or_else(|| Some(string(name)));
        }
    }
}

/// Whether a name, such as `step10` or `cuda0`, belongs to the program and not to a machine.
fn is_progress(name: &[u8]) -> bool {
    const OF_PROGRAMS: [&[u8]; 9] =
        [b"step", b"epoch", b"layer", b"cuda", b"stage", b"expert", b"iter", b"batch", b"block"];
    let letters = name.split(u8::is_ascii_digit).next().unwrap_or_default();
    OF_PROGRAMS.contains(&letters)
}

/// `trainer.1`
fn is_numbered(name: &[u8]) -> bool {
    let number = memchr::memrchr(b'.', name).and_then(|dot| name.get(dot.saturating_add(1)..));
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::super::diagnose;

    fn origins(log: &str) -> Vec<String> {
        let names = |finding: super::Finding| {
            finding.origin.map_or_else(Vec::new, |origin| origin.names()).join(", ")
        };
        diagnose(log).into_iter().map(names).collect()
    }

    #[test]
    fn a_finding_says_who_wrote_it() {
        for (before, names) in [
            ("[rank3]: ", "rank 3"),
            ("[default1]:[rank9]: ", "rank 9"),
            (
                "(Worker_TP2 pid=77) ERROR 07-29 21:48:54 [x.py:9] ",
                "rank 2, process Worker_TP2 pid=77",
            ),
            ("(VllmWorker rank=4 pid=8) ", "rank 4, process VllmWorker rank=4 pid=8"),
            ("[1,6]<stderr>:", "rank 6"),
            ("5: ", "rank 5"),
            ("10.1.0.7: [rank1]: ", "rank 1, host 10.1.0.7"),
            (
                "(RayTrainWorker pid=9, ip=10.0.0.2) ",
                "host 10.0.0.2, process RayTrainWorker pid=9, ip=10.0.0.2",
            ),
            ("[worker-3] ", "host worker-3"),
            ("gpu-node-4: ", "host gpu-node-4"),
            ("Jul  7 15:19:48 node01 python[42]: ", "host node01, process python[42]"),
            ("[pod/train-0/main] ", "pod train-0, container main"),
            ("trainer-1  | ", "container trainer-1"),
            ("2025-07-07 15:19:48 | ERROR | app.loop | ", ""),
            ("2025-07-07 15:19:48 | my_app | ", ""),
            ("15:19:48 worker.2 | ", "process worker.2"),
            ("Jul  7 15:19:48 node07 oom-watch[31]: ", "host node07"),
            (
                r#"2025-07-07T15:19:48Z {container="main", pod="train-0"} "#,
                "pod train-0, container main",
            ),
            ("[1,mpirank:9,algo-3]<stderr>:", "rank 9, host algo-3"),
            ("gpu-12:700:801 [3] enqueue.cc:43 NCCL WARN ", "host gpu-12"),
            ("[2025-07-07 15:19:48] gpu12:700:801 [3] enqueue.cc:43 NCCL WARN ", "host gpu12"),
            ("2025-07-07 15:19:48 ERROR ", ""),
            ("[core.py:708] ", ""),
            ("train_web.4.k3j2@node-07    | ", "host node-07, container train_web.4.k3j2"),
            ("2026-03-04 08:09:10 +0000 - flows - ERROR - ", ""),
            ("ERROR\t08:09:10.000\tfit.loop\t", ""),
            ("[2026-03-09T12:45:01.118Z] 7b31f0aa [rank=3] || ", "rank 3"),
            ("[process 7] ", "rank 7"),
            ("[train-3 main] ", "pod train-3, container main"),
            ("train-3 main 2026-03-04T08:09:10.118Z ", "pod train-3, container main"),
            ("[prterun-gpu-7-4242@1,3]<stderr>: ", "rank 3, host gpu-7"),
            ("RuntimeError: [Rank:5] FATAL ERROR :: ", "rank 5"),
            ("12 | [rank3]: ", "rank 3"),
            ("12:", ""),
            ("[2] ", ""),
            ("[gpu187:1]:", "host gpu187"),
            ("[gpu187:fit] ", ""),
            ("[step10:3] ", ""),
            ("[trainer3]:", "rank 3"),
        ] {
            let log = format!("{before}RuntimeError: CUDA error: out of memory\n");
            assert_eq!(origins(&log), [names], "{before}");
        }
        let calls = "  File \"x.py\", line 2, in run\n    run()\n".repeat(50);
        let traceback = format!(
            "[2026-05-02 11:02:03 TP5] Scheduler hit an exception: Traceback (most recent call last):\n{calls}\
             RuntimeError: CUDA error: out of memory\n"
        );
        assert_eq!(origins(&traceback), ["rank 5"]);
        let pods =
            "train-3 main step 1\ntrain-3 main step 2\ntrain-3 main CUDA error: out of memory\n";
        assert_eq!(origins(pods), ["pod train-3, container main"]);
        let pods = "ml a-train-3 main step 1\nml a-train-3 main CUDA error: out of memory\n";
        assert_eq!(origins(pods), ["pod a-train-3, container main"]);
        let pods =
            "a-7d4b9c6f5-x2x9k main step 1\na-7d4b9c6f5-x2x9k main CUDA error: out of memory\n";
        assert_eq!(origins(pods), ["pod a-7d4b9c6f5-x2x9k, container main"]);
        let prose = "worker-3 ran step 1\nworker-3 ran out of memory\n";
        assert_eq!(origins(prose), [""]);
        assert_eq!(origins("[1] step 3\n[2] CUDA error: out of memory\n"), ["rank 2"]);
        let entry = r#"{"message":"CUDA error: out of memory","hostNodeName":"n-9"}"#;
        assert_eq!(origins(entry), ["host n-9"]);
        let entry = r#"{"textPayload":"CUDA error: out of memory","labels":{"pod_name":"p-1","container_name":"c"}}"#;
        assert_eq!(origins(entry), ["pod p-1, container c"]);
    }

    #[test]
    fn a_name_says_more_than_an_identifier() {
        let entry = r#"{"container_id":"0a1b2c3d","container_name":"/fit-7","log":"CUDA error: out of memory"}"#;
        assert_eq!(origins(entry), ["container /fit-7"]);
    }

    #[test]
    fn the_device_before_the_text_of_nccl_is_known() {
        for (device, index) in [("3", Some(3)), ("-1", None)] {
            let log =
                format!("n1:7:8 [{device}] alloc.h:9 NCCL WARN Cuda failure 2 'out of memory'\n");
            assert_eq!(diagnose(&log)[0].device_index, index);
        }
    }

    #[test]
    fn of_several_writers_the_first_that_failed_is_named() {
        let line =
            |rank: u32, time: &str| format!("[rank{rank}]: {time}CUDA error: out of memory\n");
        let in_order = line(4, "") + &line(2, "");
        assert_eq!(origins(&in_order), ["rank 4, failed first", "rank 2"]);
        let by_time = line(4, "2025-07-07 15:19:49 ") + &line(2, "2025-07-07 15:19:48 ");
        assert_eq!(origins(&by_time), ["rank 4", "rank 2, failed first"]);
        assert_eq!(origins(&(line(4, "") + &line(4, ""))), ["rank 4", "rank 4"]);
    }
}
