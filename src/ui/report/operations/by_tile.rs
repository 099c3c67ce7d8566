//! Code, estimated and measured cycles of the chosen operation on each tile.

use eframe::egui::{self, Align2, Pos2, Rect, Role, Sense, Shape, Stroke, Vec2, WidgetInfo};
use std::sync::Arc;

use super::found::{ChosenLayer, NEEDS, OperationsOfRuns};
use crate::analysis::operations::{FigureByTile, NotByTile, by_tile};
use crate::analysis::program::operations::OperationName;
use crate::store::TileId;
use crate::text::{grouped, shortened};
use crate::ui::report::PageContext;
use crate::ui::report::tile_figures::tile_text;
use crate::ui::runs::{PerRun, Run, Runs, RunsAnswer};
use crate::ui::theme::Tokens;
use crate::ui::theme::fonts::{self, size};
use crate::ui::units::Units;
use crate::ui::widget::bins::{BinCache, BinValues, new_version};
use crate::ui::widget::choice::segments_ui;
use crate::ui::widget::ticks::{bytes_step, bytes_text, multiples, whole_step};

const LEFT: f32 = 64.0;
const ABOVE: f32 = 8.0;
const BELOW: f32 = 20.0;
const TICKS: f32 = 30.0;
const TICKS_ACROSS: f32 = 70.0;

type TilesQuestion = (ChosenLayer, OperationName, FigureByTile);

/// What each tile of a run has.
struct OperationOnTiles {
    values: Vec<u64>,
    most: u64,
    version: u64,
}

#[derive(Default)]
pub struct OperationTiles {
    /// `None` of a run that does not have the operation.
    found: RunsAnswer<TilesQuestion, PerRun<Option<Result<OperationOnTiles, NotByTile>>>>,
    bins: Vec<BinCache>,
}

fn title(figure: FigureByTile) -> &'static str {
    match figure {
        FigureByTile::Code => "Code",
        FigureByTile::EstimatedCycles => "Estimated cycles",
        FigureByTile::MeasuredCycles => "Measured cycles",
    }
}

/// The choice of what is shown by tile; measured cycles where steps that ran were recorded.
pub fn choice_ui(ui: &mut egui::Ui, runs: &Runs, figure: &mut FigureByTile) {
    let is_recorded = runs.iter().any(|run| run.report.trace.get().is_some());
    if !is_recorded && *figure == FigureByTile::MeasuredCycles {
        *figure = FigureByTile::EstimatedCycles;
    }
    let measured = is_recorded.then_some(FigureByTile::MeasuredCycles);
    let choices = [FigureByTile::Code, FigureByTile::EstimatedCycles].into_iter().chain(measured);
    let hover = "Bytes or cycles of the operation on each tile: code of its programs, exchanges \
                 and vertices; the compiler's estimate of cycles, each step once; or the recorded \
                 cycles of all its steps in all runs";
    segments_ui(ui, hover, figure, choices.map(|figure| (figure, title(figure))));
}

