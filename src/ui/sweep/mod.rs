//! A sweep: many runs of any system side by side, as a heat map, curves, what memory buys or what each needs, and a table.
//! It needs no open run, and any of its runs can be opened, any two compared, and several that are ticked opened together.

mod axis;
mod bars;
mod chosen;
mod head;
mod heat_map;
mod lines;
mod marks;
mod reading;
mod runs;
mod scatter;
mod words;

use eframe::egui::{self, Label};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::card_fields::{RoomFields, device_titles, device_ui, fields_row_ui};
use super::command::Command;
use super::job::Made;
use super::recent::RecentReport;
use super::report::head::page_head_ui;
use super::settings::SettingChange;
use super::split;
use super::status::progress_ui;
use super::theme::{BETWEEN_CARDS, fonts};
use super::widget::card::{picture_card_ui, table_card_ui};
use super::widget::choice::segments_ui;
use super::widget::data_table::{Data, DataTable};
use super::widget::facts::absent_ui;
use super::widget::row_ticks::RowTicks;
use crate::analysis::sweep::{FigureToSweep, Sweep, SweepRun, THROUGHPUT};
use crate::run::Room;
use crate::store::Warning;
use crate::text::{capitalised, shortened};
use crate::views::View;
use chosen::{Choosable, select};
use reading::{SweepRead, SweepReading};

/// Longest name of a run.
const NAME: usize = 60;
/// Below this width one picture is shown at a time, points.
const ROOM: f32 = 900.0;
/// Below this height the same, points.
const HEIGHT: f32 = 330.0;
/// Least width of a heat map whose title says all that it shows, points.
const LONG: f32 = 640.0;
/// Least height of the pictures, points.
const PICTURES: f32 = 180.0;

/// What is drawn: options are positions in [`Sweep::options`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepChoice {
    /// The option along the columns.
    pub x: usize,
    /// The option along the rows; `None` where only one varies.
    pub y: Option<usize>,
    pub figure: FigureToSweep,
}

/// The picture that is shown where there is room for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SweepPicture {
    /// The figure over two options.
    #[default]
    HeatMap,
    /// The figure along the option across.
    Curves,
    /// Memory against throughput; what each needs, where no throughput is known.
    Memory,
}

impl SweepChoice {
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
        Self {
            x: own.first().copied().unwrap_or(0),
            y: own.get(1).copied().filter(|option| values(option) < runs),
            figure: sweep.first_figure(),
        }
    }
}

struct Pictures {
    /// `None` where no second option varies.
    heat_map: Option<heat_map::ShownHeatMap>,
    lines: lines::SweepLines,
    scatter: scatter::SweepScatter,
}

impl Pictures {
    fn new(sweep: &Sweep, choice: SweepChoice) -> Self {
        let heat_map = |y| heat_map::ShownHeatMap::new(sweep, choice.x, y, choice.figure);
        Self {
            heat_map: choice.y.and_then(heat_map),
            lines: lines::SweepLines::new(sweep, choice.x, choice.figure),
            scatter: scatter::SweepScatter::new(sweep, choice.x),
        }
    }

    /// Draws one in a card; returns the run that was clicked.
    fn card_ui(
        &self,
        ui: &mut egui::Ui,
        loaded: &ShownSweep<'_>,
        picture: SweepPicture,
        commands: &mut Vec<Command>,
    ) -> Option<RunClick> {
        let (sweep, selected) = (loaded.sweep, loaded.selected);
        let note = |text: String| {
            move |ui: &mut egui::Ui| {
                let text = fonts::caption(text).weak();
                ui.add(Label::new(text).truncate());
            }
        };
        // A card leaves room for the next one below it.
        let mut room = ui.available_rect_before_wrap();
        room.max.y -= BETWEEN_CARDS;
        let part = egui::UiBuilder::new().max_rect(room);
        ui.scope_builder(part, |ui| match (picture, &self.heat_map) {
            (SweepPicture::HeatMap, Some(map)) => {
                let more = if ui.available_width() < LONG { "" } else { ", and room" };
                let title = format!("{}{more}", map.figure_title);
                let legend = |ui: &mut egui::Ui| heat_map::ShownHeatMap::legend_ui(ui, sweep);
                picture_card_ui(ui, &title, commands, legend, |ui| map.ui(ui, sweep, selected))
            }
            (SweepPicture::Memory, _) if self.scatter.has_throughput() => {
                let text = "line: the best for each amount of memory";
                picture_card_ui(ui, "What memory buys", commands, note(text.to_owned()), |ui| {
                    self.scatter.ui(ui, sweep, selected)
                })
            }
            (SweepPicture::Memory, _) => {
                let text = sweep.notes().first().copied().unwrap_or_default();
                let title = words::needed_title(sweep.used_of());
                picture_card_ui(ui, &title, commands, note(text.to_owned()), |ui| {
                    bars::bars_ui(ui, sweep, selected)
                })
            }
            _ => {
                let note = note(self.lines.note());
                picture_card_ui(ui, &self.lines.figure_title, commands, note, |ui| {
                    self.lines.ui(ui, sweep, selected)
                })
            }
        })
        .inner
    }
}

