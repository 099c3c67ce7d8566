//! Hatching as a texture that repeats: one quad for an area, however large.

use eframe::egui::{self, Color32, ColorImage, Mesh, Rect, TextureHandle, TextureOptions};
use std::sync::Arc;

use super::textures;

/// Side of the pattern, pixels.
const SIDE: usize = 8;

/// Two patterns that eyes tell apart without colours: lines that rise, and lines that fall.
#[derive(Clone, Default)]
pub struct Hatching {
    /// Each with its image, which a copy of a picture needs.
    patterns: Option<[(TextureHandle, Arc<ColorImage>); 2]>,
}

pub struct Hatched {
    mesh: Mesh,
    per_pattern: f32,
}

impl Hatching {
    /// Begins to hatch with rising lines, in patterns that all pictures share.
    pub fn begin_shared(ctx: &egui::Context) -> Hatched {
        let id = egui::Id::unique("hatching of pictures");
        let mut shared: Self = ctx.data(|data| data.get_temp(id)).unwrap_or_default();
        let is_new = shared.patterns.is_none();
        let hatched = shared.begin(ctx, false);
        if is_new {
            ctx.data_mut(|data| data.insert_temp(id, shared));
        }
        hatched
    }

    /// Begins to hatch with rising lines, or with falling ones.
    pub fn begin(&mut self, ctx: &egui::Context, is_falling: bool) -> Hatched {
        let patterns = self.patterns.get_or_insert_with(|| {
            [false, true].map(|is_falling| {
                let name = if is_falling { "falling hatch" } else { "rising hatch" };
                let image = Arc::new(pattern(is_falling));
                let options = TextureOptions::NEAREST_REPEAT;
                let texture = ctx.load_texture(name, Arc::clone(&image), options);
                textures::remember(ctx, texture.id(), &image);
                (texture, image)
            })
        });
        let [(rising, _), (falling, _)] = patterns;
        let texture = if is_falling { falling.id() } else { rising.id() };
        let per_pattern = SIDE as f32 / ctx.pixels_per_point();
        Hatched { mesh: Mesh::with_texture(texture), per_pattern }
    }
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

fn pattern(is_falling: bool) -> ColorImage {
    let mut image = ColorImage::filled([SIDE, SIDE], Color32::TRANSPARENT);
    for y in 0..SIDE {
        for x in 0..SIDE {
            let place = if is_falling { x + SIDE - y } else { x + y };
            let alpha = match place % SIDE {
                0 => 255,
                1 | 7 => 90,
                _ => continue,
            };
            image[(x, y)] = Color32::from_white_alpha(alpha);
        }
    }
    image
}
