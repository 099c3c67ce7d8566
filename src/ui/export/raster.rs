//! A picture of the window in pixels, drawn from its SVG with the window's own fonts.

use eframe::egui::{Color32, ColorImage};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

use super::fonts::Faces;
use super::scene::Scene;
use super::svg::drawing;

/// Widest and highest picture, pixels.
const MOST: f32 = 16_384.0;

/// Draws a scene with so many pixels a point.
pub fn image_of(scene: &Scene, scale: f32) -> Result<ColorImage, String> {
    let failed = |error: &dyn std::fmt::Display| format!("The picture could not be drawn: {error}");
    let options =
        Options { fontdb: Arc::clone(&Faces::of_window().database), ..Options::default() };
    let tree = Tree::from_str(&drawing(scene), &options).map_err(|error| failed(&error))?;
    let pixels = |points: f32| (points * scale).ceil().clamp(1.0, MOST) as u32;
    let size = tree.size();
    let mut pixmap = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| failed(&"it is too large"))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    let color = |pixel: &resvg::tiny_skia::PremultipliedColorU8| {
        Color32::from_rgba_premultiplied(pixel.red(), pixel.green(), pixel.blue(), pixel.alpha())
    };
    let size = [pixmap.width() as usize, pixmap.height() as usize];
    Ok(ColorImage::new(size, pixmap.pixels().iter().map(color).collect()))
}
