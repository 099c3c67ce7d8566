//! The line of source that is the user's own.

use crate::store::debug_info::DebugInfo;

/// The line of source that is the user's own, as `file:line`: of the outermost layer on the way to the root that has
/// one, and of its contexts the innermost, for modules of a network call each other. Of the layers of calls and of the
/// machine, which have their own files below a call from the user's, the innermost of those contexts that are in the file
/// of the outermost.
pub fn source_line(debug: &DebugInfo, context: usize) -> Option<String> {
    // Nearest first, so the last is the outermost.
    let with_line = |row: &usize| debug.file(*row).is_some() || debug.has_source(*row);
    let rows: Vec<usize> = debug.ancestry(context).filter(with_line).collect();
    let outermost = *rows.last()?;
    let layer = debug.layer(outermost);
    let known = &debug.known_layers;
    let has_own_files = !layer.is_empty() && (layer == known.calls || layer == known.machine);
    let is_same = |row: &usize| !has_own_files || debug.file(*row) == debug.file(outermost);
    let same = rows.iter().rev().take_while(|row| debug.layer(**row) == layer && is_same(row));
    debug.location(*same.last()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::contexts_of_layers;
    use crate::store::debug_info::{ContextRow, TextRef};
    use crate::store::names::{Interner, NameId};

    /// Contexts from the root on, each the child of the one before: layer, file, line.
    fn chain(contexts: &[(&str, &str, u32)]) -> DebugInfo {
        let mut debug = contexts_of_layers(contexts.iter().map(|(layer, ..)| (*layer, "", "")));
        let parent = |row: u32| row.checked_sub(1).map_or(ContextRow::NONE, ContextRow);
        debug.parents = (0..).map(parent).take(contexts.len()).collect();
        let mut texts = Interner::default();
        debug.files = contexts.iter().map(|(_, file, _)| TextRef(texts.intern(file).0)).collect();
        debug.lines = contexts.iter().map(|(.., line)| *line).collect();
        debug.texts = texts.into_names();
        debug
    }

    #[test]
    fn the_line_is_that_of_the_outermost_layer() {
        let debug = chain(&[
            ("popartbuilder", "train.py", 9),
            ("popartbuilder", "model.py", 31),
            ("onnx", "", 0),
            ("popart", "popart/convop.cpp", 77),
            ("poplibs", "poplin/Convolution.cpp", 1200),
            ("poplar", "poplar/Program.cpp", 60),
        ]);
        assert_eq!(source_line(&debug, 5).as_deref(), Some("model.py:31"));
        assert_eq!(source_line(&debug, 0).as_deref(), Some("train.py:9"));
        let debug = chain(&[("onnx", "", 0), ("popart", "popart/convop.cpp", 77)]);
        assert_eq!(source_line(&debug, 1).as_deref(), Some("popart/convop.cpp:77"));
        assert_eq!(source_line(&debug, 0), None);
    }

    #[test]
    fn a_call_of_poplibs_is_where_the_user_made_it() {
        let debug = chain(&[
            ("poplibs", "mine.cpp", 450),
            ("poplibs", "mine.cpp", 455),
            ("poplibs", "popops/Loop.cpp", 45),
            ("poplar", "poplar/GraphBuilder.cpp", 3),
        ]);
        assert_eq!(source_line(&debug, 3).as_deref(), Some("mine.cpp:455"));
    }

    #[test]
    fn what_a_layer_says_of_the_source_counts_before_its_own_place() {
        let mut debug = chain(&[("xla_op", "tensorflow/op.cc", 5), ("poplibs", "a.cpp", 1)]);
        debug.words.push("train.py");
        let train = debug.words.iter().position(|word| word == "train.py").unwrap();
        debug.sources.push((0, (NameId(u32::try_from(train).unwrap()), 12)));
        assert_eq!(source_line(&debug, 1).as_deref(), Some("train.py:12"));
    }
}
