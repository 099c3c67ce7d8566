//! Drives the real pages, without a graphics card: what a frame costs in user-interface code and
//! tessellation while zooming, panning and hovering. Prints the median and the 99th percentile.
//!
//! `cargo bench --bench pages`; with `-- eight` only the scenes of eight runs, with `-- large` those of one run with 64 IPUs
//! and of one with 1,000,000 steps, with `-- programs` those of the tree of programs, with `-- trace` those of 2,000,000 steps that
//! ran, with `-- snapshot` those of a memory snapshot of 5,000,000 events, with `-- dump` those of XLA modules of 200,000
//! instructions, with `-- REPORT` those of a report or of a snapshot that lies there.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints and fails by panicking"
)]

mod address_steps;
mod dump;
mod pair_liveness;
mod pair_memory;
mod programs;
mod report;
mod runs;
mod snapshot;
mod trace;
mod ttnn;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Context, Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2,
    RawInput, Rect, TouchPhase, Vec2,
};
use tilescope::format::Progress;
use tilescope::store::Report;
use tilescope::systems::poplar::cross_checks::contradictions;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

/// Frames of a scene that are measured.
const FRAMES: usize = 400;
/// The measure: median and 99th percentile, milliseconds.
const MEDIAN: f64 = 4.0;
const P99: f64 = 8.0;

/// The window without a window.
struct Window {
    ctx: Context,
    app: App,
    size: Vec2,
    time: f64,
}

impl Window {
    fn new(report: &Arc<Report>, size: Vec2) -> Self {
        Self::of(size, |ctx| App::with_runs(ctx, vec![Arc::clone(report)]))
    }

    fn of(size: Vec2, app: impl FnOnce(&Context) -> App) -> Self {
        let ctx = Context::default();
        let app = app(&ctx);
        let mut window = Self { ctx, app, size, time: 0.0 };
        window.rest();
        window
    }

    /// Opens the run at a path, and prints when it is read.
    fn open(path: &Path, size: Vec2, scene: &str) -> Self {
        let started = Instant::now();
        let window = Self::of(size, |ctx| App::open(ctx, path.to_owned()));
        println!("{scene:<44} read after {:.1} s", started.elapsed().as_secs_f64());
        window
    }

    /// Draws a frame; returns what user-interface code and tessellation took.
    fn frame(&mut self, events: Vec<Event>) -> Duration {
        self.time += 1.0 / 60.0;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            time: Some(self.time),
            events,
            ..RawInput::default()
        };
        let started = Instant::now();
        let mut output = self.ctx.run_ui(input, |ui| self.app.frame(ui));
        let shapes = std::mem::take(&mut output.shapes);
        let triangles = self.ctx.tessellate(shapes, output.pixels_per_point);
        let took = started.elapsed();
        drop(triangles);
        output.drop_without_applying_deltas();
        took
    }

    /// Draws frames until nothing is computed any more; the longest of them.
    fn rest(&mut self) -> Duration {
        let (mut idle, mut longest) = (0, Duration::ZERO);
        while idle < 4 {
            longest = longest.max(self.frame(Vec::new()));
            if self.app.is_busy(&self.ctx) {
                idle = 0;
                std::thread::sleep(Duration::from_millis(2));
            } else {
                idle += 1;
            }
        }
        longest
    }

    /// Where a widget is, by its accessible name.
    fn place(&mut self, name: &str) -> Rect {
        self.ctx.enable_accesskit();
        self.time += 1.0 / 60.0;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            time: Some(self.time),
            ..RawInput::default()
        };
        let mut output = self.ctx.run_ui(input, |ui| self.app.frame(ui));
        self.ctx.disable_accesskit();
        let update = output.platform_output.accesskit_update.take().expect("a tree");
        output.drop_without_applying_deltas();
        // A picture may say behind its title what it is of.
        let is_name = |text: Option<&str>| {
            let rest = text.and_then(|text| text.strip_prefix(name));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(", "))
        };
        let wanted = |role: Role, label: Option<&str>, value: Option<&str>| {
            role != Role::GenericContainer && (is_name(label) || is_name(value))
        };
        let (_, node) = update
            .nodes
            .iter()
            .find(|(_, node)| wanted(node.role(), node.label(), node.value()))
            .unwrap_or_else(|| panic!("no widget is called {name:?}"));
        let bounds = node.bounds().expect("a place");
        Rect::from_min_max(
            Pos2::new(bounds.x0 as f32, bounds.y0 as f32),
            Pos2::new(bounds.x1 as f32, bounds.y1 as f32),
        )
    }

    fn click(&mut self, name: &str) {
        let pos = self.place(name).center();
        for pressed in [true, false] {
            self.frame(button(pos, pressed));
        }
        self.rest();
    }

    /// Shows a page; how long it takes until it is at rest, and the longest frame until then, in words.
    fn show(&mut self, page: Page) -> String {
        let started = Instant::now();
        self.app.go(page);
        let longest = self.rest().as_secs_f64() * 1000.0;
        let took = started.elapsed().as_secs_f64() * 1000.0;
        format!("at rest after {took:.0} ms, longest frame {longest:.1} ms")
    }
}

