//! The legend of the pictures, whose entries switch what they name.

use eframe::egui::{self, Color32, Rect, RichText};

use super::arranged::{DividedTiles, TilesChoice};
use super::choices::MemoryChoices;
use super::series::RunStyle;
use super::stack::TileStack;
use crate::analysis::memory::breakdown::Breakdown;
use crate::text::shortened;
use crate::ui::report::category_colors::{category_color, other_categories_color};
use crate::ui::report::run_title_ui;
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::Tokens;
use crate::ui::widget::curve::Y_AXIS_WIDTH;
use crate::ui::widget::legend::{Patch, by_color, entry_ui};

/// Longest name of a part or a variable.
const LONGEST_TITLE: usize = 40;

#[derive(Clone, Copy)]
pub struct LegendOf<'a> {
    pub runs: &'a Runs,
    pub divided: &'a DividedTiles,
    pub has_limit: bool,
    /// The selected variables, where a run has them.
    pub variables: &'a [String],
    /// The run that has a picture of its own.
    pub alone: Option<usize>,
}

impl LegendOf<'_> {
    /// Draws the legend; returns where it lies.
    pub fn ui(&self, ui: &mut egui::Ui, choices: &mut MemoryChoices) -> Rect {
        let row = if self.runs.is_one() {
            ui.horizontal(|ui| {
                ui.add_space(Y_AXIS_WIDTH);
                ui.horizontal_wrapped(|ui| self.of_one_ui(ui, choices));
            })
        } else {
            ui.horizontal_wrapped(|ui| self.of_several_ui(ui, choices))
        };
        row.response.rect
    }

    fn of_one_ui(&self, ui: &mut egui::Ui, choices: &mut MemoryChoices) {
        ui.spacing_mut().item_spacing = egui::vec2(14.0, 2.0);
        let (runs, run) = (self.runs, self.runs.reference());
        let style = RunStyle::of(ui, runs, 0, true);
        if let Some(stack) = self.divided.stack(0) {
            parts_ui(ui, stack, &mut choices.tiles);
        } else {
            let mut is_on = choices.series.has_line_without_gaps(runs, 0, false);
            let patch = Patch::Area(style.area.unwrap_or_default(), style.without_gaps);
            if entry_ui(ui, patch, "Without gaps", &mut is_on).changed() {
                choices.series.switch_without_gaps(run, is_on);
            }
        }
        self.variables_ui(ui, choices);
        let mut is_on = choices.series.has_line_with_gaps(run);
        if entry_ui(ui, Patch::Line(style.with_gaps), "With gaps", &mut is_on).changed() {
            choices.series.switch_with_gaps(run, is_on);
        }
        self.limit_ui(ui, choices);
        self.missing_ui(ui);
    }

    fn of_several_ui(&self, ui: &mut egui::Ui, choices: &mut MemoryChoices) {
        ui.spacing_mut().item_spacing = egui::vec2(14.0, 2.0);
        match self.alone.and_then(|place| self.runs.get(place)) {
            Some(run) => run_title_ui(ui, run),
            None => {
                ui.add_space(Y_AXIS_WIDTH);
            }
        }
        self.lines_ui(ui, choices);
        self.limit_ui(ui, choices);
        let same_as = &self.divided.tiles.same_as;
        if self.alone.is_none() {
            for text in self.runs.lies_on(|place| *same_as.get(place)?) {
                ui.weak(text);
            }
        }
        self.variables_ui(ui, choices);
        let stack_of = self.alone.unwrap_or_else(|| choices.series.stack_of(self.runs));
        if let Some(stack) = self.divided.stack(stack_of) {
            if self.alone.is_none() {
                self.stack_of_ui(ui, choices);
            }
            parts_ui(ui, stack, &mut choices.tiles);
        }
        self.missing_ui(ui);
    }

    /// The lines of the runs. Of two both of either; of more those without gaps where they are compared
    /// with parts, or shown in place of those with gaps.
    fn lines_ui(&self, ui: &mut egui::Ui, choices: &mut MemoryChoices) {
        let (runs, is_divided) = (self.runs, self.divided.stacks.is_some());
        let is_drawn = |(place, _): &(usize, &Run)| self.alone.is_none_or(|alone| alone == *place);
        let series = &mut choices.series;
        let has_gaps = series.has_gaps(runs);
        for (place, run) in runs.iter().enumerate().filter(is_drawn) {
            let style = RunStyle::of(ui, runs, place, self.alone.is_some());
            let patch = match style.area {
                Some(area) if !is_divided => Patch::Area(area, style.with_gaps),
                _ => Patch::Line(style.with_gaps),
            };
            let mut is_on = series.has_line_with_gaps(run);
            if entry_ui(ui, patch, &format!("{} with gaps", run.title), &mut is_on).changed() {
                series.switch_with_gaps(run, is_on);
            }
        }
        if runs.len() > 2 && has_gaps && !is_divided {
            return;
        }
        for (place, run) in runs.iter().enumerate().filter(is_drawn) {
            let style = RunStyle::of(ui, runs, place, self.alone.is_some());
            let mut is_on = series.has_line_without_gaps(runs, place, is_divided);
            let title = format!("{} without gaps", run.title);
            if entry_ui(ui, Patch::Line(style.without_gaps), &title, &mut is_on).changed() {
                series.switch_without_gaps(run, is_on);
            }
        }
    }

    fn limit_ui(&self, ui: &mut egui::Ui, choices: &mut MemoryChoices) {
        if self.has_limit {
            let patch = Patch::Dashes(Tokens::now(ui).ink);
            entry_ui(ui, patch, "Limit", &mut choices.has_limit);
        }
    }

    fn variables_ui(&self, ui: &mut egui::Ui, choices: &mut MemoryChoices) {
        let (place, count) = (self.alone.unwrap_or(0), self.variables.len());
        for (number, name) in self.variables.iter().enumerate() {
            let style = VariableStyle::of(ui, self.runs, place, number, count);
            let patch = match style.area {
                Some(area) => Patch::Area(area, style.line.unwrap_or(Tokens::now(ui).accent)),
                None => Patch::Line(style.line.unwrap_or_default()),
            };
            let title = format!("Variable {}", shortened(name, LONGEST_TITLE));
            let mut is_on = !choices.hidden_variables.contains(name);
            let entry = entry_ui(ui, patch, &title, &mut is_on);
            if entry.changed() {
                choices.hidden_variables.retain(|other| other != name);
                if !is_on {
                    choices.hidden_variables.push(name.clone());
                }
            }
            if count == 1 && !self.runs.is_one() {
                let lines =
                    self.runs.of_number(["", "a line in the target", "lines in the others"]);
                let area = self.runs.reference().the();
                entry.on_hover_text(format!("An area in {area}, {lines}"));
            }
        }
    }

    /// The choice of the run whose parts are shown.
    fn stack_of_ui(&self, ui: &mut egui::Ui, choices: &mut MemoryChoices) {
        let now = choices.series.stack_of(self.runs);
        let has_roles = self.runs.len() == 2;
        ui.label(if has_roles { "Parts of the" } else { "Parts of" });
        ui.spacing_mut().item_spacing.x = 2.0;
        for (place, run) in self.runs.iter().enumerate() {
            let text = RichText::new(run.title_in_text()).color(run.color(ui));
            let choice = ui.selectable_label(place == now, text);
            if choice.accessible_name(format!("Parts of {}", run.the())).clicked() {
                choices.series.divide(run.id);
            }
        }
        ui.spacing_mut().item_spacing.x = 14.0;
    }

    fn missing_ui(&self, ui: &mut egui::Ui) {
        if let (Some(which), None) = (self.divided.choice.breakdown, &self.divided.stacks) {
            let missing = missing_text(self.runs.reference(), which);
            let others = ["", ", or the target's has not", ", or that of another run has not"];
            let text = format!("{missing}{}", self.runs.of_number(others));
            ui.colored_label(Tokens::now(ui).note, text);
        }
    }
}

