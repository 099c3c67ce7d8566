//! The window's state and frame.

mod about;
mod opening;
mod shown;

use eframe::egui;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::command::{Command, Page, Tool};
use super::diagnose::{DiagnosePage, OpenBeside};
use super::export::{Exporter, PASSES, WHOLE_PAGE};
use super::home::{HomePage, HomeState};
use super::incoming::{Incoming, drop_hint_ui};
use super::keys::{self, ActionState, RunEntry, SourceState, keys_ui};
use super::loading::{Load, Stage};
use super::menu::{MenuState, menu_ui};
use super::open_runs::{OpenRuns, RequestedRun};
use super::palette::{Palette, PaletteState};
use super::report_view::ReportView;
use super::run_failures::failures_ui;
use super::runs::{MOST_RUNS, RunId};
use super::selection::Selections;
use super::settings::SettingChange;
use super::settings_file::SettingsStore;
use super::split;
use super::status::{status_ui, waiting_ui};
use super::sweep::SweepPage;
use super::theme::{
    self, COLLAPSED_MENU_WIDTH, MENU_WIDTH, Tokens, chrome_frame, collapsed_menu_frame, page_frame,
    status_frame,
};
use super::top_bar::TopBar;
use super::warnings::warnings_ui;
use super::widget::exports::exportable;
use crate::analysis::derived::Derived;
use crate::analysis::figures::difference::Side;
use crate::store::Report;
use crate::text::shortened;

/// The window.
#[derive(Default)]
pub struct App {
    open: OpenRuns,
    /// Everything that belongs to the open runs and ends with them.
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
    /// Whether it is decided which modules of the open dumps are compared.
    are_modules_agreed: bool,
    title: String,
    exporter: Exporter,
    /// Since when to measure the time to the first graph; `None` when nobody asked.
    measured_from: Option<Instant>,
}

impl App {
    /// A window on a report that is being loaded, or on the home page.
    pub fn new(ctx: &egui::Context, load: Option<Load>) -> Self {
        Self::with_loads(ctx, load.into_iter().collect())
    }

    /// A window on reports that are being loaded, the reference first, or on the home page.
    pub fn with_loads(ctx: &egui::Context, loads: Vec<Load>) -> Self {
        theme::apply(ctx);
        ctx.options_mut(|options| options.max_passes = PASSES);
        let mut app = Self::default();
        if let Some(load) = loads.first() {
            app.home.set_path(&load.path);
        }
        app.show(loads);
        app
    }

    /// A window that opens a path.
    pub fn open(ctx: &egui::Context, path: PathBuf) -> Self {
        let load = Load::start(path, ctx);
        Self::new(ctx, Some(load))
    }

    /// A window on reports that are there already.
    pub fn with_runs(ctx: &egui::Context, reports: Vec<Arc<Report>>) -> Self {
        Self::with_loads(ctx, reports.into_iter().map(Load::ready).collect())
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
        self.open.iter().any(|run| run.load.stage().is_working())
    }

    /// Whether a report is open, or will be as far as is known.
    fn is_open(&self) -> bool {
        self.open.iter().any(|run| run.failure().is_none())
    }

    /// Whether anything is being read or computed for the window.
    pub fn is_busy(&self, ctx: &egui::Context) -> bool {
        self.is_loading()
            || super::job::in_flight(ctx) > 0
            || super::widget::textures::are_waiting(ctx)
    }

    /// The page that is shown where a report is open; for tests.
    pub fn page(&self) -> Page {
        self.view.page
    }

    /// Shows a page.
    pub fn go(&mut self, page: Page) {
        self.view.page = page;
    }

    /// The selected steps, by the names of their runs; for tests.
    pub fn selected_steps(&self) -> Vec<(String, usize)> {
        let names = self.open.names();
        let name = |id: RunId| self.open.iter().zip(&names).find(|(run, _)| run.id == id);
        let steps = self.view.selections.now.steps.iter();
        steps.filter_map(|at| Some((name(at.run)?.1.clone(), at.step))).collect()
    }

    /// How often it was worked out what bytes belong to, of each run beside the reference; for tests.
    pub fn attributions_made(&self) -> Vec<usize> {
        self.open.attributions_made()
    }

