//! The Python package that records, which is part of the program: it needs nothing that is installed.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Each file of the package by its name, and its text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/python_package.rs"));

/// The directory of the module that Python runs at its start. The package is written into the user's cache directory, or
/// anew into a temporary one where that cannot be.
///
/// # Errors
/// When neither can be written.
pub fn hook_directory() -> io::Result<PathBuf> {
    let cache = dirs::cache_dir().ok_or(io::ErrorKind::NotFound.into());
    let package = cache.and_then(|cache| {
        let version = format!("recorder-{}", env!("CARGO_PKG_VERSION"));
        written(&cache.join("tilescope").join(version))
    });
    let package = package.or_else(|_: io::Error| {
        written(&tempfile::Builder::new().prefix("tilescope-").tempdir()?.keep())
    })?;
    Ok(package.join("_hook"))
}

/// The package below a directory, each of its files as it is in this program.
fn written(directory: &Path) -> io::Result<PathBuf> {
    let package = directory.join("tilescope");
    for (name, text) in FILES {
        let file = package.join(name);
        if fs::read(&file).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        let parent = file.parent().unwrap_or(&package);
        fs::create_dir_all(parent)?;
        // Other ranks may read it, or write it, at the same time.
        let mut half = tempfile::NamedTempFile::new_in(parent)?;
        half.write_all(text.as_bytes())?;
        half.persist(&file)?;
    }
    Ok(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_changed_or_removed_is_written_again() {
        let directory = tempfile::tempdir().unwrap();
        let package = written(directory.path()).unwrap();
        fs::write(package.join("_run.py"), "").unwrap();
        fs::remove_file(package.join("_hook/sitecustomize.py")).unwrap();
        written(directory.path()).unwrap();
        for (name, text) in FILES {
            assert_eq!(fs::read_to_string(package.join(name)).unwrap(), *text, "{name}");
        }
    }
}
