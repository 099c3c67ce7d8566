//! The pages in the order of the menu: what each is called, how it is drawn, and why it cannot be shown:
//! what its report lacks, and what would bring it. A new page is a file or folder, and an entry here.

use eframe::egui::{self, Key, KeyboardShortcut};
use std::borrow::Cow;

use super::command::Page;
use super::icon::Icon;
use super::keys::command;
use super::report::PageContext;
use super::report::comparison::ComparisonPage;
use super::report::insights::InsightsPage;
use super::report::liveness::LivenessPage;
use super::report::map::MapPage;
use super::report::memory::MemoryPage;
use super::report::operations::OperationsPage;
use super::report::overview::OverviewPage;
use super::report::programs::ProgramsPage;
use super::report::summary::SummaryPage;
use super::report::trace::TracePage;
use super::runs::RunId;
use super::selection::Jump;
use crate::analysis::liveness::Scope;
use crate::store::{Absence, Part, Report};
use crate::views::View;

/// A part of the report is still to come.
const COMING: &str = "Being read";

pub type WhyNot = Cow<'static, str>;

/// A page over one run or several, with what it remembers.
pub trait RunsPage {
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut PageContext<'_>);

    /// Goes on with a run that is known by another name since it was read again.
    fn run_renamed(&mut self, _from: RunId, _to: RunId) {}

    /// Shows the view that a place is in, where the page has several.
    fn show_place(&mut self, _place: Jump) {}

    /// Shows a view where the page has several, and a part of the machine where it can be chosen.
    fn show_view(&mut self, _view: View, _scope: Scope) {}
}

type MakePage = fn() -> Box<dyn RunsPage>;

#[derive(Clone, Copy, Debug)]
pub struct PageEntry {
    pub title: &'static str,
    pub icon: Icon,
    pub page: Page,
    make: MakePage,
    pub keys: &'static [KeyboardShortcut],
    lacks: fn(&Report) -> Option<WhyNot>,
}

pub const PAGES: [PageEntry; 10] = [
    PageEntry {
        title: "Overview",
        icon: Icon::Overview,
        page: Page::Overview,
        make: || Box::<OverviewPage>::default(),
        keys: &[command(Key::Num1)],
        lacks: |report| coming(&report.memory),
    },
    PageEntry {
        title: "Summary",
        icon: Icon::Summary,
        page: Page::Summary,
        make: || Box::<SummaryPage>::default(),
        keys: &[command(Key::Num2)],
        lacks: |report| coming(&report.about),
    },
    PageEntry {
        title: "Insights",
        icon: Icon::Insights,
        page: Page::Insights,
        make: || Box::<InsightsPage>::default(),
        keys: &[command(Key::Num3)],
        lacks: |report| coming(&report.memory),
    },
    PageEntry {
        title: "Memory",
        icon: Icon::Memory,
        page: Page::Memory,
        make: || Box::<MemoryPage>::default(),
        keys: &[command(Key::Num4)],
        lacks: |report| lacking(&report.arenas).or_else(|| not_alike(report)),
    },
    PageEntry {
        title: "Map",
        icon: Icon::Map,
        page: Page::Map,
        make: || Box::<MapPage>::default(),
        keys: &[command(Key::Num5)],
        lacks: |report| lacking(&report.arenas).or_else(|| no_addresses(report)),
    },
    PageEntry {
        title: "Liveness",
        icon: Icon::Liveness,
        page: Page::Liveness,
        make: || Box::<LivenessPage>::default(),
        keys: &[command(Key::Num6)],
        lacks: |report| lacking(&report.steps).or_else(|| lacking(&report.liveness)),
    },
    PageEntry {
        title: "Compare",
        icon: Icon::Compare,
        page: Page::Comparison,
        make: || Box::<ComparisonPage>::default(),
        keys: &[command(Key::Num7)],
        lacks: |report| coming(&report.memory),
    },
    PageEntry {
        title: "Programs",
        icon: Icon::Programs,
        page: Page::Programs,
        make: || Box::<ProgramsPage>::default(),
        keys: &[command(Key::Num8)],
        lacks: |report| lacking(&report.program_trees),
    },
    PageEntry {
        title: "Operations",
        icon: Icon::Operations,
        page: Page::Operations,
        make: || Box::<OperationsPage>::default(),
        keys: &[command(Key::Num9)],
        lacks: |report| lacking(&report.debug),
    },
    PageEntry {
        title: "Trace",
        icon: Icon::Trace,
        page: Page::Trace,
        make: || Box::<TracePage>::default(),
        keys: &[command(Key::Num0)],
        lacks: |report| lacking(&report.execution),
    },
];

