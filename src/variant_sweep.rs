//! Variants of one training run: their snapshots, or the programs that XLA made of them, are read one after the other, and what each took is kept: what the
//! command does with `format` and `analysis`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::analysis::sweep::Sweep;
use crate::analysis::variants::{Took, Variant};
use crate::files::directory_of;
use crate::folder_sweep::read_sweep;
use crate::format::{Error, ErrorKind, Progress};
use crate::opened::{RunsOfPaths, SnapshotRun, XlaFiles, XlaRun, runs_of_paths, texts_in};
use crate::store::{Warning, WarningCode, Warnings};
use crate::systems::pytorch::allocator::run_end::Outcome;
use crate::systems::pytorch::files::{self as pytorch, SnapshotFiles};
use crate::systems::pytorch::run::{compare_claims, no_device};
use crate::systems::xla::compared::ComparedProgram;
use crate::systems::xla::files::DumpName;
use crate::text::run_names::run_names;

/// What nvidia-smi said of a variant, in MiB: a key of `app.json`.
const SMI: &str = "smi_mib";

/// Endings of snapshots, which say nothing of a variant; `lr_0.5` has none.
const ENDINGS: [&str; 3] = ["pickle", "pkl", "bin"];

/// What a folder has for a sweep.
#[cfg_attr(not(feature = "window"), allow(dead_code, reason = "the page Sweep asks"))]
pub(crate) enum FolderSweep {
    /// Reports of Poplar.
    Reports(Sweep),
    /// Variants of a training run, with the warnings of all.
    Variants(Vec<Variant>, Vec<Warning>),
}

/// Reads the reports or the memory snapshots of a folder; of snapshots the figures of one device, or of the one that
/// failed or had most.
///
/// # Errors
/// When it was cancelled, the folder cannot be read, or there is nothing in it that could be.
#[cfg_attr(not(feature = "window"), allow(dead_code, reason = "the page Sweep asks"))]
pub(crate) fn read_folder(
    folder: &Path,
    device: Option<i64>,
    progress: &Progress,
) -> Result<FolderSweep, Error> {
    let warnings = Warnings::default();
    match runs_of_paths(&[folder.to_owned()], None, &warnings, progress) {
        RunsOfPaths::Poplar => {
            read_sweep(folder, progress).map(|(sweep, _)| FolderSweep::Reports(sweep))
        }
        RunsOfPaths::Pytorch(snapshots) => {
            let variants = read_variants(&snapshots, device, &warnings, progress)?;
            Ok(FolderSweep::Variants(variants, warnings.list()))
        }
        RunsOfPaths::Xla(programs) => {
            let color = device.unwrap_or(0);
            let variants = read_programs(&programs, color, &warnings, progress)?;
            Ok(FolderSweep::Variants(variants, warnings.list()))
        }
    }
}

