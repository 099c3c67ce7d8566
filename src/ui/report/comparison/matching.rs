//! Matched things and how sure each match is, and things that only one of the reports has.

use eframe::egui::{self, RichText};
use std::sync::Arc;

use super::pair_of_runs::PairOfRuns;
use crate::analysis::comparison::matching::{MatchCounts, Matching, Pairs};
use crate::analysis::derived::DerivedPair;
use crate::analysis::figures::difference::Side;
use crate::analysis::program::operations::Operation;
use crate::analysis::program::step_operations::StepOperations;
use crate::analysis::program::steps;
use crate::store::Report;
use crate::text::grouped;
use crate::ui::command::{Command, Page};
use crate::ui::job::{Latest, MadeFor, Same};
use crate::ui::report::PageContext;
use crate::ui::runs::{Run, RunId};
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MatchedKind {
    #[default]
    Steps,
    Programs,
    ComputeSets,
    Exchanges,
    Variables,
    Operations,
}

impl MatchedKind {
    const ALL: [Self; 6] = [
        Self::Steps,
        Self::Programs,
        Self::ComputeSets,
        Self::Exchanges,
        Self::Variables,
        Self::Operations,
    ];

    fn title(self) -> &'static str {
        match self {
            Self::Steps => "Program steps",
            Self::Programs => "Programs",
            Self::ComputeSets => "Compute sets",
            Self::Exchanges => "Exchanges",
            Self::Variables => "Variables",
            Self::Operations => "Operations",
        }
    }

    fn pairs(self, matching: &Matching) -> &Pairs {
        match self {
            Self::Steps => &matching.steps,
            Self::Programs => &matching.programs,
            Self::ComputeSets => &matching.compute_sets,
            Self::Exchanges => &matching.exchanges,
            Self::Variables => &matching.variables,
            Self::Operations => &matching.operations,
        }
    }
}

#[derive(Default)]
pub struct MatchingTables {
    kind: MatchedKind,
    table: DataTable,
    counts: MadeFor<Matching, [MatchCounts; 6]>,
    found: Latest<UnmatchedKey, Unmatched>,
}

#[derive(Clone, PartialEq)]
struct UnmatchedKey {
    runs: [RunId; 2],
    titles: [String; 2],
    pair: Same<DerivedPair>,
    kind: MatchedKind,
}

/// What only one of the reports has.
struct Unmatched {
    kind: MatchedKind,
    rows: Arc<UnmatchedRows>,
}

impl MatchingTables {
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, pair: &PairOfRuns<'_>) {
        let matching = &pair.derived.matching;
        let counts = || MatchedKind::ALL.map(|kind| kind.pairs(matching).counts());
        let counts = self.counts.get(matching, counts);
        self.kind = counts_ui(ui, pair, counts, self.kind);
        ui.add_space(6.0);
        let key = UnmatchedKey {
            runs: pair.runs.map(|run| run.id),
            titles: pair.runs.map(Run::title_in_text),
            pair: Same(Arc::clone(pair.derived)),
            kind: self.kind,
        };
        let (kind, matching) = (self.kind, Arc::clone(matching));
        let reports = pair.runs.map(|run| Arc::clone(&run.report));
        let titles = key.titles.clone();
        self.found.ask("unmatched", ui.ctx(), &key, move |_| {
            let rows = Arc::new(UnmatchedRows::new(kind, matching, reports, titles));
            Unmatched { kind, rows }
        });
        let of_runs = self.found.last().filter(|(made_for, _)| made_for.runs == key.runs);
        let Some((_, found)) = of_runs else {
            ui.weak(self.found.failure().unwrap_or("Looking…"));
            return;
        };
        let title = format!("{} in one report only", found.kind.title());
        if found.rows.len() == 0 {
            ui.strong(title);
            ui.weak("None: all are matched");
            return;
        }
        let columns = [
            TableColumn::rest("Name"),
            TableColumn::text("Only in", 80.0),
            TableColumn::text("Number", 90.0),
            TableColumn::text("Kind", 170.0),
        ];
        let slot = |row: usize| {
            let (side, item) = found.rows.item(row)?;
            pair.slot(side, item).filter(|_| found.kind == MatchedKind::Steps)
        };
        let selected = page.selection.slots(page.runs);
        let data = Data {
            title: &title,
            is_selected: &|row| slot(row).is_some_and(|slot| selected.contains(&slot)),
            ..Data::of("in one report only", &columns, found.rows.clone())
        };
        let click = self.table.ui(ui, &data, page.commands);
        if let Some(slot) = click.and_then(|click| slot(click.row)) {
            page.selection.select_slot(page.runs, slot);
            page.commands.push(Command::Go(Page::Liveness));
        }
    }
}

