//! The arenas of a device side by side in the order of their addresses, over steps, with what is free in them; arenas and
//! blocks in tables.

mod inspector;
mod picture;
mod rows;

use eframe::egui::{self, Button, Vec2};
use std::sync::Arc;

use crate::run::arena_map::{ArenaAxis, ArenaMap, ArenaMoment, MapLegend};
use crate::store::System;
use crate::text::{capitalised, grouped};
use crate::ui::command::Exported;
use crate::ui::job::Cancel;
use crate::ui::pages::RunsPage;
use crate::ui::report::PageContext;
use crate::ui::report::allocations::rows::AllocationRows;
use crate::ui::report::category_colors::category_color;
use crate::ui::report::head::{Answer, page_head_ui};
use crate::ui::runs::{Needs, Run, RunId, Runs, RunsAnswer, StepAt};
use crate::ui::split;
use crate::ui::theme::{Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::choice::{choice_ui, segments_ui};
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::exports::{exportable, exports_ui, scope_of_exports};
use crate::ui::widget::inspector::inspector_ui;
use crate::ui::widget::legend::{Patch, label_ui};
use crate::ui::widget::picture::{link, moved, pressed_keys};
use crate::ui::widget::rows::{Listed, Rows};
use crate::ui::widget::sign::Sign;
use picture::{Picture, PictureOf, Pointed};
use rows::{ArenaRow, FREE};

/// A map needs no part of the report.
const NEEDS: Needs = &[];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    #[default]
    Arenas,
    Blocks,
}

/// Tells moments apart: run, device, step, arena.
type MomentKey = (RunId, usize, usize, Option<usize>);

/// Whether all runs have such a map.
pub fn have_maps(runs: &Runs) -> bool {
    runs.iter().all(|run| !run.derived.answers().arena_maps().is_empty())
}

pub struct ArenasMap {
    /// The run of several, and its device; else the reference, and the device that it is about.
    run: Option<RunId>,
    device: Option<usize>,
    /// The device that a run is about, which its answers may have to look for.
    first: Option<(RunId, usize)>,
    maps: RunsAnswer<(RunId, usize), Option<Arc<dyn ArenaMap>>>,
    moments: RunsAnswer<MomentKey, Option<Arc<KnownMoment>>>,
    picture: Picture,
    /// What is shown: run and device.
    of: Option<(RunId, usize)>,
    pointed: Option<Pointed>,
    arena: Option<usize>,
    block: Option<usize>,
    tab: Tab,
    arenas: DataTable,
    blocks: DataTable,
}

/// A step, with the rows of both tables.
struct KnownMoment {
    moment: ArenaMoment,
    arenas: Arc<Listed<ArenaRow>>,
    blocks: Arc<AllocationRows>,
}

impl Default for ArenasMap {
    fn default() -> Self {
        Self {
            run: None,
            device: None,
            first: None,
            maps: RunsAnswer::default(),
            moments: RunsAnswer::default(),
            picture: Picture::default(),
            of: None,
            pointed: None,
            arena: None,
            block: None,
            tab: Tab::default(),
            // What is free is what is looked for.
            arenas: DataTable::sorted_by(FREE),
            blocks: DataTable::default(),
        }
    }
}

