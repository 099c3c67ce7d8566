//! A run with what its cards can ask for: a place on another page.

use crate::analysis::memory::selection::TileSelection;
use crate::run::Place;
use crate::store::DeviceId;
use crate::ui::command::{Command, Page};
use crate::ui::runs::{Run, StepAt};
use crate::ui::selection::Selection;

pub struct RunPart<'a> {
    pub run: &'a Run,
    pub selection: &'a mut Selection,
    pub commands: &'a mut Vec<Command>,
}

/// Where a place of a run leads.
#[derive(Clone, Debug, PartialEq)]
pub enum JumpInRun {
    /// To a step, a position.
    Step(usize),
    Arenas(TileSelection),
}

impl RunPart<'_> {
    /// Where a place leads; `None` where the run does not have it.
    pub fn way(&self, place: &Place) -> Option<JumpInRun> {
        let position = self.run.derived.answers().step_position(&self.run.derived, place);
        let arenas = || place.arena.as_ref()?.parse::<TileSelection>().ok();
        position.map(JumpInRun::Step).or_else(|| arenas().map(JumpInRun::Arenas))
    }

    /// Shows a place: on Map, or the code or variable at its step, the step, or its arenas.
    pub fn show(&mut self, place: &Place, is_on_map: bool) {
        let way = self.way(place);
        if self.run.derived.first_device().is_some() && place.device.is_some() {
            self.selection.device = place.device.map(DeviceId::of_number);
        }
        if let Some(JumpInRun::Step(step)) = way {
            self.select_step(step);
        }
        let variable = place.variable.as_deref().or(place.frame.as_deref());
        match (variable, way) {
            _ if is_on_map => self.commands.push(Command::Go(Page::Map)),
            (Some(variable), _) => self.show_variable(variable),
            (None, Some(JumpInRun::Step(step))) => self.show_step(step),
            (None, Some(JumpInRun::Arenas(arenas))) => self.show_tiles(arenas),
            (None, None) => {}
        }
    }

    pub fn select_step(&mut self, step: usize) {
        self.selection.steps = vec![StepAt { run: self.run.id, step }];
    }

    pub fn show_step(&mut self, step: usize) {
        self.select_step(step);
        self.commands.push(Command::Go(Page::Liveness));
    }

    pub fn show_variable(&mut self, name: &str) {
        self.selection.select_variable(Some(name.to_owned()));
        self.commands.push(Command::Go(Page::Liveness));
    }

    pub fn show_tiles(&mut self, tiles: TileSelection) {
        self.selection.tiles = tiles;
        self.commands.push(Command::Go(Page::Memory));
    }
}