/// What the user does to a picture, as the events of a frame.
#[derive(Clone, Copy)]
enum Doing {
    Hovering,
    Zooming,
    Panning,
}

fn wheel(pos: Pos2, lines: f32) -> Vec<Event> {
    let wheel = Event::MouseWheel {
        unit: MouseWheelUnit::Line,
        delta: Vec2::new(0.0, lines),
        phase: TouchPhase::Move,
        source: MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    };
    vec![Event::PointerMoved(pos), wheel]
}

fn button(pos: Pos2, pressed: bool) -> Vec<Event> {
    let modifiers = Modifiers::NONE;
    let button = Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers };
    vec![Event::PointerMoved(pos), button]
}

/// Moves the pointer on, held from the first of 97 frames to the last.
fn dragging(frame: usize, pos: Pos2) -> Vec<Event> {
    match frame % 97 {
        0 => button(pos, true),
        96 => button(pos, false),
        _ => vec![Event::PointerMoved(pos)],
    }
}

fn key(key: Key) -> Event {
    Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE }
}

fn events(doing: Doing, frame: usize, rect: Rect) -> Vec<Event> {
    let share = |period: usize| (frame % period) as f32 / period as f32;
    let across = Pos2::new(rect.left() + rect.width() * (0.05 + 0.9 * share(97)), rect.center().y);
    match doing {
        Doing::Hovering => vec![Event::PointerMoved(across)],
        Doing::Zooming => {
            // In for a while, then out again.
            wheel(across, if (frame / 40).is_multiple_of(2) { 1.0 } else { -1.0 })
        }
        Doing::Panning => dragging(frame, across),
    }
}

fn measure(window: &mut Window, scene: &str, picture: &str) {
    let rect = window.place(picture);
    for (doing, title) in
        [(Doing::Hovering, "hovering"), (Doing::Zooming, "zooming"), (Doing::Panning, "panning")]
    {
        if matches!(doing, Doing::Panning) {
            // There is something to pan in a part only.
            for _ in 0..4 {
                window.frame(vec![Event::PointerMoved(rect.center()), key(Key::Plus)]);
            }
        }
        measure_doing(window, scene, (doing, title), rect);
    }
    window.frame(vec![key(Key::Num0)]);
}

/// Measures the frames while the user does one thing in a part of the window.
fn measure_doing(window: &mut Window, scene: &str, (doing, title): (Doing, &str), rect: Rect) {
    measure_frames(window, scene, title, |frame| events(doing, frame, rect));
}

/// Measures frames with these events.
fn measure_frames(
    window: &mut Window,
    scene: &str,
    title: &str,
    events: impl Fn(usize) -> Vec<Event>,
) {
    let mut times: Vec<f64> =
        (0..FRAMES).map(|frame| window.frame(events(frame)).as_secs_f64() * 1000.0).collect();
    window.frame(vec![Event::PointerGone]);
    window.rest();
    report_times(scene, title, &mut times);
}

/// Goes from step to step with the keyboard while the pointer rests on the picture.
fn measure_steps(window: &mut Window, scene: &str, picture: &str) {
    window.click("At a step");
    let rect = window.place("Step");
    let pos = rect.center();
    for pressed in [true, false] {
        window.frame(button(pos, pressed));
    }
    window.rest();
    let rect = window.place(picture);
    let mut times: Vec<f64> = (0..FRAMES)
        .map(|_| {
            let events = vec![Event::PointerMoved(rect.center()), key(Key::ArrowRight)];
            window.frame(events).as_secs_f64() * 1000.0
        })
        .collect();
    report_times(scene, "stepping", &mut times);
    window.frame(vec![Event::PointerGone]);
    window.click("All steps");
}

/// Hovers, zooms and pans the picture of a page; where it has none it is hovered and scrolled.
fn measure_page(window: &mut Window, page: Page, scene: &str, picture: Option<&str>) {
    println!("{scene:<44} {}", window.show(page));
    match picture {
        Some(picture) => measure(window, scene, picture),
        None => scroll(window, scene),
    }
}

