//! The map of differences, category × tile: the color says how much more or less it is in the target.

use eframe::egui::{self, ColorImage, Response, RichText, Sense, StrokeKind};
use std::sync::Arc;

use super::arranged::{ArrangedTiles, DividedTiles};
use super::difference_paint::DifferenceLayout;
use super::picture::x_title;
use super::select::Selecting;
use crate::analysis::comparison::difference_map::DifferenceMap;
use crate::text::grouped;
use crate::ui::report::side_by_side::compared_run_ui;
use crate::ui::report::tile_figures::tile_text;
use crate::ui::report::{PageContext, bytes_or_dash, change_text, tooltip_facts_ui};
use crate::ui::runs::{Needed, Run, RunId, Runs, RunsAnswer};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, BinValues};
use crate::ui::widget::curve::{CurveClick, modifiers_of_click, select_by_key};
use crate::ui::widget::diverging::{ChangeScale, change_scale_ui, diverging};
use crate::ui::widget::exports::is_taken_out;
use crate::ui::widget::navigate::{Axis, navigate, navigate_by_key};
use crate::ui::widget::overview::Overview;
use crate::ui::widget::picture::{ShownImage, at_pointer_ui, describe, focus};
use crate::ui::widget::toolbar::Toolbar;
use crate::ui::widget::view::VisibleRange;

const NAME: &str = "Map of differences";
/// Widest texture that every renderer takes.
const MOST_PIXELS: usize = 2000;

#[derive(Clone, Debug, PartialEq)]
struct PictureKey {
    /// The run that is compared with the reference.
    other: RunId,
    /// The version of the order of tiles.
    version: u64,
    first: usize,
    last: usize,
    /// Tiles of a column of pixels.
    width: usize,
    scale: ChangeScale,
    is_by_row: bool,
    is_dark: bool,
}

/// A picture that a job has made: a column of pixels for some tiles, a row for each category.
#[derive(Clone)]
pub struct DifferencePicture {
    /// The position of the first tile.
    pub first: usize,
    /// Tiles of a column.
    pub width: usize,
    /// For each row, for each column, the position and the change of the tile that has changed most.
    pub cells: Vec<Vec<Option<(usize, i64)>>>,
}

impl DifferencePicture {
    fn new(
        map: &DifferenceMap,
        tiles: &ArrangedTiles,
        key: &PictureKey,
        tokens: &Tokens,
    ) -> (Self, ColorImage) {
        let tiles = tiles.axis.rows.get(..key.last).unwrap_or(&tiles.axis.rows);
        let rows = map.rows.iter();
        let cells: Vec<_> = rows.map(|row| row.fold(tiles, key.first, key.width)).collect();
        let columns = cells.first().map_or(0, Vec::len).max(1);
        let mut image = ColorImage::filled([columns, cells.len().max(1)], tokens.surface);
        let lines = image.pixels.chunks_mut(columns).zip(map.rows.iter().zip(&cells));
        for (pixels, (row, cells)) in lines {
            let most = if key.is_by_row { row.most } else { map.most };
            for (pixel, cell) in pixels.iter_mut().zip(cells) {
                if let Some((_, change)) = cell {
                    *pixel = diverging(key.scale.share(*change, most), tokens);
                }
            }
        }
        (Self { first: key.first, width: key.width, cells }, image)
    }
}

#[derive(Default)]
pub struct DifferenceMapView {
    pub view: VisibleRange,
    scale: ChangeScale,
    /// Whether the colors of each row reach to its own largest change.
    is_by_row: bool,
    /// The run that is compared with the reference, if the user has chosen one.
    other: Option<RunId>,
    map: RunsAnswer<RunId, Option<Arc<DifferenceMap>>>,
    picture: ShownImage<PictureKey, DifferencePicture>,
    toolbar: Toolbar,
    overview: BinCache,
}

