//! The answer of the page: how many peaks are over the limit and what they have in common, with the highest peaks by
//! name and the modules below the axis. Worked out beside the window.

use std::ops::Range;
use std::sync::Arc;

use super::timelines::SlotTimelines;
use crate::analysis::comparison::step_axis::StepAxis;
use crate::analysis::liveness::peaks::peaks;
use crate::analysis::program::modules::{ModuleSpan, Modules};
use crate::analysis::program::operations::Operation;
use crate::analysis::program::steps;
use crate::run::{Outcome, Verdict};
use crate::text::{CommonPath, counted};
use crate::ui::report::head::SignedAnswer;
use crate::ui::report::room::{behind, failure, has_failed};
use crate::ui::report::slot_axis::MOST_PEAKS;
use crate::ui::runs::{Run, Runs};
use crate::ui::units::Units;
use crate::ui::widget::curve::{AxisBand, CurvePeak, PeakKey};
use crate::ui::widget::sign::Sign;

/// Runs that the answer has room for.
const MOST_RUNS: usize = 3;
/// Longest name of a peak.
const NAME: usize = 30;
/// Peaks over the limit whose operations are compared.
const COMPARED: usize = 1000;

/// The reference's side of what the page says.
#[derive(Default)]
pub struct PeakNames {
    top: Vec<NamedPeak>,
    step_word: &'static str,
    /// Those whose limit is known.
    runs: Vec<RunOverLimit>,
    /// Runs whose limit is not known.
    unknown: usize,
    pub bands: Vec<AxisBand>,
}

struct NamedPeak {
    slot: usize,
    step: String,
    name: String,
    bytes: u64,
    limit: Option<u64>,
}

struct RunOverLimit {
    title: String,
    /// What has a limit of its own.
    device: &'static str,
    over: usize,
    most: u64,
    top: u64,
    limit: Option<u64>,
    in_common: Option<String>,
    /// Of the whole run.
    verdict: Option<Arc<Verdict>>,
}

impl PeakNames {
    pub fn of(runs: &Runs, timelines: &SlotTimelines) -> Self {
        let reference = runs.reference();
        let operations = reference.derived.operations();
        let (report, of) = (&reference.report, timelines.device(reference));
        let title = |step: &usize| steps::title(report, operations.as_deref(), of, *step);
        let curve = timelines.run(0);
        let peaks = curve.map_or_else(Vec::new, |curve| curve.timeline.highest_peaks(MOST_PEAKS));
        let titles: Vec<_> = peaks.iter().map(title).collect();
        let common = CommonPath::of(titles.iter().map(|title| &**title));
        let top = peaks.iter().zip(&titles).filter_map(|(&step, title)| {
            let timeline = &timelines.run(0)?.timeline;
            Some(NamedPeak {
                slot: timelines.axis.slot(0, step)?,
                step: crate::ui::report::moment::step_id(&reference.report, step),
                name: common.shortened(title, NAME).into_owned(),
                bytes: timelines.alive_at(0, step)?,
                limit: timeline.limit,
            })
        });
        let answers = runs
            .iter()
            .enumerate()
            .filter_map(|(place, run)| RunOverLimit::of(run, place, timelines));
        let modules = operations.as_deref().map(Modules::of).unwrap_or_default();
        let Modules { layers, blocks } = modules;
        // A number alone says little, a name needs no more.
        let is_number = |name: &str| name.starts_with(|first: char| first.is_ascii_digit());
        let dotted = |(range, name): ModuleSpan| {
            let title = if is_number(&name) { format!(".{name}") } else { name };
            (range, title)
        };
        let bands = [("Layer", layers), ("Block", blocks.into_iter().map(dotted).collect())];
        let band = |(title, spans): (&'static str, Vec<ModuleSpan>)| AxisBand {
            title,
            spans: spans.into_iter().map(|span| in_slots(&timelines.axis, span)).collect(),
        };
        let bands = bands.map(band).into_iter().filter(|band| band.spans.len() > 1).collect();
        let step_word = reference.report.system.step_in_text;
        let answers: Vec<RunOverLimit> = answers.collect();
        let unknown = runs.len().saturating_sub(answers.len());
        Self { top: top.collect(), step_word, runs: answers, unknown, bands }
    }

