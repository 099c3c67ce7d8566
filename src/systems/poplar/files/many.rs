//! Many reports, a few at a time: each is dropped as soon as its facts are taken.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::database::size_of_file;
use super::{FolderReport, OpenReport, discover};
use crate::format::{Error, Progress};
use crate::index;
use crate::store::Warnings;

/// How many reports are in memory at a time at most, whatever the number of processors: the debug
/// contexts of one may take hundreds of megabytes.
const AT_A_TIME: usize = 4;

/// What `facts` makes of each report, in their order. Of a report the small tables are read; one that
/// cannot be read gives its error. `None` when it was cancelled.
pub fn map_reports<T: Send>(
    reports: &[FolderReport],
    progress: &Progress,
    facts: impl Fn(&FolderReport, Result<&OpenReport, &Error>) -> T + Sync,
) -> Option<Vec<T>> {
    let sizes: Vec<[u64; 2]> = reports.par_iter().map(|it| bytes_of_report(&it.profile)).collect();
    for [of_profile, of_debug] in &sizes {
        progress.expect(of_profile.saturating_add(*of_debug));
    }
    let next = AtomicUsize::new(0);
    let work = |_| {
        let mut done = Vec::new();
        while !progress.is_cancelled() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((report, size)) = reports.get(index).zip(sizes.get(index)) else { break };
            let result = match OpenReport::open_with(&report.profile, index::of_process(), progress)
            {
                Ok(open) => {
                    let facts = facts(report, Ok(&open));
                    progress.advance(size[0]);
                    facts
                }
                Err(error) => {
                    progress.advance(size[0].saturating_add(size[1]));
                    facts(report, Err(&error))
                }
            };
            done.push((index, result));
        }
        done
    };
    let mut done: Vec<(usize, T)> =
        (0..AT_A_TIME).into_par_iter().with_max_len(1).flat_map_iter(work).collect();
    if progress.is_cancelled() {
        return None;
    }
    done.sort_by_key(|(index, _)| *index);
    Some(done.into_iter().map(|(_, facts)| facts).collect())
}

/// Bytes of a report's profile and debug file, for progress. The debug file's reader reports its own.
pub fn bytes_of_report(profile: &Path) -> [u64; 2] {
    let found = discover(profile, &Warnings::default());
    let debug = found.ok().and_then(|found| size_of_file(&found.debug?));
    [size_of_file(profile).unwrap_or(0), debug.unwrap_or(0)]
}
