//! The pages of a TT-NN report, as `tilescope synth --system tenstorrent --activations dram --size 1GiB` writes one.

use std::path::Path;
use std::time::Instant;

use tilescope::ui::app::App;
use tilescope::ui::command::Page;

use super::dump::measure_page;
use super::{SIZES, Window};

/// Measures the pages of a report.
pub fn measure_report(path: &Path) {
    for size in SIZES {
        let started = Instant::now();
        let mut window = Window::of(size, |ctx| App::open(ctx, path.to_owned()));
        let scene = |title: &str| format!("{title} of TT-NN, {}×{}", size.x, size.y);
        println!("{:<44} read after {:.1} s", scene("Overview"), started.elapsed().as_secs_f64());
        for (page, title, picture) in [
            (Page::Overview, "Overview", Some("Memory over operations")),
            (Page::Liveness, "Liveness", Some("Liveness curve")),
            (Page::Map, "Map", Some("Banks over operations")),
            (Page::Memory, "Memory", None),
            (Page::Summary, "Summary", None),
            (Page::Insights, "Insights", None),
            (Page::Operations, "Operations", None),
        ] {
            measure_page(&mut window, page, &scene(title), picture);
        }
    }
}
