//! Statistics of the visible tiles: how many are over their limit, and statistics of their bytes.

use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{self, Color32, FontId, Label, RichText};

use super::arranged::{ArrangedTiles, TileFigures};
use crate::analysis::memory::Statistics;
use crate::text::{counted, grouped};
use crate::ui::report::head::SignedAnswer;
use crate::ui::report::room::{has_failed, of_part};
use crate::ui::report::{change_color, change_text};
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::rows::CellValue;
use crate::ui::widget::sign::Sign;

type Statistic = (&'static str, fn(&Statistics) -> Option<u64>);

const STATISTICS: [Statistic; 4] = [
    ("least", |figures| figures.min),
    ("median", |figures| figures.median),
    ("99th percentile", |figures| figures.p99),
    ("most", |figures| figures.max),
];

/// Draws them after what stands in the row.
pub fn statistics_ui(ui: &mut egui::Ui, runs: &Runs, tiles: &ArrangedTiles) {
    match tiles.figures.as_slice() {
        [figures] => of_one_ui(ui, figures),
        _ => of_several_ui(ui, runs, tiles),
    }
}

/// How many tiles are over their limit, and by how much at most.
pub fn answer(runs: &Runs, tiles: &ArrangedTiles, units: Units) -> SignedAnswer {
    match tiles.figures.as_slice() {
        [figures] => of_part(runs.reference(), of_one(runs.reference(), figures, units), units),
        _ => of_several(runs, tiles),
    }
}

fn of_one(run: &Run, figures: &TileFigures, units: Units) -> SignedAnswer {
    let tiles = counted(figures.tiles, "tile");
    let limit = run.report.bytes_per_tile();
    let most = figures.statistics.max.zip(limit);
    match (figures.over_limit, most) {
        (Some(0), most) => {
            let all = if figures.tiles == 1 {
                "The tile fits".to_owned()
            } else {
                format!("All {tiles} fit")
            };
            let free = most.map(|(most, limit)| {
                format!(", {} free on the fullest", units.bytes(limit.saturating_sub(most)))
            });
            (Sign::Fits, format!("{all}{}", free.unwrap_or_default()))
        }
        (Some(over), most) => {
            let by = most.map(|(most, limit)| {
                format!(", by up to {}", units.bytes(most.saturating_sub(limit)))
            });
            let text = format!("{} of {tiles} over{}", grouped(over), by.unwrap_or_default());
            (Sign::Over, text)
        }
        (None, _) if limit.is_some() => {
            (Sign::Note, "Of some tiles the bytes are not known".to_owned())
        }
        (None, _) => (Sign::Note, "The limit of a tile is not known".to_owned()),
    }
}

fn of_several(runs: &Runs, tiles: &ArrangedTiles) -> SignedAnswer {
    let over: Vec<_> = tiles.figures.iter().map(|figures| figures.over_limit).collect();
    let all = counted(tiles.axis.len() as u64, "tile");
    if over.iter().all(|over| *over == Some(0)) {
        let of = if over.len() == 2 { "both" } else { "every run" };
        let text = format!("All {all} fit in {of}");
        let failed: Vec<_> =
            runs.iter().filter(|run| has_failed(run.derived.known_verdict().as_deref())).collect();
        let letters: Vec<String> = failed.iter().map(|run| run.badge.letter.to_string()).collect();
        return match failed.as_slice() {
            [] => (Sign::Fits, text),
            [one] => (Sign::Over, format!("{text}, but {} does not fit", one.badge.letter)),
            _ => (Sign::Over, format!("{text}, but {} do not fit", letters.join(", "))),
        };
    }
    let text = |(over, run): (&Option<u64>, &Run)| {
        let count = over.map_or_else(|| "not known".to_owned(), grouped);
        match (runs.len(), *over) {
            (..=2, _) => Some(count),
            (_, Some(0)) => None,
            _ => Some(format!("{count} in {}", run.badge.letter)),
        }
    };
    let counts: Vec<_> = over.iter().zip(runs.iter()).filter_map(text).collect();
    (Sign::Over, format!("{} of {all} over", counts.join(runs.of_number(["", " → ", ", "]))))
}

fn of_one_ui(ui: &mut egui::Ui, figures: &TileFigures) {
    let units = Units::now(ui);
    ui.spacing_mut().item_spacing.x = 6.0;
    ui.label(fonts::caption("With gaps").weak());
    for (name, of) in STATISTICS {
        ui.label(fonts::caption(name).weak());
        let bytes = of(&figures.statistics);
        let text = RichText::new(CellValue::bytes(bytes).shown(units));
        let label = ui.add(Label::new(text.font(fonts::semibold(size::CAPTION))).extend());
        if let Some(bytes) = bytes {
            label.on_hover_text(units.exact(bytes));
        }
    }
    if let Some(tile) = figures.fullest {
        ui.label(fonts::caption(format!("(tile {tile})")).weak());
    }
}

fn of_several_ui(ui: &mut egui::Ui, runs: &Runs, tiles: &ArrangedTiles) {
    ui.spacing_mut().item_spacing.x = 14.0;
    ui.label(fonts::caption("With gaps").weak());
    // Of many runs two figures fill a line.
    let shown = usize::from(runs.len() > 2);
    for (name, of) in STATISTICS.into_iter().skip(shown).step_by(1 + shown) {
        let values: Vec<_> = tiles.figures.iter().map(|figures| of(&figures.statistics)).collect();
        statistic_ui(ui, runs, name, &values);
    }
}

/// A figure of all: `least 821.8 KiB → 600.6 KiB ▼ −221.2 KiB`, of two with the change. One label, so
/// that it is not torn apart where the line ends.
fn statistic_ui(ui: &mut egui::Ui, runs: &Runs, name: &str, values: &[Option<u64>]) {
    let units = Units::now(ui);
    let (regular, semibold) = (fonts::regular(size::CAPTION), fonts::semibold(size::CAPTION));
    let mut job = LayoutJob::default();
    let mut add = |text: &str, font: &FontId, color: Color32| {
        job.append(text, 0.0, TextFormat::simple(font.clone(), color));
    };
    let (weak, strong) = (Tokens::now(ui).weak_text, Tokens::now(ui).text);
    add(&format!("{name} "), &regular, weak);
    for (place, bytes) in values.iter().enumerate() {
        if place > 0 {
            add(runs.of_number(["", " → ", " · "]), &regular, weak);
        }
        if let Some(run) = runs.get(place).filter(|_| values.len() > 2) {
            add(&format!("{} ", run.badge.letter), &regular, weak);
        }
        add(&CellValue::bytes(*bytes).shown(units), &semibold, strong);
    }
    let mut hover = None;
    if let [Some(source), Some(target)] = *values {
        let change = CellValue::change(source, target).shown(units);
        add(&format!(" {change}"), &regular, change_color(ui, source, target));
        let exact = [source, target].map(|bytes| units.exact(bytes));
        hover = Some(format!("{}: {}", exact.join(" → "), change_text(source, target, units)));
    } else if let [Some(first), ..] = *values {
        let line = |(run, bytes): (&Run, &Option<u64>)| {
            let bytes = (*bytes)?;
            let change = change_text(first, bytes, units);
            Some(format!("{}: {}, {change}", run.title, units.exact(bytes)))
        };
        let lines: Vec<_> = runs.iter().zip(values).filter_map(line).collect();
        hover = Some(lines.join("\n"));
    }
    let label = ui.add(Label::new(job).extend());
    if let Some(hover) = hover {
        label.on_hover_text(hover);
    }
}
