//! A known message is found with its facts, whatever stands before its lines, however they are wrapped, and whoever
//! writes between them.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{RngSeed, TestCaseError};

use super::properties::{ends_line, takes_line};
use super::{Example, examples};
use crate::diagnose::{Finding, Kind, diagnose};

/// What a collector puts before all, a launcher behind it, and a logger before the text. `{rank}`, `{pid}`, `{clock}`,
/// `{level}` and `{line}` stand for what they say.
const COLLECTORS: [&str; 4] = [
    "",
    "2025-07-07T{clock}.916100Z stderr F ",
    "2025-07-07T{clock}.1236290Z ",
    "Jul  7 {clock} cluster collector[77]: ",
];
const LAUNCHERS: [&str; 15] = [
    "",
    JSON,
    "[rank{rank}]: ",
    "[default{rank}]:[rank{rank}]: ",
    "[1,{rank}]<stderr>:",
    "[1,mpirank:{rank},algo-{rank}]<stdout>:",
    "{rank}: ",
    "rank {rank}: ",
    "10.0.0.{rank}: ",
    "node-{rank}: ",
    "trainer-{rank}  | ",
    "[pod/train-{rank}/main] ",
    "(Worker_TP{rank} pid={pid}) ",
    "(RayTrainWorker pid={pid}, ip=10.0.0.{rank}) ",
    "Jul  7 {clock} host{rank} python[{pid}]: ",
];
const LOGGERS: [&str; 15] = [
    "",
    "2025-07-07 {clock},123 ",
    "2025-07-07 {clock},123 - trainer - {level} - ",
    "2025-07-07 {clock}.123 | {level}    | __main__:main:{line} - ",
    "[2025-07-07 {clock},123] [{level}] [launch.py:{line}:main] ",
    "[2025-07-07, {clock} UTC] {subprocess.py:{line}} {level} - ",
    "[2025-07-07 {clock},123: {level}/ForkPoolWorker-1] ",
    "2025-07-07T{clock}Z\t{level}\ttrain\t",
    "{level} 07-07 {clock} [core.py:{line}] ",
    "{level}:root:",
    "[{level}] ",
    "{clock} {level} ",
    "E0707 {clock}.123456 {pid} torch/x.py:{line}] ",
    "2025-07-07 {clock}.721128: E    {pid} tensorflow/a/b.cc:{line}] ",
    "train.py:{line} ",
];
/// How launchers write a rank.
const NAMES_OF_RANKS: [&str; 4] = ["[rank", "rank ", "[1,", "_TP"];
/// Entries of JSON, each on a line.
const JSON: &str = "{";

/// What is written between messages.
const ORDINARY: [&str; 10] = [
    "step 120 loss 0.534 lr 1e-4",
    "Epoch 3 began",
    "loading checkpoint shards: done",
    "Traceback (most recent call last):",
    "  File \"/app/train.py\", line 88, in main",
    "    loss = model(batch)",
    "saved to /out/checkpoint-500",
    "",
    "waiting for others",
    "tokens per second: 15,321.5",
];
const BAR: &str = "Epoch 1:  50%|#####     | 50/100 [00:10<00:10,  5.00it/s]\r";

/// A message, and what is found in it alone.
struct KnownMessage {
    text: String,
    finding: Finding,
}

/// What a writer says.
#[derive(Clone, Debug)]
struct RandomWriter {
    logger: Index,
    example: Index,
    /// Bytes of a line.
    width: usize,
    before: usize,
    after: usize,
    has_color: bool,
}

/// Writers that one launcher started, and others, who have nothing to say.
#[derive(Clone, Debug)]
struct RandomLog {
    collector: Index,
    launcher: Index,
    writers: Vec<RandomWriter>,
    others: Vec<(Index, RandomWriter)>,
    order: Vec<Index>,
    is_of_windows: bool,
    has_bar: bool,
}

