//! Summary: the machine, the graph, the totals, the files, and all options.

use eframe::egui;
use eframe::egui::TextEdit;

use super::{PageContext, bytes_or_dash};
use crate::analysis::liveness::{Scope, curve, peak, replica_note};
use crate::analysis::memory::{cell, over_limit_bytes, totals};
use crate::analysis::operations::proportions;
use crate::analysis::steps;
use crate::store::Report;
use crate::store::options::{About, EngineOption, SideFact};
use crate::text::{clean, exact_bytes, grouped, shortened};
use crate::ui::units::Units;
use crate::ui::widget::facts::{Fact, facts_ui};
use crate::ui::widget::table::{Cell, ColumnSpec, Table};

/// Longest value in a card or cell.
const VALUE: usize = 200;

/// The lists at the right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum List {
    #[default]
    Engine,
    Target,
    Framework,
    App,
}

/// What the page remembers.
#[derive(Debug, Default)]
pub struct SummaryPage {
    cards: Vec<(&'static str, Vec<Fact>)>,
    /// How many parts the cards were made from, and how many files were in which state.
    made_from: Option<u32>,
    list: List,
    filter: String,
    rows: Option<(List, String, bool, Vec<OptionRow>)>,
}

#[derive(Clone, Debug)]
struct OptionRow {
    name: String,
    value: String,
    is_changed: Option<bool>,
}

impl SummaryPage {
    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let report = page.report;
        let settled = settled_parts(report);
        if self.made_from != Some(settled) {
            self.cards = cards(report);
            self.made_from = Some(settled);
        }
        ui.heading("Summary");
        ui.add_space(4.0);
        let share = if ui.available_width() < 800.0 { 0.46 } else { 0.52 };
        let width = (ui.available_width() * share).clamp(240.0, 720.0);
        egui::Panel::left("summary cards")
            .resizable(true)
            .default_size(width)
            .size_range(220.0..=(ui.available_width() - 240.0).max(300.0))
            .frame(
                egui::Frame::new().inner_margin(egui::Margin { right: 10, ..Default::default() }),
            )
            .show(ui, |ui| {
                egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                    for (title, facts) in &self.cards {
                        facts_ui(ui, title, facts);
                    }
                });
            });
        egui::CentralPanel::default()
            .frame(egui::Frame::new().inner_margin(egui::Margin { left: 10, ..Default::default() }))
            .show(ui, |ui| self.lists_ui(ui, report));
    }

    fn lists_ui(&mut self, ui: &mut egui::Ui, report: &Report) {
        let Some(about) = report.about.get() else {
            ui.weak("Options are not there yet");
            return;
        };
        ui.horizontal_wrapped(|ui| {
            for (list, title, count) in [
                (List::Engine, "Engine options", about.engine_options.len()),
                (List::Target, "Target options", about.target_options.len()),
                (List::Framework, "framework.json", about.framework.len()),
                (List::App, "app.json", about.app.len()),
            ] {
                // A side file that is absent is named under Files.
                if count > 0 || matches!(list, List::Engine | List::Target) {
                    ui.selectable_value(&mut self.list, list, format!("{title} ({count})"));
                }
            }
        });
        ui.horizontal(|ui| {
            let label = ui.label("Filter");
            ui.add(
                TextEdit::singleline(&mut self.filter)
                    .hint_text("Part of a name or value")
                    .desired_width(f32::INFINITY),
            )
            .labelled_by(label.id);
        });
        let is_fresh = self
            .rows
            .as_ref()
            .is_some_and(|(list, filter, _, _)| *list == self.list && *filter == self.filter);
        if !is_fresh {
            let rows = option_rows(about, self.list, &self.filter);
            let has_changes = rows.iter().any(|row| row.is_changed.is_some());
            self.rows = Some((self.list, self.filter.clone(), has_changes, rows));
        }
        let Some((_, _, has_changes, rows)) = &self.rows else { return };
        if *has_changes {
            let changed = rows.iter().filter(|row| row.is_changed == Some(true)).count();
            ui.weak(format!("{} shown, {changed} changed from default, those first", rows.len()));
        } else {
            ui.weak(format!("{} shown", rows.len()));
        }
        let mut columns = vec![
            ColumnSpec::rest("Name"),
            ColumnSpec::text("Value", (ui.available_width() * 0.35).min(190.0)),
        ];
        if *has_changes {
            columns.push(ColumnSpec::text("Default", 66.0));
        }
        let table = Table {
            id: "options",
            columns: &columns,
            rows: rows.len(),
            selected: None,
            is_clickable: false,
        };
        table.ui(ui, |row, column| {
            let Some(row) = rows.get(row) else { return Cell::default() };
            let is_changed = row.is_changed == Some(true);
            match column {
                0 => Cell::new(row.name.as_str()).strong(is_changed).hover(row.name.as_str()),
                1 if row.value.is_empty() => Cell::new("(empty)").weak(),
                1 => Cell::new(row.value.as_str()).strong(is_changed).hover(row.value.as_str()),
                _ if is_changed => Cell::new("changed").strong(true),
                _ => Cell::new("default").weak(),
            }
        });
    }
}

