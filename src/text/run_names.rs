//! Names of runs: by the shortest ending of the path that tells them apart.
//!
//! A file that every report has (`profile.pop`, `debug.cbor`, `framework.json`, `app.json`) says nothing of this one:
//! its directory names the report. A file with a random name (`profile_12345678.pop`) is named with its directory.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};

/// Files that every report has, without their endings.
const OF_EVERY_REPORT: [&str; 4] = ["profile", "debug", "framework", "app"];

/// What a run is called that stands by itself.
pub fn run_name(path: &Path) -> String {
    let part = naming_part(path);
    let parts = parts_of(part);
    if parts.is_empty() { part.display().to_string() } else { ending(&parts, least_parts(part)) }
}

/// What runs are called, each by a name of its own: the shortest ending of its path, in whole names of
/// directories, that no other path has. The same path a second time has a number.
pub fn run_names<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Vec<String> {
    let paths: Vec<&Path> = paths.into_iter().map(naming_part).collect();
    let all: Vec<Vec<String>> = paths.iter().map(|path| parts_of(path)).collect();
    // Of each ending the only path that has it, else `None`.
    let mut owners: HashMap<&[String], Option<&[String]>> = HashMap::new();
    for parts in &all {
        for ending in (0..=parts.len()).filter_map(|start| parts.get(start..)) {
            let owner = owners.entry(ending).or_insert(Some(parts));
            *owner = owner.filter(|other| *other == parts.as_slice());
        }
    }
    let mut names: Vec<String> = Vec::with_capacity(all.len());
    let mut taken: HashSet<String> = HashSet::with_capacity(all.len());
    for (path, parts) in paths.iter().zip(&all) {
        let is_shared = |count: &usize| {
            let ending = parts.len().checked_sub(*count).and_then(|start| parts.get(start..));
            ending.is_some_and(|ending| owners.get(ending) == Some(&None))
        };
        let count = (least_parts(path)..parts.len()).find(|count| !is_shared(count));
        let name = match count {
            Some(count) => ending(parts, count),
            None if parts.is_empty() => path.display().to_string(),
            None => ending(parts, parts.len()),
        };
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        names.extend(candidates.find(|name| taken.insert(name.clone())));
    }
    names
}

/// The part of a path that names the report.
fn naming_part(path: &Path) -> &Path {
    let is_of_every_report = path.extension().is_some()
        && stem(path).is_some_and(|stem| OF_EVERY_REPORT.contains(&stem));
    let directory = path.parent().filter(|directory| directory.file_name().is_some());
    directory.filter(|_| is_of_every_report).unwrap_or(path)
}

/// How many names of directories, with that of the file, a name has at least.
fn least_parts(path: &Path) -> usize {
    let is_random = path.extension().is_some_and(|extension| extension == "pop")
        && stem(path).is_some_and(|stem| stem.starts_with("profile_"));
    if is_random { 2 } else { 1 }
}

fn stem(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()
}

/// The names of directories and of the file on the way to it, the root left out.
fn parts_of(path: &Path) -> Vec<String> {
    let name = |part: Component<'_>| match part {
        Component::RootDir | Component::CurDir => None,
        part => Some(part.as_os_str().to_string_lossy().into_owned()),
    };
    path.components().filter_map(name).collect()
}

fn ending(parts: &[String], count: usize) -> String {
    let left_out = parts.len().saturating_sub(count);
    parts.iter().skip(left_out).map(String::as_str).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_names(named: &[(&str, &str)]) {
        let (paths, expected): (Vec<&str>, Vec<&str>) = named.iter().copied().unzip();
        assert_eq!(run_names(paths.iter().map(Path::new)), expected);
    }

    #[test]
    fn a_run_chosen_from_a_list_is_called_by_its_directory_not_profile_pop() {
        assert_names(&[("/runs/amp-0.6/profile.pop", "amp-0.6")]);
        assert_eq!(run_name(Path::new("/runs/amp-0.6/profile.pop")), "amp-0.6");
        assert_names(&[("/runs/a/profile.pop", "a"), ("/runs/b/debug.cbor", "b")]);
        assert_names(&[("profile.pop", "profile.pop"), ("/profile.pop", "profile.pop (2)")]);
    }

    #[test]
    fn runs_whose_last_directory_has_the_same_name_are_told_apart_by_those_above() {
        assert_names(&[
            ("/amp/0.6/report/profile.pop", "0.6/report"),
            ("/amp/0.8/report", "0.8/report"),
            ("/amp/0.8/other", "other"),
        ]);
        assert_names(&[
            ("/monday/0.6/report", "monday/0.6/report"),
            ("/tuesday/0.6/report", "tuesday/0.6/report"),
            ("/tuesday/0.8/report", "0.8/report"),
        ]);
    }

    #[test]
    fn a_path_that_begins_or_ends_with_another_has_a_name_of_its_own() {
        assert_names(&[("/runs/a", "a"), ("/runs/a/b", "b")]);
        assert_names(&[("/x/runs/a", "x/runs/a"), ("/runs/a", "runs/a"), ("a", "a")]);
    }

    #[test]
    fn a_profile_with_a_name_made_up_at_random_has_its_directory_before_it() {
        let file = "/runs/broken/profile_12345678.pop";
        assert_eq!(run_name(Path::new(file)), "broken/profile_12345678.pop");
        assert_names(&[(file, "broken/profile_12345678.pop"), ("/runs/broken", "broken")]);
        assert_names(&[
            (file, "runs/broken/profile_12345678.pop"),
            ("/old/broken/profile_12345678.pop", "old/broken/profile_12345678.pop"),
        ]);
        assert_names(&[("profile_12345678.pop", "profile_12345678.pop")]);
    }

    #[test]
    fn the_same_path_a_second_time_has_a_number() {
        let paths =
            ["/a/first", "/b/first/profile.pop", "/a/second", "/a/first", "/a/first", "first", "/"];
        let names = run_names(paths.iter().map(Path::new));
        let expected = ["a/first", "b/first", "second", "a/first (2)", "a/first (3)", "first", "/"];
        assert_eq!(names, expected);
        assert!(run_names([]).is_empty());
    }
}