fn writer() -> impl Strategy<Value = RandomWriter> {
    let width = prop_oneof![Just(usize::MAX), 20_usize..200];
    (any::<Index>(), any::<Index>(), width, 0_usize..4, 0_usize..4, any::<bool>()).prop_map(
        |(logger, example, width, before, after, has_color)| RandomWriter {
            logger,
            example,
            width,
            before,
            after,
            has_color,
        },
    )
}

fn log() -> impl Strategy<Value = RandomLog> {
    let writers = prop::collection::vec(writer(), 1..5);
    let others = prop::collection::vec((any::<Index>(), writer()), 0..4);
    let order = prop::collection::vec(any::<Index>(), 1..40);
    (any::<Index>(), any::<Index>(), writers, others, order, any::<bool>(), any::<bool>()).prop_map(
        |(collector, launcher, writers, others, order, is_of_windows, has_bar)| RandomLog {
            collector,
            launcher,
            writers,
            others,
            order,
            is_of_windows,
            has_bar,
        },
    )
}

/// The lines of a message. One that takes its line is not wrapped.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let is_whole = takes_line(text) || text.contains("run 7");
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut from = 0;
        for (space, _) in line.match_indices(' ').filter(|_| !is_whole) {
            let next = line[space + 1..].find(' ').map_or(line.len(), |next| space + 1 + next);
            let is_text = space > text.find("W: Warning").or(text.find("[W]")).unwrap_or(0);
            if next - from > width && is_text && !ends_line(line, space) {
                lines.push(line[from..space].to_owned());
                from = space + 1;
            }
        }
        lines.push(line[from..].to_owned());
    }
    lines
}

/// A line as it is written at a time.
fn line_of(
    form: &str,
    rank: usize,
    tick: usize,
    level: &str,
    text: &str,
    has_color: bool,
) -> String {
    let clock = format!("{:02}:{:02}:{:02}", 3 + tick / 3600, tick / 60 % 60, tick % 60);
    let (before, is_json) = if form == JSON { ("", true) } else { (form, false) };
    let before = before
        .replace("{rank}", &rank.to_string())
        .replace("{pid}", &(4000 + rank).to_string())
        .replace("{clock}", &clock)
        .replace("{level}", level)
        .replace("{line}", &(100 + tick % 50).to_string());
    if is_json {
        let entry = serde_json::json!({
            "time": format!("2025-07-07T{clock}Z"), "level": level, "rank": rank, "message": text
        });
        return format!("{before}{entry}");
    }
    if has_color && !before.is_empty() {
        let (name, blank) = before.split_at(before.trim_end().len());
        return format!("\u{1b}[1;31m{name}\u{1b}[0m{blank}{text}");
    }
    format!("{before}{text}")
}

/// Finding and rank of each message, without the place and what follows from other messages.
fn facts(finding: &Finding) -> (String, Option<u64>) {
    let rank = finding.origin.as_ref().and_then(|origin| origin.rank);
    // What to do follows from the rest of the log, too.
    let bare = Finding { origin: None, advice: Vec::new(), ..finding.clone().at_line(0) };
    (format!("{bare:?}"), rank)
}

