//! Hatching as a texture that repeats: one quad for an area, however large.

use eframe::egui::{self, Color32, ColorImage, Mesh, Rect, TextureHandle, TextureOptions};
use std::sync::Arc;

use super::textures;

/// Side of the pattern, pixels.
const SIDE: usize = 8;

/// The pattern of a window, with its image, which a copy of a picture needs.
type Pattern = (TextureHandle, Arc<ColorImage>);

/// Areas that are hatched together.
pub struct Hatched {
    mesh: Mesh,
    per_pattern: f32,
}

/// Begins to hatch with rising lines, in a pattern that all pictures share.
pub fn begin(ctx: &egui::Context) -> Hatched {
    let id = egui::Id::unique("hatching of pictures");
    let kept: Option<Pattern> = ctx.data(|data| data.get_temp(id));
    let (texture, _) = kept.unwrap_or_else(|| {
        let image = Arc::new(pattern());
        let options = TextureOptions::NEAREST_REPEAT;
        let texture = ctx.load_texture("rising hatch", Arc::clone(&image), options);
        textures::remember(ctx, texture.id(), &image);
        let pattern = (texture, image);
        ctx.data_mut(|data| data.insert_temp(id, pattern.clone()));
        pattern
    });
    let per_pattern = SIDE as f32 / ctx.pixels_per_point();
    Hatched { mesh: Mesh::with_texture(texture.id()), per_pattern }
}

impl Hatched {
    pub fn add(&mut self, rect: Rect, color: Color32) {
        let uv = |at: egui::Pos2| egui::pos2(at.x / self.per_pattern, at.y / self.per_pattern);
        self.mesh.add_rect_with_uv(rect, Rect::from_min_max(uv(rect.min), uv(rect.max)), color);
    }

    pub fn paint(self, painter: &egui::Painter) {
        painter.add(egui::Shape::mesh(self.mesh));
    }
}

fn pattern() -> ColorImage {
    let mut image = ColorImage::filled([SIDE, SIDE], Color32::TRANSPARENT);
    for y in 0..SIDE {
        for x in 0..SIDE {
            let alpha = match (x + y) % SIDE {
                0 => 255,
                1 | 7 => 90,
                _ => continue,
            };
            image[(x, y)] = Color32::from_white_alpha(alpha);
        }
    }
    image
}
