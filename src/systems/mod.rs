//! The systems whose runs can be opened: a folder each, with readers, answers, and what only that system needs.
//!
//! [`SYSTEMS`] lists them; what opens runs takes such a list, so that a test can add one.

pub mod below;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
pub mod poplar;
pub mod pytorch;
pub mod several;
pub mod system;
pub mod tenstorrent;
pub mod xla;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::analysis::derived::Derived;
use crate::files::{self, looks_like};
use crate::format::{Error, ErrorKind, Progress};
use crate::store::{Report, Warnings};
use crate::synth::Synth;
use crate::synth::story::Story;
use system::{FoundRun, RunSystem};

/// The systems, in the order in which they are asked whether a path is theirs.
pub const SYSTEMS: &[&dyn RunSystem] = &[
    &poplar::system::Poplar,
    &pytorch::system::Pytorch,
    &xla::system::Xla,
    &tenstorrent::system::Tenstorrent,
];

/// Runs that a message lists.
const MOST_LISTED: usize = 20;

static OF_PROCESS: OnceLock<Vec<&'static dyn RunSystem>> = OnceLock::new();

/// The systems whose runs this process opens: [`SYSTEMS`], unless others were chosen.
pub fn of_process() -> &'static [&'static dyn RunSystem] {
    OF_PROCESS.get().map_or(SYSTEMS, Vec::as_slice)
}

/// Chooses the systems of this process, once and before the first run is opened.
pub fn use_for_process(systems: Vec<&'static dyn RunSystem>) {
    // A second choice is a mistake, and the first one stays.
    drop(OF_PROCESS.set(systems));
}

/// Finds the run at a path, of whatever system. `module` names one of several modules in a run by a part of its name.
///
/// # Errors
/// When the path names several runs, as [`refusal`] for something that no system takes, and for a module of a run that
/// has none.
pub fn find(
    systems: &[&dyn RunSystem],
    path: &Path,
    module: Option<&str>,
    progress: &Progress,
) -> Result<Box<dyn FoundRun>, Error> {
    let warnings = Warnings::default();
    let is_file = !path.is_dir();
    let (mut found, mut several) = (Vec::new(), Vec::new());
    for system in systems {
        match system.find(path, module, &warnings, progress) {
            Ok(Some(run)) => {
                let is_all = is_file || run.is_whole_directory();
                found.push(run);
                if is_all {
                    break;
                }
            }
            Err(error) if error.kind == ErrorKind::SeveralReports => several.push(error),
            Err(error) if found.is_empty() && several.is_empty() => return Err(error),
            // What is damaged does not stand in the way of a run.
            Ok(None) | Err(_) => {}
        }
    }
    if found.len() + several.len() > 1 {
        return Err(several_runs(systems, path, found, progress));
    }
    match (found.pop(), several.pop()) {
        (Some(run), _) => with_module(systems, run, path, module),
        (None, Some(error)) => Err(error),
        (None, None) => Err(refusal(systems, path)),
    }
}

/// The run, unless a module is named and it has none.
fn with_module(
    systems: &[&dyn RunSystem],
    run: Box<dyn FoundRun>,
    path: &Path,
    module: Option<&str>,
) -> Result<Box<dyn FoundRun>, Error> {
    let Some(module) = module.filter(|_| !run.system().has_modules()) else { return Ok(run) };
    let with = systems.iter().filter(|system| system.has_modules());
    let with: Vec<&str> = with.map(|system| system.title()).collect();
    let message = format!("{} has no modules, so none is called {module:?}", path.display());
    Err(Error::new(ErrorKind::Usage, message)
        .in_file(path)
        .hint(format!("Only dumps and profiles of {} have modules.", with.join(", "))))
}

