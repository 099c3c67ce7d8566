//! Differences between two places of a report that say the same: once a kind, the first with both figures, and how
//! many there are.

use std::fmt::Display;

/// What is compared with what: a place of the report with its figure, and the place that the expected one is from.
pub type Checked = (&'static str, &'static str);

/// What was found different so far, by kind, in the order in which it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences(Vec<Differing>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Differing {
    kind: Checked,
    first: String,
    count: u64,
}

impl Differences {
    /// Compares what was found at a place with what is expected there. What one side does not say is no difference.
    pub fn compare(
        &mut self,
        kind: Checked,
        place: impl FnOnce() -> String,
        found: impl Into<Option<u64>>,
        expected: impl Into<Option<u64>>,
    ) {
        if let (Some(found), Some(expected)) = (found.into(), expected.into())
            && found != expected
        {
            self.add(kind, place, found, expected);
        }
    }

    /// The same where the figure that is found may be less.
    pub fn at_most(
        &mut self,
        kind: Checked,
        place: impl FnOnce() -> String,
        found: impl Into<Option<u64>>,
        most: impl Into<Option<u64>>,
    ) {
        if let (Some(found), Some(most)) = (found.into(), most.into())
            && found > most
        {
            self.add(kind, place, found, format_args!("at most {most}"));
        }
    }

    /// Adds what is known to differ.
    pub fn add(
        &mut self,
        kind: Checked,
        place: impl FnOnce() -> String,
        found: impl Display,
        expected: impl Display,
    ) {
        match self.0.iter_mut().find(|known| known.kind == kind) {
            Some(known) => known.count = known.count.saturating_add(1),
            None => {
                let (what, by) = kind;
                let first =
                    format!("{what}{}: {expected} expected by {by}, {found} found", place());
                self.0.push(Differing { kind, first, count: 1 });
            }
        }
    }

    /// Adds those that were found further on.
    pub fn append(&mut self, further: Self) {
        for found in further.0 {
            match self.0.iter_mut().find(|known| known.kind == found.kind) {
                Some(known) => known.count = known.count.saturating_add(found.count),
                None => self.0.push(found),
            }
        }
    }

    /// A message for each kind.
    pub fn into_messages(self) -> Vec<String> {
        let message = |found: Differing| match found.count {
            1 => found.first,
            count => format!("{} ({count} differ)", found.first),
        };
        self.0.into_iter().map(message).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_said_once_with_both_figures() {
        let mut all = Differences::default();
        let kind = ("table a, column b", "table c");
        for tile in 0..3_u64 {
            let mut of_tile = Differences::default();
            of_tile.compare(kind, || format!(", tile {tile}"), tile, 0);
            of_tile.compare(kind, String::new, None, 5);
            of_tile.at_most(("table d", "table e"), String::new, tile, 1);
            all.append(of_tile);
        }
        let expected = [
            "table a, column b, tile 1: 0 expected by table c, 1 found (2 differ)",
            "table d: at most 1 expected by table e, 2 found",
        ];
        assert_eq!(all.into_messages(), expected);
    }
}
