//! The parts of the peak, by category, operation, module or variable.

use eframe::egui;
use std::sync::Arc;

use super::{ChosenPart, OF_BYTES};
use crate::analysis::comparison::contribution::{Contributor, Grouping};
use crate::analysis::comparison::explanation::{Explanation, GroupedBy};
use crate::analysis::comparison::moment::ScopeStep;
use crate::analysis::consists::{consists_of_peak, rows_of_one};
use crate::analysis::figures::difference::Side;
use crate::analysis::liveness::{Scope, scope_title};
use crate::text::{grouped, readable, shortened, size_or_less};
use crate::ui::command::Sheet;
use crate::ui::job::Latest;
use crate::ui::report::category_colors::category_color;
use crate::ui::report::found_insights::{are_all, settled};
use crate::ui::report::grouped_by::grouped_by_segments_ui;
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::card::listed_card_ui;
use crate::ui::widget::measured::{Measured, MeasuredColumns};
use crate::ui::widget::rows::{CellValue, TableColumn};

/// Rows that are shown.
const MOST_ROWS: usize = 8;

#[derive(Default)]
pub struct ConsistsCard {
    found: Latest<Vec<bool>, Option<PeakParts>>,
}

/// What the peak consists of, as far as it is shown.
struct PeakParts {
    moment: ScopeStep,
    whole_bytes: i64,
    parts: [(GroupedBy, Option<LargestParts>); 4],
}

/// The largest parts, and what the others are together.
struct LargestParts {
    largest: Vec<(Contributor, i64)>,
    more: usize,
    more_bytes: i64,
}

impl PeakParts {
    fn of(found: &Explanation) -> Self {
        let all =
            [GroupedBy::Category, GroupedBy::Operation, GroupedBy::Module, GroupedBy::Variable];
        Self {
            moment: Side::Source.of(found.moments),
            whole_bytes: Side::Source.of(found.whole.0).sum(),
            parts: all.map(|by| (by, found.grouping(by).map(LargestParts::of))),
        }
    }
}

impl LargestParts {
    fn of(grouping: &Grouping) -> Self {
        let rows = rows_of_one(grouping);
        let (largest, others) = rows.split_at(rows.len().min(MOST_ROWS));
        Self {
            largest: largest.iter().map(|(row, bytes)| (row.contributor.clone(), *bytes)).collect(),
            more: others.len(),
            more_bytes: others.iter().map(|(_, bytes)| *bytes).sum(),
        }
    }
}

impl ConsistsCard {
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut ChosenPart<'_>, scope: Option<Scope>) {
        let key = settled(&page.part.run.report, OF_BYTES);
        if are_all(&key) {
            let derived = Arc::clone(&page.part.run.derived);
            let scope = scope.unwrap_or(Scope::Everything);
            self.found.ask("what the peak consists of", ui.ctx(), &key, move |cancel| {
                let found = consists_of_peak(&derived, scope, &|| cancel.is_cancelled());
                found.as_ref().map(PeakParts::of)
            });
        }
        let by = page.choices.by;
        let shown = self.found.get(&key).and_then(|found| found.as_ref());
        let (mut exports, sheet) = (Vec::new(), || sheet(shown, by));
        let title = "Parts of the peak";
        listed_card_ui(
            ui,
            title,
            &mut exports,
            sheet,
            |_| {},
            |ui| match self.found.get(&key) {
                Some(Some(found)) => parts_ui(ui, page, found),
                Some(None) => drop(ui.weak("This run does not have the tables for it")),
                None => {
                    let items = page.part.run.report.system.items;
                    let coming = format!("It appears when {items} and operations are read");
                    ui.weak(self.found.failure().unwrap_or(&coming));
                }
            },
        );
        page.part.commands.append(&mut exports);
    }
}

