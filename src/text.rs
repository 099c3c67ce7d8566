//! Figures and names as people read them, on a terminal and in a window.

mod local_time;
mod paths;
pub mod run_names;
pub mod size;

use std::borrow::Cow;

pub use self::local_time::local_time;
pub use self::paths::{CommonPath, parts_between, path_end, path_parts, path_slashes};

/// An enum with a list of its values, each of which has a word: that of its JSON, which a function of that name returns;
/// and, where there are two functions, a name for people.
macro_rules! words {
    (
        $(#[$meta:meta])* pub enum $name:ident by $word:ident, $title:ident {
            $($(#[$doc:meta])* $variant:ident = $text:literal | $title_text:literal,)*
        }
    ) => {
        $crate::text::words! {
            $(#[$meta])* pub enum $name by $word { $($(#[$doc])* $variant = $text,)* }
        }

        impl $name {
            /// The name for people.
            pub const fn $title(self) -> &'static str {
                match self {
                    $(Self::$variant => $title_text,)*
                }
            }
        }
    };
    (
        $(#[$meta:meta])* pub enum $name:ident by $word:ident {
            $($(#[$doc:meta])* $variant:ident = $text:literal,)*
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// All of them, in their order.
            #[allow(dead_code, reason = "not every list is gone through")]
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            /// The word as it stands in JSON, or in a file.
            pub const fn $word(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.$word())
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": [$($text),*] })
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                struct Word<'a>(#[serde(borrow)] std::borrow::Cow<'a, str>);
                let Word(word) = serde::Deserialize::deserialize(deserializer)?;
                match &*word {
                    $($text => Ok(Self::$variant),)*
                    other => Err(serde::de::Error::unknown_variant(other, &[$($text),*])),
                }
            }
        }
    };
}
pub(crate) use words;

/// A number with a comma between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The first and the last of ascending values: `0.8`, `0.2 to 0.6`; `None` where there are none.
pub fn range(values: &[f64]) -> Option<String> {
    match values {
        [] => None,
        [one] => Some(one.to_string()),
        [first, .., last] => Some(format!("{first} to {last}")),
    }
}

/// Bytes in the largest binary unit that they reach, with three significant digits or more.
pub fn bytes(bytes: u64) -> String {
    in_unit(bytes, |value| value)
}

/// The same, rounded up: for an amount that is needed, so that what is shown is enough.
pub fn bytes_at_least(bytes: u64) -> String {
    // What is computed of rounded amounts of others is not exact.
    const INEXACT: f64 = 1e-6;
    in_unit(bytes, |value| {
        let steps = if decimals(value) == 2 { 100.0 } else { 10.0 };
        (value * steps - INEXACT).ceil() / steps
    })
}

/// Bytes in a unit; `round` changes the value before it is written.
fn in_unit(bytes: u64, round: impl Fn(f64) -> f64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{} B", grouped(bytes));
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // A value that would be shown as 1,024 belongs to the next unit.
    while round(value) >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    of_unit(round(value), UNITS.get(unit).copied().unwrap_or("TiB"))
}

/// How many decimals a value has.
fn decimals(value: f64) -> usize {
    if value < 9.995 { 2 } else { 1 }
}

/// A value of three significant digits or more in a unit, alike wherever it stands.
fn of_unit(value: f64, unit: &str) -> String {
    let decimals = decimals(value);
    let text = format!("{value:.decimals$}");
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    format!("{}.{decimals} {unit}", grouped(whole.parse().unwrap_or(u64::MAX)))
}

/// Bytes in the unit that others are written in, so that the two are compared at a glance: `1,195.1 MiB` beside
/// `897.0 MiB`.
pub fn bytes_beside(count: u64, others: u64) -> String {
    let text = bytes(others);
    let unit = text.rsplit_once(' ').map_or("B", |(_, unit)| unit);
    let power = match unit {
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        "TiB" => 40,
        _ => return bytes(count),
    };
    let value = count as f64 / (1_u64 << power) as f64;
    // In a much smaller unit it is read better.
    if value < 0.995 { bytes(count) } else { of_unit(value, unit) }
}

/// Bytes in a binary unit, and exactly: `24.4 MiB (25,621,116 B)`.
pub fn exact_bytes(count: u64) -> String {
    if count < 1024 { bytes(count) } else { format!("{} ({} B)", bytes(count), grouped(count)) }
}

/// A difference with its sign, its size as `show` writes it.
pub fn signed(difference: i64, show: impl Fn(u64) -> String) -> String {
    let sign = match difference.signum() {
        1 => "+",
        0 => "",
        _ => "−",
    };
    format!("{sign}{}", show(difference.unsigned_abs()))
}

/// A size that is seldom below 0: only then with a sign.
pub fn size_or_less(size: i64, show: impl Fn(u64) -> String) -> String {
    match size {
        0.. => show(size.unsigned_abs()),
        _ => signed(size, show),
    }
}

/// A difference of bytes in the largest binary unit that it reaches, with its sign.
pub fn signed_bytes(difference: i64) -> String {
    signed(difference, bytes)
}

/// A difference of rates with its sign.
pub fn signed_rate(difference: f64) -> String {
    let sign = match difference {
        0.0 => return "0".to_owned(),
        ..0.0 => "−",
        _ => "+",
    };
    format!("{sign}{}", rate(difference.abs()))
}

/// A growth in percent as a factor, where that is more than ten: `×602` in place of `+60,050 %`.
pub fn times_text(percent: f64) -> Option<String> {
    let times = percent / 100.0 + 1.0;
    match times {
        ..=10.0 => None,
        ..99.95 => Some(format!("×{times:.1}")),
        _ if times.is_finite() => Some(format!("×{}", grouped(times.round() as u64))),
        _ => None,
    }
}

/// A percentage with its sign, and with a decimal below 100; what is more than tenfold as a factor.
pub fn signed_percent(percent: f64) -> String {
    if let Some(times) = times_text(percent) {
        return times;
    }
    let size = percent.abs();
    let sign = match percent {
        _ if size < 0.05 => "",
        _ if percent < 0.0 => "−",
        _ => "+",
    };
    if size < 99.95 {
        return format!("{sign}{size:.1} %");
    }
    format!("{sign}{} %", grouped(size.round() as u64))
}

/// A rate: to the nearest whole, below 100 with two decimals, below 1 with four significant digits.
pub fn rate(number: f64) -> String {
    if number >= 100.0 {
        grouped(number.round() as u64)
    } else if number >= 1.0 {
        format!("{number:.2}")
    } else {
        format!("{number:.3e}")
    }
}

/// A number of any size and sign, whole where it is large.
pub fn number(number: f64) -> String {
    let size = number.abs();
    if size >= 1000.0 || number.fract() == 0.0 {
        let sign = if number <= -0.5 { "−" } else { "" };
        return format!("{sign}{}", grouped(size.round() as u64));
    }
    let decimals = if size >= 1.0 { 2 } else { 4 };
    format!("{number:.decimals$}")
}

/// Seconds with three digits: `3.06 s`, `470 ms`, `55.1 µs`, `12 ns`.
pub fn time_text(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    // What is rounded up to a thousand is written in the larger unit.
    let found = units.into_iter().find(|(size, _)| seconds >= *size * 0.9995);
    let (size, name) = found.unwrap_or((1e-9, "ns"));
    let value = seconds / size;
    let decimals = if name == "ns" || value >= 99.95 { 0 } else { usize::from(value < 9.995) + 1 };
    format!("{value:.decimals$} {name}")
}

/// The same of whole microseconds: `3.06 s`, `470 ms`, `55 µs`.
pub fn microseconds_text(microseconds: u64) -> String {
    match microseconds {
        ..1000 => format!("{microseconds} µs"),
        _ => time_text(microseconds as f64 * 1e-6),
    }
}

/// So many things, by the word for one: `1 tile`, `46 tiles`.
pub fn counted(count: u64, word: &str) -> String {
    format!("{} {word}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Values of runs, one after the other: of two what the first becomes.
pub fn in_turn(values: &[String]) -> String {
    values.join(if values.len() == 2 { TO } else { BETWEEN })
}

/// A text whose values keep their units where a line ends.
pub fn unbroken(text: &str) -> String {
    let is_unit = |word: &str| {
        let word = word.trim_matches(|letter: char| !(letter.is_alphanumeric() || letter == '%'));
        ["B", "KiB", "MiB", "GiB", "TiB", "%"].contains(&word)
    };
    let mut words = text.split(' ');
    let mut unbroken = words.next().unwrap_or_default().to_owned();
    for word in words {
        let is_parted = unbroken.ends_with(|letter: char| letter.is_ascii_digit()) && is_unit(word);
        unbroken.push(if is_parted { '\u{a0}' } else { ' ' });
        unbroken.push_str(word);
    }
    unbroken
}

/// A text with a capital at its beginning, as in a title or a list: `Step 12` for `step 12`.
pub fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}

/// A name as it is read: `Rearranged layer1/output` for `<rearrangement:layer1/output>`.
pub fn readable(name: &str) -> Cow<'_, str> {
    let rearranged = name.strip_prefix("<rearrangement:").and_then(|of| of.strip_suffix('>'));
    rearranged.map_or(Cow::Borrowed(name), |of| Cow::Owned(format!("Rearranged {of}")))
}

/// A name without anything that could move the cursor, turn the reading direction or break a line:
/// such characters are written as `\u{…}`. Names come from files; a terminal obeys them.
pub fn clean(name: &str) -> Cow<'_, str> {
    if !name.chars().any(is_obeyed) {
        return Cow::Borrowed(name);
    }
    let mut clean = String::with_capacity(name.len() + 8);
    for character in name.chars() {
        if is_obeyed(character) {
            clean.extend(character.escape_unicode());
        } else {
            clean.push(character);
        }
    }
    Cow::Owned(clean)
}

/// A text for XML, not yet escaped: the characters that it does not allow ("Extensible Markup Language 1.0", section 2.2)
/// are left out, line ends too, and those that turn the reading direction are written as what they are.
pub fn xml_text(text: &str) -> String {
    let is_allowed =
        |character: &char| !character.is_control() && !matches!(character, '\u{fffe}' | '\u{ffff}');
    let text: String = text.chars().filter(is_allowed).collect();
    clean(&text).into_owned()
}

/// A clean name of at most `most` characters; the middle of a longer one is left out, because both
/// ends tell names apart; of a path its beginning, see [`is_told_by_its_end`]. No value is cut: see [`ends_kept`].
pub fn shortened(name: &str, most: usize) -> Cow<'_, str> {
    // Only as much of a very long name is looked at as can be shown.
    if name.chars().nth(most).is_none() {
        return clean(name);
    }
    let kept = most.saturating_sub(1);
    let after = |count: usize| name.char_indices().nth(count).map_or(name.len(), |(at, _)| at);
    let first = numbered(name).map_or(0, |first| first.chars().count());
    let rest = kept.checked_sub(first).unwrap_or(kept);
    let last = if is_told_by_its_end(name) { kept } else { rest.min(kept / 2) };
    let tail = name.char_indices().rev().take(last).last().map_or(name.len(), |(at, _)| at);
    let [head, tail] = ends_kept(name, [after(kept - last), tail], after(kept));
    let [head, tail] = [name.get(..head), name.get(tail..)].map(Option::unwrap_or_default);
    Cow::Owned(format!("{}…{}", clean(head), clean(tail)))
}

