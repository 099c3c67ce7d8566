//! Every tile of an IPU over time: a picture that a job makes of what is visible, tiles from the top down.

use eframe::egui::{self, Align2, Color32, ColorImage, Pos2, Rect, Response, Stroke};
use std::sync::Arc;

use super::data::ReadRun;
use super::{Hidden, OfRuns};
use crate::analysis::execution::Executed;
use crate::analysis::execution::tile_picture::{Doing, SpansOfIpu, Wanted, tile_picture};
use crate::analysis::memory::selection::TileSelection;
use crate::store::TileId;
use crate::text::grouped;
use crate::ui::report::program_kind_colors::activity_color;
use crate::ui::selection::Selection;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::flame::Placing;
use crate::ui::widget::picture::{ShownImage, message, paint_texture};
use crate::ui::widget::view::View;

/// Its height, points: what is left of the page, between these.
const LEAST: f32 = 120.0;
const MOST: f32 = 420.0;
/// Positions of a tile on the axis of tiles, of which four at least are visible: so that one tile can be.
const OF_TILE: u32 = 8;
/// Least height of a tile at which lines part them, points.
const PARTED: f32 = 6.0;

/// What a picture was made for.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    wanted: Wanted,
    is_dark: bool,
}

/// The spans that pictures are made of: of one IPU of a run, without hidden kinds.
#[derive(Default)]
struct OfRun {
    image: ShownImage<Key, ()>,
    spans: Option<(u32, Hidden, Arc<SpansOfIpu>)>,
}

/// The pictures of all runs, which show the same tiles.
pub struct TilePictures {
    is_shown: bool,
    /// The IPU that is shown.
    ipu: u32,
    /// The visible tiles.
    view: View,
    of_runs: Vec<OfRun>,
}

impl Default for TilePictures {
    fn default() -> Self {
        Self { is_shown: true, ipu: 0, view: View::default(), of_runs: Vec::new() }
    }
}

impl TilePictures {
    /// Whether tiles are shown, and of which IPU.
    pub fn choice_ui(&mut self, ui: &mut egui::Ui, read: &OfRuns) {
        let executed = read.iter().flatten().filter_map(|run| run.executed());
        let mut ipus: Vec<u32> =
            executed.flat_map(|it| it.trace.ipus.iter().map(|ipu| ipu.ipu)).collect();
        ipus.sort_unstable();
        ipus.dedup();
        let Some(first) = ipus.first().copied() else { return };
        if !ipus.contains(&self.ipu) {
            self.ipu = first;
        }
        if self.is_shown && ipus.len() > 1 {
            let title = |ipu: &u32| format!("IPU {ipu}");
            choice_ui(ui, ("Tiles of", 70.0), &mut self.ipu, ipus, title);
        }
        ui.toggle_value(&mut self.is_shown, "Tiles")
            .on_hover_text("What every tile of an IPU does");
    }

    /// Shows tiles.
    pub fn show(&mut self) {
        self.is_shown = true;
    }

    /// Its height where so much is left; 0 where it is not shown, or the report has no tiles.
    pub fn height(&self, read: &ReadRun, left: f32) -> f32 {
        let is_there = self.is_shown && read.has_tiles;
        if is_there { left.clamp(LEAST, MOST) } else { 0.0 }
    }

    pub fn title(&self, read: &ReadRun) -> String {
        let (from, to) = self.tiles(read);
        let (last, ipu) = (to.saturating_sub(1), self.ipu);
        format!("Tiles {from}–{last}\nof IPU {ipu};\nstarts are\nestimated")
    }

    /// The visible tiles of the IPU: the first, and the one past the last.
    fn tiles(&self, read: &ReadRun) -> (u32, u32) {
        let count = tiles_of(read);
        let (from, to) = self.view.range(positions(count));
        let tile = |place: f64| (place + 0.5) / f64::from(OF_TILE);
        let first = (tile(from) + 1e-9).floor().max(0.0) as u32;
        let first = first.min(count.saturating_sub(1));
        let last = (tile(to) - 1e-9).ceil().max(1.0) as u32;
        (first, last.clamp(first + 1, count.max(first + 1)))
    }