    /// The numbered peaks as a picture shows them.
    pub fn peaks(&self, units: Units) -> Vec<CurvePeak> {
        // A key says what peaks are: numbers and bytes are in the picture.
        let has_names = self.top.iter().all(|peak| !peak.name.is_empty());
        let peak = |peak: &NamedPeak| {
            let is_over = peak.limit.is_some_and(|limit| peak.bytes > limit);
            let against = peak.limit.map_or(String::new(), |limit| {
                if is_over {
                    format!("+{} over", units.bytes(peak.bytes - limit))
                } else {
                    format!("{} below", units.bytes(limit.saturating_sub(peak.bytes)))
                }
            });
            let step = format!("{} {}", self.step_word, peak.step);
            let bytes = units.beside(peak.bytes, peak.limit.unwrap_or(peak.bytes));
            let columns = [peak.name.clone(), step, bytes, against];
            let key = has_names.then_some(PeakKey { columns, is_over });
            CurvePeak { position: peak.slot, bytes: peak.bytes, key }
        };
        self.top.iter().map(peak).collect()
    }

    /// The answer of the page; nothing without a limit.
    pub fn answer(&self, units: Units) -> Option<SignedAnswer> {
        let is_over = |run: &RunOverLimit| run.over > 0 || has_failed(run.verdict.as_deref());
        let is_over = self.runs.iter().any(is_over);
        // What broke off, or says nothing of its end, may have needed more than was alive.
        let is_known = |run: &RunOverLimit| {
            run.verdict.as_ref().is_none_or(|verdict| verdict.outcome != Outcome::Unknown)
        };
        let are_known = self.unknown == 0 && self.runs.iter().all(is_known);
        let fits = (is_over || are_known).then_some(!is_over);
        let sign = Sign::of(fits);
        match &*self.runs {
            [] => None,
            [run] if self.unknown == 0 => Some((sign, run.text(units))),
            runs => {
                let text = worst_text(runs, units).unwrap_or_else(|| all_text(runs, "; ", units));
                Some((sign, text))
            }
        }
    }

    /// Of more runs than the answer has room for what it leaves out.
    pub fn whole_answer(&self, units: Units) -> Option<String> {
        (self.runs.len() > MOST_RUNS).then(|| all_text(&self.runs, "\n", units))
    }
}

/// What is said of several runs, each in a few words.
fn all_text(runs: &[RunOverLimit], between: &str, units: Units) -> String {
    runs.iter().map(|run| run.titled(units)).collect::<Vec<_>>().join(between)
}

/// The same of more than there is room for: of the reference and the worst of the others, or the highest where none
/// is over.
fn worst_text(runs: &[RunOverLimit], units: Units) -> Option<String> {
    let (reference, others) = runs.split_first().filter(|_| runs.len() > MOST_RUNS)?;
    // Of equals the first.
    let key = |run: &&RunOverLimit| (run.most, run.top);
    let worst = others.iter().rev().max_by_key(key)?;
    let more = others.len() - 1;
    let over = others.iter().filter(|run| run.over > 0).count() - usize::from(worst.over > 0);
    let over = match over {
        0 => "no peak over".to_owned(),
        all if all == more => "all over".to_owned(),
        some => format!("{some} of them over"),
    };
    Some(format!("{}; {}; and {more} more, {over}", reference.titled(units), worst.titled(units)))
}

impl RunOverLimit {
    fn of(run: &Run, place: usize, timelines: &SlotTimelines) -> Option<Self> {
        let timeline = &timelines.run(place)?.timeline;
        let over = timeline.over.as_ref()?;
        let is_over = |step: &usize| over.at(*step).is_some_and(|over| over > 0);
        // Most curves are over nowhere, and have many peaks.
        let peaks = if over.is_anywhere() { peaks(timeline.peak_curve()) } else { Vec::new() };
        let steps: Vec<usize> = peaks.iter().map(|peak| peak.step).filter(is_over).collect();
        let most = steps.iter().filter_map(|step| over.at(*step)).max().unwrap_or(0);
        let operations = run.derived.operations();
        let operation = |step: &usize| operations.as_deref()?.at(*step);
        let found: Vec<Option<&Operation>> = steps.iter().take(COMPARED).map(operation).collect();
        Some(Self {
            title: run.title.to_string(),
            device: run.report.system.device,
            over: steps.len(),
            most,
            top: timeline.top,
            limit: timeline.limit,
            in_common: in_common(&found),
            verdict: run.derived.verdict(),
        })
    }

