//! The line that says what is selected in both reports: a slot, an operation, a variable.

use eframe::egui;
use eframe::egui::{Label, RichText};

use super::Both;
use super::derived::PairDerived;
use super::marks::PairMarks;
use super::places::Places;
use super::words::step_name;
use crate::analysis::program::steps;
use crate::text::{grouped, shortened};
use crate::ui::legacy::Side;
use crate::ui::legacy::{OperationName, Selection};
use crate::ui::report::liveness::selected::{BUTTON, yielding_label};
use crate::ui::report::{PageContext, change_text};
use crate::ui::units::Units;

/// Longest name in the line.
const NAME: usize = 40;

/// Draws the line, what can be done at the left; where nothing is selected it says how to select.
pub fn selected_ui(
    ui: &mut egui::Ui,
    page: &mut PageContext<'_>,
    both: &Both<'_>,
    derived: &PairDerived,
    marks: &PairMarks,
) {
    let units = Units::now(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let places = Places::selected(derived, &page.selection.steps);
        let text = place_text(&places, both, derived, units);
        match page.selection.steps.len() {
            0 => {
                let hint = "; click the curve to select a step";
                ui.add(Label::new(format!("Peaks: {text}{hint}")).truncate());
            }
            count => {
                buttons_ui(ui, page.selection, &places, both);
                let several = match count {
                    1 => String::new(),
                    _ => format!("{count} steps are selected, the first is compared: "),
                };
                let text = RichText::new(format!("{several}{text}")).strong();
                ui.add(Label::new(text).truncate());
            }
        }
    });
    if page.selection.operation.is_some() || page.selection.variable.is_some() {
        ui.horizontal(|ui| others_ui(ui, page.selection, both, marks, units));
    }
}

/// Deselects the steps, or marks the operation of the first.
fn buttons_ui(ui: &mut egui::Ui, selection: &mut Selection, places: &Places, both: &Both<'_>) {
    let title = if selection.steps.len() > 1 { "Deselect steps" } else { "Deselect step" };
    if ui.button(title).clicked() {
        selection.steps.clear();
    }
    let operation =
        |side: Side| steps::facts(both.report(side), places.step_there(side)?)?.operation;
    if selection.operation.is_none()
        && let Some(operation) = Side::BOTH.into_iter().find_map(operation)
    {
        let button = ui.button("Mark its operation");
        if button.on_hover_text("Marks every step of the same operation in both").clicked() {
            let (kind, name) = (operation.kind, operation.name);
            selection.operation = Some(OperationName { kind, name });
        }
    }
}

/// The selected operation and the selected variable.
fn others_ui(
    ui: &mut egui::Ui,
    selection: &mut Selection,
    both: &Both<'_>,
    marks: &PairMarks,
    units: Units,
) {
    ui.spacing_mut().item_spacing.x = 6.0;
    if let Some(operation) = selection.operation.clone() {
        if ui.button("Deselect operation").clicked() {
            selection.operation = None;
        }
        let kind = operation.kind.as_deref().unwrap_or("operation");
        let name = operation.name.as_deref().unwrap_or("without a name");
        let counts = marks.marked().map_or([0; 2], |marked| marked.of_operation);
        let [source, target] = counts.map(|count| grouped(count as u64));
        let text = format!(
            "{} {}: {source} steps of the source, {target} of the target",
            shortened(kind, NAME),
            shortened(name, NAME)
        );
        let following = if selection.variable.is_some() { 2.0 * BUTTON } else { 0.0 };
        yielding_label(ui, RichText::new(text), following);
    }
    if let Some(variable) = selection.variable.clone() {
        if ui.button("Deselect variable").clicked() {
            selection.variable = None;
        }
        let lives = marks.lives(both, selection);
        let of_side = |side: Side| {
            let name = side.title().to_lowercase();
            match lives.and_then(|lives| side.of(lives.each_ref()).as_ref()) {
                Some(life) if life.steps > 0 => format!(
                    "{name} {} at most, alive at {} steps",
                    units.bytes(life.most_bytes),
                    grouped(life.steps)
                ),
                _ => format!("{name} none"),
            }
        };
        let [source, target] = Side::BOTH.map(of_side);
        let text = match lives {
            Some(_) => format!("{}: {source}; {target}", shortened(&variable, NAME)),
            None => shortened(&variable, NAME).into_owned(),
        };
        ui.add(Label::new(text).truncate());
    }
}

/// A place in a line: the steps, what they do, how much is alive, and the difference.
pub fn place_text(places: &Places, both: &Both<'_>, derived: &PairDerived, units: Units) -> String {
    let title = places.title(both.plain());
    let names = Side::BOTH.map(|side| {
        let step = places.step_there(side)?;
        Some(shortened(&step_name(both.report(side), step)?, NAME).into_owned())
    });
    let name = match names {
        [Some(source), Some(target)] if source != target => format!(", {source} → {target}"),
        [Some(name), _] | [None, Some(name)] => format!(", {name}"),
        [None, None] => String::new(),
    };
    let bytes = Side::BOTH.map(|side| {
        let of_side = derived.side(side)?;
        Some(places.step(side).map_or(0, |step| of_side.derived.not_always_live_at(step)))
    });
    let figures = match bytes {
        [Some(source), Some(target)] => format!(
            ", {} → {} not always live, {}",
            units.bytes(source),
            units.bytes(target),
            change_text(source, target, units)
        ),
        [Some(bytes), None] | [None, Some(bytes)] => {
            format!(", {} not always live", units.bytes(bytes))
        }
        [None, None] => String::new(),
    };
    let absence = places.absence(both.plain()).map_or(String::new(), |text| format!("; {text}"));
    format!("{title}{name}{figures}{absence}")
}
