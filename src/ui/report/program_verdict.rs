//! The verdict of a run, over the width of a page.

use eframe::egui;

use crate::run::{KeyFigure, Verdict};
use crate::systems::poplar::insights::sentences::VerdictFigure;
use crate::text::{clean, shortened};
use crate::ui::report::verdict_banner::{Banner, Proof, banner_ui};
use crate::ui::units::Units;
use crate::ui::widget::sign::Sign;

/// Longest sentence.
const TEXT: usize = 400;

/// Whether it fits, or how it ended, with the figures that say most.
pub fn verdict_ui(ui: &mut egui::Ui, verdict: &Verdict, proof: Proof) {
    let units = Units::now(ui);
    let figure = |figure: &KeyFigure| VerdictFigure {
        title: figure.title,
        value: units.bytes(figure.bytes),
        note: figure.note.clone(),
        is_over: figure.is_over,
    };
    let banner = Banner {
        sign: Sign::of(verdict.outcome.went_well()),
        word: verdict.outcome.title(),
        reason: shortened(&clean(&verdict.text), TEXT).into_owned(),
        so_far: None,
        figures: verdict.figures.iter().map(figure).collect(),
        used: verdict.used_bytes.zip(verdict.capacity_bytes),
        button: None,
    };
    banner_ui(ui, &banner, proof);
}
