//! `tilescope check --format` as a CI job reads it: annotations, a JUnit report, a table; the exit status stays.

use std::path::PathBuf;
use std::process::Command;

use roxmltree::{Document, Node};

use crate::common::pickle::pickle;
use crate::common::{in_package, sample, tilescope};

/// What `check RUN … --format FORMAT` prints, with its exit status.
fn printed(run: &str, budgets: &[&str], format: &str) -> (Option<i32>, String) {
    let output = tilescope(&[&["check", run], budgets, &["--format", format]].concat());
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// A run of each system with a budget that it keeps and one that it does not.
fn runs() -> Vec<String> {
    let runs = [
        sample(),
        in_package("sample_profiles/training/segments-0"),
        in_package("tests/captures/gpu/xla/base"),
    ];
    runs.iter().map(|path: &PathBuf| path.display().to_string()).collect()
}

const BUDGETS: [&str; 4] = ["--max-total-bytes", "1TB", "--max-peak-bytes", "1K"];

fn elements<'a>(document: &'a Document, name: &str) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|node| node.has_tag_name(name)).collect()
}

#[test]
fn text_is_the_usual_answer() {
    for run in runs() {
        let usual = tilescope(&[&["check", &run], &BUDGETS[..]].concat());
        assert_eq!(usual.status.code(), Some(1));
        let usual = String::from_utf8(usual.stdout).unwrap();
        assert_eq!(printed(&run, &BUDGETS, "text"), (Some(1), usual));
    }
}

#[test]
fn github_shows_what_is_not_kept() {
    for run in runs() {
        let (status, text) = printed(&run, &BUDGETS, "github");
        assert_eq!(status, Some(1), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Failed: 1 of 2 budgets are not kept");
        assert!(lines[1].starts_with("passed max-total-bytes: "), "{text}");
        let title = "::error title=tilescope check%3A max-peak-bytes::";
        assert!(lines[2].starts_with(title) && lines[2].contains("more than"), "{text}");
        assert_eq!(lines.len(), 3);
    }
}

#[test]
fn junit_has_a_case_for_each_budget() {
    for run in runs() {
        let (status, text) = printed(&run, &BUDGETS, "junit");
        assert_eq!(status, Some(1), "{text}");
        let document = Document::parse(&text).unwrap();
        let suites = elements(&document, "testsuite");
        assert_eq!((suites.len(), suites[0].attribute("name")), (1, Some(&*run)));
        let cases = elements(&document, "testcase");
        let names: Vec<_> = cases.iter().filter_map(|case| case.attribute("name")).collect();
        assert_eq!(names, ["max-total-bytes", "max-peak-bytes"]);
        let failures = elements(&document, "failure");
        assert_eq!(failures.len(), 1);
        assert_eq!(failures[0].parent(), Some(cases[1]));
    }
}

#[test]
fn cases_of_growth_have_names_of_their_own() {
    let run = in_package("sample_profiles/pair-0.6").display().to_string();
    let (status, text) = printed(
        &run,
        &["--baseline", &sample().display().to_string(), "--max-growth", "0"],
        "junit",
    );
    assert_eq!(status, Some(1), "{text}");
    let document = Document::parse(&text).unwrap();
    let mut names: Vec<_> =
        elements(&document, "testcase").iter().filter_map(|case| case.attribute("name")).collect();
    let all = names.len();
    names.dedup();
    assert_eq!((all, names.len()), (3, 3), "{names:?}");
}

#[test]
fn markdown_is_a_table() {
    for run in runs() {
        let (status, text) = printed(&run, &BUDGETS, "markdown");
        assert_eq!(status, Some(1), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 4, "{text}");
        assert!(rows[2].starts_with("| max-total-bytes | passed | "), "{text}");
        assert!(rows[3].starts_with("| max-peak-bytes | **failed** | "), "{text}");
    }
}

#[test]
fn what_cannot_be_read_is_an_error_in_each_format() {
    for (format, expected) in [
        ("github", "::error title=tilescope check%3A cannot check::/no/such/path"),
        ("junit", "<error type=\"not-found\""),
        ("markdown", "Cannot check"),
    ] {
        let output = tilescope(&["check", "/no/such/path", "--must-fit", "--format", format]);
        assert_eq!(output.status.code(), Some(3), "{format}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(expected), "{text}");
        // What is kept in a file is no use to who reads the log; an annotation is in it.
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.starts_with("error: /no/such/path"), format != "github", "{said}");
        assert_eq!(said.is_empty(), format == "github", "{said}");
    }
    let output = tilescope(&["check", "/no/such/path", "--must-fit", "--format", "junit"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let document = Document::parse(&text).unwrap();
    assert_eq!(elements(&document, "testsuite")[0].attribute("errors"), Some("1"));
    let output =
        tilescope(&["check", "/no/such/path", "--must-fit", "--format", "junit", "--json"]);
    assert_eq!(output.status.code(), Some(2));
}

/// GitHub's runner looks for commands on standard error, too.
#[test]
fn no_name_gives_the_runner_a_command() {
    for run in
        ["/no/such\n ::add-mask::x\n##[add-mask]y", "::a", "##[b]", "a\u{1b}[0m\n\u{1b}[0m::c"]
    {
        for format in ["text", "github", "junit"] {
            let output = Command::new(env!("CARGO_BIN_EXE_tilescope"))
                .args(["check", run, "--must-fit", "--format", format])
                .env("GITHUB_ACTIONS", "true")
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(3));
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(!said.contains("##["), "{said}");
            let begins = |line: &str| line.trim_start().starts_with("::");
            assert!(!said.split(['\n', '\r']).any(begins), "{said}");
            // A report in XML is for a file.
            if format == "junit" {
                continue;
            }
            let text = String::from_utf8(output.stdout).unwrap();
            let commands: Vec<&str> = text.lines().filter(|line| begins(line)).collect();
            assert!(commands.iter().all(|line| line.starts_with("::error title=")), "{text}");
            assert_eq!(commands.len(), usize::from(format == "github"), "{text}");
            assert!(format != "github" || !text.contains("##["), "{text}");
        }
    }
}

#[test]
fn no_name_leaves_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let name = "a|b ]]> &amp; <x> %, `c` ::error::\n\u{1b}[31m.pickle";
    let path = directory.path().join(name);
    let empty = serde_json::json!({ "segments": [], "device_traces": [] });
    for run in [Some(pickle(&empty)), None] {
        match run {
            Some(run) => std::fs::write(&path, run).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let run = path.to_str().unwrap();
        let (status, text) = printed(run, &["--max-peak-bytes", "1K"], "junit");
        let document = Document::parse(&text).unwrap();
        let suite = elements(&document, "testsuite")[0].attribute("name").unwrap();
        assert!(suite.contains("a|b ]]> &amp; <x>"), "{suite}");
        assert!(suite.contains("::error::\\u{a}\\u{1b}[31m"), "{suite}");
        let (same, text) = printed(run, &["--max-peak-bytes", "1K"], "markdown");
        assert_eq!(status, same);
        let heading = text.lines().next().unwrap();
        assert!(heading.contains("a\\|b \\]\\]\\> \\&amp; \\<x\\>"), "{heading}");
        assert!(heading.contains("\\\\u{a}\\\\u{1b}\\[31m"), "{heading}");
        let (_, text) = printed(run, &["--max-peak-bytes", "1K"], "github");
        assert_eq!(text.lines().filter(|line| line.starts_with("::error")).count(), 1, "{text}");
    }
}
