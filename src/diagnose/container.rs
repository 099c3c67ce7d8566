//! What stands around a message about a container, a process or a task that was ended: whose it is, and its limit of memory.
//!
//! `kubectl describe`, objects of Kubernetes as YAML or JSON, the kernel and Slurm say it in other lines than the message.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::amount;
use super::finding::{Finding, Kind};
use super::message::{MessageFound, pattern, readable, regex};
use super::surroundings::Surroundings;

/// Bytes before and behind a message that are looked at.
const NEAR: usize = 48 << 10;
/// The same of the lines next to it.
const NEAREST: usize = 2048;

/// A line of an outline: how far it is indented, its name without signs, and its text.
struct OutlineLine<'a> {
    indent: usize,
    /// Whether it is the first of an entry of a list.
    is_first: bool,
    name: &'a str,
    value: &'a str,
}

/// Takes a line of YAML, of JSON that is indented, or of `kubectl describe` apart. A list's sign is a part of the indent.
fn outline_line(line: &str) -> Option<OutlineLine<'_>> {
    let rest = line.trim_start_matches([' ', '-']);
    let indent = line.len().checked_sub(rest.len())?;
    let is_first = line.trim_start().starts_with('-');
    // The end of an object.
    if rest.starts_with(['}', ']']) {
        return Some(OutlineLine { indent, is_first, name: "", value: "" });
    }
    let (name, value) = rest.split_once(':')?;
    let value = value.trim().trim_end_matches([',', '{', '[']).trim();
    let (name, value) = (name.trim_matches('"'), value.trim_matches('"'));
    Some(OutlineLine { indent, is_first, name, value })
}

/// The names above a message, the nearest first: each is less indented than those below it.
fn above(before: &str, own: usize) -> Vec<OutlineLine<'_>> {
    let mut least = own;
    let mut found = Vec::new();
    for line in before.lines().rev().filter_map(outline_line) {
        if line.indent < least {
            least = line.indent;
            found.push(line);
        }
    }
    found
}

/// The names and the limit of a container, as far as they are said.
#[derive(Default)]
struct EndedContainer<'a> {
    name: Option<&'a str>,
    pod: Option<&'a str>,
    limit: Option<&'a str>,
}

/// `kubectl describe`: a container is a heading below that of all containers, and has its limits below it.
fn of_description<'a>(
    before: &'a str,
    behind: &'a str,
    above: &[OutlineLine<'a>],
) -> EndedContainer<'a> {
    let is_list = |line: &OutlineLine| line.name.ends_with("Containers");
    let mut headings = above.iter().zip(above.iter().skip(1));
    let heading = headings.find(|(_, list)| is_list(list)).map(|(heading, _)| heading);
    let mut pods = before.lines().rev().filter_map(outline_line);
    let pod = pods.find(|line| line.indent == 0 && line.name == "Name").map(|line| line.value);
    let Some(heading) = heading else { return EndedContainer { pod, ..EndedContainer::default() } };
    let own = behind.lines().filter_map(outline_line);
    let own = own.take_while(|line| line.indent > heading.indent);
    let mut limits = own.skip_while(|line| line.name != "Limits");
    let limit = limits.find(|line| line.name == "memory").map(|line| line.value);
    EndedContainer { name: Some(heading.name), pod, limit }
}

/// An object of Kubernetes: the status of a container has its name beside the state, the object its own above, and the
/// limits of each container.
fn of_object<'a>(
    before: &'a str,
    behind: &'a str,
    above: &[OutlineLine<'a>],
) -> EndedContainer<'a> {
    let indent_of = |name: &str| {
        above.iter().find(|line| line.name.eq_ignore_ascii_case(name)).map(|line| line.indent)
    };
    let state = indent_of("lastState").or_else(|| indent_of("state")).unwrap_or(0);
    let is_own_name = |line: &OutlineLine| line.indent == state && line.name == "name";
    let earlier = || before.lines().rev().filter_map(outline_line);
    let mut is_over = false;
    let mut own_before = earlier().take_while(|line| {
        let is_own = !is_over && line.indent >= state;
        is_over |= line.is_first && line.indent == state;
        is_own
    });
    let later = behind.lines().filter_map(outline_line);
    let mut own_behind =
        later.take_while(|line| line.indent >= state && !(line.is_first && line.indent == state));
    let name = own_before.find(is_own_name).or_else(|| own_behind.find(is_own_name));
    let name = name.map(|line| line.value);
    let status = indent_of("status").unwrap_or(0);
    let is_metadata = |line: &OutlineLine| line.name == "metadata" && line.indent == status;
    let lines: Vec<OutlineLine> = before.lines().filter_map(outline_line).collect();
    let metadata = lines.iter().rposition(is_metadata).unwrap_or(lines.len());
    let of_pod = lines.get(metadata.saturating_add(1)..).unwrap_or_default();
    let first = of_pod.first().map_or(0, |line| line.indent);
    let pod = of_pod.iter().find(|line| line.indent == first && line.name == "name");
    let mut limits = of_pod.iter().zip(of_pod.iter().skip(1)).filter_map(|(above, below)| {
        let is_limit = above.name == "limits" || above.name == "cpu" || above.name.contains("gpu");
        (is_limit && below.name == "memory").then_some(below.value)
    });
    let limit = limits.next().filter(|limit| limits.all(|other| other == *limit));
    EndedContainer { name, pod: pod.map(|line| line.value), limit }
}

