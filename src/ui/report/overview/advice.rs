//! The best pieces of advice: what to do, how much of what is over it covers, what it costs, how it is written.

use eframe::egui::{self, Label, RichText, Vec2};

use crate::run::{Advice, Verdict};
use crate::text::shortened;
use crate::ui::icon::Icon;
use crate::ui::theme::{Tokens, card_frame, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bar::share_ui;
use crate::ui::widget::exports::exportable;
use crate::ui::widget::sign::numbered_disc;

/// Room for how much is covered, beside its bar: `under 1 to 74 %`, points.
const SHARES: f32 = 112.0;
/// Longest text.
const TEXT: usize = 200;

/// Draws a piece in the space that is there.
pub fn piece_ui(ui: &mut egui::Ui, number: usize, advice: &Advice, verdict: Option<&Verdict>) {
    let tokens = *Tokens::now(ui);
    ui.spacing_mut().item_spacing = Vec2::new(8.0, 4.0);
    let card = card_frame(&tokens).show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        ui.horizontal_top(|ui| {
            let (rect, _) = ui.allocate_exact_size(Vec2::splat(24.0), egui::Sense::hover());
            numbered_disc(ui.painter(), rect.center(), number, &tokens);
            let title = RichText::new(headline(advice)).font(fonts::semibold(13.0));
            ui.add(Label::new(title).wrap()).on_hover_text(shortened(&advice.text, TEXT));
        });
        if let Some(how) = advice.how.first() {
            let bottom = egui::Layout::bottom_up(egui::Align::Min);
            ui.with_layout(bottom, |ui| {
                code_ui(ui, if how.code.is_empty() { &how.text } else { &how.code });
                ui.with_layout(egui::Layout::top_down(egui::Align::Min), |ui| {
                    saving_ui(ui, advice, verdict);
                });
            });
        } else {
            saving_ui(ui, advice, verdict);
        }
    });
    exportable(ui, &format!("{number}: {}", advice.title), card.response.rect);
}

/// The technique with the value to try, and of several devices the one that it is for:
/// `Lower availableMemoryProportion: 0.25 (now 0.6)`.
fn headline(advice: &Advice) -> String {
    let title = advice.title;
    let of = advice.device_name.as_ref().map_or(String::new(), |name| format!(", {name}"));
    let Some(suggested) = advice.proposal.suggested else { return format!("{title}{of}") };
    let now = advice.proposal.now_text().map_or(String::new(), |now| format!(" (now {now})"));
    format!("{title}: {suggested}{now}{of}")
}

/// How much of what is over it covers, and what it costs.
fn saving_ui(ui: &mut egui::Ui, advice: &Advice, verdict: Option<&Verdict>) {
    let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
    if let Some(saving) = &advice.saving {
        ui.horizontal(|ui| {
            let width = (ui.available_width() - SHARES).max(40.0);
            share_ui(ui, Vec2::new(width, 7.0), saving.shares());
            ui.label(fonts::number(saving.percent_text()));
        });
        let text = saving.sentence(&|bytes| units.bytes(bytes));
        ui.add(Label::new(fonts::caption(text).color(tokens.weak_text)).wrap());
    }
    if let Some(text) = advice.enough_text(verdict, &|bytes| units.bytes(bytes)) {
        ui.add(Label::new(fonts::caption(text)).wrap());
    }
    if !advice.caution.is_empty() {
        let text = fonts::caption(advice.caution).color(tokens.third_text);
        ui.add(Label::new(text).wrap());
    }
}

/// A line of code with a button that copies it.
fn code_ui(ui: &mut egui::Ui, code: &str) {
    let tokens = *Tokens::now(ui);
    ui.horizontal(|ui| {
        let width = (ui.available_width() - 46.0).max(40.0);
        let frame = egui::Frame::new().fill(tokens.page).corner_radius(6).inner_margin(6);
        frame.show(ui, |ui| {
            ui.set_width(width - 12.0);
            let text = RichText::new(code).font(egui::FontId::monospace(11.5));
            ui.add(Label::new(text).truncate()).on_hover_text(code);
        });
        let button = ui.button(Icon::Copy.atom()).accessible_name("Copy the line");
        if button.on_hover_text("Copy").clicked() {
            ui.copy_text(code.to_owned());
        }
    });
}