    /// What is worked out of the runs that are open; for tests.
    pub fn derived(&self) -> Vec<Arc<Derived>> {
        self.open.iter().filter_map(|run| run.load.derived().cloned()).collect()
    }

    fn frame_ui(&mut self, ui: &mut egui::Ui) -> Vec<Command> {
        let mut commands = Vec::new();
        let runs = self.open.runs(ui.ctx());
        let runs = runs.as_ref();
        let failures = self.open.failures();
        self.remember();
        let is_open = self.is_open();
        let names = self.open.names();
        let entry = |(run, name): (&RequestedRun, &String)| RunEntry {
            id: run.id,
            name: name.clone(),
            is_hidden: run.is_hidden,
        };
        let entries: Vec<RunEntry> = self.open.iter().zip(&names).map(entry).collect();
        let is_working = self.is_loading();
        let selections = &self.view.selections;
        let reports = runs.map_or_else(Vec::new, |runs| runs.reports());
        let action_state = ActionState {
            reports: &reports,
            source: match (self.open.len(), is_working) {
                (0, _) => SourceState::None,
                (_, true) => SourceState::Reading,
                (_, false) => SourceState::Settled,
            },
            comparison: runs
                .is_some_and(|runs| !runs.is_one())
                .then_some((self.open.arrangement, self.open.steps_by)),
            can_be_aligned: runs.is_some_and(|runs| runs.can_be_aligned()),
            ways: (selections.can_go_back(), selections.can_go_forward()),
            is_menu_collapsed: self.settings.now.is_menu_collapsed,
            units: self.settings.now.units,
            recents: &self.settings.now.recent_reports,
            comparisons: &self.settings.now.recent_comparisons,
            runs: &entries,
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
            of_actions: &action_state,
            page: (runs.is_some() && self.tool.is_none()).then_some(self.view.page),
            tool: self.tool,
            is_coming: is_open && runs.is_none(),
            actions: &actions,
        };
        let (width, frame) = if action_state.is_menu_collapsed {
            (COLLAPSED_MENU_WIDTH, collapsed_menu_frame(&tokens))
        } else {
            (MENU_WIDTH, chrome_frame(&tokens))
        };
        egui::Panel::left("menu")
            .resizable(false)
            .exact_size(width)
            .frame(frame)
            .show(ui, |ui| menu_ui(ui, &menu, &mut commands));
        if self.palette.is_open {
            let mut actions = actions.clone();
            actions.extend(keys::recent_actions(&action_state));
            let state = PaletteState {
                actions: &actions,
                runs,
                paths: &self.open.paths(),
                recents: &self.settings.now.recent_reports,
                no_room: keys::no_room(&action_state),
                is_picking: self.incoming.is_picking(),
            };
            self.palette.ui(ui, &state, &mut commands);
        }
        if self.are_keys_shown {
            keys_ui(ui, &mut self.are_keys_shown, &actions);
        }
        egui::Panel::bottom("status").resizable(false).frame(status_frame(&tokens)).show(
            ui,
            |ui| {
                let notice = self.notice.as_deref();
                status_ui(ui, &self.open, runs.map(|runs| &**runs), notice, &mut commands);
            },
        );
        let bar = TopBar {
            open: &self.open,
            entries: &entries,
            tool: self.tool,
            actions: &actions,
            units: self.settings.now.units,
            system: runs.map(|runs| runs.system()),
        };
        egui::Panel::top("bar")
            .resizable(false)
            .frame(chrome_frame(&tokens))
            .show(ui, |ui| bar.ui(ui, &mut commands));
        egui::CentralPanel::default().frame(page_frame(&tokens)).show(ui, |ui| {
            exportable(ui, WHOLE_PAGE, ui.max_rect());
            let is_picking = self.incoming.is_picking();
            let is_coming = |run: &&RequestedRun| run.failure().is_none() && run.report().is_none();
            match (runs, self.open.iter().find(is_coming)) {
                _ if self.tool == Some(Tool::Diagnose) => {
                    let selection = &mut self.view.selections.now;
                    let open = runs.map(|runs| OpenBeside { runs, selection });
                    self.diagnose.ui(ui, open, &mut commands);
                }
                _ if self.tool == Some(Tool::Sweep) => {
                    self.sweep.ui(ui, is_picking, &mut commands);
                }
                (Some(runs), _) if failures.is_empty() => self.view.ui(ui, runs, &mut commands),
                (None, Some(run)) => {
                    waiting_ui(ui, &run.load, &run.load.stage(), &mut commands);
                }
                _ if is_open => failures_ui(ui, &self.open, &entries, &mut commands),
                _ => {
                    let state = HomeState {
                        failures: &failures,
                        is_picking,
                        recents: &self.settings.now.recent_reports,
                        comparisons: &self.settings.now.recent_comparisons,
                        sweeps: &self.settings.now.recent_sweeps,
                    };
                    self.home.ui(ui, &state, &mut commands);
                }
            }
        });
        if let Some(runs) = runs
            && self.view.are_warnings_open
        {
            warnings_ui(ui, &mut self.view.are_warnings_open, runs);
        }
        drop_hint_ui(ui, is_open);
        commands
    }

