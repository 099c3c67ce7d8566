//! The tables below the picture: allocations, alive at the event or all, one by one and by the code that asked; the
//! ways through the code as ranges; the peaks.

use eframe::egui::{self, ScrollArea, TextEdit};
use regex::bytes::RegexBuilder;
use std::collections::HashMap;
use std::sync::Arc;

use crate::store::snapshot::Frame;
use crate::store::snapshot::StackId;
use crate::systems::pytorch::allocator::curves::{BlocksBy, Devices};
use crate::systems::pytorch::allocator::lives::BlockLives;
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::user_frame::{NO_STACK, frame_title};
use crate::text::{grouped, shortened};
use crate::ui::job::{Cancel, Made};
use crate::ui::report::PageContext;
use crate::ui::report::snapshot::block_facts::event_title;
use crate::ui::report::snapshot::block_rows::BlockRows;
use crate::ui::report::snapshot::code_tree::CodeTree;
use crate::ui::report::snapshot::curves::Curves;
use crate::ui::report::snapshot::stack::stack_ui;
use crate::ui::report::snapshot::{prepare, snapshot_of};
use crate::ui::runs::{Needs, RunId, Runs, RunsAnswer, StepAt};
use crate::ui::selection::toggle;
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::choice::{segments_ui, tabs_ui};
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::flame::{FLAME_ROW, Flame};
use crate::ui::widget::picture::at_pointer_ui;
use crate::ui::widget::rows::{BarOf, Column, Listed, Rows, Value};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    #[default]
    Allocations,
    ByCode,
    Ways,
    Peaks,
}

const TABS: [(Tab, &str); 4] = [
    (Tab::Allocations, "Allocations"),
    (Tab::ByCode, "By code"),
    (Tab::Ways, "Call paths"),
    (Tab::Peaks, "Peaks"),
];

/// Least height that a stack has beside the table, points.
const STACK: f32 = 300.0;
/// Bytes that a pattern may take when it is made ready.
const MOST_PATTERN: usize = 1 << 20;

/// What allocations are listed for.
#[derive(Clone, PartialEq)]
struct ListKey {
    devices: Devices,
    by: BlocksBy,
    /// The step at which they are alive; `None` for all.
    step: Option<usize>,
    pattern: String,
}

/// Allocations, and what they add up to by the code that asked.
struct Found {
    blocks: Arc<BlockRows>,
    by_code: Arc<Listed<CodeRow>>,
    tree: CodeTree,
    bytes: u64,
    /// Why the pattern is none.
    error: Option<String>,
}

struct CodeRow {
    name: String,
    bytes: u64,
    taken: u64,
    count: u64,
    largest: u64,
}

#[derive(Default)]
pub struct Tables {
    tab: Tab,
    /// Whether all allocations are listed, not only those that are alive.
    are_all: bool,
    by: Option<BlocksBy>,
    pattern: String,
    found: RunsAnswer<ListKey, Option<Arc<Found>>>,
    blocks: DataTable,
    by_code: DataTable,
    peaks: DataTable,
    peak_rows: Made<(u64, Units), Arc<Listed<PeakRow>>>,
    flame: Flame,
    flame_of: Option<Arc<Found>>,
    /// The block whose stack is shown: its run, device and row.
    selected: Option<(RunId, u32, u32)>,
    /// The code that was selected in the frame before.
    code: Option<String>,
}

struct PeakRow {
    run: RunId,
    name: Arc<str>,
    step: usize,
    bytes: u64,
    reserved: u64,
    title: String,
}

