//! The cores of chips, each at its place of the grid, colored by what they have in use at an operation; the inspector has
//! the parts of the core that is pointed at or selected.

use eframe::egui::{self, Align, Layout, Vec2};
use std::sync::Arc;

use super::super::summary::together;
use super::picture::{GridValues, TileGrids};
use super::scale::{ColorScale, GridChoices};
use super::{EXPORTS, GridChoice, GridResponse, GridsShown};
use crate::analysis::memory::selection::TileSelection;
use crate::analysis::memory::tile_grid::{DeviceGrid, TileGrid};
use crate::run::cores::{CoreFigure, CoresAtStep};
use crate::store::TileId;
use crate::store::ids::IdColumn;
use crate::text::capitalised;
use crate::ui::command::{Command, ExportSource};
use crate::ui::job::{Made, Same};
use crate::ui::report::head::SignedAnswer;
use crate::ui::report::moment::step_id;
use crate::ui::report::room::{of_part, room_box_ui, room_of};
use crate::ui::report::side_by_side::side_by_side_ui;
use crate::ui::report::step_choice::step_choice_ui;
use crate::ui::report::{PageContext, bytes_or_dash, run_title_ui};
use crate::ui::runs::{PerRun, Run, Runs, RunsAnswer};
use crate::ui::selection::Jump;
use crate::ui::theme::{Tokens, card_frame, fonts};
use crate::ui::units::Units;
use crate::ui::widget::bar::Bar;
use crate::ui::widget::choice::choice_ui;
use crate::ui::widget::diverging::ChangeScale;
use crate::ui::widget::exports::{answer_of_exports, exportable, exports_ui, is_taken_out};
use crate::ui::widget::inspector::{fact_ui, inspector_ui, part_ui, title_ui, words_ui};
use crate::ui::widget::picture::{ImageTexture, link};
use crate::ui::widget::sign::answer_ui;

/// What the view is called, and its picture.
pub const TITLE: &str = "Grid of cores";
const NAME: &str = "grid of cores";

