//! Ctrl-C and other requests to end: what is half written goes first, and then the process ends by the signal, as one that
//! knows nothing of it would.

#[cfg(unix)]
pub use unix::{stop_watching, watch};

/// Elsewhere an interrupted process leaves what it was writing, which a later one takes away.
#[cfg(not(unix))]
pub fn watch() {}

/// There is nothing to stop.
#[cfg(not(unix))]
pub fn stop_watching() {}

#[cfg(unix)]
mod unix {
    use std::sync::OnceLock;

    use nix::sys::signal::{SigSet, SigmaskHow, Signal, raise};

    use crate::half_written::take_away;

    /// What ends a process and can be waited for.
    const SIGNALS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

    /// The signals that were blocked before this process watched.
    static BLOCKED_BEFORE: OnceLock<SigSet> = OnceLock::new();

    /// Waits for signals in a thread of its own. To be called before there are others, for they do as the first one.
    pub fn watch() {
        let ignored = ignored();
        let mut awaited = SigSet::empty();
        for signal in SIGNALS {
            // What whoever started this wants to be ignored, as `nohup` does, stays so.
            if (ignored >> (signal as u64).saturating_sub(1)) & 1 == 0 {
                awaited.add(signal);
            }
        }
        match awaited.thread_swap_mask(SigmaskHow::SIG_BLOCK) {
            Ok(before) => {
                let _ = BLOCKED_BEFORE.set(before);
            }
            Err(_) => return,
        }
        let wait = move || {
            if let Ok(signal) = awaited.wait() {
                take_away();
                // Only this thread takes it, and is the end of all.
                let _ = awaited.thread_unblock().and_then(|()| raise(signal));
                std::process::exit(128_i32.saturating_add(signal as i32));
            }
        };
        let waits = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
        if waits.is_err() {
            let _ = awaited.thread_unblock();
        }
    }

    /// Gives signals their effect on this thread again. A command that this process becomes inherits what is blocked, and
    /// could not be ended.
    pub fn stop_watching() {
        if let Some(before) = BLOCKED_BEFORE.get() {
            let _ = before.thread_set_mask();
        }
    }

    /// The signals that are ignored, a bit each; where the system does not say it, none.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}
