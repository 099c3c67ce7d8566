//! The sweep of many runs, of any system: found below paths, read a few at a time, and the facts of each kept. The command
//! and the window share it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::analysis::derived::Derived;
use crate::analysis::program::report_options::{OptionKind, OptionValue, ReportOption};
use crate::analysis::sweep::{FigureKind, Percents, RunError, SweepFacts, SweepFigure, SweepRun};
use crate::files::directory_of;
use crate::format::side_files::read_side_file;
use crate::format::{Error, ErrorKind, Progress};
use crate::store::{Warning, WarningCode, Warnings};
use crate::systems::system::{FoundRun, OpenRun, RunSystem};
use crate::systems::{self, of_process};
use crate::text::run_names::run_names;

/// What nvidia-smi said of a run, in MiB: a key of `app.json`.
const SMI: &str = "smi_mib";
static SMI_BYTES: FigureKind = FigureKind {
    percents: Percents::OfReference,
    ..FigureKind::bytes(["smi_bytes", "smi"], ["What nvidia-smi said", "nvidia-smi"], Some(9))
};

/// The runs at or below paths, of all systems, by path; `warnings` says what was not looked into.
///
/// # Errors
/// When a path names no run: why. When it was canceled.
pub(crate) fn runs_below(
    systems: &[&dyn RunSystem],
    paths: &[PathBuf],
    module: Option<&str>,
    warnings: &Warnings,
    progress: &Progress,
) -> Result<Vec<Box<dyn FoundRun>>, Error> {
    let mut all: Vec<Box<dyn FoundRun>> = Vec::new();
    let mut first_error = None;
    for system in systems {
        match system.below(paths, module, warnings, progress) {
            Ok(found) => all.extend(found),
            Err(error) => drop(first_error.get_or_insert(error)),
        }
    }
    if progress.is_cancelled() {
        return Err(Error::cancelled());
    }
    systems::below::leave_out_settings_of_others(&mut all);
    if let Some(module) = module.filter(|_| !all.iter().any(|run| run.system().has_modules())) {
        let path = paths.first().map_or(Path::new("."), |path| path);
        // It says which modules there are, or that the runs have none.
        return Err(match systems::find(systems, path, Some(module), progress) {
            Err(error) => error,
            Ok(_) => Error::new(ErrorKind::Usage, format!("no run has a module {module:?}")),
        });
    }
    for path in paths {
        let mut runs = all.iter();
        let has_any = runs.any(|run| {
            let of = [run.opened_by(), run.path().to_owned(), run.main_file()];
            let is_part = || run.own_directory().is_some_and(|own| path.starts_with(own));
            of.iter().any(|of| of.starts_with(path)) || is_part()
        });
        // What is damaged is a row with its error.
        if !has_any {
            return Err(match systems::find(systems, path, module, progress) {
                Err(error) if error.kind != ErrorKind::SeveralReports => error,
                Ok(found) if found.why_no_row().is_some() => no_row(path, &*found),
                _ => first_error.unwrap_or_else(|| no_runs(path)),
            });
        }
    }
    all.sort_by_key(|run| run.opened_by());
    Ok(all)
}

/// That there is nothing at a path that could be put beside other runs.
fn no_runs(path: &Path) -> Error {
    let message = format!("{} has no runs to put side by side", path.display());
    Error::new(ErrorKind::NotAReport, message)
        .in_file(path)
        .hint("Name a directory that holds several runs.")
}

/// Why a run is no row of a table.
fn no_row(path: &Path, found: &dyn FoundRun) -> Error {
    let [what, hint] = found.why_no_row().unwrap_or_default();
    Error::new(ErrorKind::Usage, format!("{} is {what}", path.display())).in_file(path).hint(hint)
}

