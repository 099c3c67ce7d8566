//! Why parts of a Poplar report are not there: which table or file, and the engine option that brings
//! it.

use crate::store::Absence;

const GRAPH: &str = "engine option autoReport.outputGraphProfile brings it";
const VARIABLES: &str = "engine option autoReport.outputLoweredVars brings it";
const WARNINGS: &str = "the warnings say what is wrong with it";

fn table(name: &str, hint: &str) -> Absence {
    Absence::new(format!("The profile has no readable table {name}"), hint)
}

/// A profile that cannot be opened again.
pub fn unreadable(message: &str) -> Absence {
    Absence::new(format!("The profile cannot be read: {message}"), "reload the report")
}

/// The machine.
pub fn target() -> Absence {
    table("target_info", WARNINGS)
}

/// Sizes of the graph.
pub fn graph() -> Absence {
    table("graph_info", WARNINGS)
}

/// Memory by tile.
pub fn memory() -> Absence {
    table("memory_by_tile", GRAPH)
}

/// Memory by category.
pub fn memory_by_category() -> Absence {
    table("memory_by_category", GRAPH)
}

/// Names of categories.
pub fn categories() -> Absence {
    table("var_categories", WARNINGS)
}

/// Compute sets.
pub fn compute_sets() -> Absence {
    table("compute_sets", GRAPH)
}

/// What compute sets have on tiles.
pub fn compute_set_tiles() -> Absence {
    let what = "The profile has no readable tables vertex_instances and memory_by_compute_set";
    Absence::new(what, "engine option autoReport.outputGraphProfile brings them")
}

/// Vertex types.
pub fn vertex_types() -> Absence {
    table("vertex_types", GRAPH)
}

/// Exchanges.
pub fn exchanges() -> Absence {
    table("program_type_do_exchange", GRAPH)
}

/// What goes by tile, without a number of tiles.
pub fn number_of_tiles() -> Absence {
    Absence::new("The number of tiles is not known: table target_info does not say", "")
}

/// Programs.
pub fn programs() -> Absence {
    table("programs", GRAPH)
}

/// Control code of programs.
pub fn control_code() -> Absence {
    let what = "No program of the profile has control_code_bytes_by_tile";
    Absence::new(what, GRAPH)
}

/// Steps.
pub fn steps() -> Absence {
    table("depth_first_steps", GRAPH)
}

/// Classes, and with them liveness.
pub fn liveness() -> Absence {
    table("eq_classes", GRAPH)
}

/// Changes of memory from step to step.
pub fn deltas() -> Absence {
    table("memory_not_always_live_by_step_and_ipu", VARIABLES)
}

/// Bytes by variable and class, over all tiles and by tile.
pub fn variable_bytes() -> Absence {
    table("var_bytes_by_eq_class", VARIABLES)
}

/// Lowered variables.
pub fn variables() -> Absence {
    table("vars_info", VARIABLES)
}

/// The compiler's phases.
pub fn phases() -> Absence {
    Absence::new("table compilation_trace is absent or empty", "")
}

/// Recorded runs.
pub fn execution() -> Absence {
    Absence::new(
        "The execution tables of the profile are empty",
        "engine option autoReport.outputExecutionProfile fills them when the program runs",
    )
}

/// Debug contexts.
pub fn debug() -> Absence {
    Absence::new(
        "There is no readable debug.cbor beside the profile or one directory up",
        "engine option autoReport.outputDebugInfo brings it",
    )
}
