//! Two memory snapshots: what follows from them, what each took, and what is alive at the peak of each. Events of two
//! runs are not aligned, so nothing here goes by steps; the curves lie over each other by the numbers of events.

use eframe::egui::{self, RichText, ScrollArea};
use std::sync::Arc;

use super::{BESIDE, CURVES, FRAME, LEAST_PICTURE, MOST_PICTURE};
use crate::analysis::allocator::user_frame::NO_STACK;
use crate::analysis::compared_snapshots::{
    Both, ComparedFigure, ComparedRow, ComparedSnapshots, Function, FunctionRow, Room,
};
use crate::text::{clean, grouped, shortened};
use crate::ui::card_fields::{Typed, device_titles, device_ui, fields_row_ui};
use crate::ui::job::MadeFor;
use crate::ui::report::PageContext;
use crate::ui::report::glance::Glance;
use crate::ui::report::glance::curves::Curves;
use crate::ui::report::snapshot::compared::{FoundComparison, both_snapshots, words_ui};
use crate::ui::report::snapshot::snapshot_of;
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
use crate::ui::widget::rows::{Column, Listed, Rows, Value, signed};

/// Width of a column of figures, points, and of words.
const FIGURE: f32 = 110.0;
const WORDS: f32 = 130.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    /// The curves, and what follows.
    #[default]
    Pictures,
    Frames,
    Functions,
}

/// A table whose rows are made again when something else was found.
#[derive(Default)]
struct Table {
    table: DataTable,
    made: MadeFor<ComparedSnapshots, Arc<dyn Rows>>,
}

/// Which device is compared, and what the user says that it has.
#[derive(Default)]
struct Card {
    device: Option<i64>,
    capacity: Typed,
    other: Typed,
}

impl Card {
    fn ui(&mut self, ui: &mut egui::Ui, both: [&Run; 2]) {
        let devices = both.into_iter().filter_map(snapshot_of);
        let devices = devices.flat_map(|replayed| &replayed.snapshot.devices);
        let devices = device_titles(devices.map(|device| (device.number, device.rank)));
        // Those that were read again may have others.
        self.device = self.device.filter(|device| devices.contains_key(device));
        fields_row_ui(ui, |ui| {
            if devices.len() > 1 {
                device_ui(ui, &mut self.device, &devices);
            }
            self.capacity.ui(ui, "Capacity", "16GiB");
            self.other.ui(ui, "Other memory", "600MiB");
        });
    }

    fn room(&self) -> Room {
        Room { capacity_bytes: self.capacity.bytes, other_bytes: self.other.bytes.unwrap_or(0) }
    }
}

#[derive(Default)]
pub struct SnapshotsCompared {
    tab: Tab,
    card: Card,
    compared: FoundComparison,
    frames: Table,
    functions: Table,
}

/// The reference and the run at a position, where both are snapshots.
pub fn snapshots_of(runs: &Runs, place: usize) -> Option<[&Run; 2]> {
    both_snapshots(runs.reference(), runs.get(place)?)
}

