//! Two reports, *source* and *target*: what differs, and what a change consists of.
//!
//! Pure functions of two [`crate::store::Report`]s and, where rows belong together by more than a name, of
//! their [`crate::analysis::comparison::matching::Matching`]. Facts, figures, options and what goes by the
//! common axis of steps are of any number of reports.

pub(crate) mod at_a_glance;
pub(crate) mod attribution;
pub(crate) mod category_bytes;
pub(crate) mod contribution;
pub(crate) mod difference_map;
pub(crate) mod explanation;
pub mod fact_groups;
pub(crate) mod facts;
pub(crate) mod figures;
#[cfg(test)]
mod fixture;
pub(crate) mod fullest_tile;
pub(crate) mod join;
pub mod landmarks;
pub(crate) mod machine;
pub mod matching;
pub(crate) mod moment;
pub(crate) mod options;
pub(crate) mod owners;
pub(crate) mod peak_move;
pub(crate) mod plans;
pub mod report_facts;
pub(crate) mod slot_curves;
pub(crate) mod slot_peaks;
pub(crate) mod step_axis;
pub(crate) mod tally;
pub mod time_slots;
pub(crate) mod variable_figures;
pub mod variables;
pub(crate) mod waterfall;

/// What belongs to source and target, where both have it.
pub(crate) fn both<T>([source, target]: [Option<T>; 2]) -> Option<[T; 2]> {
    Some([source?, target?])
}
