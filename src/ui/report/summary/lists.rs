//! The lists at the right: options, side files, proportions, files of the reports, with a column for each run. Rows
//! that differ come first. Each sorts, filters and is copied; a row that is clicked is shown in full below.

use eframe::egui::{self, Label, Margin, RichText};
use std::sync::Arc;

use super::words::{SAME, state_text};
use crate::analysis::comparison::options::{NamedValues, options, side_facts};
use crate::analysis::figures::joined::side_by_side;
use crate::analysis::program::operations::{PROPORTION, ProportionCount, proportions};
use crate::store::options::About;
use crate::store::report::{FileStatus, ReportFile};
use crate::store::{Report, System};
use crate::text::clean;
use crate::ui::command::Command;
use crate::ui::report::reason_of;
use crate::ui::run_chips::badge_ui;
use crate::ui::runs::{Needed, Run, Runs};
use crate::ui::selection::toggle;
use crate::ui::units::Units;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::rows::{CellValue, Listed, Rows, TableColumn};
use crate::ui::widget::sign::Sign;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SummaryList {
    #[default]
    Engine,
    Target,
    Framework,
    App,
    Proportions,
    Files,
}

impl SummaryList {
    /// In the order of the tabs.
    const ALL: [Self; 6] =
        [Self::Engine, Self::Target, Self::Framework, Self::App, Self::Proportions, Self::Files];

    fn name(self, system: &System) -> &'static str {
        match self {
            Self::Engine => system.options,
            Self::Target => "Target options",
            Self::Framework => "framework.json",
            Self::App => "app.json",
            Self::Proportions => PROPORTION,
            Self::Files => "Files",
        }
    }

    fn columns(self, runs: &Runs) -> Vec<TableColumn> {
        let of_runs = |titles: [&str; 2], width: f32, column: fn(String, f32) -> TableColumn| {
            let title = move |title: &str| {
                let [alone, among] = titles;
                if runs.is_one() { alone.to_owned() } else { format!("{title}{among}") }
            };
            let badged = move |run: &Run| {
                let badge = (!runs.is_one()).then_some(run.badge);
                column(title(&run.title), width).of_run(badge, title(&run.title))
            };
            runs.iter().map(badged).collect::<Vec<TableColumn>>()
        };
        let is_one = runs.is_one();
        let pair = |column: TableColumn| if runs.len() == 2 { vec![column] } else { Vec::new() };
        let proportion = TableColumn { unit: "number", ..TableColumn::text("Proportion", 90.0) };
        let state = match self {
            _ if !is_one => vec![TableColumn::text("State", 106.0)],
            Self::Engine | Self::Target => vec![TableColumn::text("Default", 70.0)],
            _ => Vec::new(),
        };
        let value_width =
            if matches!(self, Self::Framework | Self::App) && is_one { 240.0 } else { 108.0 };
        let [times, files, sizes] =
            if is_one { [80.0, 110.0, 120.0] } else { [106.0, 92.0, 100.0] };
        match self {
            Self::Engine | Self::Target | Self::Framework | Self::App => [
                vec![TableColumn::rest("Name")],
                of_runs(["Value", ""], value_width, TableColumn::text),
                state,
            ]
            .concat(),
            Self::Proportions => [
                vec![TableColumn::rest("Operation"), proportion],
                of_runs(["Times", ", times"], times, TableColumn::count),
                pair(TableColumn::count("Difference", 96.0)),
            ]
            .concat(),
            Self::Files => [
                vec![TableColumn::rest("File")],
                of_runs(["State", ""], files, TableColumn::text),
                of_runs(["Size", ", size"], sizes, TableColumn::bytes),
                pair(TableColumn::bytes("Difference", 110.0)),
            ]
            .concat(),
        }
    }
}

/// A row of any list, with a cell for each column.
type ListRow = Vec<CellValue<'static>>;

struct ListTable {
    list: SummaryList,
    title: String,
    columns: Vec<TableColumn>,
    rows: Arc<dyn Rows>,
    note: String,
    /// How many options of it differ.
    differing: usize,
}

pub struct ListTables(Vec<ListTable>);