/// How the bytes of the selected variable look: an area in the reference, a line in the others.
#[derive(Clone, Copy, Debug)]
pub struct VariableStyle {
    pub area: Option<Color32>,
    pub line: Option<Color32>,
}

impl VariableStyle {
    /// How one of so many variables looks in a run. Several are lines, each in its color; in other runs
    /// than the reference they are paler.
    pub fn of(ui: &egui::Ui, runs: &Runs, place: usize, number: usize, variables: usize) -> Self {
        let tokens = Tokens::now(ui);
        let mark = tokens.accent;
        if variables > 1 {
            let color = if number == 0 { mark } else { tokens.ordered(number) };
            let color = if place == 0 { color } else { color.gamma_multiply(0.6) };
            return Self { area: None, line: Some(color) };
        }
        match (runs.len(), place) {
            (1, _) => Self { area: Some(mark), line: Some(mark) },
            (_, 0) => Self { area: Some(mark.gamma_multiply(0.5)), line: None },
            (2, _) => Self { area: None, line: Some(mark) },
            (_, place) => Self { area: None, line: runs.get(place).map(|run| run.color(ui)) },
        }
    }
}

fn parts_ui(ui: &mut egui::Ui, stack: &TileStack, tiles: &mut TilesChoice) {
    let tokens = Tokens::now(ui);
    let parts = stack.parts.iter().enumerate();
    let colored = parts.map(|(index, part)| (part, part_color(tokens, stack, index)));
    for (part, patch) in by_color(colored) {
        let mut is_on = !tiles.is_hidden(part);
        let title = shortened(&part.title, LONGEST_TITLE);
        if entry_ui(ui, patch, &title, &mut is_on).changed() {
            tiles.switch(part, is_on);
        }
    }
}

/// The color of a part; what is left over is gray.
pub fn part_color(tokens: &Tokens, stack: &TileStack, index: usize) -> Color32 {
    match stack.parts.get(index).map_or("", |part| part.key.as_str()) {
        "" | "overlapped" | "not_explained" | "not_in_region" => {
            tokens.raised.lerp_to_gamma(tokens.gap, 0.5)
        }
        "other_categories" => other_categories_color(tokens),
        "non_interleaved" | "always_live" => tokens.always_live,
        "interleaved" | "not_always_live_max" => tokens.temporary,
        "overflowed" => tokens.over,
        category => category_color(category, tokens),
    }
}

fn missing_text(run: &Run, which: Breakdown) -> String {
    let absence = run.report.memory.get().and_then(|memory| memory.why_no_categories.as_ref());
    let by = match (which, absence) {
        (Breakdown::Category, Some(absence)) => return absence.what.clone(),
        (Breakdown::Category, None) => "category",
        (Breakdown::Region, _) => "region",
        (Breakdown::Liveness, _) => "liveness",
    };
    format!("The profile has no readable bytes by {by}")
}
