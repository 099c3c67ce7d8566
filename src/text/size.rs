//! Sizes as people type them: bytes, alone or with a unit.

/// How a number of bytes is written.
pub type Size<'a> = &'a dyn Fn(u64) -> String;

/// The most decimals that are accepted.
const MOST_DECIMALS: usize = 18;

/// The message for a text that is not a size.
const EXPECTED: &str = "a size expected, such as 16GiB, 16GB or 512M";

/// The message for an unknown unit.
const EXPECTED_UNIT: &str = "a number and a unit expected: B; K, M, G, T or KiB, MiB, GiB, TiB (binary); KB, MB, GB, TB (decimal)";

/// Bytes of `600`, `600K`, `2 MiB`, `15.75gib`, `16GB`, `1.5T` …, in either case. A unit with an `i` is binary, as is its first
/// letter alone, which is how Poplar and XLA print it; one that ends in `B` without an `i` is decimal, so that a limit in
/// GB is never larger than it says. Fractions of a byte are dropped.
///
/// # Errors
/// What was expected.
pub fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let end = text.find(|character: char| !matches!(character, '0'..='9' | '.'));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let (whole, decimals) = match number.split_once('.') {
        Some((_, "")) => return Err(EXPECTED.to_owned()),
        Some(parts) => parts,
        None => (number, ""),
    };
    let are_digits = decimals.bytes().all(|letter| letter.is_ascii_digit());
    if whole.is_empty() || !are_digits || decimals.len() > MOST_DECIMALS {
        return Err(EXPECTED.to_owned());
    }
    let unit = unit.trim_start();
    if unit.is_empty() && !decimals.is_empty() {
        return Err("a unit expected after a number with decimals, such as 1.5GiB".to_owned());
    }
    let unit = bytes_of(unit).ok_or(EXPECTED_UNIT)?;
    if unit == 1 && !decimals.is_empty() {
        return Err("whole bytes expected".to_owned());
    }
    let bytes = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(unit));
    // 10^18 × 2^40 fits into a u128.
    let parts = decimals.parse::<u128>().unwrap_or(0).saturating_mul(u128::from(unit));
    let parts = parts / 10_u128.pow(decimals.len() as u32);
    let bytes = bytes.zip(u64::try_from(parts).ok());
    let bytes = bytes.and_then(|(whole, parts)| whole.checked_add(parts));
    bytes.ok_or_else(|| format!("at most {} bytes expected", u64::MAX))
}

/// The bytes of a unit.
fn bytes_of(unit: &str) -> Option<u64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("638976", 638_976),
            ("0", 0),
            ("5 B", 5),
            ("624KiB", 638_976),
            ("624K", 638_976),
            ("624k", 638_976),
            ("2 MiB", 2 << 20),
            ("512m", 512 << 20),
            ("1G", 1 << 30),
            ("24gib", 24 << 30),
            ("24GIB", 24 << 30),
            ("1.5T", 3 << 39),
            ("2TiB", 2 << 40),
            ("16GB", 16_000_000_000),
            ("80 GB", 80_000_000_000),
            ("1.5gb", 1_500_000_000),
            ("1KB", 1_000),
            ("7mb", 7_000_000),
            ("2 TB", 2_000_000_000_000),
            (" 16GiB ", 16 << 30),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_what_was_expected() {
        for text in [
            "",
            " ",
            ".",
            "KiB",
            "-1",
            "-1G",
            "+1G",
            "NaN",
            "inf",
            "1e9",
            "0x10",
            "1,5G",
            "1_000",
            "½G",
            "1.5.5G",
            ".5G",
            "1.G",
            "1.-5G",
            "1.0000000000000000000G",
        ] {
            let said = parse(text).expect_err(text);
            assert!(said == EXPECTED || said == EXPECTED_UNIT, "{text}: {said}");
        }
        for text in ["1X", "1 GiBB", "1 G B", "1ki", "1bits", "1G16", "16 GiB free", "1PB"] {
            assert_eq!(parse(text).expect_err(text), EXPECTED_UNIT, "{text}");
        }
        for text in ["1.5", "0.1", "0.0 "] {
            let expected = "a unit expected after a number with decimals, such as 1.5GiB";
            assert_eq!(parse(text).expect_err(text), expected);
        }
        assert_eq!(parse("1.5B").expect_err("1.5B"), "whole bytes expected");
        for text in [
            "18446744073709551616",
            "18446744073709551615K",
            "99999999999999999999999999T",
            "16777216T",
        ] {
            assert_eq!(parse(text).expect_err(text), "at most 18446744073709551615 bytes expected");
        }
    }

    #[test]
    fn decimals_are_taken_exactly() {
        assert_eq!(parse("15.75GiB"), Ok(63 << 28));
        assert_eq!(parse("15.75G"), Ok(63 << 28), "as XLA prints it");
        assert_eq!(parse("1.5M"), Ok(3 << 19));
        assert_eq!(parse("0.0009765625 KiB"), Ok(1));
        // 15.7 × 2^30 is 16857747636.8.
        assert_eq!(parse("15.7GiB"), Ok(16_857_746_636));
        assert_eq!(parse("17179869183.999999999999999999G"), Ok(u64::MAX), "to the last byte");
    }

    proptest! {
        /// No text breaks it, and what it refuses it explains.
        #[test]
        fn any_text_is_a_size_or_refused(text in "\\PC*|[0-9]{0,25}\\.?[0-9]{0,25} ?[a-zA-Z]{0,4}") {
            if let Err(said) = parse(&text) {
                prop_assert!(said.contains("expected"));
            }
        }

        /// Units differ by what they say, in either case and with a space or without.
        #[test]
        fn a_number_of_units_is_that_many_bytes(number in 0..=u64::MAX >> 40, space in " ?") {
            for (unit, bytes) in [("k", 1 << 10), ("MiB", 1 << 20), ("gb", 1_000_000_000), ("T", 1_u64 << 40)] {
                prop_assert_eq!(parse(&format!("{number}{space}{unit}")), Ok(number * bytes));
            }
        }
    }
}
