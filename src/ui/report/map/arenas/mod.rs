//! The arenas of a device side by side in the order of their addresses, over steps, with what is free in them; arenas and
//! blocks in tables. Several runs lie below each other on one axis of steps; tables and inspector are of one of them.

mod inspector;
mod picture;
mod rows;

use eframe::egui::{self, Button, Color32, Vec2};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::run::arena_map::{ArenaMap, ArenaMoment, ArenasOf, MOST_ARENAS, MapLegend};
use crate::store::{ArenaId, Report, System};
use crate::text::{capitalised, grouped, shortened};
use crate::ui::command::ExportSource;
use crate::ui::job::{Latest, Same};
use crate::ui::report::allocations::rows::AllocationRows;
use crate::ui::report::head::{SignedAnswer, head_of_parts_ui};
use crate::ui::report::moment::step_id;
use crate::ui::report::room::{behind, failed};
use crate::ui::report::side_by_side::runs_below_ui;
use crate::ui::report::variable_details::ShownDetails;
use crate::ui::report::{PageContext, most_of_tables, tables_height};
use crate::ui::runs::{Needed, Needs, Run, RunId, Runs, RunsAnswer, StepAt};
use crate::ui::split;
use crate::ui::theme::{Tokens, card_frame};
use crate::ui::units::Units;
use crate::ui::widget::choice::{choice_ui, named_choice_ui, segments_ui};
use crate::ui::widget::data_table::{Data, DataTable};
use crate::ui::widget::exports::{exportable, exports_ui, scope_of_exports};
use crate::ui::widget::inspector::inspector_ui;
use crate::ui::widget::legend::{Patch, by_color, label_ui};
use crate::ui::widget::picture::{link, moved, pressed_keys};
use crate::ui::widget::rows::{Listed, Rows};
use crate::ui::widget::sign::Sign;
use crate::ui::widget::view::VisibleRange;
pub use picture::title;
use picture::{ArenaPicture, ArenaScene, PointedBlock};
use rows::{ArenaRow, FREE};

/// What maps go by that are made of the report.
const NEEDS: Needs = &[Needed::Memory, Needed::Liveness, Needed::Variables, Needed::TileVariables];
/// Longest name of a category.
const CATEGORY: usize = 40;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ArenaTab {
    #[default]
    Arenas,
    Blocks,
}

/// What a map is asked for: the run, and its arenas.
type MapKey = (RunId, ArenasOf);
/// A step of a map, with the arena whose blocks are listed.
type MomentKey = (Same<dyn ArenaMap>, usize, Option<usize>);

#[derive(Default)]
pub struct ArenasMap {
    /// The run whose tables are shown; else the reference.
    run: Option<RunId>,
    /// What the chosen device is called; else each run shows the one that it is about.
    device: Option<String>,
    runs: BTreeMap<RunId, ArenasOfRun>,
    /// Whether colors tell the layer; else each run's answers say it.
    is_by_layer: Option<bool>,
    /// The visible steps, which all runs share.
    steps: VisibleRange,
    tab: ArenaTab,
    arenas: ArenaTable,
    blocks: DataTable,
    details: ShownDetails,
}

/// What is free is what is looked for.
struct ArenaTable(DataTable);

impl Default for ArenaTable {
    fn default() -> Self {
        Self(DataTable::sorted_by(FREE))
    }
}

/// What is known of a run.
#[derive(Default)]
struct ArenasOfRun {
    devices: Vec<String>,
    /// The device that the run is about, which its answers may have to look for, by the arena that is selected.
    first: Option<(Option<ArenaId>, usize)>,
    maps: RunsAnswer<MapKey, Option<Arc<dyn ArenaMap>>>,
    moments: Latest<MomentKey, Option<Arc<KnownMoment>>>,
    picture: ArenaPicture,
    /// What is shown.
    of: Option<ArenasOf>,
    pointed: Option<PointedBlock>,
    arena: Option<usize>,
    block: Option<usize>,
}

/// A map with the step that is shown.
struct ShownMap {
    map: Arc<dyn ArenaMap>,
    step: usize,
    known: Option<Arc<KnownMoment>>,
}

/// A step, with the rows of both tables.
struct KnownMoment {
    moment: ArenaMoment,
    arenas: Arc<Listed<ArenaRow>>,
    blocks: Arc<AllocationRows>,
}

impl ShownMap {
    fn moment(&self) -> Option<&ArenaMoment> {
        self.known.as_ref().map(|known| &known.moment)
    }
}

