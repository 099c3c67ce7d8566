//! Every tile of an IPU over time: a picture that a job makes of what is visible, tiles from the top down.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{self, Align2, Button, Color32, ColorImage, Mesh, Pos2, Rect, Response, Shape};
use std::sync::Arc;

use super::data::ReadRun;
use super::{Hidden, NEEDS, OfRuns};
use crate::analysis::execution::Executed;
use crate::analysis::execution::tile_picture::{
    Doing, ReadLists, SpansOfDevice, TileWindow, tile_picture,
};
use crate::analysis::memory::selection::TileSelection;
use crate::store::TileId;
use crate::text::grouped;
use crate::ui::job::Same;
use crate::ui::report::program_kind_colors::activity_color;
use crate::ui::runs::{PerRun, RunId, Runs, RunsAnswer};
use crate::ui::selection::Selection;
use crate::ui::theme::{Tokens, fonts};
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::flame::Placing;
use crate::ui::widget::picture::{ShownImage, message, paint_texture};
use crate::ui::widget::view::VisibleRange;

/// Its height, points: what is left of the page, between these; the least of one of several runs leaves others to be seen.
const LEAST: f32 = 120.0;
const LEAST_OF_SEVERAL: f32 = 56.0;
const MOST: f32 = 420.0;
/// Positions of a tile on the axis of tiles, of which four at least are visible: so that one tile can be.
const OF_TILE: u32 = 8;
/// Least height of a tile at which lines part them, points.
const PARTED: f32 = 6.0;

/// What a click on a button makes larger.
const ZOOM: f64 = 2.0;

/// What a picture was made for.
#[derive(Clone, PartialEq)]
struct TileImageKey {
    run: RunId,
    ipu: u32,
    /// Those of the IPU, without hidden kinds.
    spans: Same<SpansOfDevice>,
    wanted: TileWindow,
    is_dark: bool,
}

/// A picture, with the lists that were read for it.
type Image = ShownImage<TileImageKey, ReadLists>;

/// The pictures of all runs, which show the same tiles.
pub struct TraceTilePictures {
    pub is_shown: bool,
    ipu: u32,
    /// The visible tiles.
    view: VisibleRange,
    /// The spans of that IPU, without hidden kinds.
    spans: RunsAnswer<(u32, Hidden), PerRun<Option<Arc<SpansOfDevice>>>>,
    images: Vec<Image>,
}

impl Default for TraceTilePictures {
    fn default() -> Self {
        Self {
            is_shown: true,
            ipu: 0,
            view: VisibleRange::default(),
            spans: RunsAnswer::default(),
            images: Vec::new(),
        }
    }
}

impl TraceTilePictures {
    /// Whether tiles are shown, and of which IPU.
    pub fn choice_ui(&mut self, ui: &mut egui::Ui, read: &OfRuns) {
        let executed = read.iter().flatten().filter_map(|run| run.executed());
        let mut ipus: Vec<u32> =
            executed.flat_map(|it| it.trace.devices.iter().map(|of| of.device)).collect();
        ipus.sort_unstable();
        ipus.dedup();
        let Some(first) = ipus.first().copied() else { return };
        if !ipus.contains(&self.ipu) {
            self.ipu = first;
        }
        if self.is_shown && ipus.len() > 1 {
            let title = |ipu: &u32| format!("IPU {ipu}");
            choice_ui(ui, "Tiles of", 70.0, &mut self.ipu, ipus, title);
        }
        ui.toggle_value(&mut self.is_shown, "Tiles")
            .on_hover_text("What every tile of an IPU does");
    }

    /// Asks for what pictures are made of.
    pub fn ask(&mut self, ctx: &egui::Context, runs: &Arc<Runs>, read: &OfRuns, hidden: &Hidden) {
        self.images.resize_with(runs.len(), Image::default);
        if !self.is_shown {
            return;
        }
        let (ipu, key, for_job) = (self.ipu, (self.ipu, hidden.clone()), read.clone());
        let hidden = hidden.clone();
        self.spans.ask("steps of an IPU", ctx, (runs, NEEDS), &key, move |_, cancel| {
            let spans = |run: &Option<Arc<ReadRun>>| {
                let run = run.as_ref()?;
                let hidden = run.hidden(&hidden);
                SpansOfDevice::of(run.executed()?, ipu, &hidden, cancel.progress()).map(Arc::new)
            };
            for_job.iter().map(spans).collect()
        });
    }

