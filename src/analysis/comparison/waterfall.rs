//! A change of a whole as a row of steps from its old size to its new one, largest first; what is small is put
//! together. The steps add up to the change, to the byte.

use super::contribution::{Contributor, Grouping, LifePart};
use crate::analysis::figures::difference::Difference;

/// From what to what, and the steps between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waterfall {
    pub from: i64,
    pub to: i64,
    pub steps: Vec<WaterfallStep>,
}

/// A step: from where the one before it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaterfallStep {
    /// What it is of; `None` of what is put together.
    pub contributor: Option<Contributor>,
    /// How many contributions it is: 1, or those that are put together.
    pub count: usize,
    pub before: i64,
    pub after: i64,
}

impl WaterfallStep {
    pub fn change(&self) -> i64 {
        self.after.saturating_sub(self.before)
    }
}

impl Waterfall {
    /// Of a part of a whole, with `most` steps at most; `None` where the whole is not known in both.
    pub fn of(whole: Difference, grouping: &Grouping, part: LifePart, most: usize) -> Option<Self> {
        let (from, to) = (whole.source?, whole.target?);
        let ranked = grouping.ranked(part);
        // Putting one alone together would save no step.
        let shown = if ranked.len() > most { most.saturating_sub(1) } else { ranked.len() };
        let (large, small) = ranked.split_at(shown);
        let mut at = from;
        let mut steps = Vec::with_capacity(most);
        for (row, bytes) in large {
            let after = at.saturating_add(bytes.change().unwrap_or(0));
            let contributor = Some(row.contributor.clone());
            steps.push(WaterfallStep { contributor, count: 1, before: at, after });
            at = after;
        }
        if !small.is_empty() {
            let sum = small.iter().filter_map(|(_, bytes)| bytes.change());
            let after = at.saturating_add(sum.fold(0, i64::saturating_add));
            steps.push(WaterfallStep { contributor: None, count: small.len(), before: at, after });
        }
        Some(Self { from, to, steps })
    }

    /// The largest number that is reached.
    pub fn top(&self) -> i64 {
        let ends = self.steps.iter().map(|step| step.after);
        ends.chain([self.from, self.to]).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::comparison::contribution::{BytesOfTwo, Contribution, LiveBytes};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_steps_lead_from_the_source_to_the_target(
            cells in proptest::collection::vec((0..900_i64, 0..900_i64), 0..14),
            rest in (0..9_i64, 0..9_i64),
            most in 1..9_usize,
        ) {
            let bytes = |(source, target): (i64, i64)| {
                let live = |not_always_live| LiveBytes { not_always_live, ..LiveBytes::default() };
                BytesOfTwo([live(source), live(target)])
            };
            let mut whole = bytes(rest);
            for cell in &cells {
                whole.add_all(&bytes(*cell));
            }
            let rows = cells.iter().enumerate().map(|(number, cell)| Contribution {
                contributor: Contributor::Variable(number.to_string()),
                only: None,
                bytes: bytes(*cell),
            });
            let grouping = Grouping::closed(rows, &whole);
            let sum = whole.of(LifePart::All);
            let found = Waterfall::of(sum, &grouping, LifePart::All, most).expect("known in both");
            prop_assert!(found.steps.len() <= most);
            prop_assert_eq!(Some(found.to - found.from), sum.change());
            let mut at = found.from;
            for step in &found.steps {
                prop_assert_eq!(step.before, at);
                at = step.after;
            }
            prop_assert_eq!(at, found.to, "to the byte");
            let count: usize = found.steps.iter().map(|step| step.count).sum();
            prop_assert_eq!(count, grouping.ranked(LifePart::All).len());
            prop_assert!(found.top() >= found.from.max(found.to));
        }
    }
}