impl ArenasOfRun {
    /// The place of the device that is shown.
    fn device(&mut self, run: &Run, wanted: Option<&str>, selected: Option<ArenaId>) -> usize {
        if self.devices.is_empty() {
            self.devices = run.derived.answers().arena_maps(&run.derived);
        }
        let wanted = self.devices.iter().position(|title| Some(title.as_str()) == wanted);
        let known = self.first.filter(|(of, _)| *of == selected).map(|(_, device)| device);
        let first =
            known.unwrap_or_else(|| run.derived.answers().first_arena_map(&run.derived, selected));
        self.first = Some((selected, first));
        wanted.unwrap_or(first)
    }

    /// Asks for the map of a device and for its step.
    fn ask(
        &mut self,
        ui: &egui::Ui,
        page: &PageContext<'_>,
        run: &Run,
        of: ArenasOf,
    ) -> Option<ShownMap> {
        if self.of.as_ref() != Some(&of) {
            self.picture.plane.reset();
            (self.arena, self.block, self.pointed) = (None, None, None);
            self.of = Some(of.clone());
        }
        let (runs, needs) = (page.runs, needs(page.runs));
        if run.is_working && !needs.iter().all(|part| part.is_settled(&run.report)) {
            return None;
        }
        let (derived, key) = (Arc::clone(&run.derived), (run.id, of));
        let wanted = key.1.clone();
        self.maps.ask("map of arenas", ui.ctx(), (runs, needs), &key, move |_, cancel| {
            derived.answers().arena_map(&derived, &wanted, cancel.progress())
        });
        let (_, map) = self.maps.last(runs).filter(|(last, _)| **last == key)?;
        let map = Arc::clone(map.as_ref()?);
        let slot = || page.selection.slot(runs);
        let of_slot = || runs.axis()?.step_at_or_before(runs.position(run.id)?, slot()?);
        let selected = page.selection.step_of(run.id).or_else(of_slot);
        let last = map.steps().saturating_sub(1);
        let step = selected.map_or(map.first_step(), |step| step.min(last));
        let key = (Same(Arc::clone(&map)), step, self.arena);
        let (for_job, system) = (key.clone(), run.report.system);
        self.moments.ask("arenas at a step", ui.ctx(), &key, move |cancel| {
            let (Same(map), step, arena) = for_job;
            let moment = map.moment(step, arena, &|| cancel.is_cancelled())?;
            let arenas = Arc::new(rows::rows(&system, map.axis(), &moment));
            let blocks = Arc::new(AllocationRows::of(Arc::clone(&moment.allocations)));
            Some(Arc::new(KnownMoment { moment, arenas, blocks }))
        });
        let last = self.moments.last().filter(|((of, ..), _)| *of == key.0);
        let known = last.and_then(|(_, moment)| moment.clone());
        Some(ShownMap { map, step, known })
    }
}

/// What the maps of all runs go by.
fn needs(runs: &Runs) -> Needs {
    let is_beside = |run: &Run| run.derived.answers().are_arena_maps_beside_report();
    if runs.iter().all(is_beside) { &[] } else { NEEDS }
}

impl ArenasMap {
    /// Whether a page begins with these maps.
    pub fn are_first(runs: &Runs) -> bool {
        needs(runs).is_empty()
    }

