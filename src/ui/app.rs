//! The window's state and frame.

use eframe::egui;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::command::{Command, Page, Tool};
use super::comparison::{Comparison, Side};
use super::comparison_bar::{ComparisonBar, bar_ui, target_failure_ui};
use super::diagnose::DiagnosePage;
use super::export::Exporter;
use super::home::{HomePage, HomeState};
use super::incoming::{Incoming, drop_hint_ui};
use super::keys::{self, ActionState, Source, keys_ui};
use super::loading::{Load, Stage};
use super::menu::{MenuState, menu_ui};
use super::palette::Palette;
use super::recent::{RecentPair, RecentReport};
use super::report_view::{Opened, ReportView};
use super::settings::Change;
use super::settings_file::SettingsStore;
use super::split;
use super::status::{status_ui, waiting_ui};
use super::sweep::SweepPage;
use super::theme::{
    self, COLLAPSED_MENU_WIDTH, MENU_WIDTH, Tokens, chrome_frame, collapsed_menu_frame, page_frame,
};
use super::warnings::warnings_ui;
use crate::store::Report;
use crate::text::shortened;

/// The window.
#[derive(Default)]
pub struct App {
    /// The report, or the attempt to read it; the source where two are compared.
    load: Option<Load>,
    /// The report that it is compared with.
    target: Option<Load>,
    comparison: Comparison,
    /// Everything that belongs to the open report and ends with it.
    view: ReportView,
    home: HomePage,
    /// What is shown in place of a report or the home page.
    tool: Option<Tool>,
    diagnose: DiagnosePage,
    sweep: SweepPage,
    settings: SettingsStore,
    incoming: Incoming,
    palette: Palette,
    are_keys_shown: bool,
    notice: Option<String>,
    /// The title in the window's frame.
    title: String,
    exporter: Exporter,
    /// Since when to measure the time to the first graph; `None` when nobody asked.
    measured_from: Option<Instant>,
}

impl App {
    /// A window on a report that is being loaded, or on the home page.
    pub fn new(ctx: &egui::Context, load: Option<Load>) -> Self {
        theme::apply(ctx);
        let mut app = Self { load, ..Self::default() };
        if let Some(load) = &app.load {
            app.home.set_path(&load.path);
        }
        app
    }

    /// A window that opens a path.
    pub fn open(ctx: &egui::Context, path: PathBuf) -> Self {
        let load = Load::start(path, ctx);
        Self::new(ctx, Some(load))
    }

    /// A window on a report that is there already.
    pub fn with_report(ctx: &egui::Context, report: Arc<Report>) -> Self {
        Self::new(ctx, Some(Load::ready(report)))
    }

    /// A window on two reports that are being loaded.
    pub fn compare(ctx: &egui::Context, source: Load, target: Load) -> Self {
        let mut app = Self::new(ctx, Some(source));
        app.show_target(target);
        app
    }

    /// A window on two reports that are there already.
    pub fn with_reports(ctx: &egui::Context, source: Arc<Report>, target: Arc<Report>) -> Self {
        Self::compare(ctx, Load::ready(source), Load::ready(target))
    }

    /// Keeps the settings in a directory. Without, they are kept while the window is open.
    #[must_use]
    pub fn with_settings(mut self, ctx: &egui::Context, directory: PathBuf) -> Self {
        self.settings = SettingsStore::in_directory(directory, ctx);
        self
    }

    /// Prints the time from `started` to the first graph, once.
    #[must_use]
    pub fn measuring_from(mut self, started: Instant) -> Self {
        self.measured_from = Some(started);
        self
    }

    /// Whether the report is still being read.
    pub fn is_loading(&self) -> bool {
        [&self.load, &self.target].into_iter().flatten().any(|load| load.stage().is_working())
    }

    /// Whether a report is open, or will be as far as is known.
    fn is_open(&self) -> bool {
        self.load.as_ref().is_some_and(|load| load.stage().failure().is_none())
    }

    /// Whether anything is being read or computed for the window.
    pub fn is_busy(&self, ctx: &egui::Context) -> bool {
        self.is_loading() || super::job::in_flight(ctx) > 0
    }

    /// Shows a page.
    pub fn go(&mut self, page: Page) {
        self.view.page = page;
    }

