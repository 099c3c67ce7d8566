//! What is shown of the open runs: the page, with what belongs to them and ends with them.

use eframe::egui;
use std::path::PathBuf;
use std::sync::Arc;

use super::command::{Command, Page};
use super::pages::{RunsPage, make_page};
use super::report::PageContext;
use super::runs::Runs;
use super::selection::Selections;

#[derive(Default)]
pub struct ReportView {
    pub page: Page,
    pub selections: Selections,
    pages: Vec<(Page, Box<dyn RunsPage>)>,
    pub are_warnings_open: bool,
    pub has_painted_graph: bool,
    /// What was put into the lists of recent reports and comparisons last.
    pub remembered: Vec<PathBuf>,
}

impl ReportView {
    pub fn ui(&mut self, ui: &mut egui::Ui, runs: &Arc<Runs>, commands: &mut Vec<Command>) {
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
        if let Some((_, shown)) = place.and_then(|place| self.pages.get_mut(place)) {
            let mut page = PageContext {
                runs,
                selection: &mut self.selections.now,
                has_painted_graph: &mut self.has_painted_graph,
                commands,
            };
            shown.ui(ui, &mut page);
        }
        // A range that is dragged over is one selection, not one for each frame.
        if !ui.input(|input| input.pointer.any_down()) {
            self.selections.settle();
        }
    }

    /// Leaves a page that needs several runs where there is one.
    pub fn runs_changed(&mut self, open: usize) {
        if open < 2 && self.page == Page::Comparison {
            self.page = Page::Memory;
        }
    }
}