impl RunsPage for ArenasMap {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>) {
        let runs = Arc::clone(page.runs);
        let place = self.run.and_then(|id| runs.position(id)).unwrap_or(0);
        let Some(run) = runs.get(place) else { return };
        let (id, answers, system) = (run.id, run.derived.answers(), run.report.system);
        let devices = answers.arena_maps();
        let device = self.device.filter(|device| *device < devices.len());
        let device = device.unwrap_or_else(|| self.first_device(run));
        if self.of != Some((id, device)) {
            self.of = Some((id, device));
            self.picture.plane.reset();
            (self.arena, self.block, self.pointed) = (None, None, None);
        }
        let derived = Arc::clone(&run.derived);
        self.maps.ask("map of arenas", ui.ctx(), (&runs, NEEDS), &(id, device), move |_, _| {
            derived.answers().arena_map(&derived, device)
        });
        let map = self.maps.get((&runs, NEEDS), &(id, device)).cloned().flatten();
        let selected = page.selection.step_of(id);
        let step = |map: &Arc<dyn ArenaMap>| {
            let last = map.steps().saturating_sub(1);
            selected.map_or(map.first_step(), |step| step.min(last))
        };
        let step = map.as_ref().map_or(0, step);
        if let Some(map) = &map {
            let key = (id, device, step, self.arena);
            let map = Arc::clone(map);
            let work = move |_: &Runs, cancel: &Cancel| {
                let (_, _, step, arena) = key;
                let moment = map.moment((step, arena), &|| cancel.is_cancelled())?;
                let arenas = Arc::new(rows::rows(&system, map.axis(), &moment));
                let blocks = Arc::new(AllocationRows::of(Arc::clone(&moment.allocations)));
                Some(Arc::new(KnownMoment { moment, arenas, blocks }))
            };
            self.moments.ask("arenas at a step", ui.ctx(), (&runs, NEEDS), &key, work);
        }
        let last =
            self.moments.last(&runs).filter(|((of, place, ..), _)| (*of, *place) == (id, device));
        let known = last.and_then(|(_, moment)| moment.clone());
        let moment = known.as_ref().map(|known| &known.moment);
        self.head_ui(ui, page, (run, &devices, device), moment);
        let Some(map) = &map else {
            let looking = format!("Looking at the {}…", system.arenas);
            ui.weak(self.maps.failure().unwrap_or(&looking));
            return;
        };
        if map.axis().arenas.is_empty() {
            ui.weak(format!("This device has no {}", system.arenas));
            return;
        }
        inspector_ui(ui, |ui| self.inspect_ui(ui, page, (run, step), &**map, moment));
        let height = ui.available_height();
        let max = (height - 160.0).max(80.0);
        split::below(ui, "arenas", (height * 0.28).clamp(140.0, 380.0), 60.0..=max, |ui| {
            self.tables_ui(ui, page, map.axis(), known.as_deref());
        });
        let margin = egui::Margin { top: 6, bottom: 6, ..Default::default() };
        split::rest(ui, margin, |ui| {
            let frame = card_frame(Tokens::now(ui)).inner_margin(egui::Margin::symmetric(12, 8));
            frame.show(ui, |ui| {
                legend_ui(ui, map.legend());
                self.picture_ui(ui, page, (run, device, step), map, moment);
            });
        });
    }

    fn run_renamed(&mut self, from: RunId, to: RunId) {
        // What was read and worked out goes, what was chosen stays.
        let run = self.run.map(|run| if run == from { to } else { run });
        *self = Self { run, device: self.device, tab: self.tab, ..Self::default() };
    }
}