impl SnapshotsCompared {
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
        let Some(both) = snapshots_of(&runs, place) else { return };
        self.tabs_ui(ui);
        self.card.ui(ui, both);
        let found = self.compared.ask(ui.ctx(), both, self.card.device);
        ui.add_space(4.0);
        match (self.tab, found) {
            (Tab::Pictures, found) => {
                let found = found.and_then(Result::ok);
                let found = found.as_deref().map(|found| (found, self.card.room()));
                pictures_ui(ui, page, both, found, (curves, glance));
            }
            (_, None) => absent_ui(
                ui,
                self.compared.failure().unwrap_or("The snapshots are being compared"),
                "",
            ),
            (_, Some(Err(why_not))) => absent_ui(ui, why_not, ""),
            (Tab::Frames, Some(Ok(found))) => self.frames_ui(ui, page, both, &found),
            (Tab::Functions, Some(Ok(found))) => self.functions_ui(ui, page, both, &found),
        }
    }

    fn tabs_ui(&mut self, ui: &mut egui::Ui) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            for (tab, title) in [
                (Tab::Pictures, "Curves and peak"),
                (Tab::Frames, "At the peaks by frames"),
                (Tab::Functions, "By function"),
            ] {
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

    fn frames_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        both: [&Run; 2],
        found: &Arc<ComparedSnapshots>,
    ) {
        let rows = self.frames.made.get(found, || -> Arc<dyn Rows> {
            let rows = found.peaks.rows.iter().map(FrameRow::of).collect();
            Arc::new(Listed { rows, cell: FrameRow::cell })
        });
        let [source, target] = both.map(|run| &*run.title);
        let columns = [
            Column::rest("Allocated in"),
            Column::text("Called by", WORDS),
            Column::text("Purpose", FIGURE),
            Column::text("Change", FIGURE),
            Column::bytes("Each block", FIGURE).not_summed(),
            Column::count(format!("{source} blocks"), FIGURE),
            Column::count(format!("{target} blocks"), FIGURE),
            Column::bytes(source, FIGURE),
            Column::bytes(target, FIGURE),
            Column::bytes("Difference", FIGURE),
        ];
        let data = Data {
            note: "what is asked for, at the peak of each; adds up to both peaks",
            ..Data::of("blocks at both peaks", &columns, Arc::clone(rows))
        };
        self.frames.table.ui(ui, &data, page.commands);
    }

    fn functions_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        both: [&Run; 2],
        found: &Arc<ComparedSnapshots>,
    ) {
        let rows = self.functions.made.get(found, || -> Arc<dyn Rows> {
            let rows = found.peaks.by_function_and_category.iter().map(OfFunction::of).collect();
            Arc::new(Listed { rows, cell: OfFunction::cell })
        });
        let [source, target] = both.map(|run| &*run.title);
        let columns = [
            Column::rest("Function"),
            Column::text("Purpose", FIGURE),
            Column::bytes(source, FIGURE),
            Column::bytes(target, FIGURE),
            Column::bytes("Difference", FIGURE),
        ];
        let data = Data {
            note: "what is asked for, at the peak of each; adds up to both peaks",
            ..Data::of("functions at both peaks", &columns, Arc::clone(rows))
        };
        self.functions.table.ui(ui, &data, page.commands);
    }
}

/// A row of the table by frames, in words.
struct FrameRow {
    title: String,
    callers: String,
    category: &'static str,
    change: &'static str,
    size: Option<u64>,
    both: Both,
}

impl FrameRow {
    fn of(row: &ComparedRow) -> Self {
        let names: Vec<_> = row.frames.iter().skip(1).map(|frame| clean(&frame.name)).collect();
        let was = row.of_source.as_ref().map(|frame| format!("was in {}", clean(&frame.name)));
        Self {
            title: clean(&row.title()).into_owned(),
            callers: was.unwrap_or_else(|| names.join(" < ")),
            category: row.category.title(),
            change: row.change().title(),
            size: row.size,
            both: row.both,
        }
    }

    fn cell(&self, column: usize) -> Value<'_> {
        let Both { source, target } = self.both;
        match column {
            0 => Value::text(&*self.title),
            1 => Value::text(&*self.callers),
            2 => Value::text(self.category),
            3 => Value::text(self.change),
            4 => Value::bytes(self.size),
            5 => Value::Count(source.blocks),
            6 => Value::Count(target.blocks),
            7 => Value::Bytes(source.bytes),
            8 => Value::Bytes(target.bytes),
            _ => Value::change(source.bytes, target.bytes),
        }
    }
}

/// A row of the table by function, in words.
struct OfFunction {
    title: String,
    category: &'static str,
    both: Both,
}