    fn carry_out(&mut self, ctx: &egui::Context, command: Command) {
        self.notice = None;
        match command {
            Command::Open(path) => {
                self.home.notice = None;
                self.home.set_path(&path);
                self.show(vec![Load::start(path, ctx)]);
            }
            Command::Demo => {
                self.home.notice = None;
                self.show(vec![Load::start_demo(ctx)]);
            }
            Command::AskPath(purpose) => {
                self.are_keys_shown = false;
                self.palette.ask(purpose);
            }
            Command::SelectTiles(tiles) => {
                self.view.selections.now.tiles = tiles;
                self.show_page(Page::Memory);
            }
            Command::SelectVariable(name) => {
                self.view.selections.now.select_variable(Some(name));
                self.show_page(Page::Liveness);
            }
            Command::SelectOperation(name) => {
                self.view.selections.now.select_operation(Some(name));
                self.show_page(Page::Operations);
            }
            Command::Pick(purpose) => {
                self.notice = None;
                self.incoming.pick(ctx, purpose);
            }
            Command::Compare(paths) => {
                self.home.notice = None;
                for (side, path) in Side::BOTH.into_iter().zip(&paths) {
                    self.home.two_reports.name(side, path);
                }
                let paths = paths.into_iter().take(MOST_RUNS);
                self.show(paths.map(|path| Load::start(path, ctx)).collect());
            }
            Command::AddRun(path) if self.is_open() => self.add(Load::start(path, ctx)),
            Command::AddRun(path) => self.carry_out(ctx, Command::Open(path)),
            Command::OpenInPlace(id, path) => {
                self.are_modules_agreed = false;
                self.replace(id, Load::start(path, ctx));
            }
            Command::EndComparison => {
                self.open.close_others();
                self.view.runs_changed(self.open.len());
            }
            Command::Swap => self.open.swap(),
            Command::MakeReference(id) => self.open.make_reference(id),
            Command::HideRun(id, is_hidden) => self.open.hide(id, is_hidden),
            Command::ReloadRun(id) => self.reload_run(ctx, id),
            Command::CloseRun(id) => {
                self.open.close(id);
                if self.open.len() == 0 {
                    self.close();
                }
                self.view.runs_changed(self.open.len());
            }
            Command::Arrange(arrangement) => self.open.arrangement = arrangement,
            Command::AlignSteps(steps_by) => self.open.steps_by = steps_by,
            Command::ChooseTwo => {
                self.close();
                self.home.two_reports.is_open = true;
            }
            Command::NameReport(side, path) => self.home.two_reports.name(side, &path),
            Command::Reload => self.reload(ctx),
            Command::Close => self.close(),
            Command::Cancel => self.cancel(),
            Command::Go(page) => self.show_page(page),
            Command::GoTo(place) => {
                self.view.go_to(place);
                self.tool = None;
            }
            Command::Use(tool) => self.tool = Some(tool),
            Command::AddLog(id, path) => self.reload_with(ctx, id, &[path], None),
            Command::OpenModule(id, module) => {
                self.reload_with(ctx, id, &[], Some(module));
                // Numbers of steps and allocations mean others in another program.
                self.view.selections = Selections::default();
            }
            Command::OpenLog(path) => {
                self.tool = Some(Tool::Diagnose);
                self.diagnose.open_log(path);
            }
            Command::OpenSweep(path) => {
                self.tool = Some(Tool::Sweep);
                self.sweep.open(ctx, path);
            }
            Command::Back => self.view.walk(true),
            Command::Forward => self.view.walk(false),
            Command::Export(export) => self.exporter.start(ctx, &self.about(ctx), export),
            Command::ExportPicture => self.exporter.ask_for_picture(ctx, &self.about(ctx)),
            Command::ExportReport => {
                self.exporter.ask_for_page(&self.about(ctx), self.html_page());
            }
            Command::ToggleWarnings => {
                self.view.are_warnings_open = !self.view.are_warnings_open;
            }
            Command::Set(change) => {
                self.settings.change(change);
                self.apply_settings(ctx);
            }
            Command::TogglePalette => {
                self.are_keys_shown = false;
                self.palette.toggle();
            }
            Command::ToggleKeys => self.are_keys_shown = !self.are_keys_shown,
        }
        ctx.request_repaint();
    }