impl ListTables {
    /// Of runs whose options are there; `None` where those of one are not.
    pub fn new(runs: &Runs) -> Option<Self> {
        let abouts: Vec<&About> =
            runs.iter().map(|run| run.report.about.get()).collect::<Option<_>>()?;
        let table = |list: SummaryList| {
            let (rows, differing) = rows(runs, &abouts, list);
            // Of options an empty list says nothing, and a side file that is absent is named under
            // Files; proportions say why there are none, unless the system has nothing of the kind.
            let has_none = match list {
                SummaryList::Proportions => {
                    runs.are_foreign_to(&[Needed::Debug])
                        || runs.are_foreign_to(&[Needed::ComputeSets])
                }
                _ => list != SummaryList::Files,
            };
            if rows.is_empty() && has_none {
                return None;
            }
            let note = note(runs, list, &rows);
            let title = title(runs, list, rows.len(), differing);
            let cell: fn(&ListRow, usize) -> CellValue<'_> =
                |row, column| row.get(column).cloned().unwrap_or_default();
            let rows = Arc::new(Listed { rows, cell });
            Some(ListTable { list, title, columns: list.columns(runs), rows, note, differing })
        };
        Some(Self(SummaryList::ALL.into_iter().filter_map(table).collect()))
    }
}

#[derive(Default)]
pub struct SummaryLists {
    /// The list that was chosen; before that the first in which something differs.
    chosen: Option<SummaryList>,
    table: DataTable,
    selected: Option<usize>,
}

impl SummaryLists {
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        runs: &Runs,
        tables: Option<&ListTables>,
        commands: &mut Vec<Command>,
    ) {
        let Some(ListTables(tables)) = tables else {
            let which = runs.of_number(["this run", "both runs", "all runs"]);
            ui.weak(format!("Options are not in {which}, or not read yet"));
            return;
        };
        let chosen = tables.iter().find(|table| Some(table.list) == self.chosen);
        let differing = || tables.iter().find(|table| table.differing > 0);
        let Some(shown) = chosen.or_else(differing).or_else(|| tables.first()) else { return };
        let mut wanted = shown.list;
        ui.horizontal_wrapped(|ui| {
            for table in tables {
                ui.selectable_value(&mut wanted, table.list, &table.title);
            }
        });
        if wanted != shown.list {
            *self = Self { chosen: Some(wanted), ..Self::default() };
        }
        let Some(shown) = tables.iter().find(|table| table.list == wanted) else { return };
        if shown.rows.len() == 0 {
            ui.weak(&shown.note);
            return;
        }
        if let Some(row) = self.selected {
            full_ui(ui, runs, shown, row);
        }
        let selected = self.selected;
        let data = Data {
            note: &shown.note,
            is_selected: &|row| selected == Some(row),
            ..Data::of(shown.list.name(runs.system()), &shown.columns, Arc::clone(&shown.rows))
        };
        if let Some(click) = self.table.ui(ui, &data, commands) {
            toggle(&mut self.selected, click.row);
        }
    }
}

/// A row with nothing cut off, to be read and copied.
fn full_ui(ui: &mut egui::Ui, runs: &Runs, table: &ListTable, row: usize) {
    let text = |column: usize| {
        let text = table.rows.value(row, column).shown(Units::now(ui)).into_owned();
        clean(&text).into_owned()
    };
    let first = if table.list == SummaryList::Proportions && !runs.is_one() { 2 } else { 1 };
    let name = text(0);
    let values: Vec<String> = (first..).take(runs.len()).map(text).collect();
    let frame = egui::Frame::new().inner_margin(Margin::symmetric(0, 6));
    egui::Panel::bottom("selected row").frame(frame).show(ui, |ui| {
        ui.add(Label::new(RichText::new(name).weak()).wrap());
        for (run, value) in runs.iter().zip(values) {
            let value = Label::new(RichText::new(value).strong()).wrap();
            if runs.is_one() {
                ui.add(value);
                continue;
            }
            ui.horizontal_wrapped(|ui| {
                badge_ui(ui, run.badge);
                ui.label(&*run.title);
                ui.add(value);
            });
        }
    });
}

