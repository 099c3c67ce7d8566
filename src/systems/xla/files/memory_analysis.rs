//! The result of JAX's `compiled.memory_analysis()`, if it was kept as JSON beside a dump (formats/xla.md 6).

use std::path::Path;

use crate::files;
use crate::format::Progress;
use crate::format::side_files::read_object;
use crate::store::Warnings;
use crate::store::hlo::{StatedFigure, StatedOf};

const NAME: &str = "memory_analysis.json";
/// Larger files are not what they should be: it has a dozen numbers.
const MOST_BYTES: u64 = 64 << 10;
/// What of it follows from a module. `peak_memory_in_bytes` leaves temporaries out.
const FIGURES: [StatedOf; 4] =
    [StatedOf::Temporary, StatedOf::Arguments, StatedOf::Donated, StatedOf::Outputs];

/// What the file states that lies beside the file of a module; it does not say which module it is of. Empty where there is
/// none; one that cannot be read is a warning.
pub fn memory_analysis(
    module: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> Vec<StatedFigure> {
    let path = files::directory_of(module).join(NAME);
    if !path.is_file() {
        return Vec::new();
    }
    let Some(stated) = read_object(&path, NAME, MOST_BYTES, warnings, progress) else {
        return Vec::new();
    };
    let figure = |of: StatedOf| {
        let bytes = stated.get(of.name())?.as_u64()?;
        Some(StatedFigure { file: NAME.to_owned(), of, bytes })
    };
    FIGURES.into_iter().filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn figures_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        let warnings = Warnings::default();
        let module = directory.path().join("module_0001.f.cpu_after_optimizations.hlo.pb");
        let read = || memory_analysis(&module, &warnings, &Progress::default());
        let figure = |of, bytes| StatedFigure { file: NAME.to_owned(), of, bytes };
        assert_eq!(read(), [], "there is none");

        let text = r#"{"temp_size_in_bytes": 8, "alias_size_in_bytes": -1, "output_size_in_bytes": 7,
            "peak_memory_in_bytes": 5}"#;
        write(NAME, text);
        let expected = vec![figure(StatedOf::Temporary, 8), figure(StatedOf::Outputs, 7)];
        assert_eq!(read(), expected);

        assert!(warnings.list().is_empty());
        for damaged in ["[1]", "{\"temp_size_in_bytes\": "] {
            write(NAME, damaged);
            assert_eq!(read(), [], "{damaged}");
        }
        write(NAME, &" ".repeat(MOST_BYTES as usize + 1));
        assert_eq!(read(), []);
        let said: Vec<String> = warnings.list().into_iter().map(|one| one.file).collect();
        assert_eq!(said, [NAME; 3]);
    }
}
