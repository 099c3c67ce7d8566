//! The window without a screen: its pages are laid out and painted into shapes as ever, and the shapes become a picture
//! as those of an export do. Neither a display nor a graphics card has a part in it.

use eframe::egui::{self, Pos2, RawInput, Rect, Theme, Vec2, ViewportInfo};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::app::App;
use super::export::{ExportContents, Scene, WHOLE_PAGE, largest_picture, write};
use super::loading::{Load, LoadFailure};
use super::widget::exports::{Exportable, take_out};
use crate::analysis::derived::Derived;
use crate::analysis::liveness::Scope;
use crate::run::Room;
use crate::store::{TileId, Warning};
use crate::ui::card_fields::takes_capacity;
use crate::views::View;

/// A page, or a picture, that nobody has given another size, points.
const PAGE: Vec2 = Vec2::new(1280.0, 720.0);
const PICTURE: Vec2 = Vec2::new(1200.0, 560.0);
/// The same of pictures that are as high as wide, and of two below each other.
const SQUARE: Vec2 = Vec2::new(880.0, 640.0);
const TALL: Vec2 = Vec2::new(1200.0, 720.0);
/// Least and most of a window, points.
const LEAST: Vec2 = Vec2::new(640.0, 400.0);
const MOST: f32 = 6000.0;
/// How often the window is made larger or smaller until the picture has the size that is wanted.
const MOST_SIZES: usize = 24;
/// What a page that is too high for it grows by at least, points: parts of it may grow with it up to a limit.
const LEAST_STEP: f32 = 24.0;
/// Frames without any work after which nothing more comes: the answer to a question may be another question.
const IDLE_FRAMES: usize = 6;
/// Seconds between two frames, so that what moves has come to rest in the next one.
const BETWEEN_FRAMES: f64 = 1.0;

/// The pictures of a view.
#[derive(Clone, Copy, Debug)]
enum WantedPictures<'a> {
    WholePage,
    /// The largest of the page.
    Largest,
    /// The first with a name that begins so.
    Named(&'a str),
}

impl WantedPictures<'static> {
    /// What stands for a view.
    fn of(view: View) -> Self {
        match view {
            View::Overview
            | View::Summary
            | View::Insights
            | View::Programs
            | View::Operations
            | View::Compare
            | View::Sweep => Self::WholePage,
            View::Histogram => Self::Named("Tiles"),
            View::CompilerPhases => Self::Named("compiler phases"),
            View::Lifetimes => Self::Named("lifetimes below the curve"),
            View::ComparePeak => Self::Named("Why the peak"),
            _ => Self::Largest,
        }
    }
}

/// The size of the picture of a view where no other is wanted.
fn size_of(view: View) -> Vec2 {
    match view {
        View::Grid | View::GridDifferences => SQUARE,
        View::Lifetimes => TALL,
        _ => PICTURE,
    }
}

/// A window that nobody sees.
pub struct Headless {
    ctx: egui::Context,
    app: App,
    /// Of the window, points.
    size: Vec2,
    /// Pixels a point.
    scale: f32,
    frames: u32,
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum NoPicture {
    /// The report lacks what is drawn.
    #[error("{0}")]
    Absent(String),
    /// The page has no picture of that name, but others.
    #[error("there is no picture '{name}' on this page")]
    Unknown { name: String, others: Vec<String> },
    /// It cannot be written, or lies in a report.
    #[error("{0}")]
    NotWritten(String),
}

/// A picture that was taken, with what it needs to be written.
pub struct TakenPicture {
    scene: Scene,
    scale: f32,
    reports: Vec<PathBuf>,
}

impl TakenPicture {
    /// Writes it as PNG or SVG, by the ending of the path; what is there is replaced.
    ///
    /// # Errors
    /// [`NoPicture::NotWritten`], also where the path lies in a report.
    pub fn write(self, path: &Path) -> Result<(), NoPicture> {
        let contents = ExportContents::Picture(self.scene, self.scale);
        let written = write(path, &contents, true, &self.reports);
        written.map(drop).map_err(|failure| NoPicture::NotWritten(failure.message))
    }
}

impl Headless {
    fn new(scale: f32, is_dark: bool, app: impl FnOnce(&egui::Context) -> App) -> Self {
        let ctx = egui::Context::default();
        let app = app(&ctx);
        ctx.set_theme(if is_dark { Theme::Dark } else { Theme::Light });
        take_out(&ctx, true);
        Self { ctx, app, size: PAGE + Vec2::new(200.0, 100.0), scale, frames: 0 }
    }

