//! Names that rows of some bytes repeat by reference: all that are made of them would be many times the file.

use crate::limits;
use crate::store::Report;
use crate::store::compute::ComputeSets;
use crate::store::debug_info::DebugInfo;
use crate::store::program::{Programs, Steps};

/// Cuts the names of programs and compute sets where the steps repeat too many bytes of them. Returns to how many.
pub fn of_steps(
    programs: &mut Programs,
    sets: Option<&mut ComputeSets>,
    steps: &Steps,
) -> Option<usize> {
    let of_set = |row: usize| {
        let (sets, set) = (sets.as_ref()?, programs.compute_sets.get(row).copied().flatten()?);
        sets.names.at(sets.ids.position(set)?).map(str::len)
    };
    let bytes = |row: usize| {
        let of_set = of_set(row).unwrap_or(0);
        programs.names.at(row).map_or(0, str::len).max(of_set)
    };
    let rows = steps.programs.iter().filter_map(|program| programs.ids.position(*program));
    let sum = rows.fold(0_usize, |sum, row| sum.saturating_add(bytes(row)));
    let most = limits::name_bytes(steps.programs.len(), sum)?;
    programs.names.cut(most);
    if let Some(sets) = sets {
        sets.names.cut(most);
    }
    Some(most)
}

/// The same of the names of debug contexts that steps belong to.
pub fn of_contexts(debug: &mut DebugInfo, report: &Report) -> Option<usize> {
    let (programs, steps) = (report.programs.get()?, report.steps.get()?);
    let of_context = |context: usize| {
        debug.ancestry(context).map(|row| debug.text_bytes(row)).max().unwrap_or(0)
    };
    let context = |id: &u64| debug.position(*id).filter(|_| *id != 0);
    let of_programs: Vec<usize> =
        programs.debug_ids.iter().map(|id| context(id).map_or(0, of_context)).collect();
    let rows = steps.programs.iter().filter_map(|program| programs.ids.position(*program));
    let sum = rows
        .filter_map(|row| of_programs.get(row))
        .fold(0, |sum: usize, bytes| sum.saturating_add(*bytes));
    let most = limits::name_bytes(steps.programs.len(), sum)?;
    debug.texts.cut(most);
    Some(most)
}
