//! What the pointer learns of a slot: its steps, what they do, and what is alive.

use eframe::egui::{self, RichText};
use std::sync::Arc;

use super::tables::{OF_VARIABLES, VariablesAt};
use super::timelines::SlotTimelines;
use crate::analysis::liveness::{Scope, scope_title};
use crate::analysis::program::steps::{Fact, StepFacts, fact_names, facts};
use crate::store::{Report, System};
use crate::text::{grouped, shortened};
use crate::ui::report::figures::Entry;
use crate::ui::report::moment::{Moment, step_id};
use crate::ui::report::{against_limit, change_color, change_text, tooltip_facts_ui};
use crate::ui::runs::{Needed, Run, Runs, RunsAnswer};
use crate::ui::theme::Tokens;
use crate::ui::units::Units;
use crate::ui::widget::rows::Value;

/// Widest tooltip, points: it has a column of words for each of two runs.
const WIDTH: f32 = 640.0;
const MOST_VARIABLES: usize = 5;
/// Longest name of one run, of two, and of a variable, which has a line of its own.
const NAME: usize = 64;
const NAME_BESIDE: usize = 30;
const VARIABLE: usize = 44;

/// The largest variables alive in a slot, and how many there are besides.
type LargestVariables = (Vec<Entry>, usize);

/// The facts of the slot under the pointer, kept while it stays there.
#[derive(Default)]
pub struct SlotTooltip {
    made_for: Option<(usize, u64, bool)>,
    moment: Option<Moment>,
    facts: Vec<Option<StepFacts>>,
    largest: RunsAnswer<(usize, u64), Option<LargestVariables>>,
}

impl SlotTooltip {
    /// Gathers the facts of a slot, unless they are there; what is alive comes from beside the window.
    pub fn prepare(
        &mut self,
        ctx: &egui::Context,
        runs: &Arc<Runs>,
        timelines: &Arc<SlotTimelines>,
        slot: usize,
    ) {
        let key = (slot, timelines.version, runs.is_settled(&[Needed::Debug]));
        if self.made_for != Some(key) {
            let moment = Moment::at_slot(&timelines.axis, slot);
            let facts = |(place, run): (usize, &Run)| facts(&run.report, moment.step_there(place)?);
            self.facts = runs.iter().enumerate().map(facts).collect();
            self.moment = Some(moment);
            self.made_for = Some(key);
        }
        let (key, timelines) = ((slot, timelines.version), Arc::clone(timelines));
        let needs = (runs, OF_VARIABLES);
        self.largest.ask("variables in a slot", ctx, needs, &key, move |runs, _| {
            let entries = VariablesAt::in_slot(runs, &timelines, slot).entries(runs).ok()?;
            let mut variables = entries.list;
            variables.retain(|entry| entry.figures.iter().flatten().any(|bytes| *bytes > 0));
            let most = |entry: &Entry| entry.figures.iter().copied().max();
            variables.sort_by_key(|entry| std::cmp::Reverse(most(entry)));
            let others = variables.len().saturating_sub(MOST_VARIABLES);
            variables.truncate(MOST_VARIABLES);
            Some((variables, others))
        });
    }

    pub fn ui(&self, ui: &mut egui::Ui, runs: &Runs, timelines: &SlotTimelines) {
        let (Some((slot, ..)), Some(moment)) = (self.made_for, &self.moment) else { return };
        let figures = runs.iter().enumerate();
        let figures = figures.map(|(place, _)| RunFigures::of(timelines, moment, place));
        let figures: Vec<RunFigures> = figures.collect();
        match (runs.len(), self.facts.first()) {
            (1, Some(Some(facts))) => {
                if let [figures] = &*figures {
                    Self::one_ui(ui, &runs.reference().report, timelines, facts, figures);
                }
            }
            (1, _) => return,
            (several, _) => {
                ui.set_max_width(WIDTH);
                head_ui(ui, runs, timelines, moment);
                if several == 2 {
                    self.pair_ui(ui, runs, &figures);
                } else {
                    self.many_ui(ui, runs, moment, &figures);
                }
            }
        }
        self.largest_ui(ui, runs, &(slot, timelines.version));
    }

