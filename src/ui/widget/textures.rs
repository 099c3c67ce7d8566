//! The pixels of textures: a copy of a picture of the window needs their pixels, which only the graphics card has.

use eframe::egui::{self, ColorImage, Id, TextureId};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

type KnownTextures = HashMap<TextureId, Weak<ColorImage>>;

fn key() -> Id {
    Id::unique("what textures show")
}

/// Pictures that take the places of others in one frame.
const MOST_PER_FRAME: u32 = 2;

/// Whether one more picture may take the place of another in this frame: the one before is let go of with all that was
/// known of it, which takes a part of a frame for each of eight. Else there will be another frame.
pub fn has_room_in_frame(ctx: &egui::Context) -> bool {
    let frame = ctx.cumulative_frame_nr();
    let key = Id::unique("pictures that came in this frame");
    let has_room = ctx.data_mut(|data| {
        let (last, count): &mut (u64, u32) = data.get_temp_mut_or_default(key);
        if *last != frame {
            (*last, *count) = (frame, 0);
        }
        *count = count.saturating_add(1);
        *count <= MOST_PER_FRAME
    });
    if !has_room {
        ctx.request_repaint();
    }
    has_room
}

/// Remembers what a texture shows while the image lives.
pub fn remember(ctx: &egui::Context, texture: TextureId, image: &Arc<ColorImage>) {
    ctx.data_mut(|data| {
        let known: &mut KnownTextures = data.get_temp_mut_or_default(key());
        known.retain(|_, image| image.strong_count() > 0);
        known.insert(texture, Arc::downgrade(image));
    });
}

pub fn shown_by(ctx: &egui::Context, texture: TextureId) -> Option<Arc<ColorImage>> {
    let known: Option<Weak<ColorImage>> = ctx.data_mut(|data| {
        data.get_temp_mut_or_default::<KnownTextures>(key()).get(&texture).cloned()
    });
    known?.upgrade()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_pictures_some_come_in_each_frame() {
        let ctx = egui::Context::default();
        let frame = || {
            let mut came = 0;
            let output = ctx.run_ui(egui::RawInput::default(), |ui| {
                came = (0..8).filter(|_| has_room_in_frame(ui.ctx())).count();
            });
            output.drop_without_applying_deltas();
            came
        };
        assert_eq!([(); 3].map(|()| frame()), [MOST_PER_FRAME as usize; 3]);
    }
}