/// The word and the number with which a name begins: `tensor 19` of `tensor 19 [64, 256] BFLOAT16`. Without the number it
/// would be that of any other.
fn numbered(name: &str) -> Option<&str> {
    let (word, rest) = name.split_once(' ')?;
    let (number, _) = rest.split_once(' ')?;
    let is_numbered = word.chars().all(char::is_alphabetic)
        && !number.is_empty()
        && number.chars().all(|it| it.is_ascii_digit());
    is_numbered.then(|| name.get(..word.len() + 1 + number.len())).flatten()
}

/// Whether the end of a name says most, so that of a long one the beginning is left out: of the path of an operation, which
/// begins with a call (`jit(f)/mul`), and of a path that has lost its beginning already. Files are told by both ends.
pub fn is_told_by_its_end(name: &str) -> bool {
    let first = || path_slashes(name).first().and_then(|slash| name.get(..*slash));
    name.starts_with('…') || !name.contains(' ') && first().is_some_and(|part| part.ends_with(')'))
}

/// What leads from one value to the next, and what stands between values of which none becomes another.
const TO: &str = " → ";
const BETWEEN: &str = " · ";

/// Where a text is cut whose middle is left out: the end of its head and the beginning of its tail, bytes. There is room
/// for the `ends`, or for a head of `alone` without a tail. A part of a value reads as another value, so one that would
/// be cut is left out; and of a chain of values the first ones stay, because its ends alone read as a chain of two.
pub fn ends_kept(text: &str, ends: [usize; 2], alone: usize) -> [usize; 2] {
    if text.contains(TO) {
        let head = text.get(..alone).unwrap_or_default();
        let whole = head.rfind(TO).map(|at| at + TO.len()).or(head.rfind(' ').map(|at| at + 1));
        return [whole.unwrap_or(alone), text.len()];
    }
    let [head, tail] = ends;
    let value = |at: usize| {
        let (before, after) = text.split_at_checked(at)?;
        let start = before.rfind(' ').map_or(0, |space| space + 1);
        let end = after.find(' ').map_or(text.len(), |space| at + space);
        let is_cut = start < at && at < end;
        text.get(start..end).filter(|word| is_cut && is_value(word)).map(|_| [start, end])
    };
    [value(head).map_or(head, |[start, _]| start), value(tail).map_or(tail, |[_, end]| end)]
}