/// The cores of each run, where it has them at the step.
type CoresOfRuns = PerRun<Option<Arc<CoresAtStep>>>;
/// What the grids are made of: cores, the figure, the scale, the theme.
type GridsKey = (Vec<Option<Same<CoresAtStep>>>, Option<&'static str>, ColorScale, bool);

pub struct CoreGridView {
    /// The title of the figure; `None` of the usual one.
    figure: Option<&'static str>,
    choices: GridChoices,
    selected: TileSelection,
    pointed: Option<TileId>,
    cores: RunsAnswer<Vec<Option<usize>>, CoresOfRuns>,
    /// The fullest step of each run.
    fullest: PerRun<Option<usize>>,
    grids: Made<GridsKey, Arc<TileGrids>>,
    textures: Vec<ImageTexture>,
}

impl Default for CoreGridView {
    fn default() -> Self {
        // Mostly all cores have nearly the same, of which only the limit tells much.
        let choices = GridChoices { scale: ColorScale::ZeroToLimit, ..GridChoices::default() };
        Self {
            figure: None,
            choices,
            selected: TileSelection::default(),
            pointed: None,
            cores: RunsAnswer::default(),
            fullest: Vec::new(),
            grids: Made::default(),
            textures: Vec::new(),
        }
    }
}

/// Whether all runs have such cores.
pub fn have_cores(runs: &Runs) -> bool {
    runs.iter().all(|run| run.derived.answers().has_cores())
}

impl CoreGridView {
    /// The same figures of runs that were read again.
    pub fn of_other_figures(self) -> Self {
        let Self { figure, choices, selected, .. } = self;
        Self { figure, choices, selected, ..Self::default() }
    }

    /// Draws the grids in the space that is left; `views` draws the choice of what is shown.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        views: impl FnOnce(&mut egui::Ui),
    ) {
        let runs = Arc::clone(page.runs);
        let steps = steps_of(page, &runs);
        let for_job = steps.clone();
        self.cores.ask("cores of chips", ui.ctx(), (&runs, &[]), &steps, move |runs, cancel| {
            let of_run = |(run, step): (&Run, &Option<usize>)| {
                let cores = run.derived.answers().cores(&run.derived, *step, cancel.progress());
                cores.map(Arc::new)
            };
            runs.iter().zip(&for_job).map(of_run).collect()
        });
        let found = self.cores.last(&runs).map(|(_, found)| found.clone()).unwrap_or_default();
        self.remember_fullest(&runs, &found);
        Self::head_ui(ui, page, &found, views);
        if found.iter().all(Option::is_none) {
            ui.weak(self.cores.failure().unwrap_or("Reading what cores have…"));
            return;
        }
        self.inspector_ui(ui, page, &found);
        let card = card_frame(Tokens::now(ui)).inner_margin(10);
        let card = card.show(ui, |ui| self.grids_ui(ui, page, &found));
        exportable(ui, NAME, card.response.rect);
    }

    fn remember_fullest(&mut self, runs: &Runs, found: &CoresOfRuns) {
        self.fullest.resize(runs.len(), None);
        for (fullest, cores) in self.fullest.iter_mut().zip(found) {
            if let Some(cores) = cores.as_ref().filter(|cores| cores.is_fullest) {
                *fullest = Some(cores.step);
            }
        }
    }

    fn head_ui(
        ui: &mut egui::Ui,
        page: &PageContext<'_>,
        found: &CoresOfRuns,
        views: impl FnOnce(&mut egui::Ui),
    ) {
        let (runs, units) = (page.runs, Units::now(ui));
        let of_run = |(run, cores): (&Run, &Option<Arc<CoresAtStep>>)| {
            let (sign, text) = answer(run, cores.as_deref()?, units)?;
            let of = if runs.is_one() { String::new() } else { format!("{}: ", run.badge.letter) };
            Some((sign, format!("{of}{text}")))
        };
        let answer = together(runs.iter().zip(found).filter_map(of_run));
        answer_of_exports(ui, answer.as_ref());
        ui.horizontal(|ui| {
            ui.set_min_height(30.0);
            views(ui);
            if let Some((sign, text)) = &answer {
                answer_ui(ui, *sign, text);
            }
        });
        ui.add_space(4.0);
    }

    fn grids_ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>, found: &CoresOfRuns) {
        let Some(first) = found.iter().flatten().next().cloned() else { return };
        let title = self.figure.filter(|title| first.figures.iter().any(|of| of.title == *title));
        let figure = title.or_else(|| first.figures.first().map(|figure| figure.title));
        let is_dark = ui.visuals().dark_mode;
        let same = found.iter().map(|cores| cores.clone().map(Same)).collect();
        let key: GridsKey = (same, figure, self.choices.scale, is_dark);
        let tokens = *Tokens::now(ui);
        let choices = self.choices.clone();
        let grids = self.grids.of(key, |(cores, figure, _, is_dark)| {
            let cores: Vec<Option<&CoresAtStep>> =
                cores.iter().map(|cores| cores.as_ref().map(|Same(cores)| &**cores)).collect();
            let choice = GridChoice {
                choices,
                changes: ChangeScale::default(),
                changed: None,
                is_dark: *is_dark,
            };
            Arc::new(TileGrids::of(grid_values(&cores, *figure), &choice, &tokens))
        });
        let grids = Arc::clone(grids);
        self.choices_ui(ui, page, &first, figure, &grids);
        let notes = found.iter().flatten().map(|cores| cores.note.as_str());
        if let Some(note) = notes.into_iter().find(|note| !note.is_empty()) {
            ui.add(egui::Label::new(fonts::caption(note).weak()).wrap());
        }
        self.textures.resize_with(grids.pictures.len(), ImageTexture::default);
        let (selected, common) = (self.selected.clone(), common(found));
        let title_of = |tile: TileId| {
            let title = common.as_ref().and_then(|cores| cores.title_of(tile.0 as usize));
            title.unwrap_or_else(|| format!("Core {tile}"))
        };
        let device_title = |chip: u32| {
            let chip = common.as_ref().and_then(|cores| cores.chips.get(chip as usize));
            chip.map_or_else(String::new, |chip| {
                let operation = chip.operation.as_ref().map(|name| format!(" at {name}"));
                format!("{}{}", capitalised(&chip.title), operation.unwrap_or_default())
            })
        };
        let shown = GridsShown {
            grids: &grids,
            figure: figure.unwrap_or_default(),
            pointed: self.pointed,
            units: Units::now(ui),
            selected: &selected,
            title_of: &title_of,
            device_title: &device_title,
            has_cells: true,
        };
        let mut answer = GridResponse::default();
        let textures = &mut self.textures;
        if let ([picture], [texture]) = (&grids.pictures[..], &mut textures[..]) {
            answer = shown.ui(ui, page, TITLE, (picture, grids.values_of_run(0)), texture, None);
        } else {
            let runs = Arc::clone(page.runs);
            side_by_side_ui(ui, &runs, |ui, place, run| {
                let picture = grids.pictures.get(place).zip(textures.get_mut(place));
                let Some((picture, texture)) = picture else { return };
                let name = format!("{TITLE} of {}", run.the());
                let of = (picture, grids.values_of_run(place));
                answer = answer.or(shown.ui(ui, page, &name, of, texture, None));
            });
        }
        answer.select(ui, &mut self.selected);
        link(ui, &mut self.pointed, answer.pointed, true);
        if answer.by_key.is_entered
            && let Some((chip, ..)) =
                first.place_of(self.selected.first().map_or(0, |it| it.0 as usize))
        {
            page.commands.push(Command::GoTo(Jump::Map(chip.arena.tile())));
        }
    }

    /// The figure, the scale with its colors, the step.
    fn choices_ui(
        &mut self,
        ui: &mut egui::Ui,
        page: &mut PageContext<'_>,
        cores: &CoresAtStep,
        figure: Option<&'static str>,
        grids: &TileGrids,
    ) {
        ui.horizontal_top(|ui| {
            let width = (ui.available_width() - EXPORTS).max(120.0);
            let lines = Layout::top_down(Align::Min);
            ui.allocate_ui_with_layout(Vec2::new(width, 20.0), lines, |ui| {
                ui.horizontal_wrapped(|ui| {
                    let mut now = figure.unwrap_or_default();
                    let figures = cores.figures.iter().map(|figure| figure.title);
                    let title = |title: &&'static str| *title;
                    let rule = cores.figures.iter().find(|of| Some(of.title) == figure);
                    let rule = rule.map_or("", |figure| figure.rule);
                    choice_ui(ui, "Figure", 170.0, &mut now, figures, title).on_hover_text(rule);
                    self.figure = Some(now).filter(|now| !now.is_empty());
                    self.choices.scale_ui(ui, grids.ends, grids.over);
                });
                step_choice_ui(ui, page, "Fullest operation", &self.fullest, "a core");
            });
            if !is_taken_out(ui.ctx()) {
                ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                    let picture = || Some(ExportSource::Picture);
                    exports_ui(ui, "picture", NAME, true, page.commands, picture);
                });
            }
        });
    }

    /// Docks the inspector of the core that is pointed at, else of the first selected one, else of the fullest.
    fn inspector_ui(&self, ui: &mut egui::Ui, page: &mut PageContext<'_>, found: &CoresOfRuns) {
        let runs = Arc::clone(page.runs);
        let wanted = self.pointed.or(self.selected.first()).map(|tile| tile.0 as usize);
        inspector_ui(ui, |ui| {
            for (run, cores) in runs.iter().zip(found) {
                let Some(cores) = cores else { continue };
                if !runs.is_one() {
                    run_title_ui(ui, run);
                }
                let core = wanted.or_else(|| fullest_core(cores)).unwrap_or(0);
                core_ui(ui, page, run, cores, (core, wanted.is_some()));
                ui.add_space(6.0);
            }
        });
    }
}

