//! The pictures of a tile, one for each run with its strip: what one shows and marks, all do.

use eframe::egui::{self, Rect, Sense, vec2};
use std::sync::Arc;

use super::kinds::VariableKinds;
use super::picture::{self, TileScene};
use super::place_tooltip::place_ui;
use super::step_menu::step_menu_ui;
use super::strip::{self, StripOf};
use super::tooltip::{Hit, hit_ui};
use super::{OneTileView, RunTile, RunTiles, extent, reading_ui, show};
use crate::ui::report::map::arena_places;
use crate::ui::report::side_by_side::runs_below_ui;
use crate::ui::report::{PageContext, step_place_of};
use crate::ui::runs::{Run, StepAt};
use crate::ui::widget::picture::{at_pointer_ui, link};
use crate::ui::widget::place_menu::place_menu_ui;
use crate::ui::widget::plane::{Extent, Plane};

/// The accessible name of a picture; of several, with the title of its run.
const NAME: &str = "Addresses over steps";
/// Width of the strip and room for its labels, as a part of the picture and at most, points.
const STRIP: (f32, f32) = (0.1, 88.0);
const LABELS: (f32, f32) = (0.2, 190.0);
/// Narrowest picture that has labels beside its strip, points.
const LABELLED: f32 = 560.0;
/// Between picture and strip, points.
const BETWEEN: f32 = 12.0;

impl OneTileView {
    pub(super) fn pictures_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &RunTiles,
        kinds: &Arc<VariableKinds>,
        extent: Extent,
    ) {
        let all = ui.available_rect_before_wrap();
        let legend = ui.horizontal_top(|ui| {
            let width = ui.available_width();
            let legend = ui.allocate_ui_with_layout(
                vec2((width - super::TOOLS).max(120.0), 20.0),
                egui::Layout::top_down(egui::Align::Min),
                |ui| kinds.legend_ui(ui),
            );
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Min), |ui| {
                let picture = page.runs.of_number([
                    "map of a tile",
                    "maps of a tile in both",
                    "maps of a tile in all runs",
                ]);
                let picture = picture.replace("a tile", page.runs.system().an_arena);
                let is_other_zoomed = self.plane.y.is_zoomed();
                let all = self.toolbar.buttons_ui(
                    ui,
                    &picture,
                    &mut self.plane.x,
                    is_other_zoomed,
                    extent.x,
                    page.commands,
                );
                if all {
                    self.plane.reset();
                }
            });
            legend.inner
        });
        if let Some(hidden) = legend.inner {
            self.hidden = Some((kinds.by, hidden));
            ui.request_repaint();
        }
        self.plane.navigate_by_key(ui, extent);
        let space = ui.available_rect_before_wrap();
        ui.allocate_rect(space, Sense::hover());
        self.toolbar.picture = Some(all);
        *page.has_painted_graph = true;
        let runs = page.runs;
        let mut pointed = None;
        runs_below_ui(ui, runs, space, |ui, place, run| {
            if tiles.of_runs.get(place).is_none_or(Option::is_none) {
                let why_not = self.runs.get(&run.id).and_then(|of_run| of_run.why_not(&run.report));
                match why_not {
                    Some(why_not) => drop(ui.weak(why_not)),
                    None => reading_ui(ui, runs),
                }
                return;
            }
            let at = self.run_ui(ui, page, place, run, tiles, kinds);
            pointed = pointed.or(at.map(|at| (run.id, at)));
        });
        link(ui, &mut self.pointed, pointed, !runs.is_one());
    }

    /// Draws the picture and the strip of a run; returns where the pointer is in it.
    fn run_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        place: usize,
        run: &Run,
        tiles: &RunTiles,
        kinds: &Arc<VariableKinds>,
    ) -> Option<(usize, u64)> {
        let (tile, extent) = (tiles.of_runs.get(place)?.as_ref()?, extent(tiles));
        let of_run = self.runs.get_mut(&run.id)?;
        let pointed = self.pointed.filter(|(of, _)| *of != run.id).map(|(_, at)| at);
        let shown = RunShown { place, run, tile, kinds, extent, pointed };
        let answer = shown.ui(ui, page, of_run, &mut self.plane);
        let chosen = of_run.chosen;
        if let Some(Picked(row)) = &answer.picked {
            self.choose(page, tiles, row.map(|row| (run.id, row)));
        }
        if let Some(step) = answer.step {
            page.selection.steps = vec![StepAt { run: run.id, step }];
        }
        if let Some(row) = chosen.filter(|_| answer.is_entered) {
            show(&mut self.plane, extent, &tile.of, row);
        }
        if answer.step.is_some() || answer.picked.is_some() || answer.is_entered {
            ui.request_repaint();
        }
        step_menu_ui(ui, answer.below_strip, page, run, tile, &mut self.is_of_all_steps);
        answer.pointed
    }
}

/// A picture with its strip.
pub struct RunShown<'a> {
    pub place: usize,
    pub run: &'a Run,
    pub tile: &'a RunTile,
    pub kinds: &'a Arc<VariableKinds>,
    pub extent: Extent,
    /// Where the pointer is in another picture.
    pub pointed: Option<(usize, u64)>,
}

