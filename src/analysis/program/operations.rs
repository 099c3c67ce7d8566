//! Operations: which call of a software layer a lowered program belongs to.
//!
//! Walk from the program's debug context towards the root. Of the contexts of layer `poplibs` on
//! the way, the outermost that is not control flow names the operation by its `api`; the innermost
//! is kept as detail. Without one: the nearest context of another layer above `poplar`; and where
//! there is none either, the control flow itself. `name` is the nearest debug name that is not
//! empty. The `availableMemoryProportion` is that of the nearest context on the way that has the
//! option; no default is invented (definitions.md).

use std::collections::{BTreeMap, HashMap};

use crate::analysis::program::layers::source_line;
use crate::store::debug_info::{DebugInfo, Proportion};
use crate::store::program::Programs;
use crate::text::path_slashes;

/// The option of PopLibs that says how much memory an operation may take while it runs.
pub const PROPORTION: &str = "availableMemoryProportion";

/// PopLibs calls that only steer other programs.
const CONTROL_FLOW: [&str; 5] = [
    "countedLoop",
    "countedForLoop",
    "forLoopWithTensor",
    "countedLoopWithTensor",
    "addForLoopCounterVertex",
];

/// An operation, as it stands in JSON.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Operation {
    /// What it does: the `api` of PopLibs, `opType` of ONNX …; `None` where its layer does not say.
    pub kind: Option<String>,
    /// The layer that names it.
    pub layer: String,
    /// The nearest debug name.
    pub name: Option<String>,
    /// The innermost PopLibs call.
    pub detail: Option<String>,
    /// The value of the option; `None` when no context has it, or it is no number.
    pub available_memory_proportion: Option<f64>,
    /// `file:line` in the user's own source ([`source_line`]).
    pub location: Option<String>,
}

impl Operation {
    /// Its kind, or the layer that names it.
    pub(crate) fn title(&self) -> &str {
        self.kind.as_deref().unwrap_or(&self.layer)
    }

    /// Its name, or that it has none.
    pub(crate) fn name_or_none(&self) -> &str {
        name_or_none(self.name.as_deref())
    }
}

fn name_or_none(name: Option<&str>) -> &str {
    name.unwrap_or("without a name")
}

fn is_control_flow(api: &str) -> bool {
    CONTROL_FLOW.contains(&api) || api.ends_with("Loop") || api.ends_with("LoopWithTensor")
}

/// The row of the context that names the operation of a context.
pub fn naming_context(debug: &DebugInfo, context: usize) -> Option<usize> {
    naming_context_of(debug, context, None)
}

/// The same among the contexts of one layer: of PopLibs by the same rule, of others the nearest.
pub fn naming_context_of(debug: &DebugInfo, context: usize, layer: Option<&str>) -> Option<usize> {
    let known = &debug.known_layers;
    if let Some(layer) = layer.filter(|layer| *layer != known.calls) {
        return debug.ancestry(context).find(|row| debug.layer(*row) == layer);
    }
    let is_calls_alone = layer.is_some();
    let (mut call, mut other, mut control_flow) = (None, None, None);
    for row in debug.ancestry(context) {
        match debug.layer(row) {
            "" => {}
            layer if layer == known.calls => {
                if debug.kind(row).is_some_and(is_control_flow) {
                    control_flow = control_flow.or(Some(row));
                } else {
                    call = Some(row);
                }
            }
            layer if layer == known.machine || is_calls_alone => {}
            _ => other = other.or(Some(row)),
        }
    }
    call.or(other).or(control_flow)
}

/// The nearest context that has the option, and what it says.
pub fn proportion_context(debug: &DebugInfo, context: usize) -> Option<(usize, Option<f64>)> {
    debug.ancestry(context).find_map(|row| match debug.proportion(row) {
        Proportion::Absent => None,
        Proportion::Value(value) => Some((row, Some(value))),
        Proportion::Unknown => Some((row, None)),
    })
}

/// The nearest `partialsType` of a debug context: `float`, `half`; `None` where no context has it.
pub fn partials_type(debug: &DebugInfo, context: usize) -> Option<&str> {
    debug.ancestry(context).find_map(|row| debug.partials_type(row))
}

