//! Searching programs: which of them a text is in, in the order of the tree.
//!
//! A text is looked for, whatever its case, in the kind and names of a program (its own, its compute set's, its
//! streams') and in layer, kind and name of every debug context that it was made in. A text with an equals sign is
//! an option and its value: `availableMemoryProportion=0.8` finds the programs whose contexts have an option, argument or
//! attribute of which the left side is a part, with this value; numbers are compared as numbers.

use std::collections::HashMap;

use crate::store::ComputeSetId;
use crate::store::debug_info::{DebugInfo, Proportion, arguments_in};
use crate::store::names::NameId;

use super::compiled_programs::CompiledPrograms;
use super::operations::PROPORTION;
use super::steps::Filter;
use super::tree::TreeShape;

/// The option that says of which type partial sums are.
const PARTIALS_TYPE: &str = "partialsType";
/// Programs that are looked at before it is asked whether to stop.
const PROGRAMS_PER_LOOK: usize = 1024;

/// The programs that match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Positions of programs, in the order of their first places.
    pub in_order: Vec<u32>,
    /// For each program whether it matches.
    is_match: Vec<bool>,
}

impl Matches {
    fn of(programs: usize, in_order: Vec<u32>) -> Self {
        let mut is_match = vec![false; programs];
        for program in &in_order {
            if let Some(is_match) = is_match.get_mut(*program as usize) {
                *is_match = true;
            }
        }
        Self { in_order, is_match }
    }

    /// Whether a program matches.
    pub fn contains(&self, program: usize) -> bool {
        self.is_match.get(program) == Some(&true)
    }
}

/// What is looked for.
enum SearchTerm {
    Text(Filter),
    Option(Filter, String),
}

impl SearchTerm {
    fn of(text: &str) -> Self {
        match text.split_once('=') {
            Some((option, value)) if !option.trim().is_empty() => {
                Self::Option(Filter::new(option.trim()), value.trim().to_lowercase())
            }
            _ => Self::Text(Filter::new(text.trim())),
        }
    }

    /// Whether it is said by a context itself, whatever its call was given.
    fn is_in_context(&self, debug: &DebugInfo, row: usize) -> bool {
        match self {
            Self::Text(filter) => {
                let texts = [Some(debug.layer(row)), debug.kind(row), debug.name(row)];
                texts.into_iter().flatten().any(|text| filter.is_in(text))
            }
            Self::Option(..) => {
                let proportion = match debug.proportion(row) {
                    Proportion::Value(value) => self.is_option(PROPORTION, &value.to_string()),
                    Proportion::Absent | Proportion::Unknown => false,
                };
                let partials = debug.partials_type(row);
                proportion || partials.is_some_and(|found| self.is_option(PARTIALS_TYPE, found))
            }
        }
    }

    fn is_option(&self, name: &str, found: &str) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Option(option, value) => option.is_in(name) && is_equal(found, value),
        }
    }
}

/// Whether values are equal, as numbers of single precision where both are, for files have such; `wanted` is in lower
/// case.
fn is_equal(found: &str, wanted: &str) -> bool {
    match (found.parse::<f64>(), wanted.parse::<f64>()) {
        (Ok(found), Ok(wanted)) => (found - wanted).abs() <= found.abs() * f64::from(f32::EPSILON),
        _ => found.to_lowercase() == wanted,
    }
}

/// The programs that a text is in; all of an empty text. `None` where nobody waits for them any more.
pub fn matching_programs(
    compiled: &CompiledPrograms<'_>,
    shape: &TreeShape,
    text: &str,
    is_cancelled: &dyn Fn() -> bool,
) -> Option<Matches> {
    let wanted = SearchTerm::of(text);
    let mut contexts = ContextSearch::of(compiled.report.debug.get(), &wanted, is_cancelled)?;
    let mut by_set: HashMap<ComputeSetId, bool> = HashMap::new();
    let kinds: Vec<bool> = match &wanted {
        SearchTerm::Text(filter) => {
            compiled.programs.kind_names.iter().map(|kind| filter.is_in(kind)).collect()
        }
        SearchTerm::Option(..) => Vec::new(),
    };
    let mut found = Vec::new();
    for (place, program) in shape.order().iter().enumerate() {
        if place.is_multiple_of(PROGRAMS_PER_LOOK) && is_cancelled() {
            return None;
        }
        let row = *program as usize;
        let is_named = match &wanted {
            SearchTerm::Text(filter) => {
                let kind = compiled.programs.kinds.get(row).copied().flatten();
                let set = compiled.programs.compute_sets.get(row).copied().flatten();
                let mut is_in_set = || {
                    let name = compiled.compute_set_name(row);
                    let looked = || name.is_some_and(|name| filter.is_in(name));
                    set.is_some_and(|set| *by_set.entry(set).or_insert_with(looked))
                };
                kind.is_some_and(|kind| kinds.get(kind.0 as usize) == Some(&true))
                    || compiled.own_name(row).is_some_and(|name| filter.is_in(name))
                    || is_in_set()
                    || compiled.stream_names(row).any(|name| filter.is_in(name))
            }
            SearchTerm::Option(..) => false,
        };
        let context = compiled.programs.debug_ids.get(row).copied().unwrap_or(0);
        if is_named || contexts.have(context) {
            found.push(*program);
        }
    }
    Some(Matches::of(compiled.programs.ids.len(), found))
}

