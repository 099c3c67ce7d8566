//! Opens, reloads and closes runs.

use eframe::egui;
use std::path::{Path, PathBuf};

use super::App;
use crate::text::run_names::run_name;
use crate::text::{clean, shortened};
use crate::ui::command::{Command, Page, Tool};
use crate::ui::loading::{Load, Meant, Stage};
use crate::ui::open_runs::RequestedRun;
use crate::ui::recent::{RecentComparison, RecentReport};
use crate::ui::report_view::ReportView;
use crate::ui::runs::RunId;
use crate::ui::selection::Selections;
use crate::ui::settings::SettingChange;

impl App {
    /// Begins anew with other reports.
    pub(super) fn show(&mut self, loads: Vec<Load>) {
        self.tool = None;
        self.open.clear();
        self.view = ReportView::default();
        for load in loads {
            self.add(load);
        }
    }

    pub(super) fn add(&mut self, load: Load) {
        self.tool = None;
        self.are_modules_agreed = false;
        let name = shortened(&run_name(&load.path), 80).into_owned();
        match self.open.add(load) {
            Ok(()) if self.open.len() == 2 => self.view.page = Page::Comparison,
            Ok(()) => {}
            Err(why_not) => self.notice = Some(format!("{name} was not opened: {why_not}")),
        }
    }

    pub(super) fn reload(&mut self, ctx: &egui::Context) {
        let ids: Vec<RunId> = self.open.iter().map(|run| run.id).collect();
        self.tool = None;
        self.view.remembered.clear();
        for id in ids {
            self.reload_run(ctx, id);
        }
    }

    pub(super) fn reload_run(&mut self, ctx: &egui::Context, id: RunId) {
        self.reload_with(ctx, id, &[], None);
    }

    /// Reads a run again, with logs besides those that it had, or with a module of its dump that the user chooses.
    pub(super) fn reload_with(
        &mut self,
        ctx: &egui::Context,
        id: RunId,
        more: &[PathBuf],
        module: Option<String>,
    ) {
        let Some(load) = self.open.iter().find(|run| run.id == id).map(|run| &run.load) else {
            return;
        };
        let logs = load.logs.iter().chain(more).cloned().collect();
        // Which one is compared is decided anew: the dump may have others by now.
        self.are_modules_agreed &= module.is_some();
        let module = match (module, load.module.clone()) {
            (Some(chosen), _) | (None, Meant::Chosen(chosen)) => Meant::Chosen(chosen),
            (None, Meant::Largest | Meant::Compared(_)) => Meant::Largest,
        };
        let load = Load::start_with(load.path.clone(), logs, module, ctx);
        self.replace(id, load);
    }

    /// Reads dumps again of which another module is to be compared than the one that is open, as soon as the modules of all are known.
    pub(crate) fn agree_on_modules(&mut self, ctx: &egui::Context) {
        let is_known = |run: &RequestedRun| run.report().is_some() || run.failure().is_some();
        if self.are_modules_agreed || !self.open.iter().all(is_known) {
            return;
        }
        self.are_modules_agreed = true;
        let others = self.open.other_modules();
        let Some((_, first)) = others.first() else { return };
        let name = shortened(&clean(first.name.as_deref().unwrap_or_default()), 80).into_owned();
        self.notice = Some(format!("Comparing {name}, a module that all of these dumps have"));
        for (id, module) in others {
            let Some(load) = self.open.iter().find(|run| run.id == id).map(|run| &run.load) else {
                continue;
            };
            let (path, logs) = (load.path.clone(), load.logs.clone());
            let load = Load::start_with(path, logs, Meant::Compared(module.key), ctx);
            self.replace(id, load);
        }
        // Numbers of steps and allocations mean others in another program.
        self.view.selections = Selections::default();
    }

    /// Reads a run again, or another report in its place.
    pub(super) fn replace(&mut self, id: RunId, load: Load) {
        self.tool = None;
        if let Some(now) = self.open.replace(id, load) {
            self.view.run_renamed(id, now);
        }
    }

    pub(super) fn close(&mut self) {
        self.tool = None;
        self.open.clear();
        self.view = ReportView::default();
        // What is listed may be gone by now.
        self.home.recents.look_again();
    }

    pub(super) fn cancel(&mut self) {
        for run in self.open.iter() {
            run.load.cancel();
        }
        // Tables that were read in part only would show wrong figures.
        let names = self.open.names();
        let early = self.open.iter().zip(&names).filter(|(run, _)| run.load.stage().is_early());
        let (early, names): (Vec<RunId>, Vec<&str>) =
            early.map(|(run, name)| (run.id, &**name)).unzip();
        if early.is_empty() {
            return;
        }
        self.notice = Some(format!("Reading {} was canceled", shortened(&names.join(", "), 200)));
        for id in early {
            self.open.close(id);
        }
        if self.is_open() {
            self.view.runs_changed(self.open.len());
        } else {
            self.close();
            self.notice = None;
            self.home.notice = Some("Reading was canceled".to_owned());
        }
    }

