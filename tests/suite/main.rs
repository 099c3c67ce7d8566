//! Tests of the library and of the commands. They share one binary: each further one takes seconds to link.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod alive;
mod architecture;
mod bad_input;
mod capture;
mod check;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod comparison;
mod compute;
mod debug_info;
mod diagnose;
mod diagnose_xla;
mod dump_story;
mod index;
mod insights;
mod invariants;
mod lake;
mod lake_queries;
mod lake_xla;
mod liveness_scopes;
mod maps;
mod matching;
mod operations;
mod pages;
mod pipelines;
mod programs;
mod pytorch;
mod ranks;
mod real_report;
mod recorded;
mod render;
mod schemas;
mod silence;
mod snapshot_commands;
mod snapshot_comparison;
mod snapshot_index;
mod snapshot_insights;
mod snapshot_story;
mod snapshot_sweep;
mod story;
mod sweep;
mod synthetic_dumps;
mod synthetic_snapshots;
mod trace;
mod unknown_files;
mod words;
mod work;
mod xla;
mod xla_bare;
mod xla_check;
mod xla_comparison;
mod xla_files;
mod xla_sweep;