impl OperationTiles {
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &PageContext<'_>,
        layer: &ChosenLayer,
        found: &Arc<OperationsOfRuns>,
        chosen: Option<usize>,
        figure: FigureByTile,
    ) {
        let runs = page.runs;
        // The card is as high as the one beside it, whatever it says.
        ui.set_min_height(ui.available_height());
        let Some((row, name)) = chosen.and_then(|row| Some((row, found.names.get(row)?))) else {
            ui.weak("Select an operation to see its bytes per tile");
            return;
        };
        let of = Arc::clone(found);
        let key = (layer.clone(), name.clone(), figure);
        self.found.ask("operation by tile", ui.ctx(), (runs, NEEDS), &key, move |runs, cancel| {
            let of_run = |(place, run): (usize, &Run)| {
                let known = of.runs.get(place)?.as_ref()?;
                let operation = u32::try_from((*of.rows.get(row)?.get(place)?)?).ok()?;
                let (steps, owners) = (&*known.steps, &*known.owners);
                let values =
                    by_tile(&run.report, steps, owners, operation, figure, cancel.progress());
                let counted = |values: Vec<u64>| {
                    let most = values.iter().copied().max().unwrap_or(0);
                    OperationOnTiles { values, most, version: new_version() }
                };
                Some(values.map(counted))
            };
            runs.iter().enumerate().map(of_run).collect()
        });
        let Some(of_runs) = self.found.get((runs, NEEDS), &key) else {
            ui.weak(self.found.failure().unwrap_or("Adding up tiles"));
            return;
        };
        let known = || of_runs.iter().flatten().flatten();
        let tiles = known().map(|it| it.values.len()).max().unwrap_or(0);
        let most = known().map(|it| it.most).max();
        let Some(most) = most.filter(|most| *most > 0) else {
            for (run, of_run) in runs.iter().zip(of_runs) {
                // Nothing is known, or nothing is there.
                let why = match (of_run, figure) {
                    (None, _) => continue,
                    (Some(Err(why)), _) => why.to_string(),
                    (_, FigureByTile::Code) => "It has no code of its own on any tile".to_owned(),
                    _ => "0 cycles on every tile".to_owned(),
                };
                ui.weak(if runs.is_one() { why } else { format!("{}: {why}", run.title) });
            }
            return;
        };
        let size = ui.available_size().max(Vec2::new(120.0, 70.0));
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let frame = Rect::from_min_max(
            rect.min + Vec2::new(LEFT, ABOVE),
            rect.max - Vec2::new(10.0, BELOW),
        );
        let top = most as f64 * 1.06;
        axes_ui(ui, frame, figure, top, tiles);
        let (tokens, units) = (*Tokens::now(ui), Units::now(ui));
        self.bins.resize_with(of_runs.len(), BinCache::default);
        let seen = (-0.5, tiles as f64 - 0.5);
        let per_tile = frame.width() / tiles.max(1) as f32;
        let height = |value: u64| frame.height() * (value as f64 / top) as f32;
        for ((of_run, bins), run) in of_runs.iter().zip(&mut self.bins).zip(runs.iter()) {
            let Some(Ok(of_run)) = of_run else { continue };
            let columns = frame.width().max(1.0) as usize;
            let values = BinValues::Known(&of_run.values);
            let bins = bins.get(of_run.version, values, seen, columns);
            let x = |tile: usize| frame.left() + per_tile * tile as f32;
            if runs.is_one() {
                for bin in bins {
                    let bar = Rect::from_min_max(
                        Pos2::new(x(bin.from), frame.bottom() - height(bin.max)),
                        Pos2::new(x(bin.to), frame.bottom()),
                    );
                    ui.painter().rect_filled(bar, 0, tokens.temporary);
                }
            } else {
                let points = bins.iter().flat_map(|bin| {
                    let y = frame.bottom() - height(bin.max);
                    [Pos2::new(x(bin.from), y), Pos2::new(x(bin.to), y)]
                });
                let line = Shape::line(points.collect(), Stroke::new(1.5, run.color(ui)));
                ui.painter().with_clip_rect(frame).add(line);
            }
        }
        let title = title(figure);
        let operation = key.1.in_words();
        let said = format!("{title} by tile of {}", shortened(&operation, 120));
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, said.clone()));
        let Some(pointer) = response.hover_pos().filter(|at| frame.contains(*at)) else { return };
        let tile = (((pointer.x - frame.left()) / per_tile) as usize).min(tiles - 1);
        ui.painter().vline(pointer.x, frame.y_range(), Stroke::new(1.0, tokens.ink));
        let target = runs.machine();
        let tile_name = tile_text(target, TileId(u32::try_from(tile).unwrap_or(u32::MAX)));
        let mut lines = vec![tile_name];
        for (of_run, run) in of_runs.iter().zip(runs.iter()) {
            let value = match of_run {
                Some(Ok(of_run)) => of_run.values.get(tile).map(|value| match figure {
                    FigureByTile::Code => units.exact(*value),
                    FigureByTile::EstimatedCycles | FigureByTile::MeasuredCycles => {
                        format!("{} cycles", grouped(*value))
                    }
                }),
                Some(Err(why)) => Some(why.to_string()),
                None => None,
            };
            let value = value.unwrap_or_else(|| "–".to_owned());
            let of = if runs.is_one() { String::new() } else { format!("{}: ", run.title) };
            lines.push(format!("{of}{value}"));
        }
        response.on_hover_text_at_pointer(lines.join("\n"));
    }
}

fn axes_ui(ui: &egui::Ui, frame: Rect, figure: FigureByTile, top: f64, tiles: usize) {
    let (painter, units, tokens) = (ui.painter(), Units::now(ui), Tokens::now(ui));
    let font = fonts::regular(size::CAPTION);
    let least = top * f64::from(TICKS / frame.height().max(1.0));
    let step = match figure {
        FigureByTile::Code => bytes_step(least, units),
        FigureByTile::EstimatedCycles | FigureByTile::MeasuredCycles => whole_step(least),
    };
    for value in multiples(step, (0.0, top)) {
        let y = frame.bottom() - frame.height() * (value / top) as f32;
        painter.hline(frame.x_range(), y, Stroke::new(1.0, tokens.grid));
        let text = match figure {
            FigureByTile::Code => bytes_text(value, step, top, units),
            FigureByTile::EstimatedCycles | FigureByTile::MeasuredCycles => grouped(value as u64),
        };
        let at = Pos2::new(frame.left() - 8.0, y);
        painter.text(at, Align2::RIGHT_CENTER, text, font.clone(), tokens.weak_text);
    }
    let step = whole_step(tiles as f64 * f64::from(TICKS_ACROSS / frame.width().max(1.0)));
    for tile in multiples(step, (0.0, tiles.saturating_sub(1) as f64)) {
        let x = frame.left() + frame.width() * ((tile + 0.5) / tiles.max(1) as f64) as f32;
        let at = Pos2::new(x, frame.bottom() + 4.0);
        let text = format!("{tile:.0}");
        painter.text(at, Align2::CENTER_TOP, text, font.clone(), tokens.weak_text);
    }
}
