//! The rest of a dump beside the open module: other modules, and the files beside them.

use serde::Serialize;

/// A module of a dump.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ListedModule {
    /// The name of its file.
    pub file: String,
    /// By what it is asked for: the file as seen from the path that was named, of a profile with its place there, from 1
    /// (`a/host.xplane.pb#2`).
    #[serde(skip)]
    pub key: String,
    /// What it is called among the others: its name, or the key where others have the same.
    #[serde(skip)]
    pub title: String,
    /// Its place among the modules of its path, the largest in the main memory first.
    #[serde(skip)]
    pub place: usize,
    /// Its name; none of a bare assignment, and of text the part of the file's name.
    pub module: Option<String>,
    /// Number of allocations.
    pub allocations: usize,
    /// Of all allocations.
    pub total_bytes: u64,
    /// Of temporary allocations.
    pub temp_bytes: u64,
    /// Of all allocations in the main memory.
    #[serde(skip)]
    pub main_bytes: u64,
}

/// What files beside a module say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BesideModule {
    /// The device, as it names itself.
    pub device: Option<String>,
    /// Bytes that its main memory has.
    pub capacity_bytes: Option<u64>,
    /// The file that says so.
    pub capacity_file: Option<String>,
    /// Flags of the compilation that are not as they are by default.
    #[serde(skip)]
    pub flags: Vec<(String, String)>,
}

/// What XLA itself states of a module, in files beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct XlaClaims {
    /// Figures.
    pub figures: Vec<StatedFigure>,
    /// The position whose values it lists as those of the peak, by a rule of its own: it is not that of memory.
    pub moment: Option<u32>,
}

/// A figure that a file states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedFigure {
    /// The file.
    pub file: String,
    /// What it is of.
    pub of: StatedOf,
    /// What it states.
    pub bytes: u64,
}

/// What a figure of XLA is of (formats/xla.md 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedOf {
    /// All allocations.
    All,
    /// Those of a memory space.
    MemorySpace(i64),
    /// Temporary ones.
    Temporary,
    /// Parameters.
    Arguments,
    /// Parameters that results take over.
    Donated,
    /// Results, with the parameters that they take over.
    Outputs,
}

impl StatedOf {
    /// What XLA calls it: in its texts, or in `CompiledMemoryStats`.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "Total bytes used",
            Self::MemorySpace(_) => "Total bytes",
            Self::Temporary => "temp_size_in_bytes",
            Self::Arguments => "argument_size_in_bytes",
            Self::Donated => "alias_size_in_bytes",
            Self::Outputs => "output_size_in_bytes",
        }
    }
}

/// The name of a module without the number by which some front ends tell its compilations apart: `Graph.35`.
pub fn plain_module_name(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((plain, number)) if !plain.is_empty() && is_number(number) => plain,
        _ => name,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit())
}