/// What pictures are drawn of.
struct ShownSweep<'a> {
    sweep: &'a Sweep,
    selected: &'a [usize],
}

pub struct Loaded {
    pub folder: PathBuf,
    pub sweep: Arc<Sweep>,
    rows: Arc<runs::SweepRows>,
    choice: SweepChoice,
    picture: SweepPicture,
    /// Runs that are selected, at most two.
    selected: Vec<usize>,
    /// Runs that are to be opened together, the reference first.
    ticked: Vec<usize>,
    pictures: Made<SweepChoice, Pictures>,
    warnings: Arc<Vec<Warning>>,
    /// The device that is shown; `None` is the one that says most of each run.
    device: Option<i64>,
    /// Every device of any run.
    devices: BTreeMap<i64, String>,
    room: RoomFields,
    /// The run that the user compares with, by its path.
    reference: Option<String>,
}

impl Loaded {
    /// Runs of a directory; what the user has typed and chosen of the same one before stays.
    fn new(folder: PathBuf, read: SweepRead, before: Option<Self>, said: Room) -> Self {
        let before = before.filter(|before| before.folder == folder);
        let (room, reference) = match before {
            Some(before) => (before.room, before.reference),
            None => (RoomFields::of(said), None),
        };
        let devices = read.runs.iter().flat_map(|run| run.facts.devices.clone());
        let devices = device_titles(devices);
        let sweep = Arc::new(Sweep::new(read.runs, Room::default()));
        let mut loaded = Self {
            folder,
            rows: Arc::new(runs::SweepRows::new(Arc::clone(&sweep))),
            choice: SweepChoice::first(&sweep),
            picture: SweepPicture::default(),
            selected: Vec::new(),
            ticked: Vec::new(),
            sweep,
            pictures: Made::default(),
            warnings: Arc::new(read.warnings),
            device: read.device,
            devices,
            room,
            reference,
        };
        loaded.judge();
        loaded.selected = loaded.sweep.best.ok().map(|best| best.run).into_iter().collect();
        loaded
    }

    /// Judges the runs by what is typed and chosen now.
    fn judge(&mut self) {
        let room = self.room.room();
        let mut sweep = (*self.sweep).clone();
        sweep.judge(room);
        // One that cannot be the reference, now that the files are others, is none.
        if let Some(reference) = &self.reference
            && sweep.compare_with(reference).is_err()
        {
            self.reference = None;
        }
        self.sweep = Arc::new(sweep);
        self.rows = Arc::new(runs::SweepRows::new(Arc::clone(&self.sweep)));
        self.pictures = Made::default();
    }

    /// Where a run is; `None` where it left no report, or one that could not be read.
    fn path(&self, run: usize) -> Option<PathBuf> {
        let run = self.sweep.runs.get(run).filter(|run| run.is_read())?;
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
    reading: Option<SweepReading>,
    loaded: Option<Loaded>,
    failure: Option<String>,
    table: DataTable,
    /// The one picture that is shown, where no other and no table is wanted.
    only: Option<SweepPicture>,
    /// What the command that opened it says of the device.
    said: Room,
}

impl SweepPage {
    /// Takes what a command line says of the device for runs that are opened from now on.
    pub fn set_room(&mut self, said: Room) {
        self.said = said;
    }

    /// Reads the runs below a directory.
    pub fn open(&mut self, ctx: &egui::Context, folder: PathBuf) {
        self.path = folder.display().to_string();
        self.read(ctx, folder, None);
    }

    /// Reads them, with the figures of one device, or of the one that says most of each.
    fn read(&mut self, ctx: &egui::Context, folder: PathBuf, device: Option<i64>) {
        self.failure = None;
        self.reading = Some(SweepReading::start(ctx, folder, device));
    }

    /// Shows the page as a whole, or one picture alone.
    pub fn show_view(&mut self, view: View) {
        self.only = match view {
            View::SweepHeatMap => Some(SweepPicture::HeatMap),
            View::SweepCurves => Some(SweepPicture::Curves),
            View::SweepMemory => Some(SweepPicture::Memory),
            _ => None,
        };
    }

    /// The directory whose runs are shown.
    pub fn folder(&self) -> Option<&Path> {
        self.loaded.as_ref().map(|loaded| &*loaded.folder)
    }

