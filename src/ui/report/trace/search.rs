//! The search over the steps that ran: its field, how many there are, and the way from one to the next.

use eframe::egui::{self, Button, Key, TextEdit};
use std::sync::Arc;

use super::data::{FoundSpans, ReadRun};
use super::{NEEDS_OF_NAMES, OfRuns};
use crate::analysis::execution::search::matching_spans;
use crate::text::grouped;
use crate::ui::runs::{PerRun, RunId, Runs, RunsAnswer};

/// Spans that a text is found in, of each run.
pub type SpanMatches = PerRun<Arc<FoundSpans>>;

#[derive(Default)]
pub struct SpanSearch {
    pub text: String,
    found: RunsAnswer<String, SpanMatches>,
    /// The match that was gone to: its number among those of all runs, and which it was.
    at: Option<(usize, RunId, u32)>,
    /// Whether the first one is to be gone to as soon as it is known.
    is_wanted: bool,
}

/// A span of a run, by their places.
pub type SpanOfRun = (usize, u32);

impl SpanSearch {
    pub fn update(&mut self, ctx: &egui::Context, runs: &Arc<Runs>, read: &OfRuns) {
        let of_runs = read.clone();
        let text = self.text.trim().to_owned();
        let needs = (runs, NEEDS_OF_NAMES);
        self.found.ask("matching steps", ctx, needs, &text.clone(), move |_, cancel| {
            let matches = |run: &Option<Arc<ReadRun>>| {
                let executed = run.as_ref().and_then(|run| run.executed());
                let found = executed.and_then(|executed| {
                    let spans = matching_spans(executed, &text, cancel.progress())?;
                    Some(FoundSpans::of(executed, spans))
                });
                Arc::new(found.unwrap_or_default())
            };
            of_runs.iter().map(matches).collect()
        });
    }

    /// Lets go of what was found, not of what is looked for.
    pub fn forget(&mut self) {
        (self.found, self.at) = (RunsAnswer::default(), None);
    }

    /// The spans of all runs that match; `None` where nothing is looked for, or they are not known yet.
    pub fn matches(&self, runs: &Runs) -> Option<&SpanMatches> {
        let (text, matches) = self.found.last(runs)?;
        (!text.is_empty() && text == self.text.trim()).then_some(matches)
    }

    /// Draws the field; Enter goes to the next match.
    pub fn field_ui(&mut self, ui: &mut egui::Ui) {
        let field = TextEdit::singleline(&mut self.text).id_salt("find steps");
        let field = field.hint_text("Find steps");
        let field = ui.add(field.desired_width(130.0)).accessible_name("Find steps");
        if field.changed() {
            self.at = None;
        }
        if field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
            self.is_wanted = true;
            field.request_focus();
        }
        field
            .on_hover_text("A part of a name, a kind or an operation, such as conv; Enter goes on");
    }

    /// How many there are, and buttons to go on; returns the match that is gone to.
    pub fn found_ui(&mut self, ui: &mut egui::Ui, runs: &Runs) -> Option<SpanOfRun> {
        if self.text.trim().is_empty() {
            return None;
        }
        let Some(matches) = self.matches(runs).cloned() else {
            ui.weak("Looking…");
            return None;
        };
        let each = || matches.iter().map(|matches| Some(&**matches));
        let count: usize = matches.iter().map(|matches| matches.len()).sum();
        // Of other runs the match of this number may be another one, or none.
        let is_still = |(number, run, span): &(usize, RunId, u32)| {
            let place = runs.position(*run);
            place.is_some_and(|place| nth(each(), *number) == Some((place, *span)))
        };
        self.at = self.at.filter(is_still);
        let at = self.at.map(|(number, ..)| number);
        let of = match at {
            Some(at) => format!("{} of {} matches", grouped(at as u64 + 1), grouped(count as u64)),
            None if count == 0 => "No step matches".to_owned(),
            None if count == 1 => "1 step matches".to_owned(),
            None => format!("{} steps match", grouped(count as u64)),
        };
        ui.label(of);
        let last = count.checked_sub(1)?;
        let key = |ui: &mut egui::Ui, sign: &str, name: &str| {
            ui.add(Button::new(sign).min_size([24.0, 22.0].into())).accessible_name(name).clicked()
        };
        let before = key(ui, "«", "Previous match");
        let after = key(ui, "»", "Next match") || std::mem::take(&mut self.is_wanted);
        if !before && !after {
            return None;
        }
        let at = match at {
            None if after => 0,
            None => last,
            Some(at) if after => (at + 1) % count,
            Some(at) => at.checked_sub(1).unwrap_or(last),
        };
        let found = nth(each(), at)?;
        let (place, span) = found;
        self.at = runs.get(place).map(|run| (at, run.id, span));
        Some(found)
    }
}

/// The span of a number, of those of all runs one after the other.
pub fn nth<'a>(
    of_runs: impl Iterator<Item = Option<&'a FoundSpans>>,
    mut number: usize,
) -> Option<SpanOfRun> {
    for (run, found) in of_runs.enumerate() {
        let Some(found) = found else { continue };
        match found.by_start.get(number) {
            Some(span) => return Some((run, *span)),
            None => number -= found.len(),
        }
    }
    None
}