impl Tables {
    /// Forgets what was found; what was chosen stays.
    pub fn forget(&mut self) {
        let pattern = std::mem::take(&mut self.pattern);
        let (tab, are_all, by, code) = (self.tab, self.are_all, self.by, self.code.take());
        *self = Self { tab, are_all, by, pattern, code, ..Self::default() };
    }

    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        (curves, step, needs): (&Arc<Curves>, usize, Needs),
        devices: Devices,
    ) -> Option<usize> {
        let runs = Arc::clone(page.runs);
        let replayed = snapshot_of(runs.reference())?;
        let mut shown = None;
        self.follow(page.selection.variable());
        ui.horizontal(|ui| {
            if runs.is_one() {
                tabs_ui(ui, &mut self.tab, TABS);
            } else {
                self.tab = Tab::Peaks;
                ui.label(fonts::card_title("Peaks"));
            }
            if self.tab == Tab::Peaks {
                return;
            }
            ui.add_space(6.0);
            let at = format!("Alive after event {}", grouped(step as u64));
            let which = [(false, at), (true, "All".to_owned())];
            segments_ui(ui, "Which allocations are listed", &mut self.are_all, which);
            if self.tab == Tab::ByCode {
                let mut by = self.by.unwrap_or(BlocksBy::Frame);
                let choices = [BlocksBy::Frame, BlocksBy::Function, BlocksBy::File];
                let choices = choices.map(|by| (by, by.title()));
                segments_ui(ui, "What allocations are added up by", &mut by, choices);
                self.by = Some(by);
            }
            let field = TextEdit::singleline(&mut self.pattern)
                .hint_text("Find, such as attention|mlp")
                .desired_width(190.0);
            ui.add(field)
                .accessible_name("Find in stacks")
                .on_hover_text("A regular expression, looked for in every frame of the stacks");
        });
        ui.add_space(2.0);
        if self.tab == Tab::Peaks {
            self.peaks_ui(ui, page, curves, &mut shown);
            return shown;
        }
        let key = ListKey {
            devices,
            by: self.by.unwrap_or(BlocksBy::Frame),
            step: (!self.are_all).then_some(step),
            pattern: self.pattern.trim().to_owned(),
        };
        let for_job = key.clone();
        self.found.ask("allocations", ui.ctx(), (&runs, needs), &key, move |runs, cancel| {
            Found::of(runs, &for_job, cancel).map(Arc::new)
        });
        let found = self.found.last(&runs).and_then(|(_, found)| found.clone());
        let Some(found) = found else {
            ui.weak(self.found.failure().unwrap_or("Looking…"));
            return None;
        };
        if let Some(error) = &found.error {
            ui.weak(error);
            return None;
        }
        match self.tab {
            Tab::Allocations => self.blocks_ui(ui, page, (replayed, &found), &mut shown),
            Tab::ByCode => self.by_code_ui(ui, &found, page),
            Tab::Ways => self.ways_ui(ui, &found),
            Tab::Peaks => {}
        }
        shown
    }

    fn blocks_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        (replayed, found): (&Arc<ReplayedSnapshot>, &Arc<Found>),
        shown: &mut Option<usize>,
    ) {
        let run = page.runs.reference().id;
        if let Some((_, place, row)) = self.selected.filter(|(of, ..)| *of == run) {
            let width = STACK.min(ui.available_width() * 0.4);
            let panel = egui::Panel::right("stack of the allocation").exact_size(width);
            let panel = panel.resizable(false).show_separator_line(true);
            let frame =
                egui::Frame::new().inner_margin(egui::Margin { left: 10, ..Default::default() });
            panel.frame(frame).show(ui, |ui| {
                ScrollArea::vertical().id_salt("stack").auto_shrink(false).show(ui, |ui| {
                    let lives = replayed.replays.get(place as usize).map(|replay| &replay.lives);
                    let stack = lives.and_then(|lives| lives.stacks.get(row as usize));
                    let event = lives.and_then(|lives| lives.allocation(row as usize));
                    let device = replayed.device(place as usize).map(|(device, _)| device);
                    if let Some((event, device)) = event.zip(device) {
                        let step = replayed.axis().step(device, event) as usize;
                        let text = format!("Go to its allocation, event {}", grouped(step as u64));
                        if ui.link(text).clicked() {
                            page.selection.steps = vec![StepAt { run, step }];
                            *shown = Some(step);
                        }
                    }
                    ui.label(fonts::card_title("Allocated by"));
                    stack_ui(ui, &replayed.snapshot, stack.copied().unwrap_or(StackId::NONE));
                });
            });
        }
        let columns = found.blocks.columns(found.bytes, ui.available_width());
        let selected = self.selected;
        let block = |row: usize| found.blocks.at(row).map(|(place, row)| (run, place, row));
        let is_selected = |row: usize| selected.is_some() && block(row) == selected;
        let note = "click one to see its stack";
        let rows: Arc<dyn Rows> = Arc::clone(&found.blocks) as Arc<dyn Rows>;
        let data =
            Data { is_selected: &is_selected, note, ..Data::of("allocations", &columns, rows) };
        let Some(click) = self.blocks.ui(ui, &data, page.commands) else { return };
        if let Some(block) = block(click.row) {
            toggle(&mut self.selected, block);
        }
    }

    /// Shows what was allocated by code that has been selected elsewhere.
    fn follow(&mut self, selected: Option<&String>) {
        if self.code.as_ref() == selected {
            return;
        }
        self.code = selected.cloned();
        if self.code.is_some() {
            (self.tab, self.by) = (Tab::ByCode, Some(BlocksBy::Frame));
            self.pattern.clear();
        }
    }

    fn by_code_ui(&mut self, ui: &mut egui::Ui, found: &Arc<Found>, page: &mut PageContext<'_>) {
        let whole = found.bytes as f64;
        let bar = BarOf { track: whole, limit: None, whole, of: "of all that is listed" };
        let columns = [
            Column::rest("Code"),
            Column::bytes("Asked", 110.0).with_bars(bar),
            Column::bytes("Blocks", 90.0),
            Column::count("Allocations", 90.0),
            Column::bytes("Largest", 90.0).not_summed(),
        ];
        let rows: Arc<dyn Rows> = Arc::clone(&found.by_code) as Arc<dyn Rows>;
        let code = |row: usize| found.by_code.rows.get(row).map(|row| &row.name);
        let is_selected = |row: usize| self.code.is_some() && code(row) == self.code.as_ref();
        let data =
            Data { is_selected: &is_selected, ..Data::of("allocations by code", &columns, rows) };
        let clicked = self.by_code.ui(ui, &data, page.commands);
        if let Some(code) = clicked.and_then(|click| code(click.row)) {
            page.selection.toggle_variable(code.clone(), false);
            // It is in sight already, added up by whatever was chosen.
            self.code = page.selection.variable().cloned();
        }
    }

    fn ways_ui(&mut self, ui: &mut egui::Ui, found: &Arc<Found>) {
        let units = Units::now(ui);
        if !self.flame_of.as_ref().is_some_and(|of| Arc::ptr_eq(of, found)) {
            self.flame_of = Some(Arc::clone(found));
            self.flame = Flame::default();
        }
        let tree = &found.tree;
        let whole = tree.bytes(0).max(1);
        let text = |number: u32| {
            let bytes = tree.bytes(number);
            let percent = bytes as f64 * 100.0 / whole as f64;
            let name = match tree.name(number) {
                "" => "All that is listed",
                name => name,
            };
            format!("{}: {}, {percent:.1} %", shortened(name, 160), units.exact(bytes))
        };
        let name = |number: u32| match tree.short_name(number) {
            "" => units.bytes(tree.bytes(number)),
            name => name.to_owned(),
        };
        ui.horizontal(|ui| {
            ui.weak("Outermost function on top; a click gives a function the whole width");
            let all = ui.add_enabled(self.flame.is_zoomed(), egui::Button::new("Show all"));
            if all.clicked() {
                self.flame.reset();
            }
            if let Some(chosen) = self.flame.chosen {
                ui.label(fonts::caption(text(chosen)));
            }
        });
        ScrollArea::vertical().id_salt("call paths").auto_shrink(false).show(ui, |ui| {
            ui.set_min_height(FLAME_ROW);
            let label = "Allocations by call path";
            let (response, hovered) = self.flame.ui(ui, label, &tree.spans, (&name, &text));
            if let Some(hovered) = hovered {
                at_pointer_ui(&response, |ui| {
                    ui.label(text(hovered));
                });
            }
        });
    }

    fn peaks_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        curves: &Arc<Curves>,
        shown: &mut Option<usize>,
    ) {
        let (runs, units) = (page.runs, Units::now(ui));
        // What an event did is said in a unit.
        let key = (curves.version, units);
        let rows = self.peak_rows.of(key, |_| Arc::new(peak_rows(runs, curves, units)));
        let columns = [
            Column::text("Event", 70.0),
            Column::rest("Run"),
            Column::bytes("Memory", 110.0).not_summed(),
            Column::bytes("Reserved", 110.0).not_summed(),
            Column::rest("What it did"),
        ];
        let data = Data::of("peaks", &columns, Arc::clone(rows) as Arc<dyn Rows>);
        if let Some(click) = self.peaks.ui(ui, &data, page.commands)
            && let Some(peak) = rows.rows.get(click.row)
        {
            page.selection.steps = vec![StepAt { run: peak.run, step: peak.step }];
            *shown = Some(peak.step);
        }
    }
}

