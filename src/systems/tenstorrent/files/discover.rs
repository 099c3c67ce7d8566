//! Finds the files of a report.

use std::path::{Path, PathBuf};

use crate::format::sqlite::{has_tables, size_of_file};

/// The database of a report in its folder.
pub const DATABASE: &str = "db.sqlite";

/// Side files that are read, at most: a report has two for each of its ranks.
const MOST_SIDE_FILES: usize = 4096;

/// The database that a path names: itself, or the one in a folder.
pub fn database_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(DATABASE) } else { path.to_owned() }
}

/// Whether a file is the database of a report, by its tables.
pub fn is_report(database: &Path) -> bool {
    has_tables(database, &["operations", "buffers"])
}

/// The files beside a database that say something of it, with their sizes, by name.
pub fn side_files(folder: &Path) -> Vec<(String, u64)> {
    let is_one = |name: &str| {
        let ends = |ending: &str| name.ends_with(ending);
        name.starts_with("config") && ends(".json")
            || name.starts_with("cluster_descriptor") && ends(".yaml")
    };
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_one(name)).take(MOST_SIDE_FILES).collect();
    names.sort();
    let sized = names.into_iter().filter_map(|name| {
        let bytes = size_of_file(&folder.join(&name))?;
        Some((name, bytes))
    });
    sized.collect()
}