/// The runs at or below paths, each with its facts, and what there is to say of how they were found. What cannot be read
/// is a run with its error. Figures are of a device, or of the one that says most of each run.
///
/// # Errors
/// As [`runs_below`]; when none can be read, or none has the device.
pub(crate) fn read_runs(
    paths: &[PathBuf],
    module: Option<&str>,
    device: Option<i64>,
    progress: &Progress,
) -> Result<(Vec<SweepRun>, Vec<Warning>), Error> {
    let warnings = Warnings::default();
    let found = runs_below(of_process(), paths, module, &warnings, progress)?;
    let names = names(paths, &found);
    let apps = Apps::of(&found);
    let read = map_runs(&found, progress, |run| {
        let read = read_row(run, &apps, device, progress);
        read.map(|(open, facts)| (facts, open.derived().report().warnings.list()))
    });
    let Some(read) = read else { return Err(Error::cancelled()) };
    let mut first_error = None;
    let mut runs = Vec::with_capacity(read.len());
    for ((found, name), read) in found.iter().zip(names).zip(read) {
        let run = named_run(&**found, name);
        match read {
            Ok((facts, warnings)) => {
                let mut run = SweepRun { facts, warnings, ..run };
                run.add_directory();
                runs.push(run);
            }
            // What has not the device is no row.
            Err(error) if error.kind == ErrorKind::Usage => {
                warnings.add(WarningCode::Inconsistent, &run.path, error.message.as_str());
                first_error.get_or_insert(error);
            }
            Err(error) => {
                runs.push(unreadable(run, &found.main_file(), &error));
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error.filter(|_| runs.iter().all(|run| run.error.is_some())) {
        Some(error) => Err(error),
        None => Ok((runs, warnings.list())),
    }
}

/// A run of which nothing is read yet.
pub(crate) fn named_run(found: &dyn FoundRun, name: String) -> SweepRun {
    let path = found.opened_by().display().to_string();
    let (system, no_report) = (found.system().words().name, !found.has_report());
    SweepRun { path, name, system, no_report, ..SweepRun::default() }
}

/// How many runs each `app.json` lies beside: what lies beside several says nothing of one.
pub(crate) struct Apps<'a>(BTreeMap<&'a Path, usize>);

impl<'a> Apps<'a> {
    /// Those beside some runs.
    pub fn of(found: &'a [Box<dyn FoundRun>]) -> Self {
        let mut apps: BTreeMap<&Path, usize> = BTreeMap::new();
        for app in found.iter().filter_map(|run| run.app()) {
            let count = apps.entry(app).or_default();
            *count = count.saturating_add(1);
        }
        Self(apps)
    }
}

/// Reads what a run brings into a table: of a device, or of the one that says most.
///
/// # Errors
/// When it cannot be read, does not have the device, and when it was canceled.
pub(crate) fn read_row(
    found: &dyn FoundRun,
    apps: &Apps<'_>,
    device: Option<i64>,
    progress: &Progress,
) -> Result<(Box<dyn OpenRun>, SweepFacts), Error> {
    let open = found.open_in_sweep(progress)?.ok_or_else(Error::cancelled)?;
    let derived: &Derived = open.derived();
    let facts = derived.answers().sweep_facts(derived, device)?;
    let need = derived.answers().need(derived, device)?;
    let verdict = match device {
        Some(_) => derived.verdict_of(&need),
        None => derived.verdict().map(|verdict| (*verdict).clone()).unwrap_or_default(),
    };
    let mut facts = SweepFacts { verdict, need, ..facts };
    if let Some(app) = found.app().filter(|app| apps.0.get(app) == Some(&1)) {
        for fact in read_side_file(app, "app.json", &derived.report().warnings, progress).0 {
            let value = OptionValue::parse(&fact.value);
            if fact.path == SMI {
                facts.figures.push(SweepFigure::count(&SMI_BYTES, smi_bytes(&fact.value)));
            } else if !fact.path.is_empty() {
                facts.options.push(ReportOption { kind: OptionKind::App, name: fact.path, value });
            }
        }
        facts.options.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        facts.kinds.push(OptionKind::App);
        facts.kinds.sort();
    }
    Ok((open, facts))
}

/// What nvidia-smi said, bytes, rounded down.
fn smi_bytes(said: &str) -> Option<u64> {
    const MIB: u64 = 1 << 20;
    if let Ok(mib) = said.parse::<u64>() {
        return mib.checked_mul(MIB);
    }
    let bytes = said.parse::<f64>().ok()? * MIB as f64;
    // Above, a number with decimals has no bytes.
    let is_size = (0.0..2_f64.powi(53)).contains(&bytes);
    is_size.then_some(bytes as u64)
}

/// A run that could not be read, with a warning that says so.
pub(crate) fn unreadable(run: SweepRun, file: &Path, error: &Error) -> SweepRun {
    let code = match error.kind {
        ErrorKind::UnsupportedVersion => WarningCode::UnsupportedVersion,
        _ => WarningCode::Inconsistent,
    };
    let file = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let warning = Warning {
        code,
        file: file.unwrap_or_default(),
        message: format!("cannot be read: {}", error.message),
    };
    let reason = RunError {
        kind: error.kind.as_str().to_owned(),
        at: error.at.clone(),
        message: error.message.clone(),
    };
    SweepRun { error: Some(reason), warnings: vec![warning], ..run }
}

/// What the runs are called: by their paths as seen from the directory that is named, else by what tells them apart.
fn names(paths: &[PathBuf], found: &[Box<dyn FoundRun>]) -> Vec<String> {
    let mut of_paths: HashMap<&Path, usize> = HashMap::new();
    for run in found {
        let count = of_paths.entry(run.path()).or_default();
        *count = count.saturating_add(1);
    }
    let is_alone = |run: &dyn FoundRun| of_paths.get(run.path()) == Some(&1);
    let naming: Vec<PathBuf> =
        found.iter().map(|run| run.naming_path(is_alone(run.as_ref()))).collect();
    let different: BTreeSet<&PathBuf> = naming.iter().collect();
    let naming: Vec<PathBuf> = if different.len() == naming.len() {
        naming
    } else {
        found.iter().map(|run| run.opened_by()).collect()
    };
    match paths {
        [folder] if folder.is_dir() => naming.iter().map(|path| name_from(folder, path)).collect(),
        _ => run_names(naming.iter().map(PathBuf::as_path)),
    }
}

/// A path as seen from a folder; `.` for the folder itself.
pub(crate) fn name_from(folder: &Path, path: &Path) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path);
    if below.as_os_str().is_empty() { ".".to_owned() } else { below.display().to_string() }
}