/// A page that remembers nothing yet.
pub fn make_page(page: Page) -> Option<Box<dyn RunsPage>> {
    PAGES.iter().find(|entry| entry.page == page).map(|entry| (entry.make)())
}

impl PageEntry {
    /// Why the page cannot be shown for the runs that are shown, the reference first.
    pub fn why_not(&self, reports: &[&Report]) -> Option<WhyNot> {
        let [reference, others @ ..] = reports else { return Some("Open a run first".into()) };
        if self.page == Page::Comparison && others.is_empty() {
            return Some("Open a second run to compare: Compare with…, or drop it here".into());
        }
        // The lanes of a run that ran need none of another run.
        let is_of_any = self.page == Page::Trace;
        if is_of_any && others.iter().any(|report| (self.lacks)(report).is_none()) {
            return None;
        }
        (self.lacks)(reference)
    }
}

fn coming<T>(part: &Part<T>) -> Option<WhyNot> {
    (!part.is_settled()).then_some(COMING.into())
}

fn lacking<T>(part: &Part<T>) -> Option<WhyNot> {
    coming(part).or_else(|| part.absence().map(|absence| absence.to_string().into()))
}

/// Why arenas are not compared with each other, as tiles are.
fn not_alike(report: &Report) -> Option<WhyNot> {
    let is_alike = report.memory.absence().is_none_or(Absence::is_explained);
    let arenas = report.system.arenas;
    (!is_alike).then(|| {
        format!("The {arenas} of a run are of different kinds: the page Map shows each").into()
    })
}

/// Why nothing is known of addresses: neither arenas can be read one by one, nor what was lowered for all.
fn no_addresses(report: &Report) -> Option<WhyNot> {
    let absence = report.variables.absence().filter(|_| report.reader().is_none())?;
    Some(absence.to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Absence;
    use crate::store::execution::ExecutionTotals;
    use std::path::PathBuf;

    #[test]
    fn a_page_that_is_absent_says_what_would_bring_it() {
        let report = Report::new(PathBuf::from("r"));
        for entry in PAGES {
            assert_eq!(entry.why_not(&[]), Some("Open a run first".into()));
            let why_not = entry.why_not(&[&report, &report]);
            assert_eq!(why_not, Some(COMING.into()), "{}", entry.title);
        }
        report.memory.settle(Err(Absence::new("It was not recorded", "Record it")));
        report.fill_arenas_with_tiles();
        let reason = |title: &str| {
            PAGES
                .iter()
                .find(|entry| entry.title == title)
                .and_then(|entry| entry.why_not(&[&report]))
                .unwrap_or_default()
        };
        assert!(reason("Memory").contains("It was not recorded; Record it"));
        assert_eq!(reason("Liveness"), COMING);
        assert!(reason("Compare").contains("second run"));
        let ran = Report::new(PathBuf::from("ran"));
        report.execution.settle(Err(Absence::new("It did not run", "Run it")));
        assert!(reason("Trace").contains("It did not run"));
        ran.execution.settle(Ok(ExecutionTotals::default()));
        let trace = PAGES.iter().find(|entry| entry.page == Page::Trace);
        let why_not = trace.and_then(|trace| trace.why_not(&[&report, &ran]));
        assert_eq!(why_not, None, "only the reference did not run");
    }
}
