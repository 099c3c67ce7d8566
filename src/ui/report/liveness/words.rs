//! The choice and the text of the moment that the page is about.

use super::timelines::SlotTimelines;
use crate::analysis::program::steps;
use crate::text::{in_turn, shortened};
use crate::ui::report::change_text;
use crate::ui::report::moment::Moment;
use crate::ui::runs::{Run, Runs};
use crate::ui::units::Units;

/// Longest name of a step in a line.
const NAME: usize = 40;

/// The slot that was selected first, else the highest step of each run.
pub fn selected_moment(timelines: &SlotTimelines, slots: &[usize]) -> Moment {
    let peak = |run| timelines.run(run).and_then(|curve| curve.timeline.peak);
    match slots.first() {
        Some(slot) => Moment::at_slot(&timelines.axis, *slot),
        None => Moment::of_steps((0..timelines.axis.runs()).map(peak).collect()),
    }
}

/// The moment in a line: the steps, what they do, how much is alive, the difference.
pub fn moment_text(
    moment: &Moment,
    runs: &Runs,
    timelines: &SlotTimelines,
    units: Units,
) -> String {
    let name = |(place, run): (usize, &Run)| {
        let facts = steps::facts(&run.report, timelines.device(run), moment.step_there(place)?)?;
        let (kind, name) = (facts.kind.as_deref(), facts.name.as_deref());
        let short = |text: &str| shortened(text, NAME).into_owned();
        if !runs.is_one() {
            return Some(short(name.or(kind)?));
        }
        // Of one run there is room for both.
        let kind = short(kind.unwrap_or("unknown kind"));
        Some(name.map_or_else(|| kind.clone(), |name| format!("{kind} {}", short(name))))
    };
    let mut names: Vec<String> = runs.iter().enumerate().filter_map(name).collect();
    names.dedup();
    let name = if names.is_empty() { String::new() } else { format!(", {}", names.join(" → ")) };
    let bytes = |place: usize| {
        let curve = timelines.run(place)?;
        Some(moment.step(place).map_or(0, |step| curve.timeline.not_always_live_at(step)))
    };
    let bytes: Vec<u64> = (0..runs.len()).filter_map(bytes).collect();
    let live = runs.system().not_always_live_in_text;
    let figures = match &*bytes {
        [] => String::new(),
        [bytes] if runs.is_one() => {
            let worst = timelines.run(0).zip(moment.step(0));
            let worst = worst.and_then(|(curve, step)| curve.timeline.worst_arena_at(step));
            let tile = worst.map_or(String::new(), |arena| {
                format!(" on {} {arena}", runs.system().arena.to_lowercase())
            });
            format!(", {} {live}{tile}", units.exact(*bytes))
        }
        [source, target] if runs.len() == 2 => format!(
            ", {} → {} {live}, {}",
            units.bytes(*source),
            units.bytes(*target),
            change_text(*source, *target, units)
        ),
        bytes => {
            let bytes: Vec<String> = bytes.iter().map(|bytes| units.bytes(*bytes)).collect();
            format!(", {} {live}", in_turn(&bytes))
        }
    };
    let absence = moment.absence(runs).map_or(String::new(), |text| format!("; {text}"));
    format!("{}{name}{figures}{absence}", moment.title(runs))
}
