//! Takes pictures and tables out of the window: to the clipboard, or into a file that the user names.

mod svg;
mod write;

use eframe::egui::{
    self, ColorImage, Id, Key, Modal, Rect, ScreenshotCallback, TextEdit, ViewportCommand,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use super::command::{Export, ExportTo, Exported, Sheet};
use super::job::Job;
use super::theme::Tokens;
use crate::text::{grouped, shortened};
use crate::ui::widget::rows::csv;
use write::{Contents, Failure, write};

/// An export on its way.
#[derive(Default)]
pub struct Exporter {
    screenshot: Option<Screenshot>,
    dialog: Option<SaveDialog>,
    copying: Option<Job<String>>,
    /// Where the last file went; the next one goes there too.
    directory: Option<PathBuf>,
    /// What came of the last export, for the status bar.
    pub notice: Option<String>,
}

struct Screenshot {
    image: Receiver<Arc<ColorImage>>,
    svg: String,
    rect: Rect,
    name: String,
    to: ExportTo,
}

/// Asks for the path of a file and writes it.
struct SaveDialog {
    title: String,
    path: String,
    contents: Arc<Contents>,
    browsing: Option<Job<Option<PathBuf>>>,
    writing: Option<Job<Result<PathBuf, Failure>>>,
    failure: Option<String>,
    /// Whether the file is there already and may be replaced.
    is_existing: bool,
}

impl Exporter {
    pub fn start(&mut self, ctx: &egui::Context, export: Export) {
        self.notice = None;
        match export.what {
            Exported::Picture(rect) => {
                let (sender, image) = sync_channel(1);
                let woken = ctx.clone();
                let callback = ScreenshotCallback::new(move |picture| {
                    // The window may be gone by now.
                    drop(sender.try_send(picture));
                    woken.request_repaint();
                });
                ctx.send_viewport_cmd(ViewportCommand::Screenshot(callback));
                let (name, to) = (export.name, export.to);
                // The shapes are those of this frame, as the picture will be.
                let is_kept = to == ExportTo::File;
                let svg = if is_kept { svg::svg_of(ctx, rect) } else { String::new() };
                self.screenshot = Some(Screenshot { image, svg, rect, name, to });
            }
            Exported::Table(sheet) if export.to == ExportTo::Clipboard => {
                let job = Job::start("copy table", ctx, move |_| text_of(&sheet));
                match job {
                    Ok(job) => self.copying = Some(job),
                    Err(error) => self.notice = Some(format!("No thread to copy with: {error}")),
                }
            }
            Exported::Table(sheet) => self.ask(&export.name, "csv", Contents::Table(sheet)),
        }
    }

    fn ask(&mut self, name: &str, extension: &str, contents: Contents) {
        let directory = self.directory.clone().or_else(dirs::download_dir).or_else(dirs::home_dir);
        let file = format!("tilescope-{}.{extension}", name.replace(' ', "-"));
        let path = directory.unwrap_or_default().join(file);
        self.dialog = Some(SaveDialog {
            title: format!("Save {name}"),
            path: path.display().to_string(),
            contents: Arc::new(contents),
            browsing: None,
            writing: None,
            failure: None,
            is_existing: false,
        });
    }

    /// Takes what has come, and draws the dialog. `reports` are the reports' directories, into which
    /// nothing is written.
    pub fn ui(&mut self, ui: &egui::Ui, reports: &[&Path]) {
        self.take_screenshot(ui);
        match Job::take(&mut self.copying) {
            Some(Ok(text)) => {
                let rows = grouped((text.lines().count() as u64).saturating_sub(1));
                ui.copy_text(text);
                self.notice = Some(format!("Copied {rows} rows to the clipboard"));
            }
            Some(Err(_)) => {
                self.notice = Some("Copying stopped: a mistake in Tilescope".to_owned());
            }
            None => {}
        }
        let Some(dialog) = &mut self.dialog else { return };
        match dialog.ui(ui, reports) {
            Outcome::Open => {}
            Outcome::Cancelled => self.dialog = None,
            Outcome::Saved(path) => {
                self.notice =
                    Some(format!("Saved {}", shortened(&path.display().to_string(), 200)));
                self.directory = path.parent().map(Path::to_owned);
                self.dialog = None;
            }
        }
    }

    fn take_screenshot(&mut self, ui: &egui::Ui) {
        let Some(screenshot) = &mut self.screenshot else { return };
        let image = match screenshot.image.try_recv() {
            Ok(image) => image,
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Disconnected) => {
                self.notice = Some("The window gave no picture".to_owned());
                self.screenshot = None;
                return;
            }
        };
        let part = part_of(&image, screenshot.rect, ui.pixels_per_point());
        match (part, screenshot.to) {
            (None, _) => self.notice = Some("The picture is not in the window".to_owned()),
            (Some(part), ExportTo::Clipboard) => {
                self.notice = Some(format!("Copied the {} to the clipboard", screenshot.name));
                ui.copy_image(part);
            }
            (Some(part), ExportTo::File) => {
                let (name, svg) = (screenshot.name.clone(), std::mem::take(&mut screenshot.svg));
                self.ask(&name, "png", Contents::Picture(part, svg));
            }
        }
        self.screenshot = None;
    }
}

