//! Writes synthetic reports: what Poplar's compiler would have written of a small model network.
//!
//! `tiny` makes the model, `allocator` places its variables as a compiler does, `write` derives all
//! of Poplar's sums from the placement and writes `profile.pop`, `debug_info` writes `debug.cbor`.

pub mod allocator;
mod debug_info;
pub mod model;
mod schema;
pub mod tiny;
pub mod write;

use std::path::{Path, PathBuf};

/// Why a report cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The directory holds a profile already, and nothing is overwritten.
    #[error("{0} is there already; choose another directory")]
    Exists(PathBuf),
    /// A file or directory cannot be made.
    #[error("{file}: {error}")]
    Io {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// SQLite cannot write the profile.
    #[error("profile.pop: {0}")]
    Database(#[from] rusqlite::Error),
}

/// Writes the report of a model into a directory, which is made when it is not there.
///
/// # Errors
/// When a profile is there already, or a file cannot be written.
pub fn write_report(model: &model::Model, directory: &Path) -> Result<(), WriteError> {
    let io = |file: &Path| {
        let file = file.to_owned();
        move |error| WriteError::Io { file, error }
    };
    std::fs::create_dir_all(directory).map_err(io(directory))?;
    let profile = directory.join("profile.pop");
    if profile.exists() {
        return Err(WriteError::Exists(profile));
    }
    write::write_profile(model, &profile)?;
    let debug = directory.join("debug.cbor");
    let bytes = debug_info::encode(&model.contexts);
    std::fs::write(&debug, bytes).map_err(io(&debug))?;
    let app = directory.join("app.json");
    let json = format!("{:#}\n", serde_json::Value::Object(model.app.clone()));
    std::fs::write(&app, json).map_err(io(&app))
}
