//! The keys by which programs are compared: their kind, their name, their debug contexts.

use crate::store::Report;
use crate::store::debug_info::DebugInfo;
use crate::store::program::Programs;

use super::names::{NameKeys, combine, hash};

/// What a program is compared by.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgramKeys {
    /// Its kind; 0 where the file does not name it.
    pub kind: u64,
    /// Its name: that of its compute set, or else its own.
    pub name: NameKeys,
    /// Its debug contexts up to the root: layers, kinds, and names without the compiler's numbers; 0
    /// for none, [`ABSENT`] where the file does not have its context.
    pub contexts: u64,
}

/// Stands for a context that is not in the file.
const ABSENT: u64 = 2;

/// The keys of all programs; contexts only if `with_contexts`.
pub fn program_keys(report: &Report, with_contexts: bool) -> Vec<ProgramKeys> {
    let Some(programs) = report.programs.get() else { return Vec::new() };
    let mut contexts = report.debug.get().filter(|_| with_contexts).map(ContextKeys::new);
    let kinds: Vec<u64> = programs.kind_names.iter().map(hash).collect();
    (0..programs.ids.len())
        .map(|row| ProgramKeys {
            kind: programs
                .kinds
                .get(row)
                .copied()
                .flatten()
                .map_or(0, |kind| kinds.get(kind.0 as usize).copied().unwrap_or(0)),
            name: NameKeys::of(name(report, programs, row)),
            contexts: contexts.as_mut().map_or(0, |contexts| {
                contexts.key(programs.debug_ids.get(row).copied().unwrap_or(0))
            }),
        })
        .collect()
}

/// The name of a program, as [`crate::analysis::program::steps::name`] has it; empty for none.
fn name<'a>(report: &'a Report, programs: &'a Programs, row: usize) -> &'a str {
    let compute_set = programs.compute_sets.get(row).copied().flatten();
    let of_compute_set = compute_set.and_then(|id| {
        let compute_sets = report.compute_sets.get()?;
        compute_sets.names.at(compute_sets.ids.position(id)?).filter(|name| !name.is_empty())
    });
    of_compute_set.or_else(|| programs.names.at(row)).unwrap_or("")
}

/// Keys of debug contexts with all those above them, each made once.
struct ContextKeys<'a> {
    debug: &'a DebugInfo,
    /// Hashes of layers and kinds.
    words: Vec<u64>,
    /// By row; 0 where it was not needed yet.
    known: Vec<u64>,
}

impl<'a> ContextKeys<'a> {
    fn new(debug: &'a DebugInfo) -> Self {
        let words = debug.words.iter().map(hash).collect();
        Self { debug, words, known: vec![0; debug.len()] }
    }

    fn key(&mut self, id: u64) -> u64 {
        if id == 0 {
            return 0;
        }
        let Some(context) = self.debug.position(id) else { return ABSENT };
        let known = |row: &usize| self.known.get(*row).is_some_and(|key| *key != 0);
        let new: Vec<usize> = self.debug.ancestry(context).take_while(|row| !known(row)).collect();
        let above = self.debug.ancestry(context).nth(new.len());
        let mut key = above.and_then(|row| self.known.get(row)).copied().unwrap_or(0);
        for row in new.into_iter().rev() {
            // Odd, so that it is neither of the two.
            key = combine(key, self.own_key(row)) | 1;
            if let Some(known) = self.known.get_mut(row) {
                *known = key;
            }
        }
        key
    }

    /// The key of a context without those above it.
    fn own_key(&self, row: usize) -> u64 {
        let word =
            |word: Option<usize>| word.and_then(|word| self.words.get(word)).copied().unwrap_or(0);
        let layer = word(self.debug.layers.get(row).map(|layer| layer.0 as usize));
        let kind = word(self.debug.kinds.get(row).map(|kind| kind.0 as usize));
        let name = NameKeys::of(self.debug.name(row).unwrap_or(""));
        combine(combine(layer, kind), name.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture;
    use crate::store::debug_info::ContextRow;

    /// Contexts 1, 2, 3 … of layer `poplar`, each with its parent's row.
    fn contexts(list: &[(&str, Option<u32>)]) -> DebugInfo {
        let mut debug = fixture::contexts(list.iter().map(|(name, _)| ("", *name)));
        let parents = list.iter().map(|(_, parent)| parent.map_or(ContextRow::NONE, ContextRow));
        debug.parents = parents.collect();
        debug
    }

    #[test]
    fn contexts_are_compared_up_to_the_root() {
        let debug = contexts(&[("main", None), ("a__1", Some(0)), ("b", Some(1)), ("b", Some(0))]);
        let other = contexts(&[("b", Some(2)), ("b", Some(3)), ("a__7", Some(3)), ("main", None)]);
        let (mut keys, mut others) = (ContextKeys::new(&debug), ContextKeys::new(&other));
        let [main, a, deep, shallow] = [1, 2, 3, 4].map(|id| keys.key(id));
        assert_eq!([4, 3, 1, 2].map(|id| others.key(id)), [main, a, deep, shallow]);
        assert_eq!(keys.key(3), deep, "the same when it is asked for again");
        let all = [main, a, deep, shallow, keys.key(0), keys.key(99)];
        let different: std::collections::HashSet<u64> = all.into_iter().collect();
        assert_eq!((different.len(), keys.key(0), keys.key(99)), (6, 0, ABSENT));
    }
}
