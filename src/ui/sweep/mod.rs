//! A sweep: many runs of one program side by side, as a heat map, curves and a table. It needs no open
//! report, and any of its runs can be opened, any two compared, and several that are ticked opened
//! together.

mod axis;
mod heat_map;
mod lines;
mod reading;
mod runs;
mod scatter;
mod words;

use eframe::egui::{self, Button, Key, Label, RichText, TextEdit};
use std::path::PathBuf;
use std::sync::Arc;

use super::command::{Command, PickFor};
use super::job::Made;
use super::recent::RecentReport;
use super::runs::MOST_RUNS;
use super::settings::Change;
use super::split;
use super::status::progress_ui;
use super::theme::Tokens;
use super::units::Units;
use super::widget::choice::{choice_ui, tabs_ui};
use super::widget::data_table::{Data, DataTable};
use super::widget::facts::absent_ui;
use super::widget::row_ticks::RowTicks;
use super::widget::rows::Rows;
use crate::analysis::sweep::{FastestThatFits, Figure, SpeedMeasure, Sweep, SweepRun};
use crate::text::{grouped, shortened};
use reading::Reading;

/// Longest name of a run.
const NAME: usize = 60;
/// Below this width heat map and curves stand below one another, points.
const ROOM: f32 = 900.0;

/// What is drawn: options are positions in [`Sweep::options`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The option along the columns.
    pub x: usize,
    /// The option along the rows; `None` where only one varies.
    pub y: Option<usize>,
    pub figure: Figure,
    /// What stands beside the heat map.
    beside: Beside,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Beside {
    /// The figure along the option across.
    #[default]
    Curves,
    /// Memory against throughput.
    Scatter,
}

impl Choice {
    /// What is shown at first: the two options with the most values, and the speed where it is known. An option
    /// with another value in each run, a measured one for example, comes only where there is no other.
    fn first(sweep: &Sweep) -> Self {
        let runs = sweep.runs.iter().filter(|run| run.error.is_none()).count();
        let values = |option: &usize| sweep.options.get(*option).map_or(0, |it| it.values.len());
        let mut own: Vec<usize> = (0..sweep.options.len())
            .filter(|option| sweep.options.get(*option).is_some_and(|it| it.same_as.is_none()))
            .collect();
        own.sort_by_key(|option| {
            let values = values(option);
            (values >= runs, std::cmp::Reverse(values))
        });
        let has = |figure: Figure| sweep.runs.iter().any(|run| figure.of(run).is_some());
        let figure = if has(Figure::Throughput) { Figure::Throughput } else { Figure::Peak };
        Self {
            x: own.first().copied().unwrap_or(0),
            y: own.get(1).copied().filter(|option| values(option) < runs),
            figure,
            beside: Beside::default(),
        }
    }
}

enum PictureBeside {
    Curves(lines::Lines),
    Scatter(scatter::Scatter),
}

pub struct Loaded {
    pub folder: PathBuf,
    pub sweep: Arc<Sweep>,
    rows: Arc<dyn Rows>,
    choice: Choice,
    /// Runs that are selected, at most two.
    selected: Vec<usize>,
    /// Runs that are to be opened together, the reference first.
    ticked: Vec<usize>,
    pictures: Made<Choice, (Option<heat_map::Shown>, PictureBeside)>,
}

impl Loaded {
    /// Where a run is; `None` where it left no report, or one that could not be read.
    fn path(&self, run: usize) -> Option<PathBuf> {
        let is_there = |run: &&SweepRun| run.error.is_none() && !run.no_report;
        let run = self.sweep.runs.get(run).filter(is_there)?;
        Some(PathBuf::from(&run.path))
    }

    fn name(&self, run: usize) -> String {
        let run = self.sweep.runs.get(run);
        run.map_or(String::new(), |run| shortened(&run.name, NAME).into_owned())
    }
}

#[derive(Default)]
pub struct SweepPage {
    path: String,
    reading: Option<Reading>,
    loaded: Option<Loaded>,
    failure: Option<String>,
    table: DataTable,
}

impl SweepPage {
    /// Reads the reports below a directory.
    pub fn open(&mut self, ctx: &egui::Context, folder: PathBuf) {
        self.path = folder.display().to_string();
        self.failure = None;
        match Reading::start(ctx, folder) {
            Ok(reading) => self.reading = Some(reading),
            Err(failure) => self.failure = Some(failure),
        }
    }

