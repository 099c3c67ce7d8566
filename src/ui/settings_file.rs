//! The file of the settings, and the thread that reads and writes it.
//!
//! Several windows may share the file: each change is made to what is in the file at that moment,
//! under a lock, and the file is replaced as a whole.

use eframe::egui;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::NamedTempFile;

use super::settings::{Object, SettingChange, Settings};

use crate::half_written::HalfWritten;

const FILE: &str = "settings.json";
const LOCK: &str = "settings.lock";
const DAMAGED: &str = "settings.damaged.json";
/// Changes that may wait for a slow file system.
const MOST_WAITING: usize = 256;
/// How long a window that is closed waits for its last changes to be written.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// The settings of a window: changed at once here, and by and by in the file.
#[derive(Debug, Default)]
pub struct SettingsStore {
    pub now: Settings,
    object: Object,
    writer: Option<SettingsWriter>,
    /// What went wrong, for the status bar.
    pub notice: Option<String>,
}

#[derive(Debug)]
struct SettingsWriter {
    changes: Option<SyncSender<SettingChange>>,
    sent: u64,
    shared: Arc<Mutex<Told>>,
    /// Closed when the thread has ended.
    end: Receiver<()>,
}

/// What the thread tells the window.
#[derive(Debug, Default)]
struct Told {
    /// The file's object, and how many changes of this window are in it.
    object: Option<(u64, Object)>,
    problem: Option<String>,
}

impl SettingsStore {
    /// Settings kept in a directory; until they are read, beside the window, they are as at first.
    pub fn in_directory(directory: PathBuf, ctx: &egui::Context) -> Self {
        let (changes, waiting) = sync_channel(MOST_WAITING);
        let (alive, end) = sync_channel::<()>(0);
        let shared = Arc::new(Mutex::new(Told::default()));
        let (told, ctx) = (Arc::clone(&shared), ctx.clone());
        let started = std::thread::Builder::new().name("settings".to_owned()).spawn(move || {
            serve(&directory, &waiting, &told, &ctx);
            drop(alive);
        });
        match started {
            Ok(_) => {
                let writer = SettingsWriter { changes: Some(changes), sent: 0, shared, end };
                Self { writer: Some(writer), ..Self::default() }
            }
            Err(error) => {
                let notice = format!("Settings are not saved: no thread for them: {error}");
                Self { notice: Some(notice), ..Self::default() }
            }
        }
    }

    pub fn change(&mut self, change: SettingChange) {
        change.apply(&mut self.object);
        self.now = Settings::from(&self.object);
        let Some(writer) = &mut self.writer else { return };
        let Some(changes) = &writer.changes else { return };
        match changes.try_send(change) {
            Ok(()) => writer.sent += 1,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.notice = Some("Settings cannot be written: the disk does not answer".into());
            }
        }
    }

    /// Takes what was read from the file; whether the settings may have changed by it.
    pub fn poll(&mut self) -> bool {
        let Some(writer) = &self.writer else { return false };
        let mut told = writer.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(problem) = told.problem.take() {
            self.notice = Some(problem);
        }
        // An object without the latest changes of this window would undo them for a moment.
        match told.object.take() {
            Some((made, object)) if made == writer.sent && object != self.object => {
                self.now = Settings::from(&object);
                self.object = object;
                true
            }
            _ => false,
        }
    }
}

impl Drop for SettingsWriter {
    fn drop(&mut self) {
        drop(self.changes.take());
        // Nothing is ever sent: this returns when the thread has ended, or the time is over.
        let _ended_or_late = self.end.recv_timeout(LAST_WRITE);
    }
}

/// The thread: reads the file, and then writes changes until the window is closed.
fn serve(
    directory: &Path,
    changes: &Receiver<SettingChange>,
    shared: &Mutex<Told>,
    ctx: &egui::Context,
) {
    let tell = |made: u64, answer: Result<(Object, Option<String>), String>| {
        let mut told = shared.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok((object, problem)) => {
                told.object = Some((made, object));
                told.problem = problem.or(told.problem.take());
            }
            Err(problem) => told.problem = Some(problem),
        }
        drop(told);
        ctx.request_repaint();
    };
    // A first run has neither directory nor file, and must not make them only to read.
    if directory.join(FILE).exists() {
        tell(0, update(directory, &[]));
    }
    let mut made = 0;
    while let Ok(first) = changes.recv() {
        let batch: Vec<SettingChange> = std::iter::once(first).chain(changes.try_iter()).collect();
        made += batch.len() as u64;
        tell(made, update(directory, &batch));
    }
}

