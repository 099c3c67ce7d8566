//! The window's state and frame.

use eframe::egui;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::command::{Command, Page};
use super::export::Exporter;
use super::home::{HomePage, HomeState};
use super::incoming::{Incoming, drop_hint_ui};
use super::keys::{self, ActionState, Source, keys_ui};
use super::loading::{Load, Stage};
use super::menu::{MenuState, menu_ui};
use super::palette::Palette;
use super::recent::RecentReport;
use super::report::PageContext;
use super::report::liveness::LivenessPage;
use super::report::memory::MemoryPage;
use super::report::summary::SummaryPage;
use super::selection::Selections;
use super::settings::Change;
use super::settings_file::SettingsStore;
use super::split;
use super::status::{status_ui, waiting_ui};
use super::theme::{
    self, COLLAPSED_MENU_WIDTH, MENU_WIDTH, Tokens, chrome_frame, collapsed_menu_frame, page_frame,
};
use super::warnings::warnings_ui;
use crate::store::Report;
use crate::text::shortened;

/// The window.
#[derive(Default)]
pub struct App {
    /// The report, or the attempt to read it.
    load: Option<Load>,
    /// Everything that belongs to the open report and ends with it.
    view: ReportView,
    home: HomePage,
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

#[derive(Debug)]
struct ReportView {
    page: Page,
    selections: Selections,
    summary: SummaryPage,
    memory: MemoryPage,
    liveness: LivenessPage,
    are_warnings_open: bool,
    has_painted_graph: bool,
    /// Whether the report is in the list of recent ones.
    is_remembered: bool,
}

impl Default for ReportView {
    fn default() -> Self {
        Self {
            page: Page::Memory,
            selections: Selections::default(),
            summary: SummaryPage::default(),
            memory: MemoryPage::default(),
            liveness: LivenessPage::default(),
            are_warnings_open: false,
            has_painted_graph: false,
            is_remembered: false,
        }
    }
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
        self.load.as_ref().is_some_and(|load| load.stage().is_working())
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
        let failure = match &stage {
            Some(Stage::Failed(failure)) => Some(failure.clone()),
            _ => None,
        };
        let report = match (&self.load, &failure) {
            (Some(load), None) => load.report().cloned(),
            _ => None,
        };
        self.remember(report.as_deref());
        let is_open = self.load.is_some() && failure.is_none();
        let is_working = stage.as_ref().is_some_and(Stage::is_working);
        let selections = &self.view.selections;
        let action_state = ActionState {
            report: report.as_deref(),
            source: match (&self.load, is_working) {
                (None, _) => Source::None,
                (Some(_), true) => Source::Reading,
                (Some(_), false) => Source::Settled,
            },
            is_picking: self.incoming.is_picking(),
            ways: (selections.can_go_back(), selections.can_go_forward()),
            is_menu_collapsed: self.settings.now.is_menu_collapsed,
            units: self.settings.now.units,
            recents: &self.settings.now.recent_reports,
        };
        for action in keys::pressed(ui, &action_state) {
            match action.why_not {
                None => commands.push(action.command),
                Some(why_not) => self.notice = Some(why_not.to_owned()),
            }
        }
        let actions = keys::actions(&action_state);
        let tokens = *Tokens::now(ui);
        let menu = MenuState {
            report: report.as_deref(),
            page: (is_open && report.is_some()).then_some(self.view.page),
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
        egui::Panel::bottom("status").resizable(false).frame(chrome_frame(&tokens)).show(
            ui,
            |ui| {
                let notice = self.notice.as_deref();
                status_ui(ui, load, report.as_deref(), notice, &mut commands);
            },
        );
        egui::CentralPanel::default().frame(page_frame(&tokens)).show(ui, |ui| {
            match (&report, load) {
                (Some(report), Some((load, _))) => self.view.ui(ui, load, report, &mut commands),
                (None, Some((load, stage))) if is_open => {
                    waiting_ui(ui, load, stage, &mut commands);
                }
                _ => {
                    let state = HomeState {
                        failure: failure.as_deref(),
                        is_picking: self.incoming.is_picking(),
                        recents: &self.settings.now.recent_reports,
                    };
                    self.home.ui(ui, &state, &mut commands);
                }
            }
        });
        if let Some(report) = &report
            && self.view.are_warnings_open
        {
            warnings_ui(ui, &mut self.view.are_warnings_open, &report.warnings.list());
        }
        drop_hint_ui(ui, is_open);
        commands
    }

