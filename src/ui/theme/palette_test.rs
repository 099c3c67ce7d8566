//! The palette by computation: contrast by WCAG 2, distances by CIEDE2000, also as eyes see them that do not tell
//! red from green (Machado, Oliveira and Fernandes 2009, full strength).

use eframe::egui::Color32;
use palette::color_difference::{Ciede2000, Wcag21RelativeContrast};
use palette::{FromColor, Lab, LinSrgb, Srgb};

use super::Tokens;
use super::colors::{DARK, LIGHT};

const BOTH: [(&str, &Tokens); 2] = [("light", &LIGHT), ("dark", &DARK)];

type Matrix = [[f32; 3]; 3];
const NORMAL: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const DEUTERANOPIA: Matrix = [
    [0.367_322, 0.860_646, -0.227_968],
    [0.280_085, 0.672_501, 0.047_413],
    [-0.011_820, 0.042_940, 0.968_881],
];
const PROTANOPIA: Matrix = [
    [0.152_286, 1.052_583, -0.204_868],
    [0.114_503, 0.786_281, 0.099_216],
    [-0.003_882, -0.048_116, 1.051_998],
];
const EYES: [(&str, &Matrix); 3] =
    [("all", &NORMAL), ("no green", &DEUTERANOPIA), ("no red", &PROTANOPIA)];

fn srgb(color: Color32) -> Srgb<f32> {
    let [red, green, blue, _] = color.to_array();
    Srgb::new(red, green, blue).into_format()
}

fn seen(color: Color32, matrix: &Matrix) -> Lab {
    let LinSrgb { red, green, blue, .. } = srgb(color).into_linear();
    let part = |row: [f32; 3]| (row[0] * red + row[1] * green + row[2] * blue).clamp(0.0, 1.0);
    let linear = LinSrgb::new(part(matrix[0]), part(matrix[1]), part(matrix[2]));
    Lab::from_color(Srgb::<f32>::from_linear(linear))
}

fn distance(a: Color32, b: Color32, matrix: &Matrix) -> f32 {
    seen(a, matrix).difference(seen(b, matrix))
}

fn least_distance(colors: &[Color32], matrix: &Matrix) -> f32 {
    let pairs = colors.iter().enumerate().flat_map(|(place, a)| {
        colors.iter().skip(place + 1).map(move |b| distance(*a, *b, matrix))
    });
    pairs.fold(f32::INFINITY, f32::min)
}

fn contrast(a: Color32, b: Color32) -> f32 {
    srgb(a).relative_contrast(srgb(b))
}

#[test]
fn categories_and_runs_are_told_apart_by_all_eyes() {
    for (theme, tokens) in BOTH {
        let runs: Vec<Color32> = std::iter::once(tokens.ink).chain(tokens.runs).collect();
        for (eyes, matrix) in EYES {
            let found = least_distance(&tokens.categories, matrix);
            assert!(found >= 11.5, "categories, {theme}, {eyes}: {found}");
            let found = least_distance(&runs, matrix);
            assert!(found >= 16.0, "runs, {theme}, {eyes}: {found}");
        }
    }
}

#[test]
fn pairs_that_mean_opposites_are_told_apart_by_all_eyes() {
    for (theme, tokens) in BOTH {
        for (eyes, matrix) in EYES {
            for (pair, a, b, least) in [
                ("over and fits", tokens.over, tokens.fits, 14.0),
                ("less and more", tokens.less, tokens.more, 51.9),
                ("temporary and over", tokens.temporary, tokens.over, 44.0),
                ("always live and not", tokens.always_live, tokens.temporary, 10.0),
            ] {
                let found = distance(a, b, matrix);
                assert!(found >= least, "{pair}, {theme}, {eyes}: {found}");
            }
        }
    }
}

#[test]
fn text_is_read_and_marks_are_seen_on_every_ground() {
    for (theme, tokens) in BOTH {
        for (ground, fill) in [
            ("card", tokens.surface),
            ("page", tokens.page),
            ("raised", tokens.raised),
            ("stripe", tokens.stripe),
        ] {
            for (role, color) in
                [("text", tokens.text), ("weak text", tokens.weak_text), ("ink", tokens.ink)]
            {
                let found = contrast(color, fill);
                assert!(found >= 4.5, "{role} on {ground}, {theme}: {found}");
            }
        }
        let on_card = |color| contrast(color, tokens.surface);
        for (role, color) in [
            ("third text", tokens.third_text),
            ("accent", tokens.accent),
            ("over", tokens.over),
            ("fits", tokens.fits),
            ("note", tokens.note),
            ("less", tokens.less),
            ("more", tokens.more),
        ] {
            assert!(on_card(color) >= 4.5, "{role}, {theme}: {}", on_card(color));
        }
        let marks = [tokens.always_live, tokens.temporary, tokens.gap];
        for color in marks.iter().chain(&tokens.categories) {
            assert!(on_card(*color) >= 2.95, "{color:?}, {theme}: {}", on_card(*color));
        }
        assert!(contrast(tokens.over, tokens.over_fill) >= 4.5, "over on its ground, {theme}");
        assert!(contrast(tokens.fits, tokens.fits_fill) >= 4.5, "fits on its ground, {theme}");
        assert!(contrast(tokens.text, tokens.selected) >= 4.5, "text on what is selected, {theme}");
    }
}
