//! Times as logs write them at the start of a line.

const WEEKDAYS: [&[u8]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];
const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];
const ZONES: [&[u8]; 22] = [
    b"UTC", b"GMT", b"CET", b"CEST", b"EST", b"EDT", b"PST", b"PDT", b"MST", b"MDT", b"CST",
    b"CDT", b"JST", b"IST", b"BST", b"MSK", b"KST", b"AEST", b"AEDT", b"AM", b"PM", b"Z",
];

/// Months as journald writes them in the languages of other locales, where they differ from [`MONTHS`].
const MONTHS_ELSEWHERE: [&str; 43] = [
    "Mär", "Mrz", "Mai", "Okt", "Dez", "janv.", "févr.", "mars", "avril", "avr.", "mai", "juin",
    "juil.", "août", "sept.", "oct.", "nov.", "déc.", "ene", "feb", "mar", "abr", "may", "jun",
    "jul", "ago", "sep", "oct", "nov", "dic", "gen", "apr", "mag", "giu", "lug", "set", "ott",
    "jan", "fev", "out", "dez", "mrt", "okt",
];

/// The bytes of the time with which a text begins, its date and zone included.
pub fn time_length(text: &[u8]) -> Option<usize> {
    // Most words are none: digits, and the names of days, months and levels, are all that one begins with.
    let first = text.first()?;
    let end = if first.is_ascii_digit() || first.is_ascii_uppercase() {
        glog(text).or_else(|| dated(text)).or_else(|| clock(text, 0)).or_else(|| epoch(text))?
    } else if first.is_ascii_lowercase() && has_day_second(text) {
        dated(text)?
    } else {
        return None;
    };
    let is_end = |byte: u8| !byte.is_ascii_alphanumeric() && byte != b'_' && byte != b'%';
    text.get(end).is_none_or(|next| is_end(*next)).then_some(end)
}

/// Whether a day, as `07` or ` 7`, stands behind a first word that is as short as the name of a month.
fn has_day_second(text: &[u8]) -> bool {
    let Some(blank) = memchr::memchr(b' ', text.get(3..7).unwrap_or_default()) else {
        return false;
    };
    let day = text.get(blank + 4..).unwrap_or_default();
    let day = day.strip_prefix(b" ").unwrap_or(day);
    matches!(digits(day, 0), 1 | 2)
}

fn is_digit(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(u8::is_ascii_digit)
}

/// How many digits stand at a place.
fn digits(text: &[u8], at: usize) -> usize {
    text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn is_at(text: &[u8], at: usize, what: &[u8]) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(what))
}

fn one_of(text: &[u8], at: usize, words: &[&[u8]]) -> Option<usize> {
    words.iter().find(|word| is_at(text, at, word)).map(|word| at + word.len())
}

/// `E0504 09:05:40.721128`, of absl also `E0000 00:00:1751901588.123456`.
fn glog(text: &[u8]) -> Option<usize> {
    let is_level = matches!(text.first()?, b'D' | b'I' | b'W' | b'E' | b'F' | b'V' | b'C');
    (is_level && digits(text, 1) == 4 && is_at(text, 5, b" ")).then_some(())?;
    let rest = text.get(6..)?;
    let clock = rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b':' | b'.')).count();
    let colons = memchr::memchr_iter(b':', rest.get(..clock)?).count();
    (colons == 2).then_some(6 + clock)
}

/// A date, most often with a time of day.
fn dated(text: &[u8]) -> Option<usize> {
    let mut at = one_of(text, 0, &WEEKDAYS).unwrap_or(0);
    if at > 0 {
        at += text.get(at..)?.iter().take_while(|byte| matches!(byte, b' ' | b',')).count();
    }
    let (end, has_year) = date(text, at)?;
    let gap = text.get(end..)?.iter().take_while(|byte| matches!(byte, b' ' | b',')).count();
    let gap = match text.get(end) {
        Some(b'T' | b't' | b'_' | b':' | b'-') => 1,
        _ => gap.min(3),
    };
    let with_clock = (gap > 0).then(|| clock(text, end + gap)).flatten();
    let with_clock = with_clock.map(|end| {
        // `Mon Jul  7 15:19:48 2025`
        let year = is_at(text, end, b" 20") && digits(text, end + 1) == 4;
        if year && !has_year { end + 5 } else { end }
    });
    with_clock.or(has_year.then_some(end))
}

