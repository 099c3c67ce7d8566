//! XLA error texts in files (xla.md, section 8): beside a dump they give the capacity of the device and what XLA says
//! of the module; alone they are a partial capture.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::agreement::{AgreedFigure, ModuleTotals, is_main_memory};
use crate::analysis::derived::Derived;
use crate::diagnose::{Finding, XlaCapture, diagnose_reader};
use crate::files;
use crate::store::Report;
use crate::store::report::{FileStatus, ReportFile};
use crate::systems::xla::error_text_answers::ErrorTextAnswers;
use crate::systems::xla::files::DumpName;

/// A message of XLA about memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorText {
    /// The file that it is in.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: u64,
    /// The message.
    pub finding: Finding,
    /// The dump that the text names or lies in, where there is one and it was looked for.
    pub dump: Option<PathBuf>,
}

impl ErrorText {
    /// The message in a file that has most of a program's memory, and the dump that it is about; `None` where the file is
    /// none of text, or has no message of XLA in its first MiB.
    pub fn open(path: &Path) -> Option<Self> {
        let (opened, text) = Self::read(path)?;
        Some(Self { dump: dump_of(path, &text), ..opened })
    }

    /// The message in a file, and all of the text.
    fn read(path: &Path) -> Option<(Self, Vec<u8>)> {
        let bytes = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
        let text = first_bytes(path)?;
        if text.get(..text.len().min(4096))?.contains(&0) {
            return None;
        }
        let found = diagnose_reader(&*text).ok()?.findings;
        let weight = |finding: &Finding| {
            XlaCapture::of(finding).map(|capture| (capture.entries.len(), capture.is_of_program()))
        };
        let of_xla = found.into_iter().filter(|one| weight(one).is_some());
        // The first of equals.
        let finding =
            of_xla.reduce(|best, one| if weight(&one) > weight(&best) { one } else { best })?;
        Some((Self { path: path.to_owned(), bytes, finding, dump: None }, text))
    }

    /// A run that has nothing else.
    pub fn derived(&self) -> Derived {
        let report = Report::of(crate::systems::xla::WORDS, self.path.clone());
        let (name, bytes) = (self.file(), Some(self.bytes));
        report.set_files(vec![ReportFile { name, bytes, status: FileStatus::Ok }]);
        Derived::new(Arc::new(report)).with_answers(Arc::new(ErrorTextAnswers(self.clone())))
    }

    /// What it has of the program's memory.
    pub fn capture(&self) -> XlaCapture<'_> {
        XlaCapture::of_xla(&self.finding)
    }

    /// The file's name.
    pub fn file(&self) -> String {
        files::file_name(&self.path)
    }
}

/// The error texts in a directory.
pub fn texts_in(directory: &Path) -> Vec<ErrorText> {
    let texts = paths_in(directory).into_iter().filter_map(|path| ErrorText::read(&path));
    texts.map(|(text, _)| text).collect()
}

/// The text that is about a program: that of its compilation, for a request that failed is of a moment of a run.
pub fn about<'a>(texts: &'a [ErrorText], program: &ModuleTotals) -> Option<&'a ErrorText> {
    let is_about = |text: &&ErrorText| {
        let agreement = program.agreement(&text.finding);
        agreement.is_some_and(|agreement| agreement.by != AgreedFigure::Request)
    };
    texts.iter().find(is_about)
}

/// What the main memory of the device has that a program was compiled for, and the text that says so: the one about the
/// program, else the first, for a dump is of one device. Where none is about it and they differ it is not known.
pub fn capacity<'a>(
    texts: &'a [ErrorText],
    program: &ModuleTotals,
) -> Option<(&'a ErrorText, u64)> {
    let stated = |text: &'a ErrorText| {
        let capture = text.capture();
        let is_main = capture.space.is_some_and(is_main_memory);
        let is_it = is_main && program.can_be_of(text.finding.device);
        Some((text, capture.capacity_bytes.filter(|_| is_it)?))
    };
    about(texts, program).and_then(stated).or_else(|| {
        let mut all = texts.iter().filter_map(stated);
        let first = all.next()?;
        all.all(|(_, bytes)| bytes == first.1).then_some(first)
    })
}

/// The dump that a text names or lies in, where there is one. A path that is not absolute is seen from where the text lies,
/// for where it was run is not known.
pub fn dump_of_text(path: &Path) -> Option<PathBuf> {
    dump_of(path, &first_bytes(path)?)
}

