//! The progress line on a terminal: what is done, how fast, and how long the rest takes while work is counted, else a
//! spinner.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::format::Progress;
use crate::text::bytes;

/// A job that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const BETWEEN_REDRAWS: Duration = Duration::from_millis(100);

/// What a job counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressUnit {
    /// Bytes that are read.
    Bytes,
    /// Parts of a run that is written; their number says nothing to people.
    Parts,
}

/// Shows how far a job is until its end of the channel is dropped.
pub fn show_progress(
    what: &'static str,
    counted: ProgressUnit,
    progress: &Progress,
    finished: &Receiver<()>,
) {
    let started = Instant::now();
    let goes_on = |patience| finished.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
    if !goes_on(PATIENCE) {
        return;
    }
    let style = |template| {
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
    };
    let with_bar = style("{msg} {wide_bar} {prefix}");
    let without_bar = style("{spinner} {msg}");
    let bar = ProgressBar::new(0).with_style(without_bar.clone()).with_message(what);
    while goes_on(BETWEEN_REDRAWS) {
        let (done, total) = progress.now();
        if done < total {
            bar.set_length(total);
            bar.set_position(done);
            bar.set_prefix(share_done(counted, done, total, started.elapsed()));
            bar.set_style(with_bar.clone());
            bar.set_message(what);
        } else {
            bar.set_style(without_bar.clone());
            bar.set_message(after_all(what, counted, total));
            bar.tick();
        }
    }
    bar.finish_and_clear();
}

/// What is said where nothing is counted, and where all that was counted is done although the job goes on.
fn after_all(what: &str, counted: ProgressUnit, total: u64) -> String {
    match counted {
        _ if total == 0 => what.to_owned(),
        ProgressUnit::Bytes => format!("Finishing; {} are read", bytes(total)),
        ProgressUnit::Parts => "Finishing".to_owned(),
    }
}

/// How much of the work is done, the percentage rounded down, and at the speed so far how long the rest takes.
fn share_done(counted: ProgressUnit, done: u64, total: u64, elapsed: Duration) -> String {
    let percent = Progress::percent(done, total);
    let seconds = elapsed.as_secs_f64();
    let mut said = match counted {
        ProgressUnit::Bytes => format!("{} of {}, {percent} %", bytes(done), bytes(total)),
        ProgressUnit::Parts => format!("{percent} %"),
    };
    if done == 0 || seconds <= 0.0 {
        return said;
    }
    if counted == ProgressUnit::Bytes {
        said += &format!(", {}/s", bytes((done as f64 / seconds) as u64));
    }
    let left = (seconds * (total as f64 / done as f64 - 1.0)).ceil();
    said + &match left {
        ..=90.0 => format!(", {left} s left"),
        _ => format!(", {} min left", (left / 60.0).ceil()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_is_never_at_100_percent() {
        let parts =
            |done, total| share_done(ProgressUnit::Parts, done, total, Duration::from_secs(10));
        assert_eq!(parts(0, 7), "0 %");
        assert_eq!(parts(1, 2), "50 %, 10 s left");
        assert_eq!(parts(1, 100), "1 %, 17 min left");
        assert_eq!(parts(999, 1000), "99 %, 1 s left");
        assert_eq!(parts(u64::MAX - 1, u64::MAX), "99 %, 0 s left");
        let all = |counted, total| after_all("Reading the run", counted, total);
        assert_eq!(all(ProgressUnit::Bytes, 0), "Reading the run");
        assert_eq!(all(ProgressUnit::Parts, 7), "Finishing");
        assert_eq!(all(ProgressUnit::Bytes, 3 << 30), "Finishing; 3.00 GiB are read");
    }

    #[test]
    fn of_bytes_the_speed_is_said() {
        let said =
            |done, total| share_done(ProgressUnit::Bytes, done, total, Duration::from_secs(4));
        assert_eq!(said(0, 1 << 30), "0 B of 1.00 GiB, 0 %");
        let expected = "256.0 MiB of 1.00 GiB, 25 %, 64.0 MiB/s, 12 s left";
        assert_eq!(said(1 << 28, 1 << 30), expected);
    }
}
