//! Finds the files of a report from a path (formats/poplar.md "Directory layouts", definitions.md
//! "Reports in a directory").

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::files::{self, directory_of, file_name, in_place_of_file, not_a_file};
use crate::format::sqlite::{size_of_file, with_suffix};
use crate::format::{Error, ErrorKind};
use crate::progress::Progress;
use crate::store::report::{FileStatus, ReportFile};
use crate::store::{WarningCode, Warnings};

/// How deep reports are looked for below a directory.
const MAX_DEPTH: usize = 4;
/// How many directories are looked into.
const MAX_DIRECTORIES: usize = 20_000;

/// Entries of a directory between two looks at whether anybody still waits.
const ENTRIES_AT_ONCE: usize = 256;

/// Files of reports before SDK 2.1, which no reader here knows.
const LEGACY: [&str; 7] = [
    "graph.json",
    "graph.cbor",
    "execution.json",
    "execution.cbor",
    "profile.json",
    "vars.json",
    "vars.capnp",
];
/// Files that a report may have beside its profile.
const SIDE_FILES: [&str; 3] = ["framework.json", "app.json", "archive.a"];
/// Files that are worth a line in the list of files only when they are there.
const RARE_FILES: [&str; 4] =
    ["profile.pop_cache", "serialized_graph.capnp", "profile_info.json", "compile.log"];

/// How many directories and reports beside a report are looked at.
const MOST_BESIDE: usize = 200;

const CAPTURE_HINT: &str = "A report is written when the program runs with \
    POPLAR_ENGINE_OPTIONS='{\"autoReport.all\":\"true\",\"autoReport.directory\":\"./profile\"}'.";

/// The files of one report.
#[derive(Clone, Debug)]
pub struct ReportFiles {
    pub profile: PathBuf,
    /// `debug.cbor`, beside the profile or one directory up.
    pub debug: Option<PathBuf>,
    pub framework: Option<PathBuf>,
    pub app: Option<PathBuf>,
    /// Every file that was found or missed, by its name in lists and messages.
    pub files: Vec<ReportFile>,
}

/// Finds the one report that `path` names: a report directory, a directory with one report below
/// it, or a file of a report.
///
/// # Errors
/// `not-found`, `unreadable`, `not-a-report`, `unsupported-version` for reports before SDK 2.1, and
/// `several-reports` with their list.
pub fn discover(path: &Path, warnings: &Warnings) -> Result<ReportFiles, Error> {
    let metadata = fs::metadata(path).map_err(|error| Error::io(path, &error))?;
    if metadata.is_dir() {
        return discover_in_directory(path, warnings);
    }
    if let Some(what) = in_place_of_file(path) {
        let message = format!("{}: {}", path.display(), not_a_file(what));
        return Err(Error::new(ErrorKind::NotAReport, message).in_file(path));
    }
    let name = file_name(path);
    if is_profile(path) {
        return Ok(with_side_files(path.to_owned(), warnings));
    }
    if LEGACY.contains(&name.as_str()) {
        return Err(legacy(path));
    }
    if is_beside_profile(&name) {
        return discover_in_directory(&directory_of(path), warnings);
    }
    Err(Error::new(
        ErrorKind::NotAReport,
        format!("{} is not a file of a Poplar report", path.display()),
    )
    .in_file(path)
    .hint("Open the report's directory, or its profile.pop."))
}

/// Whether a file is called as a profile is, or has the tables of one.
fn is_profile(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "pop") || has_tables(path)
}

/// Whether a file is an SQLite database that begins with tables of a profile, whatever its name.
fn has_tables(path: &Path) -> bool {
    let mut head = vec![0; 1 << 16];
    let read = files::open(path).and_then(|file| files::read_up_to_at(&file, &mut head, 0));
    let head = head.get(..read.unwrap_or(0)).unwrap_or_default();
    let has = |table: &str| memchr::memmem::find(head, table.as_bytes()).is_some();
    head.starts_with(b"SQLite format 3\0")
        && ["target_info", "version_info", "programs"].into_iter().all(has)
}

/// Whether a file is called as those that lie beside a profile.
fn is_beside_profile(name: &str) -> bool {
    name == "debug.cbor" || SIDE_FILES.contains(&name) || RARE_FILES.contains(&name)
}

