//! Operations that PopLibs plans within `availableMemoryProportion`.

use std::collections::BTreeMap;

use crate::analysis::program::operations::Operation;

/// PopLibs advises against a lower proportion (docs/user/advice.md).
pub const LEAST_PROPORTION: f64 = 0.05;

/// Whether an operation has the option, or is of a kind that has it: convolutions and matmuls.
pub fn is_planned(operation: &Operation) -> bool {
    let kind = operation.kind.as_deref().unwrap_or("").to_lowercase();
    let is_planned_kind = kind.contains("convolution") || kind.contains("matmul");
    operation.available_memory_proportion.is_some()
        || (is_planned_kind && operation.layer == "poplibs")
}

/// How many operations there are of each kind: `8 convolution, 1 matMul`.
pub fn by_kind<'a>(operations: impl Iterator<Item = &'a Operation>) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for operation in operations {
        *counts.entry(operation.kind.as_deref().unwrap_or(&operation.layer)).or_default() += 1;
    }
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let counts = counts.iter().map(|(kind, count)| format!("{count} {kind}"));
    counts.collect::<Vec<_>>().join(", ")
}

/// The different proportions of operations, ascending.
pub fn proportions<'a>(operations: impl Iterator<Item = &'a Operation>) -> Vec<f64> {
    let mut values: Vec<f64> =
        operations.filter_map(|operation| operation.available_memory_proportion).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// A proportion in whole hundredths, rounded down.
pub fn hundredths(proportion: f64) -> f64 {
    // What is a hundredth but for the last bit stays.
    (proportion * 100.0 + 1e-6).floor() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(layer: &str, kind: &str, proportion: Option<f64>) -> Operation {
        Operation {
            kind: Some(kind.to_owned()),
            layer: layer.to_owned(),
            available_memory_proportion: proportion,
            ..Operation::default()
        }
    }

    #[test]
    fn planned_are_those_with_the_option_and_those_of_the_kinds_that_have_it() {
        let all = [
            operation("poplibs", "convolution", Some(0.6)),
            operation("poplibs", "matMulGrouped", None),
            operation("poplibs", "multiSlice", Some(0.2)),
            operation("poplibs", "mapInPlace", None),
            operation("onnx", "MatMul", None),
        ];
        let planned: Vec<bool> = all.iter().map(is_planned).collect();
        assert_eq!(planned, [true, true, true, false, false]);
        let rounded = [0.72, 0.7299, 0.0049, 1.0].map(|value| hundredths(value).to_string());
        assert_eq!(rounded, ["0.72", "0.72", "0", "1"]);
        assert_eq!(proportions(all.iter().chain(&all)), [0.2, 0.6]);
        assert_eq!(by_kind(all.iter().take(2).chain(&all[..1])), "2 convolution, 1 matMulGrouped");
    }
}
