//! Whether it fits, what follows from that, and each IPU against its own memory.

use eframe::egui::{self, Label, ScrollArea};

use super::ChosenPart;
use crate::analysis::liveness::Scope;
use crate::analysis::memory::selection::TileSelection;
use crate::store::DeviceId;
use crate::systems::poplar::insights::Insights;
use crate::systems::poplar::insights::sentences::{ipu_verdict_word, verdict_sentences};
use crate::systems::poplar::insights::verdict::IpuVerdict;
use crate::text::{clean, grouped};
use crate::ui::command::Sheet;
use crate::ui::report::verdict_banner::{Proof, verdict_banner_ui};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::card::{card_ui, listed_card_ui};
use crate::ui::widget::rows::{Column, Value};
use crate::ui::widget::sign::Sign;

pub fn verdict_ui(ui: &mut egui::Ui, page: &mut ChosenPart<'_>, found: &Insights, is_final: bool) {
    let Some(verdict) = &found.verdict else {
        card_ui(ui, "Whether it fits is not known", |ui| {
            let arenas = page.report().system.arenas;
            ui.weak(format!("The report does not say what {arenas} use, or what they have"));
        });
        return;
    };
    let is_open = page.run.is_working && !is_final;
    let so_far =
        is_open.then_some("So far: variables are still being read, reasons and advice may change");
    if verdict_banner_ui(ui, verdict, Proof::Used, so_far)
        && let Some(failure) = &verdict.failure
        && let Ok(tiles) = failure.tiles.parse::<TileSelection>()
    {
        page.show_tiles(tiles);
    }
}

/// Why, in sentences: what the head says in short, and what follows from it.
pub fn why_ui(ui: &mut egui::Ui, found: &Insights) {
    let Some(verdict) = &found.verdict else { return };
    let units = Units::now(ui);
    card_ui(ui, "In words", |ui| {
        for sentence in verdict_sentences(verdict, &|bytes| units.bytes(bytes)) {
            ui.add(Label::new(sentence).wrap());
        }
        for conclusion in &found.conclusions {
            ui.add(Label::new(clean(&conclusion.text)).wrap());
        }
    });
}

/// Each IPU against its own memory, where there are several.
pub fn ipus_ui(ui: &mut egui::Ui, page: &mut ChosenPart<'_>, found: &Insights) {
    if found.ipus.len() < 2 {
        return;
    }
    let units = Units::now(ui);
    let known = |bytes: Option<u64>| bytes.map_or("–".to_owned(), |bytes| units.bytes(bytes));
    let (mut exports, sheet) = (Vec::new(), || ipus_sheet(&found.ipus));
    listed_card_ui(
        ui,
        "IPUs",
        (&mut exports, sheet),
        |_| {},
        |ui| {
            ScrollArea::horizontal().id_salt("IPUs").show(ui, |ui| {
                egui::Grid::new("IPUs").spacing([14.0, 4.0]).show(ui, |ui| {
                    for title in TITLES {
                        ui.label(fonts::caption(title).color(Tokens::now(ui).third_text));
                    }
                    ui.end_row();
                    for ipu in &found.ipus {
                        ipu_ui(ui, page, ipu, &known);
                        ui.end_row();
                    }
                });
            });
        },
    );
    page.commands.append(&mut exports);
}

fn ipus_sheet(ipus: &[IpuVerdict]) -> Sheet {
    let mut columns = vec![Column::rest("IPU"), Column::rest("Verdict")];
    columns.push(Column::count("Tiles over", 0.0));
    let of_bytes = ["Peak", "Memory", "Fullest tile", "Always live", "Gaps"];
    columns.extend(of_bytes.map(|title| Column::bytes(title, 0.0)));
    let row = |ipu: &IpuVerdict| {
        let fullest = ipu.fullest_tile.and_then(|tile| tile.including_gaps_bytes);
        vec![
            Value::Id(ipu.ipu.into()),
            Value::text(ipu_verdict_word(ipu)),
            Value::Count(ipu.tiles_over),
            Value::bytes(ipu.peak_bytes),
            Value::Bytes(ipu.limit_bytes),
            Value::bytes(fullest),
            Value::bytes(ipu.always_live_bytes),
            Value::bytes(ipu.gap_bytes),
        ]
    };
    Sheet::of(columns, ipus.iter().map(row).collect())
}

const TITLES: [&str; 8] =
    ["", "Verdict", "Tiles over", "Peak of its memory", "", "Fullest tile", "Always live", "Gaps"];

fn ipu_ui(
    ui: &mut egui::Ui,
    page: &mut ChosenPart<'_>,
    ipu: &IpuVerdict,
    known: &dyn Fn(Option<u64>) -> String,
) {
    if ui.link(format!("IPU {}", ipu.ipu)).on_hover_text("Select its tiles in Memory").clicked() {
        let scope = Scope::Device(DeviceId(ipu.ipu));
        let tiles = scope.tiles(page.report().target.get());
        page.show_tiles(TileSelection::of_scope(tiles));
    }
    ui.horizontal(|ui| {
        Sign::of(Some(ipu.fits)).ui(ui, 13.0);
        ui.label(ipu_verdict_word(ipu));
    });
    ui.label(fonts::number(grouped(ipu.tiles_over)));
    ui.label(fonts::number(format!(
        "{} of {}",
        known(ipu.peak_bytes),
        known(Some(ipu.limit_bytes))
    )));
    let peak = ipu.peak_bytes.unwrap_or(0);
    let whole = ipu.limit_bytes.saturating_add(ipu.limit_bytes / 8).max(peak);
    let parts = [(peak, Tokens::now(ui).temporary)];
    let bar = Bar { parts: &parts, whole, limit: Some(ipu.limit_bytes) };
    bar.ui(ui, egui::vec2(90.0, 8.0));
    let fullest = ipu.fullest_tile.and_then(|tile| tile.including_gaps_bytes);
    for bytes in [fullest, ipu.always_live_bytes, ipu.gap_bytes] {
        ui.label(fonts::number(known(bytes)));
    }
}
