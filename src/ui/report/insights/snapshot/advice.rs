//! What to try, a card each: what it saves at most, what it costs, and folded what says so and how it is written.

use eframe::egui::{self, Align, Label, Layout, RichText};
use std::collections::BTreeMap;

use super::SnapshotPart;
use crate::systems::pytorch::allocator::insights::advice::{
    Advice, Evidence, NotAdvised, Technique,
};
use crate::systems::pytorch::allocator::insights::{DeviceInsights, SnapshotInsights};
use crate::systems::pytorch::allocator::user_frame::NO_STACK;
use crate::text::{clean, grouped, shortened};
use crate::ui::report::insights::advice::{
    TEXT, code_ui, cost_ui, not_ui, numbered_card_ui, saving_ui,
};
use crate::ui::report::snapshot::short_frame;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::measured::{Columns, Measured};

/// Width of the way to something, points.
const LINK: f32 = 92.0;

/// What was folded or unfolded by hand.
#[derive(Default)]
pub struct UnfoldedAdvice(BTreeMap<(Technique, bool), bool>);

pub fn advice_ui(ui: &mut egui::Ui, page: &mut SnapshotPart<'_>, found: &SnapshotInsights) {
    ui.horizontal(|ui| {
        ui.label(fonts::card_title("What to try, by what it saves"));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if found.advice.iter().any(|advice| advice.saving.is_some()) {
                let key = fonts::caption("solid: expected · striped: at most");
                ui.label(key.color(Tokens::now(ui).third_text));
            }
        });
    });
    ui.add_space(4.0);
    if found.advice.is_empty() {
        ui.weak("Nothing in this snapshot asks for a change");
    }
    for (number, advice) in (1..).zip(&found.advice) {
        let device = found.devices.iter().find(|device| device.device == advice.device);
        let device = device.filter(|_| found.devices.len() > 1).map(DeviceInsights::title);
        advice_card_ui(ui, page, number, advice, device.as_deref());
    }
    for not_advised in &found.not_advised {
        not_advised_ui(ui, page, not_advised);
    }
}

fn advice_card_ui(
    ui: &mut egui::Ui,
    page: &mut SnapshotPart<'_>,
    number: usize,
    advice: &Advice,
    device: Option<&str>,
) {
    let key = (advice.id, true);
    let before = page.choices.advice.0.get(&key).copied().unwrap_or(number == 1);
    let title_ui = |ui: &mut egui::Ui| {
        ui.label(fonts::card_title(advice.id.title()));
        if let Some(device) = device {
            ui.weak(device);
        }
    };
    let is_open =
        numbered_card_ui(ui, (number, advice.id.title()), before, title_ui, |ui, is_open| {
            if let Some(saving) = &advice.saving {
                let of = format!("{} {}", Units::now(ui).bytes(saving.of_bytes), saving.of.title());
                saving_ui(ui, (saving.shares(), saving.percent_text()), &of);
            }
            let what = RichText::new(shortened(&clean(&advice.what), TEXT)).size(size::TABLE);
            ui.add(Label::new(what).wrap());
            cost_ui(ui, advice.caution);
            if is_open {
                details_ui(ui, page, number, advice);
            }
        });
    if is_open != before {
        page.choices.advice.0.insert(key, is_open);
    }
}

fn details_ui(ui: &mut egui::Ui, page: &mut SnapshotPart<'_>, number: usize, advice: &Advice) {
    evidence_ui(ui, page, advice.device, &advice.evidence);
    if let Some(saving) = &advice.saving {
        let units = Units::now(ui);
        let sentence = saving.sentence(&|bytes| units.bytes(bytes));
        let basis = fonts::caption(format!("{sentence}. Basis: {}", saving.basis));
        ui.add(Label::new(basis.color(Tokens::now(ui).third_text)).wrap());
    }
    if !advice.how.is_empty() {
        ui.add_space(4.0);
        code_ui(ui, &advice.how, number);
    }
}

/// Rows with their bytes as bars, and the way to each.
fn evidence_ui(ui: &mut egui::Ui, page: &mut SnapshotPart<'_>, device: i64, evidence: &[Evidence]) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let most = evidence.iter().filter_map(|one| one.bytes).max().unwrap_or(0);
    for (place, one) in evidence.iter().enumerate() {
        let hover = shortened(&one.what, TEXT);
        let name = short_frame(&hover);
        let link = one.event.and_then(|event| u64::try_from(event).ok());
        let link = link.map(|event| format!("Event {}", grouped(event)));
        let frame = one.frame.as_ref().filter(|frame| *frame != NO_STACK);
        let row = Measured {
            name,
            hover: &hover,
            is_link: frame.is_some(),
            color: tokens.temporary,
            size: one.bytes.map(|bytes| (bytes, most)),
            value: &one.bytes.map_or_else(String::new, |bytes| units.bytes(bytes)),
            link: link.as_deref(),
            ..Measured::default()
        };
        let columns = Columns { link: LINK, ..Columns::default() };
        let clicked = ui.push_id(("evidence", place), |ui| row.ui(ui, columns)).inner;
        match (frame, one.event) {
            (Some(frame), Some(event)) if clicked.name => page.show_code((device, event), frame),
            (Some(frame), None) if clicked.name => page.part.show_variable(frame),
            (_, Some(event)) if clicked.link => page.show_event(device, event),
            _ => {}
        }
    }
}

fn not_advised_ui(ui: &mut egui::Ui, page: &mut SnapshotPart<'_>, not_advised: &NotAdvised) {
    let key = (not_advised.id, false);
    let mut is_open = page.choices.advice.0.get(&key).copied().unwrap_or(false);
    let what = format!("evidence against {}", not_advised.id.title().to_lowercase());
    let what = (!not_advised.evidence.is_empty()).then_some(&*what);
    if not_ui(ui, &not_advised.why, what, is_open) {
        is_open = !is_open;
        page.choices.advice.0.insert(key, is_open);
    }
    if is_open {
        let device = page.device;
        evidence_ui(ui, page, device, &not_advised.evidence);
    }
}
