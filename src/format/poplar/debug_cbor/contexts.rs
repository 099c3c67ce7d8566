//! From contexts as they stand in the file to the store: sorted by id, with their parents.

use crate::store::debug_info::{DebugInfo, Proportion, TextRef};
use crate::store::names::{NameId, Names};
use crate::store::{WarningCode, Warnings};

/// One context as it stands in the file.
#[derive(Clone, Debug)]
pub struct Context {
    pub id: u64,
    pub parent: u64,
    pub layer: NameId,
    pub kind: Option<NameId>,
    pub name: TextRef,
    pub file: TextRef,
    pub line: u32,
    pub proportion: Proportion,
    pub partials_type: Option<NameId>,
}

/// Sorts the contexts by id, finds parents, and cuts what would be its own ancestor.
pub fn assemble(
    mut contexts: Vec<Context>,
    words: Names,
    texts: Names,
    name: &str,
    warnings: &Warnings,
) -> DebugInfo {
    contexts.sort_by_key(|context| context.id);
    let before = contexts.len();
    contexts.dedup_by_key(|context| context.id);
    let repeated = before.saturating_sub(contexts.len());
    if repeated > 0 {
        warnings.add(
            WarningCode::Inconsistent,
            name,
            format!("{repeated} contexts have the id of another one; the first of each counts"),
        );
    }
    let ids: Vec<u64> = contexts.iter().map(|context| context.id).collect();
    let mut parents: Vec<Option<u32>> = contexts
        .iter()
        .map(|context| {
            let row = ids.binary_search(&context.parent).ok().filter(|_| context.parent != 0)?;
            u32::try_from(row).ok()
        })
        .collect();
    if let Some(row) = cut_cycles(&mut parents) {
        let id = ids.get(row).copied().unwrap_or(0);
        warnings.add(
            WarningCode::Inconsistent,
            name,
            format!("context {id} is its own ancestor; its parentId is ignored"),
        );
    }
    DebugInfo {
        parents,
        layers: contexts.iter().map(|context| context.layer).collect(),
        kinds: contexts.iter().map(|context| context.kind).collect(),
        names: contexts.iter().map(|context| context.name).collect(),
        files: contexts.iter().map(|context| context.file).collect(),
        lines: contexts.iter().map(|context| context.line).collect(),
        proportions: contexts.iter().map(|context| context.proportion).collect(),
        partials_types: (0..)
            .zip(&contexts)
            .filter_map(|(row, context)| Some((row, context.partials_type?)))
            .collect(),
        ids: ids.into(),
        words,
        texts,
        is_cut: false,
    }
}

/// Removes one link of every cycle; returns the first row that lost its parent.
fn cut_cycles(parents: &mut [Option<u32>]) -> Option<usize> {
    let mut first_cut = None;
    // The walk in which a row was last seen, 0 for none.
    let mut seen: Vec<usize> = vec![0; parents.len()];
    for start in 0..parents.len() {
        let walk = start.saturating_add(1);
        let mut row = start;
        while let Some(mark) = seen.get_mut(row)
            && *mark == 0
        {
            *mark = walk;
            let Some(parent) = parents.get(row).copied().flatten() else { break };
            let parent = parent as usize;
            if seen.get(parent) == Some(&walk) {
                if let Some(link) = parents.get_mut(row) {
                    *link = None;
                }
                first_cut.get_or_insert(row);
                break;
            }
            row = parent;
        }
    }
    first_cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_cut_and_the_rest_stays() {
        let mut parents = vec![Some(1), Some(2), Some(0), Some(0), None, Some(5)];
        assert!(cut_cycles(&mut parents).is_some());
        assert_eq!(parents.get(3), Some(&Some(0)), "a child of the cycle keeps its parent");
        assert_eq!(parents.get(5), Some(&None), "its own parent");
        for start in 0..parents.len() {
            let walk = std::iter::successors(Some(start), |row| {
                parents.get(*row).copied().flatten().map(|row| row as usize)
            });
            assert!(walk.take(100).count() < 100, "a walk from {start} ends");
        }
    }
}
