//! The pages of a memory snapshot with 5,000,000 events.

use std::path::Path;

use eframe::egui::{Event, Key};
use tilescope::format::Progress;
use tilescope::systems::pytorch::synth::{SnapshotOptions, write_snapshot};
use tilescope::ui::command::Page;

use super::{SIZES, Window, key, measure, report_times};

const EVENTS: u64 = 5_000_000;
/// Steps of the training that make more than those.
const STEPS: u64 = 4000;

/// Writes a snapshot and measures its pages.
pub fn measure_snapshots() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("snapshot.pickle");
    let options =
        SnapshotOptions { steps: STEPS, most_events: EVENTS, ..SnapshotOptions::default() };
    write_snapshot(&options, &path, &Progress::default()).expect("a snapshot");
    measure_snapshot(&path);
}

/// Measures the pages of a snapshot.
pub fn measure_snapshot(path: &Path) {
    for size in SIZES {
        let scene = |title: &str| format!("{title} of a snapshot, {}×{}", size.x, size.y);
        let mut window = Window::open(path, size, &scene("Overview"));
        for (page, title, picture) in [
            (Page::Overview, "Overview", "Memory over events"),
            (Page::Liveness, "Liveness", "Memory curve"),
            (Page::Map, "Map", "Segments over events"),
        ] {
            println!("{:<44} {}", scene(title), window.show(page));
            measure(&mut window, &scene(title), picture);
            if page != Page::Overview {
                measure_events(&mut window, &scene(title), picture);
            }
        }
    }
}

/// Goes from event to event with the keyboard: tables and inspector follow.
fn measure_events(window: &mut Window, scene: &str, picture: &str) {
    window.click(picture);
    let rect = window.place(picture);
    let mut times: Vec<f64> = (0..super::FRAMES)
        .map(|_| {
            let events = vec![Event::PointerMoved(rect.center()), key(Key::ArrowRight)];
            window.frame(events).as_secs_f64() * 1000.0
        })
        .collect();
    window.frame(vec![Event::PointerGone]);
    window.rest();
    report_times(scene, "stepping", &mut times);
}
