//! Finds the files of a directory that may be texts about a run: the end of a log, or captured output.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of a text that are looked at.
pub(crate) const MOST_OF_TEXT: u64 = 1 << 20;
/// Entries of a directory that are looked at.
const MOST_ENTRIES: usize = 20_000;
/// Texts of a directory that are looked at.
const MOST_TEXTS: usize = 64;
/// Endings of their names.
const ENDINGS: [&str; 4] = ["txt", "log", "err", "out"];

/// What lies in a directory, in no order, as far as it is looked at; nothing where it cannot be read.
pub(crate) fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = super::listed(directory).into_iter().flatten();
    entries.take(MOST_ENTRIES).map(|entry| entry.path())
}

/// The small texts of a directory, by name: files with the ending of a text, in whatever letters, that have no more bytes
/// than are looked at, without those whose name says that they are something else.
pub(crate) fn small_texts(directory: &Path, is_other: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let is_called_so = |path: &Path| {
        let ending = path.extension().unwrap_or_default();
        ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
            && !is_other(&super::file_name(path))
    };
    let is_small = |path: &Path| {
        fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= MOST_OF_TEXT)
    };
    let mut texts: Vec<PathBuf> =
        entries(directory).filter(|path| is_called_so(path) && is_small(path)).collect();
    texts.sort();
    texts.truncate(MOST_TEXTS);
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_with_the_ending_of_a_text_is_one() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for name in ["a.log", "b.TXT", "c.err", "d.out", "e.json", "log", "f.log.gz", "g.part.txt"]
        {
            fs::write(at(name), "text").unwrap();
        }
        fs::create_dir(at("h.log")).unwrap();
        fs::write(at("i.log"), vec![b' '; MOST_OF_TEXT as usize]).unwrap();
        fs::write(at("j.log"), vec![b' '; MOST_OF_TEXT as usize + 1]).unwrap();
        let names = |is_other: fn(&str) -> bool| {
            let texts = small_texts(directory.path(), is_other);
            texts.iter().map(|path| super::super::file_name(path)).collect::<Vec<_>>()
        };
        assert_eq!(names(|_| false), ["a.log", "b.TXT", "c.err", "d.out", "g.part.txt", "i.log"]);
        assert_eq!(
            names(|name| name.contains(".part.")),
            ["a.log", "b.TXT", "c.err", "d.out", "i.log"]
        );
        assert_eq!(small_texts(&at("absent"), |_| false), Vec::<PathBuf>::new());
    }

    #[test]
    fn of_very_many_texts_the_first_count() {
        let directory = tempfile::tempdir().unwrap();
        for number in 0..70 {
            fs::write(directory.path().join(format!("{number:02}.log")), "").unwrap();
        }
        let texts = small_texts(directory.path(), |_| false);
        assert_eq!(texts.len(), MOST_TEXTS);
        assert_eq!(texts.last(), Some(&directory.path().join("63.log")));
    }
}
