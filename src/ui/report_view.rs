//! What is shown of the open reports: the page, with what belongs to them and ends with them.

use eframe::egui;
use std::sync::Arc;

use super::command::{Command, Page};
use super::comparison::{Comparison, Pair};
use super::loading::Load;
use super::report::PageContext;
use super::report::comparison::ComparisonPage;
use super::report::halves::halves_ui;
use super::report::insights::{ChangesPage, InsightsPage};
use super::report::liveness::LivenessPage;
use super::report::liveness::pair::PairPage;
use super::report::memory::MemoryPage;
use super::report::memory::pair::MemoryPairPage;
use super::report::summary::SummaryPage;
use super::report::summary::pair::SummaryPairPage;
use super::selection::Selections;
use crate::store::Report;

/// The view of one report, or of two.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says of another thing that it has happened"
)]
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
    /// Liveness of both.
    liveness_pair: PairPage,
    /// Memory of both.
    memory_pair: MemoryPairPage,
    /// Summary of both.
    summary_pair: SummaryPairPage,
    /// Whether the list of warnings is open.
    pub are_warnings_open: bool,
    /// Whether a graph was painted.
    pub has_painted_graph: bool,
    /// Whether the report is in the list of recent ones.
    pub is_remembered: bool,
    /// Whether the pair is in the list of recent ones.
    pub is_pair_remembered: bool,
}

/// What the pages of a report remember.
#[derive(Debug, Default)]
struct Pages {
    summary: SummaryPage,
    insights: InsightsPage,
    memory: MemoryPage,
    liveness: LivenessPage,
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
            liveness_pair: PairPage::default(),
            memory_pair: MemoryPairPage::default(),
            summary_pair: SummaryPairPage::default(),
            are_warnings_open: false,
            has_painted_graph: false,
            is_remembered: false,
            is_pair_remembered: false,
        }
    }
}

/// The open reports.
#[derive(Debug)]
pub struct Opened<'a> {
    /// The report; the source where there are two.
    pub report: &'a Arc<Report>,
    /// How it is loaded.
    pub load: &'a Load,
    /// The target.
    pub target: Option<(&'a Arc<Report>, &'a Load)>,
    /// How they belong together.
    pub comparison: &'a Comparison,
}

impl<'a> Opened<'a> {
    /// What a page that shows both needs.
    fn pair(&self) -> Option<Pair<'a>> {
        let (target, load) = self.target?;
        Some(Pair {
            target,
            target_files: load.source(),
            is_target_working: load.stage().is_working(),
            matching: self.comparison.matched().map(|matched| &matched.matching),
            axis: self.comparison.axis(),
            why_not: self.comparison.why_not(),
            arrangement: self.comparison.arrangement,
        })
    }
}

impl ReportView {
    /// Draws the page.
    pub fn ui(&mut self, ui: &mut egui::Ui, opened: &Opened<'_>, commands: &mut Vec<Command>) {
        let pair = opened.pair();
        let mut page = PageContext {
            report: opened.report,
            source: opened.load.source(),
            is_working: opened.load.stage().is_working(),
            selection: &mut self.selections.now,
            has_painted_graph: &mut self.has_painted_graph,
            commands,
        };
        let (pages, target_pages) = (&mut self.pages, &mut self.target_pages);
        match (self.page, pair) {
            (Page::Comparison, Some(pair)) => self.comparison.ui(ui, &mut page, &pair),
            (Page::Memory, Some(pair)) => self.memory_pair.ui(ui, &mut page, &pair),
            (Page::Summary, Some(pair)) => self.summary_pair.ui(ui, &mut page, &pair),
            (Page::Summary, None) => pages.summary.ui(ui, &mut page),
            (Page::Insights, None) => pages.insights.ui(ui, &mut page),
            (Page::Memory | Page::Comparison, None) => pages.memory.ui(ui, &mut page),
            (Page::Liveness, None) => pages.liveness.ui(ui, &mut page),
            // What has no common axis is shown side by side.
            (Page::Liveness, Some(pair)) if pair.why_not.is_none() => {
                self.liveness_pair.ui(ui, &mut page, &pair);
            }
            (Page::Liveness, Some(pair)) => halves_ui(ui, &mut page, &pair, |ui, side, page| {
                side.of([&mut *pages, &mut *target_pages]).liveness.ui(ui, page);
            }),
            (Page::Insights, Some(pair)) => {
                self.changes.ui(ui, &page, &pair);
                halves_ui(ui, &mut page, &pair, |ui, side, page| {
                    side.of([&mut *pages, &mut *target_pages]).insights.ui(ui, page);
                });
            }
        }
        // A range that is dragged over is one selection, not one for each frame.
        if !ui.input(|input| input.pointer.any_down()) {
            self.selections.settle();
        }
    }

    /// Forgets what was of the target.
    pub fn target_closed(&mut self) {
        self.target_pages = Pages::default();
        self.comparison = ComparisonPage::default();
        self.changes = ChangesPage::default();
        self.liveness_pair = PairPage::default();
        self.memory_pair = MemoryPairPage::default();
        self.summary_pair = SummaryPairPage::default();
        self.is_pair_remembered = false;
        if self.page == Page::Comparison {
            self.page = Page::Memory;
        }
    }

    /// Forgets what is the other way round now.
    pub fn swapped(&mut self) {
        std::mem::swap(&mut self.pages, &mut self.target_pages);
        self.comparison = ComparisonPage::default();
        self.changes = ChangesPage::default();
        self.liveness_pair.swapped();
        self.memory_pair.swapped();
        self.summary_pair = SummaryPairPage::default();
        self.is_pair_remembered = false;
    }
}