impl DifferenceMapView {
    /// Of reports that were read again, and may be known by another name.
    pub fn of_other_figures(self, rename: impl Fn(RunId) -> RunId) -> Self {
        Self { other: self.other.map(rename), ..Self::default() }
    }

    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        divided: &DividedTiles,
        selecting: &mut Selecting,
    ) {
        let (runs, tiles) = (page.runs, &divided.tiles);
        let place = runs.compared(self.other);
        let Some(other) = runs.get(place) else { return };
        let for_job = Arc::clone(tiles);
        let needs = (runs, &[Needed::Memory][..]);
        self.map.ask("map of differences", ui.ctx(), needs, &other.id, move |runs, _| {
            let reports = [runs.reference(), runs.get(place)?].map(|run| &run.report);
            let [source, target] = reports.map(|report| report.memory.get());
            let [of_source, of_target] = [0, place].map(|run| for_job.own_rows.get(run));
            let rows = [&of_source?[..], &of_target?[..]];
            Some(Arc::new(DifferenceMap::new([source?, target?], rows)))
        });
        let map = self.map.last(runs).filter(|(made_for, _)| **made_for == other.id);
        let Some((_, Some(map))) = map else {
            ui.weak(self.map.failure().unwrap_or("Comparing the tiles…"));
            return;
        };
        let map = Arc::clone(map);
        let overview = Overview {
            values: BinValues::Cells(&tiles.changes),
            len: tiles.axis.len(),
            base: 0,
            version: tiles.axis.version,
            top: BinValues::Cells(&tiles.changes).max().unwrap_or(0),
            limit: None,
            selected: None,
            cache: &mut self.overview,
        };
        self.toolbar.ui(ui, NAME, &mut self.view, overview, page.commands, |_| false);
        let legend = ui.horizontal_wrapped(|ui| {
            if runs.len() > 2 {
                let hover = format!("The run that is compared with {}", runs.reference().the());
                compared_run_ui(ui, runs, other, &mut self.other).on_hover_text(hover);
            }
            change_scale_ui(ui, &mut self.scale, (!self.is_by_row).then_some(map.most));
            if !is_taken_out(ui.ctx()) || self.is_by_row {
                let each = ui.checkbox(&mut self.is_by_row, "Each row by itself");
                each.on_hover_text("The colors of each row reach to its own largest change");
            }
            let note = format!(
                "{} − {}; largest change first. All rows of a tile add up to its change",
                other.title,
                runs.reference().title_in_text(),
            );
            ui.add(egui::Label::new(RichText::new(note).weak()).truncate());
        });
        let space = ui.available_rect_before_wrap();
        let layout =
            DifferenceLayout::new(space, map.rows.len(), self.view.range(tiles.axis.len()));
        ui.allocate_rect(space, Sense::hover());
        self.ask_picture(ui, other.id, &map, tiles, &layout);
        self.toolbar.picture = Some(legend.response.rect.union(layout.whole()));
        *page.has_painted_graph = true;
        let (response, hovered) = self.interact(ui, page, tiles, &layout, selecting);
        let picture = self.picture.shown().map(|(_, columns, texture)| (&**columns, *texture));
        let title = x_title(runs, divided.choice.order);
        layout.rows_ui(ui, &map, hovered.map(|(row, _)| row));
        layout.paint(ui, &tiles.axis, &title, picture, selecting.positions(), hovered);
        if let Some((row, position)) = hovered {
            at_pointer_ui(&response, |ui| {
                tooltip_ui(ui, runs, other, &map, tiles, row, position);
            });
        }
    }

    fn ask_picture(
        &mut self,
        ui: &egui::Ui,
        other: RunId,
        map: &Arc<DifferenceMap>,
        tiles: &Arc<ArrangedTiles>,
        layout: &DifferenceLayout,
    ) {
        let len = tiles.axis.len();
        let (start, end) = layout.range;
        let pixels = (layout.plot.width() * ui.pixels_per_point()).max(1.0) as usize;
        let columns = pixels.min(MOST_PIXELS);
        let width = (((end - start) / columns as f64).ceil().max(1.0) as usize).min(len.max(1));
        let first = (start + 0.5).floor().max(0.0) as usize;
        let key = PictureKey {
            other,
            version: tiles.axis.version,
            // Columns begin at multiples of their width, so that they stay while the map is dragged.
            first: first - first % width,
            last: ((end + 0.5).ceil().max(0.0) as usize).next_multiple_of(width).min(len),
            width,
            scale: self.scale,
            is_by_row: self.is_by_row,
            is_dark: ui.visuals().dark_mode,
        };
        let (map, tiles, tokens, wanted) =
            (Arc::clone(map), Arc::clone(tiles), *Tokens::now(ui), key.clone());
        self.picture.ask(ui, "picture of differences", &key, move |_| {
            Some(DifferencePicture::new(&map, &tiles, &wanted, &tokens))
        });
    }

    /// Zooms, pans and selects; returns the row and the position under the pointer.
    fn interact(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        tiles: &ArrangedTiles,
        layout: &DifferenceLayout,
        selecting: &mut Selecting,
    ) -> (Response, Option<(usize, usize)>) {
        let (axis, len) = (&tiles.axis, tiles.axis.len());
        let id = ui.scope_id().with(NAME);
        let response = ui.interact(layout.plot, id, Sense::click_and_drag());
        let per_point = layout.per_point();
        let origin = f64::from(layout.plot.left()) - layout.range.0 / per_point;
        let mut moved =
            navigate(ui, &response, Axis { origin, per_point }, &mut self.view, len, true);
        moved |= navigate_by_key(ui, &mut self.view, len);
        if response.double_clicked() {
            self.view.reset();
            moved = true;
        }
        focus(ui, &response, layout.plot, StrokeKind::Outside);
        let cursor = selecting.cursor().and_then(|tile| axis.position(tile));
        let by_key = select_by_key(ui, &response, len, cursor);
        if let Some(click) = by_key {
            self.view.reveal(len, click.position);
        }
        let hovered = response.hover_pos().filter(|_| !response.dragged()).and_then(|pointer| {
            let (row, position) = layout.place(pointer, len)?;
            Some((row, self.changed_most(row, position).unwrap_or(position)))
        });
        let by_pointer = hovered
            .filter(|_| response.clicked())
            .map(|(_, position)| CurveClick::new(position, modifiers_of_click(ui)));
        if let Some(click) = by_pointer.or(by_key) {
            selecting.click(click, &mut page.selection.tiles, axis);
        }
        if moved || by_key.is_some() {
            ui.request_repaint();
        }
        describe(&response, NAME, || {
            format!("{} categories of {} tiles", layout.rows, grouped(len as u64))
        });
        (response, hovered)
    }

    /// Of the tiles that share a column of pixels the one that has changed most.
    fn changed_most(&self, row: usize, position: usize) -> Option<usize> {
        let (_, made, _) = self.picture.shown()?;
        let column = position.checked_sub(made.first)? / made.width.max(1);
        let (position, _) = (*made.cells.get(row)?.get(column)?)?;
        Some(position)
    }
}

fn tooltip_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    other: &Run,
    map: &DifferenceMap,
    tiles: &ArrangedTiles,
    row: usize,
    position: usize,
) {
    let units = Units::now(ui);
    let (Some(row), Some(tile)) = (map.rows.get(row), tiles.axis.tile(position)) else { return };
    let bytes = tiles.axis.row(position).map_or([None; 2], |place| row.bytes(place));
    let title = format!("{}: {}", tile_text(runs.machine(), tile), row.title);
    ui.label(RichText::new(title).strong());
    let [source, target] = bytes;
    let change = match (source, target) {
        (Some(source), Some(target)) => change_text(source, target, units),
        _ => "not known in both".to_owned(),
    };
    let facts = [
        (&*runs.reference().title, bytes_or_dash(source, units)),
        (&*other.title, bytes_or_dash(target, units)),
        ("Difference", change),
    ];
    tooltip_facts_ui(ui, "cell of differences", &facts);
}