/// What is known of a container that Kubernetes ended.
pub fn killed(before: &[u8], after: &[u8]) -> Finding {
    let before = before.get(before.len().saturating_sub(NEAR)..).unwrap_or_default();
    let before = String::from_utf8_lossy(before);
    let after = String::from_utf8_lossy(after.get(..after.len().min(NEAR)).unwrap_or_default());
    // The rest of the line of the message is none.
    let behind = after.split_once('\n').map_or("", |(_, behind)| behind);
    let own = behind.lines().find_map(outline_line).map_or(0, |line| line.indent);
    let last = before.lines().next_back().unwrap_or_default();
    let own = if last.trim().is_empty() { last.len() } else { own };
    let above = above(&before, own);
    let is_in = |name: &str| above.iter().any(|line| line.name.eq_ignore_ascii_case(name));
    if !(is_in("Last State") || is_in("State") || is_in("lastState")) {
        return Finding::new(Kind::HostOutOfMemory);
    }
    let found = if is_in("terminated") {
        of_object(&before, behind, &above)
    } else {
        of_description(&before, behind, &above)
    };
    let container = found.name.map(|name| format!("container {name}"));
    let pod = found.pod.map(|name| format!("pod {name}"));
    let named = [container, pod].into_iter().flatten().collect::<Vec<_>>().join(" of ");
    Finding {
        instance: Some(named).filter(|named| !named.is_empty()),
        limit_bytes: found.limit.and_then(amount::bytes),
        ..Finding::new(Kind::HostOutOfMemory)
    }
}

/// Whether the name of the reason is part of a query of metrics, not of a sample above 0.
pub fn is_query(found: &MessageFound) -> bool {
    static LABELS: LazyLock<Regex> =
        LazyLock::new(|| regex(r#"\A"[^{}\r\n]{0,300}\}(?<value>[\t ]+[1-9])?"#));
    let reason = found.captures.get_match().as_bytes();
    let is_label = memchr::memmem::find(reason, b"=\"").is_some();
    let labels = LABELS.captures(found.after.nearest(NEAREST));
    is_label && labels.is_some_and(|labels| labels.name("value").is_none())
}

/// What all processes of a container use and may use, as the kernel reports before it ends one; a very large limit is none.
pub fn kernel_usage(before: &[u8]) -> Option<(u64, u64)> {
    static USAGE: LazyLock<Regex> =
        LazyLock::new(|| pattern("\\bmemory: usage (?<usage>{n}kB), limit (?<limit>{n}kB)"));
    let found = USAGE.captures_iter(before).last()?;
    let amount = |name: &str| amount::of_bytes(found.name(name)?.as_bytes());
    let (usage, limit) = (amount("usage")?, amount("limit")?);
    (limit < 1 << 60).then_some((usage, limit))
}

/// The tasks that Slurm ended, and their host: in the line of `srun` behind that of the step.
pub fn tasks_of_slurm(after: &Surroundings) -> Option<String> {
    static TASKS: LazyLock<Regex> = LazyLock::new(|| {
        pattern("(?<host>[A-Za-z0-9._-]{1,80}): (?<tasks>tasks? [0-9][0-9,-]*): Out Of Memory")
    });
    let found = TASKS.captures(after.nearest(NEAREST))?;
    let word = |name: &str| Some(readable(found.name(name)?.as_bytes()));
    Some(format!("{} on {}", word("tasks")?, word("host")?))
}

/// The object that an event of Kubernetes is about, where the message is its text.
pub fn node_of_event(before: &Surroundings) -> Option<String> {
    static NODE: LazyLock<Regex> =
        LazyLock::new(|| regex(r"\b(?:node|pod)/([a-z0-9][a-z0-9.-]{0,252})[\t ]+\z"));
    let found = NODE.captures(before.nearest(300))?;
    Some(readable(found.get(1)?.as_bytes()))
}

/// The rank and host of a process that torchrun's summary says was ended by signal 9.
pub fn rank_of_torchrun(found: &MessageFound) -> Option<String> {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            "host\\s*: (?<host>[^\\s]{1,80}) rank\\s*: (?<rank>{n}) \\(local_rank: {n}\\)\\s+\\z",
        )
    });
    static BEHIND: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            "host\\s*: (?<host>[^\\s]{1,80}) rank\\s*: (?<rank>{n}) \\(local_rank: {n}\\) exitcode\\s*: -9\\b",
        )
    });
    let names = BEFORE
        .captures(found.before.nearest(300))
        .or_else(|| BEHIND.captures(found.after.nearest(NEAREST)))?;
    let word = |name: &str| Some(readable(names.name(name)?.as_bytes()));
    Some(format!("rank {} on {}", word("rank")?, word("host")?))
}

