//! Compares figures that a report states twice: every difference is a message that names both sides with their figures.
//!
//! The sums are those of formats/poplar.md 2.4 that hold exactly in real reports. What is compared follows from the
//! parts that are there, so a command that reads little compares little, and nothing is read for it. Where a program
//! is replicated, sums over liveness are not compared with those over tiles: what Poplar writes there is not known.
//!
//! | file | what is compared |
//! |---|---|
//! | `facts` | the machine with itself, counts with rows, programs with the steps that walk them |
//! | `tile_sums` | a tile's bytes with its regions, categories and lives |
//! | `lives` | the changes from step to step with each other and with the lives of variables |
//! | `tile_bytes` | a tile's bytes by region and category with its lowered variables |
//! | `lowered` | every tile's sums, classes and curve with its lowered variables and its bytes by class |
//! | `compute` | compute sets with their vertices, vertex types with compute sets |
//! | `execution` | what is stated of runs with what their steps add up to |
//! | `one_tile` | a tile that is read alone with its sums |

mod compute;
mod differences;
mod execution;
mod facts;
mod lives;
mod lowered;
mod one_tile;
mod tile_bytes;
mod tile_sums;

pub use execution::contradictions_of_trace;
pub use one_tile::contradictions_of_tile;

use crate::progress::Progress;
use crate::store::Report;
use differences::Differences;

/// What contradicts itself in the parts that are there, a message for each kind. Of a reading that was canceled
/// nothing is said.
pub fn contradictions(report: &Report, progress: &Progress) -> Vec<String> {
    let mut differences = Differences::default();
    facts::compare(report, &mut differences);
    tile_sums::compare(report, &mut differences);
    lives::compare(report, &mut differences);
    compute::compare(report, &mut differences);
    lowered::compare(report, progress, &mut differences);
    if progress.is_cancelled() { Vec::new() } else { differences.into_messages() }
}

/// Whether what liveness says is of all tiles.
fn is_of_all_tiles(report: &Report) -> bool {
    let replicas = report.target.get().and_then(|target| target.replicas);
    replicas.is_none_or(|replicas| replicas <= 1)
}

/// No place within a table that has one row.
fn nowhere() -> String {
    String::new()
}
