//! Advice, a card each: how much of the excess it covers, its cost, and, folded, its evidence and how it is written.

use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{
    self, Align, Button, Frame, Label, Layout, Margin, RichText, Role, Sense, Stroke, StrokeKind,
    Vec2, WidgetInfo,
};
use std::collections::BTreeMap;

use super::evidence::evidence_ui;
use crate::run::{Advice, HowTo, Insights, NotAdvised, SavedOf, Verdict};
use crate::text::{clean, shortened, unbroken};
use crate::ui::icon::Icon;
use crate::ui::report::run_part::RunPart;
use crate::ui::theme::fonts::{self, size};
use crate::ui::theme::{BETWEEN_CARDS, Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::bar::share_ui;
use crate::ui::widget::choice::segments_ui;
use crate::ui::widget::exports::exportable;
use crate::ui::widget::sign::numbered_disc;

/// Longest sentence.
pub const TEXT: usize = 300;
/// What a pill has around its text, on both sides together, points.
const PILL: Vec2 = Vec2::new(16.0, 4.0);
/// Width of the bar of what is covered, points.
const SHARE: f32 = 320.0;

/// What is unfolded, and the framework that is shown.
#[derive(Default)]
pub struct Unfolded {
    /// What was folded or unfolded by hand.
    is_open: BTreeMap<(&'static str, usize), bool>,
    framework: Option<&'static str>,
}

/// What to try, and what does not help; `unfolded` is what was chosen on the cards.
pub fn advice_ui(
    ui: &mut egui::Ui,
    part: &mut RunPart<'_>,
    unfolded: &mut Unfolded,
    found: &Insights,
) {
    let (advised, not_advised) = (&found.advice, &found.not_advised);
    ui.horizontal(|ui| {
        ui.label(fonts::card_title("What to try, best first"));
        let has_savings = advised.iter().any(|advice| advice.saving.is_some());
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if has_savings {
                let key = fonts::caption("solid: expected · striped: at most");
                ui.label(key.color(Tokens::now(ui).third_text));
            }
        });
    });
    ui.add_space(4.0);
    if advised.is_empty() {
        ui.weak("Nothing in this run asks for a change");
    }
    for (number, advice) in (1..).zip(advised) {
        advice_card_ui(ui, part, unfolded, (number, advice), found.verdict.as_ref());
    }
    for (place, one) in (1..).zip(not_advised) {
        not_advised_ui(ui, part, unfolded, place, one);
    }
}

fn advice_card_ui(
    ui: &mut egui::Ui,
    part: &mut RunPart<'_>,
    unfolded: &mut Unfolded,
    (number, advice): (usize, &Advice),
    verdict: Option<&Verdict>,
) {
    let key = (advice.id, number);
    let before = unfolded.is_open.get(&key).copied().unwrap_or(number == 1);
    let title_ui = |ui: &mut egui::Ui| title_ui(ui, advice);
    let is_open = numbered_card_ui(ui, number, advice.title, before, title_ui, |ui, is_open| {
        if let Some(saving) = &advice.saving {
            let whole = Units::now(ui).bytes(saving.of_bytes);
            let of = match saving.of {
                SavedOf::OverLimit => format!("{whole} that is over"),
                of => format!("{whole} {}", of.title()),
            };
            saving_ui(ui, saving.shares(), saving.percent_text(), &of);
        }
        let units = Units::now(ui);
        if let Some(text) = advice.enough_text(verdict, &|bytes| units.bytes(bytes)) {
            ui.label(RichText::new(text).size(size::TABLE));
        }
        cost_ui(ui, advice.caution);
        if is_open {
            details_ui(ui, part, unfolded, number, advice);
        }
    });
    if is_open != before {
        unfolded.is_open.insert(key, is_open);
    }
}