    fn frame_ui(&mut self, ui: &mut egui::Ui) -> Vec<Command> {
        let mut commands = Vec::new();
        let stage = self.load.as_ref().map(Load::stage);
        let failure = stage.as_ref().and_then(Stage::failure).cloned();
        let report = match (&self.load, &failure) {
            (Some(load), None) => load.report().cloned(),
            _ => None,
        };
        let target = self.target.as_ref().filter(|_| report.is_some());
        let target_failure = target.and_then(|target| target.stage().failure().cloned());
        let target_report = target.filter(|_| target_failure.is_none()).and_then(Load::report);
        let target_report = target_report.cloned();
        self.remember(report.as_deref(), target_report.as_deref());
        if let (Some(source), Some(target)) = (&report, &target_report) {
            self.comparison.ask(ui.ctx(), source, target);
            self.comparison.follow(&mut self.view.selections);
        }
        let is_open = self.load.is_some() && failure.is_none();
        let is_working = self.is_loading();
        let selections = &self.view.selections;
        let action_state = ActionState {
            report: report.as_deref(),
            source: match (&self.load, is_working) {
                (None, _) => Source::None,
                (Some(_), true) => Source::Reading,
                (Some(_), false) => Source::Settled,
            },
            comparison: target_report
                .is_some()
                .then_some((self.comparison.arrangement, self.comparison.steps_by)),
            is_picking: self.incoming.is_picking(),
            ways: (selections.can_go_back(), selections.can_go_forward()),
            is_menu_collapsed: self.settings.now.is_menu_collapsed,
            units: self.settings.now.units,
            recents: &self.settings.now.recent_reports,
        };
        for action in keys::pressed(ui, &action_state) {
            match action.why_not {
                None => commands.push(action.command),
                Some(why_not) => self.notice = Some(why_not.into_owned()),
            }
        }
        let actions = keys::actions(&action_state);
        let tokens = *Tokens::now(ui);
        let menu = MenuState {
            report: report.as_deref(),
            is_pair: target_report.is_some(),
            page: (is_open && report.is_some() && self.tool.is_none()).then_some(self.view.page),
            tool: self.tool,
            is_coming: is_open && report.is_none(),
            is_collapsed: action_state.is_menu_collapsed,
            units: action_state.units,
            actions: &actions,
        };
        let (width, frame) = if menu.is_collapsed {
            (COLLAPSED_MENU_WIDTH, collapsed_menu_frame(&tokens))
        } else {
            (MENU_WIDTH, chrome_frame(&tokens))
        };
        egui::Panel::left("menu")
            .resizable(false)
            .exact_size(width)
            .frame(frame)
            .show(ui, |ui| menu_ui(ui, &menu, &mut commands));
        if self.palette.is_open() {
            self.palette.ui(ui, &actions, &mut commands);
        }
        if self.are_keys_shown {
            keys_ui(ui, &mut self.are_keys_shown, &actions);
        }
        let load = self.load.as_ref().zip(stage.as_ref());
        let target = self.target.as_ref().filter(|_| report.is_some());
        egui::Panel::bottom("status").resizable(false).frame(chrome_frame(&tokens)).show(
            ui,
            |ui| {
                let notice = self.notice.as_deref();
                let reports: Vec<&Report> = [&report, &target_report]
                    .into_iter()
                    .flatten()
                    .map(|report| &**report)
                    .collect();
                status_ui(
                    ui,
                    [load.map(|(load, _)| load), target],
                    &reports,
                    notice,
                    &mut commands,
                );
            },
        );
        if let (Some(source), Some(target), None) = (&report, target, self.tool) {
            let bar = ComparisonBar {
                source,
                target: target_report.as_ref(),
                target_load: target,
                comparison: &self.comparison,
            };
            egui::Panel::top("comparison")
                .resizable(false)
                .frame(chrome_frame(&tokens))
                .show(ui, |ui| bar_ui(ui, &bar, &mut commands));
        }
        egui::CentralPanel::default().frame(page_frame(&tokens)).show(ui, |ui| {
            let is_picking = self.incoming.is_picking();
            match (&report, load) {
                _ if self.tool == Some(Tool::Diagnose) => {
                    self.diagnose.ui(ui, is_picking, &mut commands);
                }
                _ if self.tool == Some(Tool::Sweep) => {
                    self.sweep.ui(ui, is_picking, &mut commands);
                }
                (Some(_), Some(_)) if target_failure.is_some() => {
                    let failure = target_failure.as_ref();
                    target_failure_ui(ui, failure, &mut commands);
                }
                (Some(report), Some((load, _))) => {
                    let opened = Opened {
                        report,
                        load,
                        target: target_report.as_ref().zip(target),
                        comparison: &self.comparison,
                    };
                    self.view.ui(ui, &opened, &mut commands);
                }
                (None, Some((load, stage))) if is_open => {
                    waiting_ui(ui, load, stage, &mut commands);
                }
                _ => {
                    let state = HomeState {
                        failure: failure.as_ref(),
                        is_picking,
                        recents: &self.settings.now.recent_reports,
                        pairs: &self.settings.now.recent_pairs,
                    };
                    self.home.ui(ui, &state, &mut commands);
                }
            }
        });
        if let Some(report) = &report
            && self.view.are_warnings_open
        {
            let lists = [Some(report), target_report.as_ref()].into_iter().flatten();
            let lists: Vec<_> = lists.map(|report| report.warnings.list()).collect();
            warnings_ui(ui, &mut self.view.are_warnings_open, &lists);
        }
        drop_hint_ui(ui, is_open);
        commands
    }

