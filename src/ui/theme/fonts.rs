//! The fonts of the window, embedded: Inter in three weights, JetBrains Mono for code and raw names. Their digits are
//! all of one width. The fonts of egui have the characters that they lack.

use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{Color32, FontData, FontDefinitions, FontFamily, FontId, RichText};
use std::sync::Arc;

use crate::text::unbroken;

const MEDIUM: &str = "Inter-Medium";
const SEMIBOLD: &str = "Inter-SemiBold";

/// Sizes of text, points. Nothing is smaller than a caption.
pub mod size {
    pub const VERDICT: f32 = 26.0;
    pub const KEY_FIGURE: f32 = 20.0;
    pub const PAGE_TITLE: f32 = 18.0;
    pub const CARD_TITLE: f32 = 14.0;
    pub const BODY: f32 = 13.0;
    pub const TABLE: f32 = 12.0;
    pub const CAPTION: f32 = 11.0;
}

pub fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let fallbacks: Vec<String> =
        fonts.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    let mut add = |family: FontFamily, name: &str, data: &'static [u8]| {
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(data)));
        let mut names = vec![name.to_owned()];
        names.extend(fallbacks.iter().cloned());
        // It has signs that the fonts for text lack.
        names.push("Hack".to_owned());
        names.dedup();
        fonts.families.insert(family, names);
    };
    let regular = include_bytes!("../../../assets/fonts/Inter-Regular.otf");
    let medium = include_bytes!("../../../assets/fonts/Inter-Medium.otf");
    let semibold = include_bytes!("../../../assets/fonts/Inter-SemiBold.otf");
    let mono = include_bytes!("../../../assets/fonts/JetBrainsMono-Regular.ttf");
    add(FontFamily::Proportional, "Inter-Regular", regular);
    add(FontFamily::Name(MEDIUM.into()), MEDIUM, medium);
    add(FontFamily::Name(SEMIBOLD.into()), SEMIBOLD, semibold);
    add(FontFamily::Monospace, "JetBrainsMono-Regular", mono);
    fonts
}

/// The font of a family for pictures that bring their fonts: the letters of English as WOFF2, see
/// `scripts/subset-fonts.py`.
pub fn of_pictures(family: &FontFamily) -> &'static [u8] {
    match family {
        FontFamily::Proportional => include_bytes!("../../../assets/fonts/Inter-Regular.woff2"),
        FontFamily::Monospace => {
            include_bytes!("../../../assets/fonts/JetBrainsMono-Regular.woff2")
        }
        FontFamily::Name(name) if **name == *MEDIUM => {
            include_bytes!("../../../assets/fonts/Inter-Medium.woff2")
        }
        FontFamily::Name(_) => include_bytes!("../../../assets/fonts/Inter-SemiBold.woff2"),
    }
}

pub fn regular(size: f32) -> FontId {
    FontId::proportional(size)
}

pub fn medium(size: f32) -> FontId {
    FontId::new(size, FontFamily::Name(MEDIUM.into()))
}

pub fn semibold(size: f32) -> FontId {
    FontId::new(size, FontFamily::Name(SEMIBOLD.into()))
}

/// A line of texts, each in its font and color.
pub fn line<'a>(parts: impl IntoIterator<Item = (&'a str, FontId, Color32)>) -> LayoutJob {
    let mut job = LayoutJob::default();
    for (text, font, color) in parts {
        job.append(text, 0.0, TextFormat::simple(font, color));
    }
    job
}

/// A number, or what else stands out of a text of its size. No line ends between a value and its unit.
pub fn number(text: impl Into<String>) -> RichText {
    RichText::new(unbroken(&text.into())).font(semibold(size::TABLE))
}

pub fn card_title(text: impl Into<String>) -> RichText {
    RichText::new(text).font(semibold(size::CARD_TITLE))
}

/// A caption, a unit, what explains a figure. No line ends between a value and its unit.
pub fn caption(text: impl Into<String>) -> RichText {
    RichText::new(unbroken(&text.into())).font(regular(size::CAPTION))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui;

    /// Every sign that the window writes beside letters and digits.
    const SIGNS: &str = "×÷≠✓★▲▼−→←↑↓⇄…·–—•‹›«»≤≥≈∞µ¹²³⁰⁴⁶°±“”‘’▴▾";

    #[test]
    fn every_sign_has_a_glyph_in_each_weight() {
        let context = egui::Context::default();
        context.set_fonts(definitions());
        let mut output = context.run_ui(egui::RawInput::default(), |ui| {
            let fonts = [regular(13.0), medium(13.0), semibold(13.0)];
            ui.fonts_mut(|all| {
                for font in &fonts {
                    for sign in SIGNS.chars() {
                        assert!(all.has_glyph(font, sign), "{sign} in {font:?}");
                    }
                }
            });
        });
        output.textures_delta.clear();
    }

    #[test]
    fn digits_have_one_width() {
        let context = egui::Context::default();
        context.set_fonts(definitions());
        let mut output = context.run_ui(egui::RawInput::default(), |ui| {
            for font in [regular(12.0), medium(12.0), semibold(12.0), FontId::monospace(12.0)] {
                let widths: Vec<f32> = ui.fonts_mut(|all| {
                    ('0'..='9').map(|digit| all.glyph_width(&font, digit)).collect()
                });
                let spread =
                    widths.iter().fold(0.0_f32, |most, width| most.max((width - widths[0]).abs()));
                assert!(spread < 0.02, "{font:?}: {widths:?}");
            }
        });
        output.textures_delta.clear();
    }
}
