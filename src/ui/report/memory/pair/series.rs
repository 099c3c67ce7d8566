//! What of two reports is in the pictures: the legend, whose entries switch what they name.

use eframe::egui;
use eframe::egui::{Color32, Rect, RichText};

use super::super::choices::Choices;
use super::super::picture::{LONGEST_TITLE, missing_text, stack_legend_ui};
use super::made::{PairMade, PairShown};
use super::picture::Parts;
use crate::store::memory::TileColumn;
use crate::text::shortened;
use crate::ui::legacy::Side;
use crate::ui::report::halves::{side_color, side_title_ui};
use crate::ui::theme::Tokens;
use crate::ui::widget::curve::Y_AXIS_WIDTH;
use crate::ui::widget::legend::{Patch, entry_ui};

/// What is drawn of either side.
#[derive(Debug)]
pub struct Series {
    /// Bytes with gaps.
    pub with_gaps: [bool; 2],
    /// Bytes without gaps.
    pub without_gaps: [bool; 2],
    /// The report whose bytes are divided where both are in one picture.
    pub stack_of: Side,
}

impl Default for Series {
    fn default() -> Self {
        Self { with_gaps: [true; 2], without_gaps: [false; 2], stack_of: Side::Target }
    }
}

impl Series {
    /// What was the target's is the source's now.
    pub fn swap(&mut self) {
        self.with_gaps.reverse();
        self.without_gaps.reverse();
        self.stack_of = self.stack_of.of([Side::Target, Side::Source]);
    }

    /// Follows the choice whether gaps count.
    pub fn include_gaps(&mut self, are_included: bool) {
        self.with_gaps = [are_included; 2];
        self.without_gaps = [!are_included; 2];
    }

    /// The parts of a stack add up to the bytes without gaps, so those of the other side are shown.
    pub fn follow_stack(&mut self, is_divided: bool) {
        self.without_gaps = [
            is_divided && self.stack_of == Side::Target,
            is_divided && self.stack_of == Side::Source,
        ];
    }

    /// The numbers below which the picture is filled.
    pub fn area<'a>(&self, side: Side, shown: &'a PairShown) -> Option<&'a TileColumn> {
        let figures = shown.figures(side);
        match (side.of(self.with_gaps), side.of(self.without_gaps)) {
            (true, _) => Some(&figures.including_gaps),
            (false, true) => Some(&figures.total),
            (false, false) => None,
        }
    }

    /// The most bytes of what is drawn.
    pub fn top(&self, made: &PairMade) -> u64 {
        let of_side = |side: Side| {
            let (without, with) = made.shown.figures(side).tops;
            let with = side.of(self.with_gaps).then_some(with);
            let without = side.of(self.without_gaps).then_some(without);
            with.max(without).max(made.stack(side).map(|stack| stack.top))
        };
        Side::BOTH.into_iter().filter_map(of_side).max().unwrap_or(0)
    }

    /// Draws the legend of both reports, or of one under its heading; returns where it lies.
    pub fn legend_ui(
        &mut self,
        ui: &mut egui::Ui,
        parts: &Parts<'_>,
        choices: &mut Choices,
        variable: Option<&str>,
        alone: Option<&(Side, String)>,
    ) -> Rect {
        let tokens = Tokens::now(ui);
        let row = ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(14.0, 2.0);
            match alone {
                Some((side, name)) => side_title_ui(ui, *side, name),
                None => {
                    ui.add_space(Y_AXIS_WIDTH);
                }
            }
            let is_divided = parts.made.stacks.is_some();
            let is_drawn = |side: &Side| alone.is_none_or(|(alone, _)| alone == side);
            for (has_gaps, lines) in [(true, &mut self.with_gaps), (false, &mut self.without_gaps)]
            {
                let both = Side::BOTH.into_iter().zip(lines);
                for (side, is_on) in both.filter(|(side, _)| is_drawn(side)) {
                    line_entry_ui(ui, side, has_gaps, is_divided, is_on);
                }
            }
            if parts.limits.iter().any(Option::is_some) {
                entry_ui(ui, Patch::Dashes(tokens.limit), "Limit", &mut choices.has_limit);
            }
            if let Some(name) = variable {
                let fill = tokens.mark.gamma_multiply(0.5);
                let patch = match alone {
                    Some((Side::Target, _)) => Patch::Line(tokens.mark),
                    _ => Patch::Area(fill, tokens.mark),
                };
                let title = format!("Variable {}", shortened(name, LONGEST_TITLE));
                let entry = entry_ui(ui, patch, &title, &mut choices.has_variable);
                entry.on_hover_text("An area in the source, a line in the target");
            }
            let stack_of = alone.map_or(self.stack_of, |(side, _)| *side);
            if let Some(stack) = parts.made.stack(stack_of) {
                if alone.is_none() {
                    self.stack_of_ui(ui);
                }
                stack_legend_ui(ui, stack, &mut choices.key);
            } else if let Some(which) = parts.made.key.breakdown {
                let text =
                    format!("{}, or the target's has not", missing_text(parts.memories[0], which));
                ui.colored_label(tokens.warning, text);
            }
        });
        row.response.rect
    }

    /// The choice of the report whose parts are shown.
    fn stack_of_ui(&mut self, ui: &mut egui::Ui) {
        let before = self.stack_of;
        ui.label("Parts of the");
        ui.spacing_mut().item_spacing.x = 2.0;
        for side in Side::BOTH {
            let word = side.title().to_lowercase();
            let text = RichText::new(&word).color(side_color(ui, side));
            let choice = ui.selectable_value(&mut self.stack_of, side, text);
            choice.accessible_name(format!("Parts of the {word}"));
        }
        ui.spacing_mut().item_spacing.x = 14.0;
        if self.stack_of != before {
            self.follow_stack(true);
        }
    }
}

/// The entry of the bytes of a report.
fn line_entry_ui(
    ui: &mut egui::Ui,
    side: Side,
    has_gaps: bool,
    is_divided: bool,
    is_on: &mut bool,
) {
    let tokens = Tokens::now(ui);
    let color = side_color(ui, side);
    let patch = match (has_gaps, is_divided) {
        (true, false) => Patch::Area(side.of([tokens.base_fill, target_fill(tokens)]), color),
        (true, true) => Patch::Line(color),
        (false, _) => Patch::Line(base_line(ui, side)),
    };
    let gaps = if has_gaps { "with gaps" } else { "without gaps" };
    entry_ui(ui, patch, &format!("{} {gaps}", side.title()), is_on);
}

/// The line of the bytes without gaps: that of its side, fainter.
pub fn base_line(ui: &egui::Ui, side: Side) -> Color32 {
    side_color(ui, side).lerp_to_gamma(Tokens::now(ui).text, 0.45)
}

/// The area of the target, through which that of the source is seen.
pub fn target_fill(tokens: &Tokens) -> Color32 {
    tokens.top.gamma_multiply(0.24)
}
