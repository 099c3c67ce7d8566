//! The pages of an XLA module with 200,000 instructions, and of two of them beside each other.

use std::path::Path;

use eframe::egui::Vec2;
use tilescope::format::Progress;
use tilescope::systems::xla::synth::{DumpOptions, Remat, write_dump};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

use super::{SIZES, Window, measure_page, scroll};

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
    let mut window = Window::open(path, size, &scene("Overview"));
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
