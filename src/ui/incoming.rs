//! Input from outside the window: the answer of the dialog for a directory, and what is dropped.

use eframe::egui::{self, Align2, FontId, Id, LayerId, Order, Stroke, StrokeKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::command::{Command, PickFor};
use super::job::Job;
use super::runs::MOST_RUNS;
use super::theme::Tokens;

/// A dialog that answers sooner was never seen by anyone.
const SHORTEST_DIALOG: Duration = Duration::from_millis(150);
const NO_DIALOG: &str = "No dialog could be opened: enter the path, or drop a directory here";

/// The dialog, while it is open.
#[derive(Default)]
pub struct Incoming {
    dialog: Option<Dialog>,
}

struct Dialog {
    job: Job<Option<PathBuf>>,
    since: Instant,
    purpose: PickFor,
}

#[derive(Default)]
pub struct Arrived {
    pub command: Option<Command>,
    pub notice: Option<String>,
}

impl Incoming {
    pub fn is_picking(&self) -> bool {
        self.dialog.is_some()
    }

    /// Opens the dialog, unless it is open.
    pub fn pick(&mut self, ctx: &egui::Context, purpose: PickFor) {
        if self.dialog.is_some() {
            return;
        }
        let job = Job::start("file dialog", ctx, move |_| {
            let dialog = rfd::FileDialog::new().set_title(purpose.title());
            if purpose.is_file() { dialog.pick_file() } else { dialog.pick_folder() }
        });
        self.dialog = Some(Dialog { job, since: Instant::now(), purpose });
    }

    /// The answer of the dialog, or what was dropped: beside an open report a directory is a run.
    pub fn poll(&mut self, ui: &egui::Ui, is_open: bool) -> Arrived {
        let mut arrived = Arrived::default();
        if let Some(answer) = self.dialog.as_ref().and_then(|dialog| dialog.job.poll())
            && let Some(Dialog { since, purpose, .. }) = self.dialog.take()
        {
            match answer {
                Ok(Some(path)) => {
                    arrived.command = Some(purpose.command(path));
                }
                Ok(None) if since.elapsed() >= SHORTEST_DIALOG => {}
                Ok(None) | Err(_) => {
                    arrived.notice = Some(NO_DIALOG.to_owned());
                    arrived.command =
                        Some(Command::AskPath(purpose)).filter(|_| !purpose.has_field());
                }
            }
        }
        let dropped: Vec<PathBuf> = ui.input(|input| {
            input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect()
        });
        if dropped.len() > MOST_RUNS {
            let count = dropped.len();
            arrived.notice = Some(format!("Of {count} dropped, the first {MOST_RUNS} are open"));
        }
        arrived.command = match &*dropped {
            [] => arrived.command,
            [log] if is_log(log) => Some(Command::OpenLog(log.clone())),
            [path] if is_open => Some(Command::AddRun(path.clone())),
            [path] => Some(Command::Open(path.clone())),
            _ => Some(Command::Compare(dropped)),
        };
        arrived
    }
}

/// Whether a path is that of a log, by its name alone.
fn is_log(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("log" | "txt" | "out" | "err"))
}

/// Says what would happen, while something is held over the window.
pub fn drop_hint_ui(ui: &egui::Ui, is_open: bool) {
    let hovered = ui.input(|input| input.raw.hovered_files.len());
    if hovered == 0 {
        return;
    }
    let tokens = Tokens::now(ui);
    let rect = ui.ctx().content_rect();
    let painter = ui.ctx().layer_painter(LayerId::new(Order::Tooltip, Id::unique("drop hint")));
    painter.rect_filled(rect, 0, tokens.page.gamma_multiply(0.9));
    let stroke = Stroke::new(2.0, tokens.accent);
    painter.rect_stroke(rect.shrink(12.0), 8, stroke, StrokeKind::Inside);
    let text = match (hovered, is_open) {
        (1, true) => "Drop to compare the open run with this one",
        (1, false) => "Drop to open this run",
        (2..=MOST_RUNS, _) => "Drop to compare these runs",
        _ => &format!("Drop to compare the first {MOST_RUNS} of these runs"),
    };
    let font = FontId::proportional(20.0);
    painter.text(rect.center(), Align2::CENTER_CENTER, text, font, tokens.text);
}