/// A card with its number, a title, and what can be folded below; says whether it is unfolded now.
fn numbered_card_ui(
    ui: &mut egui::Ui,
    number: usize,
    name: &str,
    mut is_open: bool,
    title_ui: impl FnOnce(&mut egui::Ui),
    below_ui: impl FnOnce(&mut egui::Ui, bool),
) -> bool {
    let tokens = *Tokens::now(ui);
    let card = card_frame(&tokens).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal_top(|ui| {
            let (disc, _) = ui.allocate_exact_size(Vec2::splat(24.0), Sense::hover());
            numbered_disc(ui.painter(), disc.center(), number, &tokens);
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                ui.set_width(ui.available_width());
                ui.horizontal(|ui| {
                    let fold = 104.0_f32.min(ui.available_width() / 3.0);
                    let width = ui.available_width() - fold;
                    ui.allocate_ui(Vec2::new(width, 24.0), |ui| {
                        ui.set_width(width);
                        ui.horizontal_wrapped(title_ui);
                    });
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        is_open ^= fold_ui(ui, is_open, &format!("evidence of {number}"));
                    });
                });
                below_ui(ui, is_open);
            });
        });
    });
    exportable(ui, &format!("{number}: {name}"), card.response.rect);
    ui.add_space(BETWEEN_CARDS - ui.spacing().item_spacing.y);
    is_open
}

fn details_ui(
    ui: &mut egui::Ui,
    part: &mut RunPart<'_>,
    unfolded: &mut Unfolded,
    number: usize,
    advice: &Advice,
) {
    let tokens = *Tokens::now(ui);
    if advice.text != advice.title {
        let text =
            RichText::new(unbroken(&shortened(&clean(&advice.text), TEXT))).size(size::TABLE);
        ui.add(Label::new(text).wrap());
    }
    evidence_ui(ui, part, &advice.evidence);
    if let Some(saving) = &advice.saving {
        let units = Units::now(ui);
        let sentence = saving.sentence(&|bytes| units.bytes(bytes));
        let basis = fonts::caption(format!("{sentence}. Basis: {}", clean(&saving.basis)));
        ui.add(Label::new(basis.color(tokens.third_text)).wrap());
    }
    how_ui(ui, unfolded, number, &advice.how);
}

/// How it is written in the framework that is chosen, with a button that copies it.
fn how_ui(ui: &mut egui::Ui, unfolded: &mut Unfolded, number: usize, ways: &[HowTo]) {
    let Some(first) = ways.first() else { return };
    let is_chosen = |how: &&HowTo| Some(how.framework) == unfolded.framework;
    let mut now = ways.iter().find(is_chosen).unwrap_or(first).framework;
    ui.add_space(4.0);
    if ways.len() > 1 {
        let choices = ways.iter().map(|how| (how.framework, how.framework));
        ui.push_id(("framework", number), |ui| segments_ui(ui, "", &mut now, choices));
        unfolded.framework = Some(now);
    }
    let shown = ways.iter().find(|how| how.framework == now).unwrap_or(first);
    if !shown.text.is_empty() {
        ui.add(Label::new(RichText::new(&shown.text).size(size::TABLE)).wrap());
    }
    code_ui(ui, &shown.code, number);
}

/// What to write, with a button that copies it.
fn code_ui(ui: &mut egui::Ui, code: &str, number: usize) {
    let tokens = *Tokens::now(ui);
    ui.horizontal(|ui| {
        let width = (ui.available_width() - 92.0).max(60.0);
        let frame = Frame::new()
            .fill(tokens.page)
            .stroke(Stroke::new(1.0, tokens.border))
            .corner_radius(6)
            .inner_margin(Margin::symmetric(8, 5));
        frame.show(ui, |ui| {
            ui.set_width(width - 18.0);
            ui.add(Label::new(RichText::new(code).monospace()).wrap());
        });
        let copy = ui.add(Button::new((Icon::Copy.atom(), "Copy")));
        if copy.accessible_name(format!("Copy how to do {number}")).clicked() {
            ui.copy_text(code.to_owned());
        }
    });
}

