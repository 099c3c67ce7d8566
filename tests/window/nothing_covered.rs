//! Nothing covers or cuts anything: looks at what is painted, on every page, in windows from the least size upwards, with
//! one to eight runs of each system. And tables show at least four rows there.

use std::path::PathBuf;

use eframe::egui::accesskit::Role;
use eframe::egui::epaint::ClippedShape;
use eframe::egui::{Color32, Rect, Shape, Theme, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tilescope::ui::app::App;
use tilescope::ui::command::Page;
use tilescope::ui::loading::Load;

use crate::support::{settle, window_sized};

const PAGES: [Page; 10] = [
    Page::Overview,
    Page::Summary,
    Page::Insights,
    Page::Memory,
    Page::Map,
    Page::Liveness,
    Page::Comparison,
    Page::Programs,
    Page::Operations,
    Page::Trace,
];
/// The least window, a usual one, and a large one, and how many runs are open in them.
const WINDOWS: [(Vec2, &[usize]); 3] = [
    (Vec2::new(1024.0, 700.0), &[1, 2, 6, 8]),
    (Vec2::new(1280.0, 800.0), &[1, 2, 6]),
    (Vec2::new(2560.0, 1440.0), &[8]),
];

/// A line of a text that is painted, with the part of it that is seen.
struct Painted {
    text: String,
    whole: Rect,
    seen: Rect,
    place: usize,
    /// Whether the next line begins with the unit of the value at its end.
    is_parted: bool,
}

/// Whether a line ends with a value whose unit is the first word of the next.
fn is_parted(line: &str, next: &str) -> bool {
    let word = next.split_whitespace().next().unwrap_or_default();
    let unit = word.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    line.trim_end().ends_with(|letter: char| letter.is_ascii_digit())
        && ["B", "KiB", "MiB", "GiB", "TiB"].contains(&unit)
}

/// What covers: areas that are filled, by their place in the order of painting.
struct Fill {
    rect: Rect,
    place: usize,
}

fn gather(
    shape: &Shape,
    clip: Rect,
    place: usize,
    texts: &mut Vec<Painted>,
    fills: &mut Vec<Fill>,
) {
    match shape {
        Shape::Vec(shapes) => {
            for shape in shapes {
                gather(shape, clip, place, texts, fills);
            }
        }
        Shape::Text(text) if text.angle == 0.0 && text.opacity_factor > 0.1 => {
            let color = text.galley.job.sections.first().map(|section| section.format.color);
            if color == Some(Color32::TRANSPARENT) {
                return;
            }
            for (number, row) in text.galley.rows.iter().enumerate() {
                let whole =
                    row.visuals.mesh_bounds.translate(text.pos.to_vec2() + row.pos.to_vec2());
                let seen = whole.intersect(clip);
                let next = text.galley.rows.get(number + 1);
                let text = row.text();
                let is_parted = next.is_some_and(|next| is_parted(&text, &next.text()));
                if !text.trim().is_empty() && seen.is_positive() {
                    texts.push(Painted { text, whole, seen, place, is_parted });
                }
            }
        }
        Shape::Circle(circle) if circle.fill.a() > 200 => {
            fills.push(Fill { rect: circle.visual_bounding_rect().intersect(clip), place });
        }
        Shape::Rect(rect) if rect.fill.a() > 200 => {
            fills.push(Fill { rect: rect.rect.intersect(clip), place });
        }
        _ => {}
    }
}

/// What is wrong in a window, in words.
fn faults(shapes: &[ClippedShape], window: Rect) -> Vec<String> {
    let (mut texts, mut fills) = (Vec::new(), Vec::new());
    for (place, clipped) in shapes.iter().enumerate() {
        let clip = clipped.clip_rect.intersect(window);
        gather(&clipped.shape, clip, place, &mut texts, &mut fills);
    }
    let mut faults = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        // What is scrolled vertically is cut in its height.
        let lost = text.whole.width() - text.seen.width();
        if text.seen.height() > 5.0 && text.seen.width() > 4.0 && lost > 2.0 {
            faults.push(format!("cut: {:?} at {:?}", text.text, text.seen));
        }
        if text.is_parted {
            faults.push(format!("parted from its unit: {:?}", text.text));
        }
        // A label with a ground of its own, such as that of a limit, may cover what is painted.
        let is_over = |fill: &&Fill| {
            let common = fill.rect.intersect(text.seen);
            fill.place > text.place
                && fill.rect.height() > 40.0
                && common.is_positive()
                && common.area() > text.seen.area() * 0.1
        };
        if let Some(fill) = fills.iter().find(is_over) {
            faults.push(format!("covered: {:?} at {:?} by {:?}", text.text, text.seen, fill.rect));
        }
        for other in &texts[number + 1..] {
            let common = text.seen.intersect(other.seen);
            let has_ground = fills.iter().any(|fill| {
                fill.place >= text.place
                    && fill.place <= other.place
                    && fill.rect.expand(1.0).intersect(common).area() > common.area() * 0.5
            });
            if common.width() > 2.0 && common.height() > 3.0 && !has_ground {
                faults.push(format!(
                    "over each other: {:?} and {:?} at {common:?}",
                    text.text, other.text
                ));
            }
        }
    }
    faults
}

