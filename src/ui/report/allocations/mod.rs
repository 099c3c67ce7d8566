//! Allocations one by one and by the code that asked for them: rows of tables, call paths, stacks.

pub mod code_tree;
pub mod found;
pub mod rows;
pub mod stack;