    /// Buttons that zoom tiles, around the selected one; says whether they are zoomed.
    pub fn zoom_ui(&mut self, ui: &mut egui::Ui, read: &OfRuns, selected: &Selection) -> bool {
        let with_tiles = read.iter().flatten().find(|run| run.has_tiles);
        let Some(count) = with_tiles.filter(|_| self.is_shown).map(|run| tiles_of(run)) else {
            return false;
        };
        let len = positions(count);
        let (from, to) = self.view.range(len);
        let first = self.ipu.saturating_mul(count);
        let selected = selected.tiles.first().and_then(|tile| tile.0.checked_sub(first));
        let center = match selected.filter(|tile| *tile < count) {
            Some(tile) => (f64::from(tile) + 0.5) * f64::from(OF_TILE) - 0.5,
            None => f64::midpoint(from, to),
        };
        let hover = "Around the selected tile; Ctrl and the wheel do the same at the pointer";
        let is_zoomed = self.view.is_zoomed();
        if ui.button("Fewer tiles").on_hover_text(hover).clicked() {
            self.view.zoom(len, ZOOM, center.clamp(from, to));
            self.view.reveal(len, center.round().max(0.0) as usize);
        }
        if ui.add_enabled(is_zoomed, Button::new("More tiles")).on_hover_text(hover).clicked() {
            self.view.zoom(len, 1.0 / ZOOM, center.clamp(from, to));
        }
        is_zoomed
    }

    /// Shows all tiles of the IPU.
    pub fn reset(&mut self) {
        self.view.reset();
    }

    /// Lets go of what was drawn, not of what is to be seen.
    pub fn forget(&mut self) {
        (self.spans, self.images) = (RunsAnswer::default(), Vec::new());
    }

