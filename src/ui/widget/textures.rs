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

/// How many pictures came to the screen in a frame, and whether others must wait for the next frame.
#[derive(Clone, Copy, Default)]
struct FramePictures {
    frame: u64,
    came: u32,
    are_waiting: bool,
}

fn of_frame<T>(ctx: &egui::Context, read: impl FnOnce(&mut FramePictures) -> T) -> T {
    let key = Id::unique("pictures that came in this frame");
    ctx.data_mut(|data| read(data.get_temp_mut_or_default(key)))
}

/// Whether one more picture may take the place of another in this frame: the one before is let go of with all that was
/// known of it, which takes a part of a frame for each of eight. Else there will be another frame.
pub fn has_room_in_frame(ctx: &egui::Context) -> bool {
    let frame = ctx.cumulative_frame_nr();
    let has_room = of_frame(ctx, |pictures| {
        if pictures.frame != frame {
            *pictures = FramePictures { frame, ..FramePictures::default() };
        }
        let has_room = pictures.came < MOST_PER_FRAME;
        pictures.came += u32::from(has_room);
        pictures.are_waiting |= !has_room;
        has_room
    });
    if !has_room {
        ctx.request_repaint();
    }
    has_room
}

/// Whether finished pictures still wait to come to the screen.
pub fn are_waiting(ctx: &egui::Context) -> bool {
    let drawn = ctx.cumulative_frame_nr();
    of_frame(ctx, |pictures| pictures.are_waiting && pictures.frame.saturating_add(1) >= drawn)
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
        assert!(are_waiting(&ctx));
        ctx.run_ui(egui::RawInput::default(), |_| ()).drop_without_applying_deltas();
        assert!(!are_waiting(&ctx));
    }
}
