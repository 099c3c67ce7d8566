//! Two runs whose steps have nothing in common: what follows from them, what each
//! took, and what is alive at the peak of each. Nothing here goes by steps; the curves lie over each other by numbers.

use eframe::egui::{self, RichText, ScrollArea};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{BESIDE, CURVES, FRAME, LEAST_PICTURE, MOST_PICTURE};
use crate::analysis::comparison::figures::Unit;
use crate::run::compared::ComparedWords;
use crate::run::compared::figures::ComparedFigure;
use crate::run::{Compared, Room};
use crate::text::{clean, grouped, shortened};
use crate::ui::card_fields::{Typed, device_ui, fields_row_ui};
use crate::ui::report::PageContext;
use crate::ui::report::glance::Glance;
use crate::ui::report::glance::curves::Curves;
use crate::ui::report::peaks_compared::{
    FoundPeaks, PeakTable, PeaksCompared, devices_of, with_peaks,
};
use crate::ui::report::two_columns::{Column as Half, two_columns_ui};
use crate::ui::run_chips::badge_ui;
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::card::card_ui;
use crate::ui::widget::choice::shown_tab_line;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::exports::scrolled_of_exports;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::rows::{Rows, difference, signed};

/// The first tab, with the curves and what follows.
const PICTURES: &str = "Curves and peak";

/// Which device is compared, and what the user says that it has.
#[derive(Default)]
struct Card {
    device: Option<i64>,
    capacity: Typed,
    other: Typed,
}

impl Card {
    fn ui(
        &mut self,
        ui: &mut egui::Ui,
        (words, devices): (&ComparedWords, &BTreeMap<i64, String>),
    ) {
        // Those that were read again may have others.
        self.device = self.device.filter(|device| devices.contains_key(device));
        fields_row_ui(ui, |ui| {
            if devices.len() > 1 {
                device_ui(ui, words.device, &mut self.device, devices);
            }
            self.capacity.ui(ui, "Capacity", "16GiB");
            self.other.ui(ui, "Other memory", "600MiB");
        });
    }

    fn room(&self) -> Room {
        Room {
            capacity_bytes: self.capacity.bytes,
            other_bytes: self.other.bytes.unwrap_or(0),
            is_other_said: self.other.bytes.is_some(),
        }
    }
}

#[derive(Default)]
pub struct PeaksPage {
    /// The table that is shown, by its place among the tabs; without, the pictures.
    tab: Option<usize>,
    card: Card,
    found: FoundPeaks,
    tables: [DataTable; 2],
}

/// The reference and the run at a position, where they are compared by their peaks.
pub fn both_of(runs: &Runs, place: usize) -> Option<[&Run; 2]> {
    with_peaks(runs.reference(), runs.get(place)?)
}

