//! The bytes alive at the selected moment in groups: by category, operation, module or variable, a column for each
//! moment or run. Each column adds up to what the curve says.

use eframe::egui::{self, Align, Layout, Margin, Rect, ScrollArea};
use std::sync::Arc;

use super::tables::{MomentColumns, StepOfRun};
use super::timelines::RunCurve;
use crate::analysis::comparison::contribution::Contributor;
use crate::analysis::comparison::explanation::{Explanation, GroupedBy};
use crate::analysis::comparison::moment::ScopeStep;
use crate::analysis::consists::{consists_of, rows_of_moments};
use crate::analysis::module_tree::ModuleTree;
use crate::text::{readable, shortened};
use crate::ui::command::Command;
use crate::ui::job::Cancel;
use crate::ui::report::grouped_by::grouped_by_segments_ui;
use crate::ui::report::{PageContext, unread_ui};
use crate::ui::runs::{Needed, Needs, Runs, RunsAnswer};
use crate::ui::split;
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::column_widths::MOST_SHOWN;
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::exports::{picture_exports_ui, scrolled_of_exports};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::flame::{FLAME_ROW, Flame, linked_ui, show_all_ui};
use crate::ui::widget::picture::at_pointer_ui;
use crate::ui::widget::rows::{CellValue, Rows, TableColumn};

/// What is put together, and what it belongs to.
const NEEDS: Needs = &[
    Needed::Liveness,
    Needed::Variables,
    Needed::TileVariables,
    Needed::Debug,
    Needed::ComputeSets,
    Needed::Exchanges,
    Needed::Axis,
];

/// Least heights of the table and of the icicles, of the line below these, and of the title of each of several, points.
const LEAST_TABLE: f32 = 80.0;
const LEAST_ICICLES: f32 = FLAME_ROW + LINE + BESIDE_SPLITTER;
const LINE: f32 = 34.0;
const TITLE: f32 = 20.0;
/// Between the line and the splitter, which takes clicks that are near to it, points.
const BESIDE_SPLITTER: f32 = 6.0;
/// What the table has of the height at first, where icicles want more than the rest.
const TABLE: f32 = 0.6;

#[derive(Default)]
pub struct ConsistsTab {
    by: GroupedBy,
    table: DataTable,
    icicles: Vec<Flame>,
    /// What the icicles were drawn of last: their ranges are known by number.
    drawn: Option<Arc<PartRows>>,
    /// The parts by a grouping; `None` where the report does not say.
    found: RunsAnswer<(MomentColumns, GroupedBy), Option<Arc<PartRows>>>,
}

/// The table: a row for what bytes belong to.
struct PartRows {
    /// Of each column, where modules are told apart.
    trees: Vec<Option<Arc<ModuleTree>>>,
    moments: usize,
    rows: Vec<(Contributor, String, Vec<Option<i64>>)>,
}

