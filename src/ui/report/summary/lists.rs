//! The lists at the right: options, side files, proportions, files of the report; each with the same
//! filter.

use eframe::egui;
use eframe::egui::TextEdit;

use crate::analysis::operations::proportions;
use crate::store::Report;
use crate::store::options::{About, EngineOption, SideFact};
use crate::store::report::FileStatus;
use crate::text::{clean, grouped, shortened};
use crate::ui::units::Units;
use crate::ui::widget::table::{Cell, ColumnSpec, Table};

/// Longest text of a cell.
const CELL: usize = 200;

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
    /// The titles of its columns.
    fn columns(self) -> [&'static str; 3] {
        match self {
            Self::Engine | Self::Target => ["Name", "Value", "Default"],
            Self::Framework | Self::App => ["Name", "Value", ""],
            Self::Proportions => ["Operation", "Proportion", "Times"],
            Self::Files => ["File", "State", "Size"],
        }
    }
}

/// A row of any list.
#[derive(Clone, Debug)]
struct Row {
    cells: [String; 3],
    is_strong: bool,
}

/// What the lists remember.
#[derive(Debug, Default)]
pub struct Lists {
    list: List,
    filter: String,
    made: Option<Made>,
}

/// The rows with what they were made from.
#[derive(Debug)]
struct Made {
    list: List,
    filter: String,
    parts: u32,
    units: Units,
    rows: Vec<Row>,
}

impl Lists {
    /// Draws the chosen list; `parts` changes when more of the report is there.
    pub fn ui(&mut self, ui: &mut egui::Ui, report: &Report, parts: u32) {
        let Some(about) = report.about.get() else {
            ui.weak("Options are not in this report, or not read yet");
            return;
        };
        self.tabs_ui(ui, report, about);
        ui.horizontal(|ui| {
            let label = ui.label("Filter");
            ui.add(
                TextEdit::singleline(&mut self.filter)
                    .hint_text("Part of a name or value")
                    .desired_width(f32::INFINITY),
            )
            .labelled_by(label.id);
        });
        let units = Units::now(ui);
        let is_fresh = self.made.as_ref().is_some_and(|made| {
            made.list == self.list
                && made.filter == self.filter
                && made.parts == parts
                && made.units == units
        });
        if !is_fresh {
            let rows = filtered(rows(report, about, self.list, units), &self.filter);
            let (list, filter) = (self.list, self.filter.clone());
            self.made = Some(Made { list, filter, parts, units, rows });
        }
        let Some(made) = &self.made else { return };
        note_ui(ui, report, made);
        if !made.rows.is_empty() {
            table_ui(ui, made);
        }
    }

    fn tabs_ui(&mut self, ui: &mut egui::Ui, report: &Report, about: &About) {
        let files = report.files();
        let found = files.iter().filter(|file| file.bytes.is_some()).count();
        let damaged = files.iter().filter(|file| is_damaged(file.status)).count();
        let damaged = if damaged > 0 { format!(", {damaged} damaged") } else { String::new() };
        let files = format!("Files ({found} of {}{damaged})", files.len());
        let with_count = |title: &str, count: usize| format!("{title} ({count})");
        ui.horizontal_wrapped(|ui| {
            for (list, title, is_there) in [
                (List::Engine, with_count("Engine options", about.engine_options.len()), true),
                (List::Target, with_count("Target options", about.target_options.len()), true),
                // A side file that is absent is named under Files.
                (
                    List::Framework,
                    with_count("framework.json", about.framework.len()),
                    !about.framework.is_empty(),
                ),
                (List::App, with_count("app.json", about.app.len()), !about.app.is_empty()),
                (List::Proportions, "availableMemoryProportion".to_owned(), true),
                (List::Files, files, true),
            ] {
                if is_there {
                    ui.selectable_value(&mut self.list, list, title);
                }
            }
        });
    }
}

/// One line above the table: how many there are, or why there are none.
fn note_ui(ui: &mut egui::Ui, report: &Report, made: &Made) {
    let count = made.rows.len() as u64;
    let is_filtered = !made.filter.trim().is_empty();
    let text = match made.list {
        _ if count == 0 && is_filtered => "No name or value has this text".to_owned(),
        List::Proportions if !report.debug.is_settled() => {
            "Debug information is being read".to_owned()
        }
        List::Proportions if report.debug.get().is_none() => {
            "Not known without debug.cbor; engine \
            option autoReport.outputDebugInfo brings it"
                .to_owned()
        }
        List::Proportions if count == 0 => "No operation of this program has the option".to_owned(),
        List::Proportions => {
            "What PopLibs was given, by the kind of the operation that asked".to_owned()
        }
        List::Engine | List::Target if made.rows.iter().any(|row| !row.cells[2].is_empty()) => {
            let changed = made.rows.iter().filter(|row| row.is_strong).count() as u64;
            let (count, changed) = (grouped(count), grouped(changed));
            format!("{count} shown, {changed} changed from default, those first")
        }
        _ => format!("{} shown", grouped(count)),
    };
    ui.weak(text);
}

