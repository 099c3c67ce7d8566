//! Loading a report in the background: a named thread that fills it part by part.

use eframe::egui;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::job::Wake;
use super::reading::{RunGlance, first_glance, glance};
use super::runs::SMALL;
use crate::analysis::derived::Derived;
use crate::files::looks_like;
use crate::format::{Error, ErrorKind, Progress};
use crate::index;
use crate::store::{Report, Warnings};
use crate::sweep::runs_below;
use crate::systems;
use crate::systems::system::{OpenRun, Reading};

/// Why a report could not be opened, with the reports that were meant, perhaps.
#[derive(Clone, Debug)]
pub(crate) struct LoadFailure {
    pub error: Error,
    /// At first without their verdicts.
    pub reports: Vec<RunGlance>,
    /// Whether the file is text in which an error may be found.
    pub may_be_log: bool,
}

/// How far a report is.
#[derive(Clone, Debug, Default)]
pub(crate) enum Stage {
    WritingDemo,
    #[default]
    Finding,
    /// Something is read that the first pictures need, or the rest.
    Reading {
        title: &'static str,
        is_first: bool,
    },
    DemoWritten(Vec<PathBuf>),
    /// The directory has several runs, which are for a sweep.
    Variants,
    /// It is a part of a run alone, such as the text of an error, which is explained.
    Partial,
    Done,
    /// The user canceled; what was read stays.
    Cancelled,
    Failed(Box<LoadFailure>),
}

impl Stage {
    pub fn is_working(&self) -> bool {
        !matches!(
            self,
            Self::DemoWritten(_)
                | Self::Variants
                | Self::Partial
                | Self::Done
                | Self::Cancelled
                | Self::Failed(_)
        )
    }

    /// Whether the first pictures are not there yet: what is read so far would show wrong figures.
    pub fn is_early(&self) -> bool {
        matches!(self, Self::WritingDemo | Self::Finding | Self::Reading { is_first: true, .. })
    }

    pub fn failure(&self) -> Option<&LoadFailure> {
        match self {
            Self::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// What is being done, for people.
    pub fn title(&self) -> &'static str {
        match self {
            Self::WritingDemo => "Writing the demo",
            Self::Finding => "Looking for the run",
            Self::Reading { title, .. } => title,
            Self::DemoWritten(_) => "The demo is written",
            Self::Variants => "Several runs",
            Self::Partial => "The text of an error",
            Self::Done => "Read",
            Self::Cancelled => "Cancelled",
            Self::Failed(_) => "Failed",
        }
    }
}

#[derive(Debug, Default)]
struct SharedLoad {
    ctx: egui::Context,
    progress: Progress,
    stage: Mutex<Stage>,
    derived: OnceLock<Arc<Derived>>,
    is_painted: Mutex<bool>,
    painted: Condvar,
}

/// How long what the first picture of a large snapshot does not need waits for it: both would take as long again.
const FIRST_PICTURE: Duration = Duration::from_millis(500);

impl SharedLoad {
    /// Waits for the first picture, or a little while where none comes: another page may be shown.
    fn wait_for_picture(&self) {
        self.ctx.request_repaint();
        let is_painted = self.is_painted.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = |is_painted: &mut bool| !*is_painted && !self.progress.is_cancelled();
        drop(self.painted.wait_timeout_while(is_painted, FIRST_PICTURE, waiting));
    }

    /// Whether most of a run is not in its report, as that of a large snapshot.
    fn is_large(&self) -> bool {
        self.derived.get().is_some_and(|derived| derived.things_beside_report() >= SMALL)
    }

    fn set_stage(&self, stage: Stage) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        self.ctx.request_repaint();
    }

    /// Says that nothing more comes; returns whether that is because it was canceled.
    fn end(&self) -> bool {
        let is_cancelled = self.progress.is_cancelled();
        self.set_stage(if is_cancelled { Stage::Cancelled } else { Stage::Done });
        is_cancelled
    }
}

/// The module of a dump that is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Meant {
    /// The one that takes the most of the main memory.
    #[default]
    Largest,
    /// The one that is compared with those of other dumps, by its key.
    Compared(String),
    /// The one that the user has chosen, by its key.
    Chosen(String),
}

impl Meant {
    fn key(&self) -> Option<&str> {
        match self {
            Self::Largest => None,
            Self::Compared(key) | Self::Chosen(key) => Some(key),
        }
    }
}

/// A report that is being loaded, or was. Dropping it stops the thread.
#[derive(Debug)]
pub struct Load {
    /// What was asked for.
    pub path: PathBuf,
    /// Logs that are read with it, besides those that lie there.
    pub(crate) logs: Vec<PathBuf>,
    /// The module of a dump that is meant.
    pub(crate) module: Meant,
    shared: Arc<SharedLoad>,
}