/// The step of each run that is selected.
fn steps_of(page: &PageContext<'_>, runs: &Runs) -> Vec<Option<usize>> {
    let slot = page.selection.slot(runs);
    let of_run = |(place, run): (usize, &Run)| {
        let of_slot = || runs.axis()?.step_at_or_before(place, slot?);
        page.selection.step_of(run.id).or_else(of_slot)
    };
    runs.iter().enumerate().map(of_run).collect()
}

/// The grid of the run with the largest one, by whose places cores of all runs are called.
fn common(found: &CoresOfRuns) -> Option<CoresAtStep> {
    let columns = found.iter().flatten().map(|cores| cores.columns).max()?;
    let lines = found.iter().flatten().map(|cores| cores.lines).max()?;
    let most = found.iter().flatten().max_by_key(|cores| cores.chips.len())?;
    Some(CoresAtStep { columns, lines, chips: most.chips.clone(), ..CoresAtStep::default() })
}

/// A figure of all runs in the same places.
fn grid_values(found: &[Option<&CoresAtStep>], title: Option<&str>) -> GridValues {
    let most = |size: fn(&CoresAtStep) -> usize| {
        found.iter().flatten().map(|cores| size(cores)).max().unwrap_or(0)
    };
    let columns = most(|cores| cores.columns).max(1);
    let (lines, chips) = (most(|cores| cores.lines), most(|cores| cores.chips.len()));
    let of_chip = columns * lines;
    let mut tiles = IdColumn::default();
    (0..of_chip * chips).all(|tile| u32::try_from(tile).is_ok_and(|it| tiles.push(TileId(it))));
    let values_of = |cores: Option<&CoresAtStep>| {
        let Some(cores) = cores else { return vec![None; tiles.len()] };
        let of_title = |figure: &&CoreFigure| Some(figure.title) == title;
        let figure = cores.figures.iter().find(of_title);
        let value = |place: usize| {
            let (chip, within) = (place / of_chip.max(1), place % of_chip.max(1));
            let (column, line) = (within % columns, within / columns);
            let is_there = column < cores.columns && line < cores.lines;
            let own = chip * cores.cores_of_chip() + line * cores.columns + column;
            *figure?.bytes.get(own).filter(|_| is_there)?
        };
        (0..tiles.len()).map(value).collect()
    };
    let has_limit = |cores: &CoresAtStep| {
        cores.figures.iter().any(|figure| Some(figure.title) == title && figure.has_limit)
    };
    let limit_of =
        |cores: &CoresAtStep| cores.chips.iter().filter_map(|chip| chip.limit_bytes).min();
    let device = |chip: usize| DeviceGrid {
        device: u32::try_from(chip).ok(),
        rows: chip * of_chip..(chip + 1) * of_chip,
        lines,
    };
    GridValues {
        grid: TileGrid { columns, devices: (0..chips).map(device).collect() },
        values: found.iter().copied().map(values_of).collect(),
        limit: found.iter().flatten().filter_map(|cores| limit_of(cores)).max(),
        overs: (found.iter())
            .map(|cores| cores.filter(|cores| has_limit(cores)).and_then(limit_of))
            .collect(),
        tiles,
    }
}