fn open(paths: &[PathBuf], size: Vec2) -> Harness<'static, App> {
    window_sized(Theme::Light, size, |ctx| {
        let loads = paths.iter().map(|path| Load::start(path.clone(), ctx)).collect();
        App::with_loads(ctx, loads)
    })
}

/// How many rows are seen whole of a table of a page, where that is less than four and less than it has.
fn too_few_rows(harness: &Harness<'_, App>, window: Rect) -> Option<usize> {
    let (mut texts, mut fills) = (Vec::new(), Vec::new());
    for (place, clipped) in harness.output().shapes.iter().enumerate() {
        let clip = clipped.clip_rect.intersect(window);
        gather(&clipped.shape, clip, place, &mut texts, &mut fills);
    }
    let is_seen = |row: &Rect| {
        let mut inside = texts.iter().filter(|text| row.contains(text.whole.center())).peekable();
        inside.peek().is_some() && inside.all(|text| text.seen.height() > text.whole.height() * 0.9)
    };
    let rows: Vec<Rect> = harness.query_all_by_role(Role::Row).map(|row| row.rect()).collect();
    // The head of a table has its count, such as "12 of 60 rows", beside the field that filters it.
    let fields = harness.query_all_by_role(Role::TextInput);
    let fields = fields.filter(|field| {
        field.accesskit_node().label().is_some_and(|name| name.starts_with("Filter: "))
    });
    let of_table = |field: Rect| {
        let counts = texts.iter().filter(|text| {
            field.y_range().contains(text.whole.center().y) && text.whole.right() < field.left()
        });
        let first = |text: &Painted| {
            let digits = text.text.split(' ').next()?.replace(',', "");
            digits.parse::<usize>().ok()
        };
        let nearest = counts.filter_map(|text| Some((text.whole.left(), first(text)?)));
        let (left, all) = nearest.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let is_of = |row: &&Rect| row.left() <= left + 8.0 && row.right() > left;
        let seen = rows.iter().filter(is_of).filter(|row| is_seen(row)).count();
        (seen < all.min(4)).then_some(seen)
    };
    fields.filter_map(|field| of_table(field.rect())).min()
}

fn look_at(name: &str, paths: &[PathBuf], faults_found: &mut Vec<String>) {
    for (size, counts) in WINDOWS {
        for count in counts {
            let paths: Vec<PathBuf> = paths.iter().cycle().take(*count).cloned().collect();
            let mut harness = open(&paths, size);
            for page in PAGES {
                harness.state_mut().go(page);
                settle(&mut harness);
                let window = Rect::from_min_size(eframe::egui::Pos2::ZERO, size);
                let found = faults(&harness.output().shapes, window);
                let place = format!("{name}, {count} runs, {size:?}, {page:?}");
                faults_found.extend(found.into_iter().map(|fault| format!("{place}: {fault}")));
                if let Some(rows) = too_few_rows(&harness, window) {
                    faults_found.push(format!("{place}: {rows} rows"));
                }
            }
        }
    }
}

#[test]
fn nothing_is_covered_or_cut() {
    let samples = |paths: &[&str]| -> Vec<PathBuf> {
        paths.iter().map(|path| PathBuf::from("sample_profiles").join(path)).collect()
    };
    let mut faults = Vec::new();
    let reports = ["does-not-fit", "pair-0.6", "pair-0.2", "tiny", "pipeline"];
    look_at("IPU", &samples(&reports), &mut faults);
    let snapshots = ["training/segments-0/snapshot.pickle", "training/segments-2/snapshot.pickle"];
    look_at("PyTorch", &samples(&snapshots), &mut faults);
    look_at("XLA", &samples(&["xla/keep", "xla/again", "xla/donate"]), &mut faults);
    let reports = ["tenstorrent/dram", "tenstorrent/l1", "tenstorrent/too-large"];
    look_at("TT-NN", &samples(&reports), &mut faults);
    assert!(faults.is_empty(), "{} faults: {:#?}", faults.len(), &faults[..faults.len().min(40)]);
}