fn not_advised_ui(
    ui: &mut egui::Ui,
    part: &mut RunPart<'_>,
    unfolded: &mut Unfolded,
    place: usize,
    not_advised: &NotAdvised,
) {
    let key = (not_advised.id, 1000 + place);
    let mut is_open = unfolded.is_open.get(&key).copied().unwrap_or(false);
    let what = format!("evidence against {place}");
    let what = (!not_advised.evidence.is_empty()).then_some(&*what);
    if not_ui(ui, &not_advised.why, what, is_open) {
        is_open = !is_open;
        unfolded.is_open.insert(key, is_open);
    }
    if is_open {
        evidence_ui(ui, part, &not_advised.evidence);
    }
}

/// What one would think of and what does not help, in a quiet line, with what speaks against it where there is any; says
/// whether that was folded or unfolded.
fn not_ui(ui: &mut egui::Ui, why: &str, evidence: Option<&str>, is_open: bool) -> bool {
    let line = ui.horizontal_wrapped(|ui| {
        ui.weak("Not:");
        ui.add(Label::new(RichText::new(shortened(why, TEXT)).weak()).wrap());
        evidence.is_some_and(|what| fold_ui(ui, is_open, what))
    });
    line.inner
}

fn title_ui(ui: &mut egui::Ui, advice: &Advice) {
    ui.spacing_mut().item_spacing.x = 6.0;
    ui.label(fonts::card_title(advice.title));
    if let Some(device) = &advice.device_name {
        ui.weak(device);
    }
    let proposal = &advice.proposal;
    if let Some(now) = proposal.now_text() {
        pill_ui(ui, "now", &now, false);
    }
    if let Some(suggested) = proposal.suggested {
        pill_ui(ui, "try", &suggested.to_string(), true);
    }
    if let Some(next) = proposal.next {
        pill_ui(ui, "then", &next.to_string(), false);
    }
}

/// A value with a word before it, in a frame.
fn pill_ui(ui: &mut egui::Ui, word: &str, value: &str, is_wanted: bool) {
    let tokens = *Tokens::now(ui);
    let edge = if is_wanted { tokens.accent } else { tokens.border };
    let mut job = LayoutJob::default();
    for (text, font, color) in [
        (word, fonts::regular(size::CAPTION), tokens.weak_text),
        (value, fonts::semibold(size::TABLE), tokens.text),
    ] {
        let space = if job.is_empty() { 0.0 } else { 5.0 };
        job.append(text, space, TextFormat::simple(font, color));
    }
    // One widget, which wraps as a word does.
    let galley = ui.painter().layout_job(job);
    let (rect, response) = ui.allocate_exact_size(galley.size() + PILL, Sense::hover());
    ui.painter().rect_stroke(rect, 10, Stroke::new(1.0, edge), StrokeKind::Inside);
    ui.painter().galley(rect.min + PILL / 2.0, galley, tokens.text);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{word} {value}")));
}

/// Folds or unfolds something; says whether that was clicked.
fn fold_ui(ui: &mut egui::Ui, is_open: bool, what: &str) -> bool {
    let (text, does) =
        if is_open { ("hide evidence ▴", "Hide") } else { ("show evidence ▾", "Show") };
    let text = fonts::caption(text).color(Tokens::now(ui).weak_text);
    let button = ui.add(Button::new(text).frame_when_inactive(false));
    button.accessible_name(format!("{does} {what}")).clicked()
}

/// What it covers of a whole, as shares and in percent: solid what is worked out or expected, striped what may be.
fn saving_ui(ui: &mut egui::Ui, shares: [f64; 2], percent: String, of: &str) {
    ui.horizontal(|ui| {
        let width = SHARE.min(ui.available_width() * 0.5);
        share_ui(ui, Vec2::new(width, 8.0), shares);
        ui.label(RichText::new(percent).font(fonts::semibold(size::BODY)));
        let of = RichText::new(format!("of the {of}")).size(size::TABLE).weak();
        ui.add(Label::new(of).truncate());
    });
}

/// What it costs, and what to mind.
fn cost_ui(ui: &mut egui::Ui, caution: &str) {
    if caution.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        ui.label(RichText::new("Cost").size(size::TABLE).color(Tokens::now(ui).third_text));
        ui.add(Label::new(RichText::new(caution).size(size::TABLE).weak()).wrap());
    });
}
