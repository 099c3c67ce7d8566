//! How steps of both reports are written.

use crate::analysis::program::operations::Operation;
use crate::analysis::program::steps;
use crate::store::Report;

/// The name of a step, or its kind where it has none.
pub fn step_name(report: &Report, step: usize) -> Option<String> {
    let facts = steps::facts(report, step)?;
    facts.name.or(facts.kind)
}

/// What the operations of matched steps do, with their proportions of memory: `convolution 0.75 → 0.6`.
pub fn operations_text([source, target]: [Option<&Operation>; 2]) -> String {
    let kind =
        |operation: &Operation| operation.kind.clone().unwrap_or_else(|| operation.layer.clone());
    let proportion = |operation: &Operation| {
        operation.available_memory_proportion.map(|value| value.to_string())
    };
    let one = |operation: &Operation| match proportion(operation) {
        Some(value) => format!("{} {value}", kind(operation)),
        None => kind(operation),
    };
    match (source, target) {
        (None, None) => String::new(),
        (Some(operation), None) | (None, Some(operation)) => one(operation),
        (Some(source), Some(target)) if one(source) == one(target) => one(source),
        (Some(source), Some(target)) if kind(source) == kind(target) => {
            let value = |operation| proportion(operation).unwrap_or_else(|| "–".to_owned());
            format!("{} {} → {}", kind(source), value(source), value(target))
        }
        (Some(source), Some(target)) => format!("{} → {}", one(source), one(target)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_a_pair_are_said_once() {
        let operation = |kind: &str, value| Operation {
            kind: Some(kind.to_owned()),
            layer: "poplibs".to_owned(),
            name: None,
            detail: None,
            available_memory_proportion: value,
            location: None,
        };
        let (a, b) = (operation("convolution", Some(0.75)), operation("convolution", Some(0.6)));
        let (c, d) = (operation("reduce", None), operation("convolution", None));
        assert_eq!(operations_text([Some(&a), Some(&b)]), "convolution 0.75 → 0.6");
        assert_eq!(operations_text([Some(&a), Some(&a)]), "convolution 0.75");
        assert_eq!(operations_text([Some(&a), Some(&d)]), "convolution 0.75 → –");
        assert_eq!(operations_text([Some(&c), Some(&a)]), "reduce → convolution 0.75");
        assert_eq!(operations_text([None, Some(&c)]), "reduce");
    }
}
