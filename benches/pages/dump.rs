//! The pages of an XLA module with 200,000 instructions, and of two of them beside each other.

use std::path::Path;
use std::time::Instant;

use eframe::egui::{Pos2, Rect, Vec2};
use tilescope::format::Progress;
use tilescope::systems::xla::synth::{DumpOptions, Remat, write_dump};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

use super::{Doing, SIZES, Window, measure, measure_doing, measure_frames, runs, wheel};

const INSTRUCTIONS: u64 = 200_000;

/// Writes two dumps and measures the pages of the first, and of both.
pub fn measure_dumps() {
    let directory = tempfile::tempdir().expect("a directory");
    let keep = DumpOptions::default();
    let again = DumpOptions { remat: Remat::Full, is_donated: true, ..DumpOptions::default() };
    let paths = [("keep", keep), ("again", again)].map(|(name, options)| {
        let path = directory.path().join(name);
        let options = options.with_instructions(INSTRUCTIONS);
        let written = write_dump(&options, &path, &Progress::default()).expect("a dump");
        println!("{name}: {} instructions, {} values", written.instructions, written.values);
        path
    });
    for size in SIZES {
        measure_dump(&paths[0], size);
        measure_two(&paths, size);
    }
}

fn measure_dump(path: &Path, size: Vec2) {
    let scene = |title: &str| format!("{title} of a dump, {}×{}", size.x, size.y);
    let started = Instant::now();
    let mut window = Window::of(size, |ctx| App::open(ctx, path.to_owned()));
    println!("{:<44} read after {:.1} s", scene("Overview"), started.elapsed().as_secs_f64());
    for (page, title, picture) in [
        (Page::Overview, "Overview", Some("Memory over steps")),
        (Page::Liveness, "Liveness", Some("Liveness curve")),
        (Page::Map, "Map", Some("Addresses over steps")),
        (Page::Summary, "Summary", None),
        (Page::Insights, "Insights", None),
        (Page::Programs, "Programs", None),
        (Page::Operations, "Operations", None),
    ] {
        measure_page(&mut window, page, &scene(title), picture);
        if page == Page::Programs {
            window.click("Open all");
            scroll(&mut window, &scene("Programs, all open,"));
        }
    }
}

fn measure_two(paths: &[std::path::PathBuf], size: Vec2) {
    let scene = |title: &str| format!("{title} of two dumps, {}×{}", size.x, size.y);
    let mut window = Window::of(size, |ctx| {
        App::with_loads(ctx, paths.iter().map(|path| Load::start(path.clone(), ctx)).collect())
    });
    for (page, title, picture) in [
        (Page::Comparison, "Compare", None),
        (Page::Liveness, "Liveness", Some("Liveness curves of both")),
        (Page::Operations, "Operations", None),
    ] {
        measure_page(&mut window, page, &scene(title), picture);
    }
}

/// Hovers, zooms and pans the picture of a page; where it has none it is hovered and scrolled.
pub fn measure_page(window: &mut Window, page: Page, scene: &str, picture: Option<&str>) {
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