/// What `facts` makes of each run, in their order, of each system as many at a time as it can have in memory. `None` when
/// it was canceled.
pub(crate) fn map_runs<T: Send>(
    found: &[Box<dyn FoundRun>],
    progress: &Progress,
    facts: impl Fn(&dyn FoundRun) -> T + Sync,
) -> Option<Vec<T>> {
    for bytes in found.iter().map(|run| run.bytes()) {
        progress.expect(bytes);
    }
    let mut done: Vec<(usize, T)> = Vec::with_capacity(found.len());
    let systems: BTreeMap<&str, &dyn RunSystem> =
        found.iter().map(|run| (run.system().title(), run.system())).collect();
    for system in systems.values() {
        let places: Vec<usize> = (0..found.len())
            .filter(|place| {
                found.get(*place).is_some_and(|run| run.system().title() == system.title())
            })
            .collect();
        let next = AtomicUsize::new(0);
        let work = |_| {
            let mut done = Vec::new();
            while !progress.is_cancelled() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some((place, run)) =
                    places.get(index).and_then(|place| Some((*place, found.get(*place)?)))
                else {
                    break;
                };
                done.push((place, facts(run.as_ref())));
            }
            done
        };
        let threads = (0..system.reads_at_a_time()).into_par_iter();
        done.extend(threads.with_max_len(1).flat_map_iter(work).collect::<Vec<_>>());
    }
    if progress.is_cancelled() {
        return None;
    }
    done.sort_by_key(|(place, _)| *place);
    Some(done.into_iter().map(|(_, facts)| facts).collect())
}

/// Where the files of a run are, as seen from the directory that is named.
pub(crate) fn place_of(paths: &[PathBuf], run: &SweepRun) -> String {
    let path = Path::new(&run.path);
    let directory = if path.is_dir() { path.to_owned() } else { directory_of(path) };
    match paths {
        [folder] => name_from(folder, &directory),
        _ => directory.display().to_string(),
    }
}

/// Warnings of a folder, then of each of its runs, whose files are named as seen from the folder.
pub(crate) fn all_warnings<'a>(
    folder: &[Warning],
    runs: impl Iterator<Item = (&'a str, &'a [Warning])>,
) -> Vec<Warning> {
    let of_run = |(run, warnings): (&'a str, &'a [Warning])| {
        let named = |warning: &Warning| Warning { file: file_of(run, warning), ..warning.clone() };
        warnings.iter().map(named).collect::<Vec<_>>()
    };
    folder.iter().cloned().chain(runs.flat_map(of_run)).collect()
}

/// The same for people: what is said of the same file of several runs is one.
pub(crate) fn shared_warnings<'a>(
    folder: &[Warning],
    runs: impl Iterator<Item = (&'a str, &'a [Warning])>,
) -> Vec<Warning> {
    let mut shared = folder.to_vec();
    let mut seen: Vec<(&Warning, Vec<&str>)> = Vec::new();
    let mut places: HashMap<&Warning, usize> = HashMap::new();
    for (run, warnings) in runs {
        for warning in warnings {
            let place = *places.entry(warning).or_insert(seen.len());
            match seen.get_mut(place) {
                Some((_, names)) => names.push(run),
                None => seen.push((warning, vec![run])),
            }
        }
    }
    shared.extend(seen.into_iter().map(|(warning, names)| {
        let file = match names.as_slice() {
            [name] => file_of(name, warning),
            names => format!("{} of {} runs", warning.file, names.len()),
        };
        Warning { file, ..warning.clone() }
    }));
    shared
}

/// The file of a warning as seen from the folder.
fn file_of(run: &str, warning: &Warning) -> String {
    let run = Path::new(run);
    // A run may be called by its profile.
    let is_profile = run.extension().is_some_and(|extension| extension == "pop");
    let directory = run.parent().filter(|_| is_profile).unwrap_or(run);
    directory.join(&warning.file).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nvidia_smi_said_may_have_decimals() {
        assert_eq!(smi_bytes("600"), Some(600 << 20));
        assert_eq!(smi_bytes("600.5"), Some((600 << 20) + (1 << 19)));
        assert_eq!(smi_bytes("6e2"), Some(600 << 20));
        assert_eq!([smi_bytes("-1.5"), smi_bytes("NaN"), smi_bytes("1e300")], [None; 3]);
        assert_eq!(smi_bytes("much"), None);
    }
}
