//! Takes pictures and tables out of the window: to the clipboard, or into a file that the user names.

mod caption;
mod capture;
mod dialog;
mod fonts;
mod raster;
mod scene;
mod svg;
mod svg_path;
mod write;

use eframe::egui::{self, ColorImage};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::command::{ExportRequest, ExportSource, ExportTo, Sheet};
use super::job::Job;
use super::widget::exports::Exportable;
use crate::html::HtmlPage;
use crate::text::{grouped, shortened};
use crate::ui::widget::rows::csv;
pub use caption::{CaptionSubject, SubjectRun};
pub use capture::PASSES;
use capture::PictureCapture;
use dialog::{DialogOutcome, PictureForm, SaveDialog, ToSave};
pub use scene::Scene;
pub use write::{ExportContents, write};

/// The name under which the page as a whole is exported.
pub const WHOLE_PAGE: &str = "whole page";
/// Longest part of the name of a file that is made of names of reports.
const REPORTS_IN_NAME: usize = 60;

/// An export on its way.
#[derive(Default)]
pub struct Exporter {
    capture: Option<(PictureCapture, ExportTo)>,
    drawing: Option<(String, Job<Result<ColorImage, String>>)>,
    dialog: Option<SaveDialog>,
    copying: Option<Job<String>>,
    form: PictureForm,
    /// Where the last file went; the next one goes there too.
    directory: Option<PathBuf>,
    /// What came of the last export, for the status bar.
    pub notice: Option<String>,
}

impl Exporter {
    /// Whether anything is on its way or asked for.
    pub fn is_busy(&self) -> bool {
        let is_drawing = self.capture.is_some() || self.drawing.is_some();
        is_drawing || self.dialog.is_some() || self.copying.is_some()
    }

    pub fn start(&mut self, ctx: &egui::Context, about: &CaptionSubject, export: ExportRequest) {
        self.notice = None;
        match (export.what, export.to) {
            (ExportSource::Picture, ExportTo::Clipboard) => {
                self.take(ctx, export.name, ExportTo::Clipboard);
            }
            (ExportSource::Picture, ExportTo::File) => {
                self.ask(about, &export.name, ToSave::Picture);
            }
            (ExportSource::Table(sheet), ExportTo::Clipboard) => {
                self.copying = Some(Job::start("Copying", ctx, move |_| text_of(&sheet)));
            }
            (ExportSource::Table(sheet), ExportTo::File) => {
                let table = Arc::new(ExportContents::Table(sheet));
                self.ask(about, &export.name, ToSave::Ready(table));
            }
        }
    }

    /// Asks which picture of the page shall be taken out: the largest, unless told otherwise.
    pub fn ask_for_picture(&mut self, ctx: &egui::Context, about: &CaptionSubject) {
        let name = largest_picture(&Exportable::now(ctx));
        self.ask(about, name.as_deref().unwrap_or(WHOLE_PAGE), ToSave::Picture);
    }

    /// Asks where the runs shall be written to as one HTML file.
    pub fn ask_for_page(&mut self, about: &CaptionSubject, page: HtmlPage) {
        self.notice = None;
        self.ask(about, "report", ToSave::Ready(Arc::new(ExportContents::Page(page))));
    }

    fn ask(&mut self, about: &CaptionSubject, name: &str, saved: ToSave) {
        let extension = match &saved {
            ToSave::Ready(contents) => match **contents {
                ExportContents::Page(_) => "html",
                ExportContents::Picture(..) | ExportContents::Table(_) => "csv",
            },
            ToSave::Picture => self.form.extension(),
        };
        let path = self.directory().join(file_name(about, name, extension));
        self.dialog = Some(SaveDialog::new(saved, name, &path));
    }

    fn directory(&self) -> PathBuf {
        let directory = self.directory.clone().or_else(dirs::download_dir).or_else(dirs::home_dir);
        directory.unwrap_or_default()
    }

    fn take(&mut self, ctx: &egui::Context, name: String, to: ExportTo) {
        if self.capture.is_none() {
            self.capture = Some((PictureCapture::start(ctx, name, self.form.theme), to));
        }
    }

