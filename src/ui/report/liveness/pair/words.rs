//! How steps and differences are written.

use crate::analysis::operations::Operation;
use crate::analysis::steps;
use crate::store::Report;
use crate::ui::units::Units;
use crate::ui::widget::rows::{percent_text, signed};

/// From one number of bytes to another: `▼ −327.8 MiB (−42.9 %)`.
pub fn change_text(from: u64, to: u64, units: Units) -> String {
    let change = i128::from(to) - i128::from(from);
    let change = i64::try_from(change).unwrap_or(if change < 0 { i64::MIN } else { i64::MAX });
    let text = signed(change, |bytes| units.bytes(bytes));
    if from == 0 || change == 0 {
        return text;
    }
    let percent = (to as f64 - from as f64) * 100.0 / from as f64;
    format!("{text} ({})", percent_text(percent))
}

/// The name of a step, or its kind where it has none.
pub fn step_name(report: &Report, step: usize) -> Option<String> {
    let facts = steps::facts(report, step)?;
    facts.name.or(facts.kind)
}

/// What an operation does and what it is called.
pub fn operation_title(operation: &Operation) -> String {
    let kind = operation.kind.as_deref().unwrap_or(&operation.layer);
    match &operation.name {
        Some(name) => format!("{name}, {kind}"),
        None => kind.to_owned(),
    }
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
    fn differences_have_a_sign_and_a_percentage() {
        assert_eq!(change_text(1024, 512, Units::Binary), "▼ −512 B (−50.0 %)");
        assert_eq!(change_text(0, 512, Units::Binary), "▲ +512 B");
        assert_eq!(change_text(7, 7, Units::Binary), "0");
    }

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
