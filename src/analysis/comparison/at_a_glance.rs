//! Runs at a glance: whether each fits, its key figures against their limits, and which have the same curve.

use std::sync::Arc;

use crate::analysis::liveness::scope_curve::AlwaysLive;
use crate::analysis::liveness::timeline::{Timeline, WithTimeline};
use crate::analysis::memory::{FullestTile, code_bytes, totals};
use crate::analysis::throughput::{Throughput, throughput};
use crate::run::{Outcome, Verdict};

/// What is said of a run in a line. What is not known is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFacts {
    pub verdict: Option<Arc<Verdict>>,
    /// The most that is alive at a step.
    pub peak_bytes: Option<u64>,
    /// What the peak is held against; `None` of several devices, which each have their own.
    pub limit_bytes: Option<u64>,
    /// The fullest tile, gaps included, and what a tile has.
    pub fullest_bytes: Option<u64>,
    pub bytes_per_tile: Option<u64>,
    pub always_live_bytes: Option<u64>,
    pub code_bytes: Option<u64>,
    /// By cycles; by elapsed time where no run has cycles, for the two cannot be compared.
    pub samples_per_second: Option<f64>,
    /// Whether anything was recorded.
    pub is_recorded: bool,
    /// The first run with the same curve, where that is another one.
    pub same_curve_as: Option<usize>,
}

/// The facts of some runs, whose timelines are those of everything; what is said first of each comes beside them.
pub fn run_facts(runs: &[WithTimeline], verdicts: &[Option<Arc<Verdict>>]) -> Vec<RunFacts> {
    let rates: Vec<Throughput> = runs.iter().map(|run| throughput(&run.report)).collect();
    let have_cycles = rates.iter().any(|rate| rate.by_cycles.is_some());
    let rate = |place| {
        let rate: &Throughput = rates.get(place)?;
        if have_cycles { rate.by_cycles } else { rate.by_elapsed_time }
    };
    let facts = |(place, run): (usize, &WithTimeline)| RunFacts {
        verdict: verdicts.get(place).cloned().flatten(),
        samples_per_second: rate(place),
        same_curve_as: runs.iter().take(place).position(|other| have_same_curve(run, other)),
        ..facts_of(run)
    };
    runs.iter().enumerate().map(facts).collect()
}

fn facts_of(run: &WithTimeline) -> RunFacts {
    let report = &*run.report;
    let (memory, target) = (report.memory.get(), report.target.get());
    let timeline = run.timeline.as_deref();
    let fullest =
        memory.and_then(|memory| FullestTile::of(memory, totals(memory, target).fullest?));
    RunFacts {
        peak_bytes: timeline.and_then(peak),
        limit_bytes: timeline.and_then(|timeline| timeline.limit),
        fullest_bytes: fullest.and_then(|tile| tile.including_gaps_bytes),
        bytes_per_tile: report.bytes_per_tile(),
        always_live_bytes: timeline.and_then(level),
        code_bytes: memory.and_then(code_bytes),
        is_recorded: report.execution.get().is_some_and(|execution| execution.runs > 0),
        ..RunFacts::default()
    }
}

/// The most that is alive; `None` where what is always live is not known.
fn peak(timeline: &Timeline) -> Option<u64> {
    (timeline.curve.always_live != AlwaysLive::Unknown).then_some(timeline.top)
}

fn level(timeline: &Timeline) -> Option<u64> {
    match timeline.curve.always_live {
        AlwaysLive::Level(bytes) => Some(bytes),
        _ => None,
    }
}

fn have_same_curve(run: &WithTimeline, other: &WithTimeline) -> bool {
    let both = run.timeline.as_ref().zip(other.timeline.as_ref());
    both.is_some_and(|(run, other)| run.has_same_curve(other))
}

impl RunFacts {
    fn fits(&self) -> Option<bool> {
        self.verdict.as_ref()?.outcome.fits()
    }

