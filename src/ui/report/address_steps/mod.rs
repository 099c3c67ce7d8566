//! Addresses over steps: a tile of each run as a picture in which every variable is a rectangle, its
//! addresses upward, the steps at which it lives to the right. It shows fragmentation and reuse at once.
//!
//! A picture is an image of what is visible, a pixel a cell, that a job computes; a frame only goes through
//! the rectangles for edges and outlines. Pictures of several runs lie below each other and move
//! together.

mod colors;
mod data;
mod picture;
mod tooltip;

use eframe::egui::{self, Rect, RichText, Sense};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::category_colors::{AskedColors, CategoryColors};
use super::memory_map::{TileChoice, TileData, arena_places, facts_ui, reading_ui};
use super::side_by_side::area_below;
use super::{PageContext, step_place_of};
use crate::store::ArenaId;
use crate::text::shortened;
use crate::ui::job::Same;
use crate::ui::runs::{Run, RunId, StepAt};
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::hatch::Hatching;
use crate::ui::widget::overview::Overview;
use crate::ui::widget::picture::{at_pointer_ui, link};
use crate::ui::widget::place_menu::{PictureMenu, place_menu_ui};
use crate::ui::widget::plane::{Extent, Plane};
use crate::ui::widget::toolbar::Toolbar;
use colors::{ColourBy, Kinds};
use data::{RunData, RunReading};
use picture::{PictureOf, Place, RunPicture};

/// The accessible name of a picture; of several, with the title of its run.
const NAME: &str = "Addresses over steps";
/// What is shown beside something that fills the picture, as a part of its size.
const MARGIN: f64 = 0.25;

#[derive(Default)]
struct OfRun {
    reading: RunReading,
    picture: RunPicture,
    /// The row of the variable that was chosen.
    chosen: Option<u32>,
}

#[derive(Clone, PartialEq)]
struct KindsOf {
    versions: Vec<u64>,
    by: ColourBy,
    categories: Same<CategoryColors>,
}

#[derive(Default)]
pub struct AddressStepsView {
    tile: TileChoice,
    /// The tile that the visible part is of.
    viewed: Option<ArenaId>,
    hatching: Hatching,
    plane: Plane,
    colour_by: ColourBy,
    kinds: Option<(KindsOf, Arc<Kinds>)>,
    toolbar: Toolbar,
    overview: BinCache,
    runs: BTreeMap<RunId, OfRun>,
    /// The run, the step and the address under the pointer.
    pointed: Option<(RunId, (usize, u64))>,
    menu: PictureMenu<Place>,
}

impl AddressStepsView {
    /// The same part of the same tile of reports that were read again.
    pub fn of_other_figures(self) -> Self {
        let Self { tile, viewed, plane, colour_by, .. } = self;
        Self { tile, viewed, plane, colour_by, ..Self::default() }
    }