    /// Puts what could be opened into the list of recent reports or pairs, once.
    fn remember(&mut self, report: Option<&Report>, target: Option<&Report>) {
        let settled = |report: &&Report| report.about.is_settled();
        let Some(report) = report.filter(settled) else { return };
        if self.target.is_some() {
            if let Some(target) = target.filter(settled)
                && !self.view.is_pair_remembered
            {
                self.view.is_pair_remembered = true;
                self.settings.change(Change::OpenedPair(RecentPair::now(report, target)));
            }
        } else if !self.view.is_remembered {
            self.view.is_remembered = true;
            self.settings.change(Change::Opened(RecentReport::now(report)));
        }
    }

    fn carry_out(&mut self, ctx: &egui::Context, command: Command) {
        self.notice = None;
        match command {
            Command::Open(path) => {
                self.home.notice = None;
                self.home.set_path(&path);
                self.show(Load::start(path, ctx));
            }
            Command::Demo => {
                self.home.notice = None;
                self.show(Load::start_demo(ctx));
            }
            Command::Pick(purpose) => self.notice = self.incoming.pick(ctx, purpose).err(),
            Command::Compare(source, target) => {
                self.home.notice = None;
                self.home.name_report(Side::Source, &source);
                self.home.name_report(Side::Target, &target);
                self.show(Load::start(source, ctx));
                self.show_target(Load::start(target, ctx));
            }
            Command::OpenTarget(path) if self.is_open() => {
                self.show_target(Load::start(path, ctx));
            }
            Command::OpenTarget(path) => self.carry_out(ctx, Command::Open(path)),
            Command::CloseTarget => self.close_target(),
            Command::Swap => self.swap(),
            Command::Arrange(arrangement) => self.comparison.arrangement = arrangement,
            Command::AlignSteps(steps_by) => self.comparison.steps_by = steps_by,
            Command::ChooseTwo => {
                self.close();
                self.home.choose_two();
            }
            Command::NameReport(side, path) => self.home.name_report(side, &path),
            Command::Reload => self.reload(ctx),
            Command::Close => self.close(),
            Command::Cancel => self.cancel(),
            Command::Go(page) => {
                self.view.page = page;
                self.tool = None;
            }
            Command::Use(tool) => self.tool = Some(tool),
            Command::OpenLog(path) => {
                self.tool = Some(Tool::Diagnose);
                self.diagnose.open_log(path);
            }
            Command::OpenSweep(path) => {
                self.tool = Some(Tool::Sweep);
                self.sweep.open(ctx, path);
            }
            Command::Back => self.view.selections.back(),
            Command::Forward => self.view.selections.forward(),
            Command::Export(export) => self.exporter.start(ctx, export),
            Command::ToggleWarnings => {
                self.view.are_warnings_open = !self.view.are_warnings_open;
            }
            Command::Forget(path) => self.settings.change(Change::Forget(path)),
            Command::ForgetPair(source, target) => {
                self.settings.change(Change::ForgetPair(source, target));
            }
            Command::TogglePalette => {
                self.are_keys_shown = false;
                self.palette.toggle();
            }
            Command::ToggleKeys => self.are_keys_shown = !self.are_keys_shown,
            Command::ToggleMenu => {
                let is_collapsed = !self.settings.now.is_menu_collapsed;
                self.settings.change(Change::Menu(is_collapsed));
            }
            Command::Theme(theme) => {
                self.settings.change(Change::Theme(theme));
                ctx.set_theme(theme);
            }
            Command::Units(units) => {
                self.settings.change(Change::Units(units));
                units.apply(ctx);
            }
        }
        ctx.request_repaint();
    }

    /// Begins anew with another report.
    fn show(&mut self, load: Load) {
        self.tool = None;
        self.close_target();
        self.view = ReportView::default();
        self.load = Some(load);
    }

    /// Compares the open report with another one.
    fn show_target(&mut self, load: Load) {
        self.tool = None;
        self.close_target();
        self.target = Some(load);
        self.view.page = Page::Comparison;
    }

    /// Goes on with the source alone.
    fn close_target(&mut self) {
        if self.target.take().is_some() {
            self.comparison.end(Side::Source, &mut self.view.selections);
            self.view.target_closed();
        }
    }