/// The nearest debug name of an operation, `named_by` a context: of one of a chosen layer from there on, for layers
/// below it name their own things.
pub fn debug_name<'a>(
    debug: &'a DebugInfo,
    context: usize,
    named_by: usize,
    layer: Option<&str>,
) -> Option<&'a str> {
    let from = if layer.is_some() { named_by } else { context };
    debug.ancestry(from).find_map(|row| debug.name(row))
}

/// The operation of a debug context; `None` when no layer above `poplar` claims it.
pub fn operation(debug: &DebugInfo, context: usize) -> Option<Operation> {
    operation_of(debug, context, None)
}

/// The same of one layer.
pub fn operation_of(debug: &DebugInfo, context: usize, layer: Option<&str>) -> Option<Operation> {
    let named_by = naming_context_of(debug, context, layer)?;
    let calls = &debug.known_layers.calls;
    let detail = debug
        .ancestry(context)
        .find(|row| !calls.is_empty() && debug.layer(*row) == *calls)
        .and_then(|row| debug.kind(row));
    Some(Operation {
        kind: debug.kind(named_by).map(str::to_owned),
        layer: debug.layer(named_by).to_owned(),
        name: debug_name(debug, context, named_by, layer).map(str::to_owned),
        detail: detail.map(str::to_owned),
        available_memory_proportion: proportion_context(debug, context)
            .and_then(|(_, value)| value),
        location: source_line(debug, context),
    })
}

/// The operation of a program, by its position.
pub fn operation_of_program(
    debug: Option<&DebugInfo>,
    programs: &Programs,
    program: usize,
) -> Option<Operation> {
    let debug = debug?;
    let id = programs.debug_ids.get(program).copied().filter(|id| *id != 0)?;
    operation(debug, debug.position(id)?)
}

/// A value of the option and how often it is set.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ProportionCount {
    /// The kind of operation.
    pub operation: Option<String>,
    /// The value; `None` when it is no number.
    pub value: Option<f64>,
    /// Debug contexts that have it and own at least one program.
    pub count: u64,
}

/// The values of the option by kind of operation, largest count first.
pub fn proportions(debug: &DebugInfo, programs: &Programs) -> Vec<ProportionCount> {
    let mut owners: HashMap<usize, Option<f64>> = HashMap::new();
    for id in programs.debug_ids.iter().filter(|id| **id != 0) {
        if let Some(context) = debug.position(*id)
            && let Some((owner, value)) = proportion_context(debug, context)
        {
            owners.insert(owner, value);
        }
    }
    // Values are grouped by their bits; `None` sorts apart from every number.
    let mut counts: BTreeMap<(Option<String>, Option<u64>), u64> = BTreeMap::new();
    for (owner, value) in owners {
        let kind = naming_context(debug, owner).and_then(|row| debug.kind(row));
        *counts.entry((kind.map(str::to_owned), value.map(f64::to_bits))).or_default() += 1;
    }
    let mut list: Vec<ProportionCount> = counts
        .into_iter()
        .map(|((operation, value), count)| ProportionCount {
            operation,
            value: value.map(f64::from_bits),
            count,
        })
        .collect();
    list.sort_by_key(|row| std::cmp::Reverse(row.count));
    list
}

/// What an operation is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
pub struct OperationName {
    /// What it does.
    pub kind: Option<String>,
    /// The layer that names it.
    pub layer: String,
    /// Its name.
    pub name: Option<String>,
}

impl OperationName {
    pub(crate) fn of(operation: &Operation) -> Self {
        let Operation { kind, layer, name, .. } = operation;
        Self { kind: kind.clone(), layer: layer.clone(), name: name.clone() }
    }

    /// Its kind, or the layer that names it.
    pub(crate) fn title(&self) -> &str {
        self.kind.as_deref().unwrap_or(&self.layer)
    }

    /// `conv1 (convolution)`.
    pub fn in_words(&self) -> String {
        format!("{} ({})", self.name_or_none(), self.title())
    }

