//! The verdict of a run, over the width of a page.

use eframe::egui;

use crate::run::Verdict;
use crate::text::{clean, shortened};
use crate::ui::report::verdict_banner::{Banner, BannerFigure, Proof, banner_ui};
use crate::ui::units::Units;
use crate::ui::widget::sign::Sign;

/// Longest sentence.
const TEXT: usize = 400;

/// Whether it fits, or how it ended, with the figures that say most.
pub fn verdict_ui(ui: &mut egui::Ui, verdict: &Verdict, proof: Proof) {
    let units = Units::now(ui);
    let figures = verdict.figures.iter().map(|figure| BannerFigure::of(figure, units));
    let banner = Banner {
        sign: Sign::of(verdict.outcome.went_well()),
        word: verdict.outcome.title(),
        reason: shortened(&clean(&verdict.text), TEXT).into_owned(),
        so_far: None,
        figures: figures.collect(),
        used: verdict.used_bytes.zip(verdict.capacity_bytes),
        button: None,
    };
    banner_ui(ui, &banner, proof);
}