fn text_of(sheet: &Sheet) -> String {
    csv(&*sheet.rows, &sheet.columns, &sheet.order.rows)
}

/// A part of a picture of the window; `None` when it lies outside.
fn part_of(image: &ColorImage, rect: Rect, pixels_per_point: f32) -> Option<ColorImage> {
    let whole = Rect::from_min_size(
        egui::Pos2::ZERO,
        egui::vec2(image.width() as f32, image.height() as f32),
    );
    let part = (rect * pixels_per_point).intersect(whole);
    let is_there = part.is_positive() && part.width() >= 1.0 && part.height() >= 1.0;
    is_there.then(|| image.region(&part, None))
}

enum Outcome {
    Open,
    Cancelled,
    Saved(PathBuf),
}

impl SaveDialog {
    fn ui(&mut self, ui: &egui::Ui, reports: &[&Path]) -> Outcome {
        if let Some(path) = self.poll() {
            return Outcome::Saved(path);
        }
        let mut wants_save = false;
        let mut is_cancelled = false;
        let modal = Modal::new(Id::unique("save file")).show(ui.ctx(), |ui| {
            ui.set_width(560.0);
            ui.heading(&self.title);
            ui.add_space(6.0);
            let is_picture = matches!(*self.contents, Contents::Picture(..));
            let title = if is_picture { "File, .png or .svg" } else { "File" };
            let label = ui.label(title);
            let field = ui
                .add(TextEdit::singleline(&mut self.path).desired_width(f32::INFINITY))
                .labelled_by(label.id);
            if field.changed() {
                self.is_existing = false;
                self.failure = None;
            }
            wants_save = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            if let Some(failure) = &self.failure {
                ui.colored_label(Tokens::now(ui).over, shortened(failure, 400));
            }
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                let is_idle = self.writing.is_none() && !self.path.trim().is_empty();
                let title = if self.is_existing { "Replace the file" } else { "Save" };
                wants_save |= ui.add_enabled(is_idle, egui::Button::new(title)).clicked();
                let browse = egui::Button::new("Browse…");
                if ui.add_enabled(self.browsing.is_none(), browse).clicked() {
                    self.browse(ui.ctx());
                }
                is_cancelled = ui.button("Cancel").clicked();
            });
        });
        if wants_save && self.writing.is_none() {
            self.save(ui.ctx(), reports);
        }
        if is_cancelled || modal.should_close() { Outcome::Cancelled } else { Outcome::Open }
    }

    /// Takes the answers of jobs; the path, when the file is written.
    fn poll(&mut self) -> Option<PathBuf> {
        if let Some(Ok(Some(path))) = Job::take(&mut self.browsing) {
            self.path = path.display().to_string();
            // The dialog has asked whether a file that is there may be replaced.
            self.is_existing = true;
        }
        let stopped = |_| Err(Failure::other("writing stopped: a mistake in Tilescope"));
        match Job::take(&mut self.writing)?.unwrap_or_else(stopped) {
            Ok(path) => Some(path),
            Err(failure) => {
                self.is_existing = failure.is_existing;
                self.failure = Some(failure.message);
                None
            }
        }
    }

    fn browse(&mut self, ctx: &egui::Context) {
        let path = PathBuf::from(self.path.trim());
        let title = self.title.clone();
        let job = Job::start("file dialog", ctx, move |_| {
            let dialog = rfd::FileDialog::new().set_title(title);
            let dialog = match path.parent() {
                Some(directory) => dialog.set_directory(directory),
                None => dialog,
            };
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            dialog.set_file_name(name.unwrap_or_default()).save_file()
        });
        match job {
            Ok(job) => self.browsing = Some(job),
            Err(error) => self.failure = Some(format!("No thread for a dialog: {error}")),
        }
    }

    fn save(&mut self, ctx: &egui::Context, reports: &[&Path]) {
        let path = PathBuf::from(self.path.trim());
        let contents = Arc::clone(&self.contents);
        let reports: Vec<PathBuf> = reports.iter().map(|report| (*report).to_owned()).collect();
        let may_replace = self.is_existing;
        self.failure = None;
        let job =
            Job::start("write file", ctx, move |_| write(&path, &contents, may_replace, &reports));
        match job {
            Ok(job) => self.writing = Some(job),
            Err(error) => self.failure = Some(format!("No thread to write with: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_picture_stays_inside() {
        let image = ColorImage::filled([40, 20], egui::Color32::RED);
        let rect = Rect::from_min_max(egui::pos2(5.0, 5.0), egui::pos2(15.0, 99.0));
        let part = part_of(&image, rect, 2.0).map(|part| part.size);
        assert_eq!(part, Some([20, 10]));
        let outside = Rect::from_min_max(egui::pos2(50.0, 5.0), egui::pos2(60.0, 9.0));
        assert_eq!(part_of(&image, outside, 1.0).map(|part| part.size), None);
    }
}
