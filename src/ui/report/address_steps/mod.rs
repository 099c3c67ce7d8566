//! Addresses over steps: a tile of each run as a picture in which every variable is a rectangle, its
//! addresses upward, the steps at which it lives to the right. It shows fragmentation and reuse at once.
//!
//! A picture is an image of what is visible, a pixel a cell, that a job computes; so a frame costs the same
//! however many variables and steps there are. Pictures of several runs lie below each other and move
//! together.

mod colors;
mod data;
mod picture;
mod tooltip;

use eframe::egui;
use eframe::egui::{Rect, RichText, Sense};
use std::sync::Arc;

use super::PageContext;
use super::memory_map::{TileChoice, facts_ui};
use crate::store::memory::TileMemory;
use crate::store::{Report, TileId};
use crate::text::shortened;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::overview::Overview;
use crate::ui::widget::plane::{Extent, Plane};
use crate::ui::widget::toolbar::Toolbar;
use colors::{ColourBy, Kinds};
use data::{RunData, RunReading};
use picture::{PictureOf, RunPicture};

/// The accessible name of a picture; of several, with the title of its run.
const NAME: &str = "Addresses over steps";
/// What is shown beside something that fills the picture, as a part of its size.
const MARGIN: f64 = 0.25;

/// A run that is shown.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// Its report.
    pub report: Arc<Report>,
    /// What it is called.
    pub title: &'a str,
    /// Its selected steps.
    pub steps: Vec<usize>,
}

/// A step of a run that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenStep {
    /// The run, a position in those that are shown.
    pub run: usize,
    /// The step.
    pub step: usize,
}

/// What is remembered of a run.
#[derive(Default)]
struct OfRun {
    reading: RunReading,
    picture: RunPicture,
    /// The row of the variable that was chosen.
    chosen: Option<u32>,
}

/// What the pictures remember.
#[derive(Default)]
pub struct AddressStepsView {
    tile: TileChoice,
    /// The tile that the visible part is of.
    viewed: Option<TileId>,
    plane: Plane,
    colour_by: ColourBy,
    kinds: Option<(Vec<u64>, ColourBy, Kinds)>,
    toolbar: Toolbar,
    overview: BinCache,
    runs: Vec<OfRun>,
    /// The run, the step and the address under the pointer.
    pointed: Option<(usize, (usize, u64))>,
}

impl std::fmt::Debug for AddressStepsView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AddressStepsView").field("plane", &self.plane).finish_non_exhaustive()
    }
}

