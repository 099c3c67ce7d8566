//! A sentence of advice: what stands in it between backticks is code, drawn as such, and a button copies it.

use eframe::egui::{self, Button, Label, RichText, Sense, Vec2};

use crate::text::clean;
use crate::ui::icon::Icon;

/// Draws it in the width that there is.
pub fn sentence_ui(ui: &mut egui::Ui, sentence: &str) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for (part, is_code) in parts(sentence) {
            if !is_code {
                ui.add(Label::new(clean(part)).wrap());
                continue;
            }
            let code = RichText::new(clean(part)).code();
            let label = ui.add(Label::new(code).wrap().sense(Sense::click()));
            let copy = Button::new(Icon::Copy.atom()).frame_when_inactive(false);
            let copy = ui.add(copy.min_size(Vec2::ZERO).small());
            let copy = copy.accessible_name(format!("Copy {}", clean(part)));
            let is_copied = copy.on_hover_text("Copy").clicked();
            if label.on_hover_text("Click to copy").clicked() || is_copied {
                ui.ctx().copy_text(part.to_owned());
            }
        }
    });
}

/// The parts of a sentence, in order, and whether each is code. A backtick without another is text.
fn parts(sentence: &str) -> Vec<(&str, bool)> {
    let mut parts = Vec::new();
    let mut rest = sentence;
    while let Some((text, code, behind)) = rest.split_once('`').and_then(|(text, behind)| {
        let (code, behind) = behind.split_once('`')?;
        Some((text, code, behind))
    }) {
        parts.extend([(text, false), (code, true)]);
        rest = behind;
    }
    parts.push((rest, false));
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stands_between_backticks() {
        assert_eq!(
            parts("Run `a b`, then `c`."),
            [("Run ", false), ("a b", true), (", then ", false), ("c", true), (".", false)]
        );
        assert_eq!(parts("`a`"), [("a", true)]);
        assert_eq!(parts("one ` alone"), [("one ` alone", false)]);
        assert!(parts("").is_empty());
    }
}