/// The peaks of all runs, the highest first.
fn peak_rows(runs: &Runs, curves: &Curves, units: Units) -> Listed<PeakRow> {
    let mut rows = Vec::new();
    for (run, curve) in runs.iter().zip(&curves.runs) {
        let Some(replayed) = snapshot_of(run) else { continue };
        rows.extend(curve.peaks.iter().map(|peak| {
            let step = curves.slots.step(peak.position);
            PeakRow {
                run: run.id,
                name: Arc::clone(&run.name),
                step,
                bytes: peak.bytes,
                reserved: curve.stacked.reserved.get(step).copied().unwrap_or(0),
                title: event_title(replayed, step, units),
            }
        }));
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    Listed {
        rows,
        cell: |row, column| match column {
            0 => Value::Id(row.step as u64),
            1 => Value::text(&*row.name),
            2 => Value::Bytes(row.bytes),
            3 => Value::Bytes(row.reserved),
            _ => Value::text(&*row.title),
        },
    }
}

impl Found {
    fn of(runs: &Runs, key: &ListKey, cancel: &Cancel) -> Option<Self> {
        let replayed = snapshot_of(runs.reference())?;
        (0..replayed.replays.len()).for_each(|place| prepare(replayed, place));
        let snapshot = &replayed.snapshot;
        let names = replayed.code_names(key.by);
        let matched = match matched_stacks(replayed, &key.pattern) {
            Ok(matched) => matched,
            Err(error) => {
                return Some(Self {
                    blocks: Arc::new(BlockRows::of(replayed, Vec::new())),
                    by_code: Arc::new(Listed { rows: Vec::new(), cell: code_cell }),
                    tree: CodeTree::default(),
                    bytes: 0,
                    error: Some(error),
                });
            }
        };
        let is_matched = |stack: StackId| {
            matched.as_ref().is_none_or(|matched| {
                let last = matched.len().saturating_sub(1);
                matched.get((stack.0 as usize).min(last)).copied().unwrap_or(false)
            })
        };
        let mut rows = Vec::new();
        let mut by_stack: HashMap<StackId, u64> = HashMap::new();
        let mut by_code: HashMap<u32, CodeRow> = HashMap::new();
        let mut whole = 0_u64;
        for (place, (device, replay)) in replayed.devices().enumerate() {
            if !key.devices.has(snapshot, place) {
                continue;
            }
            let lives = &replay.lives;
            let axis = replayed.axis();
            for row in 0..lives.len() {
                if row.is_multiple_of(4096) && cancel.is_cancelled() {
                    return None;
                }
                let stack = lives.stacks[row];
                let is_alive = key.step.is_none_or(|step| {
                    let from = lives.allocation(row).map_or(0, |event| axis.step(device, event));
                    let until = match lives.freed_at[row] {
                        BlockLives::OPEN => u32::MAX,
                        event => axis.step(device, event),
                    };
                    (from as usize) <= step && step < until as usize
                });
                if !is_alive || !is_matched(stack) {
                    continue;
                }
                rows.push((place as u32, row as u32));
                let (asked, taken) = (lives.requested[row], lives.bytes[row]);
                let add = |sum: &mut u64, bytes: u64| *sum = sum.saturating_add(bytes);
                add(by_stack.entry(stack).or_default(), asked);
                add(&mut whole, asked);
                let name = names.of_stack(stack);
                let of = by_code.entry(name).or_insert_with(|| CodeRow {
                    name: names.title(name).to_owned(),
                    bytes: 0,
                    taken: 0,
                    count: 0,
                    largest: 0,
                });
                add(&mut of.bytes, asked);
                add(&mut of.taken, taken);
                add(&mut of.count, 1);
                of.largest = of.largest.max(asked);
            }
        }
        let mut by_code: Vec<CodeRow> = by_code.into_values().collect();
        by_code.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
        Some(Self {
            blocks: Arc::new(BlockRows::of(replayed, rows)),
            by_code: Arc::new(Listed { rows: by_code, cell: code_cell }),
            tree: CodeTree::of(snapshot, &by_stack),
            bytes: whole,
            error: None,
        })
    }
}

fn code_cell(row: &CodeRow, column: usize) -> Value<'_> {
    match column {
        0 => Value::text(&*row.name),
        1 => Value::Bytes(row.bytes),
        2 => Value::Bytes(row.taken),
        3 => Value::Count(row.count),
        _ => Value::Bytes(row.largest),
    }
}

/// The stacks in which a pattern is found in a frame, the last for no stack; `None` for all where there is no pattern.
fn matched_stacks(replayed: &ReplayedSnapshot, pattern: &str) -> Result<Option<Vec<bool>>, String> {
    if pattern.is_empty() {
        return Ok(None);
    }
    let sought = RegexBuilder::new(pattern)
        .case_insensitive(true)
        .unicode(false)
        .size_limit(MOST_PATTERN)
        .build()
        .map_err(|error| format!("This is no regular expression: {error}"))?;
    let snapshot = &replayed.snapshot;
    let title = |frame: &Frame| frame_title(snapshot, frame);
    let frames: Vec<bool> =
        snapshot.frames.iter().map(|frame| sought.is_match(title(frame).as_bytes())).collect();
    let has = |stack: u32| {
        let of = snapshot.stacks.frames_of(StackId(stack));
        of.iter().any(|frame| frames.get(*frame as usize).copied().unwrap_or(false))
    };
    let none = sought.is_match(NO_STACK.as_bytes());
    Ok(Some((0..snapshot.stacks.len() as u32).map(has).chain([none]).collect()))
}