#[cfg(test)]
mod tests {
    use super::super::diagnose;

    #[test]
    fn a_container_that_was_ended_has_its_names_and_its_limit() {
        let described = "Name:         sweep-4\nNode:         n1/10.0.0.3\nContainers:\n  side:\n    State:          Running\n    \
            Limits:\n      memory:  1Gi\n  model:\n    Last State:     Terminated\n      Reason:       OOMKilled\n      \
            Exit Code:    137\n    Ready:          False\n    Limits:\n      cpu:     4\n      memory:  12Gi\n    \
            Requests:\n      memory:  2Gi\nEvents: <none>\n";
        let yaml = "apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    name: other\n  name: sweep-4\nspec:\n  containers:\n  \
            - image: x\n    name: model\n    resources:\n      limits:\n        cpu: \"4\"\n        memory: 12Gi\nstatus:\n  \
            containerStatuses:\n  - containerID: c\n    lastState:\n      terminated:\n        exitCode: 137\n        \
            reason: OOMKilled\n        startedAt: \"x\"\n    name: model\n    ready: false\n";
        for text in [described, yaml] {
            let [finding] = &diagnose(text)[..] else { panic!("one finding: {text}") };
            assert_eq!(
                finding.instance.as_deref(),
                Some("container model of pod sweep-4"),
                "{text}"
            );
            assert_eq!(finding.limit_bytes, Some(12 << 30), "{text}");
        }
    }

    #[test]
    fn metrics_are_a_failure_where_they_count_one() {
        let sample =
            |end: &str| format!("reason_total{{pod=\"a\",reason=\"OOMKilled\",uid=\"7\"}}{end}\n");
        for (end, count) in [(" 1", 1), (" 0", 0), (" > 0", 0), ("[5m]) > 1", 0)] {
            assert_eq!(diagnose(&sample(end)).len(), count, "{end}");
        }
        assert_eq!(diagnose("msg=\"pod ended\" reason=\"OOMKilled\" pod=a-1\n").len(), 1);
    }

    #[test]
    fn whom_a_scheduler_or_kernel_ended_is_named() {
        let kernel = "k: memory: usage 2097152kB, limit 2097152kB, failcnt 3\nk: swap: usage 0kB, limit 8388608kB, failcnt \
            0\nk: Memory cgroup out of memory: Kill process 71 (prep) score 990 or sacrifice child\nk: Killed process 71 (prep) \
            total-vm:4000000kB, anon-rss:2000000kB, file-rss:4kB\n";
        let [finding] = &diagnose(kernel)[..] else { panic!("one finding") };
        assert_eq!((finding.limit_bytes, finding.used_bytes), (Some(2 << 30), Some(2 << 30)));
        assert_eq!(finding.breakdown.first().map(|part| part.bytes), Some(2_048_000_000));
        for (text, instance) in [
            (
                "slurmstepd: error: Detected 2 oom_kill events in StepId=9.0.\nsrun: error: gn-03: tasks 0,4: Out Of Memory\n",
                "tasks 0,4 on gn-03",
            ),
            (
                "exitcode: -9 of two\n  host      : gn-03\n  rank      : 6 (local_rank: 2)\n  exitcode  : -9 (pid: 81)\n",
                "rank 6 on gn-03",
            ),
            (
                "9s  Warning  OOMKilling  node/gn-03  Out of memory: Killed process 8 (prep) total-vm:9kB, anon-rss:4kB\n",
                "process 8 (prep) on gn-03",
            ),
            ("sweep-4   0/1   OOMKilled   2 (9s ago)   4m\n", "pod sweep-4"),
        ] {
            let [finding] = &diagnose(text)[..] else { panic!("one finding: {text}") };
            assert_eq!(finding.instance.as_deref(), Some(instance), "{text}");
        }
    }
}
