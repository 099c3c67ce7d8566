//! Sizes as people type them: bytes, alone or with a binary unit.

/// How a number of bytes is written.
pub type Size<'a> = &'a dyn Fn(u64) -> String;

/// Decimals of a number that are read.
const MOST_DECIMALS: usize = 18;

/// Bytes of `600`, `600K`, `600KiB`, `2 MiB`, `15.75GiB` …; K, M and G are binary, as Poplar's and XLA's are. What decimals
/// say beyond whole bytes is left out.
///
/// # Errors
/// What was expected.
pub fn parse(text: &str) -> Result<u64, String> {
    let number = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let has_digits = |text: &str| text.bytes().all(|letter| letter.is_ascii_digit());
    if !has_digits(decimals) || decimals.len() > MOST_DECIMALS {
        return Err("a number of bytes expected".to_owned());
    }
    let whole: u64 = whole.parse().map_err(|_| "a number of bytes expected".to_owned())?;
    let unit: u64 = match text.get(number.len()..).unwrap_or("").trim() {
        "" | "B" if decimals.is_empty() => 1,
        "" | "B" => return Err("whole bytes expected".to_owned()),
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        _ => return Err("B, KiB, MiB or GiB expected".to_owned()),
    };
    // Neither can be too large: 18 digits, and three times ten bits.
    let parts = decimals.parse::<u128>().unwrap_or(0) * u128::from(unit);
    let parts = parts / 10_u128.pow(decimals.len() as u32);
    let bytes = whole.checked_mul(unit).zip(u64::try_from(parts).ok());
    let bytes = bytes.and_then(|(whole, parts)| whole.checked_add(parts));
    bytes.ok_or_else(|| "fewer bytes expected".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_binary() {
        assert_eq!(parse("638976"), Ok(638_976));
        assert_eq!(parse("624KiB"), parse("638976"));
        assert_eq!(
            (parse("624K"), parse("2 MiB"), parse("1G")),
            (Ok(638_976), Ok(2 << 20), Ok(1 << 30))
        );
        for wrong in ["", "KiB", "-1", "1KB", "18446744073709551615K"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn decimals_are_taken_exactly() {
        assert_eq!(parse("15.75GiB"), Ok(63 << 28));
        assert_eq!(parse("15.75G"), Ok(63 << 28), "as XLA prints it");
        assert_eq!(parse("1.5M"), Ok(3 << 19));
        assert_eq!(parse("0.0009765625 KiB"), Ok(1));
        // 15.7 × 2^30 is 16857746636.8.
        assert_eq!(parse("15.7GiB"), Ok(16_857_746_636));
        assert_eq!(parse("17179869183.999999999999999999G"), Ok(u64::MAX), "to the last byte");
        for wrong in
            ["1.5", "1.5B", ".5G", "1.G", "1.5.5G", "1.-5G", "1.0000000000000000000G", "1,5G"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
