//! The window's state and frame.

use eframe::egui;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui::RichText;

use super::command::{Command, Page};
use super::export::Exporter;
use super::home::HomePage;
use super::job::{Answer, Job};
use super::loading::{Load, Stage};
use super::menu::{MenuState, menu_ui};
use super::report::PageContext;
use super::report::liveness::LivenessPage;
use super::report::memory::MemoryPage;
use super::report::summary::SummaryPage;
use super::selection::Selections;
use super::theme::{self, MENU_WIDTH, Tokens, chrome_frame, page_frame};
use super::warnings::warnings_ui;
use crate::store::Report;
use crate::text::{grouped, shortened};

/// A dialog that answers sooner was never seen by anyone.
const SHORTEST_DIALOG: Duration = Duration::from_millis(150);

/// The window.
#[derive(Default)]
pub struct App {
    /// The report, or the attempt to read it.
    load: Option<Load>,
    /// Everything that belongs to the open report and ends with it.
    view: ReportView,
    home: HomePage,
    dialog: Option<(Job<Option<PathBuf>>, Instant)>,
    notice: Option<String>,
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
        let is_open = self.load.is_some() && failure.is_none();
        let tokens = *Tokens::now(ui);
        egui::Panel::left("menu")
            .resizable(false)
            .exact_size(MENU_WIDTH)
            .frame(chrome_frame(&tokens))
            .show(ui, |ui| {
                let page = is_open.then_some(self.view.page);
                let has_source = self.load.is_some();
                let state = MenuState { report: report.as_deref(), has_source, page };
                menu_ui(ui, &state, &mut commands);
            });
        egui::Panel::bottom("status")
            .resizable(false)
            .frame(chrome_frame(&tokens))
            .show(ui, |ui| self.status_ui(ui, stage.as_ref(), report.as_deref(), &mut commands));
        egui::CentralPanel::default().frame(page_frame(&tokens)).show(ui, |ui| {
            match (&report, is_open) {
                (Some(report), true) => {
                    let is_working = stage.as_ref().is_some_and(Stage::is_working);
                    self.view.ui(ui, report, is_working, &mut commands);
                }
                (None, true) => {
                    ui.label(stage.as_ref().map_or("", Stage::title));
                    if matches!(stage, Some(Stage::WritingDemo)) {
                        ui.weak(
                            "A ResNeXt-101 at six values of availableMemoryProportion, about \
                             500 MB in the cache directory; written once",
                        );
                    }
                }
                (_, false) => {
                    let is_picking = self.dialog.is_some();
                    self.home.ui(ui, failure.as_deref(), is_picking, &mut commands);
                }
            }
        });
        if let Some(report) = &report
            && self.view.are_warnings_open
        {
            warnings_ui(ui, &mut self.view.are_warnings_open, &report.warnings.list());
        }
        commands
    }

    /// The bar at the bottom: the path, progress, warnings.
    fn status_ui(
        &self,
        ui: &mut egui::Ui,
        stage: Option<&Stage>,
        report: Option<&Report>,
        commands: &mut Vec<Command>,
    ) {
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if let Some(report) = report {
                let count = report.warnings.list().len() as u64;
                let text = match count {
                    0 => "No warnings".to_owned(),
                    1 => "1 warning".to_owned(),
                    count => format!("{} warnings", grouped(count)),
                };
                let mut text = RichText::new(text);
                if count > 0 {
                    text = text.color(Tokens::now(ui).warning).strong();
                }
                let button = ui.add_enabled(count > 0, egui::Button::new(text));
                if button.on_hover_text("What is damaged or absent in the report").clicked() {
                    commands.push(Command::ToggleWarnings);
                }
            }
            if let (Some(stage), Some(load)) = (stage, &self.load)
                && stage.is_working()
            {
                if ui.button("Cancel").clicked() {
                    commands.push(Command::Cancel);
                }
                let bar = egui::ProgressBar::new(load.fraction().unwrap_or(0.0));
                ui.add(bar.desired_width(140.0)).accessible_name("Progress");
                ui.label(stage.title());
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                if let Some(notice) = &self.notice {
                    ui.add(egui::Label::new(RichText::new(notice).strong()).truncate());
                } else if matches!(stage, Some(Stage::Cancelled)) {
                    let text = "Cancelled: debug information and variables may be incomplete";
                    ui.add(egui::Label::new(RichText::new(text).strong()).truncate());
                } else if let Some(load) = &self.load {
                    let path = load.path.display().to_string();
                    let text = RichText::new(shortened(&path, 120)).weak();
                    ui.add(egui::Label::new(text).truncate());
                } else {
                    ui.weak("No report is open");
                }
            });
        });
    }

    fn carry_out(&mut self, ctx: &egui::Context, command: Command) {
        self.notice = None;
        match command {
            Command::Open(path) => {
                self.home.notice = None;
                self.home.set_path(&path);
                self.view = ReportView::default();
                self.load = Some(Load::start(path, ctx));
            }
            Command::Demo => {
                self.home.notice = None;
                self.view = ReportView::default();
                self.load = Some(Load::start_demo(ctx));
            }
            Command::Pick => self.pick(ctx),
            Command::Reload => {
                if let Some(load) = &self.load {
                    let path = load.path.clone();
                    let page = self.view.page;
                    self.view = ReportView { page, ..ReportView::default() };
                    self.load = Some(Load::start(path, ctx));
                }
            }
            Command::Close => {
                self.load = None;
                self.view = ReportView::default();
            }
            Command::Cancel => self.cancel(),
            Command::Go(page) => self.view.page = page,
            Command::Back => self.view.selections.back(),
            Command::Forward => self.view.selections.forward(),
            Command::Export(export) => self.exporter.start(ctx, export),
            Command::ToggleWarnings => {
                self.view.are_warnings_open = !self.view.are_warnings_open;
            }
        }
        ctx.request_repaint();
    }

    fn cancel(&mut self) {
        let Some(load) = &self.load else { return };
        load.cancel();
        // Tables that were read in part only would show wrong figures.
        if matches!(load.stage(), Stage::WritingDemo | Stage::Finding | Stage::SmallTables) {
            self.load = None;
            self.view = ReportView::default();
            self.home.notice = Some("Reading was cancelled".to_owned());
        }
    }

    fn pick(&mut self, ctx: &egui::Context) {
        if self.dialog.is_some() {
            return;
        }
        let job = Job::start("file dialog", ctx, |_| {
            rfd::FileDialog::new().set_title("Open a report directory").pick_folder()
        });
        match job {
            Ok(job) => self.dialog = Some((job, Instant::now())),
            Err(error) => self.notice = Some(format!("No thread for a dialog: {error}")),
        }
    }

    /// What came from outside: the dialog's answer, dropped files.
    fn incoming(&mut self, ui: &egui::Ui) -> Vec<Command> {
        let mut commands = Vec::new();
        if let Some((job, since)) = &self.dialog {
            let no_dialog = "No dialog could be opened: enter the path, or drop a directory here";
            match job.poll() {
                Answer::Working => {}
                Answer::Done(Some(path)) => {
                    commands.push(Command::Open(path));
                    self.dialog = None;
                }
                Answer::Done(None) => {
                    if since.elapsed() < SHORTEST_DIALOG {
                        self.notice = Some(no_dialog.to_owned());
                    }
                    self.dialog = None;
                }
                Answer::Failed => {
                    self.notice = Some(no_dialog.to_owned());
                    self.dialog = None;
                }
            }
        }
        let dropped =
            ui.input(|input| input.raw.dropped_files.first().map(|file| file.path().to_owned()));
        commands.extend(dropped.map(Command::Open));
        commands
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
        report: &Arc<Report>,
        is_working: bool,
        commands: &mut Vec<Command>,
    ) {
        let mut page = PageContext {
            report,
            is_working,
            selection: &mut self.selections.now,
            has_painted_graph: &mut self.has_painted_graph,
            commands,
        };
        match self.page {
            Page::Summary => self.summary.ui(ui, &mut page),
            Page::Memory => self.memory.ui(ui, &mut page),
            Page::Liveness => self.liveness.ui(ui, &mut page),
        }
        self.selections.settle();
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.measure(ui);
        let mut commands = self.incoming(ui);
        commands.extend(self.frame_ui(ui));
        self.exporter.ui(ui, self.load.as_ref().map(|load| load.path.as_path()));
        if let Some(notice) = self.exporter.notice.take() {
            self.notice = Some(notice);
        }
        let ctx = ui.ctx().clone();
        for command in commands {
            self.carry_out(&ctx, command);
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