/// Numbers by kind; returns the kind that is chosen.
fn counts_ui(
    ui: &mut egui::Ui,
    pair: &PairOfRuns<'_>,
    counts: &[MatchCounts; 6],
    mut chosen: MatchedKind,
) -> MatchedKind {
    let grid = egui::Grid::new("matched").num_columns(7).spacing([22.0, 3.0]).striped(true);
    grid.show(ui, |ui| {
        ui.weak("");
        for (title, hover) in [
            ("Matched", "Found in both reports"),
            ("Exact", "The same kind, name and operation"),
            ("Likely", "Numbers in names differ, or there is no name but the same operation"),
            ("By place", "The same kind, between matched neighbors"),
        ] {
            ui.weak(title).on_hover_text(hover);
        }
        for run in pair.runs {
            let title = format!("Only in {}", run.title_in_text());
            ui.label(RichText::new(title).color(run.color(ui)));
        }
        ui.end_row();
        for (kind, counts) in MatchedKind::ALL.into_iter().zip(counts) {
            ui.selectable_value(&mut chosen, kind, kind.title());
            for count in [
                counts.matched,
                counts.exact,
                counts.likely,
                counts.weak,
                counts.only_source,
                counts.only_target,
            ] {
                ui.label(grouped(count as u64));
            }
            ui.end_row();
        }
    });
    chosen
}

/// What only one report has: first of the source, then of the target.
struct UnmatchedRows {
    kind: MatchedKind,
    matching: Arc<Matching>,
    reports: [Arc<Report>; 2],
    titles: [String; 2],
    source: Vec<u32>,
    target: Vec<u32>,
}

impl UnmatchedRows {
    fn new(
        kind: MatchedKind,
        matching: Arc<Matching>,
        reports: [Arc<Report>; 2],
        titles: [String; 2],
    ) -> Self {
        let number = |item: usize| u32::try_from(item).ok();
        let pairs = kind.pairs(&matching);
        let source = pairs.only_source().filter_map(number).collect();
        let target = pairs.only_target().filter_map(number).collect();
        Self { kind, matching, reports, titles, source, target }
    }

    fn item(&self, row: usize) -> Option<(Side, usize)> {
        match row.checked_sub(self.source.len()) {
            None => Some((Side::Source, *self.source.get(row)? as usize)),
            Some(row) => Some((Side::Target, *self.target.get(row)? as usize)),
        }
    }

    fn report(&self, side: Side) -> (&Report, &StepOperations) {
        let report = side.of(self.reports.each_ref());
        let operations = side.of(self.matching.step_operations.each_ref());
        (report, operations)
    }

    /// Name, number in the report, and kind.
    fn facts(&self, side: Side, item: usize) -> Option<(String, Option<u64>, String)> {
        let (report, operations) = self.report(side);
        let of_operation = |operation: Option<&Operation>| {
            let operation = operation?;
            let kind = operation.title();
            Some(match &operation.name {
                Some(name) => format!("{name} ({kind})"),
                None => kind.to_owned(),
            })
        };
        Some(match self.kind {
            MatchedKind::Steps => {
                let facts = steps::facts(report, None, item)?;
                let name = facts.name.or_else(|| of_operation(operations.at(item)));
                let id = u64::from(facts.step.0);
                (name.unwrap_or_default(), Some(id), facts.kind.unwrap_or_default())
            }
            MatchedKind::Programs => {
                let programs = report.programs.get()?;
                let name = programs.names.at(item).unwrap_or_default().to_owned();
                let id = programs.ids.get(item).map(|id| u64::from(id.0));
                (name, id, programs.kind(item).unwrap_or_default().to_owned())
            }
            MatchedKind::ComputeSets => {
                let sets = report.compute_sets.get()?;
                let name = sets.names.at(item).unwrap_or_default().to_owned();
                (name, sets.ids.get(item).map(|id| u64::from(id.0)), String::new())
            }
            MatchedKind::Exchanges => {
                let id = report.exchanges.get()?.ids.get(item)?;
                (String::new(), Some(u64::from(id.number)), id.kind.title().to_owned())
            }
            MatchedKind::Variables => {
                let liveness = report.liveness.get()?;
                let name = liveness.variable_names.at(item).unwrap_or_default().to_owned();
                (name, liveness.variable_ids.get(item).map(|id| u64::from(id.0)), String::new())
            }
            MatchedKind::Operations => {
                let operation = operations.operations.get(item)?;
                let name = operation.name.clone().unwrap_or_default();
                (name, None, operation.title().to_owned())
            }
        })
    }
}

impl Rows for UnmatchedRows {
    fn len(&self) -> usize {
        self.source.len() + self.target.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some((side, item)) = self.item(row) else { return CellValue::Nothing };
        if column == 1 {
            return CellValue::text(&**side.of(self.titles.each_ref()));
        }
        let Some((name, number, kind)) = self.facts(side, item) else { return CellValue::Nothing };
        match column {
            0 if name.is_empty() => CellValue::text("without a name"),
            0 => CellValue::text(name),
            2 => number.map_or(CellValue::Nothing, CellValue::Id),
            _ => CellValue::text(kind),
        }
    }
}
