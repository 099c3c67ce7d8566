//! Debug contexts: what the software layers called the things that they built (`debug.cbor`).

use super::column::{Column, number};
use super::names::{NameId, Names};
use crate::limits;

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

/// A context, as it is added to [`DebugInfo`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Context {
    /// Its id, not 0.
    pub id: u64,
    /// Row of its parent.
    pub parent: Option<u32>,
    /// Layer, a row of the words.
    pub layer: Option<NameId>,
    /// What the layer calls this kind of thing, a row of the words.
    pub kind: Option<NameId>,
    /// Debug name.
    pub name: TextRef,
    /// Source file.
    pub file: TextRef,
    /// Line in the source file.
    pub line: u32,
    /// The option `availableMemoryProportion`.
    pub proportion: Proportion,
    /// The option `partialsType`, a row of the words.
    pub partials_type: Option<NameId>,
    /// File, a row of the words, and line in the user's source, where the layer says them beside its own location.
    pub source: Option<(NameId, u32)>,
    /// What its call was given, a row of [`DebugInfo::arguments`].
    pub arguments: Option<NameId>,
    /// Byte of the file at which its map begins.
    pub offset: u64,
}

impl Context {
    /// A context of which only the id is known.
    pub fn of(id: u64) -> Self {
        Self {
            id,
            parent: None,
            layer: None,
            kind: None,
            name: TextRef::NONE,
            file: TextRef::NONE,
            line: 0,
            proportion: Proportion::Absent,
            partials_type: None,
            source: None,
            arguments: None,
            offset: 0,
        }
    }
}

number! {
    /// A row of [`DebugInfo`].
    pub struct ContextRow(pub u32);
}

impl ContextRow {
    /// No context.
    pub const NONE: Self = Self(u32::MAX);
}

number! {
    /// A byte of a file, in five bytes, for there are millions of them.
    pub struct FileOffset(pub [u8; 5]);
}

impl FileOffset {
    /// Of a number; one beyond 2⁴⁰ − 1 is that.
    pub fn of(offset: u64) -> Self {
        let [low @ .., _, _, _] = offset.min((1 << 40) - 1).to_le_bytes();
        Self(low)
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// The software layers that contexts are of, by their names in `words`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Layers {
    /// What people call each: name and title.
    pub titles: Vec<(String, String)>,
    /// The one whose calls operations are named by; empty where there is none.
    pub calls: String,
    /// The one below it, whose contexts name nothing; empty where there is none.
    pub machine: String,
}

impl Layers {
    /// What people call a layer; its own name where nothing else is known.
    pub fn title<'a>(&'a self, layer: &'a str) -> &'a str {
        let known = self.titles.iter().find(|(name, _)| name == layer);
        match known {
            Some((_, title)) => title,
            None if layer.is_empty() => "Unnamed layer",
            None => layer,
        }
    }
}

impl super::Report {
    /// What people call a layer.
    pub fn layer_title<'a>(&'a self, layer: &'a str) -> &'a str {
        self.debug.get().map_or(layer, |debug| debug.known_layers.title(layer))
    }

    /// What people call the layer whose calls operations are named by.
    pub fn title_of_calls(&self) -> Option<&str> {
        let known = &self.debug.get()?.known_layers;
        (!known.calls.is_empty()).then(|| known.title(&known.calls))
    }
}

/// Columns of `contexts` (formats/poplar.md 3.1), sorted by id.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct DebugInfo {
    /// Context ids, ascending.
    #[serde(skip)]
    pub ids: Column<u64>,
    /// The parent; none for roots and where the parent is absent.
    #[serde(skip)]
    pub parents: Column<ContextRow>,
    /// Layer, a row of `words`.
    #[serde(skip)]
    pub layers: Column<NameId>,
    /// What the layer calls this kind of thing (`api`, `opType`, `opcode` …), a row of `words`.
    #[serde(skip)]
    pub kinds: Column<NameId>,
    /// Debug name.
    #[serde(skip)]
    pub names: Column<TextRef>,
    /// Source file.
    #[serde(skip)]
    pub files: Column<TextRef>,
    /// Line in the source file.
    #[serde(skip)]
    pub lines: Column<u32>,
    /// The option `availableMemoryProportion` of the rows that have it, ascending.
    pub proportions: Vec<(u32, Proportion)>,
    /// The option `partialsType` of the rows that have it, ascending; a row of `words`.
    pub partials_types: Vec<(u32, NameId)>,
    /// File, a row of `words`, and line in the user's source of the rows whose layer says them beside its own location
    /// (`sourcefile`, `sourceline`), ascending.
    pub sources: Vec<(u32, (NameId, u32))>,
    /// The rows that say what their call was given, ascending, each with its row of `arguments`.
    pub with_arguments: Vec<(u32, NameId)>,
    /// Single arguments, options and attributes of calls, each list once ([`arguments_in`]): a call with the same ones
    /// comes thousands of times.
    pub arguments: Names,
    /// Byte of `debug.cbor` at which each one's map begins: the rest of what it says is read there
    /// ([`super::Report::read_context`]).
    #[serde(skip)]
    pub offsets: Column<FileOffset>,
    /// Interned words of layers, kinds and types.
    pub words: Names,
    /// The file's string table; empty when the file was cut before it.
    #[serde(skip)]
    pub texts: Names,
    /// Whether the file ends before its contents do, or is damaged: then contexts and names may be lacking.
    pub is_cut: bool,
    /// What is known of the layers.
    pub known_layers: Layers,
}