impl ConsistsTab {
    pub fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, moments: &MomentColumns) {
        let runs = page.runs;
        if !runs.is_settled(NEEDS) {
            unread_ui(ui, "What bytes belong to", runs.is_working());
            return;
        }
        let (asked, mut wanted) = ((moments.clone(), self.by), self.by);
        let (name, needs) = ("what is alive at steps", (runs, NEEDS));
        let (for_job, by) = asked.clone();
        self.found.ask(name, ui.ctx(), needs, &asked, move |runs, cancel| {
            PartRows::of(runs, &for_job, by, cancel).map(Arc::new)
        });
        let mut choice = |ui: &mut egui::Ui| grouped_by_segments_ui(ui, runs.system(), &mut wanted);
        let found = self.found.last(runs).map(|((moments, _), parts)| (moments, parts.clone()));
        match found {
            None => {
                choice(ui);
                ui.weak(self.found.failure().unwrap_or("Looking…"));
            }
            Some((_, None)) => {
                choice(ui);
                let reason = "Their names are not recorded, or not all of them";
                absent_ui(ui, "It is not known what the bytes belong to", reason);
            }
            Some((moments, Some(parts))) => {
                let is_drawn = self.drawn.as_ref().is_some_and(|drawn| Arc::ptr_eq(drawn, &parts));
                if !is_drawn && !parts.trees.is_empty() {
                    let before = self.drawn.replace(Arc::clone(&parts));
                    follow(&mut self.icicles, before.as_deref(), &parts);
                }
                let columns = columns(moments);
                let selected: Vec<&str> = page.selection.variables().collect();
                let is_selected = |row: usize| match parts.rows.get(row) {
                    Some((Contributor::Variable(name), ..)) => selected.contains(&&**name),
                    _ => false,
                };
                let system = page.runs.system();
                let of_both = format!(
                    "{} and {}",
                    system.always_live_in_text, system.not_always_live_in_text
                );
                let data = Data {
                    note: &moments.with_note(&of_both),
                    is_selected: &is_selected,
                    ..Data::of("what is alive", &columns, Arc::clone(&parts) as Arc<dyn Rows>)
                };
                let (table, commands) = (&mut self.table, &mut *page.commands);
                let mut table_ui = |ui: &mut egui::Ui, commands: &mut Vec<Command>| {
                    table.ui_with(ui, &data, commands, Some(&mut choice), None)
                };
                let click = if parts.trees.iter().all(Option::is_none) {
                    table_ui(ui, commands)
                } else {
                    let height = ui.available_height();
                    let most = height - LEAST_ICICLES.min(height * 0.5);
                    let range = LEAST_TABLE.min(height * 0.5)..=most;
                    let below = (height - icicles_height(&parts)).max(height * TABLE);
                    let click = split::below(ui, "parts that are alive", below, range, |ui| {
                        table_ui(ui, commands)
                    });
                    let margin = Margin { bottom: BESIDE_SPLITTER as i8, ..Margin::ZERO };
                    split::rest(ui, margin, |ui| {
                        icicles_ui(ui, &mut self.icicles, &parts, moments, commands);
                    });
                    click
                };
                let clicked = click.and_then(|click| Some((parts.rows.get(click.row)?, click)));
                match clicked {
                    Some(((Contributor::Variable(name), ..), click)) => {
                        page.selection.toggle_variable(name.clone(), click.is_added);
                    }
                    Some(((Contributor::Operation(name), ..), _)) => {
                        page.selection.select_operation(Some(name.clone()));
                    }
                    _ => {}
                }
            }
        }
        self.by = wanted;
    }
}

fn icicles_height(parts: &PartRows) -> f32 {
    let title = if parts.trees.len() > 1 { TITLE } else { 0.0 };
    let of_tree = |tree: &Arc<ModuleTree>| tree.spans.rows().len() as f32 * FLAME_ROW + title;
    parts.trees.iter().flatten().map(of_tree).sum::<f32>() + LINE + BESIDE_SPLITTER
}

/// What is alive by module path, as ranges within ranges: of all columns on one scale. A module that is chosen is
/// chosen in all.
fn icicles_ui(
    ui: &mut egui::Ui,
    flames: &mut Vec<Flame>,
    parts: &PartRows,
    moments: &MomentColumns,
    commands: &mut Vec<Command>,
) {
    let units = Units::now(ui);
    flames.resize_with(parts.trees.len(), Flame::default);
    let spans = parts.trees.iter().flatten().filter_map(|tree| tree.spans.extent());
    let span = spans.map(|extent| extent.end).max().unwrap_or(0);
    for flame in flames.iter_mut() {
        flame.span = span;
    }
    let most = ui.available_height() - LINE;
    let area = ScrollArea::vertical().id_salt("modules").max_height(most).auto_shrink(false);
    let area = area.min_scrolled_height(0.0);
    let several = parts.trees.len() > 1;
    let mut drawn = Rect::NOTHING;
    let shown = area.show(ui, |ui| {
        for (place, (tree, column)) in parts.trees.iter().zip(moments.columns()).enumerate() {
            let Some(tree) = tree else { continue };
            if several {
                let title = ui.label(fonts::caption(&*column.title));
                drawn = drawn.union(title.rect);
            }
            let whole = tree.bytes(0);
            let text = |number: u32| {
                let (bytes, path) = (tree.bytes(number), tree.path(number));
                let percent = bytes as f64 * 100.0 / whole.max(1) as f64;
                let name = if path.is_empty() { "All that is alive" } else { &*path };
                let shared = match tree.shared_bytes {
                    0 => String::new(),
                    bytes if number == 0 => {
                        format!(", of which {} are counted more than once", units.bytes(bytes))
                    }
                    _ => String::new(),
                };
                let name = shortened(name, MOST_SHOWN);
                format!("{}: {}, {percent:.1} %{shared}", readable(&name), units.exact(bytes))
            };
            let name = |number: u32| match tree.name(number) {
                "" => units.bytes(whole),
                name => readable(&shortened(name, MOST_SHOWN)).into_owned(),
            };
            let label = match &*column.in_text {
                "" => "What is alive by module".to_owned(),
                of => format!("What is alive by module, {of}"),
            };
            let (of_flames, spans) = (&mut **flames, &tree.spans);
            let partner =
                |other: usize, number| tree.same_in(parts.trees.get(other)?.as_ref()?, number);
            let shown = linked_ui(ui, of_flames, place, &label, spans, (&name, &text), partner);
            let Some((response, hovered)) = shown else { continue };
            drawn = drawn.union(response.rect);
            if let Some(hovered) = hovered {
                at_pointer_ui(&response, |ui| {
                    ui.label(text(hovered));
                });
            }
        }
    });
    scrolled_of_exports(ui, &shown);
    let drawn = drawn.intersect(shown.inner_rect);
    ui.horizontal(|ui| {
        let chosen = flames.iter().zip(&parts.trees).find_map(|(flame, tree)| {
            let (chosen, tree) = (flame.chosen?, tree.as_ref()?);
            let path = tree.path(chosen);
            Some(format!("{}: {}", shortened(&path, 120), units.bytes(tree.bytes(chosen))))
        });
        ui.weak(chosen.unwrap_or_else(|| "Click a module to see what is in it".to_owned()));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            picture_exports_ui(ui, "what is alive by module", true, Some(drawn), commands);
            show_all_ui(ui, flames, "Show all modules");
        });
    });
}

