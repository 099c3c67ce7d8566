//! The legend of a picture, and the colors of its curves.

use eframe::egui::{self, Color32, Rect};

use super::LivenessPage;
use super::choices::{ShownLines, drawn};
use super::tables::own_memory_text;
use super::timelines::{RunCurve, SlotTimelines};
use crate::analysis::liveness::scope_title;
use crate::ui::report::room::against_limit;
use crate::ui::report::run_title_ui;
use crate::ui::run_chips::badge_before_ui;
use crate::ui::runs::{Run, Runs};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::curve::Y_AXIS_WIDTH;
use crate::ui::widget::legend::{Patch, entry_ui, entry_width};

/// The colors of a curve: alone, those of what is always live and not; of several runs each has one.
#[derive(Clone, Copy)]
pub struct CurveColors {
    pub line: Color32,
    pub level: Color32,
    pub with_gaps: Color32,
    pub fill: Option<Color32>,
    pub level_fill: Option<Color32>,
}

impl CurveColors {
    /// Beside others, only the reference has areas, so that all stay readable.
    pub fn of(ui: &egui::Ui, runs: &Runs, run: &Run, is_alone: bool) -> Self {
        if runs.is_one() {
            let tokens = Tokens::now(ui);
            let (line, level) = (tokens.temporary, tokens.always_live);
            let (fill, level_fill) = (Some(tokens.area(line)), Some(tokens.area(level)));
            return Self { line, level, with_gaps: tokens.accent, fill, level_fill };
        }
        let (line, fill) = (run.color(ui), run.fill(ui));
        let has_areas = is_alone || run.id == runs.reference().id;
        Self {
            line,
            with_gaps: line.lerp_to_gamma(Tokens::now(ui).text, 0.45),
            level: if is_alone { line } else { line.gamma_multiply(0.75) },
            fill: has_areas.then_some(fill.gamma_multiply(0.55)),
            level_fill: has_areas.then_some(fill),
        }
    }
}