    pub fn ui(&mut self, ui: &mut egui::Ui, is_picking: bool, commands: &mut Vec<Command>) {
        self.poll(commands);
        self.head_ui(ui, is_picking, commands);
        if let Some(reading) = &self.reading {
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
            let folder = reading.folder.display().to_string();
            if progress_ui(
                ui,
                "Reading the reports",
                &shortened(&folder, 120),
                reading.job.progress(),
            ) {
                self.reading = None;
            }
            return;
        }
        if let Some(failure) = &self.failure {
            absent_ui(ui, "The directory could not be read", failure);
            return;
        }
        let Some(loaded) = &mut self.loaded else {
            let hint = "A directory with the reports of several runs: which setting is the fastest \
                        that fits, and how memory follows an option";
            absent_ui(ui, "Open a directory of reports", hint);
            return;
        };
        verdict_ui(ui, loaded, commands);
        selected_ui(ui, loaded, commands);
        ui.add_space(4.0);
        let height = (ui.available_height() * 0.42).clamp(110.0, 420.0);
        let most = (ui.available_height() - 180.0).max(110.0);
        split::below(ui, "sweep runs", height, 80.0..=most, |ui| {
            table_ui(ui, &mut self.table, loaded, commands);
        });
        let margin = egui::Margin { bottom: 6, ..egui::Margin::ZERO };
        split::rest(ui, margin, |ui| pictures_ui(ui, loaded, commands));
    }

    fn poll(&mut self, commands: &mut Vec<Command>) {
        let Some(reading) = &self.reading else { return };
        let Some(answer) = reading.poll() else { return };
        let folder = reading.folder.clone();
        self.reading = None;
        match answer {
            Ok(sweep) => {
                commands.push(Command::Set(Change::Swept(RecentReport::sweep(&folder))));
                let sweep = Arc::new(sweep);
                self.loaded = Some(Loaded {
                    folder,
                    rows: Arc::new(runs::RunRows(Arc::clone(&sweep))),
                    choice: Choice::first(&sweep),
                    selected: sweep.fastest_that_fits.run().into_iter().collect(),
                    ticked: Vec::new(),
                    sweep,
                    pictures: Made::default(),
                });
            }
            Err(failure) => {
                self.failure = Some(failure);
                self.loaded = None;
            }
        }
    }

    fn head_ui(&mut self, ui: &mut egui::Ui, is_picking: bool, commands: &mut Vec<Command>) {
        ui.horizontal(|ui| {
            ui.heading("Sweep");
            ui.add_space(8.0);
            let label = ui.label("Directory");
            let width = (ui.available_width() - 210.0).max(120.0);
            let field = TextEdit::singleline(&mut self.path)
                .hint_text("A directory with reports in it, at any depth")
                .desired_width(width);
            let field = ui.add(field).labelled_by(label.id);
            let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let path = self.path.trim();
            let read = ui.add_enabled(!path.is_empty(), Button::new("Read"));
            let read = read.on_disabled_hover_text("Enter a path first");
            if (read.clicked() || is_entered) && !path.is_empty() {
                commands.push(Command::OpenSweep(PathBuf::from(path)));
            }
            let browse = ui.add_enabled(!is_picking, Button::new("Open directory…"));
            if browse.on_disabled_hover_text("The dialog is open").clicked() {
                commands.push(Command::Pick(PickFor::Sweep));
            }
        });
        ui.add_space(2.0);
    }
}