/// Keeps the chosen and the zoomed module where its path is in what is drawn now.
fn follow(flames: &mut [Flame], before: Option<&PartRows>, now: &PartRows) {
    for (place, flame) in flames.iter_mut().enumerate() {
        let tree = |parts: &PartRows| parts.trees.get(place).cloned().flatten();
        let trees = before.and_then(tree).zip(tree(now));
        let same = |number: Option<u32>| {
            let (before, now) = trees.as_ref()?;
            before.same_in(now, number?)
        };
        (flame.zoomed, flame.chosen) = (same(flame.zoomed), same(flame.chosen));
    }
}

/// A column for each moment, and beside each but the first what is more or less there.
fn columns(moments: &MomentColumns) -> Vec<TableColumn> {
    let mut columns = vec![TableColumn::rest("Part")];
    for (place, column) in moments.columns().iter().enumerate() {
        let bytes = TableColumn::bytes(column.title.clone(), 110.0);
        columns.push(bytes.of_run(column.badge, ""));
        if place > 0 {
            let change = TableColumn::bytes(format!("{}, change", column.title), 118.0);
            columns.push(change.of_run(column.badge, "Δ"));
        }
    }
    columns
}

impl PartRows {
    fn of(runs: &Runs, moments: &MomentColumns, by: GroupedBy, cancel: &Cancel) -> Option<Self> {
        let explained = |at: &StepOfRun| -> Option<Option<Explanation>> {
            // Before its first step nothing is alive.
            let Some(step) = at.step.filter(|_| !cancel.is_cancelled()) else { return Some(None) };
            let RunCurve { scope, timeline, .. } = moments.timelines.run(at.run)?;
            let alive = ScopeStep::alive(&timeline.curve, *scope, step)?;
            Some(Some(consists_of(&runs.get(at.run)?.derived, alive)))
        };
        let found = moments.list.iter().map(explained).collect::<Option<Vec<_>>>()?;
        let rows = rows_of_moments(&found, by)?;
        let titled = |(part, bytes): (Contributor, _)| {
            let title = part.title();
            (part, title, bytes)
        };
        let is_by_module = by == GroupedBy::Module;
        let tree = |found: &Option<Explanation>| ModuleTree::of(found.as_ref()?).map(Arc::new);
        Some(Self {
            trees: if is_by_module { found.iter().map(tree).collect() } else { Vec::new() },
            moments: found.len(),
            rows: rows.into_iter().map(titled).collect(),
        })
    }
}

impl Rows for PartRows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: usize, column: usize) -> CellValue<'_> {
        let Some((_, title, bytes)) = self.rows.get(row) else { return CellValue::Nothing };
        let Some(column) = column.checked_sub(1) else { return CellValue::text(&**title) };
        let at = |moment: usize| bytes.get(moment).copied().flatten();
        // Beside the first, bytes and change take turns.
        match column.div_ceil(2) {
            moment if moment >= self.moments => CellValue::Nothing,
            moment if column == 0 || column % 2 == 1 => {
                at(moment).map_or(CellValue::Nothing, signed)
            }
            moment => CellValue::Change(at(moment).unwrap_or(0).saturating_sub(at(0).unwrap_or(0))),
        }
    }

    fn name(&self, row: usize) -> Option<String> {
        self.rows.get(row).map(|(_, title, _)| title.clone())
    }
}

/// What several share is taken off, so some is below 0.
fn signed(bytes: i64) -> CellValue<'static> {
    u64::try_from(bytes).map_or(CellValue::Change(bytes), CellValue::Bytes)
}