    fn one_ui(
        ui: &mut egui::Ui,
        report: &Report,
        timelines: &SlotTimelines,
        facts: &StepFacts,
        figures: &RunFigures,
    ) {
        let units = Units::now(ui);
        let kind = facts.kind.as_deref().unwrap_or("unknown kind");
        let title = format!("Step {}, {}", facts.step, shortened(kind, NAME));
        ui.label(RichText::new(title).strong());
        let mut lines: Vec<(&str, String)> = Vec::new();
        let line = |fact: Fact| (fact.name, shortened(&fact.value, NAME).into_owned());
        lines.extend(facts.list().into_iter().map(line));
        let worst = worst_title(&report.system);
        match (&figures.worst, timelines.scope) {
            (Some(tile), _) => lines.push((&worst, tile.clone())),
            (_, Scope::Everything) => {}
            (_, scope) => lines.push(("Of", scope_title(report, scope))),
        }
        lines.push(("Not always live", units.exact(figures.not_always_live.unwrap_or(0))));
        if let Some(always_live) = figures.always_live {
            lines.push(("Always live", units.exact(always_live)));
        }
        if let Some(percent) = figures.always_live_percent {
            lines.push(("Always live of the limit", format!("{percent:.1} %")));
        }
        if let Some(with_gaps) = figures.including_gaps {
            let against = figures.limit.map_or(String::new(), |limit| {
                format!(", {}", against_limit(with_gaps, limit, units))
            });
            lines.push(("With gaps", format!("{}{against}", units.exact(with_gaps))));
        }
        tooltip_facts_ui(ui, "step facts", &lines);
        if let (Some(alive), Some(limit)) = (figures.together(), figures.limit) {
            let text = format!("Together {}", against_limit(alive, limit, units));
            if alive > limit {
                ui.colored_label(Tokens::now(ui).over, RichText::new(text).strong());
            } else {
                ui.label(text);
            }
        }
    }

    fn pair_ui(&self, ui: &mut egui::Ui, runs: &Runs, figures: &[RunFigures]) {
        egui::Grid::new("slot facts").num_columns(4).spacing([12.0, 2.0]).show(ui, |ui| {
            ui.label("");
            for run in runs.iter() {
                let text = format!("{} {}", run.title, shortened(&run.name, 20));
                ui.label(RichText::new(text).strong().color(run.color(ui)));
            }
            ui.end_row();
            self.words_ui(ui);
            figures_of_two_ui(ui, runs.system(), figures);
        });
    }

