//! The view of the open runs: the page, and the state that belongs to them and ends with them.

use eframe::egui;
use std::path::PathBuf;
use std::sync::Arc;

use super::card_fields::{RoomFields, takes_capacity};
use super::command::{Command, Page};
use super::pages::{RunsPage, make_page};
use super::report::PageContext;
use super::runs::{Run, RunId, Runs};
use super::selection::{Jump, Selections};
use crate::analysis::liveness::Scope;
use crate::views::View;

type Pages = Vec<(Page, Box<dyn RunsPage>)>;

#[derive(Default)]
pub struct ReportView {
    pub page: Page,
    pub selections: Selections,
    /// What the user says of the device of the open runs.
    pub room: RoomFields,
    pages: Pages,
    pub are_warnings_open: bool,
    pub has_painted_graph: bool,
    /// What was put into the lists of recent reports and comparisons last, and whether they fit as far as is known.
    pub remembered: Vec<(PathBuf, Option<bool>)>,
    /// Whether a run was read again, which may lack what is selected.
    is_reread: bool,
}

impl ReportView {
    pub fn ui(&mut self, ui: &mut egui::Ui, runs: &Arc<Runs>, commands: &mut Vec<Command>) {
        // Alone, a run is compared with nothing.
        let page = match self.page {
            Page::Comparison if runs.is_one() => Page::Overview,
            page => page,
        };
        if self.is_reread && !runs.is_working() {
            self.is_reread = false;
            self.selections.forget_absent(runs);
        }
        if let Some(shown) = page_of(&mut self.pages, page) {
            let mut context = PageContext {
                runs,
                selection: &mut self.selections.now,
                room: &mut self.room,
                has_painted_graph: &mut self.has_painted_graph,
                commands,
            };
            shown.ui(ui, &mut context);
        }
        let room = self.room.room();
        let is_new = |run: &&Run| run.derived.room() != room && takes_capacity(&run.report);
        for run in runs.iter().filter(is_new) {
            run.derived.set_room(room);
            ui.ctx().request_repaint();
        }
        // A range that is dragged over is one selection, not one for each frame.
        if !ui.input(|input| input.pointer.any_down()) {
            self.selections.settle(page);
        }
    }

    /// Goes on with a run that is known by another name since it was read again: what is selected, and
    /// what its pages show, stays.
    pub fn run_renamed(&mut self, from: RunId, to: RunId) {
        self.selections.rename(from, to);
        self.pages.iter_mut().for_each(|(_, page)| page.run_renamed(from, to));
        self.is_reread = true;
    }

    /// Goes back to the selection before and the page on which it was made, or forward again.
    pub fn walk(&mut self, is_back: bool) {
        let page = self.page;
        let shown =
            if is_back { self.selections.back(page) } else { self.selections.forward(page) };
        self.page = shown.unwrap_or(page);
    }

    /// Selects a place and shows it.
    pub fn go_to(&mut self, place: Jump) {
        self.selections.now.select(place);
        self.page = match place {
            Jump::Step(_) => Page::Liveness,
            Jump::Tile(_) => Page::Memory,
            Jump::Map(_) => Page::Map,
        };
        if let Some(page) = page_of(&mut self.pages, self.page) {
            page.show_place(place);
        }
    }

    pub fn show_view(&mut self, page: Page, view: View, scope: Scope) {
        self.page = page;
        if let Some(page) = page_of(&mut self.pages, page) {
            page.show_view(view, scope);
        }
    }

    /// Leaves a page that needs several runs where there is one.
    pub fn runs_changed(&mut self, open: usize) {
        if open < 2 && self.page == Page::Comparison {
            self.page = Page::Overview;
        }
    }
}

/// A page, made now where it was not shown yet.
fn page_of(pages: &mut Pages, wanted: Page) -> Option<&mut Box<dyn RunsPage>> {
    let known = pages.iter().position(|(known, _)| *known == wanted);
    let place = known.or_else(|| {
        pages.push((wanted, make_page(wanted)?));
        pages.len().checked_sub(1)
    })?;
    pages.get_mut(place).map(|(_, page)| page)
}
