//! The dialog that asks what to take out, in which form, and where to.

use eframe::egui::{self, Id, Key, Modal, TextEdit, Theme};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::write::{ExportContents, WriteFailure, has_extension, write};
use crate::text::{capitalised, shortened};
use crate::ui::job::Job;
use crate::ui::theme::Tokens;
use crate::ui::widget::choice::{choice_ui, segments_ui};
use crate::ui::widget::exports::Exportable;

/// In which form pictures are taken out; what was chosen last holds while the window is open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureForm {
    pub is_svg: bool,
    /// Pixels a point.
    pub scale: f32,
    pub theme: Theme,
}

impl Default for PictureForm {
    fn default() -> Self {
        Self { is_svg: false, scale: 2.0, theme: Theme::Light }
    }
}

impl PictureForm {
    /// Of the file of a picture.
    pub fn extension(self) -> &'static str {
        if self.is_svg { "svg" } else { "png" }
    }
}

pub enum ToSave {
    /// The picture of the page that has the name.
    Picture,
    /// A table, or a page for a browser.
    Ready(Arc<ExportContents>),
}

/// Asks for the path of a file and writes it.
pub struct SaveDialog {
    pub saved: ToSave,
    pub name: String,
    path: String,
    /// Whether the path is as it was made of the name of the picture.
    is_path_made: bool,
    browsing: Option<Job<Option<PathBuf>>>,
    writing: Option<Job<Result<PathBuf, WriteFailure>>>,
    pub failure: Option<String>,
    /// Whether the file is there already and may be replaced.
    is_existing: bool,
}

pub enum DialogOutcome {
    Open,
    Cancelled,
    Saved(PathBuf),
    /// The picture shall be copied, or written to the path that is named.
    Copy,
    Write,
}

/// Names a file for what has a name.
pub type NameFile<'a> = &'a dyn Fn(&str, &str) -> PathBuf;

impl SaveDialog {
    pub fn new(saved: ToSave, name: &str, path: &Path) -> Self {
        Self {
            saved,
            name: name.to_owned(),
            path: path.display().to_string(),
            is_path_made: true,
            browsing: None,
            writing: None,
            failure: None,
            is_existing: false,
        }
    }

    /// Draws it; `is_busy` while the picture is being drawn.
    pub fn ui(
        &mut self,
        ui: &egui::Ui,
        form: &mut PictureForm,
        is_busy: bool,
        name_file: NameFile<'_>,
    ) -> DialogOutcome {
        if let Some(path) = self.poll(form) {
            return DialogOutcome::Saved(path);
        }
        let mut outcome = DialogOutcome::Open;
        let frame = egui::Frame::popup(ui.style()).inner_margin(16);
        let modal = Modal::new(Id::unique("save file")).frame(frame).show(ui.ctx(), |ui| {
            let room = ui.ctx().content_rect().width() - 64.0;
            ui.set_width(room.min(600.0));
            let is_picture = self.is_picture();
            if is_picture {
                ui.heading("Export picture");
            } else {
                ui.heading(format!("Save {}", self.name));
            }
            ui.add_space(8.0);
            if is_picture {
                self.form_ui(ui, form, name_file);
            }
            let title = if is_picture { "File, .png or .svg" } else { "File" };
            let label = ui.label(title);
            let field = ui
                .add(TextEdit::singleline(&mut self.path).desired_width(f32::INFINITY))
                .labelled_by(label.id);
            if field.changed() {
                self.is_existing = false;
                self.failure = None;
                self.path_chosen(form);
            }
            // Enter saves unless a button has the focus.
            let is_free = field.lost_focus() || ui.memory(|memory| memory.focused().is_none());
            let mut wants_save = is_free && ui.input(|input| input.key_pressed(Key::Enter));
            if let Some(failure) = &self.failure {
                ui.colored_label(Tokens::now(ui).note, shortened(failure, 400));
            }
            ui.add_space(10.0);
            let is_idle = self.writing.is_none() && !is_busy;
            let can_save = is_idle && !self.path.trim().is_empty();
            ui.horizontal(|ui| {
                let title = if self.is_existing { "Replace the file" } else { "Save" };
                let save = egui::Button::new(title).stroke((1.0, Tokens::now(ui).accent));
                wants_save |= ui.add_enabled(can_save, save).clicked();
                if is_picture && ui.add_enabled(is_idle, egui::Button::new("Copy")).clicked() {
                    outcome = DialogOutcome::Copy;
                }
                let browse = egui::Button::new("Browse…");
                if ui.add_enabled(self.browsing.is_none(), browse).clicked() {
                    self.browse(ui.ctx());
                }
                if ui.button("Cancel").clicked() {
                    outcome = DialogOutcome::Cancelled;
                }
                if !is_idle {
                    ui.weak(if is_picture { "Drawing the picture" } else { "Writing the file" });
                }
            });
            if wants_save && can_save {
                outcome = DialogOutcome::Write;
            }
        });
        if modal.should_close() {
            return DialogOutcome::Cancelled;
        }
        outcome
    }