fn title(runs: &Runs, list: SummaryList, rows: usize, differing: usize) -> String {
    let name = list.name(runs.system());
    match (list, differing) {
        (SummaryList::Files, _) if runs.is_one() => {
            let files = runs.reference().report.files();
            let found = files.iter().filter(|file| file.bytes.is_some()).count();
            let is_damaged =
                |file: &&ReportFile| !matches!(file.status, FileStatus::Ok | FileStatus::Missing);
            let damaged = files.iter().filter(is_damaged).count();
            let damaged = if damaged > 0 { format!(", {damaged} damaged") } else { String::new() };
            format!("{name} ({found} of {}{damaged})", files.len())
        }
        (SummaryList::Files | SummaryList::Proportions, _) => name.to_owned(),
        _ if runs.is_one() => format!("{name} ({rows})"),
        (_, 0) => name.to_owned(),
        (_, 1) => format!("{name} (1 differs)"),
        (_, count) => format!("{name} ({count} differ)"),
    }
}

/// What is said beside the number of rows, or in place of them.
fn note(runs: &Runs, list: SummaryList, rows: &[ListRow]) -> String {
    let are_settled = runs.iter().all(|run| run.report.debug.is_settled());
    let count = |is_wanted: &dyn Fn(&CellValue<'_>) -> bool| {
        rows.iter().filter(|row| row.last().is_some_and(is_wanted)).count()
    };
    match list {
        SummaryList::Proportions if !are_settled => "Debug information is being read".to_owned(),
        SummaryList::Proportions if rows.is_empty() => {
            let debug = &runs.reference().report.debug;
            if runs.is_one() && debug.get().is_none() {
                return reason_of(debug.absence());
            }
            let texts = [
                "No operation of this program has the option",
                "No operation of either has the option, or debug information is absent",
                "No operation of any has the option, or debug information is absent",
            ];
            runs.of_number(texts).to_owned()
        }
        SummaryList::Engine | SummaryList::Target if runs.is_one() => {
            let changed = count(&|value| *value == CellValue::text(CHANGED));
            format!("of them {changed} changed from default")
        }
        SummaryList::Proportions | SummaryList::Files => String::new(),
        _ if runs.is_one() => String::new(),
        _ => match count(&|value| *value != CellValue::text(SAME)) {
            0 => "none differs".to_owned(),
            1 => "of them 1 differs".to_owned(),
            count => format!("of them {count} differ"),
        },
    }
}

/// What the column "Default" says of an option that was set.
const CHANGED: &str = "changed";

/// The rows of a list, and how many of its options differ.
fn rows(runs: &Runs, abouts: &[&About], list: SummaryList) -> (Vec<ListRow>, usize) {
    let reports = runs.reports();
    let options = |of: fn(&About) -> &[_]| options(&each(abouts, of));
    let facts = |of: fn(&About) -> &[_]| side_facts(&each(abouts, of));
    let values = match list {
        SummaryList::Engine => options(|about| &about.engine_options),
        SummaryList::Target => options(|about| &about.target_options),
        SummaryList::Framework => facts(|about| &about.framework),
        SummaryList::App => facts(|about| &about.app),
        SummaryList::Proportions => return (proportion_rows(&reports), 0),
        SummaryList::Files => return (file_rows(&reports), 0),
    };
    let differing = values.iter().filter(|values| values.differs()).count();
    (values.into_iter().map(|values| value_row(values, runs)).collect(), differing)
}

fn each<'a, T>(abouts: &[&'a About], of: fn(&About) -> &[T]) -> Vec<&'a [T]> {
    abouts.iter().map(|about| of(about)).collect()
}

fn value_row(values: NamedValues, runs: &Runs) -> ListRow {
    let state = match values.is_default {
        _ if !runs.is_one() => CellValue::text(state_text(&values.values, runs)),
        Some(true) => CellValue::text("default"),
        Some(false) => CellValue::text(CHANGED),
        None => CellValue::Nothing,
    };
    let value = |value: Option<String>| match value {
        Some(value) if value.is_empty() => CellValue::text("(empty)"),
        Some(value) => CellValue::text(value),
        None => CellValue::Nothing,
    };
    let values_of_runs = values.values.into_iter().map(value);
    std::iter::once(CellValue::text(values.name)).chain(values_of_runs).chain([state]).collect()
}

/// From the first to the second of two.
fn change_of_two<T: Copy>(values: &[T], change: impl Fn(T, T) -> CellValue<'static>) -> ListRow {
    match values {
        [source, target] => vec![change(*source, *target)],
        _ => Vec::new(),
    }
}

