//! The fullest tiles of each run and how many are over: the answer of the page about all tiles, and the way to the
//! worst ones.

use eframe::egui;

use super::super::PageContext;
use super::super::room::{of_part, room_of};
use crate::analysis::comparison::facts::Fit;
use crate::analysis::memory::fullest_tiles::{FullTile, fullest_tiles};
use crate::analysis::memory::selection::TileSelection;
use crate::store::{Report, TileId};
use crate::text::grouped;
use crate::ui::report::head::SignedAnswer;
use crate::ui::report::tile_figures::tile_text;
use crate::ui::runs::{Needed, PerRun, Run, Runs, RunsAnswer};
use crate::ui::theme::fonts;
use crate::ui::units::Units;
use crate::ui::widget::exports::answer_of_exports;
use crate::ui::widget::sign::{Sign, answer_ui};

/// Tiles in the list of the worst.
const MOST: usize = 12;

pub struct TilesOfRun {
    pub fullest: Vec<FullTile>,
    fit: Option<Fit>,
}

/// Asked for once by all maps of the page.
#[derive(Default)]
pub struct AskedTiles(RunsAnswer<(), PerRun<TilesOfRun>>);

impl TilesOfRun {
    fn new(run: &Run) -> Self {
        run.derived.verdict();
        Self { fullest: fullest_tiles(&run.report, MOST), fit: run.derived.fit() }
    }

    /// `221 of 1,472 tiles over, tile 39 by most, 1.50 KiB`.
    fn answer(&self, report: &Report, units: Units) -> Option<SignedAnswer> {
        let (first, fit) = (self.fullest.first()?, self.fit?);
        match (first.over_limit_bytes?, fit.tiles_over?) {
            (_, 0) => {
                let free = report.bytes_per_tile()?.saturating_sub(first.bytes);
                let text = format!("All fit, {} free on the fullest", units.bytes(free));
                Some((Sign::Fits, text))
            }
            (over, count) => {
                let all = grouped(fit.tiles);
                let (tile, over) = (first.tile, units.bytes(over));
                let text =
                    format!("{} of {all} tiles over, tile {tile} by most, {over}", grouped(count));
                Some((Sign::Over, text))
            }
        }
    }
}

impl AskedTiles {
    pub fn ask(&mut self, ui: &egui::Ui, page: &PageContext<'_>) {
        let needs = (page.runs, &[Needed::Memory][..]);
        self.0.ask("fullest tiles", ui.ctx(), needs, &(), |runs, _| runs.each(TilesOfRun::new));
    }

    /// Asks, and draws the head of a view of all tiles: `views` chooses what is shown; the worst tiles, the answer.
    pub fn head_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        views: impl FnOnce(&mut egui::Ui),
    ) {
        self.ask(ui, page);
        let answer = self.answer(page.runs, Units::now(ui));
        answer_of_exports(ui, answer.as_ref());
        ui.horizontal(|ui| {
            ui.set_min_height(30.0);
            views(ui);
            self.worst_ui(ui, page);
            if let Some((sign, text)) = &answer {
                answer_ui(ui, *sign, text);
            }
        });
        ui.add_space(4.0);
    }

    fn of_runs(&self, runs: &Runs) -> &[TilesOfRun] {
        self.0.last(runs).map_or(&[], |((), found)| found)
    }

    /// Whether all tiles fit, in each run.
    pub fn answer(&self, runs: &Runs, units: Units) -> Option<SignedAnswer> {
        let of_run = |(run, tiles): (&Run, &TilesOfRun)| {
            let (sign, text) = of_part(run, tiles.answer(&run.report, units)?, units);
            if runs.is_one() {
                return Some((sign, text));
            }
            let brief = &run.derived.known_verdict()?.short;
            Some((sign, format!("{}: {brief}", run.badge.letter)))
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
                    let text = tile_text(run.report.target.get(), tile);
                    let room = limit.map_or_else(
                        || units.bytes(full.bytes),
                        |limit| room_of(full.bytes, limit, units).1,
                    );
                    if ui.button(format!("{text} · {room}")).clicked() {
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
pub fn together(answers: impl Iterator<Item = SignedAnswer>) -> Option<SignedAnswer> {
    answers.reduce(|(sign, text), (other, more)| {
        let sign = if other == Sign::Over { other } else { sign };
        (sign, format!("{text} · {more}"))
    })
}
