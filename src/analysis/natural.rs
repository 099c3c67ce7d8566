//! The natural order of names: numbers in them by their values, so that `splits_2` comes before `splits_10`.

use std::cmp::Ordering;

/// Which of two names comes first.
pub fn compare(one: &str, other: &str) -> Ordering {
    parts(one).cmp(&parts(other)).then_with(|| one.cmp(other))
}

/// A part of a name: a number by its value, all else by its letters.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NamePart<'a> {
    /// Without zeros in front, shorter ones first.
    Number(usize, &'a str),
    Text(&'a str),
}

/// A name in parts.
fn parts(name: &str) -> Vec<NamePart<'_>> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let mut found = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let ends = |letter: char| is_digit(letter) != is_digit(first);
        let (part, after) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        found.push(if is_digit(first) {
            let digits = part.trim_start_matches('0');
            NamePart::Number(digits.len(), digits)
        } else {
            NamePart::Text(part)
        });
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_natural_order() {
        let before = |a: &str, b: &str| assert!(compare(a, b).is_lt(), "{a} before {b}");
        before("a2", "a10");
        before("a2b", "a2c");
        before("a09", "a10");
        before("rank7_step3", "rank7_step20");
        before("99999999999999999999998", "99999999999999999999999");
        assert_eq!(parts("a02"), parts("a2"));
    }
}
