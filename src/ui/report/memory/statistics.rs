//! Statistics of the tiles that are shown, of all runs.

use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{self, Color32, Label, RichText};

use super::arranged::{ArrangedTiles, TileFigures};
use crate::analysis::memory::Statistics;
use crate::text::grouped;
use crate::ui::report::{change_color, change_text};
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::rows::Value;

type Statistic = (&'static str, fn(&Statistics) -> Option<u64>);

const STATISTICS: [Statistic; 4] = [
    ("least", |figures| figures.min),
    ("median", |figures| figures.median),
    ("99th percentile", |figures| figures.p99),
    ("most", |figures| figures.max),
];

pub fn statistics_ui(ui: &mut egui::Ui, runs: &Runs, tiles: &ArrangedTiles) {
    ui.horizontal_wrapped(|ui| match tiles.figures.as_slice() {
        [figures] => of_one_ui(ui, runs.reference(), figures),
        _ => of_several_ui(ui, runs, tiles),
    });
}

fn of_one_ui(ui: &mut egui::Ui, run: &Run, figures: &TileFigures) {
    let units = Units::now(ui);
    ui.weak("With gaps");
    for (name, of) in STATISTICS {
        ui.weak(name);
        let bytes = of(&figures.statistics);
        let label =
            ui.add(Label::new(RichText::new(Value::bytes(bytes).shown(units)).strong()).extend());
        if let Some(bytes) = bytes {
            label.on_hover_text(units.exact(bytes));
        }
    }
    if let Some(tile) = figures.fullest {
        ui.weak(format!("(tile {tile})"));
    }
    ui.separator();
    let tiles = grouped(figures.tiles);
    match figures.over_limit {
        Some(0) => {
            ui.add(Label::new(format!("No tile of {tiles} is over the limit")).extend());
        }
        Some(over) => {
            let verb = if over == 1 { "is" } else { "are" };
            let over = format!("{} of {tiles} tiles {verb} over the limit", grouped(over));
            let text = RichText::new(over).strong().color(Tokens::now(ui).over);
            ui.add(Label::new(text).extend());
        }
        None if run.report.bytes_per_tile().is_some() => {
            ui.weak("Of some tiles the bytes are not known");
        }
        None => {
            ui.weak("The limit of a tile is not known");
        }
    }
}

fn of_several_ui(ui: &mut egui::Ui, runs: &Runs, tiles: &ArrangedTiles) {
    ui.spacing_mut().item_spacing.x = 14.0;
    ui.weak("With gaps");
    for (name, of) in STATISTICS {
        let values: Vec<_> = tiles.figures.iter().map(|figures| of(&figures.statistics)).collect();
        statistic_ui(ui, runs, name, &values);
    }
    ui.separator();
    tiles_over_ui(ui, tiles);
}

/// A figure of all: `least 821.8 KiB → 600.6 KiB ▼ −221.2 KiB`, of two with the change. One label, so
/// that it is not torn apart where the line ends.
fn statistic_ui(ui: &mut egui::Ui, runs: &Runs, name: &str, values: &[Option<u64>]) {
    let units = Units::now(ui);
    let font = egui::TextStyle::Body.resolve(ui.style());
    let mut job = LayoutJob::default();
    let mut add = |text: &str, color: Color32| {
        job.append(text, 0.0, TextFormat::simple(font.clone(), color));
    };
    let weak = Tokens::now(ui).weak_text;
    add(&format!("{name} "), weak);
    for (place, (run, bytes)) in runs.iter().zip(values).enumerate() {
        if place > 0 {
            add(" → ", weak);
        }
        add(&Value::bytes(*bytes).shown(units), run.color(ui));
    }
    let mut hover = None;
    if let [Some(source), Some(target)] = *values {
        let change = Value::change(source, target).shown(units);
        add(&format!(" {change}"), change_color(ui, source, target));
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

/// How many tiles are over the limit in each.
fn tiles_over_ui(ui: &mut egui::Ui, tiles: &ArrangedTiles) {
    let over: Vec<_> = tiles.figures.iter().map(|figures| figures.over_limit).collect();
    let text = |over: &Option<u64>| over.map_or_else(|| "not known".to_owned(), grouped);
    let text = if over.iter().all(|over| *over == Some(0)) {
        let of = if over.len() == 2 { "either" } else { "any" };
        RichText::new(format!("No tile is over the limit in {of}"))
    } else {
        let counts: Vec<_> = over.iter().map(text).collect();
        let of = grouped(tiles.axis.len() as u64);
        let text = format!("Tiles over the limit {} of {of}", counts.join(" → "));
        let text = RichText::new(text).strong();
        let has_ended = over.iter().skip(1).all(|over| *over == Some(0));
        if has_ended { text } else { text.color(Tokens::now(ui).over) }
    };
    ui.add(Label::new(text).extend());
}
