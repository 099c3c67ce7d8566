//! Two reports, *source* and *target*: what differs, and what a change consists of.
//!
//! Pure functions of two [`crate::store::Report`]s and, where rows belong together by more than a name, of
//! their [`crate::analysis::comparison::matching::Matching`]. Facts, figures, options and what goes by the
//! common axis of steps are of any number of reports.

pub mod attribution;
pub mod category_bytes;
pub mod contribution;
pub mod difference_map;
pub mod explanation;
pub mod facts;
pub mod figures;
#[cfg(test)]
mod fixture;
pub mod fullest_tile;
pub mod join;
pub mod matching;
pub mod moment;
pub mod options;
pub mod owners;
pub mod plans;
pub mod slot_curves;
pub mod slot_peaks;
pub mod step_axis;
pub mod tally;
pub mod variable_figures;
pub mod variables;
