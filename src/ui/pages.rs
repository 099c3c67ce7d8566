//! The pages in the order of the menu: what each is called, how it is drawn, and why it cannot be shown:
//! what its report lacks, and what would bring it. A new page is a file or folder, and an entry here.

use eframe::egui;
use eframe::egui::{Key, KeyboardShortcut};

use super::command::Page;
use super::icon::Icon;
use super::keys::command;
use super::report::RunsContext;
use super::report::comparison::ComparisonPage;
use super::report::insights::InsightsPage;
use super::report::liveness::LivenessPage;
use super::report::summary::SummaryPage;
use crate::store::{Part, Report};

/// Why a page with data is not there.
const LATER: &str = "Comes with a later version";
/// A part of the report is still to come.
const COMING: &str = "Being read";

/// A page over one run or several, with what it remembers.
pub trait RunsPage: std::fmt::Debug {
    /// Draws it.
    fn ui(&mut self, ui: &mut egui::Ui, page: &mut RunsContext<'_>);
}

/// Makes a page that remembers nothing yet.
type MakePage = fn() -> Box<dyn RunsPage>;

/// A page as the menu has it.
#[derive(Clone, Copy, Debug)]
pub struct PageEntry {
    /// Its title.
    pub title: &'static str,
    /// Its icon.
    pub icon: Icon,
    /// The page; `None` for one that comes with a later version.
    pub page: Option<Page>,
    /// The keys that lead to it.
    pub keys: &'static [KeyboardShortcut],
    /// `None` for one that is not drawn over runs yet.
    make: Option<MakePage>,
    lacks: fn(&Report) -> Option<&'static str>,
}

/// All pages.
pub const PAGES: [PageEntry; 8] = [
    PageEntry {
        title: "Summary",
        icon: Icon::Summary,
        page: Some(Page::Summary),
        keys: &[command(Key::Num1)],
        make: Some(|| Box::<SummaryPage>::default()),
        lacks: |report| coming(&report.about),
    },
    PageEntry {
        title: "Insights",
        icon: Icon::Insights,
        page: Some(Page::Insights),
        keys: &[command(Key::Num2)],
        make: Some(|| Box::<InsightsPage>::default()),
        lacks: |report| coming(&report.memory),
    },
    PageEntry {
        title: "Memory",
        icon: Icon::Memory,
        page: Some(Page::Memory),
        keys: &[command(Key::Num3)],
        make: None,
        lacks: |report| {
            lacking(
                &report.memory,
                "The profile has no readable table memory_by_tile; \
                 engine option autoReport.outputGraphProfile brings it",
            )
        },
    },
    PageEntry {
        title: "Liveness",
        icon: Icon::Liveness,
        page: Some(Page::Liveness),
        keys: &[command(Key::Num4)],
        make: Some(|| Box::<LivenessPage>::default()),
        lacks: |report| {
            let absent = "The profile has no readable tables depth_first_steps and eq_classes; \
                          engine option autoReport.outputGraphProfile brings them";
            lacking(&report.steps, absent).or_else(|| lacking(&report.liveness, absent))
        },
    },
    PageEntry {
        title: "Program tree",
        icon: Icon::ProgramTree,
        page: None,
        keys: &[command(Key::Num5)],
        make: None,
        lacks: |report| {
            lacking(
                &report.programs,
                "The profile has no readable table programs; \
                 engine option autoReport.outputGraphProfile brings it",
            )
        },
    },
    PageEntry {
        title: "Operations",
        icon: Icon::Operations,
        page: None,
        keys: &[command(Key::Num6)],
        make: None,
        lacks: |report| {
            lacking(
                &report.debug,
                "There is no readable debug.cbor beside the profile or one directory up; \
                 engine option autoReport.outputDebugInfo brings it",
            )
        },
    },
    PageEntry {
        title: "Execution trace",
        icon: Icon::Trace,
        page: None,
        keys: &[command(Key::Num7)],
        make: None,
        lacks: |report| {
            lacking(
                &report.execution,
                "The execution tables of the profile are empty; engine option \
                 autoReport.outputExecutionProfile fills them when the program runs",
            )
        },
    },
    PageEntry {
        title: "Comparison",
        icon: Icon::Compare,
        page: Some(Page::Comparison),
        keys: &[command(Key::Num8)],
        make: Some(|| Box::<ComparisonPage>::default()),
        lacks: |report| coming(&report.memory),
    },
];

/// A page that remembers nothing yet; `None` for one that is not drawn over runs yet.
pub fn make_page(page: Page) -> Option<Box<dyn RunsPage>> {
    let entry = PAGES.iter().find(|entry| entry.page == Some(page))?;
    Some(entry.make?())
}

impl PageEntry {
    /// Why the page cannot be shown for a report, beside which another one is open or is not.
    pub fn why_not(&self, report: Option<&Report>, is_pair: bool) -> Option<&'static str> {
        let Some(report) = report else { return Some("Open a report first") };
        if self.page == Some(Page::Comparison) && !is_pair {
            return Some("Open a second report to compare: Compare with…, or drop it here");
        }
        (self.lacks)(report).or_else(|| self.page.is_none().then_some(LATER))
    }
}

fn coming<T>(part: &Part<T>) -> Option<&'static str> {
    (!part.is_settled()).then_some(COMING)
}

fn lacking<T>(part: &Part<T>, absent: &'static str) -> Option<&'static str> {
    coming(part).or_else(|| part.get().is_none().then_some(absent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_page_that_is_absent_says_what_would_bring_it() {
        let report = Report::new(PathBuf::from("r"));
        for entry in PAGES {
            assert_eq!(entry.why_not(None, false), Some("Open a report first"));
            assert_eq!(entry.why_not(Some(&report), true), Some(COMING), "{}", entry.title);
        }
        report.memory.fill(None);
        report.debug.fill(None);
        report.execution.fill(None);
        let reason = |title: &str| {
            PAGES
                .iter()
                .find(|entry| entry.title == title)
                .and_then(|entry| entry.why_not(Some(&report), false))
                .unwrap_or_default()
        };
        assert!(reason("Memory").contains("autoReport.outputGraphProfile"));
        assert!(reason("Operations").contains("autoReport.outputDebugInfo"));
        assert!(reason("Execution trace").contains("autoReport.outputExecutionProfile"));
        assert_eq!(reason("Program tree"), COMING);
        assert!(reason("Comparison").contains("second report"));
    }
}