    /// What the peak is held against, bytes: the limit of its curve, else the capacity that its verdict is about.
    pub fn peak_limit(&self) -> Option<u64> {
        let of_run = self.verdict.as_ref().filter(|verdict| verdict.used_of.is_none());
        self.limit_bytes.or_else(|| of_run?.capacity_bytes)
    }

    /// Whether it ended because something did not fit into what was left.
    pub fn has_run_out(&self) -> bool {
        let outcome = self.verdict.as_ref().map(|verdict| verdict.outcome);
        outcome == Some(Outcome::OutOfMemory)
    }

    /// Whether the difference of both peaks says which run needs more. It does not where the lower peak is only a lower bound.
    pub fn is_change_known(&self, reference: &Self) -> bool {
        let smaller = if self.peak_bytes < reference.peak_bytes { self } else { reference };
        smaller.verdict.as_ref().is_none_or(|verdict| verdict.at_least.is_none())
    }
}

/// A sentence that says which runs fit, and whether all of them do, or none; `None` where only some do or nothing is
/// known. Runs are named by what `name` says of their place, such as `D, amp-0.35`; `size` writes bytes.
pub fn which_fits(
    runs: &[RunFacts],
    name: &dyn Fn(usize) -> String,
    size: &dyn Fn(u64) -> String,
) -> (Option<bool>, String) {
    let known = runs.iter().filter(|run| run.fits().is_some()).count();
    let on = runs.iter().find_map(|run| run.verdict.as_ref()).map(|one| one.on_what());
    let on = on.unwrap_or_default();
    let fitting: Vec<usize> = places(runs, true);
    let room = |places: &[usize]| {
        let free =
            |place: &usize| Some((runs.get(*place)?.verdict.as_ref()?.free_bytes()?, *place));
        // The first of equals.
        let first = |(free, place): &(i128, usize)| (*free, std::cmp::Reverse(*place));
        let (free, place) = places.iter().filter_map(free).max_by_key(first)?;
        let bytes = size(u64::try_from(free.unsigned_abs()).unwrap_or(u64::MAX));
        Some((place, bytes))
    };
    let free = |places: &[usize], is_named: bool| match room(places) {
        Some((place, bytes)) if is_named => {
            format!(": most room in {}, {bytes} free{on}", name(place))
        }
        Some((_, bytes)) => format!(": {bytes} free{on}"),
        None => String::new(),
    };
    let failed = runs.iter().filter(|run| run.has_run_out()).count();
    let unknown = match runs.len().saturating_sub(known).saturating_sub(failed) {
        0 => String::new(),
        count => format!("; for {count} it is not known"),
    };
    let unknown = match failed {
        0 => unknown,
        count => format!("; {count} ran out of memory{unknown}"),
    };
    let text = match (fitting.as_slice(), known) {
        (_, 0) => return (None, "It is not known whether they fit".to_owned()),
        ([], 1) if runs.len() == 1 => "It does not fit".to_owned(),
        ([], _) => {
            let over = places(runs, false);
            let nearest = room(&over)
                .map(|(place, bytes)| format!(": nearest is {}, {bytes} over{on}", name(place)));
            let none = if (known, runs.len()) == (2, 2) { "Neither fits" } else { "None fits" };
            format!("{none}{}", nearest.unwrap_or_default())
        }
        ([one], _) if runs.len() > 1 => {
            format!("Only {}, fits{}", name(*one), free(&fitting, false))
        }
        (all, _) if all.len() == runs.len() => match all.len() {
            1 => format!("It fits{}", free(all, false)),
            2 => format!("Both fit{}", free(all, true)),
            count => format!("All {count} fit{}", free(all, true)),
        },
        (some, _) => format!("{} of {} fit{}", some.len(), runs.len(), free(some, true)),
    };
    let (do_fit, over) = match fitting.len() {
        0 => (Some(false), 0),
        all if all == runs.len() => (Some(true), 0),
        _ => (None, places(runs, false).len()),
    };
    let others = match over {
        0 => String::new(),
        1 => "; 1 does not fit".to_owned(),
        over => format!("; {over} do not fit"),
    };
    (do_fit, format!("{text}{others}{unknown}"))
}

