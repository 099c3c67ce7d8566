//! A run that does not fit: no page, scope or tile says of a part of it that it fits without saying that the run does
//! not. Of the six runs of the story, five of which do not fit: by the curve, by imbalance, by placement.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use eframe::egui::accesskit::Role;
use eframe::egui::{Color32, Modifiers, Shape, Theme, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tilescope::format::Progress;
use tilescope::systems::poplar::synth::story::{PROPORTIONS, directory_name, options};
use tilescope::systems::poplar::synth::write_report;
use tilescope::ui::app::App;
use tilescope::ui::command::Page;

use crate::scenes::Reports;
use crate::support::{
    choose, click, click_at, has_text, open_map, press, settle, texts, type_into,
};

/// The colors of a sign that something fits, and of its ground, in the light theme.
const FITS: [Color32; 2] =
    [Color32::from_rgb(0x0b, 0x7a, 0x56), Color32::from_rgb(0xe0, 0xf4, 0xec)];
/// What only a part that has room says.
const ROOM: [&str; 6] = [
    "below the limit",
    "under the limit",
    "free on the fullest",
    " at its highest",
    " fit",
    " below",
];
/// Behind the name of a run that fits.
const FITTING: f64 = 0.35;

fn has_color(shape: &Shape, color: Color32) -> bool {
    match shape {
        Shape::Vec(shapes) => shapes.iter().any(|shape| has_color(shape, color)),
        Shape::Circle(circle) => circle.fill == color,
        Shape::Rect(rect) => rect.fill == color || rect.stroke.color == color,
        Shape::Path(path) => path.fill == color,
        Shape::Text(text) => {
            let sections = || text.galley.job.sections.iter();
            let own = text.override_text_color.or(Some(text.fallback_color));
            own == Some(color) || sections().any(|section| section.format.color == color)
        }
        _ => false,
    }
}

/// Whether a sign is painted that something fits.
fn has_sign(harness: &Harness<'_, App>) -> bool {
    let shapes = &harness.output().shapes;
    shapes.iter().any(|clipped| FITS.iter().any(|color| has_color(&clipped.shape, *color)))
}

/// How the run failed, as its chip says it: `46 tiles over`.
fn failure(harness: &Harness<'_, App>) -> String {
    let texts = texts(harness);
    let said = |text: &String| Some(text.strip_prefix("The run: ")?.to_owned());
    texts.iter().find_map(said).expect("a part of the run that has room")
}

#[track_caller]
fn assert_no_part_fits(harness: &Harness<'_, App>, failed: &str, place: &str) {
    assert!(!has_sign(harness), "a sign of what fits at {place}: {:#?}", texts(harness));
    let all = texts(harness);
    // In a box the next line says how the run failed.
    let in_boxes = all.iter().filter(|text| text.starts_with("The run: ")).count();
    let says_room = |text: &&String| {
        ROOM.iter().any(|room| text.contains(room)) && !text.to_lowercase().contains(failed)
    };
    // Sentences about what would make it fit, options and figures of a picture are no signs.
    let is_short = |text: &&String| {
        let known = [
            "not fit",
            "fits without",
            "fit without",
            "; the run: ",
            "fits and the tiles do not",
            "freed to fit",
        ];
        text.len() < 60 && known.iter().all(|known| !text.contains(known))
    };
    let alone: BTreeSet<_> = all.iter().filter(says_room).filter(is_short).collect();
    assert!(alone.len() <= in_boxes, "{place}: {alone:#?} beside {in_boxes} in {all:#?}");
}

fn go(harness: &mut Harness<'_, App>, page: Page) {
    harness.state_mut().go(page);
    settle(harness);
}

/// Clicks a picture at a share of its width.
fn click_share(harness: &mut Harness<'_, App>, picture: &str, share: f32) {
    let rect = harness.get_by_label(picture).rect();
    let at = rect.left_top() + Vec2::new(rect.width() * share, rect.height() * 0.8);
    click_at(harness, at, Modifiers::NONE);
}

/// Goes through the pages, scopes and tiles of a run; `look` is called with the name of each.
fn each_place(harness: &mut Harness<'_, App>, look: &mut dyn FnMut(&Harness<'_, App>, &str)) {
    go(harness, Page::Liveness);
    look(harness, "Liveness");
    for share in [0.1, 0.5, 0.99] {
        click_share(harness, "Liveness curve", share);
        look(harness, &format!("Liveness, a step at {share}"));
    }
    press(harness, eframe::egui::Key::Escape);
    for scope in ["IPU 0", "Worst tile of each step", "One tile…"] {
        choose(harness, "Scope", scope);
        look(harness, &format!("Liveness, {scope}"));
    }
    for tile in ["700", "1471"] {
        type_into(harness, "Tile number", tile);
        press(harness, eframe::egui::Key::Enter);
        look(harness, &format!("Liveness, tile {tile}"));
        click_share(harness, "Liveness curve", 0.99);
        look(harness, &format!("Liveness, the last step of tile {tile}"));
    }
    go(harness, Page::Memory);
    look(harness, "Memory");
    for share in [0.0, 0.4, 0.8, 0.99] {
        click_share(harness, "Memory over tiles", share);
        look(harness, &format!("Memory, a tile at {share}"));
    }
    for view in ["One tile", "All tiles", "Floor plan"] {
        open_map(harness, view);
        look(harness, &format!("Map, {view}"));
    }
    for page in [Page::Insights, Page::Summary, Page::Overview] {
        go(harness, page);
        look(harness, &format!("{page:?}"));
    }
}