/// Whether a path names a report: a profile, a file beside one, or a directory with one in it or a few levels below.
/// `warnings` says where not all of a directory was looked into.
pub fn is_report(path: &Path, warnings: &Warnings, progress: &Progress) -> bool {
    if path.is_dir() {
        return has_report(path, warnings, progress).unwrap_or(false);
    }
    let is_beside = || {
        is_beside_profile(&file_name(path))
            && has_report(&directory_of(path), warnings, progress).unwrap_or(false)
    };
    path.is_file() && (is_profile(path) || is_beside())
}

/// Why a path that looks like part of a report cannot be opened: a report of an old format, or files of a report whose
/// profile is missing. `None` of anything else.
pub fn refusal(path: &Path) -> Option<Error> {
    if path.is_dir() {
        return refusal_of_directory(path);
    }
    let name = file_name(path);
    match name.as_str() {
        "debug.cbor" | "archive.a" => refusal_of_directory(&directory_of(path)),
        _ if LEGACY.contains(&name.as_str()) => is_legacy(path).then(|| legacy(path)),
        _ => None,
    }
}

/// Whether a file of a name of the old formats is of them: others have JSON files of the same names, but none has two.
fn is_legacy(path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let there = LEGACY.iter().filter(|name| path.with_file_name(name).is_file());
    path.is_file() && (!is_json || there.count() > 1)
}

/// All report profiles in a directory and a few levels below it, sorted by path.
///
/// # Errors
/// When the directory itself cannot be read.
pub fn reports_below(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    Ok(look_below(directory, MAX_DEPTH, &Progress::default())?.profiles)
}

/// Whether the profile of a report lies right in a directory.
pub fn has_profile(directory: &Path) -> bool {
    !profiles_in(directory).0.is_empty()
}

/// Whether there is a report in a directory or a few levels below it; looked for below only where there is none in it.
/// `warnings` says where not all of it was looked into.
///
/// # Errors
/// When the directory itself cannot be read, and when it was canceled.
pub fn has_report(
    directory: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<bool, Error> {
    if has_profile(directory) {
        return Ok(true);
    }
    let found = look_below(directory, MAX_DEPTH, progress)?;
    if found.is_cut {
        warn_of_cut(directory, warnings);
    }
    Ok(!found.profiles.is_empty())
}

fn warn_of_cut(folder: &Path, warnings: &Warnings) {
    warnings.add(
        WarningCode::Inconsistent,
        &folder.display().to_string(),
        format!("only the first {MAX_DIRECTORIES} directories were searched; there are more"),
    );
}

/// The runs below a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderRuns {
    /// The reports, sorted by path.
    pub reports: Vec<FolderReport>,
    /// Runs that left no report, sorted by path: directories with an `app.json` or a log, neither in nor above nor
    /// below which there is a profile, as deep as one that has one.
    pub without_report: Vec<FolderRun>,
}

/// A run that left no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderRun {
    /// Its directory.
    pub path: PathBuf,
    /// The same as seen from the folder.
    pub name: String,
}