impl PeaksPage {
    /// Forgets what was worked out.
    pub fn forget(&mut self) {
        let card = std::mem::take(&mut self.card);
        *self = Self { tab: self.tab, card, ..Self::default() };
    }

    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        place: usize,
        curves: &mut Curves,
        glance: Option<&Arc<Glance>>,
    ) {
        let runs = Arc::clone(page.runs);
        let Some(both) = both_of(&runs, place) else { return };
        let found = self.found.ask(ui.ctx(), both, self.card.device);
        let Some((words, devices)) = devices_of(both) else { return };
        self.tabs_ui(ui, words);
        self.card.ui(ui, (words, &devices));
        ui.add_space(4.0);
        match (self.tab, found) {
            (_, Some(Err(why_not))) => absent_ui(ui, &why_not, ""),
            (None, found) => {
                let found = found.and_then(Result::ok);
                self.pictures_ui(ui, page, (both, found.as_ref()), (curves, glance));
            }
            (Some(_), None) => {
                let failure = self.found.failure();
                absent_ui(ui, failure.unwrap_or("The runs are being compared"), "");
            }
            (Some(tab), Some(Ok(found))) => self.table_ui(ui, page, both, (&found, tab)),
        }
    }

    fn tabs_ui(&mut self, ui: &mut egui::Ui, words: &ComparedWords) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            let tables = words.tabs.iter().enumerate().map(|(tab, (_, title))| (Some(tab), *title));
            for (tab, title) in std::iter::once((None, PICTURES)).chain(tables) {
                let entry = ui.selectable_label(self.tab == tab, title);
                if entry.clicked() {
                    self.tab = tab;
                }
                if self.tab == tab {
                    shown_tab_line(ui, &entry);
                }
            }
        });
    }

    fn table_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        both: [&Run; 2],
        (found, tab): (&PeaksCompared, usize),
    ) {
        let Some((table, shown)) = found.tables.get(tab).zip(self.tables.get_mut(tab)) else {
            absent_ui(ui, found.compared.words.no_peaks, "");
            return;
        };
        let columns = table.columns(both.map(|run| &*run.title));
        let rows: Arc<dyn Rows> = Arc::<PeakTable>::clone(table);
        let data =
            Data { note: found.compared.words.adds_up, ..Data::of(&table.name, &columns, rows) };
        shown.ui(ui, &data, page.commands);
    }

    /// The curves of all runs, and beside or below them what follows.
    fn pictures_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        (both, found): ([&Run; 2], Option<&Arc<PeaksCompared>>),
        (curves, glance): (&mut Curves, Option<&Arc<Glance>>),
    ) {
        let height = (ui.available_height() - FRAME).clamp(LEAST_PICTURE, MOST_PICTURE);
        let area = ScrollArea::vertical().id_salt("compared peaks").auto_shrink(false);
        let area = area.show(ui, |ui| {
            let is_wide = ui.available_width() >= BESIDE;
            let mut curves = |ui: &mut egui::Ui| match glance {
                Some(glance) => curves.ui(ui, page, glance, height),
                None => drop(ui.weak("Comparing…")),
            };
            let room = self.card.room();
            let mut words = |ui: &mut egui::Ui| match found {
                Some(found) => {
                    self.found.words_ui(ui, "In words", found, room);
                    settings_ui(ui, &found.compared);
                }
                None => drop(ui.weak(self.found.failure().unwrap_or("Comparing…"))),
            };
            if is_wide {
                two_columns_ui(ui, CURVES, |ui, column| match column {
                    Half::Left => curves(ui),
                    Half::Right => words(ui),
                });
            } else {
                curves(ui);
                words(ui);
            }
            let Some(found) = found else { return };
            let figures = |ui: &mut egui::Ui| figures_ui(ui, both, &found.compared.figures);
            let categories = |ui: &mut egui::Ui| categories_ui(ui, both, &found.compared);
            if is_wide {
                two_columns_ui(ui, 0.55, |ui, column| match column {
                    Half::Left => figures(ui),
                    Half::Right => categories(ui),
                });
            } else {
                figures(ui);
                categories(ui);
            }
        });
        scrolled_of_exports(ui, &area);
    }
}

fn settings_ui(ui: &mut egui::Ui, found: &Compared) {
    card_ui(ui, "What differs", |ui| {
        if found.settings.is_empty() {
            ui.weak(found.words.no_setting);
        }
        let value = |value: Option<&str>| match value {
            None => "–".to_owned(),
            Some("") => "none".to_owned(),
            Some(value) => shortened(value, 30).into_owned(),
        };
        for setting in &found.settings {
            let [source, target] = setting.values().map(value);
            ui.horizontal_wrapped(|ui| {
                ui.weak(shortened(&clean(&setting.name), 44));
                ui.label(format!("{source} → {target}"));
            });
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

fn change_ui(ui: &mut egui::Ui, change: i64, shown: impl Fn(u64) -> String) {
    let tokens = *Tokens::now(ui);
    let color = match change {
        1.. => tokens.more,
        0 => tokens.text,
        _ => tokens.less,
    };
    ui.label(RichText::new(signed(change, shown)).strong().color(color));
}

fn figures_ui(ui: &mut egui::Ui, both: [&Run; 2], figures: &[ComparedFigure]) {
    let units = Units::now(ui);
    card_ui(ui, "What changed", |ui| {
        egui::Grid::new("figures of both").num_columns(5).spacing([18.0, 2.0]).show(ui, |ui| {
            heads_ui(ui, both);
            ui.weak(format!("In percent of {}", both[0].the()));
            ui.end_row();
            for figure in figures {
                let shown = |number: u64| {
                    if figure.unit == Unit::Bytes { units.bytes(number) } else { grouped(number) }
                };
                ui.label(figure.title);
                let values = [figure.value(0), figure.value(1)];
                for value in values {
                    ui.label(value.map_or_else(|| "–".to_owned(), shown));
                }
                match values {
                    [Some(source), Some(target)] => {
                        change_ui(ui, difference(source, target), shown);
                    }
                    _ => drop(ui.weak("")),
                }
                let percent = figure.percent_of_source(1);
                ui.weak(percent.map_or_else(String::new, |percent| format!("{percent:.1} %")));
                ui.end_row();
            }
        });
    });
}

fn categories_ui(ui: &mut egui::Ui, both: [&Run; 2], found: &Compared) {
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
                change_ui(ui, both.bytes().change().unwrap_or(0), |bytes| units.bytes(bytes));
                ui.end_row();
            }
        });
    });
}