impl LivenessPage {
    /// The legend of a picture; its entries switch what they name. Returns where it lies.
    pub fn legend_ui(
        &mut self,
        ui: &mut egui::Ui,
        runs: &Runs,
        timelines: &SlotTimelines,
        alone: Option<usize>,
    ) -> Rect {
        let limit = Tokens::now(ui).ink;
        let has_limits = drawn(runs, timelines).any(|(_, curve)| curve.timeline.limit.is_some());
        let is_by_device = drawn(runs, timelines).any(|(_, curve)| curve.timeline.is_by_device);
        let (areas, beside) =
            (self.areas(runs, timelines).cloned(), self.beside(runs, timelines).cloned());
        let choices = &mut self.choices;
        let is_drawn = |place: usize| alone.is_none_or(|alone| alone == place);
        let in_legend = || runs.iter().enumerate().filter(|(place, _)| is_drawn(*place));
        let row = ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(14.0, 2.0);
            match alone.and_then(|place| runs.get(place)) {
                Some(run) => run_title_ui(ui, run),
                None => {
                    ui.add_space(Y_AXIS_WIDTH);
                }
            }
            for (place, run) in in_legend() {
                let Some(curve) = timelines.run(place) else {
                    let scope = scope_title(&runs.reference().report, timelines.scope);
                    ui.weak(format!("{}: no curve of {scope}", run.title));
                    continue;
                };
                if alone.is_none() && !runs.is_one() {
                    // Close to what it is the letter of, in the same line.
                    let room = 6.0 + entry_width(ui, &own_entry_title(runs, run));
                    ui.spacing_mut().item_spacing.x = 6.0;
                    badge_before_ui(ui, run.badge, room).on_hover_text(&*run.name);
                    ui.spacing_mut().item_spacing.x = 14.0;
                }
                let mut shown = choices.of(run);
                let colors = CurveColors::of(ui, runs, run, alone.is_some());
                match &areas {
                    Some(areas) => {
                        if areas.legend_ui(ui, &mut choices.hidden) {
                            choices.version += 1;
                        }
                    }
                    None => run_legend_ui(ui, runs, run, curve, colors, &mut shown),
                }
                choices.show(run, shown);
                if let Some(bytes) = curve.timeline.including_gaps {
                    let title = runs.of_number(["With gaps", ": with gaps", ": with gaps"]);
                    let of = if runs.is_one() { "" } else { &*run.title };
                    let patch = Patch::Line(colors.with_gaps);
                    let units = Units::now(ui);
                    let against = curve.timeline.limit.map_or(String::new(), |limit| {
                        format!(", {}", against_limit(run, bytes, limit, units))
                    });
                    let what = "Up to the end of what is placed there at any step";
                    entry_ui(ui, patch, &format!("{of}{title}"), &mut choices.has_gaps)
                        .on_hover_text(format!("{what}: {}{against}", units.exact(bytes)));
                }
            }
            if alone.is_none() {
                for text in runs.lies_on(|place| *timelines.same_as.get(place)?) {
                    ui.weak(text);
                }
            }
            if let Some(beside) = &beside {
                choices.lines_ui(ui, runs, beside);
            }
            if has_limits {
                entry_ui(ui, Patch::Dashes(limit), "Limit", &mut choices.has_limit);
            }
            if is_by_device {
                let scope = format!("Choose one {} as the scope to see it", runs.system().device);
                ui.weak(format!("Each {} has its own limit", runs.system().device))
                    .on_hover_text(format!("{}. {scope}", own_memory_text(runs.system())));
            }
            let is_only = |place: usize| !timelines.only(place).is_empty();
            let only: Vec<&Run> =
                in_legend().filter(|(place, _)| is_only(*place)).map(|(_, run)| run).collect();
            // Of many runs the colors say which.
            if let [first, _, _, ..] = only[..] {
                let mut is_on = choices.of(first).only;
                let color = Tokens::now(ui).weak_text;
                let entry = entry_ui(ui, Patch::Line(color), "Only in one run", &mut is_on);
                if entry.on_hover_text("Where a step is only in the run of this color").changed() {
                    for run in &only {
                        let shown = ShownLines { only: is_on, ..choices.of(run) };
                        choices.show(run, shown);
                    }
                }
            }
            for (place, run) in in_legend().filter(|_| only.len() <= 2) {
                if is_only(place) {
                    let color = run.color(ui);
                    let name = format!("Only in {}", run.title_in_text());
                    let mut shown = choices.of(run);
                    entry_ui(ui, Patch::Area(color, color), &name, &mut shown.only);
                    choices.show(run, shown);
                }
            }
            if alone.unwrap_or(0) == 0 {
                choices.options_ui(ui, runs, timelines, areas.is_none());
            }
        });
        row.response.rect
    }
}

/// What the first entry of a run is called.
fn own_entry_title(runs: &Runs, run: &Run) -> String {
    let system = runs.system();
    match runs.len() {
        1 => system.not_always_live.to_owned(),
        2 => format!("{}: {}", run.title, system.not_always_live_in_text),
        _ => run.title.to_string(),
    }
}

/// The entries of a run: of more than two one each, for there is no room for more.
fn run_legend_ui(
    ui: &mut egui::Ui,
    runs: &Runs,
    run: &Run,
    curve: &RunCurve,
    colors: CurveColors,
    shown: &mut ShownLines,
) {
    let patch = |fill: Option<Color32>, line| match fill {
        Some(fill) => Patch::Area(fill, line),
        None => Patch::Line(line),
    };
    let system = runs.system();
    let has_level = curve.always_live().is_some();
    let share = curve.always_live_share();
    let level = match runs.len() {
        1 => has_level.then(|| system.always_live.to_owned()),
        2 => has_level.then(|| format!("{}: {}", run.title, system.always_live_in_text)),
        _ => None,
    };
    let title = own_entry_title(runs, run);
    let is_both = level.is_none() && has_level;
    let entry = entry_ui(ui, patch(colors.fill, colors.line), &title, &mut shown.not_always_live);
    if is_both && entry.changed() {
        shown.always_live = shown.not_always_live;
    }
    if let Some(title) = level {
        let patch = patch(colors.level_fill, colors.level);
        let entry = entry_ui(ui, patch, &title, &mut shown.always_live);
        if let Some(share) = &share {
            entry.on_hover_text(share);
        }
        if let Some(share) = share.filter(|_| runs.is_one()) {
            ui.weak(share);
        }
    } else if let Some(share) = share {
        entry.on_hover_text(share);
    }
}
