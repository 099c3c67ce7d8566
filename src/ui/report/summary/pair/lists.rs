//! The lists of both reports: options, side files, proportions, files. What differs comes first; each
//! sorts, filters and is copied; a row that is clicked is shown in full below.

use std::sync::Arc;

use eframe::egui;
use eframe::egui::{Label, Margin, RichText};

use super::super::lists::state_text;
use crate::analysis::comparison::option_pairs::{OptionPair, options, side_facts};
use crate::analysis::figures::joined::joined;
use crate::analysis::program::operations::{ProportionCount, proportions};
use crate::store::Report;
use crate::store::options::About;
use crate::store::report::ReportFile;
use crate::text::clean;
use crate::ui::job::Latest;
use crate::ui::legacy::{Pair, Side};
use crate::ui::report::PageContext;
use crate::ui::report::halves::side_color;
use crate::ui::units::Units;
use crate::ui::widget::data_table::{Data, DataTable, no_paint};
use crate::ui::widget::rows::{Column, Listed, Rows, Value};

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

/// The lists, in the order of their tabs.
const LISTS: [List; 6] =
    [List::Engine, List::Target, List::Framework, List::App, List::Proportions, List::Files];

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
        let [source, target] = Side::BOTH.map(Side::title);
        match self {
            Self::Engine | Self::Target | Self::Framework | Self::App => vec![
                Column::rest("Name"),
                Column::text(source, 130.0),
                Column::text(target, 130.0),
                Column::text("State", 106.0),
            ],
            Self::Proportions => vec![
                Column::rest("Operation"),
                Column { unit: "number", ..Column::text("Proportion", 90.0) },
                Column::count(format!("{source}, times"), 106.0),
                Column::count(format!("{target}, times"), 106.0),
                Column::count("Difference", 96.0),
            ],
            Self::Files => vec![
                Column::rest("File"),
                Column::text(source, 92.0),
                Column::text(target, 92.0),
                Column::bytes(format!("{source}, size"), 100.0),
                Column::bytes(format!("{target}, size"), 100.0),
                Column::bytes("Difference", 110.0),
            ],
        }
    }
}

/// A row of any list, with a cell for each column.
type Row = Vec<Value<'static>>;

/// A list that a job has made.
struct Made {
    rows: Arc<dyn Rows>,
    note: String,
}

impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Made").field("note", &self.note).finish_non_exhaustive()
    }
}

/// What the lists remember.
#[derive(Debug, Default)]
pub struct PairLists {
    /// The list that was chosen; before that the first in which something differs.
    chosen: Option<List>,
    /// How many options of each list differ.
    differing: Latest<[u32; 2], [usize; 6]>,
    table: DataTable,
    selected: Option<usize>,
    made: Latest<(List, [u32; 2]), Option<Made>>,
}

impl PairLists {
    /// Draws the chosen list; `parts` changes when more of the reports is there.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        pair: &Pair<'_>,
        parts: [u32; 2],
    ) {
        let reports = [page.report, pair.target];
        let for_job = reports.map(Arc::clone);
        self.differing.ask("options that differ", ui.ctx(), &parts, move |_| {
            differing(for_job.each_ref().map(|report| &**report))
        });
        let counts = self.differing.last().map_or([0; 6], |(_, counts)| *counts);
        let first = LISTS.into_iter().zip(counts).find(|(_, count)| *count > 0);
        let list = self.chosen.or(first.map(|(list, _)| list)).unwrap_or_default();
        let mut wanted = list;
        ui.horizontal_wrapped(|ui| {
            for (list, count) in LISTS.into_iter().zip(counts) {
                if is_shown(list, reports.map(|report| report.about.get())) {
                    let title = match count {
                        0 => list.name().to_owned(),
                        1 => format!("{} (1 differs)", list.name()),
                        count => format!("{} ({count} differ)", list.name()),
                    };
                    ui.selectable_value(&mut wanted, list, title);
                }
            }
        });
        if wanted != list {
            self.chosen = Some(wanted);
            self.table = DataTable::default();
            self.selected = None;
        }
        let for_job = reports.map(Arc::clone);
        self.made.ask("lists of both", ui.ctx(), &(wanted, parts), move |_| {
            let rows = rows(for_job.each_ref().map(|report| &**report), wanted)?;
            let note = note(for_job.each_ref().map(|report| &**report), wanted, &rows);
            let cell: fn(&Row, usize) -> Value<'_> =
                |row, column| row.get(column).cloned().unwrap_or_default();
            Some(Made { rows: Arc::new(Listed { rows, cell }), note })
        });
        let made = match self.made.last() {
            Some(((made_for, _), Some(made))) if *made_for == wanted => made,
            Some((_, None)) => {
                ui.weak("Options are not in both reports, or not read yet");
                return;
            }
            _ => {
                ui.weak(self.made.failure().unwrap_or(""));
                return;
            }
        };
        if made.rows.len() == 0 {
            ui.weak(&made.note);
            return;
        }
        if let Some(row) = self.selected {
            full_ui(ui, &*made.rows, row, wanted);
        }
        let selected = self.selected;
        let data = Data {
            name: wanted.name(),
            title: "",
            note: &made.note,
            columns: &wanted.columns(),
            rows: &made.rows,
            is_selected: &|row| selected == Some(row),
            paint: &no_paint,
        };
        if let Some(click) = self.table.ui(ui, &data, page.commands) {
            self.selected = (selected != Some(click.row)).then_some(click.row);
        }
    }
}

