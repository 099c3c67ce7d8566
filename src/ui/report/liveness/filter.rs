//! The filter over steps: what it found is marked on the curve. It runs on its own thread.

use eframe::egui;
use std::sync::Arc;

use eframe::egui::TextEdit;

use super::derived::Derived;
use crate::analysis::steps::Filter;
use crate::store::Report;
use crate::store::program::Steps;
use crate::text;
use crate::ui::job::{Answer, Job};

/// How many steps are looked at before the job asks whether it shall stop.
const STEPS_PER_LOOK: usize = 1024;

/// The text and what it found.
#[derive(Debug, Default)]
pub struct StepFilter {
    text: String,
    /// What `found` and `job` are for: the text, and whether operations were known.
    asked: Option<(String, bool)>,
    job: Option<Job<Vec<u32>>>,
    found: Vec<u32>,
    failure: Option<String>,
}

impl StepFilter {
    /// The positions of the steps that match, ascending.
    pub fn matches(&self) -> &[u32] {
        &self.found
    }

    /// Draws the field and the number of matches; returns the largest step when it is asked for.
    pub fn ui(
        &mut self,
        ui: &mut egui::Ui,
        report: &Arc<Report>,
        derived: &Derived,
        steps: &Steps,
    ) -> Option<usize> {
        let label = ui.label("Filter steps");
        ui.add(
            TextEdit::singleline(&mut self.text)
                .hint_text("Name, kind, operation, such as conv")
                .desired_width(230.0),
        )
        .labelled_by(label.id);
        self.update(ui, report);
        let wanted = self.text.trim();
        if wanted.is_empty() {
            return None;
        }
        if let Some(failure) = &self.failure {
            ui.colored_label(ui.visuals().error_fg_color, failure);
            return None;
        }
        if self.job.is_some() {
            ui.weak("Looking…");
            return None;
        }
        let largest = self.largest(derived);
        let Some((step, bytes)) = largest else {
            ui.label("No step matches");
            return None;
        };
        let count = text::grouped(self.found.len() as u64);
        let of = text::grouped(steps.ids.len() as u64);
        ui.label(format!("{count} of {of} steps match"));
        let id = steps.ids.get(step).map_or(0, |id| id.0);
        let button = ui.button(format!("Largest: step {id}, {}", text::bytes(bytes)));
        button.on_hover_text("Select it").clicked().then_some(step)
    }

    /// The matching step with the most bytes, the first of equals.
    fn largest(&self, derived: &Derived) -> Option<(usize, u64)> {
        let bytes = |step: &u32| derived.curve.get(*step as usize).copied().unwrap_or(0);
        let step = self.found.iter().rev().max_by_key(|step| bytes(step))?;
        Some((*step as usize, bytes(step)))
    }

    /// Starts a job when the text or what is known of operations has changed; takes its answer.
    fn update(&mut self, ui: &egui::Ui, report: &Arc<Report>) {
        let wanted = (self.text.trim().to_owned(), report.debug.is_settled());
        if self.asked.as_ref() != Some(&wanted) {
            self.found.clear();
            self.failure = None;
            self.job = None;
            if !wanted.0.is_empty() {
                self.start(ui, report, &wanted.0);
            }
            self.asked = Some(wanted);
        }
        match self.job.as_ref().map(Job::poll) {
            Some(Answer::Done(found)) => {
                self.found = found;
                self.job = None;
            }
            Some(Answer::Failed) => {
                self.failure = Some("The filter stopped: a mistake in Tilescope".to_owned());
                self.job = None;
            }
            Some(Answer::Working) | None => {}
        }
    }

    fn start(&mut self, ui: &egui::Ui, report: &Arc<Report>, text: &str) {
        let (report, filter) = (Arc::clone(report), Filter::new(text));
        let job = Job::start("filter steps", ui.ctx(), move |cancel| {
            let steps = report.steps.get().map_or(0, |steps| steps.ids.len());
            let mut found = Vec::new();
            for step in 0..steps {
                if step % STEPS_PER_LOOK == 0 && cancel.is_cancelled() {
                    break;
                }
                if filter.matches(&report, step).is_some() {
                    found.extend(u32::try_from(step).ok());
                }
            }
            found
        });
        match job {
            Ok(job) => self.job = Some(job),
            Err(error) => self.failure = Some(format!("No thread to filter with: {error}")),
        }
    }
}
