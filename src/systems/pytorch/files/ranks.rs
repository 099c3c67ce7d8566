//! Snapshots that the processes of one run have written, each its own: files of one directory whose names differ in one
//! number, the one behind the word `rank` (formats/pytorch.md 1). Such a run is called by that name with `*` in place of
//! the number.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::discover::{FileKind, SnapshotFiles, kind_of_file, with_side_files};
use crate::files::{directory_of, file_name};
use crate::store::{WarningCode, Warnings};
use crate::systems::below::MOST_FILES;
use crate::work::Work;

const WORD: &[u8] = b"rank";

/// Files with the numbers of their ranks.
type NamedFiles = Vec<(u32, PathBuf)>;

/// Gaps between the numbers of ranks that are named.
const MOST_GAPS: usize = 8;

/// A name of a file around the number of its rank.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Around {
    before: String,
    after: String,
}

impl Around {
    /// Of a name with the number of a rank: each that stands behind the word, in the order of the name.
    fn all_of(name: &str) -> impl Iterator<Item = (Self, u32)> {
        places_behind_word(name).filter_map(|start| {
            let rest = name.get(start..)?;
            let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
            let (digits, after) = rest.split_at_checked(end)?;
            let before = name.get(..start)?.to_owned();
            Some((Self { before, after: after.to_owned() }, digits.parse().ok()?))
        })
    }

    /// Of the name of a whole run.
    fn of_pattern(name: &str) -> Option<Self> {
        let place = places_behind_word(name).find_map(|start| {
            let after = name.get(start..)?.strip_prefix('*')?;
            Some((name.get(..start)?, after))
        });
        place.map(|(before, after)| Self { before: before.to_owned(), after: after.to_owned() })
    }

    fn pattern(&self) -> String {
        format!("{}*{}", self.before, self.after)
    }
}

/// Where the word ends in a name, and what may stand between it and a number. It stands by itself or begins a word.
fn places_behind_word(name: &str) -> impl Iterator<Item = usize> {
    let letters = name.as_bytes();
    letters.windows(WORD.len()).enumerate().filter_map(|(start, word)| {
        let before = start.checked_sub(1).and_then(|before| letters.get(before));
        let begins = !before.is_some_and(u8::is_ascii_alphabetic);
        let end = start.saturating_add(WORD.len());
        let between = matches!(letters.get(end), Some(b'_' | b'-' | b'=' | b'.' | b' '));
        let is_word = begins && word.eq_ignore_ascii_case(WORD);
        is_word.then(|| end.saturating_add(usize::from(between)))
    })
}

/// The runs of several ranks among files that were found. A file that has the name of a rank and is no snapshot is one
/// of them: what is wrong with it is said when it is read.
pub(super) fn runs_of_ranks(
    found: &[(PathBuf, FileKind)],
    warnings: &Warnings,
) -> Vec<SnapshotFiles> {
    let mut wanted: BTreeMap<PathBuf, BTreeSet<Around>> = BTreeMap::new();
    for (path, _) in found.iter().filter(|(_, kind)| *kind == FileKind::Snapshot) {
        let arounds =
            Around::all_of(&file_name(path)).map(|(around, _)| around).collect::<Vec<_>>();
        if !arounds.is_empty() {
            wanted.entry(directory_of(path)).or_default().extend(arounds);
        }
    }
    let mut runs = Vec::new();
    for (directory, wanted) in wanted {
        let mut of_names: BTreeMap<Around, NamedFiles> = BTreeMap::new();
        for (around, rank, path) in named_by_ranks(&directory, warnings) {
            if wanted.contains(&around) {
                of_names.entry(around).or_default().push((rank, path));
            }
        }
        let run = |(around, files): (Around, Vec<_>)| {
            run_of(directory.join(around.pattern()), files, warnings)
        };
        runs.extend(each_in_one(of_names).into_iter().filter_map(run));
    }
    runs
}

/// Files by their names around a number, each in one group: of several numbers in a name the one counts that most files
/// differ in, of equals the first.
fn each_in_one(of_names: BTreeMap<Around, NamedFiles>) -> BTreeMap<Around, NamedFiles> {
    let mut groups: Vec<(Around, NamedFiles)> = of_names.into_iter().collect();
    groups.sort_by_key(|(around, files)| (Reverse(files.len()), around.before.len()));
    let mut taken: HashSet<PathBuf> = HashSet::new();
    let own = |(around, files): (Around, NamedFiles)| {
        let is_free = |(_, path): &(u32, PathBuf)| !taken.contains(path);
        let files: NamedFiles = files.into_iter().filter(is_free).collect();
        taken.extend(files.iter().map(|(_, path)| path.clone()));
        (around, files)
    };
    groups.into_iter().map(own).collect()
}

