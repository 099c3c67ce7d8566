//! What the lake and tests use of single systems.

pub use crate::systems::pytorch::run::{
    ReplayedSnapshot, RunContents, SnapshotRun, compare_claims,
};
pub use crate::systems::xla::run::{
    AgreedFigure, Agreement, ErrorText, Program, ProgramSizes, XlaFiles, XlaRun, dump_of_text,
    find as find_module, programs_below, stated_bytes,
};