/// All reports in a directory and below it at any depth, and the runs that left none, sorted by path; without a report
/// there is nothing. `warnings` says what could not be looked into.
///
/// # Errors
/// When the directory itself cannot be read.
pub fn runs_in_folder(
    folder: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<FolderRuns, Error> {
    let found = look_below(folder, usize::MAX, progress)?;
    for (directory, error) in found.unreadable {
        let name = FolderReport::name_of(folder, &directory);
        warnings.add(WarningCode::Inconsistent, &name, format!("not searched: {error}"));
    }
    for (path, what) in found.no_files {
        let name = FolderReport::name_of(folder, &path);
        warnings.add(WarningCode::Inconsistent, &name, format!("not read: {}", not_a_file(what)));
    }
    if found.is_cut {
        warn_of_cut(folder, warnings);
    }
    if found.profiles.is_empty() {
        return Ok(FolderRuns::default());
    }
    let directories: BTreeSet<PathBuf> =
        found.profiles.iter().map(|profile| directory_of(profile)).collect();
    let depths: BTreeSet<usize> =
        directories.iter().map(|path| path.components().count()).collect();
    let is_run = |path: &PathBuf| {
        let is_below = || path.ancestors().any(|above| directories.contains(above));
        let is_above = || directories.iter().any(|directory| directory.starts_with(path));
        depths.contains(&path.components().count()) && !is_below() && !is_above()
    };
    let mut without_report: Vec<PathBuf> = found.with_traces.into_iter().filter(is_run).collect();
    without_report.sort();
    let run = |path: PathBuf| FolderRun { name: FolderReport::name_of(folder, &path), path };
    let reports = found.profiles.into_iter().map(|profile| FolderReport::new(folder, profile));
    Ok(FolderRuns {
        reports: reports.collect(),
        without_report: without_report.into_iter().map(run).collect(),
    })
}

/// The other reports beside one: in its directory, and in the directories beside that, sorted by path.
/// What cannot be looked into has none.
pub fn reports_beside(path: &Path) -> Vec<FolderReport> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let is_profile = path.extension().is_some_and(|extension| extension == "pop");
    let directory = if path.is_dir() { path.clone() } else { directory_of(&path) };
    let mut found = profiles_in(&directory).0;
    // A report may be named by a directory above it.
    if found.is_empty() {
        found = reports_below(&directory).unwrap_or_default();
    }
    let Some(own) = found.first().map(|first| if is_profile { path } else { first.clone() }) else {
        return Vec::new();
    };
    let directory = directory_of(&own);
    let above = directory.parent().unwrap_or(&directory);
    let entries = files::listed(above).into_iter().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    for beside in directories.map(|entry| entry.path()).take(MOST_BESIDE) {
        if beside != directory {
            found.extend(profiles_in(&beside).0);
        }
    }
    found.retain(|profile| *profile != own);
    found.sort();
    found.truncate(MOST_BESIDE);
    found.into_iter().map(|profile| FolderReport::new(above, profile)).collect()
}

/// A report below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderReport {
    /// Its profile.
    pub profile: PathBuf,
    /// What it is opened by: its directory, or its profile where that has a temporary name and so may
    /// not be the only one there.
    pub path: PathBuf,
    /// The same as seen from the folder; `.` for the folder itself.
    pub name: String,
}

impl FolderReport {
    /// The report of a profile below a folder.
    pub fn new(folder: &Path, profile: PathBuf) -> Self {
        let is_complete = profile.file_name().is_some_and(|name| name == "profile.pop");
        let path = if is_complete { directory_of(&profile) } else { profile.clone() };
        Self { name: Self::name_of(folder, &path), profile, path }
    }

    /// Bytes of its profile and its debug file.
    pub fn sizes(&self) -> [u64; 2] {
        let found = discover(&self.profile, &Warnings::default());
        let debug = found.ok().and_then(|found| size_of_file(&found.debug?));
        [size_of_file(&self.profile).unwrap_or(0), debug.unwrap_or(0)]
    }

    fn name_of(folder: &Path, path: &Path) -> String {
        let below = path.strip_prefix(folder).unwrap_or(path);
        if below.as_os_str().is_empty() { ".".to_owned() } else { below.display().to_string() }
    }
}

struct Below {
    /// Sorted by path.
    profiles: Vec<PathBuf>,
    /// Directories that have an `app.json` or a log.
    with_traces: Vec<PathBuf>,
    /// Directories that could not be listed, and why.
    unreadable: Vec<(PathBuf, std::io::Error)>,
    /// What is called as profiles are and is no file, and what it is.
    no_files: Vec<(PathBuf, &'static str)>,
    /// Whether there are more directories than are looked into.
    is_cut: bool,
}

fn look_below(directory: &Path, max_depth: usize, progress: &Progress) -> Result<Below, Error> {
    let mut below = Below {
        profiles: Vec::new(),
        with_traces: Vec::new(),
        unreadable: Vec::new(),
        no_files: Vec::new(),
        is_cut: false,
    };
    let mut looked_into = 0_usize;
    let mut waiting = vec![(directory.to_owned(), 0_usize)];
    while let Some((directory, depth)) = waiting.pop() {
        looked_into = looked_into.saturating_add(1);
        if looked_into > MAX_DIRECTORIES {
            below.is_cut = true;
            break;
        }
        let entries = match files::listed(&directory) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(Error::io(&directory, &error)),
            Err(error) => {
                below.unreadable.push((directory, error));
                continue;
            }
        };
        let mut has_traces = false;
        for (place, entry) in entries.enumerate() {
            if place.is_multiple_of(ENTRIES_AT_ONCE) && progress.is_cancelled() {
                return Err(Error::cancelled().in_file(&directory));
            }
            let name = entry.file_name();
            if name == "profile.pop"
                && let Some(what) = in_place_of_file(&entry.path())
            {
                below.no_files.push((entry.path(), what));
            }
            has_traces |=
                name == "app.json" || Path::new(&name).extension().is_some_and(|end| end == "log");
            // Links to directories are not followed: they may lead back.
            if depth < max_depth && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push((entry.path(), depth.saturating_add(1)));
            }
        }
        below.profiles.extend(profiles_in(&directory).0);
        below.with_traces.extend(has_traces.then_some(directory));
    }
    below.profiles.sort();
    Ok(below)
}

