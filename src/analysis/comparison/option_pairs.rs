//! Named values of two reports side by side: options, and values of side files.
//!
//! Values belong together by name, of several of one name the first with the first. Those that differ come
//! first, among them those that only one report has; else they stay in the order of the source.

use crate::analysis::figures::joined::joined;
use crate::store::options::{EngineOption, SideFact};

/// A value of both; `None` where a report does not have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionPair {
    /// Its name.
    pub name: String,
    /// Its values in the source and in the target.
    pub values: [Option<String>; 2],
}

impl OptionPair {
    /// Whether the values differ.
    pub fn differs(&self) -> bool {
        let [source, target] = &self.values;
        source != target
    }
}

/// Options of both.
pub fn options(source: &[EngineOption], target: &[EngineOption]) -> Vec<OptionPair> {
    pairs(
        [source, target]
            .map(|options| options.iter().map(|option| (&*option.name, &*option.value)).collect()),
    )
}

/// Values of a side file of both.
pub fn side_facts(source: &[SideFact], target: &[SideFact]) -> Vec<OptionPair> {
    pairs(
        [source, target]
            .map(|facts| facts.iter().map(|fact| (&*fact.path, &*fact.value)).collect()),
    )
}

/// Named values of both.
fn pairs(lists: [Vec<(&str, &str)>; 2]) -> Vec<OptionPair> {
    let [source, target] = lists.map(|list| list.into_iter().map(|row| (row.0, row)).collect());
    let pair = |row: [Option<(&str, &str)>; 2]| {
        let name = row.iter().flatten().next()?.0.to_owned();
        Some(OptionPair { name, values: row.map(|row| row.map(|(_, value)| value.to_owned())) })
    };
    let mut pairs: Vec<OptionPair> = joined(source, target).into_iter().filter_map(pair).collect();
    pairs.sort_by_key(|pair| !pair.differs());
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_comes_first() {
        let found = pairs([
            vec![("a", "1"), ("b", "2"), ("c", "3"), ("d", "")],
            vec![("c", "4"), ("a", "1"), ("new", "x"), ("d", "")],
        ]);
        let rows: Vec<_> = found
            .iter()
            .map(|pair| (&*pair.name, pair.values.each_ref().map(Option::as_deref), pair.differs()))
            .collect();
        let expected = [
            ("b", [Some("2"), None], true),
            ("c", [Some("3"), Some("4")], true),
            ("new", [None, Some("x")], true),
            ("a", [Some("1"), Some("1")], false),
            ("d", [Some(""), Some("")], false),
        ];
        assert_eq!(rows, expected);
    }
}
