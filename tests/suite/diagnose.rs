//! `diagnose` as a user runs it, and on real logs.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tilescope::diagnose::{Finding, Kind, diagnose, diagnose_reader};
use tilescope::format::Progress;

const MESSAGE: &str =
    "Out of memory on tile 12: 270336 bytes used but tiles only have 262144 bytes of memory";

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    command.arg("diagnose").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the command with a text on standard input.
fn piped(arguments: &[&str], text: &[u8]) -> Output {
    let mut child = command(arguments).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text).unwrap();
    child.wait_with_output().unwrap()
}

fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON document and nothing else")
}

#[test]
fn a_pipe_gives_the_fixed_keys() {
    let log = format!("\u{1b}[31mTraceback\u{1b}[0m\r\n\r\nRuntimeError: {MESSAGE}\r\n\u{fffd}");
    let answer = json(&piped(&["--json"], log.as_bytes()));
    assert_eq!(answer["schema"], "tilescope.diagnose/2");
    assert_eq!(answer["lines"], 4);
    let [finding] = &answer["findings"].as_array().unwrap()[..] else { panic!("{answer}") };
    let keys: Vec<&str> = finding.as_object().unwrap().keys().map(String::as_str).collect();
    for key in [
        "kind",
        "line",
        "text",
        "device",
        "tile",
        "used_bytes",
        "limit_bytes",
        "excess_bytes",
        "exchange",
        "profile",
        "advice",
    ] {
        assert!(keys.contains(&key), "{key} in {keys:?}");
    }
    assert_eq!(finding["kind"], "tile-out-of-memory");
    assert_eq!((&finding["line"], &finding["text"]), (&3.into(), &MESSAGE.into()));
    assert_eq!((&finding["device"], &finding["tile"]), (&"ipu".into(), &12.into()));
    assert_eq!(finding["excess_bytes"], 8192);
    assert_eq!((&finding["exchange"], &finding["profile"], &finding["file"]), Default::default());
}

#[test]
fn several_files_and_standard_input_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("a.log"), format!("{MESSAGE}\n")).unwrap();
    std::fs::write(path("b.log"), format!("\n{MESSAGE}; {MESSAGE}")).unwrap();
    let files = [&*path("a.log"), "-", &path("b.log")];
    let answer = json(&piped(&[&files[..], &["--json"]].concat(), MESSAGE.as_bytes()));
    let places: Vec<_> = answer["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["file"].as_str(), finding["line"].as_u64().unwrap()))
        .collect();
    let expected = [(Some(files[0]), 1), (None, 1), (Some(files[2]), 2), (Some(files[2]), 2)];
    assert_eq!(places, expected);
    let text = String::from_utf8(piped(&files, MESSAGE.as_bytes()).stdout).unwrap();
    assert!(text.starts_with("Tile out of memory, 4 times\n"), "{text}");
    assert!(text.contains("b.log, line 2: Out of memory on tile 12"), "{text}");
    assert!(text.contains("tile 12, used 264.0 KiB of 256.0 KiB, 8.00 KiB too much"), "{text}");
    assert!(text.contains("What to do: Tile out of memory ("), "{text}");
}

#[test]
fn the_text_is_safe_and_has_an_end() {
    let name = "cs1_1/\u{7}\u{202e}conv";
    let log = format!(
        "{}Tile 1 receives more data than it has total memory in exchange '{name}'\n",
        format!("{MESSAGE}\n").repeat(50)
    );
    let text = String::from_utf8(piped(&[], log.as_bytes()).stdout).unwrap();
    assert!(!text.contains(['\u{7}', '\u{1b}', '\u{202e}']), "{text}");
    assert!(text.contains("… and 30 more"), "{text}");
    assert!(text.contains("Exchange too large, once\n"), "{text}");
    assert!(text.lines().count() < 80, "{text}");
    let nothing = piped(&[], b"all is well\n");
    assert_eq!(nothing.status.code(), Some(0));
    assert_eq!(nothing.stdout, b"Nothing about memory in 1 line.\n");
}

#[test]
fn a_line_that_was_not_read_to_its_end_is_told() {
    let log = format!("{}{MESSAGE}\n", "x".repeat(2 << 20));
    let text = String::from_utf8(piped(&[], log.as_bytes()).stdout).unwrap();
    assert!(text.starts_with("Nothing about memory in 1 line.\n1 line is longer"), "{text}");
    let answer = json(&piped(&["--json"], log.as_bytes()));
    assert_eq!((&answer["lines"], &answer["cut_lines"]), (&1.into(), &1.into()));
}

#[test]
fn messages_that_were_read_without_the_lines_around_them_are_counted() {
    let few = json(&piped(&["-", "--json"], MESSAGE.as_bytes()));
    assert_eq!(few["less_read_findings"], 0);
    let line =
        |rank| format!("[rank{rank}]: step {rank}{}\n[rank{rank}]: {MESSAGE}\n", " x".repeat(4000));
    let log: String = (0..3_500).map(line).collect();
    let many = json(&piped(&["-", "--json"], log.as_bytes()));
    let less_read = many["less_read_findings"].as_u64().unwrap();
    assert!((1..3_500).contains(&less_read), "{less_read}");
}

