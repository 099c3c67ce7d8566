//! The runs that several paths name, which are to be put beside each other.

use std::path::Path;

use super::system::FoundRun;
use super::{find, of_process};
use crate::format::{Error, ErrorKind, Progress};
use crate::run::modules::common_module;

/// The runs that paths name, which are to be compared with the first. Where there are several modules at each path it is
/// the first one of the first path that all others have, if none is named.
///
/// # Errors
/// When they are of several systems, and as [`find`].
pub fn runs_to_compare(
    paths: &[&Path],
    module: Option<&str>,
    progress: &Progress,
) -> Result<Vec<Box<dyn FoundRun>>, Error> {
    let find = |path: &&Path| find(of_process(), path, module, progress);
    let mut runs = paths.iter().map(find).collect::<Result<Vec<_>, Error>>()?;
    let title = |run: &dyn FoundRun| run.system().title();
    let mut titles = paths.iter().zip(&runs).map(|(path, run)| (*path, title(&**run)));
    if let Some(first) = titles.next()
        && let Some(other) = titles.find(|other| other.1 != first.1)
    {
        return Err(of_several_systems(first, other));
    }
    if module.is_none() {
        prefer_common_module(&mut runs);
    }
    Ok(runs)
}

fn of_several_systems((first, of): (&Path, &str), (other, of_other): (&Path, &str)) -> Error {
    let message = format!(
        "{} is a run of {of}, and {} is a run of {of_other}: runs of different systems have \
        neither steps nor variables in common",
        first.display(),
        other.display(),
    );
    Error::new(ErrorKind::Usage, message).hint("Compare runs of one system.")
}

/// Means the module that is compared. Where runs have none in common each keeps its own.
fn prefer_common_module(runs: &mut [Box<dyn FoundRun>]) {
    let lists: Vec<_> = runs.iter().map(|run| run.modules()).collect();
    let places = common_module(&lists).unwrap_or_default();
    for (run, place) in runs.iter_mut().zip(places) {
        run.choose_module(place);
    }
}