impl RandomLog {
    /// The log, and what is to be found in it.
    fn written(&self, messages: &[KnownMessage]) -> (String, Vec<(String, Option<u64>)>) {
        let collector = *self.collector.get(&COLLECTORS);
        let launcher = *self.launcher.get(&LAUNCHERS);
        let is_json = launcher == JSON;
        // A label of srun begins its line.
        let collector = if launcher == "{rank}: " || is_json { "" } else { collector };
        // Of two without names one may say what the other's failure was.
        let names = launcher.contains("{rank}") || is_json;
        let count = if names { self.writers.len() } else { 1 };
        let first = self.writers[0].example.get(messages);
        let of_first = &first.finding;
        // A log is of one device, and a process that is killed may come of any failure.
        // So may a part of one whose rank it names, of whoever has that rank.
        let names_rank =
            |one: &Finding| one.origin.as_deref().is_some_and(|origin| origin.rank.is_some());
        let is_alone = |one: &Finding| {
            matches!(one.kind, Kind::ProcessKilled | Kind::DeprecatedSetting)
                || (one.is_part && names_rank(one))
        };
        let like_first: Vec<&KnownMessage> = messages
            .iter()
            .map(|message| (message, &message.finding))
            .filter(|(_, one)| {
                one.device == of_first.device && !is_alone(one) && !is_alone(of_first)
            })
            .map(|(message, _)| message)
            .collect();
        let mut expected = Vec::new();
        let mut of_writers: Vec<Vec<String>> = Vec::new();
        let forms = self.writers.iter().take(count).enumerate().map(|(rank, writer)| {
            let logger = if is_json { "" } else { *writer.logger.get(&LOGGERS) };
            (format!("{collector}{launcher}{logger}"), rank + 1, writer, true)
        });
        let others = self.others.iter().enumerate().map(|(number, (launcher, writer))| {
            // Lines of two without names are not told apart.
            let other = match *launcher.get(&LAUNCHERS) {
                "" if !names => "node-{rank}: ",
                JSON => "trainer-{rank}  | ",
                other => other,
            };
            let form = format!("{other}{}", writer.logger.get(&LOGGERS));
            (form, 11 + number, writer, false)
        });
        for (number, (form, rank, writer, says)) in forms.chain(others).enumerate() {
            let ordinary =
                |at: usize| (ORDINARY[(at + writer.before * 3) % ORDINARY.len()], "INFO");
            let mut texts: Vec<(String, &str)> = (0..writer.before)
                .map(ordinary)
                .map(|(text, level)| (text.to_owned(), level))
                .collect();
            let example = if number == 0 || like_first.is_empty() {
                first
            } else {
                *writer.example.get(&like_first)
            };
            if says && (number == 0 || !like_first.is_empty()) {
                texts.extend(
                    wrapped(&example.text, writer.width).into_iter().map(|text| (text, "ERROR")),
                );
                let (finding, own_rank) = facts(&example.finding);
                let has_rank = is_json
                    || launcher == "{rank}: "
                    || NAMES_OF_RANKS.iter().any(|name| launcher.contains(name));
                let rank = own_rank.or(has_rank.then_some(rank as u64));
                expected.push((finding, rank));
            }
            texts.extend(
                (5..5 + writer.after).map(ordinary).map(|(text, level)| (text.to_owned(), level)),
            );
            of_writers.push(
                texts
                    .into_iter()
                    .enumerate()
                    .map(|(at, (text, level))| {
                        line_of(&form, rank, number * 7 + at, level, &text, writer.has_color)
                    })
                    .rev()
                    .collect(),
            );
        }
        let end = if self.is_of_windows { "\r\n" } else { "\n" };
        let mut log = String::new();
        let mut order = self.order.iter().cycle();
        while of_writers.iter().any(|lines| !lines.is_empty()) {
            let left: Vec<usize> =
                (0..of_writers.len()).filter(|index| !of_writers[*index].is_empty()).collect();
            let next = order.next().map_or(0, |next| *next.get(&left));
            if self.has_bar && next.is_multiple_of(3) && !is_json {
                log += BAR;
            }
            log += &of_writers[next].pop().unwrap_or_default();
            log += end;
        }
        (log, expected)
    }
}

/// The known messages with what is found in each alone.
static MESSAGES: LazyLock<Vec<KnownMessage>> = LazyLock::new(|| {
    let alone = |Example { text, .. }| KnownMessage { finding: diagnose(&text).remove(0), text };
    examples().into_iter().map(alone).collect()
});

fn check(log: &RandomLog) -> Result<(), TestCaseError> {
    let (text, mut expected) = log.written(&MESSAGES);
    let mut found: Vec<_> = diagnose(&text).iter().map(facts).collect();
    found.sort();
    expected.sort();
    prop_assert_eq!(found, expected, "{}", text);
    Ok(())
}

fn config(cases: u32) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(40);
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn messages_are_found_whoever_writes(mut log in log()) {
        log.writers.iter_mut().for_each(|writer| writer.width = usize::MAX);
        check(&log)?;
    }
}

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn messages_are_found_whoever_writes_and_wraps(log in log()) {
        check(&log)?;
    }
}