/// The places of the runs that fit, or of those that do not.
fn places(runs: &[RunFacts], fits: bool) -> Vec<usize> {
    let is_wanted = |run: &RunFacts| run.fits() == Some(fits);
    let wanted = runs.iter().enumerate().filter(|(_, run)| is_wanted(run));
    wanted.map(|(place, _)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Report;
    use crate::store::execution::ExecutionTotals;
    use crate::store::options::{About, SideFact};
    use crate::store::target::Target;

    /// A run whose fullest tile has so many bytes of 100; `None` of which it is not known.
    fn run(fullest: Option<u64>) -> RunFacts {
        let verdict = |bytes: u64| Verdict {
            used_of: Some("the fullest tile"),
            ..verdict(if bytes > 100 { Outcome::DoesNotFit } else { Outcome::Fits }, bytes)
        };
        RunFacts { verdict: fullest.map(|of| Arc::new(verdict(of))), ..RunFacts::default() }
    }

    /// That of a run which takes so much of 100 bytes.
    fn verdict(outcome: Outcome, used: u64) -> Verdict {
        let (used_bytes, capacity_bytes) = (Some(used), Some(100));
        Verdict { outcome, used_bytes, capacity_bytes, ..Verdict::default() }
    }

    fn answer(runs: &[Option<u64>]) -> (Option<bool>, String) {
        let runs: Vec<RunFacts> = runs.iter().copied().map(run).collect();
        let name = |place: usize| ["A, a", "B, b", "C, c"][place].to_owned();
        which_fits(&runs, &name, &|bytes| format!("{bytes} B"))
    }

    #[test]
    fn the_answer_says_which_fits_and_with_how_much_room() {
        let text = |runs: &[Option<u64>]| answer(runs).1;
        assert_eq!(
            answer(&[Some(120), Some(90), Some(130)]),
            (None, "Only B, b, fits: 10 B free on the fullest tile; 2 do not fit".to_owned())
        );
        assert_eq!(
            answer(&[Some(120), Some(103), Some(103)]),
            (Some(false), "None fits: nearest is B, b, 3 B over on the fullest tile".to_owned())
        );
        assert_eq!(
            text(&[Some(120), Some(130)]),
            "Neither fits: nearest is A, a, 20 B over on the fullest tile"
        );
        assert_eq!(
            text(&[Some(90), Some(80)]),
            "Both fit: most room in B, b, 20 B free on the fullest tile"
        );
        assert_eq!(
            text(&[Some(90), Some(80), Some(99)]),
            "All 3 fit: most room in B, b, 20 B free on the fullest tile"
        );
        assert_eq!(
            text(&[Some(90), Some(180), Some(99)]),
            "2 of 3 fit: most room in A, a, 10 B free on the fullest tile; 1 does not fit"
        );
    }

    #[test]
    fn a_peak_is_held_against_the_limit_of_its_curve() {
        let mut failed = verdict(Outcome::OutOfMemory, 60);
        failed.at_least = Some(crate::run::AtLeast::FAILED);
        let run = |verdict: Verdict, peak_bytes| RunFacts {
            verdict: Some(Arc::new(verdict)),
            peak_bytes: Some(peak_bytes),
            limit_bytes: Some(100),
            ..RunFacts::default()
        };
        let ended = run(Verdict { used_of_all: Some((199, 200)), ..failed }, 40);
        assert_eq!((ended.peak_limit(), ended.has_run_out()), (Some(100), true), "without others");
        let of_verdict = |verdict: Verdict| RunFacts { limit_bytes: None, ..run(verdict, 40) };
        let unlimited = of_verdict(verdict(Outcome::Fits, 60));
        assert_eq!((unlimited.peak_limit(), unlimited.has_run_out()), (Some(100), false));
        let unknown = Verdict { used_bytes: Some(50), ..Verdict::default() };
        assert_eq!(of_verdict(unknown).peak_limit(), None);
        let tile = Verdict { used_of: Some("the fullest tile"), ..verdict(Outcome::Fits, 9) };
        assert_eq!(of_verdict(tile).peak_limit(), None, "that of a tile is none of the run");
        let whole = run(verdict(Outcome::Fits, 70), 50);
        assert!(!ended.is_change_known(&whole), "more was to come of it");
        let longer = run(verdict(Outcome::Fits, 30), 20);
        assert!(longer.is_change_known(&ended) && longer.is_change_known(&whole));
    }

    #[test]
    fn programs_without_tiles_are_held_against_their_device() {
        let run = |outcome, used| {
            let verdict = Some(Arc::new(verdict(outcome, used)));
            RunFacts { verdict, ..RunFacts::default() }
        };
        let over = run(Outcome::DoesNotFit, 105);
        let text = |runs: &[RunFacts]| {
            which_fits(runs, &|place| format!("run {place}"), &|bytes| format!("{bytes} B"))
        };
        let one_fits = [over.clone(), run(Outcome::Fits, 93)];
        let said = "Only run 1, fits: 7 B free; 1 does not fit";
        assert_eq!(text(&one_fits), (None, said.to_owned()));
        let unknown = run(Outcome::Unknown, 0);
        let said = "None fits: nearest is run 0, 5 B over; for 1 it is not known";
        assert_eq!(text(&[over, unknown.clone()]), (Some(false), said.to_owned()));
        let failed = run(Outcome::OutOfMemory, 93);
        let said = "Only run 1, fits: 7 B free; 1 ran out of memory; for 1 it is not known";
        let all = [failed, run(Outcome::Fits, 93), unknown.clone()];
        assert_eq!(text(&all), (None, said.to_owned()));
        // That a run of another system ended well says of no device that it fits there.
        let ran = run(Outcome::Ran, 93);
        assert_eq!(text(&[unknown.clone(), ran]).0, None);
        assert_eq!(text(&[unknown.clone(), unknown]).0, None);
    }

    #[test]
    fn samples_per_second_of_all_runs_count_the_same_time() {
        let run = |cycles, elapsed_microseconds| {
            let app = vec![SideFact { path: "batch_size".to_owned(), value: "8".to_owned() }];
            let report = Report::default();
            report.about.fill(Some(About { app, ..About::default() }));
            report.target.fill(Some(Target { clock_hz: Some(1_000_000), ..Target::default() }));
            let totals = ExecutionTotals { runs: 1, steps: 1, cycles, elapsed_microseconds };
            report.execution.fill(Some(totals));
            WithTimeline { report: Arc::new(report), timeline: None }
        };
        let rates = |runs: &[WithTimeline]| -> Vec<Option<f64>> {
            run_facts(runs, &[]).iter().map(|facts| facts.samples_per_second).collect()
        };
        let [host, both] = [run(None, Some(4_000)), run(Some(2_000), Some(4_000))];
        assert_eq!(rates(&[host.clone(), both]), [None, Some(4_000.0)]);
        assert_eq!(rates(&[host.clone(), host]), [Some(2_000.0); 2]);
    }

    #[test]
    fn what_is_not_known_is_said() {
        assert_eq!(answer(&[None, None]), (None, "It is not known whether they fit".to_owned()));
        assert_eq!(
            answer(&[None, Some(90)]).1,
            "Only B, b, fits: 10 B free on the fullest tile; for 1 it is not known"
        );
        assert_eq!(
            answer(&[None, Some(190)]).1,
            "None fits: nearest is B, b, 90 B over on the fullest tile; for 1 it is not known"
        );
        assert_eq!(answer(&[Some(100)]).1, "It fits: 0 B free on the fullest tile");
        assert_eq!(answer(&[Some(101)]), (Some(false), "It does not fit".to_owned()));
        assert_eq!(answer(&[]).0, None);
    }
}
