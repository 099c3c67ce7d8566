//! The map of a memory snapshot: the segments of a device side by side in the order of their addresses, over events,
//! with what is free in them; the segments and blocks in tables.

mod data;
mod inspector;
mod picture;

use eframe::egui::{self, Button, Vec2};
use std::sync::Arc;

use crate::systems::pytorch::allocator::categories::BlockCategory;
use crate::systems::pytorch::allocator::curves::Devices;
use crate::systems::pytorch::allocator::failed_requests::last_failed;
use crate::systems::pytorch::allocator::replayed::ReplayedSnapshot;
use crate::systems::pytorch::allocator::segment_map::SegmentAxis;
use crate::text::{counted, grouped};
use crate::ui::command::{Command, Exported, Page};
use crate::ui::pages::RunsPage;
use crate::ui::report::PageContext;
use crate::ui::report::allocations::rows::BARS;
use crate::ui::report::category_colors::category_color;
use crate::ui::report::head::{Answer, page_head_ui};
use crate::ui::report::snapshot::snapshot_of;
use crate::ui::runs::{Needs, Run, RunId, RunsAnswer, StepAt};
use crate::ui::split;
use crate::ui::theme::{Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::choice::{choice_ui, segments_ui, tabs_ui};
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::exports::{exportable, exports_ui, scope_of_exports};
use crate::ui::widget::inspector::inspector_ui;
use crate::ui::widget::legend::{Patch, label_ui};
use crate::ui::widget::picture::{link, moved, pressed_keys};
use crate::ui::widget::rows::{BarOf, Column, Rows};
use crate::ui::widget::sign::Sign;
use data::MapMoment;
use picture::{Picture, PictureOf, Pointed};

/// The column of free bytes in the table of segments.
const FREE: usize = 4;

/// A snapshot is read and replayed before any part of its report is there.
const NEEDS: Needs = &[];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    #[default]
    Segments,
    Blocks,
}

/// Columns of segments stand closer where there is less room, points.
const CLOSE: f32 = 800.0;

/// Tells moments apart: run, device, step, segment.
type MomentKey = (RunId, usize, usize, Option<usize>);

pub struct SnapshotMap {
    /// The run of several, and its device; else the reference, and [`Self::first_device`].
    run: Option<RunId>,
    device: Option<usize>,
    /// The device that a run is about.
    first: Option<(RunId, usize)>,
    axes: RunsAnswer<(RunId, usize), KnownDevice>,
    moments: RunsAnswer<MomentKey, Option<Arc<MapMoment>>>,
    picture: Picture,
    /// What is shown: run and device.
    of: Option<(RunId, usize)>,
    pointed: Option<Pointed>,
    segment: Option<usize>,
    block: Option<usize>,
    tab: Tab,
    segments: DataTable,
    blocks: DataTable,
}

/// What of a device does not depend on what is chosen.
#[derive(Clone)]
struct KnownDevice {
    axis: Arc<SegmentAxis>,
    /// What its blocks are for.
    categories: Arc<[BlockCategory]>,
    /// Whether sizes were rounded up, and whether blocks waited for another stream when they were given back.
    has_rounding: bool,
    has_waiting: bool,
    /// The step that is shown before one is selected: of the request at which the run ended, else of the peak.
    first: usize,
    /// The last step of the snapshot.
    last: usize,
}

impl KnownDevice {
    fn of(replayed: &ReplayedSnapshot, device: usize) -> Self {
        let axis = Arc::new(SegmentAxis::of(replayed, device));
        let last = replayed.axis().len().saturating_sub(1) as usize;
        let of_blocks = replayed.categories(device);
        let is_there = |category: &BlockCategory| of_blocks.contains(category);
        let categories = BlockCategory::ALL.into_iter().filter(is_there).collect();
        let lives = replayed.device(device).map(|(_, replay)| &replay.lives);
        let rows =
            || lives.into_iter().flat_map(|lives| (0..lives.len()).map(move |row| (lives, row)));
        let has_rounding = rows().any(|(lives, row)| lives.bytes[row] > lives.requested[row]);
        let has_waiting = rows().any(|(lives, row)| {
            lives.requested_free_at[row].saturating_add(1) < lives.freed_at[row]
        });
        Self {
            axis,
            categories,
            has_rounding,
            has_waiting,
            first: first_step(replayed, device).unwrap_or(0),
            last,
        }
    }
}

