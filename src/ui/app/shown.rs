//! The part of the window that is drawn without a user: the view, what is selected on it, and its picture.

use eframe::egui;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::App;
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::analysis::memory::selection::TileSelection;
use crate::run::Room;
use crate::store::{Report, TileId, Warning};
use crate::ui::card_fields::RoomFields;
use crate::ui::command::{Command, Page, Tool};
use crate::ui::export::{Scene, scene_of};
use crate::ui::loading::LoadFailure;
use crate::ui::open_runs::RequestedRun;
use crate::ui::pages::PAGES;
use crate::ui::runs::StepAt;
use crate::views::View;

impl App {
    /// Why the first of the runs cannot be opened that cannot.
    pub(in crate::ui) fn failure(&self) -> Option<LoadFailure> {
        self.open.failures().into_iter().next().map(|(_, failure)| failure)
    }

    /// The first run, as soon as its files are found.
    pub(in crate::ui) fn reference(&self) -> Option<&Arc<Derived>> {
        self.open.iter().next().and_then(|run| run.load.derived())
    }

    /// Of all runs, whose names stand before the files of several.
    pub(in crate::ui) fn warnings(&self) -> Vec<Warning> {
        let names = self.open.names();
        let of_run = |(run, name): (&RequestedRun, &String)| {
            let named = |warning: Warning| match self.open.len() {
                ..=1 => warning,
                _ => Warning { file: format!("{name}: {}", warning.file), ..warning },
            };
            let list = run.report().map_or_else(Vec::new, |report| report.warnings.list());
            list.into_iter().map(named).collect::<Vec<_>>()
        };
        self.open.iter().zip(&names).flat_map(of_run).collect()
    }

    pub(in crate::ui) fn paths(&self) -> Vec<PathBuf> {
        self.open.paths().into_iter().map(Path::to_owned).collect()
    }

    /// The step with the most bytes in a part of the machine, of the first run.
    pub(in crate::ui) fn peak_step(&mut self, ctx: &egui::Context, scope: Scope) -> Option<usize> {
        let runs = self.open.runs(ctx)?;
        let timeline = runs.reference().derived.timeline(scope, &|| false)?;
        crate::analysis::liveness::peak(&timeline.curve.not_always_live)
    }

    /// Reads a directory of reports.
    /// Takes what a command line says of the device.
    pub(in crate::ui) fn set_room(&mut self, room: Room) {
        self.view.room = RoomFields::of(room);
        self.sweep.set_room(room);
    }

    pub(in crate::ui) fn open_sweep(&mut self, ctx: &egui::Context, directory: PathBuf) {
        self.carry_out(ctx, Command::OpenSweep(directory));
    }

    /// Shows a view of a part of the machine, with a tile and a step of the first run selected.
    pub(in crate::ui) fn show_view(
        &mut self,
        view: View,
        scope: Scope,
        tile: Option<TileId>,
        step: Option<usize>,
    ) {
        let selected = &mut self.view.selections.now;
        if let Some(tile) = tile {
            selected.tiles = TileSelection::one(tile);
        }
        let run = self.open.iter().next().map(|run| run.id);
        selected.steps.extend(run.zip(step).map(|(run, step)| StepAt { run, step }));
        match page_of(view) {
            Some(page) => {
                self.view.show_view(page, view, scope);
                self.tool = None;
            }
            None => {
                self.sweep.show_view(view);
                self.tool = Some(Tool::Sweep);
            }
        }
    }

    /// Why the view is not there.
    pub(in crate::ui) fn why_no_view(&self, view: View) -> Option<String> {
        let Some(page) = page_of(view) else { return self.sweep.why_not() };
        let entry = PAGES.iter().find(|entry| entry.page == page)?;
        let reports: Vec<&Report> =
            self.open.iter().filter_map(|run| run.report()).map(|report| &**report).collect();
        if reports.is_empty() {
            return None;
        }
        entry.why_not(&reports).map(std::borrow::Cow::into_owned)
    }

    /// The picture of the page that has a name, as it was painted in this pass.
    pub(in crate::ui) fn scene(&self, ctx: &egui::Context, name: &str) -> Option<Scene> {
        scene_of(ctx, &self.about(ctx), name)
    }
}

/// The page that a view belongs to; `None` of a sweep, which is no page of a report.
fn page_of(view: View) -> Option<Page> {
    Some(match view {
        View::Overview | View::Histogram => Page::Overview,
        View::Summary | View::CompilerPhases => Page::Summary,
        View::Insights => Page::Insights,
        View::Memory | View::MemoryDifferences => Page::Memory,
        View::Map | View::MapAllTiles | View::Grid | View::GridDifferences => Page::Map,
        View::Liveness | View::Lifetimes => Page::Liveness,
        View::Programs => Page::Programs,
        View::Operations => Page::Operations,
        View::Trace | View::TraceTiles => Page::Trace,
        View::Compare | View::ComparePeak => Page::Comparison,
        View::Sweep | View::SweepHeatMap | View::SweepCurves | View::SweepMemory => return None,
    })
}