/// How many runs fit, and which of them is the fastest.
fn verdict_ui(ui: &mut egui::Ui, loaded: &Loaded, commands: &mut Vec<Command>) {
    let sweep = &loaded.sweep;
    let count = |is_wanted: fn(Option<bool>) -> bool| {
        let read = sweep.runs.iter().filter(|run| run.error.is_none());
        grouped(read.filter(|run| is_wanted(run.fits)).count() as u64)
    };
    let unread = sweep.runs.iter().filter(|run| run.error.is_some()).count() as u64;
    let without = sweep.runs.iter().filter(|run| run.no_report).count() as u64;
    ui.horizontal_wrapped(|ui| {
        ui.label(format!("{} runs:", grouped(sweep.runs.len() as u64)));
        ui.label(format!("{} fit,", count(|fits| fits == Some(true))));
        ui.label(format!("{} do not", count(|fits| fits == Some(false))));
        if unread > 0 {
            let text = format!("{} could not be read", grouped(unread));
            ui.colored_label(Tokens::now(ui).note, text);
        }
        if without > 0 {
            let text = format!("{} left no report", grouped(without));
            ui.colored_label(Tokens::now(ui).note, text);
        }
        ui.separator();
        match sweep.fastest_that_fits {
            FastestThatFits::NoneFits => {
                ui.colored_label(Tokens::now(ui).over, "None fits");
            }
            FastestThatFits::SpeedUnknown => {
                ui.label("How fast they are is not recorded in any that fits");
            }
            FastestThatFits::Run { run, by } => {
                let Some(found) = sweep.runs.get(run) else { return };
                let how = match by {
                    SpeedMeasure::Throughput => "the most samples per second",
                    SpeedMeasure::Cycles => "the fewest cycles",
                };
                ui.strong("Fastest that fits:");
                ui.label(words::settings(sweep, run)).on_hover_text(how);
                if let Some(value) = Figure::Throughput.of(found) {
                    ui.label(words::value_text(Figure::Throughput, value, Units::now(ui)));
                }
                if ui.button("Open it").clicked() {
                    commands.push(Command::Open(PathBuf::from(&found.path)));
                }
            }
        }
    });
}

/// The selected runs, and what can be done with them.
fn selected_ui(ui: &mut egui::Ui, loaded: &Loaded, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ticked_ui(ui, loaded, commands);
        match *loaded.selected {
            [] => {
                ui.weak("Click a run to select it, Shift-click a second one to compare");
            }
            [run] => {
                ui.label(RichText::new(format!("Selected: {}", loaded.name(run))).strong());
                if let Some(path) = loaded.path(run)
                    && ui.button("Open").clicked()
                {
                    commands.push(Command::Open(path));
                }
                let hint = RichText::new("Shift-click another to compare").weak();
                ui.add(Label::new(hint).truncate());
            }
            [source, target, ..] => {
                let text = format!("Selected: {} → {}", loaded.name(source), loaded.name(target));
                ui.label(RichText::new(text).strong());
                if let (Some(source), Some(target)) = (loaded.path(source), loaded.path(target))
                    && ui.button("Compare").clicked()
                {
                    commands.push(Command::Compare(vec![source, target]));
                }
            }
        }
    });
}

fn ticked_ui(ui: &mut egui::Ui, loaded: &Loaded, commands: &mut Vec<Command>) {
    let Some(reference) = loaded.ticked.first() else { return };
    let count = loaded.ticked.len();
    let title = match count {
        1 => "Open the ticked run".to_owned(),
        _ => format!("Open the {} ticked runs", grouped(count as u64)),
    };
    let open = ui.add_enabled(count <= MOST_RUNS, Button::new(title));
    let hover = format!("{}, which was ticked first, is the reference", loaded.name(*reference));
    let open = if count > 1 { open.on_hover_text(hover) } else { open };
    let too_many = format!("{MOST_RUNS} runs at most are open together");
    if open.on_disabled_hover_text(too_many).clicked() {
        let paths = loaded.ticked.iter().filter_map(|run| loaded.path(*run));
        commands.push(Command::Compare(paths.collect()));
    }
    ui.separator();
}

/// Selects a run, or a second one.
fn select(selected: &mut Vec<usize>, run: usize, is_added: bool) {
    if !is_added {
        *selected = vec![run];
    } else if let Some(place) = selected.iter().position(|other| *other == run) {
        selected.remove(place);
    } else {
        selected.truncate(1);
        selected.push(run);
    }
}

