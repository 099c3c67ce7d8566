//! Names as keys: as they stand, without the numbers that the compiler puts in, without any number.
//!
//! The compiler's numbers are those of compute sets, copies and operations, which differ from run to
//! run: `cs19_…`, `copy7_…`, the `98/` at the beginning of `98/scatterAdd` or of `cs19_98/scatterAdd`,
//! `Op_123`, `__1234` and `#63`. Every other number may be the model's own (`layer1.0.conv1`).

use std::hash::{DefaultHasher, Hash, Hasher};

/// The hashes of a name; 0 where there is none. Two names that differ have the same hash once in 2⁶⁴.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameKeys {
    /// Of the name as it stands.
    pub exact: u64,
    /// Of the name without the compiler's numbers.
    pub model: u64,
    /// Of the name without any number.
    pub words: u64,
}

impl NameKeys {
    /// The hashes of a name.
    pub fn of(name: &str) -> Self {
        if name.is_empty() {
            return Self::default();
        }
        let exact = hash(name);
        let (mut model, mut words) = (DefaultHasher::new(), DefaultHasher::new());
        let (mut has_numbers, mut has_compilers) = (false, false);
        for piece in Pieces(name, 0) {
            model.write(piece.text.as_bytes());
            words.write(piece.text.as_bytes());
            if !piece.number.is_empty() {
                has_numbers = true;
                has_compilers |= piece.is_compilers;
                words.write(b"#");
                model.write(if piece.is_compilers { b"#" } else { piece.number.as_bytes() });
            }
        }
        Self {
            exact,
            model: if has_compilers { model.finish() } else { exact },
            words: if has_numbers { words.finish() } else { exact },
        }
    }
}

/// The hash of a text; the same in every run of the program.
pub fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The hash of two hashes, in that order.
pub fn combine(first: u64, second: u64) -> u64 {
    // The finalizer of SplitMix64 over a sum that tells the two apart.
    let mut mixed = first.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(second);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A number in a name, with what stands between it and the number before.
struct Piece<'a> {
    text: &'a str,
    /// Its digits; none at the end of the name.
    number: &'a str,
    is_compilers: bool,
}

/// The pieces of a name, and how many bytes of it are done.
struct Pieces<'a>(&'a str, usize);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let Self(name, done) = *self;
        let rest = name.get(done..).filter(|rest| !rest.is_empty())?;
        let is_digit = |byte: u8| byte.is_ascii_digit();
        let start = rest.bytes().position(is_digit).unwrap_or(rest.len());
        let (text, from_number) = rest.split_at(start);
        let digits = from_number.bytes().take_while(|byte| is_digit(*byte)).count();
        let (number, after) = from_number.split_at(digits);
        let (before, _) = name.split_at(done + start);
        *self = Self(name, done + start + digits);
        let is_compilers = digits > 0 && is_compilers(before, after);
        Some(Piece { text, number, is_compilers })
    }
}

/// Whether a number is the compiler's, from what comes before it and after it.
fn is_compilers(before: &str, after: &str) -> bool {
    if before.ends_with("__") || before.ends_with('#') {
        return true;
    }
    if let Some(before) = before.strip_suffix("Op_") {
        return !before.ends_with(|character: char| character.is_alphanumeric());
    }
    if matches!(before, "cs" | "copy") {
        return after.starts_with('_');
    }
    (before.is_empty() || is_numbered_prefix(before)) && after.starts_with('/')
}

/// Whether this is all of a `cs19_` or `copy7_`.
fn is_numbered_prefix(text: &str) -> bool {
    let number = text.strip_prefix("cs").or_else(|| text.strip_prefix("copy"));
    number.and_then(|number| number.strip_suffix('_')).is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> String {
        let mut text = String::new();
        for piece in Pieces(name, 0) {
            text.push_str(piece.text);
            text.push_str(if piece.is_compilers { "#" } else { piece.number });
        }
        text
    }

    #[test]
    fn numbers_of_the_compiler_are_left_out_and_the_models_own_stay() {
        for (name, expected) in [
            (
                "cs19_98/scatterAdd/multiUpdateAdd_ExchangePre",
                "cs#_#/scatterAdd/multiUpdateAdd_ExchangePre",
            ),
            ("cs0_IO in CS 0/ExchangePre", "cs#_IO in CS 0/ExchangePre"),
            ("cs2_layer1.0.conv2/Conv/Reduce", "cs#_layer1.0.conv2/Conv/Reduce"),
            (
                "copy7_switchControlBroadcast7/ExchangePre",
                "copy#_switchControlBroadcast7/ExchangePre",
            ),
            ("105/Op/Add", "#/Op/Add"),
            ("model/Op_123/Conv_1", "model/Op_#/Conv_1"),
            ("cs3_Op_12/x", "cs#_Op_#/x"),
            ("weights__1234", "weights__#"),
            ("broadcastProgramId#63", "broadcastProgramId##"),
            ("layer1.0.conv1", "layer1.0.conv1"),
            ("blocks/3/attention", "blocks/3/attention"),
            ("StopOp_5", "StopOp_5"),
            ("cs19", "cs19"),
            ("äöü9__7é", "äöü9__#é"),
            ("", ""),
        ] {
            assert_eq!(model(name), expected);
        }
    }

    #[test]
    fn keys_tell_apart_what_they_should() {
        let (a, b) = (NameKeys::of("cs1_layer1.0/x"), NameKeys::of("cs2_layer1.0/x"));
        assert!(a.exact != b.exact && a.model == b.model && a.words == b.words);
        let (a, b) = (NameKeys::of("layer1.0.conv1"), NameKeys::of("layer1.1.conv1"));
        assert!(a.exact != b.exact && a.model != b.model && a.words == b.words);
        let plain = NameKeys::of("Reduce");
        assert!(plain.exact == plain.model && plain.model == plain.words);
        assert_eq!(NameKeys::of(""), NameKeys::default());
        assert_ne!(combine(1, 2), combine(2, 1));
    }
}
