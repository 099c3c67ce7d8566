//! What error texts beside a module say of what the device has: a program that does not fit leaves its dump, and the
//! user the text beside it (formats/xla.md 8).

use std::fs;
use std::io::Read as _;
use std::path::Path;

use crate::analysis::diagnose::{Finding, Kind, diagnose_reader};
use crate::files;

/// Bytes of an error text that are looked at.
const MOST_BYTES: u64 = 1 << 20;
/// Texts of a directory that are looked at, and entries.
const MOST_TEXTS: usize = 16;
const MOST_ENTRIES: usize = 10_000;

/// What the main memory of the device has, as a text in the directory of a module says it.
pub(super) fn capacity_beside(module: &Path) -> Option<u64> {
    let entries = fs::read_dir(files::directory_of(module)).ok()?.flatten().take(MOST_ENTRIES);
    let mut texts: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| is_text_of_user(&files::file_name(path)) && path.is_file())
        .collect();
    texts.sort();
    texts.truncate(MOST_TEXTS);
    texts.iter().find_map(|path| capacity_of_text(path))
}

/// Whether a file is none of the compiler's own.
fn is_text_of_user(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "txt" | "log" | "err" | "out") && !name.contains("module_")
}

fn capacity_of_text(path: &Path) -> Option<u64> {
    let file = files::open(path).ok()?;
    let found = diagnose_reader(file.take(MOST_BYTES)).ok()?;
    let is_of_main_memory = |finding: &&Finding| {
        finding.kind == Kind::TpuOutOfMemory
            && finding
                .memory_space
                .as_deref()
                .is_some_and(|space| space.eq_ignore_ascii_case("hbm"))
    };
    found.findings.iter().filter(is_of_main_memory).find_map(|finding| finding.limit_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_the_user_says_what_the_device_has() {
        let directory = tempfile::tempdir().unwrap();
        let module = directory.path().join("module_0001.f.after_optimizations.hlo.pb");
        let short = "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries \
                     (16.10G) exceeds available HBM (15.75G).";
        fs::write(directory.path().join("module_0001.f.notes.txt"), short).unwrap();
        fs::write(directory.path().join("a.txt"), "nothing of the kind").unwrap();
        assert_eq!(capacity_beside(&module), None);
        fs::write(directory.path().join("error.txt"), short).unwrap();
        assert_eq!(capacity_beside(&module), Some(16_911_433_728));
    }
}
