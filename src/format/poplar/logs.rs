//! Logs beside the profile: `compile.log` and other files `*.log`.
//!
//! Where standard error was kept there, a log says what no table does: that the planner found no plan
//! within its share of memory, for example (formats/poplar.md 6). What to look for the caller knows.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::store::log::{Log, LogMessage};
use crate::store::{WarningCode, Warnings};

/// Logs that are read at most.
const MOST_LOGS: usize = 16;
/// Bytes of a log that are read: the compiler speaks first.
const MOST_BYTES: u64 = 64 << 20;

/// What `find` finds in the logs of a directory.
pub fn read_logs(
    directory: &Path,
    warnings: &Warnings,
    find: impl Fn(&mut dyn Read) -> io::Result<Vec<LogMessage>>,
) -> Vec<Log> {
    let mut logs = Vec::new();
    for path in log_files(directory) {
        let Some(file) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            continue;
        };
        let read = || {
            let log = File::open(&path)?;
            let bytes = log.metadata()?.len();
            Ok::<_, io::Error>((find(&mut log.take(MOST_BYTES))?, bytes))
        };
        match read() {
            Ok((messages, bytes)) => {
                if bytes > MOST_BYTES {
                    let message = format!("only its first {MOST_BYTES} bytes are searched");
                    warnings.add(WarningCode::Truncated, &file, message);
                }
                logs.push(Log { file, messages });
            }
            Err(error) => {
                warnings.add(WarningCode::Inconsistent, &file, format!("not read: {error}"));
            }
        }
    }
    logs
}

/// The logs in a directory, by name.
fn log_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
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
    use super::*;

    fn lines(log: &mut dyn Read) -> io::Result<Vec<LogMessage>> {
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
        let logs = read_logs(directory.path(), &warnings, lines);
        let found: Vec<_> = logs.iter().map(|log| (&*log.file, log.messages.len())).collect();
        assert_eq!(found, [("compile.log", 0), ("run.log", 2)]);
        assert_eq!(warnings.list().len(), 1);
        assert!(read_logs(&directory.path().join("absent"), &warnings, lines).is_empty());
        assert_eq!(warnings.list().len(), 1, "no log is no warning");
    }
}