/// What was looked for in debug contexts, each once: programs share them, and contexts their parents.
struct ContextSearch<'a> {
    debug: Option<&'a DebugInfo>,
    wanted: &'a SearchTerm,
    /// For each list of arguments whether it is in it.
    is_in_arguments: Vec<bool>,
    known: Vec<Option<bool>>,
}

impl<'a> ContextSearch<'a> {
    fn of(
        debug: Option<&'a DebugInfo>,
        wanted: &'a SearchTerm,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let (mut is_in_arguments, mut known) = (Vec::new(), Vec::new());
        if let Some(debug) = debug {
            known.resize(debug.len(), None);
            let lists = debug.arguments.iter().enumerate();
            for (place, list) in lists.filter(|_| matches!(wanted, SearchTerm::Option(..))) {
                if place.is_multiple_of(PROGRAMS_PER_LOOK) && is_cancelled() {
                    return None;
                }
                let mut all = arguments_in(list);
                is_in_arguments.push(all.any(|(name, value)| wanted.is_option(name, value)));
            }
        }
        Some(Self { debug, wanted, is_in_arguments, known })
    }

    /// Whether a context, by its id, or one above it has what is looked for.
    fn have(&mut self, id: u64) -> bool {
        let Some(debug) = self.debug.filter(|_| id != 0) else { return false };
        let Some(context) = debug.position(id) else { return false };
        let mut looked_at = Vec::new();
        let mut is_there = false;
        for row in debug.ancestry(context) {
            if let Some(Some(known)) = self.known.get(row) {
                is_there = *known;
                break;
            }
            looked_at.push(row);
            if self.is_in(debug, row) {
                is_there = true;
                break;
            }
        }
        for row in looked_at {
            if let Some(known) = self.known.get_mut(row) {
                *known = Some(is_there);
            }
        }
        is_there
    }

    fn is_in(&self, debug: &DebugInfo, row: usize) -> bool {
        let given = || debug.arguments_of(row).filter(|_| !self.is_in_arguments.is_empty());
        let is_given = |list: NameId| self.is_in_arguments.get(list.0 as usize) == Some(&true);
        self.wanted.is_in_context(debug, row) || given().is_some_and(is_given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::analysis::fixture::contexts_of_layers;
    use crate::analysis::program::tree::tests::{programs, shape, tree};
    use crate::store::Report;
    use crate::store::debug_info::ContextRow;
    use crate::store::names::Names;
    use crate::store::program::ProgramTrees;

    /// 0 contains 1 and 2; context 3 lies in 2, and 2 in 1.
    fn report() -> Report {
        let mut debug = contexts_of_layers([
            ("popart", "ai.onnx.Conv:11", "model.conv1"),
            ("poplibs", "convolution", ""),
            ("poplar", "", ""),
        ]);
        debug.parents = [ContextRow::NONE, ContextRow(0), ContextRow(1)].into_iter().collect();
        debug.proportions = vec![(1, Proportion::Value(f64::from(0.8_f32)))];
        debug.arguments.push("enableFastReduce\u{1f}true\u{1e}seed\u{1f}7");
        debug.arguments.push("enableFastReduce\u{1f}false\u{1e}op\u{1f}a=b");
        debug.with_arguments = vec![(0, NameId(1)), (2, NameId(0))];
        let mut list = programs(&[vec![2, 1], vec![], vec![]]);
        list.debug_ids = vec![0, 3, 1];
        list.kinds = vec![Some(NameId(0)), Some(NameId(1)), None];
        list.kind_names =
            ["Sequence", "OnTileExecute"].into_iter().fold(Names::default(), |mut names, name| {
                names.push(name);
                names
            });
        let report = Report::default();
        report.debug.fill(Some(debug));
        report.programs.fill(Some(list));
        report.program_trees.fill(Some(ProgramTrees { steps: vec![tree(&[0], &[])] }));
        report
    }

    #[test]
    fn texts_and_options_are_found_in_the_order_of_the_tree() {
        let report = report();
        let compiled = CompiledPrograms::at(&report, 0).expect("programs");
        let shape = shape(compiled.programs, compiled.tree);
        let find = |text: &str| {
            let found = matching_programs(&compiled, &shape, text, &|| false);
            found.expect("not cancelled").in_order
        };
        for (text, expected) in [
            ("SEQUENCE", &[0][..]),
            ("ontile", &[1]),
            ("convolution", &[1]),
            ("conv1", &[2, 1]),
            ("popart", &[2, 1]),
            ("availableMemoryProportion=0.8", &[1]),
            ("memoryproportion = 0.80", &[1]),
            ("availableMemoryProportion=0.6", &[]),
            ("partialsType=half", &[]),
            ("enableFastReduce=TRUE", &[1]),
            ("fastreduce=false", &[2, 1]),
            ("seed=7.0", &[1]),
            ("seed=8", &[]),
            ("op=a=b", &[2, 1]),
            ("true", &[]),
            ("nothing", &[]),
            ("", &[0, 2, 1]),
        ] {
            assert_eq!(find(text), expected, "{text}");
        }
        let found = matching_programs(&compiled, &shape, "conv", &|| false).expect("found");
        assert!(found.contains(2) && !found.contains(0) && !found.contains(9));
        assert_eq!(matching_programs(&compiled, &shape, "conv", &|| true), None);
    }
}