/// Makes changes to the file, if there are any; returns what is in it then, and what was wrong with it.
fn update(directory: &Path, changes: &[SettingChange]) -> Result<(Object, Option<String>), String> {
    let path = directory.join(FILE);
    let failed = |what: &str, error: &std::io::Error| {
        format!("Settings are not saved: {what} {}: {error}", path.display())
    };
    std::fs::create_dir_all(directory).map_err(|error| failed("no directory for", &error))?;
    let lock = lock(&directory.join(LOCK)).map_err(|error| failed("no lock for", &error))?;
    let mut problem = None;
    let mut object = match std::fs::read(&path) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(object) => object,
            Err(error) => {
                let aside = directory.join(DAMAGED);
                std::fs::rename(&path, &aside)
                    .map_err(|error| failed("cannot set aside the damaged", &error))?;
                problem = Some(format!(
                    "The settings were damaged ({error}) and have been reset; the old file is {}",
                    aside.display()
                ));
                Object::new()
            }
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Object::new(),
        Err(error) => return Err(failed("cannot read", &error)),
    };
    if !changes.is_empty() {
        for change in changes {
            change.apply(&mut object);
        }
        write(directory, &path, &object).map_err(|error| failed("cannot write", &error))?;
    }
    drop(lock);
    Ok((object, problem))
}

/// Waits for the lock. A file system without locks is used without.
fn lock(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    match file.lock() {
        Err(error) if error.kind() != ErrorKind::Unsupported => Err(error),
        _ => Ok(file),
    }
}

/// Replaces the file as a whole, so that nobody ever reads half of it.
fn write(directory: &Path, path: &Path, object: &Object) -> std::io::Result<()> {
    let make = || NamedTempFile::new_in(directory);
    let (mut file, _half_written) = HalfWritten::temporary(make)?;
    file.write_all(&serde_json::to_vec_pretty(object)?)?;
    file.write_all(b"\n")?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::recent::{KnownReport, RecentReport};
    use super::*;
    use std::time::Instant;

    fn open(directory: &Path) -> SettingsStore {
        SettingsStore::in_directory(directory.to_owned(), &egui::Context::default())
    }

    fn opened(path: &str) -> SettingChange {
        let known = KnownReport::default();
        SettingChange::Opened(RecentReport {
            path: path.into(),
            title: path.into(),
            opened: 1,
            known,
        })
    }

    fn paths(settings: &Settings) -> Vec<String> {
        let reports = settings.recent_reports.iter();
        let mut paths: Vec<_> = reports.map(|report| report.path.display().to_string()).collect();
        paths.sort();
        paths
    }

    /// Polls until something is so.
    fn wait(store: &mut SettingsStore, is_so: impl Fn(&mut SettingsStore) -> bool) {
        let started = Instant::now();
        loop {
            store.poll();
            if is_so(store) {
                return;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "not in time: {store:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn two_windows_do_not_lose_each_others_entries() {
        let directory = tempfile::tempdir().expect("a directory");
        let (mut one, mut other) = (open(directory.path()), open(directory.path()));
        for round in 0..8 {
            one.change(opened(&format!("/one/{round}")));
            other.change(opened(&format!("/other/{round}")));
        }
        one.change(SettingChange::Splitter("a".into(), Some(1.0)));
        other.change(SettingChange::Splitter("b".into(), Some(2.0)));
        drop((one, other));
        let mut third = open(directory.path());
        wait(&mut third, |store| !store.now.recent_reports.is_empty());
        assert_eq!(third.now.recent_reports.len(), 16);
        assert_eq!(third.now.splitters.len(), 2);
    }

    #[test]
    fn a_window_learns_what_another_has_written() {
        let directory = tempfile::tempdir().expect("a directory");
        let (mut one, other) = (open(directory.path()), open(directory.path()));
        let mut other = other;
        other.change(opened("/other"));
        drop(other);
        one.change(opened("/one"));
        assert_eq!(paths(&one.now), ["/one"], "its own change is there at once");
        wait(&mut one, |store| store.now.recent_reports.len() == 2);
        assert_eq!(paths(&one.now), ["/one", "/other"]);
    }

    #[test]
    fn a_damaged_file_is_set_aside() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join(FILE), "{\"theme\": \"da").expect("a file");
        let mut store = open(directory.path());
        wait(&mut store, |store| store.notice.is_some());
        let notice = store.notice.take().expect("a notice");
        assert!(notice.contains(DAMAGED), "{notice}");
        assert_eq!(store.now, Settings::default());
        let aside = std::fs::read_to_string(directory.path().join(DAMAGED)).expect("set aside");
        assert_eq!(aside, "{\"theme\": \"da");
        store.change(SettingChange::Menu(true));
        drop(store);
        let mut store = open(directory.path());
        wait(&mut store, |store| store.now.is_menu_collapsed);
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_named() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("file");
        std::fs::write(&file, "").expect("a file");
        let mut store = open(&file.join("below"));
        store.change(SettingChange::Menu(true));
        wait(&mut store, |store| store.notice.is_some());
        assert!(store.now.is_menu_collapsed, "it holds while the window is open");
        assert!(store.notice.take().expect("a notice").contains(FILE));
    }

    #[test]
    fn looking_makes_no_files() {
        let directory = tempfile::tempdir().expect("a directory");
        let below = directory.path().join("tilescope");
        drop(open(&below));
        assert!(!below.exists());
    }
}