    fn many_ui(&self, ui: &mut egui::Ui, runs: &Runs, moment: &Moment, figures: &[RunFigures]) {
        let lists: Vec<Vec<Fact>> = self.facts.iter().flatten().map(StepFacts::list).collect();
        let line = |name: &'static str| {
            let values = lists.iter().filter_map(|list| list.iter().find(|fact| fact.name == name));
            let mut values: Vec<&str> = values.map(|fact| &*fact.value).collect();
            values.dedup();
            (name, shortened(&values.join(" → "), NAME).into_owned())
        };
        let lines: Vec<(&str, String)> = fact_names(&lists).into_iter().map(line).collect();
        tooltip_facts_ui(ui, "step facts", &lines);
        ui.add_space(4.0);
        let units = Units::now(ui);
        let first = figures.first().and_then(RunFigures::together);
        egui::Grid::new("slot figures").num_columns(5).spacing([12.0, 2.0]).show(ui, |ui| {
            for title in ["", "Step", "Not always live", "With always live", "Difference"] {
                ui.weak(title);
            }
            ui.end_row();
            for (place, (run, figures)) in runs.iter().zip(figures).enumerate() {
                let title = RichText::new(shortened(&run.title, 20)).strong();
                ui.label(title.color(run.color(ui)));
                let step = moment.step_there(place);
                ui.label(step.map_or("–".to_owned(), |step| step_id(&run.report, step)));
                let together = figures.together();
                ui.label(Value::bytes(figures.not_always_live).shown(units));
                ui.label(Value::bytes(together).shown(units));
                match (place, first, together) {
                    (0, ..) | (_, None, _) | (.., None) => ui.label(""),
                    (_, Some(from), Some(to)) => change_ui(ui, from, to, units),
                };
                ui.end_row();
            }
        });
    }

    /// What the steps of two runs are and do. What both say is said once.
    fn words_ui(&self, ui: &mut egui::Ui) {
        let step = |facts: &StepFacts| {
            format!("{}, {}", facts.step, facts.kind.as_deref().unwrap_or("unknown kind"))
        };
        let steps = self.facts.iter().map(|facts| facts.as_ref().map(step));
        row_ui(ui, "Step", &steps.collect::<Vec<_>>());
        let list = |facts: &Option<StepFacts>| facts.as_ref().map(StepFacts::list);
        let lists: Vec<Vec<Fact>> =
            self.facts.iter().map(|facts| list(facts).unwrap_or_default()).collect();
        for name in fact_names(&lists) {
            let value = |list: &Vec<Fact>| {
                let fact = list.iter().find(|fact| fact.name == name)?;
                Some(match &fact.detail {
                    Some(detail) => format!("{} ({detail})", fact.value),
                    None => fact.value.clone(),
                })
            };
            row_ui(ui, name, &lists.iter().map(value).collect::<Vec<_>>());
        }
    }

    fn largest_ui(&self, ui: &mut egui::Ui, runs: &Runs, key: &(usize, u64)) {
        let found = self.largest.get((runs, OF_VARIABLES), key);
        // Where nothing is alive, or variables are not there, nothing is said.
        if found.is_some_and(|found| found.as_ref().is_none_or(|(list, _)| list.is_empty())) {
            return;
        }
        if runs.is_one() {
            ui.separator();
        } else {
            ui.add_space(6.0);
        }
        let Some((variables, others)) = found.and_then(Option::as_ref) else {
            ui.weak(self.largest.failure().unwrap_or("Looking for the largest variables…"));
            return;
        };
        let units = Units::now(ui);
        ui.weak("Largest variables alive, not always live");
        let (longest, gap) = if runs.is_one() { (NAME, 14.0) } else { (VARIABLE, 12.0) };
        let columns = runs.len() + 2;
        egui::Grid::new("largest variables").num_columns(columns).spacing([gap, 2.0]).show(
            ui,
            |ui| {
                for Entry { name, figures, .. } in variables {
                    ui.label(shortened(name, longest));
                    for bytes in figures {
                        ui.label(Value::bytes(*bytes).shown(units));
                    }
                    if let [source, target] = **figures {
                        match (source, target) {
                            (Some(_), None) => ui.weak("only in source"),
                            (None, Some(_)) => ui.weak("only in target"),
                            (source, target) => {
                                change_ui(ui, source.unwrap_or(0), target.unwrap_or(0), units)
                            }
                        };
                    }
                    ui.end_row();
                }
            },
        );
        if *others > 0 {
            ui.weak(format!("and {} more", grouped(*others as u64)));
        }
    }
}

/// A row of words of two runs; one that neither has is left out.
fn row_ui(ui: &mut egui::Ui, title: &str, words: &[Option<String>]) {
    let [source, target] = words else { return };
    if source.is_none() && target.is_none() {
        return;
    }
    ui.weak(title);
    match source {
        Some(word) => ui.label(shortened(word, NAME_BESIDE)),
        None => ui.weak("–"),
    };
    match target {
        Some(_) if source == target => ui.weak("the same"),
        Some(word) => ui.label(shortened(word, NAME_BESIDE)),
        None => ui.weak("–"),
    };
    ui.end_row();
}

fn worst_title(system: &System) -> String {
    format!("Worst {}", system.arena_in_text)
}

