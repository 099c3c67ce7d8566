//! The program before variables are placed: programs, symbols, exchanges.

use std::ops::Range;

use super::RecordedRuns;
use super::planner::LayerPlan;
use crate::store::target::Target;
use crate::synth::mix;

/// A category, by its number in [`CATEGORIES`].
pub type CategoryNumber = usize;

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

pub fn category(name: &str) -> CategoryNumber {
    CATEGORIES.iter().position(|(other, _)| *other == name).unwrap_or(0)
}

/// When a variable is live.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LifeSpan {
    /// As long as the program.
    Always,
    /// In these steps, as (first, one past the last).
    Steps(u32, u32),
}

/// How a symbol's bytes are spread over tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    pub first: u32,
    /// How many tiles from there.
    pub tiles: u32,
    /// Bytes on a tile, on average.
    pub bytes: u64,
    /// By how much tiles differ, thousandths of `bytes` up or down.
    pub unevenness: u64,
}

impl Spread {
    /// Bytes on a tile, a multiple of 4. Tiles differ by a share that all symbols have in common
    /// and by one of the symbol's own.
    pub fn bytes_on(&self, tile: u32, symbol: u64, seed: u64) -> u64 {
        if tile < self.first || tile - self.first >= self.tiles || self.bytes == 0 {
            return 0;
        }
        let of_tile = mix(seed ^ u64::from(tile)) % 1401;
        let of_symbol = mix(seed ^ (symbol << 32) ^ u64::from(tile)) % 601;
        let signed = i64::try_from(of_tile + of_symbol).unwrap_or(0) - 1000;
        let unevenness = i64::try_from(self.bytes * self.unevenness / 1000).unwrap_or(0);
        let bytes = i64::try_from(self.bytes).unwrap_or(i64::MAX) + unevenness * signed / 1000;
        u64::try_from(bytes).unwrap_or(0).max(4).next_multiple_of(4)
    }
}

/// A variable of the program, which becomes one lowered variable on each tile of its spread.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the independent bits of the bitset")]
pub struct Symbol {
    /// Its lowered name without the `#` and number at the end.
    pub name: String,
    pub category: CategoryNumber,
    pub life: LifeSpan,
    /// The name under which the unlowered view counts it.
    pub shown_as: String,
    /// Whether that is the name of the variable that it was lowered from.
    pub is_lowered_from: bool,
    /// Alignment, bytes.
    pub alignment: u64,
    /// Whether it is code, which may not share a memory element with data.
    pub is_code: bool,
    pub is_interleaved: bool,
    pub is_constant: bool,
    /// Whether it may not share a memory region with the stack, so that both are read at once.
    pub avoids_stack: bool,
    /// The debug context that made it, 0 for none.
    pub context: u64,
    pub spread: Spread,
}

/// What a program does beside being of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing that a table says.
    None,
    /// Runs a compute set.
    Execute(usize),
    /// Moves data between tiles of an IPU.
    Exchange(Exchange),
    /// Moves data between IPUs.
    GlobalExchange(Exchange),
    /// Moves data from or to the host; the stream's name, and whether it comes from the host.
    HostExchange(Exchange, String, bool),
    /// Repeats its child.
    Repeat(u64),
    /// Runs a function, a position in [`Model::functions`]; its steps follow as children.
    Call(usize),
    /// Waits for other IPUs.
    Sync,
    /// Starts or ends waiting of these tiles.
    Tiles(Range<u32>),
}

/// What an exchange moves, by the symbols that hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The symbol whose bytes arrive.
    pub received: usize,
    /// How many tiles each byte goes to.
    pub copies: u64,
    /// The symbol of the exchange's code.
    pub code: usize,
    /// How many exchanges share that code symbol in equal parts.
    pub code_parts: u64,
}

