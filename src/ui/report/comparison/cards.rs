//! The cards below the curves: which device is compared, what the runs were made with, and what changed.

use eframe::egui::{self, RichText};

use super::figures::cell;
use crate::analysis::comparison::figures::{Figure, KEY_FIGURES};
use crate::run::compared::Compared;
use crate::text::{clean, grouped, shortened};
use crate::ui::run_chips::badge_ui;
use crate::ui::runs::Run;
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::card::card_ui;
use crate::ui::widget::rows::CellValue;

/// Settings that are shown here; the others are in the table.
const MOST_SETTINGS: usize = 7;

pub fn settings_ui(ui: &mut egui::Ui, found: &Compared, of_pair: &str) {
    card_ui(ui, &format!("What differs{of_pair}"), |ui| {
        if found.settings.is_empty() {
            ui.weak(found.words.no_setting);
        }
        let value = |value: Option<&str>| match value {
            None => "–".to_owned(),
            Some("") => "none".to_owned(),
            Some(value) => shortened(value, 30).into_owned(),
        };
        let grid = egui::Grid::new("options that differ in short").num_columns(2);
        grid.spacing([14.0, 2.0]).show(ui, |ui| {
            for setting in found.settings.iter().take(MOST_SETTINGS) {
                ui.weak(shortened(&clean(&setting.title()), 44));
                let [source, target] = [setting.value(0), setting.value(1)].map(value);
                ui.label(format!("{source} → {target}"));
                ui.end_row();
            }
        });
        let more = found.settings.len().saturating_sub(MOST_SETTINGS);
        if more > 0 {
            ui.weak(format!("and {} more in the table", grouped(more as u64)));
        }
    });
}

fn heads_ui(ui: &mut egui::Ui, both: [&Run; 2]) {
    ui.weak("");
    for run in both {
        ui.horizontal(|ui| {
            badge_ui(ui, run.badge);
            ui.label(&*run.title);
        });
    }
    ui.weak("Difference");
}

/// A change of something in its color; more is not always worse, but it is more.
fn change_ui(ui: &mut egui::Ui, change: CellValue<'_>) {
    let tokens = *Tokens::now(ui);
    let color = match change {
        CellValue::Change(1..) | CellValue::CountChange(1..) => tokens.more,
        CellValue::Change(..=-1) | CellValue::CountChange(..=-1) => tokens.less,
        _ => tokens.text,
    };
    let text = change.shown(Units::now(ui));
    ui.label(RichText::new(text).strong().color(color));
}

/// The figures that say most; all where none of these is known.
pub fn figures_ui(ui: &mut egui::Ui, both: [&Run; 2], figures: &[Figure]) {
    let units = Units::now(ui);
    let is_known = |(_, figure): &(&str, &Figure)| !figure.is_unknown();
    let keys = KEY_FIGURES.iter().filter_map(|key| Some((key.title, key.of(figures)?)));
    let mut shown: Vec<_> = keys.filter(is_known).collect();
    if shown.is_empty() {
        let all = figures.iter().map(|figure| (&*figure.title, figure));
        shown = all.filter(is_known).collect();
    }
    card_ui(ui, "What changed", |ui| {
        egui::Grid::new("what changed").num_columns(6).spacing([18.0, 2.0]).show(ui, |ui| {
            heads_ui(ui, both);
            ui.weak(format!("Of {}", both[0].the()));
            ui.weak(format!("In percent of {}", both[0].the()));
            ui.end_row();
            for (title, figure) in shown {
                ui.label(clean(title));
                for column in [1, 2] {
                    ui.label(cell(figure, 1, column).shown(units));
                }
                change_ui(ui, cell(figure, 1, 3));
                ui.weak(cell(figure, 1, 4).shown(units));
                let share = figure.percent_of_source(1);
                ui.weak(share.map_or_else(String::new, |percent| format!("{percent:.1} %")));
                ui.end_row();
            }
        });
    });
}

/// What is alive at the peaks by category.
pub fn categories_ui(ui: &mut egui::Ui, both: [&Run; 2], found: &Compared) {
    let units = Units::now(ui);
    card_ui(ui, found.words.at_peaks, |ui| {
        let Some(peaks) = &found.peaks else {
            ui.weak(found.words.no_peaks);
            return;
        };
        let grid = egui::Grid::new("categories of both").num_columns(4).spacing([18.0, 2.0]);
        grid.show(ui, |ui| {
            heads_ui(ui, both);
            ui.end_row();
            for (category, both) in &peaks.by_category {
                ui.label(category.title);
                for bytes in [both.source.bytes, both.target.bytes] {
                    ui.label(units.bytes(bytes));
                }
                change_ui(ui, CellValue::change(both.source.bytes, both.target.bytes));
                ui.end_row();
            }
        });
    });
}
