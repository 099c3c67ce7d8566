//! The tooltip of a curve.

use eframe::egui;

use super::timelines::SlotTimelines;
use crate::analysis::program::steps::StepFacts;
use crate::run::beside_curve::StepSaid;
use crate::text::{capitalised, shortened};
use crate::ui::report::allocations::stack::stack_lines;
use crate::ui::report::moment::Moment;
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::fonts;
use crate::ui::units::Units;

/// Longest name at the pointer.
const NAME: usize = 40;
/// Calls in a hint.
const HINT_FRAMES: usize = 4;

/// What a step did, in a few words: `alloc of 32.0 MiB`.
pub fn did_text(said: &StepSaid, units: Units) -> String {
    match said.bytes {
        Some(bytes) => format!("{} of {}", said.title, units.bytes(bytes)),
        None => said.title.clone(),
    }
}

/// What the pointer is told: which step, what it does, how much is alive; the inspector says the rest.
pub fn hint_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    timelines: &SlotTimelines,
    slot: usize,
    facts: Option<&StepFacts>,
    said: Option<&StepSaid>,
) {
    let (units, moment) = (Units::now(ui), Moment::at_slot(&timelines.axis, slot));
    if let Some(said) = said.filter(|_| runs.is_one()) {
        let title = capitalised(&moment.title(runs));
        ui.label(fonts::number(format!("{title}, {}", did_text(said, units))));
        for line in stack_lines(&said.stack, HINT_FRAMES) {
            ui.label(line);
        }
    }
    let facts = facts.filter(|_| said.is_none());
    let kind = facts.and_then(|facts| facts.kind.as_deref());
    let kind = kind.map_or(String::new(), |kind| format!(", {}", shortened(kind, NAME)));
    if said.is_none() || !runs.is_one() {
        ui.label(fonts::number(format!("{}{kind}", capitalised(&moment.title(runs)))));
    }
    if let Some(name) = facts.and_then(|facts| facts.name.as_deref()) {
        ui.label(shortened(name, NAME));
    }
    let bytes = |(place, run): (usize, &Run)| {
        let bytes = units.bytes(timelines.alive_at(place, moment.step(place)?)?);
        Some(if runs.is_one() { bytes } else { format!("{} {bytes}", run.title) })
    };
    let bytes: Vec<String> = runs.iter().enumerate().filter_map(bytes).take(3).collect();
    ui.weak(bytes.join(", "));
}
