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
use crate::ui::widget::curve::AxisBand;

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
    bands: &[AxisBand],
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
    for line in band_lines(bands, slot) {
        ui.weak(line);
    }
}

/// What a slot belongs to, whole: a line for each band with a title, with the inner ones behind it.
fn band_lines(bands: &[AxisBand], slot: usize) -> Vec<String> {
    let slot = u32::try_from(slot).unwrap_or(u32::MAX);
    let mut lines: Vec<String> = Vec::new();
    for band in bands {
        match (band.at(slot), lines.last_mut()) {
            (Some(title), Some(line)) if band.title.is_empty() => {
                line.push_str(" / ");
                line.push_str(title);
            }
            (Some(title), _) if band.title.is_empty() => lines.push(title.to_owned()),
            (Some(title), _) => lines.push(format!("{}: {title}", band.title)),
            (None, _) => {}
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_step_belongs_to_is_said_whole() {
        let band = |title, name: &str| AxisBand { title, spans: vec![(2..5, name.to_owned())] };
        let bands = [band("Pass", "Backward"), band("Layer", "Block_3"), band("", "attention")];
        assert_eq!(band_lines(&bands, 4), ["Pass: Backward", "Layer: Block_3 / attention"]);
        assert!(band_lines(&bands, 5).is_empty() && band_lines(&bands, 0).is_empty());
    }
}