/// A number that changes whenever more of the report is there.
fn settled_parts(report: &Report) -> u32 {
    [
        report.about.is_settled(),
        report.target.is_settled(),
        report.graph.is_settled(),
        report.memory.is_settled(),
        report.liveness.is_settled(),
        report.execution.is_settled(),
        report.debug.is_settled(),
        report.variables.is_settled(),
    ]
    .into_iter()
    .fold(1, |bits, is_settled| bits << 1 | u32::from(is_settled))
}

fn option_rows(about: &About, list: List, filter: &str) -> Vec<OptionRow> {
    let of_option = |option: &EngineOption| OptionRow {
        name: shortened(&option.name, VALUE).into_owned(),
        value: shortened(&option.value, VALUE).into_owned(),
        is_changed: option.is_default.map(|is_default| !is_default),
    };
    let of_fact = |fact: &SideFact| OptionRow {
        name: shortened(&fact.path, VALUE).into_owned(),
        value: shortened(&fact.value, VALUE).into_owned(),
        is_changed: None,
    };
    let mut rows: Vec<OptionRow> = match list {
        List::Engine => about.engine_options.iter().map(of_option).collect(),
        List::Target => about.target_options.iter().map(of_option).collect(),
        List::Framework => about.framework.iter().map(of_fact).collect(),
        List::App => about.app.iter().map(of_fact).collect(),
    };
    let wanted = filter.trim().to_lowercase();
    rows.retain(|row| {
        row.name.to_lowercase().contains(&wanted) || row.value.to_lowercase().contains(&wanted)
    });
    // Stable: within both groups the order of the file stays.
    rows.sort_by_key(|row| row.is_changed != Some(true));
    rows
}

fn cards(report: &Report) -> Vec<(&'static str, Vec<Fact>)> {
    let mut cards = vec![
        ("Memory", memory_facts(report)),
        ("Target", target_facts(report)),
        ("Graph", graph_facts(report)),
        ("Compilation and execution", compilation_facts(report)),
    ];
    let proportions = proportion_facts(report);
    cards.push(("availableMemoryProportion", proportions));
    let files = report
        .files()
        .into_iter()
        .map(|file| {
            let bytes =
                file.bytes.map_or(String::new(), |bytes| format!(", {}", exact_bytes(bytes)));
            (clean(&file.name).into_owned(), format!("{}{bytes}", file.status.as_str()))
        })
        .collect();
    cards.push(("Files", files));
    cards
}

fn push(facts: &mut Vec<Fact>, name: &str, value: Option<String>) {
    if let Some(value) = value {
        facts.push((name.to_owned(), shortened(&value, VALUE).into_owned()));
    }
}

fn memory_facts(report: &Report) -> Vec<Fact> {
    let mut facts = Vec::new();
    let Some(memory) = report.memory.get() else { return facts };
    let target = report.target.get();
    let totals = totals(memory, target);
    let over = totals.tiles_over_limit.map_or(String::new(), grouped);
    push(
        &mut facts,
        "Verdict",
        totals.fits.map(|fits| {
            let fullest = totals.fullest.and_then(|row| over_limit_bytes(memory, target, row));
            match (fits, fullest) {
                (true, _) => "Fits: no tile is over its limit".to_owned(),
                (false, Some(most)) => {
                    format!("Does not fit: {over} tiles are over, by {} at most", exact_bytes(most))
                }
                (false, None) => format!("Does not fit: {over} tiles are over"),
            }
        }),
    );
    facts.push(("Without gaps".to_owned(), bytes_or_dash(totals.total_bytes, Units::Binary)));
    facts.push(("With gaps".to_owned(), bytes_or_dash(totals.including_gaps_bytes, Units::Binary)));
    facts.push(("Gaps".to_owned(), bytes_or_dash(totals.gap_bytes, Units::Binary)));
    facts.push(("Always live".to_owned(), bytes_or_dash(totals.always_live_bytes, Units::Binary)));
    push(&mut facts, "Fullest tile", fullest_text(report, totals.fullest));
    let tiles = grouped(memory.tiles.len() as u64);
    push(
        &mut facts,
        "Tiles over the limit",
        totals.tiles_over_limit.map(|over| format!("{} of {tiles}", grouped(over))),
    );
    push(&mut facts, "Liveness peak", peak_text(report));
    facts
}

fn fullest_text(report: &Report, row: Option<usize>) -> Option<String> {
    let memory = report.memory.get()?;
    let bytes = exact_bytes(cell(&memory.including_gaps, row?)?);
    Some(format!("Tile {}, {bytes} with gaps", memory.tiles.get(row?)?))
}