fn proportion_rows(reports: &[&Report]) -> Vec<ListRow> {
    let counts = |report: &&Report| {
        let known = report.debug.get().zip(report.programs.get());
        let counts = known.map(|(debug, programs)| proportions(debug, programs));
        let key = |row: &ProportionCount| (row.operation.clone(), row.value.map(f64::to_bits));
        counts.unwrap_or_default().into_iter().map(|row| (key(&row), row)).collect()
    };
    let row = |row: Vec<Option<ProportionCount>>| {
        let first = row.iter().flatten().next()?;
        let operation = first.operation.clone();
        let operation = operation.unwrap_or_else(|| "Unnamed operation".to_owned());
        let counts = row.iter().map(|row| row.as_ref().map_or(0, |row| row.count));
        Some((operation, first.value, counts.collect()))
    };
    let rows = side_by_side(reports.iter().map(counts).collect());
    let mut rows: Vec<(String, Option<f64>, Vec<u64>)> = rows.into_iter().filter_map(row).collect();
    if reports.len() > 1 {
        // The values of an operation stand together.
        rows.sort_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal))
        });
    }
    let row = |(operation, value, counts): (String, Option<f64>, Vec<u64>)| {
        let value = value.map_or(CellValue::text("not a number"), CellValue::Number);
        let change = change_of_two(&counts, CellValue::count_change);
        let counts = counts.into_iter().map(CellValue::Count);
        [CellValue::text(operation), value].into_iter().chain(counts).chain(change).collect()
    };
    rows.into_iter().map(row).collect()
}

/// Files in the order of the reports; the marks tell states apart without reading.
fn file_rows(reports: &[&Report]) -> Vec<ListRow> {
    let files = |report: &&Report| {
        report.files().into_iter().map(|file| (file.name.clone(), file)).collect()
    };
    let row = |row: Vec<Option<ReportFile>>| {
        let name = CellValue::text(row.iter().flatten().next()?.name.clone());
        let state = |file: &Option<ReportFile>| {
            file.as_ref().map_or(CellValue::Nothing, |file| state_of(file.status))
        };
        let sizes: Vec<Option<u64>> =
            row.iter().map(|file| file.as_ref().and_then(|file| file.bytes)).collect();
        let change = change_of_two(&sizes, CellValue::change_if_known);
        let states = row.iter().map(state);
        let sizes = sizes.into_iter().map(CellValue::bytes);
        Some(std::iter::once(name).chain(states).chain(sizes).chain(change).collect())
    };
    let rows = side_by_side(reports.iter().map(files).collect());
    rows.into_iter().filter_map(row).collect()
}

/// The state of a file, with a mark.
fn state_of(status: FileStatus) -> CellValue<'static> {
    match status {
        FileStatus::Ok => CellValue::text("✓ found"),
        FileStatus::Missing => CellValue::text("– absent"),
        status => CellValue::Verdict(Sign::Note, status.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_all_share_a_row() {
        let report = |files: &[(&str, Option<u64>)]| {
            let report = Report::default();
            let file = |(name, bytes): &(&str, Option<u64>)| ReportFile {
                name: (*name).to_owned(),
                bytes: *bytes,
                status: if bytes.is_some() { FileStatus::Ok } else { FileStatus::Missing },
            };
            report.set_files(files.iter().map(file).collect());
            report
        };
        let source = report(&[("profile.pop", Some(10)), ("app.json", None)]);
        let target = report(&[("profile.pop", Some(30)), ("debug.cbor", Some(5))]);
        let rows = file_rows(&[&source, &target]);
        assert_eq!(
            rows[0][1..],
            [
                CellValue::text("✓ found"),
                CellValue::text("✓ found"),
                CellValue::Bytes(10),
                CellValue::Bytes(30),
                CellValue::Change(20),
            ]
        );
        assert_eq!((&rows[1][1], &rows[1][2]), (&CellValue::text("– absent"), &CellValue::Nothing));
        assert_eq!(
            (&rows[2][0], &rows[2][5]),
            (&CellValue::text("debug.cbor"), &CellValue::Nothing)
        );
        assert_eq!(file_rows(&[&source, &source, &target])[0].len(), 7);
    }
}
