//! Statistics of the tiles that are shown, of both reports with their differences.

use eframe::egui;
use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{Color32, Label, RichText};

use super::made::PairShown;
use crate::analysis::memory::Statistics;
use crate::text::grouped;
use crate::ui::legacy::Side;
use crate::ui::report::halves::side_color;
use crate::ui::report::{change_color, change_text};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::rows::Value;

/// A figure: its name and how it is found.
type Figure = (&'static str, fn(&Statistics) -> Option<u64>);

/// Draws the line.
pub fn statistics_ui(ui: &mut egui::Ui, shown: &PairShown) {
    let units = Units::now(ui);
    let both = Side::BOTH.map(|side| shown.figures(side));
    let figures: [Figure; 4] = [
        ("least", |figures| figures.min),
        ("median", |figures| figures.median),
        ("99th percentile", |figures| figures.p99),
        ("most", |figures| figures.max),
    ];
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 14.0;
        ui.weak("With gaps");
        for (name, of) in figures {
            figure_ui(ui, name, both.map(|figures| of(&figures.statistics)), units);
        }
        ui.separator();
        tiles_over_ui(ui, shown);
    });
}

/// A figure of both: `least 821.8 KiB → 600.6 KiB ▼ −221.2 KiB`. One label, so that it is not torn
/// apart where the line ends.
fn figure_ui(ui: &mut egui::Ui, name: &str, values: [Option<u64>; 2], units: Units) {
    let font = egui::TextStyle::Body.resolve(ui.style());
    let mut job = LayoutJob::default();
    let mut add = |text: &str, color: Color32| {
        job.append(text, 0.0, TextFormat::simple(font.clone(), color));
    };
    let weak = Tokens::now(ui).weak_text;
    let text =
        |bytes: Option<u64>| bytes.map_or_else(|| "–".to_owned(), |bytes| units.bytes(bytes));
    let [source, target] = values;
    add(&format!("{name} "), weak);
    add(&text(source), side_color(ui, Side::Source));
    add(" → ", weak);
    add(&text(target), side_color(ui, Side::Target));
    let mut hover = None;
    if let (Some(source), Some(target)) = (source, target) {
        let change = Value::change(source, target).shown(units);
        add(&format!(" {change}"), change_color(ui, source, target));
        let exact = [source, target].map(|bytes| units.exact(bytes));
        hover = Some(format!("{}: {}", exact.join(" → "), change_text(source, target, units)));
    }
    let label = ui.add(Label::new(job).extend());
    if let Some(hover) = hover {
        label.on_hover_text(hover);
    }
}

/// How many tiles are over the limit in either.
fn tiles_over_ui(ui: &mut egui::Ui, shown: &PairShown) {
    let both = Side::BOTH.map(|side| shown.figures(side).over_limit);
    let text = |over: Option<u64>| over.map_or_else(|| "not known".to_owned(), grouped);
    let text = match both {
        [Some(0), Some(0)] => RichText::new("No tile is over the limit in either"),
        [source, target] => {
            let of = grouped(shown.axis.len() as u64);
            let over = format!("Tiles over the limit {} → {} of {of}", text(source), text(target));
            let over = RichText::new(over).strong();
            if target == Some(0) { over } else { over.color(Tokens::now(ui).bad) }
        }
    };
    ui.add(Label::new(text).extend());
}