/// A lowered program, or a further visit to one. Its place in [`Model::programs`] is its step and, of a
/// program, its id.
#[derive(Clone, Debug)]
pub struct Program {
    /// The kind, `OnTileExecute` for example.
    pub kind: &'static str,
    /// Its own name, empty for none.
    pub name: String,
    /// Debug context, 0 for none.
    pub context: u64,
    /// The step that contains it.
    pub parent: Option<usize>,
    pub detail: Detail,
    /// The program that a further visit is to: one of a function that was called before.
    pub again: Option<usize>,
    /// The IPU that it keeps busy.
    pub ipu: u32,
    /// Cycles of an average tile, for the programs that take any.
    pub cycles: u64,
}

#[derive(Clone, Debug)]
pub struct ComputeSet {
    pub name: String,
    pub context: u64,
    pub vertex_type: usize,
    /// The symbol that holds the state of its vertices.
    pub state: usize,
    /// How many compute sets share that symbol in equal parts, and which part this one has.
    pub state_parts: u64,
    /// As above, from 0.
    pub state_part: u64,
}

/// A debug context.
#[derive(Clone, Debug)]
pub struct ModelContext {
    /// Its id, not 0.
    pub id: u64,
    /// The id of its parent, 0 for none.
    pub parent: u64,
    pub layer: &'static str,
    /// The key and value by which the layer names the kind of thing.
    pub kind: (&'static str, String),
    pub name: String,
    /// Source file and line.
    pub location: (&'static str, u64),
    /// What else the layer says, by key: arguments with shapes, types and options, inputs, attributes.
    pub says: Vec<(&'static str, serde_json::Value)>,
}

#[derive(Clone, Copy, Debug)]
pub struct VertexType {
    pub name: &'static str,
    /// Bytes of one vertex.
    pub bytes: u64,
}

/// A program as a compiler sees it before it places variables.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub target: Target,
    /// What makes reports of equal options equal, and others differ.
    pub seed: u64,
    /// Programs in the order of the depth-first walk; the first is the root.
    pub programs: Vec<Program>,
    /// The programs that are functions.
    pub functions: Vec<usize>,
    pub compute_sets: Vec<ComputeSet>,
    pub vertex_types: Vec<VertexType>,
    /// Variables, in the order in which they are placed: code first.
    pub symbols: Vec<Symbol>,
    /// Debug contexts, parents before children.
    pub contexts: Vec<ModelContext>,
    /// What `app.json` says.
    pub app: serde_json::Map<String, serde_json::Value>,
    /// Engine options: name, value, whether it is the default.
    pub options: Vec<(String, String, bool)>,
    pub plans: Vec<LayerPlan>,
    /// Whether the compiler estimates the cycles of compute sets.
    pub has_cycle_estimates: bool,
    /// Whether the program measures its execution.
    pub is_instrumented: bool,
    /// Whether the program was run, if it fits.
    pub has_execution: bool,
    /// What is recorded of that.
    pub recorded: RecordedRuns,
}

impl Model {
    pub fn ipus(&self) -> usize {
        usize::try_from(self.target.devices.unwrap_or(1)).unwrap_or(1)
    }

    /// The steps within each step.
    pub fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.programs.len()];
        for (id, program) in self.programs.iter().enumerate() {
            if let Some(list) = program.parent.and_then(|parent| children.get_mut(parent)) {
                list.push(id);
            }
        }
        children
    }

    pub fn tiles(&self) -> u32 {
        u32::try_from(self.target.tiles.unwrap_or(0)).unwrap_or(0)
    }

    /// The symbols of a tile with their bytes there.
    pub fn on_tile(&self, tile: u32) -> Vec<(usize, u64)> {
        let symbols = self.symbols.iter().enumerate();
        symbols
            .map(|(at, symbol)| (at, symbol.spread.bytes_on(tile, at as u64, self.seed)))
            .filter(|(at, bytes)| {
                *bytes > 0 || self.symbols.get(*at).is_some_and(|symbol| symbol.spread.bytes == 0)
            })
            .collect()
    }
}
