//! Whether it fits, and why not.

use eframe::egui::{self, Label, RichText, ScrollArea};

use super::{RunPart, card_ui};
use crate::analysis::insights::Insights;
use crate::analysis::insights::sentences::{ipu_verdict_word, verdict_sentences, verdict_title};
use crate::analysis::insights::verdict::{Failure, IpuVerdict, Verdict};
use crate::analysis::liveness::Scope;
use crate::analysis::memory::selection::TileSelection;
use crate::store::DeviceId;
use crate::text::{clean, grouped};
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
    card_ui(ui, &verdict_title(verdict), |ui| {
        bar_ui(ui, verdict, units);
        for sentence in verdict_sentences(verdict, &|bytes| units.bytes(bytes)) {
            ui.add(Label::new(sentence).wrap());
        }
        for conclusion in &found.conclusions {
            ui.add(Label::new(clean(&conclusion.text)).wrap());
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
    let fill = if verdict.fits { tokens.temporary } else { tokens.over };
    let bar = egui::ProgressBar::new((part as f32).min(1.0)).fill(fill).desired_height(8.0);
    ui.add(bar.desired_width(ui.available_width().min(520.0))).accessible_name("Memory used");
    ui.label(RichText::new(format!("{text}, {:.1} %", part * 100.0)).strong());
}

/// Each IPU against its own memory, where there are several.
pub fn ipus_ui(ui: &mut egui::Ui, page: &mut RunPart<'_>, found: &Insights) {
    if found.ipus.len() < 2 {
        return;
    }
    let units = Units::now(ui);
    let known = |bytes: Option<u64>| bytes.map_or("–".to_owned(), |bytes| units.bytes(bytes));
    card_ui(ui, "IPUs", |ui| {
        ScrollArea::horizontal().id_salt("IPUs").show(ui, |ui| {
            egui::Grid::new("IPUs").striped(true).spacing([14.0, 2.0]).show(ui, |ui| {
                for title in TITLES {
                    ui.weak(title);
                }
                ui.end_row();
                for ipu in &found.ipus {
                    ipu_ui(ui, page, ipu, &known);
                    ui.end_row();
                }
            });
        });
    });
}

const TITLES: [&str; 7] =
    ["", "Verdict", "Tiles over", "Fullest tile", "Peak of its memory", "Always live", "Gaps"];

fn ipu_ui(
    ui: &mut egui::Ui,
    page: &mut RunPart<'_>,
    ipu: &IpuVerdict,
    known: &dyn Fn(Option<u64>) -> String,
) {
    if ui.link(format!("IPU {}", ipu.ipu)).on_hover_text("Select its tiles in Memory").clicked() {
        let scope = Scope::Device(DeviceId(ipu.ipu));
        let tiles = scope.tiles(page.report().target.get());
        page.show_tiles(TileSelection::of_scope(tiles));
    }
    let word = ipu_verdict_word(ipu);
    if ipu.fits {
        ui.label(word);
    } else {
        ui.colored_label(Tokens::now(ui).over, word);
    }
    ui.label(grouped(ipu.tiles_over));
    ui.label(known(ipu.fullest_tile.and_then(|tile| tile.including_gaps_bytes)));
    ui.label(format!("{} of {}", known(ipu.peak_bytes), known(Some(ipu.limit_bytes))));
    ui.label(known(ipu.always_live_bytes));
    ui.label(known(ipu.gap_bytes));
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
