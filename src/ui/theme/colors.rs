//! The one palette of the window, light and dark. Each color means one thing: red and green only over and fits,
//! a category has its color by its name, a run its own, the frame is quiet.
//!
//! `palette_test` checks contrast, and distances for eyes that do not tell red from green.

use eframe::egui::Color32;

/// Categories with a color of their own; the others are of their families.
pub const CATEGORIES: usize = 9;
/// Runs beside the reference with a color of their own.
pub const OTHER_RUNS: usize = 7;

/// The nine families of categories, in the order of [`Tokens::categories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Variable,
    Rearrangement,
    Message,
    VertexState,
    VertexCode,
    ControlCode,
    ExchangeCode,
    HostExchange,
    Other,
}

#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    /// Background of pages.
    pub page: Color32,
    /// Background of the rail and of bars.
    pub chrome: Color32,
    /// Background of cards, pictures and text fields.
    pub surface: Color32,
    /// Background of what stands out of a card, and the track of a bar.
    pub raised: Color32,
    /// Every second row of a table.
    pub stripe: Color32,
    pub border: Color32,
    pub grid: Color32,
    /// Background of what is selected.
    pub selected: Color32,
    /// Background of the verdict of what does not fit.
    pub over_fill: Color32,
    /// Background of the verdict of what fits.
    pub fits_fill: Color32,
    pub text: Color32,
    /// Text that explains.
    pub weak_text: Color32,
    /// Captions, axes, what is not there.
    pub third_text: Color32,
    /// Limits, the cursor, the reference run, gaps that are a tick.
    pub ink: Color32,
    /// Focus, links, selection, bars of advice.
    pub accent: Color32,
    /// Over a limit. Never alone: with a sign, a number or a hatch.
    pub over: Color32,
    /// Within its limit, with a sign.
    pub fits: Color32,
    /// Deserves a look: not recorded, provisional, damaged.
    pub note: Color32,
    pub always_live: Color32,
    /// Not always live, and any quantity that is neither good nor bad.
    pub temporary: Color32,
    pub less: Color32,
    pub more: Color32,
    /// Hatching of gaps and of what is free.
    pub gap: Color32,
    /// The colors of [`Family`].
    pub categories: [Color32; CATEGORIES],
    /// Runs beside the reference, which is ink.
    pub runs: [Color32; OTHER_RUNS],
}

const fn rgb(hex: u32) -> Color32 {
    let [_, red, green, blue] = hex.to_be_bytes();
    Color32::from_rgb(red, green, blue)
}

pub const LIGHT: Tokens = Tokens {
    page: rgb(0xf3_f5f8),
    chrome: rgb(0xe9_edf2),
    surface: rgb(0xff_ffff),
    raised: rgb(0xee_f1f5),
    stripe: rgb(0xf8_f9fb),
    border: rgb(0xd3_dae2),
    grid: rgb(0xe6_eaef),
    selected: rgb(0xe3_e7ff),
    over_fill: rgb(0xfd_e9e7),
    fits_fill: rgb(0xe0_f4ec),
    text: rgb(0x12_181f),
    weak_text: rgb(0x46_525f),
    third_text: rgb(0x5f_6c7a),
    ink: rgb(0x00_0000),
    accent: rgb(0x3f_4fd0),
    over: rgb(0xc8_241c),
    fits: rgb(0x0b_7a56),
    note: rgb(0x8a_5a00),
    always_live: rgb(0x7c_8ea1),
    temporary: rgb(0x1b_78c4),
    less: rgb(0x44_53c8),
    more: rgb(0x8a_6100),
    gap: rgb(0x5f_6c7a),
    categories: [
        rgb(0xbd_8b39),
        rgb(0x29_4092),
        rgb(0x02_a48f),
        rgb(0x94_7efd),
        rgb(0x7f_3e57),
        rgb(0x62_5808),
        rgb(0xa9_6849),
        rgb(0x19_a2b4),
        rgb(0x66_6f7c),
    ],
    runs: [
        rgb(0x62_4a90),
        rgb(0x63_94d7),
        rgb(0x4e_3b10),
        rgb(0xc6_8566),
        rgb(0x1a_5e4f),
        rgb(0xab_7386),
        rgb(0x57_750b),
    ],
};

pub const DARK: Tokens = Tokens {
    page: rgb(0x0d_1116),
    chrome: rgb(0x11_161c),
    surface: rgb(0x16_1b22),
    raised: rgb(0x20_2832),
    stripe: rgb(0x19_1f27),
    border: rgb(0x2c_3641),
    grid: rgb(0x24_2d37),
    selected: rgb(0x25_2c52),
    over_fill: rgb(0x3a_1a1c),
    fits_fill: rgb(0x12_332b),
    text: rgb(0xe9_eef3),
    weak_text: rgb(0xaa_b6c3),
    third_text: rgb(0x89_96a4),
    ink: rgb(0xff_ffff),
    accent: rgb(0x8c_9bff),
    over: rgb(0xff_5a52),
    fits: rgb(0x3d_d6a3),
    note: rgb(0xff_c24b),
    always_live: rgb(0x64_788d),
    temporary: rgb(0x58_b0f5),
    less: rgb(0x9d_b0ff),
    more: rgb(0xe3_b341),
    gap: rgb(0x89_96a4),
    categories: [
        rgb(0xfb_af26),
        rgb(0x4c_6bc9),
        rgb(0x38_927a),
        rgb(0xa4_90ff),
        rgb(0x96_638c),
        rgb(0x73_7d3a),
        rgb(0xde_9369),
        rgb(0x81_daf7),
        rgb(0xa2_a7ae),
    ],
    runs: [
        rgb(0x79_53b7),
        rgb(0x98_d2f8),
        rgb(0xe2_c53e),
        rgb(0xc9_a084),
        rgb(0x15_7f6c),
        rgb(0xb8_83a6),
        rgb(0x73_8434),
    ],
};

impl Tokens {
    /// The color of a family of categories.
    pub fn family(&self, family: Family) -> Color32 {
        self.categories.get(family as usize).copied().unwrap_or(self.gap)
    }

    /// The color of a run: of the reference ink, of the others by their places among them.
    pub fn run(&self, place_of_other: Option<usize>) -> Color32 {
        let of = |place: usize| self.runs.get(place % OTHER_RUNS).copied();
        place_of_other.and_then(of).unwrap_or(self.ink)
    }

    /// Colors of things that have none of their own, by their order; what comes after the last is gray.
    pub fn ordered(&self, place: usize) -> Color32 {
        self.runs.get(place).copied().unwrap_or(self.gap)
    }

    /// The area below a line of a color.
    pub fn area(&self, line: Color32) -> Color32 {
        self.surface.lerp_to_gamma(line, 0.42)
    }

    /// A part of a heat map, from nothing to all: one hue, which stops half way.
    pub fn heat(&self, share: f32) -> Color32 {
        self.raised.lerp_to_gamma(self.temporary, 0.08 + share.clamp(0.0, 1.0) * 0.5)
    }
}
