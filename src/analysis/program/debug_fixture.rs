//! Debug contexts for tests.

use crate::store::debug_info::{DebugInfo, Proportion, TextRef};
use crate::store::names::Interner;

/// Contexts 1, 2, 3 … without parents, of a kind and name: each a PopLibs call or, without a kind,
/// Poplar's own.
pub fn contexts<'a>(list: impl IntoIterator<Item = (&'a str, &'a str)>) -> DebugInfo {
    let (mut words, mut debug) = (Interner::default(), DebugInfo::default());
    for (id, (kind, name)) in (1..).zip(list) {
        debug.ids.push(id);
        debug.parents.push(None);
        debug.layers.push(words.intern(if kind.is_empty() { "poplar" } else { "poplibs" }));
        debug.kinds.push((!kind.is_empty()).then(|| words.intern(kind)));
        debug.names.push(TextRef(debug.texts.push(name).0));
        debug.files.push(TextRef::NONE);
        debug.lines.push(0);
        debug.proportions.push(Proportion::Absent);
    }
    debug.words = words.into_names();
    debug
}