/// The end of a date, and whether it has a year of four digits.
fn date(text: &[u8], at: usize) -> Option<(usize, bool)> {
    // `sept.` begins with `sep`: the longer one counts.
    let elsewhere = || {
        let months = MONTHS_ELSEWHERE.iter().map(|month| month.as_bytes());
        let ends = months.filter(|month| is_at(text, at, month)).map(|month| at + month.len());
        ends.max()
    };
    if !is_digit(text, at)
        && let Some(day) = one_of(text, at, &MONTHS).or_else(elsewhere)
    {
        let blanks = text.get(day..)?.iter().take_while(|byte| **byte == b' ').count();
        let length = digits(text, day + blanks);
        return (matches!(blanks, 1 | 2) && matches!(length, 1 | 2))
            .then_some((day + blanks + length, false));
    }
    let first = digits(text, at);
    let separator = *text.get(at + first)?;
    let second_at = at + first + 1;
    if let Some(end) = one_of(text, second_at, &MONTHS) {
        // `07 Jul 2025`, `07/Jul/2025`
        let year = matches!(first, 1 | 2) && text.get(end) == Some(&separator);
        let length = digits(text, end + 1);
        // `2025-Jul-07`
        let year_first = first == 4 && text.get(end) == Some(&separator) && length == 2;
        return (year && matches!(length, 2 | 4) || year_first)
            .then_some((end + 1 + length, length == 4 || year_first));
    }
    if first == 8 {
        // `20250707T151948`
        let is_basic = matches!(separator, b'T' | b'-' | b'_') && digits(text, second_at) >= 6;
        let end = second_at + digits(text, second_at);
        return is_basic.then_some((end + usize::from(is_at(text, end, b"Z")), true));
    }
    matches!(separator, b'-' | b'/' | b'.').then_some(())?;
    let second = digits(text, second_at);
    let third_at = second_at + second + 1;
    let has_third = text.get(second_at + second) == Some(&separator);
    let third = if has_third { digits(text, third_at) } else { 0 };
    match (first, second, third) {
        (4, 1 | 2, 1 | 2) | (1 | 2, 1 | 2, 4) => Some((third_at + third, true)),
        (2, 2, 2) if separator != b'.' => Some((third_at + third, false)),
        (2, 2, 0) if separator != b'.' => Some((second_at + second, false)),
        _ => None,
    }
}

/// A time of day with its zone.
fn clock(text: &[u8], at: usize) -> Option<usize> {
    let hours = digits(text, at);
    matches!(hours, 1 | 2).then_some(())?;
    let mut end = at + hours;
    let separator = *text.get(end).filter(|byte| matches!(byte, b':' | b'-'))?;
    for _ in 0..2 {
        (text.get(end) == Some(&separator) && digits(text, end + 1) == 2).then_some(())?;
        end += 3;
    }
    if matches!(text.get(end), Some(b'.' | b',')) && is_digit(text, end + 1) {
        end += 1 + digits(text, end + 1);
    }
    let blank = usize::from(is_at(text, end, b" "));
    let is_offset = matches!(text.get(end + blank), Some(b'+' | b'-'));
    let offset = digits(text, end + blank + 1);
    if is_offset && offset == 4 {
        return Some(end + blank + 5);
    }
    let minutes = end + blank + 3;
    if is_offset && offset == 2 && is_at(text, minutes, b":") && digits(text, minutes + 1) == 2 {
        return Some(end + blank + 6);
    }
    let zone = one_of(text, end + blank, &ZONES);
    let is_whole = |end: &usize| text.get(*end).is_none_or(|next| !next.is_ascii_alphanumeric());
    Some(zone.filter(is_whole).unwrap_or(end))
}

/// Seconds, milliseconds, microseconds or nanoseconds since 1970.
fn epoch(text: &[u8]) -> Option<usize> {
    let length = digits(text, 0);
    // From 2014 to 2033; a number of bytes is none.
    let is_of_this_age = matches!(text, [b'1', b'4'..=b'9', ..]);
    let unit = text.get(length..)?.trim_ascii_start();
    let is_bytes =
        unit.starts_with(b"bytes") || unit.starts_with(b"Bytes") || unit.starts_with(b"B ");
    (matches!(length, 10 | 13 | 16 | 19) && is_of_this_age && !is_bytes).then_some(())?;
    let decimals = if is_at(text, length, b".") { digits(text, length + 1) } else { 0 };
    Some(if decimals > 0 { length + 1 + decimals } else { length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_many_logs_are_known() {
        for time in [
            "2025-07-07T15:19:48.1236290Z",
            "2025-07-07 15:19:48,123",
            "2025-07-07, 15:19:48 UTC",
            "2025/07/07 15:19:48",
            "2025-07-07T15:19:48+02:00",
            "2025-07-07 15:19:48 +0000",
            "2025-07-07",
            "07/07/25 15:19:48",
            "07-29 21:48:54",
            "15:19:48.123",
            "3:19:48 PM",
            "Jul  7 15:19:48",
            "Mon Jul  7 15:19:48 2025",
            "Mon 2025-07-07 15:19:48 CEST",
            "07/Jul/2025:15:19:48 +0000",
            "2025-Jul-07 15:19:48.123456",
            "Okt 07 15:19:48",
            "Mär  7 15:19:48",
            "août 07 15:19:48",
            "juil. 07 15:19:48",
            "ene 07 15:19:48",
            "20250707T151948Z",
            "E0504 09:05:40.721128",
            "I0000 00:00:1751901588.123456",
            "1751901588.123",
            "1751901588123",
        ] {
            let line = format!("{time} text");
            let found = time_length(line.as_bytes());
            // A zone that is glued to digits is read by its letters.
            assert_eq!(found, Some(time.len()), "{time}");
        }
        for other in [
            "12: 270336 bytes",
            "5 has a total",
            "79.25 GiB",
            "1,2",
            "7-8 and",
            "16.00G",
            "10.0.0.5: x",
            "set 10 values",
            "mars 4",
        ] {
            assert_eq!(time_length(other.as_bytes()), None, "{other}");
        }
    }
}