fn discover_in_directory(directory: &Path, warnings: &Warnings) -> Result<ReportFiles, Error> {
    fs::read_dir(directory).map_err(|error| Error::io(directory, &error))?;
    let (mut own, others) = profiles_in(directory);
    if own.is_empty() {
        own = reports_below(directory)?;
    }
    match own.as_slice() {
        [profile] => {
            for other in &others {
                let name = file_name(other);
                warnings.add(
                    WarningCode::Inconsistent,
                    &name,
                    format!(
                        "{name} lies beside {}, which is shown; open it by its own path to see it",
                        file_name(profile)
                    ),
                );
            }
            Ok(with_side_files(profile.clone(), warnings))
        }
        [] => Err(nothing_found(directory)),
        several => {
            let list: Vec<String> =
                several.iter().map(|profile| profile.display().to_string()).collect();
            Err(Error::new(
                ErrorKind::SeveralReports,
                format!(
                    "{} reports below {}:\n  {}",
                    list.len(),
                    directory.display(),
                    list.join("\n  ")
                ),
            )
            .of_several(directory))
        }
    }
}

/// The profiles that count in a directory, and those that stand back behind `profile.pop`.
fn profiles_in(directory: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let complete = directory.join("profile.pop");
    let mut interrupted: Vec<PathBuf> = files::listed(directory)
        .into_iter()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_interrupted_name(&file_name(path)) && path.is_file())
        .collect();
    interrupted.sort();
    if complete.is_file() { (vec![complete], interrupted) } else { (interrupted, Vec::new()) }
}

/// Whether a name is `profile_????????.pop`: what an interrupted run leaves behind.
fn is_interrupted_name(name: &str) -> bool {
    name.strip_prefix("profile_")
        .and_then(|rest| rest.strip_suffix(".pop"))
        .is_some_and(|random| random.chars().count() == 8)
}

fn with_side_files(profile: PathBuf, warnings: &Warnings) -> ReportFiles {
    let directory = directory_of(&profile);
    let journals = ["-journal", "-wal"].map(|suffix| with_suffix(&profile, suffix));
    let beside = ["debug.cbor"].into_iter().chain(SIDE_FILES).map(|name| directory.join(name));
    for path in journals.into_iter().chain(beside) {
        if let Some(what) = in_place_of_file(&path) {
            let message = format!("not read: {}", not_a_file(what));
            warnings.add(WarningCode::Inconsistent, &file_name(&path), message);
        }
    }
    let mut files = vec![entry(&file_name(&profile), Some(&profile))];
    let there = |name: &str| Some(directory.join(name)).filter(|path| path.is_file());
    let mut places = ["debug.cbor", "../debug.cbor"].into_iter();
    let debug = places.find_map(|name| Some((name, there(name)?)));
    let (name, debug) = debug.map_or(("debug.cbor", None), |(name, path)| (name, Some(path)));
    files.push(entry(name, debug.as_deref()));
    files.extend(SIDE_FILES.map(|name| entry(name, there(name).as_deref())));
    for name in RARE_FILES.into_iter().chain(LEGACY) {
        if let Some(path) = there(name) {
            let mut file = entry(name, Some(&path));
            if LEGACY.contains(&name) {
                file.status = FileStatus::Unsupported;
            }
            files.push(file);
        }
    }
    let (framework, app) = (there("framework.json"), there("app.json"));
    ReportFiles { profile, debug, framework, app, files }
}

fn entry(name: &str, path: Option<&Path>) -> ReportFile {
    let bytes = path.and_then(size_of_file);
    let status = if bytes.is_some() { FileStatus::Ok } else { FileStatus::Missing };
    ReportFile { name: name.to_owned(), bytes, status }
}

