//! Debug contexts: what the software layers called the things that they built (`debug.cbor`).

use super::column::{Column, number};
use super::names::{NameId, Names};

number! {
    /// A debug context's text: a row of the string table at the end of the file.
    pub struct TextRef(pub u32);
}

impl TextRef {
    /// No text.
    pub const NONE: Self = Self(u32::MAX);
}

/// An `availableMemoryProportion` as a context has it.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Proportion {
    /// The context does not have the option.
    Absent,
    /// It has the option with this value.
    Value(f64),
    /// It has the option with a value that is not a number.
    Unknown,
}

/// Columns of `contexts` (formats/poplar.md 3.1), sorted by id.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct DebugInfo {
    /// Context ids, ascending.
    #[serde(skip)]
    pub ids: Column<u64>,
    /// Row of the parent; `None` for roots and where the parent is absent.
    pub parents: Vec<Option<u32>>,
    /// Layer, a row of `words`: `poplar`, `poplibs`, `popart` …
    #[serde(skip)]
    pub layers: Column<NameId>,
    /// What the layer calls this kind of thing (`api`, `opType`, `opcode` …), a row of `words`.
    pub kinds: Vec<Option<NameId>>,
    /// Debug name.
    #[serde(skip)]
    pub names: Column<TextRef>,
    /// Source file.
    #[serde(skip)]
    pub files: Column<TextRef>,
    /// Line in the source file.
    #[serde(skip)]
    pub lines: Column<u32>,
    /// The option `availableMemoryProportion`.
    pub proportions: Vec<Proportion>,
    /// The option `partialsType` of the rows that have it, ascending; a row of `words`.
    pub partials_types: Vec<(u32, NameId)>,
    /// Interned words of layers, kinds and types.
    pub words: Names,
    /// The file's string table; empty when the file was cut before it.
    #[serde(skip)]
    pub texts: Names,
    /// Whether the file ends before its contents do, or is damaged: then contexts and names may be lacking.
    pub is_cut: bool,
}

impl DebugInfo {
    /// The row of the context with this id; 0 is never used.
    pub fn position(&self, id: u64) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn layer(&self, position: usize) -> &str {
        self.layers.get(position).map_or("", |layer| self.words.get(*layer))
    }

    pub(crate) fn kind(&self, position: usize) -> Option<&str> {
        Some(self.words.get((*self.kinds.get(position)?)?))
    }

    /// A context's debug name, `None` when it is empty or not readable.
    pub fn name(&self, position: usize) -> Option<&str> {
        self.text(*self.names.get(position)?).filter(|name| !name.is_empty())
    }

    /// The option `partialsType` of a context: `float`, `half`.
    pub fn partials_type(&self, position: usize) -> Option<&str> {
        let row = u32::try_from(position).ok()?;
        let place = self.partials_types.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        Some(self.words.get(self.partials_types.get(place)?.1))
    }

    /// Where in the source a context was made, as `file:line`.
    pub fn location(&self, position: usize) -> Option<String> {
        let file = self.text(*self.files.get(position)?).filter(|file| !file.is_empty())?;
        Some(format!("{file}:{}", self.lines.get(position)?))
    }

    /// A context and those above it, nearest first. The reader has broken cycles.
    pub fn ancestry(&self, position: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(position), |row| {
            self.parents.get(*row).copied().flatten().map(|parent| parent as usize)
        })
    }

    fn text(&self, reference: TextRef) -> Option<&str> {
        self.texts.at(reference.0 as usize)
    }
}