    fn swap(&mut self) {
        if self.load.is_some() && self.target.is_some() {
            self.comparison.end(Side::Target, &mut self.view.selections);
            std::mem::swap(&mut self.load, &mut self.target);
            self.view.swapped();
        }
    }

    fn reload(&mut self, ctx: &egui::Context) {
        let Some(load) = &self.load else { return };
        let (path, page) = (load.path.clone(), self.view.page);
        let target = self.target.as_ref().map(|target| target.path.clone());
        self.show(Load::start(path, ctx));
        if let Some(target) = target {
            self.show_target(Load::start(target, ctx));
        }
        self.view.page = page;
    }

    fn close(&mut self) {
        self.tool = None;
        self.close_target();
        self.load = None;
        self.view = ReportView::default();
        self.home.is_shown_anew();
    }

    fn cancel(&mut self) {
        let Some(load) = &self.load else { return };
        load.cancel();
        if let Some(target) = &self.target {
            target.cancel();
            if target.stage().is_early() {
                self.close_target();
                self.notice = Some("Reading the target was cancelled".to_owned());
            }
        }
        let Some(load) = &self.load else { return };
        // Tables that were read in part only would show wrong figures.
        if load.stage().is_early() {
            self.close();
            self.home.notice = Some("Reading was cancelled".to_owned());
        }
    }

    /// Names the report in the window's frame, by which people find one of several windows.
    fn title(&mut self, ctx: &egui::Context) {
        let name = |load: &Load| {
            let name = load.path.file_name().unwrap_or(load.path.as_os_str()).to_string_lossy();
            shortened(&name, 80).into_owned()
        };
        let title = match (&self.load, &self.target) {
            (Some(source), Some(target)) => {
                format!("{} → {} – Tilescope", name(source), name(target))
            }
            (Some(load), None) => format!("{} – Tilescope", name(load)),
            (None, _) => "Tilescope".to_owned(),
        };
        if title != self.title {
            ctx.send_viewport_cmd(egui::ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    /// Takes what the settings' file has, and gives it where the user has moved splitters.
    fn follow_settings(&mut self, ctx: &egui::Context) {
        for (name, size) in split::take_changes(ctx) {
            self.settings.change(Change::Splitter(name, size));
        }
        if self.settings.poll() {
            let now = &self.settings.now;
            if let Some(theme) = now.theme {
                ctx.set_theme(theme);
            }
            now.units.apply(ctx);
            split::set_all(ctx, now.splitters.clone());
        }
        if let Some(notice) = self.settings.take_notice() {
            self.notice = Some(notice);
        }
    }

    /// What came from outside: the dialog's answer, dropped files.
    fn arrived(&mut self, ui: &egui::Ui) {
        let arrived = self.incoming.poll(ui, self.is_open());
        if let Some(command) = arrived.command {
            self.carry_out(ui.ctx(), command);
        }
        if let Some(notice) = arrived.notice {
            self.notice = Some(notice);
        }
    }

    /// Prints when the first graph was there. The frame after it tells, for by then it is painted.
    fn measure(&mut self, ui: &egui::Ui) {
        let Some(started) = self.measured_from.filter(|_| self.view.has_painted_graph) else {
            return;
        };
        self.measured_from = None;
        // Asked for by TILESCOPE_LOG_FIRST_GRAPH.
        eprintln!("first graph after {} ms", started.elapsed().as_millis());
        ui.request_repaint();
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.frame(ui);
    }
}

impl App {
    /// Draws a frame and carries out what the user asked for in it.
    pub fn frame(&mut self, ui: &mut egui::Ui) {
        self.measure(ui);
        let ctx = ui.ctx().clone();
        self.follow_settings(&ctx);
        self.arrived(ui);
        for command in self.frame_ui(ui) {
            self.carry_out(&ctx, command);
        }
        self.title(&ctx);
        let reports: Vec<_> =
            [&self.load, &self.target].into_iter().flatten().map(|load| &*load.path).collect();
        self.exporter.ui(ui, &reports);
        if let Some(notice) = self.exporter.notice.take() {
            self.notice = Some(notice);
        }
        for load in [&self.load, &self.target].into_iter().flatten() {
            match load.stage() {
                // Parts come one by one, and the next one may be the first picture.
                Stage::Finding | Stage::SmallTables => {
                    ctx.request_repaint_after(Duration::from_millis(15));
                }
                stage if stage.is_working() => {
                    ctx.request_repaint_after(Duration::from_millis(100));
                }
                _ => {}
            }
        }
        if self.measured_from.is_some() && self.view.has_painted_graph {
            ctx.request_repaint();
        }
    }
}
