//! Sections: what only one system says of a run, as titled rows that the terminal and the window show alike.

use serde::Serialize;
use serde_json::{Map, Value};

/// Titled facts, a table, or sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its title.
    pub title: String,
    /// What it says.
    pub body: SectionBody,
}

/// What a section says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionBody {
    /// Names with what they say.
    Facts(Vec<(String, Cell)>),
    /// A table: the titles of its columns, and rows of as many cells.
    Table {
        /// The titles of the columns; texts stand at the left, all else at the right.
        columns: Vec<String>,
        /// The rows.
        rows: Vec<Vec<Cell>>,
    },
    /// Sentences without their full stops.
    Sentences(Vec<String>),
}

/// What stands in a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    /// Words, as the run has them: they are cleaned where they are shown.
    Text(String),
    /// Bytes, in the units that are shown.
    Bytes(u64),
    /// A number of things.
    Count(u64),
    /// Nothing.
    #[default]
    Empty,
}

impl Section {
    /// Names with what they say.
    pub fn facts<N: Into<String>>(
        title: impl Into<String>,
        facts: impl IntoIterator<Item = (N, Cell)>,
    ) -> Self {
        let facts = facts.into_iter().map(|(name, said)| (name.into(), said));
        Self { title: title.into(), body: SectionBody::Facts(facts.collect()) }
    }

    /// A table by the titles of its columns, of which every row has a cell.
    pub fn table(title: impl Into<String>, columns: &[&str], rows: Vec<Vec<Cell>>) -> Self {
        let columns = columns.iter().map(|&title| title.to_owned()).collect();
        Self { title: title.into(), body: SectionBody::Table { columns, rows } }
    }
}

/// Facts that only one system has; they are serialized straight into the document.
pub type OwnFacts<'a> = Box<dyn erased_serde::Serialize + 'a>;

/// The keys of facts that are written as an object; none of others.
pub fn keys_of(facts: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(facts) {
        Ok(Value::Object(keys)) => keys,
        _ => Map::new(),
    }
}

impl Cell {
    /// For programs: bytes and numbers as numbers, words as text, nothing as null.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::Bytes(number) | Self::Count(number) => Value::from(*number),
            Self::Empty => Value::Null,
        }
    }
}

impl From<Option<u64>> for Cell {
    /// Bytes, where they are known.
    fn from(bytes: Option<u64>) -> Self {
        bytes.map_or(Self::Empty, Self::Bytes)
    }
}
