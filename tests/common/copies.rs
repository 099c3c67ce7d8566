//! Copies of reports, which tests may change.

use std::path::{Path, PathBuf};

/// A sample that ships with the program.
pub fn sample_named(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_profiles").join(name)
}

/// Copies the files of a report into a directory, which is made where there is none.
pub fn copy_into(report: &Path, directory: &Path) {
    std::fs::create_dir_all(directory).expect("a directory");
    for entry in std::fs::read_dir(report).expect("a report") {
        let entry = entry.expect("a file");
        std::fs::copy(entry.path(), directory.join(entry.file_name())).expect("a copy");
    }
}