    /// Opens the runs of the demo together, as soon as they are written.
    pub(super) fn open_demo(&mut self, ctx: &egui::Context) {
        let stage = self.open.iter().next().map(|run| run.load.stage());
        if let Some(Stage::DemoWritten(paths)) = stage {
            self.show(paths.into_iter().map(|path| Load::start(path, ctx)).collect());
        }
    }

    /// Shows what is no run where it belongs, in place of it: a directory with several snapshots in a sweep, the text of
    /// an error among explanations.
    pub(super) fn open_elsewhere(&mut self, ctx: &egui::Context) {
        let tool = |run: &RequestedRun| match run.load.stage() {
            Stage::Variants => Some((run.id, Tool::Sweep, run.path().to_owned())),
            Stage::Partial => Some((run.id, Tool::Diagnose, run.path().to_owned())),
            _ => None,
        };
        let Some((id, tool, path)) = self.open.iter().find_map(tool) else { return };
        self.open.close(id);
        if self.is_open() {
            self.view.runs_changed(self.open.len());
        } else {
            self.close();
        }
        let show = match tool {
            Tool::Sweep => Command::OpenSweep(path),
            Tool::Diagnose => Command::OpenLog(path),
        };
        self.carry_out(ctx, show);
    }

    /// Puts what could be opened into the list of recent reports or comparisons, once.
    pub(super) fn remember(&mut self) {
        let settled =
            |run: &RequestedRun| run.report().is_some_and(|report| report.about.is_settled());
        let remembered = self.view.remembered.iter().map(|(path, fits)| (&**path, *fits));
        let is_known = self.open.iter().map(known).eq(remembered);
        if is_known || !self.open.iter().all(settled) {
            return;
        }
        let all = self.open.iter().map(known).map(|(path, fits)| (path.to_owned(), fits));
        self.view.remembered = all.collect();
        let now =
            |run: &RequestedRun| Some(RecentReport::now(run.report()?, run.verdict().as_deref()));
        let reports: Vec<RecentReport> = self.open.iter().filter_map(now).collect();
        let change = match &*reports {
            [] => return,
            [report] => SettingChange::Opened(report.clone()),
            _ => match RecentComparison::of(reports) {
                Some(comparison) => SettingChange::Compared(comparison),
                None => return,
            },
        };
        self.settings.change(change);
    }
}

/// Where a run is, and whether it fits.
fn known(run: &RequestedRun) -> (&Path, Option<bool>) {
    (run.path(), run.verdict().and_then(|verdict| verdict.outcome.went_well()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems;

    fn app_with(loads: Vec<Load>) -> App {
        let mut app = App::default();
        app.show(loads);
        app
    }

    #[test]
    fn the_runs_of_the_demo_are_opened_together() {
        let directory = tempfile::tempdir().expect("a directory");
        // The story of the first system is one whose runs are opened side by side.
        let story = systems::SYSTEMS[0].synth().expect("a synth").story;
        let runs = story().runs(directory.path());
        let written = Load::at("cache".into(), Stage::DemoWritten(runs.clone()));
        let mut app = app_with(vec![written]);
        app.open_demo(&egui::Context::default());
        assert_eq!(app.open.paths(), runs);
        assert_eq!(app.open.names()[0], "amp-0.8", "the reference");
        app.open_demo(&egui::Context::default());
        assert_eq!(app.open.len(), 6);
    }

    #[test]
    fn a_run_chosen_from_a_list_is_called_by_its_directory_in_the_title_and_in_notices() {
        let run = |name: &str| Load::at(format!("/runs/{name}/profile.pop").into(), Stage::Done);
        let mut app = app_with(vec![run("amp-0.6"), run("old/amp-0.6"), run("amp-0.8")]);
        assert_eq!(app.title_text(), "runs/amp-0.6 → old/amp-0.6 → amp-0.8 – Tilescope");
        assert_eq!(app.open.names(), ["runs/amp-0.6", "old/amp-0.6", "amp-0.8"]);
        for name in ["a", "b", "c", "d", "e", "last"] {
            app.add(run(name));
        }
        let notice = app.notice.unwrap_or_default();
        assert!(notice.starts_with("last was not opened"), "{notice}");
    }

    #[test]
    fn cancelling_keeps_what_is_there() {
        let at = |name: &str, stage: Stage| Load::at(format!("/runs/{name}").into(), stage);
        let mut app = app_with(vec![
            at("a", Stage::Reading { title: "Reading tables", is_first: true }),
            at("b", Stage::Done),
            at("c", Stage::Finding),
            at("d", Stage::Reading { title: "Reading variables", is_first: false }),
        ]);
        app.cancel();
        assert_eq!(app.open.names(), ["b", "d"]);
        assert_eq!(app.notice.as_deref(), Some("Reading a, c was canceled"));
        let mut app = app_with(vec![at("a", Stage::Finding), at("b", Stage::Finding)]);
        app.cancel();
        assert_eq!((app.open.len(), app.notice), (0, None));
        assert_eq!(app.home.notice.as_deref(), Some("Reading was canceled"));
    }
}
