//! The fullest tiles of each run and how many are over: the answer of the page about all tiles, and the way to the
//! worst ones.

use eframe::egui;

use super::super::PageContext;
use crate::analysis::insights::fullest_tiles::{FullTile, fullest_tiles};
use crate::analysis::memory::over_limit_bytes;
use crate::analysis::memory::selection::TileSelection;
use crate::store::{Report, TileId};
use crate::text::{counted, grouped};
use crate::ui::report::head::Answer;
use crate::ui::report::tile_figures::tile_text;
use crate::ui::runs::{Needed, PerRun, Run, Runs, RunsAnswer};
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::sign::Sign;

/// Tiles in the list of the worst.
const MOST: usize = 12;

pub struct TilesOfRun {
    pub fullest: Vec<FullTile>,
    tiles: usize,
    over: usize,
}

/// Asked for once by all maps of the page.
#[derive(Default)]
pub struct AskedTiles(RunsAnswer<(), PerRun<TilesOfRun>>);

impl TilesOfRun {
    fn new(report: &Report) -> Self {
        let memory = report.memory.get();
        let tiles = memory.map_or(0, |memory| memory.tiles.len());
        let over = memory.map_or(0, |memory| {
            let is_over =
                |row: &usize| over_limit_bytes(memory, report.target.get(), *row) > Some(0);
            (0..tiles).filter(is_over).count()
        });
        Self { fullest: fullest_tiles(report, MOST), tiles, over }
    }

    /// `221 of 1,472 tiles over, tile 39 by most, 1.50 KiB`.
    fn answer(&self, report: &Report, units: Units) -> Option<Answer> {
        let first = self.fullest.first()?;
        match (first.over_limit_bytes?, self.over) {
            (_, 0) => {
                let free = report.bytes_per_tile()?.saturating_sub(first.bytes);
                let text = format!("All fit, {} free on the fullest", units.bytes(free));
                Some((Sign::Fits, text))
            }
            (over, count) => {
                let all = grouped(self.tiles as u64);
                let (tile, over) = (first.tile, units.bytes(over));
                let text = format!(
                    "{} of {all} tiles over, tile {tile} by most, {over}",
                    grouped(count as u64)
                );
                Some((Sign::Over, text))
            }
        }
    }
}

impl AskedTiles {
    pub fn ask(&mut self, ui: &egui::Ui, page: &PageContext<'_>) {
        let needs = (page.runs, &[Needed::Memory][..]);
        self.0.ask("fullest tiles", ui.ctx(), needs, &(), |runs, _| {
            runs.each(|run| TilesOfRun::new(&run.report))
        });
    }

    fn of_runs(&self, runs: &Runs) -> &[TilesOfRun] {
        self.0.last(runs).map_or(&[], |((), found)| found)
    }

    /// Whether all tiles fit, in each run.
    pub fn answer(&self, runs: &Runs, units: Units) -> Option<Answer> {
        let of_run = |(run, tiles): (&Run, &TilesOfRun)| {
            let (sign, text) = tiles.answer(&run.report, units)?;
            if runs.is_one() {
                return Some((sign, text));
            }
            let text = match sign {
                Sign::Over => {
                    format!("{}: {} over", run.badge.letter, counted(tiles.over as u64, "tile"))
                }
                _ => format!("{}: fits", run.badge.letter),
            };
            Some((sign, text))
        };
        together(runs.iter().zip(self.of_runs(runs)).filter_map(of_run))
    }

    /// The list of the fullest tiles, with by how much they are over or have room; a click selects one. Says
    /// which.
    pub fn worst_ui(&self, ui: &mut egui::Ui, page: &mut PageContext<'_>) -> Option<TileId> {
        let (runs, units) = (page.runs, Units::now(ui));
        let of_runs = self.of_runs(runs);
        if of_runs.iter().all(|tiles| tiles.fullest.is_empty()) {
            return None;
        }
        let mut chosen = None;
        let menu = ui.menu_button("Worst tiles ▾", |ui| {
            for (run, tiles) in runs.iter().zip(of_runs) {
                if !runs.is_one() {
                    ui.label(fonts::caption(format!("{} {}", run.badge.letter, run.title)));
                }
                let limit = run.report.bytes_per_tile();
                for full in &tiles.fullest {
                    let tile = TileId(full.tile);
                    let mut text = tile_text(run.report.target.get(), tile);
                    text = match (full.over_limit_bytes, limit) {
                        (Some(over), _) if over > 0 => {
                            format!("{text} · {} over", units.bytes(over))
                        }
                        (_, Some(limit)) => {
                            let free = limit.saturating_sub(full.bytes);
                            format!("{text} · {} free", units.bytes(free))
                        }
                        _ => format!("{text} · {}", units.bytes(full.bytes)),
                    };
                    if ui.button(text).clicked() {
                        chosen = Some(tile);
                        ui.close();
                    }
                }
            }
        });
        menu.response.on_hover_text("The tiles with most bytes, gaps included");
        if let Some(tile) = chosen {
            page.selection.tiles = TileSelection::one(tile);
        }
        chosen
    }
}

/// The answers of several runs in one line, with the sign of the worst.
pub fn together(answers: impl Iterator<Item = Answer>) -> Option<Answer> {
    answers.reduce(|(sign, text), (other, more)| {
        let sign = if other == Sign::Over { other } else { sign };
        (sign, format!("{text} · {more}"))
    })
}