    /// Takes what has come, and draws the dialog. `about` is what captions say of the reports, in whose directories
    /// nothing is written.
    pub fn ui(&mut self, ui: &egui::Ui, about: &CaptionSubject, reports: &[&Path]) {
        self.take_picture(ui, about, reports);
        match Job::take(&mut self.copying) {
            Some(Ok(text)) => {
                let rows = grouped((text.lines().count() as u64).saturating_sub(1));
                ui.copy_text(text);
                self.notice = Some(format!("Copied {rows} rows to the clipboard"));
            }
            Some(Err(why)) => self.notice = Some(why),
            None => {}
        }
        self.dialog_ui(ui, about, reports);
    }

    fn dialog_ui(&mut self, ui: &egui::Ui, about: &CaptionSubject, reports: &[&Path]) {
        let directory = self.directory();
        let name_file =
            |name: &str, extension: &str| directory.join(file_name(about, name, extension));
        let is_busy = self.capture.is_some() || self.drawing.is_some();
        let Some(dialog) = &mut self.dialog else { return };
        match dialog.ui(ui, &mut self.form, is_busy, &name_file) {
            DialogOutcome::Open => {}
            DialogOutcome::Cancelled => self.dialog = None,
            DialogOutcome::Saved(path) => {
                self.notice =
                    Some(format!("Saved {}", shortened(&path.display().to_string(), 200)));
                self.directory = path.parent().map(Path::to_owned);
                self.dialog = None;
            }
            outcome @ (DialogOutcome::Copy | DialogOutcome::Write) => match &dialog.saved {
                ToSave::Ready(contents) => {
                    let contents = Arc::clone(contents);
                    dialog.save(ui.ctx(), contents, reports);
                }
                ToSave::Picture => {
                    let is_copied = matches!(outcome, DialogOutcome::Copy);
                    let to = if is_copied { ExportTo::Clipboard } else { ExportTo::File };
                    let name = dialog.name.clone();
                    self.take(ui.ctx(), name, to);
                }
            },
        }
    }

    fn take_picture(&mut self, ui: &egui::Ui, about: &CaptionSubject, reports: &[&Path]) {
        if let Some((_, job)) = &self.drawing
            && let Some(drawn) = job.poll()
        {
            let name = self.drawing.take().map(|(name, _)| name).unwrap_or_default();
            self.notice = Some(match drawn.flatten() {
                Ok(image) => {
                    ui.copy_image(image);
                    self.dialog = None;
                    format!("Copied the {name} to the clipboard")
                }
                Err(why) => why,
            });
        }
        let Some((capture, to)) = &mut self.capture else { return };
        let (name, to) = (capture.name.clone(), *to);
        let Some(taken) = capture.take(ui.ctx(), about) else { return };
        self.capture = None;
        let scale = self.form.scale;
        match (taken, to, &mut self.dialog) {
            (Ok(scene), ExportTo::File, Some(dialog)) => {
                dialog.save(ui.ctx(), Arc::new(ExportContents::Picture(scene, scale)), reports);
            }
            // The dialog was closed.
            (Ok(_), ExportTo::File, None) => {}
            (Ok(scene), ExportTo::Clipboard, _) => {
                let draw = move |_: &_| raster::image_of(&scene, scale);
                self.drawing = Some((name, Job::start("Copying", ui.ctx(), draw)));
            }
            (Err(why), _, Some(dialog)) => dialog.failure = Some(why),
            (Err(why), _, None) => self.notice = Some(why),
        }
    }
}

/// The name of the largest picture of the page; `None` where it has none.
pub fn largest_picture(page: &Exportable) -> Option<String> {
    let pictures = page.pictures.iter().filter(|(name, _)| name != WHOLE_PAGE);
    let largest = pictures.max_by(|(_, a), (_, b)| a.area().total_cmp(&b.area()));
    largest.map(|(name, _)| name.clone())
}

/// The picture of the page that has a name, as it was painted in this pass, with its caption; `None` where the page has
/// none.
pub fn scene_of(ctx: &egui::Context, about: &CaptionSubject, name: &str) -> Option<Scene> {
    let page = Exportable::now(ctx);
    let rect = page.place_of(name)?;
    Some(Scene::take(ctx, rect, &subject_of(about, &page, name)))
}

