//! Whether a program of XLA fits, over the width of a page.

use eframe::egui;

use crate::systems::poplar::insights::sentences::VerdictFigure;
use crate::systems::xla::buffer_assignment::insights::ProgramInsights;
use crate::text::{clean, grouped, shortened};
use crate::ui::report::verdict_banner::{Banner, Proof, banner_ui};
use crate::ui::units::Units;
use crate::ui::widget::sign::Sign;

/// Longest sentence.
const TEXT: usize = 400;

/// Whether it fits, with the figures of the main memory.
pub fn verdict_ui(ui: &mut egui::Ui, found: &ProgramInsights, proof: Proof) {
    let units = Units::now(ui);
    let verdict = &found.verdict;
    let mut figures = Vec::new();
    let mut push = |title, bytes: u64, note: String| {
        let value = units.bytes(bytes);
        figures.push(VerdictFigure { title, value, note, is_over: false });
    };
    push("Memory", verdict.total_bytes, "of all allocations".to_owned());
    push("Reserved throughout", verdict.reserved_bytes, "arguments, results, constants".to_owned());
    push("Temporary", verdict.temporary_bytes, "what packing makes of it".to_owned());
    if let Some(peak) = found.main_space().and_then(|space| space.peak.as_ref()) {
        let step = grouped(u64::from(peak.at.position));
        push("Temporary, peak", peak.at.bytes, format!("in use at step {step}"));
    }
    let outcome = verdict.outcome;
    let banner = Banner {
        sign: Sign::of(outcome.fits()),
        word: outcome.title(),
        reason: shortened(&clean(&verdict.reason), TEXT).into_owned(),
        so_far: None,
        figures,
        used: verdict.capacity_bytes.map(|capacity| (verdict.total_bytes, capacity)),
        button: None,
    };
    banner_ui(ui, &banner, proof);
}
