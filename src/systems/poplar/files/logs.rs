//! Logs beside the profile, `compile.log` and other files `*.log`, and those that the user names.
//!
//! Where standard error was kept there, a log says what no table does: that the planner found no plan within its share
//! of memory, for example (formats/poplar.md 6). The caller passes in what to look for.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::files::{self, file_name};
use crate::progress::{Progress, Watched};
use crate::store::log::{Log, LogMessage};
use crate::store::{WarningCode, Warnings};

/// Logs that are read at most.
const MOST_LOGS: usize = 16;
/// Bytes of a log that are read: the compiler speaks first.
const MOST_BYTES: u64 = 64 << 20;

/// What `find` finds in the logs of a directory, and before them in those that are named, by their paths.
pub fn read_logs(
    directory: &Path,
    named: &[PathBuf],
    warnings: &Warnings,
    progress: &Progress,
    find: impl Fn(&mut (dyn Read + Send)) -> io::Result<Vec<LogMessage>>,
) -> Vec<Log> {
    let mut logs = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    let named = named.iter().map(|path| (path.clone(), path.display().to_string()));
    let beside = log_files(directory).into_iter().map(|path| {
        let file = file_name(&path);
        (path, file)
    });
    for (path, file) in named.chain(beside) {
        // A log beside the profile may be named as well.
        let place = path.canonicalize().unwrap_or_else(|_| path.clone());
        if seen.contains(&place) || progress.is_cancelled() {
            continue;
        }
        seen.push(place);
        let read = || {
            let log = files::open(&path)?;
            let bytes = log.metadata()?.len();
            progress.expect(bytes.min(MOST_BYTES));
            let mut log = Watched { reader: log.take(MOST_BYTES), progress };
            Ok::<_, io::Error>((find(&mut log)?, bytes))
        };
        match read() {
            Ok((messages, bytes)) => {
                if bytes > MOST_BYTES {
                    let message = format!("only its first {MOST_BYTES} bytes are searched");
                    warnings.add(WarningCode::Truncated, &file, message);
                }
                logs.push(Log { file, messages });
            }
            Err(_) if progress.is_cancelled() => break,
            Err(error) => {
                warnings.add(WarningCode::Inconsistent, &file, format!("not read: {error}"));
            }
        }
    }
    logs
}

/// The logs in a directory, by name.
fn log_files(directory: &Path) -> Vec<PathBuf> {
    let entries = files::listed(directory).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "log") && path.is_file())
        .collect();
    files.sort();
    files.truncate(MOST_LOGS);
    files
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn lines(log: &mut (dyn Read + Send)) -> io::Result<Vec<LogMessage>> {
        let mut text = String::new();
        log.read_to_string(&mut text)?;
        let message =
            |(line, text): (u64, &str)| LogMessage { kind: "any", line, text: text.to_owned() };
        Ok((1..).zip(text.lines()).map(message).collect())
    }

    #[test]
    fn logs_are_read_by_name_and_one_that_cannot_be_is_a_warning() {
        let directory = tempfile::tempdir().unwrap();
        let write =
            |name: &str, bytes: &[u8]| fs::write(directory.path().join(name), bytes).unwrap();
        write("run.log", b"a\nb\n");
        write("compile.log", b"");
        write("broken.log", &[0xff]);
        write("notes.txt", b"c\n");
        fs::create_dir(directory.path().join("old.log")).unwrap();
        let warnings = Warnings::default();
        let logs = read_logs(directory.path(), &[], &warnings, &Progress::default(), lines);
        let found: Vec<_> = logs.iter().map(|log| (&*log.file, log.messages.len())).collect();
        assert_eq!(found, [("compile.log", 0), ("run.log", 2)]);
        assert_eq!(warnings.list().len(), 1);
        assert!(
            read_logs(
                &directory.path().join("absent"),
                &[],
                &warnings,
                &Progress::default(),
                lines
            )
            .is_empty()
        );
        assert_eq!(warnings.list().len(), 1, "no log is no warning");
    }

    #[test]
    fn logs_that_are_named_are_read_wherever_they_are_and_each_once() {
        let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let beside = directory.path().join("compile.log");
        let named = elsewhere.path().join("any name");
        fs::write(&beside, b"a\nb\n").unwrap();
        fs::write(&named, b"c\n").unwrap();
        let warnings = Warnings::default();
        let all = [named.clone(), named.clone(), beside.clone(), elsewhere.path().into()];
        let logs = read_logs(directory.path(), &all, &warnings, &Progress::default(), lines);
        let found: Vec<_> = logs.iter().map(|log| (log.file.clone(), log.messages.len())).collect();
        let shown = |path: &Path| path.display().to_string();
        assert_eq!(found, [(shown(&named), 1), (shown(&beside), 2)]);
        let warnings = warnings.list();
        assert!(
            warnings.len() == 1 && warnings[0].message.contains("a directory, not a file"),
            "{warnings:?}"
        );
    }
}
