//! What comes from outside the window: the answer of the dialog for a directory, and what is dropped.

use eframe::egui;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use eframe::egui::{Align2, FontId, Id, LayerId, Order, Stroke, StrokeKind};

use super::command::Command;
use super::job::{Answer, Job};
use super::theme::Tokens;

/// A dialog that answers sooner was never seen by anyone.
const SHORTEST_DIALOG: Duration = Duration::from_millis(150);
const NO_DIALOG: &str = "No dialog could be opened: enter the path, or drop a directory here";

/// The dialog, while it is open.
#[derive(Debug, Default)]
pub struct Incoming {
    dialog: Option<(Job<Option<PathBuf>>, Instant)>,
}

/// What came.
#[derive(Debug, Default)]
pub struct Arrived {
    /// What is to be done.
    pub command: Option<Command>,
    /// What is to be said.
    pub notice: Option<String>,
}

impl Incoming {
    /// Whether the dialog is open.
    pub fn is_picking(&self) -> bool {
        self.dialog.is_some()
    }

    /// Opens the dialog, unless it is open.
    ///
    /// # Errors
    /// When there is no thread for it.
    pub fn pick(&mut self, ctx: &egui::Context) -> Result<(), String> {
        if self.dialog.is_some() {
            return Ok(());
        }
        let job = Job::start("file dialog", ctx, |_| {
            rfd::FileDialog::new().set_title("Open a report directory").pick_folder()
        });
        let job = job.map_err(|error| format!("No thread for a dialog: {error}"))?;
        self.dialog = Some((job, Instant::now()));
        Ok(())
    }

    /// The answer of the dialog, or what was dropped.
    pub fn poll(&mut self, ui: &egui::Ui) -> Arrived {
        let mut arrived = Arrived::default();
        if let Some((job, since)) = &self.dialog {
            match job.poll() {
                Answer::Working => {}
                Answer::Done(Some(path)) => {
                    arrived.command = Some(Command::Open(path));
                    self.dialog = None;
                }
                Answer::Done(None) => {
                    let was_seen = since.elapsed() >= SHORTEST_DIALOG;
                    arrived.notice = (!was_seen).then(|| NO_DIALOG.to_owned());
                    self.dialog = None;
                }
                Answer::Failed => {
                    arrived.notice = Some(NO_DIALOG.to_owned());
                    self.dialog = None;
                }
            }
        }
        let dropped: Vec<PathBuf> = ui.input(|input| {
            input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect()
        });
        if dropped.len() > 1 {
            let text = "The first of them is opened; comparing reports comes with a later version";
            arrived.notice = Some(text.to_owned());
        }
        if let Some(path) = dropped.into_iter().next() {
            arrived.command = Some(Command::Open(path));
        }
        arrived
    }
}

/// Says what would happen, while something is held over the window.
pub fn drop_hint_ui(ui: &egui::Ui, is_open: bool) {
    if ui.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    let tokens = Tokens::now(ui);
    let rect = ui.ctx().content_rect();
    let painter = ui.ctx().layer_painter(LayerId::new(Order::Tooltip, Id::unique("drop hint")));
    painter.rect_filled(rect, 0, tokens.page.gamma_multiply(0.9));
    let stroke = Stroke::new(2.0, tokens.accent);
    painter.rect_stroke(rect.shrink(12.0), 8, stroke, StrokeKind::Inside);
    let text = if is_open {
        "Drop to open this report in place of the one that is open"
    } else {
        "Drop to open this report"
    };
    let font = FontId::proportional(20.0);
    painter.text(rect.center(), Align2::CENTER_CENTER, text, font, tokens.text);
}