/// The core with most of the usual figure, the first of equals.
fn fullest_core(cores: &CoresAtStep) -> Option<usize> {
    let usual = cores.figures.first()?;
    let most = usual.bytes.iter().flatten().max()?;
    usual.bytes.iter().position(|bytes| bytes.as_ref() == Some(most))
}

/// `58 KiB free on the fullest core at operation 34, ttnn.matmul`.
fn answer(run: &Run, cores: &CoresAtStep, units: Units) -> Option<SignedAnswer> {
    let core = fullest_core(cores)?;
    let usual = cores.figures.first()?;
    let most = (*usual.bytes.get(core)?)?;
    let (chip, ..) = cores.place_of(core)?;
    let report = &run.report;
    let operation = chip.operation.as_deref().unwrap_or_default();
    let moment =
        format!("{} {}, {operation}", report.system.step_in_text, step_id(report, cores.step));
    let limit = chip.limit_bytes?;
    let (sign, room) = room_of(most, limit, units);
    let count = usual.bytes.iter().filter(|bytes| **bytes == Some(most)).count();
    let all = usual.bytes.iter().flatten().count();
    let whose = match count {
        _ if count == all => "on every core".to_owned(),
        1 => "on the fullest core".to_owned(),
        _ => format!("on each of the {count} fullest cores"),
    };
    Some(of_part(run, (sign, format!("{room} {whose} at {moment}")), units))
}