#[test]
fn what_cannot_be_read_ends_with_3() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().to_str().unwrap();
    for (path, kind) in [("/no/such/log", "not-found"), (directory, "unreadable")] {
        let output = command(&[path, "--json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&answer["schema"], &answer["error"]["kind"]),
            (&"tilescope.error/2".into(), &kind.into())
        );
        assert_eq!(answer["error"]["file"], path);
        let output = command(&[path]).output().unwrap();
        assert!(output.stdout.is_empty());
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: "));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_no_log() {
    // The controlling end of a pair of terminals is a terminal, too.
    let terminal = File::open("/dev/ptmx").unwrap();
    for arguments in [&[][..], &["--json"]] {
        let output = command(arguments).stdin(terminal.try_clone().unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("Usage"));
    }
}

/// The findings of a real log, which is not part of this package; says so where it is absent.
fn real_log(name: &str) -> Option<(String, Vec<Finding>)> {
    let path = crate::common::real_report("poplar-text")?.join(name);
    let diagnosis = diagnose_reader(File::open(&path).unwrap()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(diagnosis.findings, diagnose(&text), "{name}");
    assert_eq!(diagnosis.lines as usize, text.lines().count(), "{name}");
    Some((text, diagnosis.findings))
}

#[test]
fn a_real_log_has_sixteen_errors() {
    let Some((text, findings)) = real_log("lbm-graphcore_min-partition-size-output.txt") else {
        return;
    };
    // What the file says, read in another way.
    let number =
        |words: &[&str], place: usize| words[place].trim_end_matches(':').parse::<u64>().unwrap();
    let expected: Vec<_> = (1_u64..)
        .zip(text.lines())
        .filter(|(_, line)| line.contains("bytes used"))
        .map(|(line, text)| {
            let words: Vec<&str> = text.split_whitespace().collect();
            (line, number(&words, 6), number(&words, 7), number(&words, 14))
        })
        .collect();
    assert_eq!(expected.len(), 16);
    let facts = |finding: &Finding| {
        assert_eq!(finding.kind, Kind::TileOutOfMemory);
        let (used, limit) = (finding.used_bytes.unwrap(), finding.limit_bytes.unwrap());
        assert_eq!(finding.excess_bytes, Some(used - limit));
        (finding.line, finding.tile.unwrap(), used, limit)
    };
    assert_eq!(findings.iter().map(facts).collect::<Vec<_>>(), expected);
    assert_eq!(findings.iter().map(|finding| finding.tile.unwrap()).max(), Some(2435));
}

#[test]
fn real_output_without_errors_gives_none() {
    for name in [
        "examples-tut6_execution-summary.md",
        "lbm-graphcore_exchange-vs-compute.txt",
        "lbm-graphcore_halo-exchange-results.txt",
    ] {
        let Some((_, findings)) = real_log(name) else { return };
        assert_eq!(findings, [], "{name}");
    }
}

/// Two summaries say themselves that tiles are out of memory.
#[test]
fn real_summaries_that_do_not_fit_are_found() {
    for (name, line, tiles_out, used, limit) in [
        ("tensorflow-2017-static-dynamic-report.txt", 49, 1, 2_184_449, None),
        ("tensorflow-docs_logging_report-blocks.rst", 153, 2, 834_416, Some(262_144)),
    ] {
        let Some((_, findings)) = real_log(name) else { return };
        let [finding] = &findings[..] else { panic!("{name}: {findings:#?}") };
        assert_eq!((finding.kind, finding.line), (Kind::TilesOutOfMemory, line), "{name}");
        assert_eq!((finding.tiles_out, finding.tile), (Some(tiles_out), Some(0)), "{name}");
        assert_eq!((finding.used_bytes, finding.limit_bytes), (Some(used), limit), "{name}");
        assert_eq!(finding.excess_bytes, limit.map(|limit| used - limit), "{name}");
    }
}

#[test]
fn the_log_of_a_synthetic_report_has_its_warnings() {
    let options = tilescope::systems::poplar::synth::ReportOptions {
        proportion: 0.005,
        ..Default::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report");
    tilescope::systems::poplar::synth::write_report(&options, &path, &Progress::default()).unwrap();
    let log = std::fs::read_to_string(path.join("compile.log")).unwrap();
    let findings = diagnose(&log);
    assert_eq!(findings.len(), log.lines().count());
    assert!(!findings.is_empty());
    assert!(findings.iter().all(|finding| finding.kind == Kind::PlannerAtMinimum));
}

#[test]
fn error_messages_are_written_from_the_table() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/user/error-messages.md");
    let page = tilescope::diagnose::page();
    if std::env::var_os("TILESCOPE_RECORD").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let stored = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(stored == page, "{} is out of date: TILESCOPE_RECORD=1 writes it", file.display());
}

/// Line ends can be read as fields of a message of XLA.
#[test]
fn a_log_may_begin_with_blank_lines() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("train.log");
    for blank in [1, 3, 12, 1200] {
        std::fs::write(&log, "\n".repeat(blank) + MESSAGE).unwrap();
        let output = crate::common::tilescope(&["diagnose", "--json", log.to_str().unwrap()]);
        assert_eq!(
            crate::common::json(&output)["findings"].as_array().unwrap().len(),
            1,
            "{blank}"
        );
    }
}