/// That runs of several systems lie below a directory, with a list of them: those that were found there, also such as
/// no table compares, and all that lie deeper.
fn several_runs(
    systems: &[&dyn RunSystem],
    path: &Path,
    found: Vec<Box<dyn FoundRun>>,
    progress: &Progress,
) -> Error {
    let below = |system: &&dyn RunSystem| {
        system.below(&[path.to_owned()], None, &Warnings::default(), progress).unwrap_or_default()
    };
    let mut below: Vec<_> = systems.iter().flat_map(below).collect();
    below::leave_out_settings_of_others(&mut below);
    // What a system finds and no table compares is one nevertheless.
    let has_others = |run: &dyn FoundRun| {
        below.iter().any(|other| other.system().title() == run.system().title())
    };
    let alone: Vec<_> = found.into_iter().filter(|run| !has_others(&**run)).collect();
    let runs: BTreeSet<String> = (below.into_iter().chain(alone))
        .map(|run| format!("  {} ({})", run.opened_by().display(), run.system().title()))
        .collect();
    let mut runs: Vec<String> = runs.into_iter().collect();
    let count = runs.len();
    if count > MOST_LISTED {
        runs.truncate(MOST_LISTED);
        runs.push(format!("  and {} more", count.saturating_sub(MOST_LISTED)));
    }
    let message = format!("{} holds {count} runs:\n{}", path.display(), runs.join("\n"));
    Error::new(ErrorKind::SeveralReports, message).of_several(path)
}

/// Why a path that no system takes cannot be opened: what its file or directory is, whose, and what to do. A system
/// answers only for what looks like a part of its runs.
pub fn refusal(systems: &[&dyn RunSystem], path: &Path) -> Error {
    if let Some(error) = systems.iter().find_map(|system| system.refusal(path)) {
        return error;
    }
    let name = path.display();
    if let Some(what) = files::in_place_of_file(path).filter(|_| !path.is_dir()) {
        let message = format!("{name}: {}", files::not_a_file(what));
        return Error::new(ErrorKind::NotAReport, message).in_file(path);
    }
    match looks_like::look(path) {
        Ok(look) => Error::new(ErrorKind::NotAReport, look.message(&name.to_string()))
            .in_file(path)
            .hint(look.hint),
        Err(error) => Error::io(path, &error),
    }
}

/// What is worked out once for a report that is there already, with the answers of its system where it has any.
pub fn derived_of_report(systems: &[&dyn RunSystem], report: Arc<Report>) -> Derived {
    let is_of = |system: &&&dyn RunSystem| system.words() == report.system;
    let answers = systems.iter().find(is_of).and_then(|system| system.answers_of_report());
    let derived = Derived::new(report);
    match answers {
        Some(answers) => derived.with_answers(answers),
        None => derived,
    }
}

/// The systems whose runs can be written, with how.
pub fn writers() -> impl Iterator<Item = (&'static dyn RunSystem, Synth)> {
    of_process().iter().filter_map(|system| Some((*system, system.synth()?)))
}

/// The system whose demo is shown where none is named, with how it is written.
pub fn usual_demo() -> Option<(&'static dyn RunSystem, Synth)> {
    // `min_by_key` keeps the first of equals.
    writers().min_by_key(|(_, synth)| !synth.is_usual_demo)
}

/// The story that the window offers before a run is opened.
pub fn demo_story() -> Option<Story> {
    usual_demo().map(|(_, synth)| (synth.story)())
}

/// What a path says that is a part of a run at most, such as an error text.
pub fn partial(systems: &[&dyn RunSystem], path: &Path) -> Option<Derived> {
    systems.iter().find_map(|system| system.partial(path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A directory with these files below it.
    fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        directory
    }

    #[test]
    fn a_report_in_a_directory_is_found_without_a_look_below() {
        let files: Vec<String> = (0..300).map(|name| format!("below/{name}")).collect();
        let files = files.iter().map(|name| (name.as_str(), &b""[..]));
        let directory = directory(&files.chain([("profile.pop", &b""[..])]).collect::<Vec<_>>());
        // Whoever looks below asks at each directory whether to go on.
        let progress = Progress::asking(|| panic!("nothing is walked through"));
        let files = find(SYSTEMS, directory.path(), None, &progress);
        let found: Box<dyn std::any::Any> = files.expect("a report");
        let found = found.downcast::<poplar::system::FoundReport>().expect("of Poplar");
        assert!(found.warnings.is_empty());
        fs::remove_file(directory.path().join("profile.pop")).unwrap();
        let progress = Progress::default();
        progress.cancel();
        let files = find(SYSTEMS, directory.path(), None, &progress);
        assert!(
            files.is_err_and(|error| error.message == "cancelled"),
            "it ends when nobody waits"
        );
    }
}
