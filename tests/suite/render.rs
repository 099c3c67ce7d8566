//! Pages and pictures as files, by a process that has no display.

use crate::common::{in_package, sample, tilescope};

fn path(name: &str) -> String {
    in_package("sample_profiles").join(name).to_str().unwrap().to_owned()
}

fn errors(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn wrong_arguments_are_told_before_anything_is_read() {
    let absent = "./no-such-report";
    let picture = |page: &str, more: &[&str]| {
        tilescope(&[&["render", absent, "--page", page, "-o", "never.png"], more].concat())
    };
    for (output, expected) in [
        (picture("livness", &[]), "[possible values: overview, histogram, summary"),
        (picture("memory", &["--step", "3"]), "--step does not apply to the page memory"),
        (picture("overview", &["--tile", "3"]), "--tile does not apply to the page overview"),
        (picture("map", &["--ipu", "0"]), "--ipu does not apply to the page map"),
        (picture("liveness", &["--step", "top"]), "neither a step nor `peak`"),
        (picture("liveness", &["--scale", "9"]), "a number from 0.5 to 4"),
        (picture("liveness", &["--size", "10x10"]), "two numbers from 100 to 5000"),
        (picture("liveness", &["--theme", "blue"]), "light, dark"),
        (picture("compare", &[]), "compare takes two runs or more"),
        (tilescope(&["render", absent, absent, "--page", "sweep", "-o", "a.svg"]), "one directory"),
        (tilescope(&["render", absent, "--page", "map", "-o", "a.jpg"]), "ends in .png or .svg"),
        (tilescope(&["render", absent, "--page", "map"]), "--output"),
    ] {
        let said = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{expected}: {said}");
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let output = tilescope(&["render", absent, "--page", "map", "-o", "/no/such/directory/a.png"]);
    assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
    let listed = String::from_utf8(tilescope(&["render", "--help"]).stdout).unwrap();
    for name in ["grid-differences", "lifetimes", "sweep-heat-map"] {
        assert!(listed.contains(name), "{listed}");
    }
}

#[cfg(not(feature = "window"))]
#[test]
fn without_the_window_it_says_so() {
    let output =
        tilescope(&["render", sample().to_str().unwrap(), "--page", "map", "-o", "never.png"]);
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(
        said.contains("built without the window") && said.contains("--features window"),
        "{said}"
    );
    assert!(!path("tiny").is_empty());
}

#[cfg(feature = "window")]
mod with_window {
    use super::*;
    use rayon::prelude::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Each view, what it is drawn of, and words that are in it.
    const VIEWS: [(&str, &[&str], &[&str]); 23] = [
        ("overview", &["pair-0.6"], &["Memory over steps", "Tiles", "Step", "pair-0.6"]),
        ("histogram", &["does-not-fit"], &["Tiles", "highest bar:", "Limit", "Overview"]),
        ("summary", &["pair-0.6"], &["Machine", "Compiler phases", "Engine options"]),
        ("compiler-phases", &["pair-0.6"], &["Compiler phases", "Summary"]),
        ("insights", &["does-not-fit"], &["Largest", "Parts of the peak"]),
        ("memory", &["pair-0.6"], &["Memory over tiles", "Tile", "With gaps", "Limit"]),
        ("memory-differences", &["pair-0.6", "pair-0.2"], &["Map of differences", "Tile"]),
        ("map", &["pair-0.6"], &["Map of a tile", "Variable", "Gap or free"]),
        ("map-all-tiles", &["pair-0.6"], &["Map of all tiles", "All steps", "Address within"]),
        ("grid", &["pair-0.6"], &["Floor plan", "With gaps", "IPU 0"]),
        ("grid-differences", &["pair-0.6", "pair-0.2"], &["Floor plan", "− source"]),
        ("liveness", &["pair-0.6"], &["Liveness curve", "Always live", "Step"]),
        ("lifetimes", &["pair-0.6"], &["Lifetimes at step", "Step"]),
        ("programs", &["pair-0.6"], &["Control programs", "Sequence", "Kinds of programs"]),
        ("operations", &["pair-0.6"], &["Cycles against memory", "At the peak", "Total"]),
        ("trace", &["pair-0.6"], &["Execution trace", "Not always live", "Run 0"]),
        ("trace-tiles", &["pair-0.6"], &["Execution trace", "starts are"]),
        ("compare", &["pair-0.6", "pair-0.2"], &["In words", "What changed", "Step"]),
        ("compare-peak", &["pair-0.6", "pair-0.2"], &["Why the peak", "pair-0.2"]),
        ("sweep", &[""], &["What memory buys", "Runs", "sample_profiles"]),
        ("sweep-heat-map", &[""], &["sample_profiles"]),
        ("sweep-curves", &[""], &["sample_profiles", "does not fit"]),
        ("sweep-memory", &[""], &["upwards: samples per second", "Needed"]),
    ];

    fn render(view: &str, of: &[&str], more: &[&str], file: &Path) -> std::process::Output {
        let paths: Vec<String> = of.iter().map(|name| path(name)).collect();
        let mut words = vec!["render"];
        words.extend(paths.iter().map(String::as_str));
        words.extend(["--page", view, "-o", file.to_str().unwrap()]);
        words.extend(more);
        tilescope(&words)
    }

    fn rendered(view: &str, of: &[&str], more: &[&str], file: &Path) -> Vec<u8> {
        let output = render(view, of, more, file);
        assert_eq!(output.status.code(), Some(0), "{view} {more:?}: {}", errors(&output));
        let is_warning = |line: &str| line.starts_with("warning: ");
        assert!(errors(&output).lines().all(is_warning), "{}", errors(&output));
        assert!(output.stdout.is_empty());
        std::fs::read(file).unwrap()
    }

    /// Draws a view in a directory of its own, each time anew.
    fn check_view((view, of, words): (&str, &[&str], &[&str])) {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str| directory.path().join(name);
        let svg = rendered(view, of, &[], &file("a.svg"));
        assert!(svg == rendered(view, of, &[], &file("a.svg")), "{view} is another SVG each time");
        let svg = String::from_utf8(svg).unwrap();
        resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default())
            .unwrap_or_else(|error| panic!("{view}: {error}"));
        for word in words {
            assert!(svg.contains(word), "{view} has no '{word}'");
        }
        for theme in ["light", "dark"] {
            let png = rendered(view, of, &["--theme", theme], &file("a.png"));
            let image = image::load_from_memory(&png).unwrap().into_rgb8();
            assert!(image.width() > 600 && image.height() > 100, "{view}");
            let colors: BTreeSet<[u8; 3]> = image.pixels().map(|pixel| pixel.0).collect();
            assert!(colors.len() > 50, "{view} in {theme} has {} colours", colors.len());
            let ground = image.get_pixel(3, 3).0.map(u32::from).iter().sum::<u32>() / 3;
            assert_eq!(ground > 128, theme == "light", "{view} in {theme}: {ground}");
            let again = rendered(view, of, &["--theme", theme], &file("a.png"));
            assert!(png == again, "{view} in {theme} is another PNG each time");
        }
        let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
        assert_eq!(left.len(), 2, "no temporary file: {left:?}");
    }

    #[test]
    fn every_view_is_drawn_without_a_display_and_alike_each_time() {
        VIEWS.into_par_iter().for_each(check_view);
    }

    /// Every run in `sample_profiles`.
    const SAMPLES: [&str; 13] = [
        "does-not-fit",
        "pair-0.2",
        "pair-0.6",
        "pipeline",
        "tenstorrent/dram",
        "tenstorrent/l1",
        "tenstorrent/too-large",
        "tiny",
        "training/segments-0",
        "training/segments-2",
        "xla/again",
        "xla/donate",
        "xla/keep",
    ];

    #[test]
    fn a_curve_as_svg_is_small_and_its_labels_are_whole() {
        SAMPLES.into_par_iter().for_each(|sample| {
            let directory = tempfile::tempdir().unwrap();
            let svg = rendered("liveness", &[sample], &[], &directory.path().join("a.svg"));
            assert!(svg.len() <= 60_000, "{sample}: {} bytes", svg.len());
            let svg = String::from_utf8(svg).unwrap();
            let document = roxmltree::Document::parse(&svg).unwrap();
            let mut labels = 0;
            for text in document.descendants().filter(|node| node.has_tag_name("text")) {
                let at = |node: roxmltree::Node<'_, '_>, name: &str| -> f32 {
                    node.attribute(name).unwrap_or("0").parse().unwrap()
                };
                // Where its group is cut off.
                let clip = text.parent().and_then(|group| group.attribute("clip-path")).unwrap();
                let id = clip.trim_start_matches("url(#").trim_end_matches(')');
                let clip = document.descendants().find(|node| node.attribute("id") == Some(id));
                let clip = clip.and_then(|clip| clip.first_element_child()).unwrap();
                let (left, right) = (at(clip, "x"), at(clip, "x") + at(clip, "width"));
                let (from, to) = (at(text, "x"), at(text, "x") + at(text, "textLength"));
                let said = text.text().unwrap_or_default();
                assert!(
                    left <= from + 0.5 && to <= right + 0.5,
                    "{sample}: '{said}' from {from} to {to} is cut off at {left} to {right}"
                );
                labels += 1;
            }
            assert!(labels > 15, "{sample}: {labels} labels");
        });
    }

    #[test]
    fn step_tile_ipu_scale_and_size_are_what_was_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let svg = directory.path().join("a.svg");
        let text = |view: &str, of: &[&str], more: &[&str]| {
            String::from_utf8(rendered(view, of, more, &svg)).unwrap()
        };
        let all = text("liveness", &["pipeline"], &[]);
        assert!(all.contains("All IPUs") && !all.contains("IPU 1"));
        assert!(text("liveness", &["pipeline"], &["--ipu", "1"]).contains("IPU 1"));
        let tile = text("liveness", &["pipeline"], &["--tile", "3", "--step", "peak"]);
        assert!(tile.contains("Tile 3 · step ") && tile.contains(">Step "), "{tile}");
        assert!(
            text("map", &["tiny"], &["--tile", "2", "--step", "4"]).contains("Tile 2 · step 4")
        );
        assert!(text("map-all-tiles", &["tiny"], &["--step", "4"]).contains("Step 4"));
        let named = text("overview", &["tiny"], &["--picture", "memory over steps"]);
        assert!(named.contains("Memory over steps") && !named.contains("What differs"));
        assert!(text("liveness", &["tiny"], &["--picture", "whole page"]).contains("Liveness"));

        let png = directory.path().join("a.png");
        let size = |more: &[&str]| {
            let png = rendered("liveness", &["tiny"], more, &png);
            let image = image::load_from_memory(&png).unwrap();
            (image.width(), image.height())
        };
        let (width, height) = size(&["--size", "900x400"]);
        // With a margin of 12 points at each side, and the caption below.
        assert_eq!(width, 924);
        assert!((424..560).contains(&height), "{height}");
        let twice = size(&["--size", "900x400", "--scale", "2"]);
        assert_eq!(twice.0, width * 2);
        // Lines of text are rounded to whole pixels.
        assert!(twice.1.abs_diff(height * 2) <= 4, "{twice:?}");
    }

    #[test]
    fn what_cannot_be_drawn_or_written_is_said() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.png");
        for (view, of, more, status, expected) in [
            ("map", "tiny", &["--tile", "99999"][..], 2, "has no tile 99999"),
            ("map", "tiny", &["--step", "99999"], 2, "has no step 99999"),
            ("memory", "tiny", &["--ipu", "7"], 2, "has no device 7: 0 (IPU 0)"),
            ("overview", "tiny", &["--picture", "Nothing"], 2, "It has: whole page, "),
            ("map", "absent", &[], 3, "absent"),
            ("sweep-curves", "absent", &[], 3, "absent"),
        ] {
            let output = render(view, &[of], more, &file);
            let said = errors(&output);
            assert_eq!(output.status.code(), Some(status), "{view} {more:?}: {said}");
            assert!(said.contains(expected), "{expected}: {said}");
            assert!(!file.exists());
        }
        let within = sample().join("picture.png");
        let output = render("map", &["tiny"], &[], &within);
        assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
        assert!(!within.exists(), "nothing is written into a report");
    }
}

/// Names of files are bytes, but for their endings.
#[cfg(target_os = "linux")]
#[test]
fn a_picture_may_have_a_name_that_is_no_utf_8() {
    use std::os::unix::ffi::OsStrExt as _;
    let directory = tempfile::tempdir().unwrap();
    let picture = directory.path().join(std::ffi::OsStr::from_bytes(b"\xff\xfe.svg"));
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(["render", "--page", "memory", "--no-index"])
        .arg(sample())
        .arg("-o")
        .arg(&picture)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    assert!(std::fs::read_to_string(&picture).unwrap().contains("<svg"));
}