impl Default for SnapshotMap {
    fn default() -> Self {
        Self {
            run: None,
            device: None,
            first: None,
            axes: RunsAnswer::default(),
            moments: RunsAnswer::default(),
            picture: Picture::default(),
            of: None,
            pointed: None,
            segment: None,
            block: None,
            tab: Tab::default(),
            // What is free is what is looked for.
            segments: DataTable::sorted_by(FREE),
            blocks: DataTable::default(),
        }
    }
}

impl RunsPage for SnapshotMap {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = Arc::clone(page.runs);
        let place = self.run.and_then(|id| runs.position(id)).unwrap_or(0);
        let Some((run, replayed)) = runs.get(place).and_then(|run| Some((run, snapshot_of(run)?)))
        else {
            return;
        };
        let count = replayed.snapshot.all_devices().count();
        let device = self.device.filter(|device| *device < count);
        let device = device.unwrap_or_else(|| if count > 1 { self.first_device(run) } else { 0 });
        if self.of != Some((run.id, device)) {
            self.of = Some((run.id, device));
            self.picture.plane.reset();
            (self.segment, self.block, self.pointed) = (None, None, None);
        }
        let (id, for_axis) = (run.id, Arc::clone(replayed));
        self.axes.ask("axis of segments", ui.ctx(), (&runs, NEEDS), &(id, device), move |_, _| {
            KnownDevice::of(&for_axis, device)
        });
        let known = self.axes.get((&runs, NEEDS), &(id, device)).cloned();
        let selected = page.selection.step_of(id);
        let step = |known: &KnownDevice| selected.map_or(known.first, |step| step.min(known.last));
        let step = known.as_ref().map_or(0, step);
        let axis = known.as_ref().map(|known| &known.axis);
        if let Some(axis) = axis {
            let key = (id, device, step, self.segment);
            let (replayed, axis) = (Arc::clone(replayed), Arc::clone(axis));
            self.moments.ask(
                "segments at an event",
                ui.ctx(),
                (&runs, NEEDS),
                &key,
                move |_, cancel| {
                    let (_, device, step, segment) = key;
                    let at = (step, segment);
                    MapMoment::of(&replayed, (device, &axis), at, cancel).map(Arc::new)
                },
            );
        }
        let last =
            self.moments.last(&runs).filter(|((of, place, ..), _)| (*of, *place) == (id, device));
        let moment = last.and_then(|(_, moment)| moment.clone());
        self.head_ui(ui, page, (run, replayed, device), moment.as_deref());
        let Some(device_known @ KnownDevice { axis, .. }) = &known else {
            ui.weak(self.axes.failure().unwrap_or("Looking at the segments…"));
            return;
        };
        if axis.segments.is_empty() {
            ui.weak("This device has no segments");
            return;
        }
        let shown = (replayed, device, axis);
        inspector_ui(ui, |ui| {
            self.inspect_ui(ui, page, (run, step), shown, moment.as_deref());
        });
        let height = ui.available_height();
        let max = (height - 160.0).max(80.0);
        split::below(ui, "segments", (height * 0.28).clamp(140.0, 380.0), 60.0..=max, |ui| {
            self.tables_ui(ui, page, axis, moment.as_deref());
        });
        let margin = egui::Margin { top: 6, bottom: 6, ..Default::default() };
        split::rest(ui, margin, |ui| {
            let frame = card_frame(Tokens::now(ui)).inner_margin(egui::Margin::symmetric(12, 8));
            frame.show(ui, |ui| {
                legend_ui(ui, device_known);
                self.picture_ui(ui, page, (run, step), shown, moment.as_deref());
            });
        });
    }

    fn run_renamed(&mut self, from: RunId, to: RunId) {
        // What was read and worked out goes, what was chosen stays.
        let run = self.run.map(|run| if run == from { to } else { run });
        *self = Self { run, device: self.device, tab: self.tab, ..Self::default() };
    }
}

/// What a map is of: snapshot, place of the device, axis of its segments.
type Of<'a> = (&'a Arc<ReplayedSnapshot>, usize, &'a Arc<SegmentAxis>);

/// The step of the request at which a run ended on a device, else that of the peak. Goes through all of its events.
fn first_step(replayed: &ReplayedSnapshot, device: usize) -> Option<usize> {
    let (device, replay) = replayed.device(device)?;
    let failed = last_failed(&replayed.snapshot, device).map(|failed| failed.event);
    let event = failed.or_else(|| u32::try_from(replay.requested_peak.event).ok())?;
    (!device.events.is_empty()).then(|| replayed.axis().step(device, event) as usize)
}

