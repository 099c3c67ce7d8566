//! The lists at the right: options, side files, proportions, files of the report. Each sorts, filters
//! and is copied; a row that is clicked is shown in full below.

use std::sync::Arc;

use eframe::egui;
use eframe::egui::{Label, Margin, RichText};

use crate::analysis::program::operations::proportions;
use crate::store::Report;
use crate::store::options::{About, EngineOption, SideFact};
use crate::store::report::FileStatus;
use crate::text::clean;
use crate::ui::report::{PageContext, reason_of};
use crate::ui::units::Units;
use crate::ui::widget::data_table::{Data, DataTable, no_paint};
use crate::ui::widget::rows::{Column, Rows, Value};

/// Which list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum List {
    #[default]
    Engine,
    Target,
    Framework,
    App,
    Proportions,
    Files,
}

impl List {
    fn name(self) -> &'static str {
        match self {
            Self::Engine => "Engine options",
            Self::Target => "Target options",
            Self::Framework => "framework.json",
            Self::App => "app.json",
            Self::Proportions => "availableMemoryProportion",
            Self::Files => "Files",
        }
    }

    fn columns(self) -> Vec<Column> {
        match self {
            Self::Engine | Self::Target => vec![
                Column::rest("Name"),
                Column::text("Value", 130.0),
                Column::text("Default", 70.0),
            ],
            Self::Framework | Self::App => vec![Column::rest("Name"), Column::text("Value", 240.0)],
            Self::Proportions => vec![
                Column::rest("Operation"),
                Column { unit: "number", ..Column::text("Proportion", 90.0) },
                Column::count("Times", 80.0),
            ],
            Self::Files => vec![
                Column::rest("File"),
                Column::text("State", 110.0),
                Column::bytes("Size", 120.0),
            ],
        }
    }
}

/// The rows of any list.
#[derive(Debug, Default)]
struct ListRows(Vec<Vec<Value<'static>>>);

impl Rows for ListRows {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        self.0.get(row).and_then(|row| row.get(column)).cloned().unwrap_or_default()
    }
}

/// What the lists remember.
#[derive(Debug, Default)]
pub struct Lists {
    list: List,
    table: DataTable,
    selected: Option<usize>,
    made: Option<Made>,
}

/// The rows with what they were made from.
struct Made {
    list: List,
    parts: u32,
    rows: Arc<dyn Rows>,
    note: String,
}

impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Made").field(&self.list).finish_non_exhaustive()
    }
}

impl Lists {
    /// Draws the chosen list; `parts` changes when more of the report is there.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, parts: u32) {
        let report = page.report;
        let Some(about) = report.about.get() else {
            ui.weak("Options are not in this report, or not read yet");
            return;
        };
        let before = self.list;
        self.tabs_ui(ui, report, about);
        if self.list != before {
            self.table = DataTable::default();
            self.selected = None;
        }
        if self.made.as_ref().is_none_or(|made| made.list != self.list || made.parts != parts) {
            let rows = rows(report, about, self.list);
            let note = note(report, self.list, &rows);
            self.made = Some(Made { list: self.list, parts, rows: Arc::new(ListRows(rows)), note });
        }
        let Some(made) = &self.made else { return };
        if made.rows.len() == 0 {
            ui.weak(&made.note);
            return;
        }
        if let Some(row) = self.selected {
            full_ui(ui, &*made.rows, row);
        }
        let selected = self.selected;
        let data = Data {
            name: self.list.name(),
            title: "",
            note: &made.note,
            columns: &self.list.columns(),
            rows: &made.rows,
            is_selected: &|row| selected == Some(row),
            paint: &no_paint,
        };
        if let Some(click) = self.table.ui(ui, &data, page.commands) {
            self.selected = (selected != Some(click.row)).then_some(click.row);
        }
    }

    fn tabs_ui(&mut self, ui: &mut egui::Ui, report: &Report, about: &About) {
        let files = report.files();
        let found = files.iter().filter(|file| file.bytes.is_some()).count();
        let damaged = files.iter().filter(|file| is_damaged(file.status)).count();
        let damaged = if damaged > 0 { format!(", {damaged} damaged") } else { String::new() };
        let files = format!("Files ({found} of {}{damaged})", files.len());
        ui.horizontal_wrapped(|ui| {
            for (list, count, is_always_there) in [
                (List::Engine, about.engine_options.len(), true),
                (List::Target, about.target_options.len(), true),
                // A side file that is absent is named under Files.
                (List::Framework, about.framework.len(), false),
                (List::App, about.app.len(), false),
            ] {
                if is_always_there || count > 0 {
                    let title = format!("{} ({count})", list.name());
                    ui.selectable_value(&mut self.list, list, title);
                }
            }
            let proportions = List::Proportions;
            ui.selectable_value(&mut self.list, proportions, proportions.name());
            ui.selectable_value(&mut self.list, List::Files, files);
        });
    }
}