impl OfFunction {
    fn of(row: &FunctionRow) -> Self {
        let title = row.function.as_ref().map_or_else(|| NO_STACK.to_owned(), Function::title);
        let category = row.category.map_or("", |category| category.title());
        Self { title: clean(&title).into_owned(), category, both: row.both }
    }

    fn cell(&self, column: usize) -> Value<'_> {
        let Both { source, target } = self.both;
        match column {
            0 => Value::text(&*self.title),
            1 => Value::text(self.category),
            2 => Value::Bytes(source.bytes),
            3 => Value::Bytes(target.bytes),
            _ => Value::change(source.bytes, target.bytes),
        }
    }
}

/// The curves of all runs, and beside or below them what follows.
fn pictures_ui(
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    both: [&Run; 2],
    found: Option<(&ComparedSnapshots, Room)>,
    (curves, glance): (&mut Curves, Option<&Arc<Glance>>),
) {
    let height = (ui.available_height() - FRAME).clamp(LEAST_PICTURE, MOST_PICTURE);
    let area = ScrollArea::vertical().id_salt("compared snapshots").auto_shrink(false);
    let area = area.show(ui, |ui| {
        let is_wide = ui.available_width() >= BESIDE;
        let mut curves = |ui: &mut egui::Ui| match glance {
            Some(glance) => curves.ui(ui, page, glance, height),
            None => drop(ui.weak("Comparing…")),
        };
        let words = |ui: &mut egui::Ui| match found {
            Some((found, room)) => {
                words_ui(ui, "In words", found, room);
                settings_ui(ui, found);
            }
            None => drop(ui.weak("Comparing…")),
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
        let Some((found, _)) = found else { return };
        let figures = |ui: &mut egui::Ui| figures_ui(ui, both, &found.figures);
        let categories = |ui: &mut egui::Ui| categories_ui(ui, both, found);
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

fn settings_ui(ui: &mut egui::Ui, found: &ComparedSnapshots) {
    card_ui(ui, "What differs", |ui| {
        if found.settings.is_empty() {
            ui.weak("No setting of the allocator differs");
        }
        let value = |value: &Option<String>| match value.as_deref() {
            None => "–".to_owned(),
            Some("") => "none".to_owned(),
            Some(value) => shortened(value, 30).into_owned(),
        };
        for setting in &found.settings {
            let [source, target] = setting.values.each_ref().map(value);
            ui.horizontal_wrapped(|ui| {
                ui.weak(shortened(&setting.name, 44));
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
        egui::Grid::new("figures of snapshots").num_columns(5).spacing([18.0, 2.0]).show(
            ui,
            |ui| {
                heads_ui(ui, both);
                ui.weak(format!("In percent of {}", both[0].the()));
                ui.end_row();
                for figure in figures {
                    let shown = |number: u64| {
                        if figure.figure.is_bytes() { units.bytes(number) } else { grouped(number) }
                    };
                    ui.label(figure.figure.title());
                    for value in &figure.values {
                        ui.label(shown(*value));
                    }
                    change_ui(ui, figure.difference(1).change().unwrap_or(0), shown);
                    let percent = figure.percent_of_source(1);
                    ui.weak(percent.map_or_else(String::new, |percent| format!("{percent:.1} %")));
                    ui.end_row();
                }
            },
        );
    });
}

fn categories_ui(ui: &mut egui::Ui, both: [&Run; 2], found: &ComparedSnapshots) {
    let units = Units::now(ui);
    card_ui(ui, "At the requested peaks", |ui| {
        let grid = egui::Grid::new("categories of snapshots").num_columns(4).spacing([18.0, 2.0]);
        grid.show(ui, |ui| {
            heads_ui(ui, both);
            ui.end_row();
            for (category, both) in &found.peaks.by_category {
                ui.label(category.title());
                for bytes in [both.source.bytes, both.target.bytes] {
                    ui.label(units.bytes(bytes));
                }
                change_ui(ui, both.bytes().change().unwrap_or(0), |bytes| units.bytes(bytes));
                ui.end_row();
            }
        });
    });
}