impl Load {
    /// Starts to load the report at a path; the thread wakes `ctx` after each step.
    pub fn start(path: PathBuf, ctx: &egui::Context) -> Self {
        Self::start_with(path, Vec::new(), Meant::default(), ctx)
    }

    /// The same with logs, wherever they are, that count as those beside the profile, and with the module of a dump
    /// that is meant.
    pub(crate) fn start_with(
        path: PathBuf,
        logs: Vec<PathBuf>,
        module: Meant,
        ctx: &egui::Context,
    ) -> Self {
        // `.` and a bare `profile.pop` name no report.
        let path = std::path::absolute(&path).unwrap_or(path);
        let (source, named, meant) = (path.clone(), logs.clone(), module.clone());
        let mut load = Self::start_work(path, Stage::Finding, ctx, move |shared| {
            // The window has all that it needs; this thread has nothing else to do.
            match read(&source, &named, meant.key(), shared) {
                Ok(Some(run)) => write_index(&*run, &shared.progress),
                Ok(None) => {}
                Err(_) if systems::partial(systems::of_process(), &source).is_some() => {
                    shared.set_stage(Stage::Partial);
                }
                Err(error) => return Err(error),
            }
            Ok(())
        });
        (load.logs, load.module) = (logs, module);
        load
    }

    /// The same for a process that ends as soon as it has what it wants, as commands do: no index is written.
    pub(crate) fn start_for_command(
        path: PathBuf,
        module: Option<String>,
        ctx: &egui::Context,
    ) -> Self {
        let meant = module.map_or_else(Meant::default, Meant::Chosen);
        let (source, module) = (path.clone(), meant.clone());
        let mut load = Self::start_work(path, Stage::Finding, ctx, move |shared| {
            read(&source, &[], module.key(), shared).map(drop)
        });
        load.module = meant;
        // Nobody looks at a first picture.
        load.tell_painted();
        load
    }

    /// Starts to write what is missing of the demo, and then looks what is there to open.
    pub fn start_demo(ctx: &egui::Context) -> Self {
        // Without a cache directory the work below says so.
        let path = systems::demo_story().and_then(|story| story.demo_directory().ok());
        Self::start_work(path.unwrap_or_default(), Stage::WritingDemo, ctx, |shared| {
            let Some(story) = systems::demo_story() else { return Ok(()) };
            let directory = story
                .demo(&shared.progress)
                .map_err(|error| Error::new(ErrorKind::CannotWrite, error.to_string()))?;
            shared.set_stage(Stage::DemoWritten(story.opened(&directory)));
            Ok(())
        })
    }

    fn start_work(
        path: PathBuf,
        first: Stage,
        ctx: &egui::Context,
        work: impl FnOnce(&SharedLoad) -> Result<(), Error> + Send + 'static,
    ) -> Self {
        let stage = Mutex::new(first);
        let shared = Arc::new(SharedLoad { ctx: ctx.clone(), stage, ..SharedLoad::default() });
        let load = Self {
            path: path.clone(),
            logs: Vec::new(),
            module: Meant::default(),
            shared: Arc::clone(&shared),
        };
        let wake = Wake::new(ctx);
        let started = std::thread::Builder::new().name("load report".to_owned()).spawn(move || {
            let _until_the_end = wake;
            let failure = match catch_unwind(AssertUnwindSafe(|| work(&shared))) {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error,
                Err(_) => Error::new(
                    ErrorKind::Damaged,
                    "the reader stopped in the middle: this is a bug in Tilescope",
                )
                .in_file(&path)
                .hint("Please report it, with the message on the terminal."),
            };
            let meant = failure.file.clone().unwrap_or(path);
            explain(&meant, &failure, &shared);
        });
        if let Err(error) = started {
            let error =
                Error::new(ErrorKind::Unreadable, format!("no thread could be started: {error}"));
            load.shared.set_stage(Stage::Failed(Box::new(LoadFailure {
                error,
                reports: Vec::new(),
                may_be_log: false,
            })));
        }
        load
    }

    /// A report that is there already.
    pub fn ready(report: Arc<Report>) -> Self {
        Self::of(report, Stage::Done)
    }

    /// A report to which whoever has it is still adding.
    pub fn growing(report: Arc<Report>) -> Self {
        Self::of(report, Stage::Reading { title: "Reading the rest", is_first: false })
    }

