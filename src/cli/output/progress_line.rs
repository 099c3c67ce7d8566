//! The progress line on a terminal: a percentage while work is counted, else a spinner.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::format::Progress;

/// A job that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const BETWEEN_REDRAWS: Duration = Duration::from_millis(100);

/// Shows how far a job is until its end of the channel is dropped.
pub fn show_progress(what: &'static str, progress: &Progress, finished: &Receiver<()>) {
    let started = Instant::now();
    let goes_on = |patience| finished.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
    if !goes_on(PATIENCE) {
        return;
    }
    let style = |template| {
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
    };
    let counted = style("{msg} {wide_bar} {prefix}");
    let uncounted = style("{spinner} {msg}");
    let bar = ProgressBar::new(0).with_style(uncounted.clone()).with_message(what);
    while goes_on(BETWEEN_REDRAWS) {
        let (done, total) = progress.now();
        if let Some(share) = share_done(done, total, started.elapsed()) {
            bar.set_length(total);
            bar.set_position(done);
            bar.set_prefix(share);
            bar.set_style(counted.clone());
            bar.set_message(what);
        } else {
            bar.set_style(uncounted.clone());
            bar.set_message(if total == 0 { what } else { "Finishing" });
            bar.tick();
        }
    }
    bar.finish_and_clear();
}

/// The percentage of the work that is done, rounded down, and how long the rest takes at the speed so far. `None` where
/// nothing is counted, and where all that was counted is done although the job goes on.
fn share_done(done: u64, total: u64, elapsed: Duration) -> Option<String> {
    if done >= total {
        return None;
    }
    let share = done as f64 / total as f64;
    // For very large counts the quotient rounds to 1.
    let percent = (share * 100.0).floor().min(99.0);
    if done == 0 {
        return Some(format!("{percent} %"));
    }
    let left = (elapsed.as_secs_f64() * (1.0 / share - 1.0)).ceil();
    Some(match left {
        ..=90.0 => format!("{percent} %, {left} s left"),
        _ => format!("{percent} %, {} min left", (left / 60.0).ceil()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_is_never_at_100_percent() {
        let share = |done, total| share_done(done, total, Duration::from_secs(10));
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(share(0, 0), None);
        assert_eq!(share(0, 7), said("0 %"));
        assert_eq!(share(1, 2), said("50 %, 10 s left"));
        assert_eq!(share(1, 100), said("1 %, 17 min left"));
        assert_eq!(share(999, 1000), said("99 %, 1 s left"));
        assert_eq!(share(u64::MAX - 1, u64::MAX), said("99 %, 0 s left"));
        assert_eq!(share(7, 7), None);
        assert_eq!(share(8, 7), None);
    }
}
