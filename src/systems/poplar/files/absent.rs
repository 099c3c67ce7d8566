//! Why parts of a Poplar report are not there: which table or file, and the engine option that brings
//! it.

use crate::store::Absence;

const GRAPH: &str = "the engine option autoReport.outputGraphProfile writes it";
const VARIABLES: &str = "the engine option autoReport.outputLoweredVars writes it";
const WARNINGS: &str = "the warnings say what is wrong with it";

/// A function for each part that is read from one table.
macro_rules! tables {
    ($($part:ident: $table:literal, $hint:ident;)*) => {$(
        #[doc = concat!("Without the table `", $table, "`.")]
        pub fn $part() -> Absence {
            Absence::new(concat!("The profile has no readable table ", $table), $hint)
        }
    )*};
}

tables! {
    target: "target_info", WARNINGS;
    graph: "graph_info", WARNINGS;
    memory: "memory_by_tile", GRAPH;
    memory_by_category: "memory_by_category", GRAPH;
    categories: "var_categories", WARNINGS;
    compute_sets: "compute_sets", GRAPH;
    vertex_types: "vertex_types", GRAPH;
    exchanges: "program_type_do_exchange", GRAPH;
    programs: "programs", GRAPH;
    steps: "depth_first_steps", GRAPH;
    liveness: "eq_classes", GRAPH;
    deltas: "memory_not_always_live_by_step_and_ipu", VARIABLES;
    variable_bytes: "var_bytes_by_eq_class", VARIABLES;
    variables: "vars_info", VARIABLES;
}

/// A profile that cannot be opened again.
pub(crate) fn unreadable(message: &str) -> Absence {
    Absence::new(format!("The profile cannot be read: {message}"), "reload the report")
}

/// Of a file that is cut off no engine option brings what it lacks.
pub(crate) fn of_file(is_cut: bool, absence: Absence) -> Absence {
    if !is_cut {
        return absence;
    }
    Absence::new(absence.what, "the file is cut off: copy it again, or capture the report again")
}

/// What compute sets have on tiles.
pub fn compute_set_tiles() -> Absence {
    let what = "The profile has no readable tables vertex_instances and memory_by_compute_set";
    Absence::new(what, "the engine option autoReport.outputGraphProfile writes them")
}

/// What goes by tile, without a number of tiles.
pub(crate) fn number_of_tiles() -> Absence {
    Absence::new("The number of tiles is not known: table target_info does not state it", "")
}

pub(crate) fn control_code() -> Absence {
    Absence::new("No program of the profile has control_code_bytes_by_tile", GRAPH)
}

/// The compiler's phases.
pub(crate) fn phases() -> Absence {
    Absence::new("table compilation_trace is absent or empty", "")
}

/// Recorded runs.
pub fn execution() -> Absence {
    Absence::new(
        "The execution tables of the profile are empty",
        "the engine option autoReport.outputExecutionProfile fills them when the program runs",
    )
}

/// Debug contexts.
pub fn debug() -> Absence {
    Absence::new(
        "There is no readable debug.cbor beside the profile or one directory up",
        "the engine option autoReport.outputDebugInfo writes it",
    )
}