fn dump_of(path: &Path, text: &[u8]) -> Option<PathBuf> {
    let beside = files::directory_of(path);
    let named = named_dumps(text).into_iter().map(|named| beside.join(named));
    let mut named = named.filter(|named| has_modules(named));
    named.next().or_else(|| has_modules(&beside).then_some(beside))
}

/// The first MiB of a file.
fn first_bytes(path: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    files::open(path).ok()?.take(files::MOST_OF_TEXT).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Small texts of a directory that are no part of a dump, by name.
fn paths_in(directory: &Path) -> Vec<PathBuf> {
    files::small_texts(directory, |name| DumpName::of(name).is_some())
}

/// Whether a directory has files of a dump.
fn has_modules(directory: &Path) -> bool {
    files::entries(directory).any(|path| {
        let name = files::file_name(&path);
        let is_one = |end| name.ends_with(end);
        DumpName::of(&name).is_some()
            && ([".hlo.pb", ".hlo.pb.gz", ".hlo.pb.zst"].into_iter().any(&is_one)
                || is_one("-buffer-assignment.txt"))
    })
}

/// Directories of `--xla_dump_to=DIR` of a text that are looked at.
const MOST_NAMED: usize = 64;

/// The directories of `--xla_dump_to=DIR` in a text, each once: a log may have those of earlier runs before its own.
fn named_dumps(text: &[u8]) -> Vec<PathBuf> {
    const FLAG: &str = "xla_dump_to=";
    let text = String::from_utf8_lossy(text);
    let is_quote = |c: char| matches!(c, '"' | '\'');
    let is_end = |c: char| c.is_whitespace() || is_quote(c) || matches!(c, ',' | ';');
    let mut named: Vec<PathBuf> = Vec::new();
    // What it says last is met first.
    for (at, _) in text.rmatch_indices(FLAG) {
        let behind = text.get(at..).and_then(|flag| flag.strip_prefix(FLAG)).unwrap_or_default();
        let path = behind.strip_prefix(is_quote).unwrap_or(behind).split(is_end).next();
        let path = path.filter(|path| !path.is_empty()).map(PathBuf::from);
        named.extend(path.filter(|path| !named.contains(path)));
        if named.len() == MOST_NAMED {
            break;
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_told_from_files_of_a_dump_and_finds_it() {
        let directory = tempfile::tempdir().unwrap();
        let dump = directory.path().join("dump");
        fs::create_dir(&dump).unwrap();
        let write = |path: &Path, text: &[u8]| fs::write(path, text).unwrap();
        let message = "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries \
                       (16.10G) exceeds available HBM (15.75G).\n";
        let error = directory.path().join("error.txt");
        write(&error, message.as_bytes());
        assert_eq!(ErrorText::open(&error).unwrap().dump, None);
        write(&dump.join("12.module_0001.f.hlo.pb"), b"");
        let flags = format!("XLA_FLAGS=\"--xla_dump_to={}\"\n{message}", dump.display());
        write(&error, flags.as_bytes());
        assert_eq!(ErrorText::open(&error).unwrap().dump, Some(dump.clone()));
        write(&error, format!("XLA_FLAGS=--xla_dump_to=./dump\n{message}").as_bytes());
        assert_eq!(ErrorText::open(&error).unwrap().dump, Some(dump.clone()), "beside the text");
        let others = "--xla_dump_to=\"./dump\" --xla_dump_to=/nothing/there\n";
        write(&error, format!("{flags}XLA_FLAGS={others}{message}").as_bytes());
        assert_eq!(
            ErrorText::open(&error).unwrap().dump,
            Some(dump.clone()),
            "the last with modules"
        );
        let inside = dump.join("e.log");
        write(&inside, message.as_bytes());
        write(&dump.join("module_0001.f.txt"), message.as_bytes());
        let job = dump.join("job.OUT");
        write(&job, message.as_bytes());
        assert_eq!(paths_in(&dump), [inside.clone(), job], "whatever letters the ending has");
        assert_eq!(ErrorText::open(&inside).unwrap().dump, Some(dump));
        write(&error, &[b"\0", message.as_bytes()].concat());
        assert_eq!(ErrorText::open(&error), None, "no text");
        write(&error, b"epoch 1\n");
        assert_eq!(ErrorText::open(&error), None);
        assert_eq!(ErrorText::open(directory.path()), None);
    }
}
