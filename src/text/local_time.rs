//! Times as people read them: in the time zone of this machine, with its short name.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A time in seconds since 1970: `2026-11-21 15:05 CET`. Universal time where the machine names no zone.
pub fn local_time(seconds: u64) -> String {
    time_in(seconds, TimeZone::try_system().unwrap_or(TimeZone::UTC))
}

/// Empty beyond the year 9999.
fn time_in(seconds: u64, zone: TimeZone) -> String {
    let time = i64::try_from(seconds).ok().and_then(|it| Timestamp::from_second(it).ok());
    time.map_or_else(String::new, |time| {
        time.to_zoned_datetime(zone).strftime("%Y-%m-%d %H:%M %Z").to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_zone() {
        let in_utc = |seconds| time_in(seconds, TimeZone::UTC);
        assert_eq!(in_utc(0), "1970-01-01 00:00 UTC");
        assert_eq!(in_utc(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(in_utc(u64::MAX), "");
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        assert_eq!(time_in(1_795_269_900, berlin.clone()), "2026-11-21 15:05 CET");
        assert_eq!(time_in(1_780_000_000, berlin), "2026-05-28 22:26 CEST");
        let kathmandu = TimeZone::posix("<+0545>-5:45").expect("a zone");
        assert_eq!(time_in(0, kathmandu), "1970-01-01 05:45 +0545");
    }
}