fn scroll(window: &mut Window, scene: &str) {
    let page = Rect::from_min_max(Pos2::ZERO + runs::AROUND, Pos2::ZERO + window.size);
    measure_doing(window, scene, (Doing::Hovering, "hovering"), page);
    measure_frames(window, scene, "wheel", |frame| {
        wheel(page.center(), if (frame / 100).is_multiple_of(2) { -3.0 } else { 3.0 })
    });
}

fn report_times(scene: &str, title: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times[(times.len() * percent).div_ceil(100) - 1];
    let (median, p99) = (at(50), at(99));
    let verdict = if median <= MEDIAN && p99 <= P99 { "" } else { "  over the measure" };
    println!(
        "{scene:<44} {title:<9} median {median:6.2} ms  99 % {p99:6.2} ms  most {:6.2} ms{verdict}",
        at(100)
    );
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    println!("measure: median {MEDIAN} ms, 99 % {P99} ms");
    match words.first().map(String::as_str) {
        None => {
            measure_all();
            trace::measure_trace();
            measure_eight();
        }
        Some("eight") => measure_eight(),
        Some("large") => measure_large(),
        Some("programs") => SIZES.into_iter().for_each(programs::measure_programs),
        Some("trace") => trace::measure_trace(),
        Some("dump") => dump::measure_dumps(),
        Some("snapshot") => snapshot::measure_snapshots(),
        Some(path) if Path::new(path).is_file() => snapshot::measure_snapshot(Path::new(path)),
        Some(path) if Path::new(path).join("db.sqlite").is_file() => {
            ttnn::measure_report(Path::new(path));
        }
        Some(path) => {
            let open = OpenReport::find(Path::new(path)).unwrap();
            let progress = Progress::default();
            open.read_all(&progress, |report| contradictions(report, &progress)).unwrap();
            measure_run(&open.report, "the report", &[Vec2::new(1920.0, 1080.0)]);
        }
    }
}

const SIZES: [Vec2; 2] = [Vec2::new(1280.0, 800.0), Vec2::new(1920.0, 1080.0)];

fn measure_all() {
    let report = Arc::new(report::report());
    println!("{} tiles, {} steps", report::TILES, report::STEPS);
    for size in SIZES {
        address_steps::measure_address_steps(size);
        programs::measure_programs(size);
        measure_run(&report, "", &[size]);
        pair_liveness::measure_pair(&report, size);
        pair_memory::measure_pair(&report, size);
    }
}

/// As large as reports become: many tiles, many steps.
fn measure_large() {
    let many_tiles = report::Size { ipus: 64, steps: report::STEPS };
    let many_steps = report::Size { ipus: 4, steps: 1_000_000 };
    for (size, title) in [(many_tiles, "64 IPUs"), (many_steps, "1,000,000 steps")] {
        let report = Arc::new(report::report_of(size, title, 7));
        measure_run(&report, title, &SIZES[1..]);
    }
}

/// The scenes of one run.
fn measure_run(report: &Arc<Report>, of: &str, sizes: &[Vec2]) {
    for size in sizes {
        let of = if of.is_empty() { String::new() } else { format!("{of}: ") };
        let scene = |title: &str| format!("{of}{title}, {}×{}", size.x, size.y);
        let mut window = Window::new(report, *size);
        window.show(Page::Overview);
        let page = Rect::from_min_max(Pos2::ZERO + runs::AROUND, Pos2::ZERO + *size);
        measure_doing(&mut window, &scene("Overview"), (Doing::Hovering, "hovering"), page);
        window.show(Page::Memory);
        measure(&mut window, &scene("Memory"), "Memory over tiles");
        window.click("Breakdown");
        window.click("Category");
        measure(&mut window, &scene("Memory by category"), "Memory over tiles");
        let started = Instant::now();
        window.show(Page::Map);
        window.click("All tiles");
        let first = started.elapsed().as_secs_f64() * 1000.0;
        println!("{:<44} first picture after {first:.0} ms", scene("Map of all tiles"));
        measure(&mut window, &scene("Map of all tiles"), "Map of all tiles");
        measure_steps(&mut window, &scene("Map of all tiles"), "Map of all tiles");
        window.click("One tile");
        measure(&mut window, &scene("Map of a tile"), "Addresses over steps");
        window.show(Page::Liveness);
        measure(&mut window, &scene("Liveness"), "Liveness curve");
        window.click("Filter steps");
        window.frame(vec![Event::Text("conv".to_owned())]);
        window.rest();
        window.click("Lifetimes");
        measure(&mut window, &scene("Liveness, filtered, with lifetimes"), "Liveness curve");
        window.click("Scope");
        window.click("Worst tile of each step");
        measure(&mut window, &scene("Liveness of the worst tiles"), "Liveness curve");
    }
}

fn measure_eight() {
    let eight = runs::reports();
    for size in SIZES {
        runs::measure_runs(&eight, size);
    }
}
