//! Several selected arenas of one run: their pictures below each other on one axis of steps. Tables, inspector and
//! answer are of one of them; a click in another goes there.

use eframe::egui::{self, Rect, vec2};
use std::sync::Arc;

use super::data::RunData;
use super::kinds::Kinds;
use super::pictures::{Picked, RunShown};
use super::{OneTileView, RunTile, RunTiles, reading_ui};
use crate::analysis::memory::selection::TileSelection;
use crate::store::ArenaId;
use crate::text::grouped;
use crate::ui::report::{PageContext, room_of};
use crate::ui::runs::{Run, Runs, StepAt};
use crate::ui::theme::{Tokens, fonts};
use crate::ui::units::Units;
use crate::ui::widget::plane::Extent;
use crate::ui::widget::sign::answer_ui;

/// Arenas that are shown at once.
const MOST: usize = 4;
/// Height of the title of a picture, and of what is said of those that are not shown, points.
const TITLE: f32 = 20.0;

/// An arena beside the one that the page is about, as soon as it is read.
pub type FoundOther = (ArenaId, Option<Arc<RunData>>);

/// Which arenas are shown, the one that the page is about among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    pub arenas: Vec<ArenaId>,
    /// Selected ones that are not shown.
    more: u64,
}

impl Stack {
    /// Of several runs the maps of one arena stand below each other, so only that is shown.
    pub fn of(runs: &Runs, shown: ArenaId, selection: &TileSelection) -> Self {
        let known = runs.reference().report.arenas.get().filter(|_| runs.is_one());
        let is_there = |arena: &ArenaId| {
            known.is_some_and(|known| known.ids.position(*arena).is_some()) && *arena != shown
        };
        let others = selection.iter().map(ArenaId::from).filter(is_there).take(MOST - 1);
        let mut arenas: Vec<ArenaId> = others.chain([shown]).collect();
        arenas.sort_unstable();
        let more = match arenas.len() {
            1 => 0,
            count => selection.count().saturating_sub(count as u64),
        };
        Self { arenas, more }
    }

    pub fn others(&self, shown: ArenaId) -> impl Iterator<Item = ArenaId> {
        self.arenas.iter().copied().filter(move |arena| *arena != shown)
    }
}

impl OneTileView {
    /// Goes on with another arena of the stack, which keeps what was read of it and what it shows. Says whether it
    /// is one.
    pub(super) fn swap(&mut self, runs: &Runs, before: ArenaId, arena: ArenaId) -> bool {
        let run = runs.reference().id;
        let Some(mut next) = self.others.remove(&arena).filter(|_| runs.is_one()) else {
            return false;
        };
        std::mem::swap(&mut next.bytes, &mut self.plane.y);
        if let Some(mut last) = self.runs.insert(run, next) {
            last.chosen = None;
            if let Some(next) = self.runs.get_mut(&run) {
                std::mem::swap(&mut last.bytes, &mut next.bytes);
            }
            self.others.insert(before, last);
        }
        true
    }

    /// Asks for the other arenas of the stack.
    pub(super) fn find_others(
        &mut self,
        ui: &egui::Ui,
        runs: &Runs,
        (stack, shown): (&Stack, ArenaId),
    ) -> Vec<FoundOther> {
        self.others.retain(|arena, _| stack.others(shown).any(|other| other == *arena));
        let find = |arena: ArenaId| {
            let reading = &mut self.others.entry(arena).or_default().reading;
            (arena, reading.tile(ui.ctx(), runs.reference(), arena))
        };
        stack.others(shown).map(find).collect()
    }

    /// Draws the pictures of the stack.
    pub(super) fn stack_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        mut space: Rect,
        (tiles, kinds, extent): (&RunTiles, &Arc<Kinds>, Extent),
    ) {
        let stack = &tiles.stack;
        if stack.more > 0 {
            let place = Rect::from_min_max(space.left_bottom() - vec2(0.0, TITLE), space.max);
            space.max.y -= TITLE;
            let more = grouped(stack.more);
            let text = format!("and {more} more selected {}", page.runs.system().arenas);
            ui.put(place, egui::Label::new(fonts::caption(text)));
        }
        let height = space.height() / stack.arenas.len().max(1) as f32;
        for (place, arena) in stack.arenas.iter().enumerate() {
            let top = space.top() + height * place as f32;
            let area = Rect::from_x_y_ranges(space.x_range(), top..=top + height);
            let title = Rect::from_min_size(area.min, vec2(area.width(), TITLE));
            let is_shown = self.viewed == Some(*arena);
            let tile = if is_shown {
                tiles.of_runs.first().and_then(Option::as_ref)
            } else {
                tiles.others.iter().find(|(other, _)| other == arena).map(|(_, tile)| tile)
            };
            let runs = page.runs;
            let builder = egui::UiBuilder::new().max_rect(title);
            ui.scope_builder(builder, |ui| {
                title_ui(ui, runs.reference(), (*arena, tile), is_shown);
            });
            let area = area.with_min_y(title.bottom());
            let Some(tile) = tile else {
                let builder = egui::UiBuilder::new().max_rect(area);
                ui.scope_builder(builder, |ui| reading_ui(ui, runs));
                continue;
            };
            if is_shown {
                self.run_ui(ui, page, area, (0, runs.reference(), tile), (tiles, kinds, extent));
            } else {
                self.other_ui(ui, page, area, (*arena, tile), (kinds, extent.x));
            }
        }
    }

    /// Draws another arena than the one that the page is about.
    fn other_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        area: Rect,
        (arena, tile): (ArenaId, &RunTile),
        (kinds, steps): (&Arc<Kinds>, usize),
    ) {
        let Some(of_run) = self.others.get_mut(&arena) else { return };
        let runs = page.runs;
        // Steps are those of all, addresses its own.
        let mut plane = self.plane;
        plane.y = of_run.bytes;
        let shown = RunShown {
            place: 0,
            run: runs.reference(),
            tile,
            kinds,
            extent: Extent { x: steps, y: tile.data.len().max(1) },
            pointed: None,
            of: Some(tile.data.report.arena_title(arena)),
        };
        let answer = shown.ui(ui, page, area, of_run, &mut plane);
        (self.plane.x, of_run.bytes) = (plane.x, plane.y);
        if let Some(Picked(row)) = answer.picked {
            of_run.chosen = row;
            self.chosen_in = Some(tile.run);
            self.tile.show(arena);
            page.selection.select_variable(row.and_then(|row| tile.data.unlowered_name(row)));
        }
        if let Some(step) = answer.step {
            page.selection.steps = vec![StepAt { run: tile.run, step }];
        }
        if answer.picked.is_some() || answer.step.is_some() {
            ui.request_repaint();
        }
    }
}

/// The arena by its number, whether it is over, and whether tables and inspector are of it.
fn title_ui(
    ui: &mut egui::Ui,
    run: &Run,
    (arena, tile): (ArenaId, Option<&RunTile>),
    is_shown: bool,
) {
    ui.horizontal(|ui| {
        let (title, tokens) = (run.report.arena_title(arena), Tokens::now(ui));
        let color = if is_shown { tokens.text } else { tokens.weak_text };
        ui.label(fonts::number(title).color(color));
        let map = tile.map(|tile| &tile.data.map);
        if let Some((end, limit)) = map.and_then(|map| Some((map.end, map.limit?))) {
            let (sign, room) = room_of(end, limit, Units::now(ui));
            answer_ui(ui, sign, &room);
        }
    });
}