fn table_ui(ui: &mut egui::Ui, made: &Made) {
    let titles = made.list.columns();
    let is_number = matches!(made.list, List::Proportions);
    let value = (ui.available_width() * 0.28).min(220.0);
    let mut columns = vec![ColumnSpec::rest(titles[0])];
    columns.push(match is_number {
        true => ColumnSpec::number(titles[1], value.min(110.0)),
        false => ColumnSpec::text(titles[1], value),
    });
    match made.list {
        List::Engine | List::Target => columns.push(ColumnSpec::text(titles[2], 70.0)),
        List::Proportions => columns.push(ColumnSpec::number(titles[2], 90.0)),
        List::Files => columns.push(ColumnSpec::number(titles[2], 170.0)),
        List::Framework | List::App => {}
    }
    let id = format!("summary {:?}", made.list);
    let table = Table {
        id: &id,
        columns: &columns,
        rows: made.rows.len(),
        selected: None,
        is_clickable: false,
    };
    table.ui(ui, |row, column| {
        let Some(row) = made.rows.get(row) else { return Cell::default() };
        let Some(text) = row.cells.get(column) else { return Cell::default() };
        let is_weak = column == 2 && !row.is_strong && made.list != List::Files;
        let cell = match text.as_str() {
            "" if column == 1 => Cell::new("(empty)").weak(),
            text => Cell::new(text).strong(row.is_strong).hover(text),
        };
        if is_weak { cell.weak() } else { cell }
    });
}

fn filtered(mut rows: Vec<Row>, filter: &str) -> Vec<Row> {
    let wanted = filter.trim().to_lowercase();
    rows.retain(|row| row.cells.iter().any(|cell| cell.to_lowercase().contains(&wanted)));
    // Stable: within both groups the order of the file stays.
    rows.sort_by_key(|row| !row.is_strong);
    rows
}

fn rows(report: &Report, about: &About, list: List, units: Units) -> Vec<Row> {
    match list {
        List::Engine => about.engine_options.iter().map(option_row).collect(),
        List::Target => about.target_options.iter().map(option_row).collect(),
        List::Framework => about.framework.iter().map(fact_row).collect(),
        List::App => about.app.iter().map(fact_row).collect(),
        List::Proportions => proportion_rows(report),
        List::Files => file_rows(report, units),
    }
}

fn option_row(option: &EngineOption) -> Row {
    let default = option.is_default.map_or("", |is| if is { "default" } else { "changed" });
    Row {
        cells: [
            shortened(&option.name, CELL).into_owned(),
            shortened(&option.value, CELL).into_owned(),
            default.to_owned(),
        ],
        is_strong: option.is_default == Some(false),
    }
}

fn fact_row(fact: &SideFact) -> Row {
    let cell = |text: &str| shortened(text, CELL).into_owned();
    Row { cells: [cell(&fact.path), cell(&fact.value), String::new()], is_strong: false }
}

fn proportion_rows(report: &Report) -> Vec<Row> {
    let (Some(debug), Some(programs)) = (report.debug.get(), report.programs.get()) else {
        return Vec::new();
    };
    let rows = proportions(debug, programs).into_iter().map(|row| {
        let operation = row.operation.as_deref().unwrap_or("Unnamed operation");
        let value = row.value.map_or_else(|| "not a number".to_owned(), |value| value.to_string());
        let cells = [shortened(operation, CELL).into_owned(), value, grouped(row.count)];
        Row { cells, is_strong: false }
    });
    rows.collect()
}

/// Whether a file is there, but not as it should be.
fn is_damaged(status: FileStatus) -> bool {
    !matches!(status, FileStatus::Ok | FileStatus::Missing)
}

/// Files in the order of the report; the marks tell states apart without reading.
fn file_rows(report: &Report, units: Units) -> Vec<Row> {
    let rows = report.files().into_iter().map(|file| {
        let mark = match file.status {
            FileStatus::Ok => "✔",
            status if is_damaged(status) => "⚠",
            _ => "–",
        };
        let state = match file.status {
            FileStatus::Ok => "found",
            FileStatus::Missing => "absent",
            status => status.as_str(),
        };
        let size = file.bytes.map_or_else(|| "–".to_owned(), |bytes| units.exact(bytes));
        Row {
            cells: [clean(&file.name).into_owned(), format!("{mark} {state}"), size],
            is_strong: is_damaged(file.status),
        }
    });
    rows.collect()
}
