//! What is shown of the open runs: the page, with what belongs to them and ends with them.

use eframe::egui;
use std::path::PathBuf;
use std::sync::Arc;

use super::command::{Command, Page};
use super::legacy::{self, Pair};
use super::report::RunsContext;
use super::report::comparison::ComparisonPage;
use super::report::halves::halves_ui;
use super::report::insights::{ChangesPage, InsightsPage};
use super::report::liveness::LivenessPage;
use super::report::memory::MemoryPage;
use super::report::summary::SummaryPage;
use super::report::summary::pair::SummaryPairPage;
use super::runs::{RunId, Runs};
use super::selection::Selections;

/// The view of the runs.
#[derive(Debug)]
pub struct ReportView {
    /// The page that is shown.
    pub page: Page,
    /// What is selected, and was.
    pub selections: Selections,
    /// Pages of the report, and of both where two are shown in one picture.
    pages: Pages,
    /// Pages of the target where it is shown beside the source.
    target_pages: Pages,
    comparison: ComparisonPage,
    changes: ChangesPage,
    liveness: LivenessPage,
    memory: MemoryPage,
    /// Summary of both.
    summary_pair: SummaryPairPage,
    /// The runs of the frame before.
    shown: Vec<RunId>,
    /// Whether the list of warnings is open.
    pub are_warnings_open: bool,
    /// Whether a graph was painted.
    pub has_painted_graph: bool,
    /// What was put into the lists of recent reports and comparisons last.
    pub remembered: Vec<PathBuf>,
}

/// What the pages of a report remember.
#[derive(Debug, Default)]
struct Pages {
    summary: SummaryPage,
    insights: InsightsPage,
}

impl Default for ReportView {
    fn default() -> Self {
        Self {
            page: Page::Memory,
            selections: Selections::default(),
            pages: Pages::default(),
            target_pages: Pages::default(),
            comparison: ComparisonPage::default(),
            changes: ChangesPage::default(),
            liveness: LivenessPage::default(),
            memory: MemoryPage::default(),
            summary_pair: SummaryPairPage::default(),
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
            self.memory.runs_changed();
            self.legacy_runs_changed(&shown);
            self.shown = shown;
        }
        let mut page = RunsContext {
            runs,
            selection: &mut self.selections.now,
            has_painted_graph: &mut self.has_painted_graph,
            commands,
        };
        match self.page {
            Page::Memory => self.memory.ui(ui, &mut page),
            Page::Comparison if runs.is_one() => self.memory.ui(ui, &mut page),
            Page::Liveness => self.liveness.ui(ui, &mut page),
            _ => self.legacy_ui(ui, runs, commands),
        }
        // A range that is dragged over is one selection, not one for each frame.
        if !ui.input(|input| input.pointer.any_down()) {
            self.selections.settle();
        }
    }

    fn legacy_ui(&mut self, ui: &mut egui::Ui, runs: &Arc<Runs>, commands: &mut Vec<Command>) {
        let target = runs.get(1);
        let pair = target.map(|target| Pair {
            target: &target.report,
            target_files: target.files.as_ref(),
            is_target_working: target.is_working,
            matching: runs.matching(1),
            axis: runs.axis().filter(|_| runs.matching(1).is_some()),
            why_not: runs.why_not.as_deref(),
        });
        let before = legacy::Selection::of(&self.selections.now, runs);
        let mut selection = before.clone();
        let reference = runs.reference();
        let mut page = legacy::PageContext {
            report: &reference.report,
            source: reference.files.as_ref(),
            is_working: reference.is_working,
            selection: &mut selection,
            has_painted_graph: &mut self.has_painted_graph,
            commands,
        };
        let (pages, target_pages) = (&mut self.pages, &mut self.target_pages);
        match (self.page, pair) {
            (Page::Comparison, Some(pair)) => self.comparison.ui(ui, &mut page, &pair),
            (Page::Summary, Some(pair)) => self.summary_pair.ui(ui, &mut page, &pair),
            (Page::Summary, None) => pages.summary.ui(ui, &mut page),
            (Page::Insights, None) => pages.insights.ui(ui, &mut page),
            (Page::Memory | Page::Liveness, _) | (Page::Comparison, None) => {}
            (Page::Insights, Some(pair)) => {
                self.changes.ui(ui, &page, &pair);
                halves_ui(ui, &mut page, &pair, |ui, side, page| {
                    side.of([&mut *pages, &mut *target_pages]).insights.ui(ui, page);
                });
            }
        }
        selection.give_back(&before, runs, &mut self.selections.now);
    }

    fn legacy_runs_changed(&mut self, now: &[RunId]) {
        let swapped: Vec<RunId> = self.shown.iter().rev().copied().collect();
        self.comparison = ComparisonPage::default();
        self.changes = ChangesPage::default();
        self.summary_pair = SummaryPairPage::default();
        if now.len() == 2 && swapped == now {
            std::mem::swap(&mut self.pages, &mut self.target_pages);
        } else if self.shown.first() == now.first() || self.shown.is_empty() {
            self.target_pages = Pages::default();
        } else {
            self.pages = Pages::default();
            self.target_pages = Pages::default();
        }
    }

    /// Leaves a page that needs several runs where there is one.
    pub fn runs_changed(&mut self, open: usize) {
        if open < 2 && self.page == Page::Comparison {
            self.page = Page::Memory;
        }
    }
}