fn peak_text(report: &Report) -> Option<String> {
    let (liveness, steps) = (report.liveness.get()?, report.steps.get()?);
    let curve = curve(liveness, Scope::Everything, steps.ids.len())?;
    let step = peak(&curve)?;
    let facts = steps::facts(report, step)?;
    let kind = facts.kind.map_or(String::new(), |kind| format!(", {kind}"));
    let note = replica_note(report.target.get()).map_or("", |_| ", per replica");
    let bytes = exact_bytes(*curve.get(step)?);
    Some(format!("{bytes} not always live at step {}{kind}{note}", facts.step))
}

fn target_facts(report: &Report) -> Vec<Fact> {
    let mut facts = Vec::new();
    let Some(target) = report.target.get() else { return facts };
    push(&mut facts, "Type", target.kind.clone());
    push(&mut facts, "Architecture", target.architecture.clone());
    push(&mut facts, "IPUs", target.ipus.map(grouped));
    push(&mut facts, "Replicas", target.replicas.map(grouped));
    push(&mut facts, "IPUs per replica", target.ipus_per_replica.map(grouped));
    push(&mut facts, "Tiles", target.tiles.map(grouped));
    push(&mut facts, "Tiles per IPU", target.tiles_per_ipu.map(grouped));
    push(&mut facts, "Memory per tile", target.bytes_per_tile.map(exact_bytes));
    push(&mut facts, "Memory per IPU", target.bytes_per_ipu.map(exact_bytes));
    push(&mut facts, "Memory per replica", target.bytes_per_replica.map(exact_bytes));
    push(&mut facts, "Memory in total", target.total_bytes.map(exact_bytes));
    push(
        &mut facts,
        "Clock",
        target.clock_hz.map(|hz| format!("{:.1} MHz", hz as f64 / 1_000_000.0)),
    );
    push(
        &mut facts,
        "Compute instrumentation",
        target.compute_instrumentation.clone().filter(|level| !level.is_empty()),
    );
    let yes_no = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    push(
        &mut facts,
        "External exchange instrumented",
        target.external_exchange_instrumentation.map(yes_no),
    );
    facts
}

fn graph_facts(report: &Report) -> Vec<Fact> {
    let mut facts = Vec::new();
    let Some(graph) = report.graph.get() else { return facts };
    push(&mut facts, "Compute sets", graph.compute_sets.map(grouped));
    push(&mut facts, "Edges", graph.edges.map(grouped));
    push(&mut facts, "Variables", graph.variables.map(grouped));
    push(&mut facts, "Vertices", graph.vertices.map(grouped));
    facts
}

fn compilation_facts(report: &Report) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(about) = report.about.get() {
        push(&mut facts, "Poplar version", about.poplar_version.clone());
        push(&mut facts, "Compiled at", about.compiled_at.clone());
        push(&mut facts, "Compile time", compile_time(about));
        push(&mut facts, "Format", about.format.clone());
        push(&mut facts, "Compilation id", about.compilation_id.clone());
    }
    match report.execution.get() {
        Some(execution) => {
            push(&mut facts, "Runs recorded", Some(grouped(execution.runs)));
            push(&mut facts, "Steps recorded", Some(grouped(execution.steps)));
            push(&mut facts, "Cycles", execution.cycles.map(grouped));
        }
        None if report.execution.is_settled() => {
            push(&mut facts, "Execution", Some("Nothing was recorded".to_owned()));
        }
        None => {}
    }
    facts
}

/// From the first phase's start to the last one's end.
fn compile_time(about: &About) -> Option<String> {
    let start = about.phases.iter().map(|phase| phase.start_microseconds).min()?;
    let ends = about.phases.iter();
    let end = ends
        .map(|phase| phase.start_microseconds.saturating_add(phase.duration_microseconds))
        .max()?;
    Some(format!("{:.2} s", end.saturating_sub(start) as f64 / 1_000_000.0))
}

fn proportion_facts(report: &Report) -> Vec<Fact> {
    let why = |text: &str| vec![("Values".to_owned(), text.to_owned())];
    if !report.debug.is_settled() {
        return why("Debug information is not read yet");
    }
    let (Some(debug), Some(programs)) = (report.debug.get(), report.programs.get()) else {
        return why("No debug information (debug.cbor)");
    };
    let found = proportions(debug, programs);
    if found.is_empty() {
        return why("No operation of this program has the option");
    }
    found
        .into_iter()
        .map(|row| {
            let operation = row.operation.as_deref().unwrap_or("Unnamed operation");
            let value =
                row.value.map_or_else(|| "not a number".to_owned(), |value| value.to_string());
            let times = if row.count == 1 { "time" } else { "times" };
            let text = format!("{value}, {} {times}", grouped(row.count));
            (shortened(operation, VALUE).into_owned(), text)
        })
        .collect()
}