impl SnapshotMap {
    /// The device that a run is about: on which it ended, else the one that had most.
    fn first_device(&mut self, run: &Run) -> usize {
        let about = || run.derived.allocator()?.end()?.device;
        let first = |of: &(RunId, usize)| (of.0 == run.id).then_some(of.1);
        let device = self.first.as_ref().and_then(first).or_else(about).unwrap_or(0);
        self.first = Some((run.id, device));
        device
    }

    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        (run, replayed, device): (&Run, &Arc<ReplayedSnapshot>, usize),
        moment: Option<&MapMoment>,
    ) {
        let units = Units::now(ui);
        let answer = moment.map(|moment| answer(moment, units));
        let snapshot = &replayed.snapshot;
        scope_of_exports(ui, &Devices::At(device).title(snapshot));
        page_head_ui(ui, "Map", answer.as_ref(), |ui| {
            exports_ui(ui, ("picture", "segments over events", true), page.commands, || {
                Some(Exported::Picture)
            });
            let is_zoomed = self.picture.plane.is_zoomed();
            let all = ui.add_enabled(is_zoomed, Button::new("All segments"));
            if all.on_hover_text("Key 0, or double-click in the picture").clicked() {
                self.picture.plane.reset();
                self.segment = None;
            }
            let count = snapshot.all_devices().count();
            if count > 1 {
                let mut now = device;
                let title = |place: &usize| Devices::At(*place).title(snapshot);
                choice_ui(ui, ("Device", 120.0), &mut now, 0..count, title);
                // What nobody chose may be another one of another run.
                if now != device {
                    self.device = Some(now);
                }
            }
            if !page.runs.is_one() {
                let mut now = run.id;
                let all = page.runs.iter().map(|run| (run.id, run.badge.letter.to_string()));
                segments_ui(ui, "Whose map is shown", &mut now, all.collect::<Vec<_>>());
                self.run = Some(now);
            }
        });
    }

    fn picture_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        (run, step): (&Run, usize),
        (replayed, place, axis): Of<'_>,
        moment: Option<&MapMoment>,
    ) {
        let all = ui.max_rect();
        let units = Units::now(ui);
        let value = format!(
            "{}, event {}{}",
            counted(axis.segments.len() as u64, "segment"),
            grouped(step as u64),
            moment.map_or_else(String::new, |moment| format!(": {}", answer(moment, units).1)),
        );
        let of = PictureOf {
            run: run.id,
            replayed,
            place,
            axis,
            step,
            moment,
            block: self.block,
            segment: self.segment,
            value,
        };
        let shown = self.picture.ui(ui, &of);
        exportable(ui, "segments over events", all.union(shown.rect));
        *page.has_painted_graph = true;
        if shown.response.clicked()
            && let Some(pointed) = shown.pointed
        {
            (self.block, self.segment) = (pointed.block, pointed.segment);
            if pointed.block.is_some() {
                self.tab = Tab::Blocks;
            }
            page.selection.steps = vec![StepAt { run: run.id, step: pointed.step }];
        }
        if let Some(step) = step_by_key(ui, &shown.response, step, replayed) {
            page.selection.steps = vec![StepAt { run: run.id, step }];
        }
        link(ui, &mut self.pointed, shown.pointed, true);
    }

    fn tables_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        axis: &SegmentAxis,
        moment: Option<&MapMoment>,
    ) {
        let Some(moment) = moment else {
            ui.weak(self.moments.failure().unwrap_or("Looking…"));
            return;
        };
        let of_segment = self.segment.map(|segment| format!(" in segment {segment}"));
        ui.horizontal(|ui| {
            tabs_ui(ui, &mut self.tab, [(Tab::Segments, "Segments"), (Tab::Blocks, "Blocks")]);
            let at = grouped(moment.step as u64);
            ui.weak(format!("after event {at}{}", of_segment.as_deref().unwrap_or_default()));
        });
        match self.tab {
            Tab::Segments => {
                let columns = segment_columns(axis, ui.available_width());
                let chosen = self.segment;
                let of_row = |row: usize| moment.segments.rows.get(row).map(|row| row.place);
                let is_selected = |row: usize| chosen.is_some() && of_row(row) == chosen;
                let rows: Arc<dyn Rows> = Arc::clone(&moment.segments) as Arc<dyn Rows>;
                let data =
                    Data { is_selected: &is_selected, ..Data::of("segments", &columns, rows) };
                if let Some(click) = self.segments.ui(ui, &data, page.commands)
                    && let Some(segment) = of_row(click.row)
                {
                    self.segment = (self.segment != Some(segment)).then_some(segment);
                    match self.segment {
                        Some(segment) => self.picture.show_segment(axis, segment),
                        None => self.picture.plane.reset(),
                    }
                    ui.request_repaint();
                }
            }
            Tab::Blocks => {
                let columns = {
                    let room = ui.available_width();
                    moment.blocks.columns(page.runs.system(), moment.listed_bytes, room)
                };
                let chosen = self.block;
                let of_row = |row: usize| {
                    let list = moment.blocks.list();
                    moment.blocks.at(row).map(|row| list.key(row).1 as usize)
                };
                let is_selected = |row: usize| chosen.is_some() && of_row(row) == chosen;
                let rows: Arc<dyn Rows> = Arc::clone(&moment.blocks) as Arc<dyn Rows>;
                let data = Data { is_selected: &is_selected, ..Data::of("blocks", &columns, rows) };
                if let Some(click) = self.blocks.ui(ui, &data, page.commands) {
                    let block = of_row(click.row);
                    self.block = if self.block == block { None } else { block };
                }
            }
        }
    }
}