/// The run of several ranks that a path names with `*` in place of their number.
pub(super) fn of_pattern(path: &Path, warnings: &Warnings) -> Option<SnapshotFiles> {
    let wanted = Around::of_pattern(&file_name(path))?;
    let named = named_by_ranks(&directory_of(path), warnings).into_iter();
    let files = named.filter(|(around, ..)| *around == wanted);
    let files: Vec<(u32, PathBuf)> = files.map(|(_, rank, path)| (rank, path)).collect();
    // Logs have such names, too.
    let has_snapshot = files.iter().any(|(_, path)| kind_of_file(path) == Some(FileKind::Snapshot));
    has_snapshot.then(|| run_of(path.to_owned(), files, warnings))?
}

/// The files of a directory whose names have the number of a rank, with it; `warnings` says where not all were looked at.
fn named_by_ranks(directory: &Path, warnings: &Warnings) -> Vec<(Around, u32, PathBuf)> {
    let warn = |message: String| {
        warnings.add(WarningCode::Inconsistent, &directory.display().to_string(), message);
    };
    let mut named = Vec::new();
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => {
            // That there is no such directory is said by whoever looks for something else in it.
            if error.kind() != ErrorKind::NotFound {
                warn(format!("not searched: {error}"));
            }
            return named;
        }
    };
    for (count, entry) in entries.inspect(|_| Work::Names.add(1)).enumerate() {
        if count >= MOST_FILES {
            warn(format!(
                "only the first {MOST_FILES} names were searched for files of ranks; there are more"
            ));
            break;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                warn(format!("not all of it could be listed: {error}"));
                break;
            }
        };
        let name = entry.file_name();
        let of_name: Vec<(Around, u32)> =
            name.to_str().into_iter().flat_map(Around::all_of).collect();
        if !of_name.is_empty() && entry.file_type().is_ok_and(|kind| !kind.is_dir()) {
            let path = |(around, rank)| (around, rank, entry.path());
            named.extend(of_name.into_iter().map(path));
        }
    }
    named
}

/// The files of a run; `None` where there is one alone, or two have the same number.
fn run_of(
    path: PathBuf,
    mut files: Vec<(u32, PathBuf)>,
    warnings: &Warnings,
) -> Option<SnapshotFiles> {
    files.sort();
    let same = files.windows(2).find(|two| matches!(two, [(a, _), (b, _)] if a == b));
    if let Some([(rank, _), ..]) = same {
        let message = format!(
            "several files are of rank {rank}, so they are not the ranks of one \
            run"
        );
        warnings.add(WarningCode::Inconsistent, &path.display().to_string(), message);
        return None;
    }
    if files.len() < 2 {
        return None;
    }
    let ranks: Vec<u32> = files.iter().map(|(rank, _)| *rank).collect();
    if let Some(missing) = missing_between(&ranks) {
        let message = format!("there is no file of {missing}, so nothing is shown of it");
        warnings.add(WarningCode::MissingFile, &path.display().to_string(), message);
    }
    let file = |(rank, path)| (rank, with_side_files(path, FileKind::Snapshot));
    let ranks: Vec<(u32, SnapshotFiles)> = files.into_iter().map(file).collect();
    let app = ranks.first().and_then(|(_, files)| files.app.clone());
    let mut files = Vec::new();
    for file in ranks.iter().flat_map(|(_, files)| &files.files) {
        // Values that vary between runs lie beside all of them.
        if file.name != "app.json" || !files.contains(file) {
            files.push(file.clone());
        }
    }
    Some(SnapshotFiles {
        path,
        kind: FileKind::Snapshot,
        statistics: None,
        error_text: None,
        app,
        files,
        has_others: false,
        warnings: Vec::new(),
        ranks,
    })
}