#[test]
fn no_part_of_a_run_that_does_not_fit_is_said_to_fit() {
    let directory = tempfile::tempdir().expect("a directory");
    let paths = PROPORTIONS.map(|proportion| directory.path().join(directory_name(proportion)));
    let look_at = |(path, proportion): (&PathBuf, &f64)| {
        write_report(&options(*proportion), path, &Progress::default()).expect("a report");
        let (mut harness, _) = Reports::Read(vec![path.clone()]).after(Theme::Light, &[]);
        let name = path.file_name().expect("a name").display().to_string();
        if name == directory_name(FITTING) {
            let mut signs = 0;
            each_place(&mut harness, &mut |harness, place| {
                signs += usize::from(has_sign(harness));
                assert!(!has_text(harness, "The run: "), "{place}");
            });
            assert!(signs > 10, "a run that fits says so of its parts, {signs} times");
            return;
        }
        // The last tile of each run has room.
        go(&mut harness, Page::Memory);
        let mut failed = None;
        for share in [0.99, 0.7, 0.4, 0.1] {
            click_share(&mut harness, "Memory over tiles", share);
            failed = failed.or(has_text(&harness, "The run: ").then(|| failure(&harness)));
        }
        let failed = failed.unwrap_or_else(|| "tiles over".to_owned());
        assert!(failed.ends_with("tiles over"), "{failed}");
        each_place(&mut harness, &mut |harness, place| {
            assert_no_part_fits(harness, &failed, &format!("{name}: {place}"));
        });
    };
    std::thread::scope(|scope| {
        for (half, proportions) in paths.chunks(3).zip(PROPORTIONS.chunks(3)) {
            scope.spawn(move || half.iter().zip(proportions).for_each(look_at));
        }
    });
    six_at_once(&paths);
    parts_are_seen_from_the_ground(&paths[0]);
}

/// Tiles that are nearly as full as the fullest are seen from above the ground, which the picture says; what is
/// stacked on them never, and all of them by "Show all".
fn parts_are_seen_from_the_ground(path: &Path) {
    let (mut harness, _) = Reports::Read(vec![path.to_owned()]).after(Theme::Light, &[]);
    go(&mut harness, Page::Memory);
    let begins_above = |harness: &Harness<'_, App>| {
        let shapes = harness.output().shapes.iter();
        let is_said =
            |text: &eframe::egui::epaint::TextShape| text.galley.text().ends_with(", not from 0");
        shapes
            .into_iter()
            .any(|clipped| matches!(&clipped.shape, Shape::Text(text) if is_said(text)))
    };
    assert!(begins_above(&harness), "tiles of this run are hardly told apart from 0");
    for breakdown in ["Region", "Category", "Liveness"] {
        choose(&mut harness, "Breakdown", breakdown);
        assert!(!begins_above(&harness), "{breakdown}");
    }
    choose(&mut harness, "Breakdown", "None");
    assert!(begins_above(&harness));
    click(&mut harness, "Show all");
    assert!(!begins_above(&harness), "all of it");
}

/// Of six runs in one window each box is of one run, and says how that one failed.
fn six_at_once(paths: &[PathBuf]) {
    let (mut harness, _) = Reports::Read(paths.to_vec()).after(Theme::Light, &[]);
    let count = |harness: &Harness<'_, App>, text: &str| {
        let labels = harness.get_all_by_role(Role::Label);
        let values = labels.filter_map(|node| node.accesskit_node().value());
        let values = values.map(|found| found.replace('\u{a0}', " "));
        values.filter(|found| found.contains(text) && found.len() < 40).count()
    };
    for page in [Page::Memory, Page::Liveness] {
        go(&mut harness, page);
        let room = if page == Page::Memory { " KiB free" } else { "below the limit" };
        let boxes = count(&harness, room);
        assert!(boxes >= 3, "{page:?}: {:#?}", texts(&harness));
        // One of them fits.
        assert_eq!(count(&harness, "The run: "), boxes - 1, "{:#?}", texts(&harness));
    }
    assert!(has_text(&harness, "; and 4 more, no peak over"), "{:#?}", texts(&harness));
    go(&mut harness, Page::Map);
    for letter in ["E: 46 tiles over; ", "F: 46 tiles over; "] {
        assert!(has_text(&harness, letter), "{letter}: {:#?}", texts(&harness));
    }
}