impl DebugInfo {
    /// The row of the context with this id; 0 is never used.
    pub fn position(&self, id: u64) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Appends a context; ids ascend.
    pub fn push(&mut self, context: Context) {
        self.parents.push(context.parent.map_or(ContextRow::NONE, ContextRow));
        self.push_without_parent(context);
    }

    /// The same for who finds the parents later.
    pub(crate) fn push_without_parent(&mut self, context: Context) {
        let row = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        self.ids.push(context.id);
        self.layers.push(context.layer.unwrap_or(NameId::NONE));
        self.kinds.push(context.kind.unwrap_or(NameId::NONE));
        self.names.push(context.name);
        self.files.push(context.file);
        self.lines.push(context.line);
        self.offsets.push(FileOffset::of(context.offset));
        if context.proportion != Proportion::Absent {
            self.proportions.push((row, context.proportion));
        }
        if let Some(partials_type) = context.partials_type {
            self.partials_types.push((row, partials_type));
        }
        if let Some(source) = context.source {
            self.sources.push((row, source));
        }
        if let Some(arguments) = context.arguments {
            self.with_arguments.push((row, arguments));
        }
    }

    pub(crate) fn layer(&self, position: usize) -> &str {
        self.layers.get(position).map_or("", |layer| self.words.get(*layer))
    }

    pub(crate) fn kind(&self, position: usize) -> Option<&str> {
        self.words.at(self.kinds.get(position)?.0 as usize)
    }

    /// A context's debug name, `None` when it is empty or not readable.
    pub fn name(&self, position: usize) -> Option<&str> {
        self.text(*self.names.get(position)?).filter(|name| !name.is_empty())
    }

    /// The option `partialsType` of a context: `float`, `half`.
    pub fn partials_type(&self, position: usize) -> Option<&str> {
        Some(self.words.get(*of_row(&self.partials_types, position)?))
    }

    /// The option `availableMemoryProportion` of a context.
    pub fn proportion(&self, position: usize) -> Proportion {
        of_row(&self.proportions, position).copied().unwrap_or(Proportion::Absent)
    }

    /// What a context's call was given, a row of `arguments`.
    pub fn arguments_of(&self, position: usize) -> Option<NameId> {
        of_row(&self.with_arguments, position).copied()
    }

    /// The row of a context's parent.
    pub fn parent(&self, position: usize) -> Option<usize> {
        let parent = *self.parents.get(position)?;
        (parent != ContextRow::NONE).then_some(parent.0 as usize)
    }

    /// Where in the source a context was made, as `file:line`: in the user's where its layer says that.
    pub fn location(&self, position: usize) -> Option<String> {
        if let Some((file, line)) = of_row(&self.sources, position) {
            return Some(format!("{}:{line}", self.words.get(*file)));
        }
        let file = self.file(position)?;
        Some(format!("{file}:{}", self.lines.get(position)?))
    }

    /// Whether each parent is a row, and a walk to the root ends.
    pub fn has_sound_parents(&self) -> bool {
        // Most parents come before their children, and then no walk can return.
        let is_later = |(row, parent): (usize, &ContextRow)| {
            *parent != ContextRow::NONE && parent.0 as usize >= row
        };
        if !self.parents.iter().enumerate().any(is_later) {
            return true;
        }
        let mut parents = self.parents.to_vec();
        let rows = parents.len();
        let is_row =
            |parent: &ContextRow| *parent == ContextRow::NONE || (parent.0 as usize) < rows;
        parents.iter().all(is_row) && cut_cycles(&mut parents).is_none()
    }