    /// Its name, or that it has none.
    pub(crate) fn name_or_none(&self) -> &str {
        name_or_none(self.name.as_deref())
    }

    pub(crate) fn is_of(&self, operation: &Operation) -> bool {
        (&self.kind, &self.layer, &self.name)
            == (&operation.kind, &operation.layer, &operation.name)
    }

    /// The module that it is in: its name without the last part of the path; the whole name where
    /// that is no path, and the kind of one without a name.
    pub fn module(&self) -> &str {
        let Some(name) = &self.name else { return self.title() };
        let last = path_slashes(name).pop().or_else(|| name.rfind('.'));
        last.map_or(name, |last| &name[..last])
    }
}

/// The modules of operations in the order in which they come, and for each operation the position of its own.
pub fn modules_of(names: impl Iterator<Item = OperationName>) -> (Vec<String>, Vec<usize>) {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut modules: Vec<String> = Vec::new();
    let of_name = |name: OperationName| {
        let module = name.module();
        if let Some(place) = known.get(module) {
            return *place;
        }
        let place = modules.len();
        known.insert(module.to_owned(), place);
        modules.push(module.to_owned());
        place
    };
    let places = names.map(of_name).collect();
    (modules, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::contexts_of_layers;
    use crate::store::debug_info::{ContextRow, Proportion};

    /// Contexts 1, 2, 3 …, each the child of the one before.
    fn chain(contexts: &[(&str, &str, Proportion)]) -> DebugInfo {
        let named = contexts.iter().zip(["name 0", "name 1", "name 2", "name 3"]);
        let named = named.map(|((layer, kind, _), name)| (*layer, *kind, name));
        let mut debug = contexts_of_layers(named);
        let parent = |row: u32| row.checked_sub(1).map_or(ContextRow::NONE, ContextRow);
        debug.parents = (0..).map(parent).take(contexts.len()).collect();
        let proportions = (0..).zip(contexts).map(|(row, (.., proportion))| (row, *proportion));
        debug.proportions = proportions.collect();
        debug
    }

    const ABSENT: Proportion = Proportion::Absent;

    #[test]
    fn the_outermost_call_names_the_innermost_is_detail() {
        let debug = chain(&[
            ("poplibs", "countedLoop", ABSENT),
            ("poplibs", "convolution", Proportion::Value(0.6)),
            ("poplibs", "reduceWithOutput", ABSENT),
            ("poplar", "", ABSENT),
        ]);
        let found = operation(&debug, 3).expect("an operation");
        assert_eq!(found.kind.as_deref(), Some("convolution"));
        assert_eq!(found.detail.as_deref(), Some("reduceWithOutput"));
        assert_eq!(found.name.as_deref(), Some("name 3"));
        assert_eq!(found.available_memory_proportion, Some(0.6));
    }

    #[test]
    fn other_layers_come_before_mere_control_flow() {
        let debug = chain(&[
            ("popart", "ai.onnx.Loop:11", ABSENT),
            ("poplibs", "countedLoop", ABSENT),
            ("poplar", "", ABSENT),
        ]);
        assert_eq!(
            operation(&debug, 2).and_then(|found| found.kind).as_deref(),
            Some("ai.onnx.Loop:11")
        );
        let debug = chain(&[("poplibs", "countedLoop", ABSENT), ("poplar", "", ABSENT)]);
        assert_eq!(
            operation(&debug, 1).and_then(|found| found.kind).as_deref(),
            Some("countedLoop")
        );
        let debug = chain(&[("poplar", "", ABSENT)]);
        assert_eq!(operation(&debug, 0), None);
    }

    #[test]
    fn a_context_counts_when_it_owns_a_program() {
        let debug = chain(&[
            ("poplibs", "convolution", Proportion::Value(0.6)),
            ("poplibs", "matMul", Proportion::Unknown),
            ("poplar", "", ABSENT),
        ]);
        let programs = Programs { debug_ids: vec![3, 3, 0, 99], ..Programs::default() };
        let expected =
            ProportionCount { operation: Some("convolution".to_owned()), value: None, count: 1 };
        assert_eq!(proportions(&debug, &programs), [expected]);
    }
}
