//! A run with what its cards can ask for: a place on another page.

use std::sync::Arc;

use crate::analysis::memory::selection::TileSelection;
use crate::store::Report;
use crate::ui::command::{Command, Page};
use crate::ui::runs::{Run, StepAt};
use crate::ui::selection::Selection;

pub struct RunPart<'a> {
    pub run: &'a Run,
    pub selection: &'a mut Selection,
    pub commands: &'a mut Vec<Command>,
}

impl RunPart<'_> {
    pub fn report(&self) -> &Arc<Report> {
        &self.run.report
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
