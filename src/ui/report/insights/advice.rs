//! What to try next, each piece with its evidence.

use eframe::egui::{self, CollapsingHeader, Label, RichText};

use super::{RunPart, card_ui};
use crate::analysis::insights::Insights;
use crate::analysis::insights::advice::{Advice, Evidence};
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::program::operations::OperationName;
use crate::store::StepId;
use crate::text::{clean, shortened};
use crate::ui::units::Units;

/// Pieces of evidence that are shown.
const MOST_EVIDENCE: usize = 6;
/// Longest sentence.
const TEXT: usize = 300;

pub fn advice_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, found: &Insights) {
    card_ui(ui, "What to try next", |ui| {
        if found.advice.is_empty() {
            ui.weak("Nothing in this report asks for a change");
        }
        for (number, advice) in (1..).zip(&found.advice) {
            one_ui(ui, page, number, advice);
        }
    });
    if found.not_advised.is_empty() {
        return;
    }
    card_ui(ui, "What does not help here", |ui| {
        for not_advised in &found.not_advised {
            ui.add(Label::new(shortened(&not_advised.why, TEXT)).wrap());
            evidence_ui(ui, page, &not_advised.evidence);
        }
    });
}

fn one_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, number: usize, advice: &Advice) {
    if number > 1 {
        ui.separator();
    }
    let units = Units::now(ui);
    let title = format!("{number}. {}", shortened(&advice.what, TEXT));
    ui.add(Label::new(RichText::new(title).strong()).wrap());
    if let Some(saving) = &advice.saving {
        ui.add(Label::new(saving.sentence(&|bytes| units.bytes(bytes))).wrap());
        ui.add(Label::new(RichText::new(format!("Basis: {}", clean(&saving.basis))).weak()).wrap());
    }
    evidence_ui(ui, page, &advice.evidence);
    ui.add(Label::new(RichText::new(advice.caution).weak()).wrap());
    if !advice.how.is_empty() {
        CollapsingHeader::new("How to set it").id_salt(("how", number)).show(ui, |ui| {
            for how in &advice.how {
                ui.horizontal_top(|ui| {
                    ui.add_sized([86.0, 16.0], Label::new(how.framework.title()));
                    ui.add(Label::new(RichText::new(&how.text).monospace()).wrap());
                });
            }
        });
    }
}

/// What advice is based on, with the way to it.
fn evidence_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, evidence: &[Evidence]) {
    let units = Units::now(ui);
    for one in evidence.iter().take(MOST_EVIDENCE) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            ui.weak("•");
            let bytes =
                one.bytes.map_or(String::new(), |bytes| format!(": {}", units.bytes(bytes)));
            ui.label(format!("{}{bytes}", shortened(&one.what, TEXT)));
            links_ui(ui, page, one);
        });
    }
    if evidence.len() > MOST_EVIDENCE {
        ui.weak(format!("and {} more", evidence.len() - MOST_EVIDENCE));
    }
}

fn links_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, evidence: &Evidence) {
    let steps = page.report().steps.get();
    let position = evidence.step.and_then(|step| steps?.ids.position(StepId(step)));
    if let (Some(step), Some(position)) = (evidence.step, position)
        && ui.small_button(format!("Step {step}")).clicked()
    {
        if let Some(operation) = &evidence.operation {
            page.selection.operation = Some(OperationName::of(operation));
        }
        page.show_step(position);
    }
    if let Some(text) = &evidence.tiles
        && let Ok(tiles) = text.parse::<TileSelection>()
    {
        let title = match tiles.count() {
            1 => format!("Tile {text}"),
            count => format!("{count} tiles"),
        };
        if ui.small_button(title).clicked() {
            page.show_tiles(tiles);
        }
    }
    if let Some(variable) = &evidence.variable
        && ui.small_button("Variable").on_hover_text(shortened(variable, TEXT)).clicked()
    {
        page.show_variable(variable);
    }
    if let Some(file) = &evidence.file {
        ui.weak(shortened(file, 80));
    }
}