/// Whether a word is a number, as of `1,195.1 MiB`, `+3 %` or `(0.75)`.
fn is_value(word: &str) -> bool {
    let is_of_number = |it: char| it.is_ascii_digit() || "+-−±×≥<>~.,:;%()".contains(it);
    word.contains(|it: char| it.is_ascii_digit()) && word.chars().all(is_of_number)
}

/// Whether a terminal obeys a character, or it turns the reading direction or breaks a line.
pub(crate) fn is_obeyed(character: char) -> bool {
    let turns_direction = matches!(
        character,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    character.is_control() || turns_direction || matches!(character, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_with_which_a_name_begins_stays() {
        let name = "tensor 1234 [64, 1, 128, 256] BFLOAT16";
        assert_eq!(shortened(name, 18), "tensor 1234…LOAT16");
        assert_eq!(shortened(name, 12), "tensor 1234…");
        assert_eq!(shortened(name, 10), "tenso…AT16", "there is no room for it");
    }

    #[test]
    fn a_range_is_its_first_and_last_value() {
        assert_eq!(range(&[0.2, 0.4, 0.6]).as_deref(), Some("0.2 to 0.6"));
        assert_eq!(range(&[0.6]).as_deref(), Some("0.6"));
        assert_eq!(range(&[]), None);
    }

    #[test]
    fn what_is_needed_is_rounded_up() {
        let gib = 1_u64 << 30;
        for (count, written) in [
            (33 * gib + gib / 20, "33.1 GiB"),
            (33 * gib, "33.0 GiB"),
            (33 * gib + 2, "33.0 GiB"),
            (2 * gib + gib / 1000, "2.01 GiB"),
            (9 * gib + gib / 1000 * 993, "10.0 GiB"),
            (gib - 1, "1.00 GiB"),
            (1023, "1,023 B"),
            (1025, "1.01 KiB"),
        ] {
            assert_eq!(bytes_at_least(count), written, "{count}");
        }
    }

    #[test]
    fn bytes_are_written_in_the_unit_of_others() {
        let mib = 1 << 20;
        assert_eq!(bytes_beside(1195 * mib, 897 * mib), "1,195.0 MiB");
        assert_eq!(bytes_beside(mib / 2, 897 * mib), "512.0 KiB");
        for count in [7 * mib + 136_000, 9 * mib + mib / 4, 10 * mib - 1] {
            assert_eq!(bytes_beside(count, 897 * mib), bytes(count), "one number, one precision");
        }
        assert_eq!(bytes(1020 * mib), "1,020.0 MiB", "as any number of a thousand");
        assert_eq!(bytes_beside(2048, 7), "2.00 KiB");
        assert_eq!(bytes_beside(0, mib), "0 B");
    }

    #[test]
    fn values_keep_their_units() {
        let text = "1.00 MiB (1,048,576 B), 4 %; 3 blocks of 2 KiB, part B";
        let kept = "1.00\u{a0}MiB (1,048,576\u{a0}B), 4\u{a0}%; 3 blocks of 2\u{a0}KiB, part B";
        assert_eq!(unbroken(text), kept);
        assert_eq!(unbroken(""), "");
        assert_eq!(in_turn(&["a".into(), "b".into()]), "a → b");
        assert_eq!(in_turn(&["a".into(), "b".into(), "c".into()]), "a · b · c");
    }

    #[test]
    fn numbers_and_bytes_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(25_621_116), "25,621,116");
        assert_eq!(bytes(1023), "1,023 B");
        assert_eq!(bytes(638_976), "624.0 KiB");
        assert_eq!(bytes(1024 * 1024 - 1), "1.00 MiB");
        assert_eq!(bytes(25_621_116), "24.4 MiB");
        assert_eq!(exact_bytes(8281), "8.09 KiB (8,281 B)");
        assert_eq!(signed_bytes(2_831_155), "+2.70 MiB");
        assert_eq!((signed_bytes(0), signed_bytes(-1024)), ("0 B".into(), "−1.00 KiB".into()));
        assert_eq!(
            (signed_percent(181.0), signed_percent(-7.04)),
            ("+181 %".into(), "−7.0 %".into())
        );
        assert_eq!(bytes(u64::MAX), "16,777,216.0 TiB");
    }

    #[test]
    fn rates_are_rounded_and_never_cut() {
        assert_eq!(rate(23_590.641), "23,591");
        assert_eq!(rate(99.5), "99.50");
        assert_eq!(rate(0.001_234), "1.234e-3");
        assert_eq!(
            (counted(1, "tile"), counted(1_472, "tile")),
            ("1 tile".into(), "1,472 tiles".into())
        );
    }

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (seconds, text) in [
            (3.0584, "3.06 s"),
            (0.47034, "470 ms"),
            (55.06e-6, "55.1 µs"),
            (9.999e-6, "10.0 µs"),
            (999.96e-6, "1.00 ms"),
            (12.2e-9, "12 ns"),
            (0.0, "0 ns"),
        ] {
            assert_eq!(time_text(seconds), text);
        }
        let whole = [55, 20_683, 470_340, 3_058_425].map(microseconds_text);
        assert_eq!(whole, ["55 µs", "20.7 ms", "470 ms", "3.06 s"]);
    }

    #[test]
    fn names_cannot_command_a_terminal() {
        assert_eq!(clean("conv\u{1b}[2J\n"), "conv\\u{1b}[2J\\u{a}");
        assert_eq!(clean("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(clean("תמונה"), "תמונה", "right-to-left letters are names like others");
        assert_eq!(shortened("abcdefghij", 5), "ab…ij");
        assert_eq!(shortened("abcde", 5), "abcde");
        assert_eq!(shortened("jit(f)/jvp(block0)/conv1/gt", 10), "…/conv1/gt");
        assert_eq!(shortened("donate/module.hlo.pb", 9), "dona…o.pb", "a file is no operation");
        assert!(shortened(&"x".repeat(100_000), 40).chars().count() == 40);
    }

    #[test]
    fn no_part_of_a_value_is_left() {
        let chain = "convolution 0.8 → 0.75 → 0.6 → 0.35 → 0.01 → 0.005";
        assert_eq!(shortened(chain, 20), "convolution 0.8 → …");
        assert_eq!(shortened(chain, 30), "convolution 0.8 → 0.75 → …");
        assert_eq!(shortened(chain, 16), "convolution …");
        assert_eq!(shortened(chain, 8), "convolu…");
        assert_eq!(shortened(chain, 60), chain);
        let value = "uses 1,195.1 MiB of 897.0 MiB";
        assert_eq!(shortened(value, 22), "uses … 897.0 MiB");
        assert_eq!(shortened(value, 18), "uses … MiB");
        assert_eq!(shortened(value, 14), "uses … MiB");
        assert_eq!(shortened("12345678", 5), "…");
        assert_eq!(shortened("layer1.2.conv2", 10), "layer…onv2", "parts of names are no values");
        assert_eq!(shortened("ä → ö", 2), "ä…");
    }
}