    /// Why nothing is shown of a directory, or not what is wanted alone.
    pub fn why_not(&self) -> Option<String> {
        if self.failure.is_some() {
            return self.failure.clone();
        }
        let loaded = self.loaded.as_ref()?;
        match self.only? {
            SweepPicture::HeatMap if loaded.choice.y.is_none() => {
                Some("a heat map needs two options that vary".to_owned())
            }
            SweepPicture::Curves if loaded.sweep.options.is_empty() => {
                Some("curves need an option that varies".to_owned())
            }
            _ => None,
        }
    }

    pub fn ui(&mut self, ui: &mut egui::Ui, is_picking: bool, commands: &mut Vec<Command>) {
        self.poll(commands);
        let is_shown = self.reading.is_none() && self.failure.is_none();
        match self.loaded.as_mut().filter(|_| is_shown) {
            Some(loaded) => head::head_ui(ui, loaded, &mut self.path, is_picking, commands),
            None => {
                page_head_ui(ui, "Sweep", None, |_| {});
                let width = (ui.available_width() - head::BESIDE_FIELD).max(120.0);
                head::directory_ui(ui, &mut self.path, width, is_picking, commands);
            }
        }
        if let Some(reading) = &self.reading {
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
            let folder = reading.folder.display().to_string();
            if progress_ui(ui, "Reading the runs", &shortened(&folder, 120), reading.job.progress())
            {
                self.reading = None;
            }
            return;
        }
        if let Some(failure) = &self.failure {
            absent_ui(ui, "The directory could not be read", failure);
            return;
        }
        let Some(loaded) = &mut self.loaded else {
            let hint = "A directory with several runs: which setting is the fastest that fits, which needs \
                        least, and how memory follows an option";
            absent_ui(ui, "Open a directory of runs", hint);
            return;
        };
        if let Some(only) = self.only {
            split::rest(ui, egui::Margin::ZERO, |ui| pictures_ui(ui, loaded, Some(only), commands));
            return;
        }
        if loaded.sweep.takes_capacity() && fields_ui(ui, loaded) {
            let (folder, device) = (loaded.folder.clone(), loaded.device);
            self.read(ui.ctx(), folder, device);
            return;
        }
        let height = (ui.available_height() * 0.3).clamp(110.0, 420.0);
        let most = (ui.available_height() - PICTURES).max(110.0);
        split::below(ui, "sweep runs", height, 80.0..=most, |ui| {
            table_card_ui(ui, |ui| table_ui(ui, &mut self.table, loaded, commands));
        });
        let margin = egui::Margin { top: 4, bottom: 6, ..egui::Margin::ZERO };
        split::rest(ui, margin, |ui| pictures_ui(ui, loaded, None, commands));
    }

