//! Writes an exported picture, table or page into a file, never into a report: to a temporary file beside it that is renamed,
//! so that nobody sees half of it and an existing file is not lost before the new one is complete.

use eframe::egui::{self, ColorImage};
use image::{ExtendedColorType, ImageEncoder as _, ImageError, codecs::png::PngEncoder};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::raster::image_of;
use super::scene::Scene;
use super::svg::document;
use super::text_of;
use crate::files::{directory_of, is_below, new_file};
use crate::half_written::HalfWritten;
use crate::html::HtmlPage;
use crate::progress::Progress;
use crate::ui::command::Sheet;

pub enum ExportContents {
    /// A picture, and how many pixels a point it has as PNG.
    Picture(Scene, f32),
    Table(Sheet),
    /// Runs as one HTML file.
    Page(HtmlPage),
}

#[derive(Debug)]
pub struct WriteFailure {
    pub message: String,
    /// Whether the file is there and may be replaced when the user says so.
    pub is_existing: bool,
}

impl WriteFailure {
    /// A failure that asking again does not mend.
    pub fn other(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_existing: false }
    }
}

/// Writes a file; returns its path. Fails when it is there already and may not be replaced, or when it
/// would lie in a report's directory.
pub fn write(
    path: &Path,
    contents: &ExportContents,
    may_replace: bool,
    reports: &[PathBuf],
) -> Result<PathBuf, WriteFailure> {
    let shown = path.display();
    if reports.iter().any(|report| is_below(path, report)) {
        return Err(WriteFailure::other(format!(
            "{shown} lies in the directory of a run, into which nothing is written: choose another"
        )));
    }
    let bytes = match contents {
        ExportContents::Table(sheet) => text_of(sheet).into_bytes(),
        ExportContents::Page(page) => page.write(&Progress::default()).into_bytes(),
        ExportContents::Picture(scene, _) if has_extension(path, "svg") => {
            document(scene).into_bytes()
        }
        ExportContents::Picture(..) if !has_extension(path, "png") => {
            return Err(WriteFailure::other(format!("{shown} ends neither in .png nor in .svg")));
        }
        ExportContents::Picture(scene, scale) => {
            let image = image_of(scene, *scale).map_err(WriteFailure::other)?;
            png(&image).map_err(|error| {
                WriteFailure::other(format!("The picture could not be written as PNG: {error}"))
            })?
        }
    };
    let failed = |error: &std::io::Error| {
        WriteFailure::other(format!("{shown} could not be written: {error}"))
    };
    // A link stays, and what it leads to is replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = directory_of(&target);
    let made = HalfWritten::temporary(|| new_file(&directory));
    let (mut file, _half_written) = made.map_err(|error| failed(&error))?;
    file.write_all(&bytes).and_then(|()| file.flush()).map_err(|error| failed(&error))?;
    let renamed = if may_replace { file.persist(&target) } else { file.persist_noclobber(&target) };
    renamed.map_err(|error| match error.error.kind() {
        ErrorKind::AlreadyExists => {
            WriteFailure { message: format!("{shown} is there already"), is_existing: true }
        }
        _ => failed(&error.error),
    })?;
    Ok(path.to_owned())
}

pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

pub fn png(image: &ColorImage) -> Result<Vec<u8>, ImageError> {
    let (width, height) = (image.width() as u32, image.height() as u32);
    let pixels = image.pixels.iter().flat_map(egui::Color32::to_srgba_unmultiplied);
    let (pixels, mut bytes): (Vec<u8>, _) = (pixels.collect(), Vec::new());
    PngEncoder::new(&mut bytes).write_image(&pixels, width, height, ExtendedColorType::Rgba8)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::{Color32, Pos2, Rect, Vec2};
    use std::collections::HashMap;

    #[test]
    fn files_are_not_replaced_unasked_and_reports_stay_as_they_are() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("picture.png");
        let rect = Rect::from_min_size(Pos2::ZERO, Vec2::new(3.0, 2.0));
        let scene = Scene {
            shapes: Vec::new(),
            picture: rect,
            caption: Vec::new(),
            whole: rect,
            ground: Color32::GREEN,
            textures: HashMap::new(),
        };
        let contents = ExportContents::Picture(scene, 2.0);
        write(&path, &contents, false, &[]).expect("written");
        let read = image::open(&path).expect("a PNG").into_rgb8();
        assert_eq!((read.dimensions(), read.get_pixel(2, 1).0), ((6, 4), [0, 255, 0]));
        let failure = write(&path, &contents, false, &[]).expect_err("it is there");
        assert!(failure.is_existing, "{failure:?}");
        write(&path, &contents, true, &[]).expect("replaced");
        let files = std::fs::read_dir(directory.path()).expect("a directory").count();
        assert_eq!(files, 1, "no temporary file is left");
        let drawing = directory.path().join("picture.SVG");
        write(&drawing, &contents, false, &[]).expect("written");
        assert!(std::fs::read_to_string(&drawing).expect("a file").starts_with("<svg "));
        let failure = write(&directory.path().join("a.jpg"), &contents, false, &[]);
        assert!(failure.expect_err("no such format").message.contains("neither"));
        let other = directory.path().join("new.png");
        let failure =
            write(&other, &contents, true, &[directory.path().to_owned()]).expect_err("a report");
        assert!(failure.message.contains("directory of a run"), "{failure:?}");
        let absent = directory.path().join("absent/new.png");
        let failure = write(&absent, &contents, false, &[]).expect_err("no directory");
        assert!(!failure.is_existing && failure.message.contains("absent"), "{failure:?}");
    }
}