/// Which runs have a step there, and what is said of those that have none.
fn head_ui(ui: &mut egui::Ui, runs: &Runs, timelines: &SlotTimelines, moment: &Moment) {
    let title = moment.presence(runs);
    let title = match timelines.scope {
        Scope::Everything => title,
        Scope::WorstArena => format!("{title}, {}", runs.system().worst_arena.to_lowercase()),
        scope => format!("{title}, {}", scope_title(&runs.reference().report, scope)),
    };
    ui.label(RichText::new(title).strong());
    if let Some(absence) = moment.absence(runs) {
        ui.weak(absence);
    }
}

struct RunFigures {
    worst: Option<String>,
    not_always_live: Option<u64>,
    always_live: Option<u64>,
    limit: Option<u64>,
    always_live_percent: Option<f64>,
    /// Of one tile, over all steps.
    including_gaps: Option<u64>,
}

impl RunFigures {
    fn of(timelines: &SlotTimelines, moment: &Moment, run: usize) -> Self {
        let (timeline, step) = (timelines.run(run).map(|run| &run.timeline), moment.step(run));
        let worst = timeline.and_then(|timeline| timeline.worst_arena_at(step?));
        let not_always_live =
            timeline.map(|timeline| step.map_or(0, |step| timeline.not_always_live_at(step)));
        Self {
            worst: worst.map(|arena| arena.to_string()),
            not_always_live,
            always_live: timeline.and_then(|timeline| timeline.always_live_at(step.unwrap_or(0))),
            limit: timeline.and_then(|timeline| timeline.limit),
            including_gaps: timeline.and_then(|timeline| timeline.including_gaps),
            always_live_percent: timeline
                .and_then(|timeline| timeline.always_live_percent_at(step.unwrap_or(0))),
        }
    }

    fn together(&self) -> Option<u64> {
        Some(self.not_always_live?.saturating_add(self.always_live?))
    }
}

fn figures_of_two_ui(ui: &mut egui::Ui, system: &System, figures: &[RunFigures]) {
    let units = Units::now(ui);
    if figures.iter().any(|figures| figures.worst.is_some()) {
        ui.weak(worst_title(system));
        for figures in figures {
            ui.label(
                figures.worst.as_ref().map_or_else(
                    || "–".to_owned(),
                    |tile| format!("{} {tile}", system.arena_in_text),
                ),
            );
        }
        ui.end_row();
    }
    bytes_ui(ui, "Not always live", figures, |figures| figures.not_always_live);
    bytes_ui(ui, "Always live", figures, |figures| figures.always_live);
    bytes_ui(ui, "Together", figures, RunFigures::together);
    let limit = |figures: &RunFigures| {
        let (alive, limit) = (figures.together()?, figures.limit?);
        let is_over = alive > limit;
        let word = if is_over { "over" } else { "under" };
        Some((format!("{} {word}", units.bytes(alive.abs_diff(limit))), is_over))
    };
    let limits: Vec<_> = figures.iter().map(limit).collect();
    if limits.iter().any(Option::is_some) {
        ui.weak("Limit");
        for limit in limits {
            match limit {
                Some((text, true)) => {
                    ui.colored_label(Tokens::now(ui).over, RichText::new(text).strong())
                }
                Some((text, false)) => ui.label(text),
                None => ui.label(""),
            };
        }
        ui.end_row();
    }
}

fn bytes_ui(
    ui: &mut egui::Ui,
    title: &str,
    figures: &[RunFigures],
    of: fn(&RunFigures) -> Option<u64>,
) {
    let (bytes, units): (Vec<Option<u64>>, _) = (figures.iter().map(of).collect(), Units::now(ui));
    if bytes.iter().all(Option::is_none) {
        return;
    }
    ui.weak(title);
    for bytes in &bytes {
        ui.label(Value::bytes(*bytes).shown(units));
    }
    if let [Some(source), Some(target)] = bytes[..] {
        change_ui(ui, source, target, units);
    }
    ui.end_row();
}

/// A difference in the colour that it has in tables.
fn change_ui(ui: &mut egui::Ui, from: u64, to: u64, units: Units) -> egui::Response {
    ui.colored_label(change_color(ui, from, to), change_text(from, to, units))
}
