//! The tree of what debug contexts say, as several pages show it.

use eframe::egui::{self, CollapsingHeader, RichText};

use crate::analysis::program::debug_tree::{DebugNode, DebugTree};
use crate::text::{clean, shortened};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::widget::column_widths::{fitted, text_width};
use crate::ui::widget::inspector::{fact_ui, words_ui};

/// The layer whose contexts are open at first, as the outermost one is.
const POPLIBS: &str = "PopLibs";
/// Around layer and value in the title of a context, with the triangle before it, points.
const AROUND_TITLE: f32 = 38.0;
/// Longest name.
const NAME: usize = 300;

/// Draws all contexts, the outermost first.
pub fn debug_tree_ui(ui: &mut egui::Ui, tree: &DebugTree) {
    for (level, node) in tree.contexts.iter().enumerate() {
        context_ui(ui, level, node);
    }
    if tree.is_cut {
        ui.weak("The file holds more than is shown");
    }
}

/// A context with what it says below it, where that is the outermost or a call of PopLibs; of others when it is opened.
fn context_ui(ui: &mut egui::Ui, level: usize, node: &DebugNode) {
    let tokens = *Tokens::now(ui);
    let (font, value) = (fonts::semibold(size::TABLE), clean(&node.value));
    let value = shortened(&value, NAME);
    let before = text_width(ui, &node.key, &fonts::regular(size::TABLE));
    let room = ui.available_width() - before - AROUND_TITLE;
    let (shown, _) = fitted(ui, &value, &font, room);
    let title = fonts::line([
        (&*format!("{}  ", clean(&node.key)), fonts::regular(size::TABLE), tokens.third_text),
        (&*shown, font, tokens.text),
    ]);
    if node.children.is_empty() {
        ui.label(title);
        return;
    }
    let is_open = level == 0 || node.key == POPLIBS;
    let header = CollapsingHeader::new(title).id_salt(("context", level)).default_open(is_open);
    header.show(ui, |ui| node.children.iter().for_each(|child| node_ui(ui, child)));
}

fn node_ui(ui: &mut egui::Ui, node: &DebugNode) {
    if !node.value.is_empty() || node.children.is_empty() {
        let (key, value) = (clean(&node.key), clean(&node.value));
        let (key, value) = (shortened(&key, NAME), shortened(&value, NAME));
        let needed = text_width(ui, &key, &fonts::regular(size::TABLE))
            + text_width(ui, &value, &fonts::semibold(size::BODY));
        if needed + 16.0 <= ui.available_width() {
            fact_ui(ui, &key, &value);
        } else {
            ui.label(RichText::new(&*key).size(size::TABLE).weak());
            words_ui(ui, fonts::number(&*value));
        }
    } else {
        ui.label(RichText::new(shortened(&node.key, NAME)).size(size::TABLE).weak());
    }
    if !node.children.is_empty() {
        ui.indent(&node.key, |ui| node.children.iter().for_each(|child| node_ui(ui, child)));
    }
}
