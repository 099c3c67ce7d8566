//! Sizes as people type them: bytes, alone or with a binary unit.

/// Bytes of `600`, `600K`, `600KiB`, `2 MiB` …; K, M and G are binary, as Poplar's are.
///
/// # Errors
/// What was expected.
pub fn parse(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let number: u64 = digits.parse().map_err(|_| "a number of bytes expected".to_owned())?;
    let unit = match text.get(digits.len()..).unwrap_or("").trim() {
        "" | "B" => 1,
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        _ => return Err("B, KiB, MiB or GiB expected".to_owned()),
    };
    number.checked_mul(unit).ok_or_else(|| "fewer bytes expected".to_owned())
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
        for wrong in ["", "KiB", "1.5M", "-1", "1KB", "18446744073709551615K"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
