//! The content of an exported picture: the shapes of a pass within a rectangle, what their textures show, and a
//! caption.

use eframe::egui::epaint::ClippedShape;
use eframe::egui::{self, Color32, ColorImage, Id, LayerId, Mesh, Order, Rect, Shape, TextureId};
use std::collections::HashMap;
use std::sync::Arc;

use super::caption::{CaptionSubject, caption};
use crate::ui::theme::Tokens;
use crate::ui::widget::textures::shown_by;

pub struct Scene {
    pub shapes: Vec<ClippedShape>,
    /// What the shapes above are clipped to.
    pub picture: Rect,
    pub caption: Vec<ClippedShape>,
    /// The picture with its margin and its caption.
    pub whole: Rect,
    pub ground: Color32,
    pub textures: HashMap<TextureId, Arc<ColorImage>>,
}

/// Around the picture and its caption, points.
const MARGIN: f32 = 12.0;

impl Scene {
    /// What has been painted in a rectangle in this pass, with a caption below.
    pub fn take(ctx: &egui::Context, rect: Rect, subject: &CaptionSubject) -> Self {
        let painted_in = |layer: LayerId| {
            ctx.graphics(|layers| {
                let list = layers.get(layer);
                list.map_or(Vec::new(), |list| list.all_entries().cloned().collect::<Vec<_>>())
            })
        };
        let mut shapes = painted_in(LayerId::background());
        let tokens = Tokens::of(ctx.theme());
        shapes.retain(|clipped| {
            // The ground of the page, in place of which the picture has its own.
            if let Shape::Rect(ground) = &clipped.shape
                && ground.fill == tokens.page
                && ground.rect.contains_rect(rect)
            {
                return false;
            }
            let bounds = clipped.shape.visual_bounding_rect();
            let clip = clipped.clip_rect.intersect(rect);
            clip.is_positive() && (bounds.intersects(clip) || !bounds.is_positive())
        });
        let mut textures = HashMap::new();
        for clipped in &shapes {
            each_mesh(&clipped.shape, &mut |mesh| {
                if let Some(image) = shown_by(ctx, mesh.texture_id) {
                    textures.insert(mesh.texture_id, image);
                }
            });
        }
        let layer = LayerId::new(Order::Background, Id::unique("caption of an export"));
        let below = caption(ctx, layer, rect.expand2(egui::vec2(0.0, MARGIN)), subject);
        let whole = rect.union(below).expand(MARGIN);
        // Cards stand out of a whole page.
        let ground = if subject.is_page { tokens.page } else { tokens.surface };
        Self { shapes, picture: rect, caption: painted_in(layer), whole, ground, textures }
    }
}

fn each_mesh(shape: &Shape, visit: &mut impl FnMut(&Mesh)) {
    match shape {
        Shape::Mesh(mesh) => visit(mesh),
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| each_mesh(shape, visit)),
        _ => {}
    }
}
