//! What runs: steps, programs, operations, options, phases of the compiler.

pub mod control_code;
pub mod operation_text;
pub mod operations;
pub mod phases;
pub mod report_options;
pub(crate) mod step_counts;
pub mod step_operations;
pub mod steps;
pub mod variable_operations;