impl ArenasMap {
    fn first_device(&mut self, run: &Run) -> usize {
        let known = self.first.filter(|(of, _)| *of == run.id).map(|(_, device)| device);
        let device = known.unwrap_or_else(|| run.derived.answers().first_arena_map());
        self.first = Some((run.id, device));
        device
    }

    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        (run, devices, device): (&Run, &[String], usize),
        moment: Option<&ArenaMoment>,
    ) {
        let (units, system) = (Units::now(ui), &run.report.system);
        let answer = moment.map(|moment| answer(moment, system, units));
        scope_of_exports(ui, devices.get(device).map_or("", String::as_str));
        page_head_ui(ui, "Map", answer.as_ref(), |ui| {
            let title = over_steps(system);
            exports_ui(ui, ("picture", &title, true), page.commands, || Some(Exported::Picture));
            let is_zoomed = self.picture.plane.is_zoomed();
            let all = Button::new(format!("All {}", system.arenas));
            let all = ui.add_enabled(is_zoomed, all);
            if all.on_hover_text("Key 0, or double-click in the picture").clicked() {
                self.picture.plane.reset();
                self.arena = None;
            }
            if devices.len() > 1 {
                let mut now = device;
                let title = |place: &usize| devices.get(*place).cloned().unwrap_or_default();
                choice_ui(ui, ("Device", 120.0), &mut now, 0..devices.len(), title);
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
        (run, place, step): (&Run, usize, usize),
        map: &Arc<dyn ArenaMap>,
        moment: Option<&ArenaMoment>,
    ) {
        let all = ui.max_rect();
        let (units, system) = (Units::now(ui), &run.report.system);
        let arenas = match map.axis().arenas.len() {
            1 => format!("1 {}", system.arena_in_text),
            count => format!("{} {}", grouped(count as u64), system.arenas),
        };
        let said = moment
            .map_or_else(String::new, |moment| format!(": {}", answer(moment, system, units).1));
        let at = grouped(step as u64);
        let value = format!("{arenas}, {} {at}{said}", system.step_in_text);
        let (block, arena) = (self.block, self.arena);
        let of = PictureOf { run: run.id, system, map, place, step, moment, block, arena, value };
        let shown = self.picture.ui(ui, &of);
        exportable(ui, &over_steps(system), all.union(shown.rect));
        *page.has_painted_graph = true;
        if shown.response.clicked()
            && let Some(pointed) = shown.pointed
        {
            (self.block, self.arena) = (pointed.block, pointed.arena);
            if pointed.block.is_some() {
                self.tab = Tab::Blocks;
            }
            page.selection.steps = vec![StepAt { run: run.id, step: pointed.step }];
        }
        if let Some(step) = step_by_key(ui, &shown.response, step, map.steps()) {
            page.selection.steps = vec![StepAt { run: run.id, step }];
        }
        link(ui, &mut self.pointed, shown.pointed, true);
    }

    fn tables_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        axis: &ArenaAxis,
        known: Option<&KnownMoment>,
    ) {
        let Some(KnownMoment { moment, arenas, blocks }) = known else {
            ui.weak(self.moments.failure().unwrap_or("Looking…"));
            return;
        };
        let system = *page.runs.system();
        let of_arena = self.arena.map(|arena| format!(" in {} {arena}", system.arena_in_text));
        let all = capitalised(system.arenas);
        ui.horizontal(|ui| {
            let tabs = [(Tab::Arenas, all), (Tab::Blocks, "Blocks".to_owned())];
            segments_ui(ui, "", &mut self.tab, tabs);
            let at = format!("{} {}", system.step_in_text, grouped(moment.step as u64));
            ui.weak(format!("after {at}{}", of_arena.as_deref().unwrap_or_default()));
        });
        match self.tab {
            Tab::Arenas => {
                let columns = rows::columns(&system, axis, ui.available_width());
                let chosen = self.arena;
                let of_row = |row: usize| arenas.rows.get(row).map(|row| row.place);
                let is_selected = |row: usize| chosen.is_some() && of_row(row) == chosen;
                let rows: Arc<dyn Rows> = Arc::clone(arenas) as Arc<dyn Rows>;
                let data =
                    Data { is_selected: &is_selected, ..Data::of(system.arenas, &columns, rows) };
                if let Some(click) = self.arenas.ui(ui, &data, page.commands)
                    && let Some(arena) = of_row(click.row)
                {
                    self.arena = (self.arena != Some(arena)).then_some(arena);
                    match self.arena {
                        Some(arena) => self.picture.show_arena(axis, arena),
                        None => self.picture.plane.reset(),
                    }
                    ui.request_repaint();
                }
            }
            Tab::Blocks => {
                let columns = blocks.columns(&system, moment.listed_bytes, ui.available_width());
                let chosen = self.block;
                let of_row =
                    |row: usize| blocks.at(row).map(|row| blocks.list().key(row).1 as usize);
                let is_selected = |row: usize| chosen.is_some() && of_row(row) == chosen;
                let rows: Arc<dyn Rows> = Arc::clone(blocks) as Arc<dyn Rows>;
                let data = Data { is_selected: &is_selected, ..Data::of("blocks", &columns, rows) };
                if let Some(click) = self.blocks.ui(ui, &data, page.commands) {
                    let block = of_row(click.row);
                    self.block = if self.block == block { None } else { block };
                }
            }
        }
    }
}

/// What the picture is called in exports: `segments over events`.
fn over_steps(system: &System) -> String {
    format!("{} over {}", system.arenas, system.steps)
}

/// Arrows go from step to step while the picture has the focus.
fn step_by_key(
    ui: &egui::Ui,
    response: &egui::Response,
    step: usize,
    count: usize,
) -> Option<usize> {
    if !response.has_focus() {
        return None;
    }
    let pressed = pressed_keys(ui, response, false);
    let keys = [egui::Key::ArrowRight, egui::Key::ArrowLeft];
    moved(pressed, keys, Some(step), count)
}

/// What is free, in how many pieces; at a request that failed what it asked for.
fn answer(moment: &ArenaMoment, system: &System, units: Units) -> Answer {
    let whole = &moment.at.whole;
    let (free, largest) = (units.bytes(whole.free()), units.bytes(whole.largest.1));
    if let Some(asked) = moment.failed {
        let text = format!(
            "Out of memory: {} asked, {free} free in {}, largest piece {largest}",
            units.bytes(asked),
            system.arenas
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

fn legend_ui(ui: &mut egui::Ui, legend: &MapLegend) {
    let tokens = *Tokens::now(ui);
    let color = |category: &&str| category_color(category, &tokens);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::new(14.0, 2.0);
        for category in &legend.categories {
            label_ui(ui, Patch::Area(color(category), color(category)), category);
        }
        label_ui(ui, Patch::Hatch(tokens.gap), "Reserved, not in use");
        let Some(example) = legend.categories.first().map(color) else { return };
        if legend.has_rounding {
            let color = picture::rounding_color(example, &tokens);
            label_ui(ui, Patch::Area(color, color), "Rounded up");
        }
        if let Some(waits) = legend.waits {
            label_ui(ui, Patch::Hatch(example), waits);
        }
    });
    ui.add_space(2.0);
}
