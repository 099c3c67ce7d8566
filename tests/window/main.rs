//! Drives the real window through its accessibility tree: a file for each page, one program, so that
//! it is linked once.

mod chip_map;
mod frame;
mod home;
mod liveness;
mod liveness_pair;
mod memory;
mod memory_map;
mod report;
mod summary;
mod support;
mod two_reports;
