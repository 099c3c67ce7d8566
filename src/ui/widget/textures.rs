//! What textures show: a copy of a picture of the window needs their pixels, which only the graphics card has.

use eframe::egui::{self, ColorImage, Id, TextureId};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

type Known = HashMap<TextureId, Weak<ColorImage>>;

fn key() -> Id {
    Id::unique("what textures show")
}

/// Remembers what a texture shows while the image lives.
pub fn remember(ctx: &egui::Context, texture: TextureId, image: &Arc<ColorImage>) {
    ctx.data_mut(|data| {
        let known: &mut Known = data.get_temp_mut_or_default(key());
        known.retain(|_, image| image.strong_count() > 0);
        known.insert(texture, Arc::downgrade(image));
    });
}

/// What a texture shows.
pub fn shown_by(ctx: &egui::Context, texture: TextureId) -> Option<Arc<ColorImage>> {
    let known: Option<Weak<ColorImage>> =
        ctx.data_mut(|data| data.get_temp_mut_or_default::<Known>(key()).get(&texture).cloned());
    known?.upgrade()
}
