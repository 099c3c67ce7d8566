//! Pairs of rows: which row of the source belongs to which row of the target.
//!
//! A row belongs to at most one row of the other side. Rows are positions in columns of the store.

/// How sure a pair is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Sureness {
    /// The same kind, name and operation. Without a name: the same kind and operation (or debug contexts,
    /// where there is no operation), of which both sides have as many.
    Exact,
    /// The same kind; the names or that of the operation differ in numbers of the compiler alone, or
    /// the names within one operation in any numbers; or the operation of one side is not known.
    /// Without a name: the same kind and operation, of which one side has more.
    Likely,
    /// The same kind, and not of two named operations, beside others that are surer; the names differ,
    /// if only in numbers that may be the model's own. Or the same name among so many repeats and
    /// differences that the best alignment was not looked for.
    Weak,
}

/// How many rows have a partner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct MatchCounts {
    /// Pairs.
    pub matched: usize,
    /// Rows of the source without a partner.
    pub only_source: usize,
    /// Rows of the target without a partner.
    pub only_target: usize,
    /// Pairs that are exact.
    pub exact: usize,
    /// Pairs that are likely.
    pub likely: usize,
    /// Pairs that are weak.
    pub weak: usize,
}

/// Stands where a row has no partner.
const NONE: u32 = u32::MAX;

/// Which rows of two lists belong together. Takes 5 bytes a row of the source and 4 a row of the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// For each row of the source that of the target.
    targets: Vec<u32>,
    /// For each row of the source how sure its pair is; says nothing where there is none.
    sureness: Vec<Sureness>,
    /// For each row of the target that of the source.
    sources: Vec<u32>,
}

impl Pairs {
    /// No pairs between lists of so many rows.
    pub fn new(source_len: usize, target_len: usize) -> Self {
        Self {
            targets: vec![NONE; source_len],
            sureness: vec![Sureness::Weak; source_len],
            sources: vec![NONE; target_len],
        }
    }

    /// Pairs two rows. Returns false, and changes nothing, when one of them has a partner already or
    /// is not there.
    pub fn pair(&mut self, source: usize, target: usize, sureness: Sureness) -> bool {
        let (Some(to), Some(from), Some(place)) = (
            self.targets.get_mut(source),
            self.sources.get_mut(target),
            self.sureness.get_mut(source),
        ) else {
            return false;
        };
        let (Ok(source), Ok(target)) = (u32::try_from(source), u32::try_from(target)) else {
            return false;
        };
        if *to != NONE || *from != NONE || source == NONE || target == NONE {
            return false;
        }
        (*to, *from, *place) = (target, source, sureness);
        true
    }

    /// The target's row of a row of the source.
    pub fn target_of(&self, source: usize) -> Option<usize> {
        self.targets.get(source).filter(|row| **row != NONE).map(|row| *row as usize)
    }

    /// The source's row of a row of the target.
    pub fn source_of(&self, target: usize) -> Option<usize> {
        self.sources.get(target).filter(|row| **row != NONE).map(|row| *row as usize)
    }

    /// How sure the pair of a row of the source is.
    pub fn sureness(&self, source: usize) -> Option<Sureness> {
        self.target_of(source)?;
        self.sureness.get(source).copied()
    }

    /// Rows of the source.
    pub fn source_len(&self) -> usize {
        self.targets.len()
    }

    /// Rows of the target.
    pub fn target_len(&self) -> usize {
        self.sources.len()
    }

    /// All pairs as (row of the source, row of the target), by row of the source.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.targets.len()).filter_map(|source| Some((source, self.target_of(source)?)))
    }

    /// Rows of the source without a partner.
    pub fn only_source(&self) -> impl Iterator<Item = usize> {
        (0..self.targets.len()).filter(|source| self.target_of(*source).is_none())
    }

    /// Rows of the target without a partner.
    pub fn only_target(&self) -> impl Iterator<Item = usize> {
        (0..self.sources.len()).filter(|target| self.source_of(*target).is_none())
    }

    /// The numbers of pairs and of rows without a partner.
    pub fn counts(&self) -> MatchCounts {
        let mut counts = MatchCounts::default();
        for (source, _) in self.iter() {
            match self.sureness(source) {
                Some(Sureness::Exact) => counts.exact += 1,
                Some(Sureness::Likely) => counts.likely += 1,
                Some(Sureness::Weak) | None => counts.weak += 1,
            }
        }
        counts.matched = counts.exact + counts.likely + counts.weak;
        counts.only_source = self.targets.len() - counts.matched;
        counts.only_target = self.sources.len() - counts.matched;
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_at_most_one_partner() {
        let mut pairs = Pairs::new(3, 2);
        assert!(pairs.pair(0, 1, Sureness::Likely));
        assert!(!pairs.pair(0, 0, Sureness::Exact), "the source's row is taken");
        assert!(!pairs.pair(1, 1, Sureness::Exact), "the target's row is taken");
        assert!(!pairs.pair(3, 0, Sureness::Exact) && !pairs.pair(1, 2, Sureness::Exact));
        assert_eq!(
            (pairs.target_of(0), pairs.target_of(1), pairs.target_of(9)),
            (Some(1), None, None)
        );
        assert_eq!((pairs.source_of(1), pairs.source_of(0)), (Some(0), None));
        assert_eq!((pairs.sureness(0), pairs.sureness(1)), (Some(Sureness::Likely), None));
        assert_eq!(pairs.only_source().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(pairs.only_target().collect::<Vec<_>>(), [0]);
        let counts = MatchCounts {
            matched: 1,
            only_source: 2,
            only_target: 1,
            exact: 0,
            likely: 1,
            weak: 0,
        };
        assert_eq!((pairs.counts(), pairs.iter().count()), (counts, 1));
    }
}
