//! The map of a tile in two reports: one below the other, with the same addresses above each other, and
//! the variables of both in one table.

mod steps;
mod table;

use std::ops::Range;
use std::sync::Arc;

use eframe::egui;
use eframe::egui::{Label, Margin, Rect, RichText};

use super::choices::Choices;
use super::hatch::Hatching;
use super::paint::Scene;
use super::picture::{Answer, Hit, PictureOf, picture_ui};
use super::read::{AtStep, Marks, Origin, Reading, TileData};
use super::search::Search;
use super::tile::TileChoice;
use super::tooltip::hit_ui;
use super::{MARGIN, bytes_of, value_text};
use crate::store::memory::TileMemory;
use crate::store::{Report, TileId};
use crate::text::grouped;
use crate::ui::legacy::{Pair, Side};
use crate::ui::report::halves::{report_name, side_color, side_title_ui};
use crate::ui::report::{PageContext, change_color, change_text, tables_height};
use crate::ui::split;
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, Values};
use crate::ui::widget::facts::absent_ui;
use crate::ui::widget::overview::Overview;
use crate::ui::widget::toolbar::Toolbar;
use crate::ui::widget::view::View;
pub use steps::slots_ui;
use table::PairTable;

/// Least height of the pictures with what is above them, points.
const PICTURES: f32 = 260.0;

/// What the maps remember.
#[derive(Debug, Default)]
pub struct MemoryMapPair {
    tile: TileChoice,
    readings: [Reading; 2],
    choices: Choices,
    search: Search,
    view: View,
    /// The tile that the view is of.
    viewed: Option<TileId>,
    toolbar: Toolbar,
    overview: BinCache,
    hatchings: [Hatching; 2],
    table: PairTable,
    /// The rows of the variable that was chosen.
    chosen: [Option<u32>; 2],
    /// The address under the pointer in one of the maps.
    pointed: Option<(Side, u64)>,
}

/// A tile of both at a step.
struct Tiles {
    data: [Option<Arc<TileData>>; 2],
    at_step: [Option<Arc<AtStep>>; 2],
    marks: [Arc<Marks>; 2],
    /// Bytes of the axis that both share.
    len: usize,
}

