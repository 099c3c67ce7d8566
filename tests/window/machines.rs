//! Drives two reports for different machines: no figure of one is used for the other.

use std::path::{Path, PathBuf};

use crate::support::{
    assert_text, assert_texts, click, has_text, hover_share, open_map, settle, texts, window_sized,
};
use eframe::egui::{Theme, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tilescope::format::Progress;
use tilescope::systems::poplar::files::OpenReport;
use tilescope::systems::poplar::synth::machine::Architecture;
use tilescope::systems::poplar::synth::{ReportOptions, write_report};
use tilescope::text::exact_bytes;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

/// 16 tiles of an IPU of another kind.
fn small() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_profiles/tiny")
}

/// Two IPUs of 48 tiles, each with less memory.
fn write_large(directory: &Path) {
    let options = ReportOptions {
        architecture: Architecture::Mk1,
        tiles_per_ipu: 48,
        ipus: 2,
        batch: 2,
        ..ReportOptions::default()
    };
    write_report(&options, directory, &Progress::default()).expect("a report");
}

fn open(paths: [&Path; 2]) -> Harness<'static, App> {
    window_sized(Theme::Light, Vec2::new(1920.0, 1400.0), |ctx| {
        App::with_loads(ctx, paths.map(|path| Load::start(path.to_owned(), ctx)).into())
    })
}

fn go(harness: &mut Harness<'_, App>, page: Page) {
    harness.state_mut().go(page);
    settle(harness);
}

/// By how much the first tile of a report is under the limit of that report.
fn under_limit(path: &Path) -> String {
    let open = OpenReport::open(path, &Progress::default()).expect("a report");
    let bytes = open.report.memory.get().and_then(|memory| memory.including_gaps[0]);
    let limit = open.report.bytes_per_tile();
    let under = limit.zip(bytes).map(|(limit, bytes)| limit.saturating_sub(bytes));
    format!("{} under the limit", exact_bytes(under.expect("a limit")))
}

/// Whether no IPU is named that neither has: by 16 tiles an IPU there would be six.
#[track_caller]
fn assert_known_ipus(harness: &Harness<'_, App>) {
    for ipu in 2..8 {
        assert!(!has_text(harness, &format!("IPU {ipu}")), "{:#?}", texts(harness));
    }
}

/// Puts the pointer on the last tile of the map of all tiles of a run, which the small one does not have.
fn hover_last(harness: &mut Harness<'_, App>, map: &str) {
    let rect = harness.get_by_label(map).rect();
    harness.hover_at(rect.left_bottom() + Vec2::new(rect.width() * 0.1, -2.0));
    harness.run_steps(3);
}

#[test]
fn no_figure_of_one_machine_is_used_for_the_other() {
    let (large, small) = (tempfile::tempdir().expect("a directory"), small());
    write_large(large.path());
    for is_large_first in [false, true] {
        let paths = [&*small, large.path()];
        let mut harness = open(if is_large_first { [paths[1], paths[0]] } else { paths });
        // The small one first, whatever is the source.
        let of = |[small, large]: [&str; 2]| {
            if is_large_first {
                [large.to_owned(), small.to_owned()]
            } else {
                [small.to_owned(), large.to_owned()]
            }
        };
        assert_text(&harness, "The reports are for different machines");
        assert_known_ipus(&harness);
        go(&mut harness, Page::Summary);
        assert_known_ipus(&harness);
        for (name, values) in [("tiles", ["16", "96"]), ("tiles_per_ipu", ["16", "48"])] {
            assert_text(&harness, &format!("{name} {}", of(values).join(" → ")));
        }
        go(&mut harness, Page::Insights);
        assert_known_ipus(&harness);
        assert_texts(&harness, &["Histogram of 16 tiles", "Histogram of 96 tiles"]);
        go(&mut harness, Page::Liveness);
        assert_known_ipus(&harness);
        assert_text(&harness, "Each IPU has its own limit");
        go(&mut harness, Page::Memory);
        for view in ["View of tiles", "View of the map of differences"] {
            click(&mut harness, view);
            assert_text(&harness, "each tile is paired with that of the same number");
            assert_known_ipus(&harness);
        }
        for view in ["One tile", "Floor plan", "Differences", "All tiles"] {
            open_map(&mut harness, view);
            assert_text(&harness, "each tile is paired with that of the same number");
            assert_known_ipus(&harness);
        }
        let maps = ["Map of all tiles of the source", "Map of all tiles of the target"];
        for (map, tiles) in maps.iter().zip(of(["16 tiles", "96 tiles"])) {
            let value = harness.get_by_label(map).value().unwrap_or_default();
            assert!(value.starts_with(&tiles), "{map}: {value}");
        }
        let [of_small, of_large] = if is_large_first { [maps[1], maps[0]] } else { maps };
        hover_last(&mut harness, of_small);
        assert_text(&harness, "Tile 95, ");
        hover_last(&mut harness, of_large);
        assert_text(&harness, "Tile 95 of IPU 1, ");
        // Each is held against its own limit.
        go(&mut harness, Page::Memory);
        click(&mut harness, "View of tiles");
        hover_share(&mut harness, "Memory over tiles", 0.004);
        for under in of([under_limit(&small), under_limit(large.path())].each_ref().map(|it| &**it))
        {
            assert_text(&harness, &under);
        }
        hover_share(&mut harness, "Memory over tiles", 0.996);
        assert_text(&harness, "it does not have this tile");
    }
}
