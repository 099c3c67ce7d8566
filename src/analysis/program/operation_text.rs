//! Operations in a word or two, with the option that decides how much memory they take: `convolution 0.6`,
//! and of a pair `convolution 0.75 → 0.6`.

use crate::analysis::program::operations::Operation;

fn option(operation: &Operation) -> Option<String> {
    operation.available_memory_proportion.map(|value| value.to_string())
}

/// What an operation does, and its proportion of memory if it has one.
pub fn operation_text(operation: &Operation) -> String {
    match option(operation) {
        Some(value) => format!("{} {value}", operation.title()),
        None => operation.title().to_owned(),
    }
}

/// The same of the operations of matched steps. What both do is said once.
pub fn operations_text([source, target]: [Option<&Operation>; 2]) -> String {
    let one = operation_text;
    match (source, target) {
        (None, None) => String::new(),
        (Some(operation), None) | (None, Some(operation)) => one(operation),
        (Some(source), Some(target)) if one(source) == one(target) => one(source),
        (Some(source), Some(target)) if source.title() == target.title() => {
            let value = |operation| option(operation).unwrap_or_else(|| "–".to_owned());
            format!("{} {} → {}", source.title(), value(source), value(target))
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
