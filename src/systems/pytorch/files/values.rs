//! Values of a pickle: on the stack of the machine, and in four bytes in memo and lists; what an object is.

/// Rows of one kind, and objects of all: numbers have 28 bits beside their kind.
pub(super) const MOST_ROWS: u32 = (1 << 28) - 1;

/// No row, no text, no object.
pub(super) const NONE: u32 = u32::MAX;

/// What is wrong with a pickle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault(pub(super) String);

impl Fault {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    pub(super) fn too_many() -> Self {
        Self::new(format!("more than {MOST_ROWS} objects"))
    }
}

/// A value on the stack of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pickled {
    None,
    Bool(bool),
    Unsigned(u64),
    Negative(i64),
    Float(f64),
    Text(u32),
    Object(u32),
    Tuple(u32),
}

/// A value in four bytes: in memo and lists. Large numbers lie elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference(pub(super) u32);

pub(super) const TEXT: u32 = 0;
pub(super) const OBJECT: u32 = 1;
pub(super) const TUPLE: u32 = 2;
pub(super) const SCALAR: u32 = 3;
pub(super) const SMALL: u32 = 4;

impl Reference {
    pub(super) fn new(tag: u32, row: u32) -> Self {
        Self(tag << 28 | row)
    }

    /// The object that it names.
    pub(super) fn object(self) -> Option<u32> {
        (self.0 >> 28 == OBJECT).then_some(self.0 & MOST_ROWS)
    }
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PyObject {
    EmptyDict,
    EmptyList,
    ShortList(u32),
    LongList(u32),
    Dict(u32),
    Event(u32),
    Frame(u32),
    Segment(u32),
    Block(u32),
    Mark(u32),
    /// A short list that was filled with what was known.
    KnownList(u32),
}

impl PyObject {
    pub(super) fn packed(self) -> u32 {
        let (tag, row) = match self {
            Self::EmptyDict => (0, 0),
            Self::EmptyList => (1, 0),
            Self::ShortList(row) => (2, row),
            Self::LongList(row) => (3, row),
            Self::Dict(row) => (4, row),
            Self::Event(row) => (5, row),
            Self::Frame(row) => (6, row),
            Self::Segment(row) => (7, row),
            Self::Block(row) => (8, row),
            Self::Mark(row) => (9, row),
            Self::KnownList(row) => (10, row),
        };
        tag << 28 | row
    }

    pub(super) fn of_packed(packed: u32) -> Self {
        let row = packed & MOST_ROWS;
        match packed >> 28 {
            0 => Self::EmptyDict,
            1 => Self::EmptyList,
            2 => Self::ShortList(row),
            3 => Self::LongList(row),
            4 => Self::Dict(row),
            5 => Self::Event(row),
            6 => Self::Frame(row),
            7 => Self::Segment(row),
            8 => Self::Block(row),
            9 => Self::Mark(row),
            _ => Self::KnownList(row),
        }
    }
}
