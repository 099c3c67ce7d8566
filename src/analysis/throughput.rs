//! Throughput: samples per second, batch size × runs ÷ time (definitions.md).
//!
//! - There are two of them, each with its name: by cycles, the time being cycles ÷ clock, and by elapsed
//!   time, where that was recorded.
//! - The batch size is what `app.json` says under `batch_size`, `batchSize`, `batch size` or `batch` in any
//!   case; of several the one nearest to the top of the file, and none when two of them are as near and
//!   contradict each other.
//! - A batch that one run takes several times, by gradient accumulation or by replicas, counts once: reports
//!   do not say.

use crate::analysis::program::named_facts::nearest_to_the_top;
use crate::analysis::program::report_options::OptionValue;
use crate::store::Report;
use crate::store::options::SideFact;

/// What it is called by the time that is counted.
pub const BY_CYCLES: &str = "Samples per second (by cycles)";
/// The other.
pub const BY_ELAPSED_TIME: &str = "Samples per second (by elapsed time)";

/// Samples per second. `None` where the report does not say what it takes, and of a run that took no time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Throughput {
    /// The time being cycles ÷ clock.
    pub by_cycles: Option<f64>,
    /// The time being what the runs took as the host measured it.
    pub by_elapsed_time: Option<f64>,
}

/// The throughput of all recorded runs.
pub fn throughput(report: &Report) -> Throughput {
    let samples = || Some(batch_size(report)? as f64 * report.execution.get()?.runs as f64);
    let seconds = |time: Option<u64>, units_a_second: Option<u64>| {
        let (time, units) = (time.filter(|time| *time > 0)?, units_a_second.filter(|hz| *hz > 0)?);
        Some(time as f64 / units as f64)
    };
    let execution = report.execution.get();
    let clock_hz = report.target.get().and_then(|target| target.clock_hz);
    let by_cycles = seconds(execution.and_then(|totals| totals.cycles), clock_hz);
    let elapsed = execution.and_then(|totals| totals.elapsed_microseconds);
    let of = |seconds: Option<f64>| Some(samples()? / seconds?);
    Throughput { by_cycles: of(by_cycles), by_elapsed_time: of(seconds(elapsed, Some(1_000_000))) }
}

/// Samples at a time.
pub fn batch_size(report: &Report) -> Option<u64> {
    of_facts(&report.about.get()?.app)
}

fn of_facts(app: &[SideFact]) -> Option<u64> {
    nearest_to_the_top(app, &["batchsize", "batch"], |value| match OptionValue::parse(value) {
        OptionValue::Integer(size) => u64::try_from(size).ok().filter(|size| *size > 0),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::side_facts;
    use crate::store::execution::ExecutionTotals;
    use crate::store::options::About;
    use crate::store::target::Target;

    #[test]
    fn the_batch_size_nearest_to_the_top_counts() {
        let of = |list: &[(&str, &str)]| of_facts(&side_facts(list));
        assert_eq!(of(&[("batch_size", "8")]), Some(8));
        assert_eq!(of(&[("a / BatchSize", "16.0"), ("a / b / batch", "4")]), Some(16));
        assert_eq!(of(&[("a / batch size", "8"), ("b / batch", "4")]), None);
        assert_eq!(of(&[("a / batch", "8"), ("b / batch", "8")]), Some(8));
        assert_eq!(of(&[("micro_batch_size", "8"), ("batch", "many"), ("batch", "0")]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn throughput_is_samples_of_all_runs_by_their_time() {
        let report = |batch: &str, totals: Option<ExecutionTotals>, clock_hz| {
            let report = Report::default();
            let app = side_facts(&[("batch_size", batch)]);
            report.about.fill(Some(About { app, ..About::default() }));
            report.target.fill(Some(Target { clock_hz, ..Target::default() }));
            report.execution.fill(totals);
            throughput(&report)
        };
        let totals = |cycles| {
            Some(ExecutionTotals { runs: 3, steps: 9, cycles, elapsed_microseconds: Some(8_000) })
        };
        // 24 samples in 6,000 cycles of a microsecond.
        let run = report("8", totals(Some(6_000)), Some(1_000_000));
        assert_eq!(run.by_cycles, Some(4_000.0));
        assert_eq!(run.by_elapsed_time, Some(3_000.0), "the host took longer");
        for unknown in [
            report("8", None, Some(1)),
            report("8", totals(None), Some(1)),
            report("8", totals(Some(0)), Some(1)),
            report("8", totals(Some(9)), None),
            report("x", totals(Some(9)), Some(1)),
        ] {
            assert_eq!(unknown.by_cycles, None);
        }
    }
}