/// The variable that was clicked or reached, by its row, or that there is none.
pub struct Picked(pub Option<u32>);

/// What was done with it.
pub struct RunPictureResponse {
    pub picked: Option<Picked>,
    pub step: Option<usize>,
    pub is_entered: bool,
    pub pointed: Option<(usize, u64)>,
    pub below_strip: Rect,
}

impl RunShown<'_> {
    pub fn ui(
        &self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        of_run: &mut super::TileOfRun,
        plane: &mut Plane,
    ) -> RunPictureResponse {
        let (runs, run, tile, extent) = (page.runs, self.run, self.tile, self.extent);
        let (picture, strip, labels) = divided(ui.max_rect());
        let slots = page.selection.slots(runs);
        let step = |slot: &usize| runs.axis()?.step_at_or_before(self.place, *slot);
        let selected: Vec<usize> = slots.iter().skip(1).filter_map(step).collect();
        let name = if runs.is_one() { NAME.to_owned() } else { format!("{NAME}, {}", run.title) };
        let of = TileScene {
            name: &name,
            data: &tile.of,
            kinds: self.kinds,
            of_rows: &tile.kinds,
            extent,
            step: tile.at_step.as_ref().map(|at_step| at_step.step),
            steps: &selected,
            chosen: of_run.chosen,
            found: &tile.marks.found_blocks,
            pointed: self.pointed,
        };
        let answer = of_run.picture.ui(ui, picture, plane, &of);
        let of_strip = if runs.is_one() { runs.system().an_arena.to_owned() } else { run.the() };
        let of = StripOf {
            name: &format!("Memory map of {of_strip}"),
            strip,
            labels,
            tile,
            kinds: self.kinds,
            extent,
            placed: answer.placed,
            chosen: of_run.chosen,
        };
        let by_strip = of_run.strip.ui(ui, plane, &of);
        let at_step = tile.at_step.as_ref();
        if let Some(at) = answer.hovered {
            at_pointer_ui(&answer.response, |ui| place_ui(ui, &tile.of, at));
        }
        if let Some(hit) = by_strip.hovered {
            let map = at_step.map_or(&tile.data.map, |at_step| &at_step.map);
            at_pointer_ui(&by_strip.response, |ui| hit_ui(ui, &tile.data, &map.gaps, hit));
        }
        menus_ui(of_run, page, run, tile, &answer, &by_strip);
        let picked = |hit: Hit| match hit {
            Hit::Variable(row) => Some(row),
            Hit::Gap(_) | Hit::Nothing => None,
        };
        let clicked = answer.clicked.map(|at| at.row).or(answer.reached.map(Some));
        let steps = tile.of.rectangles.steps as usize;
        let step = answer.clicked.map(|at| at.step).or(answer.step);
        RunPictureResponse {
            picked: clicked.or(by_strip.clicked.map(picked)).map(Picked),
            step: step.filter(|step| *step < steps && tile.of.has_steps),
            is_entered: answer.is_entered || by_strip.is_entered,
            pointed: answer.hovered.map(|at| (at.step, at.address)),
            below_strip: Rect::from_min_size(
                strip.left_bottom() + vec2(-4.0, 4.0),
                vec2((ui.max_rect().right() - strip.left() + 4.0).min(110.0), 20.0),
            ),
        }
    }
}

/// The picture with its axes, the strip without, and the room for labels.
fn divided(area: Rect) -> (Rect, Rect, Rect) {
    let part = |(share, most): (f32, f32)| (area.width() * share).min(most);
    let labels = if area.width() >= LABELLED { part(LABELS) } else { 0.0 };
    let strip = part(STRIP).max(24.0);
    let picture = area.with_max_x(area.right() - labels - strip - BETWEEN);
    let inner = picture::inner(picture);
    let left = picture.right() + BETWEEN;
    let strip = Rect::from_x_y_ranges(left..=left + strip, inner.y_range());
    let labels = Rect::from_x_y_ranges(strip.right()..=strip.right() + labels, inner.y_range());
    (picture, strip, labels)
}

/// What a right click offers on a place of the picture or of the strip.
fn menus_ui(
    of_run: &mut super::TileOfRun,
    page: &mut PageContext<'_>,
    run: &Run,
    tile: &RunTile,
    picture: &picture::TileMapResponse,
    strip: &strip::StripResponse,
) {
    let at_step = tile.at_step.as_ref().map(|at_step| at_step.step);
    let on_strip = strip.hovered.map(|hit| picture::MapPoint {
        step: at_step.unwrap_or(usize::MAX),
        address: 0,
        row: if let Hit::Variable(row) = hit { Some(row) } else { None },
    });
    for (response, at) in [(&picture.response, picture.hovered), (&strip.response, on_strip)] {
        of_run.menu.ui(response, at, |ui, at| {
            let name = at.row.map(|row| tile.data.name(row).to_owned());
            let is_step = tile.of.has_steps && at.step < tile.of.rectangles.steps as usize;
            let mut places: Vec<_> =
                is_step.then(|| step_place_of(page.runs, run, at.step)).into_iter().collect();
            places.extend(arena_places(page.runs, tile.data.arena));
            place_menu_ui(ui, name.as_deref(), &places, page.commands);
        });
    }
}