/// What the caption of a picture says, with what its page says of itself.
fn subject_of(about: &CaptionSubject, page: &Exportable, name: &str) -> CaptionSubject {
    let mut subject = CaptionSubject { name: name.to_owned(), ..about.clone() };
    if name == WHOLE_PAGE {
        subject.is_page = true;
        subject.name = subject.page.drain(..).collect::<Vec<_>>().join(", ");
    }
    subject.answer.clone_from(&page.answer);
    subject.page.extend(page.scope.clone());
    // What the caption has in its first line already, or twice.
    subject.page.retain(|part| !part.eq_ignore_ascii_case(name));
    let page = &subject.page;
    let is_new = |text: &String| !page.iter().any(|part| part.eq_ignore_ascii_case(text));
    subject.selection.retain(is_new);
    subject
}

/// The name of a file: the reports, what it shows, and what of it is selected where the name does not say so.
fn file_name(about: &CaptionSubject, name: &str, extension: &str) -> String {
    let reports: Vec<String> = about.runs.iter().map(|run| slug(&run.name)).collect();
    let reports = match &reports[..] {
        [] => "tilescope".to_owned(),
        [first, .., last] if reports.join("-").len() > REPORTS_IN_NAME => {
            format!("{first}-to-{last}")
        }
        all => all.join("-"),
    };
    let mut name = slug(name);
    if let Some(arena) = about.arena.as_deref().map(slug).filter(|_| name.contains("map")) {
        // "map of a tile" of tile 39 is "map-tile-39".
        let kind = arena.split('-').next().unwrap_or_default();
        for of_any in [format!("-of-a-{kind}"), format!("-of-an-{kind}")] {
            name = name.trim_end_matches(&of_any).to_owned();
        }
        if !name.contains(&arena) && !name.contains("all") {
            name = format!("{name}-{arena}");
        }
    }
    format!("{reports}-{name}.{extension}")
}

/// A text as a part of the name of a file.
fn slug(text: &str) -> String {
    let is_kept = |character: char| character.is_ascii_alphanumeric() || character == '.';
    let words = text.split(|character| !is_kept(character)).map(|word| word.trim_matches('.'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").to_lowercase().chars().take(REPORTS_IN_NAME).collect();
    if slug.is_empty() { "report".to_owned() } else { slug }
}

fn text_of(sheet: &Sheet) -> String {
    csv(&*sheet.rows, &sheet.columns, &sheet.order.rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::runs::Badge;

    #[test]
    fn files_are_named_after_reports_and_what_they_show() {
        let run = |name: &str| SubjectRun {
            badge: Badge::of(0, 0),
            name: name.to_owned(),
            verdict: None,
        };
        let mut about = CaptionSubject { runs: vec![run("amp-0.6")], ..CaptionSubject::default() };
        assert_eq!(file_name(&about, "liveness curve", "svg"), "amp-0.6-liveness-curve.svg");
        about.selection = vec!["tile 39".to_owned(), "step 82".to_owned()];
        about.arena = Some("Tile 39".to_owned());
        assert_eq!(file_name(&about, "map", "png"), "amp-0.6-map-tile-39.png");
        assert_eq!(file_name(&about, "map of a tile", "png"), "amp-0.6-map-tile-39.png");
        assert_eq!(file_name(&about, "map of all tiles", "png"), "amp-0.6-map-of-all-tiles.png");
        assert_eq!(file_name(&about, "map of tile 39", "png"), "amp-0.6-map-of-tile-39.png");
        about.runs.push(run("../a b/\u{202e}ü"));
        assert_eq!(file_name(&about, "curve", "png"), "amp-0.6-a-b-curve.png");
        about.runs = (0..8).map(|run_of| run(&format!("a-long-name-{run_of}"))).collect();
        assert_eq!(file_name(&about, "curve", "png"), "a-long-name-0-to-a-long-name-7-curve.png");
        assert_eq!(slug("..."), "report");
    }
}
