//! What is shown of the open runs: the page, with what belongs to them and ends with them.

use eframe::egui;
use std::path::PathBuf;
use std::sync::Arc;

use super::command::{Command, Page};
use super::legacy::{self, Pair};
use super::pages::{RunsPage, make_page};
use super::report::RunsContext;
use super::report::memory::MemoryPage;
use super::report::memory::pair::MemoryPairPage;
use super::runs::{RunId, Runs};
use super::selection::Selections;

/// The view of the runs.
#[derive(Debug)]
pub struct ReportView {
    /// The page that is shown.
    pub page: Page,
    /// What is selected, and was.
    pub selections: Selections,
    /// The pages that were shown, with what they remember.
    pages: Vec<(Page, Box<dyn RunsPage>)>,
    memory: MemoryPage,
    /// Memory of both.
    memory_pair: MemoryPairPage,
    /// The runs of the frame before.
    shown: Vec<RunId>,
    /// Whether the list of warnings is open.
    pub are_warnings_open: bool,
    /// Whether a graph was painted.
    pub has_painted_graph: bool,
    /// What was put into the lists of recent reports and comparisons last.
    pub remembered: Vec<PathBuf>,
}

impl Default for ReportView {
    fn default() -> Self {
        Self {
            page: Page::Memory,
            selections: Selections::default(),
            pages: Vec::new(),
            memory: MemoryPage::default(),
            memory_pair: MemoryPairPage::default(),
            shown: Vec::new(),
            are_warnings_open: false,
            has_painted_graph: false,
            remembered: Vec::new(),
        }
    }
}

impl ReportView {
    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, runs: &Arc<Runs>, commands: &mut Vec<Command>) {
        let shown: Vec<RunId> = runs.iter().map(|run| run.id).collect();
        if self.shown != shown {
            self.legacy_runs_changed(&shown);
            self.shown = shown;
        }
        // Alone, a run is compared with nothing.
        let page = match self.page {
            Page::Comparison if runs.is_one() => Page::Memory,
            page => page,
        };
        let known = self.pages.iter().position(|(known, _)| *known == page);
        let place = known.or_else(|| {
            self.pages.push((page, make_page(page)?));
            self.pages.len().checked_sub(1)
        });
        match place.and_then(|place| self.pages.get_mut(place)) {
            Some((_, shown)) => {
                let mut page = RunsContext {
                    runs,
                    selection: &mut self.selections.now,
                    has_painted_graph: &mut self.has_painted_graph,
                    commands,
                };
                shown.ui(ui, &mut page);
            }
            None => self.legacy_ui(ui, runs, commands),
        }
        // A range that is dragged over is one selection, not one for each frame.
        if !ui.input(|input| input.pointer.any_down()) {
            self.selections.settle();
        }
    }

    fn legacy_ui(&mut self, ui: &mut egui::Ui, runs: &Arc<Runs>, commands: &mut Vec<Command>) {
        if self.page == Page::Memory {
            let mut page = RunsContext {
                runs,
                selection: &mut self.selections.now,
                has_painted_graph: &mut self.has_painted_graph,
                commands,
            };
            let is_drawn = if runs.is_one() {
                self.memory.maps_ui(ui, &mut page)
            } else {
                self.memory_pair.maps_ui(ui, &mut page)
            };
            if is_drawn {
                return;
            }
        }
        let target = runs.get(1);
        let pair = target.map(|target| Pair {
            target: &target.report,
            is_target_working: target.is_working,
            matching: runs.matching(1),
            axis: runs.axis().filter(|_| runs.matching(1).is_some()),
            why_not: runs.why_not.as_deref(),
            arrangement: runs.arrangement,
        });
        let before = legacy::Selection::of(&self.selections.now, runs);
        let mut selection = before.clone();
        let reference = runs.reference();
        let mut page = legacy::PageContext {
            report: &reference.report,
            is_working: reference.is_working,
            selection: &mut selection,
            has_painted_graph: &mut self.has_painted_graph,
            commands,
        };
        match pair {
            Some(pair) => self.memory_pair.ui(ui, &mut page, &pair),
            None => self.memory.ui(ui, &mut page),
        }
        selection.give_back(&before, runs, &mut self.selections.now);
    }

    fn legacy_runs_changed(&mut self, now: &[RunId]) {
        let swapped: Vec<RunId> = self.shown.iter().rev().copied().collect();
        if now.len() == 2 && swapped == now {
            self.memory = MemoryPage::default();
            self.memory_pair.swapped();
            return;
        }
        self.memory_pair = MemoryPairPage::default();
        if self.shown.first() != now.first() && !self.shown.is_empty() {
            self.memory = MemoryPage::default();
        }
    }

    /// Leaves a page that needs several runs where there is one.
    pub fn runs_changed(&mut self, open: usize) {
        if open < 2 && self.page == Page::Comparison {
            self.page = Page::Memory;
        }
    }
}
