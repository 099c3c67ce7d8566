//! The files for CI: the action and the workflows of the documents are YAML. The command lines in them and in the other
//! blocks of the documents are right.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser as _;
use roxmltree::Document;
use saphyr::{LoadableYamlNode as _, Yaml};
use tilescope::cli::Arguments;

use crate::common::{in_package, sample};

/// What is run in place of a variable of a script.
const VARIABLES: [(&str, &str); 2] = [("$RUN", "run"), ("${budgets[@]}", "--must-fit")];

/// Documents that have blocks of this language, with those blocks.
fn blocks_of(language: &str) -> Vec<(PathBuf, String)> {
    let pages = std::fs::read_dir(in_package("docs/user")).unwrap();
    let pages = pages.map(|page| page.unwrap().path());
    let mut blocks = Vec::new();
    for page in pages.filter(|page| page.extension().is_some_and(|ending| ending == "md")) {
        let text = std::fs::read_to_string(&page).unwrap();
        let opening = format!("```{language}\n");
        for block in text.split(&opening).skip(1) {
            // A block may have quotes of the same kind within a line.
            let (block, _) = block.split_once("\n```\n").unwrap();
            blocks.push((page.clone(), block.to_owned()));
        }
    }
    blocks
}

/// The texts below keys that have scripts.
fn scripts(node: &Yaml, is_script: bool, found: &mut Vec<String>) {
    const KEYS: [&str; 4] = ["run", "script", "before_script", "after_script"];
    if let Some(mapping) = node.as_mapping() {
        for (key, value) in mapping {
            let is_script = key.as_str().is_some_and(|key| KEYS.contains(&key));
            scripts(value, is_script, found);
        }
    } else if let Some(sequence) = node.as_sequence() {
        for value in sequence {
            scripts(value, is_script, found);
        }
    } else if let Some(text) = node.as_str().filter(|_| is_script) {
        found.push(text.to_owned());
    }
}

fn scripts_of(file: &Path, yaml: &str) -> Vec<String> {
    let documents = Yaml::load_from_str(yaml);
    let documents = documents.unwrap_or_else(|error| panic!("{}: {error}\n{yaml}", file.display()));
    assert_eq!(documents.len(), 1, "{}: {yaml}", file.display());
    let mut found = Vec::new();
    scripts(&documents[0], false, &mut found);
    found
}

/// The command lines of a script that run the program, without what a shell makes of their output.
fn command_lines(script: &str) -> Vec<Vec<String>> {
    let script = script.replace("\\\n", " ");
    let lines = script.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let lines = lines.filter(|line| line.contains("tilescope "));
    let words = lines.map(|line| shlex::split(line).unwrap_or_else(|| panic!("{line}")));
    let is_end =
        |word: &String| [">", ">>", "2>", "2>&1", "|", "||", "&&", ";", "#"].contains(&&**word);
    let mut commands = Vec::new();
    for words in words {
        for command in words.split(is_end) {
            if command.first().is_some_and(|word| word == "tilescope") {
                commands.push(command.to_vec());
            }
        }
    }
    commands
}

/// Fails where the program would refuse a command line of a script; how many there are.
fn assert_accepted(file: &Path, script: &str) -> usize {
    let commands = command_lines(script);
    for command in &commands {
        let value = |word: &String| {
            let variable = VARIABLES.iter().find(|(variable, _)| word == variable);
            variable.map_or(word.clone(), |(_, value)| (*value).to_owned())
        };
        let words: Vec<String> = command.iter().map(value).collect();
        let parsed = Arguments::try_parse_from(&words);
        assert!(parsed.is_ok(), "{}: {words:?}: {}", file.display(), parsed.unwrap_err());
    }
    commands.len()
}

fn action() -> (PathBuf, String) {
    let file = in_package("action.yml");
    let text = std::fs::read_to_string(&file).unwrap();
    (file, text)
}

#[test]
fn every_command_line_of_the_documents_is_accepted() {
    let mut count = 0;
    for (file, yaml) in blocks_of("yaml").into_iter().chain([action()]) {
        let scripts = scripts_of(&file, &yaml);
        assert!(!scripts.is_empty(), "{}: {yaml}", file.display());
        count += scripts.iter().map(|script| assert_accepted(&file, script)).sum::<usize>();
    }
    assert!(count >= 10, "{count}");
    let shell = blocks_of("sh").into_iter();
    let of_shell: usize = shell.map(|(file, block)| assert_accepted(&file, &block)).sum();
    assert!(of_shell >= 15, "{of_shell}");
}

#[test]
fn a_wrong_command_line_would_be_found() {
    let script = "a=1\ntilescope check run --max-peak 5 > x || true\n";
    let found = command_lines(script);
    assert_eq!(found, [["tilescope", "check", "run", "--max-peak", "5"]]);
    assert!(Arguments::try_parse_from(&found[0]).is_err());
}

/// The script of the action as GitHub runs it: annotations, a table, a JUnit report, and the exit status of the check.
#[test]
fn the_action_checks_and_reports() {
    let (file, yaml) = action();
    let script = scripts_of(&file, &yaml).pop().unwrap();
    assert!(!script.contains("${{"), "inputs come by the environment: {script}");
    let directory = tempfile::tempdir().unwrap();
    let [summary, junit] = ["summary.md", "a b.xml"].map(|name| directory.path().join(name));
    let program = Path::new(env!("CARGO_BIN_EXE_tilescope"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let run = |run: &Path, budgets: &str| {
        let output = Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script])
            .env("PATH", &path)
            .env("RUN", run)
            .env("BUDGETS", budgets)
            .env("JUNIT", &junit)
            .env("GITHUB_STEP_SUMMARY", &summary)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, text) = run(&sample(), "--max-total-bytes 1TB\n--must-fit $(touch x) *");
    assert_eq!(status, Some(2), "budgets are words, not a script: {text}");
    let (status, text) = run(&sample(), "--max-total-bytes 1TB\n--must-fit");
    assert_eq!((status, text.contains("::error")), (Some(0), false), "{text}");
    let (status, text) = run(&sample(), "--max-total-bytes 1TB --max-peak-bytes 1K");
    assert_eq!((status, text.matches("::error").count()), (Some(1), 1), "{text}");
    let xml = std::fs::read_to_string(&junit).unwrap();
    let document = Document::parse(&xml).unwrap();
    assert_eq!(document.root_element().attribute("failures"), Some("1"));
    let (status, text) = run(Path::new("/no/such/run"), "--must-fit");
    assert_eq!((status, text.matches("::error").count()), (Some(3), 1), "{text}");
    let summary = std::fs::read_to_string(&summary).unwrap();
    assert_eq!(summary.matches("| **failed** |").count(), 1, "{summary}");
    assert_eq!(summary.matches("Cannot check").count(), 1, "{summary}");
}
