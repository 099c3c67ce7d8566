//! What programs are compared by: their kind, their name, their debug contexts.

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
    /// for none.
    pub contexts: u64,
}

/// The keys of all programs; contexts only if `with_contexts`.
pub fn program_keys(report: &Report, with_contexts: bool) -> Vec<ProgramKeys> {
    let Some(programs) = report.programs.get() else { return Vec::new() };
    let mut contexts = report.debug.get().filter(|_| with_contexts).map(Contexts::new);
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

/// The name of a program, as [`crate::analysis::steps::name`] has it; empty for none.
fn name<'a>(report: &'a Report, programs: &'a Programs, row: usize) -> &'a str {
    let compute_set = programs.compute_sets.get(row).copied().flatten();
    let of_compute_set = compute_set.and_then(|id| {
        let compute_sets = report.compute_sets.get()?;
        compute_sets.names.at(compute_sets.ids.position(id)?).filter(|name| !name.is_empty())
    });
    of_compute_set.or_else(|| programs.names.at(row)).unwrap_or("")
}

/// Keys of debug contexts with all those above them, each made once.
struct Contexts<'a> {
    debug: &'a DebugInfo,
    /// Hashes of layers and kinds.
    words: Vec<u64>,
    /// By row; 0 where it was not needed yet.
    known: Vec<u64>,
}

impl<'a> Contexts<'a> {
    fn new(debug: &'a DebugInfo) -> Self {
        let words = debug.words.iter().map(hash).collect();
        Self { debug, words, known: vec![0; debug.len()] }
    }

    /// The key of a context by its id, never 0; 0 where there is none.
    fn key(&mut self, id: u64) -> u64 {
        let Some(context) = self.debug.position(id).filter(|_| id != 0) else { return 0 };
        let known = |row: &usize| self.known.get(*row).is_some_and(|key| *key != 0);
        let new: Vec<usize> = self.debug.ancestry(context).take_while(|row| !known(row)).collect();
        let above = self.debug.ancestry(context).nth(new.len());
        let mut key = above.and_then(|row| self.known.get(row)).copied().unwrap_or(0);
        for row in new.into_iter().rev() {
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
        let kind = word(self.debug.kinds.get(row).copied().flatten().map(|kind| kind.0 as usize));
        let name = NameKeys::of(self.debug.name(row).unwrap_or(""));
        combine(combine(layer, kind), name.model)
    }
}
