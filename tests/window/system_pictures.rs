//! Pictures of pages of PyTorch snapshots and XLA modules.

use eframe::egui::Theme;
use eframe::egui::Theme::{Dark, Light};
use egui_kittest::{SnapshotResults, try_image_snapshot_options};
use image::GenericImageView as _;
use tilescope::ui::command::Page;

use crate::recorded_scenes::{failed_snapshot, samples};
use crate::scenes::Act::{Go, Press, Type};
use crate::scenes::{Act, Reports};
use crate::support::{SIZES, tolerances};

/// Points at the bottom of the window that are left out: the status bar has the path of the run.
const STATUS_BAR: u32 = 28;

/// A name, a theme, and what is done before the picture is taken.
type Picture = (&'static str, Theme, &'static [Act]);

#[track_caller]
fn assert_pictures(reports: &Reports, pictures: &[Picture]) {
    let mut results = SnapshotResults::new();
    let [width, height] = [SIZES[0].x as u32, SIZES[0].y as u32 - STATUS_BAR];
    for (name, theme, acts) in pictures {
        let (mut harness, not_found) = reports.after(*theme, *acts);
        assert_eq!(not_found, "", "{name}");
        harness.remove_cursor();
        harness.run_steps(4);
        let image = harness.render().expect("a picture").view(0, 0, width, height).to_image();
        results.add(try_image_snapshot_options(&image, *name, &tolerances()));
    }
}

const SNAPSHOTS: [&str; 2] =
    ["training/segments-0/snapshot.pickle", "training/segments-2/snapshot.pickle"];

#[test]
fn pages_of_a_snapshot_look_as_they_did() {
    assert_pictures(
        &samples(&SNAPSHOTS[..1]),
        &[
            ("snapshot-overview", Light, &[Go(Page::Overview)]),
            ("snapshot-liveness", Dark, &[Go(Page::Liveness)]),
            ("snapshot-map", Light, &[Go(Page::Map)]),
        ],
    );
}

#[test]
fn insights_into_a_failed_snapshot_look_as_they_did() {
    let failed = Reports::Read(vec![failed_snapshot("pictures")]);
    assert_pictures(&failed, &[("snapshot-failed-insights", Dark, &[Go(Page::Insights)])]);
}

#[test]
fn pages_of_two_snapshots_look_as_they_did() {
    assert_pictures(
        &samples(&SNAPSHOTS),
        &[
            ("snapshots-compare", Light, &[Go(Page::Comparison)]),
            ("snapshots-liveness", Dark, &[Go(Page::Liveness)]),
            ("snapshots-map", Light, &[Go(Page::Map)]),
        ],
    );
}

#[test]
fn pages_of_a_module_look_as_they_did() {
    assert_pictures(
        &samples(&["xla/keep"]),
        &[
            ("module-overview", Dark, &[Go(Page::Overview)]),
            ("module-insights", Light, &[Go(Page::Insights)]),
            ("module-map", Dark, &[Go(Page::Map)]),
            ("module-liveness", Light, &[Go(Page::Liveness)]),
        ],
    );
}

#[test]
fn two_modules_compared_look_as_they_did() {
    let modules = samples(&["xla/keep", "xla/again"]);
    assert_pictures(
        &modules,
        &[
            ("modules-compare", Light, &[Go(Page::Comparison)]),
            ("modules-map", Dark, &[Go(Page::Map), Press("Allocations over steps")]),
        ],
    );
}

#[test]
fn a_sweep_of_modules_looks_as_it_did() {
    const ACTS: &[Act] =
        &[Press("Sweep"), Type("Directory", "sample_profiles/xla"), Type("Capacity", "8MiB")];
    // It is opened over any run.
    assert_pictures(&samples(&["xla/keep"]), &[("modules-sweep", Dark, ACTS)]);
}