/// Arrows go from event to event while the picture has the focus.
fn step_by_key(
    ui: &egui::Ui,
    response: &egui::Response,
    step: usize,
    replayed: &ReplayedSnapshot,
) -> Option<usize> {
    if !response.has_focus() {
        return None;
    }
    let pressed = pressed_keys(ui, response, false);
    let keys = [egui::Key::ArrowRight, egui::Key::ArrowLeft];
    let count = replayed.axis().len() as usize;
    moved(pressed, keys, Some(step), count)
}

/// What is free, in how many pieces; at a request that failed what it asked for.
fn answer(moment: &MapMoment, units: Units) -> Answer {
    let whole = &moment.at.whole;
    let (free, largest) = (units.bytes(whole.free()), units.bytes(whole.largest.1));
    if let Some(asked) = moment.failed {
        let text = format!(
            "Out of memory: {} asked, {free} free in segments, largest piece {largest}",
            units.bytes(asked)
        );
        return (Sign::Over, text);
    }
    let reserved = units.bytes(whole.reserved);
    let text = match whole.pieces {
        0 => format!("All of {reserved} reserved are in use"),
        1 => format!("{free} of {reserved} reserved are free, in one piece"),
        pieces => {
            let pieces = grouped(pieces);
            format!(
                "{free} of {reserved} reserved are free, in {pieces} pieces, the largest {largest}"
            )
        }
    };
    (Sign::Note, text)
}

fn legend_ui(ui: &mut egui::Ui, known: &KnownDevice) {
    let tokens = *Tokens::now(ui);
    let color = |category: &BlockCategory| category_color(category.title(), &tokens);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::new(14.0, 2.0);
        for category in &*known.categories {
            label_ui(ui, Patch::Area(color(category), color(category)), category.title());
        }
        label_ui(ui, Patch::Hatch(tokens.gap), "Reserved, not in use");
        let Some(example) = known.categories.first().map(color) else { return };
        if known.has_rounding {
            let color = picture::rounding_color(example, &tokens);
            label_ui(ui, Patch::Area(color, color), "Rounded up");
        }
        if known.has_waiting {
            label_ui(ui, Patch::Hatch(example), "Waits for another stream");
        }
    });
    ui.add_space(2.0);
}

fn segment_columns(axis: &SegmentAxis, room: f32) -> Vec<Column> {
    let most = axis.segments.iter().map(|segment| segment.bytes).max().unwrap_or(1) as f64;
    let bar = BarOf { track: most, limit: None, whole: most, of: "of the largest segment" };
    let in_use = Column::bytes("In use", 90.0);
    let columns = vec![
        Column::text("Segment", 130.0),
        Column { unit: "number", ..Column::text("Number", 60.0) },
        Column::bytes("Size", 90.0),
        if room < BARS { in_use } else { in_use.with_bars(bar) },
        Column::bytes("Free", 90.0),
        Column::bytes("Largest piece", 90.0).not_summed(),
        Column::count("Pieces", 60.0),
        Column::count("Blocks", 60.0),
        Column { unit: "number", ..Column::text("From event", 80.0) },
        Column::rest("Note"),
    ];
    if room < CLOSE { columns.into_iter().map(Column::dense).collect() } else { columns }
}

/// Goes to Liveness at the chosen event.
fn liveness_link_ui(ui: &mut egui::Ui, page: &mut PageContext<'_>, at: StepAt) {
    if ui.button("Liveness at this event").clicked() {
        page.selection.steps = vec![at];
        page.commands.push(Command::Go(Page::Liveness));
    }
}