    /// Its height where so much is left; 0 where it is not shown, or the report has no tiles.
    pub fn height(&self, read: &ReadRun, left: f32, is_only_run: bool) -> f32 {
        let is_there = self.is_shown && read.has_tiles;
        let least = if is_only_run { LEAST } else { LEAST_OF_SEVERAL };
        if is_there { left.clamp(least, MOST) } else { 0.0 }
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
        runs: &Arc<Runs>,
        read: &ReadRun,
        selected: &mut Selection,
        response: &Response,
    ) {
        let ipu = self.ipu;
        let rect = placing.rect;
        self.navigate(ui, response, rect, tiles_of(read));
        let (first, last) = self.tiles(read);
        let tokens = *Tokens::now(ui);
        let per_point = ui.pixels_per_point();
        let pixels = |points: f32| ((points * per_point).round() as usize).max(1);
        let run = read.run;
        let Some(place) = runs.position(run) else { return };
        let Some(image) = self.images.get_mut(place) else { return };
        // Those of other kinds than now, of the same IPU, are shown until the others are there.
        let spans = self.spans.last(runs).filter(|((of, _), _)| *of == ipu);
        let spans = spans.and_then(|(_, spans)| spans.get(place)?.as_ref());
        if let Some(spans) = spans {
            let wanted = TileWindow {
                cycles: (placing.from, placing.to),
                tiles: first..last,
                size: [
                    pixels(rect.width()),
                    pixels(rect.height()).min((last - first) as usize).max(1),
                ],
            };
            let spans = Same(Arc::clone(spans));
            let is_dark = ui.visuals().dark_mode;
            let key = TileImageKey { run, ipu, spans, wanted, is_dark };
            // Of this run many are needed again.
            let known = image.shown().filter(|(shown, ..)| shown.run == run);
            let known = known.map(|(_, lists, _)| Arc::clone(lists)).unwrap_or_default();
            let (report, asked) = (Arc::clone(&read.report), key.clone());
            image.ask(ui, &format!("tiles over time {place}"), &key, move |cancel| {
                let executed = Executed::of(&report)?;
                let (Same(spans), wanted) = (&asked.spans, &asked.wanted);
                let (doing, lists) =
                    tile_picture(executed, spans, wanted, &known, cancel.progress())?;
                let pixels = doing.into_iter().map(|doing| color(doing, &tokens)).collect();
                Some((lists, ColorImage::new(wanted.size, pixels)))
            });
        }
        let painter = ui.painter_at(rect);
        painter.rect_filled(rect, 0, tokens.raised.gamma_multiply(0.35));
        match image.shown() {
            Some((key, _, texture)) if (key.run, key.ipu) == (run, ipu) => {
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
            _ if image.is_impossible() => {
                let why = "Cycles by tile can no longer be read; Reload reads again";
                message(&painter, rect, why);
            }
            _ => {
                let failure = image.failure().or(self.spans.failure());
                message(&painter, rect, failure.unwrap_or("Reading cycles by tile…"));
            }
        }
        let of_all = ipu.saturating_mul(tiles_of(read));
        let tile_height = rect.height() / (last - first) as f32;
        let mut mesh = Mesh::default();
        let one = 1.0_f32.round_to_pixels(per_point);
        if tile_height >= PARTED {
            for tile in 1..last - first {
                let y = (rect.top() + tile as f32 * tile_height).round_to_pixels(per_point);
                let line = Rect::from_x_y_ranges(rect.x_range(), y..=y + one);
                mesh.add_colored_rect(line, tokens.surface);
            }
        }
        for range in selected.tiles.ranges() {
            let from = range.start().saturating_sub(of_all).clamp(first, last);
            let to = (range.end().saturating_add(1)).saturating_sub(of_all).clamp(first, last);
            if from < to {
                let y = |tile: u32| rect.top() + (tile - first) as f32 * tile_height;
                let y = y(from)..=y(to).max(y(from) + 2.0);
                let mark = Rect::from_x_y_ranges(rect.left()..=rect.left() + 4.0, y);
                mesh.add_colored_rect(mark.round_to_pixels(per_point), tokens.accent);
            }
        }
        painter.add(Shape::mesh(mesh));
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
    let tiles = read.executed().and_then(Executed::tiles_per_device);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::derived::Derived;
    use crate::progress::Progress;
    use crate::store::debug_info::DebugInfo;
    use crate::store::execution::{ExecutionTrace, Span};
    use crate::store::names::NameId;
    use crate::store::placed::{Placed, ReadArena, ReadError};
    use crate::store::target::Target;
    use crate::store::tile_list::TileList;
    use crate::store::{ArenaId, Report};
    use crate::ui::job::in_flight;
    use crate::ui::runs::{Arrangement, Badge, Run};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Tiles that are all busy for ten cycles; counts the lists that are read.
    #[derive(Debug, Default)]
    struct Lists(Arc<AtomicUsize>);

    impl ReadArena for Lists {
        fn read(&self, _: ArenaId, _: &Progress) -> Result<Option<Placed>, ReadError> {
            Ok(None)
        }

        fn read_tile_cycles(
            &self,
            lists: &[u32],
            _: &Progress,
        ) -> Result<Vec<Option<TileList>>, ReadError> {
            self.0.fetch_add(lists.len(), Ordering::Relaxed);
            Ok(lists.iter().map(|_| Some(TileList::from_runs([(4, 10)]))).collect())
        }
    }

    struct Page {
        ctx: egui::Context,
        tiles: TraceTilePictures,
        runs: Arc<Runs>,
        read: OfRuns,
    }

    fn runs_of(id: u32, lists: Lists) -> (Arc<Runs>, OfRuns) {
        let report = Report::default();
        report.target.fill(Some(Target { tiles_per_device: Some(4), ..Target::default() }));
        let mut trace = ExecutionTrace::default();
        (0..20).for_each(|step| trace.push_step(step, NameId::NONE, None, None));
        let span = |step: u32| Span {
            device: 0,
            step,
            start: u64::from(step) * 10,
            end: u64::from(step) * 10 + 10,
            cycles: 10,
            active_tiles: 4,
            balance: None,
            list: Some(step),
        };
        trace.set_spans((0..20).map(span).collect());
        report.trace.fill(Some(trace));
        report.set_reader(Box::new(lists));
        let report = Arc::new(report);
        let derived = Arc::new(Derived::new(Arc::clone(&report)));
        let run = Run::new(RunId(id), derived, Badge::of(0, 0));
        let read = ReadRun::of(&run, &Progress::default()).expect("not cancelled").ok();
        let runs = Runs::new(vec![run], None, Arrangement::Overlaid, None).expect("a run");
        (Arc::new(runs), vec![read.map(Arc::new)])
    }

    impl Page {
        /// Draws a frame of some cycles; says how many pictures are on it.
        fn frame(&mut self, cycles: (f64, f64)) -> usize {
            let Self { ctx, tiles, runs, read } = self;
            let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
                tiles.ask(ui.ctx(), runs, read, &Hidden::new());
                let size = egui::vec2(200.0, 40.0);
                let (rect, response) = ui.allocate_exact_size(size, egui::Sense::click());
                let placing = Placing { rect, from: cycles.0, to: cycles.1 };
                if let Some(of_run) = read.first().and_then(Option::as_ref) {
                    let selected = &mut Selection::default();
                    tiles.picture_ui(ui, placing, runs, of_run, selected, &response);
                }
            });
            let shapes = std::mem::take(&mut output.shapes);
            output.drop_without_applying_deltas();
            let is_picture = |shape: &Shape| match shape {
                Shape::Rect(rect) => rect.brush.is_some(),
                Shape::Mesh(mesh) => mesh.texture_id != egui::TextureId::default(),
                _ => false,
            };
            shapes.iter().filter(|clipped| is_picture(&clipped.shape)).count()
        }

        /// Draws until nothing is computed any more; says how many pictures are on the last frame.
        fn settle(&mut self, cycles: (f64, f64)) -> usize {
            let mut idle = 0;
            while idle < 4 {
                self.frame(cycles);
                idle = if in_flight(&self.ctx) > 0 { 0 } else { idle + 1 };
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            self.frame(cycles)
        }
    }

    #[test]
    fn no_run_has_the_picture_of_another_and_lists_are_read_once() {
        let (first, second) = (Lists::default(), Lists::default());
        let (of_first, of_second) = (Arc::clone(&first.0), Arc::clone(&second.0));
        let (runs, read) = runs_of(1, first);
        let tiles = TraceTilePictures::default();
        let mut page = Page { ctx: egui::Context::default(), tiles, runs, read };
        assert_eq!(page.frame((0.0, 200.0)), 0);
        assert_eq!(page.settle((0.0, 200.0)), 1);
        assert_eq!(of_first.load(Ordering::Relaxed), 20);
        // A part of it needs what was read already; the picture before stays meanwhile.
        assert_eq!(page.frame((50.0, 100.0)), 1);
        assert_eq!(page.settle((50.0, 100.0)), 1);
        assert_eq!(of_first.load(Ordering::Relaxed), 20);
        // Debug contexts have nothing to do with it, whenever they come.
        let spans = |page: &Page| {
            let (_, spans) = page.tiles.spans.last(&page.runs)?;
            spans.first()?.clone().map(Same)
        };
        let before = spans(&page);
        page.runs.reference().report.debug.fill(Some(DebugInfo::default()));
        page.settle((50.0, 100.0));
        assert!(before.is_some() && spans(&page) == before);
        // The same report read again is another run.
        (page.runs, page.read) = runs_of(2, second);
        assert_eq!(page.frame((50.0, 100.0)), 0, "nothing of the one before");
        assert_eq!(page.settle((50.0, 100.0)), 1);
        assert_eq!((of_first.load(Ordering::Relaxed), of_second.load(Ordering::Relaxed)), (20, 5));
    }
}