    /// Opens reports, the reference first, and waits until they are read.
    ///
    /// # Errors
    /// Why one of them cannot be opened.
    pub fn open(
        paths: &[PathBuf],
        module: Option<&str>,
        scale: f32,
        is_dark: bool,
    ) -> Result<Self, Box<LoadFailure>> {
        let mut window = Self::new(scale, is_dark, |ctx| {
            let module = || module.map(str::to_owned);
            let load = |path: &PathBuf| Load::start_for_command(path.clone(), module(), ctx);
            App::with_loads(ctx, paths.iter().map(load).collect())
        });
        loop {
            let is_read = !window.app.is_loading();
            // Of dumps the module that is compared may be another than the one that is read first.
            window.app.agree_on_modules(&window.ctx);
            if is_read && !window.app.is_loading() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        window.app.failure().map_or(Ok(window), |failure| Err(Box::new(failure)))
    }

    /// Opens a directory of reports.
    pub fn open_sweep(directory: &Path, room: Room, scale: f32, is_dark: bool) -> Self {
        let mut window = Self::new(scale, is_dark, |ctx| App::with_loads(ctx, Vec::new()));
        window.app.set_room(room);
        window.app.open_sweep(&window.ctx, directory.to_owned());
        window
    }

    /// Whether the user can say what the device of the reference has.
    pub fn takes_capacity(&self) -> bool {
        self.reference().is_none_or(|derived| takes_capacity(derived.report()))
    }

    /// Takes what the user says of the device.
    pub fn set_room(&mut self, room: Room) {
        self.app.set_room(room);
    }

    pub fn reference(&self) -> Option<&Arc<Derived>> {
        self.app.reference()
    }

    /// What came up while the reports were read.
    pub fn warnings(&self) -> Vec<Warning> {
        self.app.warnings()
    }

    /// The step with the most bytes in a part of the machine, as a position.
    pub fn peak_step(&mut self, scope: Scope) -> Option<usize> {
        self.app.peak_step(&self.ctx, scope)
    }

    /// Draws a view of a part of the machine, with a tile and the step at a position selected: the picture that stands
    /// for it, or another one of its page by its name. The size is that of the page, or, as far as it follows the
    /// window, of the picture, without the caption.
    ///
    /// # Errors
    /// Where the report lacks what is drawn, or the page has no such picture.
    pub fn draw(
        mut self,
        view: View,
        scope: Scope,
        tile: Option<TileId>,
        step: Option<usize>,
        name: Option<&str>,
        size: Option<[f32; 2]>,
    ) -> Result<TakenPicture, NoPicture> {
        let size = size.map(Vec2::from);
        self.app.show_view(view, scope, tile, step);
        self.settle();
        if let Some(why_not) = self.app.why_no_view(view) {
            return Err(NoPicture::Absent(why_not));
        }
        let wanted = match name {
            Some(name) if name.eq_ignore_ascii_case(WHOLE_PAGE) => WantedPictures::WholePage,
            Some(name) => WantedPictures::Named(name),
            None => WantedPictures::of(view),
        };
        match wanted {
            WantedPictures::WholePage => self.fit_page(size),
            _ => self.fit_picture(wanted, size.unwrap_or_else(|| size_of(view))),
        }
        let scene = self.take(wanted).ok_or_else(|| self.no_picture(wanted))?;
        Ok(TakenPicture { scene, scale: self.scale, reports: self.app.paths() })
    }

    fn no_picture(&self, wanted: WantedPictures<'_>) -> NoPicture {
        let WantedPictures::Named(name) = wanted else {
            return NoPicture::Absent("there is no picture on this page".to_owned());
        };
        let mut others: Vec<String> = Vec::new();
        for (name, _) in Exportable::last(&self.ctx).pictures {
            if !others.contains(&name) {
                others.push(name);
            }
        }
        NoPicture::Unknown { name: name.to_owned(), others }
    }

    /// Gives the page a size, or one at which nothing of it is scrolled away.
    fn fit_page(&mut self, size: Option<Vec2>) {
        let wanted = size.unwrap_or(PAGE);
        for _ in 0..MOST_SIZES {
            let Some(page) = self.place_of(WantedPictures::WholePage) else { return };
            let hidden = Exportable::last(&self.ctx).hidden;
            let is_wide = (page.width() - wanted.x).abs() < 1.0;
            let by = match size {
                None if is_wide && hidden > 1.0 => Vec2::new(0.0, hidden.max(LEAST_STEP)),
                None if is_wide => return,
                _ => wanted - page.size(),
            };
            if !self.grow(by) {
                return;
            }
        }
    }

    /// Gives a picture a size, as far as it follows the window.
    fn fit_picture(&mut self, picture: WantedPictures<'_>, wanted: Vec2) {
        let mut before = Vec2::ZERO;
        for _ in 0..MOST_SIZES {
            let Some(place) = self.place_of(picture) else { return };
            let size = place.size();
            if size == before || !self.grow(wanted - size) {
                return;
            }
            before = size;
        }
    }

    /// Makes the window larger; says whether it was.
    fn grow(&mut self, by: Vec2) -> bool {
        let size = (self.size + by).round().clamp(LEAST, Vec2::splat(MOST));
        if size == self.size {
            return false;
        }
        self.size = size;
        self.settle();
        true
    }

    fn name_of(page: &Exportable, picture: WantedPictures<'_>) -> Option<String> {
        match picture {
            WantedPictures::WholePage => Some(WHOLE_PAGE.to_owned()),
            WantedPictures::Largest => largest_picture(page),
            WantedPictures::Named(name) => {
                let wanted = name.to_lowercase();
                let names = || page.pictures.iter().map(|(known, _)| known);
                let is_it = |known: &&String| known.to_lowercase() == wanted;
                let begins = |known: &&String| known.to_lowercase().starts_with(&wanted);
                names().find(is_it).or_else(|| names().find(begins)).cloned()
            }
        }
    }

    fn place_of(&self, picture: WantedPictures<'_>) -> Option<Rect> {
        let page = Exportable::last(&self.ctx);
        page.place_of(&Self::name_of(&page, picture)?)
    }

    fn take(&mut self, picture: WantedPictures<'_>) -> Option<Scene> {
        let mut scene = None;
        self.frame(|ctx, app| {
            let page = Exportable::now(ctx);
            scene = Self::name_of(&page, picture).and_then(|name| app.scene(ctx, &name));
        });
        scene
    }

    /// Draws frames until no work is under way and none comes any more.
    fn settle(&mut self) {
        let mut idle = 0;
        while idle < IDLE_FRAMES {
            self.frame(|_, _| {});
            if self.app.is_busy(&self.ctx) {
                idle = 0;
                std::thread::sleep(Duration::from_millis(1));
            } else {
                idle += 1;
            }
        }
    }

    /// Draws a frame; `look` sees each of its passes when it has been painted.
    fn frame(&mut self, mut look: impl FnMut(&egui::Context, &App)) {
        self.frames += 1;
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            time: Some(f64::from(self.frames) * BETWEEN_FRAMES),
            focused: true,
            ..RawInput::default()
        };
        let window =
            ViewportInfo { native_pixels_per_point: Some(self.scale), ..ViewportInfo::default() };
        input.viewports.insert(input.viewport_id, window);
        let app = &mut self.app;
        let painted = self.ctx.run_ui(input, |ui| {
            app.frame(ui);
            look(ui.ctx(), app);
        });
        // There is no graphics card that wants textures.
        painted.drop_without_applying_deltas();
    }
}