    fn failed(&self, units: Units) -> Option<String> {
        failure(self.verdict.as_deref(), units)
    }

    fn text(&self, units: Units) -> String {
        let common = self.in_common.as_ref().map_or(String::new(), |text| format!("; {text}"));
        match (self.over, self.limit) {
            (0, limit) => {
                let text = limit.map_or_else(
                    || format!("No {} is over its own limit at any peak", self.device),
                    |limit| {
                        let top = units.beside(self.top, limit);
                        let room = units.bytes(limit.saturating_sub(self.top));
                        format!("Alive up to {top}, {room} below the limit")
                    },
                );
                behind(self.failed(units).as_deref(), text)
            }
            (count, _) => {
                let over = format!("{}, up to +{}", count_text(count), units.bytes(self.most));
                // What the run needs of its device is another figure than what is alive.
                let of_device = self.verdict.as_ref().filter(|verdict| verdict.used_of.is_none());
                let failed = of_device.and_then(|_| self.failed(units));
                let over = if failed.is_some() { format!("alive: {over}") } else { over };
                behind(failed.as_deref(), over) + &common
            }
        }
    }

    fn titled(&self, units: Units) -> String {
        match self.over {
            0 => {
                let failed = self.failed(units);
                let failed = failed.map_or_else(String::new, |failed| format!(", but {failed}"));
                format!("{}: no peak over{failed}", self.title)
            }
            count => {
                format!("{}: {}, +{}", self.title, count_text(count), units.bytes(self.most))
            }
        }
    }
}

fn count_text(count: usize) -> String {
    format!("{} over", counted(count as u64, "peak"))
}

/// What the operations of all peaks over the limit have in common, where they do.
fn in_common(found: &[Option<&Operation>]) -> Option<String> {
    let (first, others) = found.split_first()?;
    let (first, is_one) = ((*first)?, others.is_empty());
    let kind = first.kind.as_deref()?;
    let all = |same: &dyn Fn(&Operation) -> bool| others.iter().all(|it| it.is_some_and(same));
    if !all(&|other| other.kind.as_deref() == Some(kind)) {
        return None;
    }
    let proportion = first.available_memory_proportion;
    let is_same = all(&|other| other.available_memory_proportion == proportion);
    let at = proportion.filter(|_| is_same).map_or(String::new(), |value| format!(" at {value}"));
    Some(if is_one { format!("a {kind}{at}") } else { format!("all are {kind}s{at}") })
}

/// A span of the reference's steps on the common axis.
fn in_slots(axis: &StepAxis, (range, name): ModuleSpan) -> ModuleSpan {
    let slot = |step: u32| {
        let slot = axis.slot_or_end(0, step as usize);
        u32::try_from(slot).unwrap_or(u32::MAX)
    };
    let slots: Range<u32> = slot(range.start)..slot(range.end);
    (slots, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(title: &str, over: usize, most: u64) -> RunOverLimit {
        let (title, top) = (title.to_owned(), 1024 + most);
        RunOverLimit {
            title,
            over,
            device: "IPU",
            most,
            top,
            limit: Some(1024),
            in_common: None,
            verdict: None,
        }
    }

    #[test]
    fn of_many_runs_the_reference_and_the_worst_are_said() {
        let runs = |fits: usize| {
            let mut runs = vec![run("a", 1, 512), run("b", 0, 0), run("c", 2, 2048)];
            runs.extend((0..fits).map(|_| run("d", 0, 0)));
            PeakNames { runs, ..PeakNames::default() }
        };
        let text = |names: &PeakNames| names.answer(Units::Binary).map(|(_, text)| text);
        let few = runs(0);
        let all = "a: 1 peak over, +512 B; b: no peak over; c: 2 peaks over, +2.00 KiB";
        assert_eq!((text(&few).as_deref(), few.whole_answer(Units::Binary)), (Some(all), None));
        let six = runs(3);
        let short = "a: 1 peak over, +512 B; c: 2 peaks over, +2.00 KiB; and 4 more, no peak over";
        assert_eq!(text(&six).as_deref(), Some(short));
        let whole = six.whole_answer(Units::Binary).expect("what was left out");
        assert!(whole.contains("\nb: no peak over\n") && whole.lines().count() == 6, "{whole}");
    }
}
