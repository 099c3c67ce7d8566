//! Drives a run of several processes, each of which has written a snapshot of its own.

use std::path::Path;

use eframe::egui::Theme;
use tilescope::format::Progress;
use tilescope::synth::transformer::Transformer;
use tilescope::systems::pytorch::synth::{SnapshotOptions, write_snapshot};
use tilescope::text::grouped;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

use crate::support::{assert_text, choose, has_text, settle, texts, wait_for, window};

/// Three ranks, of which the last takes most.
fn write_ranks(directory: &Path, name: &str) {
    for rank in 0..3_u64 {
        let network = Transformer { layers: 2, batch: 1 + rank, ..Transformer::default() };
        let options = SnapshotOptions { network, steps: 2, ..SnapshotOptions::default() };
        // Beside it lies what is of one process alone.
        let alone = tempfile::tempdir().expect("a directory");
        let path = alone.path().join("snapshot.pickle");
        write_snapshot(&options, &path, &Progress::default()).expect("a snapshot");
        std::fs::copy(path, directory.join(format!("{name}rank{rank}.pickle"))).expect("a copy");
    }
}

#[test]
fn a_directory_of_ranks_opens_as_one_run() {
    let directory = tempfile::tempdir().expect("a directory");
    write_ranks(directory.path(), "");
    // What one of them has to say does not keep the others from being shown.
    std::fs::write(directory.path().join("rank3.pickle"), b"").expect("a file");
    let path = directory.path().to_owned();
    let mut harness = window(Theme::Light, |ctx| App::new(ctx, Some(Load::start(path, ctx))));
    harness.state_mut().go(Page::Summary);
    wait_for(&mut harness, "Rank 0, GPU 0; Rank 1, GPU 0; Rank 2, GPU 0");
    assert_text(&harness, "Memory of Rank 1, GPU 0");
    harness.state_mut().go(Page::Insights);
    settle(&mut harness);
    wait_for(&mut harness, "Rank 2, GPU 0");
    choose(&mut harness, "Device", "Rank 1, GPU 0");
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    choose(&mut harness, "Scope", "Rank 0, GPU 0");
    assert!(!has_text(&harness, "several snapshots"), "{:#?}", texts(&harness));
}

#[test]
fn variants_of_several_ranks_are_a_row_each_and_open_by_their_names() {
    let directory = tempfile::tempdir().expect("a directory");
    write_ranks(directory.path(), "first_");
    write_ranks(directory.path(), "second_");
    let path = directory.path().to_owned();
    let mut harness = window(Theme::Light, |ctx| App::new(ctx, Some(Load::start(path, ctx))));
    wait_for(&mut harness, "Least needed: first_rank*");
    settle(&mut harness);
    choose(&mut harness, "Device", "Rank 1, GPU 0");
    wait_for(&mut harness, "second_rank*");
    let path = directory.path().join("second_rank*.pickle");
    let mut harness = window(Theme::Light, |ctx| App::new(ctx, Some(Load::start(path, ctx))));
    harness.state_mut().go(Page::Summary);
    wait_for(&mut harness, "Rank 0, GPU 0; Rank 1, GPU 0; Rank 2, GPU 0");
}

/// The subject of every part of the page is one device, and an event has one number wherever it is named.
#[test]
fn a_page_is_about_one_device_and_an_event_has_one_number() {
    let directory = tempfile::tempdir().expect("a directory");
    write_ranks(directory.path(), "");
    let path = directory.path().to_owned();
    let mut harness = window(Theme::Light, |ctx| App::new(ctx, Some(Load::start(path, ctx))));
    harness.state_mut().go(Page::Overview);
    // The last rank takes most, and the others are lines over its curve.
    wait_for(&mut harness, "Memory over events, Rank 2, GPU 0");
    wait_for(&mut harness, "Parts of the peak on Rank 2, GPU 0");
    wait_for(&mut harness, "Owners of the peak on Rank 2, GPU 0");
    assert_text(&harness, "Rank 0, GPU 0");
    assert_text(&harness, "Rank 1, GPU 0");
    let all = texts(&harness);
    assert!(!all.iter().any(|text| text.contains("together")), "{all:#?}");
    let derived = harness.state().derived();
    let answers = derived[0].answers();
    let peak = answers.peak_size(&derived[0]).expect("a peak");
    let event = grouped(peak.step.expect("an event").unsigned_abs());
    let at_peak = format!("Event {event}");
    assert!(all.contains(&at_peak), "{at_peak}: {all:#?}");
    let headline = format!("Rank 2, GPU 0, at event {event}");
    assert!(all.iter().any(|text| text.contains(&headline)), "{headline}: {all:#?}");
    harness.state_mut().go(Page::Liveness);
    settle(&mut harness);
    wait_for(&mut harness, &at_peak);
    choose(&mut harness, "Scope", "Rank 1, GPU 0");
}
