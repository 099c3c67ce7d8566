//! Context of a report: versions, options, the compiler's phases, side files.

use super::absence::Absence;

/// One engine, target or execution option.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct EngineOption {
    /// Its name, `autoReport.directory` for example.
    pub name: String,
    /// Its value as text.
    pub value: String,
    /// Whether it has its default value; `None` where the file does not say.
    pub is_default: Option<bool>,
}

/// A phase of the compiler, nested by time.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CompilerPhase {
    /// The phase, `allocateVarStorage` for example.
    pub name: String,
    /// Start, microseconds of an arbitrary clock.
    pub start_microseconds: i64,
    /// Duration, microseconds.
    pub duration_microseconds: i64,
}

/// A value of `framework.json` or `app.json`, its path joined with ` / `.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SideFact {
    /// Where in the file.
    pub path: String,
    /// The value as text.
    pub value: String,
}

/// Facts of the report as a whole.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct About {
    /// Start of the compilation, as in the file.
    pub compiled_at: Option<String>,
    /// For example `3.3.0 (de1f8de2a7)`.
    pub producer_version: Option<String>,
    /// For example `profile.pop 3.8.0`.
    pub format: Option<String>,
    /// `compilation_info.compilation_id`.
    pub compilation_id: Option<String>,
    /// Engine options (`compilation_parameters`).
    pub engine_options: Vec<EngineOption>,
    /// Target options (`target_parameters`).
    pub target_options: Vec<EngineOption>,
    /// Options of the runs (`execution_parameters`), each name once.
    pub execution_options: Vec<EngineOption>,
    /// The compiler's phases (`compilation_trace`).
    pub phases: Vec<CompilerPhase>,
    /// Why there are none.
    pub why_no_phases: Option<Absence>,
    /// `framework.json`.
    pub framework: Vec<SideFact>,
    /// `app.json`.
    pub app: Vec<SideFact>,
}

/// Sizes of the graph (`graph_info`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GraphInfo {
    /// Number of compute sets.
    pub compute_sets: Option<u64>,
    /// Number of edges after lowering.
    pub edges: Option<u64>,
    /// Number of lowered variables.
    pub variables: Option<u64>,
    /// Number of vertices.
    pub vertices: Option<u64>,
}