/// What programs of XLA take of a memory space, in no order; `warnings` gets those of all. What cannot be read is a
/// warning.
///
/// # Errors
/// When it was cancelled, or none could be read.
pub(crate) fn read_programs(
    all: &[XlaFiles],
    color: i64,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Vec<Variant>, Error> {
    let mut variants = Vec::with_capacity(all.len());
    let mut first_error = None;
    let paths: Vec<PathBuf> = all.iter().map(|files| naming_path(files, all)).collect();
    // Compilations of one directory come one after the other.
    let (mut directory, mut texts) = (PathBuf::new(), Vec::new());
    for (files, name) in all.iter().zip(run_names(paths.iter().map(PathBuf::as_path))) {
        let Some(listed) = files.modules.first() else { continue };
        let path = listed.at.path().to_owned();
        let file = path.display().to_string();
        let beside = directory_of(&path);
        if directory != beside {
            texts = texts_in(&beside);
            directory = beside;
        }
        let run = match XlaRun::open_beside(files, &texts, progress) {
            Ok(Some(run)) => run,
            Ok(None) => return Err(Error::new(ErrorKind::Unreadable, "cancelled")),
            Err(error) => {
                let message = format!("cannot be read: {}", error.message);
                warnings.add(WarningCode::Inconsistent, &file, message);
                first_error.get_or_insert(error);
                continue;
            }
        };
        warnings.add_all(&run.report.warnings.list());
        match ComparedProgram::of(&run.program, color) {
            Some(side) => variants.push(Variant {
                name,
                path,
                devices: run.program.analysed.colors().map(|color| (color, None)).collect(),
                rank: None,
                outcome: if side.is_cut { Outcome::Cut } else { Outcome::Ran },
                is_cut: side.is_cut,
                is_refused: side.is_refused,
                needed_bytes: side.figures.total_bytes,
                smi_bytes: None,
                stated_capacity_bytes: side.stated_capacity_bytes,
                stated_other_bytes: None,
                took: Took::Program(side.figures),
            }),
            None => {
                let error = run.program.no_such_space(color);
                warnings.add(WarningCode::Inconsistent, &file, error.message.as_str());
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error.filter(|_| variants.is_empty()) {
        Some(error) => Err(error),
        None => Ok(variants),
    }
}

/// By what a program is called: the directory of its dump, where no other is of that; else what all files of the module
/// begin with.
fn naming_path(files: &XlaFiles, all: &[XlaFiles]) -> PathBuf {
    let is_alone = all.iter().filter(|other| other.path == files.path).count() == 1;
    match files.modules.first() {
        Some(listed) if !is_alone => {
            let file = listed.listed.file.as_str();
            let name = DumpName::of(file).map_or(file, |name| name.prefix.trim_end_matches('.'));
            files.path.join(name)
        }
        _ => files.path.clone(),
    }
}

/// What the variants took, in no order; `warnings` gets those of all. What cannot be read is a warning. `device` is the
/// number of one, else the one that failed or had most.
///
/// # Errors
/// When it was cancelled, or none could be read.
pub(crate) fn read_variants(
    all: &[SnapshotFiles],
    device: Option<i64>,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Vec<Variant>, Error> {
    let mut variants = Vec::with_capacity(all.len());
    let mut of_runs = Vec::new();
    let mut first_error = None;
    let apps = apps(all, warnings, progress);
    for ((files, name), app) in all.iter().zip(names(all, &apps)).zip(&apps) {
        let file = files.path.display().to_string();
        let run = match SnapshotRun::open(files, progress) {
            Ok(Some(run)) => run,
            Ok(None) => return Err(Error::new(ErrorKind::Unreadable, "cancelled")),
            Err(error) => {
                let message = format!("cannot be read: {}", error.message);
                warnings.add(WarningCode::Inconsistent, &file, message);
                first_error.get_or_insert(error);
                continue;
            }
        };
        if let Some(replayed) = run.allocator.snapshot() {
            // What it states is taken for the largest bytes: where it contradicts the file, that is a warning.
            for claims in &run.allocator.claims {
                compare_claims(claims, replayed, &run.report);
            }
        }
        of_runs.extend(run.report.warnings.list());
        if run.allocator.is_cut {
            let what = match files.ranks.as_slice() {
                [] => "ends before its contents do",
                [..] => "has ranks that could not be read to their ends",
            };
            let message = format!("{what}: its figures are of no whole run, and are not compared");
            warnings.add(WarningCode::Inconsistent, &file, message);
        }
        match Variant::of_run((name, files.path.clone()), &run.allocator, device) {
            Some((_, variant)) => {
                variants.push(Variant { smi_bytes: app.as_ref().and_then(smi_bytes), ..variant });
            }
            None => warnings.add(WarningCode::Inconsistent, &file, no_device(device)),
        }
    }
    warnings.add_all(&of_runs);
    match first_error.filter(|_| variants.is_empty()) {
        Some(error) => Err(error),
        None => Ok(variants),
    }
}

/// What the variants are called: by what varies in an `app.json` of each, else by their files.
fn names(all: &[SnapshotFiles], apps: &[Option<Facts>]) -> Vec<String> {
    let without_ending = without_endings(all);
    let by_file = || run_names(without_ending.iter().map(PathBuf::as_path));
    let facts: Option<Vec<&Facts>> = apps.iter().map(Option::as_ref).collect();
    let Some(facts) = facts.filter(|facts| facts.len() > 1) else { return by_file() };
    let keys: BTreeSet<&String> = facts.iter().flat_map(|facts| facts.keys()).collect();
    let varies = |key: &&&String| {
        let first = facts.first().and_then(|facts| facts.get(**key));
        ***key != *SMI && facts.iter().any(|facts| facts.get(**key) != first)
    };
    let varying: Vec<&String> = keys.iter().filter(varies).copied().collect();
    let name = |facts: &&Facts| {
        let said = varying.iter().filter_map(|key| Some(format!("{key}={}", facts.get(*key)?)));
        said.collect::<Vec<_>>().join(", ")
    };
    let names: Vec<String> = facts.iter().map(name).collect();
    let are_apart = names.iter().collect::<BTreeSet<_>>().len() == names.len();
    if are_apart && names.iter().all(|name| !name.is_empty()) { names } else { by_file() }
}

/// The paths of variants without the endings of snapshots. Where two are the same then, they keep them.
fn without_endings(all: &[SnapshotFiles]) -> Vec<PathBuf> {
    let stripped = |files: &SnapshotFiles| {
        let ending = files.path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let is_known = ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known));
        if is_known { files.path.with_extension("") } else { files.path.clone() }
    };
    let paths: Vec<PathBuf> = all.iter().map(stripped).collect();
    let mut counts: BTreeMap<&Path, usize> = BTreeMap::new();
    for path in &paths {
        let count = counts.entry(path).or_default();
        *count = count.saturating_add(1);
    }
    let is_alone = |path: &PathBuf| counts.get(path.as_path()) == Some(&1);
    let path = |(path, files): (&PathBuf, &SnapshotFiles)| {
        if is_alone(path) { path.clone() } else { files.path.clone() }
    };
    paths.iter().zip(all).map(path).collect()
}

/// Values of an `app.json` by their paths.
type Facts = BTreeMap<String, String>;

/// What `app.json` says of each variant; `None` where there is none, or it lies beside several.
fn apps(all: &[SnapshotFiles], warnings: &Warnings, progress: &Progress) -> Vec<Option<Facts>> {
    let mut beside: BTreeMap<&Path, usize> = BTreeMap::new();
    for app in all.iter().filter_map(|files| files.app.as_deref()) {
        let count = beside.entry(app).or_default();
        *count = count.saturating_add(1);
    }
    let facts = |files: &SnapshotFiles| {
        let app = files.app.as_deref().filter(|app| beside.get(app) == Some(&1))?;
        let facts = pytorch::read_app_file(app, warnings, progress);
        // A value that is not within an object has no name.
        let named = facts.into_iter().filter(|fact| !fact.path.is_empty());
        Some(named.map(|fact| (fact.path, fact.value)).collect())
    };
    all.iter().map(facts).collect()
}

/// What nvidia-smi said, bytes, rounded down.
fn smi_bytes(app: &Facts) -> Option<u64> {
    const MIB: u64 = 1 << 20;
    let said = app.get(SMI)?;
    if let Ok(mib) = said.parse::<u64>() {
        return mib.checked_mul(MIB);
    }
    let bytes = said.parse::<f64>().ok()? * MIB as f64;
    // Above, a number with decimals has no bytes.
    let is_size = (0.0..2_f64.powi(53)).contains(&bytes);
    is_size.then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::pytorch::files::{FileKind, with_side_files};

    fn names_of(paths: &[&str]) -> Vec<String> {
        let files = |path: &&str| with_side_files(PathBuf::from(path), FileKind::Snapshot);
        let all: Vec<SnapshotFiles> = paths.iter().map(files).collect();
        names(&all, &vec![None; all.len()])
    }

    #[test]
    fn of_names_only_the_endings_of_snapshots_go() {
        assert_eq!(names_of(&["/r/lr_0.5", "/r/lr_0.25"]), ["lr_0.5", "lr_0.25"]);
        assert_eq!(names_of(&["/r/a.pickle", "/r/b.PKL", "/r/c.bin"]), ["a", "b", "c"]);
        assert_eq!(
            names_of(&["/r/a.pickle", "/r/a.pkl", "/r/b.pickle"]),
            ["a.pickle", "a.pkl", "b"]
        );
    }

    #[test]
    fn what_nvidia_smi_said_may_have_decimals() {
        let of = |said: &str| smi_bytes(&BTreeMap::from([(SMI.to_owned(), said.to_owned())]));
        assert_eq!(of("600"), Some(600 << 20));
        assert_eq!(of("600.5"), Some((600 << 20) + (1 << 19)));
        assert_eq!(of("6e2"), Some(600 << 20));
        assert_eq!([of("-1.5"), of("NaN"), of("1e300"), of("much")], [None; 4]);
    }
}