    /// Puts a report that could be opened into the list of recent ones, once.
    fn remember(&mut self, report: Option<&Report>) {
        if let Some(report) = report.filter(|report| report.about.is_settled())
            && !self.view.is_remembered
        {
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
            Command::Pick => self.notice = self.incoming.pick(ctx).err(),
            Command::Reload => {
                if let Some(load) = &self.load {
                    let path = load.path.clone();
                    let page = self.view.page;
                    self.show(Load::start(path, ctx));
                    self.view.page = page;
                }
            }
            Command::Close => self.close(),
            Command::Cancel => self.cancel(),
            Command::Go(page) => self.view.page = page,
            Command::Back => self.view.selections.back(),
            Command::Forward => self.view.selections.forward(),
            Command::Export(export) => self.exporter.start(ctx, export),
            Command::ToggleWarnings => {
                self.view.are_warnings_open = !self.view.are_warnings_open;
            }
            Command::Forget(path) => self.settings.change(Change::Forget(path)),
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
        self.view = ReportView::default();
        self.load = Some(load);
    }

    fn close(&mut self) {
        self.load = None;
        self.view = ReportView::default();
        self.home.is_shown_anew();
    }

    fn cancel(&mut self) {
        let Some(load) = &self.load else { return };
        load.cancel();
        // Tables that were read in part only would show wrong figures.
        if matches!(load.stage(), Stage::WritingDemo | Stage::Finding | Stage::SmallTables) {
            self.close();
            self.home.notice = Some("Reading was cancelled".to_owned());
        }
    }

    /// Names the report in the window's frame, by which people find one of several windows.
    fn title(&mut self, ctx: &egui::Context) {
        let path = self.load.as_ref().map(|load| load.path.as_path());
        let name = path.map(|path| path.file_name().unwrap_or(path.as_os_str()));
        let title = match name {
            Some(name) => format!("{} – Tilescope", shortened(&name.to_string_lossy(), 80)),
            None => "Tilescope".to_owned(),
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
        let arrived = self.incoming.poll(ui);
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

impl ReportView {
    fn ui(
        &mut self,
        ui: &mut egui::Ui,
        load: &Load,
        report: &Arc<Report>,
        commands: &mut Vec<Command>,
    ) {
        let mut page = PageContext {
            report,
            source: load.source(),
            is_working: load.stage().is_working(),
            selection: &mut self.selections.now,
            has_painted_graph: &mut self.has_painted_graph,
            commands,
        };
        match self.page {
            Page::Summary => self.summary.ui(ui, &mut page),
            Page::Memory => self.memory.ui(ui, &mut page),
            Page::Liveness => self.liveness.ui(ui, &mut page),
        }
        // A range that is dragged over is one selection, not one for each frame.
        if !ui.input(|input| input.pointer.any_down()) {
            self.selections.settle();
        }
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
        self.exporter.ui(ui, self.load.as_ref().map(|load| load.path.as_path()));
        if let Some(notice) = self.exporter.notice.take() {
            self.notice = Some(notice);
        }
        match self.load.as_ref().map(Load::stage) {
            // Parts come one by one, and the next one may be the first picture.
            Some(Stage::Finding | Stage::SmallTables) => {
                ctx.request_repaint_after(Duration::from_millis(15));
            }
            Some(stage) if stage.is_working() => {
                ctx.request_repaint_after(Duration::from_millis(100));
            }
            _ => {}
        }
        if self.measured_from.is_some() && self.view.has_painted_graph {
            ctx.request_repaint();
        }
    }
}