    /// Which picture, and in which form.
    fn form_ui(&mut self, ui: &mut egui::Ui, form: &mut PictureForm, name_file: NameFile<'_>) {
        let before = (self.name.clone(), form.is_svg);
        let mut names: Vec<String> = Vec::new();
        for (name, _) in Exportable::now(ui.ctx()).pictures {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        ui.horizontal_wrapped(|ui| {
            let title = |name: &String| capitalised(&shortened(name, 60));
            choice_ui(ui, "Picture", 250.0, &mut self.name, names, title);
            segments_ui(ui, "Format", &mut form.is_svg, [(false, "PNG"), (true, "SVG")]);
            if !form.is_svg {
                let sizes = [(1.0, "1×"), (2.0, "2×")];
                segments_ui(ui, "Pixels a point", &mut form.scale, sizes);
            }
            let themes = [(Theme::Light, "Light"), (Theme::Dark, "Dark")];
            segments_ui(ui, "Theme of the picture", &mut form.theme, themes);
        });
        ui.add_space(8.0);
        if before == (self.name.clone(), form.is_svg) {
            return;
        }
        let path = if self.is_path_made {
            name_file(&self.name, form.extension())
        } else {
            Path::new(&self.path).with_extension(form.extension())
        };
        self.path = path.display().to_string();
        self.is_existing = false;
        self.failure = None;
    }

    /// Takes the answers of jobs; the path, when the file is written.
    fn poll(&mut self, form: &mut PictureForm) -> Option<PathBuf> {
        match Job::take(&mut self.browsing) {
            Some(Ok(Some(path))) => {
                self.path = path.display().to_string();
                self.path_chosen(form);
                // The dialog has asked whether a file that is there may be replaced.
                self.is_existing = true;
            }
            Some(Err(why)) => self.failure = Some(why),
            _ => {}
        }
        let written = Job::take(&mut self.writing)?.map_err(WriteFailure::other);
        match written.flatten() {
            Ok(path) => Some(path),
            Err(failure) => {
                self.is_existing = failure.is_existing;
                self.failure = Some(failure.message);
                None
            }
        }
    }

    fn is_picture(&self) -> bool {
        matches!(self.saved, ToSave::Picture)
    }

    /// Someone has named a file: its ending says in which form a picture is written.
    fn path_chosen(&mut self, form: &mut PictureForm) {
        self.is_path_made = false;
        if self.is_picture() {
            form.is_svg = has_extension(Path::new(self.path.trim()), "svg");
        }
    }

    fn browse(&mut self, ctx: &egui::Context) {
        let path = PathBuf::from(self.path.trim());
        let title = format!("Save {}", self.name);
        self.browsing = Some(Job::start("file dialog", ctx, move |_| {
            let dialog = rfd::FileDialog::new().set_title(title);
            let dialog = match path.parent() {
                Some(directory) => dialog.set_directory(directory),
                None => dialog,
            };
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            dialog.set_file_name(name.unwrap_or_default()).save_file()
        }));
    }

    /// Writes what is there now to the path that is named.
    pub fn save(&mut self, ctx: &egui::Context, contents: Arc<ExportContents>, reports: &[&Path]) {
        let path = PathBuf::from(self.path.trim());
        let reports: Vec<PathBuf> = reports.iter().map(|report| (*report).to_owned()).collect();
        let may_replace = self.is_existing;
        self.failure = None;
        let work = move |_: &_| write(&path, &contents, may_replace, &reports);
        self.writing = Some(Job::start("writing", ctx, work));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// The dialog and its form after a file was chosen in the dialog of the system.
    fn browsed(
        saved: ToSave,
        mut form: PictureForm,
        path: &'static str,
    ) -> (SaveDialog, PictureForm) {
        let ctx = egui::Context::default();
        let mut dialog = SaveDialog::new(saved, "liveness curve", Path::new("curve.png"));
        let job = Job::start("test", &ctx, move |_| Some(PathBuf::from(path)));
        dialog.browsing = Some(job);
        let started = Instant::now();
        while dialog.browsing.is_some() {
            assert!(started.elapsed() < Duration::from_secs(30), "the job ends");
            assert_eq!(dialog.poll(&mut form), None);
            std::thread::sleep(Duration::from_millis(1));
        }
        (dialog, form)
    }

    #[test]
    fn the_ending_of_a_chosen_file_says_the_form_of_a_picture() {
        let (dialog, form) = browsed(ToSave::Picture, PictureForm::default(), "/out/curve.SVG");
        assert_eq!((&*dialog.path, form.is_svg, form.extension()), ("/out/curve.SVG", true, "svg"));
        assert!(dialog.is_existing && !dialog.is_path_made);
        let (_, form) = browsed(ToSave::Picture, form, "/out/curve.png");
        assert!(!form.is_svg);
    }

    #[test]
    fn the_file_of_a_table_says_nothing_of_pictures() {
        let sheet = crate::ui::command::Sheet {
            rows: Arc::new(crate::ui::widget::rows::Listed::<u8> {
                rows: Vec::new(),
                cell: |_, _| crate::ui::widget::rows::CellValue::Nothing,
            }),
            columns: Vec::new(),
            order: Arc::default(),
        };
        let form = PictureForm { is_svg: true, ..PictureForm::default() };
        let table = ToSave::Ready(Arc::new(ExportContents::Table(sheet)));
        let (_, form) = browsed(table, form, "/out/table.csv");
        assert!(form.is_svg, "as it was chosen for the next picture");
    }
}
