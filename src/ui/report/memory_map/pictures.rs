//! The pictures of a tile, one for each run, with their legends: what one shows and marks, all do.

use eframe::egui::{self, RichText};

use super::picture::{Answer, Hit, PictureOf, picture_ui};
use super::read::TileData;
use super::tooltip::hit_ui;
use super::{MARGIN, MemoryMap, RunTiles, arena_places, reading_ui};
use crate::text::shortened;
use crate::ui::report::side_by_side::area_below;
use crate::ui::report::{PageContext, run_title_ui, step_place};
use crate::ui::runs::{Run, Runs};
use crate::ui::selection::Place;
use crate::ui::units::Units;
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::picture::{at_pointer_ui, link};
use crate::ui::widget::place_menu::place_menu_ui;

/// Most runs with a legend each; of more it is drawn once.
const MOST_LEGENDS: usize = 2;

impl MemoryMap {
    pub(super) fn pictures_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &RunTiles,
    ) {
        let runs = page.runs;
        let all = ui.available_rect_before_wrap();
        if runs.len() > MOST_LEGENDS {
            let places = 0..runs.len();
            let scenes: Vec<_> =
                places.filter_map(|place| tiles.scene(place, &self.chosen)).collect();
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = egui::vec2(14.0, 2.0);
                self.choices.legend_ui(ui, &tiles.colors, &scenes);
            });
        }
        let space = ui.available_rect_before_wrap();
        let mut pointed = None;
        for (place, run) in runs.iter().enumerate() {
            let area = area_below(space, runs.len(), place);
            let builder = egui::UiBuilder::new().id_salt(run.id).max_rect(area);
            let answer =
                ui.scope_builder(builder, |ui| self.run_ui(ui, (runs, run), tiles, place)).inner;
            let Some(answer) = answer else { continue };
            pointed = pointed.or(answer.address.map(|address| (run.id, address)));
            self.answered(page, tiles, place, &answer);
        }
        *page.has_painted_graph = true;
        self.toolbar.picture = Some(all);
        link(ui, &mut self.pointed, pointed, !runs.is_one());
    }

    fn run_ui(
        &mut self,
        ui: &mut egui::Ui,
        (runs, run): (&Runs, &Run),
        tiles: &RunTiles,
        place: usize,
    ) -> Option<Answer> {
        let Some(scene) = tiles.scene(place, &self.chosen) else {
            run_title_ui(ui, run);
            match self.readings.get(&run.id).and_then(|read| read.why_not(&run.report)) {
                Some(why_not) => {
                    let arena = runs.system().arena_in_text;
                    absent_ui(ui, &format!("The {arena} is not in this report"), &why_not);
                }
                None => reading_ui(ui, runs),
            }
            return None;
        };
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(14.0, 2.0);
            if !runs.is_one() {
                run_title_ui(ui, run);
            }
            if runs.len() <= MOST_LEGENDS {
                self.choices.legend_ui(ui, &tiles.colors, &[scene]);
            }
        });
        let name = if runs.is_one() { runs.system().an_arena.to_owned() } else { run.the() };
        let last = tiles.of_runs.iter().rposition(Option::is_some);
        let of = PictureOf {
            name: &format!("Memory map of {name}"),
            value: &value_text(scene.data, scene.chosen, Units::now(ui)),
            len: tiles.len,
            has_keys: last == Some(place),
            pointed: self.pointed.filter(|(other, _)| *other != run.id).map(|(_, address)| address),
        };
        let answer = picture_ui(ui, &mut self.view, &mut self.hatching, scene, &self.choices, of);
        if let Some(hit) = answer.hovered {
            at_pointer_ui(&answer.response, |ui| {
                if !runs.is_one() {
                    ui.label(RichText::new(&*run.title).color(run.color(ui)));
                }
                hit_ui(ui, scene.data, scene.gaps(), hit);
            });
        }
        Some(answer)
    }

    /// Does what the user did to the picture of a run.
    fn answered(
        &mut self,
        page: &mut PageContext<'_>,
        tiles: &RunTiles,
        place: usize,
        answer: &Answer,
    ) {
        let Some(scene) = tiles.scene(place, &self.chosen) else { return };
        let name = |hit| match hit {
            Hit::Variable(row) => Some(scene.data.name(row).to_owned()),
            Hit::Gap(_) | Hit::Ground => None,
        };
        self.menu.ui(&answer.response, answer.hovered.map(name), |ui, name| {
            // Its map is what is shown.
            let mut places = arena_places(page.runs, scene.data.arena);
            places.retain(|(_, place)| !matches!(place, Place::Map(_)));
            let slot = page.selection.slot(page.runs);
            places.extend(slot.and_then(|slot| step_place(page.runs, slot)));
            place_menu_ui(ui, name.as_deref(), &places, page.commands);
        });
        if let Some(bytes) = answer.zoomed.and_then(|hit| scene.bytes_of(hit)) {
            self.show(tiles, &bytes, MARGIN);
        }
        let Some(clicked) = answer.clicked else { return };
        let row = if let Hit::Variable(row) = clicked { Some(row) } else { None };
        let run = page.runs.get(place).map(|run| run.id);
        self.choose(page.selection, tiles, run.zip(row));
    }
}

/// What is chosen, for those who cannot see the picture.
fn value_text(data: &TileData, chosen: Option<u32>, units: Units) -> String {
    let variable = chosen.and_then(|row| Some((row, data.bytes_of(row)?)));
    let Some((row, bytes)) = variable else { return data.report.arena_title(data.arena) };
    let name = shortened(data.name(row), 100);
    format!("{name}, {} at address {}", units.exact(bytes.end - bytes.start), bytes.start)
}