fn pictures_ui(ui: &mut egui::Ui, loaded: &mut Loaded, commands: &mut Vec<Command>) {
    if loaded.sweep.options.is_empty() {
        absent_ui(ui, "Nothing varies", "All runs have the same options, versions and side files");
        return;
    }
    choices_ui(ui, loaded);
    let (sweep, selected) = (&loaded.sweep, &loaded.selected);
    let (heat_map, beside) = loaded.pictures.of(loaded.choice, |choice| {
        let heat_map =
            choice.y.and_then(|y| heat_map::Shown::new(sweep, choice.x, y, choice.figure));
        let beside = match choice.beside {
            Beside::Curves => {
                PictureBeside::Curves(lines::Lines::new(sweep, choice.x, choice.figure))
            }
            Beside::Scatter => PictureBeside::Scatter(scatter::Scatter::new(sweep)),
        };
        (heat_map, beside)
    });
    let lines = |ui: &mut egui::Ui| match beside {
        PictureBeside::Curves(lines) => lines.ui(ui, sweep, selected),
        PictureBeside::Scatter(scatter) => scatter.ui(ui, sweep, selected),
    };
    let chosen = match heat_map {
        None => lines(ui),
        Some(map) if ui.available_width() < ROOM => map.ui(ui, sweep, selected),
        Some(map) => {
            let width = ui.available_width();
            let widths = 260.0..=(width - 260.0);
            let of_map = split::left(ui, "sweep heat map", width * 0.52, widths, |ui| {
                map.ui(ui, sweep, selected)
            });
            let beside = egui::Margin { left: 10, ..egui::Margin::ZERO };
            of_map.or(split::rest(ui, beside, lines))
        }
    };
    if let Some(click) = chosen {
        if let Some(path) = loaded.path(click.run).filter(|_| click.is_opened) {
            commands.push(Command::Open(path));
        }
        select(&mut loaded.selected, click.run, click.is_added);
    }
}

/// A run that was clicked in a picture.
#[derive(Clone, Copy, Debug)]
pub struct RunClick {
    run: usize,
    /// Whether it joins the selected one.
    is_added: bool,
    is_opened: bool,
}

impl RunClick {
    /// The click on a picture of a run, if there was one.
    fn of(ui: &egui::Ui, response: &egui::Response, run: usize) -> Option<Self> {
        let is_added = ui.input(|input| input.modifiers.shift || input.modifiers.command);
        let is_opened = response.double_clicked();
        response.clicked().then_some(Self { run, is_added, is_opened })
    }
}

fn choices_ui(ui: &mut egui::Ui, loaded: &mut Loaded) {
    let (sweep, choice) = (&loaded.sweep, &mut loaded.choice);
    let title = |option: usize| {
        let option = sweep.options.get(option);
        option.map_or(String::new(), |option| shortened(&option.short_name, 40).into_owned())
    };
    ui.horizontal_wrapped(|ui| {
        choice_ui(ui, ("Figure", 150.0), &mut choice.figure, sweep.figures(), |figure| {
            shortened(sweep.figure_title(*figure), 40).into_owned()
        });
        ui.weak("across");
        let options = 0..sweep.options.len();
        let across = options.clone();
        choice_ui(ui, ("Option across", 150.0), &mut choice.x, across, |option| title(*option));
        ui.weak("down");
        let down = std::iter::once(None).chain(options.map(Some));
        choice_ui(ui, ("Option down", 150.0), &mut choice.y, down, |option| {
            option.map_or("nothing".to_owned(), title)
        });
        ui.separator();
        let pictures = [(Beside::Curves, "Curves"), (Beside::Scatter, "Memory against throughput")];
        tabs_ui(ui, &mut choice.beside, pictures);
        if sweep.options_left_out > 0 {
            ui.weak(format!("{} more options vary", grouped(sweep.options_left_out as u64)));
        }
    });
    if choice.y == Some(choice.x) {
        choice.y = None;
    }
}

fn table_ui(
    ui: &mut egui::Ui,
    table: &mut DataTable,
    loaded: &mut Loaded,
    commands: &mut Vec<Command>,
) {
    let columns = runs::columns(&loaded.sweep);
    let path = loaded.folder.display().to_string();
    let note = shortened(&path, 60);
    let (selected, sweep) = (&loaded.selected, &loaded.sweep);
    let data = Data {
        title: "Runs",
        note: &note,
        is_selected: &|row| selected.contains(&row),
        ..Data::of("runs", &columns, Arc::clone(&loaded.rows))
    };
    let is_read =
        |run: usize| sweep.runs.get(run).is_some_and(|run| run.error.is_none() && !run.no_report);
    let ticks = RowTicks { rows: &mut loaded.ticked, is_possible: &is_read };
    if let Some(click) = table.ui_with(ui, &data, commands, None, Some(ticks)) {
        select(&mut loaded.selected, click.row, click.is_added);
    }
}
