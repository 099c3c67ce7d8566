//! Captions and file names of exported pictures.

use eframe::egui;
use std::sync::Arc;

use super::App;
use crate::html::{HtmlPage, HtmlRun};
use crate::store::System;
use crate::text::run_names::run_name;
use crate::ui::command::Tool;
use crate::ui::export::{CaptionSubject, SubjectRun};
use crate::ui::pages::PAGES;
use crate::ui::report::moment::step_id;
use crate::ui::runs::StepAt;
use crate::ui::widget::exports::Exportable;
use crate::ui::widget::sign::Sign;

/// Most steps and variables that a caption names.
const MOST_NAMED: usize = 3;

impl App {
    /// The runs that are shown, as a page for a browser.
    pub(super) fn html_page(&self) -> HtmlPage {
        let names = self.open.names();
        let shown = self.open.iter().zip(names).filter(|(run, _)| !run.is_hidden);
        let runs = shown.filter_map(|(run, name)| {
            let derived = Arc::clone(run.load.derived()?);
            let warnings = derived.report().warnings.list();
            Some(HtmlRun { name, derived, warnings })
        });
        let runs: Vec<HtmlRun> = runs.collect();
        let room = runs.first().map(|run| run.derived.room()).unwrap_or_default();
        HtmlPage::of(runs, room)
    }

    /// The runs that are shown, and what is selected.
    pub(super) fn about(&self, ctx: &egui::Context) -> CaptionSubject {
        let title = match self.tool {
            Some(Tool::Sweep) => "Sweep",
            Some(Tool::Diagnose) => "Explain an error",
            None => {
                let entry = PAGES.iter().find(|entry| entry.page == self.view.page);
                entry.map_or("Tilescope", |entry| entry.title)
            }
        };
        let mut page = vec![title.to_owned()];
        if self.tool.is_some() {
            let folder = self.sweep.folder().filter(|_| self.tool == Some(Tool::Sweep));
            page.extend(folder.map(run_name));
            return CaptionSubject { page, ..CaptionSubject::default() };
        }
        let names = self.open.names();
        let shown = self.open.iter().zip(&names).filter(|(run, _)| !run.is_hidden);
        let runs = shown.map(|(run, name)| SubjectRun {
            badge: self.open.badge(run),
            name: name.clone(),
            verdict: run.verdict().map(|it| (Sign::of(it.outcome.went_well()), it.short.clone())),
        });
        let (scope, arena) = (Exportable::now(ctx).scope, self.system().arena_in_text);
        let is_arena = |scope: &String| scope.to_lowercase().starts_with(&format!("{arena} "));
        CaptionSubject {
            arena: scope.filter(is_arena).or_else(|| {
                let tiles = &self.view.selections.now.tiles;
                (tiles.count() == 1).then(|| format!("{arena} {tiles}"))
            }),
            page,
            runs: runs.collect(),
            selection: self.selected_texts(),
            ..CaptionSubject::default()
        }
    }

    /// The system that the reference was made for.
    fn system(&self) -> &System {
        let reference = self.open.iter().next().and_then(|run| run.report());
        reference.map_or(&System::GENERAL, |report| &report.system)
    }

    fn selected_texts(&self) -> Vec<String> {
        let now = &self.view.selections.now;
        let &System { arena_in_text: arena, arenas, step_in_text: step, .. } = self.system();
        let mut texts = Vec::new();
        match now.tiles.ranges() {
            [] => {}
            [range] if range.start() == range.end() => texts.push(format!("{arena} {}", now.tiles)),
            _ => texts.push(format!("{arenas} {}", now.tiles)),
        }
        let number = |at: &StepAt| {
            let run = self.open.iter().find(|run| run.id == at.run);
            let report = run.and_then(|run| run.report());
            report.map(|report| format!("{step} {}", step_id(report, at.step)))
        };
        texts.extend(now.steps.iter().take(MOST_NAMED).filter_map(number));
        texts.extend(now.variables().take(MOST_NAMED).map(str::to_owned));
        texts
    }
}
