//! The facts of runs whose system has its own: memory snapshots and programs of XLA.

use super::comparison::facts::FactGroup;
use super::comparison::program_facts::program_fact_groups;
use super::comparison::snapshot_facts::snapshot_fact_groups;
use crate::analysis::derived::Derived;

/// The facts of runs that are all of one system with its own; `None` of others, whose reports say them.
pub fn own_fact_groups(runs: &[&Derived]) -> Option<Vec<FactGroup>> {
    let allocators: Option<Vec<_>> = runs.iter().map(|run| run.allocator()).collect();
    if let Some(allocators) = allocators {
        return Some(snapshot_fact_groups(&allocators));
    }
    let programs: Option<Vec<_>> =
        runs.iter().map(|run| Some((run.program()?, run.program_insights()?))).collect();
    let programs = programs?;
    let programs: Vec<_> = programs.iter().map(|(of, insights)| (&***of, &**insights)).collect();
    Some(program_fact_groups(&programs))
}