    /// Draws the pictures of the selected tile; `views` draws the choice of what is shown. A variable
    /// or step that was chosen is selected.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        categories: &mut AskedColors,
        views: impl FnOnce(&mut egui::Ui),
    ) {
        let runs = page.runs;
        let Some(arenas) = runs.reference().report.arenas.get() else { return };
        self.runs.retain(|id, _| runs.position(*id).is_some());
        let arena = self.tile.arena(runs.reference(), arenas, &page.selection.tiles);
        ui.horizontal(|ui| {
            views(ui);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                self.colour_by.ui(ui);
            });
        });
        if self.viewed.replace(arena) != Some(arena) {
            self.plane.reset();
            self.runs.values_mut().for_each(|run| run.chosen = None);
        }
        let mut read = |run: &Run| {
            let of_run = self.runs.entry(run.id).or_default();
            of_run.reading.tile(ui.ctx(), run, arena)
        };
        let found: Vec<Option<Arc<RunData>>> = runs.iter().map(&mut read).collect();
        ui.horizontal(|ui| {
            self.tile.ui(ui, page, arenas);
            let tiles: Vec<&TileData> = found.iter().flatten().map(|data| &*data.tile).collect();
            if !tiles.is_empty() {
                ui.separator();
                facts_ui(ui, &tiles);
            }
        });
        self.follow(page, &found);
        let Some(found_categories) = categories.ask(ui, runs) else {
            ui.weak(categories.waiting());
            return;
        };
        let known: Vec<&RunData> = found.iter().flatten().map(|data| &**data).collect();
        if known.is_empty() {
            let why_not = |run: &Run| self.runs.get(&run.id)?.reading.why_not(&run.report);
            match runs.iter().find_map(why_not) {
                Some(why_not) => absent_ui(ui, "This picture is not in this report", &why_not),
                None => reading_ui(ui, runs),
            }
            return;
        }
        let extent = Extent {
            x: known.iter().map(|data| data.rectangles.steps as usize).max().unwrap_or(1).max(1),
            y: known.iter().map(|data| data.tile.len()).max().unwrap_or(1),
        };
        self.toolbar_ui(ui, page, &known, extent);
        let kinds = self.kinds(&known, found_categories);
        let legend = Kinds::legend_ui(kinds, ui);
        let kinds = Arc::clone(kinds);
        let area = ui.available_rect_before_wrap();
        ui.allocate_rect(area, Sense::hover());
        self.toolbar.picture = Some(legend.union(area));
        *page.has_painted_graph = true;
        self.pictures_ui(ui, area, page, &found, &kinds, extent);
    }

    /// Forgets a chosen variable when another one is selected.
    fn follow(&mut self, page: &PageContext<'_>, found: &[Option<Arc<RunData>>]) {
        for (run, data) in page.runs.iter().zip(found) {
            let (Some(data), Some(of_run)) = (data, self.runs.get_mut(&run.id)) else { continue };
            let name = of_run.chosen.and_then(|row| data.tile.unlowered_name(row));
            if name.is_some() && name.as_ref() != page.selection.variable() {
                of_run.chosen = None;
            }
        }
    }

    /// The row above the pictures, whose strip shows what is alive at each step.
    fn toolbar_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        known: &[&RunData],
        extent: Extent,
    ) {
        let most = known.iter().max_by_key(|data| data.alive.len());
        let alive = most.map_or(&[][..], |data| &data.alive);
        let overview = Overview {
            values: Values::Known(alive),
            len: extent.x,
            base: 0,
            version: most.map_or(0, |data| data.tile.version),
            top: alive.iter().max().copied().unwrap_or(0),
            cache: &mut self.overview,
        };
        self.toolbar.is_other_zoomed = self.plane.y.is_zoomed();
        let view = &mut self.plane.x;
        if self.toolbar.ui(ui, "addresses over steps", view, overview, page.commands) {
            self.plane.reset();
        }
        self.plane.navigate_by_key(ui, extent);
    }

    /// The kinds, made again when tiles or colours change.
    fn kinds(&mut self, known: &[&RunData], categories: Arc<CategoryColors>) -> &mut Arc<Kinds> {
        let version =
            |data: &&RunData| data.tile.version * 2 + u64::from(!data.operations.is_empty());
        let versions: Vec<u64> = known.iter().map(version).collect();
        let made_for = KindsOf { versions, by: self.colour_by, categories: Same(categories) };
        let made = match self.kinds.take() {
            Some(made) if made.0 == made_for => made,
            before => {
                let before = before.filter(|(before, _)| before.by == self.colour_by);
                let hidden = before.map_or(Vec::new(), |(_, kinds)| kinds.hidden.clone());
                let kinds = Kinds::of(self.colour_by, &made_for.categories.0, known, hidden);
                (made_for, Arc::new(kinds))
            }
        };
        &mut self.kinds.insert(made).1
    }

    fn pictures_ui(
        &mut self,
        ui: &mut egui::Ui,
        area: Rect,
        page: &mut PageContext<'_>,
        found: &[Option<Arc<RunData>>],
        kinds: &Arc<Kinds>,
        extent: Extent,
    ) {
        let runs = page.runs;
        let slots = page.selection.slots(runs);
        let (mut chosen_step, mut pointed_now) = (None, None);
        for (place, (run, data)) in runs.iter().zip(found).enumerate() {
            let Some(of_run) = self.runs.get_mut(&run.id) else { continue };
            let mut rect = area_below(area, runs.len(), place);
            let mut name = NAME.to_owned();
            if !runs.is_one() {
                name = format!("{NAME}, {}", run.title);
                let title = RichText::new(shortened(&run.title, 60)).strong().color(run.color(ui));
                let head = Rect::from_min_size(rect.min, egui::vec2(rect.width(), 18.0));
                ui.put(head, egui::Label::new(title));
                rect.min.y += 18.0;
            }
            let Some(data) = data else {
                let why_not = of_run.reading.why_not(&run.report);
                ui.scope_builder(egui::UiBuilder::new().max_rect(rect), |ui| match why_not {
                    Some(why_not) => drop(ui.weak(why_not)),
                    None => reading_ui(ui, runs),
                });
                continue;
            };
            let step = |slot: &usize| runs.axis()?.step_at_or_before(place, *slot);
            let selected: Vec<usize> = slots.iter().filter_map(step).collect();
            let pointed = self.pointed.filter(|(of, _)| *of != run.id).map(|(_, at)| at);
            let of = PictureOf {
                name: &name,
                data,
                kinds,
                extent,
                steps: &selected,
                chosen: of_run.chosen,
                pointed,
            };
            let answer = of_run.picture.ui(ui, rect, (&mut self.plane, &mut self.hatching), &of);
            if let Some(at) = answer.hovered {
                pointed_now = Some((run.id, (at.step, at.address)));
                at_pointer_ui(&answer.response, |ui| tooltip::place_ui(ui, data, at));
            }
            self.menu.ui(&answer.response, answer.hovered, |ui, at| {
                let name = at.row.map(|row| data.tile.name(row));
                let is_step = at.step < data.rectangles.steps as usize;
                let step = is_step.then(|| step_place_of(runs, run, at.step));
                let tile = arena_places(runs, data.tile.arena);
                let places: Vec<_> = step.into_iter().chain(tile).collect();
                place_menu_ui(ui, name, &places, page.commands);
            });
            let clicked = answer.clicked;
            let steps = data.rectangles.steps as usize;
            let step = clicked.map(|at| at.step).filter(|step| *step < steps).or(answer.step);
            if let Some(step) = step {
                chosen_step = Some(StepAt { run: run.id, step });
            }
            if let Some(row) = clicked.map(|at| at.row).or(answer.reached.map(Some)) {
                of_run.chosen = row;
                let name = row.and_then(|row| data.tile.unlowered_name(row));
                page.selection.select_variable(name);
            }
            if answer.is_entered
                && let Some(row) = of_run.chosen
            {
                show(&mut self.plane, extent, data, row);
            }
            if step.is_some() || clicked.is_some() || answer.reached.is_some() || answer.is_entered
            {
                ui.request_repaint();
            }
        }
        link(ui, &mut self.pointed, pointed_now, !runs.is_one());
        if let Some(step) = chosen_step {
            page.selection.steps = vec![step];
        }
    }
}

/// Lets a variable fill the picture, with a margin.
fn show(plane: &mut Plane, extent: Extent, data: &RunData, row: u32) {
    let all = || data.rectangles.rectangles.iter().filter(|one| one.row == row);
    let steps = all().map(|one| one.steps.start).min().zip(all().map(|one| one.steps.end).max());
    let bytes = all().map(|one| one.bytes.start).min().zip(all().map(|one| one.bytes.end).max());
    let (Some((left, right)), Some((bottom, top))) = (steps, bytes) else { return };
    for (view, len, start, end) in [
        (&mut plane.x, extent.x, f64::from(left), f64::from(right)),
        (&mut plane.y, extent.y, bottom as f64, top as f64),
    ] {
        let margin = (end - start) * MARGIN;
        view.show(len, start - 0.5 - margin, end - 0.5 + margin);
    }
}