/// A row with nothing cut off, to be read and copied.
fn full_ui(ui: &mut egui::Ui, rows: &dyn Rows, row: usize) {
    let text = |column: usize| {
        let text = rows.value(row, column).shown(Units::now(ui)).into_owned();
        clean(&text).into_owned()
    };
    let (name, value) = (text(0), text(1));
    let frame = egui::Frame::new().inner_margin(Margin::symmetric(0, 6));
    egui::Panel::bottom("selected row").frame(frame).show(ui, |ui| {
        ui.add(Label::new(RichText::new(name).weak()).wrap());
        ui.add(Label::new(RichText::new(value).strong()).wrap());
    });
}

/// What is said beside the number of rows, or in place of them.
fn note(report: &Report, list: List, rows: &[Vec<Value<'_>>]) -> String {
    match list {
        List::Proportions if !report.debug.is_settled() => "Debug information is being read".into(),
        List::Proportions if report.debug.get().is_none() => reason_of(report.debug.absence()),
        List::Proportions if rows.is_empty() => {
            "No operation of this program has the option".into()
        }
        List::Engine | List::Target => {
            let changed = Value::text(CHANGED);
            let count = rows.iter().filter(|row| row.get(2) == Some(&changed)).count();
            format!("of them {count} changed from default")
        }
        List::Framework | List::App | List::Files | List::Proportions => String::new(),
    }
}

/// What the column "Default" says of an option that was set.
const CHANGED: &str = "changed";

fn rows(report: &Report, about: &About, list: List) -> Vec<Vec<Value<'static>>> {
    match list {
        List::Engine => option_rows(&about.engine_options),
        List::Target => option_rows(&about.target_options),
        List::Framework => about.framework.iter().map(fact_row).collect(),
        List::App => about.app.iter().map(fact_row).collect(),
        List::Proportions => proportion_rows(report),
        List::Files => file_rows(report),
    }
}

/// Options in the order of the file, those that are not as by default first.
fn option_rows(options: &[EngineOption]) -> Vec<Vec<Value<'static>>> {
    let mut options: Vec<&EngineOption> = options.iter().collect();
    options.sort_by_key(|option| option.is_default != Some(false));
    let row = |option: &&EngineOption| {
        let default = match option.is_default {
            Some(true) => Value::text("default"),
            Some(false) => Value::text(CHANGED),
            None => Value::Nothing,
        };
        let value = if option.value.is_empty() { "(empty)" } else { &option.value };
        vec![Value::text(option.name.clone()), Value::text(value.to_owned()), default]
    };
    options.iter().map(row).collect()
}

fn fact_row(fact: &SideFact) -> Vec<Value<'static>> {
    vec![Value::text(fact.path.clone()), Value::text(fact.value.clone())]
}

fn proportion_rows(report: &Report) -> Vec<Vec<Value<'static>>> {
    let (Some(debug), Some(programs)) = (report.debug.get(), report.programs.get()) else {
        return Vec::new();
    };
    let rows = proportions(debug, programs).into_iter().map(|row| {
        let operation = row.operation.unwrap_or_else(|| "Unnamed operation".to_owned());
        let value = row.value.map_or(Value::text("not a number"), Value::Number);
        vec![Value::text(operation), value, Value::Count(row.count)]
    });
    rows.collect()
}

/// Whether a file is there, but not as it should be.
pub fn is_damaged(status: FileStatus) -> bool {
    !matches!(status, FileStatus::Ok | FileStatus::Missing)
}

/// Files in the order of the report; the marks tell states apart without reading.
fn file_rows(report: &Report) -> Vec<Vec<Value<'static>>> {
    let rows = report.files().into_iter().map(|file| {
        vec![Value::text(file.name), Value::text(state_text(file.status)), Value::bytes(file.bytes)]
    });
    rows.collect()
}

/// The state of a file, with a mark.
pub fn state_text(status: FileStatus) -> String {
    match status {
        FileStatus::Ok => "✔ found".to_owned(),
        FileStatus::Missing => "– absent".to_owned(),
        status => format!("⚠ {}", status.as_str()),
    }
}