impl AddressStepsView {
    /// Draws the pictures of the selected tile; `views` draws the choice of what is shown. A variable
    /// that was chosen is selected; returns the step that was.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        memory: &TileMemory,
        runs: &[Shown<'_>],
        views: impl FnOnce(&mut egui::Ui),
    ) -> Option<ChosenStep> {
        self.runs.resize_with(runs.len(), OfRun::default);
        let tile = self.tile.tile(page.report, &page.selection.tiles, memory);
        ui.horizontal(|ui| {
            views(ui);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                self.colour_by.ui(ui);
            });
        });
        if self.viewed.replace(tile) != Some(tile) {
            self.plane.reset();
            self.runs.iter_mut().for_each(|run| run.chosen = None);
        }
        let read = self.runs.iter_mut().zip(runs);
        let found: Vec<Option<Arc<RunData>>> =
            read.map(|(run, shown)| run.reading.tile(ui.ctx(), &shown.report, tile)).collect();
        ui.horizontal(|ui| {
            self.tile.ui(ui, page, memory);
            if let ([Some(data)], [shown]) = (&found[..], runs) {
                ui.separator();
                facts_ui(ui, &shown.report, &data.tile);
            }
        });
        self.follow(page, runs, &found);
        let known: Vec<&Arc<RunData>> = found.iter().flatten().collect();
        if known.is_empty() {
            match self.runs.iter().find_map(|run| run.reading.why_not()) {
                Some(why_not) => absent_ui(ui, "This picture is not in this report", why_not),
                None => absent_ui(ui, "The tile is being read", ""),
            }
            return None;
        }
        let extent = Extent {
            x: known.iter().map(|data| data.rectangles.steps as usize).max().unwrap_or(1).max(1),
            y: known.iter().map(|data| data.tile.len()).max().unwrap_or(1),
        };
        self.toolbar_ui(ui, page, &known, extent);
        let kinds = self.kinds(runs, &found);
        let legend = self.legend_ui(ui, kinds);
        let area = ui.available_rect_before_wrap();
        ui.allocate_rect(area, Sense::hover());
        self.toolbar.picture = Some(legend.union(area));
        *page.has_painted_graph = true;
        self.pictures_ui(ui, area, page, runs, &found, extent)
    }

    /// Forgets a chosen variable when another one is selected.
    fn follow(
        &mut self,
        page: &PageContext<'_>,
        runs: &[Shown<'_>],
        found: &[Option<Arc<RunData>>],
    ) {
        for ((run, shown), data) in self.runs.iter_mut().zip(runs).zip(found) {
            let Some(data) = data else { continue };
            let name = run.chosen.and_then(|row| data.tile.unlowered_name(&shown.report, row));
            if name.is_some() && name != page.selection.variable {
                run.chosen = None;
            }
        }
    }

    /// The row above the pictures, whose strip shows what is alive at each step.
    fn toolbar_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        known: &[&Arc<RunData>],
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
    fn kinds(&mut self, runs: &[Shown<'_>], found: &[Option<Arc<RunData>>]) -> Kinds {
        let versions: Vec<u64> = found
            .iter()
            .map(|data| {
                data.as_ref().map_or(0, |data| {
                    data.tile.version * 2 + u64::from(!data.operations.is_empty())
                })
            })
            .collect();
        if let Some((made_for, by, kinds)) = &self.kinds
            && *made_for == versions
            && *by == self.colour_by
        {
            return kinds.clone();
        }
        let pairs: Vec<(&Report, &RunData)> = runs
            .iter()
            .zip(found)
            .filter_map(|(shown, data)| Some((&*shown.report, &**data.as_ref()?)))
            .collect();
        let hidden = match self.kinds.take() {
            Some((_, by, kinds)) if by == self.colour_by => kinds.hidden,
            _ => Vec::new(),
        };
        let kinds = Kinds::of(self.colour_by, &pairs, hidden);
        self.kinds = Some((versions, self.colour_by, kinds.clone()));
        kinds
    }

    fn legend_ui(&mut self, ui: &mut egui::Ui, mut kinds: Kinds) -> Rect {
        let rect = kinds.legend_ui(ui);
        if let Some((.., known)) = &mut self.kinds {
            *known = kinds;
        }
        rect
    }

    fn pictures_ui(
        &mut self,
        ui: &mut egui::Ui,
        area: Rect,
        page: &mut PageContext<'_>,
        runs: &[Shown<'_>],
        found: &[Option<Arc<RunData>>],
        extent: Extent,
    ) -> Option<ChosenStep> {
        let kinds = self.kinds.as_ref().map(|(.., kinds)| kinds.clone()).unwrap_or_default();
        let (mut chosen_step, mut pointed_now) = (None, None);
        let height = area.height() / runs.len().max(1) as f32;
        for (place, ((run, shown), data)) in self.runs.iter_mut().zip(runs).zip(found).enumerate() {
            let top = area.top() + height * place as f32;
            let mut rect = Rect::from_x_y_ranges(area.x_range(), top..=top + height);
            let mut name = NAME.to_owned();
            if runs.len() > 1 {
                name = format!("{NAME}, {}", shown.title);
                let title = RichText::new(shortened(shown.title, 60)).strong();
                let head = Rect::from_min_size(rect.min, egui::vec2(rect.width(), 18.0));
                ui.put(head, egui::Label::new(title));
                rect.min.y += 18.0;
            }
            let Some(data) = data else {
                let text = run.reading.why_not().unwrap_or("The tile is being read");
                ui.put(rect, egui::Label::new(RichText::new(text).weak()));
                continue;
            };
            let pointed = self.pointed.filter(|(of, _)| *of != place).map(|(_, at)| at);
            let of = PictureOf {
                name: &name,
                report: &shown.report,
                data,
                kinds: &kinds,
                extent,
                steps: &shown.steps,
                chosen: run.chosen,
                pointed,
            };
            let answer = run.picture.ui(ui, rect, &mut self.plane, &of);
            if let Some(at) = answer.hovered {
                pointed_now = Some((place, (at.step, at.address)));
                egui::Tooltip::for_widget(&answer.response)
                    .at_pointer()
                    .show(|ui| tooltip::place_ui(ui, &shown.report, data, at));
            }
            let clicked = answer.clicked;
            let steps = data.rectangles.steps as usize;
            let step = clicked.map(|at| at.step).filter(|step| *step < steps).or(answer.step);
            if let Some(step) = step {
                chosen_step = Some(ChosenStep { run: place, step });
            }
            if let Some(row) = clicked.map(|at| at.row).or(answer.reached.map(Some)) {
                run.chosen = row;
                page.selection.variable =
                    row.and_then(|row| data.tile.unlowered_name(&shown.report, row));
            }
            if answer.is_entered
                && let Some(row) = run.chosen
            {
                show(&mut self.plane, extent, data, row);
            }
            if step.is_some() || clicked.is_some() || answer.reached.is_some() || answer.is_entered
            {
                ui.request_repaint();
            }
        }
        if self.pointed != pointed_now && runs.len() > 1 {
            ui.request_repaint();
        }
        self.pointed = pointed_now;
        chosen_step
    }
}

/// Lets a variable fill the picture, with a margin.
fn show(plane: &mut Plane, extent: Extent, data: &RunData, row: u32) {
    let all = data.rectangles.rectangles.iter().filter(|one| one.row == row);
    let bounds = all.fold(None, |bounds: Option<[f64; 4]>, one| {
        let own = [
            f64::from(one.steps.start),
            f64::from(one.steps.end),
            one.bytes.start as f64,
            one.bytes.end as f64,
        ];
        let Some(so_far) = bounds else { return Some(own) };
        Some([
            so_far[0].min(own[0]),
            so_far[1].max(own[1]),
            so_far[2].min(own[2]),
            so_far[3].max(own[3]),
        ])
    });
    let Some([left, right, bottom, top]) = bounds else { return };
    for (view, len, start, end) in
        [(&mut plane.x, extent.x, left, right), (&mut plane.y, extent.y, bottom, top)]
    {
        let margin = (end - start) * MARGIN;
        view.show(len, start - 0.5 - margin, end - 0.5 + margin);
    }
}
