//! What the user says of the device: verdicts, signs and limits of all pages follow it.

use eframe::egui::Theme;
use tilescope::format::Progress;
use tilescope::systems::pytorch::synth::{SnapshotOptions, write_snapshot};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

use crate::support::{click, has_text, settle, type_into, wait_for, window};

#[test]
fn a_capacity_decides_on_every_page() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("snapshot.pickle");
    let options = SnapshotOptions { steps: 2, ..SnapshotOptions::default() };
    write_snapshot(&options, &path, &Progress::default()).expect("a snapshot");
    let mut harness = window(Theme::Light, |ctx| App::new(ctx, Some(Load::start(path, ctx))));
    harness.state_mut().go(Page::Overview);
    wait_for(&mut harness, "No request failed");
    type_into(&mut harness, "Capacity", "100MiB");
    wait_for(&mut harness, "Does not fit");
    wait_for(&mut harness, " too much");
    assert!(has_text(&harness, "does not fit"), "the chip of the run says it, too");
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    wait_for(&mut harness, " the limit");
    harness.state_mut().go(Page::Overview);
    settle(&mut harness);
    type_into(&mut harness, "Capacity", "no device");
    wait_for(&mut harness, "bytes such as 16GiB expected, or a device");
    wait_for(&mut harness, "No request failed");
    click(&mut harness, "Known devices");
    click(&mut harness, "v5e  15.8 GiB");
    wait_for(&mut harness, " of the 15.8 GiB");
    assert!(has_text(&harness, "Fits"));
}