impl MemoryMapPair {
    /// Draws the maps; `views` draws the choice of what is shown.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        (page, pair): (&mut PageContext<'_>, &Pair<'_>),
        memory: &TileMemory,
        views: impl FnOnce(&mut egui::Ui),
    ) {
        let tile = self.tile.tile(page.report, &page.selection.tiles, memory);
        if self.viewed != Some(tile) {
            self.viewed = Some(tile);
            self.view.reset();
            self.chosen = [None; 2];
        }
        ui.horizontal(|ui| {
            views(ui);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                self.choices.ui(ui, page.selection.step().is_some() && pair.axis.is_some());
            });
        });
        let tiles = self.read(ui, page, pair, tile);
        self.head_ui(ui, page, memory, &tiles);
        let peaks = tiles.data.each_ref().map(|data| data.as_ref()?.peak);
        slots_ui(ui, page, pair, peaks, "on this tile");
        let overviewed = tiles.data.iter().flatten().max_by_key(|data| data.len());
        let overview = Overview {
            values: Values::Known(overviewed.map_or(&[], |data| &data.crowd)),
            len: tiles.len,
            base: 0,
            version: overviewed.map_or(0, |data| data.version),
            top: overviewed.and_then(|data| data.crowd.iter().max().copied()).unwrap_or(0),
            cache: &mut self.overview,
        };
        self.toolbar.ui(ui, "memory maps of both", &mut self.view, overview, page.commands);
        let max = (ui.available_height() - PICTURES).max(80.0);
        let height = tables_height(ui) * 0.55;
        let chosen = split::below(ui, "memory map table of two", height, 60.0..=max, |ui| {
            let reports = [page.report, pair.target];
            let data = tiles.data.each_ref().map(Option::as_ref);
            self.table.ui(ui, reports, data, self.chosen, page.commands)
        });
        if let Some(rows) = chosen {
            self.choose(page, pair, &tiles, rows);
            let bytes = Side::BOTH.into_iter().find_map(|side| {
                bytes_of(side.of(tiles.data.each_ref()).as_ref()?, side.of(rows)?)
            });
            if let Some(bytes) = bytes {
                self.show(tiles.len, &bytes, 3.0);
            }
        }
        egui::CentralPanel::default()
            .frame(egui::Frame::new().inner_margin(Margin { bottom: 6, ..Margin::ZERO }))
            .show(ui, |ui| self.pictures_ui(ui, page, pair, &tiles));
    }

    /// Asks for the tile in both, for the step and for what is marked.
    fn read(
        &mut self,
        ui: &egui::Ui,
        page: &PageContext<'_>,
        pair: &Pair<'_>,
        tile: TileId,
    ) -> Tiles {
        let reports = [page.report, pair.target];
        let files = [page.source, pair.target_files];
        let mut data = [None, None];
        let mut at_step = [None, None];
        let mut marks = [Arc::default(), Arc::default()];
        for (side, reading) in Side::BOTH.into_iter().zip(&mut self.readings) {
            let report: &Arc<Report> = side.of(reports);
            let other = side.of([(Side::Source, pair.target), (Side::Target, page.report)]);
            let origin = Origin {
                report: Arc::clone(report),
                files: side.of(files).cloned(),
                other: Some((other.0, Arc::clone(other.1))),
            };
            let found = reading.tile(ui.ctx(), &origin, tile);
            let step =
                pair.selection_of(side, page.selection).step().filter(|_| pair.axis.is_some());
            if let Some(found) = &found {
                let wanted = (&*self.search.text, page.selection.variable.as_deref());
                *side.of(marks.each_mut()) = reading.marks(ui.ctx(), report, found, wanted);
                *side.of(at_step.each_mut()) =
                    step.and_then(|step| reading.at_step(ui.ctx(), report, found, step));
            }
            *side.of(data.each_mut()) = found;
        }
        let len = data.iter().flatten().map(|data: &Arc<TileData>| data.len()).max().unwrap_or(1);
        Tiles { data, at_step, marks, len }
    }

    /// The tile, the search, and what there is to say of the tile.
    fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        memory: &TileMemory,
        tiles: &Tiles,
    ) {
        ui.horizontal(|ui| {
            self.tile.ui(ui, page, memory);
            ui.separator();
            // The search goes through the source, where it finds nothing there through the target.
            let found = tiles.marks.each_ref().map(|marks| !marks.found_blocks.is_empty());
            let side = if found == [false, true] { Side::Target } else { Side::Source };
            let marks = tiles.marks.each_ref().map(|marks| &**marks);
            let place = self.search.ui(ui, side.of(marks));
            if let Some(data) = side.of(tiles.data.each_ref())
                && let Some(block) = place.and_then(|place| data.map.blocks.get(place as usize))
            {
                *side.of(self.chosen.each_mut()) = Some(block.row);
                self.show(tiles.len, &(block.offset..block.end), 3.0);
            }
            ui.separator();
            facts_ui(ui, tiles);
        });
    }

    fn pictures_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        pair: &Pair<'_>,
        tiles: &Tiles,
    ) {
        let space = ui.available_rect_before_wrap();
        let middle = space.center().y;
        let (mut drawn, mut pointed) = (Rect::NOTHING, None);
        for side in Side::BOTH {
            let rect = match side {
                Side::Source => space.with_max_y(middle),
                Side::Target => space.with_min_y(middle),
            };
            let builder = egui::UiBuilder::new().id_salt(side.title()).max_rect(rect);
            let answer =
                ui.scope_builder(builder, |ui| self.picture_ui(ui, page, pair, tiles, side)).inner;
            drawn = drawn.union(rect);
            let Some(answer) = answer else { continue };
            pointed = pointed.or(answer.address.map(|address| (side, address)));
            self.follow(page, pair, tiles, side, &answer);
        }
        *page.has_painted_graph = true;
        self.toolbar.picture = Some(drawn);
        if self.pointed != pointed {
            self.pointed = pointed;
            ui.request_repaint();
        }
    }

    /// The map of one of the reports under its legend.
    fn picture_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &PageContext<'_>,
        pair: &Pair<'_>,
        tiles: &Tiles,
        side: Side,
    ) -> Option<Answer> {
        let report: &Arc<Report> = side.of([page.report, pair.target]);
        let Some(data) = side.of(tiles.data.each_ref()) else {
            side_title_ui(ui, side, &report_name(report));
            match side.of(self.readings.each_ref()).why_not(report) {
                Some(why_not) => absent_ui(ui, "The tile is not in this report", &why_not),
                None => absent_ui(ui, "The tile is being read", ""),
            }
            return None;
        };
        let at_step = side.of(tiles.at_step.each_ref()).as_deref();
        let step = at_step.is_some().then_some(0);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(14.0, 2.0);
            side_title_ui(ui, side, &report_name(report));
            self.choices.legend_ui(ui, report, data, step);
        });
        let interleaved = report.target.get().and_then(|target| target.interleaved_start);
        let marks = side.of(tiles.marks.each_ref());
        let chosen = side.of(self.chosen);
        let scene = Scene { data, at_step, marks, chosen, interleaved };
        let value = value_text(data, chosen, Units::now(ui));
        let of = PictureOf {
            name: side.of(["Memory map of the source", "Memory map of the target"]),
            value: &value,
            len: tiles.len,
            has_keys: side == Side::Target,
            pointed: self.pointed.filter(|(other, _)| *other != side).map(|(_, address)| address),
        };
        let hatching = side.of(self.hatchings.each_mut());
        let answer = picture_ui(ui, &mut self.view, hatching, scene, &self.choices, of);
        if let Some(hit) = answer.hovered {
            egui::Tooltip::for_widget(&answer.response).at_pointer().show(|ui| {
                ui.label(RichText::new(side.title()).color(side_color(ui, side)));
                hit_ui(ui, report, data, scene.gaps(), hit);
            });
        }
        Some(answer)
    }

    /// Does what the user did to one of the maps.
    fn follow(
        &mut self,
        page: &mut PageContext<'_>,
        pair: &Pair<'_>,
        tiles: &Tiles,
        side: Side,
        answer: &Answer,
    ) {
        let Some(data) = side.of(tiles.data.each_ref()) else { return };
        let at_step = side.of(tiles.at_step.each_ref());
        let gaps = at_step.as_ref().map_or(&data.map.gaps, |at_step| &at_step.map.gaps);
        let bytes = match answer.zoomed {
            Some(Hit::Variable(row)) => bytes_of(data, row),
            Some(Hit::Gap(place)) => gaps.get(place).map(|gap| gap.bytes.clone()),
            Some(Hit::Ground) | None => None,
        };
        if let Some(bytes) = bytes {
            self.show(tiles.len, &bytes, MARGIN);
        }
        if let Some(clicked) = answer.clicked {
            let row = match clicked {
                Hit::Variable(row) => Some(row),
                _ => None,
            };
            self.choose(page, pair, tiles, side.of([[row, None], [None, row]]));
        }
    }

    /// Chooses a variable, which selects the one that it was lowered from, in both.
    fn choose(
        &mut self,
        page: &mut PageContext<'_>,
        pair: &Pair<'_>,
        tiles: &Tiles,
        rows: [Option<u32>; 2],
    ) {
        self.chosen = rows;
        page.selection.variable = Side::BOTH.into_iter().find_map(|side| {
            let data = side.of(tiles.data.each_ref()).as_ref()?;
            data.unlowered_name(side.of([page.report, pair.target]), side.of(rows)?)
        });
    }

    /// Lets bytes fill the pictures, with a margin as a part of their number.
    fn show(&mut self, len: usize, bytes: &Range<u64>, margin: f64) {
        let size = (bytes.end.saturating_sub(bytes.start) as f64).max(1.0);
        let (start, end) = (bytes.start as f64 - 0.5, bytes.end as f64 - 0.5);
        self.view.show(len, start - size * margin, end + size * margin);
    }
}

/// What there is to say of the tile in both.
fn facts_ui(ui: &mut egui::Ui, tiles: &Tiles) {
    let units = Units::now(ui);
    let [Some(source), Some(target)] = tiles.data.each_ref().map(Option::as_ref) else { return };
    let (from, to) = (source.map.end, target.map.end);
    let change = RichText::new(change_text(from, to, units)).color(change_color(ui, from, to));
    ui.add(Label::new(change.strong()).extend());
    let gaps = |data: &TileData| -> u64 {
        data.map.gaps_by_reason().values().map(|total| total.bytes).sum()
    };
    let count = |data: &TileData| grouped(data.map.blocks.len() as u64);
    let text = format!(
        "{} → {} with gaps, {} → {} of gaps, {} → {} variables",
        units.bytes(from),
        units.bytes(to),
        units.bytes(gaps(source)),
        units.bytes(gaps(target)),
        count(source),
        count(target)
    );
    ui.add(Label::new(RichText::new(text).weak()).truncate());
}