    /// Draws the maps; `views` draws the choice of what the page shows.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        views: impl FnOnce(&mut egui::Ui),
    ) {
        let runs = Arc::clone(page.runs);
        self.runs.retain(|id, _| runs.position(*id).is_some());
        let place = self.run.and_then(|id| runs.position(id)).unwrap_or(0);
        let Some(run) = runs.get(place) else { return };
        let selected = page.selection.tiles.iter().map(ArenaId::from);
        let selected: Vec<ArenaId> = selected.take(MOST_ARENAS).collect();
        // What is selected is of the reference.
        let title = |device| runs.reference().report.device_title(device);
        let chosen = page.selection.device.map(title).or_else(|| self.device.clone());
        let shown: Vec<Option<ShownMap>> = (runs.iter().enumerate())
            .map(|(place, run)| {
                let of_run = self.runs.entry(run.id).or_default();
                let matched = selected.iter().filter_map(|arena| runs.matched_arena(place, *arena));
                let selected: Vec<ArenaId> = matched.collect();
                let device = of_run.device(run, chosen.as_deref(), selected.first().copied());
                // One alone is what another view shows.
                let selected = if selected.len() > 1 { selected } else { Vec::new() };
                of_run.ask(ui, page, run, ArenasOf { device, selected })
            })
            .collect();
        let of = shown.get(place).and_then(Option::as_ref);
        self.head_ui(ui, page, run, of, views);
        if let Some(of) = of.filter(|of| !of.map.axis().arenas.is_empty()) {
            inspector_ui(ui, |ui| self.inspect_ui(ui, page, run, of));
            let max = most_of_tables(ui, 160.0);
            split::below(ui, "arenas", tables_height(ui, 0.28), 60.0..=max, |ui| {
                self.tables_ui(ui, page, run, of);
            });
        }
        let margin = egui::Margin { top: 6, bottom: 6, ..Default::default() };
        split::rest(ui, margin, |ui| {
            let frame = card_frame(Tokens::now(ui)).inner_margin(egui::Margin::symmetric(12, 8));
            frame.show(ui, |ui| {
                let all = ui.max_rect();
                let legends = shown.iter().flatten().map(|shown| shown.map.legend());
                legend_ui(ui, &legends.collect::<Vec<_>>(), self.is_by_layer);
                let space = ui.available_rect_before_wrap();
                let steps = shown.iter().flatten().map(|shown| shown.map.steps()).max();
                let steps = steps.unwrap_or(1);
                self.navigate_by_key(ui, &runs, &shown, steps);
                runs_below_ui(ui, &runs, space, |ui, place, run| {
                    let shown = shown.get(place).and_then(Option::as_ref);
                    self.run_ui(ui, page, run, steps, shown);
                });
                exportable(ui, &over_steps(runs.system()), all.union(space));
            });
        });
    }

    pub fn run_renamed(&mut self, from: RunId, to: RunId) {
        // What was read and worked out goes, what was chosen stays.
        let run = self.run.map(|run| if run == from { to } else { run });
        let (device, tab, is_by_layer) = (self.device.take(), self.tab, self.is_by_layer);
        *self = Self { run, device, is_by_layer, tab, ..Self::default() };
    }

    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        run: &Run,
        shown: Option<&ShownMap>,
        views: impl FnOnce(&mut egui::Ui),
    ) {
        let (units, system) = (Units::now(ui), &run.report.system);
        let of = shown.and_then(|shown| Some((shown.moment()?, shown.map.legend())));
        let answer = of.map(|(moment, legend)| {
            let (sign, text) = answer(moment, legend, system, units);
            // At other steps than that of the failure it is said of the run.
            let failed = failed(run, units).filter(|_| sign != Sign::Over);
            let sign = if failed.is_some() { Sign::Over } else { sign };
            (sign, behind(failed.as_deref(), text))
        });
        let (devices, device) = match self.runs.get(&run.id) {
            Some(of) => (of.devices.clone(), of.of.as_ref().map_or(0, |of| of.device)),
            None => Default::default(),
        };
        scope_of_exports(ui, devices.get(device).map_or("", String::as_str));
        let choices = |ui: &mut egui::Ui| {
            let title = over_steps(system);
            exports_ui(ui, "picture", &title, true, page.commands, || Some(ExportSource::Picture));
            let is_zoomed = self.runs.values().any(|of| of.picture.plane.is_zoomed());
            let all = Button::new(format!("All {}", system.arenas));
            let all = ui.add_enabled(is_zoomed, all);
            if all.on_hover_text("Key 0, or double-click in the picture").clicked() {
                self.steps.reset();
                for of in self.runs.values_mut() {
                    of.picture.plane.reset();
                    of.arena = None;
                }
            }
            let legend = shown.map(|shown| shown.map.legend());
            if let Some(legend) = legend.filter(|legend| !legend.by_layer.is_empty()) {
                let mut now = is_by_layer(legend, self.is_by_layer);
                let title = |now: &bool| if *now { "Layer" } else { "Category" };
                named_choice_ui(ui, "Colors", 110.0, &mut now, [true, false], title)
                    .on_hover_text("What the colors tell");
                if now != is_by_layer(legend, self.is_by_layer) {
                    self.is_by_layer = Some(now);
                }
            }
            if devices.len() > 1 {
                let mut now = device;
                let title = |place: &usize| devices.get(*place).cloned().unwrap_or_default();
                choice_ui(ui, "Device", 120.0, &mut now, 0..devices.len(), title);
                // What nobody chose may be another one of another run.
                if now != device {
                    self.device = devices.get(now).cloned();
                    if page.runs.have_own_steps() {
                        let arenas = page.runs.reference().report.arenas.get();
                        let all = arenas.map(|arenas| &arenas.device_names);
                        let mut named = all.into_iter().flatten();
                        let chosen = named.find(|(_, title)| Some(*title) == self.device.as_ref());
                        page.selection.device = chosen.map(|(device, _)| *device);
                    }
                }
            }
            if !page.runs.is_one() {
                let mut now = run.id;
                let all = page.runs.iter().map(|run| (run.id, run.badge.letter.to_string()));
                segments_ui(
                    ui,
                    "The run whose tables are shown",
                    &mut now,
                    all.collect::<Vec<_>>(),
                );
                self.run = Some(now);
            }
        };
        head_of_parts_ui(ui, views, answer.as_ref(), |_| {}, choices);
    }

    /// Keys zoom the addresses of all maps, and their steps once.
    fn navigate_by_key(
        &mut self,
        ui: &egui::Ui,
        runs: &Runs,
        shown: &[Option<ShownMap>],
        steps: usize,
    ) {
        let before = self.steps;
        for (run, shown) in runs.iter().zip(shown) {
            let (Some(of_run), Some(shown)) = (self.runs.get_mut(&run.id), shown) else { continue };
            let plane = &mut of_run.picture.plane;
            plane.x = before;
            plane.navigate_by_key(ui, picture::extent(shown.map.axis(), steps));
            self.steps = plane.x;
        }
    }

    /// Draws the map of a run, or why there is none.
    fn run_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        run: &Run,
        steps: usize,
        shown: Option<&ShownMap>,
    ) {
        let (runs, system) = (page.runs, &run.report.system);
        let Some(of_run) = self.runs.get_mut(&run.id) else { return };
        let Some(ShownMap { map, step, .. }) = shown else {
            let asked = of_run.of.clone().unwrap_or_default();
            let is_known = of_run.maps.get((runs, needs(runs)), &(run.id, asked)).is_some();
            let text = match of_run.maps.failure() {
                Some(failure) => failure.to_owned(),
                None if is_known => {
                    format!("It is not known what lies in the {}", system.arenas)
                }
                None => format!("Reading the {}…", system.arenas),
            };
            ui.weak(text);
            return;
        };
        if map.axis().arenas.is_empty() {
            ui.weak(format!("This device has no {}", system.arenas));
            return;
        }
        let moment = shown.and_then(ShownMap::moment);
        let value = value(ui, map, *step, moment, &run.report);
        let (block, arena) = (of_run.block, of_run.arena);
        let title = title(system);
        let title = if runs.is_one() { title } else { format!("{title}, {}", run.title) };
        let is_by_layer = is_by_layer(map.legend(), self.is_by_layer);
        let step = *step;
        let of = ArenaScene {
            report: &run.report,
            map,
            steps,
            step,
            moment,
            block,
            arena,
            is_by_layer,
            title,
            value,
        };
        of_run.picture.plane.x = self.steps;
        let shown = of_run.picture.ui(ui, &of);
        self.steps = of_run.picture.plane.x;
        *page.has_painted_graph = true;
        let mut selected = step_by_key(ui, &shown.response, step, map.steps());
        if shown.response.clicked()
            && let Some(pointed) = shown.pointed
        {
            (of_run.block, of_run.arena) = (pointed.block, pointed.arena);
            if pointed.block.is_some() {
                self.tab = ArenaTab::Blocks;
            }
            selected = Some(pointed.step);
            self.run = Some(run.id);
        }
        if let Some(step) = selected {
            page.selection.steps = vec![StepAt { run: run.id, step }];
        }
        link(ui, &mut of_run.pointed, shown.pointed, true);
    }

    fn tables_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        run: &Run,
        shown: &ShownMap,
    ) {
        let (axis, system) = (shown.map.axis(), run.report.system);
        let Some(of_run) = self.runs.get_mut(&run.id) else { return };
        let Some(KnownMoment { moment, arenas, blocks }) = shown.known.as_deref() else {
            ui.weak(of_run.moments.failure().unwrap_or("Looking…"));
            return;
        };
        let of_arena = of_run.arena.and_then(|arena| axis.arenas.get(arena));
        let of_arena =
            of_arena.map(|arena| format!(" in {} {}", system.arena_in_text, arena.number));
        let all = capitalised(system.arenas);
        ui.horizontal(|ui| {
            let tabs = [(ArenaTab::Arenas, all), (ArenaTab::Blocks, capitalised(system.items))];
            segments_ui(ui, "", &mut self.tab, tabs);
            let at = format!("{} {}", system.step_in_text, step_id(&run.report, moment.step));
            ui.weak(format!("after {at}{}", of_arena.as_deref().unwrap_or_default()));
        });
        match self.tab {
            ArenaTab::Arenas => {
                let columns = rows::columns(&system, axis, ui.available_width());
                let chosen = of_run.arena;
                let of_row = |row: usize| arenas.rows.get(row).map(|row| row.place);
                let is_selected = |row: usize| chosen.is_some() && of_row(row) == chosen;
                let rows: Arc<dyn Rows> = Arc::clone(arenas) as Arc<dyn Rows>;
                let data =
                    Data { is_selected: &is_selected, ..Data::of(system.arenas, &columns, rows) };
                if let Some(click) = self.arenas.0.ui(ui, &data, page.commands)
                    && let Some(arena) = of_row(click.row)
                {
                    of_run.arena = (of_run.arena != Some(arena)).then_some(arena);
                    match of_run.arena {
                        Some(arena) => of_run.picture.show_arena(axis, arena),
                        None => of_run.picture.plane.y.reset(),
                    }
                    ui.request_repaint();
                }
            }
            ArenaTab::Blocks => {
                let columns = blocks.columns(&system, moment.listed_bytes, ui.available_width());
                let chosen = of_run.block;
                let of_row =
                    |row: usize| blocks.at(row).map(|row| blocks.list().key(row).1 as usize);
                let is_selected = |row: usize| chosen.is_some() && of_row(row) == chosen;
                let rows: Arc<dyn Rows> = Arc::clone(blocks) as Arc<dyn Rows>;
                let data = Data { is_selected: &is_selected, ..Data::of("blocks", &columns, rows) };
                if let Some(click) = self.blocks.ui(ui, &data, page.commands) {
                    let block = of_row(click.row);
                    of_run.block = if of_run.block == block { None } else { block };
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
fn answer(moment: &ArenaMoment, legend: &MapLegend, system: &System, units: Units) -> SignedAnswer {
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
    let reserved = if legend.is_reserved { format!("{reserved} reserved") } else { reserved };
    let text = match whole.pieces {
        0 => format!("All of {reserved} are in use"),
        1 => format!("{free} of {reserved} are free, in one piece"),
        pieces => {
            let pieces = grouped(pieces);
            format!("{free} of {reserved} are free, in {pieces} pieces, the largest {largest}")
        }
    };
    let more = match legend.more {
        0 => String::new(),
        more => format!("; {} more {} are not shown", grouped(more), system.arenas),
    };
    (Sign::Plain, text + &more)
}

/// The arenas of a map and what is free in them, for those who do not see it.
fn value(
    ui: &egui::Ui,
    map: &Arc<dyn ArenaMap>,
    step: usize,
    moment: Option<&ArenaMoment>,
    report: &Report,
) -> String {
    let system = &report.system;
    let arenas = match map.axis().arenas.len() {
        1 => format!("1 {}", system.arena_in_text),
        count => format!("{} {}", grouped(count as u64), system.arenas),
    };
    let said = |moment| answer(moment, map.legend(), system, Units::now(ui)).1;
    let said = moment.map_or_else(String::new, |moment| format!(": {}", said(moment)));
    format!("{arenas}, {} {}{said}", system.step_in_text, step_id(report, step))
}

/// What is not in use, within a picture.
fn free_word(legend: &MapLegend) -> &'static str {
    if legend.is_reserved { "Reserved, not in use" } else { "Free" }
}

/// Whether colors tell the layer: as chosen, else as the run's answers say.
fn is_by_layer(legend: &MapLegend, chosen: Option<bool>) -> bool {
    !legend.by_layer.is_empty() && chosen.unwrap_or(legend.is_by_layer)
}

/// The legend of all maps together.
fn legend_ui(ui: &mut egui::Ui, legends: &[&MapLegend], chosen: Option<bool>) {
    let tokens = *Tokens::now(ui);
    let Some(first) = legends.first() else { return };
    let mut groups: Vec<(Cow<'_, str>, Color32)> = Vec::new();
    for legend in legends {
        for group in picture::groups(legend, is_by_layer(legend, chosen), &tokens) {
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    let example = groups.first().map(|(_, color)| *color);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::new(14.0, 2.0);
        for (title, patch) in by_color(groups) {
            label_ui(ui, patch, &shortened(&title, CATEGORY));
        }
        label_ui(ui, Patch::Hatch(tokens.gap), free_word(first));
        let Some(example) = example else { return };
        if legends.iter().any(|legend| legend.has_rounding) {
            let color = picture::rounding_color(example, &tokens);
            label_ui(ui, Patch::Area(color, color), "Rounded up");
        }
        if let Some(waits) = legends.iter().find_map(|legend| legend.waits) {
            label_ui(ui, Patch::Hatch(example), waits);
        }
    });
    ui.add_space(2.0);
}