    pub fn picture_ui(
        &mut self,
        ui: &egui::Ui,
        placing: Placing,
        (place, read): (usize, &ReadRun),
        (hidden, selected): (&Hidden, &mut Selection),
        response: &Response,
    ) {
        let ipu = self.ipu;
        let rect = placing.rect;
        self.navigate(ui, response, rect, tiles_of(read));
        let (first, last) = self.tiles(read);
        let tokens = *Tokens::now(ui);
        let per_point = ui.pixels_per_point();
        let pixels = |points: f32| ((points * per_point).round() as usize).max(1);
        let wanted = Wanted {
            ipu,
            cycles: (placing.from, placing.to),
            tiles: first..last,
            size: [pixels(rect.width()), pixels(rect.height()).min((last - first) as usize).max(1)],
            hidden: read.hidden(hidden),
        };
        let key = Key { wanted, is_dark: ui.visuals().dark_mode };
        self.of_runs.resize_with(self.of_runs.len().max(place + 1), OfRun::default);
        let Some(of_run) = self.of_runs.get_mut(place) else { return };
        let known = of_run.spans.as_ref().filter(|(of, kinds, _)| *of == ipu && kinds == hidden);
        let known = known.map(|(.., spans)| Arc::clone(spans));
        let spans = known.unwrap_or_else(|| {
            let executed = read.executed();
            let spans = executed.map_or_else(SpansOfIpu::default, |executed| {
                SpansOfIpu::of(executed, ipu, &read.hidden(hidden))
            });
            let spans = Arc::new(spans);
            of_run.spans = Some((ipu, hidden.clone(), Arc::clone(&spans)));
            spans
        });
        let (report, wanted) = (Arc::clone(&read.report), key.wanted.clone());
        of_run.image.ask(ui, &format!("tiles over time {place}"), &key, move |cancel| {
            let executed = Executed::of(&report)?;
            let doing = tile_picture(executed, &spans, &wanted, cancel.progress())?;
            let pixels = doing.into_iter().map(|doing| color(doing, &tokens)).collect();
            Some(((), ColorImage::new(wanted.size, pixels)))
        });
        let painter = ui.painter_at(rect);
        painter.rect_filled(rect, 0, tokens.raised.gamma_multiply(0.35));
        match of_run.image.shown() {
            Some((key, _, texture)) if key.wanted.ipu == ipu => {
                // An earlier picture lies where its cycles and tiles are.
                let (from, to) = key.wanted.cycles;
                let x = |cycle: f64| {
                    rect.left() + ((cycle - placing.from) / placing.per_point()) as f32
                };
                let y = |tile: u32| {
                    let share = (f64::from(tile) - f64::from(first)) / f64::from(last - first);
                    rect.top() + share as f32 * rect.height()
                };
                let tiles = &key.wanted.tiles;
                let area = Rect::from_x_y_ranges(x(from)..=x(to), y(tiles.start)..=y(tiles.end));
                paint_texture(&painter, *texture, area);
            }
            _ => {
                message(
                    &painter,
                    rect,
                    of_run.image.failure().unwrap_or("Reading cycles by tile…"),
                );
            }
        }
        let of_all = ipu.saturating_mul(tiles_of(read));
        let tile_height = rect.height() / (last - first) as f32;
        if tile_height >= PARTED {
            for tile in 1..last - first {
                let y = rect.top() + tile as f32 * tile_height;
                painter.hline(rect.x_range(), y, Stroke::new(1.0, tokens.surface));
            }
        }
        for tile in first..last {
            if !selected.tiles.contains(TileId(of_all.saturating_add(tile))) {
                continue;
            }
            let top = rect.top() + (tile - first) as f32 * tile_height;
            let mark = Rect::from_x_y_ranges(
                rect.left()..=rect.left() + 4.0,
                top..=top + tile_height.max(2.0),
            );
            painter.rect_filled(mark, 0, tokens.accent);
        }
        if let Some(pointer) = response.hover_pos().filter(|pointer| rect.contains(*pointer)) {
            let tile = (first + ((pointer.y - rect.top()) / tile_height) as u32).min(last - 1);
            if response.clicked() {
                selected.tiles = TileSelection::one(TileId(of_all.saturating_add(tile)));
            }
            let at = Pos2::new(rect.right() - 4.0, rect.top() + 3.0);
            let font = fonts::regular(fonts::size::CAPTION);
            let text = format!("tile {} of IPU {ipu}", grouped(u64::from(tile)));
            painter.text(at, Align2::RIGHT_TOP, text, font, tokens.text);
        }
    }

    /// Ctrl and the wheel zoom tiles.
    fn navigate(&mut self, ui: &egui::Ui, response: &Response, rect: Rect, count: u32) {
        let Some(pointer) = response.hover_pos().filter(|pointer| rect.contains(*pointer)) else {
            return;
        };
        let (is_command, zoom) = ui.input(|input| (input.modifiers.command, input.zoom_delta()));
        if is_command && (zoom - 1.0).abs() > f32::EPSILON {
            let (from, to) = self.view.range(positions(count));
            let share = f64::from((pointer.y - rect.top()) / rect.height());
            self.view.zoom(positions(count), f64::from(zoom), from + share * (to - from));
            ui.request_repaint();
        }
        if response.double_clicked() {
            self.view.reset();
        }
    }
}

fn positions(tiles: u32) -> usize {
    tiles.saturating_mul(OF_TILE) as usize
}

fn tiles_of(read: &ReadRun) -> u32 {
    let tiles = read.executed().and_then(Executed::tiles_per_ipu);
    tiles.and_then(|tiles| u32::try_from(tiles).ok()).unwrap_or(0)
}

fn color(doing: Doing, tokens: &Tokens) -> Color32 {
    match doing {
        Doing::Waits => tokens.raised,
        Doing::Busy(activity) => activity_color(activity, tokens),
        Doing::NotRecorded(activity) => {
            let color = activity_color(activity, tokens);
            tokens.raised.lerp_to_gamma(color, 0.35)
        }
    }
}
