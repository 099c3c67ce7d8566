//! Texts that a test stores in the repository and compares: what a program says of its samples.

#![allow(dead_code, reason = "every test binary uses its own part of this")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;

/// With this variable set to 1 texts are stored instead of compared.
const RECORD: &str = "TILESCOPE_RECORD";
/// Differences that a failing test shows.
const MOST_SHOWN: usize = 12;
/// Lines of a difference that a failing test shows.
const SHOWN_LINES: usize = 6;

/// How much of a long text is stored.
#[derive(Clone, Copy, Debug)]
pub struct Shortened {
    /// A text of at most so many bytes is stored whole.
    pub whole_bytes: usize,
    /// So much of the beginning of a longer one is stored.
    pub head_bytes: usize,
    /// Blocks of the lines behind the head, each of which has a hash.
    pub blocks: usize,
}

impl Shortened {
    /// The whole of a short text; the beginning of a long one, and a hash of each block of lines behind it.
    pub fn of(self, text: &str) -> String {
        if text.len() <= self.whole_bytes {
            return text.to_owned();
        }
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut bytes = 0;
        let head = lines.iter().take_while(|line| {
            bytes += line.len();
            bytes <= self.head_bytes
        });
        let head = head.count();
        let mut shortened = lines[..head].concat();
        let block = (lines.len() - head).div_ceil(self.blocks).max(20);
        for (number, block_lines) in (0..).zip(lines[head..].chunks(block)) {
            let first = head + number * block + 1;
            let last = first + block_lines.len() - 1;
            let hash = XxHash3_64::oneshot(block_lines.concat().as_bytes());
            let of = lines.len();
            writeln!(shortened, "[lines {first} to {last} of {of}: {hash:016x}]").expect("a text");
        }
        shortened
    }
}

/// A text as it is stored, and the whole of it, which is written out where it differs.
#[derive(Debug)]
pub struct Stored {
    pub text: String,
    pub whole: String,
}

/// Compares texts with those stored in a directory of the package, where each has a file and no other is; or
/// stores them.
#[track_caller]
pub fn assert_stored(directory: &str, test: &str, texts: &BTreeMap<String, Stored>) {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    if std::env::var_os(RECORD).is_some_and(|value| value == "1") {
        return store(&stored, texts);
    }
    let mut differences: Vec<(&str, String)> = Vec::new();
    let found = files_below(&stored);
    for name in found.iter().filter(|name| !texts.contains_key(*name)) {
        differences.push((name, "nothing writes this file any more\n".to_owned()));
    }
    for (name, now) in texts {
        match fs::read_to_string(stored.join(name)) {
            Ok(before) if before == now.text => {}
            Ok(before) => differences.push((name, difference(&before, &now.text))),
            Err(_) => differences.push((name, "this file is missing\n".to_owned())),
        }
    }
    if differences.is_empty() {
        return;
    }
    let whole = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stored").join(directory);
    let mut said = String::new();
    for (number, (name, difference)) in differences.iter().enumerate() {
        if let Some(now) = texts.get(*name) {
            write(&whole.join(name), &now.whole);
        }
        if number < MOST_SHOWN {
            write!(said, "{directory}/{name}: {difference}").expect("a text");
        }
    }
    let count = differences.len();
    if count > MOST_SHOWN {
        writeln!(said, "… and {} more", count - MOST_SHOWN).expect("a text");
    }
    panic!(
        "{count} of {} files differ, - stored, + now:\n{said}The whole texts of this run are in {}\n\
         If all of this is intended: {RECORD}=1 cargo test --all-features --test {test}",
        texts.len(),
        whole.display()
    );
}

fn store(directory: &Path, texts: &BTreeMap<String, Stored>) {
    for name in files_below(directory) {
        if !texts.contains_key(&name) {
            fs::remove_file(directory.join(name)).expect("a file");
        }
    }
    for (name, text) in texts {
        write(&directory.join(name), &text.text);
    }
    let bytes: usize = texts.values().map(|text| text.text.len()).sum();
    eprintln!("{} files with {bytes} bytes are in {}", texts.len(), directory.display());
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}

/// Every file below a directory, by its path there.
pub fn files_below(directory: &Path) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    let mut folders: Vec<PathBuf> = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let path = path.strip_prefix(directory).expect("it is below");
                files.insert(path.to_str().expect("UTF-8").replace('\\', "/"));
            }
        }
    }
    files
}

/// Lines around the first difference of two texts.
pub fn difference(stored: &str, now: &str) -> String {
    let (stored, now): (Vec<&str>, Vec<&str>) = (stored.lines().collect(), now.lines().collect());
    let same = stored.iter().zip(&now).take_while(|(stored, now)| stored == now).count();
    let mut text = format!("from line {}\n", same + 1);
    let mut add = |sign: char, lines: &[&str]| {
        for line in lines.iter().take(SHOWN_LINES) {
            let line: String = line.chars().take(200).collect();
            writeln!(text, "  {sign} {line}").expect("a text");
        }
    };
    add(' ', &now[same.saturating_sub(2)..same]);
    add('-', &stored[same..]);
    add('+', &now[same..]);
    text
}
