//! What a synthetic report is made from: programs, variables before placement, debug contexts.

use std::ops::Range;

use crate::store::target::Target;

/// A category, by its number in [`CATEGORIES`].
pub type Category = usize;

/// The categories of SDK 3.3 (formats/poplar.md 1.2), described in our words.
pub const CATEGORIES: [(&str, &str); 27] = [
    ("variable", "Variables of the user's program"),
    ("multiple", "Variables that hold several categories"),
    ("controlId", "Numbers of programs and syncs"),
    ("message", "Data on the way over internal exchange"),
    ("hostMessage", "Data on the way from or to the host"),
    ("globalMessage", "Data on the way between IPUs"),
    ("rearrangement", "Data in another order"),
    ("outputEdge", "Outputs of vertices before an exchange"),
    ("constant", "Constants of the user's program"),
    ("hostExchangePacketHeader", "Headers of packets to the host"),
    ("globalExchangePacketHeader", "Headers of packets between IPUs"),
    ("stack", "Stacks of workers and supervisor"),
    ("vertexInstanceState", "Vertices themselves"),
    ("copyDescriptor", "Fields of copy vertices"),
    ("vectorListDescriptor", "Descriptors of vector lists"),
    ("vertexFieldData", "Fields of vertices that vary in size"),
    ("controlTable", "Not used any more"),
    ("controlCode", "Code that runs programs"),
    ("vertexCode", "Code of vertices"),
    ("internalExchangeCode", "Code of internal exchanges"),
    ("hostExchangeCode", "Code of exchanges with the host"),
    ("globalExchangeCode", "Code of exchanges between IPUs"),
    ("instrumentationResults", "Results of instrumentation"),
    ("dwarf", "Debug information"),
    ("sharedCodeStorage", "Not used any more"),
    ("sharedDataStorage", "Not used any more"),
    ("sharedStructureState", "Not used any more"),
];

/// The number of a category.
pub fn category(name: &str) -> Category {
    CATEGORIES.iter().position(|(other, _)| *other == name).unwrap_or(0)
}

/// When a variable is live.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Life {
    /// As long as the program.
    Always,
    /// In these steps, as (first, one past the last).
    Steps(u32, u32),
}

impl Life {
    /// The life over a range of steps.
    pub fn steps(range: Range<u32>) -> Self {
        Self::Steps(range.start, range.end)
    }
}

/// A lowered variable before it has a place.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the independent bits of the bitset")]
pub struct Wanted {
    /// Its name without the `#` and number at the end.
    pub name: String,
    /// Size, bytes.
    pub bytes: u64,
    /// Alignment, bytes.
    pub alignment: u64,
    /// What it is for.
    pub category: Category,
    /// When it is live.
    pub life: Life,
    /// The name under which the unlowered view counts it.
    pub shown_as: String,
    /// Whether the unlowered name is that of the variable that it was lowered from.
    pub is_lowered_from: bool,
    /// Whether it is code, which may not share a memory element with data.
    pub is_code: bool,
    /// Whether it must lie in interleaved memory.
    pub is_interleaved: bool,
    /// Whether it is constant.
    pub is_constant: bool,
}

/// A lowered program. Its id is its place in [`Model::programs`], which is also its step.
#[derive(Clone, Debug)]
pub struct Program {
    /// The kind, `OnTileExecute` for example.
    pub kind: &'static str,
    /// Its own name, empty for none.
    pub name: String,
    /// Debug context, 0 for none.
    pub context: u64,
    /// The program that contains it.
    pub parent: Option<usize>,
    /// The compute set that it runs.
    pub compute_set: Option<usize>,
}

/// A compute set.
#[derive(Clone, Debug)]
pub struct ComputeSet {
    /// Its name.
    pub name: String,
    /// Debug context.
    pub context: u64,
    /// Vertex types and how many of each there are.
    pub vertices: Vec<(usize, u64)>,
    /// Edges.
    pub edges: u64,
}

/// A debug context.
#[derive(Clone, Debug)]
pub struct Context {
    /// Its id, not 0.
    pub id: u64,
    /// The id of its parent, 0 for none.
    pub parent: u64,
    /// The layer.
    pub layer: &'static str,
    /// The key and value by which the layer names the kind of thing.
    pub kind: (&'static str, String),
    /// Its name.
    pub name: String,
    /// Source file and line.
    pub location: (&'static str, u64),
    /// PopLibs options.
    pub options: Vec<(&'static str, String)>,
}

/// A network as a compiler sees it before it places variables.
#[derive(Clone, Debug)]
pub struct Model {
    /// The machine.
    pub target: Target,
    /// Programs in the order of the depth-first walk; the first is the root.
    pub programs: Vec<Program>,
    /// Compute sets.
    pub compute_sets: Vec<ComputeSet>,
    /// Names of vertex types.
    pub vertex_types: Vec<&'static str>,
    /// Variables of each tile in the order in which they are placed.
    pub tiles: Vec<Vec<Wanted>>,
    /// Debug contexts, parents before children.
    pub contexts: Vec<Context>,
    /// What `app.json` says.
    pub app: serde_json::Map<String, serde_json::Value>,
    /// Engine options: name, value, whether it is the default.
    pub options: Vec<(String, String, bool)>,
}