    fn poll(&mut self, commands: &mut Vec<Command>) {
        let Some(reading) = &self.reading else { return };
        let Some(answer) = reading.poll() else { return };
        let folder = reading.folder.clone();
        self.reading = None;
        if answer.is_ok() {
            commands.push(Command::Set(SettingChange::Swept(RecentReport::sweep(&folder))));
        }
        match answer {
            Ok(read) => {
                let loaded = Loaded::new(folder, read, self.loaded.take(), self.said);
                let speed = loaded.rows.column_of(FigureToSweep::Known(&THROUGHPUT));
                self.table = speed.map_or_else(DataTable::default, DataTable::sorted_by);
                self.loaded = Some(loaded);
            }
            Err(failure) => {
                self.failure = Some(failure);
                self.loaded = None;
            }
        }
    }
}

/// What the device has, what others have of it, which device is meant, and what percents are of; whether another device
/// was chosen, which is still to be read.
fn fields_ui(ui: &mut egui::Ui, loaded: &mut Loaded) -> bool {
    let mut has_changed = false;
    let device = loaded.device;
    fields_row_ui(ui, |ui| {
        has_changed |= loaded.room.ui(ui);
        if loaded.devices.len() > 1 {
            let names = ["Device", "Most telling"];
            device_ui(ui, names, &mut loaded.device, &loaded.devices);
        }
        if let Some(reference) = loaded.sweep.reference_text() {
            let reference = capitalised(&reference);
            let reference = fonts::caption(shortened(&reference, 2 * NAME)).weak();
            ui.add(Label::new(reference).truncate());
        }
    });
    if has_changed {
        loaded.judge();
    }
    device != loaded.device
}

fn pictures_ui(
    ui: &mut egui::Ui,
    loaded: &mut Loaded,
    only: Option<SweepPicture>,
    commands: &mut Vec<Command>,
) {
    let pictures =
        loaded.pictures.of(loaded.choice, |choice| Pictures::new(&loaded.sweep, *choice));
    let shown = ShownSweep { sweep: &loaded.sweep, selected: &loaded.selected };
    let size = ui.available_size();
    let has_map = pictures.heat_map.is_some();
    let nothing_varies = loaded.sweep.options.is_empty();
    let chosen = if let Some(only) = only.or(nothing_varies.then_some(SweepPicture::Memory)) {
        pictures.card_ui(ui, &shown, only, commands)
    } else if size.x < ROOM || size.y < HEIGHT {
        let map = has_map.then_some((SweepPicture::HeatMap, "Heat map"));
        let others = [(SweepPicture::Curves, "Curves"), (SweepPicture::Memory, "What memory buys")];
        if !has_map && loaded.picture == SweepPicture::HeatMap {
            loaded.picture = SweepPicture::Curves;
        }
        segments_ui(ui, "", &mut loaded.picture, map.into_iter().chain(others));
        ui.add_space(4.0);
        pictures.card_ui(ui, &shown, loaded.picture, commands)
    } else if has_map {
        let widths = 320.0..=(size.x - 320.0);
        let of_map = split::left(ui, "sweep heat map", size.x * 0.55, widths, |ui| {
            pictures.card_ui(ui, &shown, SweepPicture::HeatMap, commands)
        });
        let beside = egui::Margin { left: 10, ..egui::Margin::ZERO };
        of_map.or(split::rest(ui, beside, |ui| both_ui(ui, false, pictures, &shown, commands)))
    } else {
        both_ui(ui, true, pictures, &shown, commands)
    };
    if let Some(click) = chosen {
        if let Some(path) = loaded.path(click.run).filter(|_| click.is_opened) {
            commands.push(Command::Open(path));
        }
        select(&mut loaded.selected, click.run, click.is_added);
    }
}

/// Curves and what memory buys, beside each other or one below the other.
fn both_ui(
    ui: &mut egui::Ui,
    is_beside: bool,
    pictures: &Pictures,
    shown: &ShownSweep<'_>,
    commands: &mut Vec<Command>,
) -> Option<RunClick> {
    let mut chosen = None;
    let area = ui.available_rect_before_wrap();
    let (first, second) = if is_beside {
        area.split_left_right_at_fraction(0.5)
    } else {
        area.split_top_bottom_at_fraction(0.5)
    };
    let gap = if is_beside { BETWEEN_CARDS } else { 0.0 };
    let second = second.with_min_x(second.left() + gap);
    for (rect, picture) in [(first, SweepPicture::Curves), (second, SweepPicture::Memory)] {
        let part = egui::UiBuilder::new().max_rect(rect);
        let click =
            ui.scope_builder(part, |ui| pictures.card_ui(ui, shown, picture, commands)).inner;
        chosen = chosen.or(click);
    }
    chosen
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

fn table_ui(
    ui: &mut egui::Ui,
    table: &mut DataTable,
    loaded: &mut Loaded,
    commands: &mut Vec<Command>,
) {
    let speed = loaded.rows.column_of(FigureToSweep::Known(&THROUGHPUT));
    let is_by_speed = speed.is_some() && table.sorting() == speed.map(|speed| (speed, true));
    let mut ticked = loaded.ticked.clone();
    let (mut wanted, mut reference) = (Vec::new(), None);
    let (name, path) = (|run| loaded.name(run), |run| loaded.path(run));
    let choosable = Choosable { name: &name, path: &path };
    let mut head = |ui: &mut egui::Ui| {
        ui.label(fonts::card_title("Runs"));
        choosable.ui(ui, &loaded.selected, &loaded.ticked, &mut wanted, |ui, row| {
            if loaded.sweep.reference_text().is_none() {
                return;
            }
            let run = loaded.sweep.runs.get(row);
            let can_be =
                run.is_some_and(|run| run.is_read() && run.facts.why_no_reference.is_none());
            let is_another = can_be && loaded.sweep.reference != Some(row);
            let button = ui.add_enabled(is_another, egui::Button::new("Make reference"));
            if button.on_hover_text("The run that percentages refer to").clicked() {
                reference = run.map(|run| run.path.clone());
            }
        });
    };
    let (selected, sweep) = (&loaded.selected, &loaded.sweep);
    let data = Data {
        note: if is_by_speed { "fastest first" } else { "" },
        is_selected: &|row| selected.contains(&row),
        ..Data::of("runs", &loaded.rows.columns, loaded.rows.clone())
    };
    let is_read = |run: usize| sweep.runs.get(run).is_some_and(SweepRun::is_read);
    let ticks = RowTicks { rows: &mut ticked, is_possible: &is_read };
    let click = table.ui_with(ui, &data, commands, Some(&mut head), Some(ticks));
    commands.append(&mut wanted);
    loaded.ticked = ticked;
    if let Some(click) = click {
        select(&mut loaded.selected, click.row, click.is_added);
    }
    if reference.is_some() {
        loaded.reference = reference;
        loaded.judge();
    }
}
