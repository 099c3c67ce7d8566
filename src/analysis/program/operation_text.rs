//! Operations in a word or two, with the option that decides how much memory they take: `convolution 0.6`,
//! and of several runs `convolution 0.75 → 0.6`.

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

/// The same of the operations of matched steps. What all do is said once.
pub fn operations_text(operations: &[Operation]) -> String {
    let mut texts: Vec<String> = operations.iter().map(operation_text).collect();
    texts.dedup();
    let first = operations.first().map_or("", Operation::title);
    if texts.len() > 1 && operations.iter().all(|operation| operation.title() == first) {
        let value = |operation| option(operation).unwrap_or_else(|| "–".to_owned());
        let mut values: Vec<String> = operations.iter().map(value).collect();
        values.dedup();
        return format!("{first} {}", values.join(" → "));
    }
    texts.join(" → ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_several_runs_are_said_once() {
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
        let text = |operations: &[&Operation]| {
            operations_text(&operations.iter().map(|one| (*one).clone()).collect::<Vec<_>>())
        };
        assert_eq!(text(&[&a, &b]), "convolution 0.75 → 0.6");
        assert_eq!(text(&[&a, &a]), "convolution 0.75");
        assert_eq!(text(&[&a, &d]), "convolution 0.75 → –");
        assert_eq!(text(&[&c, &a]), "reduce → convolution 0.75");
        assert_eq!(text(&[&c]), "reduce");
        assert_eq!(text(&[&a, &b, &b]), "convolution 0.75 → 0.6");
    }
}