    fn of(report: Arc<Report>, stage: Stage) -> Self {
        let shared = SharedLoad { stage: Mutex::new(stage), ..SharedLoad::default() };
        let path = report.path.clone();
        // The cell is new, so this cannot fail.
        let derived = systems::derived_of_report(systems::of_process(), report);
        derived.verdict();
        drop(shared.derived.set(Arc::new(derived)));
        Self { path, logs: Vec::new(), module: Meant::default(), shared: Arc::new(shared) }
    }

    /// One that stands still at a stage.
    #[cfg(test)]
    pub(crate) fn at(path: PathBuf, stage: Stage) -> Self {
        let shared = SharedLoad { stage: Mutex::new(stage), ..SharedLoad::default() };
        Self { path, logs: Vec::new(), module: Meant::default(), shared: Arc::new(shared) }
    }

    /// The report, as soon as its files are found.
    pub fn report(&self) -> Option<&Arc<Report>> {
        self.derived().map(|derived| derived.report())
    }

    /// What is worked out of it and of what was read with it, from the same moment on.
    pub(crate) fn derived(&self) -> Option<&Arc<Derived>> {
        self.shared.derived.get()
    }

    /// How far it is.
    pub(crate) fn stage(&self) -> Stage {
        self.shared.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How much of it is done.
    pub(crate) fn progress(&self) -> &Progress {
        &self.shared.progress
    }

    /// How long a window waits before it looks for parts that are new. A frame takes its share of the cores where there
    /// is no graphics card, and a large run says when its curve can be drawn.
    pub fn look_after(&self) -> Duration {
        Duration::from_millis(if self.shared.is_large() { 100 } else { 15 })
    }

    /// Says that a picture was painted, for which the rest of the work waits.
    pub(crate) fn tell_painted(&self) {
        let mut is_painted = self.shared.is_painted.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_painted {
            *is_painted = true;
            self.shared.painted.notify_all();
        }
    }

    /// Stops reading; what was read stays.
    pub fn cancel(&self) {
        self.shared.progress.cancel();
        self.shared.painted.notify_all();
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// Reads all of a run, part by part; then what is said first of it is worked out. The run, unless that was canceled.
fn read(
    path: &Path,
    logs: &[PathBuf],
    module: Option<&str>,
    shared: &SharedLoad,
) -> Result<Option<Box<dyn OpenRun>>, Error> {
    let progress = &shared.progress;
    let found = match systems::find(systems::of_process(), path, module, progress) {
        Err(error) if error.kind == ErrorKind::SeveralReports => {
            shared.set_stage(Stage::Variants);
            return Ok(None);
        }
        found => found?,
    };
    let reading = Reading {
        progress,
        tell: &|title, is_first| shared.set_stage(Stage::Reading { title, is_first }),
        wait_for_picture: &|| {
            if shared.is_large() {
                shared.wait_for_picture();
            }
        },
    };
    let Some(run) = found.begin(index::of_process(), &reading)? else {
        shared.end();
        return Ok(None);
    };
    // The cell is set only here.
    drop(shared.derived.set(Arc::clone(run.derived())));
    // The first picture may need nothing more.
    shared.ctx.request_repaint();
    run.read_all(logs, &reading)?;
    if !progress.is_cancelled() {
        run.derived().verdict();
    }
    Ok((!shared.end()).then_some(run))
}

/// Writes the index of a run, if it can have one. That it could not is a line in the log.
fn write_index(run: &dyn OpenRun, progress: &Progress) {
    match run.write_index(progress) {
        Ok(Some(bytes)) => tracing::info!("index written, {bytes} bytes"),
        Ok(None) => {}
        Err(error) => {
            tracing::info!("no index of {}: {error}", run.derived().report().path.display());
        }
    }
}

/// Says why nothing could be opened; of several reports at once which there are, and then what they are.
fn explain(path: &Path, error: &Error, shared: &SharedLoad) {
    let is_several = error.kind == ErrorKind::SeveralReports;
    let may_be_log = looks_like::look(path)
        .is_ok_and(|look| look.may_be_log() && error.hint.as_deref() == Some(&*look.hint));
    let tell = |reports: Vec<RunGlance>| {
        let failure = LoadFailure { error: error.clone(), reports, may_be_log };
        shared.set_stage(Stage::Failed(Box::new(failure)));
    };
    // The error itself is what matters; the list is only a help.
    let (systems, warnings) = (systems::of_process(), Warnings::default());
    let paths = [path.to_owned()];
    let below = || runs_below(systems, &paths, None, &warnings, &shared.progress);
    let mut runs = if is_several { below().unwrap_or_default() } else { Vec::new() };
    runs.retain(|run| run.has_report());
    tell(first_glance(path, &runs));
    if !runs.is_empty() {
        tell(glance(path, runs, &[], &shared.progress));
    }
}