    /// A context and those above it, nearest first. The reader has broken cycles and cut what is nested deeper than
    /// any file has it.
    pub fn ancestry(&self, position: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(position), |row| self.parent(*row)).take(limits::CONTEXT_DEPTH)
    }

    /// Bytes of the longer of its name and its file.
    pub(crate) fn text_bytes(&self, position: usize) -> usize {
        let bytes = |references: &[TextRef]| {
            references.get(position).and_then(|name| self.text(*name)).map_or(0, str::len)
        };
        bytes(&self.names).max(bytes(&self.files))
    }

    /// Whether a context's layer says a line of the user's source beside its own location.
    pub(crate) fn has_source(&self, position: usize) -> bool {
        of_row(&self.sources, position).is_some()
    }

    /// The source file that a context's location names.
    pub(crate) fn file(&self, position: usize) -> Option<&str> {
        self.text(*self.files.get(position)?).filter(|file| !file.is_empty())
    }

    /// A text of the file's string table.
    pub(crate) fn text(&self, reference: TextRef) -> Option<&str> {
        self.texts.at(reference.0 as usize)
    }
}

/// What stands between the arguments of a list, and between the name of one and its value.
pub(crate) const BETWEEN_ARGUMENTS: char = '\u{1e}';
pub(crate) const BEFORE_VALUE: char = '\u{1f}';

/// The arguments of a list, a row of [`DebugInfo::arguments`]: names and values.
pub fn arguments_in(list: &str) -> impl Iterator<Item = (&str, &str)> {
    list.split(BETWEEN_ARGUMENTS).filter_map(|argument| argument.split_once(BEFORE_VALUE))
}

/// What some rows have that are sorted by their numbers.
fn of_row<T>(rows: &[(u32, T)], position: usize) -> Option<&T> {
    let row = u32::try_from(position).ok()?;
    let place = rows.binary_search_by_key(&row, |(row, _)| *row).ok()?;
    rows.get(place).map(|(_, value)| value)
}

/// Removes one link of every cycle; returns the first row that lost its parent.
pub fn cut_cycles(parents: &mut [ContextRow]) -> Option<usize> {
    let mut first_cut = None;
    // The walk in which a row was last seen, 0 for none. A context has fewer than 2³² − 1 others.
    let mut seen: Vec<u32> = vec![0; parents.len()];
    for (walk, start) in (1..).zip(0..parents.len()) {
        let mut row = start;
        while let Some(mark) = seen.get_mut(row)
            && *mark == 0
        {
            *mark = walk;
            let Some(parent) = parents.get(row).filter(|parent| **parent != ContextRow::NONE)
            else {
                break;
            };
            let parent = parent.0 as usize;
            if seen.get(parent) == Some(&walk) {
                if let Some(link) = parents.get_mut(row) {
                    *link = ContextRow::NONE;
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
    fn an_offset_comes_back() {
        for offset in [0, 1, 255, 256, (1 << 32) + 7, (1 << 40) - 1] {
            assert_eq!(FileOffset::of(offset).get(), offset);
        }
        assert_eq!(FileOffset::of(u64::MAX).get(), (1 << 40) - 1);
        assert_eq!(size_of::<FileOffset>(), 5);
    }

    #[test]
    fn cycles_are_cut_and_the_rest_stays() {
        let mut parents = [1, 2, 0, 0, u32::MAX, 5].map(ContextRow);
        assert!(cut_cycles(&mut parents).is_some());
        assert_eq!(parents[3], ContextRow(0), "a child of the cycle keeps its parent");
        assert_eq!(parents[5], ContextRow::NONE, "its own parent");
        for start in 0..parents.len() {
            let parent = |row: &usize| Some(parents.get(*row)?.0 as usize);
            let walk = std::iter::successors(Some(start), |row| parent(row).filter(|row| *row < 6));
            assert!(walk.take(100).count() < 100, "a walk from {start} ends");
        }
    }

    #[test]
    fn parents_are_sound_only_without_cycles() {
        let of = |parents: &[u32]| {
            let mut debug = DebugInfo::default();
            for (id, parent) in (1..).zip(parents) {
                let parent = Some(*parent).filter(|parent| *parent != u32::MAX);
                debug.push(Context { parent, ..Context::of(id) });
            }
            debug.has_sound_parents()
        };
        assert!(of(&[]) && of(&[u32::MAX, 0, 0, 2]) && of(&[2, 2, u32::MAX]));
        assert!(!of(&[0]) && !of(&[1, 0]) && !of(&[u32::MAX, 2, 1]) && !of(&[3, u32::MAX]));
    }
}
