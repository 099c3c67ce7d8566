//! Finds the files of a report.

use std::path::{Path, PathBuf};

use crate::files::{self, read_up_to_at};
use crate::format::sqlite::{Database, has_tables, size_of_file};
use crate::format::{Error, ErrorKind, Progress};
use crate::limits;
use crate::store::Warnings;

/// The database of a report in its folder.
pub const DATABASE: &str = "db.sqlite";

/// Side files that are read, at most: a report has two for each of its ranks.
const MOST_SIDE_FILES: usize = 4096;

/// Bytes by which a capture is known.
const HEAD_BYTES: usize = 64 << 10;
/// Parts that only captures begin with, and those that other files may begin with, too.
const PARTS_OF_CAPTURES: [&str; 4] =
    ["buffer_pages", "buffer_pages_by_address", "cluster_descriptor", "per_operation_buffers"];
const OTHER_PARTS: [&str; 6] =
    ["devices", "graph", "metadata", "mesh_coordinate_mapping", "python_io", "version"];

/// The database that a path names: itself, or the one in a folder.
pub fn database_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(DATABASE) } else { path.to_owned() }
}

/// Whether a file is the database of a report, by its tables.
pub fn is_report(database: &Path) -> bool {
    has_tables(database, &["operations", "buffers"])
}

/// Whether a file is the database of a report, so damaged that its tables are not known: it is called so, and SQLite cannot
/// list them.
pub fn is_damaged_report(database: &Path) -> bool {
    let is_called_so = database.file_name().is_some_and(|name| name == DATABASE);
    is_called_so && why_unlisted(database).is_some()
}

/// What SQLite says of a database whose tables it cannot list.
fn why_unlisted(database: &Path) -> Option<String> {
    let (warnings, progress) = (Warnings::default(), Progress::default());
    let refuse = |_: &Path, _: &[u8]| Error::new(ErrorKind::NotAReport, "no database");
    let database = Database::open(database, refuse, &warnings, &progress).ok()?;
    match database.tables(&warnings, &progress) {
        Ok(tables) => tables.schema_error().map(str::to_owned),
        Err(error) => (error.kind == ErrorKind::Damaged).then_some(error.message),
    }
}

/// Whether a file is a raw capture: an object with the parts of one, or the list of nodes alone.
pub fn is_capture(path: &Path) -> bool {
    let Ok(file) = files::open(path) else { return false };
    let mut head = vec![0; HEAD_BYTES];
    let read = read_up_to_at(&file, &mut head, 0).unwrap_or(0);
    head.truncate(read);
    let text = String::from_utf8_lossy(&head);
    let text = text.trim_start();
    let has = |word: &str| text.contains(&format!("\"{word}\""));
    if text.starts_with('[') {
        // The first node begins the capture.
        return text.get(1..).is_some_and(|rest| rest.trim_start().starts_with('{'))
            && has("node_type")
            && has("capture_start")
            && !has("input_tensor_ids");
    }
    let Some(inside) = text.strip_prefix('{') else { return false };
    let mut words = inside.trim_start().strip_prefix('"').unwrap_or_default().split('"');
    let first = words.next().unwrap_or_default();
    PARTS_OF_CAPTURES.contains(&first)
        || OTHER_PARTS.contains(&first)
            && ["node_type", "worker_l1_size", "capture_timestamp_ns"].into_iter().any(has)
}

/// The captures of one run in a folder, by the numbers of their ranks: `graph_capture_1_of_2.json`. Empty where there are
/// none, or fewer than their names say.
pub fn captures_of_ranks(folder: &Path) -> Vec<PathBuf> {
    let names = files::listed(folder).into_iter().flatten();
    let numbered = names.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let (start, of) = name.strip_suffix(".json")?.rsplit_once("_of_")?;
        let (_, number) = start.rsplit_once('_')?;
        let (number, of): (u64, u64) = (number.parse().ok()?, of.parse().ok()?);
        let path = entry.path();
        is_capture(&path).then_some((number, of, path))
    });
    let mut found: Vec<(u64, u64, PathBuf)> = numbered.take(limits::RANKS_OF_REPORT).collect();
    found.sort();
    let is_whole = found
        .iter()
        .zip(1..)
        .all(|((number, of, _), place)| *number == place && *of == found.len() as u64);
    if is_whole { found.into_iter().map(|(_, _, path)| path).collect() } else { Vec::new() }
}

/// The files beside a database or a capture that say something of it, with their sizes, by name. One that is no file has
/// no size; who reads it says so.
#[derive(Debug)]
pub struct SideFiles {
    /// Where they lie.
    pub folder: PathBuf,
    files: Vec<(String, Option<u64>)>,
}

impl SideFiles {
    /// Lists those in a folder.
    pub fn of(folder: &Path) -> Self {
        let is_one = |name: &str| {
            let ends = |ending: &str| name.ends_with(ending);
            name.starts_with("config") && ends(".json")
                || name.starts_with("cluster_descriptor") && ends(".yaml")
        };
        let names = files::listed(folder).into_iter().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> =
            names.filter(|name| is_one(name)).take(MOST_SIDE_FILES).collect();
        names.sort();
        let sized = names.into_iter().map(|name| {
            let bytes = size_of_file(&folder.join(&name));
            (name, bytes)
        });
        Self { folder: folder.to_owned(), files: sized.collect() }
    }

    /// Each with its bytes.
    pub fn iter(&self) -> impl Iterator<Item = &(String, Option<u64>)> {
        self.files.iter()
    }

    /// The first with such a name.
    pub fn find(&self, is_it: impl Fn(&str) -> bool) -> Option<&str> {
        self.files.iter().map(|(name, _)| &**name).find(|name| is_it(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_are_known_by_what_they_begin_with() {
        let folder = tempfile::tempdir().unwrap();
        let is = |text: &str| {
            let path = folder.path().join("some.json");
            std::fs::write(&path, text).unwrap();
            is_capture(&path)
        };
        let node = r#"{"arguments": [], "node_type": "capture_start", "params": null}"#;
        assert!(is(&format!(" [{node}")));
        assert!(is(&format!("{{\n \"graph\": [{node}]}}")));
        assert!(is(r#"{"version": 1, "devices": [{"worker_l1_size": 3"#));
        assert!(is(r#"{"cluster_descriptor": "arch:"#));
        for other in [
            "",
            "{",
            "[",
            "{}",
            "[1]",
            "{\"graph\": []}",
            "{\"version\": 1}",
            "[{\"name\": \"a\"}]",
        ] {
            assert!(!is(other), "{other}");
        }
        assert!(!is(&format!(
            "[{{\"name\": \"a\", \"input_tensor_ids\": [], \"captured_graph\": [{node}]}}]"
        )));
    }

    #[test]
    fn captures_of_ranks_are_one_run_where_all_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            std::fs::write(folder.path().join(name), "{\"cluster_descriptor\": \"\"}").unwrap();
            captures_of_ranks(folder.path()).len()
        };
        assert_eq!(write("graph_capture.json"), 0);
        assert_eq!(write("graph_capture_2_of_2.json"), 0);
        assert_eq!(write("graph_capture_1_of_2.json"), 2);
    }
}
