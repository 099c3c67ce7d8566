//! Names of the things alive at the peaks of two runs, each kept once: thousands of rows share them, and a run of some
//! MB may have millions of calls.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use crate::analysis::figures::joined::matched_by_plain;

/// What things at a peak belong to: a function in a file, or an operation, which has no file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// The file of a function.
    pub file: Option<Arc<str>>,
    /// Its name.
    pub name: Arc<str>,
}

impl Owner {
    /// An operation.
    pub fn operation(name: &str) -> Self {
        Self { file: None, name: name.into() }
    }

    /// A function.
    pub fn function(file: &str, name: &str) -> Self {
        Self { file: Some(file.into()), name: name.into() }
    }

    /// `file (function)`, or the name alone.
    pub fn title(&self) -> String {
        match &self.file {
            Some(file) => format!("{file} ({})", self.name),
            None => self.name.to_string(),
        }
    }
}

/// The number of a path among [`SharedNames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub(super) u32);

impl PathId {
    /// It, as a part of a key.
    pub fn number(self) -> u64 {
        self.0.into()
    }
}

/// The number of a text among [`SharedNames`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextId(pub(super) u32);

impl TextId {
    /// It, as a part of a key.
    pub fn number(self) -> u64 {
        self.0.into()
    }
}

/// Things of a kind, each once.
#[derive(Clone, Debug)]
struct Numbered<T> {
    numbers: HashMap<T, u32>,
    list: Vec<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), list: Vec::new() }
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    fn number(&mut self, thing: T) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(thing.clone()).or_insert(next);
        if number == next {
            self.list.push(thing);
        }
        number
    }

    fn get(&self, number: u32) -> Option<&T> {
        self.list.get(number as usize)
    }
}

/// Owners, the paths that lead to them, and texts, of both runs.
#[derive(Clone, Debug, Default)]
pub struct SharedNames {
    owners: Numbered<Owner>,
    /// Numbers of owners, the innermost first.
    paths: Numbered<Arc<[u32]>>,
    texts: Numbered<Arc<str>>,
    /// Names of operations of the first side, each with what is plain of it.
    first_operations: Vec<(String, String)>,
}

impl SharedNames {
    /// The path of owners, the innermost first; an empty one belongs to nobody.
    pub fn path(&mut self, owners: impl IntoIterator<Item = Owner>) -> PathId {
        let numbers = owners.into_iter().map(|owner| self.owners.number(owner)).collect();
        PathId(self.paths.number(numbers))
    }

    /// The operations of a side by their names, each of which comes with what is plain of it: without what differs from one
    /// release of the producer to the next. Those of the second side are by that matched with those of the first.
    pub fn operations(&mut self, all: Vec<(String, String)>) -> HashMap<String, Owner> {
        let matched = matched_by_plain(&self.first_operations, &all);
        let owner = |(name, _): &(String, String)| {
            (name.clone(), Owner::operation(matched.get(name).unwrap_or(&name)))
        };
        let owners = all.iter().map(owner).collect();
        if self.first_operations.is_empty() {
            self.first_operations = all;
        }
        owners
    }

    /// The path of the innermost owner alone.
    pub fn innermost(&mut self, path: PathId) -> PathId {
        let innermost = self.numbers(path).first().copied();
        PathId(self.paths.number(innermost.into_iter().collect()))
    }

    /// A text.
    pub fn text(&mut self, text: &str) -> TextId {
        TextId(self.texts.number(text.into()))
    }

    fn numbers(&self, path: PathId) -> &[u32] {
        self.paths.get(path.0).map_or(&[], |numbers| numbers)
    }

    /// The owners of a path, the innermost first.
    pub fn owners(&self, path: PathId) -> impl Iterator<Item = &Owner> {
        self.numbers(path).iter().filter_map(|number| self.owners.get(*number))
    }

    /// The innermost owner of a path; `None` of what belongs to nobody.
    pub fn owner(&self, path: PathId) -> Option<&Owner> {
        self.owners(path).next()
    }

    /// The number of the innermost owner.
    pub fn owner_number(&self, path: PathId) -> Option<u32> {
        self.numbers(path).first().copied()
    }

    /// By what paths are in order: the order in which their owners were met.
    pub(super) fn order(&self, path: PathId) -> &[u32] {
        self.numbers(path)
    }

    /// A text by its number.
    pub fn text_of(&self, text: TextId) -> &str {
        self.texts.get(text.0).map_or("", |text| text)
    }
}
