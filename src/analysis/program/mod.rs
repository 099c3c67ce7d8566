//! Programs: steps, programs, operations, options, phases of the compiler.

pub mod compiled_programs;
pub mod control_code;
pub mod debug_tree;
pub mod kinds;
pub mod layers;
pub mod modules;
pub(crate) mod named_facts;
pub(crate) mod operation_text;
pub mod operations;
pub mod phases;
pub(crate) mod report_options;
pub(crate) mod step_counts;
pub mod step_operations;
pub mod steps;
pub mod tree;
pub mod tree_rows;
pub mod tree_search;
pub mod variable_operations;