/// What is known of a core in a run.
fn core_ui(
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    run: &Run,
    cores: &CoresAtStep,
    (core, is_chosen): (usize, bool),
) {
    let (units, tokens) = (Units::now(ui), *Tokens::now(ui));
    let Some((chip, ..)) = cores.place_of(core) else {
        ui.weak("This run has no such core");
        return;
    };
    let report = &run.report;
    let kind = if is_chosen { "Core: column, line" } else { "Fullest core: column, line" };
    let step = step_id(report, cores.step);
    let operation = chip.operation.as_deref().unwrap_or("no operation");
    let of = format!("{} {step}, {operation}", report.system.step);
    title_ui(ui, kind, &cores.title_of(core).unwrap_or_default(), &of);
    let value = |figure: &CoreFigure| figure.bytes.get(core).copied().flatten();
    let usual = cores.figures.first().and_then(value);
    if let (Some(bytes), Some(limit)) = (usual, chip.limit_bytes) {
        room_box_ui(ui, run, false, room_of(bytes, limit, units), |ui| {
            let bar = Bar {
                parts: &[(bytes, tokens.temporary)],
                whole: limit.max(bytes).saturating_add(limit / 12),
                limit: Some(limit),
            };
            ui.add_space(4.0);
            bar.ui(ui, egui::vec2(ui.available_width(), 10.0));
        });
        ui.add_space(4.0);
    }
    for figure in &cores.figures {
        let bytes = value(figure);
        let bar = Bar {
            parts: &[(bytes.unwrap_or(0), tokens.temporary)],
            whole: chip.limit_bytes.unwrap_or(0),
            limit: None,
        };
        part_ui(ui, figure.title, &bytes_or_dash(bytes, units), &bar);
    }
    if let Some(limit) = chip.limit_bytes {
        fact_ui(ui, "A core has", &units.bytes(limit));
    }
    ui.add_space(4.0);
    if ui.button(format!("Map of {}", report.arena_title(chip.arena))).clicked() {
        page.commands.push(Command::GoTo(Jump::Map(chip.arena.tile())));
    }
    let note = "One map stands for all cores: buffers lie at the same addresses of each.";
    words_ui(ui, fonts::caption(note).weak());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::cores::ChipOfCores;
    use crate::store::ArenaId;

    fn cores(columns: usize, lines: usize, chips: usize) -> CoresAtStep {
        let chip = ChipOfCores {
            title: String::new(),
            arena: ArenaId(0),
            limit_bytes: Some(10),
            operation: None,
        };
        let bytes = (0..columns * lines * chips).map(|core| Some(core as u64)).collect();
        let figure =
            CoreFigure { title: "In use", has_limit: true, bytes, ..CoreFigure::default() };
        CoresAtStep {
            columns,
            lines,
            chips: vec![chip; chips],
            figures: vec![figure],
            ..CoresAtStep::default()
        }
    }

    #[test]
    fn cores_of_runs_with_different_grids_stand_in_the_same_places() {
        let (one, other) = (cores(2, 2, 1), cores(3, 1, 2));
        let of = grid_values(&[Some(&one), Some(&other), None], Some("In use"));
        assert_eq!((of.grid.columns, of.grid.devices.len(), of.tiles.len()), (3, 2, 12));
        let some = |values: [i64; 6]| values.map(|value| u64::try_from(value).ok()).to_vec();
        assert_eq!(of.values[0][..6], some([0, 1, -1, 2, 3, -1]));
        assert_eq!(of.values[1][..6], some([0, 1, 2, -1, -1, -1]));
        assert_eq!(of.values[1][6..], some([3, 4, 5, -1, -1, -1]));
        assert_eq!(of.values[2], vec![None; 12]);
        assert_eq!((of.limit, of.overs), (Some(10), vec![Some(10), Some(10), None]));
    }

    #[test]
    fn the_fullest_core_is_the_first_of_equals() {
        let mut cores = cores(2, 2, 1);
        cores.figures[0].bytes = vec![Some(1), Some(5), None, Some(5)];
        assert_eq!(fullest_core(&cores), Some(1));
        cores.figures[0].bytes = vec![None; 4];
        assert_eq!(fullest_core(&cores), None);
    }
}
