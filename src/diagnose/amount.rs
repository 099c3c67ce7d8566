//! Amounts of memory as messages write them: `382.00 MiB`, `33.05G`, `525496`.
//!
//! Units are binary whatever their letters: TPU messages write M for 2²⁰ bytes, Poplar's summaries kB
//! for 2¹⁰. Digits may be set apart in groups of three (`2,616,922,112`); a comma that is no such one is that
//! of decimals (`1900,00 MiB`). A decimal number is rounded to the nearest byte, halves up; the arithmetic is exact.

/// Decimals that are read; a message has two.
const MOST_DECIMALS: usize = 12;

/// Bytes of a number with an optional unit; `None` for what is no amount or more than 2⁶⁴ - 1 bytes.
pub fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | ',')).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let (zeros, unit) = exponent(rest).unwrap_or((0, rest));
    let power = match unit.trim_start().as_bytes().first() {
        None | Some(b'B' | b'b') => 0,
        Some(b'K' | b'k') => 10,
        Some(b'M' | b'm') => 20,
        Some(b'G' | b'g') => 30,
        Some(b'T' | b't') => 40,
        Some(b'P') => 50,
        Some(b'E') => 60,
        Some(_) => return None,
    };
    let (whole, decimals) = parts(number)?;
    if decimals.len() > zeros as usize && unit.trim().is_empty() {
        // A part of a byte: its unit is lost.
        return None;
    }
    let decimals = decimals.get(..MOST_DECIMALS).unwrap_or(decimals);
    let digits: String =
        whole.chars().filter(char::is_ascii_digit).chain(decimals.chars()).collect();
    let scaled = digits.parse::<u128>().ok()?.checked_mul(1 << power)?;
    let scaled = scaled.checked_mul(10_u128.checked_pow(zeros)?)?;
    let divisor = 10_u128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    u64::try_from(scaled.checked_add(divisor / 2)? / divisor).ok()
}

/// The exponent of a number, 9 for `e+09`, and the text behind it.
fn exponent(rest: &str) -> Option<(u32, &str)> {
    let digits = rest.strip_prefix(['e', 'E'])?;
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (digits, unit) = digits.split_at(end);
    // One that is too large for a number is too large for bytes as well.
    (!digits.is_empty()).then(|| (digits.parse().unwrap_or(u32::MAX), unit))
}

/// What stands before the decimals, and the decimals.
fn parts(number: &str) -> Option<(&str, &str)> {
    let is_grouped = |whole: &str, mark: char| {
        let mut groups = whole.split(mark);
        let first = groups.next().unwrap_or_default();
        (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3)
    };
    let is_plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let last = number.rfind(['.', ',']).map(|at| number.split_at(at));
    let Some((whole, rest)) = last else { return Some((number, "")) };
    let mut rest = rest.chars();
    let mark = rest.next()?;
    let decimals = rest.as_str();
    let other = if mark == '.' { ',' } else { '.' };
    if mark == ',' && is_grouped(number, ',') {
        return Some((number, ""));
    }
    // `1.2.3` is no number.
    let is_number = is_plain(whole) || is_grouped(whole, other) && whole.contains(other);
    (is_number && is_plain(decimals)).then_some((whole, decimals))
}

/// The same of a part of a log, which need not be text.
pub fn of_bytes(text: &[u8]) -> Option<u64> {
    bytes(&String::from_utf8_lossy(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_and_decimals_rounded() {
        for (text, expected) in [
            ("0", 0),
            ("525496", 525_496),
            ("2,616,922,112", 2_616_922_112),
            ("512B", 512),
            ("28 bytes", 28),
            ("1.00K", 1024),
            ("256.0 kB", 262_144),
            ("8.00M", 8_388_608),
            ("8.00MiB", 8_388_608),
            ("0.001K", 1),  // 1.024
            ("0.0015K", 2), // 1.536
            ("0.50B", 1),
            ("33.05G", 35_487_167_283),  // …283.2
            ("1.31 GiB", 1_406_601_789), // …789.44
            ("1.5T", 1_649_267_441_664),
            ("16P", 18_014_398_509_481_984),
            ("1E", 1 << 60),
            ("1900,00 MiB", 1900 << 20),
            ("1,5 GiB", 3 << 29),
            ("1.536,25 MiB", 1_610_874_880),
            ("1,536.25 MiB", 1_610_874_880),
            ("1,536 MiB", 1536 << 20),
            ("24 megabytes", 24 << 20),
            ("3 gb", 3 << 30),
            ("1e9", 1_000_000_000),
            ("1.5e+09 bytes", 1_500_000_000),
            ("2.5e1 GiB", 25 << 30),
        ] {
            assert_eq!(bytes(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "G",
            "1.2.3",
            "x",
            "99999999999999999999",
            "20000P",
            "3 apples",
            ".",
            "14.25",
            "1e308 GiB",
            "1e-3",
            "1e99999999999",
            "1e",
            "14.25e1",
        ] {
            assert_eq!(bytes(text), None, "{text}");
        }
        assert_eq!(bytes("1.0000000000000000000000000001M"), Some(1 << 20));
    }
}
