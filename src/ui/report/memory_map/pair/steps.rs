//! The choice of a step that both reports share.

use eframe::egui;

use super::super::steps::{StepChoice, choice_ui};
use crate::analysis::program::steps::name;
use crate::store::{Report, StepId};
use crate::text::shortened;
use crate::ui::legacy::AlignedSteps;
use crate::ui::legacy::{Pair, Side};
use crate::ui::report::PageContext;
use crate::ui::report::moment::step_id;

/// Draws the choice of a slot; `peaks` are steps of the source and of the target, `of` says what they are
/// the peaks of.
pub fn slots_ui(
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    pair: &Pair<'_>,
    peaks: [Option<usize>; 2],
    of: &str,
) {
    let Some(axis) = pair.axis else {
        ui.weak(pair.why_not.unwrap_or("Steps are being matched; until then all steps are shown"));
        return;
    };
    let reports: [&Report; 2] = [page.report, pair.target];
    let [source_peak, target_peak] = peaks;
    let peaks = [
        source_peak.and_then(|step| axis.slot_of_source(step)),
        target_peak.and_then(|step| axis.slot_of_target(step)),
    ];
    let hovers = Side::BOTH.map(|side| {
        let side = side.title().to_lowercase();
        format!("The step at which most is alive {of} in the {side}")
    });
    let [source_hover, target_hover] = &hovers;
    let buttons = [
        ("Source's peak", &**source_hover, peaks[0]),
        ("Target's peak", &**target_hover, peaks[1]),
    ];
    let choice = StepChoice {
        len: axis.len(),
        peaks: &buttons,
        id: &|slot| id(axis, reports, slot),
        parse: &|text| parse(axis, reports, text),
        title: &|slot| title(axis, reports, slot),
    };
    choice_ui(ui, page.selection, &choice);
}

/// The number of the source's step; with a T that of the target, where the source has none.
fn id(axis: &AlignedSteps, [source, target]: [&Report; 2], slot: usize) -> String {
    match (axis.source_at(slot), axis.target_at(slot)) {
        (Some(step), _) => step_id(source, step),
        (None, Some(step)) => format!("T{}", step_id(target, step)),
        (None, None) => String::new(),
    }
}

fn parse(axis: &AlignedSteps, reports: [&Report; 2], text: &str) -> Option<usize> {
    let text = text.trim();
    let of_target = text.strip_prefix(['T', 't']);
    let side = if of_target.is_some() { Side::Target } else { Side::Source };
    let id = StepId(of_target.unwrap_or(text).trim().parse().ok()?);
    let step = side.of(reports).steps.get()?.ids.position(id)?;
    match side {
        Side::Source => axis.slot_of_source(step),
        Side::Target => axis.slot_of_target(step),
    }
}

fn title(axis: &AlignedSteps, reports: [&Report; 2], slot: usize) -> String {
    let [source, target] = reports;
    let steps = [axis.source_at(slot), axis.target_at(slot)];
    let text = match steps {
        [Some(from), Some(to)] => format!("{} → {}", step_id(source, from), step_id(target, to)),
        [Some(step), None] => format!("{}, only in source", step_id(source, step)),
        [None, Some(step)] => format!("{}, only in target", step_id(target, step)),
        [None, None] => String::new(),
    };
    let names = reports.into_iter().zip(steps).find_map(|(report, step)| name(report, step?));
    match names {
        Some(name) => format!("At step {text}: {}", shortened(name, 80)),
        None => format!("At step {text}"),
    }
}
