//! `tilescope report`: one HTML file that needs nothing but itself, of runs of every system.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::common::tilescope;

/// Bytes of a page at most.
const MOST_BYTES: usize = 2 << 20;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_profiles").join(name)
}

/// The page of these runs.
fn page_of(runs: &[PathBuf]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let mut arguments = vec!["report".to_owned()];
    arguments.extend(runs.iter().map(|run| run.display().to_string()));
    arguments.extend(["-o".to_owned(), file.display().to_string()]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = tilescope(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(&file).unwrap()
}

/// What stands between two marks, each time.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Vec<&'a str> {
    let parts = text.split(before).skip(1);
    parts.map(|part| part.split(after).next().unwrap_or_default()).collect()
}

/// Fails where a page would ask for anything, or where what it runs is not what it allows.
fn check_needs_nothing(page: &str) {
    assert!(page.len() < MOST_BYTES, "{} bytes", page.len());
    let policy = between(page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    let [policy] = policy[..] else { panic!("one policy is expected: {policy:?}") };
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let [style] = between(page, "<style>", "</style>")[..] else { panic!("one style is expected") };
    let [script] = between(page, "<script>", "</script>")[..] else {
        panic!("one script is expected")
    };
    assert!(policy.contains(&format!("style-src {}", hash(style))), "{policy}");
    assert!(policy.contains(&format!("script-src {}", hash(script))), "{policy}");
    for asking in ["<link", "<img", "<iframe", " src=", "@import", "url(", " style=", " onclick="] {
        let markup = page.replace(script, "").replace(style, "");
        assert!(!markup.contains(asking), "{asking}");
        assert!(!style.contains(asking), "{asking} in the style");
    }
    for data in between(page, "<script type=\"application/json\" id=\"", "</script>") {
        let (_, json) = data.split_once('>').unwrap();
        let data: serde_json::Value = serde_json::from_str(json).unwrap();
        let layers = data["layers"].as_array().unwrap();
        assert!(!layers.is_empty() && layers.len() == data["groups"].as_array().unwrap().len());
    }
}

#[test]
fn a_page_of_each_system_has_verdict_curve_peak_and_advice() {
    for (name, words) in [
        ("does-not-fit", ["Does not fit", "Lower availableMemoryProportion", "Memory over steps"]),
        ("training/segments-0", ["Ran", "Checkpoint activations", "Memory over events"]),
        ("xla/keep", ["bytes", "jax.checkpoint", "Memory over"]),
        ("tenstorrent/too-large", ["Out of memory", "What to try", "Memory over operations"]),
    ] {
        let page = page_of(&[sample(name)]);
        check_needs_nothing(&page);
        for word in words.iter().chain(&["Who owns the peak", "<svg", "Addresses over"]) {
            assert!(page.contains(word), "{word} in the page of {name}");
        }
        assert!(!page.contains("What changed"), "{name} is alone");
    }
}

#[test]
fn of_several_runs_it_is_said_what_changed() {
    for runs in [
        &["pair-0.2", "pair-0.6"][..],
        &["training/segments-0", "training/segments-2"],
        &["xla/keep", "xla/again", "xla/donate"],
        &["tenstorrent/l1", "tenstorrent/dram"],
    ] {
        let page = page_of(&runs.iter().map(|name| sample(name)).collect::<Vec<_>>());
        check_needs_nothing(&page);
        assert_eq!(page.matches("class=\"run\"").count(), runs.len());
        for word in ["What changed", "Figures", "Change"] {
            assert!(page.contains(word), "{word} in the page of {runs:?}");
        }
    }
}

#[test]
fn hostile_names_stay_text() {
    let folder = tempfile::tempdir().unwrap();
    let name = "x\"><script>alert(1)<";
    let run = folder.path().join(name);
    let from = sample("tiny");
    std::fs::create_dir(&run).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap().path();
        std::fs::copy(&file, run.join(file.file_name().unwrap())).unwrap();
    }
    let page = page_of(&[run]);
    check_needs_nothing(&page);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;"), "the name is on the page");
}

#[test]
fn nothing_is_written_into_a_run_and_runs_of_two_systems_are_refused() {
    let run = sample("tiny");
    let inside = run.join("page.html").display().to_string();
    let output = tilescope(&["report", &run.display().to_string(), "-o", &inside]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!run.join("page.html").exists());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html").display().to_string();
    let other = sample("training/segments-0").display().to_string();
    let output = tilescope(&["report", &run.display().to_string(), &other, "-o", &file]);
    assert_eq!(output.status.code(), Some(2));
    let missing = folder.path().join("missing/page.html").display().to_string();
    let output = tilescope(&["report", &other, "-o", &missing]);
    assert_eq!(output.status.code(), Some(4));
}
