//! The pages of a TT-NN report, as `tilescope synth --system tenstorrent --activations dram --size 1GiB` writes one.

use std::path::Path;

use tilescope::ui::command::Page;

use super::{SIZES, Window, measure_page};

/// Measures the pages of a report.
pub fn measure_report(path: &Path) {
    for size in SIZES {
        let scene = |title: &str| format!("{title} of TT-NN, {}×{}", size.x, size.y);
        let mut window = Window::open(path, size, &scene("Overview"));
        for (page, title, picture) in [
            (Page::Overview, "Overview", Some("Memory over operations")),
            (Page::Liveness, "Liveness", Some("Liveness curve")),
            (Page::Map, "Map", Some("Banks over operations")),
            (Page::Summary, "Summary", None),
            (Page::Insights, "Insights", None),
            (Page::Operations, "Operations", None),
        ] {
            measure_page(&mut window, page, &scene(title), picture);
        }
    }
}
