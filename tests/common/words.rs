//! Words that only users of IPUs know. No answer about a snapshot, a module or an unknown file has one.

/// Words, also within others, in small letters.
const PARTS: [&str; 5] =
    ["poplar", "popvision", "profile.pop", "availablememoryproportion", "compute set"];
/// Whole words.
const WHOLE: [&str; 4] = ["ipu", "ipus", "tile", "tiles"];

/// The first line of a text that has such a word. XLA and TT-NN have tiles too: `has_tiles` lets them pass.
pub fn line_about_ipus(text: &str, has_tiles: bool) -> Option<&str> {
    text.lines().find(|line| {
        let line = line.to_lowercase();
        let whole = if has_tiles { &WHOLE[..2] } else { &WHOLE };
        let mut words = line.split(|letter: char| !letter.is_alphanumeric());
        PARTS.iter().any(|part| line.contains(part)) || words.any(|word| whole.contains(&word))
    })
}