/// How many options of each list differ; files and proportions do not count.
fn differing(reports: [&Report; 2]) -> [usize; 6] {
    let [source, target] = reports.map(|report| report.about.get());
    let Some((source, target)) = source.zip(target) else { return [0; 6] };
    let count = |pairs: Vec<OptionPair>| pairs.iter().filter(|pair| pair.differs()).count();
    [
        count(options(&source.engine_options, &target.engine_options)),
        count(options(&source.target_options, &target.target_options)),
        count(side_facts(&source.framework, &target.framework)),
        count(side_facts(&source.app, &target.app)),
        0,
        0,
    ]
}

/// A side file that neither report has is named under Files only.
fn is_shown(list: List, abouts: [Option<&About>; 2]) -> bool {
    let has = |of: fn(&About) -> bool| abouts.into_iter().flatten().any(of);
    match list {
        List::Framework => has(|about| !about.framework.is_empty()),
        List::App => has(|about| !about.app.is_empty()),
        _ => true,
    }
}

/// A row with nothing cut off, to be read and copied.
fn full_ui(ui: &mut egui::Ui, rows: &dyn Rows, row: usize, list: List) {
    let text = |column: usize| {
        let text = rows.value(row, column).shown(Units::now(ui)).into_owned();
        clean(&text).into_owned()
    };
    let values = if list == List::Proportions { [2, 3] } else { [1, 2] };
    let (name, values) = (text(0), values.map(text));
    let frame = egui::Frame::new().inner_margin(Margin::symmetric(0, 6));
    egui::Panel::bottom("selected row of both").frame(frame).show(ui, |ui| {
        ui.add(Label::new(RichText::new(name).weak()).wrap());
        for (side, value) in Side::BOTH.into_iter().zip(values) {
            ui.horizontal_wrapped(|ui| {
                ui.label(RichText::new(side.title()).color(side_color(ui, side)));
                ui.add(Label::new(RichText::new(value).strong()).wrap());
            });
        }
    });
}

fn rows(reports: [&Report; 2], list: List) -> Option<Vec<Row>> {
    let [source, target] = reports.map(|report| report.about.get());
    let (source, target) = (source?, target?);
    Some(match list {
        List::Engine => option_rows(&options(&source.engine_options, &target.engine_options)),
        List::Target => option_rows(&options(&source.target_options, &target.target_options)),
        List::Framework => option_rows(&side_facts(&source.framework, &target.framework)),
        List::App => option_rows(&side_facts(&source.app, &target.app)),
        List::Proportions => proportion_rows(reports),
        List::Files => file_rows(reports),
    })
}

/// What the column "State" says of values that differ.
const DIFFERS: &str = "≠ differs";

