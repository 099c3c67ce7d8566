//! Drives the real window through its accessibility tree: a file for each page, one program, so that
//! it is linked once.

mod address_steps;
mod capacity;
mod chip_map;
mod comparison;
#[path = "../common/copies.rs"]
mod copies;
mod counts;
mod damaged;
mod dump;
mod export;
mod frame;
mod harm;
mod home;
mod insights;
mod liveness;
mod liveness_pair;
mod machines;
mod maps_of_runs;
mod memory;
mod memory_map;
mod memory_pair;
mod memory_runs;
mod nothing_covered;
mod operations;
mod other_system;
mod overview;
mod palette;
#[path = "../common/pickle.rs"]
mod pickle;
mod program;
mod programs;
mod ranks;
mod recorded_scenes;
mod report;
mod runs;
mod scenes;
#[path = "../common/seeded.rs"]
mod seeded;
mod several_runs;
mod snapshot;
#[path = "../common/stored.rs"]
mod stored;
mod summary;
mod support;
mod system_pictures;
mod tools;
mod toy;
#[path = "../common/toy.rs"]
mod toy_system;
mod trace;
mod two_reports;
mod variants;
mod whole_run;
#[path = "../common/words.rs"]
mod words;
