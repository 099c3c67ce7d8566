//! Whether it fits, and why not.

use eframe::egui::{self, Label, RichText};

use super::{RunPart, card_ui};
use crate::analysis::insights::Insights;
use crate::analysis::insights::verdict::{Cause, Failure, Verdict};
use crate::analysis::memory::selection::TileSelection;
use crate::text::grouped;
use crate::ui::command::{Command, Page};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;

pub fn verdict_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, found: &Insights) {
    let Some(verdict) = &found.verdict else {
        card_ui(ui, "Whether it fits is not known", |ui| {
            let arenas = page.report().system.arenas;
            ui.weak(format!("The report does not say what {arenas} use, or what they have"));
        });
        return;
    };
    let units = Units::now(ui);
    let title = match &verdict.failure {
        None => "It fits".to_owned(),
        Some(failure) => format!(
            "It does not fit: {} of {} tiles {} over",
            grouped(failure.tiles_over),
            grouped(verdict.tiles),
            if failure.tiles_over == 1 { "is" } else { "are" }
        ),
    };
    card_ui(ui, &title, |ui| {
        bar_ui(ui, verdict, units);
        for sentence in sentences(verdict, units) {
            ui.add(Label::new(sentence).wrap());
        }
        if let Some(failure) = &verdict.failure {
            ui.horizontal(|ui| links_ui(ui, page, failure));
        }
    });
}

fn bar_ui(ui: &mut egui::Ui, verdict: &Verdict, units: Units) {
    let (used, capacity) = (verdict.used_bytes, verdict.capacity_bytes.max(1));
    let part = used as f64 / capacity as f64;
    let text = format!("{} of {} with gaps", units.bytes(used), units.bytes(capacity));
    let tokens = Tokens::now(ui);
    let fill = if verdict.fits { tokens.base } else { tokens.bad };
    let bar = egui::ProgressBar::new((part as f32).min(1.0)).fill(fill).desired_height(8.0);
    ui.add(bar.desired_width(ui.available_width().min(520.0))).accessible_name("Memory used");
    ui.label(RichText::new(format!("{text}, {:.1} %", part * 100.0)).strong());
}

fn sentences(verdict: &Verdict, units: Units) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(room) = &verdict.room {
        let above = room.above_peak_bytes.map_or(String::new(), |above| {
            format!(", and {} above the peak of all tiles", units.bytes(above))
        });
        let least = units.bytes(room.least_bytes);
        sentences.push(format!("{least} are left on the fullest tile ({}){above}", room.tile));
    }
    if let Some(curve) = &verdict.curve {
        let bytes = units.bytes(curve.bytes);
        let limit = units.bytes(curve.limit_bytes);
        let verb = if curve.fits() { "is within" } else { "is above" };
        sentences
            .push(format!("The peak of the curve, {bytes} at step {}, {verb} {limit}", curve.step));
    }
    let Some(failure) = &verdict.failure else { return sentences };
    sentences.push(format!(
        "{} over the limit in all; most on tile {}: {}",
        units.bytes(failure.over_bytes),
        failure.worst_tile,
        units.bytes(failure.worst_over_bytes)
    ));
    match failure.cause {
        None | Some(Cause::Curve) => {}
        Some(Cause::Imbalance) => {
            let tiles = match failure.need_more_at_one_step {
                Some(1) => "1 tile needs more at one step than it has".to_owned(),
                Some(tiles) => {
                    format!("{} tiles need more at one step than they have", grouped(tiles))
                }
                None => "some tiles need more at one step than they have".to_owned(),
            };
            sentences.push(format!("The curve fits, but {tiles}: imbalance"));
        }
        Some(Cause::Placement) => sentences.push(
            "The curve fits, and no tile needs more at one step than it has: placement does not fit"
                .to_owned(),
        ),
    }
    if failure.cause.is_some() && failure.cause != Some(Cause::Curve) {
        sentences.push(gaps_text(failure, units));
    }
    sentences
}

fn gaps_text(failure: &Failure, units: Units) -> String {
    let reasons: Vec<String> = failure
        .gaps
        .iter()
        .flatten()
        .map(|lost| {
            let (bytes, tiles) = (units.bytes(lost.bytes), grouped(lost.tiles));
            format!("{} {bytes} on {tiles} tiles", lost.reason.key())
        })
        .collect();
    let reasons =
        if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    format!(
        "{} are lost to gaps on these tiles{reasons}; without gaps {} of them would fit, which is \
         arithmetic, not another placement",
        units.bytes(failure.gap_bytes),
        grouped(failure.would_fit_without_gaps)
    )
}

fn links_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, failure: &Failure) {
    if let Ok(tiles) = failure.tiles.parse::<TileSelection>()
        && ui.button("Show the tiles that are over").clicked()
    {
        page.selection.tiles = tiles;
        page.commands.push(Command::Go(Page::Memory));
    }
    if ui.button("Show the curve").clicked() {
        page.commands.push(Command::Go(Page::Liveness));
    }
}
