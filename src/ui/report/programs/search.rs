//! Looking for programs: the field, what was found, and the ways from one to the next.

use eframe::egui::{self, Button, Key, TextEdit};

use crate::analysis::program::compiled_programs::CompiledPrograms;
use crate::analysis::program::tree_search::Matches;
use crate::text::grouped;
use crate::ui::report::moment::step_id;
use crate::ui::units::Units;

/// Where to go from a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchJump {
    Next,
    Before,
    /// To the one that runs at the highest step.
    Highest,
}

/// What a text was found in.
pub struct FoundPrograms {
    pub matches: Matches,
    /// The program whose visit is the highest, and its step with the bytes alive there.
    pub highest: Option<(usize, usize, Option<u64>)>,
}

/// The field; Enter goes on.
pub fn field_ui(ui: &mut egui::Ui, text: &mut String) -> Option<MatchJump> {
    // Of another page no other widget shall come to have its name, and the focus with it.
    let field = TextEdit::singleline(text)
        .id_salt("search programs")
        .hint_text("Search programs")
        .desired_width((ui.available_width() * 0.5).clamp(90.0, 260.0));
    let field = ui.add(field).accessible_name("Search programs");
    let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if is_entered {
        field.request_focus();
    }
    let is_back = ui.input(|input| input.modifiers.shift);
    field.on_hover_text(
        "A part of a kind, a name, an operation or a layer, or an option or argument with its value, \
         `name=value`. Enter goes to the next match, Shift+Enter to the one before",
    );
    is_entered.then_some(if is_back { MatchJump::Before } else { MatchJump::Next })
}

/// What was found, and the buttons that go from one to the next; `at` is the match that is selected. While it is looked
/// for the buttons stay where they are, and wait.
pub fn found_ui(
    ui: &mut egui::Ui,
    found: Option<&FoundPrograms>,
    at: Option<usize>,
    compiled: &CompiledPrograms<'_>,
) -> Option<MatchJump> {
    let all = compiled.programs.ids.len();
    let count = found.map(|found| found.matches.in_order.len());
    let mut way = None;
    let is_some = count != Some(0);
    let before = ui.add_enabled(is_some, Button::new("▴")).accessible_name("Previous match");
    if before.on_hover_text("The previous match (Shift+Enter)").clicked() {
        way = Some(MatchJump::Before);
    }
    let next = ui.add_enabled(is_some, Button::new("▾")).accessible_name("Next match");
    if next.on_hover_text("The next match (Enter)").clicked() {
        way = Some(MatchJump::Next);
    }
    let grouped = |number: usize| grouped(number as u64);
    ui.label(match (count, at) {
        (None, _) => "Looking…".to_owned(),
        (Some(0), _) => "No program matches".to_owned(),
        (Some(count), Some(at)) => {
            format!("{} of {} matches", grouped(at.saturating_add(1)), grouped(count))
        }
        (Some(count), None) => format!(
            "{} of {} {} match",
            grouped(count),
            grouped(all),
            compiled.report.system.programs
        ),
    });
    if let Some((_, step, bytes)) = found.and_then(|found| found.highest) {
        let bytes = bytes.map(|bytes| format!(", {}", Units::now(ui).bytes(bytes)));
        let step = step_id(compiled.report, step);
        let text = format!("Highest: step {step}{}", bytes.unwrap_or_default());
        let live = compiled.report.system.not_always_live_in_text;
        let hover = format!("The match that runs at the step with the most {live} memory");
        if ui.button(text).on_hover_text(hover).clicked() {
            way = Some(MatchJump::Highest);
        }
    }
    way
}