fn option_rows(pairs: &[OptionPair]) -> Vec<Row> {
    let value = |value: &Option<String>| match value.as_deref() {
        Some("") => Value::text("(empty)"),
        Some(value) => Value::text(value.to_owned()),
        None => Value::Nothing,
    };
    let row = |pair: &OptionPair| {
        let [source, target] = &pair.values;
        let state = match (source, target) {
            (Some(_), None) => "only in source",
            (None, Some(_)) => "only in target",
            _ if pair.differs() => DIFFERS,
            _ => "the same",
        };
        vec![Value::text(pair.name.clone()), value(source), value(target), Value::text(state)]
    };
    pairs.iter().map(row).collect()
}

fn proportion_rows(reports: [&Report; 2]) -> Vec<Row> {
    let counts = |report: &Report| {
        let known = report.debug.get().zip(report.programs.get());
        let counts = known.map(|(debug, programs)| proportions(debug, programs));
        let key = |row: &ProportionCount| (row.operation.clone(), row.value.map(f64::to_bits));
        counts.unwrap_or_default().into_iter().map(|row| (key(&row), row)).collect()
    };
    let [source, target] = reports.map(counts);
    let mut rows: Vec<(String, Option<f64>, [u64; 2])> = joined(source, target)
        .into_iter()
        .filter_map(|row| {
            let first = row.iter().flatten().next()?;
            let operation = first.operation.clone();
            let operation = operation.unwrap_or_else(|| "Unnamed operation".to_owned());
            let counts = row.each_ref().map(|row| row.as_ref().map_or(0, |row| row.count));
            Some((operation, first.value, counts))
        })
        .collect();
    // The values of an operation stand together.
    rows.sort_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal))
    });
    let row = |(operation, value, [source, target]): (String, Option<f64>, [u64; 2])| {
        let value = value.map_or(Value::text("not a number"), Value::Number);
        let change = Value::count_change(source, target);
        vec![Value::text(operation), value, Value::Count(source), Value::Count(target), change]
    };
    rows.into_iter().map(row).collect()
}

fn file_rows(reports: [&Report; 2]) -> Vec<Row> {
    let [source, target] = reports
        .map(|report| report.files().into_iter().map(|file| (file.name.clone(), file)).collect());
    let rows = joined(source, target);
    let row = |row: [Option<ReportFile>; 2]| {
        let name = row.iter().flatten().next()?.name.clone();
        let files = row.each_ref().map(Option::as_ref);
        let [source_state, target_state] = files
            .map(|file| file.map_or(Value::Nothing, |file| Value::text(state_text(file.status))));
        let sizes = files.map(|file| file.and_then(|file| file.bytes));
        let change = match sizes {
            [Some(source), Some(target)] => Value::change(source, target),
            _ => Value::Nothing,
        };
        let [source, target] = sizes.map(Value::bytes);
        Some(vec![Value::text(name), source_state, target_state, source, target, change])
    };
    rows.into_iter().filter_map(row).collect()
}

/// What is said beside the number of rows, or in place of them.
fn note(reports: [&Report; 2], list: List, rows: &[Row]) -> String {
    match list {
        List::Proportions if !reports.iter().all(|report| report.debug.is_settled()) => {
            "Debug information is being read".to_owned()
        }
        List::Proportions if rows.is_empty() => {
            "No operation of either has the option, or debug information is not there".to_owned()
        }
        List::Proportions | List::Files => String::new(),
        _ if rows.is_empty() => "Neither report has any".to_owned(),
        _ => {
            let same = Value::text("the same");
            let count = rows.iter().filter(|row| row.get(3) != Some(&same)).count();
            match count {
                0 => "none differs".to_owned(),
                1 => "of them 1 differs".to_owned(),
                count => format!("of them {count} differ"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::report::FileStatus;

    #[test]
    fn files_of_both_share_a_row() {
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
        let rows = file_rows([&source, &target]);
        assert_eq!(
            rows[0][1..],
            [
                Value::text("✔ found"),
                Value::text("✔ found"),
                Value::Bytes(10),
                Value::Bytes(30),
                Value::Change(20),
            ]
        );
        assert_eq!((&rows[1][1], &rows[1][2]), (&Value::text("– absent"), &Value::Nothing));
        assert_eq!((&rows[2][0], &rows[2][5]), (&Value::text("debug.cbor"), &Value::Nothing));
    }
}
