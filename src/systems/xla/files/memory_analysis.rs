//! The result of JAX's `compiled.memory_analysis()`, if it was kept as JSON beside a dump (formats/xla.md 6).

use std::collections::HashSet;
use std::path::Path;

use super::DumpName;
use crate::files::{self, file_name};
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

/// What the file states that lies beside the file of a module, and whether that module is the only one there: the file does
/// not say which it is of. Empty where there is none; one that cannot be read is a warning.
pub fn memory_analysis(
    module: &Path,
    warnings: &Warnings,
    progress: &Progress,
) -> (Vec<StatedFigure>, bool) {
    let directory = files::directory_of(module);
    let path = directory.join(NAME);
    if !path.is_file() {
        return (Vec::new(), false);
    }
    let Some(stated) = read_object(&path, NAME, MOST_BYTES, warnings, progress) else {
        return (Vec::new(), false);
    };
    let figure = |of: StatedOf| {
        let bytes = stated.get(of.name())?.as_u64()?;
        Some(StatedFigure { file: NAME.to_owned(), of, bytes })
    };
    let figures = FIGURES.into_iter().filter_map(figure).collect();
    let names: Vec<String> = files::entries(&directory).map(|path| file_name(&path)).collect();
    let modules: HashSet<&str> =
        names.iter().filter_map(|name| Some(DumpName::of(name)?.prefix)).collect();
    (figures, modules.len() <= 1)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn figures_are_read_and_whether_a_module_is_alone() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        let warnings = Warnings::default();
        let module = directory.path().join("module_0001.f.cpu_after_optimizations.hlo.pb");
        let read = || memory_analysis(&module, &warnings, &Progress::default());
        let figure = |of, bytes| StatedFigure { file: NAME.to_owned(), of, bytes };
        assert_eq!(read(), (Vec::new(), false), "there is none");

        write("module_0001.f.cpu_after_optimizations.hlo.pb", "");
        write("module_0001.f.cpu_after_optimizations-buffer-assignment.txt", "");
        let text = r#"{"temp_size_in_bytes": 8, "alias_size_in_bytes": -1, "output_size_in_bytes": 7,
            "peak_memory_in_bytes": 5}"#;
        write(NAME, text);
        let expected = vec![figure(StatedOf::Temporary, 8), figure(StatedOf::Outputs, 7)];
        assert_eq!(read(), (expected.clone(), true));
        write("module_0002.g.before_optimizations.txt", "");
        assert_eq!(read(), (expected, false));

        assert!(warnings.list().is_empty());
        for damaged in ["[1]", "{\"temp_size_in_bytes\": "] {
            write(NAME, damaged);
            assert_eq!(read().0, [], "{damaged}");
        }
        write(NAME, &" ".repeat(MOST_BYTES as usize + 1));
        assert_eq!(read().0, []);
        let said: Vec<String> = warnings.list().into_iter().map(|one| one.file).collect();
        assert_eq!(said, [NAME; 3]);
    }
}