/// Which numbers lie between those of ranks, ascending, that are there: `rank 1, ranks 4 to 7`.
fn missing_between(ranks: &[u32]) -> Option<String> {
    let gaps = ranks.windows(2).filter_map(|two| {
        let [before, after] = *two else { return None };
        let (first, last) = (before.checked_add(1)?, after.checked_sub(1)?);
        match last.checked_sub(first)? {
            0 => Some(format!("rank {first}")),
            _ => Some(format!("ranks {first} to {last}")),
        }
    });
    let gaps: Vec<String> = gaps.collect();
    let (named, more) = gaps.split_at(gaps.len().min(MOST_GAPS));
    let more = if more.is_empty() { "" } else { " and others" };
    (!named.is_empty()).then(|| format!("{}{more}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Progress;
    use crate::systems::pytorch::files::{find, runs_below};

    const SNAPSHOT: &[u8] = b"\x80\x04}X\x08\0\0\0segments]s.";

    /// The names of the runs of a directory with these snapshots, each with its ranks.
    fn runs(names: &[&str]) -> Vec<(String, Vec<u32>)> {
        let directory = tempfile::tempdir().unwrap();
        for name in names {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, SNAPSHOT).unwrap();
        }
        let runs = runs_below(directory.path(), &Warnings::default(), &Progress::default());
        let name = |path: &Path| path.strip_prefix(directory.path()).unwrap().display().to_string();
        let ranks = |run: &SnapshotFiles| run.ranks.iter().map(|(rank, _)| *rank).collect();
        runs.iter().map(|run| (name(&run.path), ranks(run))).collect()
    }

    fn one(name: &str, ranks: &[u32]) -> (String, Vec<u32>) {
        (name.to_owned(), ranks.to_vec())
    }

    #[test]
    fn names_that_differ_in_the_number_behind_rank_are_one_run() {
        for (names, pattern) in [
            (["rank0.pickle", "rank1.pickle", "rank10.pickle"], "rank*.pickle"),
            (["rank_0_a.pkl", "rank_1_a.pkl", "rank_10_a.pkl"], "rank_*_a.pkl"),
            (["m-rank-0", "m-rank-1", "m-rank-10"], "m-rank-*"),
            (["Rank00.bin", "Rank01.bin", "Rank10.bin"], "Rank*.bin"),
            (["gpu0rank0", "gpu0rank1", "gpu0rank10"], "gpu0rank*"),
            (["rank=0.pickle", "rank=1.pickle", "rank=10.pickle"], "rank=*.pickle"),
            (["rank.0.pickle", "rank.1.pickle", "rank.10.pickle"], "rank.*.pickle"),
            (["rank 0.pickle", "rank 1.pickle", "rank 10.pickle"], "rank *.pickle"),
            (["local_rank0_rank0", "local_rank0_rank1", "local_rank0_rank10"], "local_rank0_rank*"),
            (["rank0_of_rank9", "rank1_of_rank9", "rank10_of_rank9"], "rank*_of_rank9"),
        ] {
            assert_eq!(runs(&names), [one(pattern, &[0, 1, 10])]);
        }
    }

    #[test]
    fn names_that_differ_in_anything_else_are_runs_of_their_own() {
        let alone = |names: &[&str]| {
            let mut names: Vec<_> = names.iter().map(|name| one(name, &[])).collect();
            names.sort();
            names
        };
        for names in [
            &["rank_0_Feb_12_10_31_07.pickle", "rank_1_Feb_12_10_31_08.pickle"][..],
            &["splits_2.pickle", "splits_4.pickle"],
            &["rank0.pickle", "rank1.pkl"],
            &["rank0.pickle", "rank_1.pickle"],
            &["a/rank0.pickle", "b/rank1.pickle"],
            &["frank0.pickle", "frank1.pickle"],
            &["rank0.pickle", "ranks.pickle"],
            &["rank.pickle", "rank5.pickle"],
            &["rank1.pickle", "rank01.pickle"],
            &["rank99999999999.pickle", "rank99999999998.pickle"],
        ] {
            assert_eq!(runs(names), alone(names));
        }
    }

    #[test]
    fn several_runs_and_other_files_lie_beside_each_other() {
        let names = [
            "a_rank0_5",
            "a_rank1_5",
            "a_rank0_6",
            "a_rank1_6",
            "rank7",
            "z",
            "b/rank0",
            "b/rank1",
        ];
        let expected = [
            one("a_rank*_5", &[0, 1]),
            one("a_rank*_6", &[0, 1]),
            one("b/rank*", &[0, 1]),
            one("rank7", &[]),
            one("z", &[]),
        ];
        assert_eq!(runs(&names), expected);
    }

    #[test]
    fn a_run_is_named_by_its_directory_or_with_a_star() {
        let directory = tempfile::tempdir().unwrap();
        // What is no snapshot and has the name of a rank is one that cannot be read.
        for (name, bytes) in [("rank0.pickle", SNAPSHOT), ("rank1.pickle", b""), ("rank1.txt", b"")]
        {
            fs::write(directory.path().join(name), bytes).unwrap();
        }
        let found = |path: &Path| {
            find(path, &Warnings::default(), &Progress::default())
                .unwrap()
                .map(|run| run.ranks.len())
        };
        assert_eq!(found(directory.path()), Some(2));
        assert_eq!(found(&directory.path().join("rank*.pickle")), Some(2));
        assert_eq!(found(&directory.path().join("rank0.pickle")), Some(0), "one alone");
        assert_eq!(found(&directory.path().join("rank*.pkl")), None);
        assert_eq!(found(&directory.path().join("bank*.pickle")), None);
    }

    #[test]
    fn of_too_many_names_it_is_said_that_not_all_are_looked_at() {
        let directory = tempfile::tempdir().unwrap();
        for number in 0..=MOST_FILES {
            fs::write(directory.path().join(format!("rank{number}.txt")), "").unwrap();
        }
        let warnings = Warnings::default();
        assert!(of_pattern(&directory.path().join("rank*.txt"), &warnings).is_none());
        let said = warnings.list();
        assert!(matches!(&*said, [one] if one.message.contains("there are more")), "{said:?}");
    }

    #[test]
    fn numbers_between_those_that_are_there_are_missing() {
        assert_eq!(missing_between(&[3, 4, 5]), None);
        assert_eq!(missing_between(&[0, u32::MAX]).unwrap(), "ranks 1 to 4294967294");
        let even: Vec<u32> = (0..40).map(|number| 2 * number).collect();
        let named = missing_between(&even).unwrap();
        assert!(named.starts_with("rank 1, rank 3, ") && named.ends_with("rank 15 and others"));
    }
}