    fn show_page(&mut self, page: Page) {
        self.view.page = page;
        self.tool = None;
    }

    /// Names the report in the window's frame, by which people find one of several windows.
    fn title(&mut self, ctx: &egui::Context) {
        let title = self.title_text();
        if title != self.title {
            ctx.send_viewport_cmd(egui::ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    fn title_text(&self) -> String {
        let names = self.open.names();
        let names: Vec<_> = names.iter().map(|name| shortened(name, 80)).collect();
        match &*names {
            [] => "Tilescope".to_owned(),
            names => format!("{} – Tilescope", names.join(" → ")),
        }
    }

    /// Takes what the settings' file has, and gives it where the user has moved splitters.
    fn follow_settings(&mut self, ctx: &egui::Context) {
        for (name, size) in split::take_changes(ctx) {
            self.settings.change(SettingChange::Splitter(name, size));
        }
        if self.settings.poll() {
            self.apply_settings(ctx);
            split::set_all(ctx, self.settings.now.splitters.clone());
            super::report::operations::columns::apply(
                ctx,
                self.settings.now.operation_columns.clone(),
            );
        }
        if let Some(notice) = self.settings.notice.take() {
            self.notice = Some(notice);
        }
    }

    fn apply_settings(&self, ctx: &egui::Context) {
        if let Some(theme) = self.settings.now.theme {
            ctx.set_theme(theme);
        }
        self.settings.now.units.apply(ctx);
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
        let milliseconds = started.elapsed().as_millis();
        drop(writeln!(std::io::stderr(), "first graph after {milliseconds} ms"));
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
        // Of what is not read yet no picture was painted.
        if std::mem::take(&mut self.view.has_painted_graph) {
            let is_read = |run: &&RequestedRun| run.load.derived().is_some();
            self.open.iter().filter(is_read).for_each(|run| run.load.tell_painted());
        }
        let ctx = ui.ctx().clone();
        self.follow_settings(&ctx);
        self.arrived(ui);
        self.agree_on_modules(&ctx);
        for command in self.frame_ui(ui) {
            self.carry_out(&ctx, command);
        }
        self.title(&ctx);
        if self.exporter.is_busy() {
            let about = self.about(&ctx);
            self.exporter.ui(ui, &about, &self.open.paths());
        }
        if let Some(notice) = self.exporter.notice.take() {
            self.notice = Some(notice);
        }
        self.open_demo(&ctx);
        self.open_elsewhere(&ctx);
        for run in self.open.iter() {
            match run.load.stage() {
                // It needs all cores, and a frame takes its share of them where there is no graphics card.
                Stage::Reading { is_first: true, .. } if run.load.derived().is_none() => {
                    ctx.request_repaint_after(Duration::from_millis(500));
                }
                // Parts come one by one, and the next one may be the first picture.
                stage if stage.is_early() => {
                    ctx.request_repaint_after(run.load.look_after());
                }
                stage if stage.is_working() => {
                    ctx.request_repaint_after(Duration::from_millis(250));
                }
                _ => {}
            }
        }
        if self.measured_from.is_some() && self.view.has_painted_graph {
            ctx.request_repaint();
        }
    }
}