/// That there is no report in a directory or below it.
fn nothing_found(directory: &Path) -> Error {
    let legacy_file =
        LEGACY.into_iter().map(|name| directory.join(name)).find(|path| path.is_file());
    refusal_of_directory(directory)
        .or_else(|| legacy_file.map(|path| legacy(&path)))
        .unwrap_or_else(|| {
            let message = format!("{} holds no Poplar report", directory.display());
            Error::new(ErrorKind::NotAReport, message).in_file(directory).hint(CAPTURE_HINT)
        })
}

/// Why a directory with files of a report has no report that can be opened; `None` where there is nothing of one.
fn refusal_of_directory(directory: &Path) -> Option<Error> {
    let there = |name: &str| Some(directory.join(name)).filter(|path| path.is_file());
    if let Some(path) = LEGACY.into_iter().filter_map(there).find(|path| is_legacy(path)) {
        return Some(legacy(&path));
    }
    let profile = directory.join("profile.pop");
    if let Some(what) = in_place_of_file(&profile) {
        let message = format!("{}: {}", profile.display(), not_a_file(what));
        return Some(Error::new(ErrorKind::NotAReport, message).in_file(&profile));
    }
    // Other programs write an app.json as well, and few a framework.json beside it.
    let is_there = |name: &&str| there(name).is_some();
    let is_sign =
        |name: &&str| is_there(name) && (*name != "framework.json" || is_there(&"app.json"));
    let beside = ["debug.cbor", "archive.a", "framework.json"].into_iter().find(is_sign)?;
    let message = format!("{} holds no profile.pop beside its {beside}", directory.display());
    Some(Error::new(ErrorKind::NotAReport, message).in_file(directory).hint(CAPTURE_HINT))
}

fn legacy(file: &Path) -> Error {
    Error::new(
        ErrorKind::UnsupportedVersion,
        format!(
            "{} is a report of format 1 or 2 (JSON or CBOR, Poplar SDK before 2.1); format 3 is read",
            file.display()
        ),
    )
    .in_file(file)
    .hint("Capture the report again with Poplar SDK 2.1 or later.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_left_no_report_lie_as_deep_as_reports_and_have_a_trace() {
        let directory = tempfile::tempdir().unwrap();
        let files = [
            "8/0.2/profile.pop",
            "8/0.2/logs/a.log",
            "8/0.6/app.json",
            "8/0.8/compile.log",
            "8/empty/notes.txt",
            "sweep.log",
            "8/app.json",
            "16/deep/er/app.json",
        ];
        for file in files {
            let path = directory.path().join(file);
            fs::create_dir_all(directory_of(&path)).unwrap();
            fs::write(path, "").unwrap();
        }
        let runs =
            runs_in_folder(directory.path(), &Warnings::default(), &Progress::default()).unwrap();
        let names: Vec<&str> = runs.without_report.iter().map(|run| &*run.name).collect();
        assert_eq!(names, ["8/0.6", "8/0.8"]);
        assert_eq!((runs.reports.len(), &*runs.reports[0].name), (1, "8/0.2"));
    }

    #[test]
    fn reports_beside_one_are_found_however_it_is_named_and_it_is_not_among_them() {
        let directory = tempfile::tempdir().unwrap();
        let below = |path: &str| directory.path().join(path);
        for name in ["a", "b", "c", "empty", "deeper/d"] {
            fs::create_dir_all(below(name)).unwrap();
        }
        for file in ["a/profile.pop", "b/profile.pop", "deeper/d/profile.pop"] {
            fs::write(below(file), "").unwrap();
        }
        for file in ["c/profile_12345678.pop", "c/profile_87654321.pop", "a/debug.cbor"] {
            fs::write(below(file), "").unwrap();
        }
        let names = |path: &str| -> Vec<String> {
            reports_beside(&below(path)).into_iter().map(|report| report.name).collect()
        };
        let (first, second) = ("c/profile_12345678.pop", "c/profile_87654321.pop");
        for path in ["a", "a/profile.pop", "a/debug.cbor"] {
            assert_eq!(names(path), ["b", first, second], "{path}");
        }
        assert_eq!(names(first), ["a", "b", second]);
        assert_eq!(names("deeper"), [""; 0], "it is named by the directory above it");
        assert_eq!(names("empty"), [""; 0]);
        assert_eq!(names("absent/profile.pop"), [""; 0]);
    }
}