/// The parts that are named, and the others together.
fn sheet(found: Option<&PeakParts>, by: GroupedBy) -> Sheet {
    // What several share is taken off, so some is below 0.
    let columns =
        vec![TableColumn::rest("Part"), TableColumn { unit: "bytes", ..TableColumn::rest("Size") }];
    let parts = found.and_then(|found| found.parts.iter().find(|(other, _)| *other == by));
    let parts = parts.and_then(|(_, parts)| parts.as_ref());
    let mut rows = Vec::new();
    if let Some(parts) = parts {
        let row = |name: String, bytes: i64| vec![CellValue::text(name), CellValue::Change(bytes)];
        rows.extend(parts.largest.iter().map(|(part, bytes)| row(part.title(), *bytes)));
        if parts.more > 0 {
            rows.push(row(format!("{} others", grouped(parts.more as u64)), parts.more_bytes));
        }
    }
    Sheet::of(columns, rows)
}

fn parts_ui(ui: &mut egui::Ui, page: &mut ChosenPart<'_>, found: &PeakParts) {
    let units = Units::now(ui);
    let tokens = *Tokens::now(ui);
    let (moment, whole) = (found.moment, found.whole_bytes);
    let step = page.part.run.report.steps.get().and_then(|steps| steps.ids.get(moment.step));
    let size = |bytes: i64| size_or_less(bytes, |size| units.bytes(size));
    ui.horizontal_wrapped(|ui| {
        let of = scope_title(&page.part.run.report, moment.scope);
        let word = page.part.run.report.system.step_in_text;
        let step = step.map_or_else(String::new, |step| format!(" at {word} {step}"));
        let text = fonts::caption(format!("{} of {of}{step}", size(whole)));
        ui.label(text.color(tokens.weak_text));
    });
    let system = page.part.run.report.system;
    grouped_by_segments_ui(ui, &system, &mut page.choices.by);
    let by = page.choices.by;
    let parts = found.parts.iter().find(|(other, _)| *other == by);
    let Some(parts) = parts.and_then(|(_, parts)| parts.as_ref()) else {
        ui.weak("Their names are not recorded, or not all of them");
        return;
    };
    let columns = MeasuredColumns {
        has_swatch: by == GroupedBy::Category,
        has_percent: true,
        ..MeasuredColumns::default()
    };
    // What is below 0 has no bar: it is taken off the others.
    let bar = |bytes: i64| Some((u64::try_from(bytes).ok()?, whole.max(0).unsigned_abs()));
    let percent = |bytes: i64| Some(bytes as f64 * 100.0 / whole.max(1) as f64);
    for (place, (contributor, bytes)) in parts.largest.iter().enumerate() {
        let title = contributor.title();
        let hover = shortened(&title, 300);
        let name = readable(&hover);
        let swatch = match contributor {
            Contributor::Category(name) => Some(category_color(name, &tokens)),
            _ => None,
        };
        let row = Measured {
            name: &name,
            hover: &hover,
            is_link: matches!(contributor, Contributor::Variable(_) | Contributor::Operation(_)),
            swatch,
            color: swatch.unwrap_or(tokens.temporary),
            size: bar(*bytes),
            value: &size(*bytes),
            percent: percent(*bytes),
            ..Measured::default()
        };
        if ui.push_id(("part", place), |ui| row.ui(ui, columns)).inner.name {
            show(page, contributor, moment.step);
        }
    }
    if parts.more > 0 {
        let name = format!("{} others", grouped(parts.more as u64));
        let row = Measured {
            name: &name,
            color: tokens.third_text,
            size: bar(parts.more_bytes),
            value: &size(parts.more_bytes),
            percent: percent(parts.more_bytes),
            ..Measured::default()
        };
        row.ui(ui, columns);
    }
}

fn show(page: &mut ChosenPart<'_>, contributor: &Contributor, step: usize) {
    match contributor {
        Contributor::Variable(name) => page.part.show_variable(name),
        Contributor::Operation(name) => {
            page.part.selection.select_operation(Some(name.clone()));
            page.part.show_step(step);
        }
        _ => {}
    }
}
